"""Table 1 of the paper, its two releases, and Adult where somebody gives it."""

from __future__ import annotations

from sievert.hierarchies import ROOT, Hierarchy
from sievert.papers.given_tables import ADULT, Columns, read_columns, too_few

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
        "{Malaysia,Japan}",
        "{Malaysia,Japan}",
        "Japan",
        "Japan",
        "{China,Japan}",
        "{China,Japan}",
        "{India,Malaysia}",
        "{India,Malaysia}",
    ],
    "zip": ["4550*", "4550*", "5550*", "5550*", "66601", "66601", "77701", "77701"],
    DISEASE: ORIGINAL[DISEASE],
}
GROUPS = ["1", "1", "2", "2", "3", "3", "4", "4"]
PEOPLE: Columns = {
    "nationality": ["Japan", "Malaysia", "Japan", "Japan", "Japan", "China", "Malaysia", "India"],
    "zip": ["45502", "45501", "55504", "55503", "66601", "66601", "77701", "77701"],
    "gid": GROUPS,
}
ANATOMY = (PEOPLE, {"gid": GROUPS, DISEASE: ORIGINAL[DISEASE]})
ZIPS = {"zip": sorted(set(ORIGINAL["zip"]))}  # those that exist are public


def is_below(label: str, value: str) -> bool:
    """Whether a released label of Table 1 may stand for a value.

    >>> is_below("{Malaysia,Japan}", "Japan"), is_below("4550*", "55503")
    (True, False)
    """
    if label.startswith("{"):
        return value in label.strip("{}").split(",")
    return value.startswith(label[:-1]) if label.endswith("*") else value == label


# -- Adult ---------------------------------------------------------------------------------------

KEYS = ["sex", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
OCCUPATION = "occupation"
ROWS = 5_692
UNSEEN = {"workclass": {"Never-worked"}}  # values of Adult that no complete record has


def adult(path: str) -> tuple[Columns, dict[str, Hierarchy]]:
    """The first complete records, as many as the paper took, and ladders of one step: `*`.

    What values there are is taken from the whole file: it is public.
    """
    whole = read_columns(path, [*KEYS, OCCUPATION], ADULT, ordered=True)
    missing = zip(*whole.values(), strict=True)
    complete = [i for i, record in enumerate(missing) if "?" not in record and "" not in record]
    if len(complete) < ROWS:
        raise too_few(path, len(complete), "complete records", ROWS, ADULT)
    people = {name: [held[i] for i in complete[:ROWS]] for name, held in whole.items()}
    ladders: dict[str, Hierarchy] = {}
    for name in KEYS:
        values = {whole[name][i] for i in complete} | UNSEEN.get(name, set())
        ladders[name] = Hierarchy(dict.fromkeys(sorted(values), (ROOT,)), name)
    return people, ladders
