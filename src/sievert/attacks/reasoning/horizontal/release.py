"""Beliefs about a release whose values were made coarser.

Each factor and each secret is a problem of its own: solved in closed form where sets are disjoint
or nested, by counting all tables where they are few, and sampled otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning import published_learner
from sievert.attacks.reasoning.candidates import Candidates, distinct_rows
from sievert.attacks.reasoning.chains import Block
from sievert.attacks.reasoning.horizontal import dirichlet_tree, enumeration
from sievert.attacks.reasoning.horizontal.gibbs import WHOLE, ShareLayout, UrnSampler
from sievert.attacks.reasoning.model import CLOSED, EXACT, GIBBS, Factor, normalise
from sievert.errors import require

Solved = dirichlet_tree.DirichletTree | enumeration.CompatibleTables
MOST_TABLES = 50_000
MOST_WAYS = math.log(1e8)
MOST_PRINTED = 300  # different victims for whom the printed learner is integrated, not drawn
SMALL = 0.05  # with a smaller weight the printed learner is drawn: integrals take long
MOST_COMPONENTS = 256  # of a mixture
Mixture = tuple[tuple[float, tuple[tuple[float, float], ...]], ...]
AHEAD = 32


@dataclass(frozen=True)
class HorizontalModel:
    """Factors, the classes with their labels and secrets, the victims, and what is solved."""

    factors: tuple[Factor, ...]
    class_counts: Ints  # classes by secrets
    atoms: Ints  # victims by factors
    candidates: Candidates
    alpha: Floats
    solved: tuple[tuple[Solved | None, ...], ...]  # by factor and secret

    @classmethod
    def build(
        cls,
        factors: Sequence[Factor],
        class_counts: Ints,
        labels: Ints,
        atoms: Ints,
        pairs: tuple[Ints, Ints],
        alpha: Floats,
        method: str = "auto",
    ) -> HorizontalModel:
        """Solve what can be solved by the methods allowed."""
        solved = _solutions(factors, method)
        require(
            method not in (CLOSED, EXACT)
            or not any(each is None for row in solved for each in row),
            "sets of values overlap: there is no closed form"
            if method == CLOSED
            else "there are too many tables to count them all",
            hint="method='auto'",
        )
        candidates = Candidates.build(len(atoms), pairs, factors, labels, atoms)
        return cls(tuple(factors), class_counts, atoms, candidates, alpha, solved)

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
        return EXACT if enumeration.CompatibleTables in kinds else CLOSED

    @property
    def chains(self) -> int:
        """How many chains it takes to be believed: sets of values mix well."""
        return 4

    @property
    def shape(self) -> tuple[int, int]:
        """How many victims and secrets there are."""
        return len(self.atoms), len(self.alpha)

    @cached_property
    def moving(self) -> list[list[int]]:
        """Of each factor the secrets that are sampled."""
        return [[s for s, each in enumerate(row) if each is None] for row in self.solved]

    @cached_property
    def terms(self) -> VictimTerms:
        """What is looked up after every few sweeps: the same for all chains."""
        pairs, secrets = np.nonzero(self.class_counts[self.candidates.classes])
        populations, shares = self.solved_shares()
        fixed = self.class_counts[self.candidates.classes[pairs], secrets].astype(np.float64)
        layouts, spots = [], []
        for f, moving in enumerate(self.moving):
            rows = np.full(len(self.alpha), -1)
            rows[moving] = np.arange(len(moving))
            own = rows[secrets]
            sampled = np.flatnonzero(own >= 0)
            solved = np.flatnonzero(own < 0)
            fixed[solved] *= shares[f][secrets[solved], pairs[solved]]
            layouts.append(ShareLayout.build(self.factors[f], moving) if moving else None)
            spots.append(np.zeros(0, dtype=np.int64))
            if (layout := layouts[-1]) is not None:
                sampled_spots = layout.spots(
                    own[sampled], self.candidates.places[f][pairs[sampled]]
                )
                spots[-1] = np.full(len(pairs), WHOLE, dtype=sampled_spots.dtype)
                spots[-1][sampled] = sampled_spots
        cells = self.candidates.victims[pairs] * len(self.alpha) + secrets
        return VictimTerms(cells, fixed, tuple(layouts), tuple(spots), tuple(populations))

    @property
    def work(self) -> int:
        """Records that a sweep redraws, about."""
        both = zip(self.factors, self.moving, strict=True)
        return sum(int(factor.counts[:, moving].sum()) for factor, moving in both)

    @property
    def weights(self) -> Floats:
        """The expected share of each secret in the population."""
        return normalise(self.alpha + self.class_counts.sum(axis=0))

    def solved_shares(self) -> tuple[list[Floats], list[Floats]]:
        """What is solved, 0 for what is sampled.

        Of each factor the population, and the shares of the candidates' atoms in their labels.
        """
        populations, shares = [], []
        both = zip(self.factors, self.solved, self.candidates.places, strict=True)
        for factor, row, places in both:
            population = np.zeros_like(factor.prior)
            share = np.zeros((len(row), len(places)))
            for s, each in enumerate(row):
                if each is not None:
                    posterior = each.posterior()
                    population[s], share[s] = posterior.population, posterior.inside[places]
            populations.append(population)
            shares.append(share)
        return populations, shares

    def learner_weights(self, populations: Sequence[Floats]) -> Floats:
        """The population's weight of each victim's kind with each secret."""
        return kind_weights(self.weights, populations, self.atoms)

    def exact(self) -> Block:
        """All beliefs, where nothing is sampled; the printed learner's are left out."""
        populations, shares = self.solved_shares()
        expected = self.candidates.expected_records(shares, self.class_counts)
        learned = self.learner_weights(populations)
        return Block(expected, learned, np.zeros_like(learned), tuple(populations))

    def published_learner(self) -> Floats | None:
        """The printed learner's beliefs, integrated; None where too many victims differ."""
        if self.method == GIBBS:
            return None
        kinds: dict[Mixture, int] = {}
        numbers = [
            _number_mixtures(row, np.unique(atoms), kinds)
            for row, atoms in zip(self.solved, self.atoms.T, strict=True)
        ]
        keys = np.concatenate(
            [
                mixture_numbers[:, atoms]
                for mixture_numbers, atoms in zip(numbers, self.atoms.T, strict=True)
            ]
        ).T
        different, which = distinct_rows(keys)
        if len(different) > MOST_PRINTED:
            return None
        every, many = list(kinds), len(self.alpha)
        gammas = (self.alpha + self.class_counts.sum(axis=0)).tolist()
        least = min(b for mixture in every for _, pairs in mixture for b, _ in pairs or ((1.0, 0),))
        if min(least, *gammas) < SMALL:
            return None
        beliefs = []
        for key in different.reshape(-1, len(numbers), many).tolist():
            mixtures = [_multiply([every[own[s]] for own in key]) for s in range(many)]
            if max(map(len, mixtures)) > MOST_COMPONENTS:
                return None
            beliefs.append(published_learner.shares(gammas, mixtures))
        return np.array(beliefs)[which]

    def draws(self, rng: np.random.Generator, many: int) -> list[Floats]:
        """Draws of the population, where nothing is sampled: a factor's draws, secrets, atoms."""
        draws = []
        for row in self.solved:
            solved = [each.draw(rng, many) for each in row if each is not None]
            draws.append(np.stack(solved, axis=1))
        return draws

    def printed_under(self, drawn: Sequence[Floats], rng: np.random.Generator) -> Floats:
        """The printed learner's shares under one draw of the population."""
        return shares_under(self.alpha + self.class_counts.sum(axis=0), drawn, self.atoms, rng)

    def reweight(self, times: float) -> HorizontalModel:
        """The same with so many times the weights of values, solved anew."""
        factors = tuple(replace(f, prior=f.prior * times) for f in self.factors)
        return replace(self, factors=factors, solved=_solutions(factors, "auto"))

    def walk(self, rng: np.random.Generator) -> HorizontalChain:
        """A chain for what is not solved."""
        return HorizontalChain(self, rng)


