"""Information measures: how many bits the quasi-identifiers give away about a target.

Every formula holds for both kinds of risk; only the target X differs (`measures.target`). Where the
ITPR paper writes H(X|Y=y) it computes the class's *share* h_q = p(q)·H(X|q); so do we.
"""

import math
from typing import Any

from sievert.measures.influence import influence_on_share
from sievert.measures.kernel import LN2
from sievert.measures.measure import (
    ALWAYS,
    BLIND,
    MONOTONE,
    NOTHING_TO_LEARN,
    UNBOUNDED,
    Law,
    Measure,
    MeasureResult,
    Number,
    Options,
    undefined,
)
from sievert.measures.target import SecretTarget, Target

ITPR = "ITPR paper (Information-Theoretic Privacy Risk)"
DR = "Discrimination rate (slides)"
_SAME = (Law.REPETITION_RECORD,)
_JOINT = frozenset({"joint"})


def _part_of_entropy(target: Target, bits: float) -> Number | MeasureResult:
    """Some bits as a part of H(X); undefined where nothing is unknown."""
    return min(1.0, bits / target.entropy) if target.entropy else undefined(NOTHING_TO_LEARN)


def _lost_in_class(target: Target, share: float) -> Number | MeasureResult:
    """1 - h/H(X) of a class with the share h of H(X|Q); undefined where nothing is unknown."""
    if target.entropy == 0.0:
        return undefined(NOTHING_TO_LEARN)
    return 0.0 if target.classes == 1 else float(1.0 - share / target.entropy)


def discrimination_rate(target: Target, _: Options) -> Number | MeasureResult:
    """1 - H(X|Q)/H(X) = I/H(X)."""
    return _part_of_entropy(target, target.mutual_information)


def entropy_l_diversity(target: Target, _: Options) -> MeasureResult:
    """2^(-min over q of H(X|q)): 1 over the effective number of values."""
    details: dict[str, Any] = {}
    if isinstance(target, SecretTarget):
        known = target.effective_known
        details = target.without_missing(None if known is None else 1.0 / known)
    return MeasureResult(1.0 / target.effective_values, details=details)


def itpr_unnormalized(target: Target, _: Options) -> Number | MeasureResult:
    """max over q of 1 - h_q/H(X)."""
    return _lost_in_class(target, target.least_share)


def itpr(target: Target, options: Options) -> Number | MeasureResult:
    """1 - K·min over q of h_q / H(X), with k, K, DR and eq. 9 beside it."""
    beside: dict[str, Any] = {"k": target.smallest_class, "classes": target.classes}
    if target.entropy == 0.0:
        return undefined(NOTHING_TO_LEARN, beside=beside)
    beside |= {m.__name__: m(target, options) for m in (discrimination_rate, itpr_unnormalized)}
    return MeasureResult(target.itpr, details={"beside": beside})


