"""An attacker reasons about a release: from counted tables to beliefs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.attacks.reasoning import value_sets
from sievert.attacks.reasoning.candidates import (
    CandidatePairs,
    candidate_pairs,
    distinct_rows,
    imagine_victims,
)
from sievert.attacks.reasoning.chains import Progress
from sievert.attacks.reasoning.domains import Domain, Source, public_domain, read_domain
from sievert.attacks.reasoning.horizontal.release import HorizontalModel
from sievert.attacks.reasoning.model import Buckets, secret_weights
from sievert.attacks.reasoning.posterior import believe
from sievert.attacks.reasoning.problem import (
    AddRemark,
    Problem,
    ReasoningTask,
    Victims,
    positions,
    require_fit,
)
from sievert.attacks.reasoning.result import Reasoning
from sievert.attacks.reasoning.settings import AUTO, CLOSED, EXACT
from sievert.attacks.reasoning.vertical.release import VerticalModel
from sievert.counts.cube import Cube
from sievert.errors import InputError, InvariantError, require
from sievert.formatting import plural
from sievert.formatting.remarks import Remark

MOST_PAIRS = 2 * 10**7  # of victims and classes that may hold them
SENSITIVITY = (1.0, 0.1)  # weights of a value that a saturated model is shown for
SENSITIVE_HEADLINES = (
    "attacker_accuracy",
    "learner_accuracy",
    "global_relative_risk",
    "global_relative_risk_literal",
    "max_relative_risk",
)


def remark_domains(columns: Sequence[str], domains: Sequence[Domain], remark: AddRemark) -> None:
    """Say whose domain is taken from the original."""
    secret = [column for column, d in zip(columns, domains, strict=True) if not d.public]
    if secret:
        who = repr(secret[0]) if len(secret) == 1 else plural(len(secret), "column")
        remark(Remark("domain_known", who=who))


def remark_unplaced(records: int, remark: AddRemark) -> None:
    """Say how many records of the original fit no released class."""
    if records:
        remark(Remark("fit_no_class", records=plural(records, "record")))


def occurring(cube: Cube, place: int) -> tuple[list[str | None], Ints]:
    """The texts of a column that occur, and the place of each code among them."""
    used = np.unique(cube.codes[place])
    at = np.full(len(cube.values[place]), -1, dtype=np.int64)
    at[used] = np.arange(len(used))
    return [cube.values[place][code] for code in used.tolist()], at


def horizontal(released: Cube, task: ReasoningTask) -> Reasoning:
    """Reason about a release whose values were made coarser; the last column is the secret."""
    settings = task.settings
    listed = task.listed
    columns = released.columns[:-1]
    texts, at = occurring(released, len(columns))
    domains = [_domain(released, place, task) for place in range(len(columns))]
    labels = [_labels(released, place, domain, task) for place, domain in enumerate(domains)]
    remark_domains(columns, domains, task.remark)
    classes, which = distinct_rows(_label_numbers(labels, released))
    class_counts = np.zeros((len(classes), len(texts)), dtype=np.int64)
    np.add.at(class_counts, (which, at[released.codes[-1]]), released.counts)
    sets = [each.sets for each in labels]
    if task.original is None:
        rng = np.random.default_rng([settings.seed, 3])
        places, complete = imagine_victims(sets, classes, class_counts.sum(axis=1), rng)
        victims = Victims(places=places, truth=None, rows=None, complete=complete)
    else:
        victims = Victims.from_original(task.original, domains, texts, task.ordered, task.remark)
    pairs = candidate_pairs(classes, sets, victims.places, MOST_PAIRS)
    name = released.columns[-1]
    counts = class_counts.sum(axis=0)
    problem = Problem(
        secret=name,
        columns=columns,
        texts=tuple(texts),
        counts=counts,
        domains=domains,
        victims=victims,
        task=task,
    )
    if settings.likelihood == "product" or len(columns) == 1:
        factors, atoms, label_of = problem.by_column(sets, classes, class_counts)
    elif settings.takes_original_domain:
        factors, atoms, label_of = problem.as_observed(pairs, class_counts)
    else:
        factors, atoms, label_of = problem.as_boxes(sets, classes, class_counts)
    alpha = secret_weights(settings.alpha, name, texts)
    model = HorizontalModel.build(
        factors, class_counts, label_of, atoms, pairs, alpha, settings.method
    )
    details = {
        "kind": "horizontal",
        "classes": len(classes),
        "victims_without_a_class": len(victims.places) - len(np.unique(pairs.victims)),
    }
    reasoning = problem.reason(model, details)
    remark_unplaced(reasoning.unplaced_records, task.remark)
    if listed is None:
        return _with_sensitivity(reasoning, problem, model)
    both = distinct_rows(np.concatenate([classes, _label_numbers(labels, listed)]))[1]
    mine = both[len(classes) :]  # classes are all there is, in ascending order
    require(
        listed.values == released.values,
        "two counts of the release have different values",
        error=InvariantError,
    )
    return replace(
        reasoning, released=_fitting_beliefs(reasoning, pairs, mine, at[listed.codes[-1]])
    )


def _labels(released: Cube, place: int, domain: Domain, task: ReasoningTask) -> value_sets.Labels:
    """Read what the released texts of a column stand for; a missing value is read if it occurs."""
    used, _ = occurring(released, place)
    texts = released.values[place]
    column = released.columns[place]
    return value_sets.Labels.read(
        texts if None in used else [*used[:1], *texts[1:]],
        domain,
        task.hierarchies.get(column),
        wildcard=task.wildcard,
        column=column,
    )


def _label_numbers(labels: Sequence[value_sets.Labels], cube: Cube) -> Ints:
    """The labels of each cell of a table, by column."""
    return np.stack(
        [each.numbers[codes] for each, codes in zip(labels, cube.codes[:-1], strict=True)], axis=1
    )


def _with_sensitivity(reasoning: Reasoning, problem: Problem, model: HorizontalModel) -> Reasoning:
    """Add the headlines under other prior weights, if a saturated model is solved exactly."""
    settings = problem.settings
    exact = model.method in (CLOSED, EXACT) and problem.victims.truth is not None
    if (
        settings.likelihood == "product"
        or settings.method != AUTO
        or not exact
        or isinstance(settings.beta, Mapping)
    ):
        return reasoning
    lines: list[dict[str, Any]] = []
    for beta in SENSITIVITY:
        reweighted = model.reweight(beta / settings.beta)
        posterior = believe(reweighted, problem.victims.truth, settings, Progress(), draws=False)
        headlines = replace(reasoning, posterior=posterior).headlines
        lines.append({"beta": beta, **{name: headlines[name] for name in SENSITIVE_HEADLINES}})
    return replace(reasoning, details={**reasoning.details, "sensitivity": lines})


def vertical(people: Cube, secret_lists: Cube, task: ReasoningTask) -> Reasoning:
    """Reason about a release in two tables: people's keys and their group; groups and secrets."""
    settings = task.settings
    listed = task.listed
    columns = people.columns[:-1]
    texts, at = occurring(secret_lists, 1)
    group, listed_group, sizes = _groups(people, secret_lists)
    rows = np.repeat(np.arange(len(group)), people.counts)
    rows = rows[np.argsort(group[rows], kind="stable")]
    secret = at[secret_lists.codes[1]]
    order = np.lexsort((secret, listed_group))
    row_secrets = np.repeat(secret[order], secret_lists.counts[order])
    domains = [_domain(people, place, task, plain=True) for place in range(len(columns))]
    remark_domains(columns, domains, task.remark)
    places = positions(people, domains)
    require_fit(int(people.counts[(places < 0).any(axis=1)].sum()))
    kinds, kind = distinct_rows(places)
    victims = (
        Victims(places=kinds, truth=None, rows=None, complete=True)
        if task.original is None
        else Victims.from_original(task.original, domains, texts, task.ordered, task.remark)
    )
    counts = np.bincount(row_secrets, minlength=len(texts))
    name = secret_lists.columns[1]
    problem = Problem(
        secret=name,
        columns=columns,
        texts=tuple(texts),
        counts=counts,
        domains=domains,
        victims=victims,
        task=task,
    )
    combinations, which = distinct_rows(np.concatenate([victims.places, kinds]))
    own = which[: len(victims.places)]
    present = which[len(victims.places) :]
    owner = np.full(len(combinations), -1, dtype=np.int64)
    owner[own] = np.arange(len(own))
    by_column = settings.likelihood == "product" or len(columns) == 1
    weights, atoms = (problem.weights_by_column if by_column else problem.weights_of_all)(
        combinations
    )
    row_keys = present[kind[rows]]
    starts = np.append(0, np.cumsum(sizes))
    buckets = Buckets(
        priors=tuple(weights), atoms=atoms[row_keys], secrets=row_secrets, starts=starts
    )
    alpha = secret_weights(settings.alpha, name, texts)
    owners = owner[row_keys]
    model = VerticalModel.build(buckets, owners, atoms[own], alpha, settings.method)
    details = {
        "kind": "vertical",
        "groups": len(sizes),
        "largest_group": int(sizes.max(initial=0)),
        "victims_without_a_class": len(own) - len(np.unique(owners[owners >= 0])),
    }
    reasoning = problem.reason(model, details)
    remark_unplaced(reasoning.unplaced_records, task.remark)
    if listed is None:
        return reasoning
    both = distinct_rows(np.concatenate([victims.places, positions(listed, domains)]))[1]
    return replace(reasoning, released=_largest_beliefs(reasoning, both[len(victims.places) :]))


