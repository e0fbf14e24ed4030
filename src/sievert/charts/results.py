"""Which charts a result has: attacks by column and by value, what is known, whose share it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sievert.charts.drawing import LABEL, BandPoint, Bar, Spec, band, bars, short_name
from sievert.formatting import percent, significant

if TYPE_CHECKING:
    from sievert.attacks.attack import Attack, Attacks, Group

MOST_VALUES = 30
RATE = "Discrimination rate"
SCALE = "0 tells nothing, 1 tells it for certain"
BOXES = {
    "black_box": ("black box", "the record"),
    "white_box": ("white box", "the original values"),
}
COMBINED = "combined"


# -- attacks --------------------------------------------------------------------------------------


def of_attacks(releases: Mapping[str, Attacks]) -> dict[str, Spec]:
    """The charts of attacks; those of several releases side by side, each under its name.

    Values of a column are told by their rank; where they are shown, by themselves. Values of
    several releases can be put side by side only where they are shown.

    >>> import sievert
    >>> ward = {"age": ["2*", "2*", "3*", "3*"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> charts = sievert.attack(ward, quasi="age", sensitive="disease")
    >>> list(of_attacks({"ward": charts.attacks}))
    ['identity_black_box', 'homogeneity_disease', 'homogeneity_disease_by_age']
    """
    charts: dict[str, Spec] = {}
    for box, (words, what) in BOXES.items():
        chosen = _having(releases, "identity", box)
        if chosen:
            charts[file_name(charts, "identity", box)] = bars(
                f"Identity attack, {words}",
                (f"{RATE} of {what} by column", SCALE),
                _by_column(chosen),
                axis=RATE,
            )
    secrets = dict.fromkeys(s for r in releases.values() for s in r.get("homogeneity", ()))
    for secret in secrets:
        chosen = _having(releases, "homogeneity", secret)
        charts[file_name(charts, "homogeneity", secret)] = bars(
            f"Homogeneity attack on {short_name(secret)}",
            (f"{RATE} of {short_name(secret)} by column", SCALE),
            _by_column(chosen),
            axis=RATE,
        )
        for column in dict.fromkeys(c for attack in chosen.values() for c in attack.columns):
            values = list(_by_value(chosen, column))
            if values:
                charts[file_name(charts, "homogeneity", secret, "by", column)] = bars(
                    f"Homogeneity attack on {short_name(secret)} by value of {short_name(column)}",
                    (f"{RATE} of each value, worst first; a rare value has a high one", SCALE),
                    values,
                    axis=RATE,
                    most=MOST_VALUES,
                    of=max(a.columns[column].values.number for a in _with(chosen, column)),
                )
    return charts


def _having(releases: Mapping[str, Attacks], name: str, target: str) -> dict[str, Attack]:
    return {
        short_name(release, LABEL): attacks[name][target]
        for release, attacks in releases.items()
        if target in attacks.get(name, ())
    }


def _by_column(attacks: Mapping[str, Attack]) -> Iterator[Bar]:
    columns = list(dict.fromkeys(c for attack in attacks.values() for c in attack.columns))
    rows = make_unique([*(short_name(c, LABEL) for c in columns), COMBINED])
    for column, row in zip(columns, rows, strict=False):
        for release, attack in attacks.items():
            if column in attack.columns:
                yield Bar(row, attack.columns[column].number.value, release)
    if len(columns) > 1:
        for release, attack in attacks.items():
            whole = attack.numbers["discrimination_rate"].value
            yield Bar(rows[-1], whole, release, last=True)


def _with(attacks: Mapping[str, Attack], column: str) -> list[Attack]:
    return [attack for attack in attacks.values() if column in attack.columns]


def _by_value(attacks: Mapping[str, Attack], column: str) -> Iterator[Bar]:
    """The rates of a column's values; none where several releases have values without a name."""
    chosen = {r: a.columns[column].values.groups for r, a in attacks.items() if column in a.columns}
    shown = all(g.values is not None for groups in chosen.values() for g in groups)
    if len(chosen) > 1 and not shown:
        return
    # rank -> label, or the value itself -> label
    keys = list(
        dict.fromkeys(_key(g, i, column) for gs in chosen.values() for i, g in enumerate(gs))
    )
    texts = [f"value {i}" for i, _ in enumerate(keys, 1)]
    if shown:
        texts = make_unique([_text(k) for k in keys])
    label = dict(zip(keys, texts, strict=True))
    for at in keys:
        for release, groups in chosen.items():
            for i, group in enumerate(groups):
                if _key(group, i, column) == at:
                    (number,) = group.numbers.values()
                    yield Bar(label[at], number.value, release)


def _key(group: Group, rank: int, column: str) -> Any:
    return rank if group.values is None else (group.values[column],)


def _text(key: Any) -> str:
    (value,) = key
    if value is None:
        return "(missing)"
    return short_name(value, LABEL) if value.strip() else f"'{short_name(value, LABEL)}'"


# -- explanations ---------------------------------------------------------------------------------


def of_explanation(chapters: Mapping[str, Any]) -> dict[str, Spec]:
    """The charts of an explanation: the curve of what is known, and each column's share.

    >>> import sievert
    >>> table = {"zip": ["1", "1", "2", "3"], "sex": ["f", "m", "m", "m"]}
    >>> list(of_explanation(sievert.explain(table, ["zip", "sex"]).chapters))
    ['knowledge_identity', 'shares_identity']
    """
    charts: dict[str, Spec] = {}
    if "knowledge" not in chapters:
        return charts
    known, shares = chapters["knowledge"], chapters["shapley"]
    targets: list[tuple[str, str, str | None]] = [("identity", "the record", None)]
    targets += [(s, short_name(s), s) for s in shares["inference"]]
    for target, what, secret in targets:
        points = [_point(p, secret) for p in known["points"]]
        points = [p for p in points if p.most is not None]
        if points:
            below = [f"{RATE} of {what}: most, mean and least over the subsets", SCALE]
            if not known["complete"]:
                below.append("Not every subset was measured: most and least are of those that were")
            charts[file_name(charts, "knowledge", target)] = band(
                "What is given away by how many columns are known",
                below,
                points,
                axis=RATE,
                known="Columns known",
            )
    for target, what, secret in targets:
        part = shares["reidentification"] if secret is None else shares["inference"][secret]
        rate = part["discrimination_rate"]
        if rate["columns"]:
            whole = significant(rate["whole"])
            below = [f"{RATE} of {what}: Shapley values, which add up to {whole}"]
            if not shares["exact"]:
                below.append(f"Sampled from {shares['orders']} orders, intervals of 95 %")
            charts[file_name(charts, "shares", target)] = bars(
                "Each column's share of what is given away",
                below,
                _shares(rate["columns"]),
                axis="Shapley value",
            )
    return charts


def _point(point: Mapping[str, Any], secret: str | None) -> BandPoint:
    chosen = point["reidentification"] if secret is None else point["inference"][secret]
    rate = chosen["discrimination_rate"]
    return BandPoint(point["known"], rate["min"], rate["mean"], rate["max"])


def _shares(columns: Mapping[str, Mapping[str, Any]]) -> Iterator[Bar]:
    order = sorted(columns, key=lambda c: -columns[c]["value"])
    for column, row in zip(order, make_unique(short_name(c, LABEL) for c in order), strict=True):
        chosen = columns[column]
        interval = (chosen["low"], chosen["high"]) if "low" in chosen else None
        note = "" if chosen["share"] is None else f" = {percent(chosen['share'])}"
        yield Bar(row, chosen["value"], interval=interval, note=note)


# -- assessments ----------------------------------------------------------------------------------


def of_sizes(spans: Sequence[Mapping[str, Any]]) -> dict[str, Spec]:
    """Records by the size of their class.

    >>> import sievert
    >>> assessment = sievert.assess({"zip": ["1", "1", "2"]}, ["zip"])
    >>> spec = of_sizes(assessment.table["class_sizes"])["class_sizes"]
    >>> [(row["row"], row["number"]) for row in spec["data"]["values"]]
    [('1', 1), ('2', 2)]
    """
    chosen = [Bar(_size(s["least"], s["most"]), s["records"]) for s in spans if s["records"]]
    if not chosen:
        return {}
    below = ("Whoever is alone in a class can be found; the further down, the better hidden",)
    return {
        "class_sizes": bars("Records by the size of their class", below, chosen, axis="Records")
    }


def _size(least: int, most: int | None) -> str:
    if most is None:
        return f"{least:,} and more"
    return f"{least:,}" if most == least else f"{least:,} to {most:,}"


# -- names ----------------------------------------------------------------------------------------


def make_unique(labels: Iterable[str]) -> list[str]:
    """Labels as they are, but no two alike: alike ones would be one row.

    >>> make_unique(["age", "combined", "combined"])
    ['age', 'combined', 'combined (2)']
    """
    charts: list[str] = []
    for label in labels:
        text, number = label, 2
        while text in charts:
            text, number = f"{label} ({number})", number + 1
        charts.append(text)
    return charts


def file_name(taken: Iterable[str], *parts: str) -> str:
    """A name that is a plain file name everywhere, whatever the columns are called.

    >>> file_name([], "homogeneity", "../a b"), file_name(["shares_Age"], "shares", "age")
    ('homogeneity_a-b', 'shares_age_2')
    """
    plain = re.compile(r"[^0-9A-Za-z_-]")
    kept = (plain.sub("-", part) for part in parts)
    text = "_".join(part.strip("-")[:40] or "x" for part in kept)
    used = {t.casefold() for t in taken}
    charts, number = text, 2
    while charts.casefold() in used:
        charts, number = f"{text}_{number}", number + 1
    return charts
