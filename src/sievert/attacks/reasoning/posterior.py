"""From a model of a release to beliefs: exact where it can be, by chains otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning.horizontal.release import HorizontalModel
from sievert.attacks.reasoning.mcmc import chains
from sievert.attacks.reasoning.mcmc.chains import (
    Block,
    ChainSamples,
    Progress,
    SamplingPlan,
)
from sievert.attacks.reasoning.risk import CorrectGuesses, likeliest, normalise
from sievert.attacks.reasoning.vertical.release import VerticalModel

WATCHED = 200  # beliefs whose chains are looked at, besides the reported numbers
DRAWS = 1000  # of the population
MOST_HELD = 5 * 10**6  # numbers, in draws that are kept
WORK = 2 * 10**9  # redrawn records of one chain, unless sweeps are given
EXPECTED, LEARNED, PRINTED = range(3)
Model = HorizontalModel | VerticalModel


@dataclass(frozen=True)
class PosteriorBeliefs:
    """Beliefs of attacker and learners, victims by secrets, and how sure they are.

    `errors` are standard errors of the attacker's and the learner's beliefs (0 if exact); `drawn`
    are draws of the population, of each factor draws by secrets by atoms; `populations` its means.
    """

    attacker: Floats
    learner: Floats
    printed: Floats
    errors: tuple[Floats, Floats]
    printed_error: float
    expected: Floats
    populations: tuple[Floats, ...]
    drawn: tuple[Floats, ...]
    method: str
    sampled: ChainSamples | None = None

    @property
    def converged(self) -> bool:
        """Whether the reported numbers have settled."""
        return self.sampled is None or self.sampled.converged


def believe(
    model: Model,
    truth: Ints | None,
    *,
    seed: int,
    many_chains: int,
    sweeps: int | None,
    threads: int,
    progress: Progress,
    draws: bool = True,
) -> PosteriorBeliefs:
    """Solve a model, by sampling if it has to be. `truth[v, s]` counts the original's records.

    Without `draws` an exact solution has no printed learner and no draws of the population.
    """
    method = model.method
    if method == "gibbs":
        return _sample(model, truth, seed, many_chains, sweeps, threads, progress)
    block = model.exact()
    populations = block.populations
    attacker, learner = normalise(block.expected), normalise(block.learned)
    none = np.zeros_like(attacker)
    if not draws:
        return PosteriorBeliefs(
            attacker, learner, none, (none, none), 0.0, block.expected, populations, (), method
        )
    rng = np.random.default_rng([seed, 0])
    many = _draws(populations)
    drawn = tuple(model.draws(rng, many))
    printed, error = model.published_learner(), 0.0
    if printed is None:
        shares = _Moments()
        for i in range(many):
            shares.add(model.printed_under([d[i] for d in drawn], rng))
        printed, error = shares.mean, shares.error
    return PosteriorBeliefs(
        attacker, learner, printed, (none, none), error, block.expected, populations, drawn, method
    )


class _Moments:
    """The running mean of arrays, and the largest standard error of any number in it."""

    def __init__(self) -> None:
        self.many = 0

    def add(self, numbers: Floats) -> None:
        self.many += 1
        if self.many == 1:
            self.mean, self.squares = numbers.copy(), np.zeros_like(numbers)
            return
        step = numbers - self.mean
        self.mean += step / self.many
        self.squares += step * (numbers - self.mean)

    @property
    def error(self) -> float:
        if self.many < 2:
            return 0.0
        return float(np.sqrt(self.squares.max(initial=0.0) / (self.many - 1) / self.many))


def _draws(populations: Sequence[Floats]) -> int:
    return int(np.clip(MOST_HELD // max(1, sum(p.size for p in populations)), 100, DRAWS))


def _sample(
    model: Model,
    truth: Ints | None,
    seed: int,
    many_chains: int,
    sweeps: int | None,
    threads: int,
    progress: Progress,
) -> PosteriorBeliefs:
    most = int(np.clip(WORK // max(1, model.work), 500, 20_000)) if sweeps is None else sweeps
    quantities, reported = _quantities(truth, model.shape, seed)
    samples = chains.run(
        lambda chain: model.walk(np.random.default_rng([seed, 1, chain])),
        quantities,
        reported,
        SamplingPlan.with_limit(many_chains, most),
        threads,
        progress,
        min(DRAWS, max(100, MOST_HELD // max(1, sum(p.size for p in model.priors)))),
        model.shape,
    )
    means = samples.mean()
    errors = tuple(_error(samples, kind) for kind in (EXPECTED, LEARNED))
    printed_error = float(_error(samples, PRINTED).max(initial=0.0))
    drawn = tuple(np.array(each) for each in zip(*samples.drawn, strict=True))
    return PosteriorBeliefs(
        normalise(means[EXPECTED]),
        normalise(means[LEARNED]),
        normalise(means[PRINTED]),
        (errors[0], errors[1]),
        printed_error,
        means[EXPECTED],
        samples.populations,
        drawn,
        "gibbs",
        samples,
    )


def _error(samples: ChainSamples, kind: int) -> Floats:
    """The standard error of beliefs, from batches that are about independent."""
    beliefs = normalise(samples.batches[:, kind])
    share = samples.weights / samples.weights.sum()
    spread = np.tensordot(share, (beliefs - np.tensordot(share, beliefs, axes=1)) ** 2, axes=1)
    error: Floats = np.sqrt(spread / max(1, len(share) - 1))
    return error


def _quantities(
    truth: Ints | None, shape: tuple[int, int], seed: int
) -> tuple[Callable[[Block], Floats], int]:
    """What is looked at in every block: the reported numbers first, then some single beliefs."""
    rng = np.random.default_rng([seed, 2])
    victims, secrets = shape
    if truth is None:
        places = rng.integers(victims, size=WATCHED), rng.integers(secrets, size=WATCHED)
    else:
        cells = np.flatnonzero(truth[:, :secrets])
        chosen = rng.choice(cells, WATCHED) if len(cells) else cells
        places = chosen // secrets, chosen % secrets

    def numbers_of(block: Block) -> Floats:
        attacker, learner = normalise(block.expected), normalise(block.learned)
        numbers = []
        for beliefs in (attacker, learner):
            if truth is None:
                numbers.append(_expected_accuracy(block.expected, beliefs))
            else:
                records = truth.sum()
                numbers.append(CorrectGuesses.count(truth, likeliest(beliefs)).fractional / records)
                numbers.append(float((truth[:, :secrets] * beliefs).sum()) / records)
        return np.concatenate([numbers, attacker[places]])

    return numbers_of, 2 if truth is None else 4


def _expected_accuracy(expected: Floats, beliefs: Floats) -> float:
    """How often the likeliest secret is expected to be right."""
    best = beliefs.argmax(axis=1)
    return float(expected[np.arange(len(best)), best].sum() / max(expected.sum(), 1e-300))
