"""The alphabet of a release: combinations of values as symbols, and the distances between them."""

import csv
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints, Text
from sievert.errors import InputError, require, unknown
from sievert.estimators import bin_numbers, quantile_bins
from sievert.formatting import plural
from sievert.formatting.remarks import Remark
from sievert.hierarchies import MOST_BYTES, to_hierarchy
from sievert.losses.loss import as_numbers, combination_codes
from sievert.pairing.record_pairs import sparse_numbers
from sievert.releases.choices import ALPHABETS, DISTORTIONS, MOST
from sievert.request.requested import check_known
from sievert.tradeoff import ladder

HAMMING, SQUARED, ABSOLUTE = DISTORTIONS
HIERARCHY = "hierarchy"
MATRIX = "matrix"
WORDS = {
    HAMMING: "share of values changed",
    SQUARED: "squared difference as a share of the squared range",
    ABSOLUTE: "difference as a share of the range",
    HIERARCHY: "level of the lowest common label as a share of the height",
    MATRIX: "distances from a file",
}
AUTO, JOINT, COLUMNS, MERGED = ALPHABETS
CELLS = 1 << 22  # distances that are computed at once


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleasedColumn:
    """The values of a column in their order, and their distances to the labels of a release.

    `codes` has the place of each record's value.
    """

    name: str
    values: tuple[Text, ...]
    codes: Ints
    labels: tuple[Text, ...]
    distances: Floats
    kind: str
    numeric: bool

    @property
    def is_ordered(self) -> bool:
        """Tell whether intervals of the values make sense, because neighbours are near."""
        return self.numeric and None not in self.values


def released_column(
    name: str, texts: Sequence[Text], codes: Any, kind: Any, tree: Any
) -> ReleasedColumn:
    """Make a column from its codes; numbers are ordered by size, other texts by the alphabet."""
    present, places = np.unique(np.asarray(codes, dtype=np.int64), return_inverse=True)
    occurring = [texts[p] for p in present.tolist()]
    numbers = as_numbers(occurring)
    if numbers is not None:
        order = np.argsort(numbers, kind="stable")  # missing ones last
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        places = rank[places]
        numbers = numbers[order]
        occurring = [occurring[i] for i in order.tolist()]
    values = tuple(occurring)
    labels = values
    distances = 1.0 - np.eye(len(values))
    how: str = HAMMING
    if tree is not None:
        times = np.bincount(places.ravel(), minlength=len(values))
        distances = _by_hierarchy(name, values, times, tree)
        how = HIERARCHY
    elif kind not in DISTORTIONS:
        labels, distances = _by_file(name, values, kind)
        how = MATRIX
    elif kind != HAMMING and numbers is not None:
        distances = _by_numbers(numbers, squared=kind == SQUARED)
        how = kind
    return ReleasedColumn(
        name=name,
        values=values,
        codes=places.ravel(),
        labels=labels,
        distances=distances,
        kind=how,
        numeric=numbers is not None,
    )


def _by_numbers(numbers: Floats, *, squared: bool) -> Floats:
    """Compute differences as shares of the range; a missing value has the largest distance, 1."""
    scale = float(np.nanmax(numbers)) - float(np.nanmin(numbers))
    if not scale > 0:
        return 1.0 - np.eye(len(numbers))
    apart = np.abs(numbers[:, None] - numbers) / scale
    apart = np.where(np.isnan(apart), 1.0, apart)
    np.fill_diagonal(apart, 0.0)
    return np.asarray(apart**2 if squared else apart)


def _by_hierarchy(name: str, values: Sequence[Text], times: Ints, given: Any) -> Floats:
    """Compute the distance of two values from the level of their lowest common label."""
    counts = dict(zip(values, times.tolist(), strict=True))
    known = [v for v in values if v is not None]
    tree = to_hierarchy(given, {v: counts[v] for v in known})
    matrix = 1.0 - np.eye(len(values))
    if tree is not None and known:
        tree.require(known, name)
        at = np.array([i for i, v in enumerate(values) if v is not None])
        matrix[np.ix_(at, at)] = ladder(tree, known)
    return matrix


