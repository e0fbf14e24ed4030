"""Results: frozen, readable, complete; degenerate tables have defined answers."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

import sievert
from sievert.errors import InvariantError, UsageError
from sievert.report import builder, terminal

TABLE = {"zip": ["1", "1", "2"], "s": ["<b>flu</b>", "hiv", "flu"], "age": [3, 4, 5]}


def test_results_are_frozen_and_readable() -> None:
    found = sievert.assess(TABLE, ["zip"], ["s"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.rows_ = 3  # type: ignore[attr-defined]
    assert "k_anonymity" in repr(found)
    html = found._repr_html_()
    assert html.startswith("<div>") and "<svg" in html and "Smallest group" in html
    frame = found.to_frame()
    assert list(frame.columns)[:4] == ["risk", "sensitive", "measure", "value"]
    assert len(frame) == len(found.reidentification) + len(found.inference["s"])
    assert found.timings and found.met is None


def test_column_names_are_escaped_in_html() -> None:
    found = sievert.assess({"q": ["1"], "<script>x</script>": ["a"]}, "q", "<script>x</script>")
    assert "<script>" not in found._repr_html_()


def test_one_record() -> None:
    found = sievert.assess({"q": ["1"], "s": ["x"]}, "q", "s").to_dict()
    record, secret = found["reidentification"], found["inference"]["s"]
    assert record["k_anonymity"]["value"] == 1 and record["entropy"]["value"] == 0.0
    for name in ("discrimination_rate", "itpr", "normalized_conditional_entropy"):
        assert record[name]["value"] is None and record[name]["reason"] == "H(X) = 0"
        assert secret[name]["value"] is None
    assert record["mutual_information"]["value"] == 0.0
    assert record["separation"]["reason"] == "one record"
    assert record["reciprocal_entropy"]["reason"] == "unbounded"


def test_constant_secret() -> None:
    values = sievert.assess({"q": ["1", "2"], "s": ["x", "x"]}, "q", "s").inference["s"]
    due: dict[str, Any] = {
        "mutual_information": 0.0, "conditional_privacy": 0.0, "maximum_information_leakage": 0.0,
        "entropy_l_diversity": 1.0, "l_diversity": 1, "t_closeness": 0.0, "beta_likeness": 0.0,
        "delta_disclosure": 0.0, "enhanced_beta_likeness": 0.0, "max_confidence": 1.0,
    }  # fmt: skip
    assert {name: values[name].value for name in due} == due
    said = repr(sievert.assess({"q": ["1", "2"], "s": ["x", "x"]}, "q", "s"))
    assert "it is known without any column" in " ".join(said.split())


def test_all_missing_columns() -> None:
    table = {"q": [None, None, None], "s": [None, None, None]}
    found = sievert.assess(table, "q", "s")
    assert found.reidentification["k_anonymity"].value == 3
    assert found.reidentification["k_anonymity"].details["wildcard"] == 3
    assert found.inference["s"]["l_diversity"].value == 1
    assert found.inference["s"]["l_diversity"].details["without_missing"] is None
    typed = sievert.assess({"q": ["1"], "s": [None]}, "q", "s", orders={"s": ["a"]})
    assert typed.inference["s"]["t_closeness_ordered"].reason is not None


def test_secret_that_is_also_known() -> None:
    found = sievert.assess(TABLE, ["zip", "s"], ["s"])
    assert found.inference["s"]["discrimination_rate"].value == 1.0
    assert any("knowing it is learning it" in w for w in found.warnings)


def test_a_class_of_missing_secrets_is_not_called_known() -> None:
    table = {"g": ["a"] * 3 + ["b"] * 3, "s": [None, None, None, "x", "y", "z"]}
    text = everything(sievert.assess(table, "g", "s"))
    assert "right for 33.3 %" in text and "there is known." not in text
    table["s"] = ["x", "x", None, "x", "y", "z"]
    text = everything(sievert.assess(table, "g", "s"))
    assert "everybody whose value is known has the same value" in text


def everything(found: Any) -> str:
    lines = terminal.render(builder.screen(found), everything=True)
    return " ".join(terminal.as_text(lines).split())


def test_a_part_of_the_measures_is_shown_as_a_table() -> None:
    for ids in (["k_anonymity"], ["itpr", "max_confidence"], ["l_diversity"],
                ["k_anonymity", "unique_records", "records_below", "itpr"]):  # fmt: skip
        text = repr(sievert.assess(TABLE, "zip", "s", measures=ids))
        assert all(name in text for name in ids)


def test_a_breach_is_never_shown_as_equality() -> None:
    table = {"q": ["a"] * 5, "s": ["x"] * 4 + ["y"]}
    limits = {"limits": {"inference": {"s": {"max_confidence": {"max": 0.79999}}}}}
    text = repr(sievert.assess(table, "q", "s", policy=limits))
    assert re.search(r"✗ .* 80 % +at most 79.999 %", text)


def test_a_named_value_and_missing_secrets() -> None:
    table = {"q": ["a", "a", "b"], "s": ["hiv", None, None]}
    limits = {"limits": {"inference": {"s": {"alpha_k": {"max": 0.6}}}},
              "parameters": {"alpha_k": {"value": {"s": "hiv"}}}}  # fmt: skip
    found = sievert.assess(table, "q", "s", policy=limits)
    value = found.inference["s"]["alpha_k"]
    assert value.value == 0.5 and value.details["without_missing"] == 1.0
    assert found.met is False


def test_an_all_missing_secret_with_a_hierarchy() -> None:
    table = {"q": ["a", "b"], "s": [None, None]}
    found = sievert.assess(table, "q", "s", hierarchies={"s": "prefix"})
    assert found.inference["s"]["t_closeness_hierarchical"].value == 0.0


def test_satisfiable_is_decided_by_integers() -> None:
    from helpers.contingency import secret_counts

    from sievert.measures import BY_ID, MeasureResult
    from sievert.measures.target import SecretTarget

    n = 4 * 10**6
    target = SecretTarget(secret_counts([[n // 2, 0], [n // 2 - 1, 1]]))
    found = BY_ID["enhanced_beta_likeness"].compute(target, {})
    assert isinstance(found, MeasureResult) and found.details["satisfiable"] is False


def test_engine_messages_stay_out_of_tracebacks(tmp_path: Path) -> None:
    import traceback

    (tmp_path / "t.csv").write_text("a,b\n1,2\nsecret-cell,2,3\n")
    with pytest.raises(sievert.SievertError) as error:
        sievert.assess(tmp_path / "t.csv", "a")
    assert "secret-cell" not in "".join(traceback.format_exception(error.value))


def test_options_are_checked() -> None:
    with pytest.raises(TypeError, match="'type'"):
        sievert.assess(TABLE, "zip", type={"age": "int"})
    assert sievert.l_diversity(TABLE, "zip", ["s"]) == 1
    with pytest.raises(UsageError, match="one secret at a time"):
        sievert.l_diversity(TABLE, "zip", ["s", "age"])


def test_functions_need_the_right_target() -> None:
    with pytest.raises(UsageError, match="about a secret"):
        sievert.l_diversity(TABLE, "zip")
    with pytest.raises(UsageError, match="about finding a record"):
        sievert.k_anonymity(TABLE, "zip", "s")
    with pytest.raises(UsageError, match="needs an order"):
        sievert.t_closeness_ordered(TABLE, "zip", "s")
    for wrong in (0, 2.5, True, "2"):
        with pytest.raises(UsageError, match=r"recursive_c\.l"):
            sievert.recursive_c(TABLE, "zip", "s", l=wrong)
    with pytest.raises(UsageError, match="not known here"):
        sievert.assess(TABLE, "zip", parameters={"recursive_c": {"L": 3}})
    with pytest.raises(UsageError, match="not known here"):
        sievert.assess(TABLE, "zip", parameters={"k_anonymity": {"k": 3}})
    with pytest.raises(UsageError, match="names a value twice"):
        sievert.t_closeness_ordered(TABLE, "zip", "s", order=["<b>flu</b>", "hiv", "flu", "hiv"])
    assert sievert.t_closeness_ordered(TABLE, "zip", ["age"]) == 0.5
    assert sievert.discrimination_rate_by_value(TABLE, "zip", ["s"])[("2",)] == 1.0
    with pytest.raises(UsageError, match="'types'"):
        sievert.discrimination_rate_by_value(TABLE, "zip", type={})
    with pytest.raises(UsageError, match="'itpr'"):
        sievert.assess(TABLE, "zip", measures=["itpx"])
    assert sievert.t_closeness_ordered(TABLE, "zip", "age") == 0.5
    assert sievert.records_below(TABLE, "zip", k=2) == 1
    assert sievert.alpha_k(TABLE, "zip", "s", value="hiv") == 0.5
    assert sievert.delta_disclosure(TABLE, "zip", "s") is None


def test_values_outside_their_range_are_a_defect() -> None:
    from sievert.measurement.table_measures import clamp_to_bounds
    from sievert.measures import BY_ID

    rate = BY_ID["discrimination_rate"]
    assert clamp_to_bounds(rate, 1.0 + 4e-16) == 1.0
    assert str(clamp_to_bounds(rate, -0.0)) == "0.0"
    with pytest.raises(InvariantError):
        clamp_to_bounds(rate, 1.0 + 1e-12)
    with pytest.raises(InvariantError):
        clamp_to_bounds(rate, float("nan"))


def test_a_histogram_that_loses_records_is_a_defect() -> None:
    from sievert.counts.answers import Sizes

    with pytest.raises(InvariantError, match="covers 3 records where 4"):
        Sizes.from_arrays([1, 2], [1, 1]).check(4)


def test_many_patterns_of_missing_keys() -> None:
    """Beyond 64 patterns the wildcard k is not computed, and the output says so."""
    columns = {f"q{i}": [None if n >> i & 1 else "v" for n in range(128)] for i in range(7)}
    found = sievert.assess(columns, list(columns))
    assert found.reidentification["k_anonymity"].details["wildcard"] is None
    assert any("it would take too long" in w for w in found.warnings)
    assert "k_anonymity" in repr(found)


def test_wide_counts_use_wide_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 2^31 records on the engine packs 128-bit integers; the numbers are the same."""
    from sievert.counts import cells

    def found() -> dict[str, Any]:
        return sievert.assess(
            TABLE,
            "zip",
            ["s", "age"],
            hierarchies={"s": "prefix"},
            partitions={"s": {"a": ["flu"]}},
        ).to_dict()

    before = found()
    monkeypatch.setattr(cells, "WIDE", 0)
    assert found() == before


