"""The check of a written release: read back and assessed by a process of its own."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sievert.errors import InvariantError, require
from sievert.policy import Judgement

NOT_CHECKED = "the release was not confirmed by its own assessment: nothing was written"


def confirm(path: Path, policy: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Assess a file in a new process with a policy; an error unless the policy is met."""
    order = json.dumps({"path": str(path), "policy": policy, "options": options})
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


def main() -> None:
    """Read what to assess from standard input, and print whether the policy is met."""
    order = json.load(sys.stdin)
    sys.stdout.write(json.dumps(judge(**order).met))


if __name__ == "__main__":
    main()
