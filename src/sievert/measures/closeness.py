"""How far a secret in a class is from the table: t-closeness, beta-likeness, delta-disclosure."""

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.answers import Gaps, Ranked
from sievert.measures import kernel
from sievert.measures.class_rules import DUST, ClassRule
from sievert.measures.measure import (
    ALWAYS,
    BLIND,
    MONOTONE,
    UNBOUNDED,
    UNORDERED_MISSING,
    Law,
    Measure,
    MeasureResult,
    Number,
    Options,
    undefined,
)
from sievert.measures.target import SecretTarget
from sievert.numerics.acceleration import compile_loops

COMPILE = 20_000  # cells from which compiled code pays that is loaded already


def _gap(gaps: Gaps | None, records: int) -> float:
    """max over q of half the sum over s of |p(s|q) - p(s)|, or the mean of that over levels.

    The mean over the levels of a tree is the earth mover's distance on it. Moving p(s|q) to p(s)
    costs level/H for values that meet at that level. The cost of the cheapest plan is a sum over
    tree edges of the flow through them, and the flow through the edges of one level adds up to
    twice the variational distance of the labels of that level: hence the mean.
    """
    assert gaps is not None
    bottom = [records * n * gaps.levels for n in gaps.class_size]
    return kernel.ratio(*kernel.largest_ratio(gaps.gap, bottom))


