"""What an assessment costs more because the order of the rows and spellings are looked at.

One table has a row a person. In the other, people have two rows and numbers such as P00000012: of
texts with capitals the engine cannot tell at once that no two coincide.
"""

from __future__ import annotations

import statistics
from functools import partial
from pathlib import Path

import duckdb

from bench.common import (
    Options,
    Ratio,
    Result,
    Shape,
    digits,
    interleave,
    print_verdict,
    scratch,
    table,
    verdict,
)

GOAL = 1.15
SIZES, QUICK = (10**6, 10**7), (10**6,)
PERSON = "who"
TABLES = ("rows", "people")
# What is looked at besides the counts, by the name of a run.
LOOKED_AT = {
    "neither": {"row_order": False, "spellings": False},
    "order": {"row_order": True, "spellings": False},
    "spellings": {"row_order": False, "spellings": True},
    "both": {"row_order": True, "spellings": True},
}


def write(path: Path, shape: Shape, *, people: bool) -> None:
    """Write a table, with the numbers of its people where they have several rows."""
    if not people:
        shape.write(path)
        return
    number = "(row_number() OVER () // 2)::VARCHAR"
    with duckdb.connect() as connection:
        connection.execute("SET memory_limit = '4GB'")
        connection.execute(f"SET temp_directory = '{path.parent / 'spill'}'")
        connection.execute(
            f"COPY (SELECT *, 'P' || lpad({number}, 8, '0') AS {PERSON} FROM ({shape.sql()})) "
            f"TO '{path}' (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 1000000)"
        )


def assess(path: Path, shape: Shape, *, people: bool, row_order: bool, spellings: bool) -> None:
    """Assess a table with a policy, with each of the two checks or without it."""
    from sievert.commands.assess.run import AssessmentPlan, assess_table
    from sievert.commands.assess.settings import AssessSettings
    from sievert.measurement.table_measures import MeasureSettings
    from sievert.request.requested import Reading, requested_roles
    from sievert.session import no_progress

    roles: dict[str, object] = {"quasi": shape.quasi_names, "sensitive": shape.secret_names}
    roles |= {"person": PERSON} if people else {"rows_are_people": True}
    limits = {"k_anonymity": {"min": 2}, "t_closeness": {"max": 0.9}}
    requested = requested_roles({"roles": roles, "limits": limits}, None, None, None)
    measuring = MeasureSettings().with_policy(requested.policy)
    plan = AssessmentPlan(
        settings=AssessSettings(data=path),
        measuring=measuring,
        row_order=row_order,
        spellings=spellings,
    )
    reading = Reading(no_progress, None)
    with reading(path, secrets=shape.secrets) as (opened, questions):
        assess_table(opened, questions, requested.of_table(opened), plan, reading.clock, None)


def run(options: Options) -> Result:
    """Measure each size in turns; CPU seconds decide, and the dearer of the largest tables."""
    sizes: list[Result] = []
    cases: list[tuple[str, ...]] = []
    ratios: list[Ratio] = []
    for rows in QUICK if options.quick else SIZES:
        shape = Shape(rows=rows, classes=10_000, quasi=6, secrets=2)
        for kind in TABLES:
            people = kind == "people"
            with scratch() as folder:
                path = folder / "table.parquet"
                write(path, shape, people=people)
                actions = {
                    name: partial(assess, path, shape, people=people, **looked_at)
                    for name, looked_at in LOOKED_AT.items()
                }
                samples = interleave(actions, options.rounds or (3 if options.quick else 9))
            seconds = {name: [s.user + s.system for s in own] for name, own in samples.items()}
            ratio = Ratio.of(seconds["both"], seconds["neither"])
            ratios.append(ratio)
            sizes.append({"rows": rows, "table": kind, "samples": samples, "ratio": ratio})
            medians = (digits(statistics.median(own)) for own in seconds.values())
            cases.append((f"{rows:,} {kind}", *medians, str(ratio)))
    names = (f"{name}, CPU s" for name in LOOKED_AT)
    print(table(("table", *names, "both / neither"), cases))
    dearest = max(ratios[-len(TABLES) :], key=lambda ratio: ratio.median)
    goal = verdict(dearest.median, GOAL, at_least=False)
    print_verdict("with order and spellings / without", dearest, goal)
    return {"sizes": sizes, "goal": goal}
