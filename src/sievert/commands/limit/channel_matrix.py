"""The channel of a limit as a file: which value becomes which, and how probably."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from sievert.commands.limit.result import AlphabetResult
from sievert.errors import ExhaustedError


def write_matrix(target: Path, parts: Iterable[AlphabetResult]) -> None:
    """Write the channels as CSV: one line per value and released value that it may become.

    The columns are those of the values, the same of the released ones, and the probability.
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    for part in parts:
        if part.texts is None or part.channel is None:
            continue
        writer.writerow([*part.columns, *(f"released {n}" for n in part.columns), "probability"])
        values, labels = part.texts
        for i, j in np.argwhere(part.channel > 0).tolist():
            texts = ["" if t is None else t for t in (*values[i], *labels[j])]
            writer.writerow([*texts, repr(float(part.channel[i, j]))])
    try:
        target.write_text(file.getvalue(), encoding="utf-8")
    except OSError as error:
        raise ExhaustedError(f"the matrix cannot be written: {error.strerror}") from None
