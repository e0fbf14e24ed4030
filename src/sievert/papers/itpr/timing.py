"""Figure 6: time against records, drawn from a file of the benchmarks if one is given."""

from __future__ import annotations

import json
import statistics
from math import isfinite, log10
from pathlib import Path
from typing import Any

from sievert import charts
from sievert.errors import InputError
from sievert.papers.claims import Claim, Given, PaperPart, number, open_question, statement
from sievert.papers.itpr.pictures import text
from sievert.report.page import Grid, Picture

HINT = "a file that python -m bench growth or python -m bench scale has kept"
PAPER = ((10**5, 1.0), (10**9, 19.0))
OURS = "sievert, every measure"

Times = list[tuple[int, float]]  # records, seconds


def figure_6(given: Given) -> PaperPart:
    """What the text prints of the figure, and our own times if they are given."""
    times = read_times(given.data["timings"]) if "timings" in given.data else []
    measured = dict(times)
    cluster = "a time of another cluster (four nodes, 100 workers): nothing here determines it"
    claims = [
        open_question(
            f"Seconds for 10^{round(log10(records))} records",
            f"{seconds:g}",
            cluster,
            f"{text(measured[records])} s" if records in measured else "-",
        )
        for records, seconds in PAPER
    ]
    claims += [
        number("Orders of magnitude of the records", "4", log10(PAPER[1][0] / PAPER[0][0])),
        number("Orders of magnitude of the time", "1", log10(PAPER[1][1] / PAPER[0][1])),
    ]
    about = (
        "A run of this page measures no times. Its times come from the benchmarks: python -m bench "
        "growth keeps a file of seconds against records, which --data timings=FILE draws here. The "
        "paper's 19 seconds for 10^9 records on 100 workers are 526,316 records a second and "
        "worker."
    )
    if len(times) > 1:
        claims.append(_grows(times))
    blocks = (_picture(times),) if times else ()
    return PaperPart("Figure 6: time against records", about, tuple(claims), blocks)


def _grows(times: Times) -> Claim:
    (least, fast), (most, slow) = times[0], times[-1]
    records, seconds = log10(most / least), log10(slow / fast)
    return statement(
        "Time grows by fewer orders of magnitude than the records",
        "1 order for 4",
        f"{seconds:.2f} for {records:.2f}, measured",
        holds=seconds < records,
        why="the times given grow as fast as the records or faster",
    )


def _picture(times: Times) -> Picture:
    points = {
        "measured here": [(log10(records), seconds) for records, seconds in times],
        "the paper, as stated": [(log10(records), seconds) for records, seconds in PAPER],
    }
    spec = charts.lines(
        "Time against records",
        ["Every measure of a generated table; the paper: ITPR on 100 workers"],
        points,
        across="Records, as a power of ten",
        up="Seconds",
    )
    rows = tuple((f"{records:,}", text(seconds)) for records, seconds in times)
    grid = Grid("The measured times", ("Records", "Seconds"), rows, right=(0, 1), folded=True)
    return Picture(spec, "Seconds against the records; the paper states two times only.", grid)


def read_times(path: str) -> Times:
    """Records and seconds of a file that the benchmarks wrote, fewest records first."""
    name = Path(path).name
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{name} cannot be read", hint=HINT) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON", hint=HINT) from error
    try:
        times = sorted(_times(document))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} has no times against records", hint=HINT) from error
    if not times or not all(n > 0 and t > 0 and isfinite(t) for n, t in times):
        raise InputError(f"{name} has no times against records", hint=HINT)
    return times


def _times(document: Any) -> Times:
    if "by_rows" in document:
        return [(int(cell["rows"]), float(cell["wall"])) for cell in document["by_rows"]]
    one = document["billion"]
    walls = [float(sample["wall"]) for sample in one["samples"][OURS]]
    return [(int(one["rows"]), statistics.median(walls))]
