"""Figures 2 and 4: three methods, drawn, and what section 6 says of them, true or false."""

from collections.abc import Sequence
from dataclasses import replace

from sievert.charts import lines
from sievert.formatting import plural
from sievert.papers.approximate_compromise.experiment import (
    AREA,
    H0,
    NAMES,
    Experiment,
    amount,
    of_all,
    of_pair,
    run,
)
from sievert.papers.approximate_compromise.methods import PaperTable, generate_table
from sievert.papers.claims import FALSE, OPEN, Given, PaperPart, open_question, statement
from sievert.report.page import Grid, Paragraph, Picture

PANELS = {
    ("sampling", H0): "2a",
    ("sampling", AREA): "2b",
    ("query", H0): "2c",
    ("query", AREA): "2d",
    ("noise", H0): "2e",
    ("noise", AREA): "2f",
}
UP = {H0: "Bits", AREA: "Bits times thousands"}
WHAT = {
    H0: "H0 in bits, exact compromise",
    AREA: "Area in bits times thousands, approximate compromise",
}
ELSEWHERE = "The paper says so of its own records, which are not published: these are others."
UTILITY = (
    "Utility is an axis of its own for each method: the size of the sample, 1/Q and 1/noise. For "
    "one that methods can be compared by, the error of means over ranges, see sievert compromise."
)


def parts(given: Given, tables: Sequence[PaperTable]) -> list[PaperPart]:
    """Figures 2 and 4 on the generated table, and the verdicts on it and on the tables given."""
    given.step("figure 2: generated table")
    study = generate_table(given.seed)
    experiment = run(study, given.seed, given.replicates)
    runs = f"{plural(given.replicates, 'run')} for each amount (the paper: 30)"
    figures = [
        _figure_2(experiment, runs),
        _figure_4(experiment),
        _section_6(study, experiment, runs),
    ]
    if not tables:
        return [*figures, _missing()]
    for table in tables:
        given.step(f"section 6: {table.name}")
        experiment = run(table, given.seed, given.replicates)
        figures.append(_section_6(table, experiment, runs))
    return figures


def _figure_2(experiment: Experiment, runs: str) -> PaperPart:
    return PaperPart(
        title="Figure 2: sampling, query restriction and noise",
        about="The paper's records are not published and its curves have no numbers. Here are the "
        "same curves of 2,500 generated records with the domains of Table 2, a mean over all sets "
        f"of known columns and all combinations of their values, {runs}. Panels (e) and (f) are "
        "taken to be noise.",
        claims=(
            open_question(
                "The curves",
                "drawn",
                "No number of any curve is in the text, and the records are not published.",
                "drawn here for a generated table",
            ),
        ),
        blocks=(
            *(_panel(experiment, method, number) for method, number in PANELS),
            Paragraph(UTILITY),
        ),
    )


def _panel(experiment: Experiment, method: str, number: str) -> Picture:
    means = {
        amount(method, a): experiment.means(method, a, number) for a in experiment.curves[method]
    }
    # Where the most and the least useful release begin and end.
    (first, high), *_, (last, low) = means.items()
    return _picture(
        f"{PANELS[method, number]}: {NAMES[method]}",
        number,
        {name: list(enumerate(each, 1)) for name, each in means.items()},
        f"{WHAT[number].split(',')[0]}: from one known column to six, {first} goes from "
        f"{high[0]:.2f} to {high[-1]:.2f}, {last} from {low[0]:.2f} to {low[-1]:.2f}.",
        ("Known columns", "amount", "{:g} known"),
    )


def _picture(
    title: str,
    number: str,
    series: dict[str, list[tuple[float, float]]],
    seen: str,
    heads: tuple[str, str, str],
) -> Picture:
    """Curves with their numbers; the heads are of the axis, of the first column, of the others."""
    across, first, others = heads
    points = [x for x, _ in next(iter(series.values()))]
    return Picture(
        spec=lines(
            f"Figure {title}",
            (WHAT[number], "High is better protected"),
            series,
            across=across,
            up=UP[number],
        ),
        caption=seen,
        behind=Grid(
            caption=f"Figure {title.partition(':')[0]}: {WHAT[number]}",
            head=(first, *map(others.format, points)),
            rows=tuple((name, *(f"{y:.3f}" for _, y in each)) for name, each in series.items()),
            right=tuple(range(1, len(points) + 1)),
        ),
    )


def _figure_4(experiment: Experiment) -> PaperPart:
    return PaperPart(
        title="Figure 4: noise against its amount",
        about="Panels (a) and (b) of the paper are those of figure 2e and 2f; (c) and (d) have the "
        "amount of noise across and a line for each number of known columns.",
        claims=(
            statement(
                "What panels (b) and (d) show",
                "average entropy in the text, area at the panel",
                "the area",
                holds=False,
                contradicts=True,
                why="two names for one panel, and the average entropy is nowhere defined; area "
                "divided by eps_max is one reading",
            ),
        ),
        blocks=tuple(
            _picture(
                f"{panel}: noise",
                number,
                _by_known(experiment, number),
                "Each line rises with noise; the more columns are known, the lower it is.",
                ("Noise, % of the domain", "known columns", "{:g} %"),
            )
            for number, panel in ((H0, "4c"), (AREA, "4d"))
        ),
    )


def _by_known(experiment: Experiment, number: str) -> dict[str, list[tuple[float, float]]]:
    means = {a: experiment.means("noise", a, number) for a in experiment.curves["noise"]}
    columns = range(len(next(iter(means.values()))))
    return {f"{i + 1} known": [(a, m[i]) for a, m in means.items()] for i in columns if i in KEPT}


KEPT = (0, 1, 2, 5)  # numbers of known columns, less one, whose lines can be told apart


def _section_6(study: PaperTable, experiment: Experiment, runs: str) -> PaperPart:
    claims = [*of_all(experiment), *of_pair(experiment)]
    if not study.own:
        claims = [
            replace(c, state=OPEN, why=f"{c.why.rstrip('.')}. {ELSEWHERE}")
            if c.state == FALSE
            else c
            for c in claims
        ]
    return PaperPart(
        f"Section 6 on a table: {study.name}",
        f"{len(study.columns[study.secret]):,} records, {experiment.values} values of "
        f"{study.secret}, {len(study.known)} known columns, {runs}. The paper has no thresholds. "
        "Ours: similar is within 5 % of log2 of the number of values, a sharp decline more than "
        "25 % from one known column to all, a flat one less than 10 %, slightly more at most 10 % "
        "more: what the eye tells apart in a chart of this height. Where half or twice the "
        "threshold gives another verdict, the claim says so."
        " A mean of draws rises or falls where it does so by more than 0.1 %. H0 is in bits, the "
        "area in bits times thousands.",
        tuple(claims),
    )


def _missing() -> PaperPart:
    return PaperPart(
        "Section 6 on census records",
        "The paper's own extract is not published. With --data pums=FILE, a file with its seven "
        "columns (salary, age, sex, education, industry, occupation, travel), the same statements "
        "are tried on its first 2,500 records; with the columns sex, age, educ, latino, black, "
        "married and income on the first 2,500, and on the first 2,500 whose income is in the "
        "paper's range. The two other data sets that the paper names are --data wine=FILE and "
        "--data breast_cancer=FILE; the paper omits its results on them.",
    )
