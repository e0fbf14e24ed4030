"""How the numbers of an explanation are shown: unique people, rates, each column's part."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sievert.charts import Bar, bars
from sievert.charts.drawing import PLAIN, caption_bars, short_name
from sievert.charts.pairs import panels
from sievert.formatting import make_unique
from sievert.report.explanation import ColumnShapley, NumberedValue, PopulationChapter
from sievert.report.overview import Overview
from sievert.report.page import Block, Chapter, Grid, Link, Picture, make_grid
from sievert.report.parts import LONGEST, NumberText, ReportPart

MANY = 5  # columns that are named one by one
MOST_SECRETS = 3
MOST_ROWS = 12  # of a picture
EXACT_HEADS = {  # of numbers beside the rates, by their measures
    "k_anonymity": "head_k_anonymity",
    "itpr": "head_itpr",
    "separation": "head_separation",
    "distinction": "head_distinction",
    "mutual_information": "head_mutual_information",
    "itpr_unnormalized": "head_itpr_unnormalized",
}


@dataclass(frozen=True, kw_only=True)
class PictureKeys:
    """The keys of the texts of a picture: above it, below it, and how to read it."""

    title: str
    below: str
    caption: str


class ExplanationView(ReportPart):
    """One explanation: its numbers, its columns by name."""

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        """The columns an outsider may know."""
        return self.read(Overview).roles.quasi

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The secrets that are looked at."""
        return tuple(self.read(ColumnShapley).secrets)

    @cached_property
    def records(self) -> int:
        """The number of people or records that were counted; some may be left out."""
        return self.read(PopulationChapter).sample

    # -- numbers --------------------------------------------------------------------------------

    def shares(self, secret: str | None) -> dict[str, NumberText]:
        """The part of the whole that each column carries, in whole per cent that add up to 100."""
        columns = self.read(ColumnShapley).of(secret).columns
        known = {}
        for column in self.quasi:
            part = columns[column].share if column in columns else None
            if part is not None:
                known[column] = part
        rounded = dict(zip(known, round_shares([*known.values()]), strict=True))
        small = self.say("share_small")
        texts = {
            c: NumberText(small if part > 0 and not rounded[c] else f"{rounded[c]} %", part)
            for c, part in known.items()
        }
        return {c: texts.get(c, self.writer.undefined()) for c in self.quasi}

    def interval(self, column: str, secret: str | None) -> tuple[float, float] | None:
        """The interval of a sampled share."""
        shares = self.read(ColumnShapley).of(secret)
        part = shares.columns.get(column)
        if part is None or part.low is None or part.high is None or not shares.whole:
            return None
        return part.low / shares.whole, part.high / shares.whole

    def rate_heads(self, more: Iterable[str] = ()) -> list[str]:
        """Heads of columns with rates: of finding a person, of each secret, exact numbers."""
        secrets = [self.say("rate_of", name=self.labels[s]) for s in self.secrets[:MOST_SECRETS]]
        exact = [self.say(EXACT_HEADS[measure]) for measure in more]
        return [self.say("rate_of_finding"), *secrets, *exact]

    def rows_first(self, shown: int, of: int) -> str:
        """Say that only the first rows are shown, where there are more."""
        return self.say("rows_first", shown=shown, of=of) if of > shown else ""

    # -- names ----------------------------------------------------------------------------------

    @cached_property
    def column_names(self) -> Mapping[str, str]:
        """Names of the known columns, no two alike."""
        return dict(zip(self.quasi, make_unique(map(self.writer.name, self.quasi)), strict=True))

    @cached_property
    def labels(self) -> Mapping[str | None, str]:
        """Finding a person (None), and each secret, no two alike."""
        names = [self.say("finding"), *map(self.writer.name, self.secrets)]
        return dict(zip((None, *self.secrets), make_unique(names), strict=True))

    def set_of(self, columns: Sequence[str]) -> str:
        """A set of known columns in words."""
        if len(columns) > MANY:
            left = [c for c in self.quasi if c not in set(columns)]
            if not left:
                return self.say("all_columns", number=len(columns))
            if len(left) == 1:
                return self.say("all_but", column=self.column_names[left[0]])
            if len(columns) > 3 * MANY:
                return self.say("some_columns", number=len(columns))
        return self.names(columns)

    def values_in(self, columns: Sequence[str]) -> str:
        """Name what people have in these columns, after "their"."""
        name = self.set_of(columns)
        return self.say("values_in", columns=name) if len(columns) > MANY else name

    def names(self, columns: Sequence[str]) -> str:
        """Known columns in a sentence."""
        return self.texts.join([self.column_names[c] for c in columns])

    def value_of(self, value: NumberedValue) -> str:
        """A value by its number in its column; by itself where the JSON names it."""
        if value.missing:
            return self.say("value_missing")
        if value.text is None:
            return self.say("value_number", number=value.number)
        return short_name(value.text, LONGEST)

    def value_in_column(self, value: NumberedValue) -> str:
        """The same with the name of its column before it."""
        name = self.value_of(value)
        return self.say("value_of", column=self.column_names[value.column], value=name)


