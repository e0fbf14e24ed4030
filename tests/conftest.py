"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder with real data and reference values, named by SIEVERT_REFERENCE."""
    folder = os.environ.get("SIEVERT_REFERENCE")
    if not folder:
        pytest.skip("SIEVERT_REFERENCE is not set: no reference data to compare with")
    return Path(folder)
