"""The public function `sketch`.

It has one keyword per option of the command, so that editors and `help` show them all.
"""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from sievert import files
from sievert import roles as role
from sievert.commands.sketch.class_sample import ENOUGH
from sievert.commands.sketch.result import SketchEstimates, estimate_key
from sievert.commands.sketch.run import SketchSettings, read_salt, read_sketches, sketch_table
from sievert.counts.questions import Questions
from sievert.counts.sketch.storage import SIZE, SketchFile, check_size, is_sketch
from sievert.errors import require
from sievert.formatting.remarks import Remark
from sievert.request.requested import (
    LARGE,
    PolicySource,
    Reading,
    RequestedRoles,
    check_whole,
    collect_sets,
    requested_roles,
)
from sievert.request.table_description import columns_without_role, describe_input
from sievert.roles import Roles
from sievert.session import Clock, Steps, no_progress
from sievert.sources.options import ReaderOptions
from sievert.sources.table import Table

OVERLAP = Remark("sketches_overlap")
FEW = Remark("few_sampled")

LIMITS = Remark("sketch_limits")


# The public function: its keywords are the options of the command, its docstring their reference.
def sketch(
    data: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    key_sets: Iterable[str | Iterable[str]] | None = None,
    subsets: int | None = None,
    salt: bytes | str | os.PathLike[str] | None = None,
    size: int = SIZE,
    out: str | os.PathLike[str] | None = None,
    person: str | None = None,
    policy: PolicySource = None,
    missing: str = "value",
    verify: bool = False,
    force: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> SketchEstimates:
    """Sample the classes of a table by their hashes, and estimate how exposed its people are.

    A sketch is small, is made in one pass, and can be merged with those of other tables that have
    the same columns: the bytes are those of the sketch of all of them together.

    Parameters
    ----------
    data
        The table: a path, a frame, a dict of lists. Or a file of sketches, or a list of such files,
        which are merged.
    quasi, sensitive, identifier
        The columns of the key; secrets that are counted within its classes; columns never looked
        at.
    key_sets
        In place of quasi: several sets of columns, with a sketch each, made in one pass.
    subsets
        A sketch of every set of up to so many of the quasi-identifiers.
    salt
        Secret bytes, or a file of them, without which nobody can tell which class a hash is of.
    size
        Bytes of each sketch, at most.
    out
        Write the sketches to this file.
    person
        Not defined here: rows are counted, and people with several rows are refused.
    policy
        Its roles, where none are given.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> table = {"zip": ["1", "1", "2", "3"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> found = sketch(table, ["zip"], ["disease"])
    >>> found.keys[0].exact, found.keys[0].estimates.below[2].value
    (True, 0.5)
    """
    check_size(size)
    require(
        missing == "value", "a missing value is a value of its own here", hint="--missing value"
    )
    require(
        key_sets is None or (quasi is None and subsets is None),
        "key sets take the place of quasi-identifiers and their subsets",
        hint="--key-set or -q, not both",
    )
    if subsets is not None:
        check_whole("--subsets", subsets, 1)
    secret, many = read_salt(salt), isinstance(data, list | tuple)
    given = list(data) if many else [data]
    inputs = [*given, policy, *([] if isinstance(salt, bytes) else [salt])]
    with files.write_whole(out, sources=inputs, force=force) as target:
        if many or is_sketch(data):
            named = (quasi, sensitive, identifier, key_sets, subsets, person, policy)
            require(
                all(option is None for option in named),
                "a sketch has its columns already: no roles are given with it",
                hint="sievert sketch A.sketch B.sketch -o C.sketch",
            )
            result = _merge(given, secret)
        else:
            requested = requested_roles(policy, quasi, sensitive, identifier, person=person)
            settings = SketchSettings(
                key_sets=None if key_sets is None else collect_sets(key_sets),
                subsets=subsets,
                salt=secret,
                size=size,
            )
            reading = Reading(watch, LARGE, verify=verify, **requested.read_as_stated({**source}))
            with reading(data) as (table, questions):
                result = _sketch(table, questions, requested, settings, reading.clock)
            result = replace(result, **reading.clock.stop())
        if target is not None:
            target.write_bytes(result.to_bytes())
    return result


def _sketch(
    table: Table,
    questions: Questions,
    requested: RequestedRoles,
    settings: SketchSettings,
    clock: Clock,
) -> SketchEstimates:
    """What the sketches of a table say."""
    sets = [role.names(each, questions.columns) for each in settings.key_sets or ()]
    if sets:
        requested = replace(
            requested, given=[sets[0], *requested.given[1:]], other_sets=tuple(sets[1:])
        )
    roles, notes = requested.assign(questions)
    notes += questions.engine.notes
    if requested.policy is not None and [*requested.policy.every_limit()]:
        notes.append(LIMITS)
    clock("sketching", questions)
    file = sketch_table(questions, roles, sets or [roles.quasi], settings)
    result = _estimate(describe_input(table, questions), roles, file, notes)
    return replace(result, unassessed=columns_without_role(questions, roles, *roles.other_quasi))


def _merge(paths: list[Any], salt: bytes | None) -> SketchEstimates:
    """What sketches say that were made before."""
    file, overlap = read_sketches(paths, salt)
    columns = tuple(dict.fromkeys(column for key in file.key_sets for column in key))
    description = {
        "name": ", ".join(Path(path).name for path in paths),
        "kind": "sketch",
        "rows": file.records,
        "columns": len(columns) + len(file.secrets),
        "engine": "sketch",
    }
    return _estimate(
        description,
        Roles(quasi=columns, sensitive=file.secrets),
        file,
        [OVERLAP] if overlap else [],
    )


def _estimate(
    description: dict[str, Any], roles: Roles, file: SketchFile, notes: list[Remark]
) -> SketchEstimates:
    keys = tuple(estimate_key(sample, file.secrets) for sample in file.samples)
    few = [FEW] if any(not key.exact and key.sampled < ENOUGH for key in keys) else []
    return SketchEstimates(
        table=description, roles=roles, keys=keys, file=file, warnings=(*notes, *few)
    )
