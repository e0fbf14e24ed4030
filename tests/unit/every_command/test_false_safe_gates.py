"""Attempts to pass the gates of commands besides `assess`, and limits that could not be breached.

None may end with a policy that is met, or with exit code 0.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.commandline import run

import sievert
from sievert.workbench.choices import Choices, session_text
from sievert.workbench.step_commands import FILE

Table = dict[str, list[Any]]


def policy(measure: str, limit: float, **more: Any) -> dict[str, Any]:
    return {
        "roles": {"quasi": ["zip"], "sensitive": ["ill"], "rows_are_people": True},
        "limits": {"inference": {"ill": {measure: {"max": limit}}}},
        **more,
    }


# -- enhanced beta-likeness -----------------------------------------------------------------------


def rare_secret() -> Table:
    """A hundred people; all four with the rare secret live in one place."""
    return {
        "zip": ["1"] * 8 + ["2"] * 92,
        "ill": ["rare"] * 4 + ["flu", "cold"] * 48,
    }


def test_a_large_limit_on_enhanced_beta_likeness_is_not_met_by_every_table() -> None:
    """The number never exceeds -ln of the rarest share, so that a limit of 10 was always met."""
    found = sievert.assess(rare_secret(), policy=policy("enhanced_beta_likeness", 10.0))
    number = found.inference["ill"]["enhanced_beta_likeness"]
    assert number.value == pytest.approx(-math.log(0.04)) and number.value < 10
    (verdict,) = found.verdicts or ()
    assert found.met is False and verdict.met is False
    assert verdict.reason == "a value gains more than the smaller of the limit and -ln of its share"
    assert "A value gains more than its own bound" in found._repr_html_()


def test_a_value_may_gain_up_to_the_logarithm_of_its_own_share() -> None:
    """A gain of 0.6 of half the people is below the limit 0.65, and below -ln(1/2) = 0.69."""
    zips = ["1"] * 10 + ["2"] * 10
    table = {"zip": zips, "ill": ["a"] * 8 + ["b"] * 2 + ["a"] * 2 + ["b"] * 8}
    assert sievert.beta_likeness(table, "zip", "ill") == pytest.approx(0.6)
    assert sievert.assess(table, policy=policy("enhanced_beta_likeness", 0.65)).met is True
    assert sievert.assess(table, policy=policy("enhanced_beta_likeness", 0.55)).met is False
    table["ill"] = (["a"] * 9 + ["b"]) + (["a"] + ["b"] * 9)  # a gain of 0.8
    assert sievert.assess(table, policy=policy("enhanced_beta_likeness", 5.0)).met is False


def test_a_constant_secret_gains_nothing_from_any_class() -> None:
    """p(s) = 1 leaves a bound of 0, which a gain of 0 does not exceed; the secret is certain."""
    table = {"zip": ["1"] * 5 + ["2"] * 5, "ill": ["flu"] * 10}
    found = sievert.assess(table, policy=policy("enhanced_beta_likeness", 1.0))
    details = found.inference["ill"]["enhanced_beta_likeness"].details
    assert details["satisfiable"] is True
    both = policy("enhanced_beta_likeness", 1.0)
    both["limits"]["inference"]["ill"]["confidence_gain"] = {"max": 0.5}
    assert sievert.assess(table, policy=both).met is False


@pytest.mark.parametrize("how", ["full", "local"])
def test_a_release_keeps_the_bound_of_every_value(tmp_path: Path, how: str) -> None:
    random = Random("enhanced beta")
    table = {
        "zip": [str(random.randrange(10, 16)) for _ in range(120)],
        "age": [str(random.randrange(20, 24)) for _ in range(120)],
        "ill": [random.choice(["flu"] * 8 + ["cold"] * 4 + ["gout"]) for _ in range(120)],
    }
    rules = policy("enhanced_beta_likeness", 10.0)
    rules["roles"]["quasi"] = ["zip", "age"]
    rules["hierarchies"] = {"zip": "interval:2,4", "age": "interval:2"}
    assert sievert.assess(table, policy=rules).met is False
    out = tmp_path / "release.csv"
    result = sievert.protect(table, policy=rules, how=how, out=out, seed=1, suppress=0)
    assert result.released
    released = sievert.assess(out, policy=rules)
    assert released.met is True
    assert gains_within_bounds(out, released.roles.quasi)


def gains_within_bounds(path: Path, quasi: Any) -> bool:
    """The published criterion, record by record."""
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    secrets = [row["ill"] for row in rows]
    classes: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        classes.setdefault(tuple(row[c] for c in quasi), []).append(row["ill"])
    for members in classes.values():
        for secret in set(members):
            share = secrets.count(secret) / len(secrets)
            gain = (members.count(secret) / len(members) - share) / share
            if gain > min(10.0, -math.log(share)) + 1e-12:
                return False
    return True


def test_a_comparison_judges_the_same_limit(tmp_path: Path) -> None:
    table = rare_secret()
    rules = policy("enhanced_beta_likeness", 10.0)
    result = sievert.compare(table, {"same": table}, key=None, policy=rules, paired=True)
    assert result.met is not True


# -- recursive (c,l)-diversity --------------------------------------------------------------------


def test_a_limit_on_recursive_c_is_strict() -> None:
    """r_1 < c (r_2 + ... + r_m): a class of two and one does not meet c = 2."""
    table = {"zip": ["1"] * 3 + ["2"] * 3, "ill": ["a", "a", "b"] * 2}
    assert sievert.recursive_c(table, "zip", "ill") == 2
    assert sievert.assess(table, policy=policy("recursive_c", 2.0)).met is False
    assert sievert.assess(table, policy=policy("recursive_c", 2.001)).met is True
    found = sievert.assess(table, policy=policy("recursive_c", 2.0))
    assert "below 2" in " ".join(repr(found).split()) or "below 2" in found._repr_html_()


@pytest.mark.parametrize(
    ("measure", "limit"),
    [("max_confidence", 2 / 3), ("t_closeness", 0.0), ("beta_likeness", 0.0)],
)
def test_no_other_limit_is_strict(measure: str, limit: float) -> None:
    table = {"zip": ["1"] * 3 + ["2"] * 3, "ill": ["a", "a", "b"] * 2}
    assert sievert.assess(table, policy=policy(measure, limit)).met is True


@pytest.mark.parametrize("how", ["full", "local"])
def test_a_release_does_not_stop_at_the_limit_on_recursive_c(tmp_path: Path, how: str) -> None:
    """The first place alone has c = 2; both together have 7/5."""
    table = {
        "zip": ["1"] * 6 + ["2"] * 6,
        "sex": ["f"] * 12,
        "ill": ["a"] * 4 + ["b"] * 2 + ["a"] * 3 + ["b"] * 3,
    }
    rules = policy("recursive_c", 2.0, hierarchies={"zip": "*", "sex": "*"})
    rules["roles"]["quasi"] = ["zip", "sex"]
    out = tmp_path / "release.csv"
    result = sievert.protect(table, policy=rules, how=how, out=out, seed=1, suppress=0)
    assert result.released
    assert sievert.recursive_c(out, ["zip", "sex"], "ill") == pytest.approx(7 / 5)
    assert sievert.assess(out, policy=rules).met is True


# -- engines that a command does not have ------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        ("synthetic", "t.csv", "t.csv", "--engine", "spark"),
        ("synthetic", "t.csv", "t.csv", "--engine", "postgres"),
        ("synthetic", "postgresql://host/db?table=t", "t.csv"),
        ("synthetic", "t.csv", "postgresql://host/db?table=t"),
        ("synthetic", "t.csv", "t.csv", "--control", "postgres://host/db?table=t"),
        ("protect", "t.csv", "--policy", "p.toml", "--key", "who", "-o", "r.csv", "--earlier",
         "postgresql://host/db?table=t"),
        ("protect", "t.csv", "--policy", "p.toml", "--key", "who", "-o", "r.csv", "--earlier",
         "POSTGRESQL://host/db?table=t"),
        ("synthetic", "t.csv", "Postgres://host/db?table=t"),
    ],
)  # fmt: skip
def test_what_needs_files_is_refused_before_an_engine_starts(
    given: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("who,zip,ill\n1,1,flu\n2,1,flu\n", encoding="utf-8")
    text = '[roles]\nquasi = ["zip"]\n[roles.ignored]\nwho = "key"\nill = "not used"\n'
    (tmp_path / "p.toml").write_text(f"{text}[limits]\nk_anonymity = {{ min = 1 }}\n")

    def no_engine(*_: Any, **__: Any) -> Any:
        raise AssertionError("an engine was started")

    monkeypatch.setattr("sievert.request.requested.open_source", no_engine)
    assert run(*given) == 2
    said = capsys.readouterr().err
    assert "files and frames only, not Spark nor a database" in said and "No such file" not in said


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_earlier_releases_without_a_limit_on_k_are_refused_before_an_engine_starts(
    engine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("who,zip,ill\n1,1,flu\n2,1,flu\n", encoding="utf-8")
    text = '[roles]\nquasi = ["zip"]\nsensitive = ["ill"]\nidentifier = ["who"]\n'
    (tmp_path / "p.toml").write_text(f"{text}[limits]\nl_diversity = {{ min = 2 }}\n")

    def no_engine(*_: Any, **__: Any) -> Any:
        raise AssertionError("an engine was started")

    monkeypatch.setattr("sievert.request.requested.open_source", no_engine)
    given = ("protect", "t.csv", "--policy", "p.toml", "--key", "who", "-o", "r.csv")
    assert run(*given, "--earlier", "t.csv", "--engine", engine) == 2
    assert "no limit on k" in capsys.readouterr().err


def test_a_column_that_must_not_be_released_has_a_role() -> None:
    """The original lacks it, so that nothing but the policy says what it is."""
    own = {"age": ["20", "30"] * 20, "ill": ["flu", "cold", "gout", "acne"] * 10}
    fake = {**own, "name": [f"Anna {i}" for i in range(40)]}
    rules = {
        "roles": {
            "identifier": ["name"],
            "quasi": ["age"],
            "sensitive": ["ill"],
            "rows_are_people": True,
        },
        "limits": {"synthetic": {"copies": {"rate": {"max": 0.5}}}},
    }
    reasons = sievert.synthetic(own, fake, policy=rules).tables[0].policy.reasons
    assert [(reason.what, reason.names) for reason in reasons] == [("file_holds", ("name",))]


# -- policy check ---------------------------------------------------------------------------------


def check(tmp_path: Path, table: Table, text: str) -> list[Any]:
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return list(sievert.check_policy(path, table).gaps)


def gaps(tmp_path: Path, table: Table, text: str) -> set[tuple[str, str]]:
    return {(gap.what, gap.name) for gap in check(tmp_path, table, text)}


def test_policy_check_counts_people_and_not_rows(tmp_path: Path) -> None:
    """2,000 people with 4,384 rows are never 3,000 alike."""
    people = [i % 2000 for i in range(4384)]
    table = {"who": people, "zip": ["1"] * 4384, "ill": ["a", "b"] * 2192}
    roles = '[roles]\nquasi = ["zip"]\nsensitive = ["ill"]\nperson = "who"\n'
    for k, impossible in ((3000, True), (2000, False)):
        limit = f"[limits]\nk_anonymity = {{ min = {k} }}\n"
        found = gaps(tmp_path, table, f"{roles}{limit}")
        assert (("impossible_limits", "k_anonymity") in found) is impossible
        said = [gap.text for gap in check(tmp_path, table, f"{roles}{limit}")]
        assert any("the table has too few people" in text for text in said) is impossible
        policy = {
            "roles": {"quasi": ["zip"], "sensitive": ["ill"], "person": "who"},
            "limits": {"k_anonymity": {"min": k}},
        }
        (verdict,) = sievert.assess(table, policy=policy, quick=True).verdicts or ()
        assert verdict.met is not impossible


def test_policy_check_finds_an_order_that_assess_refuses(tmp_path: Path) -> None:
    """No limit needs the order; assess reads it all the same."""
    table = {"zip": ["1"] * 6, "ill": ["a", "b", "c"] * 2}
    text = '[roles]\nquasi = ["zip"]\nsensitive = ["ill"]\n[orders]\nill = ["a", "b"]\n'
    text += "[limits]\nk_anonymity = { min = 2 }\n"
    assert gaps(tmp_path, table, text) == {("undecidable_limits", "ill")}
    with pytest.raises(sievert.SievertError):
        sievert.assess(table, policy=tmp_path / "policy.toml")
    whole = text.replace('"b"]\n[limits]', '"b", "c"]\n[limits]')
    assert gaps(tmp_path, table, whole) == set()
    assert sievert.assess(table, policy=tmp_path / "policy.toml").met is not None


# -- every command that has a gate ----------------------------------------------------------------

NAMES = """
[roles]
identifier = ["name"]
quasi = ["sex"]
sensitive = ["ill"]
rows_are_people = true
[limits]
k_anonymity = { min = 5 }
l_diversity = { min = 2 }
[limits.synthetic.copies]
rate = { max = 1.0 }
"""
VISITS = """
[roles]
person = "who"
quasi = ["zip"]
sensitive = ["ill"]
[limits]
k_anonymity = { min = 2 }
l_diversity = { min = 2 }
"""
GIVEN = ("--policy", "names.toml")
# Attempts to get exit code 0 for a table that holds names, or whose people are exposed by others.
ATTEMPTS = {
    "a file with names": (1, "assess", "names.csv", *GIVEN),
    "other roles": (1, "assess", "names.csv", *GIVEN, "-q", "sex", "-s", "ill"),
    "only a shareable answer": (1, "assess", "names.csv", *GIVEN, "--share"),
    "only a test report": (1, "assess", "names.csv", *GIVEN, "--junit", "report.xml"),
    "a plan for a pipeline": (2, "assess", "names.csv", *GIVEN, "--planned", "--junit", "r.xml"),
    "a plan for a server": (2, "serve", "--stdio", *GIVEN, "--planned"),
    "a release with names": (1, "compare", "plain.csv", "names.csv", *GIVEN, "--paired"),
    "a synthetic table with names": (1, "synthetic", "names.csv", "again.csv", *GIVEN),
    "names that are kept": (2, "protect", "names.csv", *GIVEN, "--keep", "name", "-o", "r.csv"),
    "names with a reason": (2, "protect", "names.csv", *GIVEN, "--keep", "name=x", "-o", "r.csv"),
    "rows counted twice": (7, "update", "state", "--add", "again.csv"),
    "rows added up twice": (7, "merge", "state", "state", "-o", "sum"),
    "rows counted twice, respelt": (7, "update", "state", "--add", "respelt.csv"),
    "an earlier release": (1, "ledger", "check", "ledger", "second.csv", "--policy", "v.toml"),
    "a session about a file with names": (1, "run", "file.toml"),
    "a session about such a file, and a release": (1, "run", "both.toml"),
    "a session with a good and a bad release": (1, "run", "compared.toml"),
    "a policy that cannot be decided": (1, "policy", "check", "names.toml", "respelt.csv"),
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gates")

    def write(name: str, *rows: tuple[Any, ...]) -> None:
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)

    people = [(f"Anna {i}", "fm"[i % 2], ("flu", "cold", "gout")[i % 3]) for i in range(60)]
    head = ("name", "sex", "ill")
    write("names.csv", head, *people)
    write("again.csv", head, *reversed(people))
    write(
        "respelt.csv", head, *((n, s, ill.title() if n < "Anna 3" else ill) for n, s, ill in people)
    )
    write("plain.csv", head[1:], *(each[1:] for each in people))
    draw = Random(1)
    many = [(f"Ben {i}", draw.choice("fm"), draw.choice(("flu", "cold"))) for i in range(600)]
    write("many.csv", head, *many)
    write("many-plain.csv", head[1:], *(each[1:] for each in many))
    visits = ("who", "zip", "ill")
    ann, bob, cid, dora = ("p0", "flu"), ("p1", "cold"), ("p2", "flu"), ("p3", "cold")
    places = {"first.csv": ((ann, bob), (cid, dora)), "second.csv": ((ann, dora), (bob, cid))}
    for name, (here, there) in places.items():
        rows = [(who, "1", ill) for who, ill in here] + [(who, "2", ill) for who, ill in there]
        write(name, visits, *rows)
    (folder / "names.toml").write_text(NAMES, encoding="utf-8")
    (folder / "v.toml").write_text(VISITS, encoding="utf-8")
    roles = {"quasi": ["name", "sex"], "sensitive": ["ill"]}
    sievert.count(folder / "names.csv", **roles, out=folder / "state")
    _write_sessions(folder)
    ledger, policy = folder / "ledger", folder / "v.toml"
    sievert.add_to_ledger(
        ledger, folder / "first.csv", policy=policy, name="one", date="2026-01-01"
    )
    return folder


def _write_sessions(folder: Path) -> None:
    """Write sessions: their table is the release, or was made into good and bad ones."""
    begun = Choices("many.csv").put("policy", file="names.toml")
    file = begun.put("load", question=FILE)
    sessions = {
        "file": file,
        "both": file.put("compare", releases=("many-plain.csv",)),
        "compared": begun.put("compare", releases=("many-plain.csv", "many.csv")),
        "good": begun.put("compare", releases=("many-plain.csv",)),
    }
    for name, choices in sessions.items():
        (folder / f"{name}.toml").write_text(session_text(choices), encoding="utf-8")


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_no_command_ends_with_0(
    attempt: str, tables: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(tables)
    code, *arguments = ATTEMPTS[attempt]
    before = {path.name for path in tables.iterdir()}
    assert run(*arguments) == code
    out = capfd.readouterr().out
    assert not out.lstrip().startswith(("✓", "~"))
    assert {path.name for path in tables.iterdir()} - before <= {"report.xml"}


def test_what_the_attempts_pass_without(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same tables and policies with exit code 0, so that the attempts fail for their reason."""
    monkeypatch.chdir(tables)
    assert run("assess", "plain.csv", *GIVEN) == 0
    assert run("run", "good.toml") == 0
    assert run("assess", "names.csv", *GIVEN, "--planned") == 0
    assert run("policy", "check", "names.toml", "names.csv") == 0
    assert run("assess", "second.csv", "--policy", "v.toml", "--planned") == 0
