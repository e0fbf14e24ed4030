"""What other programs print of subsets, shares, populations and records, found by `explain`.

A5, A6, A7, A22, A23: ARX; A9, A12: sdcMicro and its practice guide; A26: scikit-learn. Numbers as
in the list of peer values.
"""

from pathlib import Path

import pytest

import sievert

from .tables import Columns, read_columns

QI4 = ("marital-status", "native-country", "race", "workclass")

A23 = {
    ("race",): (1.657715005636231e-4, 0.2510168705580825),
    ("workclass",): (2.3208010078907233e-4, 0.4384710833330085),
    ("marital-status",): (2.3208010078907233e-4, 0.6572008210359416),
    ("native-country",): (0.0013593263046217095, 0.16789461132116162),
    ("race", "marital-status"): (0.0010609376036071877, 0.7346233591152453),
    ("race", "workclass"): (0.0010940919037199124, 0.579931372478474),
    ("marital-status", "workclass"): (0.0014587892049598833, 0.8108731356911419),
    ("race", "native-country"): (0.0035143558119488097, 0.34704002737416706),
    ("native-country", "workclass"): (0.006299317021417678, 0.5402863351821013),
    ("marital-status", "native-country"): (0.006796631523108547, 0.7142032232425677),
    ("race", "marital-status", "workclass"): (0.0052052251176977656, 0.8547865926371521),
    ("race", "native-country", "workclass"): (0.009879981433591936, 0.6389296743244779),
    ("race", "marital-status", "native-country"): (0.011405079238777269, 0.7674399186888289),
    ("marital-status", "native-country", "workclass"): (0.01651084145613686, 0.8447305628702736),
    QI4: (0.023871096081161728, 0.8745260941753913),
}

A7 = {
    ("sex",): (0.4, 0.6),
    ("state",): (0.6, 0.7),
    ("age",): (0.6, 0.8),
    ("sex", "state"): (0.8, 0.9),
    ("age", "sex"): (1, 1),
    ("age", "state"): (1, 1),
    ("age", "sex", "state"): (1, 1),
}

GUIDE: Columns = {
    "residence": ["Urban"] * 4 + ["Rural"] + ["Urban"] * 5,
    "gender": ["F", "F", "F", "M", "F", "M", "F", "M", "F", "F"],
    "education": [
        "Sec inc", "Sec inc", "Prim inc", "Sec com", "Sec com",
        "Sec com", "Prim com", "Post-sec", "Sec inc", "Sec inc",
    ],
    "labour": [
        "Employed", "Employed", "Non-LF", "Employed", "Unemployed",
        "Employed", "Non-LF", "Unemployed", "Non-LF", "Non-LF",
    ],
    "weight": ["180", "180", "215", "76", "186", "76", "180", "215", "186", "76"],
}  # fmt: skip


@pytest.fixture(scope="module")
def adult(reference: Path) -> sievert.Explanation:
    path = reference / "data" / "adult" / "adult.csv"
    return sievert.explain(path, QI4, "occupation", fraction="0.1")


def test_distinction_and_separation_of_subsets(adult: sievert.Explanation) -> None:
    """A23: every subset of four columns of Adult."""
    assert len(adult.subsets) == 15
    for columns, (distinction, separation) in A23.items():
        numbers = adult.subset(*columns).reidentification
        assert numbers["distinction"] == pytest.approx(distinction, rel=1e-14)
        assert numbers["separation"] == pytest.approx(separation, rel=1e-14)


def test_five_records_by_hand() -> None:
    """A7: ARX's own example, calculated by hand."""
    table = {
        "age": ["20", "30", "40", "20", "40"],
        "sex": ["Female", "Female", "Female", "Male", "Male"],
        "state": ["CA", "CA", "TX", "NY", "CA"],
    }
    found = sievert.explain(table, list(table))
    for columns, (distinction, separation) in A7.items():
        numbers = found.subset(*columns).reidentification
        assert numbers["distinction"] == pytest.approx(distinction, rel=1e-15)
        assert numbers["separation"] == pytest.approx(separation, rel=1e-15)


def test_rates_of_a_secret(adult: sievert.Explanation) -> None:
    """A26: the discrimination rate of occupation, scikit-learn's homogeneity score."""
    for column, rate, bits in (
        ("marital-status", 0.02265725132885181, 0.076957517992),
        ("native-country", 0.012633705190828546, 0.042911586248),
        ("race", 0.005693252816831608, 0.019337676920),
        ("workclass", 0.04951704491940465, 0.168189372135),
    ):
        numbers = adult.subset(column).inference["occupation"]
        assert numbers["discrimination_rate"] == pytest.approx(rate, rel=1e-12)
        assert numbers["mutual_information"] == pytest.approx(bits, rel=1e-10)
    whole = adult.whole.inference["occupation"]
    assert whole["discrimination_rate"] == pytest.approx(0.11666520758675877, rel=1e-12)
    shares = adult.chapters["shapley"]["inference"]["occupation"]["mutual_information"]
    added = sum(part["value"] for part in shares["columns"].values())
    assert added == pytest.approx(0.3962645195393264, rel=1e-12)


