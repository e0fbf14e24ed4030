"""Losses of numbers and of models: against hand calculations and slow counts of small tables."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from golden.tables import read_columns

from sievert.formatting.remarks import Remark
from sievert.hierarchies import Hierarchy
from sievert.losses import (
    gaussian,
    models,
    moments,
    numeric_columns,
    prediction,
    propensity,
)
from sievert.losses.loss import GONE, Loss, PairedColumn, Release

MODULES = (moments, gaussian, propensity, prediction, models)
KINDS = {k.id: k for m in MODULES for k in m.KINDS}
DROPPED = object()
DECILES = [k / 10 for k in range(1, 10)]


def column(
    name: str, before: Sequence[Any], after: Sequence[Any], ladder: Hierarchy | None = None
) -> PairedColumn:
    """A column from its texts; DROPPED where the record was not released."""
    coded = []
    for texts in (before, after):
        names = list(dict.fromkeys(t for t in texts if t is not DROPPED))
        place = {t: i for i, t in enumerate(names)}
        codes = np.array([place.get(t, GONE) for t in texts], dtype=np.int64)
        coded.append((codes, names))
    (original, values), (released, labels) = coded
    return PairedColumn(
        name=name,
        original=original,
        released=released,
        values=values,
        labels=labels,
        hierarchy=ladder,
    )


def one(before: Sequence[Any], after: Sequence[Any], ladder: Hierarchy | None = None) -> Release:
    return Release(quasi=(column("a", before, after, ladder),))


def texts(values: Any) -> list[str]:
    return [repr(float(x)) for x in values]


def compute(name: str, release: Release) -> Loss:
    """A loss whose every number is finite, and which is plain enough for JSON."""
    kind = KINDS[name]
    found: Loss = kind.compute(release)
    for part in (found.value, found.columns, found.details):
        plain(part)
    assert (found.value is None) == (found.reason is not None)
    if found.value is not None:
        assert kind.low is None or found.value >= kind.low
        assert kind.high is None or found.value <= kind.high
    return found


def plain(x: Any) -> None:
    if isinstance(x, dict):
        assert all(isinstance(key, str) for key in x)
        for y in x.values():
            plain(y)
    elif isinstance(x, list):
        for y in x:
            plain(y)
    elif isinstance(x, float):
        assert math.isfinite(x)
    else:
        assert x is None or type(x) in (int, str, bool, Remark)


def test_kinds() -> None:
    assert set(KINDS) == {
        "probabilistic_information_loss", "covariance_discrepancy", "correlation_discrepancy",
        "eigenvalue_discrepancy", "gaussian_information", "pmse", "prediction", "model_loss",
    }  # fmt: skip
    assert all(k.worse == "high" and k.source and k.formula and k.reading for k in KINDS.values())


# Moments and quantiles.


def central(xs: Sequence[Any], ys: Sequence[Any], a: int, b: int) -> Any:
    n = len(xs)
    mx, my = mpmath.fsum(xs) / n, mpmath.fsum(ys) / n
    return mpmath.fsum((x - mx) ** a * (y - my) ** b for x, y in zip(xs, ys, strict=True)) / n


def type7(xs: Sequence[Any], q: float) -> Any:
    ordered, at = sorted(xs), mpmath.mpf(q) * (len(xs) - 1)
    k = int(mpmath.floor(at))
    following = ordered[min(k + 1, len(xs) - 1)]
    return ordered[k] + (following - ordered[k]) * (at - k)


def kernel_density(xs: Sequence[Any], x: Any) -> Any:
    n, s = len(xs), mpmath.sqrt(central(xs, xs, 2, 0))
    iqr = (type7(xs, 0.75) - type7(xs, 0.25)) / mpmath.mpf("1.34")
    h = mpmath.mpf("0.9") * min(s, iqr) * mpmath.mpf(n) ** (-mpmath.mpf(1) / 5)
    return mpmath.fsum(mpmath.npdf((x - y) / h) for y in xs) / (n * h)


def pil(before: Any, after: Any, variance: Any) -> float:
    return float(mpmath.erf(abs(after - before) / mpmath.sqrt(2 * variance)))


@pytest.fixture(scope="module")
def masked() -> tuple[Release, list[list[Any]], list[list[Any]]]:
    """Two dependent skewed columns and one with gaps, masked by noise, suppression and dropping."""
    rng = np.random.default_rng(11)
    n = 160
    x = rng.gamma(2.0, size=n).round(3)
    y = (0.7 * x + rng.gamma(1.0, size=n)).round(3)
    z = rng.normal(size=n).round(3)
    before: list[list[Any]] = [texts(x), texts(y), texts(z)]
    before[2][::9] = [None] * len(before[2][::9])
    noise = rng.normal(scale=0.08, size=(2, n))
    after: list[list[Any]] = [texts(x + noise[0]), texts(y + noise[1]), list(before[2])]
    after[1][3::11] = ["*"] * len(after[1][3::11])
    for col in after:
        col[5::13] = [DROPPED] * len(col[5::13])
    columns = [column(c, b, a) for c, b, a in zip("xyz", before, after, strict=True)]
    return Release(quasi=tuple(columns[:2]), secrets=tuple(columns[2:])), before, after


def held(*sides: Sequence[Any]) -> list[list[Any]]:
    """Numbers of the records that have all of them."""
    rows = [r for r in zip(*sides, strict=True) if all(isinstance(t, str) and t != "*" for t in r)]
    return [[mpmath.mpf(float(t)) for t in col] for col in zip(*rows, strict=True)]


def test_probabilistic_information_loss_against_mpmath(masked: Any) -> None:
    release, before, after = masked
    found = compute("probabilistic_information_loss", release)
    every: list[float] = []
    with mpmath.workdps(40):
        for name, b, a in zip("xyz", before, after, strict=True):
            (xs,), (ys,) = held(b), held(a)
            n, v = len(xs), central(xs, xs, 2, 0)
            m, m2 = mpmath.fsum(xs) / n, mpmath.fsum(ys) / len(ys)
            expected = {
                "mean": pil(m, m2, v / n),
                "variance": pil(
                    v, central(ys, ys, 2, 0), (central(xs, xs, 4, 0) - v * v) / n
                ),
            }  # fmt: skip
            for kind, value in expected.items():
                got = found.details[kind]["columns"][name]
                assert got["value"] == pytest.approx(value, rel=1e-10)
                every.append(value)
            mean = found.details["mean"]["columns"][name]
            assert mean["original"] == pytest.approx(float(m), rel=1e-13)
            assert mean["released"] == pytest.approx(float(m2), rel=1e-13)
            assert mean["relative"] == pytest.approx(float(abs(m2 - m) / abs(m)), rel=1e-10)
            for q in (0.05, 0.25, 0.5, 0.75, 0.95):
                x, y = type7(xs, q), type7(ys, q)
                spread = mpmath.mpf(q) * (1 - mpmath.mpf(q)) / (n * kernel_density(xs, x) ** 2)
                got = found.details["quantiles"]["columns"][name]["at"][f"{q:g}"]
                assert got["original"] == pytest.approx(float(x), rel=1e-13)
                assert got["value"] == pytest.approx(pil(x, y, spread), rel=1e-10)
                every.append(pil(x, y, spread))
        for (i, p), (j, r) in itertools.combinations(enumerate("xyz"), 2):
            got_v, got_r = (
                next(f for f in found.details[kind]["pairs"] if f["columns"] == [p, r])
                for kind in ("covariance", "correlation")
            )
            value_v, value_r = pair_losses(before[i], before[j], after[i], after[j])
            assert got_v["value"] == pytest.approx(value_v, rel=1e-10)
            assert got_r["value"] == pytest.approx(value_r, rel=1e-10)
            every += [value_v, value_r]
    assert len(every) == 3 * 7 + 3 * 2
    assert found.value == pytest.approx(math.fsum(every) / len(every), rel=1e-10)


def pair_losses(b1: Any, b2: Any, a1: Any, a2: Any) -> tuple[float, float]:
    """Losses of a covariance and a correlation, by the formulas as they are written."""
    (xs, ys), (us, vs) = held(b1, b2), held(a1, a2)
    n = len(xs)
    mu = {(a, b): central(xs, ys, a, b) for a in range(5) for b in range(5 - a)}
    cov, r2 = central(us, vs, 1, 1), central(us, us, 2, 0) * central(vs, vs, 2, 0)
    r = mu[1, 1] / mpmath.sqrt(mu[2, 0] * mu[0, 2])
    inner = mu[2, 2] / mu[1, 1] ** 2
    inner += (
        mu[4, 0] / mu[2, 0] ** 2 + mu[0, 4] / mu[0, 2] ** 2 + 2 * mu[2, 2] / (mu[2, 0] * mu[0, 2])
    ) / 4
    inner -= mu[3, 1] / (mu[1, 1] * mu[2, 0]) + mu[1, 3] / (mu[1, 1] * mu[0, 2])
    return (
        pil(mu[1, 1], cov, (mu[2, 2] - mu[1, 1] ** 2) / n),
        pil(r, cov / mpmath.sqrt(r2), r * r * inner / n),
    )


def test_uncorrelated_columns_have_a_variance_too() -> None:
    """mu_11 = 0: Var r = mu_22/(n·mu_20·mu_02)."""
    square = list(itertools.product((-2.0, -1.0, 1.0, 2.0), (-3.0, 1.0, 2.0), range(10)))
    x, y = ([p[k] for p in square] for k in (0, 1))
    shifted = [b + 0.1 * a for a, b in zip(x, y, strict=True)]
    release = Release(
        quasi=(column("x", texts(x), texts(x)), column("y", texts(y), texts(shifted)))
    )
    got = compute("probabilistic_information_loss", release).details["correlation"]["pairs"][0]
    xs, ys = ([mpmath.mpf(t) for t in side] for side in (x, y))
    variance = central(xs, ys, 2, 2) / (120 * central(xs, ys, 2, 0) * central(xs, ys, 0, 2))
    assert got["original"] == pytest.approx(0, abs=1e-15)
    assert got["value"] == pytest.approx(pil(0, mpmath.mpf(got["released"]), variance), rel=1e-10)


def test_small_tables_have_discrepancies_only() -> None:
    xs = texts(range(100))
    found = compute("probabilistic_information_loss", one(xs, texts(np.arange(100) + 1.0)))
    assert (found.value, found.reason) == (None, "100 records or fewer")
    assert found.details["mean"]["columns"]["a"]["relative"] == pytest.approx(1 / 49.5)
    more = compute("probabilistic_information_loss", one([*xs, "100"], [*xs, "100"]))
    assert more.value == 0.0


def test_statistics_without_a_variance_are_null() -> None:
    found = compute("probabilistic_information_loss", one(["3"] * 150, ["4"] * 150))
    assert (found.value, found.reason) == (None, "the original has one value")
    coin = ["-1", "1"] * 75
    details = compute("probabilistic_information_loss", one(coin, ["2", *coin[1:]])).details
    assert details["variance"]["columns"]["a"]["reason"] == "the statistic has no sampling variance"
    twin = Release(quasi=(column("x", texts(range(150)), texts(range(150))),
                    column("y", texts(range(3, 153)), texts(range(150)))))  # fmt: skip
    details = compute("probabilistic_information_loss", twin).details
    reasons = [details[k]["pairs"][0].get("reason") for k in ("covariance", "correlation")]
    assert reasons == [None, "the statistic has no sampling variance"]
    gone = Release(quasi=(column("x", texts(range(150)), ["7", *["*"] * 149]),
                    column("y", texts(range(150)), ["*"] * 149 + ["7"])))  # fmt: skip
    pairs = compute("probabilistic_information_loss", gone).details["covariance"]["pairs"]
    assert pairs[0]["reason"] == "too few numbers were released"
    assert pairs[0]["released"] is None


@pytest.mark.parametrize("name", list(KINDS)[:5])
def test_no_numeric_column(name: str) -> None:
    words = ["u", "v", "w"] * 50
    for after in (words, ["*"] * 150, [None] * 150, [DROPPED] * 150):
        assert compute(name, one(words, after)).reason is not None
    numbers_before = texts(range(150))
    for after in (["[0, 9)"] * 150, ["*"] * 150, [DROPPED] * 150):
        assert compute(name, one(numbers_before, after)).reason is not None


def test_numbers_too_large_to_square_are_not_numbers() -> None:
    huge = ["9" * 200, "1", "9" * 400] * 50
    assert compute("probabilistic_information_loss", one(huge, huge)).value is None
    large = ["1e99", "-1e99", "0"] * 50
    assert compute("probabilistic_information_loss", one(large, large)).value == 0.0


def test_quantiles_and_density_of_counted_numbers() -> None:
    rng = np.random.default_rng(0)
    xs = rng.integers(0, 30, 500).astype(float)
    side = numeric_columns.Side.from_codes(
        np.arange(31.0), np.bincount(xs.astype(int), minlength=31)
    )
    for q in (0, 0.05, 0.33, 0.5, 0.99, 1):
        assert side.quantile(q) == pytest.approx(np.quantile(xs, q), rel=1e-14)
    assert side.mean == pytest.approx(xs.mean(), rel=1e-14)
    assert side.deviation == pytest.approx(xs.std(), rel=1e-14)


# Discrepancies of matrices.


def test_discrepancies_by_hand() -> None:
    """x = 0, 0, 2, 2 and y = 0, 2, 0, 2 become uncorrelated 0, 0, 4, 4 and then equal columns."""
    x, y = ["0", "0", "2", "2"], ["0", "2", "0", "2"]
    wide = ["0", "0", "4", "4"]
    found = compute(
        "covariance_discrepancy", Release(quasi=(column("x", x, wide), column("y", y, y)))
    )
    assert found.value == pytest.approx((3 + 0 + 0) / 3)  # variances 1 -> 4, 1 -> 1, covariance 0
    assert found.details["mean_variation"] == pytest.approx((3 + 0) / 2)  # where it is not 0
    both = Release(quasi=(column("x", x, x), column("y", y, x)))
    assert compute("correlation_discrepancy", both).value == pytest.approx(1.0)
    assert compute("eigenvalue_discrepancy", both).value == pytest.approx(1 + 1)  # 1, 1 -> 2, 0
    constant = Release(quasi=(column("x", x, ["1"] * 4), column("y", y, y)))
    assert compute("covariance_discrepancy", constant).value == pytest.approx(1 / 3)
    assert compute("correlation_discrepancy", constant).value is None
    assert compute("eigenvalue_discrepancy", constant).value is None
    twins = Release(quasi=(column("x", x, x), column("y", x, y)))
    assert compute("eigenvalue_discrepancy", twins).reason == (
        "the original's correlation matrix is singular"
    )


def covariance(one_: Sequence[Any], two: Sequence[Any]) -> Any:
    xs, ys = held(one_, two)
    return central(xs, ys, 1, 1)


def test_microaggregated_francdat(reference: Path) -> None:
    """The pair printed in sdcMicro's guidelines; the formula of its dUtility(method = "eigen")."""
    folder = reference / "data/pairs/sdcmicro"
    before = read_columns(folder / "francdat_num.csv", ",")
    after = read_columns(folder / "francdat_num_microaggregated2.csv", ",")
    names = list(before)
    release = Release(quasi=tuple(column(n, before[n], after[n]) for n in names))
    with mpmath.workdps(30):
        old, new = (
            mpmath.matrix(3, 3) + mpmath.matrix(
                [[covariance(t[p], t[q]) for q in names] for p in names]
            )
            for t in (before, after)
        )  # fmt: skip
        scale = [mpmath.sqrt(old[i, i]) for i in range(3)]
        cells = [(i, j) for i in range(3) for j in range(i, 3)]
        moved = [abs(old[i, j] - new[i, j]) / (scale[i] * scale[j]) for i, j in cells]
        share = [abs(old[i, j] - new[i, j]) / abs(old[i, j]) for i, j in cells]
        r, r2 = (
            mpmath.matrix(
                [[m[i, j] / mpmath.sqrt(m[i, i] * m[j, j]) for j in range(3)] for i in range(3)]
            )
            for m in (old, new)
        )
        turned = [abs(r[i, j] - r2[i, j]) for i, j in cells if i < j]
        e, e2 = (sorted(mpmath.eigsy(m, eigvals_only=True), reverse=True) for m in (r, r2))
        eigen = mpmath.fsum(abs(a - b) / a for a, b in zip(e, e2, strict=True))
    found = compute("covariance_discrepancy", release)
    assert found.value == pytest.approx(float(mpmath.fsum(moved) / 6), rel=1e-12)
    assert found.details["mean_variation"] == pytest.approx(
        float(mpmath.fsum(share) / 6), rel=1e-12
    )
    found = compute("correlation_discrepancy", release)
    assert found.value == pytest.approx(float(mpmath.fsum(turned) / 3), rel=1e-12)
    found = compute("eigenvalue_discrepancy", release)
    assert found.value == pytest.approx(float(eigen), rel=1e-12)
    assert found.value == pytest.approx(1.8673046169, abs=1e-10)
    split = Release(quasi=release.quasi[:2], secrets=release.quasi[2:])
    found = compute("gaussian_information", split)
    assert found.details["original"]["value"] == pytest.approx(2.1721023769, abs=1e-10)
    assert found.details["released"]["value"] == pytest.approx(0.5083529993, abs=1e-10)
    assert found.value == pytest.approx(1.6637493776, abs=1e-10)


