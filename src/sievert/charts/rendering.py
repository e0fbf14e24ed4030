"""A Vega-Lite dict as a static SVG: no script, no link, no font from elsewhere, the same bytes."""

import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sievert import files
from sievert.charts.colours import colour, shade
from sievert.charts.drawing import CONFIG, EXPOSED, FONT, INK, PLAIN, Spec, shades
from sievert.errors import ExhaustedError, InvariantError, RefusedError, UsageError, require
from sievert.sources.options import optional_package

MARK = "<!-- drawn by sievert -->"
NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ROOT = re.compile(r"<svg\b([^>]*)>")
# The renderer looks texts up in plain objects of JavaScript, which have these properties from the
# start: a text that is one of them gets an invisible mark, which is taken out of the picture.
INHERITED = frozenset(
    (
        *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable"),
        *("toLocaleString", "toString", "valueOf", "__proto__"),
        *("__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
    )
)
UNSEEN_MARK = "\u2063"  # invisible separator: of no width
KEPT = 256  # pictures, of some ten thousand bytes each


MARKED = re.compile(f"({'|'.join(sorted(INHERITED))}){UNSEEN_MARK}")


def svg(spec: Spec, *, width: int | None = None) -> str:
    """The picture, with its title and its description for those who do not see it.

    For a page that sets the title itself it is of a width, without the title on it, in the colours
    of the page.
    """
    require(  # the renderer would end the process
        not any(NOT_XML.search(text) for text in _texts(spec)),
        "a chart holds a character that no picture can show",
    )
    try:
        drawn = draw(json.dumps(spec if width is None else fit(spec, width)))
    except (UsageError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # a panic in Rust is no Exception; the messages may hold values
        raise InvariantError("a chart cannot be drawn") from None
    if width is not None:
        drawn = TAG.sub(partial(_follow_page, bare=width < NARROW), drawn)
    title = escape(" ".join(spec["title"]["text"]), quote=True)
    about = escape(spec["description"], quote=True)
    root = ROOT.match(drawn)
    if root is None:
        raise InvariantError("a chart was drawn, but not as SVG")
    head = f'{MARK}\n<svg role="img" aria-label="{title}"{root[1]}>'
    return f"{head}<title>{title}</title><desc>{about}</desc>{drawn[root.end() :]}\n"


def can_draw() -> bool:
    """Whether the renderer is installed, which takes 84 MB: it is not loaded to find that out."""
    return find_spec("vl_convert") is not None


@lru_cache(maxsize=KEPT)
def draw(text: str) -> str:
    """The picture of a chart, from its JSON; a chart of several pages is drawn once."""
    vl_convert = optional_package("vl_convert", "a chart needs", "charts")  # heavy: only here

    spec = _mark_inherited(json.loads(text))
    drawn: str = vl_convert.vegalite_to_svg(spec, show_warnings=False, allowed_base_urls=[])
    return _unmark(drawn)


def _mark_inherited(part: Any) -> Any:
    """The same chart; texts that JavaScript would take for a property of an object are marked."""
    match part:
        case str():
            return part + UNSEEN_MARK if part in INHERITED else part
        case dict():
            return {key: _mark_inherited(value) for key, value in part.items()}
        case list():
            return [_mark_inherited(value) for value in part]
    return part


def _unmark(drawn: str) -> str:
    """A picture without the marks that `_mark_inherited` has set, and with all others."""
    return MARKED.sub(r"\1", drawn)


def _texts(part: Any) -> Iterator[str]:
    """Every text in a dict of dicts and lists."""
    match part:
        case str():
            yield part
        case dict():
            yield from _texts([*map(str, part), *part.values()])
        case list() | tuple():
            for value in part:
                yield from _texts(value)


TAG = re.compile(r"<[^>]*>")
UNSEEN = re.compile(r'<path class="(background|foreground)"(?![^>]* (?:fill|stroke)=)[^>]*/>')
NEEDLESS = re.compile(
    r' (opacity="1"|stroke-width="1"|pointer-events="none"|font-[a-z]*="(?:normal|Lib[^"]*)"'
    r'|transform="translate\(0,0\)")'
)
COLOURED = re.compile(r'(?<= )(fill|stroke)="(#[0-9a-f]{6}|white)"')
MARK_NAMES = re.compile(
    r' (role="graphics-[a-z]*"|aria-[a-z]*="[^"]*"|class="mark-(?!symbol role-leg)[^"]*")'
)
PLACES = re.compile(r'(?<= )(d|transform)="[^"]*"')
DIGITS = re.compile(r"(\.\d\d)\d+(?!e)")  # less than a hundredth of a pixel
MOST_SHADES = 30
COLOURS = {
    **{
        each: shade(i / (number - 1))
        for number in range(MOST_SHADES, 1, -1)
        for i, each in enumerate(shades(number))
    },
    **{INK: colour("ink"), PLAIN: colour("bar"), "white": colour("page")},
    EXPOSED: colour("alone"),
    **{grey: colour("soft") for grey in ("#444444", "#555555")},
    **{grey: colour("control") for grey in ("#888888", "#bbbbbb")},
    "#e4e4e4": colour("line"),
}


def _follow_page(tag: re.Match[str], *, bare: bool) -> str:
    """A tag with the colours of the page, without what changes nothing.

    In a bare picture, one more of the same, marks are not named: its title and description are.
    """
    if UNSEEN.fullmatch(tag[0]):
        return ""
    plain = NEEDLESS.sub("", tag[0])
    plain = MARK_NAMES.sub("", plain) if bare else plain
    plain = PLACES.sub(lambda m: DIGITS.sub(r"\1", m[0]), plain)
    if plain.startswith("<svg "):
        plain = f'<svg font-family="{FONT}"{plain[4:]}'
    return COLOURED.sub(lambda m: f'{m[1]}="{COLOURS.get(m[2], m[2])}"', plain)


NARROW = 560  # pixels: below that a chart is one for a telephone
ROOMY = 700  # pixels: below that, a chart that has another form for little room takes it
TALLER = 1.2  # where texts stand between marks, and are larger on a page
LETTERS = {True: 22, False: 36}  # of a line of a row's label, narrow or not
TITLE = 34  # letters of a line of an axis's title on a telephone
SIDES = {"row": "left", "name": "right"}  # where the labels of a chart stand
WIDER = 1.3  # pixels that a letter may be wider than in the font it is measured in
# Pixels of a label of two lines, and of one line.
TWO_LINES = 42
LINE = 17
SPLIT = "split(datum.label, '\\n')"
RAISED = {
    "condition": {"test": "indexof(datum.label, '\\n') >= 0", "value": -LINE / 2},
    "value": 0,
}


def fit(spec: Spec, width: int) -> Spec:
    """The same chart for a page: its title stands above it in the page, and it is so wide."""
    if width < ROOMY:
        spec = {**spec, **spec.get("usermeta", {}).get("narrow", {})}
    narrow = width < NARROW
    values = spec["data"]["values"]
    letters = {k: max((len(v[k]) for v in values if k in v), default=0) for k in SIDES}
    room = {SIDES[k]: 8 + WIDER * min(max(n, 12), LETTERS[narrow]) for k, n in letters.items() if n}
    own = spec.get("config", CONFIG)
    config = {
        **own,
        "background": None,
        "padding": {"left": 8, "right": 26, "top": 4, "bottom": 4, **room},
        "axis": {
            **own["axis"],
            "labelFontSize": 13,
            "titleFontSize": 13,
            "labelLimit": 150 if narrow else 250,
            "labelPadding": 5,
            "titlePadding": 10,
        },
        "axisX": {  # another font is wider
            "labelOverlap": True,
            "labelSeparation": 14,
            **({"titleAnchor": "end" if letters["row"] else "start"} if narrow else {}),
        },
        "legend": {
            **own["legend"],
            "labelFontSize": 13,
            "columns": 1 if narrow else 4,
            "labelLimit": 180 if narrow else 280,
            "columnPadding": 30,
            "layout": {"bottom": {"direction": "vertical", "margin": 6}},
        },
    }
    worded = any(layer["mark"]["type"] == "text" for layer in spec["layer"])
    fitted = {
        **{key: part for key, part in spec.items() if key != "title"},
        "width": width,
        "height": round(spec["height"] * TALLER) if worded else spec["height"],
        "autosize": {"type": "fit-x", "contains": "padding"},
        "config": config,
    }
    return _break_labels(_rebuild(fitted, partial(_fit_labels, narrow=narrow)), LETTERS[narrow])


def _rebuild(part: Any, change: Callable[[Spec], Spec]) -> Any:
    """A part of a chart in which every dict is changed, the inner ones first; data stay."""
    if isinstance(part, list):
        return [_rebuild(p, change) for p in part]
    if not isinstance(part, dict):
        return part
    return change({k: v if k == "data" else _rebuild(v, change) for k, v in part.items()})


def _fit_labels(part: Spec, *, narrow: bool) -> Spec:
    """Labels of rows and legends no wider than a chart has room for."""
    fitted = dict(part)
    if narrow and part.get("labelLimit", 0) > 180:
        fitted["labelLimit"] = 150
    if narrow and "symbolType" in part:
        fitted["columns"] = 1
    if narrow and "field" in part and isinstance(part.get("title"), str):
        fitted["title"] = textwrap.wrap(part["title"], TITLE)
    limit = {"limit": part.get("limit", 150)} if narrow else {}
    return fitted | ({"fontSize": 13, **limit} if part.get("type") == "text" else {})


def _break_labels(spec: Spec, letters: int) -> Spec:
    """Labels of rows on two lines where one is too short for them."""
    values = spec["data"]["values"]
    rows = list(dict.fromkeys(value["row"] for value in values if "row" in value))
    wrapper = textwrap.TextWrapper(letters, max_lines=2, placeholder="…", break_on_hyphens=False)
    lines = {row: wrapper.fill(row) for row in rows}
    broken = any("\n" in text for text in lines.values())
    if not broken or len(set(lines.values())) < len(rows):  # what was cut off told them apart
        return spec

    def rename_rows(part: Spec) -> Spec:
        if part.get("field") != "row":
            return part
        order = {"sort": [lines[row] for row in part["sort"]]} if "sort" in part else {}
        axis = {"labelExpr": SPLIT, "labelLineHeight": LINE, "labelOffset": RAISED}
        return {**part, **order, "axis": {**part.get("axis", {}), **axis}}

    renamed = [{**v, "row": lines[v["row"]]} if "row" in v else v for v in values]
    height = max(spec["height"], TWO_LINES * len(rows))
    return {**_rebuild(spec, rename_rows), "data": {"values": renamed}, "height": height}


def check(
    folder: Path, names: Iterable[str] = (), *, sources: Iterable[Any] = (), force: bool = False
) -> None:
    """Whether charts can be drawn, and written there: asked before the work, not after it."""
    if not can_draw():
        optional_package("vl_convert", "--charts needs", "charts")
    sources = list(sources)
    for place in (folder, folder.parent):
        files.refuse_link(place)
    if folder.exists() and not folder.is_dir():
        _refuse_input([folder], sources)
        raise UsageError(f"{folder.name} is not a directory", hint="--charts DIR")
    require(
        folder.exists() or folder.parent.is_dir(),
        f"{folder.name}: the directory it is to be made in does not exist",
    )
    whole = folder.resolve()
    _refuse_input([whole, *whole.parents], sources)
    if folder.is_dir():
        for path in (folder / f"{name}.svg" for name in names):
            files.check(path, sources=sources, force=force or _is_ours(path))


def _refuse_input(places: Iterable[Path], sources: Iterable[Any]) -> None:
    """An input may be a directory: nothing is written into it either."""
    same = any(files.is_same(place, source) for source in sources for place in places)
    require(not same, "the output is the input", hint="another directory", error=RefusedError)


def write(
    folder: Path, specs: Mapping[str, Spec], *, sources: Iterable[Any] = (), force: bool = False
) -> list[Path]:
    """Draw and write every chart; returns the files. Nothing is written if one may not be."""
    sources = list(sources)
    check(folder, specs, sources=sources, force=force)
    drawn = {folder / f"{name}.svg": svg(spec) for name, spec in specs.items()}
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ExhaustedError(f"{folder.name} cannot be made: {error.strerror}") from None
    for path, text in drawn.items():
        files.write_text(path, text, sources=sources, force=force or _is_ours(path))
    return list(drawn)


def _is_ours(path: Path) -> bool:
    """Whether sievert has drawn this file: it may then be replaced without --force."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK.encode()
