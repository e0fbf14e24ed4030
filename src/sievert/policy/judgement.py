"""The judgement of a table by a policy: verdicts on its limits, and other reasons against it.

A limit is breached by a value that is unbounded on the risky side, and by a value that says nothing
because the secret is constant. A limit on a value that is undefined for another reason is
undecided. A policy is met if every limit is met and no other reason prevents it. A limit on a
measure that was not computed is an error.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sievert.errors import require
from sievert.formatting import list_names, nearest, significant_digits
from sievert.formatting.remarks import Figure, Joined, Remark, Spoken
from sievert.measures import BY_ID
from sievert.measures.measure import (
    AS_VALUE,
    NOTHING_TO_LEARN,
    SPELT_ALIKE,
    UNBOUNDED,
    WITHOUT_MISSING,
    Value,
)
from sievert.policy.document import MeasureLimit, Policy, PolicyFile

FILE_HOLDS = "file_holds"  # the reason that a file has columns which must not be released
OTHER_TABLES = "other_tables"  # the reason that a file has more than the table that was read
WITHHELD = "withheld"  # the reason of a shareable result that has another one and withholds it
ABOUT_THE_FILE = (FILE_HOLDS, OTHER_TABLES)  # reasons that do not apply to a release of the table
# Reasons besides its limits why a policy is not met or undecided; {} stands for names of columns.
# There is no number in these sentences: they may be shown wherever a verdict may.
REASONS = {
    "file_holds": "the file still holds {}, which must not be released",
    "kept_unique": "kept columns have values of their own for many people: {}; drop them, or keep "
    "something coarser",
    "kept_not_measured": "it was not measured how kept columns help to find people: {}",
    "columns_without_role": "columns have no role: {}; give each one in [roles], if need be as "
    "ignored with a reason",
    "quasi_left_out": "the roles given here leave out {}, which the policy counts as "
    "quasi-identifiers",
    "secrets_left_out": "the roles given here leave out {}, which the policy counts as secrets",
    "roles_replaced": "the roles given here measure less than the policy does: {}",
    "settings_replaced": "settings given here replace those of the policy: {}",
    "no_limits": "the policy has no limits: nothing was decided",
    "harmless_side": "a limit bounds its measure on the harmless side only: {}",
    "records_left_out": "records without a quasi-identifier were left out: nothing is known of "
    "them",
    "columns_not_compared": "no attack compares {}: the synthetic table has no value of theirs "
    "that the original has",
    "traces_not_limited": "attacks found traces of people, and the policy does not limit these "
    "attacks in [limits.synthetic]: {}",
    "pairing_unknown": "it cannot be told whether the records of the release are those of the "
    "original in the same order: give a key, or say that they are paired",
    "records_left_out_by_mark": "records were left out as suppressed, and the policy does not say "
    "how many may be: limit suppressed_records, or keep them",
    "codes_not_listed": "codes were read as missing that the policy does not list: [reading] na",
    "mark_not_listed": "records were left out as suppressed by a mark that the policy does not "
    "list: [reading] suppressed",
    "person_replaced": "the person given here is not that of the policy: {}",
    "rows_without_person": "rows have no person: whether they are of different people is not known",
    "too_few_together": "together with an earlier release, fewer people look alike than k asks for",
    "unsafe_together": "the release meets the policy alone, and not together with earlier releases",
    "keys_spelt_differently": "more people of the ledger would be found again if the keys of "
    "people were spelt alike: mend them",
    "too_many_suppressed": "more records would be suppressed than may be",
    "no_release": "no recoding of these columns meets the limits; the numbers are the table's",
    "levels_too_fine": "with these levels every record would be suppressed; the numbers are the "
    "table's",
    "search_stopped": "time was over before a recoding was found that meets the limits; the "
    "numbers are the table's",
    "all_suppressed": "every record is suppressed: nothing would be released",
    "identifier_unsure": "it is not known whether rows share an identifier that the state leaves "
    "out ({}): name the person, or say rows_are_people",
    "merged_by_type": "values of {} may be spelt in several ways, which their type makes one: "
    "spell them alike, or give no type",
    "secret_names_people": "a secret is called like an identifier and has many different values "
    "({}): make it an identifier; rename it only if it does not say who somebody is",
    "kept_names_people": "a kept column is called like an identifier and has many different values "
    "({}): make it an identifier; rename it only if it does not say who somebody is",
    "weight_names_people": "a weight has values that are not numbers, or another whole number for "
    "nearly each record, or is called like an identifier and has many different values ({}): make "
    "it an identifier, or drop it; rename it only if it does not say who somebody is",
    "spelt_differently": "values of {} coincide if they are spelt alike (case, blanks, invisible "
    "characters, forms of numbers and dates): spell them alike, or list the column in "
    "distinct_spellings",
    "spellings_not_compared": "{} has too many values to look for those that coincide if they are "
    "spelt alike: spell them alike and list the column in distinct_spellings",
    "order_tells": "values of {} come in runs in the order of the rows, which tells more than the "
    "values: shuffle the rows, or say why the order may stay: [release] order",
    OTHER_TABLES: "the file holds other sheets, tables or files that nobody looked at: save the "
    "one that was read as a file of its own",
    WITHHELD: "there is a reason that only the internal result names, because it may tell of "
    "single people",
    "identifier_repeats": "rows share an identifier ({}): name the person, or say rows_are_people",
}
STRICT = frozenset({"recursive_c"})  # a number equal to the limit breaches it
CAPPED = frozenset({"enhanced_beta_likeness"})  # each value of the secret has a bound of its own
ABOVE_CAP = Remark("above_cap")
# Clauses on the order of the rows, for the line on what a verdict rests on.
ORDER_IN_RUNS = Remark("order_in_runs")
ORDER_EXPLAINED = Remark("order_with_reason")
ORDER_OF_COLUMNS = Remark("order_of_columns")
ORDER_TELLS_NOTHING = Remark("order_tells_nothing")
ORDER_NOT_EXAMINED = Remark("order_not_examined")
# One person can change these clauses, so that they are not shareable.
INTERNAL_CLAUSES = (
    ORDER_IN_RUNS,
    ORDER_EXPLAINED,
    ORDER_OF_COLUMNS,
    ORDER_TELLS_NOTHING,
    ORDER_NOT_EXAMINED,
)
BETWEEN_CLAUSES = "; "
NO_SUCH_VALUE = Remark("no_such_value")
NEEDS = {
    "order": Remark("needs_order"),
    "hierarchy": Remark("needs_hierarchy"),
    "parts": Remark("needs_parts"),
    "population": Remark("needs_population"),
}
WHY_IMPOSSIBLE = {
    "k_anonymity": Remark("too_few_people"),
    "records_below": Remark("too_few_people"),
    "max_confidence": Remark("most_frequent_more"),
    "alpha_k": Remark("value_more"),
    "bayes_vulnerability_posterior": Remark("guessing_better"),
    "bayes_vulnerability_prior": Remark("guessing_better"),
    "l_diversity": Remark("too_few_values"),
    "entropy_l": Remark("too_uneven"),
    "recursive_c": Remark("too_uneven"),
}
WITH_KEPT = "with the kept columns as quasi-identifiers"
READINGS = {  # by the detail of a value that has the number of the reading
    "without_missing": WITHOUT_MISSING,
    "missing_as_value": AS_VALUE,
    "spellings_merged": SPELT_ALIKE,
    "with_kept": WITH_KEPT,
}

Numbers = Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One limit compared with one number."""

    measure: str
    where: str
    min: float | None
    max: float | None
    value: float | None
    met: bool | None
    reason: str | None = None
    reading: str | None = None
    impossible: str | None = None  # why no release of the table can meet the limit
    k: int | None = None  # of records in classes below k
    scope: str | None = None  # "suppressed": the suppressed records as a class of their own

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Verdict":
        """Read a verdict back from the JSON."""
        return cls(
            measure=data["measure"],
            where=data["where"],
            min=data["min"],
            max=data["max"],
            value=data["value"],
            met=data["met"],
            reason=data["reason"],
            reading=data["reading"],
            impossible=data.get("impossible"),
            k=data.get("k"),
            scope=data.get("scope"),
        )

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        only_if_given = ("k", "scope")
        return {
            key: entry
            for key, entry in vars(self).items()
            if key not in only_if_given or entry is not None
        }


