"""People with several rows, the slow way: sets of people, loops, exact fractions.

A second opinion for the test suite, like ``oracle``, for tables whose rows are sightings of people.
Nothing here is shared with the package or with ``oracle``: each formula is written as its
definition reads. Every count is the size of a set of people, so rows that repeat change nothing.

A table is a list of rows, each a dict from column to value. ``None`` is a missing value and, for
quasi-identifiers and secrets, a value of its own; a floating-point NaN is read as ``None``. A row
whose person is missing is a person of its own. Two cells are the same when Python's ``==`` says so.

A result is a ``Fraction`` or an ``int`` where the measure is rational, a ``float`` where it has a
logarithm, and ``None`` where it is undefined or unbounded. A difference of two equal entropies may
leave a few units of the sixteenth digit, of either sign.

Three people, six rows. The classes are x = {Ann, Bob}, y = {Ann}, z = {Bob, Cy}: K = 3, M = 5.

>>> table = [
...     {"who": "Ann", "place": "x", "ill": "flu"},
...     {"who": "Ann", "place": "x", "ill": "cold"},
...     {"who": "Ann", "place": "y", "ill": "flu"},
...     {"who": "Bob", "place": "x", "ill": "flu"},
...     {"who": "Bob", "place": "z", "ill": "cold"},
...     {"who": "Cy", "place": "z", "ill": "cold"},
... ]
>>> r = reidentification(table, ["place"], "who")
>>> r["k_anonymity"], r["classes"], r["unique_people"], r["records_below"]
(1, 3, 1, {2: 1, 3: 3, 5: 3})

Risk of Ann 1 (class y), of Bob and Cy 1/2; of a random row of Ann 3/4.

>>> print(r["unique_records"], r["highest_risk"], r["average_risk"])
1/3 1 2/3
>>> print(r["average_risk_of_random_row"], r["average_class_risk"])
7/12 2/3
>>> print(r["separation"], r["distinction"])  # 1 - (2 + 0 + 2) / 20, 3 / 5
4/5 3/5

Ann and Bob have two of the five pairs each, Cy has one; two classes leave one bit, y leaves none.

>>> h = -(0.8 * math.log2(0.4) + 0.2 * math.log2(0.2))
>>> expected = {
...     "entropy": h, "conditional_entropy": 0.8, "normalized_conditional_entropy": 0.8 / h,
...     "mutual_information": h - 0.8, "discrimination_rate": 1 - 0.8 / h,
...     "conditional_privacy": 1 - 2 ** (0.8 - h), "maximum_information_leakage": h,
...     "entropy_l_diversity": 1, "itpr": 1, "itpr_unnormalized": 1,
...     "joint_entropy": math.log2(5), "entropy_variation": h,
... }
>>> [name for name in expected if not math.isclose(r[name], expected[name], abs_tol=1e-12)]
[]
>>> print(r["reciprocal_entropy"])
None
>>> print(r["bayes_vulnerability_prior"], r["bayes_vulnerability_posterior"])
2/5 3/5

People by value: x has flu 2, cold 1 (Ann has both); y has flu 1; z has cold 2. T = 6.

>>> i = inference(table, ["place"], "ill", "who", order=["cold", "flu"])
>>> print(i["max_confidence"], i["t_closeness"], i["t_closeness_ordered"], i["beta_likeness"])
1 1/2 1/2 1
>>> print(i["bayes_vulnerability_prior"], i["bayes_vulnerability_posterior"], i["guess_gain"])
1/2 5/6 2/3
>>> math.isclose(i["conditional_entropy"], 0.5 * (math.log2(3) - 2 / 3))
True
>>> math.isclose(i["delta_disclosure_present"], math.log(2))
True
>>> print(i["delta_disclosure"], i["l_diversity"], i["recursive_c"])
None 1 None
>>> print(inference(table, ["place"], "ill", "who", named="cold")["alpha_k"])
1
>>> print(inference(table[:4], ["place"], "ill", "who", named="cold")["alpha_k"])
1/2

Everybody has had a cold, so only flu can gain: x is certain of it, two people of three have it.

>>> print(i["confidence_gain"])
1

Four people: x = {Ann, Bob, Cy} has flu 2, cold 2; y = {Bob, Cy, Dee} has missing 2, flu 1. Each
value is two people's. What is known of y is Cy's flu. As ill or not: x 3 and 0, y 1 and 2.

>>> cells = "Ann x flu, Ann x cold, Bob x cold, Cy x flu, Bob y ?, Dee y ?, Cy y flu".split(", ")
>>> four = [dict(zip(("who", "place", "ill"), c.split(), strict=True)) for c in cells]
>>> four = [{**row, "ill": None if row["ill"] == "?" else row["ill"]} for row in four]
>>> rungs = {"flu": ["ill", "*"], "cold": ["ill", "*"], None: ["well", "*"]}
>>> parts = {"ill": ["flu", "cold"]}
>>> f = inference(four, ["place"], "ill", "who", ladder=rungs, partition=parts, named="cold")
>>> print(f["max_confidence"], f["confidence_gain"], f["l_diversity"], f["recursive_c"])
2/3 1/3 2 2
>>> print(f["max_confidence_without_missing"], f["l_diversity_without_missing"])
1 1
>>> print(f["alpha_k"], f["alpha_k_without_missing"], f["t_closeness_hierarchical"])
2/3 2/3 8/21
>>> math.isclose(f["semantic_discrimination_rate"], 1 / 2)
True

One person with two values protects nobody: everything called l is capped by the people.

>>> alone = inference(table[:2], ["place"], "ill", "who")
>>> alone["l_diversity"], alone["entropy_l"], alone["entropy_l_diversity"], alone["recursive_c"]
(1, 1.0, 1.0, None)
>>> alone["entropy"], alone["reciprocal_entropy"]
(1.0, 1.0)

One sighting: only Ann's y is hers alone. Two: {x, y} is Ann's, {x, z} Bob's, and Bob was at z too.

>>> [str(unicity(table, ["place"], "who", m)) for m in (1, 2, 3)]
['1/6', '2/3', '2/3']
>>> first = per_record(table, ["place"], ["ill"], "who")[0]
>>> first["class_size"], first["identity_bits"] == math.log2(3 / 2), str(first["posterior"]["ill"])
(2, True, '1')
>>> math.isclose(first["information_gain"]["ill"], math.log2(3 / 2))
True

``python -m tests.peopleoracle`` compares 300 tables of one row a person with ``oracle``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

Row: TypeAlias = "Mapping[str, Any]"
Key: TypeAlias = "tuple[Any, ...]"
Person: TypeAlias = "tuple[str, Any]"
People: TypeAlias = "set[Person]"
Shares: TypeAlias = "dict[Any, Fraction]"

ZERO = Fraction(0)
UNNAMED = object()  # the part of the values that no part names; equal to no name


# --------------------------------------------------------------------------- reading the table


def _cell(row: Row, column: str) -> Any:
    value = row[column]
    if isinstance(value, float) and math.isnan(value):
        return None
    return value


def people_of(rows: Sequence[Row], person: str) -> list[Person]:
    """One key a row; a row whose person is missing is a person of its own."""
    keys: list[Person] = []
    for number, row in enumerate(rows):
        name = _cell(row, person)
        keys.append(("row", number) if name is None else ("name", name))
    return keys


def _class_of(row: Row, quasi: Sequence[str]) -> Key:
    return tuple(_cell(row, column) for column in quasi)


def _people_by_class(rows: Sequence[Row], quasi: Sequence[str], person: str) -> dict[Key, People]:
    """The people with at least one row in each class that occurs."""
    if not rows:
        raise ValueError("no rows")
    if not quasi:
        raise ValueError("no quasi-identifier")
    people: dict[Key, People] = {}
    for row, who in zip(rows, people_of(rows, person), strict=True):
        people.setdefault(_class_of(row, quasi), set()).add(who)
    return people


def _people_by_value(
    rows: Sequence[Row], quasi: Sequence[str], values: Sequence[Hashable], person: str
) -> dict[Key, dict[Any, People]]:
    """The people of each class with at least one row of each value; ``values`` has one a row."""
    people: dict[Key, dict[Any, People]] = {}
    for row, value, who in zip(rows, values, people_of(rows, person), strict=True):
        people.setdefault(_class_of(row, quasi), {}).setdefault(value, set()).add(who)
    return people


def _classes_by_person(people: Mapping[Key, People]) -> dict[Person, set[Key]]:
    classes: dict[Person, set[Key]] = {}
    for q, members in people.items():
        for who in members:
            classes.setdefault(who, set()).add(q)
    return classes


def _mean(numbers: Iterable[Fraction]) -> Fraction:
    collected = list(numbers)
    return sum(collected, ZERO) / len(collected)


# --------------------------------------------------------------------------- information measures


def _entropy(distribution: Mapping[Any, Fraction]) -> float:
    """-sum p log2 p, in bits, with 0 log 0 = 0."""
    return math.fsum(-float(p) * math.log2(p) for p in distribution.values() if p > 0)


def _information(counts: Mapping[Key, Mapping[Any, int]]) -> dict[str, Any]:
    """The fifteen measures of a target x and the class q, p(q, x) proportional to ``counts``."""
    total = sum(sum(here.values()) for here in counts.values())
    joint = {(q, x): Fraction(n, total) for q, here in counts.items() for x, n in here.items()}
    p_q: dict[Key, Fraction] = {}
    p_x: Shares = {}
    for (q, x), p in joint.items():
        p_q[q] = p_q.get(q, ZERO) + p
        p_x[x] = p_x.get(x, ZERO) + p
    p_x_in_q = {q: {x: joint[q, x] / p_q[q] for x in here} for q, here in counts.items()}

    h = _entropy(p_x)
    h_in_q = {q: _entropy(p_x_in_q[q]) for q in counts}
    share = {q: float(p_q[q]) * h_in_q[q] for q in counts}
    remaining = math.fsum(share.values())
    nothing_to_learn = len(p_x) == 1
    some_class_is_certain = any(len(here) == 1 for here in counts.values())

    def rate(x: float) -> float | None:
        return None if nothing_to_learn else x / h

    return {
        "entropy": h,
        "conditional_entropy": remaining,
        "normalized_conditional_entropy": rate(remaining),
        "mutual_information": h - remaining,
        "discrimination_rate": rate(h - remaining),
        "conditional_privacy": 1 - 2 ** (remaining - h),
        "maximum_information_leakage": max(h - share[q] for q in counts),
        "entropy_l_diversity": 2 ** -min(h_in_q.values()),
        "itpr": rate(h - len(counts) * min(share.values())),
        "itpr_unnormalized": rate(max(h - share[q] for q in counts)),
        "reciprocal_entropy": (
            None if some_class_is_certain else max(1 / h_in_q[q] for q in counts)
        ),
        "joint_entropy": _entropy(joint),
        "entropy_variation": max(h - h_in_q[q] for q in counts),
        "bayes_vulnerability_prior": max(p_x.values()),
        "bayes_vulnerability_posterior": sum(
            (max(joint[q, x] for x in here) for q, here in counts.items()), ZERO
        ),
    }


# --------------------------------------------------------------------------- re-identification


def reidentification(
    rows: Sequence[Row], quasi: Sequence[str], person: str, k: Sequence[int] = (2, 3, 5)
) -> dict[str, Any]:
    """All measures whose target is the person."""
    people = _people_by_class(rows, quasi, person)
    classes = _classes_by_person(people)
    n_q = {q: len(members) for q, members in people.items()}
    pairs = sum(n_q.values())
    risks = {who: [Fraction(1, n_q[q]) for q in seen] for who, seen in classes.items()}
    smallest = {who: min(n_q[q] for q in seen) for who, seen in classes.items()}
    unique = sum(1 for who in classes if smallest[who] == 1)
    together = sum(n * (n - 1) for n in n_q.values())

    # Each pair of a class and one of its people is equally likely.
    result = _information({q: dict.fromkeys(members, 1) for q, members in people.items()})
    result["k_anonymity"] = min(n_q.values())
    result["classes"] = len(people)
    result["unique_people"] = unique
    result["unique_records"] = Fraction(unique, len(classes))
    result["highest_risk"] = Fraction(1, min(n_q.values()))
    result["lowest_risk"] = min(max(risks[who]) for who in classes)
    result["largest_class"] = max(n_q.values())
    result["average_risk"] = _mean(max(risks[who]) for who in classes)
    result["average_risk_of_random_row"] = _mean(_mean(risks[who]) for who in classes)
    result["average_class_risk"] = _mean(Fraction(1, n) for n in n_q.values())
    result["records_below"] = {
        limit: sum(1 for who in classes if smallest[who] < limit) for limit in k
    }
    result["suppressed_records"] = sum(all(row[q] == "*" for q in quasi) for row in rows)
    result["separation"] = 1 - Fraction(together, pairs * (pairs - 1)) if pairs > 1 else None
    result["distinction"] = Fraction(len(people), pairs)
    return result


def unicity(rows: Sequence[Row], quasi: Sequence[str], person: str, m: int) -> Fraction:
    """Chance that nobody else has all of m random classes (all, if fewer) of a random person."""
    if m < 1:
        raise ValueError("m must be at least 1")
    classes = _classes_by_person(_people_by_class(rows, quasi, person))
    chances = []
    for who, seen in classes.items():
        choices = list(itertools.combinations(seen, min(m, len(seen))))
        alone = 0
        for chosen in choices:
            others = [other for other in classes if other != who]
            if not any(all(q in classes[other] for q in chosen) for other in others):
                alone += 1
        chances.append(Fraction(alone, len(choices)))
    return _mean(chances)


# --------------------------------------------------------------------------- inference


def inference(
    rows: Sequence[Row],
    quasi: Sequence[str],
    secret: str,
    person: str,
    *,
    order: Sequence[Any] | None = None,
    ladder: Mapping[Any, Sequence[str]] | None = None,
    partition: Mapping[str, Sequence[Any]] | None = None,
    named: Any = None,
    l: int = 2,  # noqa: E741  (the letter of the definition)
) -> dict[str, Any]:
    """All measures whose target is the sensitive column ``secret``.

    ``named`` is the value of ``alpha_k``; ``None`` is no value.
    """
    if l < 1:
        raise ValueError("l must be at least 1")
    people = _people_by_class(rows, quasi, person)
    target = [_cell(row, secret) for row in rows]
    holders = _people_by_value(rows, quasi, target, person)
    n_q = {q: len(members) for q, members in people.items()}
    n_qs = _sizes(holders)
    values = set(target)

    # Distributions: shares of the sum of n_qs, which is larger than n_q where people have several.
    t_q = {q: sum(n_qs[q].values()) for q in people}
    total = sum(t_q.values())
    p_s = {s: Fraction(sum(n_qs[q].get(s, 0) for q in people), total) for s in values}
    p_s_in_q = {q: {s: Fraction(n_qs[q].get(s, 0), t_q[q]) for s in values} for q in people}

    result = _information(n_qs)
    if partition is not None:
        merged = _people_by_value(rows, quasi, _parts(target, partition), person)
        result["semantic_discrimination_rate"] = _information(_sizes(merged))["discrimination_rate"]

    result["l_diversity"] = min(min(len(n_qs[q]), n_q[q]) for q in people)
    result["entropy_l"] = min(min(2 ** _entropy(p_s_in_q[q]), float(n_q[q])) for q in people)
    result["entropy_l_diversity"] = 1 / result["entropy_l"]
    result["recursive_c"] = _recursive_c(n_q, n_qs, l)
    result["max_confidence"] = _confidence(n_q, n_qs, None)
    result["alpha_k"] = _confidence(n_q, n_qs, named)
    result["confidence_gain"] = _confidence_gain(holders, n_q)
    result["guess_gain"] = _gain(
        result["bayes_vulnerability_prior"], result["bayes_vulnerability_posterior"]
    )

    result["t_closeness"] = max(
        sum((abs(p_s_in_q[q][s] - p_s[s]) for s in values), ZERO) / 2 for q in people
    )
    if order is not None:
        result["t_closeness_ordered"] = _ordered(p_s, p_s_in_q, order)
    if ladder is not None:
        result["t_closeness_hierarchical"] = max(
            _hierarchical(p_s, p_s_in_q[q], ladder) for q in people
        )
    result.update(_delta(p_s, p_s_in_q))
    result.update(_beta(p_s, p_s_in_q))

    if None in values and len(values) > 1:
        known = [row for row in rows if _cell(row, secret) is not None]
        # A row number of ``known`` is not one of ``rows``, but it tells the nameless apart as well.
        known_target = [_cell(row, secret) for row in known]
        n_qs_known = _sizes(_people_by_value(known, quasi, known_target, person))
        n_q_known = {q: len(who) for q, who in _people_by_class(known, quasi, person).items()}
        result["l_diversity_without_missing"] = min(
            min(len(n_qs_known[q]), n_q_known[q]) for q in n_q_known
        )
        result["max_confidence_without_missing"] = _confidence(n_q_known, n_qs_known, None)
        result["alpha_k_without_missing"] = _confidence(n_q_known, n_qs_known, named)
    return result


def _sizes(holders: Mapping[Key, Mapping[Any, People]]) -> dict[Key, dict[Any, int]]:
    return {q: {s: len(who) for s, who in here.items()} for q, here in holders.items()}


def _parts(target: Sequence[Any], partition: Mapping[str, Sequence[Any]]) -> list[Hashable]:
    """The part of every value; what no part names, and what is missing, is one more part."""
    part_of: dict[Any, str] = {}
    for part, values in partition.items():
        for value in values:
            if value is None:
                raise ValueError("a part names the missing value")
            if value in part_of:
                raise ValueError("a value is in two parts")
            part_of[value] = part
    return [part_of.get(value, UNNAMED) for value in target]


def _confidence(
    n_q: Mapping[Key, int], n_qs: Mapping[Key, Mapping[Any, int]], named: Any
) -> Fraction:
    """The largest share of a class's people that has one value, or the named value."""
    worst = ZERO
    for q, size in n_q.items():
        for s, count in n_qs[q].items():
            if named is None or s == named:
                worst = max(worst, Fraction(count, size))
    return worst


