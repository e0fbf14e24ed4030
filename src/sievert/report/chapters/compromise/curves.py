"""Entropy and area against what is known, who is compromised, and what is left of usefulness."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sievert.charts import lines
from sievert.charts.results import make_unique
from sievert.report.chapters.compromise.view import CompromiseView, Numbers
from sievert.report.page import Block, Grid, Paragraph, Picture
from sievert.report.parts import ReportPart
from sievert.report.redaction import NumberText

MOST_LINES = 5  # that can be told apart
NAMES = {"initial_entropy": "entropy", "area": "area"}


def texts(part: ReportPart) -> Callable[..., str]:
    """The texts of this chapter by their short keys."""

    def say(key: str, /, **values: object) -> str:
        return part.texts(f"compromised.{key}", **values)

    return say


def left(case: CompromiseView, number: str, *, pictures: bool) -> Iterator[Block]:
    """What is left to guess by how many columns are known, a line a parameter."""
    short = NAMES[number]
    names = make_unique(case.parameter(c) for c in case.curves)
    rows: list[tuple[str, ...]] = []
    drawn: dict[str, list[tuple[float, float]]] = {}
    for name, curve in zip(names, case.curves, strict=True):
        said = {p["known"]: case.mean(p, number) for p in curve["points"]}
        rows.append((name, *(str(said.get(k, "")) for k in case.known)))
        points = [(float(k), s.number) for k, s in said.items() if s.number is not None]
        if points:
            drawn[name] = points
    head = (case.say("parameter"), *(_known(case, k) for k in case.known))
    caption = case.say(f"{short}_table", secret=case.name)
    grid = Grid(caption, head, tuple(rows), tuple(range(1, len(head))))
    if not pictures or not drawn:
        yield grid
        return
    chosen = dict(list(drawn.items())[:MOST_LINES])
    below = [case.say(f"{short}_below")]
    if len(drawn) > MOST_LINES:
        below.append(case.say("lines_first", shown=MOST_LINES, of=len(drawn)))
    spec = lines(
        case.say(f"{short}_chart", secret=case.name),
        below,
        chosen,
        across=case.say("known_axis"),
        up=case.say(f"{short}_axis"),
    )
    yield Picture(spec, case.say(f"{short}_caption"), grid)


def _known(case: CompromiseView, number: int) -> str:
    return case.say("known_one" if number == 1 else "known_many", number=number)


def targets(case: CompromiseView) -> Iterator[Block]:
    """Whose number is known, for certain or within a window."""
    widths = case.part.data["settings"]["epsilon"]
    rows = []
    for curve in case.curves:
        for known in case.known:
            held = case.target(curve, known)
            if held is None:
                continue
            near = {each["epsilon"]: each["records"] for each in held["approximate"]}
            cells = [case.parameter(curve), str(known), str(case.share(held["exact"]["records"]))]
            rows.append((*cells, *(str(case.share(near.get(e))) for e in widths)))
    if not rows:
        return
    head = [case.say(k) for k in ("parameter", "known", "exact")]
    head += [case.say("within", width=case.redactor.setting("epsilon", e)) for e in widths]
    caption = case.say("targets_table", secret=case.name)
    yield Grid(caption, tuple(head), tuple(rows), tuple(range(1, len(head))))
    yield Paragraph(case.say("targets_reading"), "reading")


def useful(case: CompromiseView, *, pictures: bool) -> Iterator[Block]:
    """What is left of usefulness, beside what is left to guess."""
    if all(c["utility"]["range_mean_error"] is None for c in case.curves):
        yield Paragraph(case.say("useful_none"), "note")
        return
    rows, drawn = [], []
    for curve in case.curves:
        last, error = case.last(curve), case.error(curve)
        bits = case.redactor.undefined() if last is None else case.mean(last, "initial_entropy")
        axis = case.redactor.only_internal(curve["utility"]["axis"])
        rows.append((case.parameter(curve), str(error), str(bits), str(axis)))
        if error.number is not None and bits.number is not None:
            drawn.append((error.number, bits.number))
    head = tuple(case.say(k) for k in ("parameter", "error", "bits_left", "axis"))
    grid = Grid(case.say("useful_table", secret=case.name), head, tuple(rows), (1, 2, 3))
    if len(drawn) < 2 or not pictures:
        yield grid
        return
    spec = lines(
        case.say("useful_chart", secret=case.name),
        [case.say("useful_below")],
        {case.say("all_known"): sorted(drawn)},
        across=case.say("error_axis"),
        up=case.say("entropy_axis"),
    )
    yield Picture(spec, case.say("useful_caption"), grid)


def spread(case: CompromiseView) -> Iterator[Block]:
    """Combinations instead of people, with the least and the quantile: internal only."""
    if not case.internal:
        return
    rows = []
    for curve in case.curves:
        for point in curve["points"]:
            row = [case.parameter(curve), str(point["known"])]
            row.append(str(case.redactor.count(point["combinations"])))
            for number in NAMES:
                for over in ("over_combinations", "over_records"):
                    held = point[over][number]
                    for which in ("mean", "quantile_05", "minimum"):
                        if over == "over_combinations" or which == "quantile_05":
                            row.append(str(case.redactor.only_internal(held[which])))
            rows.append(tuple(row))
    head = [case.say(k) for k in ("parameter", "known", "combinations")]
    for short in NAMES.values():
        keys = ("mean_combinations", "quantile_combinations", "least", "quantile_records")
        head += [case.say(k, number=case.say(f"{short}_short")) for k in keys]
    caption = case.say("spread_table", secret=case.name)
    right = tuple(range(1, len(head)))
    yield Grid(caption, tuple(head), tuple(rows), right, folded=True)


# -- sentences ------------------------------------------------------------------------------------


def _riskiest(case: CompromiseView) -> tuple[Numbers, Numbers, NumberText] | None:
    """The parameter that leaves least to guess, by what is told of it."""
    found = []
    for curve in case.curves:
        point = case.last(curve)
        if point is None:
            continue
        said = case.mean(point, "initial_entropy")
        if said.number is not None:
            found.append((curve, point, said))
    return min(found, key=lambda each: each[2].number or 0.0, default=None)


def sentence_left(case: CompromiseView) -> str | None:
    """What is left to guess in the worst case that was tried."""
    worst = _riskiest(case)
    if worst is None:
        return None
    curve, point, said = worst
    key = "left_release" if curve["parameter"] is None else "left"
    return case.say(
        key,
        parameter=case.parameter(curve),
        known=point["known"],
        bits=said,
        secret=case.name,
    )


def sentence_exact(case: CompromiseView) -> str | None:
    """Whose number is known for certain in that case."""
    worst = _riskiest(case)
    held = None if worst is None else case.target(worst[0], worst[1]["known"])
    if held is None:
        return None
    share = case.share(held["exact"]["records"])
    near = held["approximate"][-1] if held["approximate"] else None
    if near is None:
        return case.say("exact_known", share=share, secret=case.name)
    within, width = case.share(near["records"]), case.redactor.setting("epsilon", near["epsilon"])
    return case.say("near_known", share=share, within=within, width=width, secret=case.name)


def sentence_useful(case: CompromiseView) -> str | None:
    """How far off answers are with the most and the least careful parameter."""
    held = [(case.error(c), c) for c in case.curves]
    told = [(s, c) for s, c in held if s.number is not None]
    if len(told) < 2:
        return None
    low, high = (f(told, key=lambda each: each[0].number or 0.0) for f in (min, max))
    if low[0].number == high[0].number:
        return None
    return case.say(
        "cost",
        low=low[0],
        high=high[0],
        first=case.parameter(low[1]),
        second=case.parameter(high[1]),
    )
