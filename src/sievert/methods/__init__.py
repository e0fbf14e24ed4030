"""Protection methods for tables, and the probabilities that an intruder can infer."""

from typing import TYPE_CHECKING

from sievert.methods.anatomy import Anatomised, anatomise
from sievert.methods.intruder import (
    Groups,
    Method,
    check_probabilities,
    frequencies,
    group_by_subsets,
    group_records,
    subsets,
)
from sievert.methods.mondrian import mondrian
from sievert.methods.noise import Noisy, add_noise, noise_span, origin_probabilities
from sievert.methods.query_restriction import Restricted, infer_from_answers, restrict_queries
from sievert.methods.recoding import Recoded, Released, recode, smallest_recoding
from sievert.methods.sampling import Sample, draw_sample
from sievert.methods.utility import Queries, Utility, range_queries, utility
from sievert.renamed import renamed

if not TYPE_CHECKING:  # the names of earlier versions
    __getattr__ = renamed(
        __name__,
        {
            "anatomised": "anatomise",
            "answered": "infer_from_answers",
            "every": "group_by_subsets",
            "grouped": "group_records",
            "noisy": "add_noise",
            "reachable": "origin_probabilities",
            "recoded": "recode",
            "restricted": "restrict_queries",
            "sampled": "draw_sample",
            "span_of": "noise_span",
            "supplied": "check_probabilities",
        },
    )

__all__ = [
    "Groups",
    "subsets",
    "group_records",
    "group_by_subsets",
    "Method",
    "Sample",
    "draw_sample",
    "Restricted",
    "restrict_queries",
    "infer_from_answers",
    "Noisy",
    "add_noise",
    "origin_probabilities",
    "noise_span",
    "Anatomised",
    "anatomise",
    "Released",
    "mondrian",
    "Recoded",
    "recode",
    "smallest_recoding",
    "frequencies",
    "check_probabilities",
    "Queries",
    "Utility",
    "range_queries",
    "utility",
]
