"""The five attacks on the tables of the discrimination-rate slides, and on Adult."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sievert
from sievert.attacks.attack import Attack
from sievert.attacks.release_attacks import skewness
from sievert.counts.cube import Cube

from .papers_cells import CELLS, TABLES
from .tables import read_columns, write_columns

PRINTED = 0.01
EXACT = 1e-9
QI4 = ["marital-status", "native-country", "race", "workclass"]
QI8 = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass",
       "salary-class"]  # fmt: skip


def number(attack: Any, name: str) -> Any:
    return attack.numbers[name].value


def by_value(attack: Attack, column: str) -> dict[str | None, Any]:
    """The number of every value of a column."""
    found = {}
    for group in attack.columns[column].values.groups:
        (value,) = group.numbers.values()
        assert group.values is not None
        found[group.values[column]] = value.value
    return found


def cells(table: str) -> dict[Any, Any]:
    """What the slides' table gives: by value, and for the whole column under None."""
    return {c.value: c for c in CELLS if c.table == table and c.given == ("age_star",)}


# -- slides ---------------------------------------------------------------------------------------


def test_identity_of_the_slides() -> None:
    """DR slides, identity attack: 1, .78, .87 by value, .66 for the column (white box)."""
    table = TABLES["dr.identity"]
    released, original = {"age": table["age_star"]}, {"age": [str(a) for a in table["age"]]}
    found = sievert.attack(released, quasi="age", original=original, show_values=True)
    white = found["identity"]["white_box"]
    expected = cells("dr.identity")
    assert number(white, "discrimination_rate") == pytest.approx(expected[None].exact, abs=EXACT)
    assert abs(number(white, "discrimination_rate") - 0.66) <= PRINTED
    rates = by_value(white, "age")
    assert set(rates) == {"2*", ">=40", "3*"}
    for value, rate in rates.items():
        assert rate == pytest.approx(expected[value].exact, abs=EXACT)
        assert abs(rate - expected[value].printed) <= PRINTED
    assert white.columns["age"].number.value == number(white, "discrimination_rate")
    assert number(white, "people") == 3  # the three of 22 become 2*, and nobody else
    assert "3 people stand in a class where everybody had the same original values" in white.reading


@pytest.mark.parametrize("table", ["dr.kanon", "dr.ldiv"])
def test_homogeneity_and_background_of_the_slides(table: str) -> None:
    """DR slides: disease given age; the rest to certainty is 1 - DR.

    Three printed values of the k-anonymous table (.70, .83, .52) do not follow from the table that
    is printed above them, nor do the .30, .17, .48 of background knowledge: the exact ones stand.
    """
    found = sievert.assess(TABLES[table], "age_star", "disease", attacks=True, show_values=True)
    assert found.attacks is not None
    plain = found.attacks["homogeneity"]["disease"]
    rest = found.attacks["background"]["disease"]
    expected = cells(table)
    rates = {**by_value(plain, "age_star"), None: number(plain, "discrimination_rate")}
    left = {**by_value(rest, "age_star"), None: number(rest, "missing")}
    assert set(rates) == set(left) == set(expected)
    for value, rate in rates.items():
        cell = expected[value]
        assert rate == pytest.approx(cell.exact, abs=EXACT)
        assert left[value] == pytest.approx(1 - cell.exact, abs=EXACT)
        near = abs(rate - cell.printed) <= PRINTED
        assert near is (cell.contradiction is None)
    assert number(plain, "people") == (3 if table == "dr.kanon" else 9)


BACKGROUND = {"2*": 0.22, ">=40": 0.22, "3*": 0.22, None: 0.64}


def test_background_as_printed() -> None:
    """DR slides, background knowledge, l-diverse table."""
    found = sievert.assess(TABLES["dr.ldiv"], "age_star", "disease", attacks=True, show_values=True)
    assert found.attacks is not None
    rest = found.attacks["background"]["disease"]
    left = {**by_value(rest, "age_star"), None: number(rest, "missing")}
    for value, printed in BACKGROUND.items():
        assert abs(left[value] - printed) <= PRINTED


