"""Records of a large table as packed keys: cells counted by compiled code.

A key has the codes of a record's values side by side in one 64-bit integer, in memory only. Sorted
keys are cells already: the low bits are the secret, the bits above them the class. Every answer has
the integers that DuckDB's SQL would give. DuckDB answers questions that get no answer here.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.counts.answers import NumberCells, SecretCounts, Sizes
from sievert.counts.cells import CellTables
from sievert.counts.cube import Cube, histogram
from sievert.counts.memory_cells import MemoryCells, PeopleCounter
from sievert.counts.packed.blocked_cells import BlockedCells
from sievert.counts.packed.class_cells import PackedCells, code_field, rank_codes, spell_totals
from sievert.counts.packed.coding import CodedColumn, GrownError, UnfitError
from sievert.counts.packed.kernels import add_to, sum_fields
from sievert.counts.packed.keys import Counted, KeyBlocks, KeyCounter, KeyCounts
from sievert.counts.packed.people import PackedPeople
from sievert.counts.packed.row_order import RunCounter
from sievert.counts.packed.sources import RecordBatch, Source
from sievert.counts.packed.threads import Pace, map_threads
from sievert.counts.questions import FEW_CLASSES, MOST_TALLIED
from sievert.counts.row_runs import ColumnRuns
from sievert.counts.wildcards import count_matches

MOST_TOTAL_BITS = 20  # of a column whose codes are added up for each block of cells
MOST_CODE_BITS = 26  # of a column whose codes are counted in an array
FEW_CELLS = 10**5  # cells up to which a table of cells is kept beside others
Cells = PackedCells | BlockedCells
Places = Mapping[str, tuple[Ints, int]]  # the keys that contain each column, and its lowest bit


class PackedRecords(MemoryCells):
    """The records of a large table of plain columns."""

    def __init__(
        self,
        tables: CellTables,
        source: Source,
        room: int,
        threads: int,
        counter: Callable[[Source, int, int, Pace], KeyCounter] = KeyCounter,
    ) -> None:
        self.tables = tables
        self._source = source
        self._room = room
        self.threads = threads
        self._pace = Pace()
        self._counter = counter(source, room, threads, self._pace)
        self._known = tables.records  # the records of the keys, suppressed ones included
        self._packed: dict[tuple[tuple[str, ...], str | None], Cells | None] = {}
        self._tallies: dict[str, dict[str | None, int]] = {}
        self._value_sizes: dict[str, Sizes] = {}  # of all records of the source
        self._headers: dict[tuple[tuple[str, ...], str | None], int] = {}
        self._plan: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._together: Counted | None = None  # the keys of all planned secrets
        self._suppressed: tuple[str, ...] = ()  # columns with the mark in records that are left out
        self._left_out = 0
        self._released = tables.source  # the view without the records left out as suppressed

    def people_counter(self, person: str) -> PeopleCounter:
        """Make the counter of the people of these records."""
        return PackedPeople(self, person)

    def progress(self) -> float:
        """The per cent of the running count that are done, or -1."""
        return self._pace.share

    def interrupt(self) -> None:
        """Stop counting; the caller of the running question gets an error."""
        self._pace.stopped.set()

    @property
    def _whole(self) -> bool:
        """Whether all records of the source are counted, except suppressed ones."""
        tables = self.tables
        read = tables.records + self._left_out
        return tables.source == self._released and read == self._known and not tables.wide

    def plan_counts(self, quasi: tuple[str, ...], secrets: tuple[str, ...]) -> None:
        """Plan to count these secrets in these classes, so that they are read in one pass."""
        self._plan = (quasi, tuple(s for s in secrets if s not in quasi))
        self._together = None
        self._source.plan((*quasi, *self._plan[1]))

    def count_keys(self, names: Sequence[str]) -> KeyCounts | None:
        """The different keys of some columns, the last one lowest; None if they are unfit."""
        return self._join(self._count_keys(tuple(names[:-1]), names[-1]))

    def _join(self, counted: KeyCounts | KeyBlocks | None) -> KeyCounts | None:
        """All keys at once; None if there is no room for them."""
        try:
            return None if counted is None else counted.join(self._room)
        except UnfitError:
            return None

    def _count_keys(
        self, quasi: tuple[str, ...], secret: str | None
    ) -> KeyCounts | KeyBlocks | None:
        columns = quasi if secret is None else (*quasi, secret)
        if not (self._whole and {*self._suppressed} <= {*columns}):
            return None  # the keys do not show which records were left out
        several = quasi == self._plan[0] and secret in self._plan[1] and len(self._plan[1]) > 1
        try:
            if not several:
                counted = self._counter.count(quasi, () if secret is None else (secret,))
            else:
                if self._together is None:
                    self._together = self._counter.count(*self._plan)
                counted = self._together
            if not isinstance(counted, KeyCounts | KeyBlocks):
                counted = counted[str(secret)]
        except UnfitError:
            return None
        if self._suppressed:
            return counted.filter(self._is_released)
        return counted

    def _is_released(self, counted: KeyCounts) -> Bools:
        """Whether each key is one of records that are not left out."""
        return ~self._find_marks(counted.layout.columns, counted.fields(), self._suppressed)[0]

    def _find_marks(
        self, coded: Sequence[CodedColumn], places: Places, quasi: Sequence[str]
    ) -> tuple[Bools, Bools]:
        """Whether each key has the mark of suppression in every quasi-identifier, and in any."""
        return _find_texts(coded, places, self.tables.suppression.texts(quasi))

    def count_marked(
        self, quasi: Sequence[str], secret: str | None, *, cells: bool
    ) -> tuple[int, int] | None:
        """Count the records with the mark of suppression in every quasi-identifier, and in any."""
        kinds = [self.tables.engine.kind(q) for q in quasi]
        able = [kind for kind in kinds if self.tables.suppression.can_be_in(kind)]
        if not (cells and able and self.tables.suppression.is_code_of(able)):
            return None
        counted = self._packed_cells(tuple(quasi), secret)
        if counted is None:
            return None

        def count(cells: PackedCells) -> list[int]:
            have = self._find_marks(cells.layout.quasi, cells.places, quasi)
            return [cells.sizes[which].sum() for which in have]

        every, some = np.sum(counted.map(count), axis=0).tolist()
        return every, some

    def leave_out_suppressed(self, quasi: Sequence[str], number: int) -> None:
        """Note that records with the mark in every quasi-identifier are left out from now on."""
        if self.tables.suppression.is_code_of(map(self.tables.engine.kind, quasi)):
            self._suppressed = tuple(quasi)
            self._left_out = number
            self._released = self.tables.source

    def forget(self) -> None:
        """Forget what was counted."""
        self._packed.clear()
        self._tallies.clear()
        self._headers.clear()
        self._together = None

    def _packed_cells(self, quasi: tuple[str, ...], secret: str | None) -> Cells | None:
        if not self._whole:
            return None
        if (quasi, secret) not in self._packed:
            self._packed[quasi, secret] = self._count(quasi, secret)
        return self._packed[quasi, secret]

    def _count(self, quasi: tuple[str, ...], secret: str | None) -> Cells | None:
        if secret is None:
            for (columns, own_secret), finer in self._packed.items():
                if columns == quasi and own_secret and finer:
                    return finer.roll_up()
        for key in [k for k, c in self._packed.items() if c and len(c) > FEW_CELLS]:
            del self._packed[key]  # one large table of cells at a time
        counted = None if secret in quasi else self._count_keys(quasi, secret)
        try:
            return None if counted is None else self.note_cells(counted)
        except UnfitError:
            return None

    def note_cells(self, counted: KeyCounts | KeyBlocks) -> Cells:
        """Make cells of counted keys; note the number of records with each value of a column."""
        cells: Cells
        if isinstance(counted, KeyBlocks):
            cells = BlockedCells(counted, self.threads)
        else:
            cells = PackedCells(counted, self.threads)
        columns = cells.layout.columns
        secret = cells.secret
        new = [c for c in columns if c is secret or c.name not in self._tallies]
        for column, pair in zip(new, cells.code_totals(new), strict=True):
            self._tallies[column.name] = spell_totals(column, *pair, MOST_TALLIED)
            totals = pair[1]
            if column.name in self._counter.runs.columns and column.bits <= MOST_TOTAL_BITS:
                totals = np.sum(cells.map(partial(_sum_codes, column)), axis=0)
            if int(totals.sum()) == self._source.records:
                self._value_sizes[column.name] = histogram(totals[totals > 0])
        names = {c.name: c.name for c in columns}
        quasi = tuple(column.name for column in cells.layout.quasi)
        key = (quasi, None if secret is None else secret.name)

        def like_header(own: PackedCells) -> int:
            every, _ = _find_texts(columns, own.counted.fields(), names)
            return int(own.counts[every].sum())

        if all(c.kind != "float" for c in columns):
            possible = all(c.code_of(c.name) > 0 for c in columns)
            self._headers[key] = sum(cells.map(like_header)) if possible else 0
        return cells

    def cube(self, columns: Sequence[str]) -> Cube | None:
        """The combinations of some columns' values; the texts stay in this process."""
        return self.compiled_cube(columns)

    def compiled_cube(self, columns: Sequence[str]) -> Cube | None:
        """The combinations of some columns' values; the engine would take longer."""
        columns = tuple(columns)
        known = self._packed if self._whole else {}
        cells = known.get((columns[:-1], columns[-1])) or known.get((columns, None))
        counted = self.count_keys(columns) if cells is None else self._join(cells.counted)
        return None if counted is None else self.spell_keys(columns, counted)

    def spell_keys(self, columns: Sequence[str], counted: KeyCounts) -> Cube:
        """Turn counted keys into combinations of values."""
        ranks = []
        texts = []
        places = counted.fields()
        for column in counted.layout.columns:
            keys, shift = places[column.name]
            present, own = rank_codes(code_field(keys, shift, column.bits), column.bits)
            ranks.append(own)
            texts.append(self.spell(column, present))
        return Cube.from_cells(columns, ranks, counted.counts, texts)

    def spell(self, column: CodedColumn, codes: Ints) -> list[str | None]:
        """The texts of codes; the engine spells floats."""
        values = column.spell(codes)
        if column.kind != "float":
            return values
        kind = self.tables.engine.kinds[column.name]
        sql = f"SELECT CAST(v AS VARCHAR) FROM (SELECT unnest(CAST(? AS {kind}[])) AS v)"
        return [text for (text,) in self.tables.engine.rows(sql, [values])]

    def number_cells(self, quasi: tuple[str, ...], secret: str) -> NumberCells | None:
        """The cells of a numeric secret; its texts stay in this process."""
        cells = self._packed_cells(quasi, secret)
        if isinstance(cells, BlockedCells):
            whole = self._join(cells.counted)
            cells = None if whole is None else PackedCells(whole, self.threads)
        return None if cells is None else cells.as_numbers(self.spell)

    # -- answers --------------------------------------------------------------------------------

    def sizes(self, quasi: tuple[str, ...]) -> Sizes | None:
        """The histogram of class sizes."""
        cells = self._packed_cells(quasi, None)
        if cells is None:
            return None
        cells.class_sizes.check(self.tables.records)
        return cells.class_sizes

    def matches(self, quasi: tuple[str, ...], sizes: Sizes) -> tuple[int, Sizes | None] | None:
        """Count the records that lack a key, and the records that match each other as wildcards."""
        tallied = all(q in self._tallies for q in quasi)
        if not tallied and self._packed_cells(quasi, None) is None:
            return None
        if not any(self._tallies[q].get(None) for q in quasi):
            return 0, None
        if sizes.things > FEW_CLASSES or self._packed_cells(quasi, None) is None:
            return None
        cube = self.cube(quasi)
        return None if cube is None else count_matches(cube)

    def missing(self, quasi: Sequence[str]) -> dict[str, int] | None:
        """Count the records that lack each quasi-identifier."""
        if not all(q in self._tallies for q in quasi):
            return None
        return {q: self._tallies[q].get(None, 0) for q in quasi}

    def tally(self, column: str, quasi: tuple[str, ...]) -> dict[str | None, int] | None:
        """Count the records with each text; only missing and empty of other or too many values."""
        if column not in self._tallies:
            self._packed_cells(quasi, None if column in quasi else column)
        if column not in self._tallies:
            return None
        counts = self._tallies[column]
        if self.tables.engine.kind(column) == "text" and len(counts) <= MOST_TALLIED:
            return counts
        return {value: n for value, n in counts.items() if not value}

    def values(self, column: str, quasi: tuple[str, ...]) -> list[str] | None:
        """The different values of a secret as text, without missing; they stay in this process."""
        cells = None if column in quasi else self._packed_cells(quasi, column)
        if cells is None or cells.secret is None:
            return None
        present = cells.present[cells.totals > 0]
        return [str(text) for text in self.spell(cells.secret, present[present > 0])]

    def like_the_header(self, quasi: Sequence[str], secrets: Sequence[str]) -> int | None:
        """Count the records whose values are the names of their columns, as in joined files."""
        keys = [(tuple(quasi), secret) for secret in secrets or (None,)]
        if not all(key in self._headers for key in keys):
            return None
        return min(self._headers[key] for key in keys)

    def secret_counts(
        self, quasi: tuple[str, ...], secret: str, needs: frozenset[str], **rare: Any
    ) -> SecretCounts | None:
        """Count what `needs` names about one secret; None for rare needs, which DuckDB counts."""
        special = any(option is not None for option in rare.values())
        cells = None if special else self._packed_cells(quasi, secret)
        if cells is None or cells.secret is None:
            return None
        records = self.tables.records
        sizes = cells.class_sizes
        missing = int(cells.totals[0])
        sizes.check(records)
        wanted = {"known", "known_joint"} & needs and 0 < missing < records
        known = cells.known() if wanted else None
        return SecretCounts(
            records=records,
            sizes=sizes,
            values=histogram(cells.totals[cells.totals > 0]),
            profiles=cells.profiles(),
            joint=cells.joint() if "joint" in needs else None,
            gaps=cells.gaps(sizes, records) if "gaps" in needs else None,
            missing=missing,
            known_profiles=known.profiles() if known and "known" in needs else None,
            known_joint=known.joint() if known and "known_joint" in needs else None,
            ranked=cells.rank()
            if "order" in needs and not missing and cells.secret.kind in ("int", "date", "float")
            else None,
        )

    # -- the order of the rows ------------------------------------------------------------------

    def plan_runs(self, columns: Sequence[str]) -> None:
        """Plan to count the runs of these columns beside their keys."""
        self._counter.runs = RunCounter(columns)

    def count_runs(self, columns: Sequence[str]) -> dict[str, ColumnRuns]:
        """The runs of each column in the order of the input; no records are left out."""
        runs: dict[str, ColumnRuns] = {}
        for column in columns:
            number = self._counter.runs.runs(column, self._source.records)
            values = self._value_sizes.get(column)
            if number is not None and values is not None:
                runs[column] = ColumnRuns(runs=number, values=values)
        lacking = [column for column in columns if column not in runs]
        with suppress(UnfitError):
            runs |= {column: self._count_runs(column) for column in lacking}
        return runs

    def _count_runs(self, name: str) -> ColumnRuns:
        """The runs of one column, which is read once more."""
        codes, column = self._read_codes(name)
        counts = np.zeros(1 << column.bits, dtype=np.int64)
        add_to(counts, codes)
        alone = RunCounter([name])
        alone.add(0, codes, [column])
        number = alone.runs(name, len(codes))
        return ColumnRuns(runs=number or 0, values=histogram(counts[counts > 0]))

    def codes_in_order(self, column: str) -> tuple[Ints, list[str | None]] | None:
        """The code of a column in every row, in the order of the input, and the text of each."""
        try:
            codes, coded = self._read_codes(column)
        except UnfitError:
            return None
        there = np.zeros(1 << coded.bits, dtype=bool)
        there[codes] = True
        present = np.flatnonzero(there)
        place = np.zeros(len(there), dtype=codes.dtype)
        place[present] = np.arange(len(present))
        return place[codes], self.spell(coded, present)

    def _read_codes(self, name: str) -> tuple[Ints, CodedColumn]:
        """The codes of one column for all records of the source; raise an error for too many."""
        while True:
            (column,) = self._source.code([name], self._room, self.threads, self._pace)
            try:
                return self._fill_codes(column), column
            except GrownError:
                column.grow()

    def _fill_codes(self, column: CodedColumn) -> Ints:
        if column.bits > MOST_CODE_BITS:
            raise UnfitError
        codes = np.zeros(self._source.records, dtype=np.uint32)

        def fill(batch: RecordBatch) -> None:
            self._pace.step()
            batch.pack([column], codes[batch.start : batch.start + batch.records])

        map_threads(fill, self._pace.start(self._source.batches()), self.threads, self._pace)
        return codes


def _sum_codes(column: CodedColumn, cells: PackedCells) -> Ints:
    """Count the records of some cells with each code of a column."""
    keys, shift = cells.counted.fields()[column.name]
    return sum_fields(keys, shift, column.bits, cells.counted.counts)


def _find_texts(
    coded: Sequence[CodedColumn], places: Places, texts: Mapping[str, str | None]
) -> tuple[Bools, Bools]:
    """Whether each key has the text of `texts` in every column, and in any column."""
    number = len(next(iter(places.values()))[0])
    every = np.ones(number, dtype=bool)
    some = np.zeros(number, dtype=bool)
    for column in coded:
        if column.name not in texts:
            continue
        code = column.code_of(texts[column.name])
        if code < 0:
            every[:] = False
            continue
        keys, shift = places[column.name]
        field = np.uint64(((1 << column.bits) - 1) << shift)
        have = (keys & field) == np.uint64(code << shift)
        every &= have
        some |= have
    return every, some
