"""The files of a ledger and of its salt: what was released about whom, without names.

A ledger is a ZIP archive: `manifest.json`, arrays of integers for each release, and a seal, the
keyed hash of all these members and their names. It contains people and the values of secrets as
keyed hashes of 128 bits. The key, the salt, is in a file of its own.
"""

import hmac
import io
import json
import os
import secrets
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from sievert import files
from sievert.arrays import Ints
from sievert.errors import ExhaustedError, InputError, RefusedError, require
from sievert.numerics import machine
from sievert.version import __version__

FORMAT = "sievert ledger"
VERSION = 4
SECRET_ARRAYS = ("secret", "codes", "alike")  # their names end with the number of the secret
SALT_BYTES = 32
HASH_BYTES = 16
WAIT = 120.0  # seconds for another process that is writing
HINT = "a file that sievert ledger add has written"


@dataclass(frozen=True, eq=False)
class Secret:
    """A secret of a release: for each row the place of its code; 0 is missing, 1 the first."""

    rows: Ints
    codes: Ints  # two words of a keyed hash for each value
    alike: Ints  # the same of its canonical text, which all spellings of a value have


@dataclass(frozen=True, eq=False, kw_only=True)
class LedgerRelease:
    """A release in a ledger: the people of each class and their values; each such row once."""

    name: str
    date: str
    digest: str
    roles: Mapping[str, Any]
    people: Ints  # two words of a keyed hash for each row
    alike: Ints  # the same of the canonical text of the person's key
    classes: Ints  # the number of each row's class, from 0
    rows: Ints  # the number of records of each row
    secrets: Mapping[str, Secret]
    suppressed: int = 0  # suppressed records, which are a class

    def with_merged_spellings(self, secrets: Collection[str], *, people: bool) -> "LedgerRelease":
        """Merge all spellings of the values of some `secrets`, and of `people`."""
        own = {
            name: replace(secret, codes=secret.alike) if name in secrets else secret
            for name, secret in self.secrets.items()
        }
        return replace(self, people=self.alike if people else self.people, secrets=own)

    def describe(self) -> dict[str, Any]:
        """The entry of the manifest."""
        return {
            "name": self.name,
            "date": self.date,
            "digest": self.digest,
            "roles": dict(self.roles),
            "rows": len(self.classes),
            "classes": int(self.classes.max()) + 1,
            "suppressed": self.suppressed,
            "secrets": {name: len(secret.codes) for name, secret in self.secrets.items()},
        }

    def arrays(self) -> Iterator[tuple[str, Any]]:
        """Yield the arrays with their names in the archive."""
        yield "people", self.people
        yield "alike", self.alike
        yield "classes", self.classes.astype("<u4")
        yield "rows", self.rows.astype("<u4")
        for number, secret in enumerate(self.secrets.values()):
            arrays = (secret.rows.astype("<u4"), secret.codes, secret.alike)
            yield from zip((f"{kind}{number}" for kind in SECRET_ARRAYS), arrays, strict=True)


class Pseudonyms:
    """Keyed hashes of people and values, which nobody can guess without the salt."""

    def __init__(self, salt: bytes) -> None:
        self._salt = salt

    def _hash(self, kind: bytes, text: bytes, size: int = HASH_BYTES) -> bytes:
        return blake2b(text, key=self._salt, digest_size=size, person=kind).digest()

    @property
    def mark(self) -> str:
        """The mark by which a ledger recognises its salt."""
        return self._hash(b"sievert salt", b"").hex()

    def people(self, texts: Sequence[str]) -> Ints:
        """The hashes of people's keys, two words each."""
        return self._words(b"sievert person", "", texts)

    def values(self, column: str, texts: Sequence[str]) -> Ints:
        """The hashes of a secret's values; equal values of columns of the same name are equal."""
        return self._words(b"sievert value", f"{len(column)}:{column}", texts)

    def _words(self, kind: bytes, start: str, texts: Sequence[str]) -> Ints:
        joined = b"".join(
            self._hash(kind, f"{start}{t}".encode("utf-8", "surrogatepass")) for t in texts
        )
        return np.frombuffer(joined, dtype="<u8").reshape(-1, 2)

    def seal(self, members: Mapping[str, bytes]) -> str:
        """The seal of a ledger: the keyed digest of its members with their names."""
        return self.digest(
            [part for n, content in members.items() for part in (n.encode(), content)]
        )

    def digest(self, parts: Sequence[bytes]) -> str:
        """The keyed digest of some parts, the length of each included."""
        state = blake2b(key=self._salt, digest_size=SALT_BYTES, person=b"sievert digest")
        for part in parts:
            state.update(len(part).to_bytes(8, "little"))
            state.update(part)
        return state.hexdigest()


def read_salt(path: Path) -> Pseudonyms:
    """Read the salt in a file, for keyed hashes."""
    hint = "--salt FILE: the ledger is of no use without the salt that it was made with"
    try:
        salt = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        raise InputError(f"{path.name}: there is no such salt", hint=hint) from None
    except OSError as error:
        raise InputError(f"{path.name}: {error.strerror}", hint=hint) from None
    except ValueError:
        salt = b""
    require(len(salt) == SALT_BYTES, f"{path.name} holds no salt", hint=hint, error=InputError)
    return Pseudonyms(salt)


def make_salt(path: Path) -> Pseudonyms:
    """Read the salt of a new ledger, or make a random one that only its owner can read.

    The caller must have the lock of the ledger.
    """
    if not path.exists():
        with files.write_whole(path) as temporary:
            assert temporary is not None
            temporary.write_text(f"{secrets.token_hex(SALT_BYTES)}\n", encoding="ascii")
    return read_salt(path)


