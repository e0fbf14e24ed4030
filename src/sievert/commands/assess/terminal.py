"""An assessment in words and numbers for a screen of 100 columns: first what a decision needs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sievert.commands._attack_chapter import attack_lines
from sievert.commands._terminal import (
    RISKY,
    basis_lines,
    limit_lines,
    number_line,
    number_text,
    reason_lines,
    reason_text,
    unit_text,
    whole_text,
    wrap_all,
)
from sievert.commands.assess.result import Assessment
from sievert.formatting import percent, printable, significant, wrap
from sievert.measures import BY_ID, MEASURES
from sievert.measures.measure import UNBOUNDED, Value

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


ABOUT = {
    ("record", "secret"): "finding a person, and each secret",
    ("record",): "finding a person",
    ("secret",): "each secret",
}
OF_CLASSES = "each class (sievert.discrimination_rate_by_value)"
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
SENTENCED = {"max_confidence", "bayes_vulnerability_prior", "bayes_vulnerability_posterior"}
SECRET_HEADLINES = {*SENTENCED, "discrimination_rate", "itpr", "itpr_unnormalized"}


def _row(title: str, value: Value, scale: str | None = None) -> str:
    if value.value is None and value.reason != UNBOUNDED:
        return number_line(title, number_text(value), reason_text(value.reason))
    return number_line(
        title,
        number_text(value),
        f"{scale or unit_text(value.id, value.unit)}; {RISKY[value.riskier]}",
    )


# -- chapters -----------------------------------------------------------------------------------


def render(assessment: Assessment, *, width: int = 100, everything: bool = False) -> str:
    """The whole text."""
    every_number = everything or not _headlines_complete(assessment)
    lines = _identity(assessment, width)
    if secrets := _worst_first(assessment):
        lines += ["", "What an outsider learns who knows these columns (highest confidence first)"]
        for secret in secrets:
            lines += _secret(secret, assessment, width)
    lines += [*(_all(assessment) if every_number else []), *_limits(assessment, width)]
    more = "" if every_number else "All numbers: --all. What a number means: sievert measures ID."
    text = whole_text(assessment, lines, width, more)
    attacks, rows = assessment.attacks, assessment.rows
    if attacks is None:
        return text
    return "\n".join([text, *attack_lines(attacks, rows, width=width, everything=everything)])


def _under_wildcards(assessment: Assessment) -> bool:
    missing, numbers = assessment.table.get("missing"), assessment.reidentification
    return missing == "wildcard" and "classes" not in numbers


def _headlines_complete(assessment: Assessment) -> bool:
    """Whether the numbers of the first screen were all computed; a part of them is a table."""
    return _under_wildcards(assessment) or (
        set(assessment.reidentification) >= RECORD_HEADLINES
        and all(set(values) >= SECRET_HEADLINES for values in assessment.inference.values())
    )


def _identity(assessment: Assessment, width: int) -> list[str]:
    """How easily a person is found: numbers, then a sentence."""
    values, rows = assessment.reidentification, assessment.people
    one, many = ("person", "people") if "people" in assessment.table else ("record", "records")
    if _under_wildcards(assessment):
        lines = ["", "How easily a person is found (a missing value matches anything)"]
        if "k_anonymity" in values:
            lines.append(_row("Fewest records anybody matches (k)", values["k_anonymity"]))
        return [*lines, *_below(values, "Records that match fewer than {}", 1)]
    if not set(values) >= RECORD_HEADLINES:
        return []
    k, unique, rate = values["k_anonymity"], values["unique_records"], values["discrimination_rate"]
    wildcard, alone = k.details.get("wildcard"), unique.details["records"]
    share = percent(float(unique.value or 0))
    lines = [
        *("", "How easily a person is found"),
        _row("Classes (combinations that occur)", values["classes"]),
        _row("Smallest class (k)", k),
    ]
    if wildcard is not None:
        lines.append(_row("  if a missing value matches any", replace(k, value=wildcard)))
    lines += [
        number_line(f"Unique {many}", f"{alone:,}", f"{many} = {share}; risky when high"),
        *_below(values, many.capitalize() + " in classes below {}", 3),
        _row(f"Average risk of a {one}", values["average_risk"]),
        _row("Discrimination rate (DR)", rate),
        *_itpr(values, assessment),
        *_trajectory(assessment.trajectory),
    ]
    if k.value is None and not alone:
        return lines
    if alone == 1:
        sentence = f"1 of {'1 person' if rows == 1 else f'{rows:,} people'} is alone ({share})"
    elif alone:
        sentence = f"{alone:,} of {rows:,} people ({share}) are the only one like them"
    else:
        sentence = f"Nobody is alone; the smallest group that looks alike has {k.value:,} people"
    if rate.value is not None:
        gone = percent(float(rate.value))
        sentence += f". The columns remove {gone} of the uncertainty about who a {one} is"
    return [*lines, *wrap(sentence + ".", width, "  ")]


def _below(values: Mapping[str, Value], title: str, least: int) -> list[str]:
    """How many records are in classes below each k from `least` on."""
    by_k = values["records_below"].details["by_k"] if "records_below" in values else {}
    return [
        number_line(
            title.format(k),
            f"{records:,}",
            f"{values['records_below'].unit}; risky when high",
        )
        for k, records in by_k.items()
        if int(k) >= least
    ]


def _trajectory(unicity: Mapping[str, Any] | None) -> list[str]:
    """How often some of a person's classes are nobody else's."""
    if unicity is None:
        return []
    title, after = f"Unicity of {unicity['sightings']} sightings", "share, 0 to 1; risky when high"
    if not unicity["exact"]:
        ends = " to ".join(significant(unicity[end]) for end in ("low", "high"))
        after += f"; sampled, 95 %: {ends}"
    return [number_line(title, significant(unicity["value"]), after)]


def _itpr(values: Mapping[str, Value], assessment: Assessment) -> list[str]:
    """ITPR never stands alone: k, K, eq. 9 and DR are beside it."""
    classes, k = map(assessment.reidentification.get, ("classes", "k_anonymity"))
    lines = [_row("ITPR", values["itpr"])]
    if classes is None or classes.value is None or k is None:
        return lines
    size = number_text(k) if k.value is None else f"= {number_text(k)}"
    return [
        *lines,
        _row(
            "ITPR without K (its eq. 9)",
            values["itpr_unnormalized"],
            f"share, {significant(1 - 1 / float(classes.value or 1))} to 1",
        ),
        number_line("  read ITPR with", f"k {size}", f"K = {number_text(classes)} classes"),
    ]


def _worst_first(assessment: Assessment) -> list[str]:
    def risk(secret: str) -> tuple[float, float]:
        values = assessment.inference[secret]
        rate = values["discrimination_rate"].value
        return float(values["max_confidence"].value or 0), 1.0 if rate is None else float(rate)

    return sorted(
        [s for s, v in assessment.inference.items() if set(v) >= SECRET_HEADLINES],
        key=risk,
        reverse=True,
    )


def _secret(secret: str, assessment: Assessment, width: int) -> list[str]:
    values = assessment.inference[secret]
    rows: list[str] = []
    for title, name in HEADLINES:
        if (value := values.get(name)) is not None:
            rows.append(_row(title, value))
            known = value.details.get("without_missing")
            if known is not None and known != value.value:
                rows.append(_row("  without missing secrets", replace(value, value=known)))
    if secret in assessment.approximate:
        rows += _near(assessment.approximate[secret])
    rows += _itpr(values, assessment)
    sentences = wrap_all(_sentences(values), width, "    ")
    return ["", f"  {printable(secret)}", *sentences, *(f"  {row}" for row in rows)]


def _near(near: Mapping[str, Any]) -> list[str]:
    """How near somebody comes to a secret number: bits, and how far apart the values left are."""
    worst, mean, whole = near["worst"], near["mean"]["records"], near["table"]
    areas = f"mean {significant(mean['area'])}, whole table {significant(whole['area'])}"
    return [
        number_line(
            "Area below H(epsilon), worst class",
            significant(worst["area"]),
            f"bits x unit; {areas}",
        ),
        number_line(
            "  bits left there (H0)",
            significant(worst["initial_entropy"]),
            f"bits; mean {significant(mean['initial_entropy'])}",
        ),
        number_line(
            "  values left there lie within", significant(worst["range"]), "risky when low"
        ),
    ]


def _sentences(values: Mapping[str, Value]) -> list[str]:
    rate, best = values["discrimination_rate"], values["max_confidence"]
    if rate.value is None:
        return ["Everybody has the same value: it is known without any quasi-identifier."]
    known = best.details.get("without_missing")
    confidence = float((best.value if known is None else known) or 0)
    before, after = (
        percent(float(values[f"bayes_vulnerability_{when}"].value or 0))
        for when in ("prior", "posterior")
    )
    whose = "everybody" if known is None else "everybody whose value is known"
    return [
        f"In at least one class {whose} has the same value: whoever is placed there is known."
        if confidence == 1.0
        else f"In the worst class a guess is right for {percent(confidence)} of the people.",
        f"A best guess is right for {after} of all people, against {before} by "
        f"guessing the most frequent value; {percent(float(rate.value))} of the uncertainty is "
        "gone.",
    ]


def _all(assessment: Assessment) -> list[str]:
    chapters = (("re-identification", assessment.reidentification), *assessment.inference.items())
    lines = ["", "Every number"]
    for title, values in chapters:
        lines += ["", f"  {printable(title)}"]
        lines.append(f"    {'measure':<36} {'value':>20}  {'unit':<14} riskier when")
        for v in (values[m.id] for m in MEASURES if m.id in values):
            options = "".join(f" ({p} = {v.details[p]})" for p in ("k", "l") if p in v.details)
            name = f"{v.id}{' (named value)' if 'named_value' in v.details else options}"
            text = f"{v.value:.12g}" if isinstance(v.value, float) else number_text(v)
            lines.append(f"    {name:<36} {text:>20}  {unit_text(v.id, v.unit):<14} {v.riskier}")
            if v.value is None and v.reason != UNBOUNDED:
                lines.append(f"      {reason_text(v.reason)}")
    return lines


def _limits(assessment: Assessment, width: int) -> list[str]:
    policy = assessment.policy
    if policy is None:
        return []
    order = {False: 0, None: 1, True: 2}
    verdicts = sorted(policy.verdicts, key=lambda v: order[v.met])
    counts = f"{policy.breached} of {len(verdicts)} limits breached"
    counts += f", {policy.doubtful} undecided" if policy.doubtful else ""
    word = {True: "met", False: "NOT MET", None: "UNDECIDED"}[policy.met]
    return [
        *("", f"The policy: {word} ({counts})"),
        *reason_lines(policy, width),
        *(line for v in verdicts for line in limit_lines(v, width)),
        *basis_lines([policy], width),
    ]


def describe(ids: Iterable[str]) -> str:
    """What measures mean: one paragraph each."""
    blocks = (
        (
            f"{m.id}: {m.title}",
            f"  formula   {m.formula}",
            f"  range     {m.bounds}; {unit_text(m.id)}; {RISKY[m.riskier]}",
            f"  about     {ABOUT.get(m.kinds, OF_CLASSES)}",
            f"  reading   {m.reading}",
            f"  source    {m.source}",
        )
        for m in map(BY_ID.__getitem__, ids)
    )
    return "\n\n".join(
        "\n".join(textwrap.fill(text, 100, subsequent_indent=" " * 12) for text in block)
        for block in blocks
    )
