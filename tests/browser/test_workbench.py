"""The workbench in a real browser: the whole job by keyboard, with scripts and without them.

With SIEVERT_TOUR=FOLDER the pictures of docs/workbench_tour.md are put there (make tour).
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from browser.benches import STEPS, RunningBench, Visitor, start_bench
from browser.tabs import LOOKS, Tab, watched
from helpers.payloads import NAMES, PAYLOADS, as_file

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "examples" / "hospital_policy.toml"
AXE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OF_COLOURS = ["color-contrast", "link-in-text-block"]  # the rules that look at them
NARROW = 320  # pixels of a window of 1280 at 400 %
PEOPLE = 2000 if "SIEVERT_TOUR" in os.environ else 300  # the map of fewer takes a second, not ten
UNFOLD = (
    "document.querySelectorAll('form > details, .frontier details').forEach(x => x.open = true)"
)
# A picture names no folder of the machine that it was taken on.
AT_HOME = """folder => document.querySelectorAll(".message p").forEach(
    each => { each.textContent = each.textContent.replace(folder, "~/data") })"""


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small hospital with the demo's columns, its policy beside it."""
    place = tmp_path_factory.mktemp("hospital")
    script = [sys.executable, str(ROOT / "examples" / "hospital.py")]
    arguments = [str(place / "hospital.csv"), "--releases", str(place), "--rows", str(PEOPLE)]
    subprocess.run([*script, *arguments], check=True, capture_output=True)
    shutil.copy(POLICY, place / "house.toml")
    return place


@pytest.fixture(scope="module")
def bench(hospital: Path) -> Iterator[RunningBench]:
    running = start_bench(hospital, "hospital.csv")
    yield running
    assert running.stop() == 130
    assert list(running.temporary.iterdir()) == []


