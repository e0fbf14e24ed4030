"""Check a release against its policy by the definitions alone: nothing of the package is used.

`problems` takes a release as it was written, the original rows, the policy, and which original row
every released row was made from. It recomputes every number that the policy limits, from sets of
people, with exact fractions wherever no logarithm is in the way. It judges the suppressed rows as
a class of their own, looks for columns that must not be there, for rows whose secret is no longer
that of their person, and for an order of the rows that tells something.

One set of people a class is enough for everything: where rows are people, a row is its own person.
"""

from __future__ import annotations

import csv
import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from helpers.randomorder import (
    as_number,
    ranks_of,
    score_of_correlation,
    score_of_neighbours,
    score_of_place,
    score_of_runs,
    varies_enough,
)

MARK = "*"
# A number with a logarithm has rounding errors; a limit is breached beyond them.
ROUNDING = 1e-9
# Of the order: how many standard deviations from the mean of random orders are no chance.
FAR = 6.0
# With fewer rows the moments of a count of runs say little.
ENOUGH_ROWS = 30

Value = str | None
Row = Mapping[str, Value]
Key = tuple[Value, ...]
Number = Fraction | float | None  # None: unbounded on the risky side


@dataclass(frozen=True, kw_only=True)
class Written:
    """A release and what is known of how it was made."""

    how: str
    policy: Mapping[str, Any]
    columns: Sequence[str]
    rows: Sequence[Row]
    original: Sequence[Row]
    origins: Sequence[int]  # the original row of every released row
    numbers: frozenset[str] = frozenset()  # secrets that were read as numbers
    secret_columns: Sequence[str] = ()  # of the second table of anatomy
    secret_rows: Sequence[Row] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)  # amount, base, ...

    @property
    def roles(self) -> Mapping[str, Any]:
        roles: Mapping[str, Any] = self.policy["roles"]
        return roles

    @property
    def quasi(self) -> list[str]:
        return list(self.roles["quasi"])

    @property
    def secrets(self) -> list[str]:
        return list(self.roles.get("sensitive", []))

    @property
    def kept(self) -> dict[str, bool]:
        """The other columns that the policy keeps, and whether outsiders could know them."""
        kept: dict[str, bool] = {}
        for column, reason in self.roles.get("kept", {}).items():
            unknown = isinstance(reason, Mapping) and reason.get("outsiders_cannot_know", False)
            kept[column] = not unknown
        return kept


