"""The checker of releases finds what was broken on purpose, and nothing in an honest release."""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from helpers.randomorder import ranks_of, score_of_neighbours, score_of_place, score_of_runs
from helpers.releasechecker import (
    Key,
    Limit,
    Value,
    Written,
    base_of,
    gains_are_small,
    group_rows,
    inference,
    judge,
    order_scores,
    problems,
    reidentification,
)

ROWS = 300
POLICY: dict[str, Any] = {
    "roles": {
        "quasi": ["age", "city"],
        "sensitive": ["ill"],
        "identifier": ["name"],
        "ignored": {"batch": "a technical number"},
    },
    "protect": {"suppress": 0.1},
    "limits": {
        "k_anonymity": {"min": 4},
        "reidentification": {"average_risk": {"max": 0.2}},
        "inference": {"ill": {"l_diversity": {"min": 2}, "max_confidence": {"max": 0.8}}},
    },
}


def band(age: str) -> str:
    low = int(age) // 20 * 20
    return f"[{low}, {low + 20})"


def honest_release(seed: int = 1, suppressed: int = 12) -> Written:
    """Make a release by hand: ages in bands, the last rows suppressed, in a random order."""
    rng = random.Random(seed)
    original: list[dict[str, Value]] = [
        {
            "name": f"person {number}",
            "age": str(rng.randint(20, 79)),
            "city": rng.choice(["Bonn", "Ulm"]),
            "ill": rng.choice(["none", "flu", "cold", "hiv"]),
            "batch": str(number // 10),
        }
        for number in range(ROWS)
    ]
    original.sort(key=lambda row: str(row["age"]))
    origins = list(range(ROWS))
    rng.shuffle(origins)
    hidden = set(rng.sample(origins, suppressed))
    rows = []
    for origin in origins:
        row = original[origin]
        labels = {"age": band(str(row["age"])), "city": row["city"]}
        if origin in hidden:
            labels = {"age": "*", "city": "*"}
        rows.append({**labels, "ill": row["ill"]})
    return Written(
        how="full",
        policy=POLICY,
        columns=["age", "city", "ill"],
        rows=rows,
        original=original,
        origins=origins,
    )


def changed(written: Written, number: int, **cells: Value) -> Written:
    """Change cells of one released row."""
    rows = [dict(row) for row in written.rows]
    rows[number].update(cells)
    return replace(written, rows=rows)


def in_order(written: Written, order: Sequence[int]) -> Written:
    return replace(
        written,
        rows=[written.rows[n] for n in order],
        origins=[written.origins[n] for n in order],
    )


def without(written: Written, numbers: set[int]) -> Written:
    return in_order(written, [n for n in range(len(written.rows)) if n not in numbers])


def hidden_rows(written: Written) -> list[int]:
    return [n for n, row in enumerate(written.rows) if row["age"] == "*"]


def shown_rows(written: Written, city: str) -> list[int]:
    """List the rows of one class."""
    return [
        n for n, row in enumerate(written.rows) if (row["age"], row["city"]) == ("[20, 40)", city)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_an_honest_release_has_no_problem(seed: int) -> None:
    assert problems(honest_release(seed)) == []
    assert problems(honest_release(seed, suppressed=0)) == []


def move_a_row(written: Written) -> Written:
    age = "[60, 80)"
    number = next(n for n in shown_rows(written, "Bonn") if written.rows[n]["age"] != age)
    return changed(written, number, age=age)


def leave_three_of_a_class(written: Written) -> Written:
    for number in shown_rows(written, "Bonn")[3:]:
        written = changed(written, number, city="Ulm")
    return written


def change_a_secret(written: Written) -> Written:
    return changed(written, 7, ill="other")


def exchange_secrets(written: Written) -> Written:
    values = Counter(row["ill"] for row in written.rows)
    first, second = sorted(values, key=str)[:2]
    one = next(n for n, row in enumerate(written.rows) if row["ill"] == first)
    other = next(n for n, row in enumerate(written.rows) if row["ill"] == second)
    return changed(changed(written, one, ill=second), other, ill=first)


def give_a_class_one_secret(written: Written) -> Written:
    original = [dict(row) for row in written.original]
    for number in shown_rows(written, "Ulm"):
        written = changed(written, number, ill="hiv")
        original[written.origins[number]]["ill"] = "hiv"
    return replace(written, original=original)


def spell_a_secret_otherwise(written: Written) -> Written:
    """Write a value with a zero-width space, in the original too."""
    original = [dict(row) for row in written.original]
    number = next(n for n, row in enumerate(written.rows) if row["ill"] == "flu")
    original[written.origins[number]]["ill"] = "Flu\u200b"
    return changed(replace(written, original=original), number, ill="Flu\u200b")


def keep_the_order(written: Written) -> Written:
    return in_order(written, sorted(range(ROWS), key=lambda n: written.origins[n]))


def sort_by_label(written: Written) -> Written:
    return in_order(written, sorted(range(ROWS), key=lambda n: str(written.rows[n]["age"])))


def keep_runs_of_the_order(written: Written) -> Written:
    """Shuffle blocks of ten original rows, and nothing within them."""
    blocks = list(range(ROWS // 10))
    random.Random(3).shuffle(blocks)
    place = {origin: n for n, origin in enumerate(written.origins)}
    return in_order(written, [place[10 * b + n] for b in blocks for n in range(10)])


def show_suppressed_rows(written: Written) -> Written:
    for number in hidden_rows(written):
        age = written.original[written.origins[number]]["age"]
        written = changed(written, number, age=age, city="Ulm")
    return written


def leave_two_suppressed(written: Written) -> Written:
    return without(written, set(hidden_rows(written)[2:]))


def suppress_one_illness(written: Written) -> Written:
    shown = [n for n, row in enumerate(written.rows) if row["ill"] == "hiv"]
    others = {n for n in hidden_rows(written) if written.rows[n]["ill"] != "hiv"}
    for number in shown[:15]:
        written = changed(written, number, age="*", city="*")
    return without(written, others)


def suppress_too_many(written: Written) -> Written:
    for number in range(40):
        written = changed(written, number, age="*", city="*")
    return written


def drop_too_many(written: Written) -> Written:
    return without(written, set(range(40)))


def add_the_name(written: Written) -> Written:
    rows = [
        {**row, "name": written.original[origin]["name"]}
        for row, origin in zip(written.rows, written.origins, strict=True)
    ]
    return replace(written, rows=rows, columns=[*written.columns, "name"])


def lose_a_column(written: Written) -> Written:
    rows = [{k: v for k, v in row.items() if k != "ill"} for row in written.rows]
    policy = {**POLICY, "roles": {**POLICY["roles"], "sensitive": []}}
    return replace(written, policy=policy, rows=rows, columns=["age"])


def pair_with_others(written: Written) -> Written:
    origins = list(written.origins)
    return replace(written, origins=[*origins[1:], origins[0]])


def pair_twice(written: Written) -> Written:
    return replace(written, origins=[*written.origins[:-1], written.origins[0]])


def count_one_person_often(written: Written) -> Written:
    """Let all rows of a class, but one, be of one person."""
    original = [{**row, "patient": row["name"]} for row in written.original]
    for number in shown_rows(written, "Bonn")[1:]:
        original[written.origins[number]]["patient"] = "the same"
    roles = {**POLICY["roles"], "identifier": ["name"], "person": "patient"}
    return replace(written, original=original, policy={**POLICY, "roles": roles})


BROKEN: list[tuple[Callable[[Written], Written], str]] = [
    (move_a_row, "labels of age do not stand for the original value"),
    (leave_three_of_a_class, "k_anonymity of the release (reidentification) is 3"),
    (change_a_secret, "1 rows have other secrets"),
    (exchange_secrets, "2 rows have other secrets"),
    (give_a_class_one_secret, "l_diversity of the release (inference.ill) is 1"),
    (spell_a_secret_otherwise, "values of ill differ in their spelling only"),
    (keep_the_order, "the order of the rows tells original row"),
    (sort_by_label, "the order of the rows tells released age"),
    (keep_runs_of_the_order, "the order of the rows tells original age"),
    (show_suppressed_rows, "k_anonymity of the release"),
    (leave_two_suppressed, "k_anonymity of the suppressed rows (reidentification) is 2"),
    (suppress_one_illness, "l_diversity of the suppressed rows (inference.ill) is 1"),
    (suppress_too_many, "rows dropped and"),
    (drop_too_many, "40 rows dropped and"),
    (add_the_name, "column name must not be there"),
    (lose_a_column, "column city is missing"),
    (pair_with_others, "rows have other secrets"),
    (pair_twice, "two rows are paired with one original row"),
    (count_one_person_often, "k_anonymity of the release (reidentification) is 2"),
]


@pytest.mark.parametrize(("breaks", "expected"), BROKEN, ids=lambda x: getattr(x, "__name__", ""))
def test_what_is_broken_is_found(breaks: Callable[[Written], Written], expected: str) -> None:
    found = problems(breaks(honest_release()))
    assert any(expected in problem for problem in found), found


def test_a_column_that_outsiders_know_counts_as_one_more_quasi_identifier() -> None:
    written = honest_release()
    rows = [
        {**row, "batch": written.original[origin]["batch"]}
        for row, origin in zip(written.rows, written.origins, strict=True)
    ]
    columns = [*written.columns, "batch"]
    for reason, expected in (("joined on", 1), ({"outsiders_cannot_know": True}, None)):
        roles = {**POLICY["roles"], "ignored": {}, "kept": {"batch": reason}}
        policy = {**POLICY, "roles": roles}
        found = judge(replace(written, policy=policy, rows=rows, columns=columns))
        breached = [judged.number for judged in found if not judged.met]
        assert breached == ([] if expected is None else breached)
        assert expected is None or expected in breached


def groups_of(table: Mapping[str, Sequence[Any]], quasi: str, secret: str | None = None) -> Any:
    keys: list[Key] = [(value,) for value in table[quasi]]
    secrets = table[secret] if secret is not None else [None] * len(keys)
    return group_rows(keys, secrets, range(len(keys)))


def numbers_of(table: Mapping[str, Sequence[Any]], quasi: str, secret: str, **stated: Any) -> Any:
    groups = groups_of(table, quasi, secret)
    stated = {"order": None, "l": 2, **stated}
    return inference(groups, base_of(groups, **stated))


EIGHT: Mapping[str, Sequence[Any]] = {
    "age": ["20s", "20s", "20s", "20s", "30s", "30s", "40s", "40s"],
    "ill": ["flu", "flu", "asthma", "hiv", "flu", "asthma", "flu", "hiv"],
}


def test_finding_a_person_in_the_eight_records_of_the_documentation() -> None:
    numbers = reidentification(groups_of(EIGHT, "age"))
    expected = {
        "k_anonymity": 2, "highest_risk": 0.5, "average_risk": 0.375, "unique_records": 0,
        "records_below": 8, "mutual_information": 1.5, "itpr": 0.75,
        "bayes_vulnerability_posterior": 0.375, "average_class_risk": 1.25 / 3,
    }  # fmt: skip
    assert {name: float(numbers[name] or 0) for name in expected} == pytest.approx(expected)


def test_learning_a_secret_of_the_eight_records_of_the_documentation() -> None:
    numbers = numbers_of(EIGHT, "age", "ill")
    expected = {
        "l_diversity": 2, "entropy_l": 2, "recursive_c": 1, "max_confidence": 0.5,
        "t_closeness": 0.25, "beta_likeness": 1, "enhanced_beta_likeness": 1,
        "confidence_gain": 1 / 3, "guess_gain": 0, "mutual_information": 0.25, "itpr": 0.5,
        "bayes_vulnerability_posterior": 0.5, "discrimination_rate": 0.25 / 1.5,
    }  # fmt: skip
    assert {name: float(numbers[name] or 0) for name in expected} == pytest.approx(expected)
    assert numbers["delta_disclosure"] is None


def test_other_printed_numbers() -> None:
    pay = {"class": list("aaabbbccc"), "salary": list("345681179a")}
    pay["salary"] = ["3", "4", "5", "6", "8", "11", "7", "9", "10"]
    order = sorted(pay["salary"], key=int)
    assert numbers_of(pay, "class", "salary", order=order)["t_closeness_ordered"] == 0.375
    even = {"class": list("aaabbb"), "secret": list("xxyxyy")}
    numbers = numbers_of(even, "class", "secret")
    assert numbers["delta_disclosure"] == pytest.approx(0.405465108108)
    one = {"zip": ["1"] * 7, "ill": ["flu"] * 4 + ["asthma"] * 2 + ["hiv"]}
    assert numbers_of(one, "zip", "ill", l=3)["recursive_c"] == 4
    ten = {"class": ["a"] + ["b"] * 9, "secret": list("xxyzzzzzzz")}
    assert numbers_of(ten, "class", "secret")["enhanced_beta_likeness"] == pytest.approx(
        2.302585093
    )


def test_a_limit_on_enhanced_beta_likeness_bounds_every_value_by_itself() -> None:
    ten = {"class": ["a"] + ["b"] * 9, "secret": list("xxyzzzzzzz")}
    groups = groups_of(ten, "class", "secret")
    base = base_of(groups, order=None, l=2)
    assert not gains_are_small(groups, base, 10)
    even = {"class": list("aaabbb"), "secret": list("xxyxyy")}
    groups = groups_of(even, "class", "secret")
    base = base_of(groups, order=None, l=2)
    assert gains_are_small(groups, base, 0.34)
    assert not gains_are_small(groups, base, 0.33)


def test_only_a_limit_on_recursive_c_is_strict() -> None:
    groups = groups_of(EIGHT, "age", "ill")
    numbers = inference(groups, base_of(groups, order=None, l=2))
    assert not Limit(measure="recursive_c", least=None, most=1).is_met(numbers["recursive_c"])
    assert Limit(measure="recursive_c", least=None, most=1.01).is_met(numbers["recursive_c"])
    assert Limit(measure="t_closeness", least=None, most=0.25).is_met(numbers["t_closeness"])


@pytest.mark.parametrize("values", [list("ab") * 40, list("aaabbc") * 15, list(range(60)) * 2])
def test_moments_of_the_order_are_those_of_400_random_orders(values: list[Any]) -> None:
    rng = random.Random(5)
    for score in (score_of_runs, score_of_neighbours, score_of_place):
        scores = []
        for _ in range(400):
            rng.shuffle(values)
            scores.append(score(values if score is score_of_runs else ranks_of(values)))
        if scores[0] == scores[0]:
            assert abs(statistics.mean(scores)) < 0.2
            assert 0.85 < statistics.stdev(scores) < 1.15


def test_a_small_release_is_not_judged_by_its_order() -> None:
    written = keep_the_order(honest_release())
    assert order_scores(without(written, set(range(20, ROWS)))) == {}
