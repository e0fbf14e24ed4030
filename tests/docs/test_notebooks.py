"""The notebooks are those of their cells, run here: same code, same outputs."""

from __future__ import annotations

import json

from website.notebooks import CELLS, NOTEBOOKS, notebook


def test_outputs_are_those_of_the_cells() -> None:
    """Of one of them; the soak tests run all."""
    shown = (NOTEBOOKS / "statistician.ipynb").read_text(encoding="utf-8")
    assert shown == notebook(CELLS / "statistician.md"), "run `python -m website.notebooks`"


def test_every_notebook_is_well_formed_and_listed() -> None:
    index = (NOTEBOOKS.parent / "README.md").read_text(encoding="utf-8")
    assert {p.stem for p in NOTEBOOKS.iterdir()} == {p.stem for p in CELLS.iterdir()}
    for path in NOTEBOOKS.iterdir():
        stored = json.loads(path.read_text(encoding="utf-8"))
        assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
        assert len({cell["id"] for cell in stored["cells"]}) == len(stored["cells"])
        assert f"(notebooks/{path.name})" in index
