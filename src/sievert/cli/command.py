"""One call of a command: what all commands that analyse a table do with their options."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from sievert.cli.messages import say
from sievert.cli.options import (
    EngineOptions,
    GateOptions,
    OutputOptions,
    PageOptions,
    ReadingOptions,
    RoleOptions,
)
from sievert.cli.parameters import STDIN, TableName, parameters
from sievert.errors import NOT_SHAREABLE, require


@dataclass(frozen=True)
class Command:
    """One call of a command, with the options that all of them have."""

    name: str
    roles: RoleOptions
    reading: ReadingOptions
    output: OutputOptions
    page: PageOptions
    engine: EngineOptions
    charts: Path | None
    gate: GateOptions = GateOptions()

    def check_tables(self, *tables: TableName | None) -> list[str]:
        """The tables; standard input holds one of them only."""
        if self.output.share:
            self._check_sharing()
        given = [str(t) for t in tables if t is not None]
        require(
            given.count(STDIN) <= 1, "standard input holds one table", hint="files for the others"
        )
        return given

    def _check_sharing(self) -> None:
        """Nothing is shareable of a command that gives no verdict, nor of its charts."""
        if self.name not in ("assess", "compare"):
            raise NOT_SHAREABLE[self.name]
        if self.charts is not None:
            raise NOT_SHAREABLE["charts"]
        if self.name == "compare" and self.roles.policy is None:
            raise NOT_SHAREABLE["compare"]

    def check_roles(self) -> dict[str, Any]:
        """The roles as the library takes them; some options go with other commands only."""
        roles = self.roles.arguments()
        require(
            self.name == "assess" or not roles.pop("parameters"),
            "--alpha-value goes with assess",
            hint="--value COL=VALUE" if self.name == "attack" else None,
        )
        require(
            self.name not in ("compromise", "ledger", "sketch", "synthetic")
            or not roles.pop("hierarchies"),
            "--hierarchy goes with assess, explain and compare",
        )
        return roles

    def run(
        self,
        tables: list[str],
        *arguments: Any,
        function: str | None = None,
        inputs: Iterable[Any] = (),
        files: Iterable[Path | None] = (),
        announced: bool = False,
        **options: Any,
    ) -> int:
        """Call the command's function in the library, and write and print what it returns."""
        from sievert.cli.outputs import Outputs
        from sievert.cli.progress import Watch

        output, roles = self.output, self.check_roles()
        self.gate.check_policy(self.roles.policy)
        every = [*tables, *self.roles.files, *inputs]
        outputs = Outputs(output, self.page, every, *files, charts_to=self.charts, gate=self.gate)
        api = import_module(f"sievert.commands.{self.name}.api")
        with Watch() as watch:
            result = getattr(api, function or self.name)(
                *arguments,
                watch=watch,
                **options,
                **roles,
                **self.reading.arguments(),
                **self.engine.arguments(),
            )
            code = 0 if getattr(result, "passed", True) else 1
            if output.share:
                min_cell = 10 if output.min_cell is None else output.min_cell
                result = result.share(min_cell=min_cell, mask_names=output.mask_names)
        if announced:
            outputs.announce_tables()
        line = ""
        if self.name == "assess" and not output.share and not result.key_sets:
            line = self._release_command(result, tables[0], options["population_size"])
        from sievert.report.builder import ResultPages
        from sievert.report.parts import ResultContent

        pages = ResultPages(ResultContent(result), output.language, line)
        charts = getattr(result, "charts", lambda: _assessment_charts(result))
        outputs.write(pages, lambda: pages.pictures() or charts())
        outputs.write_limits(pages.result, self.roles.policy)
        if output.json_ != "-":
            from sievert.report import terminal

            say(terminal.for_stdout(pages.screen(), everything=output.all_))
        return code

    def _release_command(self, assessment: Any, table: str, people: int | None) -> str:
        """The command that makes the best release, to be run where this one was; none: empty."""
        ways = [] if assessment.options is None else assessment.options.to_dict()["ways"]
        if not ways:
            return ""
        from sievert.cli.parser import function_of, spell
        from sievert.report.what_would_help import best_way

        if "levels" not in best_way(ways):
            return ""
        options = {
            **{("roles", field): value for field, value in vars(self.roles).items()},
            **{("reading", field): value for field, value in vars(self.reading).items()},
            **{("engine", field): value for field, value in vars(self.engine).items()},
            ("roles", "alpha_value"): None,  # for assess only
            ("making", "population_size"): people,
            ("output", "language"): self.output.language,
            ("release", ""): _release_name(table),
        }
        values = {
            p: value
            for p in parameters(function_of("protect"))
            if (value := options.get((p.argument, p.field), p.default)) != p.default
        }
        return spell("sievert protect", [table], values)


def _release_name(table: str) -> str:
    """The file of a release of a table, which is no table that is there.

    >>> _release_name("data/adult.csv.gz"), _release_name("release.csv"), _release_name("-")
    ('adult_release.csv', 'new_release.csv', 'release.csv')
    """
    name = Path(table).name.partition(".")[0]
    if name == "release":
        return "new_release.csv"
    return f"{name}_release.csv" if re.fullmatch(r"\w[\w-]*", name) else "release.csv"


def _assessment_charts(assessment: Any) -> dict[str, Any]:
    from sievert.charts import of_approximate, of_attacks, of_sizes

    sizes = of_sizes(assessment.table.get("class_sizes", ()))
    attacks = of_attacks({"": assessment.attacks or {}})
    return sizes | attacks | of_approximate(assessment.approximate)
