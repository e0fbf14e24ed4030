"""The work of protect: read a table and a policy; find, write and confirm a release."""

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sievert import files
from sievert.commands.protect.check import NOT_CHECKED
from sievert.commands.protect.further_columns import (
    columns_to_keep,
    keep_with_reasons,
    kept_columns,
)
from sievert.commands.protect.given_releases import GivenRelease, read_given
from sievert.commands.protect.manifest import manifest, read_recoding
from sievert.commands.protect.method import RecordRelease, RecordTable, method
from sievert.commands.protect.protection import (
    Preparation,
    Protection,
    ProtectionPlan,
    find_protection,
    prepare,
    read_columns,
    recoded_records,
    settle_suppressed,
    suppression_remarks,
)
from sievert.commands.protect.result import ColumnLevel, Protected
from sievert.commands.protect.settings import FULL, METHODS, How, ProtectSettings, method_named
from sievert.commands.protect.writing import ReleaseFile
from sievert.counts.engines import choose_engine
from sievert.counts.questions import Questions
from sievert.errors import InvariantError, require
from sievert.formatting.remarks import Caution, Remark
from sievert.measurement.combinations import count_combinations
from sievert.measurement.population_settings import population_parameters
from sievert.measurement.table_measures import MeasureSettings
from sievert.measures.measure import SPELT_ALIKE
from sievert.pairing.pairing_file import OriginalFile
from sievert.policy import Judgement, Policy
from sievert.policy.judgement import WITH_KEPT
from sievert.releases.choices import DROP
from sievert.releases.earlier import is_one_table, read_earlier
from sievert.releases.files import release_kind
from sievert.releases.problem import (
    assign_hierarchies,
    limit_suppressed,
    limits_suppressed,
    share_of_records,
    share_to_suppress,
)
from sievert.request.requested import (
    Reading,
    RequestedRoles,
    refuse_engines,
    requested_roles,
)
from sievert.request.table_description import describe_input
from sievert.session import Clock, Steps, no_progress
from sievert.settings.groups import Place, reader_options
from sievert.sources.checksums import files_sha256
from sievert.sources.isolation import private_directory
from sievert.sources.options import ReaderOptions
from sievert.sources.table import Table

ORDER_BY_HASH = Remark("order_by_hash")
ORDER_STAYS = Remark("order_stays")
# Readings for which a method that makes classes keeps no limit: it counts values as they are spelt,
# without kept columns.
NOT_KEPT = {SPELT_ALIKE, WITH_KEPT}


@dataclass(frozen=True, kw_only=True)
class ReleasePaths:
    """The final paths of the files of a release; None for a file that is not written."""

    release: Place | None
    manifest: Path | None
    pairing: Path | None
    secrets: Path | None  # of a method that puts the secrets into a table of their own
    kind: str  # csv or parquet
    in_parts: bool  # whether the release is a directory

    @classmethod
    def from_settings(cls, settings: ProtectSettings, how: How) -> "ReleasePaths":
        """Name the files for the method `how`."""
        if settings.out is None:
            return cls(
                release=None, manifest=None, pairing=None, secrets=None, kind="csv", in_parts=False
            )
        release = Path(settings.out)
        kind = release_kind(settings.out)
        engine = choose_engine(settings.engine, settings.data).adapter_class
        apart = how != FULL and METHODS[how].secrets_apart
        # Rows have numbers if the records are read from a file or from memory.
        numbered = engine.keeps_order and not settings.keep_order
        return cls(
            release=settings.out,
            manifest=files.manifest_beside(release),
            pairing=files.pairing_beside(release) if numbered else None,
            secrets=files.secrets_beside(release) if apart else None,
            kind=kind,
            in_parts=kind == "parquet" and engine.writes_parts,
        )


@dataclass(frozen=True, kw_only=True)
class WrittenPaths:
    """Where the files of a release are written until they take their place."""

    release: Path | None
    manifest: Path | None
    pairing: Path | None
    secrets: Path | None
    private: Path  # a directory for files that are not kept
    kind: str

    @property
    def with_person(self) -> Path:
        """The private file of a release with its people."""
        return self.private / f"people.{self.kind}"

    @property
    def outputs(self) -> list[Path]:
        """List the files that an engine may write."""
        paths = (self.release, self.secrets, self.pairing, self.with_person)
        return [path for path in paths if path is not None]


