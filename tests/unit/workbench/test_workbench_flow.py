"""The whole way over HTTP, as a browser without JavaScript goes it: from a table to its release.

Forms are filled in as they stand on the pages. What is written equals what the printed commands
write when somebody runs them.
"""

from __future__ import annotations

import http.client
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import chdir
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from helpers.commandline import command_line, run

ROOT = Path(__file__).parents[3]
ROWS = 200
PATIENCE = 120  # seconds for one command on a busy machine
RELEASE, PAGE = "release.csv", "decision.html"
Fields = dict[str, list[str]]


class Forms(HTMLParser):
    """The forms of a page: where each goes, the fields that would be sent, and its buttons."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.all: list[tuple[str, Fields, list[tuple[str, str, str]]]] = []
        self.select, self.inside = "", False
        self.named: dict[str, int] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.named[given.get("id", "")] = len(self.all)
            self.all.append((given["action"], {}, []))
            self.inside = True
        owner = self.named[given["form"]] if "form" in given else -1
        if not (self.inside or "form" in given) or "disabled" in given:
            return
        fields, name = self.all[owner][1], given.get("name", "")
        if tag == "input" and name:
            kind = given.get("type", "text")
            if kind not in ("radio", "checkbox") or "checked" in given:
                fields.setdefault(name, []).append(given.get("value", ""))
        elif tag == "select":
            self.select = name
        elif tag == "option" and ("selected" in given or self.select not in fields):
            fields[self.select] = [given.get("value", "")]
        elif tag == "button":
            label = given.get("aria-label", "")
            self.all[owner][2].append((name, given.get("value", ""), label))

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "form"


class Visitor:
    """Somebody with a browser without JavaScript."""

    def __init__(self, folder: Path) -> None:
        command = command_line("workbench", "hospital.csv", "--no-browser")
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        address = re.search(r"http://\S+", self.process.stdout.readline())
        assert address
        place = urlsplit(address[0])
        self.host, self.cookie = place.netloc, ""
        answer, _ = self.ask("GET", place.path)
        self.cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
        self.home = (answer.getheader("location") or "").rpartition("/")[0]

    def ask(
        self, method: str, path: str, body: str | None = None
    ) -> tuple[http.client.HTTPResponse, str]:
        headers = {"Cookie": self.cookie} if self.cookie else {}
        if body is not None:
            headers |= {
                "Content-Type": "application/x-www-form-urlencoded",
                "Origin": f"http://{self.host}",
                "Sec-Fetch-Site": "same-origin",
            }
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer, text

    def page(self, step: str, shows: str = "") -> str:
        """The page of a step, once its work is done, or once it shows something."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            answer, text = self.ask("GET", f"{self.home}/{step}")
            assert answer.status == 200, text
            if shows in text if shows else 'class="job"' not in text:
                return text
            time.sleep(0.1)
        raise AssertionError(f"{step}: still at work")

    def submit(self, text: str, button: tuple[str, str], **changes: str | list[str]) -> str:
        """Fill in the form that has this button, send it, and follow where the answer leads."""
        forms = [form for form in Forms(text).all if form[0] not in ("undo", "redo", "cancel")]
        wanted = [form for form in forms if button in [b[:2] for b in form[2]]]
        assert wanted, button
        action, fields, _ = wanted[0]
        sent = {**fields, button[0]: [button[1]]} | {
            name.replace("__", ":"): [value] if isinstance(value, str) else value
            for name, value in changes.items()
        }
        answer, body = self.ask("POST", f"{self.home}/{action}", urlencode(sent, doseq=True))
        assert answer.status == 303, (answer.status, re.findall(r'role="alert">.*?</p>', body))
        return str(answer.getheader("location"))

    def end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=60)
        assert self.process.returncode == 130 and "Traceback" not in said, said


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    folder = tmp_path / "here"
    folder.mkdir()
    make = [sys.executable, str(ROOT / "examples" / "hospital.py"), "hospital.csv"]
    subprocess.run([*make, "--rows", str(ROWS)], cwd=folder, check=True, capture_output=True)
    policy = (ROOT / "examples" / "hospital_policy.toml").read_text()
    (folder / "policy.toml").write_text(policy)
    return folder


