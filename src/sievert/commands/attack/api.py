"""The public function `attack`.

It has one keyword per option of the command, so that editors and `help` show them all.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from sievert.attacks.reasoning.model import ReasoningSettings, Weights
from sievert.commands.attack.other_tables import attack_with_original, attack_with_register
from sievert.commands.attack.reasoning import Reasoner
from sievert.commands.attack.result import Attacks
from sievert.commands.attack.run import (
    AttackRun,
    AttackSettings,
    read_release,
    read_secrets,
    write_beliefs,
)
from sievert.errors import require
from sievert.formatting.remarks import Remark
from sievert.measurement.table_measures import MeasureSettings
from sievert.request.requested import LARGE, PolicySource, Reading, requested_roles
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions

BOXES = ("black_box", "grey_box", "white_box", "linkage")


def attack(
    release: Any,
    original: Any = None,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    person: str | None = None,
    register: Any = None,
    key: str | None = None,
    paired: bool = False,
    sensitive_table: Any = None,
    group: str | None = None,
    reasoning: bool = True,
    likelihood: str = "product",
    alpha: Weights = 1.0,
    beta: Weights = 1.0,
    domain: str | Mapping[str, Any] = "cross",
    method: str = "auto",
    chains: int | None = None,
    sweeps: int | None = None,
    seed: int = 0,
    records: str | os.PathLike[str] | None = None,
    force: bool = False,
    value: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    partitions: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    policy: PolicySource = None,
    show_values: bool = False,
    missing: str = "value",
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> Attacks:
    """Attack a release as somebody would who reasons, has a register, or the original.

    Parameters
    ----------
    release
        The released table: a path, a frame, a dict of lists; or two of them, as Anatomy makes
        them: people with their group, groups with their secrets.
    original
        The table that the release was made of: do released values give the original ones away, and
        is somebody right who reasons?
    quasi, sensitive, identifier
        Columns an outsider could know; secrets; columns that are dropped before release.
    person
        The column whose values tell people apart, where a person may have several rows: not
        defined here, and refused where people have several.
    register
        A table of outsiders that shares quasi-identifiers with the release: who are the candidates?
    key
        A column that tells people apart, the same in all tables. Without it, the release needs the
        pairing file that `protect` wrote, beside it; or the original must have its records in the
        order of the release, and the tables must show that it has.
    paired
        Say that the original has its records in the order of the release, where the tables cannot
        show it. Where they show that it is not so, this is refused.
    sensitive_table, group
        Of a release in two tables the second, and the column that joins them. With a group but
        without a second table, who has which secret is taken to be unknown within a group.
    reasoning
        Whether somebody reasons about the secrets, by Bayes' rule.
    likelihood
        "product": columns are independent given the secret; "saturated": every combination of
        values is a symbol of its own.
    alpha, beta
        Weights before the release is seen: of each secret, and of each value given the secret; a
        number, or a mapping (of columns, of secrets, of values).
    domain
        What values columns may have: "cross" (hierarchies and the release say), "observed" (those
        of the original), or a mapping of columns to lists, files or "LOW..HIGH".
    method, chains, sweeps, seed
        "auto" solves in closed form or counts all tables where it can, else samples ("gibbs") with
        so many chains (4, or 8 for a release in two tables), each of at most so many sweeps.
    records
        Write one row a record to this .csv or .parquet file: of the original what is believed of
        its secret, and whether it is at risk; of the release, without the original, what those
        believe whose values fit.
    value
        Of each secret the value whose rise in a class matters, such as ``{"disease": "HIV"}``.
    hierarchies
        How values were generalised, and how those of a secret are merged by meaning: a `Hierarchy`,
        "interval:5,10,20", a file, a tree.
    partitions
        How values of a secret are merged by meaning: parts and their values.
    policy
        A `Policy`, a TOML file, or its content as a dict: its roles and partitions are used.
    show_values
        Name values of the data in the result.
    missing
        What a missing quasi-identifier is: a "value" of its own, a "wildcard" that matches anything
        (there are then no classes, and only register and original are looked at), a reason to
        "drop" the record, or an "error".
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp. The types and
        the engine are those of the release.

    >>> release = {"age": ["2*", "2*", "3*", "3*"], "disease": ["flu", "flu", "flu", "hiv"]}
    >>> register = {"name": ["Ann", "Bob"], "age": ["22", "35"]}
    >>> ages = {"22": ["2*"], "25": ["2*"], "35": ["3*"]}
    >>> tables = {"register": register, "hierarchies": {"age": ages}}
    >>> result = attack(release, quasi="age", sensitive="disease", **tables)
    >>> result["identity"]["grey_box"].numbers["candidates"].value
    2
    >>> round(result.beliefs["35"]["attacker"]["hiv"], 6)
    0.5
    """
    requested = requested_roles(policy, quasi, sensitive, identifier, person=person)
    parts = {**(requested.policy.partitions if requested.policy else {}), **(partitions or {})}
    require(
        key is None or register is not None or original is not None,
        "a key links tables",
        hint="--register FILE or --original FILE",
    )
    require(
        not paired or original is not None,
        "--paired is about a release and its original",
        hint="--original FILE",
    )
    if isinstance(release, tuple):
        require(
            len(release) == 2 and sensitive_table is None,
            "a release has one table or two",
            hint="(people, secrets)",
        )
        release, sensitive_table = release
    require(records is None or reasoning, "--records tells what somebody believes who reasons")
    thinking = ReasoningSettings(
        likelihood=likelihood,
        alpha=alpha,
        beta=beta,
        domain=domain,
        method=method,
        chains=chains,
        sweeps=sweeps,
        seed=seed,
    )
    thinking.check()
    grouped = group is not None or sensitive_table is not None
    trees = MeasureSettings(hierarchies or {}).with_policy(requested.policy).hierarchies
    settings = AttackSettings(
        hierarchies=trees,
        partitions=parts,
        named=value or {},
        key=key,
        paired=paired,
        missing=missing,
        show_values=show_values,
        as_spelt=requested.calls_distinct(key),
    )
    notes, reasoner = list[Remark](), None
    if reasoning or grouped:
        reasoner = Reasoner(
            thinking,
            group,
            settings.hierarchies,
            missing,
            source.get("threads"),
            source.get("timeout"),
            notes.append,
            required=thinking != ReasoningSettings(seed=seed) or original is not None or grouped,
        )
    run = AttackRun(settings, Reading(watch, LARGE), source, reasoner, notes)
    attacked = read_release(
        run,
        release,
        requested,
        read_secrets(run, sensitive_table, release, requested),
        verify=verify,
        ordered=original is not None,
        listed=records is not None and original is None,
    )
    boxes, pairing = dict(attacked.attacks["identity"]), None
    if original is not None:
        white_boxes, attacked, pairing = attack_with_original(run, attacked, original)
        boxes |= white_boxes
    if register is not None:
        boxes["grey_box"] = attack_with_register(run, attacked, register)
    beliefs = {} if reasoner is None else reasoner.reason(run.clock)
    if records is not None:
        inputs = [release, sensitive_table, original, register, policy]
        write_beliefs(run, beliefs, Path(records), inputs, force)
    attacks = {**attacked.attacks, "identity": {b: boxes[b] for b in BOXES if b in boxes}}
    reasoned = {s: each.attack(show=show_values) for s, each in beliefs.items()}
    if reasoner is not None and (reasoned := {**reasoned, **reasoner.withheld}):
        attacks["reasoning"] = reasoned
    return Attacks(
        table=attacked.description,
        roles=replace(attacked.roles, sensitive=attacked.hidden or attacked.roles.sensitive),
        attacks=attacks,
        reasoning=beliefs,
        pairing=pairing,
        warnings=tuple(run.notes),
        unassessed=attacked.unassessed,
        **run.clock.stop(),
    )
