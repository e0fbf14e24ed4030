"""Every link of every page leads somewhere: a file, a heading, or a well-formed address."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest

from website.markdown import read
from website.site import INDEX, Site, inside

ROOT = Path(__file__).parents[2]
SITE = Site(ROOT)
OUTSIDE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
IDS = [str(source) for source in SITE.sources]


def links(source: PurePosixPath) -> list[str]:
    """The targets of a page's links and pictures, without those in code."""
    return [link.target for link in SITE.plain[source].links]


@pytest.mark.parametrize("source", SITE.sources, ids=IDS)
def test_links_within_the_repository(source: PurePosixPath) -> None:
    for target in links(source):
        if OUTSIDE.match(target):
            continue
        path, _, anchor = target.partition("#")
        to = inside(source, unquote(path)) if path else source
        assert to is not None, f"{target} leads out of the repository"
        assert (ROOT / to).is_file(), f"{target} leads nowhere"
        if anchor:
            anchors = {h.anchor for h in SITE.plain[to].headings}
            assert anchor in anchors, f"{target}: no such heading"


@pytest.mark.parametrize("source", SITE.sources, ids=IDS)
def test_addresses_outside_are_well_formed(source: PurePosixPath) -> None:
    """None of them is fetched: tests need no network."""
    for target in filter(OUTSIDE.match, links(source)):
        parts = urlsplit(target)
        assert parts.scheme == "https", target
        assert re.fullmatch(r"[a-z0-9.-]+\.[a-z]{2,}", parts.netloc), target
        assert not re.search(r"[\s<>\"]", target), target


def test_every_page_is_reached_from_the_index() -> None:
    seen: set[PurePosixPath] = set()
    left = [INDEX]
    while left:
        source = left.pop()
        if source in seen or source not in SITE.plain:
            continue
        seen.add(source)
        targets = [t.partition("#")[0] for t in links(source) if not OUTSIDE.match(t)]
        left += [to for t in targets if t and (to := inside(source, unquote(t))) is not None]
    assert [str(s) for s in SITE.sources if s not in seen] == []


def test_pages_named_by_policies_exist() -> None:
    for policy in (ROOT / "examples").rglob("*.toml"):
        for name in re.findall(r"\b(?:docs|examples)/[\w/.-]+\w", policy.read_text()):
            assert (ROOT / name).is_file(), f"{policy.name}: {name}"


def test_links_in_code_are_not_links() -> None:
    found = read("# A\n\n`[x](y.md)` and [z](#a)\n\n    [p](q.md)\n\n```\n[r](s.md)\n```\n")
    assert [link.target for link in found.links] == ["#a"]
    assert found.headings[0].anchor == "a"
