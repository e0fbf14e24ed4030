"""What releases of Adult are still good for, beyond the loss of their labels.

Each release is k = 5 on eight columns: ARX's own (5 % suppressed), ours with the same limit, local
recoding with hierarchy labels, and with sets. Beside the mean generalisation loss stand

- I(X';Y) of occupation, as counted and corrected for chance: over thousands of classes of five to
  seven records most of the plug-in value is chance;
- accuracy and AUC of predicting salary-class on originals. A logistic model with a small ridge
  learns from the released records of one half (a label counts as all values below it, in equal
  parts; suppressed records are left out) and is tried on the original records of the other half.

Needs the folder that SIEVERT_REFERENCE names.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import sievert
from bench.common import BenchError, Options, Result, digits, scratch, table
from bench.protect import EIGHT, SECRET
from sievert.attacks.reasoning.value_sets import label_members
from sievert.estimators.information import information
from sievert.hierarchies import Hierarchy

TARGET = "salary-class"
RICH = ">50K"
KNOWN = tuple(c for c in EIGHT if c != TARGET)
RIDGE, STEPS, SEED = 1.0, 25, 0
Rows = list[dict[str, str]]


def run(options: Options) -> Result:
    """Print a line for each release."""
    folder = os.environ.get("SIEVERT_REFERENCE")
    if not folder:
        raise BenchError("set SIEVERT_REFERENCE to the folder with Adult and ARX's releases")
    data = Path(folder) / "data"
    adult = data / "adult" / "adult.csv"
    original = _rows(adult.read_text(encoding="utf-8"))
    trees = {
        c: Hierarchy.read(data / "adult" / "hierarchies" / f"adult_hierarchy_{c}.csv")
        for c in EIGHT
    }
    arx = data / "pairs" / "arx_adult" / "adult_qi8_k5_s5.csv.gz"
    theirs = _rows(gzip.decompress(arx.read_bytes()).decode())
    releases = {"original": original, "ARX, full-domain, 5 %": theirs}
    with scratch() as place:
        for name, how in (
            ("full, 5 %", {"suppress": 0.05}),
            ("local, hierarchy", {"how": "local"}),
            ("local, sets", {"how": "local", "labels": "sets"}),
        ):
            releases[name] = _release(adult, trees, place / f"{len(releases)}.csv", how)
    result = {name: _use(original, rows, trees) for name, rows in releases.items()}
    head = ("release", "I(X';Y) counted", "corrected, bits", "accuracy", "AUC")
    print(table(head, [(name, *map(digits, use.values())) for name, use in result.items()]))
    return {"releases": result}


def _rows(text: str) -> Rows:
    return list(csv.DictReader(io.StringIO(text), delimiter=";"))


def _release(
    adult: Path, trees: Mapping[str, Hierarchy], out: Path, how: Mapping[str, Any]
) -> Rows:
    """The records of a release that protect makes, with the target of the original."""
    roles = {"quasi": list(EIGHT), "sensitive": [SECRET], "rows_are_people": True}
    limits = {"k_anonymity": {"min": 5}, "suppressed_records": {"max": 1508}}
    made = sievert.protect(
        adult, policy={"roles": roles, "limits": limits}, hierarchies=dict(trees), out=out, **how
    )
    if not made.released:
        raise BenchError(f"no release was written: {made!r}")
    return _rows(out.read_text(encoding="utf-8"))


def _use(original: Rows, released: Rows, trees: Mapping[str, Hierarchy]) -> dict[str, float]:
    told = information(
        _codes([tuple(row[c] for c in EIGHT) for row in released]),
        _codes([row[SECRET] for row in original]),
        shuffles=0,
    )
    half = np.random.default_rng(SEED).random(len(original)) < 0.5
    kept = np.array([any(row[c] != "*" for c in EIGHT) for row in released]) & half
    features, tried = [np.ones((len(original), 1))], [np.ones((len(original), 1))]
    for column in KNOWN:
        values = sorted({row[column] for row in original})
        features.append(_shares([row[column] for row in released], values, trees[column]))
        tried.append(_shares([row[column] for row in original], values, None))
    rich = np.array([row[TARGET] == RICH for row in original])
    weights = _logistic(np.hstack(features)[kept], rich[kept])
    score, truth = np.hstack(tried)[~half] @ weights, rich[~half]
    return {
        "counted": told.value,
        "corrected": told.corrected,
        "accuracy": float(((score > 0) == truth).mean()),
        "auc": _auc(score, truth),
    }


def _codes(keys: Sequence[Any]) -> np.ndarray:
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys])


def _shares(labels: Sequence[str], values: Sequence[str], tree: Hierarchy | None) -> np.ndarray:
    """Per record the share of each value: of a label, all values below it in equal parts."""
    different = sorted(set(labels))
    members = label_members(different, values, tree)
    shares = np.zeros((len(different), len(values)))
    for row, (label, own) in enumerate(zip(different, members, strict=True)):
        if len(own) == 0 and label != "*":
            raise BenchError("a label of a release cannot be read")
        shares[row, own if len(own) else slice(None)] = 1 / (len(own) or len(values))
    place = {label: row for row, label in enumerate(different)}
    return shares[[place[label] for label in labels]]


def _logistic(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights of a logistic model with a ridge, by Newton's steps."""
    weights = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (y - p) - RIDGE * weights
        bend = (x * (p * (1 - p))[:, None]).T @ x + RIDGE * np.eye(x.shape[1])
        step = np.linalg.solve(bend, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def _auc(score: np.ndarray, truth: np.ndarray) -> float:
    """The share of pairs in the right order; of equal scores, half."""
    _, rank, times = np.unique(score, return_inverse=True, return_counts=True)
    middle = np.cumsum(times) - (times - 1) / 2
    rich = int(truth.sum())
    above = middle[rank][truth].sum() - rich * (rich + 1) / 2
    return float(above / (rich * (len(truth) - rich)))
