"""The public benchmark: releases of open tables, scored by every measure and attack.

    python -m bench.releases --data FOLDER --out FOLDER [--list FILE]

`bench/releases.toml` lists originals and their releases; paths in it are below --data. Written are
`results.json` (every number, sorted, without a date), and `index.html` and `index.md` (tables and
the map of risk and loss of each original). No value of the data is in them. What could not be
computed stands there with its reason. `python -m bench releases` takes the data from the folder
that SIEVERT_REFERENCE names.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import sievert
from bench.common import RESULTS, BenchError, Options, Result
from bench.releases_page import write_pages
from sievert.formatting import list_names

LIST = Path(__file__).with_suffix(".toml")
VERSION = 1  # of the list and of results.json
TINY = 1e-12  # below it a number is what rounding left of 0
DIGITS = 10  # significant ones that are written: the last ones differ from machine to machine
NO_PEOPLE = "the rows are synthetic: they stand for no people whose classes could be counted"
NOT_PAIRED = "no row is known to be that of a person of the original"
PAIRED = "the rows are paired with the original: compared record by record instead"
NO_CONTROL = "no control group"
RECODED = "the values are recoded: no row could equal one of the original, and 0 would say nothing"

Data = Mapping[str, Any]
Numbers = dict[str, Any]

NEEDED = {"name": str, "file": str, "source": str, "licence": str}
ORIGINAL = {
    **NEEDED,
    "quasi": list,
    "sensitive": list,
    "ignored": dict,
    "hierarchies": dict,
    "split": list,
    "control": str,
    "release": list,
}
RELEASE = {**NEEDED, "kind": str, "key": str}


# -- the list -------------------------------------------------------------------------------------


def read_list(path: Path) -> dict[str, Any]:
    """The list of originals and releases; a mistake in it is one line."""
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BenchError(f"{path.name}: {error}") from error
    if listed.get("version") != VERSION:
        raise BenchError(f"{path.name}: version = {VERSION} is the one that is read here")
    _check(listed, {"version": int, "limits": dict, "original": list}, ["original"], path.name)
    for original in listed["original"]:
        _check(original, ORIGINAL, [*NEEDED, "quasi", "release"])
        split = original.get("split", [[], []])
        if [type(half) for half in split] != [list, list]:
            raise BenchError(f"{original['name']}: split is two lists of columns")
        for release in original["release"]:
            _check(release, RELEASE, [*NEEDED, "kind"])
            if release["kind"] not in STEPS:
                raise BenchError(f"{release['name']}: kind is one of {', '.join(STEPS)}")
    for every in (listed["original"], *(original["release"] for original in listed["original"])):
        names = [each["name"] for each in every]
        if len({*names}) < len(names):
            raise BenchError(f"{path.name}: a name is given twice")
    return listed


def _check(
    entry: Any, fields: Mapping[str, type], needed: Sequence[str], name: str = "an entry"
) -> None:
    """Every field is known, of its type, and there if it is needed."""
    if not isinstance(entry, dict):
        raise BenchError("originals and releases are tables: [[original]], [[original.release]]")
    name = entry.get("name", name)
    if lacking := [field for field in needed if field not in entry]:
        raise BenchError(f"{name} lacks {', '.join(lacking)}")
    for field, value in entry.items():
        if field not in fields:
            raise BenchError(f"{name}: {field} is none of {', '.join(fields)}")
        if not isinstance(value, fields[field]):
            raise BenchError(f"{name}: {field} is no {fields[field].__name__}")


# -- scores ---------------------------------------------------------------------------------------


def plain_numbers(tree: Data) -> Numbers:
    """Every number of a result by name, however deep, or why there is none: no text, no row.

    >>> plain_numbers({"k": {"value": 2, "unit": "records", "reason": None}, "reading": "..."})
    {'k': 2}
    """
    numbers: Numbers = {}
    for name, each in tree.items():
        if isinstance(each, Mapping) and "value" in each and "reason" in each:
            value = each["value"]
            numbers[name] = {"reason": each["reason"]} if value is None else value
        elif isinstance(each, Mapping):
            if inner := plain_numbers(each):
                numbers[name] = inner
        elif name == "interval" or (isinstance(each, int | float) and not isinstance(each, bool)):
            numbers[name] = each
    return numbers


def _policy(listed: Data, original: Data, *, synthetic: bool) -> dict[str, Any]:
    """The roles of an original with the limits of the list; without a control, those on rates."""
    roles = {key: original[key] for key in ("quasi", "sensitive", "ignored") if key in original}
    limits = listed.get("limits", {}).get("synthetic" if synthetic else "people", {})
    if synthetic and "control" not in original:
        rates = {a: {n: b for n, b in own.items() if n == "rate"} for a, own in limits.items()}
        limits = {attack: own for attack, own in rates.items() if own}
    policy = {"synthetic": limits} if synthetic else limits
    return {"roles": {**roles, "rows_are_people": True}, "limits": policy}


def _roles(original: Data) -> dict[str, Any]:
    return {key: original.get(key, []) for key in ("quasi", "sensitive")}


class Scoring:
    """One release: what each command says of it, and what none could say."""

    def __init__(self, listed: Data, original: Data, release: Data, data: Path) -> None:
        self.listed, self.original, self.release, self.data = listed, original, release, data
        self.before, self.after = data / original["file"], data / release["file"]
        self.result: Numbers = {"numbers": {}, "not_computed": {}, "verdict": None, "reasons": []}
        self.numbers: Numbers = self.result["numbers"]

    @property
    def trees(self) -> dict[str, str]:
        """The hierarchies of the original, as files."""
        return {c: str(self.data / f) for c, f in self.original.get("hierarchies", {}).items()}

    def skip(self, steps: Iterable[str], reason: str) -> None:
        """Note why these were not computed."""
        for step in steps:
            self.result["not_computed"][step] = reason.replace(f"{self.data}{os.sep}", "")

    def judge(self, policy: Data | None) -> None:
        """Keep the verdict of the policy, and why."""
        if policy is not None:
            words = {True: "met", False: "breached", None: "undecided"}
            limits = [v["measure"] for v in policy["limits"] if not v["met"]]
            others = [r["what"] for r in policy["reasons"] if not r["met"]]
            self.result |= {"verdict": words[policy["met"]], "reasons": [*limits, *others]}

    def assess(self) -> None:
        """Every measure of the release by itself."""
        policy = _policy(self.listed, self.original, synthetic=False)
        done = sievert.assess(self.after, policy=policy, hierarchies=self.trees, quick=True)
        whole = done.to_dict()
        self.numbers["rows"] = whole["table"]["rows"]
        self.numbers["measures"] = plain_numbers(whole["reidentification"])
        self.numbers["secrets"] = plain_numbers(whole["inference"])
        self.judge(whole.get("policy"))

    def compare(self) -> None:
        """Bits disclosed and lost, and every other loss, against the original."""
        whole = sievert.compare(
            self.before,
            {"release": self.after},
            **_roles(self.original),
            key=self.release.get("key"),
            hierarchies=self.trees,
        ).to_dict()["releases"][0]
        parts = ("identity_disclosure", "attribute_disclosure", "information_loss", "losses")
        self.numbers |= {part: plain_numbers(whole[part]) for part in parts}

    def attack(self) -> None:
        """Every attack; with the original where rows are paired, and by Bayes' rule."""
        options = {**_roles(self.original), "hierarchies": self.trees}
        if self.release["kind"] == "paired":
            options |= {"original": self.before, "key": self.release.get("key")}
        try:
            done = sievert.attack(self.after, **options, reasoning=True)
        except sievert.SievertError as error:
            self.skip(["reasoning"], error.what)
            done = sievert.attack(self.after, **options)
        self.numbers["attacks"] = plain_numbers(done.to_dict()["attacks"])

    def synthetic(self) -> None:
        """Every attack on rows that are not paired, and what they have lost."""
        judged = self.release["kind"] == "synthetic"
        policy = _policy(self.listed, self.original, synthetic=True)
        control, split = self.original.get("control"), self.original.get("split")
        whole = sievert.synthetic(
            self.before,
            self.after,
            None if control is None else self.data / control,
            policy=policy if judged else {**policy, "limits": {}},
            split=None if split is None else (split[0], split[1]),
        ).to_dict()["synthetic"][0]
        self.numbers["rows"] = whole["rows"]
        self.numbers["columns"] = len(whole["columns"])
        self.numbers["synthetic"] = plain_numbers(whole["attacks"])
        self.numbers["utility"] = plain_numbers(whole["utility"])
        if judged:
            self.judge(whole.get("policy"))
            if control is None and self.result["verdict"] == "met":
                self.result |= {"verdict": "undecided", "reasons": [NO_CONTROL]}

    def run(self) -> Numbers:
        """Every step that the kind of release has; a refusal is a reason.

        What cannot be assessed, such as a release that lacks a quasi-identifier, is not compared
        either: the column may be there under another name, and the bits would be too few.
        """
        kind = self.release["kind"]
        for step, action in ACTIONS.items():
            if step not in STEPS[kind]:
                self.skip([step], WHY_NOT[kind, step])
                continue
            if "assess" in STEPS[kind] and "assess" in self.result["not_computed"]:
                self.skip([step], self.result["not_computed"]["assess"])
                continue
            try:
                action(self)
            except sievert.SievertError as error:
                self.skip([step], error.what)
        return self.result


