"""The chapter of `synthetic`: what synthetic tables say of the people in the original."""

from collections.abc import Iterator
from typing import Any

from sievert.formatting import printable
from sievert.report.page import Block, Chapter, Grid, Paragraph
from sievert.report.parts import Data, ReportPart

FEW = 3  # columns whose inference is told first
ALARM = 0.05
ONCE = ("copies", "unique_copies", "singling_out", "linkability", "membership")


def blocks(part: ReportPart) -> Iterator[Chapter]:
    """The ranking of several tables, then each of them: attacks, secrets, keys, comparison."""
    tables = part.data["synthetic"]
    if len(tables) > 1:
        inner = (_ranking(part), Paragraph(part.say("ranking_reading"), "reading"))
        yield Chapter(part.say("ranking_title"), part.anchor("ranking"), inner, screen=True)
    for number, table in enumerate(tables, 1):
        name = _name(part, table)
        several = len(tables) > 1
        title = part.say("table_title", table=name) if several else part.say("title")
        inner_blocks: tuple[Block, ...] = (
            Paragraph(part.say("reading" if _controlled(part) else "reading_alone"), "reading"),
            *_limits(part, table),
            _attacks(part, table),
            *_secrets(part, table),
            *_keys(part, table),
            *_compared(part, table),
        )
        yield Chapter(title, part.anchor(f"table{number}"), inner_blocks, screen=number == 1)
    words = tuple(
        Paragraph(part.say(f"criterion_{c}")) for c in ("singling", "linking", "inferring")
    )
    yield Chapter(part.say("criteria_title"), part.anchor("criteria"), words)
    not_tried = (Paragraph(part.say("not_tried")), Paragraph(part.say("no_number"), "note"))
    yield Chapter(part.say("not_tried_title"), part.anchor("not-tried"), not_tried)


def _controlled(part: ReportPart) -> bool:
    return part.data["control"] is not None


def _name(part: ReportPart, table: Data) -> str:
    return part.writer.file(table["name"])


# -- sentences ------------------------------------------------------------------------------------


def points(part: ReportPart) -> list[tuple[str, str]]:
    """Whether traces were found, who is nearer than kin, and what is guessed."""
    table = _worst(part)
    findings = [_traces(part, table), _nearer(part, table)]
    if (guessed := _guessed(part, table)) is not None:
        findings.append(guessed)
    return findings


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
        what = part.texts.join([_attack_name(part, alarm) for alarm in alarms])
        return part.say("traces", table=name), part.say("traces_why", attacks=what)
    least = table["attacks"]["membership"]["least_excess"]
    unseen = part.writer.share(least)
    return part.say("no_traces", table=name), part.say("no_traces_why", excess=unseen)


def _attack_name(part: ReportPart, name: str) -> str:
    attack, _, secret = name.partition(".")
    if not secret:
        return part.say(f"name_{attack}")
    return part.say("name_of_secret", attack=part.say(f"name_{attack}"), secret=printable(secret))


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
    """The secret whose inference costs its people most."""
    every = table["attacks"]["inference"]
    if not every:
        return None
    own = {s: a["original"]["rate"] - (a["baseline"] or 0.0) for s, a in every.items()}
    if _controlled(part):
        own = {s: -1.0 if a["risk"] is None else a["risk"] for s, a in every.items()}
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
    return part.say("guessed", **values), part.say("guessed_why", **values)


# -- tables ---------------------------------------------------------------------------------------


def _row(part: ReportPart, name: str, attack: Data) -> tuple[object, ...]:
    """Rate, control, baseline, and what their difference proves."""
    writer, other = part.writer, attack["control"]
    own = (
        name,
        writer.count(attack["original"]["people"]),
        writer.share(attack["original"]["rate"]),
    )
    baseline = "" if attack["baseline"] is None else writer.share(attack["baseline"])
    if other is None:
        return (*own, baseline)
    span = ""
    if attack["low"] is not None and attack["high"] is not None:
        span = part.say("span", low=writer.share(attack["low"]), high=writer.share(attack["high"]))
    return (
        *own,
        writer.share(other["rate"]),
        baseline,
        writer.share(attack["risk"]),
        span,
        "" if attack["p"] is None else writer.number(attack["p"]),
        "" if attack["least_excess"] is None else writer.share(attack["least_excess"]),
    )