def test_ruling_out_values_of_the_l_diverse_table() -> None:
    """Three values once each in every class: without one, 1/3 becomes 1/2; without two, 1."""
    found = sievert.assess(TABLES["dr.ldiv"], "age_star", "disease", attacks=True)
    assert found.attacks is not None
    parts = found.attacks["background"]["disease"].parts
    one, two, three = (parts[f"ruled_out_{m}"] for m in (1, 2, 3))
    assert number(one, "people") == 6 and number(one, "certain") == 0
    assert number(one, "gain") == pytest.approx(1 / 2 - 1 / 3, abs=1e-15)
    assert number(two, "people") == number(two, "certain") == 3
    assert number(two, "gain") == pytest.approx(2 / 3, abs=1e-15)
    assert number(two, "missing_after") == 0.0
    assert number(three, "people") == 0 and number(three, "gain") is None


def test_semantic_attack_on_the_l_diverse_table() -> None:
    """The class of twenties is diverse by name, and all cancer."""
    cancer = {"cancer": ["colon cancer", "stomach cancer", "lung cancer"]}
    found = sievert.assess(
        TABLES["dr.ldiv"], "age_star", "disease", partitions={"disease": cancer}, attacks=True
    )
    assert found.attacks is not None
    merged = found.attacks["semantic"]["disease"].parts["partition"]
    assert number(merged, "people") == 3
    value = found.inference["disease"]["semantic_discrimination_rate"].value
    assert number(merged, "semantic_discrimination_rate") == value
    assert "3 people stand in a class where all values mean the same" in merged.reading


def test_hiv_of_the_itpr_paper() -> None:
    """ITPR paper, 5.2: 1,000 of 10^8 people, 5 of 100 in a class: .001 % becomes 5 %."""
    counts = [5, 95, 995, 10**8 - 1095]
    given = Cube.from_cells(
        ["class", "disease"], [[0, 0, 1, 1], [1, 0, 1, 0]], counts, [["a", "b"], ["-", "VIH"]]
    )
    found = skewness(given, named="VIH")
    assert number(found, "prior") == 1e-5
    assert number(found, "posterior") == 0.05
    assert number(found, "gain") == pytest.approx(0.04999, rel=1e-12)
    assert number(found, "ratio") == 5000.0
    assert number(found, "people") == 100
    assert found.worst is not None and number(found.worst, "t_closeness") == 0.04999
    # The class has more entropy than the table: entropy variation cannot see this attack.
    assert number(found.worst, "entropy_variation") < 0
    assert "5,000 times as many" in found.reading


# -- Adult ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adult(reference: Path) -> dict[str, list[str]]:
    return read_columns(reference / "data" / "adult" / "adult.csv", ";")


def pair(reference: Path, name: str) -> dict[str, list[str]]:
    return read_columns(reference / "data" / "pairs" / "arx_adult" / f"adult_{name}.csv.gz", ";")


def entropy(values: Sequence[Any]) -> float:
    n = len(values)
    return math.fsum(c / n * math.log2(n / c) for c in Counter(values).values())


def rate(target: Sequence[Any], given: Sequence[Any]) -> float:
    """1 - H(X|Y)/H(X) from H(X,Y) - H(Y)."""
    both = list(zip(target, given, strict=True))
    return 1 - (entropy(both) - entropy(given)) / entropy(target)


def rows(table: dict[str, list[str]], columns: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(table[c] for c in columns), strict=True))


# DR of the original values given the released ones (white box), by column and combined.
IDENTITY = {
    "qi4_k10_s5": (0.940665, 0.741365, 0.887236, 0.929546, 0.914137),
    "qi4_k15_s5": (0.962525, 0.352128, 0.926510, 0.953248, 0.867387),
}
# DR of the record given the released values (black box).
RECORD = {
    "qi4_k10_s5": (0.131632, 0.050958, 0.060733, 0.105107, 0.282168),
    "qi4_k15_s5": (0.128106, 0.028897, 0.057206, 0.100895, 0.267738),
}
# DR of occupation given the released values, by column and combined.
HOMOGENEITY = {
    "qi4_k10_s5": (0.022706, 0.010067, 0.005983, 0.046831, 0.087783),
    "qi4_k15_s5": (0.022860, 0.001891, 0.006133, 0.047671, 0.079829),
    "qi4_k10_l5_s5": (0.022657, 0.009921, 0.005983, 0.046809, 0.087483),
}
# DR of occupation given each value of marital-status; * is suppressed.
MARITAL = {
    "Divorced": (0.871509, 0.871785),
    "Married-AF-spouse": (0.999604, 0.999604),
    "Married-civ-spouse": (0.560557, 0.560557),
    "Married-spouse-absent": (0.992485, 0.992485),
    "Never-married": (0.692093, 0.692408),
    "Separated": (0.973822, 0.973822),
    "Widowed": (0.977185, 0.977185),
    "*": (0.955451, 0.954810),
}
# I(original; released) in bits and DR of occupation, as scikit-learn gives them (peers, A26).
PEERS = {
    "qi4_k10_l5_s5": (4.193132482032508, 0.08748271552138548),
    "qi4_k10_s0": (1.7595443410585447, 0.02427200523691534),
    "qi4_k10_s5": (4.198790107502896, 0.08778295007966373),
    "qi4_k15_s5": (3.9840626264733827, 0.0798290809858215),
}


