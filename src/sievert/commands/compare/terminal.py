"""A comparison in words and numbers: first the table of releases, then each on its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sievert.commands._terminal import (
    heading_lines,
    limit_lines,
    note_lines,
    number_line,
    number_text,
    shorten,
    tabulate,
)
from sievert.formatting import percent, plural, printable, significant, wrap
from sievert.losses import BY_ID

if TYPE_CHECKING:
    from sievert.commands.compare.disclosures import Bits
    from sievert.commands.compare.distance_to_limit import Limit, Placed
    from sievert.commands.compare.policy import Held
    from sievert.commands.compare.result import Compared, Comparison
    from sievert.estimators import InformationEstimate
    from sievert.losses.loss import Loss
    from sievert.measures.value import Value
NOISE = 1e-12  # of a difference of bits: rounding alone
SHOWN = (
    "generalization_loss",
    "discernability",
    "normalized_certainty_penalty",
    "expected_distortion",
    "probabilistic_information_loss",
    "hellinger_margins",
    "pmse",
    "prediction",
    "model_loss",
)
OF_RECORDS = {
    "k": "k_anonymity",
    "classes": "classes",
    "unique": "unique_records",
    "avg. risk": "average_risk",
    "DR": "discrimination_rate",
    "ITPR": "itpr",
    "ITPR eq. 9": "itpr_unnormalized",
}
OF_SECRET = {
    "l": "l_diversity",
    "t": "t_closeness",
    "confidence": "max_confidence",
    "bits": "mutual_information",
    "DR": "discrimination_rate",
    "ITPR": "itpr",
    "ITPR eq. 9": "itpr_unnormalized",
}


def render(found: Comparison, *, width: int = 100, everything: bool = False) -> str:
    """The whole text."""
    lines = [*heading_lines(found, width), "", *_answer(found, width)]
    lines += [*_policy(found, width, everything), *_limits(found, width)]
    if everything or len(found.releases) == 1:
        for release in found.releases:
            lines += ["", *_release(release, width, everything)]
    lines += ["", *_beside(found, width), "", *_losses(found, width, everything)]
    lines += note_lines(found.warnings, width)
    if not everything:
        lines += ["", "Every loss, release and column: --all. What numbers mean: docs/compare.md."]
    return "\n".join(lines)


# -- all releases ---------------------------------------------------------------------------------


def _answer(found: Comparison, width: int) -> list[str]:
    """The table of releases, and what follows from it."""
    who = (
        "it discloses and what it has"
        if len(found.releases) == 1
        else ("they disclose and what they have")
    )
    many = plural(len(found.releases), "release")
    lines = [f"{many}: what {who} lost, in bits a record"]
    secrets = list(found.original["attribute_disclosure"])
    for secret in secrets or [None]:
        lines += ["", *_table(found, secret, width)]
    lines += ["", *_meaning(secrets, width)]
    for sentence in _verdict(found):
        lines += wrap(sentence, width, "  ")
    return lines


def _table(found: Comparison, secret: str | None, width: int) -> list[str]:
    head = ["release", "identity", "of all"]
    rows: list[list[str]] = []
    if secret is not None:
        head += ["told", "corrected", "lost", "+-", "of all"]
    head += ["k", "suppressed"]
    for row, release in zip(_numbered(found), found.releases, strict=True):
        identity = release.disclosed.identity.whole
        cells = [row, _short(identity.value), _share(identity)]
        if secret is not None:
            told = release.disclosed.attribute[secret].whole
            lost = release.disclosed.loss[secret].whole
            whole = found.original["attribute_disclosure"][secret].whole.corrected
            share = percent(lost.beyond / whole) if 0 <= lost.beyond <= whole > NOISE else ""
            half = (lost.interval[1] - lost.interval[0]) / 2
            cells += [_short(told.value), _short(_rounded(told.corrected))]
            cells += [_short(_rounded(lost.beyond)), _short(half), share]
        cells += [number_text(release.assessment.reidentification["k_anonymity"])]
        cells += [f"{release.records['suppressed']:,}"]
        rows.append(cells)
    title = [f"  {printable(secret)}"] if secret is not None else []
    marks = ["dominated" if r.dominated_by else "" for r in found.releases]
    return title + tabulate([head, *rows], ["", *marks], width, names=True)


def _numbered(found: Comparison) -> list[str]:
    return [f"{i} {shorten(printable(r.name))}" for i, r in enumerate(found.releases, 1)]


def _meaning(secrets: Sequence[str], width: int) -> list[str]:
    text = (
        "identity: I(X';X), how much a released record tells of the original key (risky when "
        "high), and its share of all there is to tell."
    )
    if secrets:
        text += (
            " told: I(X';Y), what the released key tells of the secret in this table (risky when "
            "high); corrected: without what chance alone gives. lost: I(X;Y) - I(X';Y), what "
            "the release no longer tells (less useful when high), beyond what chance makes of no "
            "loss, with half the width of its 95 % interval and its share of what the original "
            "tells (corrected)."
        )
    return wrap(text, width, "  ")


def _verdict(found: Comparison) -> list[str]:
    """Which releases are out, and between what the others are a choice."""
    if len(found.releases) < 2 or not found.original["attribute_disclosure"]:
        return []
    lines = [
        f"{shorten(printable(r.name))} is dominated: {_listed(r.dominated_by)} "
        f"{'disclose' if len(r.dominated_by) > 1 else 'discloses'} no more of the key and "
        f"{'have' if len(r.dominated_by) > 1 else 'has'} lost no more."
        for r in found.releases
        if r.dominated_by
    ]
    left = [r for r in found.releases if not r.dominated_by]
    if len(left) == 1:
        lines.append(f"{shorten(printable(left[0].name))} is the best of these in both respects.")
        return lines
    if not lines:
        lines.append("No release is dominated: each is better than any other in some respect.")
    least = min(left, key=lambda r: r.disclosed.identity.whole.value)
    lines.append(
        f"Least disclosed: {shorten(printable(least.name))} "
        f"({significant(least.disclosed.identity.whole.value)} bits of the key)."
    )
    for secret in found.original["attribute_disclosure"]:
        best = min(left, key=lambda r: r.disclosed.loss[secret].whole.beyond)
        lost = best.disclosed.loss[secret].whole
        if all(_overlap(lost, r.disclosed.loss[secret].whole) for r in left):
            lines.append(
                f"Least lost of {shorten(printable(secret))}: not told apart, the intervals of all "
                "overlap."
            )
            continue
        lines.append(
            f"Least lost of {printable(secret)}: {shorten(printable(best.name))} "
            f"({_signed(_rounded(lost.beyond))} bits)."
        )
    return lines


def _policy(found: Comparison, width: int, everything: bool) -> list[str]:
    """Each table and the limits that it breaches, or all of them."""
    tables: list[tuple[str, Held | None]] = [("original", found.original.get("policy"))]
    held = (r.policy for r in found.releases)
    tables += zip(_numbered(found), held, strict=True)
    lines: list[str] = []
    for name, policy in tables:
        if policy is None:
            continue
        lines += [] if lines else ["", "Limits of the policy, held against each table on its own"]
        lines.append(f"  {name}: {_held(policy)}")
        for v in sorted(policy.verdicts, key=lambda v: v.met is not False):
            if everything or v.met is False:
                lines += [f"  {line}" for line in limit_lines(v, width - 2)]
    return lines


def _held(policy: Held) -> str:
    """Met, or how many are not."""
    many = len(policy.verdicts)
    if not policy.breached and not policy.doubtful:
        return f"met ({many} of {many})"
    breached = f"{policy.breached} of {many} breached" if policy.breached else "none breached"
    return f"{breached}, {policy.doubtful} not evaluated" if policy.doubtful else breached


def _limits(found: Comparison, width: int) -> list[str]:
    """Each release beside the least bits that its distortion would allow."""
    lines: list[str] = []
    for secret, limit in found.limits.items():
        lines += ["", f"How far from the limit: {printable(secret)}, bits a record"]
        rows = [["release", "distortion", "told", "least possible", "known to", "ratio"]]
        placed = [release.limit[secret] for release in found.releases]
        for name, p in zip(_numbered(found), placed, strict=True):
            least = "-" if p.least is None else _short(p.least)
            bound = "-" if p.bound is None else _short(p.bound)
            ratio = "-" if p.ratio is None else _short(p.ratio)
            rows.append([name, percent(p.distortion), _short(p.disclosed), least, bound, ratio])
        lines += tabulate(rows, [""] * len(rows), width, names=True)
        lines += wrap(OF_LIMIT, width, "  ")
        for release, p in zip(found.releases, placed, strict=True):
            lines += wrap(limit_sentence(release.name, p), width, "  ")
        lines += wrap(_silent(limit), width, "  ")
    return lines


OF_LIMIT = (
    "distortion: mean share of quasi-identifiers that the best reading of the released record gets "
    "wrong. least possible: what the best release with that distortion tells of the secret; known "
    "to: what none is below. ratio: told as a multiple of the least possible."
)


def limit_sentence(name: str, placed: Placed) -> str:
    """What one release could be."""
    said = f"{shorten(printable(name))} discloses {_short(placed.disclosed)} bits; "
    if placed.least is None:
        return f"{said}{placed.reason}."
    if placed.ratio is None:
        return f"{said}with as much distortion {_short(placed.least)} would be possible."
    times = f"{_short(placed.ratio)} times {'the least' if placed.bound is not None else 'that'}"
    return f"{said}with as much distortion {_short(placed.least)} would be possible: {times}."


def _silent(limit: Limit) -> str:
    """From which distortion on nothing need be told."""
    if limit.perfect is None:
        return f"The least distortion that tells nothing is not known: {limit.reason}."
    return f"A release that tells nothing needs a distortion of {percent(limit.perfect)}."


def _overlap(one: InformationEstimate, other: InformationEstimate) -> bool:
    """Whether the intervals of two losses share a number."""
    halves = ((e.interval[1] - e.interval[0]) / 2 for e in (one, other))
    return abs(one.beyond - other.beyond) <= sum(halves)


def _listed(names: Sequence[str]) -> str:
    *first, last = [shorten(printable(n)) for n in names]
    return f"{', '.join(first)} and {last}" if first else last


def _beside(found: Comparison, width: int) -> list[str]:
    """The measures of every table on its own, the original first."""
    lines = wrap(
        "Each table on its own, original first (k in records, l in values: risky when low; classes "
        "in numbers, bits in bits, all others shares from 0 to 1: risky when high)",
        width,
        "",
    )
    tables = [("original", found.original["assessment"])]
    tables += list(zip(_numbered(found), (r.assessment for r in found.releases), strict=True))
    secrets: list[str | None] = [None, *found.original["attribute_disclosure"]]
    for secret in secrets:
        chosen = OF_RECORDS if secret is None else OF_SECRET
        rows = [["finding a person" if secret is None else shorten(printable(secret)), *chosen]]
        for name, each in tables:
            held = each.reidentification if secret is None else each.inference.get(secret, {})
            cells = [_cell(held[i]) if i in held else "" for i in chosen.values()]
            rows.append([f"  {name}", *cells])
        lines += tabulate(rows, [""] * len(rows), width, names=True)
    return lines


def _cell(value: Value) -> str:
    if value.value is None:
        return number_text(value)
    return f"{value.value:,}" if isinstance(value.value, int) else _short(value.value)


def _losses(found: Comparison, width: int, everything: bool) -> list[str]:
    """One row a loss, one column a release, and whether it ranks them as bits do."""
    lines = ["Other losses (shares or ratios unless a unit is given; worse when high unless said)"]
    secrets = list(found.original["attribute_disclosure"])
    ranked = bool(found.rank_correlation)
    head = ["", *(str(i) for i, _ in enumerate(found.releases, 1))]
    head += [f"ranks as {printable(s)[:16]}" for s in secrets] if ranked else []
    rows, after, reasons = [head], [""], []
    for name in found.releases[0].losses:
        held = [r.losses[name] for r in found.releases]
        if not everything and (name not in SHOWN or all(each.value is None for each in held)):
            continue
        kind = BY_ID[name]
        title = kind.title if kind.unit == "1" else f"{kind.title}, {kind.unit}"
        row = [title, *("-" if e.value is None else _short(e.value) for e in held)]
        if ranked:
            correlations = found.rank_correlation.get(name, {})
            row += ["" if (c := correlations.get(s)) is None else _short(c) for s in secrets]
        rows.append(row)
        after.append("" if kind.worse == "high" else f"worse when {kind.worse}")
        reasons += [f"{kind.title}: {e.reason}" for e in held if e.value is None and e.reason]
    lines += tabulate(rows, after, width)
    if ranked:
        text = (
            "ranks as: rank correlation (Spearman) with what was lost beyond chance over the "
            "releases; 1 the same order, -1 the reverse."
        )
        lines += wrap(text, width, "  ")
    for reason in dict.fromkeys(reasons):
        lines += wrap(reason, width, "  - ", "    ")
    return lines


# -- one release ----------------------------------------------------------------------------------


def _release(release: Compared, width: int, everything: bool) -> list[str]:
    records = release.records
    told = [f"{plural(release.rows, 'record')}"]
    if records["not_released"]:
        told.append(f"{records['not_released']:,} of the original not released")
    if records["suppressed"]:
        told.append(f"{records['suppressed']:,} suppressed (a category of their own)")
    if records["cells_suppressed"]:
        told.append(f"{plural(records['cells_suppressed'], 'cell')} suppressed")
    lines = wrap(f"{printable(release.name)}: {', '.join(told)}", width, "", "  ")
    lines += ["  Disclosed of the key, I(X';X)"]
    lines += _bits(release.disclosed.identity, everything, "risky when high")
    for secret, bits in release.disclosed.attribute.items():
        lines += [f"  Disclosed of {printable(secret)}, I(X';Y)"]
        lines += _bits(bits, everything, "risky when high")
        least = significant(bits.details["floor"])
        after = f"such classes tell {least} bits or more"
        t = significant(bits.details["t_closeness"])
        lines.append("  " + number_line("Farthest class (t)", t, after))
        lines += [f"  Lost of {printable(secret)}, I(X;Y) - I(X';Y)"]
        lines += _bits(release.disclosed.loss[secret], everything, "worse when high")
    if everything:
        lines += ["  Losses by column"]
        lines += _by_column(release.losses)
    return lines


def _bits(bits: Bits, everything: bool, risky: str) -> list[str]:
    whole = bits.whole
    of = "" if whole.maximum is None else f" of at most {significant(whole.maximum)}"
    lines = ["  " + number_line("In this table", _signed(whole.value), f"bits{of}; {risky}")]
    after = "bits" if whole.p_value is None else f"bits; p = {significant(whole.p_value)}"
    lines.append("  " + number_line("By chance alone", _signed(whole.chance), after))
    after = f"bits; 95 %: {_range(whole.interval)}"
    lines.append(
        "  " + number_line("Beyond chance (corrected)", _signed(_rounded(whole.corrected)), after)
    )
    if whole.excess is not None:
        after = "bits; less what chance makes of no loss"
        lines.append(
            "  " + number_line("Beyond no loss (excess)", _signed(_rounded(whole.excess)), after)
        )
    if everything:
        after = f"bits; {significant(whole.rows_per_cell)} records a cell"
        lines.append("  " + number_line("Miller-Madow", _signed(whole.miller_madow), after))
        for column, each in bits.columns.items():
            after = f"bits; corrected {_signed(_rounded(each.corrected))}; {_range(each.interval)}"
            lines.append(
                "  " + number_line(f"  {printable(column)} alone", _signed(each.value), after)
            )
    return lines


def _by_column(losses: Mapping[str, Loss]) -> list[str]:
    lines = []
    for name, loss in losses.items():
        shown = {
            c: each.get("value") if isinstance(each, Mapping) else each
            for c, each in loss.columns.items()
        }
        held = [(c, x) for c, x in shown.items() if isinstance(x, int | float)]
        if held:
            lines.append(f"    {BY_ID[name].title}")
            lines += ["  " + number_line(f"  {printable(c)}", _signed(x), "") for c, x in held]
    return lines


# -- numbers --------------------------------------------------------------------------------------


def _share(found: InformationEstimate) -> str:
    share = found.share
    return "" if share is None else percent(max(0.0, min(1.0, share)))


def _short(x: float) -> str:
    """Three digits or so: a table is to be looked over.

    >>> [_short(x) for x in (1.7595, 0.005473, -0.25, 341691382.0, 0.0, 1.0, 0.99995)]
    ['1.76', '0.00547', '-0.25', '3.417e+08', '0', '1', '0.99995']
    """
    if abs(x) >= 1e7:
        return f"{x:.4g}"
    if x == int(x) or abs(x) >= 1000:
        return f"{x:,.0f}"
    text = f"{x:.3g}"
    return significant(abs(x)) if float(text) == 1.0 else text


def _rounded(x: float) -> float:
    """A difference of bits without what rounding alone leaves of it."""
    return x if abs(x) > NOISE else 0.0


def _signed(x: float) -> str:
    """A number that noise may have pushed below zero."""
    return significant(x) if x >= 0 else f"-{significant(-x)}"


def _range(interval: tuple[float, float]) -> str:
    low, high = (_signed(_rounded(x)) for x in interval)
    return f"{low} to {high}"


def describe(ids: Iterable[str]) -> str:
    """What losses mean: one paragraph each."""
    blocks = []
    for name in ids:
        kind = BY_ID[name]
        share = (kind.low, kind.high) == (0, 1)
        unit = kind.unit if kind.unit != "1" else "share, 0 to 1" if share else "ratio"
        body = (
            f"{kind.id}: {kind.title}",
            f"  formula   {kind.formula}",
            f"  range     {kind.bounds}; {unit}; more is lost when {kind.worse}",
            "  about     a release against its original (sievert compare)",
            f"  reading   {kind.reading}",
            f"  source    {kind.source}",
        )
        blocks.append("\n".join(line for text in body for line in wrap(text, 100, "", " " * 12)))
    return "\n\n".join(blocks)
