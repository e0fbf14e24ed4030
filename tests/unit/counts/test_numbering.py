"""Values numbered in a hash table: one number for each different one, whatever their bytes."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from sievert.counts.packed import numbering
from sievert.counts.packed.class_cells import rank_codes
from sievert.counts.packed.coding import CodedColumn, GrownError

random = Random(7)
ODD = ["", "\0", "\0\0", "a", "a\0", "é", "12345678", "123456789", "x" * 5000, "x" * 5001, None]


def spell_again(kind: str, arrays: list[pa.Array]) -> CodedColumn:
    """Number arrays one after the other; every code must spell the value that it stands for."""
    column, codes_of = CodedColumn(name="any", kind=kind, bits=20), dict[object, int]()
    for array in arrays:
        codes = column.number_array(array)
        values = array.to_pylist()
        assert column.spell(codes) == values
        assert all(codes_of.setdefault(v, c) == c for v, c in zip(values, codes, strict=True))
    codes = {c for v, c in codes_of.items() if v is not None}
    assert codes == set(range(1, column.size + 1))
    return column


def test_texts_of_any_length_are_numbered_as_they_come() -> None:
    pool = [*ODD, *(f"value {i}" for i in range(3000)), *("ab" * i for i in range(40))]
    arrays = [pa.array(random.choices(pool, k=2000)) for _ in range(4)]
    sliced = pa.array(["before", *random.choices(pool, k=50)])[1:]
    column = spell_again("text", [*arrays, sliced, arrays[0].dictionary_encode(), pa.array(ODD)])
    assert column.code_of("") > 0
    assert column.code_of("nowhere") == column.code_of("before") == column.code_of("\ud800") == -1
    assert column.code_of("a\0") not in (column.code_of("a"), -1)


def test_floats_are_numbered_by_value() -> None:
    spell_again("float", [pa.array(random.choices([0.5, -1e300, 2.0, None], k=90))])
    column = CodedColumn(name="any", kind="float", bits=4)
    codes = column.number_array(pa.array([0.0, -0.0, float("nan"), None, 1.0, -1.0]))
    assert codes.tolist() == [1, 1, 0, 0, 2, 3]
    assert column.ranks(np.arange(4)).tolist() == [0, 2, 3, 1]


def test_values_that_meet_in_their_slots_are_told_apart() -> None:
    # A table with a slot for each code and one more: nearly every value meets others in its way.
    values = numbering.NumberedValues()
    values._slots, values._places = values._slots[:512].copy(), values._places[:500]
    codes = values.number(pa.array([f"{i}" for i in range(499)], pa.large_string()))
    assert codes.tolist() == list(range(1, 500))
    assert all(values.code_of(f"{i}") == i + 1 for i in range(499))


def test_more_values_than_bits_are_refused() -> None:
    column = CodedColumn(name="any", kind="text", bits=3)
    column.number_array(pa.array(list("abcdefg")))
    with pytest.raises(GrownError):
        column.number_array(pa.array(["h"]))


@pytest.mark.parametrize("bits", [20, 40])
def test_ranks_of_codes(bits: int) -> None:
    codes = np.array([random.randrange(1 << bits) for _ in range(500)] * 2)
    present, ranks = rank_codes(codes, bits)
    assert present.tolist() == sorted({0, *codes.tolist()})
    assert (present[ranks] == codes).all()
