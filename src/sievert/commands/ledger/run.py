"""The work on a ledger: add a release, judge a new one together with all others, list them."""

import datetime
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from sievert import roles as role
from sievert.checks.kept_columns import KEPT_NOT_MEASURED, judge_kept, judge_kept_names
from sievert.checks.row_order import RowOrder, judge_order
from sievert.checks.spellings import both_read
from sievert.commands.ledger import store
from sievert.commands.ledger.coded_release import code_release
from sievert.commands.ledger.joint import ReleasesTogether
from sievert.commands.ledger.joint_measures import JointNumbers, describe_releases
from sievert.commands.ledger.keys import (
    count_respelt,
    doubt_keys,
    merge_releases,
    name_single_secrets,
)
from sievert.commands.ledger.result import Ledger, LedgerCheck
from sievert.commands.ledger.settings import (
    LedgerAddSettings,
    LedgerCheckSettings,
    LedgerShowSettings,
    ReleaseSettings,
)
from sievert.counts.questions import Questions
from sievert.errors import InputError, UsageError, require
from sievert.formatting.remarks import Caution, Figure, Remark
from sievert.measures import BY_ID
from sievert.policy import FILE_HOLDS, Gate, Judgement, Policy, judge
from sievert.request.repeated_rows import judge_weight
from sievert.request.requested import (
    LARGE,
    Reading,
    RequestedRoles,
    check_known,
    requested_roles,
)
from sievert.request.suppression import keep_suppressed
from sievert.request.table_description import columns_without_role, describe_input
from sievert.roles import Roles, Typed
from sievert.session import Clock, Steps, count_people, no_progress
from sievert.settings.groups import Names, reader_options
from sievert.sources.table import Table

A_CLASS = Remark("found_by_another")


def run_add(settings: LedgerAddSettings, watch: Steps = no_progress) -> Ledger:
    """Note a release in a ledger as `settings` say; `watch` is told of every step."""
    path = store.ledger_path(settings.ledger)
    requested = requested_release(settings)
    reading = reading_of(settings, requested, watch)
    with (
        open_release(reading, settings.release, requested, settings.person) as opened,
        store.locked(path),
    ):
        if path.exists():
            pseudonyms = store.read_salt(settings.salt_path)
            releases = store.read_ledger(path, pseudonyms)
        else:
            pseudonyms = store.make_salt(settings.salt_path)
            releases = []
        reading.clock("counting classes", opened.questions)
        new = opened.code(pseudonyms, settings.name, release_date(settings.date))
        store.check_new(releases, new.name, new.digest)
        reading.clock("writing the ledger", None)
        releases.append(new)
        store.write_ledger(path, releases, pseudonyms)
    return Ledger(path.name, [release.describe() for release in releases], new.name)


def run_show(settings: LedgerShowSettings, _watch: Steps = no_progress) -> Ledger:
    """List the releases of a ledger."""
    path = store.ledger_path(settings.ledger)
    return Ledger(path.name, store.read_manifest(path)["releases"])


def run_check(settings: LedgerCheckSettings, watch: Steps = no_progress) -> LedgerCheck:
    """Judge a new release together with those of a ledger; `watch` is told of every step."""
    path = store.ledger_path(settings.ledger)
    requested = requested_release(settings)
    reading = reading_of(settings, requested, watch)
    pseudonyms = store.read_salt(settings.salt_path)
    releases = store.read_ledger(path, pseudonyms)
    with open_release(reading, settings.release, requested, settings.person) as opened:
        reading.clock("counting classes", opened.questions)
        new = opened.code(pseudonyms, settings.name, "")
        earlier = EarlierReleases(name=path.name, releases=releases, pseudonyms=pseudonyms)
        return check_release(opened, new, earlier, reading.clock)


@dataclass(frozen=True, kw_only=True)
class EarlierReleases:
    """The releases of a ledger, and the pseudonyms of the people and values in them."""

    name: str  # of the ledger
    releases: list[store.LedgerRelease]
    pseudonyms: store.Pseudonyms


