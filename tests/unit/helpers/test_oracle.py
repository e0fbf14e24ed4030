"""The oracle against printed numbers and hand calculations, so that it can be trusted itself."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from helpers import oracle

Rows = list[dict[str, Any]]


def table(**columns: list[Any]) -> Rows:
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def sized(*sizes: int) -> Rows:
    """A table with one quasi-identifier whose classes have these sizes."""
    return [{"q": q} for q, size in enumerate(sizes) for _ in range(size)]


def near(result: oracle.Result, expected: float, tolerance: float = 1e-11) -> bool:
    assert not isinstance(result, str | dict), result
    number = oracle._mpf(result) if isinstance(result, int | Fraction) else result
    return bool(abs(number - expected) <= tolerance)


# ITPR paper, table 3.
CASES = table(
    id=["#1", "#2", "#3", "#4", "#5", "#6", "#7", "#8"],
    age1=[30, 62, 37, 21, 19, 47, 71, 73],
    age2=[30] * 8,
    age3=[30, 30, 30, 47, 30, 30, 30, 30],
    age4=[30, 30, 30, 47, 30, 47, 30, 30],
    age5=[30, 30, 30, 30, 47, 47, 47, 47],
    disease1=[
        "diabetes",
        "epilepsy",
        "asthma",
        "allergies",
        "depression",
        "HIV",
        "heart",
        "cancer",
    ],
    disease2=[
        "diabetes",
        "diabetes",
        "epilepsy",
        "depression",
        "HIV",
        "heart",
        "cancer",
        "allergies",
    ],
    disease3=["diabetes"] * 5 + ["HIV", "asthma", "allergies"],
    zip1=["35000"] * 3 + ["35510"] * 5,
    zip2=["35000"] * 3 + ["35510"] * 3 + ["35200"] * 2,
)

# The nine records of the t-closeness paper, 3-anonymous.
SALARIES = table(
    zip=["476**"] * 3 + ["479**"] * 3 + ["476**"] * 3,
    age=["[20,30["] * 3 + [">=40"] * 3 + ["[30,40["] * 3,
    salary=[3, 4, 5, 6, 11, 8, 7, 9, 10],
    disease=[
        "gastric ulcer",
        "gastritis",
        "stomach cancer",
        "gastritis",
        "flu",
        "bronchitis",
        "bronchitis",
        "pneumonia",
        "stomach cancer",
    ],
)
STOMACH = ["stomach disease", "digestive system disease", "any"]
LUNG = ["respiratory infection", "vascular lung disease", "any"]
DISEASES = {
    "gastric ulcer": STOMACH,
    "gastritis": STOMACH,
    "stomach cancer": STOMACH,
    "flu": LUNG,
    "bronchitis": LUNG,
    "pneumonia": LUNG,
}

INFORMATION = [
    "discrimination_rate",
    "mutual_information",
    "conditional_privacy",
    "maximum_information_leakage",
    "entropy_l_diversity",
]


@pytest.mark.parametrize(
    ("given", "target", "expected"),
    [
        ("age1", None, [1, 3, 0.875, 3, 1]),
        ("age2", None, [0, 0, 0, 0, 0.125]),
        ("age3", None, [0.181188147733, 0.5435644432, 0.313926257897, 3, 1]),
        ("age4", None, [0.270426041486, 0.811278124459, 0.430123235761, 2.75, 0.5]),
        ("age5", None, [0.333333333333, 1, 0.5, 2, 0.25]),
        ("age5", "disease1", [0.333333333333, 1, 0.5, 2, 0.25]),
        ("age5", "disease2", [0.363636363636, 1, 0.5, 2, 0.353553390593]),
        ("age5", "disease3", [0.354336733854, 0.548794940695, 0.31640911787, 1.548794940695, 1]),
    ],
)
def test_itpr_paper_table_4(given: str, target: str | None, expected: list[float]) -> None:
    identity = target is None
    found = (
        oracle.reidentification(CASES, [given])
        if identity
        else oracle.inference(CASES, [given], str(target))
    )
    for name, value in zip(INFORMATION, expected, strict=True):
        assert near(found[name], value, 1e-11), name


@pytest.mark.parametrize(
    ("given", "target", "expected"),
    [
        (["age1"], "id", 1),
        (["age2"], "id", 0),
        (["age3"], "id", 1),
        (["age4"], "id", 0.833333333333),
        (["age5"], "id", 0.333333333333),
        (["age2", "zip1"], "id", 0.60375937482),
        (["age2", "zip2"], "id", 0.75),
        (["age5"], "disease1", 0.333333333333),
        (["age5"], "disease2", 0.454545454545),
        (["age5"], "disease3", 1),
    ],
)
def test_itpr_paper_table_5(given: list[str], target: str, expected: float) -> None:
    assert near(oracle.inference(CASES, given, target)["itpr"], expected)


def test_itpr_paper_tables_1_and_2() -> None:
    one = table(q=[1, 1, 1, 2, 2, 2, 3, 3, 3], s=["a", "d", "h"] * 3)
    two = table(q=[1] * 5 + [2] * 5 + [3] * 5, s=["a", "d", "d", "h", "d"] * 3)
    for rows, k, confidence in ((one, 3, Fraction(1, 3)), (two, 5, Fraction(3, 5))):
        assert oracle.reidentification(rows, ["q"])["k_anonymity"] == k
        found = oracle.inference(rows, ["q"], "s")
        assert found["l_diversity"] == 3
        assert found["t_closeness"] == 0
        assert found["max_confidence"] == confidence


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((2, 2, 2), 0.6131471927654584),
        ((2, 4), 0.742098128510306),
        ((10, 9990), 0.9995),
        ((2500, 7500), 0.5752574989159953),
        ((5000, 5000), 0.07525749891599531),
    ],
)
@pytest.mark.slow
def test_itpr_of_class_sizes(sizes: tuple[int, ...], expected: float) -> None:
    assert near(oracle.reidentification(sized(*sizes), ["q"])["itpr"], expected)


def test_itpr_of_independent_but_skewed_columns() -> None:
    rows = table(q=["rare"] * 2 + ["common"] * 18, s=["a", "b"] * 10)
    found = oracle.inference(rows, ["q"], "s")
    assert found["mutual_information"] == 0
    assert near(found["itpr"], 0.8)


def test_discrimination_rate_slides() -> None:
    rows = table(
        age=[22, 22, 22, 45, 63, 40, 35, 35, 32],
        star=["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
        disease=[
            "colon cancer",
            "stomach cancer",
            "lung cancer",
            "stomach cancer",
            "diabetes",
            "aids",
            "aids",
            "flu",
            "lung cancer",
        ],
    )
    by_value = oracle.by_value(rows, ["star"], "age")
    assert near(by_value["2*",], 1)
    assert near(by_value[">=40",], 0.781629835453)
    assert near(by_value["3*",], 0.873480658189)
    found = oracle.inference(rows, ["star"], "age")
    assert near(found["discrimination_rate"], 0.655110493642)
    for result in oracle.by_value(rows, ["star"], "disease").values():
        assert near(result, 0.788946739442)
    found = oracle.inference(rows, ["star"], "disease")
    assert near(found["discrimination_rate"], 0.366840218326)


def test_combined_discrimination_rate() -> None:
    rows = table(
        age=[22, 35, 63, 22, 22, 35, 45, 35, 40],
        salary=[4, 5, 3, 13, 8, 15, 9, 7, 11],
        disease=[
            "cancer",
            "diabetes",
            "malaria",
            "cancer",
            "cancer",
            "malaria",
            "malaria",
            "diabetes",
            "diabetes",
        ],
    )
    found = oracle.inference(rows, ["age", "disease"], "salary")
    assert near(found["discrimination_rate"], 0.763230027381)


def test_t_closeness_paper() -> None:
    found = oracle.inference(
        SALARIES, ["zip", "age"], "salary", order=[3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    )
    assert found["t_closeness_ordered"] == Fraction(3, 8)
    assert found["beta_likeness"] == 2
    assert found["enhanced_beta_likeness"] == 2
    assert near(found["delta_disclosure_present"], 1.0986122886681098)
    assert found["delta_disclosure"] == "unbounded"
    found = oracle.inference(SALARIES, ["zip", "age"], "disease", ladder=DISEASES)
    assert found["t_closeness"] == Fraction(4, 9)
    assert found["t_closeness_hierarchical"] == Fraction(4, 9)
    assert near(found["entropy_l"], 3)


def test_hierarchical_cost_of_each_class() -> None:
    p_s = oracle._distribution([row["disease"] for row in SALARIES])
    costs = []
    for start in (0, 3, 6):
        here = oracle._distribution([row["disease"] for row in SALARIES[start : start + 3]])
        costs.append(oracle._hierarchical_cost(p_s, here, DISEASES))
    assert sorted(costs) == [Fraction(8, 27), Fraction(8, 27), Fraction(4, 9)]


def test_separation_and_distinction_by_hand() -> None:
    rows = table(
        age=[20, 30, 40, 20, 40],
        sex=["f", "f", "f", "m", "m"],
        state=["CA", "CA", "TX", "NY", "CA"],
    )
    for quasi, distinction, separation in (
        (["sex"], Fraction(2, 5), Fraction(3, 5)),
        (["state"], Fraction(3, 5), Fraction(7, 10)),
        (["age"], Fraction(3, 5), Fraction(4, 5)),
        (["sex", "state"], Fraction(4, 5), Fraction(9, 10)),
        (["age", "state"], Fraction(1), Fraction(1)),
    ):
        found = oracle.reidentification(rows, quasi)
        assert (found["distinction"], found["separation"]) == (distinction, separation)


def test_bayes_vulnerability_of_a_published_example() -> None:
    rows = table(
        age=[20, 30, 30, 30, 30, 55, 55, 55],
        education=["MSc", "HS", "HS", "PhD", "PhD", "BSc", "BSc", "BSc"],
        income=["low", "medium", "low", "medium", "medium", "high", "high", "medium"],
    )
    found = oracle.reidentification(rows, ["age", "education"])
    assert found["bayes_vulnerability_prior"] == Fraction(1, 8)
    assert found["bayes_vulnerability_posterior"] == Fraction(1, 2)
    found = oracle.inference(rows, ["age", "education"], "income")
    assert found["bayes_vulnerability_prior"] == Fraction(1, 2)
    assert found["bayes_vulnerability_posterior"] == Fraction(3, 4)


def test_enhanced_beta_takes_the_basic_value_of_the_table() -> None:
    rows = table(q=[1] + [2] * 9, s=["x", "x", "y"] + ["z"] * 7)
    found = oracle.inference(rows, ["q"], "s")
    assert found["beta_likeness"] == 4
    assert near(found["enhanced_beta_likeness"], 2.302585, 1e-6)
    assert found["enhanced_beta_satisfiable"] is False


def test_peer_row_of_the_hospital_table() -> None:
    rows = table(
        city=["fK", "fK", "fT", "fT", "mC", "mC", "mC", "mK", "mK", "mK", "mT", "mT", "mT"],
        disease=[
            "viral",
            "heart",
            "cancer",
            "TB",
            "none",
            "TB",
            "heart",
            "cancer",
            "heart",
            "viral",
            "cancer",
            "cancer",
            "cancer",
        ],
    )
    identity = oracle.reidentification(rows, ["city"])
    assert (identity["k_anonymity"], identity["classes"]) == (2, 5)
    assert identity["average_class_risk"] == Fraction(2, 5)
    found = oracle.inference(rows, ["city"], "disease")
    assert found["beta_likeness"] == Fraction(10, 3)
    assert near(found["enhanced_beta_likeness"], 2.5649493574615367)
    assert near(found["delta_disclosure_present"], 1.466337068793427)
    assert near(found["t_closeness"], 0.6153846153846154)
    assert found["l_diversity"] == 1
    assert found["max_confidence"] == 1


def test_average_class_risk_can_rise_when_classes_merge() -> None:
    fine = oracle.reidentification(sized(2, 3, 4, 6, 1), ["q"])["average_class_risk"]
    coarse = oracle.reidentification(sized(2, 4, 1, 9), ["q"])["average_class_risk"]
    assert near(fine, 0.450, 1e-9)
    assert near(coarse, 0.465, 5e-4)


def test_records_in_small_classes() -> None:
    found = oracle.reidentification(sized(1, 2, 2, 3, 5), ["q"], below=(1, 2, 3, 5, 6))
    assert found["records_below"] == {1: 0, 2: 1, 3: 5, 5: 8, 6: 13}
    assert found["unique_records"] == Fraction(1, 13)
    assert found["highest_risk"] == 1


def test_reciprocal_entropy_is_that_of_the_surest_class() -> None:
    found = oracle.reidentification(sized(2, 4, 8), ["q"])
    assert near(found["reciprocal_entropy"], 1)
    found = oracle.reidentification(sized(4, 8), ["q"])
    assert near(found["reciprocal_entropy"], 0.5)


def test_enhanced_beta_is_satisfiable_while_gains_stay_below_the_logarithm() -> None:
    # Gains of 1/3 and 1/3 against ln 2.
    rows = table(q=[1, 1, 1, 2, 2, 2], s=list("aab") + list("abb"))
    found = oracle.inference(rows, ["q"], "s")
    assert found["beta_likeness"] == Fraction(1, 3)
    assert found["enhanced_beta_satisfiable"] is True


def test_wildcard_frequencies() -> None:
    # A missing value matches both a and b, which do not match each other.
    rows = table(q=["a", "b", None], r=[1, 1, 1])
    assert oracle.wildcard_k(rows, ["q", "r"]) == 2
    assert oracle.reidentification(rows, ["q", "r"])["k_anonymity"] == 1
    rows = table(q=["a", "b", None], r=[1, None, 2])
    assert oracle.wildcard_k(rows, ["q", "r"]) == 1


def test_constant_secret() -> None:
    rows = table(q=[1, 1, 2], s=["a"] * 3)
    found = oracle.inference(
        rows, ["q"], "s", order=["a", "b"], ladder={"a": ["*"]}, partition={"p": ["a"]}
    )
    for name in (
        "entropy",
        "mutual_information",
        "conditional_privacy",
        "maximum_information_leakage",
        "entropy_variation",
        "t_closeness",
        "t_closeness_ordered",
        "t_closeness_hierarchical",
        "beta_likeness",
        "enhanced_beta_likeness",
        "delta_disclosure",
        "delta_disclosure_present",
    ):
        assert found[name] == 0, name
    assert (found["entropy_l_diversity"], found["entropy_l"], found["l_diversity"]) == (1, 1, 1)
    for name in (
        "discrimination_rate",
        "itpr",
        "itpr_unnormalized",
        "normalized_conditional_entropy",
        "semantic_discrimination_rate",
    ):
        assert found[name] == "H(X) = 0", name
    assert found["reciprocal_entropy"] == "unbounded"
    assert found["recursive_c"] == "unbounded"
    assert set(oracle.by_value(rows, ["q"], "s").values()) == {"H(X) = 0"}


def test_one_record() -> None:
    found = oracle.reidentification([{"q": None}], ["q"])
    assert found["k_anonymity"] == 1
    assert found["separation"] == "one record"
    assert found["discrimination_rate"] == found["itpr"] == "H(X) = 0"
    assert found["records_below"] == {2: 1, 3: 1, 5: 1}
    assert found["entropy"] == found["mutual_information"] == found["conditional_privacy"] == 0


def test_missing_values_are_a_value_and_are_also_left_out() -> None:
    rows = table(q=[1, 1, 1, 2, 2, 3], s=["a", "b", None, "a", float("nan"), None])
    found = oracle.inference(rows, ["q"], "s", order=["a", "b"])
    assert found["l_diversity"] == 1
    assert found["l_diversity_without_missing"] == 1
    assert found["max_confidence"] == 1
    assert found["t_closeness_ordered"] == "missing values have no place in the order"
    assert near(found["entropy"], 1.459147917027245)
    rows = table(q=[1, 1, 1, 2], s=["a", "b", None, None])
    found = oracle.inference(rows, ["q"], "s")
    assert found["l_diversity"] == 1
    assert found["l_diversity_without_missing"] == 2
    assert found["max_confidence_without_missing"] == Fraction(1, 2)
    for absent in ([None] * 4, ["a"] * 4):
        found = oracle.inference(table(q=[1, 1, 2, 2], s=absent), ["q"], "s")
        assert not [name for name in found if name.endswith("without_missing")]


def test_recursive_c_and_alpha_by_hand() -> None:
    rows = table(q=[1] * 6 + [2] * 4, s=list("aaabbc") + list("abcd"))
    assert oracle.inference(rows, ["q"], "s")["recursive_c"] == 1
    assert oracle.inference(rows, ["q"], "s", l=3)["recursive_c"] == 3
    assert oracle.inference(rows, ["q"], "s", l=4)["recursive_c"] == "unbounded"
    assert oracle.inference(rows, ["q"], "s")["alpha_k"] == Fraction(1, 2)
    assert oracle.inference(rows, ["q"], "s", alpha_value="c")["alpha_k"] == Fraction(1, 4)
    assert oracle.inference(rows, ["q"], "s", alpha_value="z")["alpha_k"] == 0


def test_semantic_discrimination_rate_by_hand() -> None:
    rows = table(q=[1, 1, 2, 2], s=["lung cancer", "colon cancer", "flu", None])
    found = oracle.inference(
        rows, ["q"], "s", partition={"cancer": ["lung cancer", "colon cancer"]}
    )
    assert near(found["discrimination_rate"], 0.5)
    assert near(found["semantic_discrimination_rate"], 1)


def test_records_one_by_one() -> None:
    rows = table(q=[1, 1, 2, 2], s=["a", "b", "a", "a"])
    found = oracle.per_record(rows, ["q"], "s")
    assert [record[0] for record in found] == [2, 2, 2, 2]
    assert [record[2] for record in found] == [Fraction(1, 2), Fraction(1, 2), 1, 1]
    assert all(near(record[1], 1) for record in found)
    gains = [-0.5849625007211562, 1, 0.4150374992788438, 0.4150374992788438]
    assert all(near(record[3], gain) for record, gain in zip(found, gains, strict=True))


# --------------------------------------------------------------------------- laws


def random_table(rng: random.Random) -> Rows:
    n = rng.randint(1, 8)
    return [
        {
            "q": rng.choice(["x", "y", "z", None]),
            "r": rng.choice([1, 2]),
            "s": rng.choice(["a", "b", "c", "d"]),
        }
        for _ in range(n)
    ]


@pytest.mark.parametrize("seed", range(60))
def test_laws_between_measures(seed: int) -> None:
    rows = random_table(random.Random(seed))
    identity: dict[str, Any] = oracle.reidentification(rows, ["q", "r"])
    found: dict[str, Any] = oracle.inference(rows, ["q", "r"], "s")
    keyed = [{"key": (row["q"], row["r"]), **row} for row in rows]
    of_classes: Any = oracle.inference(keyed, ["key"], "key")["entropy"]
    assert abs(found["joint_entropy"] - of_classes - found["conditional_entropy"]) < oracle.DUST

    assert identity["average_risk"] == identity["distinction"]
    assert identity["bayes_vulnerability_posterior"] == identity["average_risk"]
    assert identity["entropy_l_diversity"] * identity["k_anonymity"] == pytest.approx(1)
    assert oracle.wildcard_k(rows, ["q", "r"]) >= identity["k_anonymity"]
    assert found["entropy_variation"] >= found["mutual_information"] >= 0
    if not isinstance(found["itpr"], str):
        assert 0 <= found["discrimination_rate"] <= found["itpr"] + oracle.DUST
        assert found["itpr"] <= 1
        rates: list[Any] = list(oracle.by_value(rows, ["q", "r"], "s").values())
        largest = max(rates)
        assert abs(found["itpr_unnormalized"] - largest) < oracle.DUST
    gains = [record[3] for record in oracle.per_record(rows, ["q", "r"], "s")]
    assert abs(mpmath.fsum(gains) / len(gains) - found["mutual_information"]) < oracle.DUST


def transported(p: dict[Any, Fraction], here: dict[Any, Fraction], distance: Any) -> Fraction:
    """Earth mover's distance by trying every way to pair equal grains of the two heaps."""
    grains = math.lcm(*(share.denominator for share in [*p.values(), *here.values()]))
    supply = [value for value, share in p.items() for _ in range(int(share * grains))]
    demand = [value for value, share in here.items() for _ in range(int(share * grains))]
    return min(
        sum((distance(a, b) for a, b in zip(supply, arranged, strict=True)), Fraction(0)) / grains
        for arranged in set(itertools.permutations(demand))
    )


