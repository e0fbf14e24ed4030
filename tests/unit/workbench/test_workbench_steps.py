"""The steps from Assess to Report: what their pages say is what the JSON of the commands says.

The results are those of the public functions, which is what the commands write; one test runs the
whole way over HTTP, with the commands themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

import sievert
from sievert.commands.protect import protection
from sievert.errors import UsageError
from sievert.formatting import percent, significant
from sievert.report.page import PolicyAnswer
from sievert.report.texts import read_texts
from sievert.workbench.choices import Choices
from sievert.workbench.level_names import level_names, level_of
from sievert.workbench.maps import MapPoint, MapWords, draw_map, ticks
from sievert.workbench.step import Argv, Form, Step, View
from sievert.workbench.step_commands import (
    beside_table,
    compare_command,
    frontier_command,
    level_options,
    protect_command,
    synthetic_command,
)
from sievert.workbench.steps.assess import ASSESS
from sievert.workbench.steps.compare import COMPARE
from sievert.workbench.steps.explain import EXPLAIN
from sievert.workbench.steps.protect import PROTECT
from sievert.workbench.steps.report import REPORT, report_command
from sievert.workbench.steps.synthetic import SYNTHETIC

POLICY = """
[roles]
quasi = ["age", "zip"]
sensitive = ["ill"]
rows_are_people = true
[hierarchies]
age = "interval:10,20"
zip = "prefix"
[protect]
suppress = 0.1
[limits]
k_anonymity = { min = 6 }
[limits.reidentification]
unique_records = { max = 0.01 }
records_below = { max = 10 }
[parameters]
records_below = { k = 5 }
"""
CANARY = "canary-7Q"


def table(number: int, seed: int) -> dict[str, list[str]]:
    chance = Random(seed)
    ages = [chance.choice((21, 24, 28, 33, 37, 42, 46, 55)) for _ in range(number)]
    return {
        "age": [str(age) for age in ages],
        "zip": [f"01{chance.randrange(100, 104)}" for _ in range(number)],
        "ill": [CANARY if age > 40 or chance.random() < 0.1 else "no" for age in ages],
    }


class Results:
    """What commands have given, by their names; all of it JSON."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    def get(self, argv: Argv) -> Any:
        name = "frontier" if "--frontier" in argv else argv[0]
        return self.given.get(name)

    def error(self, argv: Argv) -> None:
        return None

    def running(self, argv: Argv) -> bool:
        return False


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("steps")
    (folder / "policy.toml").write_text(POLICY)
    for name, seed in (("data", 1), ("other", 2)):
        columns = table(90, seed)
        rows = zip(*columns.values(), strict=True)
        text = "\n".join(",".join(row) for row in ((*columns,), *rows))
        (folder / f"{name}.csv").write_text(f"{text}\n")
    return folder


@pytest.fixture(scope="module")
def results(folder: Path) -> dict[str, Any]:
    data, policy = folder / "data.csv", folder / "policy.toml"
    with pytest.MonkeyPatch.context() as patched:  # the curve beside the frontier takes seconds
        patched.setattr(protection, "limit_curve", lambda *_: None)
        frontier = sievert.protect(data, policy=policy, frontier=True)
    given = {
        "assess": sievert.assess(data, policy=policy),
        "explain": sievert.explain(data, policy=policy),
        "hierarchies": sievert.propose_hierarchies(data, policy=policy),
        "protect": sievert.protect(data, policy=policy, out=folder / "release.csv"),
        "frontier": frontier,
        "compare": sievert.compare(data, [folder / "release.csv"], policy=policy),
        "synthetic": sievert.synthetic(data, [folder / "other.csv"], policy=policy),
    }
    return {name: json.loads(json.dumps(result.to_dict())) for name, result in given.items()}


@pytest.fixture(scope="module")
def choices(folder: Path) -> Choices:
    begun = Choices(str(folder / "data.csv")).put("policy", file=str(folder / "policy.toml"))
    begun = begun.put("compare", releases=(str(folder / "release.csv"),))
    return begun.put("synthetic", tables=(str(folder / "other.csv"),))


