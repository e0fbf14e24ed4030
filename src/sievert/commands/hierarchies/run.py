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
        reason, tree = GIVEN, to_hierarchy(given, counts)
    if tree is None:
        return ProposedColumn(given, reason, len(counts), (), None)
    tree.require(counts, name)
    tree = tree.with_root()
    labels = ({tree.at(value, level) for value in counts} for level in range(1, tree.height + 1))
    return ProposedColumn(given, reason, len(counts), tuple(map(len, labels)), tree)
