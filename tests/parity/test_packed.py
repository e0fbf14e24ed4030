"""Packed keys, NumPy and the engine's SQL give the same result, to the last bit."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests import randomtables

import sievert
from sievert import session
from sievert.commands.explain import api as explanation
from sievert.counts.coded import CodedQuestions
from sievert.counts.packed import adapter as packed
from sievert.counts.packed import keys as packed_keys
from sievert.counts.packed import sources as packed_sources
from sievert.counts.questions import Questions

SPREAD = {"tiny": 2, "some": 40, "many": 3000}


def both(data: Any, monkeypatch: pytest.MonkeyPatch, *roles: Any, **options: Any) -> dict[str, Any]:
    """The result of packed keys, after it was compared with those of NumPy and the engine's SQL."""
    results = []
    for small, large in ((0, 10**12), (10**12, 10**12), (0, 0)):
        monkeypatch.setattr(session, "SMALL", small)
        monkeypatch.setattr(session, "LARGE", large)
        results.append(sievert.assess(data, *roles, **options).to_dict())
    sql, coded, packed = (json.dumps(result, sort_keys=True) for result in results)
    assert sql == coded
    assert sql == packed
    return results[-1]


def random_table(random: Random) -> pa.Table:
    """Numbers, dates, text and booleans, some missing, in few or many classes."""
    records = random.choice((1, 7, 300, 2500))
    spread = SPREAD[random.choice(list(SPREAD))]
    lacking = random.choice((0.0, 0.0, 0.2))
    day = datetime.date(2020, 2, 28)

    def column(make: Any) -> list[Any]:
        return [None if random.random() < lacking else make() for _ in range(records)]

    kinds: dict[str, Any] = {
        "number": lambda: random.randint(-5, spread),
        "far": lambda: random.choice((-(2**40), 0, 3)) + random.randint(0, spread),
        "text": lambda: f"é{random.randint(0, spread)}",
        "day": lambda: day + datetime.timedelta(days=random.randint(0, spread)),
        "flag": lambda: random.random() < 0.3,
        "same": lambda: 5,
    }
    return pa.table(
        {
            **{name: column(make) for name, make in kinds.items()},
            "secret": column(lambda: f"s{min(random.randint(0, 9), random.randint(0, 9))}"),
            "amount": column(lambda: random.randint(0, 5) ** 2),
            "real": column(random.random),
        }
    )


