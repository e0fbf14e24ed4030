"""The answer of a page for a screen: its title, its verdict, what matters."""

from __future__ import annotations

from sievert.formatting import wrap
from sievert.report.page import BulletList, Chapter, Page, Paragraph

WIDTH = 100


def first(page: Page) -> str:
    """The title, the verdict and the sentences below it."""
    lines = wrap(page.title, WIDTH, "")
    for block in page.front:
        if isinstance(block, Paragraph) and block.kind == "lead":
            lines += wrap(block.text, WIDTH, "")
        elif isinstance(block, Chapter) and block.anchor == "short":
            for points in block.blocks:
                if isinstance(points, BulletList):
                    lines += [
                        line for item in points.items for line in wrap(item, WIDTH, "- ", "  ")
                    ]
    return "\n".join(lines)
