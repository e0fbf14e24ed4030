"""Reasoning through the public door, against every table that a small release allows."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest
from helpers import reasoningoracle as oracle
from helpers.effort import tried

import sievert
from sievert.attacks.reasoning import posterior
from sievert.attacks.reasoning.horizontal import release as horizontal
from sievert.attacks.reasoning.vertical import release as vertical

MOST = 400
CLOSE = 1e-10
SHAPES = ("plain", "nested", "disjoint", "alike", "single")
LIKELIHOODS = ("product", "saturated")
EVEN = range(tried(1, soak=4))  # seeds of releases with weights 1
UNEVEN = range(100, tried(101, soak=103))  # and with others
WEIGHTS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 2), Fraction(2), Fraction(7))


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn by chance is not looked at: little of it will do."""
    monkeypatch.setattr(posterior, "DRAWS", 100)
    monkeypatch.setattr(horizontal, "MOST_PRINTED", 0)
    monkeypatch.setattr(vertical, "MOST_PRINTED", 0)


def about(value: Any) -> Any:
    return pytest.approx(float(value), rel=CLOSE, abs=CLOSE)


def asked(kind: str, case: dict[str, Any]) -> Any:
    tables = ("release",) if kind == "horizontal" else ("quasi_table", "sensitive_table")
    parts = tuple(case[name] for name in tables)
    return parts[0] if len(parts) == 1 else parts


def reasoned(kind: str, case: dict[str, Any], **options: Any) -> Any:
    return sievert.attack(
        asked(kind, case),
        original=case["original"],
        quasi=case["quasi"],
        sensitive=case["secret"],
        domain=case["domain"],
        threads=1,
        **options,
    )


def agree(found: Any, kind: str, case: dict[str, Any], **model: Any) -> None:
    """Beliefs, population, who is right and by how much: all as the oracle has them."""
    likelihood = model.get("likelihood", "product")
    groups, domains, truth = case["groups"], case["domains"], case["truth"]
    victims = list(dict.fromkeys(values for _, values in truth))
    call = oracle.horizontal if kind == "horizontal" else oracle.vertical
    beliefs: Any = call(groups, domains, victims, **model)
    assert set(found.beliefs) == set(victims)
    for victim in victims:
        held = found.beliefs[victim]
        for who in ("attacker", "learner"):
            assert held[who] == {s: about(p) for s, p in beliefs[victim][who].items()}
    means(found.population, oracle.population(kind, groups, domains, **model), case, likelihood)
    risk, result = oracle.risk(truth, beliefs), found.to_dict()
    numbers = result["attacks"]["reasoning"]["s"]
    many = len(truth)
    assert result["attacker_accuracy"] == about(risk["attacker_fractional"] / many)
    assert result["learner_accuracy"] == about(risk["learner_fractional"] / many)
    assert numbers["attacker_accuracy_literal"]["value"] == about(
        Fraction(risk["attacker_literal"], many)
    )
    assert numbers["learner_accuracy_literal"]["value"] == about(
        Fraction(risk["learner_literal"], many)
    )
    assert numbers["at_risk"]["value"] == risk["attacker_literal"]
    assert result["global_relative_risk"] == about(risk["global_fractional"])
    assert result["global_relative_risk_literal"] == about(risk["global_literal"])
    if risk["max_relative"] is None:
        assert result["max_relative_risk"] is None
    else:
        assert result["max_relative_risk"] == about(risk["max_relative"])
    assert result["converged"] is True
    assert result["method"] in ("closed form", "exact")


def means(population: Any, expected: dict[str, Any], case: dict[str, Any], likelihood: str) -> None:
    """The expected shares, of the secrets and of all values that somebody has."""
    assert {s: told["mean"] for s, told in population["secret"].items()} == {
        s: about(p) for s, p in expected["secrets"].items()
    }
    quasi = case["quasi"]
    if likelihood == "saturated" and len(quasi) > 1:
        laws = {"key": expected["values"]}
    elif likelihood == "saturated":
        laws = {quasi[0]: {s: {v[0]: p for v, p in law.items()}
                           for s, law in expected["values"].items()}}  # fmt: skip
    else:
        laws = dict(zip(quasi, expected["values"], strict=True))
    assert set(population["key"]) == set(laws)
    for name, by_secret in population["key"].items():
        assert set(by_secret) == set(laws[name])
        for s, told in by_secret.items():
            for value, share in told.items():
                assert share["mean"] == about(laws[name][s][value])
                assert 0 <= share["low"] <= share["high"] <= 1


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("kind", oracle.KINDS)
def test_small_releases(kind: str, likelihood: str, shape: str) -> None:
    for seed in EVEN:
        case = oracle.random_release(Random(seed), kind, MOST, shape)
        found = reasoned(kind, case, likelihood=likelihood)
        agree(found, kind, case, likelihood=likelihood)


def weights(random: Random, case: dict[str, Any], likelihood: str) -> tuple[Any, Any, Any, Any]:
    """Alpha and beta for the package, then for the oracle: by secret, by value, or by both."""
    secrets = sorted({s for s, _ in case["truth"]})
    alpha = {s: random.choice(WEIGHTS) for s in secrets}
    quasi, domains = case["quasi"], case["domains"]
    mine: Any
    theirs: Any
    if likelihood == "saturated" and len(quasi) > 1:
        if random.random() < 0.5:
            theirs = {s: random.choice(WEIGHTS) for s in secrets}
            mine = {s: float(w) for s, w in theirs.items()}
        else:
            theirs = {values: random.choice(WEIGHTS) for values in product(*domains)}
            mine = {values: float(w) for values, w in theirs.items()}
        return {s: float(w) for s, w in alpha.items()}, mine, alpha, theirs
    tables = [
        {s: {v: random.choice(WEIGHTS) for v in domain} for s in secrets} for domain in domains
    ]
    mine = {
        q: {s: {v: float(w) for v, w in law.items()} for s, law in table.items()}
        for q, table in zip(quasi, tables, strict=True)
    }
    if likelihood == "saturated":
        theirs = {s: {(v,): w for v, w in law.items()} for s, law in tables[0].items()}
    else:
        theirs = {s: {c: table[s] for c, table in enumerate(tables)} for s in secrets}
    return {s: float(w) for s, w in alpha.items()}, mine, alpha, theirs


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("kind", oracle.KINDS)
def test_unequal_weights(kind: str, likelihood: str, shape: str) -> None:
    for seed in UNEVEN:
        random = Random(seed)
        case = oracle.random_release(random, kind, MOST, shape)
        mine, beta, theirs, exact = weights(random, case, likelihood)
        found = reasoned(kind, case, likelihood=likelihood, alpha=mine, beta=beta)
        agree(found, kind, case, likelihood=likelihood, alpha=theirs, beta=exact)


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("kind", oracle.KINDS)
def test_all_tables_counted(kind: str, likelihood: str) -> None:
    for seed in (201, 202):
        case = oracle.random_release(Random(seed), kind, MOST)
        found = reasoned(kind, case, likelihood=likelihood, method="exact", beta=0.5, alpha=2.0)
        half = Fraction(1, 2)
        agree(found, kind, case, likelihood=likelihood, beta=half, alpha=2)
        assert found.to_dict()["method"] == "exact"


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_the_printed_learner(kind: str) -> None:
    case = oracle.random_release(Random(301), kind, 64, "plain", columns=1)
    found = reasoned(kind, case)
    victims = list(found.beliefs)
    printed = oracle.printed(kind, case["groups"], case["domains"], victims)
    for victim in victims:
        held = found.beliefs[victim]["learner_printed"]
        assert held == {s: about(p) for s, p in printed[victim].items()}
