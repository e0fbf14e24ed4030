"""Every column as the target: how well the others tell it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sievert.commands._subsets import about_records, about_secret
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.lattice import Lattice

RANKED_BY = ("discrimination_rate", "itpr_unnormalized", "mutual_information")
MOST_PAIRS = 16  # known columns up to which each is tried alone


def rank_columns(
    questions: Questions, columns: Sequence[str], known: Sequence[str], cube: Cube
) -> list[dict[str, Any]]:
    """What the `known` columns disclose about each column, themselves excepted; the most first.

    `cube` holds the combinations of the known columns; other columns are counted with them.
    """
    entries = []
    for column in columns:
        others = [c for c in known if c != column]
        cells = cube if column in known else questions.cube((*known, column))
        if not others:
            continue
        alone = cells.roll_up([column])
        lattice = Lattice(cells, column, compiled=False)
        (rolled,) = lattice.some([others])
        best = None
        if len(others) <= MOST_PAIRS and lattice.prior:
            singles = [
                (about_secret(r, cells.records, lattice.prior)["discrimination_rate"], r.columns[0])
                for r in lattice.some([c] for c in others)
            ]
            rate, which = max(singles, key=lambda pair: pair[0] or 0.0)
            best = {"column": which, "discrimination_rate": rate}
        entries.append(
            {
                "column": column,
                "known": column in known,
                "values": len(alone.counts),
                "entropy": lattice.prior,
                "as_target": about_secret(rolled, cells.records, lattice.prior),
                "told_most_by": best,
                "as_key": about_records(alone.sizes(), cells.records),
                "reason": "H(X) = 0" if lattice.prior == 0.0 else None,
            }
        )
    return sorted(
        entries,
        key=lambda entry: [
            -1.0 if (number := entry["as_target"][name]) is None else -number for name in RANKED_BY
        ],
    )
