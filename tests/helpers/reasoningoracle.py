"""What a learner and an attacker believe after a release, the slow way: every table it allows.

A second opinion for the test suite, like ``oracle``. Nothing here is shared with the package: the
model is that of Boreale and Corradi, written as it reads, in exact fractions.

A population is a share for every secret s, drawn from Dirichlet(alpha), and for every s a law of
the other values, drawn from Dirichlet(beta): one law for each column (``product``) or one for whole
tuples of values (``saturated``). A table is so many independent rows (s, r) of it. Every table that
a release allows is as likely to have led to it, so a table's posterior probability is proportional
to its probability before, the population integrated out.

A release is a list of groups. Horizontal: (a set of values for each column, the secrets of the
rows). Vertical: (the tuples of the rows, the secrets of the rows), in no common order. ``domains``
lists for each column the values that there are. ``secrets`` lists the secrets that there are; left
out, these are the released ones by first appearance, then those that only ``alpha`` names.

``alpha`` is a number or {secret: number}. ``beta`` is a number, {column number: number or {value:
number}}, for the saturated model {tuple: number}, or {secret: any of these}.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import prod
from random import Random
from typing import Any, TypeAlias

import mpmath

Value: TypeAlias = Hashable
Secret: TypeAlias = Hashable
Tuple: TypeAlias = "tuple[Value, ...]"
Row: TypeAlias = "tuple[Secret, Tuple]"
Horizontal: TypeAlias = "Sequence[tuple[Sequence[frozenset[Value]], Sequence[Secret]]]"
Vertical: TypeAlias = "Sequence[tuple[Sequence[Tuple], Sequence[Secret]]]"
Domains: TypeAlias = "Sequence[Sequence[Value]]"
Belief: TypeAlias = "dict[Secret, Fraction]"
Beliefs: TypeAlias = "dict[Tuple, dict[str, Belief | None]]"

STAR = "*"
KINDS = ("horizontal", "vertical")
DIGITS = 18
STEP = 0.375
MOST = 3000


# --------------------------------------------------------------------------- the prior


@dataclass(frozen=True)
class Prior:
    """All that is assumed before the release is seen.

    ``of_factor`` has for each factor and secret the prior weight of every atom. The product model
    has a factor for each column, the saturated model one; an atom is a tuple of values.
    """

    of_secret: dict[Secret, Fraction]
    columns: list[tuple[int, ...]]
    of_factor: list[dict[Secret, dict[Tuple, Fraction]]]

    @cached_property
    def totals(self) -> list[dict[Secret, Fraction]]:
        """The prior weight of all atoms together, for each factor and secret."""
        return [
            {s: sum(law.values(), Fraction(0)) for s, law in of.items()} for of in self.of_factor
        ]

    def atoms(self, values: Tuple) -> list[Tuple]:
        """The atom of these values in each factor."""
        return [tuple(values[column] for column in columns) for columns in self.columns]


def prior(
    released: Sequence[Secret],
    domains: Domains,
    alpha: Any = 1,
    beta: Any = 1,
    likelihood: str = "product",
    secrets: Sequence[Secret] | None = None,
) -> Prior:
    """The prior in full, for every secret and every value."""
    if likelihood not in ("product", "saturated"):
        raise ValueError("the likelihood is product or saturated")
    if any(len(set(domain)) < len(domain) or not domain for domain in domains):
        raise ValueError("a domain lists every value once")
    if secrets is None:
        secrets = list(dict.fromkeys((*released, *(alpha if isinstance(alpha, Mapping) else ()))))
    if not set(released) <= set(secrets):
        raise ValueError("a released secret is not among the secrets")
    shares = {s: Fraction(alpha[s] if isinstance(alpha, Mapping) else alpha) for s in secrets}
    places = range(len(domains))
    columns: list[tuple[int, ...]] = [(c,) for c in places]
    if likelihood == "saturated":
        columns = [tuple(places)]
    by_secret = isinstance(beta, Mapping) and set(beta) >= set(secrets)
    factors = [
        {
            s: {
                atom: _weight(beta[s] if by_secret else beta, of, atom, likelihood)
                for atom in itertools.product(*(domains[column] for column in of))
            }
            for s in secrets
        }
        for of in columns
    ]
    weights = [w for factor in factors for law in factor.values() for w in law.values()]
    if min((*shares.values(), *weights)) <= 0:
        raise ValueError("prior weights are above 0")
    return Prior(shares, columns, factors)


def _weight(beta: Any, columns: tuple[int, ...], atom: Tuple, likelihood: str) -> Fraction:
    if not isinstance(beta, Mapping):
        return Fraction(beta)
    if likelihood == "saturated":
        return Fraction(beta[atom])
    of_column = beta[columns[0]]
    return Fraction(of_column[atom[0]] if isinstance(of_column, Mapping) else of_column)


# --------------------------------------------------------------------------- the tables


def horizontal_tables(groups: Horizontal, domains: Domains) -> Iterator[list[Row]]:
    """Every table whose rows lie in the sets of their groups."""
    rows: list[list[Row]] = []
    for sets, secrets in groups:
        for members, domain in zip(sets, domains, strict=True):
            if not members or not members <= set(domain):
                raise ValueError("a set names some values of its domain")
        inside = [[v for v in d if v in m] for m, d in zip(sets, domains, strict=True)]
        rows += [[(s, values) for values in itertools.product(*inside)] for s in secrets]
    for table in itertools.product(*rows):
        yield list(table)


def vertical_tables(groups: Vertical, domains: Domains) -> Iterator[list[Row]]:
    """Every table that gives each group's tuples to its secrets in some order."""
    matchings: list[list[list[Row]]] = []
    for tuples, secrets in groups:
        for values in tuples:
            _check_values(values, domains)
        orders = dict.fromkeys(itertools.permutations(tuples))
        matchings.append([list(zip(secrets, order, strict=True)) for order in orders])
    for parts in itertools.product(*matchings):
        yield [row for part in parts for row in part]


