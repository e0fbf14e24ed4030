"""The same records in one class: what is left of the risk when no quasi-identifier is released.

Merging values of quasi-identifiers never raises some measures (`Law.COARSENING`). One class gives
the best value of such a measure, so a limit that one class breaches is breached by every release
that keeps the column.
"""

import numpy as np

from sievert.counts.answers import (
    JointCounts,
    Named,
    Profiles,
    RecordCounts,
    SecretCounts,
    Sizes,
)
from sievert.measures.measure import Law, Measure

# What can be counted from the values of a secret alone; measures that need more are 0 in one class.
COUNTABLE = {"joint", "known", "known_joint", "wildcard", "named"}


# No release does better than one class, though merging values may raise the number on the way.
BOUNDED_ANYWAY = {"average_class_risk"}


def has_bound(measure: Measure) -> bool:
    """Whether one class bounds what the measure can be in any release."""
    bounded = Law.COARSENING in measure.laws or measure.id in BOUNDED_ANYWAY
    return bounded and measure.needs <= COUNTABLE


def records_in_one_class(records: int) -> RecordCounts:
    """The counts of a table without quasi-identifiers."""
    return RecordCounts(records=records, sizes=_one(records))


def secret_in_one_class(values: Sizes, missing: int, named: int | None = None) -> SecretCounts:
    """The counts of a secret with these `values`; the named value occurs `named` times."""
    records = values.records
    known = None
    if 0 < missing < records:
        rest = values.times - (values.sizes == missing)  # one of them is the missing value
        known = Sizes(values.sizes[rest > 0], rest[rest > 0])
    return SecretCounts(
        records=records,
        sizes=_one(records),
        values=values,
        profiles=_profile(values),
        joint=_joint(values),
        missing=missing,
        known_profiles=None if known is None else _profile(known),
        known_joint=None if known is None else _joint(known),
        named=None if named is None else Named((records,), (max(1, records - missing),), (named,)),
    )


def _one(records: int) -> Sizes:
    return Sizes.from_arrays([records], [1])


def _joint(values: Sizes) -> JointCounts:
    sizes = values.sizes
    return JointCounts(
        class_size=np.full_like(sizes, values.records),
        value_size=sizes,
        count=sizes,
        times=values.times,
    )


def _profile(values: Sizes) -> Profiles:
    """One class with these values, the most frequent first."""
    return Profiles.from_arrays([np.repeat(values.sizes, values.times)[::-1]], [1])
