"""The shareable page: what was assessed, verdicts, and the few numbers that may be shared.

It is built of shareable JSON only, so that nothing else can get on it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sievert.charts.drawing import short_name
from sievert.errors import NOT_SHAREABLE, require
from sievert.formatting import count, percent, printable
from sievert.measures import BY_ID
from sievert.measures.measure import Value, read_values
from sievert.policy.judgement import FILE_HOLDS, GateReason, Judgement, Verdict
from sievert.report.first_screen import (
    PLANNED,
    REASONS,
    answer,
    not_covered,
    not_measured,
    some_measures,
    why_words,
    without_role,
)
from sievert.report.limits import (
    STATE_WORDS,
    STATES,
    asked,
    basis_texts,
    is_plan,
    reasons_of,
    titles,
)
from sievert.report.overview import Overview
from sievert.report.page import (
    Block,
    BulletList,
    Chapter,
    Figures,
    Grid,
    Page,
    Paragraph,
    PolicyAnswer,
    make_grid,
)
from sievert.report.parts import ROLE_TEXTS, Data
from sievert.report.texts import Texts
from sievert.sharing import ENOUGH, LEAST, REIDENTIFICATION, command_name, shareable, shown_records
from sievert.version import __version__

LONGEST = 60  # letters of a name
NO_BREAK = "\N{NO-BREAK SPACE}"
LONGEST_TITLE = 200
ASKED = {  # what a limit asks for
    "at_least": "shared.at_least",
    "at_most": "shared.at_most",
    "between": "shared.between",
    "strictly_below": "shared.strictly_below",
    "between_below": "shared.between_below",
}
FIGURES = {"unique_records": "shared.unique_records", "average_risk": "shared.average_risk"}
POLICY = {
    "met": "shared.policy_met",
    "breached": "shared.policy_breached",
    "doubtful": "shared.policy_doubtful",
}


def share_all(results: Sequence[Data], **settings: Any) -> list[Data]:
    """The shareable JSON of several results, without results that have nothing to share."""
    kept = []
    for result in results:
        if "shared" in result["table"]:
            kept.append(result)
        elif command_name(result) == "assess" or (result.get("original") or {}).get("policy"):
            kept.append(shareable(result, **settings))
    if not kept:
        raise NOT_SHAREABLE[str(command_name(results[0]))]
    return kept


@dataclass(frozen=True, kw_only=True)
class SharedNumbers:
    """The shareable part of a result: its overview, and numbers with the step of each."""

    overview: Overview
    compared: bool  # whether releases are compared: they have no numbers here
    reidentification: Mapping[str, Value]
    inference: Mapping[str, Mapping[str, Value]]

    @classmethod
    def from_dict(cls, data: Data) -> "SharedNumbers":
        """Read shareable JSON."""
        inference = data.get("inference", {})
        return cls(
            overview=Overview.from_dict(data),
            compared="releases" in data,
            reidentification=read_values(data.get("reidentification", {})),
            inference={secret: read_values(values) for secret, values in inference.items()},
        )

    @property
    def policies(self) -> list[Judgement]:
        """The judgement of each table by its policy; a comparison begins with its original."""
        tables = [self.overview.policy]
        if self.compared:
            releases = self.overview.releases
            tables = [self.overview.original, *(release.policy for release in releases)]
        return [policy for policy in tables if policy is not None]


def build_summary(given: Sequence[Data], texts: Texts, title: str | None = None) -> Page:
    """One page of shareable JSON."""
    results = [SharedNumbers.from_dict(data) for data in given]
    chapters = [[*_blocks(result, texts, i)] for i, result in enumerate(results, 1)]
    for blocks in chapters[1:]:  # what the first part says of the table is not said again
        blocks[:1] = [] if blocks[0] == chapters[0][0] else blocks[:1]
    others = (
        Chapter(
            title=texts(
                "shared.releases_title" if result.compared else "shared.part", number=number
            ),
            anchor=f"part{number}",
            blocks=tuple(blocks),
            screen=True,
        )
        for number, (blocks, result) in enumerate(zip(chapters[1:], results[1:], strict=True), 2)
    )
    least = max(result.overview.table.shared or 0 for result in results)
    judged = any(result.compared or result.overview.policy is not None for result in results)
    plan = any(is_plan(result.overview.policy) for result in results)
    key = "front.title_policy_unnamed" if judged else "front.title"
    key = "front.title_plan_unnamed" if plan else key
    return Page(
        title=texts(key) if title is None else check_title(title),
        language=texts("words.language"),
        front=(
            *chapters[0],
            *others,
            not_measured(texts, screen=True),
            Paragraph(texts("shared.note", least=least), "note"),
        ),
        chapters=(),
        foot=(texts("front.made", version=__version__),),
        shared=True,
        kind=texts("shared.kind"),
    )


def check_title(given: str) -> str:
    """Check a title that a user has given."""
    title = printable(" ".join(given.split()))
    require(title and len(title) <= LONGEST_TITLE, f"--title: 1 to {LONGEST_TITLE} letters")
    return title


def _blocks(result: SharedNumbers, texts: Texts, number: int) -> Iterator[Block | Chapter]:
    anchor = f"limits{number}"
    overview = result.overview
    yield Paragraph(" ".join(_table(overview, texts)))
    if result.compared:
        releases = result.policies[1:]
        yield _releases_verdict(texts, releases)
        yield _releases(texts, result.policies)
        rests = (text for policy in releases for text in basis_texts(texts, policy, _name))
        yield from (Paragraph(text, "note") for text in dict.fromkeys(rests))
        return
    policy = overview.policy
    yield _verdict(texts, overview)
    yield from not_covered(texts, overview, _name)
    others = [reason for reason in reasons_of(policy) if not _is_role(reason)]
    if others:
        yield BulletList(
            tuple(
                texts(REASONS[reason.what], names=some_measures(texts, reason.names, _name))
                for reason in others
            )
        )
    figures = tuple(_figures(result, texts))
    key = "shared.small" if overview.table.rows is None else "shared.withheld"
    yield Figures(figures) if figures else Paragraph(texts(key, enough=count(ENOUGH)))
    if policy is not None and policy.verdicts:
        limits = tuple(_limits(policy, texts, anchor))
        yield Chapter(title=texts("front.limits"), anchor=anchor, blocks=limits, screen=True)


def _table(overview: Overview, texts: Texts) -> Iterator[str]:
    table = overview.table
    roles = overview.columns
    columns = count(table.columns)
    rows = shown_records(table.rows or 0, table.shared or LEAST)
    if rows is None:
        yield texts("shared.table_small", enough=count(ENOUGH), columns=columns)
    else:
        yield texts("shared.table", rows=count(rows), columns=columns)
    yield texts("shared.people" if roles["person"] else "shared.rows")
    for role, key in ROLE_TEXTS.items():
        names = roles[role]
        if role != "unassessed" and names:  # columns without a role stand below the verdict
            yield texts(key, columns=texts.join([*map(_name, names)]))


def _name(column: str) -> str:
    return short_name(column, LONGEST)


# -- numbers --------------------------------------------------------------------------------------


def _figures(result: SharedNumbers, texts: Texts) -> Iterator[tuple[str, str]]:
    """Show numbers with their words, without numbers that are withheld everywhere."""
    numbers = result.reidentification
    yield from (
        (_share(texts, numbers[measure]), texts(FIGURES[measure]))
        for measure in REIDENTIFICATION
        if measure in numbers
    )
    for secret, values in result.inference.items():
        guesses = [
            _share(texts, values[f"bayes_vulnerability_{when}"])
            for when in ("prior", "posterior")
            if f"bayes_vulnerability_{when}" in values
        ]
        if len(guesses) == 2:
            words = texts("shared.guess", secret=_name(secret))
            gain = _share(texts, values.get("guess_gain"))
            if gain != texts("words.withheld"):
                words = f"{words} {texts('shared.guess_gain', share=gain)}"
            yield texts("shared.from_to", before=guesses[0], after=guesses[1]), words


def _share(texts: Texts, value: Value | None) -> str:
    """Write a share; withhold it where no step says how it was rounded."""
    if value is None or "step" not in value.details:
        return texts("words.withheld")
    if value.value is not None:
        return percent(value.value)
    if "below" in value.details:
        return texts("shared.below", share=percent(value.details["below"]))
    if "above" in value.details:
        return texts("shared.above", share=percent(value.details["above"]))
    return texts("words.withheld")


# -- verdicts -------------------------------------------------------------------------------------


def _verdict(texts: Texts, overview: Overview) -> PolicyAnswer:
    """The verdict of one table; without a policy there is none."""
    policy = overview.policy
    if policy is None:
        return PolicyAnswer(state="open", text=texts("front.open"))
    state = STATES[policy.outcome]
    why = [*why_words(texts, state, policy.verdicts, policy)]
    for reason in policy.reasons:
        if reason.what == "columns_without_role":
            why.append(without_role(texts, len(reason.names)))
    shown = PLANNED if is_plan(policy) and state == "met" else state
    return PolicyAnswer(state=shown, text=answer(texts, state, overview, _name), why=" ".join(why))


def _is_role(reason: GateReason) -> bool:
    """Whether a reason stands in the verdict, or beside it, with the names of its columns."""
    return reason.what in ("columns_without_role", FILE_HOLDS)


def _releases_verdict(texts: Texts, policies: Sequence[Judgement]) -> PolicyAnswer:
    met = sum(policy.met is True for policy in policies)
    text = texts("shared.releases", met=met, number=len(policies))
    if met:
        state = STATES[True]
    elif any(policy.met is None for policy in policies):
        state = STATES[None]
    else:
        state = STATES[False]
    return PolicyAnswer(state=state, text=text)


def _limits(policy: Judgement, texts: Texts, anchor: str) -> Iterator[Block | Chapter]:
    """Limits by what they are about, breached ones first."""
    places = dict.fromkeys(limit.where for limit in policy.verdicts)
    for number, where in enumerate(places, 1):
        limits = [limit for limit in policy.verdicts if limit.where == where]
        limits.sort(key=lambda limit: (limit.met is True, limit.met is None))
        items = tuple(_limit(texts, limit) for limit in limits)
        states = tuple(STATES[limit.met] for limit in limits)
        inner = BulletList(items, tuple(texts(STATE_WORDS[state]) for state in states), states)
        secret = where.partition(".")[2]
        title = _name(secret) if secret else texts("shared.finding")
        yield Chapter(title=title, anchor=f"{anchor}-{number}", blocks=(inner,), screen=True)
    yield from (Paragraph(text, "note") for text in basis_texts(texts, policy, _name))


def _limit(texts: Texts, limit: Verdict) -> str:
    measure = limit.measure
    bits = measure in BY_ID and BY_ID[measure].unit == "bits"
    bounds = asked(texts, limit, ASKED) + (f" {texts('units.bits')}" if bits else "")
    return texts("shared.limit", what=titles(texts, measure, limit.k)[0], asked=bounds)


def _releases(texts: Texts, policies: Sequence[Judgement]) -> Grid:
    """The original and the releases as rows: whether they meet the policy, and which limits not."""
    names = [texts("compared.release", number=n) for n in range(1, len(policies))]
    rows = (
        (
            name.replace(" ", NO_BREAK),
            texts(POLICY[STATES[policy.met]]).replace(" ", NO_BREAK),
            texts("options.of", met=sum(v.met is True for v in limits), number=len(limits)).replace(
                " ", NO_BREAK
            ),
            ", ".join(_not_met(texts, v) for v in limits if v.met is not True),
        )
        for name, policy in zip((texts("compared.original"), *names), policies, strict=True)
        for limits in [policy.verdicts]
    )
    head = (
        texts("shared.head_release"),
        texts("shared.head_policy"),
        texts("shared.head_limits"),
        texts("shared.head_breached"),
    )
    return make_grid(texts("shared.releases_table"), head, rows, (2,))


def _not_met(texts: Texts, limit: Verdict) -> str:
    """A limit that is breached or undecided, by its measure and the secret that it is about."""
    words = titles(texts, limit.measure, limit.k)[1]
    secret = limit.where.partition(".")[2]
    if secret:
        words = texts("shared.limit_on", limit=words, secret=_name(secret))
    return words if limit.met is False else texts("shared.undecided", limit=words)
