"""Linkage of a release to its original: how many released records are found by their distance.

Numbers are the decimals they are printed as, distances fractions of whole numbers, and only equal
distances tie. Where these whole numbers fit a double, doubles compute them without rounding. Where
they do not, doubles choose the candidates, by a bound on their error, and Python's integers decide.

Identical records are searched once. Originals stand in a tree whose nodes know the least and the
largest number and the codes below them: what cannot be nearest is left out unseen.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, partial
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from sievert.errors import ExhaustedError, InputError, UsageError, plural, unknown

Ints = NDArray[Any]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Columns = Sequence[NDArray[Any]]
Distance = Literal["gower", "l1", "l2"]
Matching = Literal["nearest", "one-to-one"]
Scale = Literal["sd", "none"]

MOST_ASSIGNED = 5000  # records of a block that are assigned one to one
CLOSE = 1e-9  # of the largest distance: what counts as equal in an assignment of rounded distances
WORK = 10**8  # pairs from which compiled code is worth its loading
DIGITS = 10**100  # of a step divided by a standard deviation, which has a root
WHOLE = 2**53  # up to which a double is exact
LONG = 2**62
LEAF, WIDE_LEAF = 8, 64  # originals of a leaf of the tree: compiled, in NumPy
CHUNK = 4096  # released records that NumPy searches at a time
SHORT = 10**15  # decimals below are doubles, one to one
PRINTED = Context(prec=20)  # digits; a double is printed with 17


@dataclass(frozen=True, eq=False)
class Linkage:
    """How many released records are linked to their origin, and for each record whether it is.

    `nearest[i]` is the number of originals that released record i is linked to, `found[i]` whether
    its origin is among them, `credit[i]` the chance that a choice among them hits it.
    """

    distance: Distance
    linkage: Matching
    scale: Scale | None
    columns: int
    originals: int
    with_origin: int
    baseline: float
    level: float
    nearest: Ints
    found: Bools
    credit: Floats
    ties: int

    @property
    def records(self) -> int:
        """How many released records there are."""
        return len(self.credit)

    @property
    def correct_linkage(self) -> float:
        """The share of released records that are linked to their origin; a tie of t counts 1/t."""
        return min(1.0, math.fsum(self.credit.tolist()) / self.records)

    @property
    def spruill_confidentiality(self) -> float:
        """1 - correct_linkage."""
        return 1.0 - self.correct_linkage

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of the share."""
        return wilson(self.correct_linkage * self.records, self.records, self.level)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON: shares and counts, nothing of a record."""
        return {
            "distance": self.distance,
            "linkage": self.linkage,
            "scale": self.scale,
            "columns": self.columns,
            "records": self.records,
            "originals": self.originals,
            "with_origin": self.with_origin,
            "correct_linkage": self.correct_linkage,
            "spruill_confidentiality": self.spruill_confidentiality,
            "baseline": self.baseline,
            "interval": list(self.interval),
            "level": self.level,
            "ties": self.ties,
        }


def link(
    released: Columns,
    original: Columns,
    origin: Ints,
    *,
    distance: Distance = "gower",
    linkage: Matching = "nearest",
    scale: Scale = "sd",
    block: tuple[Columns, Columns] | None = None,
    level: float = 0.95,
    compiled: bool | None = None,
    threads: int | None = None,
) -> Linkage:
    """Link every released record to its nearest originals, and count the true ones.

    Parameters
    ----------
    released, original
        The columns of both files, in the same order: floats are numbers (NaN is missing), integers
        codes of categories (0 is missing), the same code for the same value in both.
    origin
        For each released record the row of its original, from 0; -1 if it has none.
    distance
        "gower": the mean over columns of |x - y|/range for numbers, of 0 or 1 for categories.
        "l1", "l2": the sum over columns of numbers of |x - y|^p.
    linkage
        "nearest": to the nearest originals; "one-to-one": the assignment of least total distance.
    scale
        For l1 and l2: divide by the standard deviation of the original ("sd"), or not ("none").
    block
        Columns of codes of both files: records are compared only where all of these are equal.
    level
        Of the interval.
    compiled
        Whether to use compiled code, if numba is there; by default where it pays. The numbers are
        the same.
    threads
        For compiled code; by default one a core.

    >>> ages = np.array([21.0, 34.0, 34.0]), np.array([20.0, 33.0, 36.0])
    >>> found = link([ages[0]], [ages[1]], np.arange(3))
    >>> found.correct_linkage, found.baseline
    (0.6666666666666666, 0.3333333333333333)
    """
    _known("linkage", linkage, Matching)
    if not 0.0 < level < 1.0:
        raise UsageError("the level of an interval is between 0 and 1")
    space, mine, theirs = _space(released, original, distance, scale)
    origin = np.asarray(origin)
    n, m = len(mine.block), len(theirs.block)
    if origin.shape != (n,) or origin.dtype.kind not in "iu":
        raise UsageError("the origins are one row number for each released record")
    if n and (origin.min() < -1 or origin.max() >= m):
        raise UsageError(f"an origin is not a row of the {plural(m, 'original record')}")
    if not n or not m:
        raise InputError(f"the {'original' if n else 'release'} has no record")
    origin = origin.astype(np.int64)
    mine, theirs = _blocked(mine, theirs, block)
    sizes = np.bincount(theirs.block, minlength=int(mine.block.max()) + 1)[mine.block]
    # An origin in another block, or none, cannot be hit, not even by chance.
    hittable = (origin >= 0) & (theirs.block[origin] == mine.block)
    home = np.where(hittable, origin, -1)
    if linkage == "nearest":
        if compiled is None:
            compiled = int(sizes.sum()) >= WORK
        tools = (_fast() if compiled else None) or PLAIN
        nearest, found = _nearest(space, mine, theirs, home, tools, threads or _cores())
        among = nearest
    else:
        nearest, found, among = _one_to_one(space, mine, theirs, home)
    return Linkage(
        distance,
        linkage,
        None if distance == "gower" else scale,
        space.columns,
        m,
        int(np.count_nonzero(origin >= 0)),
        math.fsum((hittable / np.maximum(sizes, 1)).tolist()) / n,
        level,
        nearest,
        found,
        found / np.maximum(among, 1),
        int(np.count_nonzero(among > 1)),
    )


def distances(
    released: Columns, original: Columns, *, distance: Distance = "gower", scale: Scale = "sd"
) -> Floats:
    """The distance of every released record, a row each, to every original.

    >>> distances([np.array([20.0, 30.0]), np.array([1, 2])], [np.array([40.0]), np.array([1])])
    array([[0.5 ],
           [0.75]])
    """
    space, mine, theirs = _space(released, original, distance, scale)
    return _table(space, mine, theirs) * float(space.unit)


def wilson(successes: float, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share.

    >>> [round(end, 6) for end in wilson(23, 100)]
    [0.158433, 0.321544]
    """
    z = NormalDist().inv_cdf((1.0 + level) / 2.0)
    share = successes / trials
    middle = share + z * z / (2 * trials)
    half = z * math.sqrt(max(0.0, share * (1.0 - share)) / trials + (z / (2 * trials)) ** 2)
    whole = 1.0 + z * z / trials
    low = (middle - half) / whole if successes > 0 else 0.0
    return max(0.0, low), (middle + half) / whole if successes < trials else 1.0


