"""The tables of the documentation that list every measure, kept in step with the measures' records.

A row that exists keeps its words; what its record says is written anew, a measure without a row
gets one from its record, and a row without a measure goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from sievert.measures import MEASURES, Measure

DOCS = Path(__file__).parents[1] / "docs"
INDEX, GUIDE = DOCS / "measures" / "README.md", DOCS / "guides" / "statistician.md"
SECTIONS = {"record": "## Finding a person", "secret": "## Secrets"}  # by `kinds`
OTHERS = "## Information"
SCOPES = {"record": "re-identification", "secret": "inference"}
ROW = re.compile(r"\| \[`(\w+)`\]")
LINK = re.compile(r"\[`(\w+)`\]: ")
Cells = list[str]


def index_row(measure: Measure, old: Cells | None) -> Cells:
    """Question, unit, range and direction; the range and a `*` may say more than the record."""
    question, _, bounds, _ = old or (measure.reading, "", measure.bounds, "")
    star = r" \*" if old and old[3].endswith("*") else ""
    return [f"[`{measure.id}`]", question, measure.unit, bounds, measure.riskier + star]


def guide_row(measure: Measure, old: Cells | None) -> Cells:
    """Granularity, scope, unit, range, direction and what it has to do with other measures."""
    grain = old[0] if old else "whole table"
    scope = SCOPES.get(" ".join(measure.kinds), "both")
    record = [measure.unit, measure.bounds, measure.riskier]
    link = f"[`{measure.id}`](../measures/{measure.id}.md)"
    return [link, grain, scope, *record, old[-1] if old else measure.reading]


def rows(lines: list[str], row: Callable[[Measure, Cells | None], Cells]) -> dict[str, str]:
    """A row for every measure, by its id; those that exist first, in their order."""
    old = {m[1]: line.strip("|").split(" | ")[1:] for line in lines if (m := ROW.match(line))}
    old = {name: [cell.strip() for cell in cells] for name, cells in old.items()}
    records = {measure.id: measure for measure in MEASURES}
    order = [name for name in old if name in records] + [n for n in records if n not in old]
    return {n: "| " + " | ".join(row(records[n], old.get(n))) + " |" for n in order}


def replaced(lines: list[str], pattern: re.Pattern[str], new: list[str]) -> list[str]:
    """The lines with the block of those that match a pattern replaced."""
    at = [i for i, line in enumerate(lines) if pattern.match(line)]
    return lines[: at[0]] + new + lines[at[-1] + 1 :]


def index(text: str) -> str:
    """The page that lists all measures by what they are about, with a link to each."""
    lines = text.splitlines()
    every = rows(lines, index_row)
    for heading in (*SECTIONS.values(), OTHERS):
        mine = {m.id for m in MEASURES if SECTIONS.get(" ".join(m.kinds), OTHERS) == heading}
        start = lines.index(heading)
        end = next(i for i in range(start + 1, len(lines)) if lines[i].startswith(("## ", r"\*")))
        section = replaced(lines[start:end], ROW, [line for n, line in every.items() if n in mine])
        lines[start:end] = section
    ordered = [m[1] for line in lines if (m := ROW.match(line))]
    return "\n".join(replaced(lines, LINK, [f"[`{n}`]: {n}.md" for n in ordered])) + "\n"


def guide(text: str) -> str:
    """The statistician's table, in the order of the records."""
    lines = text.splitlines()
    every = rows(lines, guide_row)
    return "\n".join(replaced(lines, ROW, [every[m.id] for m in MEASURES])) + "\n"


PAGES = {INDEX: index, GUIDE: guide}

if __name__ == "__main__":
    for page, generate in PAGES.items():
        page.write_text(generate(page.read_text(encoding="utf-8")), encoding="utf-8")
