"""The limits of a result as a pipeline reads them: test cases of JUnit, findings of SARIF.

Every limit is one case, and so is the policy as a whole: what keeps it from being met besides its
limits must not look as if all was well. Only what is met passes; undecided is an error. Where the
policy is written is part of internal files only: what is shareable names no file.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

from sievert.errors import require
from sievert.files import OUR_PAGE
from sievert.formatting import printable
from sievert.measures import BY_ID
from sievert.measures.measure import SUPPRESSED, Value, read_values
from sievert.policy import Judgement, Verdict
from sievert.policy.document import read_tables
from sievert.report.alarms import alarm_names
from sievert.report.first_screen import reason_text
from sievert.report.limits import (
    NOTHING,
    STATE_WORDS,
    STATES,
    SUPPRESSED_SCOPE,
    asked,
    basis_texts,
    bound_text,
    is_plan,
    limited_row,
    limits_of,
    reasons_of,
    value_with_unit,
)
from sievert.report.numbers import measure_title
from sievert.report.overview import read_judgement
from sievert.report.parts import Data, NumberWriter, ReportPart
from sievert.report.texts import Texts, read_texts
from sievert.sharing import command_name
from sievert.version import __version__

WHOLE = "policy"  # the case of all limits together
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"  # a name; nothing is loaded from there
NO_GATE = "a planned release is no file that a pipeline could let through: no --junit, no --sarif"
JUNIT = {"breached": "failure", "doubtful": "error"}
POLICY = {
    "met": "pipeline.policy_met",
    "breached": "pipeline.policy_breached",
    "doubtful": "pipeline.policy_doubtful",
}


@dataclass(frozen=True, kw_only=True)
class LimitCase:
    """One limit judged on one table, or another thing that decides, or the whole policy."""

    table: str
    where: str
    name: str
    title: str
    met: bool | None
    text: str

    @property
    def rule(self) -> str:
        """The name of this limit in a pipeline, the same for every table."""
        return self.name if self.where != WHOLE else f"{WHOLE}.{self.name}"

    @property
    def limit(self) -> str:
        """The limit as the policy has it, which has none for suppressed records alone."""
        return self.name.removesuffix(f".{SUPPRESSED_SCOPE}")


@dataclass(frozen=True)
class PolicyPlaces:
    """The places of a policy's limits: its path as a pipeline knows it, and lines."""

    path: str
    lines: Mapping[tuple[str, ...], int]

    @classmethod
    def of(cls, policy: Path) -> "PolicyPlaces":
        """The places of a policy file; of one outside the working directory the name only."""
        inside = policy.resolve().is_relative_to(Path.cwd())
        path = policy.resolve().relative_to(Path.cwd()).as_posix() if inside else policy.name
        return cls(path, dict(_lines(read_tables(policy)[0])))

    @property
    def uri(self) -> str:
        """The path as a relative URI."""
        return PurePosixPath(f"/{self.path}").as_uri().removeprefix("file:///")

    def line(self, case: LimitCase) -> int:
        """The line of a limit, the narrower one first; otherwise that of the limits."""
        place = tuple(filter(None, case.where.partition(".")[::2]))
        keys = [("limits", *place, *case.limit.split(".")), ("limits", case.limit), ("limits",)]
        return next((self.lines[key] for key in keys if key in self.lines), 1)


