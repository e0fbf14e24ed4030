"""Sketches of a table, and merged files of sketches."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from sievert import files
from sievert import roles as role
from sievert.commands.sketch.class_sample import ENOUGH
from sievert.commands.sketch.result import SketchEstimates, estimate_key
from sievert.commands.sketch.settings import SketchSettings
from sievert.counts.questions import Questions
from sievert.counts.sketch import storage
from sievert.counts.sketch.hashes import derive_key
from sievert.counts.sketch.query import SampleRequest, sample_classes
from sievert.counts.sketch.storage import SketchFile, is_sketch, order_columns
from sievert.errors import InputError, require
from sievert.formatting.remarks import Remark
from sievert.request.requested import LARGE, Reading, collect_sets, requested_roles
from sievert.request.table_description import columns_without_role, describe_input
from sievert.roles import Roles
from sievert.session import Steps, no_progress
from sievert.settings.groups import reader_options

OVERLAP = Remark("sketches_overlap")
FEW = Remark("few_sampled")
LIMITS = Remark("sketch_limits")
MOST_KEYS = 1000
MOST_SALT = 1 << 20  # bytes


def run(settings: SketchSettings, watch: Steps = no_progress) -> SketchEstimates:
    """Sketch a table, or merge sketches, as `settings` say; `watch` is told of every step."""
    settings.check_work()
    salt = read_salt(settings.salt)
    inputs = [*settings.tables, settings.policy]
    if not isinstance(settings.salt, bytes):
        inputs.append(settings.salt)
    with files.write_whole(settings.out, sources=inputs, force=settings.force) as target:
        if isinstance(settings.data, list | tuple) or is_sketch(settings.data):
            require(
                not settings.says_columns,
                "a sketch has its columns already: no roles are given with it",
                hint="sievert sketch A.sketch B.sketch -o C.sketch",
            )
            result = merge_sketches(settings.tables, salt)
        else:
            result = sketch_data(settings, salt, watch)
        if target is not None:
            target.write_bytes(result.to_bytes())
    return result


def read_salt(salt: Any) -> bytes | None:
    """Read the salt from its file; bytes are the salt itself."""
    if salt is None or isinstance(salt, bytes):
        return salt
    path = Path(salt)
    require(path.is_file(), f"{path.name}: no such file", hint="--salt FILE", error=InputError)
    require(path.stat().st_size <= MOST_SALT, f"{path.name} is too large for a salt")
    return path.read_bytes()


def sketch_data(settings: SketchSettings, salt: bytes | None, watch: Steps) -> SketchEstimates:
    """Sketch a table, and estimate what the sketches say of it."""
    requested = requested_roles(
        settings.policy,
        settings.quasi,
        settings.sensitive,
        settings.identifier,
        person=settings.person,
    )
    key_sets = [] if settings.key_sets is None else collect_sets(settings.key_sets)
    how = requested.read_as_stated({**reader_options(settings)})
    reading = Reading(watch, LARGE, verify=settings.verify, **how)
    with reading(settings.data) as (table, questions):
        sets = [role.names(each, questions.columns) for each in key_sets]
        if sets:
            requested = replace(
                requested, given=[sets[0], *requested.given[1:]], other_sets=tuple(sets[1:])
            )
        roles, notes = requested.assign(questions)
        notes += questions.engine.notes
        if requested.policy is not None and [*requested.policy.every_limit()]:
            notes.append(LIMITS)
        reading.clock("sketching", questions)
        file = sketch_table(
            questions,
            roles,
            keys_to_sketch(roles, sets, settings.subsets),
            size=settings.size,
            salt=salt,
        )
        result = estimate_keys(describe_input(table, questions), roles, file, notes)
        unassessed = columns_without_role(questions, roles, *roles.other_quasi)
    return replace(result, unassessed=unassessed, **reading.clock.stop())


def keys_to_sketch(
    roles: Roles, sets: Sequence[tuple[str, ...]], subsets: int | None
) -> Sequence[tuple[str, ...]]:
    """List the sets of columns that have a sketch each.

    They are all sets of at most `subsets` quasi-identifiers if a number is given; otherwise the
    `sets`, or all quasi-identifiers together.
    """
    if subsets is not None:
        sizes = range(1, min(subsets, len(roles.quasi)) + 1)
        return [key for size in sizes for key in combinations(roles.quasi, size)]
    return sets or [roles.quasi]


def sketch_table(
    questions: Questions,
    roles: Roles,
    sets: Sequence[tuple[str, ...]],
    *,
    size: int,
    salt: bytes | None,
) -> SketchFile:
    """Sketch a table for some `sets` of columns; each sketch has at most `size` bytes."""
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
    key = derive_key(salt)
    request = SampleRequest(key_sets=keys, secrets=secrets, key=key, room=size - storage.HEADER)
    samples = tuple(sample_classes(questions, request))
    return SketchFile(samples=samples, secrets=secrets, size=size, salt=storage.recognise_salt(key))


def merge_sketches(paths: Sequence[Any], salt: bytes | None) -> SketchEstimates:
    """Merge files of sketches, and estimate what they say together."""
    sketches = [storage.read_sketch(path) for path in paths]
    merged = storage.merge_files(sketches)
    require(
        salt is None or merged.salt == storage.recognise_salt(derive_key(salt)),
        "the sketch has another salt",
    )
    columns = tuple(dict.fromkeys(column for key in merged.key_sets for column in key))
    description = {
        "name": ", ".join(Path(path).name for path in paths),
        "kind": "sketch",
        "rows": merged.records,
        "columns": len(columns) + len(merged.secrets),
        "engine": "sketch",
    }
    roles = Roles(quasi=columns, sensitive=merged.secrets)
    notes = [OVERLAP] if storage.may_overlap(sketches) else []
    return estimate_keys(description, roles, merged, notes)


def estimate_keys(
    description: dict[str, Any], roles: Roles, file: SketchFile, notes: list[Remark]
) -> SketchEstimates:
    """Estimate the numbers of every sketch in `file`, with a remark where few were sampled."""
    keys = tuple(estimate_key(sample, file.secrets) for sample in file.samples)
    few = [FEW] if any(not key.exact and key.sampled < ENOUGH for key in keys) else []
    return SketchEstimates(
        table=description, roles=roles, keys=keys, file=file, warnings=(*notes, *few)
    )
