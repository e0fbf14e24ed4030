"""The options of `hierarchies`."""

from dataclasses import dataclass
from typing import Any, ClassVar

from sievert.errors import require
from sievert.settings.command import PageCommand
from sievert.settings.groups import Place
from sievert.settings.option import option
from sievert.settings.readers import PATH, TABLE


@dataclass(frozen=True, kw_only=True)
class HierarchiesSettings(PageCommand):
    """Propose a hierarchy for every quasi-identifier, with the reason: how it can become
    coarser.
    """

    reference: ClassVar[
        str
    ] = """Propose a hierarchy for every quasi-identifier, by what its values look like.

    Hierarchies that are there already, as [hierarchies] of the policy, are checked against the
    values and kept.

    >>> table = {"age": [str(n % 63 + 18) for n in range(200)], "sex": ["f", "m"] * 100}
    >>> print(propose_hierarchies(table, ["age", "sex"]).toml().strip())
    [hierarchies]
    "age" = "interval:5,10,20,40"  # 63 different numbers
    "sex" = "*"  # 2 different values
    """
    in_order: ClassVar[tuple[str, ...]] = ("data", "quasi", "sensitive", "identifier")

    data: Any = option(
        "The table, as for assess. Hierarchies that are given are checked and kept.",
        in_python="The table: a path, a frame, a dict of lists.",
        reader=TABLE,
        place=True,
        reads=True,
    )
    out: Place | None = option(
        "Write them to this TOML file, to edit: [hierarchies] of a policy, or --hierarchy FILE.",
        in_python="Write them to this TOML file, as [hierarchies] of a policy.",
        default=None,
        heading="Output",
        flags=("--out", "-o"),
        reader=PATH,
        writes=True,
    )
    fix: bool = option(
        "With -o: write them so that other data get the same labels. Quantiles become cuts; the "
        "most frequent values and groups of an order are written with their values.",
        in_python="Write them so that other data get the same labels: cuts instead of quantiles, "
        "and the values themselves for the most frequent ones and for groups of an order.",
        default=False,
        heading="Output",
    )
    show_values: bool = option(
        "Let explain and attacks name values of the data, and --debug messages that contain them.",
        default=False,
        side="command line",
    )

    @property
    def is_announced(self) -> bool:
        """Tell that the file that was written is named on stderr."""
        return True

    def check(self) -> None:
        """Refuse to fix hierarchies that are not written."""
        require(not self.fix or self.out is not None, "--fix goes with -o FILE")
