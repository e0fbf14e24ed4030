"""Releases against the limit: distortion by the best reading, bounds, texts, charts, command."""

from __future__ import annotations

import doctest
import itertools
import json
import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas
import pytest
from helpers.commandline import run

import sievert
from sievert.charts import risk_utility_map, svg
from sievert.cli import outputs
from sievert.commands.compare import distance_to_limit
from sievert.errors import UsageError
from sievert.report import builder, terminal
from sievert.tradeoff import hamming, least_risk

Table = dict[str, list[Any]]
QUASI = ["sex", "town"]
SHARP = 1e-9


def people(number: int = 400, seed: int = 5) -> Table:
    """Records whose secret depends on both columns."""
    random = Random(seed)
    sexes = [random.choice("fm") for _ in range(number)]
    towns = [random.choice("aaabbcd") for _ in range(number)]
    told = [
        f"d{(ord(s) + ord(t) + (random.random() < 0.3)) % 3}"
        for s, t in zip(sexes, towns, strict=True)
    ]
    return {"id": [str(i) for i in range(number)], "sex": sexes, "town": towns, "disease": told}


def recoded(table: Table) -> Table:
    return {**table, "town": ["ab" if t in "ab" else "cd" for t in table["town"]]}


def noisy(table: Table, share: float = 0.3, seed: int = 1) -> Table:
    random = Random(seed)
    towns = [random.choice("abcd") if random.random() < share else t for t in table["town"]]
    return {**table, "town": towns}


def renamed(table: Table) -> Table:
    return {**table, "sex": ["m" if s == "f" else "f" for s in table["sex"]]}


@pytest.fixture(scope="module")
def original() -> Table:
    return people()


@pytest.fixture(scope="module")
def found(original: Table) -> sievert.Comparison:
    releases = {"recoded": recoded(original), "noisy": noisy(original),
                "renamed": renamed(original), "same": original}  # fmt: skip
    return sievert.compare(original, releases, QUASI, "disease", shuffles=0, limit=True)


@pytest.mark.parametrize("module", [distance_to_limit, risk_utility_map])
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


# -- numbers --------------------------------------------------------------------------------------


def joint(table: Table) -> tuple[list[tuple[str, str]], np.ndarray, np.ndarray]:
    """The combinations, their joint table with the secret, their distances, all by hand."""
    pairs = list(zip(table["sex"], table["town"], strict=True))
    values, secrets = sorted(set(pairs)), sorted(set(table["disease"]))
    counts = np.zeros((len(values), len(secrets)))
    for pair, secret in zip(pairs, table["disease"], strict=True):
        counts[values.index(pair), secrets.index(secret)] += 1
    far = np.array(
        [[sum(i != j for i, j in zip(a, b, strict=True)) / 2 for b in values] for a in values]
    )
    return values, counts, far


def read_by_hand(original: Table, release: Table) -> float:
    values, _, _ = joint(original)
    before = list(zip(original["sex"], original["town"], strict=True))
    classes: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for x, label in zip(before, zip(release["sex"], release["town"], strict=True), strict=True):
        classes.setdefault(label, []).append(x)
    wrong = 0.0
    for held in classes.values():
        wrong += min(
            sum((x[0] != v[0]) + (x[1] != v[1]) for x in held) / 2 for v in values
        )  # fmt: skip
    return wrong / len(before)


def test_the_distortion_is_that_of_the_best_reading(
    found: sievert.Comparison, original: Table
) -> None:
    for name, release in (("recoded", recoded(original)), ("noisy", noisy(original))):
        placed = found[name].limit["disease"]
        assert placed.distortion == pytest.approx(read_by_hand(original, release), abs=SHARP)
        assert placed.columns is not None
        assert np.mean(list(placed.columns.values())) == pytest.approx(placed.distortion)


