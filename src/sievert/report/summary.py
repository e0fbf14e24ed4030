"""The shareable page: what was assessed, verdicts, and the few numbers that may be shared.

It is built of shareable JSON only, so that nothing else can get on it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sievert.charts.drawing import short_name
from sievert.errors import NOT_SHAREABLE, require
from sievert.formatting import count, percent, printable
from sievert.measures import BY_ID
from sievert.policy.judgement import FILE_HOLDS
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
    outcome_of,
    titles,
)
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
from sievert.roles import columns_by_role
from sievert.sharing import ENOUGH, REIDENTIFICATION, command_name, shareable, shown_records
from sievert.version import __version__

LONGEST = 60  # letters of a name
NO_BREAK = "\N{NO-BREAK SPACE}"
LONGEST_TITLE = 200
WITHHELD: Mapping[str, Any] = {"value": None}
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
    """The shareable JSON of several results; those of which nothing is shareable are left out."""
    kept = []
    for result in results:
        if "shared" in result["table"]:
            kept.append(result)
        elif command_name(result) == "assess" or (result.get("original") or {}).get("policy"):
            kept.append(shareable(result, **settings))
    if not kept:
        raise NOT_SHAREABLE[str(command_name(results[0]))]
    return kept


def build_summary(results: Sequence[Data], texts: Texts, title: str | None = None) -> Page:
    """One page of shareable JSON."""
    chapters = [[*_blocks(result, texts, i)] for i, result in enumerate(results, 1)]
    for blocks in chapters[1:]:  # what the first part says of the table is not said again
        blocks[:1] = [] if blocks[0] == chapters[0][0] else blocks[:1]
    others = (
        Chapter(
            texts(
                "shared.releases_title" if "releases" in result else "shared.part", number=number
            ),
            f"part{number}",
            tuple(blocks),
            screen=True,
        )
        for number, (blocks, result) in enumerate(zip(chapters[1:], results[1:], strict=True), 2)
    )
    least = max(result["table"]["shared"] for result in results)
    judged = any("releases" in result or result["policy"] is not None for result in results)
    key = "front.title_policy_unnamed" if judged else "front.title"
    key = "front.title_plan_unnamed" if any(map(is_plan, results)) else key
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
    """A title that a user has given."""
    title = printable(" ".join(given.split()))
    require(title and len(title) <= LONGEST_TITLE, f"--title: 1 to {LONGEST_TITLE} letters")
    return title


def _blocks(result: Data, texts: Texts, number: int) -> Iterator[Block | Chapter]:
    anchor = f"limits{number}"
    policies = [result["original"], *result["releases"]] if "releases" in result else [result]
    verdicts = [table["policy"] for table in policies if table["policy"] is not None]
    yield Paragraph(" ".join(_table(result, texts)))
    if "releases" in result:
        yield _releases_verdict(texts, verdicts[1:])
        yield _releases(texts, verdicts)
        rests = (text for policy in verdicts[1:] for text in basis_texts(texts, policy, _name))
        yield from (Paragraph(text, "note") for text in dict.fromkeys(rests))
        return
    yield _verdict(texts, verdicts[0] if verdicts else None, result)
    yield from not_covered(texts, result, _name)
    if verdicts and (others := [r for r in verdicts[0].get("reasons", ()) if not _is_role(r)]):
        yield BulletList(
            tuple(
                texts(REASONS[r["what"]], names=some_measures(texts, r["names"], _name))
                for r in others
            )
        )
    figures = tuple(_figures(result, texts))
    key = "shared.small" if result["table"]["rows"] is None else "shared.withheld"
    yield Figures(figures) if figures else Paragraph(texts(key, enough=count(ENOUGH)))
    if verdicts and verdicts[0]["limits"]:
        limits = tuple(_limits(verdicts[0], texts, anchor))
        yield Chapter(texts("front.limits"), anchor, limits, screen=True)


def _table(result: Data, texts: Texts) -> Iterator[str]:
    table, roles = result["table"], columns_by_role(result["roles"])
    columns, rows = count(table["columns"]), shown_records(table["rows"] or 0, table["shared"])
    if rows is None:
        yield texts("shared.table_small", enough=count(ENOUGH), columns=columns)
    else:
        yield texts("shared.table", rows=count(rows), columns=columns)
    yield texts("shared.people" if roles["person"] else "shared.rows")
    for role, key in ROLE_TEXTS.items():
        if role != "unassessed" and (names := roles[role]):  # those stand below the verdict
            yield texts(key, columns=texts.join([*map(_name, names)]))


def _name(column: str) -> str:
    return short_name(column, LONGEST)


# -- numbers --------------------------------------------------------------------------------------


def _figures(result: Data, texts: Texts) -> Iterator[tuple[str, str]]:
    """Numbers with their words; a number that is withheld everywhere is not there."""
    numbers = result["reidentification"]
    yield from (
        (_share(texts, numbers[measure]), texts(FIGURES[measure]))
        for measure in REIDENTIFICATION
        if measure in numbers
    )
    for secret, values in result["inference"].items():
        guesses = [
            _share(texts, values[f"bayes_vulnerability_{when}"])
            for when in ("prior", "posterior")
            if f"bayes_vulnerability_{when}" in values
        ]
        if len(guesses) == 2:
            words = texts("shared.guess", secret=_name(secret))
            gain = _share(texts, values.get("guess_gain", WITHHELD))
            if gain != texts("words.withheld"):
                words = f"{words} {texts('shared.guess_gain', share=gain)}"
            yield texts("shared.from_to", before=guesses[0], after=guesses[1]), words


def _share(texts: Texts, entry: Data) -> str:
    """A share as it is shown; withheld where no step says how it was rounded."""
    if "step" not in entry:
        return texts("words.withheld")
    if entry["value"] is not None:
        return percent(entry["value"])
    if "below" in entry:
        return texts("shared.below", share=percent(entry["below"]))
    if "above" in entry:
        return texts("shared.above", share=percent(entry["above"]))
    return texts("words.withheld")


# -- verdicts -------------------------------------------------------------------------------------


def _verdict(texts: Texts, policy: Data | None, result: Data) -> PolicyAnswer:
    """The verdict of one table; without a policy there is none."""
    if policy is None:
        return PolicyAnswer("open", texts("front.open"))
    state, plan = STATES[outcome_of(policy)], is_plan(result)
    why = [*why_words(texts, state, policy["limits"], result)]
    without = (r for r in policy.get("reasons", ()) if r["what"] == "columns_without_role")
    for number in (len(r["names"]) for r in without):
        why.append(without_role(texts, number))
    shown = PLANNED if plan and state == "met" else state
    return PolicyAnswer(shown, answer(texts, state, result, _name), " ".join(why))


def _is_role(reason: Data) -> bool:
    """Whether a reason stands in the verdict, or beside it, with the names of its columns."""
    return bool(reason["what"] in ("columns_without_role", FILE_HOLDS))


def _releases_verdict(texts: Texts, policies: Sequence[Data]) -> PolicyAnswer:
    met = sum(policy["met"] is True for policy in policies)
    text = texts("shared.releases", met=met, number=len(policies))
    undecided = any(policy["met"] is None for policy in policies)
    return PolicyAnswer(STATES[True if met else None if undecided else False], text)


def _limits(policy: Data, texts: Texts, anchor: str) -> Iterator[Block | Chapter]:
    """Limits by what they are about, breached ones first."""
    places = dict.fromkeys(limit["where"] for limit in policy["limits"])
    for number, where in enumerate(places, 1):
        limits = [limit for limit in policy["limits"] if limit["where"] == where]
        limits.sort(key=lambda limit: (limit["met"] is True, limit["met"] is None))
        items = tuple(_limit(texts, limit) for limit in limits)
        states = tuple(STATES[limit["met"]] for limit in limits)
        inner = BulletList(items, tuple(texts(STATE_WORDS[state]) for state in states), states)
        secret = where.partition(".")[2]
        title = _name(secret) if secret else texts("shared.finding")
        yield Chapter(title, f"{anchor}-{number}", (inner,), screen=True)
    yield from (Paragraph(text, "note") for text in basis_texts(texts, policy, _name))


def _limit(texts: Texts, limit: Data) -> str:
    measure = limit["measure"]
    bits = measure in BY_ID and BY_ID[measure].unit == "bits"
    bounds = asked(texts, limit, ASKED) + (f" {texts('units.bits')}" if bits else "")
    return texts("shared.limit", what=titles(texts, measure, limit)[0], asked=bounds)


def _releases(texts: Texts, policies: Sequence[Data]) -> Grid:
    """The original and the releases as rows: whether they meet the policy, and which limits not."""
    names = [texts("compared.release", number=n) for n in range(1, len(policies))]
    rows = (
        (
            name.replace(" ", NO_BREAK),
            texts(POLICY[STATES[policy["met"]]]).replace(" ", NO_BREAK),
            texts(
                "options.of", met=sum(v["met"] is True for v in limits), number=len(limits)
            ).replace(" ", NO_BREAK),
            ", ".join(_not_met(texts, v) for v in limits if v["met"] is not True),
        )
        for name, policy in zip((texts("compared.original"), *names), policies, strict=True)
        for limits in [policy["limits"]]
    )
    head = (
        texts("shared.head_release"),
        texts("shared.head_policy"),
        texts("shared.head_limits"),
        texts("shared.head_breached"),
    )
    return make_grid(texts("shared.releases_table"), head, rows, (2,))


def _not_met(texts: Texts, limit: Data) -> str:
    """A limit that is breached or undecided, by its measure and the secret that it is about."""
    words, secret = titles(texts, limit["measure"], limit)[1], limit["where"].partition(".")[2]
    if secret:
        words = texts("shared.limit_on", limit=words, secret=_name(secret))
    return words if limit["met"] is False else texts("shared.undecided", limit=words)
