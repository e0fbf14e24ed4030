"""What reasoning has found: beliefs, who is right, and what anybody learns of the population."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.attack import Attack, value
from sievert.attacks.reasoning.mcmc.chains import ChainSamples
from sievert.attacks.reasoning.mcmc.diagnostics import jackknife
from sievert.attacks.reasoning.posterior import PosteriorBeliefs
from sievert.attacks.reasoning.risk import (
    SAME,
    CorrectGuesses,
    excess,
    likeliest,
    normalise,
    ratios,
)
from sievert.formatting import percent, plural
from sievert.measures.value import Value

Text = str | None
MOST_WORST = 10
WIDE = 1.96  # standard errors on each side of an interval
NOT_CONVERGED = "the chains have not converged"
NEEDS_ORIGINAL = "needs the original"
MISPLACED = "too many records of the original fit no released class"
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
        self._secrets, self._tables = tuple(secrets), tables

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


@dataclass(frozen=True, repr=False)
class Reasoning:
    """The attacker and the honest learner of one secret."""

    secret: str
    columns: tuple[str, ...]
    people: tuple[tuple[Text, ...], ...]
    secrets: tuple[Text, ...]
    believed: PosteriorBeliefs
    held: Ints  # released records of each secret
    truth: Ints | None  # victims by secrets: the original's records; other secrets in a last column
    rows: tuple[Ints, Ints] | None = None  # of each record of the original: victim, secret
    population: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    released: Mapping[str, Floats] | None = None  # of each released record, without the original

    @cached_property
    def beliefs(self) -> Beliefs:
        """Beliefs by the values known of a victim: attacker, learner, and learner as printed."""
        tables = {
            "attacker": self.believed.attacker,
            "learner": self.believed.learner,
            "learner_printed": self.believed.printed,
        }
        return Beliefs(self.people, self.secrets, tables)

    @property
    def records(self) -> int:
        """The people attacked: those of the original, or else those of the release."""
        return int(self.held.sum() if self.truth is None else self.truth.sum())

    @cached_property
    def chosen(self) -> tuple[Ints, Ints]:
        """The likeliest secrets of each victim, for the attacker and for the learner."""
        b = self.believed
        return likeliest(b.attacker, b.errors[0]), likeliest(b.learner, b.errors[1])

    @cached_property
    def right(self) -> tuple[CorrectGuesses, CorrectGuesses] | None:
        """The records that attacker and learner have right; None without the original."""
        if self.truth is None:
            return None
        return CorrectGuesses.of(self.truth, self.chosen[0]), CorrectGuesses.of(
            self.truth, self.chosen[1]
        )

    @cached_property
    def misplaced(self) -> int:
        """Records of the original that fit no released class."""
        if self.truth is None:
            return 0
        return int(self.truth[self.believed.expected.sum(axis=1) <= 0].sum())

    @property
    def believable(self) -> bool:
        """Whether there are numbers to be told."""
        return self.believed.converged and self.misplaced <= MOST_MISPLACED * self.records

    @cached_property
    def ratio(self) -> Floats:
        """Relative risk of each victim and secret that is at risk under the attacker."""
        return ratios(self.believed.attacker, self.believed.learner, self.chosen[0])

    def status(self) -> tuple[Floats, Floats, Ints] | None:
        """Of each record of the original: the attacker's belief, the learner's, and its state.

        The state is 1 at risk, 0 not, -1 undecided; a tie that is one is at risk.
        """
        if self.rows is None:
            return None
        victims, secrets = self.rows
        known = secrets < len(self.secrets)
        s = np.where(known, secrets, 0)
        attacker = np.where(known, self.believed.attacker[victims, s], 0.0)
        learner = np.where(known, self.believed.learner[victims, s], 0.0)
        chosen = self.chosen[0]
        state = np.where(known & chosen[victims, s], 1, 0)
        if self.believed.sampled is not None:
            several = self._torn()[victims]
            state[(state == 1) & several] = -1
        return attacker, learner, state

    def by_record(self) -> dict[str, tuple[str, list[Any]]] | None:
        """One line a record: of the original, or of the release where there is no original."""
        if self.released is not None:
            lost = not self.believed.converged
            return {
                name: ("DOUBLE", [None if lost or np.isnan(x) else x for x in held.tolist()])
                for name, held in self.released.items()
            }
        told = self.status()
        if told is None:
            return None
        attacker, learner, state = told
        words = np.array(["no", "yes", "undecided"])
        if not self.believed.converged:  # what was not told in words is not told in numbers
            none = [None] * len(state)
            return {
                "attacker": ("DOUBLE", none),
                "learner": ("DOUBLE", none),
                "at_risk": ("VARCHAR", ["undecided"] * len(state)),
            }
        return {
            "attacker": ("DOUBLE", attacker.tolist()),
            "learner": ("DOUBLE", learner.tolist()),
            "at_risk": ("VARCHAR", words[state].tolist()),
        }

    def _torn(self) -> Ints:
        """Victims of whom several secrets may be the likeliest, as far as chains can tell."""
        b = self.believed
        found: Ints = (self.chosen[0] & (b.errors[0] > SAME)).sum(axis=1) > 1
        return found

    # -- numbers --------------------------------------------------------------------------------

    def _headline(self) -> dict[str, tuple[float | None, str | None]]:
        held = int(self.held.max(initial=0)) / max(1, int(self.held.sum()))
        found: dict[str, tuple[float | None, str | None]] = {"baseline": (held, None)}
        if self.right is None:
            why = NEEDS_ORIGINAL if self.believed.converged else NOT_CONVERGED
            return found | {name: (None, why) for name in HEADLINES if name != "baseline"}
        if self.truth is not None:
            known = self.truth.sum(axis=0)[: len(self.secrets)]
            found["baseline"] = (float(known[self.held.argmax()]) / self.records, None)
        if not self.believed.converged:
            return found | {n: (None, NOT_CONVERGED) for n in HEADLINES if n != "baseline"}
        if self.misplaced > MOST_MISPLACED * self.records:
            return found | {n: (None, MISPLACED) for n in HEADLINES if n != "baseline"}
        attacker, learner = self.right
        n = self.records
        assert self.truth is not None
        there = (self.truth[:, : len(self.secrets)] > 0) & ~self._torn()[:, None]
        worst = self.ratio[there].max(initial=0.0)
        return found | {
            "attacker_accuracy": (attacker.fractional / n, None),
            "learner_accuracy": (learner.fractional / n, None),
            "global_relative_risk": (excess(attacker.fractional, learner.fractional, n), None),
            "global_relative_risk_literal": (excess(attacker.literal, learner.literal, n), None),
            "max_relative_risk": (float(worst), None) if worst else (None, "nobody is at risk"),
        }

    @cached_property
    def headlines(self) -> dict[str, Any]:
        """The numbers that a reader wants first."""
        found = {name: number for name, (number, _) in self._headline().items()}
        return {name: found[name] for name in HEADLINES} | {
            "converged": self.believed.converged,
            "method": self.believed.method,
        }

    @cached_property
    def numbers(self) -> dict[str, Value]:
        """The same, each with its unit and its risky side, and what they are made of."""
        told = self._headline()
        found = {name: value(name, *told[name]) for name in HEADLINES}
        if self.right is not None and self.believable:
            attacker, learner = self.right
            n = self.records
            found["attacker_accuracy_literal"] = value(
                "attacker_accuracy_literal", attacker.literal / n
            )
            found["learner_accuracy_literal"] = value(
                "learner_accuracy_literal", learner.literal / n
            )
            found["at_risk"] = value("at_risk", attacker.literal)
            if self.believed.sampled is not None and self.truth is not None:
                torn = self.truth[:, : len(self.secrets)] * self.chosen[0]
                found["undecided"] = value("undecided", int(torn[self._torn()].sum()))
        if self.truth is None and self.believed.converged:
            best = self.believed.expected.max(axis=1).sum()
            total = self.believed.expected.sum()
            found["attacker_expects"] = value("attacker_expects", float(best / total))
        return found

    @cached_property
    def intervals(self) -> dict[str, list[float]]:
        """95 % intervals of accuracies that were sampled: what more sweeps might change."""
        sampled, truth = self.believed.sampled, self.truth
        if sampled is None or truth is None or not self.believable:
            return {}
        found = {}
        for kind, name in enumerate(("attacker_accuracy", "learner_accuracy")):
            errors = self.believed.errors[kind]

            def accuracy(means: Floats, errors: Floats = errors) -> float:
                chosen = likeliest(normalise(means), errors)
                return CorrectGuesses.of(truth, chosen).fractional / self.records

            middle = self._headline()[name][0]
            _, error = jackknife(sampled.batches[:, kind], accuracy)
            assert middle is not None
            found[name] = [max(0.0, middle - WIDE * error), min(1.0, middle + WIDE * error)]
        return found

    @cached_property
    def by_chain(self) -> list[float]:
        """The attacker's accuracy, or what is hoped for, by each chain; empty if not sampled."""
        sampled = self.believed.sampled
        if sampled is None:
            return []
        if self.truth is None:
            each = (sampled.mean(c)[0] for c in range(sampled.chains))
            return [float(e.max(axis=1).sum() / e.sum()) for e in each]
        return [
            CorrectGuesses.of(self.truth, likeliest(normalise(sampled.mean(c)[0]))).fractional
            / self.records
            for c in range(sampled.chains)
        ]

    def _so_far(self, sampled: ChainSamples) -> dict[str, Any]:
        """Running means, by chain, of that reported number on which chains agree least."""
        names = WATCHED if self.truth is not None else HOPED
        least = int(np.argmax(sampled.agreed.rhat[: len(names)]))
        return {"least_agreed": names[least], "so_far": sampled.so_far(least)}

    def worst(self) -> list[dict[str, Any]]:
        """The records whom the release exposes most, by relative risk: numbers of rows."""
        found = self.status()
        if found is None or self.rows is None or not self.believable:
            return []
        attacker, learner, state = found
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

    # -- words ----------------------------------------------------------------------------------

    def reading(self) -> str:
        """The finding in words."""
        columns = plural(len(self.columns), "column")
        these = "this column" if len(self.columns) == 1 else f"these {columns}"
        if not self.believed.converged:
            chains = self.by_chain
            right = "hopes to be right" if self.truth is None else "is right"
            spread = (
                f" By chain, the attacker {right} for {percent(min(chains))} to "
                f"{percent(max(chains))}."
                if chains
                else ""
            )
            return (
                "The chains do not agree, so that no number is given: what an attacker would "
                f"believe is not known.{spread} More sweeps may help (--sweeps); with many secrets "
                "in a group there may be several ways to see the release."
            )
        if not self.believable:
            return (
                f"{self.misplaced:,} of {plural(self.records, 'record')} of the original fit no "
                "released class, so that no number is given. How were values made coarser "
                "(--hierarchy COL=FILE), or is it another table?"
            )
        told = {name: number for name, (number, _) in self._headline().items()}
        base = percent(told["baseline"] or 0.0)
        if self.truth is None:
            hoped = self.numbers["attacker_expects"].value or 0.0
            return (
                f"An attacker who knows {these} expects to name the {self.secret} of "
                f"{percent(hoped)} of the people in the release; guessing the commonest gets "
                f"{base}. Whether the attacker is right cannot be told without the original."
            )
        sure = self.intervals
        text = (
            f"An attacker who knows {these} names the {self.secret} of "
            f"{percent(told['attacker_accuracy'] or 0.0)} of the people in the release"
            f"{_between(sure.get('attacker_accuracy'))}; "
            f"{percent(told['learner_accuracy'] or 0.0)} could be named from what anybody learns "
            f"about the population"
            f"{_between(sure.get('learner_accuracy'))}; guessing the commonest gets {base}."
        )
        least = told["baseline"] or 0.0
        if (told["attacker_accuracy"] or 0.0) < least:
            text += " Less than guessing: are these tables of the same people, values unchanged?"
        worst = self.worst()
        if worst:
            first = worst[0]
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
            "method": self.believed.method,
            "converged": self.believed.converged,
            **self.details,
            "worst": self.worst(),
            "intervals": self.intervals,
            "learner_printed_error": self.believed.printed_error,
        }
        sampled = self.believed.sampled
        if sampled is not None:
            details["sampling"] = {
                "chains": sampled.chains,
                "sweeps": sampled.sweeps,
                "burnt": sampled.burnt,
                "rhat": sampled.rhat if np.isfinite(sampled.rhat) else None,
                "effective": sampled.ess,
                "attacker_by_chain": self.by_chain,
                **self._so_far(sampled),
            }
        details["population"] = _distances(self.population) if self.believed.converged else {}
        if show:
            details["beliefs"] = [
                {
                    "values": dict(zip(self.columns, person, strict=True)),
                    **_listed(self.beliefs[person]),
                }
                for person in self.people[:1000]
            ]
        return Attack(self.numbers, self.reading(), details=details)


def _between(interval: list[float] | None) -> str:
    return "" if interval is None else f" ({percent(interval[0])} to {percent(interval[1])})"


def _listed(beliefs: Mapping[str, Mapping[Text, float]]) -> dict[str, Any]:
    return {
        who: [{"secret": s, "probability": p} for s, p in held.items()]
        for who, held in beliefs.items()
    }


def _distances(population: Mapping[str, Any]) -> dict[str, Any]:
    """What can be told of the population without naming a value."""
    return dict(population.get("distances", {}))
