"""Tables whose persons and secrets are spelt in several ways, for every engine."""

from __future__ import annotations

from typing import Any

import pytest

import sievert
from sievert.counts import spellings
from sievert.formatting.canonical import group_spellings
from sievert.session import open_source

PERSONS = ("{}", "{}.0", "0{}", "00{}", "+{}")
ILLS = ("flu", "Flu", "flu\u200b", "e\u0301", "é", "hiv'\\", "HIV'\\", None)
TABLE: dict[str, list[Any]] = {
    "town": [f"t{i // 10}" for i in range(40)],
    "key": [PERSONS[i % 5].format(13 + i // 5) for i in range(40)],
    "ill": [ILLS[i % len(ILLS)] for i in range(40)],
}
TYPES = ("text", "text", "text")
POLICY: dict[str, Any] = {
    "roles": {"quasi": ["town"], "sensitive": ["ill"], "person": "key"},
    "limits": {
        "reidentification": {"k_anonymity": {"min": 5}},
        "inference": {"ill": {"l_diversity": {"min": 4}, "max_confidence": {"max": 0.9}}},
    },
}
VALUES = (
    *("7", "7.0", "07", "007", "+7", "8", "Flu", "flu", "fl\u200bu", "P1", "p1", "it's", "IT'S"),
    *("a b", "A  b", "31.12.1999", "1999-12-31", "00", "0", "-0", "back\\slash", "BACK\\slash"),
    *("10", "010", "x:y", "X:Y", "a$", "a\n", "[z]", "`q", "{r", "550e-8a", "550E-8A", "%s", "%S"),
)


def judged(result: sievert.Assessment) -> dict[str, Any]:
    """The numbers and verdicts of an assessment, whatever is said of its rows' order."""
    whole = result.to_dict()
    rules = {key: whole["policy"][key] for key in ("met", "limits", "reasons", "spellings")}
    return {"policy": rules, **{key: whole[key] for key in ("reidentification", "inference")}}


def check_values(source: Any, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    """The values of a column that coincide are the same however many there are."""
    expected = {tuple(group) for group in group_spellings(VALUES)}
    for few, compared in ((spellings.FEW_RECORDS, 10**6), (0, 10**6), (0, 1)):
        monkeypatch.setattr(spellings, "FEW_RECORDS", few)
        monkeypatch.setattr(spellings, "MOST_FETCHED", compared)
        with open_source(source, **options) as (_, rows):
            found = spellings.find_spellings(rows, "v")
        assert {*found.groups} == expected
        assert found.compared and found.values == sum(map(len, expected))
    monkeypatch.setattr(spellings, "MOST_ODD", 3)  # more need rules that engines do not have
    with open_source(source, **options) as (_, rows):
        assert spellings.find_spellings(rows, "v").compared is False
