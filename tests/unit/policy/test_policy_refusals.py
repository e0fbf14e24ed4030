"""What `assess` refuses under a policy, or leaves undecided, `policy check` names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers.commandline import run

import sievert
from sievert.measures import BY_ID
from sievert.report.texts import read_texts

Table = dict[str, list[Any]]
ROWS = 24
PLAIN: Table = {
    "zip": ["1"] * 12 + ["2"] * 12,
    "ill": ["a", "b"] * 12,
    "num": [str(i % 3) for i in range(ROWS)],
    "who": [str(i) for i in range(ROWS)],
}
TABLES: dict[str, Table] = {
    "plain": PLAIN,
    "several rows": PLAIN | {"who": [str(i // 2) for i in range(ROWS)]},
    "no secrets": PLAIN | {"ill": [None] * ROWS},
    "some without a person": PLAIN | {"who": [None, None, *map(str, range(2, ROWS))]},
    "secrets respelt": PLAIN | {"ill": ["a", "A", "b"] * 8},
    "people respelt": PLAIN | {"who": ["07", "7", *map(str, range(10, ROWS + 8))]},
    "some suppressed": PLAIN | {"zip": ["*"] * 10 + ["2"] * 14},
    "all suppressed": PLAIN | {"zip": ["*"] * ROWS},
    "codes": PLAIN | {"ill": ["?", *["a", "b"] * 11, "a"]},
    "names": PLAIN | {"ill": [f"n{i}" for i in range(ROWS)]},
}
OTHERS = 'ignored = { num = "not used" }\n'
BOTH = f'[roles]\nquasi = ["zip"]\nsensitive = ["ill"]\n{OTHERS}'
OF_ROWS = f'{BOTH}identifier = ["who"]\nrows_are_people = true\n'
OF_PEOPLE = f'{BOTH}person = "who"\n'
LIMIT = "[limits]\nk_anonymity = { min = 2 }\n"
NEEDED = {
    "order": '[orders]\nill = ["a", "b"]\n',
    "parts": '[partitions.ill]\np = ["a"]\nq = ["b"]\n',
    "hierarchy": '[hierarchies.ill]\nx = ["a"]\ny = ["b"]\n',
}
# Settings that are refused whatever the limits, and what the gap is about.
SETTINGS = {
    "hierarchy without a value": ("[hierarchies.ill]\nx = ['a']\n", "ill"),
    "hierarchy without a file": ("[hierarchies]\nill = 'none.csv'\n", "ill"),
    "hierarchy of numbers": ("[hierarchies]\nill = 'interval:5'\n", "ill"),
    "hierarchy misspelt": ("[hierarchies]\nill = 'intervall:5'\n", "ill"),
    "hierarchy without a number": ("[hierarchies]\nill = 'interval:x'\n", "ill"),
    "quasi-identifier without a file": ("[hierarchies]\nzip = 'none.csv'\n", "zip"),
    "value in two parts": ("[partitions.ill]\np = ['a']\nq = ['b', 'a']\n", "ill"),
    "order without a value": ("[orders]\nill = ['a']\n", "ill"),
    "order with a value twice": ("[orders]\nill = ['a', 'b', 'a']\n", "ill"),
    "named value of no column": ("[parameters]\nalpha_k = { value = { il = 'a' } }\n", "il"),
    "too few people": (
        "[parameters]\npopulation_uniques = { population_size = 3 }\n",
        "population_uniques",
    ),
    "limits of no secret": ("[limits.inference.num]\n", "num"),
    "hierarchy of no column": ("[hierarchies]\nzipp = '*'\n", "zipp"),
}
ROLES = {
    "quasi-identifier twice": 'quasi = ["zip", "zip"]\nsensitive = ["ill"]\nidentifier = ["who"]\n',
    "secret twice": 'quasi = ["zip"]\nsensitive = ["ill", "ill"]\nidentifier = ["who"]\n',
    "identifier twice": 'quasi = ["zip"]\nsensitive = ["ill"]\nidentifier = ["who", "who"]\n',
    "no quasi-identifier": 'sensitive = ["ill"]\nidentifier = ["who"]\ndropped = ["zip"]\n',
    "no such person": 'quasi = ["zip"]\nsensitive = ["ill"]\ndropped = ["who"]\nperson = "pid"\n',
    "no such secret": 'quasi = ["zip"]\nsensitive = ["ill", "il"]\nidentifier = ["who"]\n',
    "kept and unique": 'quasi = ["zip"]\nsensitive = ["ill"]\nkept = { who = "key" }\n',
}


def refuses(policy: Path, table: Table, **more: Any) -> bool:
    """Whether `assess` refuses the policy for a planned release, or cannot decide it."""
    try:
        found = sievert.assess(table, policy=policy, quick=True, planned=True, **more)
    except sievert.SievertError:
        return True
    assert found.policy is not None
    undecided = [verdict for verdict in found.policy.verdicts if verdict.met is None]
    return bool(undecided or found.policy.reasons)


def check(tmp_path: Path, text: str, table: Table, **more: Any) -> tuple[bool, list[Any]]:
    """Whether `assess` refuses the policy, and the gaps that `policy check` finds."""
    path = tmp_path / "p.toml"
    path.write_text(text, encoding="utf-8")
    return refuses(path, table, **more), list(sievert.check_policy(path, table, **more).gaps)


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_that_assess_refuses(tmp_path: Path, setting: str) -> None:
    text, name = SETTINGS[setting]
    refused, gaps = check(tmp_path, f"{OF_ROWS}{LIMIT}{text}", PLAIN)
    assert refused and [gap.name for gap in gaps] == [name]


@pytest.mark.parametrize("roles", ROLES)
def test_roles_that_assess_refuses(tmp_path: Path, roles: str) -> None:
    refused, gaps = check(tmp_path, f"[roles]\n{OTHERS}{ROLES[roles]}{LIMIT}", PLAIN)
    assert refused and gaps


@pytest.mark.parametrize(
    ("roles", "table", "name"),
    [
        (OF_PEOPLE, "some without a person", ""),
        (OF_PEOPLE, "people respelt", "who"),
        (OF_ROWS, "secrets respelt", "ill"),
        (OF_ROWS, "all suppressed", "suppressed_records"),
    ],
)
def test_values_that_leave_a_policy_undecided(
    tmp_path: Path, roles: str, table: str, name: str
) -> None:
    limit = "[limits.inference.ill]\nl_diversity = { min = 2 }\n"
    refused, gaps = check(tmp_path, f"{roles}{LIMIT}{limit}", TABLES[table])
    assert refused and name in [gap.name for gap in gaps]


def test_a_secret_that_is_called_like_an_identifier(tmp_path: Path) -> None:
    table = {"zip": PLAIN["zip"], "name": PLAIN["who"]}
    text = '[roles]\nquasi = ["zip"]\nsensitive = ["name"]\nrows_are_people = true\n'
    refused, gaps = check(tmp_path, f"{text}{LIMIT}", table)
    assert refused and [gap.name for gap in gaps] == ["name"]


def test_codes_and_marks_that_the_policy_does_not_list(tmp_path: Path) -> None:
    """`policy check` reads the table as the policy says."""
    order = '[orders]\nill = ["a", "b"]\n'
    refused, gaps = check(tmp_path, f"{OF_ROWS}{LIMIT}{order}", TABLES["codes"], na=["?"])
    assert refused and [gap.text for gap in gaps] == [
        "codes are read as missing that the policy does not list"
    ]
    listed = f'{OF_ROWS}{LIMIT}{order}[reading]\nna = ["?"]\n'
    assert check(tmp_path, listed, TABLES["codes"]) == (False, [])
    suppressed = f"{OF_ROWS}{LIMIT}suppressed_records = {{ max = 0.6 }}\n"
    refused, gaps = check(tmp_path, suppressed, PLAIN, suppressed="1")
    assert refused and [gap.suggestion for gap in gaps] == ["[reading] suppressed"]


def test_what_assess_reads_without_a_word_is_named_too(tmp_path: Path) -> None:
    """A hierarchy of a quasi-identifier is for `protect`; a partition may be misspelt."""
    for text, name in (
        ("[hierarchies.zip]\nx = ['1']\n", "zip"),
        ("[hierarchies]\nzip = 'date:month'\n", "zip"),
        ("[partitions.ill]\np = ['a']\nq = ['b', 'c']\n", "ill"),
    ):
        _, gaps = check(tmp_path, f"{OF_ROWS}{LIMIT}{text}", PLAIN)
        assert [gap.name for gap in gaps] == [name]


@pytest.mark.slow
@pytest.mark.parametrize("roles", [OF_ROWS, OF_PEOPLE], ids=["rows", "people"])
@pytest.mark.parametrize("place", ["limits", "limits.reidentification", "limits.inference.ill"])
def test_every_limit_that_assess_refuses(tmp_path: Path, roles: str, place: str) -> None:
    """Each measure at each place, with what it needs and without, of every table."""
    refused, decided = 0, 0
    for measure in BY_ID.values():
        bound = f"min = {measure.low or 1}" if measure.riskier == "low" else "max = 0.5"
        limit = f"[{place}]\n{measure.id} = {{ {bound} }}\n"
        needs = [text for need, text in NEEDED.items() if need in measure.needs]
        for name in ("no secrets", "secrets respelt", "some suppressed", "several rows"):
            table = TABLES[name]
            if roles == OF_ROWS and name == "several rows":
                continue
            for needed in ("", *needs):
                so, gaps = check(tmp_path, f"{roles}{limit}{needed}", table)
                assert gaps or not so, (measure.id, name, needed)
                refused += so
                decided += not so
    assert refused > 10 and decided > (10 if place == "limits" else 0)


def test_every_text_has_a_translation_and_the_exit_code_is_1(tmp_path: Path) -> None:
    german, found = read_texts(None, "de"), list[Any]()
    limit = "[limits.inference.ill]\nl_diversity = { min = 2 }\n"
    for text, _ in SETTINGS.values():
        found += check(tmp_path, f"{OF_ROWS}{LIMIT}{text}", PLAIN)[1]
    for roles in ROLES.values():
        found += check(tmp_path, f"[roles]\n{OTHERS}{roles}{LIMIT}", PLAIN)[1]
    for name, table in TABLES.items():
        roles = OF_PEOPLE if "person" in name or "people" in name else OF_ROWS
        found += check(tmp_path, f"{roles}{LIMIT}{limit}", table)[1]
    assert len(found) > 20
    assert [gap.text for gap in found if german.remark(gap.text) == gap.text] == []
    data, policy = tmp_path / "t.csv", tmp_path / "p.toml"
    data.write_text("zip,ill\n1,a\n1,A\n1,b\n")
    roles = '[roles]\nquasi = ["zip"]\nsensitive = ["ill"]\nrows_are_people = true\n'
    policy.write_text(f"{roles}{LIMIT}{limit}")
    assert run("policy", "check", str(policy), str(data)) == 1
