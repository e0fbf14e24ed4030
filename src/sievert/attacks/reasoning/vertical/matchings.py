"""Redrawing who has which secret inside a group, all at once, from the exact conditional.

The people of a group are numbered, so that a set of them is a mask of bits. A redraw hands out one
kind of secret after the other, each to a set as large as the kind is frequent: a dynamic programme
over sets, whose sums from the front and from the back give the chance of every set. (For kinds that
occur once this is the permanent of a matrix.)
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Floats, Ints

MOST = 8  # people of a group who are redrawn at once
SIZES = MOST + 1
FAINT = 1e-150  # a sum this small has lost digits: the programme is run again in logarithms
HUGE = 1e100  # products beyond this, or below its inverse, are kept as logarithms


@cache
def subset_tables() -> tuple[Ints, ...]:
    """All sets of up to 8 people, by size; the subsets of each, by size; last members and sizes.

    Of both lists also where each size begins.

    >>> masks, starts, *_ = subset_tables()
    >>> masks[starts[7] : starts[8]].tolist()
    [127, 191, 223, 239, 247, 251, 253, 254]
    """
    size = np.array([mask.bit_count() for mask in range(1 << MOST)])
    masks = np.argsort(size, kind="stable")
    subsets: list[int] = []
    starts = [0]
    for mask in range(1 << MOST):
        inside = [part for part in range(mask + 1) if part & mask == part]
        for many in range(SIZES):
            subsets += [part for part in inside if size[part] == many]
            starts.append(len(subsets))
    last = np.array([mask.bit_length() - 1 for mask in range(1 << MOST)])
    tables = (
        masks.astype(np.int16),
        np.searchsorted(size[masks], np.arange(SIZES + 1)),
        np.array(subsets, dtype=np.int16),
        np.array(starts, dtype=np.int64),
        last.astype(np.int16),
        size.astype(np.int16),
    )
    for table in tables:
        table.setflags(write=False)
    return tables


class GroupState(NamedTuple):
    """The groups of a release, and who has which secret now.

    `mass[c]` is the prior weight of a cell and how many people have it; the cell of person i and
    secret s in factor f is `cells[i, f] + s`; `assigned[i]` is the kind of secret that i has,
    counted within the group. Moves add the chance of each kind, given all else, to `shares`.
    """

    starts: Ints
    cells: Ints
    kinds: Ints
    kind_starts: Ints
    share_starts: Ints
    mass: Floats
    assigned: Ints
    shares: Floats


def scratch(factors: int) -> tuple[NDArray[Any], ...]:
    """Make working memory for a group: its kinds, the people who are alike, sums over sets."""
    sets = 1 << MOST
    shapes = (MOST, MOST, (MOST, factors), (MOST, sets), sets, sets, (MOST, MOST))
    types = (np.int64,) * 3 + (np.float64,) * 4
    return tuple(np.zeros(shape, kind) for shape, kind in zip(shapes, types, strict=True))


def redraw(
    sweeps: int,
    groups: Ints,
    narrow: bool,
    rng: Any,
    state: GroupState,
    tables: tuple[Ints, ...],
    room: tuple[NDArray[Any], ...],
) -> None:
    """Redraw these groups, each of up to `MOST` people.

    The function is long because each call of a compiled helper would count the references of every
    array that it is given, which doubles the time of a sweep.
    """
    starts, cells, kinds, kind_starts, share_starts, mass, assigned, shares = state
    masks, mask_starts, subsets, subset_starts, last, size = tables
    tally, present, alike, omega, ahead, behind, odds = room
    factors = cells.shape[1]
    for _ in range(sweeps):
        for group in groups:
            first = starts[group]
            kind = kind_starts[group]
            n = starts[group + 1] - first
            width = kind_starts[group + 1] - kind
            count = 0
            full = (1 << n) - 1
            for x in range(n):
                k = assigned[first + x]
                if tally[k] == 0:
                    present[count] = k
                    count += 1
                tally[k] += 1
            if count == 1:
                tally[k] = 0
                for x in range(n):
                    shares[share_starts[group] + x * width + k] += 1.0
                continue
            for row in range(first, first + n):
                s = kinds[kind + assigned[row]]
                for f in range(factors):
                    mass[cells[row, f] + s, 1] -= 1.0
            if count < n:
                for x in range(n):
                    for f in range(factors):
                        like = 0
                        for y in range(x):
                            if cells[first + y, f] == cells[first + x, f]:
                                like |= 1 << y
                        alike[x, f] = like
            # From the front: the weight of all ways to give the first kinds to a set.
            logs = not narrow
            while True:
                for t in range(count):
                    s = kinds[kind + present[t]]
                    top = 1.0
                    omega[t, 0] = 0.0 if logs else 1.0
                    for many in range(1, tally[present[t]] + 1):
                        for a in range(mask_starts[many], mask_starts[many + 1]):
                            mask = masks[a]
                            if mask > full:
                                break
                            x = last[mask]
                            rest = mask ^ (1 << x)
                            w = 1.0
                            more = 0.0
                            for f in range(factors):
                                c = cells[first + x, f]
                                ties = size[rest & alike[x, f]] if many > 1 else 0
                                w *= mass[c + s, 0] + (mass[c + s, 1] + ties)
                                if logs and (w > HUGE or w * HUGE < 1.0):
                                    more = more + math.log(w)
                                    w = 1.0
                            omega[t, mask] = (
                                omega[t, rest] + (more + math.log(w))
                                if logs
                                else omega[t, rest] * (w / top)
                            )
                        if many == 1 and not logs:
                            top = 0.0
                            for x in range(n):
                                top = max(top, omega[t, 1 << x])
                            for x in range(n):
                                omega[t, 1 << x] /= top
                ahead[0] = 0.0 if logs else 1.0
                done = 0
                for t in range(count):
                    many = tally[present[t]]
                    done += many
                    for a in range(mask_starts[done], mask_starts[done + 1]):
                        mask = masks[a]
                        if mask > full:
                            break
                        b = mask * SIZES + many
                        top = -math.inf
                        total = 0.0
                        if logs:
                            for e in range(subset_starts[b], subset_starts[b + 1]):
                                given = subsets[e]
                                top = max(top, ahead[mask ^ given] + omega[t, given])
                        for e in range(subset_starts[b], subset_starts[b + 1]):
                            given = subsets[e]
                            total += (
                                math.exp(ahead[mask ^ given] + omega[t, given] - top)
                                if logs
                                else ahead[mask ^ given] * omega[t, given]
                            )
                        ahead[mask] = top + math.log(total) if logs else total
                if logs or ahead[full] >= FAINT:
                    break
                logs = True
            # From the back: the chance that just these are left when a kind is handed out.
            behind[full] = 1.0
            for t in range(count - 1, -1, -1):
                many = tally[present[t]]
                for a in range(mask_starts[done - many], mask_starts[done - many + 1]):
                    if masks[a] > full:
                        break
                    behind[masks[a]] = 0.0
                for a in range(mask_starts[done], mask_starts[done + 1]):
                    mask = masks[a]
                    if mask > full:
                        break
                    if behind[mask] == 0.0:
                        continue
                    scale = behind[mask] if logs else behind[mask] / ahead[mask]
                    b = mask * SIZES + many
                    for e in range(subset_starts[b], subset_starts[b + 1]):
                        given = subsets[e]
                        rest = mask ^ given
                        w = scale * (
                            math.exp(ahead[rest] + omega[t, given] - ahead[mask])
                            if logs
                            else ahead[rest] * omega[t, given]
                        )
                        behind[rest] += w
                        for _m in range(many):
                            x = last[given]
                            given ^= 1 << x
                            odds[t, x] += w
                done -= many
            left = full
            for t in range(count - 1, -1, -1):
                k = present[t]
                chosen = left
                many = tally[k]
                if t:
                    b = left * SIZES + many
                    total = 0.0
                    u = rng.random() * (1.0 if logs else ahead[left])
                    for e in range(subset_starts[b], subset_starts[b + 1]):
                        given = subsets[e]
                        w = (
                            math.exp(ahead[left ^ given] + omega[t, given] - ahead[left])
                            if logs
                            else ahead[left ^ given] * omega[t, given]
                        )
                        if w > 0.0:
                            chosen = given
                            total += w
                            if u < total:
                                break
                left ^= chosen
                for _m in range(many):
                    x = last[chosen]
                    chosen ^= 1 << x
                    assigned[first + x] = k
                tally[k] = 0
                for x in range(n):
                    shares[share_starts[group] + x * width + k] += odds[t, x]
                    odds[t, x] = 0.0
            for row in range(first, first + n):
                s = kinds[kind + assigned[row]]
                for f in range(factors):
                    mass[cells[row, f] + s, 1] += 1.0


def swap(
    offers: int, worth: float, groups: Ints, narrow: bool, rng: Any, state: GroupState
) -> None:
    """Offer every person `offers` swaps with somebody of the same group.

    A swap that makes the table q times as likely is done with probability q/(1 + q). (With
    min(1, q) two people of equal weight would swap every time, and after an even number of sweeps
    be back where they began.) Each offer adds `worth` to the shares.

    The function is long because each call of a compiled helper would count the references of every
    array that it is given, which doubles the time of a sweep.
    """
    starts, cells, kinds, kind_starts, share_starts, mass, assigned, shares = state
    factors = cells.shape[1]
    for _ in range(offers):
        for group in groups:
            first = starts[group]
            kind = kind_starts[group]
            people = starts[group + 1] - first
            width = kind_starts[group + 1] - kind
            for x in range(people):
                y = int(rng.random() * (people - 1))
                if y >= x:
                    y += 1
                one = first + x
                two = first + y
                j = assigned[one]
                k = assigned[two]
                place = share_starts[group] + x * width
                if j == k:
                    shares[place + j] += worth
                    continue
                s = kinds[kind + j]
                z = kinds[kind + k]
                alike = True
                q = 1.0
                total = 0.0
                for f in range(factors):
                    c = cells[one, f]
                    d = cells[two, f]
                    if c != d:
                        alike = False
                        up = (mass[d + s, 0] + mass[d + s, 1]) / (
                            mass[c + s, 0] + (mass[c + s, 1] - 1.0)
                        )
                        down = (mass[d + z, 0] + (mass[d + z, 1] - 1.0)) / (
                            mass[c + z, 0] + mass[c + z, 1]
                        )
                        if narrow:
                            q *= up / down
                        else:
                            total += math.log(up) - math.log(down)
                if not narrow:  # the exponent is never positive
                    q = math.exp(-abs(total))
                chance = 1.0 / (1.0 + q) if total > 0.0 else q / (1.0 + q)
                shares[place + k] += chance * worth
                shares[place + j] += (1.0 - chance) * worth
                if not alike and rng.random() < chance:
                    assigned[one] = k
                    assigned[two] = j
                    for f in range(factors):
                        c = cells[one, f]
                        d = cells[two, f]
                        if c != d:
                            mass[c + s, 1] -= 1.0
                            mass[d + s, 1] += 1.0
                            mass[d + z, 1] -= 1.0
                            mass[c + z, 1] += 1.0
