"""What a result says, before anybody decides how it looks: a page of chapters of blocks.

The terminal, HTML, Markdown and notebooks render the same tree, so that their sentences are the
same. Texts are plain: renderers escape them. Nothing here knows HTML, Markdown or colours.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Spec = dict[str, Any]


@dataclass(frozen=True)
class Link:
    """Words that lead to a place of the same page."""

    text: str
    anchor: str


Cell = str | Link


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; `kind` is plain, reading, note, warning, command, or lead (what matters most).

    A lead that is a verdict has a second word: met, breached or doubtful.
    """

    text: str
    kind: str = "plain"


@dataclass(frozen=True)
class BulletList:
    """A list of sentences; with `marks`, one word before each (met, breached, ...).

    `states` are the same in our own words: met, breached or doubtful.
    """

    items: tuple[str, ...]
    marks: tuple[str, ...] = ()
    states: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A table; columns whose numbers stand in `right` are set flush right."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    right: tuple[int, ...] = ()
    folded: bool = False  # behind a line to click on; not printed


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A chart, what to see in it, and the table of its numbers.

    A terminal shows the table of one for the `screen`, and all of the others on demand. One with a
    `name` is also a file of --charts: its parts are joined, and `frontier` is `frontier.svg`.
    """

    spec: Spec
    caption: str
    behind: Grid
    screen: bool = False
    name: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figures:
    """A few numbers beside each other, each with the words that say what it is."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class PolicyAnswer:
    """The answer: a state, the sentence and why; then the states of the limits, met ones first.

    A state is met, breached, doubtful, planned where a plan meets the policy, or open without one.
    """

    state: str
    text: str
    why: str = ""
    states: tuple[str, ...] = ()
    tally: str = ""  # the states in words: 4 met, 8 breached


@dataclass(frozen=True)
class Facts:
    """A line of facts: a word that says what each is, and the fact."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Points:
    """Numbered findings: each a short sentence, and the numbers that show it."""

    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Hundred:
    """Of every 100 people: those alone, in small groups and in large ones, and those suppressed.

    Together they are 100. `labels` are a key and its explanation for each; `allowed` is how many
    the policy allows to be alone, with its own words.
    """

    title: str
    shares: tuple[int, ...]
    labels: tuple[tuple[str, str], ...]
    allowed: int | None = None
    allowance: str = ""


@dataclass(frozen=True, kw_only=True)
class NumberRow:
    """A number with its unit; where it has a limit, a state, its word, the limit and how far it is.

    `position` is log2 of the value over its limit, or of a limit below over its value: 0 is at the
    limit, above 0 beyond it; None where it cannot be drawn.
    """

    name: str
    id: str
    value: str
    state: str = ""
    mark: str = ""
    limit: str = ""
    far: str = ""
    position: float | None = None
    remark: str = ""  # a sentence below
    short: str = ""  # the name in the words of the field, where there is little room


@dataclass(frozen=True)
class NumberGroup:
    """Numbers about one thing, and how many of its limits are breached."""

    title: str
    rows: tuple[NumberRow, ...]
    tally: str = ""


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Numbers by what they are about.

    The head names the measure, the verdict, the value, the limit, how far it is, and the id.
    """

    caption: str
    head: tuple[str, ...]
    groups: tuple[NumberGroup, ...]
    axis: tuple[str, ...] = ()  # above drawn limits: the words for the inside, and for the limit
    thousands: str = ","  # what stands between thousands

    @property
    def limited(self) -> bool:
        """Whether any number has a limit."""
        return any(row.limit for group in self.groups for row in group.rows)


@dataclass(frozen=True, kw_only=True)
class OptionRow:
    """What an option changes: from what to what; of shares a bar, of limits their states."""

    name: str
    before: str
    after: str
    share: float | None = None
    states: tuple[str, ...] = ()
    risky: bool = False  # a share of people at risk, not of detail


@dataclass(frozen=True)
class Option:
    """One way to change the table, and whether the policy is then met."""

    title: str
    state: str
    mark: str
    rows: tuple[OptionRow, ...]


@dataclass(frozen=True)
class OptionCards:
    """A few ways to change the table side by side; all have the same rows."""

    now: str  # the name of the table as it is
    items: tuple[Option, ...]


Block = (
    Paragraph
    | BulletList
    | Grid
    | Picture
    | Figures
    | PolicyAnswer
    | Facts
    | Points
    | Hundred
    | Numbers
    | OptionCards
)


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """A heading and what stands below it; the anchor is our own word, unique on the page.

    A terminal shows those for the `screen`; the others on demand.
    """

    title: str
    anchor: str
    blocks: "tuple[Block | Chapter, ...]"
    screen: bool = False
    folded: bool = False  # behind its heading, to click on; not printed
    topic: str = ""  # a word or two for the links to chapters, where the title is a sentence
    instead: str = ""  # what a terminal says in its place, beside the heading
    further: bool = False  # somebody asked for it: a screen may be longer by it


@dataclass(frozen=True, kw_only=True)
class Page:
    """A whole page: its title, what stands on the first screen, its chapters, its last line."""

    title: str
    language: str
    front: tuple[Block | Chapter, ...]
    chapters: tuple[Chapter, ...]
    foot: tuple[str, ...] = ()
    contents: str = "Contents"
    warning: str = ""  # once more at the end, and on every printed page
    shared: bool = False  # the short page of --share
    kind: str = ""  # what kind of page it is, beside our name
    undrawn: str = ""  # where charts cannot be drawn: what to install
    more: tuple[str, ...] = ()  # where a terminal says how to see the rest: first all numbers
    commands: tuple[str, ...] = ()  # the last lines on a terminal, to be copied: never wrapped
    fits: bool = True  # whether an answer is cut to a screen of a terminal

    def pictures(self) -> Iterator[Picture]:
        """Every picture, in the order of the page."""
        yield from (b for b in walk((*self.front, *self.chapters)) if isinstance(b, Picture))


def make_grid(
    caption: str,
    head: Iterable[str],
    rows: Iterable[Iterable[object]],
    right: Sequence[int] | None = None,
    *,
    folded: bool = False,
) -> Grid:
    """A table of anything that has a text; all columns but the first flush right, unless given."""
    head = tuple(head)
    cells = tuple(tuple(c if isinstance(c, Link) else str(c) for c in row) for row in rows)
    right = range(1, len(head)) if right is None else right
    return Grid(caption=caption, head=head, rows=cells, right=tuple(right), folded=folded)


def walk(blocks: tuple[Block | Chapter, ...]) -> Iterator[Block | Chapter]:
    """Every block and chapter below, in reading order."""
    for block in blocks:
        yield block
        if isinstance(block, Chapter):
            yield from walk(block.blocks)