def test_the_least_is_that_of_the_original_joint(
    found: sievert.Comparison, original: Table
) -> None:
    _, counts, far = joint(original)
    for release in found.releases:
        placed = release.limit["disease"]
        best = least_risk(counts, far, placed.distortion, gap=1e-7)
        assert placed.bound is not None and placed.least is not None
        assert placed.bound <= best.objective + SHARP
        assert best.bound <= placed.least + SHARP
        assert placed.least - placed.bound <= 1e-4 + SHARP
        whole = release.disclosed.attribute["disease"].whole
        assert (placed.disclosed, placed.corrected) == (whole.value, whole.corrected)


def test_no_release_made_from_the_key_is_below(found: sievert.Comparison) -> None:
    for release in found.releases:
        placed = release.limit["disease"]
        assert placed.as_channel is not None and placed.bound is not None
        assert placed.bound <= placed.as_channel + SHARP


def test_deterministic_releases_are_their_own_channel(found: sievert.Comparison) -> None:
    for name in ("recoded", "renamed", "same"):
        placed = found[name].limit["disease"]
        assert placed.as_channel == pytest.approx(placed.disclosed, abs=SHARP)
        assert placed.ratio is not None and placed.ratio >= 1 - SHARP


def test_other_names_for_the_same_are_no_distortion(found: sievert.Comparison) -> None:
    """A value released as another one, always the same, is read back."""
    placed = found["renamed"].limit["disease"]
    assert placed.distortion == 0.0 and placed.as_released == pytest.approx(0.5)
    assert placed.ratio == pytest.approx(1.0)
    assert found["same"].limit["disease"].as_released == 0.0
    assert found["recoded"].limit["disease"].as_released is None


def test_as_released_is_never_nearer_than_the_best_reading(found: sievert.Comparison) -> None:
    placed = found["noisy"].limit["disease"]
    assert placed.as_released is not None and placed.distortion <= placed.as_released + SHARP


def test_a_release_that_tells_nothing(original: Table) -> None:
    silent = {**original, "sex": ["*"] * 400, "town": ["*"] * 400}
    found = sievert.compare(original, {"silent": silent}, QUASI, "disease", shuffles=0, limit=True)
    placed = found["silent"].limit["disease"]
    _, counts, far = joint(original)
    assert placed.distortion == pytest.approx(float((counts.sum(axis=1) @ far).min() / 400))
    assert placed.least == 0.0 and placed.ratio is None and "nothing" in str(placed.reason)
    limit = found.limits["disease"]
    assert limit.perfect is not None and limit.perfect <= placed.distortion + SHARP


def test_records_not_released_are_one_class(original: Table) -> None:
    kept = [i for i in range(400) if i % 3]
    part = {c: [v[i] for i in kept] for c, v in original.items()}
    found = sievert.compare(
        original, {"part": part}, QUASI, "disease", key="id", shuffles=0, limit=True
    )
    placed = found["part"].limit["disease"]
    hidden = {**original, **{c: ["*" if i % 3 == 0 else x for i, x in enumerate(original[c])]
                             for c in QUASI}}  # fmt: skip
    assert placed.distortion == pytest.approx(read_by_hand(original, hidden), abs=SHARP)
    assert placed.as_released is None


def test_a_release_with_an_eye_on_the_secret_is_told() -> None:
    """Below the limit: the town is blurred exactly so that it tells nothing."""
    towns = ["a"] * 60 + ["b"] * 60
    secrets = ["x"] * 45 + ["y"] * 15 + ["x"] * 15 + ["y"] * 45
    told = ["a"] * 30 + ["b"] * 15 + ["a"] * 15 + ["b"] * 15 + ["b"] * 30 + ["a"] * 15
    original = {"town": towns, "disease": secrets}
    release = {"town": told, "disease": secrets}
    found = sievert.compare(original, {"eye": release}, "town", "disease", shuffles=0, limit=True)
    placed = found["eye"].limit["disease"]
    assert placed.bound is not None and placed.as_channel is not None
    assert placed.as_channel >= placed.bound - SHARP
    assert placed.disclosed == pytest.approx(0.0, abs=SHARP) and placed.bound > 0.04
    assert any("eye on the secret" in w for w in found.warnings)


