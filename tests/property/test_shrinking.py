"""The same promises for tables that Hypothesis makes up, so that a failure comes out small."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import mpmath
import test_accuracy
import test_oracle_agreement as agreement
from helpers.contingency import record_counts, secret_counts
from helpers.effort import tried
from helpers.randomtables import Case
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sievert
from sievert.measures import BY_ID
from sievert.measures.measure import MeasureResult
from sievert.measures.target import RecordTarget, SecretTarget

COUNT = st.one_of(st.integers(0, 3), st.integers(0, 10**12), st.just(10**12))
MATRIX = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(COUNT, min_size=width, max_size=width).filter(any), min_size=1, max_size=6
    )
)
SLOW = settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@given(MATRIX)
@settings(max_examples=tried(75, soak=400), deadline=None, derandomize=True)
def test_every_digit_of_any_secret(matrix: list[list[int]]) -> None:
    """Any counts up to 10^12: 1e-12 of the exact value, exactly 0 where it is 0."""
    columns = [sum(c) for c in zip(*matrix, strict=True)]
    target = SecretTarget(secret_counts(matrix))
    with mpmath.workdps(80):
        h = test_accuracy.entropy(columns)
        if h == 0:
            assert target.entropy == 0.0 and target.mutual_information == 0.0
            return
        sizes = [sum(row) for row in matrix]
        due = test_accuracy.expected(
            h, [test_accuracy.entropy(row) for row in matrix], sizes, [1] * len(sizes)
        )
        for name, exact in due.items():
            found = BY_ID[name].compute(target, {})
            value = found.value if isinstance(found, MeasureResult) else found
            assert value is not None
            if abs(exact) < mpmath.mpf(10) ** -60:
                assert value == 0.0, name
            else:
                test_accuracy.close(name, float(value), exact)


@given(st.dictionaries(st.integers(1, 10**12), st.integers(1, 10**6), min_size=1, max_size=30))
@settings(max_examples=tried(60, soak=300), deadline=None, derandomize=True)
def test_every_digit_of_any_sizes(histogram: dict[int, int]) -> None:
    sizes, times = list(histogram), list(histogram.values())
    counts = record_counts(sizes, times)
    if counts.records == 1:
        return
    with mpmath.workdps(80):
        logs = [test_accuracy.log2(mpmath.mpf(s)) for s in sizes]
        h = test_accuracy.log2(mpmath.mpf(counts.records))
        for name, exact in test_accuracy.expected(h, logs, sizes, times).items():
            found = BY_ID[name].compute(RecordTarget(counts), {})
            value = found.value if isinstance(found, MeasureResult) else found
            assert value is not None
            if abs(exact) < mpmath.mpf(10) ** -60:
                assert value == 0.0, name
            else:
                test_accuracy.close(name, float(value), exact)


@given(st.permutations(list(range(8))), st.lists(COUNT.filter(bool), min_size=8, max_size=8))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_the_order_of_counts_does_not_matter(order: Sequence[int], counts: list[int]) -> None:
    before = RecordTarget(record_counts(counts))
    after = RecordTarget(record_counts([counts[i] for i in order]))
    assert before.mutual_information == after.mutual_information
    assert before.conditional_entropy == after.conditional_entropy


CELL = st.one_of(st.none(), st.text(alphabet="ab\x00'\"\\é😀,\n ", max_size=2))
CLEAN = CELL.map(lambda v: v if v is None else v.replace("\x00", "0"))


@st.composite
def tables(draw: st.DrawFn) -> Case:
    records = draw(st.integers(1, 7))
    quasi = tuple(f"q{i}" for i in range(draw(st.integers(1, 3))))
    column = st.lists(CLEAN, min_size=records, max_size=records)
    columns: dict[str, list[Any]] = {q: draw(column) for q in quasi}
    columns["s"] = draw(column)
    values = sorted({v for v in columns["s"] if v is not None})
    ladder: dict[Any, tuple[str, ...]] = {v: (f"up {v[:1]}", "*") for v in values} or {
        "x": ("u", "*")
    }
    ladder[None] = ("missing", "*")
    partition = {"p": tuple(values[:1])}
    return Case(columns, quasi, "s", tuple(values), ladder, partition, draw(st.integers(1, 3)), "a")


@given(tables())
@SLOW
def test_any_text_agrees_with_the_oracle(c: Case) -> None:
    agreement.compare(c, agreement.assess(c, named=False), named=False)


NAMES = st.lists(
    st.text(min_size=1, max_size=12).filter(lambda n: "\0" not in n and n.isprintable()),
    min_size=3, max_size=4, unique_by=lambda n: n.casefold(),
)  # fmt: skip


@given(NAMES, st.integers(0, 2**32))
@SLOW
def test_any_names_give_the_numbers_of_plain_names(names: list[str], seed: int) -> None:
    random = Random(seed)
    plain = {f"x{i}": [random.choice("abc") for _ in range(6)] for i in range(len(names))}
    odd = dict(zip(names, plain.values(), strict=True))
    before = sievert.assess(plain, list(plain)[:-1], list(plain)[-1]).to_dict()
    after = sievert.assess(odd, names[:-1], names[-1]).to_dict()
    assert before["reidentification"] == after["reidentification"]
    assert list(before["inference"].values()) == list(after["inference"].values())


@given(st.floats(min_value=0, max_value=1))
@settings(derandomize=True)
def test_shown_numbers_never_pretend_certainty(x: float) -> None:
    from sievert.formatting import percent, significant

    assert (float(significant(x)) == 1.0) == (x == 1.0)
    assert (float(significant(x)) == 0.0) == (x == 0.0)
    assert (percent(x) == "100 %") == (x == 1.0)
    assert (percent(x) == "0 %") == (x == 0.0)
    assert math.isclose(float(significant(x)), x, rel_tol=1e-3, abs_tol=0)