@contextmanager
def locked(ledger: Path) -> Iterator[None]:
    """Lock a ledger for writing, so that two releases that are added at once both stay."""
    files.check(ledger, force=True)
    try:
        with machine.lock(ledger, WAIT) as free:
            what = f"{ledger.name}: another process has been writing it for {WAIT:g} seconds"
            require(free, what, hint="once more, or remove the .lock file", error=ExhaustedError)
            yield
    except PermissionError as error:
        raise InputError(f"{ledger.name}: {error.strerror}", hint="a directory of yours") from None


def write_ledger(ledger: Path, releases: Sequence[LedgerRelease], pseudonyms: Pseudonyms) -> None:
    """Replace a ledger, or make it: whole or not at all, readable by its owner only."""
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "sievert": __version__,
        "salt": pseudonyms.mark,
        "releases": [release.describe() for release in releases],
    }
    members = {"manifest.json": json.dumps(manifest, indent=1).encode()}
    for number, release in enumerate(releases):
        members |= {f"{number}/{name}": array.tobytes() for name, array in release.arrays()}
    members["seal"] = pseudonyms.seal(members).encode()
    with files.write_whole(ledger, force=True) as temporary:
        assert temporary is not None
        with zipfile.ZipFile(temporary, "w") as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name), content)  # without a time: same bytes


def read_manifest(ledger: Path) -> dict[str, Any]:
    """Read the description of a ledger's releases, without the salt and without a check."""
    with _open_archive(ledger) as archive:
        return _manifest(ledger, archive)


def read_ledger(ledger: Path, pseudonyms: Pseudonyms) -> list[LedgerRelease]:
    """Read the releases of a ledger, in the order in which they were added."""
    with _open_archive(ledger) as archive:
        manifest = _manifest(ledger, archive)
        require(
            hmac.compare_digest(str(manifest.get("salt")), pseudonyms.mark),
            f"the salt is not that of {ledger.name}: nobody in it would be found again",
            hint="--salt FILE, the one that the ledger was made with",
            error=RefusedError,
        )
        expected = _member_names(manifest["releases"])
        if archive.namelist() != [*expected, "seal"]:  # in this order, each once
            raise ValueError
        members = {name: archive.read(name) for name in expected}
        if not hmac.compare_digest(archive.read("seal").decode("ascii"), pseudonyms.seal(members)):
            raise ValueError
        return [_release(i, each, members) for i, each in enumerate(manifest["releases"])]


def _member_names(releases: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of the archive's members but the seal, in the order of writing."""
    names = ["manifest.json"]
    for number, release in enumerate(releases):
        of_secrets = [
            f"{kind}{i}" for i in range(len(release["secrets"])) for kind in SECRET_ARRAYS
        ]
        names += [
            f"{number}/{name}" for name in ("people", "alike", "classes", "rows", *of_secrets)
        ]
    return names


def _manifest(ledger: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    manifest = json.loads(archive.read("manifest.json"))
    require(
        manifest["format"] == FORMAT and manifest["version"] == VERSION,
        f"{ledger.name} is a ledger of another version, which may lack kept columns and spellings",
        hint=f"version {VERSION} is read here: sievert ledger add, once more for each release",
        error=InputError,
    )
    return dict(manifest)


@contextmanager
def _open_archive(ledger: Path) -> Iterator[zipfile.ZipFile]:
    """Open a ledger for reading; a damaged ledger, or another file, is bad input."""
    damaged = InputError(f"{ledger.name} is damaged, or no ledger", hint=HINT)
    try:
        content = ledger.read_bytes()  # at once: it may be replaced meanwhile
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield archive
    except FileNotFoundError:
        raise InputError(f"{ledger.name}: no such ledger", hint="sievert ledger add") from None
    except OSError as error:
        raise InputError(f"{ledger.name}: {error.strerror}", hint=HINT) from None
    except (
        zipfile.BadZipFile,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        RecursionError,
        UnicodeError,
    ):
        raise damaged from None


def _release(number: int, entry: Mapping[str, Any], members: Mapping[str, bytes]) -> LedgerRelease:
    def array(name: str, kind: str, rows: int, words: int = 1) -> Ints:
        numbers = np.frombuffer(members[f"{number}/{name}"], dtype=kind)
        return numbers.reshape(rows, words) if words > 1 else numbers.astype(np.int64)

    rows = int(entry["rows"])
    return LedgerRelease(
        name=str(entry["name"]),
        date=str(entry["date"]),
        digest=str(entry["digest"]),
        roles=dict(entry["roles"]),
        people=array("people", "<u8", rows, 2),
        alike=array("alike", "<u8", rows, 2),
        classes=array("classes", "<u4", rows),
        rows=array("rows", "<u4", rows),
        secrets={
            name: Secret(
                rows=array(f"secret{i}", "<u4", rows),
                codes=array(f"codes{i}", "<u8", values, 2),
                alike=array(f"alike{i}", "<u8", values, 2),
            )
            for i, (name, values) in enumerate(entry["secrets"].items())
        },
        suppressed=int(entry["suppressed"]),
    )


def check_new(releases: Sequence[LedgerRelease], name: str, digest: str) -> None:
    """Raise an error for a release that the ledger has already, by its content or its name."""
    for release in releases:
        require(
            release.digest != digest,
            f"the ledger has this release already, as {release.name!r}",
            error=RefusedError,
        )
        require(
            release.name != name,
            f"the ledger has another release that is called {name!r}",
            hint="--name",
            error=RefusedError,
        )


def ledger_path(ledger: Any) -> Path:
    """The path of a ledger."""
    require(isinstance(ledger, str | os.PathLike), "a ledger is a file", error=InputError)
    return Path(ledger)
