"""What needs packages of its own, each in an environment of its own: real parsers, dbt and others.

pip fetches the packages; everything else is on this machine.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree

import duckdb
import pytest
from helpers import dbtmacros
from helpers.commandline import run

import sievert

ROOT = Path(__file__).parents[2]
INTEGRATIONS = ROOT / "integrations"
pytestmark = pytest.mark.soak
Run = Callable[..., str]


def run_in(folder: Path, *command: object, codes: tuple[int, ...] = (0,), **more: str) -> str:
    """What a command prints; it must end with one of these codes."""
    variables = {**os.environ, "DO_NOT_TRACK": "1", **more}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in codes, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def environment(tmp_path: Path) -> Callable[..., Path]:
    """Makes the folder of commands of a new environment with these packages."""

    def make(*packages: object) -> Path:
        home = tmp_path / "environment"
        venv.create(home, with_pip=True)
        pip = [home / "bin" / "python", "-m", "pip", "install", "--quiet"]
        run_in(tmp_path, *pip, *packages)
        return home / "bin"

    return make


# -- limits ---------------------------------------------------------------------------------------

LIMITS = """
[roles]
quasi = ["age"]
sensitive = ["ill"]
rows_are_people = true
[limits]
k_anonymity = { min = 5 }
unique_records = { max = 0.5 }
[limits.inference.ill]
alpha_k = { max = 0.5 }
[parameters]
alpha_k = { value = { ill = "misspelt" } }
"""
PARSED = """
import json, sys
from junitparser import JUnitXml
from sarif import loader
from sarif_pydantic import Sarif

(suite,) = JUnitXml.fromfile("limits.xml")
cases = {f"{c.classname}.{c.name}": [type(r).__name__ for r in c.result if c.result] for c in suite}
log = Sarif.model_validate_json(open("limits.sarif").read())
records = loader.load_sarif_file("limits.sarif").get_records()
json.dump({"cases": cases, "rules": [r.rule_id for r in log.runs[0].results], "records": records},
          sys.stdout)
"""


def test_limits_are_read_by_real_parsers(tmp_path: Path, environment: Any) -> None:
    rows = "\n".join(f"{i % 2},s{i // 2 % 3}" for i in range(6))
    (tmp_path / "t.csv").write_text(f"age,ill\n{rows}\n")
    (tmp_path / "p.toml").write_text(LIMITS)
    files = ["--junit", tmp_path / "limits.xml", "--sarif", tmp_path / "limits.sarif"]
    given = ["assess", tmp_path / "t.csv", "--policy", tmp_path / "p.toml", "--quick", *files]
    assert run(*given) == 1
    commands = environment("junitparser", "sarif-tools", "sarif-pydantic")
    parsed = json.loads(run_in(tmp_path, commands / "python", "-c", PARSED))
    assert parsed["cases"] == {
        "reidentification.k_anonymity": ["Failure"],
        "reidentification.unique_records": [],
        "inference.ill.alpha_k": ["Error"],
        "policy.met": ["Failure"],
    }
    assert parsed["rules"] == ["k_anonymity", "alpha_k", "policy.met"]
    assert [(r["Location"], r["Line"], r["Severity"]) for r in parsed["records"]] == [
        ("p.toml", line, "error") for line in (7, 10, 6)
    ]


# SARIF's schema is in Microsoft's validator, Jenkins' schema of JUnit in pytest's source.
VALIDATED = """
import json
from pathlib import Path
from jsonschema import Draft202012Validator
from lxml import etree

(own,) = Path().glob("**/sarif-2.1.0.json")
schema = Draft202012Validator(json.loads(own.read_text()))
(own,) = Path().glob("**/junit-10.xsd")
jenkins = etree.XMLSchema(etree.parse(own))
for state in ("met", "breached", "undecided", "shared"):
    schema.validate(json.loads(Path(f"{state}.sarif").read_text()))
    jenkins.assertValid(etree.parse(f"{state}.xml"))
