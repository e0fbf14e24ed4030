"""Write the public functions, with a keyword for each option, from the settings of commands.

    python -m website.public_functions

writes `api.py` beside the settings of every command that has a public function.
"""

import ast
import inspect
import re
import subprocess
import sys
import textwrap
from dataclasses import MISSING, Field, dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from sievert.settings.option import OptionFacts, Settings

SOURCE = Path(__file__).parents[1] / "src" / "sievert"
WIDTH = 100


@dataclass(frozen=True, kw_only=True)
class PublicFunction:
    """A public function, and the settings and the work that it stands for."""

    name: str
    folder: str  # a package of sievert.commands
    settings: str
    result: str  # None of a function that only writes
    run: str = "run"
    needed: tuple[str, ...] = ()  # keywords without a default, which the command line reports
    watched: bool = True  # whether the work has steps to tell of


FUNCTIONS = (
    PublicFunction(name="assess", folder="assess", settings="AssessSettings", result="Assessment"),
    PublicFunction(
        name="explain", folder="explain", settings="ExplainSettings", result="Explanation"
    ),
    PublicFunction(
        name="compare", folder="compare", settings="CompareSettings", result="Comparison"
    ),
    PublicFunction(name="attack", folder="attack", settings="AttackSettings", result="Attacks"),
    PublicFunction(
        name="compromise",
        folder="compromise",
        settings="CompromiseSettings",
        result="Compromises",
    ),
    PublicFunction(
        name="synthetic",
        folder="synthetic",
        settings="SyntheticSettings",
        result="SyntheticAssessment",
    ),
    PublicFunction(
        name="protect",
        folder="protect",
        settings="ProtectSettings",
        result="Protected",
        needed=("policy",),
    ),
    PublicFunction(name="randomise", folder="limit", settings="LimitSettings", result="Limited"),
    PublicFunction(
        name="propose_hierarchies",
        folder="hierarchies",
        settings="HierarchiesSettings",
        result="ProposedHierarchies",
    ),
    PublicFunction(
        name="describe_columns", folder="columns", settings="ColumnsSettings", result="ColumnList"
    ),
    PublicFunction(
        name="check_policy", folder="policy", settings="PolicyCheckSettings", result="PolicyCheck"
    ),
    PublicFunction(
        name="write_report",
        folder="report",
        settings="ReportPageSettings",
        result="None",
        run="write",
        watched=False,
    ),
    PublicFunction(
        name="count",
        folder="state",
        settings="CountSettings",
        result="CountState",
        run="run_count",
        needed=("out",),
    ),
    PublicFunction(
        name="merge",
        folder="state",
        settings="MergeSettings",
        result="CountState",
        run="run_merge",
        needed=("out",),
    ),
    PublicFunction(
        name="update",
        folder="state",
        settings="UpdateSettings",
        result="CountState",
        run="run_update",
    ),
    PublicFunction(
        name="sketch", folder="sketch", settings="SketchSettings", result="SketchEstimates"
    ),
    PublicFunction(
        name="add_to_ledger",
        folder="ledger",
        settings="LedgerAddSettings",
        result="Ledger",
        run="run_add",
    ),
    PublicFunction(
        name="check_with_ledger",
        folder="ledger",
        settings="LedgerCheckSettings",
        result="LedgerCheck",
        run="run_check",
    ),
    PublicFunction(
        name="read_ledger",
        folder="ledger",
        settings="LedgerShowSettings",
        result="Ledger",
        run="run_show",
        watched=False,
    ),
)


def main() -> None:
    """Write every module of public functions, and lay them out."""
    paths = []
    for folder in dict.fromkeys(function.folder for function in FUNCTIONS):
        path = SOURCE / "commands" / folder / "api.py"
        path.write_text(module_text(folder), encoding="utf-8")
        paths.append(str(path))
    ruff = Path(sys.executable).with_name("ruff")
    for words in (("check", "--fix", "--quiet", "--select", "I,F401"), ("format", "--quiet")):
        subprocess.run([ruff, *words, *paths], check=True)  # noqa: S603 (our own words)


def module_text(folder: str) -> str:
    """Write the module of the public functions of one command."""
    functions = [function for function in FUNCTIONS if function.folder == folder]
    what = f"function `{functions[0].name}`"
    if len(functions) > 1:
        what = f"functions of `commands/{folder}`"
    imports = {
        *(line for function in functions for line in _imports(function)),
    }
    if any(function.watched for function in functions):
        imports.add("from sievert.session import Steps, no_progress")
    lines = [
        f'"""The public {what}, written from the settings by `make generate`."""',
        "",
        *sorted(imports),
        *(line for function in functions for line in ("", "", function_text(function))),
    ]
    return "\n".join(lines) + "\n"


def function_text(function: PublicFunction) -> str:
    """Write one public function."""
    settings = _settings(function)
    known = _fields(settings)
    ordered = settings.in_order
    first = [known[name] for name in ordered]
    others = [f for name, f in known.items() if name not in ordered]
    own = inspect.get_annotations(settings)
    rest = [*(f for f in others if f.name in own), *(f for f in others if f.name not in own)]
    declared = [_declared(function, f) for f in first]
    keywords = [_declared(function, f) for f in rest]
    star = ["*"] if keywords else []
    watch = ["watch: Steps = no_progress"] if function.watched else []
    arguments = [*declared, *star, *keywords, *watch]
    passed = ", ".join(f"{name}={name}" for name in (f.name for f in (*first, *rest)))
    shown = docstring(settings, [*first, *rest], watched=function.watched)
    body = "    " + "\n    ".join(shown.splitlines())
    call = f"{function.run}(settings, watch)" if function.watched else f"{function.run}(settings)"
    returned = call if function.result == "None" else f"return {call}"
    return (
        f"def {function.name}(\n    {', '.join(arguments)},\n) -> {function.result}:\n"
        f'    r"""{body.strip()}\n    """\n'
        f"    settings = {function.settings}({passed})\n"
        f"    {returned}"
    )


