"""A release against its original, the slow way: loops, exact fractions, logarithms to 50 digits.

A second opinion for the test suite, like ``oracle``. Nothing here is shared with the package: each
formula is written as its definition reads. Importing this module sets ``mpmath.mp.dps`` to 50.

``original`` and ``release`` are lists of dicts from column to text, ``None`` being a missing value.
``pairs`` names for each original record the number of its released record, or ``None`` if it was
not released. ``hierarchies`` maps a column to {value: [label of level 1, ..., label of the top]};
level 0 is the value itself and the only label of the top level is ``*``.

Every sum runs over the original records; a released record that no original names is not looked at
(but for the probabilistic information loss, which compares two columns of numbers).

A result is a ``Fraction`` or an ``int`` where the measure is rational, an ``mpf`` where it has a
logarithm or a root, and ``None`` where it has no value.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import comb
from random import Random
from typing import Any, TypeAlias

import mpmath

mpmath.mp.dps = 50

Text: TypeAlias = "str | None"
Rows: TypeAlias = "Sequence[Mapping[str, Text]]"
Pairs: TypeAlias = "Sequence[int | None]"
Names: TypeAlias = "Sequence[str]"
Hierarchy: TypeAlias = "Mapping[str, Sequence[str]]"
Hierarchies: TypeAlias = "Mapping[str, Hierarchy]"
Values: TypeAlias = "Sequence[Hashable]"
Numbers: TypeAlias = "Sequence[Fraction | None]"

STAR = "*"
GONE = ("gone",)
SUPPRESSED = ("suppressed",)
NORMAL_QUANTILE = mpmath.mpf("1.959964")


# --------------------------------------------------------------------------- reading the tables


def keys(original: Rows, columns: Names) -> list[Hashable]:
    """X: the texts of these columns, record by record."""
    return [tuple(row[column] for column in columns) for row in original]


def released_keys(release: Rows, pairs: Pairs, columns: Names) -> list[Hashable]:
    """X': the released texts of each original record, ``GONE`` if it was not released."""
    return [
        GONE if place is None else tuple(release[place][column] for column in columns)
        for place in pairs
    ]


def suppressed_cells(original: Rows, release: Rows, pairs: Pairs, column: str) -> list[bool]:
    """Whether the release withholds each original record's value of this column."""
    withheld = []
    for row, place in zip(original, pairs, strict=True):
        if place is None:
            withheld.append(True)
            continue
        text = release[place][column]
        withheld.append(text == STAR or (text is None and row[column] is not None))
    return withheld


def suppressed_records(original: Rows, release: Rows, pairs: Pairs, quasi: Names) -> list[bool]:
    """Whether the release withholds all quasi-identifiers of each original record."""
    cells = [suppressed_cells(original, release, pairs, column) for column in quasi]
    return [all(record) for record in zip(*cells, strict=True)]


def _cells(original: Rows, release: Rows, pairs: Pairs, column: str) -> list[tuple[Text, Any]]:
    """Each record's original text and its released text or ``SUPPRESSED``."""
    withheld = suppressed_cells(original, release, pairs, column)
    cells: list[tuple[Text, Any]] = []
    for row, place, hidden in zip(original, pairs, withheld, strict=True):
        if hidden:
            cells.append((row[column], SUPPRESSED))
        else:
            assert place is not None
            cells.append((row[column], release[place][column]))
    return cells


def is_function(xs: Values, ys: Values) -> bool:
    """Whether equal values of ``xs`` always come with equal values of ``ys``."""
    seen: dict[Hashable, Hashable] = {}
    return all(seen.setdefault(x, y) == y for x, y in zip(xs, ys, strict=True))


def _real(value: Fraction | int) -> Any:
    value = Fraction(value)
    return mpmath.mpf(value.numerator) / value.denominator


@cache
def _log2(ratio: Fraction) -> Any:
    return mpmath.log(_real(ratio)) / mpmath.log(2)


# --------------------------------------------------------------------------- information


def pointwise_information(xs: Values, ys: Values) -> list[Any]:
    """log2 of n_xy N / (n_x n_y), record by record, in bits."""
    pairs = list(zip(xs, ys, strict=True))
    n, of_x, of_y, of_both = len(pairs), Counter(xs), Counter(ys), Counter(pairs)
    return [_log2(Fraction(of_both[x, y] * n, of_x[x] * of_y[y])) for x, y in pairs]


