"""Records with the mark of suppression in every quasi-identifier are counted apart."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

import sievert
from sievert.errors import InputError, UsageError

TABLE: dict[str, list[Any]] = {
    "a": ["*", "x", "x", "*", "y", "*"],
    "b": ["*", "1", "1", "2", "3", "*"],
    "s": ["u", "v", "w", "u", "v", "w"],
}


def without(table: dict[str, list[Any]], quasi: list[str], mark: str | None) -> dict[str, Any]:
    rows = len(table[quasi[0]])
    kept = [i for i in range(rows) if any(table[q][i] != mark for q in quasi)]
    return {c: [column[i] for i in kept] for c, column in table.items()}


def numbers(found: sievert.Assessment) -> dict[str, Any]:
    whole = found.to_dict()
    whole["reidentification"].pop("suppressed_records")
    return {k: whole[k] for k in ("reidentification", "inference")}


def test_left_out() -> None:
    found = sievert.assess(TABLE, ["a", "b"], "s")
    assert found.rows == 4
    assert found.table["suppressed"] == 2
    assert found.reidentification["suppressed_records"].value == 2
    assert found.reidentification["classes"].value == 3
    assert any("2 records suppressed" in w for w in found.warnings)
    assert "Suppressed 2 records, left out" in str(found)


@pytest.mark.parametrize("engine", ["coded", "packed"])
def test_secrets_of_few_suppressed_records(engine: str, tmp_path: Path) -> None:
    """Who is suppressed is one of a group, which may be smaller than any class or have one secret.

    Whoever knows a person's values sees that their class is not there.
    """
    many = 1 if engine == "coded" else 40_000
    for group, told in ((["u", "v"], True), (["u"] * 9, True), (["u", "v", "w"] * 3, False)):
        key, secret = ["x"] * 6 * many, ["u", "v", "w"] * 2 * many
        group = group * (many if len(group) > 5 else 1)
        path = tmp_path / f"{len(group)}{told}.csv"
        rows = [*zip(key, secret, strict=True), *(("*", s) for s in group)]
        path.write_text("a,s\n" + "".join(f"{a},{s}\n" for a, s in rows), encoding="utf-8")
        found = sievert.assess(path, "a", "s")
        assert any("suppressed, and the secrets stay" in c for c in found.cautions) is told
        assert not sievert.assess(path, "a").cautions
        assert not sievert.assess(path, "a", "s", keep_suppressed=True).cautions


def test_kept() -> None:
    found = sievert.assess(TABLE, ["a", "b"], "s", keep_suppressed=True)
    assert found.rows == 6
    assert found.reidentification["suppressed_records"].value == 2
    assert found.reidentification["classes"].value == 4


def test_everybody_suppressed() -> None:
    with pytest.raises(InputError, match="nothing is left"):
        sievert.assess({"a": ["*", "*"], "s": ["u", "v"]}, "a", "s")


def test_missing_is_not_suppressed_unless_named() -> None:
    table = {"a": [None, "x", "x"], "b": [None, "1", "1"], "s": ["u", "v", "w"]}
    assert sievert.suppressed_records(table, ["a", "b"]) == 0
    assert sievert.suppressed_records(table, ["a", "b"], suppressed=None) == 1
    assert sievert.classes(table, ["a", "b"], suppressed=None) == 1


def test_numbers_cannot_hold_the_mark() -> None:
    assert sievert.suppressed_records({"a": [1, 2], "b": ["*", "*"]}, ["a", "b"]) == 0


@pytest.mark.parametrize("number", range(20))
@pytest.mark.parametrize("small", [True, False])
def test_as_if_removed_by_hand(number: int, small: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not small:
        monkeypatch.setattr("sievert.session.SMALL", 0)  # the engine's own SQL
    random, mark = Random(f"suppressed {number}"), ["*", "no'ne", None][number % 3]
    quasi = [f"q{i}" for i in range(1 + number % 3)]
    rows = random.randint(4, 30)
    table: dict[str, list[Any]] = {
        q: [random.choice([mark, "x", "*", None]) for _ in range(rows)] for q in quasi
    }
    for q in quasi:
        table[q][:2] = [mark, "y"]
    table["s"] = [random.choice("uvw") for _ in range(rows)]
    found = sievert.assess(table, quasi, "s", suppressed=mark)
    by_hand = sievert.assess(without(table, quasi, mark), quasi, "s", suppressed="none of it")
    assert numbers(found) == numbers(by_hand)
    left = rows - by_hand.rows
    assert found.table["suppressed"] == left >= 1


POLICY = {
    "roles": {"quasi": ["a", "b"], "sensitive": ["s"], "rows_are_people": True},
    "limits": {"average_risk": {"max": 0.99}},
}


def test_policy() -> None:
    found = sievert.assess(TABLE, policy=POLICY).policy
    assert found is not None and found.met is True
    assert sievert.assess(TABLE, policy=POLICY, keep_suppressed=True).policy.reasons == ()
    limits = {**POLICY["limits"], "suppressed_records": {"max": 2}}
    assert sievert.assess(TABLE, policy={**POLICY, "limits": limits}).met is True
    assert found.suppressed_records == 2
    assert "left out as suppressed" in str(found.rests_on)
    limits = {**POLICY["limits"], "suppressed_records": {"max": 1}}
    assert not sievert.assess(TABLE, policy={**POLICY, "limits": limits}).passed


def test_beside_the_verdict_on_a_page() -> None:
    from sievert.report import builder, markdown

    beside = "Suppressed records, of which nothing was measured: 2."
    class_of_their_own = "Suppressed records, judged as a class of their own: 2."
    alone = sievert.assess(TABLE, policy=POLICY)
    original = {**TABLE, "a": list("pqrstu"), "b": list("123456")}
    both = sievert.compare(original, {"hidden": TABLE}, policy=POLICY, shuffles=0)
    breached = sievert.assess(TABLE, policy={**POLICY, "limits": {"k_anonymity": {"min": 3}}})
    for found, words in ((alone, beside), (both, beside), (breached, class_of_their_own)):
        assert words in markdown.render(builder.build([found]))
    assert "Suppressed records: 2 more" in markdown.render(builder.build([alone]))
    kept = sievert.assess(TABLE, policy=POLICY, keep_suppressed=True)
    page = markdown.render(builder.build([kept]))
    assert beside not in page and "Suppressed records: 2 of these" in page


def test_any_value_named_as_the_mark_does_not_pass() -> None:
    table = {"a": ["x", "z", "z"], "b": ["x", "1", "1"], "s": ["u", "v", "w"]}
    policy = {**POLICY, "limits": {"k_anonymity": {"min": 1}}}
    found = sievert.assess(table, policy=policy, suppressed="x").policy
    assert found is not None and found.met is None
    whats = [reason.what for reason in found.reasons]
    assert whats == ["records_left_out_by_mark", "mark_not_listed"]
    limited = {**policy, "limits": {**policy["limits"], "suppressed_records": {"max": 1}}}
    assert sievert.assess(table, policy=limited, suppressed="x").met is None
    listed = {**limited, "reading": {"suppressed": ["x"]}}
    assert sievert.assess(table, policy=listed, suppressed="x").passed


def test_compare_keeps_all_pairs() -> None:
    original = {**TABLE, "a": list("pqrstu"), "b": list("123456")}
    found = sievert.compare(original, [TABLE], ["a", "b"], "s", shuffles=0)
    release = found.releases[0]
    assert release.records.paired == 6
    assert release.assessment.reidentification["classes"].value == 3


def test_attack_and_explain() -> None:
    original = {**TABLE, "a": list("xxxxyy"), "b": list("111233")}
    found = sievert.attack(TABLE, quasi=["a", "b"], sensitive="s", original=original).to_dict()
    assert (found["table"]["rows"], found["table"]["suppressed"]) == (4, 2)
    assert found["attacks"]["identity"]["white_box"]["paired"] == 4
    whole = sievert.explain(TABLE, ["a", "b"], "s").whole
    assert whole.reidentification["classes"] == 3


def test_attack_by_order_is_attack_by_key() -> None:
    """Who is suppressed is linked to nobody, in whichever way the tables are paired."""
    rows = {"a": ["*", "3", "3", "*", "5", "*"], "b": ["*", "1", "1", "2", "3", "*"]}
    release = {**rows, "s": TABLE["s"], "id": list("123456")}
    original = {**release, "a": list("333354"), "b": list("111233")}
    both = [
        sievert.attack(release, quasi=["a", "b"], sensitive="s", original=original, key=key)
        for key in (None, "id")
    ]
    by_order, by_key = (found.to_dict()["attacks"]["identity"] for found in both)
    for attack in ("white_box", "linkage"):
        assert by_order[attack] == by_key[attack]
    assert by_order["linkage"]["linkage"]["originals"] == 6
    assert by_order["linkage"]["linkage"]["records"] == 4
    without_key = {c: column for c, column in release.items() if c != "id"}
    found = sievert.attack(
        without_key, quasi=["a", "b"], sensitive="s", original=original, key="id", register=original
    ).to_dict()["attacks"]["identity"]
    assert found["white_box"]["paired"] == 4


def test_attack_by_order_needs_every_row() -> None:
    original = without(TABLE, ["a", "b"], "*")
    with pytest.raises(UsageError, match="4 records and the release 6"):
        sievert.attack(TABLE, quasi=["a", "b"], sensitive="s", original=original)


def test_rates_by_value() -> None:
    found = sievert.discrimination_rate_by_value(TABLE, ["a", "b"], "s")
    assert found == sievert.discrimination_rate_by_value(
        without(TABLE, ["a", "b"], "*"), ["a", "b"], "s"
    )
    kept = sievert.discrimination_rate_by_value(TABLE, ["a", "b"], "s", keep_suppressed=True)
    assert len(found) == 3 and len(kept) == 4


def test_every_record_is_randomised(tmp_path: Path) -> None:
    table = {c: column * 20 for c, column in TABLE.items()}
    path = tmp_path / "release.csv"
    found = sievert.randomise(table, ["a", "b"], "s", at=0.25, out=path)
    assert any(w.startswith("40 records suppressed") and "any other" in w for w in found.warnings)
    assert (found.table["rows"], found.table["suppressed"]) == (120, 40)
    assert len(path.read_text().splitlines()) == 121
    plain = sievert.randomise(table, ["a", "b"], "s", at=0.25, suppressed="none of it")
    assert plain.points[0].risk == found.points[0].risk
    assert not any("suppress" in w for w in plain.warnings)


def test_every_record_is_looked_for() -> None:
    table = {**TABLE, "s": [1, 2, 3, 1, 2, 3]}
    options: dict[str, Any] = {"method": "release", "release": table}
    found = sievert.compromise(table, ["a", "b"], "s", **options)
    assert found.table["rows"] == 6
    assert sum("suppressed (" in w for w in found.warnings) == 2
    plain = sievert.compromise(table, ["a", "b"], "s", **options, suppressed="none of it")
    assert {**found.to_dict()["curves"]} == {**plain.to_dict()["curves"]}


@pytest.mark.parametrize("small", [True, False])
def test_single_marks_are_values(small: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not small:
        monkeypatch.setattr("sievert.session.SMALL", 0)
    gone = sievert.assess({"a": ["x", "x", "*"], "b": ["*"] * 3, "s": list("uvw")}, ["a", "b"], "s")
    assert any("every record has the mark of suppression in some" in w for w in gone.warnings)
    remark = "1 record with the mark of suppression in some quasi-identifiers only"
    assert any(remark in w for w in sievert.assess(TABLE, ["a", "b"], "s").warnings)
    numbers = {**TABLE, "b": [1, 1, 1, 2, 3, 4]}  # a column that cannot hold the mark
    found = sievert.assess(numbers, ["a", "b"], "s")
    assert any("3 records with the mark" in w for w in found.warnings)
    assert found.rows == 6
    found = sievert.assess(TABLE, ["a", "b"], "s", suppressed=None)
    assert not any("mark" in w for w in found.warnings)


def test_record_file(tmp_path: Path) -> None:
    path = tmp_path / "records.csv"
    sievert.assess(TABLE, ["a", "b"], "s", records=path)
    numbers = [line.split(",")[0] for line in path.read_text().splitlines()[1:]]
    assert numbers == ["2", "3", "4", "5"]


def test_arx_classes(reference: Path) -> None:
    """An output of ARX has 160 classes by these columns: its suppressed records are none."""
    path = reference / "data" / "pairs" / "arx_adult" / "adult_qi8_k5_s5.csv.gz"
    quasi = ["age", "marital-status", "education", "native-country", "workclass", "salary-class"]
    found = sievert.assess(path, quasi, delimiter=";")
    assert found.rows == 28816
    assert found.reidentification["suppressed_records"].value == 1346
    assert found.reidentification["classes"].value == 160
    assert sievert.classes(path, quasi, delimiter=";", keep_suppressed=True) == 161
