"""The private file that pairs a release with its original: written by protect, found by its digest.

The rows of a release are in an order that tells nothing. Whoever made the release needs to know
which row became which, to measure what it discloses and has lost. Everybody else must not.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sievert import files
from sievert.arrays import Ints
from sievert.counts import row_pairing
from sievert.errors import SievertError
from sievert.session import open_source
from sievert.sources.checksums import files_sha256
from sievert.sources.table import Table, split_member
from sievert.version import __version__

INTERNAL = "private: which row of the original became which row of the release; do not pass it on"
EDITED = "is not the pairing file of the manifest: its SHA-256 is another one"
MOST_BESIDE = 100  # pairing files of one directory that are looked into


@dataclass(frozen=True)
class RowPairing:
    """Of each row of a release its row in the original, from 0; and what is known of both.

    `records` and `sha256` are those of the original that the release was made of. `unused` tells
    why a pairing file that lies beside the release is not used.
    """

    rows: Ints | None = None
    records: int = 0
    sha256: str | None = None
    member: str | None = None
    unused: str | None = None

    def fits(self, original: "OriginalFile", released: int, records: int) -> "RowPairing":
        """The same for an original with these `records`; without rows where it is another one."""
        rows = self.rows
        if rows is None:
            return self
        known = None not in (self.sha256, original.sha256())
        same = not known or (self.sha256, self.member) == (original.sha256(), original.member)
        whole = len(rows) == released and len(np.unique(rows)) == released
        inside = bool(((rows >= 0) & (rows < records)).all())
        if same and whole and inside and records == self.records:
            return self
        return RowPairing(unused="the pairing file of the release is about another original")

    def is_proven(self, original: "OriginalFile") -> bool:
        """Whether the digest of the original is known to be that of the file."""
        return self.sha256 is not None and self.sha256 == original.sha256()


class OriginalFile:
    """The file that an original was read from; its digest is computed when it is needed."""

    def __init__(self, data: Any, table: Table) -> None:
        self.member: str | None = None
        self._paths: tuple[Path, ...] = ()
        self._sha256: str | None = None
        if _is_file_name(data):
            path, self.member = split_member(Path(data))
            paths = table.parts or (path,)
            if all(each.is_file() for each in paths):
                self._paths = tuple(paths)

    def sha256(self) -> str | None:
        """The SHA-256 of the file, or of the digests of its parts; None of what is no file."""
        if self._sha256 is None and self._paths:
            self._sha256 = files_sha256(self._paths)
        return self._sha256


def pairing_details(release: Path, original: OriginalFile, records: int) -> dict[str, Any]:
    """What a pairing file says of itself: that it is private, and which files it is about."""
    return {
        "sievert": __version__,
        "internal": INTERNAL,
        "release": {"sha256": files_sha256([release])},
        "original": {
            "sha256": original.sha256(),
            "member": original.member,
            "records": records,
        },
    }


def find_pairing(release: Any, temp: Any = None) -> RowPairing:
    """The pairing file beside a release, found by the release's digest; without rows if none."""
    if not _is_file_name(release) or not Path(release).is_file():
        return RowPairing()
    path = Path(release)
    expected = files.pairing_beside(path)
    others = sorted(path.parent.glob(f"*{files.PAIRING}"))[:MOST_BESIDE]
    beside = [each for each in dict.fromkeys((expected, *others)) if each.is_file()]
    digest = files_sha256([path]) if beside else ""
    for each in beside:
        found = _read(each, digest, temp)
        if found is not None and _is_another(each, path, digest):
            return RowPairing(unused=f"{each.name} {EDITED}")
        if found is not None:
            return found
    if expected in beside:
        return RowPairing(unused=f"{expected.name} is about another release")
    return RowPairing()


def _is_another(pairing: Path, release: Path, digest: str) -> bool:
    """Whether the manifest of a release with this digest names another pairing file."""
    try:
        manifest = json.loads(files.manifest_beside(release).read_bytes())
        if manifest["release"]["sha256"] != digest:
            return False  # the manifest of another release
        return bool(manifest["pairing"]["sha256"] != files_sha256([pairing]))
    except (OSError, ValueError, KeyError, TypeError):
        return False  # no manifest names one


def _read(path: Path, digest: str, temp: Any) -> RowPairing | None:
    """What a pairing file says of the release with this digest; None if it is about another."""
    try:
        with open_source(path, outputs=[path], temp=temp) as (_, questions):
            details = row_pairing.read_details(questions.engine, path)
            if not isinstance(details, Mapping) or details["release"]["sha256"] != digest:
                return None
            numbers = row_pairing.read_row_numbers(questions.engine)
        original = details["original"]
        rows = np.asarray(numbers, dtype=np.int64) - 1
        return RowPairing(rows, int(original["records"]), original["sha256"], original["member"])
    except (SievertError, ValueError, KeyError, TypeError):
        return None  # a damaged file says nothing


def _is_file_name(data: Any) -> bool:
    return isinstance(data, str | os.PathLike) and "://" not in str(data) and str(data) != "stdin:"
