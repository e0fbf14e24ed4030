"""The columns of a release besides the measured ones, each with the reason to keep it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sievert.counts.questions import Questions
from sievert.errors import require
from sievert.policy import KeptColumn
from sievert.policy.document import check_reason
from sievert.request.requested import RequestedRoles, check_known
from sievert.roles import Typed, names

REASON = "="  # between a column and its reason, on the command line


def kept_columns(
    given: str | Iterable[str] | Mapping[str, str], columns: Sequence[str]
) -> dict[str, str | None]:
    """Read the columns to keep, each with its reason, or None if none is given.

    >>> kept_columns(["visit=to join the visits, by month", "batch"], ["visit", "batch"])
    {'visit': 'to join the visits, by month', 'batch': None}
    """
    if isinstance(given, Mapping):
        asked: dict[str, str | None] = dict(given)
    else:
        asked = {}
        texts = [given] if isinstance(given, str) else given
        for text in texts:
            column, equals, reason = text.partition(REASON)
            if equals and text not in columns:
                asked[column.strip()] = reason
            else:
                asked.update(dict.fromkeys(names(Typed([text]), columns)))
    for column, why in asked.items():
        check_known("--keep: column", column, columns)
        if why is not None:
            try:
                asked[column] = check_reason(f"--keep {column}", why)
            except ValueError as error:
                require(False, str(error), hint=f'--keep {column}="why"')
    return asked


def keep_with_reasons(
    requested: RequestedRoles, asked: Mapping[str, str | None], columns: Sequence[str]
) -> RequestedRoles:
    """Let the policy keep the columns for which a reason is given.

    A column that the policy or the caller does not release is refused.
    """
    policy = requested.policy
    assert policy is not None
    typed = {*requested.names(columns)[2], requested.person}
    other_role = {c: role for role, own in policy.roles.columns_by_role.items() for c in own}
    for column, reason in asked.items():
        role = "identifier" if column in typed else other_role.get(column)
        require(
            column not in typed and column not in policy.roles.not_released,
            f"--keep: column {column!r} is {role}: no release may have it",
            hint="without --keep",
        )
        require(
            reason is None or role in (None, "kept"),
            f"--keep: column {column!r} is {role} and would be kept: it has one role only",
            hint="without a reason",
        )
    kept = {
        c: KeptColumn(reason=why, outsiders_cannot_know=False)
        for c, why in asked.items()
        if why is not None
    }
    if not kept:
        return requested
    roles = policy.roles.model_copy(update={"kept": {**policy.roles.kept, **kept}})
    return replace(requested, policy=policy.model_copy(update={"roles": roles}))


def columns_to_keep(
    requested: RequestedRoles, asked: Mapping[str, str | None], questions: Questions
) -> tuple[str, ...]:
    """List the columns of the table that the policy or the caller keeps."""
    assert requested.policy is not None
    own = [c for c in requested.policy.roles.kept if c in questions.columns]
    return tuple(dict.fromkeys((*own, *asked)))
