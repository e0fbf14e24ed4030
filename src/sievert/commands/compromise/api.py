"""Runs the experiment of approximate compromise over a table and holds the result."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from sievert import files
from sievert.commands._common import Clock, Reading, describe_input, load_policy, requested_roles
from sievert.commands.compromise.experiment import METHODS, PARAMETERS, ExperimentSettings
from sievert.commands.compromise.result import Compromises
from sievert.commands.compromise.run import (
    QUERIES,
    pair_release,
    read_original,
    read_release,
    record_columns,
    run_experiment,
)
from sievert.errors import UsageError, unknown
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions

if TYPE_CHECKING:
    from sievert.policy import Policy

LARGE = 10**5  # records from which plain columns are counted from packed keys
REPLICATES = 30
DEFAULTS: dict[str, tuple[float, ...]] = {
    "sampling": (0.05, 0.1, 0.2, 0.5),
    "query": (2, 4, 8, 16, 32),
    "noise": (10, 20, 25, 50, 100),
}


# The public function: its keywords are the options of the command, its docstring their reference.
def compromise(
    data: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    method: str = "sampling",
    parameters: Iterable[float] | None = None,
    release: Any = None,
    key: str | None = None,
    epsilon: Iterable[float] = (),
    step: float | None = None,
    replicates: int = REPLICATES,
    max_known: int | None = None,
    seed: int = 0,
    prior: str = "uniform",
    weights: str = "uniform",
    matching: str = "oracle",
    records: str | os.PathLike[str] | None = None,
    force: bool = False,
    show_values: bool = False,
    policy: Policy | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    missing: str = "value",
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> Compromises:
    """Measure how near an intruder comes to a confidential number under a protection method.

    Parameters
    ----------
    data
        The original table: a path, a frame, a dict of lists.
    quasi, sensitive, identifier
        Columns an intruder may know; confidential columns, of numbers; columns never looked at.
    method
        "sampling", "query" (restriction), "noise", or "release": any other, from a released table.
    parameters
        Fractions, sizes of query sets, or percents of noise.
    release, key
        With the method "release": the released table, in the order of the original unless a key
        tells people apart.
    epsilon
        Widths: who is compromised approximately has all values left within one of them.
    step
        Round confidential numbers to multiples of this.
    replicates, seed
        How often a method is run for each parameter, and where chance starts.
    max_known
        At most so many known columns.
    prior, weights, matching
        Of sampling: what unsampled matches are taken to have, "uniform" or as in the "sample". Of
        noise: "uniform" or "posterior" weights; "oracle" or "likelihood" matching.
    records
        Write one row a record, in input order, to this CSV or Parquet file.
    show_values
        Name the least and the greatest confidential number in the result.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> table = {"sex": ["f", "m", "f", "m"], "pay": ["10", "20", "30", "20"]}
    >>> found = compromise(table, "sex", "pay", parameters=[0.5], replicates=2)
    >>> found.curves["pay"][0].points[0].known
    1
    """
    requested = requested_roles(load_policy(policy), quasi, sensitive, identifier)
    if method not in METHODS:
        raise unknown("--method:", method, METHODS)
    if (method == "release") != (release is not None):
        raise UsageError("--release goes with --method release", hint="--method release")
    if missing not in ("value", "error"):
        raise UsageError("a missing known value is a value of its own", hint="--missing value")
    if not 1 <= replicates <= 10**4:
        raise UsageError("--replicates must be from 1 to 10,000")
    widths = sorted({float(e) for e in epsilon})
    if any(not np.isfinite(e) or e < 0 for e in widths):
        raise UsageError("--epsilon takes widths from 0 on")
    format_ = None if records is None else files.record_format(records)
    if records is not None and (key is not None or max_known is not None):
        raise UsageError(
            "a record file is in the order of the input, and of somebody who knows all columns",
            hint="--records without --key and --max-known",
        )
    chosen = _parameters(method, parameters)
    options: dict[str, Any] = {
        "sampling": {"prior": prior},
        "noise": {"weights": weights, "matching": matching},
    }.get(method, {})
    settings = ExperimentSettings(
        method, chosen, replicates, seed, widths, step, max_known, options, source.get("threads")
    )
    clock = Clock(watch)
    reading = Reading(clock, {**source, "verify": verify}, LARGE)
    released = None
    if release is not None:  # checked and paired once the original is there
        with reading(release) as (table, questions):
            released = read_release(table.name, questions, key, clock)
    with (
        files.write_whole(records, sources=[data, release, policy], force=force) as target,
        reading(data, outputs=[target] if target else []) as (table, questions),
    ):
        clock("reading the records", questions)
        tables = read_original(table.name, questions, requested, missing, key)
        if released is not None:
            tables = pair_release(tables, released)
        description = describe_input(table, questions)
        experiments = run_experiment(tables, settings, clock, show_values)
        if records is not None and target is not None:
            clock("writing records", questions)
            columns = record_columns(experiments, tables.people.records, str(format_))
            with files.name_output(records):
                questions.write_columns(columns, target, str(format_))
    clock.stop()
    used = {*tables.roles.measured_columns, *tables.roles.identifier, key}
    return Compromises(
        description,
        tables.roles,
        {secret: e.curves for secret, e in experiments.items()},
        {secret: e.domain for secret, e in experiments.items()},
        {
            "method": method,
            "parameters": list(chosen),
            "replicates": settings.rounds,
            "seed": seed,
            "epsilon": widths,
            "step": step,
            "queries": QUERIES,
            **options,
        },
        tuple(tables.notes),
        tuple(c for c in questions.columns if c not in used),
        clock.steps,
        clock.peaks,
    )


def _parameters(method: str, given: Iterable[float] | None) -> tuple[float, ...]:
    if method == "release":
        if given is not None:
            raise UsageError("a release has no parameter", hint="without --fraction, --size, ...")
        return ()
    chosen = DEFAULTS[method] if given is None else tuple(dict.fromkeys(given))
    if not chosen:
        raise UsageError(f"no {PARAMETERS[method]} given")
    return chosen
