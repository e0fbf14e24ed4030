"""The measures of all releases of a ledger together."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.checks.spellings import more_certain, with_merged
from sievert.commands.ledger.joint import Audience, DisclosedPeople, ReleasesTogether
from sievert.commands.ledger.store import Pseudonyms
from sievert.counts.cube import Cube, run_starts
from sievert.counts.joint_classes import mark_numbers
from sievert.counts.questions import Questions
from sievert.counts.recoded import recoded_people, recoded_rows
from sievert.formatting.canonical import canonical_text
from sievert.formatting.remarks import Remark
from sievert.measurement.table_measures import MeasureSettings, TableMeasures
from sievert.measures import BY_ID
from sievert.measures.measure import NOTHING_TO_LEARN, UNBOUNDED, Value
from sievert.policy import Policy
from sievert.policy.judgement import READINGS
from sievert.roles import Roles
from sievert.session import Clock

CLASS = "\0class"  # names that no column has
PERSON = "\0person"
SHOWN = {
    "k_anonymity",
    "unique_records",
    "average_risk",
    "l_diversity",
    "max_confidence",
    "guess_gain",
    "discrimination_rate",
    "mutual_information",
}
LEARNT = ("mutual_information", "bayes_vulnerability_posterior")
UNKNOWN = {"order", "hierarchy", "parts", "population"}  # needs that codes do not meet
ONLY_CODES = Remark("only_codes")
Numbers = dict[str, Value]
PeopleAndSecrets = tuple[Numbers, dict[str, Numbers]]  # numbers of people, and of each secret


# -- measures of rows that are codes --------------------------------------------------------------


class ClassMeasures:
    """Measures of people by some classes, which are treated as values of a quasi-identifier."""

    def __init__(
        self,
        table: Questions,
        policy: Policy | None,
        value_number: Callable[[str, str], int],
        clock: Clock,
    ) -> None:
        """`value_number` gives the number of a value of a secret."""
        self._table = table
        self._clock = clock
        self._value_number = value_number
        stated = MeasureSettings().with_policy(policy).parameters
        self._parameters = {m: own for m, own in stated.items() if not UNKNOWN & {*BY_ID[m].needs}}
        limited = {m for _, m, _ in policy.every_limit()} if policy is not None else set()
        ids = {m for m in SHOWN | limited if not UNKNOWN & {*BY_ID[m].needs}}
        self._ids = [m for m in BY_ID if m in ids]
        self._undefined = {
            m: Value(
                id=m, value=None, unit=BY_ID[m].unit, riskier=BY_ID[m].riskier, reason=ONLY_CODES
            )
            for m in BY_ID
            if m in limited - ids and "secret" in BY_ID[m].kinds
        }

    def measure(
        self, classes: Ints, person: Ints, secrets: Mapping[str, Ints], ids: Sequence[str] = ()
    ) -> PeopleAndSecrets:
        """Compute the measures of re-identification and of secrets, or only `ids` of secrets."""
        questions = self._questions(classes, person, secrets)
        roles = Roles(quasi=(CLASS,), sensitive=tuple(secrets), person=PERSON)
        orders: dict[str, list[str]] = {secret: [] for secret in secrets}  # no measure needs one
        settings = MeasureSettings(orders=orders, parameters=self._coded_parameters(secrets))
        chosen = ids if ids else self._ids
        table = TableMeasures(questions, roles, settings, chosen, self._clock)
        undefined = {} if ids else self._undefined
        inference = {secret: table.inference(secret) | undefined for secret in secrets}
        for secret, values in secrets.items():
            diverse = inference[secret].get("l_diversity")
            if diverse is not None and has_certain_value(classes, person, values):
                inference[secret]["l_diversity"] = replace(diverse, value=1)
        return {} if ids else table.reidentification(), inference

    def _coded_parameters(self, secrets: Iterable[str]) -> dict[str, Mapping[str, Any]]:
        """The parameters of measures, with the number of the value that alpha_k names."""
        own = self._parameters.get("alpha_k", {})
        value = own.get("value")
        if value is None:
            return dict(self._parameters)
        by_secret = value if isinstance(value, Mapping) else dict.fromkeys(secrets, value)
        numbers = {
            s: str(self._value_number(s, str(by_secret[s]))) for s in secrets if s in by_secret
        }
        return {**self._parameters, "alpha_k": {**own, "value": numbers}}

    def _questions(self, classes: Ints, person: Ints, secrets: Mapping[str, Ints]) -> Questions:
        """Make the questions of a table with these classes."""
        classes = renumber(classes)
        person = renumber(person)
        ones = np.ones(len(classes), dtype=np.int64)
        columns = {CLASS: classes + 1, PERSON: person + 1, **secrets}
        texts = {c: (None, *("",) * int(columns[c].max())) for c in (CLASS, PERSON)}
        texts |= {s: (None, *map(str, range(1, int(own.max()) + 1))) for s, own in secrets.items()}

        def cube(*names: str) -> Cube:
            codes = tuple(columns[name].astype(np.uint32) for name in names)
            return Cube(
                columns=names, codes=codes, counts=ones, values=tuple(texts[name] for name in names)
            )

        if int(person.max()) + 1 < len(person):
            of_secrets = {s: cube(CLASS, s, PERSON) for s in secrets}
            questions = recoded_people(self._table, cube(CLASS, PERSON), of_secrets)
        else:
            of_secrets = {s: cube(CLASS, s) for s in secrets}
            questions = recoded_rows(self._table, cube(CLASS), of_secrets)
        questions.records = len(classes)
        return questions


def renumber(numbers: Ints) -> Ints:
    """Replace numbers from -1 on by numbers from 0 without gaps, in the same order.

    >>> renumber(np.array([7, -1, 7, 3])).tolist()
    [2, 0, 2, 1]
    """
    return np.asarray((np.cumsum(mark_numbers(numbers + 1)) - 1)[numbers + 1])


def has_certain_value(classes: Ints, person: Ints, values: Ints) -> bool:
    """Say whether all people of a class share a value, with or without others; 0 is missing.

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
    """Count the people in classes whose members all share a value, and all people.

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
    """The distinct rows of some columns, sorted by the first column."""
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    starts = run_starts(*ordered)
    return tuple(column[starts] for column in ordered)


def riskiest(values: Sequence[Value]) -> Value:
    """The riskiest number of a measure in several tables, in its riskiest reading.

    Ties are decided by the number itself.
    """
    occurring = [value for value in values if value.details.get("occurs") is not False]
    candidates = occurring if occurring else list(values)

    def risk(value: Value) -> tuple[int, float, float]:
        if value.value is None:
            unbounded = value.reason in (UNBOUNDED, NOTHING_TO_LEARN)
            return 2 if unbounded else 1, 0.0, 0.0
        readings = [value.value, *(value.details.get(r) for r in READINGS)]
        numbers = [float(n) for n in readings if n is not None]
        sign = {"high": 1, "low": -1}.get(value.riskier, 0)
        return 0, max(sign * n for n in numbers), sign * numbers[0]

    return max(candidates, key=risk)


# -- all releases together ------------------------------------------------------------------------


class JointAssessment:
    """The measures of all releases together; the last release is new."""

    def __init__(self, together: ReleasesTogether, measures: ClassMeasures) -> None:
        self.together = together
        self.measures = measures
        self.last = len(together.releases) - 1

    def alone(self) -> PeopleAndSecrets:
        """The measures of the new release by itself."""
        rows = self.together.audience(self.last)
        alike = self.together.joint.patterns[self.last]
        return self.measures.measure(rows.split(alike), rows.person, rows.secrets)

    def joint(self) -> PeopleAndSecrets:
        """The riskiest measures of the people of any release, by their joint classes.

        Many people at low risk must not hide a few people at high risk. So everybody is measured
        together, and also the people of each release.
        """
        joint = self.together.joint
        everybody = self.measures.measure(joint.number, joint.person, {})
        audiences = map(self.together.audience, reversed(range(len(self.together.releases))))
        ordered = [  # the new release first
            *(self.measures.measure(r.split(joint.number), r.person, r.secrets) for r in audiences),
            everybody,
        ]
        reidentification = {
            m: riskiest([numbers[m] for numbers, _ in ordered]) for m in ordered[0][0]
        }
        learnt: dict[str, Numbers] = {}
        for secret in self.together.values:
            of_secret = [own[secret] for _, own in ordered if secret in own]
            learnt[secret] = {
                m: riskiest([numbers[m] for numbers in of_secret if m in numbers])
                for m in of_secret[0]
            }
        return reidentification, learnt

    def certain_alone(self, secrets: Collection[str]) -> dict[str, tuple[int, int]]:
        """Count by secret the people in classes of the new release whose members share a value."""
        rows = self.together.audience(self.last)
        classes = rows.split(self.together.joint.patterns[self.last])
        return {
            secret: count_certain(classes, rows.person, rows.secrets[secret])
            for secret in secrets
            if secret in rows.secrets
        }

    def certain_together(self, secrets: Collection[str]) -> dict[str, tuple[int, int]]:
        """Count by secret the people in joint classes whose members share a value, and all people.

        They are counted in each release that has the secret; the largest count is returned.
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
        """Compare what all releases disclose of a secret with what the best one discloses alone.

        The values and the people are those of the last release that has the secret. Every person
        counts once, for all releases and for one: an attacker who knows more never guesses worse.
        """
        together = self.together
        of_releases = self.together.values[secret]
        place = max(of_releases)
        rows = together.audience(place).only(secret)
        patterns = together.joint.patterns
        joint = self._learnt(rows.split(together.joint.number), rows)
        alone = []
        for i in of_releases:
            classes = rows.split(patterns[i]) if i == place else patterns[i][rows.joint]
            alone.append((together.releases[i].name, self._learnt(classes, rows)))
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
        """The bits of a secret and the share of right guesses for one who knows some classes."""
        _, inference = self.measures.measure(classes, np.arange(len(classes)), rows.secrets, LEARNT)
        (numbers,) = inference.values()
        values = (numbers[m].value for m in LEARNT)
        return tuple(0.0 if value is None else float(value) for value in values)


