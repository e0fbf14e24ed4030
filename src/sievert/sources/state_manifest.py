"""The manifest of a count state: its table, how the table was read, and its segments.

A state is a directory with this manifest and Parquet files, its segments. A segment has the
distinct combinations of some columns and the number of records of each, which may be negative in
the segment of a change. The manifest is replaced last and in one step: files that it does not name
are not part of the state.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from sievert.errors import InputError, RefusedError, require
from sievert.formatting.recognition import recognise

MANIFEST = "sievert-state.json"
FORMAT = 3
MOST_RECORDS = 2**62  # that any state can have: more is damage, and would not add up
DIGITS = 15  # of each of the four parts of a SHA-256 that are added up
MARKING = "as sensitive as the data: it holds every combination of values that occurs"
DAMAGED = "damaged, or changed by somebody else"


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A file of a state: its rows, the records that it adds, and whether a row takes some away."""

    file: str
    rows: int
    records: int
    signed: bool
    size: int  # bytes
    sha256: str


@dataclass(frozen=True)
class Spread:
    """The number of rows with a value in a column that is left out, and of different values.

    The numbers of values of two tables do not add up: only their bounds are known.
    """

    rows: int
    least: int
    most: int

    @property
    def repeated(self) -> bool | None:
        """Say whether rows share a value; None where it is not known."""
        if self.most < self.rows:
            return True
        return None if self.least < self.rows else False

    def add(self, other: Spread, sign: int) -> Spread:
        """Add the column of another table, or with a negative `sign` take it away.

        Rows that share a value are assumed to share it when some of them are gone. Where it is not
        known how many of the removed rows had a value, the result is an upper bound of the rows.
        """
        if sign > 0:
            most = self.most + other.most
            return Spread(self.rows + other.rows, max(self.least, other.least), most)
        rows = max(0, self.rows - other.rows) if other.least == other.most else self.rows
        most = max(0, min(self.most, rows - (self.repeated is True)))
        return Spread(rows, max(0, self.least - other.rows), most)


