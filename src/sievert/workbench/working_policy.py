"""The policy of the session: a file as it is, or one with the roles and limits chosen here.

A policy that differs from its file is written to the private directory under the digest of its
text, so that the same choices give the same command line.
"""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from sievert.errors import UsageError, require
from sievert.formatting.toml import toml_document
from sievert.policy import parse_policy, read_tables
from sievert.workbench.choices import Choices, Setting

HERE = Path(__file__).parent
EXAMPLE = "example:"  # begins the name of a bundled policy
OWN_NAME = "policy.toml"
LISTS = ("quasi", "sensitive", "identifier", "dropped")
UNKNOWABLE = "outsiders_cannot_know"
SINGLE = ("person", "household", "weight")


def examples() -> dict[str, Path]:
    """The policies that come with the package, by name: those of examples/policies."""
    return {path.stem: path for path in sorted((HERE / "policies").glob("*.toml"))}


def policy_source(name: str) -> Path:
    """The file of a policy: one of ours, or the user's."""
    if not name.startswith(EXAMPLE):
        return Path(name)
    known = examples()
    example = name.removeprefix(EXAMPLE)
    require(example in known, f"no example is called {example!r}", hint=", ".join(known))
    return known[example]


def source_tables(name: str) -> dict[str, Any]:
    """The tables of a policy file as they stand there, read again where it has changed."""
    if not name:
        return {}
    path = policy_source(name)
    try:
        stamp = path.stat().st_mtime_ns
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", "not the name of a file")
        raise UsageError(f"{path.name}: {why}") from None
    return _tables(str(path), stamp)


@lru_cache(maxsize=32)
def _tables(path: str, _stamp: int) -> dict[str, Any]:
    tables = read_tables(path)[1]
    parse_policy(tables, Path(path).name)
    return tables


def role_table(choices: Choices) -> dict[str, Any]:
    """[roles] as chosen."""
    roles: dict[str, Any] = {
        **{role: list(choices.texts("roles", role)) for role in LISTS},
        **{role: choices.text("roles", role) for role in SINGLE},
        "ignored": dict(choices.mapping("roles", "ignored")),
        "kept": _kept_table(choices),
        "distinct_spellings": list(choices.texts("roles", "distinct_spellings")),
        "rows_are_people": bool(choices.text("roles", "rows_are_people")),
    }
    return {role: said for role, said in roles.items() if said}


def _kept_table(choices: Choices) -> dict[str, Any]:
    """[roles.kept] as chosen: the reason of each column, and whether outsiders cannot know it."""
    unknowable = choices.texts("roles", "unknowable")
    return {
        column: {"reason": reason, UNKNOWABLE: True} if column in unknowable else reason
        for column, reason in choices.mapping("roles", "kept").items()
    }


def role_settings(roles: Mapping[str, Any]) -> dict[str, Setting]:
    """[roles] of a policy file as settings."""
    kept = {
        column: entry if isinstance(entry, dict) else {"reason": entry}
        for column, entry in roles.get("kept", {}).items()
    }
    return {
        **{role: tuple(roles.get(role, ())) for role in LISTS},
        **{role: roles.get(role, "") for role in SINGLE},
        "ignored": dict(roles.get("ignored", {})),
        "kept": {column: entry["reason"] for column, entry in kept.items()},
        "unknowable": tuple(column for column, entry in kept.items() if entry.get(UNKNOWABLE)),
        "distinct_spellings": tuple(roles.get("distinct_spellings", ())),
        "rows_are_people": "yes" if roles.get("rows_are_people") else "",
    }


def with_roles(choices: Choices) -> Choices:
    """The choices, with the roles of the policy file where none were chosen."""
    if role_table(choices):
        return choices
    roles = source_tables(choices.text("policy", "file")).get("roles", {})
    return choices.put("roles", **role_settings(roles))


def policy_tables(choices: Choices) -> dict[str, Any] | None:
    """The whole policy: its file, with the roles and the limits of the session; None without."""
    name = choices.text("policy", "file")
    limits = choices.mapping("policy", "limits")
    if not name and not limits:
        return None
    tables = dict(source_tables(name))
    roles = role_table(choices)
    if roles:
        tables = {"roles": roles} | {k: v for k, v in tables.items() if k != "roles"}
    codes = choices.texts("load", "na")
    if codes and (not name or name.startswith(EXAMPLE)):  # a file of the user's says itself which
        tables["reading"] = {"na": [*codes]}
    if choices.text("policy", "edited"):
        tables["limits"] = limit_tables(limits)
    return tables


def limit_tables(limits: Mapping[str, str]) -> dict[str, Any]:
    """[limits] of "reidentification/k_anonymity" = ">= 5": the places, measures and sides."""
    tables: dict[str, Any] = {}
    for key, text in limits.items():
        table = tables
        chapter, _, rest = key.partition("/")
        secret, _, measure = rest.rpartition("/")  # a column's name may have a stroke in it
        for part in (chapter if rest else "", secret):
            table = table.setdefault(part, {}) if part else table
        measure = measure or chapter
        table[measure] = {
            {">=": "min", "<=": "max"}[side]: _number(bound)
            for side, bound in (each.split() for each in text.split(","))
        }
    return tables


def _number(text: str) -> float:
    value = float(text)
    return int(value) if value.is_integer() else value


def limit_texts(tables: Mapping[str, Any]) -> dict[str, str]:
    """The limits of a policy's tables as settings, the other way round."""
    texts: dict[str, str] = {}
    for key, entry in tables.items():
        if {"min", "max"} & set(entry):
            sides = ((">=", entry.get("min")), ("<=", entry.get("max")))
            texts[key] = ",".join(f"{side} {bound!r}" for side, bound in sides if bound is not None)
        else:
            texts |= {f"{key}/{inner}": text for inner, text in limit_texts(entry).items()}
    return texts


def named_policy(choices: Choices) -> str | None:
    """What stands behind --policy: the user's file, or one in the private directory."""
    policy = _composed(choices)
    if policy is None:
        return None
    name, text = policy
    if text is None:
        return name
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"workbench:{digest}/{name}"


def _composed(choices: Choices) -> tuple[str, str | None] | None:
    """The name and, if it differs from its file, the text of the policy."""
    tables = policy_tables(choices)
    if tables is None:
        return None
    name = choices.text("policy", "file")
    if name and not name.startswith(EXAMPLE) and tables == source_tables(name):
        return name, None
    return policy_name(choices), toml_document(tables)


def policy_name(choices: Choices) -> str:
    """What the file of the policy is called; empty where there is none."""
    name = choices.text("policy", "file")
    if name.startswith(EXAMPLE):
        return f"{name.removeprefix(EXAMPLE)}.toml"
    return Path(name).name or (OWN_NAME if choices.text("policy", "edited") else "")


def policy_text(choices: Choices) -> str:
    """The policy as TOML; empty where there is none."""
    tables = policy_tables(choices)
    return "" if tables is None else toml_document(tables)


def write_policy(choices: Choices, folder: Path) -> None:
    """Write the policy to the private directory, unless it is the user's file."""
    policy = _composed(choices)
    if policy is None or policy[1] is None:
        return
    path = folder / str(named_policy(choices)).removeprefix("workbench:")
    if not path.exists():
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text(policy[1], encoding="utf-8")
        path.chmod(0o600)
