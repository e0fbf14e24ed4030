"""The types of arrays, and of the text of a cell, defined once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[Any]  # integers of any width
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Complex = NDArray[np.complex128]
Text = str | None  # None is a missing value
