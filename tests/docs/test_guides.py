"""What the guides say of policies, measures and exit codes is what the program does."""

from __future__ import annotations

import math
import random
import re
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import run

import sievert
from sievert.measures import BY_ID, MEASURES
from sievert.policy import parse_policy
from sievert.policy.judgement import REASONS

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "guides"
POLICIES = ROOT / "examples" / "policies"
NAMES = {"public use": "public_use", "scientific use": "scientific_use", "internal": "internal"}
SCOPES = {
    ("record",): "re-identification",
    ("secret",): "inference",
    ("record", "secret"): "both",
    (): "both",  # one number a class: a function of its own for both
}
GRAINS = ("whole table", "per class", "average (", "worst case (")


def guide(name: str) -> str:
    return (GUIDES / f"{name}.md").read_text(encoding="utf-8")


def table(text: str, head: str) -> list[list[str]]:
    """The rows of the table whose first line begins with these words."""
    lines = text[text.index(f"\n| {head}") + 1 :].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [rows[0], *rows[2:]]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guides")
    script = str(ROOT / "examples" / "hospital.py")
    command = [sys.executable, script, str(folder / "hospital.csv"), "--releases", str(folder)]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    return folder


# -- policies -----------------------------------------------------------------------------------


def stated() -> list[tuple[str, str, str, int, int]]:
    """Table, columns, policy, and how many of how many limits the guide says are breached."""
    head, *rows = table(guide("officer"), "table | columns an outsider knows")
    found = []
    for name, columns, *cells in rows:
        for title, cell in zip(head[2:], cells, strict=True):
            breached, _, limits = cell.strip(" |").partition(" of ")
            found.append((name.strip("` "), columns, NAMES[title], int(breached), int(limits)))
    return found


@pytest.mark.parametrize(("name", "columns", "policy", "breached", "limits"), stated())
@pytest.mark.slow
def test_policies_give_what_the_guide_says(
    demo: Path, name: str, columns: str, policy: str, breached: int, limits: int
) -> None:
    found = sievert.assess(
        demo / f"{name}.csv",
        quasi=columns.split(", "),
        sensitive=["diagnosis"],
        policy=POLICIES / f"{policy}.toml",
    )
    assert found.verdicts is not None
    met: dict[tuple[str, str], bool] = {}  # a limit has a second line for suppressed rows
    for v in found.verdicts:
        met[v.where, v.measure] = met.get((v.where, v.measure), True) and v.met is not False
    assert [*met.values()].count(False) == breached
    assert len(met) == limits
    assert not any("harmless side" in str(w) for w in found.warnings)


def test_the_guide_states_every_policy() -> None:
    assert {p.stem for p in POLICIES.glob("*.toml")} == set(NAMES.values())
    assert len(stated()) >= 9 and {row[2] for row in stated()} == set(NAMES.values())
    assert {row[3] > 0 for row in stated() if row[2] == "public_use"} == {True, False}


@pytest.mark.parametrize("name", NAMES.values())
def test_policies_are_commented_and_go_with_any_table(name: str) -> None:
    text = (POLICIES / f"{name}.toml").read_text(encoding="utf-8")
    policy = parse_policy(tomllib.loads(text))
    assert not any(vars(policy.roles).values()) and not policy.inference
    assert policy.everywhere and policy.reidentification
    for line in text.splitlines():
        assert len(line) <= 100
        assert not line.strip() or "#" in line, f"no comment: {line}"


def test_secrets_are_needed_where_the_policies_say_so(demo: Path) -> None:
    hidden, quasi = demo / "hidden.csv", ["sex", "age"]
    for name in NAMES.values():
        with pytest.raises(sievert.SievertError, match="name one with -s"):
            sievert.assess(hidden, quasi, policy=POLICIES / f"{name}.toml")


