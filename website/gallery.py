"""The pictures of docs/gallery.md, drawn from the demo's hospital: `python -m website.gallery`."""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import sievert
from sievert.charts import svg
from sievert.commands.report.run import build_page

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
POLICY = ROOT / "examples" / "hospital_policy.toml"
TYPES = {"length_of_stay": "int"}
QUASI = ["sex", "age", "postcode", "occupation"]
Result = Callable[[Path], Any]  # of the folder with the demo's tables


def assessed(demo: Path) -> Any:
    """The original against its policy."""
    return sievert.assess(demo / "hospital.csv", policy=POLICY, types=TYPES, quick=True)


def explained(demo: Path) -> Any:
    """What drives the risk of the original."""
    return sievert.explain(demo / "hospital.csv", QUASI, "diagnosis")


def of_a_sample(demo: Path) -> Any:
    """The original as a sample of ten times as many people."""
    return sievert.explain(demo / "hospital.csv", QUASI, "diagnosis", population_size=20_000)


def attacked(demo: Path) -> Any:
    """The release in bands of age, by somebody who has the original."""
    ages = {"age": demo / "hierarchies" / "age.csv"}
    tables = demo / "bands.csv", demo / "hospital.csv"
    return sievert.attack(*tables, QUASI, "diagnosis", hierarchies=ages)


def ranked(demo: Path) -> Any:
    """Each of five columns of the original in turn as a secret."""
    return sievert.explain(demo / "hospital.csv", [*QUASI, "department"])


def sampled(demo: Path) -> Any:
    """A release in overlapping windows of ages, where beliefs have to be simulated."""
    windows = demo / "windows.csv"
    with (demo / "hospital.csv").open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file))
    with windows.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "diagnosis"])
        for row, person in enumerate(people):
            low = (int(person["age"]) + 5 * (row % 2)) // 10 * 10 - 5 * (row % 2)
            writer.writerow([f"[{low}, {low + 9}]", person["diagnosis"]])
    return sievert.attack(windows, demo / "hospital.csv", ["age"], "diagnosis")


def compared_by_key(demo: Path) -> Any:
    """The same three releases as below, without a secret."""
    releases = {name: demo / f"{name}.csv" for name in ("bands", "hidden", "noisy")}
    ages = {"age": demo / "hierarchies" / "age.csv"}
    return sievert.compare(demo / "hospital.csv", releases, QUASI, hierarchies=ages, types=TYPES)


def compared(demo: Path) -> Any:
    """Three releases against the original."""
    releases = {name: demo / f"{name}.csv" for name in ("bands", "hidden", "noisy")}
    ages = {"age": demo / "hierarchies" / "age.csv"}
    return sievert.compare(
        demo / "hospital.csv", releases, QUASI, "diagnosis", hierarchies=ages, types=TYPES
    )


def compared_with_the_limit(demo: Path) -> Any:
    """The same three releases by two columns, and the least that any release could disclose."""
    releases = {name: demo / f"{name}.csv" for name in ("bands", "hidden", "noisy")}
    columns = ["sex", "department"]
    return sievert.compare(demo / "hospital.csv", releases, columns, "diagnosis", limit=True)


def protected(demo: Path) -> Any:
    """Every recoding of the original that no other is better than."""
    return sievert.protect(demo / "hospital.csv", policy=POLICY, types=TYPES, frontier=True)


def limited(demo: Path) -> Any:
    """The least that any release of two columns could disclose."""
    columns = ["sex", "department"]
    return sievert.randomise(demo / "hospital.csv", columns, "diagnosis", at=0.1, points=10)


def compromised(demo: Path) -> Any:
    """How near an intruder comes to the length of stay, from samples."""
    return sievert.compromise(
        demo / "hospital.csv", QUASI[:3], "length_of_stay", parameters=[0.1, 0.5], replicates=5
    )


def synthesised(demo: Path) -> Any:
    """Two tables made from half of the people: columns shuffled, and the same with copies in it."""
    with (demo / "hospital.csv").open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file))
    half, names = len(people) // 2, [*QUASI, "department", "diagnosis"]
    shuffled = [  # every column by another number of rows
        {name: people[(row + 37 * at) % half][name] for at, name in enumerate(names, 1)}
        for row in range(half)
    ]
    copying = [people[row] if row % 4 else shuffled[row] for row in range(half)]
    tables = {"original": people[:half], "copying": copying, "shuffled": shuffled}
    tables["control"] = people[half:]
    for name, table in tables.items():
        with (demo / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(table)
    original, copied, mixed, control = (demo / f"{name}.csv" for name in tables)
    return sievert.synthetic(original, [copied, mixed], control)


# The picture, the result that it is of, and how its title begins.
PICTURES: dict[str, tuple[Result, str]] = {
    "class_sizes": (assessed, "Classes of one record"),
    "best_guess": (assessed, "How often a best guess"),
    "window": (assessed, "How near somebody comes"),
    "column_shares": (explained, "Each column's share"),
    "known_columns": (explained, "People alone, the more"),
    "subsets": (explained, "People alone by how many"),
    "secrets": (explained, "The secrets by how many"),
    "population": (of_a_sample, "People who are alone in the whole"),
    "rare_values": (explained, "The values that tell most"),
    "ranking": (ranked, "What the other columns"),
    "identity": (attacked, "Whose record it is"),
    "originals": (attacked, "The original values"),
    "secret": (attacked, "diagnosis, by column"),
    "likeliest": (attacked, "diagnosis: most likely"),
    "values": (attacked, "diagnosis, by value of age"),
    "linkage": (attacked, "Records linked"),
    "learner": (attacked, "Attacker against learner"),
    "chains": (sampled, "Convergence of the chains"),
    "identity_risk": (compared_by_key, "Identity risk"),
    "risk_utility_map": (compared, "What each release"),
    "least_disclosure": (compared_with_the_limit, "What each release tells"),
    "frontier": (protected, "What each recoding"),
    "limit": (limited, "The best release"),
    "guesses": (compromised, "What is left to guess"),
    "distance": (compromised, "How far off"),
    "usefulness": (compromised, "Protection of"),
    "synthetic": (synthesised, ""),
}


def drawn(results: Iterable[Result]) -> Iterator[tuple[str, str]]:
    """Each picture of these results with the name of its file."""
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder)
        script, table = ROOT / "examples" / "hospital.py", demo / "hospital.csv"
        options = f"--hierarchies={demo / 'hierarchies'}", f"--releases={demo}"
        command = [sys.executable, str(script), str(table), *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own script
        for result in results:
            pictures = list(build_page([result(demo)]).pictures())
            titles = [" ".join(picture.spec["title"]["text"]) for picture in pictures]
            for name, (mine, title) in PICTURES.items():
                if mine is result:
                    at = next((i for i, t in enumerate(titles) if t.startswith(title)), None)
                    if at is None:
                        raise LookupError(f"{name}: none of {titles}")
                    yield f"gallery_{name}.svg", svg(pictures[at].spec)


if __name__ == "__main__":
    for file, text in drawn(dict.fromkeys(result for result, _ in PICTURES.values())):
        (IMAGES / file).write_text(text, encoding="utf-8")
