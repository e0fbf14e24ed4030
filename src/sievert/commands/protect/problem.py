"""A table and a policy as a search: combinations, columns on their levels, rules for classes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from sievert.arrays import Ints
from sievert.attacks.attack import to_hierarchy
from sievert.commands._clock import Clock
from sievert.commands._combinations import CombinationCounts
from sievert.commands._measuring import MeasureSettings, TableMeasures
from sievert.counts.cells import Suppression
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.counts.recoded import RecodedQuestions, type_order
from sievert.counts.secret_counts import order_values
from sievert.hierarchies import ROOT, Hierarchy
from sievert.methods.full_domain import (
    FullDomainRecoding,
    LevelledColumn,
    Search,
    SecretCells,
)
from sievert.methods.full_domain.rules import secret_rules, size_rule
from sievert.policy import Policy, Verdict, judge
from sievert.roles import Roles
from sievert.session import no_progress


@dataclass(frozen=True)
class SearchSettings:
    """What is minimised, and what may be given up for it."""

    suppress: float = 0.0  # the share of records that may be suppressed
    loss: str = "generalization_loss"
    secret: str | None = None  # whose bits are counted, for the loss "bits"
    weights: Mapping[str, float] | None = None
    seconds: float | None = None


class ProtectionProblem:
    """The combinations of a table, and everything that the search asks of them."""

    def __init__(
        self,
        questions: Questions,
        roles: Roles,
        combinations: CombinationCounts,
        measuring: MeasureSettings,
        hierarchies: Mapping[str, Hierarchy | None],
        settings: SearchSettings,
    ) -> None:
        self.questions, self.roles, self.combinations = questions, roles, combinations
        self.measuring, self.settings = measuring, settings
        self.columns, self.numbers = [], []
        classes = combinations.classes
        for at, name in enumerate(roles.quasi):
            present = np.flatnonzero(classes.totals(at))
            texts = [classes.values[at][code] for code in present]
            column, numbers = LevelledColumn.of_values(name, texts, hierarchies.get(name))
            number_of = np.zeros(len(classes.values[at]), dtype=np.int64)
            number_of[present] = numbers
            self.columns.append(column)
            self.numbers.append(number_of)

    @cached_property
    def codes(self) -> Ints:
        """The number of the value of every combination in every column."""
        pairs = zip(self.numbers, self.combinations.classes.codes, strict=True)
        return np.stack([number_of[codes] for number_of, codes in pairs], axis=1)

    def search(self, policy: Policy) -> Search:
        """The search for a recoding that meets a policy."""
        share = Fraction(repr(float(self.settings.suppress)))
        weights = self.settings.weights or {}
        return Search(
            self.columns,
            self.codes,
            self.combinations.classes.counts,
            [self._secret_cells(s, policy) for s in self.roles.sensitive],
            k=size_rule({**policy.everywhere, **policy.reidentification}),
            suppress=math.floor(share * self.combinations.records),
            loss=self.settings.loss,
            secret=self.settings.secret or next(iter(self.roles.sensitive), None),
            weights=[float(weights.get(c, 1.0)) for c in self.roles.quasi],
        )

    def _secret_cells(self, secret: str, policy: Policy) -> SecretCells:
        """The cells of a secret, its values numbered in their order, where it has one."""
        cube = self.combinations.secrets[secret]
        counted = cube.totals(len(cube.columns) - 1)
        present = [t for t, n in zip(cube.values[-1], counted, strict=True) if n]
        ordered = self._ordered(secret, present)
        values = present if ordered is None else ordered
        number_of = {text: number for number, text in enumerate(values)}
        named = self.measuring.parameters.get("alpha_k", {}).get("value")
        limits = {**policy.everywhere, **policy.inference.get(secret, {})}
        if ordered is None:
            limits.pop("t_closeness_ordered", None)
        tree = to_hierarchy(
            self.measuring.hierarchies.get(secret), [t for t in values if t is not None]
        )
        if tree is None:
            limits.pop("t_closeness_hierarchical", None)
        numbers = np.array([number_of.get(text, 0) for text in cube.values[-1]], dtype=np.int64)
        return SecretCells(
            secret,
            cube.owner,
            numbers[cube.codes[-1]],
            cube.counts,
            len(values),
            secret_rules(
                limits,
                recursive_l=self.measuring.parameters.get("recursive_c", {}).get("l", 2),
                named=number_of.get(named.get(secret) if isinstance(named, Mapping) else named),
                missing=None in number_of,
            ),
            None if tree is None else _labels_by_level(tree.with_root(), values),
            number_of.get(None, -1),
        )

    def _ordered(self, secret: str, present: Sequence[str | None]) -> list[str | None] | None:
        """The values in their order; None without one, or where some are missing."""
        texts = [text for text in present if text is not None]
        given = self.measuring.orders.get(secret)
        ordered = type_order(texts) if given is None else order_values(secret, [*given], texts)
        return None if ordered is None or len(texts) < len(present) else [*ordered]

    # -- what assess would say of a recoding ---------------------------------------------------

    def verdicts(self, recoding: FullDomainRecoding, policy: Policy) -> tuple[Verdict, ...]:
        """The verdicts on the release, from counts: what `assess` says of its file."""
        gone = recoding.suppresses(self.codes)
        if gone.all():
            return ()
        codes = dict(zip(self.roles.quasi, self._label_codes(recoding), strict=True))
        classes = _recode(self.combinations.classes, codes).select_cells(np.flatnonzero(~gone))
        secrets = {
            s: _recode(cube, codes).select_cells(np.flatnonzero(~gone[cube.owner]))
            for s, cube in self.combinations.secrets.items()
        }
        questions = RecodedQuestions(self.questions, classes, secrets)
        questions.records = classes.records
        questions.suppression = Suppression(ROOT, records=recoding.suppressed_records)
        ids = {m for _, m, _ in policy.every_limit()}
        measures = TableMeasures(questions, self.roles, self.measuring, ids, Clock(no_progress))
        inference = {s: measures.inference(s) for s in self.roles.sensitive}
        return tuple(judge(policy, measures.reidentification(), inference)[0])

    def meets(self, recoding: FullDomainRecoding, policy: Policy) -> bool:
        """Whether the release meets every limit."""
        verdicts = self.verdicts(recoding, policy)
        return bool(verdicts) and all(v.met is True for v in verdicts)

    def _label_codes(self, recoding: FullDomainRecoding) -> list[Ints]:
        """Per column the label of every code of the combinations; the same text, the same code."""
        chosen = zip(self.columns, self.numbers, recoding.levels, strict=True)
        return [column.tables[level][number_of] for column, number_of, level in chosen]


def _recode(cube: Cube, codes: Mapping[str, Ints]) -> Cube:
    columns = [
        codes[name][own].astype(np.uint32) if name in codes else own
        for name, own in zip(cube.columns, cube.codes, strict=True)
    ]
    return replace(cube, codes=tuple(columns))


def _labels_by_level(tree: Hierarchy, values: Sequence[str | None]) -> Ints:
    """The number of the label of every value on each level of a hierarchy, below its root."""
    levels = []
    for level in range(tree.height):
        numbers: dict[str | None, int] = {}
        labels = [None if text is None else tree.at(text, level) for text in values]
        levels.append([numbers.setdefault(label, len(numbers)) for label in labels])
    return np.array(levels, dtype=np.int64)


def without_limit(policy: Policy, table: str, measure: str) -> Policy:
    """The policy without one of its limits."""
    _, _, place = table.partition("limits")
    if not place:
        return policy.model_copy(
            update={"everywhere": {m: x for m, x in policy.everywhere.items() if m != measure}}
        )
    if place == ".reidentification":
        kept = {m: x for m, x in policy.reidentification.items() if m != measure}
        return policy.model_copy(update={"reidentification": kept})
    secret = place.removeprefix(".inference.")
    kept = {m: x for m, x in policy.inference[secret].items() if m != measure}
    return policy.model_copy(update={"inference": {**policy.inference, secret: kept}})
