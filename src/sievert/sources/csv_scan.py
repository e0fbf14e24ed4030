"""The records of a file of delimited text, counted from its bytes, independently of any engine.

A record lost on the way to the engine is noticed by this count; and what an engine would refuse or
read otherwise than others is found here, with its line or its byte.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sievert.errors import InputError
from sievert.sources import csv_header
from sievert.sources.csv_header import BOM, FIELD_LIMIT

CHUNK = 1 << 18  # stays in a core's cache
QUOTE, CR, LF = 34, 13, 10
Bytes = NDArray[Any]


@dataclass(frozen=True)
class Scan:
    """What a file holds."""

    records: int
    blank_lines: int
    longest: int  # bytes that a line takes at most
    mixed: bool  # more than one kind of line end


def scan(
    path: Path, delimiter: str, columns: int, *, header: bool = True, max_field: int = FIELD_LIMIT
) -> Scan:
    """Count the records after the header.

    Every record must have as many fields as the header. Blank lines hold no record, except in a
    file of one column, where they are an empty field.
    """
    count = _Count(ord(delimiter))
    for block in _blocks(path):
        count.add(block)
    blank = count.blank if columns > 1 else 0
    lines = count.lines - blank
    regular = count.regular and not count.inside and count.delimiters == lines * (columns - 1)
    if not regular or count.longest > max_field:
        lines = csv_header.count_fields(path, delimiter, columns, max_field)
        if count.mixes_line_ends and not count.regular:
            raise InputError(
                f"{csv_header.name_of(path)}: quotes inside fields, and several kinds of line end",
                hint="save it with one kind of line end",
            )
    return Scan(lines - header, blank, count.longest, count.mixes_line_ends)


def one_line_end(path: Path, target: Path) -> None:
    """Write a private copy in which every line outside quotes ends in a line feed."""
    inside = False
    with csv_header.room_for(path), target.open("wb") as out:
        for block in _blocks(path):
            content = np.frombuffer(block, dtype=np.uint8).copy()
            quotes = np.flatnonzero(content == QUOTE)
            ends, pairs = _line_ends(content)
            outside = _outside(ends, quotes, inside)
            content[ends[outside]] = LF
            out.write(np.delete(content, ends[outside & pairs] - 1).tobytes())
            inside ^= bool(len(quotes) % 2)


def _blocks(path: Path) -> Iterator[bytes]:
    """The file without its BOM in blocks that end neither in a quote nor within a line end."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    read, pending_bytes, more = 0, b"", True
    with path.open("rb") as file:
        while more:
            block = file.read(CHUNK)
            more = bool(block)
            pending = len(decoder.getstate()[0])
            if pending or not block.isascii():
                try:
                    decoder.decode(block, final=not more)
                except UnicodeDecodeError as error:
                    at = read - pending + error.start
                    raise csv_header.not_utf8(csv_header.name_of(path), at) from None
            if 0 in block:
                raise _nul(path, read + block.index(0))
            whole = pending_bytes + (block if read else block.removeprefix(BOM))
            read += len(block)
            kept = whole.rstrip(b'\r"') if more and len(pending_bytes) < FIELD_LIMIT else whole
            pending_bytes = whole[len(kept) :]
            if kept:
                yield kept


def _nul(path: Path, at: int) -> InputError:
    with path.open("rb") as file:
        blocks = iter(lambda: file.read(min(CHUNK, at - file.tell())), b"")
        feeds = returns = 0
        for block in blocks:
            feeds, returns = feeds + block.count(b"\n"), returns + block.count(b"\r")
    return InputError(
        f"{csv_header.name_of(path)}, line {1 + (feeds or returns)}: a NUL byte; this is not plain "
        "text",
        hint="--encoding utf-16 if it was saved as such",
    )


def _line_ends(content: Bytes) -> tuple[Bytes, Bytes]:
    """Where line ends end, and which of them are a pair, CR LF."""
    feeds, returns = np.flatnonzero(content == LF), np.flatnonzero(content == CR)
    if not len(returns):
        return feeds, np.zeros(len(feeds), dtype=bool)
    alone = returns[content[np.minimum(returns + 1, len(content) - 1)] != LF]
    ends = np.sort(np.concatenate([feeds, alone]))
    return ends, (content[ends] == LF) & (ends > 0) & (content[ends - 1] == CR)