def _check_values(values: Tuple, domains: Domains) -> None:
    if any(value not in domain for value, domain in zip(values, domains, strict=True)):
        raise ValueError("a value is not in its domain")


def _rising(start: Fraction, times: int) -> Fraction:
    return prod((start + i for i in range(times)), start=Fraction(1))


@dataclass(frozen=True)
class Table:
    """How often each row occurs, each secret, and in each factor each secret with each atom."""

    rows: dict[Row, int]
    secrets: dict[Secret, int]
    counts: list[dict[Secret, Counter[Tuple]]]


def counted(rows: Mapping[Row, int], prior: Prior) -> Table:
    """The table with these rows, each so many times."""
    secrets = dict.fromkeys(prior.of_secret, 0)
    counts: list[dict[Secret, Counter[Tuple]]]
    counts = [{s: Counter() for s in prior.of_secret} for _ in prior.columns]
    for (s, values), times in rows.items():
        secrets[s] += times
        for of_factor, atom in zip(counts, prior.atoms(values), strict=True):
            of_factor[s][atom] += times
    return Table(dict(rows), secrets, counts)


def likelihood_of(table: Table, prior: Prior) -> Fraction:
    """The probability of the values of these rows given their secrets: rising factorials."""
    total = Fraction(1)
    for number, factor in enumerate(prior.of_factor):
        for s, law in factor.items():
            for atom, count in table.counts[number][s].items():
                total *= _rising(law[atom], count)
            total /= _rising(prior.totals[number][s], table.secrets[s])
    return total


@dataclass(frozen=True)
class Posterior:
    """The prior, and every table with its probability."""

    prior: Prior
    tables: list[tuple[Table, Fraction]]
    assignments: int


def posterior(
    kind: str,
    groups: Any,
    domains: Domains,
    alpha: Any = 1,
    beta: Any = 1,
    likelihood: str = "product",
    secrets: Sequence[Secret] | None = None,
) -> Posterior:
    """The probability of every table that the release allows."""
    if kind not in KINDS:
        raise ValueError("a release is horizontal or vertical")
    released = [s for _, of_group in groups for s in of_group]
    known = prior(released, domains, alpha, beta, likelihood, secrets)
    listing = horizontal_tables if kind == "horizontal" else vertical_tables
    orders: Counter[frozenset[tuple[Row, int]]] = Counter()
    for table in listing(groups, domains):
        orders[frozenset(Counter(table).items())] += 1
    tables = [counted(dict(rows), known) for rows in orders]
    weights = [
        times * likelihood_of(table, known)
        for table, times in zip(tables, orders.values(), strict=True)
    ]
    total = sum(weights, Fraction(0))
    shares = [weight / total for weight in weights]
    return Posterior(known, list(zip(tables, shares, strict=True)), sum(orders.values()))


# --------------------------------------------------------------------------- beliefs


