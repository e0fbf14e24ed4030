"""The tables of an explanation: columns, subsets, values, records, ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sievert.commands._subsets import Subset
from sievert.commands._terminal import shorten
from sievert.commands.explain.result import Explanation
from sievert.formatting import percent, plural, printable, significant, wrap

MOST_COLUMNS = 12  # in a table of the first screen
MOST_SUBSETS = 10
MOST_RECORDS = 10
MOST_NAME = 40
MOST_SUSPECTS = 5


def tables(explanation: Explanation, width: int, everything: bool) -> list[str]:
    """All tables of the quasi-identifiers, each after an empty line."""
    return [
        *_columns(explanation, width, everything),
        *_curve(explanation),
        *_subsets(explanation, width, everything),
        *_coarser(explanation, width),
        *_values(explanation, width, everything),
        *_rare_values(explanation.chapters["values"], width, everything),
        *_lookalikes(explanation.chapters["values"], width, everything),
        *_records(explanation, width, everything),
    ]


def unique_count(subset: Subset) -> int:
    """How many records are unique by a subset."""
    return int(subset.reidentification["unique_count"] or 0)


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
    every = [head, *rows]
    widths = [max(len(row[i]) for row in every) for i in range(len(head))]
    widths[0] = min(widths[0], MOST_NAME)
    while len(widths) > 2 and sum(widths) + 2 * len(widths) > width:
        widths.pop()
    return [
        "  "
        + "  ".join(
            f"{shorten(cell, w):<{w}}" if i == 0 else f"{cell:>{w}}"
            for i, (cell, w) in enumerate(zip(row, widths, strict=False))
        ).rstrip()
        for row in every
    ]


def _listing(head: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> list[str]:
    """A table with a text at the end: behind the numbers if it fits there, else below them."""
    every = [head, *rows]
    table = _table(every[0][:-1], [row[:-1] for row in every[1:]], width)
    longest = max(map(len, table)) + 2
    lines = []
    for line, (*_, text) in zip(table, every, strict=True):
        beside = longest + len(text) <= width
        lines += [f"{line:<{longest}}{text}"] if beside else [line, *wrap(text, width, "      ")]
    return lines


def _columns(explanation: Explanation, width: int, everything: bool) -> list[str]:
    shapley, about = explanation.chapters["shapley"], explanation.chapters["columns"]
    secrets = list(explanation.roles.sensitive)[: None if everything else 2]
    by_column = [
        shapley["reidentification"]["discrimination_rate"]["columns"],
        shapley["reidentification"]["unique_count"]["columns"],
        *(shapley["inference"][s]["discrimination_rate"]["columns"] for s in secrets),
    ]
    order = sorted(about, key=lambda c: -((by_column[0].get(c) or {}).get("share") or 0.0))
    shown = order[: None if everything else MOST_COLUMNS]
    head = ["column", "values", "finding", "alone", *(shorten(printable(s), 12) for s in secrets)]
    rows = [
        [
            printable(column),
            f"{about[column]['values']:,}",
            *(_share(parts.get(column)) for parts in by_column),
            f"{without['unique_count']:,}",
            _rate(without["discrimination_rate"]),
        ]
        for column in shown
        for without in [about[column]["without"]["reidentification"]]
    ]
    lines = ["", "Each column's share of what is given away (Shapley values; they add up to 100 %)"]
    lines += _table([*head, "alone without it", "DR without it"], rows, width)
    if not shapley["exact"]:
        lines.append(f"  sampled from {shapley['orders']} orders, intervals of 95 %")
    if more := len(order) - len(shown):
        lines.append(f"  and {more} more")
    return lines


def _curve(explanation: Explanation) -> list[str]:
    secrets = list(explanation.roles.sensitive)[:2]
    head = ["known", "subsets", "alone", "DR of finding"]
    head += [f"DR of {shorten(printable(s), 16)}" for s in secrets]
    rows = [
        [
            str(point["known"]),
            f"{point['subsets']:,}" + ("" if point["reason"] is None else f" of {point['of']:,}"),
            _range(point["reidentification"]["unique_count"], "{:,.0f}".format),
            _range(point["reidentification"]["discrimination_rate"], "{:.3f}".format),
            *(
                _range(point["inference"][s]["discrimination_rate"], "{:.3f}".format)
                for s in secrets
            ),
        ]
        for point in explanation.chapters["knowledge"]["points"][1:]
    ]
    return [
        "",
        "What is given away by how many columns are known (least, mean, most over subsets)",
        *_table(head, rows, 100),
    ]


def _range(numbers: Mapping[str, Any], text: Callable[[Any], str]) -> str:
    return " ".join("-" if x is None else text(x) for x in map(numbers.get, ("min", "mean", "max")))


def _subsets(explanation: Explanation, width: int, everything: bool) -> list[str]:
    columns = len(explanation.roles.quasi)
    if columns == 1:
        return []
    chosen = list(explanation.subsets)
    if not everything:
        riskiest = [
            sorted((s for s in chosen if len(s.columns) == size), key=_danger)[
                : 2 if size < 4 else 1
            ]
            for size in range(1, columns + 1)
        ]
        chosen = [s for subsets in riskiest for s in subsets]
        chosen = chosen[: MOST_SUBSETS - 1] + [s for s in chosen[-1:] if s not in chosen[:9]]
    secrets = list(explanation.roles.sensitive)[:1]
    more = ("separation", "distinction") if everything else ()
    head = [
        "k",
        "alone",
        "DR",
        "ITPR",
        "eq. 9",
        *(f"DR {shorten(printable(s), 12)}" for s in secrets),
    ]
    rows = [
        [
            f"{numbers['k_anonymity']:,}",
            f"{unique_count(s):,}",
            *(_rate(numbers[m]) for m in ("discrimination_rate", "itpr", "itpr_unnormalized")),
            *(_rate(s.inference[secret]["discrimination_rate"]) for secret in secrets),
            *(_rate(numbers[m]) for m in more),
            ", ".join(map(printable, s.columns)),
        ]
        for s in chosen
        for numbers in [s.reidentification]
    ]
    return [
        "",
        "Every subset" if everything else "The riskiest subsets of each size",
        *_listing([*head, *more, "columns"], rows, width),
    ]


def _danger(subset: Subset) -> tuple[float, float]:
    return -unique_count(subset), -float(subset.reidentification["discrimination_rate"] or 0.0)


def _coarser(explanation: Explanation, width: int) -> list[str]:
    chapters, secrets = explanation.chapters, explanation.roles.sensitive[:2]
    ways = [c for about in chapters["columns"].values() for c in about["coarser"]]
    if "coarser_together" in chapters:
        ways.append(chapters["coarser_together"])
    if not ways:
        return []
    rows = [
        [
            f"{printable(columns[0]['column'])}: {columns[0]['how']}"
            if len(columns) == 1
            else f"together: {', '.join(printable(each['column']) for each in columns)}",
            f"{columns[0]['values']:,}" if len(columns) == 1 else "",
            f"{numbers['k_anonymity']:,}",
            f"{numbers['unique_count']:,}",
            _rate(numbers["discrimination_rate"]),
            *(_rate(way["inference"][s]["discrimination_rate"]) for s in secrets),
        ]
        for way in ways
        for columns, numbers in [(way["coarsened"], way["reidentification"])]
    ]
    head = ["coarser", "values", "k", "alone", "DR"]
    head += [f"DR {shorten(printable(s), 12)}" for s in secrets]
    now = explanation.whole.reidentification
    return [
        "",
        f"What coarser values would leave (now k {now['k_anonymity']:,}, "
        f"{unique_count(explanation.whole):,} alone)",
        *_table(head, rows, width),
    ]


# -- values and records -------------------------------------------------------------------------


def _values(explanation: Explanation, width: int, everything: bool) -> list[str]:
    columns = explanation.chapters["values"]["columns"]
    rows = [
        [
            printable(about["column"]),
            f"{few['values']:,}",
            f"{few['records']:,}",
            f"{few['unique_count']:,}",
            _rate(few["discrimination_rate"]),
        ]
        for about in columns
        for few in about["fewest"][: 5 if everything else 2]
        if few["records"] * 20 <= explanation.people
    ]
    lines = []
    if rows:
        head = ["column", "values", "of records each", "alone", "DR of the value"]
        lines = ["", "Values few people have (the fewer, the higher the rate of the value)"]
        lines += _table(head, rows, width)
    if everything and any("value" in v for about in columns for v in about["riskiest"]):
        for about in columns:
            values = [v for v in about["riskiest"] if "value" in v]
            named = ", ".join(f"{_text(v)} ({v['records']:,})" for v in values)
            lines += wrap(f"{printable(about['column'])}: {named}", width, "  ", "    ")
    return lines


def _text(value: Mapping[str, Any]) -> str:
    return "missing" if value["missing"] else f'"{printable(str(value["value"]))}"'


def _name(value: Mapping[str, Any]) -> str:
    return printable(value["column"]) + (f" {_text(value)}" if "value" in value else "")


def _rare_values(values: Mapping[str, Any], width: int, everything: bool) -> list[str]:
    if not values["rare"]:
        return []
    counts = Counter(
        (
            _name(v),
            f"{v['records']:,}",
            f"{v['unique_count']:,}",
            f"{v['gain']['records_below_5']:,}",
            f"{v['gain']['k_anonymity']:,}",
            _rate(v["gain"]["discrimination_rate"]),
            _rate(v["gain"]["itpr_unnormalized"]),
        )
        for v in values["rare"]
    )
    rows = [[name, str(n), *rest] for (name, *rest), n in counts.items()]
    head = ["column", "values", "records", "alone", "fewer below 5", "k up by"]
    head += ["DR down by", "eq. 9 down by"]
    return [
        "",
        "Rare values (outliers, or errors?): what leaving their records out would gain",
        *_table(head, rows[: None if everything else MOST_SUSPECTS], width),
    ]


def _lookalikes(values: Mapping[str, Any], width: int, everything: bool) -> list[str]:
    if not values["lookalikes"]:
        return []
    lines = ["", "Misspelt? Rare values that differ little from a frequent one"]
    for v in values["lookalikes"][: None if everything else MOST_SUSPECTS]:
        like = f' "{printable(str(v["like"]["value"]))}"' if "value" in v["like"] else ""
        lines += wrap(
            f"{_name(v)}, {plural(v['records'], 'record')}: differs by {v['differs_by']} from a "
            f"value{like} of {plural(v['like']['records'], 'record')}; as that one, "
            f"{v['gain']['unique_count']:,} fewer would be alone",
            width,
            "  ",
            "    ",
        )
    named = any("value" in v for v in values["lookalikes"])
    return lines if named else [*lines, "  named with --show-values"]


def _records(explanation: Explanation, width: int, everything: bool) -> list[str]:
    chapter = explanation.chapters["records"]
    if chapter["reason"] is not None:
        return []
    rows = [
        [
            f"{r['record']:,}",
            f"{r['class_size']:,}",
            _rate(r.get("suda_score")),
            f"{r.get('msus', 0):,}",
            str(r.get("smallest_msu") or "-"),
            ", ".join(printable(c) for c in top if shares[c] > 0),
        ]
        for r in chapter["riskiest"][: None if everything else MOST_RECORDS]
        for shares in [r.get("column_contributions") or {}]
        for top in [sorted(shares, key=lambda c: shares[c], reverse=True)[:2]]
    ]
    lines = [
        "",
        "The records most easily found (row numbers of the input)",
        *_table(
            ["row", "like it", "SUDA score", "minimal uniques", "smallest", "mostly by"],
            rows,
            width,
        ),
    ]
    return [*lines, *_levels(explanation.chapters.get("suda"), width)] if everything else lines


def _levels(suda: Mapping[str, Any] | None, width: int) -> list[str]:
    """Columns, values and sizes by their share of all SUDA scores."""
    if not suda or suda["column_contributions"] is None:
        return []
    levels = {
        column: ", ".join(
            f"{percent(level['share'])} ({plural(level['records'], 'record')})"
            + (f' "{printable(str(level["value"]))}"' if "value" in level else "")
            for level in each[:3]
        )
        for column, each in suda["level_contributions"].items()
    }
    shares = sorted(suda["column_contributions"].items(), key=lambda each: -each[1])
    rows = [[printable(column), percent(share), levels[column]] for column, share in shares]
    sizes = ", ".join(
        f"{percent(share)} by {plural(int(size), 'column')}"
        for size, share in suda["size_shares"].items()
        if share
    )
    lines = ["", "Shares of all SUDA scores (of a column's minimal uniques; they overlap)"]
    lines += _listing(["column", "share", "its values that contribute most"], rows, width)
    return [*lines, *wrap(f"by size: {sizes}", width, "  ", "    ")]


def ranking_table(explanation: Explanation, width: int) -> list[str]:
    """Each column as the target, given the others."""
    head = ["column", "values", "DR", "eq. 9", "bits given away", "most by", "DR by it"]
    rates = ("discrimination_rate", "itpr_unnormalized", "mutual_information")
    rows = [
        [
            printable(entry["column"]),
            f"{entry['values']:,}",
            *(_rate(entry["as_target"][name]) for name in rates),
            "-" if best is None else printable(best["column"]),
            "-" if best is None else _rate(best["discrimination_rate"]),
            f"{entry['as_key']['unique_count']:,}",
        ]
        for entry in explanation.chapters["ranking"]
        for best in [entry["told_most_by"]]
    ]
    return [
        "",
        "Each column as the secret, given the others (to choose roles from)",
        *_table([*head, "alone by it"], rows, width),
        *wrap(
            "high DR: an outsider who knows the other columns can work it out; many alone by a "
            "column: it nearly identifies by itself (-i)",
            width,
            "  ",
        ),
    ]