"""


def test_limits_are_as_the_schemas_say(tmp_path: Path, environment: Any) -> None:
    rows = "\n".join(f"{i % 2},s{i // 2 % 3}" for i in range(24))
    (tmp_path / "t.csv").write_text(f"age,ill\n{rows}\n")
    undecided = LIMITS.replace("unique_records = { max = 0.5 }\n", "")
    policies = {
        "met": undecided.partition("[limits.inference")[0],
        "breached": undecided.replace("5", "50"),
        "undecided": undecided,
        "shared": undecided.replace("5", "50"),
    }
    for state, text in policies.items():
        (tmp_path / f"{state}.toml").write_text(text)
        files = [f"--{kind}={tmp_path / state}.{end}" for kind, end in OUTPUTS]
        share = ["--share"] if state == "shared" else []
        given = [tmp_path / "t.csv", "--policy", tmp_path / f"{state}.toml", "--quick", *share]
        code = run("assess", *map(str, given), *files)
        assert code == (0 if state == "met" else 1), state
    commands = environment("jsonschema", "lxml")
    pip = [commands / "pip", "download", "--quiet", "--no-deps", "--no-binary", "pytest"]
    run_in(tmp_path, *pip, "pytest")
    run_in(tmp_path, "npm", "pack", "--silent", "@microsoft/sarif-multitool-linux")
    for archive in (*tmp_path.glob("*.tgz"), *tmp_path.glob("*.tar.gz")):
        shutil.unpack_archive(archive, tmp_path / archive.stem, filter="data")
    run_in(tmp_path, commands / "python", "-c", VALIDATED)


# -- pipelines ------------------------------------------------------------------------------------

AS_JSON = """
import json, sys
from ruamel.yaml import YAML
json.dump(YAML(typ="safe").load(open(sys.argv[1])), sys.stdout)
"""
OUTPUTS = (("junit", "xml"), ("sarif", "sarif"))


def in_bash(script: str, folder: Path, variables: dict[str, str]) -> tuple[int, str]:
    """The exit code and the log of a script, in an environment of these variables only."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def run_action(
    action: dict[str, Any], inputs: dict[str, str], folder: Path, variables: dict[str, str]
) -> tuple[int, str, dict[str, str]]:
    """The steps of a composite action in their order, as a runner does: until one fails."""
    for name, entry in action["inputs"].items():
        assert name in inputs or "default" in entry, f"{name} is needed"
    given = {name: entry.get("default", "") for name, entry in action["inputs"].items()} | inputs
    log, outputs = "", {}
    for step in action["runs"]["steps"]:
        if "if" in step:
            name, sign, text = step["if"].removeprefix("inputs.").partition(" == ")
            assert sign and text.strip("'") == text[1:-1]
            if given[name] != text[1:-1]:
                continue
        assert step["shell"] == "bash" and "${{" not in step["run"]
        own = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: given[m[1]], text)
            for name, text in step.get("env", {}).items()
        }
        code, said = in_bash(step["run"], folder, variables | own)
        log += said
        if code:
            break
    lines = Path(variables["GITHUB_OUTPUT"]).read_text().splitlines()
    outputs = dict(line.split("=", 1) for line in lines)
    assert {f"steps.gate.outputs.{n}" for n in outputs} == {
        output["value"][4:-3] for output in action["outputs"].values()
    }
    return code, log, outputs


@pytest.fixture
def pipeline(tmp_path: Path, environment: Any) -> tuple[Path, Path, Any]:
    """A clone of the last commit, commands of an empty environment, and a reader of YAML."""
    clone = tmp_path / "clone"
    run_in(tmp_path, "git", "clone", "--quiet", "--no-hardlinks", ROOT, clone)
    reader = environment("check-jsonschema")

    def read(file: str, kind: str) -> Any:
        path = INTEGRATIONS / file
        run_in(tmp_path, reader / "check-jsonschema", "--builtin-schema", f"vendor.{kind}", path)
        return json.loads(run_in(tmp_path, reader / "python", "-c", AS_JSON, path))

    venv.create(tmp_path / "runner", with_pip=True)
    return clone, tmp_path / "runner" / "bin", read


def release_and_policy(folder: Path, ages: int) -> None:
    folder.mkdir()
    (folder / "policy.toml").write_text(POLICY)
    rows = "".join(f"a{i % ages},s{i // 2 % 3}\n" for i in range(1200))
    (folder / "release.csv").write_text(f"age,ill\n{rows}")


