"""What may be shared of a result: verdicts, and numbers that one person can hardly move.

A number is shown only where its record declares how far one person can move it, of a
table of at least 1,000 records, and rounded to a step that is at least `min_cell` times as far.
Within a step of 0 or 1 it is shown as below or above that step, so that none and few, all and
nearly all look alike. The step follows from what is shown besides, never from an exact number:
the number of records rounded down, and the rounded base rate of the secret. Everything else of a
result is withheld, and so are all numbers of people with several rows. Verdicts are the stated
exception: a verdict can tell on which side of its limit a number lies.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from sievert.errors import NOT_SHAREABLE, SettingsError, require
from sievert.formatting.remarks import Joined
from sievert.measures import BY_ID
from sievert.measures.measure import SUPPRESSED
from sievert.roles import SINGLE_ROLES, columns_by_role, tells_people_apart

LEAST = 10
FEWEST = 3
ENOUGH = 1000  # records: numbers of a smaller table are withheld
FINEST = 0.01  # step: whole per cent
COARSEST = 0.1
BASE_RATE = "bayes_vulnerability_prior"
FOUND = ("unique_records", "average_risk")
LEARNT = (BASE_RATE, "bayes_vulnerability_posterior", "guess_gain")
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
# Reasons of a gate that no record decides, only roles and policy; others are in the verdict.
OF_SETTINGS = {
    *("columns_without_role", "quasi_left_out", "secrets_left_out", "roles_replaced"),
    *("person_replaced", "settings_replaced", "codes_not_listed"),
    "mark_not_listed",
    *("no_limits", "harmless_side", "file_holds", "kept_not_measured"),
}
Data = Mapping[str, Any]


# The key of a result that tells which command it is of.
KINDS = {
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
    """Which command has written this JSON.

    >>> command_name({"points": [], "channel": {}}), command_name({"seconds": {}})
    ('limit', None)
    """
    return next((kind for key, kind in KINDS.items() if key in result), None)


def check_min_cell(min_cell: int) -> None:
    """Raise an error where the least number of people in a step is too small."""
    require(
        isinstance(min_cell, int) and min_cell >= FEWEST,
        f"--min-cell must be at least {FEWEST}",
        error=SettingsError,
    )


def shareable(result: Data, *, min_cell: int = LEAST, mask_names: bool = False) -> dict[str, Any]:
    """The JSON of a result as it may be shared; an assessment, or a comparison with a policy."""
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
    records = shown_records(table["rows"] or 0, min_cell)
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
    # Nobody has said how far a person with several rows, or one missing value that matches
    # anything, can move a number; and with an identifier nobody has said that rows are people.
    # Whether it does repeat decides nothing: that would tell of single rows.
    unknown = (
        roles["person"] or table.get("missing") == "wildcard" or _may_repeat(result["roles"], roles)
    )
    known = None if unknown else records
    return content | {
        "reidentification": _rounded(result["reidentification"], FOUND, known, min_cell),
        "inference": {
            names(secret): _rounded(result["inference"].get(secret, {}), LEARNT, known, min_cell)
            for secret in roles["sensitive"]
        },
        **({"question": result["question"]} if "question" in result else {}),
        "policy": _policy(result, names),
    }


def _may_repeat(given: Data, roles: Mapping[str, list[str]]) -> bool:
    """Whether the table has an identifier, and nobody has said that each row is a person."""
    others = (*roles["ignored"], *roles["kept"], *roles["unassessed"])
    likely = bool(roles["identifier"]) or any(map(tells_people_apart, others))
    return likely and not given.get("rows_are_people")


def _shown_roles(given: Data, roles: Mapping[str, list[str]], names: "_Names") -> dict[str, Any]:
    """Roles by names that may be shown; the policy itself says why columns are ignored or kept."""
    shown: dict[str, Any] = {role: [*map(names, columns)] for role, columns in roles.items()}
    shown |= {role: next(iter(shown[role]), None) for role in SINGLE_ROLES}
    why = given.get("ignored") or {}
    shown["ignored"] = {names(c): "..." if names.mask else why[c] for c in why}
    kept = given.get("kept") or {}
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
    """Verdicts without their numbers, and without the reasons why a number is undefined."""
    policy = table.get("policy")
    if policy is None:
        return None
    limits = [  # the k of a count below k is a setting, without which a limit on it says nothing
        {key: limit[key] for key in ("measure", "min", "max", "met", "k") if key in limit}
        | {
            "where": f"{chapter}.{names(secret)}" if secret else chapter,
            "value": None,
            "reason": SUPPRESSED,
            "reading": None,
            "impossible": None,
        }
        for limit in _worst_lines(policy["limits"])
        for chapter, _, secret in [limit["where"].partition(".")]
    ]
    reasons = [_reason(r, names) for r in policy.get("reasons", ()) if r["what"] in OF_SETTINGS]
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


def _shareable_basis(text: str | None) -> str | None:
    """What a verdict rests on, without the clauses that one person can change."""
    from sievert.policy.judgement import BETWEEN_CLAUSES, INTERNAL_CLAUSES

    if text is None:
        return None
    clauses = text.parts if isinstance(text, Joined) else text.split(BETWEEN_CLAUSES)
    return Joined([c for c in clauses if c not in INTERNAL_CLAUSES], BETWEEN_CLAUSES)


def _worst_lines(limits: Iterable[Data]) -> list[Data]:
    """Each limit once, with the worse verdict: a second line would tell of suppressed records."""
    each: dict[tuple[str, str], dict[str, Any]] = {}
    for line in limits:
        known = each.setdefault((line["where"], line["measure"]), {**line})
        if line["met"] is False or (line["met"] is None and known["met"] is True):
            known["met"] = line["met"]
    return [*each.values()]


def _reason(reason: Data, names: _Names) -> dict[str, Any]:
    """Why a policy is not met or undecided: names of columns and measures, no number."""
    from sievert.policy import GateReason

    shown = tuple(name if name in BY_ID else names(name) for name in reason["names"])
    return GateReason(reason["what"], reason["met"], shown).to_dict()


# -- rounding -----------------------------------------------------------------------------------


def shown_records(records: int, min_cell: int = LEAST) -> int | None:
    """The number of records, rounded down to two digits and to whole cells; None of a small table.

    >>> [shown_records(n) for n in (999, 1000, 1999, 30_162, 48_842)]
    [None, 1000, 1900, 30000, 48000]
    """
    if records < ENOUGH:
        return None
    step = max(10 ** (len(str(records)) - 2), min_cell)
    return records // step * step or None


def _rounded(
    values: Data, measures: Iterable[str], records: int | None, min_cell: int
) -> dict[str, Any]:
    """Those of these measures that were computed; the base rate before what follows from it.

    The table has at least so many records; None: all are withheld.
    """
    shown: dict[str, Any] = {}
    for measure in measures:
        if records is not None and measure in values and measure in BY_ID:
            step = _step(measure, shown.get(BASE_RATE), records, min_cell)
            shown[measure] = {
                **{key: values[measure][key] for key in ("unit", "riskier")},
                **round_share(None if step is None else values[measure]["value"], step or 1),
            }
    return shown


def _step(measure: str, base_rate: Data | None, records: int, min_cell: int) -> float | None:
    """At least `min_cell` times what one person can move; None where that is too coarse."""
    if (influence := BY_ID[measure].influence) is None:
        return None
    most = 1.0 if base_rate is None else _highest(base_rate)
    others = math.floor(records * (1 - most))
    step = round_step(max(min_cell * influence(records, others), FINEST))
    return step if step <= COARSEST else None


def round_share(number: float | None, step: float) -> dict[str, Any]:
    """A share to the nearest step; below the first and above the last one all look alike.

    >>> round_share(0.654, 0.02), round_share(0, 0.02)["below"], round_share(0.981, 0.02)["above"]
    ({'value': 0.66, 'reason': None, 'step': 0.02}, 0.02, 0.98)
    """
    if number is None:
        return {"value": None, "reason": SUPPRESSED}
    low, high = step, round(1 - step, 9)
    if number < low:
        return {"value": None, "reason": SUPPRESSED, "below": low, "step": step}
    if number > high:
        return {"value": None, "reason": SUPPRESSED, "above": high, "step": step}
    return {"value": round(round(number / step) * step, 9), "reason": None, "step": step}


def _highest(shown: Data) -> float:
    """The largest share that is shown so."""
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
