"""The records most easily re-identified: what singles them out, and their row numbers."""

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
    """For every class: score, number of MSUs, size of the smallest; the DIS score if known."""

    uniques: MinimalUniques
    score: Floats
    msus: Ints
    smallest: Ints
    dis: Floats | None

    def levels(self, classes: Cube, show: bool) -> dict[str, list[dict[str, Any]]]:
        """By column the values whose records' MSUs with that column make up most of all scores."""
        whole = float(self.score.sum())
        return {
            column: [
                {
                    "number": int(numbers[code]),
                    "missing": texts[code] is None,
                    "records": int(records[code]),
                    "share": float(parts[code]) / whole,
                }
                | ({"value": texts[code]} if show else {})
                for code in np.lexsort((np.arange(len(parts)), -parts))[:MOST_LEVELS].tolist()
                if parts[code] > 0
            ]
            for column, codes, texts, records, own in zip(
                classes.columns,
                classes.codes,
                classes.values,
                map(classes.totals, range(len(classes.columns))),
                (self.uniques.contributions() * self.score[:, None]).T,
                strict=True,
            )
            for parts in [np.bincount(codes.astype(np.int64), own, len(texts))]
            for numbers in [number_values(records)]
        }

    def to_dict(self, classes: Cube, show: bool) -> dict[str, Any]:
        """The chapter of the JSON: MSUs by size, shares of the score by column, value and size."""
        by_size = self.uniques.by_size.sum(axis=0).tolist()
        shares = self.uniques.column_shares()
        sizes = self.uniques.size_shares()
        return {
            "largest_size": self.uniques.sizes,
            "records_with_msu": int((self.score > 0).sum()),
            "msus": {str(size): n for size, n in enumerate(by_size, 1)},
            "records_by_smallest_msu": {
                str(size): int((self.smallest == size).sum())
                for size in range(1, self.uniques.sizes + 1)
            },
            "column_contributions": None
            if shares is None
            else dict(zip(classes.columns, shares, strict=True)),
            "size_shares": None
            if sizes is None
            else {str(size): share for size, share in enumerate(sizes, 1)},
            "level_contributions": None if shares is None else self.levels(classes, show),
            "reason": "no record is singled out by known values" if shares is None else None,
            "highest_score": float(self.score.max(initial=0.0)),
            **({} if self.dis is None else {"highest_dis_score": float(self.dis.max(initial=0.0))}),
        }

    def describe(self, classes: Cube, place: int) -> dict[str, Any]:
        """The scores of one class, and each column's part of its SUDA score."""
        about: dict[str, Any] = {
            "suda_score": float(self.score[place]),
            "msus": int(self.msus[place]),
            "smallest_msu": int(self.smallest[place]) or None,
            **({} if self.dis is None else {"dis_suda_score": float(self.dis[place])}),
        }
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
    """The scores of the classes by their minimal sample uniques of at most `largest` columns.

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
    """The records of the smallest classes, the highest scores first, by their row numbers.

    With `frequencies`, those first that fewest records match.
    """
    counts = classes.counts
    score = np.zeros(len(counts)) if scores is None else scores.score
    matching = counts if frequencies is None else frequencies.matching
    order = np.lexsort((np.arange(len(counts)), -score, counts, matching))[:most].tolist()
    matched = None if frequencies is None else frequencies.frequencies
    numbered = questions.engine.keeps_order
    rows: Sequence[Sequence[int | None]] = (
        microdata.row_numbers(questions, classes, order, most)
        if numbered
        else [[None] for _ in order]
    )
    records = [
        {"record": row, "class_size": int(counts[place]), **about}
        | ({} if matched is None else {"frequency": matched[place]})
        for place, own in zip(order, rows, strict=True)
        for about in [{} if scores is None else scores.describe(classes, place)]
        for row in own
    ]
    return {"riskiest": records[:most], "reason": None if numbered else microdata.NO_ORDER}


def record_columns(
    classes: Cube,
    scores: Scores | None,
    people: int | None = None,
) -> dict[str, tuple[str, Sequence[Any]]]:
    """The columns of the record file, one value per class."""
    counts = classes.counts
    dis = None if scores is None else scores.dis
    suda = (
        {}
        if scores is None
        else {
            "suda_score": ("float", scores.score.tolist()),
            "msus": ("int", scores.msus.tolist()),
            "smallest_msu": ("int", [int(s) or None for s in scores.smallest]),
        }
    )
    return {
        "class_size": ("int", counts.tolist()),
        "identity_bits": ("float", kernel.log2_ratio(counts, people or classes.records).tolist()),
        "risk": ("float", (1.0 / counts).tolist()),
        **suda,
        **({} if dis is None else {"dis_suda_score": ("float", dis.tolist())}),
    }
