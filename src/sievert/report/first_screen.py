"""The first screen: the answer, what was assessed, what matters most, and what is not covered."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from sievert.charts.drawing import short_name
from sievert.formatting import count, digits
from sievert.measures import BY_ID
from sievert.policy.judgement import FILE_HOLDS, GateReason, Judgement, Verdict, worst
from sievert.report.alarms import alarm_names
from sievert.report.explanation_view import round_shares
from sievert.report.limits import (
    ORDER,
    STATES,
    budget_text,
    counts_of,
    counts_rows,
    each_limit,
    is_plan,
    left_out,
    limits_of,
    own_limits,
    reasons_of,
    state_of,
    tally,
)
from sievert.report.numbers import measure_title, some_names
from sievert.report.overview import SHARED, Overview
from sievert.report.page import (
    Block,
    BulletList,
    Chapter,
    Facts,
    Hundred,
    Paragraph,
    Points,
    PolicyAnswer,
)
from sievert.report.page_modules import page_module
from sievert.report.parts import LONGEST, ROLE_TEXTS, ReportPart, some_columns
from sievert.report.texts import Texts
from sievert.roles import NOT_RELEASED, Roles
from sievert.sources.csv_header import SHOWN

SMALL = 5  # people: a group below is small, unless a policy says otherwise
FEW_SECRETS = 3  # whose limits are counted one by one
DIGITS = 8  # of the digest of a policy
# Words of a caution that says the same as a reason of the verdict.
SAID_BY_REASON = {"identifier_repeats": SHARED, "order_tells": "in far fewer runs than"}
# Roles on the line below the title, with the words for one column and for several.
FACTS = {
    "quasi": ("front.fact_outsider", "front.fact_outsider"),
    "sensitive": ("front.fact_secret", "front.fact_secrets"),
}
# Of every 100 people: the number, and what it means without a policy and under one.
HUNDRED = (
    ("front.hundred_alone", "front.hundred_alone_note", "front.hundred_alone_policy"),
    ("front.hundred_small", "front.hundred_small_note", "front.hundred_small_policy"),
    ("front.hundred_large", "front.hundred_large_note", "front.hundred_large_policy"),
    (
        "front.hundred_suppressed",
        "front.hundred_suppressed_note",
        "front.hundred_suppressed_policy",
    ),
)
# The sentence of each reason of a gate.
REASONS = {
    "columns_without_role": "front.reason_columns_without_role",
    "quasi_left_out": "front.reason_quasi_left_out",
    "file_holds": "front.reason_file_holds",
    "kept_unique": "front.reason_kept_unique",
    "kept_not_measured": "front.reason_kept_not_measured",
    "secrets_left_out": "front.reason_secrets_left_out",
    "roles_replaced": "front.reason_roles_replaced",
    "settings_replaced": "front.reason_settings_replaced",
    "no_limits": "front.reason_no_limits",
    "harmless_side": "front.reason_harmless_side",
    "records_left_out": "front.reason_records_left_out",
    "records_left_out_by_mark": "front.reason_records_left_out_by_mark",
    "mark_not_listed": "front.reason_mark_not_listed",
    "codes_not_listed": "front.reason_codes_not_listed",
    "person_replaced": "front.reason_person_replaced",
    "rows_without_person": "front.reason_rows_without_person",
    "unsafe_together": "front.reason_unsafe_together",
    "keys_spelt_differently": "front.reason_keys_spelt_differently",
    "too_few_together": "front.reason_too_few_together",
    "too_many_suppressed": "front.reason_too_many_suppressed",
    "no_release": "front.reason_no_release",
    "levels_too_fine": "front.reason_levels_too_fine",
    "search_stopped": "front.reason_search_stopped",
    "all_suppressed": "front.reason_all_suppressed",
    "identifier_repeats": "front.reason_identifier_repeats",
    "other_tables": "front.reason_other_tables",
    "withheld": "front.reason_withheld",
    "merged_by_type": "front.reason_merged_by_type",
    "secret_names_people": "front.reason_secret_names_people",
    "kept_names_people": "front.reason_kept_names_people",
    "weight_names_people": "front.reason_weight_names_people",
    "spelt_differently": "front.reason_spelt_differently",
    "spellings_not_compared": "front.reason_spellings_not_compared",
    "identifier_unsure": "front.reason_identifier_unsure",
    "columns_not_compared": "front.reason_columns_not_compared",
    "traces_not_limited": "front.reason_traces_not_limited",
    "pairing_unknown": "front.reason_pairing_unknown",
    "order_tells": "front.reason_order_tells",
}
# The verdicts on a table that is spoken of beside its releases.
ORIGINAL = {
    "met": "front.original_met",
    "breached": "front.original_breached",
    "doubtful": "front.original_doubtful",
}
VERDICT = {
    "met": "front.verdict_met",
    "breached": "front.verdict_breached",
    "doubtful": "front.verdict_doubtful",
}
# The answer on a planned release: without columns that must not be released, or as it is.
OF_PLAN = {
    "met": "front.planned_met",
    "breached": "front.planned_breached",
    "doubtful": "front.planned_doubtful",
}
OF_PLAN_AS_IT_IS = {
    "met": "front.planned_met_as_it_is",
    "breached": "front.planned_breached_as_it_is",
    "doubtful": "front.planned_doubtful_as_it_is",
}
# How many limits are in a state: the only one, one of several, several; with their places.
OF_ONLY_LIMIT = {
    "met": "front.why_met_only",
    "breached": "front.why_breached_only",
    "doubtful": "front.why_doubtful_only",
}
OF_ONE_LIMIT = {"breached": "front.why_breached_one", "doubtful": "front.why_doubtful_one"}
OF_LIMITS = {
    "met": "front.why_met",
    "breached": "front.why_breached",
    "doubtful": "front.why_doubtful",
}
OF_ONE_LIMIT_THERE = {
    "breached": "front.why_breached_on_one",
    "doubtful": "front.why_doubtful_on_one",
}
OF_LIMITS_THERE = {"breached": "front.why_breached_on", "doubtful": "front.why_doubtful_on"}
# Of several releases, and of one; {state: key}.
OF_RELEASES = {
    "met": "compared.verdict_met",
    "breached": "compared.verdict_breached",
    "doubtful": "compared.verdict_doubtful",
}
OF_ONE_RELEASE = {
    "met": "compared.verdict_met_one",
    "breached": "compared.verdict_breached_one",
    "doubtful": "compared.verdict_doubtful_one",
}
RELEASE_NAMES = {
    "met": "compared.verdict_met_names",
    "breached": "compared.verdict_breached_names",
    "doubtful": "compared.verdict_doubtful_names",
}


def front(
    parts: Sequence[ReportPart],
    points: Sequence[tuple[str, str]],
    options: Sequence[Block | Chapter] = (),
    written: datetime | None = None,
) -> tuple[Block | Chapter, ...]:
    """The blocks below the title."""
    part = parts[0]
    assessed = next((p for p in parts if p.kind == "assess"), None)
    return (
        Facts(tuple(_facts(part, written))),
        *verdicts(parts),
        *(
            Paragraph(part.texts("front.caution", what=part.texts.remark(caution)), "warning")
            for caution in dict.fromkeys(c for p in parts for c in _cautions(p))
        ),
        *([Points(tuple(points))] if points else ()),
        *(hundred(assessed) if assessed is not None else ()),
        *not_covered(part.texts, part.read(Overview), part.writer.name),
        *options,
    )


def _cautions(part: ReportPart) -> Iterator[str]:
    """Cautions that the verdict does not say as a reason."""
    overview = part.read(Overview)
    reasons = {reason.what for reason in reasons_of(overview.policy)}
    said = [words for reason, words in SAID_BY_REASON.items() if reason in reasons]
    for caution in overview.cautions:
        if not any(words in caution for words in said):
            yield caution


# -- the verdict ----------------------------------------------------------------------------------


def verdicts(parts: Sequence[ReportPart]) -> list[PolicyAnswer]:
    """Say whether the table and its releases meet the policy, or that there is no policy."""
    judged = [p for p in parts if p.read(Overview).policy is not None and p.kind != "synthetic"]
    compared = [p for p in parts if any(r.policy for r in p.read(Overview).releases)]
    texts = parts[0].texts
    if not judged and not compared:
        asks = any(part.kind in ("assess", "compare", "synthetic", "ledger") for part in parts)
        open_ = PolicyAnswer(state="open", text=texts("front.open"), why=texts("front.open_why"))
        return [open_] if asks else []
    questions = _by_question(judged)
    if len(questions) > 1:
        named = [_of_parts(texts, own, _verdict(texts, own)) for own in questions]
        named += [_of_parts(texts, [part], _releases_verdict(part)) for part in compared]
        return named
    answers = [_verdict(texts, judged)] if judged else []
    if judged and compared:
        return [_of_both(answers[0], judged, compared)]
    return answers + [_releases_verdict(part) for part in compared]


def _by_question(judged: Sequence[ReportPart]) -> list[list[ReportPart]]:
    """Group the judged parts that share an answer: all ask about a plan, or all about a file.

    The answer to a plan names the columns that its release lacks, and the answer to a file those
    that it still holds: parts that differ in them have answers of their own.
    """
    questions: dict[tuple[bool, frozenset[str]], list[ReportPart]] = {}
    for part in judged:
        overview = part.read(Overview)
        plan = is_plan(overview.policy)
        columns = columns_not_released(overview) if plan else held_columns(overview.policy)
        questions.setdefault((plan, frozenset(columns)), []).append(part)
    return list(questions.values())


def _of_parts(texts: Texts, parts: Sequence[ReportPart], given: PolicyAnswer) -> PolicyAnswer:
    """An answer on some of the parts of a page, with their numbers and the names of files."""
    which = []
    for part in parts:
        name = file_name(part)
        if name is None:
            which.append(texts("front.this_part", number=part.number))
        else:
            which.append(texts("front.this_part_named", number=part.number, name=name))
    return replace(given, text=texts("front.of_parts", parts=texts.join(which), answer=given.text))


def _of_both(
    original: PolicyAnswer, judged: Sequence[ReportPart], compared: Sequence[ReportPart]
) -> PolicyAnswer:
    """One answer on a table and on releases of it: which of them may be published."""
    texts = compared[0].texts
    met = [
        name
        for overview in (part.read(Overview) for part in compared)
        for name, release in zip(overview.release_names, overview.releases, strict=True)
        if state_of(release.policy) is True
    ]
    shown = some_names(compared[0], "compared.others", met)
    best = texts("front.releases_met", releases=shown) if met else texts("front.no_release")
    others = " ".join(map(_releases_reason, compared))
    why = f"{texts('front.of_the_original')} {original.why} {others}".strip()
    plan = any(is_plan(part.read(Overview).policy) for part in judged)
    first = original.text if plan else texts(ORIGINAL[original.state])
    return replace(original, text=f"{first} {best}", why=why)


def _releases_reason(part: ReportPart) -> str:
    """Say why releases meet the policy or not, beside the answer on the original; name one."""
    why = _releases_verdict(part).why
    names = part.read(Overview).release_names
    if why and len(names) == 1:
        return f"{part.texts('front.of_a_release', release=names[0])} {why}"
    return why


def _verdict(texts: Texts, judged: Sequence[ReportPart]) -> PolicyAnswer:
    each = [part.read(Overview) for part in judged]
    state = STATES[worst({state_of(overview.policy) for overview in each})]
    limits = [v for o in each for v in own_limits(o.policy, budget=o.budget)]
    # A plan among several tables must not be taken for a yes.
    of = next((part for part in judged if is_plan(part.read(Overview).policy)), judged[0])
    overview = of.read(Overview)
    plan = is_plan(overview.policy)
    why = (
        *why_words(texts, state, limits, overview.policy),
        *(budget_text(each_one, texts) for each_one in each),
        *(
            reason_text(part, reason, named=False)
            for part in judged
            for reason in reasons_of(part.read(Overview).policy)
            if reason.what != FILE_HOLDS or plan
        ),
        *dict.fromkeys(left_out(o.policy, texts, drops=o.drops) for o in each),
    )
    states, tally_text = tally(texts, counts_of(limits))
    return PolicyAnswer(
        state=PLANNED if state == "met" and plan else state,
        text=answer(texts, state, overview, of.writer.name, release=of.kind == "protect"),
        why=" ".join(filter(None, why)),
        states=states,
        tally=tally_text,
    )


PLANNED = "planned"  # the state of a plan that meets the policy: no yes


def answer(
    texts: Texts,
    state: str,
    overview: Overview,
    shown: Callable[[str], str],
    *,
    release: bool = False,
) -> str:
    """The answer in a few words, to the question that was asked: of the file, or of a plan."""
    policy = overview.policy
    if is_plan(policy):
        columns = columns_not_released(overview)
        key = OF_PLAN[state] if columns else OF_PLAN_AS_IT_IS[state]
        words = texts(key, columns=some_columns(texts, columns, shown))
        of_counts = policy is not None and policy.counts
        return f"{texts('front.counts_only')} {words}" if of_counts else words
    columns = held_columns(policy)
    if columns:
        return texts("front.file_holds", columns=some_columns(texts, columns, shown))
    return texts("front.verdict_met_release" if release and state == "met" else VERDICT[state])


def why_words(
    texts: Texts, state: str, limits: Sequence[Verdict], policy: Judgement | None
) -> Iterator[str]:
    """Count the limits that are met or not; for a file with too many columns: without these."""
    columns = [] if is_plan(policy) else held_columns(policy)
    if not columns:
        yield from counted(texts, state, limits)
        return
    counts = counts_of(limits)
    number = len(limits)
    if not number:
        return
    if counts["breached"]:
        keys = ("front.without_it_breached_one", "front.without_it_breached")
        yield texts.plural(len(columns), *keys)
        yield from counted(texts, "breached", limits)
    elif counts["doubtful"]:
        keys = ("front.without_it_doubtful_one", "front.without_it_doubtful")
        yield texts.plural(len(columns), *keys)
        yield from counted(texts, "doubtful", limits)
    else:
        which = {1: "front.limits_met_only", 2: "front.limits_met_both"}
        met = texts(which.get(number, "front.limits_met"), number=number)
        keys = ("front.without_it_one", "front.without_it")
        yield texts.plural(len(columns), *keys, limits=met)


WITH_WEIGHT = ("weight",)
OFTEN_RELEASED = ("household", "weight")


def held_columns(policy: Judgement | None) -> list[str]:
    """The columns of a file that it must not have as a release, as a reason names them."""
    reasons = (reason for reason in reasons_of(policy) if reason.what == FILE_HOLDS)
    return [column for reason in reasons for column in reason.names]


def columns_not_released(overview: Overview, kinds: Sequence[str] = NOT_RELEASED) -> list[str]:
    """The columns of `kinds` of roles: the ones that a release does not have, unless given."""
    return [*dict.fromkeys(c for kind in kinds for c in overview.columns[kind])]


def counted(texts: Texts, state: str, limits: Sequence[Verdict]) -> Iterator[str]:
    """Count the limits that are met or not, and say what they are about."""
    number = len(limits)
    counts = counts_of(limits)
    such = counts[state]
    if state != "met" and not such:
        if number and counts["met"] == number:  # what stands against it is no limit
            yield from counted(texts, "met", limits)
        return
    places = dict.fromkeys(verdict.where for verdict in limits)
    secrets = [where for where in places if "." in where]
    groups = [[where] for where in places if "." not in where]
    groups += [secrets] if len(secrets) > FEW_SECRETS else [[where] for where in secrets]
    each = []
    for group in groups:
        here = [STATES[v.met] == state for v in limits if v.where in group]
        some = sum(here)
        if some:
            about = "front.about_finding"
            if len(group) > 1:
                about = "front.about_secrets"
            elif "." in group[0]:
                about = "front.about_secret"
            secret = short_name(group[0].partition(".")[2], LONGEST)
            words = texts(about, secret=secret, number=len(group))
            key = {1: "front.the_one_on", 2: "front.both_on"}.get(some, "front.all_on")
            if some < len(here):
                key = "front.some_on"
            each.append(texts(key, such=some, number=len(here), about=words))
    values = {"such": such, "number": number}
    if number == 1:
        yield texts(OF_ONLY_LIMIT[state], **values)
    elif state == "met":
        yield texts("front.why_met_both" if number == 2 else "front.why_met", **values)
    elif len(groups) == 1:
        yield texts.plural(such, OF_ONE_LIMIT[state], OF_LIMITS[state], **values)
    else:
        keys = (OF_ONE_LIMIT_THERE[state], OF_LIMITS_THERE[state])
        yield texts.plural(such, *keys, **values, places=texts.join(each))


def reason_text(part: ReportPart, reason: GateReason, *, named: bool = True) -> str:
    """Say why a policy is not met or undecided, besides its limits; `named`: with all columns."""
    texts = part.texts
    if reason.what not in REASONS:
        return texts("front.reason_other")
    listed = {*part.read(Overview).unassessed}  # below the verdict
    if not named and reason.what == "columns_without_role" and listed.issuperset(reason.names):
        return without_role(texts, len(reason.names))
    names = some_measures(texts, reason.names, part.writer.name)
    return texts(REASONS[reason.what], names=names)


def without_role(texts: Texts, number: int) -> str:
    """Say how many columns have no role."""
    keys = ("front.without_role_one", "front.without_role")
    return texts.plural(number, *keys, number=count(number))


def some_measures(texts: Texts, names: Sequence[str], shown: Callable[[str], str]) -> str:
    """List the measures or columns that a reason names."""
    return some_columns(texts, names, lambda n: measure_title(texts, n) if n in BY_ID else shown(n))


def _releases_verdict(part: ReportPart) -> PolicyAnswer:
    """Say which releases meet the policy, and which do not."""
    texts = part.texts
    releases = part.read(Overview).releases
    states = [state_of(release.policy) for release in releases]
    names = part.read(Overview).release_names
    counts = {s: states.count(m) for m, s in STATES.items()}
    state = next(s for s in ORDER if counts[s])
    key = OF_ONE_RELEASE[state] if len(releases) == 1 else OF_RELEASES[state]
    if state == "met" and counts[state] == 1 < len(releases):
        key = "compared.verdict_met_single"
    text = texts(key, met=counts["met"], number=len(releases))
    if len(releases) == 1:
        why = [
            *counted(texts, state, each_limit(limits_of(releases[0].policy))),
            *(reason_text(part, r, named=False) for r in reasons_of(releases[0].policy)),
            left_out(releases[0].policy, texts),
        ]
    else:
        such = {
            RELEASE_NAMES[each]: [n for n, s in zip(names, states, strict=True) if s is met]
            for met, each in STATES.items()
        }
        without = [n for n, r in zip(names, releases, strict=True) if left_out(r.policy, texts)]
        such["compared.left_out"] = without
        why = [
            texts(key, releases=some_names(part, "compared.others", some))
            for key, some in such.items()
            if some
        ]
    if part.kind == "synthetic":
        state, text = _with_traces(part, state, text)
    each_state, tally_text = tally(texts, counts)
    return PolicyAnswer(
        state=state, text=text, why=" ".join(filter(None, why)), states=each_state, tally=tally_text
    )


def _with_traces(part: ReportPart, state: str, text: str) -> tuple[str, str]:
    """The answer on synthetic tables with the alarms of the attacks, which limits may tolerate."""
    overview = part.read(Overview)
    tables = overview.releases
    if len(tables) == 1:
        (table,) = tables
        if state_of(table.policy) is True and table.alarms:
            attacks = part.texts.join(alarm_names(part, table.alarms, table.inferred))
            return STATES[None], part.say("headline_met_traces", attacks=attacks)
        if state == STATES[False] and not table.alarms and overview.controlled:
            return state, part.say("headline_breached_no_traces")
        return state, text
    both = [
        name
        for name, table in zip(overview.release_names, tables, strict=True)
        if state_of(table.policy) is True and table.alarms
    ]
    if not both:
        return state, text
    names = some_names(part, "compared.others", both)
    return STATES[None], f"{text} {part.say('headline_traces_in', tables=names)}"


# -- what was assessed ----------------------------------------------------------------------------


def _facts(part: ReportPart, written: datetime | None) -> Iterator[tuple[str, str]]:
    """The table, the policy, when the page was written, what an outsider is taken to know."""
    texts = part.texts
    name = file_name(part)
    overview = part.read(Overview)
    policy = overview.policy or overview.original
    size = table_size(part)
    original = part.kind == "synthetic"
    label = texts("synthetic.fact_original" if original else "front.fact_table")
    yield label, size if name is None else f"{name}, {size}"
    if original:
        yield from page_module(part.kind).facts(part)
    yield from _file_facts(part)
    if policy is not None and policy.name:
        digest = f" ({policy.digest[:DIGITS]})" if policy.digest else ""
        yield texts("front.fact_policy"), part.writer.file(policy.name) + digest
    if written is not None:
        yield texts("front.fact_written"), texts.date(written)
    for role, keys in FACTS.items():
        columns = overview.columns[role]
        if columns:
            label = texts.plural(len(columns), *keys)
            yield label, some_columns(texts, columns, part.writer.name)


def _file_facts(part: ReportPart) -> Iterator[tuple[str, str]]:
    """Say what was left out, and whether the file was verified."""
    texts = part.texts
    table = part.read(Overview).table
    if table.dropped:
        yield texts("front.fact_dropped"), texts("front.left_out", number=count(table.dropped))
    if table.suppressed:
        key = "front.suppressed_in" if table.keeps_suppressed else "front.suppressed_out"
        number = texts.number_of(table.suppressed, "record")
        yield texts("front.fact_suppressed"), texts(key, number=number)
    if table.verified:
        checks = table.page_checksums
        key = "front.verified" if checks is None else "front.verified_pages"
        yield texts("front.fact_verified"), texts(key, checks=texts.remark(checks or ""))
    elif table.verified is False and table.kind == "parquet":
        yield texts("front.fact_verified"), texts("front.not_verified")


def table_size(part: ReportPart) -> str:
    """Say how many people or rows, and columns, a table has."""
    texts = part.texts
    table = part.read(Overview).table
    number = part.rows if table.people is None else table.people
    key = "front.person_number" if number == 1 else "front.people_number"
    size = "front.size_rows" if table.people is None else "front.size_people"
    return texts(
        "front.size_doubtful" if counts_rows(part) else size,
        people=texts(key, number=count(number)),
        rows=texts.number_of(part.rows, "row"),
        columns=texts.number_of(table.columns, "column"),
    )


def what_was_assessed(parts: Sequence[ReportPart]) -> Iterator[str]:
    """The table of the first part; another one only where a later part speaks of it."""
    yield from _table(parts[0])
    for part in parts[1:]:
        if subject(part) != subject(parts[0]):
            yield part.texts(
                "front.another",
                number=part.number,
                rows=count(part.rows),
                columns=part.writer.names(part.read(Overview).roles.quasi),
                secrets=part.writer.names(part.read(Overview).roles.sensitive),
            )


def subject(part: ReportPart) -> tuple[object, ...]:
    """Describe the subject of a part: its roles, its records."""
    roles = part.read(Overview).roles
    return roles.quasi, roles.sensitive, part.rows


def file_name(part: ReportPart) -> str | None:
    """The name of the file that was read; a frame of Python has none."""
    name = part.read(Overview).table.file
    return None if name is None else part.writer.file(name)


def _table(part: ReportPart) -> Iterator[str]:
    texts = part.texts
    overview = part.read(Overview)
    table = overview.table
    yield texts("front.table", size=table_size(part))
    if table.suppressed:
        key = "front.suppressed_kept" if table.keeps_suppressed else "front.suppressed"
        yield texts(key, records=count(table.suppressed))
    if table.dropped:
        yield texts("front.dropped_missing", records=count(table.dropped))
    delimiter = table.delimiter or ","
    if delimiter != ",":
        yield texts("front.delimiter", delimiter=SHOWN.get(delimiter, delimiter))
    if table.compression is not None:
        yield texts("front.compression", compression=table.compression)
    yield from (
        texts(key, columns=part.writer.names(overview.columns[role]))
        for role, key in ROLE_TEXTS.items()
        if overview.columns[role]
    )


def not_covered(
    texts: Texts, overview: Overview, shown: Callable[[str], str]
) -> Iterator[Paragraph]:
    """The columns without a role, a weight that the file has, and the columns that are kept."""
    columns = overview.unassessed
    if columns:
        key = "front.not_covered_one" if len(columns) == 1 else "front.not_covered"
        yield Paragraph(texts(key, columns=some_columns(texts, columns, shown)), "warning")
    others = OFTEN_RELEASED if overview.policy is None else WITH_WEIGHT
    gone = overview.dropped_columns
    unmeasured = [c for c in columns_not_released(overview, others) if c not in gone]
    if unmeasured:
        key = "front.also_holds"
        yield Paragraph(texts(key, columns=some_columns(texts, unmeasured, shown)), "warning")
    kept = [column for column in overview.roles.kept if column not in gone]
    if kept:
        words = [_kept_words(texts, overview.roles, column, shown(column)) for column in kept]
        yield Paragraph(texts("front.kept_columns", columns="; ".join(words)), "note")


def _kept_words(texts: Texts, roles: Roles, column: str, shown: str) -> str:
    """A kept column, as it is `shown`, with its reason, which a shareable page does not have."""
    reason = roles.kept[column]
    words = shown if reason is None else f"{shown} ({reason})"
    if column in roles.unknowable:
        return texts("front.kept_unknowable", column=words)
    return words


# -- of every 100 people --------------------------------------------------------------------------


def hundred(part: ReportPart) -> list[Block | Chapter]:
    """Divide 100 people: alone, in small groups and in larger ones."""
    texts = part.texts
    overview = part.read(Overview)
    spans = overview.table.class_sizes
    if not spans or overview.table.people is not None:
        return []
    every = each_limit(limits_of(overview.policy))
    limits = {v.measure: v for v in every if v.where == "reidentification"}
    least = (limits["k_anonymity"].min or 0) if "k_anonymity" in limits else 0
    by_policy = least > 2 and any(span.least == least for span in spans)
    small = int(least) if by_policy else SMALL
    groups = [
        sum(span.records for span in spans if low <= span.least < high)
        for low, high in ((1, 2), (2, small), (small, float("inf")))
    ]
    suppressed = overview.table.left_out
    if suppressed:
        groups.append(suppressed)
    whole = sum(groups) or 1
    shares = tuple(round_shares([group / whole for group in groups]))
    span = "2" if small == 3 else f"2–{small - 1}"
    labels = []
    kinds = HUNDRED[: len(groups)]
    for (key, note, of_policy), share, people in zip(kinds, shares, groups, strict=True):
        number = texts("front.fewer_than_one") if people and not share else f"{share}"
        label = texts(key, number=number, span=span, small=small)
        labels.append((label, texts(of_policy if by_policy else note, small=small)))
    most = limits["unique_records"].max if "unique_records" in limits else None
    allowed = None
    words = ""
    if most is not None and most < 1 and not suppressed:
        allowed = int(100 * most)
        words = texts("front.hundred_allowed", number=digits(f"{100 * most:.12g}"))
    title = texts("front.hundred_rows" if counts_rows(part) else "front.hundred")
    return [
        Hundred(title=title, shares=shares, labels=tuple(labels), allowed=allowed, allowance=words)
    ]


def not_measured(texts: Texts, *, screen: bool = False) -> Chapter:
    """List the risks that no number on a page measures."""
    lacking = (
        texts("front.no_dp"),
        texts("front.no_tables"),
        texts("front.no_outside"),
        texts("front.no_judgement"),
    )
    inner = (BulletList(lacking),)
    return Chapter(
        title=texts("front.not_measured"), anchor="not-measured", blocks=inner, screen=screen
    )
