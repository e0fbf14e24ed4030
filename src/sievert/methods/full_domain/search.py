"""The exact search for the recoding of least loss among all combinations of levels.

It goes through the levels column by column, from fine to coarse, with the table of combinations
rolled up as it goes. A subtree is left out where its least possible loss is no better than the best
recoding so far, or where not even its coarsest node can hold the rules:

- more records than may be suppressed are in classes that break a rule on size or on the number of
  distinct values, on the coarsest node of the subtree: coarser classes only gain records;
- for a rule that bounds a convex quantity f of the distribution of a secret by tau, with f <= F for
  any class: a coarse class is a union of kept parts (f <= tau) and suppressed ones (f <= F), so
  the sum over coarse classes of size · max(0, f - tau) is at most suppressed · (F - tau);
- there are no rules, so nothing is suppressed, and the caller knows that its coarsest node breaches
  what finer columns breach all the more (`Hints`).
"""

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.errors import ExhaustedError, require
from sievert.losses.formulas import LabelShare
from sievert.methods.full_domain import plain
from sievert.methods.full_domain.columns import LevelledColumn, column_order
from sievert.methods.full_domain.loops import Loops
from sievert.methods.full_domain.losses import BY_NAME, LOSSES, LevelSums, Losses
from sievert.methods.full_domain.nodes import (
    NO_HINTS,
    Agree,
    Best,
    Classes,
    Hints,
    Judges,
    Node,
    Tables,
)
from sievert.methods.full_domain.recoding import FullDomainRecoding, SecretCells
from sievert.methods.full_domain.rules import RuleArrays

Accept = Callable[[FullDomainRecoding], bool]
KEY_BITS = 63
LOOK = 5_000  # cells that take as long to scan as a look at one node
ROUNDING = 1e-9  # relative: losses that differ by less are equal
SUBTREE = 8  # nodes of a subtree whose coarsest node is judged first


