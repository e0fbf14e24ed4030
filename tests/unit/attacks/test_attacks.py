"""The five attacks against their definitions: loops over records, fractions, 50 digits."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import mpmath
import numpy as np
import pytest
from helpers import oracle, randomtables

from sievert.attacks.attack import Attack, Column, Group, with_target
from sievert.attacks.homogeneity import background, homogeneity
from sievert.attacks.identity import black_box, grey_box, white_box
from sievert.attacks.register_matching import Matching, candidates
from sievert.attacks.release_attacks import semantic, skewness
from sievert.counts.cube import Cube
from sievert.errors import ExhaustedError, UsageError
from sievert.hierarchies import ROOT, Hierarchy

CLOSE = 1e-12
DUST = mpmath.mpf(10) ** -40
Rows = list[tuple[Any, ...]]


def cube(columns: list[str], rows: Rows) -> Cube:
    """The cells of some records, as an engine would have counted them."""
    cells = Counter(rows)
    texts = [list(dict.fromkeys(key[i] for key in cells)) for i in range(len(columns))]
    codes = [[texts[i].index(key[i]) for key in cells] for i in range(len(columns))]
    return Cube.from_cells(columns, codes, list(cells.values()), texts)


def tables(number: int, seed: int) -> list[randomtables.Case]:
    random = Random(seed)
    return [randomtables.case(random) for _ in range(number)]


def cells(case: randomtables.Case) -> tuple[Cube, Rows]:
    names = [*case.quasi, case.secret]
    rows = list(zip(*(case.columns[c] for c in names), strict=True))
    return cube(names, rows), rows


def entropy(counts: list[int]) -> Any:
    n = sum(counts)
    return -sum((mpmath.mpf(c) / n * mpmath.log(mpmath.mpf(c) / n, 2) for c in counts if c), 0)


def same(found: Any, expected: Any) -> bool:
    if expected is None or found is None:
        return found is expected
    expected = mpmath.mpf(expected.numerator) / expected.denominator if isinstance(
        expected, Fraction) else mpmath.mpf(expected)  # fmt: skip
    return bool(abs(found - expected) <= CLOSE * max(1, abs(expected)))


def number(attack: Attack | Group, name: str) -> Any:
    return attack.numbers[name].value


def classes(rows: Rows) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for *key, secret in rows:
        found.setdefault(tuple(key), []).append(secret)
    return found


def by_value(rows: Rows, place: int) -> dict[Any, tuple[int, Any]]:
    """Of one column: each value's records, and 1 - h/H."""
    whole = entropy(list(Counter(r[-1] for r in rows).values()))
    found = {}
    for key, secrets in classes([(r[place], r[-1]) for r in rows]).items():
        left = mpmath.mpf(len(secrets)) / len(rows) * entropy(list(Counter(secrets).values()))
        found[key[0]] = (len(secrets), 1 - left / whole if whole else None)
    return found


def check_columns(columns: dict[str, Column], rows: Rows, missing: bool = False) -> None:
    name = "missing" if missing else "discrimination_rate_of_value"
    for place, column in enumerate(columns.values()):
        expected = by_value(rows, place)
        assert column.values.number == len(expected)
        listed = column.values.groups
        assert len(listed) == len(expected)
        rates = [g.numbers[name].value for g in listed]
        for group in listed:
            assert group.values is not None
            (value,) = group.values.values()
            size, rate = expected[value]
            assert group.records == size
            assert same(
                group.numbers[name].value, 1 - rate if missing and rate is not None else rate
            )
        if None not in rates:
            assert rates == sorted(rates, reverse=not missing)


