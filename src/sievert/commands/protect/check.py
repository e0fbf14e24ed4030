"""The check of a written release: read back and assessed by a process of its own."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sievert.errors import InvariantError, require
from sievert.policy import Judgement

NOT_CHECKED = "the release was not confirmed by its own assessment: nothing was written"


def confirm(
    path: Path, policy: Mapping[str, Any], options: Mapping[str, Any], *, released: Path
) -> None:
    """Assess a file in a new process with a policy; an error unless the policy is met.

    It must have the records of the file that is released, and may have one column more.
    """
    of_file = {"path": str(path), "policy": policy, "options": options}
    order = json.dumps({"file": of_file, "released": str(released)})
    command = [sys.executable, "-m", "sievert.commands.protect.check"]
    done = subprocess.run(command, input=order.encode(), capture_output=True, check=False)  # noqa: S603
    require(
        done.returncode == 0 and done.stdout.strip() == b"true", NOT_CHECKED, error=InvariantError
    )


def judge(path: Path | str, policy: Mapping[str, Any], options: Mapping[str, Any]) -> Judgement:
    """A policy held against a file, by the ordinary path."""
    import sievert

    judged = sievert.assess(path, policy=policy, quick=True, **options).policy
    assert judged is not None
    return judged


def _same_records(path: str, released: str, options: Mapping[str, Any]) -> bool:
    """Whether a file has the records of another one, whatever columns it has besides."""
    from sievert.session import open_source

    reading = {o: options[o] for o in ("types", "delimiter", "header") if o in options}
    names: list[str] = []
    records = []
    for each in (released, path):
        with open_source(each, **reading) as (_, questions):
            names = names or list(questions.columns)
            records.append(questions.records_in_order(names))
    one, other = records
    return one.values == other.values and all(map(np.array_equal, one.codes, other.codes))


def main() -> None:
    """Read what to assess from standard input, and print whether the policy is met."""
    order = json.load(sys.stdin)
    checked, released = order["file"], order["released"]
    met = judge(**checked).met
    if met is True and released != checked["path"]:
        met = _same_records(checked["path"], released, checked["options"])
    sys.stdout.write(json.dumps(met))


if __name__ == "__main__":
    main()
