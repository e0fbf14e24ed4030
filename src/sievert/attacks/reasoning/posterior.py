"""From a model of a release to beliefs: exact where it can be, by chains otherwise.

The share of one atom of a Dirichlet distribution is a Beta variable: its intervals are exact.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sievert.arrays import Floats, Ints, Text
from sievert.attacks.reasoning import chains
from sievert.attacks.reasoning.chains import Block, ChainSamples, Progress, SamplingPlan
from sievert.attacks.reasoning.horizontal.release import HorizontalModel
from sievert.attacks.reasoning.model import normalise
from sievert.attacks.reasoning.settings import GIBBS, ReasoningSettings
from sievert.attacks.reasoning.vertical.release import VerticalModel
from sievert.errors import require
from sievert.measures.kernel import LN2, total
from sievert.measures.measure import UNBOUNDED, MeasureResult, undefined
from sievert.numerics.special_functions import beta_interval, divergence

WATCHED = 200  # beliefs whose chains are looked at, besides the reported numbers
DRAWS = 1000  # of the population
MOST_HELD = 5 * 10**6  # numbers, in draws that are kept
WORK = 2 * 10**9  # redrawn records of one chain, unless sweeps are given
SAME = 1e-9  # probabilities that are no further apart are a tie
LEVEL = 0.9  # of the intervals of the population
APART = 2.0  # standard errors between secrets that are told apart
Model = HorizontalModel | VerticalModel


@dataclass(frozen=True, kw_only=True)
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
    settings: ReasoningSettings,
    progress: Progress,
    *,
    threads: int = 1,
    draws: bool = True,
) -> PosteriorBeliefs:
    """Solve a model, by sampling in several `threads` if it has to be.

    `truth[v, s]` counts the original's records. Without `draws` an exact solution has no printed
    learner and no draws of the population.
    """
    many = MOST_HELD // max(1, sum(prior.size for prior in model.priors))
    many = int(np.clip(many, 100, DRAWS))
    if model.method == GIBBS:
        return _sample(model, truth, settings, progress, threads=threads, draws=many)
    block = model.exact()
    rng = np.random.default_rng([settings.seed, 0])
    attacker = normalise(block.expected)
    none = np.zeros(model.shape)
    drawn = tuple(model.draws(rng, many)) if draws else ()
    printed = model.published_learner() if draws else none
    error = 0.0
    if printed is None:
        each = (model.printed_under([d[i] for d in drawn], rng) for i in range(many))
        printed, error = _mean_and_error(each)
    return PosteriorBeliefs(
        attacker=attacker,
        learner=normalise(block.learned),
        printed=printed,
        errors=(none, none),
        printed_error=error,
        expected=block.expected,
        populations=block.populations,
        drawn=drawn,
        method=model.method,
    )


def _mean_and_error(samples: Iterable[Floats]) -> tuple[Floats, float]:
    """The running mean of arrays, and the largest standard error of any number in it."""
    mean = np.zeros(1)
    squares = np.zeros(1)
    many = 0
    for many, numbers in enumerate(samples, 1):
        step = numbers - mean
        mean = mean + step / many
        squares = squares + step * (numbers - mean)
    return mean, float(np.sqrt(squares.max(initial=0.0) / (many - 1) / many))


def _sample(
    model: Model,
    truth: Ints | None,
    settings: ReasoningSettings,
    progress: Progress,
    *,
    threads: int,
    draws: int,
) -> PosteriorBeliefs:
    """Sample the beliefs in chains; `draws` is the number of draws of the population."""
    affordable = int(np.clip(WORK // max(1, model.work), 500, 20_000))
    sweeps = affordable if settings.sweeps is None else settings.sweeps
    quantities, reported = _quantities(truth, model.shape, settings.seed)
    samples = chains.run(
        lambda chain: model.walk(np.random.default_rng([settings.seed, 1, chain])),
        quantities,
        reported,
        SamplingPlan.with_limit(settings.chains or model.chains, sweeps),
        threads,
        progress,
        draws,
        model.shape,
    )
    means = samples.mean()
    attacker, learner, printed = normalise(means)
    errors = [_error(samples, kind) for kind in range(len(means))]
    return PosteriorBeliefs(
        attacker=attacker,
        learner=learner,
        printed=printed,
        errors=(errors[0], errors[1]),
        printed_error=float(errors[2].max(initial=0.0)),
        expected=means[0],
        populations=samples.populations,
        drawn=tuple(np.array(each) for each in zip(*samples.drawn, strict=True)),
        method=GIBBS,
        sampled=samples,
    )


def _error(samples: ChainSamples, kind: int) -> Floats:
    """The standard error of beliefs, from batches that are about independent."""
    beliefs = normalise(samples.batches[:, kind])
    share = samples.weights / samples.weights.sum()
    spread = np.tensordot(share, (beliefs - np.tensordot(share, beliefs, axes=1)) ** 2, axes=1)
    return np.asarray(np.sqrt(spread / max(1, len(share) - 1)))


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
        attacker = normalise(block.expected)
        learner = normalise(block.learned)
        reported = [_accuracies(truth, block.expected, each) for each in (attacker, learner)]
        return np.concatenate([*reported, attacker[places]])

    return numbers_of, 2 if truth is None else 4


def _accuracies(truth: Ints | None, expected: Floats, beliefs: Floats) -> list[float]:
    """How often the likeliest secret is right, and the mean belief in the truth.

    Without the truth: how often the likeliest secret is expected to be right.
    """
    if truth is None:
        best = beliefs.argmax(axis=1)
        return [float(expected[np.arange(len(best)), best].sum() / max(expected.sum(), 1e-300))]
    believed = float((truth[:, : beliefs.shape[1]] * beliefs).sum())
    right = CorrectGuesses.count(truth, likeliest(beliefs)).fractional
    return [right / truth.sum(), believed / truth.sum()]


# -- who is right ---------------------------------------------------------------------------------


def likeliest(beliefs: Floats, errors: Floats | float = 0.0, apart: float = APART) -> Ints:
    """The secrets that may be the likeliest of each victim: all that chance does not tell apart."""
    best = beliefs.max(axis=1, keepdims=True, initial=0.0)
    unsure: Floats = np.broadcast_to(errors, beliefs.shape)
    own = np.take_along_axis(unsure, beliefs.argmax(axis=1)[:, None], axis=1)
    # The error of a difference is at most the sum of both.
    return np.asarray((best - beliefs <= np.maximum(SAME, apart * (unsure + own))) & (best > 0))


@dataclass(frozen=True)
class CorrectGuesses:
    """Records whose secret is believed to be the likeliest: all ties, and a share of each tie."""

    literal: int
    fractional: float

    @classmethod
    def count(cls, truth: Ints, chosen: Ints) -> Self:
        """`truth[v, s]` records of victim v have secret s; `chosen` are the likeliest."""
        ties = np.maximum(1, chosen.sum(axis=1, keepdims=True))
        correct = truth[:, : chosen.shape[1]] * chosen
        return cls(int(correct.sum()), float((correct / ties).sum()))

    @classmethod
    def bounds(cls, truth: Ints, chosen: Ints, torn: Ints) -> tuple[Self, Self]:
        """The fewest and the most records that may be right, whatever is the likeliest of the torn.

        Of a torn victim the likeliest secret is one of the chosen ones, or a tie of some of them.
        """
        sure = cls.count(truth[~torn], chosen[~torn])
        records = truth[torn, : chosen.shape[1]]
        least = np.where(chosen[torn], records, truth.sum()).min(axis=1, initial=truth.sum()).sum()
        torn_records = np.where(chosen[torn], records, 0)
        return (
            cls(sure.literal + int(least), sure.fractional + float(least)),
            cls(
                sure.literal + int(torn_records.sum()),
                sure.fractional + float(torn_records.max(axis=1).sum()),
            ),
        )


def undecided(chosen: Ints, errors: Floats) -> Ints:
    """Victims of whom several secrets may be the likeliest, as far as chains can tell."""
    return np.asarray((chosen.sum(axis=1) > 1) & (chosen & (errors > SAME)).any(axis=1))


def excess(attacker: float, learner: float, records: int) -> float:
    """GR: the share of records that the attacker has right beyond the learner's."""
    return max(0.0, (attacker - learner) / records)


