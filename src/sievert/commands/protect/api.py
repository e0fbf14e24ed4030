"""The public function `protect`: from a table and a policy to a release that meets it.

It has one keyword per option of the command, so that editors and `help` show them all.
"""

import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from sievert import files
from sievert.commands.protect.check import NOT_CHECKED
from sievert.commands.protect.further_columns import (
    columns_to_keep,
    keep_with_reasons,
    kept_columns,
)
from sievert.commands.protect.given_releases import read_given
from sievert.commands.protect.manifest import manifest, read_recoding
from sievert.commands.protect.method import HOW, PLAIN, MethodSettings, RecordTable, method
from sievert.commands.protect.microaggregation import GAMMA
from sievert.commands.protect.result import ColumnLevel, Protected
from sievert.commands.protect.run import (
    Protection,
    find_protection,
    prepare,
    read_columns,
    recoded_records,
    settle_suppressed,
    what_became,
)
from sievert.commands.protect.writing import ReleaseFile
from sievert.counts.questions import Questions
from sievert.errors import InvariantError, require
from sievert.formatting.remarks import Caution, Remark
from sievert.measurement.combinations import count_combinations
from sievert.measurement.population_settings import PopulationSettings
from sievert.measurement.table_measures import MeasureSettings
from sievert.measures.measure import SPELT_ALIKE
from sievert.methods.full_domain import LOSSES
from sievert.pairing.pairing_file import OriginalFile
from sievert.policy import Judgement, Policy
from sievert.policy.judgement import WITH_KEPT
from sievert.releases.earlier import is_one_table, read_earlier
from sievert.releases.files import release_kind
from sievert.releases.problem import (
    AUTO,
    DROP,
    SUPPRESSED_ROWS,
    SearchSettings,
    assign_hierarchies,
    limit_suppressed,
    limits_suppressed,
    share_of_records,
    share_to_suppress,
)
from sievert.request.requested import (
    PolicySource,
    Reading,
    RequestedRoles,
    check_known,
    check_whole,
    refuse_engines,
    requested_roles,
)
from sievert.request.table_description import describe_input
from sievert.session import Clock, Steps, choose_engine, no_progress
from sievert.sources.checksums import files_sha256
from sievert.sources.isolation import private_directory
from sievert.sources.options import ReaderOptions

__all__ = ["Protected", "protect"]
FULL = "--how full, which searches"
ORDER_BY_HASH = Remark("order_by_hash")
ORDER_STAYS = Remark("order_stays")

# Readings that methods which make classes do not hold: they count as spelt, without kept columns.
NOT_HELD = {SPELT_ALIKE, WITH_KEPT}


