"""What is required of a channel: the model, its constraints, the alphabet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sievert.commands.limit.alphabets import AUTO, MOST
from sievert.commands.limit.channels import IDENTITY, REVERSE, check_at, known_model
from sievert.commands.limit.columns import HAMMING
from sievert.errors import UsageError

MOST_POINTS = 200


@dataclass(frozen=True)
class LimitSettings:
    """The model, its constraints, and the alphabet of the channel."""

    model: int | str
    at: tuple[float, ...]
    distortion: Any = HAMMING
    hierarchies: Mapping[str, Any] | None = None
    alphabet: str = AUTO
    most: int = MOST
    occurring: bool = False
    reduced: int | None = None
    points: int = 0
    gap: float | None = None
    seconds: float | None = None
    seed: int = 0

    @property
    def alike(self) -> bool:
        """Whether X itself is the sensitive attribute."""
        return self.model in (IDENTITY, REVERSE)


def limit_settings(model: Any, at: Any, points: Any, seed: Any, **options: Any) -> LimitSettings:
    """Settings that make sense, or an error."""
    number = known_model(model)
    try:
        constraints = [float(at)] if isinstance(at, int | float) else [float(a) for a in at]
    except (TypeError, ValueError):
        raise UsageError("at: a number, or a list of numbers", hint="at=0.1") from None
    check_at(constraints)
    if isinstance(points, bool) or not isinstance(points, int) or not 0 <= points <= MOST_POINTS:
        raise UsageError(f"--points must be from 0 to {MOST_POINTS}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UsageError("--seed: a whole number, 0 or more")
    chosen = tuple(dict.fromkeys(sorted(constraints)))
    return LimitSettings(number, chosen, points=points, seed=seed, **options)