# Gaussian information of a release.


def test_gaussian_information_of_a_release() -> None:
    rng = np.random.default_rng(2)
    v = rng.normal(size=500)
    u = 0.8 * v + 0.6 * rng.normal(size=500)
    noisy = u + rng.normal(size=500)
    after: list[Any] = texts(noisy)
    after[:50] = ["*"] * 25 + [DROPPED] * 25
    secret: list[Any] = texts(v)
    secret[60] = None
    shown = [DROPPED if a is DROPPED else s for a, s in zip(after, secret, strict=True)]
    release = Release(quasi=(column("u", texts(u), after),), secrets=(column("v", secret, shown),))
    kept = np.r_[50:60, 61:500]
    rho = [np.corrcoef(x[kept], y[kept])[0, 1] for x, y in ((u, v), (noisy, v), (u, noisy))]
    found = compute("gaussian_information", release)
    assert found.details["records"] == 449
    for name, r in zip(("original", "released", "identity"), rho, strict=True):
        assert found.details[name]["value"] == pytest.approx(gaussian.scalar(r), rel=1e-10)
    same = Release(
        quasi=(column("u", texts(u), texts(u)),), secrets=(column("v", texts(v), texts(v)),)
    )
    found = compute("gaussian_information", same)
    assert found.value == 0.0
    assert found.details["identity"] == {"value": None, "reason": "unbounded"}
    assert compute("gaussian_information", Release(quasi=same.quasi)).reason == "no numeric secret"
    equal = Release(
        quasi=(column("u", texts(u), texts(noisy)),), secrets=(column("v", texts(u), texts(u)),)
    )
    assert compute("gaussian_information", equal).reason == "unbounded"


