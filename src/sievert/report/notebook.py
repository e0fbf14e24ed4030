"""A result in a notebook: the chart and the table of its page, exact, for whoever runs it."""

from __future__ import annotations

from typing import Any

from sievert.report import builder, html
from sievert.report.page import Block, BulletList, Chapter, Grid, Paragraph, Picture, walk
from sievert.report.texts import read_texts


def notebook_html(result: Any) -> str:
    """The sentences, the first picture and the first table of the result's chapter."""
    part = builder.make_part(result, 1, read_texts(None), builder.ReportSettings(internal=True))
    room = builder.module(part)
    blocks = tuple(b for b in walk(tuple(room.blocks(part))) if not isinstance(b, Chapter))
    excerpt: list[Block] = [BulletList(tuple(room.sentences(part)))]
    for kind in (Picture, Grid):
        excerpt += [b for b in blocks if isinstance(b, kind)][:1]
    if len(excerpt) == 1:
        excerpt += [b for b in blocks if isinstance(b, Paragraph)][:3]
    return html.fragment(*excerpt)
