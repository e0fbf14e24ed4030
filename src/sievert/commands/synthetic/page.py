"""The chapter of `synthetic`: what synthetic tables say of the people in the original."""

from collections.abc import Iterator
from typing import Any

from sievert.charts import Dot, risk_utility_chart
from sievert.commands.synthetic.attacks.attacks import ON_PEOPLE
from sievert.commands.synthetic.attacks.evidence import SyntheticAttack
from sievert.commands.synthetic.losses_chapter import columns_grid, models_grid
from sievert.commands.synthetic.result import AttackedTable, SyntheticAssessment
from sievert.formatting import count, digits, percent
from sievert.policy import Verdict
from sievert.report.alarms import alarm_names, attack_name
from sievert.report.limits import basis
from sievert.report.overview import Overview
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture, make_grid
from sievert.report.parts import NumberText, ReportPart

RARE = 0.001  # a chance below is not written out


def blocks(part: ReportPart) -> Iterator[Chapter]:
    """The ranking of several tables, then each of them: attacks, secrets, keys, comparison."""
    tables = part.read(SyntheticAssessment).tables
    several = len(tables) > 1
    reading = Paragraph(part.say("reading" if _controlled(part) else "reading_alone"), "reading")
    if several:
        keys = ("ranking_highest", "ranking_reading")[0 if _controlled(part) else 1 :]
        inner = (*_ranking(part), *(Paragraph(part.say(key), "reading") for key in keys))
        inner = (*inner, *basis(part))
        yield Chapter(
            title=part.say("ranking_title"),
            anchor=part.anchor("ranking"),
            blocks=inner,
            screen=True,
        )
    chapters = []
    for number, table in enumerate(tables, 1):
        title = part.say("table_title", table=_name(part, table)) if several else part.say("title")
        inner_blocks: tuple[Block, ...] = (
            *((reading,) if number == 1 else ()),
            *_limits(part, table),
            *(() if several else basis(part)),
            _attacks(part, table),
            *((Paragraph(part.say("attacks_reading"), "reading"),) if number == 1 else ()),
            *_secrets(part, table, folded=several),
            *_keys(part, table, folded=several),
            models_grid(part, table, folded=several),
            columns_grid(part, table),
            *_compared(part, table, first=number == 1),
        )
        anchor = f"{part.anchor('table')}{number}"
        chapters.append(
            Chapter(title=title, anchor=anchor, blocks=inner_blocks, screen=not several)
        )
    if several:
        yield Chapter(
            title=part.say("each_title"), anchor=part.anchor("each"), blocks=tuple(chapters)
        )
    else:
        yield from chapters
    linked = "linkability" in tables[0].results.attacks
    linking = "criterion_linking" if linked else "criterion_no_linking"
    criteria = ("criterion_singling", linking, "criterion_inferring")
    words = tuple(Paragraph(part.say(key)) for key in criteria)
    yield Chapter(title=part.say("criteria_title"), anchor=part.anchor("criteria"), blocks=words)
    not_tried = (Paragraph(part.say("not_tried")), Paragraph(part.say("no_number"), "note"))
    yield Chapter(
        title=part.say("not_tried_title"), anchor=part.anchor("not-tried"), blocks=not_tried
    )


def _controlled(part: ReportPart) -> bool:
    return part.read(SyntheticAssessment).control is not None


def _name(part: ReportPart, table: AttackedTable) -> str:
    """A table's file; of several tables the short names that tell them apart."""
    tables = part.read(SyntheticAssessment).tables
    if len(tables) == 1:
        return part.writer.file(table.name)
    at = next(i for i, each in enumerate(tables) if each is table)
    return part.read(Overview).release_names[at]


def facts(part: ReportPart) -> Iterator[tuple[str, str]]:
    """The tables to which the original is compared: the synthetic ones, and the control."""
    found = part.read(SyntheticAssessment)
    tables = found.tables
    if len(tables) == 1:
        rows = part.texts.number_of(tables[0].records, "row")
        yield part.say("fact_synthetic"), f"{_name(part, tables[0])}, {rows}"
    else:
        yield part.say("fact_several"), count(len(tables))
    people = found.control_people
    yield part.say("fact_control"), part.say("no_control") if people is None else count(people)


# -- sentences ------------------------------------------------------------------------------------


