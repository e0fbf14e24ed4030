"""Attacks with a second table: the original (white box, linkage) or a register (grey box)."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from sievert.arrays import Ints
from sievert.attacks.attack import Attack, value
from sievert.attacks.identity import grey_box, white_box
from sievert.attacks.register_matching import Matching
from sievert.commands.attack.attacked_release import AttackedRelease, AttackRun
from sievert.counts import microdata
from sievert.counts.cube import Cube
from sievert.counts.questions import Questions
from sievert.errors import InputError, InvariantError, require
from sievert.formatting import percent, plural
from sievert.formatting.remarks import Remark
from sievert.hierarchies import NUMBER, Hierarchy, is_made_from_data, to_hierarchy
from sievert.losses.loss import PairedColumn
from sievert.pairing import record_pairs
from sievert.pairing.agreement import changed_records
from sievert.pairing.evidence import PAIRING_FILE, Pairing
from sievert.pairing.pairing_file import OriginalFile, RowPairing, find_pairing
from sievert.request.requested import check_known, treat_missing
from sievert.request.table_description import describe_table

# The other tables, as a remark calls them.
ORIGINAL = Remark("the_original_table")
REGISTER = Remark("the_register")


def _shared_columns(
    run: AttackRun, release: AttackedRelease, questions: Questions, what: Remark, name: str
) -> list[str]:
    """List the quasi-identifiers that another table has as well; a remark counts the others."""
    shared = [q for q in release.roles.quasi if q in questions.columns]
    require(
        shared,
        f"{name}: the {what} has none of the quasi-identifiers",
        hint="the same names of columns in both tables",
    )
    questions.check_usable(shared)
    absent = len(release.roles.quasi) - len(shared)
    if absent:
        lacking = plural(absent, "quasi-identifier")
        run.notes.append(Remark("lacks_quasi", what=what, number=lacking))
    return shared


# -- the original -------------------------------------------------------------------------------


def attack_with_original(
    run: AttackRun, release: AttackedRelease, data: Any
) -> tuple[dict[str, Attack], AttackedRelease, Pairing | None]:
    """Find what released values tell of the original ones, and tell the reasoner whom it attacks.

    Return the attacks, the release, which has the keys of the original from then on, and how both
    were paired.
    """
    key = run.settings.key
    people = release.people
    reasoner = run.reasoner
    with run.read(data, **run.other_source) as (table, questions):
        shared = _shared_columns(run, release, questions, ORIGINAL, table.name)
        run.clock("comparing with the original", questions)
        if reasoner is not None:
            secrets = release.hidden or tuple(reasoner.cells)
            if secrets:
                reasoner.original(questions, shared, secrets, table.name)
        if people is None:  # groups are in an order of their own
            return {}, release, None
        file = OriginalFile(data, table)
        beside = RowPairing()
        if not release.keyed:
            beside = find_pairing(release.file, run.settings.temp)
            if run.settings.paired:
                beside = beside.forget_rows(str(release.description["name"]))
            beside = beside.fits(file, people.records, questions.records)
        rows = beside.rows
        original = _original_people(
            run, release, people, questions, shared, table.name, paired=rows is not None
        )
        description = describe_table(table, questions)
        own, others = _places(run, release, people, original, rows)
        if release.keyed and not run.as_spelt:
            run.notes.extend(record_pairs.respelt_pairs(people, original))
        columns = _pair_columns(run, people.select_cells(own), original.select_cells(others))
        if rows is not None:
            proven = beside.is_proven(file)
            pairing = record_pairs.check_pairing_file(table.name, columns, proven=proven)
        else:
            pairing = record_pairs.check_pairing(
                table.name,
                columns,
                lambda: record_pairs.pair_further(
                    release.further, questions, table.name, released=True
                ),
                keyed=release.keyed,
                stated=run.settings.paired,
                unused=beside.unused,
            )
        run.notes.extend(pairing.notes())
    if reasoner is not None:
        reasoner.changed = _changed_share([c for c in columns if c.name in shared])
    places = release.places_of_known()
    released = people.select_cells(places)
    if release.keyed:
        mine, theirs = _places(run, release, released, original)
    else:
        mine = np.arange(len(places))
        theirs = places if rows is None else rows[places]
    attacks = {
        "white_box": replace(
            white_box(
                microdata.pair_columns(released, mine, original, theirs, shared),
                shared,
                show=run.settings.show_values,
            ),
            details={
                "original": description,
                "columns_compared": list(shared),
                "paired": len(mine),
                "released_only": released.records - len(mine),
            },
        ),
        "linkage": _linkage(run, released, original, mine, theirs, shared),
    }
    if not release.keyed and key is not None:
        mine_too = original if rows is None else original.select_cells(rows)
        release = replace(release, people=_with_keys(people, mine_too, key), keyed=True)
    return attacks, release, pairing


def _places(
    run: AttackRun,
    release: AttackedRelease,
    people: Cube,
    original: Cube,
    rows: Ints | None = None,
) -> tuple[Ints, Ints]:
    """Find the places of the people of both tables, in the release and in the original.

    `rows` of the original are those of a pairing file.
    """
    if not release.keyed:
        own = np.arange(len(people.counts))
        return own, own if rows is None else rows
    mine, theirs = microdata.match_keys(people, original, as_spelt=run.as_spelt)
    require(len(mine), "no record of the release has a key of the other table", error=InputError)
    return mine, theirs


def _pair_columns(run: AttackRun, people: Cube, original: Cube) -> list[PairedColumn]:
    """Pair the columns of both tables, record by record."""
    key = run.settings.key
    trees = dict[str, Hierarchy]()
    columns = [c for c in people.columns if c in original.columns and c != key]
    for column in columns:
        texts = original.value_counts(original.columns.index(column))
        with suppress(InputError):  # of values that have no place nothing is known
            tree = to_hierarchy(run.hierarchies.get(column), texts)
            if tree:
                trees[column] = tree
    return record_pairs.pair_in_order(original, people, columns, trees)


def _changed_share(columns: Sequence[PairedColumn]) -> float:
    """Return the share of records with a value that is neither the original's nor above it."""
    changed = np.logical_or.reduce([changed_records(c) for c in columns])
    return float(np.mean(changed)) if np.size(changed) else 0.0