def _heads(part: ReportPart, first: str) -> tuple[str, ...]:
    if not _controlled(part):
        return (first, "head_people", "head_rate", "head_baseline")
    more = ("head_control", "head_baseline", "head_risk", "head_span", "head_p", "head_least")
    return (first, "head_people", "head_rate", *more)


def _attacks(part: ReportPart, table: Data) -> Grid:
    rows = [
        _row(part, part.say(f"name_{name}"), table["attacks"][name])
        for name in ONCE
        if name in table["attacks"]
    ]
    key = "attacks_table" if _controlled(part) else "attacks_table_alone"
    return part.grid(key, _heads(part, "head_attack"), rows)


def _secrets(part: ReportPart, table: Data) -> Iterator[Block]:
    every = table["attacks"]["inference"]
    if every:
        rows = [_row(part, part.writer.name(s), attack) for s, attack in every.items()]
        yield part.grid("secrets_table", _heads(part, "head_secret"), rows)


def _keys(part: ReportPart, table: Data) -> Iterator[Block]:
    every = table["attacks"]["attribute_disclosure"]
    if every:
        rows = [_row(part, part.writer.name(s), attack) for s, attack in every.items()]
        keys = part.texts.join([part.writer.name(k) for k in next(iter(every.values()))["keys"]])
        yield part.grid("keys_table", _heads(part, "head_secret"), rows, keys=keys)
        numbers = [
            (part.writer.name(s), *(_share(part, attack[name]) for name in KEY_NUMBERS))
            for s, attack in every.items()
        ]
        heads = ("head_secret", *(f"head_{name}" for name in KEY_NUMBERS))
        yield part.grid("key_numbers_table", heads, numbers, folded=True)


KEY_NUMBERS = ("cap", "cap_zero", "gcap", "tcap", "unique_in_original", "replicated_uniques")


def _share(part: ReportPart, value: Any) -> object:
    return "" if value is None else part.writer.share(value)


def _compared(part: ReportPart, table: Data) -> Iterator[Block]:
    """Distances that others look at, and why they are not enough."""
    if (distances := table["attacks"]["membership"].get("distances")) is None:
        return
    rows = [
        (part.say(f"distance_{name}"), part.writer.number(distances[name]))
        for name in ("dcr_auc", "nndr_auc", "dcr_share", "dcr_share_expected")
    ]
    yield part.grid("distances_table", ("head_distance", "head_value"), rows, folded=True)
    yield Paragraph(part.say("distances_reading"), "reading")


def _limits(part: ReportPart, table: Data) -> Iterator[Block]:
    """The limits on attacks, with their verdicts."""
    limits = (table["policy"] or {}).get("limits", ())
    if limits:
        rows = [
            (
                part.say(
                    f"limit_{'met' if v['met'] else 'open' if v['met'] is None else 'breached'}"
                ),
                _limit_name(part, v["measure"]),
                "" if v["value"] is None else part.writer.number(v["value"]),
                part.say("at_least", bound=f"{v['min']:g}")
                if v["max"] is None
                else part.say("at_most", bound=f"{v['max']:g}"),
            )
            for v in limits
        ]
        heads = ("head_verdict", "head_limited", "head_value", "head_bound")
        yield part.grid("limits_table", heads, rows, (2,))


def _limit_name(part: ReportPart, measure: str) -> str:
    attack, _, number = measure.rpartition(".")
    return f"{_attack_name(part, attack)}: {part.say(f'number_{number}')}"


def _ranking(part: ReportPart) -> Grid:
    """Every table in one row, the most telling first."""
    writer, rows = part.writer, []
    tables = sorted(
        part.data["synthetic"],
        key=lambda t: -t["attacks"]["membership"]["original"]["rate"],
    )
    for table in tables:
        attacks = table["attacks"]
        rows.append(
            (
                _name(part, table),
                writer.count(len(table["columns"])),
                writer.count(attacks["unique_copies"]["original"]["hits"]),
                writer.share(attacks["unique_copies"]["original"]["rate"]),
                writer.share(attacks["singling_out"]["original"]["rate"]),
                writer.share(attacks["membership"]["original"]["rate"]),
                *((writer.share(attacks["membership"]["risk"]),) if _controlled(part) else ()),
            )
        )
    heads = ("head_table", "head_columns", "head_unique", "head_unique_rate", "head_singled")
    more = ("head_nearer", *(("head_risk",) if _controlled(part) else ()))
    return part.grid("ranking_table", (*heads, *more), rows)
