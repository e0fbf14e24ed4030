"""docs/api.md: the public names of the package, written from their signatures and docstrings.

A function's parameters are those of its docstring, an attribute's meaning is the comment behind it.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import sievert
from sievert import errors
from sievert.commands import functions
from sievert.measures import MEASURES
from sievert.result import DescribedResult, Result, SharedResult, ShownResult
from sievert.sources.options import ReaderOptions

SECTION = "Parameters\n----------\n"
CODE = re.compile(r"(`+[^`]+`+)")
PAGE = Path(__file__).parents[1] / "docs" / "api.md"
COMMANDS = {  # each function, and the page that says more
    "assess": "commands.md",
    "explain": "explain.md",
    "attack": "attacks.md",
    "compare": "compare.md",
    "protect": "protect.md",
    "propose_hierarchies": "protect.md",
    "check_policy": "policy.md",
    "add_to_ledger": "ledger.md",
    "check_with_ledger": "ledger.md",
    "read_ledger": "ledger.md",
    "describe_columns": "commands.md",
    "synthetic": "synthetic.md",
    "sketch": "sketch.md",
    "compromise": "approximate.md",
    "randomise": "limit.md",
    "limit": "limit.md",
    "approximate_compromise": "approximate.md",
    "l_diversity_by_class": "measures/l_diversity.md",
    "discrimination_rate_by_value": "measures/discrimination_rate.md",
    "write_report": "report.md",
    "count": "registry.md",
    "update": "registry.md",
    "merge": "registry.md",
}
HEAD = """# The Python interface

Everything that `import sievert` offers, written by `make generate` from signatures and docstrings.
`data` is always a path, a pandas, Polars or Arrow frame, or a dict of lists. Names that are not
listed here are internal and may change.

Some keywords mean the same in every function:

