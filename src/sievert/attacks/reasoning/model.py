"""A release as somebody sees it who reasons: sets of values, groups, secrets, and priors.

What an outsider knows of a person is cut into independent *factors*: one a column (the product
model), or one for all columns together (the saturated model). A factor has *atoms*: the values
that a person may have there, some of them merged. A released value is a *label*: a set of
atoms.
"""

from __future__ import annotations

from dataclasses import dataclass

from sievert.arrays import Floats, Ints


@dataclass(frozen=True)
class Factor:
    """One factor of a release whose values were made coarser.

    `prior[s, a]` is the weight of atom a among people with secret s before the release is seen;
    label l may stand for the atoms `members[starts[l]:starts[l + 1]]`, in ascending order, one at
    least; `counts[l, s]` released records have label l and secret s.
    """

    prior: Floats
    starts: Ints
    members: Ints
    counts: Ints

    def label(self, label: int) -> Ints:
        """The atoms that a label may stand for."""
        return self.members[self.starts[label] : self.starts[label + 1]]


@dataclass(frozen=True)
class FactorPosterior:
    """What the release tells of one factor among people with one secret.

    `population[a]` is the expected share of atom a; `inside[m]`, for every place of the factor's
    `members`, the expected share of that atom within its label. It is 0 for labels that no record
    with the secret has.
    """

    population: Floats
    inside: Floats


@dataclass(frozen=True)
class Buckets:
    """A release in two tables: in each group the keys of its people, and its secrets, unlinked.

    Rows are in the order of their groups: `starts[g]:starts[g + 1]` are those of group g. Row i has
    atom `atoms[i, f]` in factor f; `secrets[starts[g]:starts[g + 1]]` are the group's secrets, in
    ascending order, which row has which being unknown. `priors[f]` is as in `Factor`.
    """

    priors: tuple[Floats, ...]
    atoms: Ints
    secrets: Ints
    starts: Ints