@dataclass(frozen=True)
class VictimTerms:
    """What is expected of victims, term by term: one for each class and secret that they may have.

    Term i counts for `cells[i]`, victim and secret in one; it is the records of the class with the
    secret and the shares that are solved, in `fixed`, times the values at `spots[f][i]` of each
    factor f that has a layout. `populations` are those that are solved, and 0.
    """

    cells: Ints
    fixed: Floats
    layouts: tuple[ShareLayout | None, ...]
    spots: tuple[Ints, ...]
    populations: tuple[Floats, ...]


def kind_weights(weights: Floats, populations: Sequence[Floats], atoms: Ints) -> Floats:
    """The weight of each secret, times the shares of a victim's atoms among those who have it."""
    products = np.broadcast_to(weights, (len(atoms), len(weights))).copy()
    for population, own in zip(populations, atoms.T, strict=True):
        products *= population[:, own].T
    return products


def shares_under(
    weights: Floats, drawn: Sequence[Floats], atoms: Ints, rng: np.random.Generator
) -> Floats:
    """Shares of secrets among each victim's kind, in one drawn population.

    `weights` are those of the secrets, `drawn` the atoms of each factor by secret.
    """
    with np.errstate(divide="ignore"):
        logs = np.broadcast_to(np.log(rng.standard_gamma(weights)), (len(atoms), len(weights)))
        for population, own in zip(drawn, atoms.T, strict=True):
            logs = logs + np.log(population)[:, own].T
    best = logs.max(axis=1, keepdims=True)
    lost = np.isneginf(best)  # below what can be told from 0, for every secret: nothing is known
    return normalise(np.where(lost, 1.0, np.exp(logs - np.where(lost, 0.0, best))))


