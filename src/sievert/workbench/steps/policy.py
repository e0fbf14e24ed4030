"""Policy: the limits that a release has to meet, from an example, a file, or edited here."""

import json
import math
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from sievert import files
from sievert.errors import RefusedError, UsageError, require
from sievert.formatting.recognition import recognise
from sievert.measures import BY_ID
from sievert.policy import parse_policy
from sievert.policy.document import LIMITS
from sievert.report.limits import asked_bounds
from sievert.report.texts import Texts
from sievert.workbench.choices import Choices
from sievert.workbench.command_lines import reading_arguments
from sievert.workbench.step import DOUBTFUL, MET, OPEN, Argv, Form, Step, View
from sievert.workbench.step_commands import named_file
from sievert.workbench.typed_paths import refusal_to_replace, typed_output
from sievert.workbench.working_policy import (
    EXAMPLE,
    OWN_NAME,
    examples,
    limit_tables,
    limit_texts,
    named_policy,
    policy_tables,
    policy_text,
    role_settings,
    source_tables,
    with_roles,
)

# In place of an example.
OWN = "own"
NONE = "none"
SIDES = {">=": "min", "<=": "max"}
KEPT = (*SIDES.values(), "drop")  # of a row whose form was refused
ABOUT_A_LIMIT = ("impossible_limits", "undecidable_limits", "harmless_side", "misplaced_limits")


def commands(choices: Choices) -> tuple[Argv, ...]:
    """What the policy lacks for the table, and which limits no release can meet."""
    policy = named_policy(choices)
    if policy is None or not choices.table:
        return ()
    return (("policy", "check", policy, choices.table, *reading_arguments(choices, missing=False)),)


def current_limits(choices: Choices) -> dict[str, str]:
    """The limits of the policy as it is now, as settings."""
    return limit_texts((policy_tables(choices) or {}).get("limits", {}))


def _context(view: View) -> dict[str, Any]:
    choices = view.choices
    texts = view.texts
    check = next((view.get(argv) for argv in commands(choices)), None)
    gaps = [] if check is None else check["gaps"]
    limits = [_limit_row(k, bounds, gaps, texts) for k, bounds in current_limits(choices).items()]
    about = {id(gap) for row in limits for gap in row["gaps"]}
    secrets = choices.texts("roles", "sensitive")
    chosen, own_file = _source(choices)
    sent = view.sent
    if sent is not None and sent.one("do") == "use":
        chosen = sent.one("source", chosen)
        own_file = sent.one("file")
        places = {text: place for place, text in sent.beginning("key:").items()}
        for row in limits:
            row |= {side: sent.one(f"{side}:{places.get(row['key'])}") for side in KEPT}
    return {
        "examples": {key: _first_comment(path) for key, path in examples().items()},
        "chosen": chosen,
        "own_file": own_file,
        "limits": limits,
        "limit_words": _limit_words(choices, texts),
        "new": {n: sent.one(f"new_{n}") if sent else "" for n in ("measure", "place", "bound")},
        "checked": check is not None,
        "other_gaps": [
            {
                "text": texts.remark(recognise(gap["text"])),
                "try": texts.remark(recognise(gap["suggestion"])),
            }
            for gap in gaps
            if id(gap) not in about
        ],
        "places": {
            "": texts("workbench.policy.everywhere"),
            "reidentification": texts("workbench.policy.finding"),
            **{f"inference/{s}": texts("workbench.policy.secret", column=s) for s in secrets},
        },
        "measures": {
            m.id: texts(f"measures.{m.id}.title") for m in BY_ID.values() if m.kinds and m.riskier
        },
        "toml": policy_text(choices),
        **typed_output(view, _proposed_path(choices)),
    }


def _source(choices: Choices) -> tuple[str, str]:
    """Which policy is chosen, and the path of the user's own."""
    name = choices.text("policy", "file")
    if name.startswith(EXAMPLE):
        return name.removeprefix(EXAMPLE), ""
    return (OWN if name else NONE), name


def _proposed_path(choices: Choices) -> str:
    """Where the policy could be kept: in its own file, if it was changed, or beside the table."""
    own = _source(choices)[1]
    changed = (named_policy(choices) or "").startswith("workbench:")
    return own if own and changed else str(Path(choices.text("load", "folder") or ".") / OWN_NAME)


def _limit_words(choices: Choices, texts: Texts) -> str:
    """How many limits there are: one on inference counts for each secret, once they are known."""
    limits = current_limits(choices)
    secrets = with_roles(choices).texts("roles", "sensitive")
    each = sum(key in BY_ID and "secret" in BY_ID[key].kinds for key in limits)
    if each and len(secrets) > 1:
        number = len(limits)
        return texts("workbench.policy.limits_each", number=number, each=each, secrets=len(secrets))
    return texts("workbench.policy.limits", number=len(limits))


