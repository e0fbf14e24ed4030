"""The manifest of a release: how to make the release again; it has no value of the data."""

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


def manifest(
    result: Protected,
    parts: Sequence[ReleasePart],
    plan: ProtectionPlan,
    *,
    drop: bool = False,
) -> dict[str, Any]:
    """Write the manifest: the policy, the recoding, its loss, and the digest of the release.

    With `drop`, suppressed records are left out of the release.
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
        # made from other data they would differ, and a manifest must not name values
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
    if result.floor:
        content["floor"] = result.floor
    if plan.keep:  # columns that were not measured
        content["keep"] = list(plan.keep)
    if drop:
        content["drop"] = True
    if result.earlier is not None:
        content["earlier"] = {"releases": result.earlier["releases"]}
    if result.release is not None:
        content |= {
            "seed": plan.settings.seed,
            "settings": _chosen_options(plan.settings),
            "loss": dict(result.release.loss),
            "details": dict(result.release.details),
            "notes": list(result.release.notes),
        }
    return content


def _chosen_options(settings: ProtectSettings) -> dict[str, Any]:
    """The options of a method that the caller has chosen, except those with an own entry."""
    chosen = settings.method_options
    if settings.weights:
        chosen["weights"] = settings.weights
    return {
        name: dict(value) if isinstance(value, Mapping) else value for name, value in chosen.items()
    }


def release_digest(path: Path) -> dict[str, Any]:
    """The SHA-256 of a file, or of a directory, with the number of its files.

    It is the one that `assess --verify` prints. For a directory it is the SHA-256 of the digests of
    its files by name.
    """
    if not path.is_dir():
        return {"sha256": files_sha256([path])}
    files = sorted(path.iterdir())
    return {"sha256": files_sha256(files), "files": len(files)}


def read_recoding(path: str | os.PathLike[str]) -> tuple[dict[str, int], dict[str, Any]]:
    """Read the levels of a manifest, and the hierarchies with their cuts, for other data."""
    name = Path(path).name
    content = read_json(path, "the manifest beside a release: --levels RELEASE.csv.json")
    levels = _table_of(content, "levels")
    trees = _table_of(content, "hierarchies")
    require(
        levels and trees and all(isinstance(n, int) for n in levels.values()),
        f"{name}: not the manifest of a release with levels",
        hint="the manifest of --how full",
        error=InputError,
    )
    return levels, {c: tree for c, tree in trees.items() if tree not in (None, GIVEN)}


def _table_of(content: Any, part: str) -> dict[str, Any]:
    """The entry `part` of a manifest if it is an object; else an empty one."""
    entry = content.get(part) if isinstance(content, dict) else None
    return entry if isinstance(entry, dict) else {}
