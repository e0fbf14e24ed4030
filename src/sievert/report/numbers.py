"""Numbers in words: measures as in the JSON of an assessment, bits, distortions and quotients."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os.path import commonprefix
from typing import Protocol

from sievert.formatting import make_unique, middle_cut, own_name, percent, printable, significant
from sievert.measures import BY_ID
from sievert.measures.measure import NOTHING_TO_LEARN, UNBOUNDED, Value
from sievert.report.page import Paragraph
from sievert.report.parts import NumberText, NumberWriter, ReportPart
from sievert.report.texts import Texts

SHARES = {"unique_records"}  # of people: in per cent
NOISE = 1e-9  # bits: rounding alone
MOST_NAMED = 4  # releases or limits in a sentence
LONGEST = 60  # letters of a release's name
SHORT = 12  # letters: names of files that are all as short keep what they have in common
ENDINGS = re.compile(
    r"\.(csv|tsv|txt|parquet|pq|arrow|feather|json|jsonl|ndjson)(\.[a-z0-9]{2,4})?", re.I
)
NOTHING = 1e-3  # bits: a ratio to less is not disclosed
# The side of a measure that is risky, and of a loss that is worse.
RISKY = {"high": "risky.high", "low": "risky.low", "neither": "risky.neither"}
WORSE = {"high": "worse.high", "low": "worse.low"}
# In place of a number, by the reason why it is not there.
WHY: Mapping[str, str] = {
    UNBOUNDED: "words.unbounded",
    NOTHING_TO_LEARN: "words.nothing_to_learn",
}


# -- measures -------------------------------------------------------------------------------------


def value_text(writer: NumberWriter, value: Value) -> NumberText:
    """A value of an assessment."""
    number = value.value
    if number is None:
        return NumberText(why(writer.texts, value.reason), None)
    if isinstance(number, int):
        return writer.count(number)
    return writer.share(number) if value.id in SHARES else writer.number(number)


def why(texts: Texts, reason: str | None) -> str:
    """Say in place of a missing number why it is missing, for a `reason`."""
    return texts(WHY.get(reason or "", "words.undefined"))


def measure_title(texts: Texts, measure: str) -> str:
    """A measure by its title; by its id where this version does not know it."""
    return texts.get(f"measures.{measure}.title", printable(measure))


def scale(texts: Texts, measure: str) -> str:
    """The unit of a measure in words."""
    m = BY_ID[measure]
    if m.unit != "1":
        return unit(texts, m.unit)
    if measure in SHARES:
        return texts("units.share_of_records")
    return texts("units.share" if m.high == 1 else "units.ratio")


def unit(texts: Texts, name: str) -> str:
    """A unit in words; a number without one is a share or a ratio."""
    key = name.replace(" ", "_").replace("/", "_per_").replace("²", "_squared")
    return texts.get(f"units.{key}", name)


# -- bits and quotients ---------------------------------------------------------------------------


def clean(value: float | None) -> float | None:
    """Replace a number that is only a rounding error by 0.

    >>> clean(-2e-17), clean(0.25), clean(None)
    (0.0, 0.25, None)
    """
    if value is None:
        return None
    if abs(value) <= NOISE:
        return 0.0
    return float(value)


def bits_text(writer: NumberWriter, value: float | None) -> NumberText:
    """Write bits per record; never -0."""
    return writer.number(clean(value))


def proportion(writer: NumberWriter, value: float | None) -> NumberText:
    """A mean share of cells that were changed, in per cent; nothing is drawn as nothing."""
    return writer.share(clean(value))


def share_of(
    writer: NumberWriter, part: NumberText, whole: NumberText, *, rest: bool = False
) -> NumberText:
    """A part as a share of a whole, or what is left of it."""
    if part.number is None or whole.number is None or whole.number <= NOISE:
        return writer.undefined()
    if rest and part.number > whole.number:
        return writer.undefined()
    share = part.number / whole.number
    share = min(1.0, max(0.0, 1.0 - share if rest else share))
    return NumberText(percent(clean(share) or 0.0), share)


def times(writer: NumberWriter, disclosed: NumberText, least: NumberText) -> NumberText:
    """Write the ratio of disclosure to the least possible, unless that is next to nothing."""
    if disclosed.number is None or least.number is None or least.number <= NOTHING:
        return writer.undefined()
    ratio = disclosed.number / least.number
    return NumberText(significant(ratio), ratio)


def interval_text(writer: NumberWriter, low: NumberText, high: NumberText) -> str:
    """Write an interval from its low end to its high end."""
    if low.number is None or high.number is None:
        return str(low)
    return writer.texts("compared.range", low=low, high=high)


def release_names(releases: Iterable[tuple[str, str | None]]) -> list[str]:
    """Name releases: by their own names, with a number where two are alike.

    Each of the `releases` has a name and that of its file. Names of files go without their endings
    and, where they are long, without what all begin with.
    """
    own = [(name, own_name(name, file)) for name, file in releases]
    stems = [ENDINGS.sub("", file) if file != name else name for name, file in own]
    of_files = all(file != name for name, file in own)
    if len(stems) > 1 and of_files and max(map(len, stems)) > SHORT:
        same = commonprefix(stems)  # noqa: RUF071 - letters, not folders
        start = max((i + 1 for i, c in enumerate(same) if c in "_-. "), default=0)
        stems = [stem[start:] for stem in stems]
    return make_unique(middle_cut(printable(stem[: 4 * LONGEST]), LONGEST) for stem in stems)


def some_names(part: ReportPart, more: str, names: Sequence[str]) -> str:
    """List things in a sentence; of a long list the first ones, and the number of the others."""
    left = len(names) - MOST_NAMED
    first = ", ".join(names[:MOST_NAMED])
    if left < 2:
        return part.texts.join(names)
    return part.texts(more, releases=first, limits=first, number=left)


def side_by_side(
    part: ReportPart, caption: str, number: int, width: int
) -> Iterator[tuple[slice, str]]:
    """Releases in tables of a few, each table with its caption."""
    for start in range(0, number, width):
        last = min(start + width, number)
        many = part.texts("compared.several", caption=caption, first=start + 1, last=last)
        yield slice(start, last), many if number > width else caption


class PairingEvidence(Protocol):
    """How records were paired, and the evidence, as `pairing` finds it."""

    @property
    def paired(self) -> bool | None:
        """Whether they are; None where the evidence does not decide."""

    @property
    def by(self) -> str:
        """By what: order, key, file or stated."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns that decided."""

    @property
    def excess(self) -> Sequence[float]:
        """Their standard deviations over chance."""


