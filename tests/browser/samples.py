"""Pages made by hand: a decision page as in the design's picture, in each of its states."""

from __future__ import annotations

from sievert.charts import Bar, bars
from sievert.report.page import (
    Block,
    BulletList,
    Chapter,
    Facts,
    Figures,
    Hundred,
    NumberGroup,
    NumberRow,
    Numbers,
    Option,
    OptionCards,
    OptionRow,
    Page,
    Paragraph,
    Picture,
    Points,
    PolicyAnswer,
    make_grid,
)

BREACHED, MET, DOUBTFUL = "breached", "met", "doubtful"
STATES = 4 * (MET,) + 8 * (BREACHED,)
VERDICTS = {
    BREACHED: PolicyAnswer(
        state=BREACHED,
        text="No. The policy is not met.",
        why="8 of its 12 limits are breached: all 4 on finding people, 4 of 6 on the diagnosis.",
        states=STATES,
        tally="4 met, 8 breached",
    ),
    MET: PolicyAnswer(
        state=MET,
        text="Yes. The policy is met.",
        why="All 12 limits are met.",
        states=12 * (MET,),
        tally="12 met",
    ),
    DOUBTFUL: PolicyAnswer(
        state=DOUBTFUL,
        text="It cannot be decided.",
        why="2 of its 12 limits could not be evaluated: a column has no values.",
        states=(*(10 * (MET,)), DOUBTFUL, DOUBTFUL),
        tally="10 met, 2 undecided",
    ),
    "open": PolicyAnswer(
        state="open",
        text="No policy was given, so there is no verdict.",
        why="Add --policy FILE for one.",
    ),
}
FACTS = Facts(
    (
        ("Table", "2,000 people, 9 columns"),
        ("Policy", "hospital_policy.toml (e2108557)"),
        ("Assessed", "16 November 2026"),
        ("Outsider knows", "sex, age, postcode, occupation"),
    )
)
POINTS = Points(
    (
        (
            "Two in three people can be found.",
            "1,305 of 2,000 are the only one with their sex, age, postcode and occupation. "
            "The policy allows 100.",
        ),
        (
            "Their secrets can be read off.",
            "Anyone who knows these columns guesses the diagnosis right for 83 % of people, and "
            "for 13 % without them. Length of stay: 81 %, and 12 %.",
        ),
        (
            "A release can meet the policy, at a price.",
            "With coarser columns and 145 people hidden, 11 limits are met. For the twelfth, age "
            "and occupation must go.",
        ),
    )
)
PEOPLE = Hundred(
    title="Of every 100 people in the table",
    shares=(65, 27, 8),
    labels=(
        ("65 alone", "can be found"),
        ("27 in groups of 2–4", "below the policy’s 5"),
        ("8 in groups of 5+", "as the policy asks"),
    ),
    allowed=5,
    allowance="The policy allows this many alone: 5 of 100",
)
UNCOVERED = Paragraph(
    "Not covered by this answer: admission_month and department have no role. Leave them out, or "
    "give them one.",
    "warning",
)


def _option(title: str, alone: int, met: int, lost: int, hidden: int) -> Option:
    state, left = (MET, 0) if met == 12 else (BREACHED, 12 - met)
    mark = f"{left} limit{'s' * (left > 1)} still breached" if left else "Meets the policy"
    rows = (
        OptionRow(
            name="People alone", before="1,305", after=f"{alone:,}", share=alone / 1305, risky=True
        ),
        OptionRow(
            name="Limits met", before="4", after=f"{met}", states=met * (MET,) + left * (BREACHED,)
        ),
        OptionRow(name="Detail lost", before="0", after=f"{lost} %", share=lost / 100),
        OptionRow(name="People hidden", before="0", after=f"{hidden}"),
    )
    return Option(title, state, mark, rows)


OPTIONS = OptionCards(
    "hospital.csv",
    (
        _option("Age in bands of 10, postcode to 3 digits", 187, 6, 5, 0),
        _option("Age in bands of 20, postcode to 1 digit, groups below 5 hidden", 0, 11, 20, 145),
        _option("No age, no occupation, postcode to 3 digits, small groups hidden", 0, 12, 55, 78),
    ),
)
HEAD = ("Measure", "PolicyAnswer", "This table", "Policy asks", "How far", "Id")


def row(name: str, key: str, value: str, limit: str, far: str, position: float) -> NumberRow:
    """A number with its limit; below 0 it is met."""
    state = MET if position <= 0 else BREACHED
    return NumberRow(
        name=name,
        id=key,
        value=value,
        state=state,
        mark=state,
        limit=limit,
        far=far,
        position=position,
    )


