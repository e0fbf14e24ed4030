"""A quick check that fails for a wrong implementation; run against broken copies of the package.

    PYTHONPATH=tests python tests/mutation/probe.py

reads the folders of copies, one per line, after the name of the check to begin with, and answers
each with 0 when nothing is found and with 3 when a number is wrong. Each copy is checked in a
process of its own, forked from this one, which has imported what all of them need but not Sievert.
The same oracle, laws and accuracy checks as in the test suite, on fewer tables, ordered so that
most mistakes show in the first seconds.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from random import Random

# What takes long to import, and is the same for every copy.
import duckdb  # noqa: F401
import mpmath  # noqa: F401
import numba  # noqa: F401
import pandas
import pydantic  # noqa: F401
import pytest  # noqa: F401

TABLES = 60
PEOPLE = 25


def check(first: str, copy: str) -> int:
    sys.path[:0] = [copy, str(Path(__file__).parents[1] / "property")]
    from sievert.errors import InvariantError

    checks = frames, matches, accuracy, oracle, people
    try:
        for each in sorted(checks, key=lambda each: each.__name__ != first):
            each()
    except (AssertionError, InvariantError):
        return 3
    return 0


def accuracy() -> None:
    import test_accuracy

    for matrix in test_accuracy.MATRICES.values():
        test_accuracy._inference(matrix)
    test_accuracy.test_products_beyond_64_bits()
    test_accuracy.test_sizes_that_hardly_differ()
    test_accuracy.test_finding_a_record(10, 1000)


def people() -> None:
    import test_people

    from sievert import session
    from sievert.measurement.table_measures import MeasureSettings

    session.SMALL = 0  # in SQL
    for seed in range(PEOPLE):
        made = test_people.table(seed)
        settings = MeasureSettings(parameters={"recursive_c": {"l": made.l}})
        with session.open_source(made.columns) as (_, questions):
            counted = session.count_people(questions, "id")
            test_people.compare(made, counted, settings, None)


def oracle() -> None:
    import test_oracle_agreement as agreement
    from helpers.randomtables import case

    from sievert import session

    for number in range(TABLES):
        session.SMALL = 0 if number % 2 else 10_000  # SQL, and NumPy
        c = case(Random(f"probe {number}"))
        agreement.compare(c, agreement.assess(c, number % 3 == 0), number % 3 == 0)


def frames() -> None:
    """An index that is not 0..n-1, and a category nobody has."""
    import sievert

    table = {"q": ["a", "a", "b", "b", "b"], "s": ["x", "y", "x", "x", "x"]}
    frame = pandas.DataFrame(table, index=[3, 1, 1, 0, 4])
    frame["q"] = pandas.Categorical(frame["q"], categories=["a", "b", "never"])
    plain = sievert.assess(table, "q", "s").to_dict()
    found = sievert.assess(frame, "q", "s").to_dict()
    for chapter in ("reidentification", "inference"):
        assert plain[chapter] == found[chapter]


def matches() -> None:
    """A missing value matches anything, in NumPy and in SQL."""
    import sievert
    from sievert import session
    from sievert.counts import questions

    questions.FEW_CLASSES = 0
    for session.SMALL in (10_000, 0):
        found = sievert.assess({"q": ["a", "a", "b"], "r": ["x", None, None]}, ["q", "r"])
        k_anonymity = found.reidentification["k_anonymity"]
        assert (k_anonymity.value, k_anonymity.details["wildcard"]) == (1, 1)
        found = sievert.assess({"q": ["a", "a", None], "r": ["x", None, "x"]}, ["q", "r"])
        k_anonymity = found.reidentification["k_anonymity"]
        assert (k_anonymity.value, k_anonymity.details["wildcard"]) == (1, 3)


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            code = 1
            signal.alarm(300)  # a mistake may also make a loop endless
            try:
                code = check(*line.strip().split(" ", 1))
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
