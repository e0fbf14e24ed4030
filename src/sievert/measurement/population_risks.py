"""From the sample to the population: the numbers of the chapter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sievert import population as people
from sievert.arrays import Floats
from sievert.counts.adapter import LoadedColumns
from sievert.counts.cube import Cube, histogram, merge_cells
from sievert.counts.microdata import ClassFrequencies, class_frequencies
from sievert.counts.questions import Questions
from sievert.formatting import plural
from sievert.formatting.remarks import Caution, Remark, figure
from sievert.measurement.population_settings import PopulationSettings
from sievert.population import Weighted
from sievert.request.requested import check_known
from sievert.session import open_source

LARGE_POPULATION = 20_000  # records from which plain columns are counted by packed keys
NEAR = 0.1  # share of a population by which the sum of the weights may differ from it

ESTIMATES = {  # from the class sizes of the sample and the size of the population
    "population_uniques_zayatz": people.zayatz,
    "population_uniques_pitman": people.pitman,
    "population_uniques_snb": people.snb,
    "population_uniques_dankar": people.dankar,
    "unique_match": people.unique_match,
}


@dataclass(frozen=True)
class PopulationRisks:
    """The chapter of the population; for every class its frequencies and its risk by weights."""

    chapter: dict[str, Any]
    frequencies: ClassFrequencies | None
    individual_risks: Floats | None
    notes: list[Remark]

    @property
    def columns(self) -> LoadedColumns:
        """The columns of a file of records, with one value for each class."""
        if self.frequencies is None:
            return {}
        columns: dict[str, tuple[str, Sequence[Any]]] = {}
        if "alpha" in self.chapter:
            columns["frequency"] = ("float", self.frequencies.frequencies)
        if self.individual_risks is not None:
            columns["population_frequency"] = ("float", self.frequencies.population_frequencies)
            columns["individual_risk"] = ("float", self.individual_risks.tolist())
        return columns


def describe_population(
    questions: Questions,
    quasi: Sequence[str],
    stated: PopulationSettings,
    source: Mapping[str, Any],
    alpha: Fraction | None = None,
    classes: Cube | None = None,
) -> PopulationRisks:
    """The chapter of the population, and the risk of each class by its weights.

    With `alpha`, missing values match anything for frequencies and weights. In all other numbers
    missing is a value of its own. `classes` are given if they were counted before.
    """
    sizes = questions.sizes(quasi)
    records = questions.records
    itself = people.Known.alone(sizes)  # as if nobody were outside the sample
    chapter: dict[str, Any] = {
        "sample": records,
        "prosecutor": people.prosecutor(sizes).to_dict(),
        "journalist": people.journalist(itself).to_dict(),
        "marketer": people.marketer(itself).to_dict(),
    }
    size = None
    frequencies = None
    if stated.population_size is not None or stated.fraction is not None:
        size = people.population_size(
            records, size=stated.population_size, fraction=stated.fraction
        )
    if stated.population is not None:
        own = questions.cube(quasi) if classes is None else classes
        size, numbers = _population_table(own, stated.population, source)
        chapter |= numbers
    if size is not None:
        chapter |= {"size": size, "fraction": records / size}
        chapter |= {name: f(sizes, size).to_dict() for name, f in ESTIMATES.items()}
    if alpha is not None:
        chapter |= {"missing": "wildcard", "alpha": float(alpha)}
    if stated.weight is not None or alpha is not None:
        frequencies = class_frequencies(questions, quasi, stated.weight, alpha)
    cells = None if stated.household is None else questions.cube((*quasi, stated.household))
    numbers, risks, notes = _risks(frequencies, stated, cells)
    if frequencies is not None and frequencies.matching is not frequencies.classes.counts:
        strictly, _, _ = _risks(frequencies.within_classes, stated, cells)
        for name, estimate in strictly.items():
            numbers[name]["details"] |= {"missing_as_value": estimate["value"]}
    notes += _other_size(frequencies, size)
    return PopulationRisks(
        chapter=chapter | numbers, frequencies=frequencies, individual_risks=risks, notes=notes
    )


def _other_size(frequencies: ClassFrequencies | None, size: int | None) -> list[Caution]:
    """A caution if weights add up to another size than that of the given population."""
    own = None if frequencies is None else frequencies.own_weights
    if frequencies is None or own is None or size is None:
        return []
    people = sum(own.tolist()) / 10**frequencies.scale
    if abs(people - size) <= NEAR * size:
        return []
    return [Caution("other_size", number=figure(round(people)), size=figure(size))]


def _risks(
    frequencies: ClassFrequencies | None, stated: PopulationSettings, households: Cube | None
) -> tuple[dict[str, Any], Floats | None, list[Remark]]:
    """The individual, global and household risks; the individual risk of each class; notes."""
    numbers = dict[str, Any]()
    risks = None
    notes = list[Remark]()
    if frequencies is not None and stated.weight is not None:
        numbers, risks = weighted_risks(frequencies, stated.individual_risk)
    if households is not None:
        risks_of_classes = risks
        if risks_of_classes is None:
            sizes = households.classes[1] if frequencies is None else frequencies.frequencies
            risks_of_classes = 1.0 / np.asarray(sizes)
        chapter, notes = household_risks(households, risks_of_classes)
        numbers |= chapter
    return numbers, risks, notes


def _population_table(
    classes: Cube, table: Any, source: Mapping[str, Any]
) -> tuple[int, dict[str, Any]]:
    """The size of a population that is given as a table, and exact numbers."""
    quasi = classes.columns
    options = {k: v for k, v in source.items() if k not in ("engine", "master", "timeout")}
    options["types"] = {c: t for c, t in (source.get("types") or {}).items() if c in quasi}
    with open_source(table, large=LARGE_POPULATION, **options) as (_, questions):
        for column in quasi:
            check_known("population: column", column, questions.columns)
            questions.engine.check_usable(column)
        cube = questions.cube(quasi)
    pairs = match_population(classes, cube)
    size = cube.records
    return size, {
        "journalist": people.journalist(pairs).to_dict(),
        "marketer": people.marketer(pairs).to_dict(),
        "unique_match_known": people.known_unique_match(pairs).to_dict(),
        "truta_minimal": people.truta_minimal(pairs, size).to_dict(),
        "truta_maximal": people.truta_maximal(pairs, size).to_dict(),
    }


def match_population(sample: Cube, population: Cube) -> people.Known:
    """Count the people of a population table in each class of the sample, joined by texts."""
    columns = []
    inside = np.ones(len(population.counts), dtype=bool)
    for own, other, codes in zip(sample.values, population.values, population.codes, strict=True):
        place = {text: code for code, text in enumerate(own)}
        where = np.array([place.get(text, -1) for text in other], dtype=np.int64)
        columns.append(where[codes.astype(np.int64)])
        inside &= columns[-1] >= 0
    both = [
        np.concatenate((own.astype(np.uint64), other[inside].astype(np.uint64)))
        for own, other in zip(sample.codes, columns, strict=True)
    ]
    # Each table's counts beside zeros for the cells of the other: two sums over the same cells.
    counts = sample.counts
    inner = population.counts[inside]
    _, f = merge_cells(both, sample.widths, np.concatenate((counts, np.zeros_like(inner))))
    _, big = merge_cells(both, sample.widths, np.concatenate((np.zeros_like(counts), inner)))
    assert len(f) == len(big)
    pairs, times = np.unique(np.stack((f, big)), axis=1, return_counts=True)
    beyond = histogram(population.counts[~inside])
    return people.Known.of(
        np.concatenate((pairs[0], np.zeros(len(beyond.sizes), dtype=np.int64))),
        np.concatenate((pairs[1], beyond.sizes)),
        np.concatenate((times, beyond.times)),
    )


def weighted_risks(frequencies: ClassFrequencies, method: str) -> tuple[dict[str, Any], Floats]:
    """The individual and the global risk, and the risk of a record of each class."""
    frequency, weight, records, which = frequencies.kinds()
    f = np.array(frequency, dtype=object)
    total = np.array(weight, dtype=object)
    weighted = Weighted.of_records(f, total, records)
    return {
        "expected_reidentifications": people.expected_reidentifications(weighted, method).to_dict(),
        "global_risk": people.global_risk(weighted, method).to_dict(),
    }, people.individual_risk(weighted, method)[which]


def household_risks(cells: Cube, risks: Floats) -> tuple[dict[str, Any], list[Remark]]:
    """The household risk, from the cells (class, household) and the risk of each class's records.

    A record without a household is a household of its own.
    """
    own = np.repeat(risks[cells.owner], cells.counts)
    household = np.repeat(cells.codes[-1].astype(np.int64), cells.counts)
    number = int((household == 0).sum())
    household[household == 0] = -1 - np.arange(number)
    note = Remark("without_household", records=plural(number, "record"))
    chapter = {"household_risk": people.household_risk(own, household).to_dict()}
    return chapter, [note] if number else []