def test_uniques_in_the_population(adult: sievert.Explanation) -> None:
    """A22, and the reference values of SNB and of the unique match."""
    held = adult.chapters["population"]
    assert held["size"] == 301_620
    for name, due, digits in (
        ("population_uniques_zayatz", 0.0027085090113913622, 1e-12),
        ("population_uniques_pitman", 0.0034242828, 1e-7),
        ("population_uniques_snb", 0.0028631588, 1e-7),
        ("population_uniques_dankar", 0.0034242828, 1e-7),
        ("unique_match", 0.1526390870, 1e-9),
    ):
        assert held[name]["value"] == pytest.approx(due, rel=digits), name
    assert held["unique_match"]["details"]["standard_error"] == pytest.approx(0.017794, abs=1e-6)
    at_risk = held["prosecutor"]["details"]["at_risk"]
    assert at_risk["0.05"] == pytest.approx(0.06886148133412903, rel=1e-14)
    assert at_risk["0.2"] == pytest.approx(0.02761753199389961, rel=1e-14)


def test_nine_columns(reference: Path) -> None:
    """A5 and A6: all nine columns of Adult, 511 subsets, at two sampling fractions."""
    path = reference / "data" / "adult" / "adult.csv"
    columns = path.read_text(encoding="utf-8").splitlines()[0].split(";")
    found = sievert.explain(path, columns, fraction="0.1")
    assert len(found.subsets) == 511
    numbers = found.whole.reidentification
    assert numbers["unique_count"] == 15_512 and numbers["classes"] == 19_502
    assert numbers["unique_records"] == pytest.approx(0.5142895033485844, rel=1e-15)
    held = found.chapters["population"]
    zayatz = held["population_uniques_zayatz"]["value"]
    assert zayatz == pytest.approx(0.3207402393466189, rel=1e-13)
    assert held["population_uniques_dankar"]["value"] == pytest.approx(0.27684993883, rel=1e-9)
    assert held["prosecutor"]["value"] == pytest.approx(0.6465751607983555, rel=1e-15)
    # the page on special uniques: 2 records by one value, no set of all nine
    assert found.chapters["suda"]["msus"]["1"] == 2
    assert found.chapters["suda"]["msus"]["9"] == 0


def test_weights_of_a_survey(reference: Path) -> None:
    """A9: expected re-identifications 0.97, global risk 12.08 %."""
    table = read_columns(reference / "data" / "sdcmicro" / "francdat.csv", ",")
    found = sievert.explain(table, ["Key1", "Key2", "Key3", "Key4"], weight="w")
    held = found.chapters["population"]
    assert round(held["expected_reidentifications"]["value"], 2) == 0.97
    assert round(held["global_risk"]["value"], 4) == 0.1208
    assert held["expected_reidentifications"]["details"]["highest"] == pytest.approx(
        0.40235948, abs=5e-9
    )


def test_records_of_the_practice_guide(tmp_path: Path) -> None:
    """A12: scores, weighted risks and global risk of ten records."""
    import duckdb

    out = tmp_path / "records.parquet"
    quasi = ["residence", "gender", "education", "labour"]
    found = sievert.explain(GUIDE, quasi, weight="weight", records=out)
    held = found.chapters["population"]
    assert round(held["global_risk"]["value"], 5) == 0.01582
    assert round(held["expected_reidentifications"]["value"], 4) == 0.1582
    rows = duckdb.execute(
        f"SELECT class_size, suda_score, individual_risk FROM read_parquet('{out}') ORDER BY record"
    ).fetchall()
    assert [n for n, _, _ in rows] == [2, 2, 1, 2, 1, 2, 1, 1, 2, 2]
    assert [score for _, score, _ in rows] == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert [round(r, 9) for _, _, r in rows] == [
        0.005424520, 0.005424520, 0.025096439, 0.012563425, 0.028247279, 0.012563425, 0.029010932,
        0.025096439, 0.007403834, 0.007403834,
    ]  # fmt: skip
    riskiest = found.chapters["records"]["riskiest"]
    assert [r["record"] for r in riskiest[:4]] == [5, 8, 7, 3]
    assert riskiest[0]["column_contributions"] == pytest.approx(
        {"residence": 0.5, "gender": 1 / 3, "education": 1 / 3, "labour": 1 / 3}
    )


def test_a_sample_of_a_population_table(reference: Path) -> None:
    """Truta's example: F = 1, 1, 2, 4, 5 and f = 1, 0, 1, 2, 5."""
    people = [c for c, n in zip("abcde", (1, 1, 2, 4, 5), strict=True) for _ in range(n)]
    sample = [c for c, n in zip("abcde", (1, 0, 1, 2, 5), strict=True) for _ in range(n)]
    held = sievert.explain({"q": sample}, "q", population={"q": people}).chapters["population"]
    assert held["truta_minimal"]["value"] == 1 / 13
    assert held["truta_maximal"]["value"] == 3 / 13
