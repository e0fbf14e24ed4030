"""Measures of an open table: the counts that they need, and their values."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sievert.counts.answers import RecordCounts, Sizes
from sievert.errors import InputError, InvariantError, UsageError, require
from sievert.formatting import plural
from sievert.formatting.remarks import Remark
from sievert.hierarchies import (
    ROOT,
    Hierarchy,
    check_specification,
    is_made_from_data,
    to_hierarchy,
    with_orders,
)
from sievert.measures import BY_ID, MEASURES, Measure
from sievert.measures.kernel import ratio
from sievert.measures.measure import ROWS, UNBOUNDED, MeasureResult, Number, Value
from sievert.measures.one_class import has_bound, records_in_one_class, secret_in_one_class
from sievert.measures.target import RecordTarget, SecretTarget, record_target
from sievert.request.requested import check_known
from sievert.roles import Roles
from sievert.session import Steps

if TYPE_CHECKING:
    from sievert.counts.answers import JointCounts, SecretCounts
    from sievert.counts.questions import Questions
    from sievert.counts.suppressed_class import ClassSize, SuppressedRecords, SuppressedValues
    from sievert.policy import Policy

WITH_KEPT = "with_kept"  # a detail: the number of the classes that kept columns make smaller
OTHER_READINGS = ("missing_as_value", "spellings_merged", WITH_KEPT)  # details of a count
NOT_PLACED = Remark("not_placed")
MOST_VALUES = 10**7  # different values of a secret up to which they are put into one class


@dataclass(frozen=True)
class MeasureSettings:
    """What measures need besides the roles."""

    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    orders: Mapping[str, Iterable[str]] = field(default_factory=dict)
    partitions: Mapping[str, Mapping[str, Iterable[str]]] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def with_policy(self, policy: Policy | None) -> MeasureSettings:
        """Add the settings of a policy where there are none."""
        if policy is None:
            return replace(self, hierarchies=with_orders(self.hierarchies, self.orders))
        orders = {**policy.orders, **self.orders}
        return MeasureSettings(
            hierarchies=with_orders({**policy.measured_hierarchies, **self.hierarchies}, orders),
            orders=orders,
            partitions={**policy.partitions, **self.partitions},
            parameters={**policy.parameters.model_dump(exclude_none=True), **self.parameters},
        )

    def named_value(self, secret: str) -> str | None:
        """Give the value of a secret that a parameter names."""
        value = self.parameters.get("alpha_k", {}).get("value")
        named = value.get(secret) if isinstance(value, Mapping) else value
        return None if named is None else str(named)

    def named_values(self, secrets: Iterable[str]) -> list[str]:
        """Give the values of some secrets that a parameter names."""
        named = map(self.named_value, secrets)
        return [value for value in named if value is not None]

    def replaced(self, policy: Policy, secrets: Collection[str]) -> list[str]:
        """The measures and columns whose settings differ from the policy.

        Hierarchies count for secrets only: no verdict depends on the hierarchies of other columns.
        """
        own = MeasureSettings().with_policy(policy)
        pairs: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...] = (
            ({s: h for s, h in own.hierarchies.items() if s in secrets}, self.hierarchies),
            (own.orders, self.orders),
            (own.partitions, self.partitions),
            (own.parameters, self.parameters),
        )
        return [
            name
            for theirs, ours in pairs
            for name in theirs
            if _plain(theirs[name]) != _plain(ours[name])
        ]


def _plain(setting: Any) -> Any:
    """A setting with lists in place of other sequences, so that two can be compared."""
    if isinstance(setting, Mapping):
        return {name: _plain(entry) for name, entry in setting.items()}
    if isinstance(setting, Hierarchy):
        return _plain(setting.labels)
    if isinstance(setting, str | int | float) or setting is None:
        return setting
    if callable(setting) or isinstance(setting, os.PathLike):
        return str(setting)
    return [_plain(entry) for entry in setting]


@dataclass(frozen=True, kw_only=True)
class MeasuredTable:
    """The measures of one table."""

    reidentification: dict[str, Value]
    inference: dict[str, dict[str, Value]]
    best: dict[str | None, dict[str, Value]]  # the best numbers of limited measures in any release
    # Re-identification and inference of the suppressed records as a class of their own.
    suppressed: tuple[dict[str, Value], dict[str, dict[str, Value]]]
    certain: dict[str, tuple[int, int]]  # by secret: people in classes of one value, and all people


def measure_table(
    questions: Questions,
    roles: Roles,
    ids: Iterable[str],
    clock: Steps,
    settings: MeasureSettings | None = None,
    limited: Collection[str] = (),
    unlimited: Collection[str] = (),
) -> MeasuredTable:
    """Compute the measures `ids` of an open table: of re-identification, and of each secret.

    No limit is about the secrets `unlimited`.
    """
    table = TableMeasures(questions, roles, settings or MeasureSettings(), ids, clock)
    inference = {s: table.inference(s) for s in roles.sensitive}
    numbers = table.reidentification()
    return MeasuredTable(
        reidentification=numbers,
        inference=inference,
        best=table.best_numbers(limited),
        suppressed=table.of_suppressed(limited, numbers),
        certain=table.certain_people(s for s in roles.sensitive if s in unlimited),
    )


def check_hierarchies(hierarchies: Mapping[str, Any]) -> None:
    """Make sure that every hierarchy can be read, even if it is not used."""
    for given in hierarchies.values():
        check_specification(given)


def unused_settings(
    settings: MeasureSettings,
    roles: Roles,
    columns: Sequence[str],
    coarsened: Collection[str] = (),
) -> list[Remark]:
    """Notes on settings of columns that are not secrets; raise an error for unknown columns.

    The hierarchies of `coarsened` columns are used.
    """
    named = settings.parameters.get("alpha_k", {}).get("value")
    given: dict[str, Mapping[str, Any]] = {
        "hierarchy": settings.hierarchies,
        "order": settings.orders,
        "partition": settings.partitions,
        "named_value": named if isinstance(named, Mapping) else {},
    }
    notes: list[Remark] = []
    for key, by_column in given.items():
        what = Remark(key)
        for column in by_column:
            check_known(f"{what}: column", column, columns)
            if column in roles.sensitive or (key == "hierarchy" and column in coarsened):
                continue
            notes.append(Remark("not_a_secret", what=what, column=repr(column)))
    return notes


def _chosen_measures(ids: Iterable[str] | None) -> tuple[Measure, ...]:
    if ids is None:
        return MEASURES
    names = list(ids)
    for name in names:
        check_known("measure", name, BY_ID)
    return tuple(BY_ID[name] for name in names)


class TableMeasures:
    """Counts what the chosen measures of one table need, and computes them."""

    def __init__(
        self,
        questions: Questions,
        roles: Roles,
        settings: MeasureSettings,
        ids: Iterable[str] | None,
        clock: Steps,
    ) -> None:
        self.questions = questions
        self.roles = roles
        self.settings = settings
        self.measures = _chosen_measures(ids)
        self.clock = clock
        self.warnings: list[Remark] = []
        self.joint: dict[str, JointCounts] = {}  # by secret
        self.value_counts: dict[str, int] = {}  # by secret
        # By secret: how often each value occurs, and how many records lack one.
        self.values: dict[str, tuple[Sizes, int]] = {}

    def reidentification(self) -> dict[str, Value]:
        """Measure re-identification: the record is the target."""
        chosen = [m for m in self.measures if "record" in m.kinds and self._is_stated(m)]
        if not chosen:
            return {}
        self.clock("counting classes", self.questions)
        counts = self.questions.record_counts(
            self.roles.quasi, wildcard=any("wildcard" in m.needs for m in chosen)
        )
        if counts.missing:
            records = plural(counts.missing, "record")
            self.warnings.append(Remark("without_quasi", records=records))
            if self.roles.person is not None:
                self.warnings.append(Remark("no_k_people"))
            elif counts.wildcard is None:
                self.warnings.append(Remark("no_k_time"))
        self.clock("computing", self.questions)
        return self.of_classes(counts, chosen)

    def of_classes(self, counts: RecordCounts, chosen: Iterable[Measure]) -> dict[str, Value]:
        """Compute measures of re-identification from counts."""
        target = record_target(replace(counts, suppressed=self.questions.suppression.records))
        return {m.id: self._value(m, target, self.options(m)) for m in chosen}

    def _is_stated(self, measure: Measure) -> bool:
        """Whether a population is stated, if the measure needs one."""
        return "population" not in measure.needs or measure.id in self.settings.parameters

    def only(self, measure: Measure, secret: str) -> Value:
        """Compute one measure of a secret that needs only counts, and no remark."""
        target = SecretTarget(self.count_values(secret, measure.needs))
        return self._value(measure, target, self.options(measure))

    def inference(self, secret: str) -> dict[str, Value]:
        """Measure inference: a sensitive attribute is the target."""
        order, ordered = self._order(secret)
        parts = self.settings.partitions.get(secret)
        partition = None if parts is None else {p: [str(x) for x in v] for p, v in parts.items()}
        hierarchy = self.hierarchy(secret)
        there = {
            "order": ordered,
            "parts": partition is not None,
            "hierarchy": hierarchy is not None,
        }
        chosen = [
            m
            for m in self.measures
            if "secret" in m.kinds and all(there.get(n, True) for n in m.needs)
        ]
        if not chosen:
            return {}
        number = 1 + self.roles.sensitive.index(secret)
        self.clock(f"counting secret {number} of {len(self.roles.sensitive)}", self.questions)
        counts = self.questions.secret_counts(
            self.roles.quasi,
            secret,
            frozenset().union(*(m.needs for m in chosen)),
            order=order,
            hierarchy=hierarchy,
            partition=partition,
            named=self.settings.named_value(secret),
        )
        self.value_counts[secret] = counts.values.things
        self.values[secret] = (counts.values, counts.missing)
        if counts.joint is not None:
            self.joint[secret] = counts.confidence or counts.joint
        if counts.missing:
            records = plural(counts.missing, "record")
            self.warnings.append(Remark("without_secret", records=records, column=repr(secret)))
        if counts.named is not None and not any(counts.named.count):
            self.warnings.append(Remark("alpha_absent", column=repr(secret)))
        if partition is not None:
            self._check_parts(secret, partition)
        self.clock("computing", self.questions)
        target = SecretTarget(counts)
        beside = {
            "merged": SecretTarget(counts.parts) if counts.parts is not None else None,
            "order": "of the values themselves" if order is None else "given",
        }
        if order is None and any("order" in m.needs for m in chosen):
            self.warnings.append(Remark("own_order", column=repr(secret)))
        return {m.id: self._value(m, target, {**self.options(m), **beside}) for m in chosen}

    def count_values(self, secret: str, needs: frozenset[str] = frozenset()) -> SecretCounts:
        """Count how often each value of a secret occurs, and what the measure `needs`."""
        counts = self.questions.secret_counts(self.roles.quasi, secret, needs)
        self.values[secret] = (counts.values, counts.missing)
        return counts

    def certain_people(self, secrets: Iterable[str]) -> dict[str, tuple[int, int]]:
        """For each secret count the people in classes where all have one value, and all people.

        Cells that were counted already are not counted again.
        """
        certain = {}
        for secret in secrets:
            cells = self.joint.get(secret)
            if cells is None or self.questions.people is not None:
                certain[secret] = self.questions.certain_people(self.roles.quasi, secret)
            else:
                certain[secret] = cells.certain
        return certain

    def best_numbers(self, ids: Collection[str]) -> dict[str | None, dict[str, Value]]:
        """The numbers of the same records in one class: no release can do better."""
        bounded = [m for m in self.measures if m.id in ids and has_bound(m)]
        people = self.questions.people
        record = RecordTarget(records_in_one_class(people or self.questions.records))
        best: dict[str | None, dict[str, Value]] = {
            None: {
                m.id: self._value(m, record, self.options(m))
                for m in bounded
                if "record" in m.kinds
            }
        }
        if people is not None:  # merging classes merges people: there is no bound for a secret
            return best
        for secret, (values, missing) in self.values.items():
            if values.things > MOST_VALUES or not any("secret" in m.kinds for m in bounded):
                continue
            value = self.settings.named_value(secret)
            named = None
            if value is not None:
                named = self.questions.tally(secret, self.roles.quasi).get(value)
            target = SecretTarget(secret_in_one_class(values, missing, named))
            best[secret] = {
                m.id: self._value(m, target, self.options(m))
                for m in bounded
                if "secret" in m.kinds and (m.id != "alpha_k" or value is None or named is not None)
            }
        return best

    # -- the suppressed records as a class of their own ------------------------------------------

    def of_suppressed(
        self, ids: Collection[str], numbers: Mapping[str, Value]
    ) -> tuple[dict[str, Value], dict[str, dict[str, Value]]]:
        """Measure the suppressed records as a class of their own; return nothing without any.

        Only measures among `ids` whose limit a single class can breach are computed. The base rate
        of a secret is that of all records. `numbers` are the numbers of the other records: counts
        of people in small classes add this class to them, if it is small. An outsider who knows the
        kept columns distinguishes suppressed records by them. A secret that is a quasi-identifier
        as well was suppressed with the others.
        """
        suppressed: SuppressedRecords | None = self.questions.suppressed
        if suppressed is None:
            return {}, {}
        chosen = [m for m in self.measures if m.id in ids and m.of_class]
        records = [m for m in chosen if "record" in m.kinds]
        of_secrets = [m for m in chosen if "secret" in m.kinds]
        self.clock("measuring the suppressed records", self.questions)
        reidentification = self._suppressed_records(suppressed.size(), records, numbers)
        secrets = [s for s in self.roles.sensitive if of_secrets and s not in self.roles.quasi]
        return reidentification, {
            s: self._suppressed_secret(s, suppressed.values(s), of_secrets) for s in secrets
        }

    def _suppressed_records(
        self, size: ClassSize, chosen: Sequence[Measure], numbers: Mapping[str, Value]
    ) -> dict[str, Value]:
        one_class = RecordCounts(records=size.members, sizes=Sizes.from_arrays([size.members], [1]))
        values = self._suppressed_classes(one_class, size, chosen, numbers)
        if not self.roles.knowable or not chosen:
            return values
        classes = self.questions.suppressed_counts(self.roles.knowable)
        narrower = self._suppressed_classes(classes, size, chosen, numbers)
        return {**narrower, **with_kept(values, narrower)}

    def _suppressed_classes(
        self,
        counts: RecordCounts,
        size: ClassSize,
        chosen: Sequence[Measure],
        numbers: Mapping[str, Value],
    ) -> dict[str, Value]:
        """Compute the measures of the suppressed records in the classes of `counts`.

        Counts of people in small classes include all records of the table.
        """
        values = self.of_classes(counts, chosen)
        people = self.questions.people or self.questions.records
        for count in ("records_below", "unique_records"):
            own = values.pop(count, None)
            others = numbers.get(count)
            if own is not None and others is not None and others.value is not None:
                together = with_small_classes(others, people, own, size)
                if together is not None:
                    values[count] = together
        return values

    def _suppressed_secret(
        self, secret: str, values: SuppressedValues, chosen: Sequence[Measure]
    ) -> dict[str, Value]:
        order, has_order = self._order(secret)
        spec = self.settings.hierarchies.get(secret)
        there = {"order": has_order, "hierarchy": spec is not None}
        chosen = [m for m in chosen if all(there.get(n, True) for n in m.needs)]
        named = self.settings.named_value(secret)
        plain = values.secret_counts(secret, named=named)
        measured = {}
        for measure in chosen:
            counts = plain
            try:
                if "order" in measure.needs:
                    counts = values.secret_counts(secret, order=order, ordered=True)
                if "hierarchy" in measure.needs:
                    hierarchy = suppressed_hierarchy(spec, values)
                    counts = values.secret_counts(secret, hierarchy=hierarchy)
            except (InputError, UsageError):
                none = Value(
                    id=measure.id,
                    value=None,
                    unit=measure.unit,
                    riskier=measure.riskier,
                    reason=NOT_PLACED,
                )
                measured[measure.id] = none
                continue
            target = SecretTarget(counts)
            measured[measure.id] = self._value(measure, target, self.options(measure))
        return measured

    def _check_parts(self, secret: str, partition: Mapping[str, Iterable[str]]) -> None:
        present = set(self.questions.values(secret, self.roles.quasi))
        absent = sum(v not in present for members in partition.values() for v in members)
        if absent:
            self.warnings.append(
                Remark("partition_absent", column=repr(secret), values=plural(absent, "value"))
            )

    def options(self, measure: Measure) -> dict[str, Any]:
        """The parameters of a measure."""
        options = dict(self.settings.parameters.get(measure.id, {}))
        if "population" in measure.needs:
            from sievert import population  # few tables are measured as a sample

            options |= {"estimate": population.cautious, "count_people": population.population_size}
        if isinstance(options.get("k"), int):
            options["k"] = [options["k"]]
        return options

    def _order(self, secret: str) -> tuple[list[str] | None, bool]:
        """The given order of a secret's values (None: the type's own), and whether there is one."""
        order = self.settings.orders.get(secret)
        if order is not None:
            return [str(v) for v in order], True
        return None, self.questions.engine.kind(secret) in ("float", "ordered")

    def hierarchy(self, secret: str) -> Hierarchy | None:
        """The hierarchy of a secret's values, if one is given and a measure needs it."""
        spec = self.settings.hierarchies.get(secret)
        if spec is None or isinstance(spec, Hierarchy):
            return spec
        if not any("hierarchy" in m.needs for m in self.measures):
            return None
        values: Any = self.questions.values(secret, self.roles.quasi)
        if is_made_from_data(spec):
            counts = self.questions.cube((secret,)).value_counts(0)
            values = {v: counts[v] for v in values}
        if not values:
            return Hierarchy({"": (ROOT,)})  # one branch
        return to_hierarchy(spec, values)

    def of_other(self, questions: Questions) -> TableMeasures:
        """Measure another table with the same roles in the same way."""
        ids = [measure.id for measure in self.measures]
        return TableMeasures(questions, self.roles, self.settings, ids, self.clock)

    def _value(self, measure: Measure, target: Any, options: Mapping[str, Any]) -> Value:
        result = measure.compute(target, options)
        result = result if isinstance(result, MeasureResult) else MeasureResult(result)
        number = None if result.value is None else clamp_to_bounds(measure, result.value)
        people = (
            measure.unit == "records"
            and ROWS not in measure.needs
            and self.roles.person is not None
        )
        return Value(
            id=measure.id,
            value=number,
            unit="people" if people else measure.unit,
            riskier=measure.riskier,
            reason=result.reason,
            details=dict(result.details),
        )


