"""The guides show what the program prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sievert
from sievert.report import builder, terminal

from .test_compare import QI4, hierarchies

ROOT = Path(__file__).parents[2]


def test_which_release(reference: Path) -> None:
    """Every quoted line of the guide is a line of the comparison."""
    pairs = reference / "data" / "pairs" / "arx_adult"
    names = ("k10_s0", "k10_s5", "k15_s5")
    found = sievert.compare(
        reference / "data" / "adult" / "adult.csv",
        {name: pairs / f"adult_qi4_{name}.csv.gz" for name in names},
        QI4,
        "occupation",
        hierarchies=hierarchies(reference, QI4),
        delimiter=";",
    )
    everything = terminal.as_text(terminal.render(builder.screen(found), everything=True))
    lines = (*repr(found).splitlines(), *everything.splitlines())
    printed = {" ".join(line.split()) for line in lines}
    guide = (ROOT / "docs" / "guides" / "which-release.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^ *```\n(.*?)^ *```", guide, re.DOTALL | re.MULTILINE)
    quoted = [line for block in blocks for line in block.splitlines() if line.strip()]
    shown = [line for line in quoted if not re.match(r" *(sievert|-q|--hierarchy)\b", line)]
    assert len(shown) >= 13
    for line in shown:
        assert " ".join(line.split()) in printed, line
    lost = {n: found[n].disclosed.loss["occupation"].whole for n in names}
    before = found.original.attribute["occupation"].whole
    assert before.corrected == pytest.approx(0.265, abs=0.0005)
    assert lost["k10_s5"].excess == pytest.approx(0.006, abs=0.0006)
    assert found["k10_s5"].disclosed.identity.whole.maximum == pytest.approx(4.59, abs=0.005)