def look(step: Step, choices: Choices, results: Mapping[str, Any], language: str = "en") -> Any:
    view = View(choices=choices, results=Results(results), texts=read_texts(None, language))
    with view.texts.spoken():
        return step.context(view) | {"status": step.status(view)}


def form(**fields: str | tuple[str, ...]) -> Form:
    """A form; a level of a column is level_COLUMN here."""
    return Form(
        {
            name.replace("level_", "level:"): (value,) if isinstance(value, str) else value
            for name, value in fields.items()
        }
    )


# -- pages ----------------------------------------------------------------------------------------


def test_assess_is_the_decision_page_and_its_ways_lead_to_protect(
    choices: Choices, results: dict[str, Any]
) -> None:
    page = look(ASSESS, choices, results)
    breached = [limit for limit in results["assess"]["policy"]["limits"] if limit["met"] is False]
    assert page["status"] == ("breached", f"{len(breached)} breached")
    assert "No. The policy is not met." in page["front"] and "<h1" not in page["front"]
    assert (
        significant(results["assess"]["reidentification"]["k_anonymity"]["value"]) in page["front"]
    )
    assert page["ways"]
    for way, option in zip(page["ways"], results["assess"]["options"]["ways"], strict=True):
        levels = json.loads(way["take"])
        assert {change["column"] for change in option["changes"]} == {*levels}
        if "levels" in option:
            assert {c: int(n) for c, n in levels.items()} == {
                c: n for c, n in option["levels"].items() if n
            }
        taken = PROTECT.change(choices, form(point=way["take"]))
        assert taken.mapping("protect", "levels") == levels


def test_explain_has_a_button_for_every_change(choices: Choices, results: dict[str, Any]) -> None:
    page = look(EXPLAIN, choices, results)
    columns = results["explain"]["columns"]
    changes = [*page["changes"], *page["more"]]
    assert len(changes) == sum(1 + len(about["coarser"]) for about in columns.values())
    alone = [int(str(row["alone"]).replace(",", "")) for row in changes]
    assert alone == sorted(alone)
    by_words = {row["words"]: row for row in changes}
    for column, about in columns.items():
        row = by_words[f"Without {column}"]
        assert str(row["alone"]) == f"{about['without']['reidentification']['unique_count']:,}"
        height = len(results["hierarchies"]["proposals"][column]["labels"])
        assert row["level"] == height
    assert by_words["Age in bands of 10"]["level"] == 1
    first = PROTECT.change(choices, form(merge=by_words["Age in bands of 20"]["take"]))
    both = PROTECT.change(first, form(merge=by_words["Without zip"]["take"]))
    assert both.mapping("protect", "levels") == {"age": "2", "zip": "5"}
    again = look(EXPLAIN, both, results)
    assert again["levels"] == {"age": "2", "zip": "5"}


def test_protect_shows_the_release_and_what_has_changed(
    choices: Choices, results: dict[str, Any]
) -> None:
    page = look(PROTECT, choices, results)
    release = results["protect"]
    answer = page["release"]["answer"]
    assert isinstance(answer, PolicyAnswer) and answer.state == "met"
    assert page["status"] == ("open", "limits met, no file yet")
    numbers = {row["name"]: (row["before"], row["after"]) for row in page["release"]["numbers"]}
    before = {limit["measure"]: limit["value"] for limit in results["assess"]["policy"]["limits"]}
    after = {limit["measure"]: limit["value"] for limit in release["policy"]["limits"]}
    assert numbers["unique people"] == tuple(
        percent(each["unique_records"]) for each in (before, after)
    )
    assert numbers["people suppressed"] == ("0", f"{release['suppressed']:,}")
    lost = release["loss"]["generalization_loss"]["arithmetic"]
    assert numbers["detail lost (mean)"] == ("0 %", percent(lost))
    assert "people in groups below 5" in numbers
    assert page["release"]["nearest"].startswith("Nearest: ")
    for column in page["columns"]:
        proposal = results["hierarchies"]["proposals"][column["name"]]
        assert column["chosen"].level == release["levels"][column["name"]]
        assert [each.labels for each in column["levels"]] == [
            proposal["distinct"],
            *proposal["labels"],
        ]
        share = results["explain"]["shapley"]["reidentification"]["unique_count"]["columns"]
        assert column["share"] == percent(share[column["name"]]["share"])
    assert page["budgets"]["chosen"] == "0.1" == page["budgets"]["by_policy"]


