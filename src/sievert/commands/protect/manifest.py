"""The manifest of a release: how it was made and can be made again; no value of the data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sievert.commands.protect.method import MethodSettings
from sievert.commands.protect.result import Protected
from sievert.sources.checksums import file_sha256
from sievert.version import __version__


def manifest(
    result: Protected, release: Path, settings: MethodSettings, names: Sequence[str]
) -> dict[str, Any]:
    """What stands beside a release: the policy, the recoding, what it lost, its digest."""
    recoding = result.recoding
    content: dict[str, Any] = {
        "sievert": __version__,
        "table": {"columns": list(names)},
        "release": {"sha256": file_sha256(release)},
        "policy": {"name": result.policy.name, "sha256": result.policy.digest},
        "how": result.how,
        "levels": result.levels,
        "hierarchies": {name: column.hierarchy for name, column in result.columns.items()},
        "minimised": result.minimised,
        "suppress": settings.suppress,
        "suppressed": result.suppressed_records,
    }
    if recoding is not None:
        content |= {"loss": recoding.losses.to_dict(), "proven": recoding.proven}
    if result.release is not None:
        content |= {
            "seed": settings.seed,
            "loss": dict(result.release.loss),
            "details": dict(result.release.details),
            "notes": list(result.release.notes),
        }
    return content