# -- what anybody learns of the population, and how near it comes to the truth --------------------


def describe_secrets(
    alpha: Floats, secret_counts: Ints, secrets: Sequence[Text], truth: Ints | None
) -> tuple[dict[Text, dict[str, float]], dict[str, Any]]:
    """The secret's distribution, exactly: means, 90 % intervals; and its distance to the truth."""
    weights = alpha + secret_counts
    whole = float(weights.sum())
    shares = None if truth is None else _shares(truth.sum(axis=0)[: len(secrets)])
    by_secret = {}
    for s, text in enumerate(secrets):
        b = float(weights[s])
        low, high = beta_interval(b, whole - b, LEVEL) if whole > b else (1.0, 1.0)
        by_secret[text] = {"mean": b / whole, "low": low, "high": high, **_truth(shares, s)}
    return by_secret, {} if shares is None else _distance(shares, weights / whole)


def describe_keys(
    mean: Floats,
    drawn: Floats,
    atoms: Mapping[Any, int],
    secrets: Sequence[Text],
    truth: Ints | None,
) -> tuple[dict[Text, dict[Any, dict[str, float]]], dict[str, Any]]:
    """A factor's distribution given each secret, by value; and its distance to the truth.

    `atoms` are the values that are asked about and their atoms; `truth[s, a]` counts the original.
    """
    low, high = np.quantile(drawn, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0], axis=0)
    estimates = {"mean": mean, "low": low, "high": high}
    shares = None if truth is None else np.array([_shares(row) for row in truth])
    by_secret: dict[Text, dict[Any, dict[str, float]]] = {
        text: {
            name: {n: float(each[s, a]) for n, each in estimates.items()} | _truth(shares, (s, a))
            for name, a in atoms.items()
        }
        for s, text in enumerate(secrets)
    }
    if truth is None or shares is None:
        return by_secret, {}
    people = _shares(truth.sum(axis=1))
    each = [_distance(shares[s], mean[s]) if people[s] else {} for s in range(len(secrets))]
    return by_secret, {
        name: _mean(people, [e.get(name) for e in each]) for name in ("total_variation", "bits")
    }


