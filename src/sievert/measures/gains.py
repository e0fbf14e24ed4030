"""Gains over the base rate: what the classes tell of a secret beyond how frequent its values are.

A limit on a confidence below the share of the most frequent value is met by no release that keeps
the column; a limit on a gain is within reach of every table.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.answers import JointCounts, Profiles, Sizes
from sievert.measures import kernel
from sievert.measures.class_rules import ClassRule
from sievert.measures.class_sums import SumRule, gain_of_guesses
from sievert.measures.influence import influence_on_guess_gain
from sievert.measures.measure import (
    BLIND,
    MONOTONE,
    NOTHING_TO_LEARN,
    Measure,
    MeasureResult,
    Options,
)
from sievert.measures.target import SecretTarget


def _highest_gain(cells: JointCounts, records: int) -> float:
    """max over q, s of (n_qs·N - n_q·n_s)/(n_q·(N - n_s)); 0 where everybody has the value."""
    n, q, s = kernel.exact_products(records, cells.count, cells.class_size, cells.value_size)
    others = s < records
    n = n[others]
    q = q[others]
    s = s[others]
    if not len(n):
        return 0.0
    if bool((n == q).any()):
        return 1.0
    return max(0.0, kernel.ratio(*kernel.largest_ratio(n * records - q * s, q * (records - s))))


def _guess_gain(profiles: Profiles, most: int, records: int) -> float:
    """(V_post - V_prior)/(1 - V_prior), where `most` records have the most frequent value."""
    if most == records:
        return 0.0
    right = int((profiles.largest * profiles.times).sum())
    return float(Fraction(right - most, records - most))


def _most_known(target: SecretTarget) -> int:
    """Count the records with the most frequent value that is not missing."""
    values: Sizes = target.values
    if values.most != target.counts.missing or int(values.times[-1]) > 1:
        return values.most
    return int(values.sizes[-2])


def _gain(target: SecretTarget, gain: float, known: float | None) -> MeasureResult:
    """Put beside a gain the gain of records with a known secret; say if the secret is constant."""
    missing = target.counts.missing
    records = target.records
    if not missing:
        constant = target.values.things == 1
        details = {}
    else:
        constant = missing == records or target.values.things == 2  # one value beside missing
        details = target.without_missing(known)
    return MeasureResult(gain, NOTHING_TO_LEARN if constant else None, details)


def confidence_gain(target: SecretTarget, _: Options) -> MeasureResult:
    """max over q and s of (p(s|q) - p(s))/(1 - p(s)); 0 for a constant secret."""
    counts = target.counts
    known = None
    cells = counts.joint
    people = target.records
    if counts.confidence is not None and counts.people is not None:
        cells = counts.confidence
        people = counts.people
    assert cells is not None
    if counts.known_joint is not None:
        holders = counts.known_people or target.records - counts.missing
        known = _highest_gain(counts.known_joint, holders)
    return _gain(target, _highest_gain(cells, people), known)


def gain_excess(
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
    """How far the largest gain over the base rate is above the limit."""
    largest = 0.0
    for s in seen:
        others = records - totals[s]
        if others > 0:
            gain = tally[s] * records - totals[s] * size
            largest = np.maximum(largest, gain / (size * others))
    return largest - limit


CONFIDENCE_GAIN = Measure(
    id="confidence_gain",
    title="Highest gain in confidence",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="max_q,s (p(s|q) - p(s))/(1 - p(s))",
    source=(
        "certainty factor of a rule (Shortliffe and Buchanan 1975), of the worst class and value"
    ),
    reading="0: no class makes any value more likely; 1: in some class a value is certain",
    laws=(*BLIND, *MONOTONE),
    compute=confidence_gain,
    kinds=("secret",),
    needs=frozenset({"joint", "known", "known_joint"}),
    influence=None,
    of_class=True,
    class_rules=(ClassRule(name="gain", side="max", excess=gain_excess, convex=True, known=True),),
    in_percent=True,
    exposes_group=True,
)


def guess_gain(target: SecretTarget, _: Options) -> MeasureResult:
    """(V_post - V_prior)/(1 - V_prior) of the Bayes vulnerabilities; 0 for a constant secret."""
    counts = target.counts
    records = target.records
    known = None
    profiles = counts.known_profiles
    if profiles is not None:
        known = _guess_gain(profiles, _most_known(target), records - counts.missing)
    return _gain(target, _guess_gain(target.profiles, target.values.most, records), known)


GUESS_GAIN = Measure(
    id="guess_gain",
    title="Best-guess gain",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="(V_post - V_prior)/(1 - V_prior)",
    source="Goodman and Kruskal 1954 (lambda); Bayes vulnerabilities (Smith 2009)",
    reading="share of the wrong guesses without the class that the class puts right",
    laws=(*BLIND, *MONOTONE),
    compute=guess_gain,
    kinds=("secret",),
    needs=frozenset({"known"}),
    aliases=("best-guess gain", "lambda", "Goodman-Kruskal lambda"),
    influence=influence_on_guess_gain,
    in_percent=True,
    sum_rule=SumRule(side="max", of_secret=gain_of_guesses, known=True),
)


GAINS: tuple[Measure, ...] = (
    CONFIDENCE_GAIN,
    GUESS_GAIN,
)
