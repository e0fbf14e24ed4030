"""What a limit on a measure demands of every class, declared in the record of the measure.

After a new rule, `make generate` writes the compiled form (CONTRIBUTING.md, "Add a measure that
protect honours").

`protect` suppresses or joins classes until all of them meet these demands. The function of a demand
is written once and used in two ways: numba compiles it for one class, and NumPy runs it on all
classes at once. So it takes its steps value by value, and uses only operations that work on a
number as well as on an array with one place for each class. It makes no arrays, because numba could
not make it a part of its loops then.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sievert.arrays import Ints

DUST = 1e-12  # of a sum of logarithms: what is smaller is rounding
MOST_RECORDS = 1 << 62  # more than any table has
Side = Literal["min", "max"]
# `excess(tally, seen, size, totals, records, limit, value, tree, work)`, see ClassRule.
Excess = Callable[[Any, Any, Any, Ints, int, float, int, Ints, Any], Any]


def _largest_share(_: Ints, limit: float) -> float:
    return max(0.0, 1.0 - limit)


@dataclass(frozen=True, kw_only=True)
class ClassRule:
    """A demand that a limit on a measure makes on the values of a secret in every class.

    `excess` returns how far a class is beyond `limit`: the class breaks the rule if that is above
    0. A rule that is not convex may return a truth instead. Its arguments are:

    - `tally[s]`: the records of the class that have value s; an array over classes in NumPy;
    - `seen`: the values that may occur, each once; a class without value s has `tally[s] == 0`;
    - `size`: the records of the class;
    - `totals[s]` and `records`: the records of the table that have value s, and all of them;
    - `limit`: the limit of the policy;
    - `value`: the parameter of the measure, or the number of the value that the policy names;
    - `tree[l, s]`: the label of value s on level l of the secret's hierarchy;
    - `work`: an array like `tally`, to work with.

    A `convex` rule bounds a convex function of the distribution of the secret in a class, and
    `largest_excess(totals, limit)` is an upper bound of its excess. A `monotone` rule holds for a
    class if it holds for a part of the class.
    """

    name: str
    side: Side  # of the limit
    excess: Excess
    convex: bool = False
    monotone: bool = False
    largest_excess: Callable[[Ints, float], float] = _largest_share
    gradual: bool = True  # local recoding joins classes by how far they are beyond a convex rule
    distance: bool = False  # from the distribution in the table: local recoding keeps a margin
    known: bool = False  # whether classes are also judged without records whose secret is missing
    judges_unknown: bool = False  # whether that includes classes without any known secret
    met_up_to: float | None = None  # every class meets a limit that is no larger
    parameter: str | None = None  # of the measure, handed over as `value`
    default: int = 0  # of the parameter
    names_value: bool = False  # in place of the other rules if the policy names a value


@dataclass(frozen=True, kw_only=True)
class SizeRule:
    """A demand that a limit on a measure makes on the size of every class.

    `fewest_records(limit)` is the k that the limit demands.
    """

    side: Side
    fewest_records: Callable[[float], int]