TREE = {
    "a": ["1", "ab", "all"],
    "b": ["2", "ab", "all"],
    "c": ["3", "cd", "all"],
    "d": ["3", "cd", "all"],
}


def rung(a: str, b: str) -> Fraction:
    """Level of the lowest common ancestor in TREE, over its height."""
    if a == b:
        return Fraction(0)
    shared = [level for level, (x, y) in enumerate(zip(TREE[a], TREE[b], strict=True)) if x == y]
    return Fraction(shared[0] + 1, 3)


@pytest.mark.parametrize("seed", range(40))
def test_t_closeness_is_the_cheapest_transport(seed: int) -> None:
    rng = random.Random(seed)
    classes = rng.choice([(3, 3), (2, 2, 2), (1, 2, 3), (1, 1, 2, 2), (6,)])
    secrets = [rng.choice("abcd") for _ in range(6)]
    rows = [{"q": q["q"], "s": s} for q, s in zip(sized(*classes), secrets, strict=True)]
    found = oracle.inference(rows, ["q"], "s", order=list("abcd"), ladder=TREE)

    p_s: Any = oracle._distribution(list(secrets))
    ranked = sorted(p_s)
    equal, ordered, tree = [], [], []
    for q in range(len(classes)):
        here: Any = oracle._distribution([row["s"] for row in rows if row["q"] == q])
        equal.append(transported(p_s, here, lambda a, b: Fraction(a != b)))
        tree.append(transported(p_s, here, rung))
        if len(ranked) > 1:
            ordered.append(
                transported(
                    p_s,
                    here,
                    lambda a, b: Fraction(abs(ranked.index(a) - ranked.index(b)), len(ranked) - 1),
                )
            )
    assert found["t_closeness"] == max(equal)
    assert found["t_closeness_hierarchical"] == max(tree)
    assert found["t_closeness_ordered"] == max(ordered, default=Fraction(0))


def test_flat_hierarchy_is_the_equal_distance() -> None:
    found = oracle.inference(
        SALARIES, ["zip", "age"], "disease", ladder={leaf: ["any"] for leaf in DISEASES}
    )
    assert found["t_closeness_hierarchical"] == found["t_closeness"]


@pytest.mark.parametrize(
    "ladder",
    [
        {"a": ["*"]},
        {"a": ["x", "*"], "b": ["*"]},
        {"a": ["x"], "b": ["y"]},
        {"a": ["x", "u", "*"], "b": ["x", "v", "*"]},
        {"a": [], "b": []},
    ],
)
def test_broken_ladders_are_refused(ladder: dict[str, list[str]]) -> None:
    with pytest.raises(ValueError, match=r"ladder|levels|parents"):
        oracle.inference(table(q=[1, 1], s=["a", "b"]), ["q"], "s", ladder=ladder)