def test_the_whole_action(pipeline: tuple[Path, Path, Any], tmp_path: Path) -> None:
    """From an empty environment: installed, judged, annotated, for a release of each kind."""
    clone, commands, read = pipeline
    action = read("github/action.yml", "github-actions")
    for name, ages, code, install in (("closed", 2, 0, "true"), ("open", 1200, 1, "false")):
        release_and_policy(folder := tmp_path / name, ages)
        files = {n: tmp_path / f"{name}_{n}" for n in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.touch()
        variables = {
            **{name: str(file) for name, file in files.items()},
            **{"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(folder)},
            "GITHUB_ACTION_PATH": str(clone / "integrations" / "github"),
            "RUNNER_TEMP": str(tmp_path),
            "PATH": f"{commands}:/usr/bin:/bin",
            "HOME": str(tmp_path),
        }
        inputs = {"data": "release.csv", "policy": "policy.toml", "install": install}
        ended, log, outputs = run_action(action, inputs, folder, variables)
        assert ended == code, log
        assert outputs == {"met": str(code == 0).lower(), "code": str(code)}
        annotated = [line for line in log.splitlines() if line.startswith("::error ")]
        assert len(annotated) == 3 * code and ("k_anonymity" in log) is bool(code)
        assert "olicy" in files["GITHUB_STEP_SUMMARY"].read_text()
        assert (folder / "sievert-limits.xml").is_file()
        assert (folder / "sievert-limits.sarif").is_file()


def test_the_whole_job_of_gitlab(pipeline: tuple[Path, Path, Any], tmp_path: Path) -> None:
    clone, commands, read = pipeline
    job = read("gitlab/sievert.gitlab-ci.yml", "gitlab-ci")["sievert"]
    for name, ages, code in (("closed", 2, 0), ("open", 1200, 1)):
        release_and_policy(folder := tmp_path / name, ages)
        variables = {
            **{"CI": "true", "GITLAB_CI": "true", "CI_PROJECT_DIR": str(folder)},
            **job["variables"],
            "SIEVERT_INSTALL": str(clone),
            "PATH": f"{commands}:/usr/bin:/bin",
            "HOME": str(tmp_path),
        }
        ended, log = in_bash("\n".join(job["script"]), folder, variables)
        assert ended == code, log
        report = folder / job["artifacts"]["reports"]["junit"]
        root = ElementTree.parse(report).getroot()
        assert root.attrib["failures"] == str(3 * code)


# -- dbt ------------------------------------------------------------------------------------------

TABLES = 100
PROFILE = """
check:
  target: here
  outputs: {here: {type: duckdb, path: check.duckdb, threads: 2}}
"""


def test_dbt_gives_the_integers_of_assess(tmp_path: Path, environment: Any) -> None:
    commands = environment("dbt-core~=1.11.0", "dbt-duckdb")
    project = tmp_path / "project"
    (project / "models").mkdir(parents=True)
    (project / "dbt_project.yml").write_text("name: check\nprofile: check\nmodel-paths: [models]\n")
    (project / "packages.yml").write_text(f"packages: [{{local: '{INTEGRATIONS / 'dbt'}'}}]\n")
    (project / "profiles.yml").write_text(PROFILE)
    tables, expected, sources = {}, {}, []
    limits = dbtmacros.LIMITS
    with duckdb.connect(project / "check.duckdb") as connection:
        for number in range(TABLES):
            r = Random(number)
            table, quasi = dbtmacros.random_table(r), r.choice(dbtmacros.QUASI)
            dbtmacros.load(connection, table)
            connection.execute(f"alter table release rename to t{number}")
            tables[number], expected[number] = table, dbtmacros.as_assessed(table, quasi)
            columns = json.dumps(quasi)
            source = f"source('main', 't{number}')"
            (project / "models" / f"m{number}.sql").write_text(
                f"select k.k, l.l, l.l_without_missing, u.uniques, u.people, k.suppressed"
                f" from ({{{{ sievert.k_anonymity_of({source}, {columns}) }}}}) as k"
                f" cross join ({{{{ sievert.l_diversity_of({source}, {columns}, 'ill') }}}}) as l"
                f" cross join ({{{{ sievert.unique_share_of({source}, {columns}) }}}}) as u"
            )
            each = {
                "k_anonymity": {"quasi": quasi, "at_least": limits["k"]},
                "l_diversity": {"quasi": quasi, "sensitive": "ill", "at_least": limits["l"]},
                "unique_share": {"quasi": quasi, "at_most": limits["share"]},
            }
            tests = [
                {f"sievert.{name}": {"arguments": given, "name": f"{name}_{number}"}}
                for name, given in each.items()
            ]
            sources.append({"name": f"t{number}", "data_tests": tests})
    schema = {"version": 2, "sources": [{"name": "main", "tables": sources}]}
    (project / "models" / "schema.yml").write_text(json.dumps(schema))
    dbt = [commands / "dbt", "--no-send-anonymous-usage-stats"]
    run_in(project, *dbt, "deps", DBT_PROFILES_DIR=str(project))
    run_in(project, *dbt, "run", DBT_PROFILES_DIR=str(project))
    run_in(project, *dbt, "test", codes=(1,), DBT_PROFILES_DIR=str(project))
    results = json.loads((project / "target" / "run_results.json").read_text())["results"]
    states = {r["unique_id"].split(".")[2]: r["status"] for r in results}
    names = {"k_anonymity": "k_anonymity", "l_diversity": "l_diversity"}
    names["unique_records"] = "unique_share"
    compared = 0
    with duckdb.connect(project / "check.duckdb", read_only=True) as connection:
        for number, own in expected.items():
            met = own.get("met", dict.fromkeys(names, False))
            passed = {m: states[f"{name}_{number}"] for m, name in names.items()}
            assert passed == {m: "pass" if ok else "fail" for m, ok in met.items()}
            if own:
                compared += 1
                row = connection.execute(f"select * from m{number}").fetchone()
                people = len(tables[number]["ill"]) - own["suppressed"]
                numbers = [own[n] for n in ("k", "l", "l_without_missing", "uniques")]
                assert [*row] == [*numbers, people, own["suppressed"]]
    assert compared > TABLES * 3 // 4


# -- Great Expectations and Dagster ---------------------------------------------------------------

POLICY = """
[roles]
quasi = ["age"]
sensitive = ["ill"]
rows_are_people = true
[limits]
k_anonymity = { min = 5 }
[limits.inference.ill]
l_diversity = { min = 2 }
"""
EXPECTED = """
import json
import sys

import great_expectations
import pandas
from sievert_expectation import ExpectTableToMeetDisclosurePolicy

context = great_expectations.get_context(mode="ephemeral")
asset = context.data_sources.add_pandas("here").add_dataframe_asset("release")
whole = asset.add_batch_definition_whole_dataframe("all")
answers = {}
for name, policy in (("closed", "p"), ("open", "p"), ("more", "p"), ("closed", "none")):
    frame = pandas.read_csv(f"{name}.csv", dtype=str)
    batch = whole.get_batch(batch_parameters={"dataframe": frame})
    result = batch.validate(ExpectTableToMeetDisclosurePolicy(policy=f"{policy}.toml"))
    answers[f"{name} {policy}"] = [result.success, result.result.get("details")]
json.dump(answers, sys.stdout)
"""
CHECKED = """
import json
import sys

import dagster
from disclosure_check import disclosure_check

answers = {}
for name in ("closed", "open", "more"):

    @dagster.asset(name=name)
    def release() -> None:
        pass

    @dagster.asset(deps=[release])
    def published() -> None:
        pass

    check = disclosure_check(release, f"{name}.csv", "p.toml")
    done = dagster.materialize([release, published, check], raise_on_error=False)
    (only,) = done.get_asset_check_evaluations()
    details = {key: only.metadata[key].value for key in ("limits", "reasons")}
    written = [e.asset_key.to_user_string() for e in done.get_asset_materialization_events()]
    assert written == [name, *["published"] * only.passed]
    answers[f"{name} p"] = [only.passed, details]
json.dump(answers, sys.stdout)
"""


@pytest.mark.parametrize(
    ("package", "folder", "script"),
    [
        ("great_expectations", "great_expectations", EXPECTED),
        ("dagster", "dagster", CHECKED),
    ],
)
def test_other_gates(
    package: str, folder: str, script: str, tmp_path: Path, environment: Any
) -> None:
    (tmp_path / "p.toml").write_text(POLICY)
    for name, ages, head, tail in (
        ("closed", 2, "", ""),
        ("open", 60, "", ""),
        ("more", 2, ",more", ",x"),
    ):
        rows = "".join(f"canary{i % ages},canary{i // 2 % 3}{tail}\n" for i in range(60))
        (tmp_path / f"{name}.csv").write_text(f"age,ill{head}\n{rows}")
    commands = environment(package, ROOT)
    place = {"PYTHONPATH": str(INTEGRATIONS / folder), "GX_ANALYTICS_ENABLED": "false"}
    printed = run_in(tmp_path, commands / "python", "-c", script, **place)
    answers = json.loads(printed)
    limits = ("reidentification.k_anonymity", "inference.ill.l_diversity")
    assert "canary" not in printed
    assert answers["closed p"] == [True, {"limits": dict.fromkeys(limits, "met"), "reasons": []}]
    assert answers["open p"] == [
        False,
        {"limits": dict.fromkeys(limits, "breached"), "reasons": []},
    ]
    success, details = answers["more p"]
    assert not success and set(details["limits"].values()) == {"met"}
    assert "columns have no role: 'more'" in details["reasons"][0]
    assert not answers.get("closed none", [False])[0]  # a policy that is not there is not met


# -- R --------------------------------------------------------------------------------------------

IN_R = """
library(sievert)
df <- data.frame(
  zip = factor(c("01", "01", NA, NA, "2")),
  age = c(30L, 30L, 41L, 41L, NA),
  height = c(1.5, 1.5, NA, NaN, 2),
  member = c(TRUE, TRUE, NA, NA, FALSE),
  born = as.Date(c("2000-01-02", "2000-01-02", NA, NA, "1999-01-01")),
  seen = as.POSIXct(c(0.25, 0.25, NA, NA, 0.5), origin = "1970-01-01", tz = "UTC"),
  ill = c("gr\u00fcn", NA, "hiv", "flu", "NA")
)
json <- reticulate::import("json")
quasi <- setdiff(names(df), "ill")
numbers <- function(result) list(
  k = result$reidentification$k_anonymity$value,
  alone = result$reidentification$unique_records$records,
  l = result$inference$ill$l_diversity$value,
  known = result$inference$ill$l_diversity$without_missing,
  met = result$policy$met,
  missing = result$table$missing_values
)
cat(json$dumps(numbers(sievert_assess(df, quasi, "ill")), sort_keys = TRUE), "\n")
cat(json$dumps(numbers(sievert_assess(df[1:4, ], quasi, "ill")), sort_keys = TRUE), "\n")
one <- sievert_assess(df[1, c("zip", "ill")], "zip", "ill", policy = "p.toml")
cat(json$dumps(numbers(one), sort_keys = TRUE), "\n")
df$odd <- I(as.list(1:5))
for (wrong in list(list(df, "zip"), list(1), list(df[c("zip", "ill")], "nonsense")))
  cat(tryCatch(do.call(sievert_assess, wrong), error = function(e) "refused"), "\n")
"""


def test_r_gives_the_numbers_of_python(tmp_path: Path) -> None:
    """With Debian's r-base-core and r-cran-reticulate."""
    assert shutil.which("Rscript"), "install r-base-core and r-cran-reticulate"
    library = tmp_path / "library"
    library.mkdir()
    run_in(tmp_path, "R", "CMD", "INSTALL", f"--library={library}", INTEGRATIONS / "r" / "sievert")
    (tmp_path / "p.toml").write_text(POLICY.replace('"age"', '"zip"'))
    (tmp_path / "test.R").write_text(IN_R, encoding="utf-8")
    place = {"RETICULATE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "src")}
    place |= {"R_LIBS": str(library), "LC_ALL": "C.UTF-8"}
    printed = run_in(tmp_path, "Rscript", "test.R", **place).splitlines()
    table: dict[str, list[Any]] = {
        "zip": ["01", "01", None, None, "2"],
        "age": [30, 30, 41, 41, None],
        "height": [1.5, 1.5, None, None, 2.0],
        "member": [True, True, None, None, False],
        "born": ["2000-01-02", "2000-01-02", None, None, "1999-01-01"],
        "seen": ["0.25", "0.25", None, None, "0.5"],
        "ill": ["grün", None, "hiv", "flu", "NA"],
    }
    for line, rows in zip(printed[:2], (5, 4), strict=True):
        part = {name: values[:rows] for name, values in table.items()}
        quasi = [name for name in part if name != "ill"]
        result = sievert.assess(part, quasi, ["ill"])
        values = result.inference["ill"]["l_diversity"]
        assert json.loads(line) == {
            "k": result.reidentification["k_anonymity"].value,
            "alone": result.reidentification["unique_records"].details["records"],
            "l": values.value,
            "known": values.details["without_missing"],
            "met": None,
            "missing": result.table["missing_values"],
        }
    one = json.loads(printed[2])
    assert (one["k"], one["l"], one["met"]) == (1, 1, False)
    assert [line.strip() for line in printed[3:]] == ["refused"] * 3
