"""Beliefs about a release in two tables, whose groups do not tell who has which secret.

In a small release all ways are listed in which its secrets may belong to its people.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning import published_learner
from sievert.attacks.reasoning.chains import Block
from sievert.attacks.reasoning.horizontal.dirichlet_tree import dirichlets
from sievert.attacks.reasoning.horizontal.release import SMALL
from sievert.attacks.reasoning.model import Buckets, ReleaseModel, normalise
from sievert.attacks.reasoning.settings import AUTO, CLOSED, EXACT, GIBBS
from sievert.attacks.reasoning.vertical.gibbs import GroupSampler, Slots, slots
from sievert.errors import require

CELLS = 40_000_000  # counts that are held at a time
MOST_TABLES = 20_000
MOST_PRINTED = 1000  # tables times victims for whom the printed learner is integrated


@dataclass(frozen=True, kw_only=True)
class AssignmentTables:
    """Every table that a release allows, and the chance of each.

    `shares` are as in `GroupSampler.read`, laid out as `slots` says. Table t has `moving[t]` more
    people than `fixed` in the cells of `places`; a cell is (secret, atom), over all factors.
    """

    slots: Slots
    shares: Floats
    weights: Floats
    moving: Ints
    places: Ints
    fixed: Ints
    shapes: tuple[tuple[int, int], ...]

    @property
    def tables(self) -> Iterator[tuple[float, tuple[Ints, ...]]]:
        """The chance of every table, and its counts of people by secret and atom, by factor."""
        return ((weight, self.table(t)) for t, weight in enumerate(self.weights.tolist()))

    def table(self, t: int) -> tuple[Ints, ...]:
        """How many have each secret and atom in one table, by factor."""
        cells = self.fixed.copy()
        cells[self.places] += self.moving[t]
        return self._by_factor(cells)

    @property
    def expected_counts(self) -> tuple[Floats, ...]:
        """How many have each secret and atom in the mean, by factor."""
        cells = self.fixed.astype(np.float64)
        cells[self.places] += self.weights @ self.moving
        return self._by_factor(cells)

    def draw(self, rng: np.random.Generator, times: int) -> list[tuple[Ints, ...]]:
        """Tables at random, each with its chance."""
        sums = np.cumsum(self.weights)
        drawn = np.searchsorted(sums, rng.random(times) * sums[-1], side="right")
        return [self.table(min(t, len(self.weights) - 1)) for t in drawn.tolist()]

    def _by_factor(self, cells: Any) -> tuple[Any, ...]:
        parts = np.split(cells, np.cumsum([s * a for s, a in self.shapes])[:-1])
        return tuple(p.reshape(shape) for p, shape in zip(parts, self.shapes, strict=True))


@dataclass(frozen=True)
class _Ways:
    """The ways to hand out a group's secrets to its kinds of people.

    `people[i]` is the kind of person i; way w gives `given[w, c, k]` people of kind c secret k, and
    `times[w]` ways of single people look like it.
    """

    people: Ints
    given: Ints
    times: Floats
    cells: Ints


def enumerate_tables(buckets: Buckets, most: int = 200_000) -> AssignmentTables | None:
    """All tables that a release allows; None if that takes more than `most` steps.

    >>> people, secrets = np.array([[0], [1], [0]]), np.array([0, 1, 0])
    >>> found = enumerate_tables(Buckets((np.ones((2, 2)),), people, secrets, np.array([0, 2, 3])))
    >>> found.weights.round(4).tolist(), found.shares.round(4).tolist()
    ([0.3333, 0.6667], [0.6667, 0.3333, 0.3333, 0.6667, 1.0])
    """
    share_slots = slots(buckets)
    # A group that can change has two ways at least, and every such group adds a table at least.
    if len(share_slots.free) * (len(share_slots.free) + 1) > most:
        return None
    shapes = tuple((len(prior), prior.shape[1]) for prior in buckets.priors)
    ends = np.cumsum([0] + [secrets * atoms for secrets, atoms in shapes])
    widths = np.array([atoms for _, atoms in shapes])
    firsts = np.asarray(buckets.atoms, dtype=np.int64) + ends[:-1]
    fixed = _fixed_counts(buckets, share_slots, firsts, widths, int(ends[-1]))
    groups: list[_Ways] = []
    for group in share_slots.free.tolist():
        ways = _ways(share_slots, group, firsts, widths, most)
        if ways is None:
            return None
        groups.append(ways)
    places = np.unique(np.concatenate([np.zeros(0, np.int64), *(w.cells.ravel() for w in groups)]))
    states = np.zeros((1, len(places)), dtype=np.min_scalar_type(len(buckets.secrets)))
    ahead = [np.ones(1)]
    links = list[Ints]()
    steps = 0
    for ways in groups:
        steps += len(states) * len(ways.times)
        if steps > most or len(states) * len(ways.times) * len(places) > CELLS:
            return None
        more = _added_counts(ways, places).astype(states.dtype)
        states, link = _merge_lines((states[:, None] + more).reshape(-1, len(places)))
        ahead.append(np.zeros(len(states)))
        np.add.at(ahead[-1], link, np.outer(ahead[-2], ways.times).ravel())
        links.append(link.reshape(-1, len(ways.times)))
    behind = _likelihoods(
        np.concatenate([p.ravel() for p in buckets.priors]), fixed, places, states
    )
    weights = ahead[-1] * behind
    whole = math.fsum(weights.tolist())
    shares = share_slots.settled.copy()
    for place in range(len(groups) - 1, -1, -1):
        ways = groups[place]
        link = links[place]
        chances = ways.times * (ahead[place] @ behind[link]) / whole
        mean = np.tensordot(chances, ways.given, 1) / np.bincount(ways.people)[:, None]
        begin, end = share_slots.share_starts[share_slots.free[place] :][:2]
        shares[begin:end] = mean[ways.people].ravel()
        behind = behind[link] @ ways.times
    return AssignmentTables(
        slots=share_slots,
        shares=shares,
        weights=weights / whole,
        moving=states,
        places=places,
        fixed=fixed,
        shapes=shapes,
    )


def _fixed_counts(buckets: Buckets, slots: Slots, firsts: Ints, widths: Ints, cells: int) -> Ints:
    """How many have each cell in the groups where that is known."""
    sizes = np.diff(slots.starts)
    rows = np.repeat(~np.isin(np.arange(len(sizes)), slots.free), sizes)
    secrets = np.asarray(buckets.secrets, dtype=np.int64)[rows]
    return np.bincount((firsts[rows] + secrets[:, None] * widths).ravel(), minlength=cells)


def _ways(slots: Slots, group: int, firsts: Ints, widths: Ints, most: int) -> _Ways | None:
    rows = firsts[slots.starts[group] : slots.starts[group + 1]]
    distinct, people = np.unique(rows, axis=0, return_inverse=True)
    here = slice(slots.kind_starts[group], slots.kind_starts[group + 1])
    sizes = np.bincount(people.ravel()).tolist()
    left = slots.times[here].tolist()
    given = _tables_with_margins(sizes, left, most)
    if given is None:
        return None
    ways = math.fsum(math.lgamma(size + 1) for size in sizes)
    lost = np.array([math.lgamma(k + 1) for k in range(max(sizes) + 1)])
    times = np.exp(ways - lost[given].sum(axis=(1, 2)))
    cells = distinct[:, None, :] + slots.kinds[here][:, None] * widths
    return _Ways(
        people=people.ravel(),
        given=given,
        times=np.rint(times) if times.max() < 2**50 else times,
        cells=cells,
    )


def _tables_with_margins(sizes: list[int], left: list[int], most: int) -> Ints | None:
    """All tables with these sums of lines and of columns; None if they are too many."""
    given = np.zeros((1, len(sizes), len(left)), dtype=np.min_scalar_type(sum(left)))
    rest = np.array([left])
    for c, size in enumerate(sizes):
        need = np.full(len(given), size)
        for k in range(len(left)):
            low = np.maximum(0, need - rest[:, k + 1 :].sum(axis=1))
            many = np.minimum(need, rest[:, k]) - low + 1
            ends = np.cumsum(many)
            if ends[-1] > most or ends[-1] * given[0].size > CELLS:
                return None
            at = np.repeat(np.arange(len(many)), many)
            taken = low[at] + np.arange(ends[-1]) - (ends - many)[at]
            given = given[at]
            rest = rest[at]
            need = need[at] - taken
            given[:, c, k] = taken
            rest[:, k] -= taken
    return given


def _merge_lines(lines: Ints) -> tuple[Ints, Ints]:
    """The distinct lines, and which of them each line is."""
    words = np.zeros((len(lines), -(-lines.shape[1] * lines.itemsize // 8)), dtype=np.uint64)
    words.view(lines.dtype)[:, : lines.shape[1]] = lines
    order = np.lexsort(words.T[::-1])
    new = np.ones(len(lines), dtype=bool)
    new[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
    link = np.empty(len(lines), dtype=np.int64)
    link[order] = np.cumsum(new) - 1
    return lines[order[new]], link


def _added_counts(ways: _Ways, places: Ints) -> Ints:
    """What each way adds to each place."""
    added = np.zeros((len(ways.times), len(places)), dtype=np.int32)
    given = np.moveaxis(ways.given, 0, -1)[:, :, None, :]  # kinds, secrets, factors, ways
    np.add.at(added.T, np.searchsorted(places, ways.cells), given)
    return added


def _likelihoods(priors: Floats, fixed: Ints, places: Ints, states: Ints) -> Floats:
    """The weight of each table, that of the likeliest one being 1."""
    logs = np.zeros(len(states))
    for place, column in zip(places.tolist(), states.T, strict=True):
        base = float(priors[place]) + int(fixed[place])
        rising = [0.0, *(math.log(base + k) for k in range(int(column.max(initial=0))))]
        logs += np.cumsum(rising)[column]
    return np.asarray(np.exp(logs - logs.max()))


@dataclass(frozen=True, kw_only=True)
class VerticalModel(ReleaseModel):
    """Groups, and the tables that are possible, where they are few."""

    buckets: Buckets
    owners: Ints  # the victim whose kind each row is of; -1 of none
    solved: AssignmentTables | None
    chains: ClassVar[int] = 8  # enough to be believed, because there may be several modes

    @classmethod
    def build(
        cls, buckets: Buckets, owners: Ints, atoms: Ints, alpha: Floats, method: str = "auto"
    ) -> "VerticalModel":
        """Count all tables where that is allowed and they are few."""
        require(method != CLOSED, "there is no closed form for groups", hint="method='auto'")
        solved = enumerate_tables(buckets, MOST_TABLES) if method in (AUTO, EXACT) else None
        require(
            method != EXACT or solved is not None,
            "there are too many tables to count them all",
            hint="method='auto'",
        )
        counts = np.bincount(buckets.secrets, minlength=len(alpha))
        return cls(
            atoms=atoms,
            alpha=alpha,
            secret_counts=counts,
            buckets=buckets,
            owners=owners,
            solved=solved,
        )

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
        return Block(
            expected=self.expected_records(self.solved.shares),
            learned=learned,
            printed=np.zeros(self.shape),
            populations=self.populations(self.solved.expected_counts),
        )

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

    def walk(self, rng: np.random.Generator) -> "VerticalChain":
        """A chain."""
        return VerticalChain(self, rng)


class VerticalChain:
    """One chain over who has which secret."""

    def __init__(self, model: VerticalModel, rng: np.random.Generator) -> None:
        self.model = model
        self.rng = rng
        self.chain = GroupSampler(model.buckets, rng)

    def burn(self, sweeps: int) -> None:
        """Sweeps that are forgotten."""
        self.chain.sweep(sweeps)
        self.chain.read()

    def block(self, sweeps: int) -> Block:
        """The next few sweeps; with several factors the learner sees the last of them."""
        self.chain.sweep(sweeps)
        model = self.model
        shares = self.chain.read()
        counts = self.chain.counts
        one = len(counts) == 1  # what is learnt is then linear in the counts
        populations = model.populations([model.expected_counts(shares)] if one else counts)
        drawn = tuple(
            dirichlets(self.rng, prior + table)
            for prior, table in zip(model.priors, counts, strict=True)
        )
        return Block(
            expected=model.expected_records(shares),
            learned=model.learner_weights(populations),
            printed=model.printed_under(drawn, self.rng),
            populations=populations,
            drawn=drawn,
        )
