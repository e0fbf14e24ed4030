"""Pages: their files, their texts, their redactor; what may go wrong with each."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import sievert
from sievert.cli import app
from sievert.errors import InputError, UsageError
from sievert.report import builder, html, markdown, texts
from sievert.report.page import BulletList, Chapter, Grid, Link, Page, Paragraph
from sievert.report.redaction import Redactor

CSV = "age,zip,disease\n" + "".join(
    f"{20 + i % 9},{i % 4},{'flu' if i % 3 else 'hiv'}\n" for i in range(200)
)
ROLES = ["-q", "age,zip", "-s", "disease"]
ENGLISH = texts.read_texts(None)


def run(*arguments: object) -> int:
    return app._run([str(a) for a in arguments])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "ward.csv"
    path.write_text(CSV)
    return path


@pytest.fixture(scope="module")
def found() -> sievert.Assessment:
    rows = [line.split(",") for line in CSV.splitlines()]
    columns = {name: [r[i] for r in rows[1:]] for i, name in enumerate(rows[0])}
    return sievert.assess(columns, ["age", "zip"], ["disease"])


# -- files ----------------------------------------------------------------------------------------


def test_a_page_and_its_twin(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    page, twin = tmp_path / "a.html", tmp_path / "a.md"
    assert run("assess", table, *ROLES, "--html", page, "--markdown", twin) == 0
    out, err = capsys.readouterr()
    assert "Smallest class (k)" in out
    assert f"written: {page}" in err and f"written: {twin}" in err
    assert page.stat().st_mode & 0o077 == 0
    assert page.read_text().startswith("<!DOCTYPE html>\n<!-- written by sievert -->\n<html")
    before = page.read_bytes(), twin.read_bytes()
    assert run("assess", table, *ROLES, "--html", page, "--markdown", twin) == 0  # ours: replaced
    assert (page.read_bytes(), twin.read_bytes()) == before


def test_files_of_others_stay(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    page = tmp_path / "a.html"
    page.write_text("<html>mine</html>")
    assert run("assess", table, *ROLES, "--html", page) == 7
    assert page.read_text() == "<html>mine</html>"
    assert run("assess", table, *ROLES, "--html", page, "--force") == 0
    assert run("assess", table, *ROLES, "--html", table) == 7
    assert table.read_text() == CSV
    other = tmp_path / "a.pdf"
    other.write_text("mine")
    assert run("assess", table, *ROLES, "--html", other) == 7
    assert run("assess", table, *ROLES, "--html", other, "--force") == 2
    assert run("assess", table, *ROLES, "--html", tmp_path / "b.pdf") == 2
    assert other.read_text() == "mine"
    assert run("assess", table, *ROLES, "--html", tmp_path / "no" / "a.html") == 2
    assert run("assess", table, *ROLES, "--html", page, "--markdown", page) == 2
    assert run("assess", table, *ROLES, "--html", "-") == 2
    assert "standard output" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--internal"], "go with --html or --markdown"),
        (["--title", "x"], "go with --html or --markdown"),
        (["--mask-names"], "go with --share, --html or --markdown"),
        (["--html", "a.html", "--internal", "--mask-names"], "do not go with --internal"),
        (["--html", "a.html", "--min-cell", "2"], "at least 3"),
        (["--html", "a.html", "--title", " "], "1 to 200 letters"),
        (["--html", "a.html", "--texts", "no.toml"], "no.toml: No such file"),
    ],
)
def test_options_that_make_no_sense(
    options: list[str],
    says: str,
    table: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    monkeypatch.chdir(table.parent)
    assert run("assess", table, *ROLES, *options) == 2
    err = capsys.readouterr().err
    assert says in err and err.count("\n") == 1
    assert not (table.parent / "a.html").exists()


def test_several_saved_results(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    kept = [tmp_path / "a.json", tmp_path / "b.json"]
    assert run("assess", table, *ROLES, "--json", kept[0]) == 0
    assert run("explain", table, *ROLES, "--json", kept[1]) == 0
    capsys.readouterr()
    assert run("report", *kept) == 0
    told = capsys.readouterr().out
    assert "(part 1)" in told and "(part 2)" in told and "ward.csv" not in told
    assert run("report", *kept, "--markdown", tmp_path / "r.md", "--title", "Both") == 0
    assert (tmp_path / "r.md").read_text() == told.replace(
        "# How exposed are the people in this table?", "# Both"
    )
    assert run("report", *kept, "--html", kept[0]) == 7  # an input
    sievert.write_report([*kept], markdown=tmp_path / "p.md", title="Both")
    assert (tmp_path / "p.md").read_bytes() == (tmp_path / "r.md").read_bytes()
    internal = tmp_path / "i.html"
    assert run("report", *kept, "--internal", "--html", internal) == 0
    assert "ward.csv" in internal.read_text()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", 3),
        ("[1]", 3),
        ("{}", 3),
        ('{"sievert": "0.1.0", "seconds": {}}', 3),
        ('{"sievert": "0.1.0", "reidentification": {}}', 3),
        ('{"sievert": "0.1.0", "reidentification": {}, "table": {"rows": "x"}, "roles": {}}', 3),
        ('{"sievert": "0.1.0", "points": [{}], "table": {"rows": 9}, "roles": {}}', 3),
        ("[" * 100_000, 3),
    ],
)
def test_what_is_no_result(
    content: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    assert run("report", path, "--html", tmp_path / "a.html") == code
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "a.html").exists()


def test_reports_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert run("report") == 2
    assert run("report", tmp_path / "none.json") == 3
    with pytest.raises(UsageError, match="no result"):
        sievert.write_report([], html=tmp_path / "a.html")
    with pytest.raises(UsageError, match="no file"):
        sievert.write_report([{}])
    with pytest.raises(InputError, match="no such file"):
        sievert.write_report(tmp_path / "none.json", html=tmp_path / "a.html")


def test_an_edited_share_stays_shared(table: Path, tmp_path: Path) -> None:
    """A result that was made shareable cannot become exact again."""
    kept, page = tmp_path / "a.json", tmp_path / "a.md"
    assert run("assess", table, *ROLES, "--share", "--json", kept) == 0
    assert run("report", kept, "--internal", "--markdown", page) == 0
    assert "Shareable" in page.read_text()


def test_masked_names(table: Path, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    for command in (["assess", "--attacks"], ["explain"]):
        given = [command[0], table, *ROLES, *command[1:], "--html", page, "--mask-names"]
        assert run(*given) == 0
        text = page.read_text()
        assert "quasi-identifier 1" in text and "secret 1" in text
        assert not re.search(r"\b(zip|disease)\b", text)


# -- texts ----------------------------------------------------------------------------------------


def test_a_translation_is_one_file(table: Path, tmp_path: Path) -> None:
    words, page = tmp_path / "de.toml", tmp_path / "a.md"
    words.write_text(
        '[words]\nlanguage = "de"\n[front]\ntitle = "Wie offen?"\nopen = "Sie entscheiden."\n'
        '[measures.k_anonymity]\ntitle = "Kleinste Klasse"\n'
    )
    assert run("assess", table, *ROLES, "--markdown", page, "--texts", words) == 0
    text = page.read_text()
    assert text.splitlines()[2] == "# Wie offen?" and "Sie entscheiden." in text
    assert "Kleinste Klasse" in text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("nonsense", "not a TOML file"),
        ('[front]\ntitel = "x"', "no text is called 'front.titel'. Try: front.title"),
        ("[front]\ntitle = 3", "front.title is not a text"),
        ('[words]\nfew = "{leest}"', "no place is called 'leest'. Try: least"),
        ('[words]\nfew = "{least.__class__}"', "no place is called"),
        ('[words]\nfew = "{least!r}"', "no place is called"),
        ('[words]\nfew = "{least"', "a brace is left open"),
    ],
)
def test_mistakes_of_a_translation(
    content: str, says: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    words = tmp_path / "de.toml"
    words.write_text(content)
    page = tmp_path / "a.html"
    assert run("assess", table, *ROLES, "--html", page, "--texts", words) == 2
    assert says in capsys.readouterr().err
    assert not page.exists()


def test_the_template_is_a_translation(tmp_path: Path) -> None:
    path = tmp_path / "en.toml"
    path.write_text(texts.template(), encoding="utf-8")
    again = texts.read_texts(path)
    assert again("words.few", least=10) == "fewer than 10"
    assert again._by_key == texts.english()


def test_every_text_is_used() -> None:
    """A text that nothing asks for is not worth translating."""
    folder = Path(texts.__file__).parents[1]
    places = [*folder.glob("report/**/*.py"), *folder.glob("papers/*.py")]
    source = "\n".join(p.read_text(encoding="utf-8") for p in places)
    words = set(re.findall(r"\w+", source))
    lacking = []
    for key in texts.english():
        section, _, name = key.partition(".")
        if section in ("measures", "losses", "definitions", "units", "risky", "worse"):
            continue
        parts = name.split("_")
        starts = {"_".join(parts[:i]) for i in range(1, len(parts) + 1)}
        ends = {"_".join(parts[i:]) for i in range(len(parts))}
        if not (starts | ends) & words:
            lacking.append(key)
    assert not lacking


# -- redaction ----------------------------------------------------------------------------------


def test_a_pen_for_others_tells_no_small_count() -> None:
    redactor = Redactor(ENGLISH, rows=2000)
    assert [str(redactor.count(n)) for n in (0, 1, 9)] == ["fewer than 10"] * 3
    assert [str(redactor.count(n)) for n in (10, 19, 1305, 2000)] == [
        "about 10", "about 10", "about 1,300", "about 1,990",
    ]  # fmt: skip
    assert [str(redactor.share(n / 2000)) for n in (0, 9, 10, 1995, 2000)] == [
        "under 0.5 %", "under 0.5 %", "0.5 %", "over 99.5 %", "over 99.5 %",
    ]  # fmt: skip
    assert str(redactor.identity(0.94968)) == "95 %"
    assert redactor.count(7).number is None and redactor.count(17).number == 10
    assert str(Redactor(ENGLISH, rows=2000, internal=True).count(7)) == "7"
    assert all(str(p) == "withheld" for p in _few(Redactor(ENGLISH, rows=49)))


def _few(redactor: Redactor) -> list[Any]:
    return [
        redactor.count(30),
        redactor.share(0.5),
        redactor.rate(0.5),
        redactor.bits(1.0),
        redactor.mean(0.3),
    ]


@given(st.integers(50, 10**6), st.floats(0, 1), st.integers(3, 50))
def test_a_share_moves_by_whole_cells(rows: int, part: float, least: int) -> None:
    """Fewer records than a cell move a told share by at most one step."""
    redactor = Redactor(ENGLISH, rows=rows, least=least)
    one, other = redactor.share(part), redactor.share(min(1.0, part + (least - 1) / rows))
    if one.number is None or other.number is None:
        return
    step = redactor._step(None)
    assert step is not None and abs(one.number - other.number) <= step * (1 + 1e-6)


# -- renderers ------------------------------------------------------------------------------------


def page_of(text: str) -> Page:
    grid = Grid(text, (text, text), ((text, Link(text, "def-x")),), folded=True)
    blocks = (Paragraph(text), Paragraph(text, "lead"), BulletList((text,), (text,)), grid)
    return Page(text, "en", blocks, (Chapter(text, "x", blocks),), (text,))


class Plain(HTMLParser):
    """The text of a page, and what else is in it."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.told: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.told.append(data)


