"""What a method that changes records is given, and what it returns; the methods by their names.

Full-domain recoding is not among them: it is searched over combinations (`run`), not over records.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.commands.protect.microaggregation import GAMMA
from sievert.errors import require
from sievert.formatting.remarks import Remark
from sievert.hierarchies import Hierarchy
from sievert.measurement.table_measures import MeasureSettings
from sievert.policy import Policy
from sievert.releases.files import FileColumn
from sievert.request.requested import check_known
from sievert.roles import Roles

# The function of each method, in a module of this folder.
METHODS = {
    "local": "local.recode",
    "suppress": "local.suppress_cells",
    "microaggregate": "microaggregate.make",
    "noise": "number_columns.add_noise",
    "round": "number_columns.round_numbers",
    "pram": "pram.make",
    "anatomy": "anatomy.make",
    "sample": "method.sample",
}
HOW = ("full", *METHODS)
# Those that suppress no record, minimise nothing, and need no hierarchy of every column.
PLAIN = {"microaggregate", "noise", "round", "pram", "anatomy", "sample"}
SAMPLE = 0x5A3D1E11  # tells the random numbers of samples from those of other methods
# The settings that only some methods read.
SETTINGS_OF = {
    "labels": ("local",),
    "importance": ("suppress",),
    "group": ("microaggregate", "anatomy"),
    "amount": ("noise", "pram"),
    "fraction": ("sample",),
    "base": ("round",),
    "grouping": ("microaggregate",),
    "gamma": ("microaggregate",),
    "correlated": ("noise",),
    "unbiased": ("round",),
}


@dataclass(frozen=True)
class MethodSettings:
    """What a caller may say about how a release is made; each method reads what it needs."""

    suppress: float = 0.0  # the largest share of records that may be suppressed
    loss: str = "generalization_loss"
    weights: Mapping[str, float] = field(default_factory=dict)  # of columns, in the loss
    seed: int = 0
    labels: str = "hierarchy"  # of local recoding; or "sets"
    importance: Mapping[str, float] = field(default_factory=dict)  # of columns, for suppression
    group: int | None = None  # records of a group, for microaggregation and anatomy
    amount: float | None = None  # of noise, in standard deviations; share changed, for pram
    fraction: float | None = None  # of the records, for samples
    base: Mapping[str, float] = field(default_factory=dict)  # per column, for rounding
    grouping: str = "mdav"  # of microaggregation
    gamma: float = GAMMA  # of V-MDAV
    correlated: bool = False  # noise with the covariances of the columns
    unbiased: bool = False  # rounding that is right on average

    def check_read_by(self, how: str) -> None:
        """Refuse what the method would not read."""
        for name, readers in SETTINGS_OF.items():
            require(
                how in readers or getattr(self, name) == getattr(MethodSettings(), name),
                f"--{name} is not read by --how {how}",
                hint=" or ".join(f"--how {reader}" for reader in readers),
            )


@dataclass(frozen=True, eq=False)
class RecordTable:
    """The columns of a release before anything is done to them, a value per record in order."""

    columns: Mapping[str, FileColumn]  # in the order of the input; also those of `keep`
    roles: Roles
    policy: Policy
    measuring: MeasureSettings  # hierarchies and orders that were given
    hierarchies: Mapping[str, Hierarchy | None]  # of quasi-identifiers, given or proposed

    @property
    def records(self) -> int:
        """The number of records."""
        return len(next(iter(self.columns.values())).codes)

    def present_texts(self, name: str) -> list[str | None]:
        """The different values of a column."""
        column = self.columns[name]
        return list(dict.fromkeys(column.texts[code] for code in np.unique(column.codes)))


@dataclass(frozen=True, eq=False)
class RecordRelease:
    """What a method returns: changed columns, and what can be said about them.

    `holds` tells that the method itself holds every limit of the policy: then a release that
    breaches one is a fault of the program, and not an answer.
    """

    columns: Mapping[str, FileColumn]  # those that changed, and new ones
    loss: Mapping[str, Any]  # as in the JSON
    details: Mapping[str, Any]  # what the method did, in numbers; no value of the data
    suppressed: Bools  # which records have * in every quasi-identifier
    chosen: Ints | None = None  # the records that are released, in their order; all unless given
    holds: bool = False
    notes: Sequence[Remark] = ()
    secrets: Sequence[FileColumn] = ()  # a second table: a group, and the secrets of its records
    minimised: str | None = None  # the loss that the method looks at

    @property
    def suppressed_records(self) -> int:
        """How many records of the release are suppressed."""
        return int(self.gone.sum())

    @property
    def gone(self) -> Bools:
        """Which records of the release are suppressed."""
        return self.suppressed if self.chosen is None else self.suppressed[self.chosen]


def check_weights(option: str, weights: Mapping[str, float], quasi: Sequence[str]) -> None:
    """Refuse weights of columns that are no quasi-identifiers, or that are not positive."""
    for name, weight in weights.items():
        check_known(f"{option}: quasi-identifier", name, quasi)
        require(0 < weight < math.inf, f"{option}: that of {name!r} is not positive")


def seed_remark(seed: int) -> Remark:
    """What the reader should know of a release that can be worked back with its seed."""
    return Remark("manifest_seed") if seed else Remark("public_seed_method")


def method(how: str) -> Callable[[RecordTable, MethodSettings], RecordRelease]:
    """The function that makes a release by a method."""
    module, _, name = METHODS[how].partition(".")
    function: Callable[[RecordTable, MethodSettings], RecordRelease] = getattr(
        import_module(f"sievert.commands.protect.{module}"), name
    )
    return function


def sample(table: RecordTable, settings: MethodSettings) -> RecordRelease:
    """Every record is as likely to be released as any other; their order stays."""
    fraction = settings.fraction or 0.0
    require(
        0 < fraction <= 1,
        "a sample needs its share of the records, above 0 and at most 1",
        hint="--fraction 0.1",
    )
    size = round(fraction * table.records)
    require(size > 0, "a sample without records", hint="a larger --fraction")
    return RecordRelease(
        {},
        {"records": 1 - size / table.records},
        {"fraction": fraction, "records": size},
        np.zeros(table.records, dtype=bool),
        np.sort(np.random.default_rng((settings.seed, SAMPLE)).permutation(table.records)[:size]),
    )
