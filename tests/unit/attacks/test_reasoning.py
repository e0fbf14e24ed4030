"""Attacker and learner from the outside: published numbers, options, and what is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pandas
import pytest
from helpers import reasoningoracle as oracle

import sievert
from sievert.attacks.reasoning import posterior
from sievert.attacks.reasoning.horizontal import release as horizontal
from sievert.attacks.reasoning.result import WATCHED
from sievert.attacks.reasoning.vertical import release as vertical
from sievert.errors import InputError, SievertError, UsageError

F = Fraction
SECRETS = ["Heart", "Flu", "Stomach", "HIV", "Diabetes"]
H, FLU, ST, HIV, D = SECRETS
NATIONS = list("MJCI")
ZIPS = ["45501", "45502", "55503", "55504", "66601", "77701"]

# Table 1 of Boreale and Corradi, its release with sets of values, and in two tables.
ORIGINAL = {
    "nation": list("MJJJCJIM"),
    "zip": ["45501", "45502", "55503", "55504", "66601", "66601", "77701", "77701"],
    "disease": [H, FLU, FLU, ST, HIV, D, FLU, H],
}
RELEASE = {
    "nation": ["{M,J}"] * 2 + ["J"] * 2 + ["{C,J}"] * 2 + ["{I,M}"] * 2,
    "zip": ["{45501,45502}"] * 2 + ["{55503,55504}"] * 2 + ["66601"] * 2 + ["77701"] * 2,
    "disease": ORIGINAL["disease"],
}
GROUPS = list("11223344")
PEOPLE = {"group": GROUPS, "nation": ORIGINAL["nation"], "zip": ORIGINAL["zip"]}
LISTS = {"group": list("44112233"), "disease": [H, FLU, FLU, H, ST, FLU, D, HIV]}
TABLES: dict[str, Any] = {"horizontal": RELEASE, "vertical": (PEOPLE, LISTS)}
BOTH = ("nation", "zip")
SATURATED: dict[str, Any] = {"quasi": list(BOTH), "likelihood": "saturated"}

NATION_SETS = [frozenset("MJ"), frozenset("J"), frozenset("CJ"), frozenset("IM")]
SECRET_LISTS = [[H, FLU], [FLU, ST], [HIV, D], [FLU, H]]
N_H = [((nations,), held) for nations, held in zip(NATION_SETS, SECRET_LISTS, strict=True)]
HEADLINES = {
    "attacker_accuracy", "learner_accuracy", "baseline", "global_relative_risk",
    "global_relative_risk_literal", "max_relative_risk",
}  # fmt: skip


def attacked(
    release: Any,
    original: Any = ORIGINAL,
    quasi: Any = "nation",
    *,
    printed: bool = False,
    **how: Any,
) -> Any:
    """The attack; unless the printed learner is looked at, it is drawn a few times only."""
    with pytest.MonkeyPatch.context() as patch:
        if not printed:
            patch.setattr(posterior, "DRAWS", 100)
            patch.setattr(horizontal, "MOST_PRINTED", 0)
            patch.setattr(vertical, "MOST_PRINTED", 0)
        return sievert.attack(
            release, original=original, quasi=quasi, sensitive="disease", threads=1, **how
        )


@cache
def table_1(kind: str, likelihood: str, quasi: Any = "nation", domain: str = "cross") -> Any:
    columns = list(quasi) if isinstance(quasi, tuple) else quasi
    return attacked(TABLES[kind], quasi=columns, likelihood=likelihood, domain=domain, printed=True)


def told(found: Any, secret: str = "disease") -> Any:
    return found.to_dict()["attacks"]["reasoning"][secret]


def fractions(text: str) -> list[float]:
    """``1/2 0 1/6x3`` as [1/2, 0, 1/6, 1/6, 1/6]; a last ``/7`` divides all."""
    *parts, last = text.split()
    below = F(1)
    if last.startswith("/"):
        below = F(last[1:])
    else:
        parts.append(last)
    result: list[float] = []
    for part in parts:
        number, _, times = part.partition("x")
        result += [float(F(number) / below)] * int(times or 1)
    return result


def believed(found: Any, victim: Any, who: str) -> list[float]:
    held = found.beliefs[victim][who]
    assert set(held) == set(SECRETS)
    return [held[s] for s in SECRETS]


def same(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    assert found == pytest.approx(expected, rel=tolerance, abs=tolerance)


def as_oracle(found: Any, beliefs: Any) -> None:
    """All victims' beliefs are those of the oracle."""
    for victim, expected in beliefs.items():
        for who in ("attacker", "learner"):
            held = found.beliefs[victim][who]
            same(held, {s: float(expected[who].get(s, 0)) for s in held})


# --------------------------------------------------------------------------- published numbers

