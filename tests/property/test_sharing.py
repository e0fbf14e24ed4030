"""What is passed on tells nothing about few people, even to somebody who does the sums.

First what can be seen at a glance: no small count, no small difference, only coarse numbers, the
same verdicts. Then the attacks: every table of a few records is listed, and those that would have
been shown alike are compared; what they all have in common is known to the reader. For larger
tables the formulas are solved for the count they were made of.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

import sievert
from sievert.commands.assess.result import Assessment
from sievert.commands.assess.terminal import render
from sievert.counts.answers import Gaps, JointCounts, Profiles, RecordCounts, SecretCounts, Sizes
from sievert.errors import UsageError
from sievert.measures import BY_ID, MEASURES
from sievert.measures.measure import MeasureResult, Value
from sievert.measures.target import RecordTarget, SecretTarget
from sievert.policy import GateReason, Judgement, judge, parse_policy
from sievert.roles import Roles

TABLES = 300
CHUNKS = 6
CELLS = (3, 10, 30)
TOKEN = re.compile(r"[QS]x\d")  # every cell of the random tables looks like this
SUPPRESSED = {"value": None, "reason": "suppressed", "below": 10}


# -- random tables ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    columns: dict[str, list[Any]]
    options: dict[str, Any]

    def assess(self) -> Assessment:
        return sievert.assess(self.columns, ["zip", "age"], ["disease"], **self.options)


def sizes(random: Random) -> list[int]:
    """Sizes of classes, of every shape in which a small number may stand out."""
    shape = random.choice(
        ("tiny", "teens", "few classes", "many classes", "unique", "few alone", "few not alone")
    )
    if shape == "tiny":
        return _parts(random, random.randint(1, 9), 3)
    if shape == "teens":
        return _parts(random, random.randint(10, 20), 6)
    if shape == "few classes":
        return [random.choice((1, 2, 5, 9, 10, 30, 400)) for _ in range(random.randint(1, 6))]
    if shape == "many classes":
        return [random.choice((1, 2, 2, 3, 5, 8, 12, 20)) for _ in range(random.randint(20, 150))]
    if shape == "unique":
        return [1] * random.randint(10, 1500) + [random.randint(2, 40)]
    alone = random.randint(1, 9)
    if shape == "few alone":
        return [1] * alone + [random.randint(2, 60) for _ in range(random.randint(1, 30))]
    return [1] * random.randint(10, 300) + _parts(random, alone + 1, 9)


def _parts(random: Random, records: int, most: int) -> list[int]:
    found: list[int] = []
    while sum(found) < records:
        found.append(min(random.randint(1, most), records - sum(found)))
    return found


def table(random: Random) -> Table:
    """Two quasi-identifiers and a secret, with missing values, and what measures may be told."""
    keys = [i for i, n in enumerate(sizes(random)) for _ in range(n)]
    lacks = random.choice((0.0, 0.0, 0.02, 0.3))
    values = [f"Sx{i}" for i in range(random.choice((1, 2, 3, 12)))]
    skew = random.choice((0.0, 0.5, 0.99))

    def secret() -> str | None:
        if random.random() < lacks:
            return None
        return values[0] if random.random() < skew else random.choice(values)

    def key(number: int) -> str | None:
        return None if random.random() < lacks / 2 else f"Qx{number}"

    columns: dict[str, list[Any]] = {
        "zip": [key(k // 3) for k in keys],
        "age": [f"Qx{k % 3}" for k in keys],
        "disease": [secret() for _ in keys],
    }
    options: dict[str, Any] = {"missing": random.choice(("value", "value", "wildcard", "drop"))}
    if not any(columns["zip"]):
        options["missing"] = "value"
    if random.random() < 0.4:
        options["orders"] = {"disease": values}
        options["partitions"] = {"disease": {"Sx-part": values[:1]}}
        ladder = {v: (f"Sx-{i % 2}", "*") for i, v in enumerate(values)}
        options["hierarchies"] = {"disease": sievert.Hierarchy(ladder)}
    if random.random() < 0.3:
        options["parameters"] = {
            "recursive_c": {"l": random.randint(1, 3)},
            "records_below": {"k": sorted(random.sample(range(2, 40), 4))},
        }
    return Table(columns, options)


def limited(found: Assessment, random: Random) -> Assessment:
    """The same with a limit on every number."""

    def limit(measure: str) -> dict[str, float]:
        m = BY_ID[measure]
        bound = random.random() if m.high == 1 else float(random.randint(1, 12))
        return {random.choice(("min", "max")): bound}

    limits: dict[str, Any] = {
        "reidentification": {m: limit(m) for m in found.reidentification},
        "inference": {s: {m: limit(m) for m in v} for s, v in found.inference.items()},
    }
    parsed = parse_policy({"limits": limits})
    verdicts, warnings = judge(parsed, found.reidentification, found.inference)
    policy = Judgement(tuple(verdicts), (GateReason("columns_without_role", False, ("age",)),))
    return replace(found, policy=policy, warnings=(*found.warnings, *warnings))


# -- at a glance --------------------------------------------------------------------------------

PARAMETERS = {
    ("table", "columns"),
    ("table", "shared"),
    ("table", "na_codes"),
    ("reidentification", "records_below", "k"),
}


def walk(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every leaf of the JSON with where it stands."""
    if isinstance(tree, dict | list):
        items = tree.items() if isinstance(tree, dict) else enumerate(tree)
        for key, branch in items:
            yield from walk(branch, (*path, str(key)))
    else:
        yield path, tree


