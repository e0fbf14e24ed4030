"""The page of the public benchmark: tables and the map of risk and loss of each original.

It is made of `results.json` alone, by the page model of reports, so HTML and Markdown say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sievert.charts import Dot, risk_utility_chart
from sievert.commands.compare.ranking import dominating
from sievert.formatting import percent, significant
from sievert.report import html, markdown
from sievert.report.page import (
    Block,
    BulletList,
    Chapter,
    Facts,
    Page,
    Paragraph,
    Picture,
    make_grid,
)

Data = Mapping[str, Any]
TITLE = "What open releases tell of people, and what they have lost"
LEAD = (
    "Every release is scored by the same commands. A number is comparable within one table: "
    "the releases there have one original and the same roles."
)
STEPS = {
    "assess": "measures of the release alone",
    "compare": "bits, losses and linkage against the original",
    "attack": "attacks on classes, linkage, Bayes' rule",
    "reasoning": "Bayes' rule",
    "synthetic": "attacks on rows that are not paired",
}


def everything_at(numbers: Data, path: str) -> list[Any]:
    """All that stands at a path of keys, of which a star stands for any."""
    at: list[Any] = [numbers]
    for key in path.split("."):
        inner = [each for each in at if isinstance(each, Mapping)]
        if key == "*":
            at = [v for each in inner for v in each.values()]
        else:
            at = [each[key] for each in inner if key in each]
    return at


def number_at(numbers: Data, path: str, pick: Callable[..., Any] = max) -> float | None:
    """The number at a path of keys; a star stands for all secrets, of which the worst is picked.

    >>> number_at({"secrets": {"a": {"l": 3}, "b": {"l": 2}}}, "secrets.*.l", min)
    2
    """
    at = everything_at(numbers, path)
    values = [v for v in at if isinstance(v, int | float)]
    return pick(values) if values and len(values) == len(at) else None


@dataclass(frozen=True)
class Column:
    """A column of the tables: where its number is, how it is written, what it means."""

    head: str
    path: str
    written: Callable[[float], str]
    meaning: str
    pick: Callable[..., Any] = max


COLUMNS = (
    Column("records", "rows", significant, "rows that count; suppressed ones do not"),
    Column("k", "measures.k_anonymity", significant, "records of the smallest class"),
    Column("unique", "measures.unique_records", percent, "records that are alone in their class"),
    Column("average risk", "measures.average_risk", percent, "classes per record"),
    Column("l", "secrets.*.l_diversity", significant, "fewest values of a secret in a class", min),
    Column("t", "secrets.*.t_closeness", significant, "farthest class from the whole table"),
    Column(
        "identity, bits",
        "identity_disclosure.value",
        significant,
        "I(X';X): what the release tells of the original quasi-identifiers",
    ),
    Column(
        "attribute, bits",
        "attribute_disclosure.*.value",
        significant,
        "I(X';Y): what it tells of a secret, as counted",
    ),
    Column(
        "beyond chance",
        "attribute_disclosure.*.corrected",
        significant,
        "the same corrected for chance; with few records per class all of it may look like chance",
    ),
    Column(
        "loss, bits",
        "information_loss.*.corrected",
        significant,
        "I(X;Y) - I(X';Y), corrected for chance; below 0 is noise around 0",
    ),
    Column(
        "linked",
        "attacks.identity.linkage.correct_linkage",
        percent,
        "released records that are nearest to their own original",
    ),
    Column(
        "Bayes' gain",
        "attacks.reasoning.*.global_relative_risk",
        significant,
        "how much more often an attacker names the secret than somebody who learns of the "
        "population only (a difference of two shares)",
    ),
    Column("columns", "columns", significant, "columns shared with the original and compared"),
    Column("copies", "synthetic.copies.original.rate", percent, "people whose row stands in it"),
    Column(
        "unique copies",
        "synthetic.unique_copies.original.rate",
        percent,
        "the same, of people whose row nobody else has",
    ),
    Column(
        "singled out",
        "synthetic.singling_out.original.rate",
        percent,
        "people alone under a predicate of three columns that holds for one row",
    ),
    Column(
        "linkability",
        "synthetic.linkability.original.rate",
        percent,
        "people whose two halves have the same nearest row",
    ),
    Column(
        "inferred",
        "synthetic.inference.*.original.rate",
        percent,
        "people whose secret is the one of the nearest rows",
    ),
    Column(
        "from kin",
        "synthetic.inference.*.kin",
        percent,
        "the same from the other people of the original: a yardstick without a control",
    ),
    Column(
        "membership",
        "synthetic.membership.original.rate",
        percent,
        "people to whom a row is a whole column nearer than any other person",
    ),
    Column("pairs lost", "utility.pairs", percent, "total variation, mean over pairs of columns"),
)
VERDICT = "held against the limits of the list; those that are not met stand in brackets"


def release_table(releases: Sequence[Data]) -> tuple[list[str], list[list[str]]]:
    """The head and rows of one original: columns that no release has are left out."""
    own = [c for c in COLUMNS if any(_value(r, c) is not None for r in releases)]
    rows = [[r["name"], *(_written(r, c) for c in own), _verdict(r)] for r in releases]
    return ["release", *(c.head for c in own), "verdict"], rows


def _value(release: Data, column: Column) -> float | None:
    return number_at(release["numbers"], column.path, column.pick)


def _written(release: Data, column: Column) -> str:
    value = _value(release, column)
    return "-" if value is None else column.written(value)


def _reasons(release: Data, column: Column) -> list[str]:
    """Why a release has no number in a column, as its command said."""
    at = everything_at(release["numbers"], column.path)
    return [*dict.fromkeys(each["reason"] for each in at if isinstance(each, Mapping))]


def _verdict(release: Data) -> str:
    why = ", ".join(release["reasons"])
    return f"{release['verdict'] or '-'}{f' ({why})' if why else ''}"


# -- the map --------------------------------------------------------------------------------------


def _bits(release: Data) -> Dot | None:
    """Where a paired release is: bits lost of the secret that lost most, bits told."""
    numbers = release["numbers"]
    lost = sorted(numbers.get("information_loss", {}).values(), key=lambda each: each["corrected"])
    if not lost:
        return None
    low, high = lost[-1]["interval"]
    across = min(max(lost[-1]["corrected"], low), high)
    return Dot(
        name=release["name"],
        across=across,
        up=numbers["identity_disclosure"]["value"],
        interval=(low, high),
    )


def _shares(release: Data) -> Dot | None:
    """Where a release of unpaired rows is: pairs lost, people nearer than kin, in per cent."""
    lost = number_at(release["numbers"], "utility.pairs")
    nearer = number_at(release["numbers"], "synthetic.membership.original.rate")
    if lost is None or nearer is None:
        return None
    return Dot(
        name=release["name"], across=100 * lost, up=100 * nearer, interval=(100 * lost, 100 * lost)
    )


MAPS = (
    (
        _bits,
        "Information loss, bits",
        "Identity disclosure, bits",
        "A line through a point is the interval of its loss at 95 %.",
    ),
    (
        _shares,
        "Pairs lost, %",
        "Membership, %",
        "Releases of fewer columns are hit by chance more often: see the column of columns.",
    ),
)
HOLLOW = "A hollow point: another release tells no more and has lost no more."


def risk_utility_maps(original: Data) -> Iterator[Picture]:
    """The map of the paired releases, and that of the others, where there are two of them."""
    for place, across, up, more in MAPS:
        dots = [dot for release in original["releases"] if (dot := place(release)) is not None]
        if len(dots) < 2:
            continue
        better = dominating({d.name: (d.up, max(0.0, d.across)) for d in dots})
        dots = [
            Dot(
                name=d.name,
                across=d.across,
                up=d.up,
                interval=d.interval,
                hollow=bool(better[d.name]),
            )
            for d in dots
        ]
        caption = f"Down and to the left is better. {more} {HOLLOW}"
        spec = risk_utility_chart(
            f"{original['name']}: risk and loss", (caption,), dots, across=across, up=up
        )
        rows = [(d.name, significant(d.across), significant(d.up)) for d in dots]
        behind = make_grid("The numbers of the map", ("release", across, up), rows, folded=True)
        yield Picture(spec=spec, caption=caption, behind=behind)


# -- the page -------------------------------------------------------------------------------------


def _original(number: int, original: Data) -> Chapter:
    releases = original["releases"]
    head, rows = release_table(releases)
    roles = [("Quasi-identifiers", ", ".join(original["quasi"]))]
    roles += [("Secret", ", ".join(original["sensitive"]))] if original.get("sensitive") else []
    blocks: list[Block | Chapter] = [
        Facts(tuple(roles)),
        make_grid("Scores", head, rows, range(1, len(head) - 1)),
        *risk_utility_maps(original),
    ]
    if lacking := [*_not_computed(releases)]:
        caption = "What was not computed, and why"
        blocks.append(make_grid(caption, ("what", "why", "releases"), lacking, (), folded=True))
    return Chapter(title=original["name"], anchor=f"original{number}", blocks=tuple(blocks))


def _not_computed(releases: Iterable[Data]) -> Iterator[tuple[str, str, str]]:
    names: dict[tuple[str, str], list[str]] = {}
    for release in releases:
        reasons = [(STEPS[step], reason) for step, reason in release["not_computed"].items()]
        reasons += [(c.head, why) for c in COLUMNS for why in _reasons(release, c)]
        for each in reasons:
            names.setdefault(each, []).append(release["name"])
    yield from ((what, why, "; ".join(every)) for (what, why), every in names.items())


def _limits(limits: Data, name: str = "") -> Iterator[str]:
    """Every limit as a line: its measure, and at least or at most what."""
    for key, inner in limits.items():
        if isinstance(inner, Mapping):
            yield from _limits(inner, f"{name} {key}".strip())
        else:
            yield f"{name}: {'at least' if key == 'min' else 'at most'} {significant(inner)}"


def make_page(result: Data) -> Page:
    """The whole page of the results."""
    originals = result["originals"]
    releases = [(o, r) for o in originals for r in o["releases"]]
    shown = {head for o in originals for head in release_table(o["releases"])[0]}
    meanings = [f"{c.head}: {c.meaning}." for c in COLUMNS if c.head in shown]
    notes = (
        "Of several secrets the worst stands in the table; results.json has all of them, every "
        "other measure, loss and attack, and the SHA-256 of every file.",
        "Without a control group, rates of unpaired rows are no risks: a stranger may suffer as "
        "much. The verdict on synthetic rows is then breached or undecided.",
    )
    reading = Chapter(
        title="How to read the tables",
        anchor="reading",
        blocks=(
            BulletList((*meanings, f"verdict: {VERDICT}.")),
            Paragraph("The limits: yardsticks, no recommendation."),
            BulletList(tuple(_limits(result["limits"]))),
            *(Paragraph(note, "note") for note in notes),
        ),
    )
    rows = [(o["name"], "original", o["source"], o["licence"]) for o in originals]
    rows += [
        (f"{o['name']}: {r['name']}", r["kind"], r["source"], r["licence"]) for o, r in releases
    ]
    sources = make_grid("Files", ("table", "kind", "source", "licence"), rows, ())
    return Page(
        title=TITLE,
        language="en",
        front=(
            Paragraph(LEAD, "lead"),
            Facts((("Originals", str(len(originals))), ("Releases", str(len(releases))))),
        ),
        chapters=(
            *(_original(number, each) for number, each in enumerate(originals, 1)),
            reading,
            Chapter(title="Sources and licences", anchor="sources", blocks=(sources,)),
        ),
        foot=(f"Made by Sievert {result['sievert']}, python -m bench.releases.",),
        kind="Benchmark",
        undrawn="Without its charts, whose numbers stand in tables.",
    )


def write_pages(result: Data, out: Path) -> None:
    """The page as HTML and as Markdown."""
    page = make_page(result)
    (out / "index.html").write_text(html.render(page), encoding="utf-8")
    (out / "index.md").write_text(markdown.render(page), encoding="utf-8")
