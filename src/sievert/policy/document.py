"""A policy as it is written: a TOML file with roles, partitions, orders, parameters and limits."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from sievert.errors import UsageError, require
from sievert.formatting import nearest
from sievert.formatting.attack_names import SYNTHETIC_ATTACKS
from sievert.formatting.remarks import Figure, Remark
from sievert.hierarchies import below_root
from sievert.measures import BY_ID

NOT_LIMITED = ("global_risk", "individual_risk", "household_risk", "suda", "dis_suda")
MOST_BYTES = 1 << 20
# The names of types in the places that pydantic names.
INNER = re.compile(r"(constrained|tuple|dict|function|str$|int$|float$)")
TABLES = (".csv", ".tsv", ".parquet", ".xlsx", ".sav", ".dta", ".feather", ".arrow")
LIMITS = ("everywhere", "reidentification", "inference", "synthetic")  # parts of [limits]
# Numbers of an attack on synthetic tables that may be limited; only p at least.
SYNTHETIC_NUMBERS = ("rate", "risk", "high", "least_excess", "p")
SAY_WHY = "say why"  # in place of a reason that is still to be given
NO_REASON = "not released"  # the reason for a column that is dropped


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def check_reason(what: str, reason: str) -> str:
    """Put a reason into one line; refuse one that is empty, still to be given, or not printable.

    Control characters could write over the answer on a screen.
    """
    line = " ".join(reason.split())
    words = line.casefold()
    if not words or words == SAY_WHY or words.startswith("todo"):
        raise ValueError(f"{what}: no reason is given")
    if not line.isprintable():
        raise ValueError(f"{what}: the reason holds characters that cannot be printed")
    return line


class KeptColumn(_Strict):
    """A column that a release keeps: the reason, and whether outsiders can know its values."""

    reason: Annotated[str, AfterValidator(lambda reason: check_reason("kept", reason))]
    outsiders_cannot_know: bool = Field(False, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: Any) -> Any:
        """Read a bare text as the reason."""
        return {"reason": given} if isinstance(given, str) else given


class RolesTable(_Strict):
    """[roles]: the roles of the columns; under a policy every column of a table has a role."""

    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifier: tuple[str, ...] = ()
    person: str | None = None
    household: str | None = None
    weight: str | None = None
    ignored: dict[str, str] = {}  # columns that are not released, with the reason of each
    dropped: tuple[str, ...] = ()  # columns that are not released, without a reason
    kept: dict[str, KeptColumn] = {}  # columns that a release keeps besides the measured ones
    distinct_spellings: tuple[str, ...] = ()  # values that look alike differ in these columns
    rows_are_people: bool = Field(False, strict=True)

    @field_validator("ignored")
    @classmethod
    def _reasons(cls, ignored: dict[str, str]) -> dict[str, str]:
        return {c: check_reason(f"ignored {c!r}", reason) for c, reason in ignored.items()}

    @model_validator(mode="after")
    def _one_role(self) -> RolesTable:
        if self.person is not None and self.rows_are_people:
            raise ValueError("person and rows_are_people exclude each other")
        first_role: dict[str, str] = {}
        for role, columns in self.columns_by_role.items():
            for column in columns:
                other = first_role.setdefault(column, role)
                if other != role:
                    raise ValueError(
                        f"column {column!r} is {other} and {role}: it has one role only"
                    )
        of_people = {c for own in self.columns_by_role.values() for c in own}
        named = of_people - {self.weight, self.household}
        for column in self.distinct_spellings:
            if column not in named:
                raise ValueError(
                    f"distinct_spellings: column {column!r} is no person, key, secret or "
                    "quasi-identifier of this policy"
                )
        return self

    @property
    def columns_by_role(self) -> dict[str, tuple[str, ...]]:
        """The columns of every role."""
        single = {"person": self.person, "household": self.household, "weight": self.weight}
        return {
            "quasi": self.quasi,
            "sensitive": self.sensitive,
            "identifier": self.identifier,
            **{role: () if column is None else (column,) for role, column in single.items()},
            "ignored": tuple(self.ignored),
            "dropped": self.dropped,
            "kept": tuple(self.kept),
        }

    @property
    def left_out(self) -> dict[str, str]:
        """The columns that are ignored or dropped, each with the reason: no release has them."""
        return {**dict.fromkeys(self.dropped, NO_REASON), **self.ignored}

    @property
    def not_released(self) -> frozenset[str]:
        """The columns that a release must not have: left-out columns and identifiers of people."""
        single = [c for c in (self.person, self.household) if c is not None]
        return frozenset((*self.identifier, *single, *self.left_out))

    def lacking(self, columns: Collection[str], typed: Collection[str]) -> tuple[str, ...]:
        """Name the columns of the policy that are not measured and that a table does not have.

        Columns that the user `typed` are not named. A missing column is no risk: if its name is
        misspelt in the policy, the table has a column without a role.
        """
        single = [c for c in (self.household, self.weight) if c is not None]
        others = (*self.identifier, *self.left_out, *self.kept, *single)
        return tuple(c for c in others if c not in columns and c not in typed)


class ReadingTable(_Strict):
    """[reading]: how the table has to be read."""

    na: tuple[str, ...] = ()  # codes for missing
    suppressed: tuple[str, ...] = ()  # marks of suppressed records besides *


class ReleaseTable(_Strict):
    """[release]: what is known of the file that goes out."""

    # The reason why the rows may stay in their order.
    order: Annotated[str, AfterValidator(lambda reason: check_reason("order", reason))] | None = (
        None
    )


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


class SampledPopulation(_Strict):
    """[parameters] population_uniques: the size of the population, or the sampled share."""

    population_size: int | None = Field(None, ge=1, strict=True)
    fraction: float | None = Field(None, gt=0, le=1)

    @model_validator(mode="after")
    def _one(self) -> SampledPopulation:
        if (self.population_size is None) == (self.fraction is None):
            raise ValueError("either population_size or fraction")
        return self


class Parameters(_Strict):
    """[parameters]"""

    recursive_c: Recursive | None = None
    records_below: Below | None = None
    alpha_k: Alpha | None = None
    population_uniques: SampledPopulation | None = None


class ProtectTable(_Strict):
    """[protect]: how `sievert protect` makes a release for this policy."""

    how: str | None = None  # the method: see `sievert protect --how`
    suppress: float | None = Field(None, ge=0, lt=1)  # the largest share of suppressed records


class MeasureLimit(_Strict):
    """A limit on a measure: the smallest number that meets it, the largest, or both."""

    min: float | None = Field(None, strict=True, allow_inf_nan=False)
    max: float | None = Field(None, strict=True, allow_inf_nan=False)

    @model_validator(mode="after")
    def _some(self) -> MeasureLimit:
        if self.min is None and self.max is None:
            raise ValueError("a limit needs min or max")
        return self


def _tree(given: Any) -> str | dict[str, Any]:
    """Accept the text of a specification as it is, and a tree below one root."""
    if not isinstance(given, str | dict):
        raise ValueError('a hierarchy is a text such as "interval:5,10", or a tree of tables')
    if isinstance(given, str):
        return given
    return dict(below_root(given))


class Policy(_Strict):
    """A policy: roles, what measures need, and limits."""

    roles: RolesTable = Field(default_factory=RolesTable.model_construct)
    reading: ReadingTable = ReadingTable()
    release: ReleaseTable = ReleaseTable()
    partitions: dict[str, dict[str, tuple[str, ...]]] = {}
    orders: dict[str, tuple[str, ...]] = {}
    hierarchies: dict[str, Annotated[Any, AfterValidator(_tree)]] = {}
    protect: ProtectTable = ProtectTable.model_construct(how=None, suppress=None)
    parameters: Parameters = Parameters()
    everywhere: dict[str, MeasureLimit] = {}
    reidentification: dict[str, MeasureLimit] = {}
    inference: dict[str, dict[str, MeasureLimit]] = {}
    synthetic: dict[str, dict[str, MeasureLimit]] = {}  # by attack, for `sievert synthetic` only

    @model_validator(mode="before")
    @classmethod
    def _split_limits(cls, raw: Any) -> Any:
        """Split [limits] into limits that apply everywhere and the tables of narrower limits."""
        limits = raw.get("limits", {})
        if not isinstance(limits, dict):
            raise ValueError("limits is not a table")
        for key in LIMITS:
            if key in raw:  # it would be ignored
                raise ValueError(f"{key} is not a table of its own: [limits.{key}]")
        rest = {key: table for key, table in raw.items() if key != "limits"}
        narrower = {key: limits.get(key, {}) for key in LIMITS[1:]}
        everywhere = {key: limit for key, limit in limits.items() if key not in narrower}
        return {**rest, **narrower, "everywhere": everywhere}

    @model_validator(mode="after")
    def _known_attacks(self) -> Policy:
        for attack, limits in self.synthetic.items():
            for word, known in (
                (attack, SYNTHETIC_ATTACKS),
                *((n, SYNTHETIC_NUMBERS) for n in limits),
            ):
                if word not in known:
                    raise ValueError(f"limits.synthetic: {word!r} is none of {', '.join(known)}")
            for number, limit in limits.items():
                side = "min" if number == "p" else "max"
                bound = limit.min if number == "p" else limit.max
                other = limit.max if number == "p" else limit.min
                if bound is None or other is not None:
                    raise ValueError(f"limits.synthetic.{attack}: {number} takes a {side}")
                if not 0 <= bound <= 1:  # every copy meets a limit of 5 for 5 %
                    raise ValueError(f"limits.synthetic.{attack}: {number} is a share from 0 to 1")
        return self

    @property
    def measured_hierarchies(self) -> dict[str, Any]:
        """The hierarchies of columns that are measured; a release does not have the others."""
        dropped = {*self.roles.identifier, *self.roles.left_out}
        return {c: given for c, given in self.hierarchies.items() if c not in dropped}

    @property
    def limits_population(self) -> bool:
        """Tell whether a limit needs the population from which the table was sampled."""
        return any("population" in BY_ID[measure].needs for _, measure, _ in self.every_limit())

    def every_limit(self) -> Iterator[tuple[str, str, MeasureLimit]]:
        """Yield the name of the table in the file, the measure and the limit, for each limit."""
        tables = {"limits": self.everywhere, "limits.reidentification": self.reidentification}
        for secret, limits in self.inference.items():
            tables[f"limits.inference.{secret}"] = limits
        for table, limits in tables.items():
            for measure, limit in limits.items():
                yield table, measure, limit


@dataclass(frozen=True)
class PolicyFile:
    """The file of a policy: its name, and the SHA-256 of its content."""

    name: str
    sha256: str


def read_policy(path: str | Path) -> Policy:
    """Read and check a policy file; the message of a mistake is one line with its place."""
    return read_policy_file(path)[0]


def read_policy_file(path: str | Path) -> tuple[Policy, PolicyFile]:
    """Read and check a policy file; return the policy, and the name and digest of the file."""
    _, tables = read_tables(path)
    name = Path(path).name
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return parse_policy(tables, name), PolicyFile(name, digest)


def read_tables(path: str | Path) -> tuple[str, dict[str, Any]]:
    """Read a policy file; return its text and its tables, which are not checked yet."""
    import tomllib  # not for pages that read no policy

    path = Path(path)
    try:
        require(not path.exists() or path.is_file(), f"{path.name or path}: not a regular file")
        require(
            path.stat().st_size <= MOST_BYTES,
            f"{path.name}: not a policy (a TOML file of at most {MOST_BYTES >> 20} MiB)",
        )
        text = path.read_bytes().decode("utf-8-sig")
        return text, tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"{path.name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path.name}: not UTF-8 text", hint=_swap_hint(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path.name}: not TOML: {error}", hint=_swap_hint(path)) from None
    except RecursionError:
        raise UsageError(f"{path.name}: nested too deeply") from None


def _swap_hint(path: Path) -> str | None:
    """Give a hint if a table is read as a policy."""
    if path.suffix.lower() in TABLES or ".csv" in path.name:
        return "the policy is a TOML file, and this looks like the table: swap them"
    return None


def parse_policy(raw: Mapping[str, Any], name: str = "policy") -> Policy:
    """Check a policy that is given as plain tables."""
    policy = parse_tables(raw, name)
    for mistake, hint in limit_mistakes(policy).values():
        raise UsageError(f"{name}: {mistake}", hint=hint)
    return policy


def parse_tables(raw: Mapping[str, Any], name: str = "policy") -> Policy:
    """Check a policy, except for limits on measures that do not exist or out of their range."""
    try:
        return Policy.model_validate(dict(raw))
    except ValidationError as error:
        raise _mistake(error, name) from None


def limit_mistakes(policy: Policy) -> dict[tuple[str, str], tuple[str, str | None]]:
    """Describe the limits that make no sense for any table, with a hint on each.

    A key is the name of the table in the file and the measure.
    """
    mistakes: dict[tuple[str, str], tuple[str, str | None]] = {}
    for table, measure, limit in policy.every_limit():
        if measure not in BY_ID:
            what = Remark("gap_no_measure", where=table, measure=repr(measure))
            usual = {a: m.id for m in BY_ID.values() for a in m.aliases} | {m: m for m in BY_ID}
            close = nearest(measure, usual)
            other = usual[close] if close else "sievert measures"
            if measure in NOT_LIMITED:
                other = "no limit on it; average_risk, unique_records or population_uniques"
            mistakes[table, measure] = what, other
            continue
        low = BY_ID[measure].low
        high = BY_ID[measure].high
        for bound in (b for b in (limit.min, limit.max) if b is not None):
            if (low is not None and bound < low) or (high is not None and bound > high):
                # A limit of 80 for 80 % can never be breached: it is a mistake.
                hint = None
                what = Remark(
                    "gap_outside",
                    where=table,
                    measure=measure,
                    number=Figure(f"{bound:g}"),
                    range=BY_ID[measure].bounds,
                )
                if (low, high) == (0, 1) and bound > 1:
                    what = Remark("gap_share", where=table, measure=measure)
                    number = Figure(f"{bound:g}")
                    hint = Remark("gap_write", number=number, share=Figure(f"{bound / 100:g}"))
                mistakes[table, measure] = what, hint
    return mistakes


def to_tables(policy: Policy, columns: Collection[str]) -> dict[str, Any]:
    """Write a policy as plain tables for a release that has only some of its columns."""
    tables = policy.model_dump(exclude_none=True, mode="json")
    for chapter in ("hierarchies", "orders", "partitions"):
        tables[chapter] = {c: own for c, own in tables.get(chapter, {}).items() if c in columns}
    for role in ("person", "household", "weight"):
        if tables["roles"].get(role) not in columns:
            tables["roles"].pop(role, None)
    limits = {name: tables.pop(name) for name in LIMITS[1:]} | tables.pop("everywhere")
    return {**tables, "limits": limits}


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Check parameters from Python by the rules for parameters in a file."""
    try:
        Parameters.model_validate({k: dict(v) for k, v in parameters.items()})
    except ValidationError as error:
        raise _mistake(error, "parameters", Parameters) from None


