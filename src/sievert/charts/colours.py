"""The colours of pages by name, so that pictures follow a page into the dark.

Each is a CSS variable of the page's styles; the value beside it is for where there are none.
"""

LIGHT = {
    "page": "#ffffff",
    "surface": "#f6f7f9",
    "ink": "#14191f",
    "soft": "#4a5563",
    "line": "#d9dee5",
    "control": "#8a94a1",
    "breached": "#a8201a",
    "breached-tint": "#fdf2f0",
    "met": "#17663a",
    "met-tint": "#eef7f1",
    "doubtful": "#7a4b00",
    "doubtful-tint": "#fff6e3",
    "link": "#1f4fb8",
    "alone": "#a8201a",
    "small": "#e39a3b",
    "small-edge": "#8f5410",
    "enough": "#7b8794",
    "bar": "#3b5b92",
    "bar-dark": "#1c314d",
    "bar-light": "#cedbe9",
}


def colour(name: str) -> str:
    """A colour as the value of an attribute of SVG.

    >>> colour("met")
    'var(--met, #17663a)'
    """
    return f"var(--{name}, {LIGHT[name]})"


def shade(part: float) -> str:
    """A colour so far between the dark and the light end of bars that stand side by side.

    >>> shade(0.25)
    'color-mix(in srgb, var(--bar-light, #cedbe9) 25%, var(--bar-dark, #1c314d))'
    """
    return f"color-mix(in srgb, {colour('bar-light')} {100 * part:.0f}%, {colour('bar-dark')})"