ACTIONS: dict[str, Callable[[Scoring], None]] = {
    "assess": Scoring.assess,
    "compare": Scoring.compare,
    "attack": Scoring.attack,
    "synthetic": Scoring.synthetic,
}
STEPS = {
    "paired": ("assess", "compare", "attack"),
    "recoded": ("assess", "attack"),
    "sample": ("assess", "attack", "synthetic"),
    "synthetic": ("synthetic",),
}
WHY_NOT = {
    ("paired", "synthetic"): PAIRED,
    ("recoded", "compare"): NOT_PAIRED,
    ("recoded", "synthetic"): RECODED,
    ("sample", "compare"): NOT_PAIRED,
    ("synthetic", "assess"): NO_PEOPLE,
    ("synthetic", "attack"): NO_PEOPLE,
    ("synthetic", "compare"): NOT_PAIRED,
}


def score(listed: Data, data: Path, say: Callable[[str], None] = print) -> Result:
    """Every release of the list, by original."""
    if not data.is_dir():
        raise BenchError("--data names no folder")
    if lacking := [file for file in _files(listed) if not (data / file).is_file()]:
        raise BenchError(f"not below --data: {list_names(lacking, 3)}")
    originals = []
    for original in listed["original"]:
        releases = []
        for release in original["release"]:
            say(f"{original['name']}: {release['name']}")
            about = {key: release[key] for key in (*NEEDED, "kind")}
            done = Scoring(listed, original, release, data).run()
            releases.append({**about, "sha256": _digest(data / release["file"]), **done})
        about = {key: original[key] for key in ORIGINAL if key in original and key != "release"}
        digest = _digest(data / original["file"])
        originals.append({**about, "sha256": digest, "releases": releases})
    whole = {
        "version": VERSION,
        "sievert": sievert.__version__,
        "limits": listed.get("limits", {}),
        "originals": originals,
    }
    rounded: Result = _round(whole)
    return rounded