@dataclass(frozen=True)
class GateReason:
    """Why a policy is not met (False) or undecided (None), besides its limits."""

    what: str
    met: bool | None
    names: tuple[str, ...] = ()  # of columns, or of measures

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "GateReason":
        """Read a reason back from the JSON, whose sentence is made anew."""
        return cls(what=data["what"], met=data["met"], names=tuple(data["names"]))

    @property
    def text(self) -> str:
        """The reason in a sentence."""
        return REASONS.get(self.what, self.what.replace("_", " ")).format(list_names(self.names))

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {"what": self.what, "met": self.met, "names": list(self.names), "text": self.text}


SUPPRESSED = "suppressed"  # the scope of a verdict on suppressed records as a class of their own


def worst(states: Collection[bool | None]) -> bool | None:
    """The worst of some states: not met if one is not met, else undecided if one is undecided."""
    if False in states:
        return False
    if None in states:
        return None
    return True


FILE = "file"  # the question of a verdict: may this file go out?
PLANNED = "planned"  # would a release without the columns that must not go out meet the policy?


@dataclass(frozen=True)
class UnjudgedSecret:
    """A secret without a limit, and the number of people in classes where it has one value."""

    secret: str
    people: int | None = None  # in classes with one value; None if they were not counted
    of: int | None = None  # all people

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "UnjudgedSecret":
        """Read an entry of the JSON."""
        return cls(secret=data["secret"], people=data["people"], of=data["of"])

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return dict(vars(self))


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A policy compared with one table: its verdicts, and the question that they answer."""

    verdicts: tuple[Verdict, ...]
    reasons: tuple[GateReason, ...] = ()
    rests_on: Joined | None = None
    suppressed_records: int = 0  # left out of every number that a limit judges
    name: str | None = None  # of the policy's file
    digest: str | None = None  # the SHA-256 of its content
    question: str = FILE
    spellings: Mapping[str, int] = field(default_factory=dict)  # values that coincide, by column
    unjudged: tuple[UnjudgedSecret, ...] = ()  # secrets that no limit is about
    counts: bool = False  # whether a count state was judged, which is no file

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> "Judgement":
        """Read a judgement back from the JSON, with the answer that it states."""
        plan = "planned_met" in data
        return SavedJudgement(
            verdicts=tuple(Verdict.from_dict(entry) for entry in data["limits"]),
            reasons=tuple(GateReason.from_dict(entry) for entry in data.get("reasons", ())),
            rests_on=_saved_basis(data.get("rests_on")),
            suppressed_records=data.get("suppressed_records", 0),
            name=data.get("name"),
            digest=data.get("sha256"),
            question=PLANNED if plan else FILE,
            spellings=data.get("spellings", {}),
            unjudged=tuple(UnjudgedSecret.from_dict(entry) for entry in data.get("unjudged", ())),
            counts=data.get("counts", False),
            stated=data["planned_met"] if plan else data["met"],
        )

    @property
    def met(self) -> bool | None:
        """Whether the file meets the policy; None if undecided, or if a plan was asked about."""
        return None if self.question == PLANNED else self.outcome

    @property
    def planned_met(self) -> bool | None:
        """Whether the planned release would meet the policy; None if a file was asked about."""
        return self.outcome if self.question == PLANNED else None

    @property
    def outcome(self) -> bool | None:
        """The answer to the question: every limit is met and nothing else stands against it."""
        return self.conclusion

    @property
    def conclusion(self) -> bool | None:
        """What follows from the verdicts and the reasons."""
        states = [v.met for v in self.verdicts] + [r.met for r in self.reasons]
        return worst(states) if self.verdicts or False in states else None

    @property
    def breached(self) -> int:
        """How many limits are breached, by the table or by its suppressed records."""
        return sum(met is False for met in self._by_limit().values())

    @property
    def doubtful(self) -> int:
        """How many limits are undecided."""
        return sum(met is None for met in self._by_limit().values())

    @property
    def of_suppressed(self) -> tuple[Verdict, ...]:
        """The verdicts on the suppressed records as a class of their own."""
        return tuple(verdict for verdict in self.verdicts if verdict.scope == SUPPRESSED)

    def _by_limit(self) -> dict[tuple[str, str], bool | None]:
        """Whether each limit is met: a limit may have a line of its own for suppressed records."""
        lines: dict[tuple[str, str], list[bool | None]] = {}
        for verdict in self.verdicts:
            lines.setdefault((verdict.measure, verdict.where), []).append(verdict.met)
        return {limit: worst(states) for limit, states in lines.items()}

    def resting_on(self, clause: Spoken) -> "Judgement":
        """The same judgement, which rests on something else as well."""
        clauses = [*(self.rests_on.parts if self.rests_on else ()), clause]
        return replace(self, rests_on=Joined(clauses, BETWEEN_CLAUSES))

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return {
            "name": self.name,
            "sha256": self.digest,
            "met": self.met,
            **({"planned_met": self.planned_met} if self.question == PLANNED else {}),
            **({"counts": True} if self.counts else {}),
            "limits": [v.to_dict() for v in self.verdicts],
            "reasons": [r.to_dict() for r in self.reasons],
            "rests_on": self.rests_on,
            "unjudged": [secret.to_dict() for secret in self.unjudged],
            "suppressed_records": self.suppressed_records,
            **({"spellings": dict(self.spellings)} if self.spellings else {}),
        }


@dataclass(frozen=True, kw_only=True)
class SavedJudgement(Judgement):
    """A judgement that was read from JSON, which states the answer.

    What may be shared of a judgement, and what older versions wrote, can lack a reason of it.
    """

    stated: bool | None

    @property
    def outcome(self) -> bool | None:
        """The answer to the question, as the JSON states it."""
        return self.stated


def _saved_basis(text: str | None) -> Joined | None:
    """What a saved verdict rests on; a single clause is no list yet."""
    if text is None or isinstance(text, Joined):
        return text
    return Joined([text], BETWEEN_CLAUSES)


class Gate:
    """A policy, and all reasons besides its limits why one table does not meet it.

    A command adds the reasons that it finds; each is a sentence of `REASONS`.
    """

    def __init__(
        self,
        policy: Policy,
        clauses: Iterable[Spoken] = (),
        suppressed_records: int = 0,
        file: PolicyFile | None = None,
        *,
        secrets: Iterable[str] = (),
        question: str = FILE,
    ) -> None:
        self.policy = policy
        self.file = file
        self.question = question
        self.clauses = [*clauses]  # what the verdict rests on; commands add theirs
        self.secrets = tuple(secrets)  # of the table that is judged
        # For each secret, the people in classes where all have one value, and all people.
        self.certain: dict[str, tuple[int, int]] = {}
        self.suppressed_records = suppressed_records
        self.reasons: list[GateReason] = []
        self.counts = False  # whether a count state is judged
        self.spellings: dict[str, int] = {}

    @property
    def rests_on(self) -> Joined | None:
        """The line on what the verdict rests on, without names and numbers of the data."""
        return Joined(self.clauses, BETWEEN_CLAUSES) or None

    @property
    def unlimited(self) -> list[str]:
        """The secrets of the table that no limit of the policy judges."""
        return unlimited_secrets(self.policy, self.secrets)

    def not_met(self, what: str, names: Iterable[str] = ()) -> None:
        """Add a reason for which the policy is not met."""
        self.reasons.append(GateReason(what, False, tuple(names)))

    def undecided(self, what: str, names: Iterable[str] = ()) -> None:
        """Add a reason that leaves undecided whether the policy is met."""
        self.reasons.append(GateReason(what, None, tuple(names)))

    def take_reasons(self, other: "Gate") -> None:
        """Add the reasons of another gate, except reasons that are about the file at hand."""
        new = [r for r in other.reasons if r not in self.reasons]
        self.reasons += [r for r in new if r.what not in ABOUT_THE_FILE]

    def judge(self, verdicts: Iterable[Verdict]) -> Judgement:
        """Judge the table by the verdicts on the limits and by the reasons of this gate."""
        verdicts = tuple(verdicts)
        reasons = list(self.reasons)
        if not verdicts:
            reasons.append(GateReason("no_limits", None))
        harmless = dict.fromkeys(v.measure for v in verdicts if bounds_harmless_side(v))
        if harmless:
            reasons.append(GateReason("harmless_side", None, tuple(harmless)))
        judged = {v.where for v in verdicts if not cannot_be_breached(v, self.policy)}
        return Judgement(
            verdicts=verdicts,
            reasons=tuple(reasons),
            rests_on=self.rests_on,
            suppressed_records=self.suppressed_records,
            name=None if self.file is None else self.file.name,
            digest=None if self.file is None else self.file.sha256,
            question=self.question,
            counts=self.counts,
            spellings=self.spellings,
            unjudged=tuple(
                UnjudgedSecret(secret, *self.certain.get(secret, (None, None)))
                for secret in self.secrets
                if f"inference.{secret}" not in judged
            ),
        )


def unjudged_secrets(secrets: Iterable[str]) -> list[Remark]:
    """Make a remark on each secret that no limit is about."""
    return [Remark("secret_not_judged", column=repr(secret)) for secret in secrets]


def judge(
    policy: Policy,
    reidentification: Numbers,
    inference: Mapping[str, Numbers],
    best: Mapping[str | None, Numbers] | None = None,
) -> tuple[list[Verdict], list[Remark]]:
    """Compare every limit with every number it applies to; return verdicts and warnings.

    `best` has the numbers of a table with the same records in one class, by secret, and under None
    those of re-identification. No release can have better numbers.
    """
    for name in policy.inference:
        require(
            name in inference,
            f"limits.inference: {name!r} is not a sensitive attribute of this assessment",
            hint=nearest(name, inference) or "name it with -s",
        )
    verdicts = []
    places: list[tuple[str | None, Numbers, Mapping[str, MeasureLimit]]] = [
        (None, reidentification, policy.reidentification)
    ]
    places += [(s, v, policy.inference.get(s, {})) for s, v in inference.items()]
    for secret, values, narrower in places:
        where = "reidentification"
        kind = "record"
        if secret is not None:
            where = f"inference.{secret}"
            kind = "secret"
        for measure in narrower:
            stated = measure in values or _lacks_population(measure)
            _require_number(stated, measure, f"limits.{where}")
        at_best = (best or {}).get(secret, {})
        for measure, limit in {**policy.everywhere, **narrower}.items():
            if measure in values:
                verdicts.append(_verdict(where, values[measure], limit, at_best.get(measure)))
                continue
            why = _lacking(measure) if values and kind in BY_ID[measure].kinds else None
            if why is not None:
                verdicts.append(
                    Verdict(
                        measure=measure,
                        where=where,
                        min=limit.min,
                        max=limit.max,
                        value=None,
                        met=None,
                        reason=why,
                    )
                )
    for measure in policy.everywhere:
        evaluated = any(
            v.measure == measure and (v.reason not in NEEDS.values() or _lacks_population(measure))
            for v in verdicts
        )
        _require_number(evaluated, measure, "limits")
    judged = {v.where for v in verdicts if not cannot_be_breached(v, policy)}
    return verdicts, [
        *verdict_remarks(verdicts),
        *unjudged_secrets([s for s in inference if verdicts and f"inference.{s}" not in judged]),
        *toothless_remarks(verdicts, policy),
    ]


def judge_suppressed(
    policy: Policy, reidentification: Numbers, inference: Mapping[str, Numbers]
) -> list[Verdict]:
    """Compare limits with the numbers of the suppressed records as a class of their own.

    Only measures that are among the numbers are judged: those of a single class.
    """
    places = [("reidentification", reidentification, policy.reidentification)]
    places += [(f"inference.{s}", v, policy.inference.get(s, {})) for s, v in inference.items()]
    verdicts = []
    for where, values, narrower in places:
        for measure, limit in {**policy.everywhere, **narrower}.items():
            if measure in values:
                verdict = _verdict(where, values[measure], limit)
                verdicts.append(replace(verdict, scope=SUPPRESSED))
    return verdicts


def _lacks_population(measure: str) -> bool:
    """Tell whether a measure needs a population; without one, a limit on it is undecided."""
    return "population" in BY_ID[measure].needs


def _lacking(measure: str) -> Remark | None:
    """Say what a measure lacks that was not computed, such as an order of the secret."""
    return next((why for need, why in NEEDS.items() if need in BY_ID[measure].needs), None)


def verdict_remarks(verdicts: Sequence[Verdict]) -> list[Remark]:
    """Make remarks on limits that are undecided, or that bound the harmless side."""
    remarks = []
    for verdict in verdicts:
        if verdict.met is None:
            suppressed = verdict.scope == SUPPRESSED
            key = "not_evaluated_suppressed" if suppressed else "not_evaluated"
            remarks.append(_remark_on(verdict, key, why=verdict.reason or str(None)))
    for verdict in verdicts:
        if bounds_harmless_side(verdict):
            high = BY_ID[verdict.measure].riskier == "high"
            remarks.append(_remark_on(verdict, "harmless_high" if high else "harmless_low"))
    return remarks


def _remark_on(verdict: Verdict, key: str, **values: str) -> Remark:
    """Make a remark on the limit of a verdict."""
    return Remark(key, measure=verdict.measure, where=_place(verdict.where), **values)


def bounds_harmless_side(verdict: Verdict) -> bool:
    """Tell whether a limit bounds only the side that is not risky."""
    # Limits on attacks are checked when the policy is read.
    return verdict.measure in BY_ID and _risky_bound(verdict, 0.0) is None


def unlimited_secrets(policy: Policy, secrets: Iterable[str]) -> list[str]:
    """Name the secrets without a limit that a table can breach."""
    unlimited = []
    for secret in secrets:
        limits = {**policy.everywhere, **policy.inference.get(secret, {})}
        verdicts = (
            Verdict(
                measure=measure,
                where=f"inference.{secret}",
                min=limit.min,
                max=limit.max,
                value=None,
                met=None,
            )
            for measure, limit in limits.items()
            if "secret" in BY_ID[measure].kinds
        )
        if all(cannot_be_breached(verdict, policy) for verdict in verdicts):
            unlimited.append(secret)
    return unlimited


def cannot_be_breached(verdict: Verdict, policy: Policy) -> bool:
    """Tell whether no risky table breaches a limit, so that it decides nothing."""
    if verdict.measure not in BY_ID:
        return is_toothless_attack(verdict)
    return bounds_harmless_side(verdict) or is_toothless(verdict, policy)


def is_toothless_attack(verdict: Verdict) -> bool:
    """Tell whether no table can breach a limit on an attack, whose numbers are from 0 to 1."""
    if verdict.max is not None and verdict.max < 1:
        return False
    return verdict.min is None or verdict.min <= 0


def toothless_remarks(verdicts: Iterable[Verdict], policy: Policy) -> list[Remark]:
    """Make a remark on each limit that no table can breach."""
    return [
        Remark("toothless", measure=v.measure, where=_place(v.where))
        for v in verdicts
        if (is_toothless(v, policy) if v.measure in BY_ID else is_toothless_attack(v))
    ]


def is_toothless(verdict: Verdict, policy: Policy) -> bool:
    """Tell whether no table can breach a limit: it lies at the end of the range of its measure."""
    measure = BY_ID[verdict.measure]
    below = policy.parameters.records_below if measure.id == "records_below" else None
    if below is not None and below.k in (1, (1,)):  # nobody is in a class of fewer than one
        return True
    bound = _risky_bound(verdict, None)
    if bound is None:
        return False
    if measure.riskier == "low":
        return measure.low is not None and bound <= measure.low
    return measure.high is not None and bound >= measure.high


def _risky_bound(verdict: Verdict, neither: float | None) -> float | None:
    """The bound of a limit on the risky side; `neither` if the measure has no risky side."""
    riskier = BY_ID[verdict.measure].riskier
    if riskier == "low":
        return verdict.min
    if riskier == "high":
        return verdict.max
    return neither


def _place(where: str) -> str:
    """Name the secret that a limit is about, or the chapter."""
    chapter, _, secret = where.partition(".")
    return repr(secret) if secret else chapter


def _require_number(present: bool, measure: str, where: str) -> None:
    """Refuse a limit on a measure whose number is not `present`."""
    kinds = BY_ID[measure].kinds
    hint = "give what it needs (an order, a hierarchy, a partition), or drop the limit"
    if "secret" not in kinds:
        hint = "it is about finding a person: [limits.reidentification]"
    elif "record" not in kinds and not where.startswith("limits.inference"):
        hint = "it is about a secret: name one with -s, and limit it in [limits.inference.SECRET]"
    what = f"{where}: {measure} is not among the numbers of this assessment"
    if "order" in BY_ID[measure].needs:
        what = f"{where}: {measure}: no secret has an order"
        hint = '[orders] SECRET = ["lowest", ..., "highest"], or --type SECRET=int of numbers'
    require(present, what, hint=hint)


def _verdict(where: str, value: Value, limit: MeasureLimit, best: Value | None = None) -> Verdict:
    """Compare a value with a limit; `best` is the best number that any release can have."""
    if value.details.get("occurs") is False:  # a misspelt value would meet every limit
        return Verdict(
            measure=value.id,
            where=where,
            min=limit.min,
            max=limit.max,
            value=None,
            met=None,
            reason=NO_SUCH_VALUE,
        )
    number, reading, met = _compare(where, value, limit)
    reason = value.reason if number is None or met is False else None
    if value.id in CAPPED and met is False and number is not None and reason is None:
        reason = ABOVE_CAP
    return Verdict(
        measure=value.id,
        where=where,
        min=limit.min,
        max=limit.max,
        value=number,
        met=met,
        reason=UNBOUNDED if number is None and reading is not None else reason,
        reading=reading,
        impossible=impossible_limit(where, value.id, limit, best),
        k=value.details.get("k") if value.id == "records_below" else None,
    )


def _compare(
    where: str, value: Value, limit: MeasureLimit
) -> tuple[float | None, str | None, bool | None]:
    """Find the number that a limit judges, its reading, and whether it meets the limit."""
    number = value.value
    reading = None
    constant = value.reason == NOTHING_TO_LEARN and where.startswith("inference")
    if number is None and (constant or value.reason == UNBOUNDED):
        return None, None, False
    if number is None:
        return None, None, None
    for detail, words in READINGS.items():  # the worse reading decides
        other = value.details.get(detail)
        why = value.details.get(f"{detail}_reason")
        if why == UNBOUNDED:
            return None, words, False
        if why == NOTHING_TO_LEARN and where.startswith("inference"):
            return number, words, False
        if other is None:
            continue
        is_worse = other < number if value.riskier == "low" else other > number
        if is_worse:
            number = other
            reading = words
    met = _is_kept(value, number, limit) and not constant
    return number, reading, met


def worse_reading(entry: Mapping[str, Any]) -> float | None:
    """The number of a measure that a limit would judge; `entry` is its entry in the JSON."""
    number: float | None = entry["value"]
    for detail in READINGS:
        if number is None or entry.get(f"{detail}_reason") == UNBOUNDED:
            return None
        other = entry.get(detail)
        if other is None:
            continue
        number = min(number, other) if entry["riskier"] == "low" else max(number, other)
    return number


def _is_kept(value: Value, number: float, limit: MeasureLimit) -> bool:
    """Tell whether a measure keeps its limit, with `number` as its worse reading.

    A limit on `recursive_c` is strict, as Machanavajjhala et al. 2007 define it. A limit on
    `enhanced_beta_likeness` bounds the gain of each value by the smaller of the limit and -ln p(s),
    as Cao and Karras 2012 define it: the number alone would never exceed -ln p of the rarest value.
    """
    if limit.min is not None and number < limit.min:
        return False
    if limit.max is None:
        return True
    if value.id in STRICT:
        return number < limit.max
    if value.id in CAPPED and value.details.get("satisfiable") is not True:
        return False
    return number <= limit.max


def impossible_limit(
    where: str, measure: str, limit: MeasureLimit, best: Value | None, *, number: bool = True
) -> Remark | None:
    """Say why no release of the table can meet a limit; None if one can.

    `best` is the best number that any release can have. With `number`, the reason has this number.
    """
    if limit.min is not None and limit.max is not None and limit.min > limit.max:
        return Remark("no_number_between")
    risky = BY_ID[measure].riskier
    side = MeasureLimit.model_construct(
        min=limit.min if risky == "low" else None, max=limit.max if risky == "high" else None
    )
    if best is None or (side.min is None and side.max is None):
        return None
    best_number, _, met = _compare(where, best, side)
    if met is not False:
        return None
    if best.reason == NOTHING_TO_LEARN and where.startswith("inference"):
        return Remark("one_value_only")
    why = WHY_IMPOSSIBLE.get(measure, Remark("column_no_better"))
    if not number:
        return why
    shown = UNBOUNDED if best_number is None else Figure(significant_digits(float(best_number)))
    return Remark("at_best", number=shown, why=why)
