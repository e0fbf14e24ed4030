"""The remarks beside a result, as the last chapter of its page."""

from collections.abc import Iterator

from sievert.report.overview import Overview
from sievert.report.page import Block, BulletList, Chapter
from sievert.report.parts import ReportPart

FEW_REMARKS = 3  # that a terminal shows


def remarks(part: ReportPart) -> Iterator[Chapter]:
    """List the remarks of a result; a terminal shows the first few."""
    overview = part.read(Overview)
    cautions = {*overview.cautions}
    texts = [part.texts.remark(each) for each in overview.warnings if each not in cautions]
    if not texts:
        return
    few = texts[:FEW_REMARKS]
    more = texts[FEW_REMARKS:]
    inner: list[Block | Chapter] = [BulletList(tuple(few))]
    if more:
        title = part.texts("assessed.more_remarks", number=len(more))
        instead = part.texts("assessed.more_remarks_all", number=len(more))
        blocks = (BulletList(tuple(more)),)
        inner.append(
            Chapter(title=title, anchor=part.anchor("more-remarks"), blocks=blocks, instead=instead)
        )
    yield Chapter(
        title=part.texts("assessed.remarks"),
        anchor=part.anchor("remarks"),
        blocks=tuple(inner),
        screen=True,
        instead=part.texts("assessed.remarks_all", number=len(texts)),
    )
