"""What is refused before the work would have needed it: estimates beside measured peaks."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time

import pytest

from sievert.numerics import machine

# The work in a process of its own, which prints what it was estimated to hold on the whole.
PRELUDE = """
import json, os, random, sys
import sievert
from sievert.numerics import machine
from sievert.sources import isolation
def note(needed, what, hint):
    print(json.dumps(needed + machine.resident_memory(os.getpid())))
isolation.require_memory = note
import sievert.commands.compare.run as a, sievert.commands.attack.attacked_release as b
import sievert.commands.limit.finite as c
a.require_memory = b.require_memory = c.require_memory = note
chance = random.Random(1)
def table(records, columns, values):
    return {**{f"q{i}": [str(chance.randrange(values)) for _ in range(records)]
               for i in range(columns)}, "s": [chance.choice("abcdefgh") for _ in range(records)]}
def coarser(of):
    return {name: [t[0] if name != "s" else t for t in texts] for name, texts in of.items()}
"""
COMPARE = """t = table({0}, {1}, {2})
sievert.compare(t, coarser(t), list(t)[:-1], ["s"], paired=True, shuffles=0)"""
ATTACK = """t = table({0}, {1}, {2})
sievert.attack(coarser(t), t, list(t)[:-1], ["s"], paired=True)"""
LIMIT = """n = {0}
t = dict(q=[str(i % n) for i in range(2 * n)], s=table(2 * n, 0, 1)["s"])
sievert.randomise(t, "q", "s", at={2}, most=n, seconds=5, **dict({1}))"""
SHAPES = [
    COMPARE.format(100_000, 4, 60),
    COMPARE.format(100_000, 7, 60),
    COMPARE.format(300_000, 5, 3),
    ATTACK.format(100_000, 4, 60),
    ATTACK.format(100_000, 7, 60),
    ATTACK.format(300_000, 5, 3),
    LIMIT.format(1_000, "", 0.1),
    LIMIT.format(1_000, "distortion='squared'", 0.1),
    LIMIT.format(1_000, "model=4", 0.5),
]


@pytest.mark.parametrize("work", SHAPES)
def test_an_estimate_is_below_the_peak_and_more_than_half_of_it(work: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + work], stdout=subprocess.PIPE, text=True
    )
    peaks = [0]

    def watch() -> None:
        while child.poll() is None:
            peaks.append(machine.resident_memory(child.pid))
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()
    told, _ = child.communicate()
    watcher.join()
    assert child.returncode == 0
    (estimate,) = map(json.loads, told.splitlines())
    sys.stdout.write(f"{work!r}: {estimate >> 20} of {max(peaks) >> 20} MB\n")
    assert max(peaks) / 2 <= estimate <= max(peaks)