@pytest.mark.parametrize("name", PEERS)
def test_attacks_on_adult(name: str, reference: Path, adult: dict[str, list[str]]) -> None:
    released = pair(reference, name)
    secret = adult["occupation"]
    found = sievert.attack(
        released,
        quasi=QI4,
        sensitive="occupation",
        original=adult,
        show_values=True,
        keep_suppressed=True,
    )
    assert "paired by order (checked)" in found.warnings
    assert found.pairing is not None and found.pairing.columns[0] == "race"
    assert min(found.pairing.excess) > 200
    black, white = (found["identity"][b] for b in ("black_box", "white_box"))
    plain = found["homogeneity"]["occupation"]
    information, dr = PEERS[name]
    whole = entropy(rows(adult, QI4))
    assert number(white, "discrimination_rate") == pytest.approx(information / whole, rel=1e-12)
    assert number(plain, "discrimination_rate") == pytest.approx(dr, rel=1e-12)
    records = range(len(secret))
    for column in QI4:
        for attack, target in ((white, adult[column]), (plain, secret), (black, records)):
            expected = rate(target, released[column])
            assert attack.columns[column].number.value == pytest.approx(expected, abs=1e-12)
    expected = rate(records, rows(released, QI4))
    assert number(black, "discrimination_rate") == pytest.approx(expected, abs=1e-12)
    for attack, typed in ((white, IDENTITY), (black, RECORD), (plain, HOMOGENEITY)):
        if name in typed:
            rates = [attack.columns[c].number.value for c in QI4]
            rates.append(number(attack, "discrimination_rate"))
            assert rates == pytest.approx(typed[name], abs=5e-7)


def test_homogeneity_by_value_of_marital_status(reference: Path) -> None:
    found = []
    for name in ("qi4_k10_s5", "qi4_k10_l5_s5"):
        result = sievert.assess(
            pair(reference, name),
            QI4,
            "occupation",
            attacks=True,
            show_values=True,
            keep_suppressed=True,
        )
        assert result.attacks is not None
        found.append(by_value(result.attacks["homogeneity"]["occupation"], "marital-status"))
    k, l = found  # noqa: E741
    assert set(k) == set(l) == set(MARITAL)
    for value, typed in MARITAL.items():
        assert (k[value], l[value]) == pytest.approx(typed, abs=5e-7)
    # By value the shares that are left add up to what is left on the whole.
    assert sum(1 - r for r in k.values()) == pytest.approx(
        1 - HOMOGENEITY["qi4_k10_s5"][0], abs=1e-6
    )


def test_homogeneity_of_adult_itself(adult: dict[str, list[str]]) -> None:
    """scikit-learn's homogeneity_score (peers, A26)."""
    found = sievert.assess(adult, QI4, "occupation", attacks=True)
    assert found.attacks is not None
    plain = found.attacks["homogeneity"]["occupation"]
    expected = [0.02265725132885181, 0.012633705190828546, 0.005693252816831608,
                0.04951704491940465]  # fmt: skip
    assert [plain.columns[c].number.value for c in QI4] == pytest.approx(expected, rel=1e-12)
    assert number(plain, "discrimination_rate") == pytest.approx(0.11666520758675877, rel=1e-12)
    value = found.inference["occupation"]["discrimination_rate"].value
    assert number(plain, "discrimination_rate") == value
    skewed = found.attacks["skewness"]["occupation"]
    for name in ("t_closeness", "entropy_variation"):
        assert number(skewed, name) == found.inference["occupation"][name].value
    # A25: the best guess of a record's class is right for 720 of 30,162 records.
    black = found.attacks["identity"]["black_box"]
    assert number(black, "people") == 321 and number(black, "candidates") == 1


# -- a register that overlaps by half --------------------------------------------------------------

HALF = 10_054  # of 30,162 records a third: the release has the first two, the register the last two


