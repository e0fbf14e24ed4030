"""The public function `check_policy`, written from the settings by `make generate`."""

from collections.abc import Mapping
from typing import Any

from sievert.commands.policy.result import PolicyCheck
from sievert.commands.policy.run import run
from sievert.commands.policy.settings import PolicyCheckSettings
from sievert.session import Steps, no_progress
from sievert.settings.groups import Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.sources.engine_names import EngineName


def check_policy(
    policy: Place,
    data: Any,
    *,
    fix: bool = False,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
    types: Mapping[str, str] | None = None,
    na: Names = (),
    suppressed: str | Unstated | None = UNSTATED,
    keep_suppressed: bool = False,
    verify: bool = False,
    max_unpacked: str | None = None,
    max_field: str | int | None = "1MB",
    max_columns: int = 10000,
    engine: EngineName | None = None,
    master: str | None = None,
    memory: str | None = None,
    threads: int | None = None,
    timeout: float | None = None,
    temp: Place | None = None,
    watch: Steps = no_progress,
) -> PolicyCheck:
    r"""Say what a policy file lacks for a table, and write it into the file as comments.

    Parameters
    ----------
    policy
        The TOML file.
    data
        The table, as for `assess`.
    fix
        Whether to write what is lacking into the file, as comments with suggestions. They
        change nothing: no column gets a role and no limit is changed until somebody has
        decided.
    delimiter
        The character between columns; found from the header unless given.
    encoding
        The text encoding of a CSV file.
    header
        Whether the first line has the names of the columns. Without names they are called
        column1, column2, ...
    types
        By column "int", "float", "date" or "text". Every CSV column is text unless typed: 01234
        is not 1234.
    na
        Texts that stand for a missing value, such as "NA".
    suppressed
        The mark of suppressed records, which have it in every quasi-identifier: "*" unless
        given here or listed in [reading] of the policy; None names missing values. Such records
        are counted apart.
    keep_suppressed
        Count suppressed records as any other.
    verify
        Check Parquet's page checksums and note the file's SHA-256.
    max_unpacked
        How large compressed data may become; 100 times its size and at most 20GB unless given.
    max_field
        How long a single field of a text file may be.
    max_columns
        How many columns a table may have.
    engine
        What counts: "duckdb", "spark" or "postgres"; duckdb unless the data are elsewhere.
    master
        With `engine` spark: the cluster, such as spark://host:7077; local[*] unless given.
    memory
        The most memory for data, such as "4GB": the engine spills to disk before.
    threads
        The most threads the engine may use.
    timeout
        The most seconds the run may take.
    temp
        Where the private temporary directory is made.
    watch
        Is told of every step: its name, and how far it is.
    """
    settings = PolicyCheckSettings(
        policy=policy,
        data=data,
        fix=fix,
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        types=types,
        na=na,
        suppressed=suppressed,
        keep_suppressed=keep_suppressed,
        verify=verify,
        max_unpacked=max_unpacked,
        max_field=max_field,
        max_columns=max_columns,
        engine=engine,
        master=master,
        memory=memory,
        threads=threads,
        timeout=timeout,
        temp=temp,
    )
    return run(settings, watch)
