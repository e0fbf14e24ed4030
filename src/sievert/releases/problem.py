"""A table and a policy as a search: combinations, columns on their levels, rules for classes."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from sievert.arrays import Bools, Ints
from sievert.checks.spellings import (
    OfSuppressed,
    more_certain,
    suppressed_with_merged,
    with_merged,
)
from sievert.counts.answers import RecordCounts
from sievert.counts.cube import Cube, histogram
from sievert.counts.questions import Questions
from sievert.counts.recoded import recoded_rows
from sievert.counts.recoded_records import ColumnMap
from sievert.counts.suppressed_cells import CellsBeside, SuppressedCells
from sievert.counts.suppression import Suppression
from sievert.errors import require
from sievert.formatting.remarks import Remark, figure
from sievert.hierarchies import ROOT, Hierarchy, is_made_from_data, propose, to_hierarchy
from sievert.measurement.combinations import CombinationCounts, recode
from sievert.measurement.table_measures import MeasureSettings, TableMeasures, with_kept
from sievert.measures import BY_ID, MEASURES, Law
from sievert.measures.measure import Value
from sievert.methods.full_domain import (
    FullDomainRecoding,
    LevelledColumn,
    Search,
    SecretCells,
)
from sievert.methods.full_domain.nodes import Hints
from sievert.methods.full_domain.rules import size_rule
from sievert.policy import MeasureLimit, Policy, Verdict, judge, judge_suppressed
from sievert.policy.judgement import bounds_harmless_side
from sievert.releases.choices import AUTO, KEEP
from sievert.releases.earlier import JointReleases
from sievert.releases.floor import SearchFloor
from sievert.releases.secret_rules import secret_cells
from sievert.roles import Roles
from sievert.session import no_progress

GIVEN = "given"  # a hierarchy that is not a text
UNIQUE = "unique_records"
ANY_OF_A_SECRET = "l_diversity"  # a limit that lacks an order is undecided if others are not
FIXED = 3_000  # cells that take as long to measure as the fixed work for a recoded table
MEASURED = 3  # cells that take as long to scan as one takes to measure
SUPPRESS = 0.02  # the share of the records, unless the policy or the caller says otherwise


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """What a search minimises, and what it may give up for that."""

    suppress: float = 0.0  # the share of records that may be suppressed
    loss: str = "generalization_loss"
    secret: str | None = None  # the secret whose bits the loss "bits" counts
    weights: Mapping[str, float] | None = None
    suppressed_rows: str = AUTO  # whether suppressed records stay in the release
    uncompiled: int = 0  # cells that are scanned before compiled loops are loaded


class ProtectionProblem:
    """The combinations of a table, and the answers that a search needs about them."""

    def __init__(
        self,
        questions: Questions,
        roles: Roles,
        combinations: CombinationCounts,
        measuring: MeasureSettings,
        hierarchies: Mapping[str, Hierarchy | None],
        settings: SearchSettings,
        floor: SearchFloor | None = None,
    ) -> None:
        self.questions = questions
        self.roles = roles
        self.combinations = combinations
        self.measuring = measuring
        self.settings = settings
        self.floor = floor
        self.beside: JointReleases | None = None  # earlier releases of the same people
        self.alike: ProtectionProblem | None = None  # the table with all spellings merged
        self.columns = []
        self.numbers = []
        classes = combinations.classes
        searched = None if floor is None else floor.search_columns
        for at, name in enumerate(roles.quasi):
            present = np.flatnonzero(classes.totals(at))
            texts = [classes.values[at][code] for code in present]
            if searched is None:
                column, numbers = LevelledColumn.of_values(name, texts, hierarchies.get(name))
            else:
                column = searched[at]
                numbers = np.array([column.labels[0].index(text) for text in texts])
            number_of = np.zeros(len(classes.values[at]), dtype=np.int64)
            number_of[present] = numbers
            self.columns.append(column)
            self.numbers.append(number_of)

    @cached_property
    def codes(self) -> Ints:
        """The number of the value of every combination in every column."""
        pairs = zip(self.numbers, self.combinations.classes.codes, strict=True)
        return np.stack([number_of[codes] for number_of, codes in pairs], axis=1)

    @property
    def allowed(self) -> int:
        """The number of records that may be suppressed."""
        return share_of_records(self.settings.suppress, self.combinations.records)

    def search(
        self, policy: Policy, *, suppress: int | None = None, loss: str | None = None
    ) -> Search:
        """Prepare the search for a recoding that meets a policy.

        `suppress` and `loss` replace those of the settings.
        """
        weights = self.settings.weights or {}
        k, secrets = self._rules(policy)
        return Search(
            columns=self.columns,
            codes=self.codes,
            counts=self.combinations.classes.counts,
            secrets=secrets,
            k=k,
            suppress=self.allowed if suppress is None else suppress,
            loss=loss or self.settings.loss,
            secret=self.settings.secret or next(iter(self.roles.sensitive), None),
            weights=[float(weights.get(c, 1.0)) for c in self.roles.quasi],
            uncompiled=self.settings.uncompiled,
        )

    def _rules(self, policy: Policy) -> tuple[int, list[SecretCells]]:
        """The least size of a class, and the secrets with the rules for each class."""
        k = size_rule({**policy.everywhere, **policy.reidentification})
        return k, [self._secret_cells(s, policy) for s in self.roles.sensitive]

    def _secret_cells(self, secret: str, policy: Policy) -> SecretCells:
        """The cells of a secret, with the rules that follow from the policy."""
        cube = self.combinations.secrets[secret]
        cells = (cube.owner, cube.codes[-1], cube.counts)
        return secret_cells(secret, cube.values[-1], cells, policy, self.measuring)

    # -- the assessment of a recoding ----------------------------------------------------------

    def verdicts(
        self,
        recoding: FullDomainRecoding,
        policy: Policy,
        *,
        possible: bool = False,
        kept: bool = False,
    ) -> tuple[Verdict, ...]:
        """Judge the release by counts; `assess` gives the same verdicts on its file.

        With `possible`, the verdicts also name limits that no release can meet. With `kept`,
        suppressed records stay in the release.
        """
        gone = self.gone(recoding)
        return self.judge(recoding.levels, gone, policy, possible=possible, kept=kept)[0]

    def judge(
        self,
        levels: Sequence[int],
        gone: Bools,
        policy: Policy,
        *,
        possible: bool = False,
        kept: bool = False,
    ) -> tuple[tuple[Verdict, ...], int]:
        """Judge the table with its columns on `levels`; return verdicts and unique records.

        The combinations that are `gone` are suppressed; if all are gone, there are no verdicts.
        Suppressed records that are `kept` in the release are judged as a class of their own, too.
        """
        if gone.all():
            return (), 0
        ids = {measure for _, measure, _ in policy.every_limit()} | {UNIQUE}
        if any("order" in BY_ID[m].needs for m in policy.everywhere):
            ids.add(ANY_OF_A_SECRET)
        measures = self._measures(levels, gone, ids)
        inference = {s: measures.inference(s) for s in self.roles.sensitive}
        numbers = self._reidentification(measures, levels, gone)
        if self.alike is not None:
            merged = self.alike._measures(levels, gone, ids)
            inference = {s: with_merged(own, merged.inference(s)) for s, own in inference.items()}
            merged_numbers = self.alike._reidentification(merged, levels, gone)
            numbers = with_merged(numbers, merged_numbers)
        unique = int(numbers[UNIQUE].details["records"])
        best = measures.best_numbers(ids) if possible else None
        verdicts = judge(policy, numbers, inference, best)[0]
        if kept and gone.any():
            of_suppressed = self._measure_suppressed(measures, gone, ids, numbers)
            if self.alike is not None:
                also = self.alike._measure_suppressed(merged, gone, ids, merged_numbers)
                of_suppressed = suppressed_with_merged(of_suppressed, also)
            verdicts += judge_suppressed(policy, *of_suppressed)
        return tuple(verdicts), unique

    @cached_property
    def _own_quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers without the kept columns, which are searched with them."""
        return tuple(name for name in self.roles.quasi if name not in self.roles.kept)

    def _reidentification(
        self, measures: TableMeasures, levels: Sequence[int], gone: Bools
    ) -> dict[str, Value]:
        """The numbers of re-identification, with those of the classes that kept columns refine."""
        numbers = measures.reidentification()
        if self._own_quasi == self.roles.quasi:
            return numbers
        ids = [m for m in numbers if m in BY_ID]
        wide = self._measures(levels, gone, ids, kept=True)
        return with_kept(numbers, wide.reidentification())

    def _measures(
        self,
        levels: Sequence[int],
        gone: Bools,
        ids: Collection[str],
        *,
        kept: bool = False,
    ) -> TableMeasures:
        """Prepare the measures of the table with its columns on `levels`, without those `gone`.

        The quasi-identifiers make the classes; with `kept`, the kept columns refine them.
        """
        suppressed = int(self.combinations.classes.counts[gone].sum())
        codes = dict(zip(self.roles.quasi, self._label_codes(levels), strict=True))
        roles = self.roles if kept else replace(self.roles, quasi=self._own_quasi)
        questions = self._ask_release(codes, gone, roles.quasi)
        questions.records = self.combinations.records - suppressed
        if suppressed:
            questions.suppression = Suppression(mark=ROOT, records=suppressed)
        return TableMeasures(
            questions=questions, roles=roles, settings=self.measuring, ids=ids, clock=no_progress
        )

    def certain_people(
        self, recoding: FullDomainRecoding, secrets: Collection[str]
    ) -> dict[str, tuple[int, int]]:
        """Count the people in classes with one value of a secret, and all people, for each secret.

        If values differ only in their spelling, the worse of both readings is given.
        """
        gone = self.gone(recoding)
        if not secrets or gone.all():
            return {}
        certain = self._measures(recoding.levels, gone, ()).certain_people(secrets)
        if self.alike is None:
            return certain
        merged = self.alike._measures(recoding.levels, gone, ()).certain_people(secrets)
        return more_certain(certain, merged)

    def gone(self, recoding: FullDomainRecoding) -> Bools:
        """Tell which combinations are suppressed by a rule, or have the root in every column.

        Kept columns are searched as quasi-identifiers, but a record with `*` in all others counts
        as suppressed, because every reader of the release takes it for a suppressed record.
        """
        gone = recoding.suppresses(self.codes)
        own = [at for at, name in enumerate(self.roles.quasi) if name not in self.roles.kept]
        texts = {at: self.columns[at].labels[recoding.levels[at]] for at in own}
        if all(ROOT in labels for labels in texts.values()):
            codes = recoding.labels(self.codes)
            on_root = [np.array([t == ROOT for t in texts[at]])[codes[:, at]] for at in own]
            gone |= np.all(on_root, axis=0)
        return gone

    def count_suppressed(self, recoding: FullDomainRecoding) -> int:
        """Count the records of a release that are suppressed, or have the root in every column."""
        return int(self.combinations.classes.counts[self.gone(recoding)].sum())

    def suppressed_keys(self, recoding: FullDomainRecoding) -> Ints:
        """The keys of the suppressed classes of a release."""
        gone = self.gone(recoding)
        classes = np.unique(recoding.class_numbers(self.codes[gone]))
        keys: Ints = recoding.class_keys[classes].astype(np.int64)
        return keys

    def _ask_release(
        self, codes: Mapping[str, Ints], gone: Bools, quasi: Sequence[str]
    ) -> Questions:
        """Ask about the release: labels instead of values, without suppressed records.

        The columns `quasi` make the classes.
        """
        classes = self._only(recode(self.combinations.classes, codes, gone), quasi)
        secrets = {}
        for secret, cube in self.combinations.secrets.items():
            secrets[secret] = self._only(recode(cube, codes, gone[cube.owner]), quasi)
        return recoded_rows(self.questions, classes, secrets)

    def _only(self, cube: Cube, quasi: Sequence[str]) -> Cube:
        """Add up the cells for the columns `quasi` and the columns after all quasi-identifiers."""
        if len(quasi) == len(self.roles.quasi):
            return cube
        return cube.roll_up((*quasi, *cube.columns[len(self.roles.quasi) :]))

    def _measure_suppressed(
        self,
        measures: TableMeasures,
        gone: Bools,
        ids: Collection[str],
        numbers: Mapping[str, Value],
    ) -> OfSuppressed:
        """Measure the combinations that are `gone` as a class of their own.

        `measures` are the measures of the other records, and `numbers` their results.
        """
        measures.questions.suppressed = self._suppressed_cells(gone)
        return measures.of_suppressed(ids, numbers)

    def _suppressed_cells(self, gone: Bools) -> SuppressedCells:
        """The suppressed records, as a class of their own beside all records."""
        classes = self.combinations.classes
        secrets = self.combinations.secrets
        return SuppressedCells(
            CellsBeside.split(classes, gone),
            {s: CellsBeside.split(cube, gone[cube.owner]) for s, cube in secrets.items()},
        )

    def meets(self, recoding: FullDomainRecoding, policy: Policy) -> bool:
        """Tell whether the release meets every limit.

        Suppressed records are judged if they have to stay in the release, and not if they can be
        left out of it.
        """
        gone = self.gone(recoding)
        if self.combinations.classes.counts[gone].sum() > self.allowed:
            return False
        if self.beside is not None and self.joint_k(recoding) < self.beside.k:
            return False
        kept = self.settings.suppressed_rows == KEEP
        verdicts, _ = self.judge(recoding.levels, gone, policy, kept=kept)
        return bool(verdicts) and all(v.met is True for v in verdicts)

    def best(
        self, search: Search, policy: Policy, seconds: float | None = None, cells: float = math.inf
    ) -> FullDomainRecoding | None:
        """Search the recoding with the least loss that meets a policy."""
        return search.run(partial(self.meets, policy=policy), seconds, cells, self._hints(policy))

    def _hints(self, policy: Policy) -> Hints:
        """Tests that decide on many recodings at once."""
        cells = sum(MEASURED * (FIXED + len(cube.counts)) for cube in self.combinations.cubes)
        marked = [ROOT in t and len(t) > 1 for c in self.columns for t in c.labels]
        if any(marked):  # a class may have the mark of suppression in every column
            return Hints(cells=cells)
        nobody = np.zeros(len(self.codes), dtype=bool)

        def possible(levels: Sequence[int]) -> bool:
            """Tell whether no limit is breached that finer columns breach, too."""
            verdicts, _ = self.judge(levels, nobody, policy)
            return not any(
                Law.COARSENING in BY_ID[v.measure].laws and not bounds_harmless_side(v)
                for v in verdicts
                if v.met is False and None in (v.min, v.max)
            )

        return Hints(self._sizes_fit(policy), possible, cells)

    def _sizes_fit(self, policy: Policy) -> Callable[[Ints], bool] | None:
        """Make a test of the limits that depend on nothing but the sizes of classes."""
        chosen = [m for m in MEASURES if "record" in m.kinds and not m.needs]
        limits = {
            "everywhere": {
                m.id: policy.everywhere[m.id] for m in chosen if m.id in policy.everywhere
            },
            "reidentification": {
                m.id: policy.reidentification[m.id]
                for m in chosen
                if m.id in policy.reidentification
            },
        }
        chosen = [m for m in chosen if any(m.id in own for own in limits.values())]
        if not chosen:
            return None
        alone = policy.model_copy(update={**limits, "inference": {}})
        measures = TableMeasures(
            questions=self.questions,
            roles=self.roles,
            settings=self.measuring,
            ids=[],
            clock=no_progress,
        )

        def fit(sizes: Ints) -> bool:
            if not len(sizes):
                return False
            counts = RecordCounts(records=int(sizes.sum()), sizes=histogram(sizes))
            verdicts, _ = judge(alone, measures.of_classes(counts, chosen), {})
            return all(v.met is True for v in verdicts)

        return fit

    def joint_k(self, recoding: FullDomainRecoding) -> int:
        """The smallest number of people with the same classes in this and all earlier releases."""
        assert self.beside is not None
        return self.beside.join(recoding, self.codes).smallest

    def label_map(self, place: int, level: int, low: int) -> ColumnMap:
        """Map every value of a column to its label on a level.

        The number of the label is shifted to the left by `low` bits.
        """
        if self.floor is not None:
            return self.floor.label_map(place, self.floor.levels[place] + level, low)
        classes = self.combinations.classes
        column = self.columns[place]
        present = np.flatnonzero(classes.totals(place))
        own = column.tables[level][self.numbers[place][present]].tolist()
        return ColumnMap(
            [classes.values[place][code] for code in present],
            [column.labels[level][label] for label in own],
            [label << low for label in own],
        )

    def _label_codes(self, levels: Sequence[int]) -> list[Ints]:
        """The number of the label of every code, for each column; equal labels have one number."""
        chosen = zip(self.columns, self.numbers, levels, strict=True)
        return [column.tables[level][number_of] for column, number_of, level in chosen]