def _gain(prior: Fraction, posterior: Fraction) -> Fraction:
    return ZERO if prior == 1 else (posterior - prior) / (1 - prior)


def _confidence_gain(
    holders: Mapping[Key, Mapping[Any, People]], n_q: Mapping[Key, int]
) -> Fraction:
    """max (n_qs/n_q - p_s) / (1 - p_s), at least 0; p_s is of people, not of pairs."""
    anywhere: dict[Any, People] = {}
    everybody: People = set()
    for here in holders.values():
        for s, who in here.items():
            anywhere.setdefault(s, set()).update(who)
            everybody.update(who)
    worst = ZERO
    for q, here in holders.items():
        for s, who in here.items():
            prior = Fraction(len(anywhere[s]), len(everybody))
            worst = max(worst, _gain(prior, Fraction(len(who), n_q[q])))
    return worst


def _recursive_c(
    n_q: Mapping[Key, int], n_qs: Mapping[Key, Mapping[Any, int]], least: int
) -> Fraction | None:
    """max over classes of r_1 / (r_l + ... + r_m), people of each value sorted downwards."""
    worst = ZERO
    for q, size in n_q.items():
        r = sorted(n_qs[q].values(), reverse=True)
        if min(len(r), size) < least:
            return None
        worst = max(worst, Fraction(r[0], sum(r[least - 1 :])))
    return worst