@pytest.mark.parametrize("name", NAMES.values())
@pytest.mark.parametrize("rare", [20, 4], ids=["95 to 5", "80 to 20"])
def test_policies_can_be_met_by_skewed_secrets_of_two_values(name: str, rare: int) -> None:
    """Nine people in ten have no debts: a limit on the confidence itself would be impossible."""
    policy = POLICIES / f"{name}.toml"
    fair = {
        "zip": [str(i % 10) for i in range(2000)],
        "debt": ["yes" if i // 10 % rare == 0 else "no" for i in range(2000)],
    }
    order = random.Random(1).sample(range(2000), 2000)  # runs of debts would tell more
    fair = {column: [values[i] for i in order] for column, values in fair.items()}
    assert sievert.assess(fair, "zip", "debt", policy=policy).met is True
    told = {**fair, "zip": [f"{zip_}{debt}" for zip_, debt in zip(*fair.values(), strict=True)]}
    found = sievert.assess(told, "zip", "debt", policy=policy)
    assert found.met is False and not any(v.impossible for v in found.verdicts or ())


def test_stricter_use_has_stricter_limits() -> None:
    texts = [(POLICIES / f"{name}.toml").read_text() for name in NAMES.values()]
    public, science, internal = (parse_policy(tomllib.loads(text)) for text in texts)
    for wide, narrow in ((internal, science), (science, public)):
        for part in ("everywhere", "reidentification"):
            for measure, limit in getattr(wide, part).items():
                other = getattr(narrow, part).get(measure)
                if other is not None and limit.min is not None:
                    assert other.min >= limit.min, measure
                if other is not None and limit.max is not None:
                    assert other.max <= limit.max, measure


def test_every_reason_has_its_line() -> None:
    """Each with what to do, under the word that the program says."""
    text = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
    _, *rows = table(text, "`what` in the JSON | when")
    lines = {row[0].strip("`"): row[1:] for row in rows if row[0].startswith("`")}
    assert lines.keys() == REASONS.keys()
    assert all(len(when) > 10 and len(todo) > 5 for when, todo in lines.values())


# -- the table of measures ----------------------------------------------------------------------


def test_every_measure_is_in_the_table_as_its_record_says() -> None:
    _, *rows = table(guide("statistician"), "measure | granularity")
    assert [re.findall(r"`(\w+)`", row[0])[0] for row in rows] == [m.id for m in MEASURES]
    for m, row in zip(MEASURES, rows, strict=True):
        link, grain, scope, unit, bounds, riskier, words = row
        assert link == f"[`{m.id}`](../measures/{m.id}.md)"
        assert (unit, bounds, riskier) == (m.unit, m.bounds, m.riskier), m.id
        assert scope == SCOPES[m.kinds], m.id
        assert grain.startswith(GRAINS), m.id
        assert len(words) > 5, m.id
        assert set(re.findall(r"`(\w+)`", words)) <= set(BY_ID), m.id


def tables() -> list[dict[str, list[str]]]:
    """Small random tables, among them some with unique records and some without."""
    rng = random.Random(5)
    found = []
    for number in range(30):
        n, values = rng.randint(4, 40), rng.randint(2, 5)
        quasi = [rng.choice("abcdef"[: 1 + number % 6]) for _ in range(n)]
        secret = [rng.choice("vwxyz"[:values]) for _ in range(n)]
        secret[:2] = ["v", "w"]  # something to learn
        found.append({"q": quasi, "s": secret})
    return found


def at_most(low: float | None, high: float | None) -> bool:
    """Whether low <= high up to rounding; None stands for unbounded, or undefined."""
    return low is None or high is None or low <= high + 1e-9


@pytest.mark.parametrize("data", tables(), ids=map(str, range(30)))
@pytest.mark.slow
def test_links_between_finding_measures_hold(data: dict[str, list[str]]) -> None:
    found = sievert.assess(data, ["q"], ["s"])
    r: dict[str, Any] = {name: v.value for name, v in found.reidentification.items()}
    n, k, classes = len(data["q"]), r["k_anonymity"], r["classes"]
    sizes = [data["q"].count(q) for q in set(data["q"])]
    close = pytest.approx
    assert r["highest_risk"] == close(1 / k) and r["entropy_l_diversity"] == close(1 / k)
    assert r["average_risk"] == r["distinction"] == r["bayes_vulnerability_posterior"]
    assert at_most(r["unique_records"], r["average_risk"])
    assert at_most(r["average_risk"], r["highest_risk"])
    assert at_most(r["average_risk"], r["average_class_risk"])
    assert (r["unique_records"] > 0) == (k == 1)
    assert (r["separation"] == 1) == (classes == n)
    share = k * math.log2(k) / (n * math.log2(n))
    assert r["itpr"] == close(1 - classes * share)
    assert r["itpr_unnormalized"] == close(1 - share)
    entropy = -sum(size / n * math.log2(size / n) for size in sizes)
    assert r["mutual_information"] == close(entropy)
    assert r["discrimination_rate"] == close(entropy / math.log2(n))
    assert r["entropy_variation"] == close(math.log2(n / k))
    assert r["conditional_entropy"] >= math.log2(k) - 1e-9
    assert r["joint_entropy"] == close(math.log2(n)) == r["entropy"]
    assert r["reciprocal_entropy"] == (None if k == 1 else close(1 / math.log2(k)))


@pytest.mark.parametrize("data", tables(), ids=map(str, range(30)))
@pytest.mark.slow
def test_links_between_measures_of_a_secret_hold(data: dict[str, list[str]]) -> None:
    orders = {"s": ["v", "w", "x", "y", "z"]}
    found = sievert.assess(data, ["q"], ["s"], orders=orders)
    s: dict[str, Any] = {name: v.value for name, v in found.inference["s"].items()}
    k = found.reidentification["k_anonymity"].value
    prior, posterior = s["bayes_vulnerability_prior"], s["bayes_vulnerability_posterior"]
    bits, beta, delta = s["mutual_information"], s["beta_likeness"], s["delta_disclosure"]
    close = pytest.approx
    assert s["discrimination_rate"] == close(bits / s["entropy"])
    assert s["normalized_conditional_entropy"] == close(1 - s["discrimination_rate"])
    assert s["conditional_privacy"] == close(1 - 2**-bits)
    leakage = s["maximum_information_leakage"]
    assert leakage == close(s["entropy"] * s["itpr_unnormalized"])
    chains = [
        (s["discrimination_rate"], s["itpr"], s["itpr_unnormalized"]),
        (bits, leakage), (bits, s["entropy_variation"]),
        (prior, posterior, s["max_confidence"], prior + s["t_closeness"]),
        (1 / s["max_confidence"], s["entropy_l"], s["l_diversity"], k),
        (1 / s["l_diversity"], s["max_confidence"]),
        (s["t_closeness_ordered"], s["t_closeness"]),
        (s["enhanced_beta_likeness"], beta),
        (bits, math.log2(1 + beta)), (s["max_confidence"], (1 + beta) * prior),
        (math.log(1 + beta), s["delta_disclosure_present"], delta),
        (bits, None if delta is None else delta / math.log(2)),
    ]  # fmt: skip
    for chain in chains:
        assert all(at_most(a, b) for a, b in pairwise(chain)), chain
    assert s["entropy_l_diversity"] == close(1 / s["entropy_l"])
    assert s["alpha_k"] == s["max_confidence"]
    assert (s["l_diversity"] == 1) == (s["max_confidence"] == 1)
    if k == 1:
        assert delta is None and s["l_diversity"] == 1 and s["itpr"] == close(1)
    rates = sievert.discrimination_rate_by_value(data, ["q"], "s").values()
    assert max(rates) == close(s["itpr_unnormalized"])
    assert sum(1 - rate for rate in rates) == close(1 - s["discrimination_rate"])


# -- exit codes ---------------------------------------------------------------------------------


def test_exit_codes_are_those_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:

    run("--help")
    said = " ".join(capsys.readouterr().out.split()).partition("Exit codes:")[2]
    said = said.partition("interrupted")[0]
    codes = [code for row in table(guide("engineer"), "code | meaning")[1:]
             for code in re.findall(r"\d+", row[0])]  # fmt: skip
    assert codes == re.findall(r"\b\d+\b", said)


# -- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["officer", "statistician", "engineer"])
def test_guides_give_no_verdict_of_their_own(name: str) -> None:
    text = re.sub("^! ", "", guide(name), flags=re.MULTILINE)  # the mark before a caution
    assert not re.search(r"\banonymous\b|\b(is|are) safe\b|!(?!\[|=)", text)
    assert all(len(line) <= 130 or line.startswith(("|", "$")) for line in text.splitlines())


def test_every_source_says_how_it_is_known() -> None:
    _, *rows = table(guide("officer"), "who | what | how we know")
    assert len(rows) >= 10
    for row in rows:
        assert re.match(r"(text|second hand|memory)\b", row[2]), row[0]


def test_the_gate_for_a_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = guide("synthetic")
    split, policy = (
        re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("python", "toml")
    )
    assert split and policy
    monkeypatch.chdir(tmp_path)
    script = [sys.executable, str(ROOT / "examples" / "hospital.py"), "people.csv"]
    subprocess.run(script, check=True, timeout=60, capture_output=True)
    seeded = split[1].replace(
        "SystemRandom()", "Random(1)"
    )  # a fair draw is refused one time in 100
    exec(compile(seeded, "split", "exec"), {})
    original, control = (
        Path(name).read_text().splitlines() for name in ("original.csv", "control.csv")
    )
    assert (len(original), len(control)) == (1601, 401)
    Path("generator.toml").write_text(policy[1], encoding="utf-8")
    names, *people = [line.split(",")[1:] for line in original]  # no patient_id
    rng = random.Random(3)
    columns = [rng.sample(column, len(people)) for column in zip(*people, strict=True)]
    shuffled = list(zip(*columns, strict=True))
    for name, rows in (("copied.csv", people), ("shuffled.csv", shuffled)):
        lines = [",".join(row) for row in (names, *rows)]
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def attacked(table: str) -> Any:
        result = sievert.synthetic("original.csv", table, "control.csv", policy="generator.toml")
        return result.to_dict()["policy"]

    found = attacked("copied.csv")
    assert found["met"] is False and not found["reasons"]
    limits = {v["measure"]: v["met"] for v in found["limits"]}
    assert limits["membership.least_excess"] is True and limits["unique_copies.high"] is False
    assert limits["copies.high"] is False and limits["singling_out.p"] is False
    assert attacked("shuffled.csv")["met"] is True
    assert [reason["what"] for reason in attacked("original.csv")["reasons"]] == ["file_holds"]
