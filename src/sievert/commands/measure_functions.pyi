"""Every measure as a function of a table, for type checkers; by `make generate`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sievert.hierarchies import Hierarchy

def k_anonymity(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    **options: Any,
) -> int | float | None: ...
def classes(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    **options: Any,
) -> int | float | None: ...
def unique_records(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    **options: Any,
) -> int | float | None: ...
def population_uniques(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    **options: Any,
) -> int | float | None: ...
def highest_risk(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    **options: Any,
) -> int | float | None: ...
def lowest_risk(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    **options: Any,
) -> int | float | None: ...
def largest_class(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    **options: Any,
) -> int | float | None: ...
def average_risk(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    **options: Any,
) -> int | float | None: ...
def average_class_risk(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    **options: Any,
) -> int | float | None: ...
def records_below(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    *,
    k: int | Sequence[int] | None = None,
    **options: Any,
) -> int | float | None: ...
def suppressed_records(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    **options: Any,
) -> int | float | None: ...
def separation(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    **options: Any,
) -> int | float | None: ...
def distinction(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: None = None,
    **options: Any,
) -> int | float | None: ...
def itpr(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def itpr_unnormalized(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def discrimination_rate(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def semantic_discrimination_rate(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    *,
    partition: Mapping[str, Iterable[str]] | None = None,
    **options: Any,
) -> int | float | None: ...
def mutual_information(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def conditional_privacy(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def maximum_information_leakage(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def entropy_variation(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def entropy_l_diversity(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def reciprocal_entropy(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def bayes_vulnerability_posterior(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def bayes_vulnerability_prior(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def entropy(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def conditional_entropy(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def normalized_conditional_entropy(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def joint_entropy(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str] | None = None,
    **options: Any,
) -> int | float | None: ...
def l_diversity(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    **options: Any,
) -> int | float | None: ...
def entropy_l(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    **options: Any,
) -> int | float | None: ...
def recursive_c(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    *,
    l: int | None = None,
    **options: Any,
) -> int | float | None: ...
def max_confidence(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    **options: Any,
) -> int | float | None: ...
def alpha_k(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    *,
    value: str | None = None,
    **options: Any,
) -> int | float | None: ...
def confidence_gain(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    **options: Any,
) -> int | float | None: ...
def guess_gain(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    **options: Any,
) -> int | float | None: ...
def t_closeness(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    **options: Any,
) -> int | float | None: ...
def t_closeness_ordered(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    *,
    order: Iterable[Any] | None = None,
    **options: Any,
) -> int | float | None: ...
def t_closeness_hierarchical(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    *,
    hierarchy: Hierarchy | str | None = None,
    **options: Any,
) -> int | float | None: ...
def beta_likeness(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    **options: Any,
) -> int | float | None: ...
def enhanced_beta_likeness(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    **options: Any,
) -> int | float | None: ...
def delta_disclosure(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    **options: Any,
) -> int | float | None: ...
def delta_disclosure_present(
    data: Any,
    quasi: str | Iterable[str],
    sensitive: str | Sequence[str],
    **options: Any,
) -> int | float | None: ...
