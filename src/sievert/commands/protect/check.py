"""The check of a written release: read back and assessed by a process of its own."""

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
    """Assess a file in a new process with a policy; its cautions, an error unless it is met.

    It must have the records of the file that is released, so many of them where that is known, and
    may have one column more.
    """
    of_file = {"path": str(path), "policy": policy, "options": options}
    order = json.dumps({"file": of_file, "records": records, "released": str(released)})
    command = [sys.executable, "-m", "sievert.commands.protect.check"]
    done = subprocess.run(command, input=order.encode(), capture_output=True, check=False)  # noqa: S603
    cautions = json.loads(done.stdout) if done.returncode == 0 else None
    require(cautions is not None, NOT_CHECKED, error=InvariantError)
    return [recognise_caution(caution) for caution in cautions or ()]


def judge(path: Path | str, policy: Mapping[str, Any], options: Mapping[str, Any]) -> Judgement:
    """A policy held against a file, by the ordinary path; `options` may name its fresh keys."""
    judged: Judgement | None = _assess(path, policy, {**options, "planned": False}).policy
    assert judged is not None
    return judged


def _assess(path: Path | str, policy: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    import sievert
    from sievert.request.requested import PolicyOfRelease

    given = dict(options)
    of_release = PolicyOfRelease(policy=policy, fresh=tuple(given.pop("fresh", ())))
    return sievert.assess(path, policy=of_release, quick=True, **given)


def _same_records(path: str, released: str, options: Mapping[str, Any]) -> bool:
    """Whether a file has the records of another one, whatever columns it has besides.

    Different records are counted, so that it does not matter how many there are, nor their order.
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
    """The cautions on a file; None unless it meets its policy and has the records it must have."""
    checked, released = order["file"], order["released"]
    result = _assess(**checked)
    rows = result.table["rows"] + result.table["suppressed"]
    confirmed = (
        result.policy.outcome is True
        and order["records"] in (None, rows)
        and (
            released == checked["path"]
            or _same_records(checked["path"], released, checked["options"])
        )
    )
    return list(result.cautions) if confirmed else None


def main() -> None:
    """Read what to assess from standard input, and print its cautions if it is confirmed."""
    sys.stdout.write(json.dumps(cautions_of(json.load(sys.stdin))))


if __name__ == "__main__":
    main()
