"""Shareable outputs do not tell apart tables that differ in one person, but by what is declared."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers import differencing
from helpers.differencing import ASSESS, FAMILIES, INFLUENCE, QUASI, REFUSED, Finding, Workplace

import sievert
from sievert.sharing import COARSEST, FINEST, LEAST, round_share, round_step, shown_records


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


# -- the attack -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FAMILIES)
def test_one_person_is_not_told(kind: str, place: Workplace) -> None:
    """Of every family: nothing differs, but at an edge by a step, and verdicts."""
    family = FAMILIES[kind]()
    moved = differencing.difference(place, family, ASSESS[0], 2)
    numbers = [each for each in moved if not each.startswith("verdict")]
    assert not numbers or family.moves, numbers
    if kind == "edges":
        assert {"records", "unique_records"} <= set(numbers)  # it sees what there is to see
    if kind == "smallest_class":
        assert "verdict on k_anonymity" in moved


@pytest.mark.parametrize("options", ASSESS[1:], ids=["masked", "wildcard"])
@pytest.mark.parametrize("kind", ["missing_key", "rare", "constant"])
def test_other_settings_tell_no_more(kind: str, options: tuple[str, ...], place: Workplace) -> None:
    moved = differencing.difference(place, FAMILIES[kind](), options, 1)
    assert all(each.startswith("verdict") for each in moved)


@pytest.mark.parametrize("command", REFUSED, ids=lambda c: "-".join(c))
def test_the_rest_is_refused_for_one_reason(command: tuple[str, ...], place: Workplace) -> None:
    """Exit 7 and a sentence, before the table is read: nothing of it can be in them."""
    said = []
    for rows in (FAMILIES["rare"]().base, FAMILIES["rare"]().neighbours[0]):
        place.write(rows)
        said.append(place.run(*command, "-q", QUASI, "-s", "ill", "--share"))
    code, out, err = said[0]
    assert said[0] == said[1]
    assert (code, out) == (7, "")
    assert "not shareable. Try: " in err and err.count("\n") == 1
    assert sorted(p.name for p in place.folder.iterdir()) == ["policy.toml", "table.csv"]


@pytest.mark.parametrize("kind", ["homogeneous", "rare"])
def test_a_comparison_shows_verdicts_only(kind: str, place: Workplace) -> None:
    family, said = FAMILIES[kind](), []
    for rows in (family.base, family.neighbours[0]):
        place.write(rows).rename(place.folder / "original.csv")
        place.write(tuple((f"{a[:1]}*", z, i, p) for a, z, i, p in rows))
        said.append(
            place.shared(
                "compare", "original.csv", "table.csv", "-q", QUASI, "-s", "ill",
                "--policy", "policy.toml", "--shuffles", "0",
            )
        )  # fmt: skip
    data = json.loads(said[0]["json"])
    assert {"reidentification", "inference"}.isdisjoint(data) and len(data["releases"]) == 1
    assert said[0] == said[1]


def test_a_page_of_saved_results_shows_no_more(place: Workplace) -> None:
    """Results of all commands, saved in full, on one shareable page."""
    texts = []
    for rows in (FAMILIES["homogeneous"]().base, FAMILIES["homogeneous"]().neighbours[0]):
        table: dict[str, list[Any]] = {
            name: list(column)
            for name, column in zip(differencing.HEADER, zip(*rows, strict=True), strict=True)
        }
        table["pay"] = [int(pay) for pay in table["pay"]]
        results = {
            "assess": sievert.assess(table, ["age", "zip"], "ill", attacks=True),
            "explain": sievert.explain(table, ["age", "zip"], "ill"),
            "attack": sievert.attack(table, None, ["age", "zip"], "ill", reasoning=False),
            "compromise": sievert.compromise(
                table, ["age"], "pay", parameters=[1.0], epsilon=[100], replicates=1
            ),
            "limit": sievert.randomise(table, "zip", "ill", at=0.1),
        }
        for name, result in results.items():
            (place.folder / f"{name}.json").write_text(json.dumps(result.to_dict()))
        files = [f"{name}.json" for name in results]
        for given in (files, files[:1]):
            code, out, _ = place.run("report", *given, "--share")
            assert code == 0
            texts.append(out)
        for name in files[1:]:
            assert place.run("report", name, "--share")[0] == 7
    assert len(set(texts)) == 1


def test_the_attack_finds_what_is_planted() -> None:
    """A number that is not declared, a step too many, a verdict without its number, other words."""
    entry = {"value": 0.5, "step": 0.01, "unit": "1", "riskier": "high", "reason": None}
    base = {
        "table": {"rows": 1200},
        "reidentification": {"unique_records": entry, "classes": {"value": 7}},
        "inference": {},
        "policy": {"met": True, "limits": [{"measure": "k_anonymity", "met": True}]},
    }
    exact = {
        "table": {"rows": 1230},
        "reidentification": {"unique_records": {"value": 0.504}, "classes": {"value": 7}},
        "inference": {},
        "policy": {"met": True, "limits": [{"value": 5}]},
    }

    def written(data: Any, text: str = "") -> dict[str, str]:
        return {"code": "0", "json": json.dumps(data), "terminal": text, "html": "", "md": ""}

    def planted(**changes: Any) -> Any:
        return json.loads(json.dumps(base | changes))

    other = planted(reidentification={"unique_records": entry | {"value": 0.51},
                                      "classes": {"value": 7}})  # fmt: skip
    crossed = json.loads(json.dumps(exact))
    crossed["reidentification"]["unique_records"]["value"] = 0.5056
    assert differencing.attack((written(base), written(other)), (exact, crossed))
    for data, text in (
        (planted(reidentification={"unique_records": entry, "classes": {"value": 8}}), ""),
        (planted(reidentification={"unique_records": entry | {"value": 0.52},
                                   "classes": {"value": 7}}), ""),
        (planted(table={"rows": 1100}), ""),
        (planted(policy={"met": True, "limits": [{"measure": "k_anonymity", "met": False}]}), ""),
        (planted(warnings=["one value is missing"]), ""),
        (base, "one more sentence"),
    ):  # fmt: skip
        with pytest.raises(Finding):
            differencing.attack((written(base), written(data, text)), (exact, crossed))


# -- bounds and rounding --------------------------------------------------------------------------


def vulnerabilities(rows: list[tuple[str, str]]) -> dict[str, float | None]:
    """The shareable numbers by their definitions, from the records themselves."""
    keys, secrets = [q for q, _ in rows], [s for _, s in rows]
    number = len(rows)
    prior = max(map(secrets.count, secrets))
    right = sum(max(map(mine.count, mine)) for mine in _by_class(rows))
    return {
        "unique_records": sum(keys.count(q) == 1 for q in keys) / number,
        "average_risk": len(set(keys)) / number,
        "bayes_vulnerability_prior": prior / number,
        "bayes_vulnerability_posterior": right / number,
        "guess_gain": (right - prior) / (number - prior) if prior < number else None,
    }


def _by_class(rows: list[tuple[str, str]]) -> list[list[str]]:
    return [[s for q, s in rows if q == key] for key in {q for q, _ in rows}]


def test_no_person_moves_a_number_beyond_its_bound() -> None:
    """Random small tables and everybody's changes: the declared bounds hold, and are reached."""
    reached = dict.fromkeys(INFLUENCE, 0.0)
    for number in range(250):
        random = Random(number)
        values = [(q, s) for q in "abcd"[: random.randint(1, 4)] for s in "xyz"]
        rows = [random.choice(values) for _ in range(random.randint(3, 9))]
        at = random.randrange(len(rows))
        others = [*values, ("new", "x"), ("new", "new")]
        tables = [[*rows[:at], new, *rows[at + 1 :]] for new in others]
        tables += [*([*rows, new] for new in others), rows[:at] + rows[at + 1 :]]
        before = vulnerabilities(rows)
        for table in tables:
            after = vulnerabilities(table)
            records = min(len(rows), len(table))
            without = [len(t) * (1 - vulnerabilities(t)["bayes_vulnerability_prior"])  # type: ignore[operator]
                       for t in (rows, table)]  # fmt: skip
            # of the table that has more of them: the bound is for those that are shown
            bound = {m: f(records, round(max(without))) for m, f in INFLUENCE.items()}
            for measure, most in bound.items():
                one, two = before[measure], after[measure]
                if one is not None and two is not None:
                    assert abs(one - two) <= most + 1e-12, (measure, rows, table)
                    reached[measure] = max(reached[measure], abs(one - two) / most)
    assert min(reached.values()) > 0.49, reached


