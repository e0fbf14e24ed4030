"""What results say of the order of rows: tables of databases and clusters have none, files do."""

from __future__ import annotations

import re
from typing import Any

from sievert.formatting.remarks import Remark

NO_ORDER = Remark("no_order")
CLAUSE = re.compile(
    "(rows have no order here|the order of the rows [^;]*|the rows are sorted [^;]*)"
)


def without_order(whole: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a result without what it says of the order of its rows."""
    policy = whole.get("policy")
    if policy is not None and policy.get("rests_on"):
        policy = {**policy, "rests_on": CLAUSE.sub("<order>", policy["rests_on"])}
    rest = {**whole, "policy": policy} if "policy" in whole else dict(whole)
    for key in ("warnings", "cautions"):
        if key in rest:
            rest[key] = [note for note in rest[key] if NO_ORDER not in note]
    return rest
