"""Earlier releases of the same people: a new release and they have to meet the policy together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.counts.cube import Cube
from sievert.counts.joint_classes import (
    JointClasses,
    PatternsOfRows,
    find_patterns,
    join_releases,
)
from sievert.counts.questions import Questions
from sievert.errors import InputError, UsageError, require
from sievert.formatting import plural
from sievert.formatting.canonical import canonical_text, group_spellings
from sievert.methods.full_domain import FullDomainRecoding
from sievert.methods.full_domain.rules import size_rule
from sievert.policy import Policy
from sievert.request.requested import Reading, RequestedRoles, check_known


@dataclass(frozen=True, eq=False, kw_only=True)
class EarlierRelease:
    """The keys of a release: in which classes each occurs, and in how many records."""

    keys: tuple[str | None, ...]  # all different keys
    key: Ints  # the place of a key in `keys`
    classes: Ints  # the number of a class
    rows: Ints  # the records of this key in this class
    columns: tuple[str, ...]  # the columns that make the classes


def read_earlier(
    tables: Sequence[Any], key: str | None, requested: RequestedRoles, reading: Reading
) -> tuple[EarlierRelease, ...]:
    """Read the classes of earlier releases; they are made of all columns but key and secrets."""
    if not tables:
        return ()
    if key is None:
        raise UsageError("--earlier finds people by a column of both tables", hint="--key COL")
    if requested.policy is not None:
        joint_size(requested.policy)
    releases = []
    for table in tables:
        with reading(table) as (_, questions):
            check_known("--key: column", key, questions.columns)
            _, sensitive, _ = requested.names(questions.columns)
            ignored = requested.policy.roles.left_out if requested.policy else {}
            known = [c for c in questions.columns if c not in {key, *sensitive, *ignored}]
            require(known, "an earlier release has no columns but the key and secrets")
            cube = _count_with_key(questions, known, key)
            releases.append(
                EarlierRelease(
                    keys=cube.values[-1],
                    key=_key_codes(cube),
                    classes=cube.owner,
                    rows=cube.counts,
                    columns=tuple(known),
                )
            )
    return tuple(releases)


def joint_size(policy: Policy) -> int:
    """The k that the classes of all releases together must have; an error without a limit on k."""
    k = size_rule({**policy.everywhere, **policy.reidentification})
    require(k > 1, "the policy has no limit on k that releases together could be held against")
    return k


def _count_with_key(questions: Questions, columns: Sequence[str], key: str) -> Cube:
    """Count the combinations of `columns` and the key, which every record must have."""
    questions.check_usable((*columns, key))
    cube = questions.cube((*columns, key))
    lacking = 0
    if None in cube.values[-1]:
        lacking = int(cube.counts[_key_codes(cube) == 0].sum())
    require(not lacking, f"{plural(lacking, 'record')} without a key ({key!r})", error=InputError)
    return cube


def _key_codes(cube: Cube) -> Ints:
    """The code of the key of every cell."""
    return cube.codes[-1].astype(np.int64)


class JointReleases:
    """The classes of a table and of earlier releases of the same people together.

    If keys differ only in their spelling, the keys are read twice: as they are spelt, and with
    such keys as one person.
    """

    def __init__(
        self,
        questions: Questions,
        quasi: Sequence[str],
        key: str,
        earlier: Sequence[EarlierRelease],
        k: int,
        *,
        distinct: bool = False,
    ) -> None:
        """Read the keys of the table; with `distinct`, two spellings are always two people."""
        cube = _count_with_key(questions, quasi, key)
        self.k = k
        self.key = key
        self._owner = cube.owner
        self._rows = cube.counts
        keys = [cube.values[-1], *(release.keys for release in earlier)]
        texts = dict.fromkeys(key for own in keys for key in own if key is not None)
        groups = [] if distinct else group_spellings(texts)
        self.respelt = sum(map(len, groups))  # the number of keys with another spelling
        self._readings = [_join_people(cube, earlier, str)]
        if groups:
            self._readings.append(_join_people(cube, earlier, canonical_text))
        are_shared = any(
            all(len(np.intersect1d(person, other.person)) for other in others)
            for person, others in self._readings
        )
        require(are_shared, "no key of the table is in an earlier release", hint="the right --key")

    def join(self, recoding: FullDomainRecoding, codes: Ints) -> JointClasses:
        """Join the classes that a recoding makes of the combinations `codes` with earlier ones.

        If the keys have two readings, return the joint classes of the one with smaller classes.
        """
        classes = recoding.class_numbers(codes)
        classes = np.where(recoding.suppressed_classes[classes], len(recoding.class_keys), classes)
        joined = [
            join_releases([*others, find_patterns(person, classes[self._owner], self._rows)])
            for person, others in self._readings
        ]
        return min(joined, key=lambda joint: (joint.smallest, -joint.people_below(self.k)))


def _join_people(
    cube: Cube, earlier: Sequence[EarlierRelease], spell: Callable[[str], str]
) -> tuple[Ints, list[PatternsOfRows]]:
    """Number the people of a table and of earlier releases, by their keys as `spell` writes them.

    Returns the person of each cell of the table, and the patterns of each release.
    """
    number: dict[str | None, int] = {}

    def numbers(texts: Sequence[str | None]) -> Ints:
        keys = (None if text is None else spell(text) for text in texts)
        return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)

    person = numbers(cube.values[-1])[_key_codes(cube)]
    others = [
        find_patterns(numbers(release.keys)[release.key], release.classes, release.rows)
        for release in earlier
    ]
    return person, others


def is_one_table(given: Any) -> bool:
    """Tell whether `given` is a table, and not a list of tables.

    >>> is_one_table("a.csv"), is_one_table({"a": ["1"]}), is_one_table(["a.csv"])
    (True, True, False)
    """
    return not isinstance(given, list | tuple)
