"""Microdata: the row numbers of single records, their weights, the same person in two tables.

A class is identified by the codes of its values; a small table per column maps texts to codes. Row
numbers are those of the input, from 1. A table of single records is a cube with one
cell per record. Texts stay in this process.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.adapter import LoadedColumns
from sievert.counts.cells import quote_identifier
from sievert.counts.cube import Cube
from sievert.counts.questions import TOGETHER, Questions
from sievert.counts.wildcards import MOST_PARTS, WildcardMatches
from sievert.errors import ExhaustedError, InputError, require
from sievert.formatting import plural
from sievert.formatting.canonical import canonical_text
from sievert.formatting.remarks import Remark
from sievert.hierarchies import NUMBER

NO_ORDER = Remark("no_order_of_records")
MOST_DIGITS = 40

# -- row numbers -------------------------------------------------------------------------------


def row_numbers(
    questions: Questions, classes: Cube, places: Sequence[int], most: int
) -> list[list[int]]:
    """The row numbers of the records of some classes, at most the first `most` of each class."""
    tables, joined = _join_classes(questions, classes, np.asarray(places), {})
    numbers: list[list[int]] = [[] for _ in places]
    for place, record in questions.engine.rows(
        f"SELECT k.place, r.record FROM {joined} ORDER BY k.place, r.record"
    ):
        if len(numbers[int(place)]) < most:
            numbers[int(place)].append(int(record))
    questions.drop_tables(*tables)
    return numbers


def write_row_marks(
    questions: Questions, classes: Cube, marks: LoadedColumns, path: Path, kind: str
) -> None:
    """Write one row per record in input order, with the marks of its class."""
    tables, joined = _join_classes(questions, classes, np.arange(len(classes.counts)), marks)
    names = "".join(f", k.{quote_identifier(m)} AS {quote_identifier(m)}" for m in marks)
    questions.engine.write(
        f"SELECT r.record AS record{names} FROM {joined} ORDER BY r.record", path, kind
    )
    questions.drop_tables(*tables)


def _join_classes(
    questions: Questions, classes: Cube, places: Ints, marks: LoadedColumns
) -> tuple[list[str], str]:
    """Make tables of some classes, and the SQL that joins them to the numbered records."""
    engine = questions.engine
    keys = [questions.sql_name(c) for c in classes.columns]
    joins = [f"(SELECT ROW_NUMBER() OVER () AS record, {', '.join(keys)} FROM input) AS r"]
    codes = [c[places].tolist() for c in classes.codes]
    number: LoadedColumns = {"place": ("int", range(len(places)))}
    if len(keys) > TOGETHER:  # one join, of texts
        texts = _class_texts(classes.select_cells(places))
        wanted = questions.load_table({**number, **texts, **marks})
        same = [
            f"{engine.as_text(f'r.{key}')} IS NOT DISTINCT FROM k.q{i}"
            for i, key in enumerate(keys)
        ]
        return [wanted], " ".join([*joins, f"JOIN {wanted} AS k ON {' AND '.join(same)}"])
    wanted = questions.load_table(
        {**number, **{f"q{i}": ("int", own) for i, own in enumerate(codes)}, **marks}
    )
    # Only the codes that occur in these classes: for a few classes there are few.
    tables = [wanted]
    same = []
    for i, key in enumerate(keys):
        present = sorted(set(codes[i]))
        texts_of = [classes.values[i][code] for code in present]
        tables.append(questions.load_table({"v": ("text", texts_of), "code": ("int", present)}))
        text = engine.as_text(f"r.{key}")
        joins.append(f"JOIN {tables[-1]} AS d{i} ON {text} IS NOT DISTINCT FROM d{i}.v")
        same.append(f"d{i}.code = k.q{i}")
    joins.append(f"JOIN {wanted} AS k ON {' AND '.join(same)}")
    return tables, " ".join(joins)


def write_records(
    questions: Questions,
    quasi: Sequence[str],
    secrets: Mapping[str, str],
    path: Path,
    kind: str,
    marks: Mapping[str | None, LoadedColumns],
    beside: tuple[Cube, LoadedColumns] | None = None,
) -> None:
    """Write one row per record in input order, with the numbers of its class and its cells.

    `marks[None]` has a row for each class size, `marks[secret]` one for each distinct
    (class size, total of the value, count); the engine joins them to the records. `secrets` has,
    for each secret, the name of a column for the number of values in the record's class.
    `beside` has classes, each with numbers of its own.
    """
    keys = [questions.sql_name(q) for q in quasi]
    tables = []
    select = ["r.record AS record"]
    joins = []
    for number, secret in enumerate((None, *secrets)):
        loaded = questions.load_table(marks[secret])
        columns = [quote_identifier(c) for c in marks[secret] if c not in ("nq", "ns", "n")]
        values = None if secret is None else quote_identifier(secrets[secret])
        joined = _mark_cells(questions, tuple(quasi), secret, loaded, columns, values)
        tables += [loaded, joined]
        same = [(c, c) for c in keys] + ([] if secret is None else [(f"s{number}", "s")])
        on = " AND ".join(f"r.{a} IS NOT DISTINCT FROM j{number}.{b}" for a, b in same)
        joins.append(f"JOIN {joined} AS j{number} ON {on}")
        columns += [] if values is None else [values]
        select += [f"j{number}.{c} AS {c}" for c in columns]
    if beside is not None:
        tables.append(questions.load_table({**_class_texts(beside[0]), **beside[1]}))
        on = " AND ".join(
            f"{questions.engine.as_text(f'r.{c}')} IS NOT DISTINCT FROM b.q{i}"
            for i, c in enumerate(keys)
        )
        joins.append(f"JOIN {tables[-1]} AS b ON {on}")
        select += [f"b.{c} AS {c}" for c in map(quote_identifier, beside[1])]
    fields = [*keys, *(f"{questions.sql_name(s)} AS s{i}" for i, s in enumerate(secrets, 1))]
    # Numbered before any are left out: a dropped record finds no class to join.
    source = f"SELECT ROW_NUMBER() OVER () AS record, {', '.join(fields)} FROM input"
    questions.engine.write(
        f"SELECT {', '.join(select)} FROM ({source}) AS r {' '.join(joins)} ORDER BY r.record",
        path,
        kind,
    )
    questions.drop_tables(*tables)


def _mark_cells(
    questions: Questions,
    quasi: tuple[str, ...],
    secret: str | None,
    marks: str,
    columns: Sequence[str],
    values: str | None,
) -> str:
    """Join to classes (or cells) the numbers of their kind, and the numbers of `values`."""
    names = "".join(f", m.{c}" for c in columns)
    keys = questions.sql_names(quasi, "a.")
    classes = questions.count_cells(quasi, None)
    if secret is None:
        return questions.keep_table(
            f"SELECT {keys}{names} FROM {classes} AS a JOIN {marks} AS m ON a.n = m.nq"
        )
    cells = questions.count_cells(quasi, secret)
    own = questions.sql_names(quasi)
    names_of_keys = [questions.sql_name(q) for q in quasi]
    same = " AND ".join(f"a.{c} IS NOT DISTINCT FROM q.{c}" for c in names_of_keys)
    alike = " AND ".join(f"a.{c} IS NOT DISTINCT FROM v.{c}" for c in names_of_keys)
    fewer = f"CASE WHEN v.l < q.n THEN v.l ELSE q.n END AS {values}"  # people may have several
    return questions.keep_table(
        f"SELECT {keys}, a.s{names}, {fewer} FROM {cells} AS a JOIN {classes} AS q ON {same} "
        f"JOIN (SELECT {own}, COUNT(*) AS l FROM {cells} GROUP BY {own}) AS v ON {alike} "
        f"JOIN {questions.value_holders(cells)} AS b ON a.s IS NOT DISTINCT FROM b.s "
        f"JOIN {marks} AS m ON q.n = m.nq AND b.ns = m.ns AND a.n = m.n"
    )


def _class_texts(classes: Cube) -> LoadedColumns:
    """The values of classes as text, column by column."""
    return {
        f"q{i}": ("text", [values[code] for code in codes.tolist()])
        for i, (codes, values) in enumerate(zip(classes.codes, classes.values, strict=True))
    }


# -- two tables ---------------------------------------------------------------------------------


def by_key(questions: Questions, columns: Sequence[str], key: str, name: str) -> Cube:
    """One cell per record that has a key, the key last; no two records may have the same key."""
    cube = questions.cube((*columns, key))
    totals = cube.totals(-1)[1:]
    shared = int(totals[totals > 1].sum())
    require(
        shared == 0,
        f"{name}: the key {key!r} is not unique: {plural(shared, 'record')} share theirs",
        hint="a column with one value a person",
        error=InputError,
    )
    return cube.select_cells(np.flatnonzero(cube.codes[-1] > 0))


def in_order(questions: Questions, columns: Sequence[str], name: str) -> Cube:
    """One cell per record, in the order of the input."""
    engine = questions.engine
    require(
        engine.keeps_order,
        f"{name}: {engine.name} knows no order of records",
        hint="--key COLUMN",
    )
    return questions.records_in_order(columns)


def match_keys(first: Cube, second: Cube, *, as_spelt: bool = False) -> tuple[Ints, Ints]:
    """The cells of two cubes whose last column, a key, is the same.

    Two keys are the same if their texts are, or if their canonical texts are and no other key of a
    cube has that canonical text. With `as_spelt` the texts have to be the same.
    """
    texts = second.values[-1]
    codes = second.codes[-1].tolist()
    cells = {texts[code]: cell for cell, code in enumerate(codes) if code}
    same = {} if as_spelt else respelt_keys(first, second)
    matches = np.array([cells.get(same.get(text, text), -1) for text in first.values[-1]])[
        first.codes[-1]
    ]
    mine = np.flatnonzero(matches >= 0)
    return mine, matches[mine]


def respelt_keys(first: Cube, second: Cube) -> dict[str | None, str]:
    """The other cube's spelling of each key that it spells otherwise, where that is certain."""
    ours = _single_keys(first)
    others = _single_keys(second)
    pairs = {ours[key]: others[key] for key in ours.keys() & others.keys()}
    return {own: other for own, other in pairs.items() if own != other}


