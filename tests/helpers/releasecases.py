"""Random tables, policies and options of `protect`, one case a method and a seed."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from helpers.releasechecker import Value, base_of, group_rows, inference, reidentification

# Every name of a case, and its method.
METHODS = {
    "full": "full",
    "people": "full",
    "regions": "regions",
    "local": "local",
    "sets": "local",
    "suppress": "suppress",
    "microaggregate": "microaggregate",
    "noise": "noise",
    "round": "round",
    "pram": "pram",
    "sample": "sample",
    "anatomy": "anatomy",
}
# Those that look for a release within the limits.
SEARCHES = ("full", "people", "regions", "local", "sets", "suppress")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A table, the policy for it, and the options of `protect`."""

    name: str  # the method, or what is special about it
    seed: int
    columns: dict[str, list[Value]]
    policy: dict[str, Any]
    options: dict[str, Any]

    @property
    def how(self) -> str:
        return str(self.options["how"])

    @property
    def rows(self) -> list[dict[str, Value]]:
        names = list(self.columns)
        return [
            dict(zip(names, row, strict=True)) for row in zip(*self.columns.values(), strict=True)
        ]

    def shuffled(self, rng: random.Random) -> Case:
        """Give the same case with its rows in another order."""
        order = list(range(len(next(iter(self.columns.values())))))
        rng.shuffle(order)
        columns = {name: [values[n] for n in order] for name, values in self.columns.items()}
        return Case(
            name=self.name,
            seed=self.seed,
            columns=columns,
            policy=self.policy,
            options=self.options,
        )

    def write(self, path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file)
            lines.writerow(self.columns)
            lines.writerows(zip(*self.columns.values(), strict=True))


# --- Columns -------------------------------------------------------------------------------------


def skewed(rng: random.Random, values: Sequence[str], rows: int) -> list[Value]:
    """Draw values, the first ones more often."""
    weights = [1 / (place + rng.choice([1, 2, 4])) for place in range(len(values))]
    return list(rng.choices(values, weights, k=rows))


def ages(rng: random.Random, rows: int) -> list[Value]:
    return [str(min(90, max(18, round(rng.gauss(45, 15))))) for _ in range(rows)]


def children(rng: random.Random, rows: int) -> list[Value]:
    return [str(rng.choices(range(4), [5, 3, 2, 1])[0]) for _ in range(rows)]


def heights(rng: random.Random, rows: int) -> list[Value]:
    return [f"{rng.gauss(1.7, 0.1):.2f}" for _ in range(rows)]


def incomes(rng: random.Random, rows: int) -> list[Value]:
    return [str(100 * round(rng.lognormvariate(3.3, 0.5))) for _ in range(rows)]


def births(rng: random.Random, rows: int) -> list[Value]:
    first = date(1950, 1, 1)
    return [str(first + timedelta(days=rng.randrange(18_000))) for _ in range(rows)]


def cities(rng: random.Random, rows: int) -> list[Value]:
    return skewed(rng, ["Bonn", "Ulm", "Jena", "Trier", "Emden", "Passau"], rows)


def sexes(rng: random.Random, rows: int) -> list[Value]:
    return skewed(rng, ["f", "m"], rows)


def postcodes(rng: random.Random, rows: int) -> list[Value]:
    return skewed(rng, [f"0{number}" for number in rng.sample(range(1000, 1060), 12)], rows)


def jobs(rng: random.Random, rows: int) -> list[Value]:
    return skewed(rng, ["nurse", "cook", "clerk", "smith", "baker", "judge", "miner"], rows)


DRAWN: dict[str, Callable[[random.Random, int], list[Value]]] = {
    "age": ages,
    "children": children,
    "height": heights,
    "income": incomes,
    "birth": births,
    "city": cities,
    "sex": sexes,
    "postcode": postcodes,
    "job": jobs,
}
NUMBERS = ("age", "children", "height", "income")
FEW_VALUES = ("children", "city", "sex", "job")
TOWNS = {"north": ["Emden", "Bonn"], "middle": ["Jena", "Trier"], "south": ["Ulm", "Passau"]}
HIERARCHIES: dict[str, list[Any]] = {
    "age": ["interval:5,10,20,40", "quantile:8,4,2", "ends:25,70/interval:5,15"],
    "income": ["interval:500,1000,4000"],
    "birth": ["date:month,year,decade"],
    "city": [{"*": TOWNS}],
    "postcode": ["prefix:4,3,2"],
    "job": ["top:4,2"],
}


def with_gaps(rng: random.Random, values: list[Value], share: float) -> list[Value]:
    """Leave some values out."""
    return [None if rng.random() < share else value for value in values]


