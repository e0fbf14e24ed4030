"""`compare`: who is who, what is told, what is noticed, what the command line does with it."""

from __future__ import annotations

import doctest
import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pytest
from helpers.commandline import run

import sievert
from sievert.charts import risk_utility_map
from sievert.cli import outputs
from sievert.commands.compare import run as comparison
from sievert.errors import InputError, UsageError
from sievert.report import builder, terminal

Table = dict[str, list[Any]]
QUASI = ["age", "zip"]
ESTIMATE = {"value", "corrected", "chance", "miller_madow", "p_value", "rows_per_cell", "interval"}


def people(number: int = 240, seed: int = 3) -> Table:
    """Records whose secret depends on the age."""
    random = Random(seed)
    ages = [random.randrange(20, 60) for _ in range(number)]
    return {
        "id": [f"p{i:04}" for i in range(number)],
        "age": [str(a) for a in ages],
        "zip": [f"{random.randrange(3)}{random.randrange(4)}" for _ in range(number)],
        "disease": [f"d{(a // 10 + random.randrange(2)) % 4}" for a in ages],
    }


def tens(table: Table) -> Table:
    return {**table, "age": [a[0] + "*" for a in table["age"]]}


def stars(table: Table) -> Table:
    hidden = [i % 6 == 0 for i in range(len(table["age"]))]
    return {
        **table,
        "age": ["*" if h else a for a, h in zip(table["age"], hidden, strict=True)],
        "zip": ["*" if h else z for z, h in zip(table["zip"], hidden, strict=True)],
    }


def some(table: Table, rows: list[int]) -> Table:
    return {c: [values[i] for i in rows] for c, values in table.items()}


def written(path: Path, table: Table) -> Path:
    pandas.DataFrame(table).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("module", [comparison, risk_utility_map, comparison])
