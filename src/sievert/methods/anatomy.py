"""Anatomy: keys and secrets in two tables, joined only by the number of a bucket."""

import heapq
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Ints, Text
from sievert.errors import InputError, require, unknown
from sievert.formatting import plural
from sievert.methods.intruder import Seed, check_whole, generator
from sievert.methods.recoding import Columns, check_columns, encode, save

GROUP = "group"
USE = 0x5A3D1E05  # separates the random numbers of buckets from those of other methods


@dataclass(frozen=True)
class Anatomised:
    """A release in two tables, both in the order of their buckets.

    `quasi_table` has the quasi-identifiers of each record, in random order within a bucket;
    `sensitive_table` has the secrets, sorted within a bucket. `groups` (the bucket of each record
    of the input) and `order` (the record of the input in each row of `quasi_table`) reveal who has
    which secret: they are for the publisher only, and are not written.
    """

    quasi_table: Mapping[str, list[Text]]
    sensitive_table: Mapping[str, list[Text]]
    groups: Ints
    order: Ints

    @property
    def sizes(self) -> Ints:
        """The number of records per bucket."""
        return np.bincount(self.groups)

    def write(
        self,
        quasi: str | os.PathLike[str],
        sensitive: str | os.PathLike[str],
        *,
        sources: Iterable[Any] = (),
        force: bool = False,
    ) -> None:
        """Save the two tables as CSV files, each whole or not at all, never over a source."""
        inputs = list(sources)
        save(quasi, self.quasi_table, inputs, force=force)
        save(sensitive, self.sensitive_table, [*inputs, quasi], force=force)


def anatomise(
    data: Columns,
    quasi: Sequence[str],
    sensitive: str,
    l: int,  # noqa: E741
    seed: Seed = 0,
) -> Anatomised:
    """Make buckets of l to 2l - 1 records whose secrets all differ (Xiao and Tao, 2006).

    As long as l secrets have records left, a bucket takes a random record of each of the l secrets
    with most records (ties: the secret that sorts first). Each remaining record goes to a random
    bucket without its secret.

    >>> data = {"age": ["27", "31", "38", "40"], "illness": ["flu", "cold", "flu", "cold"]}
    >>> found = anatomise(data, ["age"], "illness", 2)
    >>> found.sensitive_table
    {'group': ['0', '0', '1', '1'], 'illness': ['cold', 'flu', 'cold', 'flu']}
    """
    columns = check_columns(data, quasi)
    if sensitive not in columns:
        raise unknown("column", sensitive, columns)
    require(
        sensitive not in quasi and GROUP not in (*quasi, sensitive),
        f"a quasi-identifier is not the secret, and neither is called {GROUP!r}",
        hint="rename the column" if GROUP in (*quasi, sensitive) else None,
    )
    check_whole(l, "l", least=2)
    secret, values = _sorted_codes(columns[sensitive])
    counts = np.bincount(secret)
    records = len(secret)
    often = int(np.count_nonzero(counts * l > records))
    require(
        not often,
        f"column {sensitive!r}: {plural(often, 'value')} of more than 1/{l} of the records",
        hint=f"l of at most {records // int(counts.max())}",
        error=InputError,
    )
    rng = generator(seed, USE)
    groups = _assign_buckets(secret, counts, l, rng)
    order = np.lexsort((rng.permutation(records), groups))
    sorted_ = np.lexsort((secret, groups))
    keys = {name: [columns[name][i] for i in order.tolist()] for name in quasi}
    return Anatomised(
        quasi_table={**keys, GROUP: [str(g) for g in groups[order].tolist()]},
        sensitive_table={
            GROUP: [str(g) for g in groups[sorted_].tolist()],
            sensitive: [values[code] for code in secret[sorted_].tolist()],
        },
        groups=groups,
        order=order,
    )


def _sorted_codes(texts: Sequence[Text]) -> tuple[Ints, list[Text]]:
    """Codes in the order of the texts, missing first, and the texts of these codes."""
    codes, values = encode(texts)

    def rank(code: int) -> tuple[bool, str]:
        text = values[code]
        return (False, "") if text is None else (True, text)

    order = sorted(range(len(values)), key=rank)
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    return place[codes], [values[i] for i in order]


def _assign_buckets(secret: Ints, counts: Ints, size: int, rng: np.random.Generator) -> Ints:
    """Assign a bucket to each record."""
    records = len(secret)
    shuffled = rng.permutation(records)
    by_value = shuffled[
        np.argsort(secret[shuffled], kind="stable")
    ]  # the records of each secret together
    end = np.cumsum(counts).tolist()
    chosen: list[int] = []  # secrets, `size` for each bucket
    left = [(-count, code) for code, count in enumerate(counts.tolist())]
    heapq.heapify(left)
    while len(left) >= size:
        for count, code in [heapq.heappop(left) for _ in range(size)]:
            chosen.append(code)
            if count < -1:
                heapq.heappush(left, (count + 1, code))
    taken_of = np.array(chosen, dtype=np.int64)
    buckets = len(chosen) // size
    # The n-th time a secret is chosen takes its n-th record.
    by_secret = np.argsort(taken_of, kind="stable")
    times = np.bincount(taken_of, minlength=len(counts))
    start = np.concatenate(([0], np.cumsum(counts)[:-1]))
    nth = np.arange(len(chosen)) - np.repeat(np.cumsum(times) - times, times)
    groups = np.full(records, -1, dtype=np.int64)
    groups[by_value[np.repeat(start, times) + nth]] = by_secret // size
    for _, code in sorted(left, key=lambda each: each[1]):
        has = np.zeros(buckets, dtype=bool)
        has[by_secret[taken_of[by_secret] == code] // size] = True
        groups[by_value[end[code] - 1]] = rng.choice(np.flatnonzero(~has))
    return groups