def read_csv(path: Path) -> tuple[list[str], list[dict[str, Value]]]:
    """Read a CSV file; an empty field is a missing value."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = csv.reader(file)
        columns = next(lines)
        rows = [
            {column: text or None for column, text in zip(columns, line, strict=True)}
            for line in lines
        ]
    return columns, rows


# --- Counting ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Group:
    """The people of one class, and those who have each value of a secret."""

    people: set[Any]
    holders: dict[Value, set[Any]]

    @property
    def size(self) -> int:
        return len(self.people)

    @property
    def weight(self) -> int:
        """The pairs of a person and a value."""
        return sum(len(people) for people in self.holders.values())

    def share(self, value: Value) -> Fraction:
        return Fraction(len(self.holders.get(value, ())), self.weight)

    def entropy(self) -> float:
        return entropy(len(people) for people in self.holders.values())


def people_of(written: Written) -> list[Any]:
    """Say who each released row is about: its person, or the row itself."""
    person = written.roles.get("person")
    if person is None:
        return list(range(len(written.rows)))
    found: list[Any] = []
    for number, origin in enumerate(written.origins):
        name = written.original[origin][person]
        found.append(("nobody", number) if name is None else name)
    return found


def group_rows(
    keys: Sequence[Key], secrets: Sequence[Value], people: Sequence[Any]
) -> dict[Key, Group]:
    """Collect the people of every class, and of every value within it."""
    groups: dict[Key, Group] = {}
    for key, secret, person in zip(keys, secrets, people, strict=True):
        group = groups.setdefault(key, Group(people=set(), holders={}))
        group.people.add(person)
        group.holders.setdefault(secret, set()).add(person)
    return groups


def entropy(counts: Iterable[int]) -> float:
    """Compute the entropy of counts in bits."""
    positive = [count for count in counts if count > 0]
    total = sum(positive)
    return math.log2(total) - math.fsum(n * math.log2(n) for n in positive) / total


def entropy_of_shares(shares: Iterable[Fraction]) -> float:
    return -math.fsum(float(share) * math.log2(share) for share in shares)


# --- Finding a person ----------------------------------------------------------------------------


def reidentification(groups: Mapping[Key, Group], below: int = 5) -> dict[str, Number]:
    """Compute every number about finding a person."""
    sizes = [group.size for group in groups.values()]
    pairs = sum(sizes)
    smallest: dict[Any, int] = {}  # of the classes of a person
    seen: Counter[Any] = Counter()
    for group in groups.values():
        for person in group.people:
            smallest[person] = min(group.size, smallest.get(person, group.size))
            seen[person] += 1
    people = len(smallest)
    found: dict[str, Number] = {
        "k_anonymity": Fraction(min(sizes)),
        "highest_risk": Fraction(1, min(sizes)),
        "classes": Fraction(len(sizes)),
        "unique_records": Fraction(sum(size == 1 for size in smallest.values()), people),
        "average_risk": sum(Fraction(1, size) for size in smallest.values()) / people,
        "records_below": Fraction(sum(size < below for size in smallest.values())),
        "distinction": Fraction(len(sizes), pairs),
        "average_class_risk": sum(Fraction(1, size) for size in sizes) / len(sizes),
        "bayes_vulnerability_posterior": Fraction(len(sizes), pairs),
    }
    if pairs > 1:
        together = sum(size * (size - 1) for size in sizes)
        found["separation"] = 1 - Fraction(together, pairs * (pairs - 1))
    shares = [size / pairs * math.log2(size) for size in sizes]
    found.update(information(entropy(seen.values()), shares))
    return found


def information(target: float, shares: Sequence[float]) -> dict[str, Number]:
    """Compute the measures of information from H(X) and the shares h_q of the classes."""
    left = math.fsum(shares)
    told = max(0.0, target - left)
    found: dict[str, Number] = {
        "conditional_entropy": left,
        "mutual_information": told,
        "conditional_privacy": 1 - 2**-told,
        "maximum_information_leakage": target - min(shares),
    }
    if target > 0:
        found["discrimination_rate"] = 1 - left / target
        found["normalized_conditional_entropy"] = left / target
        found["itpr"] = 1 - len(shares) * min(shares) / target
        found["itpr_unnormalized"] = 1 - min(shares) / target
    return found


# --- Learning a secret ---------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Base:
    """What is known of a secret before the class is known."""

    shares: dict[Value, Fraction]  # p(s), of the pairs of a person and a value
    having: dict[Value, Fraction]  # the share of the people who have the value
    order: list[Value] | None
    l: int  # noqa: E741 (the parameter of recursive (c,l)-diversity has this name)
    named: Value = None  # the value that alpha_k is about, if one is named
    tree: Mapping[str, Sequence[str]] | None = None  # a hierarchy of one level below its root


def base_of(groups: Mapping[Key, Group], **stated: Any) -> Base:
    pairs: Counter[Value] = Counter()
    holders: defaultdict[Value, set[Any]] = defaultdict(set)
    everybody: set[Any] = set()
    for group in groups.values():
        everybody |= group.people
        for value, people in group.holders.items():
            pairs[value] += len(people)
            holders[value] |= people
    total = sum(pairs.values())
    return Base(
        shares={value: Fraction(count, total) for value, count in pairs.items()},
        having={value: Fraction(len(holders[value]), len(everybody)) for value in pairs},
        **stated,
    )


def class_numbers(group: Group, base: Base) -> dict[str, Number]:
    """Compute what one class tells about a secret; of every number the riskier is the worse."""
    counts = sorted((len(people) for people in group.holders.values()), reverse=True)
    values = base.shares
    gains = {s: (group.share(s) - p) / p for s, p in values.items()}
    confidence = {s: Fraction(len(h), group.size) for s, h in group.holders.items()}
    rest = sum(counts[base.l - 1 :])
    found: dict[str, Number] = {
        "l_diversity": Fraction(min(len(counts), group.size)),
        "entropy_l": min(2 ** group.entropy(), group.size),
        "recursive_c": Fraction(counts[0], rest) if rest else None,
        "max_confidence": max(confidence.values()),
        "t_closeness": sum(abs(group.share(s) - p) for s, p in values.items()) / 2,
        "beta_likeness": max(Fraction(0), *gains.values()),
        "delta_disclosure": max_ratio(group, values),
        "delta_disclosure_present": max_ratio(
            group, {s: p for s, p in values.items() if s in group.holders}
        ),
    }
    found["alpha_k"] = found["max_confidence"]
    found["entropy_variation"] = entropy_of_shares(values.values()) - group.entropy()
    if base.named is not None:
        found["alpha_k"] = confidence.get(base.named, Fraction(0))
    closer = [
        (confidence[s] - base.having[s]) / (1 - base.having[s])
        for s in group.holders
        if base.having[s] < 1
    ]
    found["confidence_gain"] = max([Fraction(0), *closer])
    if base.order is not None:
        found["t_closeness_ordered"] = ordered_distance(group, base)
    if base.tree is not None:
        found["t_closeness_hierarchical"] = distance_in_tree(group, base)
    return found


def max_ratio(group: Group, values: Mapping[Value, Fraction]) -> float | None:
    """Compute the largest |ln(p(s|q)/p(s))|; None if the class lacks a value."""
    ratios = [group.share(s) / p for s, p in values.items()]
    if 0 in ratios:
        return None
    return max(abs(math.log(ratio)) for ratio in ratios)


def ordered_distance(group: Group, base: Base) -> Fraction:
    assert base.order is not None
    present = [value for value in base.order if value in base.shares]
    if len(present) < 2:
        return Fraction(0)
    moved = Fraction(0)
    total = Fraction(0)
    for value in present[:-1]:
        moved += group.share(value) - base.shares[value]
        total += abs(moved)
    return total / (len(present) - 1)


def distance_in_tree(group: Group, base: Base) -> Fraction:
    """Compute the earth mover's distance: half a step within a branch, a whole one across."""
    assert base.tree is not None
    excess = {value: p - group.share(value) for value, p in base.shares.items()}
    branches = []
    total = Fraction(0)
    for values in base.tree.values():
        below = [excess.get(value, Fraction(0)) for value in values]
        total += moved_between(below) / 2
        branches.append(sum(below, Fraction(0)))
    # A missing secret is a value of its own, as far from all others as can be.
    branches.append(excess.get(None, Fraction(0)))
    return total + moved_between(branches)


