"""Laws of explanations on random tables: every subset is the direct count, shares add up."""

from __future__ import annotations

import itertools
import math
from random import Random
from typing import Any

import pytest
from helpers import oracle
from helpers.effort import tried
from helpers.randomtables import case
from test_oracle_agreement import agree

import sievert
from sievert.measurement.combinations import count_combinations
from sievert.measurement.subsets import (
    ABOUT_RECORDS,
    ABOUT_SECRETS,
    Subsets,
)
from sievert.measures import BY_ID
from sievert.session import open_source

TABLES = tried(60, soak=400)
CHUNKS = 10
MONOTONE_RECORDS = [m for m in ABOUT_RECORDS if m != "itpr"]
MONOTONE_SECRETS = [m for m in ABOUT_SECRETS if m != "itpr"]


def nearly(name: str, ours: Any, theirs: Any) -> None:
    """As `agree`; ITPR without the table's profiles is a plain difference: 1e-12 as it stands."""
    if name in ("itpr", "itpr_unnormalized") and not isinstance(theirs, str):
        assert abs(float(ours) - float(theirs)) <= 1e-12, f"{name}: {ours} against {theirs}"
        return
    agree(name, ours, theirs, "H(X) = 0" if ours is None else None)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_subset_is_the_direct_count(chunk: int) -> None:
    for number in range(chunk, TABLES, CHUNKS):
        c = case(Random(10_000 + number))
        found = sievert.explain(c.columns, c.quasi, c.secret)
        sizes = range(1, len(c.quasi) + 1)
        every = [s for n in sizes for s in itertools.combinations(c.quasi, n)]
        assert [s.columns for s in found.subsets] == every
        for subset in found.subsets:
            due = oracle.reidentification(c.rows, subset.columns)
            for name in ABOUT_RECORDS:
                ours = subset.reidentification[name]
                reason = "one record" if name == "separation" else "H(X) = 0"
                agree(name, ours, due[name], reason if ours is None else None)
            due = oracle.inference(c.rows, subset.columns, c.secret)
            for name in ABOUT_SECRETS:
                nearly(name, subset.inference[c.secret][name], due[name])


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_shares_add_up_and_knowing_more_is_never_less(chunk: int) -> None:
    for number in range(chunk, TABLES, CHUNKS):
        chance = Random(20_000 + number)
        columns, records = chance.randint(2, 6), chance.randint(2, 60)
        table = {
            f"q{i}": [f"v{chance.randrange(chance.choice((2, 3, 9)))}" for _ in range(records)]
            for i in range(columns)
        }
        table["s"] = [f"s{chance.randrange(3)}" for _ in range(records)]
        quasi = [c for c in table if c != "s"]
        found = sievert.explain(table, quasi, "s")
        shares = found.chapters["shapley"]
        for risk, numbers in (
            (shares["reidentification"], found.whole.reidentification),
            (shares["inference"]["s"], found.whole.inference["s"]),
        ):
            for name, parts in risk.items():
                if parts["whole"] is None:
                    assert numbers[name] is None
                    continue
                added = math.fsum(p["value"] for p in parts["columns"].values())
                assert added == pytest.approx(parts["whole"], rel=1e-12, abs=1e-14)
                assert parts["whole"] == pytest.approx(numbers[name] or 0, rel=1e-12, abs=1e-14)
        held = {frozenset(s.columns): s for s in found.subsets}
        for key, subset in held.items():
            for more in quasi:
                if more not in key:
                    _never_less(subset, held[key | {more}])
        points = found.chapters["knowledge"]["points"]
        for before, after in itertools.pairwise(points):
            for which in ("min", "mean", "max"):
                small = before["reidentification"]["unique_count"][which]
                assert small <= after["reidentification"]["unique_count"][which]


def _never_less(few: Any, many: Any) -> None:
    chapters = [(few.reidentification, many.reidentification, MONOTONE_RECORDS)]
    chapters += [(few.inference["s"], many.inference["s"], MONOTONE_SECRETS)]
    for less, more, names in chapters:
        for name in names:
            if less[name] is not None:
                sign = 1 if BY_ID[name].riskier == "high" else -1
                assert sign * more[name] >= sign * less[name] - 1e-12, name


@pytest.mark.parametrize("number", range(20))
def test_the_order_of_records_and_columns_does_not_matter(number: int) -> None:
    c = case(Random(30_000 + number))
    chance = Random(number)
    rows = list(c.rows)
    chance.shuffle(rows)
    explained = sievert.explain(c.columns, c.quasi, c.secret)
    one = explained.to_dict()
    other = sievert.explain(c.with_rows(rows).columns, c.quasi, c.secret).to_dict()
    for found in (one, other):
        del found["records"]  # numbers of rows
    assert one == other
    quasi = list(c.quasi)
    chance.shuffle(quasi)
    turned = sievert.explain(c.columns, quasi, c.secret)
    for subset in explained.subsets:
        assert turned.subset(*subset.columns).reidentification == subset.reidentification


@pytest.mark.parametrize("number", range(20))
def test_some_is_all(number: int) -> None:
    """Subsets asked one by one have the numbers of the search for all."""
    c = case(Random(40_000 + number))
    with open_source(c.columns) as (_, questions):
        counted = count_combinations(questions, c.quasi, [c.secret])
    every, single = Subsets(counted), Subsets(counted)
    every.all()
    for subset in every.nonempty:
        ours = single.one(subset.columns)
        assert ours.reidentification == subset.reidentification
        for name, value in ours.inference[c.secret].items():
            due = subset.inference[c.secret][name]
            assert value is due is None or value == pytest.approx(due, rel=1e-12), name
