"""The public function `compare`: what each release of one original discloses and has lost.

It has one keyword per option of the command, so that editors and `help` show them all.
"""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from sievert.commands.compare.estimation import chance_notes
from sievert.commands.compare.policy import Judging, gather_remarks
from sievert.commands.compare.result import (
    Compared,
    Comparison,
    LeastDisclosure,
    ReleaseDistance,
)
from sievert.commands.compare.run import (
    ComparedRelease,
    ComparisonSettings,
    Original,
    compare_release,
    read_original,
)
from sievert.errors import require
from sievert.formatting import make_unique
from sievert.formatting.remarks import Remark
from sievert.losses import BY_ID
from sievert.measurement.table_measures import MeasureSettings, check_hierarchies
from sievert.numerics.acceleration import thread_count
from sievert.pairing.pairing_file import RowPairing, find_pairing
from sievert.pairing.record_pairs import check_paired
from sievert.request.requested import PolicySource, Reading, check_whole, requested_roles
from sievert.session import Steps, no_progress
from sievert.sources.options import ReaderOptions, missing_codes

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
    person: str | None = None,
    key: str | None = None,
    paired: bool = False,
    predict: str | Iterable[str] | None = None,
    bins: Mapping[str, int] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    policy: PolicySource = None,
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
    person
        The column whose values tell people apart, where a person may have several rows: not
        defined here, and refused where people have several.
    key
        A column that tells people apart, the same in all tables. Without it a release needs the
        pairing file that `protect` wrote, beside it; or it must have its records in the order of
        the original, and the tables must show that it has.
    paired
        Say that releases have their records in the order of the original, where the tables cannot
        show it. Where they show that it is not so, this is refused.
    predict
        Columns that are predicted from the release and from the original; the secrets unless given.
    bins
        Numbers cut at quantiles of the original, such as ``{"income": 10}``; 0 takes the values
        as they are. Columns of nearly as many numbers as records are cut unless told otherwise.
    hierarchies
        How columns were generalised: "interval:5,10,20", a file, a tree, a `Hierarchy`.
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
    >>> found = compare(original, {"tens": release}, "age", "disease", paired=True)
    >>> found["tens"].disclosed.identity.whole.value
    1.0
    """
    requested = requested_roles(policy, quasi, sensitive, identifier, person=person)
    require(
        missing in ("value", "error"),
        "releases are compared with a missing value as a value of its own",
        hint="--missing value, or error",
    )
    check_whole("--shuffles", shuffles, 0, MOST_SHUFFLES)
    check_whole("--seed", seed, 0)
    require(
        isinstance(bins, Mapping | None) and isinstance(key, str | None),
        "bins: {column: number}; key: the name of a column",
    )
    for number in (bins or {}).values():
        check_whole("bins", number, 0, MOST_BINS)
    check_paired(paired, key)
    trees = MeasureSettings(hierarchies or {}).with_policy(requested.policy).hierarchies
    check_hierarchies(trees)
    named = named_releases(releases)
    settings = ComparisonSettings(
        trees,
        bins or {},
        key,
        paired,
        missing,
        shuffles,
        seed,
        thread_count(source.get("threads")),
        limit,
    )
    options = requested.read_as_stated({**source})
    judging = Judging(requested, settings.hierarchies, missing, missing_codes(options))
    reading = Reading(watch, verify=verify, **options)
    clock, compared = reading.clock, dict[str, ComparedRelease]()
    with settings.workers() as each:
        with reading(original) as (table, questions):
            first = read_original(
                original, table, questions, requested, predict, settings, judging, clock, each
            )
        for name, data in named.items():
            by_order = key is None and not paired
            beside = find_pairing(data, source.get("temp")) if by_order else RowPairing()
            with reading(data) as (table, questions):
                compared[name] = compare_release(
                    name, table, questions, first, beside, settings, judging, clock, each
                )
        limits, distances, limit_notes = _limits(first, compared, reading)
    known = first.information().bits()
    dominated_by = dominance([c.release for c in compared.values()])
    finished = tuple(
        replace(c.release, limit=distances.get(name, {}), dominated_by=tuple(dominated_by[name]))
        for name, c in compared.items()
    )
    return Comparison(
        first.table,
        first.roles,
        {
            "attribute_disclosure": known,
            "assessment": first.assessment,
            **({} if first.policy is None else {"policy": first.policy}),
        },
        finished,
        _correlations(finished),
        {
            "shuffles": shuffles,
            "seed": seed,
            "level": 0.95,
            "key": key,
            "bins": {c: len(e) + 1 for c, e in first.edges.items()},
            "predicted": list(first.predicted),
        },
        limits,
        warnings=(
            *first.notes,
            *chance_notes("chance_original", known),
            *limit_notes,
            *gather_remarks({c.release.file: c.remarks for c in compared.values()}),
            *gather_remarks(
                {None: first.doubts} | {c.release.file: c.doubts for c in compared.values()}
            ),
        ),
        unassessed=first.unassessed,
        **clock.stop(),
    )


def _limits(
    original: Original, compared: Mapping[str, ComparedRelease], reading: Reading
) -> tuple[dict[str, LeastDisclosure], dict[str, dict[str, ReleaseDistance]], list[Remark]]:
    """The limit of each secret and where the releases are, where it was asked for; notes."""
    limits, whole = original.limits(), reading.source.get("timeout")
    if limits is None:
        return {}, {}, []
    reading.clock("searching the least possible bits", None)
    left = None if whole is None else max(0.0, whole - (time.monotonic() - reading.started))
    disclosed = {name: c.release.disclosed for name, c in compared.items()}
    places = {name: c.place for name, c in compared.items()}
    return *limits.solve(disclosed, places, left), limits.notes


def named_releases(given: Any) -> dict[str, Any]:
    """Releases by name: the one given, that of the file, or a number."""
    if isinstance(given, Mapping) and not all(_is_column(each) for each in given.values()):
        named = [(str(name), data) for name, data in given.items()]
    else:
        several = list(given) if isinstance(given, list | tuple) else [given]
        number = "release {}" if len(several) > 1 else "release"
        named = [(_file_stem(d) or number.format(i), d) for i, d in enumerate(several, 1)]
    require(named, "no release to compare", hint="compare ORIGINAL RELEASE [RELEASE ...]")
    names = make_unique(text for text, _ in named)
    return dict(zip(names, (data for _, data in named), strict=True))


def _is_column(data: Any) -> bool:
    """Whether this is a column of a table, and not a table."""
    return isinstance(data, list | tuple) or (
        hasattr(data, "__array__") and not hasattr(data, "columns")
    )


def _file_stem(data: Any) -> str | None:
    """The name of a file without its endings."""
    if not isinstance(data, str | os.PathLike) or str(data) == "stdin:":
        return None
    name = Path(str(data).partition("?")[0]).name
    return name.partition(".")[0] or name or None


# -- releases held against each other -----------------------------------------------------------


def dominance(releases: Sequence[Compared]) -> dict[str, list[str]]:
    """Of each release those that disclose no more of it and lose no more of any secret.

    The numbers are the identity disclosure in both readings, and what is lost beyond
    chance.
    """
    return dominating(
        {
            r.name: (
                r.disclosed.identity.whole.value,
                r.disclosed.identity.whole.corrected,
                *(max(0.0, each.whole.beyond) for each in r.disclosed.loss.values()),
            )
            for r in releases
            if r.disclosed.loss
        }
    ) or {r.name: [] for r in releases}


def dominating(points: Mapping[str, Sequence[float]]) -> dict[str, list[str]]:
    """Of each name those that are nowhere worse and somewhere better; less is better.

    >>> dominating({"a": (1, 2), "b": (1, 3), "c": (0, 4)})
    {'a': [], 'b': ['a'], 'c': []}
    """
    return {
        name: [
            other
            for other, theirs in points.items()
            if other != name
            and all(t <= m for t, m in zip(theirs, mine, strict=True))
            and any(t < m for t, m in zip(theirs, mine, strict=True))
        ]
        for name, mine in points.items()
    }


def _correlations(releases: Sequence[Compared]) -> dict[str, dict[str, float | None]]:
    """Of each other loss the rank correlation with the information loss, over the releases."""
    if len(releases) < FEWEST_RANKED:
        return {}
    lost = {
        secret: [r.disclosed.loss[secret].whole.beyond for r in releases]
        for secret in releases[0].disclosed.loss
    }
    correlations: dict[str, dict[str, float | None]] = {}
    for name in releases[0].losses:
        values = [r.losses[name].value for r in releases]
        sign = 1 if BY_ID[name].worse == "high" else -1
        numbers = [sign * v for v in values if v is not None]
        if len(numbers) == len(values):
            correlations[name] = {s: rank_correlation(numbers, x) for s, x in lost.items()}
    return correlations


def ranks(numbers: Sequence[float]) -> list[float]:
    """Ranks from 1 on, equal numbers sharing their mean.

    >>> ranks([10, 20, 10])
    [1.5, 3.0, 1.5]
    """
    _, inverse, times = np.unique(np.asarray(numbers), return_inverse=True, return_counts=True)
    return [float(r) for r in (np.cumsum(times) - (times - 1) / 2)[inverse]]


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's, with ties; None where one side does not vary.

    >>> rank_correlation([1, 2, 3], [10, 30, 20])
    0.5
    """
    a, b = np.array(ranks(first)), np.array(ranks(second))
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return None if scale == 0 else max(-1.0, min(1.0, float(a @ b) / scale))
