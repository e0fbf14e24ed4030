"""Table 1 of the paper, its two releases, and Adult where somebody gives it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from sievert import csvfile
from sievert.errors import InputError
from sievert.hierarchies import ROOT, Hierarchy

Columns = dict[str, list[str]]

# -- Table 1 -------------------------------------------------------------------------------------

KNOWN = ["nationality", "zip"]
DISEASE = "disease"
SECRETS = ["Heart", "Flu", "Stomach", "HIV", "Diabetes"]
ORIGINAL: Columns = {
    "nationality": ["Malaysia", "Japan", "Japan", "Japan", "China", "Japan", "India", "Malaysia"],
    "zip": ["45501", "45502", "55503", "55504", "66601", "66601", "77701", "77701"],
    DISEASE: ["Heart", "Flu", "Flu", "Stomach", "HIV", "Diabetes", "Flu", "Heart"],
}
RECODED: Columns = {
    "nationality": [
        "{Malaysia,Japan}", "{Malaysia,Japan}", "Japan", "Japan",
        "{China,Japan}", "{China,Japan}", "{India,Malaysia}", "{India,Malaysia}",
    ],
    "zip": ["4550*", "4550*", "5550*", "5550*", "66601", "66601", "77701", "77701"],
    DISEASE: ORIGINAL[DISEASE],
}  # fmt: skip
GROUPS = ["1", "1", "2", "2", "3", "3", "4", "4"]
PEOPLE: Columns = {
    "nationality": ["Japan", "Malaysia", "Japan", "Japan", "Japan", "China", "Malaysia", "India"],
    "zip": ["45502", "45501", "55504", "55503", "66601", "66601", "77701", "77701"],
    "gid": GROUPS,
}
ANATOMY = (PEOPLE, {"gid": GROUPS, DISEASE: ORIGINAL[DISEASE]})
ZIPS = {"zip": sorted(set(ORIGINAL["zip"]))}  # those that exist are public


def held_by(label: str, value: str) -> bool:
    """Whether a released label of Table 1 may stand for a value.

    >>> held_by("{Malaysia,Japan}", "Japan"), held_by("4550*", "55503"), held_by("Japan", "Japan")
    (True, False, True)
    """
    if label.startswith("{"):
        return value in label.strip("{}").split(",")
    return value.startswith(label[:-1]) if label.endswith("*") else value == label


# -- Adult ---------------------------------------------------------------------------------------

ADULT = ["sex", "race", "marital-status", "education", "native-country", "workclass",
         "salary-class"]  # fmt: skip
OCCUPATION = "occupation"
ROWS = 5_692
UNSEEN = {"workclass": {"Never-worked"}}  # values of Adult that no complete record has


def read_columns(path: str, columns: Sequence[str], what: str) -> Columns:
    """Some columns of a CSV file as lists of text; blanks around values are left out."""
    file = Path(path)
    try:
        names, delimiter = csvfile.header(file, None)
        with file.open(newline="", encoding="utf-8-sig") as text:
            _, *records = [r for r in csv.reader(text, delimiter=delimiter) if r]
    except OSError as error:
        raise InputError(f"{file.name}: {error.strerror}", hint=what) from None
    except (UnicodeDecodeError, csv.Error, ValueError):
        raise InputError(f"{file.name}: not a CSV file in UTF-8", hint=what) from None
    names = [name.strip() for name in names]
    lacking = [name for name in columns if name not in names]
    if lacking:
        raise InputError(f"{file.name}: no column {', '.join(lacking)}", hint=what)
    ragged = sum(1 for record in records if len(record) != len(names))
    if ragged:
        raise InputError(f"{file.name}: {ragged:,} records with too few or too many values")
    places = {name: names.index(name) for name in columns}
    return {name: [r[at].strip() for r in records] for name, at in places.items()}


def adult(path: str) -> tuple[Columns, dict[str, Hierarchy]]:
    """The first complete records, as many as the paper took, and ladders of one step: `*`.

    What values there are is taken from the whole file: it is public.
    """
    whole = read_columns(path, [*ADULT, OCCUPATION], "the complete Adult, with a header")
    missing = zip(*whole.values(), strict=True)
    complete = [i for i, record in enumerate(missing) if "?" not in record and "" not in record]
    if len(complete) < ROWS:
        raise InputError(
            f"{Path(path).name}: {len(complete):,} complete records, fewer than {ROWS:,}",
            hint="the complete Adult, with a header",
        )
    people = {name: [held[i] for i in complete[:ROWS]] for name, held in whole.items()}
    ladders: dict[str, Hierarchy] = {}
    for name in ADULT:
        values = {whole[name][i] for i in complete} | UNSEEN.get(name, set())
        ladders[name] = Hierarchy(dict.fromkeys(sorted(values), (ROOT,)), name)
    return people, ladders
