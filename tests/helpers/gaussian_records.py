"""Mutual information of records that are taken as Gaussian: for tests of closed forms."""

from __future__ import annotations

import numpy as np

from sievert.arrays import Floats
from sievert.losses.gaussian import information_between, standard
from sievert.losses.numeric_columns import correlations


def from_data(u: Floats, v: Floats) -> float | None:
    """I(U;V) of records (rows) of two vectors, taken as Gaussian, in bits; None: unbounded."""
    if len(u) < 2:
        return None
    joint = correlations([standard(x) for m in (u, v) for x in np.asarray(m, np.float64).T])
    return information_between(joint, range(u.shape[1]), range(u.shape[1], len(joint)))
