"""Write a fictional hospital table to try sievert on.

    python examples/hospital.py hospital.csv
    python examples/hospital.py hospital.csv --rows 20000 --seed 1 --hierarchies ladders
    python examples/hospital.py hospital.csv --releases protected

Nobody in the table exists. What makes it worth measuring is that its columns hang together the way
a real discharge register does: patients are mostly old, a few districts supply most of them, age
and sex shape the diagnosis, and the diagnosis shapes the department and the length of stay. So some
patients are alone with their values, and some groups share one diagnosis although nobody in them
is alone.

The same rows and seed give the same bytes everywhere: the only source of chance is
``random.Random(seed).random()``, and no function of the platform's mathematics library is called.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

COLUMNS = (
    "patient_id",
    "sex",
    "age",
    "postcode",
    "occupation",
    "admission_month",
    "department",
    "diagnosis",
    "length_of_stay",
)

MONTHS = tuple(f"{year}-{month:02d}" for year in (2023, 2024) for month in range(1, 13))

# Share of the records in which a field was left empty at admission.
MISSING = {"postcode": 0.015, "occupation": 0.02, "diagnosis": 0.01}

# (youngest, oldest, weight, share of women): hospitals see mostly the old, and more old women.
AGES = (
    (0, 0, 3.0, 0.48),
    (1, 5, 2.5, 0.46),
    (6, 17, 4.0, 0.48),
    (18, 29, 8.0, 0.66),
    (30, 44, 11.0, 0.62),
    (45, 59, 14.0, 0.47),
    (60, 69, 17.0, 0.46),
    (70, 79, 21.0, 0.50),
    (80, 89, 16.5, 0.58),
    (90, 99, 2.8, 0.70),
    (100, 103, 0.2, 0.85),
)
OLDEST = AGES[-1][1]

Curve = tuple[tuple[int, float], ...]  # (from this age on, factor), ages rising

ANY: Curve = ((0, 1.0),)
NEWBORN: Curve = ((0, 30.0), (1, 0.0))
CHILD: Curve = ((0, 2.0), (2, 4.0), (12, 2.0), (18, 0.3), (40, 0.2))
YOUNG: Curve = ((0, 0.1), (6, 2.5), (30, 0.8), (45, 0.3), (65, 0.1))
FERTILE: Curve = ((0, 0.0), (18, 6.0), (25, 14.0), (36, 5.0), (41, 0.8), (46, 0.0))
ADULT: Curve = ((0, 0.0), (16, 1.0), (60, 0.6), (75, 0.2))
MIDDLE: Curve = ((0, 0.0), (25, 0.4), (40, 1.2), (70, 0.5), (85, 0.1))
OLD: Curve = ((0, 0.0), (35, 0.1), (50, 0.5), (65, 1.0), (80, 1.4))
VERY_OLD: Curve = ((0, 0.0), (50, 0.1), (65, 0.6), (75, 1.5), (85, 3.0))
BOTH_ENDS: Curve = ((0, 1.5), (6, 0.3), (50, 0.6), (70, 1.3), (85, 2.0))


@dataclass(frozen=True)
class Diagnosis:
    """How often a diagnosis is made, in whom, where it is treated and for how long."""

    name: str
    group: str
    department: str
    weight: float
    ages: Curve
    days: float
    women: float = 1.0
    men: float = 1.0
    winter: float = 1.0


DIAGNOSES = (
    Diagnosis("heart failure", "circulation", "cardiology", 15.0, VERY_OLD, 9.0),
    Diagnosis("myocardial infarction", "circulation", "cardiology", 8.0, OLD, 7.0, women=0.6),
    Diagnosis("atrial fibrillation", "circulation", "cardiology", 9.0, OLD, 4.0),
    Diagnosis("stroke", "circulation", "neurology", 8.0, VERY_OLD, 11.0),
    Diagnosis("pneumonia", "respiration", "internal medicine", 8.0, BOTH_ENDS, 8.0, winter=2.2),
    Diagnosis("chronic bronchitis", "respiration", "internal medicine", 7.0, OLD, 7.0, winter=1.6),
    Diagnosis("asthma", "respiration", "internal medicine", 1.5, CHILD, 3.0),
    Diagnosis("type 2 diabetes", "metabolism", "internal medicine", 8.0, OLD, 6.0),
    Diagnosis("kidney failure", "metabolism", "internal medicine", 4.0, VERY_OLD, 8.0),
    Diagnosis("gastroenteritis", "digestion", "internal medicine", 4.0, BOTH_ENDS, 3.0),
    Diagnosis("appendicitis", "digestion", "surgery", 4.0, YOUNG, 3.5),
    Diagnosis("gallstones", "digestion", "surgery", 6.0, MIDDLE, 4.0, men=0.5),
    Diagnosis("inguinal hernia", "digestion", "surgery", 5.0, MIDDLE, 2.0, women=0.1),
    Diagnosis("hip fracture", "injury", "orthopaedics", 5.0, VERY_OLD, 14.0, men=0.4),
    Diagnosis("knee arthrosis", "musculoskeletal", "orthopaedics", 8.0, OLD, 8.0),
    Diagnosis("forearm fracture", "injury", "orthopaedics", 3.0, CHILD, 2.0),
    Diagnosis("breast cancer", "cancer", "oncology", 5.0, OLD, 6.0, men=0.01),
    Diagnosis("prostate cancer", "cancer", "oncology", 5.0, OLD, 6.0, women=0.0),
    Diagnosis("lung cancer", "cancer", "oncology", 3.5, OLD, 9.0, women=0.7),
    Diagnosis("colorectal cancer", "cancer", "oncology", 3.5, OLD, 10.0),
    Diagnosis("childbirth", "pregnancy", "obstetrics", 5.0, FERTILE, 3.0, men=0.0),
    Diagnosis("neonatal jaundice", "perinatal", "paediatrics", 6.0, NEWBORN, 3.0),
    Diagnosis("depression", "mental", "psychiatry", 6.0, ADULT, 26.0, men=0.6),
    Diagnosis("alcohol dependence", "mental", "psychiatry", 4.5, ADULT, 14.0, women=0.35),
    Diagnosis("schizophrenia", "mental", "psychiatry", 1.2, ADULT, 30.0),
    Diagnosis("multiple sclerosis", "nervous system", "neurology", 0.9, ADULT, 6.0, men=0.4),
    Diagnosis("tuberculosis", "infection", "internal medicine", 0.25, ANY, 24.0),
    Diagnosis("HIV", "infection", "internal medicine", 0.45, ADULT, 7.0, women=0.3),
    Diagnosis("Huntington disease", "nervous system", "neurology", 0.3, MIDDLE, 12.0),
)


@dataclass(frozen=True)
class Area:
    """A group of postcodes, the largest first; later ones get fewer patients each."""

    first: int
    step: int
    codes: int
    weight: float
    rural: bool


AREAS = (
    Area(first=1067, step=2, codes=12, weight=66.0, rural=False),
    Area(first=1809, step=11, codes=9, weight=20.0, rural=True),
    Area(first=2708, step=13, codes=10, weight=11.0, rural=True),
)
ELSEWHERE = 3.0  # visitors, from anywhere in the country

# Occupation of an adult of working age: (weight of men, of women, factor in the countryside)
WORK = {
    "office clerk": (12.0, 22.0, 0.7),
    "sales assistant": (7.0, 17.0, 1.0),
    "engineer": (14.0, 4.0, 0.6),
    "builder": (17.0, 1.0, 1.3),
    "driver": (12.0, 2.0, 1.2),
    "nurse": (2.0, 15.0, 1.0),
    "teacher": (4.0, 11.0, 0.8),
    "farmer": (3.0, 2.0, 6.0),
    "unemployed": (7.0, 6.0, 1.0),
    "judge": (0.3, 0.3, 0.3),
}


@dataclass(frozen=True)
class Outbreak:
    """A care home with a postcode of its own, where everybody caught the same thing in one month.

    Nobody needs to be found in such a group to be exposed, which a count of records cannot show.
    """

    share: float = 0.015
    postcode: str = "02790"
    youngest: int = 81
    oldest: int = 86
    month: str = "2023-08"
    diagnosis: str = "pneumonia"


OUTBREAK = Outbreak()


def pick(rng: random.Random, values: Sequence[T], weights: Sequence[float]) -> T:
    """Draw one of the values with the given weights."""
    left = rng.random() * sum(weights)
    for value, weight in zip(values, weights, strict=True):
        left -= weight
        if left < 0:
            return value
    # Rounding can leave a speck over; it belongs to the last value that can occur.
    return [value for value, weight in zip(values, weights, strict=True) if weight > 0][-1]


def whole(rng: random.Random, low: int, high: int) -> int:
    """Draw an integer from low to high, both included, all equally likely."""
    return low + int(rng.random() * (high - low + 1))


def factor(curve: Curve, age: int) -> float:
    """Return the factor of the last step of the curve that the age has reached."""
    return [value for start, value in curve if start <= age][-1]


def draw_age_and_sex(rng: random.Random) -> tuple[int, str]:
    """Draw an age, skewed to the old, and a sex; few patients have neither F nor M recorded."""
    low, high, _, women = pick(rng, AGES, [weight for _, _, weight, _ in AGES])
    age = whole(rng, low, high)
    if rng.random() < 0.002:
        return age, "X"
    return age, "F" if rng.random() < women else "M"


def draw_postcode(rng: random.Random) -> tuple[str, bool]:
    """Draw a postcode of five digits and tell whether it lies in the countryside."""
    area = pick(rng, (*AREAS, None), [*(area.weight for area in AREAS), ELSEWHERE])
    if area is None:
        return f"{whole(rng, 3000, 98999):05d}", rng.random() < 0.4
    ranks = range(area.codes)
    rank = pick(rng, ranks, [1.0 / (1 + rank) for rank in ranks])
    return f"{area.first + area.step * rank:05d}", area.rural


def draw_occupation(rng: random.Random, age: int, sex: str, rural: bool) -> str:
    """Draw an occupation that the age allows."""
    if age < 6:
        return "child"
    if age < 18:
        return "pupil"
    if age < 27 and rng.random() < (0.2 if rural else 0.55):
        return "student"
    if age >= 67 or (age >= 60 and rng.random() < 0.45):
        # Farmers hardly ever retire.
        return "farmer" if rural and rng.random() < 0.05 else "retired"
    return pick(
        rng,
        tuple(WORK),
        [(w if sex == "F" else m) * (country if rural else 1.0) for m, w, country in WORK.values()],
    )


def draw_diagnosis(rng: random.Random, age: int, sex: str, month: str) -> Diagnosis:
    """Draw a diagnosis given age, sex and season."""
    winter = month[5:] in {"11", "12", "01", "02", "03"}
    weights = []
    for diagnosis in DIAGNOSES:
        by_sex = {"F": diagnosis.women, "M": diagnosis.men}
        weight = diagnosis.weight * factor(diagnosis.ages, age)
        weight *= by_sex.get(sex, min(by_sex.values()))
        weights.append(weight * (diagnosis.winter if winter else 1.0))
    return pick(rng, DIAGNOSES, weights)


def draw_department(rng: random.Random, diagnosis: Diagnosis, age: int) -> str:
    """Return where the patient lay: nearly always where the diagnosis is treated."""
    if rng.random() < 0.03:
        return "intensive care"
    return "paediatrics" if age < 16 else diagnosis.department


def draw_days(rng: random.Random, diagnosis: Diagnosis, age: int) -> int:
    """Draw the nights stayed: most close to the usual, some much longer, the old longer still."""
    chance = rng.random()
    usual = diagnosis.days * (1.25 if age >= 80 else 1.0)
    return max(1, int(usual * (0.5 + 0.6 * chance + chance * chance * chance * chance * 1.5)))


def patients(rows: int, seed: int) -> Iterator[dict[str, str]]:
    """Yield the records of the table, column name to text; a missing value is empty text."""
    rng = random.Random(seed)
    known = {diagnosis.name: diagnosis for diagnosis in DIAGNOSES}
    for number in range(1, rows + 1):
        age, sex = draw_age_and_sex(rng)
        postcode, rural = draw_postcode(rng)
        occupation = draw_occupation(rng, age, sex, rural)
        month = pick(rng, MONTHS, [1.0] * len(MONTHS))
        diagnosis = draw_diagnosis(rng, age, sex, month)
        if rng.random() < OUTBREAK.share:
            age = whole(rng, OUTBREAK.youngest, OUTBREAK.oldest)
            postcode, month = OUTBREAK.postcode, OUTBREAK.month
            occupation, diagnosis = "retired", known[OUTBREAK.diagnosis]
        record = {
            "patient_id": f"P{number:06d}",
            "sex": sex,
            "age": str(age),
            "postcode": postcode,
            "occupation": occupation,
            "admission_month": month,
            "department": draw_department(rng, diagnosis, age),
            "diagnosis": diagnosis.name,
            "length_of_stay": str(draw_days(rng, diagnosis, age)),
        }
        for column, share in MISSING.items():
            if rng.random() < share:
                record[column] = ""
        yield record


def age_ladder() -> Iterator[tuple[str, ...]]:
    """Yield every age with its bands of 5, 10 and 20 years, then all ages as one."""
    for age in range(OLDEST + 1):
        bands = (
            f"{age // width * width}-{age // width * width + width - 1}" for width in (5, 10, 20)
        )
        yield (str(age), *bands, "*")


def postcode_ladder(postcodes: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Yield every postcode followed by itself with one more digit hidden at each level."""
    for postcode in sorted(set(postcodes) - {""}):
        yield tuple(postcode[: 5 - hidden] + "*" * hidden for hidden in range(6))


