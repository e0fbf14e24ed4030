"""What coarser labels and suppression take away: classes that grow, labels that stand for more."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sievert.arrays import Floats
from sievert.formatting.remarks import Remark
from sievert.hierarchies import NUMBER, ROOT, interval_ends
from sievert.losses import formulas
from sievert.losses.formulas import GENERALISED, UNCERTAIN
from sievert.losses.label_sets import LabelCoverage, label_coverage, value_label_pairs
from sievert.losses.loss import (
    Loss,
    LossKind,
    PairedColumn,
    Release,
    needs_records,
    undefined_loss,
)
from sievert.measures import kernel


def interval(text: str) -> tuple[float, float] | None:
    """The two ends of the interval that a label names; None for other labels.

    Both ends of a number are the number. The result does not say whether an end belongs to the
    interval. A text whose upper end is below its lower end is no interval.

    >>> interval("[20, 30)"), interval("-5--1"), interval(">=60"), interval("12"), interval("2*")
    ((20.0, 30.0), (-5.0, -1.0), (60.0, inf), (12.0, 12.0), None)
    """
    text = text.strip()
    plain = "-" + text[1:] if text.startswith("−") else text
    if NUMBER.fullmatch(plain):
        return float(plain), float(plain)
    ends = interval_ends(text)
    if ends is None or ROOT in ends:
        return None
    low = _value(ends[0] or "-∞")
    high = _value(ends[1] or "∞")
    return (low, high) if low <= high else None


def _value(text: str) -> float:
    return float(text.replace("−", "-").replace("∞", "inf"))


ALL_SUPPRESSED = Remark("all_suppressed")
NO_HIERARCHY = Remark("no_hierarchy")
NOT_IN_IT = Remark("labels_without_level")
ONE_VALUE = Remark("nothing_to_lose")


@needs_records
def discernability(release: Release) -> Loss:
    """The sum of the squared class sizes, plus the number of all records per suppressed record."""
    records = release.records
    sizes, suppressed = _classes(release)
    value = formulas.discernability(sizes, suppressed, records)
    return Loss(
        value,
        details={
            "suppressed": suppressed,
            "classes": len(sizes),
            "share": kernel.ratio(value, records * records),
            "per_record": kernel.ratio(value, records),
        },
    )


DISCERNABILITY = LossKind(
    id="discernability",
    title="Discernability",
    unit="records²",
    low=1.0,
    high=None,
    worse="high",
    formula="sum_q n_q² + suppressed·N",
    source="Bayardo and Agrawal 2005",
    reading=(
        "Each record is charged with the records it can no longer be told from; a suppressed one "
        "with all of them. Divided by N it is the size of the class of a typical record."
    ),
    compute=discernability,
    aliases=("DM", "discernibility"),
)


@needs_records
def average_class_size(release: Release) -> Loss:
    """The records per class, without suppressed records."""
    sizes, suppressed = _classes(release)
    details = {"suppressed": suppressed, "classes": len(sizes)}
    if not len(sizes):
        return undefined_loss(ALL_SUPPRESSED, **details)
    return Loss(kernel.ratio(release.records - suppressed, len(sizes)), details=details)


AVERAGE_CLASS_SIZE = LossKind(
    id="average_class_size",
    title="Average class size",
    unit="records",
    low=1.0,
    high=None,
    worse="high",
    formula="(N - suppressed)/K",
    source="LeFevre, DeWitt and Ramakrishnan 2006, without their division by k",
    reading=(
        "Records a released class. Suppressed records are left out, so it may fall where more "
        "are suppressed."
    ),
    compute=average_class_size,
    aliases=("C_avg",),
)


def _classes(release: Release) -> tuple[Any, int]:
    """The sizes of the released classes without suppressed records, and the number of these."""
    sizes = np.bincount(release.classes[~release.suppressed])
    return sizes[sizes > 0], int(np.count_nonzero(release.suppressed))


@needs_records
def generalization_loss(release: Release) -> Loss:
    """How far the labels have gone from one value to all values."""
    losses = {c.name: _column_loss(label_coverage(c), release.records) for c in release.quasi}
    logs = math.fsum(math.log1p(loss) for loss in losses.values())
    return Loss(
        min(1.0, math.expm1(logs / len(losses))), columns=losses, details=_about(release.quasi)
    )


GENERALIZATION_LOSS = LossKind(
    id="generalization_loss",
    title="Generalisation loss",
    unit="1",
    low=0.0,
    high=1.0,
    worse="high",
    formula="prod_a (1 + L_a)^(1/A) - 1, L_a = (mean share - 1/m_a)/(1 - 1/m_a), "
    "share = values a label stands for / m_a",
    source="Iyengar 2002; the mean over columns as in ARX",
    reading="0: every label is one value. 1: every label stands for all values of its column.",
    compute=generalization_loss,
    aliases=("ILoss", "loss metric", "LM"),
)


def _column_loss(coverage: LabelCoverage, records: int) -> float:
    """(mean share - 1/m) / (1 - 1/m); 0 where there is one value, hence nothing to lose."""
    if coverage.values == 1:
        return 0.0
    open_values = int(np.dot(coverage.times, GENERALISED.open_values(coverage.leaves)))
    return kernel.ratio(open_values, records * GENERALISED.most(coverage.values))


@needs_records
def precision(release: Release) -> Loss:
    """How far below the top of their hierarchies the labels still are."""
    coverages = {c.name: label_coverage(c) for c in release.quasi}
    reasons: dict[str, Remark] = {}
    precisions: dict[str, Fraction] = {}
    for name, coverage in coverages.items():
        if coverage.hierarchy is None:
            reasons[name] = NO_HIERARCHY
        elif coverage.records(coverage.unknown):
            reasons[name] = NOT_IN_IT
        else:
            climbed = int(np.dot(coverage.times, coverage.level))
            highest = release.records * coverage.hierarchy.height
            precisions[name] = 1 - Fraction(climbed, highest)
    columns = {name: float(precisions[name]) if name in precisions else None for name in coverages}
    details = {**_about(release.quasi), "reasons": reasons, "of_columns": len(precisions)}
    if not precisions:
        some = NO_HIERARCHY if set(reasons.values()) == {NO_HIERARCHY} else NOT_IN_IT
        return Loss(value=None, reason=some, columns=columns, details=details)
    mean = sum(precisions.values(), Fraction(0)) / len(precisions)
    return Loss(value=float(mean), reason=None, columns=columns, details=details)


PRECISION = LossKind(
    id="precision",
    title="Precision",
    unit="1",
    low=0.0,
    high=1.0,
    worse="low",
    formula="1 - mean over cells of level/height",
    source="Sweeney 2002",
    reading=(
        "1: no label was generalised. 0: all are at the top of their hierarchies, or suppressed."
    ),
    compute=precision,
    aliases=("Prec",),
)


@needs_records
def non_uniform_entropy(release: Release) -> Loss:
    """The bits that are missing to tell the original value of each cell from the release."""
    records = release.records
    coverages = {c.name: label_coverage(c) for c in release.quasi}
    lost = {name: _bits(h, h.covered) for name, h in coverages.items()}
    most = {name: _bits(h, np.full(len(h.own), records)) for name, h in coverages.items()}
    columns = {name: _entropy(lost[name], most[name], records) for name in coverages}
    whole = _entropy(math.fsum(lost.values()), math.fsum(most.values()), records * len(columns))
    details = {**_about(release.quasi), **{n: v for n, v in whole.items() if n != "bits"}}
    return Loss(whole["bits"], columns=columns, details=details)


NON_UNIFORM_ENTROPY = LossKind(
    id="non_uniform_entropy",
    title="Non-uniform entropy",
    unit="bits",
    low=0.0,
    high=None,
    worse="high",
    formula="sum over cells of log2(records with a value that the label covers / records with the "
    "original value)",
    source="de Waal and Willenborg 1999; Gionis and Tassa 2009",
    reading=(
        "Bits needed in addition to the release to tell every original value, guessing within a "
        "label by the original's frequencies. It grows with the records: compare shares."
    ),
    compute=non_uniform_entropy,
    aliases=("NUE",),
)


def _bits(coverage: LabelCoverage, covered: Any) -> float:
    return kernel.total(coverage.times * kernel.log2_ratio(coverage.own, covered))


def _entropy(bits: float, most: float, number: int) -> dict[str, Any]:
    share = {"share": min(1.0, bits / most)} if most else {"share": None, "reason": ONE_VALUE}
    return {"bits": bits, "per_cell": bits / number, "maximum": most, **share}


@needs_records
def normalized_certainty_penalty(release: Release) -> Loss:
    """The share of its column's range, or of its values, that a released label leaves open."""
    columns = {}
    readings = {}
    for column in release.quasi:
        shares = _widths(column)
        readings[column.name] = "leaves" if shares is None else "intervals"
        if shares is None:
            coverage = label_coverage(column)
            open_values = int(np.dot(coverage.times, UNCERTAIN.open_values(coverage.leaves)))
            if coverage.values == 1:
                open_values += coverage.pairs.withheld
            columns[column.name] = kernel.ratio(open_values, release.records * coverage.values)
        else:
            columns[column.name] = (
                kernel.total(value_label_pairs(column).times * shares) / release.records
            )
    return Loss(
        math.fsum(columns.values()) / len(columns),
        columns=columns,
        details={**_about(release.quasi), "reading": readings},
    )


