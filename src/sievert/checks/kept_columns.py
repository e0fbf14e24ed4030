"""Columns that a release keeps besides the measured ones: how they help to find people.

An outsider who can know such a column knows it like a quasi-identifier. So the limits on finding
people are also compared with the numbers of classes by all known columns. The worse number decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sievert.counts.questions import Questions
from sievert.measurement.table_measures import MeasureSettings, TableMeasures, with_kept
from sievert.measures import BY_ID
from sievert.measures.measure import Value
from sievert.request.repeated_rows import naming_columns
from sievert.roles import Roles
from sievert.session import no_progress

if TYPE_CHECKING:
    from sievert.counts.suppressed_class import MarkedRecords
    from sievert.policy import Gate

# The reasons of a gate.
KEPT_UNIQUE = "kept_unique"
KEPT_NOT_MEASURED = "kept_not_measured"
KEPT_NAMES_PEOPLE = "kept_names_people"
MOST_UNIQUE = 0.05  # share of the people who may have a value of their own in a kept column


def measure_with_kept(
    questions: Questions,
    roles: Roles,
    measuring: MeasureSettings,
    numbers: Mapping[str, Value],
) -> dict[str, Value]:
    """Put beside the `numbers` of finding people those of classes split by the kept columns."""
    ids = [m for m in numbers if m in BY_ID]
    if not roles.knowable or not ids:
        return dict(numbers)
    wide = replace(roles, quasi=(*roles.quasi, *roles.knowable))
    others = TableMeasures(questions, wide, measuring, ids, no_progress).reidentification()
    return with_kept(numbers, others)


def many_unique(
    questions: Questions, columns: Iterable[str], fresh: Collection[str] = ()
) -> list[str]:
    """The columns in which too many people have values of their own, alone or all together.

    Suppressed records count as well, and also as a group of their own, because a value that nobody
    else has finds them too. Nobody knows a `fresh` key, which was made with the release, so it is
    examined alone, not together with others.
    """
    columns = list(columns)
    telling = [column for column in columns if _tells_people_apart(questions, [column])]
    together = [column for column in columns if column not in fresh]
    if not telling and len(together) > 1 and _tells_people_apart(questions, together):
        return together
    return telling


def _tells_people_apart(questions: Questions, columns: Sequence[str]) -> bool:
    """Whether too many people share their values of some columns with nobody."""
    sizes = questions.sizes(columns)
    alone = sum(n for size, n in zip(sizes.sizes, sizes.times, strict=True) if size == 1)
    people = questions.people or questions.records
    if alone > MOST_UNIQUE * people:
        return True
    suppressed: MarkedRecords | None = questions.suppressed
    if suppressed is None:
        return False
    unique = suppressed.alone(columns)
    size = suppressed.size()
    of_suppressed = unique.members > MOST_UNIQUE * size.members
    return of_suppressed or unique.everybody > MOST_UNIQUE * size.everybody


def judge_kept_names(
    gate: Gate, questions: Questions, columns: Collection[str], fresh: Collection[str] = ()
) -> None:
    """Report to a gate the kept columns among `columns` that may say who somebody is.

    Suppressed records are included. A `fresh` key was made with the release.
    """
    kept = [c for c in gate.policy.roles.kept if c in columns and c not in fresh]
    naming = naming_columns(questions.with_suppressed(), kept)
    if naming:
        gate.undecided(KEPT_NAMES_PEOPLE, naming)


def judge_kept(
    gate: Gate,
    questions: Questions,
    roles: Roles,
    counted: Collection[str] | None,
    *,
    wild: bool,
    fresh: Collection[str] = (),
) -> None:
    """Report to a gate the risks of kept columns, and the columns that are not examined.

    A count state has only the `counted` columns. With `wild` cards, kept columns are not measured.
    A `fresh` key was made with the release.
    """
    kept = [c for c in roles.kept if counted is None or c in counted]
    judge_kept_names(gate, questions, [*kept, *questions.left_out], fresh)
    telling = many_unique(questions, kept, fresh)
    if telling:
        gate.undecided(KEPT_UNIQUE, telling)
    unknown = [c for c in roles.knowable if wild or c not in kept]
    if unknown:
        gate.undecided(KEPT_NOT_MEASURED, unknown)
