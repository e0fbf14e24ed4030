"""Totals of a numeric secret that one or two people dominate in a class."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sievert import population as people
from sievert.counts.cube import Cube, run_starts
from sievert.counts.questions import Questions
from sievert.hierarchies import NUMBER

N_LARGEST = 2  # people whose share of a total is limited
SHARE = 85  # percent of a total that they may have
PERCENT = 10  # by which the second person must be uncertain of the first person's value


def dominated_totals(questions: Questions, secrets: Mapping[str, Cube]) -> dict[str, Any]:
    """Count the classes whose total one or two people dominate, for each numeric secret."""
    return {
        secret: dominance_flags(cube)
        for secret, cube in secrets.items()
        if questions.engine.kind(secret) in ("float", "ordered") and _numeric(cube.values[-1])
    }


def _numeric(texts: Sequence[str | None]) -> bool:
    """Tell whether all values are finite numbers."""
    present = [t for t in texts if t is not None]
    return bool(present) and all(NUMBER.fullmatch(t) for t in present)


def dominance_flags(cube: Cube) -> dict[str, Any]:
    """Count the classes in which one or two people have most of a total.

    Floating point decides far from the limits, and exact fractions near them. Missing values
    contribute nothing. The rules do not apply to a class with a negative value.
    """
    exact = [Fraction(0) if t is None else Fraction(t) for t in cube.values[-1]]
    values = np.array([float(x) for x in exact])
    present = cube.codes[-1] != 0
    order = np.lexsort((-values[cube.codes[-1]], cube.owner))
    order = order[present[order]]
    amounts = values[cube.codes[-1][order]]
    counts = cube.counts[order]
    group = cube.owner[order]
    if not len(order):
        return _flags(classes=0, negative=0, n_k=0, p=0)
    starts = run_starts(group)
    ends = np.append(starts[1:], len(group)) - 1
    total = np.add.reduceat(amounts * counts, starts)
    first = amounts[starts]
    after = np.where(starts < ends, amounts[np.minimum(starts + 1, len(amounts) - 1)], 0.0)
    second = np.where(counts[starts] > 1, first, after)
    negative = amounts[ends] < 0
    usable = ~negative & (total > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (first + second) / total * 100 - SHARE
        left = (total - first - second) / first * 100 - PERCENT
    flagged_n = usable & (share > 0)
    flagged_p = usable & (left < 0)
    for i in np.flatnonzero(usable & ((abs(share) < 1e-6) | (abs(left) < 1e-6))).tolist():
        cells = order[starts[i] : ends[i] + 1]
        times = zip(cube.codes[-1][cells].tolist(), cube.counts[cells].tolist(), strict=True)
        whole = [(exact[code], n) for code, n in times]
        top = [x for x, n in whole[:2] for _ in range(min(n, 2))][:2]
        sum_ = sum((x * n for x, n in whole), Fraction(0))
        flagged_n[i] = bool(people.dominance(top, N_LARGEST, SHARE, total=sum_).details["flagged"])
        flagged_p[i] = bool(people.p_percent(top, PERCENT, total=sum_).details["flagged"])
    return _flags(
        classes=len(starts),
        negative=int(negative.sum()),
        n_k=int(flagged_n.sum()),
        p=int(flagged_p.sum()),
    )


def _flags(*, classes: int, negative: int, n_k: int, p: int) -> dict[str, Any]:
    """Make the entry of the JSON; `n_k` and `p` count the classes that break each rule."""
    return {
        "classes": classes,
        "classes_with_negative": negative,
        "dominance": {"n": N_LARGEST, "k": SHARE, "flagged": n_k},
        "p_percent": {"p": PERCENT, "flagged": p},
    }
