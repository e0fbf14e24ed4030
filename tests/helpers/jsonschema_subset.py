"""The part of JSON Schema that our schema uses, in a few lines; any other word is an error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "null": (type(None),),
    "boolean": (bool,), "integer": (int,), "number": (int, float),
}  # fmt: skip
ABOUT = {"$schema", "$id", "$defs", "title", "description"}


def is_of_type(value: Any, name: str) -> bool:
    if isinstance(value, bool) and name != "boolean":
        return False
    return isinstance(value, TYPES[name])


def faults(
    value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], at: str = ""
) -> list[str]:
    """Where a value is not as the schema says."""
    return list(_faults(value, schema, root, at))


def _faults(
    value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], at: str
) -> Iterator[str]:
    for word, rule in schema.items():
        match word:
            case _ if word in ABOUT:
                continue
            case "$ref":
                target = root["$defs"][rule.removeprefix("#/$defs/")]
                yield from _faults(value, target, root, at)
            case "anyOf":
                tried = [faults(value, each, root, at) for each in rule]
                if all(tried):
                    yield from min(tried, key=len)
            case "type":
                names = [rule] if isinstance(rule, str) else rule
                if not any(is_of_type(value, name) for name in names):
                    yield f"{at}: {type(value).__name__} instead of {' or '.join(names)}"
            case "enum":
                if value not in rule:
                    yield f"{at}: {value!r}"
            case "pattern":
                if isinstance(value, str) and not re.search(rule, value):
                    yield f"{at}: {value!r}"
            case "minimum" | "maximum":
                sign = 1 if word == "minimum" else -1
                if is_of_type(value, "number") and sign * value < sign * rule:
                    yield f"{at}: {value}"
            case "required":
                if isinstance(value, dict):
                    yield from (f"{at}.{name}: missing" for name in rule if name not in value)
            case "properties":
                for name, each in rule.items():
                    if isinstance(value, dict) and name in value:
                        yield from _faults(value[name], each, root, f"{at}.{name}")
            case "additionalProperties":
                for name in value if isinstance(value, dict) else ():
                    if name not in schema.get("properties", {}):
                        yield from _faults(value[name], rule, root, f"{at}.{name}")
            case "items":
                for i, each in enumerate(value if isinstance(value, list) else ()):
                    yield from _faults(each, rule, root, f"{at}[{i}]")
            case _:
                raise AssertionError(f"{word}: not known to this check")