def points(part: ReportPart) -> list[tuple[str, str]]:
    """Whether traces were found, who is nearer than kin, and what is guessed."""
    table = _worst(part)
    if len(part.read(SyntheticAssessment).tables) > 1:
        what, why = _nearer(part, table)
        nearer = part.say("of_table", table=_name(part, table), what=what), why
        return [_traces(part, table), _extremes(part), nearer]
    guessed = _guessed(part, table)
    return [_traces(part, table), _nearer(part, table), *([guessed] if guessed else ())]


def _extremes(part: ReportPart) -> tuple[str, str]:
    """The table that tells least and the one that tells most, with what each has lost."""
    tables = sorted(
        part.read(SyntheticAssessment).tables, key=lambda table: (_told(part, table), _lost(table))
    )
    least = tables[0]
    most = tables[-1]
    share = part.writer.share
    values: dict[str, object] = {
        "least": _name(part, least),
        "least_told": share(_told(part, least)),
        "least_lost": share(_lost(least)),
        "most": _name(part, most),
        "most_told": share(_told(part, most)),
        "most_lost": share(_lost(most)),
    }
    controlled = _controlled(part)
    head = part.say("extremes" if controlled else "extremes_alone", **values)
    why = part.say("extremes_why" if controlled else "extremes_why_alone", **values)
    if len({len(table.columns) for table in tables}) > 1:
        why = f"{why} {part.say('extremes_columns')}"
    return head, why


def _worst(part: ReportPart) -> AttackedTable:
    """The table that membership sees most in."""
    return max(
        part.read(SyntheticAssessment).tables,
        key=lambda table: (len(table.alarms), _membership(table).original.rate),
    )


def _membership(table: AttackedTable) -> SyntheticAttack:
    """The attack that looks for rows that are nearer to a person than any other real person."""
    return table.results.attacks["membership"]


def _traces(part: ReportPart, table: AttackedTable) -> tuple[str, str]:
    """Whether the table carries traces of its people, or how many would have gone unseen."""
    name = _name(part, table)
    if not _controlled(part):
        return part.say("rates_only"), part.say("rates_only_why")
    alarms = table.alarms
    if alarms:
        what = part.texts.join(alarm_names(part, alarms, len(table.results.inference)))
        return part.say("traces", table=name), part.say("traces_why", attacks=what)
    unseen = part.writer.share(_membership(table).least_excess)
    return part.say("no_traces", table=name), part.say("no_traces_why", excess=unseen)


def _nearer(part: ReportPart, table: AttackedTable) -> tuple[str, str]:
    """Of how many people some synthetic row is a column nearer than any other real person."""
    writer = part.writer
    own = _membership(table).original
    other = _membership(table).control
    values = {
        "people": writer.count(own.people),
        "hits": writer.count(own.hits),
        "rate": writer.share(own.rate),
    }
    if other is None:
        return part.say("nearer", **values), part.say("nearer_alone", **values)
    values |= {
        "strangers": writer.count(other.people),
        "other_hits": writer.count(other.hits),
        "other_rate": writer.share(other.rate),
    }
    return part.say("nearer", **values), part.say("nearer_why", **values)


def _guessed(part: ReportPart, table: AttackedTable) -> tuple[str, str] | None:
    """The secret that is guessed best; with a control, of those better than a naive guess."""
    every = table.results.inference
    if not every:
        return None
    gain = {
        secret: (attack.original.rate or 0.0) - (attack.baseline or 0.0)
        for secret, attack in every.items()
    }
    own = gain
    if _controlled(part):  # below a naive guess a risk costs nobody anything
        hopeless = max(gain.values()) <= 0
        own = {
            secret: attack.risk or 0.0
            for secret, attack in every.items()
            if gain[secret] > 0 or hopeless
        }
    secret = max(own, key=lambda name: own[name])
    attack = every[secret]
    writer = part.writer
    values = {
        "secret": writer.name(secret),
        "rate": writer.share(attack.original.rate),
        "baseline": writer.share(attack.baseline),
    }
    if attack.control is None:
        return part.say("guessed", **values), part.say("guessed_alone", **values)
    values |= {
        "other": writer.share(attack.control.rate),
        "risk": writer.share(attack.risk),
    }
    why = "guessed_why" if (attack.risk or 0.0) > 0 else "guessed_nothing"
    return part.say("guessed", **values), part.say(why, **values)


# -- tables ---------------------------------------------------------------------------------------


