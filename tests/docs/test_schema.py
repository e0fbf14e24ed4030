"""The published schema of the JSON: what every command writes is as it says."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import run
from helpers.jsonschema_subset import faults

import sievert
from sievert.cli import outputs, parser
from sievert.commands.doctor.run import examine
from sievert.commands.measures.catalogue import ENTRIES
from sievert.commands.measures.result import EntryList
from sievert.papers import pages
from sievert.version import __version__

FOLDER = Path(__file__).parents[2] / "docs" / "schema"
SCHEMA = json.loads(
    (FOLDER / f"result-{__version__.rpartition('.')[0]}.json").read_text(encoding="utf-8")
)
TABLE: dict[str, list[str]] = {
    "sex": ["f", "m"] * 60,
    "zip": [str(1000 + i % 7) for i in range(120)],
    "pay": [str(20 + (i * i) % 11) for i in range(120)],
}
QUASI, SECRET, TYPES = ["sex", "zip"], "pay", {"pay": "int"}
POLICY = {
    "roles": {"quasi": QUASI, "sensitive": [SECRET], "rows_are_people": True},
    "limits": {"k_anonymity": {"min": 2}},
}


def assessment() -> Any:
    options = {"attacks": True, "fraction": 0.1, "explain": True, "types": TYPES}
    return sievert.assess(TABLE, policy=POLICY, **options)


def shareable() -> Any:
    return sievert.assess(TABLE, policy=POLICY, types=TYPES, framework="wp216")


def key_sets() -> Any:
    return sievert.assess(TABLE, key_sets=[["sex"], QUASI], sensitive=SECRET, types=TYPES)


def protected() -> Any:
    return sievert.protect(TABLE, policy=POLICY)


RESULTS: dict[str, tuple[str, Callable[[], Any]]] = {
    "assess": ("assessment", assessment),
    "assess --key-set": ("assessment", key_sets),
    "explain": ("explanation", lambda: sievert.explain(TABLE, QUASI, SECRET)),
    "explain, without roles": ("explanation", lambda: sievert.explain(TABLE)),
    "attack": ("attacks", lambda: sievert.attack(TABLE, quasi=QUASI, sensitive=SECRET)),
    "attack --original": (
        "attacks",
        lambda: sievert.attack(TABLE, TABLE, quasi=QUASI, sensitive=SECRET),
    ),
    "compare": ("comparison", lambda: sievert.compare(TABLE, [TABLE], QUASI, SECRET)),
    "compromise": (
        "compromise",
        lambda: sievert.compromise(TABLE, ["sex"], SECRET, types=TYPES),
    ),
    "limit": ("trade_off", lambda: sievert.randomise(TABLE, QUASI, SECRET, at=[0.1])),
    "protect": ("release", protected),
    "synthetic": ("synthetic", lambda: sievert.synthetic(TABLE, TABLE)),
    "sketch": ("sketch", lambda: sievert.sketch(TABLE, QUASI, SECRET)),
    "hierarchies": ("proposals", lambda: sievert.propose_hierarchies(TABLE, ["zip"])),
    "columns": ("columns", lambda: sievert.describe_columns(TABLE)),
}


def test_ledgers(tmp_path: Path) -> None:
    table, path = {"id": [str(i) for i in range(120)], **TABLE}, tmp_path / "ledger"
    added = sievert.add_to_ledger(path, table, "sex", SECRET, person="id", name="first")
    assert wrong(added.to_dict(), "ledger_listing") == []
    policy = {**POLICY, "roles": {**POLICY["roles"], "identifier": ["id"]}}
    for given in ({"policy": policy}, {"quasi": QUASI, "sensitive": SECRET}):
        result = sievert.check_with_ledger(path, table, person="id", **given)
        assert wrong(result.to_dict(), "ledger_check") == []


def wrong(content: Any, kind: str) -> list[str]:
    """What a result has that its part of the schema does not know, or otherwise."""
    content = json.loads(outputs.as_json(content))
    known = SCHEMA["$defs"][kind]
    unknown = [f"{key}: not in the schema" for key in content if key not in known["properties"]]
    return [*unknown, *faults(content, known, SCHEMA), *faults(content, SCHEMA, SCHEMA)]


@pytest.mark.parametrize("command", RESULTS)
def test_results(command: str) -> None:
    kind, compute = RESULTS[command]
    result = compute()
    assert wrong(result.to_dict(), kind) == []
    if command == "assess":
        assert wrong(outputs.timings(result), "timings") == []


def test_a_verified_file(tmp_path: Path) -> None:
    rows = zip(*TABLE.values(), strict=True)
    text = "\n".join([",".join(TABLE), *map(",".join, rows)])
    (path := tmp_path / "t.csv").write_text(f"{text}\n")
    result = sievert.assess(path, QUASI, SECRET, verify=True)
    assert wrong(result.to_dict(), "assessment") == []


def test_every_command_with_json_has_a_part_of_the_schema(
    capsys: pytest.CaptureFixture[str],
) -> None:
    described = ", ".join(each.get("description", "") for each in SCHEMA["$defs"].values())
    for command in parser.COMMANDS:
        assert run(*command.split(), "--help") == 0
        if re.search(r"^ +--json\b", capsys.readouterr().out, re.MULTILINE):
            assert f"sievert {command}" in described.split(", "), command


def test_shareable_results() -> None:
    from sievert import sharing

    assert wrong(sharing.shareable(shareable().to_dict()), "assessment") == []


def test_what_is_no_result(tmp_path: Path, plain_paper: Callable[[str], Any]) -> None:
    (path := tmp_path / "p.toml").write_text('[roles]\nquasi = ["sex"]\n')
    assert wrong(sievert.check_policy(path, TABLE).to_dict(), "policy_check") == []
    state = sievert.count(TABLE, ["sex"], out=tmp_path / "state")
    assert wrong(state.to_dict(), "count_state") == []
    assert wrong(pages.as_dict(plain_paper("itpr")), "recomputation") == []
    assert wrong(EntryList(ENTRIES).to_dict(), "catalogue") == []
    assert wrong(examine(), "examination") == []


def spoilt(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same result with one mistake each."""
    for path, value in (
        (("sievert",), "latest"),
        (("reidentification", "k_anonymity", "value"), "2"),
        (("reidentification", "k_anonymity", "riskier"), "sideways"),
        (("policy", "met"), "yes"),
        (("policy", "limits", 0, "min"), "2"),
        (("roles", "quasi"), "sex"),
        (("table", "rows"), -1),
        (("warnings",), [1]),
    ):
        copied = copy.deepcopy(content)
        place: Any = copied
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        yield copied
    for key in ("sievert", "table", "policy", "inference"):
        yield {k: v for k, v in content.items() if k != key}


def test_the_schema_notices_mistakes() -> None:
    content = shareable().to_dict()
    for mistaken in spoilt(content):
        assert faults(mistaken, SCHEMA["$defs"]["assessment"], SCHEMA)


def test_the_example_of_the_page_and_the_name_of_the_schema() -> None:
    version = __version__.rpartition(".")[0]
    assert SCHEMA["$id"] == f"urn:sievert:result:{version}"
    page = (FOLDER.parent / "json.md").read_text(encoding="utf-8")
    assert f"schema/result-{version}.json" in page
