"""The interface of methods that change records: what a method takes, and what it returns.

Full-domain recoding is not such a method: it is searched over combinations (`protection`), not over
records.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.commands.protect.settings import METHODS, How, ProtectSettings
from sievert.errors import require
from sievert.formatting.remarks import Remark
from sievert.hierarchies import Hierarchy
from sievert.measurement.table_measures import MeasureSettings
from sievert.policy import Policy
from sievert.releases.files import FileColumn
from sievert.request.requested import check_known
from sievert.roles import Roles

SAMPLE = 0x5A3D1E11  # tells the random numbers of samples from those of other methods


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordTable:
    """The columns of a table before a method changes them: a value per record, in order."""

    columns: Mapping[str, FileColumn]  # in the order of the input; also those of `keep`
    roles: Roles
    policy: Policy
    measuring: MeasureSettings  # hierarchies and orders that were given
    hierarchies: Mapping[str, Hierarchy | None]  # of quasi-identifiers, given or proposed
    suppress: float  # the largest share of records that may be suppressed
    # Searches for the levels of the full-domain release that meets the policy; None without one.
    full_domain: Callable[[], Mapping[str, int] | None]

    @property
    def records(self) -> int:
        """The number of records."""
        return len(next(iter(self.columns.values())).codes)

    def present_texts(self, name: str) -> list[str | None]:
        """The different values of a column."""
        column = self.columns[name]
        return list(dict.fromkeys(column.texts[code] for code in np.unique(column.codes)))


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordRelease:
    """What a method returns: the changed columns, their loss, and details.

    With `holds`, the method itself keeps every limit of the policy. A release that breaches one is
    then an error of the program.
    """

    columns: Mapping[str, FileColumn]  # changed and new columns
    loss: Mapping[str, Any]  # the entry of the JSON
    details: Mapping[str, Any]  # numbers about the work of the method; no value of the data
    suppressed: Bools  # which records have * in every quasi-identifier
    chosen: Ints | None = None  # the records that are released, in their order; all unless given
    holds: bool = False
    notes: Sequence[Remark] = ()
    secrets: Sequence[FileColumn] = ()  # a second table: a group, and the secrets of its records
    minimised: str | None = None  # the loss that the method minimises
    # Makes the release to take if this one breaches a limit that the method cannot seek.
    instead: "Callable[[], RecordRelease] | None" = None

    @property
    def suppressed_records(self) -> int:
        """The number of suppressed records in the release."""
        return int(self.gone.sum())

    @property
    def gone(self) -> Bools:
        """Tell which records of the release are suppressed."""
        return self.suppressed if self.chosen is None else self.suppressed[self.chosen]


def check_weights(option: str, weights: Mapping[str, float], quasi: Sequence[str]) -> None:
    """Refuse weights that are not positive, or whose columns are no quasi-identifiers."""
    for name, weight in weights.items():
        check_known(f"{option}: quasi-identifier", name, quasi)
        require(0 < weight < math.inf, f"{option}: that of {name!r} is not positive")


def seed_remark(seed: int) -> Remark:
    """Warn the reader that somebody who knows the seed can reverse the release."""
    return Remark("manifest_seed") if seed else Remark("public_seed_method")


def method(how: How) -> Callable[[RecordTable, ProtectSettings], RecordRelease]:
    """Import the function that makes a release by a method."""
    module, _, name = METHODS[how].function.rpartition(".")
    function: Callable[[RecordTable, ProtectSettings], RecordRelease] = getattr(
        import_module(f"sievert.commands.protect.{module}"), name
    )
    return function


def sample(table: RecordTable, settings: ProtectSettings) -> RecordRelease:
    """Draw records, each with the same chance, and keep their order."""
    fraction = settings.fraction or 0.0
    require(
        0 < fraction <= 1,
        "a sample needs its share of the records, above 0 and at most 1",
        hint="--fraction 0.1",
    )
    size = round(fraction * table.records)
    require(size > 0, "a sample without records", hint="a larger --fraction")
    drawn = np.random.default_rng((settings.seed, SAMPLE)).permutation(table.records)[:size]
    return RecordRelease(
        columns={},
        loss={"records": 1 - size / table.records},
        details={"fraction": fraction, "records": size},
        suppressed=np.zeros(table.records, dtype=bool),
        chosen=np.sort(drawn),
    )
