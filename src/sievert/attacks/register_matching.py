"""Which released records match a person of a register: the candidates."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cube import MOST_BITS, Cube, pack_codes
from sievert.errors import ExhaustedError, require
from sievert.formatting import plural
from sievert.hierarchies import ROOT, Hierarchy

MOST_WORK = 10**9  # classes of the register times levels of the release


@dataclass(frozen=True)
class Matching:
    """How values of a register become values of the release, for one column.

    `levels[l][r]` is the code in the release of what the register's code r may have become: itself,
    its label on a level, suppressed, missing; -1 where the release has no such value. For one r no
    code of the release comes twice.
    """

    levels: tuple[Ints, ...]
    wildcard: bool  # whether missing matches anything
    strange: int  # values of the release that are neither a value nor a label
    placeless: int  # values of the register without a place in the hierarchy

    @classmethod
    def from_texts(
        cls,
        register: Sequence[str | None],
        release: Sequence[str | None],
        hierarchy: Hierarchy | None = None,
        wildcard: bool = False,
    ) -> "Matching":
        """From the texts of both sides."""
        place = {text: code for code, text in enumerate(release)}
        labels_of = {} if hierarchy is None else hierarchy.labels
        height = 0 if hierarchy is None else hierarchy.height
        levels = np.full((height + 3, len(register)), -1, dtype=np.int64)
        for r, text in enumerate(register):
            above = () if text is None else labels_of.get(text, ())
            became: list[tuple[str | None, int]] = [(text, 0)]
            became += [(label, level) for level, label in enumerate(above, 1)]
            became += [(ROOT, height + 1), *([(None, height + 2)] if wildcard else [])]
            for what, level in dict(reversed(became)).items():  # of the same texts the first
                levels[level, r] = place.get(what, -1)
        known = {ROOT, *register, *labels_of, *itertools.chain.from_iterable(labels_of.values())}
        return cls(
            levels=tuple(levels),
            wildcard=wildcard,
            strange=sum(1 for v in release if v is not None and v not in known),
            placeless=sum(
                1 for v in register if v is not None and labels_of and v not in labels_of
            ),
        )

    def fits(self, register: Ints, release: Ints) -> Ints:
        """Whether codes of the register may have become codes of the release, pair by pair."""
        on_levels = (level[register] == release for level in self.levels)
        return np.asarray(np.logical_or.reduce([(register == 0) & self.wildcard, *on_levels]))


def candidates(release: Cube, register: Cube, matchings: Sequence[Matching]) -> Ints:
    """For each cell of the register: how many records of the release it may be.

    Both have the shared columns, in this order. What a row of the register lacks is not looked at
    where missing matches anything.
    """
    lacks = np.zeros(len(register.counts), dtype=np.int64)
    for bit, (codes, matching) in enumerate(zip(register.codes, matchings, strict=True)):
        if matching.wildcard:
            lacks |= (codes == 0).astype(np.int64) << bit
    counts = np.full(len(register.counts), release.records, dtype=np.int64)
    for lacking in np.unique(lacks).tolist():
        kept = [i for i in range(len(matchings)) if not lacking >> i & 1]
        if kept:
            rows = np.flatnonzero(lacks == lacking)
            counts[rows] = count_candidates(
                release.roll_up([release.columns[i] for i in kept]),
                [register.codes[i][rows] for i in kept],
                [matchings[i] for i in kept],
            )
    return counts


def count_candidates(
    release: Cube, register_codes: Sequence[Ints], matchings: Sequence[Matching]
) -> Ints:
    """Classes of the release differ by the level on which each column stands.

    There are few such patterns, and on one pattern a row of the register becomes one key.
    """
    counts = np.zeros(len(register_codes[0]), dtype=np.int64)
    patterns = _patterns(release, matchings)
    require(
        len(patterns) * len(counts) <= MOST_WORK,
        f"{plural(len(patterns), 'pattern')} of levels in the release: too many to look up",
        hint="fewer shared columns",
        error=ExhaustedError,
    )
    for pattern in patterns:
        images = [
            m.levels[level][a]
            for m, level, a in zip(matchings, pattern, register_codes, strict=True)
        ]
        fit = np.flatnonzero(np.all([h >= 0 for h in images], axis=0))
        counts[fit] += look_up_cells(release, [h[fit] for h in images])
    return counts


def _patterns(release: Cube, matchings: Sequence[Matching]) -> list[tuple[int, ...]]:
    """The combinations of levels on which classes of the release may be reached."""
    masks = []
    for matching, codes, values in zip(matchings, release.codes, release.values, strict=True):
        mask = np.zeros(len(values), dtype=np.int64)
        for level, images in enumerate(matching.levels):
            mask[np.unique(images[images >= 0])] |= 1 << level
        masks.append(mask[codes])
    patterns = set()
    for row in np.unique(np.stack(masks, axis=1), axis=0).tolist():
        choices = [[b for b in range(m.bit_length()) if m >> b & 1] for m in row]
        patterns |= set(itertools.product(*choices))
        if len(patterns) > MOST_WORK:
            break
    return sorted(patterns)


def look_up_cells(release: Cube, codes: Sequence[Ints]) -> Ints:
    """How many records of the release have these codes."""
    if release.bits > MOST_BITS:
        both = [np.concatenate(pair) for pair in zip(release.codes, codes, strict=True)]
        _, keys = np.unique(np.stack(both, axis=1), axis=0, return_inverse=True)
        there, wanted = np.split(keys.reshape(-1), [len(release.counts)])
    else:
        there = release.keys
        wanted = pack_codes([c.astype(np.uint64) for c in codes], release.widths, len(codes[0]))
    place = np.minimum(np.searchsorted(there, wanted), len(there) - 1)
    return np.where(there[place] == wanted, release.counts[place], 0)
