"""The core needs no extra: what is imported, where, and what of it is declared."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import sievert
from sievert.numerics import acceleration

SOURCE = Path(sievert.__file__).parent
PROJECT = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
# Packages that are imported by another name than they are installed by, or come with another one.
IMPORTED = {"python_calamine": "python-calamine", "vl_convert": "vl-convert-python"}
WITH_ANOTHER = {"markupsafe": "jinja2", "pydantic_core": "pydantic", "py4j": "pyspark"}


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCE.rglob("*.py")}


def packages(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[>=<~!]", each)[0] for each in requirements}


CORE = packages(PROJECT["project"]["dependencies"])
EXTRAS = PROJECT["project"]["optional-dependencies"]


def third_party(node: ast.AST) -> set[str]:
    """The packages from elsewhere that an import asks for, by the name they are installed by."""
    match node:
        case ast.Import(names=names):
            roots = {each.name.partition(".")[0] for each in names}
        case ast.ImportFrom(module=str(module), level=0):
            roots = {module.partition(".")[0]}
        case _:
            return set()
    roots -= {"sievert", *sys.stdlib_module_names}
    return {WITH_ANOTHER.get(each, IMPORTED.get(each, each)) for each in roots}


def at_import(nodes: list[ast.stmt]) -> Iterator[ast.stmt]:
    """What runs when a module is imported: neither bodies of functions nor types alone."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        for block in ("body", "orelse", "finalbody"):
            yield from at_import(getattr(node, block, []))
        for handler in getattr(node, "handlers", []):
            yield from at_import(handler.body)


def compiled(node: ast.stmt) -> bool:
    """Whether a function is compiled when its module is imported."""
    decorators = getattr(node, "decorator_list", [])
    return any(isinstance(each, ast.Name) and each.id == "jit" for each in decorators)


def needs() -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """What importing each module asks for: packages beyond the core, and modules of ours."""
    extra, own = {}, {}
    for path, tree in trees().items():
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        nodes = list(at_import(tree.body))
        extra[name] = set().union(*map(third_party, nodes)) - CORE
        extra[name] |= {"numba"} if any(map(compiled, tree.body)) else set()
        own[name] = {name.rpartition(".")[0]}  # the package is imported first
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sievert"):
                own[name] |= {str(node.module), *(f"{node.module}.{a.name}" for a in node.names)}
            elif isinstance(node, ast.Import):
                own[name] |= {a.name for a in node.names if a.name.startswith("sievert")}
    return extra, own


# Engines that come with an extra, compiled loops, and the server of the workbench are imported only
# once they are chosen.
CHOSEN = re.compile(
    r"sievert\.counts\.(packed|spark)\b|\.(kernels|compiled_loops|rollup|class_curves|(class_)?windows)$"
    r"|sievert\.workbench\.(application|protection|server)$"
)


def test_importing_a_module_needs_the_core_alone() -> None:
    extra, own = needs()
    assert extra["sievert.counts.spark.reading"] == {"pyspark"}  # the test sees them
    assert "numba" in extra["sievert.counts.packed.kernels"]
    size = 0
    while size != (size := sum(map(len, extra.values()))):
        for name, others in own.items():
            extra[name] |= set().union(*(extra.get(other, set()) for other in others))
    needing = {name for name, packages in extra.items() if packages and not CHOSEN.search(name)}
    assert needing == set()


def test_every_package_that_is_imported_is_declared_and_the_other_way_round() -> None:
    used = set()
    for tree in trees().values():
        used |= set().union(*map(third_party, ast.walk(tree)))
    declared = CORE.union(*(packages(EXTRAS[extra]) for extra in EXTRAS if extra != "dev"))
    assert used <= declared, used - declared
    assert used >= CORE, CORE - used


def test_a_loop_without_a_place_to_be_kept_is_compiled_anyway(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_function: object) -> None:
        raise RuntimeError("cannot cache function: no locator available")

    def double(number: int) -> int:
        return 2 * number

    monkeypatch.setattr(acceleration, "jit", refuse)
    compiled = acceleration.jit_only(double)
    assert compiled(21) == 42 and compiled is not double
    assert acceleration.compile_loops(double) is None  # which has a plain form


def test_what_needs_compiled_loops_says_so_in_one_line() -> None:
    script = (
        "import sys; sys.modules['numba'] = None\n"
        "import sievert\n"
        "table = {'a': ['1', '2'] * 50, 'b': [str(i) for i in range(100)]}\n"
        "try: sievert.synthetic(table, table)\n"
        "except sievert.SievertError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.endswith("needs the package numba. Try: pip install 'sievert[fast]'\n")


def test_a_page_for_the_terminal_loads_no_charts_and_no_other_command(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("sex,job\nf,a\nf,b\nm,a\n", encoding="utf-8")
    call = (
        "import sys; from sievert.cli.app import _run; "
        f"_run(['assess', {str(table)!r}, '-q', 'sex', '-s', 'job']); "
        "print(*sys.modules, sep='\\n')"
    )
    run = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.splitlines())
    assert "sievert.commands.assess.page" in loaded
    unused = {"statistics", "tomllib", "sievert.charts.curves", "sievert.charts.risk_utility_map"}
    assert not loaded & (unused | {"sievert.commands.synthetic.page", "numba", "pandas"})
