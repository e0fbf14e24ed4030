"""What a yes rests on: every output of every command says the same things in the same places."""

from __future__ import annotations

from collections import defaultdict
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import pytest

import sievert
from sievert.commands.report.run import build_page
from sievert.counts.coded import CodedPeople
from sievert.counts.memory_cells import PeopleCounter
from sievert.report import html, markdown

FILE = "the answer is about this file, with every column that it has"
PLAN = "the answer is about a planned release, not about this file"
RELEASE = "the answer is about the release, with the columns that it has"
PEOPLE, ROWS = "people were counted", "each row is one person, as the policy says"
SUPPRESSED = "in every quasi-identifier are"
OF_PLAN = "the order of the rows is not that of a release"
BY_HASH = "the order of the rows tells nothing"
IN_FILE = "the order of the rows tells no more than the values"
OF_ATTACKS = "the order of the rows was not looked at: no attack goes by it"
# By command: what is asked about, who was counted, and what is said of the order.
COMMANDS = {
    "assess": (FILE, ROWS, IN_FILE),
    "assess of people": (PLAN, PEOPLE, OF_PLAN),
    "compare": (FILE, ROWS, IN_FILE),
    "protect": (RELEASE, ROWS, BY_HASH),
    "protect of people": (RELEASE, PEOPLE, BY_HASH),
    "protect by records": (RELEASE, ROWS, BY_HASH),
    "ledger": (PLAN, PEOPLE, OF_PLAN),
    "synthetic": (FILE, ROWS, OF_ATTACKS),
    "synthetic, two tables": (FILE, ROWS, OF_ATTACKS),
}
SHAREABLE = ("assess", "assess of people", "compare")


def visits() -> list[dict[str, str]]:
    """Two rows of each of 40 people; whoever is 20 or 21 has the same pay as all of that age."""
    draw, rows = Random(5), []
    for person in range(40):
        age = 20 + person // 10
        for _ in range(2):
            pay = f"pay {age}" if age < 22 else f"pay {draw.randint(0, 3)}"
            row = {"who": f"p{person}", "age": str(age), "ill": draw.choice(["flu", "gout"])}
            rows.append({**row, "pay": pay})
    draw.shuffle(rows)
    return rows


def columns(rows: list[dict[str, Any]], *names: str) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names}


def policy(*, people: bool) -> dict[str, Any]:
    roles: dict[str, Any] = {"quasi": ["age"], "sensitive": ["ill", "pay"]}
    roles |= {"person": "who"} if people else {"rows_are_people": True}
    limits = {"reidentification": {"k_anonymity": {"min": 2}}}
    return {"roles": roles, "limits": {**limits, "inference": {"ill": {"l_diversity": {"min": 2}}}}}


def result(command: str, here: Path) -> Any:
    people = "people" in command or command == "ledger"
    rules, names = policy(people=people), ("who", "age", "ill", "pay")
    table = columns(visits(), *(names if people else names[1:]))
    if command.startswith("assess"):
        return sievert.assess(table, policy=rules, planned=people)
    if command == "compare":
        return sievert.compare(table, table, policy=rules, paired=True)
    if command.startswith("synthetic"):
        rules["limits"] = {"synthetic": {"copies": {"rate": {"max": 1.0}}}}
        many = [table, table] if "two" in command else table
        return sievert.synthetic(table, many, policy=rules)
    if command.startswith("protect"):
        how = "suppress" if "records" in command else "full"
        ages = {"age": "interval:2"} if how == "full" else {}
        levels = {"levels": {"age": 0}} if how == "full" else {}
        out = here / "r.csv"
        return sievert.protect(table, policy=rules, how=how, hierarchies=ages, out=out, **levels)
    sievert.add_to_ledger(here / "ledger", table, policy=rules, name="one", date="2026-01-01")
    again = {c: [*reversed(values)] for c, values in table.items()}
    return sievert.check_with_ledger(here / "ledger", again, policy=rules)


