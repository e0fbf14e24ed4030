"""Small pictures of a page as SVG: icons of states, people, bars of limits and of shares.

They have attributes only, no styles, so that a strict policy of a page lets them be.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from sievert.charts.colours import colour
from sievert.report.page import Hundred, Numbers

TICK = "M6.3 12.4l3.9 3.9 7.5-8.2"
CROSS = "M7.8 7.8l8.4 8.4m0-8.4l-8.4 8.4"
QUESTION = "M9.3 9.7a2.8 2.8 0 1 1 4.2 2.4c-1.1.6-1.5 1.2-1.5 2.3m0 2.9v.3"
ARROW = "M7 12h10m-4-4l4 4-4 4"
DIAMOND = "M12 .6L23.4 12 12 23.4 .6 12z"
ROUND = 'stroke-linecap="round" stroke-linejoin="round"'
MOST_STATES = 24  # one by one; more of them are a bar


def icon(state: str, size: int = 16) -> Markup:
    """The sign of a state: met, breached, doubtful, planned or open; nothing for any other."""
    drawn = _sign(state, colour("page"))
    return _svg(size, size, drawn, box=(24, 24), about="icon") if drawn else Markup()


def _sign(state: str, inner: str, *, outlined: bool = False) -> str:
    """A state in a square of 24: a shape of its own, so that it is told apart without colours."""
    line = f'fill="none" stroke="{inner}" stroke-width="2.6" {ROUND}'
    match state:
        case "met":
            shape = f'<rect x="1" y="1" width="22" height="22" rx="5" fill="{colour("met")}"/>'
            return f'{shape}<path d="{TICK}" {line}/>'
        case "breached" if outlined:
            line = f'fill="none" stroke="{colour("breached")}" stroke-width="2.2" {ROUND}'
            return f'<circle cx="12" cy="12" r="10.6" {line}/><path d="{CROSS}" {line}/>'
        case "breached":
            shape = f'<circle cx="12" cy="12" r="11.4" fill="{colour("breached")}"/>'
            return f'{shape}<path d="{CROSS}" {line}/>'
        case "doubtful":
            shape = f'<path d="{DIAMOND}" fill="{colour("doubtful")}"/>'
            return f'{shape}<path d="{QUESTION}" {line}/>'
        case "planned":
            line = f'fill="none" stroke="{colour("soft")}" stroke-width="2" {ROUND}'
            shape = f'<circle cx="12" cy="12" r="10.6" stroke-dasharray="3.6 3.05" {line}/>'
            return f'{shape}<path d="{ARROW}" {line}/>'
        case "open":
            line = f'fill="none" stroke="{colour("soft")}" stroke-width="2" {ROUND}'
            shape = f'<circle cx="12" cy="12" r="10.6" stroke-dasharray="3.6 3.05" {line}/>'
            return f'{shape}<path d="M8 12h8" {line}/>'
    return ""


def _svg(
    width: float,
    height: float,
    drawn: str,
    *,
    box: tuple[float, float] | None = None,
    label: str = "",
    about: str = "",
) -> Markup:
    """Draw a picture of a size; without a label it only repeats the page."""
    across, down = box or (width, height)
    named = f'role="img" aria-label="{escape(label)}"' if label else 'aria-hidden="true"'
    kind = f' class="{about}"' if about else ""
    return Markup(  # noqa: S704 - drawn here, and its label is escaped
        f'<svg{kind} {named} width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {across:g} {down:g}">{drawn}</svg>'
    )


LOGO = "".join(
    f'<circle cx="12" cy="12" r="{r}" fill="{fill}" stroke="{colour("link")}" {more}/>'
    for r, fill, more in (
        (11, "none", 'stroke-width="1.5" stroke-dasharray="2.6 1.72"'),
        (7, "none", 'stroke-width="1.8"'),
        (3, colour("link"), 'stroke-width="1"'),
    )
)


def logo() -> Markup:
    """A dosimeter seen from above: rings around a dot."""
    return _svg(20, 20, LOGO, box=(24, 24), about="logo")


def exclamation() -> Markup:
    """The sign of what is not covered."""
    line = f'fill="none" stroke="{colour("doubtful")}"'
    shape = f'<rect x=".5" y=".5" width="23" height="23" rx="4" {line}/>'
    mark = f'<path d="M12 6.8v6.4m0 3.6v.2" {line} stroke-width="2.2" {ROUND}/>'
    return _svg(24, 24, shape + mark, about="icon")


# -- states of limits -----------------------------------------------------------------------------


def strip(states: Sequence[str], label: str = "", *, size: float = 17, gap: float = 6) -> Markup:
    """Draw the states of limits side by side; many become one bar, divided by state."""
    if len(states) > MOST_STATES:
        return _shares_of_states(states, label)
    signs = (
        f'<g transform="translate({i * (size + gap):g} 0) scale({size / 24:.4g})">'
        f"{_sign(state, colour('page'), outlined=True)}</g>"
        for i, state in enumerate(states)
    )
    return _svg(len(states) * (size + gap) - gap, size, "".join(signs), label=label, about="strip")


def _shares_of_states(states: Sequence[str], label: str) -> Markup:
    width = 272.0
    place = 0.0
    parts = []
    for state in dict.fromkeys(states):
        share = width * states.count(state) / len(states)
        fill = colour(state if state != "open" else "control")
        parts.append(f'<rect x="{place:.4g}" width="{share:.4g}" height="14" fill="{fill}"/>')
        place += share
    return _svg(width, 14, "".join(parts), label=label, about="strip")


# -- people ---------------------------------------------------------------------------------------

A_COLUMN = 5
ACROSS = 24.4
DOWN = 32
TOP = 14
PEOPLE_WIDTH = 20 * ACROSS + 12
PERSON = (
    "m10 .6a4 4 0 1 1-.01 0zm-4.6 9.9h9.2a3.4 3.4 0 0 1 3.4 3.4v6.1h-3v7.5h-10v-7.5h-3v-6.1"
    "a3.4 3.4 0 0 1 3.4-3.4z"
)
BELT = "m.6 5h8"  # so that a small group is told from the others without colours
PEOPLE = (
    f'fill="{colour("alone")}"',
    f'fill="{colour("small")}" stroke="{colour("small-edge")}" stroke-width="1.3"',
    f'fill="{colour("page")}" stroke="{colour("enough")}" stroke-width="1.3"',
    f'fill="none" stroke="{colour("soft")}" stroke-width="1.3" stroke-dasharray="2 3"',
)


def _person(kind: int, places: Iterable[tuple[float, float]]) -> str:
    """People of one kind, in one path."""
    drawn = PERSON + (BELT if kind == 1 else "")
    path = "".join(f"M{x:.4g} {y:.4g}{drawn}" for x, y in places)
    return f'<path d="{path}" {PEOPLE[kind]} stroke-linejoin="round"/>' if path else ""


def person(kind: int) -> Markup:
    """One of the people, for the key: alone, in a small group, in a large one, suppressed."""
    return _svg(18, 26, _person(kind, [(0, 0)]), box=(20, 29), about="person")


def people(block: Hundred) -> Markup:
    """A hundred people column by column, and a dashed box around as many as the policy allows."""
    kinds = [kind for kind, share in enumerate(block.shares) for _ in range(share)]
    spots = [(6 + i // A_COLUMN * ACROSS, TOP + i % A_COLUMN * DOWN + 3) for i in range(len(kinds))]
    drawn = "".join(
        _person(kind, (spot for spot, of in zip(spots, kinds, strict=True) if of == kind))
        for kind in range(len(block.shares))
    )
    label = f"{block.title}: {', '.join(key for key, _ in block.labels)}"
    box = _allowance(block.allowed) if block.allowed else ""
    return _svg(PEOPLE_WIDTH, TOP + A_COLUMN * DOWN + 4, drawn + box, label=label, about="people")


def _allowance(allowed: int) -> str:
    """The box, and the line that leads up to its words."""
    whole, rest = divmod(min(allowed, 100), A_COLUMN)
    left = 3.5
    top = TOP - 1
    right = left + whole * ACROSS
    bottom = TOP + A_COLUMN * DOWN + 1
    step = f"H{right + ACROSS:g}V{top + rest * DOWN + 2:g}H{right if whole else left:g}"
    path = f"M{left} {top}{step if rest else f'H{right:g}'}{f'V{bottom}H{left}' if whole else ''}z"
    line = f'fill="none" stroke="{colour("ink")}" stroke-width="1.6"'
    lead = f'<path d="M16 {top}V1.5H26" {line}/>'
    return f'<path d="{path}" {line} stroke-dasharray="4 3" {ROUND}/>{lead}'


# -- numbers and their limits ---------------------------------------------------------------------

LIMIT_WIDTH = 236
LIMIT_HEIGHT = 24
LIMIT_AT = 68
FARTHEST = 12.0  # doublings that are drawn
LETTER = 7.5  # pixels of one above the bars


@dataclass(frozen=True)
class LimitScale:
    """The positions of numbers beside the common limit of all bars: a doubling is `unit` pixels."""

    unit: float
    doublings: tuple[int, ...]
    thousands: str

    def place(self, position: float) -> float:
        """Pixels from the left; a number beyond the picture stands at its end."""
        return min(max(LIMIT_AT + self.unit * position, 5), LIMIT_WIDTH - 6)


def limit_scale(block: Numbers) -> LimitScale:
    """A scale wide enough for the numbers of a table."""
    places = [r.position for g in block.groups for r in g.rows if r.position is not None]
    high = min(max([4.4, *places]), FARTHEST)
    unit = (LIMIT_WIDTH - LIMIT_AT - 6) / high
    room = LETTER * (len(f"{2 ** int(high):,}") + 2) + 4
    step = next(n for n in range(1, 99) if n * unit >= room or n > high)
    return LimitScale(unit, tuple(range(step, int(high) + 1, step)), block.thousands)


def limit_axis(scale: LimitScale, words: Sequence[str]) -> Markup:
    """Label the lines above the bars: inside, the limit, twice as far, ..."""
    times = {n: f"{2**n:,}".replace(",", scale.thousands) for n in scale.doublings}
    marks = [(scale.place(n), "middle", f"{t}\N{NO-BREAK SPACE}×") for n, t in times.items()]
    if len(words) > 1:
        marks = [(0, "start", words[0]), (LIMIT_AT, "middle", words[1]), *marks]
    texts = (
        f'<text x="{x:.4g}" y="13" text-anchor="{anchor}" font-size="12" fill="'
        f'{colour("ink" if x == LIMIT_AT else "soft")}">{escape(text)}</text>'
        for x, anchor, text in marks
    )
    return _svg(LIMIT_WIDTH, 17, "".join(texts), about="axis")


def limit_bar(scale: LimitScale, position: float | None, state: str) -> Markup:
    """Draw the distance of a number from its limit; the allowed side is tinted."""
    grid = "".join(
        f'<path d="M{scale.place(n):.4g} 5v14" stroke="{colour("line")}"/>' for n in scale.doublings
    )
    inside = f'<rect y="5" width="{LIMIT_AT}" height="14" fill="{colour("met-tint")}"/>'
    limit = f'<path d="M{LIMIT_AT} 2v20" stroke="{colour("ink")}" stroke-width="2"/>'
    if position is None and state == "breached":  # of a limit of 0: no multiple says how far
        drawn = _arrow(scale.place(FARTHEST))
    else:
        drawn = "" if position is None else _needle(scale.place(position), state)
    return _svg(LIMIT_WIDTH, LIMIT_HEIGHT, inside + grid + limit + drawn, about="limit")


def _needle(x: float, state: str) -> str:
    fill = colour(state if state in ("met", "breached", "doubtful") else "soft")
    line = f'<path d="M{LIMIT_AT} 12H{x:.4g}" stroke="{fill}" stroke-width="4"/>'
    return line + {
        "met": f'<rect x="{x - 4.5:.4g}" y="7.5" width="9" height="9" rx="2" fill="{fill}"/>',
        "doubtful": f'<path d="M{x:.4g} 6l6 6-6 6-6-6z" fill="{fill}"/>',
    }.get(state, f'<circle cx="{x:.4g}" cy="12" r="5" fill="{fill}"/>')


def _arrow(x: float) -> str:
    """A number that lies beyond any multiple of its limit."""
    fill = colour("breached")
    line = f'<path d="M{LIMIT_AT} 12H{x - 4:.4g}" stroke="{fill}" stroke-width="4"/>'
    return f'{line}<path d="M{x - 5:.4g} 6l10 6-10 6z" fill="{fill}"/>'


def share_bar(share: float, *, risky: bool) -> Markup:
    """A share of a dashed box: red of people at risk, blue of anything else."""
    fill = colour("alone" if risky else "bar")
    width = 142 * min(max(share, 0.0), 1.0)
    box = f'fill="none" stroke="{colour("control")}" stroke-dasharray="3 2.5"'
    return _svg(
        142,
        12,
        f'<rect x=".5" y=".5" width="141" height="11" rx="2" {box}/>'
        f'<rect width="{width:.4g}" height="12" rx="1.5" fill="{fill}"/>',
        about="share",
    )
