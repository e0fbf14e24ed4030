"""The hierarchy of one column: the one that is given, checked, or a proposal."""

from typing import Any

from sievert.commands.hierarchies.result import GIVEN, ProposedColumn
from sievert.counts.questions import Questions
from sievert.hierarchies import propose, to_hierarchy


def propose_column(questions: Questions, name: str, given: Any) -> ProposedColumn:
    """A hierarchy for the values of a column, and how many labels there are on its levels."""
    counts = questions.cube((name,)).value_counts(0)
    if given is None:
        proposal = propose(counts, name)
        given, reason, tree = proposal.text, proposal.reason, proposal.hierarchy
    else:
        reason, tree = GIVEN, to_hierarchy(given, counts, name)
    if tree is None:
        return ProposedColumn(given, reason, len(counts), (), None)
    tree.require(counts, name)
    tree = tree.with_root()
    levels = zip(*map(tree.labels.__getitem__, counts), strict=True)
    return ProposedColumn(given, reason, len(counts), tuple(len({*each}) for each in levels), tree)
