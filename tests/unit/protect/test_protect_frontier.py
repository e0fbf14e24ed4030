"""The frontier on the command line: its table, its chart and its JSON."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random

import pytest
from helpers.commandline import run

import sievert
from sievert.commands.protect import limit_curve
from sievert.errors import ExhaustedError, UsageError

RULES = {
    "roles": {"quasi": ["age", "town"], "sensitive": ["ill"], "rows_are_people": True},
    "limits": {"k_anonymity": {"min": 4}, "discrimination_rate": {"max": 0.2}},
}
AGES = {"age": "interval:5,10,20"}


@pytest.fixture(autouse=True)
def few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit at few points: each takes a search, and is right by itself."""
    monkeypatch.setattr(limit_curve, "SLOPES", 4)
    monkeypatch.setattr(limit_curve, "DRAWN", 8)


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
    assert run(*given) == 2
    outputs = ["--json", str(tmp_path / "j.json"), "--html", str(tmp_path / "p.html")]
    assert run(*given, "--frontier", *outputs) == 0
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


# -- the limit, and given releases -----------------------------------------------------------------

PAIRS = {
    "town": ["north"] * 100 + ["south"] * 100,
    "ill": ["flu"] * 90 + ["cold"] * 10 + ["flu"] * 10 + ["cold"] * 90,
}
PAIR_RULES = {
    "roles": {"quasi": ["town"], "sensitive": ["ill"], "rows_are_people": True},
    "limits": {"k_anonymity": {"min": 2}},
}


def told(counts: list[int]) -> float:
    """The entropy of how often each thing occurs, in bits."""
    return -sum(n / sum(counts) * math.log2(n / sum(counts)) for n in counts)


def test_the_limit_of_two_towns_by_hand() -> None:
    """Of a symmetric pair the least I(X;X') is known in closed form (Mrs. Gerber's lemma)."""
    result = sievert.protect(PAIRS, policy=PAIR_RULES, frontier=True)
    content = result.to_dict()
    limit, whole = content["frontier_limit"], 2 * told([100, 100]) - told([90, 10, 10, 90])
    assert (limit["levels"], limit["combinations"], limit["kinds"]) == ({"town": 0}, 2, 2)
    assert limit["lost"] == 0 and limit["points"][-1]["lost"] == pytest.approx(whole, abs=1e-12)
    assert limit["points"][0]["disclosed"] == pytest.approx(1.0, abs=1e-9)
    assert limit["points"][-1]["disclosed"] == 0
    for point in limit["points"][1:-1]:
        # X' = X flipped with probability f: I(X;X') = 1 - h(f), I(X';Y) = 1 - h(f + .1 - 2 f / 10)
        low, high = 0.0, 0.5
        for _ in range(60):
            flip = (low + high) / 2
            left = 1 - told_of(flip * 0.9 + (1 - flip) * 0.1)
            low, high = (flip, high) if left > whole - point["lost"] else (low, flip)
        assert point["disclosed"] == pytest.approx(1 - told_of(low), abs=1e-5)
    gaps = {p["levels"]["town"]: p["gap"] for p in content["frontier"]}
    assert gaps == {0: pytest.approx(0.0, abs=1e-9), 1: pytest.approx(0.0, abs=1e-9)}


def told_of(share: float) -> float:
    """The entropy of a coin."""
    return -sum(p * math.log2(p) for p in (share, 1 - share) if p)


def test_what_tells_the_same_is_one_kind() -> None:
    """Two towns alike: a release may merge them for nothing, and the table discloses too much."""
    table = {c: [*values, *values] for c, values in PAIRS.items()}
    table["town"] = [*PAIRS["town"], *(f"{town} 2" for town in PAIRS["town"])]
    content = sievert.protect(table, policy=PAIR_RULES, frontier=True, loss="bits").to_dict()
    assert (content["frontier_limit"]["combinations"], content["frontier_limit"]["kinds"]) == (4, 2)
    assert {p["levels"]["town"]: round(p["gap"], 9) for p in content["frontier"]} == {0: 1, 1: 0}


def test_a_coarser_alphabet_where_the_table_has_too_many_kinds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sievert.commands.protect.limit_curve.MOST_SYMBOLS", 8)
    result = sievert.protect(people(), policy=RULES, hierarchies=AGES, frontier=True)
    content = result.to_dict()
    limit = content["frontier_limit"]
    assert limit["kinds"] <= 8 and limit["lost"] > 0 and any(limit["levels"].values())
    for point in content["frontier"]:
        finer = any(point["levels"][c] < level for c, level in limit["levels"].items())
        assert (point["gap"] is None) is finer
    assert "too many combinations" in " ".join(str(result).split())


def test_given_releases_by_hand(tmp_path: Path) -> None:
    """Rows out of order, records suppressed, a column left out: H(X') and I(X';Y) of the file."""
    release = tmp_path / "half.csv"
    rows = list(zip(*PAIRS.values(), strict=True))
    hidden = [("*" if i in range(0, 100, 2) else town, ill) for i, (town, ill) in enumerate(rows)]
    lines = ["town,ill", *(",".join(row) for row in reversed(hidden))]
    release.write_text("\n".join(lines) + "\n", encoding="utf-8")
    other = {"town": ["all"] * 200, "ill": PAIRS["ill"]}
    content = sievert.protect(
        PAIRS, policy=PAIR_RULES, frontier=True, beside=[release, other]
    ).to_dict()
    half, nothing = content["frontier_beside"]
    assert (half["name"], half["classes"], half["records"]) == ("half.csv", 3, 200)
    assert half["disclosed"] == pytest.approx(told([50, 50, 100]), rel=1e-12)  # 1.5 bits
    left = told([50, 50, 100]) + told([100, 100]) - told([45, 5, 45, 5, 10, 90])
    whole = 2 * told([100, 100]) - told([90, 10, 10, 90])
    assert half["lost"] == pytest.approx(whole - left, abs=1e-12)  # half of the north is like it
    assert half["gap"] == pytest.approx(0.5, abs=1e-9)  # the town alone takes 1 bit
    assert (nothing["name"], nothing["disclosed"], nothing["gap"]) == ("release 2", 0, 0)
    assert nothing["lost"] == pytest.approx(whole, abs=1e-12)
    with pytest.raises(UsageError, match="--frontier"):
        sievert.protect(PAIRS, policy=PAIR_RULES, beside=[release])
    with pytest.raises(UsageError, match="without any of the quasi"):
        wrong = {"village": ["a"], "ill": ["flu"]}
        sievert.protect(PAIRS, policy=PAIR_RULES, frontier=True, beside=wrong)


def test_a_kept_column_has_no_level_on_the_limit() -> None:
    """Kept columns are searched as quasi-identifiers, and the JSON does not name their levels."""
    rng = Random(5)
    columns = {
        "age": [str(rng.randrange(20, 60)) for _ in range(200)],
        "income": [rng.choice(["low", "high"]) for _ in range(200)],
        "ill": [rng.choice(["flu", "cold", "gout"]) for _ in range(200)],
    }
    policy = {
        "roles": {
            "quasi": ["age"],
            "sensitive": ["ill"],
            "kept": {"income": "needed"},
            "rows_are_people": True,
        },
        "limits": {"k_anonymity": {"min": 3}},
    }
    found = sievert.protect(
        columns, policy=policy, frontier=True, hierarchies={"age": "interval:5,10,20"}
    )
    assert [*found.to_dict()["frontier_limit"]["levels"]] == ["age"]
