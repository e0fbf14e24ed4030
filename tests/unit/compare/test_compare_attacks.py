"""`compare` under attack: odd tables, odd names, odd options."""

from __future__ import annotations

import doctest
import itertools
import json
import math
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from helpers.commandline import command_line, environment, run

import sievert
from sievert.charts import risk_utility_map
from sievert.commands.compare import run as comparison
from sievert.errors import SievertError, UsageError
from sievert.losses import distortion, models, numeric_columns
from sievert.losses.loss import PairedColumn
from sievert.pairing import record_pairs
from sievert.report import builder, terminal

Table = dict[str, list[Any]]
HOW: dict[str, Any] = {"shuffles": 3, "threads": 1}


def people(number: int = 60, seed: int = 1) -> Table:
    r = random.Random(seed)
    ages = [r.randrange(20, 60) for _ in range(number)]
    return {
        "id": [f"p{i:03}" for i in range(number)],
        "age": [str(a) for a in ages],
        "zip": [str(r.randrange(4)) for _ in ages],
        "disease": [f"d{(a // 10 + r.randrange(2)) % 4}" for a in ages],
    }


def tens(table: Table) -> Table:
    return {**table, "age": [a[0] + "*" for a in table["age"]]}


def written(path: Path, table: Table, **options: Any) -> Path:
    pandas.DataFrame(table).to_csv(path, index=False, **options)
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    original = people()
    return [written(tmp_path / "o.csv", original), written(tmp_path / "r.csv", tens(original))]


ROLES = ["-q", "age,zip", "-s", "disease", "--shuffles", "3"]


@pytest.mark.parametrize("module", [comparison, risk_utility_map, record_pairs, distortion, models])
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


# -- random odd tables ----------------------------------------------------------------------------

POOLS: dict[str, list[Any]] = {
    "text": ["a", "b", "c", "*", "", "ä", "a b", None, "A"],
    "int": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1, 0, None],
    "float": [1.5, 2.25, float("nan"), -0.0, 0.0, 1e308, -1e308, 3.0, 1e-300],
    "huge": ["9" * 30, "1e99", "-1e99", "1e-99", "12345678901234567890", "0.1", "1", "-1"],
    "near": [str(10**15 + i) for i in range(6)],
    "nearer": ["1.0000000000000002", "1", "1.0000000000000004", "0.9999999999999999"],
    "one": ["x"], "none": [None], "star": ["*"], "zero": ["0"],
    "flag": [True, False, None],
    "interval": ["[0, 5)", "[5, 10)", "<5", ">=60", "60+", "5-9", "3", "inf-inf", "1e99+"],
    "infinite": ["inf", "-inf", "nan", "1", "2"],
    "many": [str(i) for i in range(400)],
    "edge": ["1" + "0" * 149, "1" + "0" * 150, "-1" + "0" * 150, "1" + "0" * 160, "0"],
    "tiny": ["1e-99", "2e-99", "3e-99", "4e-99", "0"],
    "tinier": ["0." + "0" * 170 + "1", "0." + "0" * 170 + "2", "0." + "0" * 320 + "1", "0"],
}  # fmt: skip
NAMES = [
    "value", "columns", "ä", "reason", "unit", "a\tb", "a,b", "*", "ksg", "whole", "c0", "details",
    "original", "released", "{}", "{0}", "None", "x" * 80, "'", '"', "\x1b[2J", "\u202e",
]  # fmt: skip


def drawn(r: random.Random, number: int, kind: str) -> list[Any]:
    pool = POOLS[kind]
    if r.random() < 0.3:
        pool = r.sample(pool, r.randint(1, len(pool)))
    return [r.choice(pool) for _ in range(number)]


def number_or_none(value: Any, change: Any) -> Any:
    try:
        return change(float(value))
    except (TypeError, ValueError, OverflowError):
        return None


def changed(r: random.Random, values: list[Any]) -> list[Any]:
    """What may become of a column."""
    text = any(isinstance(v, str) for v in values)
    ways: list[Any] = [
        lambda: values,
        lambda: values,
        lambda: ["*"] * len(values),
        lambda: [None] * len(values),
        lambda: [("*" if text else None) if r.random() < 0.4 else v for v in values],
        lambda: r.sample(values, len(values)),
        lambda: [None if v is None else str(v)[:1] + "*" for v in values],
        lambda: [number_or_none(v, lambda x: repr(x + r.gauss(0, 1))) for v in values],
        lambda: drawn(r, len(values), r.choice(list(POOLS))),
        lambda: [number_or_none(v, lambda x: f"[{x:g}, {x + 10:g})") for v in values],
    ]
    return list(r.choice(ways)())


