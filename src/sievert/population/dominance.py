"""Whether one or two people make up most of a class's total of a numeric secret.

x_1 >= x_2 >= ... are the contributions to the total X of one class. Somebody who is in the class
subtracts their own contribution from a published total; what is left may be nearly one person's.
Both rules are those of the Handbook on Statistical Disclosure Control (Hundepool et al. 2012,
chapter 4) and hold for contributions that are not negative.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from heapq import nlargest
from typing import Any

from sievert.errors import UsageError, require
from sievert.population.estimate import Estimate

Amount = int | float | Decimal | Fraction

NEGATIVE = "a contribution is negative"
NOTHING = "all contributions are 0"


def dominance(
    contributions: Iterable[Amount],
    n: int = 2,
    k: Amount = 85,
    *,
    total: Amount | None = None,
) -> Estimate:
    """The (n, k) rule: (x_1 + ... + x_n)/X, `flagged` where it exceeds k percent.

    `contributions` may be the n largest alone where the `total` is given. n = 2 and k = 85 are the
    example of the handbook's glossary; n = 1 overlooks what the second largest knows.

    >>> found = dominance([50, 30, 15, 5])
    >>> found.value, found.details["flagged"]
    (0.8, False)
    """
    require(n >= 1 and 0 < k < 100, "the rule needs n of at least 1 and k between 0 and 100")
    largest, reason, whole = _exactly(contributions, n, total)
    details = {"n": n, "k": float(k)}
    if reason:
        return _without_share("dominance", reason, details)
    share = sum(largest, Fraction(0)) / whole
    return Estimate(
        float(share), "dominance", details={**details, "flagged": 100 * share > Fraction(str(k))}
    )


def p_percent(
    contributions: Iterable[Amount], p: Amount = 10, *, total: Amount | None = None
) -> Estimate:
    """The p% rule: (X - x_1 - x_2)/x_1, `flagged` where it is below p percent.

    By so much the second largest overestimates the largest when they subtract their own
    contribution from the total. `contributions` may be the two largest alone where the `total` is
    given. p = 10 is the handbook's example; it flags less than n = 2 with k = 10000/(100 + p).

    >>> found = p_percent([52_000, 50_000], total=110_000)
    >>> round(found.value, 3), found.details["flagged"]
    (0.154, False)
    """
    require(p > 0, "the rule needs p above 0")
    largest, reason, whole = _exactly(contributions, 2, total)
    details = {"p": float(p)}
    if reason:
        return _without_share("p percent", reason, details)
    left = (whole - sum(largest, Fraction(0))) / largest[0]
    return Estimate(
        float(left), "p percent", details={**details, "flagged": 100 * left < Fraction(str(p))}
    )


def _without_share(method: str, reason: str, details: dict[str, Any]) -> Estimate:
    """No share; without any contribution nobody can be found, with a negative one nobody knows."""
    flagged = None if reason == NEGATIVE else False
    return Estimate(None, method, reason, {**details, "flagged": flagged})


def _exactly(
    contributions: Iterable[Amount], n: int, total: Amount | None
) -> tuple[list[Fraction], str | None, Fraction]:
    """The n largest contributions, why there is no share of them, and the exact total."""
    try:
        values = [Fraction(x) for x in contributions]
        whole = sum(values, Fraction(0)) if total is None else Fraction(total)
    except (ValueError, OverflowError, TypeError):
        raise UsageError("a contribution is missing or infinite") from None
    require(values, "a class without contributions has no total")
    require(
        whole >= sum(values, Fraction(0)) or min(values) < 0, "the contributions exceed their total"
    )
    reason = NEGATIVE if min(values) < 0 else NOTHING if whole == 0 else None
    return nlargest(n, values), reason, whole
