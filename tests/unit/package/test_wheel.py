"""The wheel: its contents, the same bytes twice, and one version everywhere."""

from __future__ import annotations

import re
import shutil
import zipfile
from pathlib import Path

import pytest
from hatchling.build import build_sdist, build_wheel
from helpers.wheelcontents import faults

from sievert.version import __version__

ROOT = Path(__file__).parents[3]


def build(folder: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    target.mkdir()
    return target / build_wheel(str(target))


def test_contents_and_the_same_bytes_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = build(ROOT, tmp_path / "one", monkeypatch)
    assert faults(wheel) == []
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "src", copy / "src", copy_function=shutil.copyfile)  # other times, modes
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copyfile(ROOT / name, copy / name)
    again = build(copy, tmp_path / "two", monkeypatch)
    assert wheel.name == again.name and wheel.read_bytes() == again.read_bytes()


def test_a_wheel_with_something_else_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "sievert-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("sievert/tests/x.py", "sievert/people.csv", "bench/x.py"):
            archive.writestr(name, "")
        archive.writestr("sievert-1.0.dist-info/METADATA", "Name: sievert\nVersion: 1.1\n")
    assert {line.partition(":")[0] for line in faults(path)} >= {
        "sievert/tests/x.py", "sievert/people.csv", "bench/x.py", "RECORD", "py.typed is missing",
        "another version in METADATA",
    }  # fmt: skip


def test_the_source_can_be_tested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tarfile

    monkeypatch.chdir(ROOT)
    with tarfile.open(tmp_path / build_sdist(str(tmp_path))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in ("Makefile", "src/sievert/py.typed", "tests/conftest.py", "requirements/core.lock"):
        assert name in names, name
    assert not [name for name in names if re.search(r"\.(nb[ic]|pyc)$|(^|/)demo/", name)]


def test_one_version_everywhere() -> None:
    """MAJOR.MINOR.PATCH, the same in the package, the citation and the changelog."""
    assert re.fullmatch(r"\d+\.\d+\.\d+", __version__)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    latest = re.search(r"^## (?:Unreleased \()?(\d+\.\d+\.\d+)", changes, re.MULTILINE)
    assert latest is not None and latest[1] == __version__