def moved_between(excess: Sequence[Fraction]) -> Fraction:
    more = sum((e for e in excess if e > 0), Fraction(0))
    less = sum((-e for e in excess if e < 0), Fraction(0))
    return min(more, less)


# The methods that suppress records.
RECODINGS = ("full", "regions", "local", "suppress")
# The measures of which the worst class decides, and whether low is risky.
WORST_CLASS = {
    "l_diversity": True,
    "entropy_l": True,
    "recursive_c": False,
    "max_confidence": False,
    "alpha_k": False,
    "confidence_gain": False,
    "t_closeness": False,
    "t_closeness_ordered": False,
    "t_closeness_hierarchical": False,
    "beta_likeness": False,
    "entropy_variation": False,
    "delta_disclosure": False,
    "delta_disclosure_present": False,
}
# The numbers that are also computed without the records that lack the secret.
WITHOUT_MISSING = {
    "l_diversity",
    "entropy_l",
    "entropy_l_diversity",
    "recursive_c",
    "max_confidence",
    "alpha_k",
    "confidence_gain",
    "guess_gain",
}


def inference(groups: Mapping[Key, Group], base: Base) -> dict[str, Number]:
    """Compute every number about learning a secret."""
    found: dict[str, Number] = {}
    by_class = [class_numbers(group, base) for group in groups.values()]
    for name, low_is_risky in WORST_CLASS.items():
        numbers = [numbers[name] for numbers in by_class if name in numbers]
        if numbers:
            found[name] = worst(numbers, low_is_risky)
    total = sum(group.weight for group in groups.values())
    best = sum(max(len(h) for h in group.holders.values()) for group in groups.values())
    prior = max(base.shares.values())
    posterior = Fraction(best, total)
    found["bayes_vulnerability_posterior"] = posterior
    if prior < 1:
        found["guess_gain"] = (posterior - prior) / (1 - prior)
    target = entropy(int(p * total) for p in base.shares.values())
    shares = [group.weight / total * group.entropy() for group in groups.values()]
    found.update(information(target, shares))
    found["entropy_l_diversity"] = 1 / float(found["entropy_l"] or 1)
    rarest = -math.log(min(base.shares.values()))
    found["enhanced_beta_likeness"] = min(float(found["beta_likeness"] or 0), rarest)
    return found


