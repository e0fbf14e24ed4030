"""The chapter of `synthetic`: what synthetic tables say of the people in the original."""

from collections.abc import Iterator
from typing import Any

from sievert.charts import Dot, risk_utility_chart
from sievert.commands.synthetic.losses_chapter import columns_grid, loss_of, models_grid
from sievert.formatting import count, digits, percent
from sievert.report.alarms import NAMES, alarm_names, attack_name
from sievert.report.limits import basis
from sievert.report.overview import Overview
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture, make_grid
from sievert.report.parts import Data, NumberText, ReportPart

RARE = 0.001  # a chance below is not written out
ONCE = ("copies", "unique_copies", "singling_out", "linkability", "membership")


def blocks(part: ReportPart) -> Iterator[Chapter]:
    """The ranking of several tables, then each of them: attacks, secrets, keys, comparison."""
    tables = part.data["synthetic"]
    several = len(tables) > 1
    reading = Paragraph(part.say("reading" if _controlled(part) else "reading_alone"), "reading")
    if several:
        keys = ("ranking_highest", "ranking_reading")[0 if _controlled(part) else 1 :]
        inner = (*_ranking(part), *(Paragraph(part.say(key), "reading") for key in keys))
        inner = (*inner, *basis(part))
        yield Chapter(part.say("ranking_title"), part.anchor("ranking"), inner, screen=True)
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
        chapters.append(Chapter(title, anchor, inner_blocks, screen=not several))
    if several:
        yield Chapter(part.say("each_title"), part.anchor("each"), tuple(chapters))
    else:
        yield from chapters
    linked = "linkability" in tables[0]["attacks"]
    linking = "criterion_linking" if linked else "criterion_no_linking"
    criteria = ("criterion_singling", linking, "criterion_inferring")
    words = tuple(Paragraph(part.say(key)) for key in criteria)
    yield Chapter(part.say("criteria_title"), part.anchor("criteria"), words)
    not_tried = (Paragraph(part.say("not_tried")), Paragraph(part.say("no_number"), "note"))
    yield Chapter(part.say("not_tried_title"), part.anchor("not-tried"), not_tried)


def _controlled(part: ReportPart) -> bool:
    return part.data["control"] is not None


def _name(part: ReportPart, table: Data) -> str:
    """A table's file; of several tables the short names that tell them apart."""
    tables = part.data["synthetic"]
    if len(tables) == 1:
        return part.writer.file(table["name"])
    at = next(i for i, each in enumerate(tables) if each is table)
    return part.read(Overview).release_names[at]


def facts(part: ReportPart) -> Iterator[tuple[str, str]]:
    """What the original is held against: the synthetic tables, and the control."""
    tables, control = part.data["synthetic"], part.data["control"]
    if len(tables) == 1:
        rows = part.texts.number_of(tables[0]["rows"], "row")
        yield part.say("fact_synthetic"), f"{_name(part, tables[0])}, {rows}"
    else:
        yield part.say("fact_several"), count(len(tables))
    people = part.say("no_control") if control is None else count(control["rows"])
    yield part.say("fact_control"), people


# -- sentences ------------------------------------------------------------------------------------


def points(part: ReportPart) -> list[tuple[str, str]]:
    """Whether traces were found, who is nearer than kin, and what is guessed."""
    table = _worst(part)
    if len(part.data["synthetic"]) > 1:
        what, why = _nearer(part, table)
        nearer = part.say("of_table", table=_name(part, table), what=what), why
        return [_traces(part, table), _extremes(part), nearer]
    guessed = _guessed(part, table)
    return [_traces(part, table), _nearer(part, table), *([guessed] if guessed else ())]


def _extremes(part: ReportPart) -> tuple[str, str]:
    """The table that tells least and the one that tells most, with what each has lost."""
    tables = sorted(part.data["synthetic"], key=lambda t: (_told(part, t), _lost(t)))
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
    if len({len(t["columns"]) for t in tables}) > 1:
        why = f"{why} {part.say('extremes_columns')}"
    return head, why


def _worst(part: ReportPart) -> Data:
    """The table that membership sees most in."""
    tables: list[Data] = part.data["synthetic"]
    return max(
        tables, key=lambda t: (len(t["alarms"]), t["attacks"]["membership"]["original"]["rate"])
    )