@pytest.fixture
def visitor(folder: Path) -> Iterator[Visitor]:
    visitor = Visitor(folder)
    yield visitor
    visitor.end()


def test_from_a_table_to_a_release_and_a_page(visitor: Visitor, folder: Path) -> None:
    load = visitor.page("load")
    assert visitor.submit(load, ("", ""), types="length_of_stay=int") == "load"
    policy = visitor.page("policy")
    visitor.submit(policy, ("", ""), source="own", file="policy.toml")
    assert "would not meet the policy." in visitor.page("assess")
    explain = visitor.page("explain")
    labels = [b for form in Forms(explain).all for b in form[2] if b[0] == "merge"]
    ages = next(b for b in labels if b[2] == "Do it: Age in bands of 20")
    assert visitor.submit(explain, ages[:2]) == "protect"  # where its level is chosen now
    protect = visitor.page("protect", "--levels age=3")
    visitor.submit(protect, ("do", "search"))
    protect = visitor.page("protect", "Yes, this release meets the policy.")
    # The map of all recodings is counted meanwhile: what is asked for goes first.
    visitor.submit(protect, ("do", "write"), path=RELEASE)
    assert f"Written: {RELEASE}" in visitor.page("protect", "Written: ")
    visitor.ask("POST", f"{visitor.home}/cancel", "step=protect")
    visitor.submit(visitor.page("report"), ("do", "write"), path=PAGE)
    assert f"Written: {folder / PAGE}. It is" in visitor.page("report", "Written: ")
    (folder / "mine.csv").write_text("mine\n")
    for name in ("mine.csv", PAGE):
        with pytest.raises(AssertionError, match=f"422.*{name} is there already"):
            visitor.submit(visitor.page("report"), ("do", "write"), path=name)
    assert (folder / "mine.csv").read_text() == "mine\n"
    _, script = visitor.ask("GET", f"{visitor.home}/script.sh")
    again = run_by_hand(script, folder)
    for name in (RELEASE, PAGE):
        assert (again / name).read_bytes() == (folder / name).read_bytes(), name
        assert (folder / name).stat().st_mode & 0o077 == 0


def run_by_hand(script: str, folder: Path) -> Path:
    """The printed commands that write something, run in another folder."""
    again = folder.parent / "again"
    again.mkdir()
    for name in ("hospital.csv", "policy.toml"):
        (again / name).write_bytes((folder / name).read_bytes())
    for line in script.splitlines():
        words = shlex.split(line)
        if words[:1] == ["sievert"] and {"-o", "--json", "--html"} & {*words}:
            with chdir(again):
                assert run(*words[1:]) in (0, 1), line
    return again


def test_a_hierarchy_that_does_not_fit_is_said_and_can_be_mended(
    visitor: Visitor, folder: Path
) -> None:
    (folder / "sexes.csv").write_text("nobody;all\n")
    visitor.submit(visitor.page("policy"), ("", ""), source="own", file="policy.toml")
    protect = visitor.page("protect", 'name="hierarchy:sex"')
    visitor.submit(protect, ("do", "calculate"), hierarchy__sex="sexes.csv", weight__sex="2")
    refused = visitor.page("protect", 'class="message breached"')
    (line,) = re.findall(r'class="message breached".*?<p>(.*?)</p>', refused, re.DOTALL)
    assert "sex" in line and "nobody" not in line and "\n" not in line
    assert 'name="hierarchy:sex" value="sexes.csv"' in refused
    visitor.submit(refused, ("do", "calculate"), hierarchy__sex="*")
    mended = visitor.page("protect", "this release meets the policy.")
    shown = re.sub(r"<[^>]+>", "", mended)
    assert "--hierarchy &#39;sex=*&#39;" in shown and "--column-weight sex=2" in shown
