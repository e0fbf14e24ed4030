"""An assessment in words and numbers for a screen of 100 columns: first what a decision needs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sievert.csvfile import SHOWN
from sievert.measures import BY_ID, MEASURES

if TYPE_CHECKING:
    from sievert.assessment import Assessment, Value

ARROW = {"high": "risky when high", "low": "risky when low", "neither": ""}


def number(value: Value) -> str:
    """A number with the digits a reader can use, or why there is none."""
    if value.value is None:
        return value.reason or "undefined"
    if isinstance(value.value, int):
        return f"{value.value:,}"
    return significant(value.value)


def significant(x: float) -> str:
    """Four significant digits; certainty is never rounded to, or away.

    >>> [significant(x) for x in (1.0, 0.99999, 0.5, 0.0, 0.000123456, 1234.56)]
    ['1', '0.99999', '0.5', '0', '0.0001235', '1235']
    """
    digits = 4
    while digits < 17 and x != 1.0 and float(f"{x:.{digits}g}") == 1.0:
        digits += 1
    return f"{x:.{digits}g}"


def percent(share: float) -> str:
    """A share in per cent that never rounds something to nothing or to all."""
    if 0 < share < 0.0001:
        return "under 0.01 %"
    if 0.9999 < share < 1:
        return "over 99.99 %"
    return f"{100 * share:.3g} %"


def render(found: Assessment, *, width: int = 100, everything: bool = False) -> str:
    """The whole text."""
    lines: list[str] = []
    lines += _head(found, width)
    lines += _finding(found, width)
    if found.inference:
        lines += ["", "What an outsider learns who knows these columns (worst secret first)"]
        for secret in _worst_first(found):
            lines += _secret(secret, found.inference[secret], found, width)
    if everything:
        lines += _all(found)
    lines += _limits(found)
    if found.warnings:
        lines += ["", "Note"]
        for warning in found.warnings:
            lines += _wrap(warning, width, "  - ", "    ")
    if not everything:
        lines += ["", "All numbers: --all. What a number means: sievert measures ID."]
    return "\n".join(lines)


def _head(found: Assessment, width: int) -> list[str]:
    table = found.table
    how = f"{found.rows:,} records, {table['columns']} columns"
    if "delimiter" in table:
        delimiter = SHOWN.get(table["delimiter"], table["delimiter"])
        how += f", delimiter '{delimiter}', {table['encoding']}"
    text = [f"{table['name']}: {how}"]
    for title, names in (
        ("Quasi-identifiers (an outsider may know)", found.roles.quasi),
        ("Sensitive (secret)", found.roles.sensitive),
        ("Identifiers (dropped)", found.roles.identifier),
    ):
        if names:
            text += _wrap(f"{title}: {', '.join(names)}", width, "", "  ")
    return text


def _finding(found: Assessment, width: int) -> list[str]:
    values = found.reidentification
    if not values:
        return []
    k, unique = values["k_anonymity"], values["unique_records"]
    below = values["records_below"]
    alone = unique.details["records"]
    lines = ["", "How easily a person is found"]
    lines.append(_row("Classes (combinations that occur)", values["classes"]))
    lines.append(_row("Smallest class (k)", k))
    if "wildcard" in k.details and k.details["wildcard"] is not None:
        lines.append(
            _plain("  if a missing value matches any", f"{k.details['wildcard']:,}", "records")
        )
    share = float(unique.value or 0)
    lines.append(
        _plain("Unique records", f"{alone:,}", f"records = {percent(share)}; risky when high")
    )
    for limit, records in below.details["by_k"].items():
        if int(limit) > 2:
            lines.append(
                _plain(
                    f"Records in classes below {limit}", f"{records:,}", "records; risky when high"
                )
            )
    lines.append(_row("Average risk of a record", values["average_risk"]))
    lines.append(_row("Discrimination rate (DR)", values["discrimination_rate"]))
    lines.append(_row("ITPR", values["itpr"]))
    lines.append(_row("ITPR without K (eq. 9)", values["itpr_unnormalized"]))
    rate = values["discrimination_rate"].value
    sentence = (
        f"{alone:,} of {found.rows:,} people ({percent(share)}) are the only one like them"
        if alone
        else f"Nobody is alone; the smallest group that looks alike has {k.value:,} people"
    )
    if rate is not None:
        sentence += (
            f". The columns remove {percent(float(rate))} of the uncertainty about who a record is"
        )
    return [*lines, *_wrap(sentence + ".", width, "  ")]


def unit(measure_id: str) -> str:
    """The unit in words; a number without one is a share or a ratio."""
    m = BY_ID[measure_id]
    if m.unit != "1":
        return m.unit
    return "share, 0 to 1" if m.high == 1 else "ratio"


def _row(title: str, value: Value) -> str:
    return _plain(title, number(value), f"{unit(value.id)}; {ARROW[value.riskier]}")


def _wrap(text: str, width: int, indent: str, after: str | None = None) -> list[str]:
    """Wrapped lines that do not part a number from its per cent sign."""
    after = indent if after is None else after
    kept = text.replace(" %", "\xa0%")
    lines = textwrap.wrap(kept, width, initial_indent=indent, subsequent_indent=after)
    return [line.replace("\xa0", " ") for line in lines]


def _plain(title: str, text: str, after: str) -> str:
    return f"  {title:<36} {text:>12}  {after}".rstrip()


def _worst_first(found: Assessment) -> list[str]:
    def risk(secret: str) -> tuple[float, float]:
        values = found.inference[secret]
        rate = values["discrimination_rate"].value
        return (
            float(values["max_confidence"].value or 0),
            1.0 if rate is None else float(rate),
        )

    return sorted(found.inference, key=risk, reverse=True)


def _secret(secret: str, values: Mapping[str, Value], found: Assessment, width: int) -> list[str]:
    lines = ["", f"  {secret}"]
    for sentence in _sentences(values):
        lines += _wrap(sentence, width, "    ")
    for title, name in (
        ("Highest confidence in a value", "max_confidence"),
        ("Different values in a class (l)", "l_diversity"),
        ("Distance to the table (t)", "t_closeness"),
        ("  values in their order", "t_closeness_ordered"),
        ("  by the hierarchy", "t_closeness_hierarchical"),
        ("Discrimination rate (DR)", "discrimination_rate"),
        ("  of the merged values", "semantic_discrimination_rate"),
        ("ITPR", "itpr"),
        ("ITPR without K (eq. 9)", "itpr_unnormalized"),
        ("Mutual information", "mutual_information"),
        ("Right guesses, knowing nothing", "bayes_vulnerability_prior"),
        ("Right guesses, knowing the columns", "bayes_vulnerability_posterior"),
    ):
        if name in values:
            lines.append("  " + _row(title, values[name]))
            known = values[name].details.get("without_missing")
            if known is not None:
                text = f"{known:,}" if isinstance(known, int) else significant(known)
                lines.append("  " + _plain("  without missing secrets", text, ""))
    if found.reidentification:
        k, classes = found.reidentification["k_anonymity"], found.reidentification["classes"]
        beside = f"k = {number(k)}, K = {number(classes)} classes"
        lines.append("  " + _plain("  read ITPR beside", beside, ""))
    return lines


def _sentences(values: Mapping[str, Value]) -> list[str]:
    rate = values["discrimination_rate"]
    if rate.value is None:
        return ["Everybody has the same value: it is known without any quasi-identifier."]
    confidence = float(values["max_confidence"].value or 0)
    before = float(values["bayes_vulnerability_prior"].value or 0)
    after = float(values["bayes_vulnerability_posterior"].value or 0)
    first = (
        "In at least one class everybody has the same value: whoever is placed there is known."
        if confidence == 1.0
        else f"In the worst class a guess is right for {percent(confidence)} of the people."
    )
    return [
        first,
        f"A best guess is right for {percent(after)} of all people, against {percent(before)} by "
        f"guessing the most frequent value; {percent(float(rate.value))} of the uncertainty is "
        "gone.",
    ]


def _all(found: Assessment) -> list[str]:
    lines = ["", "Every number"]
    chapters = [("re-identification", found.reidentification), *found.inference.items()]
    for title, values in chapters:
        lines += ["", f"  {title}", f"    {'measure':<32} {'value':>22}  {'unit':<8} riskier"]
        for measure in MEASURES:
            if measure.id in values:
                v = values[measure.id]
                text = v.reason if v.value is None else _digits(v)
                lines.append(f"    {v.id:<32} {text:>22}  {v.unit:<8} {v.riskier}")
    return lines


def _digits(value: Value) -> str:
    return f"{value.value:,}" if isinstance(value.value, int) else f"{value.value:.12g}"


def _limits(found: Assessment) -> list[str]:
    if found.verdicts is None:
        return []
    breached = sum(v.met is False for v in found.verdicts)
    lines = ["", f"Limits of the policy: {breached} of {len(found.verdicts)} breached"]
    for v in sorted(found.verdicts, key=lambda v: v.met is not False):
        word = {True: "met", False: "BREACHED", None: "not evaluated"}[v.met]
        asked = " and ".join(
            f"{sign} {bound:g}"
            for sign, bound in ((">=", v.min), ("<=", v.max))
            if bound is not None
        )
        value = v.reason if v.value is None else significant(float(v.value))
        place = f"{v.measure} ({v.where.removeprefix('inference.')})"
        lines.append(f"  {word:<13} {place:<54} {value:>12}  limit {asked}")
    return lines


def describe(ids: Iterable[str]) -> str:
    """What measures mean: one paragraph each."""
    blocks = []
    for name in ids:
        m = BY_ID[name]
        kinds = {
            ("record", "secret"): "finding a person, and each secret",
            ("record",): "finding a person",
            ("secret",): "each secret",
        }.get(m.kinds, "each class (sievert.discrimination_rate_by_value)")
        body = [
            f"{m.id}: {m.title}",
            f"  formula   {m.formula}",
            f"  range     {m.bounds}, unit {m.unit}, {ARROW[m.riskier] or 'no risky side'}",
            f"  about     {kinds}",
            f"  reading   {m.reading}",
            f"  source    {m.source}",
        ]
        blocks.append(
            "\n".join(
                line
                for text in body
                for line in textwrap.wrap(text, 100, subsequent_indent=" " * 12)
            )
        )
    return "\n\n".join(blocks)
