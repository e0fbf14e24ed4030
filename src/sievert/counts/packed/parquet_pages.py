"""The codes of a Parquet column straight from its pages, if these have places in a dictionary.

The pages of a column chunk with a dictionary contain codes already. They are unpacked into the keys
in one go, several times faster than by way of values. Other chunks (other encodings, nested
columns, anything unexpected) are declined, and read as values.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sievert.arrays import Ints
from sievert.counts.packed import page_kernels

# kinds of pages
DATA = 0
DICTIONARY = 2
DATA_2 = 3
# encodings
PLAIN = 0
PLAIN_DICTIONARY = 2
RLE = 3
RLE_DICTIONARY = 8
NUMBERS = {"INT32": "<i4", "INT64": "<i8", "DOUBLE": "<f8", "FLOAT": "<f4"}
CODECS = {"UNCOMPRESSED": None, "SNAPPY": "snappy", "GZIP": "gzip", "ZSTD": "zstd"}
LARGEST = 1 << 30  # bytes of a chunk, unpacked
RECORDS_PER_TEXT = 256  # with fewer records for each text of a dictionary pyarrow is faster

# Where page_kernels.headers puts the fields of a page's header.
BODY, KIND, WHOLE, PACKED = range(4)
VALUES = 51
ENCODING = 52
LEVELS = 53
ENTRIES = 71
ENTRY_ENCODING = 72
VALUES_2 = 81
ENCODING_2 = 84
LEVELS_SIZE = 85
REPEATS_SIZE = 86
IS_PACKED = 87


class OddError(Exception):
    """Pages of another kind, which are read as values."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A column of one row group: its file, and what the file says about it."""

    path: Path
    noted: Any  # the column chunk's metadata
    optional: bool
    plain: bool  # neither nested nor repeated
    unsigned: bool
    records_per_text: int = RECORDS_PER_TEXT

    def pack(self, keys: Ints, shift: int, code_values: Callable[[Any], Ints]) -> bool:
        """Put the column's codes into the keys; after False the bits of the keys mean nothing."""
        try:
            raw, pages, values = self._read_pages(
                self.noted.total_compressed_size, most_texts=self._most_texts
            )
            codes = np.append(code_values(values), np.uint64(page_kernels.NO_CODE))
        except (OddError, OSError, ValueError):
            return False
        return page_kernels.unpack_pages(
            raw, raw.view(np.uint64), pages, self.optional, codes, keys, shift
        )

    def values(self) -> list[Any]:
        """The texts or numbers of the dictionary; none if there is no plain dictionary."""
        size = self.noted.data_page_offset - (self.noted.dictionary_page_offset or 0)
        try:
            *_, values = self._read_pages(
                size if size > 0 else self.noted.total_compressed_size, pages=1
            )
        except (OddError, OSError, ValueError):
            return []
        return list(values)

    @property
    def _most_texts(self) -> int | None:
        """The size of the largest dictionary of texts that is worth unpacking; None: any size."""
        if not self.records_per_text:
            return None
        most: int = self.noted.num_values // self.records_per_text
        return most

    def _read_pages(
        self, size: int, pages: int | None = None, most_texts: int | None = None
    ) -> tuple[Ints, Ints, Any]:
        """The bytes of the data pages, the place of each page, and the values of the dictionary."""
        noted = self.noted
        if not (self.plain and noted.has_dictionary_page and noted.compression in CODECS):
            raise OddError
        with self.path.open("rb") as file:
            file.seek(noted.dictionary_page_offset)
            packed = file.read(size)
        heads = page_kernels.headers(np.frombuffer(packed, dtype=np.uint8))[:pages]
        texts = noted.physical_type == "BYTE_ARRAY"
        if texts and most_texts is not None and len(heads) and heads[0, ENTRIES] > most_texts:
            raise OddError
        raw, dictionary, places = _decompress_pages(
            packed, heads, CODECS[noted.compression], self.optional
        )
        return raw, places, self._values(dictionary, int(heads[0, ENTRIES]))

    def _values(self, body: memoryview, count: int) -> Any:
        """The dictionary: numbers, or texts."""
        kind = self.noted.physical_type
        at = 0
        values: Any = []
        if kind in NUMBERS:
            values = np.frombuffer(body, NUMBERS[kind].replace("i", "u" if self.unsigned else "i"))
        while kind == "BYTE_ARRAY" and len(values) < count:
            start = at + 4
            at = start + int.from_bytes(body[at:start], "little")
            if at > len(body):
                raise OddError
            values.append(str(body[start:at], "utf-8"))
        if len(values) != count:
            raise OddError
        return values


def _decompress_pages(
    packed: bytes, heads: Ints, codec: str | None, optional: bool
) -> tuple[Ints, memoryview, Ints]:
    """The bytes of the data pages, those of the dictionary, and the place of each page."""
    whole = heads[:, WHOLE]
    if not len(heads) or whole.min() < 0 or whole.sum() > LARGEST:
        raise OddError
    raw = np.zeros((int(whole.sum()) + 24) & ~7, dtype=np.uint8)
    pages = np.zeros((len(heads) - 1, 4), dtype=np.int64)
    decompress = None if codec is None else pa.Codec(codec).decompress
    dictionary = memoryview(b"")
    source = memoryview(packed)
    target = raw.data
    at = 0
    for number, head in enumerate(heads.tolist()):
        body = source[head[BODY] : head[BODY] + head[PACKED]]
        size = head[WHOLE]
        before = 0  # bytes of levels that are never packed
        if head[KIND] == DATA_2:
            before = max(0, head[LEVELS_SIZE])
            if head[REPEATS_SIZE] > 0 or before > min(len(body), size):
                raise OddError
            target[at : at + before] = body[:before]
        values = body[before:]
        if decompress is not None and head[IS_PACKED] != 0 and size > before:
            values = memoryview(decompress(values, decompressed_size=size - before)).cast("B")
        if len(values) != size - before:
            raise OddError
        if number == 0:
            if head[KIND] != DICTIONARY or head[ENTRY_ENCODING] not in (PLAIN, PLAIN_DICTIONARY):
                raise OddError
            dictionary = values
            continue
        target[at + before : at + size] = values
        pages[number - 1] = _place(head, raw, at, before, optional)
        at += size
    return raw, dictionary, pages


def _place(
    head: list[int], raw: Ints, at: int, before: int, optional: bool
) -> tuple[int, int, int, int]:
    """The places of the levels, the values and the end of a data page, and its values' number."""
    second = head[KIND] == DATA_2
    end = at + head[WHOLE]
    encoding = ENCODING_2 if second else ENCODING
    count = VALUES_2 if second else VALUES
    plain = head[encoding] in (PLAIN_DICTIONARY, RLE_DICTIONARY) and head[KIND] in (DATA, DATA_2)
    levels = optional and not second  # with their size before them
    if not plain or (levels and head[LEVELS] != RLE):
        raise OddError
    if levels:
        before = int.from_bytes(raw[at : at + 4].tobytes(), "little")
        at += 4
    return at, at + before, end, head[count]
