"""Somebody who reasons about Adult: the first 5,692 rows, as in docs/attacks/reasoning.md.

Where recoded sets are disjoint everything follows from the numbers n_gs of group g and secret s:
the attacker believes n_gs/n_g, the learner in proportion to
(alpha + n_s)/(beta |R| + n_s) (beta + n_gs/|l_g|).
"""

from __future__ import annotations

import doctest
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sievert
from sievert.hierarchies import Hierarchy
from sievert.methods import mondrian, recode

from .tables import Columns, read_columns

COLUMNS = ["sex", "race", "marital-status", "education", "native-country", "workclass",
           "salary-class"]  # fmt: skip
SECRET = "occupation"
ROWS = 5692
NODES = {"150": (1, 1, 0, 0, 2, 0, 1), "20": (0, 1, 1, 1, 2, 2, 1), "16": (1, 1, 2, 0, 2, 2, 1)}
SATURATED = {"likelihood": "saturated", "method": "closed form"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The learner of equation 5 and intervals from few draws: nothing here is about them."""
    monkeypatch.setattr("sievert.attacks.reasoning.horizontal.release.MOST_PRINTED", 0)
    monkeypatch.setattr("sievert.attacks.reasoning.posterior.MOST_HELD", 0)


@cache
def people(reference: Path) -> Columns:
    whole = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    return {c: whole[c][:ROWS] for c in (*COLUMNS, SECRET)}


@cache
def trees(reference: Path) -> dict[str, Hierarchy]:
    folder = reference / "data" / "adult" / "hierarchies"
    return {c: Hierarchy.read(folder / f"adult_hierarchy_{c}.csv") for c in COLUMNS}


@cache
def node(reference: Path, groups: str, keep: bool = False) -> tuple[Columns, Columns, Any]:
    """A recoding and the records it was made of, all or the released ones, and their groups."""
    levels = dict(zip(COLUMNS, NODES[groups], strict=True))
    made = recode(people(reference), levels, trees(reference), suppress=4)
    rows = np.flatnonzero(~made.suppressed | keep).tolist()
    released, original = (
        {c: [held[i] for i in rows] for c, held in columns.items()}
        for columns in (made.columns, people(reference))
    )
    return released, original, np.unique(made.classes[rows], return_inverse=True)[1]


def attack(reference: Path, released: Mapping[str, Any], original: Columns, **how: Any) -> Any:
    return sievert.attack(released, original, COLUMNS, SECRET, hierarchies=trees(reference), **how)


def keys_of(original: Columns) -> list[tuple[str, ...]]:
    return list(zip(*(original[c] for c in COLUMNS), strict=True))


def tallied(original: Columns, groups: Any) -> Any:
    """n_gs: groups by secrets in the order of their texts."""
    secrets = np.unique(original[SECRET], return_inverse=True)[1]
    held = np.zeros((groups.max() + 1, secrets.max() + 1))
    np.add.at(held, (groups, secrets), 1)
    return held


# Groups, beta, domain: N_A/N and N_L/N with all ties, GR with all ties and with shares of ties in
# per cent, largest R.
KNOWN = [
    ("150", 1.0, "observed", ".3335", ".3068", "2.66", "0.83", "10.5"),
    ("150", 0.1, "observed", ".3335", ".3125", "2.09", "0.26", "2.4"),
    ("150", 1 / 997, "observed", ".3335", ".3335", "0.00", "0.00", "1.01"),
    ("20", 1.0, "observed", ".2985", ".2788", "1.97", "0.05", "5.5"),
    ("16", 1.0, "observed", ".2439", ".2391", "0.47", "0.18", "3.5"),
    ("16", 1.0, "cross", ".2439", ".1333", "11.05", "10.75", "6.5"),
]


def same_digits(number: float, printed: str) -> bool:
    places = len(printed.partition(".")[2])
    return f"{number:.{places}f}".lstrip("0") == printed.lstrip("0")


@pytest.mark.parametrize(
    "line", KNOWN, ids=[f"{line[0]} groups, {line[2]}, {line[1]:.3g}" for line in KNOWN]
)
def test_closed_form(reference: Path, line: tuple[Any, ...]) -> None:
    groups, beta, domain, *printed = line
    released, original, which = node(reference, groups)
    found = attack(reference, released, original, domain=domain, beta=beta, **SATURATED)
    told = found["reasoning"][SECRET]
    numbers = {name: each.value for name, each in told.numbers.items()}
    ours = (
        numbers["attacker_accuracy_literal"],
        numbers["learner_accuracy_literal"],
        100 * numbers["global_relative_risk_literal"],
        100 * numbers["global_relative_risk"],
        numbers["max_relative_risk"],
    )
    assert [same_digits(n, text) for n, text in zip(ours, printed, strict=True)] == [True] * 5, ours
    assert found.to_dict()["method"] == "closed form"
    assert told.details["classes"] == int(groups)

    keys = keys_of(original)
    held = tallied(original, which)
    if domain == "observed":
        sizes = np.bincount([g for g, _ in set(zip(which.tolist(), keys, strict=True))])
        every = len(set(keys))
    else:
        every = 2 * 5 * 7 * 16 * 41 * 8 * 2
        sizes = np.full(len(held), every / len(held))
    assert told.details["keys"] == every
    learner = (1 + held.sum(axis=0)) / (beta * every + held.sum(axis=0))
    learner = learner * (beta + held / sizes[:, None])
    learner /= learner.sum(axis=1, keepdims=True)
    attacker = held / held.sum(axis=1, keepdims=True)
    for row in range(0, len(keys), 97):
        beliefs = found.beliefs[keys[row]]
        for who, expected in (("attacker", attacker), ("learner", learner)):
            assert list(beliefs[who].values()) == pytest.approx(
                expected[which[row]].tolist(), rel=1e-12, abs=1e-15
            )


def test_the_columns_one_by_one(reference: Path) -> None:
    """The product model, where recoding makes observed categories of the generalised values."""
    released, original, which = node(reference, "20")
    found = attack(reference, released, original)
    assert found.to_dict()["method"] == "closed form"
    held = tallied(original, which)
    secrets = held.sum(axis=0)
    kinds = {c: np.unique(released[c], return_inverse=True)[1] for c in COLUMNS}
    seen = {c: tallied(original, kinds[c]) for c in COLUMNS}
    keys = keys_of(original)
    for row in range(0, ROWS, 97):
        weights = 1 + secrets
        for column in COLUMNS:
            tree = trees(reference)[column]
            label = released[column][row]
            alike = sum(label in (value, *labels) for value, labels in tree.labels.items())
            records = seen[column][kinds[column][row]]
            # A value's share of its label is what the prior says.
            weights = weights * (alike + records) / (len(tree.labels) + secrets) / alike
        expected = (weights / weights.sum()).tolist()
        beliefs = found.beliefs[keys[row]]
        assert list(beliefs["learner"].values()) == pytest.approx(expected, rel=1e-12)
        share = (held[which[row]] / held[which[row]].sum()).tolist()
        assert list(beliefs["attacker"].values()) == pytest.approx(share, rel=1e-12)


def test_suppressed_rows_kept_are_nested_sets(reference: Path) -> None:
    """Rows of `*` lie around all others: a closed form too, and no ties are left."""
    released, original, _ = node(reference, "150", True)
    told = attack(reference, released, original, domain="observed", **SATURATED).to_dict()
    assert told["method"] == "closed form"
    assert told["attacker_accuracy"] == pytest.approx(0.3139, abs=5e-5)
    assert told["global_relative_risk"] == told["global_relative_risk_literal"]
    assert told["global_relative_risk"] == pytest.approx(0.0074, abs=5e-5)


def test_chains_find_the_closed_form(reference: Path) -> None:
    """Classes of fewer than 20 on a higher level: sets around others, whose records move."""
    original = people(reference)
    fine, coarse = (
        recode(original, dict(zip(COLUMNS, levels, strict=True)), trees(reference))
        for levels in (NODES["150"], (1, 1, 2, 1, 2, 2, 1))
    )
    small = fine.sizes[fine.classes] < 20
    released = {
        c: [
            b if low else a
            for a, b, low in zip(fine.columns[c], coarse.columns[c], small, strict=True)
        ]
        for c in original
    }
    closed = attack(reference, released, original, domain="observed", **SATURATED)
    how = {"domain": "observed", "likelihood": "saturated", "method": "gibbs"}
    sampled = attack(reference, released, original, **how, chains=2, sweeps=200)
    exact, drawn = (f.reasoning[SECRET].posterior for f in (closed, sampled))
    assert (exact.method, drawn.method) == ("closed form", "gibbs")
    for ours, theirs, errors in zip(
        (drawn.attacker, drawn.learner), (exact.attacker, exact.learner), drawn.errors, strict=True
    ):
        assert np.abs(ours - theirs).max() > 0  # something was sampled
        assert (np.abs(ours - theirs) > 1e-12 + 4 * errors).mean() < 0.01
        assert np.abs(ours - theirs).max() < 0.05


def test_mondrian(reference: Path) -> None:
    """Boxes do not overlap: no symbol is learned about; its columns are."""
    original = people(reference)
    made = mondrian(original, COLUMNS, 5)
    mode = tallied(original, made.classes).max(axis=1).sum() / ROWS
    apart = attack(reference, made.columns, original, domain="observed", **SATURATED)
    assert apart.to_dict()["attacker_accuracy"] == pytest.approx(mode, rel=1e-12)
    together = attack(reference, made.columns, original, chains=2, sweeps=150)
    assert together.to_dict()["method"] == "gibbs"
    chains = together["reasoning"][SECRET].details["sampling"]["attacker_by_chain"]
    assert mode == pytest.approx(0.366, abs=5e-4)
    assert all(mode + 0.005 < accuracy < mode + 0.025 for accuracy in chains)


def test_examples_of_the_page() -> None:
    page = Path(__file__).parents[2] / "docs" / "attacks" / "reasoning.md"
    failed, ran = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0 and ran > 10