def counts(shown: dict[str, Any]) -> dict[tuple[str, ...], int]:
    """Every whole number of the JSON but for parameters."""
    return {
        path: leaf
        for path, leaf in walk(shown)
        if isinstance(leaf, int)
        and not isinstance(leaf, bool)
        and path not in PARAMETERS
        and path[-1] != "below"
        and path[-2:] != ("recursive_c", "l")
    }


def check_counts(shown: dict[str, Any], least: int) -> None:
    """No count is small, nor what all records leave of it, nor the step from one to the next."""
    rows = shown["table"]["rows"]
    for path, count in counts(shown).items():
        assert count == 0 or count >= least, (path, count)
        if rows is not None and path[0] != "table":
            whole_cells = count % least == 0  # up to a cell more
            assert count == rows or whole_cells or rows - count >= least, (path, count, rows)
    below = shown["reidentification"]["records_below"].get("by_k", {})
    steps = [0, *(n for _, n in sorted(below.items(), key=lambda p: int(p[0])) if n is not None)]
    for before, after in pairwise(steps):
        assert after == before or after - before >= least, below


def check_floats(shown: dict[str, Any], least: int) -> None:
    """A number is an end of its range, or a multiple of a step that a cell of records makes."""
    rows = shown["table"]["rows"]
    for path, number in walk(shown):
        measure = next((p for p in reversed(path) if p in BY_ID), None)
        if not isinstance(number, float) or measure is None or path[0] == "policy":
            continue
        m = BY_ID[measure]
        if number in (m.low, m.high):
            continue
        assert rows is not None, path  # nothing can be coarse enough
        finest = least / rows * (1 if m.high == 1 else max(1.0, math.log2(rows)))
        step = 10.0 ** math.ceil(math.log10(finest) - 1e-9)
        grids = [g for g in (step / 5, step / 2, step) if g >= finest * (1 - 1e-9)]
        assert any(abs(number / g - round(number / g)) < 1e-6 for g in grids), (path, number)