def worst(numbers: Sequence[Number], low_is_risky: bool) -> Number:
    if None in numbers:
        return None
    known = [number for number in numbers if number is not None]
    return min(known) if low_is_risky else max(known)


# --- Judging -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A limit as the policy writes it: 0.3 is three tenths."""

    measure: str
    least: float | None
    most: float | None

    def is_met(self, number: Number) -> bool:
        """Judge a number; the limit on recursive_c, and only that one, is strict."""
        if number is None:
            return False
        rounding = Fraction(0) if isinstance(number, Fraction) else Fraction(ROUNDING)
        exact = Fraction(number)
        if self.least is not None and exact < Fraction(str(self.least)) - rounding:
            return False
        if self.most is None:
            return True
        most = Fraction(str(self.most))
        return exact < most if self.measure == "recursive_c" else exact <= most + rounding


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A limit, the number that it is about, and whether it is met."""

    where: str
    limit: Limit
    number: Number
    met: bool
    suppressed: bool = False  # the number is that of the suppressed rows alone
    reading: str = ""

    def __str__(self) -> str:
        number = "unbounded" if self.number is None else f"{float(self.number):.6g}"
        of = "the suppressed rows" if self.suppressed else "the release"
        return f"{self.measure} of {of} ({self.where}{self.reading}) is {number}"

    @property
    def measure(self) -> str:
        return self.limit.measure


def limits_of(policy: Mapping[str, Any], chapter: str, secret: str | None = None) -> list[Limit]:
    """List the limits of a chapter: those that apply everywhere, and the narrower ones."""
    limits: dict[str, Mapping[str, float]] = {}
    given = policy["limits"]
    for name, limit in given.items():
        if name not in ("reidentification", "inference"):
            limits[name] = limit
    narrower = given.get(chapter, {})
    if secret is not None:
        narrower = narrower.get(secret, {})
    limits.update(narrower)
    return [
        Limit(measure=name, least=limit.get("min"), most=limit.get("max"))
        for name, limit in limits.items()
    ]


def problems(written: Written) -> list[str]:
    """List everything about a release that breaks its policy or its promises."""
    return [
        *columns_that_must_not_be_there(written),
        *rows_of_other_records(written),
        *too_many_suppressed(written),
        *spellings_of_one_value(written),
        *[str(judged) for judged in judge(written) if not judged.met],
        *order_that_tells(written),
    ]


def is_suppressed(written: Written, row: Row) -> bool:
    return all(row[column] == MARK for column in written.quasi)


def columns_that_must_not_be_there(written: Written) -> list[str]:
    """Compare the columns of the release with those that the policy lets out."""
    expected = {*written.quasi, *written.kept}
    found = []
    if written.how == "anatomy":
        expected.add("group")
        if set(written.secret_columns) != {"group", *written.secrets}:
            found.append("the table of secrets has other columns")
    else:
        expected.update(written.secrets)
    weight = written.roles.get("weight")
    found += [
        f"column {name} must not be there"
        for name in written.columns
        if name not in expected and name != weight
    ]
    return found + [f"column {name} is missing" for name in expected - set(written.columns)]


def spellings_of_one_value(written: Written) -> list[str]:
    """List the secrets of which some values may be one value that is spelt in several ways."""
    found = []
    for secret in written.secrets:
        if secret in written.roles.get("distinct_spellings", ()):
            continue
        values = {row[secret] for row in written.secret_rows or written.rows} - {None}
        kinds = {canonical(str(value)) for value in values}
        if len(kinds) < len(values):
            found.append(f"values of {secret} differ in their spelling only")
    return found


def canonical(text: str) -> str:
    """Fold what does not tell values apart: width, case, blanks, dashes, invisible characters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    visible = "".join(sign for sign in folded if unicodedata.category(sign) not in ("Cf", "Cc"))
    plain = "".join("-" if unicodedata.category(sign) == "Pd" else sign for sign in visible)
    words = " ".join(plain.split())
    number = as_number(words)
    return words if number is None else str(number)


