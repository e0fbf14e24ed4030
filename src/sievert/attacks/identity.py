"""Identity: which record is whose. Three boxes, by what the attacker has besides the release.

Black: nothing but the released columns. Grey: a register that shares some of them. White: the
original values, record by record.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.attack import (
    Attack,
    Column,
    Group,
    Learned,
    by_column,
    certainty_gained,
    list_groups,
    measure_value,
    record_target,
    value,
    values_of,
)
from sievert.attacks.homogeneity import ORIGINAL, sentence
from sievert.attacks.register_matching import (
    Matching,
    candidates,
    look_up_cells,
)
from sievert.counts.cube import Cube
from sievert.formatting import percent, plural
from sievert.formatting.remarks import Remark
from sievert.hierarchies import ROOT
from sievert.losses.loss import combination_codes
from sievert.measures import kernel
from sievert.measures.measure import NOTHING_TO_LEARN, Value

RECORD = "which record is whose"
NO_MATCH = Remark("no_candidate")


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
    rate = measure_value("discrimination_rate", target)
    least = target.smallest_class
    people = int(cube.counts[cube.counts == least].sum())
    columns = {}
    for column in cube.columns:
        alone = cube.roll_up((column,))
        columns[column] = Column(
            measure_value("discrimination_rate", record_target(alone.counts)),
            list_groups(
                alone.counts,
                _rates(alone.counts),
                "discrimination_rate_of_value",
                partial(values_of, alone, show=show),
            ),
        )
    return Attack(
        numbers={
            "discrimination_rate": rate,
            "candidates": value("candidates", least),
            "people": value("people", people),
        },
        reading=_unique_sentence(cube, least, people, rate.value),
        worst=Group(least, {}, values_of(cube, int(np.flatnonzero(cube.counts == least)[0]), show)),
        columns=columns,
    )


def _rates(sizes: Ints) -> Floats | None:
    """1 - h_q/H of every class, the record as the target."""
    records = int(sizes.sum())
    if records == 1 or len(sizes) == 1:
        return None if records == 1 else np.zeros(1)
    left = sizes * kernel.log2_ratio(np.ones_like(sizes), sizes) / records
    return np.clip(1.0 - left / record_target(sizes).entropy, 0.0, 1.0)


def _unique_sentence(cube: Cube, least: int, people: int, rate: float | None) -> str:
    if rate is None:
        return "There is one record: it is found without any attack."
    gone = certainty_gained(len(cube.columns), rate, RECORD)
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
    whole = _grey_box(release, register, matchings, truth, show)
    hidden = release.all_have(release.columns, ROOT)
    numbers = {**whole.numbers, "suppressed": value("suppressed", _records(release, hidden))}
    parts = {}
    if hidden.any() and not hidden.all():
        parts["without_suppressed"] = _grey_box(
            release.select_cells(~hidden), register, matchings, truth, show
        )
    return replace(whole, numbers=numbers, parts=parts)


def _grey_box(
    release: Cube,
    register: Cube,
    matchings: Sequence[Matching],
    truth: Cube | None,
    show: bool,
) -> Attack:
    number = candidates(release, register, matchings)
    rows = register.counts
    matched = number > 0
    single = int(rows[number == 1].sum())
    numbers = {
        "discrimination_rate": measure_value("discrimination_rate", record_target(release.counts)),
        "register_discrimination_rate": _register_rate(number, rows, release.records),
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
        few = {"candidates": value("candidates", fewest)}
        numbers |= {**few, "people": value("people", int(rows[alike].sum()))}
        worst = Group(int(rows[i]), few, values_of(register, i, show))
    if truth is not None:
        numbers |= _true(release, matchings, truth, single)
    return Attack(numbers=numbers, reading=_grey_sentence(numbers), worst=worst)


def _records(cube: Cube, cells: Ints) -> int:
    return int(cube.counts[cells].sum())


def _register_rate(number: Ints, rows: Ints, records: int) -> Value:
    """The mean over rows with candidates of log2(N/candidates), as a share of log2 N."""
    name = "register_discrimination_rate"
    there = number > 0
    if records == 1 or not there.any():
        return value(name, None, NOTHING_TO_LEARN if records == 1 else NO_MATCH)
    bits = kernel.total(rows[there] * kernel.log2_ratio(number[there], records))
    whole = float(kernel.log2_ratio(np.ones(1, dtype=np.int64), records)[0])
    return value(name, min(1.0, bits / int(rows[there].sum()) / whole))


def _true(
    release: Cube, matchings: Sequence[Matching], truth: Cube, single: int
) -> dict[str, Value]:
    """Rows whose person is in the release: found, mistaken for somebody else, lost."""
    half = len(truth.columns) // 2
    theirs = truth.codes[:half]
    own = truth.codes[half:]
    known = Cube(
        columns=truth.columns[:half], codes=theirs, counts=truth.counts, values=truth.values[:half]
    )
    number = candidates(release, known, matchings)
    alike = (m.fits(*codes) for m, *codes in zip(matchings, theirs, own, strict=True))
    fits = np.logical_and.reduce([look_up_cells(release, own) > 0, *alike])  # not left out
    right = _records(truth, fits & (number == 1))
    return {
        "known": value("known", truth.records),
        "true_matches": value("true_matches", right),
        "false_matches": value("false_matches", single - right),
        "lost": value("lost", _records(truth, ~fits)),
        "right_guesses": value("right_guesses", kernel.total(truth.counts[fits] / number[fits])),
    }


def _grey_sentence(numbers: dict[str, Value]) -> str:
    n = {k: v.value or 0 for k, v in numbers.items()}
    rows = plural(int(n["rows"]), "row")
    if numbers["candidates"].value is None:
        return f"None of the {rows} of the register has a candidate in the release."
    has = "has" if n["single"] == 1 else "have"
    text = (
        f"{n['single']:,} of {rows} of the register {has} exactly one candidate."
        if n["single"]
        else f"None of the {rows} of the register has a single candidate; the fewest are "
        f"{n['candidates']:,}, for {plural(int(n['people']), 'row')}."
    )
    if "known" not in n:
        return text
    if n["single"]:
        right = int(n["true_matches"])
        wrong = int(n["false_matches"])
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
    learned = Learned(_original(pairs, columns, range(len(columns))))
    rate = measure_value("discrimination_rate", learned.target)
    return Attack(
        numbers={"discrimination_rate": rate, "people": value("people", learned.people())},
        reading=sentence(learned, rate.value, len(columns), ORIGINAL),
        worst=learned.surest_class(show),
        columns={
            column: by_column(_original(pairs, [column], [i]), show)[column]
            for i, column in enumerate(columns)
        },
    )


def _original(pairs: Cube, columns: Sequence[str], places: Sequence[int]) -> Cube:
    """Some released columns, and the combination of the same columns of the original as one."""
    number = combination_codes([pairs.codes[len(pairs.columns) // 2 + i] for i in places])
    both = Cube(
        columns=(*columns, "original"),
        codes=(*(pairs.codes[i] for i in places), number.astype(np.uint32)),
        counts=pairs.counts,
        values=(*(pairs.values[i] for i in places), (None,) * (int(number.max()) + 1)),
    )
    return both.roll_up(both.columns)
