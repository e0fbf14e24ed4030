"""Columns of both files on one scale, and distances in them, in doubles and in integers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Floats, Ints
from sievert.errors import InputError, require, unknown
from sievert.losses.loss import combination_codes

Columns = Sequence[NDArray[Any]]
Distance = Literal["gower", "l1", "l2"]
Scale = Literal["sd", "none"]

DIGITS = 10**100  # of a step divided by a standard deviation, which has a root
WHOLE = 2**53  # up to which a double is exact
LONG = 2**62
SHORT = 10**15  # decimals below are doubles, one to one
PRINTED = Context(prec=20)  # digits; a double is printed with 17


class File(NamedTuple):
    """The records of one file: a row each, a column for each number, each category."""

    numbers: Floats  # NaN is missing
    places: Ints  # of numbers among the different ones of the column; -1 is missing
    codes: Ints
    block: Ints

    def take(self, rows: Any) -> "File":
        """Only these records."""
        return File(*(part[rows] for part in self))

    def groups(self) -> tuple[Ints, Ints]:
        """The first of identical records, and of each record the number of those it is among."""
        return _distinct([self.block, *(self.places.T + 1), *self.codes.T])


@dataclass(frozen=True, kw_only=True)
class DistanceSpace:
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
    coded: int  # columns of categories
    most: int  # a bound of all distances, in integers

    @cached_property
    def whole(self) -> float:
        """The largest distance, in doubles."""
        return float(np.sum(self.lack) + self.coded * self.mismatch) or 1.0

    @property
    def caps(self) -> NDArray[Any]:
        """The largest term of each column as a share of the whole; an even number of columns."""
        odd = (len(self.lack) + self.coded) % 2
        terms = [*self.lack, *[self.mismatch] * self.coded, *[0.0] * odd]
        return (np.array(terms) / self.whole).astype(np.float32)

    @property
    def margin(self) -> float:
        """More than sums of `shares` err: a share by 2^-25, its gap by 2^-23, the square twice."""
        return (1 + len(self.caps)) * 2.0**-20

    def shares(self, file: File) -> NDArray[Any]:
        """Columns in single precision whose capped gaps (to the power) add up to shares.

        Numbers are from 0 to 1, a missing one is 2 away or more, and so are codes by 1.
        """
        shares: NDArray[Any] = np.zeros((len(file.block), len(self.caps)), dtype=np.float32)
        scale = self.w / self.whole
        numbers = file.numbers.shape[1]
        scaled = file.numbers * (np.sqrt(scale) if self.power == 2 else scale)
        shares[:, :numbers] = np.where(np.isnan(scaled), -2.0, scaled)
        shares[:, numbers : numbers + self.coded] = file.codes
        return shares

    def table(self, a: File, b: File) -> Floats:
        """Distances in doubles of every record of a, a row each, to every record of b."""
        return self.total(a.take(np.s_[:, None]), b)

    def total(self, a: File, b: File) -> Floats:
        """Distances in doubles of records to those in the same place."""
        distances = np.zeros(np.broadcast_shapes(a.block.shape, b.block.shape))
        for j in range(a.numbers.shape[-1]):
            distances += self.term(j, a.numbers[..., j], b.numbers[..., j])
        for j in range(a.codes.shape[-1]):
            distances += self.mismatch * (a.codes[..., j] != b.codes[..., j])
        return distances

    def term(self, j: int, x: Floats, y: Floats) -> Floats:
        """What a column of numbers adds to distances."""
        term: Floats = self.w[j] * self.raise_gap(np.abs(x - y))
        if np.isnan(term).any():
            lack = np.where(np.isnan(x) & np.isnan(y), 0.0, self.lack[j])
            term = np.where(np.isnan(term), lack, term)
        return term

    def raise_gap(self, gap: NDArray[Any]) -> NDArray[Any]:
        """|x - y|^power."""
        return gap * gap if self.power == 2 else gap

    def exactly(self, a: File, b: File) -> Ints:
        """Distances of records to those in the same place as integers, whatever their size."""
        kind: Any = np.int64 if self.most < LONG and not self.tolerance else object
        distances: Ints = np.count_nonzero(a.codes != b.codes, axis=1).astype(kind) * self.cost
        for j, exact in enumerate(self.exact):
            x = a.places[:, j]
            y = b.places[:, j]
            gap = np.abs(exact[x] - exact[y]).astype(kind)
            gap[(x < 0) | (y < 0)] = 0
            distances += self.weights[j] * self.raise_gap(gap)
            lacks = ((x < 0) != (y < 0)).astype(np.int64)
            distances += np.array([0, self.lacks[j]], dtype=kind)[lacks]
        return distances


def build_space(
    released: Columns, original: Columns, distance: Distance, scale: Scale
) -> tuple[DistanceSpace, File, File]:
    """Both files in the numbers that are compared."""
    check_name("distance", distance, Distance)
    check_name("scale", scale, Scale)
    gower = distance == "gower"
    pairs = _check_columns(released, original)
    numeric = [pair for pair in pairs if pair[0].dtype.kind == "f"]
    coded = [_merge_codes(*pair) for pair in pairs if pair[0].dtype.kind != "f" and gower]
    require(
        numeric or coded,
        f"the distance {distance} compares numbers, and there are none",
        hint="distance gower",
    )
    columns = [_NumericColumn.from_files(*pair) for pair in numeric]
    columns = [column for column in columns if len(column.exact)]
    finest = DIGITS * max((c.most for c in columns), default=0) ** 2 or 1
    digits = finest if distance == "l1" and scale == "sd" else None
    weighed = [(c, c.weight(distance, scale, digits)) for c in columns]
    weighed = [(c, weight) for c, weight in weighed if gower or weight * c.most]
    mine, theirs = (
        File(
            numbers=_side_by_side([c.numbers[side] for c, _ in weighed], rows, np.float64),
            places=_side_by_side([c.places[side] for c, _ in weighed], rows, np.int64),
            codes=_side_by_side([c[side] for c in coded], rows, np.int32),
            block=np.zeros(rows, dtype=np.int64),
        )
        for side, rows in enumerate(map(len, pairs[0]))
    )
    power = 2 if distance == "l2" else 1
    used = len(numeric) + len(coded)
    return _scale_weights(weighed, len(coded), power, digits, used, gower=gower), mine, theirs


def check_name(what: str, value: str, names: Any) -> None:
    """One of the names of a literal type, or a mistake."""
    if value not in get_args(names):
        raise unknown(what, value, get_args(names))


def _scale_weights(
    weighed: "list[tuple[_NumericColumn, Fraction]]",
    coded: int,
    power: int,
    digits: int | None,
    used: int,
    *,
    gower: bool,
) -> DistanceSpace:
    """The weights as integers and as doubles."""
    common = digits or math.lcm(*(weight.denominator for _, weight in weighed))
    columns = [(int(weight * common), c) for c, weight in weighed]
    lacks = [common if gower else w * c.most**power for w, c in columns]
    most = sum(lacks) + coded * common
    fits = digits is None and most <= WHOLE
    unit = 1 if fits else max(1, most)
    return DistanceSpace(
        power=power,
        columns=used,
        exact=[c.exact for _, c in columns],
        weights=[w for w, _ in columns],
        lacks=lacks,
        cost=common,
        # A rounded weight is off by less than one, a term by less than its number of steps.
        tolerance=0 if digits is None else sum(c.most for _, c in columns),
        w=np.array([float(Fraction(w * c.unit**power, unit)) for w, c in columns]),
        lack=np.array([float(Fraction(lack, unit)) for lack in lacks]),
        mismatch=float(Fraction(common, unit)) if coded else 0.0,
        # All distances are at most 1: a term is off by 9 roundings, a sum by one per term.
        slack=0.0 if fits else 4 * (9 + len(columns) + coded) * 2.0**-53,
        unit=Fraction(unit, common * used if gower else common),
        coded=coded,
        most=most,
    )


def _side_by_side(columns: list[NDArray[Any]], rows: int, kind: Any) -> NDArray[Any]:
    return np.column_stack(columns).astype(kind) if columns else np.zeros((rows, 0), dtype=kind)


def set_blocks(
    mine: File, theirs: File, block: tuple[Columns, Columns] | None
) -> tuple[File, File]:
    """Both files with the number of each record's block."""
    if block is None:
        return mine, theirs
    pairs = _check_columns(*block)
    require(
        all(
            side.dtype.kind != "f" and len(side) == len(file.block)
            for pair in pairs
            for side, file in zip(pair, (mine, theirs), strict=True)
        ),
        "block columns are integer codes, one for each record",
    )
    together = [np.unique(np.concatenate(pair), return_inverse=True)[1] for pair in pairs]
    blocks = _distinct(together)[1]
    cut = len(mine.block)
    return mine._replace(block=blocks[:cut]), theirs._replace(block=blocks[cut:])


