"""What is shared has verdicts and a few rounded numbers, on every output, and nothing else.

How far one person can move it is attacked in `test_differencing`; here is the contract.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.commandline import command_line, run

import sievert
from sievert.commands.assess.result import Assessment
from sievert.commands.report.run import build_page
from sievert.errors import RefusedError, UsageError
from sievert.measures import BY_ID
from sievert.policy import GateReason, Judgement, judge, parse_policy
from sievert.report import html, markdown
from sievert.report.builder import ReportSettings
from sievert.sharing import COARSEST, ENOUGH, FINEST, INFERENCE, REIDENTIFICATION, shown_records

TABLES = 80
CHUNKS = 4
CELLS = (3, 10, 30)
TOKEN = re.compile(r"[QS]x\d")  # every cell of the random tables looks like this


# -- random tables ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    columns: dict[str, list[Any]]
    options: dict[str, Any]

    def assess(self) -> Assessment:
        return sievert.assess(self.columns, ["zip", "age"], ["disease"], **self.options)


def sizes(random: Random) -> list[int]:
    """Sizes of classes, of every shape in which a small number may stand out."""
    shape = random.choice(
        (
            "tiny",
            "teens",
            "few classes",
            "many classes",
            "unique",
            "few alone",
            "few not alone",
            "large",
            "large",
        )
    )
    if shape == "tiny":
        return _parts(random, random.randint(1, 9), 3)
    if shape == "teens":
        return _parts(random, random.randint(10, 20), 6)
    if shape == "few classes":
        return [random.choice((1, 2, 5, 9, 10, 30, 400)) for _ in range(random.randint(1, 6))]
    if shape == "many classes":
        return [random.choice((1, 2, 2, 3, 5, 8, 12, 20)) for _ in range(random.randint(20, 150))]
    if shape == "unique":
        return [1] * random.randint(10, 1500) + [random.randint(2, 40)]
    if shape == "large":
        return [random.choice((1, 2, 5, 40, 90)) for _ in range(60)]
    alone = random.randint(1, 9)
    if shape == "few alone":
        return [1] * alone + [random.randint(2, 60) for _ in range(random.randint(1, 30))]
    return [1] * random.randint(10, 300) + _parts(random, alone + 1, 9)


def _parts(random: Random, records: int, most: int) -> list[int]:
    found: list[int] = []
    while sum(found) < records:
        found.append(min(random.randint(1, most), records - sum(found)))
    return found


def table(random: Random) -> Table:
    """Two quasi-identifiers and a secret, with missing values, and what measures may be told."""
    keys = [i for i, n in enumerate(sizes(random)) for _ in range(n)]
    lacks = random.choice((0.0, 0.0, 0.02, 0.3))
    values = [f"Sx{i}" for i in range(random.choice((1, 2, 3, 12)))]
    skew = random.choice((0.0, 0.5, 0.99))

    def secret() -> str | None:
        if random.random() < lacks:
            return None
        return values[0] if random.random() < skew else random.choice(values)

    def key(number: int) -> str | None:
        return None if random.random() < lacks / 2 else f"Qx{number}"

    columns: dict[str, list[Any]] = {
        "zip": [key(k // 3) for k in keys],
        "age": [f"Qx{k % 3}" for k in keys],
        "disease": [secret() for _ in keys],
    }
    options: dict[str, Any] = {"missing": random.choice(("value", "value", "wildcard", "drop"))}
    if not any(columns["zip"]):
        options["missing"] = "value"
    if random.random() < 0.4:
        options["orders"] = {"disease": values}
        options["partitions"] = {"disease": {"Sx-part": values[:1]}}
        ladder = {v: (f"Sx-{i % 2}", "*") for i, v in enumerate(values)}
        options["hierarchies"] = {"disease": sievert.Hierarchy(ladder)}
    if random.random() < 0.3:
        options["parameters"] = {
            "recursive_c": {"l": random.randint(1, 3)},
            "records_below": {"k": sorted(random.sample(range(2, 40), 4))},
        }
    return Table(columns, options)


def limited(found: Assessment, random: Random) -> Assessment:
    """The same with a limit on every number."""

    def limit(measure: str) -> dict[str, float]:
        m = BY_ID[measure]
        bound = random.random() if m.high == 1 else float(random.randint(1, 12))
        return {random.choice(("min", "max")): bound}

    limits: dict[str, Any] = {
        "reidentification": {m: limit(m) for m in found.reidentification},
        "inference": {s: {m: limit(m) for m in v} for s, v in found.inference.items()},
    }
    parsed = parse_policy({"limits": limits})
    verdicts, warnings = judge(parsed, found.reidentification, found.inference)
    policy = Judgement(
        verdicts=tuple(verdicts), reasons=(GateReason("columns_without_role", False, ("age",)),)
    )
    return replace(found, policy=policy, warnings=(*found.warnings, *warnings))


# -- the contract -------------------------------------------------------------------------------


def check_number(measure: str, entry: dict[str, Any], exact: float, rows: int, least: int) -> None:
    """On its grid, near the exact number, its step above what so many people can move."""
    if "step" not in entry:
        assert entry["value"] is None and entry["reason"] == "suppressed"
        return
    step = entry["step"]
    assert FINEST <= step <= COARSEST
    influence = BY_ID[measure].influence
    assert influence is not None
    if measure != "guess_gain":
        assert step >= least * influence(rows, rows) * (1 - 1e-9)
    if entry["value"] is None:
        assert (entry["below"] == step and exact < step) if "below" in entry else (
            entry["above"] == pytest.approx(1 - step) and exact > 1 - step - 1e-9
        )  # fmt: skip
    else:
        assert step <= entry["value"] <= 1 - step + 1e-9
        assert abs(entry["value"] - exact) <= step / 2 + 1e-9
        assert abs(entry["value"] / step - round(entry["value"] / step)) < 1e-6


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_contract_on_random_tables(chunk: int) -> None:
    """Tables of every shape, three sizes of cell, with a limit on every number."""
    for number in range(chunk, TABLES, CHUNKS):
        random = Random(f"sharing {number}")
        found = limited(table(random).assess(), random)
        least = CELLS[number % 3]
        fit = found.share(min_cell=least)
        shown = fit.to_dict()
        assert set(shown) == {
            "sievert", "table", "roles", "reidentification", "inference", "question", "policy",
            "warnings",
        }  # fmt: skip
        assert shown["question"] == "file"  # what was asked about, which no record changes
        rows = shown_records(found.rows, least)
        assert shown["table"] == {"name": None, "rows": rows, "columns": 3, "shared": least}
        assert shown["warnings"] == []
        assert (rows is None) == (found.rows < ENOUGH) and (rows or 0) <= found.rows
        wild = found.table["missing"] == "wildcard"
        measures = () if rows is None or wild else REIDENTIFICATION
        assert set(shown["reidentification"]) == set(measures)
        assert set(shown["inference"]) == {"disease"}
        chapters = [(shown["reidentification"], found.reidentification)]
        if not wild:
            chapters.append((shown["inference"]["disease"], found.inference["disease"]))
        for entries, values in chapters:
            for measure, entry in entries.items():
                exact = values[measure].value
                assert isinstance(exact, float)
                check_number(measure, entry, exact, found.rows, least)
        check_verdicts(found, shown)
        said = json.dumps(shown) + repr(fit) + fit._repr_html_()
        assert not TOKEN.search(said)


def check_verdicts(found: Assessment, shown: dict[str, Any]) -> None:
    """Every verdict, none of the numbers and reasons."""
    assert shown["policy"]["met"] == found.share().met == found.met
    for verdict, exact in zip(shown["policy"]["limits"], found.verdicts or (), strict=True):
        if verdict["measure"] == "records_below":  # its k is a setting, not a number of the table
            assert verdict["k"] == found.reidentification["records_below"].details["k"]
        assert verdict == {
            **exact.to_dict(), "value": None, "reason": "suppressed", "reading": None,
        }  # fmt: skip


def hospital(records: int = 1500) -> dict[str, list[Any]]:
    return {
        "zip": [f"Qx{i // 5 % 90}" for i in range(records)],
        "age": [f"Qx{i % 3}" for i in range(records)],
        "disease": [f"Sx{i * i % 7}" for i in range(records)],
    }


def test_every_output_shows_the_same_numbers() -> None:
    """The terminal, the page, Markdown, the notebook: one text of one JSON."""
    policy = {"limits": {"reidentification": {"k_anonymity": {"min": 5}}}}
    found = sievert.assess(hospital(), ["zip", "age"], "disease", policy=policy)
    fit = found.share()
    data = fit.to_dict()
    page = build_page([found], ReportSettings(share=True))
    texts = {
        "terminal": repr(fit),
        "html": html.render(page),
        "markdown": markdown.render(page),
        "notebook": fit._repr_html_(),
    }
    entries = [*data["reidentification"].values(), *data["inference"]["disease"].values()]
    assert len(entries) >= 4
    texts = {name: text.replace("\u00a0", " ") for name, text in texts.items()}
    for name, text in texts.items():
        for entry in entries:
            number = next(entry[k] for k in ("value", "below", "above") if entry.get(k) is not None)
            assert f"{100 * number:.3g} %" in text, (name, entry)
        assert "at least 1,500 records" in " ".join(text.split()), name
        assert "Smallest" in text and ("met" in text or "breached" in text)
    for name in ("terminal", "html", "markdown"):
        assert "on which side of its limit" in " ".join(texts[name].split()), name
    for text in texts.values():
        assert "not for passing on" not in text


def test_guess_gain_rests_on_those_without_the_most_frequent_value() -> None:
    """Where they are few it is withheld, and the words are the same for one and for none."""
    pages = []
    for few in (0, 1, 5):
        table = {**hospital(), "disease": ["Sx0"] * (1500 - few) + ["Sx1"] * few}
        shown = sievert.assess(table, ["zip", "age"], "disease").share()
        entry = shown.to_dict()["inference"]["disease"]
        assert entry["bayes_vulnerability_prior"]["above"] == 0.99
        assert entry.get("guess_gain", {"value": None})["value"] is None
        pages.append(repr(shown))
    assert len(set(pages)) == 1 and "Everybody has the same value" not in pages[0]


def test_masks_tell_the_role_of_a_column() -> None:
    policy = {"limits": {"inference": {"disease": {"l_diversity": {"min": 2}}}}}
    found = sievert.assess(
        {**hospital(), "id": list(range(1500)), "shoe": [1] * 1500},
        ["zip", "age"], "disease", "id", policy=policy,
    )  # fmt: skip
    shown = found.share(mask_names=True)
    assert shown.to_dict()["roles"] == {
        "quasi": ["quasi-identifier 1", "quasi-identifier 2"],
        "sensitive": ["secret 1"],
        "identifier": ["identifier 1"],
        "person": None,
        "household": None,
        "weight": None,
        "ignored": {},
        "kept": {},
        "unassessed": ["column 1"],
    }
    assert shown.to_dict()["policy"]["limits"][0]["where"] == "inference.secret 1"
    for text in (repr(shown), shown._repr_html_(), json.dumps(shown.to_dict())):
        assert not re.search(r"\b(zip|age|disease|shoe)\b", text)


def test_only_once_and_not_below_three() -> None:
    found = sievert.assess({"q": ["a"] * 20}, ["q"])
    with pytest.raises(UsageError, match="at least 3"):
        found.share(min_cell=2)
    assert not hasattr(found.share(), "share")
    with pytest.raises(UsageError, match="before"):
        sievert.sharing.shareable(found.share().to_dict())


def test_a_frame_of_what_is_shared() -> None:
    frame = sievert.assess(hospital(), ["zip", "age"], "disease").share().to_frame()
    assert set(REIDENTIFICATION) <= set(frame["measure"]) <= {*REIDENTIFICATION, *INFERENCE}


def test_people_with_several_rows_have_no_numbers() -> None:
    """How far such a person moves a number is not declared."""
    saved = sievert.assess(hospital(), ["zip", "age"], "disease").to_dict()
    assert sievert.sharing.shareable(saved)["reidentification"]
    saved["roles"] = {**saved["roles"], "person": "id"}
    shown = sievert.sharing.shareable(saved)
    assert shown["reidentification"] == {} and shown["inference"] == {"disease": {}}


def test_of_other_results_nothing_is_shared() -> None:
    table = hospital()
    for result in (
        sievert.explain(table, ["zip", "age"], "disease"),
        sievert.attack(table, None, ["zip", "age"], "disease", reasoning=False),
        sievert.compare(table, [table], ["zip", "age"], "disease", shuffles=0),
    ):
        with pytest.raises(RefusedError, match="not shareable"):
            result.share()


# -- the command line ---------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "canary.csv"
    rows = zip(*hospital().values(), strict=True)
    path.write_text("\n".join(["zip,age,disease", *map(",".join, rows)]) + "\n")
    return path


@pytest.mark.parametrize(("least", "code"), [(2, 0), (6, 1)])
def test_the_command_says_the_same(source: Path, least: int, code: int) -> None:
    """The exit code is that of the exact numbers; no name of a file, no path."""
    policy = source.with_suffix(".toml")
    policy.write_text(
        f"[limits.reidentification]\nk_anonymity = {{ min = {least} }}\n"
        '[release]\norder = "the rows were made in this order"\n'
    )
    command = command_line("assess", str(source), "-q", "zip,age")
    command += ["-s", "disease", "--policy", str(policy)]
    exact = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    output = source.with_suffix(".json")
    command += ["--share", "--json", str(output)]
    fit = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert exact.returncode == fit.returncode == code
    assert json.loads(output.read_text())["policy"]["met"] is (code == 0)
    said = output.read_text() + fit.stdout + fit.stderr
    assert "canary" not in said and str(source.parent) not in said and not TOKEN.search(said)


def test_internal_is_what_there_is_without_share(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One rule for all outputs; the old word costs a line, and does not go with --share."""
    command = ["assess", str(source), "-q", "zip,age", "-s", "disease"]
    pages = [source.parent / f"{i}.html" for i in range(3)]
    notes = [source.parent / f"{i}.md" for i in range(3)]
    assert run(*command, "--html", str(pages[0]), "--markdown", str(notes[0])) == 0
    assert "--internal" not in capsys.readouterr().err
    more = ["--internal", "--html", str(pages[1]), "--markdown", str(notes[1])]
    assert run(*command, *more) == 0
    assert capsys.readouterr().err.count("--internal is no longer needed") == 1
    for one, two in ((pages[0], pages[1]), (notes[0], notes[1])):
        assert one.read_text() == two.read_text()
        assert "Internal: exact counts, not for passing on" in one.read_text()
        assert "canary.csv" in one.read_text()
    for given in (["--internal"], ["--internal", "--html", str(pages[2])]):
        assert run(*command, *given, "--share") == 2
        assert "--internal and --share exclude each other" in capsys.readouterr().err
    assert not pages[2].exists()
    assert run(*command, "--internal") == 0
    assert capsys.readouterr().err.count("no longer needed") == 1


def test_saved_results_on_a_shareable_page(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["assess", str(source), "-q", "zip,age", "-s", "disease", "--json"]
    exact, fit = (str(source.parent / f"{name}.json") for name in ("exact", "fit"))
    assert run(*command, exact) == 0 and run(*command, fit, "--share") == 0
    capsys.readouterr()
    texts = []
    for given in ([exact, "--share"], [fit], [fit, "--share"]):
        assert run("report", *given) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] == texts[2] and "Shareable: no file name" in texts[0]
    assert run("report", exact) == 0
    assert "Internal: exact counts" in capsys.readouterr().out
    assert run("report", exact, fit) == 2
    assert "do not go on one page" in capsys.readouterr().err
    for option in (["--mask-names"], ["--min-cell", "5"]):
        assert run("report", exact, *option) == 2
        assert "go with --share" in capsys.readouterr().err


def test_an_error_counts_no_few_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "t.csv"
    source.write_text("zip,age\n" + ",1\n" * 3 + "a,1\n" * 60)
    assert run("assess", str(source), "-q", "zip", "--share", "--missing", "error") == 3
    assert not re.search(r"\b3 records", capsys.readouterr().err)
