"""Whether a measure's worst value is known without the table: what makes it easy to read."""

from __future__ import annotations

from sievert.papers.claims import Claim, statement
from sievert.papers.itpr.common import IDS, SAME, secrets
from sievert.papers.itpr.data import Columns
from sievert.papers.itpr.pictures import text, unit


def worst() -> dict[str, tuple[float, float]]:
    """Each measure where the class tells the secret wholly, with two and with ten secrets."""
    ranges = []
    for values in (2, 10):
        column = [f"v{i}" for i in range(values)]
        table: Columns = {"y": column, "x": list(column)}
        ranges.append(secrets(table, "y", ["x"])["x"])
    return {name: (ranges[0][name], ranges[1][name]) for name in IDS}


def interpretation(name: str, worst: dict[str, tuple[float, float]], *, where: str) -> Claim:
    """That a measure is hard to read because its worst value depends on the table."""
    two, ten = worst[name]
    return statement(
        f"{name} is hard to read: its worst value depends on the table ({where})",
        "correct, but hard interpretation",
        f"worst {text(two)} with two secrets, {text(ten)}{unit(name)} with ten",
        holds=abs(two - ten) > SAME,
        why=WHY.get(name, "its worst value is always 1"),
    )


WHY = {
    "DR": "section 3.3.1 says that DR lies in [0, 1], and its worst value is always 1, as that of "
    "ITPR",
    "ELD": "section 5.2 says that ELD always ranges between 0 and 1; its worst value is always 1",
}
