"""Numbers printed in the ITPR paper and the discrimination-rate slides, through the public API."""

from functools import cache
from math import log2
from typing import Any

import pytest

import sievert

from .papers_cells import CELLS, FIGURE_1, FIGURE_1_PRINTED, TABLES, Cell, Columns

EXACT = 1e-9
"""The exact values are typed with twelve digits."""

PRINTED = 0.01
"""The papers print two digits and sometimes cut the rest off (.5488 as .54), sometimes round it
(.6551 as .66): a printed number is within one unit of its last digit, never nearer for certain."""

REPRODUCED = [cell for cell in CELLS if cell.contradiction is None and cell.printed is not None]
CONTRADICTORY = [cell for cell in CELLS if cell.contradiction is not None]


def label(cell: Cell) -> str:
    return cell.label


@cache
def measured(cell: Cell) -> Any:
    """The cell's measure, called as a plain function, once for every cell."""
    table, given = TABLES[cell.table], list(cell.given)
    if cell.measure == "discrimination_rate_of_value":
        rates = sievert.discrimination_rate_by_value(table, given, cell.target)
        return rates[(cell.value,)]
    function = getattr(sievert, cell.measure)
    if cell.target is None:
        return function(table, given)
    if cell.target == "id":
        return function(table, given, sensitive=None)
    return function(table, given, sensitive=cell.target)


def sizes(*counts: int) -> Columns:
    """A table of one column whose classes have the given sizes."""
    return {"y": [f"y{i}" for i, count in enumerate(counts) for _ in range(count)]}


def test_all_cells_are_here() -> None:
    assert len(CELLS) == 72
    assert len(CONTRADICTORY) == 5
    assert sum(cell.printed is None for cell in CELLS) == 1
    assert len({(c.source, c.measure, c.given, c.target, c.value) for c in CELLS}) == 72


@pytest.mark.parametrize("cell", CELLS, ids=label)
def test_exact_value(cell: Cell) -> None:
    assert measured(cell) == pytest.approx(cell.exact, rel=0, abs=EXACT)


@pytest.mark.parametrize("cell", REPRODUCED, ids=label)
def test_printed_value(cell: Cell) -> None:
    assert cell.printed is not None
    assert abs(measured(cell) - cell.printed) <= PRINTED


@pytest.mark.parametrize("cell", CONTRADICTORY, ids=label)
def test_printed_value_contradicts_the_printed_table(cell: Cell) -> None:
    assert cell.printed is not None
    assert abs(measured(cell) - cell.printed) > PRINTED, cell.contradiction


@pytest.mark.parametrize(
    "cell",
    [cell for cell in CELLS if cell.measure != "discrimination_rate_of_value"],
    ids=label,
)
def test_assessment_has_the_same_value(cell: Cell) -> None:
    table, given = TABLES[cell.table], list(cell.given)
    if cell.target is None or cell.target == "id":
        chapter = sievert.assess(table, quasi=given).reidentification
    else:
        chapter = sievert.assess(table, quasi=given, sensitive=[cell.target]).inference[cell.target]
    value = chapter[cell.measure]
    assert value.reason is None
    assert value.value == measured(cell)


@pytest.mark.parametrize("table", ["dr.identity", "dr.kanon", "dr.ldiv"])
def test_rates_of_values_add_up(table: str) -> None:
    """DR slides: the shares that the values take off H(X) add up to what the column takes off."""
    target = "age" if table == "dr.identity" else "disease"
    rates = sievert.discrimination_rate_by_value(TABLES[table], ["age_star"], target)
    assert set(rates) == {("2*",), (">=40",), ("3*",)}
    whole = sievert.discrimination_rate(TABLES[table], ["age_star"], sensitive=target)
    assert sum(1 - rate for rate in rates.values()) == pytest.approx(1 - whole, abs=EXACT)


@pytest.mark.parametrize("cell", [c for c in CELLS if c.measure == "itpr"], ids=label)
def test_itpr_is_at_least_the_discrimination_rate(cell: Cell) -> None:
    """ITPR paper, table 5: with the share p(q) H(X|q), 0 <= DR <= ITPR <= 1.

    Without the share row 5 would be 1 - 2 * 2/3 = -0.33, where +0.33 is printed.
    """
    table, given = TABLES[cell.table], list(cell.given)
    sensitive = None if cell.target == "id" else cell.target
    rate = sievert.discrimination_rate(table, given, sensitive=sensitive)
    assert 0 <= rate <= measured(cell) + EXACT
    assert measured(cell) <= 1


@pytest.mark.parametrize(("small", "large", "itpr"), FIGURE_1)
def test_figure_1(small: int, large: int, itpr: float) -> None:
    """ITPR paper, figure 1."""
    assert sievert.itpr(sizes(small, large), ["y"]) == pytest.approx(itpr, rel=0, abs=1e-12)


