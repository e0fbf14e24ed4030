"""A differencing attack on shareable outputs: tables that differ in one person, every output.

Somebody who knows everybody in a table but one is given what `--share` has written of it, and
compares it with what would have been written if that person had other values, or were not there. A
family is a table and its neighbours. Whatever differs is a finding, but for what is declared: a
number may move by one step where the exact one crosses the edge of a step, and a verdict may change
where the exact number crosses its limit.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from helpers.commandline import run

from sievert.measures import MEASURES
from sievert.sharing import round_share, shown_records

INFLUENCE = {m.id: m.influence for m in MEASURES if m.influence is not None}
Row = tuple[str, ...]
HEADER = ("age", "zip", "ill", "pay")
QUASI = "age,zip"
ILL = ("flu", "flu", "cold", "gout", "cold")
NUMBER = re.compile(r"(?:below |above )?\d[\d,.]* ?%|at least \d[\d,]* records|fewer than 1,000")
SMALL = "numbers of a small table"
ASSESS: tuple[tuple[str, ...], ...] = (
    ("--policy", "policy.toml"),
    (
        *("--policy", "policy.toml", "--missing", "drop", "--mask-names", "--min-cell", "3"),
        *("--alpha-value", "ill=Sx"),
    ),
    ("--missing", "wildcard", "--alpha-value", "ill=Sx"),
)
REFUSED: tuple[tuple[str, ...], ...] = (
    ("attack", "table.csv"),
    ("attack", "table.csv", "--original", "table.csv"),
    ("explain", "table.csv"),
    ("compromise", "table.csv"),
    ("limit", "table.csv", "--at", "0.1"),
    ("compare", "table.csv", "table.csv"),
    ("assess", "table.csv", "--charts", "charts"),
    ("assess", "table.csv", "--records", "records.csv"),
    ("assess", "table.csv", "--attacks"),
    ("assess", "table.csv", "--timings", "timings.json"),
    ("assess", "table.csv", "--show-values"),
)
POLICY = """
[limits.reidentification]
k_anonymity = { min = 3 }
unique_records = { max = 0.5 }
average_risk = { max = 0.5 }
[limits.inference.SECRET]
l_diversity = { min = 1 }
max_confidence = { max = 0.99 }
discrimination_rate = { max = 0.9 }
"""


@dataclass(frozen=True)
class Family:
    """A table, and tables that differ from it in one person."""

    base: tuple[Row, ...]
    neighbours: tuple[tuple[Row, ...], ...]
    secret: str = "ill"
    moves: bool = False  # whether it lies at the edge of a step: a shown number may move


# -- families -------------------------------------------------------------------------------------


def ward(records: int = 1230, size: int = 6) -> list[Row]:
    """Classes of `size` records; away from the edges of steps."""
    return [
        (str(20 + i // size % 60), str(i // size // 60), ILL[i * i % 7 % 5], str(1000 + 7 * i % 50))
        for i in range(records)
    ]


def changed(rows: Sequence[Row], at: int, **values: str) -> tuple[Row, ...]:
    """The same table, one person with other values."""
    new = tuple(values.get(name, old) for name, old in zip(HEADER, rows[at], strict=True))
    return (*rows[:at], new, *rows[at + 1 :])


def unique() -> Family:
    """A person who is alone, or looks like others."""
    rows = ward()
    return Family(
        tuple(rows), tuple(changed(rows, at, age="Qx", zip="Qx") for at in (0, 7, 600, 1229))
    )


def homogeneous() -> Family:
    """Classes in which all are alike; one person deviates, in this class or in that."""
    rows = [(a, z, ILL[int(a) % 5], p) for a, z, _, p in ward()]
    return Family(tuple(rows), tuple(changed(rows, at, ill="gout") for at in range(3, 600, 97)))


def missing_key() -> Family:
    """One person without a quasi-identifier."""
    rows = ward()
    return Family(tuple(rows), tuple(changed(rows, at, zip="") for at in (1, 700)))


def missing_secret() -> Family:
    """One person without a secret."""
    rows = ward()
    return Family(tuple(rows), tuple(changed(rows, at, ill="") for at in (1, 700)))


def rare() -> Family:
    """One person with a value that nobody else has, which is asked for by name."""
    rows = ward()
    return Family(tuple(rows), tuple(changed(rows, at, ill="Sx") for at in (5, 900)))


def first_and_last() -> Family:
    """The first or the last person is not there."""
    rows = ward()
    return Family(tuple(rows), (tuple(rows[1:]), tuple(rows[:-1])))


def smallest_class() -> Family:
    """A class of three or of two: the limit on k lies between."""
    rows = [*ward(1227), *(("Qx", "Qx", "flu", "1000"),) * 3]
    return Family(tuple(rows), (changed(rows, 1227, age="21", zip="1"),))


def constant() -> Family:
    """Everybody has the same secret, or all but one."""
    rows = [(a, z, "flu", p) for a, z, _, p in ward()]
    return Family(tuple(rows), tuple(changed(rows, at, ill="Sx") for at in (0, 500)))


def extreme() -> Family:
    """One person with an enormous number."""
    rows = ward()
    return Family(tuple(rows), tuple(changed(rows, at, pay="999999999") for at in (2, 801)), "pay")


def suppressed() -> Family:
    """One person whose quasi-identifiers are all hidden."""
    rows = ward()
    return Family(tuple(rows), tuple(changed(rows, at, age="*", zip="*") for at in (2, 801)))


def duplicated() -> Family:
    """A person who is there twice."""
    rows = ward()
    return Family(tuple(rows), ((*rows, rows[0]), (*rows, rows[-1])))


def looks_missing() -> Family:
    """One value that looks like a code for missing, like another one, or like the header."""
    rows = ward()
    return Family(
        tuple(rows),
        (
            changed(rows, 9, ill="NA"),
            changed(rows, 9, ill="FLU"),
            changed(rows, 9, ill=" flu"),
            changed(rows, 9, **dict(zip(HEADER, HEADER, strict=True))),
        ),
    )


def all_unique() -> Family:
    """Everybody is alone, or all but two."""
    rows = [(str(i), str(i), ILL[i % 5], str(i)) for i in range(1230)]
    return Family(tuple(rows), (changed(rows, 4, age="5", zip="5"),))


def small() -> Family:
    """A table of few records: nothing but verdicts."""
    rows = ward(120)
    return Family(
        tuple(rows),
        (
            tuple(rows[1:]),
            changed(rows, 3, age="Qx"),
            changed(rows, 3, ill="Sx"),
            tuple(rows[:100]),
        ),
    )


def edges() -> Family:
    """Numbers at the edge of a step: of the records, of unique people, of right guesses."""
    rows = [*ward(980), *((f"Q{i}", "Qx", "gout", "1000") for i in range(20))]
    return Family(
        tuple(rows), (tuple(rows[:-1]), changed(rows, 999, age="21", zip="1")), moves=True
    )


FAMILIES: Mapping[str, Callable[[], Family]] = {
    f.__name__: f
    for f in (
        unique, homogeneous, missing_key, missing_secret, rare, first_and_last, smallest_class,
        constant, extreme, suppressed, duplicated, looks_missing, all_unique, small, edges,
    )
}  # fmt: skip


# -- outputs --------------------------------------------------------------------------------------


@dataclass
class Workplace:
    """A folder in which a table is written and everything is made of it."""

    folder: Path
    numbers: Iterator[int] = field(default_factory=count)

    def write(self, rows: tuple[Row, ...], secret: str = "ill") -> Path:
        """The table as a file; every table has the same name."""
        (self.folder / "policy.toml").write_text(POLICY.replace("SECRET", secret))
        path = self.folder / "table.csv"
        path.write_text("\n".join(map(",".join, (HEADER, *rows))) + "\n")
        return path

    def run(self, *tokens: str) -> tuple[int, str, str]:
        """A command in this process: its exit code, what it says and what it complains of."""
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = run(*list(tokens))
        return code, out.getvalue(), err.getvalue()

    def shared(self, *tokens: str) -> dict[str, str]:
        """Everything that a command writes with --share."""
        names = {kind: f"{next(self.numbers)}.{kind}" for kind in ("json", "html", "md")}
        code, out, _ = self.run(
            *tokens, "--share", "--json", names["json"], "--html", names["html"],
            "--markdown", names["md"],
        )  # fmt: skip
        written = {kind: self._read(name) for kind, name in names.items()}
        return {"code": str(code), "terminal": out, **written}

    def _read(self, name: str) -> str:
        path = self.folder / name
        text = path.read_text() if path.exists() else ""
        path.unlink(missing_ok=True)
        return text


def assessed(place: Workplace, rows: tuple[Row, ...], secret: str, *options: str) -> dict[str, str]:
    """What `assess --share` writes of a table."""
    place.write(rows, secret)
    return place.shared("assess", "table.csv", "-q", QUASI, "-s", secret, *options)


def exact(place: Workplace, rows: tuple[Row, ...], secret: str, *options: str) -> dict[str, Any]:
    """The exact numbers, as the operator has them."""
    place.write(rows, secret)
    kept = [o for o in options if o not in ("--mask-names", "--min-cell", "3")]
    place.run("assess", "table.csv", "-q", QUASI, "-s", secret, *kept, "--json", "exact.json")
    result: dict[str, Any] = json.loads((place.folder / "exact.json").read_text())
    return result


def difference(
    place: Workplace, family: Family, options: tuple[str, ...], neighbours: int | None = None
) -> list[str]:
    """Attack the table of a family with each of its neighbours; returns what moved as declared."""
    base, moved = assessed(place, family.base, family.secret, *options), list[str]()
    if not all(base.values()):
        raise Finding("something was not written")
    for rows in family.neighbours[:neighbours]:
        shown = assessed(place, rows, family.secret, *options)
        if shown != base:
            tables = (family.base, rows)
            one, two = (exact(place, each, family.secret, *options) for each in tables)
            moved += attack((base, shown), (one, two))
    return moved


# -- the attack -----------------------------------------------------------------------------------


class Finding(AssertionError):
    """Something that tells one person's table from another."""