def run(settings: ProtectSettings, watch: Steps = no_progress) -> Protected:
    """Make the release that `settings` describe; `watch` is told of every step."""
    requested = requested_roles(
        settings.policy,
        settings.quasi,
        settings.sensitive,
        settings.identifier,
        person=settings.person,
    )
    settings.check_work()
    own = requested.policy
    require(own is not None, "a release is made for a policy", hint="--policy FILE")
    assert own is not None
    how = method_named(settings.how or own.protect.how or FULL)
    settings.check_method(how)
    levels, trees = _read_levels(settings, own)
    stated = population_parameters(settings.population_size)
    measuring = MeasureSettings(
        hierarchies=trees,
        orders=dict(settings.orders or {}),
        partitions=dict(settings.partitions or {}),
        parameters={**stated, **(settings.parameters or {})},
    ).with_policy(own)
    source = reader_options(settings)
    paths = ReleasePaths.from_settings(settings, how)
    reading = Reading(watch, verify=settings.verify, **requested.read_as_stated({**source}))
    earlier = _tables(settings.earlier)
    require(how == FULL or not earlier, "--earlier goes with --how full")
    refuse_engines("--earlier reads", {}, *earlier)
    before = read_earlier(earlier, settings.key, requested, reading)
    beside = _tables(settings.beside)
    require(settings.frontier or not beside, "--beside goes with --frontier")
    releases = read_given(beside, requested, reading)
    inputs = [settings.data, settings.policy, levels, *trees.values(), *earlier, *beside]
    write_whole = files.write_whole
    force = settings.force
    try:
        with (
            private_directory(settings.temp) as private,
            write_whole(paths.manifest, sources=inputs, force=force) as manifest_file,
            write_whole(paths.pairing, sources=inputs, force=force) as pairing_file,
            write_whole(paths.secrets, sources=inputs, force=force) as secrets,
            write_whole(
                paths.release, sources=inputs, force=force, directory=paths.in_parts
            ) as target,
        ):
            written = WrittenPaths(
                release=target,
                manifest=manifest_file,
                pairing=pairing_file,
                secrets=secrets,
                private=private,
                kind=paths.kind,
            )
            with reading(settings.data, outputs=written.outputs, states=True) as (table, questions):
                requested = requested.of_table(table)
                _check_table(table, questions, settings, own, how)
                plan = ProtectionPlan(
                    settings=settings,
                    how=how,
                    measuring=measuring,
                    levels=levels,
                    suppress=_share_to_suppress(settings, own, how, questions.records),
                    earlier=before,
                )
                job = ReleaseJob(
                    plan=plan,
                    requested=requested,
                    table=table,
                    questions=questions,
                    source=source,
                    paths=written,
                    beside=releases,
                    clock=reading.clock,
                )
                result = job.release()
    except _NothingIsWritten as stop:
        result = stop.result
    return replace(result, **reading.clock.stop())


