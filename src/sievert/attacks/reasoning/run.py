"""Somebody reasons about a release: from counted tables to beliefs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sievert.attacks.reasoning import learning, priors, sets
from sievert.attacks.reasoning.believing import Believed, Model, believe
from sievert.attacks.reasoning.chains import Progress
from sievert.attacks.reasoning.domains import Domain, domain_of, given_domain
from sievert.attacks.reasoning.found import Reasoning
from sievert.attacks.reasoning.horizontal import CLOSED, EXACT, Horizontal
from sievert.attacks.reasoning.model import Buckets, Factor, Floats, Ints
from sievert.attacks.reasoning.people import distinct, imagined
from sievert.attacks.reasoning.settings import (
    Remark,
    Settings,
    remark_domains,
    remark_secrets,
)
from sievert.attacks.reasoning.vertical import Vertical
from sievert.counts.cube import Cube
from sievert.errors import InputError, UsageError, plural

Text = str | None
MOST_PAIRS = 2 * 10**7  # of victims and classes that may hold them
SENSITIVITY = (1.0, 0.1)  # weights of a value that a saturated model is shown for


@dataclass(frozen=True)
class Victims:
    """Who is attacked: positions in the columns' domains; and what the original knows of them."""

    places: Ints  # victims by columns
    truth: Ints | None  # victims by secrets, and a last column for secrets that are not released
    rows: tuple[Ints, Ints] | None  # of each record of the original: victim, secret
    complete: bool  # whether it is everybody who may be in the release

    @classmethod
    def known(
        cls, original: Cube, domains: Sequence[Domain], secrets: Sequence[Text], ordered: bool
    ) -> Victims:
        """The people of the original, the secret in its last column."""
        positions = [
            domain.positions(texts)[codes]
            for domain, texts, codes in zip(
                domains, original.values[:-1], original.codes[:-1], strict=True
            )
        ]
        places, victim = distinct(np.stack(positions, axis=1))
        place = {text: s for s, text in enumerate(secrets)}
        many = len(secrets)
        secret = np.array([place.get(text, many) for text in original.values[-1]])
        secret = secret[original.codes[-1]]
        cells = victim * (many + 1) + secret
        truth = np.bincount(cells, original.counts, len(places) * (many + 1)).astype(np.int64)
        rows = (victim, secret) if ordered else None
        return cls(places, truth.reshape(len(places), many + 1), rows, True)


@dataclass(frozen=True)
class Told:
    """What the release says of the secrets: their texts, and how many records have each."""

    secret: str
    columns: tuple[str, ...]
    texts: tuple[Text, ...]
    held: Ints


def occurring(cube: Cube, place: int) -> tuple[list[Text], Ints]:
    """The texts of a column that occur, and the place of each code among them."""
    used = np.unique(cube.codes[place])
    at = np.full(len(cube.values[place]), -1, dtype=np.int64)
    at[used] = np.arange(len(used))
    return [cube.values[place][code] for code in used.tolist()], at