def without_limit(policy: Policy, table: str, measure: str) -> Policy:
    """Remove the limit on `measure` from one table of the policy, such as `limits.inference.dx`."""
    part, _, secret = (table.partition(".")[2] or "everywhere").partition(".")
    limits = getattr(policy, part)
    own = limits[secret] if part == "inference" else limits
    kept = {m: limit for m, limit in own.items() if m != measure}
    if part == "inference":
        kept = {**limits, secret: kept}
    return policy.model_copy(update={part: kept})


def share_of_records(share: float, records: int) -> int:
    """The number of records that a share allows, read as it is written: 0.07 of 100 are 7."""
    return math.floor(Fraction(repr(float(share))) * records)


def share_to_suppress(policy: Policy, records: int) -> float:
    """The share of records that may be suppressed, from [protect] or from the limit on them."""
    if policy.protect.suppress is not None:
        return policy.protect.suppress
    limits = [v.max for _, m, v in policy.every_limit() if m == "suppressed_records"]
    most = [math.floor(number) for number in limits if number is not None]
    if not most or not records:
        return SUPPRESS
    number = max(0, min(*most, records - 1))
    share = number / records
    return share if share_of_records(share, records) == number else math.nextafter(share, 1)


def limit_share_suppressed(
    policy: Policy, share: float, records: int, notes: list[Remark]
) -> Policy:
    """Limit suppressed records to the share that may be suppressed, unless the policy does."""
    most = share_of_records(share, records)
    limited = limit_suppressed(policy, most) if most else policy
    if limited is not policy:
        what = f"suppressed_records = {{ max = {most} }}"
        notes.append(Remark("suppression_unlimited", most=figure(most), what=what))
    return limited


