"""A policy for releases: roles, parameters and limits, held against a table; it fails closed."""

from sievert.policy.document import (
    MeasureLimit,
    Policy,
    PolicyFile,
    check_parameters,
    limit_mistakes,
    parse_policy,
    parse_tables,
    read_policy,
    read_policy_file,
    read_tables,
    to_tables,
)
from sievert.policy.judgement import (
    Gate,
    GateReason,
    Judgement,
    Verdict,
    impossible_limit,
    judge,
    unjudged_secrets,
)

__all__ = [
    "Gate",
    "GateReason",
    "Judgement",
    "MeasureLimit",
    "Policy",
    "PolicyFile",
    "Verdict",
    "check_parameters",
    "impossible_limit",
    "judge",
    "limit_mistakes",
    "parse_policy",
    "parse_tables",
    "read_policy",
    "read_policy_file",
    "read_tables",
    "to_tables",
    "unjudged_secrets",
]
