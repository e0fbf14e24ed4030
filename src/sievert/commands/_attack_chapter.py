"""The lines of attacks: the sentence of each first, then its numbers.

They are a part of an assessment and of the result of `attack`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sievert.attacks.attack import Attack, Attacks, Column, Group, Listed
from sievert.commands._terminal import RISKY, number_line, number_text, reason_text, wrap_all
from sievert.formatting import percent, plural, printable, wrap
from sievert.measures.measure import Value

# what is shown of a part
FIRST_NUMBERS = (
    "semantic_discrimination_rate",
    "people",
    "certain",
    "single",
    "true_matches",
    "false_matches",
)
# of somebody who reasons
REASONING_NUMBERS = (
    "attacker_accuracy",
    "attacker_expects",
    "learner_accuracy",
    "baseline",
    "global_relative_risk",
    "max_relative_risk",
    "undecided",
)
COMMONEST = {"baseline": "Guessing the commonest"}
FEW = 3
BOXES = {
    "black_box": "Identity, black box: the released columns alone",
    "grey_box": "Identity, grey box: a register that shares columns",
    "white_box": "Identity, white box: the original, record by record",
    "linkage": "Linkage: each released record to its nearest original",
}
HEADS = {
    "homogeneity": "Homogeneity: what the columns tell about {}",
    "background": "Background knowledge: what is still missing about {}",
    "skewness": "Skewness: {} in a class against the whole table",
    "semantic": "Semantic: {} after values are merged by meaning",
    "reasoning": "Reasoning: {} by Bayes' rule from the release itself",
}
TITLES = {
    "discrimination_rate": "Discrimination rate (DR)",
    "register_discrimination_rate": "DR for the rows of the register",
    "semantic_discrimination_rate": "Semantic discrimination rate",
    "discrimination_rate_of_value": "DR of the class (its share)",
    "conditional_entropy": "Bits still missing there",
    "confidence": "Best guess right there",
    "candidates": "Fewest candidates",
    "people": "People concerned",
    "missing": "Still missing (1 - DR)",
    "missing_after": "Still missing then",
    "certain": "Certain then",
    "gain": "Gain in probability",
    "prior": "Probability in the table",
    "posterior": "Probability in the class",
    "ratio": "Times as likely",
    "t_closeness": "Distance to the table (t)",
    "entropy_variation": "Entropy variation",
    "parts": "Parts",
    "rows": "Rows of the register",
    "unmatched": "Rows without a candidate",
    "single": "Rows with exactly one candidate",
    "suppressed": "Records that may be anybody",
    "known": "Rows of people in the release",
    "true_matches": "True matches",
    "false_matches": "False matches",
    "lost": "Own record is no candidate",
    "right_guesses": "Found by guessing among candidates",
    "correct_linkage": "Linked to the right record",
    "spruill_confidentiality": "Not linked to it",
    "baseline": "By chance alone",
    "attacker_accuracy": "Named by the attacker",
    "attacker_accuracy_literal": "Named, every tie counted",
    "attacker_expects": "Expected to be named",
    "learner_accuracy": "Named by an honest learner",
    "learner_accuracy_literal": "The learner's, every tie counted",
    "global_relative_risk": "Global relative risk (GR)",
    "global_relative_risk_literal": "GR, every tie counted",
    "max_relative_risk": "Largest relative risk",
    "at_risk": "People at risk",
    "undecided": "Undecided",
}
SHORT = {
    "discrimination_rate_of_value": "DR",
    "missing": "1 - DR",
    "prior": "in the table",
    "posterior": "in a class",
    "gain": "gain",
    "ratio": "times",
    "semantic_discrimination_rate": "semantic DR",
}
PARTS = {
    "ruled_out_1": "If the likeliest value can be ruled out",
    "ruled_out_2": "If the two likeliest values can be ruled out",
    "ruled_out_3": "If the three likeliest values can be ruled out",
    "without_suppressed": "Without the records that hide all shared columns",
    "partition": "By the partition",
    "skewness": "In a class against the whole table",
}


def attack_lines(
    attacks: Attacks, records: int, *, width: int = 100, everything: bool = False
) -> list[str]:
    """The attacks, a sentence first; without `everything` only the first numbers of each."""
    lines = ["", "What somebody could do with this release"]
    for name, each in attacks.items():
        for target, attack in each.items():
            title = BOXES[target] if name == "identity" else HEADS[name].format(printable(target))
            rows = attack.numbers.get("rows")  # a register has people of its own
            people = records if rows is None else int(rows.value or 1)
            lines += ["", f"  {title}"]
            lines += (
                _reasoning_lines(attack, people, width, everything)
                if name == "reasoning"
                else _attack(attack, people, width, "    ", everything)
            )
    return lines


def _reasoning_lines(attack: Attack, records: int, width: int, everything: bool) -> list[str]:
    """Attacker and learner: their numbers, who is worst off, and how it was found."""
    indent, details = "    ", attack.details
    if "randomised" in details:
        return wrap(attack.reading, width, indent)
    names = attack.numbers if everything else [n for n in REASONING_NUMBERS if n in attack.numbers]
    worst = [
        f"row {one['row']:,}: {percent(one['attacker'])} against the learner's "
        f"{percent(one['learner'])}, {one['relative_risk']:.3g} times as much"
        for one in details["worst"][: None if everything else FEW]
    ]
    sensitivity = [
        f"With weight {line['beta']:g} a value: learner {percent(line['learner_accuracy'])}, "
        f"GR {percent(line['global_relative_risk'])} "
        f"({percent(line['global_relative_risk_literal'])} with every tie counted)."
        for line in details.get("sensitivity", ())
    ]
    return [
        *wrap(attack.reading, width, indent),
        *(_line(attack.numbers[name], records, indent, COMMONEST.get(name)) for name in names),
        *([f"{indent}Worst off, by relative risk"] if worst else []),
        *wrap_all(worst, width, indent + "  ", indent + "    "),
        *wrap_all([_method_text(details), *sensitivity], width, indent),
    ]


def _method_text(details: Mapping[str, Any]) -> str:
    """How beliefs were found, and what they started from."""
    sampling = details.get("sampling")
    if sampling is None:
        ways = {"closed form": "in closed form", "exact": "by counting all possible tables"}
        how = f"Found {ways[details['method']]}"
    else:
        rhat = "unbounded" if sampling["rhat"] is None else f"{sampling['rhat']:.3f}"
        how = (
            f"Sampled: {sampling['chains']} chains of {sampling['sweeps']:,} sweeps, R-hat {rhat}, "
            f"{sampling['effective']:,.0f} effective"
        )
    most, records = max(details["prior_records_a_secret"].values()), details["records_a_secret"]
    heavy = " The prior outweighs the data: the learner may learn little, and GR be large."
    return (
        f"{how}; {details['likelihood']} model. A prior counts as up to {most:,.0f} records for "
        f"each secret, which has {records:,.4g} on average.{heavy if most > records else ''}"
    )


def _attack(attack: Attack, records: int, width: int, indent: str, everything: bool) -> list[str]:
    lines = wrap(attack.reading, width, indent) if attack.numbers else []
    lines += [_line(v, records, indent) for v in attack.numbers.values()]
    if attack.worst is not None:
        title, after = "Worst class", "records; risky when low"
        if "rows" in attack.numbers:
            title, after = "Worst class of the register", "rows; no risky side"
        lines.append(number_line(f"{indent[2:]}{title}", f"{attack.worst.records:,}", after))
        lines += _worst(attack.worst, records, width, indent, everything)
    for name, column in attack.columns.items():
        lines += _column(name, column, width, everything, indent)
    if attack.values is not None and everything:
        lines += [f"{indent}Values, worst first", *_list(attack.values, width, indent + "  ")]
    inner = indent + "  "
    for name, part in attack.parts.items():
        first = (_line(part.numbers[n], records, inner) for n in FIRST_NUMBERS if n in part.numbers)
        lines.append(indent + (PARTS.get(name) or f"By {name.replace('_', ' ')} of the hierarchy"))
        lines += (
            _attack(part, records, width, inner, everything)
            if everything
            else [*wrap(part.reading, width, inner), *first]
        )
    return lines


def unit(value: Value) -> str:
    """The unit in words; a number without one is a share or a ratio."""
    if value.unit != "1":
        return value.unit
    return "ratio" if value.id in ("ratio", "max_relative_risk") else "share, 0 to 1"


def _line(value: Value, records: int, indent: str, called: str | None = None) -> str:
    title = f"{indent[2:]}{called or TITLES[value.id]}"
    if value.value is None:
        return number_line(title, number_text(value), reason_text(value.reason))
    of = f" = {percent(value.value / records)}" if value.unit == "people" else ""
    return number_line(title, number_text(value), f"{unit(value)}{of}; {RISKY[value.riskier]}")


def _worst(worst: Group, records: int, width: int, indent: str, everything: bool) -> list[str]:
    values = [] if worst.values is None else [_values(worst)]
    numbers = worst.numbers.values() if everything else ()
    lines = wrap_all(values, width, indent + "  ", indent + "    ")
    return lines + [_line(v, records, indent + "  ") for v in numbers]


def _values(group: Group) -> str:
    return ", ".join(
        f"{printable(c)} = {'missing' if v is None else printable(v)}"
        for c, v in (group.values or {}).items()
    )


def _column(name: str, column: Column, width: int, everything: bool, indent: str) -> list[str]:
    value, title = column.number, f"{indent[2:]}  {printable(name)} alone"
    after = f"{unit(value)}; {RISKY[value.riskier]}; {plural(column.values.number, 'value')}"
    lines = [number_line(title, number_text(value), after)]
    return lines + (_list(column.values, width, indent + "    ") if everything else [])


def _list(listed: Listed, width: int, indent: str) -> list[str]:
    texts = [
        f"{who}{plural(group.records, 'record')}: {numbers}"
        for group in listed.groups
        for who in [f"{_values(group)}: " if group.values is not None else ""]
        for numbers in [
            ", ".join(f"{SHORT[v.id]} {number_text(v)}" for v in group.numbers.values())
        ]
    ]
    lines, more = wrap_all(texts, width, indent, indent + "  "), listed.number - len(listed.groups)
    return [*lines, f"{indent}and {more:,} more"] if more > 0 else lines