def judge(written: Written) -> list[Judged]:
    """Judge every limit of the policy, on the release and on its suppressed rows."""
    people = people_of(written)
    shown = [n for n, row in enumerate(written.rows) if not is_suppressed(written, row)]
    hidden = [n for n, row in enumerate(written.rows) if is_suppressed(written, row)]
    found = []
    for limit in limits_of(written.policy, "reidentification"):
        if limit.measure == "suppressed_records":
            found.append(about_people(limit, Fraction(len(hidden) + dropped_rows(written))))
    known = [column for column, outsiders_know in written.kept.items() if outsiders_know]
    for columns in ([], *[[column] for column in known], known):
        found += finding_people(written, shown, [*written.quasi, *columns], people)
    if hidden:
        found += few_suppressed(written, len({people[n] for n in hidden}))
    if written.how == "anatomy":
        return found + learning_from_groups(written)
    for secret in written.secrets:
        keys = {n: tuple(written.rows[n][column] for column in written.quasi) for n in shown}
        values = [row[secret] for row in written.rows]
        found += learning(written, secret, values, keys, hidden, people)
    return found


def about_people(limit: Limit, number: Number, suppressed: bool = False) -> Judged:
    return Judged(
        where="reidentification",
        limit=limit,
        number=number,
        met=limit.is_met(number),
        suppressed=suppressed,
    )


def finding_people(
    written: Written, shown: Sequence[int], columns: Sequence[str], people: Sequence[Any]
) -> list[Judged]:
    """Judge the limits on finding a person by these columns."""
    keys = [tuple(written.rows[n][column] for column in columns) for n in shown]
    groups = group_rows(keys, [None] * len(shown), [people[n] for n in shown])
    below = written.policy.get("parameters", {}).get("records_below", {}).get("k", 5)
    numbers = reidentification(groups, below)
    return [
        about_people(limit, numbers[limit.measure])
        for limit in limits_of(written.policy, "reidentification")
        if limit.measure in numbers
    ]


def few_suppressed(written: Written, people: int) -> list[Judged]:
    """Judge the number of people among the suppressed rows by the limits on k."""
    below = written.policy.get("parameters", {}).get("records_below", {}).get("k", 5)
    numbers = {
        "k_anonymity": Fraction(people),
        "highest_risk": Fraction(1, people),
        "records_below": Fraction(people if people < below else 0),
        "unique_records": Fraction(people == 1),
    }
    return [
        about_people(limit, numbers[limit.measure], suppressed=True)
        for limit in limits_of(written.policy, "reidentification")
        if limit.measure in numbers
    ]


def learning_from_groups(written: Written) -> list[Judged]:
    """Judge the second table of anatomy, whose groups are the classes."""
    found = []
    numbers = range(len(written.secret_rows))
    keys = {n: (written.secret_rows[n]["group"],) for n in numbers}
    for secret in written.secrets:
        values = [row[secret] for row in written.secret_rows]
        found += learning(written, secret, values, keys, [], list(numbers))
    return found


