"""A policy: a TOML file with roles, partitions, orders, parameters and limits.

A limit on a value that is unbounded on the risky side, or undefined because the secret is
constant, is breached. Undefined for another reason: not evaluated, with a warning. On a measure
that is absent: an error.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sievert.errors import UsageError, require
from sievert.formatting import nearest
from sievert.measures import BY_ID
from sievert.measures.measure import NOTHING_TO_LEARN, UNBOUNDED, Value
from sievert.notes import Name, Note, Reason, SectionName

MOST_BYTES = 1 << 20


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RolesTable(_Strict):
    """[roles]"""

    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifier: tuple[str, ...] = ()


class Recursive(_Strict):
    """[parameters] recursive_c"""

    l: int = Field(ge=1, strict=True)  # noqa: E741


Least = Annotated[int, Field(ge=1, strict=True)]


class Below(_Strict):
    """[parameters] records_below"""

    k: Least | Annotated[tuple[Least, ...], Field(min_length=1)]


class Alpha(_Strict):
    """[parameters] alpha_k"""

    value: dict[str, Any] | str


class Parameters(_Strict):
    """[parameters]"""

    recursive_c: Recursive | None = None
    records_below: Below | None = None
    alpha_k: Alpha | None = None


class MeasureLimit(_Strict):
    """What a measure may be at least, at most, or both."""

    min: float | None = Field(None, strict=True, allow_inf_nan=False)
    max: float | None = Field(None, strict=True, allow_inf_nan=False)

    @model_validator(mode="after")
    def _some(self) -> MeasureLimit:
        if self.min is None and self.max is None:
            raise ValueError("a limit needs min or max")
        return self


class Policy(_Strict):
    """A policy file, checked."""

    roles: RolesTable = RolesTable()
    partitions: dict[str, dict[str, tuple[str, ...]]] = {}
    orders: dict[str, tuple[str, ...]] = {}
    parameters: Parameters = Parameters()
    everywhere: dict[str, MeasureLimit] = {}
    reidentification: dict[str, MeasureLimit] = {}
    inference: dict[str, dict[str, MeasureLimit]] = {}

    @model_validator(mode="before")
    @classmethod
    def _split_limits(cls, raw: Any) -> Any:
        """[limits] holds measures, and two tables of narrower limits."""
        limits = raw.get("limits", {})
        if not isinstance(limits, dict):
            raise ValueError("limits is not a table")
        rest = {key: table for key, table in raw.items() if key != "limits"}
        narrower = {key: limits.get(key, {}) for key in ("reidentification", "inference")}
        everywhere = {key: limit for key, limit in limits.items() if key not in narrower}
        return {**rest, **narrower, "everywhere": everywhere}


def read_policy(path: str | Path) -> Policy:
    """Read and check a policy file; every mistake is one line that says where."""
    path = Path(path)
    try:
        require(not path.exists() or path.is_file(), f"{path.name or path}: not a regular file")
        require(
            path.stat().st_size <= MOST_BYTES,
            f"{path.name}: not a policy (a TOML file of at most {MOST_BYTES >> 20} MiB)",
        )
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path.name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path.name}: not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path.name}: not TOML: {error}") from None
    except RecursionError:
        raise UsageError(f"{path.name}: nested too deeply") from None
    return parse_policy(raw, path.name)


def parse_policy(raw: Mapping[str, Any], name: str = "policy") -> Policy:
    """Check a policy given as plain tables."""
    try:
        policy = Policy.model_validate(dict(raw))
    except ValidationError as error:
        raise _mistake(error, name) from None
    for table, limits in (
        ("limits", policy.everywhere),
        ("limits.reidentification", policy.reidentification),
        *((f"limits.inference.{s}", limits) for s, limits in policy.inference.items()),
    ):
        for measure, limit in limits.items():
            require(
                measure in BY_ID,
                f"{name}: {table}: no measure is called {measure!r}",
                hint=nearest(measure, BY_ID) or "sievert measures",
            )
            low, high = BY_ID[measure].low, BY_ID[measure].high
            for bound in (b for b in (limit.min, limit.max) if b is not None):
                require(  # 80 for 80 % can never be breached: such a limit is a mistake
                    (low is None or bound >= low) and (high is None or bound <= high),
                    f"{name}: {table}: {measure}: a limit of {bound:g} lies outside "
                    f"{BY_ID[measure].bounds}",
                )
    return policy


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Check parameters given from Python by the same rules as those of a file."""
    try:
        Parameters.model_validate({k: dict(v) for k, v in parameters.items()})
    except ValidationError as error:
        raise _mistake(error, "parameters", Parameters) from None