def test_the_map_has_a_button_for_every_recoding_and_so_has_the_table(
    choices: Choices, results: dict[str, Any]
) -> None:
    page = look(PROTECT, choices, results)
    points = results["frontier"]["frontier"]
    levels = [{c: str(n) for c, n in point["levels"].items()} for point in points]
    rows = page["frontier"]["rows"]
    assert len(rows) == len(points)
    assert all(json.loads(row["take"]) in levels for row in rows)
    assert [row["chosen"] for row in rows].count(True) == 1
    for drawn in page["frontier"]["maps"].values():
        assert drawn.count("<button") == len(points)
        assert "style=" not in drawn and "<script" not in drawn
        assert ">Lost of ill, bits<" in drawn and ">not corrected for chance<" in drawn
    for row, point in ((r, p) for r in rows for p in points if json.loads(r["take"]) == {
        c: str(n) for c, n in p["levels"].items()
    }):  # fmt: skip
        assert (row["lost"].number, row["disclosed"].number) == (point["lost"], point["disclosed"])
        assert row["loss"].number == point["loss"] and str(row["loss"]) == percent(point["loss"])
        assert row["levels"].startswith("age ") and not re.search(r"age \d", row["levels"])
        assert (row["state"] == "met") is point["meets"]
    without = results | {"frontier": results["frontier"] | {"frontier_secret": None}}
    other = look(PROTECT, choices, without)["frontier"]
    assert not other["secret"] and other["rows"][0]["lost"] == other["rows"][0]["loss"]
    assert "generalisation loss, geometric" in other["maps"]["wide"]
    view = View(choices=choices, results=Results(results), texts=read_texts(None))
    assert PROTECT.further(view) == (frontier_command(choices),)


def test_compare_places_releases_as_the_json_does(
    choices: Choices, results: dict[str, Any]
) -> None:
    page = look(COMPARE, choices, results)
    (release,), (row,) = results["compare"]["releases"], page["rows"]
    assert row["disclosed"].number == pytest.approx(release["identity_disclosure"]["value"])
    assert row["state"] == "met" and row["better"] == ""
    assert page["maps"]["wide"].count("<rect") == 1  # a square of one that meets the policy
    assert ">corrected for chance<" in page["maps"]["wide"]
    lost = release["information_loss"]["ill"]
    assert row["lost"].number == lost.get("excess", lost["corrected"])
    assert page["status"] == ("met", "1 release")
    failing = json.loads(json.dumps(results["compare"]))
    failing["releases"][0]["policy"]["limits"][0]["met"] = False
    assert look(COMPARE, choices, {"compare": failing})["status"][0] == "breached"
    failing["releases"][0]["policy"] = None
    assert look(COMPARE, choices, {"compare": failing})["status"][0] == "open"
    dominated = json.loads(json.dumps(results["compare"]))
    twin = json.loads(json.dumps(dominated["releases"][0])) | {"name": "twin"}
    twin["dominated_by"] = [dominated["releases"][0]["name"]]
    dominated["releases"].append(twin)
    rows = look(COMPARE, choices, {"compare": dominated})["rows"]
    assert [bool(each["better"]) for each in rows] == [False, True]


