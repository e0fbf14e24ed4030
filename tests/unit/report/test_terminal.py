"""The one tree of blocks on a terminal: width, colours, length, and the same sentences as pages."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sievert
from sievert.commands.assess.page import can_be_found
from sievert.report import builder, html, markdown, terminal
from sievert.report.page import (
    BulletList,
    Chapter,
    Facts,
    NumberGroup,
    NumberRow,
    Numbers,
    Option,
    OptionCards,
    OptionRow,
    Page,
    Paragraph,
    Points,
    PolicyAnswer,
    make_grid,
)
from sievert.report.texts import read_texts

PEOPLE = 120
INLINE = re.compile(r"</?(span|a|strong|b|code)\b[^>]*>")
TABLE = {
    "age": [str(20 + 7 * i % 40) for i in range(PEOPLE)],
    "zip": [f"1{i % 9}{i % 4}" for i in range(PEOPLE)],
    "illness": ["flu" if i % 3 else "gout" for i in range(PEOPLE)],
}
POLICY = {
    "roles": {"quasi": ["age", "zip"], "sensitive": ["illness"]},
    "limits": {"reidentification": {"k_anonymity": {"min": 2}}, "l_diversity": {"min": 2}},
}


def assessment(**options: Any) -> Any:
    return sievert.assess(TABLE, ["age", "zip"], ["illness"], **options)


def text(page: Page, **options: Any) -> str:
    return terminal.as_text(terminal.render(page, **options))


def page(*front: Any, chapters: tuple[Chapter, ...] = ()) -> Page:
    return Page(title="A title", language="en", front=front, chapters=chapters)


ROW = NumberRow(name="Smallest group", id="k_anonymity", value="1 person", state="breached",
    mark="breached", limit="at least 5",
                far="5 × short", position=2.3)  # fmt: skip
NUMBERS = Numbers(
    caption="Limits",
    head=("Measure", "PolicyAnswer", "Value", "Limit", "How far", "Id"),
    groups=(NumberGroup("Finding a person", (ROW, replace(ROW, state="met", far="inside"))),),
)


def test_the_answer_is_first() -> None:
    first, *rest = text(builder.screen(assessment(policy=POLICY))).splitlines()
    assert first.startswith("✗ No. The policy is not met. ")
    assert "A title" not in "\n".join([first, *rest])
    assert text(page(Paragraph("x"))).startswith("A title\n")


def test_a_long_story_fits_a_screen() -> None:
    """Many quasi-identifiers, missing values, columns without a role, a policy of seven limits."""
    columns = {
        f"column_{name}": [(name * (i * (i + j) % 7)) or None for i in range(PEOPLE)]
        for j, name in enumerate("abcdef")
    }
    table = {**TABLE, **columns, "marital_status": TABLE["zip"], "native_country": TABLE["age"]}
    limits = {
        **{m: {"max": 0} for m in ("unique_records", "suppressed_records")},
        **{"k_anonymity": {"min": 11}, "l_diversity": {"min": 2}},
        **{m: {"max": 0.1} for m in ("average_risk", "confidence_gain", "guess_gain")},
    }
    quasi = ["age", "zip", "marital_status", *(f"column_{name}" for name in "abcd")]
    result = sievert.assess(table, quasi, ["illness"], policy={"limits": limits})
    shown = text(builder.screen(result))
    assert len(shown.splitlines()) <= 37  # and three with the command that makes a release
    assert "high is risky: t-closeness 0" in shown and "3 columns have no role." in shown
    assert "column_e, column_f and native_country have no role" in shown


@pytest.mark.parametrize(
    ("share", "words"),
    {
        0.465: "1 in 2",
        0.652: "2 in 3",
        0.701: "7 in 10",
        0.78: "4 in 5",
        0.0067: "1 in 149",
    }.items(),
)
def test_how_many_can_be_found(share: float, words: str) -> None:
    part = builder.make_part(assessment(), 1, read_texts(None))
    assert can_be_found(part, share) == f"About {words} people can be found."


def test_remarks_that_are_left_out_are_counted() -> None:
    inner = Chapter(
        title="2 more", anchor="b", blocks=(BulletList(("c", "d")),), instead="2 more: --all"
    )
    chapter = Chapter(
        title="Remarks", anchor="a", blocks=(BulletList(("a", "b")), inner), screen=True
    )
    assert "Remarks (2 more: --all)" in text(page(chapters=(chapter,)))
    assert "Remarks\n" in text(page(chapters=(chapter,)), everything=True)


def test_one_secret_fits_a_screen() -> None:
    for options in ({}, {"policy": POLICY}):
        lines = text(builder.screen(assessment(**options))).splitlines()
        assert len(lines) <= 40 and max(map(len, lines)) <= 100


REAL = {  # quasi-identifiers and a secret; missing values, many columns, few rows
    "pums/acs12.csv": ("employment race age gender citizen lang married edu disability", "income"),
    "pums/PUMS.csv": ("age sex educ race married", "income"),
    "sdcmicro/testdata2.csv": (
        "urbrur roof walls water electcon relat sex age hhcivil relat2 water2 water3",
        "income",
    ),
    "sdcmicro/Tarragona.csv": ("FIXED.ASSETS CURRENT.ASSETS TREASURY", "SALES"),
    "nist/ma2019.csv.gz": ("PUMA AGEP SEX MSP HISP RAC1P NOC NPF", "PINCP_DECILE"),
    "adult/adult_uci_32561.csv": (
        "age workclass education marital-status race sex native-country",
        "salary-class",
    ),
}
POLICIES = Path(__file__).parents[3] / "examples" / "policies"


def heights(result: Any) -> dict[int, int]:
    """Lines by the width of the terminal, with the command that makes a release, which is long."""
    screen = builder.screen(result, release_command="sievert protect " + "x" * 140)
    return {width: len(text(screen, width=width).splitlines()) for width in (80, 100, 120)}


@pytest.mark.parametrize("name", REAL)
def test_one_secret_of_real_tables_fits_a_screen(name: str, reference: Path) -> None:
    quasi, secret = REAL[name][0].split(), REAL[name][1]
    for policy in (None, POLICIES / "public_use.toml", POLICIES / "scientific_use.toml"):
        result = sievert.assess(reference / "data" / name, quasi, [secret], policy=policy)
        assert max(heights(result).values()) <= 40
    sets = [quasi[:2], quasi[1:3]]
    result = sievert.assess(
        reference / "data" / name, key_sets=sets, sensitive=[secret], policy=policy
    )
    assert max(heights(result).values()) <= 40


def one_line(result: Any) -> str:
    return " ".join(text(builder.screen(result)).split())


def test_long_names_fit_a_screen() -> None:
    names = [f"a_column_with_a_very_long_name_that_somebody_gave_it_{i:02d}" for i in range(40)]
    table = {n: [str(j * (i + 1) % (5 + j)) for i in range(PEOPLE)] for j, n in enumerate(names)}
    policy = POLICIES / "public_use.toml"
    for quasi in (names[:3], names[:30]):
        result = sievert.assess(table, quasi, names[-1:], policy=policy)
        assert max(heights(result).values()) <= 40
        assert f"An outsider knows {names[0]} and {len(quasi) - 1} more" in one_line(result)


def test_what_is_left_out_of_a_screen() -> None:
    """Remarks are counted, limits that are met share a line; nothing that is breached goes."""
    result = assessment(policy=POLICY)
    screen = builder.screen(result)
    whole = text(screen)
    remark = Chapter(
        title="Remarks",
        anchor="r",
        blocks=(BulletList(("x",) * 30),),
        screen=True,
        instead="30: --all",
    )
    short = text(replace(screen, chapters=(*screen.chapters, remark)))
    assert "Remarks (30: --all). Every number: --all." in short and "- x" not in short
    assert [line in short for line in whole.splitlines() if "✗" in line] == [True] * 3
    met = tuple(replace(ROW, name=f"m{i}", state="met", mark="met") for i in range(40))
    group = replace(NUMBERS.groups[0], rows=(ROW, *met))
    answer = PolicyAnswer(state="breached", text="No.")
    limits = Chapter(
        title="Limits", anchor="l", blocks=(replace(NUMBERS, groups=(group,)),), screen=True
    )
    short = text(page(answer, chapters=(limits,)))
    assert "✗ Smallest group" in short and "    met: m0 1 person (at least 5), m1" in short
    assert "✓ m0" in text(page(answer, chapters=(limits,)), everything=True)


@pytest.mark.parametrize("width", [56, 60, 71, 72, 80, 99, 100])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    lines = text(builder.screen(assessment(policy=POLICY)), width=width).splitlines()
    assert max(map(len, lines)) <= width


def test_ids_and_distances_need_room() -> None:
    wide, narrow, narrowest = (text(page(NUMBERS), width=w) for w in (100, 80, 70))
    assert "k_anonymity" in wide and "5 × short" in wide
    assert "k_anonymity" not in narrow and "5 × short" in narrow
    assert "5 × short" not in narrowest and "at least 5" in narrowest


def test_chapters_are_for_the_screen_or_asked_for() -> None:
    inner = Chapter(title="Inside", anchor="b", blocks=(Paragraph("deep"),))
    chapters = (
        Chapter(title="Shown", anchor="a", blocks=(Paragraph("on the screen"), inner), screen=True),
        Chapter(
            title="Hidden",
            anchor="c",
            blocks=(Paragraph("on the page"), make_grid("", ("x",), [("y",)])),
        ),
    )
    short = text(page(chapters=chapters))
    assert "on the screen" in short and "deep" not in short and "on the page" not in short
    long = text(page(chapters=chapters), everything=True)
    assert "deep" in long and "on the page" in long


def test_options_side_by_side() -> None:
    rows = (
        OptionRow(name="people alone", before="12", after="0"),
        OptionRow(name="limits met", before="4", after="12 of 12"),
    )
    options = OptionCards("as it is", (Option("age in bands of 10", "met", "meets", rows),))
    shown = text(page(options)).splitlines()[2:]
    assert shown == [
        "                        people alone  limits met",
        "    as it is                      12           4",
        "  ✓ age in bands of 10             0    12 of 12",
    ]


def test_wide_tables_are_parted_or_told_row_by_row() -> None:
    columns = [f"column {i}" for i in range(20)]
    shown = text(page(make_grid("c", ["name", *columns], [["x", *map(str, range(20))]])))
    assert max(map(len, shown.splitlines())) <= 100 and shown.count("name") > 1
    long = make_grid("c", ["name", "words"], [["x", "word " * 30]])
    assert "x: word word" in text(page(long))
    long = make_grid("c", ["name", "words", "number"], [["x", "word " * 30, "3"]])
    assert "x: words: word word" in text(page(long)) and "; number: 3" in text(page(long))


def test_colours_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    shown = page(PolicyAnswer(state="breached", text="No.", why="Because."), NUMBERS)

    def written(out: io.StringIO, **environment: str) -> str:
        for name in ("NO_COLOR", "TERM", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm-256color", "COLUMNS": "100", **environment}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "stdout", out)
        return terminal.for_stdout(shown)

    plain = written(io.StringIO())
    assert "\x1b" not in plain and plain == text(shown) + "\n"
    assert written(Screen(), NO_COLOR="1") == written(Screen(), TERM="dumb") == plain
    coloured = written(Screen())
    assert "\x1b[" in coloured
    without = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in without.splitlines()] == plain.splitlines()


# -- the same sentences everywhere ----------------------------------------------------------------


def on_screen(blocks: Iterable[Any]) -> Iterator[Any]:
    """The blocks that a terminal shows."""
    for block in blocks:
        if isinstance(block, Chapter):
            yield from on_screen(block.blocks if block.screen else ())
        else:
            yield block


def sentences(page: Page) -> list[str]:
    """What every renderer must say of what a terminal shows."""
    found: list[str] = []
    for block in on_screen((*page.front, *page.chapters)):
        if isinstance(block, PolicyAnswer):
            found += [block.text, block.why]
        elif isinstance(block, Facts | Points):
            found += [text for item in block.items for text in item]
        elif isinstance(block, Paragraph) and block.kind != "reading":
            found.append(block.text)
        elif isinstance(block, Numbers):
            rows = [row for group in block.groups for row in group.rows]
            found += [row.value for row in rows] + [row.limit for row in rows]
        elif isinstance(block, BulletList):
            found += block.items
    return [" ".join(text.split()) for text in found if text]


def plain(text: str) -> str:
    """Without tags, escapes and line breaks."""
    for mark, sign in (
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#39;", "'"),
        ("&#34;", '"'),
        ("&amp;", "&"),
    ):
        text = text.replace(mark, sign)
    text = text.replace("\u00a0", " ").replace("\u2011", "-").replace("\u202f", " ")
    return " ".join(text.split())


def results(tmp_path: Path) -> dict[str, Any]:
    coarse = {**TABLE, "age": [f"{int(a) // 20}" for a in TABLE["age"]]}
    numbers = {**TABLE, "pay": [i * 37 % 101 for i in range(PEOPLE)]}
    columns = (["age", "zip"], ["illness"])
    return {
        "assess": assessment(policy=POLICY),
        "open": assessment(),
        "share": assessment(policy=POLICY).share(),
        "explain": sievert.explain(TABLE, *columns),
        "attack": sievert.attack(TABLE, quasi=columns[0], sensitive=columns[1]),
        "compare": sievert.compare(TABLE, coarse, quasi=columns[0], sensitive=columns[1],
                                   paired=True, policy=POLICY),
        "compromise": sievert.compromise(numbers, columns[0], "pay", replicates=3),
        "limit": sievert.randomise(TABLE, *columns, at=0.1),
    }  # fmt: skip


def test_every_renderer_says_the_same(tmp_path: Path) -> None:
    for name, result in results(tmp_path).items():
        page = builder.screen(result)
        tags = re.compile(r"<[^>]*>")
        shown = {
            "terminal": plain(text(page)),
            "markdown": plain(re.sub(r"\\(.)", r"\1", markdown.render(page))),
            "html": plain(tags.sub(" ", INLINE.sub("", html.render(page)))),
        }
        for sentence in sentences(page):
            for kind, whole in shown.items():
                assert sentence in whole, (name, kind, sentence)
        assert repr(result) == text(page)


def test_names_are_never_cut_to_equal_ones() -> None:
    names = [f"a_long_name_of_a_release_{i}_of_several" for i in range(3)]
    grid = make_grid("", ("Release", "x" * 30, "y" * 38), [(n, "1", "2") for n in names])
    page = Page(
        title="t",
        language="en",
        front=(),
        chapters=(Chapter(title="c", anchor="c", blocks=(grid,), screen=True),),
    )
    for width in (60, 100, 200):
        lines = terminal.as_text(terminal.render(page, width=width)).splitlines()
        first = [line.split()[0] for line in lines if line.startswith("  a_long")]
        assert len(set(first)) == 3
        if width == 200:
            assert first == names


def test_words_of_a_first_column_go_on_below() -> None:
    names = ["accuracy lost by learning from the table, mean over all secrets", "x" * 90]
    grid = make_grid("", ("Loss", "Value"), [(name, "0.123456789") for name in names], (1,))
    lines = text(page(grid), width=60).splitlines()
    flat = " ".join(" ".join(lines).split())
    assert "learning from the table, 0.123456789 mean over all secrets" in flat
    assert max(map(len, lines)) <= 60 and "xxx…xxx" in flat
