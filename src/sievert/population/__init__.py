"""Estimates of the population from a sample: pure functions of counts, no engine, no files."""

from sievert.population.estimate import Estimate, dominance, p_percent, population_size
from sievert.population.individual_risk import (
    Weighted,
    expected_reidentifications,
    global_risk,
    household_risk,
    household_risks,
    individual_risk,
)
from sievert.population.known_population import (
    Known,
    journalist,
    known_unique_match,
    marketer,
    prosecutor,
    truta_maximal,
    truta_minimal,
    truta_weighted,
)
from sievert.population.uniques import (
    cautious,
    dankar,
    pitman,
    shlosser,
    snb,
    unique_match,
    zayatz,
)

__all__ = [
    "Estimate",
    "population_size",
    "zayatz",
    "pitman",
    "snb",
    "shlosser",
    "dankar",
    "cautious",
    "unique_match",
    "Known",
    "prosecutor",
    "journalist",
    "marketer",
    "known_unique_match",
    "truta_minimal",
    "truta_maximal",
    "truta_weighted",
    "Weighted",
    "individual_risk",
    "expected_reidentifications",
    "global_risk",
    "household_risks",
    "household_risk",
    "dominance",
    "p_percent",
]
