"""No loss depends on the order of the records: both tables shuffled, pairs kept together."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

import sievert
from sievert.losses import BY_ID, KINDS
from sievert.losses.loss import GONE, PairedColumn, Release, in_order

RECORDS, QUASI, SECRETS = 300, ("town", "age", "job", "height"), ("ill", "pay")
SORTING = ("model_loss", "gaussian_information", "prediction")


def tables(seed: int) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """An original with more towns than a model tells apart, most of a size, and a release."""
    chance = Random(seed)
    original: dict[str, list[Any]] = {
        "town": [f"t{i % 90}" for i in range(RECORDS)],
        "age": [str(chance.randrange(20, 80)) for _ in range(RECORDS)],
        "job": [chance.choice("abcdefgh") for _ in range(RECORDS)],
        "height": [f"{chance.gauss(170, 9):.3f}" for _ in range(RECORDS)],
        "ill": [chance.choice("uvwxyz") for _ in range(RECORDS)],
        "pay": [f"{chance.gauss(3000, 700):.2f}" for _ in range(RECORDS)],
    }
    release: dict[str, list[Any]] = {
        **original,
        "town": [f"{t[:2]}*" if chance.random() < 0.3 else t for t in original["town"]],
        "age": [f"{a[0]}0-{a[0]}9" for a in original["age"]],
        "job": [j if chance.random() < 0.9 else None for j in original["job"]],
        "height": [f"{float(h) + chance.gauss(0, 3):.3f}" for h in original["height"]],
    }
    return original, release


def shuffled(seed: int, *of: dict[str, list[Any]]) -> list[dict[str, list[Any]]]:
    """The same records of all tables in another order."""
    order = Random(seed).sample(range(RECORDS), RECORDS)
    return [{name: [texts[i] for i in order] for name, texts in each.items()} for each in of]


def coded(texts: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Codes in the order of appearance."""
    names = list(dict.fromkeys(texts))
    place = {text: code for code, text in enumerate(names)}
    return np.array([place[text] for text in texts], dtype=np.int64), names


def paired(original: dict[str, list[Any]], release: dict[str, list[Any]]) -> Release:
    def column(name: str) -> PairedColumn:
        (before, values), (after, labels) = coded(original[name]), coded(release[name])
        after[[i for i, job in enumerate(original["job"]) if job == "h"]] = GONE  # left out
        return PairedColumn(
            name=name, original=before, released=after, values=values, labels=labels
        )

    return Release(quasi=tuple(map(column, QUASI)), secrets=tuple(map(column, SECRETS)), seed=5)


@pytest.mark.parametrize("seed", range(3))
def test_a_loss_depends_on_what_records_say(seed: int) -> None:
    first, second = tables(seed), shuffled(seed, *tables(seed))
    once, again = in_order(paired(*first)), in_order(paired(*second))
    assert in_order(once) is once
    for kind in KINDS:
        assert kind.compute(once) == kind.compute(again), kind.id


@pytest.mark.parametrize("name", SORTING)
def test_a_loss_that_draws_or_cuts_sorts_by_itself(name: str) -> None:
    first, second = tables(7), shuffled(7, *tables(7))
    once, again = (BY_ID[name].compute(paired(*pair)) for pair in (first, second))
    assert once == again and once.value is not None


def test_compare_does_not_depend_on_the_order_of_the_records() -> None:
    first, second = tables(3), shuffled(3, *tables(3))
    once, again = (
        sievert.compare(*pair, QUASI, SECRETS, shuffles=0, paired=True)["release"].losses
        for pair in (first, second)
    )
    assert once == again