def _row(part: ReportPart, name: str, attack: SyntheticAttack) -> tuple[object, ...]:
    """Rates of originals and strangers, a naive guess, and what their difference proves."""
    writer = part.writer
    other = attack.control
    rate = writer.share(attack.original.rate)
    baseline = _share(part, attack.baseline)
    if other is None:
        return name, rate, baseline
    risk: object = writer.share(attack.risk)
    if attack.low is not None and attack.high is not None:
        ends = {"low": writer.share(attack.low), "high": writer.share(attack.high)}
        risk = part.say("span", risk=risk, **ends)
    return (
        name,
        rate,
        writer.share(other.rate),
        baseline,
        risk,
        _chance(part, attack.p),
        _share(part, attack.least_excess),
    )


def _chance(part: ReportPart, p: float | None) -> object:
    """A p-value that can be read; what is tiny is not written out."""
    if p is None:
        return ""
    return NumberText(part.say("rare") if p < RARE else digits(f"{p:.2g}"), p)


def _heads(part: ReportPart, first: str) -> tuple[str, ...]:
    if not _controlled(part):
        return (first, "head_rate", "head_baseline")
    more = ("head_baseline", "head_risk_span", "head_p", "head_least")
    return (first, "head_rate", "head_control", *more)


def _attacks(part: ReportPart, table: AttackedTable) -> Grid:
    rows = [
        _row(part, attack_name(part, name), table.results.attacks[name])
        for name in ON_PEOPLE
        if name in table.results.attacks
    ]
    key = "attacks_table" if _controlled(part) else "attacks_table_alone"
    return part.grid(key, _heads(part, "head_attack"), rows)


def _secrets(part: ReportPart, table: AttackedTable, *, folded: bool) -> Iterator[Block]:
    every = table.results.inference
    if every:
        rows = [_row(part, part.writer.name(s), attack) for s, attack in every.items()]
        heads = _heads(part, "head_secret")
        if not _controlled(part):
            rows = [
                (*row, _share(part, attack.details.get("kin")))
                for row, attack in zip(rows, every.values(), strict=True)
            ]
            heads = (*heads, "head_kin")
        yield part.grid("secrets_table", heads, rows, folded=folded)


def _keys(part: ReportPart, table: AttackedTable, *, folded: bool) -> Iterator[Block]:
    every = table.results.disclosure
    if every:
        rows = [_row(part, part.writer.name(s), attack) for s, attack in every.items()]
        first = next(iter(every.values()))
        keys = part.texts.join([part.writer.name(key) for key in first.details["keys"]])
        heads = _heads(part, "head_secret")
        yield part.grid("keys_table", heads, rows, folded=folded, keys=keys)
        numbers = [
            (part.writer.name(s), *(_share(part, attack.details[name]) for name in KEY_NUMBERS))
            for s, attack in every.items()
        ]
        heads = ("head_secret", *KEY_NUMBERS.values())
        yield part.grid("key_numbers_table", heads, numbers, folded=True)


KEY_NUMBERS = {
    "cap": "head_cap",
    "cap_zero": "head_cap_zero",
    "gcap": "head_gcap",
    "tcap": "head_tcap",
    "unique_in_original": "head_unique_in_original",
    "replicated_uniques": "head_replicated_uniques",
}


def _share(part: ReportPart, value: Any) -> object:
    return "" if value is None else part.writer.share(value)


def _compared(part: ReportPart, table: AttackedTable, *, first: bool) -> Iterator[Block]:
    """Distances that others look at, and why they are not enough."""
    distances = _membership(table).details.get("distances")
    if distances is None:
        return
    rows = [(part.say(key), part.writer.number(distances[name])) for name, key in DISTANCES.items()]
    yield part.grid("distances_table", ("head_distance", "head_value"), rows, folded=True)
    if first:
        yield Paragraph(part.say("distances_reading"), "reading")


DISTANCES = {
    "dcr_auc": "distance_dcr_auc",
    "nndr_auc": "distance_nndr_auc",
    "dcr_share": "distance_dcr_share",
    "dcr_share_expected": "distance_dcr_share_expected",
}
STATES = {True: "limit_met", None: "limit_open", False: "limit_breached"}
WORST_FIRST = (False, None, True)
# What a limit on an attack is on.
LIMITED = {
    "rate": "number_rate",
    "risk": "number_risk",
    "high": "number_high",
    "least_excess": "number_least_excess",
    "p": "number_p",
}