def horizontal(
    groups: Horizontal, domains: Domains, victims: Sequence[Tuple], alpha: Any = 1, beta: Any = 1,
    likelihood: str = "product", secrets: Sequence[Secret] | None = None,
) -> Beliefs:  # fmt: skip
    """What attacker and learner believe about each victim of a horizontal release.

    ``attacker`` is None where no group has room for the victim.

    >>> groups = [((frozenset("ab"),), ["flu", "cold"]), ((frozenset("b"),), ["cold"])]
    >>> beliefs = horizontal(groups, [["a", "b"]], [("a",)])
    >>> str(beliefs["a",]["attacker"]["flu"]), str(beliefs["a",]["learner"]["flu"])
    ('3/5', '1/2')
    """
    known = posterior("horizontal", groups, domains, alpha, beta, likelihood, secrets)
    return beliefs_of(known, victims, domains)


def vertical(
    groups: Vertical, domains: Domains, victims: Sequence[Tuple], alpha: Any = 1, beta: Any = 1,
    likelihood: str = "product", secrets: Sequence[Secret] | None = None,
) -> Beliefs:  # fmt: skip
    """What attacker and learner believe about each victim of a vertical release."""
    known = posterior("vertical", groups, domains, alpha, beta, likelihood, secrets)
    return beliefs_of(known, victims, domains)


def beliefs_of(known: Posterior, victims: Sequence[Tuple], domains: Domains) -> Beliefs:
    """The beliefs of both about each victim."""
    for victim in victims:
        _check_values(victim, domains)
    return {v: {"attacker": attacker(known, v), "learner": learner(known, v)} for v in victims}


def attacker(known: Posterior, victim: Tuple) -> Belief | None:
    """In proportion to the mean number of rows (s, victim)."""
    mean = {
        s: sum((p * table.rows.get((s, victim), 0) for table, p in known.tables), Fraction(0))
        for s in known.prior.of_secret
    }
    return _shares(mean) if sum(mean.values()) else None


def learner(known: Posterior, victim: Tuple) -> Belief:
    """In proportion to the mean share of (s, victim) in the population."""
    mean = dict.fromkeys(known.prior.of_secret, Fraction(0))
    for table, p in known.tables:
        of_secret = secret_means(table, known.prior)
        for s in mean:
            share = of_secret[s]
            for number, atom in enumerate(known.prior.atoms(victim)):
                share *= atom_mean(table, known.prior, number, s, atom)
            mean[s] += p * share
    return _shares(mean)


def secret_means(table: Table, prior: Prior) -> Belief:
    """The mean share of every secret, given the table."""
    return _shares({s: weight + table.secrets[s] for s, weight in prior.of_secret.items()})


def atom_mean(table: Table, prior: Prior, number: int, s: Secret, atom: Tuple) -> Fraction:
    """The mean share of an atom of a factor among those with the secret, given the table."""
    of_atom = prior.of_factor[number][s][atom] + table.counts[number][s][atom]
    return of_atom / (prior.totals[number][s] + table.secrets[s])


def _shares(weights: Mapping[Any, Fraction]) -> dict[Any, Fraction]:
    total = sum(weights.values(), Fraction(0))
    return {name: weight / total for name, weight in weights.items()}


def population(kind: str, groups: Any, domains: Domains, **model: Any) -> dict[str, Any]:
    """What the release teaches about the population: mean shares.

    ``secrets`` is {secret: share}; ``values`` is for the product model a list, column by column, of
    {secret: {value: share}}, for the saturated model {secret: {tuple: share}}.
    """
    known = posterior(kind, groups, domains, **model)
    of_secret = secret_means(known.tables[0][0], known.prior)
    laws = [
        {s: dict.fromkeys(law, Fraction(0)) for s, law in factor.items()}
        for factor in known.prior.of_factor
    ]
    for table, p in known.tables:
        for number, factor in enumerate(laws):
            for s, law in factor.items():
                for atom in law:
                    law[atom] += p * atom_mean(table, known.prior, number, s, atom)
    if model.get("likelihood", "product") == "saturated":
        return {"secrets": of_secret, "values": laws[0]}
    plain = [{s: {a[0]: w for a, w in law.items()} for s, law in of.items()} for of in laws]
    return {"secrets": of_secret, "values": plain}


# --------------------------------------------------------------------------- the risk


