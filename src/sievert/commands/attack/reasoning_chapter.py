"""An attacker who reasons by Bayes' rule, beside an honest learner: who is named, how sure it is.

Where the chains of the simulation do not agree, the page shows no number, and says so.
"""

import math
from collections.abc import Iterator

from sievert.attacks.attack import Attack
from sievert.attacks.reasoning.chains import ESS, RHAT
from sievert.charts import Bar
from sievert.charts.curves import running, shares
from sievert.commands.attack.number_rows import (
    SIDES,
    columns,
    people,
    secrets,
)
from sievert.commands.attack.result import ChainsOfReasoning, ReasoningDetails
from sievert.formatting import count, digits, make_unique
from sievert.report.page import Block, Chapter, Link, Paragraph, Picture, make_grid
from sievert.report.parts import NumberText, NumberWriter, ReportPart

# The sentences for nobody, one and many people.
AT_RISK = ("reasoned.at_risk_none", "reasoned.at_risk_one", "reasoned.at_risk_many")
DRAWN = 3  # secrets with pictures
GAIN = 0.01  # of people named beyond guessing: less is next to nothing
CHANCE = 3.0  # standard deviations: below guessing by more is no accident
# Numbers for the operator: the name of each, and the place of its definition.
NUMBERS = {
    "attacker_accuracy_literal": ("reasoned.attacker_accuracy_literal", "def-reason_attacker"),
    "learner_accuracy_literal": ("reasoned.learner_accuracy_literal", "def-reason_learner"),
    "global_relative_risk": ("reasoned.global_relative_risk", "def-reason_gr"),
    "global_relative_risk_literal": ("reasoned.global_relative_risk_literal", "def-reason_gr"),
    "max_relative_risk": ("reasoned.max_relative_risk", "def-reason_relative"),
}
TITLES = {"named": "reasoned.title_named", "expects": "reasoned.title_expects"}
# The finding of the first screen, by what there is to tell.
FIRST = {
    "named": "reasoned.first",
    "expects": "reasoned.first_expects",
    "not_converged": "reasoned.first_not_converged",
    "misplaced": "reasoned.first_misplaced",
    "unreadable": "reasoned.first_unreadable",
    "worse": "reasoned.first_worse",
    "randomised": "reasoned.first_randomised",
}
# Why no number is shown.
WITHHELD = {
    "not_converged": "reasoned.not_converged",
    "misplaced": "reasoned.misplaced",
    "unreadable": "reasoned.unreadable",
    "worse": "reasoned.worse",
    "randomised": "reasoned.randomised",
}
# Those who name people: what they are called, and the places of their definitions.
WHO = {
    "attacker": ("reasoned.attacker", "def-reason_attacker"),
    "learner": ("reasoned.learner", "def-reason_learner"),
    "baseline": ("reasoned.baseline", "def-reason_baseline"),
    "expects": ("reasoned.expects", "def-reason_attacker"),
}
UNDECIDED = {
    "undecided": "reasoned.undecided",
    "learner_undecided": "reasoned.learner_undecided",
}
MODELS = {"product": "reasoned.model_product", "saturated": "reasoned.model_saturated"}
# What chains must agree on.
QUANTITIES = {
    "attacker_right": "reasoned.quantity_attacker_right",
    "attacker_belief": "reasoned.quantity_attacker_belief",
    "learner_right": "reasoned.quantity_learner_right",
    "learner_belief": "reasoned.quantity_learner_belief",
    "attacker_expects": "reasoned.quantity_attacker_expects",
    "learner_expects": "reasoned.quantity_learner_expects",
}


def chapters(part: ReportPart) -> tuple[Chapter, ...]:
    """One chapter for each secret that was reasoned about: its title is what was found."""
    return tuple(
        Chapter(
            title=_title(part, secret, attack),
            anchor=f"{part.anchor('reason')}{i}",
            blocks=tuple(_blocks(part, i, secret, attack)),
            screen=i == 1,
        )
        for i, secret, attack in secrets(part, "reasoning")
    )


def _title(part: ReportPart, secret: str, attack: Attack) -> str:
    which = state(attack)
    return part.texts(
        TITLES.get(which, "reasoned.title"),
        secret=part.writer.name(secret),
        **_places(part, attack, which),
    )


