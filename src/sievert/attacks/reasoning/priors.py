"""Weights that beliefs start from: one a secret (alpha), one a value and a secret (beta)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.errors import UsageError, require

Weights = float | Mapping[Any, Any]
Text = str | None
NOBODY: Any = object()  # a secret that nothing is named after
LEAST, MOST = 1e-200, 1e12


def of_secrets(alpha: Weights, secret: str, texts: Sequence[Text]) -> Floats:
    """The weight of each secret: a number for all, or a mapping of secrets; 1 where not named.

    >>> of_secrets({"flu": 2}, "disease", ["flu", "hiv"]).tolist()
    [2.0, 1.0]
    """
    if isinstance(alpha, Mapping) and set(alpha) == {secret}:
        alpha = alpha[secret]
    if not isinstance(alpha, Mapping):
        return np.full(len(texts), _weight("alpha", alpha))
    _check_keys("alpha", alpha, texts)
    return np.array([_weight("alpha", alpha.get(text, 1.0)) for text in texts])


def of_values(
    beta: Weights,
    column: str | None,
    values: Sequence[Any],
    secrets: Sequence[Text],
    columns: Sequence[str],
) -> Floats:
    """The weight of each value for each secret: an array of secrets by values.

    A number for all; or a mapping of columns, of secrets, or of values, each to a number or to the
    next such mapping. What is not named has weight 1. Without a column, values are tuples.

    >>> of_values({"flu": {"M": 2}}, "sex", ["M", "F"], ["flu", "hiv"], ["sex"]).tolist()
    [[2.0, 1.0], [1.0, 1.0]]
    """
    weights = np.ones((len(secrets), len(values)))
    if not isinstance(beta, Mapping):
        weights[:] = _weight("beta", beta)
        return weights
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
        return of_values(beta.get(column, 1.0), column, values, secrets, ())
    if readings == ["secrets"]:
        for s, text in enumerate(secrets):
            if text in beta:
                weights[s] = of_values(beta[text], column, values, (NOBODY,), ())[0]
        return weights
    _check_keys("beta", beta, values)
    weights[:] = [_weight("beta", beta.get(value, 1.0)) for value in values]
    return weights


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