@dataclass(frozen=True, kw_only=True)
class ReleaseJob:
    """A table that is open, with the plan and the paths of its release."""

    plan: ProtectionPlan
    requested: RequestedRoles
    table: Table
    questions: Questions
    source: ReaderOptions
    paths: WrittenPaths
    beside: tuple[GivenRelease, ...]
    clock: Clock

    def release(self) -> Protected:
        """Find the release, write and judge it; raise an exception if nothing is written."""
        settings = self.plan.settings
        questions = self.questions
        asked = kept_columns(settings.keep, questions.columns)
        requested = keep_with_reasons(self.requested, asked, questions.columns)
        own = requested.policy
        assert own is not None
        kept = columns_to_keep(requested, asked, questions)
        plan = replace(self.plan, keep=kept)
        if plan.how == FULL:
            protection = find_protection(questions, requested, plan, self.clock)
        else:
            protection = make_release(questions, requested, plan, self.clock)
        file, judgement = self._judged_file(protection, plan, kept)
        while judgement.met is not True and protection.instead is not None:
            protection = protection.instead()
            file, judgement = self._judged_file(protection, plan, kept)
        description = describe_input(self.table, protection.people or questions, settings.missing)
        cautions = [Caution("order_kept")] if settings.keep_order else []
        unknown_kept = [c for c in kept if c not in own.roles.kept]
        cautions += [Caution("kept_column", column=repr(c)) for c in unknown_kept]
        protection.notes[:0] = cautions
        result = replace(
            _result(plan, protection, judgement, questions, description),
            drops=file.drop,
            beside=self.beside,
            budget=limits_suppressed(protection.policy) and not limits_suppressed(own),
            dropped_columns=_columns_left_out(
                questions, {*protection.roles.measured_columns, *kept}
            ),
        )
        manifest_file = self.paths.manifest
        if self.paths.release is None or manifest_file is None or judgement.met is not True:
            raise _NothingIsWritten(result)
        return self._confirm(file, plan, result, manifest_file)

    def _judged_file(
        self, protection: Protection, plan: ProtectionPlan, kept: tuple[str, ...]
    ) -> tuple[ReleaseFile, Judgement]:
        """Write the release of a protection where it is needed, and judge it."""
        settings = self.plan.settings
        file = ReleaseFile(
            path=self.paths.release or self.paths.private / f"release.{self.paths.kind}",
            secrets_path=self.paths.secrets or self.paths.private / f"secrets.{self.paths.kind}",
            kind=self.paths.kind,
            table=self.table,
            questions=self.questions,
            protection=protection,
            measuring=plan.measuring,
            drop=settings.rows_of_suppressed == DROP or protection.drops,
            seed=None if settings.keep_order else settings.seed,
        )
        return file, self._judge(file, protection, kept)

    def _judge(self, file: ReleaseFile, protection: Protection, kept: tuple[str, ...]) -> Judgement:
        """Judge the release; write it first if it has to be read back, or may go out."""
        settings = self.plan.settings
        source = self.source
        judgement = protection.judgement
        is_read_back = self.paths.release is not None or file.suppresses_beside_kept
        if judgement is None or (is_read_back and judgement.met):
            self.clock("writing the release", self.questions)
            with files.name_output(Path(str(settings.out or "release"))):
                records = recoded_records(self.questions, protection, kept, drop=file.drop)
                if records is not None:
                    file.write_in_engine(self.paths.with_person, records)
                else:
                    file.write_from_memory(self.paths.with_person, kept)
        if judgement is None:
            rows = settings.rows_of_suppressed
            judgement = file.judge(source)
            _, drops = settle_suppressed(judgement.verdicts, rows)
            if drops and not file.drop:
                file.drop = True
                file.write_from_memory(self.paths.with_person, kept)
                judgement = file.judge(source)
            gone = protection.release.suppressed_records if protection.release else 0
            protection.notes.extend(suppression_remarks(gone, rows, drops=file.drop))
        judgement = file.judge_kept_columns(judgement, source)
        if self.paths.release is not None:
            judgement = file.judge_kept_order(judgement, source)
        return judgement.resting_on(ORDER_STAYS if settings.keep_order else ORDER_BY_HASH)

    def _confirm(
        self, file: ReleaseFile, plan: ProtectionPlan, result: Protected, manifest_file: Path
    ) -> Protected:
        """Have a new process assess the written release; write the manifest beside it."""
        self.clock("checking the release", self.questions)
        warnings = (*file.confirm(self.source), *result.warnings)
        names = {name for part in file.parts for name in part.names}
        result = replace(
            result,
            released=True,
            order="kept" if plan.settings.keep_order else "by_hash",
            paired=self.paths.pairing is not None,
            dropped_columns=_columns_left_out(self.questions, names),
            warnings=warnings,
        )
        content = manifest(result, file.parts, plan, drop=file.drop)
        content |= self._order(file)
        text = json.dumps(content, indent=1, sort_keys=True)
        manifest_file.write_text(f"{text}\n", encoding="utf-8")
        return result

    def _order(self, file: ReleaseFile) -> dict[str, Any]:
        """Write the pairing file; return the entries of the manifest on it and on the order."""
        if file.seed is None:
            return {"order": "kept"}
        entries: dict[str, Any] = {"order": "by_hash", "seed": file.seed}
        if self.paths.pairing is not None:
            original = OriginalFile(self.plan.settings.data, self.table)
            file.write_pairing(self.paths.pairing, original)
            entries["pairing"] = {"sha256": files_sha256([self.paths.pairing]), "internal": True}
        return entries


class _NothingIsWritten(Exception):  # noqa: N818
    """Carry a result without a release, so that unfinished files are removed."""

    def __init__(self, result: Protected) -> None:
        super().__init__()
        self.result = result


def _tables(given: Any) -> list[Any]:
    """List the tables of an option that takes one or several."""
    if is_one_table(given):
        return [given]
    return list(given)


def _read_levels(
    settings: ProtectSettings, policy: Policy
) -> tuple[Mapping[str, int] | None, dict[str, Any]]:
    """Read the levels of a given recoding, and all hierarchies that are known."""
    levels = settings.levels
    fixed: Mapping[str, Any] = {}
    if isinstance(levels, str | os.PathLike):
        levels, fixed = read_recoding(levels)
    return levels, {**policy.hierarchies, **fixed, **(settings.hierarchies or {})}


def _share_to_suppress(settings: ProtectSettings, policy: Policy, how: How, records: int) -> float:
    """The largest share of the records that may be suppressed."""
    if how != FULL and not METHODS[how].suppresses:
        return 0.0
    stated = settings.suppress
    return share_to_suppress(policy, records) if stated is None else stated


