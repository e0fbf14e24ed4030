"""What the long checks share: how many, for how long, damaged files, readers that may die."""

from __future__ import annotations

import contextlib
import functools
import json
import multiprocessing
import os
import re
import resource
import time
from collections.abc import Callable, Collection, Iterator
from random import Random
from typing import Any, NamedTuple

import pyarrow
import pyarrow.parquet
import pytest

WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
MINUTES = float(os.environ.get("SIEVERT_SOAK_MINUTES", "60"))  # at most; all takes half of it
HANG = 60.0  # seconds after which a reader of a small file hangs
MOST_MEMORY = 6 << 30  # a damaged length must not take the machine's memory


def asked(name: str, default: int) -> int:
    """How many of something, from the environment variable SIEVERT_SOAK_<name>."""
    return int(os.environ.get(f"SIEVERT_SOAK_{name}", default))


class Batch:
    """Numbers of things to do until all are done or their part of the time is over."""

    def __init__(self, size: int, share: float) -> None:
        """`share` is the part of all minutes of all processes that this batch may take."""
        self.size, self.done = size, 0
        self.begun = time.monotonic()
        self.end = self.begun + 60 * MINUTES * WORKERS * share

    def __iter__(self) -> Iterator[int]:
        while self.done < self.size and time.monotonic() < self.end:
            yield self.done
            self.done += 1

    def close(self, check: str, findings: Collection[str], **figures: Any) -> None:
        """Note the figures, fail on findings; what was not reached is said, not passed over."""
        seconds = round(time.monotonic() - self.begun, 1)
        note(check, asked=self.size, done=self.done, findings=len(findings), seconds=seconds,
             **figures)  # fmt: skip
        if findings:
            pytest.fail("\n".join(findings), pytrace=False)
        if self.done < self.size:
            pytest.skip(f"time is up after {self.done} of {self.size}: SIEVERT_SOAK_MINUTES")


def note(check: str, **figures: Any) -> None:
    """Print figures as a line of JSON, and append it to the file SIEVERT_SOAK_REPORT."""
    line = json.dumps({"check": check, **figures}, sort_keys=True)
    print(line)
    if name := os.environ.get("SIEVERT_SOAK_REPORT"):
        with open(name, "a", encoding="utf-8") as report:
            report.write(line + "\n")


# -- readers that may die or hang -------------------------------------------------------------


class Lost(NamedTuple):
    """A reader that gave no answer: it died or hung."""

    how: str


