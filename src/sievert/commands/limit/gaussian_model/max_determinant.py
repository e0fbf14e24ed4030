"""Models 1 and 2 for any cost: the largest determinant of the unknown rest, with a certificate.

In canonical directions the error's covariance T, 0 <= T <= I, costs tr(C·T) and leaves
f(T) = ln det(L + P·T·P), P = diag(rho), L = I - P^2; I(X';Y) = -f/2 nats. Newton's method follows
the centre of the set, in the eigenvectors of T, where the Hessian of its barrier is diagonal.

Certificate: f is concave, so f(T') <= f(T) + tr(G·(T'-T)) with G = P·(L + P·T·P)^-1·P. Hence for
any multiplier m >= 0 no T' within tr(C·T') <= D has f above
f(T) + m·(D - tr(C·T)) + tr((G-m·C)+) - tr((G-m·C)·T), and no T' with f(T') >= F costs less than
tr(C·T) - m·(f(T) - F) - tr((m·G-C)+) + tr((m·G-C)·T).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Floats

TOLERANCE = 1e-10  # nats, or the share of the cost
GROWTH = 12.0
LAST = 1e14  # weight of the objective beyond which rounding dominates
STEPS = 60  # steps of Newton's method for one weight
CENTRED = 0.05
SHARP = 1e-6
ROUNDING = 2.0**-51  # error of eigenvalues, as a share of the trace
GOLDEN = (math.sqrt(5) - 1) / 2
SEARCHES = 60


@dataclass(frozen=True, eq=False)
class Solution:
    """The covariance of the error in canonical directions, and its distance from the optimum."""

    error: Floats
    gap: float  # of f in model 1, of the cost in model 2
    multiplier: float


@dataclass(frozen=True, eq=False, kw_only=True)
class DeterminantProblem:
    """Correlations, their rests 1 - rho^2, the cost; `limit` is for the cost, or f in model 2."""

    rho: Floats
    rest: Floats
    cost: Floats
    limit: float
    cheapest: bool  # model 2

    def unknown(self, error: Floats) -> float:
        """f(T), with all its digits if little is known."""
        left, known = self.values(error)
        terms: list[float] = []
        for q, k in zip(left, known, strict=True):
            if k < 0.5:
                terms.append(math.log1p(-k))
            else:
                terms.append(math.log(q) if q > 0 else -math.inf)
        return math.fsum(terms)

    def values(self, error: Floats) -> tuple[list[float], list[float]]:
        """The eigenvalues of L + P·T·P, and their differences from 1."""
        products = np.outer(self.rho, self.rho)
        known = np.linalg.eigvalsh(products * (np.eye(len(error)) - error))[::-1]
        return np.linalg.eigvalsh(np.diag(self.rest) + products * error).tolist(), known.tolist()

    def slope(self, error: Floats) -> Floats:
        """G, the gradient of f."""
        products = np.outer(self.rho, self.rho)
        return np.asarray(products * np.linalg.inv(np.diag(self.rest) + products * error))

    def spent(self, error: Floats) -> float:
        """tr(C·T)."""
        return float(np.sum(self.cost * error))

    def room(self, error: Floats) -> float:
        """The distance from the limit."""
        if self.cheapest:
            return self.unknown(error) - self.limit
        return self.limit - self.spent(error)

    def certificate(self, error: Floats, near: float) -> tuple[float, float]:
        """The largest possible distance from the optimum, and the multiplier that proves it."""
        slope = self.slope(error)
        room = max(0.0, self.room(error))
        slope_size = float(np.trace(slope))
        cost_size = float(np.trace(self.cost))

        def gap(log: float) -> float:
            m = math.exp(log)
            if self.cheapest:
                h = m * slope - self.cost
                size = m * slope_size + cost_size
            else:
                h = slope - m * self.cost
                size = slope_size + m * cost_size
            return m * room + _excess(h, error) + ROUNDING * size

        return _least(gap, math.log(near))


def solve(problem: DeterminantProblem, tolerance: float = TOLERANCE) -> Solution:
    """Find the T that leaves most unknown within a cost, or leaves enough unknown for least cost.

    Both limits must leave room: a cost above 0 and below the cost of disclosing nothing.
    """
    pairs = np.triu_indices(len(problem.rho))
    scale = float(np.trace(problem.cost)) if problem.cheapest else 1.0
    error = _start(problem)
    weight = 1.0 / scale
    best: Solution | None = None
    while True:
        error, near = _centre(problem, error, weight, pairs)
        edge = _push_to_edge(problem, error)
        gap, multiplier = problem.certificate(edge, near)
        if best is None or gap < best.gap:
            best = Solution(edge, gap, multiplier)
        unit = problem.spent(edge) if problem.cheapest else 1.0
        if best.gap <= tolerance * unit or weight * unit > LAST:
            return _sharpen(problem, best, tolerance * unit)
        weight *= GROWTH


def _start(problem: DeterminantProblem) -> Floats:
    """A multiple of I inside all limits."""
    unit = np.eye(len(problem.rho))
    if problem.cheapest:
        return unit * _bisect(1.0, lambda x: problem.unknown(unit * x) > problem.limit / 2)[1]
    return unit * (0.5 * min(1.0, problem.limit / problem.spent(unit)))


def _centre(
    problem: DeterminantProblem, error: Floats, weight: float, pairs: tuple[NDArray[np.intp], ...]
) -> tuple[Floats, float]:
    """The centre for a weight of the objective, and its multiplier."""
    for _ in range(STEPS):
        step, decrement, slope = _newton(problem, error, weight, pairs)
        length = _length(problem, error, step, weight, slope)
        error = error + length * step
        if decrement < CENTRED or length == 0:
            break
    return error, _pulls(problem, error, weight)[2] / weight


def _pulls(problem: DeterminantProblem, error: Floats, weight: float) -> tuple[float, float, float]:
    """The weights of f and of the cost in the gradient, and the weight of the limit."""
    pull = 1 / problem.room(error)
    # A barrier of f beside that of the limit keeps Newton steps long.
    return (pull + 1, weight, pull) if problem.cheapest else (weight, pull, pull)


def _gradient(
    problem: DeterminantProblem, error: Floats, weight: float, values: Floats, vectors: Floats
) -> Floats:
    up, down, _ = _pulls(problem, error, weight)
    walls = (vectors * (1 / (1 - values) - 1 / values)) @ vectors.T
    return np.asarray(down * problem.cost - up * problem.slope(error) + walls)


def _newton(
    problem: DeterminantProblem, error: Floats, weight: float, pairs: tuple[NDArray[np.intp], ...]
) -> tuple[Floats, float, float]:
    """Newton's step, its length in the Hessian's norm, and the derivative along it."""
    values, vectors = np.linalg.eigh(error)
    up, down, pull = _pulls(problem, error, weight)
    slope = vectors.T @ problem.slope(error) @ vectors
    cost = vectors.T @ problem.cost @ vectors
    pulled = down * cost - up * slope + np.diag(1 / (1 - values) - 1 / values)
    i, j = pairs
    unit = 1 / np.sqrt(1 / (values[i] * values[j]) + 1 / ((1 - values[i]) * (1 - values[j])))
    half = np.where(i == j, math.sqrt(0.5), 1.0)
    whole = np.where(i == j, 1.0, math.sqrt(2.0))
    both = slope[np.ix_(i, i)] * slope[np.ix_(j, j)] + slope[np.ix_(i, j)] * slope[np.ix_(j, i)]
    edge = (slope if problem.cheapest else cost)[pairs] * (pull * whole * unit)
    hessian = both * np.outer(half * unit, half * unit) * up + np.outer(edge, edge)
    hessian[np.diag_indices(len(i))] += 1.0
    gradient = pulled[pairs] * whole * unit
    solution = _solve_linear(hessian, -gradient)
    inner = np.zeros_like(error)
    along = float(gradient @ solution)
    inner[pairs] = solution * unit / whole
    step = vectors @ (np.triu(inner) + np.triu(inner, 1).T) @ vectors.T
    return np.asarray((step + step.T) / 2), math.sqrt(max(0.0, -along)), along


def _solve_linear(hessian: Floats, aim: Floats) -> Floats:
    """x with H·x = b, H symmetric and positive, by elimination.

    Large systems are solved by libraries in threads, whose number changes the rounding.
    """
    left = hessian.copy()
    right = aim.copy()
    for k in range(len(right) - 1):
        row = left[k, k + 1 :]
        factor = row / left[k, k]
        left[k + 1 :, k + 1 :] -= factor[:, None] * row
        right[k + 1 :] -= factor * right[k]
    for k in range(len(right) - 1, -1, -1):
        right[k] = (right[k] - (left[k, k + 1 :] * right[k + 1 :]).sum()) / left[k, k]
    return right


def _length(
    problem: DeterminantProblem, error: Floats, step: Floats, weight: float, along: float
) -> float:
    """The length of a step: inside the limits, and not far beyond the lowest point."""
    length = 1.0
    for _ in range(60):
        there = error + length * step
        values, vectors = np.linalg.eigh(there)
        if values[0] > 0 and values[-1] < 1 and problem.room(there) > 0:
            slope = float(np.sum(_gradient(problem, there, weight, values, vectors) * step))
            if slope <= 0.5 * abs(along):
                return length
        length *= 0.5
    return 0.0


def _push_to_edge(problem: DeterminantProblem, error: Floats) -> Floats:
    """Move a solution to the edge of its limit: more is unknown for the cost, or it is cheaper."""
    if problem.cheapest:
        return _scale_to_limit(problem, *np.linalg.eigh(error))
    whole = float(np.trace(problem.cost))
    spent = problem.spent(error)
    share = max(0.0, problem.limit - spent) / (whole - spent)
    return np.asarray(error + share * (np.eye(len(error)) - error))


def _bisect(high: float, reached: Callable[[float], bool]) -> tuple[float, float]:
    """The neighbouring numbers between 0 and `high` from which on a condition holds."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if reached(middle):
            high = middle
        else:
            low = middle
    return low, high


