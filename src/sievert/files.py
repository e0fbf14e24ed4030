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
from sievert.sources.states import MANIFEST

KINDS = {".csv": "csv", ".parquet": "parquet"}
FORMULA = ("=", "+", "-", "@", "\t", "\r")
OUR_CSV = b"record,class_size,identity_bits"
OUR_BELIEFS = re.compile(rb"record,[^,\n]*_attacker(_least)?,")
# The key and the value as the footer spells them: of a record file, of a pairing file.
PARQUET_MARK = re.compile(rb"\x07sievert\x18\x07(records|pairing)")
OUR_KEYS = ("listing", "table", "seconds", "measures", "paper", "limits")
SECRETS = (".secrets.", ".")  # what the name of a release has less than that of its secrets
PAIRING = ".pairing.parquet"
PART = re.compile(r"part-\d{5,}\.parquet")  # of a release that is a directory
OUR_PAGE = b"<!-- written by sievert -->"
OUR_SKETCH = b"sievert sketch 1\n"
MOST_JSON = 1 << 28  # bytes


def record_format(path: str | os.PathLike[str]) -> str:
    """The format of a record file by its ending."""
    suffix = Path(path).suffix.lower()
    require(suffix in KINDS, "a record file ends in .csv or .parquet", hint="--records out.csv")
    return KINDS[suffix]


def secrets_beside(release: Path) -> Path:
    """Where the secrets of a release stand that has them in a table of their own.

    >>> secrets_beside(Path("release.csv")).name
    'release.secrets.csv'
    """
    return release.with_name(f"{release.stem}.secrets{release.suffix}")


def escape_formula(text: str) -> str:
    """Text that a spreadsheet does not take for a formula.

    >>> escape_formula("=1+1"), escape_formula("age")
    ("'=1+1", 'age')
    """
    return f"'{text}" if text[:1] in FORMULA else text


def csv_cell(text: str | None, delimiter: str) -> str:
    """A text as it stands in a CSV file: missing is nothing, an empty text two quotes.

    >>> csv_cell(None, ","), csv_cell("", ","), csv_cell('a,"b"', ","), csv_cell("a", ",")
    ('', '""', '"a,""b""\"', 'a')
    """
    if text is None:
        return ""
    quoted = not text or any(c in text for c in (delimiter, '"', "\n", "\r"))
    return '"' + text.replace('"', '""') + '"' if quoted else text


def _is_ours(path: Path) -> bool:
    """Whether sievert has written this file: it may then be replaced without --force."""
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
            if isinstance(bag := content.get("properties"), dict):  # of SARIF
                content = bag
            return isinstance(content.get("sievert"), str) and any(k in content for k in OUR_KEYS)
    begins = start.startswith((OUR_SKETCH, OUR_CSV)) or OUR_BELIEFS.match(start) is not None
    return begins or OUR_PAGE in start or is_our_release(path)


def manifest_beside(release: Path) -> Path:
    """Where it stands how a release was made.

    >>> manifest_beside(Path("release.csv")).name
    'release.csv.json'
    """
    return release.with_name(f"{release.name}.json")


def pairing_beside(release: Path) -> Path:
    """Where it stands which row of the original became which row of a release: a private file.

    >>> pairing_beside(Path("release.csv")).name
    'release.csv.pairing.parquet'
    """
    return release.with_name(f"{release.name}{PAIRING}")


def is_our_release(path: Path) -> bool:
    """Whether the manifest beside a file says that it is a release, unchanged since."""
    from sievert.sources.checksums import files_sha256

    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        for part in ("release", "secrets"):
            release = path if part == "release" else path.with_name(path.name.replace(*SECRETS))
            if (beside := manifest_beside(release)).is_file():
                content = json.loads(beside.read_bytes())
                return bool(content["sievert"]) and content[part]["sha256"] == files_sha256([path])
    return False


def refuse_overwriting(path: Path, sources: Iterable[Any], *, force: bool) -> None:
    """An input is never written; another existing file only with --force."""
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
            f"{path.name or path} is a directory",
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
    """The content of a JSON file that sievert has written; what else lies there is bad input."""
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
    """A number of JSON; one beyond the largest float is none that sievert writes."""
    value = float(digits)
    if not isfinite(value):
        raise OverflowError
    return value


def is_same(path: Path, source: Any) -> bool:
    """Whether a source is a file, and this one."""
    try:
        return isinstance(source, str | os.PathLike) and path.samefile(source)
    except (OSError, ValueError):
        return False


def refuse_link(path: Path, what: str = "directory") -> None:
    """Nothing is written into a directory that is a symbolic link; one further up may be one."""
    require(
        not path.is_symlink(),
        f"{path.name} is a symbolic link",
        hint=f"a plain {what}",
        error=RefusedError,
    )


def check(
    path: str | os.PathLike[str], *, sources: Iterable[Any] = (), force: bool = False
) -> Path:
    """Whether an output may be written there; asked before the work, not after it."""
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
    """A temporary name beside `path` to write to; it takes the place of `path` if all went well.

    Whoever writes a directory makes it; it replaces a directory of parts only.
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
    temporary, old = (folder / f".{isolation.temporary_name()}.part" for _ in range(2))
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
    """Names the output in the error, where memory or disk runs out while an engine writes it."""
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
