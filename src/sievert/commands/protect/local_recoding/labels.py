"""The labels of classes: their texts in the release, and the number of values that each covers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Floats, Ints, Text
from sievert.commands.protect.local_recoding.columns import SET, TREE, LocalColumn
from sievert.commands.protect.local_recoding.recoding import Pieces
from sievert.hierarchies import ROOT
from sievert.losses.formulas import GENERALISED, LabelShare

PLAIN = re.compile(r"[\w.+/&'<>=-][\w .+/&'<>=:-]*(?<! )")  # a member of a set without quotes
Run = tuple[int, int]


@dataclass(frozen=True, eq=False)
class ColumnLabels:
    """The labels of one column: their texts, the code of each class, and what they cover."""

    texts: tuple[Text, ...]
    codes: Ints  # of every class
    widths: Ints  # of every text: the number of values that it stands for
    covered: Ints  # of every text: the number of original records with one of these values

    def with_suppressed(self, classes: Ints, column: LocalColumn, records: int) -> "ColumnLabels":
        """Give some `classes` the mark of suppression as their label."""
        if not len(classes):
            return self
        texts = self.texts if ROOT in self.texts else (*self.texts, ROOT)
        more = len(texts) - len(self.texts)
        codes = self.codes.copy()
        codes[classes] = texts.index(ROOT)
        return ColumnLabels(
            texts=texts,
            codes=codes,
            widths=np.append(self.widths, [column.domain] * more),
            covered=np.append(self.covered, [records] * more),
        )


def column_labels(column: LocalColumn, positions: Ints, pieces: Pieces) -> ColumnLabels:
    """Find the labels of all classes; `positions` has the position of every combination."""
    keys = pieces.owner * column.domain + positions[pieces.combination]
    distinct, at = np.unique(keys, return_inverse=True)
    several = np.bincount(at, pieces.amount) > 1
    place = distinct % column.domain
    totals = np.bincount(positions[pieces.combination], pieces.amount, column.domain)
    sums = np.append(0, np.cumsum(totals.astype(np.int64)))
    starts = np.flatnonzero(np.diff(distinct // column.domain, prepend=-1))
    ends = np.append(starts[1:], len(distinct))
    numbers: dict[Text, int] = {}
    known: dict[tuple[bytes, bytes], int] = {}
    widths: list[int] = []
    covered: list[int] = []
    codes = np.empty(len(starts), dtype=np.int64)
    for c, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        own = place[start:end]
        key = (own.tobytes(), several[start:end].tobytes() if end - start > 1 else b"")
        if key not in known:
            text, runs = label(column, own.tolist(), several[start:end].tolist())
            known[key] = numbers.setdefault(text, len(numbers))
            if known[key] == len(widths):
                widths.append(sum(last - first + 1 for first, last in runs))
                covered.append(sum(int(sums[last + 1] - sums[first]) for first, last in runs))
        codes[c] = known[key]
    return ColumnLabels(
        texts=tuple(numbers), codes=codes, widths=np.array(widths), covered=np.array(covered)
    )


def label(
    column: LocalColumn, positions: Sequence[int], several: Sequence[bool]
) -> tuple[Text, list[Run]]:
    """Find the label of a class, and the runs of positions that it stands for.

    `positions` are the positions that occur, in their order. `several` tells for each whether two
    or more records have it.
    """
    low = positions[0]
    high = positions[-1]
    whole = (0, column.domain - 1)
    if low == high:
        return column.texts[low], [(low, high)]
    if column.kind == TREE:
        level = int(np.flatnonzero(column.first[:, low] == column.first[:, high])[0])
        return column.labels[level][low], [
            (int(column.first[level, low]), int(column.last[level, low]))
        ]
    run = (
        low if several[0] else column.run_above(low)[0],
        high if several[-1] else column.run_above(high)[1],
    )
    runs = [run]
    if column.kind >= SET:
        pairs = zip(positions, several, strict=True)
        own = {(p, p) if often else column.run_above(p) for p, often in pairs}
        runs = sorted(r for r in own if not any(_is_within(r, other) for other in own))
    width = sum(last - first + 1 for first, last in runs)
    if column.kind != SET and run[1] - run[0] < width and run != whole:
        return f"[{column.texts[run[0]]}, {column.texts[run[1]]}]", [run]
    if width > whole[1] or None in (column.texts[p] for p in positions):
        return column.labels[-1][0], [whole]
    members = [_member(column, run) for run in runs]
    if len(members) == 1:
        return members[0], runs
    return "{" + ", ".join(map(_quote, members)) + "}", runs


def _is_within(run: Run, other: Run) -> bool:
    """Tell whether a run is a part of another one."""
    return run != other and other[0] <= run[0] and run[1] <= other[1]


def _member(column: LocalColumn, run: Run) -> str:
    """The lowest label that stands for the values of a run."""
    ends = zip(column.first[:, run[0]].tolist(), column.last[:, run[0]].tolist(), strict=True)
    level = list(ends).index(run)
    return str(column.labels[level][run[0]])


def _quote(text: str) -> str:
    """Put a member of a set into quotes, unless it is plain."""
    if PLAIN.fullmatch(text):
        return text
    return '"' + text.replace('"', '""') + '"'


def mean_shares(
    columns: Sequence[ColumnLabels],
    domains: Sequence[int],
    sizes: Ints,
    share: LabelShare = GENERALISED,
) -> Floats:
    """The share of a column that a label leaves open, a mean over records, for each column."""
    records = int(sizes.sum())
    return np.array(
        [
            float((sizes * share.open_values(labels.widths)[labels.codes]).sum())
            / (records * share.most(domain))
            for labels, domain in zip(columns, domains, strict=True)
        ]
    )