# -- records on one scale -------------------------------------------------------------------------


class _File(NamedTuple):
    """The records of one file: a row each, a column for each number, each category."""

    numbers: Floats  # NaN is missing
    places: Ints  # of numbers among the different ones of the column; -1 is missing
    codes: Ints
    block: Ints

    def take(self, rows: Any) -> _File:
        return _File(*(part[rows] for part in self))


@dataclass(frozen=True)
class _Space:
    """The distance: a sum over columns of a weight times |x - y|^power, a lack, or a mismatch.

    A lack is where one of two numbers is missing, a mismatch where categories differ. `exact` has
    the different numbers of each column, by place; `weights`, `lacks` and `cost` are integers.
    Doubles have the same in `w`, `lack` and `mismatch`, and err in a distance by less than half of
    `slack`. Times `unit`, it is the distance of the definition.
    """

    power: int
    columns: int
    exact: list[Ints]
    weights: list[int]
    lacks: list[int]
    cost: int
    tolerance: int  # of two sums of integers, where weights are not exact
    w: Floats
    lack: Floats
    mismatch: float
    slack: float
    unit: Fraction
    most: int  # a bound of all distances, in integers


def _space(
    released: Columns, original: Columns, distance: Distance, scale: Scale
) -> tuple[_Space, _File, _File]:
    """Both files in the numbers that are compared."""
    _known("distance", distance, Distance)
    _known("scale", scale, Scale)
    pairs = _checked(released, original)
    numeric = [pair for pair in pairs if pair[0].dtype.kind == "f"]
    codes = [pair for pair in pairs if pair[0].dtype.kind != "f" and distance == "gower"]
    if not numeric and not codes:
        raise UsageError(
            f"the distance {distance} compares numbers, and there are none", hint="distance gower"
        )
    gower = distance == "gower"
    columns = [column for pair in numeric if len((column := _Column.of(*pair)).exact)]
    digits = None
    if distance == "l1" and scale == "sd":
        digits = DIGITS * max((c.most for c in columns), default=0) ** 2 or 1
    weighed = [(c, c.weight(distance, scale, digits)) for c in columns]
    weighed = [(c, weight) for c, weight in weighed if gower or weight * c.most]
    columns = [c for c, _ in weighed]
    coded = [_merged(one, other) for one, other in codes]
    rows = len(pairs[0][0]), len(pairs[0][1])
    files = [
        _File(
            _side_by_side([c.numbers[side] for c in columns], rows[side], np.float64),
            _side_by_side([c.places[side] for c in columns], rows[side], np.int64),
            _side_by_side([c[side] for c in coded], rows[side], np.int32),
            np.zeros(rows[side], dtype=np.int64),
        )
        for side in (0, 1)
    ]
    power, used = 2 if distance == "l2" else 1, len(numeric) + len(coded)
    space = _scaled(weighed, len(coded), power, digits, used, gower=gower)
    return space, files[0], files[1]


