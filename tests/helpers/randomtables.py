"""Small random tables with everything that goes wrong: missing values, one record, all alike."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

VALUES = ("a", "bc", "ab", "c", "", "NULL", "é", "A", " a")
SECRETS = ("s1", "s2", "s3", "s4", "other", "")


@dataclass(frozen=True)
class Case:
    """A table, its quasi-identifiers, its secret, and what measures may be told."""

    columns: dict[str, list[Any]]
    quasi: tuple[str, ...]
    secret: str
    order: tuple[str, ...]
    ladder: dict[Any, tuple[str, ...]]
    partition: dict[str, tuple[str, ...]]
    l: int  # noqa: E741
    named: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        names = list(self.columns)
        return [
            dict(zip(names, row, strict=True)) for row in zip(*self.columns.values(), strict=True)
        ]

    def with_rows(self, rows: list[dict[str, Any]]) -> Case:
        columns = {c: [row[c] for row in rows] for c in self.columns}
        return Case(
            columns, self.quasi, self.secret, self.order, self.ladder, self.partition, self.l,
            self.named,
        )  # fmt: skip


def case(random: Random) -> Case:
    """One random table of at most 12 records and 3 quasi-identifiers."""
    shape = random.choice(("plain", "plain", "plain", "missing", "one", "same", "unique", "skew"))
    records = 1 if shape == "one" else random.randint(2, 12)
    quasi = tuple(f"q{i}" for i in range(random.randint(1, 3)))
    # Values that a careless key would confuse: joined ones, case, NULL, blanks.
    pools = {q: tuple(random.sample(VALUES, random.randint(1, 4))) for q in quasi}
    if len(quasi) == 2 and random.random() < 0.7:
        pools["q0"], pools["q1"] = ("a", "ab"), ("bc", "c")

    def value(pool: tuple[str, ...]) -> Any:
        if shape == "missing" and random.random() < 0.25:
            return None
        if shape == "skew" and random.random() < 0.7:
            return pool[0]
        return pool[0] if shape == "same" else random.choice(pool)

    columns: dict[str, list[Any]] = {q: [value(pools[q]) for _ in range(records)] for q in quasi}
    if shape == "unique":
        columns["q0"] = [f"v{i}" for i in range(records)]
    secrets = SECRETS[: random.randint(1, len(SECRETS))]
    columns["s"] = [value(secrets) for _ in range(records)]
    order = list(SECRETS)
    random.shuffle(order)
    middle = {s: random.choice("xyz") for s in SECRETS}
    top = {m: random.choice("kl") for m in "xyz"}
    ladder: dict[Any, tuple[str, ...]] = {s: (middle[s], top[middle[s]], "*") for s in SECRETS}
    ladder[None] = ("missing 1", "missing 2", "*")
    parted = random.sample(SECRETS, random.randint(0, 4))
    partition = {"p": tuple(parted[:2]), "r": tuple(parted[2:])}
    return Case(
        columns, quasi, "s", tuple(order), ladder, partition, random.randint(1, 4),
        random.choice(SECRETS),
    )  # fmt: skip


def mark_suppressed(table: Case, random: Random, mark: str | None) -> Case:
    """The same with the mark in every quasi-identifier of some records, and in some of others."""
    rows = table.rows
    for row in rows[1:]:
        chosen = random.choice(((), table.quasi, table.quasi[:1]))
        row.update(dict.fromkeys(chosen, mark))
    return table.with_rows([*rows, {**rows[0], **dict.fromkeys(table.quasi, mark)}])
