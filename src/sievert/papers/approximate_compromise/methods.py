"""The tables of the experiment, and the intruder's probabilities under each method."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sievert.errors import InputError
from sievert.methods import (
    add_noise,
    draw_sample,
    group_records,
    noise_span,
    origin_probabilities,
    restrict_queries,
)
from sievert.papers.claims import (
    MATCH,
    Claim,
    Given,
    PaperPart,
    announce,
    apart,
    number,
    remark,
    statement,
)
from sievert.papers.given_tables import (
    Columns,
    column_names,
    read_columns,
    require_records,
)
from sievert.report.page import Paragraph

RECORDS = 2_500
# Table 2: least and greatest value, rounding, number of values.
TABLE_2: dict[str, tuple[int, int, int, int]] = {
    "Salary": (10, 250, 10, 25),
    "Age": (16, 84, 1, 69),
    "Sex": (1, 2, 1, 2),
    "Education": (1, 16, 1, 16),
    "Industry": (1, 18, 1, 18),
    "Occupation": (1, 25, 1, 25),
    "Work Travel Time": (1, 177, 1, 177),
}
SALARIES = list(range(10, 251, 10))
CENSUS = "an extract of the census"
PUMS = ["sex", "age", "educ", "latino", "black", "married"]
# The columns of Table 2, by the names that a file has for them.
OWN = {
    "salary": "Salary",
    "age": "Age",
    "sex": "Sex",
    "education": "Education",
    "industry": "Industry",
    "occupation": "Occupation",
    "travel": "Work Travel Time",
}
DOLLARS = 1_000  # a salary above is not in thousands
# The other two data sets that the paper names: the confidential column, and its rounding.
UCI = {"wine": ("proline", 50), "breast_cancer": ("mean area", 100)}
BANDS = 8  # of each known column
KNOWN = 6  # known columns, as in Table 2


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """A table of the experiment: its known columns, its confidential one, and how to round it."""

    name: str
    columns: Columns
    secret: str
    step: int
    unit: int  # of areas, as they are shown
    own: bool = False  # whether these are the paper's records, as far as their columns tell

    @property
    def known(self) -> list[str]:
        """The columns that an intruder may know."""
        return [name for name in self.columns if name != self.secret]


def numbers(seed: int) -> dict[str, Any]:
    """Generated people with the domains of Table 2; pay hangs on education, age, sex and trade.

    Each salary of the domain is that of one of the first records, so that all of them occur.
    """
    rng = np.random.default_rng([seed, RECORDS])
    age = rng.integers(16, 85, RECORDS)
    sex = rng.integers(1, 3, RECORDS)
    education = np.clip(np.rint(rng.normal(10, 3, RECORDS)), 1, 16)
    industry = rng.integers(1, 19, RECORDS)
    occupation = rng.integers(1, 26, RECORDS)
    travel = np.clip(np.rint(np.exp(rng.normal(3, 0.7, RECORDS))), 1, 177)
    mean = (
        3.3
        + 0.05 * (education - 10)
        + 0.01 * np.minimum(age - 16, 30)
        + 0.15 * (sex == 1)
        + 0.01 * (occupation - 12)
    )
    salary = np.clip(10 * np.rint(np.exp(rng.normal(mean, 0.6)) / 10), 10, 250)
    salary[: len(SALARIES)] = SALARIES
    return {
        "age": age,
        "sex": sex,
        "education": education,
        "industry": industry,
        "occupation": occupation,
        "travel": travel,
        "salary": salary,
    }


def generate_table(seed: int) -> PaperTable:
    """The generated people as a table of text."""
    columns = {
        name: [str(int(x)) for x in column.tolist()] for name, column in numbers(seed).items()
    }
    return PaperTable(name="generated", columns=columns, secret="salary", step=10, unit=1)


def given_tables(given: Given) -> tuple[PaperTable, ...]:
    """The tables of the experiment that were given."""
    pums = census(given.data["pums"]) if "pums" in given.data else ()
    return (*pums, *(_measurements(given.data[name], name) for name in UCI if name in given.data))


def census(path: str) -> tuple[PaperTable, ...]:
    """The paper's own seven columns; else the first 2,500 records, and those of its range."""
    if {*OWN} <= {*column_names(path)}:
        return (_own(path),)
    whole = read_columns(path, [*PUMS, "income"], CENSUS, ordered=True)
    tens = [round(x / 10_000) for x in _numbers(path, whole, "income")]
    paid = [i for i, x in enumerate(tens) if 1 <= x <= 25][:RECORDS]
    require_records(path, len(paid), "records with an income of 10,000 to 250,000", RECORDS, CENSUS)
    return (
        _study("census, all incomes", whole, range(RECORDS), 15_000),
        _study("census, 10,000 to 250,000", whole, paid, 10_000),
    )


