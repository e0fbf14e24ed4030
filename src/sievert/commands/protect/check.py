"""The check of a written release: read back and assessed by a process of its own."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sievert.errors import InvariantError, require

NOT_CHECKED = "the release was not confirmed by its own assessment: nothing was written"


def confirm(path: Path, policy: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Assess a file in a new process with a policy; an error unless the policy is met."""
    order = json.dumps({"path": str(path), "policy": policy, "options": options})
    command = [sys.executable, "-m", "sievert.commands.protect.check"]
    done = subprocess.run(command, input=order.encode(), capture_output=True, check=False)  # noqa: S603
    require(
        done.returncode == 0 and done.stdout.strip() == b"true", NOT_CHECKED, error=InvariantError
    )


def main() -> None:
    """Read what to assess from standard input, and print whether the policy is met."""
    import sievert

    order = json.load(sys.stdin)
    result = sievert.assess(order["path"], policy=order["policy"], quick=True, **order["options"])
    sys.stdout.write(json.dumps(result.met))


if __name__ == "__main__":
    main()
