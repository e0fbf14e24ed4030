"""The paper on relative privacy risks, recomputed: its example, its formulas, its experiment."""

from sievert.papers.claims import Given, Paper
from sievert.papers.relative_risk import example, experiment, formulas

TAKES: tuple[str, ...] = ("adult", "hierarchies")


def paper(given: Given) -> Paper:
    """Every table and number of the paper beside what the public functions give."""
    adult = experiment.with_adult(given)  # first, so that a wrong file is told at once
    return Paper(
        name="relative-risk",
        title="Relative privacy risks and learning from anonymized data",
        source="M. Boreale and F. Corradi, Università di Firenze",
        about="Somebody who knows that a person is in a released table learns more of that person "
        "than somebody who studies the population; the difference is the relative risk. The paper "
        "defines both, and gives a few numbers for three releases of Adult. Its example and its "
        "formulas can be recomputed; its numbers cannot, for the text says neither which records "
        "were taken nor which prior.",
        parts=(
            example.table_1(given),
            example.reasoning(given),
            formulas.formulas(given),
            experiment.sizes(given),
            experiment.generated_experiment(given),
            adult,
        ),
    )
