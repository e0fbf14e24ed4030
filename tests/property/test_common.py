"""Every measure is held to every law it declares, on random tables.

The numbers behind the names are those of the usual relations of information theory and disclosure
control: P1 permutation, P2 renaming, P3 and P4 relabelling, P5 copies, P6 and P7 coarsening and
refining, P8 merged secrets, P9 and P10 repetition, P11 symmetry, P12 one record more, P13 the chain
rule, P14 bounds, P15 to P17 relations between measures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest
from helpers.effort import tried
from helpers.randomtables import Case, case

import sievert
from sievert.measures import BY_ID, MEASURES, Law

TABLES = tried(20, soak=60)
Numbers = dict[tuple[str, str], Any]
INFINITE = math.inf


def measure(c: Case, **changed: Any) -> Numbers:
    """All numbers of a table by (kind of target, measure); unbounded is infinite."""
    options: dict[str, Any] = {
        "orders": {c.secret: c.order},
        "hierarchies": {
            c.secret: sievert.Hierarchy({v: x for v, x in c.ladder.items() if v is not None})
        },
        "partitions": {c.secret: c.partition},
        "parameters": {"recursive_c": {"l": c.l}, "population_uniques": {"fraction": 0.25}},
    }
    options |= changed
    found = sievert.assess(c.columns, c.quasi, c.secret, **options)
    numbers = {("record", k): _number(v) for k, v in found.reidentification.items()}
    numbers |= {("secret", k): _number(v) for k, v in found.inference[c.secret].items()}
    return numbers


def _number(value: sievert.Value) -> Any:
    return INFINITE if value.reason == "unbounded" else value.value


def declared(law: Law) -> list[tuple[str, str]]:
    return [(kind, m.id) for m in MEASURES for kind in m.kinds if law in m.laws]


def same(before: Numbers, after: Numbers, law: Law, *, exactly: bool = True) -> None:
    for key in declared(law):
        if key in before:
            a, b = before[key], after[key]
            if a != b and (exactly or a is None or b is None or not _near(a, b)):
                raise AssertionError(f"{key[1]} of a {key[0]}: {a!r} became {b!r}; {law.value}")


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-15)


def not_above(low: Numbers, high: Numbers, keys: list[tuple[str, str]], law: Law) -> None:
    """Numbers of `low` do not exceed those of `high`, in the direction of the risk."""
    for key in keys:
        a, b = low.get(key), high.get(key)
        if a is None or b is None:
            continue
        if BY_ID[key[1]].riskier == "low" and law in (Law.COARSENING, Law.REFINING):
            a, b = b, a
        if not (a <= b or _near(a, b)):
            raise AssertionError(f"{key[1]} of a {key[0]}: {a!r} above {b!r}; {law.value}")


def cases(name: str, tables: int = TABLES) -> list[Any]:
    """Random tables in chunks, so that they can be run side by side."""
    return [
        pytest.param([case(Random(f"{name} {i} {j}")) for j in range(tables // 4)], id=str(i))
        for i in range(4)
    ]


def mapped(c: Case, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Case:
    return c.with_rows([change(dict(row)) for row in c.rows])


def test_every_measure_declares_its_laws() -> None:
    """A measure that is not monotone must not be declared so; a new one must declare something."""
    for m in MEASURES:
        assert {Law.PERMUTATION, Law.RENAMING} <= set(m.laws), m.id
        # A mark that is renamed, or stands beside another column, is no mark any more.
        unmarked = {Law.RELABEL_QUASI, Law.COPY} <= set(m.laws)
        assert unmarked is (m.id != "suppressed_records"), m.id
    falling = {m.id for m in MEASURES if Law.COARSENING not in m.laws}
    assert falling == {
        "itpr",
        "average_class_risk",
        "delta_disclosure_present",
        "joint_entropy",
        "discrimination_rate_of_value",
        "suppressed_records",
        "population_uniques",
    }


@pytest.mark.parametrize("chunk", cases("permutation"))
def test_p1_permutation(chunk: list[Case]) -> None:
    """Any order of the records, any frame index, any number of threads: the same bits."""
    import pandas

    for number, c in enumerate(chunk):
        before = measure(c)
        rows = c.rows
        Random(number).shuffle(rows)
        shuffled = c.with_rows(rows)
        same(before, measure(shuffled, threads=1 + number % 4), Law.PERMUTATION)
        labels = [Random(number).randint(0, 3) for _ in rows]
        frame = pandas.DataFrame(shuffled.columns, index=labels, dtype=object)
        options = {"orders": {c.secret: c.order}, "parameters": {"recursive_c": {"l": c.l}}}
        found = sievert.assess(frame, c.quasi, c.secret, **options)
        after = {("record", k): _number(v) for k, v in found.reidentification.items()}
        after |= {("secret", k): _number(v) for k, v in found.inference[c.secret].items()}
        same({k: v for k, v in before.items() if k in after}, after, Law.PERMUTATION)


ODD_NAMES = (
    'a"; drop table input; --',
    "é.😀",
    "select",
    "x\ny",
    "`tick`",
    " c0",
    "c1",
    "a'b",
    "[s]",
)


@pytest.mark.parametrize("chunk", cases("renaming"))
def test_p2_renaming(chunk: list[Case]) -> None:
    for number, c in enumerate(chunk):
        before = measure(c)
        names = Random(number).sample(ODD_NAMES, len(c.quasi) + 2)
        quasi = tuple(names[: len(c.quasi)])
        columns = {"unused": list(range(len(c.columns[c.secret]))), names[-1]: c.columns[c.secret]}
        for new, old in reversed(list(zip(quasi, c.quasi, strict=True))):
            columns[new] = c.columns[old]
        renamed = Case(
            columns, quasi[::-1], names[-1], c.order, c.ladder, c.partition, c.l, c.named
        )
        same(before, measure(renamed), Law.RENAMING)


@pytest.mark.parametrize("chunk", cases("relabel"))
def test_p3_relabelled_quasi_identifiers(chunk: list[Case]) -> None:
    """Other values, as text, as categories with unused levels, as numbers."""
    import pandas

    for number, c in enumerate(chunk):
        before = measure(c)
        codes: dict[Any, str] = {}
        q = c.quasi[number % len(c.quasi)]

        def change(
            row: dict[str, Any], q: str = q, codes: dict[Any, str] = codes
        ) -> dict[str, Any]:
            row[q] = codes.setdefault(row[q], f"new {len(codes)}")
            return row

        relabelled = mapped(c, change)
        same(before, measure(relabelled), Law.RELABEL_QUASI)
        numbers = {v: i for i, v in enumerate(codes.values())}
        counted = mapped(relabelled, lambda row, q=q, n=numbers: {**row, q: n[row[q]]})
        same(before, measure(counted), Law.RELABEL_QUASI)
        frame = pandas.DataFrame(relabelled.columns, dtype=object)
        levels = [*codes.values(), "never used"]
        frame[q] = pandas.Categorical(frame[q], categories=levels)
        found = sievert.assess(frame, c.quasi)
        after = {("record", k): _number(v) for k, v in found.reidentification.items()}
        same({k: v for k, v in before.items() if k in after}, after, Law.RELABEL_QUASI)


@pytest.mark.parametrize("chunk", cases("secret"))
def test_p4_relabelled_secret(chunk: list[Case]) -> None:
    for c in chunk:
        codes: dict[Any, Any] = {}

        def change(
            row: dict[str, Any], c: Case = c, codes: dict[Any, Any] = codes
        ) -> dict[str, Any]:
            row[c.secret] = codes.setdefault(row[c.secret], f"new {len(codes)}")
            return row

        plain = {"orders": {}, "hierarchies": {}, "partitions": {}}
        before, after = measure(c, **plain), measure(mapped(c, change), **plain)
        same(before, after, Law.RELABEL_SECRET)


@pytest.mark.parametrize("chunk", cases("copy"))
def test_p5_constants_and_copies(chunk: list[Case]) -> None:
    for number, c in enumerate(chunk):
        before = measure(c)
        q = c.quasi[0]
        extra = [c.columns[q], ["same"] * len(c.columns[q])][number % 2]
        columns = {**c.columns, "extra": extra}
        wider = Case(
            columns, (*c.quasi, "extra"), c.secret, c.order, c.ladder, c.partition, c.l, c.named
        )
        same(before, measure(wider), Law.COPY)


@pytest.mark.parametrize("chunk", cases("coarsening", tried(40, soak=160)))
def test_p6_coarsening(chunk: list[Case]) -> None:
    """Two values of a quasi-identifier become one: nobody is easier to find, no secret plainer."""
    for number, c in enumerate(chunk):
        random = Random(number)
        q = random.choice(c.quasi)
        values = sorted(set(c.columns[q]), key=str)
        if len(values) < 2:
            continue
        a, b = random.sample(values, 2)
        merged = mapped(c, lambda row, q=q, a=a, b=b: {**row, q: b if row[q] == a else row[q]})
        not_above(measure(merged), measure(c), declared(Law.COARSENING), Law.COARSENING)


@pytest.mark.parametrize("chunk", cases("refining"))
def test_p7_refining(chunk: list[Case]) -> None:
    for number, c in enumerate(chunk):
        random = Random(number)
        extra = [random.choice("uv") for _ in c.columns[c.secret]]
        finer = Case(
            {**c.columns, "extra": extra}, (*c.quasi, "extra"), c.secret, c.order, c.ladder,
            c.partition, c.l, c.named,
        )  # fmt: skip
        not_above(measure(c), measure(finer), declared(Law.REFINING), Law.REFINING)


@pytest.mark.parametrize("chunk", cases("merged"))
def test_p8_merged_secret(chunk: list[Case]) -> None:
    for number, c in enumerate(chunk):
        random = Random(number)
        values = sorted(set(c.columns[c.secret]), key=str)
        if len(values) < 2:
            continue
        a, b = random.sample(values, 2)
        merged = mapped(
            c, lambda row, a=a, b=b, s=c.secret: {**row, s: b if row[s] == a else row[s]}
        )
        before, after = measure(c), measure(merged)
        lower = [k for k in declared(Law.MERGED_SECRET_LOWER) if k[0] == "secret"]
        higher = [k for k in declared(Law.MERGED_SECRET_HIGHER) if k[0] == "secret"]
        not_above(after, before, lower, Law.MERGED_SECRET_LOWER)
        not_above(before, after, higher, Law.MERGED_SECRET_HIGHER)
        assert before["record", "k_anonymity"] == after["record", "k_anonymity"]


@pytest.mark.parametrize("chunk", cases("repetition"))
def test_p9_and_p10_repetition(chunk: list[Case]) -> None:
    for number, c in enumerate(chunk):
        times = 2 + number % 3
        before, after = measure(c), measure(c.with_rows(c.rows * times))
        secret = {k: v for k, v in before.items() if k[0] == "secret"}
        same(secret, after, Law.REPETITION, exactly=False)
        record = {k: v for k, v in before.items() if k[0] == "record"}
        same(record, after, Law.REPETITION_RECORD, exactly=False)
        assert after["record", "k_anonymity"] == times * before["record", "k_anonymity"]
        assert after["record", "unique_records"] == 0.0
        assert _near(
            after["record", "entropy_l_diversity"] * times, before["record", "entropy_l_diversity"]
        )


@pytest.mark.parametrize("chunk", cases("symmetry"))
def test_p11_symmetry(chunk: list[Case]) -> None:
    for c in chunk:
        q = c.quasi[0]
        forth = sievert.assess(c.columns, q, c.secret).inference[c.secret]
        back = sievert.assess(c.columns, c.secret, q).inference[q]
        for kind, name in declared(Law.SYMMETRY):
            if kind == "secret":
                a, b = forth[name].value, back[name].value
                assert a is not None and b is not None
                assert _near(float(a), float(b)), name


@pytest.mark.parametrize("chunk", cases("one more", 40))
def test_p12_one_record_more(chunk: list[Case]) -> None:
    """A record that joins a class can raise k by one and lower it not at all."""
    for c in chunk:
        rows = c.rows
        before, after = measure(c), measure(c.with_rows([*rows, rows[0]]))
        k = ("record", "k_anonymity")
        assert before[k] <= after[k] <= before[k] + 1
        assert before["record", "classes"] == after["record", "classes"]
        n = len(rows)
        for kind in ("record", "secret"):  # one record moves an entropy by at most this much
            moved = abs(before[kind, "entropy"] - after[kind, "entropy"])
            assert moved <= (math.log2(n + 1) + 2) / (n + 1) + 1e-12


@pytest.mark.parametrize("chunk", cases("relations", tried(40, soak=160)))
def test_p13_to_p17_relations(chunk: list[Case]) -> None:
    for c in chunk:
        numbers = measure(c)
        for kind in ("record", "secret"):
            _relations(kind, {name: v for (k, name), v in numbers.items() if k == kind}, c)


def _relations(kind: str, n: Mapping[str, Any], c: Case) -> None:
    records = len(c.columns[c.secret])
    classes = len(set(zip(*(c.columns[q] for q in c.quasi), strict=True)))
    for name, value in n.items():
        low, high = BY_ID[name].low, BY_ID[name].high
        if value is not None:
            assert low is None or value >= low, name
            assert high is None or value <= high or value == INFINITE, name
    h, left, i = n["entropy"], n["conditional_entropy"], n["mutual_information"]
    assert _near(h, left + i) or abs(h - left - i) < 1e-12
    assert i <= h * (1 + 1e-12)
    classes_entropy = n["joint_entropy"] - left
    assert i <= classes_entropy + 1e-12 and classes_entropy <= math.log2(classes) + 1e-12
    if kind == "secret":
        assert h <= math.log2(len(set(c.columns[c.secret]))) + 1e-12
    assert _near(n["conditional_privacy"], 1 - 2**-i)
    assert n["entropy_variation"] >= i - 1e-12
    if kind == "record":
        assert h == math.log2(records)
        assert n["entropy_l_diversity"] == 1 / n["k_anonymity"]
        assert _near(n["joint_entropy"], h) or records == 1
        assert n["distinction"] == n["average_risk"] == n["bayes_vulnerability_posterior"]
    if h == 0:
        for rate in ("discrimination_rate", "itpr", "itpr_unnormalized"):
            assert n[rate] is None
        return
    dr, itpr = n["discrimination_rate"], n["itpr"]
    assert 0 <= dr <= itpr * (1 + 1e-12) <= 1 + 1e-12  # P15: rejects the reading without p(y)
    assert _near(dr, i / h) and abs(1 - dr - n["normalized_conditional_entropy"]) < 1e-12
    if kind == "secret":
        held: dict[Any, list[Any]] = {}
        for row in c.rows:
            held.setdefault(tuple(row[q] for q in c.quasi), []).append(row[c.secret])
        homogeneous = [len(set(v)) == 1 for v in held.values()]
        assert (itpr == 1.0) == any(homogeneous)  # P16
        assert (dr == 1.0) == all(homogeneous)  # P17
        assert (n["entropy_l_diversity"] == 1.0) == any(homogeneous)
        if i == 0.0:
            least = min(len(v) for v in held.values())
            assert _near(itpr, 1 - classes * least / records) or abs(itpr) < 1e-15
        assert n["max_confidence"] >= n["bayes_vulnerability_posterior"] - 1e-15
        assert n["beta_likeness"] >= 0


@pytest.mark.parametrize("chunk", cases("chain", 40))
def test_p13_chain_rule(chunk: list[Case]) -> None:
    """I(X; Y1, Y2) = I(X; Y1) + I(X; Y2 | Y1), and H(X, Q) = H(Q) + H(X|Q) counted jointly."""
    for c in chunk:
        rows, q = c.rows, list(c.quasi)
        if len(q) > 1:
            parts: dict[Any, list[dict[str, Any]]] = {}
            for row in rows:
                parts.setdefault(row[q[0]], []).append(row)
            left = sum(len(p) / len(rows) * _information(c, q[1:], p) for p in parts.values())
            whole = _information(c, q, rows)
            assert abs(whole - _information(c, q[:1], rows) - left) < 1e-12
        both = [repr([row[k] for k in (*q, c.secret)]) for row in rows]
        counted = sievert.entropy({"x": both, "y": ["1"] * len(rows)}, "y", "x")
        assert abs(counted - float(measure(c)["secret", "joint_entropy"])) < 1e-12


def _information(c: Case, quasi: list[str], rows: list[dict[str, Any]]) -> float:
    columns = {k: [row[k] for row in rows] for k in c.columns}
    return float(sievert.mutual_information(columns, quasi, c.secret))


@pytest.mark.parametrize("seed", range(40))
def test_p16_and_p17_independence(seed: int) -> None:
    """Every class the same mixture: exactly nothing is learned, and ITPR is 1 - K min p(q)."""
    random = Random(seed)
    mixture = [random.choice("xyz") for _ in range(random.randint(2, 5))]
    sizes = [random.randint(1, 4) for _ in range(random.randint(1, 4))]
    rows = [(f"q{i}", s) for i, times in enumerate(sizes) for _ in range(times) for s in mixture]
    table = {"q": [q for q, _ in rows], "s": [s for _, s in rows]}
    values = sievert.assess(table, "q", "s").inference["s"]
    assert values["mutual_information"].value == 0.0
    assert values["t_closeness"].value == 0.0 and values["beta_likeness"].value == 0.0
    if len(set(mixture)) > 1:
        due = 1 - len(sizes) * min(sizes) / sum(sizes)
        assert abs(float(values["itpr"].value or 0) - due) < 1e-15
        if len(set(sizes)) == 1:
            assert values["itpr"].value == 0.0


def test_p16_uniform_classes() -> None:
    """Where all classes are as large, ITPR is as far from 1 as eq. 9, K times over."""
    for seed in range(20):
        random = Random(seed)
        classes, size = random.randint(2, 4), random.randint(2, 5)
        secret = [random.choice("xyz") for _ in range(classes * size)]
        table = {"q": [str(i // size) for i in range(classes * size)], "s": secret}
        values = sievert.assess(table, "q", "s").inference["s"]
        if values["itpr"].value is not None and values["itpr_unnormalized"].value is not None:
            gap = classes * (1 - float(values["itpr_unnormalized"].value))
            assert abs(1 - float(values["itpr"].value) - gap) < 1e-12


COUNTEREXAMPLES = {
    "sizes (2,2,2) to (2,4)": ((2, 2, 2), (2, 4)),
    "the paper's zip codes (3,3,2) to (6,2)": ((3, 3, 2), (6, 2)),
}


@pytest.mark.parametrize("sizes", COUNTEREXAMPLES.values(), ids=COUNTEREXAMPLES)
def test_itpr_can_rise_when_values_are_merged(sizes: tuple[tuple[int, ...], ...]) -> None:
    """Why nothing may prune a search on ITPR, and why eq. 9 stands beside it."""
    fine, coarse = (
        {"q": [str(i) for i, n in enumerate(parts) for _ in range(n)]} for parts in sizes
    )
    assert sievert.itpr(fine, "q") < sievert.itpr(coarse, "q")
    assert sievert.itpr_unnormalized(fine, "q") >= sievert.itpr_unnormalized(coarse, "q")