def _traces(part: ReportPart, table: Data) -> tuple[str, str]:
    """Whether the table carries traces of its people, or how many would have gone unseen."""
    name = _name(part, table)
    if not _controlled(part):
        return part.say("rates_only"), part.say("rates_only_why")
    if alarms := table["alarms"]:
        what = part.texts.join(alarm_names(part, alarms, len(table["attacks"]["inference"])))
        return part.say("traces", table=name), part.say("traces_why", attacks=what)
    unseen = part.writer.share(table["attacks"]["membership"]["least_excess"])
    return part.say("no_traces", table=name), part.say("no_traces_why", excess=unseen)


def _nearer(part: ReportPart, table: Data) -> tuple[str, str]:
    """Of how many people some synthetic row is a column nearer than any other real person."""
    attack, writer = table["attacks"]["membership"], part.writer
    own, other = attack["original"], attack["control"]
    values = {
        "people": writer.count(own["people"]),
        "hits": writer.count(own["hits"]),
        "rate": writer.share(own["rate"]),
    }
    if other is None:
        return part.say("nearer", **values), part.say("nearer_alone", **values)
    values |= {
        "strangers": writer.count(other["people"]),
        "other_hits": writer.count(other["hits"]),
        "other_rate": writer.share(other["rate"]),
    }
    return part.say("nearer", **values), part.say("nearer_why", **values)


def _guessed(part: ReportPart, table: Data) -> tuple[str, str] | None:
    """The secret that is guessed best; with a control, of those better than a naive guess."""
    every = table["attacks"]["inference"]
    if not every:
        return None
    gain = {s: a["original"]["rate"] - (a["baseline"] or 0.0) for s, a in every.items()}
    own = gain
    if _controlled(part):  # below a naive guess a risk costs nobody anything
        own = {
            s: a["risk"] or 0.0 for s, a in every.items() if gain[s] > 0 or max(gain.values()) <= 0
        }
    secret = max(own, key=lambda s: own[s])
    attack, writer = every[secret], part.writer
    values = {
        "secret": writer.name(secret),
        "rate": writer.share(attack["original"]["rate"]),
        "baseline": writer.share(attack["baseline"]),
    }
    if attack["control"] is None:
        return part.say("guessed", **values), part.say("guessed_alone", **values)
    values |= {
        "other": writer.share(attack["control"]["rate"]),
        "risk": writer.share(attack["risk"]),
    }
    why = "guessed_why" if (attack["risk"] or 0.0) > 0 else "guessed_nothing"
    return part.say("guessed", **values), part.say(why, **values)


# -- tables ---------------------------------------------------------------------------------------


