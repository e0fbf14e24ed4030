"""The recipe "Add a measure" of CONTRIBUTING.md, followed in a copy of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FUNCTION = '''def pairs_alike(target: RecordTarget, _: Options) -> Number:
    """The sum over q of n_q(n_q - 1)/2."""
    return int((target.sizes.sizes * (target.sizes.sizes - 1) // 2 * target.sizes.times).sum())


CLASSES: tuple'''
RECORD = """    ),
    Measure(
        "pairs_alike", "Pairs that look alike", "1", 0, None, "low",
        "sum_q n_q(n_q - 1)/2", "an example", "so many pairs of records share a class",
        (*ALWAYS, *MONOTONE), pairs_alike, ("record",),
        influence=None,
    ),
)
"""
PAGE = """# Pairs that look alike (`pairs_alike`)

## Definition

`sum_q n_q(n_q - 1)/2`. Unit: 1. **Riskier when low.**

## Reading

So many pairs of records share a class.

## Example

>>> import sievert
>>> sievert.pairs_alike({"age": ["20s", "20s", "30s"]}, ["age"])
1

## Limits and traps

A few large classes have nearly all pairs.

## Source

An example.
"""
ORACLE = '    result["k_anonymity"] = min(sizes)\n'
# Every test that looks at all measures; of those on random tables a few cases.
TESTS = (
    "tests/unit/package/test_rooms.py::test_every_measure_has_a_function_and_a_page",
    "tests/unit/package/test_rooms.py::test_records_are_complete",
    "tests/unit/package/test_typing.py::test_the_stub_is_that_of_the_records",
    "tests/unit/cli/test_cli.py::test_all_shows_every_measure",
    "tests/unit/cli/test_cli.py::test_measures_lists_every_record",
    "tests/docs/test_pages.py::test_examples[pairs_alike]",
    "tests/docs/test_pages.py::test_page_is_complete",
    "tests/docs/test_pages.py::test_tables_of_measures_are_those_of_the_records",
    "tests/docs/test_pages.py::test_the_page_of_the_python_interface_is_that_of_the_docstrings",
    "tests/docs/test_pages.py::test_links_lead_somewhere",
    "tests/docs/test_guides.py::test_every_measure_is_in_the_table_as_its_record_says",
    "tests/property/test_oracle_agreement.py::test_agreement[0]",
    "tests/property/test_common.py::test_every_measure_declares_its_laws",
    "tests/property/test_common.py::test_p1_permutation[0]",
    "tests/property/test_common.py::test_p6_coarsening[0]",
    "tests/property/test_common.py::test_p7_refining[0]",
    "tests/property/test_undeclared.py::test_every_bound_is_known",
)


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A command in the copy, which imports the copy and nothing of the project itself."""
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}"}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True
    )


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path.name}: {old}"
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for name in ("src", "tests", "docs", "website", "examples", "integrations"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    names = ("pyproject.toml", "LICENSE", "Containerfile")
    for path in (*ROOT.glob("*.md"), *(ROOT / name for name in names)):
        shutil.copy(path, tmp_path)
    return tmp_path


def recipe() -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return text.split("## Add a measure\n")[1].split("\n## ")[0]


@pytest.mark.slow
def test_the_recipe_for_a_measure_is_complete(project: Path) -> None:
    steps, source = recipe(), "src/sievert/measures/classes.py"
    edit(project / source, "CLASSES: tuple", FUNCTION)
    edit(project / source, "    ),\n)\n", RECORD)
    (project / "docs/measures/pairs_alike.md").write_text(PAGE, encoding="utf-8")
    slowly = '    result["pairs_alike"] = sum(n * (n - 1) // 2 for n in sizes)\n'
    edit(project / "tests/helpers/oracle.py", ORACLE, ORACLE + slowly)
    for name in (source, "docs/measures/<id>.md", "tests/helpers/oracle.py", "make generate"):
        assert f"`{name}`" in steps, name

    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    generate = makefile.split("\ngenerate:")[1].split("\n\n")[0].splitlines()[1:]
    for line in generate:
        done = run(project, *line.replace("$(BIN)/python", "").split())
        assert done.returncode == 0, done.stderr
    done = run(project, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *TESTS)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
