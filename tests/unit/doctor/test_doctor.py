"""`sievert doctor`: what is installed and works, without the network and without anybody's name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from helpers.commandline import run

from sievert.commands.doctor import run as doctor
from sievert.commands.doctor.result import Examination
from sievert.errors import EngineError
from sievert.version import __version__

DECLARED = [
    "duckdb>=1.3",
    "numpy>=2",
    "numba>=0.60; extra == 'fast'",
    "nobody-has-this>=1; extra == 'odd'",
    "pyarrow>=9999; extra == 'new'",
    "psycopg[binary]>=3.2 ; extra == 'postgres'",
    "pytest>=8; extra == 'dev'",
]


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(metadata, "requires", lambda _name: DECLARED)
    yield


def test_what_is_there_and_what_is_not() -> None:
    seen = doctor.examine()
    assert seen["sievert"] == __version__ and seen["works"] is True
    assert list(seen["core"]) == ["duckdb", "numpy"]
    assert seen["core"]["numpy"] == {
        "version": metadata.version("numpy"), "needed": "2", "works": True
    }  # fmt: skip
    extras = {name: extra["installed"] for name, extra in seen["extras"].items()}
    assert extras == {"fast": True, "odd": False, "new": False, "postgres": True}  # and no dev
    assert seen["engines"]["duckdb"] == {"starts": True, "reason": None}
    assert seen["engines"]["spark"]["starts"] is None  # it was not started
    assert seen["temporary"]["writable"] and seen["temporary"]["free_bytes"] > 0
    assert seen["machine"]["cores"] >= 1 and seen["machine"]["child_process"]
    text = Examination(seen).describe()
    assert "nobody-has-this missing" in text and "older than 9999" in text
    assert text.endswith("The core works.")


def test_a_broken_core_is_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(metadata, "requires", lambda _name: ["nobody-has-this>=1"])
    assert run("doctor") == 6
    assert "nobody-has-this  missing" in (shown := capfd.readouterr().out)
    assert "The core does not work" in shown

    def fail(*_: Any, **__: Any) -> Any:
        raise OSError

    monkeypatch.setattr("sievert.commands.assess.api.assess", fail)
    assert doctor.examine()["engines"]["duckdb"] == {"starts": False, "reason": "OSError"}


def test_engines_that_lack_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    for name in ("psycopg", "numba", "numba.core.caching", "sievert.counts.packed.records"):
        monkeypatch.setitem(sys.modules, name, None)
    seen = doctor.examine()
    assert {n: e["reason"] for n, e in seen["engines"].items() if e["starts"] is False} == {
        "packed": "no sievert", "spark": "no Java", "postgres": "no psycopg"
    }  # fmt: skip
    assert seen["compiled"] == {"directory": None, "reason": "no numba"}
    assert seen["works"]
    monkeypatch.setattr(metadata, "requires", lambda _name: None)
    assert doctor.examine()["core"] == {}


def test_spark_is_started_on_a_file_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: "java")
    given: list[Path] = []

    def assess(path: Path, *_: Any, engine: str) -> Any:
        given.append(path)
        if len(given) > 1:
            raise EngineError("Spark does not start")
        assert path.read_text().startswith("a,b")
        return SimpleNamespace(table={"engine": engine})

    monkeypatch.setattr("sievert.commands.assess.api.assess", assess)
    assert doctor._spark(start=True) == {"starts": True, "reason": None}
    assert doctor._spark(start=True) == {"starts": False, "reason": "Spark does not start"}
    assert not given[0].exists()


def test_places_do_not_name_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/people/rosalind")
    assert doctor._shown(Path("/people/rosalind/.cache/numba")) == "~/.cache/numba"
    assert doctor._shown(Path(sys.prefix) / "lib") == "ENV/lib"
    assert doctor._shown(Path("/scratch")) == "/scratch"
    monkeypatch.setenv("HOME", "/")
    assert doctor._shown(Path("/scratch")) == "/scratch"


def test_the_command_asks_nobody_and_leaves_nothing(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "def refuse(event, _arguments):\n"
        "    if event.startswith('socket.'): raise AssertionError('network')\n"
        "sys.addaudithook(refuse)\n"
        "from sievert.cli import app\n"
        "sys.exit(app._run(['doctor', '--json', '-']))\n"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=environment, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["temporary"]["directory"] == "~"
    assert list(tmp_path.iterdir()) == []
