"""The paper on approximate compromise, recomputed: claims by state, key numbers, census records."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import sievert
from sievert import charts
from sievert.errors import InputError
from sievert.papers.approximate_compromise import appendix, experiment, figures, paper
from sievert.papers.approximate_compromise.methods import (
    OWN,
    PUMS,
    RECORDS,
    SALARIES,
    TABLE_2,
    UCI,
    census,
    generate_table,
    given_tables,
    numbers,
    table_2,
)
from sievert.papers.claims import NEED_WHY, Claim, Given, Paper, PaperPart
from sievert.report.page import Picture

COUNTED = {
    "match": 36,
    "true": 47,
    "false": 1,
    "contradicts itself": 6,
    "not determined by the text": 3,
}
STATEMENTS = 39  # of section 6, for each table
ENTROPIES = {0: 1.319035274339, 1: 1.054015773073, 2: 0.811278124459, 5: 0.811278124459,
             6: 0.609840304716, 7: 0.286396957116, 8: 0.0}  # fmt: skip
FIGURES = ["Figure 2a", "Figure 2b", "Figure 2c", "Figure 2d", "Figure 2e", "Figure 2f",
           "Figure 4c", "Figure 4d"]  # fmt: skip
# Half the records against sums of eight: what holds on which table, in this order.
SIMILAR, KNOWING = "Q = 8, nothing known", "Q = 8, one column known"
HALF = (SIMILAR, KNOWING, "sample: H0 drops", "sample: area drops", "Q = 8: H0 remains",
        "Q = 8: area remains", "is superior", "is slight", "more vulnerable")  # fmt: skip
HOLDS = {
    "generated": (True, False, True, True, True, False, True, True, True),
    "census, all incomes": (False, False, True, True, False, False, True, False, False),
    "census, 10,000 to 250,000": (False, True, True, True, False, False, True, False, False),
}


@pytest.fixture(scope="module")
def found(plain_paper: Callable[[str], Paper]) -> Paper:
    return plain_paper("approximate-compromise")


@pytest.fixture(scope="module")
def of_census(reference: Path) -> Paper:
    path = reference / "data" / "pums" / "pums_california_10000.csv"
    return paper(Given({"pums": str(path)}))


def part_of(of: Paper, title: str) -> PaperPart:
    (part,) = (p for p in of.parts if title in p.title)
    return part


def only(of: Paper | PaperPart, words: str) -> Claim:
    parts = of.parts if isinstance(of, Paper) else (of,)
    (claim,) = (c for part in parts for c in part.claims if words in c.what)
    return claim


def pictures(of: Paper) -> list[Picture]:
    return [b for part in of.parts for b in part.blocks if isinstance(b, Picture)]


def panel(of: Picture) -> str:
    return " ".join(of.spec["title"]["text"]).partition(":")[0]


def test_claims_by_state(found: Paper) -> None:
    assert found.count_states() == Counter(COUNTED)
    assert found.name == "approximate-compromise"


def test_every_part_explains_itself(found: Paper) -> None:
    for part in found.parts:
        assert part.title and part.about.endswith(".")
        for claim in part.claims:
            assert claim.what and claim.printed and claim.ours
            assert bool(claim.why) == (claim.state in NEED_WHY), claim.what


def test_pictures_are_drawn(found: Paper) -> None:
    drawn = pictures(found)
    assert [panel(p) for p in drawn][2:] == FIGURES and len(drawn) == 10
    for picture in drawn:
        assert "<svg" in charts.svg(picture.spec)
        assert 0 < len(picture.behind.rows) <= 25


def test_the_two_examples(found: Paper) -> None:
    part = part_of(found, "Table 1")
    assert len(part.claims) == 10 and {c.state for c in part.claims} == {"match"}
    assert only(found, "area is much larger").ours == "57 and 3, 19 times"


def test_appendix(found: Paper) -> None:
    left = appendix.approximate_entropies()
    for eps, exact in ENTROPIES.items():
        assert left.entropy(eps) == pytest.approx(exact, abs=1e-12)
        assert min(map(appendix.entropy, appendix.covers(eps))) == pytest.approx(exact, abs=1e-12)
    assert left.area == pytest.approx(6.514400807081, abs=1e-12)
    claim = only(found, "by the words of section 3")
    assert (claim.printed, claim.ours, claim.state) == ("0.811", "1.31904", "contradicts itself")


def test_the_printed_algorithm() -> None:
    """Against every way to cut six values, with gaps."""
    x, p = [1, 2, 4, 7, 8, 12], [0.1, 0.3, 0.05, 0.25, 0.2, 0.1]
    theirs, lacking = appendix.printed_algorithm(x, p)
    ours = sievert.approximate_compromise(x, p)
    for eps, h in enumerate(theirs):
        values = [float(v) for v in x]
        least = min(map(appendix.entropy, appendix.covers(eps, values, p)))
        assert h == pytest.approx(least, abs=1e-12) == ours.entropy(eps)
    assert (len(theirs), lacking) == (12, 5)


def test_table_2(found: Paper) -> None:
    assert [only(found, f"{name}: number of values").state for name in TABLE_2] == ["match"] * 7
    assert [values for *_, values in TABLE_2.values()] == [25, 69, 2, 16, 18, 25, 177]


def test_methods(found: Paper) -> None:
    weights = only(found, "sum of the weights")
    assert (weights.ours, weights.state) == ("0.1176", "contradicts itself")
    assert [only(found, f"equations, n = 2,500, Q = {q}").ours for q in (2, 4, 8, 32)] == [
        "2499", "1249", "624", "155",
    ]  # fmt: skip
    assert only(found, "linearly independent").state == "true"
    assert only(found, "to know every value").ours.endswith("2,500 values are settled")


def test_generated_people() -> None:
    """The domains of Table 2, every salary at least once."""
    people = numbers(0)
    named = dict(zip(people, ("Age", "Sex", "Education", "Industry", "Occupation",
                              "Work Travel Time", "Salary"), strict=True))  # fmt: skip
    for column, name in named.items():
        least, most, *_ = TABLE_2[name]
        assert len(people[column]) == RECORDS
        assert least <= people[column].min() and people[column].max() <= most
    assert sorted(set(people["salary"].tolist())) == SALARIES
    assert generate_table(0) == generate_table(0) != generate_table(1)


def test_figures_rise_and_fall(found: Paper) -> None:
    """Figure 2a: down with what is known, up with smaller samples; 2e and 4c have one content."""
    behind = {panel(p): p.behind.rows for p in pictures(found)}
    numbers_2a = [[float(str(x)) for x in row[1:]] for row in behind["Figure 2a"]]
    for row in numbers_2a:
        assert row[0] > row[-1]
    for high, low in itertools.pairwise(numbers_2a):
        assert all(a < b for a, b in zip(high, low, strict=True))
    assert [row[1] for row in behind["Figure 2e"]] == list(behind["Figure 4c"][0][1:])


def states(part: PaperPart) -> tuple[bool, ...]:
    return tuple(only(part, words).state == "true" for words in HALF)


def test_section_6_on_the_generated_table(found: Paper) -> None:
    part = part_of(found, "Section 6 on a table: generated")
    assert len(part.claims) == STATEMENTS
    assert states(part) == HOLDS["generated"]
    for words in ("grows as utility", "from one known column to all", "mean over records",
                  "more gently"):  # fmt: skip
        held = [c for c in part.claims if words in c.what]
        assert len(held) == 6 and {c.state for c in held} == {"true"}
    assert only(part, SIMILAR).ours == "4.34 and 4.37 bits"


def test_the_same_seed_gives_the_same(found: Paper) -> None:
    steps: list[str] = []
    assert paper(Given(step=steps.append)) == found
    assert steps[0] == "table 1" and len(steps) == 8


def test_without_census_records(found: Paper) -> None:
    part = found.parts[-1]
    assert "--data pums=FILE" in part.about and not part.claims


@pytest.mark.parametrize("name", list(HOLDS)[1:])
def test_section_6_on_census_records(of_census: Paper, name: str) -> None:
    part = part_of(of_census, name)
    assert len(part.claims) == STATEMENTS
    assert states(part) == HOLDS[name]
    assert "2,500 records" in part.about and "times thousands" in part.about
    for words in ("grows as utility", "mean over combinations", "mean over records", "gently"):
        assert {c.state for c in part.claims if words in c.what} == {"true"}
    assert {c.state for c in part.claims} == {"true", "not determined by the text"}


def write_own(path: Path, least_travel: int) -> str:
    """The seven columns of Table 2, with its ends."""
    people = numbers(7)
    for column, name in OWN.items():
        people[column][-2:] = TABLE_2[name][:2]
    people["travel"][people["travel"] < least_travel] = least_travel
    rows = zip(*(people[column].astype(int).tolist() for column in OWN), strict=True)
    path.write_text("\n".join([",".join(OWN), *(",".join(map(str, row)) for row in rows)]))
    return str(path)


def test_the_seven_columns_of_the_paper(tmp_path: Path) -> None:
    """Records that fit Table 2 are taken for the paper's; of others nothing follows."""
    path = write_own(tmp_path / "own.csv", 1)
    (table,) = census(path)
    assert table.own and (table.step, table.secret, len(table.known)) == (10, "salary", 6)
    part = table_2(Given({"pums": path}))
    assert len(part.claims) == 8 + 15 and {c.state for c in part.claims} == {"match"}
    (other,) = census(write_own(tmp_path / "other.csv", 2))
    assert not other.own and len(table_2(Given({"pums": str(tmp_path / "other.csv")})).claims) == 8


