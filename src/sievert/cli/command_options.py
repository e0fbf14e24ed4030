"""Options of single commands."""

# Annotations are not deferred here: options are read from them.
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from sievert.cli.options import Names, Options
from sievert.cli.parameters import TableName, Traits
from sievert.errors import UsageError, require

PARAMETERS = {"sampling": "fraction", "query": "size", "noise": "percent"}


def _numbers(given: Iterable[str], option: str) -> list[float]:
    """Numbers separated by commas, as often as they were given."""
    try:
        return [float(text) for part in given for text in part.split(",") if text]
    except ValueError:
        raise UsageError(f"{option}: numbers separated by commas", hint="0.05,0.1") from None


@dataclass(frozen=True)
class MethodOptions(Options):
    """What the publisher does, and what the intruder makes of it.

    Attributes
    ----------
    method
        sampling, query, noise, or release: any other method, from a released table.
    fraction
        Of sampling: 0.05,0.1,0.2,0.5 unless given.
    size
        Of query restriction: records of a query, even: 2,4,8,16,32 unless given.
    percent
        Of noise: per cent of each domain: 10,20,25,50,100 unless given.
    release
        With --method release: the released table, in the same order unless there is a key.
    key
        With --method release: a column that tells people apart, in both tables.
    paired
        Say that the release is in the order of the original, where the tables cannot
        show it; refused where they, or the pairing file, show another order.
    epsilon
        Widths within which a confidential number must not be known: 10,20.
    step
        Round confidential numbers to multiples of this.
    replicates
        How often a method is run for each parameter.
    max_known
        At most so many known columns.
    seed
        Where chance starts.
    prior
        Of sampling: what matches outside the sample are taken to have: uniform, sample.
    weights
        Of noise: how likely the origins of a value are: uniform, posterior.
    matching
        Of noise: who matches what is known: oracle, likelihood.
    """

    heading = "Method"

    method: Annotated[str, Traits(choices=("sampling", "query", "noise", "release"))] = "sampling"
    fraction: Names = None
    size: Names = None
    percent: Names = None
    release: TableName | None = None
    key: str | None = None
    paired: bool = False
    epsilon: Names = None
    step: float | None = None
    replicates: int = 30
    max_known: int | None = None
    seed: int = 0
    prior: Annotated[str, Traits(choices=("uniform", "sample"))] = "uniform"
    weights: Annotated[str, Traits(choices=("uniform", "posterior"))] = "uniform"
    matching: Annotated[str, Traits(choices=("oracle", "likelihood"))] = "oracle"

    def arguments(self) -> dict[str, Any]:
        options = dict(vars(self))
        parameters = None
        for method, option in PARAMETERS.items():
            values = options.pop(option)
            require(
                values is None or method == self.method, f"--{option} goes with --method {method}"
            )
            parameters = values if method == self.method else parameters
        return options | {
            "parameters": None if parameters is None else _numbers(parameters, "parameters"),
            "epsilon": _numbers(self.epsilon or (), "--epsilon"),
        }
