"""Small tables: their records are fetched once, as codes, and NumPy answers what is asked of them.

Every answer has the integers that the engine's SQL would give; what is not answered here, the
engine answers. For a few thousand records one statement of SQL takes longer than all of this.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.adapter import Adapter
from sievert.counts.answers import (
    Gaps,
    JointCounts,
    Named,
    Profiles,
    Ranked,
    RecordCounts,
    SecretCounts,
    Sizes,
)
from sievert.counts.cube import MOST_BITS, Cube, histogram, merge_cells, rank_texts, run_starts
from sievert.counts.questions import Questions
from sievert.counts.row_runs import ColumnRuns, count_column_runs
from sievert.counts.secret_counts import level_labels, order_values, part_labels
from sievert.counts.wildcards import count_matches
from sievert.errors import InputError, require
from sievert.sources.table import SURROGATE

# Equal values have equal texts, different ones different texts.
PLAIN = re.compile(
    r"VARCHAR|BOOLEAN|ENUM\(.*|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL.*|DOUBLE|FLOAT|DATE|"
    r"TIMESTAMP(_S|_MS|_NS)?",
    re.DOTALL,
)


@dataclass(frozen=True)
class ClassCells:
    """Cells in the order of their classes: the class, the code of the secret, the records of each.

    `sizes` has the records of each class, `totals` those of each code.
    """

    owner: Ints
    values: Ints
    counts: Ints
    sizes: Ints
    totals: Ints

    @property
    def joint(self) -> JointCounts:
        """How many cells have each class size, total of the value and count."""
        kinds = self.sizes[self.owner], self.totals[self.values], self.counts
        bits = [int(self.sizes.sum()).bit_length()] * 3
        ones = np.ones(len(self.counts), dtype=np.int64)
        places, times = merge_cells([kind.astype(np.uint64) for kind in kinds], bits, ones)
        sizes, totals, counts = (kind[places] for kind in kinds)
        return JointCounts.from_arrays(sizes, totals, counts, times)

    def profiles(self, people: Ints | None = None) -> Profiles:
        """The distinct profiles of the classes, with the people of a class, in ascending order."""
        counts = self.counts[np.lexsort((-self.counts, self.owner))]
        bits = max(1, int(counts.max(initial=0)).bit_length())
        words, starts = _pack_runs(counts, run_starts(self.owner), bits)
        if people is None:
            kinds = _count_runs(words, starts)
            ordered = sorted(kinds)
            return _unpack(ordered, bits, [kinds[each] for each in ordered])
        ends = np.append(starts[1:], len(words))  # there stand the people
        present = people[self.owner[run_starts(self.owner)]]
        kinds = _count_runs(np.insert(words, ends, present), starts + np.arange(len(starts)))
        ordered = sorted(kinds, key=lambda each: (each[:-1], each[-1]))
        return _unpack(
            [each[:-1] for each in ordered],
            bits,
            [kinds[each] for each in ordered],
            [each[-1] for each in ordered],
        )

    def gaps(self, levels: int = 1) -> Gaps:
        """For each class size the largest sum of max(0, n·N - total·size)."""
        terms = self.counts * self.sizes.sum() - self.totals[self.values] * self.sizes[self.owner]
        sums = np.add.reduceat(np.maximum(0, terms), run_starts(self.owner))
        order = np.lexsort((sums, self.sizes))
        sizes = self.sizes[order]
        last = np.append(np.flatnonzero(np.diff(sizes)), len(sizes) - 1)
        return Gaps.from_arrays(sizes[last], sums[order][last], levels)

    def known(self) -> "ClassCells":
        """Only the cells whose secret is not missing, and only their records."""
        kept = self.values > 0
        owner, counts = self.owner[kept], self.counts[kept]
        sizes = np.bincount(owner, counts, len(self.sizes)).astype(np.int64)
        return ClassCells(owner, self.values[kept], counts, sizes, self.totals)

    def merge(self, labels: Sequence[list[int]]) -> "ClassCells":
        """The cells of the labels that each code has; a code may have one label per level."""
        lengths = np.array([len(numbers) for numbers in labels])
        starts = np.cumsum(lengths) - lengths
        flat = np.array([number for numbers in labels for number in numbers], dtype=np.int64)
        times = lengths[self.values]
        within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        own = flat[np.repeat(starts[self.values], times) + within]
        owner, counts = np.repeat(self.owner, times), np.repeat(self.counts, times)
        size = int(flat.max()) + 1
        keys, place = np.unique(owner * size + own, return_inverse=True)
        sums = np.bincount(place, counts).astype(np.int64)
        totals = np.bincount(own, counts, size).astype(np.int64)
        return ClassCells(keys // size, keys % size, sums, self.sizes, totals)

    def rank(self, ranks: Ints) -> Ranked:
        """The classes as (rank, count) pairs in the order of the values."""
        place = ranks[self.values]
        order = np.lexsort((place, self.owner))
        totals = np.zeros(len(self.totals) - 1, dtype=np.int64)
        totals[ranks[1:]] = self.totals[1:]
        return Ranked(place[order], self.counts[order], run_starts(self.owner), totals)

    def count_named(self, code: int) -> Named:
        """How often classes hold one code; classes without a known secret hold it never."""
        of_class = (
            np.bincount(self.owner, self.counts * cells, len(self.sizes)).astype(int).tolist()
            for cells in (self.values > 0, self.values == code)
        )
        rows = sorted(set(zip(self.sizes.tolist(), *of_class, strict=True)))
        return Named(*zip(*((n, max(1, known), count) for n, known, count in rows), strict=True))


def _pack_runs(numbers: Ints, starts: Ints, bits: int) -> tuple[Ints, Ints]:
    """Runs of positive numbers, several in a word, the first one highest: ordered as they are."""
    most = MOST_BITS // bits
    place = np.arange(len(numbers)) - np.repeat(starts, np.diff(np.append(starts, len(numbers))))
    begins = np.flatnonzero(place % most == 0)
    words = np.add.reduceat(numbers << bits * (most - 1 - place % most), begins)
    return words, np.searchsorted(begins, starts)


def _unpack(
    runs: Sequence[tuple[int, ...]], bits: int, times: Sequence[int], people: Any = None
) -> Profiles:
    """Profiles of packed counts."""
    words = np.array([word for run in runs for word in run], dtype=np.int64)
    shifts = np.arange(MOST_BITS // bits - 1, -1, -1) * bits
    fields = words[:, None] >> shifts & ((1 << bits) - 1)
    begins = np.cumsum([0, *map(len, runs[:-1])])
    lengths = np.add.reduceat((fields > 0).sum(axis=1), begins)
    number = None if people is None else np.array(people)
    return Profiles(fields[fields > 0], np.cumsum(lengths) - lengths, np.array(times), number)


def _count_runs(words: Ints, starts: Ints) -> dict[tuple[int, ...], int]:
    """How many runs consist of the same words."""
    lengths = np.diff(np.append(starts, len(words)))
    kinds: dict[tuple[int, ...], int] = {}
    for length in np.unique(lengths).tolist():
        rows = words[np.repeat(lengths == length, lengths)].reshape(-1, length)
        rows = rows[np.lexsort(rows.T[::-1])]
        first = run_starts(*rows.T)
        times = np.diff(np.append(first, len(rows))).tolist()
        kinds.update(zip(map(tuple, rows[first].tolist()), times, strict=True))
    return kinds


def check_unicode(text: str) -> None:
    """An error for a text that an engine would not take."""
    require(
        not SURROGATE.search(text),
        "a text is not valid Unicode (a lone surrogate)",
        hint="repair the text",
        error=InputError,
    )


class CodedQuestions(Questions):
    """Questions about a small table; the engine answers what is rarely asked."""

    def __init__(self, engine: Adapter, records: int, types: Mapping[str, str]) -> None:
        super().__init__(engine, records)
        self._types = {column: kind for column, kind in types.items() if PLAIN.fullmatch(kind)}
        self._coded: dict[str, tuple[Ints, tuple[str | None, ...]]] = {}
        self._counted: dict[tuple[tuple[str, ...], str], ClassCells] = {}

    def code(self, columns: Iterable[str]) -> bool:
        """Fetch columns that were not fetched before; False where one of them cannot be coded."""
        columns = dict.fromkeys(columns)
        if not all(c in self._types for c in columns):
            return False
        if new := [c for c in columns if c not in self._coded]:
            texts = ", ".join(self.engine.as_text(self.sql_name(c)) for c in new)
            rows = self.engine.query_records(f"SELECT {texts} FROM {self._input}")
            for column, values in zip(new, zip(*rows, strict=True), strict=True):
                present = list(dict.fromkeys(values))
                place = {text: i for i, text in enumerate(present)}
                self._coded[column] = rank_texts([place[v] for v in values], present)
        return True

    def _records(self, columns: Sequence[str]) -> Cube:
        """One cell per record; the columns have been fetched."""
        codes, values = zip(*(self._coded[c] for c in columns), strict=True)
        return Cube(tuple(columns), codes, np.ones(len(codes[0]), dtype=np.int64), values)

    def _class_cells(self, quasi: tuple[str, ...], secret: str) -> ClassCells:
        if (quasi, secret) not in self._counted:
            cube = self._records((*quasi, secret)).roll_up((*quasi, secret))
            values, sizes = cube.codes[-1].astype(np.int64), cube.classes[1]
            self._counted[quasi, secret] = ClassCells(
                cube.owner, values, cube.counts, sizes, cube.totals(-1)
            )
        return self._counted[quasi, secret]

    # -- records and columns --------------------------------------------------------------------

    def forget_counts(self) -> None:
        """Forget what was counted and fetched."""
        super().forget_counts()
        self._coded.clear()
        self._counted.clear()

    def count_marked(
        self, quasi: Sequence[str], secret: str | None, *, cells: bool
    ) -> tuple[int, int]:
        """How many records have the mark of suppression in every quasi-identifier, and in any."""
        if not self.code(quasi):
            return super().count_marked(quasi, secret, cells=cells)
        records, mark = self._records(quasi), self.suppression.mark
        some = np.any([records.all_have([q], mark) for q in quasi], axis=0)
        return int(np.count_nonzero(records.all_have(quasi, mark))), int(np.count_nonzero(some))

    def missing(self, quasi: Sequence[str]) -> dict[str, int]:
        """How many records lack each quasi-identifier; only those that some record lacks."""
        if not self.code(quasi):
            return super().missing(quasi)
        counts = {q: int(np.count_nonzero(self._coded[q][0] == 0)) for q in quasi}
        return {q: n for q, n in counts.items() if n}

    def tally(self, column: str, quasi: Sequence[str]) -> dict[str | None, int]:
        """How many records have each text; of other than texts only missing and empty."""
        if not self.code((column,)):
            return super().tally(column, quasi)
        codes, texts = self._coded[column]
        counts = dict(zip(texts, np.bincount(codes, minlength=len(texts)).tolist(), strict=True))
        whole = self.engine.kind(column) == "text"
        return {text: n for text, n in counts.items() if n and (whole or not text)}

    def values(self, column: str, quasi: Sequence[str]) -> list[str]:
        """The different values of a secret as text, without missing; they stay in this process."""
        if not self.code((column,)):
            return super().values(column, quasi)
        return [text for text in self._coded[column][1] if text is not None]

    def like_the_header(self, quasi: Sequence[str], secrets: Sequence[str]) -> int:
        """Records whose every value is the name of its column, as where files were put together."""
        if not self.code((*quasi, *secrets)):
            return super().like_the_header(quasi, secrets)
        same = {}
        for column in (*quasi, *secrets):
            codes, texts = self._coded[column]
            same[column] = codes == texts.index(column) if column in texts else np.zeros(1, bool)
        keys = np.all(np.broadcast_arrays(*(same[q] for q in quasi)), axis=0)
        counts = [np.count_nonzero(keys & same[s]) for s in secrets]
        return int(min(counts, default=np.count_nonzero(keys)))

    def distinct(self, columns: Iterable[str]) -> dict[str, int]:
        """How many different values each column has; missing is one."""
        columns = list(columns)
        if not self.code(columns):
            return super().distinct(columns)
        coded = {c: self._coded[c] for c in columns}
        return {c: len(texts) - int(not np.any(codes == 0)) for c, (codes, texts) in coded.items()}

    def tallies(self, columns: Mapping[str, int]) -> dict[str, dict[str | None, int]]:
        """How many records have each text of some columns, in the order of texts."""
        if not self.code(columns):
            return super().tallies(columns)
        return {c: self.cube((c,)).tally() for c in columns}

    # -- classes and secrets --------------------------------------------------------------------

    def sizes(self, quasi: Sequence[str]) -> Sizes:
        """The histogram of class sizes."""
        quasi = tuple(quasi)
        if quasi not in self._sizes and self.code(quasi):
            self._sizes[quasi] = self._records(quasi).roll_up(quasi).sizes()
            self._sizes[quasi].check(self.records)
        return super().sizes(quasi)

    def record_counts(self, quasi: Sequence[str], *, wildcard: bool) -> RecordCounts:
        """The counts behind every measure of re-identification."""
        if not wildcard or not self.code(quasi):
            return super().record_counts(quasi, wildcard=wildcard)
        return RecordCounts(self.records, self.sizes(quasi), *count_matches(self.cube(quasi)))

    def secret_counts(
        self, quasi: Sequence[str], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts:
        """Everything about one secret that `needs` names."""
        quasi = tuple(quasi)
        if not self.code((*quasi, secret)):
            return super().secret_counts(quasi, secret, needs, **rare)
        cells, texts = self._class_cells(quasi, secret), self._coded[secret][1]
        missing, present = int(cells.totals[0]), [text for text in texts if text is not None]
        counts: dict[str, Any] = {"missing": missing}
        if "known" in needs and 0 < missing < self.records:
            counts["known_profiles"] = cells.known().profiles()
        if "known_joint" in needs and 0 < missing < self.records:
            counts["known_joint"] = cells.known().joint
        if "order" in needs and not missing:
            counts["ranked"] = cells.rank(self.rank(secret, rare.get("order")))
        if "hierarchy" in needs and (hierarchy := rare.get("hierarchy")) is not None:
            labels, levels = level_labels(secret, hierarchy, present)
            counts["hierarchy_gaps"] = cells.merge([labels[text] for text in texts]).gaps(levels)
        if "parts" in needs and (partition := rare.get("partition")) is not None:
            parts = part_labels(secret, partition, present)
            merged = cells.merge([parts[text] for text in texts])
            counts["parts"] = self._count(merged, frozenset({"joint"}), {})
        if "named" in needs and (named := rare.get("named")) is not None:
            check_unicode(named)
            counts["named"] = cells.count_named(texts.index(named) if named in texts else -1)
        counted = self._count(cells, needs, counts)
        self._sizes.setdefault(quasi, counted.sizes)
        return counted

    def _count(
        self, cells: ClassCells, needs: frozenset[str], counts: Mapping[str, Any]
    ) -> SecretCounts:
        sizes, values = histogram(cells.sizes), histogram(cells.totals[cells.totals > 0])
        sizes.check(self.records)
        values.check(self.records)
        return SecretCounts(
            records=self.records,
            sizes=sizes,
            values=values,
            profiles=cells.profiles(),
            joint=cells.joint if "joint" in needs else None,
            gaps=cells.gaps() if "gaps" in needs else None,
            **counts,
        )

    def rank(self, secret: str, order: Sequence[str] | None) -> Ints:
        """The rank of each code of a secret, in the order given or that of its type."""
        texts = self._coded[secret][1]
        present = [text for text in texts if text is not None]
        ordered = (
            self._type_order(secret, present)
            if order is None
            else order_values(secret, order, present)
        )
        place: dict[str | None, int] = {text: rank for rank, text in enumerate(ordered)}
        return np.array([place.get(text, -1) for text in texts], dtype=np.int64)

    def _type_order(self, secret: str, present: list[str]) -> list[str]:
        """The values of a secret in the order of its type."""
        if self._types[secret] == "VARCHAR":
            return present
        c = self.sql_name(secret)
        rows = self.engine.query_records(
            f"SELECT {self.engine.as_text(c)} FROM {self._input} GROUP BY {c} ORDER BY {c}"
        )
        return [text for (text,) in rows]

    # -- combinations as codes ------------------------------------------------------------------

    def cube(self, columns: Sequence[str]) -> Cube:
        """The combinations of some columns' values; the texts stay in this process."""
        if not self.code(columns):
            return super().cube(columns)
        return self._records(columns).roll_up(columns)

    def records_in_order(self, columns: Sequence[str]) -> Cube:
        """One cell per record, in the order of the input, whether records were left out or not."""
        if self._input != "input" or not self.code(columns):
            return super().records_in_order(columns)
        return self._records(columns)

    def count_runs(self, columns: Sequence[str]) -> dict[str, ColumnRuns]:
        """The runs of each column in the order of the input; no records are left out."""
        if not all(c in self._types for c in columns):
            return super().count_runs(columns)
        records = self.records_in_order(columns)
        return {c: count_column_runs(own) for c, own in zip(columns, records.codes, strict=True)}
