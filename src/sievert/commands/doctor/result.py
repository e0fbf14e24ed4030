"""The result of `sievert doctor`: packages, extras, engines, places and the machine."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sievert.report.texts import Texts
from sievert.result import DescribedResult

ENGINE_STATES = {
    True: "doctor.engine_starts",
    False: "doctor.engine_fails",
    None: "doctor.engine_untried",
}


@dataclass(frozen=True, repr=False)
class Examination(DescribedResult):
    """What this installation is and can do."""

    content: Mapping[str, Any]  # as it stands in the JSON

    @property
    def passed(self) -> bool:
        """Whether the core works, whatever extras are missing."""
        return bool(self.content["works"])

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line."""
        return dict(self.content)

    def _lines(self, texts: Texts) -> Iterator[str]:
        examined = self.content
        yield texts(
            "doctor.title",
            version=examined["sievert"],
            python=examined["python"]["version"],
            **examined["machine"],
        )
        core = {name: _package(state, texts) for name, state in examined["core"].items()}
        yield from _rows(texts("doctor.core"), core)
        extras = {
            extra: ", ".join(
                f"{name} {_package(state, texts)}" for name, state in about["packages"].items()
            )
            for extra, about in examined["extras"].items()
        }
        yield from _rows(texts("doctor.extras"), extras)
        engines = {
            name: texts(ENGINE_STATES[state["starts"]], reason=state["reason"])
            for name, state in examined["engines"].items()
        }
        yield from _rows(texts("doctor.engines"), engines)
        yield from _rows(texts("doctor.places"), self._places(texts))
        yield ""
        yield texts("doctor.works" if self.passed else "doctor.broken")

    def _places(self, texts: Texts) -> dict[str, str]:
        """Say where files go, and what the machine offers."""
        computer = self.content["machine"]
        compiled = self.content["compiled"]
        temporary = self.content["temporary"]
        places = {
            texts("doctor.compiled"): texts(
                "doctor.compiled_kept" if compiled["directory"] else "doctor.compiled_none",
                **compiled,
            ),
            texts("doctor.temporary"): texts(
                "doctor.temporary_place" if temporary["writable"] else "doctor.temporary_no_place",
                directory=temporary["directory"],
                free=_gigabytes(temporary["free_bytes"]),
            ),
            texts("doctor.memory"): texts(
                "doctor.memory_cores",
                memory=_gigabytes(computer["memory_bytes"]),
                cores=computer["cores"],
            ),
        }
        if not computer["child_process"]:
            places[texts("doctor.child")] = texts("doctor.no_child")
        return places


def _package(state: Mapping[str, Any], texts: Texts) -> str:
    """Say the version of a package, and what is wrong with it."""
    key = "doctor.package_missing"
    if state["works"]:
        key = "doctor.package_fine"
    elif state["version"]:
        key = "doctor.package_old"
    return texts(key, version=state["version"], least=state["needed"])


def _rows(title: str, entries: Mapping[str, str]) -> Iterator[str]:
    """Write a title and its entries, one to a line."""
    width = max(map(len, entries), default=0)
    yield ""
    yield title
    yield from (f"  {name:<{width}}  {text}" for name, text in entries.items())


def _gigabytes(number: int) -> str:
    """Write a number of bytes in gigabytes."""
    return f"{number / 1e9:.1f} GB"
