"""`compare` against a slow oracle in fractions and 50 digits, on random small tables."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest
from helpers import comparisonoracle as oracle
from helpers.effort import tried

import sievert
from sievert.commands.compare import ranking

CASES = tried(36, soak=480)
EXACT = 1e-11


def table(rows: list[dict[str, Any]], columns: list[str]) -> dict[str, list[Any]]:
    return {c: [row.get(c) for row in rows] for c in columns}


def close(ours: float, theirs: Any) -> bool:
    return math.isclose(ours, float(theirs), rel_tol=EXACT, abs_tol=EXACT)


def same(ours: Any, theirs: dict[str, Any], where: str) -> None:
    """One estimate against the oracle's dict."""
    assert close(ours.value, theirs["plugin"]), where
    assert close(ours.chance, theirs["chance"]), where
    assert close(ours.corrected, theirs["corrected"]), where
    assert close(ours.miller_madow, theirs["miller_madow"]), where


@cache
def compared(seed: int) -> sievert.Comparison:
    """The comparison of a random case, made once for all that is asked of it."""
    case = oracle.random_case(seed)
    quasi, secrets = case["quasi"], case["secrets"]
    columns = ["id", *quasi, *secrets]
    return sievert.compare(
        table(case["original"], columns),
        {"release": table(case["release"], columns)},
        quasi,
        secrets,
        key="id",
        hierarchies=case["hierarchies"],
        shuffles=0,
        bins=dict.fromkeys((*quasi, *secrets), 0),
    )


@pytest.mark.parametrize("part", range(4))
def test_informations(part: int) -> None:
    looked = 0
    for seed in range(part, CASES, 4):
        case = oracle.random_case(seed)
        if all(p is None for p in case["pairs"]):
            continue
        found = compared(seed)["release"].disclosed
        given = case["original"], case["release"], case["pairs"]
        quasi = case["quasi"]
        where = f"seed {seed}"
        same(found.identity.whole, oracle.identity_disclosure(*given, quasi), where)
        for column in quasi:
            theirs = oracle.identity_disclosure(*given, [column])
            same(found.identity.columns[column], theirs, f"{where}, {column}")
        for secret in case["secrets"]:
            bits = found.attribute[secret]
            same(bits.whole, oracle.attribute_disclosure(*given, quasi, secret), where)
            same(found.loss[secret].whole, oracle.information_loss(*given, quasi, secret), where)
            for column in quasi:
                theirs = oracle.information_loss(*given, [column], secret)
                same(found.loss[secret].columns[column], theirs, f"{where}, {column}")
            after = oracle.released_keys(case["release"], case["pairs"], quasi)
            secrets = [row[secret] for row in case["original"]]
            farthest = max(oracle.t_by_class(after, secrets).values())
            assert close(bits.t_closeness, farthest), where
            assert close(bits.floor, oracle.information_floor(after, secrets)), where
            assert bits.floor <= bits.whole.value + EXACT
            if case["function"]:
                assert found.loss[secret].whole.value >= -EXACT
        looked += 1
    assert looked > CASES // 5


@pytest.mark.parametrize("part", range(4))
def test_losses(part: int) -> None:
    """The losses whose reading leaves no choice."""
    for seed in range(part, CASES, 4):
        case = oracle.random_case(seed)
        if all(p is None for p in case["pairs"]):
            continue
        losses = compared(seed)["release"].losses
        given = case["original"], case["release"], case["pairs"]
        quasi, ladders = case["quasi"], case["hierarchies"]
        where = f"seed {seed}"
        assert losses["discernability"].value == oracle.discernability(*given, quasi), where
        theirs = oracle.average_class_size(*given, quasi)
        ours = losses["average_class_size"].value
        assert (ours is None) == (theirs is None), where
        assert ours is None or close(ours, theirs), where
        apart = oracle.hellinger_margins(*given, [*quasi, *case["secrets"]])
        ours = losses["hellinger_margins"].value
        assert ours is not None
        assert close(ours, sum(apart.values()) / len(apart)), where
        if all(c in ladders for c in quasi):
            ours = losses["generalization_loss"].value
            assert ours is not None
            assert close(ours, oracle.generalization_loss(*given, quasi, ladders)), where


def test_dominated_and_ranked() -> None:
    from random import Random

    random = Random(1)
    for _ in range(200):
        points = [[random.randrange(4) for _ in range(3)] for _ in range(random.randrange(1, 7))]
        named = {str(i): tuple(map(float, p)) for i, p in enumerate(points)}
        found = ranking.dominating(named)
        assert [bool(found[str(i)]) for i in range(len(points))] == oracle.dominated(points)
        one, two = ([random.randrange(5) for _ in range(6)] for _ in range(2))
        ours, theirs = ranking.rank_correlation(one, two), oracle.spearman(one, two)
        assert (ours is None) == (theirs is None)
        assert ours is None or close(ours, theirs)