@dataclass(frozen=True, kw_only=True)
class OpenRelease:
    """A release that is open, with the roles of its columns."""

    table: Table
    questions: Questions
    requested: RequestedRoles
    roles: Roles
    person: tuple[str, ...]  # the columns by which people are found again
    notes: list[Remark]

    def code(
        self, pseudonyms: store.Pseudonyms, name: str | None, date: str
    ) -> store.LedgerRelease:
        """Code the release as a ledger keeps it.

        Kept columns that outsiders may know are quasi-identifiers.
        """
        own = name or self.table.name
        known = replace(self.roles, quasi=(*self.roles.quasi, *self.roles.knowable))
        return code_release(self.questions, known, self.person, pseudonyms, name=own, date=date)

    def judge_columns(self, gate: Gate) -> None:
        """Tell the gate of kept columns and a weight that may say who somebody is.

        People are counted by one column only.
        """
        questions = self.questions
        roles = self.roles
        if len(self.person) == 1:
            judge_kept(gate, count_people(questions, self.person[0]), roles, None, wild=False)
        else:
            judge_kept_names(gate, questions, roles.kept)
            if roles.unknowable:
                gate.undecided(KEPT_NOT_MEASURED, roles.unknowable)
        judge_weight(gate, questions, roles.weight)


def requested_release(settings: ReleaseSettings) -> RequestedRoles:
    """Read the roles that the user asks for; the columns of people are looked up later."""
    return requested_roles(settings.policy, settings.quasi, settings.sensitive, settings.identifier)


def reading_of(settings: ReleaseSettings, requested: RequestedRoles, watch: Steps) -> Reading:
    """Start the clock, and say how the release is read."""
    settings.check_work()
    how = requested.read_as_stated({**reader_options(settings)})
    return Reading(watch, LARGE, verify=settings.verify, **how)


@contextmanager
def open_release(
    reading: Reading, data: Any, stated: RequestedRoles, person: Names
) -> Iterator[OpenRelease]:
    """Open a release, and find its people by the columns `person`, or as the policy says."""
    with reading(data) as (table, questions):
        people = people_columns(stated, person, questions.columns)
        if len(people) == 1:
            requested = replace(stated, person=people[0])
        else:
            quasi, sensitive, _ = stated.given
            _, _, identifier = stated.names(questions.columns)
            both = tuple(dict.fromkeys((*identifier, *people)))
            requested = replace(stated, person=None, given=(quasi, sensitive, both))
        roles, notes = requested.assign(questions, people=True)
        roles = replace(roles, repeated=())  # people are counted
        notes = [note for note in notes if not isinstance(note, Caution)]
        notes += [*questions.engine.notes, *keep_suppressed(questions, roles, A_CLASS)]
        questions.suppression = replace(questions.suppression, kept=True)
        yield OpenRelease(
            table=table,
            questions=questions,
            requested=requested,
            roles=roles,
            person=people,
            notes=notes,
        )


def people_columns(
    stated: RequestedRoles, person: Names, columns: Sequence[str]
) -> tuple[str, ...]:
    """Find the columns by which people are found again: those given, or that of the policy."""
    given = Typed([person]) if isinstance(person, str) else person
    if person is None and stated.policy is not None and stated.policy.roles.person:
        given = (stated.policy.roles.person,)
    people = role.names(given, columns)
    require(people, "a ledger finds people again by a column", hint="--person COLUMN")
    for column in people:
        check_known("person: column", column, columns)
    return people


def check_release(
    opened: OpenRelease, new: store.LedgerRelease, earlier: EarlierReleases, clock: Clock
) -> LedgerCheck:
    """Measure a `new` release together with the `earlier` ones, and judge it."""
    questions = opened.questions
    limits = opened.requested.policy
    pseudonyms = earlier.pseudonyms
    kept = [release for release in earlier.releases if release.digest != new.digest]
    same = [release.name for release in earlier.releases if release.digest == new.digest]
    clock("joining the releases", None)
    together = ReleasesTogether([*kept, new])
    described = describe_releases(together)
    distinct = () if limits is None else limits.roles.distinct_spellings
    releases, alike = merge_releases(together.releases, opened.person, distinct)
    merged = ReleasesTogether(releases) if alike else together
    respelt = 0
    if not {*distinct} & {*opened.person}:
        respelt = count_respelt(questions, opened.person, pseudonyms, kept)
    notes: list[Remark] = [
        *doubt_strangers(describe_releases(merged)),
        *doubt_keys(together),
        *opened.notes,
        *(Remark("known_before", release=repr(name)) for name in same),
    ]
    if respelt:
        notes.append(Caution("keys_respelt", people=Figure(respelt)))
    notes += (both_read(values, column) for column, values in alike.items())
    notes += name_single_secrets(together.releases)
    numbers = JointNumbers(
        together=together,
        questions=questions,
        limits=limits,
        pseudonyms=pseudonyms,
        clock=clock,
    )
    if alike:
        numbers.add_merged(
            JointNumbers(
                together=merged,
                questions=questions,
                limits=limits,
                pseudonyms=pseudonyms,
                clock=clock,
            )
        )
    reidentification, inference = numbers.joint
    judged = None
    alone = None
    if limits is not None:
        judged, alone, doubts = judge_release(opened, limits, numbers, respelt=respelt, alike=alike)
        notes += doubts
    table = describe_input(opened.table, questions, "value")
    return LedgerCheck(
        table={**table, "people": described[-1]["people"]},
        roles=opened.roles,
        ledger={"name": earlier.name, "releases": described},
        joint=numbers.risk,
        reidentification=reidentification,
        inference=inference,
        secrets=numbers.secrets,
        policy=judged,
        alone=alone,
        warnings=tuple(notes),
        unassessed=columns_without_role(questions, opened.roles, *opened.person),
        **clock.stop(),
    )


