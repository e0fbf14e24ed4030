"""Pages of every command, made of tables whose names, values and files are called as scripts."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from browser import samples
from helpers.payloads import NAMES, PAYLOADS, as_file

import sievert
from sievert.papers import pages
from sievert.report import builder, html
from sievert.report.page import Page

ROWS = 300

Table = dict[str, list[Any]]
Maker = Callable[[Path], Any]


# -- tables ---------------------------------------------------------------------------------------


def drawn(names: Sequence[str], values: int, seed: int, rows: int = ROWS) -> Table:
    """Columns of so many payloads each: all of them occur, the first ones more often."""
    chance = random.Random(seed)
    found: Table = {}
    for place, name in enumerate(names):
        kinds = [PAYLOADS[(values * place + i) % len(PAYLOADS)] for i in range(values)]
        more = [min(int(chance.expovariate(0.5)), values - 1) for _ in range(rows - values)]
        found[name] = [kinds[kind] for kind in (*range(values), *more)]
    return found


def numbers(seed: int, rows: int = ROWS) -> list[int]:
    """A secret number of each record."""
    chance = random.Random(seed)
    return [round(chance.gauss(50, 15)) for _ in range(rows)]


def coarser(table: Mapping[str, Sequence[Any]], names: Sequence[str], kept: int) -> Table:
    """A release: of these columns only so many values stay, the others become one."""
    found: Table = {}
    for name, column in table.items():
        often = sorted(set(column), key=lambda v: (-column.count(v), str(v)))[:kept]
        found[name] = [v if name not in names or v in often else "*" for v in column]
    return found


def written(folder: Path, number: int, table: Mapping[str, Sequence[Any]]) -> Path:
    """A text file that is called as a script, without what a text file cannot hold."""
    path = folder / f"{as_file(PAYLOADS[number])}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(table)
        for row in zip(*table.values(), strict=True):
            writer.writerow([str(cell).replace("\x00", "\x01") for cell in row])
    return path


# -- results --------------------------------------------------------------------------------------


def _assess(folder: Path) -> Any:
    """Every payload is a column."""
    path = written(folder, 0, drawn(NAMES, 6, 1))
    limits = {"k_anonymity": {"min": 5}, "highest_risk": {"max": 0.2}}
    return sievert.assess(path, list(NAMES[:50]), list(NAMES[50:]), policy={"limits": limits})


def _assess_attacks(folder: Path) -> Any:
    table = drawn(NAMES[10:14], 5, 2) | {"income": numbers(2)}
    path = written(folder, 6, table)
    return sievert.assess(
        path, list(NAMES[10:13]), [NAMES[13], "income"], types={"income": "int"},
        attacks=True, show_values=True,
    )  # fmt: skip


def _explain(folder: Path) -> Any:
    """Every payload is a value: ten in each of six columns."""
    table = drawn(NAMES[30:36], 10, 3) | {"secret": drawn(["x"], 4, 4)["x"]}
    path = written(folder, 32, table)
    return sievert.explain(
        path, list(NAMES[30:36]), "secret", population_size=3000, show_values=True
    )


def _explain_rank(folder: Path) -> Any:
    return sievert.explain(written(folder, 33, drawn(NAMES[20:28], 4, 5)))


def _attack(folder: Path) -> Any:
    names = NAMES[40:44]
    table = drawn(names, 5, 6)
    original = written(folder, 40, table)
    release = written(folder, 41, coarser(table, names[:3], 3))
    return sievert.attack(
        release, original, list(names[:3]), names[3], register=original, show_values=True,
    )  # fmt: skip


def _compare(folder: Path) -> Any:
    names = NAMES[50:54]
    table = drawn(names, 4, 7)
    original = written(folder, 50, table)
    releases = [written(folder, 51 + kept, coarser(table, names[:3], kept)) for kept in range(1, 4)]
    return sievert.compare(original, releases, list(names[:3]), names[3], shuffles=19, limit=True)


def _compromise(folder: Path) -> Any:
    table = drawn(NAMES[56:58], 4, 8) | {NAMES[58]: numbers(8)}
    path = written(folder, 45, table)
    return sievert.compromise(
        path, list(NAMES[56:58]), NAMES[58], types={NAMES[58]: "int"},
        parameters=(0.1, 0.5), replicates=5, epsilon=(1, 5),
    )  # fmt: skip


def _limit(folder: Path) -> Any:
    table = drawn(NAMES[2:5], 3, 9)
    path = written(folder, 2, table)
    return sievert.randomise(
        path, list(NAMES[2:4]), NAMES[4], at=0.1, points=8, show_values=True, gap=1e-3
    )


RESULTS: dict[str, Maker] = {
    "assess": _assess,
    "assess-attacks": _assess_attacks,
    "explain": _explain,
    "explain-rank": _explain_rank,
    "attack": _attack,
    "compare": _compare,
    "compromise": _compromise,
    "limit": _limit,
}
TOGETHER = ("assess-attacks", "compare", "limit")
SAMPLES = ("decision breached", "decision doubtful", "decision open", "summary met")
PAGES = (
    *(f"{name} internal" for name in (*RESULTS, "together")),
    *(f"{name} shared" for name in ("assess", "assess-attacks", "together")),
    "paper shared",
    *SAMPLES,
)


# -- pages ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """A page and the file that it has become."""

    name: str
    page: Page
    path: Path

    @property
    def url(self) -> str:
        return self.path.as_uri()


class Workshop:
    """Makes each result and each page once, when it is first asked for."""

    def __init__(self, folder: Path, paper: Callable[[str], Any]) -> None:
        self.folder, self.paper = folder, paper
        self.result = cache(self._result)
        self.made = cache(self._made)

    def _result(self, name: str) -> Any:
        folder = self.folder / name
        folder.mkdir()
        return RESULTS[name](folder)

    def _made(self, name: str) -> Made:
        kind, who = name.split()
        title = PAYLOADS[PAGES.index(name)] if name in PAGES else None
        if kind in ("decision", "summary"):
            page = (samples.decision if kind == "decision" else samples.summary)(who)
        elif kind == "paper":
            page = pages.page(self.paper("relative-risk"))
        else:
            results = [self.result(r) for r in (TOGETHER if kind == "together" else [kind])]
            page = builder.build(
                results, builder.ReportSettings(share=who == "shared", title=title)
            )
        return self.write(name, page)

    def write(self, name: str, page: Page) -> Made:
        path = self.folder / f"{name}.html"
        path.write_text(html.render(page), encoding="utf-8")
        return Made(name, page, path)