def secret_of(rng: random.Random, name: str, values: Sequence[Value]) -> list[Value]:
    """Draw a secret that depends a little on another column."""
    drawn: list[Value] = []
    for value in values:
        luck = random.Random(f"{value}").random() if rng.random() < 0.3 else rng.random()
        if name == "ill":
            drawn.append(["none", "flu", "cold", "asthma", "hiv"][int(5 * luck**1.6)])
        elif name == "debt":
            drawn.append("yes" if luck > 0.8 else "no")
        else:
            drawn.append(str(1000 + 500 * int(7 * luck**1.3)))
    return drawn


# --- Policies ------------------------------------------------------------------------------------

TABLE_LIMITS: dict[str, list[dict[str, float]]] = {
    "average_risk": [{"max": 0.2}, {"max": 0.1}],
    "unique_records": [{"max": 0.05}, {"max": 0}],
    "records_below": [{"max": 20}, {"max": 0}],
    "highest_risk": [{"max": 0.5}, {"max": 0.25}],
    "separation": [{"max": 0.97}],
    "bayes_vulnerability_posterior": [{"max": 0.2}],
    "discrimination_rate": [{"max": 0.7}],
    "mutual_information": [{"max": 6}],
    "itpr": [{"max": 0.99}],
    "itpr_unnormalized": [{"max": 0.999}],
    "conditional_entropy": [{"min": 2}],
}
SECRET_LIMITS: dict[str, list[dict[str, float]]] = {
    "l_diversity": [{"min": 2}, {"min": 3}],
    "entropy_l": [{"min": 1.2}, {"min": 2}],
    "recursive_c": [{"max": 3}, {"max": 2}, {"max": 4}],
    "t_closeness": [{"max": 0.5}, {"max": 0.3}],
    "t_closeness_ordered": [{"max": 0.3}, {"max": 0.2}],
    "max_confidence": [{"max": 0.8}, {"max": 0.75}, {"max": 0.9}],
    "alpha_k": [{"max": 0.8}, {"max": 0.9}],
    "confidence_gain": [{"max": 0.5}, {"max": 0.75}, {"max": 0.9}],
    "guess_gain": [{"max": 0.3}, {"max": 0.5}],
    "beta_likeness": [{"max": 4}, {"max": 2}],
    "enhanced_beta_likeness": [{"max": 1}, {"max": 2}, {"max": 10}],
    "delta_disclosure": [{"max": 2}],
    "delta_disclosure_present": [{"max": 1.5}],
    "t_closeness_hierarchical": [{"max": 0.3}],
    "semantic_discrimination_rate": [{"max": 0.3}],
    "discrimination_rate": [{"max": 0.3}, {"max": 0.5}],
    "mutual_information": [{"max": 0.5}],
    "itpr": [{"max": 0.99}],
    "itpr_unnormalized": [{"max": 0.99}],
    "bayes_vulnerability_posterior": [{"max": 0.8}],
    "entropy_variation": [{"max": 1}],
}


# Limits that only some secrets can have: those with an order, a hierarchy or a partition.
ONLY_FOR = {
    "t_closeness_ordered": ("salary", "ill"),
    "t_closeness_hierarchical": ("ill",),
    "semantic_discrimination_rate": ("ill",),
}
ORDER = ["none", "cold", "flu", "asthma", "hiv"]
BRANCHES = {"lungs": ["asthma", "flu"], "other": ["none", "cold", "hiv"]}
KINDS = {"infection": ["flu", "cold"], "grave": ["hiv"]}


def limits_on(secret: str) -> list[str]:
    """List the measures that can have a limit on this secret."""
    return [name for name in SECRET_LIMITS if secret in ONLY_FOR.get(name, (secret,))]


def policy_of(rng: random.Random, roles: dict[str, Any], limits: dict[str, Any]) -> dict[str, Any]:
    """Put a policy together, with what its measures need."""
    policy: dict[str, Any] = {"roles": roles, "limits": limits}
    if "ill" in roles["sensitive"]:
        policy["orders"] = {"ill": ORDER}
        policy["partitions"] = {"ill": KINDS}
        policy["hierarchies"] = {"ill": {"*": BRANCHES}}
    policy["parameters"] = {
        "recursive_c": {"l": rng.choice([2, 2, 3])},
        "records_below": {"k": rng.choice([3, 5])},
    }
    return policy


def limits_for(rng: random.Random, secrets: Sequence[str], k: int, most: int) -> dict[str, Any]:
    """Draw limits: k, at most so many on the table, and at most so many on every secret."""
    limits: dict[str, Any] = {}
    if k > 1:
        limits["k_anonymity"] = {"min": k}
    about_people = rng.sample(list(TABLE_LIMITS), rng.randint(0, most))
    limits["reidentification"] = {name: rng.choice(TABLE_LIMITS[name]) for name in about_people}
    limits["inference"] = {}
    for secret in secrets:
        names = rng.sample(
            limits_on(secret), rng.randint(0 if limits.get("k_anonymity") else 1, most + 1)
        )
        limits["inference"][secret] = {name: rng.choice(SECRET_LIMITS[name]) for name in names}
    return limits


