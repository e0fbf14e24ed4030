"""No input is ever written, however it is named: a file beside a table, or a directory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sievert
from sievert.cli import app

ROWS = "".join(f"{i // 10},{('flu', 'hiv', 'cold')[i % 3]},{i}\n" for i in range(40))
POLICY = """
[roles]
quasi = ["zip"]
sensitive = ["ill"]
identifier = ["pid"]
[limits]
k_anonymity = { min = 5 }
"""
CASES = {
    "a-table-of-hierarchies": "protect t.csv --policy p.toml --hierarchy trees.toml -o new.csv "
    "--json trees.toml",
    "a-hierarchy-of-such-a-table": "protect t.csv --policy p.toml --hierarchy files.toml "
    "-o new.csv --json zip.csv",
    "a-hierarchy-of-a-policy": "hierarchies t.csv -q zip --policy named.toml --json zip.csv",
    "levels": "protect t.csv --policy p.toml --levels made.csv.json -o new.csv "
    "--json made.csv.json",
    "levels-of-the-release": "protect t.csv --policy p.toml --levels made.csv.json -o made.csv",
    "the-manifest-of-a-state": "assess state --json state/sievert-state.json",
    "a-new-file-in-a-state": "assess state --json state/new.json",
    "the-salt": "ledger check L t.csv --person pid -q zip -s ill --json L.salt",
    "the-salt-of-a-list": "ledger show L --json L.salt",
    "the-salt-of-an-addition": "ledger add L t.csv --name again --person pid -q zip -s ill "
    "--json L.salt",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "t.csv": f"zip,ill,pid\n{ROWS}",
        "p.toml": POLICY,
        "named.toml": f'{POLICY}[hierarchies]\nzip = "zip.csv"\n',
        "trees.toml": '[hierarchies]\nzip = "interval:2,4"\n',
        "files.toml": '[hierarchies]\nzip = "zip.csv"\n',
        "zip.csv": "0;a\n1;a\n2;b\n3;b\n",
    }.items():
        Path(name).write_text(text)
    sievert.protect("t.csv", policy="p.toml", out="made.csv")
    sievert.count("t.csv", "zip", "ill", out="state")
    sievert.add_to_ledger("L", "t.csv", "zip", "ill", person="pid")
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    files = (Path(root) / name for root, _, names in os.walk(folder) for name in names)
    return {str(path): path.read_bytes() for path in files}


@pytest.mark.parametrize("case", CASES)
def test_an_input_is_not_written(
    case: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = content(folder)
    with pytest.raises(SystemExit) as ended:
        app.main([*CASES[case].split(), "--force"])
    said = capfd.readouterr().err
    assert ended.value.code == 7 and "the output is the input" in said
    assert content(folder) == before
