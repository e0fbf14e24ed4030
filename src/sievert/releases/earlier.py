"""Earlier releases of the same people: a new one is held against the policy together with them."""

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


@dataclass(frozen=True, eq=False)
class EarlierRelease:
    """The key of every record of a release, and the number of its class."""

    keys: tuple[str | None, ...]  # each different one
    key: Ints
    classes: Ints
    rows: Ints  # records of a key in a class
    columns: tuple[str, ...]  # that classes are made of


def read_earlier(
    tables: Sequence[Any], key: str | None, requested: RequestedRoles, reading: Reading
) -> tuple[EarlierRelease, ...]:
    """Read the classes of earlier releases; an outsider knows all columns but key and secrets."""
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
            cube = _keyed(questions, known, key)
            releases.append(
                EarlierRelease(
                    cube.values[-1], _key_codes(cube), cube.owner, cube.counts, tuple(known)
                )
            )
    return tuple(releases)


def joint_size(policy: Policy) -> int:
    """The k that classes of several releases together must have; an error if no limit has one."""
    k = size_rule({**policy.everywhere, **policy.reidentification})
    require(k > 1, "the policy has no limit on k that releases together could be held against")
    return k


def _keyed(questions: Questions, columns: Sequence[str], key: str) -> Cube:
    """The combinations of some columns with the key, which every record must have."""
    questions.check_usable((*columns, key))
    cube = questions.cube((*columns, key))
    lacking = int(cube.counts[_key_codes(cube) == 0].sum()) if None in cube.values[-1] else 0
    require(not lacking, f"{plural(lacking, 'record')} without a key ({key!r})", error=InputError)
    return cube


def _key_codes(cube: Cube) -> Ints:
    return cube.codes[-1].astype(np.int64)


class JointReleases:
    """A table that is released beside earlier releases: the classes of all of them together.

    Keys that coincide only canonically are read twice: as they are spelt, and as one person.
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
        """Read the keys of the table; with `distinct`, all spellings are other people."""
        cube = _keyed(questions, quasi, key)
        self.k, self.key, self._owner, self._rows = k, key, cube.owner, cube.counts
        texts = dict.fromkeys(
            text
            for texts in (cube.values[-1], *(release.keys for release in earlier))
            for text in texts
            if text is not None
        )
        groups = [] if distinct else group_spellings(texts)
        self.respelt = sum(map(len, groups))  # how many keys coincide with others
        self._readings = [_join_people(cube, earlier, str)]
        if groups:
            self._readings.append(_join_people(cube, earlier, canonical_text))
        found = any(
            all(len(np.intersect1d(person, other.person)) for other in others)
            for person, others in self._readings
        )
        require(found, "no key of the table is in an earlier release", hint="the right --key")

    def join(self, recoding: FullDomainRecoding, codes: Ints) -> JointClasses:
        """The joint classes with what a recoding makes of combinations of values.

        Of two readings of the keys it is the one with the smaller classes.
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
    """Whether this is a table, and not a list of tables.

    >>> is_one_table("a.csv"), is_one_table({"a": ["1"]}), is_one_table(["a.csv"])
    (True, True, False)
    """
    return not isinstance(given, list | tuple)
