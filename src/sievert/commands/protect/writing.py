"""A release as a file: written, assessed, confirmed in a process of its own, with its manifest."""

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
MEANS = ("memory", "threads", "temp", "master")  # with which a release is read back, as the table


# A fresh number that nobody has seen before.
JOINS = KeptColumn(reason="it joins the two tables", outsiders_cannot_know=True)


@dataclass(frozen=True)
class ReleasePart:
    """A file of a release, and what is held against it: the roles of its columns, the limits."""

    path: Path
    names: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    policy: Policy
    fresh: tuple[str, ...] = ()  # keys that were made for it


class ReleaseFile:
    """A release as a file, and how it is read back: its secrets as those of the original.

    Where a method puts the secrets into a table of their own, there are two files. Limits about
    finding a person are held against the first, those about secrets against the second, in which
    the classes are its groups: nobody can learn more than which group a person is in.
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
        """Read the records, and write them; with a person beside, where people are counted."""
        columns, suppressed = release_columns(self.questions, self.protection, keep)
        names, people = [c.name for c in columns], self.protection.people
        # People can be counted in no other way: with their person beside, in a private file that
        # is not kept. Where the release holds the person there is no need.
        if people is not None and people.person not in names:
            columns.append(person_column(people))
            self.with_person = with_person
        release = self.protection.release
        rows = np.arange(1, len(columns[0].codes) + 1)
        if release is not None and release.chosen is not None:
            rows = release.chosen + 1
        if self.drop:
            columns, rows = [c.only(~suppressed) for c in columns], rows[~suppressed]
        if self.seed is not None:
            order = order_by_hash(columns[: len(names)], order_key(self.seed))
            columns, self.row_numbers = [c.only(order) for c in columns], rows[order]
        self._write(self.path, columns[: len(names)])
        if self.with_person is not None:
            self._write(self.with_person, columns)
        self.parts = [self._whole(names)]
        if release is not None and release.secrets:
            self.parts = self._apart(names, release.secrets)

    def _whole(self, names: Iterable[str]) -> ReleasePart:
        roles, policy = self.protection.given_roles, self.protection.policy
        return ReleasePart(
            path=self.path,
            names=tuple(names),
            quasi=roles.quasi,
            sensitive=roles.sensitive,
            policy=policy,
        )

    def _apart(self, names: Sequence[str], secrets: Sequence[FileColumn]) -> list[ReleasePart]:
        """Write the secrets into a file of their own; both files, and what each is held against.

        Its order has a key of its own, so that rows of the two files do not go together.
        """
        if self.seed is not None:
            order = order_by_hash(secrets, order_key(self.seed, "secrets"))
            secrets = [column.only(order) for column in secrets]
        self._write(self.secrets_path, secrets)
        roles, policy = self.protection.given_roles, self.protection.policy
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
        """Let the engine write the release from its own records; with a person, as above."""
        engine, people = self.questions.engine, self.protection.people
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
        """Write which row of the original each row of the release is; the release is written."""
        assert self.row_numbers is not None
        details = pairing_details(self.path, original, self.questions.records)
        write_row_numbers(self.questions.engine, self.row_numbers, path, details)

    def _csv(self) -> dict[str, Any]:
        """A text file is written as the input is."""
        csv = self.table.kind == "csv"
        return {
            "delimiter": (csv and self.table.delimiter) or ",",
            "header": not csv or self.table.header,
        }

    def _write(self, path: Path, columns: Sequence[FileColumn]) -> None:
        write_release(path, self.kind, columns, self.questions, **self._csv())

    def judge(self, source: Mapping[str, Any]) -> Judgement:
        """The policy held against the file; what stands against the table stands against it."""
        gate, release = self.protection.gate, self.protection.release
        if release is not None and release.gone.all():
            gate.not_met("all_suppressed")
            return replace(gate.judge(()), reasons=tuple(gate.reasons))
        of_files = [judge(part.path, *self._order(part, source)) for part in self._limited]
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
        """Of secrets without a limit how many people are in classes where all have one value.

        A file that no limit is about is assessed for this number only.
        """
        others = [part for part in self.parts if part.sensitive and part not in self._limited]
        judged = [*of_files, *(judge(part.path, *self._order(part, source)) for part in others)]
        return {
            each.secret: (each.people, each.of)
            for judgement in judged
            for each in judgement.unjudged
            if each.people is not None and each.of is not None
        }

    @property
    def suppresses_beside_kept(self) -> bool:
        """Whether records are suppressed that share values of kept columns with others.

        Of these columns more people are unique in the release than in the table, then, or more of
        the suppressed ones.
        """
        problem, recoding = self.protection.problem, self.protection.recoding
        if problem is None or recoding is None or not self.protection.roles.kept:
            return False
        return problem.gone_records(recoding) > 0

    def judge_kept_columns(self, judgement: Judgement, source: Mapping[str, Any]) -> Judgement:
        """Add to the `judgement` of a search what kept columns tell of people in the release.

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
        """Add to the `judgement` of written files what the order of the input tells in them.

        The released files themselves are looked at, and not those with a person beside. `source`
        says how the table is read.
        """
        stated = self.protection.policy.release.order is not None
        if self.seed is not None or stated or not judgement.met:
            return judgement
        telling: dict[str, None] = {}
        for part in self.parts:
            telling |= dict.fromkeys(self._told_by_order(part, source))
        if not telling:
            return judgement
        reason = GateReason("order_tells", None, tuple(telling))
        return replace(judgement, reasons=(*judgement.reasons, reason))

    def _told_by_order(self, part: ReleasePart, source: Mapping[str, Any]) -> tuple[str, ...]:
        """The columns of a file that the order of its rows tells more of than their values do.

        DuckDB reads the file, whatever wrote it: it has rows in an order.
        """
        _, options = self._order(part, source)
        reading = {o: options[o] for o in OPTIONS if o in options and o not in ENGINE_OPTIONS}
        with open_source(part.path, **reading) as (_, questions):
            return examine_order(questions, part.names, options["orders"]).tells

    def confirm(self, source: Mapping[str, Any]) -> list[Remark]:
        """The cautions of a new process; an error unless it meets the policy with every file."""
        cautions = []
        for part in self._limited:
            path, order = self.with_person or part.path, self._order(part, source)
            cautions += confirm(path, *order, self._records, released=part.path)
        return list(dict.fromkeys(cautions))

    @property
    def _records(self) -> int | None:
        """How many records the file must have; None where its method decides."""
        recoding = self.protection.recoding
        if recoding is None or self.protection.problem is None:
            return None
        gone = self.protection.problem.gone_records(recoding) if self.drop else 0
        return self.questions.records - gone

    @property
    def _limited(self) -> list[ReleasePart]:
        """The files that a limit is held against; all of them if none is."""
        return [p for p in self.parts if any(p.policy.every_limit())] or self.parts

    def _order(
        self, part: ReleasePart, source: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The policy for the columns of a file, and how the file is read."""
        measuring = self.measuring
        options: dict[str, Any] = {
            "quasi": list(part.quasi),
            "sensitive": list(part.sensitive),
            "identifier": [c for c in self.protection.roles.identifier if c in part.names],
            "fresh": list(part.fresh),
            # The private file with the person beside is not the one that goes out.
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
        options["suppressed"] = ROOT  # which we write, whatever mark the policy has for others
        if self.kind == "csv":
            types = {c: t for c, t in (source.get("types") or {}).items() if c in part.sensitive}
            options |= {"types": types or None, **self._csv()}
        person = self.protection.roles.person
        beside = [person] if self.with_person and person else []
        return to_tables(part.policy, [*part.names, *beside]), options


def with_dropped(verdict: Verdict, dropped: int) -> Verdict:
    """The verdict on suppressed records with those that are not in the file any more."""
    if verdict.measure != "suppressed_records" or verdict.value is None or not dropped:
        return verdict
    number = verdict.value + dropped
    least, most = verdict.min, verdict.max
    met = (least is None or number >= least) and (most is None or number <= most)
    return replace(verdict, value=number, met=met)


def split_policy(policy: Policy, group: str, secrets: Sequence[str]) -> tuple[Policy, Policy]:
    """What a policy asks of a table of people with groups, and of a table of their secrets."""
    everywhere = policy.everywhere
    about = {
        kind: {m: limit for m, limit in everywhere.items() if kind in BY_ID[m].kinds}
        for kind in ("record", "secret")
    }
    of_people = policy.model_copy(
        update={
            "roles": policy.roles.model_copy(update={"kept": {**policy.roles.kept, group: JOINS}}),
            "parameters": policy.parameters.model_copy(update={"alpha_k": None}),
            "everywhere": {},
            "reidentification": {**about["record"], **policy.reidentification},
            "inference": {},
        }
    )
    return of_people, policy.model_copy(
        update={
            "roles": policy.roles.model_copy(update={"quasi": (group,)}),
            "everywhere": {},
            "reidentification": {},
            "inference": {s: {**about["secret"], **policy.inference.get(s, {})} for s in secrets},
        }
    )


def _plain_hierarchy(tree: Any) -> Any:
    """A hierarchy as JSON has it: a text, the labels of every value, or a tree."""
    labels = tree.labels if isinstance(tree, Hierarchy) else tree
    return dict(labels) if isinstance(labels, Mapping) else str(tree)


def person_column(people: PeopleQuestions) -> FileColumn:
    """The person of every record as a number, for the check of a release without this column."""
    records = people.rows.records_in_order([people.person])
    numbers = [None if text is None else str(n) for n, text in enumerate(records.values[0])]
    return FileColumn(people.person, numbers, records.codes[0])
