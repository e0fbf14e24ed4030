"""An assessment in words and numbers for a screen of 100 columns: first what a decision needs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sievert.commands._attack_chapter import attack_lines
from sievert.commands._terminal import (
    RISKY,
    heading_lines,
    limit_lines,
    note_lines,
    number_line,
    number_text,
    reason_text,
    unit_text,
)
from sievert.formatting import percent, plural, printable, significant, wrap
from sievert.measures import BY_ID, MEASURES
from sievert.measures.measure import SUPPRESSED, UNBOUNDED

if TYPE_CHECKING:
    from sievert.commands.assess.result import Assessment
    from sievert.measures.measure import Value
HEADLINES = (
    ("Highest confidence in a value", "max_confidence"),
    ("Different values in a class (l)", "l_diversity"),
    ("Distance to the table (t)", "t_closeness"),
    ("  values in their order", "t_closeness_ordered"),
    ("  by the hierarchy", "t_closeness_hierarchical"),
    ("Mutual information", "mutual_information"),
    ("Discrimination rate (DR)", "discrimination_rate"),
    ("  of the merged values", "semantic_discrimination_rate"),
)


def _row(title: str, value: Value, scale: str | None = None) -> str:
    if value.value is None and value.reason != UNBOUNDED:
        return number_line(title, number_text(value), reason_text(value.reason))
    return number_line(
        title, number_text(value), f"{scale or unit_text(value.id)}; {RISKY[value.riskier]}"
    )


# -- chapters -----------------------------------------------------------------------------------


def render(assessment: Assessment, *, width: int = 100, everything: bool = False) -> str:
    """The whole text."""
    lines = [*heading_lines(assessment, width), *_finding(assessment, width)]
    every_number = everything or not _headlines_complete(assessment)
    if secrets := _worst_first(assessment):
        lines += ["", "What an outsider learns who knows these columns (highest confidence first)"]
        for secret in secrets:
            lines += _secret(secret, assessment, width)
    if every_number:
        lines += _all(assessment)
    lines += _limits(assessment, width)
    lines += note_lines(assessment.warnings, width)
    if not every_number:
        lines += ["", "All numbers: --all. What a number means: sievert measures ID."]
    if assessment.attacks is not None:
        lines += attack_lines(
            assessment.attacks, assessment.rows, width=width, everything=everything
        )
    return "\n".join(lines)


RECORD_HEADLINES = {
    "classes",
    "k_anonymity",
    "unique_records",
    "records_below",
    "average_risk",
    "discrimination_rate",
    "itpr",
    "itpr_unnormalized",
}
SECRET_HEADLINES = {
    "max_confidence",
    "discrimination_rate",
    "itpr",
    "itpr_unnormalized",
    "bayes_vulnerability_prior",
    "bayes_vulnerability_posterior",
}


SENTENCED = {
    "max_confidence",
    "bayes_vulnerability_prior",
    "bayes_vulnerability_posterior",
}


def _headlines_complete(found: Assessment) -> bool:
    """Whether the numbers of the first screen were all computed; a part of them is a table."""
    if found.table.get("missing") == "wildcard" and "classes" not in found.reidentification:
        return True
    return set(found.reidentification) >= RECORD_HEADLINES and all(
        set(values) >= SECRET_HEADLINES for values in found.inference.values()
    )


def _finding(found: Assessment, width: int) -> list[str]:
    values = found.reidentification
    if found.table.get("missing") == "wildcard" and "classes" not in values:
        return _under_wildcards(values)
    if not set(values) >= RECORD_HEADLINES:
        return []
    k, unique = values["k_anonymity"], values["unique_records"]
    alone, share = unique.details.get("records"), float(unique.value or 0)
    lines = ["", "How easily a person is found"]
    lines.append(_row("Classes (combinations that occur)", values["classes"]))
    lines.append(_row("Smallest class (k)", k))
    if k.details.get("wildcard") is not None:
        text = f"{k.details['wildcard']:,}"
        lines.append(
            number_line("  if a missing value matches any", text, "records; risky when low")
        )
    if alone is None:
        lines.append(_row("Unique records", unique))
    else:
        after = f"records = {percent(share)}; risky when high"
        lines.append(number_line("Unique records", f"{alone:,}", after))
    for limit, records in values["records_below"].details["by_k"].items():
        if int(limit) > 2:
            title = f"Records in classes below {limit}"
            shown = "withheld" if records is None else f"{records:,}"
            lines.append(number_line(title, shown, "records; risky when high"))
    lines.append(_row("Average risk of a record", values["average_risk"]))
    lines.append(_row("Discrimination rate (DR)", values["discrimination_rate"]))
    lines += _itpr(values, found)
    if alone is None or (k.value is None and not alone):
        return lines
    if alone == 1:
        sentence = f"1 of {plural(found.rows, 'person').replace('persons', 'people')} is alone"
        sentence += f" ({percent(share)})"
    elif alone:
        at_least = "At least " if "shared" in found.table else ""
        who = f"{at_least}{alone:,} of {found.rows:,} people ({percent(share)})"
        sentence = f"{who} are the only one like them"
    else:
        sentence = f"Nobody is alone; the smallest group that looks alike has {k.value:,} people"
    rate = values["discrimination_rate"].value
    if rate is not None:
        gone = percent(float(rate))
        sentence += f". The columns remove {gone} of the uncertainty about who a record is"
    return [*lines, *wrap(sentence + ".", width, "  ")]


def _under_wildcards(values: Mapping[str, Value]) -> list[str]:
    lines = ["", "How easily a person is found (a missing value matches anything)"]
    if "k_anonymity" in values:
        lines.append(_row("Fewest records anybody matches (k)", values["k_anonymity"]))
    if "records_below" in values:
        for limit, records in values["records_below"].details["by_k"].items():
            title = f"Records that match fewer than {limit}"
            shown = "withheld" if records is None else f"{records:,}"
            lines.append(number_line(title, shown, "records; risky when high"))
    return lines


def _itpr(values: Mapping[str, Value], found: Assessment) -> list[str]:
    """ITPR never stands alone: k, K, eq. 9 and DR are beside it."""
    classes = found.reidentification.get("classes")
    k = found.reidentification.get("k_anonymity")
    lines = [_row("ITPR", values["itpr"])]
    size = "" if k is None else number_text(k) if k.value is None else f"= {number_text(k)}"
    if classes is not None and k is not None and classes.value is not None:
        scale = f"share, {significant(1 - 1 / float(classes.value or 1))} to 1"
        lines.append(_row("ITPR without K (its eq. 9)", values["itpr_unnormalized"], scale))
        lines.append(
            number_line("  read ITPR with", f"k {size}", f"K = {number_text(classes)} classes")
        )
    return lines


def _worst_first(found: Assessment) -> list[str]:
    def risk(secret: str) -> tuple[float, float]:
        values = found.inference[secret]
        rate = values["discrimination_rate"].value
        return float(values["max_confidence"].value or 0), 1.0 if rate is None else float(rate)

    complete = [s for s, v in found.inference.items() if set(v) >= SECRET_HEADLINES]
    return sorted(complete, key=risk, reverse=True)


def _secret(secret: str, found: Assessment, width: int) -> list[str]:
    values = found.inference[secret]
    lines = ["", f"  {printable(secret)}"]
    for sentence in _sentences(values):
        lines += wrap(sentence, width, "    ")
    for title, name in HEADLINES:
        if name in values:
            value = values[name]
            lines.append("  " + _row(title, value))
            known = value.details.get("without_missing")
            if known is not None and known != value.value:
                text = f"{known:,}" if isinstance(known, int) else significant(known)
                after = f"{unit_text(name)}; {RISKY[value.riskier]}"
                lines.append("  " + number_line("  without missing secrets", text, after))
    near = found.approximate.get(secret)
    if near is not None:
        lines += ["  " + line for line in _near(near)]
    return [*lines, *("  " + line for line in _itpr(values, found))]


def _near(near: Mapping[str, Any]) -> list[str]:
    """How near somebody comes to a secret number: bits, and how far apart the values left are."""
    worst, mean, whole = near["worst"], near["mean"]["records"], near["table"]
    area = (
        f"bits x unit; mean {significant(mean['area'])}, whole table {significant(whole['area'])}"
    )
    left = f"bits; mean {significant(mean['initial_entropy'])}"
    return [
        number_line("Area below H(epsilon), worst class", significant(worst["area"]), area),
        number_line("  bits left there (H0)", significant(worst["initial_entropy"]), left),
        number_line(
            "  values left there lie within", significant(worst["range"]), "risky when low"
        ),
    ]


def _sentences(values: Mapping[str, Value]) -> list[str]:
    rate = values["discrimination_rate"]
    if rate.value is None:
        return ["Everybody has the same value: it is known without any quasi-identifier."]
    found = values["max_confidence"]
    if any(v.reason == SUPPRESSED for v in values.values() if v.id in SENTENCED):
        return []
    known = found.details.get("without_missing")
    confidence = float((found.value if known is None else known) or 0)
    before = float(values["bayes_vulnerability_prior"].value or 0)
    after = float(values["bayes_vulnerability_posterior"].value or 0)
    whose = "everybody" if known is None else "everybody whose value is known"
    first = (
        f"In at least one class {whose} has the same value: whoever is placed there is known."
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
    for title, values in (("re-identification", found.reidentification), *found.inference.items()):
        lines += ["", f"  {printable(title)}"]
        lines.append(f"    {'measure':<36} {'value':>20}  {'unit':<14} riskier when")
        for measure in MEASURES:
            if measure.id in values:
                v = values[measure.id]
                told = "".join(f" ({p} = {v.details[p]})" for p in ("k", "l") if p in v.details)
                name = f"{v.id}{' (named value)' if 'named_value' in v.details else told}"
                text = number_text(v) if v.value is None else _digits(v.value)
                lines.append(f"    {name:<36} {text:>20}  {unit_text(v.id):<14} {v.riskier}")
                if v.value is None and v.reason != UNBOUNDED:
                    lines.append(f"      {reason_text(v.reason)}")
    return lines


def _digits(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.12g}"


def _limits(found: Assessment, width: int) -> list[str]:
    if not found.verdicts:
        return []
    breached = sum(v.met is False for v in found.verdicts)
    lines = ["", f"Limits of the policy: {breached} of {len(found.verdicts)} breached"]
    for v in sorted(found.verdicts, key=lambda v: v.met is not False):
        lines += limit_lines(v, width)
    return lines


def describe(ids: Iterable[str]) -> str:
    """What measures mean: one paragraph each."""
    blocks = []
    for name in ids:
        m = BY_ID[name]
        about = {
            ("record", "secret"): "finding a person, and each secret",
            ("record",): "finding a person",
            ("secret",): "each secret",
        }.get(m.kinds, "each class (sievert.discrimination_rate_by_value)")
        body = (
            f"{m.id}: {m.title}",
            f"  formula   {m.formula}",
            f"  range     {m.bounds}; {unit_text(name)}; {RISKY[m.riskier]}",
            f"  about     {about}",
            f"  reading   {m.reading}",
            f"  source    {m.source}",
        )
        wrapped = (textwrap.wrap(text, 100, subsequent_indent=" " * 12) for text in body)
        blocks.append("\n".join(line for lines in wrapped for line in lines))
    return "\n\n".join(blocks)
