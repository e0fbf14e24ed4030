"""The levels of a hierarchy: by name, with labels that are made up, and as a button sends them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sievert.errors import SievertError, require
from sievert.hierarchies import ROOT, describe_level, is_made_from_data, to_hierarchy
from sievert.hierarchies.specifications import UNITS
from sievert.report.texts import Texts

MOST_DIGITS = 3
MADE_NUMBERS = (0.7, 1.7)  # times the width of a band
MADE_CODE = "0123456789"
SHORT = {  # of a kind, the text beside a step
    "interval": "bands",
    "quantile": "quantiles",
    "prefix": "prefix",
    "order": "neighbours",
    "top": "largest",
}


@dataclass(frozen=True, kw_only=True)
class LevelName:
    """One level of a column: its number, a word for a button, a sentence, how many labels."""

    level: int
    short: str
    words: str
    labels: int
    example: str = ""


def level_names(texts: Texts, proposal: Mapping[str, Any]) -> list[LevelName]:
    """Every level of a column from its entry in the JSON of `hierarchies`, the exact one first."""
    spec = str(proposal["hierarchy"])
    counts = list(proposal["labels"])
    words = texts("workbench.levels.exact")
    names = [LevelName(level=0, short=words, words=words, labels=int(proposal["distinct"]))]
    for level, labels in enumerate(counts, 1):
        if labels == 1 and level == len(counts):
            words = texts("workbench.levels.gone")
            names.append(LevelName(level=level, short=words, words=words, labels=1, example=ROOT))
            continue
        how = texts.remark(describe_level(spec, level, len(counts), int(labels)))
        short = _short(texts, spec, level, len(counts))
        names.append(
            LevelName(
                level=level,
                short=short,
                words=how,
                labels=int(labels),
                example=made_labels(proposal, level),
            )
        )
    return names


def _short(texts: Texts, spec: str, level: int, height: int) -> str:
    """A word or two: of bands their width."""
    kind, _, rest = spec.partition(":")
    steps = (
        rest.partition("/")[0].split(",")
        if rest
        else [str(height - at) for at in range(1, height + 1)]
    )
    if kind == "date" and level <= len(steps):
        unit = steps[level - 1]
        return texts.remark(UNITS.get(unit, unit))
    if kind not in SHORT or level > len(steps):
        return texts("workbench.levels.level", level=level)
    return texts(f"workbench.levels.{SHORT[kind]}", step=steps[level - 1])


def made_labels(proposal: Mapping[str, Any], level: int) -> str:
    """Labels of one level as a release would have them, of values that are made up.

    >>> made_labels({"hierarchy": "interval:5,10", "fixed": "interval:5,10"}, 2)
    '[0, 10) [10, 20)'
    >>> made_labels({"hierarchy": "prefix", "fixed": "prefix:4,3,2,1,0/5"}, 2)
    '012**'
    """
    fixed = proposal.get("fixed")
    given = proposal["hierarchy"]
    if not isinstance(fixed, str) or is_made_from_data(given):
        return ""
    kind, _, rest = fixed.partition(":")
    steps = rest.partition("/")[0].split(",")
    try:
        values = _made_values(kind, rest, steps[min(level, len(steps)) - 1])
        tree = to_hierarchy(fixed, dict.fromkeys(values, 1)) if values else None
        return "" if tree is None else " ".join(dict.fromkeys(tree.at(v, level) for v in values))
    except (SievertError, ValueError, LookupError):  # a kind whose values cannot be made up
        return ""


def _made_values(kind: str, rest: str, step: str) -> tuple[str, ...]:
    if kind == "interval":
        return tuple(f"{float(step) * times:.12g}" for times in MADE_NUMBERS)
    if kind == "prefix":
        width = rest.partition("/")[2]
        return ((MADE_CODE * 10)[: int(width)],) if width else ()
    return ()  # a year that is made up would look like one of the data


def level_of(proposal: Mapping[str, Any], how: str) -> int | None:
    """The level that is described so in the JSON of `explain` and `assess`.

    >>> level_of({"hierarchy": "interval:5,10", "labels": [9, 5, 1]}, "in bands of 10")
    2
    >>> level_of({"hierarchy": "interval:5,10", "labels": [9, 5, 1]}, "left out")
    3
    """
    spec = proposal["hierarchy"]
    height = len(proposal["labels"])
    if how == "left out":
        return height or None
    described = (
        (level, describe_level(spec, level, height, labels + more))
        for more in (0, 1)  # missing may be a label, too
        for level, labels in enumerate(proposal["labels"], 1)
    )
    return next((level for level, words in described if words == how), None)


def levels_text(levels: Mapping[str, Any]) -> str:
    """The level of each column as the value of a button.

    >>> levels_text({"age": 5})
    '{"age": "5"}'
    """
    return json.dumps({column: str(level) for column, level in levels.items()}, ensure_ascii=False)


def read_levels(text: str) -> dict[str, str]:
    """What the value of a button says.

    >>> read_levels('{"age": "5"}')
    {'age': '5'}
    """
    try:
        levels = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        levels = None
    require(isinstance(levels, dict), "the levels of a release were not understood")
    return check_levels(levels)


def check_levels(levels: Mapping[str, Any]) -> dict[str, str]:
    """The same levels, if each is a whole number."""
    whole = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}").fullmatch
    known = all(isinstance(level, str) and whole(level) for level in levels.values())
    require(known, "a level is a whole number from 0", hint="age=2")
    return {column: str(int(level)) for column, level in levels.items()}