# --------------------------------------------------------------------------- distances


def _ordered(p_s: Shares, p_s_in_q: Mapping[Key, Shares], order: Sequence[Any]) -> Fraction | None:
    """Earth mover's distance, neighbours among the values of the table being 1/(m - 1) apart."""
    if None in p_s:
        return None
    if len(set(order)) != len(order) or not set(p_s) <= set(order):
        raise ValueError("the order must have each value of the table once")
    ranked = [s for s in order if s in p_s]
    if len(ranked) == 1:
        return ZERO
    worst = ZERO
    for here in p_s_in_q.values():
        carried = ZERO  # over the step from one value to the next
        cost = ZERO
        for s in ranked[:-1]:
            carried += here[s] - p_s[s]
            cost += abs(carried)
        worst = max(worst, cost / (len(ranked) - 1))
    return worst


def _hierarchical(p_s: Shares, here: Shares, ladder: Mapping[Any, Sequence[str]]) -> Fraction:
    """Earth mover's distance with the ground distance level(lowest common ancestor)/height.

    That is a path in the tree whose every edge is 1/(2 height) long; over the edge above a node
    must go what the node's leaves have too much or too little.
    """
    heights = {len(labels) for labels in ladder.values()}
    if len(heights) != 1 or len({labels[-1] for labels in ladder.values()}) != 1:
        raise ValueError("the ladder needs one height and one root")
    height = heights.pop()
    if not set(p_s) <= set(ladder):
        raise ValueError("a value of the table is not in the ladder")
    excess: dict[Key, Fraction] = {}
    for leaf, p in p_s.items():
        path = (leaf, *ladder[leaf])
        for level in range(height):  # the root has no edge above it
            node = path[level:]
            excess[node] = excess.get(node, ZERO) + p - here[leaf]
    return sum((abs(e) for e in excess.values()), ZERO) / (2 * height)


