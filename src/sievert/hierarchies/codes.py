"""Numbers that are codes, such as postcodes stored as integers, recognised by the column's name."""

import re
from collections.abc import Collection
from typing import Literal

# Words of column names. Codes of one width: their numbers lose leading zeros, never trailing ones.
FIXED_WIDTH = {
    "zip",
    "zipcode",
    "postcode",
    "postalcode",
    "postal",
    "plz",
    "postleitzahl",
    "fips",
    "insee",
    "ags",
    "puma",
    "cbsa",
    "msa",
    "tract",
    "county",
    "blz",
    "sortcode",
}
# Codes whose shorter forms are broader: 23 contains 236, which contains 2361.
NESTED = {
    "naics",
    "sic",
    "nace",
    "isic",
    "icd",
    "cpc",
    "sitc",
    "hs",
    "gics",
    "isco",
    "soc",
    "nuts",
    "lau",
    "atc",
    "drg",
    "cpt",
    "region",
    "district",
    "municipality",
    "commune",
    "canton",
    "kreis",
    "gemeinde",
    "province",
    "prefecture",
    "department",
}
VAGUE = {
    "code",
    "codes",
    "kode",
    "codigo",
    "id",
    "ids",
}
QUANTITIES = {
    "age",
    "ages",
    "year",
    "years",
    "yr",
    "month",
    "months",
    "week",
    "weeks",
    "day",
    "days",
    "hour",
    "hours",
    "hrs",
    "minute",
    "minutes",
    "time",
    "duration",
    "income",
    "salary",
    "wage",
    "wages",
    "pay",
    "earnings",
    "amount",
    "price",
    "cost",
    "costs",
    "revenue",
    "balance",
    "gain",
    "loss",
    "weight",
    "wgt",
    "height",
    "size",
    "length",
    "width",
    "distance",
    "area",
    "rate",
    "score",
    "points",
    "count",
    "total",
    "sum",
    "number",
    "num",
    "visits",
    "children",
    "persons",
    "people",
    "bmi",
    "pressure",
    "dose",
    "assets",
    "sales",
    "value",
    "lot",
}
FIRST_YEAR = 1850
LAST_YEAR = 2100
SHORTEST = 3  # characters of codes that are worth cutting
LONGEST_CODE = 12
LOST_ZEROS = 2  # leading zeros that a code may have lost
DENSE = 2  # running numbers have no wider gaps than this, on average
BY_NAME = ("named_codes", "nested_codes", "lost_zeros", "short_codes")
ROUND = 10  # quantities are often multiples of it, codes are not

NameMeaning = Literal["fixed", "nested", "vague", "quantity"]
MEANINGS: tuple[tuple[NameMeaning, set[str]], ...] = (
    ("fixed", FIXED_WIDTH),
    ("nested", NESTED),
    ("vague", VAGUE),
    ("quantity", QUANTITIES),
)


def name_meaning(name: str | None) -> NameMeaning | None:
    """The meaning of a column's numbers by its name: by the last of its words that has a meaning.

    >>> [name_meaning(n) for n in ("zipCode", "PLZ_5", "income_code", "region_income", "x")]
    ['fixed', 'fixed', 'vague', 'quantity', None]
    """
    if name is None:
        return None
    words = [w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
    meanings = [kind for word in reversed(words) for kind, known in MEANINGS if word in known]
    if meanings[:1] == ["vague"] and meanings[1:2] in (["fixed"], ["nested"]):  # zip_code
        return meanings[1]
    return meanings[0] if meanings else None


def describe_codes(values: Collection[str], name: str | None) -> tuple[str | None, str] | None:
    """Describe values that the name calls codes by a specification and its reason; else None.

    If the specification is None, the values are categories, whose digits mean nothing.

    >>> describe_codes(["2139", "10115", "99501"], "zip")
    ('interval:10,100,1000,10000', 'lost_zeros')
    >>> describe_codes(["23", "236", "2361"], "naics"), describe_codes(["27", "31"], "age")
    (('prefix', 'nested_codes'), None)
    """
    kind = name_meaning(name)
    lengths = {len(v) for v in values}
    if kind in (None, "quantity") or (kind == "vague" and _are_years(values)):
        return None
    digits = all(v.isascii() and v.isdecimal() for v in values)
    if max(lengths) > LONGEST_CODE or not (digits or kind == "nested"):
        return None
    if max(lengths) < SHORTEST:
        return (None, "short_codes") if digits else None
    if len(lengths) == 1:
        if not digits:
            return None
        return "prefix", "codes" if min(lengths) > 4 else "named_codes"
    if kind == "nested" and _are_nested(values):
        return "prefix", "nested_codes"
    if kind == "fixed" and min(lengths) >= max(lengths) - LOST_ZEROS:
        widths = ",".join(str(10**n) for n in range(1, max(lengths)))
        return f"interval:{widths}", "lost_zeros"
    return (None, "short_codes") if digits else None


def are_amounts(values: Collection[str], name: str | None) -> bool:
    """Say whether numbers of one length are quantities: by name, not whole, or mostly round.

    >>> are_amounts(["52000", "48500", "61230"], None), are_amounts(["20095", "10115"], None)
    (True, False)
    """
    if name_meaning(name) == "quantity" or not all(v.isdecimal() for v in values):
        return True
    multiples = [v for v in values if int(v) % ROUND == 0]
    return 2 * len(multiples) > len(values)


def _are_years(values: Collection[str]) -> bool:
    return all(v.isdecimal() and FIRST_YEAR <= int(v) <= LAST_YEAR for v in values)


def _are_nested(values: Collection[str]) -> bool:
    """Say whether some values are beginnings of others, and the numbers have gaps."""
    if {v[:n] for v in values for n in range(1, len(v))}.isdisjoint(values):
        return False
    numbers = [int(v) for v in values if v.isdecimal()]
    return len(numbers) < len(values) or max(numbers) - min(numbers) >= DENSE * len(values)
