"""Where a policy comes from: a file, the content of one, or a release that was just written."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from sievert.policy.document import Policy


@dataclass(frozen=True)
class PolicyOfRelease:
    """A policy for a file that was just written, with the columns that were made for it.

    Only the code that made such a column can say so, not a policy.
    """

    policy: Mapping[str, Any]
    fresh: tuple[str, ...]  # keys that nobody has seen before


PolicySource: TypeAlias = (
    "Policy | PolicyOfRelease | str | os.PathLike[str] | Mapping[str, Any] | None"
)
