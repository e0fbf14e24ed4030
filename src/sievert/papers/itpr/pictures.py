"""The six measures along an axis as two pictures, as the paper's figures (a) and (b) have them."""

from __future__ import annotations

from sievert import charts
from sievert.formatting import significant
from sievert.papers.itpr.common import IDS, Series
from sievert.report.page import Grid, Picture

APART = "MIL"  # has a scale of its own


def draw(
    title: str, series: Series, *, across: str, below: str, seen: str, apart: str
) -> tuple[Picture, Picture]:
    """All but MIL in one picture, MIL in another; `seen` and `apart` say what to see in them."""
    together = [name for name in IDS if name != APART]
    points = {name: list(zip(series.axis, series.of[name], strict=True)) for name in IDS}
    first = charts.lines(
        title, [below], {name: points[name] for name in together}, across=across, up="Value"
    )
    second = charts.lines(
        f"{title}: MIL", [below], {APART: points[APART]}, across=across, up="Bits"
    )
    return (
        Picture(first, seen, _grid(series, together, across)),
        Picture(second, apart, _grid(series, [APART], across)),
    )


def _grid(series: Series, names: list[str], across: str) -> Grid:
    rows = tuple(
        (text(at), *(text(series.of[name][i]) for name in names))
        for i, at in enumerate(series.axis)
    )
    right = tuple(range(len(names) + 1))
    return Grid("The numbers of the picture", (across, *names), rows, right=right, folded=True)


def text(number: float) -> str:
    """A number for people; what is 0 but for its last bits is 0.

    >>> text(-2e-16), text(0.25)
    ('0', '0.25')
    """
    return significant(0.0 if abs(number) < 1e-12 else number)


def unit(name: str) -> str:
    """What stands behind a value of a measure.

    >>> unit("MI"), unit("ITPR")
    (' bits', '')
    """
    return " bits" if name in ("MI", APART) else ""
