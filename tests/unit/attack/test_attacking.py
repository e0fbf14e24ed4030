"""Attacks from the outside: `attack`, `assess --attacks`, and what neither may tell."""

from __future__ import annotations

import doctest
import io
import json
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pytest
from helpers.commandline import run

import sievert
from sievert.commands.attack import run as attacking
from sievert.errors import ExhaustedError, InputError, UsageError

QUASI = ["age", "zip"]
ROOT = "*"


def people(number: int, seed: int = 1) -> dict[str, list[Any]]:
    """Original records: every value a token that no output may hold."""
    random = Random(seed)
    return {
        "key": [f"qxk{i:04}" for i in range(number)],
        "age": [f"qxa{random.randrange(8)}{random.randrange(4)}" for _ in range(number)],
        "zip": [f"qxz{random.randrange(6)}" for _ in range(number)],
        "disease": [f"qxd{min(random.randrange(6), random.randrange(6))}" for _ in range(number)],
    }


def coarse(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The same with one digit of the age less, and some zips hidden."""
    hidden = [i % 7 == 0 for i in range(len(table["age"]))]
    return {
        **table,
        "age": [a[:-1] + ROOT for a in table["age"]],
        "zip": [ROOT if h else z for z, h in zip(table["zip"], hidden, strict=True)],
    }


AGES = {a: [a[:-1] + ROOT, ROOT] for a in people(400)["age"]}


def some(table: dict[str, list[Any]], rows: list[int], *columns: str) -> dict[str, list[Any]]:
    return {c: [table[c][i] for i in rows] for c in columns or table}


def written(path: Path, table: dict[str, list[Any]]) -> Path:
    pandas.DataFrame(table).to_csv(path, index=False)
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    original = people(60)
    ladder = tmp_path / "ages.csv"
    ladder.write_text("".join(f"{a};{';'.join(labels)}\n" for a, labels in AGES.items()))
    kinds = "".join(f"qxd{i};qxl{i % 2};*\n" for i in range(6))
    (tmp_path / "kinds.csv").write_text(kinds)
    policy = tmp_path / "house.toml"
    policy.write_text('[partitions.disease]\nqxp1 = ["qxd0", "qxd1"]\nqxp2 = ["qxd2"]\n')
    register = some(people(80), list(range(30, 80)), "key", "age", "zip")
    return {
        "release": written(tmp_path / "release.csv", coarse(original)),
        "register": written(tmp_path / "register.csv", register),
        "original": written(tmp_path / "original.csv", original),
        "shuffled": written(tmp_path / "shuffled.csv", some(original, list(range(59, -1, -1)))),
        "ladder": ladder,
        "kinds": tmp_path / "kinds.csv",
        "policy": policy,
    }


def everything(files: dict[str, Path], command: str = "attack") -> list[object]:
    """A run with all that can be given."""
    arguments: list[object] = [
        command, files["release"], "-q", "age,zip", "-s", "disease", "--policy", files["policy"],
        "--hierarchy", f"disease={files['kinds']}", "--value", "disease=qxd4",
    ]  # fmt: skip
    if command == "assess":
        return [*arguments, "--attacks"]
    return [
        *arguments, "--register", files["register"], "--original", files["shuffled"],
        "--key", "key", "--hierarchy", f"age={files['ladder']}",
    ]  # fmt: skip


# -- what is told ---------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["assess", "attack"])
@pytest.mark.parametrize("options", [[], ["--all"], ["--json", "-"]])
@pytest.mark.slow
def test_no_value_is_told(
    command: str, options: list[str], files: dict[str, Path], capsys: pytest.CaptureFixture
) -> None:
    code = 1 if command == "assess" else 0  # a policy without limits decides nothing
    assert run(*everything(files, command), *options) == code
    out, err = capsys.readouterr()
    assert err == "" and "qx" not in out
    assert ("Bits still missing in the worst class" in out) is (options == ["--all"])
    if not options:
        for words in ("black box", "Homogeneity", "Background", "Skewness", "Semantic"):
            assert words in out
        assert max(len(line) for line in out.splitlines()) <= 100
    assert run(*everything(files, command), *options, "--show-values") == code
    shown = capsys.readouterr().out
    assert "qxz" in shown or "qxa" in shown
    assert "qxk" not in shown  # a key is nobody's business


@pytest.mark.parametrize("command", ["assess", "attack"])
@pytest.mark.slow
def test_json(command: str, files: dict[str, Path], capsys: pytest.CaptureFixture) -> None:
    arguments = [*everything(files, command), "--json", "-"]
    assert run(*arguments) == (1 if command == "assess" else 0)
    text = capsys.readouterr().out
    found = json.loads(text)
    assert list(found) == sorted(found)
    assert found["table"]["rows"] == 60 and found["roles"]["quasi"] == QUASI
    attacks = found["attacks"]
    known = {"identity", "homogeneity", "background", "skewness", "semantic"}
    assert set(attacks) == known | ({"reasoning"} if command == "attack" else set())
    boxes = {"black_box"} if command == "assess" else {
        "black_box", "grey_box", "white_box", "linkage",
    }  # fmt: skip
    assert set(attacks["identity"]) == boxes
    for each in attacks.values():
        for attack in each.values():
            assert attack["reading"].endswith(".")
    plain = attacks["homogeneity"]["disease"]
    assert set(plain["discrimination_rate"]) == {"value", "unit", "riskier", "reason"}
    assert plain["people"]["unit"] == "people" and plain["worst_class"]["records"] >= 1
    assert set(attacks["semantic"]["disease"]) == {"reading", "partition", "level_1"}
    assert attacks["skewness"]["disease"]["named_value"] is True
    assert "NaN" not in text and "Infinity" not in text
    for threads in (1, 2, 3):
        assert run(*arguments, "--threads", threads) == (1 if command == "assess" else 0)
        assert capsys.readouterr().out == text


def test_attacks_are_asked_for(files: dict[str, Path], capsys: pytest.CaptureFixture) -> None:
    assert run("assess", files["release"], "-q", "age,zip", "--json", "-") == 0
    assert "attacks" not in json.loads(capsys.readouterr().out)


def test_nothing_to_pass_on(files: dict[str, Path], capsys: pytest.CaptureFixture) -> None:
    for command in ("assess", "attack"):
        assert run(*everything(files, command), "--share") == 7
        out, err = capsys.readouterr()
        assert out == "" and "not shareable" in err and "qx" not in err
    found = sievert.assess(coarse(people(60)), QUASI, "disease", attacks=True)
    assert "attacks" not in found.share().to_dict()


def test_results_in_python() -> None:
    original = people(60)
    found = sievert.attack(coarse(original), quasi=QUASI, sensitive="disease", original=original)
    assert isinstance(found, sievert.Attacks)
    assert found.rows == 60 and "black box" in repr(found) and "<svg" in found._repr_html_()
    assert "qx" not in repr(found) + str(found.to_dict()) + str(vars(found))
    frame = found.to_frame()
    known = {"identity", "homogeneity", "background", "skewness", "reasoning"}
    assert known == set(frame["attack"])
    again = sievert.assess(coarse(original), QUASI, "disease", attacks=True)
    assert "Homogeneity" in repr(again) and "qx" not in repr(again) + str(vars(again))
    assert again.attacks is not None
    assert again.attacks["skewness"]["disease"] == found["skewness"]["disease"]


# -- the same person in two tables -----------------------------------------------------------------


def white(found: Any) -> Any:
    return found["identity"]["white_box"]


def numbers(attack: Any) -> dict[str, Any]:
    return {n: v.value for n, v in attack.numbers.items()}


def test_a_key_or_the_order() -> None:
    original = people(200)
    release = coarse(original)
    by_order = sievert.attack(release, quasi=QUASI, original=original)
    assert "paired by order (checked)" in by_order.warnings
    mixed = some(original, Random(3).sample(range(200), 200))
    by_key = sievert.attack(release, quasi=QUASI, original=mixed, key="key")
    assert len(by_key.warnings) == 1 and "the mark of suppression in some" in by_key.warnings[0]
    assert white(by_key).to_dict() | {"original": 0} == white(by_order).to_dict() | {"original": 0}
    linked = [numbers(f["identity"]["linkage"]) for f in (by_key, by_order)]
    assert linked[0] == linked[1]


def test_records_without_a_counterpart() -> None:
    original = people(200)
    release = coarse(some(original, list(range(150))))
    release["key"][:10] = [None] * 10
    found = sievert.attack(
        release, quasi=QUASI, original=some(original, list(range(50, 200))), key="key"
    )
    assert white(found).details["paired"] == 100
    assert white(found).details["released_only"] == 40
    assert "10 records of the release without a key" in found.warnings
    alone = sievert.attack(
        some(coarse(original), list(range(50, 150))),
        quasi=QUASI,
        original=some(original, list(range(50, 150))),
    )
    assert numbers(white(found)) == numbers(white(alone))


def test_a_release_without_a_key_has_that_of_its_original() -> None:
    original = people(300)
    release = coarse(original)
    register = some(people(400), list(range(150, 400)), "key", "age", "zip")
    told = sievert.attack(
        release, quasi=QUASI, register=register, key="key", hierarchies={"age": AGES}
    )
    del release["key"]
    through = sievert.attack(
        release,
        quasi=QUASI,
        register=register,
        original=original,
        key="key",
        hierarchies={"age": AGES},
    )
    grey, same = (f["identity"]["grey_box"] for f in (told, through))
    assert numbers(grey) == numbers(same)
    assert numbers(grey)["known"] == 150
    without = sievert.attack(
        release, quasi=QUASI, register=register, original=original, hierarchies={"age": AGES}
    )
    assert "known" not in without["identity"]["grey_box"].numbers


def test_hierarchies_find_what_was_generalised() -> None:
    original = people(300)
    release, register = coarse(original), some(original, list(range(100)), "age", "zip")
    found = sievert.attack(release, quasi=QUASI, register=register, hierarchies={"age": AGES})
    assert numbers(found["identity"]["grey_box"])["unmatched"] == 0
    assert numbers(found["identity"]["grey_box"])["rows"] == 100
    without = sievert.attack(release, quasi=QUASI, register=register)
    assert numbers(without["identity"]["grey_box"])["unmatched"] == 100
    assert any("no row of the register has a candidate" in w for w in without.warnings)
    assert any("fit no row of the register" in w and "'age'" in w for w in without.warnings)


def test_a_register_that_lacks_a_column() -> None:
    original = people(100)
    found = sievert.attack(
        coarse(original), quasi=QUASI, register={"age": original["age"]}, hierarchies={"age": AGES}
    )
    grey = found["identity"]["grey_box"]
    assert grey.details["columns_shared"] == ["age"]
    assert "the register lacks 1 quasi-identifier" in found.warnings
    alone = sievert.assess(coarse(original), "age", attacks=True).attacks
    assert alone is not None
    rate = numbers(alone["identity"]["black_box"])["discrimination_rate"]
    assert numbers(grey)["discrimination_rate"] == rate


def test_missing_values() -> None:
    release = {"age": ["1", "1", None, "2"], "zip": ["a", None, "a", "b"]}
    register = {"age": ["1", None, "2"], "zip": ["a", "b", None]}

    def each(**options: Any) -> Any:
        return sievert.attack(release, quasi=QUASI, register=register, **options)

    plain = each()
    assert numbers(plain["identity"]["grey_box"])["single"] == 1
    assert numbers(plain["identity"]["grey_box"])["unmatched"] == 2
    wild = each(missing="wildcard")
    assert list(wild["identity"]) == ["grey_box"]
    assert any("no classes to attack" in w for w in wild.warnings)
    found = numbers(wild["identity"]["grey_box"])
    assert (found["unmatched"], found["single"], found["candidates"]) == (0, 0, 2)
    dropped = each(missing="drop")
    assert dropped.table["dropped"] == 2 and dropped.rows == 2
    assert "2 rows of the register dropped: they lack a column" in dropped.warnings
    with pytest.raises(InputError, match="is missing"):
        each(missing="error")
    with pytest.raises(UsageError, match="wildcards make none"):
        sievert.assess(release, QUASI, attacks=True, missing="wildcard")
    with pytest.raises(UsageError, match="records were dropped"):
        sievert.attack(release, quasi=QUASI, original=release, missing="drop")


def test_packed_keys_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    original = pandas.DataFrame(people(500))
    release = pandas.DataFrame(coarse(people(500)))
    register = pandas.DataFrame(some(people(700), list(range(200, 700)), "key", "age", "zip"))

    def both() -> Any:
        return sievert.attack(
            release, original, QUASI, "disease", register=register, key="key",
            hierarchies={"age": AGES},
        ).to_dict()  # fmt: skip

    plain = both()
    monkeypatch.setattr(attacking, "LARGE", 1)
    assert both() == plain


# -- mistakes -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_mistakes_on_the_command_line(
    files: dict[str, Path], capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    release, register, original = (files[n] for n in ("release", "register", "original"))
    other = tmp_path / "other.csv"
    other.write_text("town,key\nqxt,1\nqxu,1\n")
    twice = written(tmp_path / "twice.csv", {"key": ["qxk1", "qxk1"], "age": ["qxa11", "qxa12"]})
    short = tmp_path / "short.csv"
    short.write_text("\n".join(original.read_text().splitlines()[:20]) + "\n")
    asked = ["attack", release, "-q", "age,zip"]
    for code, words, arguments in (
        (2, "which columns could an outsider know", ["attack", release]),
        (2, "a key links tables", [*asked, "--key", "key"]),
        (2, "has none of the quasi-identifiers", [*asked, "--register", other]),
        (2, "has none of the quasi-identifiers", [*asked, "--original", other, "--key", "key"]),
        (2, "--key: column 'kee' does not exist", [*asked, "--register", register, "--key", "kee"]),
        (2, "is no role of a release", ["attack", release, "-q", "age,key", "--register", register,
                                       "--key", "key"]),
        (3, "is not unique: 2 records", [*asked, "--register", twice, "--key", "key"]),
        (2, "has 19 records and the release 60", [*asked, "--original", short]),
        (2, "hierarchy: column 'agee'", [*asked, "--hierarchy", "agee=prefix"]),
        (2, "is not a secret here", [*asked, "--value", "zip=qxz1"]),
        (2, "--value takes COLUMN=SOMETHING", [*asked, "--value", "zip"]),
        (2, "--alpha-value goes with assess", [*asked, "--alpha-value", "zip=qxz1"]),
        (3, "No such file", [*asked, "--register", tmp_path / "none.csv"]),
        (7, "a password in a command", [*asked, "--register", "postgresql://a:b@c/d?table=e"]),
        (7, "the output is the input", [*asked, "--original", original, "--json", original,
                                        "--force"]),
        (2, "standard input holds one table", ["attack", "-", "-q", "age", "--register", "-"]),
        (2, "belong to attacks", ["assess", release, "-q", "age", "-s", "zip", "--value",
                                  "zip=qxz1"]),
        (2, "is not a secret here", ["assess", release, "-q", "age", "--attacks", "--value",
                                     "zip=qxz1"]),
    ):  # fmt: skip
        assert run(*arguments) == code, arguments
        out, err = capsys.readouterr()
        assert out == "" and words in err, (err, arguments)
        assert "qx" not in err.replace("qxz1", ""), err  # what was typed may be said again
    assert original.read_text().startswith("key,")


def test_a_value_that_does_not_occur(files: dict[str, Path], capsys: pytest.CaptureFixture) -> None:
    for command in ("assess", "attack"):
        arguments = [
            a if a != "disease=qxd4" else "disease=qxno" for a in everything(files, command)
        ]
        arguments += ["--all"] if command == "assess" else []  # a screen only counts remarks
        assert run(*arguments) == (command == "assess")  # its policy has no limits: undecided
        out = capsys.readouterr().out
        assert "the named value does not occur in 'disease'" in out and "qx" not in out


def test_standard_input(
    files: dict[str, Path], capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = io.TextIOWrapper(io.BytesIO(files["register"].read_bytes()))
    monkeypatch.setattr(sys, "stdin", given)
    asked = ["attack", files["release"], "-q", "age,zip", "--register", "-"]
    assert run(*asked, "--hierarchy", f"age={files['ladder']}") == 0
    assert "grey box" in capsys.readouterr().out


def test_outputs(files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    out, timings = tmp_path / "out.json", tmp_path / "timings.json"
    for _ in range(2):  # a file of our own is replaced
        assert run(*everything(files), "--json", out, "--timings", timings) == 0
    assert "attacks" in json.loads(out.read_text())
    assert "looking for candidates" in json.loads(timings.read_text())["seconds"]
    assert "qx" not in capsys.readouterr().out + out.read_text() + timings.read_text()


@pytest.mark.slow
def test_time_is_one_for_all_tables() -> None:
    original = people(50)
    with pytest.raises(ExhaustedError, match=r"not done within 0.001 seconds"):
        sievert.attack(coarse(original), quasi=QUASI, original=original, timeout=0.001)

    def slowly(step: str, _: Any) -> None:
        time.sleep(0.7 if step in ("attacking", "comparing with the original") else 0)

    with pytest.raises(ExhaustedError, match=r"not done within 1.2 seconds"):
        sievert.attack(coarse(original), quasi=QUASI, original=original, timeout=1.2, watch=slowly)


def test_an_engine_without_an_order(monkeypatch: pytest.MonkeyPatch) -> None:
    from sievert.counts.duckdb.adapter import DuckDB

    monkeypatch.setattr(DuckDB, "name", "spark")
    monkeypatch.setattr(DuckDB, "keeps_order", False)
    original = people(50)
    with pytest.raises(UsageError, match="spark knows no order of records"):
        sievert.attack(coarse(original), quasi=QUASI, original=original)


def test_the_page() -> None:
    page = Path(sievert.__file__).parents[2] / "docs" / "attacks.md"
    failed, ran = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0 and ran > 5


def test_a_policy_says_how_the_release_is_read() -> None:
    """A code for missing values that the policy names is missing for attacks, too."""
    columns = {"age": ["1", "1", "2", "2", "NA", "NA"], "ill": ["x", "y", "x", "y", "x", "y"]}
    roles = {"quasi": ["age"], "sensitive": ["ill"], "rows_are_people": True}
    policy = {"roles": roles, "reading": {"na": ["NA"]}}
    attacked = sievert.attack(columns, policy=policy, missing="drop")
    assessed = sievert.assess(columns, policy=policy, missing="drop")
    assert attacked.rows == assessed.rows == 4
    assert sievert.attack(columns, quasi="age", sensitive="ill", missing="drop").rows == 6
