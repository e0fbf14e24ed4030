"""Information measures: how many bits the quasi-identifiers give away about a target.

Every formula is valid for both kinds of risk; only the target X differs (`measures.target`). Where
the ITPR paper writes H(X|Y=y), it computes the class's *share* h_q = p(q)·H(X|q); so do we.
"""

import math
from typing import Any

from sievert.measures.class_sums import (
    SumRule,
    bits_left,
    bits_left_by_privacy,
    bits_left_by_rate,
    count_per_record,
    entropy_rule,
    largest_share,
    least_bits,
    least_rate,
)
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

ITPR_PAPER = "ITPR paper (Information-Theoretic Privacy Risk)"
DR_SLIDES = "Discrimination rate (slides)"
_SAME = (Law.REPETITION_RECORD,)
_JOINT = frozenset({"joint"})


def _part_of_entropy(target: Target, bits: float) -> Number | MeasureResult:
    """The share of H(X) that `bits` are; undefined where nothing is unknown."""
    if not target.entropy:
        return undefined(NOTHING_TO_LEARN)
    return min(1.0, bits / target.entropy)


def _lost_in_class(target: Target, share: float) -> Number | MeasureResult:
    """1 - h/H(X) of a class with the share h of H(X|Q); undefined where nothing is unknown."""
    if target.entropy == 0.0:
        return undefined(NOTHING_TO_LEARN)
    return 0.0 if target.classes == 1 else float(1.0 - share / target.entropy)


def discrimination_rate(target: Target, _: Options) -> Number | MeasureResult:
    """1 - H(X|Q)/H(X) = I/H(X)."""
    return _part_of_entropy(target, target.mutual_information)


DISCRIMINATION_RATE = Measure(
    id="discrimination_rate",
    title="Discrimination rate",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="1 - H(X|Q)/H(X)",
    source=f"{DR_SLIDES}, def. 3 and 4",
    reading="the share of the uncertainty about the target that the quasi-identifiers remove",
    laws=(*BLIND, *MONOTONE),
    compute=discrimination_rate,
    needs=_JOINT,
    aliases=("DR",),
    influence=None,
    in_percent=True,
    sum_rule=entropy_rule("max", bits_left_by_rate),
)


def entropy_l_diversity(target: Target, _: Options) -> MeasureResult:
    """2^(-min over q of H(X|q)): 1 over the effective number of values."""
    details: dict[str, Any] = {}
    if isinstance(target, SecretTarget):
        known = target.effective_known
        details = target.without_missing(None if known is None else 1.0 / known)
    return MeasureResult(1.0 / target.effective_values, details=details)


ENTROPY_L_DIVERSITY = Measure(
    id="entropy_l_diversity",
    title="Entropy l-diversity (as a risk)",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="2^(-min_q H(X|q))",
    source=f"{ITPR_PAPER}, 3.3.5 (as its table 4 has it)",
    reading="1 over the effective number of values in the least uncertain class",
    laws=(*BLIND, *MONOTONE, Law.MERGED_SECRET_HIGHER),
    compute=entropy_l_diversity,
    needs=frozenset({"known"}),
    aliases=("ELD",),
    influence=None,
    of_class=True,
)


def itpr_unnormalized(target: Target, _: Options) -> Number | MeasureResult:
    """max over q of 1 - h_q/H(X)."""
    return _lost_in_class(target, target.least_share)


ITPR_UNNORMALIZED = Measure(
    id="itpr_unnormalized",
    title="ITPR without the number of classes",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="max_q (1 - h_q/H(X))",
    source=f"{ITPR_PAPER}, eq. 9",
    reading="the largest discrimination rate of a single class; never rises when values are merged",
    laws=(*BLIND, *MONOTONE),
    compute=itpr_unnormalized,
    influence=None,
)


def itpr(target: Target, options: Options) -> Number | MeasureResult:
    """1 - K·min over q of h_q / H(X), with k, K, DR and eq. 9 beside it."""
    beside: dict[str, Any] = {"k": target.smallest_class, "classes": target.classes}
    if target.entropy == 0.0:
        return undefined(NOTHING_TO_LEARN, beside=beside)
    beside["discrimination_rate"] = discrimination_rate(target, options)
    beside["itpr_unnormalized"] = itpr_unnormalized(target, options)
    return MeasureResult(target.itpr, details={"beside": beside})


