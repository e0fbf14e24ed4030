"""One proposal: a table is read, and each quasi-identifier gets a hierarchy, given or proposed."""

from dataclasses import replace
from typing import Any

from sievert import files
from sievert.commands.hierarchies.result import GIVEN, ProposedColumn, ProposedHierarchies
from sievert.commands.hierarchies.settings import HierarchiesSettings
from sievert.counts.questions import Questions
from sievert.hierarchies import propose, to_hierarchy
from sievert.measurement.table_measures import MeasureSettings, check_hierarchies
from sievert.request.requested import LARGE, Reading, requested_roles
from sievert.request.table_description import columns_without_role, describe_input
from sievert.session import Steps, no_progress
from sievert.settings.groups import reader_options


def run(settings: HierarchiesSettings, watch: Steps = no_progress) -> ProposedHierarchies:
    """Propose hierarchies for the columns of a table; `watch` is called at every step."""
    requested = requested_roles(
        settings.policy,
        settings.quasi,
        settings.sensitive,
        settings.identifier,
        person=settings.person,
    )
    measuring = MeasureSettings(hierarchies=settings.hierarchies or {})
    given = measuring.with_policy(requested.policy).hierarchies
    check_hierarchies(given)
    how = requested.read_as_stated({**reader_options(settings)})
    reading = Reading(watch, LARGE, verify=settings.verify, **how)
    with reading(settings.data) as (table, questions):
        roles, notes = requested.assign(questions, people=True)
        dropped, more = requested.prepare(questions, roles, settings.missing)
        reading.clock("looking at the values", questions)
        result = ProposedHierarchies(
            table=describe_input(table, questions, settings.missing, dropped),
            roles=roles,
            columns={
                name: propose_column(questions, name, given.get(name)) for name in roles.quasi
            },
            warnings=(*notes, *more),
            unassessed=columns_without_role(questions, roles),
        )
    if settings.out is not None:
        files.write_text(
            settings.out,
            result.toml(fix=settings.fix),
            sources=[settings.data, settings.policy],
            force=settings.force,
        )
    return replace(result, **reading.clock.stop())


def propose_column(questions: Questions, name: str, given: Any) -> ProposedColumn:
    """Find a hierarchy for the values of a column, and count the labels on its levels.

    The hierarchy that is `given` is checked and kept.
    """
    counts = questions.cube((name,)).value_counts(0)
    if given is None:
        proposal = propose(counts, name)
        given = proposal.text
        reason = proposal.reason
        tree = proposal.hierarchy
    else:
        reason = GIVEN
        tree = to_hierarchy(given, counts, name)
    if tree is None:
        return ProposedColumn(
            given=given, reason=reason, distinct=len(counts), labels=(), hierarchy=None
        )
    tree.require(counts, name)
    tree = tree.with_root()
    levels = zip(*map(tree.labels.__getitem__, counts), strict=True)
    return ProposedColumn(
        given=given,
        reason=reason,
        distinct=len(counts),
        labels=tuple(len({*labels}) for labels in levels),
        hierarchy=tree,
    )
