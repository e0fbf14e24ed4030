"""Beliefs about a release in two tables, whose groups do not tell who has which secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning import published_learner
from sievert.attacks.reasoning.chains import Block
from sievert.attacks.reasoning.horizontal.dirichlet_tree import dirichlets
from sievert.attacks.reasoning.horizontal.release import SMALL, kind_weights, shares_under
from sievert.attacks.reasoning.model import CLOSED, EXACT, GIBBS, Buckets, normalise
from sievert.attacks.reasoning.vertical import enumeration
from sievert.attacks.reasoning.vertical.gibbs import GroupSampler, Slots, slots
from sievert.errors import require

MOST_TABLES = 20_000
MOST_PRINTED = 1000  # tables times victims for whom the printed learner is integrated


@dataclass(frozen=True)
class VerticalModel:
    """Groups, the victims, and the tables that are possible, where they are few."""

    buckets: Buckets
    owners: Ints  # the victim whose kind each row is of; -1 of none
    atoms: Ints  # victims by factors
    alpha: Floats
    solved: enumeration.AssignmentTables | None

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
        return cls(buckets, owners, atoms, alpha, solved)

    @property
    def chains(self) -> int:
        """How many chains it takes to be believed: there may be several modes."""
        return 8

    @property
    def shape(self) -> tuple[int, int]:
        """How many victims and secrets there are."""
        return len(self.atoms), len(self.alpha)

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
    def secret_counts(self) -> Ints:
        """Records of each secret."""
        return np.bincount(self.buckets.secrets, minlength=len(self.alpha))

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
        size = len(self.atoms) * len(self.alpha)
        return np.asarray(np.bincount(cells, shares[kept], size).reshape(self.shape), np.float64)

    def expected_counts(self, shares: Floats) -> Floats:
        """How many are expected to have each secret and atom of the only factor."""
        many, atoms = self.buckets.priors[0].shape
        cells = self.slots.secrets * atoms + self.buckets.atoms[self.slots.rows, 0]
        return np.asarray(np.bincount(cells, shares, many * atoms).reshape(many, atoms), np.float64)

    def populations(self, counts: Sequence[Ints | Floats]) -> tuple[Floats, ...]:
        """What is expected of the population, given a table."""
        return tuple(
            normalise(prior + held) for prior, held in zip(self.buckets.priors, counts, strict=True)
        )

    def learner_weights(self, populations: Sequence[Floats]) -> Floats:
        """The population's weight of each victim's kind with each secret, given a table."""
        return kind_weights(normalise(self.alpha + self.secret_counts), populations, self.atoms)

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
        if self.solved is None or len(self.solved.weights) * len(self.atoms) > MOST_PRINTED:
            return None
        gammas = (self.alpha + self.secret_counts).tolist()
        if min(*(float(p.min()) for p in self.buckets.priors), *gammas) < SMALL:
            return None
        beliefs = np.zeros(self.shape)
        for weight, table in self.solved.tables:
            shapes = [p + t for p, t in zip(self.buckets.priors, table, strict=True)]
            totals = [shape.sum(axis=1) for shape in shapes]
            for v, person in enumerate(self.atoms.tolist()):
                mixtures = []
                for s in range(len(gammas)):
                    first = [float(shape[s, a]) for shape, a in zip(shapes, person, strict=True)]
                    both = zip(first, totals, strict=True)
                    mixtures.append([(1.0, [(b, float(total[s]) - b) for b, total in both])])
                beliefs[v] += weight * published_learner.shares(gammas, mixtures)
        return beliefs

    def draws(self, rng: np.random.Generator, many: int) -> list[Floats]:
        """Draws of the population, where nothing is sampled: a factor's draws, secrets, atoms."""
        assert self.solved is not None
        drawn = [self.solved.draw(rng) for _ in range(many)]
        return [
            np.array([dirichlets(rng, prior + each[f]) for each in drawn])
            for f, prior in enumerate(self.buckets.priors)
        ]

    def printed_under(self, drawn: Sequence[Floats], rng: np.random.Generator) -> Floats:
        """The printed learner's shares under one draw of the population."""
        return shares_under(self.alpha + self.secret_counts, drawn, self.atoms, rng)

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
        shares, counts = self.chain.read(), self.chain.counts
        one = len(counts) == 1  # what is learnt is then linear in the counts
        populations = self.model.populations(
            [self.model.expected_counts(shares)] if one else counts
        )
        drawn = tuple(
            dirichlets(self.rng, prior + table)
            for prior, table in zip(self.model.buckets.priors, counts, strict=True)
        )
        return Block(
            self.model.expected_records(shares),
            self.model.learner_weights(populations),
            self.model.printed_under(drawn, self.rng),
            populations,
            drawn,
        )
