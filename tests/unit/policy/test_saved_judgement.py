"""A judgement and its numbers, read back from the JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sievert.formatting.recognition import recognise_all
from sievert.formatting.remarks import Joined, Remark
from sievert.measures.measure import Value, read_values
from sievert.policy import PLANNED, GateReason, Judgement, UnjudgedSecret, Verdict
from sievert.report.parts import NumberWriter, ReportPart
from sievert.report.texts import read_texts

BREACHED = Verdict(
    measure="k_anonymity",
    where="reidentification",
    min=5,
    max=None,
    value=2,
    met=False,
    impossible="too few",
)
OF_SUPPRESSED = Verdict(
    measure="l_diversity",
    where="inference.ill",
    min=3,
    max=None,
    value=None,
    met=None,
    reason=Remark("needs_order"),
    scope="suppressed",
)
BELOW = Verdict(
    measure="records_below", where="reidentification", min=None, max=0, value=7, met=False, k=3
)


def judgement(**changes: Any) -> Judgement:
    """A judgement that has everything."""
    given = {
        "verdicts": (BREACHED, OF_SUPPRESSED, BELOW),
        "reasons": (GateReason("kept_unique", False, ("diagnosis",)),),
        "rests_on": Joined([Remark("order_in_runs"), Remark("order_of_columns")], "; "),
        "suppressed_records": 3,
        "name": "strict.toml",
        "digest": "ab" * 32,
        "spellings": {"town": 2},
        "unjudged": (UnjudgedSecret("pay", 2, 10),),
    }
    return Judgement(**{**given, **changes})


@pytest.mark.parametrize(
    "made",
    [
        judgement(),
        judgement(question=PLANNED, counts=True, rests_on=None),
        judgement(verdicts=(), reasons=()),
        judgement(reasons=(), rests_on=Joined([Remark("order_in_runs")], "; ")),
    ],
)
def test_a_judgement_is_read_back(made: Judgement) -> None:
    """Also from a file, of whose sentences remarks are made."""
    written = json.dumps(made.to_dict())
    for data in (made.to_dict(), recognise_all(json.loads(written))):
        saved = Judgement.from_dict(data)
        assert json.dumps(saved.to_dict()) == written
        assert (saved.met, saved.planned_met, saved.outcome) == (
            made.met,
            made.planned_met,
            made.outcome,
        )
        assert saved.verdicts == made.verdicts
        assert saved.unjudged == made.unjudged


def test_the_answer_of_the_json_stands() -> None:
    """Older versions left out reasons: without them the answer would be another one."""
    old = {"met": False, "limits": [{**BREACHED.to_dict(), "met": True}]}
    saved = Judgement.from_dict(old)
    assert saved.outcome is False
    assert saved.conclusion is True
    assert saved.to_dict()["met"] is False


def test_a_number_is_read_back() -> None:
    """Its details are what only some measures have."""
    value = Value(
        id="recursive_c",
        value=1.5,
        unit="1",
        riskier="high",
        reason=None,
        details={"l": 3, "without_missing": 2.0},
    )
    assert read_values({"recursive_c": value.to_dict()}) == {"recursive_c": value}


class Counted:
    """A result that counts how often it was read back."""

    times = 0

    @classmethod
    def from_dict(cls, data: Any) -> Counted:
        """Count."""
        cls.times += 1
        return cls()


def test_a_part_reads_its_result_back_once() -> None:
    """A page asks for the result of a part in each of its chapters."""
    part = ReportPart(kind="assess", data={}, writer=NumberWriter(read_texts(None)))
    assert part.read(Counted) is part.read(Counted)
    assert Counted.times == 1
    own = Counted()
    assert ReportPart(kind="assess", data={}, writer=part.writer, result=own).read(Counted) is own
