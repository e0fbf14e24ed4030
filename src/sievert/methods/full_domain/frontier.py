"""All nodes of a lattice in one pass, and the nodes that no other beats in both respects.

Every node is a release. Its classes that break a rule are suppressed, however many they are.
What it discloses is H(X'), the bits that the released quasi-identifiers tell of who is who, with
the suppressed records as one class of their own; what it has lost is I(X;Y) - I(X';Y) in bits of a
secret or, without one, the loss of the search.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.errors import ExhaustedError, require
from sievert.methods.full_domain.recoding import FullDomainRecoding
from sievert.methods.full_domain.search import Accept, Search

MOST_NODES = 10**6
KNOWN = 1 << 16  # numbers whose logarithms are tabled
DIGITS = 10  # decimals of bits: what differs by less is equal


@dataclass(frozen=True, eq=False, kw_only=True)
class FrontierPoint:
    """One release beside others: what it discloses and has lost, and what stands out about it.

    `meets` tells whether it is accepted, `optimal` whether none of all nodes is better, `gap` how
    much more it discloses than another release would, where that is known.
    """

    recoding: FullDomainRecoding
    disclosed: float
    lost: float
    meets: bool
    optimal: bool
    chosen: bool
    gap: float | None = None


class NodeNumbers:
    """Of every node: its levels in the order of the search, and what follows from its classes.

    They are computed in one pass, in which the table of combinations is rolled up as it goes.
    """

    def __init__(self, search: Search) -> None:
        require(
            search.nodes <= MOST_NODES,
            f"a frontier of {search.nodes:,} nodes, more than {MOST_NODES:,}",
            hint="hierarchies with fewer levels, or fewer quasi-identifiers",
            error=ExhaustedError,
        )
        self.search = search
        self.records = search.sums.records
        self.at = search.secrets.index(search.bits_of) if search.bits_of is not None else None
        self.least = search.least_uncertainty[self.at] if self.at is not None else 0.0
        self.values = search.secrets[self.at].values if self.at is not None else 1
        self.judged = any(s.rules for s in search.secrets)
        small = np.arange(min(self.records + 1, KNOWN))
        self.n_log_n = small * np.log2(np.maximum(small, 1))
        self.whole = self.records * math.log2(self.records)
        n = search.nodes
        self.levels = np.zeros((n, len(search.columns)), dtype=np.int64)
        self.suppressed = np.zeros(n, dtype=np.int64)
        self.disclosed = np.zeros(n)
        self.lost = np.zeros(n)
        self.number = 0
        self._descend(0, search.tables, [0] * len(search.columns))

    def place(self, levels: Sequence[int] | None) -> set[int]:
        """The node on levels in the order in which the columns were given; none without them."""
        ordered = [] if levels is None else [levels[j] for j in self.search.order]
        sizes = [column.levels for column in self.search.columns]
        return {int(np.ravel_multi_index(ordered, sizes))} if ordered else set()

    def undominated(self, among: Bools, holds: Callable[[int], bool] = lambda _: True) -> list[int]:
        """Nodes for which something holds, and none of them is better; the least disclosing first.

        Whether it holds is asked only of nodes that would be kept.
        """
        places = np.flatnonzero(among)
        disclosed = self.disclosed.round(DIGITS)
        lost = self.lost.round(DIGITS)
        order = np.lexsort((self.suppressed[places], lost[places], disclosed[places]))
        best = math.inf
        kept = []
        for node in places[order].tolist():
            if lost[node] < best and holds(node):
                best = lost[node]
                kept.append(node)
        return kept

    def _descend(self, i: int, tables: list[tuple[Ints, Ints]], levels: list[int]) -> None:
        column = self.search.columns[i]
        for level in range(column.levels):
            levels[i] = level
            if i + 1 < len(levels):
                self._descend(i + 1, tables, levels)
            else:
                self._look(levels, tables)
            if level + 1 < column.levels:
                tables = self.search.roll_up(tables, i, level)
        levels[i] = 0

    def _look(self, levels: list[int], tables: list[tuple[Ints, Ints]]) -> None:
        search = self.search
        node = self.number
        broken = search.broken_classes(tables)[2] if self.judged else np.zeros(0, dtype=np.uint8)
        gone, classes, cells = search.kernels.node_sums(
            *tables[self.at or 0], search.secret_bits, self.values, search.k, broken, self.n_log_n
        )
        self.levels[node] = levels
        self.suppressed[node] = gone
        self.disclosed[node] = max(0.0, self.whole - classes) / self.records
        if self.at is None:
            self.lost[node] = search.node_loss(tuple(levels), tables, search.broken_classes(tables))
        else:
            self.lost[node] = (classes - cells - self.least) / self.records
        self.number += 1


def find_frontier(
    search: Search, accept: Accept, chosen: Sequence[int] | None = None
) -> list[FrontierPoint]:
    """Find the best of all releases, the best accepted one, and the one on given levels.

    An accepted release suppresses no more records than the search allows. The least disclosing
    releases come first.
    """
    nodes = NodeNumbers(search)
    optimal = set(nodes.undominated(np.ones(len(nodes.lost), dtype=bool)))
    recodings: dict[int, FullDomainRecoding] = {}

    def recoding(node: int) -> FullDomainRecoding:
        if node not in recodings:
            recodings[node] = search.at(search.as_given(nodes.levels[node].tolist()))
        return recodings[node]

    within = nodes.suppressed <= search.allowed
    meeting = set(nodes.undominated(within, lambda node: accept(recoding(node))))
    mine = nodes.place(chosen)
    every = optimal | meeting | mine
    meeting |= {n for n in every - meeting if within[n] and accept(recoding(n))}
    order = sorted(every, key=lambda n: (nodes.disclosed[n], -nodes.lost[n], n))
    return [
        FrontierPoint(
            recoding=recoding(n),
            disclosed=float(nodes.disclosed[n]),
            lost=float(nodes.lost[n]),
            meets=n in meeting,
            optimal=n in optimal,
            chosen=n in mine,
        )
        for n in order
    ]
