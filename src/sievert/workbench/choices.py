"""What the user has chosen so far, as an immutable record, and the history of it.

The choices of a step are texts, as in a form and on a command line: no data, and nothing computed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from sievert.errors import UsageError, require
from sievert.formatting import nearest
from sievert.formatting.toml import toml_document

FORMAT = 1  # of a saved session
MOST_BYTES = 1 << 20
Setting: TypeAlias = str | tuple[str, ...] | Mapping[str, str]


@dataclass(frozen=True)
class Choices:
    """The table, and what was chosen in each step."""

    table: str = ""
    settings: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)

    def of(self, step: str) -> Mapping[str, Setting]:
        """Everything that was chosen in a step."""
        return self.settings.get(step, {})

    def text(self, step: str, name: str, default: str = "") -> str:
        """A setting that is one text."""
        value = self.of(step).get(name, default)
        return value if isinstance(value, str) else default

    def texts(self, step: str, name: str) -> tuple[str, ...]:
        """A setting that is a list."""
        value = self.of(step).get(name, ())
        return value if isinstance(value, tuple) else ()

    def mapping(self, step: str, name: str) -> Mapping[str, str]:
        """A setting that has a text for each of some names."""
        value = self.of(step).get(name, {})
        return value if isinstance(value, Mapping) else {}

    def put(self, step: str, **changes: Setting | None) -> Choices:
        """The same with other settings of a step; what is empty is left out."""
        kept = {k: v for k, v in {**self.of(step), **changes}.items() if v}
        others = {name: own for name, own in self.settings.items() if name != step}
        return replace(self, settings={**others, step: kept} if kept else others)


@dataclass(frozen=True)
class History:
    """The choices now, those before and those undone: steps are a list without an end."""

    now: Choices
    past: tuple[Choices, ...] = ()
    future: tuple[Choices, ...] = ()
    revision: int = 0  # grows with every change, so that an older page is known as such

    def change(self, choices: Choices) -> History:
        """Another choice; the same one changes nothing."""
        if choices == self.now:
            return self
        return History(
            now=choices, past=(*self.past, self.now), future=(), revision=self.revision + 1
        )

    def undo(self) -> History:
        """One step back, if there is one."""
        if not self.past:
            return self
        *past, now = self.past
        return History(
            now=now, past=tuple(past), future=(self.now, *self.future), revision=self.revision + 1
        )

    def redo(self) -> History:
        """One step forward again, if one was undone."""
        if not self.future:
            return self
        now, *future = self.future
        return History(
            now=now, past=(*self.past, self.now), future=tuple(future), revision=self.revision + 1
        )


def check_texts(*values: Any) -> None:
    """Refuse a text, in lists and mappings too, that cannot be part of a command line."""
    for text in _every_text(values):
        plain = "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)
        require(plain, "a name or a text has a character that no command can be given")


def _every_text(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    else:
        for each in (*value, *value.values()) if isinstance(value, Mapping) else value:
            yield from _every_text(each)


def session_text(choices: Choices) -> str:
    """The choices as one TOML file; it names columns and files, and holds no data."""
    settings = {
        step: {k: list(v) if isinstance(v, tuple) else v for k, v in own.items()}
        for step, own in choices.settings.items()
    }
    return toml_document({"workbench": FORMAT, "table": choices.table, **settings})


def read_session(path: Path, known: Mapping[str, Collection[str]]) -> Choices:
    """The choices of a saved session; `known` has the settings of each step."""
    try:
        require(path.is_file() or not path.exists(), f"{path.name}: not a regular file")
        large = f"{path.name}: a session of more than {MOST_BYTES >> 20} MiB"
        require(path.stat().st_size <= MOST_BYTES, large)
        return parse_session(path.read_text(encoding="utf-8"), known, path.name)
    except OSError as error:
        raise UsageError(f"{path.name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path.name}: not UTF-8 text") from None


def parse_session(
    text: str, known: Mapping[str, Collection[str]], name: str = "session"
) -> Choices:
    """The choices that a text says; what is not known is refused, not passed over."""
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        raise UsageError(f"{name}: not TOML", hint="a file that the workbench has saved") from None
    version = tables.pop("workbench", None)
    table = tables.pop("table", None)
    hint = "a file that the workbench has saved"
    require(version is not None, f"{name}: not a session of the workbench", hint=hint)
    require(version == FORMAT, f"{name}: a session of another version of sievert")
    require(isinstance(table, str) and table, f"{name}: table: no table is named")
    settings = {}
    for step, own in tables.items():
        if step not in known or not isinstance(own, dict):
            raise UsageError(f"{name}: {step}: not known here", hint=nearest(step, known))
        for key in own:
            if key not in known[step]:
                where = f"{name}: {step}.{key}: not known here"
                raise UsageError(where, hint=nearest(key, known[step]))
        settings[step] = {key: _setting(f"{name}: {step}.{key}", own[key]) for key in own}
    return Choices(str(table), settings)


def _setting(where: str, value: Any) -> Setting:
    """A text, a list of texts, or a table of texts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    if isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
        return value
    raise UsageError(f"{where}: not a text, a list of texts or a table of texts")