def _lines(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Find the line of each table and key of a TOML file; values that span lines are left out."""
    above: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        table = line.lstrip().startswith("[")
        try:
            parsed = tomllib.loads(line)
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
        keys: list[str] = []
        while isinstance(parsed, dict) and len(parsed) == 1 and {"min", "max"}.isdisjoint(parsed):
            key, parsed = next(iter(parsed.items()))
            keys.append(key)
        if table:
            above = tuple(keys)
        if keys:
            yield (above if table else (*above, *keys)), number


def limit_cases(result: Data, texts: Texts) -> list[LimitCase]:
    """Every limit of every table of a result; an error for a plan, which is no gate."""
    plan = any(is_plan(read_judgement(each)) for each in (result, *result.get("key_sets", ())))
    require(not plan, NO_GATE, hint="the release itself, without --planned")
    return [case for table in _tables(result, texts) for case in _cases(table)]


@dataclass(frozen=True, kw_only=True)
class JudgedTable:
    """A table that a policy judged, with its numbers."""

    name: str
    part: ReportPart  # writes its numbers
    policy: Judgement | None
    reidentification: Mapping[str, Value]
    inference: Mapping[str, Mapping[str, Value]]
    alarms: tuple[str, ...]  # attacks on a synthetic table that saw something
    inferred: int  # columns that an attack infers

    @classmethod
    def of(cls, name: str, kind: str, data: Data, writer: NumberWriter) -> "JudgedTable":
        """Read a table from its JSON, which may have a policy and no numbers."""
        inference = data.get("inference", {})
        return cls(
            name=name,
            part=ReportPart(kind=kind, data=data, writer=writer),
            policy=read_judgement(data),
            reidentification=read_values(data.get("reidentification", {})),
            inference={secret: read_values(values) for secret, values in inference.items()},
            alarms=tuple(data.get("alarms") or ()),
            inferred=len(data["attacks"]["inference"]) if data.get("alarms") else 0,
        )


def _tables(result: Data, texts: Texts) -> Iterator[JudgedTable]:
    """The tables that a policy judged, without the original: it is not to be released."""
    kind = str(command_name(result))
    writer = NumberWriter(texts)
    name = writer.file(result["table"].get("name") or texts("pipeline.table"))
    if kind in ("compare", "synthetic"):
        for number, each in enumerate(result["releases" if kind == "compare" else "synthetic"], 1):
            own = {**each.get("assessment", {}), "policy": each.get("policy")}
            if kind == "synthetic":
                own |= {"alarms": each["alarms"], "attacks": each["attacks"]}
            name = writer.file(each.get("name") or texts("pipeline.release", number=number))
            yield JudgedTable.of(name, kind, own, writer)
    elif "key_sets" in result:
        for each in result["key_sets"]:
            columns = writer.names(each["quasi"])
            yield JudgedTable.of(f"{name}: {columns}", kind, {**result, **each}, writer)
    else:
        yield JudgedTable.of(name, kind, result, writer)


def _cases(table: JudgedTable) -> Iterator[LimitCase]:
    for verdict in limits_of(table.policy):
        yield _limit(table, verdict)
    texts = table.part.texts
    met = None if table.policy is None else table.policy.met
    for reason in reasons_of(table.policy):
        name = reason.what
        text = reason_text(table.part, reason)
        yield LimitCase(
            table=table.name,
            where=WHOLE,
            name=name,
            title=name.replace("_", " "),
            met=reason.met,
            text=text,
        )
    answer = texts(POLICY[STATES[met]])
    if met is True and table.alarms:  # of attacks on a synthetic table: no bare yes
        attacks = texts.join(alarm_names(table.part, table.alarms, table.inferred))
        answer = table.part.say("headline_met_traces", attacks=attacks)
    rests_on = basis_texts(texts, table.policy, table.part.writer.name)
    text = " ".join([answer, *rests_on])
    yield LimitCase(
        table=table.name,
        where=WHOLE,
        name="met",
        title=texts("pipeline.policy"),
        met=met,
        text=text,
    )


def _limit(table: JudgedTable, verdict: Verdict) -> LimitCase:
    part = table.part
    texts = part.texts
    measure = printable(verdict.measure)
    chapter, _, secret = verdict.where.partition(".")
    values = table.inference.get(secret, {}) if secret else table.reidentification
    if measure in BY_ID:
        row = limited_row(part, values, verdict)
        title = row.name
        shown = row.value
        remark = row.remark
    else:  # a number of an attack
        title = measure
        remark = printable(verdict.reason or "")
        shown = NOTHING if verdict.value is None else bound_text(measure, verdict.value)
    if verdict.reason == SUPPRESSED:
        shown = _shared_number(part, values.get(measure))
        remark = ""
    if shown == NOTHING:
        shown = texts("pipeline.no_number")
    state = texts(STATE_WORDS[STATES[verdict.met]])
    where = chapter
    if secret:
        secret = part.writer.name(secret)
        where = f"{chapter}.{secret}"
        title = texts("pipeline.of", title=title, secret=secret)
    sentence = texts(
        "pipeline.limit", title=title, value=shown, state=state, asked=asked(texts, verdict)
    )
    text = " ".join(filter(None, (sentence, remark)))
    name = measure if verdict.scope is None else f"{measure}.{verdict.scope}"
    return LimitCase(
        table=table.name, where=where, name=name, title=title, met=verdict.met, text=text
    )


def _shared_number(part: ReportPart, value: Value | None) -> str:
    """A number of shareable JSON: rounded, or withheld."""
    if value is None or value.value is None:
        return part.texts("words.withheld")
    number = value_with_unit(part, value.id, value.value, value.unit)
    return part.texts("pipeline.rounded", number=number)


def junit(result: Data, policy: Path | None = None) -> str:
    """The limits as test cases, a suite per table: breached fails, undecided is an error.

    Only what Jenkins' schema has: its importer refuses the rest.
    """
    texts = read_texts(None)
    cases = limit_cases(result, texts)
    facts = _facts(result)
    if policy is not None:
        facts["policy"] = PolicyPlaces.of(policy).path
    root = ElementTree.Element("testsuites", {"name": "sievert", **_tally(cases)})
    for table in dict.fromkeys(case.table for case in cases):
        here = [case for case in cases if case.table == table]
        suite = ElementTree.SubElement(root, "testsuite", {"name": table, **_tally(here)})
        properties = ElementTree.SubElement(suite, "properties")
        for name, value in facts.items():
            ElementTree.SubElement(properties, "property", {"name": name, "value": value})
        for case in here:
            traits = {"classname": case.where, "name": case.name, "time": "0"}
            entry = ElementTree.SubElement(suite, "testcase", traits)
            if case.met is not True:
                state = STATES[case.met]
                traits = {"message": case.text, "type": texts(STATE_WORDS[state])}
                ElementTree.SubElement(entry, JUNIT[state], traits).text = case.text
            else:
                ElementTree.SubElement(entry, "system-out").text = case.text
    ElementTree.indent(root, " ")
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{OUR_PAGE.decode()}\n{body}\n'


def _tally(cases: Sequence[LimitCase]) -> dict[str, str]:
    """Count the cases, and the ones that are not met."""
    failures = sum(case.met is False for case in cases)
    errors = sum(case.met is None for case in cases)
    counts = {"tests": len(cases), "failures": failures, "errors": errors}
    return {name: str(count) for name, count in counts.items()} | {"time": "0"}


def _facts(result: Data) -> dict[str, str]:
    """Describe a file of cases: the version that wrote it, and who may see it."""
    shared = "shared" in result["table"]
    return {"sievert": __version__, "for": "shareable" if shared else "internal"}


def sarif(result: Data, policy: Path | None = None) -> str:
    """The limits that are not met as findings of SARIF 2.1.0; every limit is a rule."""
    texts = read_texts(None)
    cases = limit_cases(result, texts)
    places = PolicyPlaces.of(policy) if policy else None
    rules = {case.rule: _rule(texts, case) for case in cases}
    grounds = [
        {
            "table": table.name,
            "restsOn": [*basis_texts(texts, table.policy, table.part.writer.name)],
        }
        for table in _tables(result, texts)
        if table.policy is not None
    ]
    run = {
        "properties": {"verdicts": grounds},
        "tool": {"driver": {"name": "Sievert", "version": __version__, "rules": [*rules.values()]}},
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "unicodeCodePoints",
        "results": [
            {
                "ruleId": case.rule,
                "ruleIndex": [*rules].index(case.rule),
                "kind": "fail",
                "level": "error",
                "message": {"text": f"{case.table}: {case.text}"},
                "locations": [_location(case, places)],
                "partialFingerprints": {"limit/v1": f"{case.table}/{case.where}/{case.name}"},
                "properties": {"verdict": texts(STATE_WORDS[STATES[case.met]])},
            }
            for case in cases
            if case.met is not True
        ],
    }
    facts = {**_facts(result), "limits": len(cases)}
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run], "properties": facts}
    return json.dumps(log, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _rule(texts: Texts, case: LimitCase) -> dict[str, Any]:
    title = measure_title(texts, case.limit) if case.where != WHOLE else case.title
    if case.limit != case.name:
        title = texts("limits_table.of_suppressed", measure=title)
    rule: dict[str, Any] = {"id": case.rule, "shortDescription": {"text": title}}
    reading = texts.get(f"measures.{case.limit}.reading", "")
    if reading:
        rule["fullDescription"] = {"text": reading}
    return rule


def _location(case: LimitCase, places: PolicyPlaces | None) -> dict[str, Any]:
    name = f"{case.where}.{case.name}"
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": name}]}
    if places is not None:
        region = {"startLine": places.line(case)}
        location["physicalLocation"] = {"artifactLocation": {"uri": places.uri}, "region": region}
    return location
