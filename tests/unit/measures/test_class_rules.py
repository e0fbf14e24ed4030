"""The demands that measures make on a class: declared once, compiled by a generated module."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sievert.formatting.loss_names import LOSSES as NAMES
from sievert.measures import MEASURES
from sievert.measures.class_rules import ClassRule
from sievert.methods.full_domain import LOSSES, compiled_rules
from sievert.methods.full_domain.rules import CLASS_RULES, KINDS, Rule, secret_rules, size_rule
from sievert.policy.document import MeasureLimit
from website import loss_names
from website.compiled_rules import MODULE, module

TOTALS = np.array([9, 6, 4, 1, 0])
TREE = np.array([[0, 1, 2, 3, 4], [0, 0, 1, 1, 1]])


def test_the_compiled_module_is_that_of_the_records() -> None:
    assert MODULE.read_text(encoding="utf-8") == module(), "run `make generate`"


@pytest.mark.parametrize("name", CLASS_RULES)
def test_one_class_and_many_at_once(name: str) -> None:
    """The function of a rule says the same of a class by itself, compiled, as among others."""
    rule = CLASS_RULES[name]
    random = np.random.default_rng(7)
    classes = random.integers(0, 4, (200, 5)) * (TOTALS > 0)
    classes = classes[classes.sum(axis=1) > 0]
    records = int(TOTALS.sum())
    work = np.empty_like(TOTALS)
    number = list(CLASS_RULES).index(name)
    for limit in (0.3, 1.0, 2.0):
        common: Any = (TOTALS, records, limit, 2, TREE)
        together = rule.excess(
            classes.T.copy(), range(5), classes.sum(axis=1), *common, np.empty_like(classes.T)
        )
        alone = [
            compiled_rules.class_excess(number, own, np.flatnonzero(own), own.sum(), *common, work)
            for own in classes
        ]
        assert np.asarray(together, dtype=float) == pytest.approx(alone, abs=1e-12)
        assert ((np.asarray(together) > 0) == (np.array(alone) > 0)).all()


def test_no_class_is_further_beyond_a_convex_rule_than_its_bound() -> None:
    random = np.random.default_rng(8)
    for rule in CLASS_RULES.values():
        least = -1 if rule.met_up_to is None else rule.met_up_to
        for limit in (0.1, 0.5, 1.5) if rule.convex else ():
            if limit <= least:
                continue  # it makes no rule
            most = rule.largest_excess(TOTALS, limit)
            for _ in range(100):
                own = np.minimum(random.integers(0, 10, 5), TOTALS)
                seen = np.flatnonzero(own)
                if len(seen):
                    size, records = own.sum(), int(TOTALS.sum())
                    excess = rule.excess(
                        own, seen, size, TOTALS, records, limit, 0, TREE, own.copy()
                    )
                    assert excess <= most + 1e-12, rule.name


def test_names_are_unique_and_what_a_class_can_breach_is_judged_on_suppressed_records() -> None:
    rules: dict[str, ClassRule] = {}
    for measure in MEASURES:
        for rule in measure.class_rules:
            assert rules.setdefault(rule.name, rule) is rule
            assert not (rule.convex and rule.monotone)
        if measure.class_rules or measure.size_rule:
            assert measure.of_class
    assert len(set(KINDS)) == len(KINDS)


def test_rules_of_limits() -> None:
    limits = {
        "confidence_gain": MeasureLimit(max=0.5),
        "alpha_k": MeasureLimit(max=0.4),
        "recursive_c": MeasureLimit(max=3),
        "entropy_l": MeasureLimit(min=1),
        "guess_gain": MeasureLimit(max=0.1),
    }
    assert secret_rules(limits, {"recursive_c": {"l": 3}}, missing=False) == (
        Rule("gain", 0.5),
        Rule("confidence", 0.4),
        Rule("recursive", 3.0, 3),
    )
    assert secret_rules(limits, {}, named=1, missing=True) == (
        Rule("gain", 0.5, 1),
        Rule("gain_known", 0.5, 1),
        Rule("named", 0.4, 1),
        Rule("named_known", 0.4, 1),
        Rule("recursive", 3.0, 2),
        Rule("recursive_known", 3.0, 2),
    )
    assert size_rule({"k_anonymity": MeasureLimit(min=2.5)}) == 3
    assert size_rule({"highest_risk": MeasureLimit(max=0.2)}) == 5
    assert size_rule(limits) == 1


INNER = """
from sievert.numerics.acceleration import jit

@jit
def number(x):
    return x + {more}
"""
OUTER = """
from sievert.numerics.acceleration import jit
from inner_loop import number

@jit
def twice(x):
    return 2 * number(x)
"""


def test_code_is_compiled_again_if_a_loop_it_calls_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba looks at the module of a function only, and would go on with what it has kept."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "outer_loop.py").write_text(OUTER, encoding="utf-8")
    for more in (1, 10):
        (tmp_path / "inner_loop.py").write_text(INNER.format(more=more), encoding="utf-8")
        for name in ("inner_loop", "outer_loop"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        loop = importlib.import_module("outer_loop").twice
        assert loop(1) == 2 * (1 + more)


def test_the_names_of_losses_are_those_of_their_records() -> None:
    assert loss_names.MODULE.read_text(encoding="utf-8") == loss_names.module(), "make generate"
    assert LOSSES == NAMES
