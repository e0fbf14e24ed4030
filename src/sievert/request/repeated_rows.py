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
MANY = 0.95  # of the records: a value for nearly each of them
WEIGHT_NAMES_PEOPLE = "weight_names_people"  # the reason of a gate
MANY_VALUES = 50  # of a column that is called like a name or a number of people
FEW_RECORDS = 20  # of fewer different values mean nothing


def repeated_identifiers(
    questions: Questions, roles: Roles, distinct: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """The identifiers that several rows share, and those of which that is not known.

    They are those named, and columns called like one. Rows also share an identifier that they spell
    differently, unless its column is `distinct`. Of the columns that a state leaves out much is not
    known when it has changed. Who says that rows are people has looked at the columns that are
    ignored.
    """
    others = {*roles.measured_columns, *roles.identifier, *roles.single_columns.values()}
    others |= {*roles.ignored} if roles.rows_are_people else set()
    likely = [c for c in questions.columns if c not in others and tells_people_apart(c)]
    named = [c for c in roles.identifier if c != roles.person]
    known = questions.left_out
    counted = spread_values(questions, [c for c in (*named, *likely) if c not in known])
    spreads = {c: s for c in (*named, *likely) if (s := known.get(c, counted.get(c))) is not None}
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
    """How many of the `values` of a column are left, at most, where those that coincide are one.

    Where the groups that coincide are not known, each of them has two values at least.
    """
    found = find_spellings(questions, column)
    groups = len(found.groups) if found.groups else found.values // 2
    return values - found.values + groups


def naming_columns(questions: Questions, columns: Sequence[str]) -> list[str]:
    """The columns that are called like an identifier and have many different values.

    Such a column says who somebody is, whatever else its role is. Many are more than a few dozen if
    it is called like the name, the address or a number of a person, and else nearly one for each
    record.
    """
    called = [c for c in columns if names_people(c) or _sounds_like_identifier(c)]
    counted = _different_values(questions, called)
    unique = {*_nearly_unique(questions, counted)}
    many = {c for c, values in counted.items() if names_people(c) and values > MANY_VALUES}
    return [c for c in called if c in unique or c in many]


def naming_weight(rows: Questions, weight: str | None) -> list[str]:
    """The weight of a table, if it may say who somebody is.

    Its values are not numbers then, or it is called like an identifier and has many values, or they
    are whole numbers of which nearly each record has another: the numbers of people, perhaps.
    Suppressed records are looked at as well as the other `rows`.
    """
    if weight is None or weight not in rows.columns:
        return []
    every = rows.with_suppressed()
    if naming_columns(every, [weight]) or _other_than_numbers(every, weight):
        return [weight]
    unique = _nearly_unique(every, _different_values(every, [weight]))
    return [weight] if unique and _are_whole(every, weight) else []


def judge_weight(gate: "Gate", rows: Questions, *weights: str | None) -> None:
    """Tell the gate of a table with these `rows` of `weights` that may name people.

    A weight below 0 is an error.
    """
    naming = [name for weight in dict.fromkeys(weights) for name in naming_weight(rows, weight)]
    if naming:
        gate.undecided(WEIGHT_NAMES_PEOPLE, naming)
    for weight in dict.fromkeys(weights):
        if weight in rows.columns and weight not in naming:
            _check_not_negative(rows.with_suppressed(), weight)


def _sounds_like_identifier(column: str) -> bool:
    """Whether a word of a column's name is one that identifiers have."""
    return tells_people_apart(column) or "name" in column.casefold()


def _different_values(questions: Questions, columns: Sequence[str]) -> dict[str, int]:
    """How many different values columns have at most; columns of which that is not known lack."""
    known = questions.left_out
    counted = spread_values(questions, [c for c in columns if c not in known])
    spreads = {c: known.get(c, counted.get(c)) for c in columns}
    return {c: spread.most for c, spread in spreads.items() if spread is not None}


def _nearly_unique(questions: Questions, counted: Mapping[str, int]) -> list[str]:
    """The columns that have a value for nearly each record; of few records none."""
    if questions.records < FEW_RECORDS:
        return []
    return [c for c, values in counted.items() if values > MANY * questions.records]


def _other_than_numbers(questions: Questions, column: str) -> bool:
    """Whether some value of a column is no number; nothing is known of one that a state lacks."""
    if column in questions.left_out:
        return False
    if not usable_columns(questions, [column]):  # lists, for example
        return True
    if questions.engine.kind(column) == "float":
        return False
    return questions.has_other_than(column, NUMBER)


def _are_whole(questions: Questions, column: str) -> bool:
    """Whether all values of a column of numbers are whole; not known of one that a state lacks."""
    return column not in questions.left_out and not questions.has_other_than(column, WHOLE)


def _check_not_negative(questions: Questions, column: str) -> None:
    """Raise an error for a weight below 0, as where people are estimated by it."""
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
    """How many rows have a value of each column of plain values, and how many values these are."""
    if not (usable := usable_columns(questions, columns)):
        return {}
    lacking = questions.missing(usable)
    named = {c: values - (c in lacking) for c, values in questions.distinct(usable).items()}
    return {c: Spread(questions.records - lacking.get(c, 0), n, n) for c, n in named.items()}
