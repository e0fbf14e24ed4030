"""How far the distributions of columns, and of pairs of columns, are from the original's."""

import itertools
import math
from functools import cached_property

import numpy as np

from sievert.arrays import Ints
from sievert.estimators.contingency import count_keys
from sievert.formatting.remarks import Remark
from sievert.hierarchies import ROOT
from sievert.losses.label_sets import (
    SMALL,
    sum_by_code,
    value_code_of_label,
    value_label_pairs,
)
from sievert.losses.loss import (
    Loss,
    LossKind,
    PairedColumn,
    Release,
    computed_once,
    needs_records,
    undefined_loss,
)
from sievert.measures import kernel

ONE_COLUMN = Remark("no_pair_of_columns")


@needs_records
def hellinger_margins(release: Release) -> Loss:
    """The mean over columns of the distance between the released and the original distribution."""
    columns = {c.name: _texts(c).distance for c in release.columns}
    worst = min(columns, key=lambda name: (-columns[name], name))
    return Loss(
        math.fsum(columns.values()) / len(columns),
        columns=columns,
        details={"worst": worst, "worst_distance": columns[worst]},
    )


HELLINGER_MARGINS = LossKind(
    id="hellinger_margins",
    title="Hellinger distance of columns",
    unit="1",
    low=0.0,
    high=1.0,
    worse="high",
    formula="mean over columns of sqrt(1/2 sum_v (sqrt p(v) - sqrt p'(v))²)",
    source="Hellinger 1909; for released microdata Gomatam and Karr 2003, Torra and Carlson 2013",
    reading=(
        "0: every text is as frequent as before. 1: no text of the original is left. A "
        "suppressed cell is a text of its own."
    ),
    compute=hellinger_margins,
    aliases=("Hellinger",),
)


@needs_records
def hellinger_pairs(release: Release) -> Loss:
    """The mean over pairs of columns of the distance between their joint distributions."""
    if len(release.columns) == 1:
        return undefined_loss(ONE_COLUMN)
    texts = {c.name: _texts(c) for c in release.columns}
    distances = {
        (a, b): texts[a].distance_with(texts[b]) for a, b in itertools.combinations(texts, 2)
    }
    worst = min(distances, key=lambda names: (-distances[names], sorted(names)))
    columns = {
        name: math.fsum(d for names, d in distances.items() if name in names) / (len(texts) - 1)
        for name in texts
    }
    details = {
        "worst": sorted(worst),
        "worst_distance": distances[worst],
        "pairs": [{"columns": [a, b], "distance": d} for (a, b), d in distances.items()],
    }
    return Loss(math.fsum(distances.values()) / len(distances), columns=columns, details=details)


HELLINGER_PAIRS = LossKind(
    id="hellinger_pairs",
    title="Hellinger distance of pairs of columns",
    unit="1",
    low=0.0,
    high=1.0,
    worse="high",
    formula="mean over pairs of columns of sqrt(1/2 sum_vw (sqrt p(v,w) - sqrt p'(v,w))²)",
    source="Hellinger 1909; for released microdata Gomatam and Karr 2003, Torra and Carlson 2013",
    reading=(
        "0: every combination of two columns is as frequent as before. Never below the distance "
        "of either column."
    ),
    compute=hellinger_pairs,
)


class _Texts:
    """A column before and after, as codes of the same texts; suppressed cells share one."""

    def __init__(self, column: PairedColumn) -> None:
        self._column = column
        pairs = value_label_pairs(column)
        names, width = value_code_of_label(column)
        self._gone = list(column.values).index(ROOT) if ROOT in column.values else width
        self._names = np.append(names, self._gone)
        self.width = width + 1
        after = np.where(pairs.suppressed, self._gone, self._names[pairs.released])
        self.same = bool(np.all(pairs.original == after))
        n = sum_by_code(pairs.original, pairs.times, self.width)
        m = sum_by_code(after, pairs.times, self.width)
        self.apart = not np.any((n > 0) & (m > 0))
        self.distance = _distance(n, m, len(column.original))

    @cached_property
    def codes(self) -> tuple[Ints, Ints]:
        """The codes before and after, one per record."""
        column = self._column
        after = self._names[column.released]
        after[column.suppressed] = self._gone
        return column.original.astype(np.int64), after

    def distance_with(self, other: "_Texts") -> float:
        """The distance of the joint distribution with another column."""
        if self.same and other.same:
            return 0.0
        if self.apart or other.apart:
            return 1.0
        before = self.codes[0] * other.width + other.codes[0]
        after = self.codes[1] * other.width + other.codes[1]
        size = self.width * other.width
        records = len(before)
        if size <= max(SMALL, 2 * records):
            n = np.bincount(before, minlength=size)
            m = np.bincount(after, minlength=size)
            return _distance(n, m, records)
        codes, n = count_keys(before, size)
        others, times = count_keys(after, size)
        place = np.searchsorted(others, codes)
        place[place == len(others)] = 0
        shared = others[place] == codes
        alone = np.ones(len(others), dtype=bool)
        alone[place[shared]] = False
        m = np.append(np.where(shared, times[place], 0), times[alone])
        return _distance(np.append(n, np.zeros(alone.sum(), dtype=np.int64)), m, records)


_texts = computed_once(_Texts)


def _distance(n: Ints, m: Ints, records: int) -> float:
    """sqrt(1/2 sum (sqrt p - sqrt p')²) of counts n and m of as many records."""
    differs = np.flatnonzero(n != m)
    n = n[differs]
    m = m[differs]
    # A difference of roots by the difference of counts, which is exact.
    terms = np.where(n * m > 0, ((n - m) / (np.sqrt(n) + np.sqrt(m))) ** 2, n + m)
    return min(1.0, math.sqrt(kernel.total(terms) / (2 * records)))


KINDS = (
    HELLINGER_MARGINS,
    HELLINGER_PAIRS,
)
