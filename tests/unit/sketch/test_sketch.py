"""Sketches: the oracle of a full count, the laws of merging, the same bytes, damaged files."""

from __future__ import annotations

import hashlib
import json
import stat
from collections import Counter
from collections.abc import Iterable
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from helpers import sketchtables
from helpers.commandline import run_process
from helpers.savedpages import check_saved

import sievert
from sievert.commands.sketch.class_sample import estimate_total, score_interval
from sievert.commands.sketch.result import SketchEstimates
from sievert.counts.packed.hashing import ROUNDS, START, hash_combinations
from sievert.counts.sketch import hashes, query, storage, stream
from sievert.counts.sketch.sample import ALL, ClassSample, SampledCells
from sievert.errors import InputError, SievertError, UsageError
from sievert.session import open_source

Columns = dict[str, list[Any]]


def random_table(seed: int, records: int) -> Columns:
    random = Random(seed)
    return {
        "age": [str(int(random.paretovariate(0.4)) % 4000) for _ in range(records)],
        "zip": [random.choice(["", "1", "2", None, "ü"]) for _ in range(records)],
        "ill": [random.choice(["flu", "hiv", None]) for _ in range(records)],
    }


def part(table: Columns, start: int, end: int) -> Columns:
    return {name: values[start:end] for name, values in table.items()}


def sketched(table: Any, **options: Any) -> SketchEstimates:
    options = {"quasi": ["zip", "age"], "sensitive": ["ill"], "size": 8192, **options}
    return sievert.sketch(table, **options)


def hash_texts(key: str, sign: str, texts: Iterable[str | None]) -> int:
    return hashes.hash_bytes(key, sign, b"".join(map(hashes.encode_value, texts)))


