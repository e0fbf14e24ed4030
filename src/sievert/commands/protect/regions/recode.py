"""`--how regions`: boxes of labels that meet every limit of a policy which can be sought."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

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
from sievert.losses.loss import combination_codes
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
    makers = [
        partial(_release, table, settings, combined.in_classes(pieces, settings.seed, gone))
        for pieces, gone in RegionSearch(combined, weights).candidates()
    ]
    first, *others = makers
    return replace(first(), instead=others[0] if others else None)


def _release(
    table: RecordTable, settings: ProtectSettings, recoded: ClassRecoding
) -> RecordRelease:
    """The release of records in regions, with what is lost and what an attacker learns."""
    return RecordRelease(
        columns=recoded.file_columns,
        loss=recoded.losses(settings.weights or {}).to_dict(),
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
        self.met = False  # whether regions were found that meet every limit that is sought
        self._parts: dict[str, Ints] = {}
        for secret in combined.secrets:
            parts = self._parts_of(secret)
            if parts is not None and secret.name is not None:
                self._parts[secret.name] = parts

    def candidates(self) -> list[tuple[Pieces, Ints]]:
        """The regions to release and those to release instead: classes, and suppressed classes.

        The classes of the best full-domain release are a candidate. They come first if they lose
        less, and second if the regions may breach a limit that is not sought. Where no regions meet
        all limits that are sought, the first candidate keeps the rules for single classes, or is
        one class.
        """
        found = self._best()
        levels = self.combined.table.full_domain()
        whole = None if levels is None else self._of_levels(levels)
        if found is None:
            owner = np.zeros(len(self.combined.codes), dtype=np.int64)
            none = np.zeros(1, dtype=bool)
            found = Regions(owner=owner, gone=none, loss=math.inf, suppressed=0)
        chosen = [found] if whole is None else [found, whole]
        if whole is not None and (whole.loss < found.loss or not self.met):
            chosen = [whole]
        return [
            (
                Pieces(
                    combination=np.arange(len(each.owner)),
                    amount=self.combined.counts.copy(),
                    owner=each.owner,
                ),
                np.flatnonzero(each.gone),
            )
            for each in chosen
        ]

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
                    self.met = True
                    return regions
                less = {m: MARGIN * float(e) for m, e in enumerate(excess) if e > 0}
                bounded = bounded.tightened(less)
                if not holds:
                    rules = _stricter(released.rules, 1.0 - STRICTER * (attempt + 1))
                    bounded = replace(bounded, rules=rules)
        free = demands.sums._replace(bounds=np.full(len(demands.sums.bounds), np.inf))
        return find_regions(self._problem(replace(demands, sums=free), 0))

    def _of_levels(self, levels: Mapping[str, int]) -> Regions:
        """The classes of a full-domain release, in which those that break a rule are suppressed."""
        combined = self.combined
        labels = []
        loss = np.zeros(len(combined.codes))
        for j, column in enumerate(combined.columns):
            level = min(levels[column.name], len(column.first) - 1)
            own = combined.codes[:, j]
            labels.append(column.first[level, own])
            width = column.last[level, own] - column.first[level, own]
            loss += self._columns.scale[j] * width
        owner = combination_codes(labels)
        demands = self._demands(combined.secrets, combined.counts)
        gone = breaks_rules(demands, owner)
        suppressed = gone[owner]
        counts = combined.counts
        return Regions(
            owner=owner,
            gone=gone,
            loss=float((counts * np.where(suppressed, 1.0, loss)).sum()),
            suppressed=int(counts[suppressed].sum()),
        )

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


def _class_tallies(demands: Demands, owner: Ints) -> Iterator[tuple[int, int, Ints]]:
    """Go through the classes: the number, the records and the tally of each."""
    cells = demands.cells
    order = np.argsort(owner, kind="stable")
    ends = np.searchsorted(owner[order], np.arange(int(owner.max()) + 2))
    for number in range(len(ends) - 1):
        tally = np.zeros(demands.tally, dtype=np.int64)
        size = 0
        for c in order[ends[number] : ends[number + 1]]:
            span = slice(int(cells.starts[c]), int(cells.starts[c + 1]))
            np.add.at(tally, cells.values[span], cells.counts[span])
            size += int(demands.counts[c])
        yield number, size, tally


def _breaks_rule(demands: Demands, size: int, tally: Ints) -> bool:
    """Whether a class has too few records or breaks a rule about a secret."""
    ruled = int(demands.rules.begins[-1])
    return size < demands.k or (ruled > 0 and slack(demands.rules, tally[:ruled]) > 0)


def breaks_rules(demands: Demands, owner: Ints) -> Bools:
    """Which classes have too few records or break a rule about a secret."""
    every = _class_tallies(demands, owner)
    return np.array([_breaks_rule(demands, size, tally) for _, size, tally in every])


def _excess(demands: Demands, regions: Regions) -> tuple[Floats, bool]:
    """How far the released classes are beyond each sum, and whether all keep their rules."""
    totals = np.zeros(len(demands.sums.bounds))
    added = np.zeros(len(demands.sums.bounds))
    holds = True
    for number, size, tally in _class_tallies(demands, regions.owner):
        if regions.gone[number]:
            continue
        if _breaks_rule(demands, size, tally):
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
