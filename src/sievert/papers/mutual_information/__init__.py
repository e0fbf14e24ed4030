"""The paper on risk and utility by mutual information, recomputed: formulas, models, Adult."""

from sievert.papers.claims import Given, Paper
from sievert.papers.mutual_information import adult, covariance, measures, models

TAKES: tuple[str, ...] = ("adult",)


def paper(given: Given) -> Paper:
    """Every formula, model and statement of the paper beside what the public functions give."""
    experiment = adult.part(given)  # first, so that a wrong file is told at once
    return Paper(
        name="mutual-information",
        title="Measuring Risk and Utility of Anonymized Data Using Information Theory",
        source="J. Domingo-Ferrer and D. Rebollo-Monedero, PAIS 2009",
        about="The paper measures both what a release discloses and what it loses by mutual "
        "information, and states four models of the best trade-off. It prints formulas, one "
        "drawing and no numbers: what stands under 'printed' is a formula's value where the "
        "formula is printed. X are the key attributes, Y the confidential ones, X' what is "
        "released instead of X. Logarithms are to base 2, since the paper measures in bits.",
        parts=(
            measures.discrepancies(given),
            measures.information(given),
            measures.lemma(given),
            measures.comparisons(given),
            measures.risks(given),
            models.figure_1(given),
            models.model_1(given),
            models.model_2(given),
            models.models_3_and_4(given),
            covariance.synthetic(given),
            covariance.preservation(given),
            experiment,
        ),
    )