def limits_suppressed(policy: Policy) -> bool:
    """Tell whether a policy limits suppressed records."""
    return any(measure == "suppressed_records" for _, measure, _ in policy.every_limit())


def limit_suppressed(policy: Policy, most: int) -> Policy:
    """Add a limit on suppressed records, unless the policy has one.

    A policy without any limit stays as it is, because nothing meets it.
    """
    if limits_suppressed(policy) or not any(policy.every_limit()):
        return policy
    limit = MeasureLimit(min=None, max=float(most))
    return policy.model_copy(
        update={"reidentification": {**policy.reidentification, "suppressed_records": limit}}
    )


def assign_hierarchies(
    value_counts: Callable[[int], Mapping[str, int]],
    roles: Roles,
    given: Mapping[str, Any],
    notes: list[Remark],
    *,
    proposed: bool = True,
) -> tuple[dict[str, Hierarchy | None], dict[str, str]]:
    """Choose the hierarchy of every quasi-identifier; return the hierarchies and their sources.

    A hierarchy that is not `given` is `proposed`. `value_counts` takes the place of a
    quasi-identifier, and returns the number of records with each of its values.
    """
    for secret in roles.sensitive:
        require(
            not is_made_from_data(given.get(secret)) and not callable(given.get(secret)),
            f"the hierarchy of the secret {secret!r} is made from its values",
            hint="a fixed one: sievert hierarchies DATA --fix",
        )
    trees: dict[str, Hierarchy | None] = {}
    sources = {}
    for at, name in enumerate(roles.quasi):
        counts = {text: n for text, n in value_counts(at).items() if n}
        if name in given:
            trees[name] = to_hierarchy(given[name], counts, name)
            own = given[name].fixed if isinstance(given[name], Hierarchy) else given[name]
            sources[name] = own if isinstance(own, str) else GIVEN
        elif not proposed:
            continue
        else:
            proposal = propose(counts, name)
            trees[name] = proposal.hierarchy
            sources[name] = proposal.text
            if proposal.by_name:
                how = f"--hierarchy {name}=interval:5,10"
                notes.append(Remark("by_name", column=repr(name), what=proposal.text, name=how))
        tree = trees[name]
        if tree is not None:
            trees[name] = tree.with_root()
    without_given = [repr(name) for name in roles.quasi if name not in given]
    if proposed and without_given:
        notes.append(Remark("proposal", name=", ".join(without_given)))
    return trees, sources