@pytest.fixture(scope="module")
def visitor(browser: Any, bench: RunningBench) -> Iterator[Visitor]:
    """Somebody who has chosen the policy, and what went on in the tab."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    one = Visitor(page, bench)
    one.enter()
    choose_policy(one)
    one.go("protect")
    one.click("button[value=write]")
    one.go("compare")
    one.page.fill("#path", "bands.csv")
    one.click("form:has(#path) button >> nth=0")
    one.go("synthetic")
    one.page.fill("#path", "noisy.csv")
    one.click("form:has(#path) button >> nth=0")
    yield one
    context.close()


def choose_policy(one: Visitor) -> None:
    one.go("policy")
    one.page.check("#source-own")
    one.page.fill("#file", "house.toml")
    one.click("#policy-form button >> nth=0")


@pytest.fixture(scope="module")
def tab(visitor: Visitor) -> Tab:
    return watched(visitor.page)


def strange(tab: Tab, bench: RunningBench) -> list[str]:
    """What was noted but requests to the server itself and what a page drops when it moves on."""
    origin = bench.address.partition("/start")[0]
    usual = (f"request {origin}/", "request data:,")
    dropped = [note for note in tab.noted if note.startswith(f"failed {origin}/")]
    dropped = [note for note in dropped if note.endswith("ERR_ABORTED")]
    return [note for note in tab.noted if not note.startswith(usual) and note not in dropped]


def violations(page: Any) -> list[tuple[str, str]]:
    """What keeps somebody from using the page as it is now, in light and in dark colours."""
    from axe_playwright_python.sync_playwright import Axe

    found = []
    for scheme, rules in (("dark", OF_COLOURS), ("light", AXE)):
        page.emulate_media(color_scheme=scheme)
        found += Axe().run(page, options={"runOnly": rules}).response["violations"]
    return [(each["id"], each["nodes"][0]["html"]) for each in found]


@pytest.mark.parametrize("step", STEPS)
def test_every_page(visitor: Visitor, tab: Tab, step: str, tmp_path: Path) -> None:
    """Only our own server is asked, nothing is blocked or fails, and everybody can use it."""
    page = visitor.page
    page.set_viewport_size({"width": 1280, "height": 800})
    tab.noted.clear()
    visitor.go(step)
    assert strange(tab, visitor.bench) == []
    assert page.locator("h1").count() == 1
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    page.evaluate(AT_HOME, str(visitor.bench.place))
    tour = Path(os.environ.get("SIEVERT_TOUR", tmp_path))
    page.screenshot(path=tour / f"workbench_{step}.jpg", type="jpeg", quality=80)
    page.evaluate(UNFOLD)
    assert violations(page) == []
    for width in (390, NARROW):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate(LOOKS)
        assert tab.asked("looks.scroll()") <= 0


@pytest.mark.parametrize("scripts", (True, False), ids=("scripts", "no scripts"))
def test_whole_job_by_keyboard(browser: Any, hospital: Path, tmp_path: Path, scripts: bool) -> None:
    """From the raw table to a release and a report: no mouse, no page of documentation."""
    for name in ("hospital.csv", "house.toml"):
        shutil.copy(hospital / name, tmp_path)
    whole_job(browser, tmp_path, "hospital.csv", PEOPLE, scripts)


def whole_job(browser: Any, place: Path, table: str, records: int, scripts: bool) -> None:
    """With the policy house.toml beside the table, which is not met by the table as it is."""
    running = start_bench(place, table)
    context = browser.new_context(java_script_enabled=scripts)
    one = Visitor(context.new_page(), running, scripts)
    try:
        one.enter()
        one.follow("policy")
        one.reach("input[name=source]:checked")
        one.press("ArrowUp")  # from none to a file
        one.reach("#file")
        one.page.keyboard.type("house.toml")
        one.reach("footer.command button.primary")
        one.enter_on("assess")
        assert "would not meet the policy" in one.page.inner_text("main")
        for step, file in (("protect", "release.csv"), ("report", "report.html")):
            one.follow(step)
            one.reach("#path")
            one.press("Control+a")
            one.page.keyboard.type(file)
            one.reach("button[value=write]")
            one.enter_on(step)
        with (place / "release.csv").open() as released:
            rows = list(csv.DictReader(released))
        manifest = json.loads((place / "release.csv.json").read_text())
        left_out = manifest["suppressed"] if manifest["drop"] else 0
        assert len(rows) == records - left_out and "patient_id" not in rows[0]
        assert "<h1" in (place / "report.html").read_text()
    finally:
        context.close()
        assert running.stop(signal.SIGTERM) in (130, 143)


def test_a_moved_switch_greys_the_verdict(visitor: Visitor) -> None:
    """What was calculated is not what the switches show any more; moved back, it is."""
    page = visitor.page
    page.set_viewport_size({"width": 1280, "height": 800})
    visitor.go("protect")
    assert str(visitor.bench.place) in page.inner_text(".message.met")  # the file to give out
    label = page.locator(".levels").first.locator("label:has(input:not(:checked))").first
    chosen = page.locator(".levels").first.locator("label:has(input:checked)").first.inner_text()
    shown = page.locator(".levels").first.locator(".labels")
    before = shown.inner_text()
    label.click()
    page.wait_for_selector(".result.outdated [data-changed]")
    assert "values" in before and "values" in shown.inner_text() != before  # of the level now
    assert violations(page) == []  # what was calculated can still be read
    page.locator(".levels").first.get_by_text(chosen, exact=True).first.click()
    page.wait_for_selector(".result.outdated", state="detached")
    page.wait_for_selector("[data-changed]", state="hidden")
    assert shown.inner_text() == before
    page.click("details.more summary")
    for weight, state in (("2", "attached"), ("1", "detached")):
        page.fill("input[name='weight:age']", weight)
        page.wait_for_selector(".result.outdated", state=state)
    page.select_option("#loss", "entropy")
    page.wait_for_selector("[data-changed]")


def test_undo_redo_back_and_two_tabs(visitor: Visitor) -> None:
    """What an older page sends is refused; undo takes back what was done, redo does it again."""
    page = visitor.page
    page.set_viewport_size({"width": 1280, "height": 800})
    visitor.go("policy")
    other = page.context.new_page()
    other.goto(page.url)
    page.check("#source-none")
    visitor.click("#policy-form button >> nth=0")
    assert page.is_checked("#source-none")
    other.click("#policy-form button >> nth=0")
    other.wait_for_selector("[role=alert]")  # the page is older than the session
    other.close()
    visitor.click("header.top form[action=undo] button")
    assert page.is_checked("#source-own")
    visitor.click("header.top form[action=redo] button")
    assert page.is_checked("#source-none")
    visitor.click("header.top form[action=undo] button")
    page.go_back()
    page.go_forward()
    page.reload()
    assert page.is_checked("#source-own")


def test_stopping(browser: Any, tmp_path: Path) -> None:
    """A command is stopped from the page that waits for it, and begins again only if told to."""
    import duckdb

    columns = ", ".join(f"(hash(i * {n} + 1) % 40)::INT AS c{n}" for n in range(2, 14))
    target = f"'{tmp_path / 'long.parquet'}' (FORMAT parquet)"
    duckdb.sql(f"COPY (SELECT {columns} FROM range(1_000_000) AS t(i)) TO {target}")
    names = json.dumps([f"c{n}" for n in range(2, 13)])
    (tmp_path / "house.toml").write_text(f'[roles]\nquasi = {names}\nsensitive = ["c13"]\n')
    running = start_bench(tmp_path, "long.parquet")
    context = browser.new_context()
    one = Visitor(context.new_page(), running)
    try:
        one.enter()
        choose_policy(one)
        one.page.click("nav.rail a[href=explain]")
        one.page.wait_for_url("**/explain")
        leave_while_work_ends(one)
        one.page.click("nav.rail a[href=explain]")
        one.page.wait_for_url("**/explain")
        one.page.click("form.cancel button")
        one.wait()
        again = "form[action=again] button"
        assert one.page.locator(again).count() == 1
        one.page.click(again)
        one.page.wait_for_selector("form.cancel button")
        assert one.page.locator(again).count() == 0
    finally:
        context.close()
        running.stop()


def leave_while_work_ends(one: Visitor) -> None:
    """Follow a link that is answered late: a page whose work is done meanwhile lets one go."""
    late: list[Any] = []
    one.page.route("**/roles", lambda it: late.append(it))
    one.page.click("nav.rail a[href=roles]", no_wait_after=True)
    one.page.route("**/job?*", lambda it: it.fulfill(headers={"hx-refresh": "true"}))
    with one.page.expect_response("**/job?*"):
        pass
    one.page.wait_for_timeout(100)
    late[0].continue_()
    one.page.wait_for_url("**/roles")
    one.page.unroute_all()


def test_payloads(browser: Any, tmp_path: Path) -> None:
    """Texts that would run as code, as names of columns and files and as values: only texts."""
    import pyarrow
    from pyarrow import parquet

    table = tmp_path / f"{as_file(PAYLOADS[6])}.parquet"
    turns = range(2 * len(PAYLOADS))
    columns = {
        name: [PAYLOADS[(turn + place) % len(PAYLOADS)] for turn in turns]
        for place, name in enumerate(NAMES)
    }
    parquet.write_table(pyarrow.table(columns), table)
    for payload in PAYLOADS:
        (tmp_path / f"{as_file(payload)}.csv").write_text("a\n1\n")
    running = start_bench(tmp_path, table.name, "--show-values")
    context = browser.new_context()
    one = Visitor(context.new_page(), running)
    tab = watched(one.page)
    try:
        one.enter()
        listed = one.page.locator("#table option").all_inner_texts()
        assert sum(name.endswith(".csv") for name in listed) == len(PAYLOADS)
        one.go("roles")
        one.page.select_option("select[name='role:1']", "quasi")
        one.page.select_option("select[name='role:2']", "sensitive")
        one.click("button[name=next]")
        for step in STEPS:
            one.go(step)
            assert one.page.evaluate("window.hit === undefined")
        assert strange(tab, running) == []
    finally:
        context.close()
        running.stop()


def test_canaries(browser: Any, tmp_path: Path) -> None:
    """Values of the data are on no page, in no header, log or leftover, also after kill -9."""
    from playwright.sync_api import Error

    cells = [f"canary{i:05d}q" for i in range(200)]
    with (tmp_path / "table.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["place", "illness"])
        writer.writerows([cells[i // 2], cells[100 + i % 7]] for i in range(200))
    running = start_bench(tmp_path, "table.csv")
    context = browser.new_context()
    one = Visitor(context.new_page(), running)
    heard: list[str] = []

    def listen(response: Any) -> None:
        heard.append(str(response.headers))
        if response.status == 200:
            with suppress(Error):  # its page may have gone; what stays is heard below
                heard.append(response.text())

    try:
        one.page.on("response", lambda r: "static" in r.url or listen(r))
        one.enter()
        one.go("roles")
        one.page.select_option("select[name='role:1']", "quasi")
        one.page.select_option("select[name='role:2']", "sensitive")
        one.click("button[name=next]")
        for step in STEPS:
            one.go(step)
            heard.append(one.page.content())
        assert len(heard) > 2 * len(STEPS)
        assert [text for text in heard if "canary" in text] == []
        assert "canary" not in running.said.read_text()
    finally:
        context.close()
        running.stop(signal.SIGKILL)
    after = start_bench(tmp_path, "table.csv")
    after.stop()
    assert [p for p in after.temporary.rglob("*") if p.is_file()] == []
