"""Remarks for the reader are texts; some of them stand before the first number."""


class Caution(str):
    """A remark that stands before the first number: what the numbers count may not be people."""

    __slots__ = ()