def _files(listed: Data) -> Iterator[str]:
    """Every file that the list names, once."""
    files: dict[str, None] = {}
    for original in listed["original"]:
        own = [original["file"], *original.get("hierarchies", {}).values()]
        own += [original["control"]] if "control" in original else []
        files |= dict.fromkeys([*own, *(release["file"] for release in original["release"])])
    yield from files


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _round(tree: Any) -> Any:
    if isinstance(tree, float):
        return 0.0 if abs(tree) < TINY else float(f"{tree:.{DIGITS}g}")
    if isinstance(tree, Mapping):
        return {name: _round(each) for name, each in tree.items()}
    return [_round(each) for each in tree] if isinstance(tree, list | tuple) else tree


# -- commands -------------------------------------------------------------------------------------


def write(result: Result, out: Path) -> None:
    """The numbers, and the pages made of them."""
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    (out / "results.json").write_text(text + "\n", encoding="utf-8")
    write_pages(result, out)


def run(options: Options) -> Result:
    """Score the list on the data that SIEVERT_REFERENCE names."""
    folder = os.environ.get("SIEVERT_REFERENCE")
    if not folder:
        raise BenchError("set SIEVERT_REFERENCE, or python -m bench.releases --data FOLDER")
    listed = read_list(LIST)
    if options.quick:  # the small ones
        listed["original"] = [o for o in listed["original"] if len(o["release"]) == 1]
    result = score(listed, Path(folder) / "data")
    write(result, RESULTS / "releases")
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Score a list and write its pages; exit code 1 with one line if that is not possible."""
    parser = argparse.ArgumentParser(prog="python -m bench.releases", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--data", type=Path, required=True, help="the folder that has the files")
    parser.add_argument("--out", type=Path, required=True, help="where the pages are written")
    parser.add_argument("--list", type=Path, default=LIST, help="the list, in TOML")
    given = parser.parse_args(arguments)
    try:
        write(score(read_list(given.list), given.data), given.out)
    except BenchError as error:
        print(f"releases: {error}", file=sys.stderr)
        return 1
    print(f"results.json, index.html and index.md are in {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