def test_the_other_data_sets(reference: Path) -> None:
    files = {name: str(reference / "data" / "uci" / f"{name}.csv") for name in UCI}
    tables = given_tables(Given(files))
    assert [(t.name, len(t.columns[t.secret]), len(t.known)) for t in tables] == [
        ("wine", 178, 6), ("breast cancer", 569, 6),
    ]  # fmt: skip
    assert all({*t.columns[c]} <= set("01234567") for t in tables for c in t.known)
    part = figures._section_6(tables[0], experiment.run(tables[0], 0, 2), "2 runs")
    assert len(part.claims) == STATEMENTS and "false" not in {c.state for c in part.claims}


def test_census_adds_two_parts(found: Paper, of_census: Paper) -> None:
    assert of_census.parts[:-2] == found.parts[:-1]
    assert of_census.count_states().total() == found.count_states().total() + 2 * STATEMENTS


@pytest.mark.parametrize(
    ("header", "row", "told"),
    [
        ("sex,age", "secretive,3", "no column 'educ', 'latino', 'black', 'married', 'income'"),
        (",".join([*PUMS, "income"]), "1,2,3,4,5,6,secretive", "values that are not numbers"),
        (",".join([*PUMS, "income"]), "1,2,3,4,5,6,70000", "1 records with an income"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, header: str, row: str, told: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"{header}\n{row}\n")
    with pytest.raises(InputError, match=told) as error:
        census(str(path))
    assert "secretive" not in str(error.value) and "\n" not in str(error.value)
