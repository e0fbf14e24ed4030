"""Pages: their files, their texts; what may go wrong with each."""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from helpers.commandline import run
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import sievert
from sievert.errors import InputError, UsageError
from sievert.report import builder, html, markdown, texts
from sievert.report.page import BulletList, Chapter, Grid, Link, Page, Paragraph
from sievert.report.parts import CHAPTERS

CSV = "age,zip,disease\n" + "".join(
    f"{20 + i % 9},{i % 4},{'flu' if i % 3 else 'hiv'}\n" for i in range(200)
)
ROLES = ["-q", "age,zip", "-s", "disease"]
ENGLISH = texts.read_texts(None)


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
    assert "k-anonymity (k)" in out
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
        (["--title", "x"], "go with --html or --markdown"),
        (["--mask-names"], "go with --share"),
        (["--html", "a.html", "--min-cell", "5"], "go with --share"),
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
    assert "(part 1)" in told and "(part 2)" in told and "ward.csv" in told
    assert run("report", *kept, "--markdown", tmp_path / "r.md", "--title", "Both") == 0
    assert (tmp_path / "r.md").read_text() == told.replace(
        "# How exposed are the people in ward.csv?", "# Both"
    )
    assert run("report", *kept, "--html", kept[0]) == 7  # an input
    sievert.write_report([*kept], markdown=tmp_path / "p.md", title="Both")
    assert (tmp_path / "p.md").read_bytes() == (tmp_path / "r.md").read_bytes()
    shared = tmp_path / "s.html"
    assert run("report", *kept, "--share", "--html", shared) == 0
    assert "ward.csv" not in shared.read_text() and "(part" not in shared.read_text()


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


def test_masked_names(table: Path, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    assert run("assess", table, *ROLES, "--html", page, "--share", "--mask-names") == 0
    text = page.read_text()
    assert "quasi-identifier 1" in text and "secret 1" in text
    assert not re.search(r"\b(zip|disease)\b", text)


# -- texts ----------------------------------------------------------------------------------------


def test_a_translation_is_one_file(table: Path, tmp_path: Path) -> None:
    words, page = tmp_path / "de.toml", tmp_path / "a.md"
    words.write_text(
        '[words]\nlanguage = "de"\n[front]\ntitle_named = "Wie offen?"\nopen = "Sie entscheiden."\n'
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
        ('[words]\nand = "{furst}"', "no place is called 'furst'. Try: first"),
        ('[words]\nand = "{first.__class__}"', "no place is called"),
        ('[words]\nand = "{first!r}"', "no place is called"),
        ('[words]\nand = "{first"', "a brace is left open"),
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
    assert again("shared.at_least", least=10) == "at least 10"
    assert again._by_key == texts.english()


# In two steps, by a number, by the words of a remark or of a stage, or by the name of a file.
PUT_TOGETHER = (
    *("attacked.black_title", "attacked.white_title", "months.", "things.", "remarks.", "errors."),
    *("workbench.stages.", "workbench.policy.example_", "workbench.policy.about_"),
)


def spoken() -> tuple[set[str], list[re.Pattern[str]]]:
    """Every string of the package, and the shapes of keys that are put together."""
    strings, shapes = {""}, set()
    folder = Path(texts.__file__).parents[1]
    for path in folder.glob("**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings |= {node.value, node.value.strip("_"), node.value.replace(" ", "_")}
            elif isinstance(node, ast.keyword):
                strings.add(str(node.arg))
            elif isinstance(node, ast.JoinedStr):
                pieces = [v.value if isinstance(v, ast.Constant) else None for v in node.values]
                if any(isinstance(piece, str) and len(piece) > 1 for piece in pieces):
                    shapes.add("".join(r"(\w*)" if p is None else re.escape(p) for p in pieces))
    for path in folder.glob("**/*.j2"):
        for key in re.findall(r"\bt\(([^,()]*)", path.read_text(encoding="utf-8")):
            pieces = [piece.strip() for piece in key.split("~")]
            shape = (re.escape(p.strip('"')) if p.startswith('"') else r"(\w*)" for p in pieces)
            shapes.add("".join(shape))
    return strings, [re.compile(shape) for shape in sorted(shapes)]


def test_every_text_is_used() -> None:
    """A text that nothing asks for is not worth translating."""
    strings, shapes = spoken()

    def is_known(value: str) -> bool:
        cuts = (i for i, letter in enumerate(value) if letter == "_")
        return value in strings or any({value[:i], value[i + 1 :]} <= strings for i in cuts)

    def is_used(key: str) -> bool:
        section, _, name = key.partition(".")
        own = [name] if section in {*CHAPTERS.values(), "reasoned", "paper"} else []
        cuts = (i for i, letter in enumerate(key) if letter in "._")
        return (
            bool({key, *own} & strings)
            or key.startswith(PUT_TOGETHER)
            or any({key[:i], key[i + 1 :]} <= strings for i in cuts)
            or any(
                all(map(is_known, match.groups()))
                for shape in shapes
                for text in (key, *own)
                if (match := shape.fullmatch(text))
            )
        )

    records = ("measures", "losses", "definitions", "units", "risky", "worse")
    lacking = [k for k in texts.english() if k.partition(".")[0] not in records and not is_used(k)]
    assert lacking == []


# -- renderers ------------------------------------------------------------------------------------


def page_of(text: str) -> Page:
    grid = Grid(caption=text, head=(text, text), rows=((text, Link(text, "def-x")),), folded=True)
    blocks = (Paragraph(text), Paragraph(text, "lead"), BulletList((text,), (text,)), grid)
    return Page(
        title=text,
        language="en",
        front=blocks,
        chapters=(Chapter(title=text, anchor="x", blocks=blocks),),
        foot=(text,),
    )


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


NO_BREAK = re.compile("\N{NO-BREAK SPACE}")


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=("C",)), min_size=1, max_size=40))
@example("5 %")
@example("<b onclick=alert(1)>x</b>")
@example('"><svg/onload=alert(1)>')
@example("&lt;i&gt; ' {{ 7 * 7 }}")
def test_any_text_stays_text_in_html(text: str) -> None:
    plain, bare = Plain(), Plain()
    plain.feed(html.render(page_of(text)))
    bare.feed(html.render(page_of("x")))
    assert plain.tags == bare.tags and plain.names == bare.names
    glued = NO_BREAK.sub(" ", "".join(plain.told))  # as before a unit
    assert NO_BREAK.sub(" ", text.strip()) in glued or not text.strip()


@settings(max_examples=100, deadline=None)
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
        page = builder.build([result], builder.ReportSettings())
        first = next(page.pictures())
        if result is not found:  # which shows people, and its numbers
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


def test_one_record_is_singular() -> None:
    """On the tables of an assessment, and of a table with one person."""
    found = sievert.assess({"age": ["30"], "ill": ["flu"]}, "age", "ill")
    text = markdown.render(builder.build([found]))
    assert "| 1 | record | risky when low |" in text and "| 1 | value | risky when low |" in text
    assert "The table has 1 person: whoever knows age" in text
    assert "| 1 | records |" not in text and "1 of 1 people" not in text
