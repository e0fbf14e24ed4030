"""Sketches of a thousand random tables: intervals cover as they say, errors are small."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from sievert.arrays import Ints
from sievert.commands.sketch.class_sample import estimate_sample
from sievert.counts.sketch.sample import ClassSample, make_sample
from sievert.counts.sketch.storage import HEADER, SIZE

KINDS = ("zipf 1.1", "zipf 1.3", "uniform", "lognormal", "pareto")


def class_sizes(random: np.random.Generator, kind: str, records: int) -> Ints:
    """The sizes of the classes of a random table."""
    if kind.startswith("zipf"):
        values = random.zipf(float(kind.split()[1]), records)
        return np.asarray(np.unique(values, return_counts=True)[1])
    classes = int(records / random.uniform(0.3, 5))
    if kind == "uniform":
        values = random.integers(0, classes, records)
    else:
        tails = {
            "lognormal": random.lognormal(0, 2, classes),
            "pareto": random.pareto(1.1, classes) + 1,
        }
        weights = tails[kind]
        values = random.choice(classes, records, p=weights / weights.sum())
    sizes = np.bincount(values)
    return sizes[sizes > 0]


def sketch(random: np.random.Generator, sizes: Ints, size: int) -> ClassSample:
    """The sketch of classes of these sizes, whose hashes are as good as drawn.

    Only the smallest are drawn: any classes in any order, with the first of as many sorted uniform
    numbers as there are classes.
    """
    room, number = size - HEADER, len(sizes)
    most = room // 9
    drawn = min(number, most + 1)
    gaps = random.standard_exponential(drawn).cumsum()
    whole = gaps[-1] + random.standard_gamma(number + 1 - drawn)
    hashes = (gaps / whole * 2.0**64).astype(np.uint64)
    own = sizes[random.choice(number, drawn, replace=False)]
    return make_sample(("a",), int(sizes.sum()), (hashes, own), [], most).cut(room)


@pytest.mark.soak
@pytest.mark.parametrize("kind", KINDS)
def test_coverage_of_two_hundred_tables(kind: str) -> None:
    """Of each kind; all of them together are a thousand."""
    random = np.random.default_rng([27, KINDS.index(kind)])
    covered: dict[str, list[bool]] = defaultdict(list)
    for _ in range(200):
        sizes = class_sizes(random, kind, int(10 ** random.uniform(4.7, 5.7)))
        records, size = int(sizes.sum()), int(random.integers(1 << 14, 1 << 16))
        for _ in range(30):
            sample = sketch(random, sizes, size)
            if sample.complete:
                break
            own = estimate_sample(sample.counts, sample.share, records, {})
            for below, each in own.below.items():
                true = int(sizes[sizes < below].sum()) / records
                covered[f"below {below}"].append(each.low <= true <= each.high)
            risk = own.average_risk
            covered["average risk"].append(risk.low <= len(sizes) / records <= risk.high)
    shares = {what: float(np.mean(hits)) for what, hits in covered.items()}
    print(f"{kind}, {len(covered['below 2'])} sketches:", shares)
    assert all(0.94 <= share <= 0.97 for share in shares.values()), shares


@pytest.mark.soak
@pytest.mark.parametrize("exponent", [1.1, 1.3])
def test_error_of_the_unique_share(exponent: float) -> None:
    """At most 1 % at 256 KB for two million records."""
    random = np.random.default_rng(27)
    errors = []
    for _ in range(5):
        sizes = class_sizes(random, f"zipf {exponent}", 2 * 10**6)
        true = np.count_nonzero(sizes == 1) / 2e6
        for _ in range(40):
            sample = sketch(random, sizes, SIZE)
            own = estimate_sample(sample.counts, sample.share, 2 * 10**6, {})
            errors.append(own.below[2].value / true - 1)
    error = float(np.sqrt(np.mean(np.square(errors))))
    print(
        f"zipf {exponent}: {len(sizes):,} classes, {len(sample.counts):,} sampled, rms {error:.4f}"
    )
    assert error <= 0.01