def _known(what: str, value: str, names: Any) -> None:
    if value not in get_args(names):
        raise unknown(what, value, get_args(names))


def _scaled(
    weighed: list[tuple[_Column, Fraction]], coded: int, power: int, digits: int | None, used: int,
    *, gower: bool,
) -> _Space:  # fmt: skip
    """The weights as integers and as doubles."""
    common = digits or math.lcm(*(weight.denominator for _, weight in weighed))
    weights = [int(weight * common) for _, weight in weighed]
    columns = [(w, c) for w, (c, _) in zip(weights, weighed, strict=True)]
    lacks = [common if gower else w * c.most**power for w, c in columns]
    most = sum(lacks) + coded * common
    fits = digits is None and most <= WHOLE
    unit = 1 if fits else max(1, most)
    return _Space(
        power,
        used,
        [c.exact for _, c in columns],
        weights,
        lacks,
        common,
        # A rounded weight is off by less than one, a term by less than its number of steps.
        0 if digits is None else sum(c.most for _, c in columns),
        np.array([float(Fraction(w * c.unit**power, unit)) for w, c in columns]),
        np.array([float(Fraction(lack, unit)) for lack in lacks]),
        float(Fraction(common, unit)) if coded else 0.0,
        # All distances are at most 1: a term is off by 9 roundings, a sum by one a term.
        0.0 if fits else 4 * (9 + len(columns) + coded) * 2.0**-53,
        Fraction(unit, common * used if gower else common),
        most,
    )


def _checked(released: Columns, original: Columns) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Pairs of columns that can be compared."""
    if len(released) != len(original) or not released:
        raise UsageError(
            "a release and its original are compared by the same columns",
            hint=f"as many columns of each; there are {len(released)} and {len(original)}",
        )
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(released, original, strict=True)]
    for number, pair in enumerate(pairs, 1):
        kinds = {side.dtype.kind.replace("u", "i") for side in pair}
        if kinds not in ({"f"}, {"i"}):
            raise UsageError(
                f"column {number} is neither floats nor integers in both files",
                hint="floats for numbers, integer codes for categories",
            )
        for side, first in zip(pair, pairs[0], strict=True):
            if side.shape != (len(first),):
                raise UsageError(f"column {number} is not as long as the first")
        if "f" in kinds and any(np.isinf(side).any() for side in pair):
            raise InputError(f"column {number} has an infinite number, which is infinitely far")
    kind = {"f": np.float64, "i": np.int64, "u": np.int64}
    return [(a.astype(kind[a.dtype.kind]), b.astype(kind[b.dtype.kind])) for a, b in pairs]


class _Column(NamedTuple):
    """A column of numbers: whole multiples of a step above the least, in both files.

    Doubles have them in steps, or where they are too long, as shares of the range.
    """

    exact: Ints  # the different numbers, upwards: int64, or Python's integers where these are long
    places: tuple[Ints, Ints]
    numbers: tuple[Floats, Floats]
    step: Fraction

    @property
    def most(self) -> int:
        """The range, in steps."""
        return int(self.exact[-1]) if len(self.exact) else 0

    @property
    def unit(self) -> int:
        """What a double of 1 stands for, in steps."""
        return self.most if self.exact.dtype == object else 1

    @classmethod
    def of(cls, released: Floats, original: Floats) -> _Column:
        both = np.concatenate((released, original))
        there = ~np.isnan(both)
        values, place = np.unique(both[there], return_inverse=True)
        exact, decimals = _decimals(values)
        exact = exact - exact[:1]
        step = math.gcd(*exact.tolist()) or 1
        exact = exact // step
        most = exact[-1] if len(exact) else 0
        if most < LONG:
            exact = exact.astype(np.int64)
            doubles = exact.astype(np.float64)
        else:
            doubles = np.array([value / most for value in exact.tolist()])
        places, numbers = np.full(len(both), -1), np.full(len(both), np.nan)
        places[there], numbers[there] = place, doubles[place]
        cut = len(released)
        return cls(
            exact,
            (places[:cut], places[cut:]),
            (numbers[:cut], numbers[cut:]),
            Fraction(step, 10**decimals),
        )

    def weight(self, distance: Distance, scale: Scale, digits: int | None) -> Fraction:
        """What a step counts, as a fraction, or of so many digits.

        It counts nothing where the original does not vary, so that nothing can be scaled by it.
        """
        if distance == "gower":
            return Fraction(1, self.most) if self.most else Fraction(0)
        if scale == "none":
            return self.step if distance == "l1" else self.step**2
        variance = self._variance()
        if not variance:
            return Fraction(0)
        if digits is None:
            return 1 / variance
        return Fraction(math.isqrt(digits**2 * variance.denominator // variance.numerator), digits)

    def _variance(self) -> Fraction:
        """Of the original, in steps squared, with n - 1."""
        places = self.places[1]
        times = np.bincount(places[places >= 0], minlength=len(self.exact)).tolist()
        n = sum(times)
        pairs = list(zip(self.exact.tolist(), times, strict=True))
        once, twice = sum(x * t for x, t in pairs), sum(x * x * t for x, t in pairs)
        return Fraction(n * twice - once * once, n * (n - 1)) if n > 1 else Fraction(0)


def _decimals(values: Floats) -> tuple[Ints, int]:
    """Different numbers as printed, in integers, and how many decimals these have."""
    for decimals in range(16):
        whole = np.rint(values * 10.0**decimals)
        if len(whole) and np.abs(whole).max() > SHORT:
            break
        if np.array_equal(whole / 10.0**decimals, values):
            return whole.astype(np.int64), decimals
    texts = [Decimal(repr(value)) for value in values.tolist()]
    decimals = max(0, *(-int(text.as_tuple().exponent) for text in texts))
    exact = [int(text.scaleb(decimals, PRINTED)) for text in texts]
    short = max(map(abs, exact)) < LONG // 2
    return np.array(exact, dtype=np.int64 if short else object), decimals


def _merged(released: Ints, original: Ints) -> tuple[Ints, Ints]:
    """Codes of both files from 2 up; those that only one has are alike, 0 or 1: none matches."""
    shared = np.intersect1d(released, original)
    found = []
    for side, codes in enumerate((released, original)):
        place = np.searchsorted(shared, codes)
        known = shared[np.minimum(place, len(shared) - 1)] == codes if len(shared) else False
        found.append(np.where(known, place + 2, side).astype(np.int32))
    return found[0], found[1]


def _side_by_side(columns: list[NDArray[Any]], rows: int, kind: Any) -> NDArray[Any]:
    return np.column_stack(columns).astype(kind) if columns else np.zeros((rows, 0), dtype=kind)


def _blocked(
    mine: _File, theirs: _File, block: tuple[Columns, Columns] | None
) -> tuple[_File, _File]:
    """Both files with the number of each record's block."""
    if block is None:
        return mine, theirs
    pairs = _checked(*block)
    if any(side.dtype.kind == "f" or len(side) != len(file.block)
           for pair in pairs for side, file in zip(pair, (mine, theirs), strict=True)):  # fmt: skip
        raise UsageError("block columns are integer codes, one for each record")
    together = [np.unique(np.concatenate(pair), return_inverse=True)[1] for pair in pairs]
    blocks = _distinct(together)[1]
    cut = len(mine.block)
    return mine._replace(block=blocks[:cut]), theirs._replace(block=blocks[cut:])


