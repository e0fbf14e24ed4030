"""The public functions of a ledger: add a release, check a new one, list what is there.

They have one keyword per option of the command, so that editors and `help` show them all.
"""

import datetime
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from sievert import roles as role
from sievert.checks.kept_columns import KEPT_NOT_MEASURED, judge_kept, judge_kept_names
from sievert.checks.row_order import RowOrder, judge_order
from sievert.checks.spellings import both_read, more_certain, with_merged
from sievert.commands.ledger import store
from sievert.commands.ledger.joint import ReleasesTogether
from sievert.commands.ledger.keys import (
    count_respelt,
    doubt_keys,
    merge_releases,
    name_single_secrets,
)
from sievert.commands.ledger.result import Ledger, LedgerCheck
from sievert.commands.ledger.run import (
    ClassMeasures,
    JointAssessment,
    code_release,
    describe_releases,
    joint_risk,
)
from sievert.counts.questions import Questions
from sievert.errors import InputError, UsageError, require
from sievert.formatting.canonical import canonical_text
from sievert.formatting.remarks import Caution, Figure, Remark
from sievert.measures import BY_ID
from sievert.measures.measure import Value
from sievert.policy import FILE_HOLDS, Gate, Judgement, Policy, judge
from sievert.request.repeated_rows import judge_weight
from sievert.request.requested import (
    LARGE,
    PolicySource,
    Reading,
    RequestedRoles,
    check_known,
    requested_roles,
)
from sievert.request.suppression import keep_suppressed
from sievert.request.table_description import columns_without_role, describe_input
from sievert.roles import Roles, Typed
from sievert.session import Clock, Steps, count_people, no_progress
from sievert.sources.options import ReaderOptions
from sievert.sources.table import Table

Names = str | Iterable[str] | None
_Numbers = tuple[dict[str, Value], dict[str, dict[str, Value]]]
A_CLASS = Remark("found_by_another")


@dataclass(frozen=True)
class _OpenRelease:
    """A release that is open, with the roles of its columns."""

    table: Table
    questions: Questions
    requested: RequestedRoles
    roles: Roles
    person: tuple[str, ...]
    notes: list[Remark]

    def code(
        self, pseudonyms: store.Pseudonyms, name: str | None, date: str
    ) -> store.LedgerRelease:
        """As a ledger keeps it; kept columns that outsiders may know are quasi-identifiers."""
        own = name or self.table.name
        known = replace(self.roles, quasi=(*self.roles.quasi, *self.roles.knowable))
        return code_release(self.questions, known, self.person, pseudonyms, own, date)

    def judge_columns(self, gate: Gate) -> None:
        """Tell the gate of kept columns and a weight that may say who somebody is.

        People are counted by one column only.
        """
        questions, roles = self.questions, self.roles
        if len(self.person) == 1:
            judge_kept(gate, count_people(questions, self.person[0]), roles, None, wild=False)
        else:
            judge_kept_names(gate, questions, roles.kept)
            if roles.unknowable:
                gate.undecided(KEPT_NOT_MEASURED, roles.unknowable)
        judge_weight(gate, questions, roles.weight)


@contextmanager
def _opened(
    reading: Reading, data: Any, stated: RequestedRoles, person: Names
) -> Iterator[_OpenRelease]:
    """A release, and who its people are: by `person`, or as the policy says."""
    with reading(data) as (table, questions):
        columns = questions.columns
        typed = Typed([person]) if isinstance(person, str) else person
        if person is None and stated.policy is not None and stated.policy.roles.person:
            typed = (stated.policy.roles.person,)
        people = role.names(typed, columns)
        require(people, "a ledger finds people again by a column", hint="--person COLUMN")
        for column in people:
            check_known("person: column", column, columns)
        _, _, identifier = stated.names(columns)
        requested = replace(stated, person=people[0] if len(people) == 1 else None)
        if len(people) > 1:
            requested = replace(
                requested, given=(*requested.given[:2], (*dict.fromkeys((*identifier, *people)),))
            )
        roles, notes = requested.assign(questions, people=True)
        roles = replace(roles, repeated=())  # people are counted
        notes = [note for note in notes if not isinstance(note, Caution)]
        notes += [*questions.engine.notes, *keep_suppressed(questions, roles, A_CLASS)]
        questions.suppression = replace(questions.suppression, kept=True)
        yield _OpenRelease(table, questions, requested, roles, people, notes)


