"""Swapping the secrets of two people of a group: moves for groups too large to redraw at once."""

from __future__ import annotations

import math
from typing import Any

from sievert.arrays import Ints
from sievert.attacks.reasoning.vertical.matchings import GroupState


def swap(
    offers: int, worth: float, groups: Ints, narrow: bool, rng: Any, state: GroupState
) -> None:
    """Offer everybody so many swaps with somebody of their group.

    A swap that makes the table q times as likely is done with probability q/(1 + q). (With
    min(1, q) two people of equal weight would swap every time, and after an even number of sweeps
    be back where they began.) What is added to the shares is an offer's `worth`.

    One function, though long: each call of a compiled helper would count the references of every
    array that it is given, which doubles the time of a sweep.
    """
    starts, cells, kinds, kind_starts, share_starts, mass, assigned, shares = state
    factors = cells.shape[1]
    for _ in range(offers):
        for at in range(len(groups)):
            group = groups[at]
            first = starts[group]
            people = starts[group + 1] - first
            kind = kind_starts[group]
            width = kind_starts[group + 1] - kind
            for x in range(people):
                y = int(rng.random() * (people - 1))
                if y >= x:
                    y += 1
                one, two = first + x, first + y
                j, k = assigned[one], assigned[two]
                place = share_starts[group] + x * width
                if j == k:
                    shares[place + j] += worth
                    continue
                s, z = kinds[kind + j], kinds[kind + k]
                alike = True
                q = 1.0
                total = 0.0
                for f in range(factors):
                    c, d = cells[one, f], cells[two, f]
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
                if narrow:
                    chance = q / (1.0 + q)
                elif total > 0.0:
                    chance = 1.0 / (1.0 + math.exp(-total))
                else:
                    chance = math.exp(total) / (1.0 + math.exp(total))
                shares[place + k] += chance * worth
                shares[place + j] += (1.0 - chance) * worth
                if not alike and rng.random() < chance:
                    assigned[one] = k
                    assigned[two] = j
                    for f in range(factors):
                        c, d = cells[one, f], cells[two, f]
                        if c != d:
                            mass[c + s, 1] -= 1.0
                            mass[d + s, 1] += 1.0
                            mass[d + z, 1] -= 1.0
                            mass[c + z, 1] += 1.0
