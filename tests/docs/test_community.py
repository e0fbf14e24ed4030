"""The files that people who come to the project look for: there, and complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sievert.version import __version__

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def test_everything_is_there_and_names_nobody() -> None:
    for name in (
        "README.md", "LICENSE", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md",
        "ROADMAP.md", "CHANGELOG.md", "CITATION.cff", ".github/pull_request_template.md",
    ):  # fmt: skip
        text = (ROOT / name).read_text(encoding="utf-8")
        assert len(text) > 300, name
        assert not re.search(r"[\w.]+@[\w-]+\.\w+", text), f"{name}: an address of somebody"


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_templates_of_issues(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert "\t" not in text
    if template.stem == "config":
        return
    for key in ("name", "description", "labels", "body"):
        assert re.search(rf"^{key}: ?\S*", text, re.MULTILINE), key
    ids = re.findall(r"^    id: (\w+)$", text, re.MULTILINE)
    assert ids and len(ids) == len(set(ids))
    assert "no rows and no values of your data" in text or template.stem == "measure"


def test_the_citation_has_what_its_format_requires() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    keys = dict(re.findall(r"^([\w-]+):(?: (.*))?$", text, re.MULTILINE))
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= keys.keys()
    assert keys["cff-version"] == "1.2.0" and keys["version"] == __version__
    assert keys["type"] == "software" and keys["license"] == "Apache-2.0"


def test_the_supported_version_is_the_current_one() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert f"the latest MINOR ({__version__.rpartition('.')[0]})" in text
