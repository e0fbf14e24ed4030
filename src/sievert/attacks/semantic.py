"""Semantic: the same attacks after values of the secret that mean the same are put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sievert.attacks.attack import Attack, value
from sievert.attacks.homogeneity import MERGED, homogeneity
from sievert.attacks.skewness import skewness
from sievert.counts.cube import Cube
from sievert.errors import require
from sievert.hierarchies import Hierarchy


def semantic(
    cube: Cube,
    *,
    partition: Mapping[str, Sequence[str]] | None = None,
    hierarchy: Hierarchy | None = None,
    named: str | None = None,
    show: bool = False,
) -> Attack | None:
    """Homogeneity and skewness of the merged secret: by a partition, and by level of a hierarchy.

    >>> texts = [["2*", "3*"], ["colon cancer", "flu", "lung cancer"]]
    >>> cube = Cube.from_cells(["age", "s"], [[0, 0, 1, 1], [0, 2, 1, 2]], [1, 1, 1, 1], texts)
    >>> found = semantic(cube, partition={"cancer": ["colon cancer", "lung cancer"]})
    >>> found.parts["partition"].numbers["people"].value
    2
    """
    secret, found = cube.columns[-1], {}
    if partition is not None:
        found["partition"] = _merged(cube, _parts(secret, partition).get, named, show)
    if hierarchy is not None:
        hierarchy.require((v for v in cube.values[-1] if v is not None), secret)
        tree = hierarchy.with_root()
        for level in range(1, tree.height):
            found[f"level_{level}"] = _merged(cube, _labels(tree, level), named, show)
    if not found:
        return None
    return Attack({}, max(found.values(), key=_confidence).reading, parts=found)


def _confidence(attack: Attack) -> float:
    assert attack.worst is not None
    return float(attack.worst.numbers["confidence"].value or 0)


def _parts(secret: str, partition: Mapping[str, Sequence[str]]) -> dict[str | None, str]:
    """The part of each value; those that no part names are one more, without a name."""
    found: dict[str | None, str] = {}
    for number, (part, members) in enumerate(partition.items(), 1):
        for member in members:
            require(
                found.setdefault(member, part) == part,
                f"the partition of {secret!r} names a value in two parts",
                hint=f"look at its part {number}",
            )
    return found


def _labels(tree: Hierarchy, level: int) -> Callable[[str | None], str | None]:
    """The label of each value; a missing value is a branch of its own, without a name."""
    return lambda v: None if v is None or v not in tree.labels else tree.at(v, level)


def _merged(
    cube: Cube, label: Callable[[str | None], str | None], named: str | None, show: bool
) -> Attack:
    """The attacks on what the values have in common."""
    labels = [label(v) for v in cube.values[-1]]
    texts = sorted({v for v in labels if v is not None})
    code = {text: i for i, text in enumerate(texts, 1)}
    part = np.array([0 if v is None else code[v] for v in labels], dtype=np.uint32)
    merged = Cube(
        cube.columns,
        (*cube.codes[:-1], part[cube.codes[-1]]),
        cube.counts,
        (*cube.values[:-1], (None, *texts)),
    ).roll_up(cube.columns)
    plain = homogeneity(merged, show=show, words=MERGED)
    rate = plain.numbers["discrimination_rate"]
    return replace(
        plain,
        numbers={
            "semantic_discrimination_rate": value(
                "semantic_discrimination_rate", rate.value, rate.reason
            ),
            "people": plain.numbers["people"],
            "parts": value("parts", len(np.unique(merged.codes[-1]))),
        },
        parts={
            "skewness": skewness(
                merged,
                named=None if named is None else label(named),
                show=show,
                about="the merged secret",
            )
        },
    )
