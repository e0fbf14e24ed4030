"""What is released: combinations of values as symbols, and how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.limit.columns import ReleasedColumn, Text
from sievert.errors import UsageError, unknown
from sievert.losses.loss import combination_codes

MOST = 1000  # combinations of one joint alphabet
KINDS = ("auto", "joint", "columns", "merged")
AUTO, JOINT, COLUMNS, MERGED = KINDS
CELLS = 1 << 22  # distances that are computed at once


@dataclass(frozen=True, eq=False)
class ReleaseAlphabet:
    """Symbols of some columns: rows of value codes, those released as rows of label codes.

    `distortion` is of symbols (rows) and released symbols; `of_record` says which symbol each
    record is. `merged` records were mapped to a symbol that is not their own combination.
    `everything` tells that released are all combinations of the columns' labels.
    """

    columns: tuple[ReleasedColumn, ...]
    symbols: Ints
    released: Ints
    of_record: Ints
    counts: Floats  # symbols by values of the secret
    distortion: Floats
    merged: int = 0
    everything: bool = False
    reduced: bool = False
    members: tuple[Ints, Ints, Floats] | None = None  # combinations, their symbols, their records

    @property
    def names(self) -> tuple[str, ...]:
        """The columns it is of."""
        return tuple(c.name for c in self.columns)

    @property
    def ordered(self) -> bool:
        """Whether it is one ordered column."""
        return len(self.columns) == 1 and self.columns[0].ordered and not self.merged

    def texts(self, *, released: bool) -> list[tuple[Text, ...]]:
        """The combinations in words."""
        rows = (self.released if released else self.symbols).tolist()
        held = [c.labels if released else c.values for c in self.columns]
        return [tuple(h[i] for h, i in zip(held, row, strict=True)) for row in rows]

    def noise(self, channel: Floats) -> float:
        """The variance of the distortion that drawing from a channel gives a record, on average."""
        if self.members is None:
            sizes = self.counts.sum(axis=1)
            return _noise(channel, self.distortion, sizes) / float(sizes.sum())
        symbols, place, sizes = self.members
        step, found = max(1, CELLS // len(self.released)), 0.0
        for at in range(0, len(symbols), step):
            some = slice(at, at + step)
            far = distances(self.columns, symbols[some], self.released)
            found += _noise(channel[place[some]], far, sizes[some])
        return found / float(sizes.sum())

    def apart(self, drawn: Ints) -> Floats:
        """Of each record the distortion of the released symbol that was drawn for it."""
        found = np.zeros(len(drawn))
        for j, c in enumerate(self.columns):
            found += c.distances[c.codes, self.released[drawn, j]]
        return found / len(self.columns)


def alphabets(
    columns: Sequence[ReleasedColumn],
    secret: Ints,
    weights: Ints,
    kind: str,
    most: int,
    *,
    occurring: bool = False,
    reduced: int | None = None,
) -> tuple[str, list[ReleaseAlphabet]]:
    """The alphabets of some columns, and which kind they are."""
    if kind not in KINDS:
        raise unknown("--alphabet:", kind, KINDS)
    if most < 2:
        raise UsageError("an alphabet has at least 2 combinations", hint=f"--most {MOST}")
    if reduced is not None and reduced < 1:
        raise UsageError("at least 1 combination is released", hint="--reduced 20")
    key = combination_codes([c.codes for c in columns])
    number = int(key.max()) + 1
    if kind == AUTO:
        kind = JOINT if number <= most else COLUMNS
    if kind == JOINT and number > most:
        raise UsageError(
            f"{number:,} combinations occur, more than {most:,} of one alphabet",
            hint="--alphabet columns, --alphabet merged, or a larger --most",
        )
    if kind == COLUMNS:
        found = [_column(c, secret, weights, most) for c in columns]
    else:
        found = [_joint(tuple(columns), key, secret, weights, most, occurring)]
    if kind == MERGED and number <= most:
        kind = JOINT
    return kind, [_fewer(a, reduced) for a in found] if reduced is not None else found


def _column(column: ReleasedColumn, secret: Ints, weights: Ints, most: int) -> ReleaseAlphabet:
    return _joint((column,), column.codes, secret, weights, most, False)


def _joint(
    columns: tuple[ReleasedColumn, ...],
    key: Ints,
    secret: Ints,
    weights: Ints,
    most: int,
    occurring: bool,
) -> ReleaseAlphabet:
    """All combinations that occur as one alphabet; the rare ones as the nearest of the others."""
    _, first = np.unique(key, return_index=True)
    symbols = np.stack([c.codes[first] for c in columns], axis=1)
    counts = counted(key, secret, weights, len(symbols))
    same = all(c.labels is c.values for c in columns)
    if len(symbols) > most:
        return _merged(columns, symbols, key, counts, most)
    size = math.prod(len(c.labels) for c in columns)
    everything = not same or (size <= most and not occurring)
    released = _product([len(c.labels) for c in columns]) if everything else symbols
    apart = distances(columns, symbols, released)
    return ReleaseAlphabet(columns, symbols, released, key, counts, apart, everything=everything)


def _merged(
    columns: tuple[ReleasedColumn, ...], symbols: Ints, key: Ints, counts: Floats, most: int
) -> ReleaseAlphabet:
    """The most frequent combinations; every other one counts as the nearest of them."""
    if any(c.labels is not c.values for c in columns):
        raise UsageError("distances from a file go with a smaller alphabet", hint="a larger --most")
    sizes = counts.sum(axis=1)
    order = np.argsort(-sizes, kind="stable")
    kept, rare = np.sort(order[:most]), np.sort(order[most:])
    place = np.empty(len(symbols), dtype=np.int64)
    place[kept] = np.arange(most)
    total = sizes[kept][:, None] * distances(columns, symbols[kept], symbols[kept])
    step = max(1, CELLS // most)
    for at in range(0, len(rare), step):
        some = rare[at : at + step]
        apart = distances(columns, symbols[some], symbols[kept])
        # of those equally near the most frequent
        near = apart <= apart.min(axis=1, keepdims=True) + 1e-12
        place[some] = np.where(near, sizes[kept], -1.0).argmax(axis=1)
        np.add.at(total, place[some], sizes[some, None] * apart)
    held = np.zeros((most, counts.shape[1]))
    np.add.at(held, place, counts)
    return ReleaseAlphabet(
        columns,
        symbols[kept],
        symbols[kept],
        place[key],
        held,
        total / held.sum(axis=1, keepdims=True),
        merged=int(sizes[rare].sum()),
        members=(symbols, place, sizes),
    )


def _fewer(held: ReleaseAlphabet, number: int) -> ReleaseAlphabet:
    """Release only some symbols: one after the other that which brings them nearest to all."""
    if number >= len(held.released):
        return held
    sizes = held.counts.sum(axis=1)
    nearest = np.full(len(held.symbols), np.inf)
    chosen: list[int] = []
    for _ in range(number):
        far = sizes @ np.minimum(nearest[:, None], held.distortion)
        far[chosen] = np.inf
        chosen.append(int(far.argmin()))
        nearest = np.minimum(nearest, held.distortion[:, chosen[-1]])
    kept = np.sort(np.array(chosen))
    return replace(
        held,
        released=held.released[kept],
        distortion=np.ascontiguousarray(held.distortion[:, kept]),
        everything=False,
        reduced=True,
    )


def _noise(channel: Floats, far: Floats, sizes: Floats) -> float:
    mean = np.einsum("ij,ij->i", channel, far)
    squares = np.einsum("ij,ij->i", channel, far**2)
    return float(sizes @ np.maximum(squares - mean**2, 0.0))


def distances(columns: Sequence[ReleasedColumn], symbols: Ints, released: Ints) -> Floats:
    """The mean over the columns of how far symbols are from released ones."""
    found = np.zeros((len(symbols), len(released)))
    for j, c in enumerate(columns):
        found += c.distances[np.ix_(symbols[:, j], released[:, j])]
    return found / len(columns)


def counted(symbols: Ints, secret: Ints, weights: Ints, number: int) -> Floats:
    """How many records have each symbol with each value of the secret."""
    width = int(secret.max()) + 1
    found = np.bincount(symbols * width + secret, weights, number * width)
    return np.asarray(found.reshape(number, width))


def _product(sizes: Sequence[int]) -> Ints:
    """All combinations of so many codes of each column."""
    grids = np.meshgrid(*(np.arange(s) for s in sizes), indexing="ij")
    return np.stack([g.ravel() for g in grids], axis=1)