def test_synthetic_and_report_before_and_after(choices: Choices, results: dict[str, Any]) -> None:
    page = look(SYNTHETIC, choices, results)
    assert "other.csv" in page["front"] and page["status"] == ("doubtful", "1 table")
    bare = look(SYNTHETIC, Choices("data.csv"), {})
    assert "front" not in bare and bare["status"][0] == "open"
    assert look(REPORT, choices, results)["possible"] == ["explain", "compare", "synthetic"]
    assert look(REPORT, Choices("data.csv"), {})["need"] == "roles"
    roles = Choices("data.csv").put("roles", quasi=("age",))
    assert look(PROTECT, roles, {})["need"] == "policy"
    assert look(ASSESS, Choices("data.csv"), {})["need"] == "roles"


@pytest.mark.parametrize("step", [ASSESS, EXPLAIN, PROTECT, COMPARE, SYNTHETIC, REPORT])
def test_no_page_has_a_value_of_the_data(
    step: Step, choices: Choices, results: dict[str, Any]
) -> None:
    german = look(step, choices, results, "de")
    assert CANARY not in repr(german) and CANARY not in repr(look(step, choices, results))


# -- choices --------------------------------------------------------------------------------------


def test_what_protect_is_sent(choices: Choices) -> None:
    sent = {"how": "full", "suppress": "0.05", "level_age": "2", "level_zip": "03"}
    chosen = PROTECT.change(choices, form(do="calculate", **sent))
    assert dict(chosen.of("protect")) == {"levels": {"age": "2", "zip": "3"}, "suppress": "0.05"}
    argv = protect_command(chosen)
    assert argv[-4:] == ("--levels", "age=2,zip=3", "--suppress", "0.05")
    assert "--levels" not in frontier_command(chosen)
    searched = PROTECT.change(chosen, form(do="search", **sent))
    assert dict(searched.of("protect")) == {"suppress": "0.05"}
    by_policy = PROTECT.change(chosen, form(do="search", suppress="0.1", by_policy="0.1"))
    assert not by_policy.of("protect")
    local = PROTECT.change(chosen, form(do="calculate", how="local"))
    assert protect_command(local)[-2:] == ("--how", "local")
    assert local.mapping("protect", "levels") == chosen.mapping("protect", "levels")
    assert PROTECT.change(local, form(do="reset")) == choices
    assert PROTECT.change(choices, form(do="frontier")).text("protect", "frontier")
    found = {"level_age": "2", "searched": '{"age": "2"}'}  # as the search has found: still one
    assert PROTECT.change(choices, form(do="calculate", **found)) == choices
    assert PROTECT.change(choices, form(do="calculate", suppress="0.05", **found)).of(
        "protect"
    ) == {
        "levels": {"age": "2"},
        "suppress": "0.05",
    }


def test_what_is_written_is_what_the_switches_show(
    choices: Choices, results: dict[str, Any]
) -> None:
    page = look(PROTECT, choices, results)
    shown = {f"level_{each['name']}": str(each["chosen"].level) for each in page["columns"]}
    sent = form(do="write", path="out.csv", searched=page["searched"], **shown)
    action = PROTECT.act(choices, sent)
    levels = ",".join(f"{c}={n}" for c, n in results["protect"]["levels"].items())
    assert action is not None and action.kept == choices  # the verdict on the page stays
    assert action.argv[-4:] == ("--levels", levels, "-o", "out.csv")
    assert action.known_by == protect_command(choices)
    moved = PROTECT.act(choices, form(do="write", path="out.csv", **shown | {"level_age": "0"}))
    assert moved is not None and moved.kept is not None
    assert moved.argv == (*protect_command(moved.kept), "-o", "out.csv")
    assert moved.kept.mapping("protect", "levels")["age"] == "0"
    written = action.then(choices)
    page = look(PROTECT, written, results)
    assert page["status"] == ("met", "written: out.csv") and page["current"].startswith("/")
    older = {
        "levels": written.put("protect", levels={"age": "0"}),
        "before": written.put("policy", file="", edited="yes", limits={"k_anonymity": ">= 2"}).put(
            "roles", quasi=("age", "zip"), sensitive=("ill",)
        ),
    }
    for age, later in older.items():
        old = look(PROTECT, later, results)
        assert old["written"] == {"out.csv": age} and not old["current"]
        assert old["status"] == ("doubtful", "the file is older than your last change")
    compared = look(COMPARE, older["before"], {})
    assert compared["status"] == ("doubtful", "2 releases, 1 older than your last change")
    assert [before for *_, before in compared["releases"]] == [False, True]
    stopped = look(PROTECT, choices, results | {"protect": None})
    assert page["writable"] and not stopped["writable"] and not stopped["searched"]
    given = look(PROTECT, moved.kept, results | {"protect": None})
    assert given["writable"] and given["columns"][0]["chosen"].level == 0


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"do": "nothing"},
        {"do": "calculate", "how": "magic"},
        {"do": "calculate", "level_age": "-1"},
        {"do": "calculate", "level_age": "two"},
        {"do": "calculate", "level_age": "1234"},
        {"do": "search", "suppress": "much"},
        {"do": "search", "suppress": "1.5"},
        {"do": "search", "suppress": "nan"},
        {"point": "age=1"},
        {"point": '["age"]'},
        {"point": '{"age": 1}'},
        {"merge": '{"age": "x"}'},
    ],
)
def test_protect_refuses_what_makes_no_sense(choices: Choices, sent: dict[str, str]) -> None:
    with pytest.raises(UsageError) as refused:
        PROTECT.change(choices, form(**sent))
    assert len(str(refused.value).splitlines()) <= 2


