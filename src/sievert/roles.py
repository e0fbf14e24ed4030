"""Who is who among the columns: identifiers, quasi-identifiers, secrets. Never guessed silently."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sievert.errors import UsageError, unknown


@dataclass(frozen=True)
class Roles:
    """The roles of the columns of one table, as the user gave them."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    identifier: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[str, ...]:
        """Columns that are measured, each once."""
        return tuple(dict.fromkeys((*self.quasi, *self.sensitive)))


def names(given: str | Iterable[str] | None) -> tuple[str, ...]:
    """One name, several, or none, as a tuple."""
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)


def assign(
    columns: Sequence[str],
    quasi: str | Iterable[str] | None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
) -> tuple[Roles, list[str]]:
    """Check the given roles against the columns; returns them with warnings."""
    roles = Roles(names(quasi), names(sensitive), names(identifier))
    for what, given in (
        ("quasi-identifier", roles.quasi),
        ("sensitive attribute", roles.sensitive),
        ("identifier", roles.identifier),
    ):
        for name in given:
            if not isinstance(name, str):
                raise UsageError(f"the name of a {what} is {type(name).__name__}, not text")
            if name not in columns:
                raise unknown(f"{what}: column", name, columns)
        twice = [n for n in dict.fromkeys(given) if given.count(n) > 1]
        if twice:
            raise UsageError(f"column {twice[0]!r} is named twice as {what}")
    both = [n for n in roles.identifier if n in roles.used]
    if both:
        raise UsageError(
            f"column {both[0]!r} is an identifier and cannot be measured as well",
            hint="identifiers are dropped from a release; name it in one role only",
        )
    warnings = [
        f"column {n!r} is both quasi-identifier and secret: knowing it is learning it"
        for n in roles.sensitive
        if n in roles.quasi
    ]
    return roles, warnings


def missing_roles(distinct: Mapping[str, int], records: int) -> UsageError:
    """The error for a table without roles: its columns, how many values each has, a suggestion."""
    width = max((len(c) for c in distinct), default=0)
    lines = []
    likely: dict[str, list[str]] = {"-i": [], "-q": [], "-s": []}
    for column, values in distinct.items():
        option, why = _suggest(values, records)
        if option:
            likely[option].append(column)
        lines.append(f"  {column:<{width}}  {values:>9,} values  {why}")
    quasi = ",".join(likely["-q"]) or "COLUMNS"
    return UsageError(
        "no quasi-identifiers given: which columns could an outsider know about a person?\n"
        + "\n".join(lines)
        + "\nThis is a guess from the number of values, not a decision",
        hint=f"-q {quasi} -s SECRET, with the columns that fit",
    )


def _suggest(values: int, records: int) -> tuple[str, str]:
    if values <= 1:
        return "", "the same for everybody"
    if records > 20 and values > 0.95 * records:
        return "-i", "nearly one for each record: an identifier? (-i)"
    if values <= max(10, records // 20):
        return "-q", "few values: a quasi-identifier (-q) or a secret (-s)?"
    return "-q", "many values: tells people apart well (-q)?"
