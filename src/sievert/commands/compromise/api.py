"""The public function `compromise`: the experiment of approximate compromise over a table.

It has one keyword per option of the command, so that editors and `help` show them all.
"""

import os
from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from sievert import files
from sievert.commands.compromise.experiment import METHODS, PARAMETERS, ExperimentSettings
from sievert.commands.compromise.result import Compromises
from sievert.commands.compromise.run import QUERIES, read_tables, record_columns, run_experiment
from sievert.errors import require
from sievert.pairing import record_pairs
from sievert.pairing.pairing_file import OriginalFile, RowPairing, find_pairing
from sievert.request.requested import PolicySource, Reading, check_known, requested_roles
from sievert.request.table_description import columns_without_role, describe_input
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions

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
    person: str | None = None,
    method: str = "sampling",
    parameters: Iterable[float] | None = None,
    release: Any = None,
    key: str | None = None,
    paired: bool = False,
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
    policy: PolicySource = None,
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
    person
        The column whose values tell people apart, where a person may have several rows: not
        defined here, and refused where people have several.
    method
        "sampling", "query" (restriction), "noise", or "release": any other, from a released table.
    parameters
        Fractions, sizes of query sets, or percents of noise.
    release, key
        With the method "release": the released table, with the pairing file that `protect` wrote
        beside it, or in the order of the original, as the tables must show, unless a key tells
        people apart.
    paired
        Say that the release is in the order of the original, where the tables cannot show it.
        Where they show that it is not so, this is refused.
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
    requested = requested_roles(policy, quasi, sensitive, identifier, person=person)
    check_known("--method:", method, METHODS)
    require(
        (method == "release") == (release is not None),
        "--release goes with --method release",
        hint="--method release",
    )
    require(
        missing in ("value", "error"),
        "a missing known value is a value of its own",
        hint="--missing value",
    )
    require(
        not paired or release is not None,
        "--paired is about a release and its original",
        hint="--method release --release FILE",
    )
    record_pairs.check_paired(paired, key)
    require(1 <= replicates <= 10**4, "--replicates must be from 1 to 10,000")
    widths = sorted({float(e) for e in epsilon})
    require(
        not any(not np.isfinite(e) or e < 0 for e in widths), "--epsilon takes widths from 0 on"
    )
    format_ = None if records is None else files.record_format(records)
    require(
        records is None or (key is None and max_known is None),
        "a record file is in the order of the input, and of somebody who knows all columns",
        hint="--records without --key and --max-known",
    )
    require(
        method != "release" or parameters is None,
        "a release has no parameter",
        hint="without --fraction, --size, ...",
    )
    chosen = DEFAULTS.get(method, ()) if parameters is None else tuple(dict.fromkeys(parameters))
    require(method == "release" or chosen, f"no {PARAMETERS.get(method)} given")
    options: dict[str, Any] = {
        "sampling": {"prior": prior},
        "noise": {"weights": weights, "matching": matching},
    }.get(method, {})
    settings = ExperimentSettings(
        method=method,
        parameters=chosen,
        replicates=replicates,
        seed=seed,
        epsilons=widths,
        step=step,
        max_known=max_known,
        options=options,
        threads=source.get("threads"),
    )
    reading = Reading(watch, verify=verify, **requested.read_as_stated({**source}))
    clock, released = reading.clock, None
    if release is not None:  # checked and paired once the original is there
        with reading(release) as (table, questions):
            clock("reading the release", questions)
            released = record_pairs.people(
                questions, [c for c in questions.columns if c != key], key, table.name
            )
    with (
        files.write_whole(records, sources=[data, release, policy], force=force) as target,
        reading(data, outputs=[target] if target else []) as (table, questions),
    ):
        clock("reading the records", questions)
        beside = RowPairing()
        if released is not None and key is None:
            beside = find_pairing(release, source.get("temp"))
            if paired:
                beside = beside.forget_rows(released.name)
        tables = read_tables(
            OriginalFile(data, table),
            *(table.name, questions, requested, missing, key, released, beside),
            paired=paired,
        )
        description = describe_input(table, questions)
        experiments = run_experiment(tables, settings, clock, show_values)
        if records is not None and target is not None:
            clock("writing records", questions)
            with files.name_output(records):
                questions.write_columns(
                    record_columns(experiments, tables.people.records, str(format_)),
                    target,
                    str(format_),
                )
    return Compromises(
        table=description,
        roles=tables.roles,
        curves={secret: e.curves for secret, e in experiments.items()},
        domains={secret: e.domain for secret, e in experiments.items()},
        settings={
            "method": method,
            "parameters": list(chosen),
            "replicates": settings.rounds,
            "seed": seed,
            "epsilon": widths,
            "step": step,
            "queries": QUERIES,
            **options,
        },
        pairing=tables.pairing,
        warnings=tuple(tables.notes),
        unassessed=columns_without_role(questions, tables.roles, key),
        **clock.stop(),
    )