def docstring(settings: type[Settings], shown: list[Field[Any]], *, watched: bool) -> str:
    """Write the docstring of a public function: what it does, its parameters, an example."""
    reference = settings.reference
    about, found, example = inspect.cleandoc(reference).partition("\n>>> ")
    lines = [about.strip(), "", "Parameters", "----------"]
    for f in shown:
        option: OptionFacts = f.metadata["option"]
        sentence = option.in_python or _for_python(settings, option.sentence)
        lines += [
            f.name,
            *textwrap.wrap(
                sentence,
                WIDTH - 8,
                initial_indent="    ",
                subsequent_indent="    ",
                break_long_words=False,
                break_on_hyphens=False,
            ),
        ]
    if watched:
        lines += ["watch", "    Is told of every step: its name, and how far it is."]
    if found:
        lines += ["", f">>> {example}".strip()]
    return "\n".join(lines)


def _for_python(settings: type[Settings], sentence: str) -> str:
    """Write a sentence with the names of keywords in place of options."""
    flags = {}
    for f in _fields(settings).values():
        option: OptionFacts = f.metadata["option"]
        for flag in option.flags or (f"--{f.name.replace('_', '-')}",):
            flags[flag] = f.name
    return re.sub(
        r"(?<![\w-])(--?[a-z][a-z-]*)(?![\w])",
        lambda found: f"`{flags[found[1]]}`" if found[1] in flags else found[1],
        sentence,
    )


def _settings(function: PublicFunction) -> type[Settings]:
    module = import_module(f"sievert.commands.{function.folder}.settings")
    settings: type[Settings] = getattr(module, function.settings)
    return settings


def _fields(settings: type[Settings]) -> dict[str, Field[Any]]:
    """List the options that are keywords in Python."""
    return {
        f.name: f
        for f in fields(settings)
        if "option" in f.metadata and f.metadata["option"].side != "command line"
    }


def _declared(function: PublicFunction, f: Field[Any]) -> str:
    """Write the declaration of a keyword: its name, its type as written, its default."""
    group = _declaring(_settings(function), f.name)
    written = f"{f.name}: {_annotation(group, f.name)}"
    if f.name in function.needed:
        return written.removesuffix(" | None")
    if f.default is not MISSING:
        return f"{written} = {f.default!r}"
    if f.default_factory is not MISSING:
        return f"{written} = {f.default_factory()!r}"
    return written


def _declaring(settings: type[Settings], name: str) -> type[Settings]:
    """Find the class that declares a field last: its type and default hold."""
    return next(c for c in settings.__mro__ if name in inspect.get_annotations(c))


def _class_tree(group: type[Settings]) -> tuple[ast.Module, ast.ClassDef]:
    tree = ast.parse(Path(inspect.getfile(group)).read_text(encoding="utf-8"))
    body = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == group.__name__)
    return tree, body


def _annotation(group: type[Settings], name: str) -> str:
    _, body = _class_tree(group)
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
            return ast.unparse(node.annotation)
    raise KeyError(name)


def _imports(function: PublicFunction) -> list[str]:
    """List the imports that the types and defaults of a function need."""
    settings = _settings(function)
    folder = f"sievert.commands.{function.folder}"
    lines = [
        f"from {folder}.run import {function.run}",
        f"from {folder}.settings import {function.settings}",
    ]
    if function.result != "None":
        lines.append(f"from {folder}.result import {function.result}")
    for name in _fields(settings):
        group = _declaring(settings, name)
        tree, _ = _class_tree(group)
        wanted = {
            node.id
            for node in ast.walk(ast.parse(_annotation(group, name)))
            if isinstance(node, ast.Name)
        }
        lines += _imports_of(tree, wanted, group.__module__)
    if any(f.default is not MISSING and f"{f.default!r}" == "UNSTATED" for f in fields(settings)):
        lines.append("from sievert.settings.option import UNSTATED")
    return lines


def _imports_of(tree: ast.Module, wanted: set[str], module: str) -> list[str]:
    """List where a module has some names from: an import, or itself."""
    lines = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            lines += [
                f"from {node.module} import {alias.name}"
                for alias in node.names
                if (alias.asname or alias.name) in wanted
            ]
        elif isinstance(node, ast.Import):
            lines += [f"import {a.name}" for a in node.names if a.name in wanted]
        elif isinstance(node, ast.AnnAssign | ast.Assign | ast.ClassDef):
            targets = [node.name] if isinstance(node, ast.ClassDef) else []
            if isinstance(node, ast.AnnAssign):
                targets = [ast.unparse(node.target)]
            if isinstance(node, ast.Assign):
                targets = [ast.unparse(target) for target in node.targets]
            lines += [f"from {module} import {name}" for name in targets if name in wanted]
    # A module such as `os` is wanted by the name of an attribute of it.
    return lines


if __name__ == "__main__":
    main()