def _single_keys(cube: Cube) -> dict[str, str]:
    """The keys by their canonical texts, without canonical texts of several keys."""
    present = (text for text in cube.values[-1] if text is not None)
    groups: dict[str, list[str]] = {}
    for text in present:
        groups.setdefault(canonical_text(text), []).append(text)
    return {key: group[0] for key, group in groups.items() if len(group) == 1}


def pair_columns(
    first: Cube, mine: Ints, second: Cube, theirs: Ints, columns: Sequence[str]
) -> Cube:
    """Columns of both tables side by side, and how many pairs of records have them."""
    ours = first.select_cells(mine).select_columns(columns)
    others = second.select_cells(theirs).select_columns(columns)
    names = (*columns, *(f"other {c}" for c in columns))
    codes = (*ours.codes, *others.codes)
    values = (*ours.values, *others.values)
    return Cube(columns=names, codes=codes, counts=ours.counts, values=values).roll_up(names)


# -- frequencies and weights --------------------------------------------------------------------
# The engine counts the combinations of class and weight, as it counts anything; the weights' texts
# become integers of a common scale here. So no engine adds decimals, and all give the same sums.


@dataclass(frozen=True, kw_only=True)
class ClassFrequencies:
    """For every class, in ascending order of codes, the records that match its own, and weights.

    The matching records, f, are counted in 1/`parts` of a record; the sum of their weights, F, in
    1/`parts` of 10^-`scale`. `own_weights` is the sum within the class itself, in 10^-`scale`.
    """

    classes: Cube
    matching: Ints
    parts: int = 1
    weights: Ints | None = None
    own_weights: Ints | None = None
    scale: int = 0

    @property
    def frequencies(self) -> list[float]:
        """f of each class."""
        return [f / self.parts for f in self.matching.tolist()]

    @property
    def population_frequencies(self) -> list[float]:
        """F of each class, rounded once."""
        unit = self.parts * 10**self.scale
        return [] if self.weights is None else [int(w) / unit for w in self.weights.tolist()]

    def kinds(self) -> tuple[list[Fraction], list[Fraction], Ints, Ints]:
        """The distinct pairs of f and F, the records with each pair, and the pair of each class."""
        assert self.weights is not None
        pairs: dict[tuple[int, int], int] = {}
        both = zip(self.matching.tolist(), self.weights.tolist(), strict=True)
        which = np.array([pairs.setdefault(pair, len(pairs)) for pair in both], dtype=np.int64)
        records = np.zeros(len(pairs), dtype=np.int64)
        np.add.at(records, which, self.classes.counts)
        return (
            [Fraction(int(f), self.parts) for f, _ in pairs],
            [Fraction(int(w), self.parts * 10**self.scale) for _, w in pairs],
            records,
            which,
        )

    @property
    def within_classes(self) -> "ClassFrequencies":
        """The same where a missing value is a value of its own: nothing else matches a class."""
        own = self.own_weights
        return ClassFrequencies(
            classes=self.classes,
            matching=self.classes.counts,
            parts=1,
            weights=own,
            own_weights=own,
            scale=self.scale,
        )