ITPR = Measure(
    id="itpr",
    title="Information-theoretic privacy risk",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="1 - K·min_q h_q / H(X), h_q = p(q)·H(X|q)",
    source=f"{ITPR_PAPER}, def. 4.1, 4.2",
    reading="1: somebody's target is certain; compare only tables with as many classes",
    laws=BLIND,
    compute=itpr,
    needs=_JOINT,
    aliases=("information-theoretic privacy risk",),
    influence=None,
)


SEMANTIC_DISCRIMINATION_RATE = Measure(
    id="semantic_discrimination_rate",
    title="Semantic discrimination rate",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="1 - H(f(S)|Q)/H(f(S)), f merges values by meaning",
    source=DR_SLIDES,
    reading="the discrimination rate of what the values have in common, such as 'some cancer'",
    laws=(*ALWAYS, *MONOTONE),
    compute=lambda _, options: discrimination_rate(options["merged"], options),
    kinds=("secret",),
    needs=frozenset({"parts"}),
    aliases=("SeDR", "SDR"),
    influence=None,
    in_percent=True,
    sum_rule=entropy_rule("max", bits_left_by_rate, of_record=False, in_parts=True),
)

MUTUAL_INFORMATION = Measure(
    id="mutual_information",
    title="Mutual information",
    unit="bits",
    low=0,
    high=None,
    riskier="high",
    formula="I = H(X) - H(X|Q)",
    source=f"{ITPR_PAPER}, eq. 6",
    reading="bits about the target that the quasi-identifiers give away, on average",
    laws=(*BLIND, *MONOTONE, *_SAME, Law.SYMMETRY, Law.MERGED_SECRET_LOWER),
    compute=lambda target, _: target.mutual_information,
    needs=_JOINT,
    aliases=("MI", "I(X;Q)"),
    influence=None,
    sum_rule=entropy_rule("max", bits_left),
)

CONDITIONAL_PRIVACY = Measure(
    id="conditional_privacy",
    title="Conditional privacy loss",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="1 - 2^(-I)",
    source=f"{ITPR_PAPER}, eq. 7",
    reading="by what share the effective number of candidates, 2^H, shrinks",
    laws=(*BLIND, *MONOTONE, *_SAME, Law.SYMMETRY, Law.MERGED_SECRET_LOWER),
    compute=lambda target, _: -math.expm1(-target.mutual_information * LN2),
    needs=_JOINT,
    aliases=("conditional privacy loss",),
    influence=None,
    sum_rule=entropy_rule("max", bits_left_by_privacy),
)

MAXIMUM_INFORMATION_LEAKAGE = Measure(
    id="maximum_information_leakage",
    title="Maximum information leakage",
    unit="bits",
    low=0,
    high=None,
    riskier="high",
    formula="max_q (H(X) - h_q)",
    source=f"{ITPR_PAPER}, eq. 8 (share)",
    reading="the uncertainty about the target minus the smallest share any class leaves of it",
    laws=(*BLIND, *MONOTONE, Law.MERGED_SECRET_LOWER),
    compute=lambda target, _: 0.0 if target.classes == 1 else target.entropy - target.least_share,
    aliases=("MIL",),
    influence=None,
)

ENTROPY_VARIATION = Measure(
    id="entropy_variation",
    title="Entropy variation",
    unit="bits",
    low=0,
    high=None,
    riskier="high",
    formula="max_q (H(X) - H(X|q))",
    source=f"{ITPR_PAPER}, eq. 13",
    reading="the largest drop of uncertainty in one class, whatever its size",
    laws=(*BLIND, *MONOTONE, *_SAME),
    compute=lambda target, _: max(0.0, target.entropy_variation),  # of one class it may fall short
    needs=_JOINT,
    influence=None,
    of_class=True,
)

RECIPROCAL_ENTROPY = Measure(
    id="reciprocal_entropy",
    title="Reciprocal of the conditional entropy",
    unit="1/bit",
    low=0,
    high=None,
    riskier="high",
    formula="max_q 1/H(X|q)",
    source="Oganian and Domingo-Ferrer 2003",
    reading="grows without bound as some class becomes certain",
    laws=(*BLIND, *MONOTONE),
    compute=lambda target, _: (
        1.0 / target.least_entropy if target.least_entropy else undefined(UNBOUNDED)
    ),
    influence=None,
    of_class=True,
)

BAYES_VULNERABILITY_POSTERIOR = Measure(
    id="bayes_vulnerability_posterior",
    title="Best guess is right, columns known",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="sum_q max_x p(q,x); for the record K/N",
    source="quantitative information flow (Smith 2009)",
    reading="share of the records for which the best guess from the quasi-identifiers is right",
    laws=(*BLIND, *MONOTONE),
    compute=lambda target, _: float(target.posterior),
    aliases=("posterior", "vulnerability", "V_post"),
    influence=influence_on_share,
    in_percent=True,
    instead="guess_gain = { max = 0.2 }",
    sum_rule=SumRule(side="max", of_record=count_per_record, of_secret=largest_share),
)

