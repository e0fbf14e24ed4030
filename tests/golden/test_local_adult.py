"""Local recoding of Adult, k = 5, eight columns: less is lost than by ARX's local recoding (.0329).

The losses are those of this program, held fixed; that of ARX 3.9 is the best of three settings.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from sievert.commands.protect.local_recoding.columns import LocalColumn
from sievert.commands.protect.local_recoding.labels import column_labels, mean_shares
from sievert.commands.protect.local_recoding.recoding import recode_locally
from sievert.hierarchies import Hierarchy
from sievert.methods.full_domain import Rule, SecretCells

EIGHT = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "salary-class",
)  # fmt: skip
ARX = 0.0329


@pytest.mark.parametrize(
    ("labels", "rules", "loss"),
    [
        ("hierarchy", (), 0.0281477),
        ("sets", (), 0.0123466),
        ("hierarchy", (Rule("distinct", 3),), 0.0311085),
        ("cells", (), 0.0927947),
    ],
)
def test_the_loss_on_adult(
    labels: str, rules: tuple[Rule, ...], loss: float, reference: Path
) -> None:
    folder = reference / "data" / "adult"
    with (folder / "adult.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    columns, positions = [], []
    for name in EIGHT:
        texts = sorted({row[name] for row in rows})
        tree = Hierarchy.read(folder / "hierarchies" / f"adult_hierarchy_{name}.csv").with_root()
        if labels == "cells":
            tree = Hierarchy(dict.fromkeys(texts, ("*",)))
        columns.append(LocalColumn.of_values(name, texts, tree, sets=labels == "sets"))
        place = dict(zip(texts, columns[-1].positions(texts).tolist(), strict=True))
        positions.append([place[row[name]] for row in rows])
    codes, at, counts = np.unique(
        np.array(positions).T, axis=0, return_inverse=True, return_counts=True
    )
    texts = sorted({row["occupation"] for row in rows})
    secret = [texts.index(row["occupation"]) for row in rows]
    cells, sums = np.unique(np.stack([at.ravel(), secret], axis=1), axis=0, return_counts=True)
    secrets = [
        SecretCells(
            name="occupation",
            combination=cells[:, 0],
            value=cells[:, 1],
            counts=sums,
            values=len(texts),
            rules=rules,
        )
    ]
    pieces = recode_locally(columns, codes, counts, secrets, k=5, weights=[1.0] * 8)
    sizes = np.bincount(pieces.owner, pieces.amount)
    assert sizes.min() >= 5 and sizes.sum() == len(rows)
    assert np.array_equal(np.bincount(pieces.combination, pieces.amount), counts)
    every = [column_labels(c, codes[:, j], pieces) for j, c in enumerate(columns)]
    mean = float(mean_shares(every, [c.domain for c in columns], sizes).mean())
    assert mean == pytest.approx(loss, abs=1e-6)
    if not rules and labels != "cells":
        assert mean < 0.9 * ARX
