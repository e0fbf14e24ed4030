"""The attacker's problem: who may be in the release, what they may have, and prior weights."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sievert.arrays import Floats, Ints, Text
from sievert.attacks.reasoning.atoms import boxes, merge_positions
from sievert.attacks.reasoning.candidates import CandidatePairs, distinct_rows
from sievert.attacks.reasoning.chains import Progress
from sievert.attacks.reasoning.domains import Domain
from sievert.attacks.reasoning.model import Factor, value_weights
from sievert.attacks.reasoning.posterior import (
    Model,
    believe,
    describe_keys,
    describe_secrets,
)
from sievert.attacks.reasoning.result import Reasoning
from sievert.attacks.reasoning.settings import ReasoningSettings
from sievert.attacks.reasoning.value_sets import PositionSets
from sievert.counts.cube import Cube
from sievert.errors import InputError, require
from sievert.formatting import plural
from sievert.formatting.remarks import Remark
from sievert.hierarchies import Hierarchy

AddRemark = Callable[[Remark], None]


@dataclass(frozen=True, kw_only=True)
class ReasoningTask:
    """One secret to reason about: the settings, what follows from them, and the other tables."""

    settings: ReasoningSettings
    hierarchies: Mapping[str, Hierarchy | None]  # of the columns
    wildcard: bool  # whether a missing value matches any value
    threads: int
    original: Cube | None  # whom the attack is about; the secret is in its last column
    ordered: bool  # whether the original is known record by record
    listed: Cube | None  # the release record by record, if a belief is wanted for each record
    progress: Progress
    remark: AddRemark


@dataclass(frozen=True)
class Victims:
    """Who is attacked: positions in the columns' domains; and what the original knows of them."""

    places: Ints  # victims by columns
    truth: Ints | None  # victims by secrets, and a last column for secrets that are not released
    rows: tuple[Ints, Ints] | None  # of each record of the original: victim, secret
    complete: bool  # whether it is everybody who may be in the release

    @classmethod
    def from_original(
        cls,
        original: Cube,
        domains: Sequence[Domain],
        secrets: Sequence[Text],
        ordered: bool,
        remark: AddRemark,
    ) -> Self:
        """The people of the original, the secret in its last column.

        A remark says how many of them have a secret that the release does not have.
        """
        places, victim = distinct_rows(positions(original, domains))
        place = {text: s for s, text in enumerate(secrets)}
        many = len(secrets)
        numbers = np.array([place.get(text, many) for text in original.values[-1]])
        secret = numbers[original.codes[-1]]
        truth = np.zeros((len(places), many + 1), dtype=np.int64)
        np.add.at(truth, (victim, secret), original.counts)
        strange = int(truth[:, -1].sum())
        require(
            strange != truth.sum(),
            "no secret of the original occurs in the release",
            hint="are they of the same people?",
            error=InputError,
        )
        if strange:
            remark(Remark("secret_unknown", records=plural(strange, "record")))
        return cls(
            places=places, truth=truth, rows=(victim, secret) if ordered else None, complete=True
        )