def _fitting_beliefs(
    reasoning: Reasoning, pairs: CandidatePairs, classes: Ints, secrets: Ints
) -> dict[str, Floats]:
    """For each released record, the belief in its secret of the victims whose values fit it."""
    order = np.argsort(pairs.classes, kind="stable")
    starts = np.flatnonzero(np.diff(pairs.classes[order], prepend=-1))

    def extremes(beliefs: Floats, extreme: np.ufunc) -> Floats:
        table = np.full((int(classes.max(initial=0)) + 1, beliefs.shape[1]), np.nan)
        fitting = beliefs[pairs.victims[order]]
        table[pairs.classes[order][starts]] = extreme.reduceat(fitting, starts, axis=0)
        return np.asarray(table[classes, secrets])

    posterior = reasoning.posterior
    names = ("attacker", "learner")
    return {
        f"{who}_{end}": extremes(getattr(posterior, who), extreme)
        for who in names
        for end, extreme in (("least", np.minimum), ("most", np.maximum))
    } | {
        f"{who}_mcse": extremes(errors, np.maximum)
        for who, errors in zip(names, posterior.errors, strict=True)
    }


def _largest_beliefs(reasoning: Reasoning, victims: Ints) -> dict[str, Floats]:
    """For each person of a release by groups, the attacker's largest belief, and the learner's."""
    posterior = reasoning.posterior
    best = posterior.attacker.argmax(axis=1)
    rows = np.arange(len(best))
    tables = (posterior.attacker, posterior.learner, *posterior.errors)
    names = ("attacker", "learner", "attacker_mcse", "learner_mcse")
    return {n: table[rows, best][victims] for n, table in zip(names, tables, strict=True)}


