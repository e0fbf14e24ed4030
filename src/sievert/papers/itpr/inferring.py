"""Figures 3 and 4: finding out the disease, against lambda and against theta."""

from __future__ import annotations

import sievert
from sievert.papers.claims import Claim, PaperPart, number, open_question, require_number, statement
from sievert.papers.itpr.common import CONSTANT, FALLS, IDS, RISES, THETA, Series
from sievert.papers.itpr.generated import AGES, GROWING, SHARED, Inference
from sievert.papers.itpr.pictures import draw, text, unit
from sievert.papers.itpr.ranges import interpretation
from sievert.report.page import Grid

LAMBDA, THETA_AXIS = "lambda, records", "theta, bits"
AT = 4  # the point of figure 4 whose theta is nearest 0.4


def figure_3(experiment: Inference, worst: dict[str, tuple[float, float]]) -> PaperPart:
    """One disease grows inside every age."""
    main = experiment.growing[SHARED]
    claims = [
        open_question(
            "Which disease grows in which age",
            "not stated",
            "only their numbers and lambda are given. With the same disease in every age ITPR, DR, "
            "MI and CP stay 0, against figure 3a; if one age alone changes, MIL rises, against "
            "figure 3b. We let two or three ages share a disease",
            SHARED,
        ),
        *(_goes(main, name, RISES, "increases with lambda") for name in IDS if name != "MIL"),
        _goes(main, "MIL", FALLS, "decreases with lambda (figure 3b)"),
        *(_inside(main, name) for name in ("ITPR", "ELD")),
        *(interpretation(name, worst, where="section 5.2") for name in ("DR", "MI", "CP")),
    ]
    return PaperPart(
        "Figure 3: against lambda",
        "10,000 records, five ages of 2,000 records and ten diseases. In each age one disease "
        "grows and the other nine share the rest; lambda is the difference between the most and "
        "the least frequent disease of an age. Where all ages have the same numbers of records "
        "and the same entropy, ITPR and DR are the same number.",
        tuple(claims),
        (
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
    return Grid("As lambda rises, by what grows", ("Growing", *IDS), rows)


def _inside(main: Series, name: str) -> Claim:
    low, high = min(main.of[name]), max(main.of[name])
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
        why=WHY_ELD if name == "ELD" else "it goes another way",
    )


WHY_ELD = (
    "ELD is 2^(theta - H(X)), because both look at the class of least entropy: it can only stay "
    "the same where H(X) grows by as many bits as theta does"
)


def figure_4(experiment: Inference) -> PaperPart:
    """One age drifts from the table, or the ages move apart."""
    one, two = " (one age drifts)", " (ages move apart)"
    more = "increases with theta"
    claims = [
        open_question(
            "How the tables of figure 4 differ",
            "theta grows",
            "only theta is given. ELD can stay the same against theta only if H(X) grows with it; "
            "we therefore try one age that drifts from the others, and ages that keep their "
            "numbers but move to different diseases",
            "two readings",
        ),
        _goes(experiment.drifting, "ELD", CONSTANT, "constant", one),
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
    ]
    below = "10,000 records, five ages, ten diseases; theta as in equation (13)"
    return PaperPart(
        "Figure 4: against theta",
        "Theta is how much less mixed the diseases of an age are than those of the whole table. "
        "The text says that ELD does not see it. That depends on the tables, which are not "
        "described: two readings are computed. With ages of equal numbers ITPR is theta / H(X) "
        "and ELD is 2^(theta - H(X)): both are made of the same two numbers.",
        tuple(claims),
        (
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
        "what is best is not said; by the rise alone ITPR is ahead in the first reading, MI and "
        "MIL in the second",
        f"first reading: {', '.join(rises[:3])}; second: {', '.join(rises[3:])}",
    )


def _ends(series: Series) -> list[Claim]:
    """The six numbers of the text, at theta 0 and 0.4; we compute one age that drifts."""
    start = {name: values[0] for name, values in series.of.items()}
    later = {name: values[AT] for name, values in series.of.items()}
    frequencies = "how frequent the diseases are is not stated"
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
            why="MIL takes p(q) H(X|q) off H(X) where theta takes H(X|q) off it: by equations (8) "
            "and (13) MIL is never below theta, in any table and with or without the share",
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
    """H of a disease that so many of the records have."""
    table = {"all": ["*"] * of, "ill": ["yes"] * ill + ["no"] * (of - ill)}
    return require_number(sievert.entropy(table, ["all"], "ill"))


def _example() -> list[Claim]:
    """A rare disease in a group of its own, which theta is meant to show."""
    whole, group, five = _entropy(100_000, 1), _entropy(100, 12), _entropy(100, 5)
    return [
        number("1,000 of 10^8 records, in per cent", "0.001 %", 1_000 / 10**8),
        number("5 of 100 records, in per cent", "5 %", 5 / 100),
        statement(
            "Theta of the group with 5 % is high",
            "the bigger the variation, the greater the risk",
            f"H(X) - H(X|q) = {whole - five:.4f} bits",
            holds=whole - five > 0,
            why="a group with more of a rare disease is more mixed than the table, so equation "
            "(13) gives a number below 0: theta does not see the paper's own example",
        ),
        number(
            "Theta of a group with 12 % where the table has 0.001 %",
            "0.4",
            whole - group,
            contradicts=True,
            why="the group is more mixed than the table, so equation (13) is below 0; only without "
            "the sign and in nats (0.37) would it be near 0.4",
        ),
    ]
