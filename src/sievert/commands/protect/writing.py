"""A release as a file: it is written, judged, and confirmed by a process of its own."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.checks.kept_columns import KEPT_UNIQUE
from sievert.checks.row_order import examine_order
from sievert.commands.protect.check import confirm, judge
from sievert.commands.protect.protection import Protection, release_columns
from sievert.counts.people import PeopleQuestions
from sievert.counts.questions import Questions
from sievert.counts.recoded_records import RecodedRecords
from sievert.counts.release_order import order_key
from sievert.counts.row_pairing import write_row_numbers
from sievert.formatting.remarks import Remark
from sievert.hierarchies import ROOT, Hierarchy
from sievert.measurement.table_measures import MeasureSettings
from sievert.measures import BY_ID
from sievert.pairing.pairing_file import OriginalFile, pairing_details
from sievert.policy import GateReason, Judgement, KeptColumn, Policy, Verdict, to_tables
from sievert.releases.files import FileColumn, order_by_hash, write_release
from sievert.session import OPTIONS, open_source
from sievert.sources.table import Table

ENGINE_OPTIONS = ("engine", "master")
MEANS = ("memory", "threads", "temp", "master")  # options to read a release back like the table
# The reason for a column of fresh numbers that nobody has seen before.
JOINS = KeptColumn(reason="it joins the two tables", outsiders_cannot_know=True)


@dataclass(frozen=True, kw_only=True)
class ReleasePart:
    """A file of a release, with the roles of its columns and the limits by which it is judged."""

    path: Path
    names: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    policy: Policy
    fresh: tuple[str, ...] = ()  # keys that were made for the release


class ReleaseFile:
    """A release as a file; it is read back with the options by which the original was read.

    If a method puts the secrets into a table of their own, there are two files. Limits on
    re-identification judge the first file, and limits on secrets the second one. The classes of the
    second file are its groups, because nobody can learn more than the group of a person.
    """

    def __init__(
        self,
        *,
        path: Path,
        secrets_path: Path,
        kind: str,
        table: Table,
        questions: Questions,
        protection: Protection,
        measuring: MeasureSettings,
        drop: bool,
        seed: int | None,
    ) -> None:
        self.path = path
        self.secrets_path = secrets_path
        self.kind = kind
        self.table = table
        self.questions = questions
        self.protection = protection
        self.measuring = measuring
        self.drop = drop
        self.seed = seed  # of the order of records; None if it is that of the input
        self.row_numbers: Ints | str | None = None  # of released rows, or the table that has them
        self.parts: list[ReleasePart] = []
        self.with_person: Path | None = None

    def write_from_memory(self, with_person: Path, keep: Iterable[str]) -> None:
        """Read the records and write them; if people are counted, also a private file with them."""
        columns, suppressed = release_columns(self.questions, self.protection, keep)
        names = [c.name for c in columns]
        people = self.protection.people
        # To count people, a private file that is not kept has the column of the person, too.
        # There is no need for it if the release has this column.
        if people is not None and people.person not in names:
            columns.append(person_column(people))
            self.with_person = with_person
        release = self.protection.release
        rows = np.arange(1, len(columns[0].codes) + 1)
        if release is not None and release.chosen is not None:
            rows = release.chosen + 1
        if self.drop:
            columns = [c.only(~suppressed) for c in columns]
            rows = rows[~suppressed]
        if self.seed is not None:
            order = order_by_hash(columns[: len(names)], order_key(self.seed))
            columns = [c.only(order) for c in columns]
            self.row_numbers = rows[order]
        self._write(self.path, columns[: len(names)])
        if self.with_person is not None:
            self._write(self.with_person, columns)
        self.parts = [self._whole(names)]
        if release is not None and release.secrets:
            self.parts = self._apart(names, release.secrets)

    def _whole(self, names: Iterable[str]) -> ReleasePart:
        """The release as one file, judged by the whole policy."""
        roles = self.protection.given_roles
        policy = self.protection.policy
        return ReleasePart(
            path=self.path,
            names=tuple(names),
            quasi=roles.quasi,
            sensitive=roles.sensitive,
            policy=policy,
        )

    def _apart(self, names: Sequence[str], secrets: Sequence[FileColumn]) -> list[ReleasePart]:
        """Write the secrets into a file of their own; return both files with their limits.

        The order of the file has its own key, so that rows of the two files do not correspond.
        """
        if self.seed is not None:
            order = order_by_hash(secrets, order_key(self.seed, "secrets"))
            secrets = [column.only(order) for column in secrets]
        self._write(self.secrets_path, secrets)
        roles = self.protection.given_roles
        policy = self.protection.policy
        group, *named = (c.name for c in secrets)
        of_people, of_secrets = split_policy(policy, group, roles.sensitive)
        return [
            ReleasePart(
                path=self.path,
                names=tuple(names),
                quasi=roles.quasi,
                sensitive=(),
                policy=of_people,
                fresh=(group,),
            ),
            ReleasePart(
                path=self.secrets_path,
                names=(group, *named),
                quasi=(group,),
                sensitive=tuple(named),
                policy=of_secrets,
            ),
        ]

    def write_in_engine(self, with_person: Path, records: RecodedRecords) -> None:
        """Let the engine write the release from its own records, and a private file with people."""
        engine = self.questions.engine
        people = self.protection.people
        key = None if self.seed is None else order_key(self.seed)
        if people is not None and people.person not in records.names:
            beside = replace(records, names=(*records.names, people.person))
            places = engine.write_release(beside, with_person, self.kind, key=key, **self._csv())
            if places is not None:
                engine.forget(places)
            self.with_person = with_person
        self.row_numbers = engine.write_release(
            records, self.path, self.kind, key=key, **self._csv()
        )
        self.parts = [self._whole(records.names)]

    def write_pairing(self, path: Path, original: OriginalFile) -> None:
        """Write the number of the original row of each row of the release, which is written."""
        assert self.row_numbers is not None
        details = pairing_details(self.path, original, self.questions.records)
        write_row_numbers(self.questions.engine, self.row_numbers, path, details)

    def _csv(self) -> dict[str, Any]:
        """The delimiter and the header of a text file, as in the input."""
        csv = self.table.kind == "csv"
        return {
            "delimiter": (csv and self.table.delimiter) or ",",
            "header": not csv or self.table.header,
        }

    def _write(self, path: Path, columns: Sequence[FileColumn]) -> None:
        write_release(path, self.kind, columns, self.questions, **self._csv())

    def judge(self, source: Mapping[str, Any]) -> Judgement:
        """Judge the files of the release by the policy, and by all reasons of the table's gate."""
        gate = self.protection.gate
        release = self.protection.release
        if release is not None and release.gone.all():
            gate.not_met("all_suppressed")
            return replace(gate.judge(()), reasons=tuple(gate.reasons))
        of_files = [judge(part.path, *self._order(part, source)) for part in self._limited_parts]
        gate.certain = self._certain(of_files, source)
        dropped = release.suppressed_records if release is not None and self.drop else 0
        gate.suppressed_records = dropped + sum(each.suppressed_records for each in of_files)
        verdicts = [verdict for each in of_files for verdict in each.verdicts]
        of_table = gate.judge([with_dropped(verdict, dropped) for verdict in verdicts])
        reasons = [reason for each in (of_table, *of_files) for reason in each.reasons]
        return replace(of_table, reasons=tuple(dict.fromkeys(reasons)))

    def _certain(
        self, of_files: Sequence[Judgement], source: Mapping[str, Any]
    ) -> dict[str, tuple[int, int]]:
        """Count the people in classes with one value, and all people, for secrets without a limit.

        A file without a limit is assessed only for these numbers.
        """
        others = [part for part in self.parts if part.sensitive and part not in self._limited_parts]
        judged = [*of_files, *(judge(part.path, *self._order(part, source)) for part in others)]
        certain = {}
        for judgement in judged:
            for each in judgement.unjudged:
                if each.people is not None and each.of is not None:
                    certain[each.secret] = (each.people, each.of)
        return certain

    @property
    def suppresses_beside_kept(self) -> bool:
        """Tell whether records are suppressed in a release with kept columns.

        More people can be unique by these columns in the release then than in the table.
        """
        problem = self.protection.problem
        recoding = self.protection.recoding
        if problem is None or recoding is None or not self.protection.roles.kept:
            return False
        return problem.count_suppressed(recoding) > 0

    def judge_kept_columns(self, judgement: Judgement, source: Mapping[str, Any]) -> Judgement:
        """Add to the `judgement` of a search how kept columns help to find people in the release.

        The files are written; `source` says how the table is read.
        """
        if not judgement.met or not self.suppresses_beside_kept:
            return judgement
        of_files = [
            judge(self.with_person or part.path, *self._order(part, source)) for part in self.parts
        ]
        reasons = [r for each in of_files for r in each.reasons if r.what == KEPT_UNIQUE]
        return replace(judgement, reasons=(*judgement.reasons, *dict.fromkeys(reasons)))

    def judge_kept_order(self, judgement: Judgement, source: Mapping[str, Any]) -> Judgement:
        """Add to the `judgement` what the order of the input tells in the written files.

        The released files are examined, and not the private file with people. `source` says how the
        table is read.
        """
        stated = self.protection.policy.release.order is not None
        if self.seed is not None or stated or not judgement.met:
            return judgement
        columns: dict[str, None] = {}
        for part in self.parts:
            columns |= dict.fromkeys(self._columns_in_runs(part, source))
        if not columns:
            return judgement
        reason = GateReason("order_tells", None, tuple(columns))
        return replace(judgement, reasons=(*judgement.reasons, reason))

    def _columns_in_runs(self, part: ReleasePart, source: Mapping[str, Any]) -> tuple[str, ...]:
        """Name the columns of a file about which the order of its rows tells more than the values.

        DuckDB reads the file, no matter what engine wrote it, because DuckDB keeps the order.
        """
        _, options = self._order(part, source)
        reading = {o: options[o] for o in OPTIONS if o in options and o not in ENGINE_OPTIONS}
        with open_source(part.path, **reading) as (_, questions):
            return examine_order(questions, part.names, options["orders"]).tells

    def confirm(self, source: Mapping[str, Any]) -> list[Remark]:
        """Have a new process assess every file; return its cautions, or raise an error.

        It is an error if a file does not meet its policy there.
        """
        cautions = []
        for part in self._limited_parts:
            path = self.with_person or part.path
            order = self._order(part, source)
            cautions += confirm(path, *order, self._records, released=part.path)
        return list(dict.fromkeys(cautions))

    @property
    def _records(self) -> int | None:
        """The number of records that the file must have; None if its method decides."""
        recoding = self.protection.recoding
        if recoding is None or self.protection.problem is None:
            return None
        gone = self.protection.problem.count_suppressed(recoding) if self.drop else 0
        return self.questions.records - gone

    @property
    def _limited_parts(self) -> list[ReleasePart]:
        """The files with a limit; all files if none has one."""
        return [p for p in self.parts if any(p.policy.every_limit())] or self.parts

    def _order(
        self, part: ReleasePart, source: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The policy for the columns of a file, and the options to read and assess the file."""
        measuring = self.measuring
        options: dict[str, Any] = {
            "quasi": list(part.quasi),
            "sensitive": list(part.sensitive),
            "identifier": [c for c in self.protection.roles.identifier if c in part.names],
            "fresh": list(part.fresh),
            # The private file with people is not the one that goes out.
            "planned": self.with_person is not None,
            "orders": {c: list(o) for c, o in measuring.orders.items() if c in part.names},
            "hierarchies": {
                s: _plain_hierarchy(tree)
                for s, tree in measuring.hierarchies.items()
                if s in part.sensitive
            },
            "parameters": {
                m: p for m, p in measuring.parameters.items() if part.sensitive or m != "alpha_k"
            },
        }
        means = {o: source[o] for o in MEANS if source.get(o) is not None}
        options |= {o: os.fspath(v) if isinstance(v, os.PathLike) else v for o, v in means.items()}
        if self.questions.engine.writes_parts:
            options["engine"] = self.questions.engine.name
        options["suppressed"] = ROOT  # the mark that we write, and not those of the policy
        if self.kind == "csv":
            types = {c: t for c, t in (source.get("types") or {}).items() if c in part.sensitive}
            options |= {"types": types or None, **self._csv()}
        person = self.protection.roles.person
        beside = [person] if self.with_person and person else []
        return to_tables(part.policy, [*part.names, *beside]), options


def with_dropped(verdict: Verdict, dropped: int) -> Verdict:
    """Add `dropped` records to a verdict on suppressed records, as the file has them no more."""
    if verdict.measure != "suppressed_records" or verdict.value is None or not dropped:
        return verdict
    number = verdict.value + dropped
    least = verdict.min
    most = verdict.max
    met = (least is None or number >= least) and (most is None or number <= most)
    return replace(verdict, value=number, met=met)


def split_policy(policy: Policy, group: str, secrets: Sequence[str]) -> tuple[Policy, Policy]:
    """Split a policy into one for the table of people with groups and one for that of secrets."""
    about_records = {}
    about_secrets = {}
    for measure, limit in policy.everywhere.items():
        if "record" in BY_ID[measure].kinds:
            about_records[measure] = limit
        if "secret" in BY_ID[measure].kinds:
            about_secrets[measure] = limit
    of_people = policy.model_copy(
        update={
            "roles": policy.roles.model_copy(update={"kept": {**policy.roles.kept, group: JOINS}}),
            "parameters": policy.parameters.model_copy(update={"alpha_k": None}),
            "everywhere": {},
            "reidentification": {**about_records, **policy.reidentification},
            "inference": {},
        }
    )
    of_secrets = policy.model_copy(
        update={
            "roles": policy.roles.model_copy(update={"quasi": (group,)}),
            "everywhere": {},
            "reidentification": {},
            "inference": {s: {**about_secrets, **policy.inference.get(s, {})} for s in secrets},
        }
    )
    return of_people, of_secrets


def _plain_hierarchy(tree: Any) -> Any:
    """Turn a hierarchy into JSON: a text, the labels of every value, or a tree."""
    labels = tree.labels if isinstance(tree, Hierarchy) else tree
    return dict(labels) if isinstance(labels, Mapping) else str(tree)


def person_column(people: PeopleQuestions) -> FileColumn:
    """Number the person of every record, for the check of a release without this column."""
    records = people.rows.records_in_order([people.person])
    numbers = [None if text is None else str(n) for n, text in enumerate(records.values[0])]
    return FileColumn(people.person, numbers, records.codes[0])
