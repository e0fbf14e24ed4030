"""The smallest hashes of a stream of records, in the memory that a sketch needs.

If nearly every record is a class of its own, counting all combinations costs more than hashing all
records. DuckDB hashes them, and a hash above the current threshold is dropped at once. A class in
the final sample was below every earlier threshold, so its count is exact.
"""

from collections.abc import Sequence

import numpy as np

from sievert.arrays import Ints
from sievert.counts.questions import Questions
from sievert.counts.sketch import hashes
from sievert.counts.sketch.sample import Part, sum_equal
from sievert.errors import ExhaustedError

LOOK = 1 << 17  # first records, which show whether streaming is worth it
WORTH = 4  # times as many records must there be for a stream
MOST_KEYS = 4  # sets of columns: each is hashed for every record
NEW = 0.25  # share of the first records with a combination of their own, from which to stream
PENDING = 1 << 19  # records below the threshold that are put together at a time


def is_worth_streaming(questions: Questions, columns: Sequence[str], keys: int) -> bool:
    """Whether the engine streams, and its first records say that most are classes of their own."""
    large = questions.engine.streams and questions.records >= WORTH * LOOK
    if keys > MOST_KEYS or not large:
        return False
    names = questions.sql_names(columns)
    first = f"(SELECT {names} FROM {questions.source} LIMIT {LOOK}) AS f"
    return questions.count_combinations(columns, first) > NEW * LOOK


class SmallestHashes:
    """The classes of one key with the smallest hashes so far, and the cells of its secrets."""

    def __init__(self, secrets: int, most: int) -> None:
        self._most = most
        self._pending = 0
        self._classes: list[tuple[Ints, Ints]] = []
        self._cells: list[list[tuple[Ints, Ints, Ints]]] = [[] for _ in range(secrets)]
        self._limit: np.uint64 | None = None  # no class with a larger hash is kept

    def add(self, own: Ints, values: Sequence[Ints]) -> None:
        """Add the hashes of some records, and the hashes of their secrets."""
        if self._limit is not None:
            kept = own <= self._limit
            own = own[kept]
            values = [of_secret[kept] for of_secret in values]
        ones = np.ones(len(own), dtype=np.int64)
        self._classes.append((own, ones))
        for cells, of_secret in zip(self._cells, values, strict=True):
            cells.append((own, of_secret, ones))
        self._pending += len(own)
        if self._pending > PENDING:
            self.collect()

    def collect(self) -> Part:
        """Put the added hashes together: the classes with the smallest hashes, and their cells."""
        no_keys = np.zeros(0, np.uint64)
        no_counts = np.zeros(0, np.int64)
        (own,), counts = sum_equal(*_join_keys([*self._classes, (no_keys, no_counts)]))
        own = own[: self._most + 1]
        counts = counts[: self._most + 1]
        if len(own) > self._most:
            self._limit = own[-1]
        cells = []
        for parts in self._cells:
            joined = _join_keys([*parts, (no_keys, no_keys, no_counts)])
            (owner, values), numbers = sum_equal(*joined)
            kept = np.searchsorted(owner, own[-1], "right") if len(own) else 0
            cells.append((owner[:kept], values[:kept], numbers[:kept]))
        self._classes = [(own, counts)]
        self._cells = [[of_secret] for of_secret in cells]
        self._pending = 0
        return (own, counts), cells


def _join_keys(parts: Sequence[tuple[Ints, ...]]) -> tuple[list[Ints], Ints]:
    """Join parts of keys (one or two columns) and counts."""
    *keys, counts = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return keys, counts


def stream_hashes(
    questions: Questions,
    key_sets: Sequence[Sequence[str]],
    secrets: Sequence[str],
    key: str,
    most: int,
) -> list[Part] | None:
    """The classes and cells of every key, from one stream; None if the stream has failed."""
    try:
        import pyarrow
    except ImportError:
        return None
    engine = questions.engine
    dialect = engine.hash_dialect()
    fields = list[str]()
    texts = {
        c: (questions.sql_name(c), hashes.has_floats(engine, c))
        for c in {*secrets, *(c for key_set in key_sets for c in key_set)}
    }
    for sign, sets in ((hashes.CLASS, key_sets), (hashes.VALUE, [[s] for s in secrets])):
        for columns in sets:
            digest = dialect.hash(key, sign, [texts[c] for c in columns])
            fields.append(f"CAST('0x' || {digest} AS UBIGINT) AS h{len(fields)}")
    samples = [SmallestHashes(len(secrets), most) for _ in key_sets]
    try:
        for batch in engine.stream(f"SELECT {', '.join(fields)} FROM {questions.source}"):
            numbers = [np.asarray(column) for column in batch.columns]
            for sample, own in zip(samples, numbers, strict=False):
                sample.add(own, numbers[len(key_sets) :])
    except (OSError, pyarrow.ArrowException) as error:
        if "INTERRUPT" in str(error).upper():
            raise ExhaustedError(
                "stopped before the answer was there", hint="a longer --timeout"
            ) from None
        return None  # the engine says what is wrong when it is asked again
    return [sample.collect() for sample in samples]