def _original_people(
    run: AttackRun,
    release: AttackedRelease,
    people: Cube,
    questions: Questions,
    shared: Sequence[str],
    name: str,
    *,
    paired: bool,
) -> Cube:
    """Read the original record by record: by the key of the release, else in its order.

    It may have other records than the release if a pairing file has `paired` both.
    """
    key = run.settings.key
    if release.keyed:
        check_known("--key: column of the original", str(key), questions.columns)
        return microdata.by_key(questions, shared, str(key), name)
    require(
        paired or questions.records == people.records,
        f"{name} has {questions.records:,} records and the release "
        f"{people.records:,}: their order does not tell who is who",
        hint=f"the {PAIRING_FILE}, or --key COLUMN",
    )
    if key is not None:
        check_known("--key: column", key, questions.columns)
    secrets = [s for s in release.roles.sensitive if s in questions.columns and s not in shared]
    questions.check_usable(secrets)
    wanted = [*shared, *(s for s in secrets if s != key), *([] if key is None else [key])]
    return microdata.in_order(questions, wanted, name)


def _with_keys(people: Cube, original: Cube, key: str) -> Cube:
    """Give the records of a release without a key the keys of the original, record by record."""
    keys = original.codes[-1]
    require(
        np.bincount(keys[keys > 0]).max(initial=0) <= 1,
        f"the key {key!r} of the original is not unique",
        hint="a column with one value a person",
        error=InputError,
    )
    return Cube(
        columns=(*people.columns, key),
        codes=(*people.codes, keys),
        counts=people.counts,
        values=(*people.values, original.values[-1]),
    ).select_cells(np.flatnonzero(keys > 0))


def _linkage(
    run: AttackRun, people: Cube, original: Cube, mine: Ints, theirs: Ints, columns: Sequence[str]
) -> Attack:
    """Link every released record to its nearest original, by all columns at once."""
    from sievert.commands.attack.linkage import link

    released, originals = zip(*(_same_scale(people, original, c) for c in columns), strict=True)
    origin = np.full(len(people.counts), -1, dtype=np.int64)
    origin[mine] = theirs
    linkage = link(released, originals, origin, threads=run.settings.threads)
    low, high = linkage.interval
    reading = (
        f"{percent(linkage.correct_linkage)} of the released records are nearest to their own "
        f"original (interval at {percent(linkage.level)}: {percent(low)} to {percent(high)}); by "
        f"chance it would be {percent(linkage.baseline)}."
    )
    if low <= linkage.baseline:
        reading += " That is not shown to be better than chance."
    return Attack(
        numbers={
            n: value(n, getattr(linkage, n))
            for n in ("correct_linkage", "spruill_confidentiality", "baseline")
        },
        reading=reading,
        details={"linkage": linkage.to_dict()},
    )