def positions(cube: Cube, domains: Sequence[Domain]) -> Ints:
    """Of each cell of a table the positions of its values in the domains of the first columns."""
    columns = zip(domains, cube.values, cube.codes, strict=False)
    return np.stack([domain.positions(texts)[codes] for domain, texts, codes in columns], axis=1)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """The release's columns and secrets, the victims, and the task."""

    secret: str
    columns: tuple[str, ...]
    texts: tuple[Text, ...]  # of the secrets
    counts: Ints  # released records of each secret
    domains: Sequence[Domain]
    victims: Victims
    task: ReasoningTask

    @property
    def settings(self) -> ReasoningSettings:
        """The options of the attacker."""
        return self.task.settings

    @property
    def keys(self) -> int:
        """The number of combinations of values that the attacker thinks possible."""
        if self.settings.takes_original_domain:
            return len(self.victims.places)
        return math.prod(len(domain) for domain in self.domains)

    def _weights(self, place: int) -> Floats:
        return value_weights(
            self.settings.beta,
            self.columns[place],
            self.domains[place].values,
            self.texts,
            self.columns,
        )

    def people(self, places: Ints) -> tuple[tuple[Text, ...], ...]:
        """Victims by the texts of their values."""
        columns = [
            [domain.values[i] for i in column.tolist()]
            for domain, column in zip(self.domains, places.T, strict=True)
        ]
        return tuple(zip(*columns, strict=True))

    # -- factors of a release whose values were made coarser ----------------------------------

    def by_column(
        self, labels: Sequence[PositionSets], classes: Ints, holds: Ints
    ) -> tuple[list[Factor], Ints, Ints]:
        """One factor a column."""
        places = self.victims.places
        merged = [
            merge_positions(own, np.unique(places[:, k]), self._weights(k))
            for k, own in enumerate(labels)
        ]
        factors = [_factor(m.prior, m.sets, classes[:, k], holds) for k, m in enumerate(merged)]
        atoms = [m.atom_of[places[:, k]] for k, m in enumerate(merged)]
        return factors, np.stack(atoms, axis=1), classes

    def as_observed(self, pairs: CandidatePairs, holds: Ints) -> tuple[list[Factor], Ints, Ints]:
        """All columns as one factor of the combinations that occur in the original."""
        by_class = PositionSets.by_owner(pairs.classes, pairs.victims, len(holds))
        require_fit(int(holds[by_class.sizes == 0].sum()))
        known: dict[bytes, int] = {}
        label_of = np.zeros(len(holds), dtype=np.int64)
        kept = list[Ints]()
        for g in range(len(holds)):
            own = by_class[g]
            label_of[g] = known.setdefault(own.tobytes(), len(kept))
            if label_of[g] == len(kept):
                kept.append(own)
        prior = value_weights(
            self.settings.beta, None, self.people(self.victims.places), self.texts, ()
        )
        factor = _factor(prior, PositionSets.from_lists(kept), label_of, holds)
        return [factor], np.arange(len(self.victims.places))[:, None], label_of[:, None]

    def as_boxes(
        self, labels: Sequence[PositionSets], classes: Ints, holds: Ints
    ) -> tuple[list[Factor], Ints, Ints]:
        """All columns as one factor of all combinations of public values."""
        sizes = list(map(len, self.domains))
        beta, overrides = self._of_tuples()
        boxed = boxes(sizes, labels, classes, self.victims.places, beta, overrides=overrides)
        prior = np.broadcast_to(boxed.prior, (holds.shape[1], boxed.prior.shape[1])).copy()
        factor = _factor(prior, boxed.sets, boxed.label_of, holds)
        return [factor], boxed.atom_of[:, None], boxed.label_of[:, None]

    def _of_tuples(self) -> tuple[Floats, dict[tuple[int, ...], Floats]]:
        """Weights of combinations by secret: of all, and of single ones."""
        beta = self.settings.beta
        texts = self.texts
        base = np.ones(len(texts))
        single = dict[tuple[int, ...], Floats]()
        each: list[Any] = (
            [beta.get(text, 1.0) for text in texts]
            if isinstance(beta, Mapping) and set(beta) <= set(texts)
            else [beta] * len(texts)
        )
        for s, own in enumerate(each):
            if not isinstance(own, Mapping):
                base[s] = value_weights(own, None, ((),), (None,), ())[0, 0]
                continue
            for key, weight in own.items():
                weights = single.setdefault(self._places(key), np.full(len(texts), -1.0))
                weights[s] = value_weights(weight, None, ((),), (None,), ())[0, 0]
        for weights in single.values():
            weights[weights < 0] = base[weights < 0]
        return base, single

    def _places(self, key: Any) -> tuple[int, ...]:
        """Where the values of a combination stand in their domains."""
        values = key if isinstance(key, tuple) else (key,)
        require(
            len(values) == len(self.domains),
            "beta: all columns are one here",
            hint="weights of tuples of values",
        )
        places = [d.places.get(v, -1) for d, v in zip(self.domains, values, strict=True)]
        require(min(places) >= 0, "beta: a key is not in the domain", hint="--domain COL=FILE")
        return tuple(places)

    # -- weights of a release in two tables ---------------------------------------------------

    def weights_by_column(self, combinations: Ints) -> tuple[list[Floats], Ints]:
        """One factor a column; values that nobody has are one atom."""
        all_values = [PositionSets.from_lists([range(len(domain))]) for domain in self.domains]
        merged = [
            merge_positions(own, np.unique(combinations[:, k]), self._weights(k))
            for k, own in enumerate(all_values)
        ]
        atoms = [m.atom_of[combinations[:, k]] for k, m in enumerate(merged)]
        return [m.prior for m in merged], np.stack(atoms, axis=1)

    def weights_of_all(self, combinations: Ints) -> tuple[list[Floats], Ints]:
        """All columns as one factor; combinations that nobody has are one atom."""
        base, single = self._of_tuples()
        own = np.repeat(base[:, None], len(combinations), axis=1)
        place = {tuple(row): i for i, row in enumerate(combinations.tolist())}
        left = max(0, self.keys - len(combinations))
        rest = base * float(left)
        for key, weights in single.items():
            if key in place:
                own[:, place[key]] = weights
            else:
                rest += weights - base
        if left:
            own = np.concatenate([own, rest[:, None]], axis=1)
        return [own], np.arange(len(combinations))[:, None]

    # -- the end ------------------------------------------------------------------------------

    def reason(self, model: Model, details: Mapping[str, Any]) -> Reasoning:
        """Solve the model and return the beliefs; `details` are added to those of the result."""
        settings = self.settings
        victims = self.victims
        texts = self.texts
        posterior = believe(
            model, victims.truth, settings, self.task.progress, threads=self.task.threads
        )
        means, distance = describe_secrets(model.alpha, self.counts, texts, victims.truth)
        keys: dict[str, Any] = {}
        distances: dict[str, Any] = {"secret": distance, "key": {}}
        people = self.people(victims.places)
        records = int(self.counts.sum())
        by_column = len(posterior.populations) == len(self.columns)
        names = self.columns if by_column else ("key",)
        for f, (name, atoms) in enumerate(zip(names, model.atoms.T, strict=True)):
            values = [person[f] for person in people] if by_column else people
            keys[name], distances["key"][name] = describe_keys(
                posterior.populations[f],
                posterior.drawn[f],
                dict(zip(values, atoms.tolist(), strict=True)),
                texts,
                _by_atom(victims.truth, atoms, posterior.populations[f].shape),
            )
        weights = [float(prior.sum(axis=1).mean()) for prior in model.priors]
        return Reasoning(
            secret=self.secret,
            columns=self.columns,
            people=people,
            secrets=texts,
            posterior=posterior,
            secret_counts=self.counts,
            truth=victims.truth,
            rows=victims.rows,
            population={
                "secret": means,
                "key": keys,
                "distances": distances if victims.truth is not None else {},
            },
            details={
                **details,
                "likelihood": settings.likelihood,
                "released": records,
                "secrets": len(texts),
                "victims": len(people),
                "victims_are_all": victims.complete,
                "keys": self.keys,
                "records_a_secret": records / len(texts),
                "prior_records_a_secret": dict(zip(names, weights, strict=True)),
                "domains": {
                    column: {"values": len(d), "from": d.source, "public": d.public}
                    for column, d in zip(self.columns, self.domains, strict=True)
                },
                "seed": settings.seed,
            },
        )


def require_fit(lost: int) -> None:
    """Refuse released records that may be nobody's of the original."""
    require(
        not lost,
        f"{plural(lost, 'released record')} fit nobody in the original",
        hint="--domain cross",
        error=InputError,
    )


def _factor(prior: Floats, sets: PositionSets, label_of: Ints, holds: Ints) -> Factor:
    """A factor with the records of each of its labels, from those of the classes."""
    counts = np.zeros((len(sets), holds.shape[1]), dtype=np.int64)
    np.add.at(counts, label_of, holds)
    return Factor(prior=prior, starts=sets.starts, members=sets.members, counts=counts)


def _by_atom(truth: Ints | None, atoms: Ints, shape: tuple[int, ...]) -> Ints | None:
    """The original's records by secret and atom."""
    if truth is None:
        return None
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts.T, atoms, truth[:, : shape[0]])
    return counts
