"""The results of `sievert ledger`: its releases, and the check of a new release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.formatting import ENGLISH, count, printable
from sievert.measures.measure import Value
from sievert.policy import Judgement
from sievert.report.texts import read_texts
from sievert.result import DescribedResult, Result, frame
from sievert.version import __version__


@dataclass(frozen=True, repr=False)
class Ledger(DescribedResult):
    """The releases of a ledger, without the people in them."""

    name: str  # of its file
    releases: Sequence[Mapping[str, Any]]  # in the order in which they were added
    added: str | None = None  # the name of the release that was added now

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line: stable."""
        entries = [dict(release) for release in self.releases]
        return {"sievert": __version__, "listing": {"name": self.name, "releases": entries}}

    def to_frame(self) -> Any:
        """One row per release, as a pandas or Polars frame, whichever is installed."""
        return frame(self.releases)

    def __repr__(self) -> str:
        """The terminal output."""
        return self.describe()

    def describe(self, language: str = ENGLISH) -> str:
        """The terminal output in a language."""
        texts = read_texts(None, language)
        with texts.spoken():
            head = texts("ledger.added" if self.added else "ledger.listed")
            number = texts.number_of(len(self.releases), "release")
            entries = [
                texts(
                    "ledger.entry",
                    name=printable(release["name"]),
                    date=printable(release["date"]),
                    rows=count(release["rows"]),
                    classes=count(release["classes"]),
                    quasi=printable(texts.join(release["roles"]["quasi"])),
                    secrets=printable(texts.join(release["roles"]["sensitive"])),
                )
                for release in self.releases
            ]
            line = texts("ledger.line", what=head, ledger=printable(self.name), releases=number)
            return "\n".join([line, *entries])


@dataclass(frozen=True, repr=False, kw_only=True)
class LedgerCheck(Result):
    """A new release together with those of a ledger, judged by a policy."""

    ledger: Mapping[str, Any]  # its name, and all releases, the new one last
    joint: Mapping[str, Any]  # counts of people who look alike in all releases
    reidentification: Mapping[str, Value]  # by joint classes: the riskiest of any release
    inference: Mapping[str, Mapping[str, Value]]  # the same of each secret
    secrets: Mapping[str, Mapping[str, Any]]  # what all releases disclose beyond the best one
    policy: Judgement | None  # of all releases together
    alone: Judgement | None  # of the new release by itself

    @property
    def met(self) -> bool | None:
        """Say whether the releases together meet the policy; None without one, or if undecided."""
        return None if self.policy is None else self.policy.outcome

    @property
    def passed(self) -> bool:
        """Say whether the release may go out: there is no policy, or it is met."""
        return self.policy is None or self.policy.outcome is True

    @property
    def only_together(self) -> bool:
        """Say whether the new release meets the policy alone, but not together with the others."""
        return self.alone is not None and self.alone.outcome is True and not self.passed

    def _content(self) -> dict[str, Any]:
        return {
            "ledger": dict(self.ledger),
            "joint": dict(self.joint),
            "reidentification": {m: v.to_dict() for m, v in self.reidentification.items()},
            "inference": {
                secret: {m: v.to_dict() for m, v in values.items()}
                for secret, values in self.inference.items()
            },
            "secrets": {secret: dict(entry) for secret, entry in self.secrets.items()},
            "policy": None if self.policy is None else self.policy.to_dict(),
            "alone": None if self.alone is None else self.alone.to_dict(),
            "only_together": self.only_together,
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        return (
            {
                "sensitive": secret,
                "measure": measure,
                "value": value.value,
                "unit": value.unit,
                "riskier": value.riskier,
                "reason": value.reason,
            }
            for secret, values in ((None, self.reidentification), *self.inference.items())
            for measure, value in values.items()
        )
