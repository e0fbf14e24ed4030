"""Releases of one original compared: what each discloses, what each has lost, in one unit."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from sievert.commands._common import Clock, Reading, load_policy, requested_roles
from sievert.commands._measuring import check_hierarchy_files
from sievert.commands.compare import ranking
from sievert.commands.compare.result import Compared, Comparison
from sievert.commands.compare.run import ComparisonRun
from sievert.errors import UsageError
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions

if TYPE_CHECKING:
    from sievert.policy import Policy

LARGE = 10**5  # records from which plain columns are counted from packed keys
SHUFFLES = 99
MOST_SHUFFLES = 10**5
MOST_BINS = 10**4
FEWEST_RANKED = 3  # releases


def compare(
    original: Any,
    releases: Any,
    quasi: str | Iterable[str] | None = None,
    sensitive: str | Iterable[str] | None = None,
    identifier: str | Iterable[str] | None = None,
    *,
    key: str | None = None,
    predict: str | Iterable[str] | None = None,
    bins: Mapping[str, int] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    policy: Policy | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    shuffles: int = SHUFFLES,
    seed: int = 0,
    missing: str = "value",
    limit: bool = False,
    verify: bool = False,
    watch: Steps = no_progress,
    **source: Unpack[ReaderOptions],
) -> Comparison:
    """Measure what releases of a table disclose and what they have lost, both in bits.

    Parameters
    ----------
    original
        The table that the releases were made of: a path, a frame, a dict of lists.
    releases
        One release, a list of them, or a dict of names and releases.
    quasi, sensitive, identifier
        Columns an outsider could know; secrets; columns that are dropped before release.
    key
        A column that tells people apart, the same in all tables. Without it a release must have its
        records in the order of the original.
    predict
        Columns that are predicted from the release and from the original; the secrets unless given.
    bins
        Numbers cut at quantiles of the original, such as ``{"income": 10}``; 0 takes the values
        as they are. Columns of nearly as many numbers as records are cut unless told otherwise.
    hierarchies
        How columns were generalised: a `Hierarchy`, a file, "prefix", "interval:5,10,20".
    policy
        A `Policy`, a TOML file, or its content as a dict: its roles are used, and its limits
        are held against the original and every release.
    shuffles, seed
        From how many shuffles a p-value is made, 0 for none; where they start.
    missing
        A missing quasi-identifier is a "value" of its own or an "error".
    limit
        Whether each release is held against the least bits that its distortion would allow.
    source
        How to read: delimiter, encoding, types, na, engine, memory, threads, temp.

    >>> original = {"age": ["21", "22", "35", "36"], "disease": ["flu", "flu", "hiv", "flu"]}
    >>> release = {"age": ["2*", "2*", "3*", "3*"], "disease": ["flu", "flu", "hiv", "flu"]}
    >>> found = compare(original, {"tens": release}, "age", "disease")
    >>> found["tens"].disclosed.identity.whole.value
    1.0
    """
    house = load_policy(policy)
    requested = requested_roles(house, quasi, sensitive, identifier)
    if missing not in ("value", "error"):
        raise UsageError(
            "releases are compared with a missing value as a value of its own",
            hint="--missing value, or error",
        )
    _whole("--shuffles", shuffles, 0, MOST_SHUFFLES)
    _whole("--seed", seed, 0)
    if not isinstance(bins, Mapping | None) or not isinstance(key, str | None):
        raise UsageError("bins: {column: number}; key: the name of a column")
    for number in (bins or {}).values():
        _whole("bins", number, 0, MOST_BINS)
    check_hierarchy_files(hierarchies or {})
    named = named_releases(releases)
    clock = Clock(watch)
    reading = Reading(clock, {**source, "verify": verify}, LARGE)
    run = ComparisonRun(
        clock,
        hierarchies or {},
        bins or {},
        key,
        missing,
        shuffles,
        seed,
        source.get("threads"),
        limit,
        house,
    )
    found: list[Compared] = []
    with run.working():
        with reading(original) as (table, questions):
            run.original(table, questions, requested, predict)
        for name, data in named.items():
            with reading(data) as (table, questions):
                found.append(Compared(name, *run.release(name, table, questions)))
        limits, placed = run.limits(
            {r.name: r.disclosed for r in found}, _seconds_left(source, reading)
        )
    held = run.judging.held
    found = [replace(r, limit=placed.get(r.name, {}), policy=held.get(r.name)) for r in found]
    clock.stop()
    return Comparison(
        run.table,
        run.roles,
        {
            "attribute_disclosure": run.before,
            "assessment": run.assessment,
            **({"policy": held[None]} if held else {}),
        },
        tuple(_with_dominance(found)),
        _correlations(found),
        run.settings,
        tuple(run.told()),
        run.unassessed,
        clock.steps,
        clock.peaks,
        limits,
    )


def _whole(what: str, number: Any, least: int, most: int | None = None) -> None:
    """An error where something is no whole number, or too small or too large."""
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        raise UsageError(f"{what}: a whole number, {least} or more")
    if most is not None and number > most:
        raise UsageError(f"{what} must be from {least} to {most:,}")


def _seconds_left(source: Mapping[str, Any], reading: Reading) -> float | None:
    """The seconds that are left of those that the run may take."""
    whole = source.get("timeout")
    return None if whole is None else max(0.0, whole - (time.monotonic() - reading.started))


def named_releases(given: Any) -> dict[str, Any]:
    """Releases by name: the one given, that of the file, or a number."""
    if isinstance(given, Mapping) and not all(_is_column(held) for held in given.values()):
        named = [(str(name), data) for name, data in given.items()]
    else:
        several = list(given) if isinstance(given, list | tuple) else [given]
        numbers = (
            ["release"]
            if len(several) == 1
            else [f"release {number}" for number, _ in enumerate(several, 1)]
        )
        named = [(_file_stem(d) or number, d) for d, number in zip(several, numbers, strict=True)]
    if not named:
        raise UsageError("no release to compare", hint="compare ORIGINAL RELEASE [RELEASE ...]")
    found: dict[str, Any] = {}
    for text, data in named:
        name, again = text, 1
        while name in found:
            again += 1
            name = f"{text} ({again})"
        found[name] = data
    return found


def _is_column(held: Any) -> bool:
    """Whether this is a column of a table, and not a table."""
    return isinstance(held, list | tuple) or (
        hasattr(held, "__array__") and not hasattr(held, "columns")
    )


def _file_stem(data: Any) -> str | None:
    """The name of a file without its endings."""
    if not isinstance(data, str | os.PathLike) or str(data) == "stdin:":
        return None
    name = Path(str(data).partition("?")[0]).name
    return name.partition(".")[0] or name or None


def _with_dominance(found: Sequence[Compared]) -> Iterator[Compared]:
    """Each with those that disclose no more of it and lose no more of any secret.

    The numbers are the identity disclosure in both readings, and what is lost beyond
    chance.
    """
    points = {
        r.name: (
            r.disclosed.identity.whole.value,
            r.disclosed.identity.whole.corrected,
            *(max(0.0, each.whole.beyond) for each in r.disclosed.loss.values()),
        )
        for r in found
    }
    by = ranking.dominated(points) if all(len(p) > 2 for p in points.values()) else {}
    for release in found:
        yield replace(release, dominated_by=tuple(by.get(release.name, ())))


def _correlations(found: Sequence[Compared]) -> dict[str, dict[str, float | None]]:
    """Of each other loss the rank correlation with the information loss, over the releases."""
    from sievert.losses import BY_ID

    if len(found) < FEWEST_RANKED:
        return {}
    told: dict[str, dict[str, float | None]] = {}
    for name in found[0].losses:
        held = [r.losses[name].value for r in found]
        if any(v is None for v in held):
            continue
        sign = 1 if BY_ID[name].worse == "high" else -1
        numbers = [sign * v for v in held if v is not None]
        told[name] = {
            secret: ranking.rank_correlation(
                numbers, [r.disclosed.loss[secret].whole.beyond for r in found]
            )
            for secret in found[0].disclosed.loss
        }
    return told
