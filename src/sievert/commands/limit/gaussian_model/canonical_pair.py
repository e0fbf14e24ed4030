"""Two Gaussian vectors, X of key attributes and Y of secrets: canonical form and channels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from sievert.arrays import Floats
from sievert.errors import InputError, require
from sievert.losses.gaussian import DEPENDENT, gaussian_information
from sievert.losses.numeric_columns import LARGEST, correlations


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
        """Release records (rows); the same seed gives the same release.

        >>> still = Channel(np.eye(1), np.zeros((1, 1)), np.zeros(1))
        >>> still.apply([[1.0], [2.0]]).tolist()
        [[1.0], [2.0]]
        """
        rows = np.asarray(records, dtype=np.float64)
        flat = rows.ndim == 1
        rows = rows[:, None] if flat else rows
        require(
            rows.ndim == 2 and rows.shape[1] == len(self.mean),
            "records have one number for each column of the channel",
        )
        require(seed >= 0, "a seed is a whole number from 0 on")
        require(
            np.isfinite(rows).all(),
            "some numbers are missing or infinite",
            hint="leave these records out",
            error=InputError,
        )
        if np.array_equal(self.matrix, np.eye(len(self.mean))) and not self.noise.any():
            return np.array(records, dtype=np.float64)
        drawn = np.random.default_rng([seed, 0x6A55]).standard_normal(rows.shape)
        kept = np.einsum("ij,kj->ik", rows - self.mean, self.matrix)
        released = self.mean + (kept + np.einsum("ij,kj->ik", drawn, self.root))
        return np.asarray(released[:, 0] if flat else released)


INVALID = 1e-9  # rounding error of a correlation beyond 1, or of an eigenvalue below 0
TINY = 1e-12  # smaller correlations contain less than 1e-24 bits
SAME = 1e-13  # correlations that differ by less are equal
MAHALANOBIS = "mahalanobis"

Weights = str | Sequence[float] | Sequence[Sequence[float]] | Floats | None


@dataclass(frozen=True, eq=False)
class Canonical:
    """X - mean = root·U, U white; U_i has correlation rho_i with one white direction of Y."""

    rho: Floats
    rest: Floats  # 1 - rho^2
    root: Floats
    back: Floats  # U = back·(X - mean)


@dataclass(frozen=True, eq=False, kw_only=True)
class Pair:
    """Means of X and covariances of X and Y; `records` is None if no records were counted."""

    mean: Floats
    cov_x: Floats
    cov_y: Floats
    cov_xy: Floats
    records: int | None = None

    @classmethod
    def of(cls, cov_x: Any, cov_y: Any, cov_xy: Any, mean: Any = None) -> Self:
        """Check means and covariances.

        >>> Pair.of([[4.0]], [[1.0]], [[1.6]]).canonical.rho.round(9).tolist()
        [0.8]
        """
        x, y, xy = (np.atleast_2d(np.asarray(m, dtype=np.float64)) for m in (cov_x, cov_y, cov_xy))
        middle = np.zeros(len(x)) if mean is None else np.asarray(mean, np.float64).reshape(-1)
        require(
            x.shape == (len(x),) * 2 and y.shape == (len(y),) * 2 and xy.shape == (len(x), len(y)),
            "the covariances of X, of Y and between them do not fit each other",
        )
        require(len(middle) == len(x), "X has one mean a column")
        require(
            all(np.abs(numbers).max(initial=0) <= LARGEST for numbers in (x, y, xy, middle)),
            "a mean or a covariance is missing or too large",
            error=InputError,
        )
        for numbers in (x, y):
            scale = np.sqrt(np.abs(np.diag(numbers)))
            require(
                not (np.diag(numbers) < 0).any()
                and not (np.abs(numbers - numbers.T) > INVALID * np.outer(scale, scale)).any(),
                "a covariance matrix is symmetric, with no negative variance",
                error=InputError,
            )
        pair = cls(mean=middle, cov_x=(x + x.T) / 2, cov_y=(y + y.T) / 2, cov_xy=xy)
        assert pair.canonical  # no covariance matrix: no canonical form
        return pair

    @classmethod
    def of_records(cls, x: Any, y: Any) -> Self:
        """Compute the covariances of records (rows) of X and Y that have all numbers."""
        one = matrix(x)
        two = matrix(y)
        require(len(one) == len(two), "X and Y have one row a record each")
        joint = np.concatenate((one, two), axis=1)
        joint = joint[~np.isnan(joint).any(axis=1)]
        require(len(joint) >= 2, "fewer than two records have all numbers", error=InputError)
        require(
            np.abs(joint).max() <= LARGEST,
            "some numbers are too large for their squares",
            error=InputError,
        )
        mean, spread, scores = standard(joint)
        both = correlations(list(scores.T)) * np.outer(spread, spread)
        p = one.shape[1]
        pair = cls.of(both[:p, :p], both[p:, p:], both[:p, p:], mean[:p])
        return replace(pair, records=len(joint))

    @cached_property
    def canonical(self) -> Canonical:
        """The canonical directions of X, the most correlated with Y first."""
        white_x, root_x, spread = _white(self.cov_x)
        white_y, _, spread_y = _white(self.cov_y)
        inside = np.outer(spread, spread_y)
        cross = np.divide(self.cov_xy, inside, out=np.zeros_like(inside), where=inside > 0)
        require(
            (self.cov_xy[inside == 0] == 0).all(),
            "a column without variance has a covariance",
            error=InputError,
        )
        turn, singular, _ = np.linalg.svd(white_x.T @ cross @ white_y, full_matrices=True)
        rho = np.zeros(len(turn))
        rho[: len(singular)] = singular
        require(
            rho.max(initial=0) <= 1 + INVALID / 2,
            "these are no covariances: Y would be more than determined by X",
            error=InputError,
        )
        rest = np.maximum(0.0, (1 - rho) * (1 + rho))
        rest[rest <= DEPENDENT] = 0.0
        rho[rest == 0] = 1.0
        rho[rho < TINY] = 0.0
        rest[rho == 0] = 1.0
        unit = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        return Canonical(
            rho=rho,
            rest=rest,
            root=spread[:, None] * (root_x @ turn),
            back=(turn.T @ white_x.T) * unit,
        )

    @cached_property
    def information(self) -> float | None:
        """I(X;Y) in bits; None if it is unbounded."""
        return gaussian_information(self.cov_x, self.cov_y, self.cov_xy)

    def weight_root(self, weights: Weights) -> Floats:
        """R with E(X-X')^T·W·(X-X') = tr(R·T·R^T), T the errors' canonical covariance."""
        root = self.canonical.root
        if isinstance(weights, str):
            require(weights == MAHALANOBIS, f"weights are numbers or {MAHALANOBIS!r}")
            return np.eye(root.shape[1])
        if weights is None:
            return root
        matrix = np.asarray(weights, dtype=np.float64)
        matrix = np.diag(matrix) if matrix.ndim == 1 else matrix
        require(
            matrix.shape == (len(root),) * 2 and np.abs(matrix).max(initial=0) <= LARGEST,
            "weights are one number a column of X, or a square matrix of them",
        )
        scale = np.sqrt(np.maximum(np.diag(matrix), 0.0))
        inside = np.outer(scale, scale)
        unit = np.divide(matrix, inside, out=np.zeros_like(matrix), where=inside > 0)
        values, vectors = np.linalg.eigh((unit + unit.T) / 2)
        require(
            (matrix[inside == 0] == 0).all()
            and not (np.abs(unit - unit.T) > INVALID).any()
            and values[0] >= -INVALID,
            "a matrix of weights is symmetric, with no negative eigenvalue",
        )
        kept = values > DEPENDENT
        return np.asarray((vectors[:, kept] * np.sqrt(values[kept])).T @ (scale[:, None] * root))

    def cost(self, weights: Weights = None) -> Floats:
        """C with E(X-X')^T·W·(X-X') = tr(C·T), T the errors' canonical covariance."""
        root = self.weight_root(weights)
        return np.asarray(root.T @ root)

    def free(self, weights: Weights, canonical: Canonical) -> Floats:
        """The largest of the errors that cost nothing, in these canonical directions."""
        rows = self.weight_root(weights) @ self.canonical.back @ canonical.root
        size = np.sqrt((rows * rows).sum(axis=1))
        rows = rows[size > 0] / size[size > 0, None]
        _, values, vectors = np.linalg.svd(rows, full_matrices=True)
        null = vectors[int((values > DEPENDENT).sum()) :]
        return np.asarray(null.T @ null)

    def align(self, weights: Weights = None) -> tuple[Canonical, Floats]:
        """Canonical directions and the cost in them, diagonal where correlations are equal."""
        canonical = self.canonical
        cost = self.cost(weights)
        turn = np.eye(len(cost))
        start = 0
        for end in range(1, len(cost) + 1):
            if end == len(cost) or canonical.rho[start] - canonical.rho[end] > SAME:
                if end - start > 1:
                    part = slice(start, end)
                    turn[part, part] = np.linalg.eigh(cost[part, part])[1]
                start = end
        turned = turn.T @ cost @ turn
        return Canonical(
            rho=canonical.rho,
            rest=canonical.rest,
            root=canonical.root @ turn,
            back=turn.T @ canonical.back,
        ), np.asarray((turned + turned.T) / 2)

    def channel(self, error: Floats, canonical: Canonical) -> Channel:
        """The channel whose error has this covariance in canonical directions."""
        kept = np.eye(len(error)) - error
        noise = canonical.root @ (error @ kept) @ canonical.root.T
        if np.abs(error).sum() > np.abs(kept).sum():  # exactly 0 if nothing is disclosed
            matrix = canonical.root @ kept @ canonical.back
        else:
            matrix = np.eye(len(self.mean)) - canonical.root @ error @ canonical.back
        return Channel(matrix, np.asarray((noise + noise.T) / 2), self.mean)

    def risk(self, channel: Channel) -> float | None:
        """I(X';Y) in bits of a channel; None if it is unbounded."""
        return gaussian_information(
            channel.covariance(self.cov_x), self.cov_y, channel.matrix @ self.cov_xy
        )

    def distortion(self, channel: Channel, weights: Weights = None) -> float:
        """E(X-X')^T·W·(X-X') of a channel."""
        rest = np.eye(len(self.mean)) - channel.matrix
        error = rest @ self.cov_x @ rest.T + channel.noise
        back = self.canonical.back
        return max(0.0, float(np.sum(self.cost(weights) * (back @ error @ back.T))))


