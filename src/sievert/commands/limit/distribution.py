"""The best release of a joint distribution, given as a table, an array or a frame."""

import html
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sievert.errors import require
from sievert.formatting import significant
from sievert.hierarchies import Hierarchy
from sievert.measures.measure import UNBOUNDED
from sievert.releases.channels import CONVEX, UNITS, epsilon, solutions
from sievert.releases.choices import IDENTITY, REVERSE, check_at, known_model
from sievert.result import frame
from sievert.tradeoff import Joint, Recoding, Tradeoff, interval_recodings, ladder
from sievert.tradeoff import matrix as distances

SMALL = 20_000  # cells (true, released, secret) up to which the gap is finer
FINE = 1e-7  # the finer gap
NUMBERS = (
    "at",
    "objective",
    "bound",
    "gap",
    "risk",
    "loss",
    "identity",
    "distortion",
    "information",
    "epsilon",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Limit:
    """The best release of a joint distribution, all information in bits.

    `channel` attains `objective`, the number that the model minimises, and `bound` is a lower bound
    of it for all releases. `epsilon` is the channel's local epsilon in nats, None if it is
    unbounded.
    """

    model: int | str  # 1 to 4, "funnel", "identity" or "identity reverse"
    at: float  # the constraint
    objective: float  # what the model minimises and the channel attains
    bound: float  # no release is below it
    risk: float  # I(X';Y)
    loss: float  # I(X;Y) - I(X';Y)
    identity: float  # I(X;X')
    distortion: float | None  # the mean distance of X' from X
    information: float  # I(X;Y)
    epsilon: float | None  # in nats, of the channel; None where it is unbounded
    channel: Any = field(repr=False)  # p(x'|x), a row a value of X
    reached: bool | None = None  # the required gap; None for models without a certificate
    spread: float | None = None  # of their restarts
    iterations: int = 0  # of the solver
    joint: Any = field(default=None, repr=False)  # p(x, y), as it was given
    distances: Any = field(default=None, repr=False)  # of every value from every released one

    @property
    def gap(self) -> float:
        """An upper bound of the gain of any other release."""
        return self.objective - self.bound

    def recodings(self, most: int | None = None) -> list[Recoding]:
        """The best deterministic recodings of X, if it is ordered, into 1, 2, ... intervals."""
        require(
            self.distances is not None, "interval recodings need a distortion", hint='"absolute"'
        )
        return interval_recodings(self.joint, self.distances, most=most)

    def curve(self, points: int = 20) -> list[Tradeoff]:
        """The whole curve of the model, at evenly spread constraints."""
        return solutions(self.joint, self.distances, self.model, None, points=points)

    def to_dict(self) -> dict[str, Any]:
        """The limit as JSON."""
        names = ("model", *NUMBERS, "reached", "spread", "iterations")
        return {name: getattr(self, name) for name in names} | {
            "epsilon_reason": UNBOUNDED if self.epsilon is None else None,
            "unit": UNITS[self.model],
            "channel": np.asarray(self.channel).tolist(),
        }

    def to_frame(self) -> Any:
        """One row a number, as a pandas or Polars frame, whichever is installed."""
        numbers = {k: getattr(self, k) for k in NUMBERS}
        return frame(
            {"what": k, "value": None if n is None else float(n)} for k, n in numbers.items()
        )

    def __repr__(self) -> str:
        unit = "" if UNITS[self.model] == "1" else " bits"
        far = "none" if self.distortion is None else significant(self.distortion)
        local = UNBOUNDED if self.epsilon is None else significant(self.epsilon)
        return (
            f"model {self.model} at {self.at:g}: {significant(self.objective)}{unit}, no release "
            f"below {significant(self.bound)} (gap {self.gap:.1e})\n"
            f"risk {significant(self.risk)} of {significant(self.information)} bits, identity "
            f"{significant(self.identity)} bits, distortion {far}, local epsilon {local}"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


# The public function: more lines than others because its docstring is the reference.
def limit(
    joint: Any,
    distortion: Any = "hamming",
    model: int | str = 1,
    at: float = 0.0,
    *,
    seed: int = 0,
    gap: float | None = None,
    seconds: float | None = None,
    values: Any = None,
    released: Any = None,
) -> Limit:
    """The best release of X when Y is secret, of a table of both.

    Model 1: the least I(X';Y) with a mean distortion of at most `at`; model 2: the least distortion
    with I(X';Y) of at most `at` bits; model 3: the least I(X;X') with a loss of at most `at` bits;
    model 4: the least loss with I(X;X') of at most `at` bits; "funnel": the least I(X';Y) with
    I(X;X') of at least `at` bits. "identity" and "identity reverse" are models 1 and 2 with Y = X.

    Parameters
    ----------
    joint
        Counts or probabilities, X by Y: nested lists, an array, a frame. With Y = X a list of the
        weights of X will do.
    distortion
        "hamming", "squared", "absolute", a matrix (true by released values), or a `Hierarchy`.
    values, released
        Numbers of X's values and of those that may be released, for "squared" and "absolute";
        the texts of X's values for a hierarchy.
    gap, seconds
        When to stop: at this gap (bits; of model 2 the distortion's unit; 1e-7 unless given, and
        1e-4 for large tables), after this time.
    seed
        Where the restarts of models 3, 4 and the funnel start.

    >>> found = limit([[9, 1], [1, 9]], "hamming", model=1, at=0.1, gap=1e-6)
    >>> round(found.risk, 5), round(found.bound, 5), round(found.epsilon, 3)
    (0.31992, 0.31992, 2.197)
    """
    model = known_model(model)
    check_at([at])
    pair = _joint(joint, model)
    needed = model in CONVEX or distortion is not None
    apart = _apart(distortion, pair, values, released) if needed else None
    if gap is None and apart is not None and pair.given.shape[1] * apart.size <= SMALL:
        gap = FINE
    (best,) = solutions(pair, apart, model, [at], gap=gap, seconds=seconds, seed=seed)
    return Limit(
        model=model,
        at=best.at,
        objective=best.objective,
        bound=best.bound,
        risk=best.risk,
        loss=best.loss,
        identity=best.identity,
        distortion=best.distortion,
        information=pair.information,
        epsilon=epsilon(best.channel, pair.rows),
        channel=best.channel,
        reached=best.reached,
        spread=best.spread,
        iterations=best.iterations,
        joint=pair,
        distances=apart,
    )


def _joint(given: Any, model: int | str) -> Joint:
    if isinstance(given, Joint):
        return given
    numbers = given.to_numpy() if hasattr(given, "to_numpy") else given
    if model not in (IDENTITY, REVERSE):
        return Joint.of(numbers)
    try:
        flat = np.ndim(numbers) == 1
    except ValueError:  # lists of different lengths
        flat = False
    return Joint.identity(numbers if flat else Joint.of(numbers).table.sum(axis=1))


def _apart(distortion: Any, joint: Joint, values: Any, released: Any) -> Any:
    rows = len(joint.table)
    if isinstance(distortion, Hierarchy):
        require(
            values is not None and len(values) == rows,
            "a hierarchy needs the texts of X's values",
            hint="values=[...]",
        )
        return ladder(distortion, [str(v) for v in values])
    numbers = distortion.to_numpy() if hasattr(distortion, "to_numpy") else distortion
    if released is not None and values is None and isinstance(numbers, str):
        values = np.arange(rows)
    return distances(numbers, rows, values, released)
