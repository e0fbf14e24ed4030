"""The notebooks of docs/notebooks, run from plain cells: `python -m website.notebooks`.

A file of website/cells is Markdown; each of its Python blocks is a cell of code. The cells of a
file are run in one namespace, in the place where the notebook would be, and what they print and
the value of a last expression are their outputs. Jupyter is not needed.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CELLS, NOTEBOOKS = ROOT / "website" / "cells", ROOT / "docs" / "notebooks"
BLOCK = re.compile(r"```python\n(.*?)```\n", re.DOTALL)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook(source: Path) -> str:
    """A file of cells as a notebook with its outputs."""
    cells: list[dict[str, Any]] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    parts = BLOCK.split(source.read_text(encoding="utf-8"))
    with place():
        for at, part in enumerate(parts):
            text = part.strip("\n")
            if text:
                cell = _code(text, names, at // 2 + 1) if at % 2 else _words(text)
                cells.append({**cell, "id": f"{source.stem}-{at}"})
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


@contextlib.contextmanager
def place() -> Iterator[None]:
    """A folder of its own, from which the examples are as far away as from docs/notebooks."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder) / "docs" / "notebooks"
        here.mkdir(parents=True)
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        before = Path.cwd()
        os.chdir(here)
        try:
            yield
        finally:
            os.chdir(before)


def _words(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def _code(text: str, names: dict[str, Any], count: int) -> dict[str, Any]:
    *before, last = ast.parse(text).body
    ends_in_value = isinstance(last, ast.Expr)
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        first = ast.Module(before if ends_in_value else [*before, last], [])
        exec(compile(first, "cell", "exec"), names)  # noqa: S102 - our own cells
        if isinstance(last, ast.Expr):
            code = compile(ast.Expression(last.value), "cell", "eval")
            value = eval(code, names)  # noqa: S307 - our own cells
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines})
    if value is not None:
        shown = {"text/plain": repr(value).splitlines(keepends=True)}
        result = {"data": shown, "execution_count": count, "metadata": {}}
        outputs.append({"output_type": "execute_result", **result})
    source = {"source": text.splitlines(keepends=True), "outputs": outputs}
    return {"cell_type": "code", "execution_count": count, "metadata": {}, **source}


if __name__ == "__main__":
    for cells in sorted(CELLS.glob("*.md")):
        path = NOTEBOOKS / f"{cells.stem}.ipynb"
        path.write_text(notebook(cells), encoding="utf-8")
