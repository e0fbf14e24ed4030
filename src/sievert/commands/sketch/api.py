"""The public function `sketch`, written from the settings by `make generate`."""

from collections.abc import Iterable, Mapping
from typing import Any

from sievert.commands.sketch.result import SketchEstimates
from sievert.commands.sketch.run import run
from sievert.commands.sketch.settings import SketchSettings
from sievert.session import Steps, no_progress
from sievert.settings.groups import Missing, Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.settings.policy_source import PolicySource
from sievert.sources.engine_names import EngineName


def sketch(
    data: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    person: str | None = None,
    policy: PolicySource = None,
    missing: Missing = "value",
    key_sets: Iterable[str | Iterable[str]] | None = None,
    subsets: int | None = None,
    salt: bytes | Place | None = None,
    size: int = 262144,
    out: Place | None = None,
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
    force: bool = False,
    engine: EngineName | None = None,
    master: str | None = None,
    memory: str | None = None,
    threads: int | None = None,
    timeout: float | None = None,
    temp: Place | None = None,
    watch: Steps = no_progress,
) -> SketchEstimates:
    r"""Sample the classes of a table by their hashes, and estimate how exposed its people are.

    A sketch is small, is made in one pass, and can be merged with those of other tables that have
    the same columns: the bytes are those of the sketch of all of them together.

    Parameters
    ----------
    data
        The table: a path, a frame, a dict of lists. Or a file of sketches, or a list of such
        files, which are merged.
    quasi
        The columns of the key: one name, or several.
    sensitive
        Secrets, which are counted within the classes of the key.
    identifier
        Columns that are never looked at.
    person
        Not defined here: rows are counted, and people with several rows are refused.
    policy
        A `Policy`, a TOML file, or its content as a dict: its roles, where none are given.
    missing
        Always "value": a missing value is a value of its own here.
    key_sets
        In place of `quasi`: several sets of columns, with a sketch each, made in one pass.
    subsets
        The most columns of a set: every set of quasi-identifiers of at most this size has a
        sketch.
    salt
        Secret bytes, or a file of them, without which nobody can tell which class a hash is of.
    size
        Bytes of each sketch, at most.
    out
        Write the sketches to this file.
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
    force
        Replace existing files that sievert has not written.
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

    >>> table = {"zip": ["1", "1", "2", "3"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> found = sketch(table, ["zip"], ["disease"])
    >>> found.keys[0].exact, found.keys[0].estimates.below[2].value
    (True, 0.5)
    """
    settings = SketchSettings(
        data=data,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        person=person,
        policy=policy,
        missing=missing,
        key_sets=key_sets,
        subsets=subsets,
        salt=salt,
        size=size,
        out=out,
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
        force=force,
        engine=engine,
        master=master,
        memory=memory,
        threads=threads,
        timeout=timeout,
        temp=temp,
    )
    return run(settings, watch)
