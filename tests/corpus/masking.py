"""Mask what may differ between two runs of the same source: folders, versions and times."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Each pattern, and the text that takes its place.
PATTERNS = (
    (re.compile(r"\b\d+(?:\.\d+)? (?:s|ms|seconds?) of (?:CPU|wall)\b"), "<time>"),
    (re.compile(r'(?<="seconds": )[\d.e-]+'), "<time>"),
    (re.compile(r"(?<=[?&]v=)[0-9a-f]{8,}"), "<digest>"),
    (re.compile(r'(?<="sievert": ")\d+\.\d+\.\d+[^"]*'), "<version>"),
    (re.compile(r"\bSievert \d+\.\d+\.\d+\b"), "Sievert <version>"),
    (re.compile(r"0x[0-9a-f]{6,}"), "<address>"),
)
DRAWING = re.compile(r"(?:translate|rotate|scale|matrix)\([^)]*\)|\bd=\"[^\"]*\"|\bclip\d+\b")


def mask(text: str, folders: Iterable[tuple[str, str]]) -> str:
    """Replace each of the `folders` by its name, and mask versions, times and drawing details.

    >>> mask("wrote /tmp/a/x.csv with Sievert 0.2.0", [("/tmp/a", "<place>")])
    'wrote <place>/x.csv with Sievert <version>'
    """
    for folder, name in folders:
        text = text.replace(folder, name)
    for pattern, replacement in PATTERNS:
        text = pattern.sub(replacement, text)
    return DRAWING.sub("<drawing>", text)
