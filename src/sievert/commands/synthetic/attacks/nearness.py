"""Attacks by nearness: linkability, inference of secrets, membership; and the usual distances."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.synthetic.attacks.evidence import (
    SyntheticAttack,
    area_under_curve,
    chance,
    difference,
    weigh,
)
from sievert.commands.synthetic.attacks.kernels import (
    ALONE,
    Workers,
    count_near,
    guess_secrets,
    link_halves,
    shared_columns,
)
from sievert.commands.synthetic.attacks.tables import UNIT, SyntheticTables
from sievert.commands.synthetic.attacks.task import AttackFindings, AttackTask

NEAR = 0.05  # how much a row one unit away counts, of one that is equal; the square of it for two
TOLERANCE = Fraction(1, 20)  # of the interquartile range of the pool, for guesses of numbers


def link_chances(
    tables: SyntheticTables,
    halves: tuple[Sequence[str], Sequence[str]],
    workers: Workers = ALONE,
) -> Floats:
    """Per person the chance that the nearest rows on both halves are one and the same row."""
    names = [column.name for column in tables.columns]
    order = np.array([at for at in tables.order if names[at] in (*halves[0], *halves[1])])
    half = np.array([int(names[at] in halves[1]) for at in order])
    people = tables.attacked
    fake = tables.synthetic_rows
    x, y = (tables.places(each.rows, order) for each in (people, fake))
    linked = np.zeros(len(people.rows))
    workers.run(
        "linking what is known in two places",
        link_halves,
        len(people.rows),
        *(x, y, fake.counts, tables.numeric[order], shared_columns(x), half, linked),
    )
    return people.spread(linked)


def linkability(tables: SyntheticTables, linked: Floats) -> SyntheticAttack:
    """Whether a synthetic row brings together what is known in two places about one person."""
    groups = tables.attacked_groups
    even = weigh("linkability", np.where(np.isnan(linked), np.nan, linked >= 0.5), groups)
    return weigh(
        "linkability",
        linked,
        groups,
        1.0 / len(tables.synthetic),
        even_odds=even.to_dict(),
    )


# -- inference ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class SecretGuesses:
    """Per person the chance that a guess of a secret is right, or a row drawn of the nearest."""

    secret: str
    right: Floats
    expected: Floats
    mode: Floats  # by the most frequent value, also of numbers
    baseline: float


def guesses(
    tables: SyntheticTables,
    secrets: Sequence[str],
    known: Sequence[str] | None = None,
    workers: Workers = ALONE,
    *,
    kin: bool = False,
) -> list[SecretGuesses]:
    """Every person's secrets as guessed from the nearest synthetic rows on what is known.

    Or, of `kin`, from the nearest other people of the pool.
    """
    people = tables.attacked
    fake = tables.pool_rows if kin else tables.synthetic_rows
    at = np.array([tables.at(secret) for secret in secrets], dtype=np.int64)
    order = [i for i in tables.order if known is None or tables.columns[i].name in known]
    place = {column: i for i, column in enumerate(order)}
    x, y = (tables.places(each.rows, np.array(order)) for each in (people, fake))
    shape = (len(people.rows), len(secrets))
    right = np.zeros(shape)
    expected = np.zeros(shape)
    median = np.zeros(shape, dtype=np.int64)
    offsets = np.cumsum([0, *(tables.columns[i].values for i in at)])
    workers.run(
        "inferring secrets",
        guess_secrets,
        len(people.rows),
        *(x, y, fake.counts, tables.numeric[order], shared_columns(x)),
        people.in_pool if kin else np.full(len(people.rows), -1),
        *(np.array([place.get(i, -1) for i in at]), people.rows[:, at], fake.rows[:, at], offsets),
        *(right, expected, median),
    )
    results = []
    for s, secret in enumerate(at.tolist()):
        own = right[:, s]
        column = tables.columns[secret]
        if column.is_number:
            own = _Closeness(tables, secret).right(median[:, s], people.rows[:, secret])
        results.append(
            SecretGuesses(
                secret=column.name,
                right=people.spread(own),
                expected=people.spread(expected[:, s]),
                mode=people.spread(right[:, s]),
                baseline=_naive(tables, secret),
            )
        )
    return results


def inference(
    tables: SyntheticTables, guess: SecretGuesses, kin: SecretGuesses | None = None
) -> SyntheticAttack:
    """How often a secret is guessed right, and how often a row drawn of the nearest has it.

    `kin`, the same guess from the other originals, is a yardstick where there is no control.
    """
    groups = tables.attacked_groups
    drawn = weigh("inference", guess.expected, groups)
    details: dict[str, Any] = {"expected": drawn.to_dict()}
    if kin is not None:
        details["kin"] = weigh("inference", kin.right, groups).original.rate
    return weigh("inference", guess.right, groups, guess.baseline, **details)


class _Closeness:
    """Which guesses of a number count as right."""

    def __init__(self, tables: SyntheticTables, place: int) -> None:
        self.column = tables.columns[place]
        codes = np.sort(tables.pool[:, place])
        codes = codes[codes != self.column.missing]
        numbers = self.column.numbers or ()
        self.tolerance = Fraction(0)
        if len(codes):
            low, high = (codes[math.ceil(len(codes) * q / 4) - 1] for q in (1, 3))
            self.tolerance = TOLERANCE * (numbers[high] - numbers[low])

    def right(self, guessed: Ints, truth: Ints) -> Floats:
        """1 where a guess is near enough, in the column's own units; 0 elsewhere."""
        wide = self.column.values
        keys, of_pair = np.unique(guessed * wide + truth, return_inverse=True)
        own = [self._is_right(*divmod(key, wide)) for key in keys.tolist()]
        return np.array(own, dtype=float)[of_pair]

    def _is_right(self, guessed: int, truth: int) -> bool:
        numbers = self.column.numbers or ()
        missing = self.column.missing
        if missing in (guessed, truth):
            return guessed == truth
        return abs(numbers[guessed] - numbers[truth]) <= self.tolerance


