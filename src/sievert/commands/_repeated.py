"""Identifiers that several rows share, so that rows are not people; identifiers in other roles."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from sievert.counts.questions import Questions
from sievert.errors import SievertError
from sievert.roles import Roles, tells_people_apart
from sievert.sources.states import Spread

if TYPE_CHECKING:
    from sievert.policy import Gate

MOST_ROWS = 100  # of a person on average, by a column that only looks like an identifier
MANY = 0.95  # of the records: a value for nearly each of them
WEIGHT_NAMES_PEOPLE = "weight_names_people"  # the reason of a gate
FEW_RECORDS = 20  # up to here different values mean nothing


def repeated_identifiers(questions: Questions, roles: Roles) -> tuple[list[str], list[str]]:
    """The identifiers that several rows share, and those of which that is not known.

    They are those named, and columns called like one. Of the columns that a state leaves out much
    is not known when it has changed. Who says that rows are people has looked at the columns that
    are ignored.
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
    repeated = [c for c, spread in telling.items() if spread.repeated]
    return repeated, [c for c, spread in telling.items() if spread.repeated is None]


def naming_secrets(questions: Questions, roles: Roles) -> list[str]:
    """Secrets that are called like an identifier and have a value for nearly each record.

    Such a column says who somebody is, whatever is measured of it as of a secret.
    """
    return _nearly_unique(questions, [s for s in roles.sensitive if _names_people(s)])


def naming_weight(rows: Questions, roles: Roles) -> list[str]:
    """The weight of a table, if it may say who somebody is.

    Its values are not numbers then, or it is called like an identifier and has a value for nearly
    each record. Suppressed records are looked at as well as the other `rows`.
    """
    weight = roles.weight
    if weight is None or weight not in rows.columns:
        return []
    every = rows.with_suppressed()
    named = _names_people(weight) and bool(_nearly_unique(every, [weight]))
    return [weight] if named or _other_than_numbers(every, weight) else []


def judge_weight(gate: "Gate", rows: Questions, roles: Roles) -> None:
    """Tell the gate of a table with these `rows` and `roles` of a weight that may name people."""
    if weights := naming_weight(rows, roles):
        gate.undecided(WEIGHT_NAMES_PEOPLE, weights)


def _names_people(column: str) -> bool:
    """Whether a column is called as those are that say who somebody is."""
    return tells_people_apart(column) or "name" in column.casefold()


def _nearly_unique(questions: Questions, columns: Sequence[str]) -> list[str]:
    """The columns that have a value for nearly each record; of few records none."""
    if questions.records <= FEW_RECORDS or not columns:
        return []
    known = questions.left_out
    counted = spread_values(questions, [c for c in columns if c not in known])
    spreads = {c: known.get(c, counted.get(c)) for c in columns}
    most = MANY * questions.records
    return [c for c, spread in spreads.items() if spread is not None and spread.most > most]


def _other_than_numbers(questions: Questions, column: str) -> bool:
    """Whether some value of a column is no number; nothing is known of one that a state lacks."""
    if column in questions.left_out:
        return False
    if not usable_columns(questions, [column]):  # lists, for example
        return True
    if questions.engine.kind(column) == "float":
        return False
    return questions.has_other_than_numbers(column)


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
