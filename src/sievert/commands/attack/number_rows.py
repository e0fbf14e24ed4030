"""What the chapters on attacks have in common: numbers of attacks, people in words, columns."""

from collections.abc import Iterable, Iterator, Sequence

from sievert.attacks.attack import Attack, Group, Listed
from sievert.charts import Bar
from sievert.charts.curves import shares
from sievert.charts.drawing import short_name
from sievert.commands.attack.result import Attacks
from sievert.formatting import count, make_unique
from sievert.report.page import Block, Grid, Link, Paragraph, Picture, make_grid
from sievert.report.parts import LONGEST, NumberText, NumberWriter, ReportPart

# The risky side of a number.
SIDES = {
    "high": "attacked.side_high",
    "low": "attacked.side_low",
    "neither": "attacked.side_neither",
}
NAMES = {
    "discrimination_rate": "name_discrimination_rate",
    "discrimination_rate_of_value": "name_discrimination_rate_of_value",
    "conditional_entropy": "name_conditional_entropy",
    "semantic_discrimination_rate": "name_semantic_discrimination_rate",
    "t_closeness": "name_t_closeness",
    "entropy_variation": "name_entropy_variation",
}
NAMED_COLUMNS = 4  # more are counted
MOST_COLUMNS = 30
MOST_VALUES = 30
DRAWN_COLUMNS = 2  # whose values are drawn
LISTED_COLUMNS = 6  # whose values are listed


def rate_text(part: ReportPart, attack: Attack, name: str = "discrimination_rate") -> NumberText:
    """A rate of an attack as a share: what is removed of an uncertainty."""
    return part.writer.share(attack.number(name))


def certain(attack: Attack) -> int:
    """People of whom everything is certain: those in classes where no doubt is left."""
    left = None if attack.worst is None else attack.worst.number("conditional_entropy")
    return int(attack.number("people") or 0) if left == 0 else 0


def people(part: ReportPart, keys: tuple[str, str, str], many: float, **places: object) -> str:
    """The sentence for nobody, one or many people; `keys` are those of the three texts."""
    nobody, one, several = keys
    values = {**places, "people": part.writer.count(many)}
    return (
        part.texts(nobody, **values)
        if many == 0
        else part.texts.plural(many, one, several, **values)
    )


def columns(part: ReportPart, given: Sequence[str] | None = None) -> str:
    """The columns that an outsider knows, in a sentence; many are counted only."""
    names = list(part.read(Attacks).roles.quasi if given is None else given)
    many = len(names) > NAMED_COLUMNS
    return part.say("many_columns", number=len(names)) if many else part.writer.names(names)


def secrets(part: ReportPart, attack: str) -> list[tuple[int, str, Attack]]:
    """The secrets of an attack in the order of the roles, with the number of each."""
    result = part.read(Attacks)
    attacks = result.attacks.get(attack) or {}
    order = dict.fromkeys([*result.roles.sensitive, *attacks])
    return [(i, s, attacks[s]) for i, s in enumerate(order, 1) if s in attacks]


def by_column(
    part: ReportPart, attack: Attack, title: str, *, drawn: bool = True
) -> Iterator[Block]:
    """How much each column alone removes of the uncertainty, and all of them: picture, table."""
    columns = attack.columns
    quasi = part.read(Attacks).roles.quasi
    order = [c for c in dict.fromkeys((*quasi, *columns)) if c in columns]
    rates = [
        (part.writer.name(column), part.writer.share(columns[column].number.value))
        for column in order
    ]
    if len(order) > MOST_COLUMNS:
        rates = sorted(rates, key=lambda r: (-(r[1].number or 0.0), r[0]))[:MOST_COLUMNS]
    many = len(order) > 1
    if many:
        rates.append((part.say("combined"), rate_text(part, attack)))
    if not rates:
        return
    names = make_unique(name for name, _ in rates)
    rows = [(name, text) for name, (_, text) in zip(names, rates, strict=True)]
    grid = make_grid(title, (part.say("columns_head"), part.say("columns_rate")), rows)
    if drawn and any(text.number is not None for _, text in rows):
        bars = [
            Bar(row=name, number=text.number, text=str(text), last=many and name == names[-1])
            for name, text in rows
        ]
        spec = shares(title, (part.say("columns_below"),), bars, axis=part.say("columns_axis"))
        yield Picture(
            spec=spec,
            caption=part.say("columns_caption" if many else "columns_caption_one"),
            behind=grid,
        )
    else:
        yield grid
    if len(order) > MOST_COLUMNS:
        yield Paragraph(part.say("columns_left", shown=MOST_COLUMNS, number=len(order)), "note")


