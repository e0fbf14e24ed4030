"""Copies of people, and what exact keys disclose: the CAP family, DiSCO, repU."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.synthetic.attacks.evidence import SyntheticAttack, weigh
from sievert.commands.synthetic.attacks.kernels import ALONE, Workers
from sievert.commands.synthetic.attacks.nearness import guesses
from sievert.commands.synthetic.attacks.tables import DistinctRows, SyntheticTables
from sievert.commands.synthetic.attacks.task import AttackFindings, AttackTask


@dataclass(frozen=True, eq=False, kw_only=True)
class SharedRows:
    """The different rows of all tables: how often each occurs where, and the row of each record."""

    originals: Ints
    controls: Ints
    synthetic: Ints
    of_person: Ints
    of_synthetic: Ints

    @classmethod
    def of(cls, tables: SyntheticTables, names: Sequence[str] | None = None) -> "SharedRows":
        """The rows over all columns, or over some."""
        own = tables if names is None else tables.only(names)
        rows = DistinctRows.of(np.concatenate([own.pool, own.synthetic]), own.order)
        n = tables.originals
        people = tables.people
        many = len(rows.rows)
        person = rows.of_record[:people]
        fake = rows.of_record[people:]
        parts = (person[:n], person[n:], fake)
        first, second, third = (np.bincount(part, minlength=many) for part in parts)
        return cls(
            originals=first, controls=second, synthetic=third, of_person=person, of_synthetic=fake
        )

    @property
    def pool(self) -> Ints:
        """How often each row occurs among all people."""
        return self.originals + self.controls


def copies(tables: SyntheticTables) -> tuple[SyntheticAttack, SyntheticAttack]:
    """People who stand in the synthetic table with every column: all, and those who are unique.

    With a control, unique are those whose row nobody else in the pool has; without one, nobody else
    in the original.
    """
    rows = SharedRows.of(tables)
    n = tables.originals
    at = rows.of_person
    copied = (rows.synthetic[at] > 0).astype(float)
    unique = rows.pool[at] == 1
    details: dict[str, Any] = {
        "unique_in_both": int((unique & (rows.synthetic[at] == 1))[:n].sum())
    }
    return (
        weigh("copies", copied, tables.groups, 0.0),
        weigh("unique_copies", np.where(unique, copied, np.nan), tables.groups, 0.0, **details),
    )


def attribute_disclosure(
    tables: SyntheticTables, keys: Sequence[str], secret: str, workers: Workers = ALONE
) -> SyntheticAttack:
    """Learn a secret from synthetic records with an equal key.

    The headline, DiSCO, counts people whose key has only one value of the secret in the synthetic
    table, and the right one. Plain association does that too, so it is compared with the control.
    """
    by_key = SharedRows.of(tables, keys)
    by_both = SharedRows.of(tables, [*keys, secret])
    n = tables.originals
    at = by_key.of_person
    matched = by_key.synthetic[at]
    right = by_both.synthetic[by_both.of_person]
    many = len(by_key.originals)
    constant = _with_one_row(by_key.of_synthetic, by_both.of_synthetic, many)[at]
    disclosive = _with_one_row(at[:n], by_both.of_person[:n], many)[at[:n]]
    (guess,) = guesses(tables.only([*keys, secret]).as_categories(), [secret], keys, workers)
    people = (matched, right, constant, guess.expected)
    details = {
        "control_rates": _rates(slice(n, None), *people) if tables.controls else None,
        **_rates(slice(0, n), *people),
        "unique_in_original": float((by_key.originals[at[:n]] == 1).mean()),
        "replicated_uniques": float(((by_key.originals[at[:n]] == 1) & (matched[:n] == 1)).mean()),
        "disclosive_in_original": float(disclosive.mean()),
    }
    return weigh(
        "attribute_disclosure",
        (constant & (right > 0)).astype(float),
        tables.groups,
        None,
        secret=secret,
        keys=list(keys),
        **details,
    )


def _with_one_row(keys: Ints, rows: Ints, many: int) -> Bools:
    """For each of `many` keys, whether it has one row only, and so one value of the secret."""
    pairs = np.unique(np.stack([keys, rows], axis=1), axis=0)
    return np.asarray(np.bincount(pairs[:, 0], minlength=many) == 1)


def _rates(
    who: slice, matched: Ints, right: Ints, constant: Bools, expected: Floats
) -> dict[str, Any]:
    """CAP, CAP0, GCAP and TCAP of some people."""
    matched = matched[who]
    right = right[who]
    constant = constant[who]
    expected = expected[who]
    expected = expected[~np.isnan(expected)]  # of everybody, or of those who are attacked
    has_match = matched > 0
    share = right[has_match] / matched[has_match]
    sure = constant & has_match
    return {
        "cap": math.fsum(share.tolist()) / len(share) if len(share) else None,
        "cap_zero": math.fsum(share.tolist()) / len(matched) if len(matched) else None,
        "gcap": math.fsum(expected.tolist()) / len(expected) if len(expected) else None,
        "tcap": float((right[sure] > 0).mean()) if sure.any() else None,
        "matched": int(has_match.sum()),
    }


# -- the attacks as they are declared -------------------------------------------------------------


def attack_by_copies(tables: SyntheticTables, _: AttackTask) -> AttackFindings:
    """Look for people, and for unique people, with all their values."""
    every, unique = copies(tables)
    return AttackFindings(on_people={"copies": every, "unique_copies": unique})


def attack_by_keys(tables: SyntheticTables, task: AttackTask) -> AttackFindings:
    """Learn each secret from equal keys, where the task says what is known."""
    if task.known is None:
        return AttackFindings()
    return AttackFindings(
        on_secrets={
            secret: attribute_disclosure(
                tables, task.known_columns(tables, secret), secret, task.workers
            )
            for secret in task.guessed_secrets(tables)
        }
    )