def odd(seed: int) -> tuple[Table, dict[str, Table], list[str], list[str], dict[str, Any]]:
    """An original, its releases, roles and options."""
    r = random.Random(seed)
    number = r.choice([1, 1, 2, 2, 3, 5, 10, 40, 101, 310])
    names = r.sample(NAMES, r.randint(1, 5))
    original = {n: drawn(r, number, r.choice(list(POOLS))) for n in names}
    keyed = r.random() < 0.4
    releases: dict[str, Table] = {}
    for i in range(r.choice([1, 1, 2, 3])):
        release = {n: changed(r, v) for n, v in original.items() if r.random() < 0.93}
        release.setdefault(names[0], list(original[names[0]]))
        if keyed:
            release["id"] = [f"k{j}" for j in range(number)]
            rows = r.sample(range(number), r.randint(1, number))
            release = {c: [v[j] for j in rows] for c, v in release.items()}
        releases[f"r{i}"] = release
    if keyed:
        original["id"] = [f"k{j}" for j in range(number)]
    quasi = names[: r.randint(1, len(names))]
    secrets = [n for n in names if n not in quasi or r.random() < 0.1][:3]
    options: dict[str, Any] = {"key": "id"} if keyed else {}
    if r.random() < 0.3:
        options["predict"] = [r.choice(names)]
    if r.random() < 0.2:
        options["bins"] = {r.choice(quasi + secrets): r.choice([0, 2, 3, 10, 1000])}
    if r.random() < 0.2:
        options["hierarchies"] = {r.choice(names): r.choice(["prefix", "interval:5,10"])}
    options["shuffles"] = r.choice([0, 2])
    return original, releases, quasi, secrets, options


@pytest.mark.parametrize("start", range(0, 40, 10))
@pytest.mark.slow
def test_odd_tables_give_numbers_or_reasons(start: int) -> None:
    done = 0
    for seed in range(start, start + 10):
        original, releases, quasi, secrets, options = odd(seed)
        try:
            found = sievert.compare(original, releases, quasi, secrets, **options)
        except SievertError as error:
            assert error.exit_code in (2, 3), seed
            continue
        done += 1
        text = json.dumps(found.to_dict(), allow_nan=False)
        for spec in found.charts().values() if secrets else ():
            json.dumps(spec, allow_nan=False)
        screen = builder.screen(found)
        said = repr(found) + terminal.as_text(terminal.render(screen, everything=True))
        assert "\x1b" not in said and "nan" not in said.replace("0.nan", "")
        if seed % 5 == 0:
            again = sievert.compare(original, releases, quasi, secrets, threads=2, **options)
            assert json.dumps(again.to_dict(), allow_nan=False) == text, seed
        for release in json.loads(text)["releases"]:
            for name, loss in release["losses"].items():
                assert (loss["value"] is None) == bool(loss["reason"]), (seed, name)
    assert done > 2