def learning(
    written: Written,
    secret: str,
    values: Sequence[Value],
    keys: Mapping[int, Key],
    hidden: Sequence[int],
    people: Sequence[Any],
) -> list[Judged]:
    """Judge the limits on a secret, with the records that lack it and without them."""
    limits = limits_of(written.policy, "inference", secret)
    stated = stated_about(written, secret, values)
    found = judge_kinds(written, secret, values, keys, people)
    found += judge_reading(limits, secret, values, keys, hidden, people, stated, "")
    known = {n for n, value in enumerate(values) if value is not None}
    if len(known) < len(values):
        limits = [limit for limit in limits if limit.measure in WITHOUT_MISSING]
        keys = {n: key for n, key in keys.items() if n in known}
        hidden = [n for n in hidden if n in known]
        reading = ", without missing"
        found += judge_reading(limits, secret, values, keys, hidden, people, stated, reading)
    return found


def stated_about(written: Written, secret: str, values: Sequence[Value]) -> dict[str, Any]:
    """Collect what the policy says about a secret: its order, and parameters of measures."""
    parameters = written.policy.get("parameters", {})
    order = written.policy.get("orders", {}).get(secret)
    if order is None and secret in written.numbers:
        order = sorted({value for value in values if value is not None}, key=float)
    return {
        "order": order,
        "l": parameters.get("recursive_c", {}).get("l", 2),
        "named": parameters.get("alpha_k", {}).get("value"),
        "tree": written.policy.get("hierarchies", {}).get(secret, {}).get(MARK),
    }


def judge_kinds(
    written: Written,
    secret: str,
    values: Sequence[Value],
    keys: Mapping[int, Key],
    people: Sequence[Any],
) -> list[Judged]:
    """Judge a limit on the semantic discrimination rate: values of one kind are merged."""
    kinds = written.policy.get("partitions", {}).get(secret)
    if kinds is None or not keys:
        return []
    kind_of = {value: kind for kind, members in kinds.items() for value in members}
    merged: list[Value] = [kind_of.get(value, "other") for value in values]
    groups = group_rows(list(keys.values()), [merged[n] for n in keys], [people[n] for n in keys])
    base = base_of(groups, order=None, l=2)
    number = inference(groups, base).get("discrimination_rate")
    return [
        about_secret(limit, secret, number, groups, base, "")
        for limit in limits_of(written.policy, "inference", secret)
        if limit.measure == "semantic_discrimination_rate"
    ]


def judge_reading(
    limits: Sequence[Limit],
    secret: str,
    values: Sequence[Value],
    keys: Mapping[int, Key],
    hidden: Sequence[int],
    people: Sequence[Any],
    stated: Mapping[str, Any],
    reading: str,
) -> list[Judged]:
    """Judge the limits on a secret in the classes, and in the suppressed rows as one class."""
    groups = group_rows(list(keys.values()), [values[n] for n in keys], [people[n] for n in keys])
    if not groups:
        return []
    base = base_of(groups, **stated)
    numbers = inference(groups, base)
    found = [
        about_secret(limit, secret, numbers[limit.measure], groups, base, reading)
        for limit in limits
        if limit.measure in numbers
    ]
    if not hidden:
        return found
    mark: Key = (MARK, "of every suppressed row")
    of_hidden = [mark] * len(hidden)
    apart = group_rows(of_hidden, [values[n] for n in hidden], [people[n] for n in hidden])
    whole = base_of(everybody_together(values, [*keys, *hidden], people), **stated)
    numbers = class_numbers(apart[mark], whole)
    numbers["enhanced_beta_likeness"] = numbers["beta_likeness"]
    for limit in limits:
        if limit.measure in numbers:
            number = numbers[limit.measure]
            judged = about_secret(limit, secret, number, apart, whole, reading)
            found.append(replace(judged, suppressed=True))
    return found


def everybody_together(
    values: Sequence[Value], rows: Sequence[int], people: Sequence[Any]
) -> dict[Key, Group]:
    """Put the people of these rows into one class: what is known of the whole file."""
    whole: list[Key] = [()] * len(rows)
    return group_rows(whole, [values[n] for n in rows], [people[n] for n in rows])


