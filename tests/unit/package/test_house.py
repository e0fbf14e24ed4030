"""How the source is kept: files about one thing, one formatter, one name for one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import sievert

SOURCE = Path(sievert.__file__).parent
MOST_LINES = 800  # of a file that is about one thing


@cache
def trees() -> list[tuple[str, str, ast.Module]]:
    texts = {p: p.read_text(encoding="utf-8") for p in sorted(SOURCE.rglob("*.py"))}
    return [(str(p.relative_to(SOURCE)), text, ast.parse(text)) for p, text in texts.items()]


def test_files_are_about_one_thing_and_have_one_formatter() -> None:
    for path, text, _ in trees():
        assert len(text.splitlines()) <= MOST_LINES, path
        assert "fmt: skip" not in text, path


def test_a_class_name_means_one_thing() -> None:
    homes = defaultdict(list)
    for path, _, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(path)
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
