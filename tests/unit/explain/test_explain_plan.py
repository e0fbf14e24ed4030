"""The plan of an explanation: its counted work, what is left out, when it is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sievert
from sievert import session
from sievert.commands.explain import plan
from sievert.counts.cube import merge_cells
from sievert.counts.questions import Questions
from sievert.errors import ExhaustedError

WIDE = [f"q{i}" for i in range(250)]


def wide_table(columns: int = 250, records: int = 40) -> dict[str, list[str]]:
    random = Random(columns)
    table = {f"q{i}": random.choices("abcd", k=records) for i in range(columns)}
    return table | {"s": random.choices("xyz", k=records)}


FULL = plan.ExplanationPlan(
    columns=250,
    classes=1000,
    cells=2000,
    words=12,
    ranked=0,
    size=2,
    budget=None,
    orders=16,
    suda_size=2,
    coarser=100,
)


def test_less_and_less_is_measured() -> None:
    """First fewer orders, then smaller subsets, smaller minimal uniques, fewer coarser columns."""
    steps, smaller = [FULL], FULL.smaller()
    while smaller is not None:
        steps.append(smaller)
        smaller = smaller.smaller()
    choices = [(p.orders, p.size, p.suda_size, p.coarser) for p in steps]
    assert choices[:6] == [
        (16, 2, 2, 100),
        (8, 2, 2, 100),
        (4, 2, 2, 100),
        (4, 1, 2, 100),
        (4, 1, 1, 100),
        (4, 1, 0, 100),
    ]
    assert choices[-1] == (4, 1, 0, 0)
    work = [p.work for p in steps]
    assert work == sorted(work, reverse=True)
    for most in (work[0], work[3], work[3] - 1, 0):
        assert FULL.fit(most) == next((p for p in steps if p.work <= most), steps[-1])


def test_what_the_caller_chose_stays() -> None:
    given = replace(FULL, given=frozenset(("max-size", "orders")))
    smallest = given.fit(0)
    assert (smallest.orders, smallest.size, smallest.suda_size) == (16, 2, 2)
    assert smallest.coarser == 0
    few = replace(FULL, budget=50, given=frozenset(("budget",))).fit(0)
    assert (few.budget, few.size, few.orders) == (50, 2, 4)


def test_all_subsets_give_way_to_orders() -> None:
    narrow = replace(FULL, columns=10, size=10, words=1, orders=64, suda_size=10)
    assert narrow.complete
    assert narrow.parts["orders"] == 0
    smaller = narrow.fit(narrow.work // 2)
    assert not smaller.complete
    assert smaller.work <= narrow.work // 2


def test_a_table_that_fits_has_no_plan() -> None:
    found = sievert.explain(wide_table(5), WIDE[:5], ["s"], timeout=1000)
    assert "plan" not in found.to_dict()
    assert not any("reduced" in w for w in found.warnings)


def test_a_wide_table_in_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan is in the JSON and in a remark, and what it says is what was measured."""
    monkeypatch.setattr(plan, "CELLS_PER_SECOND", 10**4)
    found = sievert.explain(wide_table(), WIDE, ["s"], timeout=68)
    data = found.to_dict()
    assert data["plan"]["reduced"] == [
        "4 orders of columns instead of 16",
        "minimal uniques up to 1 column instead of 2",
    ]
    assert sum(data["plan"]["work"].values()) <= data["plan"]["most"] == 680_000
    assert sum(data["plan"]["all"].values()) > 680_000
    assert data["shapley"]["orders"] == 4
    assert data["suda"]["largest_size"] == 1
    # 250 columns alone, 250 sets that lack one, and at most 4 prefixes of each size
    assert data["subsets"]["measured"] <= 6 * 250
    assert any("a reduced explanation" in w for w in found.warnings)
    assert found.to_dict() == sievert.explain(wide_table(), WIDE, ["s"], timeout=68).to_dict()


