"""Several chains at once, until they agree or a limit is reached; and how sure their means are."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from sievert.arrays import Floats
from sievert.attacks.reasoning.mcmc import diagnostics
from sievert.errors import ExhaustedError, require

MOST_BATCHES = 16  # of one chain; an even number
MOST_NUMBERS = 2 * 10**8  # in all batches together
RHAT, ESS = 1.01, 400.0  # what the reported numbers must pass
APART, PATIENCE = 1.1, 3  # chains that are still so far apart sit in different modes
SWITCH = 2e-4  # seconds
GROWTH = 1.5  # of the sweeps kept, from one look at them to the next


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class SamplingPlan:
    """How long to sample: chains, sweeps that are forgotten, kept at least, kept at most."""

    chains: int = 4
    burn: int = 500
    least: int = 2000
    most: int = 20_000
    block: int = 5

    @classmethod
    def with_limit(cls, chains: int, most: int, block: int = 5) -> SamplingPlan:
        """With so many sweeps at most, burnt ones included."""
        burn = min(500, most // 5)
        kept = max(20, most - burn)
        block = max(1, min(block, kept // 200))
        return cls(chains, burn, min(2000, kept), kept, block)


class Progress:
    """How far the sampling is, for whoever shows it; and when it must be done."""

    def __init__(self, seconds: float | None = None) -> None:
        self.done, self.total, self.stopped = 0, 1, threading.Event()
        self.seconds, self.started = seconds, time.monotonic()

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


@dataclass
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
        if self.sums and self.filled < self.length:
            self.sums[-1] += beliefs
            self.filled += 1
        else:
            if len(self.sums) == self.most:
                self.sums = [a + b for a, b in zip(self.sums[::2], self.sums[1::2], strict=True)]
                self.length *= 2
            self.sums.append(beliefs)
            self.filled = 1
        self.series.append(quantities)
        sums = self.populations or [np.zeros_like(p) for p in block.populations]
        self.populations = [total + one for total, one in zip(sums, block.populations, strict=True)]
        if keep_draw:
            self.drawn.append(block.drawn)

    def batches(self) -> tuple[list[Floats], list[int]]:
        sums, sizes = list(self.sums), [self.length] * (len(self.sums) - 1) + [self.filled]
        if len(sums) > 1 and sizes[-1] < self.length:  # too short to stand alone
            last, size = sums.pop(), sizes.pop()
            sums[-1], sizes[-1] = sums[-1] + last, sizes[-1] + size
        return sums, sizes


@dataclass(frozen=True)
class ChainSamples:
    """What chains have found: means of the three beliefs by batch, and how they agree."""

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
    agreed: diagnostics.ChainDiagnostics

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
        """After so many sweeps, the mean of a quantity until then, by chain; 50 places at most."""
        block = self.sweeps // self.series.shape[1]
        after, means = diagnostics.so_far(self.series[:, :, quantity])
        return [
            {"sweeps": block * n, "by_chain": each.tolist()}
            for n, each in zip(after, means, strict=True)
        ]


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
    progress.total, progress.done = plan.chains * (plan.burn + plan.most), 0
    every = max(1, plan.chains * plan.least // plan.block // max(1, draws))

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
            record.add(block, quantities(block), few and len(record.series) % every == 0)
            progress.done += plan.block

    with _quick_turns(), ThreadPoolExecutor(max(1, min(threads, plan.chains))) as pool:
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


def _most_batches(plan: SamplingPlan, victims: int, secrets: int) -> int:
    """How many batches of a chain there is room for, an even number."""
    require(
        12 * plan.chains * victims * secrets <= MOST_NUMBERS,
        f"{victims:,} kinds of victims and {secrets:,} secrets are too many to be sampled",
        hint="fewer quasi-identifiers, a coarser secret, or --no-reasoning",
        error=ExhaustedError,
    )
    room = MOST_NUMBERS // (plan.chains * 3 * max(1, victims * secrets))
    return 2 * min(MOST_BATCHES // 2, max(2, room // 2))


@contextmanager
def _quick_turns() -> Iterator[None]:
    """Threads that hand over the interpreter often: a chain leaves it many times in a block."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _samples(records: Sequence[_ChainRecord], plan: SamplingPlan, reported: int) -> ChainSamples:
    batches, weights, chain = [], [], []
    for number, each in enumerate(records):
        sums, sizes = each.batches()
        batches += [s / n for s, n in zip(sums, sizes, strict=True)]
        weights += sizes
        chain += [number] * len(sizes)
    series = np.array([each.series for each in records])
    agreed = diagnostics.diagnose(series)
    rhat = float(agreed.rhat[:reported].max(initial=1.0))
    ess = float(agreed.ess[:reported].min(initial=float(series.shape[0] * series.shape[1])))
    return ChainSamples(
        np.array(batches),
        np.array(weights, dtype=np.float64),
        np.array(chain),
        series,
        tuple(d for each in records for d in each.drawn),
        tuple(
            np.sum(each, axis=0) / (series.shape[0] * series.shape[1])
            for each in zip(*(record.populations for record in records), strict=True)
        ),
        series.shape[1] * plan.block,
        plan.burn,
        rhat,
        ess,
        bool(rhat < RHAT and ess > ESS),
        agreed,
    )
