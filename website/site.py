"""The pages of the site: which files become pages, where links lead, what is copied."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from website.folder import SiteError, replace
from website.markdown import Document, Link, read

HERE = Path(__file__).parent
INDEX = PurePosixPath("docs/README.md")
AS_THEY_ARE = {".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ipynb"}
OUTSIDE = ("https://", "http://", "mailto:")


@dataclass(frozen=True)
class Entry:
    """A line of the navigation; on its own page with the headings below it."""

    words: str
    href: str
    here: bool


@dataclass
class Site:
    """The files of a repository that become pages, and what they lead to."""

    root: Path
    mistakes: list[str] = field(default_factory=list)
    copies: dict[PurePosixPath, PurePosixPath] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = (*self.root.glob("*.md"), *(self.root / "docs").rglob("*.md"))
        self.sources = sorted(PurePosixPath(p.relative_to(self.root).as_posix()) for p in found)

    @cached_property
    def plain(self) -> dict[PurePosixPath, Document]:
        """What every file says, with its links as they stand."""
        return {source: read(self.text(source)) for source in self.sources}

    def text(self, source: PurePosixPath) -> str:
        """What a file says."""
        return (self.root / source).read_text(encoding="utf-8")

    def document(self, source: PurePosixPath) -> Document:
        """A file read with its links led to the pages and copies of the site."""
        return read(self.text(source), lambda target: self.lead(source, target))

    def lead(self, source: PurePosixPath, target: str) -> str:
        """Where a link leads from the page of `source`; a link to nothing is a mistake."""
        if target.startswith(OUTSIDE):
            return target
        path, _, anchor = target.partition("#")
        to = inside(source, unquote(path)) if path else source
        if to is None or not (self.root / to).is_file():
            return self._mistake(source, target, "leads nowhere")
        if to not in self.plain:
            place = self.copies.setdefault(to, copied(to))
            return relative(source, place)
        if anchor and anchor not in {h.anchor for h in self.plain[to].headings}:
            return self._mistake(source, target, "no such heading")
        end = f"#{anchor}" if anchor else ""
        return end if not path else relative(source, page(to)) + end

    def _mistake(self, source: PurePosixPath, target: str, what: str) -> str:
        self.mistakes.append(f"{source}: {target}: {what}")
        return "#"

    def sections(self) -> dict[str, list[Link]]:
        """The navigation: the links of the index below each of its headings."""
        found: dict[str, list[Link]] = {}
        for link in self.plain[INDEX].links if INDEX in self.plain else ():
            if link.section:
                found.setdefault(link.section, []).append(link)
        return found

    def search_index(self) -> list[tuple[str, str, list[tuple[str, str, str, str]]]]:
        """Of every page its place, its title, and its headings, each with what it says."""
        return [
            (page(source).as_posix(), document.title, _openings(document))
            for source, document in self.plain.items()
        ]

    def navigation(self, source: PurePosixPath) -> dict[str, list[Entry]]:
        """The navigation as it stands on one page."""
        own = page(source)
        found: dict[str, list[Entry]] = {}
        for section, links in self.sections().items():
            for link in links:
                to = inside(INDEX, link.target.partition("#")[0])
                if to in self.plain:
                    place = page(to)
                    entry = Entry(link.words, relative(source, place), place == own)
                    found.setdefault(section, []).append(entry)
        return found


def _openings(document: Document) -> list[tuple[str, str, str, str]]:
    return [(h.anchor, h.text, h.opening, " ".join(h.words)) for h in document.headings]


def page(source: PurePosixPath) -> PurePosixPath:
    """The place of a page: a README is the index of its folder."""
    return (
        source.with_name("index.html") if source.stem == "README" else source.with_suffix(".html")
    )


def copied(path: PurePosixPath) -> PurePosixPath:
    """The place of a copy: pictures and notebooks as they are, others as text to be shown."""
    return path if path.suffix.lower() in AS_THEY_ARE else path.with_name(path.name + ".txt")


def inside(source: PurePosixPath, target: str) -> PurePosixPath | None:
    """The file that a relative link of `source` names, unless it lies outside the repository."""
    path = os.path.normpath(source.parent / target)
    return None if path.startswith(("..", "/")) else PurePosixPath(path)


def relative(source: PurePosixPath, place: PurePosixPath) -> str:
    """The way from the page of a file to a place of the site."""
    return PurePosixPath(os.path.relpath(place, page(source).parent)).as_posix()


def build(root: Path, out: Path) -> int:
    """Build the site of a repository into a folder; returns the number of pages."""
    site = Site(Path(root).resolve())
    replace(out, lambda folder: _fill(site, folder))
    return len(site.sources)


def _fill(site: Site, folder: Path) -> None:
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined
    )
    template = environment.get_template("page.html")
    for source in site.sources:
        document = site.document(source)
        text = template.render(
            title=document.title,
            body=Markup(document.html),  # noqa: S704 - made by the parser, which lets no HTML through
            headings=[h for h in document.headings if h.level == 2],
            navigation=site.navigation(source),
            root=relative(source, PurePosixPath("index.html")).removesuffix("index.html"),
        )
        _write(folder / page(source), text)
    if site.mistakes:
        raise SiteError("links that lead nowhere\n  " + "\n  ".join(site.mistakes))
    for name in ("style.css", "search.js"):
        shutil.copyfile(HERE / name, folder / name)
    index = json.dumps(site.search_index(), separators=(",", ":"))
    _write(folder / "search-index.js", f"const SEARCH_INDEX = {index};\n")
    for path, place in site.copies.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(site.root / path, folder / place)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