# Propensity.


def test_pmse_by_hand() -> None:
    """a, a, b, b against a, b, b, b: propensities 1/3 and 3/5, c = 1/2."""
    found = compute("pmse", one("aabb", "abbb"))
    value = Fraction(3, 8) * Fraction(1, 6) ** 2 + Fraction(5, 8) * Fraction(1, 10) ** 2
    assert found.value == pytest.approx(float(value), rel=1e-12)
    assert found.details["expected"] == pytest.approx(1 / 64)  # k = 2, N = 8
    assert found.details["ratio"] == pytest.approx(float(value * 64), rel=1e-12)
    assert found.details["standardized"] == pytest.approx((float(value * 64) - 1) / math.sqrt(2))
    assert found.details["terms"] == 2


def test_suppressed_and_dropped_records() -> None:
    """`*` is told for sure; a and b are left with 1/3 each."""
    found = compute("pmse", one("aabb", "**ab"))
    assert found.value == pytest.approx((2 / 4 + 6 / 36) / 8, rel=1e-12)
    assert found.details["terms"] == 3
    fewer = compute("pmse", one("aabb", ["a", "a", DROPPED, DROPPED]))  # c = 1/3; a 1/2, b 0
    assert fewer.value == pytest.approx((4 / 36 + 2 / 9) / 6, rel=1e-12)
    assert compute("pmse", one("ab", [DROPPED] * 2)).reason == "no record was released"