def _domain(released: Cube, place: int, task: ReasoningTask, *, plain: bool = False) -> Domain:
    """Find the public domain of a column; in a `plain` one released values stand for themselves."""
    settings = task.settings
    original = task.original
    column = released.columns[place]
    used = occurring(released, place)[0]
    seen = None if original is None else occurring(original, place)[0]
    given = settings.domain.get(column) if isinstance(settings.domain, Mapping) else None
    hierarchy = task.hierarchies.get(column)
    if plain and not settings.takes_original_domain:
        known = None if given is None else read_domain(given)
        values = dict.fromkeys(known or (hierarchy.labels if hierarchy is not None else ()))
        values |= dict.fromkeys(used)
        fresh = [v for v in seen or () if v not in values]
        source: Source = "release"
        if known:
            source = "given"
        elif hierarchy is not None:
            source = "hierarchy"
        return Domain(values=(*values, *fresh), source=source, public=not fresh, added=len(fresh))
    return public_domain(
        used,
        given=given,
        hierarchy=hierarchy,
        original=seen,
        observed=settings.takes_original_domain,
        wildcard=task.wildcard,
        column=column,
    )


def _groups(people: Cube, secret_lists: Cube) -> tuple[Ints, Ints, Ints]:
    """The group of each cell of both tables, numbered alike, and the size of each group."""
    used, group = np.unique(people.codes[-1], return_inverse=True)
    number = {people.values[-1][code]: i for i, code in enumerate(used.tolist())}
    by_code = np.array([number.get(text, -1) for text in secret_lists.values[0]], dtype=np.int64)
    listed = by_code[secret_lists.codes[0]]
    lost = len(np.unique(secret_lists.codes[0][listed < 0]))
    require(
        not lost,
        f"{plural(lost, 'group')} of the table of secrets without people",
        hint="are both tables of one release?",
        error=InputError,
    )
    sizes = np.bincount(group, people.counts).astype(np.int64)
    wrong = int((sizes != np.bincount(listed, secret_lists.counts, len(sizes))).sum())
    require(
        not wrong,
        f"{wrong:,} of {plural(len(sizes), 'group')} have other numbers of people and secrets",
        hint="are both tables of one release?",
        error=InputError,
    )
    return group, listed, sizes
