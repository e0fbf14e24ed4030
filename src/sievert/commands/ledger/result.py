"""The results of `sievert ledger`: its releases, and the check of a new release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sievert.formatting import ENGLISH, count, printable
from sievert.measures.measure import Value, read_values
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


@dataclass(frozen=True, kw_only=True)
class ReleaseClasses:
    """One release of a ledger: its people and their classes."""

    name: str
    date: str
    new: bool  # whether it is the one that is checked
    people: int
    shared: int  # people who are in the new release, too
    classes: int
    k_anonymity: int  # the people of the smallest class
    unique: int  # people

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ReleaseClasses":
        """Read an entry of the JSON."""
        return cls(
            name=data["name"],
            date=data["date"],
            new=data["new"],
            people=data["people"],
            shared=data["shared"],
            classes=data["classes"],
            k_anonymity=data["k_anonymity"],
            unique=data["unique"],
        )


@dataclass(frozen=True, kw_only=True)
class JointRisk:
    """The people who look alike in all releases."""

    people: int
    classes: int
    k_anonymity: int  # the people of the smallest class
    unique: int  # people
    unique_only_together: int  # people who are unique in no release alone
    k: int | None  # that the policy asks for
    below: int | None  # people in classes of fewer than k

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "JointRisk":
        """Read the entry of the JSON."""
        return cls(
            people=data["people"],
            classes=data["classes"],
            k_anonymity=data["k_anonymity"],
            unique=data["unique"],
            unique_only_together=data["unique_only_together"],
            k=data["k"],
            below=data["below"],
        )


@dataclass(frozen=True, kw_only=True)
class JointGain:
    """What all releases disclose of a secret, beside what the best one discloses alone."""

    joint: float
    alone: float
    best_release: str
    gain: float

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "JointGain":
        """Read an entry of the JSON."""
        return cls(
            joint=data["joint"],
            alone=data["alone"],
            best_release=data["best_release"],
            gain=data["gain"],
        )


@dataclass(frozen=True, kw_only=True)
class ValuesLeft:
    """The people for whom releases leave few values of a secret that stays the same."""

    least: int  # the fewest values that are left for a person
    disclosed: int  # people with one value left
    only_together: int  # people with one value left by all releases, and more by each alone
    none_common: int  # people whose classes have no known value in common
    changed: int  # people with different values in the releases

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ValuesLeft":
        """Read the entry of the JSON."""
        return cls(
            least=data["least"],
            disclosed=data["disclosed"],
            only_together=data["only_together"],
            none_common=data["none_common"],
            changed=data["changed"],
        )


@dataclass(frozen=True, kw_only=True)
class LearntSecret:
    """What all releases disclose of a secret beyond the best one."""

    bits: JointGain
    best_guess: JointGain  # the share of people whose value is guessed right
    values_left: ValuesLeft

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "LearntSecret":
        """Read an entry of the JSON."""
        return cls(
            bits=JointGain.from_dict(data["bits"]),
            best_guess=JointGain.from_dict(data["best_guess"]),
            values_left=ValuesLeft.from_dict(data["values_left"]),
        )


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

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "LedgerCheck":
        """Read the check back from the JSON."""
        policy = data["policy"]
        alone = data["alone"]
        return cls(
            **cls.saved_fields(data),
            ledger=data["ledger"],
            joint=data["joint"],
            reidentification=read_values(data["reidentification"]),
            inference={secret: read_values(each) for secret, each in data["inference"].items()},
            secrets=data["secrets"],
            policy=None if policy is None else Judgement.from_dict(policy),
            alone=None if alone is None else Judgement.from_dict(alone),
        )

    @cached_property
    def releases(self) -> tuple[ReleaseClasses, ...]:
        """All releases, the new one last."""
        return tuple(ReleaseClasses.from_dict(entry) for entry in self.ledger["releases"])

    @cached_property
    def joint_risk(self) -> JointRisk:
        """The people who look alike in all releases."""
        return JointRisk.from_dict(self.joint)

    @cached_property
    def learnt(self) -> Mapping[str, LearntSecret]:
        """What all releases disclose beyond the best one, by secret."""
        return {secret: LearntSecret.from_dict(entry) for secret, entry in self.secrets.items()}

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