def test_a_release_is_written_where_the_user_says(choices: Choices) -> None:
    for path in (" ", "--force"):
        with pytest.raises(UsageError, match="file"):
            PROTECT.act(choices, form(do="write", path=path))
    assert PROTECT.act(choices, form(do="calculate")) is None
    with pytest.raises(UsageError, match="not known"):  # no levels are shown
        PROTECT.act(choices, form(do="write", path="out.csv"))
    chosen = choices.put("protect", levels={"age": "2", "zip": "0"})
    shown = {"level_age": "2", "level_zip": "0"}
    action = PROTECT.act(choices, form(do="write", path="out.csv", **shown))
    assert action is not None and action.kept == chosen and not action.refusal
    assert action.argv == (*protect_command(chosen), "-o", "out.csv")
    assert 1 not in action.accepted  # then nothing was written
    after = action.then(chosen)
    assert after.texts("compare", "releases")[-1] == "out.csv"
    later = after.put("protect", levels={"age": "1"})  # another one is looked at
    (file,) = PROTECT.files(later)
    assert file.argv == (*protect_command(chosen), "-o", "out.csv")


@pytest.mark.parametrize(
    ("table", "proposed"),
    [
        ("data/table.csv.gz", "data/table-x.csv"),
        ("data/all.db?table=people", "data/all-x.csv"),
        ("workbench:upload-1/table.csv", "table-x.csv"),
        ("postgresql://host/people", "people-x.csv"),
    ],
)
def test_a_file_is_proposed_beside_the_table(table: str, proposed: str) -> None:
    assert beside_table(Choices(table), "-x.csv") == proposed


def test_names_with_commas_are_levels_of_their_own() -> None:
    assert level_options({"a": "1", "b": "2"}) == ("--levels", "a=1,b=2")
    assert level_options({"a, b": "1", "c": "2"}) == ("--levels", "a, b=1", "--levels", "c=2")
    assert level_options({}) == ()


def test_tables_are_added_and_taken_away(choices: Choices, folder: Path) -> None:
    path = str(folder / "other.csv")
    two = COMPARE.change(choices, form(path=path))
    assert COMPARE.change(two, form(path=path)) == two  # once is enough
    assert compare_command(two)[2:4] == two.texts("compare", "releases")
    assert COMPARE.change(two, form(remove=path)) == choices
    for sent in ({}, {"path": "nowhere.csv"}):
        for step in (COMPARE, SYNTHETIC):
            with pytest.raises(UsageError):
                step.change(Choices("data.csv"), form(**sent))
    with pytest.raises(UsageError, match="nowhere"):
        SYNTHETIC.change(choices, form(control="nowhere.csv"))
    held_out = SYNTHETIC.change(choices, form(control=str(folder / "data.csv")))
    assert "--control" in synthetic_command(held_out)
    assert SYNTHETIC.change(held_out, form(control="")) == choices


