"""What each column looks like: how many values, how many are missing, what they are."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from sievert.commands.columns.result import DescribedColumn
from sievert.counts.adapter import ColumnKind
from sievert.counts.questions import Questions
from sievert.errors import require
from sievert.request.role_suggestion import (
    ColumnEvidence,
    examine_tallies,
    suggest_role,
    tally_values,
)
from sievert.roles import looks_like_record

ROLES = {"-q": "quasi", "-s": "sensitive", "-i": "identifier", "--person": "person"}
ONE_COLUMN = ("person", "household", "weight")  # of several likely ones none is suggested
IN_A_POLICY = ("household", "weight")  # roles that are given in a policy only
EXAMPLES = 3  # values of a column


def look_at_columns(questions: Questions, *, show_values: bool) -> tuple[DescribedColumn, ...]:
    """Every column in its order, with the role that its name and its values suggest."""
    require(
        show_values or not (questions.first_line and looks_like_record(questions.columns)),
        "the first line looks like a record: it is not listed",
        hint="--no-header, or --show-values if these are names",
    )
    missing = questions.missing(questions.columns)
    marks = questions.marks(questions.columns)
    distinct = questions.distinct(questions.columns)
    tallies, described = tally_values(questions, distinct), []
    for name, evidence in examine_tallies(distinct, tallies, questions.records).items():
        option, reason = suggest_role(name, evidence)
        described.append(
            DescribedColumn(
                name,
                evidence.values,
                missing.get(name, 0),
                _kind(evidence),
                reason if reason in IN_A_POLICY else ROLES.get(option),
                reason,
                evidence.codes,
                evidence.coded,
                marks.get(name, 0),
                _examples(tallies.get(name, {}), questions.engine.kind(name))
                if show_values
                else (),
            )
        )
    roles = Counter(column.role for column in described)
    return tuple(
        replace(column, role=None) if _is_shared(column, roles) else column for column in described
    )


def _is_shared(column: DescribedColumn, roles: Mapping[str | None, int]) -> bool:
    """Whether other columns have the likely role too that only one column can have."""
    return column.role in ONE_COLUMN and roles[column.role] > 1


def _kind(evidence: ColumnEvidence) -> str:
    if evidence.values <= 1:
        return "constant"
    return "dates" if evidence.dates else "numbers" if evidence.numbers else "texts"


def _examples(tally: Mapping[str | None, int], kind: ColumnKind) -> tuple[str, ...]:
    """The most frequent texts, of those as frequent the first; of other values only empty ones."""
    ranked = sorted(
        (-n, v) for v, n in tally.items() if v is not None and (kind == "text" or not v)
    )
    return tuple(text for _, text in ranked[:EXAMPLES])
