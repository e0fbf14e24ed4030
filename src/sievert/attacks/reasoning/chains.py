"""Run several chains until they agree or a limit is reached, and diagnose their means.

A series has shape (chains, draws) or (chains, draws, quantities). Every chain is cut in halves, so
that a chain that has not converged disagrees with itself.

Gelman et al., Bayesian Data Analysis, 2013;
Geyer, Practical Markov chain Monte Carlo, 1992; Vehtari et al., Rank-normalization, 2021.
"""

import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sievert.arrays import Floats
from sievert.errors import ExhaustedError, require

MOST_BATCHES = 16  # of one chain; an even number
MOST_NUMBERS = 2 * 10**8  # in all batches together
RHAT = 1.01  # the largest R-hat at which a reported number counts as converged
ESS = 400.0  # the smallest effective sample size at which it does
APART = 1.1  # an R-hat from which on chains are in different modes
PATIENCE = 3  # times the least sweeps, after which chains that are still apart are given up
SWITCH = 2e-4  # seconds
GROWTH = 1.5  # of the sweeps kept, from one look at them to the next
CELLS = 1 << 18  # numbers of a series looked at together
LEAST = 4  # draws of a chain: two in each half
SAME = 1e-12  # differences below this share of a quantity are rounding


@dataclass(frozen=True, kw_only=True)
class Block:
    """Beliefs from a few sweeps of one chain, each an array of victims by secrets.

    `expected` records of the victim's kind, `learned` the population's weight, `printed` the shares
    under one draw of the population. Of each factor, secrets by atoms: `populations` is what is
    expected of the population, `drawn` that one draw.
    """

    expected: Floats
    learned: Floats
    printed: Floats
    populations: tuple[Floats, ...]
    drawn: tuple[Floats, ...] = ()


class MarkovChain(Protocol):
    """One chain."""

    def burn(self, sweeps: int) -> None:
        """Sweeps that are forgotten."""

    def block(self, sweeps: int) -> Block:
        """The next few sweeps."""