def state(attack: Attack) -> str:
    """What there is to tell: named, expects, or why no number is shown."""
    details = ReasoningDetails.of(attack)
    if details.randomised:
        return "randomised"
    if details.unreadable_labels:
        return "unreadable"
    if not details.converged:
        return "not_converged"
    if attack.number("attacker_accuracy") is not None:
        return "worse" if _worse_than_guessing(attack) else "named"
    return "expects" if attack.number("attacker_expects") is not None else "misplaced"


def _worse_than_guessing(attack: Attack) -> bool:
    """Whether the attacker does worse than guessing beyond chance: a sign that tables do not fit.

    Whoever may guess does no worse, so the number would only reassure.
    """
    guess = attack.number("baseline")
    ends = _ends(attack, "attacker_accuracy")
    if guess is None or ends is None:
        return False
    spread = math.sqrt(guess * (1 - guess) / max(1, ReasoningDetails.of(attack).released))
    return ends[1] < guess - CHANCE * spread


def _ends(attack: Attack, name: str) -> tuple[float, float] | None:
    """How low and how high a number may be; both are the number where nobody is undecided."""
    middle = attack.number(name)
    if middle is None:
        return None
    low, high = ReasoningDetails.of(attack).intervals.get(name, (middle, middle))
    return min(low, middle), max(high, middle)


def _share(part: ReportPart, attack: Attack, name: str) -> NumberText:
    """A share, with what the undecided people leave open in brackets."""
    share = part.writer.share(attack.number(name))
    ends = _ends(attack, name)
    if share.number is None or ends is None or ends[0] == ends[1]:
        return share
    low, high = map(part.writer.share, ends)
    text = part.texts("reasoned.interval", share=share, low=low, high=high)
    return NumberText(text, share.number)


def headline(part: ReportPart, attack: Attack) -> NumberText | None:
    """The share of people who are named; None where there is no number to show."""
    name = {"named": "attacker_accuracy", "expects": "attacker_expects"}.get(state(attack))
    return None if name is None else part.writer.share(attack.number(name))


def points(part: ReportPart) -> Iterator[tuple[str, str]]:
    """The secret for which most people are named, or the reason why no number can be shown."""
    each = [(headline(part, attack), s, attack) for _, s, attack in secrets(part, "reasoning")]
    if not each:
        return
    head, secret, attack = max(each, key=lambda e: -1.0 if e[0] is None else e[0].number or 0.0)
    which = state(attack)
    name = part.writer.name(secret)
    places = _places(part, attack, which)
    guessing = places["baseline"].number if "baseline" in places else None
    ends = _ends(attack, "attacker_accuracy" if which == "named" else "attacker_expects")
    if head is None or ends is None or guessing is None:
        found = "reasoned.point_unknown"
    elif ends[0] > guessing + GAIN:
        found = "reasoned.point_helps"
    else:
        found = "reasoned.point_no_help"
    yield part.texts(found), part.texts(FIRST[which], secret=name, **places)


PLACES = {
    "named": {
        "attacker": "attacker_accuracy",
        "learner": "learner_accuracy",
        "baseline": "baseline",
    },
    "expects": {"expects": "attacker_expects", "baseline": "baseline"},
}


def _places(part: ReportPart, attack: Attack, which: str) -> dict[str, NumberText]:
    unreadable = ReasoningDetails.of(attack).unreadable_labels
    if unreadable:
        return {"columns": NumberText(part.writer.names(unreadable), None)}
    return {who: _share(part, attack, name) for who, name in PLACES.get(which, {}).items()}


def _blocks(part: ReportPart, i: int, secret: str, attack: Attack) -> Iterator[Block | Chapter]:
    texts = part.texts
    which = state(attack)
    name = part.writer.name(secret)
    if headline(part, attack) is None:
        text = texts(WITHHELD[which], secret=name, **_places(part, attack, which))
        yield Paragraph(text, "warning")
    else:
        places = _places(part, attack, which)
        key = "reasoned.lead" if which == "named" else "reasoned.lead_expects"
        yield Paragraph(texts(key, secret=name, columns=columns(part), **places), "reading")
        yield _beliefs(part, i, secret, attack, places)
    if which == "named":
        yield Paragraph(texts("reasoned.reading"), "reading")
        inner = tuple(_relative(part, secret, attack))
        yield Chapter(
            title=texts("reasoned.risk_title"), anchor=part.anchor(f"reason{i}-risk"), blocks=inner
        )
    if which not in ("randomised", "unreadable"):
        how = (
            *_how(part, attack),
            *_chains(part, secret, attack, drawn=part.pictured(i, DRAWN)),
            *_sensitivity(part, attack),
        )
        yield Chapter(
            title=texts("reasoned.how_title"), anchor=part.anchor(f"reason{i}-how"), blocks=how
        )


