"""Releases of the same people held together: brute force finds nothing falsely safe."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.commandline import run
from helpers.effort import tried

import sievert
from sievert.counts.joint_classes import find_patterns, join_releases
from sievert.errors import InputError, UsageError

PAIRS = 1000
TREES = {"age": {str(a): [f"{a // 2}x", "*"] for a in range(6)}, "town": {t: ["*"] for t in "abc"}}
RULES: dict[str, Any] = {
    "roles": {
        "quasi": ["age", "town"], "sensitive": ["ill"], "identifier": ["id"],
        "rows_are_people": True,
    },
    "limits": {"k_anonymity": {"min": 2}},
}  # fmt: skip


def random_release(random: Random, people: int, classes: int) -> list[tuple[int, int]]:
    """Who was seen in which class; some are not in it, some were seen in two."""
    several = random.random() < 0.3
    rows = []
    for person in range(people):
        for _ in range(random.choice((0, 1, 2) if several else (0, 1, 1, 1))):
            rows.append((person, random.randrange(classes)))
    return rows or [(0, 0)]


def test_joint_classes_by_hand() -> None:
    """For all people and classes: how many have as many rows in the same ones."""
    for seed in range(PAIRS):
        random = Random(f"joint {seed}")
        people, number = random.randint(1, 12), random.choice((1, 2, 2, 3))
        releases = [random_release(random, people, random.randint(1, 4)) for _ in range(number)]
        everybody = sorted({person for rows in releases for person, _ in rows})
        seen = {p: [sorted(c for q, c in rows if q == p) for rows in releases] for p in everybody}
        expected = [(p, sum(seen[p] == seen[q] for q in everybody)) for p in everybody]
        arrays = [tuple(np.array(x) for x in zip(*rows, strict=True)) for rows in releases]
        joint = join_releases([find_patterns(p, c, np.ones_like(p)) for p, c in arrays])
        found = sorted(zip(joint.person.tolist(), joint.sizes.tolist(), strict=True))
        assert found == sorted(expected)
        assert joint.smallest == min(n for _, n in expected)
        assert joint.people_below(3) == len({p for p, n in expected if n < 3})


def population(random: Random, records: int) -> dict[str, list[str]]:
    return {
        "id": [f"i{i}" for i in range(records)],
        "age": [str(random.randrange(6)) for _ in range(records)],
        "town": [random.choice("aabc") for _ in range(records)],
        "ill": [random.choice(("flu", "cold")) for _ in range(records)],
    }


def label(column: str, value: str, level: int) -> str:
    return value if level == 0 else TREES[column][value][level - 1]


@pytest.mark.parametrize("seed", range(tried(15, soak=30)))
def test_a_release_is_safe_beside_an_earlier_one(seed: int) -> None:
    """All nodes by brute force: the best that holds alone and together, and no other."""
    random = Random(f"earlier {seed}")
    table = population(random, random.choice((20, 40, 80)))
    first = random.choice((10, 20, 80))  # of the table were in the earlier release
    before = {c: table[c][:first] for c in ("id", "age", "town")}
    levels = random.choice(((0, 1), (1, 0), (1, 1), (2, 0)))
    for column, level in zip(("age", "town"), levels, strict=True):
        before[column] = [label(column, v, level) for v in before[column]]
    share, k = random.choice((0, 0.1)), random.choice((2, 3))
    rules = {**RULES, "limits": {"k_anonymity": {"min": k}}}
    options: dict[str, Any] = {"suppress": share, "loss": "arithmetic_loss", "hierarchies": TREES}
    result = sievert.protect(table, policy=rules, earlier=before, key="id", **options)
    known = dict(zip(before["id"], zip(before["age"], before["town"], strict=True), strict=True))
    safe = []
    for node in itertools.product(range(3), range(2)):
        classes = [
            tuple(label(c, v, x) for c, v, x in zip(("age", "town"), row, node, strict=True))
            for row in zip(table["age"], table["town"], strict=True)
        ]
        released = [c if classes.count(c) >= k else None for c in classes]
        joint = [(c, known.get(i)) for c, i in zip(released, table["id"], strict=True)]
        alone = released.count(None) <= int(share * len(classes)) and node != (2, 1)
        if alone and min(joint.count(j) for j in joint) >= k:
            safe.append(node)
    if not safe:
        assert result.met is False and not result.released
        return
    assert result.met is True
    assert tuple(result.levels.values()) in safe
    assert result.earlier is not None and result.earlier["k_anonymity"] >= k
    others = [
        sievert.protect(table, policy=rules, levels=dict(zip(TREES, node, strict=True)), **options)
        for node in safe[:3]
    ]
    assert all(result.recoding.loss <= other.recoding.loss + 1e-12 for other in others)


def write(path: Path, table: dict[str, list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[*table], *zip(*table.values(), strict=True)])
    return path


def test_an_unsafe_pair_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ages of one release, towns of the other: each has k = 2, together everybody is alone."""
    table = {
        "id": ["a", "b", "c", "d"],
        "age": ["0", "0", "1", "1"],
        "town": ["a", "b", "a", "b"],
        "ill": ["flu", "cold", "flu", "cold"],
    }
    data = write(tmp_path / "t.csv", table)
    old = write(tmp_path / "old.csv", {"id": table["id"], "town": table["town"]})
    rules, out = tmp_path / "p.toml", tmp_path / "new.csv"
    rules.write_text(
        '[roles]\nquasi = ["age"]\nsensitive = ["ill"]\nidentifier = ["id"]\n'
        "rows_are_people = true\n"
        "[limits]\nk_anonymity = { min = 2 }\n"
    )
    write(data, {c: table[c] for c in ("id", "age", "ill")})
    given = ["protect", str(data), "--policy", str(rules), "-o", str(out), "--suppress", "0"]
    assert run(*given) == 0
    out.unlink()
    Path(f"{out}.json").unlink()
    together = [*given, "--earlier", str(old), "--key", "id", "--json", str(tmp_path / "j.json")]
    assert run(*together) == 1
    assert "earlier release" in " ".join(capsys.readouterr().out.split())
    content = json.loads((tmp_path / "j.json").read_text(encoding="utf-8"))
    assert content["unmet"] == "--earlier" and content["policy"]["met"] is False
    assert content["earlier"] == {
        "releases": 1, "columns": [["town"]], "k_anonymity": 1, "people_below": 4,
    }  # fmt: skip
    assert not out.exists() and not Path(f"{out}.json").exists()


def test_mistakes() -> None:
    table = population(Random(1), 40)
    earlier = {"id": table["id"], "age": ["*"] * 40}
    for options, words in (
        ({"earlier": earlier}, "--key"),
        ({"earlier": earlier, "key": "shoe"}, "shoe"),
        ({"earlier": {"id": ["x"], "age": ["*"]}, "key": "id"}, "no key"),
        ({"earlier": {"id": ["x"]}, "key": "id"}, "no columns"),
        ({"earlier": earlier, "key": "id", "how": "sample", "fraction": 0.5}, "--how full"),
    ):
        with pytest.raises(UsageError, match=words):
            sievert.protect(table, policy=RULES, hierarchies=TREES, **options)
    with pytest.raises(InputError, match="1 record without a key"):
        lacking = {**earlier, "id": [None, *table["id"][1:]]}
        sievert.protect(table, policy=RULES, hierarchies=TREES, earlier=lacking, key="id")
    no_k = {**RULES, "limits": {"average_risk": {"max": 0.5}}}
    with pytest.raises(UsageError, match="no limit on k"):
        sievert.protect(table, policy=no_k, hierarchies=TREES, earlier=earlier, key="id")
