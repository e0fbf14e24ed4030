"""The records most easily found: what singles them out, and their own row numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert.attacks.suda import (
    ALL_SIZES,
    MOST_COLUMNS,
    MOST_SETS,
    MinimalUniques,
    minimal_uniques,
)
from sievert.commands.explain.subsets import largest_size
from sievert.counts import row_numbers
from sievert.counts.cube import Cube
from sievert.measures import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sievert.counts.questions import Questions

MOST_RECORDS = 20
MOST_LEVELS = 5
DEFAULT_SIZE = 3  # of the sets searched where there are too many columns to search all


def searched(classes: Cube, largest: int | None) -> MinimalUniques | None:
    """The minimal sample uniques of the classes; None where there are too many columns."""
    columns = len(classes.columns)
    if columns > MOST_COLUMNS:
        return None
    if columns > ALL_SIZES:
        largest = DEFAULT_SIZE if largest is None else largest
        largest = min(largest, largest_size(columns, MOST_SETS))
    return minimal_uniques(classes.codes, classes.counts, largest)


@dataclass(frozen=True)
class Scores:
    """Of every class: its score, its MSUs, the size of the smallest, and its DIS score if known."""

    found: MinimalUniques
    score: NDArray[np.float64]
    msus: NDArray[Any]
    smallest: NDArray[Any]
    dis: NDArray[np.float64] | None

    @classmethod
    def of(cls, found: MinimalUniques, fraction: float | None) -> Scores:
        """`fraction` of the population that was sampled, where that is known."""
        by_size = found.by_size
        has = by_size > 0
        smallest = np.where(has.any(axis=1), has.argmax(axis=1) + 1, 0)
        dis = None if fraction is None else found.dis_suda_score(fraction)
        return cls(found, found.suda_score(), by_size.sum(axis=1), smallest, dis)

    def levels(self, classes: Cube, show: bool) -> dict[str, list[dict[str, Any]]]:
        """By column the values whose records' MSUs with that column make up most of all scores."""
        whole = float(self.score.sum())
        mine = self.found.contributions() * self.score[:, None]
        found = {}
        for at, column in enumerate(classes.columns):
            codes, texts = classes.codes[at].astype(np.int64), classes.values[at]
            parts = np.bincount(codes, mine[:, at], len(texts))
            records = classes.totals(at)
            order = np.lexsort((np.arange(len(parts)), -parts))[:MOST_LEVELS]
            found[column] = [
                {"records": int(records[code]), "share": float(parts[code]) / whole}
                | ({"value": texts[code]} if show else {})
                for code in order.tolist()
                if parts[code] > 0
            ]
        return found

    def to_dict(self, classes: Cube, show: bool) -> dict[str, Any]:
        """The file's chapter: MSUs by size, shares of the score by column, value and size."""
        columns = classes.columns
        by_size = self.found.by_size.sum(axis=0).tolist()
        shares, sizes = self.found.column_shares(), self.found.size_shares()
        found = {
            "largest_size": self.found.sizes,
            "records_with_msu": int((self.score > 0).sum()),
            "msus": {str(size): n for size, n in enumerate(by_size, 1)},
            "records_by_smallest_msu": {
                str(size): int((self.smallest == size).sum())
                for size in range(1, self.found.sizes + 1)
            },
            "column_contributions": None
            if shares is None
            else dict(zip(columns, shares, strict=True)),
            "size_shares": None
            if sizes is None
            else {str(size): share for size, share in enumerate(sizes, 1)},
            "level_contributions": None if shares is None else self.levels(classes, show),
            "reason": "no record is singled out by known values" if shares is None else None,
            "highest_score": float(self.score.max(initial=0.0)),
        }
        if self.dis is not None:
            found["highest_dis_score"] = float(self.dis.max(initial=0.0))
        return found


def riskiest(
    questions: Questions, classes: Cube, scores: Scores | None, most: int = MOST_RECORDS
) -> dict[str, Any]:
    """The records of the smallest classes, the highest scores first; told by their numbers."""
    counts = classes.counts
    score = np.zeros(len(counts)) if scores is None else scores.score
    order = np.lexsort((np.arange(len(counts)), -score, counts))[:most].tolist()
    can = row_numbers.has_row_numbers(questions)
    rows = row_numbers.row_numbers(questions, classes, order, most) if can else [[] for _ in order]
    found: list[dict[str, Any]] = []
    for place, own in zip(order, rows, strict=True):
        about: dict[str, Any] = {"class_size": int(counts[place])}
        if scores is not None:
            about["suda_score"] = float(scores.score[place])
            about["msus"] = int(scores.msus[place])
            about["smallest_msu"] = int(scores.smallest[place]) or None
            if scores.dis is not None:
                about["dis_suda_score"] = float(scores.dis[place])
            shares = _contributions(scores, classes, place)
            if shares is not None:
                about["column_contributions"] = shares
        found += [{"record": n, **about} for n in (own if can else [None])]
    return {"riskiest": found[:most], "reason": None if can else row_numbers.NO_ORDER}


def _contributions(scores: Scores, classes: Cube, place: int) -> dict[str, float] | None:
    """Each column's part of one record's score."""
    at = np.flatnonzero(scores.found.unique == place)
    if not len(at) or scores.score[place] == 0:
        return None
    weights = [float(w) for w in scores.found.weights()]
    held = scores.found.found[:, :, at[0]]
    mine = sum(w * held[size].astype(np.float64) for size, w in enumerate(weights))
    shares = np.asarray(mine) / scores.score[place]
    return dict(zip(classes.columns, shares.tolist(), strict=True))


def marks(
    classes: Cube, scores: Scores | None, risks: Mapping[str, NDArray[np.float64]]
) -> dict[str, tuple[str, Sequence[Any]]]:
    """What the record file says of every record of a class."""
    counts = classes.counts
    found: dict[str, tuple[str, Sequence[Any]]] = {
        "class_size": ("int", counts.tolist()),
        "identity_bits": ("float", kernel.log2_ratio(counts, classes.records).tolist()),
        "risk": ("float", (1.0 / counts).tolist()),
    }
    if scores is not None:
        found["suda_score"] = ("float", scores.score.tolist())
        found["msus"] = ("int", scores.msus.tolist())
        found["smallest_msu"] = ("int", [int(s) or None for s in scores.smallest])
        if scores.dis is not None:
            found["dis_suda_score"] = ("float", scores.dis.tolist())
    for name, values in risks.items():
        found[name] = ("float", values.tolist())
    return found
