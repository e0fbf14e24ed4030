"""The best trade-off between disclosure and distortion, and the release that reaches it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from sievert.commands._common import Clock, Reading, describe_input, load_policy, requested_roles
from sievert.commands.limit.alphabets import MOST
from sievert.commands.limit.channels import check_at, known_model
from sievert.commands.limit.distribution import Limit, limit
from sievert.commands.limit.release_files import (
    matrix_text,
    release_kind,
    write_release,
    write_text,
)
from sievert.commands.limit.result import Limited
from sievert.commands.limit.run import Run
from sievert.commands.limit.settings import LimitSettings
from sievert.errors import UsageError
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions

if TYPE_CHECKING:
    from sievert.commands.limit.result import AlphabetResult
    from sievert.policy import Policy

__all__ = ["Limit", "Limited", "limit", "randomise"]
LARGE = 10**5  # records from which plain columns are counted from packed keys
MOST_POINTS = 200


def randomise(
    data: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    at: float | Sequence[float],
    model: int | str = 1,
    distortion: str | os.PathLike[str] = "hamming",
    hierarchies: Mapping[str, Any] | None = None,
    alphabet: str = "auto",
    most: int = MOST,
    occurring: bool = False,
    reduced: int | None = None,
    gaussian: bool = False,
    points: int = 0,
    gap: float | None = None,
    seconds: float | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    matrix: str | os.PathLike[str] | None = None,
    force: bool = False,
    show_values: bool = False,
    policy: Policy | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    missing: str = "value",
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> Limited:
    """Find the best channel of a table's quasi-identifiers, and release records drawn from it.

    Parameters
    ----------
    data
        The original table: a path, a frame, a dict of lists.
    quasi, sensitive, identifier
        Columns that are randomised; secrets (several count as one: their combination); columns
        that are not released.
    at
        The constraint of the model (see `limit`), or several; a release needs one.
    distortion, hierarchies
        "hamming", "squared" or "absolute" (numbers as shares of their column's range), or a CSV
        file of distances for one column; columns with a hierarchy go by their lowest common label.
        Over several columns it is the mean.
    alphabet, most
        "joint": all combinations as one alphabet; "columns": a channel for each column; "merged":
        rare combinations as the nearest of the `most` frequent ones; "auto": joint up to `most`
        combinations, columns beyond.
    occurring
        Release only combinations that occur; else all combinations of values, while these are at
        most `most`.
    reduced
        Release only so many combinations, chosen to be near all.
    gaussian
        Columns of real numbers, taken as Gaussian after a check of how Gaussian they are. The
        distortion is the squared difference as a share of the variance.
    points
        Besides `at`, so many points of the whole curve.
    gap, seconds
        When to stop looking for a better channel; the same seed gives the same release only
        without `seconds`.
    out, matrix
        Write the release (CSV or Parquet, all columns in their order) and the channel (CSV).
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> table = {"job": ["a", "a", "b", "b"] * 50, "ill": ["yes", "no", "no", "no"] * 50}
    >>> found = randomise(table, "job", "ill", at=0.25)
    >>> round(found.points[0].distortion, 3), found.parts[0].promise.risk < 0.12
    (0.25, True)
    """
    from sievert import files

    requested = requested_roles(load_policy(policy), quasi, sensitive, identifier)
    if missing not in ("value", "error"):
        raise UsageError("a missing value is a value of its own", hint="--missing value, or error")
    asked = _asked(
        at,
        points,
        model=known_model(model),
        distortion=distortion,
        hierarchies=hierarchies,
        alphabet=alphabet,
        most=most,
        occurring=occurring,
        reduced=reduced,
        gap=gap,
        seconds=seconds,
        seed=seed,
    )
    if len(asked.at) > 1 and (out is not None or matrix is not None):
        raise UsageError("a release and its matrix need one constraint", hint="--at 0.1")
    if gaussian and matrix is not None:
        raise UsageError("a Gaussian channel has no matrix of values", hint="without --matrix")
    kind = None if out is None else release_kind(out)
    clock = Clock(watch)
    reading = Reading(clock, {**source, "verify": verify}, LARGE)
    run = Run(clock, asked)
    inputs = [data, policy, *(hierarchies or {}).values(), distortion]
    if out is not None and matrix is not None and Path(out).resolve() == Path(matrix).resolve():
        raise UsageError("two outputs have the same name")
    with (
        files.write_whole(out, sources=inputs, force=force) as target,
        files.write_whole(matrix, sources=inputs, force=force) as beside,
        reading(data, outputs=[target] if target else []) as (table, questions),
    ):
        run.original(table.name, questions, requested, missing, everything=out is not None)
        told = describe_input(table, questions)
        used, parts = ("gaussian", [run.gaussian()]) if gaussian else run.finite()
        whole = run.whole(used)
        if target is not None and out is not None:
            clock("writing the release", questions)
            delimiter, header = (
                (table.delimiter, table.header) if table.kind == "csv" else (",", True)
            )
            with files.name_output(out):
                write_release(
                    target,
                    str(kind),
                    run.release(),
                    questions,
                    delimiter=delimiter or ",",
                    header=header,
                )
        if beside is not None:
            write_text(beside, _matrix(parts))
    clock.stop()
    settings = {
        "model": asked.model,
        "at": list(asked.at),
        "distortion": _kind(distortion),
        "alphabet": alphabet,
        "most": most,
        "occurring": occurring,
        "reduced": reduced,
        "gaussian": gaussian,
        "points": points,
        "gap": gap,
        "seconds": seconds,
        "seed": seed,
        "released": out is not None,
        "hierarchies": sorted(hierarchies or {}),
    }
    return Limited(
        told,
        run.roles,
        used,
        tuple(parts),
        whole,
        settings,
        tuple(run.notes),
        run.unassessed,
        show_values,
        clock.steps,
        clock.peaks,
    )


def _asked(at: Any, points: int, **how: Any) -> LimitSettings:
    try:
        chosen = [float(at)] if isinstance(at, int | float) else [float(a) for a in at]
    except (TypeError, ValueError):
        raise UsageError("at: a number, or a list of numbers", hint="at=0.1") from None
    check_at(chosen)
    if isinstance(points, bool) or not isinstance(points, int) or not 0 <= points <= MOST_POINTS:
        raise UsageError(f"--points must be from 0 to {MOST_POINTS}")
    if isinstance(how["seed"], bool) or not isinstance(how["seed"], int) or how["seed"] < 0:
        raise UsageError("--seed: a whole number, 0 or more")
    return LimitSettings(at=tuple(dict.fromkeys(sorted(chosen))), points=points, **how)


def _kind(distortion: Any) -> str:
    """A distortion's name; of a file only that it is one."""
    named = isinstance(distortion, str) and distortion in ("hamming", "squared", "absolute")
    return str(distortion) if named else "matrix"


def _matrix(parts: Sequence[AlphabetResult]) -> str:
    held = [
        (p.columns, *p.texts, p.channel)
        for p in parts
        if p.texts is not None and p.channel is not None
    ]
    return matrix_text(held)