# The public function: its keywords are the options of the command, its docstring their reference.
def add_to_ledger(
    ledger: str | os.PathLike[str],
    release: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    person: Names = None,
    name: str | None = None,
    date: str | None = None,
    salt: str | os.PathLike[str] | None = None,
    policy: PolicySource = None,
    missing: str = "value",
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> Ledger:
    """Note in a ledger what a release says about whom: the classes of people, not the data.

    Parameters
    ----------
    ledger
        The file of the ledger; it is made, with a salt, if it is not there.
    release
        The publisher's own copy of the release, with the key of its people: a path, a frame, a dict
        of lists.
    person
        The column, or several, by which people are found again in all releases.
    name
        What the release is called; the name of its file unless given.
    date
        When it was released, YYYY-MM-DD; today unless given.
    salt
        The file of the salt; beside the ledger (LEDGER.salt) unless given.
    policy
        Its roles are used where none are given.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.
    """
    path, own_salt = _paths(ledger, salt)
    requested = requested_roles(policy, quasi, sensitive, identifier)
    reading = _reading(requested, missing, watch, verify=verify, **source)
    with _opened(reading, release, requested, person) as opened, store.locked(path):
        there = path.exists()
        pseudonyms = store.read_salt(own_salt) if there else store.make_salt(own_salt)
        releases = store.read_ledger(path, pseudonyms) if there else []
        reading.clock("counting classes", opened.questions)
        new = opened.code(pseudonyms, name, _date(date))
        store.check_new(releases, new.name, new.digest)
        reading.clock("writing the ledger", None)
        store.write_ledger(path, [*releases, new], pseudonyms)
    return Ledger(path.name, [r.describe() for r in (*releases, new)], new.name)


def read_ledger(ledger: str | os.PathLike[str]) -> Ledger:
    """List the releases of a ledger; this needs no salt."""
    path = store.ledger_path(ledger)
    return Ledger(path.name, store.read_manifest(path)["releases"])


# The public function: its keywords are the options of the command, its docstring their reference.
def check_with_ledger(
    ledger: str | os.PathLike[str],
    release: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    person: Names = None,
    name: str | None = None,
    salt: str | os.PathLike[str] | None = None,
    policy: PolicySource = None,
    missing: str = "value",
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> LedgerCheck:
    """Hold a new release against a policy together with all releases of a ledger; writes nothing.

    An attacker is taken to know the quasi-identifiers of all rows of a person in every release, and
    in which releases the person is. Kept columns are quasi-identifiers here, unless the policy says
    that outsiders cannot know them. People who look alike in all of them are a joint class. The
    limits apply to joint classes, of the people of every release: the riskiest number decides.

    Parameters
    ----------
    ledger
        The file of the ledger.
    release
        The publisher's own copy of the new release, with the key of its people.
    person
        The column, or several, by which people are found again.
    name
        What the new release is called; the name of its file unless given.
    salt
        The file of the salt; beside the ledger (LEDGER.salt) unless given.
    policy
        Its limits are held against all releases together, and against the new one alone.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.
    """
    path, own_salt = _paths(ledger, salt)
    requested = requested_roles(policy, quasi, sensitive, identifier)
    reading = _reading(requested, missing, watch, verify=verify, **source)
    pseudonyms = store.read_salt(own_salt)
    releases = store.read_ledger(path, pseudonyms)
    clock, limits = reading.clock, requested.policy
    with _opened(reading, release, requested, person) as opened:
        questions, roles = opened.questions, opened.roles
        clock("counting classes", questions)
        new = opened.code(pseudonyms, name, "")
        notes, kept = opened.notes, [r for r in releases if r.digest != new.digest]
        same = [r.name for r in releases if r.digest == new.digest]
        notes += [Remark("known_before", release=repr(name)) for name in same]
        clock("joining the releases", None)
        together = ReleasesTogether([*kept, new])
        described = describe_releases(together)
        apart = () if limits is None else limits.roles.distinct_spellings
        releases, alike = merge_releases(together.releases, opened.person, apart)
        merged = ReleasesTogether(releases) if alike else together
        respelt = 0
        if not {*apart} & {*opened.person}:
            respelt = count_respelt(questions, opened.person, pseudonyms, kept)
        notes = [*_strangers(describe_releases(merged)), *doubt_keys(together), *notes]
        notes += [Caution("keys_respelt", people=Figure(respelt))] if respelt else []
        notes += (both_read(values, column) for column, values in alike.items())
        notes += name_single_secrets(together.releases)
        assessment = _JointNumbers(together, questions, limits, pseudonyms, clock)
        if alike:
            assessment.add_merged(_JointNumbers(merged, questions, limits, pseudonyms, clock))
        reidentification, inference = assessment.joint
        judged = alone = None
        if limits is not None:
            judged, alone, doubts = _judge(opened, limits, assessment, respelt, alike)
            notes += doubts
        return LedgerCheck(
            table=describe_input(opened.table, questions, missing)
            | {"people": described[-1]["people"]},
            roles=roles,
            ledger={"name": path.name, "releases": described},
            joint=assessment.risk,
            reidentification=reidentification,
            inference=inference,
            secrets=assessment.secrets,
            policy=judged,
            alone=alone,
            warnings=tuple(notes),
            unassessed=columns_without_role(questions, roles, *opened.person),
            **clock.stop(),
        )


class _JointNumbers:
    """The numbers of all releases of a ledger together, and of the new one alone."""

    def __init__(
        self,
        together: ReleasesTogether,
        questions: Questions,
        limits: Policy | None,
        pseudonyms: store.Pseudonyms,
        clock: Clock,
    ) -> None:
        def value_number(secret: str, value: str) -> int:
            spelt = together.value_number(secret, pseudonyms.values(secret, [value])[0])
            if spelt >= 0:
                return spelt
            return together.value_number(
                secret, pseudonyms.values(secret, [canonical_text(value)])[0]
            )

        measures = ClassMeasures(questions, limits, value_number, clock)
        assessment = JointAssessment(together, measures)
        reidentification, inference = assessment.joint()
        clock("comparing with single releases", None)
        self.secrets = {secret: assessment.secret(secret) for secret in together.values}
        self.joint = reidentification, _few_values(inference, self.secrets)
        self.risk = joint_risk(together, _least_k(limits))
        self.alone = ({}, {}) if limits is None else assessment.alone()
        self.assessment = assessment
        self.merged: _JointNumbers | None = None  # with all spellings of a value merged

    def add_merged(self, merged: "_JointNumbers") -> None:
        """Put the numbers with all spellings merged beside these; the worse ones are shown."""
        self.joint = _with_merged(self.joint, merged.joint)
        self.alone = _with_merged(self.alone, merged.alone)
        self.merged = merged
        if merged.risk["k_anonymity"] < self.risk["k_anonymity"]:
            self.risk = merged.risk
        for secret, entry in merged.secrets.items():
            if entry["values_left"]["least"] < self.secrets[secret]["values_left"]["least"]:
                self.secrets[secret] = entry

    def certain_alone(self, secrets: Collection[str]) -> dict[str, tuple[int, int]]:
        """By secret how many people are in classes of the new release where all have one value."""
        certain = self.assessment.certain_alone(secrets)
        if self.merged is None:
            return certain
        return more_certain(certain, self.merged.certain_alone(secrets))

    def certain_together(self, secrets: Collection[str]) -> dict[str, tuple[int, int]]:
        """The same of all releases together."""
        certain = self.assessment.certain_together(secrets)
        if self.merged is None:
            return certain
        return more_certain(certain, self.merged.certain_together(secrets))


def _with_merged(spelt: _Numbers, merged: _Numbers) -> _Numbers:
    """The numbers of people and of each secret, each with that of the merged reading."""
    inference = {s: with_merged(own, merged[1].get(s, {})) for s, own in spelt[1].items()}
    return with_merged(spelt[0], merged[0]), inference


def _judge(
    opened: _OpenRelease,
    policy: Policy,
    assessment: _JointNumbers,
    respelt: int,
    alike: Mapping[str, int],
) -> tuple[Judgement, Judgement, list[Remark]]:
    """The verdicts on all releases together, on the new one alone, and what is to be said of them.

    People are those of the ledger, which finds them by a key, whatever the policy calls the person.
    """
    questions, codes = opened.questions, opened.table.na
    gate = replace(opened.requested, person=None).gate(
        *(questions.columns, opened.roles, "value", 0, questions.suppression),
        codes=codes,
        planned=True,
    )
    assert gate is not None
    # Only the key has to be in the publisher's own copy: the release may not have other names.
    others = [c for c in questions.columns if c not in opened.person]
    if stays := opened.requested.not_to_be_released(others, opened.roles):
        gate.not_met(FILE_HOLDS, stays)
    numbers = assessment.alone
    judge_order(gate, RowOrder(seen=False))
    opened.judge_columns(gate)
    gate.certain = assessment.certain_alone(gate.unlimited)
    alone = gate.judge(judge(_limits_of(policy, numbers[1]), *numbers)[0])
    verdicts, doubts = judge(policy, *assessment.joint)
    gate.certain = assessment.certain_together(gate.unlimited)
    if alone.outcome and any(verdict.met is False for verdict in verdicts):
        gate.not_met("unsafe_together")
    people = alike.keys() - {*opened.roles.sensitive}
    if respelt or people:
        gate.undecided("keys_spelt_differently")
    if spelt := [secret for secret in alike if secret not in people]:
        gate.undecided("spelt_differently", spelt)
    gate.spellings |= alike
    return gate.judge(verdicts), alone, doubts


def _paths(
    ledger: str | os.PathLike[str], salt: str | os.PathLike[str] | None
) -> tuple[Path, Path]:
    """The files of a ledger and of its salt."""
    path = store.ledger_path(ledger)
    return path, store.salt_beside(path) if salt is None else Path(salt)


def _reading(requested: RequestedRoles, missing: str, watch: Steps, **source: Any) -> Reading:
    """How a release is read."""
    require(
        missing == "value",
        "a missing value is a value of its own in a ledger",
        hint="--missing value",
    )
    return Reading(watch, LARGE, **requested.read_as_stated(source))


def _date(given: str | None) -> str:
    """A date as a ledger keeps it; SOURCE_DATE_EPOCH is today where it is set."""
    if given is None:
        epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
        now = int(epoch) if epoch.isdecimal() else time.time()
        return datetime.datetime.fromtimestamp(now, datetime.UTC).date().isoformat()
    try:
        return datetime.date.fromisoformat(given).isoformat()
    except ValueError:
        raise UsageError("--date takes a day", hint="--date 2026-01-31") from None


def _strangers(releases: list[dict[str, Any]]) -> list[Caution]:
    """Cautions on releases that share nobody with the new one: their keys may differ."""
    earlier = releases[:-1]
    require(
        not earlier or any(release["shared"] for release in earlier),
        "nobody of the release is in the ledger: are people called by the same keys?",
        hint="the right --person",
        error=InputError,
    )
    return [Caution("nobody_shared", release=repr(r["name"])) for r in earlier if not r["shared"]]


def _few_values(
    learnt: dict[str, dict[str, Value]], secrets: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Value]]:
    """The same numbers, with the fewest values that are left for anybody where they are fewer."""
    changed = {secret: dict(values) for secret, values in learnt.items()}
    for secret, values in changed.items():
        before, least = values.get("l_diversity"), secrets[secret]["values_left"]["least"]
        if before is not None and before.value is not None and least < before.value:
            values["l_diversity"] = replace(before, value=least)
    return changed


def _limits_of(policy: Policy, secrets: Collection[str]) -> Policy:
    """The policy without limits on secrets that one release does not have."""
    every = policy.everywhere.items()
    return policy.model_copy(
        update={
            "inference": {s: limits for s, limits in policy.inference.items() if s in secrets},
            "everywhere": {m: own for m, own in every if secrets or "record" in BY_ID[m].kinds},
        }
    )


def _least_k(policy: Policy | None) -> int | None:
    """The k that a policy asks for."""
    limits = [] if policy is None else policy.every_limit()
    least = [limit.min for _, m, limit in limits if m == "k_anonymity" and limit.min is not None]
    return int(max(least)) if least else None