def judge_release(
    opened: OpenRelease,
    policy: Policy,
    assessment: JointNumbers,
    *,
    respelt: int,
    alike: Mapping[str, int],
) -> tuple[Judgement, Judgement, list[Remark]]:
    """Judge all releases together, and the new one alone; return remarks on the verdicts, too.

    `respelt` people have keys that may be spelt differently, and so have values of some columns,
    `alike`. People are those of the ledger, which finds them by a key, whatever the policy calls
    the person.
    """
    questions = opened.questions
    gate = replace(opened.requested, person=None).gate(
        questions.columns,
        opened.roles,
        suppression=questions.suppression,
        codes=opened.table.na,
        planned=True,
    )
    assert gate is not None
    # Only the key has to be in the publisher's own copy: the release may not have other names.
    others = [c for c in questions.columns if c not in opened.person]
    stays = opened.requested.not_to_be_released(others, opened.roles)
    if stays:
        gate.not_met(FILE_HOLDS, stays)
    numbers = assessment.alone
    judge_order(gate, RowOrder(seen=False))
    opened.judge_columns(gate)
    gate.certain = assessment.certain_alone(gate.unlimited)
    alone = gate.judge(judge(limits_of(policy, numbers[1]), *numbers)[0])
    verdicts, doubts = judge(policy, *assessment.joint)
    gate.certain = assessment.certain_together(gate.unlimited)
    if alone.outcome and any(verdict.met is False for verdict in verdicts):
        gate.not_met("unsafe_together")
    people = alike.keys() - {*opened.roles.sensitive}
    spelt = [secret for secret in alike if secret not in people]
    if respelt or people:
        gate.undecided("keys_spelt_differently")
    if spelt:
        gate.undecided("spelt_differently", spelt)
    gate.spellings |= alike
    return gate.judge(verdicts), alone, doubts


def release_date(given: str | None) -> str:
    """Write the date that is `given` as a ledger keeps it, or the date of today.

    Where SOURCE_DATE_EPOCH is set, it is today.
    """
    if given is None:
        epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
        now = int(epoch) if epoch.isdecimal() else time.time()
        return datetime.datetime.fromtimestamp(now, datetime.UTC).date().isoformat()
    try:
        return datetime.date.fromisoformat(given).isoformat()
    except ValueError:
        raise UsageError("--date takes a day", hint="--date 2026-01-31") from None


def doubt_strangers(releases: list[dict[str, Any]]) -> list[Caution]:
    """Caution that an earlier release shares nobody with the new one: the keys may differ."""
    earlier = releases[:-1]
    require(
        not earlier or any(release["shared"] for release in earlier),
        "nobody of the release is in the ledger: are people called by the same keys?",
        hint="the right --person",
        error=InputError,
    )
    return [Caution("nobody_shared", release=repr(r["name"])) for r in earlier if not r["shared"]]


def limits_of(policy: Policy, secrets: Collection[str]) -> Policy:
    """Return the policy without limits on secrets that a release with some `secrets` lacks."""
    every = policy.everywhere.items()
    return policy.model_copy(
        update={
            "inference": {s: limits for s, limits in policy.inference.items() if s in secrets},
            "everywhere": {m: own for m, own in every if secrets or "record" in BY_ID[m].kinds},
        }
    )
