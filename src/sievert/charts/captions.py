"""Bars that say their numbers in the words of the table beside them, or that they tell none."""

from __future__ import annotations

from collections.abc import Sequence

from sievert.charts.drawing import Spec


def caption_bars(spec: Spec, words: Sequence[str]) -> Spec:
    """The bars of `charts.bars`, each with its own words in place of its number.

    >>> from sievert.charts.drawing import Bar, bars
    >>> spec = caption_bars(bars("Alone", ["people"], [Bar("age", None)], axis="share"), ["few"])
    >>> spec["data"]["values"][0]["said"], spec["description"]
    ('age: few', 'people. age: few.')
    """
    rows = [_row(row, text) for row, text in zip(spec["data"]["values"], words, strict=True)]
    below = " ".join(spec["title"]["subtitle"])
    said = "; ".join(row["said"] for row in rows)
    captioned = {**spec, "data": {"values": rows}, "description": f"{below}. {said}."}
    return _in_per_cent(captioned) if any("%" in text for text in words) else captioned


def _in_per_cent(spec: Spec) -> Spec:
    """The axis in the unit of the words."""
    layers = []
    for layer in spec["layer"]:
        x = layer["encoding"]["x"]
        x = {**x, "axis": {**x.get("axis", {}), "format": "~%"}}
        layers.append({**layer, "encoding": {**layer["encoding"], "x": x}})
    return {**spec, "layer": layers}


def _row(row: Spec, text: str) -> Spec:
    who = f"{row['row']}, {row['series']}" if "series" in row else row["row"]
    return {**row, "shown": text, "said": f"{who}: {text}"}