def test_examples(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


# -- numbers --------------------------------------------------------------------------------------


def entropy(values: list[Any]) -> float:
    counts = [values.count(v) for v in set(values)]
    return -math.fsum(n / len(values) * math.log2(n / len(values)) for n in counts)


def test_three_informations_of_the_key_and_of_each_column() -> None:
    original = people()
    release = tens(original)
    found = sievert.compare(original, {"tens": release}, QUASI, "disease")["tens"].disclosed
    x = list(zip(original["age"], original["zip"], strict=True))
    after = list(zip(release["age"], release["zip"], strict=True))
    y = original["disease"]

    def bits(first: list[Any], second: list[Any]) -> float:
        both = list(zip(first, second, strict=True))
        return entropy(first) + entropy(second) - entropy(both)

    assert found.identity.whole.value == pytest.approx(bits(after, x), abs=1e-12)
    assert found.identity.whole.maximum == pytest.approx(entropy(x), abs=1e-12)
    assert found.attribute["disease"].whole.value == pytest.approx(bits(after, y), abs=1e-12)
    lost = bits(x, y) - bits(after, y)
    assert found.loss["disease"].whole.value == pytest.approx(lost, abs=1e-12)
    for column in QUASI:
        before, now = original[column], release[column]
        assert found.identity.columns[column].value == pytest.approx(bits(now, before), abs=1e-12)
        told = found.attribute["disease"].columns[column].value
        assert told == pytest.approx(bits(now, y), abs=1e-12)
        gone = found.loss["disease"].columns[column].value
        assert gone == pytest.approx(bits(before, y) - bits(now, y), abs=1e-12)


def test_t_closeness_and_the_floor_below_the_information() -> None:
    original = people()
    found = sievert.compare(original, {"r": tens(original)}, QUASI, "disease")["r"]
    bits = found.disclosed.attribute["disease"]
    own = found.assessment.inference["disease"]["t_closeness"].value
    assert bits.t_closeness == pytest.approx(own, abs=1e-12)
    assert 0 < bits.floor <= bits.whole.value
    assert own == sievert.t_closeness(tens(original), QUASI, "disease")


def test_measures_before_and_after_are_those_of_assess() -> None:
    original, release = people(), stars(people())
    found = sievert.compare(original, release, QUASI, "disease")
    for table, ours in (
        (original, found.original.assessment),
        (release, found.releases[0].assessment),
    ):
        theirs = sievert.assess(table, QUASI, "disease")
        for name, value in ours.reidentification.items():
            assert value == theirs.reidentification[name]
        for name, value in ours.inference["disease"].items():
            assert value == theirs.inference["disease"][name]


def test_a_release_like_its_original_loses_nothing() -> None:
    original = people()
    found = sievert.compare(original, original, QUASI, "disease").releases[0]
    assert found.disclosed.loss["disease"].whole.value == 0
    assert found.disclosed.loss["disease"].whole.p_value == 1
    assert found.disclosed.identity.whole.share == pytest.approx(1)
    assert found.losses["generalization_loss"].value == 0
    assert found.losses["expected_distortion"].value == 0


def test_a_suppressed_release_tells_nothing() -> None:
    original = people()
    nothing = {**original, "age": ["*"] * 240, "zip": ["*"] * 240}
    found = sievert.compare(original, nothing, QUASI, "disease")
    release = found.releases[0]
    assert release.disclosed.identity.whole.value == 0
    assert release.disclosed.attribute["disease"].whole.value == 0
    assert release.records.suppressed == 240
    assert any("tells anything any more" in w for w in found.warnings)


def test_json_is_the_contract() -> None:
    original = people()
    found = sievert.compare(
        original, {"a": tens(original), "b": stars(original)}, QUASI, "disease"
    ).to_dict()
    assert {"sievert", "table", "roles", "releases", "warnings"} <= set(found)
    assert [r["name"] for r in found["releases"]] == ["a", "b"]
    for release in found["releases"]:
        assert release["rows"] == 240
        assert set(release["identity_disclosure"]) >= ESTIMATE
        assert set(release["attribute_disclosure"]["disease"]) >= ESTIMATE | {"t_closeness"}
        assert set(release["information_loss"]["disease"]) >= ESTIMATE
        assert set(release["identity_disclosure"]["columns"]) == set(QUASI)
        assert set(release) >= {"losses", "assessment"}
        assert all({"value", "unit", "reason"} <= set(v) for v in release["losses"].values())
    text = outputs.as_json(found)
    assert text == outputs.as_json(json.loads(text))


@pytest.mark.slow
def test_the_same_twice_and_another_seed() -> None:
    original = people()

    def compared(seed: int, threads: int) -> str:
        found = sievert.compare(
            original, tens(original), QUASI, "disease", seed=seed, threads=threads
        )
        return outputs.as_json(found.to_dict())

    assert compared(0, 1) == compared(0, 2)
    assert compared(0, 1) != compared(1, 1)


def test_no_shuffles_no_p() -> None:
    found = sievert.compare(people(), tens(people()), QUASI, "disease", shuffles=0)
    assert found.releases[0].disclosed.identity.whole.p_value is None
    assert found.releases[0].disclosed.identity.whole.chance > 0
    screen = builder.screen(found)
    text = terminal.as_text(terminal.render(screen, everything=True))
    rows = [line for line in text.splitlines() if "p-value" in line]
    assert rows and all("not defined" in row or "0." not in row for row in rows)


# -- who is who -----------------------------------------------------------------------------------


def test_a_key_finds_records_in_any_order() -> None:
    original = people()
    release = tens(original)
    order = list(range(240))
    Random(5).shuffle(order)
    by_order = sievert.compare(original, release, QUASI, "disease")
    by_key = sievert.compare(original, some(release, order), QUASI, "disease", key="id")
    mine, theirs = by_order.releases[0], by_key.releases[0]
    for one, other in zip(mine.disclosed.every(), theirs.disclosed.every(), strict=True):
        assert one[3].value == other[3].value and one[3].chance == other[3].chance
    assert {k: v.value for k, v in mine.losses.items() if k != "prediction"} == pytest.approx(
        {k: v.value for k, v in theirs.losses.items() if k != "prediction"}
    )


def test_records_that_were_not_released_are_a_category_of_their_own() -> None:
    original = people()
    kept = [i for i in range(240) if i % 5]
    found = sievert.compare(original, some(tens(original), kept), QUASI, "disease", key="id")
    release = found.releases[0]
    assert release.rows == 192
    assert release.records.not_released == 48 == release.records.suppressed
    hidden = tens(original)
    gone = [not i % 5 for i in range(240)]
    for column in QUASI:
        hidden[column] = ["*" if g else v for v, g in zip(hidden[column], gone, strict=True)]
    same = sievert.compare(original, hidden, QUASI, "disease", key="id").releases[0]
    for one, other in zip(release.disclosed.every(), same.disclosed.every(), strict=True):
        assert one[3].value == pytest.approx(other[3].value, abs=1e-12), one[:3]
    assert release.losses["discernability"].value == same.losses["discernability"].value


def test_fewer_records_without_a_key_cannot_be_paired() -> None:
    with pytest.raises(UsageError, match="who is who") as error:
        sievert.compare(people(), some(tens(people()), list(range(200))), QUASI, "disease")
    assert "--key" in str(error.value)


def test_a_key_must_tell_people_apart() -> None:
    original = people()
    twice = {**tens(original), "id": ["p0000"] * 240}
    with pytest.raises(InputError, match="not unique"):
        sievert.compare(original, twice, QUASI, "disease", key="id")
    with pytest.raises(UsageError, match="zipp"):
        sievert.compare(original, tens(original), QUASI, "disease", key="zipp")
    with pytest.raises(UsageError, match="no role"):
        sievert.compare(original, tens(original), QUASI, "disease", key="age")
    strangers = {**tens(original), "id": [f"q{i}" for i in range(240)]}
    with pytest.raises(InputError, match="no record has a key"):
        sievert.compare(original, strangers, QUASI, "disease", key="id")


def test_strangers_in_a_release_are_told() -> None:
    original = people()
    release = tens(original)
    release["id"] = [*release["id"][:-3], "x1", "x2", "x3"]
    found = sievert.compare(original, release, QUASI, "disease", key="id")
    assert found.releases[0].records.unknown == 3
    assert any("3 records of the release that the original lacks" in w for w in found.warnings)


@pytest.mark.slow
def test_a_release_with_other_columns() -> None:
    original = people()
    with pytest.raises(UsageError, match="none of the quasi-identifiers"):
        sievert.compare(original, {"x": original["age"]}, QUASI, "disease")
    dropped = {"age": original["age"], "disease": original["disease"], "new": original["zip"]}
    found = sievert.compare(original, dropped, QUASI, "disease")
    assert any("lacks 'zip'" in w for w in found.warnings)
    assert any("1 column of the release, unknown" in w for w in found.warnings)
    star = sievert.compare(original, {**original, "zip": ["*"] * 240}, QUASI, "disease")
    one, two = (f.releases[0] for f in (found, star))
    assert one.disclosed.identity.whole.value == two.disclosed.identity.whole.value
    secretless = {c: original[c] for c in QUASI}
    found = sievert.compare(original, secretless, QUASI, "disease")
    assert any("'disease' was not released" in w for w in found.warnings)
    assert found.releases[0].disclosed.attribute["disease"].whole.value > 0


@pytest.mark.slow
def test_a_permuted_release_looks_like_chance() -> None:
    """By a key that is wrong: that tables are paired by such an order cannot be stated."""
    original = {**people(600), "id": [f"p{i}" for i in range(600)]}
    order = list(range(600))
    Random(8).shuffle(order)
    moved = {**some(tens(original), order), "id": original["id"]}
    with pytest.raises(UsageError, match="so that --paired does not hold"):
        sievert.compare(original, moved, QUASI, "disease", paired=True)
    found = sievert.compare(original, moved, QUASI, "disease", key="id")
    assert any("looks like chance" in w for w in found.warnings)
    assert any("in other records" in w and "disease" in w for w in found.warnings)
    straight = sievert.compare(original, tens(original), QUASI, "disease", paired=True)
    assert not any("chance" in w and "order" in w for w in straight.warnings)
    # all values different: the information of the whole key is the same in any order
    unique = {**original, "age": [str(i) for i in range(600)]}
    moved = {**some(unique, order), "id": original["id"]}
    found = sievert.compare(unique, moved, "age", "disease", bins={"age": 0}, key="id")
    assert found.releases[0].disclosed.identity.whole.share == pytest.approx(1)
    assert any("looks like chance" in w for w in found.warnings)


def test_changed_secrets_are_told() -> None:
    original = people()
    release = tens(original)
    release["disease"] = ["d9", *release["disease"][1:]]
    found = sievert.compare(original, release, QUASI, "disease")
    assert any("1 released value of 'disease' other than" in w for w in found.warnings)


def test_numbers_with_noise_are_no_estimate() -> None:
    """Every released record is different: neither what is told nor what is lost can be said."""
    random = Random(5)
    age = [random.randrange(20, 60) for _ in range(900)]
    sick = ["yes" if a > 40 or random.random() < 0.2 else "no" for a in age]
    noisy = {"age": [a + random.gauss(0, 1) for a in age], "sick": sick}
    (release,) = sievert.compare({"age": age, "sick": sick}, [noisy], "age", "sick").releases
    loss = release.disclosed.loss["sick"].whole
    assert loss.reason is not None and "different" in loss.reason
    found = sievert.compare({"age": age, "sick": sick}, [noisy], "age", "sick")
    assert any("'age', as after noise" in c for c in found.cautions)
    cut = sievert.compare({"age": age, "sick": sick}, [noisy], "age", "sick", bins={"age": 10})
    assert cut.releases[0].disclosed.loss["sick"].whole.reason is None
    assert not any("as after noise" in c for c in cut.cautions)
    recoded = {"age": [a // 10 for a in age], "sick": sick}
    (plain,) = sievert.compare({"age": age, "sick": sick}, [recoded], "age", "sick").releases
    assert plain.disclosed.loss["sick"].whole.reason is None


def test_noise_is_told() -> None:
    found = sievert.compare(people(), people(), QUASI, "disease")
    assert any("chance" in w and "corrected" in w for w in found.warnings)


# -- numbers as values ----------------------------------------------------------------------------


def amounts(number: int = 600) -> Table:
    random = Random(11)
    income = [random.gauss(100, 15) for _ in range(number)]
    return {
        "income": [f"{x:.6f}" for x in income],
        "sex": [random.choice("fm") for _ in range(number)],
        "debt": [f"{0.8 * x + random.gauss(0, 9):.6f}" for x in income],
    }


@pytest.mark.slow
def test_columns_of_real_numbers_are_cut_alike_before_and_after() -> None:
    original = amounts()
    random = Random(2)
    noisy = {
        **original,
        "income": [f"{float(x) + random.gauss(0, 5):.6f}" for x in original["income"]],
    }
    found = sievert.compare(original, noisy, ["income", "sex"], "debt")
    assert found.settings.bins == {"income": 8, "debt": 8}
    assert any("'income' has nearly as many numbers" in w for w in found.warnings)
    bits = found.releases[0].disclosed.identity
    assert 1 < bits.columns["income"].value < 3
    assert bits.ksg["income"]["value"] == pytest.approx(bits.columns["income"].value, abs=0.6)
    told = found.releases[0].disclosed.attribute["debt"].ksg["income"]["value"]
    assert 0.3 < told < 1.5
    as_they_are = sievert.compare(
        original, noisy, ["income", "sex"], "debt", bins={"income": 0, "debt": 4}
    )
    assert as_they_are.settings.bins == {"debt": 4}
    rounded = {**original, "income": [f"{float(x):.0f}" for x in original["income"]]}
    found = sievert.compare(original, rounded, ["income", "sex"], "debt")
    told = found.releases[0].disclosed.identity.ksg["income"]
    assert told["value"] is None and "tied" in told["reason"]


def test_bins_that_make_no_sense() -> None:
    original = people()
    for bins, words in (
        ({"age": 1}, "at least 2"),
        ({"disease": 4}, "does not hold numbers"),
        ({"id": 4}, "neither -q nor -s"),
        ({"no": 4}, "column"),
    ):
        with pytest.raises(UsageError, match=words):
            sievert.compare(original, tens(original), QUASI, "disease", bins=bins)


# -- several releases -----------------------------------------------------------------------------


@pytest.mark.slow
def test_dominated_releases_are_marked() -> None:
    original = people(6000)
    original["zip"] = [z[0] for z in original["zip"]]
    random = Random(4)
    noisy = tens(original)
    noisy["age"] = [random.choice("2345") + "*" if random.random() < 0.4 else a
                    for a in noisy["age"]]  # fmt: skip
    tidy = {**tens(original), "zip": ["*"] * 6000}
    found = sievert.compare(
        original, {"noisy": noisy, "tidy": tidy, "as it is": original}, QUASI, "disease"
    )
    assert found["noisy"].dominated_by == ("tidy",)
    assert found["as it is"].dominated_by == ("tidy",)  # the tens are all that the secret needs
    assert found["tidy"].dominated_by == ()
    assert "tidy is the best of these 3 releases" in repr(found)
    assert "noisy is out: tidy gives no more of the key away" in repr(found)
    assert set(found.rank_correlation["generalization_loss"]) == {"disease"}


def test_a_loss_that_is_sure_to_be_negative_is_not_shown() -> None:
    """Without shuffles the difference of two corrected values is no estimate of a sparse loss."""
    original = people(2000)
    tidy = {**tens(original), "zip": ["*"] * 2000}
    found = sievert.compare(original, tidy, QUASI, "disease", shuffles=0)
    lost = found.releases[0].disclosed.loss["disease"].whole
    assert lost.corrected < -0.3 and lost.reason is not None
    assert lost.interval[0] == 0 and lost.interval[1] > 0.1
    text = " ".join(repr(found).split())
    assert "not known" in text and "-0.3" not in text


def test_prediction_does_not_depend_on_the_order_of_the_records() -> None:
    original = people(150)
    release = tens(original)
    order = list(range(150))
    Random(4).shuffle(order)
    one, other = (
        sievert.compare(
            *({c: [v[i] for i in rows] for c, v in t.items()} for t in (original, release)),
            QUASI, "disease", shuffles=0, paired=True,
        ).to_dict()["releases"][0]["losses"]["prediction"]
        for rows in (range(150), order)
    )  # fmt: skip
    assert one == other and one["value"] is not None


def test_what_chance_makes_of_no_loss_is_no_loss() -> None:
    """The secret hangs on the tens alone: releasing them loses nothing."""
    original = people(2000)
    tidy = {**tens(original), "zip": ["*"] * 2000}
    lost = sievert.compare(original, tidy, QUASI, "disease").releases[0].disclosed.loss["disease"]
    assert lost.whole.value > 0.15  # noise
    assert lost.whole.excess == pytest.approx(0, abs=0.05)
    assert lost.whole.corrected == pytest.approx(lost.whole.excess, abs=1e-12)
    assert 0 <= lost.whole.interval[0] < lost.whole.interval[1]
    assert lost.whole.p_value is not None and lost.whole.p_value > 0.02


def test_two_releases_have_no_rank_correlation() -> None:
    original = people()
    found = sievert.compare(original, [tens(original), stars(original)], QUASI, "disease")
    assert found.rank_correlation == {}
    assert [r.name for r in found.releases] == ["release 1", "release 2"]


def test_names_of_releases() -> None:
    assert list(comparison.named_releases(["a/x.csv", "b/x.csv.gz", "y.parquet"])) == [
        "x", "x (2)", "y",
    ]  # fmt: skip
    assert list(comparison.named_releases({"age": ["1"], "zip": ["2"]})) == ["release"]
    assert list(comparison.named_releases({"one": "a.csv", "two": "b.csv"})) == ["one", "two"]
    assert list(comparison.named_releases(pandas.DataFrame({"age": ["1"]}))) == ["release"]
    with pytest.raises(UsageError, match="no release"):
        comparison.named_releases([])


def test_without_secrets_identity_alone() -> None:
    original = people()
    found = sievert.compare(original, [tens(original), stars(original)], QUASI)
    assert found.to_dict()["releases"][0]["attribute_disclosure"] == {}
    assert "identity risk I(X';X)" in repr(found) and "I(X';Y)" not in repr(found)
    assert not found.releases[0].dominated_by


def test_a_secret_that_is_known_as_well() -> None:
    original = people()
    found = sievert.compare(original, tens(original), ["age", "zip"], "zip").releases[0]
    bits = found.disclosed.attribute["zip"].whole
    assert bits.value == pytest.approx(bits.maximum)


def test_frames_and_text() -> None:
    original = people()
    found = sievert.compare(
        pandas.DataFrame(original), pandas.DataFrame(tens(original)), QUASI, "disease"
    )
    frame = found.to_frame()
    assert set(frame["number"]) >= {"identity_disclosure", "information_loss", "discernability"}
    assert "I(X';X)" in repr(found) and found._repr_html_().startswith("<div>")
    assert all(len(line) <= 100 for line in repr(found).splitlines())
    with pytest.raises(KeyError):
        found["nobody"]


def test_missing_values_are_values_or_errors() -> None:
    original = people()
    original["age"] = [None, *original["age"][1:]]
    found = sievert.compare(original, tens({**original, "age": ["9", *original["age"][1:]]}),
                            QUASI, "disease")  # fmt: skip
    assert found.rows == 240
    with pytest.raises(InputError, match="missing"):
        sievert.compare(original, original, QUASI, "disease", missing="error")
    with pytest.raises(UsageError, match="value of its own"):
        sievert.compare(original, original, QUASI, "disease", missing="drop")


# -- command line ---------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    original = people()
    return [
        written(tmp_path / "original.csv", original),
        written(tmp_path / "tens.csv", tens(original)),
        written(tmp_path / "stars.csv", stars(original)),
    ]


@pytest.mark.slow
def test_the_command(files: list[Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    code = run("compare", *files, "-q", "age,zip", "-s", "disease", "--json", out,
                "--timings", tmp_path / "t.json", "--charts", tmp_path / "charts")  # fmt: skip
    text = capfd.readouterr().out
    assert code == 0
    assert "give least away" in text or "gives least away" in text
    rows = [line.split()[0] for line in text.splitlines() if " (" in line]
    assert {"tens", "stars"} <= {*rows} and "identity risk I(X';X)" in text
    assert len(text.splitlines()) <= 40
    found = json.loads(out.read_text())
    assert [r["name"] for r in found["releases"]] == ["tens", "stars"]
    assert (tmp_path / "charts" / "map_disease.svg").read_text().count("tens") >= 2
    assert json.loads((tmp_path / "t.json").read_text())["total"] > 0
    first = out.read_bytes()
    assert run("compare", *files, "-q", "age,zip", "-s", "disease", "--json", out) == 0
    assert out.read_bytes() == first
    capfd.readouterr()
    run("compare", *files, "-q", "age,zip", "-s", "disease", "--all")
    everything = capfd.readouterr().out
    assert "age: attribute risk" in everything and "Losses of each column" in everything
    assert run("compare", *files, "-q", "age,zip", "-s", "disease", "--json", "-") == 0
    assert json.loads(capfd.readouterr().out) == found


@pytest.mark.parametrize(
    ("extra", "code", "words"),
    [
        (["--share"], 7, "not shareable"),
        (["--missing", "drop"], 2, "value of its own"),
        (["--shuffles", "-1"], 2, "--shuffles"),
        (["--bins", "age=x"], 2, "COLUMN=NUMBER"),
        (["--predict", "nothing"], 2, "nothing"),
        (["--key", "nothing"], 2, "nothing"),
        (["--alpha-value", "disease=d1"], 2, "assess"),
        (["--show-values"], 2, "--show-values"),
        (["--hierarchy", "age=no.csv"], 3, "no.csv"),
    ],
)
def test_what_does_not_go(
    files: list[Path], extra: list[str], code: int, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run("compare", *files, "-q", "age,zip", "-s", "disease", *extra) == code
    error = capfd.readouterr().err
    assert words in error and len(error.splitlines()) == 1


def test_no_release_no_roles(files: list[Path], capfd: pytest.CaptureFixture[str]) -> None:
    assert run("compare", files[0], "-q", "age") == 2
    assert "no release given" in capfd.readouterr().err
    assert run("compare", *files) == 2
    assert "-q" in capfd.readouterr().err
    assert run("compare", "-", "-", "-q", "age") == 2
    assert "standard input" in capfd.readouterr().err
    assert run("compare", files[0], "postgresql://u:secret@h/d?table=t", "-q", "age") == 7
    assert "secret" not in capfd.readouterr().err


def test_an_input_is_never_written(files: list[Path], capfd: pytest.CaptureFixture[str]) -> None:
    before = files[1].read_bytes()
    code = run("compare", *files, "-q", "age", "--json", files[1], "--force")
    assert code == 7 and files[1].read_bytes() == before, capfd.readouterr().err


def test_text_is_safe_on_any_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    original = people(60)
    a = written(tmp_path / "a.csv", {"age\x1b[2J": original["age"], "d": original["disease"]})
    b = written(
        tmp_path / "b\x1b[31m.csv", {"age\x1b[2J": original["age"], "d": original["disease"]}
    )
    assert run("compare", a, b, "-q", "age\x1b[2J", "-s", "d") == 0
    captured = capfd.readouterr()
    assert "\x1b" not in captured.out and "\x1b" not in captured.err


def test_remarks_on_columns_and_suppressed_records(tmp_path: Path) -> None:
    """Ignored columns are known to the original; suppressed records are in the bits."""
    table = {c: [str(i % m) for i in range(60)] for c, m in (("a", 3), ("s", 5), ("x", 60))}
    policy = tmp_path / "p.toml"
    policy.write_text(
        '[roles]\nquasi = ["a"]\nsensitive = ["s"]\n'
        '[roles.ignored]\nx = "not released"\n[limits]\nk_anonymity = { min = 2 }\n'
    )
    hidden = {**table, "a": ["*" if i < 6 else v for i, v in enumerate(table["a"])]}
    for release, unknown in ((hidden, False), ({**hidden, "new": table["x"]}, True)):
        result = sievert.compare(table, {"r": release}, policy=policy, paired=True, shuffles=19)
        assert any("1 column of the release, unknown" in w for w in result.warnings) == unknown
        (note,) = (w for w in result.warnings if "suppressed" in w)
        assert "a category of their own in the bits that are lost and told; left out" in note
        assert "the discrimination rate" in note
    attacked = sievert.attack(hidden, None, "a", "s").warnings
    assert any("left out of every attack but reasoning and a register" in w for w in attacked)


def test_a_first_column_without_a_name(tmp_path: Path) -> None:
    """As pandas writes an index."""
    path = tmp_path / "t.csv"
    path.write_text(",a,s\n" + "".join(f"{i},{i % 3},{i % 4}\n" for i in range(40)))
    result = sievert.compare(path, path, "a", "s", shuffles=19)
    assert result.unassessed == ("column1",)
    assert any("the first column has no name" in w for w in result.warnings)
    path.write_text(",column1,s\n1,2,3\n")
    with pytest.raises(InputError, match="column 1 has no name"):
        sievert.assess(path, "s")


def test_a_renamed_quasi_identifier_is_a_caution() -> None:
    """It counts as suppressed, so that every risk of the release looks lower than it is."""
    table = people()
    renamed = {("postcode" if c == "zip" else c): values for c, values in table.items()}
    lacking = {c: values for c, values in table.items() if c != "zip"}
    both = (sievert.compare(table, [each], QUASI, ["disease"]) for each in (renamed, lacking))
    said = [result.to_dict()["cautions"] for result in both]
    assert [any("under other names" in text for text in texts) for texts in said] == [True, False]
