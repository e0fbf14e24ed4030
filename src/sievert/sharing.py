"""The shareable part of a result: verdicts, and numbers that one person can hardly change.

A number is shown only if its record declares how far one person can move it, and only for a table
of at least 1,000 records. It is rounded to a step that is at least `min_cell` times as large as
that influence. Within a step of 0 or 1 it is shown as below or above that step, so that none looks
like few, and all like nearly all. The step depends on shown numbers only, never on an exact one: on
the number of records rounded down, and on the rounded base rate of the secret.

Everything else of a result is withheld, and so are all numbers of people with several rows.
Verdicts are the stated exception: a verdict can reveal on which side of its limit a number lies.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from sievert.errors import NOT_SHAREABLE, SettingsError, require
from sievert.formatting.remarks import Joined
from sievert.measures import BY_ID
from sievert.measures.measure import SUPPRESSED
from sievert.roles import SINGLE_ROLES, columns_by_role, tells_people_apart

LEAST = 10  # people in a step, by default
FEWEST = 3  # people in a step, at least
ENOUGH = 1000  # records: numbers of a smaller table are withheld
FINEST = 0.01  # step: whole per cent
COARSEST = 0.1  # the largest step
BASE_RATE = "bayes_vulnerability_prior"
REIDENTIFICATION = ("unique_records", "average_risk")
INFERENCE = (BASE_RATE, "bayes_vulnerability_posterior", "guess_gain")
ROLES = {
    "quasi": "quasi-identifier",
    "sensitive": "secret",
    "identifier": "identifier",
    "person": "person",
    "household": "household",
    "weight": "weight",
    "ignored": "ignored column",
    "kept": "kept column",
    "unassessed": "column",
}
# Reasons of a gate that depend on roles and policy only, on no record; others are in the verdict.
OF_SETTINGS = {
    "columns_without_role",
    "quasi_left_out",
    "secrets_left_out",
    "roles_replaced",
    "person_replaced",
    "settings_replaced",
    "codes_not_listed",
    "mark_not_listed",
    "no_limits",
    "harmless_side",
    "file_holds",
    "other_tables",
    "kept_not_measured",
}
Data = Mapping[str, Any]


# The command of a result by a key that only its results have.
COMMANDS = {
    "ledger": "ledger",
    "synthetic": "synthetic",
    "sketches": "sketch",
    "minimised": "protect",
    "proposals": "hierarchies",
    "shapley": "explain",
    "ranking": "explain",
    "releases": "compare",
    "curves": "compromise",
    "points": "limit",
    "reidentification": "assess",
    "attacks": "attack",
}


def command_name(result: Data) -> str | None:
    """The name of the command that has written a JSON.

    >>> command_name({"points": [], "channel": {}}), command_name({"seconds": {}})
    ('limit', None)
    """
    return next((command for key, command in COMMANDS.items() if key in result), None)


def check_min_cell(min_cell: int) -> None:
    """Raise an error if the least number of people in a step is too small."""
    require(
        isinstance(min_cell, int) and min_cell >= FEWEST,
        f"--min-cell must be at least {FEWEST}",
        error=SettingsError,
    )


def shareable(result: Data, *, min_cell: int = LEAST, mask_names: bool = False) -> dict[str, Any]:
    """The shareable JSON of a result: of an assessment, or of a comparison with a policy."""
    check_min_cell(min_cell)
    table = result["table"]
    require("shared" not in table, "the result has been made shareable before")
    kind = command_name(result)
    if kind != "assess" and not (kind == "compare" and result["original"].get("policy")):
        raise NOT_SHAREABLE[str(kind)]
    if "key_sets" in result:
        raise NOT_SHAREABLE["key_sets"]
    roles = columns_by_role(result["roles"])
    names = _Names(roles, mask=mask_names)
    records = shown_records(table["rows"] if table["rows"] else 0, min_cell)
    content: dict[str, Any] = {
        "sievert": result["sievert"],
        "table": {
            "name": None,
            "rows": records,
            "columns": table["columns"],
            "shared": min_cell,
        },
        "roles": _shown_roles(result["roles"], roles, names),
        "warnings": [],
    }
    if kind == "compare":
        return content | {
            "original": {"policy": _policy(result["original"], names)},
            "releases": [{"policy": _policy(r, names)} for r in result["releases"]],
        }
    # The influence of a person with several rows, or of one missing value that matches anything,
    # is unknown. An identifier without a statement that rows are people leaves it unknown, too.
    # Whether the identifier does repeat must not decide: that would reveal single rows.
    unknown = (
        roles["person"] or table.get("missing") == "wildcard" or _may_repeat(result["roles"], roles)
    )
    known = None if unknown else records
    return content | {
        "reidentification": _round_measures(
            result["reidentification"], REIDENTIFICATION, known, min_cell
        ),
        "inference": {
            names(secret): _round_measures(
                result["inference"].get(secret, {}), INFERENCE, known, min_cell
            )
            for secret in roles["sensitive"]
        },
        **({"question": result["question"]} if "question" in result else {}),
        "policy": _policy(result, names),
    }


def _may_repeat(given: Data, roles: Mapping[str, list[str]]) -> bool:
    """Say whether the table has an identifier, and nobody has said that each row is a person."""
    others = (*roles["ignored"], *roles["kept"], *roles["unassessed"])
    likely = bool(roles["identifier"]) or any(map(tells_people_apart, others))
    return likely and not given.get("rows_are_people")


def _shown_roles(given: Data, roles: Mapping[str, list[str]], names: "_Names") -> dict[str, Any]:
    """The roles by names that may be shown; only the policy says why columns have a role."""
    shown: dict[str, Any] = {role: [*map(names, columns)] for role, columns in roles.items()}
    shown |= {role: next(iter(shown[role]), None) for role in SINGLE_ROLES}
    ignored = given.get("ignored")
    shown["ignored"] = {}
    if ignored:
        shown["ignored"] = {names(c): "..." if names.mask else ignored[c] for c in ignored}
    kept = given.get("kept")
    shown["kept"] = {}
    if kept:
        shown["kept"] = {names(c): {**kept[c], "reason": None} for c in kept}
    return shown


class _Names:
    """The names of columns, or masks that reveal the role of a column and nothing else."""

    def __init__(self, roles: Mapping[str, Iterable[str]], *, mask: bool) -> None:
        self.mask = mask
        self.masks: dict[str, str] = {}
        for role, columns in roles.items():
            for number, column in enumerate(columns, 1):
                self.masks.setdefault(column, f"{ROLES[role]} {number}")

    def __call__(self, column: str) -> str:
        return self.masks.get(column, "column") if self.mask else column


def _policy(table: Data, names: _Names) -> dict[str, Any] | None:
    """The verdicts without their numbers, and without the reasons why a number is undefined."""
    policy = table.get("policy")
    if policy is None:
        return None
    limits = [_shareable_limit(limit, names) for limit in _worst_lines(policy["limits"])]
    reasons = [_reason(r, names) for r in policy.get("reasons", ()) if r["what"] in OF_SETTINGS]
    reasons += _withheld_reason(policy, [*limits, *reasons])
    return {
        "name": None,  # it may tell of a file
        "sha256": None if names.mask else policy.get("sha256"),  # a policy names columns
        "met": policy["met"],
        **{key: policy[key] for key in ("planned_met", "counts") if key in policy},
        "limits": limits,
        "reasons": reasons,
        "rests_on": _shareable_basis(policy.get("rests_on")),
        "unjudged": [  # how many people are concerned is not shareable
            {"secret": names(each["secret"]), "people": None, "of": None}
            for each in policy.get("unjudged", ())
        ],
    }


def _shareable_limit(limit: Data, names: _Names) -> dict[str, Any]:
    """A limit with its verdict; the k of a count below k is a setting that gives it a meaning."""
    chapter, _, secret = limit["where"].partition(".")
    settings = {key: limit[key] for key in ("measure", "min", "max", "met", "k") if key in limit}
    return settings | {
        "where": f"{chapter}.{names(secret)}" if secret else chapter,
        "value": None,
        "reason": SUPPRESSED,
        "reading": None,
        "impossible": None,
    }


def _withheld_reason(policy: Data, shown: Iterable[Data]) -> list[dict[str, Any]]:
    """Say that a reason is withheld where what is shown does not explain the answer.

    Then the answer itself tells that there is one; where a limit or a reason that is shown explains
    it, nothing is said of others, because one person can decide whether there is another one.
    """
    from sievert.policy import GateReason
    from sievert.policy.judgement import WITHHELD, worst

    outcome = policy.get("planned_met", policy["met"])
    if worst([entry["met"] for entry in shown]) is outcome or outcome is True:
        return []
    return [GateReason(WITHHELD, outcome).to_dict()]


def _shareable_basis(text: str | None) -> str | None:
    """The basis of a verdict, without the clauses that one person can change."""
    from sievert.policy.judgement import BETWEEN_CLAUSES, INTERNAL_CLAUSES

    if text is None:
        return None
    clauses = text.parts if isinstance(text, Joined) else text.split(BETWEEN_CLAUSES)
    return Joined([c for c in clauses if c not in INTERNAL_CLAUSES], BETWEEN_CLAUSES)


def _worst_lines(limits: Iterable[Data]) -> list[Data]:
    """Each limit once, with the worse verdict: a second line would reveal suppressed records."""
    each: dict[tuple[str, str], dict[str, Any]] = {}
    for line in limits:
        known = each.setdefault((line["where"], line["measure"]), {**line})
        if line["met"] is False or (line["met"] is None and known["met"] is True):
            known["met"] = line["met"]
    return [*each.values()]


def _reason(reason: Data, names: _Names) -> dict[str, Any]:
    """The reason why a policy is not met or undecided: names of columns and measures, no number."""
    from sievert.policy import GateReason

    shown = tuple(name if name in BY_ID else names(name) for name in reason["names"])
    return GateReason(reason["what"], reason["met"], shown).to_dict()


# -- rounding -----------------------------------------------------------------------------------


def shown_records(records: int, min_cell: int = LEAST) -> int | None:
    """Round a number of records down to two digits and to whole cells; None for a small table.

    >>> [shown_records(n) for n in (999, 1000, 1999, 30_162, 48_842)]
    [None, 1000, 1900, 30000, 48000]
    """
    if records < ENOUGH:
        return None
    step = max(10 ** (len(str(records)) - 2), min_cell)
    rounded = records // step * step
    return rounded if rounded else None


def _round_measures(
    values: Data, measures: Iterable[str], records: int | None, min_cell: int
) -> dict[str, Any]:
    """Round the measures that were computed; the base rate comes before its dependents.

    The table has at least `records` records; if they are None, all numbers are withheld.
    """
    shown: dict[str, Any] = {}
    for measure in measures:
        if records is not None and measure in values and measure in BY_ID:
            step = _step(measure, shown.get(BASE_RATE), records, min_cell)
            if step is None:
                number = round_share(None, 1)
            else:
                number = round_share(values[measure]["value"], step)
            shown[measure] = {
                "unit": values[measure]["unit"],
                "riskier": values[measure]["riskier"],
                **number,
            }
    return shown


def _step(measure: str, base_rate: Data | None, records: int, min_cell: int) -> float | None:
    """A step of at least `min_cell` times the influence of a person; None if it is too coarse."""
    influence = BY_ID[measure].influence
    if influence is None:
        return None
    most = 1.0 if base_rate is None else _highest(base_rate)
    others = math.floor(records * (1 - most))
    step = round_step(max(min_cell * influence(records, others), FINEST))
    return step if step <= COARSEST else None


def round_share(number: float | None, step: float) -> dict[str, Any]:
    """Round a share to the nearest step; all shares below the first or above the last look alike.

    >>> round_share(0.654, 0.02), round_share(0, 0.02)["below"], round_share(0.981, 0.02)["above"]
    ({'value': 0.66, 'reason': None, 'step': 0.02}, 0.02, 0.98)
    """
    if number is None:
        return {"value": None, "reason": SUPPRESSED}
    low = step
    high = round(1 - step, 9)
    if number < low:
        return {"value": None, "reason": SUPPRESSED, "below": low, "step": step}
    if number > high:
        return {"value": None, "reason": SUPPRESSED, "above": high, "step": step}
    return {"value": round(round(number / step) * step, 9), "reason": None, "step": step}


def _highest(shown: Data) -> float:
    """The largest share that is shown like this one."""
    if shown["value"] is None:
        return float(shown.get("below", 1.0))
    return float(min(shown["value"] + shown["step"] / 2, 1.0))


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, ... times a power of ten that is not below `least`.

    >>> [round_step(x) for x in (0.001, 0.0013, 0.03, 0.6)]
    [0.001, 0.002, 0.05, 1.0]
    """
    exponent = math.floor(math.log10(least) + 1e-9)
    digits = next(d for d in (1, 2, 5, 10) if d * 10.0**exponent >= least * (1 - 1e-9))
    return float(f"{digits}e{exponent}")