def horizontal(
    released: Cube,
    original: Cube | None,
    ordered: bool,
    settings: Settings,
    progress: Progress,
    remark: Remark,
) -> Reasoning:
    """Reason about a release whose values were made coarser; the last column is the secret."""
    columns = released.columns[:-1]
    texts, at = occurring(released, len(columns))
    secret = at[released.codes[-1]]
    held = np.bincount(secret, released.counts, len(texts)).astype(np.int64)
    told = Told(released.columns[-1], columns, tuple(texts), held)
    domains, labels = [], []
    for place, column in enumerate(columns):
        there, _ = occurring(released, place)
        domain = _domain(there, original, place, column, settings)
        domains.append(domain)
        labels.append(
            sets.Labels.read(
                released.values[place]
                if None in there
                else [*there[:1], *released.values[place][1:]],
                domain,
                settings.hierarchies.get(column),
                wildcard=settings.wildcard,
                column=column,
            )
        )
    remark_domains({c: d.public for c, d in zip(columns, domains, strict=True)}, remark)
    cells = np.stack([n.of[c] for n, c in zip(labels, released.codes[:-1], strict=True)], axis=1)
    classes, which = distinct(cells)
    holds = np.bincount(which * len(texts) + secret, released.counts, len(classes) * len(texts))
    holds = holds.reshape(len(classes), len(texts)).astype(np.int64)
    sets_of = [n.sets for n in labels]
    if original is None:
        rng = np.random.default_rng([settings.seed, 3])
        pairs_of = [(s.starts, s.members) for s in sets_of]
        places, complete = imagined(pairs_of, classes, holds.sum(axis=1), rng)
        victims = Victims(places, None, None, complete)
    else:
        victims = Victims.known(original, domains, texts, ordered)
        assert victims.truth is not None
        remark_secrets(int(victims.truth[:, -1].sum()), remark)
    pairs = sets.contains(classes, sets_of, victims.places, MOST_PAIRS)
    world = _World(told, domains, victims, settings)
    if settings.likelihood == "product" or len(columns) == 1:
        factors, atoms, label_of = world.by_column(sets_of, classes, holds)
    elif settings.observed:
        factors, atoms, label_of = world.as_observed(pairs, holds)
    else:
        factors, atoms, label_of = world.as_boxes(sets_of, classes, holds)
    alpha = priors.of_secrets(settings.alpha, told.secret, texts)
    model = Horizontal.of(factors, holds, label_of, atoms, pairs, alpha, settings.method)
    unplaced = len(victims.places) - len(np.unique(pairs.victims))
    details = {"kind": "horizontal", "classes": len(classes), "victims_without_a_class": unplaced}
    found = world.reasoned(model, atoms, progress, details)
    closed = model.method in (CLOSED, EXACT)
    if settings.likelihood == "product" or not closed or victims.truth is None:
        return found
    if isinstance(settings.beta, Mapping) or settings.method != "auto":
        return found
    return replace(
        found,
        details={
            **found.details,
            "sensitivity": [
                _line(
                    beta,
                    world.reasoned(model.weighted(beta / settings.beta), atoms, Progress(), {}),
                )
                for beta in SENSITIVITY
            ],
        },
    )


def _line(beta: float, found: Reasoning) -> dict[str, Any]:
    named = ("attacker_accuracy", "learner_accuracy", "global_relative_risk",
             "global_relative_risk_literal", "max_relative_risk")  # fmt: skip
    return {"beta": beta, **{name: found.headlines[name] for name in named}}


def vertical(
    people: Cube,
    secrets: Cube,
    original: Cube | None,
    ordered: bool,
    settings: Settings,
    progress: Progress,
    remark: Remark,
) -> Reasoning:
    """Reason about a release in two tables: people's keys and their group; groups and secrets."""
    columns = people.columns[:-1]
    texts, at = occurring(secrets, 1)
    group, sizes = _groups(people, secrets)
    rows = np.repeat(np.arange(len(group)), people.counts)
    rows = rows[np.argsort(group[rows], kind="stable")]
    starts = np.append(0, np.cumsum(sizes))
    secret = at[secrets.codes[1]]
    theirs = _matched(secrets, people)
    order = np.lexsort((secret, theirs))
    listed = np.repeat(secret[order], secrets.counts[order])
    told = Told(
        secrets.columns[1], columns, tuple(texts), np.bincount(listed, minlength=len(texts))
    )
    domains = []
    for place, column in enumerate(columns):
        there, _ = occurring(people, place)
        domains.append(_domain(there, original, place, column, settings, plain=True))
    remark_domains({c: d.public for c, d in zip(columns, domains, strict=True)}, remark)
    places = np.stack(
        [domain.positions(people.values[c])[people.codes[c]] for c, domain in enumerate(domains)],
        axis=1,
    )
    kinds, kind = distinct(places)
    if original is None:
        victims = Victims(kinds, None, None, True)
    else:
        victims = Victims.known(original, domains, texts, ordered)
        assert victims.truth is not None
        remark_secrets(int(victims.truth[:, -1].sum()), remark)
    world = _World(told, domains, victims, settings)
    every, which = distinct(np.concatenate([victims.places, kinds]))
    asked, present = which[: len(victims.places)], which[len(victims.places) :]
    owner = np.full(len(every), -1, dtype=np.int64)
    owner[asked] = np.arange(len(asked))
    if settings.likelihood == "product" or len(columns) == 1:
        weights, atoms_of = world.weights_by_column(every)
    else:
        weights, atoms_of = world.weights_of_all(every)
    of_rows = present[kind[rows]]
    buckets = Buckets(tuple(weights), atoms_of[of_rows], listed, starts)
    alpha = priors.of_secrets(settings.alpha, told.secret, texts)
    model = Vertical.of(buckets, owner[of_rows], atoms_of[asked], alpha, settings.method)
    unplaced = len(asked) - len(np.unique(owner[of_rows][owner[of_rows] >= 0]))
    details = {
        "kind": "vertical",
        "groups": len(sizes),
        "largest_group": int(sizes.max(initial=0)),
        "victims_without_a_class": unplaced,
    }
    return world.reasoned(model, atoms_of[asked], progress, details)


