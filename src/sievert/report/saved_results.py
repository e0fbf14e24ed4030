"""Results that were saved as JSON, read again: a file of ours, or one clear line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sievert.commands.assess.result import Assessment
from sievert.errors import InputError
from sievert.measures.value import Value
from sievert.policy import Verdict
from sievert.report.parts import kind_of
from sievert.roles import Roles

MOST_BYTES = 1 << 28
OF_A_VALUE = {"value", "unit", "riskier", "reason"}


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
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path.name}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path.name}: not JSON", hint="a file written with --json") from None
    if not isinstance(found, dict) or "sievert" not in found or kind_of(found) is None:
        raise InputError(
            f"{path.name}: not a result of sievert",
            hint="a file written with --json by assess, explain, attack, compare and their like",
        )
    return found


@contextmanager
def as_saved() -> Iterator[None]:
    """A result that was edited by hand, or is of another version, is bad input and no defect."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        raise InputError(
            "a saved result is not as sievert writes it", hint="write it again with --json"
        ) from None


def assessment(data: Mapping[str, Any]) -> Assessment:
    """An assessment from its JSON; remarks are left out, for their counts can no longer be told."""
    roles = data["roles"]
    policy = data.get("policy")
    return Assessment(
        table=data["table"],
        roles=Roles(*(tuple(roles[r]) for r in ("quasi", "sensitive", "identifier"))),
        reidentification=_values(data["reidentification"]),
        inference={s: _values(v) for s, v in data["inference"].items()},
        verdicts=None if policy is None else tuple(Verdict(**v) for v in policy["limits"]),
        unassessed=tuple(roles.get("unassessed", ())),
    )


def _values(held: Mapping[str, Mapping[str, Any]]) -> dict[str, Value]:
    return {
        m: Value(
            m,
            v["value"],
            v["unit"],
            v["riskier"],
            v["reason"],
            {k: x for k, x in v.items() if k not in OF_A_VALUE},
        )
        for m, v in held.items()
    }
