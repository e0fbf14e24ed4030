"""A quick check that fails for a wrong implementation; run against a broken copy of the package.

    PYTHONPATH=COPY:tests python tests/mutation/probe.py

leaves with 0 when nothing is found, with 3 when a number is wrong. The same oracle, laws and
accuracy checks as in the test suite, on fewer tables, ordered so that most mistakes show in the
first seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "property"))

import pandas
import test_accuracy
import test_oracle_agreement as agreement
from randomtables import case

import sievert
from sievert.errors import InvariantError

TABLES = 60


def accuracy() -> None:
    for matrix in test_accuracy.MATRICES.values():
        test_accuracy._inference(matrix)
    test_accuracy.test_products_beyond_64_bits()
    test_accuracy.test_sizes_that_hardly_differ()
    test_accuracy.test_finding_a_record(10, 1000)


def oracle() -> None:
    for number in range(TABLES):
        c = case(Random(f"probe {number}"))
        agreement.compare(c, agreement.assess(c, number % 3 == 0), number % 3 == 0)


def frames() -> None:
    """An index that is not 0..n-1, and a category nobody has."""
    table = {"q": ["a", "a", "b", "b", "b"], "s": ["x", "y", "x", "x", "x"]}
    frame = pandas.DataFrame(table, index=[3, 1, 1, 0, 4])
    frame["q"] = pandas.Categorical(frame["q"], categories=["a", "b", "never"])
    plain = sievert.assess(table, "q", "s").to_dict()
    found = sievert.assess(frame, "q", "s").to_dict()
    for chapter in ("reidentification", "inference"):
        assert plain[chapter] == found[chapter]


if __name__ == "__main__":
    try:
        frames()
        accuracy()
        oracle()
    except (AssertionError, InvariantError):
        sys.exit(3)
