"""Remarks on several synthetic tables, each said once."""

from collections.abc import Iterator, Sequence

MOST_NAMED = 4  # tables that are named one by one


def merge_remarks(remarks: Sequence[str], tables: Sequence[str]) -> Iterator[str]:
    """What is said of several tables in the same words, once with their names or their number.

    >>> [*merge_remarks(["a: few rows", "b: few rows", "no control"], ["a", "b"])]
    ['a, b: few rows', 'no control']
    """
    named: dict[tuple[type[str], str], list[str]] = {}
    for remark in remarks:
        name = next((t for t in tables if remark.startswith(f"{t}: ")), "")
        named.setdefault((type(remark), remark.removeprefix(name)), []).append(name)
    for (kind, words), names in named.items():
        several = ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} tables"
        yield kind(f"{several}{words}")