def with_kept(numbers: Mapping[str, Value], others: Mapping[str, Value]) -> dict[str, Value]:
    """Put the number of the smaller classes beside each number that differs from it."""
    return {m: _with_smaller(value, others.get(m)) for m, value in numbers.items()}


def _with_smaller(value: Value, other: Value | None) -> Value:
    """Put the number of the smaller classes beside a number, if the two differ."""
    if other is None or (other.value, other.reason) == (value.value, value.reason):
        return value
    details = {**value.details, WITH_KEPT: other.value}
    if other.reason == UNBOUNDED:
        details[f"{WITH_KEPT}_reason"] = UNBOUNDED
    return replace(value, details=details)


def with_small_classes(value: Value, people: int, own: Value, size: ClassSize) -> Value | None:
    """Add the suppressed records to a count, or share, of people in small classes.

    `value` is the number of the other `people`, and `own` that of the suppressed records, whose
    class has the `size`. None if no suppressed record is in a small class.
    """
    if value.id == "unique_records":
        if not own.details["records"]:
            return None
        shares = [value.value, value.details.get(WITH_KEPT)]
        others = max(round(share * people) for share in shares if share is not None)
        alone = others + own.details["records"]
        number = ratio(alone, size.everybody)
        return replace(value, value=number, details={"records": alone})
    if not own.value:
        return None
    by_k = {
        below: number + own.details["by_k"][below]
        for below, number in value.details["by_k"].items()
    }
    readings = [value.value, *(value.details.get(reading) for reading in OTHER_READINGS)]
    number = max(n for n in readings if n is not None) + own.value
    return replace(value, value=number, details={"k": value.details["k"], "by_k": by_k})


