"""What a paper says, what we compute, and how the two stand to each other."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import wraps
from typing import TypeVar

from sievert.report.page import Block, Paragraph

# How a printed value stands to ours.
MATCH = "match"  # as many digits as are printed
ROUNDING = "rounding"  # off by no more than one unit of the last printed digit
CONTRADICTS = "contradicts itself"  # the paper's own text or tables exclude the printed value
DIFFERS = "differs"  # we compute something else, and the text does not tell why
OPEN = "not determined by the text"
# Of a statement in words.
TRUE = "true"
FALSE = "false"
STATES = (MATCH, ROUNDING, TRUE, FALSE, CONTRADICTS, DIFFERS, OPEN)
HELD = (MATCH, ROUNDING, TRUE)
NEED_WHY = (CONTRADICTS, DIFFERS, OPEN, FALSE)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One printed value or statement beside ours; `why` where they do not agree."""

    what: str
    printed: str
    ours: str
    state: str
    why: str = ""

    def __post_init__(self) -> None:
        if self.state not in STATES:
            raise ValueError(self.state)
        if self.state in NEED_WHY and not self.why:
            raise ValueError(f"{self.what}: say why")


@dataclass(frozen=True)
class PaperPart:
    """A table, a figure or a group of statements of the paper, with what to make of it."""

    title: str
    about: str
    claims: tuple[Claim, ...] = ()
    blocks: tuple[Block, ...] = ()  # pictures, tables, words


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper's tables, figures and statements, recomputed."""

    name: str
    title: str
    source: str  # authors, year, where
    about: str
    parts: tuple[PaperPart, ...]

    def count_states(self) -> Counter[str]:
        """How many claims stand in which way."""
        return Counter(c.state for part in self.parts for c in part.claims)


@dataclass(frozen=True)
class Given:
    """What a recomputation may use besides what it holds itself: real tables by name, a seed."""

    data: dict[str, str] = field(default_factory=dict)  # adult, pums, ... -> path
    seed: int = 0
    replicates: int = 1  # runs of an experiment that the paper has run 30 times
    step: Callable[[str], None] = lambda _: None  # progress: called with what is being computed


Part = TypeVar("Part")


def announce(what: str) -> Callable[[Callable[[Given], Part]], Callable[[Given], Part]]:
    """Tell what is being computed before a part of a paper is."""

    def decorate(compute: Callable[[Given], Part]) -> Callable[[Given], Part]:
        @wraps(compute)
        def run(given: Given) -> Part:
            given.step(what)
            return compute(given)

        return run

    return decorate


def digits(printed: str) -> int:
    """Decimals of a printed number.

    >>> digits("0.310"), digits("31 %"), digits("2")
    (3, 0, 0)
    """
    return max(0, -int(Decimal(_bare(printed)).as_tuple().exponent))


def _bare(printed: str) -> str:
    return printed.replace("%", "").replace(",", "").replace("≈", "").strip()


def number(
    what: str, printed: str, ours: float | None, *, why: str = "", contradicts: bool = False
) -> Claim:
    """A printed number beside ours, compared at the digits that are printed.

    `why` is used only where they do not agree; `contradicts` says that the paper excludes its own
    value. Two whole numbers are counts: one too many is not a rounded digit.

    >>> number("H", "0.92", 0.9183).state, number("H", "0.91", 0.9183, why="cut off").state
    ('match', 'rounding')
    >>> number("groups", "5", 4, why="there are four").state
    'differs'
    """
    if ours is None:
        return Claim(
            what=what,
            printed=printed,
            ours="-",
            state=CONTRADICTS if contradicts else OPEN,
            why=why,
        )
    places = digits(printed)
    value = float(_bare(printed))
    percent = "%" in printed
    scaled = 100 * ours if percent else ours
    unit = 10.0**-places
    count = places == 0 and float(scaled).is_integer() and not percent  # a count is exact
    shown = f"{scaled:.{0 if count else places + 2}f}" + (" %" if percent else "")
    if math.isclose(scaled, value, rel_tol=0, abs_tol=0.0 if count else unit / 2 * (1 + 1e-9)):
        return Claim(what=what, printed=printed, ours=shown, state=MATCH)
    if not count and abs(scaled - value) < unit * (1 + 1e-9):
        return Claim(
            what=what,
            printed=printed,
            ours=shown,
            state=ROUNDING,
            why=why or "the last digit is cut off or rounded",
        )
    return Claim(
        what=what,
        printed=printed,
        ours=shown,
        state=CONTRADICTS if contradicts else DIFFERS,
        why=why,
    )


def statement(
    what: str, printed: str, ours: str, *, holds: bool, why: str = "", contradicts: bool = False
) -> Claim:
    """A verdict of the paper, true or false by our numbers; `why` is kept where it is not true.

    `contradicts` says that the paper itself excludes it.

    >>> statement("H(0)", "equal", "1 and 1", holds=True, why="they differ").why
    ''
    """
    return (
        Claim(what=what, printed=printed, ours=ours, state=TRUE)
        if holds
        else Claim(
            what=what,
            printed=printed,
            ours=ours,
            state=CONTRADICTS if contradicts else FALSE,
            why=why,
        )
    )


def open_question(what: str, printed: str, why: str, ours: str = "-") -> Claim:
    """Something the text does not determine, and what is lacking."""
    return Claim(what=what, printed=printed, ours=ours, state=OPEN, why=why)


def remark(what: str, why: str, ours: str = "") -> Paragraph:
    """What the paper prints nothing of to compare with: an assumption, or a number of ours.

    >>> remark("Black box", "no number is printed", "0.5").text
    'Black box: 0.5 (no number is printed).'
    """
    return Paragraph(f"{what}: {ours} ({why})." if ours else f"{what}: {why}.", kind="note")


def turning(value: float, threshold: float) -> str:
    """What another threshold would change: half of ours or twice ours, where the text has none.

    >>> turning(0.3, 0.25), turning(0.9, 0.25)
    (' (another verdict with twice the threshold)', '')
    """
    ours = value < threshold
    other = [name for name, f in (("half", 0.5), ("twice", 2)) if (value < f * threshold) != ours]
    return f" (another verdict with {other[0]} the threshold)" if other else ""


def apart(worst: float, most: float) -> str:
    """How far two ways to the same numbers differ, without digits that hang on the machine.

    >>> apart(2e-16, 1e-12), apart(0.25, 1e-12)
    ('apart by less than 1e-12', 'apart by 0.25')
    """
    return f"apart by less than {most:g}" if worst < most else f"apart by {worst:.2g}"


def require_number(value: float | None) -> float:
    """A measure of a table of a paper, where it is defined and bounded."""
    assert value is not None
    return value
