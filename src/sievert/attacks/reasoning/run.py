"""Somebody reasons about a release: from counted tables to beliefs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning import priors, value_sets
from sievert.attacks.reasoning.candidates import CandidatePairs, contains
from sievert.attacks.reasoning.domains import Domain, Source, public_domain, read_domain
from sievert.attacks.reasoning.horizontal.release import CLOSED, EXACT, HorizontalModel
from sievert.attacks.reasoning.mcmc.chains import Progress
from sievert.attacks.reasoning.model import Buckets
from sievert.attacks.reasoning.problem import Problem, ReleasedSecrets, Victims
from sievert.attacks.reasoning.result import Reasoning
from sievert.attacks.reasoning.settings import (
    ReasoningSettings,
    Remark,
    remark_domains,
    remark_misplaced,
    remark_secrets,
)
from sievert.attacks.reasoning.vertical.release import VerticalModel
from sievert.attacks.reasoning.victims import distinct_rows, imagine_victims
from sievert.counts.cube import Cube
from sievert.errors import InputError, InvariantError
from sievert.formatting import plural

Text = str | None
MOST_PAIRS = 2 * 10**7  # of victims and classes that may hold them
SENSITIVITY = (1.0, 0.1)  # weights of a value that a saturated model is shown for


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
    settings: ReasoningSettings,
    progress: Progress,
    remark: Remark,
    listed: Cube | None = None,
) -> Reasoning:
    """Reason about a release whose values were made coarser; the last column is the secret.

    `listed` is the release record by record, where each of its records is to be told of.
    """
    columns = released.columns[:-1]
    texts, at = occurring(released, len(columns))
    secret = at[released.codes[-1]]
    held = np.bincount(secret, released.counts, len(texts)).astype(np.int64)
    told = ReleasedSecrets(released.columns[-1], columns, tuple(texts), held)
    domains, labels = [], []
    for place, column in enumerate(columns):
        there, _ = occurring(released, place)
        domain = _domain(there, original, place, column, settings)
        domains.append(domain)
        labels.append(
            value_sets.Labels.read(
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
    classes, which = distinct_rows(cells)
    holds = np.bincount(which * len(texts) + secret, released.counts, len(classes) * len(texts))
    holds = holds.reshape(len(classes), len(texts)).astype(np.int64)
    sets_of = [n.sets for n in labels]
    if original is None:
        rng = np.random.default_rng([settings.seed, 3])
        pairs_of = [(s.starts, s.members) for s in sets_of]
        places, complete = imagine_victims(pairs_of, classes, holds.sum(axis=1), rng)
        victims = Victims(places, None, None, complete)
    else:
        victims = Victims.known(original, domains, texts, ordered)
        assert victims.truth is not None
        remark_secrets(victims.truth, remark)
    pairs = contains(classes, sets_of, victims.places, MOST_PAIRS)
    world = Problem(told, domains, victims, settings)
    if settings.likelihood == "product" or len(columns) == 1:
        factors, atoms, label_of = world.by_column(sets_of, classes, holds)
    elif settings.observed:
        factors, atoms, label_of = world.as_observed(pairs, holds)
    else:
        factors, atoms, label_of = world.as_boxes(sets_of, classes, holds)
    alpha = priors.of_secrets(settings.alpha, told.secret, texts)
    model = HorizontalModel.of(factors, holds, label_of, atoms, pairs, alpha, settings.method)
    unplaced = len(victims.places) - len(np.unique(pairs.victims))
    details = {"kind": "horizontal", "classes": len(classes), "victims_without_a_class": unplaced}
    found = world.reasoned(model, atoms, progress, details)
    remark_misplaced(found.misplaced, remark)
    if listed is not None:
        own = np.stack([n.of[c] for n, c in zip(labels, listed.codes[:-1], strict=True)], axis=1)
        _, both = distinct_rows(np.concatenate([classes, own]))
        mine = both[len(classes) :]  # classes are all there is, in ascending order
        if listed.values != released.values:
            raise InvariantError("two counts of the release have different values")
        return replace(found, released=_fitting(found, pairs, mine, at[listed.codes[-1]]))
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
                    replace(
                        found,
                        believed=world.believed(
                            model.weighted(beta / settings.beta), Progress(), draws=False
                        ),
                    ),
                )
                for beta in SENSITIVITY
            ],
        },
    )


def _line(beta: float, found: Reasoning) -> dict[str, Any]:
    named = (
        "attacker_accuracy",
        "learner_accuracy",
        "global_relative_risk",
        "global_relative_risk_literal",
        "max_relative_risk",
    )
    return {"beta": beta, **{name: found.headlines[name] for name in named}}


def vertical(
    people: Cube,
    secrets: Cube,
    original: Cube | None,
    ordered: bool,
    settings: ReasoningSettings,
    progress: Progress,
    remark: Remark,
    listed: Cube | None = None,
) -> Reasoning:
    """Reason about a release in two tables: people's keys and their group; groups and secrets.

    `listed` is the people's table record by record, where each of its records is to be told of.
    """
    columns = people.columns[:-1]
    texts, at = occurring(secrets, 1)
    group, sizes = _groups(people, secrets)
    rows = np.repeat(np.arange(len(group)), people.counts)
    rows = rows[np.argsort(group[rows], kind="stable")]
    starts = np.append(0, np.cumsum(sizes))
    secret = at[secrets.codes[1]]
    theirs = _matched(secrets, people)
    order = np.lexsort((secret, theirs))
    held = np.repeat(secret[order], secrets.counts[order])
    told = ReleasedSecrets(
        secrets.columns[1], columns, tuple(texts), np.bincount(held, minlength=len(texts))
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
    if (places < 0).any():
        lost = int(people.counts[(places < 0).any(axis=1)].sum())
        raise InputError(
            f"{plural(lost, 'released record')} fit nobody in the original", hint="--domain cross"
        )
    kinds, kind = distinct_rows(places)
    if original is None:
        victims = Victims(kinds, None, None, True)
    else:
        victims = Victims.known(original, domains, texts, ordered)
        assert victims.truth is not None
        remark_secrets(victims.truth, remark)
    world = Problem(told, domains, victims, settings)
    every, which = distinct_rows(np.concatenate([victims.places, kinds]))
    asked, present = which[: len(victims.places)], which[len(victims.places) :]
    owner = np.full(len(every), -1, dtype=np.int64)
    owner[asked] = np.arange(len(asked))
    if settings.likelihood == "product" or len(columns) == 1:
        weights, atoms_of = world.weights_by_column(every)
    else:
        weights, atoms_of = world.weights_of_all(every)
    of_rows = present[kind[rows]]
    buckets = Buckets(tuple(weights), atoms_of[of_rows], held, starts)
    alpha = priors.of_secrets(settings.alpha, told.secret, texts)
    model = VerticalModel.of(buckets, owner[of_rows], atoms_of[asked], alpha, settings.method)
    unplaced = len(asked) - len(np.unique(owner[of_rows][owner[of_rows] >= 0]))
    details = {
        "kind": "vertical",
        "groups": len(sizes),
        "largest_group": int(sizes.max(initial=0)),
        "victims_without_a_class": unplaced,
    }
    found = world.reasoned(model, atoms_of[asked], progress, details)
    remark_misplaced(found.misplaced, remark)
    if listed is None:
        return found
    own = [domain.positions(listed.values[c])[listed.codes[c]] for c, domain in enumerate(domains)]
    _, both = distinct_rows(np.concatenate([victims.places, np.stack(own, axis=1)]))
    return replace(found, released=_best(found, both[len(victims.places) :]))


def _fitting(
    found: Reasoning, pairs: CandidatePairs, classes: Ints, secrets: Ints
) -> dict[str, Floats]:
    """Of each released record: how much those whose values fit it believe in its secret."""
    order = np.argsort(pairs.classes, kind="stable")
    starts = np.flatnonzero(np.diff(pairs.classes[order], prepend=-1))
    victims, told = pairs.victims[order], dict[str, Floats]()
    for who, beliefs in (
        ("attacker", found.believed.attacker),
        ("learner", found.believed.learner),
    ):
        for end, extreme in (("least", np.minimum), ("most", np.maximum)):
            table = np.full((int(classes.max(initial=0)) + 1, beliefs.shape[1]), np.nan)
            table[pairs.classes[order][starts]] = extreme.reduceat(beliefs[victims], starts, axis=0)
            told[f"{who}_{end}"] = table[classes, secrets]
    return told


def _best(found: Reasoning, victims: Ints) -> dict[str, Floats]:
    """Of each person of a release by groups: the largest belief, and the learner's in the same."""
    best = found.believed.attacker.argmax(axis=1)
    every = np.arange(len(best))
    return {
        "attacker": found.believed.attacker[every, best][victims],
        "learner": found.believed.learner[every, best][victims],
    }


def _domain(
    there: Sequence[Text],
    original: Cube | None,
    place: int,
    column: str,
    settings: ReasoningSettings,
    *,
    plain: bool = False,
) -> Domain:
    """The public domain of a column; of a `plain` one released values stand for themselves."""
    seen = None if original is None else occurring(original, place)[0]
    given = settings.given(column)
    hierarchy = settings.hierarchies.get(column)
    if plain and not settings.observed:
        known = None if given is None else read_domain(given)
        values = dict.fromkeys(known or (hierarchy.labels if hierarchy is not None else ()))
        values |= dict.fromkeys(there)
        fresh = [v for v in seen or () if v not in values]
        source: Source = "given" if known else "hierarchy" if hierarchy is not None else "release"
        return Domain((*values, *fresh), source, not fresh, len(fresh))
    return public_domain(
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
        raise InputError(
            f"{plural(lost, 'group')} of the table of secrets without people",
            hint="are both tables of one release?",
        )
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
            f"{wrong:,} of {plural(len(sizes), 'group')} have other numbers of people and secrets",
            hint="are both tables of one release?",
        )
    return group, sizes
