"""The result of reasoning: beliefs, who is right, and what anybody learns of the population."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints, Text
from sievert.attacks.attack import Attack, value
from sievert.attacks.reasoning.model import normalise
from sievert.attacks.reasoning.posterior import (
    CorrectGuesses,
    PosteriorBeliefs,
    excess,
    likeliest,
    undecided,
)
from sievert.formatting import percent, plural
from sievert.formatting.remarks import Remark
from sievert.measures.measure import Value

MOST_WORST = 10
FAR_APART = 3.0  # standard errors: at two, one tie in twenty would pass for decided
NOT_CONVERGED = Remark("chains_apart")
NEEDS_ORIGINAL = Remark("needs_original")
MISPLACED = Remark("original_misplaced")
NOBODY_AT_RISK = Remark("nobody_at_risk")
MOST_MISPLACED = 0.25  # of the records, for a headline
# What chains must agree on, in the order in which it is watched.
WATCHED = ("attacker_right", "attacker_belief", "learner_right", "learner_belief")
HOPED = ("attacker_expects", "learner_expects")  # without the original
HEADLINES = (
    "attacker_accuracy",
    "learner_accuracy",
    "baseline",
    "global_relative_risk",
    "global_relative_risk_literal",
    "max_relative_risk",
)


class Beliefs(Mapping[tuple[Text, ...], Mapping[str, Mapping[Text, float]]]):
    """What is believed of a victim, by the values that are known of it.

    A victim is named by a tuple of texts in the order of the columns; with one column, by its text.
    """

    def __init__(
        self,
        people: Sequence[tuple[Text, ...]],
        secrets: Sequence[Text],
        tables: Mapping[str, Floats],
    ) -> None:
        self._place = {person: i for i, person in enumerate(people)}
        self._secrets = tuple(secrets)
        self._tables = tables

    def __getitem__(self, key: Any) -> Mapping[str, Mapping[Text, float]]:
        known = key if isinstance(key, tuple) else (key,)
        at = self._place[tuple(k if k is None else str(k) for k in known)]
        return {
            who: dict(zip(self._secrets, table[at].tolist(), strict=True))
            for who, table in self._tables.items()
        }

    def __iter__(self) -> Iterator[tuple[Text, ...]]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)

    def __repr__(self) -> str:
        return f"<beliefs about {plural(len(self), 'kind')} of victims>"


@dataclass(frozen=True, repr=False, kw_only=True)
class Reasoning:
    """The attacker and the honest learner of one secret."""

    secret: str
    columns: tuple[str, ...]
    people: tuple[tuple[Text, ...], ...]
    secrets: tuple[Text, ...]
    posterior: PosteriorBeliefs
    secret_counts: Ints  # released records of each secret
    truth: Ints | None  # victims by secrets: the original's records; other secrets in a last column
    rows: tuple[Ints, Ints] | None = None  # of each record of the original: victim, secret
    population: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    released: Mapping[str, Floats] | None = None  # of each released record, without the original

    @cached_property
    def beliefs(self) -> Beliefs:
        """Beliefs by the values known of a victim: attacker, learner, and learner as printed."""
        tables = {
            "attacker": self.posterior.attacker,
            "learner": self.posterior.learner,
            "learner_printed": self.posterior.printed,
        }
        return Beliefs(self.people, self.secrets, tables)

    @property
    def records(self) -> int:
        """The people attacked: those of the original, or else those of the release."""
        return int(self.secret_counts.sum() if self.truth is None else self.truth.sum())

    @cached_property
    def likeliest_secrets(self) -> tuple[Ints, Ints]:
        """The likeliest secrets of each victim, for the attacker and for the learner."""
        b = self.posterior
        return likeliest(b.attacker, b.errors[0]), likeliest(b.learner, b.errors[1])

    @cached_property
    def correct(self) -> tuple[CorrectGuesses, CorrectGuesses] | None:
        """The records that attacker and learner have right; None without the original."""
        if self.truth is None:
            return None
        attacker, learner = self.likeliest_secrets
        return CorrectGuesses.count(self.truth, attacker), CorrectGuesses.count(self.truth, learner)

    @cached_property
    def unplaced_records(self) -> int:
        """Records of the original that fit no released class."""
        lost = self.posterior.expected.sum(axis=1) <= 0
        return 0 if self.truth is None else int(self.truth[lost].sum())

    @property
    def believable(self) -> bool:
        """Whether there are numbers to be told."""
        return self.posterior.converged and self.unplaced_records <= MOST_MISPLACED * self.records

    @cached_property
    def ratio(self) -> Floats:
        """Relative risk of each victim and secret that is at risk under the attacker."""
        attacker = self.posterior.attacker
        learner = self.posterior.learner
        there = self.likeliest_secrets[0] & (learner > 0)
        return np.asarray(np.divide(attacker, learner, np.zeros_like(attacker), where=there))

    def status(self) -> tuple[Floats, Floats, Ints] | None:
        """Of each record of the original: the attacker's belief, the learner's, and its state.

        The state is 1 at risk, 0 not, -1 undecided; a tie that is one is at risk.
        """
        if self.rows is None:
            return None
        attacker, learner = map(self._of_own, (self.posterior.attacker, self.posterior.learner))
        state = np.where(self._of_own(self.likeliest_secrets[0]), 1, 0)
        state[(state == 1) & self._torn[0][self.rows[0]]] = -1
        return attacker, learner, state

    def _of_own(self, table: Floats | Ints) -> Floats:
        """Of each record of the original, what a table has of its victim and its own secret."""
        assert self.rows is not None
        victims, secrets = self.rows
        known = secrets < len(self.secrets)
        return np.where(known, table[victims, np.where(known, secrets, 0)], 0.0)

    def by_record(self) -> dict[str, tuple[str, list[Any]]] | None:
        """One line per record: of the original, or of the release where there is no original."""
        converged = self.posterior.converged
        if self.released is not None:
            return {
                name: ("DOUBLE", [x if converged and not np.isnan(x) else None for x in numbers])
                for name, numbers in ((n, each.tolist()) for n, each in self.released.items())
            }
        status = self.status()
        if status is None:
            return None
        attacker, learner, state = status
        errors = list(map(self._of_own, self.posterior.errors))
        if not converged:  # what was not told in words is not told in numbers
            attacker, learner, *errors = [np.full(len(state), None)] * 4
            state = np.full(len(state), -1)
        return {
            "attacker": ("DOUBLE", attacker.tolist()),
            "learner": ("DOUBLE", learner.tolist()),
            "at_risk": ("VARCHAR", np.array(["no", "yes", "undecided"])[state].tolist()),
            "attacker_mcse": ("DOUBLE", errors[0].tolist()),
            "learner_mcse": ("DOUBLE", errors[1].tolist()),
        }

    @cached_property
    def _torn(self) -> tuple[Ints, Ints]:
        """The victims whose likeliest secret is undecided, for the attacker and for the learner."""
        attacker, learner = map(undecided, self.likeliest_secrets, self.posterior.errors)
        return attacker, learner

    @cached_property
    def _headline(self) -> dict[str, tuple[float | None, str | None]]:
        """The numbers that a reader wants first, or why there is none."""
        counts = self.secret_counts
        base = (
            int(counts.max(initial=0)) / max(1, int(counts.sum()))
            if self.truth is None
            else float(self.truth.sum(axis=0)[counts.argmax()]) / self.records
        )
        if self.truth is None or self.correct is None or not self.believable:
            why = NEEDS_ORIGINAL if self.truth is None else MISPLACED
            reason = why if self.posterior.converged else NOT_CONVERGED
            return dict.fromkeys(HEADLINES, (None, reason)) | {"baseline": (base, None)}
        attacker, learner = self.correct
        n = self.records
        there = (self.truth[:, : len(self.secrets)] > 0) & ~self._torn[0][:, None]
        worst = self.ratio[there].max(initial=0.0)
        return {
            "attacker_accuracy": (attacker.fractional / n, None),
            "learner_accuracy": (learner.fractional / n, None),
            "baseline": (base, None),
            "global_relative_risk": (excess(attacker.fractional, learner.fractional, n), None),
            "global_relative_risk_literal": (excess(attacker.literal, learner.literal, n), None),
            "max_relative_risk": (float(worst), None) if worst else (None, NOBODY_AT_RISK),
        }

    @cached_property
    def headlines(self) -> dict[str, Any]:
        """The numbers that a reader wants first."""
        return {name: self._headline[name][0] for name in HEADLINES} | {
            "converged": self.posterior.converged,
            "method": self.posterior.method,
        }

    @cached_property
    def numbers(self) -> dict[str, Value]:
        """The same, each with its unit and its risky side, and what they are made of."""
        values = {name: value(name, *self._headline[name]) for name in HEADLINES}
        more: dict[str, float] = {}
        if self.truth is not None and self.correct is not None and self.believable:
            attacker, learner = self.correct
            more = {
                "attacker_accuracy_literal": attacker.literal / self.records,
                "learner_accuracy_literal": learner.literal / self.records,
                "at_risk": attacker.literal,
            }
            if self.posterior.sampled is not None:
                names = ("undecided", "learner_undecided")
                for name, best, torn in zip(names, self.likeliest_secrets, self._torn, strict=True):
                    more[name] = int((self.truth[:, : len(self.secrets)] * best)[torn].sum())
        if self.truth is None and self.posterior.converged:
            expected = self.posterior.expected
            more["attacker_expects"] = float(expected.max(axis=1).sum() / expected.sum())
        return values | {name: value(name, number) for name, number in more.items()}

    @cached_property
    def intervals(self) -> dict[str, list[float]]:
        """Of numbers that were sampled, the ends that undecided people leave open.

        More sweeps might decide an undecided person either way: for the attacker, for the learner.
        """
        sampled = self.posterior.sampled
        truth = self.truth
        if sampled is None or truth is None or not self.believable:
            return {}
        n = self.records
        b = self.posterior
        (a_low, a_high), (l_low, l_high) = (
            CorrectGuesses.bounds(truth, chosen, undecided(chosen, errors))
            for beliefs, errors in zip((b.attacker, b.learner), b.errors, strict=True)
            for chosen in [likeliest(beliefs, errors, FAR_APART)]
        )
        return {
            "attacker_accuracy": [a_low.fractional / n, a_high.fractional / n],
            "learner_accuracy": [l_low.fractional / n, l_high.fractional / n],
            "global_relative_risk": [
                excess(a_low.fractional, l_high.fractional, n),
                excess(a_high.fractional, l_low.fractional, n),
            ],
            "global_relative_risk_literal": [
                excess(a_low.literal, l_high.literal, n),
                excess(a_high.literal, l_low.literal, n),
            ],
        }

    @cached_property
    def by_chain(self) -> list[float]:
        """The attacker's accuracy, or what is hoped for, by each chain; empty if not sampled."""
        sampled = self.posterior.sampled
        truth = self.truth
        expected = [] if sampled is None else [sampled.mean(c)[0] for c in range(sampled.chains)]
        if truth is None:
            return [float(e.max(axis=1).sum() / e.sum()) for e in expected]
        guesses = (CorrectGuesses.count(truth, likeliest(normalise(e))) for e in expected)
        return [each.fractional / self.records for each in guesses]

    def worst(self) -> list[dict[str, Any]]:
        """The records whom the release exposes most, by relative risk: numbers of rows."""
        status = self.status()
        if status is None or self.rows is None or not self.believable:
            return []
        attacker, learner, state = status
        ratio = np.where(state == 1, attacker / np.maximum(learner, 1e-300), 0.0)
        many = min(MOST_WORST, int((state == 1).sum()))
        order = np.lexsort((np.arange(len(ratio)), -ratio))[:many]
        return [
            {
                "row": int(i) + 1,
                "attacker": float(attacker[i]),
                "learner": float(learner[i]),
                "relative_risk": float(ratio[i]),
            }
            for i in order
        ]

    def reading(self) -> str:
        """The finding in words."""
        columns = len(self.columns)
        these = "this column" if columns == 1 else f"these {plural(columns, 'column')}"
        if not self.posterior.converged:
            spread = ""
            chains = [percent(end(self.by_chain)) for end in (min, max) if self.by_chain]
            if chains:
                right = "hopes to be right" if self.truth is None else "is right"
                spread = f" By chain, the attacker {right} for {' to '.join(chains)}."
            return (
                "The chains do not agree, so that no number is given: what an attacker would "
                f"believe is not known.{spread} More sweeps may help (--sweeps); with many secrets "
                "in a group there may be several ways to see the release."
            )
        if not self.believable:
            return (
                f"{self.unplaced_records:,} of {plural(self.records, 'record')} of the original "
                "fit no released class, so that no number is given. How were values made coarser "
                "(--hierarchy COL=FILE), or is it another table?"
            )
        base = self.headlines["baseline"]
        if self.truth is None:
            hoped = self.numbers["attacker_expects"].value or 0.0
            return (
                f"An attacker who knows {these} expects to name the {self.secret} of "
                f"{percent(hoped)} of the people in the release; guessing the commonest gets "
                f"{percent(base)}. Whether the attacker is right cannot be told without the "
                "original."
            )
        attacker = self.headlines["attacker_accuracy"]
        learner = self.headlines["learner_accuracy"]
        text = (
            f"An attacker who knows {these} names the {self.secret} of "
            f"{percent(attacker)} of the people in the release"
            f"{_interval(self.intervals.get('attacker_accuracy'))}; "
            f"{percent(learner)} could be named from what anybody learns about the population"
            f"{_interval(self.intervals.get('learner_accuracy'))}; "
            f"guessing the commonest gets {percent(base)}."
        )
        if attacker < base:
            text += " Less than guessing: are these tables of the same people, values unchanged?"
        for first in self.worst()[:1]:
            text += (
                f" The release adds most about row {first['row']:,}: believed with "
                f"{percent(first['attacker'])}, where a learner has {percent(first['learner'])}."
            )
        return text

    def __repr__(self) -> str:
        return f"<{self.reading()}>"

    def attack(self, *, show: bool = False) -> Attack:
        """As one attack among others."""
        details: dict[str, Any] = {
            "method": self.posterior.method,
            "converged": self.posterior.converged,
            **self.details,
            "worst": self.worst(),
            "intervals": self.intervals,
            "learner_printed_error": self.posterior.printed_error,
        }
        sampled = self.posterior.sampled
        if sampled is not None:
            names = WATCHED if self.truth is not None else HOPED
            least = int(np.argmax(sampled.agreed.rhat[: len(names)]))
            details["sampling"] = {
                "chains": sampled.chains,
                "sweeps": sampled.sweeps,
                "burnt": sampled.burnt,
                "rhat": sampled.rhat if np.isfinite(sampled.rhat) else None,
                "effective": sampled.ess,
                "attacker_by_chain": self.by_chain,
                "least_agreed": names[least],
                "so_far": sampled.so_far(least),
            }
        # Distances tell of the population without naming a value.
        distances = dict(self.population.get("distances", {}))
        details["population"] = distances if self.posterior.converged else {}
        if show:
            details["beliefs"] = [
                {
                    "values": dict(zip(self.columns, person, strict=True)),
                    **{
                        who: [{"secret": s, "probability": p} for s, p in shares.items()]
                        for who, shares in self.beliefs[person].items()
                    },
                }
                for person in self.people[:1000]
            ]
        return Attack(numbers=self.numbers, reading=self.reading(), details=details)


def _interval(interval: list[float] | None) -> str:
    open_ends = interval is not None and interval[0] < interval[1]
    return f" ({percent(interval[0])} to {percent(interval[1])})" if interval and open_ends else ""
