"""Releases of one original compared: what each discloses, what each has lost, in one unit."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sievert.assessment import check_ladders
from sievert.comparing import summary
from sievert.comparing.found import Assessed, Disclosed
from sievert.comparing.run import Run
from sievert.errors import UsageError
from sievert.result import frame
from sievert.roles import Roles
from sievert.running import Clock, Reading, house_policy
from sievert.session import Steps, nobody
from sievert.version import __version__

if TYPE_CHECKING:
    from sievert.comparing.judging import Held
    from sievert.comparing.limits import Limit, Placed
    from sievert.losses.loss import Loss
    from sievert.policy import Policy

LARGE = 10**5  # records from which plain columns are counted from packed keys
SHUFFLES = 99
MOST_SHUFFLES = 10**5
MOST_BINS = 10**4
FEWEST_RANKED = 3  # releases


@dataclass(frozen=True)
class Compared:
    """One release beside its original."""

    name: str
    table: Mapping[str, Any]
    rows: int
    records: Mapping[str, int]  # paired, suppressed, ...
    disclosed: Disclosed
    losses: Mapping[str, Loss]
    assessment: Assessed
    dominated_by: tuple[str, ...] = ()
    limit: Mapping[str, Placed] = field(default_factory=dict)  # by secret, where it was asked for
    policy: Held | None = None  # its limits, where there are any

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        from sievert.losses import BY_ID

        return {
            "name": self.name,
            "rows": self.rows,
            "table": dict(self.table),
            "records": dict(self.records),
            **self.disclosed.to_dict(),
            "losses": {
                k: {
                    **_shown(v.details),
                    "value": v.value,
                    "unit": BY_ID[k].unit,
                    "worse": BY_ID[k].worse,
                    "reason": v.reason,
                    "columns": dict(v.columns),
                }
                for k, v in self.losses.items()
            },
            "assessment": self.assessment.to_dict(),
            "dominated_by": list(self.dominated_by),
            **({"limit": {s: p.to_dict() for s, p in self.limit.items()}} if self.limit else {}),
            **_limits_of(self.policy),
        }


def _limits_of(policy: Held | None) -> dict[str, Any]:
    """The limits of a policy in the JSON; nothing where there are none."""
    return {} if policy is None else {"policy": policy.to_dict()}


def _shown(details: Mapping[str, Any]) -> dict[str, Any]:
    """Details without means and quantiles themselves: a quantile is the number of a person."""

    def bare(found: Mapping[str, Any]) -> dict[str, Any]:
        if "at" in found:
            return {**found, "at": {q: bare(statistic) for q, statistic in found["at"].items()}}
        return {k: v for k, v in found.items() if k not in ("original", "released")}

    return {
        k: {**v, "columns": {c: bare(found) for c, found in v["columns"].items()}}
        if k in ("mean", "quantiles") and isinstance(v, Mapping)
        else v
        for k, v in details.items()
    }


@dataclass(frozen=True)
class Comparison:
    """Releases of one original, side by side."""

    table: Mapping[str, Any]
    roles: Roles
    original: Mapping[str, Any]  # what it tells of secrets, its assessment, its limits
    releases: tuple[Compared, ...]
    rank_correlation: Mapping[str, Mapping[str, float | None]]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    unassessed: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict, compare=False, repr=False)
    peaks: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    limits: Mapping[str, Limit] = field(default_factory=dict)  # by secret, where it was asked for

    @property
    def met(self) -> bool | None:
        """Whether some release breaches no limit of the policy; None without limits."""
        held = [r.policy.met for r in self.releases if r.policy is not None]
        return any(held) if held else None

    @property
    def rows(self) -> int:
        """How many records the original has."""
        return int(self.table["rows"])

    def __getitem__(self, name: str) -> Compared:
        for release in self.releases:
            if release.name == name:
                return release
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of the command line: stable, without timings."""
        return {
            "sievert": __version__,
            "table": dict(self.table),
            "roles": self.roles.to_dict(self.unassessed),
            "settings": dict(self.settings),
            "original": {
                "attribute_disclosure": {
                    s: e.to_dict() for s, e in self.original["attribute_disclosure"].items()
                },
                "assessment": self.original["assessment"].to_dict(),
                **_limits_of(self.original.get("policy")),
            },
            "releases": [release.to_dict() for release in self.releases],
            "rank_correlation": {k: dict(v) for k, v in self.rank_correlation.items()},
            **({"limit": {s: x.to_dict() for s, x in self.limits.items()}} if self.limits else {}),
            "warnings": list(self.warnings),
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        from sievert.losses import BY_ID

        for release in self.releases:
            for number, target, column, found in release.disclosed.every():
                for what in ("value", "corrected", "chance", "miller_madow", "p_value"):
                    yield {
                        "release": release.name, "number": number, "target": target,
                        "column": column, "what": what, "value": getattr(found, what),
                        "unit": "1" if what == "p_value" else "bits", "reason": None,
                    }  # fmt: skip
            for name, loss in release.losses.items():
                yield {
                    "release": release.name, "number": name, "target": None, "column": None,
                    "what": "value", "value": loss.value, "unit": BY_ID[name].unit,
                    "reason": loss.reason,
                }  # fmt: skip
            for secret, placed in release.limit.items():
                for what in ("distortion", "least", "bound", "ratio"):
                    yield {
                        "release": release.name, "number": "limit", "target": secret,
                        "column": None, "what": what, "value": getattr(placed, what),
                        "unit": "bits" if what in ("least", "bound") else "1",
                        "reason": placed.reason if what == "ratio" else None,
                    }  # fmt: skip

    def to_frame(self) -> Any:
        """One row a number, as a pandas or Polars frame, whichever is installed."""
        return frame(self._rows())

    def charts(self) -> dict[str, Any]:
        """Vega-Lite dicts by name: the risk-utility map of each secret, and its limit if asked."""
        from sievert.charts import of_comparison

        return of_comparison(self)

    def __repr__(self) -> str:
        from sievert.terminalcompare import render

        return render(self)

    def _repr_html_(self) -> str:
        from sievert.report.notebook import shown

        return shown(self)


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
    watch: Steps = nobody,
    **source: Any,
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
    house = house_policy(policy)
    if house is not None:
        quasi = quasi if quasi is not None else house.roles.quasi
        sensitive = sensitive if sensitive is not None else house.roles.sensitive
        identifier = identifier if identifier is not None else house.roles.identifier
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
    check_ladders(hierarchies or {})
    named = named_releases(releases)
    steps: dict[str, float] = {}
    clock = Clock(steps, watch)
    reading = Reading(clock, {**source, "verify": verify}, LARGE)
    run = Run(
        clock, hierarchies or {}, bins or {}, key, missing, shuffles, seed, source.get("threads"),
        limit, house,
    )  # fmt: skip
    found: list[Compared] = []
    with run.working():
        with reading(original) as (table, questions):
            run.original(table, questions, quasi, sensitive, identifier, predict)
        for name, data in named.items():
            with reading(data) as (table, questions):
                found.append(Compared(name, *run.release(name, table, questions)))
        limits, placed = run.limits({r.name: r.disclosed for r in found}, _left(source, reading))
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
        tuple(_marked(found)),
        _correlations(found),
        run.settings,
        tuple(run.told()),
        run.unassessed,
        steps,
        clock.peaks,
        limits,
    )