NATION_BELIEFS = {
    "horizontal": {
        "M": ("6/11 5/11 0x3", "77 80 28x3 /241"),
        "J": ("14/139 55/139 35/139 35/278x2", "343/2043 80/227 392/2043 98/681x2"),
        "C": ("0x3 1/2x2", "35 40 28 42x2 /187"),
        "I": ("14/29 15/29 0x3", "343 400 196x3 /1331"),
    },
    "vertical": {
        "M": ("11/18 7/18 0x3", "175/524 40/131 63/524x3"),
        "J": ("1/12 5/12 1/4 1/8x2", "7/44 4/11 21/110 63/440x2"),
        "C": ("0x3 1/2x2", "35 40 28 42x2 /187"),
        "I": ("4/9 5/9 0x3", "65 80 36x3 /253"),
    },
}
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
RISKS: dict[str, dict[str, Any]] = {
    "horizontal": {
        "attacker": (5.5, 6), "learner": (3.5, 4), "global": 0.25,
        "relative": {5: 2.2262, 7: 1.7211, 1: 1.7072, 8: 1.7072, 2: 1.1228, 3: 1.1228},
    },
    "vertical": {
        "attacker": (5.5, 6), "learner": (5.5, 6), "global": 0.0,
        "relative": {5: 2.2262, 1: 1.8298, 8: 1.8298, 7: 1.7569, 2: 1.1458, 3: 1.1458},
    },
}  # fmt: skip
kinds = pytest.mark.parametrize("kind", ["horizontal", "vertical"])
likelihoods = pytest.mark.parametrize("likelihood", ["product", "saturated"])


@likelihoods
@kinds
def test_beliefs_by_nationality(kind: str, likelihood: str) -> None:
    found = table_1(kind, likelihood)
    assert set(found.beliefs) == {(nation,) for nation in NATIONS}
    for nation, (attacker, learner) in NATION_BELIEFS[kind].items():
        same(believed(found, nation, "attacker"), fractions(attacker))
        same(believed(found, (nation,), "learner"), fractions(learner))
        same(believed(found, nation, "learner_printed"), PRINTED[kind][nation], 6e-11)


@likelihoods
@kinds
def test_risk_by_nationality(kind: str, likelihood: str) -> None:
    found, expected = table_1(kind, likelihood), RISKS[kind]
    result, numbers = found.to_dict(), told(found)
    for who in ("attacker", "learner"):
        fractional, literal = expected[who]
        same(result[f"{who}_accuracy"], fractional / 8)
        same(numbers[f"{who}_accuracy_literal"]["value"], literal / 8)
    assert numbers["at_risk"]["value"] == expected["attacker"][1]
    same(result["global_relative_risk"], expected["global"])
    same(result["global_relative_risk_literal"], expected["global"])
    same(result["baseline"], 3 / 8)
    relative = {row["row"]: row["relative_risk"] for row in numbers["worst"]}
    assert {row: round(ratio, 4) for row, ratio in relative.items()} == expected["relative"]
    assert list(relative.values()) == sorted(relative.values(), reverse=True)
    same(result["max_relative_risk"], max(relative.values()))


