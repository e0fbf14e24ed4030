"""An explanation for a screen of 100 columns: first a few plain sentences, then the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sievert.commands._terminal import join_words, whole_text, wrap_all
from sievert.commands.explain.result import Explanation
from sievert.commands.explain.terminal_tables import ranking_table, tables, unique_count
from sievert.formatting import percent, plural, printable, significant, wrap

MORE = "Every subset, value and record: --all, --json. What it means: docs/explain.md."
NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
ESTIMATES = {
    "prosecutor": "Prosecutor: knows who is in the table",
    "journalist": "Journalist: knows somebody is",
    "marketer": "Marketer: matches everybody",
    "population_uniques_zayatz": "Unique in the population (Zayatz)",
    "population_uniques_pitman": "Unique in the population (Pitman)",
    "population_uniques_snb": "Unique in the population (SNB)",
    "population_uniques_dankar": "Unique in the population (Dankar)",
    "unique_match": "A match with a unique record is right",
    "unique_match_known": "The same, counted",
    "truta_minimal": "Truta, minimal",
    "truta_maximal": "Truta, maximal",
    "global_risk": "Individual risk, mean",
    "expected_reidentifications": "Expected re-identifications",
    "household_risk": "Household risk, mean",
}


def render(explanation: Explanation, *, width: int = 100, everything: bool = False) -> str:
    """The whole text."""
    lines, more = [], ""
    if explanation.subsets:
        more = "" if everything else MORE
        sentences = (
            *_identity_sentences(explanation),
            *_enough(explanation),
            *_coarsening(explanation),
            *_omission(explanation),
            *_secret_sentences(explanation),
            *_other_sentences(explanation),
        )
        lines = [
            *("", "In short", *wrap_all(sentences, width, "  ")),
            *tables(explanation, width, everything),
            *_population(explanation.chapters["population"], width),
        ]
    if explanation.chapters.get("ranking"):
        lines += ranking_table(explanation, width)
    return whole_text(explanation, lines, width, more)


def _names(columns: Sequence[str]) -> str:
    return join_words([printable(c) for c in columns])


def _short_names(columns: Sequence[str]) -> str:
    """The names, or their number where they are many."""
    return _names(columns) if len(columns) <= 5 else f"{len(columns)} columns"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _shares(shares: Mapping[str, Any]) -> str:
    """Which columns carry how much, in words."""
    parts = [(printable(c), part["share"] or 0.0) for c, part in shares["columns"].items()]
    parts.sort(key=lambda pair: -pair[1])
    words = [
        f"{c}{' carries' * (i == 0)} "  # in whole per cent, where that says enough
        + (f"{100 * x:.0f} %" if 0.01 <= x <= 0.99 else percent(max(0.0, x)))
        for i, (c, x) in enumerate(parts)
    ]
    if len(words) > 5:
        words[4:] = [f"the other {len(parts) - 4} columns the rest"]
    return join_words(words)


def _identity_sentences(explanation: Explanation) -> Iterator[str]:
    quasi, uniques = explanation.roles.quasi, unique_count(explanation.whole)
    if uniques:
        many = f"values of these {len(quasi)} columns" if len(quasi) > 5 else _names(quasi)
        people = explanation.people
        sentence = (
            f"{uniques:,} of {_people(people)} ({percent(uniques / people)}) "
            f"{'is' if uniques == 1 else 'are'} the only one with their {many}"
        )
        if explanation.roles.sensitive:
            secrets = _short_names(explanation.roles.sensitive)
            sentence += f": whoever finds them knows their {secrets}"
    else:
        k = int(explanation.whole.reidentification["k_anonymity"] or 0)
        sentence = (
            f"Nobody is alone: at least {k:,} people share every combination of "
            f"{_short_names(quasi)}"
        )
    yield sentence + "."
    shapley = explanation.chapters["shapley"]
    shares = shapley["reidentification"]["discrimination_rate"]
    if len(quasi) > 1 and shares["whole"]:
        sampled = "" if shapley["exact"] else " (sampled)"
        yield f"Of what tells people apart, {_shares(shares)}{sampled}."


def _enough(explanation: Explanation) -> list[str]:
    """How few columns single out most of the unique people."""
    whole = unique_count(explanation.whole)
    for size in range(1, len(explanation.roles.quasi) if whole else 0):
        best = max(
            [s for s in explanation.subsets if len(s.columns) == size],
            key=unique_count,
            default=None,
        )
        if best is not None and 2 * unique_count(best) >= whole:
            number = unique_count(best)
            return [
                f"Knowing {NUMBERS.get(size, str(size))} of them is enough for most: "
                f"{_names(best.columns)} {'is' if size == 1 else 'are'} all it takes to single "
                f"out {_people(number)} ({percent(number / explanation.people)})."
            ]
    return []


def _goal(explanation: Explanation) -> tuple[str, int, int, str]:
    """Which number a remedy changes, its value now, its sign (1: lower is better), its words."""
    whole = explanation.whole
    if unique_count(whole):
        return "unique_count", unique_count(whole), 1, "{:,} would be alone"
    return "k_anonymity", int(whole.reidentification["k_anonymity"] or 0), -1, "k would be {:,}"


def _coarsening(explanation: Explanation) -> list[str]:
    """What coarser columns would do, one by one and together."""
    name, now, sign, would = _goal(explanation)
    middle = [
        about["coarser"][(len(about["coarser"]) - 1) // 2]
        for about in explanation.chapters["columns"].values()
        if about["coarser"]
    ]
    better = [(sign * c["reidentification"][name], _coarser_column(c)) for c in middle]
    better = sorted((b for b in better if b[0] < sign * now), key=lambda b: b[0])
    if not better:
        return []
    sentence = f"With {better[0][1]}, {would.format(sign * better[0][0])} instead of {now:,}"
    for number, how in better[1:2]:
        sentence += f"; with {how}, {sign * number:,}"
    together = explanation.chapters.get("coarser_together")
    if together is not None:
        columns = [each["column"] for each in together["coarsened"]]
        both = len(columns) == len(better) == 2
        with_ = "both" if both else f"{_short_names(columns)} coarser"
        sentence += f"; with {with_}, {together['reidentification'][name]:,}"
    return [sentence + "."]


def _omission(explanation: Explanation) -> list[str]:
    """What leaving out one column would do."""
    name, now, sign, would = _goal(explanation)
    columns = explanation.chapters["columns"]
    left = {c: int(about["without"]["reidentification"][name]) for c, about in columns.items()}
    best = min(left, key=lambda c: sign * left[c])
    if len(columns) == 1 or sign * left[best] >= sign * now:
        return []
    return [
        f"Of leaving out one column, {printable(best)} would help most: {would.format(left[best])}."
    ]


def _coarser_column(coarser: Mapping[str, Any]) -> str:
    """A coarser column in words."""
    (about,) = coarser["coarsened"]
    column, how = printable(about["column"]), str(about["how"])
    merged = how.removesuffix(" merged")
    return f"{column} {how}" if merged == how else f"{merged} of {column} merged"


def _secret_sentences(explanation: Explanation) -> Iterator[str]:
    for secret, numbers in explanation.whole.inference.items():
        rate, name = numbers["discrimination_rate"], printable(secret)
        if rate is None:
            yield f"{name} has one value only: there is nothing to learn."
            continue
        shares = explanation.chapters["shapley"]["inference"][secret]["discrimination_rate"]
        several = len(explanation.roles.quasi) > 1 and shares["whole"]
        yield (
            f"The columns remove {percent(float(rate))} of the uncertainty about {name}"
            + (f"; {_shares(shares)} of that." if several else ".")
        )


def _other_sentences(explanation: Explanation) -> Iterator[str]:
    chapters, suda = explanation.chapters, explanation.chapters.get("suda")
    if suda and len(explanation.roles.quasi) > 1:
        few = [(int(s), n) for s, n in suda["records_by_smallest_msu"].items() if n]
        if words := [f"{n:,} by {NUMBERS.get(size, str(size))}" for size, n in few[:2]]:
            words[0] += " of their values alone"
            yield f"People singled out by few values: {', '.join(words)}."
    if typos := len(chapters["values"]["lookalikes"]):
        many = plural(typos, "rare value")
        yield f"{many} {'looks' if typos == 1 else 'look'} like a frequent one misspelt."
    estimate = chapters["population"].get("population_uniques_dankar")
    if estimate is not None and estimate["value"] is not None:
        model = estimate["details"].get("taken")
        yield (
            f"Among {chapters['population']['size']:,} people an estimated "
            f"{percent(estimate['value'])} would be alone "
            f"({f'model: {model}' if model else estimate['method']})."
        )


def _population(about: Mapping[str, Any], width: int) -> list[str]:
    lines = []
    if {"size", "global_risk", "household_risk"} & set(about):
        lines = ["", "In the population"]
        if "size" in about:
            share = percent(about["fraction"])
            lines[1] += f" of {about['size']:,}, of which the table is {share}"
        # Without a population table these two are as if nobody were outside the sample.
        hidden = () if "truta_maximal" in about else ("journalist", "marketer")
        lines += [
            _estimate(ESTIMATES[name], about[name])
            for name in ESTIMATES
            if name in about and name not in hidden
        ]
    for secret, flags in about["totals"].items():
        rule, other = flags["dominance"], flags["p_percent"]
        lines += ["", f"Totals of {printable(secret)} by class"]
        lines += wrap(
            f"in {rule['flagged']:,} of {plural(flags['classes'], 'class')} the {rule['n']} "
            f"largest make up more than {rule['k']} % ((n,k)-dominance); in {other['flagged']:,} "
            f"the largest can be estimated within {other['p']} % (p%-rule)",
            width,
            "  ",
        )
    return lines


def _estimate(title: str, estimate: Mapping[str, Any]) -> str:
    details, value = estimate["details"], estimate["value"]
    if value is None:
        return f"  {title:<40} {'undefined':>10}  {estimate['reason']}"
    after = f"{details['taken']} taken" if "taken" in details else ""
    for name, text in (("highest", "highest {}"), ("standard_error", "± {} (standard error)")):
        after = text.format(significant(details[name])) if name in details else after
    return f"  {title:<40} {significant(value):>10}  {after}".rstrip()
