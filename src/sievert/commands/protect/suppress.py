"""`--how suppress`: single cells become `*`, and nothing else changes."""

from sievert.commands.protect.local import CAUTION
from sievert.commands.protect.method import (
    MethodSettings,
    RecordRelease,
    RecordTable,
    check_weights,
)
from sievert.commands.protect.recoded_records import ClassRecoding, allowed_records
from sievert.hierarchies import ROOT, Hierarchy
from sievert.methods.local.columns import LocalColumn


def make(table: RecordTable, settings: MethodSettings) -> RecordRelease:
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
        holds=recoded.holds(allowed_records(table, settings)),
        notes=(CAUTION,),
        minimised="arithmetic_loss",
    )
