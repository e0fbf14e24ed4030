"""The paper on approximate compromise, recomputed: its examples, its methods, its experiment."""

from sievert.papers.approximate_compromise import appendix, figures, methods
from sievert.papers.approximate_compromise.methods import given_tables
from sievert.papers.claims import Given, Paper

TAKES: tuple[str, ...] = ("pums", "wine", "breast_cancer")


def paper(given: Given) -> Paper:
    """Every table and figure of the paper beside what the public functions give."""
    return Paper(
        name="approximate-compromise",
        title="Quantifying Privacy: A Novel Entropy-Based Measure of Disclosure Risk",
        source="M. Alfalayleh and L. Brankovic, The University of Newcastle, Australia",
        about="Entropy sees how many values an intruder has to choose from, not how far apart they "
        "are. The paper adds a window: what is left of the entropy for somebody who is "
        "content with an interval. Its examples come out to the digit. Its experiment is on "
        "records that are not published, and its curves have no numbers; what it says of them is "
        "tried on a table of the same size, and on census records where they are given.",
        parts=(
            appendix.table_1(given),
            appendix.figure_1(given),
            appendix.appendix(given),
            appendix.figure_3(given),
            appendix.algorithm_1(given),
            methods.table_2(given),
            methods.formulas(given),
            *figures.parts(given, given_tables(given)),
        ),
    )
