"""Values that coincide only canonically: the remarks on them, and the worse of two readings.

Sievert reads such a table twice: with values as they are spelt, and with all spellings of a value
merged. The worse number is compared with each limit. A policy is also undecided about such a table,
unless it says that different spellings in the column are different values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from sievert.counts.spellings import (
    Spellings,
    find_spellings,
    merge_spellings,
    tallied_spellings,
)
from sievert.formatting import plural
from sievert.formatting.canonical import group_spellings
from sievert.formatting.remarks import Caution
from sievert.measures import BY_ID
from sievert.measures.measure import NOTHING_TO_LEARN, UNBOUNDED, Value

if TYPE_CHECKING:
    from sievert.counts.questions import Questions
    from sievert.policy import Gate, Policy
    from sievert.roles import Roles

MERGED = "spellings_merged"
MERGED_REASON = "spellings_merged_reason"
# Numbers of the suppressed records as a class of their own: of finding people, and of each secret.
OfSuppressed: TypeAlias = tuple[Mapping[str, Value], Mapping[str, Mapping[str, Value]]]
# By secret: the people in classes where all have one value, and all people.
CertainPeople: TypeAlias = Mapping[str, tuple[int, int]]
OF_MISSING = ("without_missing", "missing_as_value")  # readings of missing values, by their details


@dataclass(frozen=True)
class Respelt:
    """The values of a table's columns that coincide only canonically."""

    decisive: Mapping[str, Spellings] = field(default_factory=dict)  # the person, secrets, keys
    others: Mapping[str, Spellings] = field(default_factory=dict)  # quasi-identifiers

    @property
    def columns(self) -> list[str]:
        """The columns with two readings."""
        return [name for name, spellings in self.decisive.items() if spellings.values]

    @property
    def not_compared(self) -> list[str]:
        """The columns with too many values."""
        return [name for name, spellings in self.decisive.items() if not spellings.compared]

    @property
    def cautions(self) -> list[Caution]:
        """The cautions on every column, with the number of its values."""
        cautions = [both_read(f.values, f.column) for f in self.decisive.values() if f.values]
        cautions += [counted_apart(f.values, f.column) for f in self.others.values() if f.values]
        for name, spellings in {**self.decisive, **self.others}.items():
            if not spellings.compared:
                cautions.append(Caution("spellings_unknown", column=repr(name)))
        return cautions

    def doubt(self, gate: Gate) -> bool:
        """Make a policy undecided if a person, a key or a secret has such values; return whether.

        A secret counts even if no limit is about it: its number beside the verdict depends on its
        spellings as well.
        """
        if self.columns:
            gate.undecided("spelt_differently", self.columns)
            gate.spellings |= {name: self.decisive[name].values for name in self.columns}
        if self.not_compared:
            gate.undecided("spellings_not_compared", self.not_compared)
        return bool(self.columns or self.not_compared)

    def merge(
        self, rows: Questions, columns: Iterable[str], named: Collection[str] = ()
    ) -> Questions | None:
        """Ask about the same records with all spellings merged; None if nothing can be merged.

        If a value is `named` somewhere, its spellings become this value.
        """
        merged = {name: self.decisive[name].choose_values(named) for name in self.columns}
        known = {name: own for name, own in merged.items() if own}
        return merge_spellings(rows, [*columns], known) if known else None


def both_read(values: int, column: str) -> Caution:
    """Say that values of a column coincide if they are spelt alike, and both readings count."""
    return Caution("spelt_both", values=plural(values, "value"), column=repr(column))


def counted_apart(values: int, column: str) -> Caution:
    """Say that values of a column coincide if they are spelt alike, and count as different."""
    return Caution("spelt_apart", values=plural(values, "value"), column=repr(column))


def limited_secrets(policy: Policy, secrets: Iterable[str]) -> set[str]:
    """Give the secrets that a limit of the policy is about."""
    of_all = any("secret" in BY_ID[measure].kinds for measure in policy.everywhere)
    return {secret for secret in secrets if of_all or policy.inference.get(secret)}


def compare_spellings(
    rows: Questions,
    roles: Roles,
    policy: Policy | None,
    keys: Iterable[str] = (),
) -> Respelt:
    """Look for values of a table that coincide only canonically.

    `rows` are questions about its rows; suppressed rows are included. Values that an order of the
    policy lists are different, and so are values of columns that the policy calls distinct. An
    order of the table or of the caller does not count, because it was not written to say this.
    `keys` find people in other tables.
    """
    apart = () if policy is None else policy.roles.distinct_spellings
    orders = {} if policy is None else policy.orders
    labelled = rows.engine.table.same_labels
    decisive: dict[str, Spellings] = {}
    for secret in roles.sensitive:
        if secret not in apart:
            spellings = tallied_spellings(rows, secret, roles.quasi)
            spellings = find_spellings(rows, secret) if spellings is None else spellings
            spellings = with_groups(spellings, labelled.get(secret, ()))
            decisive[secret] = without_listed(spellings, orders.get(secret, ()))
    people = dict.fromkeys([*([] if roles.person is None else [roles.person]), *keys])
    for column in people:
        if column not in apart:
            spellings = find_spellings(rows, column)
            decisive[column] = with_groups(spellings, labelled.get(column, ()))
    others = {}
    for column in roles.quasi:
        if column not in apart and column not in decisive:
            spellings = tallied_spellings(rows, column, roles.quasi) or Spellings(column)
            others[column] = with_groups(spellings, labelled.get(column, ()))
    return Respelt(decisive, others)


