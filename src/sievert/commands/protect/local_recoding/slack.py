"""The slack of a class: how far it is from keeping the rules about secrets."""

import numpy as np

from sievert.arrays import Ints
from sievert.commands.protect.local_recoding.states import SecretRules
from sievert.methods.full_domain.class_excess import rule_excess
from sievert.numerics.acceleration import jit_if_possible


@jit_if_possible
def slack(secret_rules: SecretRules, tally: Ints) -> float:
    """Measure in records how far a class is from keeping the rules; 0 if it keeps them.

    `tally` counts the values of the class, secret by secret. A gradual rule adds its excess for
    every record; another rule that is broken adds every record.
    """
    rules = secret_rules.rules
    total = 0.0
    for s in range(len(secret_rules.begins) - 1):
        begin = secret_rules.begins[s]
        end = secret_rules.begins[s + 1]
        own = tally[begin:end]
        totals = secret_rules.totals[begin:end]
        known_totals = secret_rules.known_totals[begin:end]
        tree = secret_rules.trees[s, : secret_rules.heights[s], : len(own)]
        missing = secret_rules.missing[s]
        values = 0
        size = own.sum()
        seen = np.empty(len(own), dtype=np.int64)
        work = np.empty((2, len(own)), dtype=np.int64)
        for v in range(len(own)):
            if own[v] > 0:
                seen[values] = v
                values += 1
        here = seen[:values]
        records = totals.sum()
        known_records = known_totals.sum()
        for r in range(len(rules.numbers)):
            if secret_rules.secrets[r] != s:
                continue
            excess = rule_excess(
                rules,
                r,
                own,
                here,
                size,
                totals,
                records,
                known_totals,
                known_records,
                tree,
                missing,
                work,
            )
            if excess > 0.0:
                total += size * excess if rules.gradual[r] else size
    return total
