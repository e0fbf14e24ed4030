"""The manifest of a release: how it was made and can be made again; no value of the data."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sievert.commands.protect.protection import ProtectionPlan
from sievert.commands.protect.result import Protected
from sievert.commands.protect.settings import ProtectSettings
from sievert.commands.protect.writing import ReleasePart
from sievert.errors import InputError, require
from sievert.files import read_json
from sievert.hierarchies import is_made_from_data
from sievert.releases.problem import GIVEN
from sievert.sources.checksums import files_sha256
from sievert.version import __version__

PARTS = ("levels", "hierarchies")


def manifest(
    result: Protected,
    parts: Sequence[ReleasePart],
    plan: ProtectionPlan,
    *,
    drop: bool = False,
) -> dict[str, Any]:
    """Say what stands beside a release: the policy, the recoding, what it lost, its digest.

    Suppressed records are left out of the release if `drop`.
    """
    recoding = result.recoding
    release, *apart = parts
    content: dict[str, Any] = {
        "sievert": __version__,
        "table": {"columns": list(release.names)},
        "release": release_digest(release.path),
        "policy": {"name": result.policy.name, "sha256": result.policy.digest},
        "how": result.how,
        "levels": result.levels,
        "hierarchies": {
            n: column.fixed or column.hierarchy for n, column in result.columns.items()
        },
        # of other data they would differ: they would name values, which a manifest may not
        "made_from_data": [
            n
            for n, c in result.columns.items()
            if c.fixed is None and is_made_from_data(c.hierarchy)
        ],
        "minimised": result.minimised,
        "suppress": plan.suppress,
        "suppressed": result.suppressed_records,
    }
    for part in apart:
        content["secrets"] = {"columns": list(part.names), **release_digest(part.path)}
    if recoding is not None:
        content |= {"loss": recoding.losses.to_dict(), "proven": recoding.proven}
    content |= {"floor": result.floor} if result.floor else {}
    content |= {"keep": list(plan.keep)} if plan.keep else {}  # nothing was measured of them
    content |= {"drop": True} if drop else {}  # suppressed records are left out
    if result.earlier is not None:
        content["earlier"] = {"releases": result.earlier["releases"]}
    if result.release is not None:
        content |= {
            "seed": plan.settings.seed,
            "settings": _chosen(plan.settings),
            "loss": dict(result.release.loss),
            "details": dict(result.release.details),
            "notes": list(result.release.notes),
        }
    return content


def _chosen(settings: ProtectSettings) -> dict[str, Any]:
    """Give what the caller has chosen of a method, but for what has a place of its own."""
    chosen = settings.method_options
    chosen |= {"weights": settings.weights} if settings.weights else {}
    return {
        name: dict(value) if isinstance(value, Mapping) else value for name, value in chosen.items()
    }


def release_digest(path: Path) -> dict[str, Any]:
    """The SHA-256 of a file; of a directory that of its files' digests by name, and their number.

    It is what `assess --verify` prints of the release.
    """
    if not path.is_dir():
        return {"sha256": files_sha256([path])}
    files = sorted(path.iterdir())
    return {"sha256": files_sha256(files), "files": len(files)}


def read_recoding(path: str | os.PathLike[str]) -> tuple[dict[str, int], dict[str, Any]]:
    """The levels of a manifest, and the hierarchies with their cuts, for other data."""
    name = Path(path).name
    content = read_json(path, "the manifest beside a release: --levels RELEASE.csv.json")
    parts = [content.get(part) if isinstance(content, dict) else None for part in PARTS]
    levels, trees = (part if isinstance(part, dict) else {} for part in parts)
    require(
        levels and trees and all(isinstance(n, int) for n in levels.values()),
        f"{name}: not the manifest of a release with levels",
        hint="the manifest of --how full",
        error=InputError,
    )
    return levels, {c: tree for c, tree in trees.items() if tree not in (None, GIVEN)}