def mutual_information(xs: Values, ys: Values) -> Any:
    """Plug-in mutual information, in bits."""
    pairs = list(zip(xs, ys, strict=True))
    n, of_x, of_y = len(pairs), Counter(xs), Counter(ys)
    return mpmath.fsum(
        _real(Fraction(both, n)) * _log2(Fraction(both * n, of_x[x] * of_y[y]))
        for (x, y), both in Counter(pairs).items()
    )


@cache
def _hypergeometric_term(n: int, a: int, b: int) -> Any:
    """Mean of (k/n) log2(kn/(ab)), where k of the b drawn are among the a marked ones of n."""
    total = mpmath.mpf(0)
    for k in range(max(1, a + b - n), min(a, b) + 1):
        ways = comb(a, k) * comb(n - a, b - k)
        total += mpmath.mpf(ways * k) * _log2(Fraction(k * n, a * b))
    return total / (mpmath.mpf(comb(n, b)) * n)


def permutation_mean(xs: Values, ys: Values) -> Any:
    """Mean of the mutual information over all orders of ``ys``: what chance alone gives."""
    n = len(xs)
    if len(ys) != n:
        raise ValueError("two columns of one length, please")
    sizes, counts = Counter(Counter(xs).values()), Counter(Counter(ys).values())
    return mpmath.fsum(
        many * often * _hypergeometric_term(n, a, b)
        for a, many in sizes.items()
        for b, often in counts.items()
    )


def permutation_mean_by_force(xs: Values, ys: Values) -> Any:
    """The same, by listing every distinct order of ``ys``; for a handful of records."""
    orders = set(itertools.permutations(ys))
    return mpmath.fsum(mutual_information(xs, order) for order in orders) / len(orders)


def miller_madow(xs: Values, ys: Values) -> Any:
    """Plug-in plus (K_x + K_y - K_xy - 1)/(2 N ln 2), K the values that occur."""
    both = set(zip(xs, ys, strict=True))
    excess = len(set(xs)) + len(set(ys)) - len(both) - 1
    return mutual_information(xs, ys) + excess / (2 * len(xs) * mpmath.log(2))


def interval_half_width(pointwise: Sequence[Any]) -> Any:
    """1.959964 sqrt(V/N), V the variance over records, divided by N."""
    n = len(pointwise)
    mean = mpmath.fsum(pointwise) / n
    variance = mpmath.fsum((value - mean) ** 2 for value in pointwise) / n
    return NORMAL_QUANTILE * mpmath.sqrt(variance / n)


def information(xs: Values, ys: Values) -> dict[str, Any]:
    """Every number about one mutual information."""
    plugin, chance = mutual_information(xs, ys), permutation_mean(xs, ys)
    return {
        "plugin": plugin,
        "chance": chance,
        "corrected": plugin - chance,
        "miller_madow": miller_madow(xs, ys),
        "half_width": interval_half_width(pointwise_information(xs, ys)),
    }


def identity_disclosure(
    original: Rows, release: Rows, pairs: Pairs, columns: Names
) -> dict[str, Any]:
    """I(X'; X) of the key made of these columns."""
    return information(released_keys(release, pairs, columns), keys(original, columns))


def attribute_disclosure(
    original: Rows, release: Rows, pairs: Pairs, columns: Names, secret: str
) -> dict[str, Any]:
    """I(X'; Y), Y the secret as the original has it."""
    ys = [row[secret] for row in original]
    return information(released_keys(release, pairs, columns), ys)


def information_loss(
    original: Rows, release: Rows, pairs: Pairs, columns: Names, secret: str
) -> dict[str, Any]:
    """I(X; Y) - I(X'; Y), the difference taken number by number."""
    ys = [row[secret] for row in original]
    before, after = keys(original, columns), released_keys(release, pairs, columns)
    first, second = information(before, ys), information(after, ys)
    loss = {name: first[name] - second[name] for name in first if name != "half_width"}
    differences = [
        u - v
        for u, v in zip(
            pointwise_information(before, ys), pointwise_information(after, ys), strict=True
        )
    ]
    return {**loss, "half_width": interval_half_width(differences)}


def by_column(
    measure: Callable[..., dict[str, Any]],
    original: Rows,
    release: Rows,
    pairs: Pairs,
    columns: Names,
    *secret: str,
) -> dict[str, dict[str, Any]]:
    """One of the three measures above for each column alone."""
    return {name: measure(original, release, pairs, [name], *secret) for name in columns}


# --------------------------------------------------------------------------- closeness


