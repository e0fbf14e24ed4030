"""Break the code by hand in the ways people break it: every break must be noticed.

Each mutant replaces one piece of text in a copy of the package; `probe.py` then has to fail. A
piece that no longer stands in the source exactly once fails here too, so the list keeps up.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src" / "sievert"
KERNEL, TARGET = "measures/kernel.py", "measures/target.py"
INFORMATION, CLASSES = "measures/information.py", "measures/classes.py"
DIVERSITY, CLOSENESS = "measures/diversity.py", "measures/closeness.py"
CELLS, DUCKDB, FRAMES = "counts/cells.py", "counts/duckdb/adapter.py", "sources/columns.py"
READING, SECRET_COUNTS = "counts/duckdb/reading.py", "counts/secret_counts.py"
CODED = "counts/coded_cells.py"
PEOPLE = "counts/people.py"

UNUSED = """
def _with_unused(data):
    import pandas
    extra = [{c: u} for c in data.select_dtypes("category") for u in data[c].cat.categories
             if u not in set(data[c])]
    return pandas.concat([data.astype(object), pandas.DataFrame(extra)]) if extra else data


def ordered_categories("""

MUTANTS: dict[str, tuple[str, str, str]] = {
    "float32 logarithms": (KERNEL, "np.log2(whole_f / part_f)",
                           "np.log2((whole_f / part_f).astype(np.float32))"),
    "labels used as positions": (
        FRAMES, "        return _plain(data), tuple(data.columns)\n",
        "        return data.iloc[list(data.index)], tuple(data.columns)\n"),
    "records with missing keys dropped": (
        CELLS, "SELECT {fields}, {self.record_count} AS n FROM {self._input} ",
        "SELECT {fields}, {self.record_count} AS n FROM {self._input} "
        "WHERE {groups.split(',')[0]} IS NOT NULL "),
    "each missing value its own class": (
        READING, "    return value, kind\n\n\ndef check_usable",
        "    if name.startswith('q'):\n"
        "        value = f'COALESCE(CAST({value} AS VARCHAR), CAST(uuid() AS VARCHAR))'\n"
        "    return value, kind\n\n\ndef check_usable"),
    "unused category counted": (
        FRAMES, "        return _plain(data), tuple(data.columns)\n",
        "        return _with_unused(data), tuple(data.columns)\n"),
    "k over distinct records": (
        CELLS, "SELECT {fields}, {self.record_count} AS n FROM {self._input} ",
        "SELECT {fields}, {'1' if secret else 'COUNT(*)'} AS n FROM {self._input} "),
    "l as the maximum": (DIVERSITY, "profiles.members).min())\n\n\ndef l_diversity",
                         "profiles.members).max())\n\n\ndef l_diversity"),
    "delta skips absent values": (
        CLOSENESS, "if int(target.profiles.lengths.min()) < target.values.things", "if False"),
    "ordered distance without 1/(m-1)": (
        CLOSENESS, "Fraction(distance, records * size * (len(ranked.totals) - 1))",
        "Fraction(distance, records * size)"),
    "ordered distance as a minimum": (
        CLOSENESS, "max(_ordered_distance(ranked, i, target.records) for i in worst)",
        "min(_ordered_distance(ranked, i, target.records) for i in range(len(rough)))"),
    "ln for log2": (KERNEL, "np.log2(whole_f / part_f)", "np.log(whole_f / part_f)"),
    "joint counts without multiplicity": (
        SECRET_COUNTS, '"SELECT nq, ns, n, COUNT(*) AS m FROM "',
        '"SELECT nq, ns, n, CAST(1 AS BIGINT) AS m FROM "'),
    "n - 1": (TARGET, "        self.counts = counts\n\n    @property\n    def people",
              "        self.counts = counts\n        self.records -= 1\n\n"
              "    @property\n    def people"),
    "classes of one quasi-identifier": (
        "measurement/table_measures.py", "            self.roles.quasi,\n            secret,\n",
        "            self.roles.quasi[:1],\n            secret,\n"),
    "rate over H(Q)": (INFORMATION, "_part_of_entropy(target, target.mutual_information)",
                       "min(1.0, target.mutual_information / max(target.class_entropy, 1e-9))"),
    "complement of conditional privacy": (
        INFORMATION, "-math.expm1(-target.mutual_information * LN2)",
        "2 ** -target.mutual_information"),
    "entropy l-diversity of the most uncertain class": (
        TARGET, "int(entropies.argmin())", "int(entropies.argmax())"),
    "no p(y) in ITPR": (
        TARGET, "float((self._entropies * self.profiles.sizes).min()) / self.records",
        "float(self._entropies.min())"),
    "ITPR of the mean class": (
        TARGET, "float((self._entropies * self.profiles.sizes).min()) / self.records",
        "float((self._entropies * self.profiles.sizes).mean()) / self.records"),
    "ITPR of the largest share": (
        TARGET, "float((self._entropies * self.profiles.sizes).min()) / self.records",
        "float((self._entropies * self.profiles.sizes).max()) / self.records"),
    "64-bit products wrap": (KERNEL, "EXACT_PRODUCT = math.isqrt(INT64)", "EXACT_PRODUCT = INT64"),
    "information as a difference": (
        TARGET, "        c = self.counts.joint\n        assert c is not None\n        return",
        "        c = self.counts.joint\n        assert c is not None\n"
        "        return self.entropy - self._conditional_entropy\n        return"),
    "no decimal digits where differences cancel": (KERNEL, "CANCELLATION = 1e-2",
                                                   "CANCELLATION = -1.0"),
    "keys joined into a string": (
        CELLS, "groups = \", \".join([self.sql_names(quasi), *own.values()])\n",
        "keys = self.sql_names(quasi)\n"
        "        groups = ', '.join([f'concat({keys})' if secret else keys, *own.values()])\n"
        "        k = [f'ANY_VALUE({self.sql_name(q)}) AS {self.sql_name(q)}' for q in quasi]\n"
        "        fields = fields.replace(keys, ', '.join(k)) if secret else fields\n"),
    "case does not count": (
        READING, "    return value, kind\n\n\ndef check_usable",
        "    return f'lower({value})' if kind == 'VARCHAR' else value, kind\n\n\ndef check_usable"),
    "missing is the text NULL": (
        READING, "    return value, kind\n\n\ndef check_usable",
        "    if name.startswith('q'):\n        value = f\"COALESCE({value}, 'NULL')\"\n"
        "    return value, kind\n\n\ndef check_usable"),
    "distance without the half": (DUCKDB, "greatest(0, {n} * {records}", "abs({n} * {records}"),
    "recursive c counts one value too many": (
        DIVERSITY, "for i in range(l - 1):", "for i in range(l - 2):"),
    "confidence of the rarest value": (
        DIVERSITY, "kernel.largest_ratio(profiles.largest, profiles.members)",
        "kernel.largest_ratio(profiles.counts[kernel.np.append(profiles.starts[1:], "
        "len(profiles.counts)) - 1], profiles.sizes)"),
    "leaves of the hierarchy forgotten": (SECRET_COUNTS, "for level in range(tree.height):",
                                          "for level in range(1, tree.height):"),
    "wildcard ignores other patterns": (CELLS, "for b in masks:", "for b in [a]:"),
    "separation of all pairs": (CLASSES, "sizes * (sizes - 1) * times", "sizes * sizes * times"),
    "posterior of the largest class": (TARGET, "(self.profiles.largest * self.profiles.times).sum()",
                                       "(self.profiles.largest * self.profiles.times).max()"),
    "records below k include k": (
        "counts/answers.py", "below = self.sizes < k", "below = self.sizes <= k"),
    "partition forgets the rest": (
        SECRET_COUNTS, "[part_of.get(v, len(partition))]", "[part_of.get(v, 0)]"),
    "coded distance without the half": (CODED, "np.maximum(0, terms)", "np.abs(terms)"),
    "coded secrets are never missing": (CODED, "kept = self.values > 0", "kept = self.values >= 0"),
    "coded cells of one label only": (CODED, "times = lengths[self.values]",
                                      "times = np.minimum(1, lengths[self.values])"),
    "coded wildcard ignores other patterns": (
        "counts/wildcards.py", "whole[ours] += sums", "whole[ours] += (own == other) * sums"),
    "rows are people": (CELLS, '"CASE WHEN p IS NULL THEN n ELSE 1 END"', '"n"'),
    "people add up": (PEOPLE, "self.distinct_people(\"s\", self.sightings(*key))",
                      "f\"SELECT * FROM {self.sightings(*key)}\""),
    "risk of the largest class": (
        PEOPLE, "MIN(size) AS least", "MAX(size) AS least"),
}  # fmt: skip


@pytest.fixture(scope="module")
def probe() -> Iterator[Callable[[Path, str], int]]:
    """What the probe answers to a copy of the package; it is started once for all."""
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", str(HERE / "probe.py")],
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:

        def ask(copy: Path, file: str) -> int:
            assert process.stdin and process.stdout
            first = "people" if file == PEOPLE else "frames"  # where a mistake in the file shows
            print(first, copy, file=process.stdin, flush=True)
            return int(process.stdout.readline())

        yield ask


def _copy(folder: Path) -> Path:
    """A copy of the package whose files are links: a file that is changed is replaced."""
    shutil.copytree(SOURCE, folder / "sievert", copy_function=_link)
    return folder


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # on another device
        shutil.copy2(source, target)


def test_the_unbroken_code_passes(probe: Callable[[Path, str], int], tmp_path: Path) -> None:
    assert probe(_copy(tmp_path), "") == 0


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_noticed(name: str, probe: Callable[[Path, str], int], tmp_path: Path) -> None:
    file, old, new = MUTANTS[name]
    path = _copy(tmp_path) / "sievert" / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file} does not hold this text once: {old}"
    text = text.replace(old, new)
    if "_with_unused" in new:
        text = text.replace("\ndef ordered_categories(", UNUSED)
    path.unlink()
    path.write_text(text, encoding="utf-8")
    compile(text, file, "exec")
    assert probe(tmp_path, file) == 3, f"no wrong number was noticed: {name}"
