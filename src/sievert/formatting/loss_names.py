"""The losses that `protect` can minimise, for the command line; by `make generate`.

The records of the losses are in `methods.full_domain.losses`; the command line reads its options
without loading them.
"""

from typing import Literal, get_args

# How pages write each loss.
WRITTEN = {
    "generalization_loss": "share",
    "arithmetic_loss": "share",
    "certainty_penalty": "share",
    "entropy": "number",
    "discernability": "count",
    "bits": "number",
}
Loss = Literal[
    "generalization_loss",
    "arithmetic_loss",
    "certainty_penalty",
    "entropy",
    "discernability",
    "bits",
]
LOSSES: tuple[Loss, ...] = get_args(Loss)
