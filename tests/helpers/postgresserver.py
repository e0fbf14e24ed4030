"""A private Postgres for tests: a socket in a directory of its own, gone at the end."""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

LACKING = "Postgres is not installed: the Debian package postgresql has initdb and postgres"
PR_SET_PDEATHSIG = 1


def binaries() -> Path | None:
    """Where initdb and postgres are."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((p for p in places if (p / "initdb").exists() and (p / "postgres").exists()), None)


def _ends_with_us() -> None:
    """For a server about to start: it stops when this process is gone."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)


class Server:
    """A running server; `admin` needs no password, `keyed` has one."""

    password = "Zq7password"

    def __init__(self, programs: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        # Postgres does not run as root.
        self._who: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self._who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        data = self.folder / "data"
        subprocess.run(
            [programs / "initdb", "-D", data, "-U", "admin", "--auth=trust", "--no-sync",
             "--encoding=UTF8", "--locale=C.UTF-8"],
            cwd="/", check=True, timeout=60, stdout=subprocess.DEVNULL, **self._who,
        )  # fmt: skip
        rules = data / "pg_hba.conf"
        rules.write_text("local all keyed scram-sha-256\n" + rules.read_text())
        settings = {"listen_addresses": "", "unix_socket_directories": self.folder,
                    "fsync": "off", "timezone": "Asia/Tokyo", "shared_buffers": "32MB"}  # fmt: skip
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [programs / "postgres", "-D", data, *options], cwd="/", stdout=log, stderr=log,
                preexec_fn=_ends_with_us, **self._who,
            )  # fmt: skip
        self.admin = self._first()
        self.admin.execute(f"CREATE ROLE keyed LOGIN PASSWORD '{self.password}'")
        self.admin.execute("GRANT pg_read_all_data TO keyed")

    def _first(self) -> psycopg.Connection[Any]:
        until = time.monotonic() + 30
        while True:
            try:
                return self.connect()
            except psycopg.OperationalError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise
                time.sleep(0.05)

    def connect(self, user: str = "admin") -> psycopg.Connection[Any]:
        return psycopg.connect(self.url(user=user), autocommit=True)

    def url(self, table: str | None = None, user: str = "admin", more: str = "") -> str:
        named = "" if table is None else f"&table={table}"
        return f"postgresql://{user}@/postgres?host={self.folder}{more}{named}"

    def load(
        self, name: str, columns: Mapping[str, Sequence[Any]], types: Iterable[str] = ()
    ) -> str:
        """Make a table, of text unless told, and return its address."""
        kinds = list(types) or ["text"] * len(columns)
        table = sql.Identifier(name)
        fields = sql.SQL(", ").join(
            sql.SQL("{} " + kind).format(sql.Identifier(c))
            for c, kind in zip(columns, kinds, strict=True)
        )
        self.admin.execute(sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(table))
        self.admin.execute(sql.SQL("CREATE TABLE {} ({})").format(table, fields))
        with (
            self.admin.cursor() as cursor,
            cursor.copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy,
        ):
            for row in zip(*columns.values(), strict=True):
                copy.write_row(row)
        return self.url(name)

    def running(self) -> list[int]:
        """The processes of the server that work for us right now."""
        query = (
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'sievert' "
            "AND state = 'active' AND query LIKE '%input%'"
        )
        return [pid for (pid,) in self.admin.execute(query)]

    def stop(self) -> None:
        self.admin.close()
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)
