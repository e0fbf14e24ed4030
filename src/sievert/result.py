"""What the results of all commands share: JSON, frame, charts, terminal text, notebook."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sievert.errors import UsageError
from sievert.formatting import ENGLISH
from sievert.formatting.remarks import Caution, Remark
from sievert.roles import Roles
from sievert.version import __version__

if TYPE_CHECKING:
    from sievert.report.page import Page


class ShownResult:
    """What can be shown of a result: as a frame, as text, in a notebook."""

    def _rows(self) -> Iterator[dict[str, Any]]:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """One row per number, as a pandas or Polars frame, whichever is installed."""
        return frame(self._rows())

    def __repr__(self) -> str:
        """The terminal output, without colours."""
        from sievert.report import builder, terminal

        return terminal.as_text(terminal.render(builder.screen(self)))

    def _repr_html_(self) -> str:
        from sievert.report.builder import notebook_html

        return notebook_html(self)


class DescribedResult:
    """A result without a page: lines of text, in any language."""

    def _lines(self, texts: Any) -> Iterator[str]:
        raise NotImplementedError

    @property
    def passed(self) -> bool:
        """Whether no question was answered with no: the exit code is 0."""
        return True

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """The terminal output."""
        return self.describe()

    def describe(self, language: str = ENGLISH) -> str:
        """The terminal output in a language."""
        from sievert.report.texts import read_texts

        texts = read_texts(None, language)
        with texts.spoken():
            return "\n".join(self._lines(texts))


class DocumentResult:
    """A result that is one page, with text for the terminal."""

    def to_dict(self) -> Mapping[str, Any]:
        """The JSON of the command line."""
        raise NotImplementedError

    def page(self) -> "Page":
        """The page."""
        raise NotImplementedError

    def text(self) -> str:
        """The text for the terminal."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class Result(ShownResult):
    """The result of a command: frozen, readable, complete."""

    table: Mapping[str, Any]  # its name, rows, columns and where it is from
    roles: Roles  # of the columns
    _: KW_ONLY
    warnings: tuple[Remark, ...] = ()  # remarks for the reader: the English sentences
    unassessed: tuple[str, ...] = ()  # columns without a role
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)  # seconds by step
    peaks: Mapping[str, int] = field(default_factory=dict, compare=False)  # bytes by step

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Remarks that stand before the first number: what is counted may not be people."""
        return tuple(w for w in self.warnings if isinstance(w, Caution))

    @property
    def rows(self) -> int:
        """The number of records of the table."""
        return int(self.table["rows"])

    @property
    def people(self) -> int:
        """The number of people: of records, unless people were counted."""
        return int(self.table.get("people", self.rows))

    @property
    def passed(self) -> bool:
        """Whether no question was answered with no: the exit code is 0."""
        return True

    @property
    def offers_release(self) -> bool:
        """Whether it names a release that `sievert protect` would make."""
        return False

    def charts(self) -> Mapping[str, Any]:
        """Draw the charts of the command line's --charts: Vega-Lite dicts by name."""
        from sievert.report.builder import ResultPages

        return ResultPages(self).charts()

    def charts_beside_page(self) -> Mapping[str, Any]:
        """Draw the charts that are not on the page; refuse a result that has none to draw."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line: stable, without timings."""
        return {
            "sievert": __version__,
            "table": dict(self.table),
            "roles": self.roles.to_dict(self.unassessed),
            "cautions": list(self.cautions),
            **self._content(),
            "warnings": list(self.warnings),
        }

    def _content(self) -> dict[str, Any]:
        raise NotImplementedError

    @staticmethod
    def saved_fields(data: Mapping[str, Any]) -> dict[str, Any]:
        """What all results have, read back from the JSON of one whose sentences are remarks."""
        cautions = {*data.get("cautions", ())}
        return {
            "table": data["table"],
            "roles": Roles.from_dict(data["roles"]),
            "unassessed": tuple(data["roles"].get("unassessed") or ()),
            "warnings": tuple(
                Caution.by_key(w.key, w.values) if w in cautions and isinstance(w, Remark) else w
                for w in data.get("warnings", ())
            ),
        }

    def share(self, *, min_cell: int = 10, mask_names: bool = False) -> "SharedResult":
        """What may be shared of it: verdicts, and numbers that one person can hardly move.

        Of most commands nothing may: they are refused with the reason.
        """
        from sievert.sharing import shareable

        return SharedResult(shareable(self.to_dict(), min_cell=min_cell, mask_names=mask_names))


@dataclass(frozen=True, repr=False)
class SharedResult(ShownResult):
    """What may be shared of a result: short, rounded, with its verdicts."""

    content: Mapping[str, Any]  # the shareable JSON

    @property
    def met(self) -> bool | None:
        """Whether the policy is met, of a comparison by some release; None if undecided."""
        tables = self.content.get("releases", [self.content])
        states = {table["policy"]["met"] for table in tables if table["policy"] is not None}
        return True if True in states else None if None in states or not states else False

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line with --share."""
        return dict(self.content)

    def _rows(self) -> Iterator[dict[str, Any]]:
        chapters = [(None, self.content.get("reidentification", {}))]
        chapters += self.content.get("inference", {}).items()
        return (
            {"sensitive": secret, "measure": measure, **number}
            for secret, numbers in chapters
            for measure, number in numbers.items()
        )


def frame(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Rows as a pandas or Polars frame, whichever is installed."""
    for library in ("pandas", "polars"):
        with suppress(ImportError):
            return import_module(library).DataFrame(list(rows))
    raise UsageError("to_frame() needs pandas or Polars", hint="pip install pandas")