@pytest.mark.parametrize("seed", range(8))
def test_homogeneity(seed: int) -> None:
    for case in tables(40, seed):
        given, rows = cells(case)
        found = homogeneity(given, show=True)
        expected = oracle.inference(case.rows, case.quasi, case.secret)["discrimination_rate"]
        assert same(
            number(found, "discrimination_rate"), None if expected == "H(X) = 0" else expected
        )
        left = {q: entropy(list(Counter(s).values())) for q, s in classes(rows).items()}
        least = min(left.values())
        alike = [q for q, h in left.items() if h - least < DUST]
        sizes = {q: len(s) for q, s in classes(rows).items()}
        assert number(found, "people") == sum(sizes[q] for q in alike)
        worst = found.worst
        assert worst is not None and worst.values is not None
        assert worst.records == max(sizes[q] for q in alike)
        key = tuple(worst.values[c] for c in case.quasi)
        assert key in alike
        assert same(number(worst, "conditional_entropy"), least)
        held = Counter(classes(rows)[key])
        assert same(number(worst, "confidence"), Fraction(max(held.values()), sizes[key]))
        check_columns(dict(found.columns), rows)
        if least < DUST and expected != "H(X) = 0":
            assert "certain" in found.reading


@pytest.mark.parametrize("seed", range(8))
def test_background(seed: int) -> None:
    for case in tables(40, 100 + seed):
        given, rows = cells(case)
        found = background(given, show=True)
        rate = oracle.inference(case.rows, case.quasi, case.secret)["discrimination_rate"]
        assert same(number(found, "missing"), None if rate == "H(X) = 0" else 1 - rate)
        check_columns(dict(found.columns), rows, missing=True)
        whole = entropy(list(Counter(r[-1] for r in rows).values()))
        for m in (1, 2, 3):
            part = found.parts[f"ruled_out_{m}"]
            people = certain = 0
            gain, left = Fraction(0), mpmath.mpf(0)
            after = Fraction(0)
            for secrets in classes(rows).values():
                counts = sorted(Counter(secrets).values(), reverse=True)
                rest = counts[m:]
                if not rest:
                    continue
                people += sum(rest)
                certain += sum(rest) if len(rest) == 1 else 0
                before, then = Fraction(rest[0], len(secrets)), Fraction(rest[0], sum(rest))
                gain += sum(rest) * (then - before)
                left += sum(rest) * entropy(rest)
                after = max(after, then)
            assert number(part, "people") == people
            assert number(part, "certain") == certain
            assert same(number(part, "gain"), gain / people if people else None)
            assert same(number(part, "missing_after"), left / people / whole if people else None)
            if people:
                assert part.worst is not None
                assert same(number(part.worst, "confidence"), after)
            else:
                assert part.worst is None and part.numbers["gain"].reason


def expected_rise(rows: Rows, named: Any = ...) -> tuple[Fraction, set[Any], set[Any]]:
    """The largest p(s|q) - p(s), the classes and the values that have it."""
    table = Counter(r[-1] for r in rows)
    rises = {
        (q, s): Fraction(n, len(secrets)) - Fraction(table[s], len(rows))
        for q, secrets in classes(rows).items()
        for s, n in Counter(secrets).items()
        if named is ... or s == named
    }
    most = max(rises.values())
    alike = [cell for cell, rise in rises.items() if rise == most]
    return most, {q for q, _ in alike}, {s for _, s in alike}


def check_skewness(found: Attack, rows: Rows, named: Any = ...) -> None:
    most, where, which = expected_rise(rows, named)
    assert same(number(found, "gain"), most)
    held = classes(rows)
    assert number(found, "people") == (sum(len(held[q]) for q in where) if most else 0)
    if not most:
        assert found.worst is None
        return
    worst = found.worst
    assert worst is not None and worst.values is not None
    *key, value = worst.values.values()
    q, table = tuple(key), Counter(r[-1] for r in rows)
    assert q in where and value in which
    assert worst.records == max(len(held[c]) for c in where)
    prior = Fraction(table[value], len(rows))
    assert same(number(found, "prior"), prior)
    assert same(number(found, "posterior"), prior + most)
    assert same(number(found, "ratio"), (prior + most) / prior)
    against = [{"q": r[:-1], "s": r[-1] == value} for r in rows]
    rate = oracle.inference(against, ["q"], "s")["discrimination_rate"]
    assert same(number(found, "semantic_discrimination_rate"), None if rate == "H(X) = 0" else rate)
    here = Counter(held[q])
    distance = sum(
        (abs(Fraction(here[s], len(held[q])) - Fraction(table[s], len(rows))) for s in table),
        Fraction(0),
    )
    assert same(number(worst, "t_closeness"), distance / 2)
    drop = entropy(list(table.values())) - entropy(list(here.values()))
    assert same(number(worst, "entropy_variation"), drop)


