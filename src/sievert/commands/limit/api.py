"""The public function `randomise`: the best trade-off of disclosure and distortion, and a release.

It has one keyword per option of the command, so that editors and `help` show them all.
"""

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from sievert import files
from sievert.commands.limit.distribution import Limit, limit
from sievert.commands.limit.gaussian import solve_gaussian
from sievert.commands.limit.result import AlphabetResult, Limited
from sievert.commands.limit.run import read_original, solve_finite
from sievert.counts.release_order import order_key
from sievert.counts.row_pairing import write_row_numbers
from sievert.errors import ExhaustedError, require
from sievert.formatting.remarks import Remark, figure
from sievert.pairing.pairing_file import OriginalFile, pairing_details
from sievert.releases.alphabets import MOST, NAMES
from sievert.releases.channels import limit_settings
from sievert.releases.files import (
    FileColumn,
    order_by_hash,
    release_kind,
    write_release,
)
from sievert.request.requested import PolicySource, Reading, requested_roles
from sievert.request.table_description import describe_input
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions

DEFAULT_AT = 0.1
UNSTATED = Remark("no_constraint", number=figure(DEFAULT_AT))

__all__ = ["Limit", "Limited", "limit", "randomise"]


# The public function: its keywords are the options of the command, its docstring their reference.
def randomise(
    data: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    person: str | None = None,
    at: float | Sequence[float] | None = None,
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
    policy: PolicySource = None,
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
    person
        The column whose values tell people apart, where a person may have several rows: not
        defined here, and refused where people have several.
    at
        The constraint of the model (see `limit`), or several; a release needs one. Without any
        it is 0.1, and a remark says so.
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
        Write the release (CSV or Parquet, all columns) and the channel (CSV). The order of its
        rows tells nothing; a private file, `<out>.pairing.parquet`, pairs them with the table's.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> table = {"job": ["a", "a", "b", "b"] * 50, "ill": ["yes", "no", "no", "no"] * 50}
    >>> found = randomise(table, "job", "ill", at=0.25)
    >>> round(found.points[0].distortion, 3), found.parts[0].promise.risk < 0.12
    (0.25, True)
    """
    requested = requested_roles(policy, quasi, sensitive, identifier, person=person)
    require(
        missing in ("value", "error"),
        "a missing value is a value of its own",
        hint="--missing value, or error",
    )
    settings = limit_settings(
        model,
        DEFAULT_AT if at is None else at,
        points,
        seed,
        distortion=distortion,
        hierarchies=hierarchies,
        alphabet=alphabet,
        most=most,
        occurring=occurring,
        reduced=reduced,
        gap=gap,
        seconds=seconds,
    )
    require(
        len(settings.at) <= 1 or (out is None and matrix is None),
        "a release and its matrix need one constraint",
        hint="--at 0.1",
    )
    require(
        not gaussian or matrix is None,
        "a Gaussian channel has no matrix of values",
        hint="without --matrix",
    )
    kind = None if out is None else release_kind(out)
    reading = Reading(watch, verify=verify, **requested.read_as_stated({**source}))
    inputs = [data, policy, *(hierarchies or {}).values(), distortion]
    require(
        out is None or matrix is None or Path(out).resolve() != Path(matrix).resolve(),
        "two outputs have the same name",
    )
    pairing = None if out is None else files.pairing_beside(Path(out))
    with (
        files.write_whole(pairing, sources=inputs, force=force) as pairing_file,
        files.write_whole(out, sources=inputs, force=force) as target,
        files.write_whole(matrix, sources=inputs, force=force) as beside,
        reading(data, outputs=[path for path in (target, pairing_file) if path is not None]) as (
            table,
            questions,
        ),
    ):
        original = read_original(
            table.name,
            questions,
            requested,
            missing,
            settings,
            reading.clock,
            everything=out is not None,
        )
        description = describe_input(table, questions)
        outcome = (solve_gaussian if gaussian else solve_finite)(original)
        if target is not None and out is not None:
            reading.clock("writing the release", questions)
            columns = [
                outcome.drawn.get(c)
                or FileColumn(c, original.people.texts(c), original.codes(c), kind_)
                for c, kind_ in original.kinds.items()
            ]
            csv: dict[str, Any] = {"delimiter": table.delimiter or ",", "header": table.header}
            with files.name_output(out):
                order = order_by_hash(columns, order_key(seed))
                columns = [column.only(order) for column in columns]
                write_release(
                    target, str(kind), columns, questions, **(csv if table.kind == "csv" else {})
                )
                assert pairing_file is not None
                details = pairing_details(target, OriginalFile(data, table), len(order))
                write_row_numbers(questions.engine, order + 1, pairing_file, details)
        if beside is not None:
            write_matrix(beside, outcome.parts)
    return Limited(
        description,
        original.roles,
        outcome.alphabet,
        tuple(outcome.parts),
        outcome.whole,
        {
            **vars(settings),
            "at": list(settings.at),
            "distortion": distortion if distortion in NAMES else "matrix",  # the name of no file
            "gaussian": gaussian,
            "released": out is not None,
            "hierarchies": sorted(hierarchies or {}),
        },
        show_values,
        outcome.normality,
        warnings=(*original.notes, *([UNSTATED] if at is None else ())),
        unassessed=original.unassessed,
        **reading.clock.stop(),
    )


def write_matrix(target: Path, parts: Iterable[AlphabetResult]) -> None:
    """Write the channels as CSV: one line per value and released value that it may become.

    The columns are those of the values, the same of the released ones, and the probability.
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    for part in parts:
        if part.texts is None or part.channel is None:
            continue
        writer.writerow([*part.columns, *(f"released {n}" for n in part.columns), "probability"])
        values, labels = part.texts
        for i, j in np.argwhere(part.channel > 0).tolist():
            texts = ["" if t is None else t for t in (*values[i], *labels[j])]
            writer.writerow([*texts, repr(float(part.channel[i, j]))])
    try:
        target.write_text(file.getvalue(), encoding="utf-8")
    except OSError as error:
        raise ExhaustedError(f"the matrix cannot be written: {error.strerror}") from None
