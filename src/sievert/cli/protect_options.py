"""Options of `sievert protect`: how a release is made, and what it is put beside."""

# Annotations are not deferred here: options are read from them.
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from sievert.cli.options import Names, Options, pairs, typed_names
from sievert.cli.parameters import Traits
from sievert.errors import UsageError, require
from sievert.formatting.loss_names import LOSSES

HOW = ("full", "local", "suppress", "microaggregate", "noise", "round", "pram", "anatomy", "sample")
GROUPINGS = ("mdav", "v-mdav", "projection")
SEVERAL_LEVELS = re.compile(r"[^=,]+=\d+(,[^=,]+=\d+)+")


def _numbers_of_columns(given: list[str] | None, option: str, example: str) -> dict[str, float]:
    """COLUMN=NUMBER, as often as it was given."""
    try:
        return {c: float(n) for c, n in pairs(given, option, example).items()}
    except ValueError:
        raise UsageError(f"{option} takes COLUMN=NUMBER", hint=f"{option} {example}") from None


@dataclass(frozen=True)
class ProtectOptions(Options):
    """How the release is made.

    Attributes
    ----------
    how
        The method, as [protect] in the policy says unless given; full without it, which recodes
        whole columns.
    suppress
        The largest share of records that may be suppressed, as [protect] in the policy or its limit
        on suppressed_records says unless given; 0.02 without them.
    loss
        What is minimised: generalization_loss (its geometric form, as in ARX), arithmetic_loss,
        certainty_penalty, entropy, discernability, or bits told about the first secret.
    column_weight
        COLUMN=NUMBER: how much a quasi-identifier counts in the loss; 1 unless given.
    levels
        A recoding that is given: the manifest of an earlier release, with its hierarchies, or
        COLUMN=LEVEL,... where columns that are not named stay as they are.
    keep
        Other columns that the release holds.
    suppressed_rows
        What becomes of suppressed records: keep their rows, with * in every quasi-identifier, drop
        them, or auto, which keeps them where they meet the limits as a class of their own. They
        count as suppressed in any case.
    drop
        The same as --suppressed-rows drop.
    keep_order
        Write the records in the order of the table, which can give values back; without it their
        order tells nothing.
    seconds
        Stop the search after so many seconds; the result tells how much better it could be.
    labels
        Of local recoding: hierarchy, or sets of values and intervals.
    importance
        COLUMN=NUMBER: how much a column is worth when cells are suppressed; 1 unless given.
    group
        The least records of a group: for microaggregation the policy's k unless given, for anatomy
        its l.
    amount
        Noise: its standard deviation, in those of the column. PRAM: the share of values that
        change.
    fraction
        Samples: the share of the records.
    base
        COLUMN=NUMBER: round a column to multiples of a number.
    grouping
        Microaggregation: mdav, v-mdav (groups of k to 2k - 1), or projection (in the order of the
        first principal component).
    gamma
        V-MDAV: how readily groups grow; 0.2 for scattered records, 1.1 for clustered ones.
    correlated
        Noise with the covariances of the columns, which stay as they are on average.
    unbiased
        Round up or down by chance, so that numbers stay as they are on average.
    seed
        Where drawing starts.
    population_size
        The table is a sample of so many people: for a limit on population_uniques.
    """

    heading = "Release"

    how: Annotated[str | None, Traits(choices=HOW)] = None
    suppress: float | None = None
    loss: Annotated[str, Traits(choices=LOSSES)] = "generalization_loss"
    column_weight: list[str] | None = None
    levels: list[str] | None = None
    keep: Names = None
    suppressed_rows: Annotated[str, Traits(choices=("keep", "drop", "auto"))] = "auto"
    drop: bool = False
    keep_order: bool = False
    seconds: float | None = None
    labels: Annotated[str, Traits(choices=("hierarchy", "sets"))] = "hierarchy"
    importance: list[str] | None = None
    group: int | None = None
    amount: float | None = None
    fraction: float | None = None
    base: list[str] | None = None
    grouping: Annotated[str, Traits(choices=GROUPINGS)] = "mdav"
    gamma: float = 0.2
    correlated: bool = False
    unbiased: bool = False
    seed: int = 0
    population_size: int | None = None

    def arguments(self) -> dict[str, Any]:
        given = [
            level
            for levels in self.levels or ()
            for level in (levels.split(",") if SEVERAL_LEVELS.fullmatch(levels) else [levels])
        ]
        manifest = given[0] if len(given) == 1 and "=" not in given[0] else None
        levels = {} if manifest else pairs(given, "--levels", "age=2")
        require(
            all(n.isdecimal() for n in levels.values()),
            "--levels takes COLUMN=LEVEL, a whole number",
            hint="--levels age=2",
        )
        return {
            **{name: value for name, value in vars(self).items() if name != "column_weight"},
            "weights": _numbers_of_columns(self.column_weight, "--column-weight", "age=2"),
            "levels": manifest or {c: int(n) for c, n in levels.items()} or None,
            "keep": typed_names(self.keep) or (),
            "importance": _numbers_of_columns(self.importance, "--importance", "age=2"),
            "base": _numbers_of_columns(self.base, "--base", "income=100"),
        }


@dataclass(frozen=True)
class BesidesOptions(Options):
    """What the release is put beside.

    Attributes
    ----------
    frontier
        Go through all combinations of levels, and list those that no other is better than in what
        they disclose and in what they have lost, beside the least that any release could disclose.
    beside
        With --frontier: a release of this table that is put beside the recodings. May be repeated.
    earlier
        A release of the same people that is out already: whoever has both files must not tell apart
        fewer people than k. May be repeated.
    key
        With --earlier: the column, in all tables, that tells people apart.
    """

    heading = "Release"

    frontier: bool = False
    beside: list[Path] | None = None
    earlier: list[Path] | None = None
    key: str | None = None

    def arguments(self) -> dict[str, Any]:
        return {**vars(self), "beside": self.beside or (), "earlier": self.earlier or ()}
