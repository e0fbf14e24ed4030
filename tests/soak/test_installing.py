"""Fresh environments from the package index: the core, each extra alone, all of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hatchling.build import build_wheel

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = [extra for extra in PROJECT["optional-dependencies"] if extra != "dev"]
TABLE = "sex,age,postcode,income\n" + "f,34,01234,low\nm,34,01234,high\nm,71,20095,low\n" * 40
ASSESS = ("assess", "mine.csv", "-q", "sex,age,postcode", "-s", "income")
# What each extra is for, tried where it is alone.
TRIED: dict[str, tuple[str, ...]] = {
    "charts": (*ASSESS, "--charts", "charts"),
    "fast": ("synthetic", "mine.csv", "mine.csv"),
    "formats": ("assess", "mine.csv.zst", "-q", "sex"),
    "frames": ASSESS,
    "limit": ("limit", "mine.csv", "-q", "sex", "-s", "income", "--at", "0.1"),
    "postgres": ("assess", "postgresql://127.0.0.1:1/none?table=t", "-q", "sex"),
    "spark": ("doctor", "--start"),
    "workbench": ("doctor",),
}
CODES = {"postgres": 6}  # there is no such server; without the extra it would be 2


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return folder / build_wheel(str(folder))


def install(wheel: Path, extras: str, folder: Path) -> Path:
    """An environment with the wheel and these extras, and nothing else."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
    python = folder / "env" / "bin" / "python"
    wanted = f"{wheel}[{extras}]" if extras else str(wheel)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, wanted], check=True)
    (folder / "mine.csv").write_text(TABLE)
    return python.with_name("sievert")


def run(command: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(command), *arguments], cwd=folder, capture_output=True, text=True)


def examine(command: Path, folder: Path) -> Any:
    return json.loads(run(command, folder, "doctor", "--json", "-").stdout)


@pytest.mark.soak
@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_an_extra_alone(extra: str, wheel: Path, tmp_path: Path) -> None:
    command = install(wheel, extra, tmp_path)
    seen = examine(command, tmp_path)
    assert seen["works"]
    there = {name for name, each in seen["extras"].items() if each["installed"]}
    assert there == ({extra} if extra else set())
    done = run(command, tmp_path, *ASSESS, "--html", "page.html")
    assert done.returncode == 0 and "k-anonymity (k)" in done.stdout, done.stderr
    if extra == "formats":
        compress = "import zstandard, sys; d = open('mine.csv', 'rb').read(); "
        compress += "open('mine.csv.zst', 'wb').write(zstandard.compress(d))"
        subprocess.run([command.with_name("python"), "-c", compress], cwd=tmp_path, check=True)
    if extra:
        tried = run(command, tmp_path, *TRIED[extra])
        assert tried.returncode == CODES.get(extra, 0), tried.stderr
        assert extra != "spark" or "spark     starts" in tried.stdout
    shutil.rmtree(tmp_path / "env")  # some are a gigabyte


@pytest.mark.soak
def test_all_extras(wheel: Path, tmp_path: Path) -> None:
    command = install(wheel, ",".join(EXTRAS), tmp_path)
    seen = examine(command, tmp_path)
    assert seen["works"] and all(each["installed"] for each in seen["extras"].values())
    assert seen["compiled"]["directory"].startswith("ENV")
    assert run(command, tmp_path, *ASSESS, "--html", "page.html").returncode == 0
    shutil.rmtree(tmp_path / "env")


@pytest.mark.soak
@pytest.mark.parametrize("extras", [[], ["charts", "workbench"]], ids=["core", "extras"])
def test_every_system_has_wheels(extras: list[str]) -> None:
    from helpers import platforms

    assert platforms.main(extras) == 0