class Reader:
    """A function in a process of its own, started anew after a death or a hang."""

    def __init__(self, read: Callable[..., Any]) -> None:
        self._read = read
        self._spawn = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self._pipe, other = self._spawn.Pipe()
        self._process = self._spawn.Process(target=_serve, args=(other, self._read), daemon=True)
        self._process.start()
        other.close()

    def __call__(self, *arguments: Any) -> Any:
        lost = "hung"
        try:
            self._pipe.send(arguments)
            if self._pipe.poll(HANG):
                return self._pipe.recv()
        except (EOFError, OSError):
            lost = "died"
        self.close()
        self._start()
        return Lost(lost)

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(pipe: Any, read: Callable[..., Any]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(EOFError):
        while True:
            pipe.send(read(*pipe.recv()))


class Answer(NamedTuple):
    """What a reader says about a file: its records, or why not."""

    code: int
    why: str = ""
    rows: tuple[tuple[Any, ...], ...] = ()
    sizes: tuple[tuple[int, int], ...] = ()
    delimiter: str | None = None


def ours(path: str, options: dict[str, Any]) -> Answer:
    """The reader under test: every record it has read, and the histogram of their classes."""
    from sievert.errors import SievertError
    from sievert.session import open_source

    try:
        with open_source(path, **options) as (table, questions):
            found = questions.sizes(questions.columns)
            sizes = tuple(zip(found.sizes.tolist(), found.times.tolist(), strict=True))
            rows = questions.engine.rows("SELECT * FROM input")
            if len(rows) != questions.records:
                return Answer(70, f"{questions.records} records, {len(rows)} rows")
            return Answer(0, rows=tuple(rows), sizes=sizes, delimiter=table.delimiter)
    except SievertError as error:
        return Answer(error.exit_code, kind(error.what))
    except Exception as error:
        return Answer(70, f"{type(error).__name__}: {error}")


def kind(message: str) -> str:
    """A message without what differs from file to file."""
    message = re.sub(r"^[^:,]*(, line \d+)?: ", "", message)
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'", "'...'", message))


def shrunk(content: bytes, still: Callable[[bytes], bool]) -> bytes:
    """A file as short as can be found by leaving out slices for which `still` holds."""
    for size in (256, 64, 16, *range(8, 0, -1)):
        at = 0
        while at < len(content):
            shorter = content[:at] + content[at + size :]
            if still(shorter):
                content = shorter
            else:
                at += max(1, size // 8)
    return content


# -- delimited text ---------------------------------------------------------------------------

# The longer words are looked for in messages, where no value may stand.
WORDS = ("Quartermain", "Ødegård", "kryptonite", "Wolfsburg", "zwölfzehn", "0815-4711", "人口统计")


class Text(NamedTuple):
    """A whole text file, and the delimiter it was written with."""

    content: bytes
    delimiter: str


def _text(rows: list[list[str]], delimiter: str = ",", end: str = "\n", tail: str = "") -> Text:
    return Text((end.join(map(delimiter.join, rows)) + end + tail).encode(), delimiter)


def _plain(columns: int, rows: int) -> list[list[str]]:
    values = [*WORDS, "1", "01", "a b", "x"]
    header = [["name", "town", "what", "code"][:columns]]
    return header + [[values[(r * r + c) % 11] for c in range(columns)] for r in range(rows)]


def _quoted(rows: list[list[str]]) -> list[list[str]]:
    return [['"{}"'.format(v.replace('"', '""')) for v in row] for row in rows]


_QUOTES = [["name", '"town, land"', "x"], ['"a ""b"" c"', '"d,e"', '5" pipe'], ['""', "", '","']]
_LINES = [["name", "note"], ['"one\ntwo"', "1"], ['"\r\n"', '"\r"'], ["3", '"Wolfsburg\n\n"']]
_GAPS = [["name", "town", "what"], ["", "", ""], ["kryptonite", "", ""], ["", '""', "Wolfsburg"]]

TEXTS = (
    _text(_plain(1, 9)),
    _text([["name"], ["Wolfsburg"], [""], ['""'], ["x"]]),
    _text(_plain(3, 8)),
    _text(_plain(4, 20)),
    _text(_quoted(_plain(3, 6))),
    _text(_QUOTES + _QUOTES[1:]),
    _text(_LINES + _LINES[1:3]),
    _text(_LINES, end="\r\n"),
    _text(_plain(3, 8), end="\r\n"),
    _text(_plain(2, 8), end="\r"),
    Text(b"\xef\xbb\xbf" + _text(_plain(2, 5)).content, ","),
    Text(b"\xef\xbb\xbf" + _text(_quoted(_plain(2, 5)), ";").content, ";"),
    _text([["name", "größe"], ["Ødegård", "人口统计"], ["zwölfzehn", "e\u0301\u00a0\U0001f600"]]),
    _text(_GAPS + _GAPS[1:]),
    _text(_plain(3, 6), delimiter="\t"),
    _text(_plain(3, 6), delimiter=";"),
    _text(_plain(2, 6), delimiter="|", end="\r\n"),
    _text(_plain(3, 5), tail="\n\n\n"),
    _text(_plain(1, 5), tail="\n\n"),
    Text(b"name,town\n\nWolfsburg,1\r\n\r\nx,2\rkryptonite,3\n", ","),
    Text(_text(_plain(3, 4)).content[:-1], ","),
)
LONG = _text(_plain(3, 2500) + _quoted(_plain(3, 30))[1:])

STRUCTURE = (
    b'"', b'""', b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\n\n", b" ", b' "', b"\0",
    b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\x1a", b"\x0b", b"\xc2\xa0", b"\xe2\x80\xa8",
)  # fmt: skip


def mutated_text(random: Random) -> Text:
    """A text file, damaged in one to four places."""
    seed = LONG if random.random() < 0.01 else random.choice(TEXTS)
    content = seed.content
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        content = random.choice(_DAMAGE)(random, content)
    return Text(content, seed.delimiter)


def _at(random: Random, content: bytes) -> int:
    """A place in a file, as often beside a byte of its structure as anywhere."""
    marks = [m.start() for m in re.finditer(rb'["\r\n,;\t|]', content)]
    if marks and random.random() < 0.5:
        return random.choice(marks) + random.randrange(2)
    return random.randrange(len(content) + 1)


def _flip(random: Random, content: bytes) -> bytes:
    at = _at(random, content)
    flipped = bytes(b ^ 1 << random.randrange(8) for b in content[at : at + 1])
    return content[:at] + flipped + content[at + 1 :]


def _insert(random: Random, content: bytes) -> bytes:
    at = _at(random, content)
    return content[:at] + random.choice(STRUCTURE) + content[at:]


def _replace(random: Random, content: bytes) -> bytes:
    at = _at(random, content)
    return content[:at] + random.choice(STRUCTURE) + content[at + 1 :]


def _delete(random: Random, content: bytes) -> bytes:
    at = _at(random, content)
    return content[:at] + content[at + 1 :]


def _slice(random: Random, content: bytes) -> tuple[int, int]:
    first = _at(random, content)
    return first, min(len(content), first + random.choice((2, 5, 20, 100)))


def _double(random: Random, content: bytes) -> bytes:
    first, last = _slice(random, content)
    at = _at(random, content)
    return content[:at] + content[first:last] + content[at:]


def _drop(random: Random, content: bytes) -> bytes:
    first, last = _slice(random, content)
    return content[:first] + content[last:]


def _truncate(random: Random, content: bytes) -> bytes:
    return content[: _at(random, content)]


def _splice(random: Random, content: bytes) -> bytes:
    other = random.choice(TEXTS).content
    return content[: _at(random, content)] + other[_at(random, other) :]


_DAMAGE = (_flip, _insert, _insert, _replace, _delete, _delete, _double, _drop, _truncate, _splice)


# -- Parquet ----------------------------------------------------------------------------------


class Page(NamedTuple):
    """Where a page of a column begins, where its header ends, where it ends."""

    start: int
    body: int
    end: int


class Pages(NamedTuple):
    """A whole Parquet file and the pages of each of its column chunks."""

    content: bytes
    chunks: tuple[tuple[Page, ...], ...]
    footer: int
    checksums: bool


@functools.cache
def parquet_files(rows: int = 400) -> tuple[Pages, ...]:
    """The same table with and without checksums, in every codec, encoding and page version."""
    words = [*WORDS, None, "", "x"]
    table = pyarrow.table(
        {
            "name": [words[i * i % 10] for i in range(rows)],
            "code": pyarrow.array([i * 37 % 101 for i in range(rows)], pyarrow.int32()),
            "many": [None if i % 13 == 0 else i // 3 * 10**9 for i in range(rows)],
            "ratio": [i % 17 / 4 for i in range(rows)],
            "flag": [i % 3 == 0 for i in range(rows)],
        }
    )
    return tuple(
        _parquet(table, codec, dictionary, version, checksums)
        for codec in ("none", "snappy", "gzip", "zstd", "lz4", "brotli")
        for dictionary in (True, False)
        for version in ("1.0", "2.0")
        for checksums in (True, False)
    )


def _parquet(
    table: pyarrow.Table, codec: str, dictionary: bool, version: str, checksums: bool
) -> Pages:
    out = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(
        table, out, compression=codec, use_dictionary=dictionary, data_page_version=version,
        write_page_checksum=checksums, row_group_size=250, data_page_size=300, write_batch_size=50,
    )  # fmt: skip
    content = out.getvalue().to_pybytes()
    metadata = pyarrow.parquet.read_metadata(pyarrow.BufferReader(content))
    chunks = tuple(
        tuple(_pages(content, metadata.row_group(g).column(c)))
        for g in range(metadata.num_row_groups)
        for c in range(metadata.num_columns)
    )
    return Pages(content, chunks, len(content) - metadata.serialized_size - 8, checksums)


def _pages(content: bytes, chunk: Any) -> Iterator[Page]:
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    end = start + chunk.total_compressed_size
    while start < end:
        body, fields = _struct(content, start)
        yield Page(title=start, language=body, front=body + fields[3])
        start = body + fields[3]


def _struct(content: bytes, at: int) -> tuple[int, dict[int, int]]:
    """A structure in Thrift's compact protocol: where it ends, and its numbers by field."""
    field, found = 0, {}
    while content[at]:
        step, what = content[at] >> 4, content[at] & 15
        assert step, "a field that is far from the one before"
        field, at = field + step, at + 1
        if what == 12:
            at, _ = _struct(content, at)
        elif what > 2:  # 1 and 2 are the truth values, in the byte before
            at, number = _varint(content, at)
            found[field] = number >> 1 ^ -(number & 1)
            at += number if what == 8 else 0  # a text
    return at + 1, found


def _varint(content: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (content[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if content[at - 1] < 128:
            return at, number


class Damage(NamedTuple):
    """A damaged Parquet file, and what was hit: body, header, page, footer or length."""

    content: bytes
    hit: str


def mutated_parquet(random: Random, whole: Pages) -> Damage:
    """A Parquet file, damaged in one place; it differs from the whole one."""
    while (damage := _damaged(random, whole)).content == whole.content:
        pass
    return damage


def _damaged(random: Random, whole: Pages) -> Damage:
    content = bytearray(whole.content)
    chunk = random.choice(whole.chunks)
    one, other = sorted((random.choice(chunk), random.choice(chunk)))
    hit, first, last = random.choice(
        (
            ("body", one.body, one.end),
            ("body", one.body, one.end),
            ("header", one.start, one.body),
            ("footer", whole.footer, len(content)),
        )
    )
    how = random.choice(("flip", "flip", "flip", "set", "zero", "swap", "truncate", "shift"))
    if first == last:
        return Damage(whole.content, hit)
    at = random.randrange(first, last)
    if how == "flip":
        content[at] ^= 1 << random.randrange(8)
    elif how == "set":
        content[at:last] = random.randbytes(min(4, last - at)) + content[at + 4 : last]
    elif how == "zero":
        content[first:last] = bytes(last - first)
    elif how == "swap":
        return _swapped(random, whole.content, one, other)
    elif how == "truncate":
        return Damage(bytes(content[: random.randrange(len(content))]), "length")
    else:
        content[at : at + random.randrange(2)] = random.randbytes(random.randrange(2))
        return Damage(bytes(content), "length")
    return Damage(bytes(content), hit)


def _swapped(random: Random, content: bytes, one: Page, other: Page) -> Damage:
    """Two pages of a column change places, or what they hold does under the old headers."""
    if one == other:
        return Damage(content, "page")
    whole = random.random() < 0.5
    (a, b), (c, d) = ((p.start if whole else p.body, p.end) for p in (one, other))
    swapped = content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]
    return Damage(swapped, "page" if whole else "body")
