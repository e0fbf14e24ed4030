"""Recodings beside ARX: the exact search for a full-domain one, and local ones.

``adult``: Adult with eight and nine columns (where SIEVERT_REFERENCE names the folder that has it).
ARX's CPU seconds are those of ARX 3.9 on a machine like this one, warm, its best of 2 to 12 runs,
its encoding included; ours are from integer codes to the optimum, without compilation, the best of
several runs. ``growth``: generated records of nine columns, 25,920 nodes, from 10^4 to 10^6
combinations; ARX had not finished 1.2x10^6 such records after 221 s. ``local``: local recoding of
Adult with eight columns, nothing suppressed (ARX: the best of three settings), and of the generated
records; the loss is the mean over cells, beside what the same classes would lose if a set could
name a value that a single record has. ``directory``, where SIEVERT_BENCH_RECORDS says how many
records: the whole command on a generated directory of Parquet files, from reading to the check in a
process of its own, with the memory of SIEVERT_BENCH_MEMORY.
"""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from bench.common import (
    BenchError,
    Options,
    Result,
    digits,
    peak_memory,
    scratch,
    table,
    timed,
    verdict,
)
from sievert.commands.protect.local_recoding.columns import LocalColumn
from sievert.commands.protect.local_recoding.labels import column_labels, mean_shares
from sievert.commands.protect.local_recoding.recoding import Pieces, recode_locally
from sievert.hierarchies import Hierarchy
from sievert.methods.full_domain import LevelledColumn, Rule, Search, SecretCells, find_frontier
from sievert.methods.full_domain.frontier import NodeNumbers

EIGHT = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "salary-class",
)  # fmt: skip
NINE = (*EIGHT[:-1], "occupation", EIGHT[-1])
SECRET = "occupation"
# Name, columns, share suppressed, rule, ARX's CPU seconds, how many times faster we must be.
CASES: tuple[tuple[str, tuple[str, ...], float, Rule | None, float, float | None], ...] = (
    ("8 columns, k=5, 0 %", EIGHT, 0.0, None, 0.024, None),
    ("8 columns, k=5, 2 %", EIGHT, 0.02, None, 0.319, 8.0),
    ("8 columns, k=5, 5 %", EIGHT, 0.05, None, 0.288, 8.0),
    ("9 columns, k=5, 2 %", NINE, 0.02, None, 0.81, 6.0),
    ("9 columns, k=5, 5 %", NINE, 0.05, None, 0.96, 6.0),
    ("8, k=5, l=3", EIGHT, 0.02, Rule("distinct", 3), 0.469, 5.0),
    ("8, k=5, entropy l=3", EIGHT, 0.02, Rule("entropy", 3), 0.511, 5.0),
    ("8, k=5, t=0.2", EIGHT, 0.02, Rule("equal_t", 0.2), 0.777, 40.0),
    ("8, k=5, t=0.4", EIGHT, 0.02, Rule("equal_t", 0.4), 0.815, None),
)
FRONTIER_SECONDS, CENSUS_SECONDS, EXPONENT = 0.5, 15.0, 1.15
# ARX's local recoding: CPU seconds and loss. By labels: how many times less must be lost, seconds.
ARX_LOCAL = (0.55, 0.0329)
LOCAL_GOALS = {"hierarchy": (1 / 0.9, 3.0), "sets": (2.5, 1.0)}
LOCAL_SECONDS = 30.0
# Values and levels of the generated columns: 25,920 nodes.
CENSUS = ((80, 5), (60, 4), (40, 4), (16, 3), (12, 3), (9, 3), (7, 3), (2, 2), (2, 2))
K, SHARE = 5, 0.02
PART = 10**7  # records of one file of the directory
RECORD = (
    "CAST(20 + least(hash(i) % 60, hash(i + 1) % 60) AS INTEGER) AS age, "
    "printf('%05d', 10000 + 7 * (hash(i, 2) % 200)) AS zip, "
    "CASE WHEN hash(i, 3) % 2 = 0 THEN 'f' ELSE 'm' END AS sex, "
    "'job ' || (least(hash(i, 4) % 40, hash(i, 5) % 40)) AS job, "
    "'disease ' || (hash(i, 6) % 8) AS disease"
)
RULES = """[roles]
quasi = ["age", "zip", "sex", "job"]
sensitive = ["disease"]
rows_are_people = true
[limits]
k_anonymity = { min = 20 }
[limits.reidentification]
suppressed_records = { max = 1000000000 }
[hierarchies]
age = "interval:5,10,20"
zip = "prefix:4,3,2"
"""


