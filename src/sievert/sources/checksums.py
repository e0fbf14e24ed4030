"""The SHA-256 of an input, and whether the checksums in it hold.

By default, neither DuckDB nor pyarrow notices a flipped bit in a Parquet page. On request, pyarrow
compares the checksums that the writer has stored.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sievert.errors import InputError
from sievert.formatting.remarks import Remark
from sievert.sources.options import optional_package
from sievert.sources.state_manifest import file_sha256
from sievert.sources.table import Table

# A page's header in Thrift's compact protocol with its fourth field, the checksum: before it come
# three 32-bit integers, each a byte with its type and the number, seven bits per byte.
WITH_CHECKSUM = re.compile(rb"(\x15[\x80-\xff]*[\x00-\x7f]){3}\x15")


def verify(table: Table, original: Path) -> dict[str, Any]:
    """Return the SHA-256 of a file, or of the digests of a directory's files; check its pages."""
    files = table.parts if table.parts else (original,)
    facts: dict[str, Any] = {"sha256": files_sha256(files)}
    if table.kind == "parquet":
        stored = [_check_pages(path, table.name) for path in files]
        if all(stored):
            facts["page_checksums"] = "hold"
        elif any(stored):
            facts["page_checksums"] = Remark("checksums_hold")
        else:
            facts["page_checksums"] = Remark("checksums_none")
    return facts


def files_sha256(files: Sequence[Path]) -> str:
    """The SHA-256 of one file, or of the hexadecimal digests of several files in their order."""
    digests = [file_sha256(path) for path in files]
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def _check_pages(path: Path, name: str) -> bool:
    """Read every page with its checksum; return whether checksums are stored."""
    arrow = optional_package("pyarrow", "--verify of Parquet needs")
    parquet = optional_package("pyarrow.parquet", "--verify of Parquet needs")
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(batch_size=1 << 16):
                del batch
            return _has_checksums(path, file.metadata)
    except (OSError, ValueError, arrow.ArrowException):
        raise InputError(f"{name}: damaged: a page does not match its checksum") from None


def _has_checksums(path: Path, metadata: Any) -> bool:
    """Say whether the first page of every column chunk has a checksum."""
    groups = range(metadata.num_row_groups)
    columns = range(metadata.num_columns)
    with path.open("rb") as file:
        for chunk in (metadata.row_group(g).column(c) for g in groups for c in columns):
            file.seek(chunk.dictionary_page_offset or chunk.data_page_offset)
            if not WITH_CHECKSUM.match(file.read(64)):
                return False
    return True