def oracle(table: Columns, key: str, room: int) -> tuple[list[tuple[int, int]], int]:
    """The classes of a sketch without secrets by hash and count, and the threshold."""
    classes = Counter(zip(table["age"], table["zip"], strict=True))
    sample, used = list[tuple[int, int]](), 0
    for number, combination in sorted((hash_texts(key, hashes.CLASS, c), c) for c in classes):
        count = classes[combination]
        used += 8 + max(1, -(-count.bit_length() // 7))
        if used > room:
            return sample, number
        sample.append((number, count))
    return sample, ALL


@pytest.mark.parametrize("salt", [None, sketchtables.SALT])
def test_the_sample_is_that_of_a_full_count(salt: bytes | None) -> None:
    table = random_table(1, 4000)
    sample = sketched(table, sensitive=None, salt=salt).file.samples[0]
    expected, threshold = oracle(table, hashes.derive_key(salt), 8192 - storage.HEADER)
    assert sample.threshold == threshold < ALL
    assert list(zip(sample.hashes.tolist(), sample.counts.tolist(), strict=True)) == expected


def test_the_cells_of_secrets_are_those_of_a_full_count() -> None:
    table = random_table(2, 3000)
    sample = sketched(table).file.samples[0]
    cells = Counter(zip(table["age"], table["zip"], table["ill"], strict=True))
    expected = Counter(
        {
            (hash_texts("", "/", [age, town]), hash_texts("", "=", [ill])): n
            for (age, town, ill), n in cells.items()
        }
    )
    own = sample.secrets[0]
    for owner, value, n in zip(own.owner, own.values, own.counts, strict=True):
        assert expected[int(sample.hashes[owner]), int(value)] == n
    kept = {key for key in expected if key[0] < sample.threshold}
    assert len(kept) == len(own.counts)


def test_a_small_table_is_exact() -> None:
    table = random_table(3, 300)
    key = sketched(table, size=storage.SIZE).keys[0]
    sizes = Counter(zip(table["age"], table["zip"], strict=True)).values()
    assessed = sievert.assess(table, ["age", "zip"])
    own = key.estimates
    assert key.exact and key.share == 1 and own.classes.value == len(sizes)
    assert own.below[2].value == assessed.reidentification["unique_records"].value
    assert own.below[5].value == sum(n for n in sizes if n < 5) / 300
    assert own.average_risk.low == own.average_risk.high == len(sizes) / 300
    pairs = {(a, z): set() for a, z in zip(table["age"], table["zip"], strict=True)}  # type: ignore[var-annotated]
    for a, z, ill in zip(*table.values(), strict=True):
        pairs[a, z].add(ill)
    count = Counter(zip(table["age"], table["zip"], strict=True))
    certain = sum(n for c, n in count.items() if n < 20 and len(pairs[c]) == 1)
    assert own.certain["ill"].value == certain / 300


@pytest.mark.parametrize("seed", range(4))
def test_merging_in_any_order_gives_the_bytes_of_the_whole(seed: int, tmp_path: Path) -> None:
    random, table = Random(seed), random_table(seed, 6000)
    cuts = sorted(random.sample(range(6000), 4))
    whole, files = sketched(table).to_bytes(), []
    for start, end in zip([0, *cuts], [*cuts, 6000], strict=True):
        files.append(tmp_path / f"{start}.sketch")
        sketched(part(table, start, end), out=files[-1])
    for _ in range(3):
        random.shuffle(files)
        merged = sievert.sketch(files)
        assert merged.to_bytes() == whole and merged.rows == 6000
    pairs = reduce(lambda a, b: storage.merge_files([a, b]), map(storage.read_sketch, files))
    assert pairs.to_bytes() == whole
    nested = storage.merge_files(
        [
            storage.merge_files([storage.read_sketch(f) for f in some])
            for some in (files[:2], files[2:])
        ]
    )
    assert nested.to_bytes() == whole


def test_packed_keys_give_the_same_bytes(tmp_path: Path) -> None:
    from sievert.commands.sketch.run import sketch_table
    from sievert.counts.packed.records import PackedRecords
    from sievert.roles import Roles

    table = sketchtables.arrow_table(sketchtables.typed_columns(12000))
    kept = [c for c in table.column_names if c not in ("seen", "pay")]  # which are not packed
    pyarrow.parquet.write_table(table.select(kept), path := tmp_path / "t.parquet")
    keys = tuple(tuple(sorted(set(key) & set(kept))) for key in sketchtables.KEYS)
    roles, files = Roles(quasi=keys[-1], sensitive=tuple(sketchtables.SECRETS)), []
    for large in (10**9, 1):
        with open_source(path, large=large) as (_, questions):
            assert isinstance(questions.memory, PackedRecords) == (large == 1)
            file = sketch_table(questions, roles, keys, size=1 << 14, salt=sketchtables.SALT)
            files.append(file)
    assert files[0].to_bytes() == files[1].to_bytes() and not files[0].samples[2].complete


def test_a_stream_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = sketchtables.arrow_table(sketchtables.typed_columns(9000))
    options: Any = {"key_sets": sketchtables.KEYS, "sensitive": sketchtables.SECRETS, "size": 9000}
    counted = sievert.sketch(table, **options).to_bytes()
    for name, value in (("LOOK", 1000), ("PENDING", 700)):
        monkeypatch.setattr(stream, name, value)
    streamed = list[int]()
    whole = stream.stream_hashes
    monkeypatch.setattr(query, "stream_hashes", lambda *a: streamed.append(1) or whole(*a))
    assert sievert.sketch(table, **options).to_bytes() == counted and streamed == [1]
    path = tmp_path / "broken.csv"
    path.write_bytes(b"a,b\n" + b"".join(b"%d,x\n" % n for n in range(9000)) + b"1\xff,y\n")
    with pytest.raises(InputError, match="not UTF-8"):
        sievert.sketch(path, ["a", "b"])


def test_compiled_hashes_are_those_of_the_specification() -> None:
    assert (START[0], ROUNDS[0], ROUNDS[63]) == (0x6A09E667, 0x428A2F98, 0xC67178F2)
    random = np.random.default_rng(0)
    texts = [[b"-", *(b"x" * n for n in range(70))] for _ in range(2)]
    codes = [random.integers(0, 71, 300).astype(np.uint32) for _ in texts]
    for start in (b"/", b"k" * 64 + b"/"):
        for number, a, b in zip(hash_combinations(start, texts, codes), *codes, strict=True):
            digest = hashlib.sha256(start + texts[0][a] + texts[1][b]).digest()
            assert int(number) == int.from_bytes(digest[:8], "big")


def test_no_two_lists_of_values_are_written_alike() -> None:
    lists = [["1:a", None], ["1:a-"], ["1", ":a", None], [None, "1:a"], ["", "1:a"], ["a"], [None]]
    assert len({b"".join(map(hashes.encode_value, each)) for each in lists}) == len(lists)


def test_the_order_of_names_and_the_type_of_numbers_do_not_matter() -> None:
    numbers = {"a": [1, 2, 2, None], "b": [1.0, 2.0, None, 3.5]}
    texts = {"b": ["1", "2", None, "3.5"], "a": ["1", "2", "2", None]}
    assert sievert.sketch(numbers, ["a", "b"]).to_bytes() == (
        sievert.sketch(texts, ["b", "a"]).to_bytes()
    )


def test_a_sketch_keeps_its_size() -> None:
    random = Random(5)
    table = {name: [str(random.random()) for _ in range(5000)] for name in ("a", "b", "c")}
    result = sievert.sketch(table, ["a"], ["b", "c"], size=16384)  # every value is a new one
    assert len(result.to_bytes()) <= 16384
    wide = sketched(random_table(5, 5000))
    assert 8192 - storage.HEADER - 100 < sum(wide.file.samples[0].class_bytes()) <= 8192
    assert len(wide.to_bytes()) <= 8192


def test_subsets_and_key_sets() -> None:
    table = random_table(6, 500)
    keys = sievert.sketch(table, ["age", "zip", "ill"], subsets=2).file.key_sets
    assert keys == (("age",), ("zip",), ("ill",), ("age", "zip"), ("age", "ill"), ("ill", "zip"))
    both = sievert.sketch(table, key_sets=[["age"], ["zip", "age"]])
    assert both.file.key_sets == (("age",), ("age", "zip")) and both.unassessed == ("ill",)
    alone = sievert.sketch(table, ["age", "zip"]).keys[0]
    assert both.keys[1] == alone


def test_a_file_is_private_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.sketch"
    result = sketched(random_table(7, 2000), out=path, salt=sketchtables.SALT)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    again = sievert.sketch(path)
    assert again.keys == result.keys and again.to_bytes() == path.read_bytes()
    assert sievert.sketch(path, salt=sketchtables.SALT).keys == again.keys
    with pytest.raises(UsageError, match="another salt"):
        sievert.sketch(path, salt=b"0123456789abcdef")
    assert b"flu" not in path.read_bytes()


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sketch"
    content = sketched(random_table(8, 1000), out=path).to_bytes()
    random = Random(0)
    for _ in range(60):
        place = random.randrange(len(content))
        broken = bytearray(content)
        broken[place] ^= 1 << random.randrange(8)
        path.write_bytes(random.choice([bytes(broken), content[:place], content + b"x"]))
        with pytest.raises(SievertError):
            storage.read_sketch(path)


def forged(content: bytes) -> bytes:
    return content + hashlib.sha256(content).digest()


def test_forged_files_are_refused(tmp_path: Path) -> None:
    """Whole by their checksum, and yet no sketch that this program writes."""
    path = tmp_path / "a.sketch"
    content = sketched(random_table(9, 1000), out=path).to_bytes()[: -storage.DIGEST]
    head, _, rest = content[len(storage.MAGIC) :].partition(b"\n")
    header = json.loads(head)
    sketch = header["sketches"][0]
    for name, value in (
        ("records", 10),
        ("records", "x"),
        ("size", 10),
        ("secrets", ["ill", "b"]),
        ("salt", 5),
        ("sketches", []),
        ("sketches", [{**sketch, "threshold": "0000000000000001"}]),
        ("sketches", [{**sketch, "classes": 10**9}]),
        ("sketches", [{**sketch, "values": [10**6]}]),
        ("sketches", [{**sketch, "columns": []}]),
        ("other", 1),
    ):
        text = json.dumps({**header, name: value}, sort_keys=True, separators=(",", ":"))
        path.write_bytes(forged(storage.MAGIC + text.encode() + b"\n" + rest))
        with pytest.raises(InputError, match="damaged"):
            storage.read_sketch(path)
    spaced = json.dumps(header, sort_keys=True).encode()  # says the same in other bytes
    path.write_bytes(forged(storage.MAGIC + spaced + b"\n" + rest))
    with pytest.raises(InputError, match="damaged"):
        storage.read_sketch(path)


def test_sketches_of_another_kind_do_not_merge(tmp_path: Path) -> None:
    table = random_table(10, 200)
    sketched(table, out=(first := tmp_path / "a.sketch"))
    for what, options in (
        ("columns", {"quasi": ["zip"]}),
        ("secrets", {"sensitive": None}),
        ("salts", {"salt": sketchtables.SALT}),
        ("sizes", {"size": 9000}),
    ):
        sketched(table, out=(other := tmp_path / f"{what}.sketch"), **options)
        with pytest.raises(UsageError, match=f"different {what}"):
            sievert.sketch([first, other])


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,ill\n1,a\n1,a\n2,b\n3,b\n")
    (tmp_path / "u.csv").write_text("age,ill\n3,a\n4,a\n")
    (tmp_path / "salt").write_bytes(b"0123456789abcdef")
    salt = ["--salt", str(tmp_path / "salt")]
    for name in "tu":
        table, sketch = tmp_path / f"{name}.csv", tmp_path / f"{name}.sketch"
        done = run_process("sketch", table, "-q", "age", "-s", "ill", *salt, "-o", sketch)
        assert done.returncode == 0 and ("50 %" in done.stdout) == (name == "t")
    files, merged = (tmp_path / "t.sketch", tmp_path / "u.sketch"), tmp_path / "both.sketch"
    content = json.loads(run_process("sketch", *files, "-o", merged, "--json", "-").stdout)
    assert content["table"]["rows"] == 6
    assert content["sketches"][0]["unique"] == {"estimate": 2 / 6, "high": 2 / 6, "low": 2 / 6}
    assert "einzigartig" in run_process("sketch", merged, "--language", "de").stdout
    refused = run_process("sketch", merged, "-q", "age")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"salt": b"short"}, "at least 16 bytes"),
        ({"size": 100}, "--size must be from"),
        ({"sensitive": ["age"]}, "a secret and in a key"),
        ({"missing": "wildcard"}, "value of its own"),
        ({"subsets": 0}, "--subsets"),
        ({"subsets": 2, "key_sets": [["age"]]}, "not both"),
        ({"key_sets": [["age"]]}, "not both"),
        ({"salt": "no such file"}, "no such file"),
    ],
)
def test_bad_options(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(SievertError, match=words):
        sievert.sketch({"age": ["1"], "zip": ["2"]}, **{"quasi": ["age", "zip"], **arguments})


def test_what_engines_spell_differently_is_refused() -> None:
    import pyarrow

    table = pyarrow.table({"a": pyarrow.array([b"x"]), "b": ["y"]})
    with pytest.raises(InputError, match="depends on the engine"):
        sievert.sketch(table, ["a", "b"])


# -- estimates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("records", [300, 6000])
def test_a_saved_result_has_the_same_page(records: int) -> None:
    sets = [["age"], ["age", "zip"]]
    options = {"quasi": None, "key_sets": sets, "salt": b"a long salt of our own"}
    result = sketched(random_table(5, records), **options)
    check_saved(result)
    read = SketchEstimates.from_dict(result.to_dict())
    assert read.keys == result.keys and read.file.salted
    with pytest.raises(UsageError, match="no sketches"):
        read.to_bytes()


def test_the_score_interval_has_what_the_sample_does_not_contradict() -> None:
    low, high = score_interval(40, 0.2)
    for end in (low, high):
        assert abs(40 - end * 0.2) == pytest.approx(1.959964 * (end * 0.2 * 0.8) ** 0.5)
    nothing = estimate_total(np.zeros(50, dtype=np.int64), 0.5, 4, 10**6)
    assert nothing.value == nothing.low == 0 and nothing.high == pytest.approx(4 * 3.8415, rel=1e-3)


def test_intervals_cover_as_they_say() -> None:
    """One table with real hashes of many salts here; a thousand tables in the soak."""
    random = np.random.default_rng(3)
    sizes = np.unique(random.zipf(1.3, 40_000), return_counts=True)[1]
    texts = [[hashes.encode_value(str(n)) for n in range(len(sizes))]]
    hits = []
    for number in range(250):
        start = (hashes.derive_key(b"salt number %08d" % number) + hashes.CLASS).encode()
        drawn = hash_combinations(start, texts, [np.arange(len(sizes))])
        threshold = np.sort(drawn)[1200]
        whole = estimate_total(1 * (sizes[drawn < threshold] == 1), threshold / ALL, 1, 40_000)
        hits.append(whole.low <= np.count_nonzero(sizes == 1) <= whole.high)
    assert 0.92 <= np.mean(hits) <= 0.98


def test_cells_belong_to_their_classes() -> None:
    one = ClassSample(
        columns=("a",), records=3, threshold=ALL,
        hashes=np.array([5], np.uint64), counts=np.array([3]),
        secrets=(SampledCells(np.array([0, 0]), np.array([1, 2], np.uint64), np.array([1, 2])),),
    )  # fmt: skip
    both = one.merge(one)
    assert both.records == 6 and both.counts.tolist() == [6]
    assert both.secrets[0].counts.tolist() == [2, 4]


def test_a_table_that_is_given_twice(tmp_path: Path) -> None:
    """Its people would look less unique: the same sketch is refused, a part of another remarked."""
    tables = {"one": {"age": ["1", "2", "3"]}, "two": {"age": ["7", "8"]}}
    for name, table in tables.items():
        sievert.sketch(table, "age", out=tmp_path / name)
    one, two, both = tmp_path / "one", tmp_path / "two", tmp_path / "both"
    with pytest.raises(SievertError, match="the same sketch twice"):
        sievert.sketch([one, one])
    assert not any("contains" in w for w in sievert.sketch([one, two], out=both).warnings)
    assert any("contains" in w for w in sievert.sketch([both, two]).warnings)
