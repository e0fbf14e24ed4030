"""The recipes of CONTRIBUTING.md, followed in a copy of the project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FUNCTION = '''def pairs_alike(target: RecordTarget, _: Options) -> Number:
    """The sum over q of n_q(n_q - 1)/2."""
    return int((target.sizes.sizes * (target.sizes.sizes - 1) // 2 * target.sizes.times).sum())


PAIRS_ALIKE = Measure(
    id="pairs_alike",
    title="Pairs that look alike",
    unit="1",
    low=0,
    high=None,
    riskier="low",
    formula="sum_q n_q(n_q - 1)/2",
    source="an example",
    reading="so many pairs of records share a class",
    laws=(*ALWAYS, *MONOTONE),
    compute=pairs_alike,
    kinds=("record",),
    influence=None,
)


CLASSES: tuple'''
LISTED = """    DISTINCTION,
    PAIRS_ALIKE,
)
"""
PAGE = """# Pairs that look alike (`pairs_alike`)

## Definition

`sum_q n_q(n_q - 1)/2`. Unit: 1. **Riskier when low.**

## Reading

So many pairs of records share a class.

## Example

>>> import sievert
>>> sievert.pairs_alike({"age": ["20s", "20s", "30s"]}, ["age"])
1

## Limits and traps

A few large classes have nearly all pairs.

## Source

An example.
"""
ORACLE = '    result["k_anonymity"] = min(sizes)\n'
# Every test that looks at all measures; of those on random tables a few cases.
TESTS = (
    "tests/unit/package/test_rooms.py::test_every_measure_has_a_function_and_a_page",
    "tests/unit/package/test_rooms.py::test_records_are_complete",
    "tests/unit/package/test_typing.py::test_the_stub_is_that_of_the_records",
    "tests/unit/cli/test_cli.py::test_all_shows_every_measure",
    "tests/unit/cli/test_cli.py::test_measures_lists_every_record",
    "tests/docs/test_pages.py::test_examples[pairs_alike]",
    "tests/docs/test_pages.py::test_page_is_complete",
    "tests/docs/test_pages.py::test_tables_of_measures_are_those_of_the_records",
    "tests/docs/test_pages.py::test_the_page_of_the_python_interface_is_that_of_the_docstrings",
    "tests/docs/test_pages.py::test_links_lead_somewhere",
    "tests/docs/test_guides.py::test_every_measure_is_in_the_table_as_its_record_says",
    "tests/property/test_oracle_agreement.py::test_agreement[0]",
    "tests/property/test_common.py::test_every_measure_declares_its_laws",
    "tests/property/test_common.py::test_p1_permutation[0]",
    "tests/property/test_common.py::test_p6_coarsening[0]",
    "tests/property/test_common.py::test_p7_refining[0]",
    "tests/property/test_undeclared.py::test_every_bound_is_known",
)


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A command in the copy, which imports the copy and nothing of the project itself."""
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}"}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True
    )


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path.name}: {old}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def touched(project: Path) -> set[str]:
    """Name the source files that were made or edited by hand; both languages of texts are one."""
    files = {
        str(path.relative_to(project / "src/sievert")): path
        for path in (project / "src/sievert").rglob("*")
        if path.suffix in (".py", ".toml")
    }
    changed = set()
    for name, path in files.items():
        before = ROOT / "src/sievert" / name
        if not before.exists() or before.read_bytes() != path.read_bytes():
            changed.add(name.replace("/de.toml", "/en.toml"))
    return changed


