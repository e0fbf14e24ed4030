"""Reasoning over real tables: the counts that it needs of a release and of its original."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sievert.attacks.attack import Attack, value
from sievert.attacks.reasoning import run
from sievert.attacks.reasoning.chains import Progress
from sievert.attacks.reasoning.problem import AddRemark, ReasoningTask
from sievert.attacks.reasoning.result import HEADLINES, MOST_MISPLACED, Reasoning
from sievert.attacks.reasoning.settings import Weights
from sievert.attacks.reasoning.value_sets import UnfitLabelError, label_members
from sievert.commands.attack.settings import AttackSettings
from sievert.counts import microdata
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.errors import ExhaustedError, InputError, require
from sievert.formatting import percent
from sievert.formatting.remarks import Remark
from sievert.hierarchies import ROOT, Hierarchy, is_generated, to_hierarchy
from sievert.numerics.acceleration import thread_count
from sievert.request.requested import check_known
from sievert.session import Clock

MOST_SECRETS = 5000
RANDOMISED = Remark("release_randomised")
READABLE = re.compile(r"prefix|(prefix|interval|cuts|quantile|ends):.*")  # labels tell themselves
UNREADABLE = Remark("labels_unplaced")
MOST_UNREADABLE = 0.01  # of the released records: a few may be of people whom the original lacks
MOST_RECORDS = 5 * 10**7  # of an original, held one by one


class Reasoner:
    """Collects the counts of one release and its original, then reasons about each secret."""

    def __init__(
        self, settings: AttackSettings, hierarchies: Mapping[str, Any], remark: AddRemark
    ) -> None:
        self.settings = settings
        self.group = settings.group  # or the column that two tables share
        self.hierarchies = hierarchies
        self.remark = remark
        timeout = settings.timeout
        self.deadline = None if timeout is None else time.monotonic() + timeout
        self.cells: dict[str, Cube] = {}  # of each secret: quasi-identifiers and the secret
        self.people: Cube | None = None  # of a release in two tables
        self.secrets: dict[str, Cube] = {}  # of each secret: groups and the secret
        self.lines: Cube | None = None  # the release, record by record
        self.known: Cube | None = None  # the original
        self.ordered = False
        self.changed = 0.0  # share of records, neither the original's values nor above them
        self.withheld: dict[str, Attack] = {}  # by secret, where no number is given

    def read_people(self, questions: Questions, quasi: Sequence[str]) -> None:
        """Read the people of a release in two tables."""
        assert self.group is not None
        check_known("--group: column", self.group, questions.columns)
        require(
            self.group not in quasi,
            f"the group {self.group!r} is no quasi-identifier",
            hint="-q without it",
        )
        questions.engine.check_usable(self.group)
        self.people = questions.cube((*quasi, self.group))

    def read_secrets(self, questions: Questions, sensitive: Sequence[str]) -> None:
        """Read the secrets of a release in two tables."""
        assert self.group is not None
        for column in (self.group, *sensitive):
            check_known("column of the table of secrets", column, questions.columns)
            questions.engine.check_usable(column)
        self.secrets = {s: questions.cube((self.group, s)) for s in sensitive}

    def read_records(self, questions: Questions, quasi: Sequence[str], name: str) -> None:
        """Read the release record by record, for a file with a row for each record."""
        secrets = () if self.people is not None else tuple(self.cells)
        self.lines = microdata.in_order(questions, (*quasi, *secrets), name)

    def original(
        self, questions: Questions, columns: Sequence[str], sensitive: Sequence[str], name: str
    ) -> None:
        """Read the people who are attacked, record by record if the source has an order."""
        wanted = list(columns)
        for secret in sensitive:
            if secret in questions.columns:
                questions.engine.check_usable(secret)
                wanted.append(secret)
            else:
                self.remark(Remark("original_lacks", column=repr(secret)))
        self.ordered = questions.engine.keeps_order and questions.records <= MOST_RECORDS
        self.known = (
            microdata.in_order(questions, wanted, name) if self.ordered else questions.cube(wanted)
        )

    def reason(self, clock: Clock) -> dict[str, Reasoning]:
        """Reason about every secret."""
        results = {}
        for secret in self.cells if self.people is None else self.secrets:
            if self.changed > MOST_MISPLACED:
                self.withheld[secret] = withheld(self.changed)
                continue
            unreadable = self._unreadable_columns(secret)
            if unreadable:
                self.withheld[secret] = unreadable_labels(unreadable)
                continue
            try:
                results[secret] = self._one(secret, clock)
            except (ExhaustedError, InputError) as error:
                if self.changed and isinstance(error, UnfitLabelError):
                    # a hierarchy would not help a release with noise
                    self.withheld[secret] = withheld(self.changed)
                    continue
                if self.settings.must_reason:
                    raise
                self.remark(Remark("no_reasoning", column=repr(secret), why=str(error)))
        return results

    def _unreadable_columns(self, secret: str) -> list[str]:
        """List columns whose labels stand for no value of the original, as far as is known.

        Such labels would pass for further values, and nobody of the original would fit them: the
        attacker would seem to know nothing.
        """
        release = self.cells.get(secret)
        known = self.known
        if release is None or known is None or self.settings.takes_original_domain:
            return []
        given = self.settings.domain if isinstance(self.settings.domain, Mapping) else {}
        columns = []
        for place, column in enumerate(release.columns[:-1]):
            if column not in known.columns or column in given:
                continue
            labels = release.values[place]
            records = release.totals(place)
            members = label_members(
                labels, known.values[known.columns.index(column)], self._hierarchy(column)
            )
            unread = sum(
                int(n)
                for label, n, those in zip(labels, records, members, strict=True)
                if label is not None and not len(those)
            )
            columns += [column] if unread > MOST_UNREADABLE * release.records else []
        return columns

    def _one(self, secret: str, clock: Clock) -> Reasoning:
        """Reason about one secret."""
        release = self.people if self.people is not None else self.cells[secret]
        columns = release.columns[:-1]
        known = self.known
        if known is not None:
            columns = tuple(c for c in columns if c in known.columns)
        cell = (*columns, secret)
        if known is not None:
            known = known.select_columns(cell) if secret in known.columns else None
        require(
            len(set((self.secrets.get(secret) or release).codes[-1].tolist())) <= MOST_SECRETS,
            f"{secret!r} has more than {MOST_SECRETS:,} values",
            hint="a coarser secret",
            error=ExhaustedError,
        )
        secrets = tuple(self.cells or self.secrets)
        settings = replace(
            self.settings,
            alpha=_own(self.settings.alpha, secret, secrets),
            beta=_own(self.settings.beta, secret, secrets),
        )
        settings.check_domain_columns(release.columns[:-1])
        progress = Progress(None if self.deadline is None else self.deadline - time.monotonic())
        clock(f"reasoning about {secret}", progress)
        lines = self.lines and self.lines.select_columns(cell if self.people is None else columns)
        task = ReasoningTask(
            settings=settings,
            hierarchies={c: self._hierarchy(c) for c in columns},
            wildcard=settings.missing == "wildcard",
            threads=thread_count(settings.threads),
            original=known,
            ordered=self.ordered,
            listed=lines,
            progress=progress,
            remark=self.remark,
        )
        if self.people is not None:
            of_people = release.roll_up((*columns, str(self.group)))
            return run.vertical(of_people, self.secrets[secret], task)
        return run.horizontal(release if release.columns == cell else release.roll_up(cell), task)

    def _hierarchy(self, column: str) -> Hierarchy | None:
        given = self.hierarchies.get(column)
        if isinstance(given, str) and READABLE.fullmatch(given):
            return None
        known = self.known
        values: Mapping[str, int] = {}
        if known is not None and column in known.columns:
            values = known.value_counts(known.columns.index(column))
        if not values and (is_generated(given) or callable(given)):
            return None  # what its labels stand for is known of the original only
        return to_hierarchy(given, values or [ROOT])


def withheld(share: float) -> Attack:
    """Make the attack on a randomised release: it has no number, and says why."""
    reading = f"{RANDOMISED} ({percent(share)} of the records): no number is given."
    return _no_numbers(RANDOMISED, reading[0].upper() + reading[1:], {"randomised": share})


def unreadable_labels(columns: Sequence[str]) -> Attack:
    """Make the attack on a release whose labels are not readable: no number, and what it takes."""
    needed = ", ".join(f"--hierarchy {column}=FILE" for column in columns)
    reading = f"It is not known: {UNREADABLE}. It takes {needed}."
    return _no_numbers(UNREADABLE, reading, {"unreadable_labels": list(columns)})


def _no_numbers(why: str, reading: str, details: Mapping[str, Any]) -> Attack:
    return Attack(
        numbers={name: value(name, None, why) for name in HEADLINES},
        reading=reading,
        details=details,
    )


def _own(weights: Weights, secret: str, secrets: Sequence[str]) -> Weights:
    """Return the weights for one of several secrets, if they are given by column."""
    if isinstance(weights, Mapping) and weights and set(weights) <= set(secrets):
        own: Weights = weights.get(secret, 1.0)
        return own
    return weights