def test_nothing_and_everything_told_apart() -> None:
    same = compute("pmse", one("abcabc", "abcabc"))
    assert same.value == 0.0
    other = compute("pmse", one("aabb", ["c", "a", "*", "*"]))  # no original has c or *
    assert other.value == pytest.approx((3 / 4 + 3 / 36 + 2 / 4) / 8)
    apart = compute("pmse", Release(quasi=(column("a", "ab", "ba"), column("b", "xy", "zw"))))
    assert apart.columns["b"]["compared"] == "labels"
    rising = texts(range(40))
    moved = compute("pmse", one(rising, texts(np.arange(40) + 100.0)))  # apart as numbers
    assert moved.value == pytest.approx(1 / 4, rel=1e-4)
    assert moved.details["ridge"] > 0


def test_withheld_columns_are_left_out() -> None:
    shown, withheld = column("a", "aabb", "abbb"), column("b", "cdcd", "****")
    found = compute("pmse", Release(quasi=(shown, withheld)))
    assert found.value == compute("pmse", Release(quasi=(shown,))).value
    assert found.columns["b"]["compared"] == "withheld"
    assert compute("pmse", Release(quasi=(withheld,))).reason == "every column is withheld"
    blank = column("c", [None, "x"], [None, None])
    assert compute("pmse", Release(quasi=(blank,))).reason == "every column is withheld"
    missing = column("c", [None, None], [None, None])  # as it was
    assert compute("pmse", Release(quasi=(missing,))).value == 0.0


def test_recoding_alone_is_not_told_apart() -> None:
    values = ["35", "36", "41", "47", "52"] * 20
    decades = [f"{t[0]}0s" for t in values]
    found = compute("pmse", one(values, decades))
    assert found.value == 0.0
    assert found.columns["a"]["compared"] == "labels"
    local = [d if i % 2 else v for i, (d, v) in enumerate(zip(decades, values, strict=True))]
    found = compute("pmse", one(values, local))  # a value became two labels
    assert found.columns["a"]["compared"] == "texts"
    assert found.value is not None
    assert found.value > 0.01
    words = ["x", "y", "z"] * 20
    swapped = compute("pmse", one(words, ["y", "z", "x"] * 20))  # as often as before
    assert swapped.columns["a"]["compared"] == "texts"
    assert swapped.value == pytest.approx(0.0, abs=1e-20)


@pytest.mark.parametrize("seed", range(12))
def test_pmse_against_a_full_design_matrix(seed: int) -> None:
    """Numbers, categories, an aliased copy of a column: Newton on explicit indicators."""
    rng = np.random.default_rng(seed)
    n = 120
    x = rng.normal(size=n).round(2)
    before = [texts(x), rng.choice(list("abc"), n).tolist(), rng.choice(list("de"), n).tolist()]
    after: list[list[Any]] = [texts(x + rng.normal(scale=0.5, size=n)),
                              rng.choice(list("abcc"), n).tolist(),
                              rng.choice(list("dde"), n).tolist()]  # fmt: skip
    before.append([t * 2 for t in before[1]])
    after.append([t * 2 for t in after[1]])
    for col in after:
        col[: 3 * seed] = [DROPPED] * (3 * seed)
    columns = [column(f"c{i}", b, a) for i, (b, a) in enumerate(zip(before, after, strict=True))]
    found = compute("pmse", Release(quasi=tuple(columns)))
    rows = [*zip(*before, strict=True), *(r for r in zip(*after, strict=True) if r[0] != DROPPED)]
    rows = [r for r in rows if r[0] is not DROPPED]
    side = np.r_[np.zeros(n), np.ones(len(rows) - n)]
    design = np.column_stack([
        np.ones(len(rows)), [float(r[0]) for r in rows],
        *([r[1] == t for r in rows] for t in "bc"), [r[2] == "e" for r in rows],
    ])  # fmt: skip
    beta = np.zeros(design.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-design @ beta))
        beta += np.linalg.solve((design.T * (p * (1 - p))) @ design, design.T @ (side - p))
    p, c = 1 / (1 + np.exp(-design @ beta)), side.mean()
    assert found.value == pytest.approx(((p - c) ** 2).mean(), rel=1e-9)
    assert found.details["terms"] == design.shape[1]
    assert found.details["records"] == len(rows)
    unit = (1 - c) ** 2 * c / len(rows)
    assert found.details["expected"] == pytest.approx((design.shape[1] - 1) * unit, rel=1e-12)