@pytest.fixture
def project(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for name in ("src", "tests", "docs", "website", "examples", "integrations"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    names = ("pyproject.toml", "LICENSE", "Containerfile")
    for path in (*ROOT.glob("*.md"), *(ROOT / name for name in names)):
        shutil.copy(path, tmp_path)
    return tmp_path


def recipe(title: str = "Add a measure") -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return text.split(f"## {title}\n")[1].split("\n## ")[0]


def generate(project: Path) -> None:
    """What `make generate` runs."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lines = makefile.split("\ngenerate:")[1].split("\n\n")[0].splitlines()[1:]
    for line in lines:
        done = run(project, *line.replace("$(BIN)/python", "").split())
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_recipe_for_a_measure_is_complete(project: Path) -> None:
    steps, source = recipe(), "src/sievert/measures/classes.py"
    edit(project / source, "CLASSES: tuple", FUNCTION)
    edit(project / source, "    DISTINCTION,\n)\n", LISTED)
    (project / "docs/measures/pairs_alike.md").write_text(PAGE, encoding="utf-8")
    slowly = '    result["pairs_alike"] = sum(n * (n - 1) // 2 for n in sizes)\n'
    edit(project / "tests/helpers/oracle.py", ORACLE, ORACLE + slowly)
    for name in (source, "docs/measures/<id>.md", "tests/helpers/oracle.py", "make generate"):
        assert f"`{name}`" in steps, name

    assert len(touched(project)) <= 1
    generate(project)
    done = run(project, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *TESTS)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


DOUBT = '''def least_doubt(target: SecretTarget, _: Options) -> MeasureResult:
    """1 - max over q and s of p(s|q)."""
    known = target.counts.known_profiles
    without = None if known is None else 1.0 - (_highest_confidence(known) or 0.0)
    return MeasureResult(
        1.0 - (_highest_confidence(target.profiles) or 0.0),
        details=target.without_missing(without),
    )


def doubt_lack(
    tally: Any,
    seen: Any,
    size: Any,
    totals: Ints,
    records: int,
    limit: float,
    value: int,
    tree: Ints,
    work: Any,
) -> Any:
    """How far the share of other values is below the limit."""
    most = 0
    for s in seen:
        most = np.maximum(most, tally[s])
    return limit - (1.0 - most / size)


def _limit(_: Ints, limit: float) -> float:
    return limit


LEAST_DOUBT = Measure(
    id="least_doubt",
    title="Least doubt",
    unit="1",
    low=0,
    high=1,
    riskier="low",
    formula="1 - max_q,s n_qs/n_q",
    source="an example",
    reading="this share of some class has another value",
    laws=(*BLIND, *MONOTONE),
    compute=least_doubt,
    kinds=("secret",),
    needs=frozenset({"known"}),
    influence=None,
    of_class=True,
    class_rules=(
        ClassRule(
            name="doubt", side="min", excess=doubt_lack, convex=True,
            largest_excess=_limit, known=True,
        ),
    ),
    in_percent=True,
)


DIVERSITY: tuple'''
DOUBT_LISTED = """    ALPHA_K,
    LEAST_DOUBT,
)
"""
DOUBT_PAGE = PAGE.replace("Pairs that look alike (`pairs_alike`)", "Least doubt (`least_doubt`)")
DOUBT_EXAMPLE = """>>> import sievert
>>> sievert.least_doubt({"age": [20, 20, 20], "ill": ["flu", "flu", "cold"]}, ["age"], "ill")
0.33333333333333337
"""
TABLE = "age,ill\n" + "".join(f"{20 + i % 8},{'abc'[i * i % 3]}\n" for i in range(48))
POLICY = """
[roles]
quasi = ["age"]
sensitive = ["ill"]

[limits.inference]
ill = { LIMIT }
"""
COARSE = """COARSE = LabelShare(
    open_values=lambda leaves: np.where(leaves > 1, 1, 0), most=lambda _: 1
)


def discernability("""
COARSE_RECORD = """    MinimisedLoss(
        id="coarse_cells",
        of_classes=lambda c: arithmetic_mean(c.mean_shares(COARSE), c.weights),
        terms=lambda sums: sums.weighted(sums.sums(COARSE)),
    ),
)
# The mean of level / height"""


def protect(project: Path, limit: str, *options: str) -> dict[str, Any]:
    """The JSON of a release of a table whose ages are merged by 2 and by 4."""
    (project / "t.csv").write_text(TABLE, encoding="utf-8")
    (project / "policy.toml").write_text(POLICY.replace("LIMIT", limit), encoding="utf-8")
    done = run(
        project, "-m", "sievert", "protect", "t.csv", "--policy", "policy.toml",
        "--hierarchy", "age=interval:2,4", "--json", "found.json",
        *options,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads((project / "found.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.slow
def test_the_recipe_for_a_measure_that_protect_honours_is_complete(project: Path) -> None:
    steps, source = recipe("Add a measure that protect honours"), project / "src/sievert"
    edit(source / "measures/diversity.py", "DIVERSITY: tuple", DOUBT)
    edit(source / "measures/diversity.py", "    ALPHA_K,\n)\n", DOUBT_LISTED)
    before, example = DOUBT_PAGE.split(">>>", 1)
    page = before + DOUBT_EXAMPLE + "\n## Limits" + example.split("## Limits")[1]
    (project / "docs/measures/least_doubt.md").write_text(page, encoding="utf-8")
    for language, name in {"en": "least doubt", "de": "geringster Zweifel"}.items():
        path = f"report/texts/{language}.toml"
        edit(source / path, "\nt_closeness = ", f'\nleast_doubt = "{name}"\nt_closeness = ')
        assert f"`src/sievert/{path}`" in steps
    for name in ("measures/gains.py", "measures/class_rules.py"):
        assert f"`src/sievert/{name}`" in steps
    assert len(touched(project)) <= 3
    generate(project)

    found = protect(project, "least_doubt = { min = 0.3 }")
    assert found["policy"]["met"] is True
    names = ("measures/test_class_rules", "package/test_typing", "package/test_rooms")
    tests = (f"tests/unit/{name}.py" for name in names)
    done = run(project, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.slow
def test_the_recipe_for_a_loss_is_complete(project: Path) -> None:
    steps, source = recipe("Add a loss"), project / "src/sievert"
    edit(source / "losses/formulas.py", "def discernability(", COARSE)
    records = "methods/full_domain/losses.py"
    imported = "GENERALISED, UNCERTAIN, LabelShare"
    edit(source / records, imported, f"COARSE, {imported}")
    edit(source / records, ")\n# The mean of level / height", COARSE_RECORD)
    for language, name in {"en": "coarse cells", "de": "grobe Zellen"}.items():
        path = f"commands/protect/texts/{language}.toml"
        names = f'\nloss_coarse_cells = "{name}"\nminimised_coarse_cells = "{name}"'
        edit(source / path, "\nminimised_bits = ", names + "\nminimised_bits = ")
        assert f"`src/sievert/{path}`" in steps
    for name in (records, "losses/formulas.py"):
        assert f"`src/sievert/{name}`" in steps
    slowly = (
        '                elif self.loss == "coarse_cells":\n'
        "                    share = float(below > 1)\n"
    )
    oracle = project / "tests/property/test_full_domain.py"
    otherwise = "                else:\n                    share = (below - 1)"
    edit(oracle, otherwise, slowly + otherwise)
    assert len(touched(project)) <= 3
    generate(project)

    found = protect(project, "l_diversity = { min = 2 }", "--loss", "coarse_cells")
    assert found["minimised"] == "coarse_cells"
    assert 0 <= found["loss"]["coarse_cells"] <= 1
    whole = "tests/property/test_full_domain.py"
    tests = (
        "tests/unit/measures/test_class_rules.py",
        "tests/unit/report/test_languages.py",
        f"{whole}::test_every_limit_meets_every_loss",
        f"{whole}::test_limits_on_the_table_as_a_whole",
        *(f"{whole}::test_the_best_of_all_nodes[{n}-numpy]" for n in range(0, 300, 7)),
    )
    done = run(project, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


FIELD = """    note: str | None = option(
        "Add a remark with this text.", default=None, heading="Subsets"
    )
    records: Place"""


@pytest.mark.slow
def test_the_recipe_for_an_option_is_complete(project: Path) -> None:
    steps = recipe("Add an option")
    source = project / "src/sievert/commands/explain"
    edit(source / "settings.py", "    records: Place", FIELD)
    remarks = "        warnings=tuple(explanation.warnings),\n"
    more = "        warnings=(*explanation.warnings, *filter(None, [settings.note])),\n"
    edit(source / "run.py", remarks, more)
    for name in ("settings.py", "run.py"):
        assert f"`src/sievert/commands/explain/{name}`" in steps
    assert len(touched(project)) <= 3
    generate(project)

    (project / "t.csv").write_text(TABLE, encoding="utf-8")
    explain = ("-m", "sievert", "explain")
    done = run(project, *explain, "t.csv", "-q", "age", "--note", "as asked", "--json", "-")
    assert "as asked" in json.loads(done.stdout)["warnings"], done.stderr
    assert "--note TEXT" in run(project, *explain, "--help").stdout.replace("STR", "TEXT")
    call = "import sievert; print(sievert.explain('t.csv', 'age', note='as asked').warnings)"
    assert "as asked" in run(project, "-c", call).stdout
    completion = run(project, "-m", "sievert", "completion", "bash").stdout
    assert "--note" in completion


UNCHANGED = '''"""`--how unchanged`: the records as they are."""

import numpy as np

from sievert.commands.protect.method import RecordRelease, RecordTable
from sievert.commands.protect.settings import ProtectSettings


def make(table: RecordTable, settings: ProtectSettings) -> RecordRelease:
    """Release the records as they are, with a number that was asked for."""
    return RecordRelease(
        columns={},
        loss={"records": 0.0},
        details={"strength": settings.strength},
        suppressed=np.zeros(table.records, dtype=bool),
    )
'''
STRENGTH = """    strength: float | None = option(
        "Unchanged: a number.", default=None, heading="Release"
    )
    seconds: float"""


@pytest.mark.slow
def test_the_recipe_for_a_method_is_complete(project: Path) -> None:
    steps = recipe("Add a method of protect")
    folder = "src/sievert/commands/protect"
    (project / folder / "unchanged.py").write_text(UNCHANGED, encoding="utf-8")
    settings = project / folder / "settings.py"
    edit(settings, '    "sample",\n]\n', '    "sample",\n    "unchanged",\n]\n')
    row = '    "unchanged": ReleaseMethod(function="unchanged.make", reads=("strength",)),\n'
    edit(settings, '    "sample": ReleaseMethod(', row + '    "sample": ReleaseMethod(')
    edit(settings, "    seconds: float", STRENGTH)
    for language, text in {"en": "It stays.", "de": "Es bleibt."}.items():
        path = f"{folder}/texts/{language}.toml"
        keys = ("how_unchanged", "when_unchanged", "detail_strength")
        names = "".join(f'{key} = "{text}"\n' for key in keys)
        edit(project / path, "\nhow_anatomy = ", f"\n{names}how_anatomy = ")
    for name in (f"{folder}/method.py", f"{folder}/settings.py", f"{folder}/texts/en.toml"):
        assert f"`{name}`" in steps
    assert len(touched(project)) <= 3
    generate(project)

    asked = ("--how", "unchanged", "--strength", "2")
    found = protect(project, "l_diversity = { min = 1 }", *asked)
    assert found["how"] == "unchanged" and found["policy"]["met"] is True
    command = ("-m", "sievert", "protect", "t.csv", "--policy", "policy.toml", "--how", "local")
    done = run(project, *command, "--strength", "2")
    assert done.returncode == 2 and "--how unchanged" in done.stderr


RARE = '''"""People with a value that nobody else of the pool has, and that the table has too."""

import numpy as np

from sievert.commands.synthetic.attacks.evidence import weigh
from sievert.commands.synthetic.attacks.tables import SyntheticTables
from sievert.commands.synthetic.attacks.task import AttackFindings, AttackTask


def attack_by_rare_values(tables: SyntheticTables, _: AttackTask) -> AttackFindings:
    """Look for values that one person alone has."""
    hit = np.zeros(tables.people)
    for at in range(len(tables.columns)):
        own = tables.pool[:, at]
        alone = np.bincount(own)[own] == 1
        hit[alone & np.isin(own, tables.synthetic[:, at])] = 1.0
    return AttackFindings(on_people={"rare_values": weigh("rare_values", hit, tables.groups)})
'''
ATTACKED_POLICY = """
[limits.synthetic.rare_values]
rate = { max = 0.5 }
"""


@pytest.mark.slow
def test_the_recipe_for_an_attack_on_synthetic_data_is_complete(project: Path) -> None:
    steps = recipe("Add an attack on synthetic data")
    folder = "src/sievert/commands/synthetic"
    (project / folder / "attacks/rare.py").write_text(RARE, encoding="utf-8")
    declared = project / folder / "attacks/attacks.py"
    imported = "from sievert.commands.synthetic.attacks.singling_out import"
    own = "from sievert.commands.synthetic.attacks.rare import attack_by_rare_values\n"
    edit(declared, imported, own + imported)
    row = '    DeclaredAttack(ids=("rare_values",), run=attack_by_rare_values),\n'
    last = '    DeclaredAttack(ids=("membership",)'
    edit(declared, last, row + last)
    for language, name in {"en": "rare values", "de": "seltene Werte"}.items():
        path = f"{folder}/texts/{language}.toml"
        edit(
            project / path,
            "\nname_membership = ",
            f'\nname_rare_values = "{name}"\nname_membership = ',
        )
    for name in ("attacks/task.py", "attacks/attacks.py", "texts/en.toml"):
        assert f"`{folder}/{name}`" in steps
    assert len(touched(project)) <= 4
    generate(project)

    lines = [f"{20 + i % 7},{'abc'[i % 3]},{i % 5}" for i in range(60)]
    for name, rows in {"own": lines[:40], "fake": lines[10:50], "control": lines[40:]}.items():
        text = "\n".join(["age,town,ill", *rows, f"{len(name) + 90},a,1"]) + "\n"
        (project / f"{name}.csv").write_text(text, encoding="utf-8")
    (project / "policy.toml").write_text(ATTACKED_POLICY, encoding="utf-8")
    command = ("-m", "sievert", "synthetic", "own.csv", "fake.csv", "--control", "control.csv")
    more = (
        "--policy",
        "policy.toml",
        "-q",
        "age,town",
        "-s",
        "ill",
        "--json",
        "found.json",
        "--all",
    )
    done = run(project, *command, *more)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads((project / "found.json").read_text(encoding="utf-8"))
    assert "rare_values" in found["attacks"]
    limits = {limit["measure"] for limit in found["policy"]["limits"]}
    assert "rare_values.rate" in limits and "rare values" in done.stdout
    tests = ("tests/unit/report/test_languages.py", "tests/unit/report/test_text_keys.py")
    done = run(project, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


COMPARED = """
import json
from sievert import assess

table = {"age": ["1", "1", "2", None, "*", "2"], "zip": ["a", "a", "b", "b", "*", "b"],
         "ill": ["flu", "cold", "flu", None, "flu", "flu"]}
found = []
for engine in ("sqlite", "duckdb"):
    content = assess(table, ["age", "zip"], "ill", suppressed="*", engine=engine).to_dict()
    assert content["table"].pop("engine") == engine
    found.append(json.dumps(content, sort_keys=True))
assert found[0] == found[1]
"""


@pytest.mark.slow
def test_the_recipe_for_an_engine_is_complete(project: Path) -> None:
    """The adapter is the one of the parity test, in a folder of its own."""
    steps = recipe("Add an engine")
    parity = (ROOT / "tests/parity/test_sqlite.py").read_text(encoding="utf-8")
    adapter = "TYPES = {" + parity.split("\nTYPES = {")[1].split("# -- the same numbers")[0]
    imports = (
        "import re\nimport sqlite3\nfrom collections.abc import Sequence\n"
        "from pathlib import Path\n"
        "from typing import Any\n\n"
        "from sievert.counts.duckdb.counted_elsewhere import CountedElsewhere\n"
        "from sievert.errors import require\nfrom sievert.sources.table import Table\n\n"
    )
    folder = project / "src/sievert/counts/sqlite"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""Tables of SQLite."""\n', encoding="utf-8")
    head = '"""The adapter of SQLite."""\n\n'
    (folder / "adapter.py").write_text(head + imports + adapter, encoding="utf-8")
    row = """register(
    Engine(
        name="sqlite", adapter="sievert.counts.sqlite.adapter:SQLite", owns=_is_of_no_engine
    )
)


def choose_engine("""
    edit(project / "src/sievert/counts/engines.py", "def choose_engine(", row)
    for name in ("counts/adapter.py", "counts/engines.py"):
        assert f"`src/sievert/{name}`" in steps
    assert {name.split("/")[1] for name in touched(project)} == {"sqlite", "engines.py"}
    generate(project)

    done = run(project, "-c", COMPARED)
    assert done.returncode == 0, done.stderr
    assert "sqlite" in run(project, "-m", "sievert", "assess", "--help").stdout
    assert "sqlite" in run(project, "-m", "sievert", "completion", "bash").stdout
    rooms = "tests/unit/package/test_rooms.py"
    done = run(project, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", rooms)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


DRAWING = '''"""Classes by their size."""

from collections.abc import Iterator

from sievert.charts import Bar, bars
from sievert.report.overview import Overview
from sievert.report.page import Picture, make_grid
from sievert.report.parts import ReportPart


def class_numbers(part: ReportPart) -> Iterator[Picture]:
    """Draw how many classes have each size."""
    spans = part.read(Overview).table.class_sizes
    given = [Bar(row=str(span.least), number=span.classes) for span in spans if span.classes]
    if given:
        head = (part.say("size"), part.say("numbers_axis"))
        grid = make_grid(part.say("behind"), head, [(bar.row, bar.number) for bar in given])
        spec = bars(part.say("numbers_title"), (), given, axis=part.say("numbers_axis"))
        caption = part.say("numbers_caption")
        yield Picture(spec=spec, caption=caption, behind=grid, name=("class_numbers",))
'''
CHART_TEXTS = {
    "en": ("How many classes have each size", "Classes", "Few classes are large."),
    "de": ("Wie viele Klassen jede Größe haben", "Klassen", "Wenige Klassen sind groß."),
}
DRAWN = """
import sievert
table = {"age": ["20", "20", "30", "40"]}
spec = sievert.assess(table, "age").charts()["class_numbers"]
print({row["row"]: row["number"] for row in spec["data"]["values"]})
"""


@pytest.mark.slow
def test_the_recipe_for_a_chart_is_complete(project: Path) -> None:
    steps = recipe("Add a chart")
    folder = "src/sievert/commands/assess"
    (project / folder / "class_chart.py").write_text(DRAWING, encoding="utf-8")
    page = project / folder / "page.py"
    near = "from sievert.commands.assess.near_numbers_chapter import"
    edit(page, near, f"from sievert.commands.assess.class_chart import class_numbers\n{near}")
    edit(page, "tuple(_sizes(part)),", "(*_sizes(part), *class_numbers(part)),")
    for language, texts in CHART_TEXTS.items():
        path = f"{folder}/texts/{language}.toml"
        keys = ("numbers_title", "numbers_axis", "numbers_caption")
        lines = "".join(f'{key} = "{text}"\n' for key, text in zip(keys, texts, strict=True))
        edit(project / path, "\nsizes_below = ", f"\n{lines}sizes_below = ")
        assert f"`{path}`" in steps
    assert f"`{folder}/page.py`" in steps
    assert len(touched(project)) <= 3

    assert run(project, "-c", DRAWN).stdout == "{'1': 2, '2': 1}\n"
    (project / "t.csv").write_text("age\n20\n20\n30\n40\n", encoding="utf-8")
    assess = ("-m", "sievert", "assess", "t.csv", "-q", "age", "--language", "de")
    done = run(project, *assess, "--charts", "charts", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    for name in ("charts/class_numbers.svg", "page.html"):
        assert CHART_TEXTS["de"][0] in (project / name).read_text(encoding="utf-8"), name
    names = ("report/test_languages", "report/test_text_keys", "package/test_rooms")
    tests = (f"tests/unit/{name}.py" for name in names)
    done = run(project, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
