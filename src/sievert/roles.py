"""The roles of the columns, as the user gives them: they are never guessed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sievert.errors import UsageError, require, unknown
from sievert.formatting import nearest
from sievert.formatting.remarks import Remark

SINGLE_ROLES = ("person", "household", "weight")
JSON_ROLES = ("quasi", "sensitive", "identifier", *SINGLE_ROLES, "ignored", "kept", "unassessed")
NOT_RELEASED = ("identifier", "person", "household", "ignored")  # a release has no such column


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The roles of the columns of one table, as the user gave them."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    identifier: tuple[str, ...] = ()
    person: str | None = None
    household: str | None = None
    weight: str | None = None
    ignored: Mapping[str, str] = field(default_factory=dict, hash=False)  # the reason of each
    kept: Mapping[str, str] = field(default_factory=dict, hash=False)  # the reason of each
    unknowable: tuple[str, ...] = ()  # kept columns that outsiders cannot know
    rows_are_people: bool = False  # as a policy says
    repeated: tuple[str, ...] = ()  # identifiers that rows share: rows may not be people
    unsure: tuple[str, ...] = ()  # identifiers that rows may share: nobody knows
    merged: tuple[str, ...] = ()  # quasi-identifiers whose type merges different values
    naming: tuple[str, ...] = ()  # secrets whose name and values resemble an identifier
    other_sets: tuple[tuple[str, ...], ...] = ()  # further key sets of the same assessment

    @property
    def measured_columns(self) -> tuple[str, ...]:
        """The columns that are measured, without repetitions."""
        return tuple(dict.fromkeys((*self.quasi, *self.sensitive)))

    @property
    def other_quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers of other key sets only."""
        distinct = dict.fromkeys(c for others in self.other_sets for c in others)
        return tuple(c for c in distinct if c not in self.quasi)

    @property
    def single_columns(self) -> dict[str, str]:
        """The column of each role that only one column can have."""
        single = {"person": self.person, "household": self.household, "weight": self.weight}
        return {role: column for role, column in single.items() if column is not None}

    @property
    def every_column(self) -> frozenset[str]:
        """Every column that has a role."""
        single = self.single_columns.values()
        measured = (*self.measured_columns, *self.other_quasi)
        return frozenset((*measured, *self.identifier, *single, *self.ignored, *self.kept))

    @property
    def not_released(self) -> frozenset[str]:
        """The columns that a release must not have."""
        single = [c for c in (self.person, self.household) if c is not None]
        return frozenset((*self.identifier, *single, *self.ignored))

    @property
    def knowable(self) -> tuple[str, ...]:
        """The kept columns that an outsider may know like quasi-identifiers."""
        return tuple(c for c in self.kept if c not in self.unknowable)

    def to_dict(self, unassessed: Iterable[str]) -> dict[str, Any]:
        """The roles as JSON, with the columns that have none."""
        return {
            "quasi": list(self.quasi),
            "sensitive": list(self.sensitive),
            "identifier": list(self.identifier),
            "person": self.person,
            "household": self.household,
            "weight": self.weight,
            "ignored": dict(self.ignored),
            **({"kept": self._kept_entries()} if self.kept else {}),
            "rows_are_people": self.rows_are_people,
            "unassessed": list(unassessed),
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Roles":
        """Read the roles back from the JSON of a result."""
        kept = given.get("kept") or {}
        return cls(
            quasi=tuple(given.get("quasi") or ()),
            sensitive=tuple(given.get("sensitive") or ()),
            identifier=tuple(given.get("identifier") or ()),
            person=given.get("person"),
            household=given.get("household"),
            weight=given.get("weight"),
            ignored=dict(given.get("ignored") or {}),
            kept={column: entry["reason"] for column, entry in kept.items()},
            unknowable=tuple(c for c, entry in kept.items() if entry.get("outsiders_cannot_know")),
            rows_are_people=bool(given.get("rows_are_people")),
        )

    def _kept_entries(self) -> dict[str, dict[str, Any]]:
        """The kept columns as JSON."""
        return {
            column: {"reason": reason, "outsiders_cannot_know": column in self.unknowable}
            for column, reason in self.kept.items()
        }


def columns_by_role(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """The columns of each role in the JSON of a result: one, several, or with reasons.

    >>> columns_by_role({"person": "id", "ignored": {"batch": "a number"}})["ignored"]
    ['batch']
    """
    columns: dict[str, list[str]] = {}
    for role in JSON_ROLES:
        named = given.get(role)
        if not named:
            columns[role] = []
        else:
            columns[role] = [named] if isinstance(named, str) else list(named)
    return columns


class Typed(tuple[str, ...]):
    """Names as typed on a command line: separated by commas unless the whole is a column."""

    __slots__ = ()


def names(given: str | Iterable[str] | None, columns: Sequence[str] = ()) -> tuple[str, ...]:
    """Convert one name, several, or none to a tuple.

    >>> names(Typed(["age, zip", '"city, country"']), ["age", "zip", "city, country"])
    ('age', 'zip', 'city, country')
    """
    if given is None:
        return ()
    if isinstance(given, Typed):
        parts: list[str] = []
        for text in given:
            parts += [text] if text in columns else _split(text, columns)
        return tuple(parts)
    return (given,) if isinstance(given, str) else tuple(given)


def _split(text: str, columns: Sequence[str]) -> list[str]:
    """Split a text at commas; a part in double quotes may contain commas and doubled quotes.

    Blanks around a part belong to it only if a column has such a name.
    """
    parts = [""]
    inside = False
    for c in text:
        if c == '"':
            inside = not inside
        if c == "," and not inside:
            parts.append("")
        else:
            parts[-1] += c
    stripped = (p if p in columns else p.strip() for p in parts)
    unquoted = (_unquote(part) for part in stripped)
    return [part for part in unquoted if part]


def _unquote(part: str) -> str:
    """Remove the double quotes around a text, and one of each pair within it."""
    if len(part) > 1 and part[0] == part[-1] == '"':
        return part[1:-1].replace('""', '"')
    return part


def assign(
    columns: Sequence[str],
    quasi: str | Iterable[str] | None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    person: str | None = None,
    household: str | None = None,
    weight: str | None = None,
    ignored: Mapping[str, str] | None = None,
    kept: Mapping[str, str] | None = None,
    unknowable: Sequence[str] = (),
    one_role: bool = False,
    other_sets: Sequence[tuple[str, ...]] = (),
    first_line: bool = False,
) -> Roles:
    """Check the given roles against the columns; `first_line`: their names are a line of a text.

    Under a policy a column has `one_role` only; else a secret may be a quasi-identifier as well,
    and a person an identifier.
    """
    roles = Roles(
        quasi=names(quasi, columns),
        sensitive=names(sensitive, columns),
        identifier=names(identifier, columns),
        person=person,
        household=household,
        weight=weight,
        ignored=ignored if ignored else {},
        kept=kept if kept else {},
        unknowable=tuple(unknowable),
        other_sets=tuple(other_sets),
    )
    for what, given in (
        *(("quasi-identifier", each) for each in (roles.quasi, *roles.other_sets)),
        ("sensitive attribute", roles.sensitive),
        ("identifier", roles.identifier),
        *((role, (column,)) for role, column in roles.single_columns.items()),
        ("ignored", tuple(roles.ignored)),
        ("kept", tuple(roles.kept)),
    ):
        for name in given:
            require(
                isinstance(name, str), f"the name of a {what} is {type(name).__name__}, not text"
            )
            if name not in columns:
                raise _unknown_column(f"{what}: column", name, columns, roles, first_line)
        for name in given:
            require(given.count(name) == 1, f"column {name!r} is named twice as {what}")
    for name in roles.identifier:
        require(
            name not in (*roles.measured_columns, *roles.other_quasi),
            f"column {name!r} is an identifier and cannot be measured as well",
            hint="identifiers are dropped from a release; name it in one role only",
        )
    _check_single_roles(roles)
    if one_role:
        _check_one_role(roles)
    return roles


def _check_one_role(roles: Roles) -> None:
    """Raise an error for a column with two roles."""
    single = {role: (column,) for role, column in roles.single_columns.items()}
    columns_of = {
        "quasi-identifier": (*roles.quasi, *roles.other_quasi),
        "secret": roles.sensitive,
        "identifier": roles.identifier,
        **single,
        "ignored": tuple(roles.ignored),
        "kept": tuple(roles.kept),
    }
    first_role: dict[str, str] = {}
    for role, columns in columns_of.items():
        for column in columns:
            other = first_role.setdefault(column, role)
            require(
                other == role,
                f"column {column!r} is {other} and {role}: under a policy it has one role only",
                hint="name it in one role only",
            )


def known_secrets(roles: Roles) -> list[Remark]:
    """Remark on secrets that are quasi-identifiers as well."""
    return [
        Remark("quasi_and_secret", column=repr(name))
        for name in roles.sensitive
        if name in (*roles.quasi, *roles.other_quasi)
    ]


def absent_columns(names: Sequence[str]) -> list[Remark]:
    """Remark on columns of a policy that a table lacks."""
    return [Remark("absent_columns", columns=", ".join(map(repr, names)))] if names else []


def check_secrets(roles: Roles, secrets: Iterable[str]) -> None:
    """Raise an error if a secret, perhaps in a table of its own, is a quasi-identifier as well."""
    for name in secrets:
        require(
            name not in (*roles.quasi, *roles.other_quasi),
            Remark("quasi_and_secret", column=repr(name)),
            hint="name it in one role only",
        )


def _unknown_column(
    what: str, name: str, columns: Sequence[str], roles: Roles, first_line: bool
) -> UsageError:
    """Make the error for a column that does not exist; names may be values without a header."""
    record = first_line and looks_like_record(columns)
    lost = first_line and roles.every_column.isdisjoint(columns)
    if not record and not (lost and nearest(name, columns) is None):
        return unknown(what, name, columns)
    none = ": none of the named columns is in the first line; is it a record?" if lost else ""
    return UsageError(
        f"{what} {name!r} does not exist{none}", hint="--no-header, if the first line is a record"
    )


_VALUE = re.compile(r"\s*[-+]?\d[\d.,:/ -]*\s*|\s*")  # a number, a date, a time, nothing


def looks_like_record(columns: Sequence[str]) -> bool:
    """Say whether names seem to be values of a record, because some are numbers or dates.

    >>> looks_like_record(["Alice", "2001-05-03"]), looks_like_record(["age", "icd10"])
    (True, False)
    """
    return any(_VALUE.fullmatch(name) for name in columns)


def _check_single_roles(roles: Roles) -> None:
    """Raise an error for a column with two roles, but a person may also be an identifier."""
    for role, column in roles.single_columns.items():
        others = [c for r, c in roles.single_columns.items() if r != role]
        others += (*roles.measured_columns, *roles.other_quasi)
        others += () if role == "person" else roles.identifier
        require(
            column not in others,
            f"column {column!r} is the {role} and has another role as well",
            hint="name it in one role only",
        )
    for role, columns in (("ignored", roles.ignored), ("kept", roles.kept)):
        for column in columns:
            others = [*roles.measured_columns, *roles.other_quasi, *roles.identifier]
            others += roles.single_columns.values()
            require(
                column not in others,
                f"column {column!r} is {role} and has another role as well",
                hint="name it in one role only",
            )


_PEOPLE_WORDS = {
    *("id", "uid", "pid", "ssn", "mrn", "nhs", "passport", "iban", "email", "phone"),
    *("patient", "person", "subject", "participant", "patientid", "personid", "userid"),
}
# These words count alone or with a word for a number: a type of account identifies nobody.
_BEARERS = (
    "customer|account|member|client|policy|contract|case|subject|kunden?|konto|vertrags?|fall"
)
_NUMBER = "(id|no|nr|num|number|nummer|key)"
# Numbers that an insurance, a hospital or a court gives to one person or case.
_ASSIGNED = "pat|patienten|vers|versicherten?|versicherungs|sozialversicherungs|kv|sv|ahv"
_BEARER = re.compile(
    rf"({_BEARERS})s?_?{_NUMBER}?|({_ASSIGNED})_?{_NUMBER}|kvnr|ahv|ssn|nhs|mrn|aktenzeichen"
)
# Names, addresses and numbers that identify a person.
_NAME_OF = (
    "full|first|last|middle|maiden|birth|family|given|sur|vor|nach|zu|patient|patienten|person"
)
_DIRECT = re.compile(
    "|".join(
        (
            rf"(({_NAME_OF})s?_?)?names?(_({_NAME_OF})_?names?|_first|_last)*",
            "(vor|nach)namen?|nom(_de_famille)?|prenom|prénom|apellidos?|cognome|initials?|initialen",
            "((e|home|work|private)_?)?e?_?mail(_?(address|adresse|addr))?",
            rf"((tele|mobile?|cell|home|work)_?)?(ph|f)one?(_?{_NUMBER})?",
            rf"(tel|telefon|mobile?|handy|contact|fax)(_?{_NUMBER})?",
            "((home|street|postal|mailing|wohn|ip)_?)?(address|adresse|addr|anschrift)",
            "strasse|street(_?(name|address))?",
            rf"(iban|passport|barcode)(_?{_NUMBER})?|record_?{_NUMBER}",
            "(patient|person|participant|proband|subject)(en)?_?(id|no|nr|num|number|nummer|key|code)",
            rf"id|uid|pid|user_?{_NUMBER}|({_BEARERS})s?_?{_NUMBER}",
            rf"({_ASSIGNED})_?{_NUMBER}|kvnr|ahv|ssn|nhs|mrn|aktenzeichen",
        )
    )
)
# These are ordinary words as well: of an answer of yes and no, or a number of contacts.
_ORDINARY = {"nom", "mobil", "mobile", "contact", "initial", "initials", "barcode"}


def tells_people_apart(column: str) -> bool:
    """Say whether a column has the name of a number that each person has one of.

    >>> [tells_people_apart(c) for c in ("patient_id", "PersonID", "SSN", "covid", "paid", "age")]
    [True, True, True, False, False, False]
    >>> [tells_people_apart(c) for c in ("Customer", "account_no", "Kundennr", "account_type")]
    [True, True, True, False]
    """
    words = _words(column)
    return not _PEOPLE_WORDS.isdisjoint(words) or bool(_BEARER.fullmatch("_".join(words)))


def names_people(column: str) -> bool:
    """Say whether a column has the name of a name, an address or a number of a person.

    >>> [names_people(c) for c in ("Name, Vorname", "e-mail", "PatNr", "Straße", "mobile_phone")]
    [True, True, True, True, True]
    >>> [names_people(c) for c in ("name_of_town", "nominal", "contacts", "patient_age")]
    [False, False, False, False]
    """
    name = "_".join(_words(column)).rstrip("0123456789").rstrip("_")
    return bool(_DIRECT.fullmatch(name))


def is_ordinary(column: str) -> bool:
    """Say whether the name of a column also has a meaning that identifies nobody."""
    return "_".join(_words(column)) in _ORDINARY


def _words(column: str) -> list[str]:
    """The words of a column's name, in lower case."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column)
    return [word for word in re.split(r"[\W_]+", spaced.casefold()) if word]
