"""A ledger by another engine: the same bytes of what is added, the same JSON of what is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sievert

COLUMNS: dict[str, list[Any]] = {
    "id": [7, 7, 8, 9, 10, 11, 12],  # with several rows, and more than one digit
    "town": ["Köln", "Köln", "bonn", "Köln", None, "*", "Bonn"],
    "age": [34, 35, 71, 34, 71, 34, None],
    "ill": ["flu", "flu", "hiv", "flu", "ache", None, ""],
}
POSTGRES = ("bigint", "text", "bigint", "text")
POLICY = {
    "roles": {"quasi": ["town"], "sensitive": ["ill"], "person": "id", "ignored": {"age": "no"}},
    "limits": {"k_anonymity": {"min": 2}},
}


def note(folder: Path, name: str, data: Any, **options: Any) -> tuple[bytes, dict[str, Any]]:
    """The ledger with a release, and the check of another release of the same table."""
    (salt := folder / "salt").write_text("07" * 32, encoding="ascii")
    own: dict[str, Any] = {"salt": salt, **options}
    ledger = folder / name
    given = ["town", "age"], ["ill"]
    sievert.add_to_ledger(ledger, data, *given, person="id", name="r", date="2026-01-31", **own)
    result = sievert.check_with_ledger(ledger, data, policy=POLICY, name="s", **own).to_dict()
    assert result["joint"]["unique"] > 0
    del result["ledger"]["name"]
    for entry in ("name", "kind", "engine", "verified"):
        result["table"].pop(entry, None)
    return ledger.read_bytes(), result
