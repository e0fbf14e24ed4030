"""Any other method: frequencies in what was released, or probabilities that a user supplies."""

from __future__ import annotations

from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.errors import UsageError
from sievert.methods.intruder import check_codes, check_records, mean_rows
from sievert.methods.known_columns import Groups, compact

WITHHELD = -1  # the code of a record, or of a value, that was not released
NEAR = 1e-9


def frequencies(groups: Groups, released: Any, size: int, classes: Any = None) -> Floats:
    """Of each group how often its released records have each of `size` values.

    `released` has one code for each original record, WITHHELD where there is none: there every
    value is as likely. With `classes`, the released class of each record (WITHHELD if it was left
    out), every record of a group counts as the whole class that it is in.

    >>> from sievert.methods.known_columns import grouped
    >>> people = grouped([[0], [0], [1]], [0])
    >>> frequencies(people, [0, 0, 1], 2)
    array([[1., 0.],
           [0., 1.]])
    >>> frequencies(people, [0, 0, 1], 2, classes=[0, 1, 1])
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    if size < 1:
        raise UsageError("a domain has at least one value")
    codes = check_codes(released, size, least=WITHHELD)
    check_records(groups, len(codes))
    if classes is None:
        return _group_frequencies(groups.ids, groups.count, codes, size)
    among = np.asarray(classes)
    if among.shape != codes.shape or among.dtype.kind not in "iu" or int(among.min()) < WITHHELD:
        raise UsageError("released classes are whole numbers from 0 on, or -1, one for each record")
    among = among.astype(np.int64)
    if np.any(codes[among == WITHHELD] != WITHHELD):
        raise UsageError("a record that was left out has no released value")
    # Class 0 holds those left out: nothing is known of them, so all values are as likely.
    ids, count = compact(np.append(among + 1, 0), int(among.max()) + 2)
    return mean_rows(
        groups, ids[:-1], _group_frequencies(ids, count, np.append(codes, WITHHELD), size)
    )


def supplied(groups: Groups, probabilities: Any, size: int) -> Floats:
    """Probabilities from elsewhere, checked: a row for each group, a place for each value.

    Rows may miss 1 by rounding (1e-9) and are then made to add up.
    """
    try:
        rows = np.array(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError("probabilities are numbers") from None
    if rows.shape != (groups.count, size):
        raise UsageError(
            f"probabilities have a row for each of {groups.count} groups and a column for each of "
            f"{size} values"
        )
    if not np.isfinite(rows).all() or (rows < 0).any():
        raise UsageError("probabilities are finite and not negative")
    sums = rows.sum(axis=1)
    off = int(np.count_nonzero(np.abs(sums - 1) > NEAR))
    if off:
        raise UsageError(f"the probabilities of {off} of {groups.count} groups do not add up to 1")
    return np.asarray(rows / sums[:, None])


def _group_frequencies(ids: Any, count: int, codes: Any, size: int) -> Floats:
    """Frequencies in each group; a value that was withheld is spread over all."""
    shown = codes != WITHHELD
    cells = ids[shown] * size + codes[shown]
    counts = np.bincount(cells, minlength=count * size).reshape(-1, size)
    sizes = np.bincount(ids, minlength=count)
    unseen = sizes - counts.sum(axis=1)
    return np.asarray((counts * size + unseen[:, None]) / (sizes * size)[:, None])