def _delta(p_s: Shares, p_s_in_q: Mapping[Key, Shares]) -> dict[str, Any]:
    ratios = [here[s] / p_s[s] for here in p_s_in_q.values() for s in p_s]
    present = max(abs(math.log(ratio)) for ratio in ratios if ratio > 0)
    lacking = any(ratio == 0 for ratio in ratios)
    return {
        "delta_disclosure": None if lacking else present,
        "delta_disclosure_present": present,
    }


def _beta(p_s: Shares, p_s_in_q: Mapping[Key, Shares]) -> dict[str, Any]:
    gains = [(s, (here[s] - p_s[s]) / p_s[s]) for here in p_s_in_q.values() for s in p_s]
    basic = max(ZERO, *(gain for _, gain in gains))
    return {
        "beta_likeness": basic,
        "enhanced_beta_likeness": max(min(float(basic), -math.log(p_s[s])) for s in p_s),
        "enhanced_beta_satisfiable": all(gain <= -math.log(p_s[s]) for s, gain in gains),
    }


# --------------------------------------------------------------------------- by record


def per_record(
    rows: Sequence[Row], quasi: Sequence[str], secrets: Sequence[str], person: str
) -> list[dict[str, Any]]:
    """One dict a row: ``class_size`` and ``identity_bits``, and by secret ``posterior`` and
    ``information_gain`` of the row's own value."""
    people = _people_by_class(rows, quasi, person)
    everybody = set(people_of(rows, person))
    result = []
    for row in rows:
        q = _class_of(row, quasi)
        posterior: dict[str, Fraction] = {}
        information_gain: dict[str, float] = {}
        for secret in secrets:
            here: People = set()
            anywhere: People = set()
            for other, who in zip(rows, people_of(rows, person), strict=True):
                if _cell(other, secret) == _cell(row, secret):
                    anywhere.add(who)
                    if _class_of(other, quasi) == q:
                        here.add(who)
            posterior[secret] = Fraction(len(here), len(people[q]))
            prior = Fraction(len(anywhere), len(everybody))
            information_gain[secret] = math.log2(posterior[secret] / prior)
        result.append(
            {
                "class_size": len(people[q]),
                "identity_bits": math.log2(Fraction(len(everybody), len(people[q]))),
                "posterior": posterior,
                "information_gain": information_gain,
            }
        )
    return result


