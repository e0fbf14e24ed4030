"""The engines that count tables: one registration each.

The recipe is in CONTRIBUTING.md, "Add an engine": `make generate` writes the names for `--help`,
completion and types. A database starts from `duckdb.counted_elsewhere`.

An engine is a folder with an adapter (`counts.adapter`) and one entry in this table. Adapters are
imported when a table is opened, because most need packages that not everybody has installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sievert.errors import require, unknown
from sievert.sources.addresses import DATABASES

if TYPE_CHECKING:  # the command line reads this table before numbers are worked with
    from sievert.counts.adapter import Adapter
    from sievert.sources.table import Table


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What is known about an engine before its adapter is imported."""

    name: str
    adapter: str  # the class, as module:class
    owns: Callable[[Any], bool]  # whether data are in this engine already
    reads_files: bool = True  # and frames: it counts data that it does not own
    fetches_addresses: bool = False  # of files that are not on this machine
    own_processes: bool = False  # so that --memory is no limit of this process
    options: tuple[str, ...] = ()  # options of reading that only this engine takes
    state_adapter: str | None = None  # the class that reads count states, if it reads them
    refusal: str = "the engine {engine} does not read this source"  # of its data, by another one
    hint: str | None = None  # which sources go with it

    @property
    def adapter_class(self) -> type[Adapter]:
        """The adapter, with the capabilities of the engine."""
        return _load(self.adapter)

    def open(
        self, table: Table, scratch: Path, *, outputs: Sequence[Path], **options: Any
    ) -> Adapter:
        """Open a table, or a state; `outputs` are files that the engine may write."""
        adapter = self.adapter
        if table.state is not None and self.state_adapter is not None:
            adapter = self.state_adapter
        make: Callable[..., Adapter] = _load(adapter)
        return make(table, scratch, outputs=outputs, **options)


def _load(adapter: str) -> type[Adapter]:
    module, _, name = adapter.partition(":")
    loaded: type[Adapter] = getattr(import_module(module), name)
    return loaded


def _is_spark_frame(data: Any) -> bool:
    return type(data).__module__.startswith("pyspark.")


def _is_postgres_address(data: Any) -> bool:
    return isinstance(data, str) and data.startswith(DATABASES)


def _is_of_no_engine(_data: Any) -> bool:
    return False


DEFAULT = "duckdb"  # counts what no other engine owns
ENGINES: dict[str, Engine] = {}


def register(engine: Engine) -> None:
    """Add an engine."""
    ENGINES[engine.name] = engine


register(
    Engine(
        name=DEFAULT,
        adapter="sievert.counts.duckdb.adapter:DuckDB",
        owns=_is_of_no_engine,
        state_adapter="sievert.counts.state.adapter:StateAdapter",
    )
)
register(
    Engine(
        name="spark",
        adapter="sievert.counts.spark.adapter:Spark",
        owns=_is_spark_frame,
        fetches_addresses=True,
        own_processes=True,
        options=("master",),
        refusal="a Spark frame is counted by the engine spark",
    )
)
register(
    Engine(
        name="postgres",
        adapter="sievert.counts.postgres.adapter:Postgres",
        owns=_is_postgres_address,
        reads_files=False,
        hint="postgresql://host/db?table=NAME goes with the engine postgres",
    )
)


def choose_engine(name: str | None, data: Any) -> Engine:
    """The engine that the user names, or the one that owns the data."""
    owner = next((engine for engine in ENGINES.values() if engine.owns(data)), ENGINES[DEFAULT])
    if name is None:
        return owner
    if name not in ENGINES:
        raise unknown("engine", name, tuple(ENGINES))
    engine = ENGINES[name]
    if engine is owner:
        return engine
    require(
        engine.reads_files,
        f"the engine {name} does not read this source",
        hint=engine.hint,
    )
    require(owner.name == DEFAULT, owner.refusal.format(engine=name), hint=owner.hint)
    return engine


def check_options(engine: Engine, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that only this engine takes; raise an error for those of another engine."""
    for other in ENGINES.values():
        for option in other.options:
            given = options.get(option) is not None
            require(
                not given or option in engine.options,
                f"--{option} goes with --engine {other.name}",
            )
    return {option: options.get(option) for option in engine.options}
