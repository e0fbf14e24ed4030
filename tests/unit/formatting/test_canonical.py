"""The canonical text of a value: the same for all its spellings, different for different values."""

from __future__ import annotations

import re
import sys
import unicodedata
from pathlib import Path
from random import Random

import pytest
from helpers import spellingtables
from hypothesis import given
from hypothesis import strategies as st

import sievert
from sievert.formatting.canonical import canonical_text, group_spellings

ROOT = Path(sievert.__file__).parents[2]
ALIKE = [
    ["flu", "Flu", "FLU", " flu", "flu\t", "f\u200blu", "flu\ufeff", "fl\u00adu", "flu\ufe0f"],
    ["flu", "ﬂu", "\u200eflu\u200f", "\u202aflu\u202c", "ｆｌｕ", "flu\u0000", "flu\U000e0100"],
    ["é", "e\u0301", "É", "E\u0301", "e\u200d\u0301"],
    ["strasse", "STRASSE", "Straße", "STRAẞE"],
    ["a b", "a  b", "a\u00a0b", "a\u2003b", "a\nb", " a\u3000b ", "a\u2800b"],
    ["a-b", "a\u2010b", "a\u2013b", "a\u2014b", "a\u2212b", "a\ufe63b", "A\u2011B"],
    ["7", "7.0", "07", "007", "+7", "7.", "7,0", "7,00", "７", " 7 ", "7.000", "0007.0"],
    ["0", "-0", "00", "0.0", "+0", "-0.00", ".0"],
    ["-7", "\u22127", "-07", "-7.0", "\uff0d7"],
    ["7.5", "7.50", "07.5", "+7.5"],
    ["0.5", ".5", "00.50"],
    ["1" + "0" * 400, "0001" + "0" * 400, "1" + "0" * 400 + ".0"],
    [
        *("1999-12-31", "1999/12/31", "31.12.1999", "12/31/1999", "31-12-1999", "1999.12.31"),
        *("1999-12-31 00:00:00", "1999-12-31T00:00:00Z", "1999-12-31 00:00:00.000+00:00"),
    ],
    ["1999-02-01", "1999-2-1", "1999/02/01"],
    ["1999-05-05", "5.5.1999", "05/05/1999"],
    ["03/04/1999", "3/4/1999", "3/04/1999", "03/04/1999 00:00", "３/４/１９９９"],
    ["03.04.1999", "3.4.1999"],
    ["03-04-1999", "3-4-1999", "3\u20134\u20131999"],
]
DIFFERENT = [
    *("flu", "flue", "a b", "ab", "a-b", "e", "é", "7", "70", "-7", "7.5", "75", "0", "o", "00:00"),
    *("1e3", "1000", "7,5", "7,000", "1 000", "1,000", "0x7", "1999-12-31", "1999-12-30"),
    *(
        "19991231",
        "03/04/1999",
        "04/03/1999",
        "03.04.1999",
        "1999-12-31 12:00:00",
        "1999-12",
        "1999-13-41",
    ),
    *("9007199254740993", "9007199254740992", "1" + "0" * 400, "1" + "0" * 399 + "1", "", "-"),
    *(".", "+", "a", "strasse", "trasse", "--", "ab c", "\u2014a\u2014"),
]


@pytest.mark.parametrize("texts", ALIKE, ids=lambda texts: ascii(texts[0])[:20])
def test_spellings_of_one_value(texts: list[str]) -> None:
    assert {canonical_text(text) for text in texts} == {texts[0]}
    assert group_spellings(texts) == [sorted(texts)]


def test_different_values_stay_different() -> None:
    assert len({canonical_text(text) for text in DIFFERENT}) == len(DIFFERENT)
    assert group_spellings(DIFFERENT) == []


@given(st.text())
def test_the_canonical_text_is_its_own(text: str) -> None:
    assert canonical_text(canonical_text(text)) == canonical_text(text)


def test_every_character_alone_and_few_together() -> None:
    characters = [chr(i) for i in range(sys.maxunicode + 1) if not 0xD800 <= i < 0xE000]
    odd = [c for c in characters if canonical_text(c) != c or unicodedata.combining(c)]
    assert all(canonical_text(canonical_text(c)) == canonical_text(c) for c in odd)
    random = Random(7)
    for _ in range(20_000):
        text = "".join(random.choices(odd, k=random.randint(2, 5)))
        once = canonical_text(text)
        assert canonical_text(once) == once, ascii(text)


@given(st.text(), st.sampled_from("\u200b\u00ad\ufeff\u200e\u2060"), st.integers(0, 20))
def test_an_invisible_character_changes_nothing(text: str, invisible: str, at: int) -> None:
    assert canonical_text(text[:at] + invisible + text[at:]) == canonical_text(text)


@given(st.integers(), st.integers(0, 5), st.integers(0, 5))
def test_whole_numbers_by_value(number: int, before: int, after: int) -> None:
    sign = "-" if number < 0 else ""
    spelt = f"{sign}{'0' * before}{abs(number)}" + (f".{'0' * after}" if after else "")
    assert canonical_text(spelt) == str(number)


@given(st.integers(), st.integers())
def test_different_numbers_stay_different(one: int, other: int) -> None:
    assert (canonical_text(f"0{one}") == canonical_text(f"0{other}")) is (f"0{one}" == f"0{other}")


@given(st.dates())
def test_dates_by_their_day(day: object) -> None:
    text = str(day)
    year, month, of_month = text.split("-")
    german = canonical_text(f"{of_month}.{month}.{year}")
    assert german == (
        text if int(of_month) > 12 or of_month == month else f"{of_month}.{month}.{year}"
    )
    assert canonical_text(f"{text} 00:00:00") == canonical_text(f"{text}T00:00") == text


@given(st.text(alphabet=[chr(i) for i in range(32, 127)]) | st.dates().map(str))
def test_the_expression_in_the_documentation(text: str) -> None:
    """What it matches is its own canonical text."""
    page = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8")
    (pattern,) = re.findall(r"^    (\^\(0.+\$)$", page, re.MULTILINE)
    if re.fullmatch(pattern, text):
        assert canonical_text(text) == text


def test_values_are_compared_in_python_or_in_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    spellingtables.check_values({"v": [*spellingtables.VALUES]}, monkeypatch)
