"""Records that were recoded locally: classes, labels, losses, and whether they hold the rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.commands.protect.local_recoding.columns import LocalColumn
from sievert.commands.protect.local_recoding.costs import slack
from sievert.commands.protect.local_recoding.labels import ColumnLabels, column_labels, mean_shares
from sievert.commands.protect.local_recoding.recoding import Pieces, recode_locally
from sievert.commands.protect.local_recoding.states import secret_rules_arrays
from sievert.commands.protect.method import RecordTable
from sievert.hierarchies import ROOT
from sievert.losses.loss import combination_codes
from sievert.methods.full_domain import Losses, SecretCells
from sievert.methods.full_domain.rules import LEAST, MOST, size_rule
from sievert.policy import Policy
from sievert.releases.files import TEXT, FileColumn
from sievert.releases.problem import share_of_records
from sievert.releases.secret_rules import secret_cells

USE = 0x10CA1  # tells the random numbers of borrowing from those of other methods
MOST_TALLIES = 1 << 27


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassRecoding:
    """The records of a table in the classes of a local recoding."""

    table: RecordTable
    columns: Sequence[LocalColumn]
    combination: Ints  # of every record
    codes: Ints  # of every combination its position in every column
    secrets: Sequence[SecretCells]
    secret_codes: Sequence[Ints]  # of every record, as the cells have them
    k: int
    pieces: Pieces
    seed: int

    @classmethod
    def of_table(
        cls,
        table: RecordTable,
        columns: Sequence[LocalColumn],
        weights: Sequence[float],
        seed: int,
    ) -> "ClassRecoding":
        """The classes that hold the rules of the policy, at little loss."""
        policy, quasi = table.policy, table.roles.quasi
        positions = [
            column.positions(own.texts)[own.codes]
            for column, own in zip(columns, map(table.columns.__getitem__, quasi), strict=True)
        ]
        combination = combination_codes(positions)
        first = np.unique(combination, return_index=True)[1]
        codes = np.stack([p[first] for p in positions], axis=1)
        secrets, secret_codes = [], []
        for name in table.roles.sensitive:
            own = table.columns[name]
            keys, counts = np.unique(combination * len(own.texts) + own.codes, return_counts=True)
            cells = (keys // len(own.texts), keys % len(own.texts), counts)
            secrets.append(secret_cells(name, own.texts, cells, policy, table.measuring))
            secret_codes.append(own.codes)
        k = size_rule({**policy.everywhere, **policy.reidentification})
        counts = np.bincount(combination)
        pieces = recode_locally(columns, codes, counts, secrets, k=k, weights=weights)
        return cls(
            table=table,
            columns=columns,
            combination=combination,
            codes=codes,
            secrets=secrets,
            secret_codes=secret_codes,
            k=k,
            pieces=pieces,
            seed=seed,
        )

    @cached_property
    def owner(self) -> Ints:
        """The class of every record; the records of a split combination are dealt by the seed."""
        shuffled = np.random.default_rng((self.seed, USE)).permutation(len(self.combination))
        order = np.lexsort((shuffled, self.combination))
        by_combination = np.lexsort((self.pieces.owner, self.pieces.combination))
        owner = np.empty(len(order), dtype=np.int64)
        owner[order] = np.repeat(
            self.pieces.owner[by_combination], self.pieces.amount[by_combination]
        )
        return owner

    @cached_property
    def labels(self) -> list[ColumnLabels]:
        """The labels of every column."""
        return [
            column_labels(column, self.codes[:, j], self.pieces)
            for j, column in enumerate(self.columns)
        ]

    @cached_property
    def file_columns(self) -> dict[str, FileColumn]:
        """The quasi-identifiers of the release."""
        changed = {}
        for name, labels in zip(self.table.roles.quasi, self.labels, strict=True):
            own, codes = self.table.columns[name], labels.codes[self.owner]
            kind = own.kind if set(labels.texts) <= set(own.texts) else TEXT
            changed[name] = FileColumn(name, labels.texts, codes, kind)
        return changed

    @cached_property
    def released_class(self) -> Ints:
        """Of every class the number of its labels: classes with equal labels are one."""
        return combination_codes([labels.codes for labels in self.labels])

    @cached_property
    def sizes(self) -> Ints:
        """The records of every class of the release."""
        return np.bincount(self.released_class[self.pieces.owner], self.pieces.amount).astype(
            np.int64
        )

    @cached_property
    def suppressed(self) -> Bools:
        """Which records have the mark of suppression in every quasi-identifier."""
        gone = np.ones(len(self.released_class), dtype=bool)
        for labels in self.labels:
            gone &= np.array([text == ROOT for text in labels.texts])[labels.codes]
        return gone[self.owner]

    def cells_changed(self) -> int:
        """How many cells have a label that stands for several values."""
        owner, amount = self.pieces.owner, self.pieces.amount
        return sum(int(amount[x.widths[x.codes[owner]] > 1].sum()) for x in self.labels)

    # -- what is lost, and what holds -----------------------------------------------------------

    def losses(self, weights: Mapping[str, float]) -> Losses:
        """The same losses as of full-domain recoding."""
        sizes = np.bincount(self.pieces.owner, self.pieces.amount).astype(np.int64)
        records, domains = int(sizes.sum()), [column.domain for column in self.columns]
        shares = np.array([float(weights.get(c, 1.0)) for c in self.table.roles.quasi])
        shares /= shares.sum()
        means = mean_shares(self.labels, domains, sizes)
        penalties, entropy = [], 0.0
        for j, (labels, domain) in enumerate(zip(self.labels, domains, strict=True)):
            open_ = np.where(labels.widths > 1, labels.widths / domain, 0.0)[labels.codes]
            penalties.append(float((sizes * open_).sum()) / records)
            position = self.codes[self.pieces.combination, j]
            own = np.bincount(position, self.pieces.amount)[position]
            covered = labels.covered[labels.codes[self.pieces.owner]]
            entropy += float((self.pieces.amount * np.log2(covered / own)).sum())
        suppressed = int(self.suppressed.sum())
        squares = int((self.sizes**2).sum())
        return Losses(
            geometric=float(np.expm1((np.log1p(means) * shares).sum())),
            arithmetic=float((means * shares).sum()),
            certainty_penalty=float((np.array(penalties) * shares).sum()),
            entropy=entropy,
            discernability=squares + suppressed * (records - suppressed),
            monotonic_discernability=squares,
            bits={
                s.name: self._bits(codes)
                for s, codes in zip(self.secrets, self.secret_codes, strict=True)
                if s.name is not None
            },
        )

    def _bits(self, secret: Ints) -> float:
        """I(X;Y) - I(X';Y) in bits per record, as the counts have it."""
        after = _uncertainty(self.released_class[self.owner], secret)
        return after - _uncertainty(self.combination, secret)

    def holds(self, share: float) -> bool:
        """Whether the method enforces every limit of the policy, and the release holds them.

        At most this share of the records may be suppressed.
        """
        allowed = share_of_records(share, self.table.records)
        if int(self.suppressed.sum()) > allowed or int(self.sizes.min()) < self.k:
            return False
        if not all(_is_enforced(self.table.policy, self.secrets)):
            return False
        ruled = [s for s in self.secrets if s.rules]
        rules, classes = secret_rules_arrays(ruled), len(self.sizes)
        # The assessment of the file decides where too much is to be counted, and where suppressed
        # records are left out of the distribution that classes are compared with.
        if classes * int(rules.begins[-1]) > MOST_TALLIES or (ruled and self.suppressed.any()):
            return False
        tallies = np.zeros((classes, int(rules.begins[-1])), dtype=np.int64)
        class_of = np.zeros(len(self.codes), dtype=np.int64)  # combinations are whole with rules
        class_of[self.pieces.combination] = self.released_class[self.pieces.owner]
        for s, begin in zip(ruled, rules.begins, strict=False):
            np.add.at(tallies, (class_of[s.combination], begin + s.value), s.counts)
        return not any(slack(rules, tally) > 0 for tally in tallies)


def _is_enforced(policy: Policy, secrets: Sequence[SecretCells]) -> list[bool]:
    """Of every limit whether local recoding holds it by itself."""
    kinds = {rule.kind for s in secrets for rule in s.rules}
    known = []
    for _, measure, limit in policy.every_limit():
        least = measure in {"k_anonymity", *LEAST} and limit.max is None
        most = measure in {"highest_risk", "suppressed_records", *MOST} and limit.min is None
        lacking = measure.startswith("t_closeness") and not {*MOST.get(measure, ())[:1]} <= kinds
        known.append((least or most) and not lacking)
    return known


def _uncertainty(classes: Ints, secret: Ints) -> float:
    """H(secret | class) in bits."""
    wholes = np.bincount(classes)
    cells = np.unique(classes * (int(secret.max()) + 1) + secret, return_counts=True)[1]
    wholes = wholes[wholes > 0]
    total = float((wholes * np.log2(wholes)).sum() - (cells * np.log2(cells)).sum())
    return max(0.0, total) / len(classes)
