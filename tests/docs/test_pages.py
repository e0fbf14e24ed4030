"""Every example in the documentation runs, and says what the code says."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path
from typing import Any

import pytest

import sievert
from sievert.measures import BY_ID
from sievert.papers.claims import number
from website import api_reference
from website.measure_tables import PAGES as GENERATED

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "measures").glob("*.md"))
SECTIONS = ("## Definition", "## Reading", "## Example", "## Limits and traps", "## Source")
NOT_OURS = re.compile(r"/(work|home)/|\.library|shared/|\bissue [0-9]", re.IGNORECASE)


@pytest.mark.parametrize("page", PAGES, ids=[p.stem for p in PAGES])
def test_examples(page: Path) -> None:
    failed, run = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0
    assert run > 0 or page.stem == "README"


@pytest.mark.parametrize("page", ["limit.md", "attacks/reasoning.md", "sketch.md"])
def test_longer_pages(page: str) -> None:
    failed, run = doctest.testfile(
        str(ROOT / "docs" / page),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert failed == 0 and run > 0


@pytest.mark.parametrize("name", BY_ID)
def test_page_is_complete(name: str) -> None:
    text = (ROOT / "docs" / "measures" / f"{name}.md").read_text(encoding="utf-8")
    assert f"(`{name}`)" in text.splitlines()[0]
    for section in SECTIONS:
        assert section in text, f"{name}: no section {section}"
    index = (ROOT / "docs" / "measures" / "README.md").read_text(encoding="utf-8")
    assert f"[`{name}`]: {name}.md" in index


@pytest.mark.parametrize("page", GENERATED, ids=[p.stem for p in GENERATED])
def test_tables_of_measures_are_those_of_the_records(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == GENERATED[page](text), "run `make generate`"


def test_the_page_of_the_python_interface_is_that_of_the_docstrings() -> None:
    text = api_reference.reference()
    assert text == api_reference.PAGE.read_text(encoding="utf-8"), "run `make generate`"
    assert "|  |" not in text, "an attribute without a comment behind it, or without a docstring"
    shown = set(re.findall(r"^### (\w+)$|^\| \[?`(\w+)`", text, re.MULTILINE))
    shown_names = {name for pair in shown for name in pair}
    assert set(dir(sievert)) - {"__version__"} <= shown_names


def test_links_lead_somewhere() -> None:
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_never_called_anonymous_or_safe() -> None:
    """Sievert says measure, value, limit, met or not."""
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\b(is|are) (anonymous|safe)\b", text), path.name


def test_the_project_speaks_of_itself_alone() -> None:
    for folder in ("src", "docs", "tests", "bench", "examples"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".toml") and path != Path(__file__):
                found = NOT_OURS.search(path.read_text(encoding="utf-8"))
                assert not found, f"{path.name}: {found[0] if found else ''}"


def test_rounding_is_what_the_page_of_papers_says() -> None:
    """No more than one unit of the last printed digit: one unit still is, a little more is not."""
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    assert "| rounding | off by no more than one unit of the last printed digit" in text
    states = [number("x", "0.91", ours, why="y").state for ours in (0.914, 0.92, 0.9201)]
    assert states == ["match", "rounding", "differs"]


@pytest.mark.parametrize("name", ["README.md", "docs/commands.md"])
def test_python_blocks(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas

    block = re.search(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)
    assert block
    monkeypatch.chdir(tmp_path)
    table = {"sex": ["f", "m"], "age": ["1", "2"], "postcode": ["01", "02"], "income": ["a", "b"]}
    frame = pandas.DataFrame(table)
    frame.to_csv("mine.csv", index=False)
    exec(compile(block[1], name, "exec"), {"frame": frame})


def test_the_policy_of_the_page_on_policies() -> None:
    import tomllib

    from sievert.policy import parse_policy

    block = re.search(r"```toml\n(.*?)```", (ROOT / "docs" / "policy.md").read_text(), re.DOTALL)
    assert block
    assert parse_policy(tomllib.loads(block[1])).roles.quasi == ("age", "zip")


def test_the_table_of_extras_is_complete() -> None:
    import tomllib

    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra, requirements in declared["optional-dependencies"].items():
        row = re.search(rf"^\| `{extra}` \| .* \| (.*) \|$", text, re.MULTILINE)
        assert (row is None) == (extra == "dev"), extra
        needed = {re.split(r"[>\[]", each)[0] for each in requirements}
        assert row is None or {*row[1].lower().split(", ")} == needed, extra


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100


def _contains(whole: Any, part: Any) -> bool:
    """Whether an abridged JSON says nothing but what the whole one says."""
    if isinstance(part, dict):
        return all(key in whole and _contains(whole[key], part[key]) for key in part)
    if isinstance(part, list):
        return part == whole[: len(part)]
    return part == whole


def test_the_commented_json_is_a_real_one(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    example = re.search(r"```jsonc\n(.*?)```", page, re.DOTALL)
    assert example is not None
    shown = json.loads(re.sub(r" // .*", "", example[1]))
    table, policy = tmp_path / "patients.csv", tmp_path / "policy.toml"
    rows = ("f,1011,34,flu", "f,1011,34,hiv", "m,1012,61,flu", "m,1012,61,flu")
    table.write_text("\n".join(["sex,postcode,age,diagnosis", *rows]) + "\n")
    policy.write_text(
        "[roles]\nquasi = ['sex', 'postcode']\nsensitive = ['diagnosis']\nrows_are_people = true\n"
        "[roles.ignored]\nage = 'left out of the release'\n"
        "[limits]\nk_anonymity = { min = 2 }\nl_diversity = { min = 2 }\n"
    )
    whole = sievert.assess(table, policy=policy, quick=True).to_dict()
    assert _contains(json.loads(json.dumps(whole)), shown)
    units = {measure.unit for measure in BY_ID.values()}
    assert all(f'`"{unit}"`' in page for unit in units)