def test_the_exact_numbers_are_those_that_are_bounded() -> None:
    rows = [("a", "x"), ("a", "y"), ("b", "x"), ("c", "z"), ("c", "z"), ("d", "x")]
    table = {"q": [q for q, _ in rows], "s": [s for _, s in rows]}
    found, by_hand = sievert.assess(table, "q", "s"), vulnerabilities(rows)
    for measure in INFLUENCE:
        values = found.reidentification if measure in ("unique_records", "average_risk") else (
            found.inference["s"]
        )  # fmt: skip
        if measure in values:
            assert values[measure].value == pytest.approx(by_hand[measure])


def test_all_and_nearly_all_look_alike() -> None:
    """So do none and few: a whole step at each end, which is at least a cell of people."""
    for records in (1000, 2000, 30_000):
        step = round_step(max(LEAST * INFLUENCE["unique_records"](records, 0), FINEST))
        few = [round_share(n / records, step) for n in range(LEAST)]
        many = [round_share(1 - n / records, step) for n in range(LEAST)]
        assert all(each == few[0] and each["value"] is None for each in few)
        assert all(each == many[0] and each["value"] is None for each in many)


def test_steps_follow_from_what_is_shown() -> None:
    """Two tables that look alike in records and base rate have the same steps."""
    table = {c: list(v) for c, v in zip(differencing.HEADER,
             zip(*differencing.ward(1240), strict=True), strict=True)}  # fmt: skip
    for rare in (0, 3):
        ill = [*table["ill"][rare:], *["Sx"] * rare]
        shown = sievert.assess({**table, "ill": ill}, ["age", "zip"], "ill").share().to_dict()
        steps = {m: v["step"] for m, v in shown["inference"]["ill"].items()}
        assert steps == steps | {"bayes_vulnerability_prior": 0.01}
        assert max(steps.values()) <= COARSEST
    assert shown["table"]["rows"] == shown_records(1240) == 1200
