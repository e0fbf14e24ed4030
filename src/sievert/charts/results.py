"""Which charts a result has: attacks by column and by value, what is known, whose share it is."""

from collections.abc import Iterator, Mapping
from typing import Any

from sievert.attacks.attack import Attack, Attacks, Group
from sievert.charts.drawing import (
    LABEL,
    BandPoint,
    Bar,
    Spec,
    band,
    bars,
    chart_file_name,
    short_name,
)
from sievert.formatting import make_unique, percent, significant

MOST_VALUES = 30
RATE = "Discrimination rate"
PARTLY = "Not every subset was measured: most and least are of those that were"
SCALE = "0 tells nothing, 1 tells it for certain"
BOXES = {
    "black_box": ("black box", "the record"),
    "white_box": ("white box", "the original values"),
}
COMBINED = "combined"


# -- attacks --------------------------------------------------------------------------------------


def of_attacks(releases: Mapping[str, Attacks]) -> dict[str, Spec]:
    """The charts of attacks; those of several releases side by side, each under its name.

    Values of a column are named by their rank; where they are shown, by themselves. Values of
    several releases can be put side by side only where they are shown.

    >>> import sievert
    >>> ward = {"age": ["2*", "2*", "3*", "3*"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> charts = sievert.attack(ward, quasi="age", sensitive="disease")
    >>> list(of_attacks({"ward": charts.attacks}))
    ['identity_black_box', 'homogeneity_disease', 'homogeneity_disease_by_age']
    """
    charts: dict[str, Spec] = {}
    targets = [("identity", b, f"Identity attack, {words}", w) for b, (words, w) in BOXES.items()]
    targets += [
        ("homogeneity", secret, f"Homogeneity attack on {short_name(secret)}", short_name(secret))
        for secret in dict.fromkeys(s for r in releases.values() for s in r.get("homogeneity", ()))
    ]
    for attack, target, title, what in targets:
        chosen = {
            short_name(release, LABEL): attacks[attack][target]
            for release, attacks in releases.items()
            if target in attacks.get(attack, ())
        }
        if chosen:
            charts[chart_file_name(charts, attack, target)] = bars(
                title, (f"{RATE} of {what} by column", SCALE), _by_column(chosen), axis=RATE
            )
        columns = dict.fromkeys(c for each in chosen.values() for c in each.columns)
        for column in columns if attack == "homogeneity" else ():
            values = list(_by_value(chosen, column))
            if values:
                with_it = (a.columns[column] for a in chosen.values() if column in a.columns)
                charts[chart_file_name(charts, attack, target, "by", column)] = bars(
                    f"{title} by value of {short_name(column)}",
                    (f"{RATE} of each value, worst first; a rare value has a high one", SCALE),
                    values,
                    axis=RATE,
                    most=MOST_VALUES,
                    of=max(c.values.number for c in with_it),
                )
    return charts


def _by_column(attacks: Mapping[str, Attack]) -> Iterator[Bar]:
    columns = list(dict.fromkeys(c for attack in attacks.values() for c in attack.columns))
    rows = make_unique([*(short_name(c, LABEL) for c in columns), COMBINED])
    for column, row in zip(columns, rows, strict=False):
        yield from (
            Bar(row=row, number=attack.columns[column].number.value, series=release)
            for release, attack in attacks.items()
            if column in attack.columns
        )
    if len(columns) > 1:
        for release, attack in attacks.items():
            yield Bar(
                row=rows[-1],
                number=attack.numbers["discrimination_rate"].value,
                series=release,
                last=True,
            )


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
    ranks = [f"value {i}" for i, _ in enumerate(keys, 1)]
    label = dict(zip(keys, make_unique(map(_text, keys)) if shown else ranks, strict=True))
    for at in keys:
        for release, groups in chosen.items():
            for i, group in enumerate(groups):
                if _key(group, i, column) == at:
                    (number,) = group.numbers.values()
                    yield Bar(row=label[at], number=number.value, series=release)


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
    if "knowledge" not in chapters:
        return {}
    charts: dict[str, Spec] = {}
    known = chapters["knowledge"]
    shares = chapters["shapley"]
    partly = [] if known["complete"] else [PARTLY]
    sampled = (
        [] if shares["exact"] else [f"Sampled from {shares['orders']} orders, intervals of 95 %"]
    )
    targets: list[tuple[str, str, str | None]] = [("identity", "the record", None)]
    targets += [(s, short_name(s), s) for s in shares["inference"]]
    for target, what, secret in targets:
        rates = [(p["known"], _rate(p, secret)) for p in known["points"]]
        points = [
            BandPoint(known=number, least=rate["min"], mean=rate["mean"], most=rate["max"])
            for number, rate in rates
            if rate["max"] is not None
        ]
        if points:
            charts[chart_file_name(charts, "knowledge", target)] = band(
                "What is given away by how many columns are known",
                [f"{RATE} of {what}: most, mean and least over the subsets", SCALE, *partly],
                points,
                axis=RATE,
                known="Columns known",
            )
    for target, what, secret in targets:
        rate = _rate(shares, secret)
        if rate["columns"]:
            whole = significant(rate["whole"])
            charts[chart_file_name(charts, "shares", target)] = bars(
                "Each column's share of what is given away",
                [f"{RATE} of {what}: Shapley values, which add up to {whole}", *sampled],
                _shares(rate["columns"]),
                axis="Shapley value",
            )
    return charts


def _rate(chapters: Mapping[str, Any], secret: str | None) -> Any:
    chosen = chapters["reidentification"] if secret is None else chapters["inference"][secret]
    return chosen["discrimination_rate"]


def _shares(columns: Mapping[str, Mapping[str, Any]]) -> Iterator[Bar]:
    order = sorted(columns, key=lambda c: -columns[c]["value"])
    for column, row in zip(order, make_unique(short_name(c, LABEL) for c in order), strict=True):
        chosen = columns[column]
        interval = (chosen["low"], chosen["high"]) if "low" in chosen else None
        note = "" if chosen["share"] is None else f" = {percent(chosen['share'])}"
        yield Bar(row=row, number=chosen["value"], interval=interval, note=note)
