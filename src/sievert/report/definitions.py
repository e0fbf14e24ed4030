"""What the words and numbers of a page mean: a chapter at its end that links lead to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sievert.losses import BY_ID as LOSSES
from sievert.measures import BY_ID as MEASURES
from sievert.report.page import Block, BulletList, Chapter, Grid, Link, Paragraph, Picture, walk
from sievert.report.texts import Texts

ANCHOR = "def-"


def chapter(texts: Texts, blocks: Sequence[Block | Chapter]) -> Chapter | None:
    """The definitions that these blocks lead to, in alphabetical order of their titles."""
    definitions = (_definition(texts, key) for key in dict.fromkeys(_keys(blocks)))
    order = tuple(sorted(definitions, key=lambda c: c.title.casefold()))
    return Chapter(texts("definitions.heading"), "definitions", order) if order else None


def _keys(blocks: Sequence[Block | Chapter]) -> Iterator[str]:
    for block in walk(tuple(blocks)):
        grid = block.behind if isinstance(block, Picture) else block
        for cell in (cell for row in grid.rows for cell in row) if isinstance(grid, Grid) else ():
            if isinstance(cell, Link) and cell.anchor.startswith(ANCHOR):
                yield cell.anchor.removeprefix(ANCHOR)


def _definition(texts: Texts, key: str) -> Chapter:
    anchor = f"{ANCHOR}{key}"
    record: Any = MEASURES.get(key) or LOSSES.get(key)
    if record is None:
        words = Paragraph(texts(f"definitions.{key}.text"))
        return Chapter(texts(f"definitions.{key}.title"), anchor, (words,))
    if key in MEASURES:
        kind, scale, side = "measures", "scale", texts(f"risky.{record.riskier}")
    else:
        kind, scale, side = "losses", "loss_scale", texts(f"worse.{record.worse}")
    bounds = getattr(record, "bounds", "")
    facts = (
        texts("definitions.formula", formula=record.formula),
        texts(f"definitions.{scale}", unit=unit(texts, record.unit), bounds=bounds, side=side),
        texts("definitions.source", source=record.source),
        texts("definitions.id", id=key),
    )
    words = Paragraph(texts(f"{kind}.{key}.reading"))
    return Chapter(texts(f"{kind}.{key}.title"), anchor, (words, BulletList(facts)))


def unit(texts: Texts, name: str) -> str:
    """A unit in words; a number without one is a share or a ratio."""
    key = "units." + name.replace(" ", "_").replace("/", "_per_").replace("²", "_squared")
    return texts(key) if key in texts else name