def risk(truth: Sequence[Row], beliefs: Beliefs) -> dict[str, Any]:
    """Rows at risk, and by how much more under the attacker, for the rows of the true table.

    A row is at risk if its secret is the likeliest; of m that are equally likely it counts 1
    (``literal``) or 1/m (``fractional``). ``relative`` has a ratio for every row at risk under the
    attacker and None for the others.
    """
    literal = {who: Fraction(0) for who in ("attacker", "learner")}
    fractional = dict(literal)
    relative: list[Fraction | None] = []
    for s, values in truth:
        ratio = None
        for who in literal:
            belief = beliefs[values][who]
            if belief is None or belief.get(s, 0) < max(belief.values()):
                continue
            literal[who] += 1
            fractional[who] += Fraction(1, list(belief.values()).count(belief[s]))
            if who == "attacker":
                learned = beliefs[values]["learner"]
                assert learned is not None
                ratio = belief[s] / learned[s]
        relative.append(ratio)

    def more(at_risk: Mapping[str, Fraction]) -> Fraction:
        return max(Fraction(0), (at_risk["attacker"] - at_risk["learner"]) / len(truth))

    return {
        "attacker_literal": int(literal["attacker"]),
        "attacker_fractional": fractional["attacker"],
        "learner_literal": int(literal["learner"]),
        "learner_fractional": fractional["learner"],
        "global_literal": more(literal),
        "global_fractional": more(fractional),
        "relative": relative,
        "max_relative": max((r for r in relative if r is not None), default=None),
    }


# --------------------------------------------------------------------------- as printed


def printed(
    kind: str, groups: Any, domains: Domains, victims: Sequence[Tuple], **model: Any
) -> dict[Tuple, dict[Secret, Any]]:
    """The learner's belief by the paper's formula (5): {victim: {secret: mpf}}, 14 digits and more.

    The mean of pi_s pi_{r|s} / sum_z pi_z pi_{r|z}, one sum for each table of counts. The
    model must have one factor: saturated, or a product of one column.
    """
    known = posterior(kind, groups, domains, **model)
    if len(known.prior.of_factor) != 1:
        raise ValueError("by quadrature for the saturated model only")
    result = {}
    for victim in victims:
        _check_values(victim, domains)
        cases: dict[tuple[Shape, ...], Fraction] = {}
        for table, p in known.tables:
            shapes = _shapes(table, known.prior, victim)
            cases[shapes] = cases.get(shapes, Fraction(0)) + p
        with mpmath.workdps(DIGITS):
            belief = {s: mpmath.mpf(0) for s in known.prior.of_secret}
            for shapes, p in cases.items():
                for s, mean in zip(belief, mean_ratios(shapes), strict=True):
                    belief[s] += mean * _real(p)
        result[victim] = belief
    return result


Shape: TypeAlias = "tuple[Fraction, Fraction, Fraction]"


def _shapes(table: Table, prior: Prior, victim: Tuple) -> tuple[Shape, ...]:
    """For each secret the shapes of its Gamma share and of the victim's Beta share in it."""
    shapes = []
    for s, weight in prior.of_secret.items():
        b = prior.of_factor[0][s][victim] + table.counts[0][s][victim]
        shapes.append((weight + table.secrets[s], b, prior.totals[0][s] + table.secrets[s]))
    return tuple(shapes)


@cache
def mean_ratios(shapes: tuple[Shape, ...]) -> list[Any]:
    """E[w_s / sum_z w_z] for every s, w = Gamma(a) Beta(b, d - b), all independent.

    The integral over u from 0 to infinity of E[w_s exp(-u w_s)] prod_{z != s} E[exp(-u w_z)].
    """
    with mpmath.workdps(DIGITS):
        means: dict[Shape, Any] = {}
        for shape in set(shapes):
            others = list(shapes)
            others.remove(shape)
            means[shape] = _integral(shape, tuple(others))
        return [means[shape] for shape in shapes]


def _integral(shape: Shape, others: tuple[Shape, ...]) -> Any:
    """The trapezoidal rule in log u.

    The integrand is analytic as far as u = -1, so the error is near exp(-2 pi^2/STEP) of it.
    """
    total = mpmath.mpf(0)
    for direction in (1, -1):
        place = 0 if direction > 0 else -1
        while True:
            term = _moment(shape, place)
            for other in others:
                term *= _transform(other, place)
            total += term
            if term < total * mpmath.mpf(10) ** (-DIGITS - 2):
                break
            place += direction
    return total * STEP


