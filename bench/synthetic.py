"""All attacks on a synthetic table of Adult, against the seconds that anonymeter took for its own.

20,108 originals, a synthetic table of as many rows in which one of 20 is a copy, 10,054 controls,
nine columns: every attack, every person, every predicate of one to three columns, nine secrets.
anonymeter 1.1.0 was run once on two cores, in an environment of its own (it needs an old numpy),
with 2,000 attacks each; those seconds are a figure here, and no other program runs. The goal is of
all our attacks; those that anonymeter has too (singling out, linkability, inference) are timed
alone beside them. A second table shows how the time grows with people, synthetic rows and columns.

    python -m bench synthetic [--quick]
"""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

from bench.common import (
    Options,
    Ratio,
    Result,
    digits,
    interleave,
    print_verdict,
    table,
    timed,
    verdict,
)
from bench.pycanon import adult, frame

ANONYMETER = 154.8  # seconds: singling out 76.8, linkability 15.8, inference of nine secrets 62.2
GOAL, MOST = 150.0, 2.0
COPIES = (6057, 2568)  # of originals and controls: the task is the one of the figure
SHAPES = ((1, 1, 9), (2, 1, 9), (1, 2, 9), (1, 1, 18), (1, 1, 36))  # people, rows, columns
SIZE, QUICK_SIZE = 10_000, 2_000

Columns = dict[str, tuple[list[str], Any]]


def shifted() -> tuple[Columns, Columns, Columns]:
    """Originals, a synthetic table, and controls of Adult: no random numbers."""
    records = frame(adult()).astype(str).astype("category")
    people: list[Columns] = [{}, {}, {}]
    rows = np.arange(len(records))
    for at, name in enumerate(records.columns):
        values, codes = list(records[name].cat.categories), records[name].cat.codes.to_numpy()
        own = codes.astype(np.int64)[rows % 3 != 2]
        fake = np.roll(own, -1009 * at)
        fake[::20] = own[::20]
        for part, each in zip(people, (own, fake, codes.astype(np.int64)[2::3]), strict=True):
            part[name] = (values, each)
    return people[0], people[1], people[2]


def generated(people: int, rows: int, columns: int) -> tuple[Columns, Columns, Columns]:
    """Tables of words and, in every fourth column, numbers."""
    rng = np.random.default_rng(1)

    def draw(many: int) -> Columns:
        own: Columns = {}
        for at in range(columns):
            values = [str(v) if at % 4 == 0 else f"v{v}" for v in range(5 + 5 * (at % 4))]
            own[f"c{at}"] = (values, (rng.random(many) ** 2 * len(values)).astype(np.int64))
        return own

    return draw(people), draw(rows), draw(people // 2)


def attack(original: Columns, fake: Columns, control: Columns) -> Any:
    """Every attack, from the columns on."""
    from sievert.commands.synthetic.attacks.attacks import attack_synthetic
    from sievert.commands.synthetic.attacks.tables import join_tables
    from sievert.commands.synthetic.attacks.task import AttackTask

    names = tuple(original)
    half = len(names) // 2
    task = AttackTask(secrets=names, halves=(names[:half], names[half:]))
    return attack_synthetic(join_tables(original, fake, control), task)


def same_attacks(original: Columns, fake: Columns, control: Columns) -> None:
    """Singling out by one to three columns, linkability and inference: what anonymeter has."""
    from sievert.commands.synthetic.attacks import nearness, singling_out
    from sievert.commands.synthetic.attacks.tables import join_tables

    tables, names = join_tables(original, fake, control), tuple(original)
    for width in (1, 2, 3):
        singling_out.singling_out(tables, singling_out.count_predicates(tables, width))
    nearness.linkability(tables, nearness.link_chances(tables, (names[:4], names[4:])))
    for guess in nearness.guesses(tables, names):
        nearness.inference(tables, guess)


def run(options: Options) -> Result:
    """Time the task, then the growth."""
    given = shifted()
    copies = attack(*given).attacks["copies"]  # compiles, too
    rounds = options.rounds or (1 if options.quick else 5)
    tasks = {
        "all attacks": lambda: attack(*given),
        "those of anonymeter": lambda: same_attacks(*given),
    }
    timings = interleave(tasks, rounds)
    samples = timings["all attacks"]
    walls = [sample.wall for sample in samples]
    print("Adult, 20,108 originals and synthetic rows, 10,054 controls, nine columns\n")
    lines: list[tuple[object, ...]] = []
    for name, own in timings.items():
        wall = statistics.median(sample.wall for sample in own)
        busy = statistics.median(sample.user + sample.system for sample in own)
        lines.append((name, digits(wall), digits(busy), f"{ANONYMETER / wall:.0f}"))
    lines.append(("anonymeter, 2,000 attacks each, measured once", digits(ANONYMETER), "", ""))
    print(table(("", "wall s (median)", "CPU s (median)", "anonymeter / it"), lines))
    ratio = Ratio.of([ANONYMETER] * rounds, walls)
    goal = verdict(ratio.median, GOAL, at_least=True)
    goal["met"] = bool(goal["met"]) and statistics.median(walls) <= MOST
    if (copies.original.hits, copies.control.hits) != COPIES:
        print("\nThe copies are not those of the task, so the times are not of the same work.")
        goal["met"] = False
    print_verdict("anonymeter / all attacks", ratio, goal)
    size = QUICK_SIZE if options.quick else SIZE
    growth = []
    for people, rows, columns in SHAPES:
        tables = generated(people * size, rows * size, columns)
        attack(
            *generated(100, 100, columns)
        )  # distances of many columns are compiled by themselves
        growth.append((people * size, rows * size, columns, timed(lambda t=tables: attack(*t))))
    print("\nGrowth\n")
    grown = [
        (f"{n:,}", f"{m:,}", d, digits(s.wall), digits(s.user + s.system)) for n, m, d, s in growth
    ]
    print(table(("originals", "rows", "columns", "wall s", "CPU s"), grown))
    return {"samples": samples, "ratio": ratio, "growth": growth, "goal": goal}