@pytest.mark.parametrize("seed", range(8))
def test_skewness(seed: int) -> None:
    for case in tables(40, 200 + seed):
        given, rows = cells(case)
        found = skewness(given, show=True)
        check_skewness(found, rows)
        measures = oracle.inference(case.rows, case.quasi, case.secret)
        for name in ("t_closeness", "entropy_variation"):
            assert same(number(found, name), measures[name]), name
        assert found.values is not None
        assert found.values.number == len({r[-1] for r in rows})
        for group in found.values.groups:
            assert group.values is not None
            (value,) = group.values.values()
            assert same(number(group, "gain"), expected_rise(rows, value)[0])
        named = skewness(given, named=case.named, show=True)
        if any(r[-1] == case.named for r in rows):
            check_skewness(named, rows, case.named)
            assert named.details == {"named_value": True, "occurs": True}
        else:
            assert named.numbers["gain"].reason == "the value does not occur"
            assert number(named, "people") == 0


def merged(rows: Rows, label: dict[Any, Any]) -> Rows:
    return [(*r[:-1], label.get(r[-1])) for r in rows]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.slow
def test_semantic(seed: int) -> None:
    for case in tables(40, 300 + seed):
        given, rows = cells(case)
        ladder = Hierarchy({v: labels for v, labels in case.ladder.items() if v is not None})
        found = semantic(given, partition=case.partition, hierarchy=ladder, show=True)
        assert found is not None
        part = {v: p for p, members in case.partition.items() for v in members}
        ways = {"partition": part}
        for level in (1, 2):
            ways[f"level_{level}"] = {v: labels[level - 1] for v, labels in ladder.labels.items()}
        assert set(found.parts) == set(ways)
        for way, label in ways.items():
            after = merged(rows, label)
            attack = found.parts[way]
            plain = homogeneity(cube([*case.quasi, case.secret], after))
            for name in ("people",):
                assert number(attack, name) == number(plain, name)
            assert same(
                number(attack, "semantic_discrimination_rate"), number(plain, "discrimination_rate")
            )
            assert number(attack, "parts") == len({r[-1] for r in after})
            check_skewness(attack.parts["skewness"], after)
            check_columns(dict(attack.columns), after)


def test_semantic_needs_something_to_merge_by() -> None:
    given = cube(["q", "s"], [("a", "x"), ("b", "y")])
    assert semantic(given) is None
    with pytest.raises(UsageError, match="names a value in two parts"):
        semantic(given, partition={"one": ["x"], "two": ["x"]})


def test_a_named_value_is_followed_into_its_part() -> None:
    rows = [("a", "colon"), ("a", "lung"), ("b", "flu"), ("b", "lung"), ("b", "flu")]
    found = semantic(
        cube(["q", "s"], rows), partition={"cancer": ["colon", "lung"]}, named="colon", show=True
    )
    assert found is not None
    skewed = found.parts["partition"].parts["skewness"]
    assert number(skewed, "prior") == 0.6 and number(skewed, "posterior") == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_black_box(seed: int) -> None:
    for case in tables(40, 400 + seed):
        rows = list(zip(*(case.columns[q] for q in case.quasi), strict=True))
        found = black_box(cube(list(case.quasi), rows), show=True)
        expected = oracle.reidentification(case.rows, case.quasi)
        rate = expected["discrimination_rate"]
        assert same(number(found, "discrimination_rate"), None if rate == "H(X) = 0" else rate)
        sizes = Counter(rows)
        least = min(sizes.values())
        assert number(found, "candidates") == least == expected["k_anonymity"]
        assert number(found, "people") == sum(n for n in sizes.values() if n == least)
        for column, q in zip(found.columns.values(), case.quasi, strict=True):
            alone = oracle.reidentification(case.rows, [q])["discrimination_rate"]
            assert same(column.number.value, None if alone == "H(X) = 0" else alone)
            for group in column.values.groups:
                assert group.values is not None
                n = sum(r[q] == group.values[q] for r in case.rows)
                assert group.records == n
                if len(rows) > 1:
                    left = mpmath.mpf(n) / len(rows) * mpmath.log(n) / mpmath.log(len(rows))
                    assert same(number(group, "discrimination_rate_of_value"), 1 - left)


