"""Sampling: a random part of the records is released unchanged."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.errors import require
from sievert.formatting import plural
from sievert.methods.intruder import (
    Groups,
    Seed,
    check_codes,
    check_domain,
    check_records,
    generator,
    nearest,
)

Prior = Literal["uniform", "sample"]
USE = 0x5A3D1E01  # separates the random numbers of sampling from those of other methods


@dataclass(frozen=True)
class Sample:
    """A sample of records: `taken` marks them, `secret` has codes of `values`."""

    fraction: float
    taken: Bools
    secret: Ints
    values: Floats

    @property
    def axis(self) -> float:
        """The fraction that is released."""
        return self.fraction

    def probabilities(self, groups: Groups, *, prior: Prior = "uniform") -> Floats:
        """p_i = f_i/|Mo| + (1 - |Ms|/|Mo|)·prior_i for each group Mo with the sample Ms.

        The prior of a match that was not sampled is "uniform" on the domain, or the frequencies in
        the whole "sample".
        """
        require(prior in ("uniform", "sample"), "the prior of sampling is 'uniform' or 'sample'")
        check_records(groups, len(self.secret))
        size = len(self.values)
        sample = self.secret[self.taken]
        cells = groups.ids[self.taken] * size + sample
        counts = np.bincount(cells, minlength=groups.count * size).reshape(-1, size)
        unseen = groups.sizes - counts.sum(axis=1)
        uniform = prior == "uniform"
        require(uniform or len(sample), "a sample of no record has no frequencies")
        shares = np.ones(size, dtype=np.int64) if uniform else np.bincount(sample, minlength=size)
        whole = int(shares.sum())
        # One quotient of whole numbers: nothing is rounded before it.
        return np.asarray(
            (counts * whole + unseen[:, None] * shares) / (groups.sizes * whole)[:, None]
        )


def draw_sample(secret: Any, values: Any, fraction: float, seed: Seed = 0) -> Sample:
    """Draw a simple random sample without replacement.

    >>> found = draw_sample([0, 0, 2, 3, 1], [10, 20, 30, 40], 0.6)
    >>> int(found.taken.sum())
    3
    """
    domain = check_domain(values)
    codes = check_codes(secret, len(domain))
    require(0 < fraction <= 1, "the fraction that is sampled is above 0 and at most 1")
    number = nearest(fraction, len(codes))
    require(number, f"a sample of {fraction:g} of {plural(len(codes), 'record')} has none")
    taken = np.zeros(len(codes), dtype=bool)
    taken[generator(seed, USE).choice(len(codes), number, replace=False)] = True
    return Sample(fraction=float(fraction), taken=taken, secret=codes, values=domain)
