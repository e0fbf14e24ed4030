"""Class measures of finding a person: functions of the sizes of the classes alone."""

import math
from collections.abc import Callable
from dataclasses import replace

from sievert.counts.answers import Sizes
from sievert.measures.class_rules import MOST_RECORDS, SizeRule
from sievert.measures.class_sums import (
    SumRule,
    alone,
    below_size,
    count_classes,
    count_per_record,
    pairs_apart,
)
from sievert.measures.influence import influence_on_share, influence_on_uniques
from sievert.measures.kernel import exact_products, ratio, sum_ratios
from sievert.measures.measure import (
    ALWAYS,
    MONOTONE,
    ONE_RECORD,
    ROWS,
    SEVERAL_CLASSES,
    Law,
    Measure,
    MeasureResult,
    Number,
    Options,
    undefined,
)
from sievert.measures.target import PersonTarget, RecordTarget

DEFAULT_BELOW = (2, 3, 5)


def k_anonymity(target: RecordTarget, _: Options) -> MeasureResult:
    """min over q of n_q, with the wildcard reading beside it where keys are missing."""
    missing = target.counts.missing
    frequencies = target.counts.wildcard
    wildcard = None if frequencies is None else frequencies.least
    details = {"records_with_missing_quasi": missing, "wildcard": wildcard} if missing else {}
    return MeasureResult(target.sizes.least, details=details)


def fewest_of_least(limit: float) -> int:
    """The k that a lower limit on the smallest class demands."""
    return math.ceil(min(limit, MOST_RECORDS))


K_ANONYMITY = Measure(
    id="k_anonymity",
    title="Smallest group (k-anonymity)",
    unit="records",
    low=1,
    high=None,
    riskier="low",
    formula="min_q n_q",
    source="Samarati and Sweeney 1998",
    reading="everybody shares their quasi-identifiers with at least k - 1 others",
    laws=(*ALWAYS, *MONOTONE),
    compute=k_anonymity,
    kinds=("record",),
    needs=frozenset({"wildcard"}),
    aliases=("k",),
    influence=None,
    of_class=True,
    size_rule=SizeRule(side="min", fewest_records=fewest_of_least),
)


NUMBER_OF_CLASSES = Measure(
    id="classes",
    title="Classes",
    unit="classes",
    low=1,
    high=None,
    riskier="high",
    formula="K, the number of combinations of quasi-identifier values that occur",
    source="-",
    reading="more classes: finer groups, easier to tell apart",
    laws=(*ALWAYS, *MONOTONE),
    compute=lambda target, _: target.classes,
    kinds=("record",),
    aliases=("equivalence classes",),
    influence=None,
    sum_rule=SumRule(side="max", of_record=count_classes),
)


def unique_records(target: RecordTarget, _: Options) -> MeasureResult:
    """The share of the people who are alone in a class, with their number."""
    alone = target.below(2)
    return MeasureResult(ratio(alone, target.people), details={"records": alone})


UNIQUE_RECORDS = Measure(
    id="unique_records",
    title="Unique people",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="records with n_q = 1, divided by N",
    source="sample uniques; Skinner and Elliot 2002",
    reading="share of the records that nobody else in the table looks like",
    laws=(*ALWAYS, *MONOTONE),
    compute=unique_records,
    kinds=("record",),
    aliases=("uniques", "unique people", "people alone", "sample uniques"),
    influence=influence_on_uniques,
    of_class=True,
    in_percent=True,
    sum_rule=SumRule(side="max", of_record=alone),
)


