"""All ways in which the secrets of a small release in two tables may belong to its people."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning.model import Buckets
from sievert.attacks.reasoning.vertical.gibbs import Slots, slots

MOST = 200_000
CELLS = 40_000_000  # counts that are held at a time


@dataclass(frozen=True)
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
        for t, weight in enumerate(self.weights.tolist()):
            yield weight, self.table(t)

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


def enumerate_tables(buckets: Buckets, most: int = MOST) -> AssignmentTables | None:
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
    ahead: list[Floats] = [np.ones(1)]
    links: list[Ints] = []
    steps = 0
    for ways in groups:
        steps += len(states) * len(ways.times)
        if steps > most or len(states) * len(ways.times) * len(places) > CELLS:
            return None
        more = _added_counts(ways, places).astype(states.dtype)
        states, link = _merge_lines((states[:, None] + more).reshape(-1, len(places)))
        times = np.outer(ahead[-1], ways.times).ravel()
        ahead.append(np.zeros(len(states)))
        np.add.at(ahead[-1], link, times)
        links.append(link.reshape(-1, len(ways.times)))
    behind = _likelihoods(
        np.concatenate([p.ravel() for p in buckets.priors]), fixed, places, states
    )
    weights = ahead[-1] * behind
    whole = math.fsum(weights.tolist())
    shares = share_slots.settled.copy()
    for place in range(len(groups) - 1, -1, -1):
        ways, link = groups[place], links[place]
        chances = ways.times * (ahead[place] @ behind[link]) / whole
        mean = np.tensordot(chances, ways.given, 1) / np.bincount(ways.people)[:, None]
        begin, end = share_slots.share_starts[share_slots.free[place] :][:2]
        shares[begin:end] = mean[ways.people].ravel()
        behind = behind[link] @ ways.times
    return AssignmentTables(share_slots, shares, weights / whole, states, places, fixed, shapes)


def _fixed_counts(buckets: Buckets, slots: Slots, firsts: Ints, widths: Ints, cells: int) -> Ints:
    """How many have each cell in the groups where that is known."""
    sizes = np.diff(slots.starts)
    known = np.ones(len(sizes), dtype=bool)
    known[slots.free] = False
    rows = np.repeat(known, sizes)
    secrets = np.asarray(buckets.secrets, dtype=np.int64)[rows]
    return np.bincount((firsts[rows] + secrets[:, None] * widths).ravel(), minlength=cells)


def _ways(slots: Slots, group: int, firsts: Ints, widths: Ints, most: int) -> _Ways | None:
    rows = firsts[slots.starts[group] : slots.starts[group + 1]]
    distinct, people = np.unique(rows, axis=0, return_inverse=True)
    here = slice(slots.kind_starts[group], slots.kind_starts[group + 1])
    sizes, left = np.bincount(people.ravel()).tolist(), slots.times[here].tolist()
    given = _tables_with_margins(sizes, left, most)
    if given is None:
        return None
    ways = math.fsum(math.lgamma(size + 1) for size in sizes)
    lost = np.array([math.lgamma(k + 1) for k in range(max(sizes) + 1)])
    times = np.exp(ways - lost[given].sum(axis=(1, 2)))
    cells = distinct[:, None, :] + slots.kinds[here][:, None] * widths
    return _Ways(people.ravel(), given, np.rint(times) if times.max() < 2**50 else times, cells)


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
            given, rest, need = given[at], rest[at], need[at] - taken
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
    at = np.searchsorted(places, ways.cells)
    for c, k in np.ndindex(*at.shape[:2]):
        for place in at[c, k].tolist():
            added[:, place] += ways.given[:, c, k]
    return added


def _likelihoods(priors: Floats, fixed: Ints, places: Ints, states: Ints) -> Floats:
    """The weight of each table, that of the likeliest one being 1."""
    logs = np.zeros(len(states))
    for place, column in zip(places.tolist(), states.T, strict=True):
        base = float(priors[place]) + int(fixed[place])
        rising = [0.0, *(math.log(base + k) for k in range(int(column.max(initial=0))))]
        logs += np.cumsum(rising)[column]
    return np.asarray(np.exp(logs - logs.max()))