def test_a_secret_with_an_order_has_both_kinds_of_t() -> None:
    table = {"q": list("aabb") * 5, "pay": [*range(20)], "ill": list("xyxz") * 5}
    lines = repr(sievert.assess(table, "q", ["pay", "ill"])).splitlines()
    assert sum("t-closeness, ordered" in line for line in lines) == 1
    assert sum("t_closeness " in f"{line} " for line in lines) == 2


def test_spans_of_sizes_are_cut_at_the_k_of_a_policy() -> None:
    """Classes of 1, 7, 11 and 12: whoever looks at them under k = 11 sees who is below it."""
    table = {"q": [*"a", *"b" * 7, *"c" * 11, *"d" * 12]}
    policy = {"roles": {"rows_are_people": True}, "limits": {"k_anonymity": {"min": 11}}}
    for given, begins in ((None, [1, 2, 3, 5, 10, 20]), (policy, [1, 2, 3, 5, 10, 11, 20])):
        spans = sievert.assess(table, "q", policy=given).table["class_sizes"]
        assert [s["least"] for s in spans][: len(begins)] == begins
        assert sum(s["records"] for s in spans) == 31
    assert sum(s["records"] for s in spans if s["least"] < 11) == 8
    huge = {**policy, "limits": {"k_anonymity": {"min": 1e300}}}
    assert sievert.assess(table, "q", policy=huge).met is False
