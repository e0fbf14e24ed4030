"""A random walk over who has which secret in a release of two tables."""

import math
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning.model import Buckets
from sievert.attacks.reasoning.vertical.matchings import (
    MOST,
    GroupState,
    redraw,
    scratch,
    subset_tables,
    swap,
)
from sievert.errors import require
from sievert.numerics.acceleration import compile_loops

OFFERS = 4  # swaps that everybody of a large group is offered in a sweep
REACH = 170.0  # a quotient of four products below e^REACH fits a double


@dataclass(frozen=True, kw_only=True)
class Slots:
    """The layout of the shares of a release: for each group, a table of people by kinds of secret.

    Group g has the kinds `kinds[kind_starts[g]:kind_starts[g + 1]]` in ascending order; `times` is
    how often each occurs. Its table is `shares[share_starts[g]:share_starts[g + 1]]`, one line per
    person. `free` are the groups that can change: they have several people who differ, and several
    kinds of secrets. `settled` has the shares of the other groups, and 0 for the free ones.
    """

    starts: Ints
    kinds: Ints
    kind_starts: Ints
    times: Ints
    share_starts: Ints
    settled: Floats
    free: Ints

    @property
    def rows(self) -> Ints:
        """The person that each share is about."""
        widths = np.repeat(np.diff(self.kind_starts), np.diff(self.starts))
        return np.repeat(np.arange(self.starts[-1]), widths)

    @property
    def secrets(self) -> Ints:
        """The secret that each share is about."""
        return np.asarray(self.kinds[_kind_places(self.starts, self.kind_starts)])


def _kind_places(starts: Ints, kind_starts: Ints) -> Ints:
    """The kind, counted over all groups, that each share is about."""
    width = np.repeat(np.diff(kind_starts), np.diff(starts))
    ends = np.cumsum(width)
    inside = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - width, width)
    return np.asarray(np.repeat(np.repeat(kind_starts[:-1], np.diff(starts)), width) + inside)


def slots(buckets: Buckets) -> Slots:
    """Where the shares of a release are kept.

    >>> people, secrets = np.array([[0], [1], [1]]), np.array([0, 1, 1])
    >>> places = slots(Buckets((np.ones((2, 2)),), people, secrets, np.array([0, 3])))
    >>> places.rows.tolist(), places.secrets.tolist()
    ([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1])
    """
    _check(buckets)
    starts = np.asarray(buckets.starts, np.int64)
    secrets = np.asarray(buckets.secrets, np.int64)
    sizes = np.diff(starts)
    opens = np.zeros(len(secrets), dtype=bool)
    opens[starts[:-1]] = True
    at = np.flatnonzero(opens | (np.diff(secrets, prepend=-1) != 0))
    kind_starts = np.searchsorted(at, starts)
    times = np.diff(np.append(at, len(secrets)))
    share_starts = np.append(0, np.cumsum(sizes * np.diff(kind_starts)))
    other = np.zeros(len(secrets), dtype=np.int64)
    other[1:] = (buckets.atoms[1:] != buckets.atoms[:-1]).any(axis=1) & ~opens[1:]
    differ = np.add.reduceat(other, starts[:-1]) if len(sizes) else np.zeros(0, dtype=np.int64)
    moving = (differ > 0) & (np.diff(kind_starts) > 1)
    settled = (times / np.repeat(sizes, np.diff(kind_starts)))[_kind_places(starts, kind_starts)]
    settled[np.repeat(moving, np.diff(share_starts))] = 0.0
    kinds = secrets[at]
    free = np.flatnonzero(moving)
    return Slots(
        starts=starts,
        kinds=kinds,
        kind_starts=kind_starts,
        times=times,
        share_starts=share_starts,
        settled=settled,
        free=free,
    )


