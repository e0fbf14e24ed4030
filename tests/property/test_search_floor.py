"""A search from a floor against brute force over all nodes that are not below it."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.effort import tried

import sievert
from sievert.commands.protect import protection as steps
from sievert.commands.protect import run
from sievert.errors import ExhaustedError, SievertError
from sievert.releases import floor as _search_floor

TREES = {
    "a": {str(v): [f"a{v // 3}", "*"] for v in range(9)},
    "b": {str(v): [f"b{v // 2}", f"c{v // 4}", "*"] for v in range(8)},
    "c": {v: ["*"] for v in "xy"},
}
LOSSES = ("generalization_loss", "arithmetic_loss", "certainty_penalty", "entropy",
          "discernability", "bits")  # fmt: skip


def table(random: Random) -> dict[str, list[Any]]:
    """Three columns with hierarchies, some values missing, and a secret."""
    rows = random.choice((40, 80, 160))
    return {
        "a": [random.choice([*map(str, range(9)), None]) for _ in range(rows)],
        "b": [str(min(random.randrange(8), random.randrange(8))) for _ in range(rows)],
        "c": [random.choice("xy") for _ in range(rows)],
        "s": [random.choice("pqr") for _ in range(rows)],
    }


def floors(most: int, data: dict[str, list[Any]]) -> tuple[int, ...]:
    """The floor by its rule, written out: the column with the most labels goes up by one level."""
    paths = {c: {v: (v, *tree[v]) for v in tree} for c, tree in TREES.items()}
    paths["a"][None] = (None, None, "*")
    levels = dict.fromkeys("abc", 0)
    while True:
        columns = {c: [paths[c][v][levels[c]] for v in data[c]] for c in "abc"}
        if len(set(zip(*columns.values(), data["s"], strict=True))) <= most:
            return tuple(levels.values())
        tops = {c: len(next(iter(paths[c].values()))) - 1 for c in "abc"}
        labels = {c: len(set(columns[c])) if levels[c] < tops[c] else 0 for c in "abc"}
        highest = max("abc", key=labels.__getitem__)
        levels[highest] += 1


def test_the_best_of_all_that_are_not_finer(monkeypatch: pytest.MonkeyPatch) -> None:
    find, problems = run.find_protection, []

    def keep(*given: Any) -> Any:
        protection = find(*given)
        problems.append((protection.problem, protection.policy))
        return protection

    monkeypatch.setattr(run, "find_protection", keep)
    started = 0
    for seed in range(tried(18, 300)):
        random = Random(f"floor {seed}")
        data, most, loss = table(random), random.choice((9, 20, 40)), LOSSES[seed % len(LOSSES)]
        roles = {"quasi": ["a", "b", "c"], "sensitive": ["s"], "rows_are_people": True}
        limits: dict[str, Any] = {"k_anonymity": {"min": random.choice((2, 4))}}
        if seed % 2:
            limits["l_diversity"] = {"min": 2}
        given: dict[str, Any] = {"policy": {"roles": roles, "limits": limits}, "loss": loss,
                                 "hierarchies": TREES, "suppress": 0.1}  # fmt: skip
        plain = sievert.protect(data, **given)
        assert plain.floor == {} and "floor" not in plain.to_dict()
        problem, policy = problems[-1]
        with monkeypatch.context() as patch:
            patch.setattr(_search_floor, "MOST_COMBINATIONS", most)
            floored = sievert.protect(data, **given)
        floor = floors(most, data)
        assert floored.floor == {c: n for c, n in zip("abc", floor, strict=True) if n}
        assert bool(floored.floor) == any("the search starts from" in w for w in floored.warnings)
        started += bool(floored.floor)
        search, best = problem.search(policy), None
        for node in itertools.product(*(range(n, len(c.tables)) for n, c in
                                        zip(floor, problem.columns, strict=True))):  # fmt: skip
            recoding = search.at(node)
            fit = recoding.suppressed_records <= problem.allowed and problem.meets(recoding, policy)
            if fit and (best is None or recoding.loss < best.loss - 1e-9):
                best = recoding
        assert (best is None) == (floored.met is not True)
        if best is None:
            continue
        bare = policy.model_copy(update={"everywhere": {}, "reidentification": {}})
        unsuppressed = problem.search(bare).at(floor)  # what the floor alone has lost
        start = unsuppressed.losses.bits["s"] if loss == "bits" else 0.0
        assert floored.recoding is not None
        assert floored.recoding.loss == pytest.approx(best.loss - start, rel=1e-9, abs=1e-12)
        own = search.at([floored.levels[c] for c in "abc"])
        assert own.loss == pytest.approx(best.loss, rel=1e-9)
        assert own.suppressed_records == floored.suppressed_records
        same = own.losses.to_dict() | {"bits": 0}
        for name, value in (floored.recoding.losses.to_dict() | {"bits": 0}).items():
            assert value == pytest.approx(same[name], rel=1e-9)
    assert started > 5


def test_the_release_and_the_same_recoding_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The release is that of its levels without a floor; given levels need no search."""
    data, out = table(Random(5)), tmp_path / "r.csv"
    roles = {"quasi": ["a", "b", "c"], "sensitive": ["s"], "rows_are_people": True}
    given: dict[str, Any] = {"policy": {"roles": roles, "limits": {"k_anonymity": {"min": 3}}},
                             "hierarchies": TREES, "suppress": 0.1}  # fmt: skip
    monkeypatch.setattr(_search_floor, "MOST_COMBINATIONS", 20)
    with monkeypatch.context() as patch:  # the curve beside the frontier takes seconds
        patch.setattr(steps, "limit_curve", lambda *_: None)
        floored = sievert.protect(data, out=out, frontier=True, **given)
    assert floored.released and floored.floor
    manifest = (tmp_path / "r.csv.json").read_text(encoding="utf-8")
    assert '"floor"' in manifest
    assert "No recoding from these levels upwards" in floored._repr_html_()
    for point in floored.to_dict()["frontier"]:
        assert all(point["levels"][c] >= n for c, n in floored.floor.items())
    again = sievert.protect(data, out=tmp_path / "again.csv", levels=floored.levels, **given)
    assert again.levels == floored.levels
    with pytest.raises(SievertError, match="has the levels 0 to 2"):
        sievert.protect(data, levels={"a": 3}, **given)
    monkeypatch.setattr(_search_floor, "MOST_COMBINATIONS", 10**8)
    plain = sievert.protect(data, out=tmp_path / "plain.csv", levels=floored.levels, **given)
    assert plain.released
    files = [(tmp_path / name).read_bytes() for name in ("r.csv", "again.csv", "plain.csv")]
    assert files[0] == files[1] == files[2]
    monkeypatch.setattr(_search_floor, "MOST_COMBINATIONS", 1)
    with pytest.raises(SievertError, match="combinations of values on any level"):
        sievert.protect(data, **given)