def _beliefs(
    part: ReportPart, i: int, secret: str, attack: Attack, places: dict[str, NumberText]
) -> Block:
    """Attacker, learner and guessing side by side."""
    texts = part.texts
    name = part.writer.name(secret)
    accuracies = {"attacker": "attacker_accuracy", "learner": "learner_accuracy"}
    ends = {who: _ends(attack, accuracies[who]) for who in places if who in accuracies}
    intervals = {who: each for who, each in ends.items() if each is not None and each[0] < each[1]}
    bars = [
        Bar(
            row=texts(WHO[who][0]),
            number=text.number,
            interval=intervals.get(who),
            text=str(text),
            shown=str(part.writer.share(text.number)),
        )
        for who, text in places.items()
    ]
    title = texts("reasoned.chart", secret=name)
    rows = ((Link(bar.row, WHO[who][1]), bar.text) for bar, who in zip(bars, places, strict=True))
    grid = make_grid(title, (texts("reasoned.who"), texts("reasoned.named")), rows)
    if not part.pictured(i, DRAWN) or all(bar.number is None for bar in bars):
        return grid
    if "expects" in places:
        key = "reasoned.caption_expects"
    elif intervals:
        key = "reasoned.caption"
    else:
        key = "reasoned.caption_exact"
    spec = shares(title, (texts("reasoned.below", secret=name),), bars, axis=texts("reasoned.axis"))
    return Picture(
        spec=spec, caption=texts(key), behind=grid, screen=True, name=("reasoning", secret)
    )


# -- for the operator -----------------------------------------------------------------------------


def _relative(part: ReportPart, secret: str, attack: Attack) -> Iterator[Block]:
    """People at risk, relative risk, and the records that are worst off."""
    texts = part.texts
    writer = part.writer
    many = attack.number("at_risk") or 0
    yield Paragraph(people(part, AT_RISK, many, secret=writer.name(secret)))
    for name, key in UNDECIDED.items():
        torn = attack.number(name)
        if torn:
            yield Paragraph(texts(key, people=writer.count(torn)))
    rows = (
        (
            Link(texts(key), anchor),
            _times(writer, attack.number(name))
            if name == "max_relative_risk"
            else _share(part, attack, name),
            texts(SIDES[attack.numbers[name].riskier]),
        )
        for name, (key, anchor) in NUMBERS.items()
        if name in attack.numbers
    )
    head = (texts("reasoned.number"), texts("reasoned.value"), texts("reasoned.side"))
    yield make_grid(texts("reasoned.numbers"), head, rows, (1,))
    worst = ReasoningDetails.of(attack).worst
    if worst:
        rows_ = (
            (
                count(record.row),
                writer.share(record.attacker),
                writer.share(record.learner),
                _times(writer, record.relative_risk),
            )
            for record in worst
        )
        columns_of_worst = (
            texts("reasoned.worst_row"),
            texts("reasoned.worst_attacker"),
            texts("reasoned.worst_learner"),
            texts("reasoned.worst_ratio"),
        )
        yield make_grid(texts("reasoned.worst"), columns_of_worst, rows_, range(4))
        yield Paragraph(texts("reasoned.worst_reading"), "reading")


def _times(writer: NumberWriter, ratio: float | None) -> NumberText:
    """A ratio of beliefs: no more digits than it is worth."""
    text = writer.number(ratio if ratio is None else float(f"{ratio:.3g}"))
    return text if text.number is None else NumberText(text.text, ratio)


