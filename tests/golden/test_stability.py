"""Adult, whatever the row order and the number of threads: the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import sievert


def test_same_bytes_for_any_order_and_threads(reference: Path, tmp_path: Path) -> None:
    source = reference / "data" / "adult" / "adult.csv"
    header, *lines = source.read_text(encoding="utf-8").splitlines()
    quasi = ["sex", "race", "marital-status", "native-country"]
    secrets = ["occupation", "salary-class"]
    roles = (([*quasi, "age"], secrets), (quasi, [*secrets, "age"]))
    options = {"types": {"age": "int"}, "orders": {"salary-class": ["<=50K", ">50K"]}}
    found = set()
    for seed, threads in ((0, 1), (1, 2), (2, 4), (3, 2)):
        if seed:
            Random(seed).shuffle(lines)
        path = tmp_path / "adult.csv"
        path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        results = [sievert.assess(path, *r, threads=threads, **options).to_dict() for r in roles]
        found.add(json.dumps(results, sort_keys=True))
    assert len(found) == 1
