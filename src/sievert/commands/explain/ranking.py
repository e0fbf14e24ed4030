"""Every column in turn as the target, given the others: a ranking to choose roles from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sievert.commands.explain.subsets import about_records, about_secret
from sievert.counts.cube import Cube
from sievert.lattice import Lattice

if TYPE_CHECKING:
    from sievert.counts.questions import Questions

MOST_PAIRS = 16  # known columns up to which each is tried alone


def ranked(
    questions: Questions, columns: Sequence[str], known: Sequence[str], cube: Cube
) -> list[dict[str, Any]]:
    """What is given away of each column by the `known` ones without it; the most first.

    `cube` holds the combinations of the known columns; other columns are counted with them.
    """
    found = []
    for column in columns:
        given = [c for c in known if c != column]
        cells = cube if column in known else questions.cube((*known, column))
        if not given:
            continue
        alone = cells.roll_up([column])
        lattice = Lattice(cells, column, compiled=False)
        (rolled,) = lattice.some([given])
        numbers = about_secret(rolled, cells.records, lattice.prior)
        best = None
        if len(given) <= MOST_PAIRS and lattice.prior:
            singles = [
                (about_secret(r, cells.records, lattice.prior)["discrimination_rate"], r.columns[0])
                for r in lattice.some([c] for c in given)
            ]
            rate, which = max(singles, key=lambda pair: pair[0] or 0.0)
            best = {"column": which, "discrimination_rate": rate}
        finding = about_records(alone.sizes(), cells.records)
        found.append(
            {
                "column": column,
                "known": column in known,
                "values": len(alone.counts),
                "entropy": lattice.prior,
                "as_target": numbers,
                "told_most_by": best,
                "as_key": finding,
                "reason": "H(X) = 0" if lattice.prior == 0.0 else None,
            }
        )
    return sorted(found, key=_risk)


def _risk(entry: dict[str, Any]) -> tuple[float, float, float]:
    numbers = entry["as_target"]
    rate, eq9 = numbers["discrimination_rate"], numbers["itpr_unnormalized"]
    return (
        -1.0 if rate is None else -rate,
        -1.0 if eq9 is None else -eq9,
        -numbers["mutual_information"],
    )
