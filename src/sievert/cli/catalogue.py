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
from sievert.report.numbers import scale, unit
from sievert.report.texts import Texts

WIDTH = 100
SHORT = 3  # letters of words with which mistyped names are not compared


@dataclass(frozen=True)
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
    Topic("suda", ("dis-suda", "suda2", "msu", "special uniques"), EXPLAIN, "docs/suda.md"),
    Topic("shapley", ("shapley value", "share of a column"), EXPLAIN, "docs/explain.md"),
    Topic(
        "population",
        ("journalist risk", "dankar", "unique match"),
        f"{EXPLAIN} --fraction F",
        "docs/population.md",
    ),
    Topic(
        "individual_risk",
        ("franconi-polettini", "benedetti-franconi"),
        f"{ASSESS} --weight COLUMN (of each record: --records FILE)",
        "docs/population.md",
        "p^f/f 2F1(f, f; f+1; 1-p), f the records of the class (with --missing wildcard: those "
        "that match), p = f/F, F the sum of their weights",
        _scale("range_unit", "scale_matches", "scale_high"),
    ),
    Topic(
        "frequency",
        ("fk", "sample frequency", "wildcard frequency"),
        f"{ASSESS} --missing wildcard --records FILE",
        "docs/population.md",
        "f_i, the sum over the records j that match record i of 1, or of alpha where j lacks a "
        "value that i has",
        _scale("range_from_one", "scale_records", "scale_low"),
    ),
    Topic(
        "population_frequency",
        ("weighted frequency",),
        f"{ASSESS} --weight COLUMN --records FILE",
        "docs/population.md",
        "F_i, the sum of the weights of the records that f_i counts, each as much as there",
        _scale("range_frequency", "scale_people", "scale_low"),
    ),
    Topic(
        "global_risk",
        ("mean individual risk",),
        f"{ASSESS} --weight COLUMN",
        "docs/population.md",
        "(1/n) sum r over the n records, r the individual risk",
        _scale("range_unit", "scale_share", "scale_high"),
    ),
    Topic(
        "expected_reidentifications",
        ("expected re-identifications",),
        f"{ASSESS} --weight COLUMN",
        "docs/population.md",
        "sum r over the records, r the individual risk",
        _scale("range_number", "scale_records", "scale_high"),
    ),
    Topic(
        "suda_score",
        ("score of a record",),
        f"{EXPLAIN} (of each record: --records FILE)",
        "docs/suda.md",
        "sum over the minimal sample uniques (s columns each) of prod_{i=s}^{M} (A - i), A the "
        "number of columns, M the largest size searched",
        _scale("range_zero", "scale_rank", "scale_high"),
    ),
    Topic(
        "dis_suda_score",
        ("DIS score",),
        f"{EXPLAIN} --fraction F (of each record: --records FILE)",
        "docs/suda.md",
        "1/(1 + (U/D - U)/(score^Q S)), D = U f/(U f + P(1 - f)), Q = 1 + (8 - A)/20",
        _scale("range_unit", "scale_estimated", "scale_high"),
    ),
    Topic(
        "unicity",
        ("trajectory",),
        "sievert assess DATA -q COLUMNS --person COLUMN --trajectory M",
        "docs/people.md",
    ),
    Topic(
        "attacks",
        ("identity", "homogeneity", "background", "skewness", "semantic"),
        "sievert attack RELEASE -q COLUMNS -s SECRET",
        "docs/attacks.md",
    ),
    Topic(
        "linkage",
        ("record linkage", "gower"),
        "sievert attack RELEASE -q COLUMNS --original ORIGINAL",
        "docs/linkage.md",
    ),
    Topic(
        "reasoning",
        ("learner", "attacker", "bayesian attacker"),
        "sievert attack RELEASE -q COLUMNS -s SECRET --original ORIGINAL",
        "docs/attacks/reasoning.md",
    ),
    Topic(
        "identity_disclosure",
        ("identity risk", "I(X';X)"),
        COMPARE,
        "docs/compare.md",
        "I(X';X), X the original quasi-identifiers of a record, X' the released ones",
        _scale("range_key_entropy", "scale_bits", "scale_high"),
    ),
    Topic(
        "attribute_disclosure",
        ("attribute risk", "I(X';Y)"),
        COMPARE,
        "docs/compare.md",
        "I(X';Y), X' the released quasi-identifiers of a record, Y its secret",
        _scale("range_secret_entropy", "scale_bits", "scale_high"),
    ),
    Topic(
        "information_loss",
        ("disclosure", "loss"),
        COMPARE,
        "docs/compare.md",
        "I(X;Y) - I(X';Y), less what chance makes of no loss",
        _scale("range_information", "scale_bits", "scale_useful"),
    ),
    Topic(
        "approximate_compromise",
        ("h(eps)", "h(epsilon)", "h0", "area"),
        "sievert compromise DATA -q COLUMNS -s SECRET",
        "docs/approximate.md",
    ),
    Topic(
        "limit",
        ("trade-off", "rate-distortion"),
        "sievert limit DATA -q COLUMNS -s SECRET",
        "docs/limit.md",
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
    known, entries = by_name(), list[Entry]()
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
    title = texts(f"{_section(entry)}.{entry.id}{'' if isinstance(entry, Topic) else '.title'}")
    if entry.id == "records_below":
        title = texts("words.below_k", title=title, k="k")
    yield from wrap(f"{entry.id}: {title}", WIDTH, "", " " * 12)
    for word, text in (("also", ", ".join(entry.aliases)), *_rows(entry, texts)):
        if text:
            label = texts(f"catalogue.{word}")
            yield from wrap(f"{label:<10}{text}", WIDTH, "  ", " " * 12)


def _section(entry: Entry) -> str:
    """The section of the texts with the words of an entry."""
    return {Topic: "catalogue.topics", Measure: "measures"}.get(type(entry), "losses")


def _rows(record: Entry, texts: Texts) -> tuple[tuple[str, str], ...]:
    """The labelled rows of an entry."""
    if isinstance(record, Topic):
        return (
            ("formula", record.formula),
            ("range", texts.remark(record.scale)),
            ("command", record.command),
            ("page", record.page),
        )
    if isinstance(record, Measure):
        words, side = scale(texts, record.id), texts(f"risky.{record.riskier}")
        about = texts(f"catalogue.about_{'_'.join(record.kinds) or 'class'}")
    else:
        words = "share" if (record.low, record.high) == (0, 1) else "ratio"
        words = texts(f"units.{words}") if record.unit == "1" else unit(texts, record.unit)
        side = texts(f"worse.{record.worse}")
        about = texts("catalogue.about_release")
    return (
        ("formula", record.formula),
        ("range", f"{texts.remark(record.bounds)}; {words}; {side}"),
        ("about", about),
        ("reading", texts(f"{_section(record)}.{record.id}.reading")),
        ("source", record.source),
    )


def to_json(entries: Iterable[Entry]) -> dict[str, Any]:
    """Put the records of the entries into the JSON."""
    fields = ("title", "unit", "low", "high", "formula", "reading", "source")
    content: dict[str, dict[str, Any]] = {"measures": {}, "losses": {}, "topics": {}}
    for entry in entries:
        also = {"aliases": list(entry.aliases)}
        if isinstance(entry, Topic):
            fields_ = ("command", "page", "formula", "scale")
            content["topics"][entry.id] = also | {name: getattr(entry, name) for name in fields_}
            continue
        record = also | {name: getattr(entry, name) for name in fields}
        if isinstance(entry, Measure):
            laws = [law.name.lower() for law in entry.laws]
            record |= {"riskier": entry.riskier, "laws": laws, "about": list(entry.kinds)}
            content["measures"][entry.id] = record
        else:
            content["losses"][entry.id] = record | {"worse": entry.worse}
    return content
