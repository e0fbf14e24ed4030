"""`--how anatomy`: quasi-identifiers and secrets in two tables, joined by the number of a group."""

import math

import numpy as np

from sievert.commands.protect.method import RecordRelease, RecordTable, seed_remark
from sievert.commands.protect.settings import ProtectSettings
from sievert.errors import require
from sievert.methods.anatomy import GROUP, anatomise
from sievert.releases.files import TEXT, FileColumn


def make(table: RecordTable, settings: ProtectSettings) -> RecordRelease:
    """Make groups of at least l records whose secrets all differ (Xiao and Tao 2006)."""
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
    numbers = [str(group) for group in range(len(tables.sizes))]
    own = table.columns[secret]
    codes = {text: code for code, text in enumerate(own.texts)}
    values = np.array([codes[text] for text in tables.sensitive_table[secret]])
    return RecordRelease(
        columns={GROUP: FileColumn(name=GROUP, texts=numbers, codes=tables.groups, kind=TEXT)},
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
            FileColumn(name=secret, texts=own.texts, codes=values, kind=own.kind),
        ],
    )


def _least_values(table: RecordTable, secret: str) -> int:
    """The largest l that the policy requires of this secret; 0 if it requires none."""
    places = ("limits", f"limits.inference.{secret}")
    largest = 0
    for place, measure, limit in table.policy.every_limit():
        if measure == "l_diversity" and place in places and limit.min is not None:
            largest = max(largest, math.ceil(limit.min))
    return largest
