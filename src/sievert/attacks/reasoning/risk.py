"""Who is right about whom: rows at risk, ties, and what the release adds to what is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sievert.arrays import Floats, Ints

SAME = 1e-9  # probabilities that are no further apart are a tie


def normalise(weights: Floats) -> Floats:
    """Each row as probabilities; a row of nothing stays so."""
    totals = weights.sum(axis=-1, keepdims=True)
    shares: Floats = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    return shares


def likeliest(beliefs: Floats, errors: Floats | float = 0.0) -> Ints:
    """The secrets that may be the likeliest of each victim: all that chance does not tell apart."""
    best = beliefs.max(axis=1, keepdims=True, initial=0.0)
    unsure: Floats = np.broadcast_to(errors, beliefs.shape)
    own = np.take_along_axis(unsure, beliefs.argmax(axis=1)[:, None], axis=1)
    # The error of a difference is at most the sum of both.
    tied: Ints = (best - beliefs <= np.maximum(SAME, 2.0 * (unsure + own))) & (best > 0)
    return tied


@dataclass(frozen=True)
class CorrectGuesses:
    """Records whose secret is believed to be the likeliest: all ties, and a share of each tie."""

    literal: int
    fractional: float

    @classmethod
    def count(cls, truth: Ints, chosen: Ints) -> CorrectGuesses:
        """`truth[v, s]` records of victim v have secret s; `chosen` are the likeliest."""
        ties = np.maximum(1, chosen.sum(axis=1, keepdims=True))
        correct = truth[:, : chosen.shape[1]] * chosen
        return cls(int(correct.sum()), float((correct / ties).sum()))


def excess(attacker: float, learner: float, records: int) -> float:
    """GR: the share of records that the attacker has right beyond the learner's."""
    return max(0.0, (attacker - learner) / records)


def ratios(attacker: Floats, learner: Floats, chosen: Ints) -> Floats:
    """Relative risk p_A/p_L of each victim and secret at risk under the attacker; otherwise 0."""
    quotients: Floats = np.divide(
        attacker, learner, out=np.zeros_like(attacker), where=chosen & (learner > 0)
    )
    return quotients
