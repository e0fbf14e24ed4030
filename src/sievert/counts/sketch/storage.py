"""The file of one or several sketches: canonical bytes, checked when they are read."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from sievert import files
from sievert.arrays import Ints
from sievert.counts.sketch import hashes
from sievert.counts.sketch.sample import ALL, ClassSample, SampledCells, merge_samples
from sievert.counts.sketch.sizes import LEAST_SIZE, SIZE
from sievert.errors import InputError, RefusedError, UsageError, require

MAGIC = files.OUR_SKETCH
DIGEST = 32  # bytes of SHA-256 at the end
HEADER = 1 << 11  # of these for names and numbers of the header
MOST_FILE = 1 << 30
MOST_HEADER = 1 << 26


@dataclass(frozen=True)
class SketchFile:
    """Sketches of one table, or of several that were merged: one for each set of columns."""

    samples: tuple[ClassSample, ...]
    secrets: tuple[str, ...]
    size: int  # bytes of each, at most
    salt: str | None  # the hash by which a salt is recognised

    @property
    def records(self) -> int:
        """The number of records that were counted."""
        return self.samples[0].records

    @property
    def salted(self) -> bool:
        """Say whether the hashes have a salt."""
        return self.salt is not None

    @property
    def key_sets(self) -> tuple[tuple[str, ...], ...]:
        """The columns of each sketch."""
        return tuple(sample.columns for sample in self.samples)

    def to_bytes(self) -> bytes:
        """The file: the same bytes for the same table, even if it was cut and merged."""
        sketches = []
        blocks = []
        for sample in self.samples:
            values = [np.unique(cells.values) for cells in sample.secrets]
            sketches.append(
                {
                    "columns": list(sample.columns),
                    "classes": len(sample.hashes),
                    "threshold": None if sample.complete else f"{sample.threshold:016x}",
                    "values": [len(own) for own in values],
                }
            )
            blocks.append(_block(sample, values))
        header = {
            "records": self.records,
            "salt": self.salt,
            "secrets": list(self.secrets),
            "size": self.size,
            "sketches": sketches,
        }
        text = json.dumps(header, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        head = MAGIC + text.encode() + b"\n"
        require(
            len(head) + DIGEST <= HEADER * len(self.samples),
            "the names of the columns are too long for a sketch",
            hint="shorter names",
        )
        content = head + b"".join(blocks)
        return content + hashlib.sha256(content).digest()


def recognise_salt(key: str) -> str | None:
    """A hash that shows whether two sketches have the same salt."""
    return f"{hashes.hash_bytes(key, hashes.CHECK, b''):016x}" if key else None


def merge_files(given: Sequence[SketchFile]) -> SketchFile:
    """Merge the sketches of several tables; raise an error if they are of different kinds."""
    first = given[0]
    for other in given[1:]:
        for same, what, hint in (
            (first.key_sets == other.key_sets, "columns", "sketches of the same -q and --key-set"),
            (first.secrets == other.secrets, "secrets", "sketches of the same -s"),
            (first.salt == other.salt, "salts", "the same --salt FILE at all sites"),
            (first.size == other.size, "sizes", "the same --size"),
        ):
            require(same, f"the sketches have different {what}", hint=hint)
    require(
        len({file.to_bytes() for file in given}) == len(given),
        "the same sketch twice: its people would be counted twice",
        hint="each table once",
        error=RefusedError,
    )
    room = first.size - HEADER
    merged = (merge_samples(parts, room) for parts in zip(*(f.samples for f in given), strict=True))
    return replace(first, samples=tuple(merged))


def may_overlap(given: Sequence[SketchFile]) -> bool:
    """Whether a table may be a part of another one, which then has all its classes."""
    return any(
        all(map(ClassSample.may_contain, whole.samples, part.samples))
        for whole, part in permutations(given, 2)
        if part.records <= whole.records
    )


def is_sketch(data: Any) -> bool:
    """Whether this is the name of a file of sketches."""
    if not isinstance(data, str | Path) or "://" in str(data) or not Path(data).is_file():
        return False
    with Path(data).open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_sketch(path: str | Path) -> SketchFile:
    """Read sketches from a file; raise an error if it is damaged or of another kind."""
    path = Path(path)
    require(path.is_file(), f"{path.name}: no such file", error=InputError)
    require(
        path.stat().st_size <= MOST_FILE, f"{path.name} is too large for sketches", error=InputError
    )
    content = path.read_bytes()
    if not content.startswith(MAGIC):
        raise UsageError(
            f"{path.name} is not a sketch of this version", hint="a file of sievert sketch -o"
        )
    try:
        _check(hashlib.sha256(content[:-DIGEST]).digest() == content[-DIGEST:])
        return _parse(content[len(MAGIC) : -DIGEST])
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, InputError, RecursionError):
        raise InputError(f"{path.name}: the sketch is damaged", hint="make it anew") from None


# -- bytes ----------------------------------------------------------------------------------------


def _block(sample: ClassSample, values: Sequence[Ints]) -> bytes:
    """Hashes and counts; for each secret its values, cells per class, indices and counts."""
    parts = [sample.hashes.astype(">u8").tobytes(), _varints(sample.counts)]
    for cells, own in zip(sample.secrets, values, strict=True):
        number = np.bincount(cells.owner, minlength=len(sample.hashes))
        index = np.searchsorted(own, cells.values).astype(">u2")
        parts += [own.astype(">u8").tobytes(), _varints(number), index.tobytes()]
        parts.append(_varints(cells.counts))
    return b"".join(parts)


def _varints(numbers: Ints) -> bytes:
    """Write numbers in seven bits per byte, the lowest first; the eighth bit means more follow."""
    out = bytearray()
    for number in numbers.tolist():
        while number > 127:
            out.append(number & 127 | 128)
            number >>= 7
        out.append(number)
    return bytes(out)


class _Bytes:
    """The bytes of a file, one number after the other."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0

    def words(self, count: int, kind: str) -> Ints:
        array = np.frombuffer(self.content, kind, count, self.place)
        self.place += array.nbytes
        return array.astype(np.uint64)

    def varints(self, count: int) -> Ints:
        numbers = []
        for _ in range(count):
            number = 0
            shift = 0
            byte = self.content[self.place]
            while byte > 127:
                number |= (byte & 127) << shift
                shift += 7
                self.place += 1
                byte = self.content[self.place]
            self.place += 1
            numbers.append(number | byte << shift)
        return np.array(numbers, dtype=np.int64)


