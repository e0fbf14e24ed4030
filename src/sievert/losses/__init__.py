"""What a release has lost of its original: pure functions of the records of both, side by side."""

from typing import TYPE_CHECKING

from sievert.losses import (
    distortion,
    gaussian,
    generalisation,
    margins,
    models,
    moments,
    prediction,
    propensity,
)
from sievert.losses.loss import LossKind
from sievert.renamed import renamed

if not TYPE_CHECKING:  # old names are no names for a type checker
    __getattr__ = renamed(__name__, {"Kind": "LossKind"})

KINDS: tuple[LossKind, ...] = (
    *generalisation.KINDS,
    *distortion.KINDS,
    *moments.KINDS,
    *gaussian.KINDS,
    *margins.KINDS,
    *propensity.KINDS,
    *prediction.KINDS,
    *models.KINDS,
)
BY_ID = {kind.id: kind for kind in KINDS}
