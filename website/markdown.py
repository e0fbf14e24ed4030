"""One Markdown file as HTML: headings with anchors, links led to the site, no raw HTML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from textwrap import shorten
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token

Lead = Callable[[str], str]  # where a link or a picture leads on the site


@dataclass(frozen=True)
class Heading:
    """A heading, the word that leads to it, and the first sentence and all words below it."""

    level: int
    text: str
    anchor: str
    opening: str
    words: tuple[str, ...]  # each once, in order of the alphabet, up to the next heading


@dataclass(frozen=True)
class Link:
    """A link or a picture as written, with its words and the heading above it."""

    words: str
    target: str
    section: str


@dataclass(frozen=True)
class Document:
    """What a file says: its title, headings, links and text."""

    title: str
    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    html: str


def read(text: str, lead: Lead = str) -> Document:
    """Read a Markdown text; every link and picture is led where `lead` says."""
    parser = _parser()
    tokens = parser.parse(text)
    headings = _headings(tokens)
    links = _links(tokens, lead)
    title = next((h.text for h in headings if h.level == 1), "Untitled")
    return Document(title, headings, links, parser.renderer.render(tokens, parser.options, {}))


def slug(text: str) -> str:
    """The anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule("table_open", _table)
    parser.add_render_rule("table_close", _table_end)
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    return parser


def _table(*_: Any) -> str:
    return '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n'


def _table_end(*_: Any) -> str:
    return "</table></div>\n"


def _code(_: Any, tokens: Sequence[Token], at: int, *__: Any) -> str:
    return f'<pre tabindex="0"><code>{escapeHtml(tokens[at].content)}</code></pre>\n'


def _words(inline: Sequence[Token]) -> str:
    return "".join(" " if t.type == "softbreak" else t.content for t in inline)


def _headings(tokens: Sequence[Token]) -> tuple[Heading, ...]:
    """Every heading, given its anchor; the second of the same name has -1 behind it."""
    found, seen = [], Counter[str]()
    for at, (token, inside) in enumerate(pairwise(tokens)):
        if token.type == "heading_open":
            text = _words(inside.children or ())
            anchor = slug(text)
            number = seen[anchor]
            seen[anchor] += 1
            anchor = f"{anchor}-{number}" if number else anchor
            token.attrSet("id", anchor)
            rest = tokens[at + 3 :]
            below = _opening(rest), _below(rest)
            found.append(Heading(int(token.tag[1]), text, anchor, *below))
        elif token.type in ("th_open", "td_open") and "style" in token.attrs:
            token.attrs = {"class": str(token.attrs["style"]).rpartition(":")[2]}
    return tuple(found)


def _opening(tokens: Sequence[Token]) -> str:
    """The first sentence of the first paragraph, unless the next heading comes before it."""
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            break
        if token.type == "paragraph_open":
            text = _words(inside.children or ())
            return shorten(re.split(r"(?<=[.?!]) (?=[A-Z`])", text)[0], 160, placeholder=" ...")
    return ""


def _below(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Every word before the next heading, tables and code included; numbers are none."""
    section = takewhile(lambda token: token.type != "heading_open", tokens)
    texts = (_words(t.children) if t.children else t.content for t in section)
    words = (word for text in texts for word in re.findall(r"\w+", text.lower()))
    return tuple(sorted({word for word in words if len(word) > 1 and not word.isdigit()}))


def _links(tokens: Sequence[Token], lead: Lead) -> tuple[Link, ...]:
    found, section = [], ""
    for before, token in zip((None, *tokens), tokens, strict=False):
        children = token.children or []
        if before is not None and before.type == "heading_open" and before.tag == "h2":
            section = _words(children)
        for at, child in enumerate(children):
            name = {"link_open": "href", "image": "src"}.get(child.type)
            if name is not None:
                target = str(child.attrs[name])
                rest = children[at + 1 :]
                end = next((i for i, t in enumerate(rest) if t.type == "link_close"), 0)
                words = child.content if child.type == "image" else _words(rest[:end])
                found.append(Link(words, target, section))
                child.attrs[name] = lead(target)
    return tuple(found)
