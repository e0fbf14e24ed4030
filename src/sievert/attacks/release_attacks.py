"""The attacks that need only the release, on every secret in it.

Skewness compares a class with the whole table: a value that is rare in the table may be likely in a
class. Semantic attacks are the same attacks after merging values of the secret that mean the same.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.attacks.attack import (
    MOST_LISTED,
    Attack,
    Group,
    Learned,
    Listed,
    joint,
    measure_value,
    value,
    with_target,
)
from sievert.attacks.homogeneity import MERGED, background, homogeneity
from sievert.attacks.identity import black_box
from sievert.counts.answers import Profiles, SecretCounts
from sievert.counts.cube import Cube, histogram
from sievert.errors import require
from sievert.formatting import percent, plural, significant
from sievert.formatting.remarks import Remark
from sievert.hierarchies import Hierarchy, to_hierarchy
from sievert.measures import kernel
from sievert.measures.measure import NOTHING_TO_LEARN, Value
from sievert.measures.target import SecretTarget

ABSENT = Remark("value_absent")
NUMBERS = ("prior", "posterior", "gain", "ratio", "semantic_discrimination_rate")


def skewness(
    cube: Cube, *, named: str | None = None, show: bool = False, about: str = "the secret"
) -> Attack:
    """The largest rise of a value's probability from the table to a class; of a named value.

    >>> texts = [["2*", "3*"], ["flu", "hiv"]]
    >>> codes = [[0, 0, 1, 1], [0, 1, 0, 1]]
    >>> cube = Cube.from_cells(["age", "disease"], codes, [88, 2, 7, 3], texts)
    >>> found = skewness(cube, named="hiv").numbers
    >>> found["prior"].value, found["posterior"].value, found["ratio"].value
    (0.05, 0.3, 6.0)
    """
    learned = Learned(cube)
    rises = _Rises(learned)
    whole = {
        "t_closeness": value("t_closeness", kernel.ratio(*kernel.largest_ratio(*rises.distances))),
        "entropy_variation": measure_value("entropy_variation", learned.target),
    }
    code = next((i for i, v in enumerate(cube.values[-1]) if v == named), None)
    if named is not None and (code is None or not learned.totals[code]):
        return Attack(
            numbers={n: value(n, None, ABSENT) for n in NUMBERS}
            | whole
            | {"people": value("people", 0)},
            reading=f"The named value of {about} does not occur.",
            details={"named_value": True, "occurs": False},
        )
    worst, classes = rises.highest(None if named is None else code)
    flat = int(rises.top[worst]) == 0  # as likely in its class as in the table
    numbers = {
        **_about_value(learned, int(cube.codes[-1][worst]), worst),
        **whole,
        "people": value("people", 0 if flat else int(learned.sizes[classes].sum())),
    }
    group = None if flat else _group(learned, rises, worst, show)
    return Attack(
        numbers=numbers,
        reading=_sentence(numbers, group, named is not None, about),
        worst=group,
        values=_list_values(learned, rises, show),
        details={"named_value": named is not None, "occurs": True},
    )


class _Rises:
    """p(s|q) - p(s) of every cell, as exact numerators over n_q·N."""

    def __init__(self, learned: Learned) -> None:
        self.learned = learned
        self.records = learned.records
        n = learned.cube.counts
        nq = learned.sizes[learned.owner]
        ns = learned.totals[learned.cube.codes[-1]]
        if self.records > kernel.EXACT_PRODUCT:
            n = kernel.exact(n)
            nq = kernel.exact(nq)
            ns = kernel.exact(ns)
        self.top = n * self.records - ns * nq
        self.bottom = nq * self.records

    def highest(self, code: int | None) -> tuple[int, Ints]:
        """The cell with the largest rise, and the classes that have such a rise.

        `code` restricts the search to one value of the secret. Of several such cells it is that of
        the largest class; among equally large classes, that of the rarest value; then that of the
        class farthest from the table. The counts of class and value, not their spellings, decide
        between the remaining cells.
        """
        codes = self.learned.cube.codes[-1]
        owner = self.learned.owner
        cells = np.arange(len(codes)) if code is None else np.flatnonzero(codes == code)
        top = self.top[cells]
        bottom = self.bottom[cells]
        most = kernel.largest_ratio(top, bottom)
        rough = np.asarray(top, dtype=np.float64) / np.asarray(bottom, dtype=np.float64)
        close = np.flatnonzero(np.abs(rough - most[0] / most[1]) <= 1e-9)
        alike = [i for i in close.tolist() if int(top[i]) * most[1] == most[0] * int(bottom[i])]
        highest = cells[alike]
        sizes = self.learned.sizes[owner[highest]]
        rare = self.learned.totals[codes[highest]]
        far = np.asarray(self.distances[0][owner[highest]], dtype=np.float64)
        first = np.lexsort((-far, rare, -sizes))[0]
        same = np.logical_and.reduce([key == key[first] for key in (sizes, rare, far)])
        worst = max(
            highest[same].tolist(),
            key=lambda cell: (
                *self.class_profile(int(owner[cell])),
                *self.profile(int(codes[cell])),
            ),
        )
        return int(worst), np.unique(owner[highest])

    @cached_property
    def _by_value(self) -> tuple[Ints, Ints]:
        """The cells by value, large classes first; and where the cells of each value begin."""
        codes = self.learned.cube.codes[-1]
        counts = self.learned.cube.counts
        order = np.lexsort((-counts, -self.learned.sizes[self.learned.owner], codes))
        return order, np.searchsorted(codes[order], np.arange(len(self.learned.totals) + 1))

    def profile(self, code: int) -> list[tuple[int, int]]:
        """The sizes of the classes that have a value, each with its records of the value."""
        order, starts = self._by_value
        cells = order[starts[code] : starts[code + 1]]
        sizes = self.learned.sizes[self.learned.owner[cells]]
        return list(zip(sizes.tolist(), self.learned.cube.counts[cells].tolist(), strict=True))

    def class_profile(self, i: int) -> list[tuple[int, int]]:
        """The values of a class by their records there and in the table, frequent ones first."""
        start = int(self.learned.starts[i])
        cells = slice(start, start + int(self.learned.lengths[i]))
        totals = self.learned.totals[self.learned.cube.codes[-1][cells]]
        pairs = zip(self.learned.cube.counts[cells].tolist(), totals.tolist(), strict=True)
        return sorted(pairs, reverse=True)

    @cached_property
    def distances(self) -> tuple[Ints, Ints]:
        """By class: the sum over s of max(0, n_qs·N - n_s·n_q), and n_q·N; t is the ratio."""
        starts = self.learned.starts
        return np.add.reduceat(np.maximum(self.top, 0), starts), self.bottom[starts]


def _about_value(learned: Learned, code: int, cell: int) -> dict[str, Value]:
    """A value of the secret in the table, in the class where it rises most, against the rest."""
    ns = int(learned.totals[code])
    n = int(learned.cube.counts[cell])
    nq = int(learned.sizes[learned.owner[cell]])
    records = learned.records
    rate = measure_value("discrimination_rate", _against_the_rest(learned, code))
    return {
        "prior": value("prior", kernel.ratio(ns, records)),
        "posterior": value("posterior", kernel.ratio(n, nq)),
        "gain": value("gain", kernel.ratio(n * records - ns * nq, nq * records)),
        "ratio": value("ratio", kernel.ratio(n * records, ns * nq)),
        "semantic_discrimination_rate": value(
            "semantic_discrimination_rate", rate.value, rate.reason
        ),
    }


def _against_the_rest(learned: Learned, code: int) -> SecretTarget:
    """A secret of two values: `code`, or any other value. Classes without `code` count by size."""
    cells = np.flatnonzero(learned.cube.codes[-1] == code)
    with_it = learned.sizes[learned.owner[cells]]
    own = learned.cube.counts[cells]
    sizes = learned.target.sizes
    without = sizes.times.copy()
    np.subtract.at(without, np.searchsorted(sizes.sizes, with_it), 1)
    nq = np.concatenate((with_it, sizes.sizes[without > 0]))
    n = np.concatenate((own, np.zeros(len(nq) - len(own), dtype=np.int64)))
    times = np.concatenate((np.ones_like(own), without[without > 0]))
    pairs = np.stack((np.maximum(n, nq - n), np.minimum(n, nq - n)), axis=1)
    lengths = (pairs > 0).sum(axis=1)
    total = int(learned.totals[code])
    rest = learned.records - int(learned.totals[code])
    totals = np.repeat([total, rest], len(nq))
    each = (np.tile(nq, 2), totals, np.append(n, nq - n), np.tile(times, 2))
    there = each[2] > 0
    return SecretTarget(
        SecretCounts(
            records=learned.records,
            sizes=sizes,
            values=histogram(np.array([x for x in (total, rest) if x])),
            profiles=Profiles(pairs[pairs > 0], np.cumsum(lengths) - lengths, times),
            joint=joint(*(x[there] for x in each)),
        )
    )


def _group(learned: Learned, rises: _Rises, cell: int, show: bool) -> Group:
    """The class of a cell: how far it is from the table."""
    i = int(learned.owner[cell])
    values = learned.class_values(i, show)
    if values is not None:
        values |= {learned.cube.columns[-1]: learned.cube.values[-1][learned.cube.codes[-1][cell]]}
    return Group(
        int(learned.sizes[i]),
        {
            "t_closeness": value(
                "t_closeness", kernel.ratio(*(int(each[i]) for each in rises.distances))
            ),
            "entropy_variation": value("entropy_variation", learned.drop(i)),
        },
        values,
    )


def _list_values(learned: Learned, rises: _Rises, show: bool) -> Listed:
    """The values of the secret by the largest rise of each, worst first."""
    codes = learned.cube.codes[-1]
    rough = np.asarray(rises.top, dtype=np.float64) / np.asarray(rises.bottom, dtype=np.float64)
    order = np.lexsort((codes, learned.totals[codes], -rough))
    _, firsts = np.unique(codes[order], return_index=True)
    best = order[np.sort(firsts)]
    rare = learned.totals[codes]
    end = best[min(len(best), MOST_LISTED) - 1]
    near = (-rough[best] < -rough[end]) | ((rough[best] == rough[end]) & (rare[best] <= rare[end]))
    listed = sorted(
        best[near].tolist(),  # with all that tie with the last one
        key=lambda cell: (-rough[cell], rare[cell], rises.profile(int(codes[cell]))),
    )
    name = learned.cube.columns[-1]
    texts = learned.cube.values[-1]
    groups = (
        Group(
            int(learned.totals[code]),
            _about_value(learned, code, cell),
            {name: texts[code]} if show else None,
        )
        for cell, code in ((cell, int(codes[cell])) for cell in listed[:MOST_LISTED])
    )
    return Listed(len(best), tuple(groups))


def _sentence(numbers: dict[str, Value], worst: Group | None, named: bool, about: str) -> str:
    if numbers["semantic_discrimination_rate"].reason == NOTHING_TO_LEARN:
        return f"In the whole table {about} has one value: no attack is needed."
    if worst is None:
        alike = "The named value is as likely in every class as in the table."
        return alike if named else "No value is likelier in any class than in the table."
    prior, posterior = (float(numbers[n].value or 0) for n in ("prior", "posterior"))
    times = significant(float(numbers["ratio"].value or 0))
    people = int(numbers["people"].value or 0)
    which = "the named value" if named else "some value"
    whom = (
        "1 person is in such a class" if people == 1 else f"{people:,} people are in such classes"
    )
    return (
        f"{percent(prior)} of all people have {which} of {about}, but {percent(posterior)} of a "
        f"class of {plural(worst.records, 'record')}: {times} times as many. {whom}."
    )


def attack_release(
    count: Callable[[Sequence[str]], Cube],
    quasi: Sequence[str],
    secrets: Sequence[str],
    *,
    hierarchies: Mapping[str, Any],
    partitions: Mapping[str, Mapping[str, Iterable[Any]]],
    named: Mapping[str, str],
    show: bool = False,
) -> tuple[dict[str, dict[str, Attack]], list[Remark]]:
    """Run every attack that needs only the release; `count` makes the cube of some columns.

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
            hierarchy=to_hierarchy(hierarchies.get(secret), cube.value_counts(-1)),
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
        Remark("no_value_in", column=repr(secret))
        for secret in named
        if not attacks["skewness"][secret].details["occurs"]
    ]


def check_named(named: Mapping[str, str], secrets: Sequence[str]) -> None:
    """Refuse a named value of a column that is not a secret."""
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
    secret = cube.columns[-1]
    parts = {}
    if partition is not None:
        parts["partition"] = _attack_merged(cube, _parts(secret, partition).get, named, show)
    if hierarchy is not None:
        hierarchy.require((v for v in cube.values[-1] if v is not None), secret)
        tree = hierarchy.with_root()
        parts |= {
            f"level_{level}": _attack_merged(cube, _labels(tree, level), named, show)
            for level in range(1, tree.height)
        }

    def confidence(part: Attack) -> float:
        return 0.0 if part.worst is None else part.worst.numbers["confidence"].value or 0.0

    return (
        Attack(numbers={}, reading=max(parts.values(), key=confidence).reading, parts=parts)
        if parts
        else None
    )


def _parts(secret: str, partition: Mapping[str, Sequence[str]]) -> dict[str | None, str]:
    """The part of each value; values that no part names make up a part without a name."""
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
        columns=cube.columns,
        codes=(*cube.codes[:-1], part[cube.codes[-1]]),
        counts=cube.counts,
        values=(*cube.values[:-1], (None, *texts)),
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
