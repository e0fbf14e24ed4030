"""The methods that change records: what each does, that it says so, and what it refuses."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import fields
from pathlib import Path
from random import Random
from statistics import fmean, median_low
from typing import Any

import numpy as np
import pytest
from helpers.commandline import run
from helpers.pairedrows import in_input_order

import sievert
from sievert.commands.protect import check, method, number_columns, writing
from sievert.commands.protect.settings import FULL, HOW, METHODS, ProtectSettings
from sievert.errors import InputError, RefusedError, UsageError

QUASI = ["age", "pay", "town"]
ROLES = {"quasi": QUASI, "sensitive": ["ill"], "rows_are_people": True}
ANYTHING = {"k_anonymity": {"min": 1}}  # a limit that every table meets
OPTIONS: dict[str, dict[str, Any]] = {
    "microaggregate": {"group": 4},
    "noise": {"amount": 0.2},
    "round": {"base": {"age": 10.0, "pay": 250.0}},
    "pram": {"amount": 0.2},
    "anatomy": {"group": 2},
    "sample": {"fraction": 0.5},
}


def people(records: int = 120, seed: int = 1) -> dict[str, list[Any]]:
    random = Random(seed)
    return {
        "name": [f"n{i}" for i in range(records)],
        "age": [str(random.randint(18, 80)) for _ in range(records)],
        "pay": [f"{random.gauss(2000, 300):.2f}" for _ in range(records)],
        "town": [random.choice(("01234", "01239", "20095")) for _ in range(records)],
        "ill": [("flu", "cold", "gout")[i % 3] for i in range(records)],
    }


def policy(**limits: Any) -> dict[str, Any]:
    return {"roles": ROLES, "limits": limits}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def same_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of a release in this process: the same function, without starting another."""
    monkeypatch.setattr(writing, "confirm", lambda *order, **_: _confirm(*order[:3]))


def _confirm(*order: Any) -> list[str]:
    assert check.judge(*order).met is True
    return []


def release(
    table: Any, out: Path, how: str, rules: Any = None, **options: Any
) -> list[dict[str, str]]:
    rules = rules or policy(**ANYTHING)
    result = sievert.protect(table, policy=rules, how=how, out=out, **{**OPTIONS[how], **options})
    assert result.released, result
    return in_input_order(out)


def test_every_method_is_declared_with_options_that_exist() -> None:
    assert (FULL, *METHODS) == HOW
    names = {field.name for field in fields(ProtectSettings)}
    for how, declared in METHODS.items():
        assert {*declared.reads} <= names, how
        assert callable(method.method(how))


