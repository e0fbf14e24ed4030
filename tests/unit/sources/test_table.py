"""Reading: nothing guessed, nothing lost, nothing silently changed."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

import sievert
from sievert.errors import InputError, RefusedError, UsageError
from sievert.sources import csv_header, csv_scan


def write(tmp_path: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def sizes(path: Path, quasi: str | list[str], **options: object) -> tuple[int, int]:
    found = sievert.assess(path, quasi, measures=["classes", "k_anonymity"], **options)
    return found.rows, int(found.reidentification["classes"].value or 0)


READABLE = {
    "leading zeros stay": ("zip,x\n01234,1\n1234,1\n", "zip", (2, 2)),
    "1, 1.0 and 01 differ as text": ("n\n1\n1.0\n01\n", "n", (3, 3)),
    "text NA is text, empty is missing": ("a,b\nNA,1\n,1\n\"\",1\n", "a", (3, 3)),
    "blanks and case count": ("a,b\nx,1\nX,1\n x,1\n", "a", (3, 3)),
    "quoted newline is one record": ('a,b\n"x\ny",1\nz,1\n', "a", (2, 2)),
    "quoted delimiter": ('a,b\n"x,y",1\n"x,z",1\n', "a", (2, 2)),
    "byte order mark": ("﻿a,b\n1,2\n", "a", (1, 1)),
    "Windows line ends": ("a,b\r\n1,2\r\n3,4\r\n", "a", (2, 2)),
    "old Mac line ends": ("a,b\r1,2\r3,4\r", "a", (2, 2)),
    "no newline at the end": ("a,b\n1,2\n3,4", "a", (2, 2)),
    "blank lines are no records": ("a,b\n1,2\n\n3,4\n\n\n", "a", (2, 2)),
    "a blank line of one column is a missing value": ("a\n1\n\n2\n", "a", (3, 3)),
    "semicolons": ("a;b,c\n1;2\n2;3\n", "a", (2, 2)),
    "tabs": ("a\tb\n1\t2\n", "a", (1, 1)),
    "bars": ("a|b\n1|2\n", "a", (1, 1)),
    "quotes inside a field": ('a,b\n5" pipe,1\n6" pipe,1\n7,1\n', "a", (3, 3)),
    "quotes and a newline": ('a,b\n5" pipe,"x\ny"\n6,7\n', "a", (2, 2)),
    "doubled quotes": ('a,b\n"x ""y""",1\n"x ""z""",1\n', "a", (2, 2)),
    "comment signs are data": ("a,b\n#x,1\ny,2\n", "a", (2, 2)),
    "decomposed accents differ": ("a,b\n\u00e9,1\ne\u0301,1\n", "a", (2, 2)),
    "forty digits": ("a\n" + "9" * 40 + "\n" + "9" * 39 + "8\n", "a", (2, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", READABLE)
def test_readable(name: str, tmp_path: Path) -> None:
    content, quasi, due = READABLE[name]
    assert sizes(write(tmp_path, content), quasi) == due


UNREADABLE: dict[str, tuple[bytes, type[Exception], str]] = {
    "empty": (b"", InputError, "empty file (0 bytes)"),
    "header only": (b"a,b\n", InputError, "0 records"),
    "short row": (b"a,b\n1,2\nsecret\n", InputError, "line 3: 1 field(s)"),
    "long row": (b"a,b\n1,2\nsecret,2,3\n", InputError, "line 3: 3 field(s)"),
    "open quote": (b'a,b\n1,"secret\n3,4\n', InputError, "does not end"),
    "text after a quote": (b'a,b\n"x" ,1\nsecret,1\n', InputError, "text beside a quoted field"),
    "blank before a quote": (b'a,b\n "x,1\nb,2\nc",3\n', InputError, "text beside"),
    "trailing delimiter on a row": (b"a,b\nsecret,b,\na,b\n", InputError, "line 2: 3 field(s)"),
    "NUL byte": (b"a,b\n1,2\nsec\x00ret,4\n", InputError, "line 3: a NUL byte"),
    "Latin-1": (b"a,b\n1,secret\n2,secret\xe9\n", InputError, "not UTF-8 at byte 21"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), InputError, "UTF-16"),
    "same name": (b"a,b,a\n1,2,3\n", InputError, "same name"),
    "same name but for case": (b"a,b,A\n1,2,3\n", InputError, "same name"),
    "no name": (b"a,,c\n1,2,3\n", InputError, "column 2 has no name"),
    "trailing delimiter": (b"a,b,\n1,2,\n", InputError, "column 3 has no name"),
    "two delimiters": (b"a;b|c\n1;2|3\n", InputError, "not clear"),
    "damaged gzip": (b"\x1f\x8b\x08\x00rest", InputError, "damaged or truncated gzip"),
    "damaged zstd": (b"\x28\xb5\x2f\xfdsecret", InputError, "damaged or truncated zstd"),
    "damaged Arrow": (b"ARROW1\0\0 and no more", InputError, "Arrow file"),
    "zip": (b"PK\x03\x04rest", RefusedError, "archive"),
    "picture": (b"\x89PNG\r\n", InputError, "picture"),
    "damaged Parquet": (b"PAR1 but nothing else PAR1", InputError, "damaged"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable(name: str, tmp_path: Path) -> None:
    content, kind, words = UNREADABLE[name]
    with pytest.raises(kind, match=r"t\.csv") as error:
        sizes(write(tmp_path, content), "a")
    assert words in str(error.value)
    assert "secret" not in str(error.value)


def test_directories(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    with pytest.raises(InputError, match=r"a directory without \.parquet files"):
        sizes(tmp_path, "a")

    def part(name: str, **columns: list[object]) -> None:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        pyarrow.parquet.write_table(pyarrow.table(columns), path)

    part("lake/a.parquet", q=["a", "b"], s=["1", "2"])
    part("lake/b.parquet", q=["b", "c"], s=["1", "2"])
    assert sizes(tmp_path / "lake", "q") == (4, 3)
    part("lake/c.parquet", q=["b"], t=["1"])
    with pytest.raises(InputError, match="1 of 3 files have other columns"):
        sizes(tmp_path / "lake", "q")
    part("lake/c.parquet", q=["b"])
    with pytest.raises(InputError, match="1 of 3 files have other columns"):
        sizes(tmp_path / "lake", "q")
    (tmp_path / "years").mkdir()
    part("years/year=2020/a.parquet", q=["a", "a"])
    part("years/year=2021/a.parquet", q=["a", "b"])
    assert sizes(tmp_path / "years", "q") == (4, 2)
    assert sizes(tmp_path / "years", ["q", "year"]) == (4, 3)
    part("years/plain.parquet", q=["a"])
    with pytest.raises(InputError, match="different columns"):
        sizes(tmp_path / "years", "q")


def test_database_files(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "house.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT unnest(['a', 'b', NULL]) AS q, 1 AS s")
    assert sizes(path, "q") == (3, 3)
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE SCHEMA x; CREATE TABLE x."odd "" name" AS SELECT 1 AS q')
        connection.execute("CREATE VIEW v AS SELECT * FROM read_text('/etc/hostname')")
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"which of its 2 tables\?"):
        sizes(path, "q")
    assert sizes(Path(f"{path}?table=t"), "q") == (3, 3)
    assert sievert.classes(f'{path}?table=x.odd " name', "q") == 1
    with pytest.raises(UsageError, match="'v' is a view, which is not read"):
        sizes(Path(f"{path}?table=v"), "q")  # a view is not executed
    with pytest.raises(UsageError, match=r"house\.db: key 'tabel' does not exist\. Try: 'table'"):
        sizes(Path(f"{path}?tabel=t"), "q")
    with pytest.raises(InputError, match=r"2 value\(s\) of column 'q' are not int"):
        sizes(Path(f"{path}?table=t"), "q", types={"q": "int"})
    assert path.read_bytes() == before and not Path(f"{path}.wal").exists()
    with pytest.raises(UsageError, match="only a database"):
        sizes(Path(f"{write(tmp_path, 'a,b', 'x.csv')}?table=t"), "a")


def test_encodings(tmp_path: Path) -> None:
    for encoding in ("latin-1", "cp1252", "utf-16"):
        path = write(tmp_path, "a,b\né,1\nü,1\n".encode(encoding), f"{encoding}.csv")
        assert sizes(path, "a", encoding=encoding) == (2, 2)
    with pytest.raises(InputError, match="not shift_jis"):
        sizes(write(tmp_path, b"a,b\n\x80\xff\xfe,1\n"), "a", encoding="shift-jis")


def test_compressed_files(tmp_path: Path) -> None:
    import gzip

    import zstandard

    text = "zip,s\n01234,a\n01234,b\n1234,é\n".encode()
    pack = zstandard.ZstdCompressor().compress
    half = text.index(b"01234,b")
    for name, content in {
        "t.csv.gz": gzip.compress(text),
        "members.csv.gz": gzip.compress(text[:half]) + gzip.compress(text[half:]),
        "no-ending": gzip.compress(text),
        "t.csv.zst": pack(text),
        "frames.zst": pack(text[:half]) + pack(text[half:]),
    }.items():
        assert sizes(write(tmp_path, content, name), "zip") == (3, 2), name
    latin = gzip.compress("a,b\né,1\nü,1\n".encode("latin-1"))
    assert sizes(write(tmp_path, latin, "l.gz"), "a", encoding="latin-1") == (2, 2)
    found = sievert.assess(write(tmp_path, gzip.compress(text), "t.csv.gz"), "zip")
    sievert.write_report(found, html=tmp_path / "page.html")
    assert found.table["compression"] == "gzip" and "gzip" not in repr(found)
    assert "The file is packed with gzip." in (tmp_path / "page.html").read_text()
    for content, words in (
        (gzip.compress(b"a,b\n1,2\nsecret\n"), "line 3: 1 field"),
        (gzip.compress(b"a,b\n1,\x00\n"), "line 2: a NUL byte"),
        (gzip.compress(text)[:-9], "damaged or truncated gzip"),
        (pack(text)[:-5], "damaged or truncated zstd"),
        (pack(text) + pack(text)[:-2], "damaged or truncated zstd"),
        (gzip.compress(b"PK\x03\x04..."), "archive"),
        (gzip.compress(b""), "empty file"),
    ):
        with pytest.raises((InputError, RefusedError), match=words) as error:
            sizes(write(tmp_path, content, "wrong.gz"), "a")
        assert "wrong.gz" in str(error.value) and "secret" not in str(error.value)


@pytest.mark.slow
def test_bombs_are_refused(tmp_path: Path) -> None:
    import gzip

    bomb = write(tmp_path, gzip.compress(b"a\n" + b"0\n" * (20 << 20)), "bomb.gz")
    with pytest.raises(RefusedError, match="more than 16,777,216 bytes of text"):
        sizes(bomb, "a")
    assert sizes(bomb, "a", max_unpacked="1GB")[0] == 20 << 20
    with pytest.raises(RefusedError, match="more than 1,024 bytes"):
        sizes(bomb, "a", max_unpacked="1KB")
    with pytest.raises(UsageError, match="not a size"):
        sizes(bomb, "a", max_unpacked="large")


def test_arrow_files(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.feather

    table = pyarrow.table({"q": ["a", "a", None], "n": [1, 2, 3], "l": [[1], [2], [3]]})
    pyarrow.feather.write_feather(table, str(tmp_path / "t.feather"))
    assert sizes(tmp_path / "t.feather", ["q", "n"]) == (3, 3)
    assert sievert.t_closeness_ordered(tmp_path / "t.feather", "q", "n") == 0.5
    with pytest.raises(UsageError, match="nested"):
        sizes(tmp_path / "t.feather", "l")


def test_names_of_files_and_folders_are_not_patterns(tmp_path: Path) -> None:
    """A folder called q=a is no partition, d[1].csv no pattern, x.csv.gz no archive."""
    import duckdb

    folder = tmp_path / "q=a"
    folder.mkdir()
    for name in ("d[1].csv", "e*.csv", "f?.csv", "plain.csv.gz", "it's.csv", "%20.csv"):
        assert sizes(write(folder, "q,s\na,1\nb,2\nc,3\nc,3\n", name), "q") == (4, 3)
    for name in ("g.parquet", "h[0].parquet"):
        duckdb.execute("COPY (SELECT unnest(['a','b','c','c']) AS q) TO 'x.parquet'".replace(
            "x.parquet", str(folder / name)))  # fmt: skip
        assert sizes(folder / name, "q") == (4, 3)


def test_parquet_names_are_checked(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    for names in (["q", "q"], ["Q", "q"], ["q", ""]):
        path = tmp_path / "t.parquet"
        pyarrow.parquet.write_table(pyarrow.table([["a"], ["b"]], names=names), path)
        with pytest.raises(InputError, match=r"same name|no name"):
            sizes(path, "q")
    nested = {"s": [{"x": {"y": 1}, "z": [1]}], "q": ["a"], "t": [[{"u": 1}]], "r": ["b"]}
    pyarrow.parquet.write_table(pyarrow.table(nested), path)
    assert sizes(path, ["q", "r"]) == (1, 1)
    with pytest.raises(UsageError, match="nested"):
        sizes(path, "t")


def test_parquet_decimals_are_not_rounded(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "t.parquet"
    values = pyarrow.array([Decimal(10**39 + 1), Decimal(10**39 + 2)], pyarrow.decimal256(40, 0))
    pyarrow.parquet.write_table(pyarrow.table({"q": values, "r": ["a", "b"]}), path)
    assert sizes(path, "r") == (2, 2)
    with pytest.raises(InputError, match="40 digits"):
        sizes(path, "q")


def test_a_file_that_vanishes_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n1,2\n")
    with pytest.raises(InputError, match="changed during the run"):
        sievert.assess(path, "a", watch=lambda step, _: step == "computing" and path.unlink())


def test_special_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a regular file"):
        sizes(Path("/dev/zero"), "a")


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    import os
    from threading import Thread

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=["a,b\n1,2\n3,4\n"])
    writer.start()
    assert sizes(pipe, "a") == (2, 2)
    writer.join()


def test_missing_codes(tmp_path: Path) -> None:
    path = write(tmp_path, 'a,b\nNA,1\n?,1\n,1\n"NA",1\n')
    assert sizes(path, "a") == (4, 3)
    assert sizes(path, "a", na=["NA", "?"]) == (4, 1)  # in quotes or not
    blank = write(tmp_path, 'a,b\n"",1\n,1\nx,1\n')
    assert sizes(blank, "a") == (3, 3)
    assert sizes(blank, "a", na=[""]) == (3, 2)
    odd = write(tmp_path, 'a,b\n"""",1\n,1\nx,1\n')
    assert sizes(odd, "a", na=['"']) == (3, 2)
    numbers = {"q": [-9, -9, 1, 2]}
    assert sievert.assess(numbers, "q", na=["-9"]).warnings[0].startswith("2 records without")
    with pytest.raises(UsageError, match="--na"):
        sizes(path, "a", na=["A,B"])


def test_types(tmp_path: Path) -> None:
    path = write(tmp_path, "n,d\n1,2020-01-02\n01,2020-01-02\n1.0,2020-01-03\n")
    assert sizes(path, "n", types={"n": "float"}) == (3, 1)
    assert sizes(path, "d", types={"d": "date"}) == (3, 2)
    assert sizes(path, "n", types={"n": "int"}) == (3, 1)
    for text, kind in (("1.4", "int"), ("1e0", "int"), (" 1", "int"), ("epoch", "date"),
                       ("2020/01/01", "date"), ("1,5", "float")):  # fmt: skip
        with pytest.raises(InputError, match=f"column 'n' are not {kind}"):
            sizes(write(tmp_path, f'n,d\n"{text}",x\n', "u.csv"), "n", types={"n": kind})
    with pytest.raises(InputError, match="are not int"):
        sievert.classes({"q": [1.4, 0.6]}, "q", types={"q": "int"})
    with pytest.raises(InputError, match=r" 1 value\(s\) of column 'n' are not int"):
        codes = write(tmp_path, "n\nNA\nNA\nx\n", "na.csv")
        sizes(codes, "n", types={"n": "int"}, na=["NA"])
    with pytest.raises(InputError, match=r"3 value\(s\) of column 'd' are not int"):
        sizes(path, "d", types={"d": "int"})


def test_a_file_that_changes_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n1,2\n")

    def grow(step: str, _: object) -> None:
        if step == "computing":
            path.write_text("a,b\n1,2\n3,4\n")

    with pytest.raises(InputError, match="changed during the run"):
        sievert.assess(path, "a", watch=grow)


def test_lost_records_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "a,b\n1,2\n3,4\n")
    monkeypatch.setattr(csv_scan, "scan", lambda *_, **__: csv_scan.Scan(3, 0, 4, mixed=False))
    with pytest.raises(InputError, match="2 records were read where the file has 3"):
        sizes(path, "a")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_records_are_counted_over_blocks(tmp_path: Path, end: str) -> None:
    """Quotes, line ends and blank lines on any border between blocks."""
    content = 'a,b\n"x\n""y",1\n\n2,"3"\n\n"",\n4,5'.replace("\n", end)
    path = write(tmp_path, content)
    for size in range(1, len(content) + 1):
        found = csv_scan.scan(path, "t.csv", ",", 2, chunk=size)
        assert (found.records, found.blank_lines, found.mixed) == (4, 2, False)
        assert found.longest >= len('"x\n""y",1\n'.replace("\n", end))
    assert csv_header.count_fields(path, "t.csv", ",", 2, 100) == 5


def test_a_mark_before_a_quoted_name(tmp_path: Path) -> None:
    """The engine alone reads two records of this."""
    path = write(tmp_path, b'\xef\xbb\xbf";";"n"\n;\n1;2\n')
    assert sizes(path, ";", delimiter=";") == (2, 2)


def test_a_column_of_commas(tmp_path: Path) -> None:
    path = write(tmp_path, ",\n" * 12)
    assert sizes(path, ",", delimiter=";") == (11, 1)


def test_mixed_line_ends_become_one(tmp_path: Path) -> None:
    path = write(tmp_path, 'a,b\r\n"1\r\n",2\n3,"\r"\r4,5\r\n\r6,7')
    for size in range(1, 40):
        found = csv_scan.scan(path, "t.csv", ",", 2, chunk=size)
        assert (found.records, found.blank_lines, found.mixed) == (4, 1, True)
        csv_scan.one_line_end(path, "t.csv", tmp_path / "copy.csv", chunk=size)
        copy = (tmp_path / "copy.csv").read_bytes()
        assert copy == b'a,b\n"1\r\n",2\n3,"\r"\n4,5\n\n6,7'
    assert sizes(path, ["a", "b"]) == (4, 4)


@pytest.mark.slow
def test_the_count_agrees_with_one_field_by_field_on_random_bytes(tmp_path: Path) -> None:
    """Whatever the count by blocks vouches for, the count by fields counts alike."""
    from random import Random

    accepted = 0
    for seed in range(3000):
        random = Random(seed)
        text = "a,b\n" + "".join(random.choices('x",\n \r', weights=[4, 2, 4, 3, 1, 0.3], k=14))
        path = write(tmp_path, text)
        try:
            quick = csv_scan.scan(path, "t.csv", ",", 2).records
        except InputError:
            continue
        accepted += 1
        try:
            assert csv_header.count_fields(path, "t.csv", ",", 2, 100) == quick + 1, repr(text)
        except InputError as error:  # ragged rows whose fields add up: the engine refuses them
            assert "field(s)" in str(error)
    assert accepted > 150


def test_frames_and_files_agree(tmp_path: Path) -> None:
    """The same table as CSV, Parquet, pandas, Polars, Arrow and plain lists: the same chapters."""
    import pandas
    import polars
    import pyarrow
    import pyarrow.parquet

    columns = {
        "q": ["a", "a", None, "b", "é", "NULL"],
        "r": ["1", "2", "2", None, "1", "1"],
        "s": ["x", "y", "x", None, "z", "x"],
        "n": [1, 2, 3, 4, 5, 5],
    }
    arrow = pyarrow.table(columns)
    pyarrow.parquet.write_table(arrow, tmp_path / "t.parquet")
    lines = [",".join(columns)]
    lines += [",".join("" if v is None else str(v) for v in row)
              for row in zip(*columns.values(), strict=True)]  # fmt: skip
    sources = {
        "dict": columns,
        "csv": write(tmp_path, "\n".join(lines) + "\n"),
        "parquet": tmp_path / "t.parquet",
        "pandas": pandas.DataFrame(columns),
        "polars": polars.DataFrame(columns),
        "lazy": polars.DataFrame(columns).lazy(),
        "arrow": arrow,
    }
    found = {}
    for name, source in sources.items():
        whole = sievert.assess(source, ["q", "r"], ["s", "n"], types={"n": "int"}).to_dict()
        del whole["table"]
        found[name] = json.dumps(whole, sort_keys=True)
    assert len(set(found.values())) == 1


def test_awkward_frames() -> None:
    import pandas
    import polars
    import pyarrow

    nan = float("nan")
    assert sievert.classes(pandas.DataFrame({"f": [1.5, nan, -0.0, 0.0]}), "f") == 3
    ordered = pandas.Categorical(["l", "m", "h"], categories=["l", "m", "h", "z"], ordered=True)
    frame = pandas.DataFrame({"q": ["a", "b", "b"], "s": ordered})
    assert sievert.t_closeness_ordered(frame, "q", "s") == 0.5
    plain = frame.assign(s=pandas.Categorical(["l", "m", "h"]))
    with pytest.raises(UsageError, match="order"):
        sievert.t_closeness_ordered(plain, "q", "s")
    levels = polars.DataFrame({"q": ["a", "b", "b"], "s": ["l", "m", "h"]}).with_columns(
        s=polars.col("s").cast(polars.Enum(["l", "m", "h", "z"]))
    )
    assert sievert.t_closeness_ordered(levels, "q", "s") == 0.5
    fine = pyarrow.table({"d": pyarrow.array([1, 2], pyarrow.duration("ns")), "r": ["a", "b"]})
    assert sievert.classes(fine, "r") == 2
    with pytest.raises(InputError, match="rounded"):
        sievert.classes(fine, "d")
    money = pandas.DataFrame({"q": [Decimal("1.0"), Decimal("1.00"), Decimal("9" * 40), None,
                                    Decimal("1." + "0" * 28 + "1"), Decimal("1." + "0" * 28 + "2"),
                                    Decimal("0"), Decimal("-0")]})  # fmt: skip
    assert sievert.classes(money, "q") == 6
    levels = pandas.Categorical([True, False], categories=[True, False], ordered=True)
    assert sievert.t_closeness_ordered(pandas.DataFrame({"q": "ab", "s": levels}), "q", "s") == 0.0
    codes = pandas.Categorical([3, 3, 1, 1, 2, 1], categories=[3, 1, 2], ordered=True)
    frame = pandas.DataFrame({"q": list("aabbcc"), "s": codes})
    assert round(sievert.t_closeness_ordered(frame, "q", "s"), 4) == 0.4167
    nested = pyarrow.table({"q": [[1], [2]], "r": ["a", "b"]})
    assert sievert.classes(nested, "r") == 2
    with pytest.raises(UsageError, match="nested"):
        sievert.classes(nested, "q")
    cut = pandas.cut(pandas.Series([1.0, 2.0, 30.0, None]), [0, 10, 40])
    periods = pandas.Series(pandas.period_range("2020-01", periods=4, freq="M"))
    odd = pandas.DataFrame({"q": cut, "p": periods, "i": pandas.arrays.IntervalArray(cut)})
    assert sievert.classes(odd, "q") == 3 and sievert.classes(odd, "p") == 4
    assert sievert.classes(odd, "i") == 3
    assert sievert.t_closeness_ordered(odd.dropna(), "p", "q") > 0
    with pytest.raises(InputError, match="mixed"):
        sievert.classes(pandas.DataFrame({"q": [1, "1"]}, dtype=object), "q")
    with pytest.raises(UsageError, match="not text"):
        sievert.classes(pandas.DataFrame({1: ["a"]}), "1")
    with pytest.raises(UsageError, match="only once"):
        sievert.classes(nested.to_reader(), "r")
    with pytest.raises(UsageError, match="not understood"):
        sievert.classes(object(), "r")


def test_plain_columns() -> None:
    day = datetime.date(2020, 1, 1)
    assert sievert.classes({"q": [day, day, None]}, "q") == 2
    assert sievert.classes({"q": [True, False, True]}, "q") == 2
    assert sievert.classes({"q": [2**70, 2**70 + 1]}, "q") == 2
    with pytest.raises(InputError, match="type int, str"):
        sievert.classes({"q": [1, "1"]}, "q")
    with pytest.raises(InputError, match="length"):
        sievert.classes({"q": ["a"], "r": ["a", "b"]}, "q")
    with pytest.raises(InputError, match="type float, int"):
        sievert.classes({"q": [2**53, 2**53 + 1, 0.5]}, "q")
    with pytest.raises(InputError, match="not a list"):
        sievert.classes({"q": 5}, "q")
    with pytest.raises(InputError, match="no columns"):
        sievert.classes({}, "q")


def test_names_of_all_sorts(tmp_path: Path) -> None:
    names = [
        'a"; drop table input; --',
        "é.😀",
        "x\ny",
        "c1",
        "n",
        "s",
        "nq",
        "a,b",
        "x" * 300,
        "'",
    ]
    header = ",".join('"' + n.replace('"', '""') + '"' for n in names)
    path = write(tmp_path, f"{header}\n" + ",".join("1" * len(names)) + "\n")
    found = sievert.assess(path, names[:5], names[5:], records=tmp_path / "r.csv")
    assert found.rows == 1 and set(found.inference) == set(names[5:])


def test_a_relation_of_duckdb() -> None:
    rows = "(values ('a', 'x'), ('a', 'y'), ('b', 'x')) as t(town, ill)"
    with duckdb.connect() as connection:
        relation = connection.sql(f"select * from {rows}")
        found = sievert.assess(relation, "town", "ill")
        del relation
    assert found.reidentification["k_anonymity"].value == 1
