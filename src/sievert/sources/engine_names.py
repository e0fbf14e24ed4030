"""The engines that count tables, for types and the command line; by `make generate`.

They are registered in `counts.engines`.
"""

from typing import Literal

EngineName = Literal["duckdb", "spark", "postgres"]