@pytest.mark.parametrize("given", ["age=x", "age=", "age", "age=1,2"])
def test_a_base_is_a_number(given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("age,ill\n1,flu\n", encoding="utf-8")
    assert run("protect", str(tmp_path / "t.csv"), "--how", "round", "--base", given) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: --base") and said.count("\n") <= 2


@pytest.mark.usefixtures("same_process")
@pytest.mark.parametrize("how", OPTIONS)
def test_the_same_bytes_twice_and_secrets_stay(how: str, tmp_path: Path) -> None:
    table = people()
    names = ["a.csv", "b.csv", "c.csv"]
    for name, seed in zip(names, (3, 3, 4), strict=True):
        release(table, tmp_path / name, how, seed=seed)
    first, again, other = ((tmp_path / name).read_bytes() for name in names)
    assert first == again and first != other  # the seed gives the order, too
    drawn_anew = sorted(first.splitlines()) != sorted(other.splitlines())
    assert drawn_anew is (how not in ("microaggregate", "round"))
    released = in_input_order(tmp_path / "a.csv")
    if how not in ("anatomy", "sample"):  # who has which secret stays
        assert [row["ill"] for row in released] == table["ill"]
    assert "name" not in released[0]
    manifest = json.loads((tmp_path / "a.csv.json").read_text(encoding="utf-8"))
    assert manifest["how"] == how and manifest["seed"] == 3 and manifest["minimised"] is None
    assert manifest["settings"] == OPTIONS[how] and manifest["suppressed"] == 0
    drawn = sievert.protect(table, policy=policy(**ANYTHING), how=how, seed=0, **OPTIONS[how])
    private = any("keep it to yourself" in note for note in drawn.warnings)
    assert private is (how in ("noise", "pram", "anatomy"))
    if how != "sample":
        assert manifest["details"] and manifest["loss"]


@pytest.mark.usefixtures("same_process")
@pytest.mark.parametrize("grouping", ["mdav", "v-mdav"])
def test_microaggregation_releases_means_medians_and_modes(grouping: str, tmp_path: Path) -> None:
    table = people()
    table["size"] = [Random(i).choice(("S", "M", "L")) for i in range(120)]
    table["pay"] = [None if i % 7 == 0 else pay for i, pay in enumerate(table["pay"])]
    roles = {**ROLES, "quasi": [*QUASI, "size"]}
    rules = {
        "roles": roles,
        "limits": {"k_anonymity": {"min": 5}},
        "orders": {"size": ["S", "M", "L"]},
    }
    result = sievert.protect(
        table, policy=rules, how="microaggregate", grouping=grouping, gamma=1.1,
        out=tmp_path / "r.csv",
    )  # fmt: skip
    assert result.released and result.release is not None and result.release.holds
    released = in_input_order(tmp_path / "r.csv")
    groups = defaultdict(list)
    for i, row in enumerate(released):
        groups[tuple(row[q] for q in roles["quasi"])].append(i)
    assert min(map(len, groups.values())) >= 5
    assert len(groups) == result.release.details["groups"]  # no two groups became one
    for (age, pay, town, size), members in groups.items():
        assert int(age) == pytest.approx(fmean(float(table["age"][i]) for i in members), abs=0.5)
        known = [float(table["pay"][i]) for i in members if table["pay"][i] is not None]
        if len(known) * 2 >= len(members):
            assert float(pay) == pytest.approx(fmean(known), abs=0.00501)
        else:
            assert pay == ""
        towns = Counter(table["town"][i] for i in members)
        assert towns[town] == max(towns.values())
        assert size == "SML"[median_low("SML".index(table["size"][i]) for i in members)]
    loss = result.release.loss
    assert 0 < loss["distortion"] < 1 and loss["mean_change"] > 0 and 0 < loss["changed_cells"] <= 1


@pytest.mark.usefixtures("same_process")
def test_hierarchies_make_categories_near(tmp_path: Path) -> None:
    """Four towns of two regions, groups of the size of a region: a hierarchy keeps regions."""
    towns = [f"{region}{place}" for place in (1, 2) for region in "ab"] * 3
    table = {"town": towns, "ill": ["flu", "cold"] * 6}
    tree = {t: [t[0], "*"] for t in ("a1", "a2", "b1", "b2")}
    result = sievert.protect(
        table, policy={"roles": {"quasi": ["town"], "sensitive": ["ill"], "rows_are_people": True},
        "limits": {"k_anonymity": {"min": 6}}}, how="microaggregate", hierarchies={"town": tree},
        out=tmp_path / "r.csv",
    )  # fmt: skip
    assert result.released
    pairs = zip(in_input_order(tmp_path / "r.csv"), towns, strict=True)
    kept = [row["town"][0] == town[0] for row, town in pairs]
    assert all(kept)


def test_noise_is_what_it_says(tmp_path: Path) -> None:
    table = people(2000)
    released = release(table, tmp_path / "r.csv", "noise", amount=0.5, seed=7)
    drawn = np.random.default_rng((7, number_columns.NOISE)).standard_normal((2, 2000))
    for place, name in enumerate(("age", "pay")):
        before = np.array([float(x) for x in table[name]])
        after = np.array([float(row[name]) for row in released])
        unit = 10.0 ** -(0 if name == "age" else 2)
        assert np.abs(before + 0.5 * before.std() * drawn[place] - after).max() <= unit * 0.51
        assert all(re.fullmatch(r"-?\d+" if name == "age" else r"-?\d+\.\d\d", row[name])
                   for row in released)  # fmt: skip
    assert [row["town"] for row in released] == table["town"]


@pytest.mark.usefixtures("same_process")
def test_correlated_noise_keeps_means_and_covariances(tmp_path: Path) -> None:
    random = Random(5)
    x = [random.gauss(0, 10) for _ in range(4000)]
    table = {
        "x": [f"{a:.3f}" for a in x],
        "y": [f"{2 * a + random.gauss(50, 5):.3f}" for a in x],
        "ill": ["flu", "cold"] * 2000,
    }
    roles = {"quasi": ["x", "y"], "sensitive": ["ill"], "rows_are_people": True}
    rules = {"roles": roles, "limits": ANYTHING}
    released = release(table, tmp_path / "r.csv", "noise", rules, amount=0.7, correlated=True)
    before = np.cov([[float(text) for text in table[c]] for c in ("x", "y")])
    after = np.cov([[float(row[c]) for row in released] for c in ("x", "y")])
    assert after == pytest.approx(before, rel=0.06)
    assert fmean(float(r["y"]) for r in released) == pytest.approx(50, abs=1.5)


@pytest.mark.usefixtures("same_process")
def test_rounding(tmp_path: Path) -> None:
    numbers = ["14", "15", "25", "-15", "-4", "0", None, "1e1", "19.99"]
    table = {"x": numbers, "y": ["0.3", "0.25", "0.05", "-0.04", "1", "2", "3", "4", "5"]}
    table["ill"] = ["flu", "cold", "gout"] * 3
    roles = {"quasi": ["x", "y"], "sensitive": ["ill"], "rows_are_people": True}
    rules = {"roles": roles, "limits": ANYTHING}
    released = release(table, tmp_path / "r.csv", "round", rules, base={"x": 10, "y": 0.1})
    assert [r["x"] for r in released] == ["10", "20", "20", "-20", "0", "0", "", "10", "20"]
    assert [r["y"] for r in released] == ["0.3", "0.2", "0", "0", "1", "2", "3", "4", "5"]
    many = {"x": ["13"] * 3000, "ill": ["flu", "cold", "gout"] * 1000}
    one = {"roles": {**roles, "quasi": ["x"]}, "limits": ANYTHING}
    random = release(many, tmp_path / "u.csv", "round", one, base={"x": 10}, unbiased=True, seed=2)
    assert {r["x"] for r in random} == {"10", "20"}
    assert fmean(float(r["x"]) for r in random) == pytest.approx(13, abs=0.35)


@pytest.mark.usefixtures("same_process")
@pytest.mark.parametrize("quasi", [["town"], ["town", "sex"]])
@pytest.mark.parametrize("numbers", [False, True])
def test_pram_releases_what_limit_releases(quasi: list[str], numbers: bool, tmp_path: Path) -> None:
    random = Random(3)
    table = {
        "town": [random.choice("abcd") for _ in range(300)],
        "sex": [random.choice("fm") for _ in range(300)],
        "ill": [
            f"{random.gauss(0, 1):.6f}" if numbers else random.choice(("flu", "cold"))
            for _ in range(300)
        ],
    }
    rules = {
        "roles": {"quasi": quasi, "sensitive": ["ill"], "rows_are_people": True},
        "limits": ANYTHING,
    }
    if len(quasi) == 1:
        del table["sex"]
    released = release(table, tmp_path / "r.csv", "pram", rules, amount=0.15, seed=9)
    sievert.randomise(table, quasi, "ill", at=0.15, seed=9, out=tmp_path / "l.csv")
    assert rows(tmp_path / "r.csv") == rows(tmp_path / "l.csv")
    changed = [r[q] != table[q][i] for i, r in enumerate(released) for q in quasi]
    assert 0.05 < fmean(changed) < 0.25
    result = sievert.protect({"town": table["town"]}, policy={
        "roles": {"quasi": ["town"], "rows_are_people": True}, "limits": ANYTHING},
        how="pram", amount=0.15)  # fmt: skip
    assert result.met is True  # without a secret: the channel that tells least of the value itself


def joined(folder: Path) -> tuple[dict[str, list[dict[str, str]]], dict[str, list[str]]]:
    """The two tables of an anatomised release, by group."""
    people_of, secrets_of = defaultdict(list), defaultdict(list)
    for row in rows(folder / "r.csv"):
        people_of[row.pop("group")].append(row)
    for row in rows(folder / "r.secrets.csv"):
        secrets_of[row["group"]].append(row["ill"])
    return people_of, secrets_of


@pytest.mark.usefixtures("same_process")
def test_anatomy_releases_two_tables(tmp_path: Path) -> None:
    table = people(121)
    table["ill"] = [("flu", "cold", "gout", "acne")[i % 4] for i in range(121)]
    rules = policy(l_diversity={"min": 3}, max_confidence={"max": 0.34})
    result = sievert.protect(table, policy=rules, how="anatomy", seed=5, out=tmp_path / "r.csv")
    assert result.released and result.met
    private = "r.csv.pairing.parquet"
    names = {p.name for p in tmp_path.iterdir()}
    assert names == {"r.csv", "r.csv.json", "r.secrets.csv", private}
    people_of, secrets_of = joined(tmp_path)
    assert people_of.keys() == secrets_of.keys()
    for group, secrets in secrets_of.items():
        assert len(people_of[group]) == len(secrets) == len(set(secrets)) >= 3
    originals = Counter(zip(*(table[q] for q in QUASI), strict=True))
    released = (tuple(row[q] for q in QUASI) for some in people_of.values() for row in some)
    assert Counter(released) == originals
    own = defaultdict(set)
    for i in range(121):  # a person's secret is among those of the group
        own[tuple(table[q][i] for q in QUASI)].add(table["ill"][i])
    for group, some in people_of.items():
        for row in some:
            assert own[tuple(row[q] for q in QUASI)] & set(secrets_of[group])
    manifest = json.loads((tmp_path / "r.csv.json").read_text(encoding="utf-8"))
    assert manifest["secrets"]["columns"] == ["group", "ill"]
    assert manifest["table"]["columns"] == [*QUASI, "group"]
    assert {v.where for v in result.policy.verdicts} == {"inference.ill"}


@pytest.mark.usefixtures("same_process")
def test_anatomy_with_settings_of_single_columns(tmp_path: Path) -> None:
    """Either table lacks columns of the policy: what is said of them is for the other one."""
    rules = {
        **policy(l_diversity={"min": 2}, alpha_k={"max": 0.5}, t_closeness_ordered={"max": 0.6}),
        "hierarchies": {"age": "interval:10", "ill": {"*": {"a": ["flu", "cold"], "b": ["gout"]}}},
        "orders": {"town": ["01234", "01239", "20095"], "ill": ["cold", "flu", "gout"]},
        "partitions": {"ill": {"cold": ["flu", "cold"]}},
        "parameters": {"alpha_k": {"value": {"ill": "gout"}}},
    }
    result = sievert.protect(people(), policy=rules, how="anatomy", out=tmp_path / "r.csv")
    assert result.released and result.met


@pytest.mark.usefixtures("same_process")
def test_anatomy_hides_nobody(tmp_path: Path) -> None:
    """Limits about finding people are held against the table of quasi-identifiers."""
    out = tmp_path / "r.csv"
    for limits in (
        {"k_anonymity": {"min": 2}, "l_diversity": {"min": 2}},
        {"reidentification": {"unique_records": {"max": 0.1}}, "l_diversity": {"min": 2}},
        {"discrimination_rate": {"max": 0.9}, "l_diversity": {"min": 2}},
        {"inference": {"ill": {"l_diversity": {"min": 2}, "t_closeness": {"max": 0.1}}}},
    ):
        result = sievert.protect(people(), policy=policy(**limits), how="anatomy", out=out)
        assert result.met is False and not list(tmp_path.iterdir()), limits
    nothing = sievert.protect(people(), policy=policy(), how="anatomy", group=2, out=out)
    assert nothing.met is None and not list(tmp_path.iterdir())
    coarse = {**people(), "age": ["30"] * 120, "pay": ["2000"] * 120}
    rules = policy(k_anonymity={"min": 10}, l_diversity={"min": 2})
    assert sievert.protect(coarse, policy=rules, how="anatomy", out=out).released


def test_anatomy_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "r.secrets.csv").write_text("mine\n", encoding="utf-8")
    rules = policy(l_diversity={"min": 2})
    with pytest.raises(RefusedError, match=r"r\.secrets\.csv"):
        sievert.protect(people(), policy=rules, how="anatomy", out=tmp_path / "r.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["r.secrets.csv"]


@pytest.mark.parametrize(
    ("how", "options", "words"),
    [
        ("microaggregate", {"group": 1}, "at least 2"),
        ("microaggregate", {"group": 500}, "fewer records"),
        ("microaggregate", {"grouping": "joy"}, "grouping"),
        ("microaggregate", {"grouping": "v-mdav", "gamma": -1.0}, "gamma"),
        ("microaggregate", {"grouping": "projection"}, "numbers only"),
        ("noise", {"amount": None}, "--amount"),
        ("noise", {"amount": -1.0}, "above 0"),
        ("noise", {"amount": float("nan")}, "above 0"),
        ("noise", {"seed": -1}, "--seed"),
        ("noise", {"quasi": ["town"], "policy": None}, "numbers"),
        ("round", {"base": {}}, "base"),
        ("round", {"base": {"town": 3.0}}, "town"),
        ("round", {"base": {"age": 0.0}}, "not positive"),
        ("pram", {"amount": 1.0}, "below 1"),
        ("anatomy", {"group": 1}, "at least 2"),
        ("anatomy", {"group": 4}, "1/4"),
        ("sample", {"fraction": 0.0}, "above 0"),
    ],
)
def test_mistakes(how: str, options: dict[str, Any], words: str) -> None:
    rules = policy(**ANYTHING)
    if "policy" in options:
        rules = {"roles": {"rows_are_people": True}, "limits": ANYTHING}
        options = {"quasi": options["quasi"], "sensitive": "ill"}
    with pytest.raises((UsageError, InputError)) as error:
        sievert.protect(people(), policy=rules, how=how, **{**OPTIONS[how], **options})
    assert words in f"{error.value} {error.value.hint}"


def test_pram_is_for_categories() -> None:
    table = people(1200) | {"pay": [f"{i}.5" for i in range(1200)]}
    with pytest.raises(UsageError, match="'pay' has more than 1,000 values"):
        sievert.protect(table, policy=policy(**ANYTHING), how="pram", amount=0.1)


def test_numbers_that_cannot_be_squared() -> None:
    table = {**people(3), "pay": ["1" + "0" * 160, "1", "2"]}
    with pytest.raises(InputError, match="too large"):
        sievert.protect(table, policy=policy(**ANYTHING), how="noise", amount=0.1)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.usefixtures("same_process")
def test_types_of_a_release(kind: str, tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame(people())
    frame["age"] = frame["age"].astype("int8")
    frame["pay"] = frame["pay"].astype("float64")
    frame["born"] = pandas.to_datetime("1990-01-01") + pandas.to_timedelta(range(120), unit="D")
    roles = {**ROLES, "quasi": [*QUASI, "born"]}
    apart = {"roles": roles, "limits": {"l_diversity": {"min": 2}}}
    assert sievert.protect(frame, policy=apart, how="anatomy", out=tmp_path / f"a.{kind}").released
    assert (tmp_path / f"a.secrets.{kind}").exists()
    for how in ("microaggregate", "noise", "round"):
        out = tmp_path / f"{how}.{kind}"
        rules = {"roles": roles, "limits": ANYTHING}
        amount = {"amount": 3.0} if how == "noise" else {}  # beyond what int8 can hold
        result = sievert.protect(
            frame, policy=rules, how=how, out=out, **{**OPTIONS[how], **amount}
        )
        assert result.released
        assert sievert.assess(out, policy=rules).met is True
    if kind == "parquet":
        ages = pandas.read_parquet(tmp_path / "noise.parquet")["age"]
        assert str(ages.dtype) == "int64" and ages.max() > 127


@pytest.mark.usefixtures("same_process")
@pytest.mark.parametrize("how", OPTIONS)
def test_the_page_of_every_method(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command, its page, and a canary: no cell stands in the manifest or is printed."""
    source, rules, out = tmp_path / "t.csv", tmp_path / "p.toml", tmp_path / "r.csv"
    table = people()
    table["pay"] = [str(7_311_000_000 + 1013 * i) for i in range(120)]
    table["town"] = [f"qxcbb{'zwvk'[i % 4]}" for i in range(120)]
    table["ill"] = [f"qxcss{'fgh'[i % 3]}" for i in range(120)]
    lines = [",".join(table), *map(",".join, zip(*table.values(), strict=True))]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = '[roles]\nquasi = ["age", "pay", "town"]\nsensitive = ["ill"]\nrows_are_people = true\n'
    text += 'ignored = { name = "not released" }\n[limits]\n'
    given = ["protect", str(source), "--policy", str(rules), "-o", str(out), "--how", how]
    given += ["--seed", "8", "--html", str(tmp_path / "p.html"), "--json", str(tmp_path / "j.json")]
    for name, value in OPTIONS[how].items():
        pairs = [f"{c}={n:g}" for c, n in value.items()] if isinstance(value, dict) else [value]
        for each in pairs:
            given += [f"--{name}", str(each)]
    for limit, code in (("k_anonymity = { min = 1 }", 0), ("k_anonymity = { min = 90 }", 1)):
        rules.write_text(f"{text}{limit}\n", encoding="utf-8")
        assert run(*given, *(["--force"] if code else [])) == code
        said = capsys.readouterr()
        shown = " ".join(said.out.split())
        assert "Use" in shown and "What is lost" in shown
        if how != "anatomy" or code:
            assert ("not written" in shown) is bool(code)
        places = [said.out, said.err, (tmp_path / "j.json").read_text(encoding="utf-8")]
        places += [(tmp_path / "p.html").read_text(encoding="utf-8")]
        if not code:
            places.append((tmp_path / "r.csv.json").read_text(encoding="utf-8"))
        for place in places:
            # Ten digits are a salary only where they stand alone: digests have long runs of them.
            assert not re.search(r"qxc(bb|ss)|(?<![0-9a-f])73[1-9]\d{7}(?![0-9a-f])", place)


@pytest.mark.parametrize("how", ["microaggregate", "anatomy"])
def test_a_kill_before_the_check_leaves_no_release(how: str, tmp_path: Path) -> None:
    """Killed between writing and confirming: no file has the name of an output."""
    script = (
        "import json, sys, time, sievert\n"
        "from sievert.commands.protect import writing\n"
        "def wait(*order, **_):\n"
        "    print('written', flush=True); time.sleep(60)\n"
        "writing.confirm = wait\n"
        "sievert.protect(**json.load(open(sys.argv[1])))\n"
    )
    rules = policy(k_anonymity={"min": 1}, l_diversity={"min": 1})
    order = {"data": people(), "policy": rules, "how": how, "group": 3}
    (tmp_path / "out").mkdir()
    out = tmp_path / "out" / "r.csv"
    order["out"] = str(out)
    (tmp_path / "order.json").write_text(json.dumps(order), encoding="utf-8")
    command = [sys.executable, "-c", script, str(tmp_path / "order.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        parts = sorted(os.listdir(tmp_path / "out"))
        process.send_signal(signal.SIGKILL)
    assert parts and all(name.startswith(".sievert-") for name in parts)
    left = os.listdir(tmp_path / "out")
    assert not any(name.startswith("r.") for name in left)
    sievert.protect(people(), policy=rules, how=how, group=3, out=out)  # sweeps what was left
    names = {"r.csv", "r.csv.json", "r.csv.pairing.parquet"} | (
        {"r.secrets.csv"} if how == "anatomy" else set()
    )
    assert set(os.listdir(tmp_path / "out")) == names