NORMALIZED_CERTAINTY_PENALTY = LossKind(
    id="normalized_certainty_penalty",
    title="Normalised certainty penalty",
    unit="1",
    low=0.0,
    high=1.0,
    worse="high",
    formula=(
        "mean over cells of width/range for intervals, leaves/m_a for categories (0 for one "
        "leaf), 1 where suppressed"
    ),
    source="Xu et al. 2006",
    reading="How much of its column a label leaves open. 0: every value is told; 1: none is.",
    compute=normalized_certainty_penalty,
    aliases=("NCP",),
)


def _widths(column: PairedColumn) -> Floats | None:
    """The share of the range that the interval of each pair covers; None where labels are others.

    The originals must be numbers. All labels must be intervals or numbers, and at least one must be
    wider than a number.
    """
    before = column.value_numbers
    if column.numbers is not None or before is None:
        return None
    pairs = value_label_pairs(column)
    values = before[pairs.original][~np.isnan(before[pairs.original])]
    span = float(values.max() - values.min()) if len(values) else 0.0
    if not (math.isfinite(span) and span > 0):
        return None
    low = np.zeros(len(column.labels) + 1)
    high = np.zeros(len(column.labels) + 1)
    for code in np.unique(pairs.released[~pairs.suppressed]).tolist():
        text = column.labels[code]
        ends = (0.0, 0.0) if text is None else interval(text)
        if ends is None:
            return None
        low[code], high[code] = ends
    if not np.any(high > low):
        return None
    low = np.maximum(low, values.min())
    high = np.minimum(high, values.max())
    none = np.array([*(text is None or text == ROOT for text in column.labels), True])
    shares = np.where(none, 0.0, np.maximum(high - low, 0.0) / span)
    return np.where(pairs.suppressed, 1.0, shares[pairs.released])


def _about(columns: Sequence[PairedColumn]) -> dict[str, Any]:
    """Say beside a loss where each hierarchy is from, and which cells have no place in it."""
    coverages = {c.name: label_coverage(c) for c in columns}
    return {
        "hierarchy": {
            n: "given" if h.hierarchy is not None else "observed" for n, h in coverages.items()
        },
        "suppressed": {n: h.pairs.withheld for n, h in coverages.items()},
        "strayed": {n: h.records(h.strayed) for n, h in coverages.items()},
        "unknown": {n: h.records(h.unknown & ~h.listed) for n, h in coverages.items()},
    }


KINDS = (
    DISCERNABILITY,
    AVERAGE_CLASS_SIZE,
    GENERALIZATION_LOSS,
    PRECISION,
    NON_UNIFORM_ENTROPY,
    NORMALIZED_CERTAINTY_PENALTY,
)