BAYES_VULNERABILITY_PRIOR = Measure(
    id="bayes_vulnerability_prior",
    title="Best guess is right, nothing known",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="max_x p(x); for the record 1/N",
    source="quantitative information flow (Smith 2009)",
    reading="what guessing the most frequent value gets right without any quasi-identifier",
    laws=(*BLIND, *MONOTONE),
    compute=lambda target, _: float(target.prior),
    aliases=("prior", "base rate", "V_prior"),
    influence=influence_on_share,
    in_percent=True,
)

ENTROPY = Measure(
    id="entropy",
    title="Uncertainty before anything is known",
    unit="bits",
    low=0,
    high=None,
    riskier="low",
    formula="H(X); for the record log2 N",
    source=f"{ITPR_PAPER}, eq. 1",
    reading="what is unknown about the target before anything is seen",
    laws=(*BLIND, *MONOTONE),
    compute=lambda target, _: target.entropy,
    aliases=("H", "H(X)"),
    influence=None,
)

CONDITIONAL_ENTROPY = Measure(
    id="conditional_entropy",
    title="Uncertainty left, columns known",
    unit="bits",
    low=0,
    high=None,
    riskier="low",
    formula="H(X|Q) = sum_q p(q)·H(X|q)",
    source=f"{ITPR_PAPER}, eq. 2",
    reading="bits an outsider still lacks on average",
    laws=(*BLIND, *MONOTONE),
    compute=lambda target, _: target.conditional_entropy,
    needs=_JOINT,
    aliases=("H(X|Q)",),
    influence=None,
    sum_rule=entropy_rule("min", least_bits),
)

NORMALIZED_CONDITIONAL_ENTROPY = Measure(
    id="normalized_conditional_entropy",
    title="Share of uncertainty left",
    unit="1",
    low=0,
    high=1,
    riskier="low",
    formula="H(X|Q)/H(X)",
    source=f"{ITPR_PAPER}, eq. 3",
    reading="1 minus the discrimination rate",
    laws=(*BLIND, *MONOTONE),
    compute=lambda target, _: _part_of_entropy(target, target.conditional_entropy),
    needs=_JOINT,
    influence=None,
    sum_rule=entropy_rule("min", least_rate),
)

JOINT_ENTROPY = Measure(
    id="joint_entropy",
    title="Joint entropy of target and class",
    unit="bits",
    low=0,
    high=None,
    riskier="neither",
    formula="H(X,Q) = H(Q) + H(X|Q)",
    source=f"{ITPR_PAPER}, eq. 4",
    reading="bits that describe target and quasi-identifiers together; for the record log2 N",
    laws=BLIND,
    compute=lambda target, _: target.class_entropy + target.conditional_entropy,
    needs=_JOINT,
    aliases=("H(X,Q)",),
    influence=None,
)

DISCRIMINATION_RATE_OF_VALUE = Measure(
    id="discrimination_rate_of_value",
    title="Discrimination rate of one class",
    unit="1",
    low=0,
    high=1,
    riskier="high",
    formula="1 - h_q/H(X), one number a class",
    source=DR_SLIDES,
    reading="not a number of the assessment: see sievert.discrimination_rate_by_value",
    laws=BLIND,
    compute=lambda target, of: _lost_in_class(target, of["size"] * of["entropy"] / of["records"]),
    kinds=(),
    aliases=("DR of a value",),
    influence=None,
)


INFORMATION: tuple[Measure, ...] = (
    ITPR,
    ITPR_UNNORMALIZED,
    DISCRIMINATION_RATE,
    SEMANTIC_DISCRIMINATION_RATE,
    MUTUAL_INFORMATION,
    CONDITIONAL_PRIVACY,
    MAXIMUM_INFORMATION_LEAKAGE,
    ENTROPY_VARIATION,
    ENTROPY_L_DIVERSITY,
    RECIPROCAL_ENTROPY,
    BAYES_VULNERABILITY_POSTERIOR,
    BAYES_VULNERABILITY_PRIOR,
    ENTROPY,
    CONDITIONAL_ENTROPY,
    NORMALIZED_CONDITIONAL_ENTROPY,
    JOINT_ENTROPY,
    DISCRIMINATION_RATE_OF_VALUE,
)
