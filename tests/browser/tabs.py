"""A page in the browser, without a network, and what happened there that should not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOOKS = (Path(__file__).parent / "looks.js").read_text(encoding="utf-8")


@dataclass
class Tab:
    """A page, and what was noted while it was open."""

    page: Any
    noted: list[str] = field(default_factory=list)

    def open(self, url: str) -> None:
        """Load a file from anew."""
        self.noted.clear()
        self.page.goto(url)
        self.page.evaluate(LOOKS)

    def sized(self, width: int, *, media: str = "screen") -> None:
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(media=media)

    def asked(self, question: str) -> Any:
        return self.page.evaluate(question)

    def wait_until(self, noted: Callable[[], bool]) -> None:
        """Wait for what a page notes a moment after it was opened."""
        for _ in range(200):
            if noted():
                return
            self.page.wait_for_timeout(50)


def watched(page: Any) -> Tab:
    """A tab that writes down dialogs, messages, errors, windows and requests."""
    tab = Tab(page)

    def dialog(it: Any) -> None:
        tab.noted.append(f"dialog {it.message}")
        it.dismiss()

    page.on("dialog", dialog)
    page.on("console", lambda it: tab.noted.append(f"console {it.text}"))
    page.on("pageerror", lambda it: tab.noted.append(f"error {it}"))
    page.on("popup", lambda it: tab.noted.append(f"window {it.url}"))
    page.on("request", lambda it: tab.noted.append(f"request {it.url[:200]}"))
    page.on("requestfailed", lambda it: tab.noted.append(f"failed {it.url[:200]} {it.failure}"))
    return tab
