"""Equations (4) to (10), Theorem 1 and Definition 1, tried on Table 1 with all its tables counted.

Nationality alone is released and known, as far as the tables are counted here: 64 tables fit the
local recoding. Every weight of the Dirichlet distributions is 1, so a table with d people of
nationality r and disease s for each r and s has a probability in proportion to the product of all
d!.
"""

import itertools
import math
from collections import Counter
from functools import cache

from sievert.papers.claims import Claim, Given, PaperPart, announce, apart, number, statement
from sievert.papers.relative_risk.example import (
    DISEASE,
    GROUPS,
    ORIGINAL,
    PEOPLE,
    RECODED,
    SECRETS,
    is_below,
    nationality,
)
from sievert.report.page import Grid

NATIONS = ["Malaysia", "Japan", "China", "India"]
CLOSE = 0.01  # how far chains may be from all tables counted


@announce("equations 4 to 10")
def formulas(given: Given) -> PaperPart:
    """The formulas one by one."""
    return PaperPart(
        title="Sections 3 and 4: the formulas on Table 1",
        about="Nationality alone, local recoding. There are 64 tables that fit the release, few "
        "enough to count them all, so every formula can be held against its definition.",
        claims=(
            _theorem(),
            _conditioning(),
            _support(),
            number(
                "Section 4: entries of the vector of counts of the pairs (r, s), given s",
                str(len(SECRETS)),
                len(NATIONS),
                contradicts=True,
                why="The vector is printed with as many entries as there are sensitive values. It "
                "counts pairs for each nonsensitive value, and Dir(beta + delta) in the next line "
                "has one parameter for each of these.",
            ),
            number(
                "Section 4: groups g_j to draw, 1 <= j <= N",
                str(len(GROUPS)),
                len(set(GROUPS)),
                contradicts=True,
                why="N is the number of records. Equation (9), a few lines below, has 1 <= j <= k, "
                "the number of groups.",
            ),
            _permutation(),
            _chains(given),
        ),
        blocks=(_learners(),),
    )


@cache
def count_tables() -> dict[tuple[str, str], float]:
    """What is expected of the number of people with a nationality and a disease."""
    diseases = ORIGINAL[DISEASE]
    options = [[n for n in NATIONS if is_below(label, n)] for label in RECODED["nationality"]]
    total = 0
    expected = Counter[tuple[str, str]]()
    for table in itertools.product(*options):
        counts = Counter(zip(diseases, table, strict=True))
        weight = math.prod(math.factorial(n) for n in counts.values())
        total += weight
        expected.update({pair: weight * n for pair, n in counts.items()})
    return {pair: n / total for pair, n in expected.items()}


def _theorem() -> Claim:
    """(7) by the attack, (6) by counting: the two must be one."""
    expected = count_tables()
    beliefs = nationality("Local recoding").beliefs
    wholes = {n: sum(expected.get((s, n), 0.0) for s in SECRETS) for n in NATIONS}
    worst = max(
        abs(beliefs[(n,)]["attacker"][s] - expected.get((s, n), 0.0) / whole)
        for n, whole in wholes.items()
        for s in SECRETS
    )
    return statement(
        "Theorem 1: (7) is the distribution (6), 4 nationalities, 5 diseases",
        "equal",
        apart(worst, 1e-12),
        holds=worst < 1e-12,
        why="the attacker's beliefs are others than those counted",
    )


def _conditioning() -> Claim:
    beliefs = nationality("Local recoding").beliefs[("Malaysia",)]
    fourth = beliefs["learner"]["Heart"]
    fifth = beliefs["learner_printed"]["Heart"]
    return statement(
        "(4) conditioned on r is (5): Heart, given a Malaysian",
        "the same distribution",
        f"{fourth:.6f} by (4), {fifth:.6f} by (5)",
        holds=math.isclose(fourth, fifth, rel_tol=1e-9),
        contradicts=True,
        why="Conditioning (4) gives a ratio of two means, E[f(s,r)]/E[f(r)]; (5) is the mean of a "
        "ratio, E[f(s,r)/f(r)]. They are two learners with different numbers.",
    )


def _support() -> Claim:
    beliefs = nationality("Local recoding").beliefs
    none = sum(p == 0 for n in NATIONS for p in beliefs[(n,)]["attacker"].values())
    return statement(
        "Definition 1: the beliefs of the attacker have full support",
        "full support",
        f"{none} of {len(NATIONS) * len(SECRETS)} probabilities are 0",
        holds=none == 0,
        contradicts=True,
        why="By (7) every disease that shares no group with a nationality has probability 0. The "
        "relative risk is finite all the same: only the learner's beliefs are divided by, and "
        "they are positive.",
    )


def _permutation() -> Claim:
    """(10): permuting m_j, as printed, gives diseases where keys should stand."""
    first = [i for i, g in enumerate(GROUPS) if g == "1"]
    sensitive = sorted(ORIGINAL[DISEASE][i] for i in first)
    keys = sorted(PEOPLE["nationality"][i] for i in first)
    return statement(
        "(10), vertical schemes: the nonsensitive values are a permutation of m_j",
        "of m_j",
        f"group 1 of Anatomy: m_1 is {', '.join(sensitive)}; the values are {', '.join(keys)}",
        holds=sensitive == keys,
        contradicts=True,
        why="Section 2 has m for the sensitive values and l for the multiset of the others; it is "
        "l that is permuted.",
    )


def _chains(given: Given) -> Claim:
    """Section 4 says that samples give accurate estimates: chains beside all tables counted."""
    exact = nationality("Local recoding").beliefs
    drawn = nationality("Local recoding", method="gibbs", chains=2, seed=given.seed).beliefs
    worst = max(
        abs(drawn[(n,)][who][s] - exact[(n,)][who][s])
        for n in NATIONS
        for who in ("attacker", "learner")
        for s in SECRETS
    )
    return statement(
        "Section 4: a Gibbs sampler gives accurate estimates",
        "accurate",
        f"apart by at most {worst:.4f} from all tables counted",
        holds=worst < CLOSE,
        why=f"chains are farther than {CLOSE} from what counting gives",
    )


def _learners() -> Grid:
    beliefs = nationality("Local recoding").beliefs
    names = {"attacker": "attacker (7)", "learner": "learner (4)", "learner_printed": "learner (5)"}
    return Grid(
        caption="Probability of each disease, given the nationality",
        head=("nationality", "who", *SECRETS),
        rows=tuple(
            (n, name, *(f"{beliefs[(n,)][who][s]:.4f}" for s in SECRETS))
            for n in NATIONS
            for who, name in names.items()
        ),
        right=tuple(range(2, 2 + len(SECRETS))),
    )
