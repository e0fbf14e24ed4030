"""What the words and numbers of a page mean: a chapter at its end that links lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sievert.losses import BY_ID as LOSSES
from sievert.measures import BY_ID as MEASURES
from sievert.report.page import Block, BulletList, Chapter, Grid, Link, Paragraph, Picture, walk
from sievert.report.texts import Texts

ANCHOR = "def-"


def linked(key: str, text: str) -> Link:
    """Words that lead to a definition."""
    return Link(text, f"{ANCHOR}{key}")


def chapter(texts: Texts, blocks: Sequence[Block | Chapter]) -> Chapter | None:
    """The definitions that these blocks lead to, in alphabetical order of their titles."""
    keys = list(dict.fromkeys(_keys(blocks)))
    found = sorted((_definition(texts, key) for key in keys), key=lambda c: c.title.casefold())
    if not found:
        return None
    return Chapter(texts("definitions.heading"), "definitions", tuple(found))


def _keys(blocks: Sequence[Block | Chapter]) -> Iterator[str]:
    for block in walk(tuple(blocks)):
        grid = block.behind if isinstance(block, Picture) else block
        if isinstance(grid, Grid):
            for row in grid.rows:
                for cell in row:
                    if isinstance(cell, Link) and cell.anchor.startswith(ANCHOR):
                        yield cell.anchor.removeprefix(ANCHOR)


def _definition(texts: Texts, key: str) -> Chapter:
    if key in MEASURES:
        m = MEASURES[key]
        side = texts(f"risky.{m.riskier}")
        facts = [
            texts("definitions.formula", formula=m.formula),
            texts("definitions.scale", unit=unit(texts, m.unit), bounds=m.bounds, side=side),
            texts("definitions.source", source=m.source),
            texts("definitions.id", id=key),
        ]
        words = Paragraph(texts(f"measures.{key}.reading"))
        title = texts(f"measures.{key}.title")
        return Chapter(title, f"{ANCHOR}{key}", (words, BulletList(tuple(facts))))
    if key in LOSSES:
        loss = LOSSES[key]
        facts = [
            texts("definitions.formula", formula=loss.formula),
            texts(
                "definitions.loss_scale",
                unit=unit(texts, loss.unit),
                side=texts(f"worse.{loss.worse}"),
            ),
            texts("definitions.source", source=loss.source),
            texts("definitions.id", id=key),
        ]
        words = Paragraph(texts(f"losses.{key}.reading"))
        title = texts(f"losses.{key}.title")
        return Chapter(title, f"{ANCHOR}{key}", (words, BulletList(tuple(facts))))
    words = Paragraph(texts(f"definitions.{key}.text"))
    return Chapter(texts(f"definitions.{key}.title"), f"{ANCHOR}{key}", (words,))


def unit(texts: Texts, name: str) -> str:
    """A unit in words; a number without one is a share or a ratio."""
    key = "units." + name.replace(" ", "_").replace("/", "_per_").replace("²", "_squared")
    return texts(key) if key in texts else name