# -- register ------------------------------------------------------------------------------------

LADDER = {
    "11": ("1*", "low", ROOT), "12": ("1*", "low", ROOT), "21": ("2*", "low", ROOT),
    "31": ("3*", "high", ROOT), "32": ("3*", "high", ROOT), "1*": ("1*", "low", ROOT),
}  # fmt: skip


def compatible(asked: Any, released: Any, ladder: dict[str, tuple[str, ...]], wild: bool) -> bool:
    if wild and (asked is None or released is None):
        return True
    return released in (asked, ROOT, *ladder.get(asked, ()))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("wild", [False, True])
def test_candidates(seed: int, wild: bool) -> None:
    random = Random(500 + seed)
    for _ in range(25):
        columns = random.randint(1, 3)
        ladders = [random.choice((LADDER, {})) for _ in range(columns)]
        leaves = [*LADDER, None, "strange"]

        def value(released: bool, ladder: dict[str, tuple[str, ...]]) -> Any:
            leaf = random.choice(leaves)  # noqa: B023
            if released and random.random() < 0.6:
                return random.choice((ROOT, None, *ladder.get(leaf, ())))
            return leaf

        release = [tuple(value(True, x) for x in ladders) for _ in range(random.randint(1, 12))]
        register = [tuple(value(False, x) for x in ladders) for _ in range(random.randint(1, 12))]
        names = [f"c{i}" for i in range(columns)]
        a, b = cube(names, release), cube(names, register)
        matchings = [
            Matching.from_texts(b.values[i], a.values[i], Hierarchy(x) if x else None, wild)
            for i, x in enumerate(ladders)
        ]
        found = candidates(a, b, matchings)

        def fits(asked: Any, released: Any) -> bool:
            triples = zip(asked, released, ladders, strict=True)  # noqa: B023
            return all(compatible(x, y, z, wild) for x, y, z in triples)

        expected = {r: sum(fits(r, x) for x in release) for r in register}
        for i in range(len(b.counts)):
            key = tuple(b.values[c][b.codes[c][i]] for c in range(columns))
            assert found[i] == expected[key], key
        # Everybody of the register who is in the release stands beside a released record.
        pairs = [(r, x) for r, x in zip(register, release, strict=False)]
        truth = cube([*names, *(f"r{n}" for n in names)], [(*r, *x) for r, x in pairs])
        truth = spelled_alike(truth, [*b.values, *a.values])
        attack = grey_box(a, b, matchings, truth=truth)
        single = sum(expected[r] == 1 for r in register)
        right = sum(expected[r] == 1 and fits(r, x) for r, x in pairs)
        guesses = sum((Fraction(1, expected[r]) for r, x in pairs if fits(r, x)), Fraction(0))
        assert number(attack, "rows") == len(register)
        assert number(attack, "single") == single
        assert number(attack, "unmatched") == sum(expected[r] == 0 for r in register)
        assert number(attack, "known") == len(pairs)
        assert number(attack, "true_matches") == right
        assert number(attack, "false_matches") == single - right
        assert number(attack, "lost") == sum(not fits(r, x) for r, x in pairs)
        assert same(number(attack, "right_guesses"), guesses)
        shown = [x for x in release if set(x) != {ROOT}]
        assert number(attack, "suppressed") == len(release) - len(shown)
        assert bool(attack.parts) is (0 < len(shown) < len(release))
        for part in attack.parts.values():
            fewer = {r: sum(fits(r, x) for x in shown) for r in register}
            right = sum(fewer[r] == 1 and x in shown and fits(r, x) for r, x in pairs)
            assert number(part, "single") == sum(fewer[r] == 1 for r in register)
            assert number(part, "true_matches") == right
            assert number(part, "lost") == sum(x not in shown or not fits(r, x) for r, x in pairs)
        met = [expected[r] for r in register if expected[r]]
        assert number(attack, "candidates") == (min(met) if met else None)
        assert number(attack, "people") == (met.count(min(met)) if met else 0)
        if met and len(release) > 1:
            bits = sum(mpmath.log(mpmath.mpf(len(release)) / n) for n in met) / len(met)
            share = bits / mpmath.log(len(release))
            assert same(number(attack, "register_discrimination_rate"), share)


