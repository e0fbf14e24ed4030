"""Synthetic tables for tests: Adult, random ones, every score by its definition, relabelling."""

from __future__ import annotations

import csv
import itertools
import math
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.sequentialtrees import draw_rows

from sievert.commands.synthetic.attacks import keys, nearness, singling_out
from sievert.commands.synthetic.attacks.evidence import PoolGroups, chance, difference
from sievert.commands.synthetic.attacks.tables import UNIT, SyntheticTables, join_tables

Rows = list[tuple[str | None, ...]]
RandomTables = tuple[Rows, Rows, Rows, str]


def columns(rows: Rows, names: Any) -> dict[str, Any]:
    table = {}
    for at, name in enumerate(names):
        own = [row[at] for row in rows]
        texts = list(dict.fromkeys(own))
        code = {text: at for at, text in enumerate(texts)}
        table[name] = (texts, np.array([code[t] for t in own], dtype=np.int64))
    return table


def as_dict(rows: Rows, names: Any) -> dict[str, list[str | None]]:
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def reference() -> Path:
    folder = os.environ.get("SIEVERT_REFERENCE")
    if folder is None:
        pytest.skip("SIEVERT_REFERENCE names the folder of reference files")
    return Path(folder)


def adult(kind: str) -> tuple[Rows, Rows, Rows, list[str]]:
    """Originals, a synthetic table and controls of Adult, without random numbers.

    `shift`: column j of row k is that of original k + 1009 j; `shift5`: the same with one row of 20
    copied; `half`: the first five columns of one original, the others of another; `self`: the
    originals themselves; `fresh`: other people.
    """
    with (reference() / "data/adult/adult.csv").open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file, delimiter=";")
    table: Rows = [tuple(row) for row in rows]
    if kind == "fresh":
        return table[0::3], table[2::3], table[1::3], names
    own, other = [r for i, r in enumerate(table) if i % 3 != 2], table[2::3]
    n = len(own)
    if kind == "self":
        return own, own, other, names
    if kind == "half":
        return own, [own[k][:5] + own[(k + 1009) % n][5:] for k in range(n)], other, names
    fake: Rows = [tuple(own[(k + 1009 * j) % n][j] for j in range(9)) for k in range(n)]
    if kind == "shift5":
        fake = [own[k] if k % 20 == 0 else row for k, row in enumerate(fake)]
    return own, fake, other, names


# -- brute force ----------------------------------------------------------------------------------


def random_tables(seed: int, kind: str = "any") -> RandomTables:
    """An original, a synthetic table, a control, and the names of their columns."""
    random, kind_of_table = Random(seed), kind
    names = "ABCDE"[: random.randint(1, 5)]
    kinds = [random.choice(("word", "number", "decimal")) for _ in names]

    def cell(kind: str) -> str | None:
        if kind_of_table == "all equal":
            return "7"
        if random.random() < 0.1:
            return None
        if kind == "word":
            return random.choice("pqrs")
        number = random.randint(0, 9)
        return str(number) if kind == "number" else f"{number * 0.37:.2f}"

    def some(least: int) -> Rows:
        most = least if kind_of_table == "one record" else 12
        return [tuple(cell(k) for k in kinds) for _ in range(random.randint(least, most))]

    return some(1), some(1), some(1), names