def _distinct(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """The first row of each combination of codes >= 0, and the combination of each row."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    room = 1
    for codes in columns:
        size = int(codes.max(initial=0)) + 1
        if room * size >= LONG:
            key = np.unique(key, return_inverse=True)[1]
            room = int(key.max(initial=0)) + 1
        key = key * size + codes
        room *= size
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    return first, group


def _groups(file: _File) -> tuple[Ints, Ints]:
    """The same for the records of a file."""
    return _distinct([file.block, *(file.places.T + 1), *file.codes.T])


# -- distances ------------------------------------------------------------------------------------


def _table(space: _Space, a: _File, b: _File) -> Floats:
    """Distances in doubles of every record of a, a row each, to every record of b."""
    return _total(space, a.take(np.s_[:, None]), b)


def _total(space: _Space, a: _File, b: _File) -> Floats:
    """Distances in doubles of records to those in the same place."""
    found = np.zeros(np.broadcast_shapes(a.block.shape, b.block.shape))
    for j in range(a.numbers.shape[-1]):
        found += _term(space, j, a.numbers[..., j], b.numbers[..., j])
    for j in range(a.codes.shape[-1]):
        found += space.mismatch * (a.codes[..., j] != b.codes[..., j])
    return found


def _term(space: _Space, j: int, x: Floats, y: Floats) -> Floats:
    """What a column of numbers adds to distances."""
    gap = np.abs(x - y)
    term: Floats = space.w[j] * (gap * gap) if space.power == 2 else space.w[j] * gap
    missing = np.isnan(term)
    if missing.any():
        term = np.where(missing, np.where(np.isnan(x) & np.isnan(y), 0.0, space.lack[j]), term)
    return term


def _exactly(space: _Space, a: _File, b: _File) -> Ints:
    """Distances of records to those in the same place as integers, whatever their size."""
    kind: Any = np.int64 if space.most < LONG and not space.tolerance else object
    found: Ints = np.count_nonzero(a.codes != b.codes, axis=1).astype(kind) * space.cost
    for j, exact in enumerate(space.exact):
        x, y = a.places[:, j], b.places[:, j]
        gap = np.abs(exact[x] - exact[y]).astype(kind)
        gap[(x < 0) | (y < 0)] = 0
        found += space.weights[j] * (gap * gap if space.power == 2 else gap)
        found += np.array([0, space.lacks[j]], dtype=kind)[((x < 0) != (y < 0)).astype(np.int64)]
    return found


# -- the tree -------------------------------------------------------------------------------------


class _Tree(NamedTuple):
    """Originals in the order of the leaves, and for each node what is below it."""

    file: _File
    times: Ints  # how often each occurs
    rows: Ints  # where each was before
    roots: Ints  # the node of each block, or -1
    levels: int
    first: Ints
    last: Ints
    left: Ints  # the right child is the next; -1 for a leaf
    low: Floats  # NaN where all are missing
    high: Floats
    gaps: Bools  # some are missing
    masks: Ints  # a bit for each code, by its last six bits
    only: Ints  # the code, if there is only one, or -1
    held: Ints  # how many originals, all told


def _grown(space: _Space, file: _File, times: Ints, blocks: int, leaf: int) -> _Tree:
    """Split the originals of a block where they differ most, and so on until few are together."""
    rows = np.argsort(file.block, kind="stable")
    present, first = np.unique(file.block[rows], return_index=True)
    last = np.append(first[1:], len(rows))
    roots = np.full(blocks, -1)
    roots[present] = np.arange(len(present))
    ranks = np.column_stack((file.places, file.codes))
    levels: list[tuple[Ints, Ints, Ints]] = []
    made = 0
    while len(first):
        made += len(first)
        large = np.flatnonzero(last - first > leaf)
        cut = _split(space, file, ranks, rows, first[large], last[large])
        large, cut = large[cut > 0], cut[cut > 0]
        left = np.full(len(first), -1)
        left[large] = made + 2 * np.arange(len(large))
        levels.append((first, last, left))
        first, last = (
            np.column_stack((first[large], cut)).ravel(),
            np.column_stack((cut, last[large])).ravel(),
        )
    return _boxed(file.take(rows), times[rows], rows, roots, levels)


def _split(space: _Space, file: _File, ranks: Ints, rows: Ints, first: Ints, last: Ints) -> Ints:
    """Sort runs of rows, each by one column; where to cut them, or 0 if nothing differs."""
    if not len(first):
        return first
    sizes = last - first
    starts = np.cumsum(sizes) - sizes
    own = np.arange(len(first))
    run = np.repeat(own, sizes)
    inside = np.arange(len(run)) - starts[run]
    some = rows[first[run] + inside]
    others = rows[first[run] + (inside + sizes[run] // 2) % sizes[run]]
    spread = [
        *(_term(space, j, x[some], x[others]) for j, x in enumerate(file.numbers.T)),
        *(space.mismatch * (x[some] != x[others]) for x in file.codes.T),
    ]
    chosen = np.argmax([np.add.reduceat(s, starts) / sizes for s in spread], axis=0)
    key = ranks[some, chosen[run]]
    by = np.lexsort((key, run))
    rows[first[run] + inside] = some[by]
    key = key[by]
    edges = np.flatnonzero((key[1:] != key[:-1]) & (run[1:] == run[:-1])) + 1
    if not len(edges):
        return np.zeros_like(first)
    middle = starts + sizes // 2
    after = np.minimum(np.searchsorted(edges, middle), len(edges) - 1)
    cuts = edges[np.stack((np.maximum(after - 1, 0), after))]
    off = np.where(run[cuts] == own, np.abs(cuts - middle), len(run))
    nearer = off.argmin(axis=0)
    return np.where(off[nearer, own] < len(run), cuts[nearer, own] - starts + first, 0)


def _boxed(
    file: _File, times: Ints, rows: Ints, roots: Ints, levels: list[tuple[Ints, Ints, Ints]]
) -> _Tree:
    """What is below each node: of leaves from their originals, of others from their children."""
    first, last, left = (np.concatenate(part) for part in zip(*levels, strict=True))
    leaves = np.flatnonzero(left < 0)
    leaves = leaves[np.argsort(first[leaves])]
    starts = first[leaves]
    bits = np.uint64(1) << (file.codes & 63).astype(np.uint64)
    parts: list[tuple[np.ufunc, NDArray[Any]]] = [
        (np.fmin, file.numbers),
        (np.fmax, file.numbers),
        (np.logical_or, np.isnan(file.numbers)),
        (np.bitwise_or, bits),
        (np.minimum, file.codes),
        (np.maximum, file.codes),
    ]
    boxes = []
    for combine, values in parts:
        box = np.zeros((len(left), values.shape[1]), dtype=values.dtype)
        box[leaves] = combine.reduceat(values, starts, axis=0)
        end = len(left)
        for level in reversed(levels):
            nodes = np.arange(end - len(level[0]), end)
            nodes = nodes[left[nodes] >= 0]
            box[nodes] = combine(box[left[nodes]], box[left[nodes] + 1])
            end -= len(level[0])
        boxes.append(box)
    low, high, gaps, masks, least, most = boxes
    until = np.concatenate(([0], np.cumsum(times)))
    return _Tree(
        file, times, rows, roots, len(levels), first, last, left, low, high, gaps, masks,
        np.where(least == most, least, -1), until[last] - until[first],
    )  # fmt: skip


# -- the nearest ----------------------------------------------------------------------------------


class _Near(NamedTuple):
    """For each record searched: the least distance, how many originals have it, one of them, and
    whether doubles are enough to say so."""

    best: Floats
    total: Ints
    where: Ints
    sure: Bools


def _nearest(
    space: _Space, mine: _File, theirs: _File, origin: Ints, tools: _Tools, threads: int
) -> tuple[Ints, Bools]:
    """For each released record the number of nearest originals, and if its origin is among them."""
    firsts, group = _groups(mine)
    kinds, kind = _groups(theirs)
    blocks = int(max(mine.block.max(), theirs.block.max())) + 1
    tree = _grown(space, theirs.take(kinds), np.bincount(kind), blocks, tools.leaf)
    asked = mine.take(firsts)
    near = tools.search(space, tree, asked, threads)
    place = np.empty_like(tree.rows)
    place[tree.rows] = np.arange(len(place))
    home = np.where(origin >= 0, place[kind[origin]], -1)
    if not space.slack:
        known = np.flatnonzero(home >= 0)
        found = np.zeros(len(home), dtype=bool)
        own = _total(space, mine.take(known), tree.file.take(home[known]))
        found[known] = own == near.best[group[known]]
        return near.total[group], found
    found = (home >= 0) & near.sure[group] & (near.where[group] == home)
    total = np.where(near.sure, near.total, 0)
    pair = np.where(home >= 0, group * len(place) + home, -1)
    for some, rows in _resolved(space, tree, asked, np.flatnonzero(~near.sure), near.best):
        np.add.at(total, some, tree.times[rows])
        found |= np.isin(pair, some * len(place) + rows)
    return total[group], found


def _resolved(
    space: _Space, tree: _Tree, asked: _File, unsure: Ints, best: Floats
) -> Iterator[tuple[Ints, Ints]]:
    """Records and their nearest originals, where integers have to decide which these are."""
    for start in range(0, len(unsure), CHUNK):
        pairs = list(_pairs(space, tree, asked, unsure[start : start + CHUNK], best))
        some, rows = (np.concatenate(part) for part in zip(*pairs, strict=True))
        by = np.argsort(some, kind="stable")
        some, rows = some[by], rows[by]
        far = _exactly(space, asked.take(some), tree.file.take(rows))
        starts = np.flatnonzero(np.append(True, some[1:] != some[:-1]))
        least = np.minimum.reduceat(far, starts)
        lengths = np.diff(np.append(starts, len(some)))
        nearest = (far <= np.repeat(least, lengths) + space.tolerance).astype(bool)
        yield some[nearest], rows[nearest]


def _pairs(
    space: _Space, tree: _Tree, asked: _File, some: Ints, best: Floats
) -> Iterator[tuple[Ints, Ints]]:
    """Records and originals that are nearest as far as doubles can tell."""
    for active, first, last in _walk(space, tree, asked, some, best, greedy=False):
        far = _table(space, asked.take(active), tree.file.take(np.s_[first:last]))
        one, other = np.nonzero(far <= best[active, None] + space.slack)
        yield active[one], first + other


def _walk(
    space: _Space, tree: _Tree, asked: _File, some: Ints, best: Floats, *, greedy: bool
) -> Iterator[tuple[Ints, int, int]]:
    """Leaves with the records that may have their nearest there; greedy: one leaf a record."""
    some = some[np.argsort(asked.block[some], kind="stable")]
    blocks, starts = np.unique(asked.block[some], return_index=True)
    stack = list(zip(tree.roots[blocks].tolist(), np.split(some, starts[1:]), strict=True))
    while stack:
        node, active = stack.pop()
        if node < 0 or not len(active):
            continue
        left = int(tree.left[node])
        if left < 0:
            yield active, int(tree.first[node]), int(tree.last[node])
            continue
        here = asked.take(active)
        near, far = _bound(space, tree, left, here), _bound(space, tree, left + 1, here)
        if greedy:
            one = near <= far
            stack += [(left, active[one]), (left + 1, active[~one])]
        else:
            limit = best[active] + space.slack
            stack += [(left, active[near <= limit]), (left + 1, active[far <= limit])]


def _bound(space: _Space, tree: _Tree, node: int, asked: _File) -> Floats:
    """No original of the node is nearer than this."""
    found = np.zeros(len(asked.block))
    for j, x in enumerate(asked.numbers.T):
        missing = np.isnan(x)
        if np.isnan(tree.low[node, j]):
            found += np.where(missing, 0.0, space.lack[j])
            continue
        gap = np.maximum(0.0, np.maximum(tree.low[node, j] - x, x - tree.high[node, j]))
        term = space.w[j] * (gap * gap if space.power == 2 else gap)
        found += np.where(missing, 0.0 if tree.gaps[node, j] else space.lack[j], term)
    bits = np.uint64(1) << (asked.codes & 63).astype(np.uint64)
    found += space.mismatch * np.count_nonzero((tree.masks[node] & bits) == 0, axis=1)
    return found


def _search_plain(space: _Space, tree: _Tree, asked: _File, threads: int) -> _Near:
    """The nearest of every record, many records at a time."""
    size = len(asked.block)
    best = np.full(size, np.inf)
    total, kinds = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    where = np.full(size, -1)
    for start in range(0, size, CHUNK):
        some = np.arange(start, min(size, start + CHUNK))
        for greedy in (True, False):
            for active, first, last in _walk(space, tree, asked, some, best, greedy=greedy):
                far = _table(space, asked.take(active), tree.file.take(np.s_[first:last]))
                best[active] = np.minimum(best[active], far.min(axis=1))
        for one, rows in _pairs(space, tree, asked, some, best):
            np.add.at(total, one, tree.times[rows])
            np.add.at(kinds, one, 1)
            where[one] = rows
    return _Near(best, total, where, kinds < 2)


def _search_compiled(
    search: Callable[..., None], space: _Space, tree: _Tree, asked: _File, threads: int
) -> _Near:
    """The same, record by record."""
    size = len(asked.block)
    found = _Near(
        np.full(size, np.inf), np.zeros(size, np.int64), np.full(size, -1), np.ones(size, bool)
    )

    def work(part: slice) -> None:
        search(
            tree.file.numbers, tree.file.codes, tree.times, tree.levels, tree.first, tree.last,
            tree.left, tree.low, tree.high, tree.gaps, tree.masks, tree.only, tree.held,
            space.w, space.lack, space.mismatch, space.power, space.slack,
            asked.numbers[part], asked.codes[part], tree.roots[asked.block[part]],
            *(result[part] for result in found),
        )  # fmt: skip

    step = max(1, -(-size // (8 * threads)))
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, [slice(at, at + step) for at in range(0, size, step)]))
    return found


def _search(
    numbers: Floats, codes: Ints, times: Ints, levels: int, first: Ints, last: Ints, left: Ints,
    low: Floats, high: Floats, gaps: Bools, masks: Ints, only: Ints, held: Ints,
    w: Floats, lack: Floats, mismatch: float, power: int, slack: float,
    xs: Floats, ks: Ints, roots: Ints, best: Floats, total: Ints, where: Ints, sure: Bools,
) -> None:  # fmt: skip
    """Depth first, the nearer child first; compiled."""
    stack = np.empty(levels + 2, dtype=np.int64)
    bounds = np.empty(levels + 2)
    flat = np.empty(levels + 2, dtype=np.bool_)  # all originals of the node are equally far
    for i in range(len(xs)):
        if roots[i] < 0:
            continue
        stack[0], bounds[0], flat[0], top = roots[i], 0.0, False, 1
        near, second, several, many, at = np.inf, np.inf, 0, 0, -1
        while top > 0:
            top -= 1
            node, limit = stack[top], near + slack
            if bounds[top] > limit:
                continue
            if flat[top] and slack == 0.0:
                if bounds[top] < near:
                    near, many = bounds[top], 0
                many += held[node]
                continue
            if left[node] < 0:
                for r in range(first[node], last[node]):
                    far = 0.0
                    for j in range(codes.shape[1]):
                        if codes[r, j] != ks[i, j]:
                            far += mismatch
                    for j in range(numbers.shape[1]):
                        if far > limit:
                            break
                        gap = abs(numbers[r, j] - xs[i, j])
                        if gap == gap:
                            far += w[j] * (gap * gap) if power == 2 else w[j] * gap
                        elif numbers[r, j] == numbers[r, j] or xs[i, j] == xs[i, j]:
                            far += lack[j]
                    if far < near:
                        near, second, several, many, at = far, near, 1, times[r], r
                        limit = near + slack
                    elif far == near:
                        several += 1
                        many += times[r]
                    elif far < second:
                        second = far
                continue
            for child in range(left[node], left[node] + 2):
                bound, even = 0.0, True
                for j in range(codes.shape[1]):
                    if only[child, j] >= 0:
                        if only[child, j] != ks[i, j]:
                            bound += mismatch
                    elif (masks[child, j] >> np.uint64(ks[i, j] & 63)) & np.uint64(1):
                        even = False
                    else:
                        bound += mismatch
                for j in range(numbers.shape[1]):
                    if bound > limit:
                        break
                    x = xs[i, j]
                    if low[child, j] != low[child, j]:
                        if x == x:
                            bound += lack[j]
                    elif x != x:
                        if gaps[child, j]:
                            even = False
                        else:
                            bound += lack[j]
                    else:
                        gap = max(0.0, low[child, j] - x, x - high[child, j])
                        bound += w[j] * (gap * gap) if power == 2 else w[j] * gap
                        even &= low[child, j] == high[child, j] and not gaps[child, j]
                if bound <= limit:
                    stack[top], bounds[top], flat[top] = child, bound, even
                    top += 1
                    if top > 1 and stack[top - 2] == child - 1 and bounds[top - 2] < bound:
                        stack[top - 1], stack[top - 2] = child - 1, child  # the nearer one on top
                        bounds[top - 1], bounds[top - 2] = bounds[top - 2], bound
                        flat[top - 1], flat[top - 2] = flat[top - 2], even
        best[i], total[i], where[i] = near, many, at
        sure[i] = several < 2 and second > near + slack


class _Tools(NamedTuple):
    """Who searches, and how many originals a leaf is to have."""

    search: Callable[[_Space, _Tree, _File, int], _Near]
    leaf: int


PLAIN = _Tools(_search_plain, WIDE_LEAF)


@cache
def _fast() -> _Tools | None:
    """The compiled tools, or None without numba or a place to keep compiled code."""
    try:
        from sievert.counts.kernels import compiled

        return _Tools(partial(_search_compiled, compiled(_search)), LEAF)
    except (ImportError, OSError, RuntimeError, ValueError):
        return None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2


# -- one to one -----------------------------------------------------------------------------------


def _one_to_one(
    space: _Space, mine: _File, theirs: _File, origin: Ints
) -> tuple[Ints, Bools, Ints]:
    """For each released record the originals it has in some assignment of least total distance.

    The third array counts places that are left over as well.
    """
    blocks = int(max(mine.block.max(), theirs.block.max())) + 1
    parts = [_parted(file.block, blocks) for file in (mine, theirs)]
    size = max(max(len(a), len(b)) for a, b in zip(*parts, strict=True) if len(a))
    if size > MOST_ASSIGNED:
        raise ExhaustedError(
            f"one-to-one linkage is for at most {plural(MOST_ASSIGNED, 'record')} of a block, "
            f"and there are {size:,}",
            hint="linkage nearest, or block columns",
        )
    nearest, among = np.zeros(len(origin), dtype=np.int64), np.zeros(len(origin), dtype=np.int64)
    found = np.zeros(len(origin), dtype=bool)
    for rows, others in zip(*parts, strict=True):
        if not len(rows) or not len(others):
            continue
        size = max(len(rows), len(others))
        cost = np.zeros((size, size))
        cost[: len(rows), : len(others)] = _table(space, mine.take(rows), theirs.take(others))
        close = CLOSE * float(cost.max())
        if not space.slack and space.most * 2 * size < LONG:
            cost, close = cost.astype(np.int64), 0
        choice = _choices(cost, close)[: len(rows)]
        among[rows] = np.count_nonzero(choice, axis=1)
        choice = choice[:, : len(others)]
        nearest[rows] = np.count_nonzero(choice, axis=1)
        column = np.searchsorted(others, origin[rows])
        known = np.flatnonzero(origin[rows] >= 0)
        found[rows[known]] = choice[known, column[known]]
    return nearest, found, among


def _parted(block: Ints, blocks: int) -> list[Ints]:
    """The rows of each block, upwards."""
    ends = np.cumsum(np.bincount(block, minlength=blocks))
    return np.split(np.argsort(block, kind="stable"), ends[:-1])


def _choices(cost: NDArray[Any], close: float) -> Bools:
    """Whether a row has a column in some assignment of least cost.

    It has if its reduced cost is 0 and a cycle of such pairs, in turn chosen and not, leads back.
    """
    size = len(cost)
    above, beside = cost.min(axis=1), np.zeros(size, dtype=cost.dtype)
    column, row = np.full(size, -1), np.full(size, -1)
    _assign(cost, above, beside, column, row)
    tight: Bools = cost - above[:, None] - beside <= close
    steps = tight[:, column]  # from a row to those whose column it could have
    part = _components(steps)
    steps &= part[:, None] == part
    choice = np.zeros_like(tight)
    choice[:, column] = steps
    return choice


def _components(steps: Bools) -> Ints:
    """The strongly connected components of a dense graph (Kosaraju): a number for each node."""
    size = len(steps)
    fresh, order = np.ones(size, dtype=bool), []
    for start in range(size):
        path = [start] if fresh[start] else []
        fresh[start] = False
        while path:
            onward = steps[path[-1]] & fresh
            after = int(onward.argmax())
            if onward[after]:
                fresh[after] = False
                path.append(after)
            else:
                order.append(path.pop())
    back, part = np.ascontiguousarray(steps.T), np.full(size, -1)
    for start in reversed(order):
        path = [start] if part[start] < 0 else []
        part[path] = start
        while path:
            reached = np.flatnonzero(back[path.pop()] & (part < 0))
            part[reached] = start
            path += reached.tolist()
    return part


def _assign(cost: Any, above: Any, beside: Any, column: Ints, row: Ints) -> None:
    """The assignment of least cost by shortest paths (Jonker and Volgenant), and its prices.

    No cost is below the prices `above` of its row and `beside` its column; those of the chosen are
    equal to them.
    """
    size = len(cost)
    end: Any
    for i in range(size):
        free = np.flatnonzero((cost[i] == above[i]) & (row < 0))
        if len(free):
            column[i], row[free[0]] = free[0], i
    for start in range(size):
        if column[start] >= 0:
            continue
        far = cost[start] - above[start] - beside
        before = np.full(size, start)
        left = np.ones(size, dtype=np.bool_)
        end = -1
        while end < 0:
            least = far[left].min()
            here = np.flatnonzero(left & (far == least))
            for j in here:
                if row[j] < 0:
                    end = j
                    break
            if end >= 0:
                break
            for j in here:
                left[j] = False
                through = cost[row[j]] - above[row[j]] - beside + least
                shorter = left & (through < far)
                far = np.where(shorter, through, far)
                before = np.where(shorter, row[j], before)
        for j in np.flatnonzero(~left):
            above[row[j]] += least - far[j]
            beside[j] -= least - far[j]
        above[start] += least
        i = -1
        while i != start:
            i = before[end]
            row[end] = i
            column[i], end = end, column[i]