def population_uniques(target: RecordTarget, options: Options) -> MeasureResult:
    """The share of uniques in the population, estimated for the size or fraction in `options`.

    Suppressed records were drawn as well: with a stated size they represent their part of it.
    """
    if target.people < target.records:
        return undefined(SEVERAL_CLASSES)
    suppressed = target.counts.suppressed
    size = options.get("population_size")
    everybody = target.records + (suppressed if size is not None else 0)
    population = options["count_people"](everybody, size=size, fraction=options.get("fraction"))
    population = max(target.records, population * target.records // everybody)
    estimate = options["estimate"](target.sizes, population)
    return MeasureResult(estimate.value, details={"population": population, **estimate.details})


POPULATION_UNIQUES = Measure(
    id="population_uniques",
    title="Unique people of the population",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula=(
        "the largest of three estimates (Zayatz, Pitman, slide negative binomial), at most c_1/n"
    ),
    source="Zayatz 1991, Hoshino 2001, Chen and Keller-McNulty 1998",
    reading=(
        "share of the population that nobody else looks like, estimated with caution from a sample"
    ),
    laws=ALWAYS,
    compute=population_uniques,
    kinds=("record",),
    needs=frozenset({"population"}),
    aliases=("pitman", "zayatz", "snb"),
    influence=None,
    in_percent=True,
)


def fewest_of_risk(limit: float) -> int:
    """The k that an upper limit on 1/k demands: the least with 1/k <= limit as floats."""
    if not 0 < limit < 1:
        return 1
    first = max(1, int(min(1 / limit, MOST_RECORDS)) - 1)
    return next((k for k in range(first, first + 4) if 1 / k <= limit), MOST_RECORDS)


HIGHEST_RISK = Measure(
    id="highest_risk",
    title="Highest chance of being found",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="1/k",
    source="prosecutor risk; El Emam and Dankar 2008, ARX",
    reading="chance of picking the right record in the smallest class",
    laws=(*ALWAYS, *MONOTONE),
    compute=lambda target, _: 1.0 / target.sizes.least,
    kinds=("record",),
    aliases=("prosecutor risk", "maximum risk"),
    influence=None,
    of_class=True,
    size_rule=SizeRule(side="max", fewest_records=fewest_of_risk),
    in_percent=True,
)


LOWEST_RISK = Measure(
    id="lowest_risk",
    title="Lowest chance of being found",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="min over records of 1/n_q, one divided by the largest class",
    source="lowest prosecutor risk, ARX",
    reading="chance of picking the right record for the person who is protected best",
    laws=(*ALWAYS, *MONOTONE),
    compute=lambda target, _: 1.0 / target.most_alike,
    kinds=("record",),
    aliases=("minimum risk",),
    influence=None,
    in_percent=True,
)


LARGEST_CLASS = Measure(
    id="largest_class",
    title="Largest group",
    unit="records",
    low=1,
    high=None,
    riskier="low",
    formula="max_q n_q",
    source="ARX, maximal class size",
    reading="so many people look alike at most; it says nothing about the others",
    laws=(*ALWAYS, *MONOTONE),
    compute=lambda target, _: target.sizes.most,
    kinds=("record",),
    aliases=("largest group", "maximal class size"),
    influence=None,
)


def average_risk(target: RecordTarget, _: Options) -> Number | MeasureResult:
    """The mean over people of the risk in their smallest class, and of that in a random class."""
    if isinstance(target, PersonTarget):
        beside = {"of_random_row": target.average_risk_of_random_row}
        return MeasureResult(target.average_risk, details=beside)
    return target.average_risk


AVERAGE_RISK = Measure(
    id="average_risk",
    title="Average chance of being found",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="K/N, the mean over records of 1/n_q",
    source="average prosecutor and marketer risk, ARX",
    reading="expected share of the records matched rightly by somebody who knows all keys",
    laws=(*ALWAYS, *MONOTONE),
    compute=average_risk,
    kinds=("record",),
    aliases=("marketer risk",),
    influence=influence_on_share,
    in_percent=True,
    sum_rule=SumRule(side="max", of_record=count_per_record),
)


AVERAGE_CLASS_RISK = Measure(
    id="average_class_risk",
    title="Average risk of a group",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="mean over classes of 1/n_q",
    source="pycanon, average_rir",
    reading="for comparison with pycanon only: it can rise when values are merged",
    laws=ALWAYS,
    compute=lambda target, _: sum_ratios(target.sizes.times, target.sizes.sizes, target.classes),
    kinds=("record",),
    aliases=("average_rir",),
    influence=None,
    in_percent=True,
)


def _below_each(counts: Callable[[int], int], options: Options) -> MeasureResult:
    """Count the records below every k of the options; the value is the count for the largest k."""
    by_k = {str(k): counts(k) for k in sorted({int(k) for k in options.get("k", DEFAULT_BELOW)})}
    last = list(by_k)[-1]
    return MeasureResult(by_k[last], details={"k": int(last), "by_k": by_k})


RECORDS_BELOW = Measure(
    id="records_below",
    title="People in groups",
    unit="records",
    low=0,
    high=None,
    riskier="high",
    formula="records with n_q < k, for k = 2, 3, 5",
    source="sdcMicro, violations of k-anonymity",
    reading="so many people share their quasi-identifiers with fewer than k - 1 others",
    laws=(*ALWAYS, *MONOTONE),
    compute=lambda target, options: _below_each(target.below, options),
    kinds=("record",),
    aliases=("violations", "records at risk"),
    influence=None,
    of_class=True,
    sum_rule=SumRule(side="max", of_record=below_size),
)


def under_wildcards(
    frequencies: Sizes, options: Options, sizes: Sizes, parts: int = 1
) -> dict[str, MeasureResult]:
    """The measures that are defined where a missing value matches anything, which makes no classes.

    `frequencies` says how many records match how many records, themselves included, in units of
    1/`parts` of a record. Beside each number is the number for the classes (`sizes`) where missing
    is a value of its own: otherwise a few records without any value make everybody match many.
    """
    times = frequencies.times
    least = frequencies.least
    below = _below_each(lambda k: int(times[frequencies.sizes < k * parts].sum()), options)
    reading = {"reading": "wildcard"}
    k = below.details["k"]
    as_value = "missing_as_value"
    smallest = least // parts if least % parts == 0 else least / parts
    return {
        "k_anonymity": MeasureResult(smallest, details={**reading, as_value: sizes.least}),
        "records_below": replace(
            below, details={**below.details, **reading, as_value: sizes.records_below(k)}
        ),
    }


def suppressed_records(target: RecordTarget, _: Options) -> int:
    """Count the records with the mark of suppression in every quasi-identifier."""
    return target.counts.suppressed


SUPPRESSED_RECORDS = Measure(
    id="suppressed_records",
    title="Suppressed records",
    unit="records",
    low=0,
    high=None,
    riskier="neither",
    formula="records with the mark (* unless given) in every quasi-identifier",
    source="ARX, which leaves them out of every figure",
    reading="so many records are in no class and in no other number, unless they are kept",
    laws=(Law.PERMUTATION, Law.RENAMING),
    compute=suppressed_records,
    kinds=("record",),
    needs=frozenset({ROWS}),
    aliases=("suppressed", "suppression"),
    influence=None,
)


def separation(target: RecordTarget, _: Options) -> Number | MeasureResult:
    """1 - sum of n_q(n_q - 1) / (N(N - 1)): share of pairs of records that differ."""
    n = target.records
    if n == 1:
        return undefined(ONE_RECORD)
    sizes, times = exact_products(n, target.sizes.sizes, target.sizes.times)
    return ratio(n * (n - 1) - int((sizes * (sizes - 1) * times).sum()), n * (n - 1))


SEPARATION = Measure(
    id="separation",
    title="Separation",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="1 - sum_q n_q(n_q - 1)/(N(N - 1))",
    source="Motwani and Xu 2007, ARX",
    reading="share of the pairs of records that the quasi-identifiers tell apart",
    laws=(*ALWAYS, *MONOTONE),
    compute=separation,
    kinds=("record",),
    influence=None,
    sum_rule=SumRule(side="max", of_record=pairs_apart),
)


DISTINCTION = Measure(
    id="distinction",
    title="Distinction",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="K/N",
    source="Motwani and Xu 2007, ARX",
    reading="different combinations per record; 1 when everybody is unique",
    laws=(*ALWAYS, *MONOTONE),
    compute=lambda target, _: ratio(target.classes, target.records),
    kinds=("record",),
    influence=None,
    sum_rule=SumRule(side="max", of_record=count_per_record),
)


CLASSES: tuple[Measure, ...] = (
    K_ANONYMITY,
    NUMBER_OF_CLASSES,
    UNIQUE_RECORDS,
    POPULATION_UNIQUES,
    HIGHEST_RISK,
    LOWEST_RISK,
    LARGEST_CLASS,
    AVERAGE_RISK,
    AVERAGE_CLASS_RISK,
    RECORDS_BELOW,
    SUPPRESSED_RECORDS,
    SEPARATION,
    DISTINCTION,
)
