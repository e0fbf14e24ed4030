"""Work that is sure to pass --memory is refused before it is begun, with the estimate."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import sievert
from sievert.errors import ExhaustedError
from sievert.numerics import machine
from sievert.sources import isolation

RECORDS = 4_000
TABLE = {
    "age": [str(i % 90) for i in range(RECORDS)],
    "town": [f"t{i % 700}" for i in range(RECORDS)],
    "ill": ["abc"[i % 3] for i in range(RECORDS)],
}
COARSER = {**TABLE, "age": [f"{int(age) // 10}0s" for age in TABLE["age"]]}
WORK: dict[str, tuple[Callable[[], Any], int, str]] = {
    "compare": (
        lambda: sievert.compare(TABLE, COARSER, ["age", "town"], ["ill"], paired=True, shuffles=0),
        150 * RECORDS * 3,
        "4,000 records are compared in memory, 3 columns each: at least ",
    ),
    "attack": (
        lambda: sievert.attack(COARSER, TABLE, ["age", "town"], ["ill"], paired=True),
        100 * RECORDS * 3,
        "4,000 records are searched for in the original, in memory: at least ",
    ),
    "limit": (
        lambda: sievert.randomise(TABLE, ["town"], ["ill"], at=0.1),
        14 * 8 * 700 * 700,
        "700 combinations of an alphabet and as many to release, searched in memory: at least ",
    ),
}


@pytest.fixture
def watched() -> Iterator[Callable[[int], None]]:
    """This process as one that is watched, with a limit."""

    def limit(most: int) -> None:
        isolation._write_slot(isolation.CHILD, str(os.getpid()))
        isolation._write_slot(isolation.MEMORY, str(most))

    yield limit
    for slot in (isolation.CHILD, isolation.MEMORY):
        isolation._write_slot(slot, "")


@pytest.mark.parametrize("name", WORK)
def test_what_is_sure_to_need_more_is_refused_before_the_work(
    name: str, watched: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    work, needed, words = WORK[name]
    held = 100 << 20
    monkeypatch.setattr(machine, "resident_memory", lambda _process: held)
    watched(held + needed - 1)
    with pytest.raises(ExhaustedError) as refused:
        work()
    text = str(refused.value)
    assert text.startswith(words) and "\n" not in text
    assert re.search(r"more than the \d+ MB of --memory\. Try: a larger --memory, ", text)
    assert refused.value.exit_code == 5


def test_what_fits_is_done_and_nothing_is_refused_without_a_limit(
    watched: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    work, needed, _ = WORK["attack"]
    monkeypatch.setattr(machine, "resident_memory", lambda _process: 1 << 20)
    watched((1 << 20) + needed)
    work()
    watched(0)
    isolation.require_memory(1 << 60, "anything", "nothing")
    isolation._write_slot(isolation.MEMORY, "5")
    isolation._write_slot(isolation.CHILD, "")  # in Python nobody watches
    isolation.require_memory(1 << 60, "anything", "nothing")
