"""The codes of a Parquet column straight from its pages, where these hold places in a dictionary.

A column chunk that its writer has coded by a dictionary is codes already: its pages are unpacked
into the keys in one go, several times faster than by way of values. Whatever is not of this plain
kind (other encodings, nested columns, anything unexpected) is declined, and read as values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sievert.arrays import Ints
from sievert.counts.packed import page_kernels

DATA, DICTIONARY, DATA_2 = 0, 2, 3  # kinds of pages
PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY = 0, 2, 3, 8  # encodings
NUMBERS = {"INT32": "<i4", "INT64": "<i8"}
CODECS = {"UNCOMPRESSED": None, "SNAPPY": "snappy", "GZIP": "gzip", "ZSTD": "zstd"}
LARGEST = 1 << 30  # bytes of a chunk, unpacked

# Where page_kernels.headers puts the fields of a page's header.
BODY, KIND, WHOLE, PACKED = range(4)
VALUES, ENCODING, LEVELS = 51, 52, 53
ENTRIES, ENTRY_ENCODING = 71, 72
VALUES_2, ENCODING_2, LEVELS_SIZE, REPEATS_SIZE, IS_PACKED = 81, 84, 85, 86, 87


class OddError(Exception):
    """Pages that are not of the plain kind."""


@dataclass(frozen=True)
class Chunk:
    """A column of one row group: where it lies, and what the file says of it."""

    path: Path
    noted: Any  # the column chunk's metadata
    optional: bool
    plain: bool  # neither nested nor repeated
    unsigned: bool

    def pack(self, keys: Ints, shift: int, known: Callable[[Any], Ints]) -> bool:
        """Put the column's codes into the keys; if False, what they hold there means nothing."""
        noted = self.noted
        if not (self.plain and noted.has_dictionary_page and noted.compression in CODECS):
            return False
        try:
            with self.path.open("rb") as file:
                file.seek(noted.dictionary_page_offset)
                packed = file.read(noted.total_compressed_size)
            heads = page_kernels.headers(np.frombuffer(packed, dtype=np.uint8))
            raw, dictionary, pages = _decompress_pages(
                packed, heads, CODECS[noted.compression], self.optional
            )
            codes = known(self._values(dictionary, int(heads[0, ENTRIES])))
        except (OddError, OSError, ValueError):
            return False
        return page_kernels.unpack_pages(
            raw,
            raw.view(np.uint64),
            pages,
            self.optional,
            np.append(codes, np.uint64(page_kernels.NO_CODE)),
            keys,
            shift,
        )

    def texts(self) -> list[str]:
        """The dictionary's texts; none where it has no plain one."""
        noted = self.noted
        if not (self.plain and noted.has_dictionary_page and noted.compression in CODECS):
            return []
        start = noted.dictionary_page_offset
        size = noted.data_page_offset - start
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                packed = file.read(size if size > 0 else noted.total_compressed_size)
            heads = page_kernels.headers(np.frombuffer(packed, dtype=np.uint8))[:1]
            _, dictionary, _ = _decompress_pages(
                packed, heads, CODECS[noted.compression], self.optional
            )
            return list(self._values(dictionary, int(heads[0, ENTRIES])))
        except (OddError, OSError, ValueError):
            return []

    def _values(self, body: memoryview, count: int) -> Any:
        """The dictionary: numbers, or texts."""
        if self.noted.physical_type in NUMBERS:
            kind = NUMBERS[self.noted.physical_type]
            numbers = np.frombuffer(body, kind.replace("i", "u") if self.unsigned else kind)
            if len(numbers) != count:
                raise OddError
            return numbers
        if self.noted.physical_type != "BYTE_ARRAY":
            raise OddError
        texts, at = [], 0
        for _ in range(count):
            size = int.from_bytes(body[at : at + 4], "little")
            text = bytes(body[at + 4 : at + 4 + size])
            if len(text) != size:
                raise OddError
            texts.append(text.decode("utf-8"))
            at += 4 + size
        return texts


def _decompress_pages(
    packed: bytes, heads: Ints, codec: str | None, optional: bool
) -> tuple[Ints, memoryview, Ints]:
    """The bytes of data pages one after the other, the dictionary's, and where each page lies."""
    whole = heads[:, WHOLE]
    if not len(heads) or whole.min() < 0 or whole.sum() > LARGEST:
        raise OddError
    raw = np.zeros((int(whole.sum()) + 24) & ~7, dtype=np.uint8)
    pages = np.zeros((len(heads) - 1, 4), dtype=np.int64)
    decompress = None if codec is None else pa.Codec(codec).decompress
    dictionary = memoryview(b"")
    source, target, at = memoryview(packed), raw.data, 0
    for number, head in enumerate(heads.tolist()):
        body, size = source[head[BODY] : head[BODY] + head[PACKED]], head[WHOLE]
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
    """Where the levels, the values and the end of a data page are, and how many values it has."""
    end = at + head[WHOLE]
    second = head[KIND] == DATA_2
    encoding, count = (ENCODING_2, VALUES_2) if second else (ENCODING, VALUES)
    if head[encoding] not in (PLAIN_DICTIONARY, RLE_DICTIONARY) or head[KIND] not in (DATA, DATA_2):
        raise OddError
    if second:
        return at, at + before, end, head[count]
    if not optional:
        return at, at, end, head[count]
    size = int.from_bytes(raw[at : at + 4].tobytes(), "little")
    if head[LEVELS] != RLE:
        raise OddError
    return at + 4, at + 4 + size, end, head[count]