def suppressed_hierarchy(spec: Any, values: SuppressedValues) -> Hierarchy | None:
    """The hierarchy of a secret for the values of all records; one branch if there are none."""
    if spec is None or isinstance(spec, Hierarchy):
        return spec
    pairs = zip(values.texts, values.whole.tolist(), strict=True)
    counts = {text: number for text, number in pairs if text is not None}
    return to_hierarchy(spec, counts) if counts else Hierarchy({"": (ROOT,)})


def most_cells(table: TableMeasures) -> int:
    """The largest possible number of combinations of a measured table, with each secret."""
    questions = table.questions
    classes = questions.sizes(table.roles.quasi).things
    cells = 0
    if questions.people is not None:  # combinations with the person
        return questions.records * max(1, len(table.roles.sensitive))
    for secret in table.roles.sensitive:
        joint = table.joint.get(secret)
        values = table.value_counts.get(secret, questions.records)
        most = min(questions.records, classes * values)
        cells += most if joint is None else int(joint.times.sum())
    return max(cells, classes)


def clamp_to_bounds(measure: Measure, number: Number) -> Number:
    """Put a number that rounding moved out of its range on the edge; it must not be farther out."""
    require(
        not isinstance(number, float) or math.isfinite(number),
        f"{measure.id} is not a finite number",
        error=InvariantError,
    )
    for edge, outside in ((measure.low, -1), (measure.high, 1)):
        if edge is not None and (number - edge) * outside > 0:
            require(
                abs(number - edge) <= 4 * math.ulp(max(1.0, abs(edge))),
                f"{measure.id} lies outside {measure.bounds}",
                error=InvariantError,
            )
            return type(number)(edge)
    return number + 0.0 if isinstance(number, float) else number
