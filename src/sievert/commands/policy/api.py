"""The public function `check_policy`."""

import os
from pathlib import Path
from typing import Any, Unpack

from sievert import files
from sievert.commands.policy.result import PolicyCheck
from sievert.commands.policy.run import find_gaps
from sievert.errors import require
from sievert.request.requested import LARGE, Reading, RequestedRoles
from sievert.request.table_description import describe_table
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions


def check_policy(
    policy: str | os.PathLike[str],
    data: Any,
    *,
    fix: bool = False,
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> PolicyCheck:
    """Say what a policy file lacks for a table, and write it into the file as comments.

    Parameters
    ----------
    policy
        The TOML file.
    data
        The table, as for `assess`.
    fix
        Whether to write what is lacking into the file, as comments with suggestions. They change
        nothing: no column gets a role and no limit is changed until somebody has decided.
    verify
        Check the page checksums of Parquet files.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.
    """
    from sievert.commands.policy.repair import repair_text
    from sievert.policy import parse_tables, read_tables

    path = Path(policy)
    text, tables = read_tables(path)
    require(not fix or not path.is_symlink(), f"{path.name} is a symbolic link: --fix its target")
    require(not fix or not files.is_same(path, data), "the policy is the table")
    checked = parse_tables(tables, path.name)
    how = RequestedRoles(given=(None, None, None), policy=checked).read_as_stated({**source})
    reading = Reading(watch, LARGE, verify=verify, **how)
    with reading(data) as (table, questions):
        gaps = find_gaps(table, questions, checked, reading.clock)
        description = describe_table(table, questions)
    reading.clock.stop()
    lacking = [f"{gap.text}. Try: {gap.suggestion}" if gap.suggestion else gap.text for gap in gaps]
    repaired = repair_text(text, lacking) if fix else text
    if repaired != text:
        mode = path.stat().st_mode & 0o777
        require(path.read_bytes().decode("utf-8-sig") == text, f"{path.name} was changed meanwhile")
        with files.write_whole(path, sources=[data], force=True) as temporary:
            assert temporary is not None
            temporary.write_bytes(repaired.encode("utf-8"))
            temporary.chmod(mode)
    return PolicyCheck(description, path.name, gaps, repaired != text)