def _row(part: ReportPart, name: str, attack: Data) -> tuple[object, ...]:
    """Rates of originals and strangers, a naive guess, and what their difference proves."""
    writer, other = part.writer, attack["control"]
    rate = writer.share(attack["original"]["rate"])
    baseline = _share(part, attack["baseline"])
    if other is None:
        return name, rate, baseline
    risk: object = writer.share(attack["risk"])
    if attack["low"] is not None and attack["high"] is not None:
        low, high = (writer.share(attack[end]) for end in ("low", "high"))
        risk = part.say("span", risk=risk, low=low, high=high)
    return (
        name,
        rate,
        writer.share(other["rate"]),
        baseline,
        risk,
        _chance(part, attack["p"]),
        _share(part, attack["least_excess"]),
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


def _attacks(part: ReportPart, table: Data) -> Grid:
    rows = [
        _row(part, part.say(NAMES[name]), table["attacks"][name])
        for name in ONCE
        if name in table["attacks"]
    ]
    key = "attacks_table" if _controlled(part) else "attacks_table_alone"
    return part.grid(key, _heads(part, "head_attack"), rows)


def _secrets(part: ReportPart, table: Data, *, folded: bool) -> Iterator[Block]:
    every = table["attacks"]["inference"]
    if every:
        rows = [_row(part, part.writer.name(s), attack) for s, attack in every.items()]
        heads = _heads(part, "head_secret")
        if not _controlled(part):
            rows = [
                (*row, _share(part, attack.get("kin")))
                for row, attack in zip(rows, every.values(), strict=True)
            ]
            heads = (*heads, "head_kin")
        yield part.grid("secrets_table", heads, rows, folded=folded)


def _keys(part: ReportPart, table: Data, *, folded: bool) -> Iterator[Block]:
    every = table["attacks"]["attribute_disclosure"]
    if every:
        rows = [_row(part, part.writer.name(s), attack) for s, attack in every.items()]
        keys = part.texts.join([part.writer.name(k) for k in next(iter(every.values()))["keys"]])
        heads = _heads(part, "head_secret")
        yield part.grid("keys_table", heads, rows, folded=folded, keys=keys)
        numbers = [
            (part.writer.name(s), *(_share(part, attack[name]) for name in KEY_NUMBERS))
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


def _compared(part: ReportPart, table: Data, *, first: bool) -> Iterator[Block]:
    """Distances that others look at, and why they are not enough."""
    if (distances := table["attacks"]["membership"].get("distances")) is None:
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
# What a limit on an attack is on.
LIMITED = {
    "rate": "number_rate",
    "risk": "number_risk",
    "high": "number_high",
    "least_excess": "number_least_excess",
    "p": "number_p",
}


def _limits(part: ReportPart, table: Data) -> Iterator[Block]:
    """The limits on attacks with their verdicts, what is not met first; all but p are shares."""
    limits = (table["policy"] or {}).get("limits", ())
    if limits:
        states = {True: "limit_met", None: "limit_open", False: "limit_breached"}
        rows = [
            (
                part.say(states[v["met"]]),
                _limit_name(part, v["measure"]),
                _chance(part, v["value"])
                if v["measure"].endswith(".p")
                else _share(part, v["value"]),
                part.say("at_least", bound=digits(f"{v['min']:g}"))
                if v["max"] is None
                else part.say("at_most", bound=percent(v["max"])),
            )
            for v in sorted(limits, key=lambda v: [False, None, True].index(v["met"]))
        ]
        heads = ("head_verdict", "head_limited", "head_value", "head_bound")
        yield part.grid("limits_table", heads, rows, (2,))


def _limit_name(part: ReportPart, measure: str) -> str:
    attack, _, number = measure.rpartition(".")
    return f"{attack_name(part, attack)}: {part.say(LIMITED[number])}"


# The losses of models in the ranking.
RANKED = {
    "association": "head_association",
    "of_largest": "head_of_largest",
    "prediction": "head_prediction",
}


def _ranking(part: ReportPart) -> Iterator[Block]:
    """Every table in one row, the most telling first; what it tells against what it has lost."""
    writer, controlled = part.writer, _controlled(part)
    tables = zip(part.read(Overview).release_names, part.data["synthetic"], strict=True)
    ranked = sorted(tables, key=lambda t: -_told(part, t[1]))
    rows = [
        (
            name,
            writer.count(len(table["columns"])),
            *((writer.count(len(table["alarms"])),) if controlled else ()),
            writer.share(_told(part, table)),
            writer.share(table["attacks"]["singling_out"]["original"]["rate"]),
            writer.count(table["attacks"]["unique_copies"]["original"]["hits"]),
            writer.share(table["utility"]["margins"]),
            _share(part, table["utility"]["pairs"]),
            *(_share(part, loss_of(table["utility"], name)) for name in RANKED),
        )
        for name, table in ranked
    ]
    height = "head_highest_risk" if controlled else "head_nearer"
    heads = ("head_table", "head_columns", *(("head_alarms",) if controlled else ()), height)
    more = ("head_singled", "head_unique", "head_margins", "head_pairs", *RANKED.values())
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
    yield Picture(spec, part.say("map_see"), make_grid(part.say("map_caption"), head, numbers))


def _lost(table: Data) -> float:
    """How far pairs of columns are off: columns may be right one by one and their relations not."""
    utility = table["utility"]
    return float(utility["margins"] if utility["pairs"] is None else utility["pairs"])


def _told(part: ReportPart, table: Data) -> float:
    """The highest risk of any attack; without a control, how many are nearer than their kin.

    Each attack sees something else: rows that are copied whole may leave membership in doubt.
    """
    attacks = table["attacks"]
    if not _controlled(part):
        return float(attacks["membership"]["original"]["rate"])
    risks = [attacks[name]["risk"] for name in ONCE if name in attacks]
    return max(1.0 if risk is None else float(risk) for risk in risks)