def _shares(counts: Ints) -> Floats:
    return counts / (counts.sum() or 1)


def _truth(shares: Floats | None, place: Any) -> dict[str, float]:
    return {} if shares is None else {"truth": float(shares[place])}


def _distance(truth: Floats, estimate: Floats) -> dict[str, float | None]:
    return {
        "total_variation": total_variation(truth, estimate),
        "bits": bits(truth, estimate).value,
    }


def _mean(weights: Floats, numbers: Sequence[float | None]) -> float | None:
    """The mean over people; None where it is unbounded for some."""
    if any(n is None and w > 0 for n, w in zip(numbers, weights, strict=True)):
        return None
    return float(sum(w * n for n, w in zip(numbers, weights, strict=True) if n is not None))


def total_variation(p: Any, q: Any) -> float:
    """The largest difference of the probabilities that two distributions give to one event.

    >>> total_variation([0.5, 0.5, 0.0], [0.25, 0.25, 0.5])
    0.5
    """
    first, second = _two(p, q)
    return total(np.abs(first - second)) / 2.0


def bits(p: Any, q: Any) -> MeasureResult:
    """The divergence of p from q: what p knows more than q, in bits; unbounded if q rules it out.

    >>> bits([1.0, 0.0], [0.5, 0.5]).value, bits([0.5, 0.5], [1.0, 0.0]).reason
    (1.0, 'unbounded')
    """
    first, second = _two(p, q)
    if ((second == 0) & (first > 0)).any():
        return undefined(UNBOUNDED)
    kept = second > 0
    first = first[kept]
    second = second[kept]
    # q·((1 + u)·ln(1 + u) - u) with u = p/q - 1: every term is positive, small ones keep digits.
    near = first < 1e12 * second
    terms = second * divergence(np.where(near, first - second, 0.0) / second)
    far = first[~near]
    base = second[~near]
    terms[~near] = far * (np.log(far) - np.log(base)) - far + base
    return MeasureResult(total(terms) / LN2)


def _two(p: Any, q: Any) -> tuple[Floats, Floats]:
    first = np.asarray(p, dtype=np.float64)
    second = np.asarray(q, dtype=np.float64)
    require(
        first.ndim == 1 and first.shape == second.shape, "two distributions have the same values"
    )
    require(
        all(
            (np.isfinite(x) & (x >= 0)).all() and abs(total(x) - 1.0) <= 1e-9
            for x in (first, second)
        ),
        "the probabilities of a distribution are not negative and add to 1",
    )
    return first, second