def t_by_class(xs: Values, ys: Values) -> dict[Hashable, Fraction]:
    """1/2 sum_s |p(s|q) - p(s)| for each class q."""
    n, of_x, of_y = len(xs), Counter(xs), Counter(ys)
    both = Counter(zip(xs, ys, strict=True))
    return {
        x: sum(
            (abs(Fraction(both[x, y], size) - Fraction(count, n)) for y, count in of_y.items()),
            Fraction(0),
        )
        / 2
        for x, size in of_x.items()
    }


def information_floor(xs: Values, ys: Values) -> Any:
    """(2/ln 2) sum_q p(q) t_q^2, which the mutual information cannot fall below (Pinsker)."""
    n, of_x, closeness = len(xs), Counter(xs), t_by_class(xs, ys)
    mean = sum((Fraction(of_x[x], n) * t * t for x, t in closeness.items()), Fraction(0))
    return 2 * _real(mean) / mpmath.log(2)


# --------------------------------------------------------------------------- class sizes


def _kept_class_sizes(original: Rows, release: Rows, pairs: Pairs, quasi: Names) -> list[int]:
    hidden = suppressed_records(original, release, pairs, quasi)
    released = released_keys(release, pairs, quasi)
    kept = [key for key, gone in zip(released, hidden, strict=True) if not gone]
    return list(Counter(kept).values())


def discernability(original: Rows, release: Rows, pairs: Pairs, quasi: Names) -> int:
    """The sum of n_q^2 over classes of records that are not suppressed, plus N for each other."""
    sizes = _kept_class_sizes(original, release, pairs, quasi)
    n = len(original)
    return sum(size * size for size in sizes) + (n - sum(sizes)) * n


def average_class_size(
    original: Rows, release: Rows, pairs: Pairs, quasi: Names
) -> Fraction | None:
    """Records that are not suppressed by class; ``None`` if all are."""
    sizes = _kept_class_sizes(original, release, pairs, quasi)
    return Fraction(sum(sizes), len(sizes)) if sizes else None


# --------------------------------------------------------------------------- hierarchies


def _path(hierarchy: Hierarchy, value: str) -> list[str]:
    return [value, *hierarchy[value]]


def height(hierarchy: Hierarchy) -> int:
    """The level of the top."""
    heights = {len(labels) for labels in hierarchy.values()}
    if len(heights) != 1:
        raise ValueError("every value needs a label on every level")
    return heights.pop()


def level_of(hierarchy: Hierarchy, value: Text, label: Text) -> int:
    """The level of a released label.

    The lowest on which the original value's label equals it; for a label that is not above the
    value, the lowest on which any value has it.
    """
    if label == value:
        return 0
    if value is not None and value in hierarchy and label in _path(hierarchy, value):
        return _path(hierarchy, value).index(label)
    levels = [
        level
        for other in hierarchy
        for level, text in enumerate(_path(hierarchy, other))
        if text == label
    ]
    if not levels:
        raise ValueError("a released label is not in the hierarchy")
    return min(levels)


def leaves(hierarchy: Hierarchy, value: Text, label: Text) -> int:
    """How many values of the hierarchy lie below a released label; 1 for an unchanged value."""
    if label == value:
        return 1
    level = level_of(hierarchy, value, label)
    return sum(_path(hierarchy, other)[level] == label for other in hierarchy)


def common_level(hierarchy: Hierarchy, value: Text, label: Text) -> int:
    """The level of the lowest common ancestor of an original value and a released label."""
    if label == value:
        return 0
    top = height(hierarchy)
    if value is None or value not in hierarchy:
        return top
    level = level_of(hierarchy, value, label)
    mine = _path(hierarchy, value)
    return min(
        above
        for other in hierarchy
        if _path(hierarchy, other)[level] == label
        for above in range(level, top + 1)
        if _path(hierarchy, other)[above] == mine[above]
    )


def _stands_for(
    cells: Sequence[tuple[Text, Any]], hierarchy: Hierarchy | None
) -> tuple[list[int | None], int]:
    """How many values each released cell stands for (``None``: suppressed), and of how many."""
    if hierarchy is not None:
        counts = [None if g is SUPPRESSED else leaves(hierarchy, v, g) for v, g in cells]
        return counts, len(hierarchy)
    became: dict[Hashable, set[Text]] = {}
    for value, label in cells:
        became.setdefault(label, set()).add(value)
    counts = [None if g is SUPPRESSED else len(became[g]) for _, g in cells]
    return counts, len({value for value, _ in cells})


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


# --------------------------------------------------------------------------- generalisation