def _mistake(error: ValidationError, name: str, model: type[BaseModel] | None = None) -> UsageError:
    """Describe the first mistake in one line: its place, and what was expected."""
    errors = error.errors()  # an unknown name first: it explains why the right one is missing
    first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    loc = [str(part) for part in first["loc"]]
    if loc and loc[0] in LIMITS:
        loc = ["limits", *(loc[1:] if loc[0] == "everywhere" else loc)]
    loc = [part for part in loc if not INNER.match(part)]
    where = ".".join(loc) or "top level"
    message = first["msg"].removeprefix("Value error, ")
    what = message[0].lower() + message[1:]
    hint = None
    match first["type"]:
        case "extra_forbidden":
            what = "not known here"
            hint = _nearest_key(first["loc"], model)
        case "model_type" if loc[0] == "limits":
            what = "a limit is a table"
            hint = "{ min = 5 } or { max = 0.8 }"
        case "tuple_type":
            what = "not a list"
            hint = '["age", "zip"]'
        case "model_type" | "dict_type":
            what = "not a table"
    return UsageError(f"{name}: {where}: {what}", hint=hint)


def _nearest_key(loc: tuple[Any, ...], model: type[BaseModel] | None = None) -> str:
    """Suggest a known key in place of the last part of `loc`."""
    model = model or Policy
    for part in loc[:-1]:
        inner = getattr(model.model_fields.get(str(part)), "annotation", None)
        kinds = (inner, *getattr(inner, "__args__", ()))
        model = next(
            (k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), MeasureLimit
        )
    known = list(model.model_fields)
    if model is Policy:  # a file has all limits in one table
        known = [*(k for k in known if k not in LIMITS), "limits"]
    return nearest(str(loc[-1]), known) or f"one of {', '.join(known)}"
