"""The limits of a policy on the whole table as arrays: sums over classes, for compiled loops."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.protect.local_recoding.states import SecretRules, secret_rules_arrays
from sievert.measures import BY_ID
from sievert.measures.class_sums import ClassSum, SumForm
from sievert.measures.classes import DEFAULT_BELOW
from sievert.methods.full_domain import SecretCells
from sievert.numerics.acceleration import jit_if_possible
from sievert.policy import Policy

COUNT = int(SumForm.COUNT)
BELOW = int(SumForm.BELOW)
PAIRS = int(SumForm.PAIRS)
ALIKE = int(SumForm.ALIKE)
LARGEST = int(SumForm.LARGEST)
DOUBT = int(SumForm.DOUBT)


class SumArrays(NamedTuple):
    """Sums over classes, one place for each."""

    forms: Ints
    per_record: Floats
    per_named: Floats
    named: Ints
    sizes: Ints
    begins: Ints  # where the values of the secret begin in a tally
    ends: Ints
    missing: Ints  # the place of the missing value that is left out; -1 of none
    bounds: Floats


class Cells(NamedTuple):
    """How often combinations have the values of the secrets: row by row, only what occurs."""

    starts: Ints  # of every combination, and the end
    values: Ints  # place in a tally
    counts: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Demands:
    """What a policy asks of classes: of each of them, and of all together.

    A tally has the values of the secrets with rules, then the values of the secrets with sums.
    """

    k: int
    rules: SecretRules
    sums: SumArrays
    cells: Cells
    counts: Ints  # records of every combination
    tally: int  # places of a tally
    names: tuple[str, ...]  # of every sum its limit, as a policy writes it

    def tightened(self, by: Mapping[int, float]) -> "Demands":
        """The same with some bounds lowered."""
        bounds = self.sums.bounds.copy()
        for at, less in by.items():
            bounds[at] -= less
        return replace(self, sums=self.sums._replace(bounds=bounds))


def demands_of(
    policy: Policy,
    secrets: Sequence[SecretCells],
    counts: Ints,
    *,
    k: int,
    parameters: Mapping[str, Mapping[str, Any]],
    parts: Mapping[str, Ints],
) -> Demands:
    """Make the demands of a policy on the classes of combinations with these `counts`.

    `parts` has, by secret, the number of the part of each value.
    """
    rules = secret_rules_arrays(secrets)
    ruled = [s for s in secrets if s.rules]
    begin = int(rules.begins[-1])
    placed: list[tuple[SecretCells, Ints | None, int]] = [
        (s, None, int(at)) for s, at in zip(ruled, rules.begins, strict=False)
    ]
    sums: list[ClassSum] = []
    spans: list[tuple[int, int, int]] = []
    names: list[str] = []
    ones = np.ones(int(counts.sum()), dtype=np.int64)
    below = parameters.get("records_below", {}).get("k", DEFAULT_BELOW)
    size = int(below) if isinstance(below, int) else max(int(each) for each in below)
    for measure, limit in {**policy.everywhere, **policy.reidentification}.items():
        rule = BY_ID[measure].sum_rule if measure in BY_ID else None
        bound = None if rule is None else getattr(limit, rule.side)
        if rule is None or rule.of_record is None or bound is None:
            continue
        sums.append(rule.of_record(float(bound), ones, size))
        spans.append((0, 0, -1))
        names.append(measure)
    for secret in secrets:
        for measure, own in _secret_sums(policy, secret, parts):
            part_of = parts[secret.name or ""] if measure.endswith(IN_PARTS) else None
            values = secret.values if part_of is None else int(part_of.max()) + 1
            missing = secret.missing if own.known else -1
            sums.append(own)
            spans.append((begin, begin + values, begin + missing if missing >= 0 else -1))
            names.append(measure.removesuffix(IN_PARTS))
            placed.append((secret, part_of, begin))
            begin += values
    return Demands(
        k=k,
        rules=rules,
        sums=_arrays(sums, spans),
        cells=_cells(placed, len(counts)),
        counts=counts,
        tally=begin,
        names=tuple(names),
    )


IN_PARTS = " in parts"


def _secret_sums(
    policy: Policy, secret: SecretCells, parts: Mapping[str, Ints]
) -> Iterator[tuple[str, ClassSum]]:
    """The sums of the limits on one secret, each with its measure."""
    name = secret.name or ""
    totals = secret.totals()
    for measure, limit in {**policy.everywhere, **policy.inference.get(name, {})}.items():
        rule = BY_ID[measure].sum_rule if measure in BY_ID else None
        bound = None if rule is None else getattr(limit, rule.side)
        if rule is None or rule.of_secret is None or bound is None:
            continue
        if rule.in_parts:
            if name in parts:
                merged = np.bincount(parts[name], totals).astype(np.int64)
                yield measure + IN_PARTS, rule.of_secret(float(bound), merged, 0)
            continue
        yield measure, rule.of_secret(float(bound), totals, 0)
        known = secret.known_totals()
        if rule.known and secret.missing >= 0 and known.any():
            own = rule.of_secret(float(bound), known, 0)
            yield measure, ClassSum(**{**vars(own), "known": True})


def _arrays(sums: Sequence[ClassSum], spans: Sequence[tuple[int, int, int]]) -> SumArrays:
    begins = np.array([begin for begin, _, _ in spans], dtype=np.int64)
    named = np.array([s.named for s in sums], dtype=np.int64)
    return SumArrays(
        forms=np.array([int(s.form) for s in sums], dtype=np.int64),
        per_record=np.array([s.per_record for s in sums], dtype=np.float64),
        per_named=np.array([s.per_named for s in sums], dtype=np.float64),
        named=begins + named,
        sizes=np.array([s.size for s in sums], dtype=np.int64),
        begins=begins,
        ends=np.array([end for _, end, _ in spans], dtype=np.int64),
        missing=np.array([missing for _, _, missing in spans], dtype=np.int64),
        bounds=np.array([s.bound for s in sums], dtype=np.float64),
    )


def _cells(placed: Sequence[tuple[SecretCells, Ints | None, int]], combinations: int) -> Cells:
    """The cells of all secrets, by combination."""
    none = np.zeros(0, dtype=np.int64)
    rows = np.concatenate([none, *(s.combination for s, _, _ in placed)])
    values = np.concatenate(
        [
            none,
            *(
                begin + (s.value if part_of is None else part_of[s.value])
                for s, part_of, begin in placed
            ),
        ]
    )
    counts = np.concatenate([none, *(s.counts for s, _, _ in placed)])
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(combinations + 1))
    return Cells(
        starts=starts.astype(np.int64),
        values=values[order].astype(np.int64),
        counts=counts[order].astype(np.int64),
    )


@jit_if_possible
def add_class(sums: SumArrays, size: int, tally: Ints, out: Floats) -> None:
    """Write what a class of `size` records adds to each sum to `out`."""
    for m in range(len(sums.forms)):
        form = sums.forms[m]
        begin = sums.begins[m]
        end = sums.ends[m]
        records = size
        missing = sums.missing[m]
        if missing >= 0:
            records -= tally[missing]
        value = sums.per_record[m] * records
        if form == COUNT:
            value += 1.0
        elif form == BELOW:
            if records < sums.sizes[m]:
                value += records
        elif form == PAIRS:
            value -= float(records) * (records - 1)
        elif form == ALIKE:
            value -= records * np.log2(records)
        elif form == LARGEST:
            most = 0
            for v in range(begin, end):
                if v != missing and tally[v] > most:
                    most = tally[v]
            value += most + sums.per_named[m] * tally[sums.named[m]]
        elif form == DOUBT:
            if records > 0:
                value -= records * np.log2(records)
            for v in range(begin, end):
                if tally[v] > 0:
                    value += tally[v] * np.log2(tally[v])
        out[m] = value