- `policy` (`PolicySource`): a TOML file, its content as a dict, or a `Policy`.
- `force`: replace output files that exist.
- `verify`: check the checksums of Parquet files, and note the SHA-256 of the input.
- `watch` (`Steps`): is called with the name of each step.
- `delimiter` and others, also as `**source`: [how a table is read](#how-a-table-is-read).

"""
READER = """## How a table is read

These keywords of every function that reads a table; [Read a table](reading.md) says what each does.

"""
MEASURED = """## Measures

Every measure is also a function, which returns a plain number, or `None` where it is undefined or
unbounded (`assess` says why). Further options are those of `assess`.

"""
ERRORS = """## Errors

Whatever a user can cause is a `SievertError` with the exit code of the command line: `what` says
what happened, `hint` what to try. No message repeats a value of the data. The classes are in
`sievert.errors`.

"""


def table(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table; nothing without rows."""
    cells = [[_escaped(cell).replace("|", r"\|") for cell in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    rule = re.sub(r"[^|]+", "---", head)
    return "\n".join([head, rule, *lines]) + "\n\n" if lines else ""


def definition(thing: Any) -> Any:
    """The syntax tree of a function or a class, as its file has it."""
    return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]


def signature(function: Any, name: str) -> str:
    """One parameter per line, with types and defaults in the words of the source."""
    node = definition(function)
    parts = node.args
    plain = [*parts.posonlyargs, *parts.args]
    none: list[ast.expr | None] = [None]
    defaults = none * (len(plain) - len(parts.defaults)) + parts.defaults
    known = function.__globals__
    lines = [_parameter(a, d, known) for a, d in zip(plain, defaults, strict=True)]
    lines += ["*"] if parts.kwonlyargs else []
    own = zip(parts.kwonlyargs, parts.kw_defaults, strict=True)
    lines += [_parameter(argument, default, known) for argument, default in own]
    lines += [f"**{_parameter(parts.kwarg, None, known)}"] if parts.kwarg else []
    given = [line for line in lines if line not in ("self", "cls")]
    returned = _written(node.returns)
    short = f"{name}({', '.join(given)}) -> {returned}"
    if len(short) <= 100:
        return short
    return f"{name}(\n" + "".join(f"    {line},\n" for line in given) + f") -> {returned}"


def _parameter(argument: ast.arg, default: ast.expr | None, known: dict[str, Any]) -> str:
    kind = f": {_written(argument.annotation)}" if argument.annotation else ""
    if isinstance(default, ast.Name) and isinstance(known[default.id], int | float | str):
        default = ast.Constant(known[default.id])  # a number says more than its name
    return f"{argument.arg}{kind}" + ("" if default is None else f" = {_written(default)}")


def _written(node: ast.expr) -> str:
    """As the source has it; a type in quotes without them."""
    quoted = isinstance(node, ast.Constant) and isinstance(node.value, str)
    text = ast.unparse(node).replace("'", '"')
    return text.strip('"') if quoted and text[1:2].isupper() else text


def described(text: str) -> str:
    """A docstring as Markdown: words, a table of the parameters, examples as code."""
    words, _, rest = text.replace("Examples\n--------\n", "").partition(SECTION)
    given, *after = re.split(r"\n\n(?=\S)", rest, maxsplit=1)
    rows = re.findall(r"^(\S.*)\n((?:    .*\n?)+)", given, re.MULTILINE)
    parameters = [(_codes(names), " ".join(said.split())) for names, said in rows]
    middle = table("| parameter | meaning |", parameters)
    return _blocks(words) + middle + "".join(map(_blocks, after))


def _blocks(text: str) -> str:
    blocks = [block.strip("\n") for block in re.split(r"\n\n+", text) if block.strip()]
    shown = (f"```pycon\n{b}\n```" if b.startswith(">>>") else _escaped(b) for b in blocks)
    return "".join(f"{block}\n\n" for block in shown)


def _escaped(text: str) -> str:
    """Words without emphasis: a star is a star, unless it is code."""
    return "".join(
        part if at % 2 else part.replace("*", r"\*") for at, part in enumerate(CODE.split(text))
    )


def _codes(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", "))


def sentence(text: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((text or "").partition("\n\n")[0].split())


def members(kind: type) -> Iterator[tuple[str, str, str]]:
    """The public attributes and methods of a class: name, type, and what is said of it."""
    node, lines = definition(kind), textwrap.dedent(inspect.getsource(kind)).splitlines()
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            name = line.target.id
            said = lines[(line.end_lineno or 0) - 1].partition("  # ")[2]
            said = said[:1].upper() + said[1:] if said[:2].isalpha() else said  # not a formula
            if not name.startswith("_"):
                yield f"`{name}`", f"`{_written(line.annotation)}`", said
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            own = name in {line.name for line in node.body if isinstance(line, ast.FunctionDef)}
            shown = f"`{_written(definition(member.fget).returns)}`" if own else "`Any`"
            yield f"`{name}`", shown, sentence(inspect.getdoc(member))
        elif isinstance(member, FunctionType | classmethod):
            function = getattr(member, "__func__", member)
            call, _, returned = signature(function, name).rpartition(" -> ")
            yield f"`{' '.join(call.split())}`", f"`{returned}`", sentence(inspect.getdoc(function))


def class_section(name: str, *kinds: type) -> str:
    """A heading, what the first class is, and the attributes and methods of all of them."""
    rows = (row for kind in kinds for row in members(kind))
    words = _blocks(inspect.getdoc(kinds[0]) or "")
    return f"### {name}\n\n{words}{table('| attribute or method | type | meaning |', rows)}"


def measure_rows() -> Iterator[tuple[str, str, str]]:
    """How each measure is called, its unit, and its reading."""
    for measure in MEASURES:
        if measure.kinds:
            secret = {"record": "", "secret": ", sensitive"}.get(
                " ".join(measure.kinds), ", sensitive=None"
            )
            own = "".join(f", {word}=None" for word in functions._WORDS.get(measure.id, ()))
            link = f"[`{measure.id}`](measures/{measure.id}.md)"
            yield f"{link}`(data, quasi{secret}{own})`", measure.unit, measure.reading


def error_rows() -> Iterator[tuple[str, str, str]]:
    """Every class of errors, its exit code, and when it is raised."""
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, sievert.SievertError):
            yield f"`{name}`", str(kind.exit_code), sentence(inspect.getdoc(kind))


def reference() -> str:
    """The whole page."""
    text = HEAD + "## Functions\n\n"
    for name, more in COMMANDS.items():
        function = getattr(sievert, name)
        text += f"### {name}\n\n```python\n{signature(function, name)}\n```\n\n"
        text += described(inspect.getdoc(function) or "") + f"More: [{more}]({more}).\n\n"
    rows = (row[:2] for row in members(ReaderOptions))
    text += READER + table("| keyword | type |", rows) + "## Results\n\n"
    text += class_section("Every result", Result, ShownResult)
    text += class_section("SharedResult", SharedResult)
    for name in sievert.__all__:
        if inspect.isclass(kind := getattr(sievert, name)) and kind is not sievert.SievertError:
            text += class_section(name, kind, *({DescribedResult} & {*kind.__bases__}))
    text += MEASURED + table("| function | unit | reading |", measure_rows())
    return (text + ERRORS + table("| error | exit code | when |", error_rows())).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
