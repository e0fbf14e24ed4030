"""One run of the attacks on a release: alone, by reasoning, with a register and the original."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sievert import files
from sievert.attacks.attack import Attack
from sievert.attacks.reasoning.result import Reasoning
from sievert.commands.attack.attacked_release import (
    AttackedRelease,
    AttackRun,
    read_release,
    read_secrets,
)
from sievert.commands.attack.other_tables import attack_with_original, attack_with_register
from sievert.commands.attack.reasoning import Reasoner
from sievert.commands.attack.result import Attacks
from sievert.commands.attack.settings import AttackSettings
from sievert.errors import UsageError, require
from sievert.formatting.remarks import Remark
from sievert.measurement.table_measures import MeasureSettings
from sievert.pairing.evidence import Pairing
from sievert.request.requested import LARGE, Reading, RequestedRoles, requested_roles
from sievert.session import Steps, no_progress
from sievert.settings.groups import reader_options

BOXES = ("black_box", "grey_box", "white_box", "linkage")


def run(settings: AttackSettings, watch: Steps = no_progress) -> Attacks:
    """Attack a release as `settings` say; `watch` is told of every step."""
    requested = requested_roles(
        settings.policy,
        settings.quasi,
        settings.sensitive,
        settings.identifier,
        person=settings.person,
    )
    settings.check_work()
    work = _prepare(settings, requested, watch)
    hidden = read_secrets(work, requested)
    attacked = read_release(work, requested, hidden)
    attacked, boxes, pairing = _attack_with_others(work, attacked)
    beliefs = {} if work.reasoner is None else work.reasoner.reason(work.clock)
    if settings.records is not None:
        write_beliefs(work, beliefs, Path(settings.records))
    attacks = {**attacked.attacks, "identity": {b: boxes[b] for b in BOXES if b in boxes}}
    reasoned = {s: each.attack(show=settings.show_values) for s, each in beliefs.items()}
    if work.reasoner is not None:
        reasoned |= work.reasoner.withheld
    if reasoned:
        attacks["reasoning"] = reasoned
    return Attacks(
        table=attacked.description,
        roles=replace(attacked.roles, sensitive=attacked.hidden or attacked.roles.sensitive),
        attacks=attacks,
        reasoning=beliefs,
        pairing=pairing,
        warnings=tuple(work.notes),
        unassessed=attacked.unassessed,
        **work.clock.stop(),
    )


def _prepare(settings: AttackSettings, requested: RequestedRoles, watch: Steps) -> AttackRun:
    """Collect what all attacks need, before a table is read."""
    policy = requested.policy
    measuring = MeasureSettings(hierarchies=settings.hierarchies or {}).with_policy(policy)
    notes: list[Remark] = []
    reasoner = None
    if settings.reasoning or settings.is_grouped:
        reasoner = Reasoner(settings, measuring.hierarchies, notes.append)
    return AttackRun(
        settings=settings,
        hierarchies=measuring.hierarchies,
        partitions={
            **({} if policy is None else policy.partitions),
            **(settings.partitions or {}),
        },
        as_spelt=requested.calls_distinct(settings.key),
        read=Reading(watch, LARGE),
        source=requested.read_as_stated({**reader_options(settings)}),
        reasoner=reasoner,
        notes=notes,
    )


def _attack_with_others(
    work: AttackRun, attacked: AttackedRelease
) -> tuple[AttackedRelease, Mapping[str, Attack], Pairing | None]:
    """Attack identities with the original and with the register, where there are such tables.

    Return the release, which has the keys of the original from then on, the attacks on identities
    by their names, and how release and original were paired.
    """
    settings = work.settings
    boxes = dict(attacked.attacks["identity"])
    pairing = None
    if settings.original is not None:
        with_original, attacked, pairing = attack_with_original(work, attacked, settings.original)
        boxes |= with_original
    if settings.register is not None:
        boxes["grey_box"] = attack_with_register(work, attacked, settings.register)
    return attacked, boxes, pairing


def write_beliefs(work: AttackRun, beliefs: Mapping[str, Reasoning], path: Path) -> None:
    """Write one row per record: what is believed of its secrets."""
    settings = work.settings
    kind = files.record_format(path)
    columns: dict[str, tuple[str, Any]] = {}
    for secret, reasoning in beliefs.items():
        by_record = reasoning.by_record()
        if by_record is None:
            raise UsageError("the source has no order of records: no file can name them")
        prefix = files.escape_formula(secret) if kind == "csv" else secret
        columns["record"] = "BIGINT", range(1, len(next(iter(by_record.values()))[1]) + 1)
        columns |= {f"{prefix}_{name}": column for name, column in by_record.items()}
    require(columns, "nobody has reasoned here: there is no record to tell of")
    inputs = [*settings.tables, settings.original, settings.register, settings.policy]
    with (
        files.write_whole(path, sources=inputs, force=settings.force) as target,
        work.read({"record": ["1"]}, outputs=[target]) as (_, questions),
        files.name_output(path),
    ):
        work.clock("writing records", questions)
        assert target is not None
        questions.write_columns(columns, target, kind)
