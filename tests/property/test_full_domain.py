"""The exact search for a full-domain recoding against brute force over all nodes."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from sievert.hierarchies import Hierarchy
from sievert.methods.full_domain import plain
from sievert.methods.full_domain.columns import LevelledColumn
from sievert.methods.full_domain.loops import MOST_TALLIES, MOST_VALUES, Loops
from sievert.methods.full_domain.losses import LOSSES
from sievert.methods.full_domain.rules import KINDS as OF_SECRETS
from sievert.methods.full_domain.rules import Rule
from sievert.methods.full_domain.search import Search, SecretCells

TABLES = 300
KINDS = ("size", *OF_SECRETS)
# Every limit with every loss, without suppressed records and with some.
PAIRS = list(itertools.product((False, True), KINDS, LOSSES))
MISSING = 0  # the number of the missing secret, in half of the tables


def random_hierarchy(random: Random, values: list[str]) -> Hierarchy:
    """Values merged at random, level by level, up to one root."""
    groups = [[v] for v in values]
    labels: dict[str, list[str]] = {v: [] for v in values}
    for level in range(random.randint(0, 2)):
        random.shuffle(groups)
        size = max(1, math.ceil(len(groups) / 2))
        merged = [functools.reduce(operator.iadd, groups[i::size], []) for i in range(size)]
        for number, group in enumerate(merged):
            for v in group:
                labels[v].append(f"{level}.{number}")
        groups = merged
    return Hierarchy({v: (*own, "*") for v, own in labels.items()})


class Case:
    """A random table with hierarchies, rules and a budget, and its answer by brute force."""

    def __init__(self, seed: int) -> None:
        random = self.random = Random(f"full domain {seed}")
        self.pair = PAIRS[seed] if seed < len(PAIRS) else None
        self.records = random.choice((12, 30, 60) if self.pair else (1, 5, 12, 30, 60))
        self.names = [f"q{j}" for j in range(random.randint(1, 3))]
        self.trees, self.rows = {}, []
        for name in self.names:
            values = [f"v{i}" for i in range(random.randint(1, 5))]
            self.trees[name] = random_hierarchy(
                random, [*values, "never"][: len(values) + random.randint(0, 1)]
            )
        m = random.randint(2 if self.pair else 1, 4)
        for _ in range(self.records):
            row = tuple(random.choice(list(self.trees[n].labels)[:5]) for n in self.names)
            self.rows.append((row, min(random.randrange(m), random.randrange(m))))
        self.values = m
        sizes, shares = (1, 2, 3, 5), (0.0, 0.0, 0.1, 0.3)
        kind = None
        if self.pair is not None:
            shares = (0.1, 0.3) if self.pair[0] else (0.0,)
            kind = self.pair[1]
            sizes = (2, 3, 5) if kind == "size" else (1, 1, 2)
        self.k = random.choice(sizes)
        self.allowed = int(self.records * random.choice(shares))
        lacking = random.random() < 0.4 or (kind or "").endswith("_known")
        self.missing = MISSING if lacking else -1
        self.tree = np.array([range(m), [i // 2 for i in range(m)]])
        self.rules = tuple(self._rule() for _ in range(random.choice((0, 1, 1, 2))))
        self.loss = random.choice(LOSSES)
        if self.pair is not None:
            self.rules = () if kind == "size" else (self._rule(kind),)
            self.loss = self.pair[2]
        self.weights = [random.choice((1.0, 1.0, 2.5)) for _ in self.names]

    def _rule(self, kind: str | None = None) -> Rule:
        random, kind = self.random, kind or self.random.choice(KINDS[1:])
        if self.missing < 0 and kind.endswith("_known"):
            kind = "confidence"
        if kind in ("distinct", "distinct_known"):
            return Rule(kind, random.randint(1, 3))
        if kind.startswith("entropy"):
            return Rule(kind, random.choice((1.2, 1.5, 2.0)))
        if kind.startswith("recursive"):
            return Rule(kind, random.choice((1.0, 2.0, 4.0)), random.randint(1, 3))
        if kind == "enhanced":  # the last one leaves all to -ln p(s)
            return Rule(kind, random.choice((0.3, 0.7, 1.5, 10.0)))
        if kind in ("delta", "delta_present", "beta"):
            return Rule(kind, random.choice((0.3, 0.7, 1.5)))
        value = random.randrange(self.values)
        if kind == "named_known" and value == self.missing:
            value = self.values - 1
        return Rule(kind, random.choice((0.2, 0.4, 0.6, 0.8)), value)

    # -- ours ----------------------------------------------------------------------------------

    def search(self, uncompiled: int = 0) -> Search:
        columns, codes = [], []
        for j, name in enumerate(self.names):
            texts = sorted({row[j] for row, _ in self.rows}, reverse=True)
            column, numbers = LevelledColumn.of_values(name, texts, self.trees[name])
            number_of = dict(zip(texts, numbers.tolist(), strict=True))
            columns.append(column)
            codes.append([number_of[row[j]] for row, _ in self.rows])
        table = np.array(codes).T
        distinct, inverse, counts = np.unique(
            table, axis=0, return_inverse=True, return_counts=True
        )
        pairs = np.stack([inverse.ravel(), [s for _, s in self.rows]], axis=1)
        cells, cell_counts = np.unique(pairs, axis=0, return_counts=True)
        secret = SecretCells(
            name="s",
            combination=cells[:, 0],
            value=cells[:, 1],
            counts=cell_counts,
            values=self.values,
            rules=self.rules,
            tree=self.tree,
            missing=self.missing,
        )
        return Search(
            columns, distinct, counts, [secret], k=self.k, suppress=self.allowed, loss=self.loss,
            secret="s", weights=self.weights, uncompiled=uncompiled,
        )  # fmt: skip

    # -- by the definitions -----------------------------------------------------------------------

    def released(self, levels: tuple[int, ...]) -> list[tuple[str, ...]]:
        return [
            tuple(self.trees[n].at(v, x) for n, v, x in zip(self.names, row, levels, strict=True))
            for row, _ in self.rows
        ]

    def breaks(self, rule: Rule, secrets: list[int]) -> bool:
        whole = [s for _, s in self.rows]
        known = [s for s in secrets if s != self.missing]
        if rule.kind.endswith("_known"):
            rule = replace(rule, kind=rule.kind.removesuffix("_known"))
            if rule.kind == "distinct":
                return len(set(known)) < rule.limit
            if not known:
                return False
            secrets, whole = known, [s for s in whole if s != self.missing]
        n, own = len(secrets), Fraction
        base = {s: own(whole.count(s), len(whole)) for s in range(self.values)}
        here = {s: own(secrets.count(s), n) for s in range(self.values)}
        limit = rule.limit
        if rule.kind == "distinct":
            return len(set(secrets)) < limit
        if rule.kind == "entropy":
            entropy = -math.fsum(float(p) * math.log(p) for p in here.values() if p)
            return entropy < math.log(limit) - 1e-12
        if rule.kind == "confidence":
            return float(max(here.values())) > limit
        if rule.kind == "named":
            return float(here[rule.value]) > limit
        if rule.kind == "gain":
            gains = [(here[s] - base[s]) / (1 - base[s]) for s in base if base[s] < 1]
            return float(max([own(0), *gains])) > limit
        if rule.kind == "beta":
            return (
                float(max([own(0), *((here[s] - base[s]) / base[s] for s in base if base[s])]))
                > limit
            )
        if rule.kind == "enhanced":
            return any(
                float((here[s] - base[s]) / base[s]) > min(limit, -math.log(base[s]))
                for s in base
                if base[s]
            )
        if rule.kind == "equal_t":
            return float(sum(abs(here[s] - base[s]) for s in base) / 2) > limit
        if rule.kind == "ordered_t":
            if self.values == 1:
                return limit < 0
            ahead = list(itertools.accumulate(here[s] - base[s] for s in range(self.values)))
            return float(sum(map(abs, ahead[:-1]), own(0)) / (self.values - 1)) > limit
        if rule.kind == "tree_t":
            distances = []
            for labels in self.tree.tolist():
                e: dict[int, Fraction] = {}
                for s, label in enumerate(labels):
                    e[label] = e.get(label, own(0)) + here[s] - base[s]
                distances.append(sum(abs(x) for x in e.values()) / 2)
            return float(sum(distances) / len(distances)) > limit
        if rule.kind == "recursive":
            r = sorted((secrets.count(s) for s in set(secrets)), reverse=True)
            rest = sum(r[rule.value - 1 :])
            return rest == 0 or r[0] / rest >= limit
        present = [s for s in base if base[s]]
        if rule.kind == "delta" and any(not here[s] for s in present):
            return True
        return max(abs(math.log(here[s] / base[s])) for s in present if here[s]) > limit + 1e-12

    def evaluate(self, levels: tuple[int, ...]) -> tuple[float, int] | None:
        """The loss and the suppressed records of a node; None if it suppresses too many."""
        labels = self.released(levels)
        classes: dict[tuple[str, ...], list[int]] = {}
        for label, (_, s) in zip(labels, self.rows, strict=True):
            classes.setdefault(label, []).append(s)
        bad = {
            c for c, s in classes.items()
            if len(s) < self.k or any(self.breaks(rule, s) for rule in self.rules)
        }  # fmt: skip
        suppressed = sum(len(classes[c]) for c in bad)
        if suppressed > self.allowed:
            return None
        return self.lost(levels, labels, classes, bad), suppressed

    def lost(self, levels: Any, labels: Any, classes: Any, bad: Any) -> float:
        total = sum(self.weights)
        if self.loss == "discernability":
            return sum(
                len(s) * self.records if c in bad else len(s) ** 2 for c, s in classes.items()
            )
        if self.loss == "bits":

            def information(groups: list[list[int]]) -> float:
                return (
                    -sum(math.log2(g.count(s) / len(g)) for g in groups for s in g) / self.records
                )

            whole: dict[Any, list[int]] = {}
            for row, s in self.rows:
                whole.setdefault(row, []).append(s)
            kept = [s for c, s in classes.items() if c not in bad]
            gone = [s for c in bad for s in classes[c]]
            return information(kept + [gone] * bool(gone)) - information(list(whole.values()))
        if self.loss == "entropy":
            bits = 0.0
            for j in range(len(self.names)):
                for (row, _), label in zip(self.rows, labels, strict=True):
                    same = sum(r[j] == row[j] for r, _ in self.rows)
                    bits += math.log2(sum(x[j] == label[j] for x in labels) / same)
            return bits
        means = []
        for j, name in enumerate(self.names):
            tree, cells = self.trees[name], []
            for label in labels:
                below = sum(tree.at(v, levels[j]) == label[j] for v in tree.labels)
                if self.loss == "certainty_penalty":
                    share = below / len(tree.labels) if below > 1 else 0.0
                else:
                    share = (below - 1) / max(len(tree.labels) - 1, 1)
                cells.append(1.0 if label in bad else share)
            means.append(sum(cells) / self.records)
        if self.loss == "generalization_loss":
            return (
                math.prod((1 + m) ** (w / total) for m, w in zip(means, self.weights, strict=True))
                - 1
            )
        return sum(m * w for m, w in zip(means, self.weights, strict=True)) / total


def test_every_limit_meets_every_loss() -> None:
    """Among the random tables, with and without suppressed records; most can be released."""
    cases = [Case(seed) for seed in range(TABLES)]
    kinds = {
        (case.allowed > 0, rule.kind, case.loss)
        for case in cases
        for rule in (*case.rules, *([Rule("size", case.k)] if case.k > 1 else []))
    }
    assert kinds == {*PAIRS} and len(PAIRS) <= TABLES
    assert sum(case.search().run() is not None for case in cases) > TABLES / 2


@pytest.mark.parametrize("uncompiled", [0, 20_000, 10**9], ids=["compiled", "both", "numpy"])
@pytest.mark.parametrize("seed", range(TABLES))
def test_the_best_of_all_nodes(seed: int, uncompiled: int) -> None:
    """The search finds what brute force finds, whatever it leaves out."""
    case = Case(seed)
    every = itertools.product(*(range(case.trees[n].height + 1) for n in case.names))
    outcomes = {levels: found for levels in every if (found := case.evaluate(levels))}
    result = case.search(uncompiled).run()
    if not outcomes:
        assert result is None
        return
    assert result is not None
    least = min(loss for loss, _ in outcomes.values())
    loss, suppressed = outcomes[result.levels]
    assert loss == pytest.approx(least, rel=1e-8, abs=1e-8)
    assert result.loss == pytest.approx(loss, rel=1e-9, abs=1e-9)
    assert result.suppressed_records == suppressed
    assert result.proven and result.bound == result.loss


def test_when_compiled_loops_are_loaded() -> None:
    """By the cells that were scanned, so that the same table has the same answer; or at once."""
    search = Case(0).search(uncompiled=1)
    assert search.kernels is plain
    search.run()
    assert search.kernels is not plain
    assert Loops(1, MOST_TALLIES).kernels is plain
    assert Loops(1, MOST_TALLIES + 1).kernels is not plain
    assert Loops(0, 1).kernels is not plain
    assert Loops(1, 1, MOST_VALUES).kernels is plain
    assert Loops(1, 1, MOST_VALUES + 1).kernels is not plain


def average_risk(classes: list[list[int]]) -> float:
    return len(classes) / max(1, sum(map(len, classes)))


def unique_records(classes: list[list[int]]) -> float:
    return sum(len(c) == 1 for c in classes) / max(1, sum(map(len, classes)))


def mutual_information(classes: list[list[int]]) -> float:
    """I(X';Y) of what is released, in bits per record."""
    every = [s for c in classes for s in c]

    def bits(values: list[int]) -> float:
        return -sum(math.log2(values.count(s) / len(values)) for s in values)

    return (bits(every) - sum(map(bits, classes))) / max(1, len(every))


WHOLE = {average_risk: 0.3, unique_records: 0.05, mutual_information: 0.2}


@pytest.mark.parametrize("whole", WHOLE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("loss", LOSSES)
def test_limits_on_the_table_as_a_whole(whole: Any, loss: str) -> None:
    """What no rule for a class says is asked of each release: with and without suppression."""
    for seed in (*range(4), *range(len(PAIRS) // 2, len(PAIRS) // 2 + 4)):
        case = Case(seed)
        case.loss = loss

        def accept(levels: tuple[int, ...], case: Case = case) -> bool:
            classes: dict[Any, list[int]] = {}
            for label, (_, s) in zip(case.released(levels), case.rows, strict=True):
                classes.setdefault(label, []).append(s)
            kept = [s for s in classes.values() if len(s) >= case.k]
            return bool(whole([s for s in kept if s]) <= WHOLE[whole])

        every = itertools.product(*(range(case.trees[n].height + 1) for n in case.names))
        losses = [found[0] for x in every if accept(x) and (found := case.evaluate(x))]
        result = case.search().run(lambda r, accept=accept: accept(r.levels))  # type: ignore[misc]
        assert (result is None) is (not losses)
        if result is not None:
            assert result.loss == pytest.approx(min(losses), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("seed", range(0, TABLES, 6))
def test_a_search_that_is_stopped_says_how_much_better_it_could_be(seed: int) -> None:
    """Whenever it ends: the bound is no more than the optimum, which is no more than its loss."""
    case = Case(seed)
    search = case.search()
    best = search.run()
    assert search.finished
    for cells in (1, 20, 100, 6_000, 20_000):
        early = search.run(cells=cells)
        if early is None:
            assert best is None or not search.finished
            continue
        assert best is not None and early.proven is search.finished
        assert early.bound <= best.loss * (1 + 1e-9) <= early.loss * (1 + 2e-9)
        assert not early.proven or early.loss == pytest.approx(best.loss, rel=1e-9)
    assert search.run(seconds=0.0) is None and (best is None or not search.finished)
