"""SUDA2 scores that sdcMicro and its practice guide print.

A12 of the list of peer values: the practice guide (ihsn/SDCPractice, docs/measure_risk.rst). It
prints scores of one scoring beside DIS-SUDA values of the other; both are checked, each in its own
scoring. The others are asserted by sdcMicro's tests (tests/testthat/test_suda2.R, commit
181950f6fd05). All digits that are printed are compared.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sievert.attacks.suda import MinimalUniques, minimal_uniques

from .tables import Columns, read_columns

GUIDE: Columns = {
    "Residence": ["Urban"] * 4 + ["Rural"] + ["Urban"] * 5,
    "Gender": ["F", "F", "F", "M", "F", "M", "F", "M", "F", "F"],
    "Education": [
        "Sec inc", "Sec inc", "Prim inc", "Sec com", "Sec com",
        "Sec com", "Prim com", "Post-sec", "Sec inc", "Sec inc",
    ],
    "Labour": [
        "Employed", "Employed", "Non-LF", "Employed", "Unemployed",
        "Employed", "Non-LF", "Unemployed", "Non-LF", "Non-LF",
    ],
}  # fmt: skip


def search(table: Columns) -> tuple[MinimalUniques, Any]:
    """What is found among the classes of a table, and the class of each record."""
    codes = [np.unique(values, return_inverse=True)[1] + 1 for values in table.values()]
    different, where, counts = np.unique(
        np.stack(codes, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    return minimal_uniques(list(different.T), counts), where.ravel()


def test_guide_scores() -> None:
    """A12. SUDA scores of ten records, original scoring and that of the IHSN."""
    found, where = search(GUIDE)
    assert found.suda_score()[where].tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    ihsn = found.suda_score("ihsn")[where]
    assert ihsn == pytest.approx([0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0], rel=1e-15)


@pytest.mark.parametrize(
    ("scores", "due"),
    [
        ("ihsn", [0.005120313, 0.010702061, 0.005120313, 0.008775093]),
        ("sdcmicro", [0.004986798, 0.011383006, 0.004986798, 0.009166679]),
    ],
)
def test_guide_dis_scores(scores: str, due: list[float]) -> None:
    """A12 with its correction. DIS-SUDA at a sampling fraction of 0.01."""
    found, where = search(GUIDE)
    dis = found.dis_suda_score(0.01, scores)[where]
    assert dis[[2, 4, 6, 7]] == pytest.approx(due, rel=0, abs=5.1e-10)
    assert not dis[[0, 1, 3, 5, 8, 9]].any()


TESTDATA = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


@pytest.mark.parametrize(
    ("columns", "scores", "first", "within"),
    [
        (["urbrur", "roof", "walls", "water", "sex"], "sdcmicro", 2, 0),
        (TESTDATA, "sdcmicro", 180, 0),
        (TESTDATA, "ihsn", 2.73, 0.005),
    ],
)
def test_household_survey(
    reference: Path, columns: list[str], scores: str, first: float, within: float
) -> None:
    """testdata2, its first record."""
    table = read_columns(reference / "data" / "sdcmicro" / "testdata2.csv", ",")
    found, where = search({name: table[name] for name in columns})
    assert found.suda_score(scores)[where[0]] == pytest.approx(first, rel=0, abs=within)


@pytest.mark.parametrize("order", ["abc", "acb", "cab", "cba"])
def test_contributions(order: str) -> None:
    """Three records of three columns: 50, 37.5 and 37.5 per cent of the file's score."""
    columns = {"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]}
    found, _ = search({name: columns[name] for name in order})
    due = {"a": 0.5, "b": 0.375, "c": 0.375}
    assert found.column_shares() == tuple(due[name] for name in order)


def test_book_example() -> None:
    """Eight records of a book on sdcMicro; it asserts the last four."""
    found, where = search(
        {
            "age": ["20s"] * 7 + ["60s"],
            "gender": ["male"] * 4 + ["female"] * 3 + ["male"],
            "income": ["50k+"] * 2 + ["50k-"] * 6,
            "education": ["high"] * 4 + ["university", "high", "middle", "university"],
        }
    )
    assert found.suda_score()[where].tolist()[4:] == [4, 2, 6, 8]


def test_adult(reference: Path) -> None:
    """All nine attributes: as many records have a score as ARX counts uniques (A5)."""
    table = read_columns(reference / "data" / "adult" / "adult.csv", ";")
    found, where = search(table)
    assert np.count_nonzero(found.suda_score()[where]) == 15512
