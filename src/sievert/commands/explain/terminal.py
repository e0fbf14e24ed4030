"""An explanation in words and numbers for a screen of 100 columns: first a few plain sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from sievert.commands.assess.terminal import heading, notes
from sievert.formatting import percent, plural, printable, significant, wrap

if TYPE_CHECKING:
    from sievert.commands.explain.result import Explanation
    from sievert.commands.explain.subsets import Subset

MOST_COLUMNS = 12  # in a table of the first screen
MOST_SUBSETS = 10
MOST_RECORDS = 10
MOST_NAME = 40
NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def render(found: Explanation, *, width: int = 100, everything: bool = False) -> str:
    """The whole text."""
    lines = heading(cast(Any, found), width)
    if found.subsets:
        lines += ["", "In short"]
        for sentence in (*_about_people(found), *_about_secrets(found), *_about_more(found)):
            lines += wrap(sentence, width, "  ")
        lines += _columns(found, width, everything)
        lines += _curve(found)
        lines += _subsets(found, width, everything)
        lines += _coarser(found, width)
        lines += _values(found, width, everything)
        lines += _records(found, width, everything)
        lines += _population(found, width)
    if "ranking" in found.chapters:
        lines += _ranking(found, width)
    lines += notes(found.warnings, width)
    if found.subsets and not everything:
        lines += [
            "",
            "Every subset, value and record: --all, --json. What it means: docs/explain.md.",
        ]
    return "\n".join(lines)


# -- sentences ----------------------------------------------------------------------------------


def _listed(names: Sequence[str]) -> str:
    """Names as a sentence has them.

    >>> _listed(["age"]), _listed(["age", "sex"]), _listed(["age", "sex", "zip"])
    ('age', 'age and sex', 'age, sex and zip')
    """
    shown = [printable(n) for n in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _short(names: Sequence[str]) -> str:
    """The same, or their number where they are many."""
    return _listed(names) if len(names) <= 5 else f"{len(names)} columns"


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _alone(subset: Subset) -> int:
    return int(subset.reidentification["unique_count"] or 0)


def _about(share: float) -> str:
    """A share in whole per cent, where that says enough."""
    return f"{100 * share:.0f} %" if 0.01 <= share <= 0.99 else percent(max(0.0, share))


def _carried(shares: Mapping[str, Any]) -> str:
    """Which columns carry how much, in words."""
    held = [(c, part["share"] or 0.0) for c, part in shares["columns"].items()]
    parts = sorted(held, key=lambda pair: -pair[1])
    named = parts if len(parts) <= 5 else parts[:4]
    words = [f"{printable(c)} {_about(x)}" for c, x in named]
    words[0] = words[0].replace(printable(named[0][0]), f"{printable(named[0][0])} carries", 1)
    if len(parts) > len(named):
        words.append(f"the other {len(parts) - len(named)} columns the rest")
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _about_people(found: Explanation) -> list[str]:
    quasi, alone = found.roles.quasi, _alone(found.whole)
    if alone:
        who = f"{alone:,} of {_people(found.rows)} ({percent(alone / found.rows)})"
        many = f"values of these {len(quasi)} columns" if len(quasi) > 5 else _listed(quasi)
        sentence = f"{who} {'is' if alone == 1 else 'are'} the only one with their {many}"
        if found.roles.sensitive:
            sentence += f": whoever finds them knows their {_short(found.roles.sensitive)}"
    else:
        k = int(found.whole.reidentification["k_anonymity"] or 0)
        sentence = (
            f"Nobody is alone: at least {k:,} people share every combination of {_short(quasi)}"
        )
    sentences = [sentence + "."]
    shares = found.chapters["shapley"]["reidentification"]["discrimination_rate"]
    if len(quasi) > 1 and shares["whole"]:
        sampled = "" if found.chapters["shapley"]["exact"] else " (sampled)"
        sentences.append(f"Of what tells people apart, {_carried(shares)}{sampled}.")
    return [*sentences, *_enough(found), *_remedies(found)]


def _enough(found: Explanation) -> list[str]:
    """How few columns find most of those who are alone."""
    whole = _alone(found.whole)
    for size in range(1, len(found.roles.quasi) if whole else 0):
        held = [s for s in found.subsets if len(s.columns) == size]
        best = max(held, key=_alone, default=None)
        if best is not None and 2 * _alone(best) >= whole:
            share = percent(_alone(best) / found.rows)
            is_ = "is" if size == 1 else "are"
            number = NUMBERS.get(size, str(size))
            return [
                f"Knowing {number} of them is enough for most: {_listed(best.columns)} {is_} all "
                f"it takes to single out {_people(_alone(best))} ({share})."
            ]
    return []


def _remedies(found: Explanation) -> list[str]:
    """What coarsening would do, and what leaving out a column would."""
    alone = _alone(found.whole)
    name = "unique_count" if alone else "k_anonymity"
    now, sign = int(found.whole.reidentification[name] or 0), 1 if alone else -1
    columns, sentences = found.chapters["columns"], []
    gentle = []
    for about in columns.values():
        if about["coarser"]:
            rung = about["coarser"][(len(about["coarser"]) - 1) // 2]
            gentle.append((sign * rung["reidentification"][name], _with(rung)))
    gentle = sorted((g for g in gentle if g[0] < sign * now), key=lambda g: g[0])
    would = "{n} would be alone" if alone else "k would be {n}"
    if gentle:
        n, how = gentle[0]
        sentence = f"With {how}, {would.format(n=f'{sign * n:,}')}"
        sentence += f" instead of {now:,}"
        if len(gentle) > 1:
            n, how = gentle[1]
            sentence += f"; with {how}, {sign * n:,}"
        together = found.chapters.get("coarser_together")
        if together is not None:
            held = [each["column"] for each in together["coarsened"]]
            both = "both" if len(held) == len(gentle) == 2 else f"{_short(held)} coarser"
            sentence += f"; with {both}, {together['reidentification'][name]:,}"
        sentences.append(sentence + ".")
    if len(columns) > 1:
        left = {c: int(about["without"]["reidentification"][name]) for c, about in columns.items()}
        best = min(left, key=lambda c: sign * left[c])
        if sign * left[best] < sign * now:
            sentences.append(
                f"Of leaving out one column, {printable(best)} would help most: "
                f"{would.format(n=f'{left[best]:,}')}."
            )
    return sentences


def _with(rung: Mapping[str, Any]) -> str:
    """A coarser column in words."""
    (held,) = rung["coarsened"]
    column, how = printable(held["column"]), str(held["how"])
    if how.endswith(" merged"):
        return f"{how.removesuffix(' merged')} of {column} merged"
    return f"{column} {how}"


def _about_secrets(found: Explanation) -> list[str]:
    sentences = []
    for secret, numbers in found.whole.inference.items():
        rate, name = numbers["discrimination_rate"], printable(secret)
        if rate is None:
            sentences.append(f"{name} has one value only: there is nothing to learn.")
            continue
        shares = found.chapters["shapley"]["inference"][secret]["discrimination_rate"]
        sentence = f"The columns remove {percent(float(rate))} of the uncertainty about {name}"
        if len(found.roles.quasi) > 1 and shares["whole"]:
            sentence += f"; {_carried(shares)} of that"
        sentences.append(sentence + ".")
    return sentences


def _about_more(found: Explanation) -> list[str]:
    sentences = []
    suda = found.chapters.get("suda")
    if suda and len(found.roles.quasi) > 1:
        few = [(int(s), n) for s, n in suda["records_by_smallest_msu"].items() if n]
        words = [f"{n:,} by {NUMBERS.get(size, str(size))}" for size, n in few[:2]]
        if words:
            words[0] += " of their values alone"
            sentences.append(f"People singled out by few values: {', '.join(words)}.")
    slips = len(found.chapters["values"]["lookalikes"])
    if slips:
        sentences.append(
            f"{plural(slips, 'rare value')} {'looks' if slips == 1 else 'look'} like a frequent "
            "one misspelt."
        )
    about = found.chapters["population"]
    estimate = about.get("population_uniques_dankar")
    if estimate is not None and estimate["value"] is not None:
        sentences.append(
            f"Among {about['size']:,} people an estimated {percent(estimate['value'])} would be "
            f"alone ({_model(estimate)})."
        )
    return sentences


def _model(estimate: Mapping[str, Any]) -> str:
    taken = estimate["details"].get("taken")
    return f"model: {taken}" if taken else str(estimate["method"])


# -- tables -------------------------------------------------------------------------------------


def _rate(value: Any) -> str:
    return "-" if value is None else significant(float(value))


def _share(part: Mapping[str, Any] | None) -> str:
    if part is None or part["share"] is None:
        return "-"
    text = percent(part["share"]) if part["share"] >= 0 else f"-{percent(-part['share'])}"
    if "low" in part and part["value"]:
        half = (part["high"] - part["low"]) / 2 * part["share"] / part["value"]
        text += f" ± {100 * half:.2g}"
    return text


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> list[str]:
    """Columns as wide as they need to be; the last ones are left out where they do not fit."""
    every = [list(head), *(list(row) for row in rows)]
    wide = [max(len(row[i]) for row in every) for i in range(len(head))]
    wide[0] = min(wide[0], MOST_NAME)
    while len(wide) > 2 and sum(wide) + 2 * len(wide) > width:
        wide.pop()
    lines = []
    for row in every:
        cells = [f"{_cut(row[0], wide[0]):<{wide[0]}}"]
        cells += [f"{cell:>{w}}" for cell, w in zip(row[1:], wide[1:], strict=False)]
        lines.append("  " + "  ".join(cells).rstrip())
    return lines


def _listing(head: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> list[str]:
    """The same with a text at the end: behind the numbers if it fits there, else below them."""
    every = [list(head), *(list(row) for row in rows)]
    lines = _table(every[0][:-1], [row[:-1] for row in every[1:]], width)
    longest = max(map(len, lines)) + 2
    found = []
    for line, row in zip(lines, every, strict=True):
        if longest + len(row[-1]) <= width:
            found.append(f"{line:<{longest}}{row[-1]}")
        else:
            found += [line, *wrap(row[-1], width, "      ")]
    return found


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _columns(found: Explanation, width: int, everything: bool) -> list[str]:
    shapley, about = found.chapters["shapley"], found.chapters["columns"]
    parts = shapley["reidentification"]["discrimination_rate"]["columns"]
    alone = shapley["reidentification"]["unique_count"]["columns"]
    secrets = list(found.roles.sensitive)[: None if everything else 2]
    order = sorted(about, key=lambda c: -((parts.get(c) or {}).get("share") or 0.0))
    head = ["column", "values", "finding", "alone"]
    head += [_cut(printable(s), 12) for s in secrets] + ["alone without it", "DR without it"]
    rows = []
    for column in order[: None if everything else MOST_COLUMNS]:
        without = about[column]["without"]["reidentification"]
        row = [
            printable(column),
            f"{about[column]['values']:,}",
            _share(parts.get(column)),
            _share(alone.get(column)),
        ]
        for s in secrets:
            held = shapley["inference"][s]["discrimination_rate"]["columns"]
            row.append(_share(held.get(column)))
        row += [f"{without['unique_count']:,}", _rate(without["discrimination_rate"])]
        rows.append(row)
    more = len(order) - len(rows)
    lines = ["", "Each column's share of what is given away (Shapley values; they add up to 100 %)"]
    lines += _table(head, rows, width)
    if not shapley["exact"]:
        lines.append(f"  sampled from {shapley['orders']} orders, intervals of 95 %")
    return [*lines, *([f"  and {more} more"] if more else [])]


def _curve(found: Explanation) -> list[str]:
    lines = [
        "",
        "What is given away by how many columns are known (least, mean, most over subsets)",
    ]
    secrets = list(found.roles.sensitive)[:2]
    head = ["known", "subsets", "alone", "DR of finding"]
    head += [f"DR of {_cut(printable(s), 16)}" for s in secrets]
    rows = []
    for point in found.chapters["knowledge"]["points"][1:]:
        numbers = point["reidentification"]
        of = "" if point["reason"] is None else f" of {point['of']:,}"
        row = [
            str(point["known"]),
            f"{point['subsets']:,}{of}",
            _spread(numbers["unique_count"], "{:,.0f}".format),
            _spread(numbers["discrimination_rate"], "{:.3f}".format),
        ]
        row += [
            _spread(point["inference"][s]["discrimination_rate"], "{:.3f}".format) for s in secrets
        ]
        rows.append(row)
    return lines + _table(head, rows, 100)


def _spread(numbers: Mapping[str, Any], text: Any) -> str:
    return " ".join("-" if x is None else text(x) for x in map(numbers.get, ("min", "mean", "max")))


def _subsets(found: Explanation, width: int, everything: bool) -> list[str]:
    if len(found.roles.quasi) == 1:
        return []
    chosen: list[Subset] = list(found.subsets)
    if not everything:
        chosen = []
        for size in range(1, len(found.roles.quasi) + 1):
            held = [s for s in found.subsets if len(s.columns) == size]
            held.sort(key=_danger)
            chosen += held[: 2 if size < 4 else 1]
        chosen = chosen[: MOST_SUBSETS - 1] + [s for s in chosen[-1:] if s not in chosen[:9]]
    title = "Every subset" if everything else "The riskiest subsets of each size"
    lines = ["", title]
    secrets = list(found.roles.sensitive)[:1]
    head = ["k", "alone", "DR", "ITPR", "eq. 9", *(f"DR {_cut(printable(s), 12)}" for s in secrets)]
    more = ("separation", "distinction") if everything else ()
    head += [*more, "columns"]
    rows = []
    for s in chosen:
        n = s.reidentification
        row = [f"{n['k_anonymity']:,}", f"{_alone(s):,}"]
        row += [_rate(n[m]) for m in ("discrimination_rate", "itpr", "itpr_unnormalized")]
        row += [_rate(s.inference[x]["discrimination_rate"]) for x in secrets]
        row += [_rate(n[m]) for m in more]
        rows.append([*row, ", ".join(map(printable, s.columns))])
    return lines + _listing(head, rows, width)


def _danger(subset: Subset) -> tuple[float, float]:
    return -_alone(subset), -float(subset.reidentification["discrimination_rate"] or 0.0)


def _coarser(found: Explanation, width: int) -> list[str]:
    rows = []
    for about in found.chapters["columns"].values():
        for coarser in about["coarser"]:
            rows.append(_coarsened(coarser, found))
    together = found.chapters.get("coarser_together")
    if together is not None:
        rows.append(_coarsened(together, found))
    if not rows:
        return []
    head = ["coarser", "values", "k", "alone", "DR"]
    head += [f"DR {_cut(printable(s), 12)}" for s in found.roles.sensitive[:2]]
    now = found.whole.reidentification
    title = (
        f"What coarser values would leave (now k {now['k_anonymity']:,}, {_alone(found.whole):,} "
    )
    return ["", title + "alone)", *_table(head, rows, width)]


def _coarsened(coarser: Mapping[str, Any], found: Explanation) -> list[str]:
    held, numbers = coarser["coarsened"], coarser["reidentification"]
    one = len(held) == 1
    name = (
        f"{printable(held[0]['column'])}: {held[0]['how']}"
        if one
        else "together: " + ", ".join(printable(each["column"]) for each in held)
    )
    row = [name, f"{held[0]['values']:,}" if one else "", f"{numbers['k_anonymity']:,}"]
    row += [f"{numbers['unique_count']:,}", _rate(numbers["discrimination_rate"])]
    inference = coarser["inference"]
    return row + [_rate(inference[s]["discrimination_rate"]) for s in found.roles.sensitive[:2]]


def _values(found: Explanation, width: int, everything: bool) -> list[str]:
    held = found.chapters["values"]
    lines = ["", "Values few people have (the fewer, the higher the rate of the value)"]
    rows = []
    for about in held["columns"]:
        for few in about["fewest"][: 5 if everything else 2]:
            if few["records"] * 20 <= found.rows:
                rows.append(
                    [
                        printable(about["column"]),
                        f"{few['values']:,}",
                        f"{few['records']:,}",
                        f"{few['unique_count']:,}",
                        _rate(few["discrimination_rate"]),
                    ]
                )
    head = ["column", "values", "of records each", "alone", "DR of the value"]
    lines = lines + _table(head, rows, width) if rows else []
    if everything and any("value" in v for a in held["columns"] for v in a["riskiest"]):
        for about in held["columns"]:
            named = ", ".join(
                f"{_text(v)} ({v['records']:,})" for v in about["riskiest"] if "value" in v
            )
            lines += wrap(f"{printable(about['column'])}: {named}", width, "  ", "    ")
    return lines + _errors(held, width, everything)


def _text(value: Mapping[str, Any]) -> str:
    return "missing" if value["missing"] else f'"{printable(str(value["value"]))}"'


def _errors(held: Mapping[str, Any], width: int, everything: bool) -> list[str]:
    lines = []
    few = held["rare"][: None if everything else 5]
    if few:
        lines += [
            "",
            "Rare values (outliers, or errors?): what leaving their records out would gain",
        ]
        head = [
            "column",
            "values",
            "records",
            "alone",
            "fewer below 5",
            "k up by",
            "DR down by",
            "eq. 9 down by",
        ]
        alike: dict[tuple[str, ...], int] = {}
        for v in held["rare"]:
            gain = v["gain"]
            name = printable(v["column"]) + (f" {_text(v)}" if "value" in v else "")
            row = (
                name,
                f"{v['records']:,}",
                f"{v['unique_count']:,}",
                f"{gain['records_below_5']:,}",
                f"{gain['k_anonymity']:,}",
                _rate(gain["discrimination_rate"]),
                _rate(gain["itpr_unnormalized"]),
            )
            alike[row] = alike.get(row, 0) + 1
        rows = [[name, str(n), *rest] for (name, *rest), n in alike.items()]
        lines += _table(head, rows[: None if everything else 5], width)
    if held["lookalikes"]:
        lines += ["", "Misspelt? Rare values that differ little from a frequent one"]
        for v in held["lookalikes"][: None if everything else 5]:
            name = printable(v["column"]) + (f" {_text(v)}" if "value" in v else "")
            like = f' "{printable(str(v["like"]["value"]))}"' if "value" in v["like"] else ""
            lines += wrap(
                f"{name}, {plural(v['records'], 'record')}: differs by {v['differs_by']} from a "
                f"value{like} of {plural(v['like']['records'], 'record')}; as that one, "
                f"{v['gain']['unique_count']:,} fewer would be alone",
                width,
                "  ",
                "    ",
            )
        if not any("value" in v for v in held["lookalikes"]):
            lines.append("  named with --show-values")
    return lines


def _records(found: Explanation, width: int, everything: bool) -> list[str]:
    held = found.chapters["records"]
    if held["reason"] is not None:
        return []
    rows = []
    for r in held["riskiest"][: None if everything else MOST_RECORDS]:
        shares = r.get("column_contributions") or {}
        top = sorted(shares, key=lambda c: -shares[c])[:2]
        rows.append(
            [
                f"{r['record']:,}",
                f"{r['class_size']:,}",
                _rate(r.get("suda_score")),
                f"{r.get('msus', 0):,}",
                str(r.get("smallest_msu") or "-"),
                ", ".join(printable(c) for c in top if shares[c] > 0),
            ]
        )
    head = ["row", "like it", "SUDA score", "minimal uniques", "smallest", "mostly by"]
    return [
        "",
        "The records most easily found (row numbers of the input)",
        *_table(head, rows, width),
        *(_levels(found, width) if everything else []),
    ]


def _levels(found: Explanation, width: int) -> list[str]:
    """Columns, values and sizes by their share of all SUDA scores."""
    suda = found.chapters.get("suda")
    if not suda or suda["column_contributions"] is None:
        return []
    rows = []
    for column, share in sorted(suda["column_contributions"].items(), key=lambda each: -each[1]):
        levels = [
            f"{percent(level['share'])} ({plural(level['records'], 'record')})"
            + (f' "{printable(str(level["value"]))}"' if "value" in level else "")
            for level in suda["level_contributions"][column][:3]
        ]
        rows.append([printable(column), percent(share), ", ".join(levels)])
    sizes = ", ".join(
        f"{percent(share)} by {plural(int(size), 'column')}"
        for size, share in suda["size_shares"].items()
        if share
    )
    lines = ["", "Shares of all SUDA scores (of a column's minimal uniques; they overlap)"]
    lines += _listing(["column", "share", "its values that contribute most"], rows, width)
    return [*lines, *wrap(f"by size: {sizes}", width, "  ", "    ")]


TITLES = (
    ("prosecutor", "Prosecutor: knows who is in the table"),
    ("journalist", "Journalist: knows somebody is"),
    ("marketer", "Marketer: matches everybody"),
    ("population_uniques_zayatz", "Unique in the population (Zayatz)"),
    ("population_uniques_pitman", "Unique in the population (Pitman)"),
    ("population_uniques_snb", "Unique in the population (SNB)"),
    ("population_uniques_dankar", "Unique in the population (Dankar)"),
    ("unique_match", "A match with a unique record is right"),
    ("unique_match_known", "The same, counted"),
    ("truta_minimal", "Truta, minimal"),
    ("truta_maximal", "Truta, maximal"),
    ("global_risk", "Individual risk, mean"),
    ("expected_reidentifications", "Expected re-identifications"),
    ("household_risk", "Household risk, mean"),
)


def _population(found: Explanation, width: int) -> list[str]:
    about = found.chapters["population"]
    told = {"size", "global_risk", "household_risk"} & set(about)
    lines = []
    if told:
        lines = ["", "In the population"]
        if "size" in about:
            share = percent(about["fraction"])
            lines[1] += f" of {about['size']:,}, of which the table is {share}"
        counted = "truta_maximal" in about
        for name, title in TITLES:
            if name in about and (counted or name not in ("journalist", "marketer")):
                lines.append(_estimate(title, about[name]))
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
    after = ""
    if "standard_error" in details:
        after = f"± {significant(details['standard_error'])} (standard error)"
    elif "highest" in details:
        after = f"highest {significant(details['highest'])}"
    elif "taken" in details:
        after = f"{details['taken']} taken"
    return f"  {title:<40} {significant(value):>10}  {after}".rstrip()


def _ranking(found: Explanation, width: int) -> list[str]:
    held = found.chapters["ranking"]
    if not held:
        return []
    lines = ["", "Each column as the secret, given the others (to choose roles from)"]
    head = [
        "column",
        "values",
        "DR",
        "eq. 9",
        "bits given away",
        "most by",
        "DR by it",
        "alone by it",
    ]
    rows = []
    for entry in held:
        numbers, best = entry["as_target"], entry["told_most_by"]
        rows.append(
            [
                printable(entry["column"]),
                f"{entry['values']:,}",
                _rate(numbers["discrimination_rate"]),
                _rate(numbers["itpr_unnormalized"]),
                _rate(numbers["mutual_information"]),
                "-" if best is None else printable(best["column"]),
                "-" if best is None else _rate(best["discrimination_rate"]),
                f"{entry['as_key']['unique_count']:,}",
            ]
        )
    lines += _table(head, rows, width)
    lines += wrap(
        "high DR: an outsider who knows the other columns can work it out; many alone by a column: "
        "it nearly identifies by itself (-i)",
        width,
        "  ",
    )
    return lines