def _parse(content: bytes) -> SketchFile:
    """Read the content of a file; any error means that it contradicts itself."""
    end = content.index(b"\n", 0, MOST_HEADER)
    header = json.loads(content[:end])
    records = int(header["records"])
    secrets = tuple(map(str, header["secrets"]))
    size = int(header["size"])
    salt = header["salt"]
    _check(LEAST_SIZE <= size <= SIZE and (salt is None or isinstance(salt, str)))
    rest = _Bytes(content[end + 1 :])
    samples = [_read_sample(entry, records, len(secrets), rest) for entry in header["sketches"]]
    _check(len(samples) > 0 and rest.place == len(rest.content))
    file = SketchFile(samples=tuple(samples), secrets=secrets, size=size, salt=salt)
    _check(file.to_bytes() == MAGIC + content + hashlib.sha256(MAGIC + content).digest())
    return file


def _read_sample(entry: dict[str, Any], records: int, secrets: int, rest: _Bytes) -> ClassSample:
    number = int(entry["classes"])
    threshold = entry["threshold"]
    below = ALL if threshold is None else int(threshold, 16)
    own = rest.words(number, ">u8")
    counts = rest.varints(number)
    _check(_ascends(own) and all(int(h) < below for h in own[-1:]) and counts.min(initial=1) > 0)
    total = sum(counts.tolist())
    _check(total == records if below == ALL else total < records)
    parts = []
    _check(len(entry["values"]) == secrets)
    for size in entry["values"]:
        values = rest.words(int(size), ">u8")
        cells = rest.varints(number)
        _check(sum(cells.tolist()) <= len(rest.content))
        owner = np.repeat(np.arange(number), cells)
        index = rest.words(len(owner), ">u2").astype(np.int64)
        numbers = rest.varints(len(owner))
        _check(_ascends(values) and _ascends(owner * (1 << 16) + index))
        _check(np.array_equal(np.bincount(owner, numbers, number), counts))
        parts.append(SampledCells(owner, values[index], numbers))
    columns = tuple(map(str, entry["columns"]))
    _check(len(columns) > 0)
    return ClassSample(
        columns=columns,
        records=records,
        threshold=below,
        hashes=own,
        counts=counts,
        secrets=tuple(parts),
    )


def _ascends(numbers: Ints) -> bool:
    return bool(np.all(numbers[1:] > numbers[:-1]))


def _check(condition: bool) -> None:
    require(condition, "", error=InputError)


def order_columns(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns of a key in the order of hashing: each once, by the bytes of their names."""
    return tuple(sorted(set(columns), key=str.encode))
