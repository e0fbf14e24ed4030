"""Mutual information of two columns, and what a release has lost of it, with all beside it."""

from __future__ import annotations

from typing import Any

from sievert.estimators.contingency import ContingencyTable
from sievert.estimators.estimate import InformationEstimate
from sievert.estimators.permutation import ShuffleTest, independent, shuffle_test
from sievert.estimators.trio import Trio


def information(
    first: Any,
    second: Any,
    *,
    shuffles: int = 99,
    seed: int = 0,
    maximum: float | None = None,
    threads: int | None = None,
) -> InformationEstimate:
    """I of two columns of codes, one place a record.

    >>> found = information([0, 0, 1, 1] * 50, [0, 0, 1, 2] * 50)
    >>> found.value, found.maximum, found.p_value, found.noisy
    (1.0, 1.5, 0.01, False)
    """
    return estimate(
        ContingencyTable.from_codes(first, second),
        shuffles=shuffles,
        seed=seed,
        maximum=maximum,
        threads=threads,
    )


def estimate(
    joint: ContingencyTable,
    *,
    shuffles: int = 99,
    seed: int = 0,
    maximum: float | None = None,
    threads: int | None = None,
) -> InformationEstimate:
    """I of two columns that are counted already."""
    p = None
    if shuffles:
        plan = independent(joint)
        p = shuffle_test(joint.counts, joint.information, plan, shuffles, seed, threads=threads).p
    return InformationEstimate(
        joint.information,
        joint.miller_madow,
        joint.chance,
        p,
        joint.records,
        joint.cells,
        joint.entropy if maximum is None else maximum,
        joint.standard_error,
        shuffles,
    )


def lost(
    original: Any,
    released: Any,
    secret: Any,
    *,
    shuffles: int = 99,
    seed: int = 0,
    threads: int | None = None,
    before: ContingencyTable | None = None,
    after: ContingencyTable | None = None,
) -> InformationEstimate:
    """I(X;Y) - I(X';Y) of an original, its release and a secret, as codes, one place a record.

    `before` and `after` are the original and the release counted with the secret, if they are.
    The p-value is for no loss: the secret is shuffled within what was released. `excess` is the
    value less the mean of these shuffles, which is what chance alone makes of no loss.

    >>> found = lost([0, 1, 2, 3] * 50, [0, 0, 1, 1] * 50, [0, 0, 1, 2] * 50)
    >>> found.value, found.maximum, found.p_value
    (0.5, 1.5, 0.01)
    """
    before = ContingencyTable.from_codes(original, secret) if before is None else before
    after = ContingencyTable.from_codes(released, secret) if after is None else after
    trio = Trio.from_codes(original, released, secret, before, after)
    p = excess = None
    if shuffles:
        test = _loss_test(trio, shuffles, seed, threads)
        p, excess = test.p, test.above
        if not trio.plain:  # what the release tells beyond the original: by chance, or by mistake
            excess -= _loss_test(trio.exchanged(), shuffles, seed, threads).above
    value = trio.lost()
    return InformationEstimate(
        value,
        value + (before.excess - after.excess),
        before.chance - after.chance,
        p,
        before.records,
        max(before.cells, after.cells),
        before.information,
        trio.standard_error(),
        shuffles,
        excess=excess,
    )


def _loss_test(trio: Trio, shuffles: int, seed: int, threads: int | None) -> ShuffleTest:
    if trio.fixed and shuffles > 0:
        return ShuffleTest(1.0, 0.0)
    return shuffle_test(trio.counts, trio.hidden, trio.plan(), shuffles, seed, threads=threads)
