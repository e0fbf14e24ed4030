"""Measures where a missing quasi-identifier matches anything: of records, as there are no classes.

Beside each number is the number of the classes in which missing is a value of its own. Otherwise a
few records without any value make everybody match many.
"""

from dataclasses import replace
from fractions import Fraction

from sievert import files
from sievert.arrays import Ints
from sievert.counts.answers import Sizes
from sievert.counts.questions import FEW_CLASSES
from sievert.counts.wildcards import class_values
from sievert.errors import ExhaustedError
from sievert.formatting.remarks import Remark
from sievert.measurement.population_risks import PopulationRisks
from sievert.measurement.table_measures import TableMeasures
from sievert.measures import BY_ID
from sievert.measures.classes import under_wildcards
from sievert.measures.measure import MeasureResult, Value

READING = {"reading": "wildcard"}


def no_values(secret: str) -> Remark:
    """Say that l of a secret is not computed where missing values match anything."""
    return Remark("no_l_time", column=repr(secret))


def diversity_column(secret: str, kind: str) -> str:
    """The name of the column, in a file of records, with the number of values among its matches."""
    return f"{files.escape_formula(secret) if kind == 'csv' else secret}.l_diversity"


def reidentification_under_wildcards(
    measures: TableMeasures, alpha: Fraction, risks: PopulationRisks | None
) -> dict[str, Value]:
    """The measures of re-identification by matching records, which `risks` may have counted."""
    questions = measures.questions
    quasi = measures.roles.quasi
    frequencies = None if risks is None else risks.frequencies
    if frequencies is None:
        measures.clock("matching wildcards", questions)
        histogram = questions.record_counts(quasi, wildcard=True).wildcard
        parts = 1
    else:
        histogram = Sizes.from_arrays(frequencies.matching, frequencies.classes.counts)
        parts = frequencies.parts
    if histogram is None:
        raise ExhaustedError(
            "matching wildcards would take too long (patterns of missing keys, classes)",
            hint="fewer quasi-identifiers, or --missing value",
        )
    measures.warnings.append(Remark("wildcards"))
    options = measures.options(BY_ID["records_below"])
    results = {
        **under_wildcards(histogram, options, questions.sizes(quasi), parts),
        "suppressed_records": MeasureResult(questions.suppression.records),
    }
    if alpha != 1:
        results |= {
            name: replace(results[name], details={**results[name].details, "alpha": float(alpha)})
            for name in ("k_anonymity", "records_below")
        }
    return {
        m.id: Value(
            id=m.id,
            value=results[m.id].value,
            unit=m.unit,
            riskier=m.riskier,
            reason=None,
            details=dict(results[m.id].details),
        )
        for m in measures.measures
        if m.id in results
    }


def inference_under_wildcards(
    measures: TableMeasures, secret: str
) -> tuple[dict[str, Value], Ints | None]:
    """The fewest values of a secret among the matches of a record, and the values of each class."""
    measure = BY_ID["l_diversity"]
    questions = measures.questions
    quasi = measures.roles.quasi
    if measure not in measures.measures:
        return {}, None
    from sievert.measurement.combinations import count_combinations

    numbers = None
    if questions.sizes(quasi).things <= FEW_CLASSES:
        measures.clock("matching wildcards", questions)
        cells = count_combinations(questions, quasi, [secret]).secrets[secret]
        numbers = class_values(cells, wildcard=True)
    if numbers is None:
        measures.warnings.append(no_values(secret))
        return {}, None
    strictly = measures.only(measure, secret)
    details = {**READING, "missing_as_value": strictly.value, **strictly.details}
    fewest = Value(
        id=measure.id,
        value=int(numbers.min()),
        unit=measure.unit,
        riskier=measure.riskier,
        reason=None,
        details=details,
    )
    return {measure.id: fewest}, numbers
