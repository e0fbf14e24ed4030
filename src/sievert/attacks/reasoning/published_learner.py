"""The learner as Boreale and Corradi print it: E[w_s / sum_z w_z], s being a secret.

w_s = G_s·B_s1·B_s2·... is a product of a Gamma and some Beta variables, all independent: how
frequent the secret is, and how frequent what is known of the victim is among those who have it.
A share is won in a race: if runner s arrives at T_s = E_s/w_s, E_s exponential, the chance that s
is the first is just E[w_s / sum_z w_z]. So, f_s being the density of ln T_s and F_s(y) the chance
that it is later than y,

    E[w_s / sum_z w_z] = integral of f_s·prod_{z != s} F_z,

where f_s has the transform Gamma(1 + it)·E[w_s^(-it)], a product of Gamma functions. It falls like
exp(-pi·t/2), and all functions are analytic in |Im y| < pi/2: sums over a uniform grid are exact to
the last digits at one step for all parameters. Only the range of the grid depends on them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Complex, Floats
from sievert.errors import require
from sievert.numerics.special_functions import gamma_ratios

BetaParameters = Sequence[tuple[float, float]]
Mixture = Sequence[tuple[float, BetaParameters]]

STEP = 0.125  # of the grid: the transform is below 1e-16 beyond pi/STEP
TAIL = 40.0  # minus the logarithm of what may lie outside the grid
LEAST = 1e-3  # a smaller parameter would need too long a grid
CELLS = 1 << 20  # numbers of Gamma functions held at a time
# Where bounds of tails are tried, as shares of the largest power whose mean is finite.
POWERS = (0.25, 0.5, 0.7, 0.8, 0.9, 0.95)


def shares(gammas: Sequence[float], betas: Sequence[Mixture]) -> Floats:
    """E[w_s / sum_z w_z] for every s, to about 1e-13.

    G_s is Gamma(gammas[s]), and betas[s] the mixture of products of Beta variables that it is
    multiplied by: (weight, [(b, c), ...]) each, the weights adding to 1. Parameters are 1e-3 at
    least; c may be smaller, and 0 for a Beta that is 1.

    >>> shares([5.0, 2.0], [[(1.0, [(3.0, 2.0)])], [(0.5, []), (0.5, [])]]).round(12)
    array([0.6, 0.4])
    """
    runners = _runners(gammas, betas)
    # A small parameter has a long tail. Enlarged by 1 it has none; the rest is a simple factor.
    parts = [_lift(a, pairs) for a, mixture in runners for _, pairs in mixture]
    low = min(_end(part.a, part.pairs, -1.0) for part in parts)
    near = _points(low, max(_end(part.a, part.pairs, 1.0) for part in parts))
    high = max(_end(a, pairs, 1.0) for a, mixture in runners for _, pairs in mixture)
    points = max(near, _points(low, high))
    rows = _transforms(parts, _angles(near)) * np.exp(1j * low * _angles(near))
    rows[:, -1] = 0.0
    t = _angles(points)
    transforms = np.zeros((len(runners), len(t)), dtype=np.complex128)
    owners = [(s, weight) for s, (_, mixture) in enumerate(runners) for weight, _ in mixture]
    for (s, weight), row, part in zip(owners, rows, parts, strict=True):
        longer = np.fft.rfft(np.fft.irfft(row, near), points) if points > near else row
        transforms[s] += weight * longer * part.factor(t)
    transforms[:, -1] = 0.0
    density = np.fft.irfft(transforms, points, axis=1) / STEP
    # The integral of a Fourier series: its mean grows, every other term is divided by it.
    transforms[:, 0] = 0.0
    transforms[:, 1:] /= 1j * t[1:]
    waves = np.fft.irfft(transforms, points, axis=1) / STEP
    later = 1.0 - (np.arange(points) / points + (waves - waves[:, :1]))
    return np.asarray(np.maximum(0.0, (density * _others(later)).sum(axis=1) * STEP))


def _runners(gammas: Sequence[float], betas: Sequence[Mixture]) -> list[tuple[float, Mixture]]:
    """Each secret's Gamma and mixture, in plain numbers, without the Betas that are 1."""
    require(len(gammas) == len(betas), "every secret has a Gamma variable and a mixture")
    shapes = np.asarray(gammas, dtype=np.float64)
    require(shapes.ndim == 1 and len(shapes) != 0, "there is one secret at least")
    require(
        np.isfinite(shapes).all() and (shapes > 0).all(),
        "the parameter of a Gamma variable is positive and finite",
    )
    runners: list[tuple[float, Mixture]] = []
    least = shapes.min()
    for a, mixture in zip(shapes.tolist(), betas, strict=True):
        plain = [
            (float(w), [(float(b), float(c)) for b, c in pairs if c != 0])
            for w, pairs in mixture
            if w != 0
        ]
        require(
            abs(math.fsum(w for w, _ in plain) - 1.0) < 1e-9 and all(w >= 0 for w, _ in plain),
            "the weights of a mixture are not negative and add to 1",
        )
        parameters = [pair for _, pairs in plain for pair in pairs]
        require(
            all(0 < b < math.inf and 0 < c < math.inf for b, c in parameters),
            "the parameters of a Beta variable are positive and finite",
        )
        least = min([least, *(b for b, _ in parameters)])
        runners.append((a, plain))
    require(least >= LEAST, f"a parameter is {LEAST:g} at least", hint="simulate smaller ones")
    return runners