def generalization_loss_of(
    original: Rows, release: Rows, pairs: Pairs, column: str, hierarchy: Hierarchy | None
) -> Fraction:
    """(mean share - 1/m)/(1 - 1/m) of a column; 0 if it has one value only."""
    cells = _cells(original, release, pairs, column)
    counts, m = _stands_for(cells, hierarchy)
    if m == 1:
        return Fraction(0)
    mean = _mean([Fraction(1) if c is None else Fraction(c, m) for c in counts])
    return (mean - Fraction(1, m)) / (1 - Fraction(1, m))


def generalization_loss(
    original: Rows, release: Rows, pairs: Pairs, quasi: Names, hierarchies: Hierarchies
) -> Any:
    """The geometric mean of 1 + L over columns, less 1."""
    product = mpmath.mpf(1)
    for column in quasi:
        one = generalization_loss_of(original, release, pairs, column, hierarchies.get(column))
        product *= 1 + _real(one)
    return product ** (mpmath.mpf(1) / len(quasi)) - 1


def precision_of(
    original: Rows, release: Rows, pairs: Pairs, column: str, hierarchy: Hierarchy
) -> Fraction:
    """1 - mean of level/height of a column."""
    top = height(hierarchy)
    cells = _cells(original, release, pairs, column)
    levels = [top if g is SUPPRESSED else level_of(hierarchy, v, g) for v, g in cells]
    return 1 - _mean([Fraction(level, top) for level in levels])


def precision(
    original: Rows, release: Rows, pairs: Pairs, quasi: Names, hierarchies: Hierarchies
) -> Fraction | None:
    """The mean over the columns that have a hierarchy; ``None`` without any."""
    found = [
        precision_of(original, release, pairs, column, hierarchies[column])
        for column in quasi
        if column in hierarchies
    ]
    return _mean(found) if found else None


def non_uniform_entropy_of(
    original: Rows, release: Rows, pairs: Pairs, column: str, suppressed: str = "all"
) -> Any:
    """Bits a column lost: sum of log2(records with the released value/with the original value).

    A suppressed cell stands for ``all`` records, or for those suppressed in this column (``own``).
    """
    cells = _cells(original, release, pairs, column)
    before, after = Counter(v for v, _ in cells), Counter(g for _, g in cells)
    if suppressed == "all":
        after[SUPPRESSED] = len(cells)
    elif suppressed != "own":
        raise ValueError("'all' or 'own'")
    return mpmath.fsum(_log2(Fraction(after[g], before[v])) for v, g in cells)


def non_uniform_entropy(
    original: Rows, release: Rows, pairs: Pairs, quasi: Names, suppressed: str = "all"
) -> Any:
    """The sum over columns, in bits."""
    return mpmath.fsum(
        non_uniform_entropy_of(original, release, pairs, column, suppressed) for column in quasi
    )


def normalized_certainty_penalty_of(
    original: Rows, release: Rows, pairs: Pairs, column: str, hierarchy: Hierarchy | None
) -> Fraction:
    """Mean of leaves/m of a categorical column; 0 where one leaf is left, 1 where suppressed."""
    counts, m = _stands_for(_cells(original, release, pairs, column), hierarchy)
    return _mean(
        [Fraction(1) if c is None else Fraction(0) if c == 1 else Fraction(c, m) for c in counts]
    )


def normalized_certainty_penalty(
    original: Rows, release: Rows, pairs: Pairs, quasi: Names, hierarchies: Hierarchies
) -> Fraction:
    """The mean over cells of all columns, each taken as categorical."""
    return _mean(
        [
            normalized_certainty_penalty_of(original, release, pairs, c, hierarchies.get(c))
            for c in quasi
        ]
    )


# --------------------------------------------------------------------------- distortion


def number(text: Text) -> Fraction | None:
    """The number a text spells, or ``None``."""
    if text is None or "/" in text:
        return None
    try:
        return Fraction(text.strip())
    except ValueError:
        return None


def hamming_distortion(original: Rows, release: Rows, pairs: Pairs, column: str) -> Fraction:
    """The share of cells that are not what they were; suppressed ones are not."""
    return _mean([Fraction(v != g) for v, g in _cells(original, release, pairs, column)])


def hierarchy_distortion(
    original: Rows, release: Rows, pairs: Pairs, column: str, hierarchy: Hierarchy
) -> Fraction:
    """Mean level of the lowest common ancestor over the height; suppressed is the height."""
    top = height(hierarchy)
    cells = _cells(original, release, pairs, column)
    levels = [top if g is SUPPRESSED else common_level(hierarchy, v, g) for v, g in cells]
    return _mean([Fraction(level, top) for level in levels])


