"""The records of a file of delimited text, counted from its bytes, independently of any engine.

This count reveals a record that was lost on the way to the engine. Text that engines refuse, or
read differently, is an error here, which names the line or the byte.
"""

import codecs
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sievert.errors import InputError, require
from sievert.sources import csv_header
from sievert.sources.csv_header import BOM, FIELD_LIMIT

CHUNK = 1 << 18  # stays in a core's cache
QUOTE = 34
CR = 13
LF = 10
Bytes = NDArray[Any]


@dataclass(frozen=True)
class Scan:
    """The number of records and the lines of a file."""

    records: int
    blank_lines: int
    longest: int  # bytes of the longest line
    mixed: bool  # more than one kind of line end


def scan(
    path: Path,
    name: str,
    delimiter: str,
    columns: int,
    *,
    header: bool = True,
    max_field: int = FIELD_LIMIT,
    chunk: int = CHUNK,
) -> Scan:
    """Count the records after the header; `chunk` bytes are read at a time.

    Every record must have as many fields as the header. Blank lines hold no record, except in a
    file of one column, where they are an empty field.
    """
    count = _Count(ord(delimiter))
    for block in _blocks(path, name, chunk):
        count.add(block)
    blank = count.blank if columns > 1 else 0
    mixed = len(count.line_ends) > 1
    lines = count.ended + (count.unended > 0) - blank  # the last one may lack its line end
    regular = count.regular and not count.inside and count.delimiters == lines * (columns - 1)
    if not regular or count.longest > max_field:
        lines = csv_header.count_fields(path, name, delimiter, columns, max_field)
        require(
            count.regular or not mixed,
            f"{name}: quotes inside fields, and several kinds of line end",
            hint="save it with one kind of line end",
            error=InputError,
        )
    return Scan(records=lines - header, blank_lines=blank, longest=count.longest, mixed=mixed)


def one_line_end(path: Path, name: str, target: Path, *, chunk: int = CHUNK) -> None:
    """Write a private copy in which every line end outside quotes is a line feed."""
    inside = False
    with csv_header.room_for(name), target.open("wb") as out:
        for block in _blocks(path, name, chunk):
            content = np.frombuffer(block, dtype=np.uint8).copy()
            quotes = np.flatnonzero(content == QUOTE)
            ends, pairs = _line_ends(content)
            outside = _outside(ends, quotes, inside)
            content[ends[outside]] = LF
            out.write(np.delete(content, ends[outside & pairs] - 1).tobytes())
            inside ^= bool(len(quotes) % 2)


