"""Likely roles of columns, with the reasons: help for a user who gave none, never a guess."""

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sievert.counts.questions import Questions
from sievert.errors import MissingRolesError, require
from sievert.formatting import count, printable, wrap
from sievert.formatting.remarks import Figure, Joined, Remark, Share
from sievert.hierarchies import NUMBER
from sievert.report.texts import Texts, read_texts
from sievert.request.repeated_rows import FEW_RECORDS, MANY, MANY_VALUES, usable_columns
from sievert.roles import is_ordinary, looks_like_record, names_people, tells_people_apart

MOST_COLUMNS = 30  # columns up to which a suggestion is about all of them
FEW_COLUMNS = 20  # columns of a suggestion about a table with more columns
MOST_LISTED = 60  # further columns up to which all names are listed
FEW_LISTED = 12  # names that are listed of more further columns
MOST_VALUES = 100_000  # values of a column up to which they are examined
AMOUNT = 300  # with more different numbers, a column is no age, year or number of rooms
OFTEN = 0.02  # share of the records from which a value is frequent enough for a code
MOST_CODES = 3  # codes for missing in one column
SEVERAL = 5  # numbers that are not negative, from which a negative one is a code
LONGEST = 40  # letters of a name
DATE = re.compile(
    r"(1[6-9]|20)\d\d([-/])\d{1,2}(\2\d{1,2}([ T].*)?)?|\d{1,2}([-./])\d{1,2}\5(\d\d|\d{4})"
)
NINES = re.compile(r"9{2,}(\.0*)?")
# Columns that have a role in a policy only, by their names.
_IN_A_POLICY = {
    "household": re.compile(r"(hid|hhid|hh_?id|household(_?(id|no|nr|number))?)"),
    "weight": re.compile(
        r"(w|wt|wgt|weights?|fnlwgt|[pw]*wgtp|pweight|hweight|(sampl(e|ing)|survey)_?weight)"
    ),
}
# Parts of names that people give to such columns, in a few languages of the field.
PERSON = "--person"
_USUAL = {
    "-i": ("name", "_id", "id_", "ssn", "passport", "email", "mail", "phone", "iban", "patient"),
    "-s": (
        *("disease", "diagnos", "icd", "illness", "symptom", "hiv", "drug", "medic", "treat"),
        *("therap", "disab", "stay", "cause", "test", "blood", "smok", "alcohol", "sexual"),
        *(
            "salary",
            "income",
            "incp",
            "wage",
            "earn",
            "debt",
            "credit",
            "capital",
            "balance",
            "amount",
        ),
        *("religion", "score", "grade", "crime", "vote"),
    ),
    "-q": (
        *("age", "sex", "gender", "zip", "post", "plz", "birth", "dob", "race", "ethnic", "marit"),
        *("edu", "countr", "nation", "city", "town", "region", "county", "work", "occup", "job"),
        *("profession", "employ", "admission", "household", "relation", "state", "month", "year"),
        *("date", "marri", "lang", "citizen", "hisp"),
    ),
}


@dataclass(frozen=True, kw_only=True)
class ColumnEvidence:
    """What a column looks like: the number and the kind of its values."""

    values: int
    records: int
    dates: bool = False
    numbers: bool = False
    codes: int = 0  # values that look like codes for missing
    coded: int = 0  # records that have one of them


def looks_like_identifier(column: str) -> bool:
    """Whether a column has the name of an identifier."""
    name = column.casefold()
    usual = name.endswith("id") or any(part in name for part in _USUAL["-i"])
    return usual or names_people(column)


def _is_telling(column: str) -> bool:
    """Whether the name of a column shows its role; such columns are examined first."""
    name = column.casefold()
    in_a_policy = any(w.fullmatch(name) for w in _IN_A_POLICY.values())
    usual = any(part in name for parts in _USUAL.values() for part in parts)
    return in_a_policy or usual or names_people(column)


