"""The public function `propose_hierarchies`: one hierarchy per column, with its reason."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Unpack

from sievert import files
from sievert.commands.hierarchies.result import ProposedHierarchies
from sievert.commands.hierarchies.run import propose_column
from sievert.measurement.table_measures import MeasureSettings, check_hierarchies
from sievert.request.requested import LARGE, PolicySource, Reading, requested_roles
from sievert.request.table_description import columns_without_role, describe_input
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions

__all__ = ["ProposedHierarchies", "propose_hierarchies"]


# The public function: its keywords are the options of the command, its docstring their reference.
def propose_hierarchies(
    data: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    policy: PolicySource = None,
    hierarchies: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    fix: bool = False,
    person: str | None = None,
    missing: str = "value",
    verify: bool = False,
    force: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> ProposedHierarchies:
    """Propose a hierarchy for every quasi-identifier, by what its values look like.

    Parameters
    ----------
    data
        The table: a path, a frame, a dict of lists.
    quasi, sensitive, identifier, policy
        The roles of the columns, as for `assess`.
    hierarchies
        Those that are there already, as [hierarchies] of the policy: they are checked against the
        values and kept.
    out
        Write them to this TOML file, as [hierarchies] of a policy.
    fix
        Write them so that other data get the same labels: cuts instead of quantiles, and the values
        themselves for the most frequent ones and for groups of an order.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> table = {"age": [str(n % 63 + 18) for n in range(200)], "sex": ["f", "m"] * 100}
    >>> print(propose_hierarchies(table, ["age", "sex"]).toml().strip())
    [hierarchies]
    "age" = "interval:5,10,20,40"  # 63 different numbers
    "sex" = "*"  # 2 different values
    """
    requested = requested_roles(policy, quasi, sensitive, identifier, person=person)
    given = MeasureSettings(hierarchies or {}).with_policy(requested.policy).hierarchies
    check_hierarchies(given)
    reading = Reading(watch, LARGE, verify=verify, **requested.read_as_stated({**source}))
    with reading(data) as (table, questions):
        roles, notes = requested.assign(questions, people=True)
        dropped, more = requested.prepare(questions, roles, missing)
        reading.clock("looking at the values", questions)
        result = ProposedHierarchies(
            describe_input(table, questions, missing, dropped),
            roles,
            {name: propose_column(questions, name, given.get(name)) for name in roles.quasi},
            warnings=(*notes, *more),
            unassessed=columns_without_role(questions, roles),
        )
    if out is not None:
        files.write_text(out, result.toml(fix=fix), sources=[data, policy], force=force)
    return replace(result, **reading.clock.stop())
