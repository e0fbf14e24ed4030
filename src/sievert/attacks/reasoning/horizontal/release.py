"""Beliefs about a release whose values were made coarser.

Each factor and each secret is a problem of its own: solved in closed form where sets are disjoint
or nested, by counting all tables where they are few, and sampled otherwise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning import published_learner
from sievert.attacks.reasoning.candidates import CandidatePairs, distinct_rows
from sievert.attacks.reasoning.chains import Block
from sievert.attacks.reasoning.horizontal.dirichlet_tree import DirichletTree, solve_trees
from sievert.attacks.reasoning.horizontal.enumeration import CompatibleTables, enumerate_tables
from sievert.attacks.reasoning.horizontal.gibbs import WHOLE, ShareLayout, UrnSampler
from sievert.attacks.reasoning.model import BetaMixture, Factor, ReleaseModel
from sievert.attacks.reasoning.settings import AUTO, CLOSED, EXACT, GIBBS
from sievert.errors import require

Solved = DirichletTree | CompatibleTables
MOST_TABLES = 50_000
MOST_WAYS = math.log(1e8)
MOST_PRINTED = 300  # different victims for whom the printed learner is integrated, not drawn
SMALL = 0.05  # with a smaller weight the printed learner is drawn: integrals take long
MOST_COMPONENTS = 256  # of a mixture
AHEAD = 32


@dataclass(frozen=True, kw_only=True)
class HorizontalModel(ReleaseModel):
    """Factors, the classes with their labels and secrets, and what is solved.

    Victim `pairs.victims[p]` may be in class `pairs.classes[p]`; `places[f][p]` is the place of the
    victim's atom among the members of the class's label in factor f.
    """

    factors: tuple[Factor, ...]
    class_counts: Ints  # classes by secrets
    pairs: CandidatePairs
    places: tuple[Ints, ...]
    solved: tuple[tuple[Solved | None, ...], ...]  # by factor and secret
    chains: ClassVar[int] = 4  # enough to be believed, because sets of values mix well

    @classmethod
    def build(
        cls,
        factors: Sequence[Factor],
        class_counts: Ints,
        labels: Ints,
        atoms: Ints,
        pairs: CandidatePairs,
        alpha: Floats,
        method: str = "auto",
    ) -> "HorizontalModel":
        """Solve what can be solved by the methods allowed; `labels` is classes by factors."""
        solved = _solutions(factors, method)
        require(
            method not in (CLOSED, EXACT) or all(None not in row for row in solved),
            "sets of values overlap: there is no closed form"
            if method == CLOSED
            else "there are too many tables to count them all",
            hint="method='auto'",
        )
        places = []
        for f, factor in enumerate(factors):
            size = factor.prior.shape[1]
            widths = np.diff(factor.starts)
            keys = np.repeat(np.arange(len(widths)), widths) * size + factor.members
            wanted = labels[pairs.classes, f] * size + atoms[pairs.victims, f]
            places.append(np.searchsorted(keys, wanted))
        return cls(
            atoms=atoms,
            alpha=alpha,
            secret_counts=class_counts.sum(axis=0),
            factors=tuple(factors),
            class_counts=class_counts,
            pairs=pairs,
            places=tuple(places),
            solved=solved,
        )

    @property
    def priors(self) -> tuple[Floats, ...]:
        """Of each factor the weights of atoms for each secret."""
        return tuple(factor.prior for factor in self.factors)

    @property
    def method(self) -> str:
        """The least exact way that any part of it needs."""
        kinds = {type(each) for row in self.solved for each in row}
        if type(None) in kinds:
            return GIBBS
        if CompatibleTables in kinds:
            return EXACT
        return CLOSED

    @cached_property
    def moving(self) -> list[list[int]]:
        """Of each factor the secrets that are sampled."""
        return [[s for s, each in enumerate(row) if each is None] for row in self.solved]

    @cached_property
    def terms(self) -> "VictimTerms":
        """What is looked up after every few sweeps: the same for all chains."""
        pairs, secrets = np.nonzero(self.class_counts[self.pairs.classes])
        populations, shares = self.solved_shares()
        fixed = self.class_counts[self.pairs.classes[pairs], secrets].astype(np.float64)
        layouts = list[ShareLayout | None]()
        spots = list[Ints]()
        for f, moving in enumerate(self.moving):
            rows = np.full(len(self.alpha), -1)
            rows[moving] = np.arange(len(moving))
            own = rows[secrets]
            sampled = np.flatnonzero(own >= 0)
            solved = np.flatnonzero(own < 0)
            fixed[solved] *= shares[f][secrets[solved], pairs[solved]]
            layout = ShareLayout.build(self.factors[f], moving) if moving else None
            layouts.append(layout)
            spots.append(np.zeros(0, dtype=np.int64))
            if layout is not None:
                sampled_spots = layout.spots(own[sampled], self.places[f][pairs[sampled]])
                spots[-1] = np.full(len(pairs), WHOLE, dtype=sampled_spots.dtype)
                spots[-1][sampled] = sampled_spots
        cells = self.pairs.victims[pairs] * len(self.alpha) + secrets
        return VictimTerms(
            cells=cells,
            fixed=fixed,
            layouts=tuple(layouts),
            spots=tuple(spots),
            populations=tuple(populations),
        )

    @property
    def work(self) -> int:
        """Records that a sweep redraws, about."""
        return sum(
            int(factor.counts[:, moving].sum())
            for factor, moving in zip(self.factors, self.moving, strict=True)
        )

    def solved_shares(self) -> tuple[list[Floats], list[Floats]]:
        """What is solved, 0 for what is sampled.

        Of each factor the population, and the shares of the candidates' atoms in their labels.
        """
        populations = [np.zeros_like(prior) for prior in self.priors]
        shares = [np.zeros((len(self.alpha), len(places))) for places in self.places]
        for f, row in enumerate(self.solved):
            for s, each in enumerate(row):
                if each is not None:
                    posterior = each.posterior()
                    populations[f][s] = posterior.population
                    shares[f][s] = posterior.inside[self.places[f]]
        return populations, shares

    def expected_records(self, shares: Sequence[Floats]) -> Floats:
        """How many records with each secret are expected of each victim's kind.

        `shares[f]`, secrets by pairs, is what the factor gives the victim's atom within the class's
        label.
        """
        records = np.zeros(self.shape)
        if len(self.pairs.victims):
            terms = self.class_counts[self.pairs.classes].T.astype(np.float64)
            for each in shares:
                terms *= each
            first = np.flatnonzero(np.diff(self.pairs.victims, prepend=-1))
            records[self.pairs.victims[first]] = np.add.reduceat(terms, first, axis=1).T
        return records

    def exact(self) -> Block:
        """All beliefs, where nothing is sampled; the printed learner's are left out."""
        populations, shares = self.solved_shares()
        learned = self.learner_weights(populations)
        return Block(
            expected=self.expected_records(shares),
            learned=learned,
            printed=np.zeros_like(learned),
            populations=tuple(populations),
        )

    def published_learner(self) -> Floats | None:
        """The printed learner's beliefs, integrated; None where too many victims differ."""
        if self.method == GIBBS:
            return None
        kinds: dict[BetaMixture, int] = {}
        keys = np.concatenate(
            [
                _number_mixtures(row, np.unique(atoms), kinds)[:, atoms]
                for row, atoms in zip(self.solved, self.atoms.T, strict=True)
            ]
        )
        different, which = distinct_rows(keys.T)
        distinct_mixtures = list(kinds)
        many = len(self.alpha)
        gammas = (self.alpha + self.secret_counts).tolist()
        least = min(
            b
            for mixture in distinct_mixtures
            for _, pairs in mixture
            for b, _ in pairs or ((1.0, 0),)
        )
        if len(different) > MOST_PRINTED or min(least, *gammas) < SMALL:
            return None
        beliefs = []
        for key in different.reshape(-1, len(self.factors), many).tolist():
            mixtures = [_multiply([distinct_mixtures[own[s]] for own in key]) for s in range(many)]
            if max(map(len, mixtures)) > MOST_COMPONENTS:
                return None
            beliefs.append(published_learner.shares(gammas, mixtures))
        return np.array(beliefs)[which]

    def draws(self, rng: np.random.Generator, many: int) -> list[Floats]:
        """Draws of the population, 0 of what is sampled: a factor's draws, secrets, atoms."""
        draws = [np.zeros((many, *prior.shape)) for prior in self.priors]
        for own, row in zip(draws, self.solved, strict=True):
            for s, each in enumerate(row):
                if each is not None:
                    own[:, s] = each.draw(rng, many)
        return draws

    def reweight(self, times: float) -> "HorizontalModel":
        """Multiply the prior weights of values by `times`, and solve the model anew."""
        factors = tuple(replace(f, prior=f.prior * times) for f in self.factors)
        return replace(self, factors=factors, solved=_solutions(factors, "auto"))

    def walk(self, rng: np.random.Generator) -> "HorizontalChain":
        """A chain for what is not solved."""
        return HorizontalChain(self, rng)