def texts(found: Any) -> dict[str, str]:
    page = build_page([found])
    shown = {
        "terminal": repr(found),
        "Markdown": markdown.render(page),
        "HTML": unescape(html.render(page)),
    }
    return {output: " ".join(text.split()) for output, text in shown.items()}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_output_says_what_a_yes_rests_on(command: str, tmp_path: Path) -> None:
    found, (question, counted, order) = result(command, tmp_path), COMMANDS[command]
    content = found.to_dict()
    stated = content.get("policy") or content["original"]["policy"]
    assert stated.get("planned_met", stated["met"]) is True, stated["reasons"]
    everybody = 40 if counted == PEOPLE else 80
    number = {"secret": "pay", "people": everybody // 2, "of": everybody}
    if command.startswith("synthetic"):  # a limit on inference would be one on every secret
        assert [each["secret"] for each in stated["unjudged"]] == ["ill", "pay"]
        assert number in stated["unjudged"]
    else:
        assert stated["unjudged"] == [number]
    clauses = (question, counted, "1 quasi-identifier, 2 secrets", SUPPRESSED, order)
    name = "Nothing limits what is learnt about pay"
    words = f"{name}: {everybody // 2} of {everybody} people are in groups with one value."
    for output, text in texts(found).items():
        for clause in (*clauses, words):
            assert clause in text, (output, clause)
    if command not in SHAREABLE:
        return
    shared = found.share()
    for output, text in texts(shared).items():
        for clause in (*clauses[:-1], f"{name}."):
            assert clause in text, (output, clause)
        # One person can change the order, and how many people are concerned.
        assert words not in text and IN_FILE not in text, output


def in_groups_with_one_value(rows: list[dict[str, Any]]) -> int:
    """The people of groups in which a value is everybody's, by sets of people."""
    groups: dict[str, set[str]] = defaultdict(set)
    holders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        groups[row["age"]].add(row["who"])
        holders[row["age"], row["pay"]].add(row["who"])
    certain = {age for (age, _), who in holders.items() if who == groups[age]}
    return len(set().union(*(groups[age] for age in certain)))


@pytest.mark.parametrize("seed", range(12))
def test_the_number_of_people_with_several_rows(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In `assess` and `protect`: nobody counts twice, neither here nor in the engine."""
    if seed % 2:  # small tables are counted here unless told otherwise
        in_engine = PeopleCounter.certain_people
        monkeypatch.setattr(CodedPeople, "certain_people", in_engine)
    draw = Random(seed)
    rows = [
        {
            "who": f"p{draw.randint(0, 14)}" if seed < 6 or draw.random() < 0.9 else None,
            "age": str(draw.randint(20, 23)),
            "ill": draw.choice(["flu", "gout"]),
            "pay": str(draw.randint(0, 2)),
        }
        for _ in range(24)
    ]
    table, rules = columns(rows, *rows[0]), policy(people=True)
    for number, row in enumerate(rows):  # a row without a person is a person of its own
        row["who"] = row["who"] or f"row {number}"
    people, expected = len({row["who"] for row in rows}), in_groups_with_one_value(rows)
    rules["limits"]["reidentification"] = {"k_anonymity": {"min": 1}}
    kept = {"levels": {"age": 0}, "hierarchies": {"age": "interval:2"}, "suppress": 0.0}
    for found in (
        sievert.assess(table, policy=rules, planned=True).policy,
        sievert.protect(table, policy=rules, **kept).policy,
    ):
        assert found is not None
        assert [each.to_dict() for each in found.unjudged] == [
            {"secret": "pay", "people": expected, "of": people}
        ]
    if None in table["who"]:  # a ledger refuses such rows
        return
    # Somebody with a ledger knows all rows of a person, so that groups are smaller.
    ledger = tmp_path / "ledger"
    sievert.add_to_ledger(ledger, table, policy=rules, name="one", date="2026-01-01")
    checked = sievert.check_with_ledger(ledger, table, policy=rules).alone
    assert checked is not None
    (unjudged,) = checked.unjudged
    assert unjudged.people >= expected and unjudged.of == people


@pytest.mark.parametrize(
    "limits",
    [
        {"inference": {"pay": {"max_confidence": {"max": 1.0}}}},
        {"inference": {"pay": {"l_diversity": {"min": 1}, "t_closeness": {"max": 1.0}}}},
        {"max_confidence": {"max": 1.0}},
    ],
)
@pytest.mark.parametrize("command", ["assess", "compare", "protect", "ledger"])
def test_a_limit_that_no_table_can_breach_does_not_judge_a_secret(
    command: str, limits: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit of 1 on the confidence silenced what nothing limits."""

    own_policy = policy

    def with_toothless(*, people: bool) -> dict[str, Any]:
        stated = own_policy(people=people)
        inference = {**stated["limits"]["inference"], **limits.get("inference", {})}
        stated["limits"] = {**stated["limits"], **limits, "inference": inference}
        return stated

    monkeypatch.setitem(globals(), "policy", with_toothless)
    content = result(command, tmp_path).to_dict()
    stated = content.get("policy") or content["original"]["policy"]
    assert [each["secret"] for each in stated["unjudged"]] == ["pay"]
    assert stated["unjudged"][0]["people"] == stated["unjudged"][0]["of"] // 2