# The public function: its keywords are the options of the command, its docstring their reference.
def protect(
    data: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    policy: PolicySource,
    out: str | os.PathLike[str] | None = None,
    suppress: float | None = None,
    loss: str = "generalization_loss",
    weights: Mapping[str, float] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    levels: Mapping[str, int] | str | os.PathLike[str] | None = None,
    keep: str | Iterable[str] | Mapping[str, str] = (),
    suppressed_rows: str = AUTO,
    drop: bool = False,
    keep_order: bool = False,
    how: str | None = None,
    labels: str = "hierarchy",
    importance: Mapping[str, float] | None = None,
    group: int | None = None,
    amount: float | None = None,
    fraction: float | None = None,
    base: Mapping[str, float] | None = None,
    grouping: str = "mdav",
    gamma: float = GAMMA,
    correlated: bool = False,
    unbiased: bool = False,
    seed: int = 0,
    seconds: float | None = None,
    frontier: bool = False,
    beside: Any = (),
    earlier: Any = (),
    key: str | None = None,
    person: str | None = None,
    population_size: int | None = None,
    orders: Mapping[str, Iterable[str]] | None = None,
    partitions: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    missing: str = "value",
    verify: bool = False,
    force: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> Protected:
    """Find the recoding of least loss whose release meets a policy, and write that release.

    Every quasi-identifier is brought to one level of its hierarchy (full-domain recoding); records
    in classes that still break a rule have `*` in all of them. The search is exact. The release
    holds the quasi-identifiers and the secrets only, and is read back and assessed in a process of
    its own before it takes its place.

    Parameters
    ----------
    data
        The original table: a path, a frame, a dict of lists.
    quasi, sensitive, identifier, policy
        The roles of the columns, and the policy that the release has to meet.
    out
        Where to write the release (.csv or .parquet, which is a directory where Spark writes it);
        beside it a manifest, `<out>.json`, and a private file that pairs its rows with those of
        the original, `<out>.pairing.parquet`.
    suppress
        The largest share of records that may be suppressed: as [protect] in the policy says, else
        its limit on suppressed_records, else 0.02.
    loss
        What is minimised: generalization_loss (its geometric form, as ARX has it), arithmetic_loss,
        certainty_penalty, entropy, discernability or bits.
    weights
        How much each quasi-identifier counts in the loss; 1 unless given.
    hierarchies
        Of quasi-identifiers: `interval:5,10`, `quantile:16,8,4`, `date:month,year`, a file, a tree
        (docs/protect.md has them all); proposed where none is given. Of secrets: for hierarchical
        t-closeness.
    levels
        A recoding that is given, column by column or by the manifest of an earlier release, whose
        hierarchies are taken as well: nothing is searched.
    keep
        Other columns that the release holds besides those of [roles.kept] in the policy: their
        names, or each with the reason. A column that the policy calls identifier, person,
        household, ignored or dropped is refused.
    suppressed_rows
        What becomes of suppressed records: keep leaves their rows in the release with `*` in every
        quasi-identifier, drop leaves them out. auto keeps them where they meet the limits as a
        class of their own, and drops them otherwise. They count as suppressed in any case.
    drop
        The same as suppressed_rows="drop".
    keep_order
        Write the records in the order of the table, which can give values back.
    how
        The method: full (full-domain recoding), or as [protect] in the policy says. With anatomy
        the secrets are in a table of their own, `<out>.secrets.csv` for an `out` of `<out>.csv`.
    labels, importance, group, amount, fraction, base, grouping, gamma, correlated, unbiased, seed
        What single methods need: see the guide.
    seconds
        When to stop the search; the result then tells how much better a recoding could be.
    frontier
        Go through all combinations of levels, and list those that no other is better than in what
        they disclose and in what they have lost, beside the least that any release could disclose.
    beside
        Releases of this table that are measured as the frontier is.
    earlier, key
        Releases of the same people that are out already, and the column, in all tables, that tells
        people apart: whoever has all files must not tell apart fewer people than k.
    population_size
        The table is a sample of so many people: for a limit on population_uniques.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> table = {"age": ["27", "29", "38", "31"] * 5, "ill": ["flu", "cold"] * 10}
    >>> rules = {"roles": {"rows_are_people": True}, "limits": {"k_anonymity": {"min": 6}}}
    >>> found = protect(table, "age", "ill", policy=rules, hierarchies={"age": "interval:5,10"})
    >>> found.met, found.levels
    (True, {'age': 2})
    """
    requested = requested_roles(policy, quasi, sensitive, identifier, person=person)
    check_known("loss", loss, LOSSES)
    own = requested.policy if isinstance(requested.policy, Policy) else None
    require(own is not None, "a release is made for a policy", hint="--policy FILE")
    assert own is not None
    how = how or own.protect.how or "full"
    check_known("--how", how, HOW)
    suppressed_rows = choose_rows(suppressed_rows, drop=drop)
    for option, stated in (("frontier", frontier), ("levels", levels), ("seconds", seconds)):
        require(how == "full" or not stated, f"--{option} is not read by --how {how}", hint=FULL)
    require(
        how not in PLAIN or not suppress, f"--how {how} suppresses no records", hint="no --suppress"
    )
    check_whole("--seed", seed, 0)
    require(
        suppress is None or 0 <= suppress < 1,
        "the share of suppressed records is from 0 to below 1",
    )
    fixed: Mapping[str, Any] = {}
    if isinstance(levels, str | os.PathLike):
        levels, fixed = read_recoding(levels)
    trees = {**own.hierarchies, **fixed, **(hierarchies or {})}
    needed = {**PopulationSettings(population_size).parameters, **(parameters or {})}
    measuring = MeasureSettings(
        trees, dict(orders or {}), dict(partitions or {}), needed
    ).with_policy(own)
    search = SearchSettings(
        0.0,
        loss,
        None,
        weights,
        seconds,
        frontier,
        memory=source.get("memory"),
        suppressed_rows=suppressed_rows,
    )
    settings = MethodSettings(
        0.0,
        loss,
        dict(weights or {}),
        seed,
        labels,
        dict(importance or {}),
        group,
        amount,
        fraction,
        dict(base or {}),
        grouping,
        gamma,
        correlated,
        unbiased,
    )
    settings.check_read_by(how)
    kind = "csv" if out is None else release_kind(out)
    in_parts = kind == "parquet" and choose_engine(source.get("engine"), data) == "spark"
    apart = files.secrets_beside(Path(out)) if out is not None and how == "anatomy" else None
    manifest_path = None if out is None else files.manifest_beside(Path(out))
    # Rows have numbers where the records are read from a file or from memory.
    numbered = choose_engine(source.get("engine"), data) == "duckdb" and not keep_order
    pairing = None if out is None or not numbered else files.pairing_beside(Path(out))
    reading = Reading(watch, verify=verify, **requested.read_as_stated({**source}))
    cautions: list[Remark] = []
    clock, inputs = reading.clock, [data, policy, levels, *trees.values()]
    try:
        others = [earlier] if is_one_table(earlier) else list(earlier)
        require(how == "full" or not others, "--earlier goes with --how full")
        refuse_engines("--earlier reads", {}, *others)
        before = read_earlier(others, key, requested, reading)
        given = [beside] if is_one_table(beside) else list(beside)
        require(frontier or not given, "--beside goes with --frontier")
        releases = read_given(given, requested, reading)
        inputs += [*others, *given]
        with (
            private_directory(source.get("temp")) as private,
            files.write_whole(manifest_path, sources=inputs, force=force) as manifest_file,
            files.write_whole(pairing, sources=inputs, force=force) as pairing_file,
            files.write_whole(apart, sources=inputs, force=force) as secrets,
            files.write_whole(out, sources=inputs, force=force, directory=in_parts) as target,
            reading(
                data,
                outputs=[
                    path
                    for path in (target, secrets, pairing_file, private / f"people.{kind}")
                    if path is not None
                ],
                states=True,
            ) as (table, questions),
        ):
            requested = requested.of_table(table)
            require(
                table.state is None or (out is None and how == "full"),
                "a count state has no records: it is searched by --how full, and nothing is "
                "written",
                hint="the table, with the levels that were found",
            )
            require(
                table.state is None or not {*own.roles.kept} & {*questions.columns},
                "a count state does not have the columns that the policy keeps",
                hint="the table itself",
            )
            require(
                questions.engine.name == "duckdb" or how == "full",
                f"--how {how} needs the records here, not on {questions.engine.name}",
                hint="--how full, or the table as a file",
            )
            share = share_to_suppress(own, questions.records) if suppress is None else suppress
            share = 0.0 if how in PLAIN else share
            search, settings = replace(search, suppress=share), replace(settings, suppress=share)
            if keep_order:
                cautions.append(Caution("order_kept"))
            asked = kept_columns(keep, questions.columns)
            requested = keep_with_reasons(requested, asked, questions.columns)
            own, kept = requested.policy or own, columns_to_keep(requested, asked, questions)
            unknown_kept = [c for c in kept if c not in own.roles.kept]
            cautions += [Caution("kept_column", column=repr(c)) for c in unknown_kept]
            if how == "full":
                protection = find_protection(
                    *(questions, requested, measuring, search, levels, missing, clock),
                    *(kept, before, key),
                )
            else:
                protection = make_release(
                    questions, requested, measuring, how, settings, kept, missing, clock
                )
            file = ReleaseFile(
                target or private / f"release.{kind}",
                secrets or private / f"secrets.{kind}",
                *(kind, table, questions, protection, measuring),
                drop=suppressed_rows == DROP or protection.drops,
                seed=None if keep_order else seed,
            )
            people, judgement = protection.people, protection.judgement
            described = describe_input(table, people or questions, missing)
            looked_at = target is not None or file.suppresses_beside_kept
            if judgement is None or (looked_at and judgement.met):
                clock("writing the release", questions)
                with files.name_output(Path(str(out or "release"))):
                    records = recoded_records(questions, protection, kept, drop=file.drop)
                    if records is not None:
                        file.write_in_engine(private / f"people.{kind}", records)
                    else:
                        file.write_from_memory(private / f"people.{kind}", kept)
            if judgement is None:
                judgement = file.judge(source)
                _, drops = settle_suppressed(judgement.verdicts, suppressed_rows)
                if drops and not file.drop:
                    file.drop = True
                    file.write_from_memory(private / f"people.{kind}", kept)
                    judgement = file.judge(source)
                gone = protection.release.suppressed_records if protection.release else 0
                protection.notes.extend(what_became(gone, suppressed_rows, drops=file.drop))
            judgement = file.judge_kept_columns(judgement, source)
            if target is not None:
                judgement = file.judge_kept_order(judgement, source)
            protection.notes[:0] = cautions
            judgement = judgement.resting_on(ORDER_STAYS if keep_order else ORDER_BY_HASH)
            result = _result(how, protection, judgement, questions, described, search)
            result = replace(result, drops=file.drop)
            budget = limits_suppressed(protection.policy) and not limits_suppressed(own)
            lacks = _dropped(questions, {*protection.roles.measured_columns, *kept})
            result = replace(result, beside=releases, budget=budget, dropped_columns=lacks)
            if target is None or manifest_file is None or judgement.met is not True:
                raise _NothingIsWritten(result)
            clock("checking the release", questions)
            warnings = (*file.confirm(source), *result.warnings)
            names = {name for part in file.parts for name in part.names}
            lacks = _dropped(questions, names)
            result = replace(
                result,
                released=True,
                order="kept" if keep_order else "by_hash",
                paired=pairing is not None,
                dropped_columns=lacks,
                warnings=warnings,
            )
            content = manifest(result, file.parts, settings, kept, drop=file.drop)
            content |= _order(file, pairing_file, data)
            text = json.dumps(content, indent=1, sort_keys=True)
            manifest_file.write_text(f"{text}\n", encoding="utf-8")
    except _NothingIsWritten as stop:
        result = stop.result
    return replace(result, **clock.stop())


def choose_rows(suppressed_rows: str, *, drop: bool) -> str:
    """What becomes of suppressed records, as one of two options says."""
    check_known("--suppressed-rows", suppressed_rows, SUPPRESSED_ROWS)
    require(
        not drop or suppressed_rows in (AUTO, DROP),
        f"--drop and --suppressed-rows {suppressed_rows} contradict each other",
        hint="one of them",
    )
    return DROP if drop else suppressed_rows


def _order(file: ReleaseFile, pairing: Path | None, data: Any) -> dict[str, Any]:
    """Write the pairing file; what the manifest says of it, and of the order of the records."""
    if file.seed is None:
        return {"order": "kept"}
    said: dict[str, Any] = {"order": "by_hash", "seed": file.seed}
    if pairing is not None:
        file.write_pairing(pairing, OriginalFile(data, file.table))
        said["pairing"] = {"sha256": files_sha256([pairing]), "internal": True}
    return said


class _NothingIsWritten(Exception):  # noqa: N818
    """There is a result, and no release: what was begun to be written is removed."""

    def __init__(self, result: Protected) -> None:
        super().__init__()
        self.result = result


def _result(
    how: str,
    protection: Protection,
    judgement: Judgement,
    questions: Questions,
    table: Mapping[str, Any],
    search: SearchSettings,
) -> Protected:
    release, roles = protection.release, protection.given_roles
    breached = [
        verdict
        for verdict in judgement.verdicts
        if verdict.met is False
        and verdict.reading not in NOT_HELD
        and verdict.scope is None  # limits are held in the classes that a method makes
    ]
    require(
        release is None or not release.holds or not breached,
        NOT_CHECKED,
        error=InvariantError,
    )
    return Protected(
        table,
        roles,
        how,
        search.loss if release is None else release.minimised,
        protection.columns,
        protection.recoding,
        judgement,
        share_of_records(search.suppress, questions.records),
        released=False,
        unmet=protection.unmet,
        release=release,
        frontier=protection.frontier,
        limit=protection.limit,
        earlier=protection.earlier,
        stopped=protection.stopped,
        warnings=tuple(protection.notes),
    )


def _dropped(questions: Questions, kept: Collection[str]) -> tuple[str, ...]:
    """The columns that the release does not hold."""
    return tuple(c for c in questions.columns if c not in kept)


def make_release(
    questions: Questions,
    requested: RequestedRoles,
    measuring: MeasureSettings,
    how: str,
    settings: MethodSettings,
    keep: Iterable[str],
    missing: str,
    clock: Clock,
) -> Protection:
    """The release that a method makes of all records."""
    start = prepare(questions, requested, measuring, settings.suppress, missing, keep)
    roles, notes = start.roles, start.notes
    classes = count_combinations(questions, roles.quasi, ()).classes
    trees, sources = assign_hierarchies(
        classes.value_counts, roles, measuring.hierarchies, notes, proposed=how not in PLAIN
    )
    clock(f"making the release ({how})", questions)
    table = RecordTable(
        read_columns(questions, {*roles.quasi, *roles.sensitive, *keep}),
        roles,
        start.policy,
        measuring,
        trees,
    )
    release = method(how)(table, settings)
    notes += release.notes
    apart = {column.name for column in release.secrets} & {*roles.sensitive}
    own = {name: c for name, c in table.columns.items() if name not in apart}
    columns = [*{**own, **release.columns}.values()]
    if release.chosen is not None:
        columns = [column.only(release.chosen) for column in columns]
    described = {
        c.name: ColumnLevel(
            *(None, None, sources.get(c.name), len(set(c.texts))),
            fixed=tree.fixed if (tree := trees.get(c.name)) else None,
        )
        for c in columns
        if c.name in roles.quasi
    }
    # More suppressed records than may be are a breach, also where none may be.
    policy = limit_suppressed(start.policy, 0) if release.suppressed_records else start.policy
    return Protection(
        roles, policy, start.gate, described, notes, release=release, file_columns=columns
    )
