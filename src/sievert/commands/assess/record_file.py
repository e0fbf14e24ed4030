"""The record file: for each record the numbers of its class and cells, joined by the engine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sievert import files
from sievert.arrays import Ints
from sievert.counts import microdata
from sievert.measurement.population_risks import PopulationRisks
from sievert.measurement.table_measures import TableMeasures
from sievert.measurement.wildcards import diversity_column
from sievert.measures import kernel


def write_records(
    measures: TableMeasures, risks: PopulationRisks | None, path: Path, kind: str
) -> None:
    """Write one row per record, with frequencies and risks by weights if there are any."""
    questions = measures.questions
    roles = measures.roles
    people = questions.people or questions.records
    marks: dict[str | None, Any] = {
        None: kernel.class_columns(questions.sizes(roles.quasi), people)
    }
    for secret in roles.sensitive:
        joint = measures.joint.get(secret)
        if joint is None:
            counts = questions.secret_counts(roles.quasi, secret, frozenset({"joint"}))
            joint = counts.confidence or counts.joint
        assert joint is not None
        marks[secret] = kernel.cell_columns(
            joint, people, files.escape_formula(secret) if kind == "csv" else secret
        )
    frequencies = None if risks is None else risks.frequencies
    microdata.write_records(
        questions,
        roles.quasi,
        {s: diversity_column(s, kind) for s in roles.sensitive},
        path,
        kind,
        marks,
        None if risks is None or frequencies is None else (frequencies.classes, risks.columns),
    )


def write_wildcard_records(
    measures: TableMeasures,
    risks: PopulationRisks,
    values: Mapping[str, Ints],
    path: Path,
    kind: str,
) -> None:
    """Write one row per record if missing values match anything: records have no classes."""
    assert risks.frequencies is not None
    classes = risks.frequencies.classes
    marks = {
        "class_size": ("int", classes.counts.tolist()),
        **risks.columns,
        **{diversity_column(s, kind): ("int", each.tolist()) for s, each in values.items()},
    }
    microdata.write_row_marks(measures.questions, classes, marks, path, kind)
