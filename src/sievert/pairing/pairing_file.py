"""The private file that pairs a release with its original: written by protect, found by its digest.

The rows of a release are in an order that tells nothing. The publisher needs to know which row
became which, to measure what the release discloses and has lost. Nobody else may know.
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
from sievert.errors import SievertError, require
from sievert.pairing.evidence import PAIRING_FILE
from sievert.session import open_source
from sievert.sources.checksums import files_sha256
from sievert.sources.table import Table, split_member
from sievert.version import __version__

INTERNAL = "private: which row of the original became which row of the release; do not pass it on"
EDITED = "is not the pairing file of the manifest: its SHA-256 is another one"
MOST_BESIDE = 100  # pairing files of one directory that are read


@dataclass(frozen=True, kw_only=True)
class RowPairing:
    """For each row of a release its row in the original, from 0; and what is known about both.

    `records` and `sha256` describe the original of the release. `unused` says why a pairing file
    beside the release is not used. `reordered` names the file that says that the rows of the
    release are not in the order of its original.
    """

    rows: Ints | None = None
    records: int = 0
    sha256: str | None = None
    member: str | None = None
    unused: str | None = None
    reordered: str | None = None

    def forget_rows(self, name: str) -> "RowPairing":
        """Forget the rows, because the user states that they are in the order of the original.

        Raise an error if a file says that the rows of the release `name` have another order.
        """
        require(
            self.reordered is None,
            f"{name}: {self.reordered} says that its rows are in another order than those of the "
            "original, so that --paired does not hold",
            hint=f"without --paired, the {PAIRING_FILE}, pairs the records; or --key COLUMN, one "
            "value a person, in both tables",
        )
        return RowPairing(unused=self.unused)

    def fits(self, original: "OriginalFile", released: int, records: int) -> "RowPairing":
        """The pairing for an original with these `records`; without rows if it is another one."""
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
    """The file of an original; its digest is computed when it is needed."""

    def __init__(self, data: Any, table: Table) -> None:
        self.member: str | None = None
        self._paths: tuple[Path, ...] = ()
        self._sha256: str | None = None
        if _is_file_name(data):
            path, self.member = split_member(Path(data))
            paths = table.parts or (path,)
            if all(part.is_file() for part in paths):
                self._paths = tuple(paths)

    def sha256(self) -> str | None:
        """The SHA-256 of the file, or of the digests of its parts; None if there is no file."""
        if self._sha256 is None and self._paths:
            self._sha256 = files_sha256(self._paths)
        return self._sha256


def pairing_details(release: Path, original: OriginalFile, records: int) -> dict[str, Any]:
    """The footer of a pairing file: that it is private, and the digests of its files."""
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
    """Find the pairing file beside a release by the release's digest; without rows if none."""
    if not _is_file_name(release) or not Path(release).is_file():
        return RowPairing()
    path = Path(release)
    expected = files.pairing_beside(path)
    others = sorted(path.parent.glob(f"*{files.PAIRING}"))[:MOST_BESIDE]
    beside = [file for file in dict.fromkeys((expected, *others)) if file.is_file()]
    manifest = files.manifest_beside(path)
    digest = files_sha256([path]) if beside or manifest.is_file() else ""
    named = _named_pairing(manifest, digest)
    reordered = None if named is None else manifest.name
    for file in beside:
        pairing = _read(file, digest, temp)
        if pairing is None:
            continue
        if named is not None and named != files_sha256([file]):
            return RowPairing(unused=f"{file.name} {EDITED}", reordered=reordered)
        return pairing
    unused = f"{expected.name} is about another release" if expected in beside else None
    return RowPairing(unused=unused, reordered=reordered)


def _named_pairing(manifest: Path, digest: str) -> str | None:
    """The SHA-256 of the pairing file that the manifest of a release with this digest names."""
    try:
        content = json.loads(manifest.read_bytes())
        if content["release"]["sha256"] != digest:
            return None  # the manifest of another release
        return str(content["pairing"]["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # no manifest names one


def _read(path: Path, digest: str, temp: Any) -> RowPairing | None:
    """Read the pairing file of the release with this digest; None if it is of another release."""
    try:
        with open_source(path, outputs=[path], temp=temp) as (_, questions):
            details = row_pairing.read_details(questions.engine, path)
            if not isinstance(details, Mapping) or details["release"]["sha256"] != digest:
                return None
            numbers = row_pairing.read_row_numbers(questions.engine)
        original = details["original"]
        rows = np.asarray(numbers, dtype=np.int64) - 1
        in_order = bool((np.diff(rows) == 1).all() and (rows[:1] == 0).all())
        return RowPairing(
            rows=rows,
            records=int(original["records"]),
            sha256=original["sha256"],
            member=original["member"],
            reordered=None if in_order else path.name,
        )
    except (SievertError, ValueError, KeyError, TypeError):
        return None  # a damaged file says nothing


def _is_file_name(data: Any) -> bool:
    return isinstance(data, str | os.PathLike) and "://" not in str(data) and str(data) != "stdin:"