def split(
    adult: dict[str, list[str]], released: dict[str, list[str]], columns: Sequence[str]
) -> Any:
    ids = [f"p{i}" for i in range(len(adult["age"]))]
    release = {c: released[c][: 2 * HALF] for c in (*columns, "occupation")}
    register = {c: adult[c][HALF:][::-1] for c in columns}
    return (
        {"id": ids[: 2 * HALF], **release},
        {"id": ids[HALF:][::-1], "name": [f"n{i}" for i in range(2 * HALF)], **register},
    )


def ladders(reference: Path, columns: Sequence[str]) -> dict[str, Path]:
    folder = reference / "data" / "adult" / "hierarchies"
    return {c: folder / f"adult_hierarchy_{c}.csv" for c in columns}


def by_hand(
    release: Any, register: Any, columns: Sequence[str], files: dict[str, Path], hidden: bool
) -> Any:
    """Candidates, true and false matches, by comparing every class with every other."""
    above: dict[str, dict[str, set[str]]] = {}
    for column, file in files.items():
        with file.open(newline="") as lines:
            above[column] = {row[0]: set(row) for row in csv.reader(lines, delimiter=";")}

    def fits(asked: tuple[str, ...], held: tuple[str, ...]) -> bool:
        if not files:
            return asked == held
        if not hidden and set(held) == {"*"}:
            return False
        return all(h in above[c][a] for c, a, h in zip(columns, asked, held, strict=True))

    classes = Counter(rows(release, columns))
    different = set(rows(register, columns))
    number = (
        {q: sum(n for held, n in classes.items() if fits(q, held)) for q in different}
        if files
        else {q: classes[q] for q in different}
    )
    place = dict(zip(release["id"], rows(release, columns), strict=True))
    single = right = lost = known = 0
    guesses = Fraction(0)
    for who, asked in zip(register["id"], rows(register, columns), strict=True):
        single += number[asked] == 1
        if who in place:
            known += 1
            if fits(asked, place[who]):
                right += number[asked] == 1
                guesses += Fraction(1, number[asked])
            else:
                lost += 1
    each = [number[asked] for asked in rows(register, columns)]
    fewest = min(n for n in each if n)
    return {
        "rows": len(register["id"]), "unmatched": each.count(0), "single": single,
        "candidates": fewest, "people": each.count(fewest), "known": known, "true_matches": right,
        "false_matches": single - right, "lost": lost, "right_guesses": float(guesses),
    }  # fmt: skip


# rows without a candidate, with one, fewest candidates and the rows that have them; true and false
# matches, records that are no candidate of their own row, people found by guessing
NAMES = ("unmatched", "single", "candidates", "people", "true_matches", "false_matches", "lost",
         "right_guesses")  # fmt: skip
REGISTERS = {
    "unprotected, 4 columns": (140, 222, 1, 222, 129, 93, 0, 293.9422),
    "unprotected, 8 columns": (3339, 4619, 1, 4619, 3419, 1200, 0, 4669.9862),
    "qi4_k10_s5": (0, 0, 884, 916, 0, 0, 0, 5.1636),
    "qi4_k15_s5": (0, 0, 522, 542, 0, 0, 0, 6.7724),
}
WITHOUT_SUPPRESSED = {
    "qi4_k10_s5": (916, 0, 3, 8, 0, 0, 448, 63.3672),
    "qi4_k15_s5": (542, 0, 8, 20, 0, 0, 276, 37.8537),
}


@pytest.mark.parametrize("case", REGISTERS)
def test_a_register_that_overlaps_by_half(
    case: str, reference: Path, adult: dict[str, list[str]], tmp_path: Path
) -> None:
    protected = case.startswith("qi4")
    columns = QI8 if "8" in case else QI4
    released = pair(reference, case) if protected else adult
    release, register = split(adult, released, columns)
    files = ladders(reference, columns) if protected else {}
    found = sievert.attack(
        write_columns(tmp_path / "release.csv", release),
        quasi=columns,
        register=write_columns(tmp_path / "register.csv", register),
        key="id",
        hierarchies={c: str(f) for c, f in files.items()},
    )
    grey = found["identity"]["grey_box"]
    for name, expected in by_hand(release, register, columns, files, True).items():
        assert number(grey, name) == pytest.approx(expected, rel=1e-12), name
    assert [number(grey, n) for n in NAMES] == pytest.approx(REGISTERS[case], abs=5e-5)
    assert number(grey, "known") == HALF
    assert bool(grey.parts) is protected
    if protected:
        rest = grey.parts["without_suppressed"]
        for name, expected in by_hand(release, register, columns, files, False).items():
            assert number(rest, name) == pytest.approx(expected, rel=1e-12), name
        typed = WITHOUT_SUPPRESSED[case]
        assert [number(rest, n) for n in NAMES] == pytest.approx(typed, abs=5e-5)


