"""The result of `sievert explain`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sievert.errors import require
from sievert.measurement.subsets import Subset
from sievert.result import Result

OF_EVERY_RESULT = ("sievert", "table", "roles", "cautions", "warnings")  # keys of the JSON


def _chapter(name: str, words: str) -> Any:
    """A chapter of the JSON as a property; None where there is none."""
    return property(lambda self: self.chapters.get(name), doc=words)


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """What drives the risk of one table: columns, values, records; the population behind them."""

    subsets: tuple[Subset, ...] = ()  # of the columns, each with its measures
    chapters: Mapping[str, Any] = field(default_factory=dict)  # by name; each is also an attribute

    columns = _chapter("columns", "Each column left out, or made coarser.")
    knowledge = _chapter("knowledge", "What is given away, the more columns are known.")
    population = _chapter("population", "Risks and estimates for the population.")
    ranking = _chapter("ranking", "Each column as a secret, given the others.")
    records = _chapter("records", "The records most at risk, by their rows.")
    shapley = _chapter("shapley", "Each column's share of what is given away.")
    suda = _chapter("suda", "Special uniques and their scores.")
    values = _chapter("values", "Values that carry risk, and rare ones.")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Explanation":
        """Read an explanation back from the JSON."""
        chapters = {name: data[name] for name in data if name not in OF_EVERY_RESULT}
        subsets: tuple[Subset, ...] = ()
        if "subsets" in chapters:
            about = dict(chapters["subsets"])
            subsets = tuple(Subset.from_dict(subset) for subset in about.pop("list"))
            chapters["subsets"] = about
        return cls(**cls.saved_fields(data), subsets=subsets, chapters=chapters)

    @property
    def whole(self) -> Subset:
        """What all quasi-identifiers together give away."""
        return self.subsets[-1]

    def subset(self, *columns: str) -> Subset:
        """What these columns give away, if they were measured."""
        measured = {frozenset(subset.columns): subset for subset in self.subsets}
        require(
            frozenset(columns) in measured,
            "this subset was not measured",
            hint="max_size, or a larger budget",
        )
        return measured[frozenset(columns)]

    def _content(self) -> dict[str, Any]:
        if not self.subsets:
            return dict(self.chapters)
        subsets = [subset.to_dict() for subset in self.subsets]
        return {**self.chapters, "subsets": {**self.chapters["subsets"], "list": subsets}}

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (
            {
                "columns": ", ".join(subset.columns),
                "known": len(subset.columns),
                "risk": "reidentification" if secret is None else "inference",
                "sensitive": secret,
                **subset.numbers(secret),
            }
            for subset in self.subsets
            for secret in (None, *subset.inference)
        )

    def charts_beside_page(self) -> dict[str, Any]:
        """Draw the curve of what is known, and each column's share."""
        from sievert.charts import of_explanation

        return of_explanation(self.chapters)