def check_text(text: str, least: int) -> None:
    """Whatever is counted in words is not small either."""
    for line in text.splitlines():
        if "limit" in line or "entropy_l " in line:  # a parameter; an effective number
            continue
        for count in re.findall(r"([\d,]*\d)  ?(?:records|classes|values|people|persons)\b", line):
            number = int(count.replace(",", ""))
            told = re.search(rf"(?:fewer than|below|<) {count}", line)
            assert number == 0 or number >= least or told, line


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_small_count_and_nothing_exact(chunk: int) -> None:
    """Random tables of every shape, three sizes of cell, with a limit on every number."""
    for number in range(chunk, TABLES, CHUNKS):
        random = Random(f"sharing {number}")
        found = limited(table(random).assess(), random)
        for least in CELLS[number % 3 :: 3] if number % 15 else CELLS:
            fit = found.share(min_cell=least)
            shown = fit.to_dict()
            check_counts(shown, least)
            check_floats(shown, least)
            text = render(fit, everything=True)
            check_text(text, least)
            assert not TOKEN.search(json.dumps(shown) + text + fit._repr_html_())
            assert shown["table"]["name"] is None
            assert fit.met == found.met
            assert [v.met for v in fit.verdicts or ()] == [v.met for v in found.verdicts or ()]
            check_contract(found, shown, least)


def check_contract(found: Assessment, shown: dict[str, Any], least: int) -> None:
    """A number is shown, or it is null with a reason; a small count says below what it lies."""
    for name, value in found.reidentification.items():
        told = shown["reidentification"][name]
        assert (told["value"] is None) == (told["reason"] is not None), told
        small = isinstance(value.value, int) and 0 < value.value < least
        if small and name != "records_below" and (name == "k_anonymity" or found.rows >= 5 * least):
            assert {k: told[k] for k in SUPPRESSED} == {**SUPPRESSED, "below": least}
        if value.value is None and told["reason"] != "suppressed":
            assert told["reason"] == value.reason


def test_only_once_and_not_below_three() -> None:
    found = sievert.assess({"q": ["a"] * 20}, ["q"])
    with pytest.raises(UsageError, match="before"):
        found.share().share()
    for cell in (2, 0, -1):
        with pytest.raises(UsageError, match="at least 3"):
            found.share(min_cell=cell)


@pytest.mark.parametrize(("least", "code"), [(2, 0), (5, 1)])
def test_the_command_says_the_same(tmp_path: Path, least: int, code: int) -> None:
    """The exit code is that of the exact numbers; no name of a file, no path."""
    source = tmp_path / "canary.csv"
    lines = ["zip,disease", *(f"Qx{i // 4},Sx{i % 4}" for i in range(200))]
    source.write_text("\n".join(lines) + "\n")
    policy = tmp_path / "canary.toml"
    policy.write_text(f"[limits.reidentification]\nk_anonymity = {{ min = {least} }}\n")
    command = [sys.executable, "-m", "sievert", "assess", str(source), "-q", "zip", "-s", "disease"]
    command += ["--policy", str(policy)]
    exact = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    output = tmp_path / "out.json"
    command += ["--share", "--all", "--json", str(output)]
    fit = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert exact.returncode == fit.returncode == code
    written = output.read_text()
    assert json.loads(written)["policy"]["met"] is (code == 0)
    said = written + fit.stdout + fit.stderr
    assert "canary" not in said and str(tmp_path) not in said and not TOKEN.search(said)


# -- every table of a few records ---------------------------------------------------------------