# --------------------------------------------------------------------------- one row a person


def _differences(tables: int, seed: int) -> list[str]:
    """Where this module and ``oracle`` differ on random tables with another person in each row."""
    from random import Random

    from helpers import oracle, randomtables

    def same(mine: Any, theirs: Any) -> bool:
        if isinstance(theirs, str):  # the reason why there is no number
            return mine is None
        if isinstance(theirs, dict | bool):
            return bool(mine == theirs)
        if mine is None:
            return False
        if isinstance(theirs, Fraction | int) and isinstance(mine, Fraction | int):
            return mine == theirs
        return abs(float(mine) - float(theirs)) <= 1e-12

    random = Random(seed)
    found = []
    for number in range(tables):
        case = randomtables.case(random)
        nameless = random.random() < 0.2
        rows = [{**row, "who": None if nameless else f"p{i}"} for i, row in enumerate(case.rows)]
        random.shuffle(rows)
        named = random.choice((None, case.named))
        given: dict[str, Any] = {"ladder": case.ladder, "partition": case.partition, "l": case.l}
        given["order"] = case.order
        both = [
            (
                reidentification(rows, case.quasi, "who"),
                oracle.reidentification(rows, case.quasi),
            ),
            (
                inference(rows, case.quasi, case.secret, "who", named=named, **given),
                oracle.inference(rows, case.quasi, case.secret, alpha_value=named, **given),
            ),
        ]
        for mine, theirs in both:
            for name in theirs:
                if name not in mine or not same(mine[name], theirs[name]):
                    found.append(f"{number} {name}: {mine.get(name)}, oracle {theirs[name]}")
        records = oracle.per_record(rows, case.quasi, case.secret)
        for a, b in zip(per_record(rows, case.quasi, [case.secret], "who"), records, strict=True):
            flat = (
                a["class_size"],
                a["identity_bits"],
                a["posterior"][case.secret],
                a["information_gain"][case.secret],
            )
            if not all(same(x, y) for x, y in zip(flat, b, strict=True)):
                found.append(f"{number} per_record: {flat}, oracle {b}")
    return found


if __name__ == "__main__":
    import doctest

    print(doctest.testmod())
    for line in (differences := _differences(300, seed=1)):
        print(line)
    print(f"{len(differences)} differences from oracle on 300 tables")