def _outside(places: Bytes, quotes: Bytes, inside: bool) -> Bytes:
    """Which places have an even number of quotes before them."""
    outside: Bytes = (np.searchsorted(quotes, places) + inside) % 2 == 0
    return outside


class _Count:
    """Lines and delimiters outside quotes, block by block.

    The count is sure (`regular`) if every quote stands around a whole field, or doubled within one.
    """

    def __init__(self, delimiter: int) -> None:
        self.delimiter = delimiter
        self.edges = np.array([delimiter, LF, CR, QUOTE], dtype=np.uint8)
        self.delimiters = self.ended = self.blank = self.longest = 0
        self.kinds: set[str] = set()
        self.regular, self.inside = True, False
        self.before = LF  # the last byte of the block before
        self.unended = 0  # bytes since the last line end

    @property
    def lines(self) -> int:
        """Lines so far; the last one may lack its line end."""
        return self.ended + (self.unended > 0)

    @property
    def mixes_line_ends(self) -> bool:
        return len(self.kinds) > 1

    def add(self, block: bytes) -> None:
        content = np.frombuffer(block, dtype=np.uint8)
        if self.inside or b'"' in block or not self._add_plain(block, content):
            self._add_any(content)
        self.before = block[-1]

    def _add_plain(self, block: bytes, content: Bytes) -> bool:
        """Without quotes and blank lines only numbers matter; False if a line may be blank."""
        feeds = content == LF
        ends, either = feeds, feeds
        pairs = returns = 0
        if b"\r" in block:
            is_return = content == CR
            first = is_return[:-1] & feeds[1:]
            returns, pairs = int(np.count_nonzero(is_return)), int(np.count_nonzero(first))
            either = feeds | is_return
            ends = either.copy()
            ends[:-1] &= ~first
        if (self.before in (LF, CR) and either[0]) or (ends[:-1] & either[1:]).any():
            return False
        self.delimiters += int(np.count_nonzero(content == self.delimiter))
        number = int(np.count_nonzero(ends))
        self._note(number - returns, returns - pairs, pairs)
        if number:
            first_end = int(ends.argmax())
            last_end = len(ends) - 1 - int(ends[::-1].argmax())
            self.longest = max(self.longest, self.unended + first_end + 1, last_end - first_end)
            self.ended += number
            self.unended = len(block) - last_end - 1
        else:
            self._extend_line(len(block))
        return True

    def _add_any(self, content: Bytes) -> None:
        """The places of quotes, and of delimiters and line ends outside of them."""
        quotes = np.flatnonzero(content == QUOTE)
        self.regular = self.regular and self._around_fields(content, quotes)
        between = np.flatnonzero(content == self.delimiter)
        self.delimiters += int(np.count_nonzero(_outside(between, quotes, self.inside)))
        ends, pairs = _line_ends(content)
        outside = _outside(ends, quotes, self.inside)
        ends, pairs = ends[outside], pairs[outside]
        self.inside ^= bool(len(quotes) % 2)
        alone = content[ends[~pairs]]
        feeds = int(np.count_nonzero(alone == LF))
        self._note(feeds, len(alone) - feeds, len(ends) - len(alone))
        if not len(ends):
            self._extend_line(len(content))
            return
        lengths = np.diff(ends, prepend=-1 - self.unended)
        self.blank += int(np.count_nonzero(lengths - 1 - pairs == 0))
        self.ended += len(ends)
        self.longest = max(self.longest, int(lengths.max()))
        self.unended = len(content) - int(ends[-1]) - 1

    def _note(self, feeds: int, returns: int, pairs: int) -> None:
        counts = {"\n": feeds, "\r": returns, "\r\n": pairs}
        self.kinds.update(kind for kind, n in counts.items() if n)

    def _extend_line(self, size: int) -> None:
        self.unended += size
        self.longest = max(self.longest, self.unended)

    def _around_fields(self, content: Bytes, quotes: Bytes) -> bool:
        """A quote opens after a delimiter or a line end, closes before one, or stands doubled."""
        opening, closing = quotes[self.inside :: 2], quotes[1 - self.inside :: 2]
        before = np.where(opening > 0, content[opening - 1], np.uint8(self.before))
        after = content[np.minimum(closing + 1, len(content) - 1)]  # at the very end: itself
        return bool(np.isin(before, self.edges).all() and np.isin(after, self.edges).all())