def suggest_role(column: str, evidence: ColumnEvidence) -> tuple[str, str]:
    """The option of the likely role of a column, and the key of the reason.

    >>> [suggest_role(c, ColumnEvidence(80, 1000)) for c in ("salary", "age")]
    [('-s', 'secret'), ('-q', 'known')]
    """
    name = column.casefold()
    values = evidence.values
    records = evidence.records
    if values <= 1:
        return "", "constant"
    for role, names in _IN_A_POLICY.items():
        if names.fullmatch(name):
            return "", role
    unique = records > FEW_RECORDS and values > MANY * records
    named = {option for option, parts in _USUAL.items() if any(p in name for p in parts)}
    if looks_like_identifier(column) and (unique or tells_people_apart(column)):
        return ("-i", "identifier") if unique else (PERSON, "called_identifier")
    # Yes and no, or small numbers, are not names of people.
    few = values <= FEW_RECORDS or (evidence.numbers and values <= MANY_VALUES)
    if names_people(column) and not (few and is_ordinary(column)):
        return "-i", "of_a_person"
    if "-s" in named:
        return "-s", "secret"
    if evidence.dates:
        return "-q", "date"
    if unique:
        return "", "nearly_unique"
    if "-q" in named:
        return "-q", "known"
    if evidence.numbers and values > AMOUNT:
        return "-s", "amount"
    return "-q", "unclear"


class RoleReason(Remark):
    """Why a column may have a role: a key of the section of suggestions."""

    SECTION = "suggested"


def role_reason(evidence: ColumnEvidence, reason: str) -> Joined:
    """Why a role is suggested, and that values look like codes for missing."""
    words = [RoleReason(reason)]
    if evidence.codes:
        share = Share(evidence.coded / evidence.records)
        if evidence.codes == 1:
            words.append(RoleReason("one_code", share=share))
        else:
            words.append(RoleReason("codes", number=Figure(evidence.codes), share=share))
    return Joined(words, "; ")


def tally_values(
    questions: Questions, distinct: Mapping[str, int]
) -> dict[str, dict[str | None, int]]:
    """Count the records with each text, for columns without too many values."""
    few = [column for column, values in distinct.items() if 0 < values <= MOST_VALUES]
    return questions.tallies(
        {column: distinct[column] for column in usable_columns(questions, few)}
    )


def examine_tallies(
    distinct: Mapping[str, int], tallies: Mapping[str, Mapping[str | None, int]], records: int
) -> dict[str, ColumnEvidence]:
    """Examine columns by the number of their `distinct` values and by their `tallies`."""
    evidence: dict[str, ColumnEvidence] = {}
    for column, values in distinct.items():
        if values > 1 and column in tallies:
            evidence[column] = examine_values(tallies[column], records)
        else:
            evidence[column] = ColumnEvidence(values=values, records=records)
    return evidence


def examine_values(tally: Mapping[str | None, int], records: int) -> ColumnEvidence:
    """Examine the values of a column; `tally` counts the records with each."""
    present = {text.strip(): n for text, n in tally.items() if text and text.strip()}
    dates = sum(bool(DATE.fullmatch(text)) for text in present)
    numbers = {text: float(text) for text in present if NUMBER.fullmatch(text)}
    codes = _missing_codes(numbers, present, records) if numbers else []
    return ColumnEvidence(
        values=len(tally),
        records=records,
        dates=bool(present) and dates >= MANY * len(present),
        numbers=bool(present) and len(numbers) >= MANY * len(present),
        codes=len(codes),
        coded=sum(present[text] for text in codes),
    )


def _missing_codes(
    numbers: Mapping[str, float], counts: Mapping[str, int], records: int
) -> list[str]:
    """Numbers that look like codes for missing: frequent, and negative or all nines.

    They are further from the other numbers than these are from each other, or they are the only
    negative ones.
    """
    likely = [t for t, x in numbers.items() if x < 0 or NINES.fullmatch(t)]
    others = sorted(x for t, x in numbers.items() if t not in likely)
    if not likely or not others or len(likely) > MOST_CODES:
        return []
    widest = max((b - a for a, b in pairwise(others)), default=0.0)
    return [
        t
        for t in likely
        if counts[t] >= max(OFTEN * records, 2)
        and (
            (numbers[t] < 0 <= others[0] and len(others) >= SEVERAL)
            or max(numbers[t] - others[-1], others[0] - numbers[t]) > max(widest, 1.0)
        )
    ]