def _limit_row(key: str, bounds: str, gaps: list[dict[str, Any]], texts: Texts) -> dict[str, Any]:
    """A limit in words: where it holds, what it means, and what is wrong with it."""
    place, _, measure = key.rpartition("/")
    chapter, _, secret = place.partition("/")
    table = ".".join(part for part in ("limits", chapter, secret) if part)
    own = [
        gap
        for gap in gaps
        if gap["what"] in ABOUT_A_LIMIT and (gap["where"], gap["name"]) == (table, measure)
    ]
    sides = dict(each.split() for each in bounds.split(","))
    numbers = {end: float(sides[sign]) if sign in sides else None for sign, end in SIDES.items()}
    return {
        "key": json.dumps(key),
        "where": {
            "": texts("workbench.policy.everywhere"),
            "reidentification": texts("workbench.policy.finding"),
            "inference": texts("workbench.policy.secret", column=secret),
            "synthetic": texts("workbench.policy.synthetic", attack=secret),
        }[chapter],
        "measure": measure,
        "asks": asked_bounds(texts, measure, numbers["min"], numbers["max"]),
        "title": texts.get(f"measures.{measure}.title", measure),
        "reading": texts.get(f"measures.{measure}.reading", ""),
        "min": sides.get(">="),
        "max": sides.get("<="),
        "impossible": any(gap["what"] == "impossible_limits" for gap in own),
        "drop": "",
        "gaps": own,
        "remarks": [texts.remark(recognise(gap["text"])).partition(": ")[2] for gap in own],
    }


def _first_comment(path: Path) -> str:
    """What a policy says of itself: the comment that it begins with, to the end of its sentence."""
    lines = path.read_text(encoding="utf-8").splitlines()
    comment = takewhile(lambda line: line.startswith("# "), lines)
    return " ".join(line[2:] for line in comment)


def _status(view: View) -> tuple[str, str]:
    if policy_tables(view.choices) is None:
        return OPEN, view.texts("workbench.policy.no_policy")
    words = _limit_words(view.choices, view.texts)
    check = next((view.get(argv) for argv in commands(view.choices)), None)
    if check is None:
        return OPEN, words
    return (DOUBTFUL if check["gaps"] or not current_limits(view.choices) else MET), words


def _change(choices: Choices, form: Form) -> Choices:
    match form.one("do"):
        case "use":
            return _edit(_choose(choices, form), current_limits(choices), form)
        case "save":
            return _save(choices, form)
    raise UsageError("a form that was not made here")


def _choose(choices: Choices, form: Form) -> Choices:
    """Another policy; its roles are taken over where it has some and somebody wants them."""
    before, own_file = _source(choices)
    source = form.one("source", before)
    file = form.one("file", own_file)
    if source == before and file and file != own_file:
        source = OWN  # who types the path of another file wants it
    if (source, file) == (before, own_file) or source == before != OWN:
        return choices
    if source == NONE:
        return choices.put("policy", file="", limits={}, edited="")
    name = file if source == OWN else f"{EXAMPLE}{source}"
    require(name, "no file is named", hint="the path of a TOML file")
    choices = choices.put("policy", file=name, limits={}, edited="")
    roles = source_tables(name).get("roles", {})
    return choices.put("roles", **role_settings(roles)) if roles and form.one("roles") else choices


def _edit(choices: Choices, before: Mapping[str, str], form: Form) -> Choices:
    """The limits that were changed on the page; what they are on is checked as in a file."""
    limits = current_limits(choices)
    for place, text in form.beginning("key:").items():
        key = _key(text)
        sides = {side: form.one(f"{name}:{place}") for side, name in SIDES.items()}
        bounds = ",".join(f"{side} {_bound(text, key)}" for side, text in sides.items() if text)
        if not bounds or form.one(f"drop:{place}"):
            limits.pop(key, None)
        elif limit_tables({key: bounds}) != limit_tables(
            {k: v for k, v in before.items() if k == key}
        ):
            limits[key] = bounds
    measure = form.one("new_measure")
    if measure:
        require(measure in BY_ID, f"no measure is called {measure!r}", hint="sievert measures")
        side = ">=" if BY_ID[measure].riskier == "low" else "<="
        key = "/".join(part for part in (form.one("new_place"), measure) if part)
        limits[key] = f"{side} {_bound(form.one('new_bound'), measure)}"
    if limits == current_limits(choices):
        return choices
    changed = choices.put("policy", limits=limits, edited="yes")
    parse_policy(policy_tables(changed) or {}, OWN_NAME)
    return changed


def _key(text: str) -> str:
    try:
        key = str(json.loads(text))
    except (ValueError, RecursionError):
        raise UsageError("a form that was not made here") from None
    chapter, sign, _ = key.partition("/")
    require(not sign or chapter in LIMITS, "a form that was not made here")
    return key


def _bound(text: str, limit: str) -> str:
    """A number as it is written in a policy; a comma may be its decimal mark."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        value = math.nan
    require(math.isfinite(value), f"the limit on {limit} is not a number", hint="5 or 0.05")
    return repr(int(value) if value.is_integer() else value)


def _save(choices: Choices, form: Form) -> Choices:
    """Write the policy where the user says, and go on with that file."""
    path = named_file(form, "path", OWN_NAME)
    require(path.endswith(".toml"), "a policy is a file that ends in .toml", hint=OWN_NAME)
    text = policy_text(choices)
    require(text, "there is no policy to save")
    parse_policy(policy_tables(choices) or {}, Path(path).name)
    refusal = refusal_to_replace(form, path)
    if refusal:
        raise RefusedError(refusal)
    files.write_text(path, text, sources=[choices.table, *examples().values()], force=True)
    return choices.put("policy", file=path, limits={}, edited="")


POLICY = Step(
    name="policy",
    context=_context,
    status=_status,
    change=_change,
    commands=commands,
    settings=("file", "limits", "edited"),
)
