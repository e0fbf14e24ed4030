"""Suppressed records: those with the publisher's mark in every quasi-identifier, counted apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sievert.counts.cells import Suppression
from sievert.errors import InputError, require
from sievert.notes import Count, Note
from sievert.roles import Roles
from sievert.session import MARK

if TYPE_CHECKING:
    from sievert.counts.questions import Questions
    from sievert.policy import Policy

NOTHING_SUPPRESSED = Suppression()
MARKED = " (the mark in every quasi-identifier)"


def count_suppressed(questions: Questions, roles: Roles) -> int:
    """Count the suppressed records; the number stays with the questions."""
    secret = next(iter(roles.sensitive), None)
    number = questions.count_suppressed(roles.quasi, secret, cells=roles.person is None)
    questions.suppression = replace(questions.suppression, records=number)
    return number


def leave_out_suppressed(
    questions: Questions, roles: Roles, *, keep_all: bool = False
) -> list[Note]:
    """Count the suppressed records, and leave them out unless they are kept; a note on them.

    `keep_all` keeps them as one class where there are no others, which is an error otherwise.
    """
    number = count_suppressed(questions, roles)
    if not number:
        return []
    if keep_all and number == questions.records:
        questions.suppression = replace(questions.suppression, kept=True)
    if questions.suppression.kept:
        return [Note(f"{{}} suppressed{MARKED}; counted as a class", Count(number))]
    require(
        number < questions.records,
        f"every record is suppressed{MARKED}: nothing is left to measure",
        hint="--keep-suppressed, or another --suppressed",
        error=InputError,
    )
    questions.drop_suppressed(roles.quasi)
    return [Note(f"{{}} suppressed{MARKED}; left out of every number", Count(number))]


def suppression_rule(suppression: Suppression) -> str:
    """What becomes of suppressed records, whether there are any or not."""
    what = {None: "without any quasi-identifier", MARK: f"with {MARK} in every quasi-identifier"}
    which = what.get(suppression.mark, "with the mark given here in every quasi-identifier")
    if suppression.kept:
        return f"records {which} are counted as any other"
    return f"records {which} are left out as suppressed"


def leaves_out_more(policy: Policy, suppression: Suppression) -> bool:
    """Whether records were left out by a mark that the policy knows nothing of.

    Any value of a column could be named as a mark: only a limit bounds what is left out by it.
    """
    limited = any(measure == "suppressed_records" for _, measure, _ in policy.every_limit())
    return bool(suppression.left_out) and suppression.mark != MARK and not limited