@pytest.mark.parametrize(("resampled", "expected"), [(True, 1.0), (False, 2.0)])
def test_pmse_without_a_difference(resampled: bool, expected: float) -> None:
    """The ratio has mean 1 and variance 2/(k-1) where the release is drawn from the original.

    Where both are drawn from a population, both vary: 1/(1-c) times as much, twice for c = 1/2.
    """
    rng = np.random.default_rng(4)
    n, tables = 300, 150
    ratios = []
    for _ in range(tables):
        old, new = rng.choice(4, p=[0.4, 0.3, 0.2, 0.1], size=(2, 3, n))
        if resampled:
            new = old[:, rng.integers(0, n, n)]
        cols = [
            PairedColumn(
                name=f"c{i}",
                original=old[i],
                released=new[i],
                values=list("abcd"),
                labels=list("abcd"),
            )
            for i in range(3)
        ]
        ratios.append(compute("pmse", Release(quasi=tuple(cols))).details["ratio"] / expected)
    assert abs(np.mean(ratios) - 1) < 4 * math.sqrt(2 / 9 / tables)
    assert np.var(ratios) == pytest.approx(2 / 9, rel=0.6)


def test_thinned_records(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    n = 2000
    x = rng.normal(size=n)
    noisy: list[list[Any]] = [texts(x + rng.normal(size=n)) for _ in range(2)]
    for col in noisy:
        col[8::20] = [DROPPED] * 100
    pair = tuple(column(name, texts(x), col) for name, col in zip("xy", noisy, strict=True))
    whole = compute("pmse", Release(quasi=pair))
    monkeypatch.setattr(propensity, "MOST_RECORDS", 500)
    some = compute("pmse", Release(quasi=pair))
    assert (whole.details["thinned"], some.details["thinned"]) == (False, True)
    assert some.details["records"] == 900  # 100 of the 500 were not released
    every = Release(quasi=tuple(
        PairedColumn(
            name=c.name, original=c.original[::4], released=c.released[::4],
            values=c.values, labels=c.labels,
        ) for c in pair
    ))  # fmt: skip
    monkeypatch.undo()
    units = compute("pmse", every)
    assert some.value == pytest.approx(units.value, rel=1e-9)


def test_few_released_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(propensity, "MOST_RECORDS", 5)
    rising = texts(range(100))
    after = [DROPPED] * 97 + rising[97:]
    found = compute("pmse", one(rising, after))
    assert found.details["records"] == 6


@pytest.mark.parametrize("name", KINDS)
def test_narrow_codes(name: str) -> None:
    """Codes of one byte, up to the last they can hold."""
    rng = np.random.default_rng(12)
    codes = rng.integers(0, 128, size=(2, 3, 400))
    codes[:, :, 0] = 127
    labels = [[f"v{i}" for i in range(128)], texts(range(128)), [f"w{i}" for i in range(128)]]
    found = []
    for kind in (np.int8, np.int64):
        cols = [
            PairedColumn(
                name=f"c{i}",
                original=codes[0, i].astype(kind),
                released=codes[1, i].astype(kind),
                values=labels[i],
                labels=labels[(i + 2) % 3] if i == 0 else labels[i],
            )
            for i in range(3)
        ]
        found.append(compute(name, Release(quasi=tuple(cols[:2]), secrets=tuple(cols[2:]))))
    assert found[0] == found[1]


def test_rare_categories_are_merged() -> None:
    many = [f"v{i % 200}" for i in range(1000)]
    found = compute("pmse", one(many, many[1:] + many[:1]))
    assert found.details["terms"] == propensity.MOST_CATEGORIES


def test_linear_equations() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=(30, 30))
    matrix, right = a @ a.T + np.eye(30), rng.normal(size=30)
    assert propensity.solve(matrix, right) == pytest.approx(
        np.linalg.solve(matrix, right), rel=1e-9
    )


# Prediction.


