"""The alphabet of a release: combinations of values as symbols, and their distances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.limit.columns import ReleasedColumn, Text
from sievert.errors import UsageError, unknown
from sievert.losses.loss import combination_codes
from sievert.notes import Count, Note

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
    def is_ordered(self) -> bool:
        """Whether it is one ordered column."""
        return len(self.columns) == 1 and self.columns[0].is_ordered and not self.merged

    def texts(self, *, released: bool) -> list[tuple[Text, ...]]:
        """The combinations in words."""
        rows = (self.released if released else self.symbols).tolist()
        texts = [c.labels if released else c.values for c in self.columns]
        return [tuple(t[i] for t, i in zip(texts, row, strict=True)) for row in rows]

    def noise(self, channel: Floats) -> float:
        """The variance of the distortion that drawing from a channel gives a record, on average."""
        if self.members is None:
            sizes = self.counts.sum(axis=1)
            return _noise(channel, self.distortion, sizes) / float(sizes.sum())
        symbols, place, sizes = self.members
        step, variance = max(1, CELLS // len(self.released)), 0.0
        for at in range(0, len(symbols), step):
            some = slice(at, at + step)
            far = distances(self.columns, symbols[some], self.released)
            variance += _noise(channel[place[some]], far, sizes[some])
        return variance / float(sizes.sum())

    def record_distortion(self, symbols: Ints) -> Floats:
        """The distortion of each record by the released symbol that was drawn for it."""
        total = np.zeros(len(symbols))
        for j, c in enumerate(self.columns):
            total += c.distances[c.codes, self.released[symbols, j]]
        return total / len(self.columns)


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
        each = [_joint((c,), c.codes, secret, weights, most, False) for c in columns]
    else:
        each = [_joint(tuple(columns), key, secret, weights, most, occurring)]
    if kind == MERGED and number <= most:
        kind = JOINT
    return kind, each if reduced is None else [_reduce(a, reduced) for a in each]


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
    width = int(secret.max()) + 1
    cells = np.bincount(key * width + secret, weights, len(symbols) * width)
    counts: Floats = np.asarray(cells.reshape(len(symbols), width), dtype=np.float64)
    same = all(c.labels is c.values for c in columns)
    if len(symbols) > most:
        return _merge_rare(columns, symbols, key, counts, most)
    size = math.prod(len(c.labels) for c in columns)
    everything = not same or (size <= most and not occurring)
    released = _product([len(c.labels) for c in columns]) if everything else symbols
    apart = distances(columns, symbols, released)
    return ReleaseAlphabet(columns, symbols, released, key, counts, apart, everything=everything)


def _merge_rare(
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
    merged = np.zeros((most, counts.shape[1]))
    np.add.at(merged, place, counts)
    return ReleaseAlphabet(
        columns,
        symbols[kept],
        symbols[kept],
        place[key],
        merged,
        total / merged.sum(axis=1, keepdims=True),
        merged=int(sizes[rare].sum()),
        members=(symbols, place, sizes),
    )


def _reduce(alphabet: ReleaseAlphabet, number: int) -> ReleaseAlphabet:
    """Release only some symbols: greedily the one that brings them nearest to all."""
    if number >= len(alphabet.released):
        return alphabet
    sizes = alphabet.counts.sum(axis=1)
    nearest = np.full(len(alphabet.symbols), np.inf)
    chosen: list[int] = []
    for _ in range(number):
        far = sizes @ np.minimum(nearest[:, None], alphabet.distortion)
        far[chosen] = np.inf
        chosen.append(int(far.argmin()))
        nearest = np.minimum(nearest, alphabet.distortion[:, chosen[-1]])
    kept = np.sort(np.array(chosen))
    return replace(
        alphabet,
        released=alphabet.released[kept],
        distortion=np.ascontiguousarray(alphabet.distortion[:, kept]),
        everything=False,
        reduced=True,
    )


def _noise(channel: Floats, far: Floats, sizes: Floats) -> float:
    mean = np.einsum("ij,ij->i", channel, far)
    squares = np.einsum("ij,ij->i", channel, far**2)
    return float(sizes @ np.maximum(squares - mean**2, 0.0))


def distances(columns: Sequence[ReleasedColumn], symbols: Ints, released: Ints) -> Floats:
    """The mean over the columns of how far symbols are from released ones."""
    total = np.zeros((len(symbols), len(released)))
    for j, c in enumerate(columns):
        total += c.distances[np.ix_(symbols[:, j], released[:, j])]
    return total / len(columns)


def _product(sizes: Sequence[int]) -> Ints:
    """All combinations of so many codes of each column."""
    grids = np.meshgrid(*(np.arange(s) for s in sizes), indexing="ij")
    return np.stack([g.ravel() for g in grids], axis=1)


def alphabet_notes(kind: str, each: Sequence[ReleaseAlphabet], *, labelled: bool) -> list[Note]:
    """What a user should know about the alphabets."""
    notes: list[Note] = []
    if kind == COLUMNS and len(each) > 1:
        notes.append(
            Note(
                "each column has a channel of its own, which --at goes for: all together they are "
                "not the best release, and what is promised is promised of each column"
            )
        )
    for alphabet in each:
        if alphabet.merged:
            text = (
                "{} of rare combinations count as the nearest frequent ones; how far these are "
                "is part of the distortion"
            )
            notes.append(Note(text, Count(alphabet.merged)))
        if alphabet.reduced:
            number = Count(len(alphabet.released), "combination")
            notes.append(Note("only {} may be released", number))
    if labelled:
        notes.append(
            Note(
                "the release is synthetic: for each record a label is drawn, and for the label "
                "values of somebody who could have it; it tells less than the label, and loses more"
            )
        )
    return notes