def squared_error(original: Rows, release: Rows, pairs: Pairs, column: str) -> Fraction | None:
    """Mean squared difference over the records whose two cells are numbers."""
    errors = []
    for value, label in _cells(original, release, pairs, column):
        before, after = number(value), None if label is SUPPRESSED else number(label)
        if before is not None and after is not None:
            errors.append((after - before) ** 2)
    return _mean(errors) if errors else None


def numeric_distortion(original: Rows, release: Rows, pairs: Pairs, column: str) -> Fraction | None:
    """The squared error over the variance (divided by N) of the original's numbers."""
    error = squared_error(original, release, pairs, column)
    known = [x for x in (number(row[column]) for row in original) if x is not None]
    if error is None or not known:
        return None
    variance = central_moment(known, 2)
    return error / variance if variance else None


def expected_distortion(
    original: Rows,
    release: Rows,
    pairs: Pairs,
    quasi: Names,
    hierarchies: Hierarchies,
    numeric: Names = (),
) -> dict[str, Fraction | None]:
    """The distortion of each column and, under ``""``, their mean (over those that have one).

    A column named in ``numeric`` takes the squared error, another with a hierarchy its levels, the
    rest 0 or 1.
    """
    found: dict[str, Fraction | None] = {}
    for column in quasi:
        if column in numeric:
            found[column] = numeric_distortion(original, release, pairs, column)
        elif column in hierarchies:
            found[column] = hierarchy_distortion(
                original, release, pairs, column, hierarchies[column]
            )
        else:
            found[column] = hamming_distortion(original, release, pairs, column)
    known = [value for value in found.values() if value is not None]
    return {**found, "": _mean(known) if known else None}


# --------------------------------------------------------------------------- distributions


def hellinger_of(before: Values, after: Values) -> Any:
    """sqrt(1/2 sum (sqrt p - sqrt p')^2) of two lists of values."""
    p, q = Counter(before), Counter(after)
    total = mpmath.fsum(
        (
            mpmath.sqrt(_real(Fraction(p[value], len(before))))
            - mpmath.sqrt(_real(Fraction(q[value], len(after))))
        )
        ** 2
        for value in p.keys() | q.keys()
    )
    return mpmath.sqrt(total / 2)


def hellinger(original: Rows, release: Rows, pairs: Pairs, columns: Names) -> Any:
    """Of the joint distribution of these columns; a suppressed cell is a category of its own."""
    cells = [_cells(original, release, pairs, column) for column in columns]
    before = list(zip(*([v for v, _ in column] for column in cells), strict=True))
    after = list(zip(*([g for _, g in column] for column in cells), strict=True))
    return hellinger_of(before, after)


def hellinger_margins(
    original: Rows, release: Rows, pairs: Pairs, columns: Names
) -> dict[str, Any]:
    """One number a column."""
    return {column: hellinger(original, release, pairs, [column]) for column in columns}


def hellinger_pairs(
    original: Rows, release: Rows, pairs: Pairs, columns: Names
) -> dict[tuple[str, str], Any]:
    """One number for each two columns, in the order given."""
    return {
        two: hellinger(original, release, pairs, two) for two in itertools.combinations(columns, 2)
    }


# --------------------------------------------------------------------------- probabilistic loss


def central_moment(xs: Sequence[Fraction], a: int) -> Fraction:
    """mu_a: the mean of (x - mean)^a."""
    middle = _mean(xs)
    return _mean([(x - middle) ** a for x in xs])


def joint_moment(xs: Sequence[Fraction], ys: Sequence[Fraction], a: int, b: int) -> Fraction:
    """mu_ab: the mean of (x - its mean)^a (y - its mean)^b."""
    u, v = _mean(xs), _mean(ys)
    return _mean([(x - u) ** a * (y - v) ** b for x, y in zip(xs, ys, strict=True)])


def correlation_variance(n: int, mu: Mapping[tuple[int, int], Fraction]) -> Fraction | None:
    """The large-sample variance of a correlation, from central moments."""
    m20, m02, m11, m22 = mu[2, 0], mu[0, 2], mu[1, 1], mu[2, 2]
    if m20 == 0 or m02 == 0:
        return None
    if m11 == 0:
        return m22 / (n * m20 * m02)
    square = m11**2 / (m20 * m02)
    bracket = (
        m22 / m11**2
        + (mu[4, 0] / m20**2 + mu[0, 4] / m02**2 + 2 * m22 / (m20 * m02)) / 4
        - mu[3, 1] / (m11 * m20)
        - mu[1, 3] / (m11 * m02)
    )
    return square / n * bracket


