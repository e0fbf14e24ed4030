"""What somebody learns who reasons about a release that was recoded locally."""

from collections.abc import Mapping
from typing import Any

from sievert.commands._release_files import FileColumn
from sievert.commands.protect.method import RecordTable
from sievert.errors import SievertError
from sievert.formatting import plural

MOST_RECORDS = 2000  # that are reasoned about
NUMBERS = ("attacker_accuracy", "learner_accuracy", "max_relative_risk")


def what_reasoning_tells(table: RecordTable, released: Mapping[str, FileColumn]) -> dict[str, Any]:
    """How often somebody names a secret who reasons by Bayes' rule, beside a learner.

    Of several secrets, the one about which the release adds most.
    """
    secrets = table.roles.sensitive
    if not secrets:
        return {}
    if table.records > MOST_RECORDS:
        return {"reasoning": f"not run on more than {plural(MOST_RECORDS, 'record')}"}
    names = (*table.roles.quasi, *secrets)
    original = {name: _texts(table.columns[name]) for name in names}
    release = {name: _texts(released.get(name, table.columns[name])) for name in names}
    trees = {name: tree for name, tree in table.hierarchies.items() if tree is not None}
    results = []
    for secret in secrets:
        try:
            attacks = _attack(release, original, table.roles.quasi, secret, trees)
        except SievertError:
            continue
        numbers = {name: attacks.get(name) for name in NUMBERS}
        if all(isinstance(value, float) for value in numbers.values()):
            results.append(numbers)
    if not results:
        return {"reasoning": "does not apply to this release"}
    return {"reasoning": "run", **max(results, key=lambda r: r[NUMBERS[0]] - r[NUMBERS[1]])}


def _attack(
    release: Mapping[str, Any],
    original: Mapping[str, Any],
    quasi: tuple[str, ...],
    secret: str,
    trees: Mapping[str, Any],
) -> Mapping[str, Any]:
    import sievert

    names = (*quasi, secret)
    attacked = sievert.attack(
        {name: release[name] for name in names},
        {name: original[name] for name in names},
        list(quasi),
        secret,
        hierarchies=trees,
        paired=True,
    )
    return attacked.reasoning[secret].headlines if secret in attacked.reasoning else {}


def _texts(column: FileColumn) -> list[str | None]:
    return [column.texts[code] for code in column.codes]