class Search:
    """A table of combinations with its columns, and everything that does not change in a search."""

    def __init__(
        self,
        columns: Sequence[LevelledColumn],
        codes: Ints,
        counts: Ints,
        secrets: Sequence[SecretCells] = (),
        *,
        k: int = 1,
        suppress: int = 0,
        loss: str = "generalization_loss",
        secret: str | None = None,
        weights: Sequence[float] | None = None,
        order: Sequence[int] | None = None,
        uncompiled: int = 0,
    ) -> None:
        """`codes[i, j]` numbers the value of column j in combination i."""
        require(loss in BY_NAME, f"no loss is called {loss!r}", hint=", ".join(LOSSES))
        self.given = tuple(columns)
        self.codes = codes
        self.counts = counts
        self.order = list(order if order is not None else column_order(columns))
        self.columns = [columns[j] for j in self.order]
        self.k = k
        self.allowed = suppress
        self.loss = BY_NAME[loss]
        self.secrets = list(secrets)
        self.bits_of = next((s for s in secrets if s.name == secret), None)
        lacking = self.loss.needs_secret and self.bits_of is None
        require(not lacking, f"the loss in {loss} needs a secret")
        weights = [1.0] * len(columns) if weights is None else weights
        value_counts = [
            np.bincount(codes[:, j], counts, len(columns[j].tables[0])).astype(np.int64)
            for j in self.order
        ]
        self.sums = LevelSums(self.columns, value_counts, [weights[j] for j in self.order])
        self.terms = None if self.loss.terms is None else self.loss.terms(self.sums)
        self.finished = False  # whether the last run left nothing open
        self._loops = Loops(
            uncompiled,
            tallies=len(codes) * max([1, *(s.values for s in secrets)]),
            values=max([0, *(s.values for s in secrets if s.rules and s.name is not None)]),
        )
        self._pack()
        self.least_uncertainty = [
            self.kernels.uncertainty(
                *table, self.secret_bits, s.values, np.zeros(len(table[0]), dtype=np.uint8)
            )
            for s, table in zip(self.secrets, self.tables, strict=False)
        ]

    # -- keys ---------------------------------------------------------------------------------

    def _pack(self) -> None:
        """Sorted keys of the combinations, alone and with each secret that has rules."""
        self.widths = [max(1, (len(c.tables[0]) - 1).bit_length()) for c in self.columns]
        self.secret_bits = max([0, *(max(1, (s.values - 1).bit_length()) for s in self.secrets)])
        whole = sum(self.widths) + self.secret_bits
        require(
            whole <= KEY_BITS,
            f"the combinations need {whole} bits, more than {KEY_BITS}",
            hint="fewer quasi-identifiers, or columns with fewer values",
            error=ExhaustedError,
        )
        ends = list(itertools.accumulate(reversed(self.widths), initial=self.secret_bits))
        self.lows = ends[-2::-1]
        keys = np.zeros(len(self.codes), dtype=np.uint64)
        for j, low in zip(self.order, self.lows, strict=True):
            keys |= self.codes[:, j].astype(np.uint64) << np.uint64(low)
        self.tables = [
            plain.sort_keys(keys[s.combination] | s.value.astype(np.uint64), s.counts)
            for s in self.secrets
        ] or [plain.sort_keys(keys, self.counts)]
        self.rules = [
            (
                RuleArrays.of(s.rules),
                s.totals(),
                s.known_totals(),
                np.zeros((1, s.values), dtype=np.int64) if s.tree is None else s.tree,
                s.missing,
            )
            for s in self.secrets
        ]

    # -- the search ----------------------------------------------------------------------------

    @property
    def kernels(self) -> Any:
        """The loops as they are now: NumPy's, or compiled ones."""
        return self._loops.kernels

    @property
    def has_rules(self) -> bool:
        """Whether a class may be suppressed."""
        return self.k > 1 or any(secret.rules for secret in self.secrets)

    @property
    def nodes(self) -> int:
        """The number of combinations of levels."""
        return math.prod(column.levels for column in self.columns)

    def run(
        self,
        accept: Accept | None = None,
        seconds: float | None = None,
        cells: float = math.inf,
        hints: Hints = NO_HINTS,
    ) -> FullDomainRecoding | None:
        """The best recoding that holds the rules and that `accept` agrees to; None if none does.

        With `seconds`, or with the most `cells` that are scanned, the best one so far is returned
        when they are over, and the least loss that is still possible.
        """
        best = Best()
        until = math.inf if seconds is None else time.monotonic() + seconds

        def over() -> bool:
            return time.monotonic() >= until or best.scanned >= cells

        def agree(node: Node, tables: Tables, classes: Classes) -> bool:
            _, sizes, broken = classes
            if hints.fits is not None and not hints.fits(sizes[broken == 0]):
                return False
            best.scanned += LOOK + hints.cells
            return accept is None or accept(self._recoding(node, tables, classes))

        def possible(i: int, levels: list[int]) -> bool:
            later = [column.levels for column in self.columns[i + 1 :]]
            if hints.possible is None or self.has_rules or math.prod(later) < SUBTREE:
                return True
            best.scanned += hints.cells
            return hints.possible(self.as_given([*levels[: i + 1], *(n - 1 for n in later)]))

        self._descend(0, self.tables, [0] * len(self.columns), best, (agree, possible), over)
        self.finished = math.isinf(best.open_bound)
        if best.node is None:
            return None
        return replace(
            self._recoding(best.node, best.tables, self.broken_classes(best.tables)),
            proven=self.finished,
            bound=min(best.node.loss, best.open_bound),
            visited=best.visited,
        )

    def at(self, levels: Sequence[int]) -> FullDomainRecoding:
        """The recoding on given levels; every class that breaks a rule is suppressed."""
        tables = self.tables
        for low, width, j in zip(self.lows, self.widths, self.order, strict=True):
            if levels[j]:
                above = self.given[j].tables[levels[j]]
                tables = [self.kernels.roll_up(*table, low, width, above) for table in tables]
        ordered = tuple(levels[j] for j in self.order)
        classes = self.broken_classes(tables)
        _, sizes, broken = classes
        loss = self.node_loss(ordered, tables, classes)
        node = Node(ordered, loss, int(sizes[broken.astype(bool)].sum()))
        return self._recoding(node, tables, classes)

    def _descend(
        self,
        i: int,
        tables: Tables,
        levels: list[int],
        best: Best,
        judges: Judges,
        over: Callable[[], bool],
    ) -> None:
        """Columns before i are on their levels; i and all later ones are on level 0."""
        column = self.columns[i]
        last = i == len(self.columns) - 1
        agree, possible = judges
        bound = self._bound(levels, tables)
        for level in range(column.levels):
            if self._is_beaten(bound, best):
                break
            best.scanned += self._loops.count(tables)
            if over():
                best.open_bound = min(best.open_bound, bound)
                break
            if not self._hopeless(i, tables) and possible(i, levels):
                if last:
                    self._look(tuple(levels), tables, best, agree)
                else:
                    self._descend(i + 1, tables, levels, best, judges, over)
            if level + 1 < column.levels:
                levels[i] = level + 1
                if self.terms:
                    bound = self._bound(levels, tables)
                    if self._is_beaten(bound, best):
                        break
                tables = self.roll_up(tables, i, level)
                if not self.terms:
                    bound = self._bound(levels, tables)
        levels[i] = 0

    def _is_beaten(
        self, loss: float, best: Best, then: tuple[int, tuple[int, ...]] | None = None
    ) -> bool:
        """Whether nothing that loses at least so much is better than the best so far.

        Many recodings have the same mean height: of these the one is better that suppresses fewer
        records or has lower levels in the first columns, `then`.
        """
        if loss < best.loss * (1 - ROUNDING):
            return False
        if (
            not self.loss.fewest_suppressed
            or loss > best.loss * (1 + ROUNDING)
            or best.node is None
        ):
            return True
        return then is not None and then >= (best.node.suppressed, self.as_given(best.node.levels))

    def roll_up(self, tables: Tables, i: int, level: int) -> Tables:
        """The tables with column i, which is on this level, on the next one."""
        how = self.lows[i], self.widths[i], self.columns[i].steps[level]
        return [self.kernels.roll_up(*table, *how) for table in tables]

    def _bound(self, levels: list[int], tables: Tables) -> float:
        """The least loss of any node with these levels, or coarser ones of the later columns."""
        if self.terms is None:
            assert self.loss.least_of_classes is not None
            return self.loss.least_of_classes(NodeClasses(self, levels, tables))
        least = sum([own[level] for own, level in zip(self.terms, levels, strict=True)])
        return self.loss.of_terms(least)

    def _hopeless(self, i: int, tables: Tables) -> bool:
        """Whether no node with these levels up to column i can hold the rules."""
        low = self.lows[i]
        if self.k > 1 and self.kernels.records_below(*tables[0], low, self.k) > self.allowed:
            return True
        for secret, table, rules in zip(self.secrets, tables, self.rules, strict=False):
            if not any(r.monotone or r.convex for r in secret.rules):
                continue
            totals = rules[1]
            broken, slack = self.kernels.judge_classes(*table, low, self.secret_bits, *rules)
            for rule, over in zip(secret.rules, slack.tolist(), strict=True):
                if rule.convex:
                    most = self.allowed * rule.largest_excess(totals)
                    if over > most * (1 + ROUNDING) + ROUNDING * self.sums.records:
                        return True
            if all(r.monotone for r in secret.rules):
                sizes = self.kernels.class_sizes(*table, low)[1]
                if int(sizes[broken.astype(bool)].sum()) > self.allowed:
                    return True
        return False

    def broken_classes(self, tables: Tables) -> Classes:
        """The classes of a node: keys, sizes, and which of them break a rule."""
        heads, sizes = self.kernels.class_sizes(*tables[0], self.secret_bits)
        broken = (sizes < self.k).astype(np.uint8)
        for secret, table, rules in zip(self.secrets, tables, self.rules, strict=False):
            if secret.rules:
                bits = self.secret_bits
                broken |= self.kernels.judge_classes(*table, bits, bits, *rules)[0]
        return heads, sizes, broken

    def _look(
        self,
        levels: tuple[int, ...],
        tables: Tables,
        best: Best,
        agree: Agree,
    ) -> None:
        """Evaluate one node, and keep it if it is the best so far."""
        best.visited += 1
        classes = self.broken_classes(tables)
        _, sizes, broken = classes
        suppressed = int(sizes[broken.astype(bool)].sum())
        if suppressed > self.allowed:
            return
        loss = self.node_loss(levels, tables, classes)
        if self._is_beaten(loss, best, (suppressed, self.as_given(levels))):
            return
        node = Node(levels, loss, suppressed)
        if agree(node, tables, classes):
            best.node = node
            best.tables = tables

    def node_loss(self, levels: tuple[int, ...], tables: Tables, classes: Classes) -> float:
        """The loss that is minimised, of one node."""
        if self.loss.of_levels_only:
            return self._bound(list(levels), tables)
        return float(self.loss.of_classes(NodeClasses(self, levels, tables, classes)))

    def mean_shares(self, levels: Sequence[int], classes: Classes, share: LabelShare) -> Floats:
        """Per column the mean share over records; a suppressed one has share 1."""
        of_labels = self.sums.shares(share)
        shares = np.zeros(
            (len(levels), max(len(s[x]) for s, x in zip(of_labels, levels, strict=True)))
        )
        for j, level in enumerate(levels):
            shares[j, : len(of_labels[j][level])] = of_labels[j][level]
        lows = np.array(self.lows) - self.secret_bits
        hidden: Floats = self.kernels.hidden_shares(*classes, lows, np.array(self.widths), shares)
        own = np.array([s[x] for s, x in zip(self.sums.sums(share), levels, strict=True)])
        return (own + hidden) / self.sums.records

    def bits(self, at: int, tables: Tables, broken: Ints | None) -> float:
        """I(X;Y) - I(X';Y) in bits per record; suppressed records are one class of their own."""
        nothing = np.zeros(len(tables[at][0]), dtype=np.uint8)
        left = self.kernels.uncertainty(
            *tables[at],
            self.secret_bits,
            self.secrets[at].values,
            nothing if broken is None else broken,
        )
        return float(left - self.least_uncertainty[at]) / self.sums.records

    # -- the result -----------------------------------------------------------------------------

    def as_given(self, levels: Sequence[int]) -> tuple[int, ...]:
        """Levels in the order in which the columns were given."""
        return tuple(levels[self.order.index(j)] for j in range(len(self.order)))

    def _recoding(self, node: Node, tables: Tables, classes: Classes) -> FullDomainRecoding:
        heads, sizes, broken = classes
        gone = broken.astype(bool)

        def losses() -> Losses:
            named = [(i, s.name) for i, s in enumerate(self.secrets) if s.name]
            return Losses.of(
                NodeClasses(self, node.levels, tables, classes),
                monotonic_discernability=int((sizes * sizes).sum()),
                bits={name: self.bits(i, tables, broken) for i, name in named},
            )

        return FullDomainRecoding(
            columns=self.given,
            levels=self.as_given(node.levels),
            lows=tuple(low - self.secret_bits for low in self.as_given(self.lows)),
            class_keys=heads,
            suppressed_classes=gone,
            suppressed_records=node.suppressed,
            classes=int((~gone).sum()),
            measure_losses=losses,
            loss=node.loss,
            proven=True,
            bound=node.loss,
            nodes=self.nodes,
            visited=1,
        )