def partitions(records: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """All ways to put so many records into classes."""
    if records == 0:
        yield ()
    for first in range(min(records, most or records), 0, -1):
        for rest in partitions(records - first, first):
            yield first, *rest


def computed(kind: str, target: Any, needs: frozenset[str] = frozenset()) -> dict[str, Value]:
    """Every number of a target that needs nothing more than counts."""
    values = {}
    for m in MEASURES:
        if kind in m.kinds and not m.needs & needs:
            found = m.compute(target, {})
            found = found if isinstance(found, MeasureResult) else MeasureResult(found)
            details = dict(found.details)
            values[m.id] = Value(m.id, found.value, m.unit, m.riskier, found.reason, details)
    return values


def histogram(numbers: Any) -> Sizes:
    times = Counter(numbers)
    return Sizes.from_arrays(list(times), list(times.values()))


def of_sizes(classes: tuple[int, ...]) -> Assessment:
    """The assessment of a table with classes of these sizes, without a table."""
    counted = RecordCounts(sum(classes), histogram(classes))
    described = {"name": "t", "kind": "columns", "rows": sum(classes), "columns": 1}
    values = computed("record", RecordTarget(counted))
    return Assessment(described, Roles(("q",), (), ()), values, {})


Matrix = tuple[tuple[int, ...], ...]  # one row a class, one column a value of the secret


def of_matrix(matrix: Matrix) -> Assessment:
    """The same with a secret."""
    held = [sum(row) for row in matrix]
    totals = [sum(column) for column in zip(*matrix, strict=True)]
    records = sum(held)
    cells = Counter(
        (held[i], totals[j], n) for i, row in enumerate(matrix) for j, n in enumerate(row) if n
    )
    held_in, total, count = zip(*cells, strict=True)
    profiles = Counter(tuple(sorted((n for n in row if n), reverse=True)) for row in matrix)
    gaps: dict[int, int] = defaultdict(int)
    for size, row in zip(held, matrix, strict=True):
        gap = sum(max(0, n * records - t * size) for n, t in zip(row, totals, strict=True))
        gaps[size] = max(gaps[size], gap)
    counted = SecretCounts(
        records,
        histogram(held),
        histogram(totals),
        Profiles.from_arrays([list(p) for p in profiles], list(profiles.values())),
        JointCounts.from_arrays(held_in, total, count, list(cells.values())),
        Gaps.from_arrays(list(gaps), list(gaps.values())),
    )
    needs = frozenset({"order", "hierarchy", "parts"})
    secret = computed("secret", SecretTarget(counted), needs)
    whole = of_sizes(tuple(sorted(held, reverse=True)))
    return replace(whole, roles=Roles(("q",), ("s",), ()), inference={"s": secret})


def matrices(records: int) -> set[Matrix]:
    """All tables of so many records with one secret, up to the names of classes and values.

    Some come more than once under other names: that does no harm here.
    """
    found: set[Matrix] = {((1,),)}
    for _ in range(records - 1):
        grown = set()
        for matrix in found:
            wide = [[*row, 0] for row in matrix] + [[0] * (len(matrix[0]) + 1)]
            for i in range(len(wide)):
                for j in range(len(wide[0])):
                    more = [list(row) for row in wide]
                    more[i][j] += 1
                    grown.add(_tidy(more))
        found = grown
    return found


def _tidy(matrix: list[list[int]]) -> Matrix:
    rows = [row for row in matrix if any(row)]
    for _ in range(3):
        rows = sorted(rows, key=lambda row: (sorted(row), row), reverse=True)
        columns = [c for c in zip(*rows, strict=True) if any(c)]
        columns.sort(key=lambda c: (sorted(c), c), reverse=True)
        rows = [list(row) for row in zip(*columns, strict=True)]
    return tuple(tuple(row) for row in rows)


def alike(found: Iterator[tuple[Any, Assessment]], least: int) -> Iterator[tuple[list[Any], Any]]:
    """Tables that are shown in the same way, with what is shown of them."""
    groups: dict[str, list[Any]] = defaultdict(list)
    for one, assessment in found:
        shown = assessment.share(min_cell=least).to_dict()
        groups[json.dumps(shown, sort_keys=True)].append(one)
    for text, group in groups.items():
        yield group, json.loads(text)


def known(group: list[Any], count: Callable[[Any], int]) -> int | None:
    """The count if it is the same in every table that is shown alike."""
    values = {count(one) for one in group}
    return values.pop() if len(values) == 1 else None


def alone(classes: tuple[int, ...]) -> int:
    return classes.count(1)


@pytest.mark.parametrize("records", [range(1, 10), range(10, 14), range(20, 22)], ids=str)
def test_sizes_of_classes_cannot_be_solved_for(records: range) -> None:
    """N, k and the records below each k stay unknown where they are withheld."""
    least, found = 10, []
    every = ((p, of_sizes(p)) for n in records for p in partitions(n))
    for group, shown in alike(every, least):
        values = shown["reidentification"]
        everybody = values["unique_records"].get("records")
        if values["k_anonymity"]["value"] is None and not everybody and known(group, min):
            found.append(("k", group[0]))
        if shown["table"]["rows"] is None and known(group, sum):
            found.append(("N", group[0]))
        hidden = {2: everybody, **{int(k): n for k, n in by_k(values).items()}}
        for k, number in hidden.items():
            derived = known(group, lambda p, k=k: sum(n for n in p if n < k))  # type: ignore[misc]
            whole = known(group, sum)
            if number is None and derived is not None and whole is not None:
                small = 0 < derived < least or 0 < whole - derived < least
                found += [(f"below {k}", group[0])] * small
    assert not found, (len(found), found[:5])


def by_k(values: dict[str, Any]) -> dict[str, int | None]:
    return dict(values["records_below"].get("by_k", {}))


def test_values_in_a_class_cannot_be_solved_for() -> None:
    """Neither l (but for 1, as certainty is shown) nor how many people have the rarest value.

    Where l is no less than a cell, so many values of few records are rare anyway.
    """
    least, found = 4, []
    every = ((m, of_matrix(m)) for m in matrices(8))
    for group, shown in alike(every, least):
        values = shown["inference"]["s"]
        few = known(group, lambda m: min(sum(1 for n in row if n) for row in m))
        if values["l_diversity"]["value"] is None and few is not None and few > 1:
            found.append(("l", group[0]))
        rarest = known(group, lambda m: min(map(sum, zip(*m, strict=True))))
        if rarest is not None and rarest < least and "below" in values["l_diversity"]:
            found.append(("rarest value", group[0]))
    assert not found, (len(found), found[:5])


# -- formulas solved for the count they were made of --------------------------------------------

SMALL = (1, 2, 4, 6, 9)


def shares(columns: dict[str, list[Any]], **options: Any) -> dict[str, Any]:
    secrets = [c for c in columns if c.startswith("s")]
    quasi = [c for c in columns if not c.startswith("s")]
    return sievert.assess(columns, quasi, secrets, **options).share().to_dict()


def spread(sizes: list[int]) -> list[str]:
    return [f"c{i}" for i, n in enumerate(sizes) for _ in range(n)]


def number(shown: dict[str, Any], measure: str) -> float:
    value = shown["inference"]["s"][measure]["value"]
    return math.nan if value is None else float(value)


def rare(count: int) -> dict[str, Any]:
    """2,000 records; `count` of them have a value that is theirs, and a class of their own."""
    sizes = [1000, 1000 - count, count]
    return shares({"q": spread(sizes), "s": spread(sizes)})


def odd(count: int) -> dict[str, Any]:
    """2,000 records of one class, all but `count` with the same value."""
    return shares({"q": ["c"] * 2000, "s": spread([2000 - count, count])})


def crossed(count: int) -> dict[str, Any]:
    """Two classes of 1,000 with a value each, but for `count` records of either."""
    secret = spread([1000 - count, count]) + spread([count, 1000 - count])
    return shares({"q": spread([1000, 1000]), "s": secret})


def equal(count: int) -> dict[str, Any]:
    """200 classes of 100, so that K·k = N; `count` of the first one have another value."""
    secret = spread([100 - count, count]) + spread([50, 50]) * 199
    return shares({"q": spread([100] * 200), "s": secret})


def even(count: int) -> dict[str, Any]:
    """A class of twice so many records among classes of 20; the secret is independent of them."""
    held = [2 * count, *[20] * 99]
    return shares({"q": spread(held), "s": [str(i % 2) for n in held for i in range(n)]})


def different(count: int) -> dict[str, Any]:
    """Classes of so many records; no two people have the same secret."""
    held = [count] * 100
    return shares({"q": spread(held), "s": [f"v{i}" for i in range(sum(held))]})


def lone(count: int) -> dict[str, Any]:
    """2,000 records; one class has `count` of them, another one the rest."""
    return shares({"q": spread([2000 - count, count]), "s": [str(i % 2) for i in range(2000)]})


def coded(count: int) -> dict[str, Any]:
    """15 records without a secret, and `count` with a code for missing."""
    secret = [None] * 15 + ["NA"] * count + ["x"] * 40 + ["y"] * 40
    return shares({"q": ["c"] * len(secret), "s": secret}, na=["NA"])


def lacking(count: int) -> dict[str, Any]:
    """15 records lack one quasi-identifier, 15 the other one, `count` of them both."""
    first = [None] * 15 + ["a"] * 85
    second = ["b"] * (15 - count) + [None] * 15 + ["b"] * (70 + count)
    return shares({"q": first, "r": second})


def filled(count: int) -> dict[str, Any]:
    """All but `count` records have nothing, or an empty text."""
    return shares({"q": [None] * 40 + [""] * 40 + ["a"] * count})


def pairs(count: int) -> dict[str, Any]:
    """Twelve people alone, `count` in pairs; only the records below 3 are asked for."""
    held = [1] * 12 + [2] * count + [50]
    return shares({"q": spread(held)}, parameters={"records_below": {"k": 3}})


def _missing(shown: dict[str, Any], column: str) -> int:
    return int(shown["table"]["missing_values"][column]["missing"] or 0)


def _noted(shown: dict[str, Any]) -> int:
    found = re.match(r"(\d+) records without", next(iter(shown["warnings"]), ""))
    return int(found[1]) if found else 0


def _of_filled(shown: dict[str, Any]) -> float:
    found = shown["table"]["missing_values"]["q"]
    parts = (shown["table"]["rows"], found["missing"], found["empty_text"])
    return math.nan if None in parts else float(parts[0] - parts[1] - parts[2])


def _of_pairs(shown: dict[str, Any]) -> float:
    values = shown["reidentification"]
    below, single = by_k(values)["3"], values["unique_records"].get("records")
    return math.nan if below is None or single is None else (below - single) / 2


def _of_even(shown: dict[str, Any]) -> float:
    classes = shown["reidentification"]["classes"]["value"] or math.nan
    if shown["reidentification"]["k_anonymity"]["value"] is not None:
        return math.nan  # nothing to find out
    return float((1 - number(shown, "itpr")) * shown["table"]["rows"] / classes / 2)


def _of_lone(shown: dict[str, Any]) -> float:
    value = shown["reidentification"]["average_class_risk"]["value"]
    return math.nan if value is None else 1 / (2 * value)


ATTACKS: dict[str, tuple[Callable[[int], Any], Callable[[Any], float], str | None]] = {
    "rarest value, beta": (
        rare,
        lambda d: 2000 / (number(d, "beta_likeness") + 1),
        "the gain over p(s) = n/N tells n",
    ),
    "rarest value, enhanced beta": (
        rare,
        lambda d: 2000 * math.exp(-number(d, "enhanced_beta_likeness")),
        "-ln p(s) of the rarest value is shown",
    ),
    "rarest value, delta": (
        rare,
        lambda d: 2000 * math.exp(-number(d, "delta_disclosure_present")),
        "the logarithm of the largest gain is shown",
    ),
    "cell of large classes, delta": (
        crossed,
        lambda d: 500 * math.exp(-number(d, "delta_disclosure_present")),
        "the logarithm of the smallest gain is shown",
    ),
    "other values of a class, recursive c": (
        odd,
        lambda d: 2000 / (number(d, "recursive_c") + 1),
        "r1/(r2 + ...) tells the rest of a class whose size is known",
    ),
    "other values of a class, reciprocal entropy": (
        odd,
        lambda d: _inverse(2000, number(d, "reciprocal_entropy")),
        "1/H has no bound, and no step that is coarse where H is small",
    ),
    "other values of a class, confidence": (
        odd,
        lambda d: 2000 * (1 - number(d, "max_confidence")),
        None,
    ),
    "other values of one of many classes, confidence": (
        equal,
        lambda d: 100 * (1 - number(d, "max_confidence")),
        "the step is one of all records, and the class has few of them",
    ),
    "rarest value, prior": (
        odd,
        lambda d: 2000 * (1 - number(d, "bayes_vulnerability_prior")),
        None,
    ),
    "rarest value, entropy": (odd, lambda d: _inverse(2000, 1 / number(d, "entropy")), None),
    "smallest class, ITPR of a secret": (even, _of_even, "K magnifies the step of ITPR"),
    "smallest class, effective values": (
        different,
        lambda d: number(d, "entropy_l"),
        "k = l where secrets differ, and l is shown as an effective number",
    ),
    "smallest class, average risk of classes": (
        lone,
        _of_lone,
        "1/k is not small beside few classes",
    ),
    "codes for missing": (
        coded,
        lambda d: _noted(d) - _missing(d, "s"),
        "a remark tells the sum of two counts, one of which is withheld",
    ),
    "two keys missing": (
        lacking,
        lambda d: _missing(d, "q") + _missing(d, "r") - _noted(d),
        "both columns and their union are counted",
    ),
    "neither missing nor empty": (
        filled,
        _of_filled,
        "only one count at a time is held against all records",
    ),
    "people in pairs": (pairs, _of_pairs, "the records below 3 are not held against those alone"),
}


def _inverse(records: int, reciprocal: float) -> float:
    """How many of so many records must differ for 1/H to be this."""

    def bits(n: int) -> float:
        p = n / records
        return -p * math.log2(p) - (1 - p) * math.log2(1 - p)

    if math.isnan(reciprocal):
        return math.nan
    return min(range(1, 100), key=lambda n: abs(bits(n) - 1 / reciprocal))


@pytest.mark.parametrize(
    "name",
    list(ATTACKS),
)
def test_no_formula_gives_a_small_count_back(name: str) -> None:
    """An answer that is right for more than one of these counts is no guess."""
    make, solve, _ = ATTACKS[name]
    right = 0
    for count in SMALL:
        answer = solve(make(count))
        right += not math.isnan(answer) and round(answer) == count
    assert right <= 1, f"{right} of {len(SMALL)}"


# -- words and reasons --------------------------------------------------------------------------


def test_a_verdict_gives_no_reason_that_the_number_does_not_give() -> None:
    """1/H is unbounded for somebody alone; a single record has nothing to learn about."""
    limits = {"reidentification": {"reciprocal_entropy": {"max": 0.5}, "itpr": {"max": 0.5}}}
    for held in ([1, 30, 30], [1]):
        found = sievert.assess({"q": spread(held)}, ["q"], policy={"limits": limits})
        shown = found.share().to_dict()
        for verdict in shown["policy"]["limits"]:
            value = shown["reidentification"][verdict["measure"]]
            assert verdict["reason"] == value["reason"], verdict
        assert not any("H(X) = 0" in warning for warning in shown["warnings"])


def test_below_is_said_of_small_counts_only() -> None:
    """24 records lie below 5: whole cells are told."""
    found = sievert.assess({"q": spread([*[1] * 20, 4, 50])}, ["q"])
    told = found.share().to_dict()["reidentification"]["records_below"]
    assert found.reidentification["records_below"].value == 24
    assert told["value"] == 20 and "below" not in told


def test_the_reading_of_missing_values_is_kept() -> None:
    columns = {"q": [None] * 3 + spread([20, 30])}
    shown = sievert.assess(columns, ["q"], missing="wildcard").share().to_dict()
    assert shown["reidentification"]["k_anonymity"]["reading"] == "wildcard"
    assert shown["reidentification"]["records_below"]["reading"] == "wildcard"


def test_no_count_is_negative() -> None:
    columns = {"q": [None] * 15 + ["NA"] * 5 + ["a"] * 85}
    found = sievert.assess(columns, ["q"], na=["NA"], missing="drop")
    assert all(n >= 0 for n in counts(found.to_dict()).values())


def test_an_error_counts_no_few_records(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text("zip,age\n" + ",1\n" * 3 + "a,1\n" * 60)
    command = [sys.executable, "-m", "sievert", "assess", str(source), "-q", "zip", "--share"]
    command += ["--missing", "error"]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert told.returncode == 3
    assert not re.search(r"\b3 records", told.stderr)
