"""What every command does before it measures: policy, roles, missing values, time, description."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sievert import files
from sievert import roles as role
from sievert.counts.engines import DEFAULT
from sievert.counts.suppression import Suppression
from sievert.errors import (
    ExhaustedError,
    InputError,
    require,
)
from sievert.formatting import plural
from sievert.formatting.remarks import Caution, Joined, Remark, Spoken
from sievert.request.repeated_rows import naming_columns, repeated_identifiers
from sievert.request.suppression import (
    NOTHING_SUPPRESSED,
    is_unlisted,
    leave_out_suppressed,
    leaves_out_unlimited,
    named_mark,
    suppression_rule,
)
from sievert.roles import Roles
from sievert.session import Clock, Steps, count_people, open_source
from sievert.settings.checks import check_known as check_known
from sievert.settings.checks import check_whole as check_whole
from sievert.settings.policy_source import PolicyOfRelease as PolicyOfRelease
from sievert.settings.policy_source import PolicySource as PolicySource
from sievert.sources.addresses import DATABASES
from sievert.sources.table import Table

if TYPE_CHECKING:
    from sievert.counts.questions import Questions
    from sievert.policy import Gate, Policy, PolicyFile

LARGE = 10**5  # records from which plain columns are counted by packed keys
MISSING_RULES = {
    "value": Remark("missing_value"),
    "wildcard": Remark("missing_wildcard"),
    "drop": Remark("missing_drop"),
    "error": Remark("missing_error"),
}
MISSING = tuple(MISSING_RULES)


def refuse_engines(what: str, source: Mapping[str, Any], *tables: Any) -> None:
    """Raise an error, before an engine starts, if a command needs the engine of this process.

    Spark and tables of a database are refused. The address may have gone through a `Path`, which
    makes one slash of two, and its scheme may be in capitals.
    """
    engine = source.get("engine")
    address = tuple(scheme.removesuffix("/") for scheme in DATABASES)
    stored = any(
        isinstance(table, str | os.PathLike) and os.fspath(table).lower().startswith(address)
        for table in tables
    )
    require(
        engine in (None, DEFAULT) and not stored,
        f"{what} files and frames only, not Spark nor a database",
        hint="write the table to a file first, such as Parquet",
    )


class Reading:
    """Reads tables one after the other, within one time limit for all of them."""

    def __init__(self, watch: Steps, large: int | None = LARGE, **source: Any) -> None:
        self.clock = Clock(watch)
        self.source = source
        self.large = large
        self.started = time.monotonic()
        self.clock.deadline = self.started + (source.get("timeout") or math.inf)

    @contextmanager
    def __call__(self, data: Any, **options: Any) -> Iterator[tuple[Table, Questions]]:
        """Read a table in the time that is left for it."""
        options = {**self.source, **options}
        given = "encoding" in options and isinstance(data, str | os.PathLike)
        if given and files.is_our_release(Path(data)):  # in UTF-8, whatever the original is in
            options["encoding"] = "utf-8"
        whole = options.get("timeout")
        late = ExhaustedError(f"not done within {whole or 0:g} seconds", hint="a longer --timeout")
        if whole is not None and whole > 0:
            left = whole - (time.monotonic() - self.started)
            options["timeout"] = left
            if left <= 0:
                raise late
        try:
            with open_source(data, watch=self.clock, large=self.large, **options) as opened:
                yield opened
        except ExhaustedError:
            if whole is None or time.monotonic() - self.started < whole:
                raise  # memory, not time
            raise late from None


@dataclass(frozen=True, kw_only=True)
class RequestedRoles:
    """The roles that the caller gives; those of the policy where none are given.

    The order is: quasi-identifiers, sensitive attributes, identifiers.
    """

    given: Sequence[str | tuple[str, ...] | None]
    policy: Policy | None
    person: str | None = None  # as the caller gives it
    policy_file: PolicyFile | None = None  # where the policy was read from
    other_sets: tuple[tuple[str, ...], ...] = ()  # key sets that are assessed beside this one
    codes: tuple[str, ...] = ()  # for missing, as the table was read
    fresh: tuple[str, ...] = ()  # kept keys that were made with the release

    def of_table(self, table: Table) -> RequestedRoles:
        """Add the codes with which a table was read.

        If no roles are given at all, those of a state are the roles for which it was counted.
        """
        state = table.state
        none = (None, None, None)
        own = replace(self, codes=tuple(table.na))
        if state is None or (*self.given, self.person) != (*none, None) or any(self._own):
            return own
        given = [state.quasi, state.sensitive, state.identifier]
        return replace(own, given=given, person=state.person)

    def names(self, columns: Sequence[str]) -> list[tuple[str, ...]]:
        """The column names of each role."""
        return [
            role.names(own if given is None else given, columns)
            for given, own in zip(self.given, self._own, strict=True)
        ]

    @property
    def _own(self) -> Sequence[Iterable[str] | None]:
        roles = self.policy and self.policy.roles
        return (roles.quasi, roles.sensitive, roles.identifier) if roles else (None, None, None)

    def assign(
        self,
        questions: Questions,
        *,
        secrets_apart: bool = False,
        quasi_needed: bool = True,
        people: bool = False,
        synthetic: bool = False,
    ) -> tuple[Roles, list[Remark]]:
        """Check the roles against the columns; without quasi-identifiers, list the columns.

        With `secrets_apart`, a release has its secrets in a second table. A command that does not
        count in `people` refuses people with several rows. A command that is not about `synthetic`
        tables says that it ignores limits on these.
        """
        quasi, sensitive, identifier = self.names(questions.columns)
        typed = identifier if self.given[2] is not None else ()
        absent = self.policy.roles.lacking(questions.columns, typed) if self.policy else ()
        identifier = tuple(c for c in identifier if c not in absent)
        if self.given[2] is None:  # an identifier that the user names as the person counts people
            identifier = tuple(c for c in identifier if c != self.person)
        if not quasi and quasi_needed:
            from sievert.request.role_suggestion import no_quasi

            what = "no quasi-identifiers: [roles] of the policy has none"
            hint = "quasi = [...]"
            require(not any(self._own), what, hint=f"{hint} there, or -q COLUMNS")
            raise no_quasi(questions, {*sensitive, *identifier}, self.person)
        measured = {*quasi, *sensitive, *identifier, *absent, *chain(*self.other_sets)}
        roles = role.assign(
            questions.columns,
            quasi,
            () if secrets_apart else sensitive,
            identifier,
            **self._single_roles(measured, absent),
            one_role=self.policy is not None,
            other_sets=self.other_sets,
            first_line=questions.first_line,
        )
        several = False
        notes = [*role.known_secrets(roles), *role.absent_columns(absent)]
        if self.policy is not None and self.policy.synthetic and not synthetic:
            notes.append(Remark("not_synthetic"))
        if roles.person is not None:
            questions.engine.check_usable(roles.person)
            several = count_people(questions, roles.person).repeat(roles.quasi if people else ())
            require(
                people or not several,
                f"people have several rows by {roles.person!r}, which is not defined here",
                hint="assess, explain and protect --how full count in people; or one row each",
            )
        stated = self.policy is not None and self.policy.roles.rows_are_people
        merged = tuple(questions.merged_by_type((*roles.quasi, *roles.other_quasi)))
        notes += (Caution("merged_by_type", column=repr(c)) for c in merged)
        naming = tuple(naming_columns(questions, roles.sensitive))
        notes += (Caution("names_people", column=repr(c)) for c in naming)
        roles = replace(roles, rows_are_people=stated, merged=merged, naming=naming)
        distinct = () if self.policy is None else self.policy.roles.distinct_spellings
        if not several:  # a person with one row each may be no person, but the number of a row
            repeated, unsure = repeated_identifiers(questions, roles, distinct)
            if stated or roles.person is not None:
                unsure = []
            roles = replace(roles, repeated=tuple(repeated), unsure=tuple(unsure))
            caution = "not_one_each" if stated else "shared_identifier"
            notes += (Caution(caution, column=repr(c)) for c in repeated)
            notes += (Caution("unsure_identifier", column=repr(c)) for c in unsure)
        return roles, notes

    def _single_roles(self, given: Collection[str], absent: Collection[str]) -> dict[str, Any]:
        """The other roles of the policy; a column with a role of the caller has no other role.

        A column with two roles in the policy keeps both, which is reported as a mistake.
        """
        if self.policy is None:
            return {"person": self.person}
        roles = self.policy.roles
        own = {c for names in self._own for c in names or ()}
        other = {*given, self.person}
        kept = {c: entry for c, entry in roles.kept.items() if c not in other}
        return {
            "person": self.person or roles.person,
            "household": None if roles.household in absent else roles.household,
            "weight": None if roles.weight in absent else roles.weight,
            "ignored": {c: why for c, why in roles.left_out.items() if c not in given or c in own},
            "kept": {c: kept[c].reason for c in kept},
            "unknowable": [c for c in kept if kept[c].outsiders_cannot_know],
        }

    def gate(
        self,
        columns: Sequence[str],
        roles: Roles,
        missing: str = "value",
        dropped: int = 0,
        suppression: Suppression = NOTHING_SUPPRESSED,
        *,
        codes: Collection[str] | None = None,
        planned: bool = False,
        released: Collection[str] | None = None,
    ) -> Gate | None:
        """The policy's gate for a table with these columns, with the reasons that roles give.

        Some records may be dropped, and some values may be `codes` for missing: by default the
        codes of the table. `released` has the columns of a release that will be written. A
        `planned` release lacks the columns that no release may have.
        """
        codes = self.codes if codes is None else codes
        if self.policy is None:
            return None
        from sievert.policy import FILE, FILE_HOLDS, PLANNED, Gate

        about = Remark("about_file" if released is None else "about_release")
        if planned:
            about = Remark("about_plan")
        gate = Gate(
            self.policy,
            [
                about,
                *self._people_and_roles(columns, roles, planned=planned),
                MISSING_RULES[missing],
                *([Remark("codes_missing")] if codes else []),
                suppression_rule(suppression),
            ],
            suppression.left_out,
            self.policy_file,
            secrets=[s for s in roles.sensitive if s in columns],
            question=PLANNED if planned else FILE,
        )
        own = self.policy.roles
        used = roles.every_column
        known = {*own.quasi} & {*columns}  # one key set has to contain all of them
        covered = any(known <= {*key_set} for key_set in (roles.quasi, *roles.other_sets))
        less = {*own.sensitive} - {*roles.sensitive}
        if not covered:
            less |= known - {*roles.quasi}
        less |= {*self._kept_no_more(roles)}
        stated = roles.rows_are_people
        listed = {*self.policy.reading.na}
        stays = self.not_to_be_released(
            columns if released is None else released, roles, planned=planned
        )
        bare = [c for c in columns if c not in used and c not in stays]  # what stays has a role
        named = {*own.quasi, *own.sensitive}
        reasons: tuple[tuple[str, bool | None, Collection[str]], ...] = (
            (FILE_HOLDS, False, stays),
            ("quasi_left_out", False, [c for c in bare if c in own.quasi]),
            ("secrets_left_out", False, [c for c in bare if c in own.sensitive]),
            ("columns_without_role", False, [c for c in bare if c not in named]),
            ("roles_replaced", False, [c for c in columns if c in less and c in used]),
            ("identifier_repeats", False, () if stated else roles.repeated),
            ("identifier_unsure", None, roles.unsure),
            ("secret_names_people", None, roles.naming),
            ("merged_by_type", None, roles.merged),
            ("person_replaced", False, [p for p in (self.person,) if p not in (None, own.person)]),
            ("settings_replaced", False, ["na"] if listed - {*codes} else ()),
        )
        for what, met, names in reasons:
            if names:
                (gate.undecided if met is None else gate.not_met)(what, names)
        for what, applies in (
            ("records_left_out", dropped),
            ("records_left_out_by_mark", leaves_out_unlimited(self.policy, suppression)),
            ("codes_not_listed", {*codes} - listed),
            ("mark_not_listed", is_unlisted(self.policy, suppression)),
        ):
            if applies:
                gate.undecided(what)
        return gate

    def _kept_no_more(self, roles: Roles) -> list[str]:
        """The columns that the policy keeps, and that have another role here that measures less.

        A column that is a quasi-identifier in all judged key sets is measured more.
        """
        assert self.policy is not None
        judged = (roles.quasi, *roles.other_sets)
        others = [c for c in self.policy.roles.kept if c not in roles.kept]
        return [c for c in others if not all(c in key_set for key_set in judged)]

    def calls_distinct(self, column: str | None) -> bool:
        """Whether the policy says that different spellings in a column are different values."""
        return self.policy is not None and column in self.policy.roles.distinct_spellings

    def read_as_stated(self, source: dict[str, Any]) -> dict[str, Any]:
        """Add codes and the mark of the policy to the options of reading, unless they are given.

        If the policy lists several marks, the user must name the mark of the table.
        """
        if self.policy is None:
            return source
        stated: dict[str, Any] = {}
        marks = self.policy.reading.suppressed
        if self.policy.reading.na and not source.get("na"):
            stated["na"] = self.policy.reading.na
        if len(marks) == 1 and "suppressed" not in source:
            stated["suppressed"] = named_mark(marks[0])
        return {**source, **stated}

    def not_to_be_released(
        self, columns: Collection[str], roles: Roles, *, planned: bool = False
    ) -> list[str]:
        """The columns of a file that must not be released, by the policy or by the roles here.

        A planned release lacks these columns, except measured ones, which are part of it.
        """
        assert self.policy is not None
        forbidden = self.policy.roles.not_released | roles.not_released
        measured = {*roles.measured_columns, *roles.other_quasi}
        stays = [c for c in columns if c in forbidden]
        return [c for c in stays if c in measured] if planned else stays

    def _people_and_roles(
        self, columns: Sequence[str], roles: Roles, *, planned: bool
    ) -> Iterator[Spoken]:
        """Say whether people or rows are counted, the columns per role, and the population."""
        assert self.policy is not None
        counted = Remark("rows_taken")
        if roles.rows_are_people:
            counted = Remark("rows_stated")
        if roles.person in columns:
            counted = Remark("people_counted")
        yield counted
        numbers: list[Spoken] = []
        for what, names in (
            ("quasi-identifier", roles.quasi),
            ("secret", roles.sensitive),
            ("identifier", roles.identifier),
            ("ignored column", roles.ignored),
            ("kept column", roles.kept),
        ):
            number = sum(c in columns for c in names)
            if not number:
                continue
            things = plural(number, what)
            if planned and what == "identifier":
                numbers.append(Remark("to_be_dropped", identifiers=things))
            else:
                numbers.append(things)
        yield Joined(numbers)
        apart = [c for c in self.policy.roles.distinct_spellings if c in columns]
        if apart:
            yield Remark("spelt_stated", columns=plural(len(apart), "column"))
        if self.policy.limits_population:
            stated = self.policy.parameters.population_uniques is not None
            yield Remark("population_stated" if stated else "population_not_stated")

    def prepare(
        self,
        questions: Questions,
        roles: Roles,
        missing: str,
        others: Iterable[str] = (),
        *,
        all_rows: bool = False,
    ) -> tuple[int, list[Remark]]:
        """Make sure that the columns can be used; treat suppressed records and missing values.

        Return the number of records dropped, and notes of the engine and about the policy. With
        `all_rows`, the caller treats suppressed records.
        """
        questions.check_usable((*roles.measured_columns, *others))
        notes = [*questions.engine.notes, *self._replacements(questions.columns)]
        if not roles.quasi:
            return 0, notes
        questions.plan_counts(roles.quasi, roles.sensitive if roles.person is None else ())
        if not all_rows:
            questions.secrets = roles.sensitive
            # Cells would be counted again if more records are left out.
            notes += leave_out_suppressed(questions, roles, cells=missing != "drop")
        return treat_missing(missing, questions, roles.quasi), notes

    def _replacements(self, columns: Sequence[str]) -> list[Remark]:
        keys = ("replaced_quasi", "replaced_secrets", "replaced_identifiers")
        return [
            Remark(key)
            for key, given, own in zip(keys, self.given, self._own, strict=True)
            if given is not None and own and role.names(given, columns) != role.names(own)
        ]


def requested_roles(
    policy: PolicySource, *given: str | Iterable[str] | None, person: str | None = None
) -> RequestedRoles:
    """Collect the given roles and the policy; iterators, read only once, become tuples."""
    file = None
    fresh = tuple[str, ...]()
    if isinstance(policy, PolicyOfRelease):
        fresh = policy.fresh
        policy = policy.policy
    if policy is not None:
        from sievert import policy as policies

        if isinstance(policy, Mapping):
            policy = policies.parse_policy(policy)
        elif not isinstance(policy, policies.Policy):
            policy, file = policies.read_policy_file(Path(policy))
    names = [n if n is None or isinstance(n, str | tuple) else tuple(n) for n in given]
    return RequestedRoles(given=names, policy=policy, person=person, policy_file=file, fresh=fresh)


def collect_sets(given: Iterable[str | Iterable[str]]) -> list[str | tuple[str, ...]]:
    """Collect the given key sets; iterators, read only once, become tuples."""
    require(not isinstance(given, str), "key sets are lists of columns", hint='[["age", "zip"]]')
    sets = [columns if isinstance(columns, str | tuple) else tuple(columns) for columns in given]
    require(sets, "no key set given", hint="--key-set age,zip")
    return sets


def treat_missing(missing: str, questions: Questions, quasi: Sequence[str]) -> int:
    """Apply the chosen reading of missing quasi-identifiers; return the number of lost records."""
    check_known("--missing:", missing, MISSING)
    lacking = questions.missing(quasi) if missing == "error" else {}
    if lacking:
        counts = ", ".join(f"{c!r} in {plural(n, 'record')}" for c, n in lacking.items())
        raise InputError(f"a quasi-identifier is missing: {counts}", hint="another --missing")
    if missing != "drop":
        return 0
    dropped = questions.drop_missing(quasi)
    require(
        questions.records != 0,
        "every record lacks a quasi-identifier: nothing is left to measure",
        error=InputError,
    )
    return dropped
