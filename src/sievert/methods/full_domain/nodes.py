"""What a search keeps of the nodes that it has looked at, and what it is told of the others."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sievert.arrays import Ints

Tables = list[tuple[Ints, Ints]]  # sorted keys with their counts, of each secret
Classes = tuple[Ints, Ints, Ints]  # of a node: keys, sizes, and which of them break a rule


@dataclass(frozen=True)
class Hints:
    """Knowledge about the recodings that will be accepted, so that fewer are judged.

    `fits` tells whether classes of some sizes may be accepted, `possible` whether a node on some
    levels or on finer ones may be, if nothing is suppressed. Judging a node takes as long as
    scanning `cells` cells.
    """

    fits: Callable[[Ints], bool] | None = None
    possible: Callable[[Sequence[int]], bool] | None = None
    cells: int = 0


NO_HINTS = Hints()


@dataclass
class Node:
    """A node that was evaluated: what is suppressed on it, and what it loses."""

    levels: tuple[int, ...]
    loss: float
    suppressed: int


@dataclass(kw_only=True)
class Best:
    """The best node so far, and the lowest bound of what was not looked at."""

    node: Node | None = None
    open_bound: float = math.inf
    visited: int = 0
    scanned: int = 0  # cells, and what it costs to look at nodes and to judge them
    tables: Tables = field(default_factory=list)

    @property
    def loss(self) -> float:
        """That of the best node."""
        return math.inf if self.node is None else self.node.loss


Agree = Callable[[Node, Tables, Classes], bool]
Judges = tuple[Agree, Callable[[int, list[int]], bool]]