def limits_near(
    rng: random.Random, columns: Mapping[str, list[Value]], roles: Mapping[str, Any]
) -> dict[str, Any]:
    """Draw limits near the numbers of a table: a method that does not search may just meet them."""
    quasi = [list(columns[name]) for name in roles["quasi"]]
    keys = list(zip(*quasi, strict=True))
    limits: dict[str, Any] = {"k_anonymity": {"min": 1}, "inference": {}}
    groups = group_rows(keys, [None] * len(keys), range(len(keys)))
    limits["reidentification"] = near(rng, TABLE_LIMITS, reidentification(groups))
    for secret in roles["sensitive"]:
        groups = group_rows(keys, columns[secret], range(len(keys)))
        order = sorted(set(columns[secret]) - {None}, key=str)
        numbers = inference(groups, base_of(groups, order=order, l=2, tree=BRANCHES))
        known = {name: SECRET_LIMITS[name] for name in limits_on(secret)}
        limits["inference"][secret] = near(rng, known, numbers)
    return limits


def near(
    rng: random.Random, known: Mapping[str, Any], numbers: Mapping[str, Any]
) -> dict[str, dict[str, float]]:
    """Draw up to three limits a little on either side of the numbers."""
    names = [name for name in known if numbers.get(name) is not None]
    limits: dict[str, dict[str, float]] = {}
    for name in rng.sample(names, rng.randint(1, 3)):
        number = round(float(numbers[name]), 9)
        if name == "enhanced_beta_likeness":
            continue
        if "min" in known[name][0]:
            least = round(number * rng.uniform(0.5, 1.0), 2)
            if least > 1:
                limits[name] = {"min": least}
        elif number not in (0, 1):
            most = round(number * rng.uniform(0.95, 1.6), 2)
            limits[name] = {"max": min(most, 0.99) if number < 1 else most}
    return limits


