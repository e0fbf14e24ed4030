"""A comparison in words and numbers: first the table of releases, then each on its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sievert.commands._terminal import (
    basis_lines,
    join_words,
    limit_lines,
    number_text,
    reason_lines,
    shorten,
    tabulate,
    whole_text,
    wrap_all,
)
from sievert.commands.compare.release_lines import (
    NOISE,
    release_lines,
    short_text,
    signed_text,
    without_noise,
)
from sievert.commands.compare.result import Comparison, ReleaseDistance
from sievert.estimators import InformationEstimate
from sievert.formatting import percent, plural, printable, significant, wrap
from sievert.losses import BY_ID
from sievert.measures.measure import Value

if TYPE_CHECKING:
    from sievert.policy import Judgement

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


OF_IDENTITY = (
    "identity: I(X';X), how much a released record tells of the original key (risky when "
    "high), and its share of all there is to tell."
)
OF_SECRETS = (
    " told: I(X';Y), what the released key tells of the secret in this table (risky when "
    "high); corrected: without what chance alone gives. lost: I(X;Y) - I(X';Y), what "
    "the release no longer tells (less useful when high), beyond what chance makes of no "
    "loss, with half the width of its 95 % interval and its share of what the original "
    "tells (corrected)."
)
OF_LIMIT = (
    "distortion: mean share of quasi-identifiers that the best reading of the released record gets "
    "wrong. least possible: what the best release with that distortion tells of the secret; known "
    "to: what none is below. ratio: told as a multiple of the least possible."
)
MORE = "Every loss, release and column: --all. What numbers mean: docs/compare.md."


def render(comparison: Comparison, *, width: int = 100, everything: bool = False) -> str:
    """The whole text."""
    lines = ["", *_answer(comparison, width)]
    lines += [*_policy(comparison, width, everything), *_limits(comparison, width)]
    if everything or len(comparison.releases) == 1:
        for release in comparison.releases:
            lines += ["", *release_lines(release, width, everything)]
    lines += ["", *_beside(comparison, width), "", *_losses(comparison, width, everything)]
    return whole_text(comparison, lines, width, "" if everything else MORE)


# -- all releases ---------------------------------------------------------------------------------


def _answer(comparison: Comparison, width: int) -> list[str]:
    """The table of releases, and what follows from it."""
    number, secrets = len(comparison.releases), list(comparison.original["attribute_disclosure"])
    who = "it discloses and what it has" if number == 1 else "they disclose and what they have"
    lines = [f"{plural(number, 'release')}: what {who} lost, in bits a record"]
    for secret in secrets or [None]:
        lines += ["", *_table(comparison, secret, width)]
    lines += ["", *wrap(OF_IDENTITY + (OF_SECRETS if secrets else ""), width, "  ")]
    return lines + wrap_all(_verdict(comparison), width, "  ")


def _table(comparison: Comparison, secret: str | None, width: int) -> list[str]:
    about_secret = [] if secret is None else ["told", "corrected", "lost", "+-", "of all"]
    rows = [["release", "identity", "of all", *about_secret, "k", "suppressed"]]
    for row, release in zip(_numbered_names(comparison), comparison.releases, strict=True):
        identity = release.disclosed.identity.whole
        share = "" if identity.share is None else percent(max(0.0, min(1.0, identity.share)))
        cells = [row, short_text(identity.value), share]
        if secret is not None:
            attribute = release.disclosed.attribute[secret].whole
            lost = release.disclosed.loss[secret].whole
            whole = comparison.original["attribute_disclosure"][secret].whole.corrected
            share = percent(lost.beyond / whole) if 0 <= lost.beyond <= whole > NOISE else ""
            half = (lost.interval[1] - lost.interval[0]) / 2
            cells += [short_text(attribute.value), short_text(without_noise(attribute.corrected))]
            cells += [short_text(without_noise(lost.beyond)), short_text(half), share]
        k = number_text(release.assessment.reidentification["k_anonymity"])
        rows.append([*cells, k, f"{release.records['suppressed']:,}"])
    title = [f"  {printable(secret)}"] if secret is not None else []
    marks = ["dominated" if r.dominated_by else "" for r in comparison.releases]
    return title + tabulate(rows, ["", *marks], width, names=True)


def _numbered_names(comparison: Comparison) -> list[str]:
    return [f"{i} {shorten(printable(r.name))}" for i, r in enumerate(comparison.releases, 1)]


def _verdict(comparison: Comparison) -> Iterator[str]:
    """Which releases are out, and between what the others are a choice."""
    names = {r.name: shorten(printable(r.name)) for r in comparison.releases}
    left = [r for r in comparison.releases if not r.dominated_by]
    if len(names) < 2 or not comparison.original["attribute_disclosure"]:
        return
    for r in (r for r in comparison.releases if r.dominated_by):
        verbs = ("disclose", "have") if len(r.dominated_by) > 1 else ("discloses", "has")
        yield (
            f"{names[r.name]} is dominated: {join_words([names[n] for n in r.dominated_by])} "
            f"{verbs[0]} no more of the key and {verbs[1]} lost no more."
        )
    if len(left) == 1:
        yield f"{names[left[0].name]} is the best of these in both respects."
        return
    if len(left) == len(names):
        yield "No release is dominated: each is better than any other in some respect."
    least = min(left, key=lambda r: r.disclosed.identity.whole.value)
    bits = significant(least.disclosed.identity.whole.value)
    yield f"Least disclosed: {names[least.name]} ({bits} bits of the key)."
    for secret in comparison.original["attribute_disclosure"]:
        losses = {r.name: r.disclosed.loss[secret].whole for r in left}
        best = min(losses, key=lambda name: losses[name].beyond)
        bits = signed_text(without_noise(losses[best].beyond))
        yield (
            f"Least lost of {shorten(printable(secret))}: not told apart, the intervals of all "
            "overlap."
            if all(_overlap(losses[best], other) for other in losses.values())
            else f"Least lost of {printable(secret)}: {names[best]} ({bits} bits)."
        )


def _policy(comparison: Comparison, width: int, everything: bool) -> list[str]:
    """Each table and the limits that it breaches, or all of them."""
    names = ["original", *_numbered_names(comparison)]
    policies = [comparison.original.get("policy"), *(r.policy for r in comparison.releases)]
    lines: list[str] = []
    for name, policy in zip(names, policies, strict=True):
        if policy is not None:
            lines.append(f"  {name}: {_policy_text(policy)}")
            lines += reason_lines(policy, width, "    ")
            for v in sorted(policy.verdicts, key=lambda v: v.met is not False):
                if everything or v.met is False:
                    lines += [f"  {line}" for line in limit_lines(v, width - 2)]
    if not lines:
        return []
    return [
        *("", "Limits of the policy, held against each table on its own"),
        *lines,
        *basis_lines(policies[1:], width),
    ]


def _policy_text(policy: Judgement) -> str:
    """Met, or how many limits are not."""
    many = len(policy.verdicts)
    if policy.met is True:
        return f"met ({many} of {many})"
    word = "not met" if policy.met is False else "undecided"
    breached = f"{policy.breached} of {many} breached" if policy.breached else "none breached"
    doubtful = f", {policy.doubtful} undecided" if policy.doubtful else ""
    return f"{word} ({breached}{doubtful})"


def _limits(comparison: Comparison, width: int) -> list[str]:
    """Each release beside the least bits that its distortion would allow."""
    lines: list[str] = []
    for secret, limit in comparison.limits.items():
        lines += ["", f"How far from the limit: {printable(secret)}, bits a record"]
        distances = [release.limit[secret] for release in comparison.releases]
        rows = [["release", "distortion", "told", "least possible", "known to", "ratio"]]
        for name, d in zip(_numbered_names(comparison), distances, strict=True):
            numbers = ["-" if x is None else short_text(x) for x in (d.least, d.bound, d.ratio)]
            rows.append([name, percent(d.distortion), short_text(d.disclosed), *numbers])
        lines += tabulate(rows, width=width, names=True)
        silent = (
            f"The least distortion that tells nothing is not known: {limit.reason}."
            if limit.perfect is None
            else f"A release that tells nothing needs a distortion of {percent(limit.perfect)}."
        )
        sentences = (limit_sentence(r.name, r.limit[secret]) for r in comparison.releases)
        lines += wrap_all([OF_LIMIT, *sentences, silent], width, "  ")
    return lines


def limit_sentence(name: str, distance: ReleaseDistance) -> str:
    """What one release could be."""
    start = f"{shorten(printable(name))} discloses {short_text(distance.disclosed)} bits; "
    if distance.least is None:
        return f"{start}{distance.reason}."
    times = ""
    if distance.ratio is not None:
        what = "the least" if distance.bound is not None else "that"
        times = f": {short_text(distance.ratio)} times {what}"
    return f"{start}with as much distortion {short_text(distance.least)} would be possible{times}."


def _overlap(one: InformationEstimate, other: InformationEstimate) -> bool:
    """Whether the intervals of two losses share a number."""
    halves = ((e.interval[1] - e.interval[0]) / 2 for e in (one, other))
    return abs(one.beyond - other.beyond) <= sum(halves)


def _beside(comparison: Comparison, width: int) -> list[str]:
    """The measures of every table on its own, the original first."""
    lines = wrap(
        "Each table on its own, original first (k in records, l in values: risky when low; classes "
        "in numbers, bits in bits, all others shares from 0 to 1: risky when high)",
        width,
        "",
    )
    names = ["original", *_numbered_names(comparison)]
    tables = [comparison.original["assessment"], *(r.assessment for r in comparison.releases)]
    for secret in (None, *comparison.original["attribute_disclosure"]):
        chosen = OF_RECORDS if secret is None else OF_SECRET
        rows = [["finding a person" if secret is None else shorten(printable(secret)), *chosen]]
        for name, each in zip(names, tables, strict=True):
            values = each.reidentification if secret is None else each.inference.get(secret, {})
            cells = (_cell(values[i]) if i in values else "" for i in chosen.values())
            rows.append([f"  {name}", *cells])
        lines += tabulate(rows, width=width, names=True)
    return lines


def _cell(value: Value) -> str:
    return short_text(value.value) if isinstance(value.value, float) else number_text(value)


def _losses(comparison: Comparison, width: int, everything: bool) -> list[str]:
    """One row a loss, one column a release, and whether it ranks them as bits do."""
    lines = ["Other losses (shares or ratios unless a unit is given; worse when high unless said)"]
    ranked = comparison.rank_correlation
    secrets = list(comparison.original["attribute_disclosure"]) if ranked else []
    head = ["", *(str(i) for i, _ in enumerate(comparison.releases, 1))]
    rows = [head + [f"ranks as {printable(s)[:16]}" for s in secrets]]
    after, reasons = [""], []
    for name in comparison.releases[0].losses:
        losses = [r.losses[name] for r in comparison.releases]
        if not everything and (name not in SHOWN or all(each.value is None for each in losses)):
            continue
        kind = BY_ID[name]
        correlations = [ranked.get(name, {}).get(s) for s in secrets]
        rows.append(
            [
                kind.title if kind.unit == "1" else f"{kind.title}, {kind.unit}",
                *("-" if e.value is None else short_text(e.value) for e in losses),
                *("" if c is None else short_text(c) for c in correlations),
            ]
        )
        after.append("" if kind.worse == "high" else f"worse when {kind.worse}")
        reasons += [f"{kind.title}: {e.reason}" for e in losses if e.value is None and e.reason]
    lines += tabulate(rows, after, width)
    if ranked:
        lines += wrap(
            "ranks as: rank correlation (Spearman) with what was lost beyond chance over the "
            "releases; 1 the same order, -1 the reverse.",
            width,
            "  ",
        )
    return lines + wrap_all(dict.fromkeys(reasons), width, "  - ", "    ")


def describe(ids: Iterable[str]) -> str:
    """What losses mean: one paragraph each."""
    blocks = (
        (
            f"{kind.id}: {kind.title}",
            f"  formula   {kind.formula}",
            f"  range     {kind.bounds}; {unit}; more is lost when {kind.worse}",
            "  about     a release against its original (sievert compare)",
            f"  reading   {kind.reading}",
            f"  source    {kind.source}",
        )
        for kind in map(BY_ID.__getitem__, ids)
        for share in [(kind.low, kind.high) == (0, 1)]
        for unit in [kind.unit if kind.unit != "1" else "share, 0 to 1" if share else "ratio"]
    )
    return "\n\n".join("\n".join(wrap_all(block, 100, "", " " * 12)) for block in blocks)