def halves(records: list[tuple[Any, ...]], seed: int) -> list[int]:
    """The half of each record, drawn after all are sorted by what they say."""

    def key(i: int) -> list[tuple[int, str]]:
        return [(0, "") if t is DROPPED else (1, "") if t is None else (2, t) for t in records[i]]

    n = len(records)
    order, fold = sorted(range(n), key=key), [0] * n
    for i in np.random.default_rng([seed, 7]).permutation(n)[: n // 2].tolist():
        fold[order[i]] = 1
    return fold


def foretold(
    known: list[list[Any]], learnt: list[Any], truth: list[Any], fold: list[int]
) -> tuple[float, float]:
    """The least and the greatest accuracy of naive Bayes in fractions: ties go either way."""
    values = sorted(set(truth), key=str)
    low = high = Fraction(0)
    for half in (0, 1):
        train = [i for i, f in enumerate(fold) if f != half and learnt[i] is not DROPPED]
        test = [i for i, f in enumerate(fold) if f == half]
        times = Counter(learnt[i] for i in train)
        cells = [Counter((col[i], learnt[i]) for i in train) for col in known]
        widths = [len({t for t in col if t is not DROPPED}) for col in known]
        for i in test:
            score = {}
            for y in values:
                p = Fraction(times[y] + 1, len(train) + len(values))
                for col, cell, width in zip(known, cells, widths, strict=True):
                    if col[i] is not DROPPED:
                        p *= Fraction(cell[col[i], y] + 1, times[y] + width)
                score[y] = p
            best = [y for y in values if score[y] == max(score.values())]
            low += Fraction(int(best == [truth[i]]), 2 * len(test))
            high += Fraction(int(truth[i] in best), 2 * len(test))
    return float(low), float(high)


@pytest.mark.parametrize("seed", range(8))
def test_prediction_against_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 90 + seed
    secret: list[Any] = rng.choice(["p", "q", "r"], n, p=[0.5, 0.3, 0.2]).tolist()
    secret[5::6] = [None] * len(secret[5::6])
    other = rng.choice(["p", "q", "r", "s"], n).tolist()
    known = [
        [s if s and rng.random() < 0.6 else o for s, o in zip(secret, other, strict=True)],
        rng.choice(["x", "y"], n).tolist(),
    ]
    shown: list[list[Any]] = [[{"p": "pq", "q": "pq"}.get(t, t) for t in known[0]], list(known[1])]
    shown[1][::4] = ["*"] * len(shown[1][::4])
    told: list[Any] = list(secret)
    told[1::7] = ["*"] * len(told[1::7])
    told[2::11] = [None] * len(told[2::11])  # blanked, which is not the same as missing
    for col in (*shown, told):
        col[3::10] = [DROPPED] * len(col[3::10])
    quasi = tuple(column(f"k{i}", b, a) for i, (b, a) in enumerate(zip(known, shown, strict=True)))
    release = Release(quasi=quasi, secrets=(column("s", secret, told),), seed=seed)
    found = compute("prediction", release).columns["s"]
    pairs = ((a, b) for b, a in zip((*known, secret), (*shown, told), strict=True))
    fold = halves(list(zip(*(texts for pair in pairs for texts in pair), strict=True)), seed)
    learnt = [
        DROPPED if t == "*" or (t is None and s is not None) else t
        for t, s in zip(told, secret, strict=True)
    ]
    for name, expected in (
        ("original", foretold(known, secret, secret, fold)),
        ("released", foretold(shown, learnt, secret, fold)),
    ):
        assert expected[0] - 1e-12 <= found[name] <= expected[1] + 1e-12
    assert found["baseline"] == max(Counter(secret).values()) / n
    assert found["loss"] == found["original"] - found["released"]
    assert compute("prediction", release).value == found["loss"]


def test_prediction_of_what_is_kept_and_of_what_is_gone() -> None:
    secret = ["p", "q", "q"] * 40
    kept = Release(quasi=(column("k", secret, secret),), secrets=(column("s", secret, secret),))
    found = compute("prediction", kept)
    assert found.value == 0.0
    assert found.columns["s"] == {
        "original": 1.0, "released": 1.0, "baseline": 2 / 3, "loss": 0.0, "scored": 120,
    }  # fmt: skip
    blank = Release(
        quasi=(column("k", secret, ["*"] * 120),), secrets=(column("s", secret, secret),)
    )
    assert compute("prediction", blank).columns["s"]["released"] == pytest.approx(2 / 3)
    gone = Release(
        quasi=(column("k", secret, [DROPPED] * 120),),
        secrets=(column("s", secret, [DROPPED] * 120),),
    )
    found = compute("prediction", gone)
    assert found.reason == "no record with a value to learn from was released"
    assert found.columns["s"]["original"] == 1.0
    assert compute("prediction", Release(quasi=kept.quasi)).reason == "no column to predict"
    single = Release(quasi=(column("k", ["a"], ["a"]),), secrets=(column("s", ["b"], ["b"]),))
    assert compute("prediction", single).reason == "fewer than two records"
    named = Release(quasi=kept.quasi, secrets=kept.secrets, predicted=("k",))
    assert list(compute("prediction", named).columns) == ["k"]


def test_general_secrets_and_numbers_are_understood() -> None:
    """A general label stands for the value that most often became it; numbers are cut."""
    secret = ["flu", "flu", "cold", "hiv"] * 30
    general = [{"flu": "common", "cold": "common"}.get(t, t) for t in secret]
    release = Release(quasi=(column("k", secret, secret),), secrets=(column("s", secret, general),))
    found = compute("prediction", release).columns["s"]
    assert (found["original"], found["released"]) == (1.0, 0.75)  # a cold is taken for the flu
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    y = x + 0.01 * rng.normal(size=400)
    release = Release(
        quasi=(column("k", texts(x), texts(x)),), secrets=(column("s", texts(y), texts(y)),)
    )
    found = compute("prediction", release).columns["s"]
    assert found["baseline"] == pytest.approx(0.1)
    assert found["original"] == found["released"] > 0.9
    assert prediction.PredictionTarget.from_column(release.secrets[0]).width == 10
    x = np.concatenate((x, -x))
    mirrored = Release(
        quasi=(column("k", texts(x), texts(-x)),),
        secrets=(column("s", texts(np.abs(x)), texts(np.abs(x))),),
    )
    assert compute("prediction", mirrored).value == 0.0  # another category, told as well


def test_too_many_values_to_predict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction, "MOST_VALUES", 3)
    secret = [f"s{i % 5}" for i in range(50)]
    release = Release(quasi=(column("k", secret, secret),), secrets=(column("s", secret, secret),))
    assert compute("prediction", release).reason == "too many values to predict"
    monkeypatch.undo()
    monkeypatch.setattr(prediction, "MOST_SCORED", 10)
    assert compute("prediction", release).columns["s"]["scored"] == 20


# Models.


def spread(before: list[Any], after: list[Any], ladder: Hierarchy | None) -> dict[Any, list[Any]]:
    """The values each label stands for."""
    found: dict[Any, list[Any]] = {}
    for label in {t for t in after if t is not DROPPED and t != "*"}:
        if label in before:
            found[label] = [label]
        elif ladder is not None and any(label in up for up in ladder.labels.values()):
            found[label] = sorted({v for v in before if v and label in ladder.labels[v]})
        elif label is not None:
            found[label] = sorted({v for v, t in zip(before, after, strict=True) if t == label})
    return found


def smoothed(counts: dict[Any, Any], prior: dict[Any, Fraction]) -> dict[Any, Fraction]:
    """Half a record added a cell, as a prior has it."""
    added = Fraction(len(prior), 2)
    whole = sum(counts.values(), Fraction(0)) + added
    return {v: (counts.get(v, Fraction(0)) + added * prior[v]) / whole for v in prior}


def slow_bits(
    columns: list[tuple[list[Any], list[Any], Hierarchy | None]], edges: Any
) -> tuple[list[float], float, float]:
    """Bits of a record: extra of each column alone, and of trees, under original and release."""
    alone: list[tuple[float, float]] = []
    margins: list[list[dict[Any, Fraction]]] = []
    stands = [spread(*c) for c in columns]
    n = len(columns[0][0])
    for (before, after, _), sets in zip(columns, stands, strict=True):
        values = list(dict.fromkeys(before))
        told: dict[Any, Fraction] = defaultdict(Fraction)
        for label in after:
            for v in sets.get(label, ()) if label is not DROPPED else ():
                told[v] += Fraction(1, len(sets[label]))
        alike = {v: Fraction(1, len(values)) for v in values}
        margins.append([smoothed(dict(c), alike) for c in (Counter(before), told)])
        old, new = (-sum(math.log2(m[v]) for v in before) / n for m in margins[-1])
        alone.append((old, new))
    costs = []
    for side in (0, 1):
        bits = [alone[0][side]]
        for i, j in edges[side]:
            (b1, a1, _), (b2, a2, _) = columns[i], columns[j]
            cells: dict[Any, Fraction] = defaultdict(Fraction)
            for r in range(n):
                if side == 0:
                    cells[b1[r], b2[r]] += Fraction(1)
                elif a1[r] is not DROPPED:
                    ones, twos = stands[i].get(a1[r], []), stands[j].get(a2[r], [])
                    for v, w in itertools.product(ones, twos):
                        cells[v, w] += Fraction(1, len(ones) * len(twos))
            values = list(dict.fromkeys(b2))
            rows = {
                v: smoothed({w: cells[v, w] for w in values}, margins[j][side]) for v in set(b1)
            }
            bits.append(-sum(math.log2(rows[b1[r]][b2[r]]) for r in range(n)) / n)
        costs.append(math.fsum(bits))
    return [b - a for a, b in alone], costs[0], costs[1]