def _by_file(name: str, values: Sequence[Text], given: Any) -> tuple[tuple[Text, ...], Floats]:
    """Read labels and distances from a small CSV file.

    The first line has the released values. Each other line has a value and its distances.
    """
    path = Path(given)
    try:
        require(
            path.stat().st_size <= MOST_BYTES,
            f"{path.name}: a matrix of more than {MOST_BYTES} bytes",
            error=InputError,
        )
        with path.open(encoding="utf-8-sig", newline="") as file:
            sign = max(";,\t", key=file.readline().count)
            file.seek(0)
            head, *lines = [row for row in csv.reader(file, delimiter=sign) if row] or [[]]
    except OSError as error:
        raise InputError(
            f"{path.name}: {error.strerror}", hint=f"{', '.join(DISTORTIONS)}, or a CSV file"
        ) from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{path.name}: not a table of delimited UTF-8 text") from None
    require(
        lines,
        f"{path.name}: a first line of released values, then one line a value",
        error=InputError,
    )
    labels = tuple(v or None for v in head[1:])
    rows = {row[0] or None: row[1:] for row in lines}
    lacking = sum(1 for v in values if v not in rows)
    if lacking:
        raise InputError(
            f"{path.name}: {plural(lacking, 'value')} of column {name!r} have no line in it",
            hint="one line a value that occurs",
        )
    require(
        labels and len(set(labels)) >= len(labels),
        f"{path.name}: the first line names each released value once",
        error=InputError,
    )
    try:
        matrix = np.array([[float(x) for x in rows[v]] for v in values])
    except ValueError:
        raise InputError(f"{path.name}: not a number, or lines of different lengths") from None
    require(
        matrix.shape == (len(values), len(labels)),
        f"{path.name}: a line has another number of distances than the first",
        error=InputError,
    )
    require(
        np.isfinite(matrix).all() and not (matrix < 0).any(),
        f"{path.name}: distances are numbers of at least 0",
        error=InputError,
    )
    return labels, matrix


def check_kind(distortion: Any, columns: int, hierarchies: Mapping[str, Any]) -> None:
    """Refuse a distortion that is neither a name nor a file for the only column."""
    require(
        isinstance(distortion, str | os.PathLike),
        "a distortion is a name or a CSV file",
        hint=", ".join(DISTORTIONS),
    )
    if distortion in DISTORTIONS:
        return
    if isinstance(distortion, str) and Path(distortion).suffix.lower() not in (".csv", ".tsv"):
        raise unknown("--distortion:", distortion, DISTORTIONS)
    require(
        columns <= 1 and not hierarchies,
        "distances from a file are of one column, without a hierarchy",
        hint="one -q, or --distortion hamming",
    )


def cut_secret(texts: Sequence[Text], codes: Ints) -> Ints | None:
    """Cut a secret with nearly as many numbers as records at quantiles; None for other secrets."""
    numbers = as_numbers(texts)
    if numbers is None or not sparse_numbers(codes):
        return None
    return bin_numbers(numbers[codes], quantile_bins(numbers[codes]))


def binned_remark(secret: str) -> Remark:
    """Tell the reader that the numbers of `secret` are cut at quantiles."""
    return Remark("binned", column=repr(secret))


def describe_distortion(columns: Sequence[ReleasedColumn]) -> str:
    """Describe in words how the distortion of `columns` is measured."""
    kinds = dict.fromkeys(c.kind for c in columns)
    text = ", or ".join(WORDS[kind] for kind in kinds)
    return f"mean over {len(columns)} columns of the {text}" if len(columns) > 1 else text


