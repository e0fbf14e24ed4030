"""Several sets of quasi-identifiers of one table, side by side: the worst one decides."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sievert import roles as role
from sievert.commands._common import Clock, RequestedRoles
from sievert.commands.assess.result import Assessment
from sievert.commands.assess.run import AssessmentSettings, assess_table
from sievert.counts.questions import Questions
from sievert.errors import require
from sievert.sources.table import Table

NOT_MET_FIRST = (False, None, True)
RANKED = ("k_anonymity", "unique_records")


def collect_sets(given: Iterable[str | Iterable[str]]) -> list[str | tuple[str, ...]]:
    """The sets as given; iterators, which are read only once, become tuples."""
    require(not isinstance(given, str), "key sets are lists of columns", hint='[["age", "zip"]]')
    sets = [each if isinstance(each, str | tuple) else tuple(each) for each in given]
    require(sets, "no key set given", hint="--key-set age,zip")
    return sets


def assess_key_sets(
    table: Table,
    questions: Questions,
    requested: RequestedRoles,
    given: Sequence[str | tuple[str, ...]],
    settings: AssessmentSettings,
    clock: Clock,
) -> Assessment:
    """The worst of the assessments of each set, with all of them beside it."""
    sets = [role.names(each, questions.columns) for each in given]
    assessments = []
    for number, key_set in enumerate(sets):
        fork, others = questions.fork(), (*sets[:number], *sets[number + 1 :])
        one = replace(requested, given=[key_set, *requested.given[1:]], other_sets=others)
        assessments.append(assess_table(table, fork, one, settings, clock, None))
        fork.forget_counts()
    worst = min(assessments, key=_rank)
    return replace(worst, key_sets=tuple(assessments), **clock.stop())


def _rank(assessment: Assessment) -> tuple[int, float, float]:
    """The worst first: policy not met, then undecided; the smallest k; the most unique people."""
    numbers = assessment.reidentification
    k, unique = (numbers[m].value if m in numbers else None for m in RANKED)
    return NOT_MET_FIRST.index(assessment.met), math.inf if k is None else k, -(unique or 0.0)
