"""The slides on the discrimination rate, recomputed: three small tables, and Adult."""

from sievert.papers.claims import Given, Paper
from sievert.papers.discrimination_rate import adult, attacks, rates

TAKES: tuple[str, ...] = ("adult", *adult.FILES.values())


def paper(given: Given) -> Paper:
    """Every table and chart of the slides beside what the public functions give."""
    charts = adult.parts(given)  # first, so that a wrong file is told at once
    return Paper(
        name="discrimination-rate",
        title="Discrimination Rate: An Attribute-Centric Metric to Measure Privacy",
        source="L. P. Sondeck, slides, WODIAC at PETS 2017",
        about="The discrimination rate of a column is the share of a target's entropy that the "
        "column takes away. The slides compute it for tables of nine people, attack by attack, "
        "and show charts of Adult without numbers. Where they write H(X|Y=y) they compute the "
        "share of the records times it; only so do their numbers come out.",
        parts=(
            rates.simple(given),
            rates.combined_rates(given),
            rates.comparison(given),
            attacks.tables(given),
            attacks.identity(given),
            attacks.homogeneity(given),
            attacks.background(given),
            attacks.others(given),
            *charts,
        ),
    )