def test_a_channel_against_the_limit() -> None:
    counts = [[9, 1], [1, 9]]
    for share in (0.1, 0.2, 0.3):  # for two equal values plain PRAM is the optimum
        channel = [[1 - share, share], [share, 1 - share]]
        placed = distance_to_limit.against(counts, hamming(2), channel, gap=1e-7)
        assert placed.distortion == pytest.approx(share)
        assert placed.ratio == pytest.approx(1.0, abs=1e-5)
    erased = distance_to_limit.against(counts, hamming(2), [[0.6, 0, 0.4], [0, 0.6, 0.4]], gap=1e-7)
    assert erased.distortion == pytest.approx(0.2)
    assert erased.ratio is not None and erased.ratio > 1.5


# -- large alphabets ------------------------------------------------------------------------------


def test_rare_combinations_join_the_nearest(
    original: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sievert.compare(
        original, {"r": recoded(original)}, QUASI, "disease", shuffles=0, limit=True
    )
    monkeypatch.setattr(distance_to_limit, "MOST_VALUES", 4)
    found = sievert.compare(
        original, {"r": recoded(original), "same": original}, QUASI, "disease", shuffles=0,
        limit=True,
    )  # fmt: skip
    limit, placed = found.limits["disease"], found["r"].limit["disease"]
    assert limit.merged and (limit.values, limit.combinations) == (4, 8)
    assert placed.bound is None and placed.as_channel is None
    fine = whole["r"].limit["disease"]
    assert fine.bound is not None and placed.least is not None
    if placed.distortion <= fine.distortion + SHARP:  # what is reached is never below the truth
        assert placed.least >= fine.bound - SHARP
    assert found["same"].limit["disease"].distortion > 0
    assert any("most frequent" in w for w in found.warnings)
    assert all(p["bound"] is None for p in limit.to_dict()["points"])
    assert "times the least" in " ".join(repr(found).split())


def test_merged_releases_can_be_made() -> None:
    """What the merged search reaches a real release reaches, at the distortion it says."""
    original = people(300, 8)
    values, counts, far = joint(original)
    pairs = list(zip(original["sex"], original["town"], strict=True))
    key = np.array([values.index(p) for p in pairs])
    columns = {c: np.unique(original[c], return_inverse=True)[1] for c in QUASI}
    space = distance_to_limit.Space(key, columns, most_readings=3)
    frequent = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:3])
    shown = far[:, frequent]
    assert (shown[np.arange(len(values)), space.nearest] == shown.min(axis=1)).all()
    sizes = counts.sum(axis=1)
    for cell, reading in itertools.product(range(3), range(3)):
        of = space.nearest == cell
        mean = float(sizes[of] @ shown[of, reading] / sizes[of].sum())
        assert space.distances()[cell, reading] == pytest.approx(mean)


def test_too_many_combinations_are_told(original: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance_to_limit, "MOST_COMBINATIONS", 4)
    found = sievert.compare(original, recoded(original), QUASI, "disease", shuffles=0, limit=True)
    assert not found.limits and not found.releases[0].limit
    assert any("too many for a limit" in w for w in found.warnings)
    assert "limit" not in found.to_dict()


def test_an_unfinished_search_is_told(original: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance_to_limit, "SECONDS", 0.0)
    found = sievert.compare(original, recoded(original), QUASI, "disease", shuffles=0, limit=True)
    placed = found.releases[0].limit["disease"]
    assert not found.limits["disease"].reached
    assert placed.bound is not None and placed.least is not None and placed.bound <= placed.least
    assert any("known within" in w for w in found.warnings)


@pytest.mark.slow
def test_a_limit_of_chance_is_told() -> None:
    random = Random(2)
    table = {"town": [f"t{i % 60}" for i in range(120)],
             "disease": [f"d{random.randrange(20)}" for _ in range(120)]}  # fmt: skip
    found = sievert.compare(table, table, "town", "disease", shuffles=0, limit=True)
    assert any("chance included" in w for w in found.warnings)


