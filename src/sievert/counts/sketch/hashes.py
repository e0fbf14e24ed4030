"""The hash of a class, bit by bit: the specification that every engine follows.

A value is written as the number of bytes of its text, a colon and the text; a missing value as a
hyphen. A hash is the first 64 bits of SHA-256 of the key, a sign, and the values of the columns in
the order of their names. docs/sketch.md has the specification.
"""

import hashlib
import re
from collections.abc import Iterable

from sievert.counts.adapter import Adapter
from sievert.counts.duckdb import reading
from sievert.errors import InputError, require

# the signs of a class, of a secret's value, of the salt
CLASS = "/"
VALUE = "="
CHECK = "?"
LEAST_SALT = 16  # bytes
# Types whose texts are the same on all engines.
SPELT = re.compile(
    r"VARCHAR|ENUM\(.*\)|U?(TINY|SMALL|BIG|HUGE)INT|U?INT(EGER)?|BOOLEAN|DATE|TIMESTAMP|"
    r"DECIMAL(\(.*\))?|DOUBLE|FLOAT",
    re.DOTALL,
)


def derive_key(salt: bytes | None) -> str:
    """The text in front of every text that is hashed: one block of SHA-256, or nothing.

    >>> derive_key(None), len(derive_key(b"0123456789abcdef"))
    ('', 64)
    """
    if salt is None:
        return ""
    require(
        len(salt) >= LEAST_SALT,
        f"a salt has at least {LEAST_SALT} bytes",
        hint="head -c 32 /dev/urandom > FILE, and keep it secret",
    )
    return hashlib.sha256(b"sievert sketch salt\n" + salt).hexdigest()


def encode_value(text: str | None) -> bytes:
    """Encode a value so that different lists of values have different texts.

    >>> encode_value("Köln"), encode_value(""), encode_value(None)
    (b'5:K\\xc3\\xb6ln', b'0:', b'-')
    """
    if text is None:
        return b"-"
    encoded = text.encode()
    return b"%d:%s" % (len(encoded), encoded)


def hash_bytes(key: str, sign: str, encoded: bytes) -> int:
    """The 64-bit hash of encoded values: the specification in Python.

    >>> f"{hash_bytes('', CLASS, b''.join(map(encode_value, ['34', 'Köln', None]))):016x}"
    'e19710d59c1ea409'
    """
    return int.from_bytes(hashlib.sha256((key + sign).encode() + encoded).digest()[:8], "big")


def check_columns(engine: Adapter, columns: Iterable[str]) -> None:
    """Raise an error for a column whose values have other texts on other engines."""
    for column in columns:
        engine.check_usable(column)
        kind = engine.kinds[column]
        require(
            SPELT.fullmatch(kind),
            f"column {column!r} is of the type {kind}, whose text depends on the engine",
            hint=f"--type {column}=text, or a column of text, numbers or dates",
            error=InputError,
        )


def plain_text(text: str | None, *, of_float: bool) -> str | None:
    """A text as it is hashed: a float without decimals is written as a whole number.

    >>> plain_text("34.0", of_float=True), plain_text("34.0", of_float=False)
    ('34', '34.0')
    """
    return text.removesuffix(".0") if of_float and text is not None else text


def has_floats(engine: Adapter, column: str) -> bool:
    """Whether the values of a column are floats."""
    return engine.kinds[column] in reading.FLOATS
