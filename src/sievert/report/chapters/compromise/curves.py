"""Entropy and area against what is known, who is compromised, and what is left of usefulness."""

from __future__ import annotations

from collections.abc import Iterator

from sievert.charts import lines
from sievert.charts.results import make_unique
from sievert.report.chapters.compromise.view import CompromiseView
from sievert.report.page import Block, Grid, Paragraph, Picture, make_grid
from sievert.report.parts import Data
from sievert.report.redaction import NumberText

MOST_LINES = 5  # that can be told apart
NAMES = {"initial_entropy": "entropy", "area": "area"}


def guesses_left(view: CompromiseView, number: str, *, pictures: bool) -> Block:
    """What is left to guess by how many columns are known, one line per parameter."""
    short = NAMES[number]
    names = make_unique(view.parameter(c) for c in view.curves)
    rows: list[tuple[object, ...]] = []
    points: dict[str, list[tuple[float, float]]] = {}
    for name, curve in zip(names, view.curves, strict=True):
        means = {p["known"]: view.mean(p, number) for p in curve["points"]}
        rows.append((name, *(means.get(k, "") for k in view.known)))
        if line := [(float(k), m.number) for k, m in means.items() if m.number is not None]:
            points[name] = line
    head = (view.say("parameter"), *(_known(view, k) for k in view.known))
    grid = make_grid(view.say(f"{short}_table", secret=view.name), head, rows)
    if not pictures or not points:
        return grid
    below = [view.say(f"{short}_below")]
    if len(points) > MOST_LINES:
        below.append(view.say("lines_first", shown=MOST_LINES, of=len(points)))
    spec = lines(
        view.say(f"{short}_chart", secret=view.name),
        below,
        dict(list(points.items())[:MOST_LINES]),
        across=view.say("known_axis"),
        up=view.say(f"{short}_axis"),
    )
    return Picture(spec, view.say(f"{short}_caption"), grid)


def _known(view: CompromiseView, number: int) -> str:
    return view.say("known_one" if number == 1 else "known_many", number=number)


def targets(view: CompromiseView) -> Iterator[Block]:
    """Whose number is known, for certain or within a window."""
    widths = view.part.data["settings"]["epsilon"]
    rows = []
    for curve, known in ((c, k) for c in view.curves for k in view.known):
        target = view.target(curve, known)
        if target is not None:
            near = {each["epsilon"]: each["records"] for each in target["approximate"]}
            people = [target["exact"]["records"], *map(near.get, widths)]
            rows.append((view.parameter(curve), known, *map(view.share, people)))
    if rows:
        epsilons = (view.redactor.setting("epsilon", e) for e in widths)
        head = [*map(view.say, ("parameter", "known", "exact"))]
        head += [view.say("within", width=epsilon) for epsilon in epsilons]
        yield make_grid(view.say("targets_table", secret=view.name), head, rows)
        yield Paragraph(view.say("targets_reading"), "reading")


def useful(view: CompromiseView, *, pictures: bool) -> Block:
    """What is left of usefulness, beside what is left to guess."""
    if all(c["utility"]["range_mean_error"] is None for c in view.curves):
        return Paragraph(view.say("useful_none"), "note")
    rows, points = [], []
    for curve in view.curves:
        last, error = view.last(curve), view.error(curve)
        bits = view.redactor.undefined() if last is None else view.mean(last, "initial_entropy")
        axis = view.redactor.only_internal(curve["utility"]["axis"])
        rows.append((view.parameter(curve), error, bits, axis))
        if error.number is not None and bits.number is not None:
            points.append((error.number, bits.number))
    head = map(view.say, ("parameter", "error", "bits_left", "axis"))
    grid = make_grid(view.say("useful_table", secret=view.name), head, rows)
    if len(points) < 2 or not pictures:
        return grid
    spec = lines(
        view.say("useful_chart", secret=view.name),
        [view.say("useful_below")],
        {view.say("all_known"): sorted(points)},
        across=view.say("error_axis"),
        up=view.say("entropy_axis"),
    )
    return Picture(spec, view.say("useful_caption"), grid)


SPREAD = {
    "mean_combinations": ("over_combinations", "mean"),
    "quantile_combinations": ("over_combinations", "quantile_05"),
    "least": ("over_combinations", "minimum"),
    "quantile_records": ("over_records", "quantile_05"),
}


def spread(view: CompromiseView) -> Grid:
    """Combinations instead of people, with the least and the quantile: internal only."""
    exact = view.redactor.only_internal
    rows = (
        (
            view.parameter(curve),
            point["known"],
            view.redactor.count(point["combinations"]),
            *(exact(point[over][n][which]) for n in NAMES for over, which in SPREAD.values()),
        )
        for curve in view.curves
        for point in curve["points"]
    )
    head = [*map(view.say, ("parameter", "known", "combinations"))]
    shorts = [view.say(f"{short}_short") for short in NAMES.values()]
    head += [view.say(k, number=short) for short in shorts for k in SPREAD]
    return make_grid(view.say("spread_table", secret=view.name), head, rows, folded=True)


# -- sentences ------------------------------------------------------------------------------------


def _riskiest(view: CompromiseView) -> tuple[Data, Data, NumberText] | None:
    """The parameter that leaves least to guess, by what is told of it."""
    last = [(curve, point) for curve in view.curves if (point := view.last(curve)) is not None]
    means = [(curve, point, view.mean(point, "initial_entropy")) for curve, point in last]
    known = [each for each in means if each[2].number is not None]
    return min(known, key=lambda each: each[2].number or 0.0, default=None)


def sentence_left(view: CompromiseView) -> str | None:
    """What is left to guess in the worst view that was tried."""
    worst = _riskiest(view)
    if worst is None:
        return None
    curve, point, said = worst
    key = "left_release" if curve["parameter"] is None else "left"
    return view.say(
        key,
        parameter=view.parameter(curve),
        known=point["known"],
        bits=said,
        secret=view.name,
    )


def sentence_exact(view: CompromiseView) -> str | None:
    """Whose number is known for certain in that view."""
    worst = _riskiest(view)
    target = None if worst is None else view.target(worst[0], worst[1]["known"])
    if target is None:
        return None
    places = {"share": view.share(target["exact"]["records"]), "secret": view.name}
    if not target["approximate"]:
        return view.say("exact_known", **places)
    near = target["approximate"][-1]
    within, width = view.share(near["records"]), view.redactor.setting("epsilon", near["epsilon"])
    return view.say("near_known", within=within, width=width, **places)


def sentence_useful(view: CompromiseView) -> str | None:
    """How far off answers are with the most and the least careful parameter."""
    errors = [(view.error(c), view.parameter(c)) for c in view.curves]
    known = sorted((e.number, i) for i, (e, _) in enumerate(errors) if e.number is not None)
    if len(known) < 2 or known[0][0] == known[-1][0]:
        return None
    last = next(i for number, i in known if number == known[-1][0])
    (low, first), (high, second) = errors[known[0][1]], errors[last]
    return view.say("cost", low=low, high=high, first=first, second=second)
