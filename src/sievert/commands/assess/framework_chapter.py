"""The chapter on a regulator's framework: which number answers which criterion, and a record."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sievert.commands.assess.frameworks import CriterionNumber, FrameworkEvidence
from sievert.commands.assess.result import Assessment
from sievert.report.limits import (
    NOTHING,
    STATE_WORDS,
    STATES,
    bound_text,
    limited_row,
    limits_of,
    value_with_unit,
)
from sievert.report.numbers import measure_title
from sievert.report.page import Block, BulletList, Cell, Chapter, Grid, Link, Paragraph, make_grid
from sievert.report.parts import ReportPart

HEAD = (
    *("frameworks.head_criterion", "frameworks.head_number"),
    *("frameworks.head_value", "frameworks.head_threshold"),
)
WITHIN = {True: "frameworks.within", False: "frameworks.above", None: "frameworks.open"}


@dataclass(frozen=True)
class SavedEvidence:
    """The evidence in the JSON of an assessment, which is made with it."""

    evidence: FrameworkEvidence | None  # None where no framework was named

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SavedEvidence":
        """Read the evidence back from the JSON of an assessment."""
        evidence = data.get("framework")
        return cls(None if evidence is None else FrameworkEvidence.from_dict(evidence))


def framework_chapter(part: ReportPart) -> Iterator[Chapter]:
    """What a framework asks, answered; nothing where no framework was named."""
    evidence = part.read(SavedEvidence).evidence
    if evidence is None:
        return
    texts = part.texts
    name = evidence.id
    known = texts("frameworks.read" if evidence.source_read else "frameworks.second_hand")
    unanswered = (texts(f"frameworks.{name}.no_{each}") for each in evidence.unanswered)
    blocks: tuple[Block | Chapter, ...] = (
        Paragraph(texts(f"frameworks.{name}.lead")),
        _criteria(part, evidence),
        BulletList(tuple(texts(f"frameworks.{name}.{each.id}_text") for each in evidence.criteria)),
        Chapter(
            title=texts("frameworks.unanswered"),
            anchor=part.anchor("framework-unanswered"),
            blocks=(BulletList(tuple(unanswered)),),
        ),
        _record(part, evidence),
        Paragraph(
            texts("frameworks.source", source=texts(f"frameworks.{name}.source"), known=known),
            "note",
        ),
        Paragraph(texts("frameworks.no_gate"), "note"),
    )
    title = texts("frameworks.title", name=texts(f"frameworks.{name}.name"))
    yield Chapter(
        title=title, anchor=part.anchor("framework"), blocks=blocks, topic=texts("frameworks.topic")
    )


def _criteria(part: ReportPart, evidence: FrameworkEvidence) -> Grid:
    """One row per number, under the criterion that it answers."""
    texts = part.texts
    name = evidence.id
    rows: list[tuple[Cell, ...]] = []
    for criterion in evidence.criteria:
        title = texts(f"frameworks.{name}.{criterion.id}")
        if not criterion.numbers:
            rows.append((title, texts("frameworks.no_number"), NOTHING, NOTHING))
        for at, number in enumerate(criterion.numbers):
            rows.append(("" if at else title, *_number(part, number)))
    heads = [texts(key) for key in HEAD]
    return make_grid(texts("frameworks.table"), heads, rows, (2, 3))


def _number(part: ReportPart, number: CriterionNumber) -> tuple[Cell, str, str]:
    texts = part.texts
    measure = number.measure
    secret = number.where.partition(".")[2]
    title = measure_title(texts, measure)
    if secret:
        title = texts("frameworks.of_secret", title=title, secret=part.writer.name(secret))
    result = part.read(Assessment)
    values = result.inference[secret] if secret else result.reidentification
    shown = NOTHING
    if number.value is not None:
        shown = value_with_unit(part, measure, number.value, values[measure].unit)
    for verdict in limits_of(result.policy):  # the digits that tell on which side of a limit it is
        same = (verdict.where, verdict.measure) == (number.where, measure)
        if same and verdict.scope == number.scope:
            shown = limited_row(part, values, verdict).value
    threshold = texts("frameworks.none_named")
    if number.max is not None:
        most = bound_text(measure, number.max)
        threshold = texts(WITHIN[number.within], most=most)
    return Link(title, f"def-{measure}"), shown, threshold


def _record(part: ReportPart, evidence: FrameworkEvidence) -> Grid:
    """What an output checker files: the tool, the input, the policy."""
    texts = part.texts
    record = evidence.record
    absent = texts("frameworks.absent")
    verdict = texts(STATE_WORDS[STATES[record.met]])
    rows = {
        "frameworks.record_tool": f"Sievert {record.version}",
        "frameworks.record_input": record.input_sha256 or absent,
        "frameworks.record_policy": (part.writer.file(record.policy) if record.policy else absent),
        "frameworks.record_policy_sha256": record.policy_sha256 or absent,
        "frameworks.record_verdict": absent if part.read(Assessment).policy is None else verdict,
    }
    heads = (texts("frameworks.head_item"), texts("frameworks.head_entry"))
    cells = [(texts(key), value) for key, value in rows.items()]
    return make_grid(texts("frameworks.record"), heads, cells, ())