def random_case(name: str, seed: int) -> Case:
    """Draw a table, a policy and the options of a method."""
    rng = random.Random(f"{name} {seed}")
    rows = rng.choice([60, 120, 200, 300])
    quasi = draw_quasi(rng, name)
    secrets = rng.sample(["ill", "debt", "salary"], rng.randint(1, 2))
    if name == "anatomy":
        secrets = [rng.choice(["ill", "salary"])]
    columns: dict[str, list[Value]] = {column: DRAWN[column](rng, rows) for column in quasi}
    for secret in secrets:
        columns[secret] = secret_of(rng, secret, columns[quasi[0]])
    share = rng.choice([0, 0, 0.03, 0.1])
    for column in rng.sample(list(columns), 2):
        may_be_missing = name in SEARCHES or column in secrets
        if may_be_missing and name != "anatomy":
            columns[column] = with_gaps(rng, columns[column], share)
    columns["name"] = [f"person {number}" for number in range(rows)]
    columns["batch"] = [str(number // 10) for number in range(rows)]
    roles: dict[str, Any] = {
        "quasi": quasi,
        "sensitive": secrets,
        "identifier": ["name"],
        "ignored": {"batch": "a technical number"},
    }
    if name == "people":
        columns, roles = several_rows_each(rng, columns, roles)
    else:
        roles["rows_are_people"] = True
    sort_by = rng.choice([None, *columns])
    if sort_by is not None:
        columns = in_order_of(columns, sort_by)
    options: dict[str, Any] = {"how": METHODS[name], "seed": rng.randrange(1000)}
    OPTIONS.get(name, no_options)(rng, options, quasi)
    if "salary" in secrets:
        options["types"] = {"salary": "int"}
    limits = draw_limits(rng, name, columns, roles, options)
    policy = policy_of(rng, roles, limits)
    return Case(name=name, seed=seed, columns=columns, policy=policy, options=options)


def draw_quasi(rng: random.Random, name: str) -> list[str]:
    """Draw the quasi-identifiers of a method."""
    if name in SEARCHES:
        return rng.sample(list(DRAWN), rng.randint(1, 4))
    if name == "noise":
        return ["children", *rng.sample(["sex"], rng.randint(0, 1))]
    if name == "round":
        return rng.sample(NUMBERS, rng.randint(1, 2))
    if name in ("pram", "sample"):
        return rng.sample(FEW_VALUES, rng.randint(1, 2))
    return rng.sample(list(DRAWN), rng.randint(1, 2))


def draw_limits(
    rng: random.Random,
    name: str,
    columns: Mapping[str, list[Value]],
    roles: Mapping[str, Any],
    options: dict[str, Any],
) -> dict[str, Any]:
    """Draw the limits of a method, and for recoding how much may be suppressed."""
    secrets = roles["sensitive"]
    if name == "anatomy":
        limits = limits_for(rng, secrets, 1, 1)["inference"][secrets[0]]
        limits.pop("enhanced_beta_likeness", None)
        return {"inference": {secrets[0]: {**limits, "l_diversity": {"min": 2}}}}
    if name == "microaggregate":
        return limits_for(rng, secrets, rng.choice([3, 4, 5]), 0)
    if name not in SEARCHES:
        expected = dict(columns)
        for column, base in options.get("base", {}).items():
            expected[column] = [
                value and str(round(float(value) / base)) for value in columns[column]
            ]
        return limits_near(rng, expected, roles)
    if rng.random() < 0.3 or name == "suppress":
        limits = limits_for(rng, secrets, rng.choice([2, 3, 4]), 0)
    else:
        limits = limits_for(rng, secrets, rng.choice([2, 3, 4, 5]), 2)
    if rng.random() < 0.7:
        options["suppress"] = rng.choice([0.02, 0.05, 0.1, 0.2])
    else:
        limits["reidentification"]["suppressed_records"] = {"max": rng.choice([0, 5, 15])}
    options["hierarchies"] = {
        column: rng.choice(HIERARCHIES[column])
        for column in roles["quasi"]
        if column in HIERARCHIES and rng.random() < 0.6 and None not in columns[column]
    }
    return limits


def in_order_of(columns: Mapping[str, list[Value]], name: str) -> dict[str, list[Value]]:
    order = sorted(range(len(columns[name])), key=lambda n: columns[name][n] or "")
    return {column: [values[n] for n in order] for column, values in columns.items()}


def several_rows_each(
    rng: random.Random, columns: dict[str, list[Value]], roles: dict[str, Any]
) -> tuple[dict[str, list[Value]], dict[str, Any]]:
    """Give every person one to three rows, in which some values stay."""
    people = len(columns["name"])
    origins = sorted([*range(people), *rng.choices(range(people), k=people // 2)])
    apart = {column: [values[n] for n in origins] for column, values in columns.items()}
    again = [n for n in range(1, len(origins)) if origins[n] == origins[n - 1]]
    for column in (*roles["quasi"], *roles["sensitive"]):
        for n in again:
            if rng.random() < 0.4:
                apart[column][n] = rng.choice(columns[column])
    apart["patient"] = apart.pop("name")
    return apart, {**roles, "identifier": [], "person": "patient"}


def no_options(rng: random.Random, options: dict[str, Any], quasi: Sequence[str]) -> None:
    """Most methods need none."""


def of_sets(rng: random.Random, options: dict[str, Any], quasi: Sequence[str]) -> None:
    options["labels"] = "sets"


def of_full(rng: random.Random, options: dict[str, Any], quasi: Sequence[str]) -> None:
    losses = ["generalization_loss", "arithmetic_loss", "certainty_penalty", "entropy"]
    options["loss"] = rng.choice([*losses, "discernability", "bits"])
    options["suppressed_rows"] = rng.choice(["auto", "auto", "keep", "drop"])


def of_groups(rng: random.Random, options: dict[str, Any], quasi: Sequence[str]) -> None:
    options["grouping"] = rng.choice(["mdav", "v-mdav"])


def of_noise(rng: random.Random, options: dict[str, Any], quasi: Sequence[str]) -> None:
    options["amount"] = rng.choice([0.2, 0.3, 0.5])
    options["correlated"] = rng.random() < 0.3


def of_bases(rng: random.Random, options: dict[str, Any], quasi: Sequence[str]) -> None:
    bases: dict[str, list[float]] = {
        "age": [20, 40],
        "children": [2, 3],
        "height": [0.2, 0.5],
        "income": [2000, 5000],
    }
    options["base"] = {column: rng.choice(bases[column]) for column in quasi}
    options["unbiased"] = rng.random() < 0.5


def of_channels(rng: random.Random, options: dict[str, Any], quasi: Sequence[str]) -> None:
    options["amount"] = rng.choice([0.1, 0.2, 0.3])


def of_samples(rng: random.Random, options: dict[str, Any], quasi: Sequence[str]) -> None:
    options["fraction"] = rng.choice([0.5, 0.8])


OPTIONS: dict[str, Callable[[random.Random, dict[str, Any], Sequence[str]], None]] = {
    "full": of_full,
    "people": no_options,
    "sets": of_sets,
    "microaggregate": of_groups,
    "noise": of_noise,
    "round": of_bases,
    "pram": of_channels,
    "sample": of_samples,
}