def attack(
    shown: tuple[dict[str, str], dict[str, str]], numbers: tuple[dict[str, Any], dict[str, Any]]
) -> list[str]:
    """Compare what was written of two neighbours; returns what moved as declared."""
    if shown[0] == shown[1]:
        return []
    before, after = (json.loads(each["json"]) for each in shown)
    moved = [*_numbers(before, after, *numbers), *_verdicts(before, after, *numbers)]
    if any(each.startswith("verdict") for each in moved) or SMALL in moved:
        return moved
    for kind in ("code", "terminal", "html", "md"):
        plain = [each[kind].replace("\u00a0", " ") for each in shown]
        texts = [" ".join(NUMBER.sub("#", each).split()) for each in plain]
        if texts[0] != texts[1]:
            raise Finding(f"{kind} differs in more than a number")
    if not moved:
        raise Finding("the JSON is the same, and something else differs")
    return moved


def _numbers(
    before: dict[str, Any], after: dict[str, Any], exact: dict[str, Any], other: dict[str, Any]
) -> Iterator[str]:
    """Numbers that moved by one step, over its edge; they are made alike."""
    rows = [shown["table"].pop("rows") for shown in (before, after)]
    if rows[0] != rows[1]:
        sizes = [each["table"]["rows"] for each in (exact, other)]
        if abs(sizes[0] - sizes[1]) > 1 or rows != [shown_records(n) for n in sizes]:
            raise Finding(f"records moved: {rows}")
        yield "records"
    chapters = [_chapters(each) for each in (before, after, exact, other)]
    for place in chapters[0].keys() & chapters[1].keys():
        one, two = chapters[0][place], chapters[1][place]
        for measure in one.keys() & two.keys():
            if one[measure] != two[measure]:
                values = [chapters[i][place][measure]["value"] for i in (2, 3)]
                _check_step(measure, one[measure], two[measure], values, coarser=rows[0] != rows[1])
                yield measure
                two[measure] = one[measure]
    if rows[0] != rows[1] and None in rows:  # numbers of a small table are withheld
        yield SMALL
        for shown in (before, after):
            shown.update({"reidentification": {}, "inference": {}})


