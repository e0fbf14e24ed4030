"""Values that carry risk, and values that look like errors.

A class of one column is a value. Its discrimination rate is 1 - h_v/H(X), with h_v = p(v)·H(X|v). A
rare value may be an outlier or a typing error: the gain of omitting its records is measured, and a
frequent value that resembles it is searched. Values are named only if the caller may see them.
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.counts.cube import Cube
from sievert.measurement.combinations import CombinationCounts
from sievert.measurement.subsets import Subset, measure_whole
from sievert.measures import kernel

MOST_NAMED = 10  # values of a column that are listed
MOST_SUSPECTS = 10
RARE = 200  # a value is rare if at most one record in `RARE` has it
MOST_RARE = 30  # records that a rare value has at most
FEWER = 4  # a rare value must be `FEWER` times as rare as the mean value of its column
FREQUENT = 10  # times that a value must be more frequent than the one that resembles it
SHORTEST = 4  # characters of a text that may have a typing error
MOST_ALIKE = 20_000  # different values of a column that are compared
VIOLATIONS = (2, 5)


@dataclass(frozen=True, kw_only=True)
class ColumnTally:
    """The values of one column: for every code its records, unique records and smallest class."""

    column: str
    texts: tuple[str | None, ...]
    records: Ints
    uniques: Ints
    smallest: Ints
    below: Mapping[int, Ints]
    rate: Floats | None  # of re-identification; None if there is only one record
    inference: Mapping[str, Floats | None]

    @property
    def rare(self) -> int:
        """The most records that a rare value has."""
        n = int(self.records.sum())
        present = int((self.records > 0).sum())
        return max(1, min(MOST_RARE, n // RARE, n // (FEWER * present)))

    @cached_property
    def numbers(self) -> Ints:
        """The number of each value in its column."""
        return number_values(self.records)

    def describe(self, code: int, show: bool) -> dict[str, Any]:
        """Describe one value, with its text only if the caller may see it."""
        entry: dict[str, Any] = {
            "column": self.column,
            "number": int(self.numbers[code]),
            "missing": self.texts[code] is None,
            "records": int(self.records[code]),
            "unique_count": int(self.uniques[code]),
            "smallest_class": int(self.smallest[code]),
        }
        if show:
            entry["value"] = self.texts[code]
        return entry

    def rates(self, code: int) -> dict[str, Any]:
        """The discrimination rates of one value."""
        return {
            "discrimination_rate": None if self.rate is None else float(self.rate[code]),
            "inference": {
                s: None if rate is None else float(rate[code]) for s, rate in self.inference.items()
            },
        }


def number_values(records: Ints) -> Ints:
    """Number the values of a column, because they are not named: the rarest value is 1.

    Equally rare values are numbered in the order of their texts. Absent values come last.
    """
    order = np.lexsort((np.arange(len(records)), records, records == 0))
    numbers = np.empty(len(records), dtype=np.int64)
    numbers[order] = np.arange(1, len(records) + 1)
    return numbers


def tally_column(combinations: CombinationCounts, at: int) -> ColumnTally:
    """Count the values of the quasi-identifier at a place."""
    column = combinations.quasi[at]
    classes = combinations.classes
    codes = classes.codes[at].astype(np.int64)
    counts = classes.counts
    texts = classes.values[at]
    n = combinations.records

    def total(weights: Ints) -> Ints:
        return np.bincount(codes, weights, len(texts)).astype(np.int64)

    records = classes.totals(at)
    smallest = np.full(len(texts), n, dtype=np.int64)
    np.minimum.at(smallest, codes, counts)
    one_value = int((records > 0).sum()) == 1
    bits = records * np.log2(np.maximum(records, 1))
    return ColumnTally(
        column=column,
        texts=texts,
        records=records,
        uniques=total(counts == 1),
        smallest=smallest,
        below={k: total(np.where(counts < k, counts, 0)) for k in VIOLATIONS},
        rate=np.where(records == n, 0.0, 1.0 - bits / (n * np.log2(n))) if n > 1 else None,
        inference={
            s: _rates(cube, column, n, one_value) for s, cube in combinations.secrets.items()
        },
    )


def _rates(cube: Cube, column: str, records: int, one_value: bool) -> Floats | None:
    """The rates 1 - h_v/H(S) of all values; None if the secret has only one value."""
    cells = cube.roll_up((column, cube.columns[-1]))
    totals = cells.totals(1)
    totals = totals[totals > 0]
    prior = kernel.entropy(totals, np.ones_like(totals), records)
    if prior == 0.0:
        return None
    value = cells.codes[0].astype(np.int64)
    sizes = cells.totals(0)
    left = cells.counts * kernel.log2_ratio(cells.counts, sizes[value])
    own = np.bincount(value, left, len(sizes))
    return np.zeros(len(sizes)) if one_value else np.clip(1.0 - own / records / prior, 0.0, 1.0)


def riskiest_values(tally: ColumnTally, show: bool) -> dict[str, Any]:
    """Count the values that few records share, and list the values with the highest rates.

    The fewer records have a value, the higher its rate. Equal ones are in the order of their texts.
    """
    present = np.flatnonzero(tally.records)
    order = present[np.argsort(tally.numbers[present])]

    def describe(codes: Ints) -> list[dict[str, Any]]:
        return [tally.describe(c, show) | tally.rates(c) for c in codes[:MOST_NAMED].tolist()]

    fewest = []
    for size in np.unique(tally.records[present])[:5].tolist():
        codes = present[tally.records[present] == size]
        fewest.append(
            {
                "records": size,
                "values": len(codes),
                "unique_count": int(tally.uniques[codes].sum()),
                "discrimination_rate": tally.rates(int(codes[0]))["discrimination_rate"],
            }
        )
    inference: dict[str, list[dict[str, Any]]] = {}
    for secret, rate in tally.inference.items():
        inference[secret] = []
        if rate is not None:
            by_rate = np.lexsort((present, -tally.records[present], -rate[present]))
            inference[secret] = describe(present[by_rate])
    return {
        "column": tally.column,
        "values": len(present),
        "rare_at_most": tally.rare,
        "fewest": fewest,
        "riskiest": describe(order),
        "inference": inference,
    }


# -- values that look like errors ---------------------------------------------------------------


def rare_values(
    combinations: CombinationCounts, columns: Sequence[ColumnTally], whole: Subset, show: bool
) -> list[dict[str, Any]]:
    """Find rare values whose records are mostly unique, and the gain of leaving them out."""
    candidates = []
    for place, tally in enumerate(columns):
        rare = (tally.records > 0) & (tally.records <= tally.rare)
        rare &= tally.records < combinations.records
        rare[0] = False  # missing is no typing error
        codes = np.flatnonzero(rare)
        small = tally.below[VIOLATIONS[-1]]
        order = np.lexsort((codes, tally.records[codes], -small[codes], -tally.uniques[codes]))
        for code in codes[order[:MOST_SUSPECTS]].tolist():
            counts = (-int(tally.uniques[code]), -int(small[code]), int(tally.records[code]))
            candidates.append((*counts, place, code))
    suspects = []
    for *_, place, code in sorted(candidates)[:MOST_SUSPECTS]:
        tally = columns[place]
        rest = measure_whole(combinations.drop_value(tally.column, code))
        below = {f"records_below_{k}": int(n[code]) for k, n in tally.below.items()}
        suspects.append(tally.describe(code, show) | {"gain": gain(whole, rest) | below})
    return suspects


def gain(before: Subset, after: Subset) -> dict[str, Any]:
    """Measure by how much the numbers fall, and by how much k rises."""

    def less(a: Any, b: Any) -> Any:
        return None if a is None or b is None else a - b

    first = before.reidentification
    second = after.reidentification
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
    combinations: CombinationCounts, columns: Sequence[ColumnTally], whole: Subset, show: bool
) -> list[dict[str, Any]]:
    """Find values that differ from a much more frequent one by case, blanks, form or one letter.

    Each has the gain of merging it with the frequent one. Values of the most records come first.
    """
    pairs = sorted(
        (-int(tally.records[code]), place, code, other, how)
        for place, tally in enumerate(columns)
        for code, other, how in _similar_values(tally)
    )
    similar = []
    for _, place, code, other, how in pairs[:MOST_SUSPECTS]:
        tally = columns[place]
        codes = np.arange(len(tally.texts), dtype=np.uint32)
        codes[code] = other
        like: dict[str, Any] = {
            "number": int(tally.numbers[other]),
            "records": int(tally.records[other]),
        }
        if show:
            like["value"] = tally.texts[other]
        merged = measure_whole(combinations.merge_values({tally.column: codes}))
        similar.append(
            tally.describe(code, show)
            | {"differs_by": how, "like": like, "gain": gain(whole, merged)}
        )
    return similar


def _similar_values(tally: ColumnTally) -> Iterator[tuple[int, int, str]]:
    """Yield the codes of a value and of a more frequent one that it resembles, and how."""
    present = np.flatnonzero(tally.records)
    if len(present) > MOST_ALIKE:
        return
    plain: dict[str, int] = {}  # the most frequent value of each plain form
    typos: dict[str, int] = {}  # and of each form with one character less
    for code in sorted(present.tolist(), key=lambda c: (-int(tally.records[c]), c)):
        text = tally.texts[code]
        if text is None:
            continue
        form = _plain(text)
        other = plain.setdefault(form, code)
        if other != code:
            if tally.records[code] < tally.records[other]:
                yield code, other, _difference(text, str(tally.texts[other]))
            continue
        # Numbers and short codes are close to each other by nature.
        if len(form) < SHORTEST or any(c.isdigit() for c in form):
            continue
        spellings = {form, *(form[:i] + form[i + 1 :] for i in range(len(form)))}
        candidates = [typos[s] for s in spellings if s in typos]
        near = [
            c
            for c in candidates
            if tally.records[c] >= FREQUENT * tally.records[code]
            and _one_edit(form, _plain(str(tally.texts[c])))
        ]
        if near:
            yield code, min(near, key=lambda c: (-int(tally.records[c]), c)), "one letter"
            continue
        for s in sorted(spellings):
            typos.setdefault(s, code)


def _plain(text: str) -> str:
    """Remove the case, extra blanks and the Unicode form of characters from a text."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _difference(text: str, other: str) -> str:
    """Say in what two texts with the same plain form differ."""
    forms: dict[str, Callable[[str], str]] = {
        "blanks": lambda v: " ".join(v.split()),
        "case": str.casefold,
        "Unicode form": lambda v: unicodedata.normalize("NFKC", v),
    }
    return next((how for how, f in forms.items() if f(text) == f(other)), "case and blanks")


def _one_edit(a: str, b: str) -> bool:
    """Tell whether b becomes a by changing, adding or omitting a character, or swapping two.

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