def spelled_alike(given: Cube, values: list[tuple[str | None, ...]]) -> Cube:
    """The same cells in the codes of other cubes."""
    codes = [
        np.array([new.index(old[c]) for c in held], dtype=np.uint32)
        for held, old, new in zip(given.codes, given.values, values, strict=True)
    ]
    return Cube(
        columns=given.columns, codes=tuple(codes), counts=given.counts, values=tuple(values)
    )


def test_many_columns_of_many_values_are_looked_up_too() -> None:
    random = Random(1)
    names = [f"c{i}" for i in range(9)]
    pool = [tuple(str(random.randrange(400)) for _ in names) for _ in range(300)]
    release, register = [random.choice(pool) for _ in range(400)], pool[:200]
    a, b = cube(names, release), cube(names, register)
    assert a.bits > 62
    matchings = [Matching.from_texts(b.values[i], a.values[i]) for i in range(9)]
    found = candidates(a, b, matchings)
    for i, n in enumerate(found.tolist()):
        assert n == release.count(tuple(b.values[c][b.codes[c][i]] for c in range(9)))


def test_too_many_patterns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sievert.attacks.register_matching.MOST_WORK", 3)
    rows = list(itertools.product(("11", "1*", "low", ROOT), repeat=2))
    a, b = cube(["x", "y"], rows), cube(["x", "y"], [("11", "12"), ("12", "11")])
    matchings = [Matching.from_texts(b.values[i], a.values[i], Hierarchy(LADDER)) for i in (0, 1)]
    with pytest.raises(ExhaustedError, match="patterns of levels"):
        candidates(a, b, matchings)


def test_values_without_a_place_are_counted() -> None:
    found = Matching.from_texts((None, "11", "99"), (None, "1*", "7*"), Hierarchy(LADDER))
    assert found.strange == 1 and found.placeless == 1
    assert Matching.from_texts((None, "a"), (None, "b", ROOT)).strange == 1


# -- original --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_white_box(seed: int) -> None:
    for case in tables(40, 600 + seed):
        random = Random(case.named)
        names = list(case.quasi)
        original = list(zip(*(case.columns[q] for q in names), strict=True))
        released = [tuple(random.choice((v, ROOT, "x")) for v in row) for row in original]
        pairs = cube(
            [*names, *(f"original {n}" for n in names)],
            [(*a, *b) for a, b in zip(released, original, strict=True)],
        )
        found = white_box(pairs, names, show=True)
        whole = [(*a, b) for a, b in zip(released, original, strict=True)]
        expected = homogeneity(cube([*names, "x"], [(*r[:-1], repr(r[-1])) for r in whole]))
        assert same(number(found, "discrimination_rate"), number(expected, "discrimination_rate"))
        assert number(found, "people") == number(expected, "people")
        for i, column in enumerate(found.columns.values()):
            alone = [(a[i], b[i]) for a, b in zip(released, original, strict=True)]
            check_columns({"": column}, alone)
            table = [{"y": y, "x": x} for y, x in alone]
            rate = oracle.inference(table, ["y"], "x")["discrimination_rate"]
            assert same(column.number.value, None if rate == "H(X) = 0" else rate)


# -- what is told ----------------------------------------------------------------------------------


def texts(given: Any) -> list[str]:
    if isinstance(given, dict):
        return [t for k, v in given.items() for t in (str(k), *texts(v))]
    if isinstance(given, list | tuple):
        return [t for v in given for t in texts(v)]
    return [str(given)]


