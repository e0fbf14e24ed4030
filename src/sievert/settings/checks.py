"""Checks of the values of options."""

from collections.abc import Collection
from typing import Any

from sievert.errors import require, unknown


def check_known(what: str, name: str, names: Collection[str]) -> None:
    """Refuse a `name` that is none of the `names`; `what` says of what it is the name."""
    if name not in names:
        raise unknown(what, name, names)


def check_whole(what: str, number: Any, least: int, most: int | None = None) -> None:
    """Refuse a `number` that is no whole number, or is below `least` or above `most`."""
    require(
        not isinstance(number, bool) and isinstance(number, int) and number >= least,
        f"{what}: a whole number, {least} or more",
    )
    require(most is None or number <= most, f"{what} must be from {least} to {most or 0:,}")
