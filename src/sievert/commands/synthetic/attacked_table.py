"""One synthetic table: it is put into one set of codes with the others, attacked and judged."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from sievert.arrays import Floats, Ints
from sievert.commands.synthetic.attacks.attacks import SyntheticAttacks, attack_synthetic
from sievert.commands.synthetic.attacks.control import (
    differing_columns,
    favours_strangers,
    repeats_people,
    shares_people,
)
from sievert.commands.synthetic.attacks.evidence import SyntheticAttack
from sievert.commands.synthetic.attacks.tables import ColumnCodes, SyntheticTables, join_tables
from sievert.commands.synthetic.attacks.task import AttackTask
from sievert.commands.synthetic.loss_models import model_loss
from sievert.commands.synthetic.losses import UnpairedLoss, group_numbers, unpaired_loss
from sievert.commands.synthetic.result import AttackedTable, alarms_of
from sievert.counts.questions import Questions
from sievert.counts.suppression import Suppression
from sievert.errors import InputError, UsageError, require
from sievert.formatting import list_names, plural
from sievert.formatting.canonical import canonical_text, group_spellings
from sievert.formatting.remarks import Caution, Remark, figure
from sievert.losses.loss import combination_codes
from sievert.policy import Judgement, MeasureLimit, Policy, Verdict
from sievert.policy.judgement import is_toothless_attack
from sievert.request.requested import RequestedRoles, check_known
from sievert.roles import Roles

SETS_LEFT_OUT = Remark("sets_left_out")
TOO_FEW = Remark("few_strangers")
SEEN = Remark("strangers_seen")
LARGE_EXCESS = 0.25  # the least that is seen, from which on a control is too small
MOST_STRANGERS = 0.5  # that are in the table, from which on the generator may have seen them
CONTROL_HINT = "--control FILE: people drawn with the original that the generator never saw"
LARGEST = 10**300
ATTACKED = Suppression(kept=True)  # a row of * alone is attacked as any other
NO_ORDER_OF_ROWS = Remark("order_of_synthetic")


@dataclass(frozen=True, eq=False, kw_only=True)
class TableCodes:
    """The columns of one table as codes, and the people who came together."""

    name: str
    columns: Mapping[str, ColumnCodes]
    records: int
    clusters: ColumnCodes | None = None
    unused: tuple[str, ...] = ()  # columns that are not compared


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """What a verdict on the file of a synthetic table looks at besides the attacks."""

    requested: RequestedRoles
    roles: Roles
    released: Sequence[str]  # its columns; those are attacked that all tables share
    spelt: Mapping[str, int]  # by column, the values that coincide if they are spelt alike
    # About the file and columns that are not attacked: their names, by the reason of a gate.
    doubts: Mapping[str, Sequence[str]]


def read_codes(
    questions: Questions, name: str, without: Sequence[str], together: str | None
) -> TableCodes:
    """Read the columns that are compared, as codes."""
    names = [c for c in questions.columns if c not in without]
    require(names, f"{name}: no column is left to compare", error=InputError)
    questions.check_usable(names)
    own = [*names, *([together] if together in questions.columns and together else [])]
    cube = questions.records_in_order(own)
    return TableCodes(
        name=name,
        columns={c: (cube.values[at], cube.codes[at]) for at, c in enumerate(names)},
        records=questions.records,
        clusters=(cube.values[-1], cube.codes[-1]) if len(own) > len(names) else None,
        unused=tuple(c for c in questions.columns if c in without),
    )


def join(
    original: TableCodes,
    synthetic: TableCodes,
    control: TableCodes | None,
    categories: Sequence[str],
) -> SyntheticTables:
    """Put the tables into one set of codes, with the columns whose values they have in common."""
    shared = [c for c in original.columns if c in synthetic.columns]
    lacking = [] if control is None else [c for c in shared if c not in control.columns]
    if control is not None and lacking:
        raise InputError(
            f"{control.name} lacks {list_names(lacking)}, which the original and the synthetic "
            "table have",
            hint="a control with the columns of the original, or -i for those not to be compared",
        )
    clusters = _clusters(original, control)

    def join_columns(names: Sequence[str]) -> SyntheticTables:
        own, fake, *others = (
            {c: t.columns[c] for c in names}
            for t in (original, synthetic, control)
            if t is not None
        )
        return join_tables(own, fake, others[0] if others else None, categories, clusters)

    tables = join_columns(shared)
    apart = tables.incomparable
    if not apart:
        return tables
    require(
        len(apart) < len(shared),
        f"{synthetic.name}: no column has a value that the original has",
        hint="values written as in the original",
        error=InputError,
    )
    return join_columns([c for c in shared if c not in apart])


def check_control(tables: SyntheticTables, original: TableCodes, control: TableCodes) -> None:
    """Raise an error for a control group that says nothing about strangers."""
    own = original.clusters
    other = control.clusters
    require(
        not shares_people(tables) and not (own and other and repeats_people(tables, own, other)),
        f"{control.name}: the control has people of the original: they are no strangers",
        hint=CONTROL_HINT,
    )
    differing = differing_columns(tables)
    if differing:
        raise UsageError(
            f"{control.name}: the control is not of the same people as the original: they differ, "
            f"by more than chance, in {list_names(differing)}",
            hint=f"{CONTROL_HINT}; without it, rates are shown and no risk",
        )


def check_strangers(tables: SyntheticTables, attacked: AttackedTable, control: str) -> None:
    """Raise an error where strangers are hit more than originals, which no stranger would be."""
    require(
        not favours_strangers(tables, attacked.results.scores),
        f"{attacked.name}: people of {control} are in it more than those of the original: the "
        "generator has seen them, or rows of originals were removed",
        hint=CONTROL_HINT,
    )


def _clusters(original: TableCodes, control: TableCodes | None) -> Ints | None:
    """Number who came together: the people of the original, then those of the control."""
    tables = [original] if control is None else [original, control]
    parts = [table.clusters for table in tables if table.clusters is not None]
    if len(parts) < len(tables):
        return None
    codes = []
    start = 0
    for texts, own in parts:
        alone = np.array([text is None for text in texts], dtype=bool)[own]
        numbers = np.where(alone, len(texts) + np.arange(len(own)), own)
        codes.append(np.unique(numbers, return_inverse=True)[1] + start)
        start += int(codes[-1].max()) + 1
    return np.concatenate(codes)


def shared_roles(
    roles: Roles, columns: Sequence[str], name: str
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Find what is known (None: all other columns) and what is secret in the columns of a table."""
    known = tuple(c for c in roles.quasi if c in columns)
    secrets = tuple(c for c in roles.sensitive if c in columns)
    require(
        known or not roles.quasi,
        f"{name}: the tables share none of the columns that an attacker knows",
        hint="-q COLUMNS",
    )
    if not roles.sensitive:
        secrets = tuple(c for c in columns if c not in known)
    return known or None, secrets


