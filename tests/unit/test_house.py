"""How the source is kept: few rooms, short files, one formatter, one name for one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import sievert

SOURCE = Path(sievert.__file__).parent
MOST_ENTRIES = 30  # of the package's top level
MOST_LINES = 800  # of a file that is about one thing
# Words that hold anything and say nothing; a few are left in tiny scopes.
PRIVATE = ("found", "held", "told")
MOST_PRIVATE = 150


@cache
def trees() -> list[tuple[str, str, ast.Module]]:
    texts = {p: p.read_text(encoding="utf-8") for p in sorted(SOURCE.rglob("*.py"))}
    return [(str(p.relative_to(SOURCE)), text, ast.parse(text)) for p, text in texts.items()]


def test_the_top_level_fits_on_a_screen() -> None:
    entries = [p.name for p in SOURCE.iterdir() if p.name != "__pycache__"]
    assert len(entries) <= MOST_ENTRIES, sorted(entries)


def test_files_are_short_and_have_one_formatter() -> None:
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


def test_names_say_what_they_hold() -> None:
    bound: dict[str, int] = defaultdict(int)
    for path, _, tree in trees():
        for node in ast.walk(tree):
            stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            name = node.id if stored else node.arg if isinstance(node, ast.arg) else ""
            if name in PRIVATE:
                bound[path] += 1
    assert sum(bound.values()) <= MOST_PRIVATE, dict(bound)