# -- alphabets ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class ReleaseAlphabet:
    """The symbols of some columns, and the symbols that a release may have in their place.

    A row of `symbols` has a code of a value for each column, a row of `released` a code of a label.
    `distortion` has a row for each symbol and a column for each released symbol. `of_record` is the
    symbol of each record. `merged` records have a symbol that is not their own combination. With
    `everything`, all combinations of the columns' labels are released.
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
        """The names of its columns."""
        return tuple(c.name for c in self.columns)

    @property
    def is_ordered(self) -> bool:
        """Tell whether it consists of one ordered column."""
        return len(self.columns) == 1 and self.columns[0].is_ordered and not self.merged

    def texts(self, *, released: bool) -> list[tuple[Text, ...]]:
        """The values, or the labels if `released`, of each symbol."""
        rows = (self.released if released else self.symbols).tolist()
        texts = [c.labels if released else c.values for c in self.columns]
        return [tuple(t[i] for t, i in zip(texts, row, strict=True)) for row in rows]

    def noise(self, channel: Floats) -> float:
        """The mean variance of a record's distortion, if its symbol is drawn from `channel`."""
        if self.members is None:
            sizes = self.counts.sum(axis=1)
            return _noise(channel, self.distortion, sizes) / float(sizes.sum())
        symbols, place, sizes = self.members
        step = max(1, CELLS // len(self.released))
        variance = 0.0
        for at in range(0, len(symbols), step):
            some = slice(at, at + step)
            variance += _noise(
                channel[place[some]],
                distances(self.columns, symbols[some], self.released),
                sizes[some],
            )
        return variance / float(sizes.sum())

    def record_distortion(self, symbols: Ints) -> Floats:
        """The distortion of each record, given its released symbol in `symbols`."""
        released = self.released[symbols].T
        far = (c.distances[c.codes, own] for c, own in zip(self.columns, released, strict=True))
        return np.asarray(sum(far)) / len(self.columns)


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
    """Make the alphabets of some columns; return their kind and the alphabets."""
    check_known("--alphabet:", kind, ALPHABETS)
    require(most >= 2, "an alphabet has at least 2 combinations", hint=f"--most {MOST}")
    require(
        reduced is None or reduced >= 1, "at least 1 combination is released", hint="--reduced 20"
    )
    key = combination_codes([c.codes for c in columns])
    number = int(key.max()) + 1
    if kind == AUTO:
        kind = JOINT if number <= most else COLUMNS
    require(
        kind != JOINT or number <= most,
        f"{number:,} combinations occur, more than {most:,} of one alphabet",
        hint="--alphabet columns, --alphabet merged, or a larger --most",
    )
    if kind == COLUMNS:
        each = [_joint((c,), c.codes, secret, weights, most, False) for c in columns]
    else:
        each = [_joint(tuple(columns), key, secret, weights, most, occurring)]
    if kind == MERGED and number <= most:
        kind = JOINT
    if reduced is not None:
        each = [_reduce(alphabet, reduced) for alphabet in each]
    return kind, each


def _joint(
    columns: tuple[ReleasedColumn, ...],
    key: Ints,
    secret: Ints,
    weights: Ints,
    most: int,
    occurring: bool,
) -> ReleaseAlphabet:
    """Make one alphabet of all combinations that occur; merge rare ones with the nearest."""
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
    released = symbols
    if everything:  # all combinations of labels
        released = np.indices([len(c.labels) for c in columns]).reshape(len(columns), -1).T
    apart = distances(columns, symbols, released)
    return ReleaseAlphabet(
        columns=columns,
        symbols=symbols,
        released=released,
        of_record=key,
        counts=counts,
        distortion=apart,
        everything=everything,
    )


def _merge_rare(
    columns: tuple[ReleasedColumn, ...], symbols: Ints, key: Ints, counts: Floats, most: int
) -> ReleaseAlphabet:
    """Keep the most frequent combinations; count every other one as the nearest of them."""
    require(
        not any(c.labels is not c.values for c in columns),
        "distances from a file go with a smaller alphabet",
        hint="a larger --most",
    )
    sizes = counts.sum(axis=1)
    order = np.argsort(-sizes, kind="stable")
    kept = np.sort(order[:most])
    rare = np.sort(order[most:])
    place = np.empty(len(symbols), dtype=np.int64)
    place[kept] = np.arange(most)
    total = sizes[kept][:, None] * distances(columns, symbols[kept], symbols[kept])
    step = max(1, CELLS // most)
    for at in range(0, len(rare), step):
        some = rare[at : at + step]
        apart = distances(columns, symbols[some], symbols[kept])
        # the most frequent of several that are equally near
        near = apart <= apart.min(axis=1, keepdims=True) + 1e-12
        place[some] = np.where(near, sizes[kept], -1.0).argmax(axis=1)
        np.add.at(total, place[some], sizes[some, None] * apart)
    merged = np.zeros((most, counts.shape[1]))
    np.add.at(merged, place, counts)
    return ReleaseAlphabet(
        columns=columns,
        symbols=symbols[kept],
        released=symbols[kept],
        of_record=place[key],
        counts=merged,
        distortion=total / merged.sum(axis=1, keepdims=True),
        merged=int(sizes[rare].sum()),
        members=(symbols, place, sizes),
    )


def _reduce(alphabet: ReleaseAlphabet, number: int) -> ReleaseAlphabet:
    """Choose `number` symbols to release: greedily the one that lowers the distortion most."""
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
    """Sum the variance of the distortion `far` over records, `sizes` of them with each symbol."""
    mean = np.einsum("ij,ij->i", channel, far)
    return float(sizes @ np.maximum(np.einsum("ij,ij->i", channel, far**2) - mean**2, 0.0))


def distances(columns: Sequence[ReleasedColumn], symbols: Ints, released: Ints) -> Floats:
    """The distance of each symbol from each released symbol, a mean over the columns."""
    far = (c.distances[np.ix_(symbols[:, j], released[:, j])] for j, c in enumerate(columns))
    return np.asarray(sum(far)) / len(columns)
