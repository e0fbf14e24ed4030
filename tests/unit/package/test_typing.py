"""What a user's `mypy --strict` sees: real types for every public name, and mistakes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mypy import api

import sievert
from website.function_stub import STUB, stub

ROOT = Path(__file__).parents[3]
MISTAKES = (
    'sievert.k_anonimity({}, "a")',
    'sievert.itpr({}, "a", nonsense=1, sensitive=2)',
    'sievert.assess({}, "a", delimiter=1)',
    'sievert.assess({}, "a", delimeter=",")',
    'sievert.assess({}, "a").to_json()',
)


def check(path: Path) -> list[str]:
    """mypy's messages about a user's program; it finds the package as an installed one."""
    output, errors, _ = api.run(
        ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache"),
         "--no-error-summary", "--show-error-codes", str(path)]
    )  # fmt: skip
    assert not errors
    return [line for line in output.splitlines() if path.name in line]


@pytest.mark.slow
def test_a_users_program_has_real_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names = [n for n in dir(sievert) if not n.startswith("__")]
    lines = ["import sievert", *(f"reveal_type(sievert.{n})" for n in names), *MISTAKES]
    program = tmp_path / "users_program.py"
    program.write_text("\n".join(lines) + "\n", encoding="utf-8")
    messages = check(program)
    shown = {
        int(m[1]) - 2: m[2]
        for line in messages
        if (m := re.match(r'.*?:(\d+): note: Revealed type is "(.*)"$', line))
    }
    assert len(shown) == len(names)
    for place, name in enumerate(names):
        assert shown[place] != "Any", name
        assert not re.search(r"-> (\"?Any|.*Unknown)", shown[place]), (name, shown[place])
    refused = {int(line.split(":")[1]) for line in messages if ": error:" in line}
    assert refused == {len(names) + 2 + i for i in range(len(MISTAKES))}, messages


def test_the_stub_is_that_of_the_records() -> None:
    assert STUB.read_text(encoding="utf-8") == stub(), "run `make generate`"


def test_the_package_is_marked_as_typed() -> None:
    assert (Path(sievert.__file__).parent / "py.typed").exists()