INFORMATION: tuple[Measure, ...] = (
    Measure(
        "itpr",
        "Information-theoretic privacy risk",
        "1",
        0,
        1,
        "high",
        "1 - K·min_q h_q / H(X), h_q = p(q)·H(X|q)",
        f"{ITPR}, def. 4.1, 4.2",
        "1: somebody's target is certain; compare only tables with as many classes",
        BLIND,
        itpr,
        needs=_JOINT,
        aliases=("information-theoretic privacy risk",),
        influence=None,
    ),
    Measure(
        "itpr_unnormalized",
        "ITPR without the number of classes",
        "1",
        0,
        1,
        "high",
        "max_q (1 - h_q/H(X))",
        f"{ITPR}, eq. 9",
        "the largest discrimination rate of a single class; never rises when values are merged",
        (*BLIND, *MONOTONE),
        itpr_unnormalized,
        influence=None,
    ),
    Measure(
        "discrimination_rate",
        "Discrimination rate",
        "1",
        0,
        1,
        "high",
        "1 - H(X|Q)/H(X)",
        f"{DR}, def. 3 and 4",
        "the share of the uncertainty about the target that the quasi-identifiers remove",
        (*BLIND, *MONOTONE),
        discrimination_rate,
        needs=_JOINT,
        aliases=("DR",),
        influence=None,
        in_percent=True,
    ),
    Measure(
        "semantic_discrimination_rate",
        "Semantic discrimination rate",
        "1",
        0,
        1,
        "high",
        "1 - H(f(S)|Q)/H(f(S)), f merges values by meaning",
        DR,
        "the discrimination rate of what the values have in common, such as 'some cancer'",
        (*ALWAYS, *MONOTONE),
        lambda _, options: discrimination_rate(options["merged"], options),
        ("secret",),
        frozenset({"parts"}),
        aliases=("SeDR", "SDR"),
        influence=None,
        in_percent=True,
    ),
    Measure(
        "mutual_information",
        "Mutual information",
        "bits",
        0,
        None,
        "high",
        "I = H(X) - H(X|Q)",
        f"{ITPR}, eq. 6",
        "bits about the target that the quasi-identifiers give away, on average",
        (*BLIND, *MONOTONE, *_SAME, Law.SYMMETRY, Law.MERGED_SECRET_LOWER),
        lambda target, _: target.mutual_information,
        needs=_JOINT,
        aliases=("MI", "I(X;Q)"),
        influence=None,
    ),
    Measure(
        "conditional_privacy",
        "Conditional privacy loss",
        "1",
        0,
        1,
        "high",
        "1 - 2^(-I)",
        f"{ITPR}, eq. 7",
        "by what share the effective number of candidates, 2^H, shrinks",
        (*BLIND, *MONOTONE, *_SAME, Law.SYMMETRY, Law.MERGED_SECRET_LOWER),
        lambda target, _: -math.expm1(-target.mutual_information * LN2),
        needs=_JOINT,
        aliases=("conditional privacy loss",),
        influence=None,
    ),
    Measure(
        "maximum_information_leakage",
        "Maximum information leakage",
        "bits",
        0,
        None,
        "high",
        "max_q (H(X) - h_q)",
        f"{ITPR}, eq. 8 (share)",
        "the uncertainty about the target minus the smallest share any class leaves of it",
        (*BLIND, *MONOTONE, Law.MERGED_SECRET_LOWER),
        lambda target, _: 0.0 if target.classes == 1 else target.entropy - target.least_share,
        aliases=("MIL",),
        influence=None,
    ),
    Measure(
        "entropy_variation",
        "Entropy variation",
        "bits",
        0,
        None,
        "high",
        "max_q (H(X) - H(X|q))",
        f"{ITPR}, eq. 13",
        "the largest drop of uncertainty in one class, whatever its size",
        (*BLIND, *MONOTONE, *_SAME),
        lambda target, _: max(0.0, target.entropy_variation),  # of one class it may fall short
        needs=_JOINT,
        influence=None,
        of_class=True,
    ),
    Measure(
        "entropy_l_diversity",
        "Entropy l-diversity (as a risk)",
        "1",
        0,
        1,
        "high",
        "2^(-min_q H(X|q))",
        f"{ITPR}, 3.3.5 (as its table 4 has it)",
        "1 over the effective number of values in the least uncertain class",
        (*BLIND, *MONOTONE, Law.MERGED_SECRET_HIGHER),
        entropy_l_diversity,
        needs=frozenset({"known"}),
        aliases=("ELD",),
        influence=None,
        of_class=True,
    ),
    Measure(
        "reciprocal_entropy",
        "Reciprocal of the conditional entropy",
        "1/bit",
        0,
        None,
        "high",
        "max_q 1/H(X|q)",
        "Oganian and Domingo-Ferrer 2003",
        "grows without bound as some class becomes certain",
        (*BLIND, *MONOTONE),
        lambda target, _: (
            1.0 / target.least_entropy if target.least_entropy else undefined(UNBOUNDED)
        ),
        influence=None,
        of_class=True,
    ),
    Measure(
        "bayes_vulnerability_posterior",
        "Best guess is right, columns known",
        "1",
        0,
        1,
        "high",
        "sum_q max_x p(q,x); for the record K/N",
        "quantitative information flow (Smith 2009)",
        "share of the records for which the best guess from the quasi-identifiers is right",
        (*BLIND, *MONOTONE),
        lambda target, _: float(target.posterior),
        aliases=("posterior", "vulnerability", "V_post"),
        influence=influence_on_share,
        in_percent=True,
        instead="guess_gain = { max = 0.2 }",
    ),
    Measure(
        "bayes_vulnerability_prior",
        "Best guess is right, nothing known",
        "1",
        0,
        1,
        "high",
        "max_x p(x); for the record 1/N",
        "quantitative information flow (Smith 2009)",
        "what guessing the most frequent value gets right without any quasi-identifier",
        (*BLIND, *MONOTONE),
        lambda target, _: float(target.prior),
        aliases=("prior", "base rate", "V_prior"),
        influence=influence_on_share,
        in_percent=True,
    ),
    Measure(
        "entropy",
        "Uncertainty before anything is known",
        "bits",
        0,
        None,
        "low",
        "H(X); for the record log2 N",
        f"{ITPR}, eq. 1",
        "what is unknown about the target before anything is seen",
        (*BLIND, *MONOTONE),
        lambda target, _: target.entropy,
        aliases=("H", "H(X)"),
        influence=None,
    ),
    Measure(
        "conditional_entropy",
        "Uncertainty left, columns known",
        "bits",
        0,
        None,
        "low",
        "H(X|Q) = sum_q p(q)·H(X|q)",
        f"{ITPR}, eq. 2",
        "bits an outsider still lacks on average",
        (*BLIND, *MONOTONE),
        lambda target, _: target.conditional_entropy,
        needs=_JOINT,
        aliases=("H(X|Q)",),
        influence=None,
    ),
    Measure(
        "normalized_conditional_entropy",
        "Share of uncertainty left",
        "1",
        0,
        1,
        "low",
        "H(X|Q)/H(X)",
        f"{ITPR}, eq. 3",
        "1 minus the discrimination rate",
        (*BLIND, *MONOTONE),
        lambda target, _: _part_of_entropy(target, target.conditional_entropy),
        needs=_JOINT,
        influence=None,
    ),
    Measure(
        "joint_entropy",
        "Joint entropy of target and class",
        "bits",
        0,
        None,
        "neither",
        "H(X,Q) = H(Q) + H(X|Q)",
        f"{ITPR}, eq. 4",
        "bits that describe target and quasi-identifiers together; for the record log2 N",
        BLIND,
        lambda target, _: target.class_entropy + target.conditional_entropy,
        needs=_JOINT,
        aliases=("H(X,Q)",),
        influence=None,
    ),
    Measure(
        "discrimination_rate_of_value",
        "Discrimination rate of one class",
        "1",
        0,
        1,
        "high",
        "1 - h_q/H(X), one number a class",
        DR,
        "not a number of the assessment: see sievert.discrimination_rate_by_value",
        BLIND,
        lambda target, of: _lost_in_class(target, of["size"] * of["entropy"] / of["records"]),
        (),
        aliases=("DR of a value",),
        influence=None,
    ),
)
