"""Count states on disk: private, whole whatever happens, and refused where they do not fit."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pyarrow as pa
import pytest
from helpers.commandline import run_process
from pyarrow import parquet

import sievert
from sievert import session
from sievert.counts.state.segments import Sum
from sievert.errors import InputError, RefusedError, SievertError, UsageError
from sievert.numerics import machine
from sievert.sharing import shareable
from sievert.sources.state_manifest import MANIFEST, file_sha256

TABLE = {
    "zip": ["1", "1", "2", "2", "*"],
    "age": [30, 31, 30, 31, 30],
    "ill": ["flu", "flu", "hiv", None, "flu"],
    "city": ["a", "b", "c", "d", "e"],
}
ONE = {"zip": ["1"], "age": [30], "ill": ["flu"], "city": ["a"]}
ROLES = ["zip", "age"], ["ill"]
LEFT_OUT = ["city", "patient_id"]
POLICY = {"roles": {"quasi": ["zip"], "sensitive": ["ill"]}, "limits": {"k_anonymity": {"min": 1}}}
OF_TWO = {**POLICY, "limits": {"k_anonymity": {"min": 2}}}


def stable(result: Any) -> str:
    return json.dumps(result.to_dict(), sort_keys=True)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    sievert.count(TABLE, *ROLES, out=tmp_path / "state")
    return tmp_path / "state"


def test_a_state_is_private_and_marked(state: Path) -> None:
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in state.iterdir()} == {0o600}
    content = json.loads((state / MANIFEST).read_text())
    assert content["marking"].startswith("as sensitive as the data")
    assert content["records"] == 5 and content["state"] == 3
    assert "hiv" not in (state / MANIFEST).read_text()


def test_the_roles_are_those_of_the_state_unless_given(state: Path) -> None:
    assert stable(sievert.assess(state)) == stable(sievert.assess(TABLE, *ROLES))
    sets = [["zip"], ["age", "ill"]]
    assert stable(sievert.assess(state, key_sets=sets, sensitive="ill")) == stable(
        sievert.assess(TABLE, key_sets=sets, sensitive="ill")
    )


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda s: sievert.assess(s, ["city"]), "column 'city' is not in the state"),
        (lambda s: sievert.assess(s, ["zip"], person="city"), "'city' is not in the state"),
        (lambda s: sievert.assess(s, *ROLES, ["city"]), "'city' is not in the state"),
        (lambda s: sievert.assess(s, *ROLES, weight="city"), "'city' is not in the state"),
        (lambda s: sievert.assess(s, ["nothing"]), "'nothing' does not exist"),
        (lambda s: sievert.assess(s, records=s.parent / "r.csv"), "--records needs the records"),
        (lambda s: sievert.assess(s, na=["1"]), "counted with another --na"),
        (lambda s: sievert.assess(s, types={"age": "text"}), "counted with another --type"),
        (lambda s: sievert.assess(s, engine="spark"), "the engine spark does not read a state"),
        (lambda s: sievert.explain(s, ["zip"]), "'city' is not in the state"),
        (lambda s: sievert.compare(s, [TABLE], *ROLES), "a count state stands where"),
        (lambda s: sievert.compare(TABLE, [s], *ROLES), "a count state stands where"),
        (lambda s: sievert.attack(s, quasi="zip"), "a count state stands where"),
        (lambda s: sievert.assess(TABLE, *ROLES, population=s), "a count state stands where"),
        (lambda s: sievert.count(s, *ROLES, out=s.parent / "new"), "a count state stands where"),
        (lambda s: sievert.update(s, add=s), "a count state stands where"),
        (lambda s: sievert.sketch(s, "zip"), "a count state stands where"),
        (lambda s: sievert.propose_hierarchies(s, "zip"), "a count state stands where"),
        (lambda s: sievert.add_to_ledger(s.parent / "l", s, "zip", person="age"), "a count state"),
        (lambda s: sievert.protect(TABLE, policy=OF_TWO, earlier=s, key="age"), "a count state"),
        (lambda s: sievert.protect(TABLE, policy=POLICY, frontier=True, beside=s), "a count state"),
        (lambda s: sievert.update(s), "nothing to add or to remove"),
        (lambda s: sievert.merge([s], out=s.parent / "new"), "two states or more"),
    ],
)
def test_what_a_state_cannot_answer(use: Callable[[Path], Any], message: str, state: Path) -> None:
    with pytest.raises(SievertError, match=message):
        use(state)
    assert sorted(path.name for path in state.parent.iterdir()) == ["state"]


@pytest.mark.parametrize("options", [{"out": "release.csv"}, {"how": "local"}])
def test_a_release_needs_the_table(options: dict[str, Any], state: Path) -> None:
    policy = {"limits": {"k_anonymity": {"min": 1}}}
    if "out" in options:
        options = {"out": state.parent / options["out"]}
    with pytest.raises(UsageError, match="a count state has no records"):
        sievert.protect(state, *ROLES, policy=policy, keep_suppressed=True, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({**ONE, "more": ["x"]}, "other columns.* than the state"),
        ({c: v for c, v in ONE.items() if c != "city"}, "other columns.* than the state"),
        ({**ONE, "age": ["30"]}, "other counted columns, or types of them"),
    ],
)
def test_a_change_of_other_columns(change: Any, message: str, state: Path) -> None:
    before = stable(sievert.assess(state))
    with pytest.raises(InputError, match=message):
        sievert.update(state, add=change)
    assert stable(sievert.assess(state)) == before


def test_what_is_not_there_is_not_removed(state: Path) -> None:
    """The number is said, no value is."""
    before = {path.name: path.read_bytes() for path in state.iterdir()}
    gone = {"zip": ["1"] * 3, "age": [30] * 3, "ill": ["flu"] * 3, "city": ["a"] * 3}
    with pytest.raises(RefusedError, match=r"^2 records to take away, but not there") as refused:
        sievert.update(state, remove=gone)
    assert "flu" not in str(refused.value)
    assert {path.name: path.read_bytes() for path in state.iterdir()} == before
    assert sievert.update(state, add=gone, remove=gone).records == 5
    assert stable(sievert.assess(state)) == stable(sievert.assess(TABLE, *ROLES))


def test_everything_may_be_removed(state: Path) -> None:
    assert sievert.update(state, remove=TABLE).records == 0
    with pytest.raises(InputError, match="0 records"):
        sievert.assess(state)
    sievert.update(state, add=TABLE)
    assert stable(sievert.assess(state)) == stable(sievert.assess(TABLE, *ROLES))


def test_states_of_other_schemas_do_not_add_up(state: Path) -> None:
    other = state.parent / "other"
    sievert.count(TABLE, ["zip"], ["ill"], out=other)
    with pytest.raises(InputError, match="other: other counted columns"):
        sievert.merge([state, other], out=state.parent / "sum")


def test_identifiers_do_not_add_up(tmp_path: Path) -> None:
    table = {**TABLE, "patient_id": ["1", "1", "2", "3", None]}
    whole = sievert.assess(table, *ROLES)
    assert any("share the identifier" in remark for remark in whole.cautions)
    sievert.count(table, *ROLES, out=tmp_path / "state")
    assert stable(sievert.assess(tmp_path / "state")) == stable(whole)
    with pytest.raises(UsageError, match="patient_id"):
        sievert.update(tmp_path / "state", add=table)
    sievert.count(table, *ROLES, leave_out="patient_id", out=tmp_path / "less")
    sievert.update(tmp_path / "less", add=table, remove=table, again=True)
    assert sievert.assess(tmp_path / "less").cautions == whole.cautions


def verdict(data: Any, **more: Any) -> tuple[bool | None, list[str], list[str]]:
    """Whether a policy is met, for which reasons it is not, and the cautions on identifiers."""
    roles = {"quasi": ["zip", "age"], "sensitive": ["ill"], "identifier": LEFT_OUT, **more}
    limits = {"reidentification": {"k_anonymity": {"min": 1}}}
    result = sievert.assess(data, policy={"roles": roles, "limits": limits}, planned=True)
    policy = result.to_dict()["policy"]
    cautions = [remark.partition(":")[0] for remark in result.cautions if "identifier" in remark]
    return policy["planned_met"], [reason["what"] for reason in policy["reasons"]], cautions


@pytest.mark.parametrize("column", LEFT_OUT)  # named so, or called like one
def test_an_identifier_that_is_left_out_still_repeats(column: str, tmp_path: Path) -> None:
    shared = {**TABLE, "patient_id": ["1", "2", "3", "4", None]}
    own = {**shared, column: ["1", "2", "3", "4", "5"]}
    shared[column] = ["1", "1", "2", "3", None]
    state, both = tmp_path / "state", tmp_path / "both"
    sievert.count(shared, *ROLES, leave_out=LEFT_OUT, out=state)
    for stated in ({}, {"rows_are_people": True}):
        assert verdict(state, **stated) == verdict(shared, **stated)
    assert verdict(state)[0] is False
    gone = {c: v[:1] for c, v in shared.items()}
    assert sievert.update(state, remove=gone).records == 4
    assert verdict(state)[:2] == (False, ["identifier_repeats"])

    sievert.count(own, *ROLES, leave_out=LEFT_OUT, out=tmp_path / "own")
    assert verdict(tmp_path / "own") == (True, [], [])
    sievert.count(gone, *ROLES, leave_out=LEFT_OUT, out=tmp_path / "gone")
    sievert.merge([tmp_path / "own", tmp_path / "gone"], out=both)
    met, reasons, cautions = verdict(both)
    assert (met, reasons) == (None, ["identifier_unsure"]) and len(cautions) == 2
    assert verdict(both, rows_are_people=True) == (True, [], [])
    sievert.merge([both, state], out=tmp_path / "all", again=True)
    assert "identifier_repeats" in verdict(tmp_path / "all")[1]


def test_a_column_that_is_left_out_is_one_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By any engine: the same verdict, the same page to share, the same columns without a role."""
    table = {
        "zip": ["1", "2"] * 500,
        "ill": ["flu", "hiv", "flu", "flu"] * 250,
        "note": ["x"] * 1000,
    }
    people = {**table, "patient_id": [f"p{i // 2}" for i in range(1000)]}
    roles = {"quasi": ["zip"], "sensitive": ["ill"]}
    limits = {"reidentification": {"k_anonymity": {"min": 2}}}
    sievert.count(people, "zip", "ill", leave_out=["note", "patient_id"], out=tmp_path / "state")
    options: list[dict[str, Any]] = [
        {"quasi": "zip", "sensitive": "ill"},
        {"policy": {"roles": roles, "limits": limits}},
        {"policy": {"roles": {**roles, "identifier": ["note"]}, "limits": limits}},
        {"policy": {"roles": {**roles, "rows_are_people": True}, "limits": limits}},
    ]
    for large in (10**9, 0):
        for name in ("PACKED_FROM", "LOADING"):
            monkeypatch.setattr(session, name, large)
        for given in options:
            plan = {"planned": True} if "policy" in given else {}
            ours, theirs = (
                sievert.assess(d, **given, **plan) for d in (tmp_path / "state", people)
            )
            assert stable(ours).replace('"counts": true, ', "") == stable(theirs)
            shown = shareable(ours.to_dict())["reidentification"]
            assert bool(shown) == bool(
                given.get("policy", {"roles": {}})["roles"].get("rows_are_people")
            )
    ranked = sievert.explain(tmp_path / "state", "zip")
    assert {entry["column"] for entry in ranked.to_dict()["ranking"]} == {"ill"}
    assert any("'patient_id' is not ranked: the state leaves" in w for w in ranked.warnings)