@kinds
def test_observed_combinations(kind: str) -> None:
    found = table_1(kind, "saturated", BOTH, "observed")
    people = list(zip(ORIGINAL["nation"], ORIGINAL["zip"], strict=True))
    for i, person in enumerate(people):
        half = [0.5 if s in SECRET_LISTS[i // 2] else 0.0 for s in SECRETS]
        same(believed(found, person, "attacker"), half)
    same(
        believed(found, people[0], "learner"),
        [.2707383774, .3281677302, .1336979641, .1336979641, .1336979641], 6e-11,
    )  # fmt: skip
    same(
        believed(found, ("J", "66601"), "learner"),
        [.1932335719, .2342225114, .1431359792, .2147039688, .2147039688], 6e-11,
    )  # fmt: skip
    assert told(found)["keys"] == 8
    assert any("known from the original" in str(w) for w in found.warnings)


def test_all_combinations() -> None:
    found = table_1("horizontal", "saturated", BOTH)
    assert told(found)["keys"] == 24
    same(
        believed(found, ("M", "45501"), "learner"),
        [.2532959748, .3252195232, .1404948340, .1404948340, .1404948340], 6e-11,
    )  # fmt: skip


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


@kinds
def test_two_independent_columns(kind: str) -> None:
    found, place = table_1(kind, "product", BOTH), kind == "vertical"
    for person, expected in TWO_COLUMNS.items():
        same(believed(found, person, "attacker"), fractions(expected[place]))
        same(believed(found, person, "learner"), fractions(expected[2 + place]))


@likelihoods
def test_values_that_nobody_asks_about(likelihood: str) -> None:
    wide = ["{M,J,K1,K2}"] * 2 + ["J"] * 2 + ["{C,J}"] * 2 + ["{I,M,K1,K2}"] * 2
    lump = ["{M,J,K}"] * 2 + ["J"] * 2 + ["{C,J}"] * 2 + ["{I,M,K}"] * 2
    domain = {"nation": [*NATIONS, "K1", "K2", "u1", "u2", "u3"]}
    how: dict[str, Any] = {"likelihood": likelihood, "printed": True}
    apart = attacked(RELEASE | {"nation": wide}, domain=domain, **how)
    same(apart.beliefs["M"]["attacker"][H], 0.5239179954, 6e-11)
    together = attacked(
        RELEASE | {"nation": lump},
        domain={"nation": [*NATIONS, "K", "u"]},
        beta={"K": 2, "u": 3},
        **how,
    )
    for nation in NATIONS:
        for who in ("attacker", "learner", "learner_printed"):
            same(together.beliefs[nation][who], apart.beliefs[nation][who])


# --------------------------------------------------------------------------- what is told


@kinds
def test_the_fields_of_a_result(kind: str) -> None:
    found = table_1(kind, "product", BOTH)
    result, numbers = found.to_dict(), told(found)
    assert result["converged"] is True and result["method"] in ("closed form", "exact")
    for name in HEADLINES:
        assert numbers[name]["value"] == result[name]
        assert numbers[name]["reason"] is None
    assert numbers["kind"] == kind and numbers["likelihood"] == "product"
    assert (numbers["released"], numbers["secrets"], numbers["victims"]) == (8, 5, 8)
    assert numbers["keys"] == 24 and numbers["records_a_secret"] == 1.6
    assert numbers["domains"]["zip"] == {"values": 6, "from": "release", "public": True}
    assert set(numbers["population"]) == {"secret", "key"}
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert "Reasoning" in repr(found)


def test_what_anybody_learns_of_the_population() -> None:
    secret, nation = (table_1("horizontal", "product").population[p] for p in ("secret", "key"))
    same({s: t["mean"] for s, t in secret.items()}, dict(zip(
        SECRETS, [3 / 13, 4 / 13, 2 / 13, 2 / 13, 2 / 13], strict=True)))  # fmt: skip
    expected = oracle.population("horizontal", N_H, [NATIONS])["values"][0]
    for s, law in nation["nation"].items():
        same({v: t["mean"] for v, t in law.items()}, {v: float(p) for v, p in expected[s].items()})
        for share in law.values():
            assert 0 <= share["low"] < share["mean"] < share["high"] <= 1
    assert nation["nation"][H]["M"]["truth"] == 1.0
    distance = table_1("horizontal", "product").population["distances"]["secret"]
    same(distance["total_variation"], sum(
        abs(t["mean"] - t["truth"]) for t in secret.values()) / 2)  # fmt: skip


def test_other_weights_of_a_saturated_model() -> None:
    lines = told(attacked(RELEASE, beta=0.5, **SATURATED))["sensitivity"]
    assert [line["beta"] for line in lines] == [1.0, 0.1]
    for line in lines:
        own = attacked(RELEASE, beta=line["beta"], **SATURATED).to_dict()
        assert set(line) == HEADLINES - {"baseline"} | {"beta"}
        same(line, {name: own.get(name, line["beta"]) for name in line})


# --------------------------------------------------------------------------- weights

EVEN = dict.fromkeys(NATIONS, 1)


def by_secret(**unequal: Any) -> dict[str, Any]:
    return {s: {0: EVEN | unequal.get(s, {})} for s in SECRETS}


@pytest.mark.parametrize(
    ("beta", "meant"),
    [
        (0.5, F(1, 2)),
        ({}, 1),
        ({"M": 2}, {0: EVEN | {"M": 2}}),
        ({FLU: 3}, {s: 3 if s == FLU else 1 for s in SECRETS}),
        ({"nation": 0.5}, F(1, 2)),
        ({"nation": {"M": 2}}, {0: EVEN | {"M": 2}}),
        ({FLU: {"M": 3}}, by_secret(Flu={"M": 3})),
        ({"nation": {FLU: {"M": 3}, H: {"J": 0.25}}},
         by_secret(Flu={"M": 3}, Heart={"J": F(1, 4)})),
    ],
)  # fmt: skip
def test_weights_of_values(beta: Any, meant: Any) -> None:
    expected = oracle.horizontal(N_H, [NATIONS], [("M",), ("J",)], beta=meant)
    as_oracle(attacked(RELEASE, beta=beta), expected)


@pytest.mark.parametrize(
    ("alpha", "meant"),
    [(2.5, F(5, 2)), ({FLU: 4}, {FLU: 4}), ({"disease": {FLU: 4}}, {FLU: 4}), ({"disease": 3}, 3)],
)
def test_weights_of_secrets(alpha: Any, meant: Any) -> None:
    exact = meant if not isinstance(meant, dict) else dict.fromkeys(SECRETS, 1) | meant
    expected = oracle.horizontal(N_H, [NATIONS], [("M",), ("J",)], alpha=exact)
    as_oracle(attacked(RELEASE, alpha=alpha), expected)


@pytest.mark.parametrize("beta", [F(1, 1205), F(1, 10**9)])
@kinds
def test_small_weights(kind: str, beta: Fraction) -> None:
    """One record for a whole domain, and less; the printed learner is there as well."""
    if kind == "horizontal":
        expected = oracle.horizontal(N_H, [NATIONS], [("M",), ("J",)], beta=beta)
    else:
        groups = [
            ([(n,) for n in ORIGINAL["nation"][2 * i : 2 * i + 2]], held)
            for i, held in enumerate(SECRET_LISTS)
        ]
        expected = oracle.vertical(groups, [NATIONS], [("M",), ("J",)], beta=beta)
    found = attacked(TABLES[kind], beta=float(beta), printed=True)
    as_oracle(found, expected)
    for nation in NATIONS:
        same(sum(found.beliefs[nation]["learner_printed"].values()), 1.0, 1e-9)


@pytest.mark.parametrize("how", [{"alpha": 1e300}, {"beta": 5e-324}, {"beta": 1e300}])
@kinds
def test_weights_out_of_range(kind: str, how: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"alpha|beta|weight"):
        attacked(TABLES[kind], None, **how)


def test_weights_by_column() -> None:
    people = list(zip(ORIGINAL["nation"], ORIGINAL["zip"], strict=True))
    groups = list(zip([people[i : i + 2] for i in (0, 2, 4, 6)], SECRET_LISTS, strict=True))
    expected = oracle.vertical(
        groups, [NATIONS, ZIPS], list(TWO_COLUMNS), beta={0: F(1, 2), 1: dict.fromkeys(ZIPS, 2)}
    )
    found = attacked(TABLES["vertical"], quasi=list(BOTH), beta={"nation": 0.5, "zip": 2})
    as_oracle(found, expected)


@pytest.mark.parametrize(
    "beta", [{("M", "45501"): 4, ("C", "55503"): 0.5}, {FLU: {("M", "45501"): 4}}, {FLU: 2}]
)
@kinds
def test_weights_of_combinations(kind: str, beta: dict[Any, Any]) -> None:
    """The first two groups, as one symbol a combination."""
    zips, secrets = ZIPS[:4], [H, FLU, ST]
    every = dict.fromkeys(product(NATIONS, zips), F(1))
    if FLU not in beta:
        meant: Any = every | {key: F(weight) for key, weight in beta.items()}
    else:
        own = beta[FLU]
        meant = dict.fromkeys(secrets, every) | {
            FLU: every | own if isinstance(own, dict) else dict.fromkeys(every, F(own))
        }
    people = list(zip(ORIGINAL["nation"], ORIGINAL["zip"], strict=True))[:4]
    call: Any
    left: list[Any]
    if kind == "horizontal":
        release: Any = {c: v[:4] for c, v in RELEASE.items()}
        call, left = oracle.horizontal, [
            (NATION_SETS[0], frozenset(zips[:2])), (NATION_SETS[1], frozenset(zips[2:])),
        ]  # fmt: skip
    else:
        release = {c: v[:4] for c, v in PEOPLE.items()}, {c: v[2:6] for c, v in LISTS.items()}
        call, left = oracle.vertical, [people[:2], people[2:]]
    groups = list(zip(left, SECRET_LISTS[:2], strict=True))
    expected = call(groups, [NATIONS, zips], people, beta=meant, likelihood="saturated")
    original = {c: v[:4] for c, v in ORIGINAL.items()}
    domain = {"nation": NATIONS, "zip": zips}
    as_oracle(attacked(release, original, beta=beta, domain=domain, **SATURATED), expected)


# --------------------------------------------------------------------------- domains and labels


def ages(**how: Any) -> Any:
    release = {"age": ["[20-21]", "[20-21]", "22", "[21-22]"], "disease": list("xyxy")}
    original = {"age": ["20", "21", "22", "21"], "disease": list("xyxy")}
    return attacked(release, original, "age", **how)


def test_domains_that_are_given(tmp_path: Path) -> None:
    listed = tmp_path / "ages.txt"
    listed.write_text("".join(f"{age}\n" for age in range(19, 25)))
    sets = [frozenset({"20", "21"}), frozenset({"22"}), frozenset({"21", "22"})]
    groups = list(zip([(s,) for s in sets], [["x", "y"], ["x"], ["y"]], strict=True))
    every = [str(age) for age in range(19, 25)]
    expected = oracle.horizontal(groups, [every], [("20",), ("21",), ("22",)])
    for given in (every, "19..24", str(listed), listed):
        found = ages(domain={"age": given})
        as_oracle(found, expected)
        assert told(found)["domains"]["age"] == {"values": 6, "from": "given", "public": True}


def test_domains_of_numbers() -> None:
    by_text = ages(domain={"age": ["19", "20", "21", "22"]})
    assert dict(ages(domain={"age": [19, 20, 21, 22]}).beliefs) == dict(by_text.beliefs)
    people = {"group": list("1122"), "age": ["20", "21", "22", "21"]}
    lists = {"group": list("1122"), "disease": list("xyxy")}
    found = attacked((people, lists), None, "age", domain={"age": [19, 20, 21, 22]})
    assert told(found)["domains"]["age"]["values"] == 4


def test_a_domain_without_a_value_that_occurs() -> None:
    found = ages(domain={"age": ["20", "22"]})
    assert told(found)["domains"]["age"] == {"values": 3, "from": "given", "public": False}
    assert any("'age'" in str(w) and "known from the original" in str(w) for w in found.warnings)
    same(found.beliefs["21"]["attacker"], ages().beliefs["21"]["attacker"])


def test_only_observed_values() -> None:
    release = RELEASE | {"nation": ["{M,J,K}", *RELEASE["nation"][1:]]}
    names = [frozenset("MJK"), *NATION_SETS]
    lists = [[H], [FLU], *SECRET_LISTS[1:]]
    for domain, known in (("cross", [*NATIONS, "K"]), ("observed", NATIONS)):
        groups = [((s & set(known),), held) for s, held in zip(names, lists, strict=True)]
        expected = oracle.horizontal(groups, [known], [(n,) for n in NATIONS])
        as_oracle(attacked(release, domain=domain), expected)


@kinds
def test_observed_values_that_do_not_suffice(kind: str) -> None:
    """A released value that the original lacks is not silently another one."""
    strange = ["X", *ORIGINAL["nation"][1:]]
    tables = {
        "horizontal": RELEASE | {"nation": ["X", *RELEASE["nation"][1:]]},
        "vertical": (PEOPLE | {"nation": strange}, LISTS),
    }
    for how in ({}, SATURATED):
        with pytest.raises(InputError, match="fit") as caught:
            attacked(tables[kind], domain="observed", **how)
        assert "X" not in str(caught.value)


@pytest.mark.parametrize("star", ["*", "***"])
def test_suppressed_cells(star: str) -> None:
    release = RELEASE | {"nation": [star, *RELEASE["nation"][1:]]}
    groups = [((frozenset(NATIONS),), [H]), (N_H[0][0], [FLU]), *N_H[1:]]
    as_oracle(attacked(release), oracle.horizontal(groups, [NATIONS], [(n,) for n in NATIONS]))


def test_labels_of_a_hierarchy() -> None:
    east = {"J": ["east", "*"], "C": ["east", "*"], "K": ["east", "*"]}
    west = {"M": ["west", "*"], "I": ["west", "*"]}
    names = ["west", "*", "J", "J", "east", "east", "west", "west"]
    found = attacked(RELEASE | {"nation": names}, hierarchies={"nation": east | west})
    parts = [frozenset("MI"), frozenset("MIJCK"), frozenset("J"), frozenset("JCK"), frozenset("MI")]
    lists = [[H], [FLU], [FLU, ST], [HIV, D], [FLU, H]]
    groups = [((part,), held) for part, held in zip(parts, lists, strict=True)]
    as_oracle(found, oracle.horizontal(groups, [list("JCKMI")], [(n,) for n in NATIONS]))
    assert told(found)["domains"]["nation"]["from"] == "hierarchy"
    assert found.to_dict()["method"] == "closed form"


MISSING_ORIGINAL = ORIGINAL | {"nation": ["M", "J", None, "J", "C", "J", "I", "M"]}
MISSING_RELEASE = RELEASE | {"nation": ["{M,J}"] * 2 + [None, "J"] + RELEASE["nation"][4:]}


@pytest.mark.parametrize("missing", ["value", "wildcard"])
def test_missing_values(missing: str) -> None:
    every = [*NATIONS, None]
    own = frozenset({None}) if missing == "value" else frozenset(every)
    sets = [NATION_SETS[0], own, *NATION_SETS[1:]]
    lists = [SECRET_LISTS[0], [FLU], [ST], *SECRET_LISTS[2:]]
    groups = [((s,), held) for s, held in zip(sets, lists, strict=True)]
    expected = oracle.horizontal(groups, [every], [(n,) for n in every])
    as_oracle(attacked(MISSING_RELEASE, MISSING_ORIGINAL, missing=missing), expected)


def test_weights_of_a_missing_value() -> None:
    beta = {FLU: {None: 2.0}}
    found = attacked(MISSING_RELEASE, MISSING_ORIGINAL, beta=beta)
    spelled = attacked(MISSING_RELEASE, MISSING_ORIGINAL, beta={FLU: {None: 2.0, "M": 1.0}})
    assert found.beliefs[None,] == spelled.beliefs[None,]


def test_a_missing_secret_is_a_secret() -> None:
    held = [None if s == D else s for s in ORIGINAL["disease"]]
    found = attacked(RELEASE | {"disease": held}, ORIGINAL | {"disease": held})
    for nation in NATIONS:
        plain = table_1("horizontal", "product").beliefs[nation]["attacker"]
        own = found.beliefs[nation]["attacker"]
        same([own[None if s == D else s] for s in SECRETS], [plain[s] for s in SECRETS])


# --------------------------------------------------------------------------- without the original


@kinds
def test_without_the_original(kind: str) -> None:
    found = attacked(TABLES[kind], None, list(BOTH), printed=True)
    known = table_1(kind, "product", BOTH)
    possible = set(zip(ORIGINAL["nation"], ORIGINAL["zip"], strict=True))
    if kind == "horizontal":
        parts = zip(NATION_SETS, [ZIPS[:2], ZIPS[2:4], ZIPS[4:5], ZIPS[5:]], strict=True)
        possible = {person for part in parts for person in product(*part)}
    assert set(found.beliefs) == possible
    assert set(known.beliefs) <= possible
    for person in known.beliefs:
        for who in ("attacker", "learner", "learner_printed"):
            same(found.beliefs[person][who], known.beliefs[person][who], 1e-11)
    result, numbers = found.to_dict(), told(found)
    for name in HEADLINES - {"baseline"}:
        assert result[name] is None
        assert numbers[name]["reason"] == "needs the original"
    same(result["baseline"], 3 / 8)
    assert numbers["worst"] == [] and numbers["victims_are_all"] is True
    assert 3 / 8 < numbers["attacker_expects"]["value"] < 1
    assert "truth" not in found.population["secret"][FLU]


def test_what_the_attacker_expects() -> None:
    numbers = told(attacked(RELEASE, None))
    known = oracle.posterior("horizontal", N_H, [NATIONS])
    best = sum(
        max(sum(p * t.rows.get((s, (n,)), 0) for t, p in known.tables) for s in SECRETS)
        for n in NATIONS
    )
    same(numbers["attacker_expects"]["value"], float(best / 8))


def test_more_people_than_can_be_imagined() -> None:
    release = {
        "nation": ["[0-199]", "[0-150]"] * 2,
        "zip": ["[0-199]"] * 4,
        "disease": list("xyzz"),
    }
    first, second = (attacked(release, None, list(BOTH), seed=4) for _ in range(2))
    assert told(first)["victims_are_all"] is False
    assert 1000 < len(first.beliefs) <= 10_000
    assert first.to_dict() == second.to_dict()
    for person in list(first.beliefs)[:5]:
        same(sum(first.beliefs[person]["attacker"].values()), 1.0)


def test_an_original_without_the_secret() -> None:
    found = attacked(RELEASE, {"nation": ORIGINAL["nation"]})
    assert found.to_dict()["attacker_accuracy"] is None
    assert any("lacks 'disease'" in str(w) for w in found.warnings)


def test_an_original_without_a_column() -> None:
    original = {c: ORIGINAL[c] for c in ("nation", "disease")}
    plain = attacked(RELEASE, original, list(BOTH))
    assert set(plain.beliefs) == {(n,) for n in NATIONS}
    same(plain.beliefs["M"]["attacker"], table_1("horizontal", "product").beliefs["M"]["attacker"])
    given = attacked(RELEASE, original, list(BOTH), domain={"zip": ZIPS})
    assert dict(given.beliefs) == dict(plain.beliefs)


# --------------------------------------------------------------------------- shapes of releases


def test_three_ways_to_hand_over_two_tables() -> None:
    expected = dict(attacked((PEOPLE, LISTS)).beliefs)
    apart = attacked(PEOPLE, sensitive_table=LISTS)
    one = attacked(PEOPLE | {"disease": [FLU, H, ST, FLU, D, HIV, H, FLU]}, group="group")
    for found in (apart, one):
        assert dict(found.beliefs) == expected
        assert told(found)["groups"] == 4 and told(found)["largest_group"] == 2


def test_a_secret_in_its_own_table_is_no_quasi_identifier() -> None:
    people = PEOPLE | {"disease": [FLU, H, ST, FLU, D, HIV, H, FLU]}
    with pytest.raises(UsageError, match="'disease' is both quasi-identifier and secret"):
        sievert.attack(
            people, None, ["nation", "disease"], "disease", sensitive_table=LISTS, group="group"
        )


def test_several_secrets() -> None:
    other = {"job": list("aabbccab")}
    found = sievert.attack(
        RELEASE | other, original=ORIGINAL | other, quasi="nation", sensitive=["disease", "job"]
    )
    assert set(found.reasoning) == {"disease", "job"}
    expected = table_1("horizontal", "product")
    assert dict(found.reasoning["disease"].beliefs) == dict(expected.beliefs)
    assert found.reasoning["disease"].population["key"] == expected.population["key"]
    assert set(found.reasoning["job"].beliefs["M"]["attacker"]) == set("abc")
    for name in ("beliefs", "population"):
        with pytest.raises(UsageError, match="several secrets"):
            getattr(found, name)
    assert not HEADLINES & set(found.to_dict())
    assert set(found.to_dict()["attacks"]["reasoning"]) == {"disease", "job"}


def test_nobody_reasons_without_a_secret() -> None:
    found = sievert.attack(RELEASE, quasi="nation")
    assert "reasoning" not in found.to_dict()["attacks"]
    with pytest.raises(UsageError, match="nobody has reasoned"):
        _ = found.beliefs
    assert not sievert.attack(
        RELEASE, quasi="nation", sensitive="disease", reasoning=False
    ).reasoning


@kinds
def test_victims_that_fit_no_class(kind: str) -> None:
    """One of them has a secret besides that the release does not know."""
    original = ORIGINAL | {
        "nation": list("MJJJCJIX"),
        "disease": [*ORIGINAL["disease"][:7], "Gout"],
    }
    found = attacked(TABLES[kind], original)
    beliefs = found.beliefs["X"]
    assert set(beliefs["attacker"].values()) == {0.0}
    same(sum(beliefs["learner"].values()), 1.0)
    numbers = told(found)
    assert numbers["victims_without_a_class"] == 1
    assert all(row["row"] != 8 for row in numbers["worst"])
    assert any("a secret that the release does not have" in str(w) for w in found.warnings)
    expected = oracle.horizontal(N_H, [[*NATIONS, "X"]], [(n,) for n in NATIONS])
    if kind == "horizontal":
        as_oracle(found, expected)
        same(found.to_dict()["attacker_accuracy"], 4.5 / 8)


# --------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"likelihood": "joint"}, "--likelihood"),
        ({"domain": "all"}, "--domain"),
        ({"domain": {"nationality": ["M"]}}, "--domain: column 'nationality'"),
        ({"domain": {"nation": []}}, "a domain without values"),
        ({"method": "magic"}, "method"),
        ({"alpha": 0}, "alpha must be positive"),
        ({"alpha": float("inf")}, "alpha must be positive"),
        ({"alpha": {"gout": 2}}, "alpha: 1 of its 1 keys"),
        ({"beta": -1}, "beta must be positive"),
        ({"beta": float("nan")}, "beta must be positive"),
        ({"beta": "much"}, "beta: a positive number"),
        ({"beta": {"M": 0}}, "beta must be positive"),
        ({"beta": {"M": 2, "gout": 2}}, "beta: 1 of its 2 keys"),
        ({"beta": {"nation": 2}, **SATURATED}, "beta: all columns are one"),
        ({"beta": {("M", "?"): 2}, **SATURATED}, "beta: a key"),
        ({"chains": 1}, "--chains"),
        ({"chains": 65}, "--chains"),
        ({"sweeps": 49}, "--sweeps"),
        ({"seed": -1}, "seed"),
        ({"domain": "observed"}, "needs the original"),
        ({"records": "out.csv", "reasoning": False}, "--records"),
        ({"original": ORIGINAL, "records": "out.xlsx"}, ".csv or .parquet"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense(how: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        attacked(RELEASE, **({"original": None} | how))
    assert text in str(caught.value)


def test_keys_that_may_be_two_things() -> None:
    """A value spelled as a secret: whose weight is it?"""
    release = RELEASE | {"nation": [n.replace("M", H) for n in RELEASE["nation"]]}
    original = ORIGINAL | {"nation": [n.replace("M", H) for n in ORIGINAL["nation"]]}
    with pytest.raises(UsageError, match="may be secrets or values"):
        attacked(release, original, beta={H: 2})
    as_value = attacked(release, original, beta={"nation": {H: 2, "J": 1}})
    plain = attacked(RELEASE, beta={"M": 2}).beliefs["M"]
    for who in ("attacker", "learner"):
        same(as_value.beliefs[H][who], plain[who])


@pytest.mark.parametrize(
    ("release", "text"),
    [
        ((PEOPLE, {c: v[:7] for c, v in LISTS.items()}), "1 of 4 groups have other numbers"),
        ((PEOPLE, {"group": GROUPS, "disease": [H] * 8} | {"group": [*GROUPS[:7], "3"]}),
         "2 of 4 groups"),
        ((PEOPLE, {"group": [*GROUPS, "9"], "disease": [H] * 9}), "without people"),
    ],
)  # fmt: skip
def test_tables_that_make_no_sense(release: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        attacked(release)


def test_labels_that_fit_nothing() -> None:
    release = RELEASE | {"nation": ["{M,J", *RELEASE["nation"][1:]]}
    with pytest.raises(InputError, match="no known value fits 1 of 5 labels") as caught:
        attacked(release, domain={"nation": NATIONS})
    assert "{M" not in str(caught.value)


def test_releases_of_too_many_tables() -> None:
    with pytest.raises(UsageError, match="one table or two"):
        attacked((PEOPLE, LISTS, LISTS))
    with pytest.raises(UsageError, match="joins the two tables"):
        attacked((PEOPLE | {"part": GROUPS}, LISTS | {"part": GROUPS}))


# --------------------------------------------------------------------------- records


def rows_of(path: Path) -> list[dict[str, Any]]:
    read = pandas.read_csv if path.suffix == ".csv" else pandas.read_parquet
    rows: list[dict[str, Any]] = read(path).to_dict("records")
    return rows


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_of_records(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"records.{suffix}"
    found = attacked(RELEASE, records=path)
    rows = rows_of(path)
    assert list(rows[0]) == [
        "record", "disease_attacker", "disease_learner", "disease_at_risk",
        "disease_attacker_mcse", "disease_learner_mcse",
    ]  # fmt: skip
    assert {row["disease_attacker_mcse"] for row in rows} == {0}  # exact
    assert [row["record"] for row in rows] == list(range(1, 9))
    for row, nation, s in zip(rows, ORIGINAL["nation"], ORIGINAL["disease"], strict=True):
        held = found.beliefs[nation]
        same(row["disease_attacker"], held["attacker"][s])
        same(row["disease_learner"], held["learner"][s])
    assert [row["disease_at_risk"] for row in rows] == [
        "yes", "yes", "yes", "no", "yes", "no", "yes", "yes",
    ]  # fmt: skip


def test_records_that_are_undecided(tmp_path: Path) -> None:
    """Both secrets are equally likely for everybody, but chains can only say: about so."""
    path = tmp_path / "records.csv"
    release = {"nation": ["{M,J}"] * 2 + ["{J,K}"] * 2, "disease": list("xyxy")}
    original = {"nation": list("MJJK"), "disease": list("xyxy")}
    found = attacked(release, original, method="gibbs", chains=2, seed=3, records=path)
    assert [row["disease_at_risk"] for row in rows_of(path)] == ["undecided"] * 4
    assert told(found)["undecided"]["value"] == 4


def test_ties_that_chains_are_sure_of(tmp_path: Path) -> None:
    """No chain ever moves the halves of the third class: its tie is one, not rounding."""
    path = tmp_path / "records.csv"
    found = attacked(RELEASE, method="gibbs", records=path)
    assert rows_of(path)[4]["disease_at_risk"] == "yes"
    numbers = told(found)
    assert numbers["undecided"]["value"] == 0
    assert numbers["worst"][0]["row"] == 5
    assert numbers["worst"][0]["relative_risk"] == numbers["max_relative_risk"]["value"]


# --------------------------------------------------------------------------- no values


def disguised(table: Any) -> Any:
    """Every value of the data as a token that no output may hold."""
    signs = str.maketrans({c: f"qx{c}" for c in "MJCI"})
    own = {"nation": [n.translate(signs) for n in table["nation"]]} if "nation" in table else {}
    held = {"disease": [f"qx{s}" for s in table["disease"]]} if "disease" in table else {}
    groups = {"group": [f"qx{g}" for g in table["group"]]} if "group" in table else {}
    return {**own, **held, **groups}


TOKENS = [f"qx{c}" for c in "MJCIK"]


@pytest.mark.parametrize("known", [True, False])
@kinds
@pytest.mark.slow
def test_no_value_of_the_data_is_told(kind: str, known: bool) -> None:
    release = TABLES[kind]
    release = tuple(map(disguised, release)) if kind == "vertical" else disguised(release)
    original = disguised(ORIGINAL) if known else None
    for how in ({}, {"likelihood": "saturated", "domain": {"nation": TOKENS}},
                {"method": "gibbs", "sweeps": 50}):  # fmt: skip
        found = attacked(release, original, **how)
        assert "qx" not in json.dumps(found.to_dict()) + repr(found) + "".join(found.warnings)
    shown = told(attacked(release, original, show_values=True))["beliefs"]
    assert len(shown) == 4
    assert {person["values"]["nation"] for person in shown} == {"qxM", "qxJ", "qxC", "qxI"}
    same(sum(each["probability"] for each in shown[0]["attacker"]), 1.0)


@pytest.mark.parametrize(
    "how", [{"beta": {"qxZ": 2}}, {"alpha": {"qxZ": 2}}, {"beta": {"qxM": -2}}, {"beta": "qxM"}]
)
def test_no_value_in_an_error(how: dict[str, Any]) -> None:
    with pytest.raises(SievertError) as caught:
        attacked(disguised(RELEASE), disguised(ORIGINAL), **how)
    assert "qx" not in str(caught.value)


# --------------------------------------------------------------------------- chance


@kinds
@pytest.mark.slow
def test_the_same_seed_the_same_numbers(kind: str) -> None:
    def found(seed: int, threads: int) -> Any:
        return sievert.attack(
            TABLES[kind], original=ORIGINAL, quasi=list(BOTH), sensitive="disease",
            method="gibbs", sweeps=60, seed=seed, threads=threads, chains=3,
        )  # fmt: skip

    first, second, other = found(5, 1), found(5, 2), found(6, 2)
    assert first.to_dict() == second.to_dict()
    assert dict(first.beliefs) == dict(second.beliefs)
    assert first.population == second.population
    assert dict(first.beliefs) != dict(other.beliefs)
    assert told(first)["sampling"]["chains"] == 3


@kinds
def test_sampling_comes_near(kind: str) -> None:
    found, exact = (
        attacked(TABLES[kind], method="gibbs", chains=2, seed=1),
        table_1(kind, "product"),
    )
    assert found.to_dict()["method"] == "gibbs" and found.to_dict()["converged"]
    for nation in NATIONS:
        for who in ("attacker", "learner", "learner_printed"):
            same(believed(found, nation, who), believed(exact, nation, who), 0.04)
    numbers = told(found)
    low, high = numbers["intervals"]["attacker_accuracy"]
    assert low <= found.to_dict()["attacker_accuracy"] <= high
    assert numbers["sampling"]["rhat"] < 1.01 and numbers["sampling"]["effective"] > 400
    assert numbers["sampling"]["least_agreed"] in WATCHED
    places = numbers["sampling"]["so_far"]
    assert len(places) == 50 and places[-1]["sweeps"] == numbers["sampling"]["sweeps"]
    assert all(len(p["by_chain"]) == 2 and min(p["by_chain"]) >= 0 for p in places)


def two_worlds(pairs: int = 20) -> tuple[Any, Any]:
    """Pairs of people and of secrets; who are the same in all pairs, only the first pair tells."""
    original = {"nation": list("ab") * pairs, "disease": list("xy") * pairs}
    groups = [str(i // 2) for i in range(2 * pairs)]
    return ({"group": groups, "nation": original["nation"]},
            {"group": groups, "disease": original["disease"]}), original  # fmt: skip


def refused(found: Any) -> Any:
    """Nothing but the baseline is told, and why."""
    result, numbers = found.to_dict(), told(found)
    assert result["converged"] is False and result["method"] == "gibbs"
    for name in HEADLINES - {"baseline"}:
        assert result[name] is None
        assert numbers[name]["reason"] == "the chains have not converged"
    assert result["baseline"] is not None
    assert numbers["worst"] == [] and numbers["intervals"] == {}
    assert not {"at_risk", "attacker_accuracy_literal", "attacker_expects"} & set(numbers)
    assert "do not agree" in numbers["reading"]
    assert "do not agree" in " ".join(repr(found).split())
    return numbers["sampling"]


@pytest.mark.slow
def test_two_worlds_are_no_answer() -> None:
    release, original = two_worlds()
    found = attacked(release, original, beta=0.001, method="gibbs", sweeps=100, chains=16)
    sampling = refused(found)
    assert set(sampling["attacker_by_chain"]) == {0.0, 1.0}
    assert sampling["rhat"] is None or sampling["rhat"] > 5
    json.dumps(found.to_dict(), allow_nan=False)
    counted = attacked(release, original, beta=0.001)
    assert counted.to_dict()["method"] == "exact"
    same(counted.beliefs["a"]["attacker"], {"x": 0.5, "y": 0.5})


def test_a_few_sweeps_are_no_answer() -> None:
    sampling = refused(attacked(RELEASE, method="gibbs", sweeps=50))
    assert sampling["sweeps"] + sampling["burnt"] == 50
    assert sampling["effective"] < 400


def test_a_few_sweeps_are_no_answer_without_the_original() -> None:
    refused(attacked(RELEASE, None, method="gibbs", sweeps=50))


def test_intervals_hold_nine_tenths() -> None:
    """The share of a secret is Beta(2, 11) here, whose tails are binomial; a key's are drawn."""
    found = attacked(RELEASE, ORIGINAL)
    share = found.population["secret"][D]

    def below(x: float, b: int, n: int) -> float:
        return sum(math.comb(n, j) * x**j * (1 - x) ** (n - j) for j in range(b, n + 1))

    assert below(share["low"], 2, 12) == pytest.approx(0.05, abs=1e-9)
    assert below(share["high"], 2, 12) == pytest.approx(0.95, abs=1e-9)
    key = found.population["key"]["nation"][ST]["J"]  # one record of J: Beta(2, 3)
    for end, tail in (("low", 0.05), ("high", 0.95)):
        assert below(key[end], 2, 4) == pytest.approx(tail, abs=4 * math.sqrt(0.05 * 0.95 / 1000))
