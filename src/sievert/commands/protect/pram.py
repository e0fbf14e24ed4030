"""`--how pram`: values of quasi-identifiers drawn by the channel that `sievert limit` finds."""

import numpy as np

from sievert.commands.protect.method import RecordRelease, RecordTable, seed_remark
from sievert.commands.protect.number_columns import change_losses
from sievert.commands.protect.settings import ProtectSettings
from sievert.errors import require
from sievert.formatting.remarks import Remark
from sievert.losses.loss import combination_codes
from sievert.releases.alphabets import (
    AUTO,
    COLUMNS,
    HAMMING,
    alphabets,
    binned_remark,
    cut_secret,
    released_column,
)
from sievert.releases.channels import draw, solutions, trim
from sievert.releases.choices import IDENTITY, MOST
from sievert.releases.files import FileColumn
from sievert.tradeoff import Joint

COLUMNS_REMARK = Remark("own_channels_pram")


def make(table: RecordTable, settings: ProtectSettings) -> RecordRelease:
    """Draw values by the channel that tells least about the secrets.

    Without a secret, it is the channel that tells least about the combination itself. On average
    the given share of the cells changes: model 1 of `limit`, or `identity`.
    """
    amount = settings.amount or 0.0
    require(
        0 < amount < 1,
        "post-randomisation needs the share of values that change, above 0 and below 1",
        hint="--amount 0.1",
    )
    columns = [
        released_column(q, table.columns[q].texts, table.columns[q].codes, HAMMING, None)
        for q in table.roles.quasi
    ]
    for column in columns:
        require(
            len(column.values) <= MOST,
            f"column {column.name!r} has more than {MOST:,} values: post-randomisation is for "
            "categories",
            hint="make it coarser first, or --how noise",
        )
    secrets = []
    notes = [seed_remark(settings.seed)]
    for s in table.roles.sensitive:
        own = table.columns[s]
        cut = cut_secret(own.texts, own.codes)
        secrets.append(own.codes if cut is None else cut)
        if cut is not None:
            notes.append(binned_remark(s))
    target = combination_codes(secrets or [np.zeros(table.records, dtype=np.int64)])
    kind, each = alphabets(columns, target, np.ones_like(target), AUTO, MOST)
    changed = {}
    for number, alphabet in enumerate(each):
        sizes = alphabet.counts.sum(axis=1)
        joint = Joint.of(alphabet.counts) if secrets else Joint.identity(sizes)
        best = solutions(joint, alphabet.distortion, 1 if secrets else IDENTITY, [amount])[0]
        symbols = draw(trim(best.channel), alphabet.of_record, settings.seed, number)
        for j, column in enumerate(alphabet.columns):
            changed[column.name] = FileColumn(
                name=column.name,
                texts=column.labels,
                codes=alphabet.released[symbols, j],
                kind=table.columns[column.name].kind,
            )
    if kind == COLUMNS and len(each) > 1:
        notes.append(COLUMNS_REMARK)
    return RecordRelease(
        columns=changed,
        loss=change_losses(table, changed),
        details={"changed_share": amount, "channels": len(each)},
        suppressed=np.zeros(table.records, dtype=bool),
        notes=notes,
    )
