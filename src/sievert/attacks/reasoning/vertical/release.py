"""Beliefs about a release in two tables, whose groups do not tell who has which secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning import published_learner
from sievert.attacks.reasoning.chains import Block
from sievert.attacks.reasoning.horizontal.dirichlet_tree import dirichlets
from sievert.attacks.reasoning.horizontal.release import SMALL
from sievert.attacks.reasoning.model import CLOSED, EXACT, GIBBS, Buckets, ReleaseModel, normalise
from sievert.attacks.reasoning.vertical import enumeration
from sievert.attacks.reasoning.vertical.gibbs import GroupSampler, Slots, slots
from sievert.errors import require

MOST_TABLES = 20_000
MOST_PRINTED = 1000  # tables times victims for whom the printed learner is integrated


@dataclass(frozen=True)
class VerticalModel(ReleaseModel):
    """Groups, and the tables that are possible, where they are few."""

    buckets: Buckets
    owners: Ints  # the victim whose kind each row is of; -1 of none
    solved: enumeration.AssignmentTables | None
    chains: ClassVar[int] = 8  # it takes so many to be believed: there may be several modes

    @classmethod
    def build(
        cls, buckets: Buckets, owners: Ints, atoms: Ints, alpha: Floats, method: str = "auto"
    ) -> VerticalModel:
        """Count all tables where that is allowed and they are few."""
        require(method != CLOSED, "there is no closed form for groups", hint="method='auto'")
        few = method in ("auto", EXACT)
        solved = enumeration.enumerate_tables(buckets, MOST_TABLES) if few else None
        require(
            method != EXACT or solved is not None,
            "there are too many tables to count them all",
            hint="method='auto'",
        )
        counts = np.bincount(buckets.secrets, minlength=len(alpha))
        return cls(atoms, alpha, counts, buckets, owners, solved)

    @property
    def priors(self) -> tuple[Floats, ...]:
        """Of each factor the weights of atoms for each secret."""
        return self.buckets.priors

    @property
    def method(self) -> str:
        """How it is solved."""
        return GIBBS if self.solved is None else EXACT

    @property
    def work(self) -> int:
        """Records that a sweep redraws, about."""
        return 10 * len(self.buckets.secrets)

    @cached_property
    def slots(self) -> Slots:
        """Where shares are kept."""
        return slots(self.buckets)

    @cached_property
    def _cells(self) -> tuple[Ints, Ints]:
        """Of each share that is about some victim: its place, and its victim and secret in one."""
        victims = self.owners[self.slots.rows]
        kept = np.flatnonzero(victims >= 0)
        return kept, victims[kept] * len(self.alpha) + self.slots.secrets[kept]

    def expected_records(self, shares: Floats) -> Floats:
        """How many records with each secret are expected of each victim's kind."""
        kept, cells = self._cells
        counts = np.bincount(cells, shares[kept], len(self.atoms) * len(self.alpha))
        return np.asarray(counts.reshape(self.shape), np.float64)

    def expected_counts(self, shares: Floats) -> Floats:
        """How many are expected to have each secret and atom of the only factor."""
        many, atoms = self.buckets.priors[0].shape
        cells = self.slots.secrets * atoms + self.buckets.atoms[self.slots.rows, 0]
        return np.asarray(np.bincount(cells, shares, many * atoms).reshape(many, atoms), np.float64)

    def populations(self, counts: Sequence[Ints | Floats]) -> tuple[Floats, ...]:
        """What is expected of the population, given a table."""
        return tuple(normalise(p + table) for p, table in zip(self.priors, counts, strict=True))

    def exact(self) -> Block:
        """All beliefs, where nothing is sampled; the printed learner's are left out."""
        assert self.solved is not None
        learned = np.zeros(self.shape)
        for weight, table in self.solved.tables:
            learned += weight * self.learner_weights(self.populations(table))
        mean = self.populations(self.solved.expected_counts)
        return Block(self.expected_records(self.solved.shares), learned, np.zeros(self.shape), mean)

    def published_learner(self) -> Floats | None:
        """The printed learner's beliefs, integrated; None where tables or victims are many."""
        gammas = (self.alpha + self.secret_counts).tolist()
        small = min(*(float(p.min()) for p in self.priors), *gammas) < SMALL
        if (
            small
            or self.solved is None
            or len(self.solved.weights) * len(self.atoms) > MOST_PRINTED
        ):
            return None
        beliefs = np.zeros(self.shape)
        for weight, table in self.solved.tables:
            shapes = [p + t for p, t in zip(self.priors, table, strict=True)]
            totals = [shape.sum(axis=1) for shape in shapes]
            for v, person in enumerate(self.atoms.tolist()):
                own = list(zip(shapes, totals, person, strict=True))
                mixtures = [
                    [(1.0, [(float(x[s, a]), float(n[s]) - float(x[s, a])) for x, n, a in own])]
                    for s in range(len(gammas))
                ]
                beliefs[v] += weight * published_learner.shares(gammas, mixtures)
        return beliefs

    def draws(self, rng: np.random.Generator, many: int) -> list[Floats]:
        """Draws of the population, where nothing is sampled: a factor's draws, secrets, atoms."""
        assert self.solved is not None
        drawn = self.solved.draw(rng, many)
        return [
            np.array([dirichlets(rng, prior + each[f]) for each in drawn])
            for f, prior in enumerate(self.priors)
        ]

    def walk(self, rng: np.random.Generator) -> VerticalChain:
        """A chain."""
        return VerticalChain(self, rng)


class VerticalChain:
    """One chain over who has which secret."""

    def __init__(self, model: VerticalModel, rng: np.random.Generator) -> None:
        self.model, self.rng = model, rng
        self.chain = GroupSampler(model.buckets, rng)

    def burn(self, sweeps: int) -> None:
        """Sweeps that are forgotten."""
        self.chain.sweep(sweeps)
        self.chain.read()

    def block(self, sweeps: int) -> Block:
        """The next few sweeps; with several factors the learner sees the last of them."""
        self.chain.sweep(sweeps)
        model, shares, counts = self.model, self.chain.read(), self.chain.counts
        one = len(counts) == 1  # what is learnt is then linear in the counts
        populations = model.populations([model.expected_counts(shares)] if one else counts)
        both = zip(model.priors, counts, strict=True)
        drawn = tuple(dirichlets(self.rng, prior + table) for prior, table in both)
        return Block(
            model.expected_records(shares),
            model.learner_weights(populations),
            model.printed_under(drawn, self.rng),
            populations,
            drawn,
        )
