"""The result of an assessment: frozen, readable, complete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sievert.measures.measure import Value, read_values
from sievert.result import Result
from sievert.roles import Roles

if TYPE_CHECKING:
    from sievert.attacks.attack import Attacks
    from sievert.measures.unicity import Unicity
    from sievert.policy import Judgement, Verdict


@dataclass(frozen=True, repr=False, kw_only=True)
class Assessment(Result):
    """How exposed the people of one table are: numbers, limits, warnings."""

    reidentification: Mapping[str, Value]  # by measure: finding a person
    inference: Mapping[str, Mapping[str, Value]]  # by secret and measure: learning a secret
    policy: Judgement | None = None  # the verdict on each limit
    attacks: Attacks | None = None  # with attacks=True
    approximate: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # numeric secrets
    trajectory: Unicity | None = None  # of some sightings of a person
    options: ChangeOptions | None = None  # what would help, with a policy
    explanation: Mapping[str, Any] | None = None  # why: the columns' shares, what is known
    population: Mapping[str, Any] | None = None  # the people behind the table, where described
    framework: str | None = None  # the regulator to whose criteria the numbers are mapped
    key_sets: tuple[Assessment, ...] = ()  # one for each set; this one is the worst of them

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Assessment:
        """Read what a page shows back from the JSON; it lacks the attacks, which have their own."""
        trajectory = data.get("trajectory")
        options = data.get("options")
        framework = data.get("framework")
        saved = cls.saved_fields(data)
        return cls(
            **saved,
            **_saved_numbers(data),
            approximate=data.get("approximate", {}),
            trajectory=None if trajectory is None else _read_unicity(trajectory),
            options=None if options is None else ChangeOptions.from_dict(options),
            explanation=data.get("explanation"),
            framework=None if framework is None else framework["id"],
            key_sets=tuple(
                cls(
                    table=saved["table"],
                    roles=Roles(quasi=tuple(each["quasi"]), sensitive=saved["roles"].sensitive),
                    warnings=tuple(each.get("warnings", ())),
                    **_saved_numbers(each),
                )
                for each in data.get("key_sets", ())
            ),
        )

    @property
    def verdicts(self) -> tuple[Verdict, ...] | None:
        """The limits of the policy, each compared with a number; None without a policy."""
        return None if self.policy is None else self.policy.verdicts

    @property
    def met(self) -> bool | None:
        """Whether the file meets the policy; None if undecided, of a plan, and without a policy."""
        return None if self.policy is None else self.policy.met

    @property
    def planned_met(self) -> bool | None:
        """Whether the planned release would meet the policy; None if a file was asked about."""
        return None if self.policy is None else self.policy.planned_met

    @property
    def passed(self) -> bool:
        """Whether the exit code is 0 and not 1: the answer is yes, or there is no policy."""
        return self.policy is None or self.policy.outcome is True

    @property
    def offers_release(self) -> bool:
        """Whether what would help most is a release that `sievert protect` would make."""
        if self.options is None or self.key_sets:
            return False
        best = self.options.best
        return best is not None and best.levels is not None

    def charts_beside_page(self) -> dict[str, Any]:
        """Draw what the attacks find, by column and by value."""
        from sievert.charts import of_attacks

        return of_attacks({"": self.attacks or {}})

    def _content(self) -> dict[str, Any]:
        return {
            "reidentification": {k: v.to_dict() for k, v in self.reidentification.items()},
            "inference": {
                s: {k: v.to_dict() for k, v in values.items()}
                for s, values in self.inference.items()
            },
            **({} if self.policy is None else {"question": self.policy.question}),
            "policy": None if self.policy is None else self.policy.to_dict(),
            **({} if self.population is None else {"population": dict(self.population)}),
        }

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line: stable, without timings."""
        content = super().to_dict()
        if self.approximate:
            content["approximate"] = {s: _without_steps(c) for s, c in self.approximate.items()}
        if self.key_sets:
            content["key_sets"] = [
                {"quasi": list(each.roles.quasi), **each._content(), "warnings": [*each.warnings]}
                for each in self.key_sets
            ]
        if self.options is not None:
            content["options"] = self.options.to_dict()
        if self.trajectory is not None:
            content["trajectory"] = self.trajectory.to_dict()
        if self.explanation is not None:
            content["explanation"] = dict(self.explanation)
        if self.attacks is not None:
            content["attacks"] = {
                name: {target: attack.to_dict() for target, attack in each.items()}
                for name, each in self.attacks.items()
            }
        if self.framework is not None:
            from sievert.commands.assess.frameworks import framework_evidence

            content["framework"] = framework_evidence(self.framework, content).to_dict()
        return content

    def _rows(self) -> Iterator[dict[str, Any]]:
        for number, each in enumerate(self.key_sets, 1):
            yield from ({"key_set": number, **row} for row in each._rows())
        if self.key_sets:
            return
        yield from (
            {
                "risk": "reidentification" if secret is None else "inference",
                "sensitive": secret,
                "measure": v.id,
                "value": v.value,
                "unit": v.unit,
                "riskier": v.riskier,
                "reason": v.reason,
            }
            for secret, values in ((None, self.reidentification), *self.inference.items())
            for v in values.values()
        )


def _saved_numbers(data: Mapping[str, Any]) -> dict[str, Any]:
    """What the JSON of one set of quasi-identifiers has of its own."""
    from sievert.policy import Judgement

    policy = data.get("policy")
    return {
        "reidentification": read_values(data["reidentification"]),
        "inference": {secret: read_values(each) for secret, each in data["inference"].items()},
        "policy": Judgement.from_dict(policy) if policy else None,
        "population": data.get("population"),
    }