def information(xs: Any, ys: Any) -> float:
    both = [(x, y) for x, y in zip(xs, ys, strict=True)
            if all(t is not DROPPED and t != "*" for t in (x, y))]  # fmt: skip
    n, pairs = len(both), Counter(both)
    one_, two = Counter(x for x, _ in both), Counter(y for _, y in both)
    return sum(c / n * math.log2(c * n / (one_[x] * two[y])) for (x, y), c in pairs.items())


def best_tree(weights: dict[frozenset[int], float], size: int) -> float:
    """The greatest weight of all trees, found by trying every set of edges."""
    best = -1.0
    for edges in itertools.combinations(weights, size - 1):
        group = list(range(size))
        for i, j in map(sorted, edges):
            a, b = group[i], group[j]
            group = [b if g == a else g for g in group]
        if len(set(group)) == 1:
            best = max(best, math.fsum(weights[e] for e in edges))
    return best


@pytest.mark.parametrize("seed", range(10))
def test_models_against_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 60
    first = rng.choice(["a1", "a2", "b1", "b2"], n, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    second = [t[0] if rng.random() < 0.7 else "c" for t in first]
    third = [t if rng.random() < 0.5 else None for t in second]
    fourth = rng.choice(["u", "v", "w"], n).tolist()
    ladder = Hierarchy({t: (t[0] + "*", "all", "*") for t in ("a1", "a2", "b1", "b2", "b3")})
    general: list[Any] = [
        t if rng.random() < 0.4 else ladder.at(t, int(rng.integers(1, 4))) for t in first
    ]
    merged = ["ab" if t in "ab" else t for t in second]
    swapped = [fourth[i] for i in rng.permutation(n)]
    after: list[list[Any]] = [general, merged, list(third), swapped]
    for col in after:
        col[: 3 * (seed % 3)] = [DROPPED] * (3 * (seed % 3))
    raw = [(first, general, ladder), (second, merged, None), (third, after[2], None),
           (fourth, swapped, None)]  # fmt: skip
    columns = tuple(column(f"c{i}", *c) for i, c in enumerate(raw))
    found = compute("model_loss", Release(quasi=columns[:2], secrets=columns[2:]))
    names = {f"c{i}": i for i in range(4)}
    shown = [tuple(sorted(names[t] for t in e)) for e in found.details["tree"]["edges"]]
    weights = [{frozenset(p): information(raw[p[0]][s], raw[p[1]][s])
                for p in itertools.combinations(range(4), 2)} for s in (0, 1)]  # fmt: skip
    assert math.fsum(weights[1][frozenset(e)] for e in shown) == pytest.approx(
        best_tree(weights[1], 4), rel=1e-12
    )
    old = models.spanning_tree(np.array([[weights[0].get(frozenset((i, j)), 0.0) for j in range(4)]
                                    for i in range(4)]))  # fmt: skip
    assert math.fsum(weights[0][frozenset(e)] for e in old) == pytest.approx(
        best_tree(weights[0], 4), rel=1e-12
    )
    alone, cost, cost2 = slow_bits(raw, (old, rooted(shown)))
    for i, extra in enumerate(alone):
        assert found.columns[f"c{i}"] == pytest.approx(extra, abs=1e-12)
    assert found.details["independent"]["value"] == pytest.approx(math.fsum(alone), abs=1e-12)
    assert found.details["tree"]["original"] == pytest.approx(cost, rel=1e-12)
    assert found.details["tree"]["released"] == pytest.approx(cost2, rel=1e-12)
    assert found.value == pytest.approx(cost2 - cost, abs=1e-12)


def rooted(edges: list[tuple[int, ...]]) -> list[tuple[int, int]]:
    """A tree's edges away from column 0."""
    known: set[int] = {0}
    out: list[tuple[int, int]] = []
    while len(out) < len(edges):
        for e in edges:
            if len(known & set(e)) == 1:
                parent = next(iter(known & set(e)))
                child = next(iter(set(e) - known))
                out.append((parent, child))
                known.add(child)
    return out


def test_model_of_one_general_label() -> None:
    """a, a, a, b as `ab`: half a record each is expected where 3.5 and 1.5 of 5 were."""
    found = compute("model_loss", one("aaab", ["ab"] * 4))
    assert found.value == pytest.approx(0.75 * math.log2(1.4) + 0.25 * math.log2(0.6))
    assert found.columns["a"] == found.value
    assert compute("model_loss", one("aaab", "aaab")).value == 0.0
    assert compute("model_loss", one("aaab", "****")).value == found.value


def test_what_nobody_shows_together_is_taken_as_independent() -> None:
    """A column that was suppressed costs what it holds, and leaves the others alone."""
    x, y = list("aabbcc") * 10, list("uvuvuu") * 10
    found = compute("model_loss", Release(quasi=(column("x", x, ["*"] * 60), column("y", y, y))))
    tree, alone = found.details["tree"], found.details["independent"]
    assert tree["released"] == pytest.approx(alone["released"], rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_models_fitted_elsewhere_cost_no_less(seed: int) -> None:
    """What half a record a cell can make the original's own model dearer bounds a gain.

    log2(1 + K/(2n)) for a column alone, log2(1 + K·K'/(2n)) for a column given another.
    """
    rng = np.random.default_rng(seed)
    n, width = 80, 4
    cols = []
    for i in range(3):
        before = rng.integers(0, width, n)
        after = np.where(rng.random(n) < 0.2 * seed, rng.integers(0, width, n), before)
        cols.append(column(f"c{i}", [f"v{t}" for t in before], [f"v{t}" for t in after]))
    found = compute("model_loss", Release(quasi=tuple(cols)))
    alone = math.log2(1 + width / (2 * n))
    given = math.log2(1 + width * width / (2 * n))
    assert found.details["independent"]["value"] >= -3 * alone
    assert float(found.value or 0) >= -alone - 2 * given
    for extra in found.columns.values():
        assert extra >= -alone


def test_gaussian_model_against_mpmath() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3)) + 5
    y = x + 0.3 * rng.normal(size=(200, 3)) + 0.1
    release = Release(
        quasi=tuple(column(f"c{i}", texts(x[:, i]), texts(y[:, i])) for i in range(3))
    )
    found = compute("model_loss", release).details["gaussian"]
    with mpmath.workdps(30):
        means = [mpmath.matrix([mpmath.fsum(map(mpmath.mpf, m[:, i])) / 200 for i in range(3)])
                 for m in (x, y)]  # fmt: skip
        s, s2 = (
            mpmath.matrix([[central(list(map(mpmath.mpf, m[:, i])), list(map(mpmath.mpf, m[:, j])),
                                    1, 1) for j in range(3)] for i in range(3)])
            for m in (x, y)
        )  # fmt: skip
        product = s2**-1 * s
        trace = product[0, 0] + product[1, 1] + product[2, 2]
        gap = means[1] - means[0]
        nats = trace - 3 + (gap.T * s2**-1 * gap)[0] + mpmath.log(mpmath.det(s2) / mpmath.det(s))
        exact = float(nats / 2 / mpmath.log(2))
    assert found["value"] == pytest.approx(exact, rel=1e-11)
    assert found["value"] > 0
    same = Release(quasi=tuple(column(f"c{i}", texts(x[:, i]), texts(x[:, i])) for i in range(3)))
    assert compute("model_loss", same).details["gaussian"]["value"] == pytest.approx(0, abs=1e-15)
    flat = Release(quasi=(column("c", texts(x[:, 0]), ["1"] * 200),))
    assert compute("model_loss", flat).details["gaussian"]["reason"] == "unbounded"
    twin = Release(quasi=(column("c", texts(x[:, 0]), texts(y[:, 0])),
                    column("d", texts(x[:, 0]), texts(y[:, 1]))))  # fmt: skip
    reason = compute("model_loss", twin).details["gaussian"]["reason"]
    assert reason == "the original's covariance matrix is singular"


