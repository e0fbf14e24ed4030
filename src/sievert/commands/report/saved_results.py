"""Results that were saved as JSON, read again: a file of ours, or one clear line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sievert.commands.assess.result import Assessment
from sievert.errors import InputError
from sievert.measures.measure import Value
from sievert.policy import Verdict
from sievert.report.redaction import command_name
from sievert.roles import Roles

MOST_BYTES = 1 << 28
VALUE_KEYS = ("value", "unit", "riskier", "reason")


def read(path: str | Path) -> dict[str, Any]:
    """The JSON of one command, as it was written."""
    path = Path(path)
    try:
        if path.is_dir():
            raise InputError(
                f"{path.name or path} is a directory", hint="a file written with --json"
            )
        if not path.is_file():
            raise InputError(f"{path.name}: no such file", hint="a file written with --json")
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path.name}: a result of more than {MOST_BYTES >> 20} MiB")
        result = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path.name}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path.name}: not JSON", hint="a file written with --json") from None
    if not isinstance(result, dict) or "sievert" not in result or command_name(result) is None:
        raise InputError(
            f"{path.name}: not a result of sievert",
            hint="a file written with --json by assess, explain, attack, compare and their like",
        )
    return result


@contextmanager
def as_saved() -> Iterator[None]:
    """A result that was edited by hand, or is of another version, is bad input and no defect."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        raise InputError(
            "a saved result is not as sievert writes it", hint="write it again with --json"
        ) from None


@dataclass(frozen=True)
class SavedResult:
    """A result that was read from its JSON; an assessment can still be shared."""

    data: Mapping[str, Any]

    def to_dict(self) -> Mapping[str, Any]:
        """The JSON, as it was written."""
        return self.data

    def share(self, *, min_cell: int = 10, mask_names: bool = False) -> Assessment:
        """A shareable assessment, without the remarks: their counts can no longer be rounded."""
        roles, policy = self.data["roles"], self.data.get("policy")
        return Assessment(
            table=self.data["table"],
            roles=Roles(*(tuple(roles[r]) for r in ("quasi", "sensitive", "identifier"))),
            reidentification=_values(self.data["reidentification"]),
            inference={s: _values(v) for s, v in self.data["inference"].items()},
            verdicts=None if policy is None else tuple(Verdict(**v) for v in policy["limits"]),
            unassessed=tuple(roles.get("unassessed", ())),
        ).share(min_cell=min_cell, mask_names=mask_names)


def _values(numbers: Mapping[str, Mapping[str, Any]]) -> dict[str, Value]:
    return {
        measure: Value(
            measure,
            **{key: number[key] for key in VALUE_KEYS},
            details={key: detail for key, detail in number.items() if key not in VALUE_KEYS},
        )
        for measure, number in numbers.items()
    }
