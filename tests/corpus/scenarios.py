"""The scenarios of the corpus: command lines in order, and the files that they start from."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACE = "{place}"  # stands for the folder of the scenario in a recorded command line
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
# Commands that print the same for every table: one line each.
FIXED = (
    "help",
    "--version",
    "measures",
    "doctor --help",
    "completion bash",
    "completion zsh",
    "completion fish",
)
# What people do with the example table, in a folder that holds it, its releases and its policy.
EXAMPLES = (
    "assess hospital.csv --policy policy.toml",
    "assess hospital.csv --policy policy.toml --planned --json -",
    "assess hospital.csv -q sex,age -s diagnosis --records records.csv --markdown page.md",
    "assess hospital.csv --policy policy.toml --language de --junit tests.xml --sarif out.sarif",
    "assess missing.csv -q sex",
    "explain hospital.csv -q sex,age,postcode -s diagnosis --json -",
    "attack bands.csv -q sex,age -s diagnosis --markdown page.md",
    "compare hospital.csv bands.csv hidden.csv -q sex,age -s diagnosis --json -",
    "hierarchies hospital.csv -q sex,age,postcode",
    "columns hospital.csv",
    "policy check policy.toml hospital.csv",
    "count hospital.csv -q sex,age -s diagnosis -o counts.sievert",
)
# Lines that start a server, wait for a person, or measure time.
LEFT_OUT = re.compile(r"\b(workbench|serve|make|pip|kill|docker|podman|timeout|curl)\b")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Shell lines that run one after the other in one folder.

    `files` is the folder whose content is there at the start. `after_demo` says that the lines
    need what `make demo` writes.
    """

    name: str
    lines: tuple[str, ...]
    files: Path | None = None
    after_demo: bool = False


def documented() -> Iterator[Scenario]:
    """Yield one scenario for each page of the documentation that shows commands."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        blocks = CONSOLE.findall(page.read_text(encoding="utf-8"))
        shown = [line[2:] for block in blocks for line in block.splitlines() if line[:2] == "$ "]
        lines = tuple(line for line in shown if not LEFT_OUT.search(line))
        if lines:
            name = str(page.relative_to(ROOT))
            yield Scenario(name=name, lines=lines, after_demo=True)


def fixed(commands: list[str]) -> Iterator[Scenario]:
    """Yield the help of each of the `commands`, and the lines of `FIXED`."""
    for line in FIXED:
        yield Scenario(name=f"sievert {line}", lines=(f"sievert {line}",))
    for command in commands:
        yield Scenario(name=f"sievert help {command}", lines=(f"sievert {command} --help",))


def examples(folder: Path) -> Iterator[Scenario]:
    """Yield the lines of `EXAMPLES`, which start from the files in `folder`."""
    for line in EXAMPLES:
        yield Scenario(name=f"sievert {line}", lines=(f"sievert {line}",), files=folder)


def recorded(folder: Path) -> Iterator[Scenario]:
    """Yield the command lines that the recorder kept in `folder`, each a scenario of its own."""
    for case in sorted(folder.iterdir()):
        call = json.loads((case / "call.json").read_text(encoding="utf-8"))
        line = shlex.join(["sievert", *call["arguments"]])
        yield Scenario(
            name=f"{call['test']} #{call['number']}",
            lines=(line,),
            files=case / "files",
        )