def diagnosis_ladder() -> Iterator[tuple[str, ...]]:
    """Yield every diagnosis with its group, then all diagnoses as one."""
    for diagnosis in DIAGNOSES:
        yield diagnosis.name, diagnosis.group, "*"


KEY = ("sex", "age", "postcode", "occupation")


def coarser(record: dict[str, str], years: int, digits: int) -> dict[str, str]:
    """The record with its age in a band and the end of its postcode hidden."""
    low = int(record["age"]) // years * years
    postcode = record["postcode"][:digits].ljust(len(record["postcode"]), "*")
    return {**record, "age": f"{low}-{low + years - 1}", "postcode": postcode}


def releases(records: Sequence[dict[str, str]], seed: int) -> dict[str, list[dict[str, str]]]:
    """Three ways to protect the table, each record in its place.

    bands: coarse bands for everybody. hidden: finer bands, and whoever is in a group of fewer than
    three has the whole key hidden. noisy: ages moved by up to three years, postcodes drawn anew for
    every fifth.
    """
    rng = random.Random(seed)
    finer = [coarser(record, 10, 2) for record in records]
    groups = [tuple(record[c] for c in KEY) for record in finer]
    times = {group: groups.count(group) for group in set(groups)}
    stars = dict.fromkeys(KEY, "*")
    postcodes = [record["postcode"] for record in records]
    return {
        "bands": [coarser(record, 20, 1) for record in records],
        "hidden": [
            {**record, **stars} if times[group] < 3 else record
            for record, group in zip(finer, groups, strict=True)
        ],
        "noisy": [
            {
                **record,
                "age": str(max(0, int(record["age"]) + whole(rng, -3, 3))),
                "postcode": pick(rng, postcodes, [1.0] * len(postcodes))
                if rng.random() < 0.2
                else record["postcode"],
            }
            for record in records
        ],
    }


