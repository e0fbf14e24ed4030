"""The frontier of all recodings against brute force over all nodes."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from property.test_full_domain import Case

from sievert.methods.full_domain import Search, find_frontier, loops, plain
from sievert.methods.full_domain.frontier import NodeNumbers

TABLES = 40
LEAST = 1e-9  # bits


def by_hand(case: Case) -> dict[tuple[int, ...], tuple[float, float, int]]:
    """Of every node what is disclosed, lost and suppressed, by the definitions."""
    case.loss, allowed, case.allowed = "bits", case.allowed, case.records
    nodes = {}
    for levels in itertools.product(*(range(case.trees[n].height + 1) for n in case.names)):
        labels: list[Any] = case.released(levels)
        classes: dict[Any, list[int]] = {}
        for label, (_, s) in zip(labels, case.rows, strict=True):
            classes.setdefault(label, []).append(s)
        lost, suppressed = case.evaluate(levels) or (math.nan, 0)
        broken = {
            label
            for label, s in classes.items()
            if len(s) < case.k or any(case.breaks(rule, s) for rule in case.rules)
        }
        sizes = Counter(None if label in broken else label for label in labels)
        told = -sum(n / case.records * math.log2(n / case.records) for n in sizes.values())
        nodes[levels] = (told, lost, suppressed)
    case.allowed = allowed
    return nodes


def undominated(nodes: dict[tuple[int, ...], tuple[float, float, int]]) -> set[Any]:
    """The numbers of those that none is better than, to nine digits."""
    points = {(round(told, 9) + 0.0, round(lost, 9) + 0.0) for told, lost, _ in nodes.values()}
    return {
        (a, b)
        for a, b in points
        if not any(x <= a and y <= b and (x, y) != (a, b) for x, y in points)
    }


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "numpy"])
@pytest.mark.parametrize("seed", range(TABLES))
def test_the_frontier_of_all_nodes(
    seed: int, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr(loops, "_compiled", lambda: plain)
    case = Case(7 * seed)  # with and without suppressed records
    nodes = by_hand(case)
    chosen = next(iter(nodes))

    def accept(recoding: Any) -> bool:
        return sum(recoding.levels) % 3 != 1  # what no rule of a class says

    points = find_frontier(case.search(), accept, chosen)
    for point in points:
        told, lost, suppressed = nodes[point.recoding.levels]
        assert point.disclosed == pytest.approx(told, abs=LEAST)
        assert point.lost == pytest.approx(lost, abs=LEAST)
        assert point.recoding.suppressed_records == suppressed
        assert point.meets is (suppressed <= case.allowed and accept(point.recoding))
    assert [p.recoding.levels for p in points if p.chosen] == [chosen]

    def numbers(which: str) -> set[Any]:
        some = [p for p in points if getattr(p, which)]
        return {(round(p.disclosed, 9) + 0.0, round(p.lost, 9) + 0.0) for p in some}

    assert numbers("optimal") == undominated(nodes)
    meeting = {
        levels: n
        for levels, n in nodes.items()
        if n[2] <= case.allowed and sum(levels) % 3 != 1
    }  # fmt: skip
    assert undominated(meeting) <= numbers("meets")


def test_adult(reference: Path) -> None:
    """The information of Adult, and how many of its 4,320 recodings none is better than."""
    from golden.test_arx_optima import EIGHT, LOSS, SECRET, Rule, search

    folder = reference / "data" / "adult"
    whole = search(folder, EIGHT, 1, 0.02, [Rule("distinct", 1)], LOSS)
    secret = whole.secrets[0]
    shares = np.bincount(secret.value, secret.counts) / whole.sums.records
    information = -(shares * np.log2(shares)).sum()
    information -= whole.least_uncertainty[0] / whole.sums.records
    assert information == pytest.approx(2.0392, abs=5e-5)
    for k, number in ((1, 89), (5, 54)):
        again = Search(whole.given, whole.codes, whole.counts, [secret], k=k, secret=SECRET)
        nodes = NodeNumbers(again)
        assert len(nodes.lost) == 4320
        assert len(nodes.undominated(nodes.lost < math.inf)) == number
