"""Earlier releases of the same people: a new one is held against the policy together with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.commands._common import Reading, RequestedRoles, check_known
from sievert.counts.cube import Cube
from sievert.counts.joint_classes import JointClasses, find_patterns, join_releases
from sievert.counts.questions import Questions
from sievert.errors import InputError, UsageError, require
from sievert.formatting import plural
from sievert.methods.full_domain import FullDomainRecoding


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
    releases = []
    for table in tables:
        with reading(table) as (_, questions):
            check_known("--key: column", key, questions.columns)
            _, sensitive, _ = requested.names(questions.columns)
            ignored = requested.policy.roles.ignored if requested.policy else {}
            known = [c for c in questions.columns if c not in {key, *sensitive, *ignored}]
            require(known, "an earlier release has no columns but the key and secrets")
            cube = _keyed(questions, known, key)
            releases.append(
                EarlierRelease(
                    cube.values[-1], _key_codes(cube), cube.owner, cube.counts, tuple(known)
                )
            )
    return tuple(releases)


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
    """A table that is released beside earlier releases: the classes of all of them together."""

    def __init__(
        self,
        questions: Questions,
        quasi: Sequence[str],
        key: str,
        earlier: Sequence[EarlierRelease],
        k: int,
    ) -> None:
        require(k > 1, "the policy has no limit on k that releases together could be held against")
        cube = _keyed(questions, quasi, key)
        self.k, self._owner, self._rows = k, cube.owner, cube.counts
        number = {text: code for code, text in enumerate(cube.values[-1])}
        self._person = _key_codes(cube)
        self._others = []
        for release in earlier:
            own = [number.setdefault(text, len(number)) for text in release.keys]
            person = np.array(own, dtype=np.int64)[release.key]
            self._others.append(find_patterns(person, release.classes, release.rows))
        both = [len(np.intersect1d(self._person, other.person)) for other in self._others]
        require(all(both), "no key of the table is in an earlier release", hint="the right --key")

    def join(self, recoding: FullDomainRecoding, codes: Ints) -> JointClasses:
        """The joint classes with what a recoding makes of combinations of values."""
        classes = recoding.class_numbers(codes)
        classes = np.where(recoding.suppressed_classes[classes], len(recoding.class_keys), classes)
        own = find_patterns(self._person, classes[self._owner], self._rows)
        return join_releases([*self._others, own])


def is_one_table(given: Any) -> bool:
    """Whether this is a table, and not a list of tables.

    >>> is_one_table("a.csv"), is_one_table({"a": ["1"]}), is_one_table(["a.csv"])
    (True, True, False)
    """
    return not isinstance(given, list | tuple)