def test_one_combination_alone() -> None:
    table = {"town": ["a"] * 20, "disease": ["x", "y"] * 10}
    found = sievert.compare(table, table, "town", "disease", shuffles=0, limit=True)
    placed = found.releases[0].limit["disease"]
    assert (placed.distortion, placed.least, placed.ratio) == (0.0, 0.0, None)


# -- what is shown --------------------------------------------------------------------------------


def test_without_it_nothing_is_said(original: Table) -> None:
    found = sievert.compare(original, recoded(original), QUASI, "disease", shuffles=0)
    told = found.to_dict()
    assert "limit" not in told and "limit" not in told["releases"][0]
    assert "the least possible" not in repr(found)
    assert not any(name.startswith("limit") for name in found.charts())


def test_json_frame_and_text(found: sievert.Comparison) -> None:
    told = found.to_dict()
    text = outputs.as_json(told)
    assert text == outputs.as_json(json.loads(text))
    limit = told["limit"]["disease"]
    assert {"points", "perfect", "information", "values"} <= set(limit)
    at = [p["distortion"] for p in limit["points"]]
    assert at == sorted(at) and all(p["bound"] <= p["least"] for p in limit["points"])
    held = told["releases"][0]["limit"]["disease"]
    assert {"distortion", "disclosed", "least", "bound", "gap", "ratio", "reason"} <= set(held)
    frame = pandas.DataFrame(found._rows())
    rows = frame[(frame["number"] == "limit") & (frame["release"] == "recoded")]
    assert list(rows["what"]) == ["distortion", "least", "bound", "ratio"]
    shown = repr(found)
    assert "times the least possible" in " ".join(shown.split())
    screen = builder.screen(found)
    everything = terminal.as_text(terminal.render(screen, everything=True))
    assert "How far from the limit: disease" in everything and "None below" in everything
    assert all(len(line) <= 100 for line in shown.splitlines())


def test_the_chart(found: sievert.Comparison) -> None:
    spec = found.charts()["limit_disease"]
    rows = spec["data"]["values"]
    assert [r["name"] for r in rows if r["kind"] == "release"] == [r.name for r in found.releases]
    assert sum(r["kind"] == "curve" for r in rows) == len(found.limits["disease"].points)
    assert all(math.isfinite(r["across"]) and r["said"] for r in rows)
    drawn = svg(spec)
    assert "recoded: distortion" in drawn and "limit at distortion" in drawn


def test_the_same_twice_on_any_threads(original: Table) -> None:
    def told(threads: int) -> str:
        found = sievert.compare(
            original, noisy(original), QUASI, "disease", shuffles=0, limit=True, threads=threads
        )
        return outputs.as_json(found.to_dict())

    assert told(1) == told(2)


def test_a_secret_is_needed(original: Table) -> None:
    with pytest.raises(UsageError, match="needs a secret"):
        sievert.compare(original, original, QUASI, shuffles=0, limit=True)


def test_the_command(original: Table, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / "original.csv", tmp_path / "recoded.csv"]
    for path, table in zip(paths, (original, recoded(original)), strict=True):
        pandas.DataFrame(table).to_csv(path, index=False)
    out, charts = tmp_path / "out.json", tmp_path / "charts"
    told = ["compare", *paths, "-q", "sex,town", "-s", "disease", "--shuffles", "0", "--limit"]
    assert run(*[*told, "--json", out, "--charts", charts]) == 0
    text = capfd.readouterr().out
    assert "recoded tells " in text and "would be possible" in " ".join(text.split())
    assert "limit" in json.loads(out.read_text())["releases"][0]
    assert (charts / "limit_disease.svg").exists() and (charts / "map_disease.svg").exists()
    capfd.readouterr()
    assert run(*["compare", *paths, "-q", "sex,town", "--limit"]) == 2
    assert "needs a secret" in capfd.readouterr().err