@dataclass(frozen=True, kw_only=True)
class SamplingPlan:
    """How long to sample: chains, sweeps that are forgotten, kept at least, kept at most."""

    chains: int = 4
    burn: int = 500
    least: int = 2000
    most: int = 20_000
    block: int = 5

    @classmethod
    def with_limit(cls, chains: int, most: int, block: int = 5) -> "SamplingPlan":
        """Plan at most `most` sweeps, including the ones that are forgotten."""
        burn = min(500, most // 5)
        kept = max(20, most - burn)
        block = max(1, min(block, kept // 200))
        return cls(chains=chains, burn=burn, least=min(2000, kept), most=kept, block=block)


class Progress:
    """How far the sampling has come, and the time by which it must end."""

    def __init__(self, seconds: float | None = None) -> None:
        self.done = 0
        self.total = 1
        self.stopped = threading.Event()
        self.seconds = seconds
        self.started = time.monotonic()

    def check(self) -> bool:
        """Whether to go on; an error where the time is up."""
        require(
            self.seconds is None or time.monotonic() - self.started <= self.seconds,
            "the sampling was not done in time",
            hint="a longer --timeout",
            error=ExhaustedError,
        )
        return not self.stopped.is_set()

    def progress(self) -> float:
        """Per cent of the most that it can take."""
        return min(100.0, 100.0 * self.done / self.total)


@dataclass(kw_only=True)
class _ChainRecord:
    """The blocks of one chain, summed in batches of equal length, and series of some quantities."""

    sums: list[Floats] = field(default_factory=list)
    most: int = MOST_BATCHES  # an even number
    filled: int = 0  # blocks in the last batch
    length: int = 1  # blocks of a full batch
    series: list[Floats] = field(default_factory=list)
    drawn: list[tuple[Floats, ...]] = field(default_factory=list)
    populations: list[Floats] = field(default_factory=list)  # sums

    def add(self, block: Block, quantities: Floats, keep_draw: bool) -> None:
        beliefs = np.stack([block.expected, block.learned, block.printed])
        if not self.sums or self.filled == self.length:
            if len(self.sums) == self.most:
                self.sums = [a + b for a, b in zip(self.sums[::2], self.sums[1::2], strict=True)]
                self.length *= 2
            self.sums.append(np.zeros_like(beliefs))
            self.filled = 0
        self.sums[-1] += beliefs
        self.filled += 1
        self.series.append(quantities)
        sums = self.populations or [np.zeros_like(p) for p in block.populations]
        self.populations = [total + one for total, one in zip(sums, block.populations, strict=True)]
        self.drawn += [block.drawn] if keep_draw else []

    def batches(self) -> tuple[list[Floats], list[int]]:
        sums = list(self.sums)
        sizes = [self.length] * (len(self.sums) - 1) + [self.filled]
        if len(sums) > 1 and sizes[-1] < self.length:  # too short to stand alone
            last = sums.pop()
            size = sizes.pop()
            sums[-1] = sums[-1] + last
            sizes[-1] = sizes[-1] + size
        return sums, sizes


@dataclass(frozen=True, kw_only=True)
class ChainSamples:
    """The means of the three beliefs by batch, and how well the chains agree."""

    batches: Floats  # chains and batches, beliefs, victims, secrets
    weights: Floats  # blocks of each batch
    chain: Floats  # the chain of each batch
    series: Floats  # chains, blocks, quantities
    drawn: tuple[tuple[Floats, ...], ...]
    populations: tuple[Floats, ...]  # means, of each factor secrets by atoms
    sweeps: int
    burnt: int
    rhat: float
    ess: float
    converged: bool
    agreed: "ChainDiagnostics"

    def mean(self, chain: int | None = None) -> Floats:
        """The means of all batches, or of one chain's."""
        chosen = slice(None) if chain is None else self.chain == chain
        weights = self.weights[chosen]
        return np.tensordot(weights / weights.sum(), self.batches[chosen], axes=1)

    @property
    def chains(self) -> int:
        """How many there were."""
        return len(self.series)

    def so_far(self, quantity: int) -> list[dict[str, Any]]:
        """Running means of a quantity by chain, each with its number of sweeps; at most 50."""
        block = self.sweeps // self.series.shape[1]
        places = zip(*running_means(self.series[:, :, quantity]), strict=True)
        return [{"sweeps": block * n, "by_chain": means.tolist()} for n, means in places]


def run(
    start_chain: Callable[[int], MarkovChain],
    quantities: Callable[[Block], Floats],
    reported: int,
    plan: SamplingPlan,
    threads: int,
    progress: Progress,
    draws: int,
    shape: tuple[int, int] = (1, 1),
) -> ChainSamples:
    """Run chains until the first `reported` quantities pass, or as long as is allowed.

    A chain's sweeps depend on its number and nothing else: threads change the time, not the result.
    `draws` is about how many draws of the population are kept; `shape` counts victims and secrets.
    """
    records = [_ChainRecord(most=_most_batches(plan, *shape)) for _ in range(plan.chains)]
    progress.total = plan.chains * (plan.burn + plan.most)
    progress.done = 0
    draw_interval = max(1, plan.chains * plan.least // plan.block // max(1, draws))

    def burn(number: int) -> MarkovChain:
        chain = start_chain(number)
        for _ in range(0, plan.burn, plan.block):
            if not progress.check():
                break
            chain.burn(plan.block)
            progress.done += plan.block
        return chain

    def go_on(chain: MarkovChain, record: _ChainRecord, blocks: int) -> None:
        for _ in range(blocks):
            if not progress.check():
                return
            block = chain.block(plan.block)
            few = len(record.drawn) * plan.chains < 2 * draws
            record.add(block, quantities(block), few and len(record.series) % draw_interval == 0)
            progress.done += plan.block

    turn = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)  # a chain leaves the interpreter many times in a block
    with ThreadPoolExecutor(max(1, min(threads, plan.chains))) as pool:
        try:
            chains = list(pool.map(burn, range(plan.chains)))
            target = plan.least
            while True:
                blocks = max(1, target // plan.block) - len(records[0].series)
                list(pool.map(go_on, chains, records, [blocks] * plan.chains))
                samples = _samples(records, plan, reported)
                hopeless = target >= PATIENCE * plan.least and samples.rhat > APART
                if samples.converged or hopeless or target >= plan.most:
                    return samples
                target = min(plan.most, int(GROWTH * target))
        except BaseException:
            progress.stopped.set()
            raise
        finally:
            sys.setswitchinterval(turn)


def _most_batches(plan: SamplingPlan, victims: int, secrets: int) -> int:
    """The number of batches of a chain for which there is room, an even number."""
    require(
        12 * plan.chains * victims * secrets <= MOST_NUMBERS,
        f"{victims:,} kinds of victims and {secrets:,} secrets are too many to be sampled",
        hint="fewer quasi-identifiers, a coarser secret, or --no-reasoning",
        error=ExhaustedError,
    )
    room = MOST_NUMBERS // (plan.chains * 3 * max(1, victims * secrets))
    return 2 * min(MOST_BATCHES // 2, max(2, room // 2))


def _samples(records: Sequence[_ChainRecord], plan: SamplingPlan, reported: int) -> ChainSamples:
    by_chain = [record.batches() for record in records]
    weights = [size for _, sizes in by_chain for size in sizes]
    series = np.array([each.series for each in records])
    agreed = diagnose(series)
    rhat = float(agreed.rhat[:reported].max(initial=1.0))
    ess = float(agreed.ess[:reported].min(initial=float(series.shape[0] * series.shape[1])))
    return ChainSamples(
        batches=np.array([s / n for each in by_chain for s, n in zip(*each, strict=True)]),
        weights=np.array(weights, dtype=np.float64),
        chain=np.repeat(np.arange(len(records)), [len(sizes) for _, sizes in by_chain]),
        series=series,
        drawn=tuple(d for each in records for d in each.drawn),
        populations=tuple(
            np.sum(each, axis=0) / (series.shape[0] * series.shape[1])
            for each in zip(*(record.populations for record in records), strict=True)
        ),
        sweeps=series.shape[1] * plan.block,
        burnt=plan.burn,
        rhat=rhat,
        ess=ess,
        converged=bool(rhat < RHAT and ess > ESS),
        agreed=agreed,
    )


@dataclass(frozen=True, kw_only=True)
class ChainDiagnostics:
    """How well the mean of each quantity is known.

    `rhat` is near 1 where chains agree; it is infinite where every half of a chain stands still,
    not all at one value. `ess` independent draws would have told as much, and `mcse` is the
    standard error that the mean has from it. A quantity that never changes has 1, all draws and 0.
    """

    mean: Floats
    sd: Floats
    rhat: Floats
    ess: Floats
    mcse: Floats


def diagnose(series: Any) -> ChainDiagnostics:
    """Mean, spread, split R-hat, effective sample size and Monte Carlo error of each quantity.

    >>> found = diagnose([[1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0]])
    >>> float(found.mean), float(found.rhat)
    (1.5, inf)
    """
    numbers = np.asarray(series)
    require(numbers.ndim in (2, 3), "a series has chains, draws and at most one axis more")
    require(numbers.shape[1] >= LEAST, f"a chain has {LEAST} draws at least")
    require(numbers.shape[0] != 0, "a series has one chain at least")
    wide = numbers if numbers.ndim == 3 else numbers[:, :, None]
    chains, draws, quantities = wide.shape
    step = max(1, CELLS // (chains * draws))
    parts = [_diagnostics(wide[:, :, at : at + step]) for at in range(0, quantities, step)]
    results = np.concatenate([np.empty((5, 0)), *parts], axis=1)
    mean, sd, rhat, ess, mcse = results if numbers.ndim == 3 else results[:, 0]
    return ChainDiagnostics(mean=mean, sd=sd, rhat=rhat, ess=ess, mcse=mcse)


def _diagnostics(series: NDArray[Any]) -> Floats:
    """Mean, sd, R-hat, ESS and MCSE of the quantities of some (chains, draws, quantities)."""
    x = np.array(series.transpose(2, 0, 1), dtype=np.float64, order="C")
    require(np.isfinite(x).all(), "a series has finite numbers")
    count, chains, draws = x.shape
    # About its first value a quantity keeps its digits, however small its changes are.
    first = x[:, :1, :1].copy()
    scale = np.abs(x).max(axis=(1, 2))
    x -= first
    half = draws // 2
    halves = np.concatenate((x[:, :, :half], x[:, :, draws - half :]), axis=1)
    still = np.ptp(x.reshape(count, -1), axis=1) <= SAME * scale
    size = float(chains * draws)
    mean = first[:, 0, 0] + x.mean(axis=(1, 2))
    sd = np.where(still, 0.0, x.std(axis=(1, 2), ddof=1))
    means = halves.mean(axis=2)
    within = halves.var(axis=2, ddof=1).mean(axis=1)
    within[(np.ptp(halves, axis=2) <= SAME * scale[:, None]).all(axis=1) & ~still] = 0.0
    spread = within * (half - 1) / half + means.var(axis=1, ddof=1)
    agreed = np.sqrt(spread / np.where(within > 0, within, 1.0))
    agreed = np.where(still, 1.0, np.where(within > 0, agreed, np.inf))
    spread[still] = 1.0
    tau = _times(halves - means[:, :, None], within, spread)
    # Draws that avoid each other may be worth more than independent ones, within a bound.
    worth = np.where(still, size, size / np.maximum(tau, 1.0 / np.log10(size)))
    return np.array([mean, sd, agreed, worth, sd / np.sqrt(worth)])


def _times(x: Floats, within: Floats, spread: Floats) -> Floats:
    """Draws that are worth one independent draw: Geyer's initial monotone positive sequence."""
    half = x.shape[2]
    rho = 1.0 - (within[:, None] - _autocovariances(x)) / spread[:, None]
    rho[:, 0] = 1.0
    pairs = rho[:, 0 : half - half % 2 : 2] + rho[:, 1::2]
    positive = np.logical_and.accumulate(pairs > 0, axis=1)
    smooth = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=1)
    # Of the first pair that is not positive the even lag still counts (antithetic chains).
    length = positive.sum(axis=1)
    after = np.where(2 * length < half, rho[np.arange(len(x)), np.minimum(2 * length, half - 1)], 0)
    return np.asarray(np.maximum(0.0, after) - 1.0 + 2.0 * smooth.sum(axis=1))


def _autocovariances(x: Floats) -> Floats:
    """Means over chains of the autocovariances at all lags; the last axis has the draws."""
    draws = x.shape[2]
    long = 1 << (2 * draws - 1).bit_length()
    spectrum = np.fft.rfft(x, long, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    return np.asarray(np.fft.irfft(power, long, axis=1)[:, :draws] / draws)


def running_means(series: Any, most: int = 50) -> tuple[list[int], Floats]:
    """Of each chain the mean of its first draws, at `most` evenly spread places or fewer.

    How many draws there were at each place, and the means: shape (places, chains, ...).

    >>> after, means = running_means([[1.0, 3.0, 5.0, 7.0]], 2)
    >>> after, means[:, 0].tolist()
    ([2, 4], [2.0, 4.0])
    """
    numbers = np.asarray(series, dtype=np.float64)
    require(
        numbers.ndim >= 2 and most >= 1,
        "a series has chains and draws, and is looked at once at least",
    )
    many = min(most, numbers.shape[1])
    after = [numbers.shape[1] * (i + 1) // many for i in range(many)]
    summed = np.cumsum(numbers, axis=1)
    return after, np.stack([summed[:, n - 1] / n for n in after]) if after else summed[:0]