def _distinct(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """The first row of each combination of codes, and the combination of each row."""
    group = combination_codes(columns)
    return np.unique(group, return_index=True)[1], group


# -- columns of both files ----------------------------------------------------------------------


def _check_columns(released: Columns, original: Columns) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Pairs of columns that can be compared."""
    require(
        len(released) == len(original) and released,
        "a release and its original are compared by the same columns",
        hint=f"as many columns of each; there are {len(released)} and {len(original)}",
    )
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(released, original, strict=True)]
    for number, pair in enumerate(pairs, 1):
        kinds = {side.dtype.kind.replace("u", "i") for side in pair}
        require(
            kinds in ({"f"}, {"i"}),
            f"column {number} is neither floats nor integers in both files",
            hint="floats for numbers, integer codes for categories",
        )
        require(
            [side.shape for side in pair] == [(len(first),) for first in pairs[0]],
            f"column {number} is not as long as the first",
        )
        require(
            "f" not in kinds or not any(np.isinf(side).any() for side in pair),
            f"column {number} has an infinite number, which is infinitely far",
            error=InputError,
        )
    kind = {"f": np.float64, "i": np.int64, "u": np.int64}
    return [(a.astype(kind[a.dtype.kind]), b.astype(kind[b.dtype.kind])) for a, b in pairs]


class _NumericColumn(NamedTuple):
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
    def from_files(cls, released: Floats, original: Floats) -> "_NumericColumn":
        both = np.concatenate((released, original))
        there = ~np.isnan(both)
        values, place = np.unique(both[there], return_inverse=True)
        exact, decimals = _decimals(values)
        exact = exact - exact[:1]
        step = math.gcd(*exact.tolist()) or 1
        exact = exact // step
        most = exact[-1] if len(exact) else 0
        exact = exact.astype(np.int64) if most < LONG else exact
        doubles = (exact if most < LONG else exact / most).astype(np.float64)
        places = np.full(len(both), -1)
        numbers = np.full(len(both), np.nan)
        places[there] = place
        numbers[there] = doubles[place]
        cut = len(released)
        return cls(
            exact=exact,
            places=(places[:cut], places[cut:]),
            numbers=(numbers[:cut], numbers[cut:]),
            step=Fraction(step, 10**decimals),
        )

    def weight(self, distance: Distance, scale: Scale, digits: int | None) -> Fraction:
        """The weight of a step, as a fraction or rounded to `digits` digits.

        It is 0 where the original does not vary, because nothing can be scaled by its spread.
        """
        if distance == "gower":
            return Fraction(1, self.most) if self.most else Fraction(0)
        if scale == "none":
            return self.step if distance == "l1" else self.step**2
        variance = self._variance()
        if not variance or digits is None:
            return 1 / variance if variance else Fraction(0)
        return Fraction(math.isqrt(digits**2 * variance.denominator // variance.numerator), digits)

    def _variance(self) -> Fraction:
        """Of the original, in steps squared, with n - 1."""
        places = self.places[1]
        times = np.bincount(places[places >= 0], minlength=len(self.exact)).tolist()
        n = sum(times)
        pairs = list(zip(self.exact.tolist(), times, strict=True))
        once = sum(x * t for x, t in pairs)
        twice = sum(x * x * t for x, t in pairs)
        return Fraction(n * twice - once * once, n * (n - 1)) if n > 1 else Fraction(0)


def _decimals(values: Floats) -> tuple[Ints, int]:
    """Different numbers as printed, in integers, and how many decimals these have."""
    for decimals in range(16):
        whole = np.rint(values * 10.0**decimals)
        if np.abs(whole).max(initial=0.0) > SHORT:
            break
        if np.array_equal(whole / 10.0**decimals, values):
            return whole.astype(np.int64), decimals
    texts = [Decimal(repr(value)) for value in values.tolist()]
    decimals = max(0, *(-int(text.as_tuple().exponent) for text in texts))
    exact = [int(text.scaleb(decimals, PRINTED)) for text in texts]
    short = max(map(abs, exact)) < LONG // 2
    return np.array(exact, dtype=np.int64 if short else object), decimals


def _merge_codes(released: Ints, original: Ints) -> tuple[Ints, Ints]:
    """Codes of both files from 2 up; a value of only one file is 0 or 1, which matches nothing."""
    shared = np.intersect1d(released, original)
    mine, theirs = (
        np.where(np.isin(codes, shared), np.searchsorted(shared, codes) + 2, side).astype(np.int32)
        for side, codes in enumerate((released, original))
    )
    return mine, theirs
