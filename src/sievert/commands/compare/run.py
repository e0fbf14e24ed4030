"""One comparison in the making: the original first, then one release after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert import roles as role
from sievert.attacks.attack import to_hierarchy
from sievert.commands import _pairing
from sievert.commands._common import Clock, RequestedRoles, describe_input
from sievert.commands._pairing import sparse_numbers
from sievert.commands.compare.disclosures import Assessed, Bits, Disclosed, OriginalInformation
from sievert.commands.compare.distance_to_limit import LeastDisclosure, Limits, ReleaseDistance
from sievert.commands.compare.estimation import (
    chance_note,
    class_distance,
    doubts,
    fill_unreleased,
    neighbour_information,
)
from sievert.commands.compare.policy import Judging, gathered
from sievert.errors import InputError, UsageError, unknown
from sievert.estimators import (
    ContingencyTable,
    InformationEstimate,
    estimate,
    lost,
    quantile_bins,
)
from sievert.hierarchies import Hierarchy
from sievert.losses import KINDS
from sievert.losses.loss import Loss, Release, as_numbers, combination_codes
from sievert.notes import Count, Name, Note, SectionName
from sievert.numerics.acceleration import thread_count
from sievert.roles import Roles

if TYPE_CHECKING:
    from sievert.counts.questions import Questions
    from sievert.policy import Policy
    from sievert.sources.table import Table

Each = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]
BESIDE = (  # measures that are shown before and after
    "classes",
    "k_anonymity",
    "unique_records",
    "average_risk",
    "discrimination_rate",
    "itpr",
    "itpr_unnormalized",
    "max_confidence",
    "l_diversity",
    "entropy_l",
    "t_closeness",
    "mutual_information",
)
MOST_TOGETHER = 1000  # shuffles; with more, threads share one target's instead of all targets


class ComparisonRun:
    """What a comparison has found so far."""

    def __init__(
        self,
        clock: Clock,
        hierarchies: Mapping[str, Any],
        bins: Mapping[str, int],
        key: str | None,
        missing: str,
        shuffles: int,
        seed: int,
        threads: int | None,
        limit: bool = False,
        policy: Policy | None = None,
    ) -> None:
        self.clock, self.hierarchies, self.bins = clock, hierarchies, bins
        self.key, self.missing = key, missing
        self.seed, self.threads = seed, thread_count(threads)
        self.one_by_one = self.threads == 1 or shuffles > MOST_TOGETHER
        self.how: dict[str, Any] = {
            "shuffles": shuffles,
            "seed": seed,
            "threads": self.threads if self.one_by_one else 1,
        }
        self.notes: list[Note] = []
        self.remarks: dict[str | None, list[Note]] = {}  # by release
        self.before: dict[str, Bits] = {}
        self._each: Each = map
        self._done: OriginalInformation | None = None
        self.limited = limit
        self._limits: Limits | None = None
        self.judging = Judging(policy, hierarchies)

    def told(self) -> list[Note]:
        """All remarks; one that goes for every release only once."""
        return [*self.notes, *gathered(self.remarks), *self.judging.told()]

    # -- the original ---------------------------------------------------------------------------

    def original(
        self, table: Table, questions: Questions, requested: RequestedRoles, predict: Any
    ) -> None:
        """Roles, records and what the original itself tells of its secrets."""
        columns = questions.columns
        self.roles, warnings = requested.assign(questions)
        self.notes += warnings
        if self.limited and not self.roles.sensitive:
            raise UsageError("a limit on what is told needs a secret", hint="-s COLUMNS")
        self.predicted = role.names(predict, columns) or self.roles.sensitive
        self._check(columns)
        used = tuple(dict.fromkeys((*self.roles.measured_columns, *self.predicted)))
        _, notes = requested.prepare(questions, self.roles, self.missing, self.predicted)
        self.notes += notes
        self.clock("reading the original's records", questions)
        self.people = _pairing.original_people(questions, used, self.key, table.name)
        if self.people.keyless:
            self.notes.append(
                Note("{} of the original without a key: left out", Count(self.people.keyless))
            )
        if not self.people.records:
            raise InputError(f"{table.name}: no record has a key")
        self.table = describe_input(table, questions)
        self.ladders = self._ladders(used)
        self.edges = self._edges()
        self._begun = self._known()
        self.notes += self.judging.unused(self.roles, columns)
        self.assessment = self._assessed(table, questions, self.roles)
        self.judging.see(None, self.assessment, self.roles.sensitive)
        self.settings = {
            "shuffles": self.how["shuffles"],
            "seed": self.seed,
            "level": 0.95,
            "key": self.key,
            "bins": {c: len(e) + 1 for c, e in self.edges.items()},
            "predicted": list(self.predicted),
        }
        taken = {*used, *self.roles.identifier, self.key}
        self.unassessed = tuple(c for c in columns if c not in taken)

    def _check(self, columns: Sequence[str]) -> None:
        for what, given in (
            ("hierarchy", self.hierarchies),
            ("bins", self.bins),
            ("--predict", self.predicted),
        ):
            for column in given:
                if column not in columns:
                    raise unknown(f"{what}: column", column, columns)
        for column, number in self.bins.items():
            if number != 0 and number < 2:
                raise UsageError("bins: at least 2, or 0 for the values as they are")
            if column not in self.roles.measured_columns:
                raise UsageError(f"bins: column {column!r} is neither -q nor -s")
        if self.key is not None and self.key in (*self.roles.measured_columns, *self.predicted):
            raise UsageError(
                f"the key {self.key!r} tells everybody apart: it is no role of a release",
                hint="-q and -s without it",
            )

    def _ladders(self, columns: Sequence[str]) -> dict[str, Hierarchy]:
        found: dict[str, Hierarchy] = {}
        for column in columns:
            given = self.hierarchies.get(column)
            texts = [t for t in self.people.texts(column) if t is not None]
            tree = to_hierarchy(given, texts)
            if tree is not None:
                tree.require(texts, column)
                found[column] = tree.with_root()
        return found

    def _edges(self) -> dict[str, Any]:
        """Where numbers are cut: those of which there are nearly as many as records."""
        found: dict[str, Any] = {}
        for column in self.roles.measured_columns:
            number = self.bins.get(column)
            numbers = as_numbers(self.people.texts(column))
            if number == 0:
                continue
            if numbers is None:
                if number is not None:
                    raise UsageError(f"bins: column {column!r} does not hold numbers")
                continue
            held = numbers[self.people.codes(column)]
            if number is None:
                if not sparse_numbers(self.people, column):
                    continue
                self.notes.append(
                    Note(
                        "{} has nearly as many numbers as there are records: cut at quantiles of "
                        "the original, the same in every release (--bins {}=0 for the values)",
                        Name(column),
                        SectionName(column),
                    )
                )
            found[column] = quantile_bins(held, number)
        return found

    @contextmanager
    def working(self) -> Iterator[None]:
        """Targets are begun at once, on all threads; at an error the rest is dropped."""
        if self.one_by_one:
            yield
            return
        pool = ThreadPoolExecutor(self.threads)
        self._each = pool.map
        try:
            yield
        finally:
            pool.shutdown(cancel_futures=True)

    @property
    def known(self) -> OriginalInformation:
        """The original's codes and estimates, waited for."""
        if self._done is None:
            self._done = self._begun()
        return self._done

    def _known(self) -> Callable[[], OriginalInformation]:
        """The original's codes, and what they tell of each secret."""
        every = _pairing.cut(self._paired(self.people), self.edges)
        columns = {c.name: c.original for c in every.quasi}
        secrets = {c.name: c.original for c in every.columns if c.name in self.roles.sensitive}
        key = combination_codes(list(columns.values()))
        places = [(c, s) for c in (None, *columns) for s in secrets]

        def about(place: tuple[str | None, str]) -> tuple[ContingencyTable, InformationEstimate]:
            column, secret = place
            pair = ContingencyTable.from_codes(
                key if column is None else columns[column], secrets[secret]
            )
            # Whether the original's whole key tells anything is not asked: no shuffles for it.
            how = self.how | ({"shuffles": 0} if column is None else {})
            return pair, estimate(pair, **how)

        begun = self._each(about, places)

        def done() -> OriginalInformation:
            found = dict(zip(places, begun, strict=True))
            joint = {place: pair for place, (pair, _) in found.items()}
            told = {place: bits for place, (_, bits) in found.items()}
            for secret in secrets:
                self.before[secret] = Bits(
                    told[None, secret],
                    {c: told[c, secret] for c in columns},
                    class_distance(joint[None, secret]),
                )
                if told[None, secret].noisy and told[None, secret].value > 0:
                    hint = "what a release has lost of them is told no better; fewer or coarser -q"
                    self.notes.append(
                        chance_note("the original's", told[None, secret], secret, hint)
                    )
            return OriginalInformation(key, columns, secrets, joint, told)

        return done

    def _paired(self, people: _pairing.People) -> Release:
        extra = tuple(p for p in self.predicted if p not in self.roles.measured_columns)
        return _pairing.paired(
            self.people,
            people,
            self.roles.quasi,
            (*self.roles.sensitive, *extra),
            self.ladders,
            predicted=self.predicted,
            seed=self.seed,
        )

    def _assessed(self, table: Table, questions: Questions, roles: Roles) -> Assessed:
        return self.judging.assessed(BESIDE, table, questions, roles, self.clock)

    # -- releases -------------------------------------------------------------------------------

    def release(
        self, name: str, table: Table, questions: Questions
    ) -> tuple[dict[str, Any], int, dict[str, int], Disclosed, dict[str, Loss], Assessed]:
        """All about one release."""
        quasi = tuple(q for q in self.roles.quasi if q in questions.columns)
        if not quasi:
            raise UsageError(
                f"{table.name}: the release has none of the quasi-identifiers",
                hint="the same names of columns in both tables",
            )
        wanted = tuple(dict.fromkeys((*self.roles.measured_columns, *self.predicted)))
        there = [c for c in wanted if c in questions.columns]
        lacking = [c for c in wanted if c not in there]
        self.clock(f"reading the records of {name}", questions)
        people = _pairing.people(questions, there, self.key, table.name)
        release = self._paired(people)
        strange = len(
            set(questions.columns)
            - set(self.people.cube.columns)
            - set(self.unassessed)
            - set(self.roles.identifier)
            - {self.key}
        )
        told = [*questions.engine.notes, *_pairing.remarks(release, people, lacking, strange)]
        secrets = tuple(s for s in self.roles.sensitive if s in questions.columns)
        roles = Roles(quasi, secrets)
        about = describe_input(table, questions)
        known = self.known
        lost = self._each(lambda kind: kind.compute(release), KINDS)
        disclosing = self._disclosed(name, _pairing.cut(release, self.edges), known)
        assessment = self._assessed(table, questions, roles)
        self.judging.see(name, assessment, self.roles.sensitive)
        self.clock(f"estimating {name}", questions)
        disclosed = disclosing(
            neighbour_information(release, self.edges, self.roles.sensitive, self.threads)
        )
        told += doubts(release, disclosed)
        self.clock(f"losses of {name}", questions)
        losses = dict(zip((kind.id for kind in KINDS), lost, strict=True))
        self.remarks[name] = told
        records = {
            "paired": int(np.count_nonzero(release.quasi[0].here)),
            "suppressed": int(np.count_nonzero(release.suppressed)),
            "not_released": int(np.count_nonzero(~release.quasi[0].here)),
            "unknown": release.extra,
            "cells_suppressed": int(sum(np.count_nonzero(c.suppressed) for c in release.quasi)),
        }
        return about, questions.records, records, disclosed, losses, assessment

    def _disclosed(
        self, name: str, release: Release, known: OriginalInformation
    ) -> Callable[[Mapping[str | None, Mapping[str, Any]]], Disclosed]:
        """The three informations, of the whole key, each column, each secret."""
        codes = {c.name: fill_unreleased(c.released) for c in release.quasi}
        key = fill_unreleased(
            combination_codes([c.released for c in release.quasi], release.quasi[0].here)
        )
        before = {None: known.key} | dict(known.columns)
        after = {None: key} | codes
        kept = {c for c, held in after.items() if np.array_equal(held, before[c])}
        if self.limited:
            self._limits = self._limits or Limits(known)
            self._limits.see(name, release, key)

        def about(
            place: tuple[str | None, str | None],
        ) -> tuple[ContingencyTable, InformationEstimate, InformationEstimate | None]:
            """What a column (None: the key) tells of its original or a secret, and what not."""
            column, secret = place
            if secret is None:
                pair = ContingencyTable.from_codes(after[column], before[column])
                return pair, estimate(pair, **self.how), None
            was, held = known.joint[column, secret], known.secrets[secret]
            pair = was if column in kept else ContingencyTable.from_codes(after[column], held)
            if column in kept and column is not None:
                told = known.told[column, secret]
            else:
                told = estimate(pair, **self.how)
            gone = lost(before[column], after[column], held, before=was, after=pair, **self.how)
            return pair, told, gone

        places = [(c, s) for c in after for s in (None, *known.secrets)]
        begun = self._each(about, places)

        def done(real: Mapping[str | None, Mapping[str, Any]]) -> Disclosed:
            found = dict(zip(places, begun, strict=True))
            identity = Bits(
                found[None, None][1],
                {c: found[c, None][1] for c in codes},
                {"ksg": real[None]} if None in real else {},
            )
            attribute: dict[str, Bits] = {}
            loss: dict[str, Bits] = {}
            for secret in known.secrets:
                distance = class_distance(found[None, secret][0])
                if secret in real:
                    distance["ksg"] = real[secret]
                told = {c: found[c, secret][1] for c in after}
                gone = {c: e for c in after if (e := found[c, secret][2]) is not None}
                attribute[secret] = Bits(told[None], {c: told[c] for c in codes}, distance)
                loss[secret] = Bits(gone[None], {c: gone[c] for c in codes})
            return Disclosed(identity, attribute, loss)

        return done

    def limits(
        self, disclosed: Mapping[str, Disclosed], left: float | None
    ) -> tuple[dict[str, LeastDisclosure], dict[str, dict[str, ReleaseDistance]]]:
        """The limit of each secret and where the releases are, where it was asked for."""
        if self._limits is None:
            return {}, {}
        self.clock("searching the least possible bits", None)
        found = self._limits.solved(disclosed, left)
        self.notes += self._limits.notes
        return found
