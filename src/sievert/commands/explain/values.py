"""Values that carry risk, and values that look like errors.

A class of one column is a value; its discrimination rate is 1 - h_v/H(X), its share h_v =
p(v)·H(X|v). A rare value may be an outlier or a slip of the pen: what leaving its records out would
gain is measured, and a frequent value that it resembles is looked for. Values are named only where
the caller may see them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Ints
from sievert.commands.explain.subsets import Counted, Subset
from sievert.counts.cube import Cube
from sievert.measures import kernel

MOST_NAMED = 10  # values of a column that are listed
MOST_SUSPECTS = 10
RARE = 200  # at most one record in so many: a rare value
MOST_RARE = 30  # records
FEWER = 4  # and so many times as rare as the mean value of its column
FREQUENT = 10  # so many times as frequent as what looks like it
SHORTEST = 4  # characters of a text of which one may be a slip
MOST_ALIKE = 20_000  # different values of a column that are compared
VIOLATIONS = (2, 5)


@dataclass(frozen=True)
class Tally:
    """Of every code of one column: its records, how many of them are alone, its smallest class."""

    column: str
    texts: tuple[str | None, ...]
    records: Ints
    alone: Ints
    smallest: Ints
    below: Mapping[int, Ints]
    rate: NDArray[np.float64] | None  # of finding a person; None where there is nothing to find
    inference: Mapping[str, NDArray[np.float64] | None]

    @property
    def rare(self) -> int:
        """At most so many records make a value rare."""
        n, present = int(self.records.sum()), int((self.records > 0).sum())
        return max(1, min(MOST_RARE, n // RARE, n // (FEWER * present)))

    def describe(self, code: int, show: bool) -> dict[str, Any]:
        """One value, with its text only where that may be seen."""
        found = {
            "column": self.column,
            "missing": self.texts[code] is None,
            "records": int(self.records[code]),
            "unique_count": int(self.alone[code]),
            "smallest_class": int(self.smallest[code]),
        }
        return {**found, "value": self.texts[code]} if show else found

    def rates(self, code: int) -> dict[str, Any]:
        """Its discrimination rates."""
        return {
            "discrimination_rate": None if self.rate is None else float(self.rate[code]),
            "inference": {
                s: None if rate is None else float(rate[code]) for s, rate in self.inference.items()
            },
        }


def tallies(counted: Counted) -> list[Tally]:
    """Every column's values."""
    return [_tally(counted, at) for at in range(len(counted.quasi))]


def _tally(counted: Counted, at: int) -> Tally:
    column, classes = counted.quasi[at], counted.classes
    codes, counts = classes.codes[at].astype(np.int64), classes.counts
    texts, n = classes.values[at], counted.records

    def summed(weights: Ints) -> Ints:
        return np.bincount(codes, weights, len(texts)).astype(np.int64)

    records = classes.totals(at)
    smallest = np.full(len(texts), n, dtype=np.int64)
    np.minimum.at(smallest, codes, counts)
    one = int((records > 0).sum()) == 1
    inference = {s: _rates(cube, column, n, one) for s, cube in counted.secrets.items()}
    rate = None
    if n > 1:
        sizes = np.maximum(records, 1)
        rate = 1.0 - records * np.log2(sizes) / (n * np.log2(n))
        rate = np.where(records == n, 0.0, rate)
    return Tally(
        column,
        texts,
        records,
        summed(counts == 1),
        smallest,
        {k: summed(np.where(counts < k, counts, 0)) for k in VIOLATIONS},
        rate,
        inference,
    )


def _rates(cube: Cube, column: str, records: int, one: bool) -> NDArray[np.float64] | None:
    """1 - h_v/H(S) of every value; None where the secret has one value only."""
    at = cube.columns.index(column)
    cells = Cube(
        ("value", "secret"),
        (cube.codes[at], cube.codes[-1]),
        cube.counts,
        (cube.values[at], cube.values[-1]),
    ).roll_up(("value", "secret"))
    totals = cells.totals(1)
    totals = totals[totals > 0]
    prior = kernel.entropy(totals, np.ones_like(totals), records)
    if prior == 0.0:
        return None
    value, sizes = cells.codes[0].astype(np.int64), cells.totals(0)
    left = cells.counts * kernel.log2_ratio(cells.counts, sizes[value])
    own = np.bincount(value, left, len(sizes))
    return np.zeros(len(sizes)) if one else np.clip(1.0 - own / records / prior, 0.0, 1.0)


def riskiest(held: Sequence[Tally], show: bool) -> list[dict[str, Any]]:
    """By column: how many values are shared by how few, and the values of the highest rates.

    A rate is the higher the fewer records have the value; equal ones in the order of their texts.
    """
    found = []
    for tally in held:
        present = np.flatnonzero(tally.records)
        order = present[np.lexsort((present, tally.records[present]))]
        sizes, times = np.unique(tally.records[present], return_counts=True)
        few = []
        for size, number in list(zip(sizes.tolist(), times.tolist(), strict=True))[:5]:
            codes = present[tally.records[present] == size]
            rate = tally.rates(int(codes[0]))["discrimination_rate"]
            few.append(
                {
                    "records": size,
                    "values": number,
                    "unique_count": int(tally.alone[codes].sum()),
                    "discrimination_rate": rate,
                }
            )
        found.append(
            {
                "column": tally.column,
                "values": len(present),
                "rare_at_most": tally.rare,
                "fewest": few,
                "riskiest": [
                    tally.describe(c, show) | tally.rates(c) for c in order[:MOST_NAMED].tolist()
                ],
                "inference": {
                    s: [
                        tally.describe(c, show) | tally.rates(c)
                        for c in _highest(rate, tally, present)
                    ]
                    for s, rate in tally.inference.items()
                },
            }
        )
    return found


