"""Values merged into atoms; and all columns as one factor, without listing all combinations."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning.candidates import CELLS, candidate_pairs, distinct_rows
from sievert.attacks.reasoning.value_sets import MOST_MEMBERS, NO_POSITIONS, PositionSets
from sievert.errors import ExhaustedError, require

MOST = 10**7  # cells of all boxes together
MOST_WORK = 10**11  # multiplications to see which labels meet
CHUNK = 1 << 22  # members looked at in one go


class MergedPositions(NamedTuple):
    """Positions merged into atoms, which are in the order of their first positions."""

    atom_of: Ints
    prior: Floats
    sets: PositionSets
    atoms: int


def merge_positions(
    sets: PositionSets, separate: Ints | Sequence[int], weights: Floats
) -> MergedPositions:
    """Merge positions that need not be told apart and are in the same sets; weights are added.

    `separate` are positions, or a truth for each; `weights` has a column for each position.

    >>> sets = PositionSets.from_lists([[0, 1, 2], [2]])
    >>> merge_positions(sets, [0], np.ones((1, 5))).atom_of.tolist()
    [0, 1, 2, 3, 3]
    """
    size = weights.shape[1]
    alone = np.zeros(size, dtype=bool)
    alone[np.asarray(separate, dtype=None if len(separate) else np.int64)] = True
    free = np.flatnonzero(~alone)
    marks = _signatures(sets, size)[:, free]
    order = np.lexsort(marks)
    new = np.ones(len(free), dtype=bool)
    new[1:] = (marks[:, order[1:]] != marks[:, order[:-1]]).any(axis=0)
    first = np.arange(size)
    first[free[order]] = free[order[new]][np.cumsum(new) - 1] if len(free) else NO_POSITIONS
    leads = first == np.arange(size)
    atom_of = (np.cumsum(leads) - 1)[first]
    by_atom = np.argsort(atom_of, kind="stable")
    begins = np.flatnonzero(np.diff(atom_of[by_atom], prepend=-1))
    prior = np.zeros((len(weights), len(begins)))
    for row, weight in zip(prior, weights, strict=True) if size else ():
        row[:] = np.add.reduceat(np.asarray(weight, dtype=np.float64)[by_atom], begins)
    kept = leads[sets.members]
    merged = PositionSets(np.append(0, np.cumsum(kept))[sets.starts], atom_of[sets.members[kept]])
    return MergedPositions(atom_of=atom_of, prior=prior, sets=merged, atoms=len(begins))


def _signatures(sets: PositionSets, size: int) -> NDArray[np.uint64]:
    """128 bits for each position, the same only for positions in the same sets."""
    marks = np.random.default_rng(0x5E75).integers(0, 2**64, (2, len(sets)), dtype=np.uint64)
    signatures = np.zeros((2, size), dtype=np.uint64)
    places = [*range(0, len(sets.members), CHUNK), len(sets.members)]
    for low, high in itertools.pairwise(np.searchsorted(sets.starts, places).tolist()):
        members = sets.members[sets.starts[low] : sets.starts[high]]
        for sums, mark in zip(signatures, marks, strict=True):
            np.add.at(sums, members, np.repeat(mark[low:high], sets.sizes[low:high]))
    return signatures


@dataclass(frozen=True)
class Boxes:
    """All columns as one factor: combinations of values, most of them lumped together.

    `sets` are the different boxes of classes, `label_of` the box of each class, `atom_of` the atom
    of each victim, `prior` the weight of each atom, a row for each secret if they differ.
    """

    prior: Floats
    sets: PositionSets
    label_of: Ints
    atom_of: Ints


def boxes(
    sizes: Sequence[int],
    sets: Sequence[PositionSets],
    classes: Ints,
    victims: Ints,
    beta: float | Floats = 1.0,
    *,
    overrides: Mapping[tuple[int, ...], float | Floats] | None = None,
    most: int = MOST,
) -> Boxes:
    """The classes as sets of combinations: of each column any value of the class's label there.

    `classes` holds a label of each column for each class, `victims` a position in each domain.
    `beta` is the weight of a combination, `overrides` that of single ones.
    """
    others = np.array(list(overrides or ()), dtype=np.int64).reshape(-1, len(sizes))
    rows, label_of = distinct_rows(classes)
    combinations, which = distinct_rows(np.concatenate([victims, others]))
    tuples = math.prod(int(size) for size in sizes)
    grid = _cut_boxes(sizes, sets, rows, combinations, most) or _cut_meeting_boxes(
        sizes, sets, rows, combinations, most
    )
    if grid is None or tuples > 10**300:
        raise ExhaustedError(
            f"the groups cover more than {most:,} kinds of combinations of values",
            hint="--likelihood product, or --domain observed",
        )
    covered = grid.place >= 0
    place = grid.place
    left = grid.times - np.bincount(place[covered], minlength=len(grid.times))
    cell_sets = PositionSets(np.searchsorted(grid.box, np.arange(len(rows) + 1)), grid.cell)
    lumps = merge_positions(cell_sets, NO_POSITIONS, left[None, :].astype(np.float64))
    nowhere = tuples - int(grid.times.sum()) - int((~covered).sum())

    stay = np.flatnonzero(lumps.prior[0] > 0)
    lump = np.concatenate([lumps.atom_of[place[covered]], stay])
    atom = np.concatenate([np.flatnonzero(covered), len(combinations) + np.arange(len(stay))])
    inner = PositionSets.by_owner(lump, atom, lumps.atoms)
    require(
        int(inner.sizes[lumps.sets.members].sum()) <= MOST_MEMBERS,
        f"the groups hold more than {MOST_MEMBERS:,} combinations of values",
        hint="--likelihood product, or --domain observed",
        error=ExhaustedError,
    )
    spread = inner.select(lumps.sets.members)
    owner = np.repeat(np.repeat(np.arange(len(rows)), lumps.sets.sizes), spread.sizes)
    members = spread.members[np.lexsort((spread.members, owner))]
    starts = np.searchsorted(owner, np.arange(len(rows) + 1))
    weight = np.concatenate([np.ones(len(combinations)), lumps.prior[0][stay], [float(nowhere)]])
    prior = (
        np.atleast_1d(np.asarray(beta, dtype=np.float64))[:, None]
        * weight[: -1 if nowhere == 0 else None]
    )
    if overrides:
        prior[:, which[len(victims) :]] = np.array(list(overrides.values())).T
    return Boxes(
        prior=prior,
        sets=PositionSets(starts, members),
        label_of=label_of,
        atom_of=which[: len(victims)],
    )


class _Grid(NamedTuple):
    """Boxes cut into cells: pairs of a box and a cell in it, by boxes, then cells."""

    box: Ints
    cell: Ints
    times: Ints  # how many combinations a cell has
    place: Ints  # the cell of each combination asked about, -1 outside of all boxes


def _cut_boxes(
    sizes: Sequence[int], sets: Sequence[PositionSets], rows: Ints, combinations: Ints, most: int
) -> _Grid | None:
    """Cut where a label of any box begins or ends; None if that makes more than `most` pairs."""
    parts = []
    local = np.zeros_like(rows)
    for k, size in enumerate(sizes):
        used, local[:, k] = np.unique(rows[:, k], return_inverse=True)
        parts.append(merge_positions(sets[k].select(used), NO_POSITIONS, np.ones((1, size))))
    columns = [part.sets.sizes[local[:, k]].tolist() for k, part in enumerate(parts)]
    pairs = sum(map(math.prod, zip(*columns, strict=True)))
    if pairs > most or math.prod(part.atoms for part in parts) >= 2**62:
        return None
    box = np.arange(len(rows))
    keys = np.zeros(len(rows), dtype=np.int64)
    times = _counting(np.ones(len(rows)), sizes)
    asked_keys = np.zeros(len(combinations), dtype=np.int64)
    for k, part in enumerate(parts):
        picked = part.sets.select(local[box, k])
        box = np.repeat(box, picked.sizes)
        keys = np.repeat(keys, picked.sizes) * part.atoms + picked.members
        times = np.repeat(times, picked.sizes) * _counting(part.prior[0], sizes)[picked.members]
        asked_keys = asked_keys * part.atoms + part.atom_of[combinations[:, k]]
    cells, first, cell = np.unique(keys, return_index=True, return_inverse=True)
    place = np.searchsorted(cells, asked_keys)
    place[np.append(cells, -1)[place] != asked_keys] = -1
    return _Grid(box=box, cell=cell, times=times[first], place=place)


def _counting(numbers: Ints, sizes: Sequence[int]) -> Ints:
    """As integers whose products cannot overflow."""
    if math.prod(int(size) for size in sizes) < 2**62:
        return numbers.astype(np.int64)
    return np.array([int(n) for n in numbers.tolist()], dtype=object)


def _cut_meeting_boxes(
    sizes: Sequence[int], sets: Sequence[PositionSets], rows: Ints, combinations: Ints, most: int
) -> _Grid | None:
    """The same, where boxes that meet no other are not cut."""
    alone = _disjoint_boxes(sizes, sets, rows)
    single = np.flatnonzero(alone)
    rest = np.flatnonzero(~alone)
    grid = _cut_boxes(sizes, sets, rows[rest], combinations, most) if len(single) else None
    if grid is None:
        return None
    times = _counting(np.ones(len(single)), sizes)
    for k in range(len(sizes)):
        times = times * _counting(sets[k].sizes[rows[single, k]], sizes)
    inside = candidate_pairs(rows[single], sets, combinations, len(combinations))
    grid.place[inside.victims] = len(grid.times) + inside.classes
    box = np.concatenate([rest[grid.box], single])
    order = np.argsort(box, kind="stable")
    cell = np.concatenate([grid.cell, len(grid.times) + np.arange(len(single))])
    return _Grid(
        box=box[order],
        cell=cell[order],
        times=np.concatenate([grid.times, times]),
        place=grid.place,
    )


def _disjoint_boxes(sizes: Sequence[int], sets: Sequence[PositionSets], rows: Ints) -> Ints:
    """Which boxes share no combination with another, as far as that is quickly told."""
    meeting = []
    local = np.zeros_like(rows)
    for k, size in enumerate(sizes):
        used, local[:, k] = np.unique(rows[:, k], return_inverse=True)
        part = merge_positions(sets[k].select(used), NO_POSITIONS, np.ones((1, size)))
        if len(used) ** 2 * part.atoms > MOST_WORK or len(used) * part.atoms > CELLS:
            return np.zeros(len(rows), dtype=bool)
        table = np.zeros((len(used), part.atoms), dtype=np.float32)
        table[np.repeat(np.arange(len(used)), part.sets.sizes), part.sets.members] = 1
        first, second = np.nonzero(table @ table.T)
        meeting.append(PositionSets(np.searchsorted(first, np.arange(len(used) + 1)), second))
    try:
        pairs = candidate_pairs(local, meeting, local, MOST)
    except ExhaustedError:
        return np.zeros(len(rows), dtype=bool)
    return np.asarray(np.bincount(pairs.victims, minlength=len(rows)) == 1)
