"""Records that were mappings: their keys keep working, and warn."""

import json
import random
import warnings
from typing import Any

import pytest

import sievert
from sievert.measures.unicity import Unicity
from sievert.renamed import SubscriptedRecord


def table() -> dict[str, list[str]]:
    draw = random.Random(3)
    return {
        "age": [str(20 + i % 10) for i in range(60)],
        "ill": [draw.choice(["flu", "gout"]) for _ in range(60)],
    }


def test_a_comparison_is_read_by_its_former_keys() -> None:
    found = sievert.compare(table(), table(), "age", "ill", paired=True)
    with pytest.warns(DeprecationWarning, match="ComparedOriginal has attributes"):
        told = found.original["attribute_disclosure"]["ill"]
    assert told is found.original.attribute["ill"]
    with pytest.warns(DeprecationWarning):
        assert found.original["assessment"] is found.original.assessment
    with pytest.warns(DeprecationWarning):
        assert found.original.get("policy") is None
    with pytest.warns(DeprecationWarning):
        assert "policy" not in found.original
    with pytest.warns(DeprecationWarning, match="ComparisonChoices"):
        assert found.settings["seed"] == found.settings.seed
    with pytest.warns(DeprecationWarning, match="PairedRecords"):
        assert found.releases[0].records["paired"] == 60
    with pytest.warns(DeprecationWarning, match="t_closeness"):
        details = found.releases[0].disclosed.attribute["ill"].details
    assert details["t_closeness"] == found.releases[0].disclosed.attribute["ill"].t_closeness


def test_settings_of_a_limit_are_a_mapping_still() -> None:
    found = sievert.randomise(table(), "age", "ill", at=[0.1])
    saved: dict[str, Any] = found.to_dict()["settings"]
    with pytest.warns(DeprecationWarning):
        assert dict(found.settings) == saved
    with pytest.warns(DeprecationWarning):
        assert json.loads(json.dumps({**found.settings})) == json.loads(json.dumps(saved))
    with pytest.warns(DeprecationWarning):
        assert dict(found.settings.items()) == saved
    with pytest.warns(DeprecationWarning):
        assert list(found.settings.values()) == list(saved.values())
    with pytest.warns(DeprecationWarning):
        assert [*found.settings] == list(saved)
    with pytest.warns(DeprecationWarning), pytest.raises(KeyError):
        found.settings["no such choice"]


def test_a_trajectory_is_read_by_its_former_keys() -> None:
    unicity = Unicity(sightings=2, value=0.5, low=0.4, high=0.6)
    with pytest.warns(DeprecationWarning, match="Unicity has attributes now"):
        assert unicity["value"] == 0.5


def test_the_warning_names_the_line_of_the_caller() -> None:
    unicity = Unicity(sightings=2, value=0.5, low=0.4, high=0.6)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        unicity["low"]
        unicity.get("low")
    assert [warning.filename for warning in caught] == [__file__, __file__]


def test_attributes_and_truth_give_no_warning() -> None:
    unicity = Unicity(sightings=2, value=0.5, low=0.4, high=0.6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert unicity
        assert unicity.value == 0.5
        assert unicity == Unicity.from_dict(unicity.to_dict())
    assert isinstance(unicity, SubscriptedRecord)
