"""Names and keywords that users' programs rely on: a change of the house must not break them.

`tests/golden/public_names.json` has every public name of version 0.1.0 with its keywords. Names and
keywords may be added; to take one away is a decision, with a line in the changelog.
"""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import sievert

GOLDEN = Path(__file__).parents[2] / "golden" / "public_names.json"
NAMES: dict[str, list[str] | None] = json.loads(GOLDEN.read_text(encoding="utf-8"))
READER = (
    "delimiter", "encoding", "types", "na", "header", "max_unpacked", "max_field", "max_columns",
    "timeout", "engine", "memory", "threads", "temp", "master",
)  # fmt: skip


def public(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


@pytest.mark.filterwarnings("ignore:.* is now sievert:DeprecationWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_keeps_its_keywords(name: str) -> None:
    keywords = NAMES[name]
    value = public(name)
    if keywords is not None:
        parameters = inspect.signature(value).parameters
        fields = value if inspect.isclass(value) else None  # what a class holds may be a property
        assert [k for k in keywords if k not in parameters and not hasattr(fields, k)] == []


@pytest.mark.parametrize("command", ["assess", "attack", "compare", "compromise", "explain"])
def test_reader_options_are_accepted_and_others_refused(command: str) -> None:
    table = {"a": ["1", "2", "1"] * 20, "s": ["1", "2", "3"] * 20}
    first = (table, [table]) if command == "compare" else (table,)
    types = {"s": "int"} if command == "compromise" else None
    function = getattr(sievert, command)
    with pytest.raises((sievert.SievertError, TypeError), match="delimeter"):
        function(*first, quasi="a", sensitive="s", delimeter=",")
    options: dict[str, Any] = dict.fromkeys(READER) | {
        "encoding": "utf-8", "na": (), "header": True, "max_columns": 100, "types": types
    }  # fmt: skip
    assert function(*first, quasi="a", sensitive="s", **options).rows == 60


RENAMED_FUNCTIONS = {
    "sievert.estimators.binned": "bin_numbers",
    "sievert.estimators.continuous": "is_continuous",
    "sievert.estimators.lost": "information_lost",
    "sievert.losses.Kind": "LossKind",
    "sievert.methods.anatomised": "anatomise",
    "sievert.methods.answered": "infer_from_answers",
    "sievert.methods.every": "group_by_subsets",
    "sievert.methods.grouped": "group_records",
    "sievert.methods.noisy": "add_noise",
    "sievert.methods.reachable": "origin_probabilities",
    "sievert.methods.recoded": "recode",
    "sievert.methods.restricted": "restrict_queries",
    "sievert.methods.sampled": "draw_sample",
    "sievert.methods.span_of": "noise_span",
    "sievert.methods.supplied": "check_probabilities",
    "sievert.tradeoff.channel.evaluated": "evaluate_channel",
}


@pytest.mark.parametrize("old", RENAMED_FUNCTIONS)
def test_functions_can_be_called_by_their_old_names(old: str) -> None:
    name, _, last = old.rpartition(".")
    module = import_module(name)
    new = RENAMED_FUNCTIONS[old]
    with pytest.warns(DeprecationWarning, match=f"{old} is now {name}.{new}") as warned:
        function = getattr(module, last)
    assert warned[0].filename == __file__
    assert function is getattr(module, new)
    assert last not in vars(module)
    with pytest.raises(AttributeError, match="has no attribute"):
        _ = module.no_such_name


RENAMED = {
    "sievert.attacks.linkage": ("sievert.commands.attack.linkage", "link"),
    "sievert.estimating": ("sievert.estimators", "chance"),
    "sievert.tradeoff.gaussian": ("sievert.commands.limit.gaussian_model", "Pair"),
}


@pytest.mark.parametrize("old", RENAMED)
def test_documented_modules_can_be_imported_by_their_old_names(old: str) -> None:
    new, name = RENAMED[old]
    module = import_module(old)
    with pytest.warns(DeprecationWarning, match=f"is now {new}") as warned:
        moved = getattr(module, name)
    assert warned[0].filename == __file__  # the line that has to be changed
    assert moved is getattr(import_module(new), name)
    with pytest.raises(AttributeError):
        _ = module.no_such_name
