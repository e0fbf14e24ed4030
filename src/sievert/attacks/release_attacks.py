"""The attacks that need the release alone, on every secret of it.

Semantic: the same attacks after values of the secret that mean the same are put together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sievert.attacks.attack import Attack, to_hierarchy, value, with_target
from sievert.attacks.homogeneity import MERGED, background, homogeneity
from sievert.attacks.identity import black_box
from sievert.attacks.skewness import skewness
from sievert.counts.cube import Cube
from sievert.errors import require
from sievert.hierarchies import Hierarchy
from sievert.notes import Name, Note


def attack_release(
    count: Callable[[Sequence[str]], Cube],
    quasi: Sequence[str],
    secrets: Sequence[str],
    *,
    hierarchies: Mapping[str, Any],
    partitions: Mapping[str, Mapping[str, Iterable[Any]]],
    named: Mapping[str, str],
    show: bool = False,
) -> tuple[dict[str, dict[str, Attack]], list[Note]]:
    """Every attack that needs the release alone; `count` makes the cube of some columns.

    Returns the attacks and a note for each secret whose named value does not occur.
    """
    classes: Cube | None = None
    attacks: dict[str, dict[str, Attack]] = {"identity": {}}
    for secret in secrets:
        cube = with_target(count(quasi), secret) if secret in quasi else count((*quasi, secret))
        if classes is None:
            classes = cube.roll_up(quasi)
        parts = partitions.get(secret)
        merged = semantic(
            cube,
            partition=None if parts is None else {p: [str(x) for x in v] for p, v in parts.items()},
            hierarchy=to_hierarchy(
                hierarchies.get(secret), [v for v in cube.values[-1] if v is not None]
            ),
            named=named.get(secret),
            show=show,
        )
        for name, attack in (
            ("homogeneity", homogeneity(cube, show=show)),
            ("background", background(cube, show=show)),
            ("skewness", skewness(cube, named=named.get(secret), show=show)),
            ("semantic", merged),
        ):
            if attack is not None:
                attacks.setdefault(name, {})[secret] = attack
    classes = count(quasi) if classes is None else classes
    attacks["identity"]["black_box"] = black_box(classes, show=show)
    return attacks, [
        Note("the named value does not occur in {}", Name(secret))
        for secret in named
        if not attacks["skewness"][secret].details["occurs"]
    ]


def check_named(named: Mapping[str, str], secrets: Sequence[str]) -> None:
    """Only a secret has a value whose rise matters."""
    for column in named:
        require(
            column in secrets,
            f"--value: column {column!r} is not a secret here",
            hint=f"-s {column}",
        )


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
    secret, parts = cube.columns[-1], {}
    if partition is not None:
        parts["partition"] = _attack_merged(cube, _parts(secret, partition).get, named, show)
    if hierarchy is not None:
        hierarchy.require((v for v in cube.values[-1] if v is not None), secret)
        tree = hierarchy.with_root()
        for level in range(1, tree.height):
            parts[f"level_{level}"] = _attack_merged(cube, _labels(tree, level), named, show)

    def confidence(part: Attack) -> float:
        return 0.0 if part.worst is None else part.worst.numbers["confidence"].value or 0.0

    return Attack({}, max(parts.values(), key=confidence).reading, parts=parts) if parts else None


def _parts(secret: str, partition: Mapping[str, Sequence[str]]) -> dict[str | None, str]:
    """The part of each value; those that no part names are one more, without a name."""
    part_of: dict[str | None, str] = {}
    for number, (part, members) in enumerate(partition.items(), 1):
        for member in members:
            require(
                part_of.setdefault(member, part) == part,
                f"the partition of {secret!r} names a value in two parts",
                hint=f"look at its part {number}",
            )
    return part_of


def _labels(tree: Hierarchy, level: int) -> Callable[[str | None], str | None]:
    """The label of each value; a missing value is a branch of its own, without a name."""
    return lambda v: None if v is None or v not in tree.labels else tree.at(v, level)


def _attack_merged(
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
