"""What can be said about the bytes of an input: its SHA-256, and whether its checksums hold.

Neither DuckDB nor pyarrow by default notices a flipped bit in a Parquet page; pyarrow does when
told to, where the writer has stored checksums.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from sievert.errors import InputError, UsageError
from sievert.sources.table import Table

CRC_FIELD = 4


def verify(table: Table, original: Path) -> dict[str, Any]:
    """The SHA-256 of a file (of a directory: of its files' digests), and its page checksums."""
    files = table.parts or (original,)
    digests = [_sha256(path) for path in files]
    whole = digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode())
    facts: dict[str, Any] = {"sha256": whole if isinstance(whole, str) else whole.hexdigest()}
    if table.kind == "parquet":
        stored = [_check_pages(path, table.name) for path in files]
        facts["page_checksums"] = (
            "hold" if all(stored) else "hold where stored" if any(stored) else "none stored"
        )
    return facts


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_pages(path: Path, name: str) -> bool:
    """Read every page with its checksum; returns whether checksums are stored."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise UsageError(
            "--verify of Parquet needs the package pyarrow", hint="pip install 'sievert[formats]'"
        ) from None
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(batch_size=1 << 16):
                del batch
            return _has_checksums(path, file.metadata)
    except (OSError, ValueError, ArrowException):
        raise InputError(f"{name}: damaged: a page does not match its checksum") from None


def _has_checksums(path: Path, metadata: Any) -> bool:
    """Whether the first page of every column chunk carries a checksum."""
    groups, columns = range(metadata.num_row_groups), range(metadata.num_columns)
    with path.open("rb") as file:
        for chunk in (metadata.row_group(g).column(c) for g in groups for c in columns):
            file.seek(chunk.dictionary_page_offset or chunk.data_page_offset)
            if not _has_crc(file.read(64)):
                return False
    return True


def _has_crc(header: bytes) -> bool:
    """Whether a page header in Thrift's compact protocol has its fourth field, the checksum.

    The first fields are 32-bit integers: a byte with the distance to the last field and the type,
    then the number, seven bits per byte.
    """
    at = field = 0
    while at < len(header):
        step, kind = header[at] >> 4, header[at] & 15
        field += step
        if not step or kind != 5 or field > CRC_FIELD:  # 5: a 32-bit integer
            return False
        if field == CRC_FIELD:
            return True
        at += 1
        while at < len(header) and header[at] & 128:
            at += 1
        at += 1
    return False
