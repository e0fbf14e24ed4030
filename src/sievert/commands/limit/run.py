"""One limit in the making: the records as codes, alphabets, channels, what is drawn from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands import _pairing
from sievert.commands._common import Clock, RequestedRoles
from sievert.commands._pairing import sparse_numbers
from sievert.commands.limit import columns as column
from sievert.commands.limit import gaussian
from sievert.commands.limit.alphabets import COLUMNS, ReleaseAlphabet, alphabets
from sievert.commands.limit.channels import (
    IDENTITY,
    LABELLED,
    REVERSE,
    epsilon,
    solutions,
    synthetic,
    trimmed,
)
from sievert.commands.limit.release_files import TEXT, Written
from sievert.commands.limit.result import Achieved, AlphabetResult, TradeoffPoint
from sievert.commands.limit.sampling import draw, inside, promised
from sievert.commands.limit.settings import LimitSettings, about
from sievert.errors import UsageError, unknown
from sievert.estimators import ContingencyTable as Counted
from sievert.estimators import InformationEstimate, binned, estimate, quantile_bins
from sievert.losses.loss import as_numbers, combination_codes
from sievert.notes import Count, Name, Note
from sievert.tradeoff import Joint, Tradeoff, interval_recodings

if TYPE_CHECKING:
    from sievert.counts.questions import Questions

MOST_INTERVALS = 12


class Run:
    """One limit in the making."""

    def __init__(self, clock: Clock, asked: LimitSettings) -> None:
        self.clock, self.asked = clock, asked
        self.notes: list[Note] = []
        self.drawn: list[tuple[ReleaseAlphabet, Ints]] = []
        self.numbers: dict[str, Any] = {}  # released columns of real numbers

    def original(
        self,
        name: str,
        questions: Questions,
        requested: RequestedRoles,
        missing: str,
        *,
        everything: bool,
    ) -> None:
        """The records as codes; all columns where they are to be released."""
        self.columns = columns = questions.columns
        self.roles, _ = requested.assign(questions)
        both = [q for q in self.roles.quasi if q in self.roles.sensitive]
        if both:
            raise UsageError(
                f"column {both[0]!r} is both released and secret", hint="-q and -s without it twice"
            )
        if not self.roles.sensitive and not self.asked.alike:
            raise UsageError("no secret given", hint="-s disease, or --model identity")
        if self.roles.sensitive and self.asked.alike:
            self.notes.append(Note("the key itself is the secret here: other secrets do not count"))
        trees = self.asked.hierarchies or {}
        for given in trees:
            if given not in self.roles.quasi:
                raise unknown("--hierarchy: quasi-identifier", given, self.roles.quasi)
        column.check_kind(self.asked.distortion, len(self.roles.quasi), trees)
        _, notes = requested.prepare(questions, self.roles, missing)
        self.notes += notes
        self.clock("reading the records", questions)
        kept = tuple(c for c in columns if c not in self.roles.identifier)
        self.in_order = questions.engine.name == "duckdb"
        if everything and not self.in_order:
            raise UsageError(
                f"{questions.engine.name} knows no order of records: no release can be written",
                hint="the same without -o, or the engine duckdb",
            )
        wanted = kept if everything else self.roles.measured_columns
        if self.in_order:
            self.people = _pairing.people(questions, wanted, None, name)
        else:
            self.people = _pairing.People(name, questions.cube(wanted), keyed=False)
        self.weights = np.asarray(self.people.cube.counts, dtype=np.int64)
        kinds = getattr(questions.engine, "kinds", {})
        self.kinds = {c: str(kinds.get(c, TEXT)) for c in kept}
        self.unassessed = tuple(c for c in kept if c not in self.roles.measured_columns)
        if everything and self.unassessed:
            self.notes.append(
                Note(
                    "{} not assessed, yet released unchanged: an outsider may know them too",
                    Count(len(self.unassessed), "column"),
                )
            )
        if everything:
            self.notes.append(Note("secrets are released as they are, beside the drawn values"))
        if everything and self.asked.seed == 0:
            text = "drawn with the seed that everybody has: who knows the channel can repeat it"
            self.notes.append(Note(text + "; give a --seed of your own, and keep it to yourself"))

    # -- finite alphabets -----------------------------------------------------------------------

    def finite(self) -> tuple[str, list[AlphabetResult]]:
        """The parts of columns taken value by value, and which kind of alphabet it was."""
        asked, trees = self.asked, self.asked.hierarchies or {}
        held = [
            column.column(
                q, self.people.texts(q), self.people.codes(q), asked.distortion, trees.get(q)
            )
            for q in self.roles.quasi
        ]
        self.notes += column.remarks(held, asked.distortion)
        labelled = asked.model in LABELLED
        if labelled and (asked.reduced is not None or held[0].kind == column.MATRIX):
            raise UsageError(
                f"model {asked.model} releases values drawn from the table",
                hint="without --reduced, and without distances from a file",
            )
        self.secret = secret = self._secret()
        kind, found = alphabets(
            held,
            secret,
            self.weights,
            asked.alphabet,
            asked.most,
            occurring=asked.occurring or labelled,
            reduced=asked.reduced,
        )
        self.notes += about(kind, found, labelled=labelled)
        parts = []
        for number, each in enumerate(found):
            self.clock(f"channel {number + 1} of {len(found)}", None)
            parts.append(self._part(number, each, secret))
        return kind, parts

    def _secret(self) -> Ints:
        """One code a record for the secrets together; real numbers in bins."""
        if self.asked.alike:
            return np.zeros(len(self.weights), dtype=np.int64)
        codes = []
        for s in self.roles.sensitive:
            held = self.people.codes(s).astype(np.int64)
            numbers = as_numbers(self.people.texts(s))
            if numbers is not None and self.in_order and sparse_numbers(self.people, s):
                held = binned(numbers[held], quantile_bins(numbers[held]))
                self.notes.append(
                    Note(
                        "{} has nearly as many numbers as there are records: cut at quantiles",
                        Name(s),
                    )
                )
            codes.append(held)
        if len(codes) > 1:
            self.notes.append(Note("the secrets count as one: the combination of their values"))
        return combination_codes(codes)

    def _part(self, number: int, held: ReleaseAlphabet, secret: Ints) -> AlphabetResult:
        asked, model = self.asked, self.asked.model
        joint = Joint.identity(held.counts.sum(axis=1)) if asked.alike else Joint.of(held.counts)
        found = solutions(joint, held.distortion, model, asked.at, **asked.solving)
        others: list[Tradeoff] = []
        if asked.points:
            others = solutions(
                joint, held.distortion, model, None, points=asked.points, **asked.solving
            )
        points = [self._point(held, joint, f, True) for f in found]
        points += [self._point(held, joint, f, False) for f in others]
        part = AlphabetResult(
            held.names,
            column.words(held.columns),
            all(c.kind == column.HAMMING for c in held.columns),
            len(held.symbols),
            len(held.released),
            held.merged,
            held.everything,
            held.reduced,
            self._estimate(held.of_record, held.of_record if asked.alike else secret),
            tuple(sorted(points, key=lambda p: (p.at, not p.asked))),
            self._recodings(held, joint),
            texts=(held.texts(released=False), held.texts(released=True)),
        )
        return self._drawn(part, number, held, joint, found[0], secret) if len(found) == 1 else part

    def _point(
        self, held: ReleaseAlphabet, joint: Joint, found: Tradeoff, asked: bool
    ) -> TradeoffPoint:
        told = TradeoffPoint.of(
            held.names, self.asked.model, found, epsilon(found.channel), asked=asked
        )
        if found.distortion is not None:
            return told
        channel = synthetic(joint.weights, trimmed(found.channel))
        far = float(joint.weights @ np.einsum("ij,ij->i", channel, held.distortion))
        return replace(told, distortion=far)  # of the synthetic release

    def _recodings(self, held: ReleaseAlphabet, joint: Joint) -> tuple[Any, ...]:
        """The best intervals of one ordered column, where what they disclose is asked."""
        if not held.ordered or self.asked.model not in (1, 2, IDENTITY, REVERSE):
            return ()
        return tuple(interval_recodings(joint, held.distortion, most=MOST_INTERVALS))

    def _drawn(
        self,
        part: AlphabetResult,
        number: int,
        held: ReleaseAlphabet,
        joint: Joint,
        found: Tradeoff,
        secret: Ints,
    ) -> AlphabetResult:
        """The same part with its channel, and with what a release drawn from it shows."""
        channel = trimmed(found.channel)
        if self.asked.model in LABELLED:
            channel = trimmed(synthetic(joint.weights, channel))
        promise = promised(held, channel, joint)
        part = replace(part, channel=channel, epsilon=epsilon(channel), promise=promise)
        if not self.in_order:
            return part
        drawn = draw(channel, held.of_record, self.asked.seed, number)
        self.drawn.append((held, drawn))
        far = float(held.apart(drawn).mean())
        risk = self._estimate(drawn, held.of_record if self.asked.alike else secret)
        return replace(
            part,
            achieved=Achieved(
                risk,
                far,
                Counted.from_codes(drawn, held.of_record).information,
                inside(risk.value, promise.risk_range),
                inside(far, promise.distortion_range),
            ),
        )

    def _estimate(self, first: Ints, second: Ints) -> InformationEstimate:
        """What two columns of codes tell of each other, chance told apart."""
        if self.in_order:
            return estimate(Counted.from_codes(first, second), shuffles=0)
        width = int(second.max()) + 1
        keys, places = np.unique(first * width + second, return_inverse=True)
        sizes, values, counts = (
            np.bincount(c, self.weights).astype(np.int64) for c in (first, second, places)
        )
        return estimate(Counted(int(self.weights.sum()), sizes, values, keys, counts), shuffles=0)

    def whole(self, kind: str) -> dict[str, InformationEstimate]:
        """The table itself and the release, all columns together, where each has its channel."""
        if kind != COLUMNS or self.asked.alike:
            return {}
        before = combination_codes(
            [self.people.codes(q).astype(np.int64) for q in self.roles.quasi]
        )
        found = {"table": self._estimate(before, self.secret)}
        if self.drawn:
            found["release"] = self._estimate(
                combination_codes([d for _, d in self.drawn]), self.secret
            )
        return found

    # -- Gaussian columns -----------------------------------------------------------------------

    def gaussian(self) -> AlphabetResult:
        """The part of columns of real numbers, taken as Gaussian after a look at how they are."""
        asked, plain = self.asked, LimitSettings(self.asked.model, self.asked.at)
        if asked.model not in (1, 2, 3, 4):
            raise UsageError(f"no model {asked.model} of Gaussian columns", hint="--model 1 to 4")
        for name in ("distortion", "alphabet", "occurring", "reduced", "most"):
            if getattr(asked, name) != getattr(plain, name) or asked.hierarchies:
                raise UsageError(
                    "Gaussian columns have no values one by one, and a distortion of their own",
                    hint="--gaussian without --distortion, --hierarchy, --alphabet, --reduced",
                )
        if not self.in_order:
            raise UsageError("Gaussian columns need records in order", hint="the engine duckdb")
        self.clock("Gaussian channel", None)
        x, y = (self._real(names) for names in (self.roles.quasi, self.roles.sensitive))
        part, released, notes = gaussian.limited(
            x,
            y,
            self.roles.quasi,
            self.roles.sensitive,
            asked.model,
            asked.at,
            asked.points,
            asked.seed,
        )
        self.notes += notes
        if released is not None:
            self.numbers = {q: released[:, j] for j, q in enumerate(self.roles.quasi)}
        return part

    def _real(self, names: Sequence[str]) -> Floats:
        found = []
        for name in names:
            numbers = as_numbers(self.people.texts(name))
            if numbers is None:
                raise UsageError(
                    f"column {name!r} does not hold numbers", hint="without --gaussian"
                )
            found.append(numbers[self.people.codes(name)])
        return np.stack(found, axis=1)

    # -- the release ----------------------------------------------------------------------------

    def release(self) -> list[Written]:
        """All columns but identifiers, in their order; quasi-identifiers as they were drawn."""
        new: dict[str, Written] = {}
        for q, numbers in self.numbers.items():
            values, codes = np.unique(numbers, return_inverse=True)
            new[q] = Written(q, [f"{v:.10g}" for v in values.tolist()], codes, "DOUBLE")
        for held, drawn in self.drawn:
            for j, c in enumerate(held.columns):
                kind = self.kinds[c.name] if c.labels is c.values else TEXT
                new[c.name] = Written(c.name, c.labels, held.released[drawn, j], kind)
        found = []
        for name in (c for c in self.columns if c not in self.roles.identifier):
            if name in new:
                found.append(new[name])
            else:
                codes = self.people.codes(name).astype(np.int64)
                found.append(Written(name, self.people.texts(name), codes, self.kinds[name]))
        return found