def test_numbers_are_cut_at_the_deciles_of_the_original() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=500)
    edges = models.cuts(column("x", texts(x), texts(x)))
    assert edges == pytest.approx(np.quantile(x, DECILES), rel=1e-13)
    assert models.cuts(column("x", texts(range(20)), texts(range(20)))) is None
    assert models.cuts(column("x", ["a", "1"], ["a", "1"])) is None
    noisy = compute("model_loss", one(texts(x), texts(x + 0.01)))
    far = compute("model_loss", one(texts(x), texts(x + 1)))
    assert 0 <= float(noisy.value or 0) < 0.02 < float(far.value or 0)
    few = compute("model_loss", one(["1", "2", "9"] * 20, ["1.2", "1.9", "7"] * 20))
    assert few.value == 0.0  # the nearest of few numbers


def test_released_numbers_have_the_part_they_lie_in() -> None:
    """0 to 99, cut at 9.9: 9.7 lies below, though 10 is nearer than 9."""
    rising = texts(range(100))
    release = one(rising, ["9.7", "9.95", *rising[2:]])
    (number,) = numeric_columns.numeric_columns(release).columns
    found = models.CategoricalColumn.from_column(release.quasi[0], number)
    assert found.released[:3].tolist() == [0, 1, 0]
    assert found.original.tolist() == [i // 10 for i in range(100)]


def test_a_star_in_the_original_is_as_good_as_missing() -> None:
    rising: list[Any] = [*texts(range(99)), "*"]
    release = Release(quasi=(column("k", rising, rising),), secrets=(column("s", rising, rising),))
    target = prediction.PredictionTarget.from_column(release.secrets[0])
    assert (target.width, target.truth[-1], target.released[-1]) == (11, 10, GONE)
    assert models.CategoricalColumn.from_column(release.quasi[0], None).original[-1] == 10
    for name in KINDS:
        compute(name, release)


def test_rare_labels_share_a_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [f"v{i}" for i in range(8)] * 5
    after = ["first" if v == "v0" else "few" if v < "v3" else "many" for v in values]
    after[:8] = values[:8]
    release = Release(quasi=(column("a", values, after), column("b", values, values)))
    whole = compute("model_loss", release)
    monkeypatch.setattr(models, "MOST_LABELS", 2)
    merged = compute("model_loss", release)
    assert merged.columns["a"] == pytest.approx(whole.columns["a"], abs=1e-12)
    assert float(merged.value or 0) > float(whole.value or 0)


# Everything.


@pytest.mark.parametrize("name", KINDS)
def test_an_unchanged_release_loses_nothing(name: str) -> None:
    rng = np.random.default_rng(10)
    x = rng.normal(size=(150, 2))
    columns = [column("x", texts(x[:, 0]), texts(x[:, 0])), column("w", "abc" * 50, "abc" * 50)]
    secret = column("s", texts(x[:, 1]), texts(x[:, 1]))
    found = compute(name, Release(quasi=tuple(columns), secrets=(secret,)))
    assert found.value == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_anything_goes(seed: int) -> None:
    """Constant columns, one record, everything withheld, missing values: a number or a reason."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 5, 20, 101, 130]))
    gone = rng.random(n) < rng.choice([0, 0.2, 1.0], p=[0.7, 0.25, 0.05])
    made: list[list[Any]] = [
        [str(t) for t in rng.integers(0, 4, n)], texts(rng.normal(size=n).round(2)),
        ["k"] * n, ["3"] * n, rng.choice(["a", "b", "*"], n).tolist(),
        [None if t < 30 else str(t) for t in rng.integers(0, 100, n)], [f"u{i}" for i in range(n)],
    ]  # fmt: skip
    columns = []
    for i in range(int(rng.integers(2, 6))):
        before = made[int(rng.integers(0, len(made)))]
        after: list[Any] = [
            list(before), ["*"] * n, [None] * n, ["7"] * n, [t and t[:1] + "#" for t in before],
            [t if rng.random() < 0.7 else "*" for t in before],
            [before[k] for k in rng.permutation(n)],
        ][int(rng.integers(0, 7))]  # fmt: skip
        after = [DROPPED if g else t for t, g in zip(after, gone, strict=True)]
        columns.append(column(f"c{i}", before, after))
    release = Release(quasi=tuple(columns[1:]), secrets=tuple(columns[:1]))
    with np.errstate(all="raise", under="ignore"):
        for name in KINDS:
            assert compute(name, release) == compute(name, release)