def with_groups(spellings: Spellings, groups: Iterable[Iterable[str]]) -> Spellings:
    """Add groups of values that coincide by the labels of a file; join groups that share a value.

    >>> with_groups(Spellings("ill", (("flu", "Flu"),), 2), [("Flu", "flu (3)")]).groups
    (('flu', 'Flu', 'flu (3)'),)
    """
    whole: list[tuple[str, ...]] = list(spellings.groups)
    for group in groups:
        joined = [other for other in whole if not {*other}.isdisjoint(group)]
        whole = [other for other in whole if other not in joined]
        whole.append(tuple(dict.fromkeys(chain(*joined, group))))
    if whole == [*spellings.groups]:
        return spellings
    return replace(spellings, groups=tuple(whole), values=sum(map(len, whole)))


def without_listed(spellings: Spellings, listed: Iterable[str]) -> Spellings:
    """Leave out groups of values that an order lists one by one: it says that they differ."""
    known = {str(value) for value in listed}
    groups = tuple(group for group in spellings.groups if not known.issuperset(group))
    if len(groups) == len(spellings.groups):
        return spellings
    return replace(spellings, groups=groups, values=sum(map(len, groups)))


def counted_as_spelt(
    rows: Questions, columns: Iterable[str], policy: Policy | None
) -> list[Caution]:
    """Find values of some columns that coincide, for a command that counts them as spelt.

    Return cautions. Columns that the policy calls distinct are skipped.
    """
    apart = () if policy is None else policy.roles.distinct_spellings
    spellings = {column: find_spellings(rows, column) for column in columns if column not in apart}
    return Respelt(others=spellings).cautions


def told_apart(columns: Mapping[str, Iterable[str | None]]) -> list[Caution]:
    """Cautions on values of some columns that coincide, for a command that counts as spelt."""
    cautions: list[Caution] = []
    for column, texts in columns.items():
        groups = group_spellings(text for text in texts if text is not None)
        number = sum(map(len, groups))
        if number:
            cautions.append(counted_apart(number, column))
    return cautions


def with_merged(spelt: Mapping[str, Value], merged: Mapping[str, Value]) -> dict[str, Value]:
    """Put the number of the merged reading beside each number that it differs from."""
    return {name: _beside(value, merged.get(name)) for name, value in spelt.items()}


def more_certain(spelt: CertainPeople, merged: CertainPeople) -> dict[str, tuple[int, int]]:
    """Choose by secret the reading in which more of the people are in classes with one value.

    >>> more_certain({"ill": (0, 120), "job": (3, 4)}, {"ill": (120, 120), "job": (2, 4)})
    {'ill': (120, 120), 'job': (3, 4)}
    """
    chosen = dict(spelt)
    for secret, (people, of) in merged.items():
        own_people, own_of = chosen.get(secret, (0, 1))
        if people * own_of > own_people * of:
            chosen[secret] = (people, of)
    return chosen


def suppressed_with_merged(spelt: OfSuppressed, merged: OfSuppressed) -> OfSuppressed:
    """Put merged readings beside the numbers of suppressed records as a class of their own."""
    inference = {s: with_merged(own, merged[1].get(s, {})) for s, own in spelt[1].items()}
    return with_merged(spelt[0], merged[0]), inference


def _beside(value: Value, merged: Value | None) -> Value:
    if merged is not None and merged.details.get("satisfiable") is False:
        value = replace(value, details={**value.details, "satisfiable": False})
    if merged is None or (merged.value, merged.reason) == (value.value, value.reason):
        return value
    number = merged.value
    reason = merged.reason
    for reading in OF_MISSING:  # the worse one decides here too
        other = merged.details.get(reading)
        if merged.details.get(f"{reading}_reason") == UNBOUNDED:
            number = None
            reason = UNBOUNDED
        elif number is not None and other is not None and _is_worse(other, number, value.riskier):
            number = other
    details: dict[str, Any] = {**value.details, MERGED: number}
    if reason in (UNBOUNDED, NOTHING_TO_LEARN):
        details[MERGED_REASON] = reason
    return replace(value, details=details)


def _is_worse(number: float, than: float, riskier: str) -> bool:
    return number < than if riskier == "low" else number > than
