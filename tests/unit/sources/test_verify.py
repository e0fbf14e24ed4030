"""Verification: a flipped bit is noticed where checksums are stored, and never called verified."""

from __future__ import annotations

import hashlib
from pathlib import Path
from random import Random

import pyarrow
import pyarrow.parquet
import pytest
from helpers.commandline import run

import sievert
from sievert.errors import InputError
from sievert.sources.checksums import WITH_CHECKSUM

TABLE = {"q": [f"v{i % 7}" for i in range(2000)], "s": [i % 5 for i in range(2000)]}


def write(path: Path, *, checksums: bool) -> Path:
    pyarrow.parquet.write_table(
        pyarrow.table(TABLE), path, write_page_checksum=checksums, row_group_size=500
    )
    return path


def test_what_is_said(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    path = write(tmp_path / "t.parquet", checksums=True)
    assert sievert.assess(path, "q").table["verified"] is False
    assert run("assess", str(path), "-q", "q") == 0
    assert "not verified" in capsys.readouterr().out
    found = sievert.assess(path, "q", verify=True).table["verified"]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert found == {"sha256": digest, "page_checksums": "hold"}
    plain = write(tmp_path / "plain.parquet", checksums=False)
    assert (
        sievert.assess(plain, "q", verify=True).table["verified"]["page_checksums"] == "none stored"
    )
    assert run("assess", str(plain), "-q", "q", "--verify") == 0
    assert "page checksums none stored" in capsys.readouterr().out
    both = sievert.assess(tmp_path, "q", verify=True).table["verified"]
    assert both["page_checksums"] == "hold where stored"
    text = tmp_path / "t.csv"
    text.write_text("q,s\na,1\n")
    assert set(sievert.assess(text, "q", verify=True).table["verified"]) == {"sha256"}
    assert "verified" not in sievert.assess(TABLE, "q").table


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    """Every single bit flipped in the pages is an error, never another number."""
    content = write(tmp_path / "t.parquet", checksums=True).read_bytes()
    before = sievert.assess(tmp_path / "t.parquet", ["q", "s"], verify=True).to_dict()
    metadata = pyarrow.parquet.read_metadata(tmp_path / "t.parquet")
    end = len(content) - metadata.serialized_size - 8
    for seed in range(60):
        random = Random(seed)
        damaged = bytearray(content)
        damaged[random.randrange(4, end)] ^= 1 << random.randrange(8)
        path = tmp_path / "bad.parquet"
        path.write_bytes(damaged)
        try:
            after = sievert.assess(path, ["q", "s"], verify=True).to_dict()
        except sievert.SievertError as error:
            assert isinstance(error, InputError)
        else:  # a bit of a page header that says nothing
            assert after["reidentification"] == before["reidentification"]


def test_page_headers() -> None:
    assert WITH_CHECKSUM.match(bytes([0x15, 4, 0x15, 200, 1, 0x15, 6, 0x15, 9]))
    assert not WITH_CHECKSUM.match(bytes([0x15, 4, 0x15, 200, 1, 0x15, 6, 0x2C, 9]))
    assert not WITH_CHECKSUM.match(b"") and not WITH_CHECKSUM.match(b"\x15")
