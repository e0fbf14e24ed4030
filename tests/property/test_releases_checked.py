"""Releases of every method, checked by definitions written anew: none breaks its policy.

`make soak` checks 500 and more. A release that is not written leaves no file behind.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from helpers.commandline import command_line
from helpers.effort import tried
from helpers.releasecases import METHODS, Case, random_case
from helpers.releasechecker import Judged, Value, Written, judge, order_scores, problems, read_csv

import sievert

# How many written releases of each kind are checked: 60 in every run, over 500 in `make soak`.
CHECKED = {
    "full": tried(8, 70),
    "people": tried(6, 50),
    "regions": tried(10, 80),
    "local": tried(6, 50),
    "sets": tried(3, 25),
    "suppress": tried(6, 50),
    "microaggregate": tried(6, 45),
    "noise": tried(5, 45),
    "round": tried(5, 45),
    "pram": tried(5, 45),
    "sample": tried(5, 45),
    "anatomy": tried(5, 45),
}
# Of the cases of a kind, so many are tried at most for one that is written.
MOST_TRIES = 8


def protect(case: Case, folder: Path, out: str = "release.csv") -> tuple[Any, Path]:
    """Write the table, protect it, and return the result and where the release would be."""
    table = folder / "table.csv"
    case.write(table)
    release = folder / out
    result = sievert.protect(table, policy=case.policy, out=release, **case.options)
    return result, release


def read_release(path: Path) -> tuple[list[str], list[dict[str, Value]]]:
    if path.suffix == ".csv":
        return read_csv(path)
    table = pyarrow.parquet.read_table(path)
    rows = [
        {name: None if value is None else str(value) for name, value in row.items()}
        for row in table.to_pylist()
    ]
    return table.column_names, rows


def origins_of(release: Path) -> list[int]:
    """Read from the private pairing file which original row every released row was made from."""
    if json.loads(release.with_name(f"{release.name}.json").read_text())["order"] == "kept":
        return list(range(len(read_release(release)[1])))
    pairing = release.with_name(f"{release.name}.pairing.parquet")
    assert pairing.stat().st_mode & 0o777 == 0o600
    numbers = pyarrow.parquet.read_table(pairing).column("record").to_pylist()
    return [number - 1 for number in numbers]


def written_release(case: Case, release: Path) -> Written:
    columns, rows = read_release(release)
    secret_columns: list[str] = []
    secret_rows: list[dict[str, Value]] = []
    if case.how == "anatomy":
        secret_columns, secret_rows = read_release(release.with_suffix(f".secrets{release.suffix}"))
    return Written(
        how=case.how,
        policy=case.policy,
        columns=columns,
        rows=rows,
        original=case.rows,
        origins=origins_of(release),
        numbers=frozenset(case.options.get("types", {})),
        secret_columns=secret_columns,
        secret_rows=secret_rows,
        settings=case.options,
    )


def other_numbers(result: Any, judged: Sequence[Judged]) -> list[str]:
    """List the limits for which the answer has a number that the checker did not find."""
    found = []
    for verdict in result.to_dict()["policy"]["limits"]:
        same = [
            each.number
            for each in judged
            if (each.measure, each.where) == (verdict["measure"], verdict["where"])
            and each.suppressed == (verdict.get("scope") == "suppressed")
        ]
        if verdict["measure"] == "suppressed_records" and result.budget:
            continue
        if not any(is_close(number, verdict["value"]) for number in same):
            shown = [number if number is None else float(number) for number in same]
            found.append(f"{verdict['measure']} is {verdict['value']}, and not {shown}")
    return found


def is_close(number: Any, value: float | None) -> bool:
    if number is None or value is None:
        return number is value
    return math.isclose(float(number), value, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_no_release_breaks_its_policy(name: str, tmp_path: Path) -> None:
    checked = 0
    places: list[float] = []
    for seed in range(CHECKED[name] * MOST_TRIES):
        case = random_case(name, seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        out = "release.parquet" if seed % 10 == 9 else "release.csv"
        result, release = protect(case, folder, out)
        if not result.released:
            assert result.met is not True or result.unmet is not None, (name, seed)
            assert [path.name for path in folder.iterdir()] == ["table.csv"], (name, seed)
            continue
        assert result.met is True, (name, seed)
        written = written_release(case, release)
        found = problems(written) + other_numbers(result, judge(written))
        assert not found, (name, seed, found, case.policy, case.options)
        scores = order_scores(written)
        places += [score for of, score in scores.items() if of.startswith("original row")]
        checked += 1
        if checked == CHECKED[name]:
            break
    assert checked == CHECKED[name]
    # A weak order in every release shows in the mean of all of them.
    assert abs(math.fsum(places)) < 5 * math.sqrt(max(1, len(places)))


def first_written(name: str, folder: Path, start: int = 0, **more: Any) -> tuple[Case, Path, Any]:
    """Find the first case of a kind, from a seed on, whose release is written."""
    for seed in range(start, start + 40):
        case = random_case(name, seed)
        case.options.update(more)
        result, release = protect(case, folder)
        if result.released:
            return case, release, result
    raise AssertionError(f"none of 40 releases of {name} was written")


@pytest.mark.parametrize("name", METHODS)
def test_the_order_of_the_input_leaves_no_trace(name: str, tmp_path: Path) -> None:
    case, release, _ = first_written(name, tmp_path)
    again = tmp_path / "again"
    again.mkdir()
    result, other = protect(case.shuffled(random.Random(7)), again)
    # What is drawn, and how near records are grouped, may depend on the order of the records.
    if name in ("full", "people"):
        assert result.released
    if result.released and Counter(read_lines(release)) == Counter(read_lines(other)):
        assert release.read_bytes() == other.read_bytes()
    else:
        assert name not in ("full", "people")


def read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    "name", ["full", "regions", "local", "suppress", "noise", "round", "pram", "sample"]
)
def test_the_order_follows_from_the_released_rows_alone(name: str, tmp_path: Path) -> None:
    """A release that is protected once more, at level 0 and with its seed, has the same bytes."""
    more = {"suppress": 0.0} if name in ("full", "regions", "local", "suppress") else {}
    case, release, _ = first_written(name, tmp_path, **more)
    quasi = case.policy["roles"]["quasi"]
    roles = {**case.policy["roles"], "identifier": [], "ignored": {}}
    once_more = sievert.protect(
        release,
        policy={"roles": roles, "limits": {"k_anonymity": {"min": 1}}},
        out=tmp_path / "again.csv",
        levels=dict.fromkeys(quasi, 0),
        hierarchies=dict.fromkeys(quasi, "*"),
        seed=case.options["seed"],
        suppress=0.99,
        suppressed_rows="keep",
    )
    assert once_more.released
    assert (tmp_path / "again.csv").read_bytes() == release.read_bytes()


@pytest.mark.parametrize("name", ["full", "noise", "round"])
def test_an_order_that_is_kept_is_found(name: str, tmp_path: Path) -> None:
    case, release, _ = first_written(name, tmp_path, keep_order=True)
    found = problems(written_release(case, release))
    assert any("the order of the rows tells original row" in problem for problem in found)


def test_a_secret_that_is_spelt_in_two_ways_is_not_released(tmp_path: Path) -> None:
    case, release, _ = first_written("full", tmp_path)
    secret = case.policy["roles"]["sensitive"][0]
    case.options.pop("types", None)
    value = next(value for value in case.columns[secret] if value)
    place = case.columns[secret].index(value)
    case.columns[secret][place] = f"{value}\u200b"
    for name in ("orders", "partitions", "hierarchies"):
        case.policy.pop(name, None)
    case.policy["limits"]["inference"] = {secret: {"l_diversity": {"min": 2}}}
    folder = tmp_path / "again"
    folder.mkdir()
    result, release = protect(case, folder)
    assert result.met is not True
    assert [path.name for path in folder.iterdir()] == ["table.csv"]
    case.policy["roles"]["distinct_spellings"] = [secret]
    result, release = protect(case, folder)
    assert result.released
    assert problems(written_release(case, release)) == []


def toml_of(table: Any) -> str:
    """Write a policy as TOML, in tables on one line."""
    if isinstance(table, dict):
        return "{" + ", ".join(f'"{key}" = {toml_of(value)}' for key, value in table.items()) + "}"
    if isinstance(table, list):
        return "[" + ", ".join(toml_of(value) for value in table) + "]"
    return json.dumps(table)


def arguments_of(options: dict[str, Any]) -> list[str]:
    """Write the options of Python as those of the command line."""
    found = []
    for name, value in options.items():
        option = "--" + {"types": "type", "hierarchies": "hierarchy"}.get(name, name)
        option = option.replace("_", "-")
        if isinstance(value, dict):
            for column, given in value.items():
                found += [option, f"{column}={given}"]
        elif value is True:
            found.append(option)
        elif value is not False:
            found += [option, str(value)]
    return found


@pytest.mark.parametrize("name", ["full", "regions", "local", "round", "anatomy"])
def test_releases_of_the_command_line_are_checked(name: str, tmp_path: Path) -> None:
    case, release, _ = first_written(name, tmp_path, start=1000)
    policy = tmp_path / "policy.toml"
    given = dict(case.policy)
    trees = {
        c: tree for c, tree in case.options.get("hierarchies", {}).items() if type(tree) is dict
    }
    given["hierarchies"] = {**given.get("hierarchies", {}), **trees}
    policy.write_text("".join(f"{key} = {toml_of(value)}\n" for key, value in given.items()))
    options = dict(case.options)
    if "hierarchies" in options:
        options["hierarchies"] = {c: h for c, h in options["hierarchies"].items() if c not in trees}
    again = tmp_path / "again.csv"
    command = command_line("protect", str(tmp_path / "table.csv"))
    command += ["--policy", str(policy), "-o", str(again), *arguments_of(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert again.read_bytes() == release.read_bytes()
    assert problems(written_release(case, again)) == []
