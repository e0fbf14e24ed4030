"""Identifiers that several rows share, so that rows are not people; identifiers in other roles."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from sievert.counts.questions import NEGATIVE, NUMBER, WHOLE, Questions
from sievert.counts.spellings import find_spellings
from sievert.errors import InputError, SievertError, require
from sievert.formatting import plural
from sievert.roles import Roles, names_people, tells_people_apart
from sievert.sources.state_manifest import Spread

if TYPE_CHECKING:
    from sievert.policy import Gate

MOST_ROWS = 100  # of a person on average, by a column that only looks like an identifier
MANY = 0.95  # share of the records: more different values identify nearly each record
WEIGHT_NAMES_PEOPLE = "weight_names_people"  # the reason of a gate
MANY_VALUES = 50  # more different values of a column with such a name may name people
FEW_RECORDS = 20  # with fewer records, the number of different values means nothing


def repeated_identifiers(
    questions: Questions, roles: Roles, distinct: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """The identifiers that several rows share, and the identifiers that rows may share.

    The columns are the identifiers of the roles, and columns with the name of an identifier. Rows
    also share an identifier that they spell differently, unless its column is `distinct`. Little is
    known about columns that a changed state leaves out. Ignored columns are not looked at if the
    user says that rows are people.
    """
    others = {*roles.measured_columns, *roles.identifier, *roles.single_columns.values()}
    if roles.rows_are_people:
        others |= {*roles.ignored}
    likely = [c for c in questions.columns if c not in others and tells_people_apart(c)]
    named = [c for c in roles.identifier if c != roles.person]
    known = questions.left_out
    counted = spread_values(questions, [c for c in (*named, *likely) if c not in known])
    spreads: dict[str, Spread] = {}
    for column in (*named, *likely):
        spread = known.get(column, counted.get(column))
        if spread is not None:
            spreads[column] = spread
    # A code of a hospital or a batch has few values: it does not tell people apart.
    telling = {c: s for c, s in spreads.items() if c in named or s.rows <= MOST_ROWS * s.most}
    repeated = []
    unsure = []
    for column, spread in telling.items():
        if spread.repeated or (column in counted and _is_respelt(questions, column, distinct)):
            repeated.append(column)
        elif spread.repeated is None:
            unsure.append(column)
    return repeated, unsure


def _is_respelt(questions: Questions, column: str, distinct: Collection[str]) -> bool:
    """Whether rows share values of a column that coincide if they are spelt alike."""
    if column in distinct or not questions.has_values_of(column):
        return False
    return bool(find_spellings(questions, column).values)


def canonical_values(questions: Questions, column: str, values: int) -> int:
    """The largest possible number of `values` of a column once values that coincide are merged.

    If the groups of such values are not known, each has at least two values.
    """
    spellings = find_spellings(questions, column)
    groups = len(spellings.groups) if spellings.groups else spellings.values // 2
    return values - spellings.values + groups


def naming_columns(questions: Questions, columns: Sequence[str]) -> list[str]:
    """The columns with the name of an identifier and many different values.

    Such a column says who somebody is, even if it has another role. "Many" is more than a few dozen
    if the column is called like the name, the address or a number of a person. Otherwise it is
    nearly one value per record.
    """
    called = [c for c in columns if names_people(c) or _sounds_like_identifier(c)]
    counted = _different_values(questions, called)
    unique = {*_nearly_unique(questions, counted)}
    many = {c for c, values in counted.items() if names_people(c) and values > MANY_VALUES}
    return [c for c in called if c in unique or c in many]


def naming_weight(rows: Questions, weight: str | None) -> list[str]:
    """The weight of a table, if it may say who somebody is.

    It may if its values are not numbers, if it is called like an identifier and has many values, or
    if nearly each record has a whole number of its own, which may be the number of a person.
    Suppressed records are included.
    """
    if weight is None or weight not in rows.columns:
        return []
    rows = rows.with_suppressed()
    if naming_columns(rows, [weight]) or _other_than_numbers(rows, weight):
        return [weight]
    unique = _nearly_unique(rows, _different_values(rows, [weight]))
    return [weight] if unique and _are_whole(rows, weight) else []


def judge_weight(gate: "Gate", rows: Questions, *weights: str | None) -> None:
    """Report `weights` that may name people to the gate of a table with these `rows`.

    Raise an error for a weight below 0.
    """
    naming = [name for weight in dict.fromkeys(weights) for name in naming_weight(rows, weight)]
    if naming:
        gate.undecided(WEIGHT_NAMES_PEOPLE, naming)
    for weight in dict.fromkeys(weights):
        if weight in rows.columns and weight not in naming:
            _check_not_negative(rows.with_suppressed(), weight)


def _sounds_like_identifier(column: str) -> bool:
    """Whether the name of a column contains a word of identifiers."""
    return tells_people_apart(column) or "name" in column.casefold()


def _different_values(questions: Questions, columns: Sequence[str]) -> dict[str, int]:
    """The largest possible number of values of each column, where it is known."""
    known = questions.left_out
    counted = spread_values(questions, [c for c in columns if c not in known])
    spreads = {c: known.get(c, counted.get(c)) for c in columns}
    return {c: spread.most for c, spread in spreads.items() if spread is not None}


def _nearly_unique(questions: Questions, counted: Mapping[str, int]) -> list[str]:
    """The columns with a value for nearly each record; none if there are few records."""
    if questions.records < FEW_RECORDS:
        return []
    return [c for c, values in counted.items() if values > MANY * questions.records]


def _other_than_numbers(questions: Questions, column: str) -> bool:
    """Whether any value of a column is no number; False for a column that a state leaves out."""
    if column in questions.left_out:
        return False
    if not usable_columns(questions, [column]):  # lists, for example
        return True
    if questions.engine.kind(column) == "float":
        return False
    return questions.has_other_than(column, NUMBER)


def _are_whole(questions: Questions, column: str) -> bool:
    """Whether all numbers of a column are whole; False for a column that a state leaves out."""
    return column not in questions.left_out and not questions.has_other_than(column, WHOLE)


def _check_not_negative(questions: Questions, column: str) -> None:
    """Raise an error for a weight below 0, as estimates of people by weights do."""
    if column in questions.left_out:
        return
    number = questions.count_matching(column, NEGATIVE)
    require(
        not number,
        f"{plural(number, 'record')} with a weight below 0 in {column!r}",
        hint="how many people a record stands for",
        error=InputError,
    )


def usable_columns(questions: Questions, columns: Sequence[str]) -> list[str]:
    """The columns of plain values."""
    usable = []
    for column in columns:
        with suppress(SievertError):
            questions.engine.check_usable(column)
            usable.append(column)
    return usable


def spread_values(questions: Questions, columns: Sequence[str]) -> dict[str, Spread]:
    """Count the rows with a value, and the values, of each column of plain values."""
    usable = usable_columns(questions, columns)
    if not usable:
        return {}
    lacking = questions.missing(usable)
    spreads: dict[str, Spread] = {}
    for column, values in questions.distinct(usable).items():
        if column in lacking:
            values -= 1  # missing is one of them
        spreads[column] = Spread(questions.records - lacking.get(column, 0), values, values)
    return spreads