@dataclass(frozen=True, kw_only=True)
class VictimTerms:
    """The terms of the victims' beliefs: one for each class and secret that a victim may have.

    Term i belongs to the cell `cells[i]`, a victim with a secret. It is `fixed[i]` times the values
    at `spots[f][i]` of each factor f that has a layout; `fixed` has the records of the class with
    the secret times the shares that are solved. `populations` are the solved ones, and 0 elsewhere.
    """

    cells: Ints
    fixed: Floats
    layouts: tuple[ShareLayout | None, ...]
    spots: tuple[Ints, ...]
    populations: tuple[Floats, ...]


class HorizontalChain:
    """One chain: urns for the secrets of each factor that are not solved."""

    def __init__(self, model: HorizontalModel, rng: np.random.Generator) -> None:
        self.model = model
        self.rng = rng
        parts = zip(model.factors, model.moving, model.terms.layouts, strict=True)
        self.urns = [
            None if layout is None else UrnSampler(factor, secrets, rng, layout=layout)
            for factor, secrets, layout in parts
        ]
        self.populations = [p.copy() for p in model.terms.populations]
        self.ahead: list[list[Floats]] = []  # draws of what is solved

    def burn(self, sweeps: int) -> None:
        """Sweeps that are forgotten."""
        for urns in self.urns:
            if urns is not None:
                urns.sweep(sweeps)
                urns.read()

    def block(self, sweeps: int) -> Block:
        """The next few sweeps; factors are independent, so that means multiply."""
        if not self.ahead:  # what is solved is drawn many times at once
            self.ahead = [
                list(each) for each in zip(*self.model.draws(self.rng, AHEAD), strict=True)
            ]
        drawn = self.ahead.pop()
        lookup = self.model.terms
        terms = lookup.fixed.copy()
        for f, (urns, secrets) in enumerate(zip(self.urns, self.model.moving, strict=True)):
            if urns is not None:
                urns.sweep(sweeps)
                self.populations[f][secrets], inside = urns.read()
                terms *= inside.take(lookup.spots[f])
                drawn[f][secrets] = urns.draw(self.rng)
        expected = np.bincount(lookup.cells, terms, math.prod(self.model.shape))
        return Block(
            expected=np.asarray(expected.reshape(self.model.shape), np.float64),
            learned=self.model.learner_weights(self.populations),
            printed=self.model.printed_under(drawn, self.rng),
            populations=tuple(p.copy() for p in self.populations),
            drawn=tuple(drawn),
        )


