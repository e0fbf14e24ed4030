"""Tests of normality of numeric columns: one by one, all together, and in pairs.

Small p-values mean that columns are not Gaussian; with many records p-values are always small. The
size of the deviation is in the skewness, the excess kurtosis, and the error of the Gaussian formula
in bits.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.commands.limit.gaussian_model.canonical_pair import matrix, standard
from sievert.errors import InputError, require
from sievert.estimators.ksg import ksg
from sievert.formatting import plural, printable
from sievert.formatting.remarks import Figure, Remark
from sievert.losses.gaussian import DEPENDENT, scalar
from sievert.losses.numeric_columns import correlations
from sievert.measures.kernel import total
from sievert.numerics.special_functions import chi_square, two_sided
from sievert.renamed import SubscriptedRecord

LEAST = 20  # records from which on the approximations hold
LEVEL = 0.01
SKEWED = 0.5  # a skewness that matters
HEAVY = 1.0  # an excess kurtosis that matters
APART = 0.05  # an error of the Gaussian formula, in bits, that matters
MOST_PAIRS = 30
MOST_RECORDS = 5_000  # records of an estimate by nearest neighbours
BLOCK = 1 << 13


@dataclass(frozen=True, kw_only=True)
class ColumnShape:
    """The shape of one column; p-values of D'Agostino 1970 and of Anscombe and Glynn 1983."""

    name: str
    skewness: float  # third standardised moment; 0 for a Gaussian
    kurtosis: float  # fourth, less 3
    skewness_p: float
    kurtosis_p: float
    p_value: float  # of both together: D'Agostino and Pearson 1973

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ColumnShape":
        """Read the shape of a column back from the JSON."""
        return cls(
            name=data["name"],
            skewness=data["skewness"],
            kurtosis=data["kurtosis"],
            skewness_p=data["skewness_p"],
            kurtosis_p=data["kurtosis_p"],
            p_value=data["p_value"],
        )

    @property
    def near(self) -> bool:
        """Say whether the shape is nearly Gaussian."""
        return abs(self.skewness) < SKEWED and abs(self.kurtosis) < HEAVY


@dataclass(frozen=True)
class SharedInformation:
    """The mutual information of two columns in bits: by the Gaussian formula, and by neighbours."""

    columns: tuple[str, str]
    gaussian: float | None
    estimated: float | None
    reason: str | None = None  # why one of the two is missing

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SharedInformation":
        """Read the information of two columns back from the JSON."""
        first, second = data["columns"]
        return cls(
            columns=(first, second),
            gaussian=data["gaussian"],
            estimated=data["estimated"],
            reason=data["reason"],
        )

    @property
    def apart(self) -> float | None:
        """The estimate less the Gaussian formula; None if one of them is missing."""
        if self.estimated is None or self.gaussian is None:
            return None
        return self.estimated - self.gaussian


@dataclass(frozen=True, kw_only=True)
class Normality(SubscriptedRecord):
    """The tests of some columns; Mardia's moments are of all columns together (1970, 1974)."""

    records: int
    columns: tuple[ColumnShape, ...]
    constant: tuple[str, ...]  # columns of one value, which are left out
    skewness: float | None  # Mardia's b_1 and b_2; None if columns determine each other
    kurtosis: float | None
    kurtosis_expected: float | None  # of Gaussian columns
    skewness_p: float | None
    kurtosis_p: float | None
    pairs: tuple[SharedInformation, ...]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Normality":
        """Read the tests back from the JSON."""
        return cls(
            records=data["records"],
            columns=tuple(ColumnShape.from_dict(column) for column in data["columns"]),
            constant=tuple(data["constant"]),
            skewness=data["skewness"],
            kurtosis=data["kurtosis"],
            kurtosis_expected=data["kurtosis_expected"],
            skewness_p=data["skewness_p"],
            kurtosis_p=data["kurtosis_p"],
            pairs=tuple(SharedInformation.from_dict(pair) for pair in data["pairs"]),
        )

    @property
    def p_value(self) -> float:
        """The least of all p-values, times their number (Bonferroni)."""
        p_values = [p for c in self.columns for p in (c.skewness_p, c.kurtosis_p)]
        p_values += [p for p in (self.skewness_p, self.kurtosis_p) if p is not None]
        return min(1.0, min(p_values) * len(p_values)) if p_values else 1.0

    @property
    def rejected(self) -> bool:
        """Say whether the columns are significantly not Gaussian."""
        return self.p_value < LEVEL

    @property
    def apart(self) -> float | None:
        """The most bits by which an estimate and the Gaussian formula differ."""
        return max([abs(p.apart) for p in self.pairs if p.apart is not None], default=None)

    @property
    def near(self) -> bool:
        """Say whether the columns are nearly Gaussian, significantly different or not."""
        apart = 0.0 if self.apart is None else self.apart
        return all(c.near for c in self.columns) and apart < APART

    @property
    def sentences(self) -> tuple[Remark, ...]:
        """The result in words."""
        return tuple(_sentences(self))

    def to_dict(self) -> dict[str, Any]:
        """The values as JSON."""
        return asdict(self) | {
            "p_value": self.p_value,
            "rejected": self.rejected,
            "near": self.near,
            "apart": self.apart,
            "sentences": list(self.sentences),
            "constant": list(self.constant),
            "columns": [asdict(c) | {"near": c.near} for c in self.columns],
            "pairs": [
                asdict(p) | {"columns": list(p.columns), "apart": p.apart} for p in self.pairs
            ],
        }


