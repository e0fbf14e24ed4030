"""The types of the measures' functions, written from the measures' records."""

from __future__ import annotations

from pathlib import Path

from sievert.measures import MEASURES, Measure

STUB = Path(__file__).parents[1] / "src" / "sievert" / "commands" / "measure_functions.pyi"
HEAD = '''"""Every measure as a function of a table, for type checkers; by `make generate`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sievert.hierarchies import Hierarchy

'''
TYPES = {
    "hierarchy": "Hierarchy | str | None",
    "k": "int | Sequence[int] | None",
    "l": "int | None",
    "order": "Iterable[Any] | None",
    "partition": "Mapping[str, Iterable[str]] | None",
    "value": "str | None",
}


def signature(measure: Measure, keywords: tuple[str, ...]) -> str:
    """One line of the stub: which secret it needs, its own keywords, and those of `assess`."""
    secret = {  # by what it is about
        "record": "sensitive: None = None",
        "secret": "sensitive: str | Sequence[str]",
    }.get(" ".join(measure.kinds), "sensitive: str | Sequence[str] | None = None")
    own = "".join(f"    {word}: {TYPES[word]} = None,\n" for word in keywords)
    own = own and f"    *,\n{own}"
    return (
        f"def {measure.id}(\n    data: Any,\n    quasi: str | Iterable[str],\n    {secret},\n"
        f"{own}    **options: Any,\n) -> int | float | None: ...\n"
    )


def stub() -> str:
    """The whole stub."""
    from sievert.commands.functions import _WORDS

    return HEAD + "".join(signature(m, _WORDS.get(m.id, ())) for m in MEASURES if m.kinds)


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