def _scale_to_limit(problem: DeterminantProblem, values: Floats, vectors: Floats) -> Floats:
    """A multiple of a matrix, cut off at I, on the edge of the limit or nearest to it."""

    def times(factor: float) -> Floats:
        return np.asarray((vectors * np.minimum(1.0, factor * values)) @ vectors.T)

    low, high = _bisect(2.0, lambda x: (problem.room(times(x)) >= 0) == problem.cheapest)
    return times(high if problem.cheapest else low)


def _sharpen(problem: DeterminantProblem, solution: Solution, tolerance: float) -> Solution:
    """Round shares that are nearly 0 or 1, if the solution stays as good."""
    values, vectors = np.linalg.eigh(solution.error)
    sharp = np.where(values < SHARP * values[-1], 0.0, np.where(values > 1 - SHARP, 1.0, values))
    if not problem.rest.all() and (sharp == 0).any():
        return solution
    error = _scale_to_limit(problem, sharp, vectors)
    if problem.room(error) < 0:
        return solution
    gap, multiplier = problem.certificate(error, solution.multiplier)
    return solution if gap > tolerance else Solution(error, gap, multiplier)


def _excess(h: Floats, error: Floats) -> float:
    """tr(H+) - tr(H·T) = tr(H+·(I-T)) + tr(H-·T), never negative."""
    values, vectors = np.linalg.eigh(h)
    inside = np.einsum("ji,jk,ki->i", vectors, error, vectors)
    return math.fsum(
        np.maximum(np.where(values > 0, values * (1 - inside), -values * inside), 0.0).tolist()
    )


def _least(of: Callable[[float], float], near: float) -> tuple[float, float]:
    """The least value of a function with one minimum, and e to its place."""
    low = near - 1.0
    high = near + 1.0
    points = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [of(x) for x in points]
    best = min((of(near), near), *zip(values, points, strict=True))
    for _ in range(SEARCHES):
        if values[0] <= values[1]:
            high = points[1]
            new = high - GOLDEN * (high - low)
            points = [new, points[0]]
            values = [of(new), values[0]]
        else:
            low = points[0]
            new = low + GOLDEN * (high - low)
            points = [points[1], new]
            values = [values[1], of(new)]
        best = min(best, *zip(values, points, strict=True))
    return best[0], math.exp(best[1])
