"""What a publisher does to a table, and the probabilities that an intruder is left with."""

from sievert.methods.anatomy import Anatomised, anatomised
from sievert.methods.intruder import Groups, Method, every, frequencies, grouped, subsets, supplied
from sievert.methods.mondrian import mondrian
from sievert.methods.noise import Noisy, noisy, reachable, span_of
from sievert.methods.query_restriction import Restricted, answered, restricted
from sievert.methods.recoding import Recoded, Released, recoded, smallest_recoding
from sievert.methods.sampling import Sample, sampled
from sievert.methods.utility import Queries, Utility, range_queries, utility

__all__ = [
    "Groups",
    "subsets",
    "grouped",
    "every",
    "Method",
    "Sample",
    "sampled",
    "Restricted",
    "restricted",
    "answered",
    "Noisy",
    "noisy",
    "reachable",
    "span_of",
    "Anatomised",
    "anatomised",
    "Released",
    "mondrian",
    "Recoded",
    "recoded",
    "smallest_recoding",
    "frequencies",
    "supplied",
    "Queries",
    "Utility",
    "range_queries",
    "utility",
]
