"""Records that were recoded locally: their classes, labels and losses, and the rules they keep."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sievert.arrays import Bools, Floats, Ints
from sievert.commands.protect.local_recoding.columns import LocalColumn
from sievert.commands.protect.local_recoding.labels import ColumnLabels, column_labels, mean_shares
from sievert.commands.protect.local_recoding.recoding import Pieces, recode_locally
from sievert.commands.protect.local_recoding.slack import slack
from sievert.commands.protect.local_recoding.states import secret_rules_arrays
from sievert.commands.protect.method import RecordTable
from sievert.hierarchies import ROOT
from sievert.losses.formulas import LabelShare
from sievert.losses.loss import combination_codes
from sievert.measures import BY_ID
from sievert.methods.full_domain import Losses, SecretCells
from sievert.methods.full_domain.rules import size_rule
from sievert.policy import Policy
from sievert.policy.document import MeasureLimit
from sievert.releases.files import TEXT, FileColumn
from sievert.releases.problem import share_of_records
from sievert.releases.secret_rules import secret_cells

USE = 0x10CA1  # tells the random numbers of borrowing from those of other methods
MOST_TALLIES = 1 << 27


@dataclass(frozen=True, eq=False, kw_only=True)
class CombinedRecords:
    """The records of a table by their combination of values, with the rules for their classes."""

    table: RecordTable
    columns: Sequence[LocalColumn]
    combination: Ints  # of every record
    codes: Ints  # for every combination its position in every column
    secrets: Sequence[SecretCells]
    secret_codes: Sequence[Ints]  # for every record the code of its secret
    k: int

    @classmethod
    def of_table(cls, table: RecordTable, columns: Sequence[LocalColumn]) -> "CombinedRecords":
        """Number the combinations of a table; make the rules of its policy."""
        policy = table.policy
        quasi = table.roles.quasi
        positions = []
        for name, column in zip(quasi, columns, strict=True):
            own = table.columns[name]
            positions.append(column.positions(own.texts)[own.codes])
        combination = combination_codes(positions)
        first = np.unique(combination, return_index=True)[1]
        codes = np.stack([p[first] for p in positions], axis=1)
        secrets = []
        secret_codes = []
        for name in table.roles.sensitive:
            own = table.columns[name]
            keys, counts = np.unique(combination * len(own.texts) + own.codes, return_counts=True)
            cells = (keys // len(own.texts), keys % len(own.texts), counts)
            secrets.append(secret_cells(name, own.texts, cells, policy, table.measuring))
            secret_codes.append(own.codes)
        return cls(
            table=table,
            columns=columns,
            combination=combination,
            codes=codes,
            secrets=secrets,
            secret_codes=secret_codes,
            k=size_rule({**policy.everywhere, **policy.reidentification}),
        )

    @cached_property
    def counts(self) -> Ints:
        """The records of every combination."""
        return np.bincount(self.combination)

    def recoded_locally(self, weights: Sequence[float], seed: int) -> "ClassRecoding":
        """Join the combinations into classes that keep the rules, at little loss."""
        pieces = recode_locally(
            self.columns, self.codes, self.counts, self.secrets, k=self.k, weights=weights
        )
        return self.in_classes(pieces, seed)

    def in_classes(
        self, pieces: Pieces, seed: int, gone: Sequence[int] | Ints = ()
    ) -> "ClassRecoding":
        """Put the records in classes, and suppress those of the classes `gone`."""
        return ClassRecoding(
            table=self.table,
            columns=self.columns,
            combination=self.combination,
            codes=self.codes,
            secrets=self.secrets,
            secret_codes=self.secret_codes,
            k=self.k,
            pieces=pieces,
            seed=seed,
            gone=np.asarray(gone, dtype=np.int64),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassRecoding(CombinedRecords):
    """The records of a table in the classes of a recoding."""

    pieces: Pieces
    seed: int
    gone: Ints  # classes with the root label in every column

    @cached_property
    def owner(self) -> Ints:
        """The class of every record; the seed assigns the records of a split combination."""
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
            column_labels(column, self.codes[:, j], self.pieces).with_suppressed(
                self.gone, column, len(self.combination)
            )
            for j, column in enumerate(self.columns)
        ]

    @cached_property
    def file_columns(self) -> dict[str, FileColumn]:
        """The quasi-identifiers of the release."""
        changed = {}
        for name, labels in zip(self.table.roles.quasi, self.labels, strict=True):
            own = self.table.columns[name]
            codes = labels.codes[self.owner]
            kind = own.kind if set(labels.texts) <= set(own.texts) else TEXT
            changed[name] = FileColumn(name=name, texts=labels.texts, codes=codes, kind=kind)
        return changed

    @cached_property
    def released_class(self) -> Ints:
        """The number of each class in the release, where classes with equal labels are one."""
        return combination_codes([labels.codes for labels in self.labels])

    @cached_property
    def sizes(self) -> Ints:
        """The records of every class of the release."""
        return np.bincount(self.released_class[self.pieces.owner], self.pieces.amount).astype(
            np.int64
        )

    @cached_property
    def suppressed_classes(self) -> Bools:
        """Tell which classes have the mark of suppression in every quasi-identifier."""
        gone = np.ones(len(self.released_class), dtype=bool)
        for labels in self.labels:
            gone &= np.array([text == ROOT for text in labels.texts])[labels.codes]
        return gone

    @cached_property
    def suppressed(self) -> Bools:
        """Tell which records have the mark of suppression in every quasi-identifier."""
        return self.suppressed_classes[self.owner]

    def cells_changed(self) -> int:
        """Count the cells with a label that stands for several values."""
        cells = 0
        for labels in self.labels:
            widths = labels.widths[labels.codes[self.pieces.owner]]
            cells += int(self.pieces.amount[widths > 1].sum())
        return cells

    # -- losses and rules -----------------------------------------------------------------------

    def losses(self, weights: Mapping[str, float]) -> Losses:
        """Measure the losses that full-domain recoding has, too."""
        return Losses.of(
            LocalClasses(self, weights),
            monotonic_discernability=int((self.sizes**2).sum()),
            bits={
                s.name: self._bits(codes)
                for s, codes in zip(self.secrets, self.secret_codes, strict=True)
                if s.name is not None
            },
        )

    def _bits(self, secret: Ints) -> float:
        """I(X;Y) - I(X';Y) in bits per record, without a correction for chance."""
        after = _uncertainty(self.released_class[self.owner], secret)
        return after - _uncertainty(self.combination, secret)

    def holds(self, share: float) -> bool:
        """Tell whether the method enforces every limit of the policy, and the release keeps them.

        At most the given share of the records may be suppressed.
        """
        allowed = share_of_records(share, self.table.records)
        if int(self.suppressed.sum()) > allowed or int(self.sizes.min()) < self.k:
            return False
        if not all(_is_enforced(self.table.policy, self.secrets)):
            return False
        ruled = [s for s in self.secrets if s.rules]
        rules = secret_rules_arrays(ruled)
        classes = len(self.sizes)
        # The assessment of the file decides if there is too much to count, or if suppressed records
        # are left out of the distribution with which classes are compared.
        if classes * int(rules.begins[-1]) > MOST_TALLIES or (ruled and self.suppressed.any()):
            return False
        tallies = np.zeros((classes, int(rules.begins[-1])), dtype=np.int64)
        class_of = np.zeros(len(self.codes), dtype=np.int64)  # combinations are whole with rules
        class_of[self.pieces.combination] = self.released_class[self.pieces.owner]
        for s, begin in zip(ruled, rules.begins, strict=False):
            np.add.at(tallies, (class_of[s.combination], begin + s.value), s.counts)
        return not any(slack(rules, tally) > 0 for tally in tallies)


class LocalClasses:
    """The classes of a local recoding, with the methods that losses call."""

    def __init__(self, recoding: ClassRecoding, weights: Mapping[str, float]) -> None:
        names = recoding.table.roles.quasi
        shares = np.array([float(weights.get(name, 1.0)) for name in names])
        self.recoding = recoding
        self.weights: Floats = shares / shares.sum()
        self.records = int(recoding.sizes.sum())
        self.suppressed = int(recoding.suppressed.sum())

    @property
    def released_sizes(self) -> Ints:
        """The sizes of the classes without suppressed ones, which all have the same labels."""
        gone = self.recoding.released_class[self.recoding.suppressed_classes]
        return np.delete(self.recoding.sizes, np.unique(gone))

    def mean_shares(self, share: LabelShare) -> Floats:
        """The mean over records of a share of their label, for each column, from whole numbers."""
        recoding = self.recoding
        sizes = np.bincount(recoding.pieces.owner, recoding.pieces.amount).astype(np.int64)
        domains = [column.domain for column in recoding.columns]
        return mean_shares(recoding.labels, domains, sizes, share)

    def entropy(self) -> float:
        """The bits by which labels are less precise than values, summed over cells."""
        pieces = self.recoding.pieces
        bits = 0.0
        for j, labels in enumerate(self.recoding.labels):
            position = self.recoding.codes[pieces.combination, j]
            own = np.bincount(position, pieces.amount)[position]
            covered = labels.covered[labels.codes[pieces.owner]]
            bits += float((pieces.amount * np.log2(covered / own)).sum())
        return bits

    def bits(self) -> float:
        """Raise an error: the losses of local recoding have the bits of every secret already."""
        raise NotImplementedError


def _is_enforced(policy: Policy, secrets: Sequence[SecretCells]) -> list[bool]:
    """Tell for every limit whether local recoding keeps it by itself."""
    kinds = {rule.kind for s in secrets for rule in s.rules}
    return [_side_is_enforced(m, limit, kinds) for _, m, limit in policy.every_limit()]


def _side_is_enforced(measure: str, limit: MeasureLimit, kinds: Collection[str]) -> bool:
    """Tell whether the rules of these kinds enforce a limit on a measure."""
    if measure == "suppressed_records":
        return limit.min is None
    record = BY_ID[measure]
    sides = {rule.side for rule in record.class_rules}
    if record.size_rule is not None:
        sides.add(record.size_rule.side)
    if any(rule.distance and rule.name not in kinds for rule in record.class_rules):
        return False  # such as a distance in ranks for a secret without an order
    if sides == {"min"}:
        return limit.max is None
    if sides == {"max"}:
        return limit.min is None
    return False


def _uncertainty(classes: Ints, secret: Ints) -> float:
    """H(secret | class) in bits."""
    wholes = np.bincount(classes)
    cells = np.unique(classes * (int(secret.max()) + 1) + secret, return_counts=True)[1]
    wholes = wholes[wholes > 0]
    total = float((wholes * np.log2(wholes)).sum() - (cells * np.log2(cells)).sum())
    return max(0.0, total) / len(classes)