# -- small and constant tables --------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2, 7])
@pytest.mark.parametrize("released", ["x", "*", "3", None])
@pytest.mark.slow
def test_tables_in_which_nothing_varies(number: int, released: str | None) -> None:
    """A secret and a key of one value: nothing is told, nothing is lost, nothing is divided by."""
    original = {"q": ["3"] * number, "s": ["y"] * number}
    found = sievert.compare(original, {"q": [released] * number, "s": ["y"] * number}, "q", "s")
    assert found.releases[0].disclosed.identity.whole.value == 0
    assert "Loss, s" in repr(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_numbers_out_of_all_proportion() -> None:
    """Squares and fourth powers that no number holds have a reason instead."""
    small = ["1e-99", "2e-99", "3e-99", "5e-99"]
    for before, after in (
        (small, ["1" + "0" * 149, "1", "2", "3"]),
        (["1", "2", "3", "4"], ["1e99", "1", "-1e99", "3"]),
        (["1" + "0" * 153, "-1" + "0" * 153, "1" + "0" * 153, "0"], ["0", "1", "2", "3"]),
        (["0." + "0" * 170 + str(i) for i in range(1, 5)], ["1", "2", "3", "4"]),
    ):
        original = {"q": before * 40, "s": list("abcd") * 40, "id": [f"p{i}" for i in range(160)]}
        found = sievert.compare(original, {**original, "q": after * 40}, "q", "s", **HOW, key="id")
        json.dumps(found.to_dict(), allow_nan=False)


def test_gaussian_secrets_too_close_to_be_squared() -> None:
    """The unit of a column is no matter: bits are the same for numbers near 1 and near 1e-200."""
    r = random.Random(3)
    x = [r.randrange(100) for _ in range(50)]
    y = [a + r.randrange(50) + 1 for a in x]
    found = []
    for secret in ([f"0.{b:04}" for b in y], ["0." + "0" * 200 + f"{b:04}" for b in y]):
        original = {"q": [str(a) for a in x], "s": secret}
        release = {**original, "q": [str(a // 10) for a in x]}
        told = sievert.compare(original, release, "q", "s", **HOW)
        found.append(told.releases[0].losses["gaussian_information"].value)
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_values_too_close_to_be_squared_are_not_unchanged() -> None:
    codes = np.arange(3)
    close = ["0." + "0" * 170 + str(i) for i in (1, 2, 3)]
    found = distortion._distortion(
        PairedColumn(
            name="x", original=codes, released=codes[::-1].copy(), values=close, labels=close
        )
    )
    assert found["value"] is None and "close" in found["reason"]
    assert (
        numeric_columns._numeric(
            PairedColumn(name="x", original=codes, released=codes, values=close, labels=close)
        )
        is None
    )


def test_the_cost_of_a_model_of_far_too_large_a_spread() -> None:
    one = np.array([[1.0]])
    found = models.divergence(np.zeros(1), one, np.zeros(1), one * 1e40)
    assert found["value"] == pytest.approx((math.log(1e40) - 1) / 2 / math.log(2), rel=1e-12)
    assert models.divergence(np.zeros(1), one, np.ones(1), one * 1e-320)["value"] is None
    near = models.divergence(np.zeros(1), one, np.zeros(1), one * (1 + 1e-6))["value"]
    assert near == pytest.approx((1e-12 / 2 - 2e-18 / 3) / 2 / math.log(2), rel=1e-6)


# -- tables of other kinds ------------------------------------------------------------------------


def frames(table: Table) -> dict[str, Any]:
    categories = pandas.DataFrame(table).astype({"disease": "category"})
    enumerated = polars.col("disease").cast(polars.Categorical)
    return {
        "lists": table,
        "pandas": pandas.DataFrame(table),
        "categories": categories,
        "polars": polars.DataFrame(table).with_columns(enumerated),
        "arrow": pyarrow.table(table),
    }


def test_a_dict_of_frames_is_a_dict_of_releases() -> None:
    original = people()
    given = frames(original)
    found = sievert.compare(given["pandas"], given, ["age", "zip"], "disease", **HOW)
    assert [r.name for r in found.releases] == list(given)
    assert {r.losses["hellinger_margins"].value for r in found.releases} == {0.0}
    arrays = {c: pandas.Series(v) for c, v in original.items()}
    assert list(comparison.named_releases(arrays)) == ["release"]
    assert list(comparison.named_releases({1: arrays, "1": arrays})) == ["1", "1 (2)"]
    assert list(comparison.named_releases(["a/x.csv", "b/x.parquet", "x"])) == [
        "x", "x (2)", "x (3)",
    ]  # fmt: skip


def test_the_same_numbers_spelled_in_two_ways(tmp_path: Path) -> None:
    """3 in one file and 3.0 in the other are one number; True and true are two texts."""
    r = random.Random(4)
    table: Table = {
        "age": [r.randrange(20, 40) for _ in range(60)],
        "score": [float(r.randrange(5)) for _ in range(60)],
        "flag": [r.random() < 0.5 for _ in range(60)],
        "d": [r.choice("abc") for _ in range(60)],
    }
    csv = written(tmp_path / "o.csv", table)
    other = {
        **table,
        "age": [float(a) for a in table["age"]],
        "score": list(map(int, table["score"])),
    }
    pyarrow.parquet.write_table(pyarrow.table(other), tmp_path / "r.parquet")
    found = sievert.compare(csv, tmp_path / "r.parquet", ["age", "score", "flag"], "d", **HOW)
    apart = found.releases[0].losses["hellinger_margins"].columns
    assert (apart["age"], apart["score"], apart["flag"]) == (0, 0, 1)
    assert any("'flag' is spelled in another way" in w for w in found.warnings)
    about_values = [w for w in found.warnings if "paired by order" not in w]
    assert not any("'age'" in w for w in about_values)
    assert len(about_values) == len(found.warnings) - 1


@pytest.mark.parametrize(
    ("values", "labels", "expected"),
    [
        (["3", "4"], ["3.0", "4e0"], ["3", "4"]),
        (["3", "3.0"], ["3.00", "4"], ["3.00", "4"]),  # which of the two?
        (["3"], ["3.0", "3.00"], ["3.0", "3.00"]),  # two texts stay two
        (["9007199254740993"], ["9007199254740992"], ["9007199254740992"]),
        (["a", "3"], ["3.0"], ["3.0"]),
        (["3", None, "*"], [None, "*", "3."], [None, "*", "3"]),
    ],
)
def test_spelling_of_numbers(values: list[Any], labels: list[Any], expected: list[Any]) -> None:
    assert list(record_pairs.same_numbers(values, labels)) == expected


def test_noise_is_no_other_spelling() -> None:
    original = {"x": [str(i) for i in range(40)], "s": ["a", "b"] * 20}
    noisy = {**original, "x": [f"{i}.5" for i in range(40)]}
    found = sievert.compare(original, noisy, "x", "s", **HOW)
    assert not any("spelled" in w for w in found.warnings)


# -- who is who -----------------------------------------------------------------------------------


def test_a_release_without_the_key_is_not_paired_by_its_order(files: list[Path]) -> None:
    """The original is in the order of its keys then: records would go to other people."""
    original = people()
    keyless = {c: v for c, v in tens(original).items() if c != "id"}
    with pytest.raises(UsageError, match="lacks the key 'id'"):
        sievert.compare(original, keyless, ["age", "zip"], "disease", key="id")


def test_engines_that_know_no_order() -> None:
    engine = SimpleNamespace(name="spark", keeps_order=False, check_usable=lambda _: None)
    questions = cast(
        Any,
        SimpleNamespace(engine=engine, columns=["a"], records=1, check_usable=engine.check_usable),
    )
    with pytest.raises(UsageError, match="spark knows no order") as error:
        record_pairs.people(questions, ["a"], None, "t")
    assert "--key" in str(error.value)
    with pytest.raises(UsageError, match="lacks the key"):
        record_pairs.people(questions, ["a"], "id", "t")


def test_a_hierarchy_that_does_not_fit_is_told() -> None:
    original = people()
    ages = sorted(set(original["age"]))
    wrong = sievert.Hierarchy({a: ("x" if int(a) % 2 else "y",) for a in ages})
    found = sievert.compare(
        original, tens(original), ["age", "zip"], "disease", hierarchies={"age": wrong}, **HOW
    )
    assert any("60 released values of 'age' without a place" in w for w in found.warnings)
    strayed = {**original, "age": ["x"] * 60}
    found = sievert.compare(
        original, strayed, ["age", "zip"], "disease", hierarchies={"age": wrong}, **HOW
    )
    assert any("but not above the original value" in w for w in found.warnings)
    fits = sievert.Hierarchy({a: (a[0] + "*",) for a in ages})
    found = sievert.compare(
        original, tens(original), ["age", "zip"], "disease", hierarchies={"age": fits}, **HOW
    )
    assert not any("hierarchy" in w for w in found.warnings)


def test_a_column_to_predict_that_was_not_released() -> None:
    original = people()
    release = {c: v for c, v in tens(original).items() if c != "zip"}
    found = sievert.compare(original, release, "age", "disease", predict="zip", **HOW)
    assert found.releases[0].losses["prediction"].value is None
    assert any("'zip' was not released" in w for w in found.warnings)


# -- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"seed": -1}, {"seed": None}, {"shuffles": -1}, {"shuffles": 1.5}, {"shuffles": 10**9},
        {"bins": {"age": "3"}}, {"bins": {"age": True}}, {"bins": {"age": 10**30}}, {"bins": 5},
        {"bins": {"age": -1}}, {"key": 3}, {"key": ""}, {"predict": "nix"}, {"missing": "drop"},
        {"missing": "wildcard"}, {"hierarchies": {"nix": "prefix"}},
    ],
    ids=str,
)  # fmt: skip
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        sievert.compare(people(), tens(people()), ["age", "zip"], "disease", **options)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--seed", "-1"], 2, "--seed"),
        (["--bins", "age=99999999999999999999999"], 2, "bins must be from 0 to 10,000"),
        (["--missing", "wildcard"], 2, "--missing value"),
        (["--timeout", "0.001"], 5, "--timeout"),
        (["--memory", "1MB"], 5, "--memory"),
        (["--engine", "nosuch"], 2, "duckdb"),
        (["--type", "age=int"], 3, "not int"),
        (["--delimiter", ";"], 3, "--delimiter ','"),
    ],
)
def test_errors(
    options: list[str], code: int, words: str, files: list[Path], capfd: Any, tmp_path: Path
) -> None:
    before = sorted(tmp_path.iterdir())
    made = ["--json", tmp_path / "out.json", "--temp", tmp_path]
    assert run("compare", *files, *ROLES, *options, *made) == code
    out, err = capfd.readouterr()
    assert words in err and err.startswith("error: ") and not out and "defect" not in err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("content", ["", "id,age,zip,disease\n", "a,a\n1,2\n", "\xe9"])
