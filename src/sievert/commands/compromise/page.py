"""The chapter of `compromise`: how near an intruder comes to a confidential number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sievert.charts import lines
from sievert.commands.compromise.experiment import CompromisePoint, ExperimentCurve
from sievert.commands.compromise.result import Compromises
from sievert.formatting import make_unique
from sievert.report.explanation_view import Term, words_chapter
from sievert.report.numbers import pairing_paragraphs
from sievert.report.page import Block, Chapter, Grid, Paragraph, Picture
from sievert.report.parts import NumberText, ReportPart, names_of

MOST_SECRETS = 3  # with pictures
MOST_LINES = 5  # that a reader can tell apart
TERMS = (
    Term("initial_entropy", "term_entropy", "term_entropy_says"),
    Term("compromise_area", "term_area", "term_area_says"),
)
# How strongly a method was applied.
PARAMETERS = {
    "sampling": "parameter_sampling",
    "query": "parameter_query",
    "noise": "parameter_noise",
}
METHODS = {
    "sampling": "method_sampling",
    "query": "method_query",
    "noise": "method_noise",
    "release": "method_release",
}
# Protections that are not in the file.
ASSUMED = {"sampling": "assumed_sampling", "query": "assumed_query", "noise": "assumed_noise"}
MATCHINGS = {"oracle": "matching_oracle", "likelihood": "matching_likelihood"}


@dataclass(frozen=True, kw_only=True)
class GuessTexts:
    """The keys of the texts on one number of what is left to guess."""

    short: str
    table: str
    chart: str
    below: str
    axis: str
    caption: str


NUMBERS = {
    "initial_entropy": GuessTexts(
        short="entropy_short",
        table="entropy_table",
        chart="entropy_chart",
        below="entropy_below",
        axis="entropy_axis",
        caption="entropy_caption",
    ),
    "area": GuessTexts(
        short="area_short",
        table="area_table",
        chart="area_chart",
        below="area_below",
        axis="area_axis",
        caption="area_caption",
    ),
}
# The heads of the numbers of a point beside its mean over people, in the order of _spread.
SPREAD = ("mean_combinations", "quantile_combinations", "least", "quantile_records")


@dataclass(frozen=True)
class CompromiseView(ReportPart):
    """One confidential column of a part."""

    secret: str = ""

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.writer.name(self.secret)

    @property
    def compromises(self) -> Compromises:
        """The experiments on all columns."""
        return self.read(Compromises)

    @property
    def curves(self) -> Sequence[ExperimentCurve]:
        """One for each parameter."""
        return self.compromises.curves[self.secret]

    @cached_property
    def known_numbers(self) -> list[int]:
        """The numbers of columns that are known, from few to many."""
        return sorted({point.known for curve in self.curves for point in curve.points})

    def parameter(self, curve: ExperimentCurve) -> str:
        """How strongly the method was applied, in words."""
        method = self.compromises.method
        value = curve.parameter
        if value is None:
            return self.say("parameter_release")
        shown = round(100 * value if method == "sampling" else value, 9)
        return self.say(PARAMETERS[method], value=self.writer.number(shown))

    def mean(self, point: CompromisePoint, number: str) -> NumberText:
        """A mean over people."""
        return self.writer.number(point.records[number].mean)

    def error(self, curve: ExperimentCurve) -> NumberText:
        """How far off means over ranges are that the release gives."""
        return self.writer.share(curve.error)


def _views(part: ReportPart) -> list[CompromiseView]:
    """Every confidential column."""
    curves = part.read(Compromises).curves
    return [CompromiseView(**vars(part), secret=secret) for secret in curves]


# -- the chapter ----------------------------------------------------------------------------------


def blocks(part: ReportPart) -> Iterator[Chapter]:
    """Everything below the heading of this result."""
    for number, view in enumerate(_views(part), 1):
        for key, write in {"left": _left, "whom": _targets, "useful": _useful}.items():
            title = _title(view, key)
            inner = tuple(write(view, pictures=part.pictured(number, MOST_SECRETS)))
            anchor = part.anchor(f"secret{number}-{key}")
            if inner:
                yield Chapter(
                    title=title, anchor=anchor, blocks=inner, screen=number == 1 and key != "useful"
                )
    found = part.read(Compromises)
    how = [Paragraph(part.say(METHODS[found.method]))]
    if found.pairing is not None:
        how += pairing_paragraphs(part, [found.pairing])
    if found.method != "release":
        runs = part.say("runs", number=found.replicates, seed=found.seed)
        how.append(Paragraph(runs, "note"))
    yield Chapter(title=part.say("method_title"), anchor=part.anchor("method"), blocks=tuple(how))
    yield words_chapter(part, TERMS)


def _title(view: CompromiseView, key: str) -> str:
    """What was found, in a short sentence; where there is no number, what it is about."""
    worst = _riskiest(view)
    if key == "left" and worst is not None:
        return view.say("left_title", bits=worst[2], secret=view.name)
    exposed = _most_exposed(view)
    if key == "whom" and exposed is not None:
        share = view.writer.share(exposed[1].known_records)
        return view.say("whom_title", share=share, secret=view.name)
    errors = [error for error in map(view.error, view.curves) if error.number is not None]
    if key == "useful" and errors:
        least, most = (end(errors, key=lambda e: e.number or 0.0) for end in (min, max))
        same = least.text == most.text
        return view.say("useful_same" if same else "useful_title", low=least, high=most)
    return view.say("secret_title", secret=view.name)


def _left(view: CompromiseView, *, pictures: bool) -> Iterator[Block]:
    domain = view.compromises.domain(view.secret)
    count = view.writer.count
    counts = {"values": count(domain.values), "records": count(domain.records)}
    yield Paragraph(view.say("domain", secret=view.name, **counts), "reading")
    if domain.low is not None:
        number = view.writer.number
        ends = {"low": number(domain.low), "high": number(domain.high)}
        yield Paragraph(view.say("domain_ends", **ends), "reading")
    entropy = _guesses_left(view, "initial_entropy", pictures=pictures)
    area = _guesses_left(view, "area", pictures=pictures)
    yield replace(entropy, screen=True) if isinstance(entropy, Picture) else entropy
    yield area if isinstance(area, Picture) else replace(area, folded=True)
    yield _spread_table(view)
    yield Paragraph(view.say("reading"), "reading")


def points(part: ReportPart) -> list[tuple[str, str]]:
    """Whose number is known to an intruder who knows all columns; what is left; what it costs."""
    views = _views(part)
    each = (
        *map(_exact_sentence, views[:1]),
        *map(_left_sentence, views[:2]),
        *map(_cost_sentence, views[:1]),
    )
    return [point for point in each if point is not None][:3]


# -- tables and pictures --------------------------------------------------------------------------


def _guesses_left(view: CompromiseView, number: str, *, pictures: bool) -> Grid | Picture:
    """What is left to guess by how many columns are known, one line per parameter."""
    keys = NUMBERS[number]
    names = make_unique(view.parameter(c) for c in view.curves)
    means = {
        name: {point.known: view.mean(point, number) for point in curve.points}
        for name, curve in zip(names, view.curves, strict=True)
    }
    rows = ((n, *(each.get(k, "") for k in view.known_numbers)) for n, each in means.items())
    points = {}
    for name, each in means.items():
        line = [(float(k), m.number) for k, m in each.items() if m.number is not None]
        if line:
            points[name] = line
    known = (
        view.say("known_one" if k == 1 else "known_many", number=k) for k in view.known_numbers
    )
    grid = view.grid(keys.table, ["parameter"], rows, more=known, secret=view.name)
    if not pictures or not points:
        return grid
    most = len(points) if view.every_picture else MOST_LINES
    first = view.say("lines_first", shown=most, of=len(points))
    spec = lines(
        view.say(keys.chart, secret=view.name),
        [view.say(keys.below), *([first] if len(points) > most else ())],
        dict(list(points.items())[:most]),
        across=view.say("known_axis"),
        up=view.say(keys.axis),
    )
    return Picture(
        spec=spec, caption=view.say(keys.caption), behind=grid, name=(number, view.secret)
    )


def _targets(view: CompromiseView, *, pictures: bool) -> Iterator[Block]:
    """Whose number is known, for certain or within a window."""
    widths = view.compromises.epsilons
    rows = []
    for curve in view.curves:
        for point in sorted(curve.points, key=lambda point: point.known):
            people = [point.known_records, *map(point.near_records.get, widths)]
            rows.append((view.parameter(curve), point.known, *map(view.writer.share, people)))
    if rows:
        windows = (view.say("within", width=view.writer.number(w)) for w in widths)
        head = ("parameter", "known", "exact")
        yield view.grid("targets_table", head, rows, more=windows, secret=view.name)
        yield Paragraph(view.say("targets_reading"), "reading")
    yield from _matchings(view)


def _matchings(view: CompromiseView) -> Iterator[Block]:
    """Of noise both ways to match what is known, side by side."""
    widths = view.compromises.epsilons
    share = view.writer.share
    rows = [
        (
            view.parameter(curve),
            view.say(MATCHINGS[each.matching]),
            share(each.exact),
            *map(share, each.near.values()),
            view.writer.number(each.bits),
        )
        for curve in view.curves
        for each in curve.matchings
    ]
    if rows:
        first = next(curve.matchings[0] for curve in view.curves if curve.matchings)
        within = [view.say("within", width=view.writer.number(w)) for w in widths]
        more = (*within, view.say("entropy_axis"))
        head = ("parameter", "matching", "exact")
        yield view.grid(
            "matchings_table",
            head,
            rows,
            more=more,
            known=first.known,
            runs=first.runs,
            secret=view.name,
        )
        yield Paragraph(view.say("matchings_reading"), "reading")
    elif view.compromises.method == "noise":
        yield Paragraph(view.say("matchings_none"), "note")


def _useful(view: CompromiseView, *, pictures: bool) -> Iterator[Block]:
    """What is left of usefulness, beside what is left to guess."""
    if all(curve.error is None for curve in view.curves):
        yield Paragraph(view.say("useful_none"), "note")
        return
    rows = [
        (
            view.parameter(curve),
            view.error(curve),
            view.writer.undefined()
            if curve.last is None
            else view.mean(curve.last, "initial_entropy"),
            view.writer.number(curve.axis),
        )
        for curve in view.curves
    ]
    points = [
        (error.number, bits.number)
        for _, error, bits, _ in rows
        if error.number is not None and bits.number is not None
    ]
    head = ("parameter", "error", "bits_left", "axis")
    grid = view.grid("useful_table", head, rows, secret=view.name)
    if len(points) < 2 or not pictures:
        yield grid
        return
    spec = lines(
        view.say("useful_chart", secret=view.name),
        [view.say("useful_below")],
        {view.say("all_known"): sorted(points)},
        across=view.say("error_axis"),
        up=view.say("entropy_axis"),
    )
    yield Picture(spec=spec, caption=view.say("useful_caption"), behind=grid)


def _spread_table(view: CompromiseView) -> Grid:
    """Combinations instead of people, with the least and the quantile."""
    rows = (
        (
            view.parameter(curve),
            point.known,
            view.writer.count(point.targets),
            view.writer.share(point.known_combinations),
            *(view.writer.number(value) for number in NUMBERS for value in _spread(point, number)),
        )
        for curve in view.curves
        for point in curve.points
    )
    head = ("parameter", "known", "combinations", "exact_combinations")
    shorts = [view.say(keys.short) for keys in NUMBERS.values()]
    more = [view.say(k, number=short) for short in shorts for k in SPREAD]
    return view.grid("spread_table", head, rows, folded=True, more=more, secret=view.name)


def _spread(point: CompromisePoint, number: str) -> tuple[float, ...]:
    """A number over combinations of known values, and its quantile over people."""
    combinations = point.combinations[number]
    return (
        combinations.mean,
        combinations.quantile,
        combinations.minimum,
        point.records[number].quantile,
    )


# -- sentences ------------------------------------------------------------------------------------


def _last_points(view: CompromiseView) -> list[tuple[ExperimentCurve, CompromisePoint]]:
    """Each curve with the point of an intruder who knows most columns."""
    return [(curve, curve.last) for curve in view.curves if curve.last is not None]


def _riskiest(view: CompromiseView) -> tuple[ExperimentCurve, CompromisePoint, NumberText] | None:
    """The parameter that leaves least to guess, all columns known."""
    means = [
        (curve, point, view.mean(point, "initial_entropy")) for curve, point in _last_points(view)
    ]
    known = [each for each in means if each[2].number is not None]
    return min(known, key=lambda each: each[2].number or 0.0, default=None)


def _left_sentence(view: CompromiseView) -> tuple[str, str] | None:
    """What is left to guess in the worst view that was tried."""
    worst = _riskiest(view)
    if worst is None:
        return None
    curve, point, bits = worst
    head = "left_nothing" if not bits.number else "left_little" if bits.number < 1 else "left_some"
    return view.say(head), view.say(
        "left_release" if curve.parameter is None else "left",
        parameter=view.parameter(curve),
        known=point.known,
        bits=bits,
        secret=view.name,
    )


def _most_exposed(view: CompromiseView) -> tuple[ExperimentCurve, CompromisePoint] | None:
    """The parameter under which an intruder who knows most columns knows most records.

    For certain, then within the windows; of as many the one that leaves least to guess.
    """

    def exposure(each: tuple[ExperimentCurve, CompromisePoint]) -> tuple[float, ...]:
        point = each[1]
        bits = point.records["initial_entropy"].mean
        return point.known_records, *point.near_records.values(), -bits

    return max(_last_points(view), key=exposure, default=None)


def _exact_sentence(view: CompromiseView) -> tuple[str, str] | None:
    """Of how many records the number is known for certain to a stated intruder."""
    exposed = _most_exposed(view)
    if exposed is None:
        return None
    curve, point = exposed
    share = view.writer.share(point.known_records)
    method = view.compromises.method
    places = {"share": share, "secret": view.name, "parameter": view.parameter(curve)}
    quasi = view.compromises.roles.quasi
    known = point.known
    some = view.say("known_one" if known == 1 else "known_many", number=known).rsplit(" ", 1)[0]
    places["columns"] = names_of(view, quasi) if known == len(quasi) else some
    head = view.say("known_some" if share.number else "known_nobody", **places)
    key = "exact_known"
    if point.near:
        width, within = [*point.near_records.items()][-1]
        key = "near_known"
        places |= {"within": view.writer.share(within), "width": view.writer.number(width)}
    as_it_is = method == "release" or (method == "sampling" and curve.parameter == 1)
    more = [] if as_it_is else [view.say(ASSUMED[method])]
    if curve.matchings:  # of noise, what both ways to match find
        shares = {each.matching: view.writer.share(each.exact) for each in curve.matchings}
        more.insert(0, view.say("both_matchings", **shares))
    return head, " ".join((view.say(key, **places), *more))


def _cost_sentence(view: CompromiseView) -> tuple[str, str] | None:
    """How far off answers are with the most and the least careful parameter."""
    errors = [(view.error(c), view.parameter(c)) for c in view.curves]
    known = [each for each in errors if each[0].number is not None]
    low, high = (end(known, key=lambda e: e[0].number or 0.0, default=None) for end in (min, max))
    if low is None or high is None or low[0].number == high[0].number:
        return None
    text = view.say("cost", low=low[0], high=high[0], first=low[1], second=high[1])
    return view.say("costs"), text
