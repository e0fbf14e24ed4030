"""Runs measures over a table and holds the result."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from sievert import hierarchies as ladders
from sievert.commands._common import (
    Clock,
    Reading,
    describe_input,
    load_policy,
    requested_roles,
)
from sievert.commands.assess import value_checks
from sievert.commands.assess.result import Assessment
from sievert.counts.answers import Sizes
from sievert.errors import ExhaustedError, InputError, InvariantError, UsageError, unknown
from sievert.measures import BY_ID, MEASURES, Measure, kernel
from sievert.measures.measure import MeasureResult, Number
from sievert.measures.value import Value
from sievert.notes import Count, Name, Note
from sievert.roles import Roles
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions

if TYPE_CHECKING:
    from sievert.attacks.attack import Attacks
    from sievert.counts.answers import JointCounts
    from sievert.counts.cube import Cube
    from sievert.counts.questions import Questions
    from sievert.policy import Policy


MOST_NUMBERS = 400  # different numbers of a secret whose distances are looked at
MOST_CELLS = 10**7  # classes times numbers


@dataclass(frozen=True)
class Settings:
    """What measures are told besides the roles."""

    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    orders: Mapping[str, Iterable[str]] = field(default_factory=dict)
    partitions: Mapping[str, Mapping[str, Iterable[str]]] = field(default_factory=dict)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def beside(self, house: Policy) -> Settings:
        """These, and what a policy says where these say nothing."""
        return Settings(
            self.hierarchies,
            {**house.orders, **self.orders},
            {**house.partitions, **self.partitions},
            {**house.parameters.model_dump(exclude_none=True), **self.parameters},
        )


def assess(
    data: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    hierarchies: Mapping[str, Any] | None = None,
    orders: Mapping[str, Iterable[str]] | None = None,
    partitions: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    policy: Policy | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    records: str | os.PathLike[str] | None = None,
    force: bool = False,
    measures: Iterable[str] | None = None,
    attacks: bool = False,
    value: Mapping[str, str] | None = None,
    show_values: bool = False,
    missing: str = "value",
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> Assessment:
    """Measure how much a table exposes the people in it.

    Parameters
    ----------
    data
        A path to a CSV, TSV or Parquet file; a pandas, Polars or Arrow frame; a dict of lists.
    quasi, sensitive, identifier
        Columns an outsider could know; secrets; columns that are dropped before release.
    hierarchies, orders, partitions
        For secrets: a `Hierarchy` (or a file), the values from low to high, parts by meaning.
    parameters
        Such as ``{"recursive_c": {"l": 3}, "records_below": {"k": 5}}``.
    policy
        Limits: a `Policy`, a TOML file, or its content as a dict.
    records
        Write one row a record, in input order, to this CSV or Parquet file.
    measures
        Compute only these ids; all that apply unless given.
    attacks, value, show_values
        Run the attacks that need the release alone; of each secret the value whose rise in a class
        matters, such as ``{"disease": "HIV"}``; name values of the data in their results.
    missing
        What a missing quasi-identifier is: a "value" of its own, a "wildcard" that matches anything
        (only k and the records below it are then defined), a reason to "drop" the record, or an
        "error".
    verify
        Check the page checksums of Parquet files, and note the SHA-256 of the input.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> table = {"zip": ["1", "1", "2", "2"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> found = assess(table, ["zip"], ["disease"])
    >>> found.reidentification["k_anonymity"].value, found.inference["disease"]["l_diversity"].value
    (2, 1)
    """
    from sievert import files

    if records is not None:
        files.record_format(records)
    if not attacks and (value or show_values):
        raise UsageError("a named value and values to show belong to attacks", hint="--attacks")
    house = load_policy(policy)
    requested = requested_roles(house, quasi, sensitive, identifier)
    settings = Settings(hierarchies or {}, orders or {}, partitions or {}, parameters or {})
    if parameters:
        from sievert.policy import check_parameters

        check_parameters(parameters)
    if house is not None:
        settings = settings.beside(house)
    check_ladders(settings.hierarchies)
    clock = Clock(watch)
    reading = Reading(clock, {**source, "verify": verify})
    inputs = [data, policy, *settings.hierarchies.values()]
    with files.write_whole(records, sources=inputs, force=force) as target:
        with reading(data, outputs=[target] if target else []) as (table, questions):
            roles, warnings = requested.assign(questions)
            others = unused(settings, roles, questions.columns)
            dropped, notes = requested.prepare(questions, roles, missing)
            warnings += [*notes, *others]
            settings = replace(settings, orders={**table.orders, **settings.orders})
            run = _Run(questions, roles, settings, _chosen(measures), clock)
            wild = missing == "wildcard" and bool(questions.missing(roles.quasi))
            inference = {} if wild else {s: run.about_secret(s) for s in roles.sensitive}
            reidentification = run.under_wildcards() if wild else run.about_records()
            if wild and (records is not None or attacks):
                option = "--records" if records is not None else "--attacks"
                raise UsageError(f"{option} needs classes, and wildcards make none")
            told = run.attack(value or {}, show_values) if attacks else None
            if records is not None and target is not None:
                clock("writing records", questions)
                with files.name_output(records):
                    run.write(target, files.record_format(records))
            described = describe_input(table, questions, missing, dropped)
            if not wild:
                described["missing_values"] = run.look_at_values()
                described["class_sizes"] = class_sizes(questions.sizes(roles.quasi))
                if table.kind == "csv" and table.header:
                    run.look_for_headers()
        warnings += run.warnings
        verdicts = None
        if house is not None:  # before the record file takes its place
            from sievert import policy as policies

            judged, doubts = policies.judge(house, reidentification, inference)
            verdicts, warnings = tuple(judged), warnings + doubts
    clock.stop()
    used = {*roles.measured_columns, *roles.identifier}
    return Assessment(
        described,
        roles,
        reidentification,
        inference,
        verdicts,
        tuple(warnings),
        tuple(c for c in questions.columns if c not in used),
        told,
        run.near,
        clock.steps,
        clock.peaks,
    )


def measured(
    questions: Questions,
    roles: Roles,
    ids: Iterable[str],
    clock: Clock,
    settings: Settings | None = None,
) -> tuple[dict[str, Value], dict[str, dict[str, Value]]]:
    """Some measures of a table that is open already: of finding a person, and of each secret."""
    run = _Run(questions, roles, settings or Settings(), _chosen(ids), clock)
    inference = {s: run.about_secret(s) for s in roles.sensitive}
    return run.about_records(), inference


def check_ladders(given: Mapping[str, Any]) -> None:
    """Every hierarchy that is a file can be opened, whether it will be used or not."""
    for spec in given.values():
        if not isinstance(spec, str | os.PathLike):
            continue
        if str(spec) == "prefix" or str(spec).partition(":")[0] == "interval":
            continue
        path = Path(spec)
        try:
            if path.exists() and not path.is_file():
                raise InputError(f"{path.name or path}: not a regular file")
            path.open("rb").close()
        except OSError as error:
            raise InputError(
                f"{path.name}: {error.strerror}",
                hint="a CSV file as ARX writes them, prefix, or interval:5,10,20",
            ) from None


def unused(settings: Settings, roles: Roles, columns: Sequence[str]) -> list[Note]:
    """Something said about a column nobody has is a mistake; about another one, worth a note."""
    named = settings.parameters.get("alpha_k", {}).get("value")
    found: list[Note] = []
    for what, given in (
        ("hierarchy", settings.hierarchies),
        ("order", settings.orders),
        ("partition", settings.partitions),
        ("named value", named if isinstance(named, Mapping) else {}),
    ):
        for column in given:
            if column not in columns:
                raise unknown(f"{what}: column", column, columns)
            if column not in roles.sensitive:
                text = f"the {what} of {{}} is not used: it is not a secret here"
                found.append(Note(text, Name(column)))
    return found


def _chosen(ids: Iterable[str] | None) -> tuple[Measure, ...]:
    if ids is None:
        return MEASURES
    for name in (ids := list(ids)):
        if name not in BY_ID:
            raise unknown("measure", name, BY_ID)
    return tuple(BY_ID[i] for i in ids)


class _Run:
    """One assessment in the making: asks what the chosen measures need, and computes them."""

    def __init__(
        self,
        questions: Questions,
        roles: Roles,
        settings: Settings,
        measures: tuple[Measure, ...],
        clock: Clock,
    ) -> None:
        self.questions, self.roles, self.settings = questions, roles, settings
        self.measures, self.clock = measures, clock
        self.warnings: list[Note] = []
        self._joint: dict[str, JointCounts] = {}
        self.near: dict[str, dict[str, Any]] = {}  # of secret numbers

    def _note(self, text: str, *parts: Count | Name) -> None:
        self.warnings.append(Note(text, *parts))

    def about_records(self) -> dict[str, Value]:
        """Re-identification: the record is the target."""
        from sievert.measures.target import RecordTarget

        chosen = [m for m in self.measures if "record" in m.kinds]
        if not chosen:
            return {}
        self.clock("counting classes", self.questions)
        wildcard = any("wildcard" in m.needs for m in chosen)
        counts = self.questions.record_counts(self.roles.quasi, wildcard=wildcard)
        if counts.missing:
            self._note(
                "{} without a quasi-identifier; missing is a value of its own",
                Count(counts.missing),
            )
            if counts.wildcard is None:
                self._note("no k for missing values that match anything: it would take too long")
        self.clock("computing", self.questions)
        target = RecordTarget(counts)
        return {m.id: self._value(m, target, self._options(m)) for m in chosen}

    def under_wildcards(self) -> dict[str, Value]:
        """Re-identification where a missing quasi-identifier matches anything."""
        from sievert.measures.classes import under_wildcards

        self.clock("matching wildcards", self.questions)
        frequencies = self.questions.record_counts(self.roles.quasi, wildcard=True).wildcard
        if frequencies is None:
            raise ExhaustedError(
                "matching wildcards would take too long (patterns of missing keys, classes)",
                hint="fewer quasi-identifiers, or --missing value",
            )
        self._note("a missing value matches anything: only k and records_below are defined")
        found = under_wildcards(frequencies, self._options(BY_ID["records_below"]))
        return {
            m.id: Value(m.id, f.value, m.unit, m.riskier, None, dict(f.details))
            for m in self.measures
            if (f := found.get(m.id)) is not None
        }

    def about_secret(self, secret: str) -> dict[str, Value]:
        """Inference: a sensitive attribute is the target."""
        from sievert.measures.target import SecretTarget

        order, ordered = self._order(secret)
        given_parts = self.settings.partitions.get(secret)
        partition = (
            None
            if given_parts is None
            else {p: [str(x) for x in v] for p, v in given_parts.items()}
        )
        ladder = self._ladder(secret)
        given = {"order": ordered, "parts": partition is not None, "hierarchy": ladder is not None}
        chosen = [
            m
            for m in self.measures
            if "secret" in m.kinds and all(given.get(n, True) for n in m.needs)
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
            hierarchy=ladder,
            partition=partition,
            named=self._named(secret),
        )
        if self.measures is MEASURES:
            self._look_near(secret, counts.values.things)
        if counts.joint is not None:
            self._joint[secret] = counts.joint
        if counts.missing:
            self._note(
                "{} without {}; missing is a value of its own", Count(counts.missing), Name(secret)
            )
        if counts.named is not None and not any(counts.named.count):
            self._note("the value named for alpha_k does not occur in {}", Name(secret))
        if partition is not None:
            self._check_parts(secret, partition)
        self.clock("computing", self.questions)
        target = SecretTarget(counts)
        merged = SecretTarget(counts.parts) if counts.parts is not None else None
        return {
            m.id: self._value(m, target, {**self._options(m), "merged": merged}) for m in chosen
        }

    def attack(self, named: Mapping[str, str], show: bool) -> Attacks:
        """The attacks that need the release alone."""
        from sievert.attacks.attack import check_named, on_release

        self.clock("attacking", self.questions)
        check_named(named, self.roles.sensitive)
        found = on_release(
            self.questions.cube,
            self.roles.quasi,
            self.roles.sensitive,
            hierarchies=self.settings.hierarchies,
            partitions=self.settings.partitions,
            named=named,
            show=show,
        )
        for secret in named:
            if not found["skewness"][secret].details["occurs"]:
                self._note("the named value does not occur in {}", Name(secret))
        return found

    def _look_near(self, secret: str, values: int) -> None:
        """How near each class leads to a secret number, where its values are not too many."""
        quasi = self.roles.quasi
        if secret in quasi or self.questions.engine.kind(secret) == "text":
            return
        if (
            not 1 < values <= MOST_NUMBERS
            or self.questions.sizes(quasi).things > MOST_CELLS // values
        ):
            return
        told = near_classes(self.questions.cube((*quasi, secret)))
        if told is not None:
            self.near[secret] = told

    def _check_parts(self, secret: str, partition: Mapping[str, Iterable[str]]) -> None:
        present = set(self.questions.values(secret, self.roles.quasi))
        absent = sum(1 for members in partition.values() for v in members if v not in present)
        if absent:
            self._note(
                "the partition of {} names {} that do not occur",
                Name(secret),
                Count(absent, "value"),
            )

    def _options(self, measure: Measure) -> dict[str, Any]:
        options = dict(self.settings.parameters.get(measure.id, {}))
        if isinstance(options.get("k"), int):
            options["k"] = [options["k"]]
        return options

    def _order(self, secret: str) -> tuple[list[str] | None, bool]:
        """The order of a secret's values: given, or the type's own; and whether there is one."""
        given = self.settings.orders.get(secret)
        if given is not None:
            return [str(v) for v in given], True
        return None, self.questions.engine.kind(secret) in ("float", "ordered")

    def _ladder(self, secret: str) -> ladders.Hierarchy | None:
        given = self.settings.hierarchies.get(secret)
        if given is None or isinstance(given, ladders.Hierarchy):
            return given
        if isinstance(given, Mapping):
            return ladders.Hierarchy({str(v): tuple(labels) for v, labels in given.items()})
        if not any("hierarchy" in m.needs for m in self.measures):
            return None
        values = self.questions.values(secret, self.roles.quasi)
        if not values:  # all missing: one branch
            return ladders.Hierarchy({"": (ladders.ROOT,)})
        return ladders.parse(str(given), values)

    def _named(self, secret: str) -> str | None:
        value = self.settings.parameters.get("alpha_k", {}).get("value")
        named = value.get(secret) if isinstance(value, Mapping) else value
        return None if named is None else str(named)

    def _value(self, measure: Measure, target: Any, options: Mapping[str, Any]) -> Value:
        found = measure.compute(target, options)
        if not isinstance(found, MeasureResult):
            found = MeasureResult(found)
        number = None if found.value is None else within(measure, found.value)
        return Value(
            measure.id, number, measure.unit, measure.riskier, found.reason, dict(found.details)
        )

    def look_at_values(self) -> dict[str, dict[str, int]]:
        """What is missing, empty or looks like it, by column; remarks on values that look alike."""
        quasi = self.roles.quasi
        self.questions.sizes(quasi)
        coded = self.questions.coded_missing(self.roles.measured_columns)
        found = {}
        for column in self.roles.measured_columns:
            tally = self.questions.tally(column, quasi)
            counts = value_checks.missing_values(tally, coded[column])
            if any(counts.values()):
                found[column] = counts
            if self.questions.engine.kind(column) == "float" and column in quasi:
                self._note(
                    "{} is a floating-point quasi-identifier: told apart to the last digit",
                    Name(column),
                )
            self.warnings += value_checks.remarks(column, tally, counts["looks_missing"])
        return found

    def look_for_headers(self) -> None:
        """A record equal to the header, as where files were put together."""
        same = self.questions.like_the_header(self.roles.quasi, self.roles.sensitive)
        if same:
            self._note("{} equal to the header: were files put together?", Count(same))

    def write(self, path: Path, kind: str) -> None:
        """One row a record: the kernel's numbers for each kind of cell, joined by the engine."""
        from sievert import files
        from sievert.measures import per_record as records

        sizes = self.questions.sizes(self.roles.quasi)
        marks: dict[str | None, Any] = {None: records.of_class(sizes, self.questions.records)}
        for secret in self.roles.sensitive:
            joint = self._joint.get(secret)
            if joint is None:
                needs = frozenset({"joint"})
                joint = self.questions.secret_counts(self.roles.quasi, secret, needs).joint
            assert joint is not None
            name = files.escape_formula(secret) if kind == "csv" else secret
            marks[secret] = records.of_cell(joint, self.questions.records, name)
        self.questions.write_records(self.roles.quasi, self.roles.sensitive, path, kind, marks)


def near_classes(cube: Cube) -> dict[str, Any] | None:
    """H0 and area of the secret number in every class: the worst, and the means; None of texts."""
    from sievert.measures.approximate.compromise import approximate_compromise, compromises

    texts = cube.values[-1]
    if not all(t is None or ladders.NUMBER.fullmatch(t) for t in texts):
        return None
    numbers = np.array([np.nan if t is None else float(t) for t in texts])
    known = ~np.isnan(numbers[cube.codes[-1]])
    values, place = np.unique(numbers[~np.isnan(numbers)], return_inverse=True)
    if len(values) < 2 or not np.isfinite(values).all():
        return None
    code = np.zeros(len(texts), dtype=np.int64)
    code[~np.isnan(numbers)] = place
    starts, _ = cube.classes
    table = np.zeros((len(starts), len(values)))
    np.add.at(table, (cube.owner[known], code[cube.codes[-1]][known]), cube.counts[known])
    sizes = table.sum(axis=1)
    table, sizes = table[sizes > 0], sizes[sizes > 0]
    found = compromises(values, table / sizes[:, None])
    worst = int(np.lexsort((sizes, found.initial_entropy, found.area))[0])
    curve = approximate_compromise(values, table[worst] / sizes[worst], domain=values)
    whole = approximate_compromise(values, table.sum(axis=0) / sizes.sum(), domain=values)
    means = {
        over: {
            name: kernel.total(getattr(found, name) * weights) / float(weights.sum())
            for name in ("initial_entropy", "area")
        }
        for over, weights in (("classes", np.ones(len(sizes))), ("records", sizes))
    }
    return {
        "classes": len(sizes),
        "values": len(values),
        "worst": {"records": int(sizes[worst]), **_curve(curve)},
        "mean": means,
        "table": _curve(whole),
        "unit": "bits; area in bits times the unit of the column",
        "riskier": "low",
    }


SIZES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)  # where a span of class sizes begins


def class_sizes(found: Sizes) -> list[dict[str, int | None]]:
    """How many classes, and records in them, have 1 record, 2, 3 or 4, and so on."""
    spans = []
    for least, following in zip(SIZES, (*SIZES[1:], None), strict=True):
        inside = found.sizes >= least
        if following is not None:
            inside &= found.sizes < following
        part = Sizes(found.sizes[inside], found.times[inside])
        most = None if following is None else following - 1
        spans.append(
            {"least": least, "most": most, "classes": part.things, "records": part.records}
        )
    return spans


def _curve(found: Any) -> dict[str, Any]:
    """A curve without the values it goes through: windows are differences of them."""
    names = ("initial_entropy", "area", "range", "relative_area", "standard_deviation", "width90")
    return {name: getattr(found, name) for name in names} | {
        "steps": [list(s) for s in found.steps]
    }


def within(measure: Measure, number: Number) -> Number:
    """A number outside its range by rounding is put on the edge; by more, it is a defect."""
    if isinstance(number, float) and not math.isfinite(number):
        raise InvariantError(f"{measure.id} is not a finite number")
    for edge, outside in ((measure.low, -1), (measure.high, 1)):
        if edge is not None and (number - edge) * outside > 0:
            if abs(number - edge) > 4 * math.ulp(max(1.0, abs(edge))):
                raise InvariantError(f"{measure.id} lies outside {measure.bounds}")
            return type(number)(edge)
    return number + 0.0 if isinstance(number, float) else number