def _how(part: ReportPart, attack: Attack) -> Iterator[Block]:
    """How beliefs were found, and what they started from."""
    texts = part.texts
    details = ReasoningDetails.of(attack)
    sampling = details.sampling
    places = {"model": texts(MODELS[details.likelihood])}
    if sampling is None:
        way = "reasoned.found_exact" if details.method == "exact" else "reasoned.found_closed"
    else:
        way = "reasoned.found_sampled" if details.converged else "reasoned.found_apart"
        places |= {"chains": count(sampling.chains), "sweeps": count(sampling.sweeps)}
    yield Paragraph(texts(way, **places))
    prior = details.largest_prior
    own = details.records_a_secret
    counts = {"prior": digits(f"{prior:,.0f}"), "records": digits(f"{own:,.4g}")}
    yield Paragraph(texts("reasoned.prior", **counts))
    notes = {
        "reasoned.strong_prior": prior > own,
        "reasoned.domain_observed": details.observed_domain,
        "reasoned.unplaced": state(attack) == "named",
    }
    yield from (Paragraph(texts(key), "note") for key, true in notes.items() if true)


def _chains(part: ReportPart, secret: str, attack: Attack, *, drawn: bool) -> Iterator[Block]:
    """How well the chains agree, and how they came to it."""
    texts = part.texts
    writer = part.writer
    details = ReasoningDetails.of(attack)
    sampling = details.sampling
    if sampling is None:
        return
    by_chain = sampling.by_chain
    if not details.converged and by_chain:
        hopes = sampling.least_agreed.endswith("expects")  # without the original
        key = "reasoned.not_converged_hopes" if hopes else "reasoned.not_converged_spread"
        ends = {"low": writer.share(min(by_chain)), "high": writer.share(max(by_chain))}
        yield Paragraph(texts(key, **ends))
    rhat = sampling.rhat
    places = {
        "limit": RHAT,
        "least": digits(f"{ESS:.0f}"),
        "effective": digits(f"{sampling.effective:,.0f}"),
        "rhat": "" if rhat is None else digits(f"{rhat:.3f}"),
    }
    settled = "reasoned.settled_unbounded" if rhat is None else "reasoned.settled"
    yield Paragraph(texts(settled, **places))
    if sampling.so_far:
        yield from _running(part, secret, sampling, drawn)


def _running(
    part: ReportPart, secret: str, sampling: ChainsOfReasoning, drawn: bool
) -> Iterator[Block]:
    """Running means of the number on which chains agree least."""
    texts = part.texts
    writer = part.writer
    places = sampling.so_far
    quantity = texts(QUANTITIES[sampling.least_agreed])
    yield Paragraph(texts("reasoned.running_least", quantity=quantity))
    chains = range(1, len(places[0].by_chain) + 1)
    names = make_unique(texts("reasoned.chain", number=c) for c in chains)
    means = [(place.sweeps, [writer.share(mean) for mean in place.by_chain]) for place in places]
    title = texts("reasoned.running_chart", secret=writer.name(secret))
    across = texts("reasoned.running_across")
    rows = ((count(sweeps), *row) for sweeps, row in means)
    grid = make_grid(title, (across, *names), rows, range(len(names) + 1), folded=True)
    points = {}
    for c, chain in enumerate(names):
        by_sweeps = [(float(sweeps), row[c].number) for sweeps, row in means]
        points[chain] = [(sweeps, mean) for sweeps, mean in by_sweeps if mean is not None]
    if not drawn:
        yield grid
        return
    below = texts("reasoned.running_below")
    up = texts("reasoned.running_up")
    spec = running(title, (below,), points, across=across, up=up)
    yield Picture(
        spec=spec, caption=texts("reasoned.running_caption"), behind=grid, name=("chains", secret)
    )


def _sensitivity(part: ReportPart, attack: Attack) -> Iterator[Block]:
    """The same release with other weights of the prior."""
    lines = ReasoningDetails.of(attack).sensitivity
    if lines:
        share = part.writer.share
        rows = (
            (
                part.writer.number(line.beta),
                share(line.attacker_accuracy),
                share(line.learner_accuracy),
                share(line.global_relative_risk),
                share(line.global_relative_risk_literal),
            )
            for line in lines
        )
        texts = part.texts
        heads = (
            texts("reasoned.sensitivity_beta"),
            texts("reasoned.sensitivity_attacker"),
            texts("reasoned.sensitivity_learner"),
            texts("reasoned.sensitivity_relative"),
            texts("reasoned.sensitivity_ties"),
        )
        yield make_grid(texts("reasoned.sensitivity"), heads, rows, range(len(heads)))
        yield Paragraph(texts("reasoned.sensitivity_reading"), "reading")