def about_secret(
    limit: Limit,
    secret: str,
    number: Number,
    groups: Mapping[Key, Group],
    base: Base,
    reading: str,
) -> Judged:
    """Judge a limit on a secret; where everybody has the same value, everybody's is known."""
    met = limit.is_met(number)
    if limit.measure == "enhanced_beta_likeness" and limit.most is not None:
        met = gains_are_small(groups, base, limit.most)
    if len(base.shares) == 1:
        met = False
    return Judged(where=f"inference.{secret}", limit=limit, number=number, met=met, reading=reading)


def gains_are_small(groups: Mapping[Key, Group], base: Base, most: float) -> bool:
    """Say whether every gain is at most min(beta, -ln p(s)), as Cao and Karras have it."""
    for value, p in base.shares.items():
        gain = max((group.share(value) - p) / p for group in groups.values())
        if gain > Fraction(str(most)) or float(gain) > -math.log(p) + ROUNDING:
            return False
    return True


# --- Rows ----------------------------------------------------------------------------------------


def allowed_suppressed(written: Written) -> int:
    """Say how many rows the release may hide or leave out."""
    rows = len(written.original)
    share = written.settings.get("suppress", written.policy.get("protect", {}).get("suppress"))
    if share is not None:
        return math.floor(Fraction(str(share)) * rows)
    for limit in limits_of(written.policy, "reidentification"):
        if limit.measure == "suppressed_records" and limit.most is not None:
            return int(limit.most)
    return math.floor(Fraction(2, 100) * rows)


def dropped_rows(written: Written) -> int:
    """Count the rows that were left out instead of suppressed."""
    if written.how not in RECODINGS:
        return 0
    return len(written.original) - len(written.rows)


def too_many_suppressed(written: Written) -> list[str]:
    """Count the rows that the release lacks against the budget, together with those it hides."""
    hidden = sum(is_suppressed(written, row) for row in written.rows)
    lacking = len(written.original) - len(written.rows)
    dropped = dropped_rows(written)
    if written.how == "sample":
        return [] if lacking >= 0 else ["more rows than the original has"]
    if written.how not in RECODINGS:
        return [f"{lacking} rows are not there"] if lacking else []
    allowed = allowed_suppressed(written)
    if dropped + hidden > allowed:
        return [f"{dropped} rows dropped and {hidden} suppressed, {allowed} allowed"]
    return []


def rows_of_other_records(written: Written) -> list[str]:
    """List the rows that cannot come from the original row that they are paired with."""
    origins = written.origins
    if len(origins) != len(written.rows):
        return [f"{len(origins)} pairs for {len(written.rows)} rows"]
    if len(set(origins)) != len(origins):
        return ["two rows are paired with one original row"]
    found = []
    same = [c for c in (*written.secrets, *written.kept) if c in written.columns]
    unlike = 0
    for row, origin in zip(written.rows, origins, strict=True):
        if any(row[column] != written.original[origin][column] for column in same):
            unlike += 1
    if unlike:
        found.append(f"{unlike} rows have other secrets than their original rows")
    for column in written.quasi:
        unlike = count_impossible_labels(written, column)
        if unlike:
            found.append(f"{unlike} labels of {column} do not stand for the original value")
    if written.how == "full":
        found += labels_of_one_value(written)
    return found


def count_impossible_labels(written: Written, column: str) -> int:
    fits = FITS.get(written.how)
    if fits is None:
        return 0
    numeric = written.how == "noise" and as_number(written.rows[0][column]) is not None
    deviation = standard_deviation(written.original, column) if numeric else 0.0
    return sum(
        not fits(row[column], written.original[origin][column], column, written, deviation)
        for row, origin in zip(written.rows, written.origins, strict=True)
    )


def labels_of_one_value(written: Written) -> list[str]:
    """List the columns in which full-domain recoding gave one value several labels."""
    found = []
    for column in written.quasi:
        labels: defaultdict[Value, set[Value]] = defaultdict(set)
        for row, origin in zip(written.rows, written.origins, strict=True):
            if not is_suppressed(written, row):
                labels[written.original[origin][column]].add(row[column])
        several = sum(len(given) > 1 for given in labels.values())
        if several:
            found.append(f"{several} values of {column} have several labels")
    return found


