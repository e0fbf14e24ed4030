"""Identity: which record is whose. Three boxes, by what the attacker has besides the release.

Black: nothing but the released columns. Grey: a register that shares some of them. White: the
original values, record by record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.attack import (
    Attack,
    Column,
    Group,
    Learned,
    by_column,
    listed,
    measured,
    record_target,
    removed,
    value,
)
from sievert.attacks.homogeneity import ORIGINAL, sentence
from sievert.attacks.register_matching import (
    Matching,
    candidates,
    look_up_cells,
)
from sievert.counts.cube import Cube
from sievert.formatting import percent, plural
from sievert.hierarchies import ROOT
from sievert.measures import kernel
from sievert.measures.measure import NOTHING_TO_LEARN, Value

RECORD = "which record is whose"
NO_MATCH = "no row has a candidate"


# -- black box ------------------------------------------------------------------------------------


def black_box(cube: Cube, *, show: bool = False) -> Attack:
    """DR of the record given the released columns: of all, of each, of each value.

    >>> ages = [["22", "35", "40", "45", "63"]]
    >>> cube = Cube.from_cells(["age"], [[0, 1, 2, 3, 4]], [3, 3, 1, 1, 1], ages)
    >>> found = black_box(cube).numbers
    >>> round(found["discrimination_rate"].value, 6), found["people"].value
    (0.666667, 3)
    """
    target = record_target(cube.counts)
    rate = measured("discrimination_rate", target)
    least = target.smallest_class
    people = int(cube.counts[cube.counts == least].sum())
    columns = {}
    for column in cube.columns:
        alone = cube.roll_up((column,))
        columns[column] = Column(
            measured("discrimination_rate", record_target(alone.counts)),
            listed(
                alone.counts,
                _rates(alone.counts),
                "discrimination_rate_of_value",
                lambda i, alone=alone: _values(alone, i, show),  # type: ignore[misc]
            ),
        )
    return Attack(
        {
            "discrimination_rate": rate,
            "candidates": value("candidates", least),
            "people": value("people", people),
        },
        _alone(cube, least, people, rate.value),
        Group(least, {}, _values(cube, int(np.flatnonzero(cube.counts == least)[0]), show)),
        columns,
    )


def _values(cube: Cube, i: int, show: bool) -> dict[str, str | None] | None:
    if not show:
        return None
    held = zip(cube.columns, cube.codes, cube.values, strict=True)
    return {c: values[codes[i]] for c, codes, values in held}


def _rates(sizes: Ints) -> Floats | None:
    """1 - h_q/H of every class, the record as the target."""
    records = int(sizes.sum())
    if records == 1:
        return None
    if len(sizes) == 1:
        return np.zeros(1)
    left = sizes * kernel.log2_ratio(np.ones_like(sizes), sizes) / records
    return np.clip(1.0 - left / record_target(sizes).entropy, 0.0, 1.0)


def _alone(cube: Cube, least: int, people: int, rate: float | None) -> str:
    if rate is None:
        return "There is one record: it is found without any attack."
    gone = removed(len(cube.columns), rate, RECORD)
    if least > 1:
        return (
            f"Nobody is alone. The smallest group that looks alike has {least:,} people, and "
            f"{people:,} people are in groups as small. {gone}"
        )
    share = percent(people / cube.records)
    who = f"1 person ({share}) is" if people == 1 else f"{people:,} people ({share}) are"
    return f"{who} alone: whoever knows what the columns say of them finds the record. {gone}"


def grey_box(
    release: Cube,
    register: Cube,
    matchings: Sequence[Matching],
    *,
    truth: Cube | None = None,
    show: bool = False,
) -> Attack:
    """Candidates in the release for each row of a register, by the columns that both have.

    `truth` holds people who are in both: the register's columns, then the release's. Records that
    hide all shared columns may be anybody; the attack is also told without them.
    """
    found = _grey_box(release, register, matchings, truth, show)
    hidden = _hidden(release)
    numbers = {**found.numbers, "suppressed": value("suppressed", _records(release, hidden))}
    if not hidden.any() or hidden.all():
        return replace(found, numbers=numbers)
    part = _grey_box(release.select_cells(~hidden), register, matchings, truth, show)
    return replace(found, numbers=numbers, parts={"without_suppressed": part})


def _grey_box(
    release: Cube,
    register: Cube,
    matchings: Sequence[Matching],
    truth: Cube | None,
    show: bool,
) -> Attack:
    number = candidates(release, register, matchings)
    rows, matched = register.counts, number > 0
    single = int(rows[number == 1].sum())
    numbers = {
        "discrimination_rate": measured("discrimination_rate", record_target(release.counts)),
        "register_discrimination_rate": _narrowed(number, rows, release.records),
        "rows": value("rows", register.records),
        "unmatched": value("unmatched", int(rows[~matched].sum())),
        "single": value("single", single),
        "candidates": value("candidates", None, NO_MATCH),
        "people": value("people", 0),
    }
    worst = None
    if matched.any():
        fewest = int(number[matched].min())
        alike = np.flatnonzero(number == fewest)
        i = int(alike[np.argmax(rows[alike])])
        numbers["candidates"] = value("candidates", fewest)
        numbers["people"] = value("people", int(rows[alike].sum()))
        worst = Group(
            int(rows[i]), {"candidates": value("candidates", fewest)}, _values(register, i, show)
        )
    if truth is not None:
        numbers |= _true(release, matchings, truth, single)
    return Attack(numbers, _found(numbers), worst)


def _hidden(cube: Cube) -> Ints:
    """The cells that hide all columns."""
    found = np.ones(len(cube.counts), dtype=bool)
    for codes, values in zip(cube.codes, cube.values, strict=True):
        found &= np.array([v == ROOT for v in values])[codes]
    return found


def _records(cube: Cube, cells: Ints) -> int:
    return int(cube.counts[cells].sum())


def _narrowed(number: Ints, rows: Ints, records: int) -> Value:
    """The mean over rows with candidates of log2(N/candidates), as a share of log2 N."""
    name, there = "register_discrimination_rate", number > 0
    if records == 1:
        return value(name, None, NOTHING_TO_LEARN)
    if not there.any():
        return value(name, None, NO_MATCH)
    bits = kernel.total(rows[there] * kernel.log2_ratio(number[there], records))
    whole = float(kernel.log2_ratio(np.ones(1, dtype=np.int64), records)[0])
    return value(name, min(1.0, bits / int(rows[there].sum()) / whole))


def _true(
    release: Cube, matchings: Sequence[Matching], truth: Cube, single: int
) -> dict[str, Value]:
    """Rows whose person is in the release: found, mistaken for somebody else, lost."""
    half = len(truth.columns) // 2
    asked, held = (
        Cube(truth.columns[part], truth.codes[part], truth.counts, truth.values[part])
        for part in (slice(half), slice(half, None))
    )
    number = candidates(release, asked, matchings)
    fits = look_up_cells(release, held.codes) > 0  # not left out
    for matching, theirs, own in zip(matchings, asked.codes, held.codes, strict=True):
        fits &= matching.fits(theirs, own)
    right = _records(truth, fits & (number == 1))
    return {
        "known": value("known", truth.records),
        "true_matches": value("true_matches", right),
        "false_matches": value("false_matches", single - right),
        "lost": value("lost", _records(truth, ~fits)),
        "right_guesses": value("right_guesses", kernel.total(truth.counts[fits] / number[fits])),
    }


def _found(numbers: dict[str, Value]) -> str:
    n = {k: v.value or 0 for k, v in numbers.items()}
    rows = plural(int(n["rows"]), "row")
    if numbers["candidates"].value is None:
        return f"None of the {rows} of the register has a candidate in the release."
    if n["single"]:
        has = "has" if n["single"] == 1 else "have"
        text = f"{n['single']:,} of {rows} of the register {has} exactly one candidate."
    else:
        text = (
            f"None of the {rows} of the register has a single candidate; the fewest are "
            f"{n['candidates']:,}, for {plural(int(n['people']), 'row')}."
        )
    if "known" not in n:
        return text
    if n["single"]:
        right, wrong = int(n["true_matches"]), int(n["false_matches"])
        text += f" {_of_these(right)} the right person, {_of_these(wrong)} somebody else."
    return text + (
        f" Of the {n['known']:,} people who are in both, a guess among the candidates finds "
        f"{n['right_guesses']:,.1f} on average."
    )


def _of_these(number: int) -> str:
    return "1 of them is" if number == 1 else f"{number:,} of them are"


# -- white box ------------------------------------------------------------------------------------


def white_box(pairs: Cube, columns: Sequence[str], *, show: bool = False) -> Attack:
    """DR of the original values given the released ones: of all, of each column, of each value.

    `pairs` holds the released columns, then the same columns of the original, side by side.

    >>> texts = [["2*", "3*", ">=40"], ["22", "32", "35", "40", "45", "63"]]
    >>> codes = [[0, 1, 1, 2, 2, 2], [0, 1, 2, 3, 4, 5]]
    >>> ages = Cube.from_cells(["age", "original age"], codes, [3, 1, 2, 1, 1, 1], texts)
    >>> found = white_box(ages, ["age"])
    >>> round(found.numbers["discrimination_rate"].value, 2), found.numbers["people"].value
    (0.66, 3)
    """
    half = len(columns)
    learned = Learned(_original(pairs, columns, range(half)))
    rate = measured("discrimination_rate", learned.target)
    found: dict[str, Column] = {}
    for i, column in enumerate(columns):
        found |= by_column(_original(pairs, [column], [i]), show)
    return Attack(
        {"discrimination_rate": rate, "people": value("people", learned.people())},
        sentence(learned, rate.value, half, ORIGINAL),
        learned.surest_class(show),
        found,
    )


def _original(pairs: Cube, columns: Sequence[str], places: Sequence[int]) -> Cube:
    """Some released columns, and the combination of the same columns of the original as one."""
    half = len(pairs.columns) // 2
    number: Ints = np.zeros(len(pairs.counts), dtype=np.uint64)
    for i in places:
        held = (number << np.uint64(pairs.widths[half + i])) | pairs.codes[half + i]
        number = np.unique(held, return_inverse=True)[1].astype(np.uint64)
    both = Cube(
        (*columns, "original"),
        (*(pairs.codes[i] for i in places), number.astype(np.uint32)),
        pairs.counts,
        (*(pairs.values[i] for i in places), (None,) * (int(number.max()) + 1)),
    )
    return both.roll_up(both.columns)