def normality(
    columns: Any, *, names: Sequence[str] | None = None, first: int | None = None
) -> Normality:
    """Test the normality of columns: a mapping of names to numbers, or records as rows.

    Records without all numbers are left out. With `first`, only pairs of one of the `first` columns
    with one of the others are tested. At most 30 pairs and 5,000 records of each are tested.
    """
    if isinstance(columns, Mapping):
        names = [str(name) for name in columns]
        columns = np.stack([np.asarray(c, np.float64) for c in columns.values()], axis=1)
    records = matrix(columns)
    labels = [f"column {i + 1}" for i in range(records.shape[1])] if names is None else list(names)
    require(len(labels) == records.shape[1], "each column has one name")
    records = records[np.isfinite(records).all(axis=1)]
    require(len(records) >= LEAST, f"fewer than {LEAST} records have all numbers", error=InputError)
    _, spread, scores = standard(records)
    there = np.flatnonzero(spread > 0).tolist()
    shapes = tuple(_shape(labels[i], scores[:, i]) for i in there)
    both = itertools.combinations(there, 2)  # the first of a pair is before the second
    apart = (pair for pair in both if first is None or pair[0] < first <= pair[1])
    skewness, kurtosis, kurtosis_expected, skewness_p, kurtosis_p = _mardia(scores[:, there])
    return Normality(
        records=len(records),
        columns=shapes,
        constant=tuple(label for i, label in enumerate(labels) if i not in there),
        skewness=skewness,
        kurtosis=kurtosis,
        kurtosis_expected=kurtosis_expected,
        skewness_p=skewness_p,
        kurtosis_p=kurtosis_p,
        pairs=tuple(
            _shared_information(labels, scores, *pair)
            for pair in itertools.islice(apart, MOST_PAIRS)
        ),
    )


def _shape(name: str, scores: Floats) -> ColumnShape:
    n = len(scores)
    square = scores * scores
    skewness = total(square * scores) / n
    kurtosis = total(square * square) / n
    one = _skewness_score(skewness, n)
    two = _kurtosis_score(kurtosis, n)
    return ColumnShape(
        name=name,
        skewness=skewness,
        kurtosis=kurtosis - 3,
        skewness_p=two_sided(one),
        kurtosis_p=two_sided(two),
        p_value=math.exp(-0.5 * (one * one + two * two)),
    )


def _skewness_score(skewness: float, n: int) -> float:
    """The skewness as a standard normal number (D'Agostino 1970)."""
    y = skewness * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    beta = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    w = math.sqrt(2 * (beta - 1)) - 1  # the square of W
    return math.asinh(y * math.sqrt((w - 1) / 2)) / math.sqrt(0.5 * math.log(w))


def _kurtosis_score(kurtosis: float, n: int) -> float:
    """The kurtosis as a standard normal number (Anscombe and Glynn 1983)."""
    variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (kurtosis - 3 * (n - 1) / (n + 1)) / math.sqrt(variance)
    beta = (
        6
        * (n * n - 5 * n + 2)
        / ((n + 7) * (n + 9))
        * math.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    )
    a = 6 + 8 / beta * (2 / beta + math.sqrt(1 + 4 / (beta * beta)))
    part = (1 - 2 / a) / (1 + x * math.sqrt(2 / (a - 4)))
    return (1 - 2 / (9 * a) - math.cbrt(part)) / math.sqrt(2 / (9 * a))


