"""Diversity of a secret in the classes: l-diversity, confidence, (alpha,k)-anonymity."""

import math
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import Profiles
from sievert.measures import kernel
from sievert.measures.class_rules import DUST, ClassRule
from sievert.measures.measure import (
    BLIND,
    MONOTONE,
    UNBOUNDED,
    Law,
    Measure,
    MeasureResult,
    Options,
    undefined,
)
from sievert.measures.target import SecretTarget

TINY = 1e-300  # below any share


def _fewest(profiles: Profiles | None) -> int | None:
    return None if profiles is None else int(np.minimum(profiles.lengths, profiles.members).min())


def l_diversity(target: SecretTarget, _: Options) -> MeasureResult:
    """min over q of the number of different values."""
    return MeasureResult(
        _fewest(target.profiles),
        details=target.without_missing(_fewest(target.counts.known_profiles)),
    )


def lacking_values(
    tally: Any,
    seen: Any,
    size: Any,
    totals: Ints,
    records: int,
    limit: float,
    value: int,
    tree: Ints,
    work: Any,
) -> Any:
    """How many different values a class needs to reach the limit."""
    values = 0
    for s in seen:
        values = values + np.minimum(tally[s], 1)
    return limit - values


L_DIVERSITY = Measure(
    id="l_diversity",
    title="Fewest values in a group (l-diversity)",
    unit="values",
    low=1,
    high=None,
    riskier="low",
    formula="min_q |{s: n_qs > 0}|",
    source="Machanavajjhala et al. 2007",
    reading="1: in some class everybody has the same value",
    laws=(*BLIND, *MONOTONE, Law.MERGED_SECRET_LOWER),
    compute=l_diversity,
    kinds=("secret",),
    needs=frozenset({"known"}),
    aliases=("l", "distinct l-diversity"),
    influence=None,
    of_class=True,
    class_rules=(
        ClassRule(
            name="distinct",
            side="min",
            excess=lacking_values,
            monotone=True,
            known=True,
            judges_unknown=True,
        ),
    ),
    exposes_group=True,
)


def entropy_l(target: SecretTarget, _: Options) -> MeasureResult:
    """2^(min over q of H(S|q))."""
    return MeasureResult(
        target.effective_values, details=target.without_missing(target.effective_known)
    )


def entropy_lack(
    tally: Any,
    seen: Any,
    size: Any,
    totals: Ints,
    records: int,
    limit: float,
    value: int,
    tree: Ints,
    work: Any,
) -> Any:
    """How many nats H(S|q) is below the logarithm of the limit."""
    entropy = 0.0
    for s in seen:
        share = tally[s] / size
        entropy = entropy - share * np.log(np.maximum(share, TINY))
    excess = np.log(limit) - entropy
    return excess * (excess > DUST)


def _log_of_limit(_: Ints, limit: float) -> float:
    return math.log(limit)


ENTROPY_L = Measure(
    id="entropy_l",
    title="Effective number of values in a class",
    unit="values",
    low=1,
    high=None,
    riskier="low",
    formula="2^(min_q H(S|q))",
    source="Machanavajjhala et al. 2007 (entropy l-diversity)",
    reading="as uncertain as this many equally likely values, in the least uncertain class",
    laws=(*BLIND, *MONOTONE),
    compute=entropy_l,
    kinds=("secret",),
    needs=frozenset({"known"}),
    aliases=("effective number of values",),
    influence=None,
    of_class=True,
    class_rules=(
        ClassRule(
            name="entropy",
            side="min",
            excess=entropy_lack,
            convex=True,
            largest_excess=_log_of_limit,
            known=True,
            met_up_to=1.0,
        ),
    ),
    exposes_group=True,
)


def recursive_c(target: SecretTarget, options: Options) -> MeasureResult:
    """max over q of r_1/(r_l + ... + r_m), counts of a class downwards."""
    l = int(options.get("l", 2))  # noqa: E741  (the published name)
    known = target.counts.known_profiles
    without = target.without_missing(None if known is None else _largest_c(known, l))
    if known is not None and without["without_missing"] is None:
        without["without_missing_reason"] = UNBOUNDED
    largest = _largest_c(target.profiles, l)
    if largest is None:
        return undefined(UNBOUNDED, l=l, **without)
    return MeasureResult(largest, details={"l": l, **without})


def _largest_c(profiles: Profiles, l: int) -> float | None:  # noqa: E741
    """max over q of r_1/(r_l + ... + r_m); None where a class has fewer than l values."""
    if int(np.minimum(profiles.lengths, profiles.members).min()) < l:
        return None
    # r_l + ... + r_m is the class without its l - 1 most frequent values.
    first = profiles.sizes.copy()
    for i in range(l - 1):
        first = first - profiles.counts[profiles.starts + i]
    return kernel.ratio(*kernel.largest_ratio(profiles.largest, first))


