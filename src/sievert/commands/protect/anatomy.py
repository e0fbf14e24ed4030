"""`--how anatomy`: quasi-identifiers and secrets in two tables, joined by the number of a group."""

import math

import numpy as np

from sievert.commands.protect.method import RecordRelease, RecordTable, seed_remark
from sievert.commands.protect.settings import ProtectSettings
from sievert.errors import require
from sievert.methods.anatomy import GROUP, anatomise
from sievert.releases.files import TEXT, FileColumn


def make(table: RecordTable, settings: ProtectSettings) -> RecordRelease:
    """Groups of at least l records whose secrets all differ (Xiao and Tao 2006)."""
    roles = table.roles
    require(len(roles.sensitive) == 1, "anatomy is for one secret", hint="-s disease")
    secret = roles.sensitive[0]
    size = settings.group if settings.group is not None else _least_values(table, secret)
    require(
        size >= 2,
        "a group has at least 2 different secrets",
        hint="--group 3, or a limit on l_diversity in the policy",
    )
    require(
        GROUP not in table.columns,
        f"the release has a column called {GROUP!r} already",
        hint="rename the column",
    )
    texts = {
        name: [column.texts[code] for code in column.codes.tolist()]
        for name, column in table.columns.items()
        if name in roles.measured_columns
    }
    tables = anatomise(texts, roles.quasi, secret, size, settings.seed)
    numbers, own = [str(group) for group in range(len(tables.sizes))], table.columns[secret]
    codes = {text: code for code, text in enumerate(own.texts)}
    values = np.array([codes[text] for text in tables.sensitive_table[secret]])
    return RecordRelease(
        columns={GROUP: FileColumn(GROUP, numbers, tables.groups, TEXT)},
        loss={"unlinked": 1 - len(numbers) / table.records},
        details={
            "groups": len(numbers),
            "smallest_group": int(tables.sizes.min()),
            "largest_group": int(tables.sizes.max()),
        },
        suppressed=np.zeros(table.records, dtype=bool),
        chosen=tables.order,
        notes=[seed_remark(settings.seed)],
        secrets=[
            FileColumn(GROUP, numbers, np.sort(tables.groups)),
            FileColumn(secret, own.texts, values, own.kind),
        ],
    )


def _least_values(table: RecordTable, secret: str) -> int:
    """The largest l that the policy asks for this secret; 0 if none."""
    places = ("limits", f"limits.inference.{secret}")
    limits = (
        limit.min
        for place, measure, limit in table.policy.every_limit()
        if measure == "l_diversity" and place in places
    )
    return max((math.ceil(least) for least in limits if least is not None), default=0)