NUMBERS = Numbers(
    caption="The 12 limits of the policy",
    head=HEAD,
    groups=(
        NumberGroup(
            "Finding a person",
            (
                row("Smallest group (k-anonymity)", "k_anonymity", "1 person", "at least 5",
                    "5 × short", 2.32),
                row("People who are alone", "unique_records", "65.25 %", "at most 5 %",
                    "13 × over", 3.71),
                row("Average chance of being found", "average_risk", "77.9 %", "at most 10 %",
                    "7.8 × over", 2.96),
                row("People in groups below 5", "records_below", "1,850", "at most 100",
                    "18.5 × over", 4.21),
            ),
            "4 of 4 breached",
        ),
        NumberGroup(
            "Learning the diagnosis",
            (
                row("Best guess is right, columns known", "bayes_vulnerability_posterior",
                    "83.2 %", "at most 50 %", "1.7 × over", 0.73),
                row("Fewest diagnoses in a group (l-diversity)", "l_diversity", "1", "at least 2",
                    "2 × short", 1),
                row("Largest shift of a group (t-closeness)", "t_closeness", "0.998",
                    "at most 0.5", "2 × over", 1),
                NumberRow(name="Uncertainty removed, diagnoses merged",
                    id="semantic_discrimination_rate",
                          value="not measured", state=DOUBTFUL, mark="undecided", limit="at "
                          "most 50 %",
                          remark="The diagnoses were not merged: the policy names no partition."),
                row("Uncertainty before anything is known", "entropy", "4.50 bits",
                    "at least 3 bits", "inside", -0.58),
                row("Best guess is right, nothing known", "bayes_vulnerability_prior", "12.7 %",
                    "at most 20 %", "inside", -0.66),
                NumberRow(name="Bits told of the diagnosis", id="mutual_information",
                    value="4.06 bits"),
            ),
            "4 of 6 breached",
        ),
    ),
    axis=("inside", "limit"),
)  # fmt: skip
PLAIN = Numbers(
    caption="Numbers without a limit",
    head=HEAD,
    groups=(
        NumberGroup(
            "Learning the length of stay",
            (
                NumberRow(
                    name="Uncertainty before anything is known", id="entropy", value="4.40 bits"
                ),
                NumberRow(
                    name="Uncertainty left, columns known",
                    id="conditional_entropy",
                    value="0.49 bits",
                ),
            ),
        ),
    ),
)
SHARES = [
    Bar(row="age", number=0.44),
    Bar(row="postcode", number=0.33),
    Bar(row="occupation", number=0.16),
    Bar(row="sex", number=0.07),
]
PICTURE = Picture(
    spec=bars("Each column’s share of finding a person", ["Shares"], SHARES, axis="Share"),
    caption="Shapley shares, which add up to 100 %: a long bar tells people apart.",
    behind=make_grid(
        "The shares as a table", ("Column", "Share"), [(b.row, b.number) for b in SHARES]
    ),
)
RELEASES = make_grid(
    "Releases compared",
    ("Release", "Policy", "People alone", "Smallest group", "Diagnosis guessed", "Detail lost"),
    (
        ("hospital.csv", "8 breached", "1,305", "1", "83 %", "0 %"),
        ("bands.csv", "4 breached", "74", "1", "30 %", "14 %"),
        ("halves.csv", "met", "0", "675", "16 %", "87 %"),
    ),
    (2, 3, 4, 5),
)
LACKING = BulletList(
    (
        "admission_month and department have no role. Released, they make people easier to find.",
        "What else an outsider knows beyond the four columns.",
        "Whether a diagnosis is harmful, and whether somebody would try.",
    )
)


def decision(state: str = BREACHED, verdict: PolicyAnswer | None = None) -> Page:
    """The decision page."""
    help_ = Chapter(title="What would help", anchor="help", blocks=(OPTIONS,))
    lead = Paragraph("Each bar starts at the limit; to the right is beyond it.", "reading")
    limits = (lead, NUMBERS, PLAIN)
    keys = dict.fromkeys(r.id for block in (NUMBERS, PLAIN) for g in block.groups for r in g.rows)
    terms = tuple(
        Chapter(title=f"About {key}", anchor=f"def-{key}", blocks=(Paragraph("A number."),))
        for key in keys
    )
    return Page(
        title="May hospital.csv be published?",
        language="en",
        front=(FACTS, verdict or VERDICTS[state], POINTS, PEOPLE, UNCOVERED, help_),
        chapters=(
            Chapter(title="All 4 limits on finding people are breached", anchor="limits",
                blocks=limits,
                    topic="The 12 limits"),
            Chapter(title="Age and postcode give most people away", anchor="why",
                blocks=(PICTURE,), topic="Why"),
            Chapter(title="Releases compared: one meets the policy", anchor="releases",
                blocks=(RELEASES,),
                    topic="Releases compared"),
            Chapter(title="What was not measured", anchor="lacking", blocks=(LACKING,)),
            Chapter(title="Definitions and method", anchor="definitions", blocks=terms, folded=True,
                    topic="Definitions"),
        ),
        foot=("Made by Sievert.",),
        warning="Internal: exact counts, not for passing on",
        kind="Decision page",
    )  # fmt: skip


def summary(state: str = BREACHED) -> Page:
    """The shareable page."""
    found = BulletList(
        ("Smallest group of people alike", "Share of people who are alone", "People in groups"),
        (BREACHED, MET, "undecided"),
        (BREACHED, MET, DOUBTFUL),
    )
    limits: tuple[Block | Chapter, ...] = (
        Chapter(title="Finding a person", anchor="limits-1", blocks=(found,)),
        Chapter(title="Diagnosis", anchor="limits-2", blocks=(found,)),
    )
    figures = Figures(
        (
            ("2 in 3", "people are the only one with their values, and can be found."),
            ("13 → 83 %", "How often the diagnosis is guessed right: nothing known, all known."),
            ("1 way out", "of three tried meets every limit, and loses about 55 % of the detail."),
        )
    )
    note = Paragraph("Shareable: no file name, no value of a cell, no count below 10.", "note")
    return Page(
        title="May the table be published?",
        language="en",
        front=(
            Paragraph("A table of 2,000 people. An outsider knows sex, age and more.", "reading"),
            VERDICTS[state],
            figures,
            Chapter(title="The limits", anchor="limits", blocks=limits),
            Chapter(title="What was not measured", anchor="lacking", blocks=(LACKING,)),
            note,
        ),
        chapters=(),
        foot=("Made by Sievert.",),
        shared=True,
        kind="Summary for sharing",
    )
