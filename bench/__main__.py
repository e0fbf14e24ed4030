"""Run benchmarks: ``python -m bench [NAME ...] [--quick] [--rounds N] [--strict]``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence

from bench import (
    cluster,
    compare,
    compromise,
    database,
    experiment,
    grid,
    growth,
    limit,
    linkage,
    overhead,
    people,
    protect,
    pycanon,
    reading,
    reasoning,
    relativerisk,
    releases,
    report,
    scale,
    sketch,
    startup,
    state,
    subsets,
    suda,
    synthetic,
    utility,
    verdicts,
    wide,
    workbench,
)
from bench.common import ROOT, BenchError, Options, Result, save

BENCHMARKS: dict[str, Callable[[Options], Result]] = {
    "startup": startup.run,
    "overhead": overhead.run,
    "reading": reading.run,
    "pycanon": pycanon.run,
    "scale": scale.run,
    "state": state.run,
    "grid": grid.run,
    "database": database.run,
    "cluster": cluster.run,
    "people": people.run,
    "growth": growth.run,
    "subsets": subsets.run,
    "suda": suda.run,
    "linkage": linkage.run,
    "wide": wide.run,
    "compromise": compromise.run,
    "experiment": experiment.run,
    "compare": compare.run,
    "reasoning": reasoning.run,
    "relativerisk": relativerisk.run,
    "limit": limit.run,
    "protect": protect.run,
    "utility": utility.run,
    "report": report.run,
    "sketch": sketch.run,
    "synthetic": synthetic.run,
    "releases": releases.run,
    "verdicts": verdicts.run,
    "workbench": workbench.run,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmarks, or all, one after the other.

    Exit code 1: one could not run, or, with --strict, a goal was missed.
    """
    parser = argparse.ArgumentParser(prog="python -m bench", description="Benchmarks of sievert.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="smaller tables, fewer rounds")
    parser.add_argument("--rounds", type=int, help="turns of each comparison")
    parser.add_argument("--strict", action="store_true", help="exit code 1 if a goal is missed")
    given = parser.parse_args(arguments)
    unknown = sorted(set(given.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    if given.rounds is not None and given.rounds < 1:
        parser.error("--rounds must be at least 1")
    options = Options(quick=given.quick, rounds=given.rounds)
    failed, missed = [], []
    for name in given.names or BENCHMARKS:
        print(f"\n== {name}\n", flush=True)
        start = time.perf_counter()
        try:
            result = BENCHMARKS[name](options)
        except BenchError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed.append(name)
            continue
        if not result.get("goal", {}).get("met", True):
            missed.append(name)
        path = save(name, {**result, "quick": options.quick})
        print(f"({time.perf_counter() - start:.0f} s; kept in {path.relative_to(ROOT)})")
    return 1 if failed or (given.strict and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
