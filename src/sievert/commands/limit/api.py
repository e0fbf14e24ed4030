"""The public function `randomise`, written from the settings by `make generate`."""

from collections.abc import Mapping, Sequence
from typing import Any

from sievert.commands.limit.result import Limited
from sievert.commands.limit.run import run
from sievert.commands.limit.settings import LimitSettings
from sievert.releases.choices import AlphabetKind, ModelName
from sievert.session import Steps, no_progress
from sievert.settings.groups import Missing, Names, Place
from sievert.settings.option import UNSTATED, Unstated
from sievert.settings.policy_source import PolicySource
from sievert.sources.engine_names import EngineName


def randomise(
    data: Any,
    quasi: Names = None,
    sensitive: Names = None,
    identifier: Names = None,
    *,
    model: int | ModelName = 1,
    at: float | Sequence[float] | None = None,
    distortion: Place = "hamming",
    alphabet: AlphabetKind = "auto",
    most: int = 1000,
    occurring: bool = False,
    reduced: int | None = None,
    gaussian: bool = False,
    points: int = 0,
    gap: float | None = None,
    seconds: float | None = None,
    seed: int = 0,
    out: Place | None = None,
    matrix: Place | None = None,
    person: str | None = None,
    policy: PolicySource = None,
    hierarchies: Mapping[str, Any] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
    types: Mapping[str, str] | None = None,
    na: Names = (),
    suppressed: str | Unstated | None = UNSTATED,
    keep_suppressed: bool = False,
    missing: Missing = "value",
    verify: bool = False,
    max_unpacked: str | None = None,
    max_field: str | int | None = "1MB",
    max_columns: int = 10000,
    force: bool = False,
    show_values: bool = False,
    engine: EngineName | None = None,
    master: str | None = None,
    memory: str | None = None,
    threads: int | None = None,
    timeout: float | None = None,
    temp: Place | None = None,
    watch: Steps = no_progress,
) -> Limited:
    r"""Find the best channel of a table's quasi-identifiers, and release records drawn from it.

    Parameters
    ----------
    data
        The original table: a path, a frame, a dict of lists. The columns `quasi` are
        randomised; several columns `sensitive` count as one secret, their combination; the
        columns `identifier` are not released.
    quasi
        Columns that an outsider could know about a person: one name, or several.
    sensitive
        Secrets: one name, or several.
    identifier
        Columns that are dropped before release; never measured.
    model
        1: least disclosed at a distortion; 2: least distortion at so many bits disclosed; 3:
        least told of who is who at a loss; 4: least loss at so many bits told of who is who;
        funnel: least disclosed with so many bits kept; identity, identity-reverse: 1 and 2, of
        the values themselves.
    at
        The constraint of the model (see `limit`), or several; a release needs one. Without any
        it is 0.1, and a remark says so.
    distortion
        "hamming", "squared" or "absolute" (numbers as shares of their column's range), or a CSV
        file of distances for one column; columns with a hierarchy go by their lowest common
        label. Over several columns it is the mean.
    alphabet
        "joint": all combinations as one alphabet; "columns": a channel for each column;
        "merged": rare combinations as the nearest of the `most` frequent ones; "auto": joint up
        to `most` combinations, columns beyond.
    most
        The most combinations of one alphabet.
    occurring
        Release only combinations that occur; else all combinations of values, while these are
        at most `most`.
    reduced
        Release only so many combinations, chosen to be near all.
    gaussian
        Columns of real numbers, taken as Gaussian after a check of how Gaussian they are. The
        distortion is the squared difference as a share of the variance.
    points
        Besides `at`, so many points of the whole curve.
    gap
        When a channel is good enough: bits (of model 2: distortion) it may be from the bound.
    seconds
        Stop looking after so many seconds a curve; the release then depends on the machine.
    seed
        Where drawing starts.
    out
        Write the release (CSV or Parquet, all columns). The order of its rows tells nothing; a
        private file, `<out>.pairing.parquet`, pairs them with the table's.
    matrix
        Write the channel, which names values, to this .csv file.
    person
        The column that tells people apart, where they may have several rows: people are
        counted.
    policy
        A `Policy`, a TOML file, or its content as a dict.
    hierarchies
        How columns were made coarser, or could be: by column a `Hierarchy`, a specification
        such as "interval:5,10" or "date:month,year", a file, or a tree (docs/protect.md has
        every kind). Of secrets: for distances.
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
    missing
        What a missing quasi-identifier is: a "value" of its own, a "wildcard" that matches
        anything, a reason to "drop" the record, or an "error".
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
    show_values
        Name values of the data in the result.
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

    >>> table = {"job": ["a", "a", "b", "b"] * 50, "ill": ["yes", "no", "no", "no"] * 50}
    >>> found = randomise(table, "job", "ill", at=0.25)
    >>> round(found.points[0].distortion, 3), found.parts[0].promise.risk < 0.12
    (0.25, True)
    """
    settings = LimitSettings(
        data=data,
        quasi=quasi,
        sensitive=sensitive,
        identifier=identifier,
        model=model,
        at=at,
        distortion=distortion,
        alphabet=alphabet,
        most=most,
        occurring=occurring,
        reduced=reduced,
        gaussian=gaussian,
        points=points,
        gap=gap,
        seconds=seconds,
        seed=seed,
        out=out,
        matrix=matrix,
        person=person,
        policy=policy,
        hierarchies=hierarchies,
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        types=types,
        na=na,
        suppressed=suppressed,
        keep_suppressed=keep_suppressed,
        missing=missing,
        verify=verify,
        max_unpacked=max_unpacked,
        max_field=max_field,
        max_columns=max_columns,
        force=force,
        show_values=show_values,
        engine=engine,
        master=master,
        memory=memory,
        threads=threads,
        timeout=timeout,
        temp=temp,
    )
    return run(settings, watch)
