"""Who has which secret in a release in two tables: worked examples, steps, and walks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import permutations

import numpy as np
import pytest

from sievert.arrays import Floats
from sievert.attacks.reasoning.model import Buckets
from sievert.attacks.reasoning.vertical.gibbs import GroupSampler, slots
from sievert.attacks.reasoning.vertical.release import enumerate_tables
from sievert.errors import UsageError

# Table 1 of Boreale and Corradi: secrets Heart, Flu, Stomach, HIV, Diabetes, in pairs of people.
SECRETS = [0, 1, 1, 2, 3, 4, 0, 1]
NATIONS = [0, 1, 1, 1, 2, 1, 3, 0]  # Malaysia, Japan, China, India
ZIPS = [0, 1, 2, 3, 4, 4, 5, 5]
PAIRS = np.arange(0, 9, 2)
CASES = {
    "N": [NATIONS],
    "NB": [NATIONS, ZIPS],
    "T8": [list(range(8))],
}
ATTACKER = {
    ("N", (0,)): [11 / 18, 7 / 18, 0, 0, 0],
    ("N", (1,)): [1 / 12, 5 / 12, 1 / 4, 1 / 8, 1 / 8],
    ("N", (2,)): [0, 0, 0, 1 / 2, 1 / 2],
    ("N", (3,)): [4 / 9, 5 / 9, 0, 0, 0],
    ("NB", (0, 0)): [2 / 3, 1 / 3, 0, 0, 0],
    ("NB", (1, 1)): [1 / 3, 2 / 3, 0, 0, 0],
    ("NB", (0, 5)): [5 / 9, 4 / 9, 0, 0, 0],
    ("NB", (3, 5)): [4 / 9, 5 / 9, 0, 0, 0],
    ("NB", (1, 4)): [0, 0, 0, 1 / 2, 1 / 2],
    ("T8", (0,)): [1 / 2, 1 / 2, 0, 0, 0],
    ("T8", (2,)): [0, 1 / 2, 1 / 2, 0, 0],
    ("T8", (5,)): [0, 0, 0, 1 / 2, 1 / 2],
}
LEARNER = {
    ("N", (0,)): [175 / 524, 40 / 131, 63 / 524, 63 / 524, 63 / 524],
    ("N", (1,)): [7 / 44, 4 / 11, 21 / 110, 63 / 440, 63 / 440],
    ("N", (2,)): [35 / 187, 40 / 187, 28 / 187, 42 / 187, 42 / 187],
    ("N", (3,)): [65 / 253, 80 / 253, 36 / 253, 36 / 253, 36 / 253],
    ("NB", (0, 0)): [135 / 319, 640 / 2233, 216 / 2233, 216 / 2233, 216 / 2233],
    ("NB", (1, 1)): [189 / 1069, 448 / 1069, 864 / 5345, 648 / 5345, 648 / 5345],
    ("NB", (0, 5)): [1575 / 3827, 1280 / 3827, 324 / 3827, 324 / 3827, 324 / 3827],
    ("NB", (3, 5)): [4095 / 12463, 4480 / 12463, 1296 / 12463, 1296 / 12463, 1296 / 12463],
    ("NB", (1, 4)): [315 / 2683, 640 / 2683, 432 / 2683, 648 / 2683, 648 / 2683],
    ("T8", (0,)): [0.2707383774, 0.3281677302, 0.1336979641, 0.1336979641, 0.1336979641],
    ("T8", (5,)): [0.1932335719, 0.2342225114, 0.1431359792, 0.2147039688, 0.2147039688],
}


def table_one(name: str) -> Buckets:
    atoms = np.array(CASES[name]).T
    priors = tuple(np.ones((5, max(column) + 1)) for column in CASES[name])
    return Buckets(priors=priors, atoms=atoms, secrets=np.array(SECRETS), starts=PAIRS)


def attacker(buckets: Buckets, shares: Floats, victim: tuple[int, ...]) -> Floats:
    """p_A(s | r): the expected counts of people like the victim."""
    where = slots(buckets)
    like = (buckets.atoms[where.rows] == victim).all(axis=1)
    found = np.bincount(where.secrets[like], weights=shares[like], minlength=5)
    return found / found.sum()


def learner(buckets: Buckets, tables: list[tuple[float, tuple]], victim: tuple[int, ...]) -> Floats:
    """p_L4(s | r), with a weight of 1 a secret and an atom."""
    gamma = np.bincount(buckets.secrets, minlength=5)
    found = np.zeros(5)
    for weight, table in tables:
        chance = weight * (1 + gamma) / (5 + gamma.sum())
        for prior, counts, atom in zip(buckets.priors, table, victim, strict=True):
            chance = chance * (prior[:, atom] + counts[:, atom]) / (prior.sum(axis=1) + gamma)
        found += chance
    return found / found.sum()


@pytest.mark.parametrize(("name", "victim"), ATTACKER)
def test_the_attacker_of_table_one(name: str, victim: tuple[int, ...]) -> None:
    buckets = table_one(name)
    found = enumerate_tables(buckets)
    assert found is not None
    seen = attacker(buckets, found.shares, victim)
    np.testing.assert_allclose(seen, ATTACKER[name, victim], rtol=1e-13, atol=0)


@pytest.mark.parametrize(("name", "victim"), LEARNER)
def test_the_learner_of_table_one(name: str, victim: tuple[int, ...]) -> None:
    buckets = table_one(name)
    found = enumerate_tables(buckets)
    assert found is not None
    seen = learner(buckets, list(found.tables), victim)
    digits = {"atol": 5.1e-11, "rtol": 0} if name == "T8" else {"rtol": 1e-13}
    np.testing.assert_allclose(seen, LEARNER[name, victim], **digits)


def test_table_one_has_eight_tables() -> None:
    found = enumerate_tables(table_one("N"))
    assert found is not None
    assert len(found.weights) == 8
    assert math.fsum(found.weights.tolist()) == pytest.approx(1, rel=1e-15)


def batches(seen: Floats) -> tuple[Floats, Floats]:
    """The mean of many batches, and its standard error."""
    return seen.mean(axis=0), seen.std(axis=0, ddof=1) / math.sqrt(len(seen))


@pytest.mark.parametrize("name", ["N", "NB"])
@pytest.mark.parametrize("whole", [8, 1])  # redrawn at once, and by swaps
@pytest.mark.slow
def test_walks_of_table_one(name: str, whole: int) -> None:
    buckets = table_one(name)
    chain = GroupSampler(buckets, np.random.default_rng([4, whole]), whole=whole)
    chain.sweep(200)
    chain.read()
    shares, tables = [], []
    for _ in range(100):
        beliefs = []
        for _ in range(8):
            chain.sweep(25)
            beliefs.append((1.0, chain.counts))
        shares.append(chain.read())
        tables.append(beliefs)
    exact = enumerate_tables(buckets)
    assert exact is not None
    mean, error = batches(np.array(shares))
    np.testing.assert_array_less(np.abs(mean - exact.shares), 4 * error + 1e-12)
    for case, victim in LEARNER:
        if case == name:
            mean, error = batches(np.array([learner(buckets, each, victim) for each in tables]))
            assert (np.abs(mean - LEARNER[case, victim]) < 4 * error + 1e-12).all()


def test_people_of_table_one_who_are_all_different_are_halves() -> None:
    buckets = table_one("T8")
    chain = GroupSampler(buckets, np.random.default_rng(1))
    chain.sweep(3)
    np.testing.assert_allclose(chain.read(), 0.5, rtol=1e-15)


# ------------------------------------------------------------------------------------------ steps


class Draw:
    """A random number whose comparisons a plan decides; `chance` is that of the plan so far."""

    def __init__(self, plan: Plan, scale: float = 1.0) -> None:
        self.plan, self.scale, self.low = plan, scale, 0.0

    def __mul__(self, scale: float) -> Draw:
        return Draw(self.plan, self.scale * float(scale))

    def __int__(self) -> int:
        self.plan.offer += 1
        if self.plan.idle:
            return 0
        many = round(self.scale)
        self.plan.chance /= many
        return self.plan.decide(many)

    def __lt__(self, bound: float) -> bool:
        if self.plan.idle:
            return False
        high = min(float(bound) / self.scale, 1.0)
        below = (high - self.low) / (1.0 - self.low)
        if self.plan.decide(2) == 0:
            self.plan.chance *= below
            return True
        self.plan.chance *= 1.0 - below
        self.low = high if high < 1.0 else self.low
        return False


class Plan:
    """Stands for a random generator: takes the decisions it is told, then the first of each.

    With `only`, offers of a swap other than that one are not taken up.
    """

    def __init__(self, told: list[int], only: int | None = None) -> None:
        self.told, self.only, self.offer = told, only, -1
        self.taken: list[int] = []
        self.widths: list[int] = []
        self.chance = 1.0

    @property
    def idle(self) -> bool:
        return self.only is not None and self.offer != self.only

    def decide(self, many: int) -> int:
        at = len(self.taken)
        choice = self.told[at] if at < len(self.told) else 0
        self.taken.append(choice)
        self.widths.append(many)
        return choice

    def random(self) -> Draw:
        return Draw(self)


def plans(
    step: Callable[[Plan], tuple[int, ...]], only: int | None
) -> Iterator[tuple[tuple[int, ...], float]]:
    """What a step leads to, and with what chance, over all decisions it may take."""
    told: list[int] = []
    while True:
        plan = Plan(told, only)
        yield step(plan), plan.chance
        told = plan.taken
        while told and told[-1] + 1 == plan.widths[len(told) - 1]:
            told.pop()
        if not told:
            return
        told[-1] += 1


def transition(buckets: Buckets, only: int | None = None, **options: int) -> tuple[Floats, Floats]:
    """The chances of all states, and of all steps between them, of a release of one group."""
    states = sorted(set(permutations(buckets.secrets.tolist())))
    place = {state: i for i, state in enumerate(states)}
    chances = np.array([likelihood(buckets, state) for state in states])
    matrix = np.zeros((len(states), len(states)))
    chain = GroupSampler(buckets, np.random.default_rng(0), **options)
    for state in states:

        def step(plan: Plan, state: tuple[int, ...] = state) -> tuple[int, ...]:
            chain.start(np.array(state))
            chain._rng = plan
            chain.sweep(compiled=False)
            return tuple(chain.secrets.tolist())

        for after, chance in plans(step, only):
            matrix[place[state], place[after]] += chance
    return chances / chances.sum(), matrix


def likelihood(buckets: Buckets, held: tuple[int, ...]) -> float:
    found = 1.0
    for f, prior in enumerate(buckets.priors):
        mass = prior.copy()
        for s, atom in zip(held, buckets.atoms[:, f].tolist(), strict=True):
            found *= mass[s, atom]
            mass[s, atom] += 1
    return found


GROUPS = {
    "three": ([0, 1, 2], [[0, 0], [1, 0], [2, 1]]),
    "three, two alike": ([0, 1, 2], [[0, 0], [0, 0], [1, 1]]),
    "three, a secret twice": ([0, 0, 1], [[0, 0], [1, 0], [1, 1]]),
    "four": ([0, 1, 2, 3], [[0, 0], [1, 0], [2, 1], [0, 1]]),
    "four, two alike": ([0, 1, 2, 3], [[0, 0], [1, 0], [1, 0], [0, 1]]),
    "four, secrets twice": ([0, 0, 1, 1], [[0, 0], [1, 0], [2, 1], [0, 1]]),
    "four, a secret thrice": ([0, 0, 0, 1], [[0, 0], [1, 0], [0, 1], [0, 1]]),
    "four, both": ([0, 1, 1, 2], [[0, 0], [1, 0], [1, 0], [0, 1]]),
}


def group(name: str) -> Buckets:
    secrets, atoms = GROUPS[name]
    rng = np.random.default_rng([6, *name.encode()])
    priors = tuple(rng.uniform(0.1, 3, (4, size)) for size in (3, 2))
    return Buckets(
        priors=priors,
        atoms=np.array(atoms),
        secrets=np.array(secrets),
        starts=np.array([0, len(secrets)]),
    )


@pytest.mark.parametrize("name", GROUPS)
def test_redrawing_a_group_is_in_detailed_balance(name: str) -> None:
    chances, matrix = transition(group(name))
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-14)
    flow = chances[:, None] * matrix
    assert np.abs(flow - flow.T).max() < 1e-15
    assert np.abs(chances @ matrix - chances).max() < 1e-15
    np.testing.assert_allclose(matrix, np.tile(chances, (len(chances), 1)), rtol=1e-12)


@pytest.mark.parametrize("name", GROUPS)
def test_offering_a_swap_is_in_detailed_balance(name: str) -> None:
    buckets = group(name)
    for person in range(len(buckets.secrets)):
        chances, matrix = transition(buckets, person, whole=1)
        np.testing.assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-14)
        flow = chances[:, None] * matrix
        assert np.abs(flow - flow.T).max() < 1e-15
        assert np.abs(chances @ matrix - chances).max() < 1e-15


def test_a_sweep_of_swaps_forgets_where_it_began() -> None:
    pair = Buckets(
        priors=(np.ones((2, 2)),),
        atoms=np.array([[0], [1]]),
        secrets=np.array([0, 1]),
        starts=np.array([0, 2]),
    )
    chances, matrix = transition(pair, whole=1)
    np.testing.assert_allclose(chances, 0.5)
    for times in (1, 2, 3):  # an even number of offers
        np.testing.assert_allclose(np.linalg.matrix_power(matrix, times), 0.5)
    # Taking every swap that is no worse comes back to the start after every two of them.
    always = np.array([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_array_equal(chances @ always, chances)
    np.testing.assert_array_equal(np.linalg.matrix_power(always, 2), np.eye(2))


# ------------------------------------------------------------------------------------------ walks


def mixed(seed: int, faint: float = 1.0) -> Buckets:
    """Groups of 1 to 11 people, with repeated secrets and people alike."""
    rng = np.random.default_rng([7, seed])
    sizes = [1, 5, 11, 2, 8, 9, 3]
    secrets = np.concatenate([np.sort(rng.integers(0, 5, size)) for size in sizes])
    atoms = np.stack([rng.integers(0, size, sum(sizes)) for size in (3, 6)], axis=1)
    priors = tuple(rng.uniform(0.2, 2, (5, size)) * faint for size in (3, 6))
    return Buckets(priors=priors, atoms=atoms, secrets=secrets, starts=np.cumsum([0, *sizes]))


@pytest.mark.parametrize("seed", [2, 3, 5])
@pytest.mark.parametrize("faint", [1.0, 1e-70, 1e-300, 1e200])
def test_compiled_and_plain_walks_are_the_same(seed: int, faint: float) -> None:
    pytest.importorskip("numba")
    one, two = (GroupSampler(mixed(seed, faint), np.random.default_rng(3)) for _ in range(2))
    one.sweep(2)
    two.sweep(2, compiled=False)
    np.testing.assert_array_equal(one.secrets, two.secrets)
    np.testing.assert_array_equal(one.read(), two.read())
    assert one._rng.random() == two._rng.random()


@pytest.mark.parametrize("faint", [1e-300, 1e-70, 1e-20, 1e200])
@pytest.mark.parametrize("name", GROUPS)
def test_priors_far_from_one_lose_no_digits(name: str, faint: float) -> None:
    near = group(name)
    buckets = Buckets(
        priors=tuple(p * faint for p in near.priors),
        atoms=near.atoms,
        secrets=near.secrets,
        starts=near.starts,
    )
    exact = enumerate_tables(buckets)
    assert exact is not None
    chain = GroupSampler(buckets, np.random.default_rng(0))
    chain.sweep(compiled=False)
    seen = chain.read()
    assert np.isfinite(seen).all() and np.isfinite(exact.shares).all()
    np.testing.assert_allclose(seen, exact.shares, rtol=2e-12, atol=1e-300)


def test_eight_people_whose_sums_leave_the_range_of_numbers() -> None:
    # Everybody is like to have the same secret by far: what is left are tiny products of equals.
    prior = np.full((8, 8), 1e-40)
    prior[0] = 1e40
    prior[:, 0] = 1e40
    buckets = Buckets(
        priors=(prior,), atoms=np.arange(8)[:, None], secrets=np.arange(8), starts=np.array([0, 8])
    )
    chain = GroupSampler(buckets, np.random.default_rng(0))
    chain.sweep()
    exact = enumerate_tables(buckets)
    assert exact is not None
    np.testing.assert_allclose(chain.read(), exact.shares, rtol=1e-11, atol=1e-300)


def test_a_large_group_settles_on_its_exact_shares() -> None:
    rng = np.random.default_rng(8)
    secrets = np.concatenate((np.sort(rng.integers(0, 3, 10)), [0, 1, 2]))
    atoms = np.stack([rng.integers(0, 2, 13), rng.integers(0, 3, 13)], axis=1)
    priors = (rng.uniform(0.3, 2, (3, 2)), rng.uniform(0.3, 2, (3, 3)))
    buckets = Buckets(priors=priors, atoms=atoms, secrets=secrets, starts=np.array([0, 10, 13]))
    exact = enumerate_tables(buckets)
    assert exact is not None
    chain = GroupSampler(buckets, np.random.default_rng([9, 2]))
    chain.sweep(300)
    chain.read()
    seen, counts = [], []
    for _ in range(60):
        chain.sweep(100)
        seen.append(chain.read())
        counts.append(np.concatenate([each.ravel() for each in chain.counts]))
    mean, error = batches(np.array(seen))
    np.testing.assert_array_less(np.abs(mean - exact.shares), 4 * error + 1e-12)
    mean, error = batches(np.array(counts, dtype=float))
    wanted = np.concatenate([each.ravel() for each in exact.expected_counts])
    np.testing.assert_array_less(np.abs(mean - wanted), 4 * error + 1e-12)


def test_drawn_tables_have_their_chances() -> None:
    exact = enumerate_tables(table_one("N"))
    assert exact is not None
    rng = np.random.default_rng(10)
    names = [tuple(table[0].ravel().tolist()) for _, table in exact.tables]
    seen = dict.fromkeys(names, 0)
    for table in exact.draw(rng, 4000):
        seen[tuple(table[0].ravel().tolist())] += 1
    expected = exact.weights * 4000
    chi = float(((np.array([seen[name] for name in names]) - expected) ** 2 / expected).sum())
    assert chi < 24.3  # 99.9 % of 7 degrees of freedom


def test_groups_that_cannot_change_are_settled() -> None:
    secrets = np.array([3, 0, 0, 0, 1, 1])
    atoms = np.array([[0], [0], [1], [2], [2], [2]])
    buckets = Buckets(
        priors=(np.ones((4, 3)),), atoms=atoms, secrets=secrets, starts=np.array([0, 1, 3, 6])
    )
    where = slots(buckets)
    assert where.free.tolist() == []
    np.testing.assert_allclose(where.settled, [1, 1, 1, *[1 / 3, 2 / 3] * 3])
    exact = enumerate_tables(buckets)
    assert exact is not None
    assert exact.weights.tolist() == [1.0]
    chain = GroupSampler(buckets, np.random.default_rng(0))
    chain.sweep()
    np.testing.assert_array_equal(chain.read(), exact.shares)
    np.testing.assert_array_equal(chain.counts[0], exact.table(0)[0])


def test_too_many_tables_are_not_counted() -> None:
    assert enumerate_tables(mixed(1), most=1000) is None
    assert enumerate_tables(table_one("N"), most=1) is None


def test_reading_starts_anew() -> None:
    chain = GroupSampler(mixed(1), np.random.default_rng(0))
    with pytest.raises(UsageError, match="no sweep"):
        chain.read()
    chain.sweep(2)
    first = chain.read()
    with pytest.raises(UsageError, match="no sweep"):
        chain.read()
    chain.sweep(2)
    assert not np.array_equal(first, chain.read())


@pytest.mark.parametrize(
    "change",
    [
        {"starts": np.array([0, 2, 2, 8])},
        {"starts": np.array([0, 2])},
        {"secrets": np.array([0])},
        {"priors": ()},
        {"priors": (np.zeros((5, 4)),)},
        {"priors": (np.full((5, 4), np.inf),)},
        {"priors": (np.ones((4, 4)),)},
        {"priors": (np.ones((5, 3)),)},
        {"secrets": np.array([1, 0, 1, 2, 3, 4, 0, 1])},
    ],
)
def test_what_is_no_release_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        slots(Buckets(**{**vars(table_one("N")), **change}))


def test_redrawn_groups_have_a_size() -> None:
    with pytest.raises(UsageError, match="from 1 to 8"):
        GroupSampler(table_one("N"), np.random.default_rng(0), whole=9)
