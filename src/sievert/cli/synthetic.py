"""The command `synthetic`: its options, and the call of its function."""

# Annotations are not deferred here: options are read from them.
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from sievert.cli.function_command import FunctionCall
from sievert.cli.options import (
    EngineOptions,
    GateOptions,
    Options,
    OutputOptions,
    PageOptions,
    ReadingOptions,
    RoleOptions,
)
from sievert.cli.parameters import TableName, Traits
from sievert.errors import require


@dataclass(frozen=True)
class SyntheticOptions(Options):
    """What attackers of a synthetic table have, and whom they are held against.

    Attributes
    ----------
    control
        People drawn together with the original and kept from the generator: without them there are
        rates and no risk.
    split
        A,B:C,D: columns that are known in one place, and in another; are they brought together?
    """

    heading = "Attacks"

    control: TableName | None = None
    split: str | None = None

    def arguments(self) -> dict[str, Any]:
        halves = None
        if self.split is not None:
            parts = self.split.split(":")
            require(
                len(parts) == 2 and all(parts),
                "--split takes two sets of columns",
                hint="--split age,sex:town,job",
            )
            halves = tuple(tuple(part.split(",")) for part in parts)
        return {"control": self.control, "split": halves}


def synthetic(
    original: TableName,
    /,
    *tables: TableName,
    roles: RoleOptions = RoleOptions(),
    attacker: SyntheticOptions = SyntheticOptions(),
    records: Annotated[Path | None, Traits(heading="Output")] = None,
    reading: ReadingOptions = ReadingOptions(),
    output: OutputOptions = OutputOptions(),
    gate: GateOptions = GateOptions(),
    page: PageOptions = PageOptions(),
    engine: EngineOptions = EngineOptions(),
) -> int:
    """Attack synthetic tables, and hold what their people suffer against strangers.

    Rows are not paired with those of the original. -q names what an attacker knows (all other
    columns unless given), -s what is inferred (all unless given). A --policy may limit any number:
    [limits.synthetic.copies] risk = { max = 0.05 }.

    Parameters
    ----------
    original
        The table that the generator was trained on; as for assess.
    tables
        One or several synthetic tables, with the same names of columns.
    records
        Write one row a person of the original, with the score of every attack, to this .csv or
        .parquet file.
    """
    command = FunctionCall("synthetic", roles, reading, output, page, engine, None, gate)
    require(tables, "no synthetic table given", hint="sievert synthetic ORIGINAL SYNTHETIC")
    why = "--show-values goes with explain and attacks: nothing here names values"
    require(not output.show_values, why)
    return command.run(
        command.check_tables(original, *tables, attacker.control),
        original,
        list(tables),
        files=[records],
        records=records,
        force=output.force,
        **attacker.arguments(),
    )
