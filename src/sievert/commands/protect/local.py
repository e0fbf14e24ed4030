"""`--how local` and `suppress`: records with the same value may get different labels."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.commands.protect.local_recoding.columns import LocalColumn
from sievert.commands.protect.method import (
    RecordRelease,
    RecordTable,
    check_weights,
)
from sievert.commands.protect.recoded_records import CombinedRecords
from sievert.commands.protect.settings import ProtectSettings
from sievert.errors import SievertError, require
from sievert.formatting import plural
from sievert.formatting.remarks import Remark, figure
from sievert.hierarchies import ROOT, Hierarchy
from sievert.releases.files import FileColumn

MINIMISED = ("generalization_loss", "arithmetic_loss")
CAUTION = Remark("worked_back")
LABELS = {"hierarchy": Remark("hierarchy"), "sets": Remark("labels_sets")}


def recode(table: RecordTable, settings: ProtectSettings) -> RecordRelease:
    """Join records into classes that keep the rules, at little loss."""
    require(
        settings.loss in MINIMISED,
        "local recoding minimises the generalisation loss (arithmetic)",
        hint="without --loss, or --how full",
    )
    quasi = table.roles.quasi
    column_weights = settings.weights or {}
    check_weights("--column-weight", column_weights, quasi)
    columns = [
        LocalColumn.of_values(
            name,
            table.present_texts(name),
            table.hierarchies.get(name),
            sets=settings.labels == "sets",
        )
        for name in quasi
    ]
    weights = [float(column_weights.get(name, 1.0)) for name in quasi]
    recoded = CombinedRecords.of_table(table, columns).recoded_locally(weights, settings.seed)
    return RecordRelease(
        columns=recoded.file_columns,
        loss=recoded.losses(settings.weights or {}).to_dict(),
        details={
            "labels": LABELS.get(settings.labels, settings.labels),
            "classes": len(recoded.sizes),
            "smallest_class": int(recoded.sizes.min()),
            "cells_changed": recoded.cells_changed(),
            **measure_reasoning(
                table,
                recoded.file_columns,
                recoded.released_class[recoded.owner],
                settings.seed,
                settings.labels,
            ),
        },
        suppressed=recoded.suppressed,
        holds=recoded.holds(table.suppress),
        notes=(CAUTION,),
        minimised="arithmetic_loss",
    )


def suppress_cells(table: RecordTable, settings: ProtectSettings) -> RecordRelease:
    """Make classes with `*` in the columns in which their records differ.

    Every class has k records with the same cells, `*` being a value of its own; so every record
    matches k records too where `*` stands for anything.
    """
    quasi = table.roles.quasi
    column_importance = settings.importance or {}
    check_weights("--importance", column_importance, quasi)
    columns = []
    for name in quasi:
        texts = table.present_texts(name)
        flat = {text: (ROOT,) for text in texts if text is not None}
        tree = Hierarchy(flat) if flat else None
        columns.append(LocalColumn.of_values(name, texts, tree, sets=False))
    importance = [float(column_importance.get(name, 1.0)) for name in quasi]
    recoded = CombinedRecords.of_table(table, columns).recoded_locally(importance, settings.seed)
    cells = recoded.cells_changed()
    return RecordRelease(
        columns=recoded.file_columns,
        loss=recoded.losses(settings.weights or {}).to_dict(),
        details={
            "classes": len(recoded.sizes),
            "smallest_class": int(recoded.sizes.min()),
            "cells_suppressed": cells,
            "share_suppressed": cells / (table.records * len(quasi)),
        },
        suppressed=recoded.suppressed,
        holds=recoded.holds(table.suppress),
        notes=(CAUTION,),
        minimised="arithmetic_loss",
    )


# -- what an attacker learns by reasoning about such a release -------------------------------------


# The records that are attacked; from a larger table, whole classes are drawn. The answer for sets
# is sampled, because their labels overlap in any way, and takes more time for each record.
MOST_RECORDS = {"hierarchy": 10_000, "sets": 2000}
WORK = 4 * 10**6  # records times sweeps of a sampled answer for more than 2,000
DEVIATIONS = 1.96  # standard deviations on either side of an estimate: 95 %
USE = 0x4EA50  # tells the random numbers of drawing classes from those of other uses
NUMBERS = ("attacker_accuracy", "learner_accuracy", "max_relative_risk")


def measure_reasoning(
    table: RecordTable, released: Mapping[str, FileColumn], classes: Ints, seed: int, labels: str
) -> dict[str, Any]:
    """Measure how often an attacker who reasons by Bayes' rule, and a learner, name a secret.

    Of several secrets, the result is about the one for which the release adds most. `classes` has
    the class of every record. If there are many records, classes are drawn by the seed, and only
    their records are attacked. A person then fits fewer classes than in the release, so the
    attacker is rather more successful.
    """
    secrets = table.roles.sensitive
    if not secrets:
        return {}
    chosen = draw_classes(classes, seed, MOST_RECORDS[labels])
    names = (*table.roles.quasi, *secrets)
    original = {name: _texts(table.columns[name], chosen) for name in names}
    release = {name: _texts(released.get(name, table.columns[name]), chosen) for name in names}
    trees = {name: tree for name, tree in table.hierarchies.items() if tree is not None}
    results = []
    records = int(chosen.sum())
    settled = True
    for secret in secrets:
        try:
            attacks = _attack(release, original, table.roles.quasi, secret, trees, records)
        except SievertError:
            continue
        numbers: dict[str, Any] = {name: attacks.get(name) for name in NUMBERS}
        if all(isinstance(value, float) for value in numbers.values()):
            results.append(numbers)
        settled &= attacks.get("converged") is not False
    if not results:
        return {"reasoning": _with_doubt(Remark("reasoning_none"), settled=settled)}
    worst = max(results, key=lambda r: r[NUMBERS[0]] - r[NUMBERS[1]])
    if records == len(classes):
        return {"reasoning": _with_doubt(Remark("reasoning_all"), settled=settled), **worst}
    number = len(np.unique(classes[chosen]))
    share = worst[NUMBERS[0]]
    deviation = DEVIATIONS * math.sqrt(share * (1 - share) / number)
    drawn = Remark("reasoning_drawn", records=plural(records, "record"), number=figure(number))
    return {
        "reasoning": _with_doubt(drawn, settled=settled),
        **worst,
        "attacker_accuracy_low": max(0.0, share - deviation),
        "attacker_accuracy_high": min(1.0, share + deviation),
    }


def _with_doubt(what: Remark, *, settled: bool) -> Remark:
    """Add to a remark that sampled numbers had not settled, unless they had."""
    return what if settled else Remark("reasoning_unsettled", what=what)


def draw_classes(classes: Ints, seed: int, most: int) -> Bools:
    """Choose the records that are attacked: all, or those of drawn classes, at most `most`.

    The first class that is drawn is taken regardless of its size.
    """
    if len(classes) <= most:
        return np.ones(len(classes), dtype=bool)
    sizes = np.bincount(classes)
    order = np.random.default_rng((seed, USE)).permutation(len(sizes))
    taken = np.cumsum(sizes[order]) <= most
    taken[0] = True
    drawn = np.zeros(len(sizes), dtype=bool)
    drawn[order[taken]] = True
    return np.asarray(drawn[classes])


def _attack(
    release: Mapping[str, Any],
    original: Mapping[str, Any],
    quasi: tuple[str, ...],
    secret: str,
    trees: Mapping[str, Any],
    records: int,
) -> Mapping[str, Any]:
    """Attack the release by reasoning; return the headlines for a secret."""
    import sievert

    names = (*quasi, secret)
    key = "record"  # both tables have the same records, so their order need not be examined
    while key in names:
        key += "_"
    records_by_key = [str(number) for number in range(records)]
    attacked = sievert.attack(
        {**{name: release[name] for name in names}, key: records_by_key},
        {**{name: original[name] for name in names}, key: records_by_key},
        list(quasi),
        secret,
        key=key,
        hierarchies=trees,
        sweeps=None if records <= MOST_RECORDS["sets"] else WORK // records,
    )
    if secret not in attacked.reasoning:
        return {}
    return attacked.reasoning[secret].headlines


def _texts(column: FileColumn, chosen: Bools) -> list[str | None]:
    """The texts of the chosen records."""
    return [column.texts[code] for code in column.codes[chosen]]