def _mistake(error: ValidationError, name: str, model: type[BaseModel] | None = None) -> UsageError:
    """The first mistake in one line: where it is, and what was meant."""
    errors = error.errors()  # an unknown name first: it explains why the right one is lacking
    first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    loc = [str(part) for part in first["loc"]]
    if loc and loc[0] in ("everywhere", "reidentification", "inference"):
        loc = ["limits", *(loc[1:] if loc[0] == "everywhere" else loc)]
    where = ".".join(loc) or "top level"
    what, hint = first["msg"][0].lower() + first["msg"][1:], None
    if first["type"] == "extra_forbidden":
        what, hint = "not known here", _nearest_key(first["loc"], model)
    elif first["type"] == "model_type" and loc[0] == "limits":
        what, hint = "a limit is a table", "{ min = 5 } or { max = 0.8 }"
    elif first["type"] == "tuple_type":
        what, hint = "not a list", '["age", "zip"]'
    elif first["type"] in ("model_type", "dict_type"):
        what = "not a table"
    return UsageError(f"{name}: {where}: {what}", hint=hint)


def _nearest_key(loc: tuple[Any, ...], model: type[BaseModel] | None = None) -> str:
    model = model or Policy
    for part in loc[:-1]:
        inner = getattr(model.model_fields.get(str(part)), "annotation", None)
        kinds = (inner, *getattr(inner, "__args__", ()))
        model = next(
            (k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), MeasureLimit
        )
    known = ["roles", "partitions", "orders", "parameters", "limits"]
    known = known if model is Policy else list(model.model_fields)
    return nearest(str(loc[-1]), known) or f"one of {', '.join(known)}"


@dataclass(frozen=True)
class Verdict:
    """One limit compared with one number."""

    measure: str
    where: str
    min: float | None
    max: float | None
    value: float | None
    met: bool | None
    reason: str | None = None
    reading: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the JSON."""
        return dict(vars(self))


def judge(
    policy: Policy,
    reidentification: Mapping[str, Value],
    inference: Mapping[str, Mapping[str, Value]],
) -> tuple[list[Verdict], list[Note]]:
    """Compare every limit with every number it applies to; returns verdicts and warnings."""
    for secret in policy.inference:
        require(
            secret in inference,
            f"limits.inference: {secret!r} is not a sensitive attribute of this assessment",
            hint=nearest(secret, inference) or "name it with -s",
        )
    verdicts = []
    places = [("reidentification", reidentification, policy.reidentification)]
    places += [(f"inference.{s}", v, policy.inference.get(s, {})) for s, v in inference.items()]
    for where, values, narrower in places:
        for measure in narrower:
            _require_number(measure in values, measure, f"limits.{where}")
        limits = {**{m: x for m, x in policy.everywhere.items() if m in values}, **narrower}
        verdicts += [_verdict(where, values[m], limit) for m, limit in limits.items()]
    for measure in policy.everywhere:
        _require_number(any(v.measure == measure for v in verdicts), measure, "limits")
    warnings = [
        Note(
            f"the limit on {v.measure} ({{}}) was not evaluated: {{}}",
            _place(v.where),
            Reason(v.reason),
        )
        for v in verdicts
        if v.met is None
    ]
    warnings += [
        Note(
            f"the limit on {v.measure} ({{}}) is on its harmless side: risky when {risky}",
            _place(v.where),
        )
        for v in verdicts
        for risky, bound in (("low", v.min), ("high", v.max))
        if BY_ID[v.measure].riskier == risky and bound is None
    ]
    return verdicts, warnings


def _place(where: str) -> Name | SectionName:
    chapter, _, secret = where.partition(".")
    return Name(secret) if secret else SectionName(chapter)


def _require_number(present: bool, measure: str, where: str) -> None:
    kinds = BY_ID[measure].kinds
    hint = "give what it needs (an order, a hierarchy, a partition), or drop the limit"
    if "secret" not in kinds:
        hint = "it is about finding a person: [limits.reidentification]"
    elif "record" not in kinds and not where.startswith("limits.inference"):
        hint = "it is about a secret: name one with -s, and limit it in [limits.inference.SECRET]"
    what = f"{where}: {measure} is not among the numbers of this assessment"
    require(present, what, hint=hint)


def _verdict(where: str, value: Value, limit: MeasureLimit) -> Verdict:
    number, reading = value.value, None
    if number is None:
        constant = value.reason == NOTHING_TO_LEARN and where.startswith("inference")
        met = False if constant or value.reason == UNBOUNDED else None
        return Verdict(value.id, where, limit.min, limit.max, None, met, value.reason)
    known = value.details.get("without_missing")
    if known is not None and (known < number if value.riskier == "low" else known > number):
        number, reading = known, "without missing secrets"  # the worse reading decides
    met = (limit.min is None or number >= limit.min) and (limit.max is None or number <= limit.max)
    return Verdict(value.id, where, limit.min, limit.max, number, met, None, reading)