def _own(path: str) -> PaperTable:
    """The first 2,500 records whose salary is in the paper's range."""
    whole = read_columns(path, list(OWN), CENSUS, ordered=True)
    salaries = _numbers(path, whole, "salary")
    unit = 1_000 if max(salaries, default=0) > DOLLARS else 1
    paid = [i for i, x in enumerate(salaries) if 1 <= round(x / (10 * unit)) <= 25][:RECORDS]
    require_records(path, len(paid), "records with a salary of 10 to 250", RECORDS, CENSUS)
    columns = {name: [whole[name][i] for i in paid] for name in (*list(OWN)[1:], "salary")}
    table = PaperTable(
        name="the paper's own columns", columns=columns, secret="salary", step=10 * unit, unit=unit
    )
    return replace(table, own=all(claim.state == MATCH for claim in _ends(table)))


def _numbers(path: str, whole: Columns, name: str) -> list[Fraction]:
    try:
        return [Fraction(x) for x in whole[name]]
    except (ValueError, ZeroDivisionError):
        raise InputError(
            f"{Path(path).name}: column {name} has values that are not numbers", hint=CENSUS
        ) from None


def _measurements(path: str, name: str) -> PaperTable:
    """A table of measurements: the first six other columns in bands, the confidential one whole."""
    secret, step = UCI[name]
    names = [column for column in column_names(path) if column not in (secret, "target")]
    whole = read_columns(path, [*names[:KNOWN], secret], f"the table {name}", ordered=True)
    columns = {}
    for column in names[:KNOWN]:
        values = _numbers(path, whole, column)
        least = min(values)
        width = max(values) - min(values) or Fraction(1)
        columns[column] = [str(min(BANDS - 1, int(BANDS * (x - least) / width))) for x in values]
    columns[secret] = [str(round(x)) for x in _numbers(path, whole, secret)]
    return PaperTable(
        name=name.replace("_", " "), columns=columns, secret=secret, step=step, unit=1
    )


def _study(name: str, whole: Columns, rows: Any, step: int) -> PaperTable:
    return PaperTable(
        name=name,
        columns={c: [whole[c][i] for i in rows] for c in (*PUMS, "income")},
        secret="income",
        step=step,
        unit=1000,
    )


QUERIES = (2, 4, 8, 16, 32)
OTHERS = "these are other records than those of the paper"
NOISES = (10, 20, 25, 50, 100)


@announce("table 2")
def table_2(given: Given) -> PaperPart:
    """The columns of the paper's table; its ends where the records are given, else inputs."""
    own = [table for table in given_tables(given) if table.own]
    return PaperPart(
        "Table 2: the columns of the experiment",
        "Seven columns of 2,500 records that are not published. Least and greatest values are what "
        "the table starts from, not results; the numbers of values follow from them, so they count "
        "what may occur, not what does.",
        (
            number("Columns", "7", len(TABLE_2), contradicts=True, why="others are listed"),
            *(
                number(
                    f"{name}: number of values",
                    str(values),
                    len(range(least, most + 1, step)),
                    contradicts=True,
                    why="the printed ends and rounding give another number",
                )
                for name, (least, most, step, values) in TABLE_2.items()
            ),
            *(claim for table in own for claim in _ends(table)),
        ),
    )


def _ends(table: PaperTable) -> list[Claim]:
    """The least and the greatest value of each column of the records that were given."""
    claims = [number("Records", str(RECORDS), len(table.columns[table.secret]), why=OTHERS)]
    for column, name in OWN.items():
        values = [Fraction(x) for x in table.columns[column]]
        if column == "salary":
            values = [10 * Fraction(round(x / table.step)) for x in values]
        for end, printed, ours in zip(
            ("least", "greatest"), TABLE_2[name], (min(values), max(values)), strict=False
        ):
            claims.append(number(f"{name}: {end} value", str(printed), float(ours), why=OTHERS))
    return claims


