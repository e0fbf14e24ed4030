"""The frontier on the command line: its table, its chart and its JSON."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

import sievert
from sievert.cli import app
from sievert.errors import ExhaustedError, UsageError

RULES = {
    "roles": {"quasi": ["age", "town"], "sensitive": ["ill"], "rows_are_people": True},
    "limits": {"k_anonymity": {"min": 4}, "discrimination_rate": {"max": 0.2}},
}
AGES = {"age": "interval:5,10,20"}


def people() -> dict[str, list[str]]:
    random = Random(4)
    return {
        "age": [str(random.randint(18, 60)) for _ in range(150)],
        "town": [random.choice(("01234", "01239", "20095")) for _ in range(150)],
        "ill": [random.choice(("flu", "cold", "gout")) for _ in range(150)],
    }


def test_the_frontier_meets_the_policy_where_it_says_so() -> None:
    """Also limits on the table as a whole; what a point says is what its levels give."""
    result = sievert.protect(people(), policy=RULES, hierarchies=AGES, frontier=True)
    content = result.to_dict()
    assert content["frontier_secret"] == "ill"
    points = content["frontier"]
    assert [p["levels"] for p in points if p["chosen"]] == [result.levels]
    assert {p["meets"] for p in points} == {True, False}
    assert [p["disclosed"] for p in points] == sorted(p["disclosed"] for p in points)
    for point in points:
        again = sievert.protect(people(), policy=RULES, hierarchies=AGES, levels=point["levels"])
        assert again.met is point["meets"]
        assert again.recoding.suppressed_records == point["suppressed"]
        assert again.recoding.losses.bits["ill"] == pytest.approx(point["lost"], abs=1e-9)


def test_the_command_draws_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, rules = tmp_path / "t.csv", tmp_path / "p.toml"
    table = people()
    lines = [",".join(table), *map(",".join, zip(*table.values(), strict=True))]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rules.write_text(
        '[roles]\nquasi = ["age", "town"]\nsensitive = ["ill"]\nrows_are_people = true\n'
        '[hierarchies]\nage = "interval:5,10,20"\n[limits]\nk_anonymity = { min = 4 }\n'
        "suppressed_records = { max = 9 }\n"
    )
    given = ["protect", str(source), "--policy", str(rules), "--charts", str(tmp_path / "c")]
    assert app._run(given) == 2
    outputs = ["--json", str(tmp_path / "j.json"), "--html", str(tmp_path / "p.html")]
    assert app._run([*given, "--frontier", *outputs]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "All recodings" in shown and "chosen" in shown
    assert (tmp_path / "c" / "frontier.svg").read_text(encoding="utf-8").startswith("<!-- drawn")
    assert json.loads((tmp_path / "j.json").read_text(encoding="utf-8"))["frontier"]


def test_without_a_secret_the_loss_is_the_one_that_is_minimised() -> None:
    roles = {"quasi": ["age", "town"], "rows_are_people": True, "ignored": {"ill": "not told"}}
    rules = {"roles": roles, "limits": {"k_anonymity": {"min": 4}}}
    result = sievert.protect(people(), policy=rules, hierarchies=AGES, frontier=True)
    assert result.to_dict()["frontier_secret"] is None
    chosen = next(p for p in result.frontier if p.chosen)
    assert chosen.lost == result.recoding.loss and chosen.meets
    meeting = [p.lost for p in result.frontier if p.meets]
    assert min(meeting) == chosen.lost


def test_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="--how full"):
        sievert.protect(people(), policy=RULES, how="sample", fraction=0.5, frontier=True)
    monkeypatch.setattr("sievert.methods.full_domain.frontier.MOST_NODES", 3)
    with pytest.raises(ExhaustedError, match="nodes"):
        sievert.protect(people(), policy=RULES, hierarchies=AGES, frontier=True)
