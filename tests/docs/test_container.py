"""The Containerfile, as far as it can be read: tests/container.sh builds and uses it."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
STEPS = [
    line.split(maxsplit=1)
    for line in (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
LAST = len(STEPS) - [word for word, _ in reversed(STEPS)].index("FROM")


def test_two_stages_and_a_user_without_rights() -> None:
    assert [word for word, _ in STEPS].count("FROM") == 2
    image = STEPS[LAST:]
    assert "RUN" not in [word for word, _ in image]  # nothing is installed or fetched there
    words = dict(image)
    assert words["USER"] == "10001:10001" and words["WORKDIR"] == "/data"
    assert json.loads(words["ENTRYPOINT"]) == ["/opt/sievert/bin/sievert"]


def test_what_is_copied_is_there_and_not_ignored() -> None:
    wanted = set((ROOT / ".containerignore").read_text(encoding="utf-8").split())
    for word, rest in STEPS:
        if word == "COPY" and not rest.startswith("--from"):
            for name in rest.split()[:-1]:
                assert (ROOT / name).exists() and f"!{name}" in wanted, name


def test_what_builds_stays_behind() -> None:
    """Every package of the lock file that is there to build is uninstalled, and no other one."""
    lock = (ROOT / "requirements" / "charts.lock").read_text(encoding="utf-8")
    needed = re.findall(r"^(\S+)==.*?# via(.*?)(?=^\S|\Z)", lock, re.MULTILINE | re.DOTALL)
    builders = {name for name, via in needed if "build.in" in via or "hatchling" in via}
    (removed,) = (rest.split()[6:] for _, rest in STEPS if "uninstall" in rest)
    assert set(removed) - {"pip", "setuptools"} == builders
    assert any("--require-hashes" in rest for _, rest in STEPS)
