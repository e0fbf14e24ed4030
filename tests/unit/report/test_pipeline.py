"""The limits of a policy for a pipeline: JUnit and SARIF; only what is met passes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from helpers.commandline import run
from helpers.jsonschema_subset import faults

STRANGE = 'ill <&"\x1b]]>\ufffe'
POLICY = """
[roles]
quasi = ["age", "zip"]
sensitive = [SECRET]
rows_are_people = true
[limits]
k_anonymity = { min = 2 }
[limits.reidentification]
unique_records = { max = 0.5 }
[limits.inference.SECRET]
max_confidence = { max = 0.9 }
"""


# What the schemas of the two formats say of what we write; the soak tests read the real ones.
COUNTS = {"tests", "failures", "errors"}
JUNIT: dict[str, tuple[set[str], set[str], set[str]]] = {  # children, attributes needed and allowed
    "testsuites": ({"testsuite"}, set(), {"name", "time", *COUNTS}),
    "testsuite": ({"properties", "testcase"}, {"name", *COUNTS}, {"time"}),
    "properties": ({"property"}, set(), set()),
    "property": (set(), {"name", "value"}, set()),
    "testcase": ({"failure", "error", "system-out"}, {"classname", "name"}, {"time"}),
    **dict.fromkeys(("failure", "error"), (set[str](), set[str](), {"message", "type"})),
    "system-out": (set(), set(), set()),
}


def an_object(needed: dict[str, Any], **optional: Any) -> dict[str, Any]:
    known = {**needed, **optional, "properties": {"type": "object"}}
    never = {"enum": []}
    return {
        "type": "object",
        "required": [*needed],
        "properties": known,
        "additionalProperties": never,
    }


TEXT, MESSAGE = {"type": "string"}, an_object({"text": {"type": "string"}})
PLACE = an_object(
    {},
    logicalLocations={"type": "array", "items": an_object({"fullyQualifiedName": TEXT})},
    physicalLocation=an_object(
        {"artifactLocation": an_object({"uri": {"type": "string", "pattern": r"^[^ :\\]+$"}})},
        region=an_object({}, startLine={"type": "integer", "minimum": 1}),
    ),
)
FINDING = an_object(
    {"message": MESSAGE},
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    kind={"enum": ["fail"]},  # with any other, the level must be "none"
    level={"enum": ["none", "note", "warning", "error"]},
    locations={"type": "array", "items": PLACE},
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
)
RULE = an_object({"id": TEXT}, shortDescription=MESSAGE, fullDescription=MESSAGE)
DRIVER = an_object({"name": TEXT}, version=TEXT, rules={"type": "array", "items": RULE})
RUN = an_object(
    {"tool": an_object({"driver": DRIVER})},
    invocations={
        "type": "array",
        "items": an_object({"executionSuccessful": {"type": "boolean"}}),
    },
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results={"type": "array", "items": FINDING},
)
SARIF = an_object(
    {"version": {"enum": ["2.1.0"]}, "runs": {"type": "array", "items": RUN}}, **{"$schema": TEXT}
)


def write(path: Path, columns: dict[str, list[str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[*columns], *zip(*columns.values(), strict=True)])
    return path


def people(ages: int, secret: str = "ill") -> dict[str, list[str]]:
    """Twelve people of so many ages, with three secrets in turn."""
    return {
        "age": [f"age{i % ages}" for i in range(12)],
        "zip": ["z"] * 12,
        secret: [f"s{i // 2 % 3}" for i in range(12)],
    }


def policy(path: Path, secret: str = "ill", text: str = POLICY) -> Path:
    path.write_text(text.replace("SECRET", json.dumps(secret)), encoding="utf-8")
    return path


def cases(path: Path) -> dict[tuple[str, str, str], str]:
    """Every test case of a JUnit file, by its suite and its names, with what became of it.

    It has no names but those of Jenkins' schema, and all that this demands.
    """
    root = ElementTree.parse(path).getroot()
    for element in root.iter():
        children, needed, optional = JUNIT[element.tag]
        assert {child.tag for child in element} <= children
        assert needed <= {*element.attrib} <= needed | optional
    seen: dict[tuple[str, str, str], str] = {}
    for suite in root.iter("testsuite"):
        states = []
        for case in suite.iter("testcase"):
            states.append(next((c.tag for c in case if c.tag in ("failure", "error")), "passed"))
            seen[suite.attrib["name"], case.attrib["classname"], case.attrib["name"]] = states[-1]
        counts = {"tests": len(states), "failures": states.count("failure")}
        counts["errors"] = states.count("error")
        assert {name: int(suite.attrib[name]) for name in counts} == counts
    assert int(root.attrib["tests"]) == len(seen)
    return seen


def findings(path: Path) -> list[dict[str, Any]]:
    """The results of a SARIF file, which has the keys that its schema demands and no others."""
    log = json.loads(path.read_text(encoding="utf-8"))
    assert faults(log, SARIF, SARIF) == []
    (only,) = log["runs"]
    rules = [rule["id"] for rule in only["tool"]["driver"]["rules"]]
    assert only["tool"]["driver"]["name"] == "Sievert" and len({*rules}) == len(rules)
    for result in only["results"]:
        assert result["message"]["text"] and result["level"] == "error"
        assert rules[result["ruleIndex"]] == result["ruleId"]
    return list(only["results"])


def test_a_limit_is_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rules, junit, sarif = policy(Path("p.toml")), Path("j.xml"), Path("s.sarif")
    table = write(Path("t.csv"), people(12))
    files = ("--junit", junit, "--sarif", sarif)
    assert run("assess", table, "--policy", rules, "--quick", *files) == 1
    every = cases(junit)
    assert every == {
        ("t.csv", "reidentification", "k_anonymity"): "failure",
        ("t.csv", "reidentification", "unique_records"): "failure",
        ("t.csv", "inference.ill", "max_confidence"): "failure",
        ("t.csv", "policy", "met"): "failure",
    }
    text = junit.read_text()
    assert "k-anonymity): 1 person, breached. The policy asks for at least 2." in text
    assert "100 %, breached. The policy asks for at most 50 %." in text
    places = [r["locations"][0]["physicalLocation"] for r in findings(sarif)]
    assert {p["artifactLocation"]["uri"] for p in places} == {"p.toml"}
    assert [p["region"]["startLine"] for p in places] == [7, 9, 11, 6]

    write(table, people(2))
    assert run("assess", table, "--policy", rules, "--quick", *files) == 0  # both are ours
    assert set(cases(junit)) == set(every) and set(cases(junit).values()) == {"passed"}
    assert findings(sarif) == []
    said = junit.read_text()
    assert "The policy is met. The verdicts rest on this: the answer is about this file" in said
    junit.write_text("<somebody-else/>")
    assert run("assess", table, "--policy", rules, "--quick", *files) == 7


def test_sarif_says_what_a_verdict_rests_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no limit is breached: a pipeline kept nothing of what a yes rests on."""
    monkeypatch.chdir(tmp_path)
    rows = [
        ("age", "zip", "ill", "pay"),
        *[("1", "2", "flu", "low"), ("1", "2", "cold", "low")] * 9,
    ]
    Path("t.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    text = POLICY.replace("[SECRET]", '["ill", "pay"]').replace("SECRET", "ill")
    Path("p.toml").write_text(text)
    sarif, junit = Path("s.sarif"), Path("j.xml")
    for more, name in ((), "18 of 18 people are in groups with one value"), (("--share",), "pay"):
        files = ("--junit", junit, "--sarif", sarif, "--force")
        assert run("assess", "t.csv", "--policy", "p.toml", *files, *more) == 0
        (own,) = json.loads(sarif.read_text())["runs"]
        (verdict,) = own["properties"]["verdicts"]
        said = " ".join(verdict["restsOn"])
        assert (
            "each row is one person" in said and "Nothing limits what is learnt about pay" in said
        )
        assert name in said and all(
            sentence in junit.read_text() for sentence in verdict["restsOn"]
        )
        assert own["results"] == []


@pytest.mark.parametrize("option", ["--junit", "--sarif"])
def test_limits_need_a_policy(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = write(tmp_path / "t.csv", people(2))
    assert run("assess", table, "-q", "age", option, tmp_path / "x") == 2
    assert "--policy" in capsys.readouterr().err
    assert run("explain", table, "-q", "age", option, tmp_path / "x") == 2
    rules = policy(tmp_path / "p.toml")
    assert run("assess", table, "--policy", rules, option, rules) == 7
    assert run("assess", table, "--policy", rules, option, "-") == 2
    assert rules.read_text().startswith("\n[roles]")


def test_undecided_and_other_reasons_do_not_pass(tmp_path: Path) -> None:
    """A column without a role, a measure that is undefined, a policy without limits."""
    junit, sarif = tmp_path / "j.xml", tmp_path / "s.sarif"
    table = write(tmp_path / "t.csv", people(2) | {"more": [str(i) for i in range(12)]})
    files = ("--junit", junit, "--sarif", sarif)
    assert run("assess", table, "--policy", policy(tmp_path / "p.toml"), "--quick", *files) == 1
    states = {where[1:]: state for where, state in cases(junit).items()}
    assert states["policy", "columns_without_role"] == "failure"
    assert (
        states["policy", "met"] == "failure"
        and states["reidentification", "k_anonymity"] == "passed"
    )
    assert {r["ruleId"] for r in findings(sarif)} == {"policy.met", "policy.columns_without_role"}

    table = write(tmp_path / "t.csv", people(2))
    rules = policy(tmp_path / "none.toml", text=POLICY.split("[limits]")[0])
    assert run("assess", table, "--policy", rules, "--quick", *files) == 1
    assert set(cases(junit).values()) == {"error"} and len(findings(sarif)) == 2

    ordered = POLICY.replace("max_confidence = { max = 0.9 }", "alpha_k = { max = 0.9 }")
    ordered += '[parameters]\nalpha_k = { value = { SECRET = "misspelt" } }\n'
    rules = policy(tmp_path / "order.toml", text=ordered)
    assert run("assess", table, "--policy", rules, "--quick", *files) == 1
    states = {where[1:]: state for where, state in cases(junit).items()}
    assert states["inference.ill", "alpha_k"] == "error" == states["policy", "met"]


def test_shareable_limits_have_no_exact_number_and_no_file(tmp_path: Path) -> None:
    table, rules = write(tmp_path / "very-own.csv", people(12)), policy(tmp_path / "our-own.toml")
    junit, sarif = tmp_path / "j.xml", tmp_path / "s.sarif"
    files = ("--share", "--mask-names", "--junit", junit, "--sarif", sarif)
    assert run("assess", table, "--policy", rules, *files) == 1
    assert set(cases(junit).values()) == {"failure"} and len(findings(sarif)) == 4
    text = junit.read_text() + sarif.read_text()
    assert "withheld, breached" in text and "1 person" not in text and "100 %" not in text
    assert "-own" not in text and "ill" not in text.replace("withheld", "") and "shareable" in text


def test_names_are_escaped(tmp_path: Path) -> None:
    """Names that are no XML, and lines of a terminal."""
    table = write(tmp_path / "t.csv", people(12, STRANGE))
    rules = policy(tmp_path / "p.toml", STRANGE)
    junit, sarif = tmp_path / "j.xml", tmp_path / "s.sarif"
    assert (
        run("assess", table, "--policy", rules, "--quick", "--junit", junit, "--sarif", sarif) == 1
    )
    (place,) = {where for _, where, _ in cases(junit) if where.startswith("inference")}
    assert place == r'inference.ill <&"\x1b]]>\ufffe'
    assert "\x1b" not in sarif.read_text() and len(findings(sarif)) == 4


def test_every_gate_writes_its_tables(tmp_path: Path) -> None:
    """Releases, key sets and synthetic tables have a suite each; an original has none."""
    table, rules = write(tmp_path / "t.csv", people(12)), policy(tmp_path / "p.toml")
    coarse = write(tmp_path / "coarse.csv", people(12) | {"age": ["*0"] * 12})
    junit = tmp_path / "j.xml"
    given = ("--policy", rules, "--junit", junit)
    assert run("compare", table, table, coarse, "--paired", "--shuffles", 0, *given) == 0
    suites = {suite for suite, *_ in cases(junit)}
    states = {suite: cases(junit)[suite, "policy", "met"] for suite in suites}
    assert sorted(states.values()) == ["failure", "passed"]

    free = policy(tmp_path / "free.toml", text=POLICY.replace("quasi =", "ignored = {}  #"))
    given = ("--policy", free, "--junit", junit, "--quick")
    sets = ("--key-set", "age", "--key-set", "zip", "--key-set", "zip,age")
    assert run("assess", table, *sets, *given) == 1
    assert {s for s, *_ in cases(junit)} == {"t.csv: age", "t.csv: zip", "t.csv: zip and age"}

    release = tmp_path / "release.csv"
    assert run("protect", table, "--policy", rules, "-o", release, "--junit", junit) in (0, 1)
    assert ("t.csv", "policy", "met") in cases(junit)

    limits = policy(
        tmp_path / "s.toml",
        text=POLICY.split("[limits]")[0] + "[limits.synthetic.copies]\nrate = { max = 0.0 }\n",
    )
    sarif = tmp_path / "s.sarif"
    given = ("--policy", limits, "--junit", junit, "--sarif", sarif)
    secrets = people(12)["ill"]
    mixed = write(tmp_path / "mixed.csv", people(12) | {"ill": [*secrets[2:], *secrets[:2]]})
    assert run("synthetic", table, table, coarse, mixed, *given) == 1
    for name in ("t.csv", "coarse.csv"):  # that no age is written hides no copies
        assert cases(junit)[name, "synthetic", "copies.rate"] == "failure"
    assert cases(junit)["mixed.csv", "synthetic", "copies.rate"] == "passed"
    assert "copies.rate: 1, breached. The policy asks for at most 0." in junit.read_text()
