"""A table inside Postgres: every measure, against the bare count of its cells there."""

from __future__ import annotations

import statistics

from bench.common import (
    BenchError,
    Options,
    Ratio,
    Result,
    digits,
    interleave,
    table,
)

ROWS, QUICK_ROWS = 10**7, 10**5
QUASI = ["age", "sex", "zip", "marital"]
MAKE = """CREATE TABLE people AS SELECT (i * 7919 % 90)::int AS age, (i / 90 % 2)::int AS sex,
(hashint8(i) & 63)::int AS zip, 'm' || (hashint8(i * 7) & 3) AS marital,
'd' || least(hashint8(i * 13) & 15, hashint8(i * 29) & 31) AS disease
FROM generate_series(1, {rows}::bigint) AS t(i)"""


def run(options: Options) -> Result:
    """Start a private server, fill a table, measure, stop it."""
    try:
        from tests.helpers.postgresserver import LACKING, Server, binaries
    except ImportError as error:
        raise BenchError(f"not without {error.name}") from None
    import sievert

    programs = binaries()
    if programs is None:
        raise BenchError(LACKING)
    rows = QUICK_ROWS if options.quick else ROWS
    server = Server(programs)
    try:
        server.admin.execute(MAKE.format(rows=rows))  # type: ignore[call-overload]
        server.admin.execute("VACUUM ANALYZE people")
        columns = ", ".join([*QUASI, "disease"])
        bare = f"SELECT {columns}, count(*) FROM people GROUP BY {columns}"
        found: list[sievert.Assessment] = []
        samples = interleave(
            {
                "sievert, every measure": lambda: found.append(
                    sievert.assess(server.url("people"), QUASI, ["disease"])
                ),
                "Postgres, bare count": lambda: server.admin.execute(bare).fetchall(),  # type: ignore[call-overload]
            },
            options.rounds or 3,
        )
    finally:
        server.stop()
    walls = {name: [s.wall for s in taken] for name, taken in samples.items()}
    print(
        table(
            ("", "wall s (median)"),
            [(name, digits(statistics.median(w))) for name, w in walls.items()],
        )
    )
    ratio = Ratio.of(walls["sievert, every measure"], walls["Postgres, bare count"])
    print(
        f"\nRATIO {rows:,} records in {found[-1].reidentification['classes'].value:,} classes: "
        f"{digits(ratio.median)} times the bare count ({digits(ratio.least)}"
        f"-{digits(ratio.greatest)})"
    )
    return {"rows": rows, "samples": samples, "ratio": ratio}