class HorizontalChain:
    """One chain: urns for the secrets of each factor that are not solved."""

    def __init__(self, model: HorizontalModel, rng: np.random.Generator) -> None:
        self.model, self.rng = model, rng
        self.urns = [
            None if layout is None else UrnSampler(factor, secrets, rng, layout=layout)
            for factor, secrets, layout in zip(
                model.factors, model.moving, model.terms.layouts, strict=True
            )
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
        drawn, lookup = self._next_draw(), self.model.terms
        terms = lookup.fixed.copy()
        for f, (urns, secrets) in enumerate(zip(self.urns, self.model.moving, strict=True)):
            if urns is not None:
                urns.sweep(sweeps)
                self.populations[f][secrets], inside = urns.read()
                terms *= inside.take(lookup.spots[f])
                drawn[f][secrets] = urns.draw(self.rng)
        victims, many = self.model.shape
        expected = np.bincount(lookup.cells, terms, victims * many).reshape(victims, many)
        return Block(
            np.asarray(expected, np.float64),
            self.model.learner_weights(self.populations),
            self.model.printed_under(drawn, self.rng),
            tuple(p.copy() for p in self.populations),
            tuple(drawn),
        )

    def _next_draw(self) -> list[Floats]:
        """One draw of what is solved, from many at a time."""
        if not self.ahead:
            many = [self._draws_of_factor(f) for f in range(len(self.model.factors))]
            self.ahead = [[each[i] for each in many] for i in range(AHEAD)]
        return self.ahead.pop()

    def _draws_of_factor(self, f: int) -> Floats:
        draws = np.zeros((AHEAD, *self.populations[f].shape))
        for s, each in enumerate(self.model.solved[f]):
            if each is not None:
                draws[:, s] = each.draw(self.rng, AHEAD)
        return draws


def _solutions(factors: Sequence[Factor], method: str) -> tuple[tuple[Solved | None, ...], ...]:
    """Every secret of every factor, solved as the method allows."""
    solved: list[list[Solved | None]] = [[None] * f.counts.shape[1] for f in factors]
    if method in ("auto", CLOSED):
        solved = [list(dirichlet_tree.solve_trees(factor)) for factor in factors]
    left = [(f, s) for f, row in enumerate(solved) for s, each in enumerate(row) if each is None]
    if method == EXACT or (method == "auto" and all(_few(factors[f], s) for f, s in left)):
        for f, s in left:
            tables = enumeration.enumerate_tables(factors[f], s, MOST_TABLES)
            if tables is None:  # the rest need not be counted: something is sampled anyway
                break
            solved[f][s] = tables
    return tuple(tuple(row) for row in solved)


def _few(factor: Factor, secret: int) -> bool:
    """Whether the ways in which records may be spread over their labels' atoms are few."""
    sizes, records = np.diff(factor.starts), factor.counts[:, secret]
    free = (records > 0) & (sizes > 1) & (sizes < factor.prior.shape[1])
    pairs = zip(records[free].tolist(), sizes[free].tolist(), strict=True)
    ways = (math.lgamma(n + size) - math.lgamma(size) - math.lgamma(n + 1) for n, size in pairs)
    return sum(ways) <= MOST_WAYS


def _number_mixtures(row: Sequence[Solved | None], atoms: Ints, kinds: dict[Mixture, int]) -> Ints:
    """Of each secret and atom the number of its mixture; a new one is numbered here."""
    numbers = np.zeros((len(row), int(atoms.max(initial=-1)) + 1), dtype=np.int64)
    for s, each in enumerate(row):
        assert each is not None
        for atom in atoms.tolist():
            if isinstance(each, dirichlet_tree.DirichletTree):
                mixture: Mixture = ((1.0, tuple(each.betas(atom))),)
            else:
                mixture = _mixture(each, atom)
            numbers[s, atom] = kinds.setdefault(mixture, len(kinds))
    return numbers


def _multiply(mixtures: Sequence[Mixture]) -> Mixture:
    """The mixture of products of independent mixtures."""
    product: Mixture = ((1.0, ()),)
    for each in mixtures:
        if len(product) * len(each) > MOST_COMPONENTS:
            return product * (MOST_COMPONENTS + 1)
        product = tuple((p * q, (*a, *b)) for p, a in product for q, b in each)
    return product


def _mixture(tables: enumeration.CompatibleTables, atom: int) -> Mixture:
    """The share of an atom over all tables: one Beta for each number of records that have it."""
    prior = dirichlet_tree.weights_of(tables.factor, tables.secret)
    beside = math.fsum(np.delete(prior, atom))
    records = int(tables.sure.sum() + tables.varied[0].sum())
    numbers, which = np.unique(tables.number(atom), return_inverse=True)
    pairs = zip(np.bincount(which.ravel(), tables.weights).tolist(), numbers.tolist(), strict=True)
    return tuple((w, ((float(prior[atom]) + n, beside + records - n),)) for w, n in pairs)