def class_frequencies(
    questions: Questions,
    quasi: Sequence[str],
    weight: str | None = None,
    alpha: Fraction | None = None,
) -> ClassFrequencies:
    """Count the records that match those of each class, and add up their weights.

    With `alpha` a missing value matches anything. A record that lacks a value counts as `alpha` of
    a record for a record that has one.
    """
    if weight is None:
        classes = questions.cube(quasi)
        own = None
        scale = 0
    else:
        cells = questions.cube((*quasi, weight))
        units, scale = _units(cells, weight)
        small = float(abs(units).max()) * cells.records * MOST_PARTS < 2**62
        kind: Any = np.int64 if small else object
        amounts = units.astype(kind)[cells.codes[-1].astype(np.int64)] * cells.counts.astype(kind)
        classes = cells.class_cube
        own = np.add.reduceat(amounts, cells.classes[0])
    if alpha is None or not classes.lacking.any():
        return ClassFrequencies(
            classes=classes,
            matching=classes.counts,
            parts=1,
            weights=own,
            own_weights=own,
            scale=scale,
        )
    matches = WildcardMatches.find(classes)
    if matches is None:
        raise ExhaustedError(
            "matching wildcards would take too long (patterns of missing keys, classes)",
            hint="fewer quasi-identifiers, or --missing value",
        )
    matching = matches.sums(classes.counts, alpha)
    weights = None if own is None else matches.sums(own, alpha)
    return ClassFrequencies(
        classes=classes,
        matching=matching,
        parts=alpha.denominator,
        weights=weights,
        own_weights=own,
        scale=scale,
    )


def _units(cube: Cube, column: str) -> tuple[Ints, int]:
    """The weight of every code as an integer, and the number of its digits after the point."""
    texts = cube.values[-1]
    wrong = [t is None or not NUMBER.fullmatch(t) for t in texts]
    bad = int(cube.totals(-1)[np.array(wrong)].sum())
    require(
        bad == 0,
        f"{plural(bad, 'record')} without a weight that is a finite number in {column!r}",
        hint="a weight column of numbers without missing values",
        error=InputError,
    )
    numbers = [Decimal(0 if t is None else t) for t in texts]
    negative = int(cube.totals(-1)[np.array([d < 0 for d in numbers])].sum())
    require(
        negative == 0,
        f"{plural(negative, 'record')} with a weight below 0 in {column!r}",
        hint="how many people a record stands for",
        error=InputError,
    )
    scale = max(0, *(-int(d.as_tuple().exponent) for d in numbers))
    require(
        scale <= MOST_DIGITS,
        f"a weight of {column!r} has {scale} digits after the point",
        error=InputError,
    )
    return np.array([int(Fraction(d) * 10**scale) for d in numbers], dtype=object), scale
