"""The architecture, as far as a machine can see it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import sievert
from sievert.counts.engines import ENGINES
from sievert.measures import BY_ID, MEASURES

SOURCE = Path(sievert.__file__).parent
ROOT = SOURCE.parents[1]
# A room imports only from rooms above it in this list.
ROOMS = (
    "version", "renamed", "formatting", "arrays", "errors", "numerics", "sources", "files",
    "roles", "hierarchies", "counts", "measures", "lattice", "estimators", "losses",
    "population", "methods", "tradeoff", "session", "policy", "settings", "attacks", "charts",
    "sharing", "report", "result", "request", "measurement", "checks", "pairing", "releases",
    "estimating", "commands", "papers", "workbench", "cli",
)  # fmt: skip
FORBIDDEN = {"pickle", "joblib", "shelve", "yaml", "marshal", "requests", "urllib", "socket"}


def modules() -> list[tuple[str, Path]]:
    return [
        (path.relative_to(SOURCE).parts[0].removesuffix(".py"), path)
        for path in sorted(SOURCE.rglob("*.py"))
    ]


@cache
def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_arrows_point_one_way() -> None:
    for room, path in modules():
        if room in ("__init__", "__main__"):
            continue
        for name in imports(path):
            if not name.startswith("sievert."):
                continue
            other = name.split(".")[1]
            if other in ROOMS:
                assert ROOMS.index(other) <= ROOMS.index(room), f"{path.name} imports {name}"


def graph() -> dict[str, set[str]]:
    """The modules that each module imports, lazily and for types only included."""
    names = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        names[".".join(("sievert", *parts))] = path
    return {
        name: {i if i in names else i.rpartition(".")[0] for i in imports(path)}
        & set(names) - {name, "sievert"}
        for name, path in names.items()
        if name != "sievert"  # sees all, lazily
    }


def test_no_module_imports_itself_by_a_detour() -> None:
    edges = graph()
    while leaves := {name for name, others in edges.items() if not others & set(edges)}:
        edges = {name: others for name, others in edges.items() if name not in leaves}
    assert edges == {}  # what is left lies on a cycle, or leads to one


def test_commands_do_not_import_each_other() -> None:
    for name, others in graph().items():
        if not name.startswith("sievert.commands.") or name.count(".") < 3:
            continue
        if name.startswith("sievert.commands.report."):
            continue  # makes a page of what the others have saved
        for other in others:
            if other.startswith("sievert.commands.") and other.count(".") == 3:
                assert other.split(".")[2] == name.split(".")[2], f"{name} imports {other}"


def test_every_command_has_the_same_three_files() -> None:
    for folder in (SOURCE / "commands").iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            names = {path.name for path in folder.iterdir()}
            assert {"settings.py", "run.py", "result.py"} <= names, folder.name


def test_every_module_is_in_a_room_and_says_why_it_exists() -> None:
    for room, path in modules():
        assert room in (*ROOMS, "__init__", "__main__"), path
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def test_sql_stays_in_counts_and_formulas_out_of_it() -> None:
    sql = re.compile(r"\b(SELECT|GROUP BY|CREATE TEMP)\b")
    for room, path in modules():
        text = path.read_text(encoding="utf-8")
        if room != "counts":
            assert not sql.search(text), f"SQL in {path.name}"
        else:
            assert not re.search(r"math\.log|np\.log", text), f"a logarithm in {path.name}"
            assert not re.search(r"COUNT\(DISTINCT|GROUPING SETS|ROLLUP|AVG\(", text), path.name


def test_nothing_dangerous_is_imported() -> None:
    for _, path in modules():
        roots = {name.split(".")[0] for name in imports(path)}
        if (
            path.parent.name == "spark" and path.name == "session.py"
        ):  # asks whether the user's --master answers
            roots -= {"socket"}
        if path.parent.name == "workbench" and path.name == "server.py":  # listens on 127.0.0.1
            roots -= {"socket"}
        assert not roots & FORBIDDEN, path
        assert not re.search(r"(?<![\w.])(eval|exec)\(", path.read_text(encoding="utf-8")), path


def test_one_adapter_fits_on_a_few_screens() -> None:
    for engine in ENGINES.values():
        module = engine.adapter.partition(":")[0].split(".")[1:]
        lines = SOURCE.joinpath(*module).with_suffix(".py").read_text().splitlines()
        assert len(lines) <= 250, f"{engine.name}: what else it does goes into its folder"


def test_engines_are_named_in_their_folders_only() -> None:
    """Everything else asks for a capability of the adapter."""
    names = "|".join(ENGINES)
    branch = re.compile(rf"engine(\.name)? (==|!=) |(==|!=) \"({names})\"")
    folders = {SOURCE / "counts" / name for name in ENGINES}
    for _, path in modules():
        if path.parent in folders or path.parent.name == "doctor":  # which examines each of them
            continue
        found = branch.search(path.read_text(encoding="utf-8"))
        assert not found, f"{path}: {found}"


def test_questions_are_not_told_apart_by_their_class() -> None:
    """Where cells are counted, and whether rows or people, is asked of the object."""
    branch = re.compile(r"isinstance\([^)]*Questions\)|hasattr\((questions|people|rows)\b")
    for _, path in modules():
        found = branch.search(path.read_text(encoding="utf-8"))
        assert not found, f"{path}: {found}"


def test_suppressed_records_are_recognised_in_one_place() -> None:
    """The mark is compared with values by `counts/suppression` alone."""
    for room, path in modules():
        if room == "counts" and path.name != "suppression.py":
            assert "suppression.mark" not in path.read_text(encoding="utf-8"), path


def test_every_measure_has_a_function_and_a_page() -> None:
    functions = {m.id for m in MEASURES if m.kinds}
    assert set(dir(sievert)) == functions | set(sievert.__all__)
    pages = {p.stem for p in (ROOT / "docs" / "measures").glob("*.md")} - {"README"}
    assert pages == set(BY_ID)
    for name in functions:
        assert getattr(sievert, name).__doc__
    with pytest.raises(AttributeError):
        _ = sievert.no_such_measure


def test_records_are_complete() -> None:
    assert len({m.id for m in MEASURES}) == len(MEASURES)
    for m in MEASURES:
        for text in (m.title, m.unit, m.formula, m.source, m.reading):
            assert text, m.id
        assert m.riskier in ("high", "low", "neither")


# What only one command uses stands in a room all the same: the only room with SQL, and families.
SHARED_ANYWAY = ("counts", "measures")
LEAVES = ("papers", "workbench", "cli")


def unit(name: str) -> str:
    """The folder of a room that a module is in, which is moved as a whole, or the module."""
    parts = name.split(".")
    folder = SOURCE.joinpath(*parts[1:3])
    return ".".join(parts[:3]) if parts[1] != "commands" and folder.is_dir() else name


def users(name: str, importers: dict[str, set[str]], seen: set[str]) -> set[str]:
    """The commands and leaves that use a module, also by way of other modules."""
    parts = name.split(".")
    if parts[1] == "commands" and len(parts) > 3:
        return {f"commands.{parts[2]}"}
    if parts[1] in LEAVES:
        return {parts[1]}
    seen.add(name)
    return {u for other in importers[name] - seen for u in users(other, importers, seen)}


def test_a_module_that_one_command_uses_is_in_its_folder() -> None:
    edges = graph()
    importers: dict[str, set[str]] = {unit(name): set() for name in edges}
    for name, others in edges.items():
        for other in others:
            importers.setdefault(unit(other), set()).add(unit(name))
    for name in edges:
        room = name.split(".")[1]
        if room in (*SHARED_ANYWAY, *LEAVES, "commands", "__main__"):
            continue
        used = users(unit(name), importers, set())
        command = next(iter(used), "")
        assert len(used) != 1 or not command.startswith("commands."), f"{name}: only {command}"


def test_the_tree_of_the_architecture_page_is_that_of_the_disk() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    block = page.split("    src/sievert/\n")[1].split("\n\n")[0]
    for indent, folder in ((6, SOURCE), (8, SOURCE / "commands")):
        tree = re.findall(rf"^ {{{indent}}}(\S+) +-- ", block, re.MULTILINE)
        there = {
            p.name.removesuffix(".py") + "/" * p.is_dir()
            for p in folder.iterdir()
            if p.name not in ("__pycache__", "py.typed")
        }
        if folder != SOURCE:
            there = {name for name in there if name.endswith("/")}
        assert set(tree) == there


def test_the_files_where_the_architecture_page_says_to_look_are_there() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = page.split("## Where to look\n\n")[1].split("\n\n")[0].splitlines()[2:]
    named = [place for row in rows for place in re.findall(r"`([\w./*]+)`", row.split("|")[2])]
    assert len(named) >= len(rows)
    for place in named:
        assert list(SOURCE.glob(place.replace("NAME", "assess"))), place