@dataclass(frozen=True)
class _Part:
    """A Gamma and Beta variables without parameters below 1, and what they lack of the originals.

    Gamma(a + it)/Gamma(a) is a/(a + it) of what it is for a + 1, and the transform of a Beta(b, c)
    is b·(b + c + it)/((b + c)·(b + it)) of that of Beta(b + 1, c).
    """

    a: float
    pairs: BetaParameters
    small: tuple[float, ...]
    beside: tuple[float, ...]

    def factor(self, t: Floats) -> Any:
        """The missing factor of the transform."""
        factor: Any = 1.0
        for x in self.small:
            factor = factor / (1.0 + 1j * (t / x))
        for x in self.beside:
            factor = factor * (1.0 + 1j * (t / x))
        return factor


def _lift(a: float, pairs: BetaParameters) -> _Part:
    small = [b for b, _ in pairs if b < 1]
    return _Part(
        a=a + 1 if a < 1 else a,
        pairs=[(b + 1 if b < 1 else b, c) for b, c in pairs],
        small=tuple([a, *small] if a < 1 else small),
        beside=tuple(b + c for b, c in pairs if b < 1),
    )


def _points(low: float, high: float) -> int:
    """The number of points of a grid: 2^k or 3·2^k, which transforms like."""
    least = max(64, math.ceil((high - low) / STEP))
    power = 1 << (least - 1).bit_length()
    return power * 3 // 4 if power * 3 // 4 >= least else power


def _angles(points: int) -> Floats:
    """The frequencies of the transform of a function that is known at `points` points."""
    return np.asarray(2.0 * np.pi / (points * STEP) * np.arange(points // 2 + 1))


def _end(a: float, pairs: BetaParameters, side: float) -> float:
    """Where ln T does not come, but for exp(-TAIL): on the left (-1) or on the right (1).

    P(ln T > y) <= exp(-p·y)·E[T^p] for every p, and the same with -p on the left.
    """
    # E[E^-p] is finite for p < 1, E[w^-p] for p less than every parameter.
    most = min([a, 64.0, *(b for b, _ in pairs)]) if side > 0 else 1.0
    bounds = []
    for share in POWERS:
        p = share * most * side
        moment = math.lgamma(1.0 + p) + math.lgamma(a - p) - math.lgamma(a)
        for b, c in pairs:
            moment += math.lgamma(b - p) - math.lgamma(b)
            moment -= math.lgamma(b + c - p) - math.lgamma(b + c)
        bounds.append((moment + TAIL) / abs(p))
    return side * min(bounds)


def _transforms(parts: Sequence[_Part], t: Floats) -> Complex:
    """E[T^(-it)] of every part."""
    betas = {x for part in parts for b, c in part.pairs for x in (b, b + c)}
    numbers = sorted(betas | {1.0} | {part.a for part in parts})
    place = {x: k for k, x in enumerate(numbers)}
    transforms = np.empty((len(parts), len(t)), dtype=np.complex128)
    step = max(1, CELLS // len(place))
    for at in range(0, len(t), step):
        table = gamma_ratios(np.array(numbers), t[at : at + step])
        for k, part in enumerate(parts):
            product = table[place[part.a]] * table[place[1.0]].conj()
            for b, c in part.pairs:
                product = product * (table[place[b]] / table[place[b + c]])
            transforms[k, at : at + step] = product
    return transforms


def _others(later: Floats) -> Floats:
    """For every row, the product of all other rows."""
    one = np.ones((1, later.shape[1]))
    before = np.cumprod(np.concatenate([one, later[:-1]]), axis=0)
    return np.asarray(before * np.cumprod(np.concatenate([one, later[:0:-1]]), axis=0)[::-1])
