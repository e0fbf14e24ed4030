"""The options of `limit`, and what may not be combined."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from sievert.errors import UsageError, require
from sievert.files import pairing_beside
from sievert.releases.choices import (
    IDENTITY,
    MOST,
    REVERSE,
    AlphabetKind,
    ModelName,
    check_at,
    known_model,
)
from sievert.settings.checks import check_whole
from sievert.settings.command import PageCommand
from sievert.settings.groups import Place
from sievert.settings.option import option
from sievert.settings.readers import NUMBERS, PATH, TABLE

USUAL_AT = 0.1
CHART_POINTS = 20  # of a curve that is drawn, unless the user gives a number
MOST_POINTS = 200


@dataclass(frozen=True, kw_only=True)
class LimitSettings(PageCommand):
    """Say how little a release could disclose at best, and release records that do."""

    heading: ClassVar[str] = "Limit"
    reference: ClassVar[
        str
    ] = """Find the best channel of a table's quasi-identifiers, and release records drawn from it.

    >>> table = {"job": ["a", "a", "b", "b"] * 50, "ill": ["yes", "no", "no", "no"] * 50}
    >>> found = randomise(table, "job", "ill", at=0.25)
    >>> round(found.points[0].distortion, 3), found.parts[0].promise.risk < 0.12
    (0.25, True)
    """
    in_order: ClassVar[tuple[str, ...]] = ("data", "quasi", "sensitive", "identifier")

    data: Any = option(
        "The original table, as for assess. -q names the columns that are randomised, -s the "
        "secret (several count as one), -i columns that are not released.",
        in_python="The original table: a path, a frame, a dict of lists. The columns `quasi` are "
        "randomised; several columns `sensitive` count as one secret, their combination; the "
        "columns `identifier` are not released.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    model: int | ModelName = option(
        "1: least disclosed at a distortion; 2: least distortion at so many bits disclosed; 3: "
        "least told of who is who at a loss; 4: least loss at so many bits told of who is who; "
        "funnel: least disclosed with so many bits kept; identity, identity-reverse: 1 and 2, of "
        "the values themselves.",
        default=1,
    )
    at: float | Sequence[float] | None = option(
        "The constraint: a distortion (models 1, identity) or bits; 0.05,0.1,0.2 for several.",
        in_python="The constraint of the model (see `limit`), or several; a release needs one. "
        "Without any it is 0.1, and a remark says so.",
        default=None,
        reader=NUMBERS,
    )
    distortion: Place = option(
        "hamming, squared, absolute (numbers as shares of their range), or a CSV file of distances "
        "of one column: released values in the first line, each value before its distances.",
        in_python='"hamming", "squared" or "absolute" (numbers as shares of their column\'s '
        "range), or a CSV file of distances for one column; columns with a hierarchy go by their "
        "lowest common label. Over several columns it is the mean.",
        default="hamming",
        reads=True,
    )
    alphabet: AlphabetKind = option(
        "joint: all combinations together; columns: a channel for each column; merged: rare "
        "combinations as the nearest frequent ones; auto: joint while there are at most --most.",
        in_python='"joint": all combinations as one alphabet; "columns": a channel for each '
        'column; "merged": rare combinations as the nearest of the `most` frequent ones; "auto": '
        "joint up to `most` combinations, columns beyond.",
        default="auto",
    )
    most: int = option("The most combinations of one alphabet.", default=MOST)
    occurring: bool = option(
        "Release only combinations that occur in the table.",
        in_python="Release only combinations that occur; else all combinations of values, while "
        "these are at most `most`.",
        default=False,
    )
    reduced: int | None = option(
        "Release only so many combinations, chosen to be near all.", default=None
    )
    gaussian: bool = option(
        "Columns of real numbers, taken as Gaussian after a check of how Gaussian they are.",
        in_python="Columns of real numbers, taken as Gaussian after a check of how Gaussian they "
        "are. The distortion is the squared difference as a share of the variance.",
        default=False,
    )
    points: int = option(
        "So many points of the whole curve besides; 20 for charts unless given.",
        in_python="Besides `at`, so many points of the whole curve.",
        default=0,
    )
    gap: float | None = option(
        "When a channel is good enough: bits (of model 2: distortion) it may be from the bound.",
        default=None,
    )
    seconds: float | None = option(
        "Stop looking after so many seconds a curve; the release then depends on the machine.",
        default=None,
    )
    seed: int = option("Where drawing starts.", default=0)
    out: Place | None = option(
        "Write records drawn from the best channel to this .csv or .parquet file, all columns in "
        "their order.",
        in_python="Write the release (CSV or Parquet, all columns). The order of its rows tells "
        "nothing; a private file, `<out>.pairing.parquet`, pairs them with the table's.",
        default=None,
        heading="Output",
        flags=("--release", "-o"),
        reader=PATH,
    )
    matrix: Place | None = option(
        "Write the channel, which names values, to this .csv file.",
        default=None,
        heading="Output",
        reader=PATH,
    )
    charts: Path | None = option(
        "Draw the curve, as SVG files in this directory.",
        default=None,
        heading="Output",
        side="command line",
    )

    @property
    def solved_model(self) -> int | str:
        """The model as the library calls it: 1, or "identity reverse"."""
        return known_model(self.model)

    @property
    def is_of_identity(self) -> bool:
        """Tell whether the quasi-identifiers themselves are the secret."""
        return self.solved_model in (IDENTITY, REVERSE)

    @property
    def constraints(self) -> tuple[float, ...]:
        """The constraints of the model, each once, in ascending order."""
        at = USUAL_AT if self.at is None else self.at
        try:
            numbers = [float(at)] if isinstance(at, int | float) else [float(a) for a in at]
        except (TypeError, ValueError):
            raise UsageError("at: a number, or a list of numbers", hint="at=0.1") from None
        check_at(numbers)
        return tuple(sorted(set(numbers)))

    @property
    def is_about_values(self) -> bool:
        """Tell whether an option is given that goes with values one by one."""
        usual = LimitSettings(data=None)
        return (
            bool(self.hierarchies)
            or self.distortion != usual.distortion
            or self.alphabet != usual.alphabet
            or self.occurring != usual.occurring
            or self.reduced != usual.reduced
            or self.most != usual.most
        )

    @property
    def chart_folder(self) -> Path | None:
        """The directory of charts."""
        return self.charts

    @property
    def is_announced(self) -> bool:
        """Tell that the files that were written are named on stderr."""
        return True

    def written_files(self) -> list[Path | None]:
        """List the release, the matrix, and the file that pairs rows with the table's."""
        release = None if self.out is None else Path(self.out)
        return [
            release,
            None if self.matrix is None else Path(self.matrix),
            None if release is None else pairing_beside(release),
        ]

    def as_typed(self) -> Self:
        """Compute points of the curve where it is drawn."""
        drawn = self.charts is not None and not self.points
        return replace(self, points=CHART_POINTS) if drawn else self

    def check_work(self) -> None:
        """Refuse combinations of options, however they were given."""
        require(
            self.missing in ("value", "error"),
            "a missing value is a value of its own",
            hint="--missing value, or error",
        )
        known_model(self.model)
        several = len(self.constraints) > 1
        require(
            not isinstance(self.points, bool)
            and isinstance(self.points, int)
            and 0 <= self.points <= MOST_POINTS,
            f"--points must be from 0 to {MOST_POINTS}",
        )
        check_whole("--seed", self.seed, 0)
        require(
            not several or (self.out is None and self.matrix is None),
            "a release and its matrix need one constraint",
            hint="--at 0.1",
        )
        require(
            not self.gaussian or self.matrix is None,
            "a Gaussian channel has no matrix of values",
            hint="without --matrix",
        )

    def check_outputs(self) -> None:
        """Refuse one name for the release and for the matrix."""
        require(
            self.out is None
            or self.matrix is None
            or Path(self.out).resolve() != Path(self.matrix).resolve(),
            "two outputs have the same name",
        )
