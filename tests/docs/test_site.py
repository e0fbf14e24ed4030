"""The site builds offline from the repository, page by page whole, and never over foreign files."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import pytest

from website import folder as folders
from website.__main__ import main
from website.folder import MARKER, SiteError
from website.markdown import read, slug
from website.site import Site, build, page

ROOT = Path(__file__).parents[2]
ACTIVE = {"iframe", "object", "embed", "form", "style", "base"}
OUTSIDE = ("https://", "mailto:")
SCRIPTS = ["search-index.js", "search.js"]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)


class Seen(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.titles: list[str] = []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.inside = tag
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids[value or ""] += 1

    def handle_data(self, data: str) -> None:
        assert self.inside != "script" or not data.strip(), "a script within a page"
        if self.inside == "title" and data.strip():
            self.titles.append(data)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "site"
    build(ROOT, out)
    return out


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[PurePosixPath, Seen]:
    found = {PurePosixPath(p.relative_to(built).as_posix()): p for p in built.rglob("*.html")}
    return {name: Seen(p.read_text(encoding="utf-8")) for name, p in found.items()}


# -- the real site ------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_file_has_its_page(pages: dict[PurePosixPath, Seen]) -> None:
    assert set(pages) == {page(source) for source in Site(ROOT).sources}
    assert PurePosixPath("index.html") in pages


def test_every_page_has_title_and_navigation(pages: dict[PurePosixPath, Seen]) -> None:
    titles = Counter(seen.titles[0] for seen in pages.values())
    assert titles.most_common(1)[0][1] == 1, titles.most_common(2)
    for name, seen in pages.items():
        assert len(seen.titles) == 1, name
        assert seen.tags["h1"] == seen.tags["main"] == seen.tags["nav"] == 1, name
        current = [a for a in seen.attributes if a[1:] == ("aria-current", "page")]
        assert len(current) <= 1, name
        assert ("html", "lang", "en-GB") in seen.attributes, name


def test_only_the_search_runs_and_nothing_is_fetched(pages: dict[PurePosixPath, Seen]) -> None:
    for name, seen in pages.items():
        assert not ACTIVE & set(seen.tags), name
        up = "../" * len(name.parent.parts)
        scripts = [v for t, n, v in seen.attributes if (t, n) == ("script", "src")]
        assert scripts == [up + script for script in SCRIPTS], name
        assert seen.tags["script"] == len(SCRIPTS), name
        policy = next(v for t, n, v in seen.attributes if (t, n) == ("meta", "content"))
        assert policy == POLICY, name
        for tag, attribute, value in seen.attributes:
            assert not attribute.startswith("on") and attribute != "style", name
            if attribute == "src" or (tag == "link" and attribute == "href"):
                assert not re.match(r"[a-z]+:|//", value), f"{name}: {value}"


def test_links_and_anchors_of_the_pages_exist(
    built: Path, pages: dict[PurePosixPath, Seen]
) -> None:
    for name, seen in pages.items():
        assert max(seen.ids.values()) == 1, name
        for _, attribute, value in seen.attributes:
            if attribute not in ("href", "src") or value.startswith(OUTSIDE):
                continue
            path, _, anchor = value.partition("#")
            to = PurePosixPath(os.path.normpath(name.parent / unquote(path))) if path else name
            assert (built / to).is_file(), f"{name}: {value}"
            if anchor:
                assert anchor in pages[to].ids, f"{name}: {value}"


def test_the_search_writes_text_only_and_asks_nobody() -> None:
    script = (ROOT / "website" / "search.js").read_text(encoding="utf-8")
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval", "Function",
                 "fetch", "XMLHttp", "import", "http", "localStorage", "cookie"):  # fmt: skip
        assert word not in script, word


def test_the_index_leads_to_headings_that_exist(
    built: Path, pages: dict[PurePosixPath, Seen]
) -> None:
    text = (built / "search-index.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("const SEARCH_INDEX = ").removesuffix(";\n"))
    assert {PurePosixPath(place) for place, _, _ in index} == set(pages)
    for place, title, headings in index:
        assert headings[0][1] == title, place
        assert {heading[0] for heading in headings} <= set(pages[PurePosixPath(place)].ids), place


def test_style_has_no_address_and_a_print_form() -> None:
    style = (ROOT / "website" / "style.css").read_text()
    assert "url(" not in style and "@import" not in style
    assert "@media print" in style


# -- a small one --------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "docs" / "deep").mkdir(parents=True)
    (root / "LICENSE").write_text("do what you like\n")
    (root / "README.md").write_text("# Home\n\n[all](docs/README.md) [law](LICENSE)\n")
    (root / "docs" / "README.md").write_text(
        "# All\n\n[not in it](deep/a.md)\n\n## First\n\n- [Page A](deep/a.md): words\n"
    )
    (root / "docs" / "deep" / "a.md").write_text(
        "# A <b>\n\n<script>alert(1)</script>\n\n![p](../p.svg) [home](../../README.md#home)\n\n"
        "## Twice\n\n## Twice\n\n|a|b|\n|---|--:|\n|1|2|\n"
    )
    (root / "docs" / "p.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    return root


def test_small_site(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "deeper" / "out"
    assert build(small, out) == 3
    text = (out / "docs" / "deep" / "a.html").read_text()
    assert "<title>A &lt;b&gt; - Sievert</title>" in text
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert 'href="../../index.html#home"' in text and 'src="../p.svg"' in text
    assert 'id="twice"' in text and 'id="twice-1"' in text
    assert 'class="right"' in text and "style=" not in text
    assert '<a href="a.html" aria-current="page">Page A</a>' in text
    home = (out / "index.html").read_text()
    assert 'href="LICENSE.txt"' in home and 'href="docs/deep/a.html"' in home
    assert (out / "LICENSE.txt").read_text() == "do what you like\n"
    assert (out / "docs" / "p.svg").is_file()
    assert home.count("aria-current") == 0
    assert sorted(p.name for p in out.parent.iterdir()) == ["out"]


def test_same_bytes_again_and_nothing_stale(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build(small, out)
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    build(small, out)
    assert before == {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}
    (small / "docs" / "README.md").write_text("# All\n\n## First\n\nNothing.\n")
    (small / "docs" / "deep" / "a.md").unlink()
    build(small, out)
    assert not (out / "docs" / "deep").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "repository"]


@pytest.mark.parametrize(
    ("target", "what"),
    [("gone.md", "leads nowhere"), ("README.md#gone", "no such heading"), ("#gone", "heading"),
     ("../../outside.md", "leads nowhere"), ("deep", "leads nowhere"), ("", "heading")],
)  # fmt: skip
def test_a_link_to_nothing_is_a_mistake(
    small: Path, tmp_path: Path, target: str, what: str
) -> None:
    if not target:
        target = "deep/a.md#twice-2"
    out = tmp_path / "out"
    build(small, out)
    before = (out / "index.html").read_bytes()
    (small / "docs" / "b.md").write_text(f"# B\n\n[x]({target})\n")
    with pytest.raises(SiteError, match=what):
        build(small, out)
    assert (out / "index.html").read_bytes() == before
    assert not (out / "docs" / "b.html").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "repository"]


def test_foreign_folders_stay(small: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("years of work")
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to(foreign)
    file.write_text("x")
    for out in (foreign, link, file, small, small / "docs"):
        with pytest.raises(SiteError):
            build(small, out)
    assert (foreign / "thesis.txt").read_text() == "years of work"
    assert (small / "LICENSE").is_file()


def test_a_foreign_file_in_our_folder_stays(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build(small, out)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(SiteError, match=r"notes\.txt"):
        build(small, out)
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / MARKER).is_file()


def test_an_empty_folder_is_filled(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    build(small, out)
    assert (out / "index.html").is_file()


def test_a_failing_rename_is_taken_back(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    build(small, out)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if Path(target) == out and not self.name.endswith("-old"):
            raise OSError("no")
        return rename(self, target)

    monkeypatch.setattr(folders.Path, "rename", failing)
    with pytest.raises(OSError, match="no"):
        build(small, out)
    assert (out / "index.html").is_file()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "repository"]


@pytest.mark.slow
def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "out")]) == 0
    assert "pages: " in capsys.readouterr().out
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "x").write_text("x")
    assert main([str(tmp_path / "foreign")]) == 2
    assert capsys.readouterr().err.startswith("website: foreign: not empty")


def test_slugs_are_those_of_code_hosts() -> None:
    assert slug("Models 3, 4 and the funnel: no certificate") == (
        "models-3-4-and-the-funnel-no-certificate"
    )
    assert slug("Pitman (`pitman`)") == "pitman-pitman"
    assert read("# A\n\n## `b` and *c*\n").headings[1].text == "b and c"


def test_openings_are_first_sentences() -> None:
    document = read("# A\n\n    code\n\nOne, i.e. *this*.\nTwo.\n\n## B\n\n## C\n\n- `x` goes\n")
    assert [h.opening for h in document.headings] == ["One, i.e. this.", "", "x goes"]


# -- in a browser -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    if browser_path is None:
        pytest.skip("no browser is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, **options: Any) -> Iterator[Any]:
    """A tab that must neither complain nor ask for anything that is not a file."""
    said: list[str] = []
    tab = browser.new_page(**options)
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: said.extend(_elsewhere(request.url)))
    yield tab
    tab.close()
    assert said == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_a_screen_and_ask_for_nothing(built: Path, browser: Any, width: int) -> None:
    with opened(browser, viewport={"width": width, "height": 844}) as tab:
        for name in ("index", "docs/guides/officer", "docs/guides/which-release", "docs/limit"):
            tab.goto((built / f"{name}.html").as_uri())
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
            assert tab.evaluate("[...document.images].every(i => i.naturalWidth > 0)"), name
            assert tab.evaluate("getComputedStyle(document.body).paddingLeft") == "16px", name


@pytest.mark.slow
def test_search_leads_to_a_page_without_a_server(built: Path, browser: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with opened(browser, viewport={"width": 390, "height": 844}) as tab:
        tab.goto((built / "docs" / "limit.html").as_uri())
        box, results = tab.get_by_role("searchbox"), tab.locator(".results")
        assert not results.is_visible()
        box.fill("measure")
        status = tab.get_by_role("status")
        assert re.fullmatch("[0-9]+ results, the best 12 shown", status.inner_text())
        assert results.locator("a").count() == 12
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        violations = Axe().run(tab, options={"preload": False}).response["violations"]
        assert [violation["id"] for violation in violations] == []
        box.fill("<img src=x onerror=alert(1)> qqq")
        assert status.inner_text() == "Nothing found"
        box.press("Escape")
        assert box.input_value() == "" and not results.is_visible()
        box.fill("k-anonymity")
        box.press("ArrowDown")  # to the first result, by keyboard alone
        tab.keyboard.press("Enter")
        tab.wait_for_url("**/docs/measures/k_anonymity.html")
        assert "k-anonymity" in tab.locator("h1").inner_text()
        tab.get_by_role("searchbox").fill("limits and traps smallest group")
        tab.keyboard.press("Enter")  # a heading of the same page
        tab.wait_for_url("**/k_anonymity.html#limits-and-traps")
        tab.wait_for_function("document.querySelector('.results').hidden")
        for typed, shown in (
            ("downcoding", "Making a release: Attacks on local recoding"),  # in a list
            ("blake2b", "Several releases of the same people"),
        ):
            tab.get_by_role("searchbox").fill(typed)
            titles = tab.locator(".results a").all_inner_texts()
            assert any(shown in title for title in titles), (typed, titles)


@pytest.mark.slow
def test_without_scripts_there_is_no_search_box(built: Path, browser: Any) -> None:
    with opened(browser, java_script_enabled=False) as tab:
        tab.goto((built / "index.html").as_uri())
        assert tab.get_by_role("searchbox").count() == 0
        assert tab.get_by_role("heading", level=1).count() == 1


def _elsewhere(address: str) -> list[str]:
    return [] if address.startswith("file:") else [address]
