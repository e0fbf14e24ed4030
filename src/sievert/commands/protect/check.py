"""The check of a written release: a process of its own reads and assesses it."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sievert.errors import InvariantError, require
from sievert.formatting.recognition import recognise_caution
from sievert.formatting.remarks import Remark
from sievert.policy import Judgement

NOT_CHECKED = "the release was not confirmed by its own assessment: nothing was written"


def confirm(
    path: Path,
    policy: Mapping[str, Any],
    options: Mapping[str, Any],
    records: int | None,
    *,
    released: Path,
) -> list[Remark]:
    """Assess a file in a new process; return its cautions, or raise an error.

    The file must meet the policy. It must have the same records as the `released` file, and may
    have one more column. Their number must be `records`, unless this is None.
    """
    of_file = {"path": str(path), "policy": policy, "options": options}
    order = json.dumps({"file": of_file, "records": records, "released": str(released)})
    command = [sys.executable, "-m", "sievert.commands.protect.check"]
    done = subprocess.run(command, input=order.encode(), capture_output=True, check=False)  # noqa: S603
    cautions = json.loads(done.stdout) if done.returncode == 0 else None
    require(cautions is not None, NOT_CHECKED, error=InvariantError)
    return [recognise_caution(caution) for caution in cautions or ()]


def judge(path: Path | str, policy: Mapping[str, Any], options: Mapping[str, Any]) -> Judgement:
    """Judge a file by a policy, as assess does; `options` may name its fresh keys."""
    judged: Judgement | None = _assess(path, policy, {**options, "planned": False}).policy
    assert judged is not None
    return judged


def _assess(path: Path | str, policy: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    """Assess a file with the policy of a release."""
    import sievert
    from sievert.request.requested import PolicyOfRelease

    given = dict(options)
    of_release = PolicyOfRelease(policy=policy, fresh=tuple(given.pop("fresh", ())))
    return sievert.assess(path, policy=of_release, quick=True, **given)


def _same_records(path: str, released: str, options: Mapping[str, Any]) -> bool:
    """Tell whether the file `path` has the records of the file `released`.

    It may have further columns. Different records are counted, so that a large file takes little
    memory, and the order does not matter.
    """
    from sievert.session import OPTIONS, open_source

    reading: Any = {o: options[o] for o in OPTIONS if o in options}
    with open_source(released, **reading) as (_, questions):
        one = questions.cube(list(questions.columns))
    with open_source(path, **reading) as (_, questions):
        other = questions.cube(one.columns)
    same = one.values == other.values and np.array_equal(one.counts, other.counts)
    return same and all(map(np.array_equal, one.codes, other.codes))


def cautions_of(order: Mapping[str, Any]) -> list[str] | None:
    """The cautions on a file; None unless it meets its policy and has the expected records."""
    checked = order["file"]
    released = order["released"]
    result = _assess(**checked)
    rows = result.table["rows"] + result.table["suppressed"]
    if result.policy.outcome is not True or order["records"] not in (None, rows):
        return None
    path = checked["path"]
    if path != released and not _same_records(path, released, checked["options"]):
        return None
    return list(result.cautions)


def main() -> None:
    """Read what to assess from standard input, and print its cautions if it is confirmed."""
    sys.stdout.write(json.dumps(cautions_of(json.load(sys.stdin))))


if __name__ == "__main__":
    main()