def no_quasi(
    questions: Questions, used: Collection[str] = (), person: str | None = None
) -> MissingRolesError:
    """The error without quasi-identifiers, with help: columns, likely roles, options to go on.

    Columns that have a role already are neither listed nor among the options.
    """
    require(
        not (questions.first_line and looks_like_record(questions.columns)),
        "no quasi-identifiers given, and the first line looks like a record: it is not listed",
        hint="--no-header, or -q COLUMNS if these are names",
    )
    columns = [c for c in questions.columns if c not in used and c != person]
    require(columns, "no quasi-identifiers given: every column has another role", hint="-q COLUMNS")
    telling = [c for c in columns if _is_telling(c)]
    most = MOST_COLUMNS if len(columns) <= MOST_COLUMNS else FEW_COLUMNS
    first = {*(telling + [c for c in columns if c not in telling])[:most]}
    distinct = questions.distinct([c for c in columns if c in first])
    evidence = examine_tallies(distinct, tally_values(questions, distinct), questions.records)
    roles = {column: suggest_role(column, own) for column, own in evidence.items()}
    likely = {
        option: _list_for_shell(c for c, (o, _) in roles.items() if o == option)
        for option in _USUAL
    }
    options = [f"-q {likely['-q'] or 'COLUMNS'}"]
    options += [f"{option} {likely[option]}" for option in ("-s", "-i") if likely[option]]
    people = [c for c, (option, _) in roles.items() if option == PERSON]
    if len(people) == 1 and person is None:
        options.append(f"{PERSON} {_list_for_shell(people)}")

    def describe(language: str) -> tuple[str, str]:
        texts = read_texts(None, language)
        with texts.spoken():
            lines = _describe(evidence, roles, [c for c in columns if c not in first], texts)
            return texts("suggested.question"), "\n".join(lines)

    return MissingRolesError(describe, hint=" ".join(options))


def _describe(
    evidence: Mapping[str, ColumnEvidence],
    roles: Mapping[str, tuple[str, str]],
    others: Sequence[str],
    texts: Texts,
) -> Iterator[str]:
    """The columns with likely roles and reasons, the columns not examined, and what to decide."""
    names = {column: printable(column[: LONGEST + 1])[:LONGEST] for column in evidence}
    width = max(map(len, names.values()))
    wide = max(2, *(len(o) for o, _ in roles.values()))
    yield (
        f"  {texts('suggested.column'):<{width}}  {texts('suggested.values'):>9}"
        f"  {texts('suggested.why')}"
    )
    for column, (option, reason) in roles.items():
        values = count(evidence[column].values)
        start = f"  {names[column]:<{width}}  {values:>9}  {option or '?':<{wide}}  "
        why = texts.remark(role_reason(evidence[column], reason))
        if option:  # the line names it already
            why = re.sub(rf" \({option}\)(?=$|;)", "", why)
        yield from wrap(why, max(100, len(start) + 40), start, " " * len(start))
    if others:
        most = MOST_LISTED if len(others) <= MOST_LISTED else FEW_LISTED
        listed = [printable(c[: LONGEST + 1])[:LONGEST] for c in others[:most]]
        more = len(others) - len(listed)
        listed += [texts("front.more_columns", number=count(more))] if more else []
        words = texts("suggested.others", number=count(len(others)), columns=texts.join(listed))
        yield from wrap(words, 100, "  ")
    yield from wrap(texts("suggested.decide"), 100, "")
    unclear = [names[c] for c, (_, reason) in roles.items() if reason == "unclear"]
    if unclear:
        yield from wrap(texts("suggested.unclear_columns", columns=texts.join(unclear)), 100, "")


def _list_for_shell(columns: Iterable[str]) -> str:
    """Names as one argument that a shell takes literally."""
    text = ",".join(
        '"' + c.replace('"', '""') + '"' if {",", '"'} & {*c} else c
        for c in columns
        if printable(c) == c
    )
    return shlex.quote(text) if text else ""
