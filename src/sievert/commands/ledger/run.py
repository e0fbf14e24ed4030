"""A release as a ledger keeps it, and all releases held against a policy together."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.commands.ledger.joint import Audience, DisclosedPeople, ReleasesTogether
from sievert.commands.ledger.keys import join_key
from sievert.commands.ledger.store import LedgerRelease, Pseudonyms, Secret
from sievert.counts.cube import Cube, run_starts
from sievert.counts.joint_classes import marked
from sievert.counts.questions import Questions
from sievert.counts.recoded import RecodedQuestions
from sievert.counts.recoded_people import RecodedPeopleQuestions, class_numbers
from sievert.errors import InputError, require
from sievert.formatting import plural
from sievert.formatting.canonical import canonical_text
from sievert.formatting.remarks import Remark
from sievert.measurement.table_measures import MeasureSettings, TableMeasures
from sievert.measures import BY_ID
from sievert.measures.measure import NOTHING_TO_LEARN, UNBOUNDED, Value
from sievert.policy import Policy
from sievert.policy.judgement import READINGS
from sievert.roles import Roles
from sievert.session import Clock

CLASS, PERSON = "\0class", "\0person"  # names that no column has
SHOWN = {
    *("k_anonymity", "unique_records", "average_risk"),
    *("l_diversity", "max_confidence", "guess_gain", "discrimination_rate", "mutual_information"),
}
LEARNT = ("mutual_information", "bayes_vulnerability_posterior")
UNKNOWN = {"order", "hierarchy", "parts", "population"}  # what coded values cannot have
ONLY_CODES = Remark("only_codes")
Numbers = dict[str, Value]


# -- a table as a release -------------------------------------------------------------------------


def code_release(
    questions: Questions,
    roles: Roles,
    person: Sequence[str],
    pseudonyms: Pseudonyms,
    name: str,
    date: str,
) -> LedgerRelease:
    """Who is in which class with which values, by keyed hashes; each such row once."""
    columns = (*roles.quasi, *roles.sensitive, *person)
    questions.check_usable(columns)
    cube = questions.cube(columns)
    lacking = np.any([codes == 0 for codes in cube.codes[-len(person) :]], axis=0)
    number = int(cube.counts[lacking].sum())
    require(not number, f"{plural(number, 'record')} without a person", error=InputError)
    secrets = {
        secret: _secret(cube, place, secret, pseudonyms)
        for place, secret in enumerate(roles.sensitive, len(roles.quasi))
    }
    words = [  # that no other columns and values have
        "".join(f"{len(name)}:{name}" for name in columns),
        *("\0".join(f"{len(t or '')}:{t or ''}" for t in texts) for texts in cube.values),
    ]
    parts = [each.encode("utf-8", "surrogatepass") for each in words]
    parts += [codes.astype("<u4").tobytes() for codes in cube.codes]
    named = {"quasi": list(roles.quasi), "sensitive": list(roles.sensitive), "person": list(person)}
    return LedgerRelease(
        name=name,
        date=date,
        digest=pseudonyms.digest([*parts, cube.counts.astype("<u8").tobytes()]),
        roles=named,
        people=_people(cube, len(person), pseudonyms, str),
        alike=_people(cube, len(person), pseudonyms, canonical_text),
        classes=class_numbers(cube.codes[: len(roles.quasi)], len(cube.counts)),
        rows=cube.counts,
        secrets=secrets,
        suppressed=questions.suppression.records,
    )


def _secret(cube: Cube, place: int, name: str, pseudonyms: Pseudonyms) -> Secret:
    """A secret of some cells: keyed hashes of its values, as spelt and of their canonical texts."""
    known = [text for text in cube.values[place] if text is not None]
    return Secret(
        rows=cube.codes[place].astype(np.int64),
        codes=pseudonyms.values(name, known),
        alike=pseudonyms.values(name, [canonical_text(text) for text in known]),
    )


def _people(cube: Cube, columns: int, pseudonyms: Pseudonyms, spell: Callable[[str], str]) -> Ints:
    """The keyed hash of the person of each cell: of one column, or of several together.

    The texts of the key are hashed as `spell` writes them.
    """
    if columns == 1:
        texts = [spell(text or "") for text in cube.values[-1]]
        return pseudonyms.people(texts)[cube.codes[-1]]
    own = cube.select_columns(cube.columns[-columns:])
    stacked = np.stack([codes.astype(np.int64) for codes in own.codes], axis=1)
    different, place = np.unique(stacked, axis=0, return_inverse=True)
    keys = [
        join_key([spell(own.values[i][code] or "") for i, code in enumerate(row)])
        for row in different.tolist()
    ]
    return pseudonyms.people(keys)[place.reshape(-1)]


# -- measures of rows that are codes --------------------------------------------------------------


class ClassMeasures:
    """Measures of people by some classes, as if these were the values of a quasi-identifier."""

    def __init__(
        self,
        table: Questions,
        policy: Policy | None,
        named: Callable[[str, str], int],
        clock: Clock,
    ) -> None:
        """`named` is the number of a value of a secret."""
        self._table, self._clock, self._number = table, clock, named
        stated = MeasureSettings().with_policy(policy).parameters
        self._parameters = {m: own for m, own in stated.items() if not UNKNOWN & {*BY_ID[m].needs}}
        limited = {m for _, m, _ in policy.every_limit()} if policy is not None else set()
        ids = {m for m in SHOWN | limited if not UNKNOWN & {*BY_ID[m].needs}}
        self._ids = [m for m in BY_ID if m in ids]
        self._undefined = {
            m: Value(m, None, BY_ID[m].unit, BY_ID[m].riskier, ONLY_CODES)
            for m in BY_ID
            if m in limited - ids and "secret" in BY_ID[m].kinds
        }

    def measure(
        self, classes: Ints, person: Ints, secrets: Mapping[str, Ints], ids: Sequence[str] = ()
    ) -> tuple[Numbers, dict[str, Numbers]]:
        """The numbers of re-identification and of each secret; with `ids` only these of secrets."""
        questions = self._questions(classes, person, secrets)
        roles = Roles((CLASS,), tuple(secrets), person=PERSON)
        orders: dict[str, list[str]] = {secret: [] for secret in secrets}  # no measure needs one
        settings = MeasureSettings(orders=orders, parameters=self._coded_parameters(secrets))
        table = TableMeasures(questions, roles, settings, ids or self._ids, self._clock)
        undefined = {} if ids else self._undefined
        inference = {secret: table.inference(secret) | undefined for secret in secrets}
        for secret, values in secrets.items():
            diverse = inference[secret].get("l_diversity")
            if diverse is not None and has_certain_value(classes, person, values):
                inference[secret]["l_diversity"] = replace(diverse, value=1)
        return {} if ids else table.reidentification(), inference

    def _coded_parameters(self, secrets: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """The parameters of measures; the value that alpha_k names is a number here."""
        own = self._parameters.get("alpha_k", {})
        if (value := own.get("value")) is None:
            return dict(self._parameters)
        by_secret = value if isinstance(value, Mapping) else dict.fromkeys(secrets, value)
        numbers = {s: str(self._number(s, str(by_secret[s]))) for s in secrets if s in by_secret}
        return {**self._parameters, "alpha_k": {**own, "value": numbers}}

    def _questions(self, classes: Ints, person: Ints, secrets: Mapping[str, Ints]) -> Questions:
        """What is asked of a table with these classes."""
        classes, person = renumber(classes), renumber(person)
        ones = np.ones(len(classes), dtype=np.int64)
        columns = {CLASS: classes + 1, PERSON: person + 1, **secrets}
        texts = {c: (None, *("",) * int(columns[c].max())) for c in (CLASS, PERSON)}
        texts |= {s: (None, *map(str, range(1, int(own.max()) + 1))) for s, own in secrets.items()}

        def cube(*names: str) -> Cube:
            codes = tuple(columns[name].astype(np.uint32) for name in names)
            return Cube(names, codes, ones, tuple(texts[name] for name in names))

        questions: Questions
        if int(person.max()) + 1 < len(person):
            of_secrets = {s: cube(CLASS, s, PERSON) for s in secrets}
            questions = RecodedPeopleQuestions(self._table, cube(CLASS, PERSON), of_secrets)
        else:
            of_secrets = {s: cube(CLASS, s) for s in secrets}
            questions = RecodedQuestions(self._table, cube(CLASS), of_secrets)
        questions.records = len(classes)
        return questions


def renumber(numbers: Ints) -> Ints:
    """Other numbers for the same things, from 0 and without gaps; -1 is one of the old ones.

    >>> renumber(np.array([7, -1, 7, 3])).tolist()
    [2, 0, 2, 1]
    """
    return np.asarray((np.cumsum(marked(numbers + 1)) - 1)[numbers + 1])


def has_certain_value(classes: Ints, person: Ints, values: Ints) -> bool:
    """Whether all people of a class have the same value, others beside it or not; 0 is missing.

    >>> person = np.array([0, 0, 1, 1])
    >>> has_certain_value(np.zeros(4, dtype=np.int64), person, np.array([1, 2, 2, 3]))
    True
    >>> has_certain_value(np.zeros(4, dtype=np.int64), person, np.array([1, 2, 3, 3]))
    False
    """
    everybody = _distinct(classes, person)[0]
    owner, value, _ = _distinct(classes, values, person)
    starts = run_starts(owner, value)
    times = np.diff(np.append(starts, len(owner)))
    of_all = times == np.bincount(everybody)[owner[starts]]
    return bool(np.any(of_all & (value[starts] > 0)))


def count_certain(classes: Ints, person: Ints, values: Ints) -> tuple[int, int]:
    """How many people are in classes where all have one value, and how many there are.

    >>> count_certain(np.array([0, 0, 1, 1]), np.arange(4), np.array([1, 1, 1, 2]))
    (2, 4)
    """
    classes = renumber(classes)
    everybody = _distinct(classes, person)[0]
    owner, value, _ = _distinct(classes, values, person)
    starts = run_starts(owner, value)
    times = np.diff(np.append(starts, len(owner)))
    of_all = times == np.bincount(everybody)[owner[starts]]
    certain = np.isin(classes, owner[starts][of_all])
    return len(np.unique(person[certain])), len(np.unique(person))


def _distinct(*columns: Ints) -> tuple[Ints, ...]:
    """The different rows of some columns, sorted by the first of them."""
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    starts = run_starts(*ordered)
    return tuple(column[starts] for column in ordered)


def riskiest(values: Sequence[Value]) -> Value:
    """Of the same measure of several tables the number that is riskiest, in any reading.

    Of those that are as risky in some reading, the one that is riskiest as it is.
    """
    values = [v for v in values if v.details.get("occurs") is not False] or list(values)

    def risk(value: Value) -> tuple[int, float, float]:
        if value.value is None:
            return (2 if value.reason in (UNBOUNDED, NOTHING_TO_LEARN) else 1), 0.0, 0.0
        readings = [value.value, *(value.details.get(r) for r in READINGS)]
        numbers = [float(n) for n in readings if n is not None]
        sign = {"high": 1, "low": -1}.get(value.riskier, 0)
        return 0, max(sign * n for n in numbers), sign * numbers[0]

    return max(values, key=risk)


# -- all releases together ------------------------------------------------------------------------


class JointAssessment:
    """The numbers of all releases together, the last of which is new."""

    def __init__(self, together: ReleasesTogether, measures: ClassMeasures) -> None:
        self.together, self.measures = together, measures
        self.last = len(together.releases) - 1

    def alone(self) -> tuple[Numbers, dict[str, Numbers]]:
        """The numbers of the new release by itself."""
        rows = self.together.audience(self.last)
        alike = self.together.joint.patterns[self.last]
        return self.measures.measure(rows.split(alike), rows.person, rows.secrets)

    def joint(self) -> tuple[Numbers, dict[str, Numbers]]:
        """The riskiest numbers of the people of any release, by their joint classes.

        Few who are exposed must not be hidden by many who are not, so that everybody is looked at
        as well as those of each release.
        """
        joint = self.together.joint
        everybody = self.measures.measure(joint.number, joint.person, {})
        audiences = map(self.together.audience, reversed(range(len(self.together.releases))))
        ordered = [  # the new release first
            *(self.measures.measure(r.split(joint.number), r.person, r.secrets) for r in audiences),
            everybody,
        ]
        return {m: riskiest([n[m] for n, _ in ordered]) for m in ordered[0][0]}, {
            secret: {
                m: riskiest([own[secret][m] for _, own in ordered if m in own.get(secret, {})])
                for m in next(own[secret] for _, own in ordered if secret in own)
            }
            for secret in self.together.values
        }

    def certain_alone(self, secrets: Collection[str]) -> dict[str, tuple[int, int]]:
        """By secret how many people are in classes of the new release where all have one value."""
        rows = self.together.audience(self.last)
        classes = rows.split(self.together.joint.patterns[self.last])
        return {
            secret: count_certain(classes, rows.person, rows.secrets[secret])
            for secret in secrets
            if secret in rows.secrets
        }

    def certain_together(self, secrets: Collection[str]) -> dict[str, tuple[int, int]]:
        """By secret how many people are in joint classes where all have one value, of how many.

        They are counted in each release that has the secret; the most of them are told.
        """
        certain = {}
        for secret in secrets:
            audiences = [self.together.audience(i) for i in self.together.values[secret]]
            certain[secret] = max(
                count_certain(
                    rows.split(self.together.joint.number), rows.person, rows.secrets[secret]
                )
                for rows in audiences
            )
        return certain

    def secret(self, secret: str) -> dict[str, Any]:
        """What is learnt of a secret from all releases, and from the best one alone.

        Its values are those of the last release that has it, and so are the people. Every person
        counts once, the same for all releases and for one: whoever knows more never guesses worse.
        """
        together, of_releases = self.together, self.together.values[secret]
        place = max(of_releases)
        rows = together.audience(place).only(secret)
        patterns = together.joint.patterns
        joint = self._learnt(rows.split(together.joint.number), rows)
        alone = [
            (
                together.releases[i].name,
                self._learnt(
                    rows.split(patterns[i]) if i == place else patterns[i][rows.joint], rows
                ),
            )
            for i in of_releases
        ]
        disclosed: DisclosedPeople = together.disclosed(secret)
        entry: dict[str, Any] = {
            "release": together.releases[place].name,
            "people": int(together.members(place).sum()),
            "releases": len(of_releases),
        }
        for i, key in enumerate(("bits", "best_guess")):
            name, best = max(((n, numbers[i]) for n, numbers in alone), key=lambda pair: pair[1])
            entry[key] = {
                "joint": joint[i],
                "alone": best,
                "best_release": name,
                "gain": max(0.0, joint[i] - best),
            }
        return entry | {"values_left": vars(disclosed)}

    def _learnt(self, classes: Ints, rows: Audience) -> tuple[float, ...]:
        """Bits of a secret and the share of right guesses, with some classes known."""
        _, inference = self.measures.measure(classes, np.arange(len(classes)), rows.secrets, LEARNT)
        (numbers,) = inference.values()
        return tuple(float(numbers[m].value or 0.0) for m in LEARNT)


def joint_risk(together: ReleasesTogether, k: int | None) -> dict[str, Any]:
    """How many people look alike in all releases, and who is unique only together."""
    joint = together.joint
    unique = together.unique_together()
    alone = np.any([together.unique_in(i) for i in range(len(together.releases))], axis=0)
    return {
        "people": int(marked(joint.person).sum()),
        "classes": len(joint.members),
        "k_anonymity": joint.smallest,
        "unique": int(unique.sum()),
        "unique_only_together": int((unique & ~alone).sum()),
        "k": k,
        "below": None if k is None else joint.people_below(k),
    }


def describe_releases(together: ReleasesTogether) -> list[dict[str, Any]]:
    """Each release: its people, its classes, and how many people the new one has of it."""
    last = len(together.releases) - 1
    members = [together.members(place) for place in range(last + 1)]
    return [
        {
            "name": release.name,
            "date": release.date,
            "digest": release.digest,
            **release.roles,
            "people": int(members[place].sum()),
            "classes": int(release.classes.max()) + 1,
            "k_anonymity": int(together.patterns[place].sizes.min()),
            "unique": int(together.unique_in(place).sum()),
            "suppressed": release.suppressed,
            "shared": int((members[place] & members[last]).sum()),
            "new": place == last,
        }
        for place, release in enumerate(together.releases)
    ]
