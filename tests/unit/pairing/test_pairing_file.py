"""The private pairing file of a release: what it holds, how it is found, when it is not used."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from helpers.commandline import run
from helpers.pairedrows import csv_rows, details, in_input_order, row_numbers

import sievert
from sievert.commands.protect import check, writing
from sievert.errors import InputError, RefusedError, SievertError, UsageError

QUASI, SECRET = ["age", "town"], "ill"
HOW: dict[str, Any] = {"quasi": QUASI, "sensitive": SECRET}
TREES = {"age": "interval:5,10,20"}


@pytest.fixture(autouse=True)
def same_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of a release in this process: the same function, without starting another."""

    def confirm(*order: Any, **_: Any) -> list[str]:
        assert check.judge(*order[:3]).met is True
        return []

    monkeypatch.setattr(writing, "confirm", confirm)


def people(records: int = 300, seed: int = 1) -> dict[str, list[str]]:
    random = Random(seed)
    return {
        "id": [f"person-{i}" for i in range(records)],
        "age": [str(20 + random.randrange(40)) for _ in range(records)],
        "town": [random.choice(("north", "south", "hamlet")) for _ in range(records)],
        "ill": [random.choice(("flu", "cold", "gout", "acne")) for _ in range(records)],
    }


def written(path: Path, table: dict[str, list[str]]) -> Path:
    rows = zip(*table.values(), strict=True)
    lines = [",".join(table), *map(",".join, rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def protect(original: Any, out: Path, k: int = 4, **options: Any) -> sievert.Protected:
    roles = {"quasi": QUASI, "sensitive": [SECRET], "identifier": ["id"], "rows_are_people": True}
    policy = {"roles": roles, "limits": {"k_anonymity": {"min": k}}}
    result = sievert.protect(
        original, policy=policy, hierarchies=TREES, out=out, **{"suppress": 0.2, **options}
    )
    assert result.released, result
    return result


@pytest.fixture
def made(tmp_path: Path) -> tuple[Path, Path]:
    """An original and its release, as files."""
    original = written(tmp_path / "original.csv", people())
    protect(original, tmp_path / "r.csv")
    return original, tmp_path / "r.csv"


def compare(original: Any, release: Any, **options: Any) -> Any:
    return sievert.compare(
        original, {"r": release}, **HOW, hierarchies=TREES, shuffles=0, **options
    ).releases[0]


def with_keys(release: Path, original: dict[str, list[str]]) -> dict[str, list[Any]]:
    """The release as a table with the key of the original."""
    rows = csv_rows(release)
    table: dict[str, list[Any]] = {c: [row[c] for row in rows] for c in rows[0]}
    table["id"] = [original["id"][number - 1] for number in row_numbers(release)]
    return table


# -- what it holds --------------------------------------------------------------------------------


def test_row_numbers_in_a_private_file_and_no_cell(made: tuple[Path, Path]) -> None:
    original, release = made
    beside = Path(f"{release}.pairing.parquet")
    assert beside.stat().st_mode & 0o777 == 0o600
    assert sorted(row_numbers(release)) == list(range(1, 301))
    with duckdb.connect() as engine:
        assert engine.sql(f"FROM '{beside}'").columns == ["record"]
    content = beside.read_bytes()
    table = people()
    for column in table:
        assert not any(text.encode() in content for text in set(table[column]) if len(text) > 3)
    said = details(release)
    assert "do not pass it on" in said["internal"] and said["sievert"] == sievert.__version__
    assert said["release"]["sha256"] == hashlib.sha256(release.read_bytes()).hexdigest()
    digest = hashlib.sha256(original.read_bytes()).hexdigest()
    assert said["original"] == {"sha256": digest, "records": 300, "member": None}
    manifest = json.loads(Path(f"{release}.json").read_text(encoding="utf-8"))
    digest = hashlib.sha256(content).hexdigest()
    assert manifest["pairing"] == {"sha256": digest, "internal": True}
    for row, ill in zip(in_input_order(release), table["ill"], strict=True):
        assert row["ill"] == ill


def test_the_same_run_gives_the_same_file(made: tuple[Path, Path], tmp_path: Path) -> None:
    original, release = made
    protect(original, tmp_path / "again.csv")
    first, again = (Path(f"{path}.pairing.parquet") for path in (release, tmp_path / "again.csv"))
    assert first.read_bytes() == again.read_bytes()


def test_the_user_is_told_that_it_is_private(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    original, rules = written(tmp_path / "t.csv", people()), tmp_path / "p.toml"
    rules.write_text(
        '[roles]\nquasi = ["age", "town"]\nsensitive = ["ill"]\nidentifier = ["id"]\n'
        "rows_are_people = true\n[limits]\nk_anonymity = { min = 4 }\n",
        encoding="utf-8",
    )
    out = tmp_path / "r.csv"
    command = ["protect", str(original), "--policy", str(rules), "-o", str(out)]
    assert run(*command, "--hierarchy", "age=interval:5,10,20") == 0
    said = capfd.readouterr()
    assert f"written: {out}.pairing.parquet (private: do not pass it on)" in said.err
    assert "Do not pass this file on." in " ".join(said.out.split())
    command[command.index(str(out))] = str(tmp_path / "k.csv")
    assert run(*command, "--hierarchy", "age=interval:5,10,20", "--keep-order") == 0
    said = capfd.readouterr()
    assert "pairing.parquet" not in said.err + said.out and "can give values back" in said.out
    assert not (tmp_path / "k.csv.pairing.parquet").exists()


def test_it_is_written_over_nothing_else(tmp_path: Path) -> None:
    """Not over somebody else's file, nor over an input; and no release without it."""
    original = written(tmp_path / "t.csv", people())
    foreign = tmp_path / "r.csv.pairing.parquet"
    foreign.write_text("mine", encoding="utf-8")
    with pytest.raises(RefusedError, match=r"pairing\.parquet"):
        protect(original, tmp_path / "r.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == [foreign.name, "t.csv"]
    protect(original, tmp_path / "r.csv", force=True)
    protect(original, tmp_path / "r.csv", seed=2)  # our own files are replaced
    own = tmp_path / "x.csv.pairing.parquet"
    own.write_bytes(foreign.read_bytes())
    with pytest.raises((RefusedError, SievertError)):
        protect(own, tmp_path / "x.csv", force=True)
    assert own.read_bytes() == foreign.read_bytes() and not (tmp_path / "x.csv").exists()


def test_none_without_a_release(tmp_path: Path) -> None:
    original = written(tmp_path / "t.csv", people(20))
    with pytest.raises(AssertionError):
        protect(original, tmp_path / "r.csv", k=21)
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


# -- how it is used -------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"drop": True}, {"how": "local"}, {"k": 30}])
def test_compare_finds_what_a_key_tells(options: dict[str, Any], tmp_path: Path) -> None:
    table = people()
    table["town"][:8] = ["elsewhere"] * 8
    original = written(tmp_path / "t.csv", table)
    result = protect(original, tmp_path / "r.csv", **options)
    found = compare(original, tmp_path / "r.csv")
    assert (found.pairing.paired, found.pairing.by) == (True, "file")
    expected = compare(table, with_keys(tmp_path / "r.csv", table), key="id")
    assert expected.pairing.by == "key"
    assert found.disclosed.identity.whole == expected.disclosed.identity.whole
    assert found.disclosed.attribute["ill"].whole == expected.disclosed.attribute["ill"].whole
    assert {n: x.value for n, x in found.losses.items()} == {
        n: x.value for n, x in expected.losses.items()
    }
    gone = result.suppressed_records if result.drops else 0  # dropped too where they break k
    assert found.to_dict()["records"]["not_released"] == gone
    if options.get("drop"):
        assert gone > 0


def test_a_sample_is_compared(tmp_path: Path) -> None:
    table = people()
    original = written(tmp_path / "t.csv", table)
    protect(original, tmp_path / "r.csv", 1, how="sample", fraction=0.4, suppress=0.0)
    found = compare(original, tmp_path / "r.csv")
    expected = compare(table, with_keys(tmp_path / "r.csv", table), key="id")
    assert found.disclosed.identity.whole == expected.disclosed.identity.whole


@pytest.mark.parametrize("drop", [False, True])
def test_attack_finds_what_a_key_tells(drop: bool, tmp_path: Path) -> None:
    table = people()
    table["town"][:8] = ["elsewhere"] * 8
    original = written(tmp_path / "t.csv", table)
    protect(original, tmp_path / "r.csv", drop=drop)
    given: dict[str, Any] = {**HOW, "hierarchies": TREES, "reasoning": False}
    found = sievert.attack(tmp_path / "r.csv", original, **given)
    expected = sievert.attack(with_keys(tmp_path / "r.csv", table), table, key="id", **given)
    assert found.pairing is not None and found.pairing.by == "file"
    for box in ("white_box", "linkage"):
        numbers, others = (each["identity"][box].numbers for each in (found, expected))
        assert numbers == others
    register = {c: table[c] for c in ("id", *QUASI)}  # the key is taken from the original
    told = sievert.attack(tmp_path / "r.csv", original, register=register, key="id", **given)
    assert told["identity"]["grey_box"].numbers


def test_compromise_finds_what_a_key_tells(tmp_path: Path) -> None:
    table = {**people(), "ill": [str(i % 7) for i in range(300)]}
    original = written(tmp_path / "t.csv", table)
    protect(original, tmp_path / "r.csv", 2, how="round", base={"age": 10}, suppress=None)
    given: dict[str, Any] = {**HOW, "method": "release"}
    found = sievert.compromise(original, release=tmp_path / "r.csv", **given)
    keyed = with_keys(tmp_path / "r.csv", table)
    expected = sievert.compromise(table, release=keyed, key="id", **given)
    assert found.to_dict()["curves"] == expected.to_dict()["curves"]


def test_a_release_of_limit_is_compared(tmp_path: Path) -> None:
    table = people()
    original = written(tmp_path / "t.csv", table)
    sievert.randomise(original, ["town"], SECRET, ["id", "age"], at=0.1, out=tmp_path / "r.csv")
    found = sievert.compare(original, tmp_path / "r.csv", ["town"], SECRET, shuffles=0)
    assert found.releases[0].pairing.by == "file"


def test_it_is_found_by_the_digest_of_the_release(made: tuple[Path, Path], tmp_path: Path) -> None:
    original, release = made
    moved = tmp_path / "elsewhere" / "final.csv"
    moved.parent.mkdir()
    moved.write_bytes(release.read_bytes())
    with pytest.raises(InputError, match="not paired by their order"):
        compare(original, moved)  # the release alone, as others have it
    (moved.parent / "old-name.pairing.parquet").write_bytes(
        Path(f"{release}.pairing.parquet").read_bytes()
    )
    assert compare(original, moved).pairing.by == "file"


def test_without_it_a_key_is_needed(made: tuple[Path, Path]) -> None:
    original, release = made
    Path(f"{release}.pairing.parquet").unlink()
    for ask in (
        lambda: compare(original, release),
        lambda: sievert.attack(release, original, **HOW, reasoning=False),
    ):
        with pytest.raises(InputError, match="not paired by their order") as error:
            ask()
        assert "pairing file" in str(error.value.hint) and "--key" in str(error.value.hint)


# -- when it is not used --------------------------------------------------------------------------


def test_a_stale_file_is_not_used(made: tuple[Path, Path]) -> None:
    """The release was made anew, or edited: the file beside it is about another one."""
    original, release = made
    lines = release.read_text(encoding="utf-8").splitlines()
    release.write_text("\n".join([lines[0], *lines[:0:-1], ""]), encoding="utf-8")
    with pytest.raises(InputError, match="not paired by their order") as error:
        compare(original, release)
    assert "is about another release" in str(error.value.hint)


def test_another_original_is_not_paired(made: tuple[Path, Path], tmp_path: Path) -> None:
    """As many rows, in another order, or other rows: the digest tells."""
    original, release = made
    rows = original.read_text(encoding="utf-8").splitlines()
    turned = tmp_path / "turned.csv"
    turned.write_text("\n".join([rows[0], *rows[:0:-1], ""]), encoding="utf-8")
    for other in (turned, written(tmp_path / "other.csv", people(seed=2))):
        with pytest.raises(InputError, match="not paired by their order") as error:
            compare(other, release)
        assert "is about another original" in str(error.value.hint)
    fewer = written(tmp_path / "fewer.csv", {c: v[:200] for c, v in people().items()})
    with pytest.raises((InputError, UsageError), match="who is who"):
        compare(fewer, release)


def test_an_original_in_memory_must_show_that_it_is_the_one(made: tuple[Path, Path]) -> None:
    """Nothing is known of the digest of a frame: its columns have to agree."""
    _, release = made
    found = compare(people(), release)
    assert (found.pairing.paired, found.pairing.by) == (True, "file")
    assert found.pairing.columns
    order = list(range(300))
    Random(3).shuffle(order)
    other = {c: [values[i] for i in order] for c, values in people().items()}
    with pytest.raises(InputError, match="not paired") as error:
        compare(other, release)
    assert "another original" in str(error.value.hint)


@pytest.mark.parametrize("damage", ["cut", "text", "other"])
def test_a_damaged_file_is_not_used(damage: str, made: tuple[Path, Path]) -> None:
    original, release = made
    beside = Path(f"{release}.pairing.parquet")
    content = beside.read_bytes()
    if damage == "cut":
        beside.write_bytes(content[: len(content) // 2])
    elif damage == "text":
        beside.write_text("record\n1\n", encoding="utf-8")
    else:
        beside.unlink()
        with duckdb.connect() as engine:
            engine.execute(f"COPY (SELECT range AS record FROM range(300)) TO '{beside}'")
    with pytest.raises(InputError, match="not paired by their order"):
        compare(original, release)


def permuted(release: Path) -> Path:
    """The pairing file with its numbers turned round inside each secret, and the same footer."""
    beside = Path(f"{release}.pairing.parquet")
    numbers, said = row_numbers(release), json.dumps(details(release)).replace("'", "''")
    secrets = [row["ill"] for row in csv_rows(release)]
    for secret in set(secrets):
        places = [i for i, own in enumerate(secrets) if own == secret]
        for place, number in zip(places, [numbers[i] for i in places][::-1], strict=True):
            numbers[place] = number
    with duckdb.connect() as engine:
        engine.execute(
            f"COPY (SELECT unnest({numbers}) AS record) TO '{beside}' "
            f"(FORMAT parquet, KV_METADATA {{sievert: 'pairing', pairing: '{said}'}})"
        )
    return beside


def test_an_edited_file_is_not_used(made: tuple[Path, Path]) -> None:
    """Numbers permuted inside each secret hide what a release tells: the manifest knows better."""
    original, release = made
    permuted(release)
    for ask in (
        lambda: compare(original, release),
        lambda: sievert.attack(release, original, **HOW, reasoning=False),
        lambda: sievert.compromise(original, **HOW, method="release", release=release),
    ):
        with pytest.raises(InputError, match="not paired by their order") as error:
            ask()
        assert "is not the pairing file of the manifest" in str(error.value.hint)


@pytest.mark.parametrize("change", ["twice", "beyond", "fewer"])
def test_row_numbers_that_cannot_be(change: str, made: tuple[Path, Path]) -> None:
    """Somebody has edited the file: rows twice, rows that the original lacks, too few rows."""
    original, release = made
    beside = Path(f"{release}.pairing.parquet")
    Path(f"{release}.json").unlink()  # its digest would tell at once
    numbers, said = row_numbers(release), json.dumps(details(release)).replace("'", "''")
    if change == "twice":
        numbers[0] = numbers[1]
    elif change == "beyond":
        numbers[0] = 301
    else:
        numbers = numbers[1:]
    with duckdb.connect() as engine:
        engine.execute(
            f"COPY (SELECT unnest({numbers}) AS record) TO '{beside}' "
            f"(FORMAT parquet, KV_METADATA {{sievert: 'pairing', pairing: '{said}'}})"
        )
    with pytest.raises(InputError, match="not paired by their order"):
        compare(original, release)


# -- --paired: attempts at numbers that are too low -----------------------------------------------


def attempts() -> dict[str, dict[str, list[str]]]:
    """Tables beside `people` whose rows are not its rows in the same order."""
    table, random = people(), Random(5)
    order = list(range(300))
    random.shuffle(order)
    by_age = sorted(range(300), key=lambda i: table["age"][i])
    tens = [f"{age[0]}*" for age in table["age"]]

    def moved(places: list[int], of: dict[str, list[str]]) -> dict[str, list[str]]:
        return {c: [values[i] for i in places] for c, values in of.items()}

    coarse = {**table, "age": tens}
    return {
        "shuffled": moved(order, table),
        "shuffled and coarser": moved(order, coarse),
        "turned around": moved(list(range(299, -1, -1)), table),
        "sorted by age": moved(by_age, table),
        "shifted by one row": moved([*range(1, 300), 0], table),
        "shifted by six rows": moved([*range(6, 300), *range(6)], table),
        "other people": people(seed=9),
        "quasi-identifiers shuffled": {**moved(order, table), "ill": table["ill"]},
        "secrets and town shuffled": {**moved(order, table), "age": table["age"]},
        "halves exchanged": moved([*range(150, 300), *range(150)], table),
    }


@pytest.mark.parametrize("name", attempts())
@pytest.mark.parametrize("command", ["compare", "attack"])
def test_paired_is_refused_against_the_evidence(command: str, name: str, tmp_path: Path) -> None:
    """A shuffled release was said to disclose 2.5 bits where 2.9 are true."""
    original = written(tmp_path / "t.csv", {c: v for c, v in people().items() if c != "id"})
    other = attempts()[name]
    release = written(tmp_path / "r.csv", {c: v for c, v in other.items() if c != "id"})
    tables = ["compare", str(original), str(release), "--shuffles", "0"]
    if command == "attack":
        tables = ["attack", str(release), "--original", str(original), "--no-reasoning"]
    with pytest.raises(UsageError, match="so that --paired does not hold") as error:
        if command == "compare":
            sievert.compare(original, release, **HOW, shuffles=0, paired=True)
        else:
            sievert.attack(release, original, **HOW, reasoning=False, paired=True)
    assert error.value.exit_code == 2 and "--key" in str(error.value.hint)
    assert run(*tables, "-q", "age,town", "-s", "ill", "--paired") == 2


def test_paired_does_not_stand_against_a_pairing_file(made: tuple[Path, Path]) -> None:
    """Rows of a release that protect wrote are not in the order of the original."""
    original, release = made
    with pytest.raises(UsageError, match="so that --paired does not hold"):
        compare(original, release, paired=True)


def age_decides(records: int = 1000) -> dict[str, list[str]]:
    """People of whom the age decides the secret."""
    random = Random(7)
    ages = [random.randrange(18, 91) for _ in range(records)]
    return {
        "age": [str(age) for age in ages],
        "ill": ["yes" if age >= 50 else "no" for age in ages],
    }


@pytest.fixture
def coarse(tmp_path: Path) -> tuple[Path, Path]:
    """An original and its release, of which one column can be read, and agrees by chance."""
    original = written(tmp_path / "po.csv", age_decides())
    policy = {
        "roles": {"quasi": ["age"], "sensitive": ["ill"], "rows_are_people": True},
        "limits": {"k_anonymity": {"min": 100}},
    }
    tree = {str(age): ["old" if age >= 50 else "young", "*"] for age in range(18, 91)}
    out = tmp_path / "pq.csv"
    result = sievert.protect(original, policy=policy, hierarchies={"age": tree}, out=out)
    assert result.released
    return original, out


def ways(original: Path, release: Path) -> list[Any]:
    """The commands that pair two tables, with --paired."""
    how: dict[str, Any] = {"quasi": ["age"], "sensitive": ["ill"], "paired": True}
    return [
        lambda: sievert.compare(original, release, **how, shuffles=0),
        lambda: sievert.attack(release, original, **how, reasoning=False),
        lambda: sievert.compromise(original, method="release", release=release, **how),
    ]


def test_paired_does_not_stand_against_the_file_of_the_release(
    coarse: tuple[Path, Path], tmp_path: Path
) -> None:
    """The release was said to disclose 0.06 bits where 0.99 are true."""
    for ask in ways(*coarse):
        with pytest.raises(UsageError, match=r"pq\.csv\.pairing\.parquet says") as error:
            ask()
        assert error.value.exit_code == 2 and "without --paired" in str(error.value.hint)
    Path(f"{coarse[1]}.pairing.parquet").unlink()
    for ask in ways(*coarse):  # the manifest knows that there was one
        with pytest.raises(UsageError, match=r"pq\.csv\.json says that its rows are in another"):
            ask()
    how = ["-q", "age", "-s", "ill", "--paired"]
    tables = [str(coarse[0]), str(coarse[1])]
    assert run("compare", *tables, *how, "--shuffles", "0") == 2
    Path(f"{coarse[1]}.json").unlink()
    for ask in ways(*coarse)[:2]:  # the only column that can be read agrees by chance
        with pytest.raises(UsageError, match="so that --paired does not hold"):
            ask()


def numbers(seed: int, spread: float) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """One column of numbers, and the same with noise."""
    random = Random(seed)
    pay = [random.gauss(100, 30) for _ in range(500)]
    noisy = [each + random.gauss(0, spread) for each in pay]
    return {"pay": [f"{x:.2f}" for x in pay]}, {"pay": [f"{x:.2f}" for x in noisy]}


@pytest.mark.parametrize("spread", [5.0, 30.0, 90.0])
def test_paired_for_a_noisy_column(spread: float) -> None:
    before, after = numbers(1, spread)
    true = sievert.compare(before, after, "pay", paired=True, shuffles=0).releases[0]
    assert true.pairing.by == "stated"
    order = list(range(500))
    Random(2).shuffle(order)
    moved = {"pay": [after["pay"][i] for i in order]}
    with pytest.raises(UsageError, match="so that --paired does not hold"):
        sievert.compare(before, moved, "pay", paired=True, shuffles=0)


@pytest.mark.parametrize("seed", range(5))
def test_paired_for_a_few_rows_whose_secret_is_elsewhere(seed: int) -> None:
    """Too few rows for a proof; but all secrets of the original are there, in other rows."""
    random = Random(seed)
    table = {c: v[:30] for c, v in people(seed=seed).items()}
    order = list(range(30))
    random.shuffle(order)
    labels = {**table, "age": ["all ages"] * 30, "town": ["all towns"] * 30}
    moved = {c: [v[i] for i in order] for c, v in labels.items()}
    assert compare(table, labels, paired=True).pairing.by == "stated"
    with pytest.raises(UsageError, match="so that --paired does not hold"):
        compare(table, moved, paired=True)


METHODS: dict[str, dict[str, Any]] = {
    "full": {},
    "local": {"how": "local"},
    "suppress": {"how": "suppress"},
    "noise": {"how": "noise", "amount": 0.2},
    "pram": {"how": "pram", "amount": 0.2},
    "round": {"how": "round", "base": {"age": 10}},
    "microaggregate": {"how": "microaggregate", "group": 3},
}


@pytest.mark.parametrize("records", [40, 300])
@pytest.mark.parametrize("how", METHODS)
def test_paired_holds_for_releases_that_keep_the_order(
    how: str, records: int, tmp_path: Path
) -> None:
    original = written(tmp_path / "t.csv", people(records, seed=records))
    recoded = how in ("full", "local", "suppress")
    policy = {
        "roles": {
            "quasi": QUASI,
            "sensitive": [SECRET],
            "identifier": ["id"],
            "rows_are_people": True,
        },
        "limits": {"k_anonymity": {"min": 3 if recoded else 1}},
    }
    options = {"hierarchies": TREES, "suppress": 0.3} if recoded else {"types": {"age": "int"}}
    release = tmp_path / "r.csv"
    how_to = {**options, **METHODS[how], "keep_order": True, "out": release}
    assert sievert.protect(original, policy=policy, **how_to).released
    assert not (tmp_path / "r.csv.pairing.parquet").exists()
    stated = compare(original, release, paired=True)
    assert (stated.pairing.paired, stated.pairing.by) == (True, "stated")


def test_paired_still_states_what_cannot_be_told() -> None:
    few = {c: values[:6] for c, values in people().items()}
    assert compare(few, few, paired=True).pairing.by == "stated"
    table = people()
    assert compare(table, table, paired=True).pairing.by == "stated"


@pytest.mark.parametrize("command", ["compare", "attack", "compromise"])
def test_help_says_that_paired_is_refused(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(command, "--help") == 0
    said = " ".join(capfd.readouterr().out.split())
    about = said[said.index("--paired") :][:250]
    assert "refused" in about and "whatever" not in about
