"""The attacks on synthetic data, for limits of a policy; by `make generate`.

They are declared in `commands.synthetic.attacks.attacks`; a policy is read without loading them.
"""

SYNTHETIC_ATTACKS = (
    "copies",
    "unique_copies",
    "singling_out",
    "linkability",
    "inference",
    "attribute_disclosure",
    "membership",
)
