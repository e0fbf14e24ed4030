"""What an attack on a synthetic table is given, and what it returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sievert.arrays import Floats
from sievert.commands.synthetic.attacks.evidence import SyntheticAttack
from sievert.commands.synthetic.attacks.kernels import ALONE, Workers
from sievert.commands.synthetic.attacks.tables import SyntheticTables


@dataclass(frozen=True, kw_only=True)
class AttackTask:
    """What an attacker of one synthetic table knows and wants to know."""

    secrets: tuple[str, ...]
    known: tuple[str, ...] | None = None  # all other columns unless given
    halves: tuple[tuple[str, ...], tuple[str, ...]] | None = None  # for linkability
    workers: Workers = ALONE

    def known_columns(self, tables: SyntheticTables, secret: str) -> list[str]:
        """List the columns that are known where a secret is guessed."""
        names = [column.name for column in tables.columns]
        return [n for n in self.known or names if n != secret and n in names]

    def guessed_secrets(self, tables: SyntheticTables) -> list[str]:
        """List the secrets that can be guessed: some other column is known."""
        return [s for s in self.secrets if self.known_columns(tables, s)]


@dataclass(frozen=True, eq=False, kw_only=True)
class AttackFindings:
    """What an attack found: of all people at once, or secret by secret."""

    on_people: Mapping[str, SyntheticAttack] = field(default_factory=dict)  # by id
    on_secrets: Mapping[str, SyntheticAttack] = field(default_factory=dict)  # by secret
    narrower: Mapping[int, SyntheticAttack] = field(default_factory=dict)  # by number of columns
    scores: Mapping[str, Floats] = field(default_factory=dict)  # of each person, by name


@dataclass(frozen=True, kw_only=True)
class DeclaredAttack:
    """An attack that `sievert synthetic` tries on every table.

    `run` returns nothing where the attack is not asked for. `ids` are the names in the JSON, in
    policies and on the page: several if one function makes several attacks.
    """

    ids: tuple[str, ...]
    run: Callable[[SyntheticTables, AttackTask], AttackFindings]
    by_secret: bool = False  # made on each secret, and not on all people at once
    headline: bool = True  # whether a trace that it finds is an alarm
