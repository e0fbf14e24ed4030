"""How the values of a column become small integers, and back.

The code 0 is a missing value. Whole numbers and dates are coded by their distance to the smallest
one; texts and floats are numbered in the order of the records.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from sievert.arrays import Ints
from sievert.counts.packed import page_kernels
from sievert.counts.packed.numbering import NumberedValues
from sievert.sources.table import SURROGATE

SPELLINGS: dict[str, Callable[[int], str]] = {
    "int": str,
    "bool": lambda number: str(bool(number)).lower(),
    "date": lambda number: str(np.datetime64(number, "D")),
}
NUMBERS: dict[str, Callable[[str], int]] = {
    "int": int,
    "bool": lambda text: {"false": 0, "true": 1}[text],
    "date": lambda text: int(np.datetime64(text, "D").astype(int)),
}
MOST_RANGE = 2**62


class UnfitError(Exception):
    """The columns cannot be coded: the engine counts them."""


class GrownError(Exception):
    """A column has more values than its bits can hold."""


@dataclass(kw_only=True)
class CodedColumn:
    """How the values of one column become codes, and back."""

    name: str
    kind: str  # int, date, bool, text, float
    least: int = 0
    bits: int = 1
    values: NumberedValues = field(default_factory=NumberedValues)  # texts or floats

    @property
    def size(self) -> int:
        """The number of texts or floats that have a number."""
        return len(self.values)

    @property
    def places(self) -> int:
        """The number of possible codes, including 0."""
        return self.size + 1 if self.numbered else 1 << self.bits

    @property
    def numbered(self) -> bool:
        """Whether codes number the values in the order of the records."""
        return self.kind in ("text", "float")

    def fit_range(self, least: int, most: int) -> None:
        """Take the bits that numbers of this range need."""
        if not -MOST_RANGE < least <= most < MOST_RANGE:
            raise UnfitError
        self.least = least
        self.bits = (most - least + 1).bit_length()

    def codes(self, array: Any) -> tuple[Ints, int, int]:
        """Numbers, the number to subtract from them to get codes, and the least valid code."""
        if self.numbered:
            return self.number_array(array), 0, 0
        array = plain_numbers(array, self.kind)
        if not array.null_count:
            return np.asarray(array), self.least - 1, 1
        numbers = np.asarray(array.fill_null(self.least)).astype(np.int64) - (self.least - 1)
        if numbers.min() < 1:
            raise UnfitError  # not what the writer has noted
        numbers[np.asarray(array.is_null())] = 0
        return numbers, 0, 0

    def dictionary_codes(self, values: Any, *, growing: bool = False) -> Ints:
        """The codes of the values of a dictionary; NO_CODE for a value without a code."""
        if self.numbered:
            kind = pa.large_string() if self.kind == "text" else pa.float64()
            return self._number(pa.array(values, kind), growing).astype(np.uint64)
        codes = values.astype(np.int64) - (self.least - 1)
        fits = (codes >= 1) & (codes < 1 << self.bits)
        return np.where(fits, codes.astype(np.uint64), np.uint64(page_kernels.NO_CODE))

    def number_array(self, array: Any, *, growing: bool = False) -> Ints:
        """The codes of texts or floats; with `growing` they may need any number of bits."""
        if not pa.types.is_dictionary(array.type):
            return self._number(array, growing)
        numbers = np.append(self._number(array.dictionary, growing), np.uint32(0))
        indices = array.indices.fill_null(len(numbers) - 1) if array.null_count else array.indices
        return np.asarray(numbers[np.asarray(indices)])

    def _number(self, values: Any, growing: bool) -> Ints:
        """The codes of some values; new values get new codes, and NaN is missing."""
        if self.kind == "text":
            values = values.cast(pa.large_string())
        else:  # -0 is 0
            values = compute.add(values.cast(pa.float64()), 0.0)
            values = compute.if_else(compute.is_nan(values), pa.scalar(None, pa.float64()), values)
        with self.values.lock:
            codes = self.values.number(values)
            if not growing and self.size >= 1 << self.bits:
                raise GrownError  # the bits stay as they are: other threads are packing with them
        return codes

    def grow(self) -> None:
        """Take more bits than the values seen so far need."""
        if self.numbered and self.size >= 1 << self.bits:
            self.bits = (4 * self.size).bit_length()

    def code_of(self, text: str | None) -> int:
        """The code of a text, or of a missing value; -1 if it has none. Not for floats."""
        if text is None:
            return 0
        if self.numbered:
            return -1 if SURROGATE.search(text) else self.values.code_of(text)
        try:
            number = NUMBERS[self.kind](text)
        except (KeyError, ValueError):
            return -1
        code = number - self.least + 1
        same = 0 < code < 1 << self.bits and SPELLINGS[self.kind](number) == text
        return code if same else -1

    def spell(self, codes: Ints) -> list[Any]:
        """The texts of codes, as the engine would spell them; floats as they are."""
        if self.numbered:
            known = iter(self._take(codes[codes > 0]).to_pylist())
            return [next(known) if code else None for code in codes.tolist()]
        spelling = SPELLINGS[self.kind]
        return [spelling(self.least + c - 1) if c else None for c in codes.tolist()]

    def _take(self, codes: Ints) -> Any:
        """The texts or floats of codes as an Arrow array."""
        raw, bounds = self.values.take(codes)
        if self.kind == "float":
            return pa.array(raw.view(np.float64))
        return pa.LargeStringArray.from_buffers(len(codes), pa.py_buffer(bounds), pa.py_buffer(raw))

    def ranks(self, present: Ints) -> Ints:
        """The ranks of ascending codes in the order of the values, missing first.

        Texts are in the order of their codes.
        """
        ranks = np.arange(len(present))
        if self.kind == "float":
            known = present[present > 0]
            first = len(present) - len(known)
            ranks[first + np.argsort(np.asarray(self._take(known)))] = ranks[first:].copy()
        return ranks


def value_type(arrow: Any) -> Any:
    """The type of a column's values, with or without a dictionary."""
    return arrow.value_type if pa.types.is_dictionary(arrow) else arrow


def column_kind(arrow: Any) -> str:
    """The kind of a column of an Arrow type; raise an error if it cannot be coded."""
    for kind, fits in (
        ("int", pa.types.is_integer),
        ("text", pa.types.is_string),
        ("text", pa.types.is_large_string),
        ("text", pa.types.is_string_view),
        ("float", pa.types.is_float64),
        ("float", pa.types.is_float32),
        ("bool", pa.types.is_boolean),
        ("date", pa.types.is_date32),
    ):
        if fits(value_type(arrow)):
            return kind
    raise UnfitError


def plain_numbers(array: Any, kind: str) -> Any:
    """Whole numbers, dates and booleans as an array of whole numbers."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if kind == "int":
        return array
    return array.cast(pa.int32() if kind == "date" else pa.int8())
