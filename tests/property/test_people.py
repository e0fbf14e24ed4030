"""People with several rows: every number against an oracle, on every path that counts them."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from helpers import peopleoracle
from helpers.effort import tried
from helpers.randomtables import Case, case

import sievert
from sievert import session
from sievert.counts.coded import CodedPeople
from sievert.counts.memory_cells import PeopleCounter
from sievert.counts.packed.people import PackedPeople
from sievert.errors import InputError, UsageError
from sievert.measurement.combinations import count_combinations
from sievert.measurement.subsets import Subsets
from sievert.measurement.table_measures import MeasureSettings, TableMeasures
from sievert.measures.unicity import Trajectories
from sievert.roles import Roles, tells_people_apart
from sievert.session import Clock

PARTS = tried(2, 20)
EACH = tried(30, 50)  # tables of a part
WILDCARD = ("wildcard", "records_with_missing_quasi")


def table(seed: int) -> Case:
    """A random table whose rows are of fewer people, some rows of nobody known."""
    random = Random(seed)
    made = case(random)
    rows = len(made.columns["s"])
    names: list[Any] = [f"p{i}" for i in range(random.choice((1, 2, max(1, rows // 2), rows)))]
    names += [None] if random.random() < 0.4 else []
    made.columns["id"] = [random.choice(names) for _ in range(rows)]
    return made


def same(ours: Any, due: Any) -> bool:
    if ours is None or due is None:
        return ours is due
    return math.isclose(ours, float(due), rel_tol=1e-9, abs_tol=1e-12)


def compare(made: Case, questions: Any, settings: MeasureSettings, named: str | None) -> None:
    measures = TableMeasures(
        questions,
        Roles(quasi=made.quasi, sensitive=("s",)),
        settings,
        None,
        Clock(session.no_progress),
    )
    found, learnt = measures.reidentification(), measures.inference("s")
    due = peopleoracle.reidentification(made.rows, made.quasi, "id")
    about = peopleoracle.inference(
        made.rows, made.quasi, "s", "id", order=made.order, ladder=made.ladder,
        partition=made.partition, named=named, l=made.l,
    )  # fmt: skip
    known = [row for row in made.rows if row["s"] is not None]
    for measure, value in found.items():
        expected = due[measure][5] if measure == "records_below" else due[measure]
        assert same(value.value, expected), measure
    assert found["unique_records"].details["records"] == due["unique_people"]
    if "of_random_row" in found["average_risk"].details:
        ours = found["average_risk"].details["of_random_row"]
        assert same(ours, due["average_risk_of_random_row"])
    for measure, value in learnt.items():
        assert same(value.value, about[measure]), measure
        if (number := value.details.get("without_missing")) is None:
            continue
        if f"{measure}_without_missing" in about:
            assert same(number, about[f"{measure}_without_missing"]), measure
        elif known:
            assert same(number, peopleoracle.inference(known, made.quasi, "s", "id")[measure])


@pytest.mark.parametrize("part", range(PARTS))
def test_the_oracle_agrees(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In NumPy, as of small tables, and in SQL."""
    for seed in range(part * EACH, (part + 1) * EACH):
        made = table(seed)
        ladder = {k: v for k, v in made.ladder.items() if k is not None}
        settings = MeasureSettings(
            hierarchies={"s": ladder},
            orders={"s": made.order},
            partitions={"s": made.partition},
            parameters={"alpha_k": {"value": made.named}, "recursive_c": {"l": made.l}},
        )
        for small, kind in ((10**4, CodedPeople), (0, PeopleCounter)):
            monkeypatch.setattr(session, "SMALL", small)
            with session.open_source(made.columns) as (_, questions):
                people = session.count_people(questions, "id")
                assert type(people.counter) is kind
                compare(made, people, settings, made.named)


@pytest.mark.parametrize("part", range(PARTS))
def test_the_oracle_agrees_with_packed_keys(part: int) -> None:
    for seed in range(part * EACH, (part + 1) * EACH):
        made = table(seed)
        text = pa.table({c: pa.array(v, pa.string()) for c, v in made.columns.items()})
        settings = MeasureSettings(parameters={"recursive_c": {"l": made.l}})
        with session.open_source(text, large=0) as (_, questions):
            people = session.count_people(questions, "id")
            assert isinstance(people.counter, PackedPeople)
            compare(made, people, settings, None)


