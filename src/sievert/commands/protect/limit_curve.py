"""The limit beside the frontier: the least that any release of an alphabet discloses at a loss.

A recoding discloses H(X') = I(X;X') and has lost I(X;Y) - I(X';Y). Model 3 of `sievert limit` finds
the best trade-off of both, also over releases that draw their values at random. Combinations that
tell the same about the secret count as one kind. The alphabet is that of the table. If it has too
many kinds, it is that of the recoding with few enough kinds that has lost the fewest bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.measures.kernel import LN2
from sievert.methods.full_domain import FullDomainRecoding, Search
from sievert.policy import Policy
from sievert.releases.problem import ProtectionProblem
from sievert.tradeoff import Joint
from sievert.tradeoff.bottleneck import BottleneckCurve

MOST_SYMBOLS = 256  # kinds of combinations of an alphabet whose curve is computed
MOST_CELLS = 10**7  # combinations times values of the secret
SLOPES = 12  # releases that the curve goes through
REFINED = 16  # kinds of combinations up to which the curve is exact at the points drawn
DRAWN = 24  # points of the curve
NEAR = 1e-9  # bits


@dataclass(frozen=True, eq=False)
class LimitCurve:
    """The alphabet, what it has lost already, and the curve of its releases."""

    alphabet: FullDomainRecoding
    joint: Ints  # records of each kind of its combinations, by the value of the secret
    information: float  # bits that the table's combinations tell about the secret

    @cached_property
    def _curve(self) -> BottleneckCurve:
        curve = BottleneckCurve(Joint.of(self.joint), slopes=SLOPES)
        if len(self.joint) <= REFINED:
            for lost in self._losses:
                curve.search(None, (self.information - lost) * LN2)
        return curve

    @property
    def _losses(self) -> list[float]:
        return [float(x) for x in np.linspace(self.alphabet.loss, self.information, DRAWN)]

    @cached_property
    def points(self) -> list[tuple[float, float]]:
        """The points of the curve: the bits that are lost, and the fewest that are disclosed."""
        return [(lost, self.least(lost) or 0.0) for lost in self._losses]

    def least(self, lost: float) -> float | None:
        """The fewest bits that a release of the alphabet discloses, if it has lost at most `lost`.

        None if such a release needs a finer alphabet.
        """
        if lost < self.alphabet.loss - NEAR:
            return None
        information = self.information - max(lost, self.alphabet.loss)
        if information <= NEAR:
            return 0.0
        return self._curve.point(None, information * LN2).rate / LN2

    def gap(self, recoding: FullDomainRecoding, disclosed: float, lost: float) -> float | None:
        """The bits that a recoding discloses beyond the least.

        None if the recoding is finer than the alphabet.
        """
        pairs = zip(recoding.levels, self.alphabet.levels, strict=True)
        if any(own < level for own, level in pairs):
            return None
        least = self.least(lost)
        if least is None:
            return None
        return max(0.0, disclosed - least)

    def to_dict(self, quasi: Sequence[str]) -> dict[str, Any]:
        """Make the entry of the JSON; kept columns stand after `quasi`, and have no levels."""
        return {
            "levels": dict(zip(quasi, self.alphabet.levels, strict=False)),
            "combinations": self.alphabet.classes,
            "kinds": len(self.joint),
            "lost": self.alphabet.loss,
            "points": [{"lost": lost, "disclosed": least} for lost, least in self.points],
        }


def limit_curve(problem: ProtectionProblem, policy: Policy) -> LimitCurve | None:
    """Compute the curve of the first secret.

    None without a secret, or if every recoding has too many kinds of combinations.
    """
    cells = problem.search(policy).bits_of
    if cells is None:
        return None
    search = Search(
        columns=problem.columns,
        codes=problem.codes,
        counts=problem.combinations.classes.counts,
        secrets=[replace(cells, rules=())],
        loss="bits",
        secret=cells.name,
    )
    tables: dict[tuple[int, ...], Ints] = {}

    def is_small(recoding: FullDomainRecoding) -> bool:
        if recoding.classes * cells.values > MOST_CELLS:
            return False
        joint = np.zeros((recoding.classes, cells.values), dtype=np.int64)
        owner = recoding.class_numbers(problem.codes)
        np.add.at(joint, (owner[cells.combination], cells.value), cells.counts)
        merged = merge_alike(joint)
        tables[recoding.levels] = merged
        return len(merged) <= MOST_SYMBOLS

    alphabet = search.run(is_small)
    if alphabet is None:
        return None
    joint = tables[alphabet.levels]
    shares = joint.sum(axis=0) / joint.sum()
    prior = -float((shares * np.log2(np.maximum(shares, 1e-300))).sum())
    return LimitCurve(alphabet, joint, prior - search.least_uncertainty[0] / search.sums.records)


def merge_alike(joint: Ints) -> Ints:
    """Merge rows that are multiples of each other: their classes tell the same about the secret.

    >>> merge_alike(np.array([[1, 0], [2, 4], [3, 0], [1, 2]])).tolist()
    [[4, 0], [3, 6]]
    """
    reduced = joint // np.gcd.reduce(joint, axis=1, keepdims=True)
    _, first, kind = np.unique(reduced, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    merged = np.zeros((len(first), joint.shape[1]), dtype=np.int64)
    np.add.at(merged, rank[kind.ravel()], joint)
    return merged