def _limits(part: ReportPart, table: AttackedTable) -> Iterator[Block]:
    """The limits on attacks with their verdicts, what is not met first; all but p are shares."""
    limits = () if table.policy is None else table.policy.verdicts
    if limits:
        rows = [
            (
                part.say(STATES[verdict.met]),
                _limit_name(part, verdict.measure),
                _limited_value(part, verdict),
                _bound(part, verdict),
            )
            for verdict in sorted(limits, key=lambda verdict: WORST_FIRST.index(verdict.met))
        ]
        heads = ("head_verdict", "head_limited", "head_value", "head_bound")
        yield part.grid("limits_table", heads, rows, (2,))


def _limited_value(part: ReportPart, verdict: Verdict) -> object:
    """The number that a limit is on: a chance, or a share."""
    if verdict.measure.endswith(".p"):
        return _chance(part, verdict.value)
    return _share(part, verdict.value)


def _bound(part: ReportPart, verdict: Verdict) -> str:
    """What the policy asks for."""
    if verdict.max is None:
        return part.say("at_least", bound=digits(f"{verdict.min:g}"))
    return part.say("at_most", bound=percent(verdict.max))


def _limit_name(part: ReportPart, measure: str) -> str:
    attack, _, number = measure.rpartition(".")
    return f"{attack_name(part, attack)}: {part.say(LIMITED[number])}"


def _ranking(part: ReportPart) -> Iterator[Block]:
    """Every table in one row, the most telling first; what it tells against what it has lost."""
    writer = part.writer
    controlled = _controlled(part)
    names = part.read(Overview).release_names
    tables = zip(names, part.read(SyntheticAssessment).tables, strict=True)
    ranked = sorted(tables, key=lambda t: -_told(part, t[1]))
    rows = [
        (
            name,
            writer.count(len(table.columns)),
            *((writer.count(len(table.alarms)),) if controlled else ()),
            writer.share(_told(part, table)),
            writer.share(table.results.attacks["singling_out"].original.rate),
            writer.count(table.results.attacks["unique_copies"].original.hits),
            writer.share(table.lost.margins),
            _share(part, table.lost.pairs),
            _share(part, table.lost.association),
            _share(part, table.lost.of_largest),
            _share(part, table.lost.prediction),
        )
        for name, table in ranked
    ]
    height = "head_highest_risk" if controlled else "head_nearer"
    heads = ("head_table", "head_columns", *(("head_alarms",) if controlled else ()), height)
    more = (
        *("head_singled", "head_unique", "head_margins", "head_pairs"),
        *("head_association", "head_of_largest", "head_prediction"),
    )
    yield part.grid("ranking_table", (*heads, *more), rows)
    dots = [
        Dot(name=name, across=far, up=100 * max(0.0, _told(part, table)), interval=(far, far))
        for name, table in ranked
        for far in [100 * _lost(table)]
    ]
    spec = risk_utility_chart(
        part.say("map_chart"),
        [part.say("map_below")],
        dots,
        across=part.say("map_across"),
        up=part.say("map_up" if controlled else "map_up_alone"),
        said=lambda d: part.say(
            "map_dot", name=d.name, lost=percent(d.across / 100), told=percent(d.up / 100)
        ),
    )
    numbers = [(d.name, writer.share(d.across / 100), writer.share(d.up / 100)) for d in dots]
    head = (part.say("head_table"), part.say("head_pairs"), part.say(height))
    yield Picture(
        spec=spec,
        caption=part.say("map_see"),
        behind=make_grid(part.say("map_caption"), head, numbers),
    )


def _lost(table: AttackedTable) -> float:
    """How far pairs of columns are off: columns may be right one by one and their relations not."""
    lost = table.lost
    return float(lost.margins if lost.pairs is None else lost.pairs)


def _told(part: ReportPart, table: AttackedTable) -> float:
    """The highest risk of any attack; without a control, how many are nearer than their kin.

    Each attack sees something else: rows that are copied whole may leave membership in doubt.
    """
    if not _controlled(part):
        return float(_membership(table).original.rate or 0.0)
    attacks = table.results.attacks
    risks = [attacks[name].risk for name in ON_PEOPLE if name in attacks]
    return max(1.0 if risk is None else float(risk) for risk in risks)
