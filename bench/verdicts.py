"""What the check of the order of the rows adds to an assessment with a policy."""

from __future__ import annotations

import statistics
from functools import partial
from pathlib import Path

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


def assess(path: Path, shape: Shape, *, row_order: bool) -> None:
    """Assess a table with a policy, with the check or without it."""
    from sievert.commands._common import Reading, requested_roles
    from sievert.commands._measuring import MeasureSettings
    from sievert.commands.assess.run import AssessmentSettings, assess_table
    from sievert.session import no_progress

    roles = {"quasi": shape.quasi_names, "sensitive": shape.secret_names, "rows_are_people": True}
    limits = {"k_anonymity": {"min": 2}, "t_closeness": {"max": 0.9}}
    requested = requested_roles({"roles": roles, "limits": limits}, None, None, None)
    measuring = MeasureSettings().with_policy(requested.policy)
    settings = AssessmentSettings(
        measuring, None, "value", False, {}, False, None, row_order=row_order
    )
    reading = Reading(no_progress, None)
    with reading(path, secrets=shape.secrets) as (opened, questions):
        assess_table(opened, questions, requested.of_table(opened), settings, reading.clock, None)


def run(options: Options) -> Result:
    """Measure each size in turns; CPU seconds decide."""
    sizes, cases = [], []
    for rows in QUICK if options.quick else SIZES:
        shape = Shape(rows=rows, classes=10_000, quasi=6, secrets=2)
        with scratch() as folder:
            path = folder / "table.parquet"
            shape.write(path)
            actions = {
                "with": partial(assess, path, shape, row_order=True),
                "without": partial(assess, path, shape, row_order=False),
            }
            samples = interleave(actions, options.rounds or (3 if options.quick else 9))
        seconds = {name: [s.user + s.system for s in own] for name, own in samples.items()}
        ratio = Ratio.of(seconds["with"], seconds["without"])
        sizes.append({"rows": rows, "samples": samples, "ratio": ratio})
        medians = (digits(statistics.median(own)) for own in seconds.values())
        cases.append((f"{rows:,}", *medians, str(ratio)))
    print(table(("rows", "with, CPU s", "without, CPU s", "ratio"), cases))
    goal = verdict(ratio.median, GOAL, at_least=False)
    print_verdict("with the order / without", ratio, goal)
    return {"sizes": sizes, "goal": goal}
