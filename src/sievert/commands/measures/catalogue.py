"""The catalogue of measures, losses and other quantities, by id and by names of the field."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sievert.errors import UsageError
from sievert.formatting import nearest, wrap
from sievert.formatting.remarks import Joined, Remark
from sievert.losses import KINDS
from sievert.losses.loss import LossKind
from sievert.measures import MEASURES, Measure
from sievert.report.numbers import RISKY, WORSE, scale, unit
from sievert.report.texts import Texts

WIDTH = 100
SHORT = 3  # letters of words with which mistyped names are not compared
ABOUT: dict[tuple[str, ...], str] = {  # the keys of what a measure is about
    ("record", "secret"): "catalogue.about_record_secret",
    ("record",): "catalogue.about_record",
    ("secret",): "catalogue.about_secret",
    (): "catalogue.about_class",
}


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A quantity without a record of its own, with the command that computes it and its page.

    `scale` is its range, unit and risky side, if it is one number.
    """

    id: str
    aliases: tuple[str, ...]
    command: str
    page: str
    formula: str = ""
    scale: str = ""


def _scale(bounds: str, unit: str, side: str) -> Joined:
    """Say the range, the unit and the risky side of a number, by the keys of their remarks."""
    return Joined((Remark(bounds), Remark(unit), Remark(side)), "; ")


ASSESS = "sievert assess DATA -q COLUMNS"
EXPLAIN = "sievert explain DATA -q COLUMNS"
COMPARE = "sievert compare ORIGINAL RELEASE -q COLUMNS -s SECRET"
TOPICS = (
    Topic(
        id="suda",
        aliases=("dis-suda", "suda2", "msu", "special uniques"),
        command=EXPLAIN,
        page="docs/suda.md",
    ),
    Topic(
        id="shapley",
        aliases=("shapley value", "share of a column"),
        command=EXPLAIN,
        page="docs/explain.md",
    ),
    Topic(
        id="population",
        aliases=("journalist risk", "dankar", "unique match"),
        command=f"{EXPLAIN} --fraction F",
        page="docs/population.md",
    ),
    Topic(
        id="individual_risk",
        aliases=("franconi-polettini", "benedetti-franconi"),
        command=f"{ASSESS} --weight COLUMN (of each record: --records FILE)",
        page="docs/population.md",
        formula="p^f/f 2F1(f, f; f+1; 1-p), f the records of the class (with --missing wildcard: "
        "those that match), p = f/F, F the sum of their weights",
        scale=_scale("range_unit", "scale_matches", "scale_high"),
    ),
    Topic(
        id="frequency",
        aliases=("fk", "sample frequency", "wildcard frequency"),
        command=f"{ASSESS} --missing wildcard --records FILE",
        page="docs/population.md",
        formula="f_i, the sum over the records j that match record i of 1, or of alpha where j "
        "lacks a value that i has",
        scale=_scale("range_from_one", "scale_records", "scale_low"),
    ),
    Topic(
        id="population_frequency",
        aliases=("weighted frequency",),
        command=f"{ASSESS} --weight COLUMN --records FILE",
        page="docs/population.md",
        formula="F_i, the sum of the weights of the records that f_i counts, each as much as there",
        scale=_scale("range_frequency", "scale_people", "scale_low"),
    ),
    Topic(
        id="global_risk",
        aliases=("mean individual risk",),
        command=f"{ASSESS} --weight COLUMN",
        page="docs/population.md",
        formula="(1/n) sum r over the n records, r the individual risk",
        scale=_scale("range_unit", "scale_share", "scale_high"),
    ),
    Topic(
        id="expected_reidentifications",
        aliases=("expected re-identifications",),
        command=f"{ASSESS} --weight COLUMN",
        page="docs/population.md",
        formula="sum r over the records, r the individual risk",
        scale=_scale("range_number", "scale_records", "scale_high"),
    ),
    Topic(
        id="suda_score",
        aliases=("score of a record",),
        command=f"{EXPLAIN} (of each record: --records FILE)",
        page="docs/suda.md",
        formula="sum over the minimal sample uniques (s columns each) of prod_{i=s}^{M} (A - i), A "
        "the number of columns, M the largest size searched",
        scale=_scale("range_zero", "scale_rank", "scale_high"),
    ),
    Topic(
        id="dis_suda_score",
        aliases=("DIS score",),
        command=f"{EXPLAIN} --fraction F (of each record: --records FILE)",
        page="docs/suda.md",
        formula="1/(1 + (U/D - U)/(score^Q S)), D = U f/(U f + P(1 - f)), Q = 1 + (8 - A)/20",
        scale=_scale("range_unit", "scale_estimated", "scale_high"),
    ),
    Topic(
        id="unicity",
        aliases=("trajectory",),
        command="sievert assess DATA -q COLUMNS --person COLUMN --trajectory M",
        page="docs/people.md",
    ),
    Topic(
        id="attacks",
        aliases=("identity", "homogeneity", "background", "skewness", "semantic"),
        command="sievert attack RELEASE -q COLUMNS -s SECRET",
        page="docs/attacks.md",
    ),
    Topic(
        id="linkage",
        aliases=("record linkage", "gower"),
        command="sievert attack RELEASE -q COLUMNS --original ORIGINAL",
        page="docs/linkage.md",
    ),
    Topic(
        id="reasoning",
        aliases=("learner", "attacker", "bayesian attacker"),
        command="sievert attack RELEASE -q COLUMNS -s SECRET --original ORIGINAL",
        page="docs/attacks/reasoning.md",
    ),
    Topic(
        id="identity_disclosure",
        aliases=("identity risk", "I(X';X)"),
        command=COMPARE,
        page="docs/compare.md",
        formula="I(X';X), X the original quasi-identifiers of a record, X' the released ones",
        scale=_scale("range_key_entropy", "scale_bits", "scale_high"),
    ),
    Topic(
        id="attribute_disclosure",
        aliases=("attribute risk", "I(X';Y)"),
        command=COMPARE,
        page="docs/compare.md",
        formula="I(X';Y), X' the released quasi-identifiers of a record, Y its secret",
        scale=_scale("range_secret_entropy", "scale_bits", "scale_high"),
    ),
    Topic(
        id="information_loss",
        aliases=("disclosure", "loss"),
        command=COMPARE,
        page="docs/compare.md",
        formula="I(X;Y) - I(X';Y), less what chance makes of no loss",
        scale=_scale("range_information", "scale_bits", "scale_useful"),
    ),
    Topic(
        id="approximate_compromise",
        aliases=("h(eps)", "h(epsilon)", "h0", "area"),
        command="sievert compromise DATA -q COLUMNS -s SECRET",
        page="docs/approximate.md",
    ),
    Topic(
        id="limit",
        aliases=("trade-off", "rate-distortion"),
        command="sievert limit DATA -q COLUMNS -s SECRET",
        page="docs/limit.md",
    ),
)
Entry = Measure | LossKind | Topic
ENTRIES: tuple[Entry, ...] = (*MEASURES, *KINDS, *TOPICS)


