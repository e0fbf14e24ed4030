"""A release made by a method that changes records: written, assessed as a file, and described."""

from collections.abc import Iterable

from sievert.commands._clock import Clock
from sievert.commands._combinations import count_combinations
from sievert.commands._common import RequestedRoles
from sievert.commands._measuring import MeasureSettings
from sievert.commands._release_problem import assign_hierarchies, limit_suppressed
from sievert.commands.protect.method import PLAIN, MethodSettings, RecordTable, method
from sievert.commands.protect.result import ColumnLevel
from sievert.commands.protect.run import Protection, prepare, read_columns
from sievert.counts.questions import Questions


def make_release(
    questions: Questions,
    requested: RequestedRoles,
    measuring: MeasureSettings,
    how: str,
    settings: MethodSettings,
    keep: Iterable[str],
    missing: str,
    clock: Clock,
) -> Protection:
    """The release that a method makes of all records."""
    start = prepare(questions, requested, measuring, settings.suppress, missing, keep)
    roles, notes = start.roles, start.notes
    classes = count_combinations(questions, roles.quasi, ()).classes
    trees, sources = assign_hierarchies(
        classes.value_counts, roles, measuring.hierarchies, notes, proposed=how not in PLAIN
    )
    clock(f"making the release ({how})", questions)
    table = RecordTable(
        read_columns(questions, {*roles.quasi, *roles.sensitive, *keep}),
        roles,
        start.policy,
        measuring,
        trees,
    )
    release = method(how)(table, settings)
    notes += release.notes
    apart = {column.name for column in release.secrets} & {*roles.sensitive}
    own = {name: c for name, c in table.columns.items() if name not in apart}
    columns = [*{**own, **release.columns}.values()]
    if release.chosen is not None:
        columns = [column.only(release.chosen) for column in columns]
    described = {
        c.name: ColumnLevel(None, None, sources.get(c.name), len(set(c.texts)))
        for c in columns
        if c.name in roles.quasi
    }
    # More suppressed records than may be are a breach, also where none may be.
    policy = limit_suppressed(start.policy, 0) if release.suppressed_records else start.policy
    return Protection(
        roles, policy, start.gate, described, notes, release=release, file_columns=columns
    )
