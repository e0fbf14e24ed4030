"""`--how regions`: boxes of labels that meet every limit of a policy which can be sought."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.protect.local import (
    CAUTION,
    MINIMISED,
    measure_reasoning,
)
from sievert.commands.protect.local_recoding.columns import LocalColumn, column_arrays
from sievert.commands.protect.local_recoding.recoding import Pieces
from sievert.commands.protect.local_recoding.slack import slack
from sievert.commands.protect.local_recoding.states import SecretRules
from sievert.commands.protect.method import RecordRelease, RecordTable, check_weights
from sievert.commands.protect.recoded_records import ClassRecoding, CombinedRecords
from sievert.commands.protect.regions.search import RegionProblem, Regions, find_regions
from sievert.commands.protect.regions.sums import Demands, add_class, demands_of
from sievert.commands.protect.settings import ProtectSettings
from sievert.counts.secret_counts import part_labels
from sievert.errors import require
from sievert.methods.full_domain import SecretCells
from sievert.methods.full_domain.rules import CLASS_RULES
from sievert.releases.problem import share_of_records

ATTEMPTS = 6  # searches, each with tighter bounds than the one before
MARGIN = 1.5  # times the excess by which a bound is tightened
STRICTER = 0.01  # of a limit on classes, more with each search


def recode(table: RecordTable, settings: ProtectSettings) -> RecordRelease:
    """Split the combinations into boxes of labels that meet the policy at little loss."""
    require(
        settings.loss in MINIMISED,
        "regions minimise the generalisation loss (arithmetic)",
        hint="without --loss, or --how full",
    )
    quasi = table.roles.quasi
    column_weights = settings.weights or {}
    check_weights("--column-weight", column_weights, quasi)
    columns = [
        LocalColumn.of_values(
            name, table.present_texts(name), table.hierarchies.get(name), sets=False
        )
        for name in quasi
    ]
    weights = [float(column_weights.get(name, 1.0)) for name in quasi]
    combined = CombinedRecords.of_table(table, columns)
    recoded = RegionSearch(combined, weights).recoded(settings.seed)
    return RecordRelease(
        columns=recoded.file_columns,
        loss=recoded.losses(column_weights).to_dict(),
        details={
            "classes": len(recoded.sizes),
            "smallest_class": int(recoded.sizes.min()),
            "cells_changed": recoded.cells_changed(),
            **measure_reasoning(
                table,
                recoded.file_columns,
                recoded.released_class[recoded.owner],
                settings.seed,
                "hierarchy",
            ),
        },
        suppressed=recoded.suppressed,
        holds=recoded.holds(table.suppress),
        notes=(CAUTION,),
        minimised="arithmetic_loss",
    )


class RegionSearch:
    """The search for regions of a table, with bounds that are tightened until the release holds.

    Suppressed records are in no class, and the secret is distributed a little differently without
    them. So a choice that just meets a limit on the table may breach it in the release.
    """

    def __init__(self, combined: CombinedRecords, weights: list[float]) -> None:
        self.combined = combined
        self.allowed = share_of_records(combined.table.suppress, combined.table.records)
        self._columns = column_arrays(combined.columns, weights)
        self._roots = np.array([column.domain - 1 for column in combined.columns])
        self._parts: dict[str, Ints] = {}
        for secret in combined.secrets:
            parts = self._parts_of(secret)
            if parts is not None and secret.name is not None:
                self._parts[secret.name] = parts

    def recoded(self, seed: int) -> ClassRecoding:
        """Give the records the labels of the best regions.

        Where none meet all limits, they are the best ones that keep the rules for single classes,
        or else one class.
        """
        regions = self._best()
        combined = self.combined
        if regions is None:
            owner = np.zeros(len(combined.codes), dtype=np.int64)
            gone = np.zeros(0, dtype=np.int64)
        else:
            owner = regions.owner
            gone = np.flatnonzero(regions.gone)
        pieces = Pieces(
            combination=np.arange(len(owner)), amount=combined.counts.copy(), owner=owner
        )
        return combined.in_classes(pieces, seed, gone)

    def _best(self) -> Regions | None:
        """Search until a release holds; else without the limits on the table."""
        demands = self._demands(self.combined.secrets, self.combined.counts)
        for allowed in dict.fromkeys((self.allowed, 0)):
            bounded = demands
            for attempt in range(ATTEMPTS):
                regions = find_regions(self._problem(bounded, allowed))
                if regions is None:
                    break
                released = self._released_demands(regions)
                excess, holds = _excess(released, regions)
                if holds and not excess.any():
                    return regions
                less = {m: MARGIN * float(e) for m, e in enumerate(excess) if e > 0}
                bounded = bounded.tightened(less)
                if not holds:
                    rules = _stricter(released.rules, 1.0 - STRICTER * (attempt + 1))
                    bounded = replace(bounded, rules=rules)
        free = demands.sums._replace(bounds=np.full(len(demands.sums.bounds), np.inf))
        return find_regions(self._problem(replace(demands, sums=free), 0))

    def _problem(self, demands: Demands, allowed: int) -> RegionProblem:
        return RegionProblem(
            columns=self._columns,
            roots=self._roots,
            codes=np.ascontiguousarray(self.combined.codes),
            counts=self.combined.counts,
            demands=demands,
            allowed=allowed,
        )

    def _demands(self, secrets: Sequence[SecretCells], counts: Ints) -> Demands:
        combined = self.combined
        return demands_of(
            combined.table.policy,
            secrets,
            counts,
            k=combined.k,
            parameters=combined.table.measuring.parameters,
            parts=self._parts,
        )

    def _parts_of(self, secret: SecretCells) -> Ints | None:
        """The number of the part of each value of a secret; None where it has no parts."""
        table = self.combined.table
        name = secret.name or ""
        partition = table.measuring.partitions.get(name)
        if partition is None:
            return None
        members = {part: [str(v) for v in values] for part, values in partition.items()}
        own = table.columns[name]
        labels = part_labels(name, members, [text for text in own.texts if text is not None])
        keys = np.unique(self.combined.combination * len(own.texts) + own.codes)
        parts = np.zeros(secret.values, dtype=np.int64)
        for code, value in zip((keys % len(own.texts)).tolist(), secret.value, strict=True):
            parts[value] = labels[own.texts[code]][0]
        return np.unique(parts, return_inverse=True)[1].astype(np.int64)

    def _released_demands(self, regions: Regions) -> Demands:
        """The demands of the policy on a table without the suppressed records."""
        gone = regions.gone[regions.owner]
        secrets = [_without(secret, gone) for secret in self.combined.secrets]
        return self._demands(secrets, np.where(gone, 0, self.combined.counts))


def _excess(demands: Demands, regions: Regions) -> tuple[Floats, bool]:
    """How far the released classes are beyond each sum, and whether all keep their rules."""
    totals = np.zeros(len(demands.sums.bounds))
    added = np.zeros(len(demands.sums.bounds))
    holds = True
    ruled = int(demands.rules.begins[-1])
    cells = demands.cells
    order = np.argsort(regions.owner, kind="stable")
    ends = np.searchsorted(regions.owner[order], np.arange(len(regions.gone) + 1))
    for number in np.flatnonzero(~regions.gone):
        tally = np.zeros(demands.tally, dtype=np.int64)
        size = 0
        for c in order[ends[number] : ends[number + 1]]:
            span = slice(int(cells.starts[c]), int(cells.starts[c + 1]))
            np.add.at(tally, cells.values[span], cells.counts[span])
            size += int(demands.counts[c])
        if size < demands.k or (ruled and slack(demands.rules, tally[:ruled]) > 0):
            holds = False
        add_class(demands.sums, size, tally, added)
        totals += added
    return np.maximum(0.0, totals - demands.sums.bounds), holds


def _stricter(rules: SecretRules, share: float) -> SecretRules:
    """The rules with a lower limit, where a limit is an upper one."""
    every = list(CLASS_RULES.values())
    upper = np.array([every[number].side == "max" for number in rules.rules.numbers], dtype=bool)
    limits = np.where(upper, rules.rules.limits * share, rules.rules.limits)
    return rules._replace(rules=rules.rules._replace(limits=limits))


def _without(secret: SecretCells, gone: Bools) -> SecretCells:
    """The cells of a secret without those of some combinations."""
    kept = ~gone[secret.combination]
    return replace(
        secret,
        combination=secret.combination[kept],
        value=secret.value[kept],
        counts=secret.counts[kept],
    )
