"""Output files: whole or absent, private, never over an input or somebody else's file."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import Any

from sievert.errors import ExhaustedError, InputError, RefusedError, UsageError, require
from sievert.numerics import machine
from sievert.sources import isolation
from sievert.sources.state_manifest import MANIFEST

KINDS = {".csv": "csv", ".parquet": "parquet"}
FORMULA = ("=", "+", "-", "@", "\t", "\r")
OUR_CSV = b"record,class_size,identity_bits"
OUR_BELIEFS = re.compile(rb"record,[^,\n]*_attacker(_least)?,")
# A key and its value, as the footers of record files and of pairing files spell them.
PARQUET_MARK = re.compile(rb"\x07sievert\x18\x07(records|pairing)")
OUR_KEYS = ("listing", "table", "seconds", "measures", "paper", "limits")
SECRETS = (".secrets.", ".")  # replaced in the name of the secrets, it gives that of the release
PAIRING = ".pairing.parquet"
PART = re.compile(r"part-\d{5,}\.parquet")  # a file of a release that is a directory
OUR_PAGE = b"<!-- written by sievert -->"
OUR_SKETCH = b"sievert sketch 1\n"
MOST_JSON = 1 << 28  # bytes


def record_format(path: str | os.PathLike[str]) -> str:
    """The format of a record file, by its ending."""
    suffix = Path(path).suffix.lower()
    require(suffix in KINDS, "a record file ends in .csv or .parquet", hint="--records out.csv")
    return KINDS[suffix]


def secrets_beside(release: Path) -> Path:
    """The path of the secrets of a release, if they are in a table of their own.

    >>> secrets_beside(Path("release.csv")).name
    'release.secrets.csv'
    """
    return release.with_name(f"{release.stem}.secrets{release.suffix}")


def escape_formula(text: str) -> str:
    """Quote a text that a spreadsheet would take for a formula.

    >>> escape_formula("=1+1"), escape_formula("age")
    ("'=1+1", 'age')
    """
    return f"'{text}" if text[:1] in FORMULA else text


def csv_cell(text: str | None, delimiter: str) -> str:
    """Write a text as a cell of a CSV file: nothing if it is missing, two quotes if it is empty.

    >>> csv_cell(None, ","), csv_cell("", ","), csv_cell('a,"b"', ","), csv_cell("a", ",")
    ('', '""', '"a,""b""\"', 'a')
    """
    if text is None:
        return ""
    quoted = not text or any(c in text for c in (delimiter, '"', "\n", "\r"))
    return '"' + text.replace('"', '""') + '"' if quoted else text


def _is_ours(path: Path) -> bool:
    """Say whether sievert has written this file, so that no --force is needed to replace it."""
    with path.open("rb") as file:
        start = file.read(256)
        if start.startswith(b"PAR1"):
            file.seek(max(0, path.stat().st_size - (1 << 16)))
            return PARQUET_MARK.search(file.read()) is not None or is_our_release(path)
        if start.startswith(b"{") and path.stat().st_size < 1 << 28:
            try:
                content = json.loads(start + file.read())
            except (ValueError, RecursionError):
                return False
            properties = content.get("properties")
            if isinstance(properties, dict):  # of SARIF
                content = properties
            return isinstance(content.get("sievert"), str) and any(k in content for k in OUR_KEYS)
    begins = start.startswith((OUR_SKETCH, OUR_CSV)) or OUR_BELIEFS.match(start) is not None
    return begins or OUR_PAGE in start or is_our_release(path)


def manifest_beside(release: Path) -> Path:
    """The path of the manifest of a release, which says how it was made.

    >>> manifest_beside(Path("release.csv")).name
    'release.csv.json'
    """
    return release.with_name(f"{release.name}.json")


def pairing_beside(release: Path) -> Path:
    """The path of a private file: which row of the original became which row of the release.

    >>> pairing_beside(Path("release.csv")).name
    'release.csv.pairing.parquet'
    """
    return release.with_name(f"{release.name}{PAIRING}")


def is_our_release(path: Path) -> bool:
    """Say whether the manifest beside a file describes it as a release, and it is unchanged."""
    from sievert.sources.checksums import files_sha256

    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        for part in ("release", "secrets"):
            release = path if part == "release" else path.with_name(path.name.replace(*SECRETS))
            beside = manifest_beside(release)
            if beside.is_file():
                content = json.loads(beside.read_bytes())
                return bool(content["sievert"]) and content[part]["sha256"] == files_sha256([path])
    return False


def refuse_overwriting(path: Path, sources: Iterable[Any], *, force: bool) -> None:
    """Refuse to overwrite an input, and without `force` any file that is not ours."""
    refuse_link(path, "file name")
    places = (path, *path.resolve().parents)  # an input may be a directory, as a state is
    require(
        not any(is_same(place, source) for source in sources for place in places),
        "the output is the input",
        hint="another name for the output",
        error=RefusedError,
    )
    if not path.exists():
        return
    if path.is_dir():
        parts = [PART.fullmatch(p.name) or p.name == MANIFEST for p in path.iterdir()]
        require(
            parts and all(parts),
            f"{path.name if path.name else path} is a directory",
            hint="a file name",
        )
        require(
            force,
            f"{path.name} is there already",
            hint="--force, or another name",
            error=RefusedError,
        )
        return
    require(
        path.is_file(),
        f"{path.name} is not a regular file",
        hint="a plain file name",
        error=RefusedError,
    )
    require(
        force or _is_ours(path),
        f"{path.name} exists and is not known to be written by sievert",
        hint="--force, or another name",
        error=RefusedError,
    )


def read_json(path: str | os.PathLike[str], hint: str) -> Any:
    """Read a JSON file that sievert has written; anything else is bad input."""
    path = Path(path)
    name = path.name or str(path)
    try:
        require(not path.is_dir(), f"{name} is a directory", hint=hint, error=InputError)
        size = path.stat().st_size
        require(path.is_file(), f"{name}: not a regular file", hint=hint, error=InputError)
        too_large = f"{name}: JSON of more than {MOST_JSON >> 20} MiB"
        require(size <= MOST_JSON, too_large, error=InputError)
        text = path.read_text(encoding="utf-8")
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (OSError, RecursionError, OverflowError, ValueError) as error:
        why = {
            FileNotFoundError: "no such file",
            RecursionError: "nested too deeply",
            OverflowError: "a number is not finite",
        }.get(type(error), getattr(error, "strerror", "not JSON"))
        raise InputError(f"{name}: {why}", hint=hint) from None


def _finite(digits: str) -> float:
    """Convert a number of JSON; sievert never writes one beyond the largest float."""
    value = float(digits)
    if not isfinite(value):
        raise OverflowError
    return value


def is_same(path: Path, source: Any) -> bool:
    """Say whether `source` is the file `path`."""
    try:
        return isinstance(source, str | os.PathLike) and path.samefile(source)
    except (OSError, ValueError):
        return False


def refuse_link(path: Path, what: str = "directory") -> None:
    """Refuse a path that is a symbolic link; its parents may be links."""
    require(
        not path.is_symlink(),
        f"{path.name} is a symbolic link",
        hint=f"a plain {what}",
        error=RefusedError,
    )


def check(
    path: str | os.PathLike[str], *, sources: Iterable[Any] = (), force: bool = False
) -> Path:
    """Check before the work that an output may be written to `path`; return the path."""
    target = Path(path)
    try:
        require(target.parent.is_dir(), f"{target.name}: its directory does not exist")
        refuse_link(target.parent)
        refuse_overwriting(target, sources, force=force)
    except OSError as error:
        raise UsageError(f"the output cannot be written there: {error.strerror}") from None
    return target


@contextmanager
def write_whole(
    path: str | os.PathLike[str] | None,
    *,
    sources: Iterable[Any] = (),
    force: bool = False,
    directory: bool = False,
) -> Iterator[Path | None]:
    """Yield a temporary name beside `path`, which replaces `path` if the block succeeds.

    If it is to be a directory, the block makes it; it replaces a directory of parts only.
    """
    if path is None:
        yield None
        return
    target = check(path, sources=sources, force=force)
    require(
        not target.exists() or target.is_dir() == directory,
        f"{target.name} is {'a file' if directory else 'a directory'}",
        hint="another name",
        error=RefusedError,
    )
    folder = target.resolve().parent
    isolation.sweep(folder)
    isolation.announce_directory(folder)
    temporary = folder / f".{isolation.temporary_name()}.part"
    old = folder / f".{isolation.temporary_name()}.part"
    failed = f"{target.name} cannot be written"
    try:
        if not directory:
            with _as_ours(failed):
                os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield temporary
        with _as_ours(failed):
            for file in temporary.iterdir() if directory else [temporary]:
                machine.sync(file)
            if directory and target.exists():  # a directory does not replace another
                target.rename(old)
            temporary.replace(target)
            machine.sync(target.parent)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        temporary.unlink(missing_ok=True)
        if old.is_dir() and not target.exists():
            old.rename(target)
        elif old.is_dir():
            shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _as_ours(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExhaustedError(f"{what}: {error.strerror}") from None


@contextmanager
def name_output(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the output in the error if memory or disk runs out while an engine writes it."""
    try:
        yield
    except ExhaustedError as error:
        raise ExhaustedError(f"{Path(path).name}: {error.what}", hint=error.hint) from None


def write_text(
    path: str | os.PathLike[str], text: str, *, sources: Iterable[Any] = (), force: bool = False
) -> None:
    """Write a text file, whole or not at all."""
    with write_whole(path, sources=sources, force=force) as temporary:
        assert temporary is not None
        with _as_ours(f"{Path(path).name} cannot be written"):
            temporary.write_text(text, encoding="utf-8")