def test_few_coarser_columns_are_those_that_help_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the last column nobody is unique, without another everybody still is."""
    table = {f"q{i}": [str(j % (60 if i == 3 else 10)) for j in range(60)] for i in range(4)}
    every = sievert.explain(table, list(table), max_size=1, orders=4).columns
    monkeypatch.setattr(plan.ExplanationPlan, "fit", lambda self, _: replace(self, coarser=1))
    few = sievert.explain(table, list(table), max_size=1, orders=4).columns
    assert [len(few[c]["coarser"]) for c in table] == [0, 0, 0, 1]
    assert few["q3"]["coarser"] == every["q3"]["coarser"][:1]
    assert few["q0"]["without"] == every["q0"]["without"]


def test_a_table_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "CELLS_PER_SECOND", 10)
    words = r"250 quasi-identifiers of 40 combinations .* --timeout 30 is for 300\. Try: --timeout"
    with pytest.raises(ExhaustedError, match=words) as refused:
        sievert.explain(wide_table(), WIDE, ["s"], timeout=30)
    assert "fewer -q" in str(refused.value)
    assert refused.value.exit_code == 5
    needed = int(str(refused.value).split("Try: --timeout ")[1].split(",")[0])
    found = sievert.explain(wide_table(), WIDE, ["s"], timeout=needed)
    assert "suda" not in found.chapters
    assert found.whole.reidentification["unique_count"] == 40


@pytest.mark.parametrize("size", [2, None])
@pytest.mark.parametrize("step", ["measuring subsets", "measuring coarser", "searching minimal"])
def test_the_time_is_held_within_a_step(
    step: str, size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that is late from some step on: the next part of that step ends the work."""
    late: list[bool] = []
    clock = SimpleNamespace(monotonic=lambda: math.inf if late else 0.0, perf_counter=lambda: 0.0)
    monkeypatch.setattr(session, "time", clock)
    steps = []

    def watch(begun: str, _work: Any) -> None:
        steps.append(begun)
        late.extend([True] * begun.startswith(step))

    table = {f"q{i}": [str(j % (9 + i)) for j in range(60)] for i in range(3)}
    with pytest.raises(ExhaustedError):
        sievert.explain(table, list(table), max_size=size, timeout=600, watch=watch)
    assert steps[-1].startswith(step)


def test_progress_counts_parts() -> None:
    counter = session.PartCounter(4, math.inf)
    assert counter.progress() == 0.0
    for _ in range(3):
        counter()
    assert counter.progress() == 50.0  # two are done, the third has begun


def test_row_numbers_of_a_wide_table_take_one_join(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    load = Questions.load_table

    def count(self: Questions, columns: Any) -> str:
        loaded.append(len(columns))
        return load(self, columns)

    monkeypatch.setattr(Questions, "load_table", count)
    table = wide_table(60, 30)
    table["q7"][3:5] = [None, None]  # type: ignore[list-item]
    for column in WIDE[:60]:
        table[column][4] = table[column][3]  # a class of two
    found = sievert.explain(table, WIDE[:60], ["s"], max_size=1, orders=4)
    assert loaded == [61]
    riskiest = found.records["riskiest"]
    assert [r["class_size"] for r in riskiest] == [1] * 20
    assert len({r["record"] for r in riskiest} - {4, 5}) == 20


def test_cells_are_merged_whatever_the_number_of_columns() -> None:
    """Against tuples, also where few columns tell all cells apart."""
    rng = np.random.default_rng(3)
    for values, columns in ((2, 100), (4, 60), (1000, 9), (1, 80)):
        table = rng.integers(0, values, (200, columns)).astype(np.uint32)
        table[150:] = table[:50] if values < 1000 else table[150:]
        counts = rng.integers(1, 9, 200)
        width = max(1, values.bit_length())
        first, sums = merge_cells(list(table.T), [width] * columns, counts)
        due: dict[tuple[int, ...], int] = {}
        for row, number in zip(table.tolist(), counts.tolist(), strict=True):
            due[tuple(row)] = due.get(tuple(row), 0) + number
        assert [tuple(row) for row in table[first].tolist()] == sorted(due)
        assert sums.tolist() == [due[row] for row in sorted(due)]


def test_the_page_of_a_wide_table_measures_few_subsets() -> None:
    found = sievert.assess(wide_table(), WIDE, ["s"], explain=True).to_dict()
    explanation = found["explanation"]
    assert explanation["shapley"]["orders"] == 16
    assert explanation["subsets"]["measured"] <= 250 * (16 + 2 + 12)
