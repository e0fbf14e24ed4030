"""Damaged text files: the same records as an independent reader, or an error of the right kind.

The independent reader takes the whole file as one text and cuts it by one regular expression; what
it accepts, Python's csv module in strict mode must accept and read alike.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from mutate import LONG, TEXTS, Answer, Batch, Lost, Reader, Text, asked, mutated_text, ours, shrunk

pytestmark = pytest.mark.soak

BATCHES = 50
FILES = asked("FILES", 100_000)
DELIMITERS = (",", ";", "\t", "|")
QUOTED = r'"((?:[^"]|"")*+)"'


class Refused(Exception):
    """The independent reader does not take this file."""


class Reading(NamedTuple):
    """What the independent reader finds; a missing value is None, a quoted empty one is ''."""

    names: list[str]
    rows: list[tuple[str | None, ...]]


def independent(content: bytes, delimiter: str) -> Reading:
    text = decoded(content)
    header, *rows = list(cut(text, delimiter)) or [()]
    if len(header) > 1:
        rows = [row for row in rows if row != (None,)]
    names = [name or "" for name in header]
    if any(len(row) != len(names) for row in rows) or not rows:
        raise Refused
    if not all(names) or len({n.casefold() for n in names}) < len(names):
        raise Refused
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    read = [tuple(row) or ("",) for row in lines if row or len(names) == 1]
    assert read == [tuple(names), *(tuple(v or "" for v in row) for row in rows)]
    return Reading(names, rows)


def decoded(content: bytes) -> str:
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise Refused from None
    if "\0" in text:
        raise Refused
    return text


def cut(text: str, delimiter: str) -> Iterator[tuple[str | None, ...]]:
    """Records of fields, each either quoted as a whole or without a quote at its start."""
    d = re.escape(delimiter)
    field = re.compile(rf"(?:{QUOTED}|([^{d}\r\n]*))({d}|\r\n|\r|\n|\Z)")
    at, record = 0, []
    while at < len(text) or record:
        found = field.match(text, at)
        assert found
        quoted, plain, end = found.groups()
        if quoted is None and plain.lstrip(" ").startswith('"'):
            raise Refused
        record.append(plain or None if quoted is None else quoted.replace('""', '"'))
        at = found.end()
        if end != delimiter:
            yield tuple(record)
            record = []


def readings(content: bytes, delimiter: str | None) -> dict[str, Reading]:
    """The table by every delimiter that parts its header; by a comma, where none does."""
    if delimiter is None:
        candidates = [d for d in DELIMITERS if _parts(content, d) > 1] or [","]
    else:
        candidates = [delimiter]
    found = {}
    for d in candidates:
        with contextlib.suppress(Refused):
            found[d] = independent(content, d)
    return found


def _parts(content: bytes, delimiter: str) -> int:
    """How many columns the header has, whatever comes after it."""
    with contextlib.suppress(Refused):
        return len(next(cut(decoded(content), delimiter), ()))
    return 0


def is_ordinary(content: bytes, delimiter: str, reading: Reading, told: bool) -> bool:
    """A valid file that must be read: nothing in it that readers disagree about."""
    around = re.sub(rf"(?:\A|(?<=[\r\n{delimiter}])){QUOTED}", "", decoded(content))
    one_end = len(set(re.findall(r"\r\n|\r|\n", around))) < 2
    plain_names = not re.search(r"[\r\n]", "".join(reading.names))
    return one_end and plain_names and '"' not in around and (told or len(reading.names) > 1)


def verdict(content: bytes, delimiter: str | None, answer: Answer | Lost) -> str:
    """How the answer compares; what begins with an exclamation mark must not be."""
    if isinstance(answer, Lost):
        return f"! {answer.how}"
    found = readings(content, delimiter)
    if answer.code == 0:
        reading = found.get(answer.delimiter or "")
        if reading is None:
            return "! read where the independent reader refuses"
        if len(reading.rows) != len(answer.rows):
            return "! another number of records"
        classes = Counter(reading.rows)
        if classes != Counter(answer.rows):
            return "! other values"
        sizes = tuple(sorted(Counter(classes.values()).items()))
        return "same" if sizes == answer.sizes else "! other classes"
    if answer.code not in (3, 5, 6, 7):
        return f"! exit {answer.code}: {answer.why}"
    if len(found) != 1:
        return "refused by both"
    ((by, reading),) = found.items()
    ordinary = is_ordinary(content, by, reading, told=delimiter is not None)
    return f"{'! ordinary, but refused' if ordinary else 'refused alone'}: {answer.why}"


def judge(reader: Reader, path: Path, content: bytes, delimiter: str | None) -> str:
    path.write_bytes(content)
    answer = reader(str(path), {"delimiter": delimiter, "temp": str(path.parent)})
    return verdict(content, delimiter, answer)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_damaged_files(batch: int, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    verdicts: Counter[str] = Counter()
    findings: dict[str, tuple[bytes, str | None]] = {}
    todo = Batch(FILES // BATCHES, 0.6 / BATCHES)
    with Reader(ours) as reader:
        for number in todo:
            random = Random(f"csv {batch} {number}")
            file = mutated_text(random)
            delimiter = file.delimiter if number % 2 else None
            found = judge(reader, path, file.content, delimiter)
            verdicts[found] += 1
            if found.startswith("!") and found not in findings:
                small = shrunk(
                    file.content,
                    lambda c, d=delimiter, f=found: judge(reader, path, c, d) == f,
                )
                findings[found] = small, delimiter
    assert [p.name for p in tmp_path.iterdir()] == ["table.csv"]
    todo.close(
        "damaged text files",
        [f"{kind}: {small!r}" for kind, small in findings.items()],
        verdicts=dict(verdicts),
    )


@pytest.mark.parametrize("file", [*TEXTS, LONG], ids=lambda f: repr(f.content[:20]))
def test_whole_files_are_read(file: Text, tmp_path: Path) -> None:
    """No seed is refused: neither as it is, nor with its delimiter named."""
    with Reader(ours) as reader:
        for delimiter in (None, file.delimiter):
            assert judge(reader, tmp_path / "table.csv", file.content, delimiter) == "same"