@settings(max_examples=60)
@given(st.text(st.characters(exclude_categories=("C",)), min_size=1, max_size=40))
@example("<b onclick=alert(1)>x</b>")
@example('"><svg/onload=alert(1)>')
@example("&lt;i&gt; ' {{ 7 * 7 }}")
def test_any_text_stays_text_in_html(text: str) -> None:
    plain, bare = Plain(), Plain()
    plain.feed(html.render(page_of(text)))
    bare.feed(html.render(page_of("x")))
    assert plain.tags == bare.tags and plain.names == bare.names
    assert text.strip() in "".join(plain.told) or not text.strip()


@settings(max_examples=100)
@given(st.text(st.characters(exclude_categories=("C",)), min_size=1, max_size=40))
def test_any_text_stays_text_in_markdown(text: str) -> None:
    words = " ".join(text.split())
    if not words:
        return
    reader = MarkdownIt("gfm-like", {"linkify": False}).enable("table")
    tokens = reader.parse(f"| a |\n|---|\n| {markdown.escape(text)} |\n")
    inside = [t for t in tokens if t.type == "inline"][1]
    kinds = {child.type for child in inside.children or ()}
    assert kinds <= {"text", "text_special"}
    assert "".join(child.content for child in inside.children or ()) == words


def test_the_policy_allows_the_style_and_nothing_else() -> None:
    page = html.render(page_of("x"))
    style = re.search(r"<style>(.*)</style>", page, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"content=\"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none';" in page


@pytest.mark.slow
def test_results_in_a_notebook(found: sievert.Assessment) -> None:
    columns = {"age": ["1", "2"] * 40, "n": ["1", "2", "3", "4"] * 20, "s": ["a", "b"] * 38}
    columns["s"] += ["a"] * 4
    results = [
        found,
        sievert.explain(columns, ["age", "n"], ["s"]),
        sievert.attack(columns, quasi=["age", "n"], sensitive="s"),
        sievert.compare(columns, [columns], ["age", "n"], ["s"], shuffles=9),
        sievert.randomise(columns, ["age"], ["s"], at=0.1, points=4),
        sievert.compromise({**columns, "v": list(range(80))}, ["age"], ["v"]),
    ]
    for result in results:
        shown = result._repr_html_()
        assert "<table" in shown and "<svg" in shown and "<script" not in shown
        page = builder.build([result], builder.ReportSettings(internal=True))
        first = next(page.pictures())
        assert " ".join(first.spec["title"]["text"]) in _unescaped(shown)


def _unescaped(text: str) -> str:
    import html as escapes

    return escapes.unescape(text)


def test_the_json_has_class_sizes(found: sievert.Assessment) -> None:
    spans = found.to_dict()["table"]["class_sizes"]
    assert sum(s["records"] for s in spans) == 200
    assert sum(s["classes"] for s in spans) == found.reidentification["classes"].value
    assert "class_sizes" not in found.share().to_dict()["table"]
    assert json.dumps(spans)


def test_the_share_of_uniques_tells_no_more_than_their_number() -> None:
    """1,308 of 2,000 are told as 1,300: 65.5 % beside it would halve the cell."""
    column = [str(i) for i in range(1308)] + ["pair"] * 692
    unique = sievert.assess({"q": column}, ["q"]).share().reidentification["unique_records"]
    assert (unique.details["records"], unique.value) == (1300, 0.65)