@pytest.mark.parametrize("seed", range(tried(15, 300)))
def test_one_row_a_person_changes_nothing(seed: int, tmp_path: Path) -> None:
    """Bit for bit, the record file included."""
    made, results, files = table(seed), [], []
    made.columns["id"] = [f"p{i}" for i in range(len(made.columns["s"]))]
    for person in (None, "id"):
        path = tmp_path / f"{person}.csv"
        result = sievert.assess(made.columns, made.quasi, ["s"], person=person, records=path)
        results.append(result.to_dict())
        files.append(path.read_bytes())
    rows, people = results
    assert files[0] == files[1]
    assert people["table"].pop("people") == people["table"]["rows"]
    assert plain(people) == plain(rows)


def plain(result: dict[str, Any]) -> dict[str, Any]:
    """The numbers; of rows without what a wildcard would match, which people do not have."""
    found = {
        name: {key: detail for key, detail in entry.items() if key not in WILDCARD}
        | ({"unit": "records"} if entry["unit"] == "people" else {})
        for name, entry in result["reidentification"].items()
    }
    return {"found": found, "learnt": result["inference"], "near": result.get("approximate")}


@pytest.mark.parametrize("seed", range(tried(20, 400)))
def test_trajectories_and_subsets(seed: int) -> None:
    made = table(seed)
    with session.open_source(made.columns) as (_, questions):
        people = session.count_people(questions, "id")
        trajectories = Trajectories(people.sighting_cube(made.quasi))
        subsets = Subsets(count_combinations(people, made.quasi, ["s"]))
    subsets.all()
    for m in (1, 2):
        due = float(peopleoracle.unicity(made.rows, made.quasi, "id", m))
        assert trajectories.unicity(m).value == pytest.approx(due, abs=1e-12)
    if seed % 8 == 0:
        sampled = trajectories.unicity(3, seed)
        due = float(peopleoracle.unicity(made.rows, made.quasi, "id", 3))
        assert sampled.seed == seed
        assert sampled.value == pytest.approx(due, abs=0.03)
        assert sampled.low <= sampled.value <= sampled.high
    for columns, subset in subsets.results.items():
        if not columns:
            continue
        due_found = peopleoracle.reidentification(made.rows, columns, "id")
        due_found["unique_count"] = due_found["unique_people"]
        due_learnt = peopleoracle.inference(made.rows, columns, "s", "id")
        for ours, expected in (
            (subset.reidentification, due_found),
            (subset.inference["s"], due_learnt),
        ):
            assert all(same(number, expected[name]) for name, number in ours.items())


def test_record_file(tmp_path: Path) -> None:
    made = table(7)
    path = tmp_path / "records.csv"
    sievert.assess(made.columns, made.quasi, ["s"], person="id", records=path)
    header, *lines = path.read_text().splitlines()
    assert header == "record,class_size,identity_bits,s.posterior,s.information_gain,s.l_diversity"
    values: dict[tuple[Any, ...], set[Any]] = {}
    for row in made.rows:
        values.setdefault(tuple(row[q] for q in made.quasi), set()).add(row["s"])
    due_lines = peopleoracle.per_record(made.rows, made.quasi, ["s"], "id")
    for line, row, due in zip(lines, made.rows, due_lines, strict=True):
        _, size, bits, posterior, gain, diversity = line.split(",")
        own = values[tuple(row[q] for q in made.quasi)]
        assert int(diversity) == min(len(own), due["class_size"])  # nobody hides behind oneself
        assert int(size) == due["class_size"]
        assert same(float(bits), due["identity_bits"])
        assert same(float(posterior), due["posterior"]["s"])
        assert same(float(gain), due["information_gain"]["s"])


# -- five rows each -------------------------------------------------------------------------------