def split_columns(
    given: tuple[Sequence[str], Sequence[str]] | None,
    original: Sequence[str],
    columns: Sequence[str],
    name: str,
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Check the two halves of linkability; leave out the columns that one table lacks."""
    if given is None:
        return None
    for each in (*given[0], *given[1]):
        check_known("--split: column", each, original)
    first, second = (tuple(c for c in half if c in columns) for half in given)
    require(
        given[0] and given[1] and not {*first} & {*second},
        "--split takes two sets of columns that share none",
        hint="--split age,sex:town,job",
    )
    require(
        first and second,
        f"{name}: the tables share no column of one half of --split",
        hint="--split with columns of every table",
    )
    return first, second


# -- spellings ------------------------------------------------------------------------------------


def spelt_people(
    column: str | None, original: TableCodes, control: TableCodes | None
) -> dict[str, int]:
    """Count the people whose names coincide with others' if they are spelt alike.

    `column` tells which rows are of one person. Its rows count as rows of others otherwise, and a
    control with people of the original would not be found.
    """
    parts = [table.clusters for table in (original, control) if table is not None]
    names = {text for part in parts if part is not None for text in part[0] if text is not None}
    number = sum(map(len, group_spellings(names)))
    return {column: number} if column is not None and number else {}


def spelt_values(
    tables: SyntheticTables, original: TableCodes, synthetic: TableCodes
) -> dict[str, int]:
    """Count the values of a synthetic table that the original only spells otherwise, by column.

    No attack takes them for copies. Numbers are compared by their value.
    """
    found: dict[str, int] = {}
    for column in tables.columns:
        own, fake = (
            {text for text in table.columns[column.name][0] if text is not None}
            for table in (original, synthetic)
        )
        if column.is_number or own >= fake:
            continue
        known = {canonical_text(text) for text in own}
        number = sum(canonical_text(text) in known for text in fake - own)
        if number:
            found[column.name] = number
    return found


# -- the policy -----------------------------------------------------------------------------------


def judge(tables: SyntheticTables, results: SyntheticAttacks, facts: FileFacts) -> Judgement | None:
    """Judge the limits on attacks on a synthetic table, by the columns that all tables share."""
    requested = facts.requested
    roles = facts.roles
    policy = requested.policy
    if policy is None:
        return None
    columns = [column.name for column in tables.columns]
    gate = requested.gate(facts.released, roles, suppression=ATTACKED)
    assert gate is not None
    gate.clauses.append(NO_ORDER_OF_ROWS)
    not_shared = {*facts.released} - {*columns}
    apart = [c for c in (*roles.quasi, *roles.sensitive) if c in not_shared]
    if apart:
        gate.undecided("columns_not_compared", apart)
    doubtful = {c: n for c, n in facts.spelt.items() if not requested.calls_distinct(c)}
    if doubtful:
        gate.undecided("spelt_differently", doubtful)
        gate.spellings |= doubtful
    for what, names in facts.doubts.items():
        gate.undecided(what, names)
    verdicts = list(_verdicts(policy, results))
    limited = {*policy.synthetic}
    unlimited = [a for a in alarms_of(results) if a.partition(".")[0] not in limited]
    if unlimited:
        gate.undecided("traces_not_limited", unlimited)
    judging = {v.measure.partition(".")[0] for v in verdicts if not is_toothless_attack(v)}
    guessed = {s for attack, each in results.on_secrets.items() if attack in judging for s in each}
    gate.secrets = tuple(secret for secret in gate.secrets if secret not in guessed)
    known = [c for c in roles.quasi if c in columns]
    gate.certain = {s: certain_rows(tables, known, s) for s in gate.secrets if s in columns}
    return gate.judge(verdicts)


def certain_rows(tables: SyntheticTables, known: Sequence[str], secret: str) -> tuple[int, int]:
    """Count the rows of the synthetic table in groups with one value of a secret, and all rows.

    A group has the same values of the `known` columns.
    """
    places = {column.name: at for at, column in enumerate(tables.columns)}
    rows = len(tables.synthetic)
    groups = np.zeros(rows, dtype=np.int64)
    if known:
        groups = combination_codes([tables.synthetic[:, places[c]] for c in known])
    cells = combination_codes([groups, tables.synthetic[:, places[secret]]])
    alone = np.bincount(groups)[groups] == np.bincount(cells)[cells]
    return int(np.count_nonzero(alone)), rows


def _verdicts(policy: Policy, results: SyntheticAttacks) -> Iterator[Verdict]:
    for name, limits in policy.synthetic.items():
        several = results.on_secrets.get(name, {})
        attacks = {f"{name}.{secret}": attack for secret, attack in several.items()}
        attacks |= {name: results.attacks[name]} if name in results.attacks else {}
        require(
            attacks,
            f"limits.synthetic.{name}: this attack was not tried",
            hint="--split A,B:C,D" if name == "linkability" else "-q COLUMNS -s SECRETS",
        )
        for place, attack in attacks.items():
            for number, limit in limits.items():
                value = _worst_rate(attack) if number == "rate" else getattr(attack, number)
                if attack.control is None and number != "rate":
                    raise UsageError(Remark("needs_control", measure=number), hint=CONTROL_HINT)
                verdict = _verdict(f"{place}.{number}", value, limit)
                doubt = _doubt(attack, number)
                if verdict.met and doubt is not None:
                    verdict = replace(verdict, met=None, reason=doubt)
                yield verdict


def _doubt(attack: SyntheticAttack, number: str) -> str | None:
    """Say why a number within its limit shows nothing; None if it does."""
    if attack.details.get("every", 1) > 1:
        return SETS_LEFT_OUT
    if number in ("risk", "p") and (attack.least_excess or 0.0) >= LARGE_EXCESS:
        return TOO_FEW
    return SEEN if number != "rate" and _strangers_seen(attack) else None


def _strangers_seen(attack: SyntheticAttack) -> bool:
    """Tell whether the control's unique rows are in the table so often that it shows nothing."""
    other = attack.control
    return attack.name == "unique_copies" and bool(other and (other.rate or 0.0) >= MOST_STRANGERS)


def _worst_rate(attack: SyntheticAttack) -> float | None:
    """Return the rate, or its upper limit if not all people were attacked."""
    own = attack.original
    return own.rate if own.high is None else own.high


def _verdict(measure: str, value: float | None, limit: MeasureLimit) -> Verdict:
    """Compare the value of a measure with its limit; without a value the verdict is open."""
    met = None
    if value is not None:
        above = limit.min is None or value >= limit.min
        below = limit.max is None or value <= limit.max
        met = above and below
    return Verdict(
        measure=measure,
        where="synthetic",
        min=limit.min,
        max=limit.max,
        value=value,
        met=met,
        reason=Remark("no_number_here") if value is None else None,
    )


def attack_table(
    tables: SyntheticTables, task: AttackTask, name: str, facts: FileFacts
) -> AttackedTable:
    """Attack one synthetic table in every way, judge it by the policy, and measure what it lost."""
    results = attack_synthetic(tables, task)
    judgement = judge(tables, results, facts)
    task.workers.count("measuring what was lost", 1)()
    utility, chance = _utility(tables, task.secrets)
    return AttackedTable(
        name=name,
        records=len(tables.synthetic),
        columns=tuple(column.name for column in tables.columns),
        results=results,
        policy=judgement,
        utility=utility,
        chance=chance,
    )


def own_rows(original: TableCodes) -> Iterator[Remark]:
    """Say that people, not only households, have several rows, if they do."""
    if original.clusters is not None and len(np.unique(original.clusters[1])) < original.records:
        yield Caution("own_rows")


def left_out(attacked: Sequence[AttackedTable]) -> Iterator[Remark]:
    """Say which people and sets of columns were not tried, and which attacks show nothing."""
    for table in attacked:
        results = table.results
        if (results.attacks["membership"].least_excess or 0.0) >= LARGE_EXCESS:
            yield Caution("control_too_small", table=table.name)
        if _strangers_seen(results.attacks["unique_copies"]):
            yield Caution("control_seen", table=table.name)
        if results.every > 1:
            yield Remark(
                "too_many_pairs",
                table=table.name,
                number=figure(results.every),
                people=figure(results.attacks["membership"].original.people),
            )
        for attack in (*results.narrower.values(), results.attacks["singling_out"]):
            every = attack.details["every"]
            if every > 1:
                yield Remark(
                    "too_many_sets",
                    table=table.name,
                    columns=plural(attack.details["columns"], "column"),
                    number=figure(every),
                    sets=figure(attack.details["sets"]),
                )


def _nearest(number: Fraction) -> float:
    """Return the nearest number to compute with; NaN if there is none."""
    return float(number) if abs(number) < LARGEST else math.nan


def _utility(
    tables: SyntheticTables, secrets: Sequence[str]
) -> tuple[UnpairedLoss, UnpairedLoss | None]:
    """Measure how far the synthetic table is from the original, and how far strangers are."""
    names = [column.name for column in tables.columns]
    n = tables.originals
    pool = tables.pool.copy()
    fake = tables.synthetic.copy()
    numbers: dict[str, Floats] = {}
    for at, column in enumerate(tables.columns):
        if column.numbers is not None:
            numbers[column.name] = np.array([*map(_nearest, column.numbers), np.nan])
            original = tables.pool[:n, at]
            for rows in (pool, fake):
                rows[:, at] = group_numbers(rows[:, at], original, len(column.numbers))

    def loss(grouped: Ints, rows: Ints) -> UnpairedLoss:
        own = {
            name: (numbers[name][tables.pool[:n, at]], numbers[name][rows[:, at]])
            for at, name in enumerate(names)
            if name in numbers
        }
        models = model_loss(names, pool[:n], grouped, own, secrets)
        return replace(unpaired_loss(names, pool[:n], grouped), models=models)

    chance = loss(pool[n:], tables.pool[n:]) if tables.controls else None
    return loss(fake, tables.synthetic), chance


def beside(
    original: TableCodes,
    synthetic: TableCodes,
    columns: Sequence[str],
    roles: Roles,
    respelt: Mapping[str, int],
) -> Iterator[Remark]:
    """Say which columns are not attacked, because not all tables have them alike.

    `respelt` counts the values of each column that are spelt otherwise than in the original.
    """
    name = synthetic.name
    lacking = [c for c in original.columns if c not in synthetic.columns]
    if lacking:
        yield Remark("table_lacks", table=name, columns=plural(len(lacking), "column"))
    infers_nothing = [c for c in (*roles.quasi, *roles.sensitive) if c in lacking]
    if infers_nothing:
        yield Remark("table_infers_nothing", table=name, columns=list_names(infers_nothing))
    for column, number in respelt.items():
        values = plural(number, "value")
        yield Caution("table_spelt_otherwise", table=name, values=values, column=repr(column))
    more = [c for c in synthetic.columns if c not in original.columns]
    if more:
        yield Caution("table_has_more", table=name, columns=list_names(more))
    apart = [c for c in original.columns if c in synthetic.columns and c not in columns]
    if apart:
        yield Caution("table_written_differently", table=name, columns=list_names(apart))
    own = [c for c in roles.identifier if c in synthetic.unused]
    if own:
        yield Caution("table_has_identifiers", table=name, columns=list_names(own))
