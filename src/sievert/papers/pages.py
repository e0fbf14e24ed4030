"""A recomputed paper for the screen, as JSON and as a page."""

import textwrap
from collections.abc import Iterator
from typing import Any

from sievert.formatting import wrap
from sievert.papers.claims import HELD, STATES, Claim, Paper, PaperPart
from sievert.report.page import Block, BulletList, Chapter, Grid, Page, Paragraph, Picture
from sievert.report.texts import Texts, read_texts
from sievert.version import __version__

WIDTH = 100


def as_dict(paper: Paper) -> dict[str, Any]:
    """Every printed value with ours."""
    return {
        "sievert": __version__,
        "paper": paper.name,
        "title": paper.title,
        "source": paper.source,
        "counted": {state: paper.count_states()[state] for state in STATES},
        "parts": [
            {"title": part.title, "about": part.about, "claims": [vars(c) for c in part.claims]}
            for part in paper.parts
        ],
    }


# -- page -----------------------------------------------------------------------------------------


def page(paper: Paper) -> Page:
    """The paper on one page."""
    texts = read_texts(None)
    return Page(
        title=texts("paper.heading", title=paper.title),
        language=texts("words.language"),
        front=tuple(_front(paper, texts)),
        chapters=tuple(_chapter(part, i, texts) for i, part in enumerate(paper.parts, 1)),
        foot=(texts("paper.made", version=__version__),),
        contents=texts("front.contents"),
        undrawn=texts("front.undrawn"),
    )


def _front(paper: Paper, texts: Texts) -> Iterator[Block]:
    yield Paragraph(summary(paper, texts), "lead")
    yield Paragraph(paper.about)
    yield Paragraph(texts("paper.source", source=paper.source), "note")
    counted = paper.count_states()
    yield Grid(
        caption=texts("paper.counted"),
        head=tuple(texts(f"paper.head_{word}") for word in ("state", "number", "means")),
        rows=tuple(
            (texts(f"paper.state_{_key(s)}"), f"{counted[s]:,}", texts(f"paper.means_{_key(s)}"))
            for s in STATES
            if counted[s]
        ),
        right=(1,),
    )


def _key(state: str) -> str:
    return state.replace(" ", "_")


def summary(paper: Paper, texts: Texts) -> str:
    """How many of the paper's claims hold."""
    counted = paper.count_states()
    return texts(
        "paper.summed",
        held=sum(counted[s] for s in HELD),
        number=sum(counted.values()),
        rest=sum(n for s, n in counted.items() if s not in (*HELD, STATES[-1])),
        open=counted[STATES[-1]],
    )


def _chapter(part: PaperPart, number: int, texts: Texts) -> Chapter:
    claims = Grid(
        caption=texts("paper.claims", title=part.title),
        head=tuple(texts.each("paper.head", ("what", "printed", "ours", "state", "why"))),
        rows=tuple(
            (c.what, c.printed, c.ours, texts(f"paper.state_{_key(c.state)}"), c.why)
            for c in part.claims
        ),
        right=(1, 2),
    )
    blocks = (
        Paragraph(part.about),
        *(b for b in part.blocks if isinstance(b, Picture)),
        *([claims] if part.claims else ()),
        *(b for b in part.blocks if not isinstance(b, Picture)),
    )
    return Chapter(title=part.title, anchor=f"part{number}", blocks=blocks)


# -- screen ---------------------------------------------------------------------------------------


def terminal(paper: Paper, *, everything: bool = False) -> str:
    """The paper on a screen: of each part how much holds, and what does not."""
    texts = read_texts(None)
    lines = [
        *wrap(paper.title, WIDTH, ""),
        *wrap(paper.source, WIDTH, ""),
        "",
        *wrap(summary(paper, texts), WIDTH, ""),
        "",
        *(line for part in paper.parts for line in _part(part, texts, everything=everything)),
        *(() if everything else wrap(texts("paper.all"), WIDTH, "")),
    ]
    return "\n".join(lines).rstrip()


def _part(part: PaperPart, texts: Texts, *, everything: bool) -> Iterator[str]:
    yield part.title
    yield from wrap(part.about, WIDTH, "  ")
    confirmed = sum(c.state in HELD for c in part.claims)
    if part.claims:
        yield f"  {texts('paper.part', held=confirmed, number=len(part.claims))}"
    shown = [c for c in part.claims if everything or c.state not in HELD]
    width = min(44, max((len(c.what) for c in shown), default=0))
    for claim in shown:
        yield from _claim(claim, width, texts)
    for block in part.blocks:
        if isinstance(block, Paragraph):
            yield from wrap(block.text, WIDTH, "  ")
        elif isinstance(block, BulletList):
            for item in block.items:
                yield from wrap(item, WIDTH, "  - ", "    ")
        elif isinstance(block, Picture):
            yield from wrap(texts("paper.picture", caption=block.caption), WIDTH, "  ")
    yield ""


def _claim(claim: Claim, width: int, texts: Texts) -> Iterator[str]:
    long = len(claim.what) > width
    what = textwrap.shorten(claim.what, width, placeholder="…") if long else claim.what
    line = texts(
        "paper.line",
        what=(what or claim.what).ljust(width),
        printed=claim.printed,
        ours=claim.ours,
        state=texts(f"paper.state_{_key(claim.state)}"),
    )
    yield from wrap(line, WIDTH, "    ", "      ")
    if claim.why:
        yield from wrap(claim.why, WIDTH, "      ")
