"""The attacker's model of a release: factors, groups and prior weights.

What an outsider knows of a person is cut into independent *factors*: one a column (the product
model), or one for all columns together (the saturated model). A factor has *atoms*: the values
that a person may have there, some of them merged. A released value is a *label*: a set of
atoms.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sievert.arrays import Floats, Ints, Text
from sievert.attacks.reasoning.settings import Weights
from sievert.errors import UsageError, require

BetaMixture = tuple[tuple[float, tuple[tuple[float, float], ...]], ...]  # weights and products
NOBODY: Any = object()  # a secret that nothing is named after
# Weights of a prior.
LEAST = 1e-200
MOST = 1e12


@dataclass(frozen=True)
class Factor:
    """One factor of a release whose values were made coarser.

    `prior[s, a]` is the weight of atom a among people with secret s before the release is seen;
    label l may stand for the atoms `members[starts[l]:starts[l + 1]]`, in ascending order, one at
    least; `counts[l, s]` released records have label l and secret s.
    """

    prior: Floats
    starts: Ints
    members: Ints
    counts: Ints


@dataclass(frozen=True)
class FactorPosterior:
    """What the release tells of one factor among people with one secret.

    `population[a]` is the expected share of atom a; `inside[m]`, for every place of the factor's
    `members`, the expected share of that atom within its label. It is 0 for labels that no record
    with the secret has.
    """

    population: Floats
    inside: Floats


@dataclass(frozen=True)
class Buckets:
    """A release in two tables: in each group the keys of its people, and its secrets, unlinked.

    Rows are in the order of their groups: `starts[g]:starts[g + 1]` are those of group g. Row i has
    atom `atoms[i, f]` in factor f; `secrets[starts[g]:starts[g + 1]]` are the group's secrets, in
    ascending order, which row has which being unknown. `priors[f]` is as in `Factor`.
    """

    priors: tuple[Floats, ...]
    atoms: Ints
    secrets: Ints
    starts: Ints


@dataclass(frozen=True)
class ReleaseModel:
    """The victims of a release, by what is known of them, and how frequent the secrets are."""

    atoms: Ints  # victims by factors
    alpha: Floats
    secret_counts: Ints

    @property
    def shape(self) -> tuple[int, int]:
        """How many victims and secrets there are."""
        return len(self.atoms), len(self.alpha)

    def learner_weights(self, populations: Sequence[Floats]) -> Floats:
        """The population's weight of each victim's kind with each secret.

        It is the weight of the secret, times the shares of the victim's atoms among those who have
        it.
        """
        weights = np.broadcast_to(normalise(self.alpha + self.secret_counts), self.shape).copy()
        for population, own in zip(populations, self.atoms.T, strict=True):
            weights *= population[:, own].T
        return weights

    def printed_under(self, drawn: Sequence[Floats], rng: np.random.Generator) -> Floats:
        """The printed learner's shares of secrets among each victim's kind, in one population.

        `drawn` are the shares of the atoms of each factor, by secret.
        """
        with np.errstate(divide="ignore"):
            gammas = np.log(rng.standard_gamma(self.alpha + self.secret_counts))
            logs = np.broadcast_to(gammas, self.shape)
            for population, own in zip(drawn, self.atoms.T, strict=True):
                logs = logs + np.log(population)[:, own].T
        best = logs.max(axis=1, keepdims=True)
        lost = np.isneginf(best)  # below what can be told from 0, for every secret
        return normalise(np.where(lost, 1.0, np.exp(logs - np.where(lost, 0.0, best))))


def normalise(weights: Floats) -> Floats:
    """Each row as probabilities; a row of nothing stays so."""
    totals = weights.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0))


def secret_weights(alpha: Weights, secret: str, texts: Sequence[Text]) -> Floats:
    """The weight of each secret: a number for all, or a mapping of secrets; 1 where not named.

    >>> secret_weights({"flu": 2}, "disease", ["flu", "hiv"]).tolist()
    [2.0, 1.0]
    """
    if isinstance(alpha, Mapping) and set(alpha) == {secret}:
        alpha = alpha[secret]
    if not isinstance(alpha, Mapping):
        return np.full(len(texts), _weight("alpha", alpha))
    _check_keys("alpha", alpha, texts)
    return np.array([_weight("alpha", alpha.get(text, 1.0)) for text in texts])


def value_weights(
    beta: Weights,
    column: str | None,
    values: Sequence[Any],
    secrets: Sequence[Text],
    columns: Sequence[str],
) -> Floats:
    """The weight of each value for each secret: an array of secrets by values.

    A number for all; or a mapping of columns, of secrets, or of values, each to a number or to the
    next such mapping. What is not named has weight 1. Without a column, values are tuples.

    >>> value_weights({"flu": {"M": 2}}, "sex", ["M", "F"], ["flu", "hiv"], ["sex"]).tolist()
    [[2.0, 1.0], [1.0, 1.0]]
    """
    if not isinstance(beta, Mapping):
        return np.full((len(secrets), len(values)), _weight("beta", beta))
    keys = set(beta)
    readings = [
        name
        for name, known in (("columns", columns), ("secrets", secrets), ("values", values))
        if keys and keys <= set(known)
    ]
    require(
        len(readings) <= 1,
        f"beta: its keys may be {' or '.join(readings)}",
        hint="a mapping of columns, each to a mapping of secrets, each to one of values",
    )
    if readings == ["columns"]:
        require(
            column is not None, "beta: all columns are one here", hint="weights of tuples of values"
        )
        return value_weights(beta.get(column, 1.0), column, values, secrets, ())
    if readings == ["secrets"]:
        own = (value_weights(beta.get(s, 1.0), column, values, (NOBODY,), ()) for s in secrets)
        return np.concatenate([np.ones((0, len(values))), *own])
    _check_keys("beta", beta, values)
    return np.tile([_weight("beta", beta.get(value, 1.0)) for value in values], (len(secrets), 1))


def _check_keys(name: str, given: Mapping[Any, Any], known: Sequence[Any]) -> None:
    strange = len(set(given) - set(known))
    require(
        not strange,
        f"{name}: {strange} of its {len(given)} keys are not in the release",
        hint="a number, or a mapping of values as they are spelled in the table",
    )


def _weight(name: str, given: Any) -> float:
    try:
        weight = float(given)
    except (TypeError, ValueError):
        raise UsageError(f"{name}: a positive number, or a mapping to such numbers") from None
    require(math.isfinite(weight) and weight > 0, f"{name} must be positive and finite")
    require(LEAST <= weight <= MOST, f"{name} must be from {LEAST:g} to {MOST:g}")
    return weight
