"""The oracle of reasoning against published and hand-made numbers, so that it can be trusted."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import mpmath
import pytest
from helpers import reasoningoracle as oracle

F = Fraction
SEEDS = range(60)
SECRETS = ["Heart", "Flu", "Stomach", "HIV", "Diabetes"]
H, FLU, ST, HIV, D = SECRETS
LISTS = [[H, FLU], [FLU, ST], [HIV, D], [FLU, H]]
NATIONS = list("MJCI")
ZIPS = ["45501", "45502", "55503", "55504", "66601", "77701"]

# Table 1 of Boreale and Corradi: the true rows, then the sets and buckets of its two releases.
PEOPLE = [
    (H, ("M", "45501")), (FLU, ("J", "45502")), (FLU, ("J", "55503")), (ST, ("J", "55504")),
    (HIV, ("C", "66601")), (D, ("J", "66601")), (FLU, ("I", "77701")), (H, ("M", "77701")),
]  # fmt: skip
NATION_SETS = [frozenset("MJ"), frozenset("J"), frozenset("CJ"), frozenset("IM")]
ZIP_SETS = [frozenset(ZIPS[:2]), frozenset(ZIPS[2:4]), frozenset(ZIPS[4:5]), frozenset(ZIPS[5:])]
BUCKETS = [[PEOPLE[i][1], PEOPLE[i + 1][1]] for i in (0, 2, 4, 6)]
NATION_TRUTH = [(s, values[:1]) for s, values in PEOPLE]

N_H = [((nations,), secrets) for nations, secrets in zip(NATION_SETS, LISTS, strict=True)]
N_V = [([v[:1] for v in values], secrets) for values, secrets in zip(BUCKETS, LISTS, strict=True)]
NB_H = list(zip(zip(NATION_SETS, ZIP_SETS, strict=True), LISTS, strict=True))
NB_V = list(zip(BUCKETS, LISTS, strict=True))
NATION_VICTIMS = [(nation,) for nation in NATIONS]


def fractions(text: str) -> list[Fraction]:
    """``1/2 0 1/6x3`` as [1/2, 0, 1/6, 1/6, 1/6]; a last ``/7`` divides all."""
    *parts, last = text.split()
    below = F(1)
    if last.startswith("/"):
        below = F(last[1:])
    else:
        parts.append(last)
    result = []
    for part in parts:
        number, _, times = part.partition("x")
        result += [F(number) / below] * int(times or 1)
    return result


def in_order(belief: Any) -> list[Any]:
    assert belief is not None
    return [belief[s] for s in SECRETS]


def digits(belief: Any) -> list[float]:
    return [round(float(value), 10) for value in in_order(belief)]


@cache
def case(kind: str, seed: int, shape: str | None = None) -> dict[str, Any]:
    return oracle.random_release(Random(seed), kind, most=400, shape=shape)


@cache
def beliefs(kind: str, seed: int, likelihood: str = "product") -> Any:
    one = case(kind, seed)
    victims = list(dict.fromkeys(values for _, values in one["truth"]))
    call = oracle.horizontal if kind == "horizontal" else oracle.vertical
    return call(one["groups"], one["domains"], victims, likelihood=likelihood)


# --------------------------------------------------------------------------- published numbers

NATION_CASES: dict[str, tuple[Any, dict[str, tuple[str, str]]]] = {
    "horizontal": (N_H, {
        "M": ("6/11 5/11 0x3", "77 80 28x3 /241"),
        "J": ("14/139 55/139 35/139 35/278x2", "343/2043 80/227 392/2043 98/681x2"),
        "C": ("0x3 1/2x2", "35 40 28 42x2 /187"),
        "I": ("14/29 15/29 0x3", "343 400 196x3 /1331"),
    }),
    "vertical": (N_V, {
        "M": ("11/18 7/18 0x3", "175/524 40/131 63/524x3"),
        "J": ("1/12 5/12 1/4 1/8x2", "7/44 4/11 21/110 63/440x2"),
        "C": ("0x3 1/2x2", "35 40 28 42x2 /187"),
        "I": ("4/9 5/9 0x3", "65 80 36x3 /253"),
    }),
}  # fmt: skip


def nations(kind: str, likelihood: str = "product") -> Any:
    call = oracle.horizontal if kind == "horizontal" else oracle.vertical
    return call(NATION_CASES[kind][0], [NATIONS], NATION_VICTIMS, likelihood=likelihood)


@pytest.mark.parametrize("likelihood", ["product", "saturated"])
@pytest.mark.parametrize("kind", oracle.KINDS)
def test_nationality_alone(kind: str, likelihood: str) -> None:
    found = nations(kind, likelihood)
    for nation, (attacker, learner) in NATION_CASES[kind][1].items():
        assert in_order(found[nation,]["attacker"]) == fractions(attacker)
        assert in_order(found[nation,]["learner"]) == fractions(learner)


def test_how_many_tables_there_are() -> None:
    assert oracle.posterior("horizontal", N_H, [NATIONS]).assignments == 64
    assert len(oracle.posterior("vertical", N_V, [NATIONS]).tables) == 8
    assert oracle.posterior("horizontal", NB_H, [NATIONS, ZIPS]).assignments == 1024


def test_the_risk_of_the_horizontal_release() -> None:
    found = oracle.risk(NATION_TRUTH, nations("horizontal"))
    assert (found["attacker_literal"], found["attacker_fractional"]) == (6, F(11, 2))
    assert (found["learner_literal"], found["learner_fractional"]) == (4, F(7, 2))
    assert found["global_literal"] == found["global_fractional"] == F(1, 4)
    relative = [r and round(float(r), 4) for r in found["relative"]]
    assert relative == [1.7072, 1.1228, 1.1228, None, 2.2262, None, 1.7211, 1.7072]
    assert found["max_relative"] == F(1, 2) / F(42, 187)


def test_the_risk_of_the_vertical_release() -> None:
    found = oracle.risk(NATION_TRUTH, nations("vertical"))
    assert (found["attacker_literal"], found["learner_literal"]) == (6, 6)
    assert found["global_literal"] == 0
    assert round(float(found["relative"][0]), 4) == 1.8298


PRINTED = {
    "horizontal": {
        "M": [.3122540093, .3209939663, .1222506748, .1222506748, .1222506748],
        "J": [.1675331230, .3481027123, .1947122468, .1448259589, .1448259589],
        "C": [.1895358348, .2139674851, .1539237996, .2212864402, .2212864402],
        "I": [.2524545560, .2903747375, .1523902355, .1523902355, .1523902355],
    },
    "vertical": {
        "M": [.3312100345, .2994772053, .1231042534, .1231042534, .1231042534],
        "J": [.1605247611, .3588111584, .1914669184, .1445985811, .1445985811],
        "C": [.1876313645, .2118610595, .1523374140, .2240850810, .2240850810],
        "I": [.2559008926, .3095940200, .1448350291, .1448350291, .1448350291],
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.slow
def test_the_printed_formula(kind: str) -> None:
    groups = NATION_CASES[kind][0]
    found = oracle.printed(kind, groups, [NATIONS], NATION_VICTIMS, likelihood="saturated")
    drawn = oracle.printed_mc(kind, groups, [NATIONS], NATION_VICTIMS, random=Random(7), draws=3000)
    for nation, expected in PRINTED[kind].items():
        assert digits(found[nation,]) == expected
        assert abs(sum(found[nation,].values()) - 1) < 1e-14
        for s, value in zip(SECRETS, expected, strict=True):
            mean, error = drawn[nation,][s]
            assert abs(mean - value) < 4 * error


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_tuples_as_values(kind: str) -> None:
    domains = [[values for _, values in PEOPLE]]
    victims = [(values,) for values in domains[0]]
    if kind == "horizontal":
        sets = [frozenset(values) for values in BUCKETS]
        groups: Any = [((members,), s) for members, s in zip(sets, LISTS, strict=True)]
        found = oracle.horizontal(groups, domains, victims)
    else:
        groups = [([(v,) for v in values], s) for values, s in zip(BUCKETS, LISTS, strict=True)]
        found = oracle.vertical(groups, domains, victims)
    for i, victim in enumerate(victims):
        half = {s: F(1, 2) if s in LISTS[i // 2] else F(0) for s in SECRETS}
        assert found[victim]["attacker"] == half
    assert digits(found[("M", "45501"),]["learner"]) == [
        .2707383774, .3281677302, .1336979641, .1336979641, .1336979641,
    ]  # fmt: skip
    assert digits(found[("J", "66601"),]["learner"]) == [
        .1932335719, .2342225114, .1431359792, .2147039688, .2147039688,
    ]  # fmt: skip


def test_all_tuples_of_two_columns() -> None:
    victim = ("M", "45501")
    found = oracle.horizontal(NB_H, [NATIONS, ZIPS], [victim], likelihood="saturated")[victim]
    assert digits(found["learner"]) == [
        .2532959748, .3252195232, .1404948340, .1404948340, .1404948340,
    ]  # fmt: skip


TWO_COLUMNS = {
    ("M", "45501"): ("7/12 5/12 0x3", "2/3 1/3 0x3",
        "693 640 192x3 /1909", "135/319 640/2233 216/2233x3"),
    ("J", "45502"): ("7/17 10/17 0x3", "1/3 2/3 0x3",
        "1029 1920 896 672x2 /5189", "189/1069 448/1069 864/5345 648/5345x2"),
    ("M", "77701"): ("21/41 20/41 0x3", "5/9 4/9 0x3",
        "693/1765 128/353 144/1765x3", "1575 1280 324x3 /3827"),
    ("I", "77701"): ("14/29 15/29 0x3", "4/9 5/9 0x3",
        "3087 3200 1008x3 /9311", "4095 4480 1296x3 /12463"),
    ("J", "66601"): ("0x3 1/2x2", "0x3 1/2x2",
        "343/2775 128/555 448/2775 224/925x2", "315 640 432 648x2 /2683"),
}  # fmt: skip


def test_two_columns_of_their_own() -> None:
    sets = oracle.horizontal(NB_H, [NATIONS, ZIPS], list(TWO_COLUMNS))
    buckets = oracle.vertical(NB_V, [NATIONS, ZIPS], list(TWO_COLUMNS))
    for victim, (set_a, bucket_a, set_l, bucket_l) in TWO_COLUMNS.items():
        assert in_order(sets[victim]["attacker"]) == fractions(set_a)
        assert in_order(buckets[victim]["attacker"]) == fractions(bucket_a)
        assert in_order(sets[victim]["learner"]) == fractions(set_l)
        assert in_order(buckets[victim]["learner"]) == fractions(bucket_l)


def test_values_nobody_asks_about_may_be_merged() -> None:
    def release(*more: str) -> Any:
        sets = [{"M", "J", *more}, {"J"}, {"C", "J"}, {"I", "M", *more}]
        return [((frozenset(one),), s) for one, s in zip(sets, LISTS, strict=True)]

    full = oracle.horizontal(
        release("K1", "K2"), [[*NATIONS, "K1", "K2", "U1", "U2", "U3"]], NATION_VICTIMS
    )
    beta = {0: {**dict.fromkeys(NATIONS, 1), "K": 2, "U": 3}}
    merged = oracle.horizontal(release("K"), [[*NATIONS, "K", "U"]], NATION_VICTIMS, beta=beta)
    assert full == merged
    assert round(float(full["M",]["attacker"][H]), 10) == 0.5239179954  # type: ignore[index]


# --------------------------------------------------------------------------- by hand


def test_one_row_by_hand() -> None:
    """One row (s, {a, b}): the attacker knows s; the learner has seen it once among 3 secrets."""
    groups = [((frozenset("ab"),), ["s"])]
    found = oracle.horizontal(groups, [list("abc")], [("a",), ("c",)], secrets=["r", "s", "t"])
    assert found["a",]["attacker"] == {"r": F(0), "s": F(1), "t": F(0)}
    assert found["c",]["attacker"] is None
    # s: 2/4 (1 + 1/2)/4 for a, 2/4 1/4 for c; the others 1/4 1/3.
    assert found["a",]["learner"] == {"r": F(4, 17), "s": F(9, 17), "t": F(4, 17)}
    assert found["c",]["learner"] == {"r": F(2, 7), "s": F(3, 7), "t": F(2, 7)}


def test_priors_by_hand() -> None:
    """One row (s, {a, b}) with a twice as likely as b; a column counts by its own weights."""
    groups = [((frozenset("ab"), frozenset("x")), ["s"])]
    domains = [list("ab"), list("xy")]
    beta = {0: {"a": 2, "b": 1}, 1: F(1, 2)}
    alpha = {"s": F(1, 3), "t": 1}
    learned = oracle.population("horizontal", groups, domains, alpha=alpha, beta=beta)
    assert learned["secrets"] == {"s": F(4, 7), "t": F(3, 7)}
    assert learned["values"][0]["s"] == {"a": F(2, 3), "b": F(1, 3)}
    assert learned["values"][1] == {
        "s": {"x": F(3, 4), "y": F(1, 4)},
        "t": {"x": F(1, 2), "y": F(1, 2)},
    }
    found = oracle.horizontal(groups, domains, [("a", "y")], alpha=alpha, beta=beta)
    shares = (F(4, 7) * F(2, 3) * F(1, 4), F(3, 7) * F(2, 3) * F(1, 2))
    assert found["a", "y"]["learner"] == {
        "s": shares[0] / sum(shares),
        "t": shares[1] / sum(shares),
    }
    assert found["a", "y"]["attacker"] is None


def test_one_prior_for_each_secret() -> None:
    """Two rows, {a, b}: s and t, with s leaning to a: E[delta] is 3/4 for s and 1/2 for t."""
    groups = [((frozenset("ab"),), ["s", "t"])]
    for beta in (
        {"s": {0: {"a": 3, "b": 1}}, "t": 1},
        {"s": {("a",): 3, ("b",): 1}, "t": {("a",): 5, ("b",): 5}},
    ):
        likelihood = "product" if beta["t"] == 1 else "saturated"
        found = oracle.horizontal(groups, [["a", "b"]], [("a",)], beta=beta, likelihood=likelihood)
        assert found["a",]["attacker"] == {"s": F(3, 5), "t": F(2, 5)}


def test_the_printed_formula_by_hand() -> None:
    """Two secrets, one value: the mean share of Dirichlet(2, 1) and no more."""
    groups = [((frozenset("a"),), ["s"])]
    found = oracle.printed("horizontal", groups, [["a"]], [("a",)], secrets=["s", "t"])
    assert abs(found["a",]["s"] - mpmath.mpf(2) / 3) < 1e-14
    alike = oracle.mean_ratios(((F(1, 3), F(1, 10), F(3)),) * 4)
    assert all(abs(mean - 0.25) < 1e-14 for mean in alike)


def test_ties_and_strangers_in_the_risk() -> None:
    half, none = {"s": F(1, 2), "t": F(1, 2)}, None
    sure = {"s": F(1), "t": F(0)}
    believed: Any = {
        ("a",): {"attacker": sure, "learner": half},
        ("b",): {"attacker": none, "learner": sure},
    }
    found = oracle.risk([("s", ("a",)), ("t", ("a",)), ("s", ("b",)), ("u", ("b",))], believed)
    assert found["relative"] == [2, None, None, None]
    assert (found["attacker_literal"], found["attacker_fractional"]) == (1, 1)
    assert (found["learner_literal"], found["learner_fractional"]) == (3, 2)
    assert found["global_literal"] == found["global_fractional"] == 0
    assert oracle.risk([("u", ("b",))], believed)["max_relative"] is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"secrets": ["t"]},
        {"domains": [["a", "a", "b"]]},
        {"domains": [["a"]]},
        {"likelihood": "other"},
        {"alpha": 0},
        {"beta": {0: {"a": 1, "b": -1}}},
        {"victims": [("z",)]},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    good: dict[str, Any] = {
        "groups": [((frozenset("ab"),), ["s"])], "domains": [["a", "b"]], "victims": [("a",)]
    }  # fmt: skip
    oracle.horizontal(**good)
    with pytest.raises(ValueError):
        oracle.horizontal(**{**good, **wrong})


# --------------------------------------------------------------------------- by simulation


def flat(random: Random, names: Any) -> dict[Any, float]:
    """Shares with a flat prior."""
    shares = [random.expovariate(1) for _ in names]
    total = sum(shares)
    return {name: share / total for name, share in zip(names, shares, strict=True)}


def one_of(random: Random, shares: dict[Any, float]) -> Any:
    return random.choices(list(shares), list(shares.values()))[0]


def stories(random: Random, secrets: list[str], domains: Any, told: int) -> Any:
    """Populations and a table of each, as the model tells it, where the secrets come out right."""
    for _ in range(told):
        share = flat(random, set_of(secrets))
        if any(one_of(random, share) != s for s in secrets):
            continue
        laws = {s: [flat(random, domain) for domain in domains] for s in share}
        yield share, laws, [(s, tuple(one_of(random, law) for law in laws[s])) for s in secrets]


def set_of(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_the_story_told_many_times_agrees(kind: str) -> None:
    """Populations and tables drawn blindly; those that fit the release are kept."""
    domains, victim = [["a", "b"], ["x", "y"]], ("a", "x")
    if kind == "horizontal":
        groups: Any = [
            ((frozenset("ab"), frozenset("x")), ["s", "t"]),
            ((frozenset("b"), frozenset("xy")), ["s"]),
        ]
        found = oracle.horizontal(groups, domains, [victim])[victim]
    else:
        groups = [([("a", "x"), ("b", "y")], ["s", "t"]), ([("a", "x")], ["s"])]
        found = oracle.vertical(groups, domains, [victim])[victim]
    random, seen = Random(11), Counter[str]()
    joint, ratio = Counter[str](), 0.0
    for share, laws, table in stories(random, ["s", "t", "s"], domains, 80_000):
        parts = [[values for _, values in table[:2]], [table[2][1]]]
        if kind == "vertical":
            fits = all(sorted(p) == sorted(g) for p, (g, _) in zip(parts, groups, strict=True))
        else:
            fits = all(
                value in members
                for part, (sets, _) in zip(parts, groups, strict=True)
                for values in part
                for value, members in zip(values, sets, strict=True)
            )
        if not fits:
            continue
        s, values = random.choice(table)
        seen["kept"] += 1
        seen[s if values == victim else "another"] += 1
        now = {s: share[s] * laws[s][0]["a"] * laws[s][1]["x"] for s in share}
        joint.update(now)
        ratio += now["s"] / (now["s"] + now["t"])
    kept = seen["kept"]
    victims = seen["s"] + seen["t"]
    assert kept > 150
    assert found["attacker"] is not None and found["learner"] is not None
    error = 0.5 / victims**0.5
    assert abs(seen["s"] / victims - found["attacker"]["s"]) < 4 * error
    assert abs(joint["s"] / (joint["s"] + joint["t"]) - found["learner"]["s"]) < 4 * 0.5 / kept**0.5
    [printed] = oracle.printed_mc(kind, groups, domains, [victim], random=random).values()
    assert abs(ratio / kept - printed["s"][0]) < 4 * (0.25 / kept + printed["s"][1] ** 2) ** 0.5


# --------------------------------------------------------------------------- laws


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_random_releases_keep_their_promises(kind: str) -> None:
    for seed in range(150):
        one = oracle.random_release(Random(seed), kind)
        assert one == oracle.random_release(Random(seed), kind)
        assert 1 <= one["assignments"] <= oracle.MOST
        text = [one["original"][q] for q in one["quasi"]]
        rows = list(zip(one["original"]["s"], zip(*text, strict=True), strict=True))
        assert Counter(rows) == Counter(one["truth"])
        assert list(one["domain"].values()) == one["domains"]
        assert len(one["truth"]) == sum(len(secrets) for _, secrets in one["groups"])
        check = check_sets if kind == "horizontal" else check_buckets
        check(one, rows)


def check_sets(one: dict[str, Any], rows: Any) -> None:
    """The labels of a row contain its values, and make up the groups."""
    release = one["release"]
    assert release["s"] == one["original"]["s"]
    read: Counter[Any] = Counter()
    for i, (s, values) in enumerate(rows):
        sets = []
        for q, value in zip(one["quasi"], values, strict=True):
            label, domain = release[q][i], one["domain"][q]
            members = domain if label == oracle.STAR else label.strip("{}").split(",")
            assert value in members
            sets.append(frozenset(members))
        read[tuple(sets), s] += 1
    assert read == Counter((sets, s) for sets, secrets in one["groups"] for s in secrets)


def check_buckets(one: dict[str, Any], rows: Any) -> None:
    """The two tables make up the groups, and the truth is one of their matchings."""
    left, right = one["quasi_table"], one["sensitive_table"]
    for number, (tuples, secrets) in enumerate(one["groups"]):
        at = [i for i, g in enumerate(left["group"]) if g == f"g{number}"]
        assert Counter(tuple(left[q][i] for q in one["quasi"]) for i in at) == Counter(tuples)
        pairs = zip(right["group"], right["s"], strict=True)
        assert Counter(s for g, s in pairs if g == f"g{number}") == Counter(secrets)
    assert Counter(values for _, values in rows) == Counter(
        values for tuples, _ in one["groups"] for values in tuples
    )
    place = 0
    for tuples, secrets in one["groups"]:
        part = one["truth"][place : place + len(tuples)]
        assert Counter(s for s, _ in part) == Counter(secrets)
        assert Counter(values for _, values in part) == Counter(tuples)
        place += len(tuples)


def test_random_releases_are_varied() -> None:
    sets = [oracle.random_release(Random(seed), "horizontal") for seed in range(300)]
    buckets = [oracle.random_release(Random(seed), "vertical") for seed in range(300)]
    for cases in (sets, buckets):
        assert min(Counter(one["shape"] for one in cases).values()) > 20
        assert {len(one["quasi"]) for one in cases} == {1, 2, 3}
        assert sum(one["assignments"] > 100 for one in cases) > 20
        sizes = Counter(len(secrets) for one in cases for _, secrets in one["groups"])
        assert set(sizes) == {1, 2, 3, 4}
        lists = [secrets for one in cases for _, secrets in one["groups"]]
        assert any(len(set(secrets)) < len(secrets) for secrets in lists)
    labels = [label for one in sets for q in one["quasi"] for label in one["release"][q]]
    assert min(labels.count("*"), labels.count("a"), labels.count("{a,b}")) > 50
    assert sum(map(overlapping, sets)) > 50


def overlapping(one: dict[str, Any]) -> bool:
    columns = zip(*(sets for sets, _ in one["groups"]), strict=True)
    return any(
        x & y and x != y for column in columns for x, y in itertools.combinations(set(column), 2)
    )


@pytest.mark.parametrize("likelihood", ["product", "saturated"])
@pytest.mark.parametrize("kind", oracle.KINDS)
def test_beliefs_add_up(kind: str, likelihood: str) -> None:
    for seed in SEEDS:
        for belief in beliefs(kind, seed, likelihood).values():
            assert sum(belief["attacker"].values()) == sum(belief["learner"].values()) == 1
            assert min(belief["learner"].values()) > 0


@pytest.mark.parametrize("kind", oracle.KINDS)
def test_one_column_is_saturated(kind: str) -> None:
    narrow = [seed for seed in SEEDS if len(case(kind, seed)["quasi"]) == 1]
    assert len(narrow) > 10
    for seed in narrow:
        assert beliefs(kind, seed) == beliefs(kind, seed, "saturated")


@pytest.mark.parametrize("likelihood", ["product", "saturated"])
def test_a_horizontal_learner_multiplies_the_population(likelihood: str) -> None:
    for seed in SEEDS:
        one = case("horizontal", seed)
        learned = oracle.population(
            "horizontal", one["groups"], one["domains"], likelihood=likelihood
        )
        for victim, belief in beliefs("horizontal", seed, likelihood).items():
            joint = dict(learned["secrets"])
            for s in joint:
                if likelihood == "saturated":
                    joint[s] *= learned["values"][s][victim]
                    continue
                for law, value in zip(learned["values"], victim, strict=True):
                    joint[s] *= law[s][value]
            total = sum(joint.values())
            assert belief["learner"] == {s: share / total for s, share in joint.items()}


def test_disjoint_sets_teach_the_attacker_the_shares_of_the_group() -> None:
    """p_A = n_gs/n_g; the learner sees labels as values (product model)."""
    for seed in SEEDS:
        one = case("horizontal", seed, "disjoint")
        of_label: Counter[Any] = Counter()
        for sets, secrets in one["groups"]:
            of_label.update((sets, s) for s in secrets)
        secrets = list(dict.fromkeys(s for _, of_group in one["groups"] for s in of_group))
        gamma = Counter(s for s, _ in one["truth"])
        victims = list(dict.fromkeys(values for _, values in one["truth"]))
        found = oracle.horizontal(one["groups"], one["domains"], victims)
        for victim in victims:
            inside = Counter[str]()
            for (sets, s), times in of_label.items():
                if all(v in m for v, m in zip(victim, sets, strict=True)):
                    inside[s] += times
            attacked = {s: F(inside[s], inside.total()) for s in secrets}
            assert found[victim]["attacker"] == attacked
            learned = {s: F(1 + gamma[s]) for s in secrets}
            for column, domain in enumerate(one["domains"]):
                for s in secrets:
                    [size] = {len(g[column]) for g, _ in of_label if victim[column] in g[column]}
                    seen = sum(
                        n
                        for (g, z), n in of_label.items()
                        if z == s and victim[column] in g[column]
                    )
                    learned[s] *= F(size + seen, len(domain) + gamma[s])
            total = sum(learned.values())
            assert found[victim]["learner"] == {s: w / total for s, w in learned.items()}


@pytest.mark.parametrize("likelihood", ["product", "saturated"])
def test_groups_of_one_row_hide_nothing(likelihood: str) -> None:
    """A bucket of one row is a row whose sets have one value each."""
    for seed in range(20):
        one = case("vertical", seed, "single")
        sets = [
            (tuple(frozenset([v]) for v in tuples[0]), secrets) for tuples, secrets in one["groups"]
        ]
        victims = list(dict.fromkeys(values for _, values in one["truth"]))
        assert one["assignments"] == 1
        assert oracle.vertical(
            one["groups"], one["domains"], victims, likelihood=likelihood
        ) == oracle.horizontal(sets, one["domains"], victims, likelihood=likelihood)