@cache
def _transform(shape: Shape, place: int) -> Any:
    """E[exp(-u w)] at u = exp(place STEP)."""
    a, b, d = map(_real, shape)
    return mpmath.hyp2f1(a, b, d, -mpmath.exp(place * STEP))


@cache
def _moment(shape: Shape, place: int) -> Any:
    """u E[w exp(-u w)]."""
    u = mpmath.exp(place * STEP)
    a, b, d = map(_real, shape)
    return u * a * b / d * mpmath.hyp2f1(a + 1, b + 1, d + 1, -u)


def _real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def printed_mc(
    kind: str, groups: Any, domains: Domains, victims: Sequence[Tuple], *, random: Random,
    draws: int = 2000, **model: Any,
) -> dict[Tuple, dict[Secret, tuple[float, float]]]:  # fmt: skip
    """Formula (5) by drawing populations, any model: {victim: {secret: (mean, standard error)}}.

    A table is drawn from the posterior, then a population given the table.
    """
    known = posterior(kind, groups, domains, **model)
    secrets = list(known.prior.of_secret)
    tables = [table for table, _ in known.tables]
    weights = [float(p) for _, p in known.tables]
    sums = {v: dict.fromkeys(secrets, 0.0) for v in victims}
    squares = {v: dict.fromkeys(secrets, 0.0) for v in victims}
    for table in random.choices(tables, weights, k=draws):
        shares, laws = _drawn(random, table, known.prior)
        for victim in victims:
            joint = dict(shares)
            for number, atom in enumerate(known.prior.atoms(victim)):
                for s in secrets:
                    joint[s] *= laws[number][s][atom]
            total = sum(joint.values())
            for s in secrets:
                sums[victim][s] += joint[s] / total
                squares[victim][s] += (joint[s] / total) ** 2
    return {
        v: {s: _mean_and_error(sums[v][s], squares[v][s], draws) for s in secrets} for v in victims
    }


def _drawn(
    random: Random, table: Table, prior: Prior
) -> tuple[dict[Secret, float], list[dict[Secret, dict[Tuple, float]]]]:
    """A population given the table."""
    shares = _dirichlet(random, {s: w + table.secrets[s] for s, w in prior.of_secret.items()})
    laws = [
        {
            s: _dirichlet(random, {a: w + counts[s][a] for a, w in law.items()})
            for s, law in factor.items()
        }
        for counts, factor in zip(table.counts, prior.of_factor, strict=True)
    ]
    return shares, laws


def _dirichlet(random: Random, weights: Mapping[Any, Fraction]) -> dict[Any, float]:
    drawn = {name: random.gammavariate(float(weight), 1.0) for name, weight in weights.items()}
    total = sum(drawn.values())
    return {name: value / total for name, value in drawn.items()}


def _mean_and_error(total: float, squares: float, draws: int) -> tuple[float, float]:
    mean = total / draws
    return mean, (max(squares / draws - mean * mean, 0.0) / draws) ** 0.5


# --------------------------------------------------------------------------- random releases


SHAPES = ("plain", "plain", "plain", "nested", "disjoint", "alike", "single")


