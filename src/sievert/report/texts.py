"""Every sentence of a page by its key."""

import json
import os
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from sievert.errors import UsageError, require
from sievert.formatting import (
    ENGLISH,
    LANGUAGES,
    nearest,
    read_language,
    speaking,
)
from sievert.formatting.remarks import plural, say_value

MOST_BYTES = 1 << 20
MONTHS = (
    *("months.1", "months.2", "months.3", "months.4", "months.5", "months.6"),
    *("months.7", "months.8", "months.9", "months.10", "months.11", "months.12"),
)


class Texts:
    """Texts by key; values are put in by name."""

    def __init__(self, by_key: Mapping[str, str]) -> None:
        self._by_key = by_key

    def __call__(self, key: str, /, **values: object) -> str:
        if key not in self:
            raise KeyError(key)
        return self._by_key[key].format_map(values)

    def spoken(self) -> AbstractContextManager[None]:
        """A context in which numbers and charts use the language of these texts."""
        return speaking(self._by_key)

    def remark(self, remark: str) -> str:
        """A remark or a reason of a result, in the language of these texts.

        What is a plain text, such as a name, stays as it is.
        """
        return say_value(remark, self._by_key)

    def number_of(self, number: int, thing: str) -> str:
        """A number of things: 1 record, 2,000 records."""
        return plural(number, thing).said(self._by_key)

    def plural(self, number: float, one: str, several: str, /, **values: object) -> str:
        """The text with the key `one` of one thing, that with the key `several` of others."""
        return self(one if number == 1 else several, **values)

    def date(self, moment: datetime) -> str:
        """A day and a time, as the language writes them."""
        month = self(MONTHS[moment.month - 1])
        time = f"{moment:%H:%M}"
        return self("numbers.date", day=moment.day, month=month, year=moment.year, time=time)

    def each(self, prefix: str, names: Iterable[str], separator: str = "_") -> list[str]:
        """Several texts whose keys begin alike."""
        return [self(f"{prefix}{separator}{name}") for name in names]

    def join(self, items: Sequence[str]) -> str:
        """Things in a sentence: a, b and c."""
        if len(items) < 2:
            return items[0] if items else self("words.none")
        return self("words.and", first=", ".join(items[:-1]), last=items[-1])

    def __contains__(self, key: str) -> bool:
        if key.startswith("losses.") and key not in self._by_key:
            self._by_key = {**english(), **self._by_key}
        return key in self._by_key

    def get(self, key: str, default: str) -> str:
        """A text without values; the default where there is no such text."""
        return self(key) if key in self else default


@cache
def english() -> Mapping[str, str]:
    """The texts that come with the package, those of measures and losses from their records."""
    from sievert.losses import KINDS

    return {**_without_losses(), **_of_records("losses", KINDS)}


@cache
def _without_losses() -> Mapping[str, str]:
    """The same without those of losses, which only comparisons need."""
    from sievert.measures import MEASURES

    return {**_of_records("measures", MEASURES), **read_language(ENGLISH)}


def _of_records(kind: str, records: Sequence[Any]) -> dict[str, str]:
    """The titles and readings of measures or losses."""
    return {
        f"{kind}.{record.id}.{field}": getattr(record, field).replace("{", "{{").replace("}", "}}")
        for record in records
        for field in ("title", "reading")
    }


def read_texts(path: str | os.PathLike[str] | None, language: str = ENGLISH) -> Texts:
    """Read one of our languages, or a translation file; English fills its gaps."""
    if language not in LANGUAGES:
        raise UsageError(f"no language is called {language!r}", hint=", ".join(LANGUAGES))
    own = {} if language == ENGLISH else read_language(language)
    if path is None:
        return Texts({**english(), **own} if own else _without_losses())
    import tomllib

    path = Path(path)
    try:
        size = path.stat().st_size
        require(path.is_file(), f"{path.name or path}: not a regular file")
        require(size <= MOST_BYTES, f"{path.name}: texts of more than {MOST_BYTES} bytes")
        translation = dict(_flat(tomllib.loads(path.read_text(encoding="utf-8"))))
    except OSError as error:
        raise UsageError(f"{path.name}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        raise UsageError(f"{path.name}: not a TOML file of texts") from None
    for key, text in translation.items():
        _check(path.name, key, text)
    return Texts({**english(), **own, **translation})


def _check(name: str, key: str, text: Any) -> None:
    known = english()
    if key not in known:
        raise UsageError(f"{name}: no text is called {key!r}", hint=nearest(key, known))
    require(isinstance(text, str), f"{name}: {key} is not a text")
    try:
        wanted = set(_places(known[key]))
        unknown = set(_places(text))
    except ValueError:
        raise UsageError(f"{name}: {key}: a brace is left open") from None
    unknown = unknown - wanted
    if unknown:
        raise UsageError(
            f"{name}: {key}: no place is called {sorted(unknown)[0]!r}",
            hint=", ".join(sorted(wanted)) or "no braces",
        )


def _places(text: str) -> Iterator[str]:
    """The names in braces; only a plain name may stand there."""
    return (
        f"{name}!" if layout or conversion or not name.isidentifier() else name
        for _, name, layout, conversion in string.Formatter().parse(text)
        if name is not None
    )


def _flat(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def template() -> str:
    """Every text as a TOML file to translate."""
    sections: dict[str, list[str]] = {}
    for key, text in english().items():
        section, _, name = key.rpartition(".")
        line = f"{name} = {json.dumps(text, ensure_ascii=False)}"
        sections.setdefault(section, []).append(line)
    lines = [line for name in sorted(sections) for line in ("", f"[{name}]", *sections[name])]
    return "\n".join(lines).lstrip() + "\n"
