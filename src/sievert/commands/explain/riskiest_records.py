"""The records that are most easily re-identified: their scores and their row numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.suda import MinimalUniques, minimal_uniques
from sievert.commands.explain.values import number_values
from sievert.counts import microdata
from sievert.counts.cube import Cube
from sievert.counts.microdata import ClassFrequencies
from sievert.counts.questions import Questions
from sievert.measures import kernel

MOST_RECORDS = 20
MOST_LEVELS = 5


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The scores of every class, the number of its minimal uniques and the size of the smallest."""

    uniques: MinimalUniques
    score: Floats
    msus: Ints
    smallest: Ints
    dis: Floats | None

    def levels(self, classes: Cube, show: bool) -> dict[str, list[dict[str, Any]]]:
        """List the values of each column that contribute most to the sum of all scores.

        A value contributes by the minimal uniques of its records that have the column.
        """
        contributions = self.uniques.contributions() * self.score[:, None]
        levels = {}
        for at, column in enumerate(classes.columns):
            codes = classes.codes[at].astype(np.int64)
            parts = np.bincount(codes, contributions[:, at], len(classes.values[at]))
            levels[column] = self._largest_parts(classes, at, parts.astype(np.float64), show)
        return levels

    def _largest_parts(
        self, classes: Cube, at: int, parts: Floats, show: bool
    ) -> list[dict[str, Any]]:
        """Describe the values of one column with the largest `parts` of the score."""
        whole = float(self.score.sum())
        texts = classes.values[at]
        records = classes.totals(at)
        numbers = number_values(records)
        largest = np.lexsort((np.arange(len(parts)), -parts))[:MOST_LEVELS].tolist()
        entries = []
        for code in largest:
            if parts[code] <= 0:
                continue
            entry: dict[str, Any] = {
                "number": int(numbers[code]),
                "missing": texts[code] is None,
                "records": int(records[code]),
                "share": float(parts[code]) / whole,
            }
            if show:
                entry["value"] = texts[code]
            entries.append(entry)
        return entries

    def to_dict(self, classes: Cube, show: bool) -> dict[str, Any]:
        """Make the chapter of the JSON.

        It has the minimal uniques by size, and shares of the score by column, value and size.
        """
        by_size = self.uniques.by_size.sum(axis=0).tolist()
        shares = self.uniques.column_shares()
        sizes = self.uniques.size_shares()
        by_column = None
        by_level = None
        by_set_size = None
        reason: str | None = "no record is singled out by known values"
        if shares is not None:
            by_column = dict(zip(classes.columns, shares, strict=True))
            by_level = self.levels(classes, show)
            reason = None
        if sizes is not None:
            by_set_size = {str(size): share for size, share in enumerate(sizes, 1)}
        chapter: dict[str, Any] = {
            "largest_size": self.uniques.sizes,
            "records_with_msu": int((self.score > 0).sum()),
            "msus": {str(size): n for size, n in enumerate(by_size, 1)},
            "records_by_smallest_msu": {
                str(size): int((self.smallest == size).sum())
                for size in range(1, self.uniques.sizes + 1)
            },
            "column_contributions": by_column,
            "size_shares": by_set_size,
            "level_contributions": by_level,
            "reason": reason,
            "highest_score": float(self.score.max(initial=0.0)),
        }
        if self.dis is not None:
            chapter["highest_dis_score"] = float(self.dis.max(initial=0.0))
        return chapter

    def describe(self, classes: Cube, place: int) -> dict[str, Any]:
        """Describe the scores of one class, and each column's part of its SUDA score."""
        about: dict[str, Any] = {
            "suda_score": float(self.score[place]),
            "msus": int(self.msus[place]),
            "smallest_msu": int(self.smallest[place]) or None,
        }
        if self.dis is not None:
            about["dis_suda_score"] = float(self.dis[place])
        at = np.flatnonzero(self.uniques.unique == place)
        if len(at) and self.score[place] != 0:
            counts = self.uniques.found[:, :, at[0]]
            parts = sum(
                w * counts[size].astype(np.float64)
                for size, w in enumerate(map(float, self.uniques.weights()))
            )
            about["column_contributions"] = dict(
                zip(classes.columns, (np.asarray(parts) / self.score[place]).tolist(), strict=True)
            )
        return about


def score_classes(
    classes: Cube, largest: int, fraction: float | None, pace: Callable[[], None]
) -> Scores:
    """Score the classes by their minimal sample uniques of at most `largest` columns.

    `fraction` is the part of the population that was sampled, if it is known.
    """
    uniques = minimal_uniques(classes.codes, classes.counts, largest, pace=pace)
    has = uniques.by_size > 0
    smallest = np.where(has.any(axis=1), has.argmax(axis=1) + 1, 0)
    dis = None if fraction is None else uniques.dis_suda_score(fraction)
    return Scores(
        uniques=uniques,
        score=uniques.suda_score(),
        msus=uniques.by_size.sum(axis=1),
        smallest=smallest,
        dis=dis,
    )


def riskiest_records(
    questions: Questions,
    classes: Cube,
    scores: Scores | None,
    frequencies: ClassFrequencies | None = None,
    most: int = MOST_RECORDS,
) -> dict[str, Any]:
    """Name the records of the smallest classes by their row numbers, the highest scores first.

    With `frequencies`, the records that match the fewest others come first.
    """
    counts = classes.counts
    score = np.zeros(len(counts)) if scores is None else scores.score
    matching = counts if frequencies is None else frequencies.matching
    order = np.lexsort((np.arange(len(counts)), -score, counts, matching))[:most].tolist()
    numbered = questions.engine.keeps_order
    rows: Sequence[Sequence[int | None]] = [[None] for _ in order]
    if numbered:
        rows = microdata.row_numbers(questions, classes, order, most)
    records = []
    for place, own in zip(order, rows, strict=True):
        about = {} if scores is None else scores.describe(classes, place)
        for row in own:
            record = {"record": row, "class_size": int(counts[place]), **about}
            if frequencies is not None:
                record["frequency"] = frequencies.frequencies[place]
            records.append(record)
    return {"riskiest": records[:most], "reason": None if numbered else microdata.NO_ORDER}


def record_columns(
    classes: Cube,
    scores: Scores | None,
    people: int | None = None,
) -> dict[str, tuple[str, Sequence[Any]]]:
    """Make the columns of the record file, with one value per class."""
    counts = classes.counts
    bits = kernel.log2_ratio(counts, people or classes.records)
    columns: dict[str, tuple[str, Sequence[Any]]] = {
        "class_size": ("int", counts.tolist()),
        "identity_bits": ("float", bits.tolist()),
        "risk": ("float", (1.0 / counts).tolist()),
    }
    if scores is None:
        return columns
    columns["suda_score"] = ("float", scores.score.tolist())
    columns["msus"] = ("int", scores.msus.tolist())
    columns["smallest_msu"] = ("int", [int(size) or None for size in scores.smallest])
    if scores.dis is not None:
        columns["dis_suda_score"] = ("float", scores.dis.tolist())
    return columns
