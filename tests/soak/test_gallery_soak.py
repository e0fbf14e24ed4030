"""Every picture of docs/gallery.md, drawn again from the demo."""

from __future__ import annotations

from website.gallery import IMAGES, PICTURES, drawn


def test_every_picture_is_that_of_the_demo() -> None:
    for name, text in drawn(dict.fromkeys(result for result, _ in PICTURES.values())):
        shown = (IMAGES / name).read_text(encoding="utf-8")
        assert shown == text, f"{name}: run `python -m website.gallery`"