class NodeClasses:
    """The classes of a node, as losses see them; without `classes` none is suppressed."""

    def __init__(
        self,
        search: Search,
        levels: Sequence[int],
        tables: Tables,
        classes: Classes | None = None,
    ) -> None:
        self.search = search
        self.levels = levels
        self.tables = tables
        self._classes = classes

    @property
    def records(self) -> int:
        """The records of the table."""
        return self.search.sums.records

    @property
    def weights(self) -> Floats:
        """How much each column counts."""
        return self.search.sums.weights

    @cached_property
    def classes(self) -> Classes:
        """The classes: keys, sizes, and which of them are suppressed."""
        if self._classes is not None:
            return self._classes
        heads, sizes = self.search.kernels.class_sizes(*self.tables[0], self.search.secret_bits)
        return heads, sizes, np.zeros(len(sizes), dtype=np.uint8)

    @property
    def suppressed(self) -> int:
        """The records in suppressed classes."""
        _, sizes, broken = self.classes
        return int(sizes[broken.astype(bool)].sum())

    @property
    def released_sizes(self) -> Ints:
        """The sizes of the other classes."""
        _, sizes, broken = self.classes
        return np.asarray(sizes[broken == 0])

    def mean_shares(self, share: LabelShare) -> Floats:
        """Per column the mean over records of a share of their label."""
        return self.search.mean_shares(self.levels, self.classes, share)

    def entropy(self) -> float:
        """The bits that labels lack of their values."""
        entropies = self.search.sums.entropies
        return sum(own[level] for own, level in zip(entropies, self.levels, strict=True))

    def bits(self) -> float:
        """The bits lost about the secret that the search was given."""
        assert self.search.bits_of is not None
        at = self.search.secrets.index(self.search.bits_of)
        broken = None if self._classes is None else self._classes[2]
        return self.search.bits(at, self.tables, broken)
