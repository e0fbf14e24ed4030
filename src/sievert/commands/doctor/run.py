"""The examination of this installation: packages, extras, engines, folders, the machine."""

import os
import platform
import re
import shutil
import sys
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sievert.commands.doctor.result import Examination
from sievert.commands.doctor.settings import DoctorSettings
from sievert.errors import SievertError
from sievert.numerics import machine
from sievert.session import Steps, no_progress
from sievert.sources.isolation import private_directory, temporary_directory
from sievert.version import __version__

REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(\[.*?\])?\s*(>=(?P<least>[\d.]+))?[^;]*(;.*extra == .(?P<extra>[\w-]+))?"
)
FOR_DEVELOPERS = "dev"
TINY = {"a": ["1", "1", "2", "2"], "b": ["x", "y", "x", "x"]}


def run(settings: DoctorSettings, watch: Steps = no_progress) -> Examination:
    """Examine this installation; `watch` is told nothing."""
    return Examination(examine(start=settings.start))


def examine(*, start: bool = False) -> dict[str, Any]:
    """Examine the installation; return what the JSON has."""
    core, extras = _packages()
    engines = {
        "duckdb": _duckdb(),
        "packed": _packed(),
        "spark": _spark(start=start),
        "postgres": _postgres(),
    }
    return {
        "sievert": __version__,
        "python": {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
        },
        "machine": {
            "system": platform.system(),
            "processor": platform.machine(),
            "cores": machine.core_count(),
            "memory_bytes": machine.physical_memory(),
            "child_process": machine.can_fork(),
        },
        "core": core,
        "extras": extras,
        "engines": engines,
        "compiled": _compiled(),
        "temporary": _temporary(),
        "works": engines["duckdb"]["starts"] and all(p["works"] for p in core.values()),
    }


def _packages() -> tuple[dict[str, Any], dict[str, Any]]:
    """Examine the packages of the core and of every extra that this installation declares."""
    core: dict[str, Any] = {}
    extras: dict[str, dict[str, Any]] = {}
    try:
        declared = metadata.requires("sievert") or []
    except metadata.PackageNotFoundError:  # run from a folder, without being installed
        declared = []
    for requirement in declared:
        parts = REQUIREMENT.match(requirement)
        if parts is None:
            continue
        package = _package(parts["name"], parts["least"], imported=not parts["extra"])
        if not parts["extra"]:
            core[parts["name"]] = package
        elif parts["extra"] != FOR_DEVELOPERS:
            extras.setdefault(parts["extra"], {})[parts["name"]] = package
    described = {
        extra: {"installed": all(p["works"] for p in packages.values()), "packages": packages}
        for extra, packages in sorted(extras.items())
    }
    return core, described


def _package(name: str, least: str | None, *, imported: bool) -> dict[str, Any]:
    """Examine the version of a package; import the package, too, if it is `imported`."""
    version = _version(name)
    works = version is not None and _numbers(version) >= _numbers(least or "0")
    if imported and works and find_spec(name) is not None:
        try:
            import_module(name)
        except Exception:  # whatever a damaged package does
            works = False
    return {"version": version, "needed": least, "works": works}


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, for comparisons.

    >>> _numbers("2.0.0rc1") >= _numbers("1.10"), _numbers("1.9.0.post1")[:3]
    (True, (1, 9, 0))
    """
    return tuple(int(digits) for digits in re.findall(r"\d+", version))


def _duckdb() -> dict[str, Any]:
    """Examine whether the engine of the core counts a table of four rows."""
    try:
        import sievert

        k = sievert.assess(TINY, ["a"], ["b"]).reidentification["k_anonymity"].value
        return {"starts": k == 2, "reason": None}
    except Exception as error:  # whatever a damaged package does
        return {"starts": False, "reason": type(error).__name__}


def _packed() -> dict[str, Any]:
    """Examine whether the compiled loops of packed keys can be used."""
    try:
        import_module("sievert.counts.packed.records")
    except ImportError as error:
        return {"starts": False, "reason": f"no {(error.name or 'package').partition('.')[0]}"}
    except (OSError, RuntimeError, ValueError):
        return {"starts": False, "reason": "compiled loops cannot be kept"}
    return {"starts": True, "reason": None}


def _spark(*, start: bool) -> dict[str, Any]:
    """Examine whether Spark, which needs Java, could start; start it if `start` asks for it."""
    reason = None
    if _version("pyspark") is None:
        reason = "no pyspark"
    elif not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        reason = "no Java"
    if reason is not None or not start:
        return {"starts": False if reason else None, "reason": reason or "--start starts it"}
    try:
        import sievert

        with private_directory() as place:
            path = place / "tiny.csv"
            path.write_text("a,b\n1,x\n1,y\n2,x\n2,x\n")
            table = sievert.assess(path, ["a"], ["b"], engine="spark").table
        return {"starts": table["engine"] == "spark", "reason": None}
    except SievertError as error:
        return {"starts": False, "reason": error.what}


def _postgres() -> dict[str, Any]:
    """Examine whether there is a client for databases; no server is asked."""
    try:
        import_module("psycopg")
    except ImportError:
        return {"starts": False, "reason": "no psycopg"}
    return {"starts": None, "reason": "no server was asked"}


def _version(name: str) -> str | None:
    """The version of a package; None if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _compiled() -> dict[str, Any]:
    """Find the folder that keeps compiled loops from one run to the next."""
    try:
        from numba.core.caching import FunctionCache

        place = Path(FunctionCache(machine.core_count).cache_path)
    except ImportError:
        return {"directory": None, "reason": "no numba"}
    except RuntimeError:  # neither beside the source nor in the user's own place
        return {"directory": None, "reason": "no folder for them can be written to"}
    source = Path(__file__).parents[2]
    kept = source if place.is_relative_to(source) else place.parent
    return {"directory": _shown(kept), "reason": None}


def _temporary() -> dict[str, Any]:
    """Examine the folder for temporary files."""
    try:
        place = Path(temporary_directory())
    except OSError:  # there is none
        return {"directory": None, "writable": False, "free_bytes": 0}
    return {
        "directory": _shown(place),
        "writable": os.access(place, os.W_OK),
        "free_bytes": shutil.disk_usage(place).free,
    }


def _shown(path: Path) -> str:
    """Write a path without the name of the user: the home is ~, the environment's folder is ENV."""
    for start, name in ((Path(sys.prefix), "ENV"), (Path.home(), "~")):
        if path.is_relative_to(start) and start != Path("/"):
            return str(Path(name) / path.relative_to(start))
    return str(path)