def _read_unicity(data: Mapping[str, Any]) -> Unicity:
    from sievert.measures.unicity import Unicity

    return Unicity.from_dict(data)


def _without_steps(chapter: Mapping[str, Any]) -> dict[str, Any]:
    """A chapter without the steps of its curves: windows may be values of the data."""
    return {
        name: _without_steps(entry) if isinstance(entry, Mapping) else entry
        for name, entry in chapter.items()
        if name != "steps"
    }


# -- what would help -----------------------------------------------------------------------------


# Why there are no options.
EVERY_LIMIT_MET = "every_limit_met"
ONLY_SUPPRESSED = "only_suppressed"  # the suppressed records alone breach limits
NOTHING_HELPS = "nothing_helps"  # of what was tried
TOO_MANY = "too_many_combinations"
WILDCARDS = "wildcards"  # missing values that match anything make no classes
KEPT = "kept_columns"  # options would not say how these help to find people
NO_ORDER = "values_without_order"


@dataclass(frozen=True)
class ColumnChange:
    """One quasi-identifier coarsened or left out."""

    column: str
    how: str  # "in bands of 20", "left out"
    values: int  # different values that are left; missing may be one; 0 of a column left out

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ColumnChange:
        """Read an entry of the JSON."""
        return cls(column=data["column"], how=data["how"], values=data["values"])


@dataclass(frozen=True, kw_only=True)
class ChangeOption:
    """The table as it is, or with some columns changed: is the policy met, and at what cost."""

    changes: tuple[ColumnChange, ...]
    met: bool | None  # limits and all other reasons
    verdicts: tuple[Verdict, ...]  # in the order of the policy's
    alone: int | None  # people or records with a combination of their own
    detail_lost: float  # share of the detail of the quasi-identifiers, from 0 to 1
    suppressed_records: int = 0  # besides those suppressed before
    levels: Mapping[str, int] | None = None  # of the release that `sievert protect` makes
    proven: bool | None = None  # of that release: whether no other loses less

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ChangeOption:
        """Read an entry of the JSON, whose verdicts have no limits: these are the policy's."""
        return cls(
            changes=tuple(ColumnChange.from_dict(change) for change in data["changes"]),
            met=data["met"],
            verdicts=tuple(_read_verdict(limit) for limit in data["limits"]),
            alone=data["alone"],
            detail_lost=data["detail_lost"],
            suppressed_records=data.get("suppressed_records", 0),
            levels=data.get("levels"),
            proven=data.get("proven"),
        )

    @property
    def limits_met(self) -> int:
        """How many limits are met."""
        return sum(v.met is True for v in self.verdicts)

    @property
    def standing(self) -> tuple[float, ...]:
        """What speaks for it: the more, the better."""
        return self.limits_met, -(self.alone or 0), -self.detail_lost, -len(self.changes)

    def is_better(self, before: ChangeOption) -> bool:
        """Whether more limits are met, or as many and fewer people are alone."""
        return self.standing[:2] > before.standing[:2]

    def dominates(self, other: ChangeOption) -> bool:
        """Whether it is as good as another in every way, and better in some."""
        pairs = zip(self.standing, other.standing, strict=True)
        return self.standing != other.standing and all(x >= y for x, y in pairs)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "changes": [dict(vars(change)) for change in self.changes],
            "met": self.met,
            "limits_met": self.limits_met,
            "limits": [
                {"measure": v.measure, "where": v.where, "value": v.value, "met": v.met}
                for v in self.verdicts
            ],
            "alone": self.alone,
            "suppressed_records": self.suppressed_records,
            "detail_lost": self.detail_lost,
            **({} if self.levels is None else {"levels": dict(self.levels), "proven": self.proven}),
        }


def _read_verdict(data: Mapping[str, Any]) -> Verdict:
    from sievert.policy import Verdict

    return Verdict(
        measure=data["measure"],
        where=data["where"],
        min=None,
        max=None,
        value=data["value"],
        met=data["met"],
    )


@dataclass(frozen=True, kw_only=True)
class ChangeOptions:
    """The table as it is, and up to three ways to change it; without any, the reason."""

    before: ChangeOption
    ways: tuple[ChangeOption, ...] = ()
    tried: int = 0  # changed tables that were measured
    reason: str | None = None  # why there are no ways
    complete: bool = True  # whether no search for them was cut short

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ChangeOptions:
        """Read the options back from the JSON."""
        return cls(
            before=ChangeOption.from_dict(data["before"]),
            ways=tuple(ChangeOption.from_dict(way) for way in data["ways"]),
            tried=data["tried"],
            reason=data["reason"],
            complete=data.get("complete", True),
        )

    @property
    def best(self) -> ChangeOption | None:
        """The first way that meets the policy, or the one that meets most limits at least loss."""
        if not self.ways:
            return None
        met = [way for way in self.ways if way.met is True]
        if met:
            return met[0]
        return max(self.ways, key=lambda way: (way.limits_met, -way.detail_lost))

    def to_dict(self) -> Mapping[str, Any]:
        """As it stands in the JSON."""
        return {
            "before": self.before.to_dict(),
            "ways": [way.to_dict() for way in self.ways],
            "tried": self.tried,
            "reason": self.reason,
            "complete": self.complete,
        }