@pytest.mark.parametrize(("small", "large", "printed"), FIGURE_1_PRINTED)
def test_figure_1_as_stated(small: int, large: int, printed: float) -> None:
    """ITPR paper, figure 1: the two ends that the text states, to the two digits it has."""
    assert abs(sievert.itpr(sizes(small, large), ["y"]) - printed) <= PRINTED


# ITPR is not monotone: merging values can raise it and splitting them can lower it. Whoever shows
# it must show k, the discrimination rate and the un-normalised form beside it; those behave.

BEHAVED = ("discrimination_rate", "itpr_unnormalized", "average_risk", "highest_risk")


def assert_no_riskier(coarse: Columns, fine: Columns, quasi: str) -> None:
    """Every measure that obeys the law says that the coarser table is no riskier."""
    for measure in BEHAVED:
        function = getattr(sievert, measure)
        assert function(coarse, [quasi]) <= function(fine, [quasi]) + 1e-12, measure
    assert sievert.k_anonymity(coarse, [quasi]) >= sievert.k_anonymity(fine, [quasi])


def test_itpr_rises_when_two_of_three_equal_classes_are_merged() -> None:
    """Sizes (2, 2, 2) to (2, 4): 1 - 3 (2/6)/log 6 = .6131 becomes 1 - 2 (2/6)/log 6 = .7421."""
    fine, coarse = sizes(2, 2, 2), sizes(2, 4)
    assert sievert.itpr(fine, ["y"]) == pytest.approx(1 - 1 / log2(6), rel=0, abs=1e-12)
    assert sievert.itpr(coarse, ["y"]) == pytest.approx(1 - 2 / 3 / log2(6), rel=0, abs=1e-12)
    assert sievert.itpr(fine, ["y"]) == pytest.approx(0.6131, abs=5e-5)
    assert sievert.itpr(coarse, ["y"]) == pytest.approx(0.7421, abs=5e-5)
    assert_no_riskier(coarse, fine, "y")


def test_itpr_rises_on_the_papers_own_data() -> None:
    """ITPR paper, table 5 row 7, sizes (3, 3, 2): .75; its two classes of three merged: .8333."""
    fine: Columns = {"zip": TABLES["itpr.table3"]["zip2"]}
    merged = {"35000": "35[05]*", "35510": "35[05]*", "35200": "35200"}
    coarse: Columns = {"zip": [merged[value] for value in fine["zip"]]}
    assert sievert.itpr(fine, ["zip"]) == pytest.approx(0.75, rel=0, abs=1e-12)
    assert sievert.itpr(coarse, ["zip"]) == pytest.approx(5 / 6, rel=0, abs=1e-12)
    age4 = sievert.itpr(TABLES["itpr.table3"], ["age4"])
    assert sievert.itpr(coarse, ["zip"]) == pytest.approx(age4, rel=0, abs=1e-12)
    assert_no_riskier(coarse, fine, "zip")


@pytest.mark.parametrize("m", [2, 3, 5, 10, 100])
def test_itpr_of_an_independent_secret(m: int) -> None:
    """A balanced secret in m equal classes: ITPR 0; m - 1 of them merged: 1 - 2/m.

    The secret is independent of the class before and after, and the other measures say so: ten
    classes, nine merged, are the 10 % / 90 % split with ITPR .8 at no mutual information at all.
    """
    secret = ["a", "b"] * m
    fine: Columns = {"y": [f"y{i // 2}" for i in range(2 * m)], "x": secret}
    coarse: Columns = {"y": ["y0"] * 2 + ["rest"] * (2 * m - 2), "x": secret}
    assert sievert.itpr(fine, ["y"], sensitive="x") == pytest.approx(0, abs=1e-12)
    assert sievert.itpr(coarse, ["y"], sensitive="x") == pytest.approx(1 - 2 / m, rel=0, abs=1e-12)
    for table in (fine, coarse):
        for measure in ("mutual_information", "discrimination_rate", "t_closeness"):
            value = getattr(sievert, measure)(table, ["y"], sensitive="x")
            assert value == pytest.approx(0, abs=1e-12), measure


def test_one_more_column_can_lower_itpr() -> None:
    """Sizes (2, 4) become (2, 2, 2) by a second column: .742 falls to .613.

    Four of the six are easier to find and nobody is harder to find.
    """
    table: Columns = {
        "y": ["y0", "y0", "y1", "y1", "y1", "y1"],
        "z": ["z0", "z0", "z0", "z0", "z1", "z1"],
    }
    one, two = ["y"], ["y", "z"]
    assert sievert.itpr(table, one) == pytest.approx(1 - 2 / 3 / log2(6), rel=0, abs=1e-12)
    assert sievert.itpr(table, two) == pytest.approx(1 - 1 / log2(6), rel=0, abs=1e-12)
    assert sievert.average_risk(table, one) == pytest.approx(2 / 6)
    assert sievert.average_risk(table, two) == pytest.approx(3 / 6)
    for measure in BEHAVED:
        function = getattr(sievert, measure)
        assert function(table, two) >= function(table, one) - 1e-12, measure