def covers(label: Value, value: Value) -> bool:
    """Say whether a label can stand for a value; labels of a hierarchy of words are believed."""
    if label == value or (label and set(label) == {MARK}):
        return True
    if label is None or value is None:
        return False
    number = as_number(value)
    if label.startswith("{") and label.endswith("}"):
        return any(covers(part, value) for part in parts_of(label[1:-1]))
    if label.startswith("["):
        low, high = (Fraction(part) for part in label[1:-1].split(", "))
        if number is None or number < low:
            return False
        return number <= high if label.endswith("]") else number < high
    for sign in ("< ", ">= "):
        if label.startswith(sign):
            border = Fraction(label.removeprefix(sign))
            return number is not None and (number < border) == (sign == "< ")
    return as_number(label) is None or number is None


def parts_of(text: str) -> list[str]:
    """Split the members of a set; an interval among them has a comma of its own."""
    parts = [""]
    depth = 0
    for sign in text:
        depth += (sign in "[{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def standard_deviation(rows: Sequence[Row], column: str) -> float:
    numbers = [float(number) for row in rows if (number := as_number(row[column])) is not None]
    mean = math.fsum(numbers) / len(numbers)
    return math.sqrt(math.fsum((number - mean) ** 2 for number in numbers) / len(numbers))


def is_covered(label: Value, value: Value, *_: Any) -> bool:
    return covers(label, value)


def is_kept_or_hidden(label: Value, value: Value, *_: Any) -> bool:
    return label in (value, MARK)


def is_equal(label: Value, value: Value, *_: Any) -> bool:
    return label == value


def is_near(label: Value, value: Value, column: str, written: Written, deviation: float) -> bool:
    """Say whether a number is within six standard deviations of the noise."""
    before, after = as_number(value), as_number(label)
    if before is None or after is None:
        return label == value
    widest = 6.5 * float(written.settings["amount"]) * deviation
    return abs(float(after - before)) <= widest + 1


def is_multiple(label: Value, value: Value, column: str, written: Written, _: float) -> bool:
    before, after = as_number(value), as_number(label)
    base = written.settings.get("base", {}).get(column)
    if before is None or after is None or base is None:
        return label == value
    exact = Fraction(str(base))
    far = abs(after - before)
    nearest = far < exact if written.settings.get("unbiased") else far <= exact / 2
    return nearest and (after / exact).denominator == 1


FITS: dict[str, Callable[..., bool]] = {
    "full": is_covered,
    "regions": is_covered,
    "local": is_covered,
    "suppress": is_kept_or_hidden,
    "noise": is_near,
    "round": is_multiple,
    "sample": is_equal,
    "anatomy": is_equal,
}


# --- The order of the rows -----------------------------------------------------------------------


def order_that_tells(written: Written) -> list[str]:
    """List the columns, released or hidden, that are far from a random order along the release."""
    return [
        f"the order of the rows tells {name}: {score:.1f} standard deviations"
        for name, score in order_scores(written).items()
        if abs(score) > FAR
    ]


def order_scores(written: Written) -> dict[str, float]:
    """Compute how far every column is from a random order, in standard deviations."""
    if len(written.rows) < ENOUGH_ROWS or len(written.origins) != len(written.rows):
        return {}
    columns: dict[str, Sequence[Any]] = {"original row": list(written.origins)}
    for name in written.columns:
        columns[f"released {name}"] = [row[name] for row in written.rows]
    for name in written.original[0]:
        columns[f"original {name}"] = [written.original[n][name] for n in written.origins]
    for name in written.secret_columns:
        columns[f"secret table's {name}"] = [row[name] for row in written.secret_rows]
    scores: dict[str, float] = {}
    for name, values in columns.items():
        if not varies_enough(values):
            continue
        scores[f"{name}, runs"] = score_of_runs(values)
        ranks = ranks_of(values)
        scores[f"{name}, neighbours"] = score_of_neighbours(ranks)
        scores[f"{name}, place"] = score_of_place(ranks)
    if written.how == "anatomy":
        groups = ranks_of([row["group"] for row in written.rows])
        scores["number of the group"] = score_of_correlation(groups, ranks_of(written.origins))
    return {name: score for name, score in scores.items() if not math.isnan(score)}