def joint_risk(together: ReleasesTogether, k: int | None) -> dict[str, Any]:
    """Count the people who look alike in all releases, and who are unique only together."""
    joint = together.joint
    unique = together.unique_together()
    alone = np.any([together.unique_in(i) for i in range(len(together.releases))], axis=0)
    return {
        "people": int(mark_numbers(joint.person).sum()),
        "classes": len(joint.members),
        "k_anonymity": joint.smallest,
        "unique": int(unique.sum()),
        "unique_only_together": int((unique & ~alone).sum()),
        "k": k,
        "below": None if k is None else joint.people_below(k),
    }


def describe_releases(together: ReleasesTogether) -> list[dict[str, Any]]:
    """Describe each release: its people, its classes, and the people it shares with the new one."""
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


# -- with all spellings of a value merged ----------------------------------------------------------


class JointNumbers:
    """The numbers of all releases of a ledger together, and of the new one alone."""

    def __init__(
        self,
        *,
        together: ReleasesTogether,
        questions: Questions,
        limits: Policy | None,
        pseudonyms: Pseudonyms,
        clock: Clock,
    ) -> None:
        def value_number(secret: str, value: str) -> int:
            spelt = together.value_number(secret, pseudonyms.values(secret, [value])[0])
            if spelt >= 0:
                return spelt
            return together.value_number(
                secret, pseudonyms.values(secret, [canonical_text(value)])[0]
            )

        measures = ClassMeasures(questions, limits, value_number, clock)
        assessment = JointAssessment(together, measures)
        reidentification, inference = assessment.joint()
        clock("comparing with single releases", None)
        self.secrets = {secret: assessment.secret(secret) for secret in together.values}
        learnt = with_fewest_values(inference, self.secrets)
        self.joint: PeopleAndSecrets = (reidentification, learnt)
        self.risk = joint_risk(together, least_k(limits))
        self.alone: PeopleAndSecrets = ({}, {}) if limits is None else assessment.alone()
        self.assessment = assessment
        self.merged: JointNumbers | None = None  # with all spellings of a value merged

    def add_merged(self, merged: "JointNumbers") -> None:
        """Put the numbers with all spellings merged beside these; the worse ones are shown."""
        self.joint = worse_readings(self.joint, merged.joint)
        self.alone = worse_readings(self.alone, merged.alone)
        self.merged = merged
        if merged.risk["k_anonymity"] < self.risk["k_anonymity"]:
            self.risk = merged.risk
        for secret, entry in merged.secrets.items():
            if entry["values_left"]["least"] < self.secrets[secret]["values_left"]["least"]:
                self.secrets[secret] = entry

    def certain_alone(self, secrets: Collection[str]) -> dict[str, tuple[int, int]]:
        """Count by secret the people in classes of the new release whose members share a value."""
        certain = self.assessment.certain_alone(secrets)
        if self.merged is None:
            return certain
        return more_certain(certain, self.merged.certain_alone(secrets))

    def certain_together(self, secrets: Collection[str]) -> dict[str, tuple[int, int]]:
        """Count by secret the people in joint classes whose members share a value."""
        certain = self.assessment.certain_together(secrets)
        if self.merged is None:
            return certain
        return more_certain(certain, self.merged.certain_together(secrets))


def worse_readings(spelt: PeopleAndSecrets, merged: PeopleAndSecrets) -> PeopleAndSecrets:
    """Put beside each number of the values as `spelt` the one with all spellings `merged`."""
    people, secrets = spelt
    merged_people, merged_secrets = merged
    inference = {s: with_merged(own, merged_secrets.get(s, {})) for s, own in secrets.items()}
    return with_merged(people, merged_people), inference


def with_fewest_values(
    learnt: Mapping[str, Numbers], secrets: Mapping[str, Mapping[str, Any]]
) -> dict[str, Numbers]:
    """Lower the l-diversity of each secret to the fewest values that are left for a person."""
    changed = {secret: dict(values) for secret, values in learnt.items()}
    for secret, values in changed.items():
        before = values.get("l_diversity")
        least = secrets[secret]["values_left"]["least"]
        if before is not None and before.value is not None and least < before.value:
            values["l_diversity"] = replace(before, value=least)
    return changed


def least_k(policy: Policy | None) -> int | None:
    """Find the largest k that a limit of the policy asks for, if any does."""
    if policy is None:
        return None
    limits = policy.every_limit()
    least = [limit.min for _, m, limit in limits if m == "k_anonymity" and limit.min is not None]
    return int(max(least)) if least else None