def _naive(tables: SyntheticTables, place: int) -> float:
    """How often the most frequent synthetic value is right for originals, of numbers the median."""
    column = tables.columns[place]
    own = tables.synthetic[:, place]
    people = tables.pool[: tables.originals, place]
    counts = np.bincount(own, minlength=column.values)
    if column.is_number:
        middle = int(np.searchsorted(2 * np.cumsum(counts), len(own)))
        return float(_Closeness(tables, place).right(np.full(len(people), middle), people).mean())
    modes = np.flatnonzero(counts == counts.max())
    return float(np.isin(people, modes).mean()) / len(modes)


# -- membership -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Nearness:
    """Per person: the nearest synthetic rows, the nearest other people, and how many are near.

    NaN for those who are not attacked.
    """

    synthetic: Floats  # the least distance to a synthetic row
    second: Floats  # the second least
    other: Floats  # the least distance to another person of the pool
    near_synthetic: Floats  # rows at distance 0, up to one unit, up to two
    near_other: Floats
    share: Floats | None  # of the synthetic rows whose nearest person this is; if all are attacked

    @property
    def density_ratio(self) -> Floats:
        """Synthetic rows around a person, by real people around them."""
        weights = np.array([1.0, NEAR, NEAR * NEAR])
        return np.asarray(
            (self.near_synthetic @ weights) / (self.near_other @ weights + NEAR * NEAR)
        )

    @property
    def nearer_than_kin(self) -> Floats:
        """1 for who has a synthetic row a whole column nearer than any other real person."""
        return np.where(np.isnan(self.other), np.nan, self.other - self.synthetic >= UNIT)


def nearness(tables: SyntheticTables, workers: Workers = ALONE) -> Nearness:
    """The neighbours of every person."""
    people = tables.attacked
    pool = tables.pool_rows
    fake = tables.synthetic_rows
    x, y, others = (tables.places(each.rows, tables.order) for each in (people, fake, pool))
    reach = weights = None
    if tables.stride == 1:
        reach, _, tied, *_ = _near(tables, y, others, pool.counts, workers, count=False)
        weights = fake.counts / tied
    mine = _near(tables, x, y, fake.counts, workers, reach=reach, weights=weights)
    kin = _near(tables, x, others, pool.counts, workers, me=people.in_pool)
    # A person's row stands for all people who have it: they share what falls to it.
    return Nearness(
        synthetic=people.spread(mine[0]),
        second=people.spread(mine[1]),
        other=people.spread(kin[0]),
        near_synthetic=people.spread(mine[3]),
        near_other=people.spread(kin[3]),
        share=None if reach is None else people.spread(mine[4]),
    )


