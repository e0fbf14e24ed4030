"""Somebody who reasons about a release: its chains against vectorised ones, and a whole attack.

Horizontal: 14 secrets, groups of 38 people, each released as one of many overlapping windows of 30
values. The rival is the sampler as it is published, written for whole arrays: it draws all shares,
then all records given the shares, group by group; it also runs with what our chains are given,
groups of the same window merged, and compiled. Vertical: groups of 4 people and as many different
secrets, with one column or seven; the rival draws all shares, then offers swaps in all groups at
once. Chains that move more slowly need more sweeps, so that beside the time of a sweep there are
effective draws a second.

    python -m bench reasoning [--quick]
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from bench.common import (
    BenchError,
    Options,
    Ratio,
    Result,
    Sample,
    digits,
    interleave,
    print_verdict,
    table,
    timed,
    verdict,
)
from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning import chains
from sievert.attacks.reasoning.horizontal.gibbs import UrnSampler
from sievert.attacks.reasoning.model import Buckets, Factor
from sievert.attacks.reasoning.vertical.gibbs import GroupSampler, slots
from sievert.numerics.acceleration import compile_loops

GOALS = {5_800: 2.0, 100_000: 5.0, 1_000_000: 10.0}
KEYS = {5_800: 1_205, 100_000: 5_000, 1_000_000: 20_000}
EXPONENT = 1.1  # of the time of a sweep against rows
SECRETS, WINDOW, PEOPLE, GROUP = 14, 30, 38, 4
COLUMNS = (2, 5, 7, 16, 41, 8, 2)  # values of each
TURN = 2 * 10**5  # rows that a turn redraws at least
CHAINS, BURNT, KEPT, WATCHED = 4, 100, 500, 200
FEW_KEPT = 4_000  # of a release of eight records
ATTACKED, CLASS = 5_692, 10  # records, and the least of a class


# -- releases ---------------------------------------------------------------------------------


def windows(rows: int, *, merged: bool = True) -> Factor:
    """Groups of people released as windows of values; or those with the same window as one."""
    rng = np.random.default_rng([1, rows])
    groups, keys = -(-rows // PEOPLE), KEYS[rows]
    held = rng.multinomial(PEOPLE, rng.dirichlet(np.full(SECRETS, 3.0)), groups)
    first, label = rng.integers(0, keys - WINDOW + 1, groups), np.arange(groups)
    if merged:
        first, label = np.unique(first, return_inverse=True)
    counts = np.zeros((len(first), SECRETS), dtype=np.int64)
    np.add.at(counts, label.ravel(), held)
    members = (first[:, None] + np.arange(WINDOW)).ravel()
    starts = WINDOW * np.arange(len(first) + 1)
    return Factor(prior=np.ones((SECRETS, keys)), starts=starts, members=members, counts=counts)


def published() -> Factor:
    """The nationalities of the published example of eight records."""
    sets, held = [[0, 1], [1], [1, 2], [0, 3]], [[0, 1], [1, 2], [3, 4], [1, 0]]
    counts = np.zeros((4, 5), dtype=np.int64)
    for label, secrets in enumerate(held):
        counts[label, secrets] += 1
    starts = np.cumsum([0, *map(len, sets)])
    return Factor(prior=np.ones((5, 4)), starts=starts, members=np.concatenate(sets), counts=counts)


def published_groups() -> Buckets:
    """The same in groups of two people and their secrets."""
    atoms, secrets = [1, 0, 1, 1, 1, 2, 0, 3], [0, 1, 1, 2, 3, 4, 0, 1]
    starts = 2 * np.arange(5)
    return Buckets(
        priors=(np.ones((5, 4)),),
        atoms=np.array(atoms)[:, None],
        secrets=np.array(secrets),
        starts=starts,
    )


def buckets(rows: int, columns: tuple[int, ...]) -> Buckets:
    """Groups of 4 people and 4 different secrets."""
    rng = np.random.default_rng([2, rows, len(columns)])
    groups = rows // GROUP
    atoms = np.stack([rng.integers(0, size, GROUP * groups) for size in columns], axis=1)
    secrets = np.argsort(rng.random((groups, SECRETS)), axis=1)[:, :GROUP]
    priors = tuple(np.ones((SECRETS, size)) for size in columns)
    starts = GROUP * np.arange(groups + 1)
    return Buckets(
        priors=priors, atoms=atoms, secrets=np.sort(secrets, axis=1).ravel(), starts=starts
    )


# -- rivals -----------------------------------------------------------------------------------


class Flat:
    """The published sampler with whole arrays: `sums` of the shares within labels, by cell."""

    def __init__(self, factor: Factor, rng: np.random.Generator) -> None:
        self.prior, self.rng = factor.prior, rng
        secrets, labels = np.nonzero(factor.counts.T)
        sizes = np.diff(factor.starts)[labels]
        self.records = factor.counts.T[secrets, labels]
        self.starts = np.cumsum(sizes) - sizes
        self.lasts = self.starts + sizes - 1
        self.cell = np.repeat(np.arange(len(sizes)), sizes)
        inside = np.arange(len(self.cell)) - self.starts[self.cell]
        members = factor.members[factor.starts[labels][self.cell] + inside]
        self.pairs = secrets[self.cell] * self.prior.shape[1] + members
        self.owner = np.repeat(np.arange(len(sizes)), self.records)
        self.low, self.high = self.starts[self.owner], self.lasts[self.owner]
        self.delta = np.zeros(self.prior.shape)
        self.sums = np.zeros(len(self.pairs))
        self.sweep()
        self.read()

    def sweep(self, times: int = 1) -> None:
        """Draw all shares, then all records."""
        for _ in range(times):
            theta = self.rng.standard_gamma(self.prior + self.delta).ravel()
            shares = theta.take(self.pairs)
            shares *= (1.0 / np.add.reduceat(shares, self.starts)).take(self.cell)
            self.sums += shares
            heaps = np.cumsum(shares, out=shares)
            spots = self.rng.random(len(self.owner))
            spots += self.owner
            found = np.searchsorted(heaps, spots, side="right")
            np.clip(found, self.low, self.high, out=found)
            drawn = np.bincount(self.pairs.take(found), minlength=self.prior.size)
            self.delta = drawn.reshape(self.prior.shape).astype(np.float64)

    def read(self) -> Floats:
        """The sums since the last reading, which are records of an atom if times the records."""
        found = np.bincount(self.pairs, self.sums * self.records[self.cell], self.prior.size)
        self.sums[:] = 0.0
        return np.asarray(found.reshape(self.prior.shape), np.float64)


def given_shares(
    theta: Floats,
    pairs: Ints,
    starts: Ints,
    lasts: Ints,
    records: Ints,
    sums: Floats,
    delta: Floats,
    heaps: Floats,
    rng: Any,
) -> None:
    """The second half of a sweep of the published sampler, cell by cell."""
    delta[:] = 0.0
    for cell in range(len(starts)):
        first, size = starts[cell], lasts[cell] + 1 - starts[cell]
        heap = 0.0
        for j in range(size):
            heap += theta[pairs[first + j]]
            heaps[j] = heap
        share = 1.0 / heap
        for j in range(size):
            sums[first + j] += theta[pairs[first + j]] * share
        for _ in range(records[cell]):
            spot = rng.random() * heap
            low, high = 0, size - 1
            while low < high:
                middle = (low + high) >> 1
                if heaps[middle] > spot:
                    high = middle
                else:
                    low = middle + 1
            delta[pairs[first + low]] += 1.0


@cache
def _compiled() -> Callable[..., Any]:
    found = compile_loops(given_shares)
    if found is None:
        raise BenchError("nothing can be compiled here; install sievert[fast]")
    return found[0]


class Cells(Flat):
    """The same, compiled."""

    def sweep(self, times: int = 1) -> None:
        """Draw all shares, then all records."""
        heaps = np.empty(self.prior.shape[1])
        for _ in range(times):
            theta = self.rng.standard_gamma(self.prior + self.delta).ravel()
            state = self.pairs, self.starts, self.lasts, self.records, self.sums
            _compiled()(theta, *state, self.delta.ravel(), heaps, self.rng)


class Pairs:
    """Swaps with whole arrays: given all shares, halves of every group swap their secrets or not.

    `sums` are the chances of each of its group's secrets that a person had.
    """

    def __init__(self, release: Buckets, rng: np.random.Generator) -> None:
        self.priors, self.rng, self.listed = release.priors, rng, release.secrets
        self.atoms = np.ascontiguousarray(release.atoms.T)
        self.first = np.repeat(release.starts[:-1], np.diff(release.starts))
        self.kind = np.arange(len(self.listed)) - self.first
        self.group = int(np.diff(release.starts)[0])
        self.sums = np.zeros(len(self.listed) * self.group)
        self.counts = self._counts()

    def _counts(self) -> list[Ints]:
        held = self.listed[self.first + self.kind]
        return [
            np.bincount(held * prior.shape[1] + atoms, minlength=prior.size)
            for prior, atoms in zip(self.priors, self.atoms, strict=True)
        ]

    def sweep(self, times: int = 1) -> None:
        """Draw all shares, then offer everybody a swap, twice."""
        everybody = np.arange(len(self.listed)).reshape(-1, self.group)
        for _ in range(times):
            logs = [
                np.log(self.rng.standard_gamma(prior.ravel() + counts))
                for prior, counts in zip(self.priors, self.counts, strict=True)
            ]
            for _ in range(2):
                people = everybody[:, self.rng.permutation(self.group)]
                one, two = people[:, ::2].ravel(), people[:, 1::2].ravel()
                j, k, first = self.kind[one], self.kind[two], self.first[one]
                s, z = self.listed[first + j], self.listed[first + k]
                gain = np.zeros(len(one))
                for log, prior, atoms in zip(logs, self.priors, self.atoms, strict=True):
                    size, c, d = prior.shape[1], atoms[one], atoms[two]
                    gain += log[s * size + d] + log[z * size + c]
                    gain -= log[s * size + c] + log[z * size + d]
                chance = 0.5 + 0.5 * np.tanh(0.5 * gain)
                self.sums[one * self.group + k] += chance
                self.sums[one * self.group + j] += 1.0 - chance
                self.sums[two * self.group + j] += chance
                self.sums[two * self.group + k] += 1.0 - chance
                done = self.rng.random(len(one)) < chance
                self.kind[one], self.kind[two] = np.where(done, k, j), np.where(done, j, k)
            self.counts = self._counts()

    def read(self) -> Floats:
        """The sums since the last reading."""
        found = self.sums.copy()
        self.sums[:] = 0.0
        return found


# -- measures ---------------------------------------------------------------------------------


def raced(
    chains: dict[str, Any], rows: int, rounds: int, slow: tuple[str, ...]
) -> dict[str, list[Sample]]:
    """Seconds of a sweep of each, in turns; `slow` ones make fewer sweeps a turn."""
    times = {name: max(1, TURN // rows // (4 if name in slow else 1)) for name in chains}
    actions = {name: partial(chain.sweep, times[name]) for name, chain in chains.items()}
    return {
        name: [Sample(s.wall / times[name], s.user / times[name], s.system / times[name])
               for s in samples]
        for name, samples in interleave(actions, rounds).items()
    }  # fmt: skip


def milliseconds(samples: list[Sample]) -> float:
    """The median of the turns."""
    return 1e3 * statistics.median(s.wall for s in samples)


def walls(samples: list[Sample]) -> list[float]:
    """Wall seconds of each turn."""
    return [s.wall for s in samples]


def exponent(rows: list[int], times: list[float]) -> float:
    """The power of rows with which times grow."""
    return float(np.polyfit(np.log(rows), np.log(times), 1)[0])


def coarser(rows: int, rounds: int) -> Result:
    """Horizontal: a sweep of ours, of the rival, and of the rival compiled."""
    factor, every = windows(rows), range(SECRETS)
    chains = {
        "urns": UrnSampler(factor, every, np.random.default_rng(1)),
        "arrays": Flat(windows(rows, merged=False), np.random.default_rng(1)),
        "merged": Flat(factor, np.random.default_rng(1)),
        "compiled": Cells(factor, np.random.default_rng(1)),
    }
    samples = raced(chains, rows, rounds, ("arrays", "merged"))
    return {
        "rows": int(factor.counts.sum()), "cells": int((factor.counts > 0).sum()),
        "samples": samples, "ms": {name: milliseconds(each) for name, each in samples.items()},
        "ratio": Ratio.of(walls(samples["arrays"]), walls(samples["urns"])),
        "merged": Ratio.of(walls(samples["merged"]), walls(samples["urns"])),
        "compiled": Ratio.of(walls(samples["compiled"]), walls(samples["urns"])),
    }  # fmt: skip


def unlinked(rows: int, columns: tuple[int, ...], rounds: int) -> Result:
    """Vertical: a sweep of ours, which redraws every group, and of swaps."""
    release = buckets(rows, columns)
    chains = {
        "redrawn": GroupSampler(release, np.random.default_rng(1)),
        "swaps": GroupSampler(release, np.random.default_rng(1), whole=1),
        "arrays": Pairs(release, np.random.default_rng(1)),
    }
    samples = raced(chains, rows, rounds, ("arrays",))
    return {
        "rows": len(release.secrets), "factors": len(columns), "samples": samples,
        "ms": {name: milliseconds(each) for name, each in samples.items()},
        "ratio": Ratio.of(walls(samples["arrays"]), walls(samples["redrawn"])),
    }  # fmt: skip


def series(chain: Any, read: Callable[[Any], Floats], watched: Ints, kept: int) -> Floats:
    """What a chain believes of some pairs of secret and atom, after every sweep."""
    chain.sweep(BURNT)
    chain.read()
    found = np.empty((kept, len(watched)))
    for i in range(kept):
        chain.sweep()
        expected = read(chain)
        shares = expected / np.maximum(expected.sum(axis=0), 1e-300)
        found[i] = shares.ravel()[watched]
    return found


def effective(
    name: str,
    rows: int,
    makers: dict[str, Callable[[int], Any]],
    reads: dict[str, Callable[[Any], Floats]],
    kept: int,
    rounds: int,
) -> Result:
    """Effective draws of the attacker's beliefs, of all sweeps and a second."""
    rival = next(reversed(makers))
    first = makers[rival](99)
    first.sweep(2)
    possible = np.flatnonzero(reads[rival](first) > 0)
    watched = np.random.default_rng(6).permutation(possible)[:WATCHED]
    samples = raced({n: make(9) for n, make in makers.items()}, max(rows, TURN // 500), rounds, ())
    cells, means = {}, []
    for each, make in makers.items():
        held = [series(make(n), reads[each], watched, kept) for n in range(CHAINS)]
        found = chains.diagnose(np.array(held))
        moving = found.sd > 0
        middle = float(np.median(found.ess[moving]))
        seconds = CHAINS * kept * statistics.median(walls(samples[each]))
        cells[each] = {
            "median": middle, "least": float(found.ess[moving].min()),
            "rhat": float(found.rhat[moving].max()), "a_second": middle / seconds,
        }  # fmt: skip
        means.append(found.mean)
    apart = max(float(np.abs(mean - means[0]).max()) for mean in means)
    return {"name": name, "draws": CHAINS * kept, "found": cells, "apart": apart}


def effective_urns(name: str, factor: Factor, kept: int, rounds: int) -> Result:
    """Of a horizontal release."""
    records, every = factor.counts.sum(axis=0), range(factor.counts.shape[1])
    weights = (factor.prior.sum(axis=1) + records)[:, None]
    return effective(
        name,
        int(records.sum()),
        {
            "urns": lambda n: UrnSampler(factor, every, np.random.default_rng([3, n])),
            "compiled": lambda n: Cells(factor, np.random.default_rng([4, n])),
            "arrays": lambda n: Flat(factor, np.random.default_rng([5, n])),
        },
        {
            "urns": lambda chain: chain.read()[0] * weights - factor.prior,
            "compiled": Flat.read,
            "arrays": Flat.read,
        },
        kept,
        rounds,
    )


def effective_swaps(name: str, release: Buckets, kept: int, rounds: int) -> Result:
    """Of a vertical release of one column, whose groups have different secrets."""
    shape = release.priors[0].shape
    held = slots(release)
    cells = held.secrets * shape[1] + release.atoms[held.rows, 0]

    def read(chain: Any) -> Floats:
        found = np.bincount(cells, chain.read(), shape[0] * shape[1]).reshape(shape)
        return np.asarray(found, np.float64)

    return effective(
        name,
        len(release.secrets),
        {
            "redrawn": lambda n: GroupSampler(release, np.random.default_rng([3, n])),
            "swaps": lambda n: GroupSampler(release, np.random.default_rng([4, n]), whole=1),
            "arrays": lambda n: Pairs(release, np.random.default_rng([5, n])),
        },
        {"redrawn": read, "swaps": read, "arrays": read},
        kept,
        rounds,
    )


def people(rows: int) -> tuple[Ints, Ints]:
    """Codes of seven columns, and secrets that hang on some of them."""
    rng = np.random.default_rng(8)
    known = np.stack([np.minimum(*rng.integers(0, size, (2, rows))) for size in COLUMNS], axis=1)
    own = (known[:, 3] + 2 * known[:, 2] + known[:, 1]) % SECRETS
    free = np.minimum(*rng.integers(0, SECRETS, (2, rows)))
    return known, np.where(rng.random(rows) < 0.4, own, free)


def halved(known: Ints, rows: Ints) -> list[Ints]:
    """Classes of so many records at least, by halving the widest column that can be."""
    held = known[rows]
    wide = (held.max(axis=0) - held.min(axis=0)) / np.array(COLUMNS)
    for column in np.argsort(-wide):
        low = held[:, column] < np.median(held[:, column])
        for below in (low, held[:, column] <= np.median(held[:, column])):
            if CLASS <= below.sum() <= len(rows) - CLASS:
                return halved(known, rows[below]) + halved(known, rows[~below])
    return [rows]


def attacked(rows: int, sweeps: int | None) -> Result:
    """A whole attack on a release whose classes were cut by halving, with its steps."""
    from sievert import attack

    known, secret = people(rows)
    names = [f"q{i}" for i in range(len(COLUMNS))]
    original = {name: [str(x) for x in known[:, i]] for i, name in enumerate(names)}
    original["secret"] = [f"s{s}" for s in secret.tolist()]
    release = {name: [""] * rows for name in names} | {"secret": original["secret"]}
    classes = halved(known, np.arange(rows))
    for own in classes:
        for i, name in enumerate(names):
            low, high = int(known[own, i].min()), int(known[own, i].max())
            text = str(low) if low == high else f"[{low}, {high}]"
            for row in own.tolist():
                release[name][row] = text
    domain = {name: f"0..{size - 1}" for name, size in zip(names, COLUMNS, strict=True)}
    held: list[Any] = []

    def run() -> None:
        held.append(
            attack(release, original, names, "secret", domain=domain, sweeps=sweeps, seed=1)
        )

    attack(release, original, names, "secret", domain=domain, sweeps=50, seed=1)  # compiles
    sample = timed(run)
    sampled = held[0].reasoning["secret"].posterior.sampled
    return {
        "rows": rows, "classes": len(classes), "sample": sample, "steps": dict(held[0].timings),
        "chains": sampled.chains, "sweeps": sampled.sweeps + sampled.burnt,
        "converged": sampled.converged,
    }  # fmt: skip


# -- the benchmark ----------------------------------------------------------------------------


def run(options: Options) -> Result:
    """Time of a sweep, its growth, effective draws a second, a whole attack."""
    sizes = [rows for rows in GOALS if not (options.quick and rows == max(GOALS))]
    rounds = options.rounds or (3 if options.quick else 7)
    horizontal = [coarser(rows, rounds) for rows in sizes]
    print("Horizontal, ms a sweep: ours, the published sampler with arrays, merged, compiled\n")
    print(
        table(
            (
                "rows",
                "cells",
                "urns",
                "arrays",
                "merged",
                "compiled",
                "arrays / urns",
                "merged / urns",
            ),
            [
                (
                    f"{c['rows']:,}",
                    f"{c['cells']:,}",
                    *(digits(ms) for ms in c["ms"].values()),
                    c["ratio"],
                    c["merged"],
                )
                for c in horizontal
            ],
        )
    )
    outcomes = []
    for rows, cell in zip(sizes, horizontal, strict=True):
        outcome = verdict(cell["ratio"].median, GOALS[rows], at_least=True)
        print_verdict(f"arrays / urns, {cell['rows']:,} rows", cell["ratio"], outcome)
        outcomes.append(outcome)
    vertical = [
        unlinked(rows, (KEYS[rows],) if many == 1 else COLUMNS, rounds)
        for many in (1, len(COLUMNS))
        for rows in sizes
    ]
    print("\nVertical, groups of 4, ms a sweep: redrawn at once, swaps, and swaps with arrays\n")
    print(
        table(
            ("rows", "factors", "redrawn", "swaps", "arrays", "arrays / redrawn"),
            [
                (f"{c['rows']:,}", c["factors"], *(digits(ms) for ms in c["ms"].values()),
                 c["ratio"])
                for c in vertical
            ],
        )
    )  # fmt: skip
    growth = {}
    for name, cells, chain in (
        ("horizontal", horizontal, "urns"),
        ("vertical, one factor", vertical[: len(sizes)], "redrawn"),
        ("vertical, seven factors", vertical[len(sizes) :], "redrawn"),
    ):
        power = exponent([c["rows"] for c in cells], [c["ms"][chain] for c in cells])
        outcome = verdict(power, EXPONENT, at_least=False)
        print_verdict(f"growth, {name}", Ratio(power, power, power), outcome)
        outcomes.append(outcome)
        growth[name] = power
    few, many = (300, 2_000) if options.quick else (KEPT, FEW_KEPT)
    drawn = [
        effective_urns("5.8k rows", windows(5_800), few, rounds),
        effective_urns("8 rows", published(), many, rounds),
        effective_swaps("5.8k rows, groups", buckets(5_800, (KEYS[5_800],)), few, rounds),
        effective_swaps("8 rows, groups", published_groups(), many, rounds),
    ]
    print("\nEffective draws of the attacker's beliefs\n")
    print(
        table(
            ("release", "chain", "sweeps", "median", "least", "R-hat", "a second"),
            [
                (d["name"], chain, f"{d['draws']:,}", digits(c["median"]), digits(c["least"]),
                 f"{c['rhat']:.3f}", digits(c["a_second"]))
                for d in drawn
                for chain, c in d["found"].items()
            ],
        )
    )  # fmt: skip
    print(f"\nMeans differ by {max(d['apart'] for d in drawn):.4f} at most.")
    whole = attacked(ATTACKED, 500 if options.quick else None)
    settled = "settled" if whole["converged"] else "not settled"
    print(f"\nA whole attack, {whole['rows']:,} rows, {whole['classes']} classes, "
          f"{whole['chains']} chains of {whole['sweeps']:,} sweeps, {settled}: "
          f"{digits(whole['sample'].wall)} s, "
          f"{digits(whole['sample'].user + whole['sample'].system)} s CPU\n")  # fmt: skip
    print(table(("step", "s"), [(name, digits(s)) for name, s in whole["steps"].items()]))
    return {
        "horizontal": horizontal, "vertical": vertical, "growth": growth, "effective": drawn,
        "attack": whole, "outcomes": outcomes,
        "goal": {"met": all(outcome["met"] for outcome in outcomes)},
    }  # fmt: skip