def _chapters(data: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """By their place: names may be masked."""
    return dict(enumerate((data["reidentification"], *data["inference"].values())))


def _check_step(
    measure: str, one: Any, two: Any, values: list[float], *, coarser: bool = False
) -> None:
    """One step, over its edge; the step is another one only where the records are."""
    steps = [entry.get("step") for entry in (one, two)]
    if measure not in INFLUENCE or None in steps:
        raise Finding(f"{measure}: {one} {two}")
    if coarser and steps[0] != steps[1]:
        for entry, value in zip((one, two), values, strict=True):
            if entry != entry | round_share(value, entry["step"]):
                raise Finding(f"{measure} is not what its step makes of it: {entry}")
        return
    if steps[0] != steps[1] or abs(_place(one) - _place(two)) > 1.01 * steps[0]:
        raise Finding(f"{measure} moved by more than a step: {one} {two}")
    if values[0] == values[1] or abs(values[0] - values[1]) > steps[0]:
        raise Finding(f"{measure}: one person did not move it over an edge: {values}")


def _place(entry: Any) -> float:
    """Where a number stands on its grid; below and above are one step beyond."""
    if entry["value"] is not None:
        return float(entry["value"])
    return 0.0 if "below" in entry else 1.0


def _compared_numbers(policy: dict[str, Any]) -> list[list[Any]]:
    """The numbers that each limit is compared with: the table's, and that of suppressed records."""
    each: dict[Any, list[Any]] = {}
    for number, line in enumerate(policy["limits"]):
        limit = (line["where"], line["measure"]) if "where" in line else number
        each.setdefault(limit, []).append((line.get("scope"), line["value"]))
    return [*each.values()]


def _verdicts(
    before: dict[str, Any], after: dict[str, Any], exact: dict[str, Any], other: dict[str, Any]
) -> Iterator[str]:
    """Verdicts that changed because the exact number crossed its limit; nothing else differs."""
    policies = [each.get("policy") or {"limits": ()} for each in (before, after, exact, other)]
    shown = [each["limits"] for each in policies[:2]]
    compared = [_compared_numbers(each) for each in policies[2:]]
    for one, two, *numbers in zip(*shown, *compared, strict=True):
        if one["met"] != two["met"]:
            if numbers[0] == numbers[1]:
                raise Finding(f"a verdict changed without its number: {one}")
            yield f"verdict on {one['measure']}"
            two["met"] = one["met"]
    if policies[0].get("met") != policies[1].get("met"):
        if policies[2]["met"] == policies[3]["met"]:
            raise Finding("the policy is met or not for no reason")
        yield "verdict on the policy"
        policies[1]["met"] = policies[0].get("met")
    if before != after:
        raise Finding(f"the JSON differs: {before} {after}")
