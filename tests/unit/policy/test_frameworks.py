"""The criteria of regulators: which numbers answer them, and what is said where none does."""

import hashlib
from pathlib import Path
from typing import Any, get_args

import pytest

import sievert
from sievert.commands.assess.frameworks import FRAMEWORKS
from sievert.commands.assess.settings import Framework
from sievert.errors import UsageError
from sievert.measures import BY_ID
from sievert.report import builder
from sievert.report.page import Grid, Numbers
from sievert.report.texts import read_texts

TABLE = {
    "age": ["30"] * 12 + ["40"] * 12,
    "illness": ["flu", "cold", "cough"] * 8,
}


def evidence(framework: str, table: Any = TABLE, **options: Any) -> dict[str, Any]:
    result = sievert.assess(table, ["age"], ["illness"], framework=framework, **options)
    content: dict[str, Any] = result.to_dict()["framework"]
    return content


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_criterion_has_words_and_its_numbers_are_measures(name: str) -> None:
    texts, framework = read_texts(None), FRAMEWORKS[name]
    for criterion in framework.criteria:
        assert texts(f"frameworks.{name}.{criterion.id}")
        assert texts(f"frameworks.{name}.{criterion.id}_text")
        assert {*criterion.records, *criterion.secrets} <= {*BY_ID}
        assert {*criterion.highest} <= {*criterion.records, *criterion.secrets}
    assert all(texts(f"frameworks.{name}.no_{each}") for each in framework.unanswered)


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_numbers_are_those_of_the_assessment(name: str) -> None:
    result = sievert.assess(TABLE, ["age"], ["illness"], framework=name)
    content = result.to_dict()
    for criterion in content["framework"]["criteria"]:
        for number in criterion["numbers"]:
            where, _, secret = number["where"].partition(".")
            values = content[where][secret] if secret else content[where]
            assert number["value"] == values[number["measure"]]["value"]
    page = builder.build([result])
    chapter = next(c for c in page.chapters if c.anchor == "part1-framework")
    assert len(chapter.blocks) == 7


@pytest.mark.parametrize("size, within", [(11, False), (12, True)])
def test_eleven_people_are_not_enough_for_a_risk_of_nine_per_cent(size: int, within: bool) -> None:
    table = {"age": ["30"] * size, "illness": ["flu", "cold"] * 5 + ["flu"] * (size - 10)}
    number = evidence("ema0070", table)["criteria"][0]["numbers"][0]
    assert (number["max"], number["within"]) == (0.09, within)


def test_a_threshold_is_not_decided_where_rows_may_not_be_people() -> None:
    table = {**TABLE, "patient": ["a"] * 24}
    number = evidence("ema0070", table, identifier=["patient"])["criteria"][0]["numbers"][0]
    assert number["value"] < 0.09
    assert number["within"] is None


def test_a_threshold_is_not_decided_without_a_number() -> None:
    number = evidence("ema0070", measures=["k_anonymity"])["criteria"][0]["numbers"][0]
    assert (number["value"], number["within"]) == (None, None)


def test_the_record_has_the_digests(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("age,illness\n" + "30,flu\n30,cold\n" * 6)
    policy = tmp_path / "policy.toml"
    policy.write_text("[limits]\nk_anonymity = { min = 2 }\n")
    record = evidence("wp216", path, policy=policy)["record"]
    assert record["input_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert record["policy_sha256"] == hashlib.sha256(policy.read_bytes()).hexdigest()
    assert record["version"] == sievert.__version__
    assert evidence("wp216")["record"]["input_sha256"] is None


def test_the_option_knows_every_framework() -> None:
    assert {*get_args(Framework)} == {*FRAMEWORKS}


def test_an_unknown_framework() -> None:
    with pytest.raises(UsageError, match="framework"):
        evidence("wp21")


def test_what_is_shared_has_no_framework() -> None:
    result = sievert.assess(TABLE, ["age"], ["illness"], framework="wp216")
    page = builder.build([result], builder.ReportSettings(share=True))
    assert "framework" not in " ".join(c.anchor for c in page.chapters)


MISSING = {"age": ["30"] * 30, "illness": ["flu"] * 14 + ["cold"] * 7 + [None] * 9}


def test_a_framework_has_the_worse_reading_as_limits_have() -> None:
    """Two of three of those whose illness is known have the flu; of all it is fewer than half."""
    result = sievert.assess(MISSING, ["age"], ["illness"], framework="wp216")
    numbers = evidence("wp216", MISSING)["criteria"][2]["numbers"]
    confidence = next(n for n in numbers if n["measure"] == "max_confidence")
    assert confidence["value"] == pytest.approx(14 / 21)
    assert shown_beside("Highest confidence", result) == ["66.7 %"]


@pytest.mark.parametrize("limit", [0.6667, 0.66666666, 0.5])
def test_a_framework_shows_a_number_as_the_limits_table_does(limit: float) -> None:
    """Also where a limit needs more digits than three to tell on which side the number is."""
    rules = {
        "roles": {"quasi": ["age"], "sensitive": ["illness"], "rows_are_people": True},
        "limits": {"inference": {"illness": {"max_confidence": {"max": limit}}}},
    }
    result = sievert.assess(MISSING, policy=rules, framework="wp216")
    shown = shown_beside("Highest confidence", result)
    table = next(c for c in builder.build([result]).chapters if c.anchor == "limits")
    numbers = next(b for b in table.blocks if isinstance(b, Numbers))
    (row,) = (r for g in numbers.groups for r in g.rows if r.id == "max_confidence")
    assert shown == [row.value]


SUPPRESSED = {
    "age": ["30"] * 20 + ["40"] * 20 + ["*"] * 4,
    "illness": ["flu", "cold"] * 20 + ["flu"] * 4,
}


def test_a_framework_looks_at_the_suppressed_records() -> None:
    """Suppressed records are a class of four: their risk of 25 % is above the threshold of 9 %."""
    limits = {
        "reidentification": {"highest_risk": {"max": 0.09}},
        "inference": {"illness": {"max_confidence": {"max": 0.9}}},
    }
    roles = {"quasi": ["age"], "sensitive": ["illness"], "rows_are_people": True}
    rules = {"roles": roles, "limits": limits}
    result = sievert.assess(SUPPRESSED, policy=rules, framework="ema0070")
    assert result.met is False
    criteria = result.to_dict()["framework"]["criteria"]
    risk = criteria[0]["numbers"][0]
    assert (risk["value"], risk["within"], risk["scope"]) == (0.25, False, "suppressed")
    numbers = [number for criterion in criteria for number in criterion["numbers"]]
    confidence = next(n for n in numbers if n["measure"] == "max_confidence")
    assert (confidence["value"], confidence["scope"]) == (1.0, "suppressed")
    assert shown_beside("Highest confidence", result) == ["100 %"]
    # Without a limit the suppressed records are not measured, and nothing is decided.
    (number,) = evidence("ema0070", SUPPRESSED)["criteria"][0]["numbers"]
    assert number["value"] == 0.05 and number["within"] is None
    kept = evidence("ema0070", SUPPRESSED, keep_suppressed=True)["criteria"][0]["numbers"][0]
    assert (kept["value"], kept["within"]) == (0.25, False)


def shown_beside(title: str, result: Any) -> list[str]:
    """The numbers of a measure in the table of the framework."""
    page = builder.build([result])
    chapter = next(c for c in page.chapters if c.anchor == "part1-framework")
    (grid,) = (b for b in chapter.blocks if isinstance(b, Grid) and len(b.head) == 4)
    return [str(row[2]) for row in grid.rows if title in str(row[1])]
