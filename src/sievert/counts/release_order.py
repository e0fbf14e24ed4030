"""The order of the rows of a release: by a keyed hash of their cells, so that it tells nothing.

The rows of an input are often sorted, by age, by day or by person. The place of a row of a release
depends on its own cells only. A counter distinguishes equal rows, so that they are dispersed; which
of them has which number does not matter. Every engine computes the same hash: docs/protect.md has
the specification.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sievert.arrays import Text

# the signs of a row's hash, and of the place of one of its copies
ROW = "/"
PLACE = "="
DIGITS = 16  # of a hash, hexadecimal


def order_key(seed: int, file: str = "release") -> str:
    """The text in front of everything that is hashed: short, so that most rows fill one block.

    Each file of a release has a key of its own, so that their orders are unrelated.

    >>> len(order_key(0)), order_key(0) == order_key(0, "secrets")
    (16, False)
    """
    digest = hashlib.sha256(f"sievert release order\n{file}\n{seed}".encode()).hexdigest()
    return digest[:DIGITS]


def encode_cell(text: Text) -> bytes:
    """Write a cell as its length in bytes, a colon and the text: different rows stay different.

    >>> encode_cell("Köln"), encode_cell(""), encode_cell(None)
    (b'5:K\\xc3\\xb6ln', b'0:', b'-')
    """
    if text is None:
        return b"-"
    encoded = text.encode()
    return b"%d:%s" % (len(encoded), encoded)


def row_hashes(key: str, rows: Iterable[Sequence[bytes]]) -> list[int]:
    """The hash of each row, given its encoded cells in the order of the columns."""
    begin = hashlib.sha256(f"{key}{ROW}".encode())
    hashes = []
    for cells in rows:
        hasher = begin.copy()
        hasher.update(b"".join(cells))
        hashes.append(int.from_bytes(hasher.digest()[:8], "big"))
    return hashes


def row_places(key: str, hashes: Iterable[int], copies: Iterable[int]) -> list[int]:
    """The place of each row, given its hash and its number, from 1, among equal rows.

    >>> hashes = row_hashes(order_key(0), [[encode_cell("34"), encode_cell(None)]])
    >>> places = row_places(order_key(0), hashes * 2, [1, 2])
    >>> places[0] == places[1]
    False
    """
    begin = hashlib.sha256(f"{key}{PLACE}".encode())
    places = []
    for number, copy in zip(hashes, copies, strict=True):
        hasher = begin.copy()
        hasher.update(b"%d:%d" % (number, copy))
        places.append(int.from_bytes(hasher.digest()[:8], "big"))
    return places


@dataclass(frozen=True)
class OrderDialect:
    """How an engine spells the two hashes in SQL."""

    string: str  # the type of a text
    octets: str  # the number of bytes of a text
    digest: str  # the first 16 hexadecimal digits of SHA-256 of a text
    number: str  # such digits as a number, of a type that is compared as it is

    def row(self, key: str, values: Iterable[str], as_text: Callable[[str], str]) -> str:
        """The hash of the values of a row, as a number."""
        parts = [f"'{key}{ROW}'"]
        for value in values:
            text = as_text(value)
            size = f"CAST({self.octets.format(text)} AS {self.string})"
            parts.append(f"CASE WHEN {value} IS NULL THEN '-' ELSE {size} || ':' || {text} END")
        return self.number.format(self.digest.format(" || ".join(parts)))

    def place(self, key: str, row: str, copy: str) -> str:
        """The place of one of the copies of a row, as digits that sort as the numbers do."""
        number = f"CAST({row} AS {self.string})"
        which = f"CAST({copy} AS {self.string})"
        return self.digest.format(f"'{key}{PLACE}' || {number} || ':' || {which}")


DUCKDB = OrderDialect(
    string="VARCHAR",
    octets="STRLEN({})",
    digest=f"SUBSTRING(SHA256({{}}), 1, {DIGITS})",
    number="CAST('0x' || {} AS UBIGINT)",
)
SPARK = OrderDialect(
    string="STRING",
    octets="OCTET_LENGTH({})",
    digest=f"SUBSTRING(SHA2({{}}, 256), 1, {DIGITS})",
    number="CAST(CONV({}, 16, 10) AS DECIMAL(20, 0))",
)