def write(path: Path, rows: Iterable[Sequence[str]], delimiter: str) -> None:
    """Write a CSV file so that it is there whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the table, and the ladders if a folder for them is given."""
    parser = argparse.ArgumentParser(description="Write a fictional hospital table as CSV.")
    parser.add_argument("out", type=Path, metavar="OUT.csv", help="file to write")
    parser.add_argument("--rows", type=int, default=2000, help="number of patients (2000)")
    parser.add_argument("--seed", type=int, default=7, help="seed of the generator (7)")
    parser.add_argument(
        "--hierarchies",
        type=Path,
        metavar="DIR",
        help="also write age.csv, postcode.csv and diagnosis.csv, ladders of generalisation",
    )
    parser.add_argument(
        "--releases",
        type=Path,
        metavar="DIR",
        help="also write bands.csv, hidden.csv and noisy.csv, protected in three ways",
    )
    options = parser.parse_args(arguments)
    if options.rows < 1:
        parser.error("--rows must be at least 1")
    records = list(patients(options.rows, options.seed))
    try:
        write(options.out, [COLUMNS, *(tuple(record.values()) for record in records)], ",")
        if options.hierarchies is not None:
            folder: Path = options.hierarchies
            folder.mkdir(parents=True, exist_ok=True)
            write(folder / "age.csv", age_ladder(), ";")
            write(folder / "postcode.csv", postcode_ladder(r["postcode"] for r in records), ";")
            write(folder / "diagnosis.csv", diagnosis_ladder(), ";")
        if options.releases is not None:
            options.releases.mkdir(parents=True, exist_ok=True)
            for name, made in releases(records, options.seed + 1).items():
                rows = [COLUMNS[1:], *(tuple(r[c] for c in COLUMNS[1:]) for r in made)]
                write(options.releases / f"{name}.csv", rows, ",")
    except OSError as error:
        print(f"hospital.py: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