def test_releases_that_are_none(
    content: str, files: list[Path], capfd: Any, tmp_path: Path
) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content.encode("latin-1"))
    for tables in ([files[0], files[1], path], [path, files[1]]):
        assert run("compare", *tables, *ROLES) == 3
        out, err = capfd.readouterr()
        assert "bad.csv" in err and not out


def test_no_map_without_a_secret(files: list[Path], capfd: Any) -> None:
    folder = files[0].with_name("charts")
    assert run("compare", *files, "-q", "age", "--shuffles", 3, "--charts", folder) == 2
    assert "-s COLUMNS" in capfd.readouterr().err
    assert not folder.exists()


@pytest.mark.slow
def test_interrupted_in_the_middle(tmp_path: Path) -> None:
    """Exit 130, no output, nothing left behind."""
    table = {**people(3000), "age": [str(i) for i in range(3000)]}
    file = written(tmp_path / "o.csv", table)
    temp = tmp_path / "temp"
    temp.mkdir()
    line = command_line(
        "compare", file, file, "-q", "age,zip", "-s", "disease", "--shuffles", "100000",
        "--bins", "age=0", "--json", tmp_path / "x.json", "--temp", temp,
    )  # fmt: skip
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(line, env=environment(), **pipes) as process:
        for _ in range(6000):
            if any(temp.iterdir()) or process.poll() is not None:
                break
            time.sleep(0.01)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b""), err
    assert os.listdir(temp) == [] and not (tmp_path / "x.json").exists()