@pytest.mark.parametrize("seed", range(60))
def test_random_tables(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    table = random_table(random)
    path = tmp_path / "t.parquet"
    dictionary = random.random() < 0.7
    parquet.write_table(
        table, path, row_group_size=random.choice((100, 1000, 10**6)), use_dictionary=dictionary
    )
    quasi = random.sample(table.column_names[:6], random.randint(1, 5))
    data: Any = path if random.random() < 0.7 else table
    if random.random() < 0.3:  # keys that are too long to be counted into an array
        monkeypatch.setattr(packed_keys, "DENSE", 3)
    if random.random() < 0.5:  # nothing known of the texts before they are read
        monkeypatch.setattr(packed_sources.ParquetSource, "texts", lambda *_: [])
    threads = random.choice((1, 2, 3))
    both(data, monkeypatch, quasi, ["secret", "amount"], threads=threads)
    cubes, rows = [], []
    for small, large, kind in (
        (0, 10**12, Questions),
        (10**12, 10**12, CodedQuestions),
        (0, 0, packed.PackedQuestions),
    ):
        monkeypatch.setattr(session, "SMALL", small)
        with session.open_source(data, large=large, threads=threads) as (_, questions):
            assert type(questions) is kind
            cubes.append(questions.cube([*quasi, "secret"]))
            rows.append(questions.records_in_order(["real", *quasi]))
    for first, *others in (cubes, rows):
        for other in others:
            assert first.values == other.values
            assert first.counts.tolist() == other.counts.tolist()
            assert [c.tolist() for c in first.codes] == [c.tolist() for c in other.codes]


@pytest.mark.parametrize("seed", range(40))
def test_random_tables_with_everything(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Orders, hierarchies, partitions and named values, which the engine answers."""
    case = randomtables.case(Random(seed))
    path = tmp_path / "t.parquet"
    text = {name: pa.array(values, pa.string()) for name, values in case.columns.items()}
    parquet.write_table(pa.table(text), path)
    both(
        path,
        monkeypatch,
        list(case.quasi),
        [case.secret],
        orders={case.secret: case.order},
        partitions={case.secret: case.partition},
        hierarchies={case.secret: {k: v for k, v in case.ladder.items() if k is not None}},
        parameters={"alpha_k": {"value": case.named}, "recursive_c": {"l": case.l}},
    )
    for missing in ("drop", "wildcard"):
        try:
            both(path, monkeypatch, list(case.quasi), [case.secret], missing=missing)
        except sievert.SievertError as error:
            assert "nothing is left" in str(error)


@pytest.mark.parametrize("seed", range(16))
def test_suppressed_records(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random, mark = Random(f"suppressed {seed}"), ("*", "it's", "a", None)[seed % 4]
    case = randomtables.mark_suppressed(randomtables.case(random), random, mark)
    path = tmp_path / "t.parquet"
    text = {name: pa.array(values, pa.string()) for name, values in case.columns.items()}
    number = pa.array([random.randint(0, 2) for _ in case.rows])
    person = pa.array([random.choice(("p1", "p2", "p3", None)) for _ in case.rows])
    parquet.write_table(pa.table({**text, "number": number, "person": person}), path)
    quasi = list(case.quasi)
    for roles in ((quasi, [case.secret]), (quasi, []), (["number", *quasi], [case.secret])):
        for kept in (False, True):
            try:
                found = both(path, monkeypatch, *roles, suppressed=mark, keep_suppressed=kept)
            except sievert.SievertError as error:
                assert "nothing is left" in str(error)
                continue
            by_hand = sum(all(row.get(q, 0) == mark for q in roles[0]) for row in case.rows)
            assert found["table"]["suppressed"] == by_hand
            assert found["table"]["rows"] == len(case.rows) - (0 if kept else by_hand)
            options: dict[str, Any] = {"suppressed": mark, "keep_suppressed": kept}
            people = both(path, monkeypatch, *roles, person="person", **options)
            assert people["reidentification"]["suppressed_records"]["value"] == by_hand
            assert people["reidentification"]["suppressed_records"]["unit"] == "records"


def test_what_cannot_be_packed_is_left_to_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = random_table(Random(5))
    asked: list[Any] = []
    count = packed.count_keys
    monkeypatch.setattr(packed, "count_keys", lambda *given: asked.append(given) or count(*given))
    both(table, monkeypatch, ["real"], ["secret"])  # floats
    assert not asked
    both(table, monkeypatch, ["secret"], ["secret"])  # one column in two roles
    asked.clear()
    both(table, monkeypatch, ["number"], ["secret"])
    assert asked
    names = {f"far{i}": [0, 2**40] * 600 for i in range(3)}  # 123 bits
    wide = pa.table({**names, "secret": ["a", "b", "b"] * 400})
    both(wide, monkeypatch, list(names), ["secret"])
    monkeypatch.setattr(session, "SHARE", 0.0)  # no room at all
    monkeypatch.setattr(packed_keys, "DENSE", 0)
    both(table, monkeypatch, ["number"], ["secret"])


def test_statistics_that_lie_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [1, 2, 3, 4], "s": ["x", "y", "y", "x"]}), path)
    monkeypatch.setattr(packed_sources.ParquetSource, "range", lambda *_: (2, 3))
    both(path, monkeypatch, ["a"], ["s"])


def test_counting_once_for_each_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the record's measures nor the look at the values read the table again."""
    times: list[int] = []
    count = packed.count_keys
    monkeypatch.setattr(packed, "count_keys", lambda *given: times.append(1) or count(*given))
    monkeypatch.setattr(session, "LARGE", 0)
    sievert.assess(random_table(Random(1)), ["number", "text"], ["secret", "amount"])
    assert len(times) == 2


def test_a_stopped_count_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: packed.PackedQuestions, *_: Any) -> None:
        self.interrupt()
        return count(self, *_)

    count = packed.PackedQuestions._count
    monkeypatch.setattr(packed.PackedQuestions, "_count", stop)
    monkeypatch.setattr(session, "LARGE", 0)
    with pytest.raises(sievert.SievertError, match="stopped before"):
        sievert.assess(random_table(Random(1)), ["number"], ["secret"])


def test_explain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(random_table(Random(8)), path)
    found = []
    for large in (10**12, 0):
        monkeypatch.setattr(explanation, "LARGE", large)
        explained = sievert.explain(path, ["number", "text", "day", "flag"], ["secret"])
        found.append(json.dumps(explained.to_dict(), sort_keys=True))
    assert found[0] == found[1]