@dataclass(frozen=True)
class _World:
    """The release's columns and secrets, the victims, and how to reason."""

    told: Told
    domains: Sequence[Domain]
    victims: Victims
    settings: Settings

    @property
    def keys(self) -> int:
        """How many combinations of values the attacker thinks possible."""
        if self.settings.observed:
            return len(self.victims.places)
        found = 1
        for domain in self.domains:
            found *= len(domain)
        return found

    def _weights(self, place: int) -> Floats:
        return priors.of_values(
            self.settings.beta,
            self.told.columns[place],
            self.domains[place].values,
            self.told.texts,
            self.told.columns,
        )

    def people(self, places: Ints) -> tuple[tuple[Text, ...], ...]:
        """Victims by the texts of their values."""
        held = [
            [domain.values[i] for i in column.tolist()]
            for domain, column in zip(self.domains, places.T, strict=True)
        ]
        return tuple(zip(*held, strict=True))

    # -- factors of a release whose values were made coarser ----------------------------------

    def by_column(
        self, labels: Sequence[sets.Sets], classes: Ints, holds: Ints
    ) -> tuple[list[Factor], Ints, Ints]:
        """One factor a column."""
        factors, atoms = [], []
        for place, own in enumerate(labels):
            asked = np.unique(self.victims.places[:, place])
            made = sets.lumped(own, asked, self._weights(place))
            counts = np.zeros((len(own), holds.shape[1]), dtype=np.int64)
            np.add.at(counts, classes[:, place], holds)
            factors.append(Factor(made.prior, made.sets.starts, made.sets.members, counts))
            atoms.append(made.atom_of[self.victims.places[:, place]])
        return factors, np.stack(atoms, axis=1), classes

    def as_observed(self, pairs: sets.Pairs, holds: Ints) -> tuple[list[Factor], Ints, Ints]:
        """All columns as one factor of the combinations that occur in the original."""
        many = len(self.victims.places)
        order = np.lexsort((pairs.victims, pairs.classes))
        starts = np.searchsorted(pairs.classes[order], np.arange(len(holds) + 1))
        members = pairs.victims[order]
        if (np.diff(starts) == 0).any():
            lost = int(holds[np.diff(starts) == 0].sum())
            raise InputError(
                f"{plural(lost, 'released record')} fit nobody in the original",
                hint="--domain cross",
            )
        known: dict[bytes, int] = {}
        label_of, kept = np.zeros(len(holds), dtype=np.int64), list[Ints]()
        for g in range(len(holds)):
            own = members[starts[g] : starts[g + 1]]
            label_of[g] = known.setdefault(own.tobytes(), len(kept))
            if label_of[g] == len(kept):
                kept.append(own)
        own_sets = sets.Sets.of(kept)
        prior = priors.of_values(
            self.settings.beta, None, self.people(self.victims.places), self.told.texts, ()
        )
        counts = np.zeros((len(own_sets), holds.shape[1]), dtype=np.int64)
        np.add.at(counts, label_of, holds)
        factor = Factor(prior, own_sets.starts, own_sets.members, counts)
        return [factor], np.arange(many)[:, None], label_of[:, None]

    def as_boxes(
        self, labels: Sequence[sets.Sets], classes: Ints, holds: Ints
    ) -> tuple[list[Factor], Ints, Ints]:
        """All columns as one factor of all combinations of public values."""
        sizes = [len(domain) for domain in self.domains]
        beta, overrides = self._of_tuples()
        made = sets.boxes(sizes, labels, classes, self.victims.places, beta, overrides=overrides)
        counts = np.zeros((len(made.sets), holds.shape[1]), dtype=np.int64)
        np.add.at(counts, made.label_of, holds)
        prior = np.broadcast_to(made.prior, (holds.shape[1], made.prior.shape[1])).copy()
        factor = Factor(prior, made.sets.starts, made.sets.members, counts)
        return [factor], made.atom_of[:, None], made.label_of[:, None]

    def _of_tuples(self) -> tuple[float | Floats, dict[tuple[int, ...], float]]:
        """Weights of combinations: one for all or one a secret; and those of single ones."""
        beta, texts = self.settings.beta, self.told.texts
        if not isinstance(beta, Mapping) or set(beta) <= set(texts):
            return priors.of_values(beta, None, ((),), texts, ())[:, 0], {}
        overrides = {}
        for key, weight in beta.items():
            values = key if isinstance(key, tuple) else (key,)
            if len(values) != len(self.domains):
                raise UsageError(
                    "beta: all columns are one here", hint="weights of tuples of values"
                )
            places = [d.places.get(v, -1) for d, v in zip(self.domains, values, strict=True)]
            if min(places) < 0:
                raise UsageError("beta: a key is not in the domain", hint="--domain COL=FILE")
            overrides[tuple(places)] = float(
                priors.of_values(weight, None, ((),), (None,), ())[0, 0]
            )
        return 1.0, overrides

    # -- weights of a release in two tables ---------------------------------------------------

    def weights_by_column(self, every: Ints) -> tuple[list[Floats], Ints]:
        """One factor a column; values that nobody has are one atom."""
        weights, atoms = [], []
        for place, domain in enumerate(self.domains):
            every_value = sets.Sets.of([range(len(domain))])
            made = sets.lumped(every_value, np.unique(every[:, place]), self._weights(place))
            weights.append(made.prior)
            atoms.append(made.atom_of[every[:, place]])
        return weights, np.stack(atoms, axis=1)

    def weights_of_all(self, every: Ints) -> tuple[list[Floats], Ints]:
        """All columns as one factor; combinations that nobody has are one atom."""
        texts = self.told.texts
        beta, overrides = self._of_tuples()
        own = np.broadcast_to(np.atleast_1d(beta)[:, None], (len(texts), len(every))).copy()
        place = {tuple(row): i for i, row in enumerate(every.tolist())}
        extra = 0.0
        for key, weight in overrides.items():
            if key in place:
                own[:, place[key]] = weight
            else:
                extra += weight - 1.0
        left = self.keys - len(every)
        if left > 0:
            rest = np.broadcast_to(np.atleast_1d(beta) * float(left) + extra, (len(texts),))
            own = np.concatenate([own, rest[:, None]], axis=1)
        return [own], np.arange(len(every))[:, None]

    # -- the end ------------------------------------------------------------------------------

    def believed(self, model: Model, progress: Progress, *, draws: bool = True) -> Believed:
        """The model, solved."""
        return believe(
            model,
            self.victims.truth,
            seed=self.settings.seed,
            many_chains=self.settings.chains,
            sweeps=self.settings.sweeps,
            threads=self.settings.threads,
            progress=progress,
            draws=draws,
        )

    def reasoned(
        self, model: Model, atoms: Ints, progress: Progress, details: Mapping[str, Any]
    ) -> Reasoning:
        """Solve the model and say what was found."""
        settings, told, victims = self.settings, self.told, self.victims
        believed = self.believed(model, progress)
        alpha = priors.of_secrets(settings.alpha, told.secret, told.texts)
        means, distance = learning.of_secrets(alpha, told.held, told.texts, victims.truth)
        keys: dict[str, Any] = {}
        distances: dict[str, Any] = {"secret": distance, "key": {}}
        each = len(believed.populations) == len(told.columns)
        names = told.columns if each else ("key",)
        for f, name in enumerate(names):
            asked = self._asked(f if each else None, atoms[:, f])
            keys[name], distances["key"][name] = learning.of_keys(
                believed.populations[f],
                believed.drawn[f],
                asked,
                told.texts,
                _by_atom(victims.truth, atoms[:, f], believed.populations[f].shape),
            )
        people = self.people(victims.places)
        records = int(told.held.sum())
        weights = [float(m.prior.sum(axis=1).mean()) for m in getattr(model, "factors", ())]
        return Reasoning(
            told.secret,
            told.columns,
            people,
            told.texts,
            believed,
            told.held,
            victims.truth,
            victims.rows,
            {
                "secret": means,
                "key": keys,
                "distances": distances if victims.truth is not None else {},
            },
            None,
            {
                **details,
                "likelihood": settings.likelihood,
                "released": records,
                "secrets": len(told.texts),
                "victims": len(people),
                "victims_are_all": victims.complete,
                "keys": self.keys,
                "records_a_secret": records / len(told.texts),
                "prior_records_a_secret": dict(zip(names, weights, strict=True)) if weights else {},
                "domains": {
                    column: {"values": len(d), "from": d.source, "public": d.public}
                    for column, d in zip(told.columns, self.domains, strict=True)
                },
                "seed": settings.seed,
            },
        )

    def _asked(self, place: int | None, atoms: Ints) -> dict[Any, int]:
        """Values that victims have, and their atoms."""
        names: Iterable[Any]
        if place is None:
            names = self.people(self.victims.places)
        else:
            values = self.domains[place].values
            names = [values[i] for i in self.victims.places[:, place].tolist()]
        return dict(zip(names, atoms.tolist(), strict=True))