def _mardia(
    scores: Floats,
) -> tuple[float | None, float | None, float | None, float | None, float | None]:
    """b_1, b_2, the mean of b_2 for Gaussian columns, and the p-values of both."""
    n, p = scores.shape
    if not p or n <= p + 1:
        return (None,) * 5
    values, vectors = np.linalg.eigh(correlations(list(scores.T)))
    if values[0] <= DEPENDENT * values[-1]:
        return (None,) * 5
    white = np.einsum("ij,jk->ik", scores, vectors / np.sqrt(values))
    blocks = [white[at : at + BLOCK] for at in range(0, n, BLOCK)]
    squares = []
    for a, b in itertools.combinations_with_replacement(range(p), 2):
        thirds = sum(np.einsum("i,i,ij->j", z[:, a], z[:, b], z[:, b:]) for z in blocks) / n
        times = np.full(p - b, 6.0 if a < b else 3.0)
        times[0] = 3.0 if a < b else 1.0
        squares += (times * thirds * thirds).tolist()
    length = (white * white).sum(axis=1)
    b1 = math.fsum(squares)
    b2 = total(length * length) / n
    chi = b1 * (p + 1) * (n + 1) * (n + 3) / (6 * ((n + 1) * (p + 1) - 6))
    expected = p * (p + 2) * (n - 1) / (n + 1)
    variance = 8 * p * (p + 2) * (n - 3) * (n - p - 1) * (n - p + 1)
    variance /= (n + 1) ** 2 * (n + 3) * (n + 5)
    p1 = chi_square(chi, p * (p + 1) * (p + 2) // 6)
    return b1, b2, expected, p1, two_sided((b2 - expected) / math.sqrt(variance))


def _shared_information(labels: Sequence[str], scores: Floats, i: int, j: int) -> SharedInformation:
    x = scores[:, i]
    y = scores[:, j]
    rho = max(-1.0, min(1.0, total(x * y) / len(x)))
    formula = scalar(rho) if (1 - abs(rho)) * (1 + abs(rho)) > DEPENDENT else None
    if len(x) > MOST_RECORDS:
        drawn = np.random.default_rng([0, len(x)]).choice(len(x), MOST_RECORDS, replace=False)
        x = x[drawn]
        y = y[drawn]
    estimate, reason = ksg(x, y) if formula is not None else (None, "one determines the other")
    estimated = None if estimate is None else max(0.0, estimate)
    return SharedInformation(
        columns=(labels[i], labels[j]), gaussian=formula, estimated=estimated, reason=reason
    )


def _sentences(check: Normality) -> list[Remark]:
    if not check.columns:
        return [Remark("no_column_varies")]
    tiny = check.p_value < 1e-12
    text = [
        Remark(
            "not_gaussian" if check.rejected else "gaussian",
            records=plural(check.records, "record"),
            columns=plural(len(check.columns), "column"),
            p=Remark("p_tiny") if tiny else Remark("p_value", number=_two_digits(check.p_value)),
        )
    ]
    text += [
        Remark(
            "far_from_gaussian",
            column=printable(c.name),
            skewness=_two_places(c.skewness),
            kurtosis=_two_places(c.kurtosis),
        )
        for c in check.columns
        if not c.near
    ]
    if None not in (check.kurtosis, check.kurtosis_expected) and len(check.columns) > 1:
        text.append(
            Remark(
                "mardia",
                skewness=_two_places(check.skewness),
                kurtosis=_two_places(check.kurtosis),
                expected=_two_places(check.kurtosis_expected),
            )
        )
    text += [
        Remark(
            "nearest_neighbours",
            first=printable(p.columns[0]),
            second=printable(p.columns[1]),
            bits=_two_places(p.estimated),
            gaussian=_two_places(p.gaussian),
        )
        for p in check.pairs
        if p.apart is not None and abs(p.apart) >= APART
    ]
    missing = len([pair for pair in check.pairs if pair.apart is None])
    if missing:
        text.append(Remark("pairs_unknown", pairs=plural(missing, "pair")))
    return [*text, Remark("gaussian_fair" if check.near else "gaussian_only")]


def _two_places(number: float | None) -> Figure:
    return Figure(f"{number:.2f}")


def _two_digits(number: float) -> Figure:
    return Figure(f"{number:.2g}")