def _same_scale(first: Cube, second: Cube, column: str) -> list[Any]:
    """Read a column of both tables as numbers if all its values are, otherwise as common codes."""
    tables = [
        (c.values[at], c.codes[at]) for c in (first, second) for at in [c.columns.index(column)]
    ]
    present = {texts[c] for texts, codes in tables for c in np.unique(codes).tolist()}
    ordered_texts = sorted(v for v in present if v is not None)
    numeric = all(NUMBER.fullmatch(v) for v in ordered_texts)
    number: dict[str | None, float] = (
        {None: np.nan} | {v: float(v) for v in ordered_texts}
        if numeric
        else {None: 0} | {v: i for i, v in enumerate(ordered_texts, 1)}
    )
    kind = np.float64 if numeric else np.int64
    return [np.array([number.get(v, 0) for v in texts], kind)[codes] for texts, codes in tables]


# -- a register ---------------------------------------------------------------------------------


def attack_with_register(run: AttackRun, release: AttackedRelease, data: Any) -> Attack:
    """Find the candidates of each row of a register in the release (grey box)."""
    key = run.settings.key
    truth = None
    with run.read(data, **run.other_source) as (table, questions):
        shared = _shared_columns(run, release, questions, REGISTER, table.name)
        dropped = treat_missing(run.settings.missing, questions, shared)
        if dropped:
            run.notes.append(Remark("register_dropped", rows=plural(dropped, "row")))
        run.clock("looking for candidates", questions)
        register = questions.cube(shared)
        if release.people is not None and release.keyed and key in questions.columns:
            questions.engine.check_usable(str(key))
            rows = microdata.by_key(questions, shared, str(key), table.name)
            truth = _true_pairs(run, rows, release.people, register, shared)
        elif key is not None:
            run.notes.append(Remark("register_no_key"))
        description = describe_table(table, questions)
    # Suppressed records are candidates too; what the others tell is told beside it.
    classes = (release.everybody or release.classes).roll_up(shared)
    matchings = [_matching(run, c, register, classes) for c in shared]
    attack = grey_box(classes, register, matchings, truth=truth, show=run.settings.show_values)
    if attack.numbers["candidates"].value is None:
        run.notes.append(Remark("register_no_match"))
    return replace(attack, details={"register": description, "columns_shared": list(shared)})


def _true_pairs(
    run: AttackRun, rows: Cube, people: Cube, register: Cube, shared: Sequence[str]
) -> Cube:
    """Pair people who are in both tables: the values of the register, then the released ones."""
    theirs, mine = microdata.match_keys(rows, people, as_spelt=run.as_spelt)
    pairs = microdata.pair_columns(rows, theirs, people, mine, shared)
    require(
        pairs.values[: len(shared)] == register.values,
        "two counts of the register have different values",
        error=InvariantError,
    )
    return pairs


def _matching(run: AttackRun, column: str, register: Cube, release: Cube) -> Matching:
    """Find which released values of a column fit which values of the register."""
    place = register.columns.index(column)
    given = run.hierarchies.get(column)
    require(
        not is_made_from_data(given),
        f"the hierarchy of {column!r} is made from the data, and the register has others",
        hint="the fixed one: that of the manifest, or of sievert hierarchies ORIGINAL --fix",
    )
    matching = Matching.from_texts(
        register.values[place],
        release.values[release.columns.index(column)],
        to_hierarchy(given, register.value_counts(place)),
        run.settings.missing == "wildcard",
    )
    for number, key, whose in (
        (matching.strange, "register_fit_none", "released"),
        (matching.placeless, "register_no_place", "register's"),
    ):
        if number:
            values = plural(number, "value")
            run.notes.append(Remark(key, values=values, whose=whose, column=repr(column)))
    return matching