def _by_atom(truth: Ints | None, atoms: Ints, shape: tuple[int, ...]) -> Ints | None:
    """The original's records by secret and atom."""
    if truth is None:
        return None
    found = np.zeros(shape, dtype=np.int64)
    np.add.at(found.T, atoms, truth[:, : shape[0]])
    return found


def _domain(
    there: Sequence[Text],
    original: Cube | None,
    place: int,
    column: str,
    settings: Settings,
    *,
    plain: bool = False,
) -> Domain:
    """The public domain of a column; of a `plain` one released values stand for themselves."""
    seen = None if original is None else occurring(original, place)[0]
    given = settings.given(column)
    hierarchy = settings.hierarchies.get(column)
    if plain and not settings.observed:
        known = None if given is None else given_domain(given)
        values = dict.fromkeys(known or (hierarchy.ladder if hierarchy is not None else ()))
        values |= dict.fromkeys(there)
        fresh = [v for v in seen or () if v not in values]
        source = "given" if known else "hierarchy" if hierarchy is not None else "release"
        return Domain((*values, *fresh), source, not fresh, len(fresh))  # type: ignore[arg-type]
    return domain_of(
        there,
        given=given,
        hierarchy=hierarchy,
        original=seen,
        observed=settings.observed,
        wildcard=settings.wildcard,
        column=column,
    )