# -- the text -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_lines_are_no_wider_than_a_terminal() -> None:
    """For one release and for many, long names and short ones, three secrets."""
    r = random.Random(9)
    original: Table = {
        **people(),
        "native-country": [r.choice("abcdef") for _ in range(60)],
        "marital-status": [r.choice("abc") for _ in range(60)],
        "workclass": [f"{r.gauss(0, 1):.3f}" for _ in range(60)],
    }
    given = (["age", "zip", "workclass"], ["disease", "native-country", "marital-status"])
    for number, name in (
        (1, "r"),
        (1, "a very long name " * 9),
        (3, "a long name " * 9),
        (12, "r"),
    ):
        releases = {f"{name}{i}": tens(original) for i in range(number)}
        found = sievert.compare(original, releases, *given, shuffles=0)
        assert [line for line in repr(found).splitlines() if len(line) > 100] == []


def test_rounding_is_not_shown_as_a_number() -> None:
    """Where every record has a secret of its own, chance is all there is: to the last digit."""
    original = people()
    found = sievert.compare(original, tens(original), ["age", "zip"], "id", **HOW)
    assert abs(found.releases[0].disclosed.attribute["id"].whole.corrected) < 1e-12
    assert "e-1" not in repr(found)


def test_thirty_labels_stay_beside_the_map() -> None:
    dots = [
        risk_utility_map.Dot(
            name=f"r{i}", across=0.1 * i, up=3.0 + 0.001 * i, interval=(0.0, 0.2), hollow=i % 2 == 0
        )
        for i in range(30)
    ]
    spec = risk_utility_map.risk_utility_chart("Map", ["bits"], dots, across="loss", up="risk")
    labels = sorted(row["label"] for row in spec["data"]["values"])
    high = spec["layer"][0]["encoding"]["y"]["scale"]["domain"][1]
    assert labels[0] >= 0 and labels[-1] <= high
    step = risk_utility_map.LINE / spec["height"] * high
    assert min(b - a for a, b in itertools.pairwise(labels)) > 0.99 * step


def test_quantiles_stay_out_of_the_json() -> None:
    """A quantile, or the mean of one value, is the number of a person."""
    r = random.Random(2)
    original = {"original": [str(10**9 + r.randrange(10**6)) for _ in range(200)], "s": ["a"] * 200}
    found = sievert.compare(original, original, "original", "s", bins={"original": 0}, **HOW)
    loss = found.to_dict()["releases"][0]["losses"]["probabilistic_information_loss"]
    assert set(loss["mean"]["columns"]["original"]) == {"value", "relative"}
    assert set(loss["quantiles"]["columns"]["original"]["at"]["0.5"]) == {"value", "relative"}
    text = json.dumps(found.to_dict())
    assert not any(value in text for value in original["original"])
