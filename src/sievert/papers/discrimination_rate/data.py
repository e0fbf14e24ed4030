"""The small tables of the slides, as they are printed, and one that explains three numbers."""

from __future__ import annotations

from sievert.papers.given_tables import Columns

AGES = ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3
VALUES = ("2*", ">=40", "3*")  # in the order of the slides

EXAMPLE: Columns = {
    "zip": ["35000"] * 9,
    "age": ["22", "35", "63", "22", "22", "35", "45", "35", "40"],
    "salary": ["4K", "5K", "3K", "13K", "8K", "15K", "9K", "7K", "11K"],
    "disease": [
        "cancer",
        "diabetes",
        "malaria",
        "cancer",
        "cancer",
        "malaria",
        "malaria",
        "diabetes",
        "diabetes",
    ],
}

# "Originale Table": what is to be made 3-anonymous.
BEFORE: Columns = {
    "age": ["22", "22", "22", "45", "63", "40", "35", "35", "32"],
    "disease": ["lung cancer"] * 3
    + ["stomach cancer", "diabetes", "aids", "aids", "flu", "diabetes"],
}
GENERALISED: Columns = {"age": BEFORE["age"], "age_star": AGES}
K_ANONYMOUS: Columns = {
    "age_star": AGES,
    "disease": ["lung cancer"] * 3
    + ["stomach cancer", "diabetes", "flu"]
    + ["aids", "aids", "diabetes"],
}

# The second original, and its 3-diverse release.
SECOND: Columns = {
    "zip": ["35567", "35502", "35560", "35817", "35810", "35812", "35502", "35568", "35505"],
    "age": BEFORE["age"],
    "salary": ["4K", "5K", "6K", "7K", "12K", "9K", "8K", "10K", "11K"],
    "disease": [
        "colon cancer",
        "stomach cancer",
        "lung cancer",
        "stomach cancer",
        "diabetes",
        "aids",
        "aids",
        "flu",
        "lung cancer",
    ],
}
L_DIVERSE: Columns = {
    "zip_star": ["355**"] * 3 + ["3581*"] * 3 + ["355**"] * 3,
    "age_star": AGES,
    "salary": SECOND["salary"],
    "disease": SECOND["disease"],
}

# Not in the slides. Of all ways to fill the classes >=40 and 3*, with one disease in 2*, only those
# alike to this one give the three printed numbers that the printed table excludes.
EXPLAINS: Columns = {
    "age_star": AGES,
    "disease": ["lung cancer"] * 4 + ["aids", "flu", "aids", "aids", "diabetes"],
}

CANCERS = {"cancer": ["colon cancer", "stomach cancer", "lung cancer"]}

# How many values the columns of Adult have, by the slides.
VALUES_OF_ADULT = {
    "marital-status": "7",
    "native-country": "41",
    "race": "5",
    "workclass": "8",
    "occupation": "14",
}
QUASI = ["marital-status", "native-country", "race", "workclass"]
SECRET = "occupation"
# The values of marital-status that the last chart names.
LISTED = (
    "Divorced",
    "Married-civ-spouse",
    "Married spouse absent",
    "Never Married",
    "Seperated",
    "Widowed",
)
