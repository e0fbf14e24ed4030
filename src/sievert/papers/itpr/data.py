"""The small tables that the paper prints, typed in; the generalised ones are made from them."""

from __future__ import annotations

from typing import Any

Columns = dict[str, list[Any]]

# Tables 1a and 2a: zip code, age, disease; table 2a goes on where table 1a ends.
FIRST = (
    ("35510", 21, "Asthma"),
    ("35591", 42, "HIV"),
    ("35593", 47, "Asthma"),
    ("35210", 38, "Diabetes"),
    ("35273", 32, "HIV"),
    ("35517", 20, "Diabetes"),
    ("35599", 49, "Diabetes"),
    ("35262", 33, "Asthma"),
    ("35511", 26, "HIV"),
)
SECOND = (
    *FIRST,
    ("35212", 39, "Diabetes"),
    ("35281", 32, "Diabetes"),
    ("35596", 41, "Diabetes"),
    ("35592", 46, "Diabetes"),
    ("35515", 23, "Diabetes"),
    ("35511", 26, "Diabetes"),
)
# Tables 1b and 2b: how often each disease stands in each of the three groups.
FIRST_GROUP = {"Asthma": 1, "Diabetes": 1, "HIV": 1}
SECOND_GROUP = {"Asthma": 1, "Diabetes": 3, "HIV": 1}

# Tables 3 and 6.
CASES: Columns = {
    "id": ["#1", "#2", "#3", "#4", "#5", "#6", "#7", "#8"],
    "age1": [30, 62, 37, 21, 19, 47, 71, 73],
    "age2": [30] * 8,
    "age3": [30, 30, 30, 47, 30, 30, 30, 30],
    "age4": [30, 30, 30, 47, 30, 47, 30, 30],
    "age5": [30, 30, 30, 30, 47, 47, 47, 47],
    "disease1": [
        "Diabetes",
        "Epilepsy",
        "Asthma",
        "Allergies",
        "Depression",
        "HIV",
        "Heart Disease",
        "Cancer",
    ],
    "disease2": [
        "Diabetes",
        "Diabetes",
        "Epilepsy",
        "Depression",
        "HIV",
        "Heart Disease",
        "Cancer",
        "Allergies",
    ],
    "disease3": ["Diabetes"] * 5 + ["HIV", "Asthma", "Allergies"],
    "zip1": ["35000"] * 3 + ["35510"] * 5,
    "zip2": ["35000"] * 3 + ["35510"] * 3 + ["35200"] * 2,
}


def generalise(records: tuple[tuple[str, int, str], ...]) -> Columns:
    """Tables 1b and 2b: the zip code cut after 352 or four digits, the age after its decade."""
    return {
        "zip": [zip_[:3] + "*" if zip_[:3] == "352" else zip_[:4] + "*" for zip_, _, _ in records],
        "age": [f"{age // 10}*" for _, age, _ in records],
        "disease": [disease for _, _, disease in records],
    }
