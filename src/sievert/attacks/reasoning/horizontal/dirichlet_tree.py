"""The posterior in closed form, where any two sets of a release are disjoint or nested.

Such sets make a tree. At each node, the shares of the next smaller sets, and of the atoms in none
of them, are Dirichlet and independent of the shares at other nodes. A record with a label counts
once for every set around it, and says nothing about what is inside its label.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning.model import BetaMixture, Factor, FactorPosterior
from sievert.counts.cube import run_starts
from sievert.errors import require

# Weights of a prior whose products and ratios stay numbers.
LEAST = 1e-200
MOST = 1e200
CANCELLATION = 1e-3  # below this share of its operands a difference is summed again


@dataclass(frozen=True)
class Forest:
    """Sets as a tree; any two sets are disjoint, or one contains the other.

    Node 0 is the whole domain, and node k + 1 is the set of `labels[k]`. The smallest set around a
    node is `parents[node]`; the smallest set around an atom is `owners[atom]`. `levels` has the
    nodes by depth, starting at the whole domain; nodes with the same parent are neighbours.
    """

    labels: Ints
    parents: Ints
    owners: Ints
    levels: tuple[Ints, ...]

    @cached_property
    def kin(self) -> tuple[Ints, Ints]:
        """Nodes but the first, then atoms, side by side by what is around them; where each starts.

        Nodes are k for node k + 1, atoms follow them.
        """
        around = np.concatenate((self.parents[1:], self.owners))
        order = np.argsort(around, kind="stable")
        return order, run_starts(around[order])

    def masses(self, prior: Floats) -> Floats:
        """The prior weight of the atoms of each node."""
        order, cuts = self._atoms_by_owner
        own = np.zeros(len(self.parents))
        own[self.owners[order[cuts]]] = np.add.reduceat(prior[order], cuts)
        return np.asarray(self.sums(own))

    @cached_property
    def _atoms_by_owner(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.owners, kind="stable")
        return order, run_starts(self.owners[order])

    def sums(self, own: Floats | Ints) -> Floats | Ints:
        """What each node has, and all nodes inside it have."""
        sums = own.copy()
        for level in reversed(self.levels):
            parents = self.parents[level]
            cuts = run_starts(parents)
            sums[parents[cuts]] += np.add.reduceat(sums[level], cuts)
        return sums


@dataclass(frozen=True, kw_only=True)
class DirichletTree:
    """The posterior of one factor among people with one secret, exactly.

    Of each node: `counts` of records with its label, `below` of them with it or one inside it,
    and the prior weight of its atoms, its `masses`.
    """

    factor: Factor
    forest: Forest
    prior: Floats
    counts: Ints
    below: Ints
    masses: Floats

    @cached_property
    def weights(self) -> Floats:
        """Of each node its weight among those beside it."""
        return np.asarray(self.masses + self.below)

    def posterior(self) -> FactorPosterior:
        """The expected shares of atoms, in all and within each label."""
        forest = self.forest
        factor = self.factor
        totals = self.masses + (self.below - self.counts)  # of all that a node is split into
        # Numbers are parts times powers of 2: the share of a set deep inside others may be tiny.
        part = np.ones(len(self.counts))
        power = np.zeros(len(self.counts), dtype=np.int64)
        for level in forest.levels:
            up = forest.parents[level]
            part[level], step = np.frexp(part[up] * (self.weights[level] / totals[up]))
            power[level] = power[up] + step
        up = forest.owners
        parts, step = np.frexp(part[up] * (self.prior / totals[up]))
        powers = power[up] + step
        inside = np.zeros(len(factor.members))
        seen = np.flatnonzero(self.counts[1:] > 0)
        places, sizes = label_places(factor, forest.labels[seen])
        atoms = factor.members[places]
        nodes = np.repeat(seen + 1, sizes)
        inside[places] = _scale(parts[atoms] / part[nodes], powers[atoms] - power[nodes])
        return FactorPosterior(_scale(parts, powers), inside)

    def draw(self, rng: np.random.Generator, times: int) -> Floats:
        """Independent draws of the shares of all atoms, one a row."""
        forest = self.forest
        nodes = len(self.counts)
        order, starts = forest.kin
        shapes = np.concatenate((self.weights[1:], self.prior))[order]
        logs = log_gammas(rng, np.broadcast_to(shapes, (times, len(shapes))))
        sizes = np.diff(np.append(starts, len(order)))
        logs -= np.repeat(np.maximum.reduceat(logs, starts, axis=1), sizes, axis=1)
        sums = np.log(np.add.reduceat(np.exp(logs), starts, axis=1))
        shares = np.empty_like(logs)
        shares[:, order] = logs - np.repeat(sums, sizes, axis=1)
        whole = np.zeros((times, nodes))
        for level in forest.levels:
            whole[:, level] = whole[:, forest.parents[level]] + shares[:, level - 1]
        return np.asarray(np.exp(whole[:, forest.owners] + shares[:, nodes - 1 :]))

    def mixture(self, atom: int) -> BetaMixture:
        """The share of an atom, as a mixture of one product of Betas."""
        return ((1.0, tuple(self.betas(atom))),)

    def betas(self, atom: int) -> list[tuple[float, float]]:
        """Parameters of independent Betas whose product is the share of an atom."""
        parameters = []
        node = int(self.forest.owners[atom])
        first = float(self.prior[atom])
        second = self._sibling_weight(node, atom=atom)
        while node:
            up = int(self.forest.parents[node])
            beside = self._sibling_weight(up, node=node)
            if self.counts[node]:
                parameters.append((first, second))
                first = float(self.weights[node])
                second = beside
            else:
                second += beside
            node = up
        parameters.append((first, second))
        return [(b, c) for b, c in reversed(parameters) if c > 0]

    def _sibling_weight(self, parent: int, *, node: int = 0, atom: int = -1) -> float:
        """The weight of all that a node is split into but one."""
        mass = float(self.masses[node] if node else self.prior[atom])
        records = int(self.below[parent] - self.counts[parent]) - int(self.below[node] * (node > 0))
        whole = float(self.masses[parent])
        if records + (whole - mass) < CANCELLATION * whole:
            atoms = np.flatnonzero(self.forest.owners == parent)
            nodes = np.flatnonzero(self.forest.parents[1:] == parent) + 1
            beside = [*self.prior[atoms[atoms != atom]], *self.masses[nodes[nodes != node]]]
            return records + math.fsum(beside)
        return records + (whole - mass)


def solve_tree(factor: Factor, secret: int) -> DirichletTree | None:
    """The posterior in closed form, or None where two sets overlap, neither inside the other.

    >>> prior, counts = np.ones((1, 3)), np.array([[2], [1]])
    >>> tree = solve_tree(Factor(prior, np.array([0, 2, 5]), np.array([0, 1, 0, 1, 2]), counts), 0)
    >>> tree.posterior().population
    array([0.4, 0.4, 0.2])
    """
    forest = build_forest(factor, np.flatnonzero(factor.counts[:, secret] > 0))
    return None if forest is None else _tree(factor, forest, secret)


def solve_trees(factor: Factor) -> list[DirichletTree | None]:
    """`solve_tree` for every secret; one forest serves all if the sets are nested or apart."""
    forest = build_forest(factor, np.flatnonzero((factor.counts > 0).any(axis=1)))
    return [
        solve_tree(factor, secret) if forest is None else _tree(factor, forest, secret)
        for secret in range(factor.counts.shape[1])
    ]


def build_forest(factor: Factor, labels: Ints) -> Forest | None:
    """The sets of some labels as a tree, or None where two overlap, neither inside the other."""
    atoms_count = factor.prior.shape[1]
    sizes = factor.starts[labels + 1] - factor.starts[labels]
    labels = labels[np.argsort(-sizes, kind="stable")]  # a set follows those around it
    places, sizes = label_places(factor, labels)
    atoms = factor.members[places]
    nodes = np.repeat(np.arange(1, len(labels) + 1), sizes)
    parents = np.zeros(len(labels) + 1, np.int64)
    owners = np.zeros(atoms_count, np.int64)
    depths = np.ones(len(labels), dtype=np.int64)
    if len(labels) and np.bincount(atoms, minlength=atoms_count).max() > 1:
        order = np.argsort(atoms, kind="stable")  # of each atom the sets around it, largest first
        same = atoms[order[1:]] == atoms[order[:-1]]
        around = np.zeros(len(atoms), dtype=np.int64)
        around[order[1:]] = np.where(same, nodes[order[:-1]], 0)
        starts = np.append(0, np.cumsum(sizes)[:-1])
        parents[1:] = np.maximum.reduceat(around, starts)
        if np.any(np.minimum.reduceat(around, starts) != parents[1:]):
            return None
        last = order[np.append(~same, True)]
        owners[atoms[last]] = nodes[last]
        for node, parent in enumerate(parents[1:].tolist()):
            depths[node] += depths[parent - 1] if parent else 0
    else:
        owners[atoms] = nodes
    order = np.lexsort((parents[1:], depths)) + 1
    levels = np.split(order, run_starts(depths[order - 1])[1:]) if len(labels) else ()
    return Forest(labels=labels, parents=parents, owners=owners, levels=tuple(levels))


def weights_of(factor: Factor, secret: int) -> Floats:
    """The prior weights of one secret, each a number that can be divided by."""
    weights = np.asarray(factor.prior[secret], dtype=np.float64)
    require(
        np.all((weights >= LEAST) & (weights <= MOST)),
        "a prior weight is 0, negative, or out of range",
        hint=f"take one from {LEAST} to {MOST}",
    )
    return weights


def log_gammas(rng: np.random.Generator, shapes: Floats) -> Floats:
    """Logarithms of Gamma draws; a draw of a tiny shape is below any double.

    Gamma(a) is Gamma(a + 1) times a uniform number to the power 1/a.
    """
    small = shapes < 1
    logs = np.log(rng.standard_gamma(np.where(small, shapes + 1, shapes)))
    logs[small] -= rng.standard_exponential(np.count_nonzero(small)) / shapes[small]
    return np.asarray(logs)


def dirichlets(rng: np.random.Generator, shapes: Floats) -> Floats:
    """A Dirichlet draw for every row of weights."""
    logs = log_gammas(rng, shapes)
    shares = np.exp(logs - logs.max(axis=1)[:, None])
    return np.asarray(shares / shares.sum(axis=1)[:, None])


def _tree(factor: Factor, forest: Forest, secret: int) -> DirichletTree:
    prior = weights_of(factor, secret)
    counts = np.append(0, factor.counts[forest.labels, secret]).astype(np.int64)
    return DirichletTree(
        factor=factor,
        forest=forest,
        prior=prior,
        counts=counts,
        below=forest.sums(counts),
        masses=forest.masses(prior),
    )


def label_places(factor: Factor, labels: Ints) -> tuple[Ints, Ints]:
    """The places of the members of some labels, and the number of members of each."""
    firsts = factor.starts[labels].astype(np.int64)
    sizes = factor.starts[labels + 1] - firsts
    return np.repeat(firsts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum()), sizes


def _scale(parts: Floats, powers: Ints) -> Floats:
    return np.asarray(np.ldexp(parts, np.maximum(powers, -2000).astype(np.int32)))
