"""What each column looks like: how many values, how many are missing, what they are."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from sievert.commands.columns.result import ColumnList, DescribedColumn
from sievert.commands.columns.settings import ColumnsSettings
from sievert.counts.adapter import ColumnKind
from sievert.counts.questions import Questions
from sievert.errors import require
from sievert.request.requested import LARGE, Reading
from sievert.request.role_suggestion import (
    ColumnEvidence,
    examine_tallies,
    suggest_role,
    tally_values,
)
from sievert.request.table_description import describe_table
from sievert.roles import looks_like_record
from sievert.session import Steps, no_progress
from sievert.settings.groups import reader_options

ROLES = {"-q": "quasi", "-s": "sensitive", "-i": "identifier", "--person": "person"}
ONE_COLUMN = ("person", "household", "weight")  # of several likely ones none is suggested
IN_A_POLICY = ("household", "weight")  # roles that are given in a policy only
EXAMPLES = 3  # values of a column


def run(settings: ColumnsSettings, watch: Steps = no_progress) -> ColumnList:
    """Describe the columns of a table; `watch` is told of every step."""
    reading = Reading(watch, LARGE, verify=settings.verify, **reader_options(settings))
    with reading(settings.data) as (table, questions):
        reading.clock("looking at the values", questions)
        columns = look_at_columns(questions, show_values=settings.show_values)
        description = describe_table(table, questions)
    reading.clock.stop()
    return ColumnList(description, columns)


def look_at_columns(questions: Questions, *, show_values: bool) -> tuple[DescribedColumn, ...]:
    """Describe every column in its order, with the role that its name and its values suggest."""
    require(
        show_values or not (questions.first_line and looks_like_record(questions.columns)),
        "the first line looks like a record: it is not listed",
        hint="--no-header, or --show-values if these are names",
    )
    missing = questions.missing(questions.columns)
    marks = questions.marks(questions.columns)
    distinct = questions.distinct(questions.columns)
    tallies = tally_values(questions, distinct)
    described = []
    for name, evidence in examine_tallies(distinct, tallies, questions.records).items():
        option, reason = suggest_role(name, evidence)
        examples: tuple[str, ...] = ()
        if show_values:
            examples = most_frequent(tallies.get(name, {}), questions.engine.kind(name))
        described.append(
            DescribedColumn(
                name=name,
                values=evidence.values,
                missing=missing.get(name, 0),
                kind=_kind(evidence),
                role=reason if reason in IN_A_POLICY else ROLES.get(option),
                reason=reason,
                codes=evidence.codes,
                coded=evidence.coded,
                suppressed=marks.get(name, 0),
                examples=examples,
            )
        )
    roles = Counter(column.role for column in described)
    return tuple(
        replace(column, role=None) if _is_shared(column, roles) else column for column in described
    )


def _is_shared(column: DescribedColumn, roles: Mapping[str | None, int]) -> bool:
    """Tell whether other columns also have a likely role that only one column can have."""
    return column.role in ONE_COLUMN and roles[column.role] > 1


def _kind(evidence: ColumnEvidence) -> str:
    if evidence.values <= 1:
        return "constant"
    if evidence.dates:
        return "dates"
    return "numbers" if evidence.numbers else "texts"


def most_frequent(tally: Mapping[str | None, int], kind: ColumnKind) -> tuple[str, ...]:
    """Find the most frequent texts of a column; of a column of another kind only empty values.

    Texts that are equally frequent are in alphabetical order.
    """
    ranked = sorted(
        (-records, value)
        for value, records in tally.items()
        if value is not None and (kind == "text" or not value)
    )
    return tuple(value for _, value in ranked[:EXAMPLES])
