"""The address of a table in a database: its parts, and whether it contains a password."""

import re

DATABASES = ("postgresql://", "postgres://")
# As the database's own library reads an address, and beyond: a slash in a password ends the host
# there, so that the address cannot be used, but the password can be seen all the same.
CREDENTIALS = re.compile(r"[^/@:]*:[^/@]+@|[^?@:]*:[^?@]+@")
SECRET_KEYS = re.compile(r"password|secret|scram_\w+_key")


def decode_percent(text: str) -> str:
    """Decode %20 and the like; importing a URL library for this would look like network access.

    >>> decode_percent("p%61ssword")
    'password'
    """
    return "".join(
        bytes.fromhex(p.replace("%", "")).decode(errors="replace") if p.startswith("%") else p
        for p in re.split(r"((?:%[0-9A-Fa-f]{2})+)", text)
    )


def holds_password(token: str) -> bool:
    """Say whether a word of a command is, or ends with, an address that contains a password.

    >>> holds_password("--register=postgresql://ann@host/db?table=t&ssl%70assword=x")
    True
    >>> holds_password("postgresql://ann@host:5432/db?table=passwords")
    False
    """
    address = re.search(r"postgres(?:ql)?://(.*)", token, re.DOTALL)
    if address is None:
        return False
    keys = (decode_percent(part.partition("=")[0]) for part in re.split("[?&]", address[1])[1:])
    known = CREDENTIALS.match(address[1]) is not None
    return known or any(SECRET_KEYS.search(key.lower()) for key in keys)
