"""What can be said about the bytes of an input: its SHA-256, and whether its checksums hold.

Neither DuckDB nor pyarrow by default notices a flipped bit in a Parquet page; pyarrow does when
told to, where the writer has stored checksums.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sievert.errors import InputError
from sievert.formatting.remarks import Remark
from sievert.sources.options import optional_package
from sievert.sources.states import file_sha256
from sievert.sources.table import Table

# A page's header in Thrift's compact protocol with its fourth field, the checksum: before it come
# three 32-bit integers, each a byte with its type and the number, seven bits per byte.
WITH_CHECKSUM = re.compile(rb"(\x15[\x80-\xff]*[\x00-\x7f]){3}\x15")


def verify(table: Table, original: Path) -> dict[str, Any]:
    """The SHA-256 of a file (of a directory: of its files' digests), and its page checksums."""
    files = table.parts or (original,)
    facts: dict[str, Any] = {"sha256": files_sha256(files)}
    if table.kind == "parquet":
        stored = [_check_pages(path, table.name) for path in files]
        facts["page_checksums"] = (
            "hold"
            if all(stored)
            else Remark("checksums_hold")
            if any(stored)
            else Remark("checksums_none")
        )
    return facts


def files_sha256(files: Sequence[Path]) -> str:
    """The SHA-256 of a file; of several, in their order, that of their digests in hexadecimal."""
    digests = [file_sha256(path) for path in files]
    return (
        digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    )


def _check_pages(path: Path, name: str) -> bool:
    """Read every page with its checksum; returns whether checksums are stored."""
    arrow, parquet = (
        optional_package(module, "--verify of Parquet needs")
        for module in ("pyarrow", "pyarrow.parquet")
    )
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(batch_size=1 << 16):
                del batch
            return _has_checksums(path, file.metadata)
    except (OSError, ValueError, arrow.ArrowException):
        raise InputError(f"{name}: damaged: a page does not match its checksum") from None


def _has_checksums(path: Path, metadata: Any) -> bool:
    """Whether the first page of every column chunk carries a checksum."""
    groups, columns = range(metadata.num_row_groups), range(metadata.num_columns)
    with path.open("rb") as file:
        for chunk in (metadata.row_group(g).column(c) for g in groups for c in columns):
            file.seek(chunk.dictionary_page_offset or chunk.data_page_offset)
            if not WITH_CHECKSUM.match(file.read(64)):
                return False
    return True
