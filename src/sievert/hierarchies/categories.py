"""Levels of categories: the most frequent values, groups of neighbours, trees."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from sievert.errors import InputError, require
from sievert.hierarchies.dates import in_time_order, is_date
from sievert.hierarchies.hierarchy import Hierarchy, read_text
from sievert.hierarchies.labels import NUMBER, ROOT

OTHER = "other"
ELSE = "..."  # in a tree: every value that it does not name
DEEPEST = 50  # levels of a tree


def most_frequent(counts: Mapping[str, int], numbers: Sequence[int]) -> Hierarchy:
    """Keep the most frequent values, and give all others one label; ties are kept in text order.

    >>> most_frequent({"a": 9, "b": 5, "c": 1, "d": 1}, [3, 1]).labels["c"]
    ('c', 'other', '*')
    """
    ranked = sorted((v for v in counts if v and v != OTHER), key=lambda v: (-counts[v], v))
    rank = {value: place for place, value in enumerate(ranked)}
    return Hierarchy(
        {v: (*(v if rank.get(v, n) < n else OTHER for n in numbers), ROOT) for v in counts},
        "top",
    )


def neighbours(
    values: Collection[str], sizes: Sequence[int], order: Sequence[str] | None = None
) -> Hierarchy:
    """Group neighbours in a given order of all values, else in that of numbers or dates.

    The label of a group is its first and its last value.

    >>> neighbours("bcad", [2, 4], "abcd").labels["c"]
    ('c–d', 'a–d', '*')
    """
    ordered = _in_order(values) if order is None else order
    place = {value: at for at, value in enumerate(ordered)}

    def label(at: int, size: int) -> str:
        group = ordered[at // size * size :][:size]
        return group[0] if len(group) == 1 else f"{group[0]}–{group[-1]}"

    for size in sizes:
        labels = [label(at, size) for at in range(0, len(ordered), size)]
        require(
            len({*labels}) == len(labels),
            "order: two groups of values have the same label",
            error=InputError,
        )
    return Hierarchy(
        {v: (*(label(place[v], size) for size in sizes), ROOT) for v in values}, "order"
    )


def _in_order(values: Collection[str]) -> list[str]:
    """Sort numbers by size, dates by time."""
    if all(NUMBER.fullmatch(v) for v in values):
        return sorted(values, key=lambda v: (Decimal(v), v))
    require(
        all(is_date(v) for v in values),
        "order: the values are neither numbers nor dates",
        hint="their order in [orders] of a policy, or orders= in Python",
    )
    return in_time_order(values)


def read_tree(path: Path) -> Any:
    """Read the tree in a TOML or JSON file."""
    import tomllib

    text = read_text(path)
    try:
        return json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path.name}: not {path.suffix[1:].upper()}: {error}") from None
    except RecursionError:
        raise InputError(f"{path.name}: nested too deeply") from None


def tree_hierarchy(tree: Any, values: Iterable[str], source: str = "tree") -> Hierarchy:
    """Make a hierarchy from nested tables: {"Europe": {"West": ["France", "Spain"]}}.

    Branches of different depth are aligned at the top; a short branch repeats its lowest label on
    the levels below. `...` in a list stands for every value that is not named.

    >>> tree = {"Europe": {"West": ["France"]}, "Antarctica": ["Vostok"]}
    >>> tree_hierarchy(tree, []).labels["Vostok"]
    ('Antarctica', 'Antarctica')
    """
    paths: dict[str, tuple[str, ...]] = {}
    for value, path in _leaves(tree, (), source):
        require(
            paths.setdefault(value, path) == path,
            f"{source}: a value stands in two places",
            error=InputError,
        )
    rest = paths.pop(ELSE, None)
    if rest is not None:
        paths |= {value: rest for value in values if value not in paths}
    height = max(map(len, paths.values()), default=0)
    ladder = {v: path[:1] * (height - len(path)) + path for v, path in paths.items()}
    return Hierarchy(ladder, source)


def _leaves(
    branch: Any, above: tuple[str, ...], source: str
) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Yield every value with the labels above it, the lowest first."""
    require(
        isinstance(branch, Mapping | list | tuple) and len(above) <= DEEPEST,
        f"{source}: a tree is tables in tables with lists of values, at most {DEEPEST} deep",
        hint='{ Europe = { West = ["France", "Spain"] } }',
        error=InputError,
    )
    if isinstance(branch, Mapping):
        for label, inner in branch.items():
            yield from _leaves(inner, (str(label), *above), source)
        return
    for value in branch:
        require(
            isinstance(value, str | int | float) and not isinstance(value, bool),
            f"{source}: a list of a tree holds something that is no value",
            error=InputError,
        )
        yield str(value), above


def tree_of(hierarchy: Hierarchy) -> dict[str, Any]:
    """Write a hierarchy as nested tables, without a root that has no name.

    >>> tree_of(most_frequent({"a": 9, "b": 5}, [1]))
    {'a': ['a'], 'other': ['b']}
    """
    tree: dict[str, Any] = {}
    for value, labels in hierarchy.labels.items():
        path = labels[:-1] if labels[-1] == ROOT and len(labels) > 1 else labels
        branch = tree
        for label in reversed(path[1:]):
            branch = branch.setdefault(label, {})
        branch.setdefault(path[0], []).append(value)
    return tree
