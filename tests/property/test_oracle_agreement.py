"""Every measure against a brute-force second opinion on 2,000 random tables."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import mpmath
import pytest
from helpers import oracle
from helpers.effort import tried
from helpers.randomtables import Case, case

import sievert
from sievert.measures import BY_ID

TABLES = tried(400, soak=2000)
CHUNKS = 40
TOLERANCE = mpmath.mpf("1e-12")


def assess(c: Case, named: bool) -> sievert.Assessment:
    ladder = {v: labels for v, labels in c.ladder.items() if v is not None}
    parameters: dict[str, Any] = {"recursive_c": {"l": c.l}, "records_below": {"k": [2, 3, 5]}}
    if named:
        parameters["alpha_k"] = {"value": {c.secret: c.named}}
    return sievert.assess(
        c.columns,
        c.quasi,
        c.secret,
        orders={c.secret: c.order},
        hierarchies={c.secret: sievert.Hierarchy(ladder)},
        partitions={c.secret: c.partition},
        parameters=parameters,
    )


def agree(name: str, ours: Any, theirs: Any, reason: str | None = None) -> None:
    """Integers and reasons exactly, 0 and 1 exactly, the rest to 1e-12 of its size."""
    if isinstance(theirs, str):
        assert ours is None, f"{name}: {ours} where {theirs} was due"
        assert reason == theirs, f"{name}: {reason} where {theirs} was due"
        return
    assert ours is not None, f"{name}: nothing ({reason}) where {theirs} was due"
    if isinstance(theirs, int):
        assert ours == theirs, f"{name}: {ours} where {theirs} was due"
        return
    due = (
        mpmath.mpf(theirs.numerator) / theirs.denominator
        if isinstance(theirs, Fraction)
        else theirs
    )
    share = BY_ID[name].high == 1 if name in BY_ID else name in ("by value", "posterior")
    if due == 0 or (due == 1 and share):  # certainty: the integers prove it
        assert ours == due, f"{name}: {ours!r} where exactly {due} was due"
    assert abs(mpmath.mpf(ours) - due) <= TOLERANCE * abs(due), f"{name}: {ours!r} against {due}"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_agreement(chunk: int) -> None:
    for number in range(TABLES // CHUNKS):
        c = case(Random(f"oracle {chunk} {number}"))
        named = number % 3 == 0
        found = assess(c, named)
        compare(c, found, named)


def compare(c: Case, found: sievert.Assessment, named: bool) -> None:
    rows = c.rows
    due = oracle.reidentification(rows, c.quasi)
    below = due.pop("records_below")
    assert isinstance(below, dict)
    ours = dict(found.reidentification)
    assert ours.pop("records_below").details["by_k"] == {str(k): n for k, n in below.items()}
    assert set(ours) == set(due)
    for name, value in ours.items():
        agree(name, value.value, due[name], value.reason)
    missing = ours["k_anonymity"].details.get("records_with_missing_quasi", 0)
    assert missing == sum(any(row[q] is None for q in c.quasi) for row in rows)
    if missing:
        assert ours["k_anonymity"].details["wildcard"] == oracle.wildcard_k(rows, c.quasi)

    due = oracle.inference(
        rows,
        c.quasi,
        c.secret,
        order=c.order,
        ladder={v: list(labels) for v, labels in c.ladder.items()},
        partition=c.partition,
        l=c.l,
        alpha_value=c.named if named else None,
    )
    secrets = found.inference[c.secret]
    satisfiable = due.pop("enhanced_beta_satisfiable")
    assert secrets["enhanced_beta_likeness"].details["satisfiable"] is satisfiable
    for name in ("l_diversity", "max_confidence", "confidence_gain", "guess_gain"):
        known = due.pop(f"{name}_without_missing", None)
        shown = secrets[name].details.get("without_missing")
        if known is None:
            assert shown is None
        else:
            agree(name, shown, known)
    if not named:
        assert secrets["alpha_k"].value == secrets["max_confidence"].value
        known = secrets["max_confidence"].details.get("without_missing")
        assert secrets["alpha_k"].details.get("without_missing") == known
    elif any(row[c.secret] is None for row in rows):
        kept = [row for row in rows if row[c.secret] is not None]
        shown = secrets["alpha_k"].details["without_missing"]
        if kept:
            alone = oracle.inference(kept, c.quasi, c.secret, alpha_value=c.named)["alpha_k"]
            agree("alpha_k", shown, alone)
        else:
            assert shown is None
    assert set(secrets) == set(due)
    for name, value in secrets.items():
        agree(name, value.value, due[name], value.reason)
    assert secrets["itpr"].details["beside"]["k"] == ours["k_anonymity"].value
    assert secrets["itpr"].details["beside"]["classes"] == ours["classes"].value


@pytest.mark.parametrize("chunk", range(4))
def test_by_value_and_by_record(chunk: int, tmp_path: Any) -> None:
    """The numbers of single classes and single records, in input order."""
    import csv

    for number in range(tried(8, soak=15)):
        c = case(Random(f"single {chunk} {number}"))
        for secret in (None, c.secret):
            ours = sievert.discrimination_rate_by_value(c.columns, c.quasi, secret)
            due = oracle.by_value(c.rows, c.quasi, secret)
            assert set(ours) == set(due)
            for key, rate in ours.items():
                agree("by value", rate, due[key], "H(X) = 0" if rate is None else None)
        path = tmp_path / f"{number}.csv"
        sievert.assess(c.columns, c.quasi, c.secret, records=path)
        with path.open(newline="") as file:
            written = list(csv.DictReader(file))
        expected = oracle.per_record(c.rows, c.quasi, c.secret)
        assert [int(row["record"]) for row in written] == list(range(1, len(expected) + 1))
        for row, (size, bits, posterior, gain) in zip(written, expected, strict=True):
            agree("class_size", int(row["class_size"]), size)
            agree("identity_bits", float(row["identity_bits"]), bits)
            agree("posterior", float(row["s.posterior"]), posterior)
            agree("information_gain", float(row["s.information_gain"]), gain)