FIVE = {
    "patient_id": [f"p{i // 5}" for i in range(1000)],
    "age": [20 + i // 5 % 50 for i in range(1000)],
    "zip": [1000 + i // 5 for i in range(1000)],
    "ill": [("flu", "cold", "hiv")[i % 3] for i in range(1000)],
}
LIMITS = {"limits": {"k_anonymity": {"min": 5}}}


def policy(**roles: Any) -> dict[str, Any]:
    return {"roles": {"quasi": ["age", "zip"], "sensitive": ["ill"], **roles}, **LIMITS}


def reasons(result: Any) -> list[str]:
    """Return what decides besides the limits."""
    return [reason["what"] for reason in result.to_dict()["policy"]["reasons"]]


def test_everybody_is_alone_with_five_rows() -> None:
    rows = sievert.assess(FIVE, ["age", "zip"], ["ill"])
    people = sievert.assess(FIVE, ["age", "zip"], ["ill"], person="patient_id")
    assert rows.reidentification["k_anonymity"].value == 5
    assert people.reidentification["k_anonymity"].value == 1
    assert people.reidentification["k_anonymity"].unit == "people"
    assert people.reidentification["unique_records"].value == 1
    assert (people.people, people.rows) == (200, 1000)
    assert not people.cautions
    (caution,) = rows.cautions
    text = str(rows)
    assert text.index("Caution") < text.index("k-anonymity")
    assert "'patient_id'" in caution
    assert rows.to_dict()["cautions"] == [caution]


@pytest.mark.parametrize(
    "roles", [{"identifier": ["patient_id"]}, {"ignored": {"patient_id": "x"}}]
)
def test_a_gate_is_not_met_by_rows_that_share_an_identifier(roles: dict[str, Any]) -> None:
    """Neither the file, which still holds the column, nor the plan to release it without."""
    refused = sievert.assess(FIVE, policy=policy(**roles))
    assert refused.met is False
    assert reasons(refused) == ["file_holds", "identifier_repeats"]
    planned = sievert.assess(FIVE, policy=policy(**roles), planned=True)
    assert planned.met is None and planned.planned_met is False
    assert reasons(planned) == ["identifier_repeats"]
    stating = policy(rows_are_people=True, **roles)
    held = sievert.assess(FIVE, policy=stating)
    assert held.met is False and reasons(held) == ["file_holds"]
    stated = sievert.assess(FIVE, policy=stating, planned=True)
    assert stated.met is None and stated.planned_met is True and not reasons(stated)
    # an identifier that repeats contradicts the other statement of the policy
    assert bool(stated.cautions) is ("identifier" in roles)


def test_a_number_of_rows_is_no_person() -> None:
    """A person column that never repeats beside an identifier that does: rows, not people."""
    data = {**FIVE, "row": [str(i) for i in range(1000)]}
    named = policy(person="row", ignored={"patient_id": "dropped later"})
    judged = sievert.assess(data, policy=named)
    assert judged.met is False and judged.cautions
    planned = sievert.assess(data, policy=named, planned=True)
    assert planned.planned_met is False and reasons(planned) == ["identifier_repeats"]
    assert sievert.assess(data, ["age", "zip"], person="row").cautions
    assert not sievert.assess(data, ["age", "zip"], person="patient_id").cautions


@pytest.mark.parametrize("own", [{"person": "patient_id"}, {"rows_are_people": True}, {}])
def test_a_person_given_beside_the_policy_does_not_open_the_gate(own: dict[str, Any]) -> None:
    data = {**FIVE, "row": [str(i) for i in range(1000)]}
    ignored = {"row": "a number", **({} if "person" in own else {"patient_id": "dropped"})}
    judged = sievert.assess(data, policy=policy(ignored=ignored, **own), planned=True)
    assert judged.planned_met is ("rows_are_people" in own)
    ignored.pop("row")
    for planned in (False, True):
        replaced = sievert.assess(
            data, policy=policy(ignored=ignored, **own), person="row", planned=planned
        )
        assert (replaced.planned_met if planned else replaced.met) is False
        assert "person_replaced" in reasons(replaced)


def test_rows_without_a_person_leave_a_gate_undecided() -> None:
    data = {"id": [None] * 20, "q": ["x"] * 20, "ill": ["a", "b"] * 10}
    named = {"roles": {"quasi": ["q"], "sensitive": ["ill"], "person": "id"}, **LIMITS}
    judged = sievert.assess(data, policy=named, planned=True)
    assert judged.planned_met is None
    assert reasons(judged) == ["rows_without_person"]
    held = sievert.assess(data, policy=named)
    assert held.met is False
    assert reasons(held) == ["file_holds", "rows_without_person"]


def test_a_gate_counts_people() -> None:
    judged = sievert.assess(FIVE, policy=policy(person="patient_id"))
    assert judged.met is False
    (limit,) = judged.to_dict()["policy"]["limits"]
    assert limit["value"] == 1
    assert "people were counted" in judged.to_dict()["policy"]["rests_on"]


def test_rows_without_a_person_are_people_of_their_own() -> None:
    data = {"id": ["a", "a", None, None], "q": ["x", "x", "x", "x"]}
    result = sievert.assess(data, ["q"], person="id")
    assert result.people == 3
    assert result.reidentification["k_anonymity"].value == 3
    assert any("2 records without a person" in w for w in result.warnings)


def test_what_is_not_defined_for_people_is_refused(tmp_path: Path) -> None:
    roles: dict[str, Any] = {"quasi": ["age"], "sensitive": ["ill"], "person": "patient_id"}
    numbers = {**FIVE, "pay": list(range(1000))}
    with pytest.raises(UsageError, match="several rows"):
        sievert.compare(FIVE, [FIVE], **roles)
    with pytest.raises(UsageError, match="several rows"):
        sievert.randomise(FIVE, at=[0.1], **roles)
    with pytest.raises(UsageError, match="several rows"):
        sievert.compromise(numbers, **{**roles, "sensitive": ["pay"]})
    with pytest.raises(UsageError, match="several rows"):
        sievert.attack(FIVE, **roles)
    with pytest.raises(UsageError, match="several rows"):
        sievert.assess(FIVE, attacks=True, **roles)
    with pytest.raises(UsageError, match="several rows"):
        sievert.assess(FIVE, missing="wildcard", **roles)
    with pytest.raises(UsageError, match="several rows"):
        sievert.explain(FIVE, population_size=10_000, **roles)
    with pytest.raises(UsageError, match="who is who"):
        sievert.assess(FIVE, ["age"], trajectory=2)
    with pytest.raises(UsageError, match="person"):
        sievert.assess(FIVE, ["age"], ["ill"], person="nobody")
    with pytest.raises((UsageError, InputError)):
        sievert.assess(FIVE, ["age"], person="age")


def test_explanation_in_people() -> None:
    result = sievert.explain(FIVE, ["age", "zip"], ["ill"], person="patient_id")
    assert result.chapters["columns"]["age"]["without"]["reidentification"]["unique_count"] == 200
    assert "200 of 200 people" in str(result)


def test_the_share_of_trajectories() -> None:
    result = sievert.assess(FIVE, ["age"], person="patient_id", trajectory=1)
    assert result.to_dict()["trajectory"]["value"] == 0
    assert "nobody else's (unicity)" in " ".join(str(result).split())


@pytest.mark.parametrize(
    ("column", "likely"),
    [("patient_id", True), ("ID", True), ("subjectId", True), ("e-mail", False), ("covid", False)],
)
def test_names_of_columns_that_tell_people_apart(column: str, likely: bool) -> None:
    assert tells_people_apart(column) is likely


def test_codes_of_few_values_are_not_people() -> None:
    """A hospital's number repeats a hundred times and more: no caution.

    The rows are shuffled, for the ages of `FIVE` come in runs, which is a caution of its own.
    """
    data = {**{k: v for k, v in FIVE.items() if k != "patient_id"}, "hospital_id": ["a", "b"] * 500}
    places = Random("shuffled").sample(range(1000), 1000)
    shuffled = {column: [values[i] for i in places] for column, values in data.items()}
    assert not sievert.assess(shuffled, ["age"], ["ill"]).cautions
    few = sievert.assess(
        {**shuffled, "patient_id": [FIVE["patient_id"][i] for i in places]}, ["age"]
    )
    assert any("'patient_id'" in caution for caution in few.cautions)


def test_shareable_numbers_need_a_word_on_identifiers() -> None:
    """Whether it does repeat decides nothing: that would tell of single rows."""
    once = {**FIVE, "patient_id": [str(i) for i in range(1000)]}
    for data in (FIVE, once):
        shared = sievert.assess(data, ["age"], ["ill"]).share().to_dict()
        assert not shared["reidentification"] and not shared["inference"]["ill"]
        stated = policy(identifier=["patient_id"], rows_are_people=True)
        assert sievert.assess(data, policy=stated).share().to_dict()["reidentification"]
    assert (
        not sievert.assess(FIVE, ["age"], person="patient_id").share().to_dict()["reidentification"]
    )
