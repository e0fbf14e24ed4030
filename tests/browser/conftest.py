"""The browser, and the workshop that makes what is opened in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browser.making import Workshop
from browser.tabs import Tab, watched


@pytest.fixture(scope="session")
def workshop(
    tmp_path_factory: pytest.TempPathFactory, plain_paper: Callable[[str], Any]
) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("pages"), plain_paper)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; where everything is checked it must be there."""
    found = shutil.which("chromium")
    if found is None and os.environ.get("CI"):
        pytest.fail("chromium is not installed: the pages cannot be checked")
    if found is None:
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def tab(browser: Any) -> Iterator[Tab]:
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    yield watched(context.new_page())
    context.close()
