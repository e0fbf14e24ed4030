"""Attacks on a release by somebody who has more than the release: a register, the original."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from sievert.arrays import Ints
from sievert.attacks.attack import Attack, to_hierarchy, value
from sievert.attacks.identity import Matching, grey_box, white_box
from sievert.attacks.reasoning.priors import Weights
from sievert.attacks.reasoning.result import Reasoning
from sievert.attacks.reasoning.settings import ReasoningSettings
from sievert.attacks.release_attacks import attack_release, check_named
from sievert.commands._common import (
    Clock,
    Reading,
    RequestedRoles,
    describe_input,
    describe_table,
    load_policy,
    requested_roles,
    treat_missing,
)
from sievert.commands.attack.reasoning import Reasoner, group_of
from sievert.commands.attack.result import Attacks
from sievert.counts import record_pairs
from sievert.counts.cube import Cube
from sievert.errors import InputError, InvariantError, UsageError, unknown
from sievert.formatting import percent
from sievert.hierarchies import NUMBER
from sievert.notes import Count, Name, Note
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions

if TYPE_CHECKING:
    from sievert.counts.questions import Questions
    from sievert.policy import Policy

LARGE = 10**5  # records from which plain columns are counted from packed keys
BOXES = ("black_box", "grey_box", "white_box", "linkage")
FOR_THE_RELEASE = ("engine", "master", "types")  # how to read; the rest goes for all tables


def attack(
    release: Any,
    original: Any = None,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    register: Any = None,
    key: str | None = None,
    sensitive_table: Any = None,
    group: str | None = None,
    reasoning: bool = True,
    likelihood: str = "product",
    alpha: Weights = 1.0,
    beta: Weights = 1.0,
    domain: str | Mapping[str, Any] = "cross",
    method: str = "auto",
    chains: int | None = None,
    sweeps: int | None = None,
    seed: int = 0,
    records: str | os.PathLike[str] | None = None,
    force: bool = False,
    value: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    partitions: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    policy: Policy | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    show_values: bool = False,
    missing: str = "value",
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> Attacks:
    """Attack a release as somebody would who reasons, has a register, or the original.

    Parameters
    ----------
    release
        The released table: a path, a frame, a dict of lists; or two of them, as Anatomy makes
        them: people with their group, groups with their secrets.
    original
        The table that the release was made of: do released values give the original ones away, and
        is somebody right who reasons?
    quasi, sensitive, identifier
        Columns an outsider could know; secrets; columns that are dropped before release.
    register
        A table of outsiders that shares quasi-identifiers with the release: who are the candidates?
    key
        A column that tells people apart, the same in all tables. Without it, the original must have
        its records in the order of the release.
    sensitive_table, group
        Of a release in two tables the second, and the column that joins them. With a group but
        without a second table, who has which secret is taken to be unknown within a group.
    reasoning
        Whether somebody reasons about the secrets, by Bayes' rule.
    likelihood
        "product": columns are independent given the secret; "saturated": every combination of
        values is a symbol of its own.
    alpha, beta
        Weights before the release is seen: of each secret, and of each value given the secret; a
        number, or a mapping (of columns, of secrets, of values).
    domain
        What values columns may have: "cross" (hierarchies and the release say), "observed" (those
        of the original), or a mapping of columns to lists, files or "LOW..HIGH".
    method, chains, sweeps, seed
        "auto" solves in closed form or counts all tables where it can, else samples ("gibbs") with
        so many chains (4, or 8 for a release in two tables), each of at most so many sweeps.
    records
        Write one row a record to this .csv or .parquet file: of the original what is believed of
        its secret, and whether it is at risk; of the release, without the original, what those
        believe whose values fit.
    value
        Of each secret the value whose rise in a class matters, such as ``{"disease": "HIV"}``.
    hierarchies
        How values were generalised, and how those of a secret are merged by meaning: a `Hierarchy`,
        a file, "prefix", "interval:5,10,20".
    partitions
        How values of a secret are merged by meaning: parts and their values.
    policy
        A `Policy`, a TOML file, or its content as a dict: its roles and partitions are used.
    show_values
        Name values of the data in the result.
    missing
        What a missing quasi-identifier is: a "value" of its own, a "wildcard" that matches anything
        (there are then no classes, and only register and original are looked at), a reason to
        "drop" the record, or an "error".
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp. The types and
        the engine are those of the release.

    >>> release = {"age": ["2*", "2*", "3*", "3*"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> register = {"name": ["Ann", "Bob"], "age": ["22", "35"]}
    >>> ages = {"22": ["2*"], "25": ["2*"], "35": ["3*"]}
    >>> tables = {"register": register, "hierarchies": {"age": ages}}
    >>> found = attack(release, quasi="age", sensitive="disease", **tables)
    >>> found["identity"]["grey_box"].numbers["candidates"].value
    2
    >>> round(found.beliefs["35"]["attacker"]["hiv"], 6)
    0.5
    """
    house = load_policy(policy)
    requested = requested_roles(house, quasi, sensitive, identifier)
    parts: dict[str, Mapping[str, Iterable[str]]] = dict(partitions or {})
    if house is not None:
        parts = {**house.partitions, **parts}
    if key is not None and register is None and original is None:
        raise UsageError("a key links tables", hint="--register FILE or --original FILE")
    if isinstance(release, tuple):
        if len(release) != 2 or sensitive_table is not None:
            raise UsageError("a release has one table or two", hint="(people, secrets)")
        release, sensitive_table = release
    if records is not None and not reasoning:
        raise UsageError("--records tells what somebody believes who reasons")
    clock = Clock(watch)
    run = _Run(
        clock, dict(hierarchies or {}), parts, value or {}, key, missing, show_values, source
    )
    settings = ReasoningSettings(likelihood, alpha, beta, domain, method, chains, sweeps, seed)
    settings.check()
    asked = settings != ReasoningSettings(seed=seed) or original is not None
    if reasoning or group is not None or sensitive_table is not None:
        run.reasoner = Reasoner(
            settings,
            group,
            run.hierarchies,
            missing,
            source.get("threads"),
            source.get("timeout"),
            run.notes.append,
            asked=asked or group is not None or sensitive_table is not None,
        )
    if sensitive_table is not None:
        run.secrets(sensitive_table, release, requested)
    rows = records is not None
    run.release(release, requested, verify, register, original, rows)
    if original is not None:
        run.original(original)
    if register is not None:
        run.register(register)
    run.reason()
    if records is not None:
        inputs = [release, sensitive_table, original, register, policy]
        run.write(Path(records), inputs, force)
    clock.stop()
    boxes = run.found["identity"]
    run.found["identity"] = {b: boxes[b] for b in BOXES if b in boxes}
    return Attacks(
        run.table,
        run.roles,
        run.found,
        tuple(run.notes),
        run.unassessed,
        clock.steps,
        clock.peaks,
        run.reasoned,
    )


class _Run:
    """One series of attacks in the making: tables are opened one after the other."""

    def __init__(
        self,
        clock: Clock,
        hierarchies: dict[str, Any],
        partitions: Mapping[str, Mapping[str, Any]],
        named: Mapping[str, str],
        key: str | None,
        missing: str,
        show: bool,
        source: Mapping[str, Any],
    ) -> None:
        self.clock, self.hierarchies, self.partitions = clock, hierarchies, partitions
        self.named, self.key, self.missing, self.show = named, key, missing, show
        self.source, self._opened = source, Reading(clock, {}, LARGE)
        self.others = {k: v for k, v in source.items() if k not in FOR_THE_RELEASE}
        self.notes: list[Note] = []
        self.found: dict[str, dict[str, Attack]] = {"identity": {}}
        self.classes: Cube | None = None
        self.people: Cube | None = None  # of the release, one cell a record
        self.keyed = False
        self.reasoner: Reasoner | None = None
        self.reasoned: dict[str, Reasoning] = {}
        self.hidden: tuple[str, ...] = ()  # secrets in a table of their own

    def _note(self, text: str, *parts: Count | Name) -> None:
        self.notes.append(Note(text, *parts))

    # -- the release ----------------------------------------------------------------------------

    def release(
        self,
        data: Any,
        requested: RequestedRoles,
        verify: bool,
        register: Any,
        original: Any,
        rows: bool = False,
    ) -> None:
        """What the release alone gives away, and what is needed of it for the others."""
        with self._opened(data, verify=verify, **self.source) as (table, questions):
            columns = questions.columns
            apart = self.hidden
            quasi, sensitive, _ = requested.names(columns)
            if (
                quasi
                and not apart
                and self.reasoner is not None
                and self.reasoner.group is not None
            ):
                lost = [s for s in sensitive if s not in columns]
                if lost:
                    raise UsageError(
                        f"the release has no column {lost[0]!r}", hint="--sensitive-table FILE"
                    )
            self.roles, warnings = requested.assign(questions, secrets_apart=bool(apart))
            self.notes += warnings
            self._check((*columns, *apart))
            dropped, notes = requested.prepare(questions, self.roles, self.missing)
            self.notes += notes
            self.table = describe_input(table, questions, self.missing, dropped)
            self.clock("attacking", questions)
            grouped = self.reasoner is not None and self.reasoner.group is not None
            if grouped:
                self._grouped(questions)
            self._alone(questions)
            if self.reasoner is not None and rows and original is None:
                self.reasoner.listed_people(questions, self.roles.quasi, str(self.table["name"]))
            self._identified(questions, dropped, register, None if grouped else original)
            group = self.reasoner.group if self.reasoner is not None else None
            used = {*self.roles.measured_columns, *self.roles.identifier, self.key, group}
            self.unassessed = tuple(c for c in columns if c not in used)

    def secrets(self, data: Any, release: Any, requested: RequestedRoles) -> None:
        """The second table of a release: groups and their secrets."""
        assert self.reasoner is not None
        with self._opened(data, **self.others) as (_, questions):
            self.hidden = requested.names(questions.columns)[1]
            if not self.hidden:
                raise UsageError("no secret given", hint="-s COLUMN of the table of secrets")
            if self.reasoner.group is None:
                with self._opened(release, **self.source) as (_, people):
                    used = (*requested.names(people.columns)[0], *self.hidden)
                    self.reasoner.group = group_of(people.columns, questions.columns, used)
            self.reasoner.listed(questions, self.hidden)

    def _grouped(self, questions: Questions) -> None:
        """A release whose groups do not tell who has which secret."""
        assert self.reasoner is not None
        self.reasoner.in_groups(questions, self.roles.quasi)
        if not self.hidden:
            self.reasoner.listed(questions, self.roles.sensitive)
            self.hidden = self.roles.sensitive
            self.roles = replace(self.roles, sensitive=())
        self._note(
            "in a release by groups, attacks on classes are left out; who finds somebody's row "
            "knows the group and its secrets"
        )

    def reason(self) -> None:
        """Learner and attacker, about every secret."""
        if self.reasoner is None:
            return
        self.reasoned = self.reasoner.reason(self.clock)
        if self.hidden:
            self.roles = replace(self.roles, sensitive=self.hidden)
        if self.reasoned:
            self.found["reasoning"] = {
                secret: found.attack(show=self.show) for secret, found in self.reasoned.items()
            }

    def write(self, path: Path, inputs: Sequence[Any], force: bool) -> None:
        """One row a record: what is believed of its secrets."""
        from sievert import files

        kind = files.record_format(path)
        columns: dict[str, tuple[str, Any]] = {}
        for secret, found in self.reasoned.items():
            held = found.by_record()
            if held is None:
                raise UsageError("the source has no order of records: no file can name them")
            called = files.escape_formula(secret) if kind == "csv" else secret
            many = len(next(iter(held.values()))[1])
            columns.setdefault("record", ("BIGINT", range(1, many + 1)))
            columns |= {f"{called}_{name}": told for name, told in held.items()}
        if not columns:
            raise UsageError("nobody has reasoned here: there is no record to tell of")
        with (
            files.write_whole(path, sources=inputs, force=force) as target,
            self._opened({"record": ["1"]}, outputs=[target]) as (_, questions),
            files.name_output(path),
        ):
            self.clock("writing records", questions)
            assert target is not None
            questions.write_columns(columns, target, kind)

    def _check(self, columns: Sequence[str]) -> None:
        """What was said of columns must make sense for them."""
        check_named(self.named, self.roles.sensitive)
        for what, given in (("hierarchy", self.hierarchies), ("partition", self.partitions)):
            for column in given:
                if column not in columns:
                    raise unknown(f"{what}: column", column, columns)
        for column in self.partitions:
            if column not in self.roles.sensitive:
                self._note("the partition of {} is not used: it is not a secret here", Name(column))
        if self.key is not None and self.key in self.roles.measured_columns:
            raise UsageError(
                f"the key {self.key!r} tells everybody apart: it is no role of a release",
                hint="-q and -s without it",
            )

    def _alone(self, questions: Questions) -> None:
        """The attacks that need nothing else; none where missing values make no classes."""
        quasi = self.roles.quasi
        wild = self.missing == "wildcard" and bool(questions.missing(quasi))
        counted: dict[tuple[str, ...], Cube] = {}

        def count(columns: Sequence[str]) -> Cube:
            if tuple(columns) not in counted:
                counted[tuple(columns)] = questions.cube(columns)
            return counted[tuple(columns)]

        if wild:
            self._note("a missing value matches anything: there are no classes to attack")
        else:
            self.found, notes = attack_release(
                count,
                quasi,
                self.roles.sensitive,
                hierarchies=self.hierarchies,
                partitions=self.partitions,
                named=self.named,
                show=self.show,
            )
            self.notes += notes
        self.classes = next(iter(counted.values())).roll_up(quasi) if counted else count(quasi)
        if self.reasoner is not None and self.reasoner.group is None:
            secrets = [s for s in self.roles.sensitive if s not in quasi]
            self.reasoner.cells = {s: count((*quasi, s)) for s in secrets}

    def _identified(self, questions: Questions, dropped: int, register: Any, original: Any) -> None:
        """The release record by record, where somebody is to be found in another table too."""
        quasi, name = self.roles.quasi, str(self.table["name"])
        if self.key is not None and self.key in questions.columns:
            questions.engine.check_usable(self.key)
            self.people = record_pairs.by_key(questions, quasi, self.key, name)
            self.keyed = True
            lacking = questions.records - self.people.records
            if lacking:
                self._note("{} of the release without a key", Count(lacking))
        elif original is not None:
            if dropped:
                raise UsageError(
                    "records were dropped: their order does not tell who is who any more",
                    hint="--missing value, or a --key that the release has",
                )
            self.people = record_pairs.in_order(questions, quasi, name)
        elif self.key is not None:
            raise unknown("--key: column", self.key, questions.columns)

    # -- the original ---------------------------------------------------------------------------

    def original(self, data: Any) -> None:
        """White box: what released values tell of the original ones; whom reasoning is about."""
        with self._opened(data, **self.others) as (table, questions):
            common = self._common(questions, "original", table.name)
            columns = list(common)
            self.clock("comparing with the original", questions)
            if self.reasoner is not None and (self.hidden or self.reasoner.cells):
                secrets = self.hidden or tuple(self.reasoner.cells)
                self.reasoner.original(questions, common, secrets, table.name)
            if self.people is None:  # groups are in an order of their own
                return
            if self.keyed:
                if self.key not in questions.columns:
                    raise unknown("--key: column of the original", str(self.key), questions.columns)
                theirs = record_pairs.by_key(questions, common, str(self.key), table.name)
            else:
                if questions.records != self.people.records:
                    raise UsageError(
                        f"{table.name} has {questions.records:,} records and the release "
                        f"{self.people.records:,}: their order does not tell who is who",
                        hint="--key COLUMN",
                    )
                columns += [self.key] if self.key is not None else []
                if self.key is not None and self.key not in questions.columns:
                    raise unknown("--key: column", self.key, questions.columns)
                theirs = record_pairs.in_order(questions, columns, table.name)
                self._note("records of the release and of the original are paired by their order")
            described = describe_table(table, questions)
        mine, others = self._pairs(theirs)
        pairs = record_pairs.pair_columns(self.people, mine, theirs, others, common)
        found = white_box(pairs, common, show=self.show)
        alone = {"paired": len(mine), "released_only": self.people.records - len(mine)}
        self.found["identity"]["white_box"] = replace(
            found, details={"original": described, "columns_compared": list(common), **alone}
        )
        self.found["identity"]["linkage"] = self._linked(theirs, mine, others, common)
        if not self.keyed and self.key is not None:
            self._keep_keys(theirs)

    def _common(self, questions: Questions, what: str, name: str) -> list[str]:
        """The quasi-identifiers that another table has as well."""
        found = [q for q in self.roles.quasi if q in questions.columns]
        if not found:
            raise UsageError(
                f"{name}: the {what} has none of the quasi-identifiers",
                hint="the same names of columns in both tables",
            )
        for column in found:
            questions.engine.check_usable(column)
        absent = len(self.roles.quasi) - len(found)
        if absent:
            self._note(f"the {what} lacks {{}}", Count(absent, "quasi-identifier"))
        return found

    def _pairs(self, theirs: Cube) -> tuple[Ints, Ints]:
        assert self.people is not None
        if not self.keyed:
            every = np.arange(len(self.people.counts))
            return every, every
        mine, others = record_pairs.match_keys(self.people, theirs)
        if not len(mine):
            raise InputError("no record of the release has a key of the other table")
        return mine, others

    def _keep_keys(self, theirs: Cube) -> None:
        """The release without a key has that of the original, record by record."""
        assert self.people is not None and self.key is not None
        keys = theirs.codes[-1]
        held = np.bincount(keys[keys > 0])
        if held.max(initial=0) > 1:
            raise InputError(
                f"the key {self.key!r} of the original is not unique",
                hint="a column with one value a person",
            )
        people = Cube(
            (*self.people.columns, self.key),
            (*self.people.codes, keys),
            self.people.counts,
            (*self.people.values, theirs.values[-1]),
        )
        self.people, self.keyed = record_pairs.select_cells(people, np.flatnonzero(keys > 0)), True

    def _linked(self, theirs: Cube, mine: Ints, others: Ints, columns: Sequence[str]) -> Attack:
        """Every released record to its nearest original, by all columns at once."""
        from sievert.attacks.linkage import link

        assert self.people is not None
        released, original = [], []
        for column in columns:
            a, b = _same_scale(self.people, theirs, column)
            released.append(a)
            original.append(b)
        origin = np.full(len(self.people.counts), -1, dtype=np.int64)
        origin[mine] = others
        found = link(released, original, origin, threads=self.source.get("threads"))
        low, high = found.interval
        reading = (
            f"{percent(found.correct_linkage)} of the released records are nearest to their own "
            f"original (interval at {percent(found.level)}: {percent(low)} to {percent(high)}); by "
            f"chance it would be {percent(found.baseline)}."
        )
        if low <= found.baseline:
            reading += " That is not shown to be better than chance."
        numbers = ("correct_linkage", "spruill_confidentiality", "baseline")
        return Attack(
            {n: value(n, getattr(found, n)) for n in numbers},
            reading,
            details={"linkage": found.to_dict()},
        )

    # -- the register ---------------------------------------------------------------------------

    def register(self, data: Any) -> None:
        """Grey box: the candidates of each row of a register."""
        assert self.classes is not None
        truth = None
        with self._opened(data, **self.others) as (table, questions):
            shared = self._common(questions, "register", table.name)
            dropped = treat_missing(self.missing, questions, shared)
            if dropped:
                self._note("{} of the register dropped: they lack a column", Count(dropped, "row"))
            self.clock("looking for candidates", questions)
            cube = questions.cube(shared)
            if self.keyed and self.key in questions.columns:
                questions.engine.check_usable(str(self.key))
                rows = record_pairs.by_key(questions, shared, str(self.key), table.name)
                truth = self._truth(rows, cube, shared)
            elif self.key is not None:
                self._note("the register has no key: true and false matches cannot be told")
            described = describe_table(table, questions)
        release = self.classes.roll_up(shared)
        matchings = [self._matching(c, cube, release) for c in shared]
        found = grey_box(release, cube, matchings, truth=truth, show=self.show)
        self.found["identity"]["grey_box"] = replace(
            found, details={"register": described, "columns_shared": list(shared)}
        )
        if found.numbers["candidates"].value is None:
            self._note("no row of the register has a candidate: are values spelled alike in both?")

    def _truth(self, rows: Cube, cube: Cube, shared: Sequence[str]) -> Cube:
        """People who are in both: the register's values, then the released ones."""
        assert self.people is not None
        others, mine = record_pairs.match_keys(rows, self.people)
        found = record_pairs.pair_columns(rows, others, self.people, mine, shared)
        if found.values[: len(shared)] != cube.values:
            raise InvariantError("two counts of the register have different values")
        return found

    def _matching(self, column: str, register: Cube, release: Cube) -> Matching:
        place = register.columns.index(column)
        texts = [v for v in register.values[place] if v is not None]
        tree = to_hierarchy(self.hierarchies.get(column), texts)
        found = Matching.of(
            register.values[place],
            release.values[release.columns.index(column)],
            tree,
            self.missing == "wildcard",
        )
        if found.strange:
            self._note(
                "{} of the released column {} fit no row of the register",
                Count(found.strange, "value"),
                Name(column),
            )
        if found.placeless:
            self._note(
                "{} of the register's column {} without a place in its hierarchy",
                Count(found.placeless, "value"),
                Name(column),
            )
        return found


def _same_scale(first: Cube, second: Cube, column: str) -> tuple[Any, Any]:
    """A column of both tables as numbers, where all its values are; otherwise as common codes."""
    places = [c.columns.index(column) for c in (first, second)]
    texts = [c.values[p] for c, p in zip((first, second), places, strict=True)]
    codes = [c.codes[p] for c, p in zip((first, second), places, strict=True)]
    if all(v is None or NUMBER.fullmatch(v) for held in texts for v in held):
        return tuple(
            np.array([np.nan if v is None else float(v) for v in held])[own]
            for held, own in zip(texts, codes, strict=True)
        )  # type: ignore[return-value]
    every = sorted({v for held in texts for v in held if v is not None})
    number: dict[str | None, int] = {v: i for i, v in enumerate(every, 1)}
    number[None] = 0
    return tuple(
        np.array([number[v] for v in held], dtype=np.int64)[own]
        for held, own in zip(texts, codes, strict=True)
    )  # type: ignore[return-value]
