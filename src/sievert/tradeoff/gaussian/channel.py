"""A Gaussian release: a linear map of the records and noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.errors import InputError, UsageError


@dataclass(frozen=True, eq=False)
class Channel:
    """X' = mean + matrix·(X - mean) + N(0, noise)."""

    matrix: Floats
    noise: Floats
    mean: Floats

    def covariance(self, cov_x: Floats) -> Floats:
        """The covariance of X'."""
        covariance = self.matrix @ cov_x @ self.matrix.T + self.noise
        return np.asarray((covariance + covariance.T) / 2)

    @property
    def root(self) -> Floats:
        """The symmetric square root of the noise's covariance."""
        values, vectors = np.linalg.eigh(self.noise)
        return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)

    def apply(self, records: Any, seed: int = 0) -> Floats:
        """Records (rows) as they are released; the same seed gives the same release.

        >>> still = Channel(np.eye(1), np.zeros((1, 1)), np.zeros(1))
        >>> still.apply([[1.0], [2.0]]).tolist()
        [[1.0], [2.0]]
        """
        rows = np.asarray(records, dtype=np.float64)
        flat = rows.ndim == 1
        rows = rows[:, None] if flat else rows
        if rows.ndim != 2 or rows.shape[1] != len(self.mean):
            raise UsageError("records have one number for each column of the channel")
        if seed < 0:
            raise UsageError("a seed is a whole number from 0 on")
        if not np.isfinite(rows).all():
            raise InputError("some numbers are missing or infinite", hint="leave these records out")
        still = np.array_equal(self.matrix, np.eye(len(self.mean))) and not self.noise.any()
        if still:
            return np.array(records, dtype=np.float64)
        drawn = np.random.default_rng([seed, 0x6A55]).standard_normal(rows.shape)
        kept = np.einsum("ij,kj->ik", rows - self.mean, self.matrix)
        released = self.mean + (kept + np.einsum("ij,kj->ik", drawn, self.root))
        return np.asarray(released[:, 0] if flat else released)