def test_no_value_is_told_unless_asked() -> None:
    rows = [("qxa", "qxs"), ("qxa", "qxt"), ("qxb", "qxs"), ("qxb", "qxs"), ("qxc", "qxu")]
    given = cube(["age", "disease"], rows)
    ladder = Hierarchy(dict.fromkeys(("qxs", "qxt", "qxu"), ("qxl", "qxm", ROOT)))
    for show in (False, True):
        attacks = [
            black_box(given.roll_up(["age"]), show=show),
            homogeneity(given, show=show),
            background(given, show=show),
            skewness(given, show=show),
            skewness(given, named="qxt", show=show),
            semantic(given, partition={"qxp": ["qxs"]}, hierarchy=ladder, show=show),
            white_box(given, ["age"], show=show),
        ]
        told = "\n".join(t for a in attacks if a for t in (*texts(a.to_dict()), repr(a)))
        assert ("qx" in told) is show


def test_a_secret_that_is_a_quasi_identifier() -> None:
    given = with_target(cube(["age", "zip"], [("1", "a"), ("1", "b"), ("2", "a")]), "age")
    found = homogeneity(given)
    assert number(found, "discrimination_rate") == 1.0
    assert found.columns["age"].number.value == 1.0
    assert set(found.columns) == {"age", "zip"}


def test_one_record_and_one_value() -> None:
    one = cube(["q", "s"], [("a", "x")])
    for attack in (homogeneity(one), background(one), skewness(one)):
        assert "In the whole table" in attack.reading
        assert all(v.value is None or v.value >= 0 for v in attack.numbers.values())
    assert black_box(one.roll_up(["q"])).numbers["discrimination_rate"].reason == "H(X) = 0"


def test_independent_columns_rise_nowhere() -> None:
    found = skewness(cube(["q", "s"], list(itertools.product("ab", "xy"))))
    assert number(found, "gain") == 0.0 and number(found, "people") == 0
    assert found.worst is None and "No value is likelier" in found.reading


def test_a_small_drop_of_entropy_keeps_its_digits() -> None:
    given = Cube.from_cells(
        ["q", "s"], [[0, 0, 1, 1], [0, 1, 0, 1]], [500_001, 499_999, 10**9, 10**9],
        [["a", "b"], ["x", "y"]],
    )  # fmt: skip
    found = skewness(given, named="x")
    assert found.worst is not None
    with mpmath.workdps(50):
        whole, here = entropy([500_001 + 10**9, 499_999 + 10**9]), entropy([500_001, 499_999])
        drop = number(found.worst, "entropy_variation")
        assert abs(drop / (whole - here) - 1) < CLOSE


# --------------------------------------------------------------------------- spellings


def respelt(table: dict[str, str], random: Random) -> Cube:
    """The same records with other spellings, and quasi-identifiers in another order."""
    names = [*random.sample(["x", "y"], 2), "s"]
    columns = []
    for name in names:
        values = sorted(set(table[name]))
        new = dict(zip(values, random.sample(values, len(values)), strict=True))
        columns.append([new[v] for v in table[name]])
    return cube(names, sorted(zip(*columns, strict=True)))


def without_names(attack: Attack) -> Any:
    found = attack.to_dict()
    columns = found.pop("columns", {})
    return found, sorted(json.dumps(c, sort_keys=True) for c in columns.values())


TIED = [
    # two bits in both classes of eight: 4 + 1 + 1 + 1 + 1 and 2 + 2 + 2 + 2
    {"x": "a" * 8 + "b" * 8, "y": "a" * 16, "s": "ppppqrstuuvvwwxx"},
    # after the likeliest value one of two is left in both classes, of three and of four
    {"x": "aaabbbb", "y": "a" * 7, "s": "pqrppqr"},
    # the same rise in classes of the same size, of values that are frequent and rare elsewhere
    {"x": "aabbcccc", "y": "aaaaabab", "s": "pqrsppqr"},
    {"x": "aabbccdd", "y": "aaaabbbb", "s": "pqrsptqu"},
]


@pytest.mark.parametrize("seed", range(12))
def test_ties_do_not_depend_on_spellings_or_on_the_order_of_columns(seed: int) -> None:
    random = Random(seed)
    drawn = {
        c: "".join(random.choices(v, k=16)) for c, v in (("x", "abc"), ("y", "ab"), ("s", "pqrs"))
    }
    table = TIED[seed] if seed < len(TIED) else drawn
    first, *others = (
        [without_names(attack(given)) for attack in (background, skewness, homogeneity)]
        for given in (respelt(table, random) for _ in range(8))
    )
    assert all(other == first for other in others)