def _highest(rate: NDArray[np.float64] | None, tally: Tally, present: Ints) -> list[int]:
    if rate is None:
        return []
    order = np.lexsort((present, -tally.records[present], -rate[present]))
    found: list[int] = present[order[:MOST_NAMED]].tolist()
    return found


# -- values that look like errors ---------------------------------------------------------------


def suspects(
    counted: Counted, held: Sequence[Tally], whole: Subset, show: bool
) -> list[dict[str, Any]]:
    """Rare values whose records are mostly alone, and what leaving those records out would gain."""
    n = counted.records
    candidates = []
    for place, tally in enumerate(held):
        rare = (tally.records > 0) & (tally.records <= tally.rare) & (tally.records < n)
        rare[0] = False  # missing is no slip
        codes = np.flatnonzero(rare)
        small = tally.below[VIOLATIONS[-1]]
        kept = np.lexsort((codes, tally.records[codes], -small[codes], -tally.alone[codes]))
        for code in codes[kept[:MOST_SUSPECTS]].tolist():
            counts = (-int(tally.alone[code]), -int(small[code]), int(tally.records[code]))
            candidates.append((*counts, place, code))
    found = []
    for *_, place, code in sorted(candidates)[:MOST_SUSPECTS]:
        tally = held[place]
        after = counted.without(tally.column, code).measured()
        gain = gained(whole, after)
        for k, below in tally.below.items():
            gain[f"records_below_{k}"] = int(below[code])
        found.append(tally.describe(code, show) | {"gain": gain})
    return found


def gained(before: Subset, after: Subset) -> dict[str, Any]:
    """By how much numbers fall (k: rises)."""

    def less(a: Any, b: Any) -> Any:
        return None if a is None or b is None else a - b

    first, second = before.reidentification, after.reidentification
    names = ("unique_count", "discrimination_rate", "itpr_unnormalized")
    return {
        **{name: less(first[name], second[name]) for name in names},
        "k_anonymity": less(second["k_anonymity"], first["k_anonymity"]),
        "inference": {
            s: {name: less(numbers[name], after.inference[s][name]) for name in names[1:]}
            for s, numbers in before.inference.items()
        },
    }


def lookalikes(
    counted: Counted, held: Sequence[Tally], whole: Subset, show: bool
) -> list[dict[str, Any]]:
    """Values that differ from a much more frequent one by case, blanks, form or one letter.

    With what would be gained if they were the frequent one. The most records first.
    """
    pairs = []
    for place, tally in enumerate(held):
        for code, other, how in _alike(tally):
            pairs.append((-int(tally.records[code]), place, code, other, how))
    found = []
    for _, place, code, other, how in sorted(pairs)[:MOST_SUSPECTS]:
        tally = held[place]
        codes = np.arange(len(tally.texts), dtype=np.uint32)
        codes[code] = other
        gain = gained(whole, counted.recoded({tally.column: codes}).measured())
        like = {"records": int(tally.records[other])}
        if show:
            like["value"] = tally.texts[other]  # type: ignore[assignment]
        found.append(tally.describe(code, show) | {"differs_by": how, "like": like, "gain": gain})
    return found


def _alike(tally: Tally) -> Iterator[tuple[int, int, str]]:
    present = np.flatnonzero(tally.records)
    if len(present) > MOST_ALIKE:
        return
    order = sorted(present.tolist(), key=lambda c: (-int(tally.records[c]), c))
    texts = [(c, t) for c in order if (t := tally.texts[c]) is not None]
    plain: dict[str, int] = {}  # the most frequent value of each plain form
    slips: dict[str, int] = {}
    for code, text in texts:
        form = _plain(text)
        other = plain.setdefault(form, code)
        if other != code:
            if tally.records[code] < tally.records[other]:
                yield code, other, _difference(text, str(tally.texts[other]))
            continue
        if not _may_slip(form):
            continue
        spelled = {form, *_shorter(form)}
        near = [slips[s] for s in spelled if s in slips]
        close = [c for c in near if _one_edit(form, _plain(str(tally.texts[c])))]
        much = [c for c in close if tally.records[c] >= FREQUENT * tally.records[code]]
        if much:
            yield code, min(much, key=lambda c: (-int(tally.records[c]), c)), "one letter"
            continue
        for s in sorted(spelled):
            slips.setdefault(s, code)


def _plain(text: str) -> str:
    """A text without what is easily mistyped: case, blanks, the form of its characters."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _difference(text: str, other: str) -> str:
    for how, same in (
        ("blanks", lambda v: " ".join(v.split())),
        ("case", str.casefold),
        ("Unicode form", lambda v: unicodedata.normalize("NFKC", v)),
    ):
        if same(text) == same(other):
            return how
    return "case and blanks"


def _may_slip(text: str) -> bool:
    """Whether one letter more or less is a slip: numbers and short codes are near by nature."""
    return len(text) >= SHORTEST and not any(c.isdigit() for c in text)


def _shorter(text: str) -> Iterator[str]:
    return (text[:i] + text[i + 1 :] for i in range(len(text)))


def _one_edit(a: str, b: str) -> bool:
    """Whether one character changed, added or left out, or two exchanged, makes a of b.

    >>> [_one_edit("lisbon", x) for x in ("lisbom", "lisbn", "lisbno", "lisboa", "london")]
    [True, True, True, True, False]
    """
    if len(a) < len(b):
        a, b = b, a
    if len(a) > len(b) + 1:
        return False
    first = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(b))
    if len(a) > len(b):
        return a[first + 1 :] == b[first:]
    if a[first + 1 :] == b[first + 1 :]:
        return True
    return a[first : first + 2] == b[first : first + 2][::-1] and a[first + 2 :] == b[first + 2 :]
