"""What a page costs: its seconds and its size by the number of columns, beside the assessment.

A page is built from the result of ``assess`` and of ``explain`` and rendered as HTML, pictures
included. The first picture of a process loads the renderer; that is left out, for it is the same
whatever the page.
"""

from __future__ import annotations

import statistics
from random import Random
from typing import Any

import sievert
from bench.common import Options, Ratio, Result, digits, interleave, table, verdict
from sievert.report import builder, html

MOST_BYTES = 500_000
COLUMNS, QUICK = (5, 10, 20, 30), (5, 30)
ROWS = 2000
SECRETS = 3


def columns(number: int) -> dict[str, list[str]]:
    """A table of so many columns, the last ones secrets."""
    rng = Random(number)
    return {
        f"column {i}": [str(rng.randrange(2 + i % 7)) for _ in range(ROWS)] for i in range(number)
    }


def run(options: Options) -> Result:
    """Pages of tables with more and more columns."""
    rounds = options.rounds or (3 if options.quick else 7)
    lines, kept = [], {}
    for number in QUICK if options.quick else COLUMNS:
        data = columns(number)
        quasi, secrets = list(data)[:-SECRETS], list(data)[-SECRETS:]
        found = sievert.assess(data, quasi, secrets)
        pages: dict[str, str] = {}

        def page(way: str, found: Any = found, pages: dict[str, str] = pages) -> None:
            settings = builder.ReportSettings(share=way == "shared")
            pages[way] = html.render(builder.build([found], settings))

        samples = interleave(
            {
                "assess": lambda data=data, q=quasi, s=secrets: sievert.assess(data, q, s),
                "page": lambda page=page: page("internal"),
                "shared": lambda page=page: page("shared"),
            },
            rounds,
        )
        walls = {name: [s.wall for s in each] for name, each in samples.items()}
        ratio = Ratio.of(walls["page"], walls["assess"])
        sizes = {way: len(text.encode()) for way, text in pages.items()}
        kept[number] = {"samples": samples, "bytes": sizes, "ratio": ratio}
        lines.append(
            (
                str(number),
                *(digits(statistics.median(walls[name])) for name in walls),
                *(f"{sizes[way] / 1000:,.0f}" for way in ("internal", "shared")),
                str(ratio),
            )
        )
    head = ("columns", "assess s", "page s", "shared s", "page KB", "shared KB", "page/assess")
    print(table(head, lines))
    largest = max(max(each["bytes"].values()) for each in kept.values())
    goal = verdict(largest / MOST_BYTES, 1.0, at_least=False)
    met = "met" if goal["met"] else "MISSED"
    print(f"\nLargest page: {largest / 1000:,.0f} KB   goal <= {MOST_BYTES / 1000:,.0f}: {met}")
    return {"columns": kept, "goal": goal}
