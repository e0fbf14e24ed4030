"""Every measure as a plain function of a table: `k_anonymity(data, quasi)`, `itpr(data, quasi, s)`.

The functions are made from the measures' records, so that a new measure is a function at once. What
a measure can be told in plain words (`l=3`, `order=[...]`) is turned into the options of `assess`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sievert.assessment import single
from sievert.errors import UsageError
from sievert.measures import MEASURES, Measure

# keyword -> the option of `assess` it fills, for the one secret the function is about
_PER_SECRET = {"order": "orders", "hierarchy": "hierarchies", "partition": "partitions"}
_WORDS = {
    "recursive_c": ("l",),
    "records_below": ("k",),
    "alpha_k": ("value",),
    "t_closeness_ordered": ("order",),
    "t_closeness_hierarchical": ("hierarchy",),
    "semantic_discrimination_rate": ("partition",),
}


def _function(measure: Measure) -> Callable[..., Any]:
    def compute(data: Any, quasi: Any, sensitive: str | None = None, **options: Any) -> Any:
        for word in _WORDS.get(measure.id, ()):
            if word not in options:
                continue
            given = options.pop(word)
            if given is None:
                continue
            if word in _PER_SECRET:
                if sensitive is None:
                    raise UsageError(f"{measure.id} is about a secret", hint="sensitive='COLUMN'")
                options.setdefault(_PER_SECRET[word], {})[sensitive] = given
            else:
                options["parameters"] = {
                    **options.get("parameters", {}),
                    measure.id: {word: given},
                }
        return single(measure.id, data, quasi, sensitive, **options)

    compute.__name__ = compute.__qualname__ = measure.id
    compute.__doc__ = (
        f"{measure.title}: {measure.formula}. Unit: {measure.unit}; range {measure.bounds}; riskier "
        f"when {measure.riskier}.\n\n{measure.reading[0].upper()}{measure.reading[1:]}. "
        f"Source: {measure.source}.\n\nReturns a plain number, or None where it is undefined or "
        f"unbounded (`assess` says why). Options are those of `assess`."
    )
    return compute


FUNCTIONS: dict[str, Callable[..., Any]] = {m.id: _function(m) for m in MEASURES if m.kinds}