class CodedTable:
    """Columns on their levels, and the combinations that occur."""

    def __init__(self, columns: Sequence[LevelledColumn], codes: Any, secret: Any = None) -> None:
        self.columns, self.records = list(columns), len(codes)
        widths = [max(1, (len(c.tables[0]) - 1).bit_length()) for c in columns]
        keys = np.zeros(len(codes), dtype=np.int64)
        for j, width in enumerate(widths):
            keys = (keys << width) | codes[:, j]
        _, first, inverse, self.counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        self.codes, self.cells = codes[first], None
        if secret is not None:
            values = int(secret.max()) + 1
            pairs, sums = np.unique(inverse.ravel() * values + secret, return_counts=True)
            self.cells = (pairs // values, pairs % values, sums, values)

    def search(
        self, k: int, share: float, rule: Rule | None = None, *, bits: bool = False
    ) -> Search:
        """The search, with the secret if a rule or a loss needs it."""
        secrets = []
        if self.cells is not None and (rule is not None or bits):
            rules = () if rule is None else (rule,)
            combination, value, counts, values = self.cells
            secrets = [
                SecretCells(
                    name=SECRET,
                    combination=combination,
                    value=value,
                    counts=counts,
                    values=values,
                    rules=rules,
                )
            ]
        return Search(
            self.columns, self.codes, self.counts, secrets, k=k,
            suppress=int(share * self.records), secret=SECRET if bits else None,
        )  # fmt: skip


def adult(names: Sequence[str]) -> CodedTable:
    """Adult from its file, with its hierarchies."""
    folder = Path(os.environ["SIEVERT_REFERENCE"]) / "data" / "adult"
    with (folder / "adult.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    columns, codes = [], []
    for name in names:
        texts = sorted({row[name] for row in rows})
        tree = Hierarchy.read(folder / "hierarchies" / f"adult_hierarchy_{name}.csv")
        column, numbers = LevelledColumn.of_values(name, texts, tree)
        number_of = dict(zip(texts, numbers.tolist(), strict=True))
        columns.append(column)
        codes.append([number_of[row[name]] for row in rows])
    jobs = sorted({row[SECRET] for row in rows})
    return CodedTable(columns, np.array(codes).T, np.array([jobs.index(r[SECRET]) for r in rows]))


def census(records: int, seed: int = 1) -> CodedTable:
    """Generated records: frequent values and rare ones, neighbours merged level by level."""
    random, columns, codes = np.random.default_rng(seed), [], []
    for j, (values, levels) in enumerate(CENSUS):
        tree = _census_tree(values, levels)
        column, numbers = LevelledColumn.of_values(f"q{j}", list(tree.labels), tree)
        columns.append(column)
        drawn = np.minimum(*random.integers(0, values, (2, records)))
        codes.append(numbers[drawn])
    return CodedTable(columns, np.stack(codes, axis=1))


def _census_tree(values: int, levels: int) -> Hierarchy:
    texts = [f"{v:03}" for v in range(values)]
    step = values ** (1 / (levels - 1))
    widths = [math.ceil(step**x) for x in range(1, levels - 1)]
    nested = [math.prod([widths[0]] * x) for x in range(1, levels - 1)] if widths else []
    return Hierarchy(
        {t: (*(f"{x}:{v // w:03}" for x, w in enumerate(nested)), "*") for v, t in enumerate(texts)}
    )


class LocalTable:
    """Combinations of a coded table as local recoding reads them."""

    def __init__(self, coded: CodedTable, trees: Sequence[Hierarchy], labels: str) -> None:
        self.columns, codes, self.counts = [], [], coded.counts
        for j, tree in enumerate(trees):
            numbers = LevelledColumn.of_values("", list(tree.labels), tree)[1]
            texts = np.array(list(tree.labels), dtype=object)[np.argsort(numbers)]
            self.columns.append(
                LocalColumn.of_values(str(j), list(texts), tree, sets=labels == "sets")
            )
            codes.append(self.columns[-1].positions(list(texts))[coded.codes[:, j]])
        self.codes = np.stack(codes, axis=1)

    def recode(self) -> Pieces:
        """Classes of K records."""
        weights = [1.0] * len(self.columns)
        return recode_locally(self.columns, self.codes, self.counts, [], k=K, weights=weights)

    def unruled_loss(self, pieces: Pieces) -> float:
        """That of the same classes if sets could name the value of a single record.

        With every record twice, each value has two.
        """
        return self.loss(Pieces(pieces.combination, 2 * pieces.amount, pieces.owner))

    def loss(self, pieces: Pieces) -> float:
        """The mean over cells."""
        sizes = np.bincount(pieces.owner, pieces.amount).astype(np.int64)
        every = [column_labels(c, self.codes[:, j], pieces) for j, c in enumerate(self.columns)]
        return float(mean_shares(every, [c.domain for c in self.columns], sizes).mean())


def least(action: Callable[[], object], rounds: int) -> float:
    """The CPU seconds of the best of some runs."""
    samples = [timed(action) for _ in range(rounds)]
    return min(s.user + s.system for s in samples)


def run(options: Options) -> Result:
    """The measure: ARX's seconds divided by ours, the frontier, a large table, growth."""
    rounds = options.rounds or (3 if options.quick else 7)
    outcomes: dict[str, Result] = {}
    found: Result = {}
    if os.environ.get("SIEVERT_REFERENCE"):
        found["adult"] = _adult(rounds, outcomes)
        found["local"] = _local_adult(rounds, outcomes)
    elif options.quick:
        raise BenchError("SIEVERT_REFERENCE names no folder with Adult")
    found["growth"] = _growth(options, outcomes)
    if records := int(os.environ.get("SIEVERT_BENCH_RECORDS", "0")):
        found["directory"] = _directory(records)
    found["local growth"] = _local_growth(options, outcomes)
    for name, outcome in outcomes.items():
        met = "met" if outcome["met"] else "MISSED"
        print(
            f"{name}: {digits(outcome['value'])}, goal {outcome['wanted']} {outcome['goal']}: {met}"
        )
    goal = {"met": all(outcome["met"] for outcome in outcomes.values())}
    return {**found, "outcomes": outcomes, "goal": goal}


def _adult(rounds: int, outcomes: dict[str, Result]) -> Result:
    tables = {names: adult(names) for names in (EIGHT, NINE)}
    cells, lines = [], []
    for name, columns, share, rule, arx, goal in CASES:
        coded = tables[columns]
        best = coded.search(K, share, rule).run()  # compiles
        assert best is not None
        ours = least(lambda c=coded, s=share, r=rule: c.search(K, s, r).run(), rounds)  # type: ignore[misc]
        ratio = arx / ours
        numbers = {"loss": best.loss, "levels": best.levels, "nodes": best.nodes}
        cells.append(
            {"name": name, "arx": arx, "sievert": ours, "ratio": ratio, "evaluated": best.visited}
            | numbers
        )
        lines.append((name, f"{best.nodes:,}", f"{best.visited:,}", digits(arx), digits(ours),
                      f"{ratio:.1f}"))  # fmt: skip
        if goal is not None:
            outcomes[f"ARX / sievert, {name}"] = verdict(ratio, goal, at_least=True)
    print("\nAdult: CPU seconds to the optimum\n")
    print(table(("", "nodes", "evaluated", "ARX", "sievert", "ARX / sievert"), lines))
    whole = tables[EIGHT].search(K, SHARE, bits=True)
    every = least(lambda: NodeNumbers(whole), rounds)
    points = find_frontier(whole, lambda _: True)
    seconds = least(lambda: find_frontier(whole, lambda _: True), rounds)
    searched = next(c["sievert"] for c in cells if c["name"] == CASES[1][0])
    times = f"{every / searched:.1f} times the search"
    print(f"\nAll {whole.nodes:,} nodes: {digits(every)} s, {times}")
    print(f"with the {len(points)} points of the frontier: {digits(seconds)} s\n")
    outcomes["seconds of Adult's frontier"] = verdict(seconds, FRONTIER_SECONDS, at_least=False)
    return {"cases": cells, "all nodes": every, "frontier": seconds, "points": len(points)}


def _growth(options: Options, outcomes: dict[str, Result]) -> list[Result]:
    sizes = (11_000, 110_000) if options.quick else (11_000, 110_000, 1_200_000)
    census(1000).search(K, SHARE).run()  # compiles
    cells: list[Result] = []
    for records in sizes:
        coded = census(records)
        best: list[Any] = []
        seconds = least(lambda c=coded, b=best: b.append(c.search(K, SHARE).run()), 1)  # type: ignore[misc]
        cells.append({"records": records, "combinations": len(coded.counts), "seconds": seconds,
                      "nodes": best[0].nodes, "evaluated": best[0].visited, "loss": best[0].loss,
                      "peak": peak_memory()})  # fmt: skip
    print("\nGenerated records, nine columns, k=5, 2 %\n")
    print(table(
        ("records", "combinations", "nodes", "evaluated", "CPU s", "peak MB"),
        [(f"{c['records']:,}", f"{c['combinations']:,}", f"{c['nodes']:,}", f"{c['evaluated']:,}",
          digits(c["seconds"]), f"{c['peak'] >> 20:,}") for c in cells],
    ))  # fmt: skip
    print()
    first, last = cells[0], cells[-1]
    exponent = math.log(last["seconds"] / first["seconds"]) / math.log(
        last["combinations"] / first["combinations"]
    )
    outcomes["exponent of seconds by combinations"] = verdict(exponent, EXPONENT, at_least=False)
    if not options.quick:
        name = f"seconds of {last['records']:,} records"
        outcomes[name] = verdict(last["seconds"], CENSUS_SECONDS, at_least=False)
    return cells


def _directory(records: int) -> Result:
    """CPU seconds and memory of the whole command, check included, on a directory of files."""
    with scratch() as place:
        data, policy, out = place / "data", place / "policy.toml", place / "release.parquet"
        data.mkdir()
        policy.write_text(RULES, encoding="utf-8")
        with duckdb.connect() as engine:
            engine.execute("SET enable_progress_bar = false")
            for start in range(0, records, PART):
                rows = f"SELECT {RECORD} FROM range({start}, {min(records, start + PART)}) AS t(i)"
                file = data / f"{start // PART:03}.parquet"
                engine.execute(f"COPY ({rows}) TO '{file}' (FORMAT parquet)")
        command = [sys.executable, "-m", "sievert", "protect", str(data), "--policy", str(policy),
                   "-o", str(out), "--json", str(place / "r.json"),
                   "--temp", str(place)]  # fmt: skip
        if memory := os.environ.get("SIEVERT_BENCH_MEMORY"):
            command += ["--memory", memory]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise BenchError(f"sievert protect ended with exit code {process.returncode}")
        result = json.loads((place / "r.json").read_text(encoding="utf-8"))
        sizes = sum(p.stat().st_size for p in data.iterdir()), out.stat().st_size
    cell = {"records": records, "seconds": used.ru_utime + used.ru_stime,
            "peak": used.ru_maxrss << 10, "input": sizes[0], "output": sizes[1],
            "levels": result["levels"], "suppressed": result["suppressed"]}  # fmt: skip
    print("\nA directory of Parquet files, four quasi-identifiers, k=20\n")
    print(table(
        ("records", "CPU s", "peak MB", "input MB", "release MB"),
        [(f"{records:,}", digits(cell["seconds"]),
          *(f"{cell[name] >> 20:,}" for name in ("peak", "input", "output")))],
    ))  # fmt: skip
    return cell


def _local_adult(rounds: int, outcomes: dict[str, Result]) -> list[Result]:
    coded, cells = adult(EIGHT), []
    folder = Path(os.environ["SIEVERT_REFERENCE"]) / "data" / "adult" / "hierarchies"
    trees = [Hierarchy.read(folder / f"adult_hierarchy_{n}.csv").with_root() for n in EIGHT]
    for labels, (times, most) in LOCAL_GOALS.items():
        local = LocalTable(coded, trees, labels)
        pieces = local.recode()  # compiles
        seconds, loss = least(local.recode, rounds), local.loss(pieces)
        classes = int(pieces.owner.max()) + 1
        cells.append({"labels": labels, "seconds": seconds, "loss": loss, "classes": classes,
                      "unruled": local.unruled_loss(pieces)})  # fmt: skip
        outcomes[f"ARX's loss / that of local recoding, {labels}"] = verdict(
            ARX_LOCAL[1] / loss, times, at_least=True
        )
        outcomes[f"seconds of local recoding, {labels}"] = verdict(seconds, most, at_least=False)
    lines = [(c["labels"], f"{c['classes']:,}", digits(c["seconds"]), digits(c["loss"]),
              digits(c["unruled"])) for c in cells]  # fmt: skip
    print("\nAdult, local recoding, k=5, nothing suppressed\n")
    arx = ("ARX", "3,394", *map(digits, ARX_LOCAL), "")
    print(
        table(("labels", "classes", "CPU s", "loss", "if single values are named"), [arx, *lines])
    )
    return cells


def _local_growth(options: Options, outcomes: dict[str, Result]) -> list[Result]:
    sizes = (11_000, 110_000) if options.quick else (11_000, 110_000, 1_200_000)
    trees, cells = [_census_tree(*c) for c in CENSUS], []
    LocalTable(census(1000), trees, "hierarchy").recode()  # compiles
    for records in sizes:
        local = LocalTable(census(records), trees, "hierarchy")
        pieces: list[Pieces] = []
        seconds = least(lambda x=local, p=pieces: p.append(x.recode()), 1)  # type: ignore[misc]
        cells.append({"records": records, "combinations": len(local.counts), "seconds": seconds,
                      "loss": local.loss(pieces[0])})  # fmt: skip
    print("\nGenerated records, local recoding, k=5\n")
    print(table(
        ("records", "combinations", "CPU s", "loss"),
        [(f"{c['records']:,}", f"{c['combinations']:,}", digits(c["seconds"]), digits(c["loss"]))
         for c in cells],
    ))  # fmt: skip
    first, last = cells[0], cells[-1]
    exponent = math.log(last["seconds"] / first["seconds"]) / math.log(
        last["combinations"] / first["combinations"]
    )
    outcomes["exponent of local recoding"] = verdict(exponent, EXPONENT, at_least=False)
    if not options.quick:
        name = f"seconds of {last['records']:,} records, local"
        outcomes[name] = verdict(last["seconds"], LOCAL_SECONDS, at_least=False)
    return cells