def explanation_view(part: ReportPart) -> ExplanationView:
    """View the explanation within an assessment."""
    return ExplanationView(
        kind="explain",
        data=part.data,
        writer=part.writer,
        number=part.number,
        result=part.result,
        read_back=part.read_back,
    )


def round_shares(shares: Sequence[float]) -> list[int]:
    """Shares in whole per cent, rounded by largest remainder so that their sum is kept.

    >>> round_shares([1 / 3, 1 / 3, 1 / 3]), round_shares([1.046, -0.046])
    ([34, 33, 33], [105, -5])
    """
    exact = [round(100 * share, 9) for share in shares]
    rounded = [math.floor(share) for share in exact]
    order = sorted(range(len(exact)), key=lambda i: (rounded[i] - exact[i], i))
    for i in order[: round(sum(exact)) - sum(rounded)]:
        rounded[i] += 1
    return rounded


def screened(block: Block, most: int) -> Iterator[Block]:
    """Show the table of a picture on a terminal too; a long table shows its first rows."""
    if not isinstance(block, Picture):
        yield block
        return
    grid = block.behind
    if len(grid.rows) <= most:
        yield replace(block, screen=True)
        return
    yield replace(grid, rows=grid.rows[:most])
    yield block


def captioned_bars(
    part: ReportPart,
    keys: PictureKeys,
    marks: Sequence[tuple[Bar, NumberText]],
    grid: Grid,
    *,
    axis: str,
    more: str = "",
    fill: str = PLAIN,
    limit: tuple[float, str] | None = None,
    **values: object,
) -> Block:
    """A picture of bars, each with its words; the table alone where no bar can be drawn.

    Several series become panels side by side.
    """
    if all(bar.number is None for bar, _ in marks):
        return grid
    below = [part.say(keys.below, **values)]
    if more:
        below.append(more)
    given = [bar for bar, _ in marks]
    spec = bars(part.say(keys.title), below, given, axis=part.say(axis), fill=fill, limit=limit)
    spec = panels(caption_bars(spec, [(bar, text.text) for bar, text in marks]))
    return Picture(spec=spec, caption=part.say(keys.caption), behind=grid)


@dataclass(frozen=True)
class Term:
    """A word of a chapter: its definition, and the keys of the word and of what it means."""

    definition: str
    word: str
    meaning: str


def words_chapter(part: ReportPart, words: Iterable[Term]) -> Chapter:
    """Words of a chapter, each with its definition behind a link and what it means in short."""
    rows = (
        (Link(part.say(term.word), f"def-{term.definition}"), part.say(term.meaning))
        for term in words
    )
    title = part.say("words_table")
    grid = make_grid(title, (part.say("word"), part.say("meaning")), rows, ())
    return Chapter(title=title, anchor=part.anchor("words"), blocks=(grid,), folded=True)