def test_the_original_of_the_same_release(
    reference: Path, adult: dict[str, list[str]], tmp_path: Path
) -> None:
    """White box by a key: the original is larger, and in another order."""
    release, _ = split(adult, pair(reference, "qi4_k10_s5"), QI4)
    original = {"id": [f"p{i}" for i in range(len(adult["age"]))][::-1]}
    original |= {c: adult[c][::-1] for c in QI4}
    files = [
        write_columns(tmp_path / f"{name}.csv", columns)
        for name, columns in (("release", release), ("original", original))
    ]
    found, shown = (
        sievert.attack(files[0], quasi=QI4, original=files[1], key="id", keep_suppressed=keep)
        for keep in (True, False)
    )
    white = found["identity"]["white_box"]
    assert white.details["paired"] == 2 * HALF and white.details["released_only"] == 0
    true = {c: adult[c][: 2 * HALF] for c in QI4}
    expected = rate(rows(true, QI4), rows(release, QI4))
    assert number(white, "discrimination_rate") == pytest.approx(expected, rel=1e-12)
    for column in QI4:
        alone = rate(true[column], release[column])
        assert white.columns[column].number.value == pytest.approx(alone, rel=1e-12)
    # Nobody's values were changed but to *: whoever is not suppressed is known.
    kept = sum(row != ("*",) * 4 for row in rows(release, QI4))
    assert number(white, "people") == kept
    rest = shown["identity"]["white_box"]
    assert rest.details["paired"] == number(rest, "people") == kept
    assert number(rest, "discrimination_rate") == 1


# -- a register of everybody -----------------------------------------------------------------------

# Guessing among the candidates finds one person a class: the chance of a right guess times the
# records. Rows with one candidate are all true matches: the deterministic success. As bvmlib and
# privattacks print them (peers, A13, A14, A15, A25).
STUDENTS = {
    "age": ["25"] * 5 + ["49"] * 4 + ["60"],
    "gender": list("FFFMMFFFMM"),
}
WORKERS = {
    "age": ["20", "30", "30", "30", "30", "55", "55", "55"],
    "education": ["Master", "HS", "HS", "PhD", "PhD", "Bachelor", "Bachelor", "Bachelor"],
}
UCI = ["age", "sex", "race", "native-country", "marital-status", "workclass", "occupation"]


def everybody(table: dict[str, list[str]], columns: Sequence[str]) -> tuple[float, float]:
    """The chance of a right guess, and the share of rows with one candidate."""
    number = len(table[columns[0]])
    known = {"id": [str(i) for i in range(number)], **{c: table[c] for c in columns}}
    found = sievert.attack(known, quasi=columns, register=known, key="id")["identity"]["grey_box"]
    assert grey_is_true(found)
    return found.numbers["right_guesses"].value / number, found.numbers["single"].value / number


def grey_is_true(found: Attack) -> bool:
    n = {k: v.value for k, v in found.numbers.items()}
    return n["single"] == n["true_matches"] and n["false_matches"] == n["lost"] == 0


def test_a_register_of_everybody() -> None:
    assert everybody(STUDENTS, ["age", "gender"]) == pytest.approx((0.5, 0.2), abs=1e-12)
    assert everybody(WORKERS, ["age", "education"])[0] == pytest.approx(1 / 2, abs=1e-12)
    assert everybody(WORKERS, ["age"])[0] == pytest.approx(3 / 8, abs=1e-12)


def test_a_register_of_all_of_adult(reference: Path, adult: dict[str, list[str]]) -> None:
    guessed, single = everybody(adult, QI4)
    assert guessed == pytest.approx(0.023871096081161728, rel=1e-12)
    assert single == pytest.approx(0.010642530336184603, rel=1e-12)
    assert everybody(adult, QI8)[0] == pytest.approx(0.4130362708043233, rel=1e-12)
    whole = read_columns(reference / "data" / "adult" / "adult_uci_32561.csv", ",")
    guessed, single = everybody(whole, UCI)
    assert guessed == pytest.approx(12_649 / 32_561, rel=1e-12)
    assert (guessed, single) == pytest.approx((0.388471, 0.262738), abs=5e-7)