def _blocks(path: Path, name: str, chunk: int) -> Iterator[bytes]:
    """Read the file without its BOM in blocks that end neither in a quote nor within a line end."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    read = 0
    pending_bytes = b""
    more = True
    with path.open("rb") as file:
        while more:
            block = file.read(chunk)
            more = bool(block)
            pending = len(decoder.getstate()[0])
            if pending or not block.isascii():
                try:
                    decoder.decode(block, final=not more)
                except UnicodeDecodeError as error:
                    raise csv_header.not_utf8(name, read - pending + error.start) from None
            if 0 in block:
                raise _nul(path, name, read + block.index(0))
            whole = pending_bytes + (block if read else block.removeprefix(BOM))
            read += len(block)
            kept = whole
            if more and len(pending_bytes) < FIELD_LIMIT:
                kept = whole.rstrip(b'\r"')
            pending_bytes = whole[len(kept) :]
            if kept:
                yield kept


def _nul(path: Path, name: str, at: int) -> InputError:
    ends: Counter[int] = Counter()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(min(CHUNK, at - file.tell())), b""):
            ends.update({LF: block.count(b"\n"), CR: block.count(b"\r")})
    line_ends = ends[LF] if ends[LF] else ends[CR]
    return InputError(
        f"{name}, line {1 + line_ends}: a NUL byte; this is not plain text",
        hint="--encoding utf-16 if it was saved as such",
    )


def _line_ends(content: Bytes) -> tuple[Bytes, Bytes]:
    """The place of the last byte of each line end, and whether the line end is a pair, CR LF."""
    feeds = np.flatnonzero(content == LF)
    returns = np.flatnonzero(content == CR)
    if not len(returns):
        return feeds, np.zeros(len(feeds), dtype=bool)
    alone = returns[content[np.minimum(returns + 1, len(content) - 1)] != LF]
    ends = np.sort(np.concatenate([feeds, alone]))
    return ends, (content[ends] == LF) & (ends > 0) & (content[ends - 1] == CR)


def _outside(places: Bytes, quotes: Bytes, inside: bool) -> Bytes:
    """Say for each place whether it is outside quotes: after an even number of quotes."""
    return np.asarray((np.searchsorted(quotes, places) + inside) % 2 == 0)


class _Count:
    """Counts lines and delimiters outside quotes, block by block.

    The count is certain (`regular`) if every quote encloses a whole field or is doubled within one.
    """

    def __init__(self, delimiter: int) -> None:
        self.delimiter = delimiter
        self.edges = np.array([delimiter, LF, CR, QUOTE], dtype=np.uint8)
        self.delimiters = 0
        self.ended = 0  # lines that have a line end
        self.blank = 0
        self.longest = 0
        self.line_ends: set[str] = set()
        self.regular = True
        self.inside = False
        self.before = LF  # the last byte of the block before
        self.unended = 0  # bytes since the last line end

    def add(self, block: bytes) -> None:
        content = np.frombuffer(block, dtype=np.uint8)
        if self.inside or b'"' in block or not self._add_plain(block, content):
            self._add_any(content)
        self.before = block[-1]

    def _add_plain(self, block: bytes, content: Bytes) -> bool:
        """Count a block without quotes whose lines all end alike; return False for any other block.

        A block with a blank line is another block, too.
        """
        feeds = content == LF
        ends = feeds | (content == CR) if b"\r" in block else feeds
        number = int(np.count_nonzero(feeds))
        returns = int(np.count_nonzero(ends)) - number
        pairs = int(np.count_nonzero(ends[:-1] & feeds[1:])) if returns else 0
        uniform = number and returns == pairs and pairs in (0, number)
        blank = (self.before in (LF, CR) and ends[0]) or (feeds[:-1] & ends[1:]).any()
        if blank or not uniform:
            return False
        first = int(feeds.argmax())
        last = len(feeds) - 1 - int(feeds[::-1].argmax())
        self.delimiters += int(np.count_nonzero(content == self.delimiter))
        self.line_ends.add("pair" if pairs else "feed")
        self.longest = max(self.longest, self.unended + first + 1, last - first)
        self.ended += number
        self.unended = len(content) - last - 1
        return True

    def _add_any(self, content: Bytes) -> None:
        """Count any block by the places of its quotes, delimiters and line ends."""
        quotes = np.flatnonzero(content == QUOTE)
        self.regular = self.regular and self._around_fields(content, quotes)
        between = np.flatnonzero(content == self.delimiter)
        self.delimiters += int(np.count_nonzero(_outside(between, quotes, self.inside)))
        ends, pairs = _line_ends(content)
        outside = _outside(ends, quotes, self.inside)
        ends = ends[outside]
        pairs = pairs[outside]
        self.inside ^= bool(len(quotes) % 2)
        alone = content[ends[~pairs]]
        kinds = {"feed": (alone == LF).any(), "return": (alone == CR).any(), "pair": pairs.any()}
        self.line_ends |= {kind for kind, there in kinds.items() if there}
        lengths = np.diff(ends, prepend=-1 - self.unended)
        self.blank += int(np.count_nonzero(lengths - 1 - pairs == 0))
        self.ended += len(ends)
        if len(ends):
            self.unended = len(content) - 1 - int(ends[-1])
        else:
            self.unended += len(content)
        self.longest = max(self.longest, int(lengths.max(initial=0)), self.unended)

    def _around_fields(self, content: Bytes, quotes: Bytes) -> bool:
        """Say whether every quote opens or closes a whole field, or is doubled within one."""
        opening = quotes[self.inside :: 2]
        closing = quotes[1 - self.inside :: 2]
        before = np.where(opening > 0, content[opening - 1], np.uint8(self.before))
        after = content[np.minimum(closing + 1, len(content) - 1)]  # at the very end: itself
        return bool(np.isin(before, self.edges).all() and np.isin(after, self.edges).all())