def _key(name: str) -> str:
    """Write a name in lower case, with underscores for blanks and hyphens."""
    return re.sub(r"[\s_-]+", "_", name.strip().casefold())


def by_name() -> dict[str, list[Entry]]:
    """List the entries by id and by alias; several entries may share an alias."""
    names: dict[str, list[Entry]] = {}
    for entry in ENTRIES:
        for alias in entry.aliases:
            names.setdefault(_key(alias), []).append(entry)
    return names | {_key(entry.id): [entry] for entry in ENTRIES}


def find_entries(names: Iterable[str]) -> list[Entry]:
    """Find the entries of the names, each once; all entries if there are no names."""
    known = by_name()
    entries: list[Entry] = []
    for name in names:
        if _key(name) not in known:
            words = {word: entry for key, entry in known.items() for word in key.split("_")}
            alike = {word: words[word] for word in words if len(word) > SHORT} | known
            close = nearest(_key(name), alike)
            hint = (
                f"{alike[close][0].id!r}" if close else "sievert measures, which lists all of them"
            )
            raise UsageError(f"measure {name!r} does not exist", hint=hint)
        entries += known[_key(name)]
    return list(dict.fromkeys(entries)) or list(ENTRIES)


def describe_entry(entry: Entry, texts: Texts) -> Iterator[str]:
    """Describe an entry in the lines of a paragraph."""
    title = texts(_title_key(entry))
    if entry.id == "records_below":
        title = texts("words.below_k", title=title, k="k")
    yield from wrap(f"{entry.id}: {title}", WIDTH, "", " " * 12)
    for word, text in (("also", ", ".join(entry.aliases)), *_rows(entry, texts)):
        if text:
            label = texts(f"catalogue.{word}")
            yield from wrap(f"{label:<10}{text}", WIDTH, "  ", " " * 12)


def _title_key(entry: Entry) -> str:
    """Write the key of the title of an entry."""
    if isinstance(entry, Topic):
        return f"catalogue.topics.{entry.id}"
    if isinstance(entry, Measure):
        return f"measures.{entry.id}.title"
    return f"losses.{entry.id}.title"


def _rows(record: Entry, texts: Texts) -> tuple[tuple[str, str], ...]:
    """List what is said of a record, each with the key of its label."""
    if isinstance(record, Topic):
        return (
            ("formula", record.formula),
            ("range", texts.remark(record.scale)),
            ("command", record.command),
            ("page", record.page),
        )
    if isinstance(record, Measure):
        words = scale(texts, record.id)
        side = texts(RISKY[record.riskier])
        about = texts(ABOUT[record.kinds])
        reading = texts(f"measures.{record.id}.reading")
    else:
        words = unit(texts, record.unit)
        if record.unit == "1":
            words = texts("units.share" if (record.low, record.high) == (0, 1) else "units.ratio")
        side = texts(WORSE[record.worse])
        about = texts("catalogue.about_release")
        reading = texts(f"losses.{record.id}.reading")
    return (
        ("formula", record.formula),
        ("range", f"{texts.remark(record.bounds)}; {words}; {side}"),
        ("about", about),
        ("reading", reading),
        ("source", record.source),
    )


def to_json(entries: Iterable[Entry]) -> dict[str, Any]:
    """Put the records of the entries into the JSON."""
    fields = ("title", "unit", "low", "high", "formula", "reading", "source")
    content: dict[str, dict[str, Any]] = {"measures": {}, "losses": {}, "topics": {}}
    for entry in entries:
        also = {"aliases": list(entry.aliases)}
        if isinstance(entry, Topic):
            content["topics"][entry.id] = also | {
                "command": entry.command,
                "page": entry.page,
                "formula": entry.formula,
                "scale": entry.scale,
            }
            continue
        record = also | {name: getattr(entry, name) for name in fields}
        if isinstance(entry, Measure):
            laws = [law.name.lower() for law in entry.laws]
            record |= {"riskier": entry.riskier, "laws": laws, "about": list(entry.kinds)}
            content["measures"][entry.id] = record
        else:
            content["losses"][entry.id] = record | {"worse": entry.worse}
    return content