@announce("the intruder's probabilities")
def formulas(given: Given) -> PaperPart:
    """The intruder's probabilities under each method, on the generated table."""
    people = numbers(given.seed)
    secret = (people.pop("salary") // 10 - 1).astype(int)
    known = np.stack([x - x.min() for x in people.values()], axis=1).astype(int)
    sums, empty = _sampling(known, secret, given.seed)
    return PaperPart(
        title="Appendix: what the intruder is left with",
        about="The formulas for sampling, query restriction and noise, on 2,500 generated records "
        "with the domains of Table 2 and salaries of 10, 20, ..., 250. The text names the amounts "
        "of sampling and queries, not those of noise; ours are 10, 20, 25, 50 and 100 %.",
        claims=(sums, *_queries(secret, given.seed), *_noise(known, secret, given.seed)),
        blocks=(empty,),
    )


def _sampling(known: Any, secret: Any, seed: int) -> tuple[Claim, Paragraph]:
    groups = group_records(known, range(known.shape[1]))
    sample = draw_sample(secret, SALARIES, 0.2, seed)
    worst = float(np.abs(sample.probabilities(groups).sum(axis=1) - 1).max())
    none = int((np.bincount(groups.ids, sample.taken, groups.count) == 0).sum())
    return (
        statement(
            "Sampling: p_i over all values",
            "probabilities",
            f"their sums and 1: {apart(worst, 1e-12)}",
            holds=worst < 1e-12,
            why="they do not add up to 1",
        ),
        remark(
            "Sampling, where none of the matching records is in the sample",
            "|Ms| is 0, and the printed f/|Ms| times |Ms|/|Mo| is read as f/|Mo|; a sample of 20 "
            "%, all columns known",
            f"{none:,} of {groups.count:,} combinations",
        ),
    )


def _queries(secret: Any, seed: int) -> list[Claim]:
    chains = {size: restrict_queries(secret, SALARIES, size, seed) for size in QUERIES}
    ordered = all(bool(np.all(chain.first <= chain.last)) for chain in chains.values())
    pair = chains[2]
    settled = int((pair.first == pair.last).sum())
    weights = len([x for x in SALARIES if 30 <= x <= 80]) / (80 - 30 + 1)
    return [
        *(
            number(
                f"Queries: floor(2n/Q) - 1 equations, n = {RECORDS:,}, Q = {size}",
                str(2 * RECORDS // size - 1),
                len(chain.answers),
                contradicts=True,
                why="sums over two neighbouring blocks of Q/2 records give another number",
            )
            for size, chain in chains.items()
        ),
        _independent(),
        statement(
            f"Queries: it takes n = {RECORDS:,} equations to know every value",
            "n equations",
            f"Q = 2, {len(pair.answers):,} equations: {settled:,} values are settled",
            holds=settled < RECORDS,
            why="The paper's programmes also have each value within the domain. For Q = 2 the "
            "answers leave one number t, by which every other record is higher and the rest lower; "
            "one of either kind with the least salary leaves no t but 0.",
        ),
        statement(
            "Queries: L is the upper and U the lower bound",
            "L upper, U lower",
            "L <= U for every record and Q" if ordered else "L > U for some",
            holds=not ordered,
            contradicts=True,
            why="The words are in the wrong order; the comment in Algorithm 2 has them right.",
        ),
        statement(
            "Algorithms 2 and 3: sum of the weights of a record with L = 30, U = 80",
            "1",
            f"{weights:.4g}",
            holds=weights == 1,
            contradicts=True,
            why="The weight is 1/(U - L + 1), which counts whole numbers from L to U. Salaries go "
            "in steps of 10 (Table 2), so six values get 1/51 each. It must be one over the "
            "number of values of D from L to U, or salaries be numbered from 1 to 25.",
        ),
    ]


def _independent() -> Claim:
    """The chain of queries over fewer records, as a matrix."""
    records = 96
    starts = {size: range(0, 96 - size + 1, size // 2) for size in QUERIES}
    chains = [
        np.array([[s <= i < s + size for i in range(records)] for s in each])
        for size, each in starts.items()
    ]
    ranks = [int(np.linalg.matrix_rank(chain.astype(float))) for chain in chains]
    return statement(
        "Queries: the equations are linearly independent",
        "independent",
        f"rank {', '.join(map(str, ranks))} for {records} records and Q = "
        f"{', '.join(map(str, QUERIES))}",
        holds=ranks == [len(chain) for chain in chains],
        why="some follow from others",
    )


def _noise(known: Any, secret: Any, seed: int) -> tuple[Claim, ...]:
    spans = [noise_span(len(SALARIES), percent) for percent in NOISES]
    exact = [percent / 100 * (len(SALARIES) - 1) for percent in NOISES]
    same = float(
        (add_noise(known, secret, SALARIES, 25, seed=seed).known == known).all(axis=1).mean()
    )
    middle = origin_probabilities(25, 24, "posterior")[24]
    ratio = math.log10(middle.max() / middle[middle > 0].min())
    return (
        statement(
            "Noise: M is k % of |D| - 1, rounded to the nearest 2",
            "an even number",
            f"{', '.join(map(str, spans))} for {', '.join(map(str, NOISES))} % of 25 values",
            holds=all(m % 2 == 0 and abs(m - x) <= 1 for m, x in zip(spans, exact, strict=True)),
            why="it is not the nearest even number",
        ),
        statement(
            "Noise: the intruder finds the released records of all who match in the original",
            "M_o is known",
            f"25 %: {100 * same:.2f} % of the records are released with their own known values",
            holds=same == 1,
            contradicts=True,
            why="By section 5 the intruder has the perturbed records, and noise is added to all "
            "columns; Algorithm 3 takes the matches from the original table. Figures 2 and 4 here "
            "follow Algorithm 3.",
        ),
        statement(
            "Noise: all values in the window are equally likely",
            "weight 1/(U - L + 1)",
            f"released in the middle, 100 %: the likeliest is 10^{ratio:.1f} times the least "
            "likely",
            holds=ratio == 0,
            contradicts=True,
            why="Section 5 draws noise from a binomial distribution, whose 25 values have the "
            "weights C(24, i): 1 at the ends, 2,704,156 in the middle. Figures 2 and 4 here follow "
            "Algorithm 3.",
        ),
    )