def matrix(columns: Any) -> Floats:
    """Convert columns to a matrix of records as rows; a flat list is one column."""
    records = np.asarray(columns, dtype=np.float64)
    records = records[:, None] if records.ndim == 1 else records
    require(records.ndim == 2 and records.shape[1], "records are rows of one number a column")
    return records


def standard(records: Floats) -> tuple[Floats, Floats, Floats]:
    """Means, standard deviations (with divisor n), and standardised records."""
    mean = np.array([math.fsum(column) / len(records) for column in records.T.tolist()])
    mean = np.where(records.min(axis=0) == records.max(axis=0), records[0], mean)
    apart = records - mean
    size = np.abs(apart).max(axis=0)
    size[size == 0] = 1.0
    apart = apart / size
    spread = np.array([math.sqrt(math.fsum(c) / len(apart)) for c in (apart * apart).T.tolist()])
    scores = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)
    return mean, np.asarray(size * spread), scores


def _white(covariance: Floats) -> tuple[Floats, Floats, Floats]:
    """A, B and s with A^T·(x/s) white and x/s = B·A^T·(x/s), s the standard deviations."""
    spread = np.sqrt(np.diag(covariance))
    inside = np.outer(spread, spread)
    unit = np.divide(covariance, inside, out=np.zeros_like(inside), where=inside > 0)
    values, vectors = np.linalg.eigh(unit)
    most = float(values.max(initial=0))
    require(
        float(values.min(initial=0)) >= -INVALID * max(1.0, most)
        and (covariance[inside == 0] == 0).all(),
        "a covariance matrix has no negative eigenvalue",
        error=InputError,
    )
    independent = values > DEPENDENT * most
    size = np.sqrt(values[independent])
    vectors = vectors[:, independent]
    return vectors / size, vectors * size, spread
