"""Local recoding: classes stay small, as records of one value may differ (`local`, `suppress`)."""

from sievert.commands.protect.method import (
    MethodSettings,
    RecordRelease,
    RecordTable,
    check_weights,
)
from sievert.commands.protect.reasoned import what_reasoning_tells
from sievert.commands.protect.recoded_records import ClassRecoding
from sievert.errors import require
from sievert.hierarchies import ROOT, Hierarchy
from sievert.methods.local.columns import LocalColumn

MINIMISED = ("generalization_loss", "arithmetic_loss")
CAUTION = (
    "local recoding that loses little can be worked back in part by somebody who knows the method "
    "(downcoding, minimality, combinatorial refinement): full-domain recoding is the safer choice"
)


def recode(table: RecordTable, settings: MethodSettings) -> RecordRelease:
    """Classes that hold the rules, joined where that loses little."""
    require(
        settings.loss in MINIMISED,
        "local recoding minimises the generalisation loss (arithmetic)",
        hint="without --loss, or --how full",
    )
    quasi = table.roles.quasi
    check_weights("--column-weight", settings.weights, quasi)
    columns = [
        LocalColumn.of_values(
            name,
            table.present_texts(name),
            table.hierarchies.get(name),
            sets=settings.labels == "sets",
        )
        for name in quasi
    ]
    weights = [float(settings.weights.get(name, 1.0)) for name in quasi]
    recoded = ClassRecoding.of_table(table, columns, weights, settings)
    return RecordRelease(
        recoded.file_columns,
        recoded.losses(settings.weights).to_dict(),
        {
            "labels": settings.labels,
            "classes": len(recoded.sizes),
            "smallest_class": int(recoded.sizes.min()),
            "cells_changed": recoded.cells_changed(),
            **what_reasoning_tells(
                table,
                recoded.file_columns,
                recoded.released_class[recoded.owner],
                settings.seed,
                settings.labels,
            ),
        },
        recoded.suppressed,
        holds=recoded.holds(settings.suppress),
        notes=(CAUTION,),
        minimised="arithmetic_loss",
    )


def suppress_cells(table: RecordTable, settings: MethodSettings) -> RecordRelease:
    """Classes with `*` in the columns in which their records differ.

    Every class has k records with the same cells, `*` being a value of its own; so every record
    matches k records too where `*` stands for anything.
    """
    quasi = table.roles.quasi
    check_weights("--importance", settings.importance, quasi)
    columns = []
    for name in quasi:
        texts = table.present_texts(name)
        flat = {text: (ROOT,) for text in texts if text is not None}
        tree = Hierarchy(flat) if flat else None
        columns.append(LocalColumn.of_values(name, texts, tree, sets=False))
    importance = [float(settings.importance.get(name, 1.0)) for name in quasi]
    recoded = ClassRecoding.of_table(table, columns, importance, settings)
    cells = recoded.cells_changed()
    return RecordRelease(
        recoded.file_columns,
        recoded.losses(settings.weights).to_dict(),
        {
            "classes": len(recoded.sizes),
            "smallest_class": int(recoded.sizes.min()),
            "cells_suppressed": cells,
            "share_suppressed": cells / (table.records * len(quasi)),
        },
        recoded.suppressed,
        holds=recoded.holds(settings.suppress),
        notes=(CAUTION,),
        minimised="arithmetic_loss",
    )
