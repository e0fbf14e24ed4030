"""The choices that a release offers: what becomes of suppressed records, models, alphabets.

Options of commands are made from these types, before anything heavy is imported.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

from sievert.errors import require, unknown

SuppressedRows = Literal["keep", "drop", "auto"]  # what becomes of suppressed records in a release
ModelName = Literal["1", "2", "3", "4", "funnel", "identity", "identity-reverse"]
AlphabetKind = Literal["auto", "joint", "columns", "merged"]
DistortionName = Literal["hamming", "squared", "absolute"]

SUPPRESSED_ROWS: tuple[SuppressedRows, ...] = get_args(SuppressedRows)
KEEP, DROP, AUTO = SUPPRESSED_ROWS
FUNNEL = "funnel"
IDENTITY = "identity"
REVERSE = "identity reverse"
# The names of models in the library.
MODELS: tuple[int | str, ...] = tuple(
    int(name) if name.isdecimal() else name.replace("-", " ") for name in get_args(ModelName)
)
ALPHABETS: tuple[AlphabetKind, ...] = get_args(AlphabetKind)
DISTORTIONS: tuple[DistortionName, ...] = get_args(DistortionName)
MOST = 1000  # combinations of one joint alphabet


def known_model(model: Any) -> int | str:
    """Find a model by its number or name.

    >>> known_model("1"), known_model("identity-reverse")
    (1, 'identity reverse')
    """
    named = {str(each): each for each in MODELS}
    name = str(model).replace("-", " ")
    if name not in named:
        raise unknown("--model:", str(model), named)
    return named[name]


def check_at(at: Sequence[float]) -> None:
    """Refuse constraints that are not numbers from 0 on."""
    require(
        at and all(math.isfinite(a) and a >= 0 for a in at),
        "--at takes numbers from 0 on",
        hint="--at 0.1, or --at 0.05,0.1,0.2",
    )