def _solutions(factors: Sequence[Factor], method: str) -> tuple[tuple[Solved | None, ...], ...]:
    """Every secret of every factor, solved as the method allows."""
    solved: list[list[Solved | None]] = [
        list(solve_trees(f)) if method in (AUTO, CLOSED) else [None] * f.counts.shape[1]
        for f in factors
    ]
    left = [(f, s) for f, row in enumerate(solved) for s, each in enumerate(row) if each is None]
    if method == EXACT or (method == AUTO and all(_few(factors[f], s) for f, s in left)):
        for f, s in left:
            solved[f][s] = enumerate_tables(factors[f], s, MOST_TABLES)
            if solved[f][s] is None:  # the rest need not be counted: something is sampled anyway
                break
    return tuple(tuple(row) for row in solved)


def _few(factor: Factor, secret: int) -> bool:
    """Whether the ways in which records may be spread over their labels' atoms are few."""
    sizes = np.diff(factor.starts)
    records = factor.counts[:, secret]
    free = (records > 0) & (sizes > 1) & (sizes < factor.prior.shape[1])
    pairs = zip(records[free].tolist(), sizes[free].tolist(), strict=True)
    ways = (math.lgamma(n + size) - math.lgamma(size) - math.lgamma(n + 1) for n, size in pairs)
    return sum(ways) <= MOST_WAYS


def _number_mixtures(
    row: Sequence[Solved | None], atoms: Ints, kinds: dict[BetaMixture, int]
) -> Ints:
    """Of each secret and atom the number of its mixture; a new one is numbered here."""
    numbers = np.zeros((len(row), int(atoms.max(initial=-1)) + 1), dtype=np.int64)
    for s, each in enumerate(row):
        assert each is not None
        for atom in atoms.tolist():
            numbers[s, atom] = kinds.setdefault(each.mixture(atom), len(kinds))
    return numbers


def _multiply(mixtures: Sequence[BetaMixture]) -> BetaMixture:
    """The mixture of products of independent mixtures."""
    product: BetaMixture = ((1.0, ()),)
    for each in mixtures:
        if len(product) * len(each) > MOST_COMPONENTS:
            return product * (MOST_COMPONENTS + 1)
        product = tuple((p * q, (*a, *b)) for p, a in product for q, b in each)
    return product