def recursive_breaks(
    tally: Any,
    seen: Any,
    size: Any,
    totals: Ints,
    records: int,
    limit: float,
    value: int,
    tree: Ints,
    work: Any,
) -> Any:
    """Whether r_1/(r_l + ... + r_m) reaches the limit, l = `value`, counts downwards."""
    most = 0
    top = work[: value - 1]  # the l - 1 largest counts, downwards
    top[:] = 0
    for s in seen:
        count = tally[s]
        most = np.maximum(most, count)
        for i in range(len(top)):
            smaller = np.minimum(top[i], count)
            top[i] = np.maximum(top[i], count)
            count = smaller
    rest = size
    for count in top:
        rest = rest - count
    # The limit itself is a breach, as of the measure.
    return (rest == 0) | (most / np.maximum(rest, 1) >= limit)


RECURSIVE_C = Measure(
    id="recursive_c",
    title="Recursive (c,l)-diversity: c",
    unit="1",
    low=0,
    high=None,
    riskier="high",
    formula="max_q r_1/(r_l + ... + r_m), counts downwards",
    source="Machanavajjhala et al. 2007",
    reading="recursively (c,l)-diverse for every c greater than this",
    laws=(*BLIND, *MONOTONE),
    compute=recursive_c,
    kinds=("secret",),
    needs=frozenset({"known"}),
    aliases=("c", "(c,l)-diversity"),
    influence=None,
    of_class=True,
    class_rules=(
        ClassRule(
            name="recursive",
            side="max",
            excess=recursive_breaks,
            known=True,
            parameter="l",
            default=2,
        ),
    ),
    exposes_group=True,
)


def _highest_confidence(profiles: Profiles | None) -> float | None:
    if profiles is None:
        return None
    return kernel.ratio(*kernel.largest_ratio(profiles.largest, profiles.members))


def max_confidence(target: SecretTarget, _: Options) -> MeasureResult:
    """max over q and s of p(s|q)."""
    return MeasureResult(
        _highest_confidence(target.profiles),
        details=target.without_missing(_highest_confidence(target.counts.known_profiles)),
    )


def confidence_excess(
    tally: Any,
    seen: Any,
    size: Any,
    totals: Ints,
    records: int,
    limit: float,
    value: int,
    tree: Ints,
    work: Any,
) -> Any:
    """How far the share of the most frequent value is above the limit."""
    most = 0
    for s in seen:
        most = np.maximum(most, tally[s])
    return most / size - limit


CONFIDENCE = ClassRule(
    name="confidence", side="max", excess=confidence_excess, convex=True, known=True
)


MAX_CONFIDENCE = Measure(
    id="max_confidence",
    title="Highest confidence in a value",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="max_q,s n_qs/n_q",
    source="confidence bounding (Wang, Fung and Yu 2007)",
    reading="in some class this share has the same value",
    laws=(*BLIND, *MONOTONE),
    compute=max_confidence,
    kinds=("secret",),
    needs=frozenset({"known"}),
    aliases=("confidence",),
    influence=None,
    of_class=True,
    class_rules=(CONFIDENCE,),
    in_percent=True,
    exposes_group=True,
    instead="confidence_gain = { max = 0.5 }",
)


def alpha_k(target: SecretTarget, options: Options) -> MeasureResult:
    """max over q of p(s|q) of any value, or of the named value; with k beside it."""
    named = target.counts.named
    if named is None:
        confidence = max_confidence(target, options)
        return MeasureResult(
            confidence.value, details={"k": target.smallest_class, **confidence.details}
        )
    details: dict[str, Any] = {"k": target.smallest_class, "named_value": True}
    if not any(named.count) and not named.elsewhere:
        details["occurs"] = False
    without = None
    if target.counts.missing < target.records:
        without = kernel.ratio(*kernel.largest_ratio(named.count, named.known_size))
    details |= target.without_missing(without)
    return MeasureResult(
        kernel.ratio(*kernel.largest_ratio(named.count, named.class_size)), details=details
    )


def named_excess(
    tally: Any,
    seen: Any,
    size: Any,
    totals: Ints,
    records: int,
    limit: float,
    value: int,
    tree: Ints,
    work: Any,
) -> Any:
    """How far the share of the named value is above the limit."""
    return tally[value] / size - limit


ALPHA_K = Measure(
    id="alpha_k",
    title="(alpha,k)-anonymity: alpha",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="max_q,s n_qs/n_q (of a named value: max_q), shown with k",
    source="Wong et al. 2006",
    reading="in no class is any value (or the named one) more frequent than this",
    laws=(*BLIND, *MONOTONE),
    compute=alpha_k,
    kinds=("secret",),
    needs=frozenset({"known", "named"}),
    aliases=("alpha", "(alpha,k)-anonymity"),
    influence=None,
    of_class=True,
    class_rules=(
        CONFIDENCE,
        ClassRule(
            name="named",
            side="max",
            excess=named_excess,
            convex=True,
            gradual=False,
            known=True,
            names_value=True,
        ),
    ),
    in_percent=True,
    exposes_group=True,
    instead="confidence_gain = { max = 0.5 }",
)


DIVERSITY: tuple[Measure, ...] = (
    L_DIVERSITY,
    ENTROPY_L,
    RECURSIVE_C,
    MAX_CONFIDENCE,
    ALPHA_K,
)
