"""What about 40 command lines print and write has not changed by a byte."""

from __future__ import annotations

import json

from corpus.kept import KEPT, digests


def test_command_lines_print_and_write_what_is_kept() -> None:
    """Compare digests of standard output, standard error, exit code and files.

    `make corpus BASE=REVISION` shows the lines that differ. A change that is meant is kept by
    `PYTHONPATH=tests python -m corpus --keep`, and the changelog names it.
    """
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    found = digests()
    different = [
        part
        for line, outputs in found.items()
        for part in outputs
        if outputs[part] != kept.get(line, {}).get(part)
    ]
    assert not different, "make corpus BASE=HEAD shows:\n" + "\n".join(different)
    assert {*kept} == {*found}