def pairing_paragraphs(
    part: ReportPart, pairings: Iterable[PairingEvidence | None], names: Sequence[str] = ("",)
) -> list[Paragraph]:
    """Say what shows that tables are paired by their order, or that nothing shows it.

    `names` are those of several releases; one sentence says what is the same of several.
    """
    said: dict[tuple[str, str], list[str]] = {}
    for pairing, name in zip(pairings, names, strict=True):
        text = "" if pairing is None else _pairing_text(part, pairing)
        if pairing is not None and text:
            kind = "warning" if pairing.paired is None else ""
            said.setdefault((text, kind), []).append(name)
    paragraphs = []
    for (text, kind), these in said.items():
        if len(names) > 1 and len(these) < len(names):
            releases = some_names(part, "compared.others", these)
            text = part.texts("pairing.of", releases=releases, text=text)
        paragraphs.append(Paragraph(text, kind) if kind else Paragraph(text))
    return paragraphs


def _pairing_text(part: ReportPart, pairing: PairingEvidence) -> str:
    """Describe one pairing; a pairing by key needs no words."""
    if pairing.by == "stated":
        return part.texts("pairing.stated")
    if pairing.by == "file":
        return part.texts("pairing.file")
    if pairing.by != "order":
        return ""
    if pairing.paired is None:
        return part.texts("pairing.unknown")
    first, second = map(part.writer.name, pairing.columns)
    one, other = map(part.writer.number, pairing.excess)
    return part.texts("pairing.order", first=first, second=second, one=one, other=other)
