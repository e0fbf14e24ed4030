"""Every measure as a plain function of a table: `k_anonymity(data, quasi)`, `itpr(data, quasi, s)`.

The functions are made from the measures' records, so that a new measure is a function at once. What
a measure can be told in plain words (`l=3`, `order=[...]`) is turned into the options of `assess`.
"""

from collections.abc import Callable, Iterable
from typing import Any, Unpack

import numpy as np

from sievert import roles as role
from sievert.commands.assess.api import assess
from sievert.counts.answers import Profiles
from sievert.counts.wildcards import class_values
from sievert.errors import ExhaustedError, require
from sievert.measurement.combinations import count_combinations
from sievert.measurement.table_measures import clamp_to_bounds
from sievert.measurement.wildcards import no_values
from sievert.measures import BY_ID, MEASURES, Measure, MeasureResult, kernel
from sievert.measures.target import RecordTarget, SecretTarget
from sievert.request.requested import check_known
from sievert.request.suppression import leave_out_suppressed
from sievert.session import open_source
from sievert.sources.options import ReaderOptions

# keyword -> the option of `assess` it fills, for the one secret the function is about
_PER_SECRET = {"order": "orders", "hierarchy": "hierarchies", "partition": "partitions"}
_NEEDS = {
    "order": "an order: order=[lowest, ..., highest], or a column of numbers or dates",
    "hierarchy": "a hierarchy: hierarchy=Hierarchy.read(FILE)",
    "parts": "a partition: partition={'part': ['value', ...]}",
    "population": "a population: population_size=N, or fraction=F",
}
_WORDS = {
    "recursive_c": ("l",),
    "records_below": ("k",),
    "alpha_k": ("value",),
    "t_closeness_ordered": ("order",),
    "t_closeness_hierarchical": ("hierarchy",),
    "semantic_discrimination_rate": ("partition",),
}


def _one_secret(sensitive: Any) -> str | None:
    """A secret's name, also where it stands in a list of its own."""
    if sensitive is None or isinstance(sensitive, str):
        return sensitive
    names = role.names(sensitive)
    require(len(names) == 1, "a measure is about one secret at a time")
    return names[0]


def discrimination_rate_by_value(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | None = None,
    **source: Unpack[ReaderOptions],
) -> dict[tuple[Any, ...], float | None]:
    """The discrimination rate of every class: 1 - h_q/H(X), by the class's own values.

    Suppressed records are left out, unless `keep_suppressed`.

    >>> table = {"age": ["2*", "2*", "3*", "3*"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> discrimination_rate_by_value(table, "age", "disease")[("2*",)]
    1.0
    """
    measure = BY_ID["discrimination_rate_of_value"]
    sensitive = _one_secret(sensitive)
    with open_source(data, **source) as (_, questions):
        roles = role.assign(questions.columns, quasi, sensitive)
        require(roles.quasi, "no quasi-identifiers given", hint="quasi=['COLUMN']")
        questions.check_usable(roles.measured_columns)
        leave_out_suppressed(questions, roles)
        keys, sizes, profiles = zip(*questions.each_class(roles.quasi, sensitive), strict=True)
        target: RecordTarget | SecretTarget
        if sensitive is None:
            target = RecordTarget(questions.record_counts(roles.quasi, wildcard=False))
            entropies = np.log2(np.array(sizes, dtype=np.float64))
        else:
            target = SecretTarget(questions.secret_counts(roles.quasi, sensitive, frozenset()))
            counts = Profiles.from_arrays(profiles, [1] * len(profiles))
            entropies = kernel.profile_entropies(counts.counts, counts.starts)
    rates = {
        key: measure.compute(
            target, {"size": size, "entropy": entropy, "records": questions.records}
        )
        for key, size, entropy in zip(keys, sizes, entropies.tolist(), strict=True)
    }
    return {
        key: None if isinstance(rate, MeasureResult) else float(clamp_to_bounds(measure, rate))
        for key, rate in rates.items()
    }


def l_diversity_by_class(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str,
    *,
    missing: str = "value",
    **source: Unpack[ReaderOptions],
) -> dict[tuple[str | None, ...], int]:
    """How many different values of a secret every class has, by the class's values as text.

    Missing is a value. With missing="wildcard" the values are those of all records that match the
    class. Suppressed records are left out, unless `keep_suppressed`.

    >>> table = {"age": ["2*", "2*", "3*", None], "disease": ["flu", "hiv", "flu", "asthma"]}
    >>> l_diversity_by_class(table, "age", "disease")
    {(None,): 1, ('2*',): 2, ('3*',): 1}
    >>> l_diversity_by_class(table, "age", "disease", missing="wildcard")
    {(None,): 3, ('2*',): 3, ('3*',): 2}
    """
    check_known("missing:", missing, ("value", "wildcard"))
    secret = _one_secret(sensitive)
    with open_source(data, **source) as (_, questions):
        roles = role.assign(questions.columns, quasi, secret)
        require(roles.quasi and secret is not None, "a class has quasi-identifiers and a secret")
        questions.check_usable(roles.measured_columns)
        leave_out_suppressed(questions, roles)
        cells = count_combinations(questions, roles.quasi, roles.sensitive).secrets[str(secret)]
    numbers = class_values(cells, wildcard=missing == "wildcard")
    if numbers is None:
        raise ExhaustedError(no_values(str(secret)), hint="missing='value'")
    classes = cells.class_cube
    texts = [
        [values[code] for code in codes.tolist()]
        for codes, values in zip(classes.codes, classes.values, strict=True)
    ]
    return dict(zip(zip(*texts, strict=True), numbers.tolist(), strict=True))


def _function(measure: Measure) -> Callable[..., Any]:
    def compute(data: Any, quasi: Any, sensitive: str | None = None, **options: Any) -> Any:
        sensitive = _one_secret(sensitive)
        require(
            sensitive is not None or "record" in measure.kinds,
            f"{measure.id} is about a secret",
            hint="sensitive='COLUMN'",
        )
        require(
            sensitive is None or "secret" in measure.kinds,
            f"{measure.id} is about finding a record, not about a secret",
        )
        for word in _WORDS.get(measure.id, ()):
            argument = options.pop(word, None)
            if argument is not None and word in _PER_SECRET:
                options.setdefault(_PER_SECRET[word], {})[sensitive] = argument
            elif argument is not None:
                others = options.get("parameters", {})
                options["parameters"] = {**others, measure.id: {word: argument}}
        assessment = assess(data, quasi, sensitive, measures=[measure.id], **options)
        values = (
            assessment.reidentification if sensitive is None else assessment.inference[sensitive]
        )
        lacking = next((words for need, words in _NEEDS.items() if need in measure.needs), "more")
        require(measure.id in values, f"{measure.id} needs {lacking}")
        return values[measure.id].value

    compute.__name__ = compute.__qualname__ = measure.id
    compute.__doc__ = (
        f"{measure.title}: {measure.formula}. Unit: {measure.unit}; range {measure.bounds}; "
        f"riskier when {measure.riskier}.\n\n{measure.reading[0].upper()}{measure.reading[1:]}. "
        f"Source: {measure.source}.\n\nReturns a plain number, or None where it is undefined or "
        f"unbounded (`assess` says why). Options are those of `assess`."
    )
    return compute


FUNCTIONS: dict[str, Callable[..., Any]] = {m.id: _function(m) for m in MEASURES if m.kinds}
