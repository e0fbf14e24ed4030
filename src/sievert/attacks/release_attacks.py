"""The attacks that need the release alone, on every secret of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sievert.attacks.attack import Attack, to_hierarchy, with_target
from sievert.attacks.background import background
from sievert.attacks.homogeneity import homogeneity
from sievert.attacks.identity import black_box
from sievert.attacks.semantic import semantic
from sievert.attacks.skewness import skewness
from sievert.counts.cube import Cube
from sievert.errors import require
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
