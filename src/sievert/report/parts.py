"""The parts of a page: one result each, and how its numbers and names are written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, Self, TypeVar

from sievert.charts.drawing import short_name
from sievert.formatting import count, digits, percent, printable, significant
from sievert.report.page import Block, Chapter, Grid, make_grid
from sievert.report.texts import Texts

LONGEST = 60  # letters of a name on a page
NAMED = 6  # columns in a sentence
LISTED = 30  # columns in a list
LETTERS = 100  # of all these names together


@dataclass(frozen=True)
class NumberText:
    """A number as a page shows it: in words, and as a picture may draw it (None: not at all)."""

    text: str
    number: float | None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class NumberWriter:
    """Writes the numbers and names of one table."""

    texts: Texts

    def name(self, column: str) -> str:
        """The name of a column."""
        return short_name(column, LONGEST)

    def file(self, name: str) -> str:
        """The name of a file."""
        return printable(name[: LONGEST + 1])[:LONGEST]

    def names(self, columns: Iterable[str]) -> str:
        """Columns in a sentence; quoted where a name has a comma."""
        names = map(self.name, columns)
        return self.texts.join([f'"{name}"' if "," in name else name for name in names])

    def undefined(self) -> NumberText:
        """The words in place of a number that does not exist."""
        return NumberText(self.texts("words.undefined"), None)

    def _write(
        self, value: float | None, write: Callable[[float], str] = significant
    ) -> NumberText:
        return self.undefined() if value is None else NumberText(write(value), value)

    def count(self, number: float | None) -> NumberText:
        """A number of records, people, classes or values."""
        return self._write(number, lambda n: digits(f"{n:,.0f}"))

    def share(self, part: float | None) -> NumberText:
        """A share, in per cent."""
        return self._write(part, percent)

    def number(self, value: float | None) -> NumberText:
        """Any other number; its unit stands beside it."""
        return self._write(value)


Data = Mapping[str, Any]


class ReadBack(Protocol):
    """A kind of result that can be read back from its JSON."""

    @classmethod
    def from_dict(cls, data: Data) -> Self:
        """Read a result back from its JSON."""


Saved = TypeVar("Saved", bound=ReadBack)
# The text on the columns of each role, in the order of a page.
ROLE_TEXTS = {
    "quasi": "front.outsider",
    "sensitive": "front.secrets",
    "identifier": "front.dropped",
    "person": "front.person",
    "household": "front.household",
    "weight": "front.weight",
    "ignored": "front.ignored",
    "kept": "front.kept",
    "unassessed": "front.unassessed",
}
# The section of the texts that a command's chapter is written with.
CHAPTERS = {
    "assess": "assessed",
    "explain": "explained",
    "attack": "attacked",
    "compare": "compared",
    "compromise": "compromised",
    "limit": "limits",
    "protect": "protected",
    "hierarchies": "proposed",
    "synthetic": "synthetic",
    "ledger": "ledger",
    "sketch": "sketched",
}


class ResultContent:
    """A result with its JSON, which is made once for everything that is written of it."""

    def __init__(self, result: Any) -> None:
        self.result = result

    @cached_property
    def content(self) -> Mapping[str, Any]:
        """The JSON of the result."""
        content: Mapping[str, Any] = self.result.to_dict()
        return content

    @property
    def shared(self) -> bool:
        """Whether it is what may be shared of a result."""
        return "shared" in self.content["table"]


@dataclass(frozen=True, kw_only=True)
class ReportPart:
    """One result: its command, its JSON, how its numbers are written, its place on the page."""

    kind: str  # a key of CHAPTERS
    data: Data
    writer: NumberWriter
    number: int = 1
    result: Any = None
    # What was read back from the JSON, by the kind of result.
    read_back: dict[type, Any] = field(default_factory=dict, repr=False, compare=False)
    every_picture: bool = False  # for --charts: also the pictures that are too many for a page

    @property
    def texts(self) -> Texts:
        """All sentences."""
        return self.writer.texts

    def read(self, kind: type[Saved]) -> Saved:
        """The result itself; one that was saved is read back from its JSON, once."""
        if isinstance(self.result, kind):
            return self.result
        saved: Saved | None = self.read_back.get(kind)
        if saved is None:
            saved = kind.from_dict(self.data)
            self.read_back[kind] = saved
        return saved

    @property
    def rows(self) -> int:
        """The number of records of the table."""
        return int(self.data["table"]["rows"])

    def pictured(self, number: int, most: int) -> bool:
        """Whether picture `number` is drawn: a page has room for the first `most`."""
        return self.every_picture or number <= most

    def say(self, key: str, /, **values: object) -> str:
        """A text of this part's own section."""
        return self.texts(f"{CHAPTERS[self.kind]}.{key}", **values)

    def anchor(self, word: str) -> str:
        """A place on the page; `word` is our own."""
        return f"part{self.number}-{word}"

    def grid(
        self,
        caption: str,
        head: Iterable[str],
        rows: Iterable[Iterable[object]],
        right: Sequence[int] | None = None,
        *,
        folded: bool = False,
        more: Iterable[str] = (),
        **values: object,
    ) -> Grid:
        """A table whose caption and heads have keys; `more` heads are names or ready texts."""
        heads = (*map(self.say, head), *more)
        return make_grid(self.say(caption, **values), heads, rows, right, folded=folded)

    def chapter(self, title: str, anchor: str, blocks: Iterable[Block | Chapter]) -> Chapter:
        """A chapter whose `title` is the key of a text."""
        return Chapter(title=self.say(title), anchor=self.anchor(anchor), blocks=tuple(blocks))


def names_of(part: ReportPart, columns: Sequence[str]) -> str:
    """A few columns in a sentence."""
    return some_columns(part.texts, columns, part.writer.name, NAMED)


def some_columns(
    texts: Texts, columns: Sequence[str], shown: Callable[[str], str], most: int = LISTED
) -> str:
    """Columns in a sentence, those with a comma in quotes; of many the first ones."""
    names = [f'"{name}"' if "," in name else name for name in map(shown, columns)]
    return texts.join(first_words(texts, names, most))


def first_words(
    texts: Texts,
    words: Sequence[str],
    most: int = LISTED,
    letters: int = LETTERS,
    more: str = "front.more_columns",
) -> list[str]:
    """Words of a list; of many, or long ones, the first, and how many more there are."""
    first = [*words] if len(words) <= most else [*words[: most - 1]]
    while len(first) > 1 and len(", ".join(first)) > letters:
        first.pop()
    left = len(words) - len(first)
    return [*first, texts(more, number=count(left))] if left else first
