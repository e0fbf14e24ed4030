"""Keys of texts: each is written whole in the source, so that a sentence leads to its code.

A page that says a text of its own section writes the name without the section. Some texts belong
to a record, and have its id in their key. `GLUED` lists the modules that still put keys together.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import sievert
from sievert.formatting import read_language
from sievert.report.parts import CHAPTERS

SOURCE = Path(sievert.__file__).parent
# Sections whose texts are found by the id of a record, a unit, a thing, a criterion or a page.
BY_RECORD = {
    *("measures", "losses", "definitions", "short_names", "things", "units", "frameworks"),
    *("workbench", "paper", "charts", "catalogue", "doctor", "errors", "suggested"),
}
# Modules of pages that still put keys together at run time, with the number of places.
GLUED: dict[str, int] = {}
# Keys that end in the id of a method, of a loss or of a number that a method gives: the recipes for
# a method and for a loss say so. So does that for an attack on synthetic data.
BY_RECIPE = {"commands/protect/page.py": 6, "report/alarms.py": 1}
# Modules with strings of their own that look like keys: columns of files, places of limits.
NO_PAGES = {"commands/ledger/store.py", "commands/policy/refusals.py", "report/summary.py"}
PART = re.compile(r"[a-z0-9_.]*")


@cache
def trees() -> dict[str, ast.AST]:
    return {
        str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] not in ("papers", "workbench")
    }


@cache
def keys() -> dict[str, str]:
    """Every key of a text that is not found by a record, and its name without the section."""
    return {
        key: key.partition(".")[2]
        for key in read_language("en")
        if key.partition(".")[0] not in BY_RECORD
    }


@cache
def literals() -> frozenset[str]:
    return frozenset(
        node.value
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def glued() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The f-strings that are the key of a text: their module, and what they look like."""
    wanted = [*keys(), *keys().values()]
    for module, tree in trees().items():
        if not module.startswith(("report/", "commands/")) or module in NO_PAGES:
            continue
        for node in ast.walk(tree):
            looks = glued_key(node)
            if looks is not None and any(looks.fullmatch(key) for key in wanted):
                yield module, looks


def glued_key(node: ast.AST) -> re.Pattern[str] | None:
    """What the keys look like that an expression puts together; None of other expressions."""
    match node:
        case ast.JoinedStr(values=values):
            parts = [p.value if isinstance(p, ast.Constant) else None for p in values]
            words = "".join(str(part) for part in parts if part is not None)
            if not PART.fullmatch(words) or len(words.strip("._")) < 2:
                return None
            return re.compile("".join(".+" if p is None else re.escape(str(p)) for p in parts))
        case ast.Call(func=ast.Attribute(attr="each"), args=[ast.Constant(value=prefix), *_]):
            return re.compile(f"{re.escape(str(prefix))}[._].+")
    return None


def test_keys_are_put_together_nowhere_else() -> None:
    """Write the key whole, or a table of keys; a module that no longer does it leaves the list."""
    found = Counter(module for module, _ in glued())
    assert dict(found) == GLUED | BY_RECIPE


def test_every_text_is_said_somewhere() -> None:
    """A text whose key nobody writes can go."""
    patterns = [looks for _, looks in glued()]
    sections = {*CHAPTERS.values(), "remarks"}
    unsaid = [
        key
        for key, name in keys().items()
        if key not in literals()
        and not (key.partition(".")[0] in sections and name in literals())
        and not any(looks.fullmatch(key) or looks.fullmatch(name) for looks in patterns)
    ]
    assert unsaid == []


def test_every_key_in_the_source_has_a_text() -> None:
    """A whole key in a page, as an argument or in a table of keys."""
    sections = {key.partition(".")[0] for key in keys()}
    wrong = {}
    for module, tree in trees().items():
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name(id="texts") | ast.Attribute(attr="texts" | "plural")):
                    given = [a.value for a in node.args if isinstance(a, ast.Constant)]
                case ast.Assign(value=ast.Dict(values=values)) if module.startswith("report/"):
                    given = [v.value for v in values if isinstance(v, ast.Constant)]
                case _:
                    continue
            for key in (each for each in given if isinstance(each, str) and "." in each):
                if key.partition(".")[0] in sections and key not in keys():
                    wrong[f"{module}:{node.lineno}"] = key
    assert wrong == {}
