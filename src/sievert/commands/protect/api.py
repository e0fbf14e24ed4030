"""The public function `protect`: from a table and a policy to a release that meets it.

It has one keyword per option of the command, so that editors and `help` show them all.
"""

import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from sievert import files
from sievert.commands._common import (
    PolicySource,
    Reading,
    check_known,
    describe_input,
    requested_roles,
)
from sievert.commands._measuring import MeasureSettings
from sievert.commands._release_files import release_kind, write_release
from sievert.commands.protect.check import confirm
from sievert.commands.protect.manifest import manifest
from sievert.commands.protect.problem import SearchSettings
from sievert.commands.protect.result import Protected
from sievert.commands.protect.run import Protection, find_protection, release_columns
from sievert.counts.questions import Questions
from sievert.errors import require
from sievert.hierarchies import Hierarchy
from sievert.methods.full_domain import LOSSES
from sievert.policy import Policy, to_tables
from sievert.roles import Roles
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions
from sievert.sources.table import Table

__all__ = ["Protected", "protect"]
SUPPRESS = 0.02  # of the records, unless the policy or the caller says otherwise


# The public function: its keywords are the options of the command, its docstring their reference.
def protect(
    data: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    policy: PolicySource,
    out: str | os.PathLike[str] | None = None,
    suppress: float | None = None,
    loss: str = "generalization_loss",
    weights: Mapping[str, float] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    levels: Mapping[str, int] | None = None,
    keep: Iterable[str] = (),
    drop: bool = False,
    seconds: float | None = None,
    person: str | None = None,
    orders: Mapping[str, Iterable[str]] | None = None,
    partitions: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    missing: str = "value",
    verify: bool = False,
    force: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> Protected:
    """Find the recoding of least loss whose release meets a policy, and write that release.

    Every quasi-identifier is brought to one level of its hierarchy (full-domain recoding); records
    in classes that still break a rule have `*` in all of them. The search is exact. The release
    holds the quasi-identifiers and the secrets only, and is read back and assessed in a process of
    its own before it takes its place.

    Parameters
    ----------
    data
        The original table: a path, a frame, a dict of lists.
    quasi, sensitive, identifier, policy
        The roles of the columns, and the policy that the release has to meet.
    out
        Where to write the release (.csv or .parquet); beside it a manifest, `<out>.json`.
    suppress
        The largest share of records that may be suppressed: as [protect] in the policy says, else
        0.02.
    loss
        What is minimised: generalization_loss (its geometric form, as ARX has it), arithmetic_loss,
        certainty_penalty, entropy, discernability or bits.
    weights
        How much each quasi-identifier counts in the loss; 1 unless given.
    hierarchies
        Of quasi-identifiers: `interval:5,10`, `quantile:16,8,4`, `date:month,year`, a file, a tree
        (docs/protect.md has them all); proposed where none is given. Of secrets: for hierarchical
        t-closeness.
    levels
        A recoding that is given, column by column: nothing is searched.
    keep
        Other columns that the release holds.
    drop
        Leave suppressed records out of the release.
    seconds
        When to stop the search; the result then tells how much better a recoding could be.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> table = {"age": ["27", "29", "38", "31"] * 5, "ill": ["flu", "cold"] * 10}
    >>> rules = {"roles": {"rows_are_people": True}, "limits": {"k_anonymity": {"min": 6}}}
    >>> found = protect(table, "age", "ill", policy=rules, hierarchies={"age": "interval:5,10"})
    >>> found.met, found.levels
    (True, {'age': 2})
    """
    requested = requested_roles(policy, quasi, sensitive, identifier, person=person)
    check_known("loss", loss, LOSSES)
    own = requested.policy if isinstance(requested.policy, Policy) else None
    require(own is not None, "a release is made for a policy", hint="--policy FILE")
    assert own is not None
    share = own.protect.suppress if suppress is None else suppress
    share = SUPPRESS if share is None else share
    require(0 <= share < 1, "the share of suppressed records is from 0 to below 1")
    settings = SearchSettings(share, loss, weights=weights, seconds=seconds)
    trees = {**own.hierarchies, **(hierarchies or {})}
    measuring = MeasureSettings(
        trees, dict(orders or {}), dict(partitions or {}), dict(parameters or {})
    ).with_policy(own)
    kind = None if out is None else release_kind(out)
    beside = None if out is None else Path(out).with_name(f"{Path(out).name}.json")
    reading = Reading(watch, verify=verify, **source)
    inputs = [data, policy, *trees.values()]
    kept = tuple(keep)
    try:
        with (
            files.write_whole(beside, sources=inputs, force=force) as manifest_file,
            files.write_whole(out, sources=inputs, force=force) as target,
            reading(data, outputs=[target] if target else []) as (table, questions),
        ):
            for column in kept:
                check_known("--keep: column", column, questions.columns)
            protection = find_protection(
                questions, requested, measuring, settings, levels, missing, reading.clock
            )
            result = _result(protection, questions, describe_input(table, questions, missing))
            if target is None or manifest_file is None or protection.judgement.met is not True:
                raise _NothingIsWritten(result)
            reading.clock("writing the release", questions)
            columns, suppressed = release_columns(questions, protection, kept)
            if drop:
                columns = [c.only(~suppressed) for c in columns]
            csv: dict[str, Any] = {"delimiter": table.delimiter or ",", "header": table.header}
            with files.name_output(Path(str(out))):
                write_release(
                    target, str(kind), columns, questions, **(csv if table.kind == "csv" else {})
                )
            reading.clock("checking the release", questions)
            names = [c.name for c in columns]
            options = _release_reading(source, table, str(kind), measuring, protection.roles)
            confirm(target, to_tables(protection.policy, names), options)
            result = replace(result, released=True, dropped_columns=_dropped(questions, names))
            content = json.dumps(manifest(result, target, share, names), indent=1, sort_keys=True)
            manifest_file.write_text(f"{content}\n", encoding="utf-8")
    except _NothingIsWritten as stop:
        result = stop.result
    return replace(result, **reading.clock.stop())


class _NothingIsWritten(Exception):  # noqa: N818
    """There is a result, and no release: what was begun to be written is removed."""

    def __init__(self, result: Protected) -> None:
        super().__init__()
        self.result = result


def _result(protection: Protection, questions: Questions, table: Mapping[str, Any]) -> Protected:
    settings, roles = protection.problem.settings, protection.roles
    return Protected(
        table,
        roles,
        "full",
        settings.loss,
        protection.columns,
        protection.recoding,
        protection.judgement,
        int(settings.suppress * questions.records),
        released=False,
        unmet=protection.unmet,
        dropped_columns=_dropped(questions, roles.measured_columns),
        warnings=tuple(protection.notes),
    )


def _dropped(questions: Questions, kept: Collection[str]) -> tuple[str, ...]:
    """The columns that the release does not hold."""
    return tuple(c for c in questions.columns if c not in kept)


def _release_reading(
    source: Mapping[str, Any], table: Table, kind: str, measuring: MeasureSettings, roles: Roles
) -> dict[str, Any]:
    """How the release is read back: its secrets as those of the original."""
    options: dict[str, Any] = {
        "quasi": list(roles.quasi),
        "sensitive": list(roles.sensitive),
        "orders": {c: list(order) for c, order in measuring.orders.items()},
        "hierarchies": {
            s: _plain_hierarchy(tree)
            for s, tree in measuring.hierarchies.items()
            if s in roles.sensitive
        },
        "parameters": dict(measuring.parameters),
    }
    if kind == "csv":
        types = {c: t for c, t in (source.get("types") or {}).items() if c in roles.sensitive}
        like_the_input = table.kind == "csv"
        options["types"] = types or None
        options["delimiter"] = (table.delimiter if like_the_input else None) or ","
        options["header"] = table.header if like_the_input else True
    return options


def _plain_hierarchy(tree: Any) -> Any:
    """A hierarchy as JSON has it: a text, the labels of every value, or a tree."""
    labels = tree.labels if isinstance(tree, Hierarchy) else tree
    return dict(labels) if isinstance(labels, Mapping) else str(tree)