class Brute:
    """Distances, predicates and scores by their definitions, with fractions."""

    def __init__(self, original: Rows, fake: Rows, control: Rows, names: str) -> None:
        self.pool, self.fake, self.n = original + control, fake, len(original)
        self.numeric = []
        for at in range(len(names)):
            known = [text for row in self.pool + fake if (text := row[at]) is not None]
            self.numeric.append(bool(known) and all(_is_number(t) for t in known))
        self.width = len(names)

    def value(self, row: Any, at: int) -> Any:
        text = row[at]
        return Fraction(text) if self.numeric[at] and text is not None else text

    def part(self, a: Any, b: Any, at: int) -> int:
        x, y = self.value(a, at), self.value(b, at)
        if x is None or y is None or not self.numeric[at]:
            return 0 if x == y else UNIT
        known = [v for r in self.pool if (v := self.value(r, at)) is not None]
        low, high = (min(known), max(known)) if known else (Fraction(0), Fraction(0))
        x, y = (min(max(v, low), high) for v in (x, y))
        every = [v for r in self.pool + self.fake if (v := self.value(r, at)) is not None]
        if low == high:
            return 0
        if high - low <= UNIT and all(v.denominator == 1 for v in every):
            return int(UNIT // (high - low) * abs(x - y))
        first, second = (
            math.floor(UNIT * (v - low) / (high - low) + Fraction(1, 2)) for v in (x, y)
        )
        return abs(int(first - second))

    def distance(self, a: Any, b: Any, ats: Any) -> int:
        return sum(self.part(a, b, at) for at in ats)

    def nearest(self, row: Any, ats: Any) -> list[int]:
        every = [self.distance(row, other, ats) for other in self.fake]
        return [j for j, d in enumerate(every) if d == min(every)]

    def holds(self, source: Any, ats: Any, row: Any) -> bool:
        return all(self._holds(source, at, row) for at in ats)

    def _holds(self, source: Any, at: int, row: Any) -> bool:
        x, y = self.value(source, at), self.value(row, at)
        if not self.numeric[at] or x is None or y is None:
            return bool(x == y)
        known = sorted(v for r in self.fake if (v := self.value(r, at)) is not None)
        middle = (known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2
        return bool(y >= x if x > middle else y <= x)


def _is_number(text: str) -> bool:
    try:
        Fraction(text)
    except ValueError:
        return False
    return True


def check_every_score(given: RandomTables, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every score of every attack is that of its definition."""
    original, fake, control, names = given
    brute = Brute(original, fake, control, names)
    tables = join_tables(columns(original, names), columns(fake, names), columns(control, names))
    every = range(brute.width)
    same = [[brute.value(r, at) for at in every] for r in fake]
    copied, _ = keys.copies(tables)
    hits = [[brute.value(r, at) for at in every] in same for r in brute.pool]
    assert copied.original.hits == sum(hits[: brute.n])
    for width in range(1, min(3, brute.width) + 1):
        expected, attacking = Counter[int](), 0
        for ats in itertools.combinations(every, width):
            for source in fake:
                if sum(brute.holds(source, ats, row) for row in fake) != 1:
                    continue
                attacking += 1
                who = [i for i, row in enumerate(brute.pool) if brute.holds(source, ats, row)]
                expected.update(who if len(who) == 1 else ())
        for cells in (10**6, 0):
            monkeypatch.setattr(singling_out, "MOST_CELLS", cells)
            counts = singling_out.count_predicates(tables, width)
            assert len(counts.originals) == attacking
            assert {i: n for i, n in enumerate(counts.per_person.tolist()) if n} == expected
    near = nearness.nearness(tables)
    for i, row in enumerate(brute.pool):
        away = sorted(brute.distance(row, other, every) for other in fake)
        assert near.synthetic[i] == away[0]
        if len(away) > 1:
            assert near.second[i] == away[1]
        bounds = [(0, 0), (1, UNIT), (UNIT + 1, 2 * UNIT)]
        assert near.near_synthetic[i].tolist() == [
            sum(a <= d <= b for d in away) for a, b in bounds
        ]
        kin = [brute.distance(row, o, every) for j, o in enumerate(brute.pool) if j != i]
        assert near.near_other[i].tolist() == [sum(a <= d <= b for d in kin) for a, b in bounds]
        if kin:
            assert near.other[i] == min(kin)
    share: dict[int, Fraction] = defaultdict(Fraction)
    for other in fake:
        away = [brute.distance(row, other, every) for row in brute.pool]
        who = [i for i, d in enumerate(away) if d == min(away)]
        for i in who:
            share[i] += Fraction(1, len(who))
    assert near.share is not None
    assert near.share.tolist() == pytest.approx([float(share[i]) for i in range(len(brute.pool))])
    if brute.width > 1:
        _check_guesses(brute, tables, names)
        _check_linkability(brute, tables, names)


def _check_guesses(brute: Brute, tables: SyntheticTables, names: str) -> None:
    for at, guess in enumerate(nearness.guesses(tables, list(names))):
        known = [c for c in range(brute.width) if c != at]
        for i, row in enumerate(brute.pool):
            values = Counter(brute.value(brute.fake[j], at) for j in brute.nearest(row, known))
            most, truth = max(values.values()), brute.value(row, at)
            modes = [v for v, n in values.items() if n == most]
            assert guess.mode[i] == ((truth in modes) / len(modes))
            assert guess.expected[i] == values[truth] / values.total()
    if len(brute.pool) > 1:
        for at, guess in enumerate(nearness.guesses(tables, list(names), kin=True)):
            known = [c for c in range(brute.width) if c != at]
            for i, row in enumerate(brute.pool):
                away = {
                    j: brute.distance(row, other, known)
                    for j, other in enumerate(brute.pool)
                    if j != i
                }
                kin = [j for j, d in away.items() if d == min(away.values())]
                values = Counter(brute.value(brute.pool[j], at) for j in kin)
                modes = [v for v, n in values.items() if n == max(values.values())]
                assert guess.mode[i] == ((brute.value(row, at) in modes) / len(modes))


def _check_linkability(brute: Brute, tables: SyntheticTables, names: str) -> None:
    halves = [0], list(range(1, brute.width))
    linked = nearness.linkability(tables, nearness.link_chances(tables, (names[:1], names[1:])))
    total = Fraction(0)
    for row in brute.pool[: brute.n]:
        first, second = ({*brute.nearest(row, half)} for half in halves)
        total += Fraction(len(first & second), len(first) * len(second))
    assert linked.original.hits == pytest.approx(float(total))


def check_keys(given: RandomTables) -> None:
    """CAP, TCAP, GCAP, DiSCO and the unique keys are those of their definitions."""
    original, fake, control, names = given
    if len(names) < 2:
        return
    brute = Brute(*given)
    tables = join_tables(columns(original, names), columns(fake, names), columns(control, names))
    attack = keys.attribute_disclosure(tables, list(names[1:]), names[0])
    at = range(1, len(names))

    def key(row: Any) -> tuple[Any, ...]:
        return tuple(brute.value(row, i) for i in at)

    def secrets(rows: Rows, row: Any) -> list[Any]:
        return [brute.value(r, 0) for r in rows if key(r) == key(row)]

    assert attack.control is not None
    groups = ((original, attack.details, attack.original.hits),)
    groups += ((control, attack.details["control_rates"], attack.control.hits),)  # type: ignore[assignment]
    for rows, numbers, hits in groups:
        shares, sure, nearest = [], [], []
        for row in rows:
            truth, equal = brute.value(row, 0), secrets(fake, row)
            if equal:
                shares.append(Fraction(equal.count(truth), len(equal)))
            if len({*equal}) == 1:
                sure.append(truth in equal)
            apart = [sum(a != b for a, b in zip(key(r), key(row), strict=True)) for r in fake]
            near = [brute.value(r, 0) for r, d in zip(fake, apart, strict=True) if d == min(apart)]
            nearest.append(Fraction(near.count(truth), len(near)))
        assert numbers["matched"] == len(shares) and hits == sum(sure)
        cap = pytest.approx(float(sum(shares) / len(shares)), rel=1e-14) if shares else None
        assert numbers["cap"] == cap
        assert numbers["cap_zero"] == pytest.approx(float(sum(shares) / len(rows)))
        assert numbers["gcap"] == pytest.approx(float(sum(nearest) / len(rows)))
        assert numbers["tcap"] == (sum(sure) / len(sure) if sure else None)
    alone = [row for row in original if len(secrets(original, row)) == 1]
    constant = [row for row in original if len({*secrets(original, row)}) == 1]
    found = [row for row in alone if len(secrets(fake, row)) == 1]
    n, own = len(original), attack.details
    assert own["unique_in_original"] == len(alone) / n
    assert own["replicated_uniques"] == len(found) / n
    assert own["disclosive_in_original"] == len(constant) / n


def check_clusters(given: RandomTables, seed: int) -> None:
    """z is the originals' excess by its spread over all ways to draw as many clusters."""
    original, _, control, _ = given
    random = Random(seed)
    first = [random.randrange(4) for _ in original]
    second = [4 + random.randrange(4) for _ in control]
    scores = [Fraction(random.randrange(5), 4) for _ in (*original, *control)]
    groups = PoolGroups(len(original), np.array(first + second))
    mean = sum(scores) / len(scores)
    sums = Counter[int]()
    for cluster, score in zip(first + second, scores, strict=True):
        sums[cluster] += score - mean  # type: ignore[assignment]
    drawn = [sum(each) for each in itertools.combinations(sums.values(), len({*first}))]
    spread = sum(Fraction(d) ** 2 for d in drawn) / len(drawn)
    excess = sum(s - mean for s in scores[: len(original)])
    z = difference(np.array(scores, dtype=float), groups)
    if spread and len(sums) > 1:
        assert z == pytest.approx(float(excess) / math.sqrt(spread), abs=1e-9)


# -- calibration ----------------------------------------------------------------------------------


def scores_of(tables: SyntheticTables, names: Sequence[str] = ()) -> dict[str, Any]:
    """What attacks score, per person: it does not depend on who is in the original.

    Without names, only those that need no more than distances.
    """
    near = nearness.nearness(tables)
    copied = (near.synthetic == 0).astype(float)
    scores = {
        "copies": copied,
        "unique_copies": np.where(near.near_other[:, 0] == 0, copied, np.nan),
        "nearer_than_kin": near.nearer_than_kin,
        "density_ratio": near.density_ratio,
        "dcr": -near.synthetic,
        "dcr_auc": _ranks(-near.synthetic),
        "nndr_auc": _ranks(-np.where(near.second > 0, near.synthetic / (near.second + 1e-9), 0.0)),
        "dcr_share": near.share,
    }
    if names:
        hit = singling_out.count_predicates(tables, min(3, len(names))).per_person > 0
        guesses = nearness.guesses(tables, names)
        scores["singling_out"] = hit.astype(float)
        scores["linkability"] = nearness.link_chances(tables, (names[:4], names[4:]))
        scores["inference"] = np.mean([g.right for g in guesses], axis=0)
    return scores


def _ranks(values: Any) -> Any:
    """Middle ranks: the difference of their means is the area under the curve."""
    _, codes, times = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(times) - (times - 1) / 2)[codes]


def chance_of(scores: Any, originals: int) -> float:
    """The chance of one attack's scores, those that concern people."""
    concerned = ~np.isnan(scores)
    p = chance(scores[concerned], PoolGroups(originals).only(concerned))
    return 1.0 if p is None else p


def relabelled_alarms(
    scores: dict[str, Any], originals: int, times: int, rng: np.random.Generator
) -> dict[str, int]:
    """How often each attack raises an alarm at 5 % where who is original is drawn anew."""
    alarms = dict.fromkeys(scores, 0)
    every = np.stack(list(scores.values()))
    middles = np.nanmean(every, axis=1)
    for _ in range(times):
        order = rng.permutation(every.shape[1])
        above = np.nanmean(every[:, order[:originals]], axis=1) > middles
        for name in np.array([*scores])[above].tolist():  # no more than by half a chance, else
            alarms[name] += chance_of(scores[name][order], originals) <= 0.05
    return alarms


@dataclass(frozen=True)
class Population:
    """Real records, from which originals, controls and a base of a synthetic table are drawn."""

    names: list[str]
    texts: list[list[str]]
    codes: Any  # a row per record
    categories: list[str]

    @classmethod
    def of(cls, rows: Rows, names: Sequence[str], numbers: Sequence[str]) -> Population:
        """The records of one table; columns are categories unless they are numbers."""
        texts, codes = [], []
        for name, (values, own) in columns(rows, names).items():
            known = ["" if text is None else text for text in values]
            if name in numbers:
                order = np.argsort([float(text) for text in known])
            else:
                order = np.arange(len(known))
            texts.append([known[code] for code in order])
            codes.append(np.argsort(order)[own])
        return cls(
            list(names), texts, np.stack(codes, axis=1), [n for n in names if n not in numbers]
        )

    def join(self, original: Any, fake: Any, control: Any) -> SyntheticTables:
        """Three tables of codes."""
        tables = [
            {
                n: (t, rows[:, i])
                for i, (n, t) in enumerate(zip(self.names, self.texts, strict=True))
            }
            for rows in (original, fake, control)
        ]
        return join_tables(tables[0], tables[1], tables[2], categories=self.categories)

    def draw(
        self, people: int, seed: int, copied: float = 0.0, changed: int = 0
    ) -> SyntheticTables:
        """Originals, controls, and rows that trees learnt of others; some are copies, changed.

        Every second seed exchanges the originals and the controls of the one before: who happens to
        be odd then counts once on either side, and fewer draws tell as much.
        """
        rng = np.random.default_rng(seed // 2)
        drawn = rng.permutation(len(self.codes))[: 3 * people]
        own, other, base = (self.codes[drawn[at::3]] for at in range(3))
        own, other = (other, own) if seed % 2 else (own, other)
        numeric = np.array([name not in self.categories for name in self.names])
        fake = draw_rows(base, numeric, people, rng)
        many = round(copied * people)
        fake[:many] = own[:many]
        for row in range(many):
            for at in rng.choice(len(self.names), changed, replace=False):
                fake[row, at] = base[rng.integers(len(base)), at]
        return self.join(own, fake, other)