def _matched(secrets: Cube, people: Cube) -> Ints:
    """The group of each cell of the secrets' table, as numbered by the people's table."""
    place = {text: code for code, text in enumerate(people.values[-1])}
    used = np.unique(people.codes[-1])
    number = np.full(len(people.values[-1]), -1, dtype=np.int64)
    number[used] = np.arange(len(used))
    of = np.array([place.get(text, -1) for text in secrets.values[0]], dtype=np.int64)
    codes = of[secrets.codes[0]]
    found = np.where(codes >= 0, number[codes], -1)
    if (found < 0).any():
        lost = len(np.unique(secrets.codes[0][found < 0]))
        raise InputError(f"{plural(lost, 'group')} of the table of secrets without people")
    return found


def _groups(people: Cube, secrets: Cube) -> tuple[Ints, Ints]:
    """The group of each cell of the people's table, and the size of each group."""
    _, group = np.unique(people.codes[-1], return_inverse=True)
    group = group.ravel()
    sizes = np.bincount(group, people.counts).astype(np.int64)
    theirs = np.bincount(_matched(secrets, people), secrets.counts, len(sizes)).astype(np.int64)
    wrong = int((sizes != theirs).sum())
    if wrong:
        raise InputError(
            f"{wrong:,} of {plural(len(sizes), 'group')} have more people than secrets, or fewer"
        )
    return group, sizes
