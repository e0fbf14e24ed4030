"""Sketches of a table, and merged files of sketches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from sievert.counts.questions import Questions
from sievert.counts.sketch import storage
from sievert.counts.sketch.hashes import derive_key
from sievert.counts.sketch.query import SampleRequest, sample_classes
from sievert.counts.sketch.storage import SketchFile, order_columns
from sievert.errors import InputError, require
from sievert.roles import Roles

MOST_KEYS = 1000
MOST_SALT = 1 << 20  # bytes


def read_salt(salt: Any) -> bytes | None:
    """Read the salt from its file; bytes are the salt itself."""
    if salt is None or isinstance(salt, bytes):
        return salt
    path = Path(salt)
    require(path.is_file(), f"{path.name}: no such file", hint="--salt FILE", error=InputError)
    require(path.stat().st_size <= MOST_SALT, f"{path.name} is too large for a salt")
    return path.read_bytes()


@dataclass(frozen=True)
class SketchSettings:
    """The settings of a sketch: the sets of columns, the salt, and the bytes for each set."""

    key_sets: list[str | tuple[str, ...]] | None
    subsets: int | None
    salt: bytes | None
    size: int


def sketch_table(
    questions: Questions,
    roles: Roles,
    sets: Sequence[tuple[str, ...]],
    settings: SketchSettings,
) -> SketchFile:
    """Sketch a table for these sets of columns, or for all sets of up to `subsets` columns."""
    if settings.subsets is not None:
        sizes = range(1, min(settings.subsets, len(roles.quasi)) + 1)
        sets = [key for size in sizes for key in combinations(roles.quasi, size)]
    keys = tuple(dict.fromkeys(map(order_columns, sets)))
    require(
        len(keys) <= MOST_KEYS,
        f"{len(keys):,} sets of columns, and at most {MOST_KEYS:,} are sketched at once",
        hint="a smaller --subsets, or --key-set",
    )
    both = sorted({*roles.sensitive} & {column for key in keys for column in key})
    require(
        not both,
        f"column {both[0]!r} is a secret and in a key" if both else "",
        hint="a sketch counts secrets within the classes of the other columns",
    )
    require(questions.records > 0, "the table has no records", error=InputError)
    secrets = tuple(sorted(roles.sensitive))
    key = derive_key(settings.salt)
    request = SampleRequest(
        key_sets=keys, secrets=secrets, key=key, room=settings.size - storage.HEADER
    )
    samples = tuple(sample_classes(questions, request))
    return SketchFile(
        samples=samples, secrets=secrets, size=settings.size, salt=storage.recognise_salt(key)
    )


def read_sketches(paths: Iterable[Any], salt: bytes | None) -> tuple[SketchFile, bool]:
    """Merge sketches of one table or of several; also say whether some may overlap."""
    files = [storage.read_sketch(path) for path in paths]
    merged = storage.merge_files(files)
    require(
        salt is None or merged.salt == storage.recognise_salt(derive_key(salt)),
        "the sketch has another salt",
    )
    return merged, storage.may_overlap(files)