def test_what_one_state_leaves_out_is_not_forgotten(tmp_path: Path) -> None:
    """The first state names what the others leave out; records gone without it leave it open."""
    shared = {**TABLE, "patient_id": ["1", "1", None, None, None]}
    less, whole = tmp_path / "less", tmp_path / "whole"
    sievert.count(ONE, *ROLES, out=less)
    sievert.count(shared, *ROLES, leave_out="patient_id", out=whole)
    with pytest.raises(InputError, match="whole: other columns left out than the state"):
        sievert.merge([less, whole], out=tmp_path / "sum")
    sievert.merge([whole, less], out=tmp_path / "sum")
    assert sievert.assess(tmp_path / "sum").cautions
    sievert.update(whole, remove={c: v[2:] for c, v in TABLE.items()})
    assert any("share the identifier" in remark for remark in sievert.assess(whole).cautions)


def damage(kind: str, state: Path) -> None:
    manifest, part = state / MANIFEST, state / "part-00000.parquet"
    content = json.loads(manifest.read_text())
    if kind == "bit":
        flipped = bytearray(part.read_bytes())
        flipped[len(flipped) // 3] ^= 4
        part.write_bytes(flipped)
    elif kind == "short":
        part.write_bytes(part.read_bytes()[:-10])
    elif kind == "gone":
        part.unlink()
    elif kind == "foreign":
        parquet.write_table(pa.table({"v0": ["1"], "n": [5]}), part)
    elif kind == "manifest":
        manifest.write_text(manifest.read_text()[:-40])
    elif kind == "version":
        manifest.write_text(json.dumps({**content, "state": 0}))
    elif kind == "records":
        manifest.write_text(json.dumps({**content, "records": 7}))
    elif kind == "outside":
        content["segments"][0]["file"] = "../state/part-00000.parquet"
        manifest.write_text(json.dumps(content))
    else:
        manifest.write_text("[]")


KINDS = ("bit", "short", "gone", "foreign", "manifest", "version", "records", "outside", "list")


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_state_is_refused(kind: str, state: Path) -> None:
    damage(kind, state)
    message = "format 0" if kind == "version" else "damaged"
    with pytest.raises(InputError, match=message):
        sievert.assess(state)
    with pytest.raises(InputError, match=message):
        sievert.merge([state, state], out=state.parent / "sum")
    with pytest.raises(InputError, match=message):
        sievert.update(state, remove=ONE)


def rewrite(state: Path, change: dict[str, Any], **segment: Any) -> None:
    """Change the manifest and the description of its first segment."""
    content = json.loads((state / MANIFEST).read_text()) | change
    content["segments"][0] |= segment
    (state / MANIFEST).write_text(json.dumps(content))


@pytest.mark.parametrize("compact", [False, True])
def test_a_damaged_segment_is_not_compacted(compact: bool, state: Path) -> None:
    """An update that compacts by itself, as one of a quarter of the rows does."""
    part = state / "part-00000.parquet"
    content = part.read_bytes()
    damage("bit", state)
    with pytest.raises(InputError, match="damaged"):
        sievert.update(state, add={c: v * 3 for c, v in TABLE.items()}, compact=compact)
    assert sorted(path.name for path in state.iterdir()) == ["part-00000.parquet", MANIFEST]
    part.write_bytes(content)
    assert stable(sievert.assess(state)) == stable(sievert.assess(TABLE, *ROLES))


@pytest.mark.parametrize(
    "change",
    [{"quasi": ["zip"]}, {"sensitive": []}, {"identifier": ["city"]}, {"left_out": {"x": {}}}],
)
def test_roles_of_a_manifest_are_part_of_its_digest(change: Any, state: Path) -> None:
    rewrite(state, change)
    with pytest.raises(InputError, match="the manifest is damaged"):
        sievert.assess(state)


@pytest.mark.parametrize("large", [2**62, 2**63 - 1])
def test_a_count_that_no_table_has_is_damage(large: int, state: Path) -> None:
    part = state / "part-00000.parquet"
    table = parquet.read_table(part)
    counts = pa.array([large - 4, *[1] * (table.num_rows - 1)], pa.int64())
    parquet.write_table(table.set_column(table.num_columns - 1, "n", counts), part)
    size, digest = part.stat().st_size, file_sha256(part)
    rewrite(state, {"records": large}, records=large, size=size, sha256=digest)
    with pytest.raises(InputError, match="damaged"):
        sievert.update(state, add=TABLE, compact=True)
    with pytest.raises(InputError, match="damaged"):
        sievert.merge([state, state], out=state.parent / "sum")


def test_a_failed_compaction_leaves_no_segment(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name: path.read_bytes() for path in state.iterdir()}
    write = Sum.write

    def fail(self: Sum) -> Any:
        segment = write(self)
        if self.output.name == "part-00002.parquet":
            raise OSError("no space")
        return segment

    monkeypatch.setattr(Sum, "write", fail)
    with pytest.raises(OSError, match="no space"):
        sievert.update(state, add=ONE, compact=True)
    assert {path.name: path.read_bytes() for path in state.iterdir()} == before


KILLED = """
import os, signal, sys
from pathlib import Path
import sievert
def die(self, target):
    os.kill(os.getpid(), signal.SIGKILL)
Path.replace = die
sievert.update(sys.argv[1], add={one}, compact={compact})
"""


@pytest.mark.parametrize("compact", [False, True])
def test_a_killed_update_leaves_the_old_state_whole(compact: bool, state: Path) -> None:
    before, files = stable(sievert.assess(state)), {path.name for path in state.iterdir()}
    script = KILLED.format(one=ONE, compact=compact)
    done = subprocess.run([sys.executable, "-c", script, str(state)], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    left = {path.name for path in state.iterdir()}
    assert files < left  # a segment that no manifest names
    assert stable(sievert.assess(state)) == before
    sievert.update(state, add=ONE)
    assert {path.name for path in state.iterdir()} & (left - files) <= {"part-00001.parquet"}
    both = {c: [*v, *ONE[c]] for c, v in TABLE.items()}
    assert stable(sievert.assess(state)) == stable(sievert.assess(both, *ROLES))


def test_what_was_added_already_is_refused(state: Path) -> None:
    (other := state.parent / "other").mkdir()
    parts = [{c: v[at] for c, v in TABLE.items()} for at in (slice(3), slice(3, 5))]
    for data in (TABLE, {c: v[::-1] for c, v in TABLE.items()}):
        with pytest.raises(RefusedError, match="added already"):
            sievert.update(state, add=data)
    with pytest.raises(RefusedError, match="added already"):
        sievert.update(state, add=[ONE, ONE])
    sievert.update(state, add=ONE)
    for change in ({"add": ONE}, {"add": ONE, "compact": True}):
        with pytest.raises(RefusedError, match="added already"):
            sievert.update(state, **change)
    assert sievert.update(state, add=ONE, again=True).records == 7
    sievert.update(state, remove=[ONE, ONE], compact=True)
    assert sievert.update(state, add=ONE).records == 6
    sievert.update(state, remove=ONE)
    assert stable(sievert.assess(state)) == stable(sievert.assess(TABLE, *ROLES))
    sievert.count(parts[0], *ROLES, out=other / "parts")
    sievert.update(other / "parts", add=parts[1])
    sievert.count(ONE, *ROLES, out=other / "one")
    sievert.merge([state, other / "one"], out=other / "sum")
    for names in (["parts", "../state"], ["sum", "one"], ["sum", "../state"]):
        paths = [other / name for name in names]
        with pytest.raises(RefusedError, match="added already"):
            sievert.merge(paths, out=other / "new", force=True)
        assert sievert.merge(paths, out=other / "new", again=True, force=True).records > 6
    assert sievert.merge([other / "sum", other / "one"], out=other / "less", subtract=True)
    assert (
        json.loads((other / "less" / MANIFEST).read_text())["content"]
        == (json.loads((other / "parts" / MANIFEST).read_text())["content"])
    )


def visits(number: int, seed: int) -> dict[str, list[Any]]:
    """Records of which about half have a combination of their own."""
    random = Random(f"visits {seed}")
    return {
        "zip": [str(random.randrange(5)) for _ in range(number)],
        "age": [random.randrange(20, 40) for _ in range(number)],
        "ill": [random.choice("abc") for _ in range(number)],
    }


def part(table: dict[str, list[Any]], *slices: slice) -> dict[str, list[Any]]:
    return {c: [v for each in slices for v in values[each]] for c, values in table.items()}


@pytest.mark.parametrize("given", ["dict", "frame", "csv", "csv.gz", "parquet"])
def test_records_that_are_a_part_of_those_counted_are_refused(given: str, tmp_path: Path) -> None:
    """Another file, another order, a part of the rows, or all of them and some new ones."""
    table, new = visits(200, 1), visits(200, 2)

    def place(rows: dict[str, list[Any]], name: str) -> Any:
        path = tmp_path / f"{name}.{given}"
        if given == "dict":
            return rows
        frame = pandas.DataFrame(rows)
        if given == "frame":
            return frame
        if given == "parquet":
            frame.to_parquet(path)
        else:
            frame.to_csv(path, index=False)
        return path

    sievert.count(place(table, "first"), *ROLES, out=tmp_path / "state")
    both = {c: [*v[::-1], *new[c][:10]] for c, v in table.items()}
    for at, again in enumerate((part(table, slice(99, None, -1)), both)):
        with pytest.raises(RefusedError, match=r"counted already|added already"):
            sievert.update(tmp_path / "state", add=place(again, f"other{at}"))
    assert sievert.assess(tmp_path / "state").rows == 200


RESPELT: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "blanks": lambda text: f" {text} ",
    "invisible": lambda text: f"{text}\u200b",
    "wide": lambda text: text.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
}


@pytest.mark.parametrize("way", RESPELT)
@pytest.mark.parametrize("columns", [["ill"], ["zip"], ["zip", "age", "ill"]])
def test_records_that_are_counted_already_in_another_spelling(
    columns: list[str], way: str, tmp_path: Path
) -> None:
    """A respelt secret alone would double k."""
    table = {c: [f"{c} {v}" for v in values] for c, values in visits(200, 1).items()}
    respell = RESPELT[way]
    again = {c: [respell(v) if c in columns else v for v in own] for c, own in table.items()}
    sievert.count(table, *ROLES, out=tmp_path / "state")
    with pytest.raises(RefusedError, match=r"counted already|added already"):
        sievert.update(tmp_path / "state", add=again)
    sievert.count(again, *ROLES, out=tmp_path / "again")
    with pytest.raises(RefusedError, match=r"counted already|added already"):
        sievert.merge([tmp_path / "state", tmp_path / "again"], out=tmp_path / "sum")
    new = {c: [respell(f"{c} {v}") for v in own] for c, own in visits(200, 2).items()}
    assert sievert.update(tmp_path / "state", add=new).records == 400


def coarse(records: int, seed: int) -> dict[str, list[Any]]:
    """People of whom hardly anybody is alone: a generalised table."""
    draw = Random(seed)
    return {
        "zip": [draw.choice(("1*", "2*", "3*")) for _ in range(records)],
        "age": [draw.choice(("[20, 40)", "[40, 60)", "[60, 80)")) for _ in range(records)],
        "ill": [draw.choice(("flu", "flu", "cold")) for _ in range(records)],
    }


@pytest.mark.parametrize("how", ["one more", "one less", "capitals", "month again"])
def test_a_coarse_table_that_is_counted_already_is_refused(how: str, tmp_path: Path) -> None:
    """Nobody is alone, so that no new combination is expected; k was doubled."""
    table, other = coarse(483, 1), coarse(483, 2)
    again = {c: [*v] for c, v in table.items()}
    if how == "one more":
        again = {c: [*v, other[c][0]] for c, v in table.items()}
    elif how == "one less":
        again = part(table, slice(482))
    elif how == "capitals":
        again["ill"] = [text.upper() for text in table["ill"]]
    else:
        again["ill"] = [f" {text}" for text in table["ill"]]
    sievert.count(table, *ROLES, out=tmp_path / "state")
    if "month" in how:
        sievert.update(tmp_path / "state", add=other)
    with pytest.raises(RefusedError, match=r"counted already|added already"):
        sievert.update(tmp_path / "state", add=again)
    sievert.count(again, *ROLES, out=tmp_path / "again")
    if "month" not in how:
        with pytest.raises(RefusedError, match=r"counted already|added already"):
            sievert.merge([tmp_path / "state", tmp_path / "again"], out=tmp_path / "sum")
    before = sievert.assess(tmp_path / "state").rows
    assert sievert.update(tmp_path / "state", add=again, again=True).records > before


def test_a_respelt_table_of_few_combinations_is_refused(tmp_path: Path) -> None:
    """Two combinations agree by chance; but here they agree to the last record."""
    table = {"zip": ["1"] * 40 + ["2"] * 30, "age": ["x"] * 70, "ill": ["flu"] * 70}
    sievert.count(table, *ROLES, out=tmp_path / "state")
    again = {**table, "ill": ["FLU"] * 70}
    with pytest.raises(RefusedError, match=r"counted already|added already"):
        sievert.update(tmp_path / "state", add=again)
    new = {**table, "zip": ["1"] * 41 + ["2"] * 29}  # this cannot be told from other people
    assert sievert.update(tmp_path / "state", add=new).records == 140


def test_coarse_months_of_other_people_are_added(tmp_path: Path) -> None:
    for seed in range(20):
        sievert.count(coarse(400, seed), *ROLES, out=tmp_path / "state", force=True)
        for month in range(1, 4):
            sievert.update(tmp_path / "state", add=coarse(400, 100 * month + seed))
    assert sievert.assess(tmp_path / "state").rows == 1600
    corrected = coarse(400, 19)
    corrected["ill"][0] = "gout"
    update = sievert.update(tmp_path / "state", add=corrected, remove=coarse(400, 19))
    assert update.records == 1600


def of_people(first: int, last: int, seed: int) -> dict[str, list[Any]]:
    """A visit of each of some people."""
    return {"who": [f"p{i}" for i in range(first, last)], **coarse(last - first, seed)}


@pytest.mark.parametrize("rows", [1, 5, 12, 60])
def test_rows_of_people_who_are_counted_already_are_refused(rows: int, tmp_path: Path) -> None:
    """The person is counted with each combination, so that the same row is seen again."""
    table = of_people(0, 120, 1)
    sievert.count(table, *ROLES, person="who", out=tmp_path / "state")
    new = of_people(200, 240, 2)
    again = {c: [*v[:rows], *new[c][: rows // 2]] for c, v in table.items()}
    with pytest.raises(RefusedError, match=r"counted already|added already"):
        sievert.update(tmp_path / "state", add=again)
    assert sievert.update(tmp_path / "state", add=again, again=True).added == rows + rows // 2


def test_other_visits_of_the_same_people_are_added(tmp_path: Path) -> None:
    """Of people who come several times with the same values, more such rows are expected."""
    table = of_people(0, 120, 1)
    sievert.count(table, *ROLES, person="who", out=tmp_path / "state")
    later = {**table, "ill": [f"later {text}" for text in table["ill"]]}
    assert sievert.update(tmp_path / "state", add=later).records == 240
    often = {c: [*v, *v] for c, v in table.items()}
    sievert.count(often, *ROLES, person="who", out=tmp_path / "often")
    few = part(table, slice(5))
    assert sievert.update(tmp_path / "often", add=few).records == 245


def test_other_people_of_the_same_kind_are_added(tmp_path: Path) -> None:
    """About half of them have a new combination, as half of those counted are alone."""
    table = visits(200, 1)
    for seed in range(2, 22):
        sievert.count(table, *ROLES, out=tmp_path / "state", force=True)
        assert sievert.update(tmp_path / "state", add=visits(150, seed)).records == 350


def test_a_table_that_replaces_another_one_is_added(tmp_path: Path) -> None:
    """Most records of a corrected table are those of the one that it takes the place of."""
    table, new = visits(200, 1), visits(200, 2)
    sievert.count(table, *ROLES, out=tmp_path / "state")
    old, mended = part(table, slice(100)), part(table, slice(90))
    mended = {c: [*v, *new[c][:10]] for c, v in mended.items()}
    with pytest.raises(RefusedError, match=r"counted already|added already"):
        sievert.update(tmp_path / "state", add=mended)
    assert sievert.update(tmp_path / "state", add=mended, remove=old).records == 200
    with pytest.raises(RefusedError, match=r"counted already|added already"):
        two = [part(new, slice(50, 150)), part(new, slice(60, 140))]
        sievert.update(tmp_path / "state", add=two)
    assert sievert.update(tmp_path / "state", add=part(table, slice(50)), again=True).records == 250


def test_states_that_share_records_are_not_merged(tmp_path: Path) -> None:
    table = visits(200, 1)
    for name, own in (("a", slice(0, 150)), ("b", slice(50, 200)), ("c", slice(140, 200))):
        sievert.count(part(table, own), *ROLES, out=tmp_path / name)
    paths = {name: tmp_path / name for name in "abc"}
    with pytest.raises(RefusedError, match="b: most of these records seem"):
        sievert.merge([paths["a"], paths["b"]], out=tmp_path / "sum")
    assert sievert.merge([paths["a"], paths["c"]], out=tmp_path / "sum").records == 210
    together = sievert.merge([paths["a"], paths["b"]], out=tmp_path / "both", again=True)
    assert together.records == 300


def test_one_update_at_a_time(state: Path) -> None:
    with machine.lock(state) as alone, pytest.raises(UsageError, match="another update"):
        assert alone
        sievert.update(state, add=ONE)
    sievert.update(state, add=ONE)


def test_a_state_is_not_overwritten_by_accident(state: Path) -> None:
    with pytest.raises(RefusedError, match="is there already"):
        sievert.count(TABLE, *ROLES, out=state)
    assert sievert.count(ONE, *ROLES, out=state, force=True).records == 1
    (other := state.parent / "folder").mkdir()
    (other / "mine.txt").write_text("x")
    with pytest.raises(UsageError, match="is a directory"):
        sievert.count(TABLE, *ROLES, out=other, force=True)


def test_files_keep_their_description(tmp_path: Path) -> None:
    """Blank lines, a delimiter, an encoding, digests, and records that repeat the header."""
    text = "zip;ill;n\n1;flu;1\n\nzip;ill;n\n2;NA;1\n*;flu;2\n"
    (path := tmp_path / "t.csv").write_text(text)
    options: dict[str, Any] = {"na": ("NA",)}
    sievert.count(path, "zip", "ill", out=tmp_path / "state", verify=True, **options)
    for more in ({}, {"verify": True}, {"framework": "wp216"}):
        assert stable(sievert.assess(tmp_path / "state", **more)) == stable(
            sievert.assess(path, "zip", "ill", **options, **more)
        )
    sievert.update(tmp_path / "state", add=path, again=True)
    with pytest.raises(UsageError, match="made without --verify, or has changed since"):
        sievert.assess(tmp_path / "state", verify=True)
    path.write_text(text + text.partition("\n")[2])
    assert stable(sievert.assess(tmp_path / "state")) == stable(
        sievert.assess(path, "zip", "ill", **options)
    )


def test_packed_keys_count_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table(
        {
            "a": [1, 2, 2, None, 5] * 9,
            "b": ["x", "y", None, "é", ""] * 9,
            "f": [0.1, -0.0, float("nan"), 1e300, None] * 9,
            "d": pa.array([1, 2, 3, 4, None] * 9, pa.date32()),
            "t": [True, False, None, True, True] * 9,
        }
    )
    names = table.column_names
    states = []
    for at, large in enumerate((0, 10**9)):
        monkeypatch.setattr(session, "PACKED_FROM", large)
        monkeypatch.setattr(session, "LOADING", large)
        states.append(sievert.count(table, names[:3], names[3:], out=tmp_path / str(at)))
    packed, plain = states
    contents = [parquet.read_table(state.manifest.paths[0]) for state in (packed, plain)]
    assert contents[0].to_pydict() == contents[1].to_pydict()
    assert contents[0].schema.types == contents[1].schema.types
    assert stable(sievert.assess(tmp_path / "0")) == stable(
        sievert.assess(table, names[:3], names[3:])
    )


def test_categories_keep_their_order(tmp_path: Path) -> None:
    levels = ["low", "high", "none"]
    frame = pandas.DataFrame({"zip": ["1", "1", "2"], "pay": ["high", "low", "low"]})
    frame["pay"] = pandas.Categorical(frame["pay"], levels, ordered=True)
    sievert.count(frame, "zip", "pay", out=tmp_path / "state")
    assert stable(sievert.assess(tmp_path / "state")) == stable(sievert.assess(frame, "zip", "pay"))
    other = frame.assign(pay=frame["pay"].cat.reorder_categories(levels[::-1]))
    with pytest.raises(InputError, match="orders of categories"):
        sievert.update(tmp_path / "state", add=other)
    ranked = sievert.explain(tmp_path / "state", "zip").to_dict()["ranking"]
    assert ranked == sievert.explain(frame, "zip").to_dict()["ranking"]


def test_a_state_of_another_type_of_time(tmp_path: Path) -> None:
    zoned = pa.table({"a": pa.array([1, 2], pa.timestamp("us", "UTC")), "s": ["x", "y"]})
    with pytest.raises(InputError, match="TIMESTAMP WITH TIME ZONE is not kept in a state"):
        sievert.count(zoned, "a", "s", out=tmp_path / "state")
    assert not (tmp_path / "state").exists()


def test_commands(tmp_path: Path) -> None:
    (data := tmp_path / "t.csv").write_text("zip,ill\n1,flu\n1,hiv\n2,flu\n")
    (tmp_path / "gone.csv").write_text("zip,ill\n2,flu\n")
    state = str(tmp_path / "state")
    done = run_process("count", str(data), "-q", "zip", "-s", "ill", "-o", state)
    assert done.returncode == 0 and "as sensitive as the data" in done.stdout, done.stderr
    assert (
        run_process("count", str(data), "-q", "zip", "-o", state, "--missing", "drop").returncode
        == 2
    )
    assert run_process("count", str(data), "-q", "zip").returncode == 2
    listed = run_process("count", "--help").stdout
    assert "--delimiter" in listed and "--missing" not in listed and "suppressed" not in listed
    done = run_process("update", state, "--remove", str(tmp_path / "gone.csv"), "--language", "de")
    assert done.returncode == 0 and "1 Datensatz entfernt" in done.stdout, done.stderr
    again = run_process("update", state, "--remove", str(tmp_path / "gone.csv"))
    assert again.returncode == 7 and again.stderr.splitlines() == [
        "error: gone.csv: these records were taken away already. Try: --again, if they are other "
        "people whose records look the same"
    ]
    again = run_process("merge", state, state, "-o", str(tmp_path / "both"))
    assert again.returncode == 7 and "state: these records were added already" in again.stderr
    done = run_process(
        "merge", state, state, "--again", "-o", str(tmp_path / "both"), "--json", "-"
    )
    assert json.loads(done.stdout)["state"]["records"] == 4
    assessed = run_process("assess", str(tmp_path / "both"), "--json", "-")
    assert json.loads(assessed.stdout)["table"]["rows"] == 4
    assert os.path.exists(state)


def test_a_table_is_added_with_another_delimiter(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,ill\n30,flu\n31,cold\n")
    (tmp_path / "b.csv").write_text("age;ill\n32;flu\n33;cold\n34;cold\n")
    state = tmp_path / "a.sievert"
    sievert.count(tmp_path / "a.csv", "age", "ill", out=state)
    assert sievert.update(state, add=tmp_path / "b.csv", delimiter=";").records == 5
    with pytest.raises(TypeError, match="delimeter"):
        sievert.update(state, compact=True, delimeter=";")
    with pytest.raises(UsageError, match="where is the state"):
        sievert.count(tmp_path / "a.csv", "age", "ill", out=None)
