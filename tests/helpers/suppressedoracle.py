"""The suppressed records as a class of their own, the slow way: from rows, by the definitions.

Nothing here is shared with the package. The base of every gain and distance is that of all records
of the file, suppressed or not; of people, each with each of their values once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
INFINITE = math.inf


def suppressed_class(
    rows: Sequence[Row],
    quasi: Sequence[str],
    secret: str,
    *,
    mark: str | None,
    person: str | None = None,
    order: Sequence[Any] = (),
    ladder: Mapping[Any, Sequence[str]] | None = None,
    l: int = 2,  # noqa: E741
    named: Any = None,
) -> dict[str, list[Any]] | None:
    """Every reading of every measure of the class; None where nobody is suppressed.

    A reading is None where there is no number; infinity stands for unbounded.
    """
    own = [i for i, row in enumerate(rows) if all(row[q] == mark for q in quasi)]
    if not own:
        return None

    def member(i: int) -> Any:
        who = None if person is None else rows[i][person]
        return ("row", i) if who is None else ("person", who)

    everybody = {member(i) for i in range(len(rows))}
    pairs = {(member(i), rows[i][secret]) for i in range(len(rows))}
    here = {(member(i), rows[i][secret]) for i in own}
    known = {(m, s) for m, s in pairs if s is not None}
    missing = len(known) < len(pairs)
    readings = [(pairs, here)]
    if missing and known and any(s is not None for _, s in here):
        readings.append((known, {(m, s) for m, s in here if s is not None}))
    members = {member(i) for i in own}
    numbers: dict[str, list[Any]] = {
        "k_anonymity": [len(members)],
        "highest_risk": [1 / len(members)],
    }
    both = [_of_reading(*reading, l, named) for reading in readings]
    for name in both[0]:
        numbers[name] = [reading[name] for reading in both]
    base, shares = _shares(pairs), _shares(here)
    gains = [shares[s] / base[s] - 1 for s in shares]
    numbers["t_closeness"] = [float(_distance(base, shares))]
    numbers["beta_likeness"] = [float(max([Fraction(0), *gains]))]
    caps = [-math.log(base[s]) for s in shares]
    numbers["enhanced_beta_likeness"] = list(zip(map(float, gains), caps, strict=True))
    present = [abs(math.log(shares[s] / base[s])) for s in shares]
    numbers["delta_disclosure_present"] = [max(present)]
    numbers["delta_disclosure"] = [max(present) if len(shares) == len(base) else INFINITE]
    entropies = [_entropy(base), _entropy(shares)]
    numbers["entropy_variation"] = [max(0.0, entropies[0] - entropies[1])]
    numbers["reciprocal_entropy"] = [1 / entropies[1] if len(shares) > 1 else INFINITE]
    if missing:
        numbers["t_closeness_ordered"] = [None]
    else:
        values = [s for s in order if s in base]
        distance = Fraction(0)
        for i in range(len(values) - 1):
            steps = [base[s] - shares.get(s, 0) for s in values[: i + 1]]
            distance += abs(sum(steps, Fraction(0)))
        numbers["t_closeness_ordered"] = [float(distance / max(1, len(values) - 1))]
    if ladder is not None:
        numbers["t_closeness_hierarchical"] = [float(_tree_distance(base, shares, ladder))]
    assert len(everybody) >= len(members)
    return numbers


def _of_reading(
    pairs: set[tuple[Any, Any]],
    here: set[tuple[Any, Any]],
    l: int,  # noqa: E741
    named: Any,
) -> dict[str, float | int | None]:
    """The measures that have two readings of missing secrets."""
    people, everybody = len({m for m, _ in here}), len({m for m, _ in pairs})
    counts, totals = Counter(s for _, s in here), Counter(s for _, s in pairs)
    downwards = sorted(counts.values(), reverse=True)
    values = min(len(counts), people)
    rest = sum(downwards[l - 1 :])
    gains = [
        (Fraction(n, people) - Fraction(totals[s], everybody))
        / (1 - Fraction(totals[s], everybody))
        for s, n in counts.items()
        if totals[s] < everybody
    ]
    effective = min(2 ** _entropy(_shares(here)), people)
    return {
        "l_diversity": values,
        "entropy_l": effective,
        "entropy_l_diversity": 1 / effective,
        "recursive_c": INFINITE if values < l else downwards[0] / rest,
        "max_confidence": downwards[0] / people,
        "alpha_k": (downwards[0] if named is None else counts[named]) / people,
        "confidence_gain": float(max([Fraction(0), *gains])),
    }


def _shares(pairs: set[tuple[Any, Any]]) -> dict[Any, Fraction]:
    counts = Counter(s for _, s in pairs)
    return {s: Fraction(n, len(pairs)) for s, n in counts.items()}


def _entropy(shares: Mapping[Any, Fraction]) -> float:
    return -sum(float(p) * math.log2(p) for p in shares.values())


def _distance(base: Mapping[Any, Fraction], shares: Mapping[Any, Fraction]) -> Fraction:
    return sum((abs(base[s] - shares.get(s, 0)) for s in base), Fraction(0)) / 2


def _tree_distance(
    base: Mapping[Any, Fraction],
    shares: Mapping[Any, Fraction],
    ladder: Mapping[Any, Sequence[str]],
) -> Fraction:
    """The mean over the levels below the root of the distance of the labels of that level."""
    height = len(next(iter(ladder.values())))
    whole = Fraction(0)
    for level in range(height):
        merged: list[dict[Any, Fraction]] = []
        for part in (base, shares):
            own: dict[Any, Fraction] = {}
            for s, p in part.items():
                node = "missing" if s is None else ("node", [s, *ladder[s]][level])
                own[node] = own.get(node, Fraction(0)) + p
            merged.append(own)
        whole += _distance(*merged)
    return whole / height


def limits_on_classes(
    quasi: Sequence[str],
    secret: str,
    *,
    person: str | None = None,
    mark: str | None = "*",
    ignored: Sequence[str] = (),
) -> dict[str, Any]:
    """A policy with a limit on every measure of a class that needs neither order nor hierarchy."""
    people = {"rows_are_people": True} if person is None else {"person": person}
    least = ("l_diversity", "entropy_l")
    most = (
        *("entropy_l_diversity", "recursive_c", "max_confidence", "alpha_k", "confidence_gain"),
        *("t_closeness", "beta_likeness", "enhanced_beta_likeness", "delta_disclosure"),
        *("delta_disclosure_present", "entropy_variation"),
    )
    of_secret = {m: {"min": 2} for m in least} | {m: {"max": 0.5} for m in most}
    return {
        "roles": {
            "quasi": list(quasi),
            "sensitive": [secret],
            "ignored": dict.fromkeys(ignored, "not released"),
            **people,
        },
        "reading": {"suppressed": ["missing:" if mark is None else mark]},
        "limits": {
            "reidentification": {
                "k_anonymity": {"min": 3},
                "highest_risk": {"max": 0.3},
                "records_below": {"max": 2},
                "unique_records": {"max": 0.1},
            },
            "inference": {secret: of_secret},
        },
    }