@dataclass(frozen=True, kw_only=True)
class StateManifest:
    """Everything about a state but its counts."""

    columns: tuple[str, ...]  # of the table
    kept: Mapping[str, str]  # the columns that are counted, and their types
    kinds: Mapping[str, str]  # the types of all columns
    table: Mapping[str, Any]  # how the table is described: name, kind, delimiter, ...
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    identifier: tuple[str, ...]
    person: str | None
    left_out: Mapping[str, Spread]  # by column that another table may lack
    engine: str
    na: tuple[str, ...]
    types: Mapping[str, str]
    identifiers: Mapping[str, Mapping[str, int]]  # numbers of values, and of rows without one
    nan: Mapping[str, int]  # missing values by column and reason, like the two below
    coded: Mapping[str, int]
    error_cells: Mapping[str, int]
    records: int
    content: str = ""  # a digest of the records that adds up, whatever their order and segment
    applied: tuple[str, ...] = ()  # the changes that are not undone: + or -, and their content
    alike: tuple[str, ...] = ()  # the same changes, with all spellings of a value merged
    segments: tuple[Segment, ...] = ()
    folder: Path = field(default=Path(), compare=False)

    @property
    def schema(self) -> str:
        """The SHA-256 of what never changes: the columns, their roles and how they were read."""
        same = {
            "columns": list(self.columns),
            "kept": list(self.kept.items()),
            "roles": [list(names) for names in (self.quasi, self.sensitive, self.identifier)],
            "person": self.person,
            "left_out": list(self.left_out),
            "na": sorted(self.na),
            "types": dict(self.types),
        }
        text = json.dumps(same, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files of the segments."""
        return tuple(self.folder / segment.file for segment in self.segments)

    @property
    def signed(self) -> bool:
        """Say whether some segment takes records away."""
        return any(segment.signed for segment in self.segments)

    @property
    def needed_columns(self) -> tuple[str, ...]:
        """The columns that every added or removed table must have."""
        return tuple(c for c in self.columns if c not in self.left_out)

    def to_json(self) -> str:
        """The content of the manifest."""
        content = asdict(replace(self, folder=Path()))
        del content["folder"]
        content |= {"state": FORMAT, "marking": MARKING, "schema": self.schema}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def check_files(self, *, content: bool = True) -> None:
        """Raise an error unless every segment has its size, and for `content` its digest."""
        for segment, path in zip(self.segments, self.paths, strict=True):
            try:
                whole = path.stat().st_size == segment.size and (
                    not content or file_sha256(path) == segment.sha256
                )
            except OSError:
                whole = False
            require(whole, f"{self.folder.name}: {DAMAGED}", hint=AGAIN, error=InputError)

    def description(self) -> tuple[dict[str, Any], int, bool]:
        """The fields of the table, the number of its blank lines, and whether it was a file."""
        facts = {**self.table, "notes": [recognise(note) for note in self.table["notes"]]}
        blank = facts.pop("blank_lines")
        file = facts.pop("file")
        read = {"columns": self.columns, "na": self.na, "types": self.types}
        return {**facts, **read, "error_cells": self.error_cells}, blank, file

    def check_reading(self, types: Mapping[str, str], na: tuple[str, ...]) -> None:
        """Raise an error if the user wants the table read in another way than it was counted."""
        for option, given, own in (("--type", types, self.types), ("--na", na, self.na)):
            require(
                not given or given == own,
                f"{self.folder.name}: counted with another {option}, or without one",
                hint="the state as it was counted",
            )

    def add(self, other: StateManifest, sign: int = 1, *, name: str, again: bool) -> StateManifest:
        """Add another state, or with a negative `sign` take it away; the segments stay as they are.

        Changes that were made before are refused with the `name` of the other, unless `again`.
        """
        notes = self.table["notes"] + (other.table["notes"] if sign > 0 else [])
        records = self.records + sign * other.records
        unknown = Spread(other.records, 0, other.records)  # of a column that the other lacks
        require(
            records <= MOST_RECORDS,
            f"{self.folder.name}: {DAMAGED}",
            hint=AGAIN,
            error=InputError,
        )
        applied, alike = self._apply(other, sign, name=name, again=again)
        return replace(
            self,
            records=records,
            content=_add_content(self.content, other.content, sign),
            applied=applied,
            alike=alike,
            nan=_add(self.nan, other.nan, sign),
            coded=_add(self.coded, other.coded, sign),
            error_cells=_add(self.error_cells, other.error_cells, sign),
            left_out={
                column: spread.add(other.left_out.get(column, unknown), sign)
                for column, spread in self.left_out.items()
            },
            table={
                **self.table,
                "blank_lines": self.table["blank_lines"] + sign * other.table["blank_lines"],
                "notes": list(dict.fromkeys(notes)),
                **_join_labels(self.table, other.table),
                "verified": None,
            },
        )

    def _apply(
        self, other: StateManifest, sign: int, *, name: str, again: bool
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The changes of both states, as spelt and spelt alike; pairs that undo each other go."""
        applied, repeated = _join_changes(self.applied, other.applied, sign)
        alike, respelt = _join_changes(self.alike, other.alike, sign)
        same = sign > 0 and other.records > 0 and self.content == other.content
        twice = same or repeated or (sign > 0 and respelt)
        require(
            again or not twice,
            f"{name}: these records were {'added' if sign > 0 else 'taken away'} already",
            hint="--again, if they are other people whose records look the same",
            error=RefusedError,
        )
        return applied, alike

    def check_addable(self, other: StateManifest, name: str) -> None:
        """Raise an error unless another state has the same columns, read in the same way."""
        for what, mine, theirs in (
            ("columns, or in another order,", self.needed_columns, other.needed_columns),
            ("columns left out", {*self.left_out}, {*self.left_out, *other.left_out}),
            ("counted columns, or types of them", self.kept, other.kept),
            ("person", self.person, other.person),
            ("codes for missing", sorted(self.na), sorted(other.na)),
            ("types", self.types, other.types),
            ("orders of categories", self.table["orders"], other.table["orders"]),
        ):
            require(mine == theirs, f"{name}: other {what} than the state", error=InputError)

    def check_growing(self) -> None:
        """Raise an error if the manifest has numbers that do not add up."""
        names = ", ".join(map(repr, self.identifiers))
        require(
            not self.identifiers,
            f"whether rows share an identifier ({names}) cannot be told from two counts",
            hint="sievert count --leave-out COLUMN, or --person COLUMN",
        )


AGAIN = "sievert count again"


def _join_labels(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """What two tables note of values whose labels coincide; nothing where none does."""
    groups: dict[str, list[list[str]]] = {}
    for table in (mine, theirs):
        for column, own in table.get("same_labels", {}).items():
            new = groups.setdefault(column, [])
            new += [group for group in own if group not in new]
    return {"same_labels": groups} if groups else {}


def _add(first: Mapping[str, int], second: Mapping[str, int], sign: int) -> dict[str, int]:
    sums = {c: first.get(c, 0) + sign * second.get(c, 0) for c in (*first, *second)}
    return {column: number for column, number in sums.items() if number}


def _join_changes(
    own: Sequence[str], others: Sequence[str], sign: int
) -> tuple[tuple[str, ...], bool]:
    """The changes of two states together, and whether one of them was made already."""
    joined = [*own]
    opposite = {"+": "-", "-": "+"}
    twice = False
    for other in others:
        undone = opposite[other[0]] + other[1:]
        change, undone = (other, undone) if sign > 0 else (undone, other)
        if undone in joined:
            joined.remove(undone)
        else:
            twice = twice or change in joined
            joined.append(change)
    return tuple(joined), twice


def _add_content(first: str, second: str, sign: int) -> str:
    numbers = zip(_numbers(first), _numbers(second), strict=True)
    return spell_content(one + sign * other for one, other in numbers)


def _numbers(content: str) -> list[int]:
    return [int(content[at : at + DIGITS], 16) for at in range(0, len(content), DIGITS)]


def spell_content(sums: Iterable[int]) -> str:
    """Write the digest of a table from the sums of the parts of its records' digests."""
    return "".join(f"{number % 16**DIGITS:0{DIGITS}x}" for number in sums)


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_state(path: Any) -> bool:
    """Say whether `path` is the directory of a state, sound or not."""
    try:
        return isinstance(path, str | os.PathLike) and (Path(path) / MANIFEST).is_file()
    except (OSError, ValueError):
        return False


def read_manifest(folder: Path) -> StateManifest:
    """Read the manifest of a state; an error if it is damaged or has another version."""
    name = folder.name or str(folder)
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        version = content.pop("state")
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise InputError(f"{name}: the manifest is {DAMAGED}", hint=AGAIN) from None
    require(
        version == FORMAT,
        f"{name}: a state of format {version if isinstance(version, int) else '?'}, not {FORMAT}",
        hint=AGAIN,
        error=InputError,
    )
    try:
        schema = content.pop("schema")
        lists = ("columns", "quasi", "sensitive", "identifier", "na", "applied")
        content |= {
            **{entry: tuple(content[entry]) for entry in lists},
            "alike": tuple(content.get("alike", ())),  # older states lack it
            "segments": tuple(Segment(**each) for each in content["segments"]),
            "left_out": {c: Spread(**each) for c, each in content["left_out"].items()},
        }
        known = {entry.name for entry in fields(StateManifest)}
        manifest = StateManifest(
            **{entry: value for entry, value in content.items() if entry in known}, folder=folder
        )
        plain = all(Path(s.file).name == s.file for s in manifest.segments)
        whole = plain and schema == manifest.schema and 0 <= manifest.records <= MOST_RECORDS
        whole = whole and sum(s.records for s in manifest.segments) == manifest.records
    except (KeyError, TypeError, AttributeError, ValueError):
        whole = False
    require(whole, f"{name}: the manifest is {DAMAGED}", hint=AGAIN, error=InputError)
    return manifest
