"""How suppressed records are left out and reported; `counts.suppression` recognises them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sievert.counts.suppression import Suppression
from sievert.errors import InputError, require
from sievert.formatting import plural
from sievert.formatting.remarks import Caution, Remark
from sievert.roles import Roles
from sievert.session import SUPPRESSION_MARK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sievert.counts.questions import Questions
    from sievert.policy import Policy

NOTHING_SUPPRESSED = Suppression()
MISSING_MARK = "missing:"  # names missing values as the mark
LEFT_OUT = Remark("left_out_everywhere")


def count_suppressed(questions: Questions, roles: Roles, *, cells: bool = True) -> int:
    """Count the suppressed records; the questions keep the number.

    With `cells`, the number comes from cells that are counted anyway; otherwise from the records.
    """
    secret = next(iter(roles.sensitive), None) if cells else None
    cells = cells and roles.person is None
    every, some = questions.count_marked(roles.quasi, secret, cells=cells)
    questions.suppression = replace(
        questions.suppression, records=every, partly=some - every, whole=questions.records
    )
    return every


def leave_out_suppressed(
    questions: Questions,
    roles: Roles,
    *,
    keep_all: bool = False,
    cells: bool = True,
    where: Remark = LEFT_OUT,
) -> list[Remark]:
    """Count the suppressed records, and leave them out unless they are kept; return notes on marks.

    `where` says which numbers lack them. If all records are suppressed, `keep_all`
    keeps them as one class; without it that is an error.
    """
    number = count_suppressed(questions, roles, cells=cells)
    notes = _partial_marks(questions.suppression)
    if not number:
        return notes
    if keep_all and number == questions.records:
        questions.suppression = replace(questions.suppression, kept=True)
    if questions.suppression.kept:
        return [_note_suppressed(number, Remark("as_class_within")), *notes]
    require(
        number < questions.records,
        "every record is suppressed (the mark in every quasi-identifier): nothing is left to "
        "measure",
        hint="--keep-suppressed, or another --suppressed",
        error=InputError,
    )
    if roles.sensitive:
        apart = [secret for secret in roles.sensitive if secret not in roles.quasi]
        if questions.suppression.mark is not None:
            notes += marked_secrets(questions.marks(apart))
        fewest = min(questions.count_suppressed_values(roles.quasi, roles.sensitive))
        questions.suppression = replace(questions.suppression, fewest=fewest)
    questions.drop_suppressed(roles.quasi)
    return [_note_suppressed(number, where), *notes]


def _note_suppressed(number: int, where: Remark) -> Remark:
    """Say how many records are suppressed, and how they are treated."""
    return Remark("suppressed_where", records=plural(number, "record"), where=where)


def marked_secrets(counts: Mapping[str, int]) -> list[Remark]:
    """Cautions on the mark of suppression as a value of secrets; `counts` has its records."""
    return [
        Caution("secret_is_mark", records=plural(number, "record"), column=repr(secret))
        for secret, number in counts.items()
        if number
    ]


def secrets_that_stay(suppression: Suppression, secrets: Sequence[str], k: int) -> list[Remark]:
    """A caution on suppressed records if they are fewer than `k`, or all have one secret.

    They are a group like any other for somebody who knows a person's values.
    """
    number = suppression.left_out
    if not number or not secrets or (number >= k and suppression.fewest > 1):
        return []
    return [Caution("secrets_stay", records=plural(number, "record"))]


def keep_suppressed(questions: Questions, roles: Roles, what: Remark) -> list[Remark]:
    """Keep suppressed records where `what` is done with every record; return notes on marks."""
    number = count_suppressed(questions, roles, cells=False)
    notes = _partial_marks(questions.suppression)
    if not number:
        return notes
    questions.suppression = replace(questions.suppression, kept=True)
    return [_note_suppressed(number, Remark("as_any_other", why=what)), *notes]


def _partial_marks(suppression: Suppression) -> list[Remark]:
    """A note that a mark in some quasi-identifiers is a value; missing values have their own."""
    if suppression.mark is None or not suppression.partly:
        return []
    if suppression.partly + suppression.records == suppression.whole:
        return [Remark("all_partly_suppressed")]
    return [Remark("partly_suppressed", records=plural(suppression.partly, "record"))]


def suppression_rule(suppression: Suppression) -> Remark:
    """How suppressed records are treated, even if there are none."""
    what = {None: Remark("which_without"), SUPPRESSION_MARK: Remark("which_star")}
    which = what.get(suppression.mark, Remark("which_mark"))
    if suppression.kept:
        return Remark("suppressed_kept", which=which)
    return Remark("suppressed_left_out", which=which)


def named_mark(text: str) -> str | None:
    """The mark of suppression that a user names; None is a missing value."""
    return None if text == MISSING_MARK else text


def is_unlisted(policy: Policy, suppression: Suppression) -> bool:
    """Whether records are recognised as suppressed by a mark that the policy does not list.

    The mark * needs no listing. Records that are counted as any other do not depend on a mark.
    """
    listed = {SUPPRESSION_MARK, *map(named_mark, policy.reading.suppressed)}
    return not suppression.kept and suppression.mark not in listed


def leaves_out_unlimited(policy: Policy, suppression: Suppression) -> bool:
    """Whether records were left out although the policy does not limit their number.

    It matters for marks that are not listed, because any value could be named as a mark. It also
    matters if most records are suppressed, because then nothing is known about the table.
    """
    limits = (limit for _, m, limit in policy.every_limit() if m == "suppressed_records")
    other = bool(suppression.left_out) and is_unlisted(policy, suppression)
    most = 2 * suppression.left_out > suppression.whole
    return (other or most) and all(limit.max is None for limit in limits)
