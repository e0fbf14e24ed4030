"""Every measure the slow way: loops over records, exact fractions, logarithms to 50 digits.

A second opinion for the test suite. Nothing here is fast or shared with the package: each formula
is written as its definition reads, and 50 digits make rounding a matter of no concern. Importing
this module sets ``mpmath.mp.dps`` to 50.

A table is a list of rows, each a dict from column to value. ``None`` is a missing value and a
value of its own; a floating-point NaN is read as ``None``. Two cells are the same when Python's
``==`` says so, so a column should hold one type.

A result is a ``Fraction`` or an ``int`` where the measure is rational, an ``mpf`` where it has a
logarithm, and a ``str`` where there is no number: the string is the reason.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import mpmath

mpmath.mp.dps = 50

Cell: TypeAlias = "str | int | float | None"
Row: TypeAlias = "Mapping[str, Any]"
Target: TypeAlias = "list[Hashable]"
Key: TypeAlias = "tuple[Any, ...]"
Result: TypeAlias = "mpmath.mpf | Fraction | int | str | dict[int, int]"

NOTHING_TO_LEARN = "H(X) = 0"
UNBOUNDED = "unbounded"
ONE_RECORD = "one record"
NO_PLACE = "missing values have no place in the order"
OTHER = "other"

# A difference of two equal entropies leaves a few units of the fiftieth digit; tables small enough
# for this module cannot produce a true value anywhere near this one.
DUST = mpmath.mpf(10) ** -40


# --------------------------------------------------------------------------- reading the table


def _cell(row: Row, column: str) -> Any:
    value = row[column]
    if isinstance(value, float) and value != value:
        return None
    return value


def _column(rows: Sequence[Row], column: str) -> Target:
    return [_cell(row, column) for row in rows]


def _classes(rows: Sequence[Row], quasi: Sequence[str]) -> dict[Key, list[int]]:
    """Record numbers of each combination of quasi-identifier values that occurs."""
    if not rows:
        raise ValueError("no records")
    if not quasi:
        raise ValueError("no quasi-identifier")
    classes: dict[Key, list[int]] = {}
    for number, row in enumerate(rows):
        key = tuple(_cell(row, column) for column in quasi)
        if key not in classes:
            classes[key] = []
        classes[key].append(number)
    return classes


def _counts(values: Sequence[Hashable]) -> dict[Hashable, int]:
    counts: dict[Hashable, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts


def _distribution(values: Sequence[Hashable]) -> dict[Hashable, Fraction]:
    return {value: Fraction(count, len(values)) for value, count in _counts(values).items()}


# --------------------------------------------------------------------------- logarithms


def _mpf(x: Fraction | int) -> mpmath.mpf:
    exact = Fraction(x)
    return mpmath.mpf(exact.numerator) / mpmath.mpf(exact.denominator)


@cache
def _ln(p: Fraction) -> mpmath.mpf:
    return mpmath.log(mpmath.mpf(p.numerator)) - mpmath.log(mpmath.mpf(p.denominator))


def _log2(p: Fraction) -> mpmath.mpf:
    return _ln(p) / mpmath.log(2)


def _entropy(distribution: Mapping[Any, Fraction]) -> mpmath.mpf:
    """-sum p log2 p, with 0 log 0 = 0."""
    total = mpmath.mpf(0)
    for p in distribution.values():
        if p > 0:
            total -= _mpf(p) * _log2(p)
    return total


def _settled(x: mpmath.mpf) -> mpmath.mpf:
    """The number itself, or zero where only rounding of the last digits is left."""
    return mpmath.mpf(0) if abs(x) < DUST else x


# --------------------------------------------------------------------------- information measures


def _information(classes: Mapping[Key, list[int]], target: Target) -> dict[str, Result]:
    """The fifteen measures that both kinds of risk share; ``target`` has one value a record."""
    n = len(target)
    k = len(classes)
    prior = _distribution(target)
    h_x = _entropy(prior)
    certain = len(prior) == 1

    p_q: dict[Key, Fraction] = {}
    h_x_in_q: dict[Key, mpmath.mpf] = {}
    share: dict[Key, mpmath.mpf] = {}
    for q, members in classes.items():
        p_q[q] = Fraction(len(members), n)
        h_x_in_q[q] = _entropy(_distribution([target[i] for i in members]))
        share[q] = _mpf(p_q[q]) * h_x_in_q[q]

    joint: dict[tuple[Key, Hashable], Fraction] = {}
    for q, members in classes.items():
        for i in members:
            joint[q, target[i]] = joint.get((q, target[i]), Fraction(0)) + Fraction(1, n)

    h_x_given_q = mpmath.mpf(0)
    for q in classes:
        h_x_given_q += share[q]
    information = _settled(h_x - h_x_given_q)

    posterior = Fraction(0)
    for q, members in classes.items():
        posterior += max(joint[q, target[i]] for i in members)

    def rate(x: mpmath.mpf) -> Result:
        return NOTHING_TO_LEARN if certain else _settled(x / h_x)

    some_class_is_certain = any(len({target[i] for i in m}) == 1 for m in classes.values())

    return {
        "entropy": h_x,
        "conditional_entropy": h_x_given_q,
        "normalized_conditional_entropy": rate(h_x_given_q),
        "mutual_information": information,
        "discrimination_rate": rate(h_x - h_x_given_q),
        "conditional_privacy": _settled(1 - mpmath.mpf(2) ** (-information)),
        "maximum_information_leakage": _settled(max(h_x - share[q] for q in classes)),
        "entropy_l_diversity": mpmath.mpf(2) ** (-min(h_x_in_q.values())),
        "itpr": rate(h_x - k * min(share.values())),
        "itpr_unnormalized": rate(max(h_x - share[q] for q in classes)),
        "reciprocal_entropy": (
            UNBOUNDED if some_class_is_certain else max(1 / h for h in h_x_in_q.values())
        ),
        "joint_entropy": _entropy(joint),
        "entropy_variation": _settled(max(h_x - h for h in h_x_in_q.values())),
        "bayes_vulnerability_prior": max(prior.values()),
        "bayes_vulnerability_posterior": posterior,
    }


def _numbers(n: int) -> Target:
    """The record itself as the target: n different values."""
    return list(range(n))


# --------------------------------------------------------------------------- re-identification


def reidentification(
    rows: Sequence[Row], quasi: Sequence[str], *, below: Sequence[int] = (2, 3, 5)
) -> dict[str, Result]:
    """All measures whose target is the record."""
    classes = _classes(rows, quasi)
    n = len(rows)
    sizes = [len(members) for members in classes.values()]
    size_of_record = [0] * n
    for members in classes.values():
        for i in members:
            size_of_record[i] = len(members)

    result = _information(classes, _numbers(n))
    result["k_anonymity"] = min(sizes)
    result["classes"] = len(classes)
    result["unique_records"] = Fraction(sum(1 for size in size_of_record if size == 1), n)
    result["highest_risk"] = max(Fraction(1, size) for size in size_of_record)
    result["lowest_risk"] = min(Fraction(1, size) for size in size_of_record)
    result["largest_class"] = max(sizes)
    result["average_risk"] = sum((Fraction(1, s) for s in size_of_record), Fraction(0)) / n
    result["average_class_risk"] = sum((Fraction(1, s) for s in sizes), Fraction(0)) / len(sizes)
    result["suppressed_records"] = sum(
        all(_cell(row, column) == "*" for column in quasi) for row in rows
    )
    result["records_below"] = {k: sum(1 for s in size_of_record if s < k) for k in below}
    if n == 1:
        result["separation"] = ONE_RECORD
    else:
        together = sum(size * (size - 1) for size in sizes)
        result["separation"] = 1 - Fraction(together, n * (n - 1))
    result["distinction"] = Fraction(len(classes), n)
    return result


def wildcard_k(rows: Sequence[Row], quasi: Sequence[str]) -> int:
    """Least number of records that a record matches, a missing value matching any value."""
    if not rows:
        raise ValueError("no records")
    keys = [[_cell(row, column) for column in quasi] for row in rows]
    frequencies = []
    for mine in keys:
        matches = 0
        for yours in keys:
            if all(a is None or b is None or a == b for a, b in zip(mine, yours, strict=True)):
                matches += 1
        frequencies.append(matches)
    return min(frequencies)


# --------------------------------------------------------------------------- inference


def inference(
    rows: Sequence[Row],
    quasi: Sequence[str],
    secret: str,
    *,
    order: Sequence[Cell] | None = None,
    ladder: Mapping[Any, Sequence[str]] | None = None,
    partition: Mapping[str, Sequence[Any]] | None = None,
    l: int = 2,  # noqa: E741  (the letter of the definition)
    alpha_value: Cell = None,
) -> dict[str, Result]:
    """All measures whose target is the sensitive column ``secret``."""
    classes = _classes(rows, quasi)
    target = _column(rows, secret)
    n = len(target)

    n_s = _counts(target)
    n_qs = {q: _counts([target[i] for i in members]) for q, members in classes.items()}
    p_s = {s: Fraction(n_s[s], n) for s in n_s}
    p_s_in_q = {
        q: {s: Fraction(n_qs[q].get(s, 0), len(members)) for s in n_s}
        for q, members in classes.items()
    }

    result = _information(classes, target)
    if partition is not None:
        merged = _merge(target, partition)
        result["semantic_discrimination_rate"] = _information(classes, merged)[
            "discrimination_rate"
        ]

    result["l_diversity"] = _l_diversity(n_qs)
    result["entropy_l"] = mpmath.mpf(2) ** min(_entropy(p_s_in_q[q]) for q in classes)
    result["recursive_c"] = _recursive_c(n_qs, l)
    result["max_confidence"] = _max_confidence(p_s_in_q)
    if alpha_value is None:
        result["alpha_k"] = _max_confidence(p_s_in_q)
    else:
        result["alpha_k"] = max(p_s_in_q[q].get(alpha_value, Fraction(0)) for q in classes)

    result["t_closeness"] = max(
        sum((abs(p_s_in_q[q][s] - p_s[s]) for s in p_s), Fraction(0)) / 2 for q in classes
    )
    if order is not None:
        result["t_closeness_ordered"] = _ordered(p_s, p_s_in_q, order)
    if ladder is not None:
        result["t_closeness_hierarchical"] = max(
            _hierarchical_cost(p_s, p_s_in_q[q], ladder) for q in classes
        )

    result.update(_delta(p_s, p_s_in_q))
    result.update(_beta(p_s, p_s_in_q))

    result.update(_gains(_column(rows, secret), list(classes.values())))

    known = [row for row in rows if _cell(row, secret) is not None]
    if 0 < len(known) < n:
        n_qs_known = {
            q: _counts([_cell(known[i], secret) for i in members])
            for q, members in _classes(known, quasi).items()
        }
        result["l_diversity_without_missing"] = _l_diversity(n_qs_known)
        gains = _gains([_cell(row, secret) for row in known], list(_classes(known, quasi).values()))
        result.update({f"{name}_without_missing": gain for name, gain in gains.items()})
        result["max_confidence_without_missing"] = max(
            Fraction(count, sum(counts.values()))
            for counts in n_qs_known.values()
            for count in counts.values()
        )
    return result


def _gains(target: Target, classes: Sequence[Sequence[int]]) -> dict[str, Fraction]:
    """How much more likely a value becomes in some class, and how much better a guess."""
    prior = _distribution(target)
    if len(prior) == 1:
        return {"confidence_gain": Fraction(0), "guess_gain": Fraction(0)}
    highest, right = Fraction(0), Fraction(0)
    for members in classes:
        inside = _distribution([target[i] for i in members])
        right += max(inside.values()) * Fraction(len(members), len(target))
        for value, p in prior.items():
            highest = max(highest, (inside.get(value, Fraction(0)) - p) / (1 - p))
    guess = max(prior.values())
    return {"confidence_gain": highest, "guess_gain": (right - guess) / (1 - guess)}


def _merge(target: Target, partition: Mapping[str, Sequence[Any]]) -> Target:
    """The part of every value; whatever no part names is in the part 'other'."""
    part_of: dict[Any, str] = {}
    for part, values in partition.items():
        for value in values:
            if value in part_of:
                raise ValueError("a value is in two parts")
            part_of[value] = part
    return [part_of.get(value, OTHER) for value in target]


def _l_diversity(n_qs: Mapping[Key, Mapping[Hashable, int]]) -> int:
    return min(sum(1 for count in counts.values() if count > 0) for counts in n_qs.values())


def _max_confidence(p_s_in_q: Mapping[Key, Mapping[Hashable, Fraction]]) -> Fraction:
    return max(p for distribution in p_s_in_q.values() for p in distribution.values())


def _recursive_c(n_qs: Mapping[Key, Mapping[Hashable, int]], least: int) -> Result:
    """max over classes of r_1 / (r_l + ... + r_m), counts sorted downwards."""
    if least < 1:
        raise ValueError("l must be at least 1")
    ratios = []
    for counts in n_qs.values():
        r = sorted(counts.values(), reverse=True)
        if len(r) < least:
            return UNBOUNDED
        ratios.append(Fraction(r[0], sum(r[least - 1 :])))
    return max(ratios)


# --------------------------------------------------------------------------- t-closeness


def _ordered(
    p_s: Mapping[Hashable, Fraction],
    p_s_in_q: Mapping[Key, Mapping[Hashable, Fraction]],
    order: Sequence[Cell],
) -> Result:
    if None in p_s:
        return NO_PLACE
    if len(set(order)) != len(order):
        raise ValueError("a value stands twice in the order")
    if any(s not in order for s in p_s):
        raise ValueError("a value of the table is not in the order")
    ranked = [s for s in order if s in p_s]
    m = len(ranked)
    if m == 1:
        return Fraction(0)
    distances = []
    for distribution in p_s_in_q.values():
        total = Fraction(0)
        for i in range(m - 1):
            inner = Fraction(0)
            for j in range(i + 1):
                inner += distribution[ranked[j]] - p_s[ranked[j]]
            total += abs(inner)
        distances.append(total / (m - 1))
    return max(distances)


def _hierarchical_cost(
    p_s: Mapping[Hashable, Fraction],
    p_s_here: Mapping[Hashable, Fraction],
    ladder: Mapping[Any, Sequence[str]],
) -> Fraction:
    """Sum over the inner nodes of level/height times what their children exchange there.

    A node is a level and a label, so that a label may be repeated from one level to the next.
    """
    heights = {len(labels) for labels in ladder.values()}
    if len(heights) != 1 or 0 in heights:
        raise ValueError("every leaf needs the same number of levels, at least one")
    height = heights.pop()
    if any(s not in ladder for s in p_s):
        raise ValueError("a value of the table is not in the ladder")

    path = {leaf: [leaf, *labels] for leaf, labels in ladder.items()}
    children: dict[tuple[int, Any], set[tuple[int, Any]]] = {}
    parent: dict[tuple[int, Any], tuple[int, Any]] = {}
    leaves: dict[tuple[int, Any], list[Any]] = {}
    for leaf, steps in path.items():
        for level in range(height + 1):
            leaves.setdefault((level, steps[level]), []).append(leaf)
        for level in range(1, height + 1):
            node, child = (level, steps[level]), (level - 1, steps[level - 1])
            if parent.setdefault(child, node) != node:
                raise ValueError("a node has two parents")
            children.setdefault(node, set()).add(child)
    if sum(1 for level, _ in children if level == height) != 1:
        raise ValueError("the ladder has more than one root")

    zero = Fraction(0)
    e_leaf = {leaf: p_s.get(leaf, zero) - p_s_here.get(leaf, zero) for leaf in ladder}
    e = {node: sum((e_leaf[leaf] for leaf in below), zero) for node, below in leaves.items()}

    cost = zero
    for node, below in children.items():
        level, _ = node
        surplus = sum((e[child] for child in below if e[child] > 0), zero)
        shortage = -sum((e[child] for child in below if e[child] < 0), zero)
        cost += Fraction(level, height) * min(surplus, shortage)
    return cost


# --------------------------------------------------------------------------- delta and beta


def _delta(
    p_s: Mapping[Hashable, Fraction], p_s_in_q: Mapping[Key, Mapping[Hashable, Fraction]]
) -> dict[str, Result]:
    lacking = False
    worst = mpmath.mpf(0)
    for distribution in p_s_in_q.values():
        for s in p_s:
            if distribution[s] == 0:
                lacking = True
            else:
                worst = max(worst, abs(_ln(distribution[s] / p_s[s])))
    return {
        "delta_disclosure": UNBOUNDED if lacking else worst,
        "delta_disclosure_present": worst,
    }


def _beta(
    p_s: Mapping[Hashable, Fraction], p_s_in_q: Mapping[Key, Mapping[Hashable, Fraction]]
) -> dict[str, Result]:
    basic = Fraction(0)
    satisfiable = True
    for distribution in p_s_in_q.values():
        for s in p_s:
            gain = (distribution[s] - p_s[s]) / p_s[s]
            basic = max(basic, gain)
            if _mpf(gain) > -_ln(p_s[s]):
                satisfiable = False
    return {
        "beta_likeness": basic,
        "enhanced_beta_likeness": max(min(_mpf(basic), -_ln(p_s[s])) for s in p_s),
        "enhanced_beta_satisfiable": satisfiable,
    }


# --------------------------------------------------------------------------- by value, by record


def by_value(
    rows: Sequence[Row], quasi: Sequence[str], secret: str | None = None
) -> dict[tuple[Any, ...], Result]:
    """Discrimination rate of each class, 1 - h_q / H(X); without a secret the record is X."""
    classes = _classes(rows, quasi)
    target = _numbers(len(rows)) if secret is None else _column(rows, secret)
    prior = _distribution(target)
    h_x = _entropy(prior)
    result: dict[Key, Result] = {}
    for q, members in classes.items():
        if len(prior) == 1:
            result[q] = NOTHING_TO_LEARN
            continue
        p_q = Fraction(len(members), len(target))
        share = _mpf(p_q) * _entropy(_distribution([target[i] for i in members]))
        result[q] = _settled(1 - share / h_x)
    return result


def per_record(
    rows: Sequence[Row], quasi: Sequence[str], secret: str
) -> list[tuple[int, mpmath.mpf, Fraction, mpmath.mpf]]:
    """Class size, identity bits, posterior and information gain of each record, in order."""
    classes = _classes(rows, quasi)
    target = _column(rows, secret)
    n = len(target)
    result = []
    for i, row in enumerate(rows):
        members = classes[tuple(_cell(row, column) for column in quasi)]
        size = len(members)
        posterior = Fraction(sum(1 for j in members if target[j] == target[i]), size)
        prior = Fraction(sum(1 for value in target if value == target[i]), n)
        result.append((size, _log2(Fraction(n, size)), posterior, _log2(posterior / prior)))
    return result
