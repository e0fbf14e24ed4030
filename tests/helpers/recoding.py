"""Tables changed as an option says, value by value: what an option must agree with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from sievert.commands.assess.result import ColumnChange
from sievert.hierarchies import Hierarchy, describe_level, propose

Columns = dict[str, list[Any]]
LADDER = {f"z{i}": (f"y{i // 2}", f"x{i // 4}", "*") for i in range(8)}


def recode(
    columns: Columns,
    changes: Sequence[ColumnChange],
    ladders: Mapping[str, Any],
    kept: Sequence[bool] | None = None,
) -> tuple[Columns, list[float]]:
    """The table with its columns coarsened and left out, and what each of them has lost.

    Missing stays missing. Lost is the mean over records of (values below the label - 1) / (values
    of the hierarchy - 1). Hierarchies are made from the records that are kept, all unless given.
    """
    recoded, lost = dict(columns), []
    for change in changes:
        values = recoded.pop(change.column)
        if change.how == "left out":
            lost.append(1.0)
            continue
        use = [True] * len(values) if kept is None else kept
        counts = Counter(
            str(v) for v, own in zip(values, use, strict=True) if own and v is not None
        )
        given = ladders.get(change.column)
        proposal = propose(counts)
        tree = proposal.hierarchy if given is None else Hierarchy(given)
        text = proposal.text if given is None else given
        assert tree is not None
        tree = tree.with_root()
        for level in range(1, tree.height):  # levels with as many labels have the same ones
            labels = {v: own[level - 1] for v, own in tree.labels.items()}
            new = [None if v is None else labels.get(str(v), "*") for v in values]
            number = len({label for label, own in zip(new, use, strict=True) if own})
            if describe_level(text, level, tree.height, number) == change.how:
                break
        else:
            raise AssertionError(change.how)
        below, gaps = Counter(labels.values()), None in values
        assert len({label for label, own in zip(new, use, strict=True) if own}) == change.values
        merged = sum(0 if label is None else max(0, below[label] - 1) for label in new)
        lost.append(merged / len(new) / (len(labels) + gaps - 1))
        recoded[change.column] = new
    return recoded, lost


def random_table(random: Random) -> Columns:
    """Up to 300 records: numbers, codes, categories with rare values, a ladder; two secrets."""
    n, gaps = random.randint(20, 300), random.choice((0.0, 0.0, 0.1))

    def column(draw: Any) -> list[Any]:
        return [None if random.random() < gaps else draw() for _ in range(n)]

    pools: Columns = {
        "age": column(lambda: random.randint(18, 18 + random.choice((12, 70)))),
        "zip": column(lambda: f"{random.randint(0, 40):05d}"),
        "job": column(lambda: random.choice("aaaabbbbccccdefghij")),
        "town": column(lambda: random.choice(list(LADDER))),
        "sex": column(lambda: random.choice("fm")),
    }
    quasi = random.sample(list(pools), random.randint(2, 4))
    illness = column(lambda: random.choice(("flu", "flu", "hiv", "gout", "cold")))
    days = column(lambda: random.choice((1, 2, 3, 5, 10, 20)))
    return {q: pools[q] for q in quasi} | {"ill": illness, "days": days}