def _normal_share(difference: Any, variance: Fraction | None, n: int, minimum: int) -> Any:
    """2 P(0 <= Z <= |difference|/sqrt(variance)); ``None`` for few records or no variance."""
    if n <= minimum or variance is None or variance <= 0:
        return None
    return mpmath.erf(abs(difference) / mpmath.sqrt(_real(variance)) / mpmath.sqrt(2))


def _known(xs: Numbers) -> list[Fraction]:
    return [x for x in xs if x is not None]


def _known_pairs(xs: Numbers, ys: Numbers) -> tuple[list[Fraction], list[Fraction]]:
    both = [(x, y) for x, y in zip(xs, ys, strict=True) if x is not None and y is not None]
    return [x for x, _ in both], [y for _, y in both]


def pil_mean(before: Numbers, after: Numbers, minimum: int = 100) -> Any:
    """Probabilistic information loss of the mean; null for ``minimum`` records or fewer."""
    xs, new = _known(before), _known(after)
    if not xs or not new:
        return None
    variance = central_moment(xs, 2) / len(xs)
    return _normal_share(_real(_mean(new) - _mean(xs)), variance, len(xs), minimum)


def pil_variance(before: Numbers, after: Numbers, minimum: int = 100) -> Any:
    """The same of the variance (divided by n)."""
    xs, new = _known(before), _known(after)
    if not xs or not new:
        return None
    variance = (central_moment(xs, 4) - central_moment(xs, 2) ** 2) / len(xs)
    difference = _real(central_moment(new, 2) - central_moment(xs, 2))
    return _normal_share(difference, variance, len(xs), minimum)


def pil_covariance(
    before: tuple[Numbers, Numbers], after: tuple[Numbers, Numbers], minimum: int = 100
) -> Any:
    """The same of the covariance (divided by n), over records in which both are known."""
    (xs, ys), (us, vs) = _known_pairs(*before), _known_pairs(*after)
    if not xs or not us:
        return None
    theta, new = joint_moment(xs, ys, 1, 1), joint_moment(us, vs, 1, 1)
    variance = (joint_moment(xs, ys, 2, 2) - theta**2) / len(xs)
    return _normal_share(_real(new - theta), variance, len(xs), minimum)


def correlation(xs: Sequence[Fraction], ys: Sequence[Fraction]) -> Any:
    """Pearson's; ``None`` for a constant column or no records."""
    if not xs:
        return None
    spread = central_moment(xs, 2) * central_moment(ys, 2)
    if spread == 0:
        return None
    return _real(joint_moment(xs, ys, 1, 1)) / mpmath.sqrt(_real(spread))


def pil_correlation(
    before: tuple[Numbers, Numbers], after: tuple[Numbers, Numbers], minimum: int = 100
) -> Any:
    """The same of the correlation, over records in which both are known."""
    (xs, ys), (us, vs) = _known_pairs(*before), _known_pairs(*after)
    theta, new = correlation(xs, ys), correlation(us, vs)
    if theta is None or new is None:
        return None
    orders = [(2, 0), (0, 2), (1, 1), (2, 2), (4, 0), (0, 4), (3, 1), (1, 3)]
    moments = {order: joint_moment(xs, ys, *order) for order in orders}
    return _normal_share(new - theta, correlation_variance(len(xs), moments), len(xs), minimum)


# --------------------------------------------------------------------------- several releases


def ranks(xs: Sequence[Any]) -> list[Fraction]:
    """1 for the smallest; equal values share the mean of their ranks."""
    return [sum(y < x for y in xs) + Fraction(sum(y == x for y in xs) + 1, 2) for x in xs]


def spearman(xs: Sequence[Any], ys: Sequence[Any]) -> Any:
    """The correlation of the ranks; ``None`` if one side is constant."""
    return correlation(ranks(xs), ranks(ys))


def dominated(points: Sequence[Sequence[Any]]) -> list[bool]:
    """Whether another point is at most as large in every number and smaller in one."""
    return [
        any(
            all(b <= a for a, b in zip(point, other, strict=True))
            and any(b < a for a, b in zip(point, other, strict=True))
            for other in points
        )
        for point in points
    ]


# --------------------------------------------------------------------------- random cases


