"""Figures 3 and 4, finding out the disease, and the tables that section 5.2 describes.

The text fixes the numbers of records, ages and diseases. It does not say which disease grows in
which age, so there are several readings; what the text says of a figure rules some of them out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sievert
from sievert.papers.claims import Claim, PaperPart, number, open_question, require_number, statement
from sievert.papers.itpr.cases import (
    CONSTANT,
    FALLS,
    IDS,
    RISES,
    THETA,
    Columns,
    Numbers,
    Series,
    draw,
    interpretation,
    secrets,
    series,
    text,
    unit,
)
from sievert.report.page import Grid

AGES = 5
DISEASES = 10
OF_AGE = 2_000
EVEN = OF_AGE // DISEASES

# Which disease grows in each age; None: the age keeps ten equally frequent diseases.
SAME = "the same disease in every age"
SHARED = "one disease in three ages, another in two"
THREE = "three diseases, in two, two and one ages"
OWN = "another disease in every age"
SINGLE = "a disease in one age only"
GROWING: dict[str, tuple[int | None, ...]] = {
    SAME: (0, 0, 0, 0, 0),
    SHARED: (0, 0, 0, 1, 1),
    THREE: (0, 0, 1, 1, 2),
    OWN: (0, 1, 2, 3, 4),
    SINGLE: (0, None, None, None, None),
}
# Records of each of the other nine diseases in an age; lambda is 2,000 less ten times that.
FINE = (*range(200, 0, -20), 10, 5, 2, 1)
COARSE = (200, 160, 100, 60, 20, 1)

# Figure 4, one age drifts: records of its growing disease, for theta near 0, 0.1, ..., 0.9.
DRIFTS = (200, 463, 589, 691, 780, 860, 935, 1004, 1069, 1131)
# Figure 4, ages move apart: every age has 1,280 records of one disease and 80 of each other one.
MOVES = (
    (0, 0, 0, 0, 0),
    (1, 0, 0, 0, 0),
    (1, 1, 0, 0, 0),
    (1, 2, 0, 0, 0),
    (1, 1, 2, 2, 0),
    (1, 2, 3, 0, 0),
    (1, 2, 3, 4, 0),
)
KEPT = 1_280


@dataclass(frozen=True)
class Inference:
    """Figure 3 by reading, and the two readings of figure 4."""

    growing: Mapping[str, Series]  # against lambda
    drifting: Series  # against theta
    moving: Series  # against theta


def spread_evenly(records: int, values: int, first: int, at: int = 0) -> list[int]:
    """Records of each value: `first` have the one at `at`, the others share the rest.

    >>> spread_evenly(10, 4, 3), spread_evenly(10, 4, 7, at=2)
    ([3, 3, 2, 2], [1, 1, 7, 1])
    """
    each, more = divmod(records - first, values - 1)
    counts = [each + 1] * more + [each] * (values - 1 - more)
    return [*counts[:at], first, *counts[at:]]


def diseases(counts: Sequence[Sequence[int]]) -> list[str]:
    """A column of diseases; `counts` has the records of each disease for each age in turn."""
    return [f"d{i}" for age in counts for i, n in enumerate(age) for _ in range(n)]


def _grow(which: Sequence[int | None], first: int) -> list[str]:
    return diseases(
        [spread_evenly(OF_AGE, DISEASES, EVEN if at is None else first, at=at or 0) for at in which]
    )


def inference() -> Inference:
    """Every table of figures 3 and 4 as a column of diseases beside the same ages."""
    ages = [f"a{i}" for i in range(AGES) for _ in range(OF_AGE)]
    others = {reading: FINE if reading == SHARED else COARSE for reading in GROWING}
    columns = {
        **{
            f"{reading} {other}": _grow(which, OF_AGE - (DISEASES - 1) * other)
            for reading, which in GROWING.items()
            for other in others[reading]
        },
        **{f"drift {first}": _grow(GROWING[SINGLE], first) for first in DRIFTS},
        **{f"move {i}": _grow(which, KEPT) for i, which in enumerate(MOVES)},
    }
    measured = secrets({"age": ages, **columns}, "age", list(columns))
    return Inference(
        {
            reading: series(
                [OF_AGE - DISEASES * other for other in others[reading]],
                [measured[f"{reading} {other}"] for other in others[reading]],
            )
            for reading in GROWING
        },
        _by_theta([measured[f"drift {first}"] for first in DRIFTS]),
        _by_theta([measured[f"move {i}"] for i in range(len(MOVES))]),
    )


def _by_theta(points: Sequence[Numbers]) -> Series:
    return series([point[THETA] for point in points], points)


# Figure 5: ten ages of 1,000 records and twenty diseases. One age grows by 9 k and the nine others
# lose k each, so that epsilon is 10 k; one of the nine drifts.
LOST = tuple(range(0, 121, 20))
SHARES = (0.05, 0.15, 0.2005, 0.243, 0.28, 0.3135, 0.345, 0.375, 0.4035, 0.4305)


def surface() -> dict[int, list[Numbers]]:
    """By epsilon, the measures for rising theta."""
    surfaces = {}
    for lost in LOST:
        small = 1_000 - lost
        sizes = [1_000 - lost] * 9 + [1_000 + 9 * lost]
        drifting = {f"{share}": spread_evenly(small, 20, round(share * small)) for share in SHARES}
        rest = [[size // 20] * 20 for size in sizes[1:]]
        table: Columns = {
            "age": [f"a{i}" for i, size in enumerate(sizes) for _ in range(size)],
            **{name: diseases([first, *rest]) for name, first in drifting.items()},
        }
        surfaces[10 * lost] = list(secrets(table, "age", list(drifting)).values())
    return surfaces


WHICH = (
    "With the same disease in every age ITPR, DR, MI and CP stay 0, against figure 3a; if one age "
    "alone changes, MIL rises, against figure 3b."
)
LAMBDA = "lambda, records"
THETA_AXIS = "theta, bits"
AT = 4  # the point of figure 4 whose theta is nearest 0.4


def figure_3(experiment: Inference, worst: dict[str, tuple[float, float]]) -> PaperPart:
    """One disease grows inside every age."""
    main = experiment.growing[SHARED]
    return PaperPart(
        title="Figure 3: against lambda",
        about="10,000 records, five ages of 2,000 records and ten diseases. In each age one "
        "disease grows and the other nine share the rest; lambda is the difference between the "
        "most and the least frequent disease of an age. Where all ages have the same numbers of "
        "records and the same entropy, ITPR and DR are the same number. Which disease grows in "
        f"which age is not stated. {WHICH} We let two or three ages share a disease ({SHARED}).",
        claims=(
            *(_goes(main, name, RISES, "increases with lambda") for name in IDS if name != "MIL"),
            _goes(main, "MIL", FALLS, "decreases with lambda (figure 3b)"),
            *(_inside(main, name) for name in ("ITPR", "ELD")),
            *(interpretation(name, worst, where="section 5.2") for name in ("DR", "MI", "CP")),
        ),
        blocks=(
            *draw(
                "Finding out the disease by the age, against lambda",
                main,
                across=LAMBDA,
                below=f"10,000 records; growing: {SHARED}",
                seen="ITPR, DR, MI, CP and ELD rise with lambda; the line of DR lies on that of "
                "ITPR.",
                apart="MIL falls, because H(Disease) falls faster than what an age leaves.",
            ),
            _readings(experiment),
        ),
    )


def _readings(experiment: Inference) -> Grid:
    """Which way every measure goes under every reading."""
    rows = tuple(
        (reading, *(experiment.growing[reading].goes(name) for name in IDS)) for reading in GROWING
    )
    return Grid(caption="As lambda rises, by what grows", head=("Growing", *IDS), rows=rows)


def _inside(main: Series, name: str) -> Claim:
    low = min(main.of[name])
    high = max(main.of[name])
    return statement(
        f"{name} always ranges between 0 and 1",
        "between 0 and 1",
        f"{text(low)} to {text(high)}",
        holds=low >= 0 and high <= 1,
        why="it leaves the range",
    )


def _goes(main: Series, name: str, way: str, printed: str, reading: str = "") -> Claim:
    ours = main.goes(name)
    return statement(
        f"{name}{reading}",
        printed,
        f"{ours}: {text(main.of[name][0])} to {text(main.of[name][-1])}{unit(name)}",
        holds=ours == way,
        why="it goes another way",
    )


def figure_4(experiment: Inference) -> PaperPart:
    """One age drifts from the table, or the ages move apart."""
    one = " (one age drifts)"
    two = " (ages move apart)"
    more = "increases with theta"
    below = "10,000 records, five ages, ten diseases; theta as in equation (13)"
    return PaperPart(
        title="Figure 4: against theta",
        about="Theta is how much less mixed the diseases of an age are than those of the whole "
        "table. The text says that ELD does not see it. That depends on the tables, of which only "
        "theta is given: two readings are computed, one age that drifts from the others, and ages "
        "that keep their numbers but move to different diseases. ELD can stay the same only in the "
        "second, since H(X) must grow by as many bits as theta does. With ages of equal numbers "
        "ITPR is theta / H(X) and ELD is 2^(theta - H(X)): both are made of the same two numbers.",
        claims=(
            _goes(experiment.moving, "ELD", CONSTANT, "constant", two),
            *(_goes(experiment.drifting, name, RISES, more, one) for name in ("MIL", "MI", "CP")),
            *(_goes(experiment.moving, name, RISES, more, two) for name in ("MIL", "MI", "CP")),
            *(
                _goes(series, "ITPR", RISES, "increases with theta", reading)
                for series, reading in ((experiment.drifting, one), (experiment.moving, two))
            ),
            _best(experiment),
            *_ends(experiment.drifting),
            *_example(),
        ),
        blocks=(
            *draw(
                "First reading: one age drifts from the others",
                experiment.drifting,
                across=THETA_AXIS,
                below=below,
                seen="Four ages keep ten equally frequent diseases, one age drifts. Every measure "
                "rises, ITPR by most; ELD rises as well.",
                apart="MIL starts high, at 2.66 bits, and rises by 0.14.",
            ),
            *draw(
                "Second reading: ages move apart",
                experiment.moving,
                across=THETA_AXIS,
                below=below,
                seen="Every age keeps its numbers, but of different diseases. ELD stays the same; "
                "all others rise. DR lies on ITPR.",
                apart="MIL rises as much as MI does.",
            ),
        ),
    )


def _best(experiment: Inference) -> Claim:
    rises = [
        f"{name} {text(series.of[name][-1] - series.of[name][0])}"
        for series in (experiment.drifting, experiment.moving)
        for name in ("ITPR", "MI", "MIL")
    ]
    return open_question(
        "ITPR has the best behaviour regarding theta",
        "the best behaviour",
        "the tables of the figure are not published, nor what is best; by the rise alone ITPR is "
        "ahead in the first reading, MI and MIL in the second",
        f"first reading: {', '.join(rises[:3])}; second: {', '.join(rises[3:])}",
    )


def _ends(series: Series) -> list[Claim]:
    """The six numbers of the text, at theta 0 and 0.4; we compute one age that drifts."""
    start = {name: values[0] for name, values in series.of.items()}
    later = {name: values[AT] for name, values in series.of.items()}
    frequencies = "how frequent the diseases are in the tables of the figure is not published"
    needed = 0.07 / (1 - 1 / AGES)
    return [
        open_question(
            "MIL at theta 0",
            "0.07",
            f"{frequencies}; with five equal ages 0.07 needs H(X) = {needed:.4f} bits, where ten "
            "equally frequent diseases have 3.32",
            f"{start['MIL']:.4f} with ten equally frequent diseases",
        ),
        number(
            "MIL at theta 0.4",
            "0.09",
            later["MIL"],
            contradicts=True,
            why="MIL takes p(q) H(X|q) off H(X), theta H(X|q), and p(q) <= 1: by equations (8) and "
            "(13) MIL is never below theta, with or without the share. A divergence may be, but "
            "table 4 and the 7 bits of figure 1 exclude that reading",
        ),
        number("MI at theta 0", "0", start["MI"]),
        open_question(
            "MI at theta 0.4",
            "0.02",
            f"{frequencies}, nor which ages change",
            f"{later['MI']:.4f} where one age drifts (theta {later[THETA]:.4f})",
        ),
        number("CP at theta 0", "0", start["CP"]),
        open_question(
            "CP at theta 0.4",
            "0.01",
            f"{frequencies}, nor which ages change",
            f"{later['CP']:.4f} where one age drifts (theta {later[THETA]:.4f})",
        ),
        number("CP at theta 0.4 from the printed MI of 0.02, equation (7)", "0.01", 1 - 2**-0.02),
    ]


def _entropy(of: int, ill: int) -> float:
    """H of a disease that `ill` of the `of` records have."""
    table = {"all": ["all"] * of, "ill": ["yes"] * ill + ["no"] * (of - ill)}
    return require_number(sievert.entropy(table, ["all"], "ill"))


def _example() -> list[Claim]:
    """A rare disease in a group of its own, which theta is meant to show."""
    whole = _entropy(100_000, 1)
    group = _entropy(100, 12)
    five = _entropy(100, 5)
    rare = (
        1e-5  # H(X) = whole + (1 - rare) H(others), and so on, if only the disease's share differs
    )
    none = 2 ** ((five - whole) / (0.05 - rare))
    enough = 2 ** ((group - whole + 0.4) / (0.12 - rare))
    return [
        number("1,000 of 10^8 records, in per cent", "0.001 %", 1_000 / 10**8),
        number("5 of 100 records, in per cent", "5 %", 5 / 100),
        statement(
            "Theta of the group with 5 % is high",
            "the bigger the variation, the greater the risk",
            f"H(X) - H(X|q) = {whole - five:.4f} bits",
            holds=whole - five > 0,
            why="the group is more mixed than the table: with the other diseases as in the table, "
            f"equation (13) has {whole - five:.4f} + 0.05 H(others) for it, below 0 with up to "
            f"{int(none)} others, where section 5.2 has 10 and 20. Theta does not see the paper's "
            "own example",
        ),
        open_question(
            "Theta of a group with 12 % where the table has 0.001 %",
            "0.4",
            "how frequent the other diseases are is not published. With them as in the table 0.4 "
            f"needs at least {math.ceil(enough)}, where section 5.2 has 10 and 20; if they, too, "
            "are others in the group, it can be 0.4 or anything else",
            f"{whole - group:.3f}",
        ),
    ]
