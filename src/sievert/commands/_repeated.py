"""Identifiers that several rows share: rows are then not people."""

from collections.abc import Sequence
from contextlib import suppress

from sievert.counts.questions import Questions
from sievert.errors import SievertError
from sievert.roles import Roles, tells_people_apart
from sievert.sources.states import Spread

MOST_ROWS = 100  # of a person on average, by a column that only looks like an identifier
MANY = 0.95  # of the records: a value for nearly each of them
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
    likely = [s for s in roles.sensitive if tells_people_apart(s) or "name" in s.casefold()]
    if questions.records <= FEW_RECORDS or not likely:
        return []
    spreads = spread_values(questions, likely)
    return [s for s, spread in spreads.items() if spread.most > MANY * questions.records]


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
