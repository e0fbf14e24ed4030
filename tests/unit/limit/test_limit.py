"""The front door of the limit: of a joint distribution, and of the records of a table."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.pairedrows import in_input_order, row_numbers

import sievert
from sievert.errors import InputError, RefusedError, UsageError
from sievert.estimators import ContingencyTable as Counted
from sievert.releases.alphabets import alphabets, released_column
from sievert.releases.channels import channel_promise, channel_to_values, draw, epsilon, trim
from sievert.tradeoff import Joint, least_risk

LN2 = math.log(2)
FOUR = [[8, 1, 1], [2, 6, 2], [1, 2, 7], [4, 4, 2]]


def people(records: int = 3000, seed: int = 1) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    job = rng.choice(4, records, p=[0.4, 0.3, 0.2, 0.1])
    town = (job + rng.integers(0, 3, records)) % 3
    ill = np.where(rng.random(records) < 0.3 + 0.15 * job, "flu", "cold")
    age = 20 + 10 * job + rng.integers(0, 10, records)
    return {
        "name": [f"p{i}" for i in range(records)],
        "job": [f"job{j}" for j in job],
        "town": [f"town{t}" for t in town],
        "age": [str(a) for a in age],
        "ill": ill.tolist(),
    }


# -- of a joint distribution ----------------------------------------------------------------------


def test_models_1_and_2_have_their_closed_forms() -> None:
    found = sievert.limit([[9, 1], [1, 9]], "hamming", model=1, at=0.1, gap=1e-7)
    assert found.objective * LN2 == pytest.approx(0.221753694, abs=1e-7)
    assert found.bound <= 0.221753694 / LN2 + 1e-9 and found.gap <= 1e-7
    assert found.risk + found.loss == pytest.approx(found.information)
    assert found.channel.shape == (2, 2) and found.distortion == pytest.approx(0.1)
    assert found.epsilon == pytest.approx(math.log(9), abs=1e-3)
    back = sievert.limit([[9, 1], [1, 9]], "hamming", model=2, at=found.risk)
    assert back.objective == pytest.approx(0.1, abs=1e-3)


def test_reference_table_with_ordered_values() -> None:
    found = sievert.limit(FOUR, "absolute", 1, 0.25, gap=1e-6)
    assert found.risk * LN2 == pytest.approx(0.086812656, abs=1e-6)
    assert [r.intervals for r in found.recodings()] == [1, 2, 3, 4]
    # values and released values are numbers: half the distance, half the distortion
    half = sievert.limit(FOUR, "absolute", 1, 0.125, values=[0, 0.5, 1, 1.5], gap=1e-6)
    assert half.risk == pytest.approx(found.risk, abs=2e-6)
    few = sievert.limit(FOUR, "absolute", 1, 0.5, released=[0, 2, 3])
    assert few.channel.shape == (4, 3) and few.risk >= 0.001559540 / LN2 - 1e-6


def test_models_3_and_4_and_the_funnel() -> None:
    table = [[9, 1], [1, 9]]
    four = sievert.limit(table, model=4, at=0.3 / LN2)
    assert four.risk * LN2 == pytest.approx(0.183368747, abs=1e-6)
    assert four.distortion is None and 0 <= four.bound <= four.objective
    three = sievert.limit(table, model=3, at=four.loss)
    assert three.objective * LN2 == pytest.approx(0.3, abs=1e-5)
    funnel = sievert.limit(table, model="funnel", at=0.3 / LN2)
    assert funnel.risk * LN2 == pytest.approx(0.159301322, abs=1e-6)


def test_identity_is_rate_distortion() -> None:
    for joint in ([0.7, 0.3], [[4, 3], [1, 2]]):
        found = sievert.limit(joint, "hamming", "identity", 0.1, gap=1e-7)
        assert found.objective * LN2 == pytest.approx(0.285781329, abs=1e-6)
    back = sievert.limit([0.7, 0.3], "hamming", "identity reverse", 0.285781329 / LN2)
    assert back.objective == pytest.approx(0.1, abs=1e-3)


def test_a_limit_can_be_read_and_passed_on() -> None:
    pandas = pytest.importorskip("pandas")
    found = sievert.limit(pandas.DataFrame(FOUR), at=0.1)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["risk"] == found.risk and len(told["channel"]) == 4
    assert "no release below" in repr(found) and found._repr_html_().startswith("<pre>")
    assert set(found.to_frame()["what"]) >= {"risk", "bound", "epsilon"}
    assert [p.at for p in found.curve(3)] == sorted(p.at for p in found.curve(3))
    tree = sievert.Hierarchy.prefixes(["00", "01", "10", "11"])
    assert sievert.limit(FOUR, tree, at=0.2, values=["00", "01", "10", "11"]).distortion <= 0.2


@pytest.mark.parametrize(
    "how",
    [
        {"model": 5, "at": 0.1}, {"model": True, "at": 0.1}, {"at": -1}, {"at": math.nan},
        {"at": 0.1, "distortion": "euclid"}, {"at": 0.1, "distortion": [[1, 2]]},
        {"at": 0.1, "distortion": sievert.Hierarchy.prefixes(["a"])},
    ],
)  # fmt: skip
def test_nonsense_is_refused_in_one_line(how: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as error:
        sievert.limit(FOUR, **how)
    assert "\n" not in str(error.value)


def test_empty_tables_are_refused() -> None:
    for table in ([], [[0, 0]], [["a"]], [[-1.0]], [[math.nan]]):
        with pytest.raises(InputError):
            sievert.limit(table, at=0.1)


# -- channels --------------------------------------------------------------------------------------


def test_local_epsilon() -> None:
    assert epsilon(np.array([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0]])) == pytest.approx(math.log(2))
    assert epsilon(np.array([[1.0, 0.0], [0.5, 0.5]])) is None
    assert epsilon(np.array([[0.5, 0.5], [0.5, 0.5]])) == 0.0
    assert epsilon(np.array([[0.5, 0.5], [0.0, 1.0]]), [0]) == 0.0  # values that occur only
    assert epsilon(np.array([[1 - 1e-15, 1e-15], [0.5, 0.5]])) is None


def test_draws_follow_the_channel_and_the_seed() -> None:
    channel = np.array([[0.2, 0.0, 0.8], [0.0, 1.0, 0.0]])
    symbols = np.repeat([0, 1], 20_000)
    one, two, other = (draw(channel, symbols, seed) for seed in (3, 3, 4))
    assert (one == two).all() and (one != other).any()
    assert (one[symbols == 1] == 1).all() and not (one[symbols == 0] == 1).any()
    assert np.mean(one[symbols == 0] == 0) == pytest.approx(0.2, abs=0.012)


def test_synthetic_releases_tell_no_more() -> None:
    joint = Joint.of(FOUR)
    labels = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])
    channel = channel_to_values(joint.weights, labels)
    assert channel.sum(axis=1) == pytest.approx(np.ones(4))
    assert joint.weights @ channel == pytest.approx(joint.weights)  # values are as frequent


@pytest.mark.parametrize("at", [0.05, 0.3, 0.6])
def test_intervals_cover_what_drawing_gives(at: float) -> None:
    table = people(2000)
    columns = [_column(table, "job"), _column(table, "town")]
    secret = np.unique(table["ill"], return_inverse=True)[1]
    _, (held,) = alphabets(columns, secret, np.ones(2000, dtype=np.int64), "joint", 100)
    joint = Joint.of(held.counts)
    channel = trim(least_risk(joint, held.distortion, at).channel)
    promise = channel_promise(held, channel, joint)
    drawn = [draw(channel, held.of_record, seed) for seed in range(300)]
    risks = np.array([Counted.from_codes(d, secret).information for d in drawn])
    far = np.array([held.record_distortion(d).mean() for d in drawn])
    for values, (low, high) in (
        (risks, promise.risk_range),
        (far, promise.distortion_range),
    ):
        assert 0.88 <= np.mean((low <= values) & (values <= high)) <= 1.0
    assert risks.mean() == pytest.approx(promise.risk + promise.bias, abs=3e-4)
    assert far.mean() == pytest.approx(promise.distortion, abs=3e-3)


def test_merged_combinations_have_their_own_noise() -> None:
    table = people(2000)
    columns = [_column(table, name) for name in ("job", "town", "age")]
    secret = np.unique(table["ill"], return_inverse=True)[1]
    _, (held,) = alphabets(columns, secret, np.ones(2000, dtype=np.int64), "merged", 20)
    joint = Joint.of(held.counts)
    channel = trim(least_risk(joint, held.distortion, 0.4).channel)
    far = [
        held.record_distortion(draw(channel, held.of_record, seed)).mean() for seed in range(400)
    ]
    assert np.mean(far) == pytest.approx(channel_promise(held, channel, joint).distortion, abs=1e-3)
    assert np.std(far) == pytest.approx(math.sqrt(held.noise(channel) / 2000), rel=0.15)


def _column(table: dict[str, list[str]], name: str, kind: str = "hamming") -> Any:
    texts, codes = np.unique(table[name], return_inverse=True)
    return released_column(name, texts.tolist(), codes, kind, None)


# -- of a table ------------------------------------------------------------------------------------


def test_a_release_is_drawn_and_measured(tmp_path: Path) -> None:
    table, out, matrix = people(), tmp_path / "release.csv", tmp_path / "matrix.csv"
    found = sievert.randomise(
        table, ["job", "town"], "ill", "name", at=0.1, out=out, matrix=matrix
    )  # fmt: skip
    part = found.parts[0]
    assert found.alphabet == "joint" and found.inside is True
    assert part.achieved is not None and part.promise is not None
    assert part.points[0].bound <= part.promise.risk < part.information.value
    assert part.promise.distortion <= 0.1 + 1e-9
    lines = out.read_text().splitlines()
    assert lines[0] == "job,town,age,ill" and len(lines) == 3001
    assert [line.split(",")[2] for line in lines[1:]] != table["age"]  # the order tells nothing
    rows = [list(row.values()) for row in in_input_order(out)]
    assert [r[2] for r in rows] == table["age"] and [r[3] for r in rows] == table["ill"]
    changed = np.mean([r[0] != a for r, a in zip(rows, table["job"], strict=True)])
    moved = np.mean([r[1] != a for r, a in zip(rows, table["town"], strict=True)])
    assert (changed + moved) / 2 == pytest.approx(part.achieved.distortion)
    head, *cells = matrix.read_text().splitlines()
    assert head == "job,town,released job,released town,probability"
    sums: dict[tuple[str, ...], float] = {}
    for cell in cells:
        first = tuple(cell.split(",")[:2])
        sums[first] = sums.get(first, 0.0) + float(cell.rsplit(",", 1)[1])
    assert list(sums.values()) == pytest.approx([1.0] * part.values)


def test_the_same_seed_gives_the_same_release(tmp_path: Path) -> None:
    texts = []
    for name, seed, threads in (("a", 1, 1), ("b", 1, 2), ("c", 2, 2)):
        out = tmp_path / f"{name}.csv"
        sievert.randomise(people(), "job", "ill", at=0.2, seed=seed, threads=threads, out=out)
        texts.append(out.read_text())
    assert texts[0] == texts[1] != texts[2]


def test_missing_and_awkward_texts_survive(tmp_path: Path) -> None:
    table = {
        "city": ["a,b", 'say "x"', None, "", "two\nlines", "a,b"] * 20,
        "ill": ["yes", "no", "no", "yes", "no", None] * 20,
    }
    out = tmp_path / "release.csv"
    sievert.randomise(table, "city", "ill", at=0.0, out=out)
    with sievert.session.open_source(out) as (_, questions):
        from sievert.counts import microdata

        cube = microdata.in_order(questions, ["city", "ill"], "release")
    place = np.argsort(row_numbers(out))
    for name, codes, values in zip(cube.columns, cube.codes, cube.values, strict=True):
        assert [values[c] for c in codes[place]] == table[name]


def test_parquet_releases_keep_types(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = people(200)
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    held = pyarrow.table({**table, "age": [int(a) for a in table["age"]], "record": range(200)})
    parquet.write_table(held, source)
    sievert.randomise(source, ["age"], "ill", "name", at=0.1, distortion="absolute", out=out)
    after = parquet.read_table(out)
    assert after.column_names == ["job", "town", "age", "ill", "record"]
    assert after.schema.field("age").type == pyarrow.int64()
    assert after["record"].to_pylist() == [number - 1 for number in row_numbers(out)]
    assert set(after["age"].to_pylist()) <= set(held["age"].to_pylist())


def test_large_alphabets_go_by_column_or_are_merged() -> None:
    table = people()
    quasi = ["job", "town", "age"]
    by_column = sievert.randomise(table, quasi, "ill", at=0.1, most=50)
    assert by_column.alphabet == "columns" and len(by_column.parts) == 3
    assert by_column.whole["release"].value < by_column.whole["table"].value
    assert any("promised of each column" in w for w in by_column.warnings)
    merged = sievert.randomise(table, quasi, "ill", at=0.3, most=50, alphabet="merged")
    (part,) = merged.parts
    assert merged.alphabet == "merged" and part.values == 50 and part.merged > 0
    assert part.promise.distortion <= 0.3 + 1e-9 and merged.inside
    assert any("rare combinations" in w for w in merged.warnings)
    with pytest.raises(UsageError, match="combinations occur"):
        sievert.randomise(table, quasi, "ill", at=0.1, most=50, alphabet="joint")


def test_reduced_and_occurring_alphabets() -> None:
    table = people()
    every, some, few = (
        sievert.randomise(table, ["job", "town"], "ill", at=0.3, **how)
        for how in ({}, {"occurring": True}, {"reduced": 5})
    )
    assert every.parts[0].everything and not some.parts[0].everything
    assert few.parts[0].released == 5 and few.parts[0].reduced
    objective = [f.points[0].objective for f in (every, some, few)]
    assert objective[0] <= objective[1] + 1e-4 and objective[0] <= objective[2] + 1e-4
    with pytest.raises(UsageError, match="no release has a distortion"):
        sievert.randomise(table, ["job", "town"], "ill", at=0.0, reduced=2)


@pytest.mark.slow
def test_models_whose_release_is_synthetic() -> None:
    table = people()
    found = sievert.randomise(table, ["job", "town"], "ill", at=0.5, model=4)
    part = found.parts[0]
    assert part.promise.identity <= 0.5 + 1e-9
    assert part.promise.risk <= part.points[0].risk + 1e-9
    assert found.inside and any("synthetic" in w for w in found.warnings)
    funnel = sievert.randomise(table, "job", "ill", at=0.5, model="funnel")
    assert funnel.points[0].identity >= 0.5 - 1e-6
    with pytest.raises(UsageError):
        sievert.randomise(table, "job", "ill", at=0.5, model=4, reduced=3)


def test_the_key_itself_as_the_secret() -> None:
    found = sievert.randomise(people(), "job", at=0.2, model="identity")
    point = found.points[0]
    assert point.risk == pytest.approx(point.identity) and point.distortion <= 0.2 + 1e-9
    assert found.inside is True
    with pytest.raises(UsageError, match="no secret"):
        sievert.randomise(people(), "job", at=0.2)


def test_distances_from_hierarchies_and_files(tmp_path: Path) -> None:
    table = people(600)
    tree = {f"job{j}": (f"kind{j // 2}", "*") for j in range(4)}
    by_tree = sievert.randomise(table, "job", "ill", at=0.2, hierarchies={"job": tree})
    assert by_tree.parts[0].words.startswith("level of the lowest common label")
    path = tmp_path / "far.csv"
    path.write_text("value,low,high\n" + "".join(f"job{j},{j > 1:d},{j < 2:d}\n" for j in range(4)))
    out = tmp_path / "release.csv"
    found = sievert.randomise(table, "job", "ill", at=0.1, distortion=path, out=out)
    assert found.parts[0].released == 2
    assert {line.split(",")[1] for line in out.read_text().splitlines()[1:]} == {"low", "high"}
    path.write_text("value,low\njob0,1\n")
    with pytest.raises(InputError, match="3 values of column 'job'"):
        sievert.randomise(table, "job", "ill", at=0.1, distortion=path)


def test_several_constraints_are_a_curve_without_a_release(tmp_path: Path) -> None:
    found = sievert.randomise(
        people(), "age", "ill", at=[0.2, 0.1], distortion="absolute", points=4
    )
    assert [p.at for p in found.points if p.asked] == [0.1, 0.2]
    assert len(found.points) == 6 and found.inside is None
    assert found.parts[0].recodings and "no method" in repr(found)
    charts = found.charts()
    assert list(charts) == ["limit_age"]
    with pytest.raises(UsageError, match="one constraint"):
        sievert.randomise(people(), "job", "ill", at=[0.1, 0.2], out=tmp_path / "x.csv")


def test_secrets_count_together_and_real_ones_in_bins() -> None:
    rng = np.random.default_rng(0)
    table = people(600) | {"pay": [f"{x:.6f}" for x in rng.normal(size=600)]}
    found = sievert.randomise(table, "job", ["ill", "pay"], at=0.2)
    assert any("count as one" in w for w in found.warnings)
    assert any("cut at quantiles" in w for w in found.warnings)
    assert found.parts[0].information.value < 1


def test_gaussian_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(50, 10, size=4000)
    y = 0.8 * (x - 50) / 10 + 0.6 * rng.normal(size=4000)
    table = {"x": [repr(v) for v in x.tolist()], "y": [repr(v) for v in y.tolist()]}
    out = tmp_path / "release.csv"
    found = sievert.randomise(table, "x", "y", at=0.25, gaussian=True, out=out, points=3)
    point = next(p for p in found.points if p.asked)
    assert point.risk == pytest.approx(
        0.471708236, abs=0.03
    )  # rho = 0.8, a quarter of the variance
    assert point.distortion == pytest.approx(0.25)
    assert found.inside is True and any("Gaussian" in w for w in found.warnings)
    released = np.array([float(row["x"]) for row in in_input_order(out)])
    assert np.mean((released - x) ** 2) / x.var() == pytest.approx(0.25, abs=0.02)
    assert "Gaussian" in repr(found)
    two = table | {"z": [repr(v) for v in rng.normal(size=4000).tolist()]}
    both = sievert.randomise(two, ["x", "z"], "y", at=0.1, gaussian=True)
    assert both.parts[0].promise.identity is None  # z tells nothing: it is released as it is
    assert both.inside is True and "unbounded" in repr(both)
    for how in ({"model": "identity"}, {"reduced": 3}, {"distortion": "squared"}):
        with pytest.raises(UsageError):
            sievert.randomise(table, "x", "y", at=0.25, gaussian=True, **how)
    with pytest.raises(UsageError, match="does not hold numbers"):
        sievert.randomise(people(100), "job", "age", at=0.25, gaussian=True)


def test_without_an_order_there_is_a_limit_but_no_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sievert.counts.duckdb.adapter import DuckDB

    plain = sievert.randomise(people(), ["job", "town"], "ill", at=0.1)
    monkeypatch.setattr(DuckDB, "name", "spark")
    monkeypatch.setattr(DuckDB, "keeps_order", False)
    found = sievert.randomise(people(), ["job", "town"], "ill", at=0.1)
    assert found.points == plain.points and found.inside is None
    assert found.parts[0].information.to_dict() == plain.parts[0].information.to_dict()
    assert found.parts[0].promise == plain.parts[0].promise
    with pytest.raises(UsageError, match="no order of records"):
        sievert.randomise(people(), "job", "ill", at=0.1, out=tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


def test_results_are_plain_and_name_no_value() -> None:
    found = sievert.randomise(people(), ["job", "town"], "ill", at=0.1)
    text = json.dumps(found.to_dict(), allow_nan=False)
    shown = sievert.randomise(people(), ["job", "town"], "ill", at=0.1, show_values=True)
    for value in ("job1", "town2", "flu"):
        assert value not in text and value not in repr(found)
    assert "job1" in json.dumps(shown.to_dict())
    assert len(found.to_frame()) == 8 and found._repr_html_().startswith("<div>")


def test_roles_must_make_sense(tmp_path: Path) -> None:
    table = people(50)
    with pytest.raises(UsageError, match="both quasi-identifier and secret"):
        sievert.randomise(table, ["job", "ill"], "ill", at=0.1)
    with pytest.raises(UsageError, match="a release ends in"):
        sievert.randomise(table, "job", "ill", at=0.1, out=tmp_path / "x.txt")
    kept = tmp_path / "kept.csv"
    kept.write_text("mine")
    with pytest.raises(RefusedError):
        sievert.randomise(table, "job", "ill", at=0.1, out=kept)
    assert kept.read_text() == "mine"
    for how in ({"at": []}, {"at": "x"}, {"at": 0.1, "points": -1}, {"at": 0.1, "seed": -1},
                {"at": 0.1, "most": 1}, {"at": 0.1, "reduced": 0}, {"at": 0.1, "alphabet": "all"},
                {"at": 0.1, "distortion": "euclid"}, {"at": 0.1, "missing": "drop"}):  # fmt: skip
        with pytest.raises(UsageError):
            sievert.randomise(table, "job", "ill", **how)


def test_codes_for_missing_are_those_of_the_policy() -> None:
    """The same table is read in the same way by every command."""
    table = {"zip": ["1", "2", "-9", "1"] * 10, "ill": ["flu", "hiv", "flu", "cold"] * 10}
    own = {"reading": {"na": ["-9"]}, "limits": {"k_anonymity": {"min": 1}}}
    stated, given, plain = (
        sievert.randomise(table, "zip", "ill", **options).to_dict()["table"]
        for options in ({"policy": own}, {"na": "-9"}, {})
    )
    assert stated == given != plain