class GroupSampler:
    """A walk from a random start; `counts` is its current place, `read` the mean of past places.

    Groups of up to `whole` people are redrawn at once. In larger ones everybody is offered swaps.
    """

    def __init__(self, buckets: Buckets, rng: np.random.Generator, *, whole: int = MOST) -> None:
        require(1 <= whole <= MOST, f"a group that is redrawn has from 1 to {MOST} people")
        self.slots = slots(buckets)
        self._rng = rng
        self._sweeps = 0
        self._shapes = [prior.shape for prior in buckets.priors]
        secrets = np.asarray(buckets.secrets, dtype=np.int64)
        sizes = np.diff(self.slots.starts)
        # A cell's secrets lie side by side: a person's cells are looked up for all of them.
        many = self._shapes[0][0]
        self._ends = np.cumsum([0] + [atoms * many for _, atoms in self._shapes])
        mass = np.zeros((int(self._ends[-1]), 2))
        mass[:, 0] = np.concatenate([prior.T.ravel() for prior in buckets.priors])
        self._state = GroupState(
            starts=self.slots.starts,
            cells=np.ascontiguousarray(
                np.asarray(buckets.atoms, np.int64) * many + self._ends[:-1]
            ),
            kinds=self.slots.kinds,
            kind_starts=self.slots.kind_starts,
            share_starts=self.slots.share_starts,
            mass=mass,
            assigned=np.zeros(len(secrets), dtype=np.int64),
            shares=np.zeros(int(self.slots.share_starts[-1])),
        )
        self._group = np.repeat(np.arange(len(sizes)), sizes)
        self.start(secrets[np.lexsort((rng.random(len(secrets)), self._group))])
        self._narrow = _narrow(buckets)
        large = sizes[self.slots.free] > whole
        self._small = self.slots.free[~large]
        self._large = self.slots.free[large]
        self._memory = (subset_tables(), scratch(len(buckets.priors)))

    def start(self, secrets: Ints) -> None:
        """Go to where everybody has these secrets."""
        many = self._shapes[0][0]
        group = self._group
        state = self._state
        groups = np.repeat(np.arange(len(state.starts) - 1), np.diff(state.kind_starts))
        kind = np.searchsorted(groups * many + state.kinds, group * many + secrets)
        state.assigned[:] = kind - state.kind_starts[group]
        state.mass[:, 1] = 0.0
        for column in state.cells.T:
            state.mass[:, 1] += np.bincount(column + secrets, minlength=len(state.mass))

    def sweep(self, times: int = 1, *, compiled: bool | None = None) -> None:
        """Redraw every group that can change, `times` times."""
        loops = None if compiled is False else compile_loops(redraw, swap)
        redraw_groups, swap_secrets = loops or (redraw, swap)
        with_state = (self._narrow, self._rng, self._state)
        at_once = 1 if len(self._small) and len(self._large) else times
        for _ in range(0, times, max(at_once, 1)):
            if len(self._small):
                redraw_groups(at_once, self._small, *with_state, *self._memory)
            if len(self._large):
                swap_secrets(at_once * OFFERS, 1 / OFFERS, self._large, *with_state)
        self._sweeps += times

    @property
    def counts(self) -> tuple[Ints, ...]:
        """How many have each secret and atom now, by factor."""
        now = self._state.mass[:, 1].astype(np.int64)
        return tuple(
            now[end : end + secrets * atoms].reshape(atoms, secrets).T
            for end, (secrets, atoms) in zip(self._ends.tolist(), self._shapes, strict=False)
        )

    @property
    def secrets(self) -> Ints:
        """The secret that everybody has now."""
        state = self._state
        return np.asarray(state.kinds[state.kind_starts[self._group] + state.assigned])

    def read(self) -> Floats:
        """Mean shares of the sweeps since the last reading; where each is, `slots` says."""
        require(self._sweeps, "there was no sweep since the last reading")
        means = self._state.shares / self._sweeps + self.slots.settled
        self._state.shares[:] = 0.0
        self._sweeps = 0
        return means


def _narrow(buckets: Buckets) -> bool:
    """Whether products over all factors, and quotients of two pairs of them, stay in range."""
    reach = math.fsum(
        max(abs(math.log(prior.min())), abs(math.log(prior.max() + len(buckets.secrets))))
        for prior in buckets.priors
    )
    return reach < REACH


def _check(buckets: Buckets) -> None:
    """Refuse what is no release."""
    starts = buckets.starts
    secrets = buckets.secrets
    atoms = buckets.atoms
    require(
        atoms.ndim == 2 and atoms.shape == (len(secrets), len(buckets.priors)),
        "every person has one secret and one atom a factor",
    )
    require(
        buckets.priors and len({len(prior) for prior in buckets.priors}) <= 1,
        "there is a factor, and all factors have the same secrets",
    )
    require(
        len(starts)
        and starts[0] == 0
        and starts[-1] == len(secrets)
        and (np.diff(starts) > 0).all(),
        "groups follow one another, and have one person at least",
    )
    require(
        all((np.isfinite(prior) & (prior > 0)).all() for prior in buckets.priors),
        "the prior weights are finite and above 0",
    )
    require(
        ((atoms >= 0) & (atoms < [prior.shape[1] for prior in buckets.priors])).all()
        and ((secrets >= 0) & (secrets < len(buckets.priors[0]))).all(),
        "every atom and every secret has a prior weight",
    )
    require(
        np.isin(np.flatnonzero(np.diff(secrets) < 0) + 1, starts).all(),
        "the secrets of a group are in ascending order",
    )