def keep_problems(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Everything that `protect` finds from now on."""
    find, protections = run.find_protection, []

    def keep(*given: Any) -> Any:
        protections.append(find(*given))
        return protections[-1]

    monkeypatch.setattr(run, "find_protection", keep)
    return protections


def least_loss(protection: Any, floor: dict[str, int]) -> float | None:
    """By brute force over all nodes that are not below a floor."""
    problem, policy, best = protection.problem, protection.policy, None
    search = problem.search(policy)
    levels = (range(floor.get(c.name, 0), c.levels) for c in problem.columns)
    for node in itertools.product(*levels):
        recoding = search.at(node)
        fit = recoding.suppressed_records <= problem.allowed and problem.meets(recoding, policy)
        if fit and (best is None or recoding.loss < best):
            best = recoding.loss
    return best


@pytest.mark.parametrize("seed", range(tried(6, 100)))
def test_people_with_several_rows_have_a_floor_too(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(f"people {seed}")
    data = table(random)
    rows = len(data["a"])
    data["who"] = [f"p{random.randrange(rows // 3)}" for _ in range(rows)]
    roles = {"quasi": ["a", "b", "c"], "sensitive": ["s"], "person": "who"}
    limits = {"k_anonymity": {"min": 2}, "unique_records": {"max": 0.1}}
    given: dict[str, Any] = {"policy": {"roles": roles, "limits": limits}, "hierarchies": TREES,
                             "suppress": 0.1}  # fmt: skip
    protections = keep_problems(monkeypatch)
    sievert.protect(data, **given)
    cells = len(set(zip(*data.values(), strict=True)))
    monkeypatch.setattr(_search_floor, "MOST_COMBINATIONS", cells - random.choice((1, 5)))
    out = tmp_path / "r.csv" if seed < 2 else None
    floored = sievert.protect(data, out=out, **given)
    floor = protections[-1].problem.floor.levels_by_name
    assert floor and any("the search starts from" in w for w in floored.warnings)
    best = least_loss(protections[0], floor)
    assert (best is None) == (floored.met is not True)
    if best is not None:
        assert floored.recoding is not None
        assert floored.recoding.loss == pytest.approx(best, rel=1e-9)
        assert floored.released is (out is not None)
    monkeypatch.setattr(_search_floor, "MOST_COMBINATIONS", 3)
    with pytest.raises(ExhaustedError, match="'who' tells more than 3 people apart"):
        sievert.protect(data, **given)


def test_earlier_releases_have_a_floor_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that repeat: the joint classes are those of the search without a floor."""
    random = Random("earlier")
    data = table(random)
    rows = len(data["a"])
    data["id"] = [f"i{i // 2}" for i in range(rows)]
    for column in ("b", "c"):  # rows of one key differ in one column only
        data[column] = [data[column][i // 2 * 2] for i in range(rows)]
    before = {"id": data["id"], "b": [TREES["b"][v][1] for v in data["b"]]}
    roles = {"quasi": ["a", "b", "c"], "sensitive": ["s"], "identifier": ["id"],
             "rows_are_people": True}  # fmt: skip
    policy = {"roles": roles, "limits": {"k_anonymity": {"min": 2}}}
    given: dict[str, Any] = {"policy": policy, "hierarchies": TREES, "suppress": 0.1,
                             "earlier": before, "key": "id"}  # fmt: skip
    protections = keep_problems(monkeypatch)
    sievert.protect(data, **given)
    cells = len(set(zip(*(data[c] for c in ("a", "b", "c", "id")), strict=True)))
    for fewer in (1, 10, 20):
        monkeypatch.setattr(_search_floor, "MOST_COMBINATIONS", cells - fewer)
        floored = sievert.protect(data, **given)
        floor = protections[-1].problem.floor.levels_by_name
        best = least_loss(protections[0], floor)
        assert floor and (best is None) == (floored.met is not True)
        if best is not None:
            assert floored.recoding is not None and floored.earlier is not None
            assert floored.recoding.loss == pytest.approx(best, rel=1e-9)
            joint = protections[0].problem
            own = joint.search(protections[0].policy).at(tuple(floored.levels.values()))
            assert floored.earlier["k_anonymity"] == joint.joint_k(own)
    monkeypatch.setattr(_search_floor, "MOST_COMBINATIONS", rows // 2 - 1)
    with pytest.raises(ExhaustedError, match="'id' tells more than"):
        sievert.protect(data, **given)