def _check_table(
    table: Table, questions: Questions, settings: ProtectSettings, policy: Policy, how: How
) -> None:
    """Refuse a count state, or an engine on another machine, if the records are needed."""
    require(
        table.state is None or (settings.out is None and how == FULL),
        "a count state has no records: it is searched by --how full, and nothing is written",
        hint="the table, with the levels that were found",
    )
    require(
        table.state is None or not {*policy.roles.kept} & {*questions.columns},
        "a count state does not have the columns that the policy keeps",
        hint="the table itself",
    )
    require(
        questions.engine.records_here or how == FULL,
        f"--how {how} needs the records here, not on {questions.engine.name}",
        hint="--how full, or the table as a file",
    )


def _result(
    plan: ProtectionPlan,
    protection: Protection,
    judgement: Judgement,
    questions: Questions,
    description: Mapping[str, Any],
) -> Protected:
    """Put the result together, as long as no release is written.

    A method that keeps every limit, and still breaches one, is an error of this program.
    """
    release = protection.release
    breached = [
        verdict
        for verdict in judgement.verdicts
        if verdict.met is False
        and verdict.reading not in NOT_KEPT
        and verdict.scope is None  # limits are kept in the classes that a method makes
    ]
    require(
        release is None or not release.holds or not breached,
        NOT_CHECKED,
        error=InvariantError,
    )
    return Protected(
        table=description,
        roles=protection.given_roles,
        how=plan.how,
        minimised=plan.settings.loss if release is None else release.minimised,
        columns=protection.columns,
        recoding=protection.recoding,
        policy=judgement,
        allowed=share_of_records(plan.suppress, questions.records),
        released=False,
        unmet=protection.unmet,
        release=release,
        frontier=protection.frontier,
        limit=protection.limit,
        earlier=protection.earlier,
        stopped=protection.stopped,
        warnings=tuple(protection.notes),
    )


def _columns_left_out(questions: Questions, kept: Collection[str]) -> tuple[str, ...]:
    """List the columns that the release does not have."""
    return tuple(c for c in questions.columns if c not in kept)


def make_release(
    questions: Questions, requested: RequestedRoles, plan: ProtectionPlan, clock: Clock
) -> Protection:
    """Make the release of a method that changes records; it is yet to be judged."""
    how = plan.how
    start = prepare(questions, requested, plan)
    roles = start.roles
    notes = start.notes
    classes = count_combinations(questions, roles.quasi, ()).classes
    trees, sources = assign_hierarchies(
        classes.value_counts,
        roles,
        plan.measuring.hierarchies,
        notes,
        proposed=METHODS[how].suppresses,
    )
    clock(f"making the release ({how})", questions)
    table = RecordTable(
        columns=read_columns(questions, {*roles.quasi, *roles.sensitive, *plan.keep}),
        roles=roles,
        policy=start.policy,
        measuring=plan.measuring,
        hierarchies=trees,
        suppress=plan.suppress,
        full_domain=partial(_full_domain_levels, questions, requested, plan, clock),
    )
    release = method(how)(table, plan.settings)
    protection = _protection_of(release, table, start, sources)
    make_other = release.instead
    if make_other is None:
        return protection

    def other() -> Protection:
        return _protection_of(make_other(), table, start, sources)

    return replace(protection, instead=other)


def _protection_of(
    release: RecordRelease, table: RecordTable, start: Preparation, sources: Mapping[str, str]
) -> Protection:
    """Put a release of the records of a table beside what it will be judged by."""
    roles = start.roles
    apart = {column.name for column in release.secrets} & {*roles.sensitive}
    own = {name: c for name, c in table.columns.items() if name not in apart}
    columns = [*{**own, **release.columns}.values()]
    if release.chosen is not None:
        columns = [column.only(release.chosen) for column in columns]
    levels = {}
    for column in columns:
        if column.name in roles.quasi:
            tree = table.hierarchies.get(column.name)
            levels[column.name] = ColumnLevel(
                level=None,
                height=None,
                hierarchy=sources.get(column.name),
                labels=len(set(column.texts)),
                fixed=tree.fixed if tree else None,
            )
    # Too many suppressed records are a breach, also if none may be suppressed.
    policy = limit_suppressed(start.policy, 0) if release.suppressed_records else start.policy
    return Protection(
        roles=roles,
        policy=policy,
        gate=start.gate,
        columns=levels,
        notes=[*start.notes, *release.notes],
        release=release,
        file_columns=columns,
    )


def _full_domain_levels(
    questions: Questions, requested: RequestedRoles, plan: ProtectionPlan, clock: Clock
) -> Mapping[str, int] | None:
    """Search for the levels of the full-domain release that meets the policy; None without one."""
    found = find_protection(questions, requested, replace(plan, how=FULL), clock)
    if found.recoding is None or found.judgement is None or found.judgement.met is not True:
        return None
    return {name: column.level or 0 for name, column in found.columns.items()}