def by_value(part: ReportPart, attack: Attack, secret: str) -> Iterator[Block]:
    """The values of the columns that tell most."""
    columns = attack.columns
    order = sorted(columns, key=lambda c: -(columns[c].number.value or 0.0))
    for place, column in enumerate(order[:LISTED_COLUMNS]):
        yield from _values(part, columns[column].values, secret, column, place < DRAWN_COLUMNS)
    if len(order) > LISTED_COLUMNS:
        yield Paragraph(part.say("values_columns", shown=LISTED_COLUMNS, number=len(order)), "note")
    groups = (group for column in columns.values() for group in column.values.groups)
    if any(group.values is None for group in groups):
        yield Paragraph(part.say("values_hidden"), "note")


def _values(
    part: ReportPart, values: Listed, secret: str, column: str, drawn: bool
) -> Iterator[Block]:
    writer = part.writer
    groups = values.groups[:MOST_VALUES]
    rates = [writer.share(group.number("discrimination_rate_of_value")) for group in groups]
    if all(rate.number is None for rate in rates):
        return
    rows = value_names(part, groups, column)
    names = {"secret": writer.name(secret), "column": writer.name(column)}
    grid = part.grid(
        "values_title",
        ("values_head", "values_records", "values_rate"),
        zip(rows, (writer.count(group.records) for group in groups), rates, strict=True),
        folded=True,
        secret=names["secret"],
        column=names["column"],
    )
    bars = [
        Bar(row=row, number=rate.number, text=str(rate))
        for row, rate in zip(rows, rates, strict=True)
    ]
    if drawn:
        title = part.say("values_chart", **names)
        below = part.say("values_below")
        spec = shares(title, (below,), bars, axis=part.say("columns_axis"))
        yield Picture(spec=spec, caption=part.say("values_caption"), behind=grid)
    else:
        yield grid
    yield from values_left(part, values, groups)


def values_left(part: ReportPart, values: Listed, groups: Sequence[Group]) -> Iterator[Block]:
    """How many values are not shown, where there are any."""
    if values.number > len(groups):
        of = {"shown": len(groups), "number": count(values.number)}
        yield Paragraph(part.say("values_left", **of), "note")


def value_names(part: ReportPart, groups: Sequence[Group], column: str) -> list[str]:
    """Values as they are called: by themselves where they are shown, or by their rank."""
    return make_unique(_value_name(part, g, column, rank) for rank, g in enumerate(groups, 1))


def _value_name(part: ReportPart, group: Group, column: str, rank: int) -> str:
    if group.values is None:
        return part.say("value_rank", rank=rank)
    value = group.values.get(column)
    if value is None:
        return part.say("value_missing")
    return short_name(value, LONGEST) if value.strip() else part.say("value_blank")


def numbers(part: ReportPart, given: Iterable[tuple[str, NumberText, str]]) -> Grid:
    """A table of measures, each with its definition behind a link, and its risky side."""
    rows = (
        (Link(part.say(NAMES[name]), f"def-{name}"), text, part.texts(SIDES[side]))
        for name, text, side in given
    )
    return part.grid("numbers_table", ("numbers_name", "numbers_value", "numbers_side"), rows, (1,))


def worst_values(part: ReportPart, attack: Attack) -> str:
    """Who is in the worst class, where the result names values."""
    values = (None if attack.worst is None else attack.worst.values) or {}
    named = [
        part.say(
            "worst_value",
            column=part.writer.name(column),
            value=part.say("value_missing") if value is None else short_name(value, LONGEST),
        )
        for column, value in values.items()
    ]
    return part.texts.join(named) if named else ""


def worst_class(writer: NumberWriter, attack: Attack) -> list[tuple[str, NumberText, str]]:
    """What one class tells, for the operator."""
    sides = {"conditional_entropy": "low", "discrimination_rate_of_value": "high"}
    worst = attack.worst
    if worst is None:
        return []
    return [(name, writer.number(worst.number(name)), side) for name, side in sides.items()]
