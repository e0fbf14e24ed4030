"""Releases in a ledger held together: brute force finds nothing falsely safe."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.effort import tried
from helpers.ledgeroracle import PERSON, QUASI, SECRET, Oracle, random_releases, small_history

import sievert
from sievert.errors import InputError, RefusedError

HISTORIES = tried(60, soak=10_000)


def add(folder: Path, releases: list[dict[str, Any]]) -> Path:
    """A ledger of all releases but the last."""
    ledger = folder / "ledger"
    for number, release in enumerate(releases[:-1]):
        given = [c for c in QUASI if c in release], [SECRET] if SECRET in release else []
        sievert.add_to_ledger(ledger, release, *given, person=PERSON, name=f"r{number}")
    return ledger


def check(ledger: Path, new: dict[str, Any], k: int, values: int) -> Any:
    limits: dict[str, Any] = {"reidentification": {"k_anonymity": {"min": k}}}
    if SECRET in new:
        limits["inference"] = {SECRET: {"l_diversity": {"min": values}}}
    policy = {
        "roles": {
            "quasi": [c for c in QUASI if c in new],
            "sensitive": [SECRET] if SECRET in new else [],
            "person": PERSON,
        },
        "limits": limits,
    }
    return sievert.check_with_ledger(ledger, new, policy=policy, name="new")


def compare(seed: str, folder: Path) -> None:
    """One random history: every number, and the verdict, against the oracle."""
    random = Random(seed)
    releases = random_releases(random)
    oracle, k, values = Oracle(releases), random.choice((1, 2, 2, 3)), random.choice((1, 2))
    strangers = not any(set(oracle.releases[-1]) & set(r) for r in oracle.releases[:-1])
    try:
        result = check(add(folder, releases), releases[-1], k, values)
    except InputError:
        assert strangers, seed
        return
    except RefusedError as error:
        assert "already" in str(error), seed  # two equal releases
        return
    assert not strangers
    joint, smallest = result.joint, oracle.smallest()
    assert joint["people"] == len(oracle.everybody), seed
    assert joint["k_anonymity"] == smallest <= oracle.smallest(known_absent=False), seed
    unique = oracle.unique()
    assert joint["unique"] == len(unique), seed
    assert joint["unique_only_together"] == len(unique - oracle.unique_alone()), seed
    safe = smallest >= k
    if any(oracle.has_secret):
        left = {p: n for p in oracle.everybody if (n := oracle.values_left(p)) is not None}
        counted = result.secrets[SECRET]["values_left"]
        assert counted["least"] == min(left.values()), seed
        assert counted["disclosed"] == sum(n == 1 for n in left.values()), seed
        fewest = min(oracle.fewest_joint_values(), min(left.values()))
        if SECRET in releases[-1]:
            safe &= fewest >= values
        compare_learnt(oracle, result.secrets[SECRET], seed)
    if result.passed:
        assert safe, f"falsely safe: {seed}"
    elif result.policy.met is False:
        assert not safe, f"falsely unsafe: {seed}"
    assert result.only_together == (result.alone.outcome is True and not result.passed)


def compare_learnt(oracle: Oracle, entry: dict[str, Any], seed: str) -> None:
    """Bits and guesses, of all releases and of the best one alone."""
    places = [i for i, has in enumerate(oracle.has_secret) if has]
    joint = oracle.learnt(places[-1])
    alone = [oracle.learnt_alone(places[-1], i) for i in places]
    for number, key in enumerate(("bits", "best_guess")):
        best = max(each[number] for each in alone)
        assert entry[key]["joint"] == pytest.approx(joint[number], abs=1e-12), seed
        assert entry[key]["alone"] == pytest.approx(best, abs=1e-12), seed
        assert entry[key]["gain"] == pytest.approx(joint[number] - best, abs=1e-12), seed
        assert entry[key]["joint"] >= entry[key]["alone"] - 1e-12, f"knows more, worse: {seed}"


@pytest.mark.parametrize("part", range(8))
def test_nothing_is_falsely_safe(part: int, tmp_path: Path) -> None:
    for number in range(part, HISTORIES, 8):
        folder = tmp_path / str(number)
        folder.mkdir()
        compare(f"ledger {number}", folder)
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def test_nobody_is_determined_where_the_policy_is_met(tmp_path: Path) -> None:
    """All worlds that agree with the tables: with two values for everybody, no secret is sure."""
    met = 0
    for number in range(HISTORIES):
        releases = small_history(Random(f"worlds {number}"))
        (folder := tmp_path / str(number)).mkdir()
        try:
            result = check(add(folder, releases), releases[-1], 1, 2)
        except RefusedError:
            continue  # two equal releases
        met += result.passed
        assert not (result.passed and Oracle(releases).determined()), number
    assert met > HISTORIES // 20