def random_hierarchy(
    random: Random, values: Sequence[str], name: str, echoes: bool = False
) -> dict[str, list[str]]:
    """A random tree over these values: groups of groups, one top. Some levels repeat a label.

    With ``echoes`` some groups bear the text of a value in them.
    """
    labels: dict[str, list[str]] = {value: [] for value in values}
    groups = [[value] for value in values]
    for level in range(1, random.randint(1, 4)):
        random.shuffle(groups)
        merged: list[list[str]] = []
        for group in groups:
            if merged and random.random() < 0.45:
                random.choice(merged).extend(group)
            else:
                merged.append(list(group))
        for number_, group in enumerate(merged):
            below = {[value, *labels[value]][-1] for value in group}
            repeat = len(below) == 1 and random.random() < 0.5
            label = below.pop() if repeat else f"{name}{level}g{number_}"
            if echoes and random.random() < 0.4:
                label = min(group)
            for value in group:
                labels[value].append(label)
        groups = merged
    return {value: [*labels[value], STAR] for value in values}


def random_case(seed: int, echoes: bool = False) -> dict[str, Any]:
    """A small original, a release of it, and all that the measures need.

    ``seed``, ``original``, ``release``, ``pairs``, ``quasi``, ``secrets``, ``hierarchies`` (of some
    columns), ``numeric`` (quasi-identifiers of whole numbers), ``steps`` (what was done to it) and
    ``function`` (whether the released key depends on the original key alone). Column ``id`` tells
    records apart and is the same before and after. With ``echoes`` a label of a hierarchy may read
    like a value below it.
    """
    random = Random(seed)
    n = random.randint(5, 7) if random.random() < 0.15 else random.randint(5, 40)
    quasi = [f"q{i}" for i in range(random.randint(1, 4))]
    secrets = [f"s{i}" for i in range(random.randint(1, 2))]
    kinds = {column: random.choice(("tree", "tree", "plain", "number")) for column in quasi}
    domains, hierarchies = _domains(random, kinds, echoes)
    original = _original(random, n, domains, secrets)
    steps = _recipe(random)
    rows = _mask(random, original, quasi, kinds, domains, hierarchies, steps)
    if "secrets" in steps:
        for row in rows:
            for secret in secrets:
                if random.random() < 0.3:
                    row[secret] = random.choice((STAR, None, "u0", "u1"))
    release, pairs = _send(random, original, rows, quasi, steps)
    return {
        "seed": seed,
        "original": original,
        "release": release,
        "pairs": pairs,
        "quasi": quasi,
        "secrets": secrets,
        "hierarchies": hierarchies,
        "numeric": [column for column in quasi if kinds[column] == "number"],
        "steps": sorted(steps),
        "function": is_function(keys(original, quasi), released_keys(release, pairs, quasi)),
    }


GENERALISING = ("generalise global", "generalise by class", "generalise by cell")


def _recipe(random: Random) -> set[str]:
    if random.random() < 0.06:
        return set()
    steps = (
        {random.choice((*GENERALISING, "generalise global"))} if random.random() < 0.75 else set()
    )
    for step, share in {
        "suppress cells": 0.3,
        "suppress records": 0.3,
        "drop": 0.3,
        "by class": 0.5,
        "blank": 0.15,
        "perturb": 0.2,
        "permute": 0.15,
        "shuffle": 0.5,
        "secrets": 0.3,
    }.items():
        if random.random() < share:
            steps.add(step)
    return steps


def _domains(
    random: Random, kinds: Mapping[str, str], echoes: bool
) -> tuple[dict[str, list[str]], dict[str, dict[str, list[str]]]]:
    domains: dict[str, list[str]] = {}
    hierarchies: dict[str, dict[str, list[str]]] = {}
    for column, kind in kinds.items():
        size = random.randint(1, 8) if random.random() < 0.5 else random.randint(2, 4)
        if kind == "number":
            domains[column] = [str(v) for v in random.sample(range(-3, 90), size)]
        else:
            domains[column] = [f"{column}v{i}" for i in range(size)]
        if kind == "tree" or (kind == "number" and random.random() < 0.3):
            hierarchies[column] = random_hierarchy(random, domains[column], column, echoes)
    return domains, hierarchies


