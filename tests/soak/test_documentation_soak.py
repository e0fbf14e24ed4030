"""Every picture of docs/gallery.md drawn again, every notebook run again: the same bytes."""

from __future__ import annotations

import pytest

from website.gallery import IMAGES, PICTURES, drawn
from website.notebooks import CELLS, NOTEBOOKS, notebook


def test_every_picture_is_that_of_the_demo() -> None:
    for name, text in drawn(dict.fromkeys(result for result, _ in PICTURES.values())):
        shown = (IMAGES / name).read_text(encoding="utf-8")
        assert shown == text, f"{name}: run `python -m website.gallery`"


@pytest.mark.parametrize("name", sorted(path.stem for path in CELLS.glob("*.md")))
def test_every_notebook_has_the_outputs_of_its_cells(name: str) -> None:
    shown = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
    assert shown == notebook(CELLS / f"{name}.md"), "run `python -m website.notebooks`"
