"""A result that is read back from its saved JSON: the same JSON and the same pages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sievert.commands.report.run import build_page
from sievert.formatting import LANGUAGES
from sievert.formatting.recognition import recognise_all
from sievert.report import html
from sievert.report.builder import ReportSettings


def check_saved(result: Any) -> None:
    """Check that `result` and what is read back from its JSON have the same JSON and pages."""
    saved = json.loads(json.dumps(result.to_dict()))
    read = type(result).from_dict(recognise_all(saved))
    assert json.loads(json.dumps(read.to_dict())) == saved
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "0")  # pages say when they were written
        for language in LANGUAGES:
            settings = ReportSettings(language=language)
            pages = [html.render(build_page([each], settings)) for each in (result, saved, read)]
            assert pages[0] == pages[1] == pages[2]