def _whole(what: str, number: Any, least: int, most: int | None = None) -> None:
    """An error where something is no whole number, or too small or too large."""
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        raise UsageError(f"{what}: a whole number, {least} or more")
    if most is not None and number > most:
        raise UsageError(f"{what} must be from {least} to {most:,}")


def _left(source: Mapping[str, Any], reading: Reading) -> float | None:
    """The seconds that are left of those that the run may take."""
    whole = source.get("timeout")
    return None if whole is None else max(0.0, whole - (time.monotonic() - reading.started))


def named_releases(given: Any) -> dict[str, Any]:
    """Releases by name: the one given, that of the file, or a number."""
    if isinstance(given, Mapping) and not all(_is_column(held) for held in given.values()):
        named = [(str(name), data) for name, data in given.items()]
    else:
        several = list(given) if isinstance(given, list | tuple) else [given]
        numbers = ["release"] if len(several) == 1 else [
            f"release {number}" for number, _ in enumerate(several, 1)
        ]  # fmt: skip
        named = [(_called(d) or number, d) for d, number in zip(several, numbers, strict=True)]
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


def _called(data: Any) -> str | None:
    """The name of a file without its endings."""
    if not isinstance(data, str | os.PathLike) or str(data) == "stdin:":
        return None
    name = Path(str(data).partition("?")[0]).name
    return name.partition(".")[0] or name or None


def _marked(found: Sequence[Compared]) -> Iterator[Compared]:
    """Each with those that disclose no more of it and lose no more of any secret.

    Held against each other are the identity disclosure in both readings, and what is lost beyond
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
    by = summary.dominated(points) if all(len(p) > 2 for p in points.values()) else {}
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
            secret: summary.rank_correlation(
                numbers, [r.disclosed.loss[secret].whole.beyond for r in found]
            )
            for secret in found[0].disclosed.loss
        }
    return told