def moved_share(
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
    """How far the distance of equally far values is above the limit."""
    moved = 0
    for s in seen:
        moved = moved + np.maximum(0, tally[s] * records - totals[s] * size)
    return moved / (size * records) - limit


T_CLOSENESS = Measure(
    id="t_closeness",
    title="Largest shift of a group (t-closeness)",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="max_q 1/2 sum_s |p(s|q) - p(s)|",
    source="Li, Li and Venkatasubramanian 2007",
    reading="share of the worst class that would have to change value to look like the table",
    laws=(*BLIND, *MONOTONE, Law.MERGED_SECRET_LOWER),
    compute=lambda target, _: _gap(target.counts.gaps, target.records),
    kinds=("secret",),
    needs=frozenset({"gaps"}),
    aliases=("t", "EMD", "equal-distance EMD"),
    influence=None,
    of_class=True,
    class_rules=(
        ClassRule(name="equal_t", side="max", excess=moved_share, convex=True, distance=True),
    ),
    exposes_group=True,
)


def moved_in_tree(
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
    """How far the mean over levels of the distance of labels is above the limit."""
    moved = 0
    for level in range(len(tree)):
        work[:] = 0
        for s in range(len(totals)):
            work[tree[level, s]] += tally[s] * records - totals[s] * size
        for label in range(len(totals)):
            moved = moved + np.maximum(0, work[label])
    return moved / (size * records * len(tree)) - limit


T_CLOSENESS_HIERARCHICAL = Measure(
    id="t_closeness_hierarchical",
    title="Largest shift, hierarchy",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="max_q earth mover's distance, ground distance level of the common ancestor / height",
    source="Li, Li and Venkatasubramanian 2007",
    reading="as t-closeness, but values that are alike by the hierarchy count as near",
    laws=(*ALWAYS, Law.REPETITION, *MONOTONE),
    compute=lambda target, _: _gap(target.counts.hierarchy_gaps, target.records),
    kinds=("secret",),
    needs=frozenset({"hierarchy"}),
    influence=None,
    of_class=True,
    class_rules=(
        ClassRule(name="tree_t", side="max", excess=moved_in_tree, convex=True, distance=True),
    ),
    exposes_group=True,
)


def t_closeness_ordered(target: SecretTarget, options: Options) -> MeasureResult:
    """max over q of 1/(m-1) · sum over i < m of |cumulated p(.|q) - cumulated p|."""
    which = {"order": options["order"]} if "order" in options else {}
    if target.counts.missing:
        return undefined(UNORDERED_MISSING, **which)
    ranked = target.counts.ranked
    assert ranked is not None
    if len(ranked.totals) <= 1:
        return MeasureResult(0.0, details=which)
    rough = _ordered_distances(ranked, target.records)
    worst = _different_classes(ranked, np.flatnonzero(rough >= float(rough.max()) - 1e-9))
    distance = max(_ordered_distance(ranked, i, target.records) for i in worst)
    return MeasureResult(float(distance), details=which)


def _ordered_distances(ranked: Ranked, records: int, compile_from: int = COMPILE) -> Floats:
    """The distance of every class in floating point, with an error of about 1e-12.

    Between two values that occur in a class, the cumulated share of the class is constant and that
    of the table rises. So the sum of |difference| over these ranks follows from cumulated sums of
    the table and the one rank where the sign changes: no class needs an array over all values.
    From `compile_from` cells on, compiled code is used if it is loaded.
    """
    m = len(ranked.totals)
    table = np.cumsum(ranked.totals) / records  # P(0..i)
    summed = np.concatenate([[0.0], np.cumsum(table)])  # sum of P over ranks < i
    starts = ranked.starts
    ranks = ranked.ranks
    loops = None
    if len(ranks) >= compile_from and "numba" in sys.modules:
        loops = compile_loops(_walk_classes)
    if loops:
        distances = np.empty(len(starts))
        loops[0](ranks, ranked.counts, np.append(starts, len(ranks)), table, summed, distances)
        return distances
    sizes = np.add.reduceat(ranked.counts, starts)
    lengths = np.diff(np.append(starts, len(ranks)))
    before = np.repeat(np.cumsum(ranked.counts)[starts] - ranked.counts[starts], lengths)
    share = (np.cumsum(ranked.counts) - before) / np.repeat(sizes, lengths)
    stop = np.append(ranks[1:], m - 1)
    stop[np.append(starts[1:], len(ranks)) - 1] = m - 1  # the last run ends before the last rank
    turn = np.clip(np.searchsorted(table, share, side="right"), ranks, stop)
    below = share * (turn - ranks) - (summed[turn] - summed[ranks])
    above = (summed[stop] - summed[turn]) - share * (stop - turn)
    return np.asarray((np.add.reduceat(below + above, starts) + summed[ranks[starts]]) / (m - 1))


def _walk_classes(
    ranks: Ints, counts: Ints, bounds: Ints, table: Floats, summed: Floats, distances: Floats
) -> None:
    """Write the distance of every class to `distances`, cell by cell, in compiled code."""
    last = len(table) - 1
    for c in range(len(distances)):
        size = here = 0
        for cell in range(bounds[c], bounds[c + 1]):
            size += counts[cell]
        distance = summed[ranks[bounds[c]]]
        for cell in range(bounds[c], bounds[c + 1]):
            here += counts[cell]
            share = here / size
            rank = ranks[cell]
            stop = ranks[cell + 1] if cell + 1 < bounds[c + 1] else last
            turn = rank
            end = stop
            while turn < end:  # the first rank from which on the table's share is above
                middle = (turn + end) // 2
                if table[middle] <= share:
                    turn = middle + 1
                else:
                    end = middle
            distance += share * (turn - rank) - (summed[turn] - summed[rank])
            distance += (summed[stop] - summed[turn]) - share * (stop - turn)
        distances[c] = distance / last


def _different_classes(ranked: Ranked, places: Ints) -> list[int]:
    """One of the classes at `places` for all classes that have the same pairs."""
    lengths = np.diff(np.append(ranked.starts, len(ranked.ranks)))[places]
    different = []
    for length in np.unique(lengths).tolist():
        own = places[lengths == length]
        cells = ranked.starts[own][:, None] + np.arange(length)
        pairs = np.hstack([ranked.ranks[cells], ranked.counts[cells]])
        different += own[np.unique(pairs, axis=0, return_index=True)[1]].tolist()
    return different


def _ordered_distance(ranked: Ranked, i: int, records: int) -> Fraction:
    """The distance of one class as an exact fraction."""
    stop = ranked.starts[i + 1] if i + 1 < len(ranked.starts) else len(ranked.ranks)
    where = slice(ranked.starts[i], stop)
    class_counts = dict(
        zip(ranked.ranks[where].tolist(), ranked.counts[where].tolist(), strict=True)
    )
    size = sum(class_counts.values())
    here = table = distance = 0
    for rank, n in enumerate(ranked.totals.tolist()):
        here += class_counts.get(rank, 0)
        table += n
        distance += abs(here * records - table * size)
    return Fraction(distance, records * size * (len(ranked.totals) - 1))


def moved_ranks(
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
    """How far the distance in ranks is above the limit."""
    steps = max(len(totals) - 1, 1)
    moved = 0
    ahead = 0
    for s in range(len(totals) - 1):
        ahead = ahead + tally[s] * records - totals[s] * size
        moved = moved + np.abs(ahead)
    return moved / (size * records * steps) - limit


T_CLOSENESS_ORDERED = Measure(
    id="t_closeness_ordered",
    title="Largest shift, ordered values",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="max_q 1/(m-1) sum_i |P(i|q) - P(i)|, P cumulated",
    source="Li, Li and Venkatasubramanian 2007",
    reading="mean distance in ranks that a class is away from the table, 1 = from end to end",
    laws=(*ALWAYS, Law.REPETITION, *MONOTONE),
    compute=t_closeness_ordered,
    kinds=("secret",),
    needs=frozenset({"order"}),
    aliases=("EMD", "ordered EMD", "ordered t-closeness"),
    influence=None,
    of_class=True,
    class_rules=(
        ClassRule(name="ordered_t", side="max", excess=moved_ranks, convex=True, distance=True),
    ),
    exposes_group=True,
)


class _Gains:
    """p(s|q)/p(s) over the occupied cells, its extremes compared exactly."""

    def __init__(self, target: SecretTarget) -> None:
        cells = target.counts.joint
        assert cells is not None
        self.cells = cells
        self.records = target.records
        self.rough = (
            np.asarray(cells.count, dtype=np.float64)
            / np.asarray(cells.class_size, dtype=np.float64)
            / np.asarray(cells.value_size, dtype=np.float64)
            * float(target.records)
        )

    def gain(self, i: int) -> Fraction:
        """p(s|q)/p(s) of one cell."""
        c = self.cells
        return Fraction(int(c.count[i]) * self.records, int(c.class_size[i]) * int(c.value_size[i]))

    def excess(self) -> Floats:
        """p(s|q)/p(s) - 1 of every cell, from exact differences."""
        c = self.cells
        n, q, s = kernel.exact_products(self.records, c.count, c.class_size, c.value_size)
        top = n * self.records - q * s
        bottom = q * s
        return np.asarray(top, dtype=np.float64) / np.asarray(bottom, dtype=np.float64)

    def highest(self) -> Fraction:
        edge = float(self.rough.max()) * (1 - 1e-12)
        return max(self.gain(i) for i in np.flatnonzero(self.rough >= edge).tolist())

    def lowest(self) -> Fraction:
        edge = float(self.rough.min()) * (1 + 1e-12)
        return min(self.gain(i) for i in np.flatnonzero(self.rough <= edge).tolist())


def _beta(gains: _Gains) -> float:
    """max(0, max over q and s of (p(s|q) - p(s))/p(s))."""
    return float(max(Fraction(0), gains.highest() - 1))


def beta_excess(
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
    """How far the largest relative gain is above the limit."""
    largest = 0.0
    for s in seen:
        if totals[s] > 0:
            gain = tally[s] * records - totals[s] * size
            largest = np.maximum(largest, gain / (size * totals[s]))
    return largest - limit


def _largest_beta(totals: Ints, limit: float) -> float:
    """The excess if all records of a class have the rarest value."""
    rarest = min(int(n) for n in totals if n)
    return max(0.0, (int(totals.sum()) - rarest) / rarest - limit)


BETA_LIKENESS = Measure(
    id="beta_likeness",
    title="Basic beta-likeness",
    unit="1",
    low=0,
    high=None,
    riskier="high",
    formula="max(0, max_q,s (p(s|q) - p(s))/p(s))",
    source="Cao and Karras 2012",
    reading="a value is at most 1 + beta times as likely in a class as in the table",
    laws=(*BLIND, *MONOTONE, Law.SYMMETRY, Law.MERGED_SECRET_LOWER),
    compute=lambda target, _: _beta(_Gains(target)),
    kinds=("secret",),
    needs=frozenset({"joint"}),
    aliases=("beta",),
    influence=None,
    of_class=True,
    class_rules=(
        ClassRule(
            name="beta",
            side="max",
            excess=beta_excess,
            convex=True,
            largest_excess=_largest_beta,
        ),
    ),
)


def enhanced_beta_likeness(target: SecretTarget, options: Options) -> MeasureResult:
    """max over s of min(B, -ln p(s)), B the basic value of the table."""
    gains = _Gains(target)
    rarity = kernel.log2_ratio(gains.cells.value_size, target.records) * kernel.LN2
    satisfiable = bool(np.all(gains.excess() <= rarity))  # equal only where both are 0
    return MeasureResult(
        min(_beta(gains), float(rarity.max())), details={"satisfiable": satisfiable}
    )


def enhanced_excess(
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
    """How far a relative gain is above its own bound, min(limit, -ln p(s))."""
    furthest = 0.0
    for s in seen:
        if totals[s] > 0:
            gain = (tally[s] * records - totals[s] * size) / (size * totals[s])
            furthest = np.maximum(furthest, gain - min(limit, np.log(records / totals[s])))
    return furthest


def _largest_enhanced(totals: Ints, limit: float) -> float:
    """The excess if all records of a class have the value that is then furthest above its bound."""
    records = int(totals.sum())
    largest = 0.0
    for number in totals:
        if number:
            gain = (records - int(number)) / int(number)
            bound = min(limit, math.log(records / int(number)))
            largest = max(largest, gain - bound)
    return largest


ENHANCED_BETA_LIKENESS = Measure(
    id="enhanced_beta_likeness",
    title="Enhanced beta-likeness",
    unit="nats",
    low=0,
    high=None,
    riskier="high",
    formula="max_s min(B, -ln p(s)), B = beta_likeness",
    source="Cao and Karras 2012 (pycanon's reading)",
    reading="beta capped by minus the logarithm of the rarest value's frequency",
    laws=(*BLIND, *MONOTONE),
    compute=enhanced_beta_likeness,
    kinds=("secret",),
    needs=frozenset({"joint"}),
    aliases=("enhanced beta",),
    influence=None,
    of_class=True,
    class_rules=(
        ClassRule(
            name="enhanced",
            side="max",
            excess=enhanced_excess,
            convex=True,
            largest_excess=_largest_enhanced,
        ),
    ),
)


def delta_disclosure(target: SecretTarget, options: Options) -> Number | MeasureResult:
    """max over q and all s of |ln(p(s|q)/p(s))|; unbounded where a class lacks a value."""
    if int(target.profiles.lengths.min()) < target.values.things:
        return undefined(UNBOUNDED)
    return delta_disclosure_present(target, options)


def delta_breaks(
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
    """Whether the class lacks a value of the table, or |ln(p(s|q)/p(s))| is above the limit."""
    largest = 0.0
    values = 0
    for s in seen:
        if totals[s] > 0:
            occurs = np.minimum(tally[s], 1)
            ratio = (np.maximum(tally[s], 1) * records) / (size * totals[s])
            largest = np.maximum(largest, occurs * np.abs(np.log(ratio)))
            values = values + occurs
    of_table = 0
    for s in range(len(totals)):
        if totals[s] > 0:
            of_table += 1
    return (largest > limit + DUST) | (values < of_table)


DELTA_DISCLOSURE = Measure(
    id="delta_disclosure",
    title="delta-disclosure",
    unit="nats",
    low=0,
    high=None,
    riskier="high",
    formula="max_q,s |ln(p(s|q)/p(s))|, all s of the table",
    source="Brickell and Shmatikov 2008",
    reading="unbounded as soon as a class lacks a value: it can be ruled out for its members",
    laws=(*BLIND, *MONOTONE),
    compute=delta_disclosure,
    kinds=("secret",),
    needs=frozenset({"joint"}),
    aliases=("delta",),
    influence=None,
    of_class=True,
    class_rules=(ClassRule(name="delta", side="max", excess=delta_breaks),),
)


def delta_disclosure_present(target: SecretTarget, _: Options) -> Number:
    """max over q and the values of q of |ln(p(s|q)/p(s))|."""
    gains = _Gains(target)
    return max(abs(kernel.ln(gains.highest())), abs(kernel.ln(gains.lowest())))


def delta_present_breaks(
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
    """Whether |ln(p(s|q)/p(s))| of a value in the class is above the limit."""
    largest = 0.0
    for s in seen:
        if totals[s] > 0:
            occurs = np.minimum(tally[s], 1)  # 0: the value is not in the class
            ratio = (np.maximum(tally[s], 1) * records) / (size * totals[s])
            largest = np.maximum(largest, occurs * np.abs(np.log(ratio)))
    return largest > limit + DUST


DELTA_DISCLOSURE_PRESENT = Measure(
    id="delta_disclosure_present",
    title="delta-disclosure of present values",
    unit="nats",
    low=0,
    high=None,
    riskier="high",
    formula="max_q,s |ln(p(s|q)/p(s))|, s with n_qs > 0",
    source="pycanon's delta_disclosure",
    reading="for comparison with pycanon: it can rise when values are merged",
    laws=BLIND,
    compute=delta_disclosure_present,
    kinds=("secret",),
    needs=frozenset({"joint"}),
    influence=None,
    of_class=True,
    class_rules=(ClassRule(name="delta_present", side="max", excess=delta_present_breaks),),
)


CLOSENESS: tuple[Measure, ...] = (
    T_CLOSENESS,
    T_CLOSENESS_ORDERED,
    T_CLOSENESS_HIERARCHICAL,
    BETA_LIKENESS,
    ENHANCED_BETA_LIKENESS,
    DELTA_DISCLOSURE,
    DELTA_DISCLOSURE_PRESENT,
)