def test_a_report_is_made_of_what_was_chosen(choices: Choices) -> None:
    sent = {"kind": "share", "part": ("explain", "compare"), "mask": "yes", "path": "page.html"}
    action = REPORT.act(choices, form(do="write", **sent))
    assert action is not None
    files = ("workbench:assess.json", "workbench:explain.json", "workbench:compare.json")
    options = ("--html", "page.html", "--share", "--mask-names")
    assert action.argv == ("report", *files, *options)
    assert [argv[0] for argv in action.inputs.values()] == ["assess", "explain", "compare"]
    after = action.then(choices)
    assert list(after.mapping("report", "written")) == ["page.html"]
    assert [file.argv for file in REPORT.files(after)] == [action.argv]
    assert "workbench:compare.json" in report_command(choices)  # there is a release
    unticked = REPORT.change(choices, form(part=("explain",), path="page.html"))
    assert "workbench:compare.json" not in report_command(unticked)
    german = choices.put("load", language="de")
    assert report_command(german)[-2:] == ("--language", "de")
    internal = REPORT.change(after, form(kind="internal", mask="yes", path="page.html"))
    assert "--share" not in report_command(internal) and "--mask-names" not in report_command(
        internal
    )
    for wrong in ({"kind": "public"}, {"part": "secrets"}):
        with pytest.raises(UsageError):
            REPORT.change(choices, form(**wrong))
    with pytest.raises(UsageError, match="no file"):
        REPORT.act(choices, form(do="write"))


# -- levels and maps ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hierarchy", "fixed", "labels", "short", "example"),
    [
        ("interval:5,10", "interval:5,10", [9, 5, 1], ["5", "10"], "[0, 5) [5, 10)"),
        ("prefix", "prefix:2,1,0/3", [9, 3, 1], ["first 2", "first 1"], "01*"),
        ("date:month,year", "date:month,year", [9, 3, 1], ["month", "year"], ""),
        ("top:5,2", None, [6, 3, 1], ["5 largest", "2 largest"], ""),
        ("quantile:4,2", "cuts:1,2,3/2", [4, 2, 1], ["4 bands", "2 bands"], ""),
        ("jobs.csv", None, [6, 3, 1], ["level 1", "level 2"], ""),
        ("given", None, [6, 3, 1], ["level 1", "level 2"], ""),
    ],
)
def test_levels_have_names_and_labels_that_are_made_up(
    hierarchy: str, fixed: str | None, labels: list[int], short: list[str], example: str
) -> None:
    proposal = {"hierarchy": hierarchy, "fixed": fixed, "labels": labels, "distinct": 40}
    names = level_names(read_texts(None), proposal)
    assert [name.short for name in names] == ["as it is", *short, "left out"]
    assert [name.labels for name in names] == [40, *labels]
    assert names[1].example == example
    assert level_of(proposal, "left out") == 3


def test_a_map_is_for_one_point_and_for_none() -> None:
    words = MapWords(label="<label>", across="lost", up="told", chosen="chosen")
    assert "&lt;label&gt;" in draw_map([], words, 300)
    point = MapPoint(
        across=0.0, up=0.0, state="breached", said="<said>", take='{"a": "1"}', chosen=True
    )
    drawn = draw_map([point], words, 300, form="take")
    assert "&lt;said&gt;" in drawn and "{&#34;a&#34;: &#34;1&#34;}" in drawn
    assert "nan" not in drawn and "inf" not in drawn
    far = [
        MapPoint(across=3.2, up=2.0, state="met"),
        MapPoint(across=4.0, up=0.0, state="breached"),
    ]
    curve = [(0.0, 9.0), (3.5, 1.0), (4.0, 0.0), (9.0, 0.0)]
    cut = draw_map(far, words, 300, curve=curve)
    assert cut.count('stroke-width="1.5"/>') == 3  # two marks, and the part of the curve
    assert ticks(1.0) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