def _near(
    tables: SyntheticTables,
    x: Ints,
    y: Ints,
    counts: Ints,
    workers: Workers,
    *,
    count: bool = True,
    me: Ints | None = None,
    reach: Ints | None = None,
    weights: Floats | None = None,
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    n = x.shape[1]
    nearest, second, tied = (np.zeros(n, dtype=np.int64) for _ in range(3))
    near = np.zeros((n if count else 0, 3), dtype=np.int64)
    share = np.zeros(n)
    reach = (np.zeros(0) if reach is None else reach).astype(x.dtype)
    weights = np.zeros(0) if weights is None else weights
    me = np.full(n, -1) if me is None else me
    workers.run(
        "looking for the nearest rows",
        count_near,
        n,
        *(x, y, counts, tables.numeric[tables.order], shared_columns(x), me, reach, weights),
        *(nearest, second, tied, near, share),
    )
    return nearest, second, tied, near, share


def membership(tables: SyntheticTables, near: Nearness) -> SyntheticAttack:
    """Whether the synthetic table carries traces of the people in the original.

    The rate is of people with a synthetic row a whole column nearer than any other real person; the
    test is that of the density ratio, which sees more.
    """
    attacked = ~np.isnan(near.synthetic)
    ratio = near.density_ratio[attacked]
    groups = tables.attacked_groups.only(attacked)
    n = groups.originals
    mean = [
        math.fsum(part.tolist()) / len(part) if len(part) else None
        for part in (ratio[:n], ratio[n:])
    ]
    details = {
        **({"distances": _usual_distances(tables, near)} if tables.controls else {}),
        "density_ratio": {
            "original": mean[0],
            "control": mean[1],
            "z": difference(ratio, groups),
        },
    }
    attack = weigh("membership", near.nearer_than_kin, tables.attacked_groups, None, **details)
    if not tables.controls:
        return attack
    return replace(attack, p=chance(ratio, groups), details={**details, "nearer_p": attack.p})


def _usual_distances(tables: SyntheticTables, near: Nearness) -> dict[str, Any]:
    """Distance to the closest record and its like, for comparison: they see far less."""
    n = tables.originals
    m = len(tables.synthetic)
    shared = near.share
    with np.errstate(divide="ignore", invalid="ignore"):  # two rows of a person's own are nearest
        ratio = np.where(near.second > 0, near.synthetic / near.second, 0.0)
    attacked = tables.attacked.of_person >= 0
    own = attacked[:n]
    other = attacked[n:]
    return {
        "dcr_auc": area_under_curve(-near.synthetic[:n][own], -near.synthetic[n:][other]),
        "nndr_auc": area_under_curve(-ratio[:n][own], -ratio[n:][other]) if m > 1 else None,
        "dcr_share": None if shared is None else math.fsum(shared[:n].tolist()) / m,
        "dcr_share_expected": n / tables.people,
        "dcr_share_z": None if shared is None else difference(shared, tables.groups),
    }


# -- the attacks as they are declared -------------------------------------------------------------


def attack_by_linking(tables: SyntheticTables, task: AttackTask) -> AttackFindings:
    """Link what is known in two places, where the task has two halves of the columns."""
    if task.halves is None:
        return AttackFindings()
    linked = link_chances(tables, task.halves, task.workers)
    return AttackFindings(
        on_people={"linkability": linkability(tables, linked)}, scores={"linkability": linked}
    )


def attack_by_inference(tables: SyntheticTables, task: AttackTask) -> AttackFindings:
    """Guess each secret from the nearest synthetic rows."""
    secrets = task.guessed_secrets(tables)
    if not secrets:
        return AttackFindings()
    kin: Sequence[SecretGuesses | None] = [None] * len(secrets)
    if not tables.controls and tables.people > 1:
        kin = guesses(tables, secrets, task.known, task.workers, kin=True)
    own = guesses(tables, secrets, task.known, task.workers)
    return AttackFindings(
        on_secrets={
            guess.secret: inference(tables, guess, other)
            for guess, other in zip(own, kin, strict=True)
        },
        scores={f"inference.{guess.secret}": guess.right for guess in own},
    )


def attack_by_membership(tables: SyntheticTables, task: AttackTask) -> AttackFindings:
    """Look for people to whom some synthetic row is nearer than to any other real person."""
    near = nearness(tables, task.workers)
    return AttackFindings(
        on_people={"membership": membership(tables, near)},
        scores={
            "nearest_synthetic": near.synthetic,
            "nearest_other": near.other,
            "density_ratio": near.density_ratio,
        },
    )
