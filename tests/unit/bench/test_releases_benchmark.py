"""The public benchmark on two small releases: scores as the commands give them, and its pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sievert
from bench import releases
from bench.common import BenchError
from bench.releases_page import number_at, risk_utility_maps

TOWNS, SECRETS = ("Atown", "Btown", "Ctown"), ("flux", "grippe", "rash")
LIST = """
version = 1
[limits.people]
k_anonymity = { min = 5 }
[limits.synthetic.copies]
rate = { max = 1 }
[limits.synthetic.membership]
risk = { max = 0.05 }
[[original]]
name = "people"
file = "people.csv"
quasi = ["age", "town"]
sensitive = ["illness"]
split = [["age"], ["town", "illness"]]
source = "invented"
licence = "CC0-1.0"
[[original.release]]
name = "bands"
file = "bands.csv"
kind = "paired"
source = "invented"
licence = "CC0-1.0"
[[original.release]]
name = "fake"
file = "fake.csv"
kind = "synthetic"
source = "invented"
licence = "CC0-1.0"
[[original.release]]
name = "renamed"
file = "renamed.csv"
kind = "paired"
source = "invented"
licence = "CC0-1.0"
"""


def _row(i: int) -> tuple[int, str, str]:
    return 20 + i * 7 % 30, TOWNS[i * 5 % 7 % 3], SECRETS[i * i % 11 % 3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty people, with ages in bands, as invented rows, and with a column of another name."""
    place = tmp_path_factory.mktemp("releases")
    people = [_row(i) for i in range(60)]
    tables = {
        "people": people,
        "bands": [(f"[{a // 10 * 10}, {a // 10 * 10 + 10}[", t, s) for a, t, s in people],
        "fake": [_row(i * 3 + 1) for i in range(40)],
        "renamed": people,
        "control": [_row(i) for i in range(61, 91)],
    }
    for name, rows in tables.items():
        head = "years,town,illness" if name == "renamed" else "age,town,illness"
        lines = [head, *(",".join(f'"{cell}"' for cell in row) for row in rows)]
        (place / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (place / "list.toml").write_text(LIST, encoding="utf-8")
    return place


def test_scores_and_pages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out"
    given = ["--data", str(folder), "--out", str(out), "--list", str(folder / "list.toml")]
    assert releases.main(given) == 0
    assert "people: bands" in capsys.readouterr().out
    names = ("results.json", "index.html", "index.md")
    texts = {name: (out / name).read_text(encoding="utf-8") for name in names}
    for text in texts.values():
        assert not any(value in text for value in (*TOWNS, *SECRETS, str(folder)))
    bands, fake, renamed = json.loads(texts["results.json"])["originals"][0]["releases"]
    own = sievert.assess(folder / "bands.csv", ["age", "town"], ["illness"])
    assert bands["numbers"]["measures"]["k_anonymity"] == own.reidentification["k_anonymity"].value
    assert number_at(bands["numbers"], "secrets.*.l_diversity", min) == (
        own.inference["illness"]["l_diversity"].value
    )
    assert {"identity_disclosure", "information_loss", "losses", "attacks"} <= {*bands["numbers"]}
    assert number_at(bands["numbers"], "attacks.identity.linkage.correct_linkage") is not None
    rows = sievert.synthetic(folder / "people.csv", folder / "fake.csv", quasi=["age", "town"])
    copies = rows.tables[0].results.attacks["copies"].original
    assert number_at(fake["numbers"], "synthetic.copies.original.rate") == pytest.approx(
        copies.rate, rel=1e-9
    )
    assert (fake["verdict"], fake["reasons"]) == ("undecided", ["no control group"])
    assert releases.NO_PEOPLE in fake["not_computed"]["assess"]
    assert renamed["verdict"] is None and not renamed["numbers"]
    assert all("'age'" in renamed["not_computed"][step] for step in ("assess", "compare", "attack"))
    for page in ("index.html", "index.md"):
        assert "bands" in texts[page] and "no control group" in texts[page]
        assert "rows are synthetic" in texts[page]


def test_a_control_group_makes_risks(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "list.toml"
    text = LIST.replace('licence = "CC0-1.0"', 'licence = "CC0-1.0"\ncontrol = "control.csv"', 1)
    path.write_text(text, encoding="utf-8")
    listed = releases.read_list(path)
    original = listed["original"][0]
    original["release"] = original["release"][1:2]
    (fake,) = releases.score(listed, folder, lambda _: None)["originals"][0]["releases"]
    membership = fake["numbers"]["synthetic"]["membership"]
    assert fake["not_computed"].keys() == {"assess", "attack", "compare"}
    assert fake["verdict"] == ("met" if membership["risk"] <= 0.05 else "breached")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version = 1", "version = 2", "version = 1 is the one"),
        ('kind = "paired"', 'kind = "other"', "bands: kind is one of paired"),
        ('kind = "paired"', "", "bands lacks kind"),
        ('quasi = ["age", "town"]', 'quasi = "age"', "people: quasi is no list"),
        ('name = "fake"', 'name = "bands"', "a name is given twice"),
        ("bands.csv", "nowhere.csv", "not below --data: 'nowhere.csv'"),
        ("[[original.release]]", "[[original.table]]", "people: table is none of"),
        ('split = [["age"], ["town", "illness"]]', 'split = ["age"]', "two lists of columns"),
        ("[limits.people]", "[limit]", "list.toml: limit is none of version"),
    ],
)
def test_mistakes_in_the_list(
    tmp_path: Path, folder: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "list.toml"
    path.write_text(LIST.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BenchError, match=message.replace("[", r"\[")):
        releases.score(releases.read_list(path), folder, lambda _: None)


def test_the_list_of_the_repository_is_read() -> None:
    listed = releases.read_list(releases.LIST)
    assert sum(len(original["release"]) for original in listed["original"]) >= 25


def test_the_map_says_which_release_is_better() -> None:
    def release(name: str, lost: float, told: float) -> dict[str, Any]:
        loss = {"illness": {"corrected": lost, "interval": [lost - 0.1, lost + 0.1]}}
        return {
            "name": name,
            "numbers": {"information_loss": loss, "identity_disclosure": {"value": told}},
        }

    numbers = (("a", 0.2, 1.0), ("b", 0.3, 2.0), ("c", 0.1, 3.0))
    original = {"name": "people", "releases": [release(*each) for each in numbers]}
    (picture,) = risk_utility_maps(original)
    assert [row[0] for row in picture.behind.rows] == ["a", "b", "c"]
    kinds = {row["name"]: row["kind"] for row in picture.spec["data"]["values"]}
    assert kinds["a"] == kinds["c"] != kinds["b"]
    assert not [*risk_utility_maps({**original, "releases": original["releases"][:1]})]