def _original(
    random: Random, n: int, domains: Mapping[str, Sequence[str]], secrets: Names
) -> list[dict[str, Text]]:
    missing = random.choice((0.0, 0.0, 0.1, 0.3))
    weights = {c: [random.random() ** 2 + 0.05 for _ in values] for c, values in domains.items()}
    pools = {secret: [f"s{i}" for i in range(random.randint(1, 5))] for secret in secrets}
    link = random.choice((0.0, 0.4, 0.9))
    rows: list[dict[str, Text]] = []
    for i in range(n):
        row: dict[str, Text] = {"id": f"r{i}"}
        for column, values in domains.items():
            text = random.choices(values, weights[column])[0]
            row[column] = None if random.random() < missing else text
        for secret in secrets:
            pool = pools[secret]
            first = next(iter(domains))
            text = random.choice(pool)
            if row[first] is not None and random.random() < link:
                text = pool[domains[first].index(str(row[first])) % len(pool)]
            row[secret] = None if random.random() < missing / 2 else text
        rows.append(row)
    return rows


def _mask(
    random: Random,
    original: Rows,
    quasi: Names,
    kinds: Mapping[str, str],
    domains: Mapping[str, Sequence[str]],
    hierarchies: Hierarchies,
    steps: set[str],
) -> list[dict[str, Text]]:
    """The released texts of every record, before records are dropped and put in another order."""
    rows = [dict(row) for row in original]
    if "permute" in steps:
        moved = [c for c in quasi if random.random() < 0.6] or list(quasi)
        order = random.sample(range(len(rows)), len(rows))
        for row, place in zip(rows, order, strict=True):
            row.update({column: original[place][column] for column in moved})
    if "perturb" in steps:
        for row in rows:
            for column in quasi:
                if row[column] is not None and random.random() < 0.3:
                    row[column] = _perturbed(
                        random, column, row[column], kinds, domains, hierarchies
                    )
    units = _units(random, original, quasi, "generalise by class" in steps)
    wide = {column: random.random() for column in quasi}
    for row, unit in zip(rows, units, strict=True):
        for column in quasi:
            if "generalise global" in steps:
                height_ = wide[column]
            elif "generalise by class" in steps or "generalise by cell" in steps:
                height_ = unit[column]
            else:
                continue
            row[column] = _generalised(column, row[column], height_, domains, hierarchies)
    units = _units(random, original, quasi, "by class" in steps)
    for row, unit in zip(rows, units, strict=True):
        for column in quasi:
            if "suppress cells" in steps and unit[column] < 0.2:
                row[column] = STAR
            elif "blank" in steps and unit[column] > 0.85:
                row[column] = None
            if "suppress records" in steps and unit[""] < 0.15:
                row[column] = STAR
    return rows


def _units(random: Random, original: Rows, quasi: Names, by_class: bool) -> list[dict[str, float]]:
    """Random numbers for each record and column: the same for records with one key, or not."""
    drawn: dict[Hashable, dict[str, float]] = {}
    found = []
    for i, key in enumerate(keys(original, quasi)):
        unit = key if by_class else i
        if unit not in drawn:
            drawn[unit] = {column: random.random() for column in (*quasi, "")}
        found.append(drawn[unit])
    return found


def _perturbed(
    random: Random,
    column: str,
    text: Text,
    kinds: Mapping[str, str],
    domains: Mapping[str, Sequence[str]],
    hierarchies: Hierarchies,
) -> str:
    if kinds[column] == "number" and column not in hierarchies and text is not None:
        return str(int(text) + random.randint(-4, 4))
    return random.choice(domains[column])


def _generalised(
    column: str,
    text: Text,
    wide: float,
    domains: Mapping[str, Sequence[str]],
    hierarchies: Hierarchies,
) -> Text:
    """A coarser text; ``wide`` in [0, 1) says how much."""
    if text is None:
        return None
    if column in hierarchies:
        path = [text, *hierarchies[column][text]]
        return path[int(wide * len(path))]
    if wide < 0.35:
        return text
    if text not in domains[column]:
        return str(round(int(text), -1))
    size = 2 if wide < 0.7 else 3
    place = domains[column].index(text) // size
    return f"{column}/{size}/{place}"


def _send(
    random: Random, original: Rows, rows: Rows, quasi: Names, steps: set[str]
) -> tuple[list[dict[str, Text]], list[int | None]]:
    units = _units(random, original, quasi, "by class" in steps)
    kept = [i for i in range(len(rows)) if "drop" not in steps or units[i][""] >= 0.2]
    kept = kept or [0]
    if "shuffle" in steps:
        random.shuffle(kept)
    place = {i: where for where, i in enumerate(kept)}
    return [dict(rows[i]) for i in kept], [place.get(i) for i in range(len(rows))]