def random_release(
    random: Random,
    kind: str,
    most: int = MOST,
    shape: str | None = None,
    columns: int | None = None,
) -> dict[str, Any]:
    """A small table and a release of it that at most ``most`` tables could have led to.

    ``groups`` and ``domains`` are as this module wants them, ``truth`` is the list of rows (secret,
    values) and ``assignments`` how many tables there are. The same as columns of text: ``original``
    and either ``release``, row by row the same people, or ``quasi_table`` and ``sensitive_table``
    with a column ``group``, in no common order; ``domain`` is {column: values}; ``quasi`` and
    ``secret`` are the names of the columns. ``shape`` is plain, nested (sets of one column contain
    one another), disjoint (equal or without a common value), alike (few values and secrets, hence
    ties) or single (groups of one row).
    """
    shape = shape or random.choice(SHAPES)
    if most < 64:
        raise ValueError("a row of three columns may already have 64 readings")
    if kind not in KINDS or shape not in SHAPES:
        raise ValueError("no such kind or shape")
    width = columns or random.choice((1, 1, 2, 2, 3))
    few = shape == "alike"
    domains = [list("abcde")[: random.randint(1 if width > 1 else 2, 2 if few else 4)]
               for _ in range(width)]  # fmt: skip
    pool = [f"s{i}" for i in range(random.randint(1, 2) if few else random.randint(2, 4))]
    cuts = [_cuts(random, domain) for domain in domains]
    groups: list[Any] = []
    truth: list[list[Row]] = []
    assignments = 1
    for _ in range(random.randint(1, 5)):
        size = 1 if shape == "single" else random.choice((1, 2, 2, 3, 3, 4))
        secrets = [random.choice(pool) for _ in range(size)]
        if kind == "vertical":
            values = [tuple(map(random.choice, domains)) for _ in range(size)]
            ways = len(set(itertools.permutations(values)))
            group: Any = (random.sample(values, size), random.sample(secrets, size))
        else:
            sets = tuple(
                _random_set(random, domain, cut, shape)
                for domain, cut in zip(domains, cuts, strict=True)
            )
            inside = [[v for v in d if v in m] for d, m in zip(domains, sets, strict=True)]
            values = [tuple(map(random.choice, inside)) for _ in range(size)]
            ways = prod(map(len, sets)) ** size
            group = (sets, secrets)
        if assignments * ways > most and groups:
            continue
        if assignments * ways > most:
            values, secrets = values[:1], secrets[:1]
            ways = 1 if kind == "vertical" else prod(map(len, sets))
            group = (values if kind == "vertical" else sets, secrets)
        assignments *= ways
        groups.append(group)
        truth.append(list(zip(secrets, values, strict=True)))
    return {
        "kind": kind,
        "shape": shape,
        "groups": groups,
        "domains": domains,
        "truth": [row for rows in truth for row in rows],
        "assignments": assignments,
        **_as_text(random, kind, groups, domains, truth),
    }


def _cuts(random: Random, domain: Sequence[str]) -> list[frozenset[Value]]:
    """The domain cut in parts."""
    parts: dict[int, set[Value]] = {}
    for value in domain:
        parts.setdefault(random.randint(0, 1), set()).add(value)
    return [frozenset(part) for part in parts.values()]


def _random_set(
    random: Random, domain: Sequence[str], cut: Sequence[frozenset[Value]], shape: str
) -> frozenset[Value]:
    if shape == "disjoint":
        return random.choice(cut)
    if shape == "nested":
        return frozenset(domain[: random.randint(1, len(domain))])
    if random.random() < 0.2:
        return frozenset(domain)
    return frozenset(random.sample(domain, random.choice((1, min(2, len(domain))))))


def _as_text(
    random: Random, kind: str, groups: Any, domains: Domains, truth: Sequence[Sequence[Row]]
) -> dict[str, Any]:
    """The table and its release as columns of text."""
    quasi = [f"q{i}" for i in range(len(domains))]
    rows = [(g, *row) for g, of_group in enumerate(truth) for row in of_group]
    random.shuffle(rows)
    text: dict[str, Any] = {
        "quasi": quasi,
        "secret": "s",
        "domain": dict(zip(quasi, map(list, domains), strict=True)),
        "original": {
            **{q: [values[i] for _, _, values in rows] for i, q in enumerate(quasi)},
            "s": [s for _, s, _ in rows],
        },
    }
    if kind == "horizontal":
        labels = [
            [_label(random, m, d) for m, d in zip(sets, domains, strict=True)] for sets, _ in groups
        ]
        text["release"] = {
            **{q: [labels[g][i] for g, _, _ in rows] for i, q in enumerate(quasi)},
            "s": [s for _, s, _ in rows],
        }
        return text
    tuples = [(f"g{g}", values) for g, (of_group, _) in enumerate(groups) for values in of_group]
    secrets = [(f"g{g}", s) for g, (_, of_group) in enumerate(groups) for s in of_group]
    random.shuffle(tuples)
    random.shuffle(secrets)
    text["quasi_table"] = {
        "group": [g for g, _ in tuples],
        **{q: [values[i] for _, values in tuples] for i, q in enumerate(quasi)},
    }
    text["sensitive_table"] = {"group": [g for g, _ in secrets], "s": [s for _, s in secrets]}
    return text


def _label(random: Random, members: frozenset[Any], domain: Sequence[Any]) -> str:
    """A set as text: the only value, ``*`` for all values or ``{a,b}``."""
    if len(members) == 1 and (len(domain) > 1 or random.random() < 0.5):
        return str(next(iter(members)))
    if len(members) == len(domain) and random.random() < 0.7:
        return STAR
    inside = [str(value) for value in domain if value in members]
    random.shuffle(inside)
    return "{" + ",".join(inside) + "}"
