"""Languages: every text of a page is one of the texts, and every language has all of them.

In the pseudo-locale each letter of a text is another one (full width), and so are the marks in
numbers. What is left in plain letters on a page comes from somewhere else: from the data, which are
Greek here, or it is an id.
"""

from __future__ import annotations

import ast
import json
import pickle
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from html import unescape
from html.parser import HTMLParser
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

import sievert
from sievert import formatting
from sievert.charts import Dot, risk_utility_chart
from sievert.charts.risk_utility_map import limit_chart
from sievert.commands.protect.frontier_chart import SHAPES, FrontierDot, frontier_chart
from sievert.errors import UsageError
from sievert.formatting import percent
from sievert.formatting.recognition import BRACES as BRACE
from sievert.formatting.recognition import recognise, recognise_all
from sievert.formatting.remarks import (
    Caution,
    Figure,
    Joined,
    Remark,
    Share,
    Spoken,
    Things,
    say_value,
)
from sievert.losses import KINDS
from sievert.measures import MEASURES
from sievert.report import builder, html, markdown, terminal
from sievert.report.page import Picture, walk
from sievert.report.texts import _flat, english, read_texts

PSEUDO = "xx"
WIDE = {
    ord(letter): chr(ord(letter) + 0xFEE0)
    for letter in map(chr, range(0x21, 0x7F))
    if letter.isalpha()
}
BRACES = re.compile(r"(\{\w*\})")
MARKS = {"numbers.decimal": "٫", "numbers.thousands": "٬"}


def pseudo(text: str) -> str:
    """A text in other letters, its braces kept."""
    wide = (p if p.startswith("{") else p.translate(WIDE) for p in BRACES.split(text))
    return re.sub(r"(?<=\d)\.(?=\d)", MARKS["numbers.decimal"], "".join(wide))


@pytest.fixture(scope="module", autouse=True)
def pseudo_locale(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("pseudo")
    path = folder / "report" / "texts" / f"{PSEUDO}.toml"
    path.parent.mkdir(parents=True)
    texts = {key: MARKS.get(key, pseudo(text)) for key, text in english().items()}
    lines = (f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in texts.items())
    path.write_text("\n".join(lines), encoding="utf-8")
    formatting.LANGUAGES[PSEUDO] = folder
    yield
    del formatting.LANGUAGES[PSEUDO]


# -- results of every command, of data without a Latin letter -------------------------------------

N = 60
HIDDEN = ("ηλικία", "πόλη", "φύλο")


def column(*values: str, times: int = 1) -> list[str]:
    return list(islice(cycle([v for v in values for _ in range(times)]), N))


TABLE = {
    "ηλικία": [str(20 + i * i % 37) for i in range(N)],
    "πόλη": column("Α", "Β", "Γ", "Δ", "Α"),
    "φύλο": column("θ", "α", times=3),
    "νόσος": column("γρίπη", "άσθμα", "γρίπη", "έλκος", times=2),
    "ποσό": [str(1000 + 37 * i % 911) for i in range(N)],
}
STRANGERS = {
    name: values[7 * i :] + values[: 7 * i] for i, (name, values) in enumerate(TABLE.items())
}
COARSE = {**TABLE, "ηλικία": [f"{age[0]}*" for age in TABLE["ηλικία"]]}
COARSER = {**COARSE, "πόλη": ["*"] * N}
POLICY: dict[str, Any] = {
    "roles": {
        "quasi": list(HIDDEN),
        "sensitive": ["νόσος"],
        "ignored": {"ποσό": "όχι"},
        "rows_are_people": True,
    },
    "limits": {
        "reidentification": {
            "k_anonymity": {"min": 3},
            "unique_records": {"max": 0.05},
            "suppressed_records": {"max": 30},
        },
        "inference": {
            "νόσος": {
                "l_diversity": {"min": 9},
                "guess_gain": {"max": 0.25},
                "t_closeness": {"max": 0.5},
            }
        },
    },
}
BIG = {
    "α": [str(i % 2500) for i in range(4000)],
    "β": [str(i % 3) for i in range(4000)],
    "νόσος": [str(i * i % 7) for i in range(4000)],
}
SKETCH_POLICY = {"limits": {"reidentification": {"k_anonymity": {"min": 3}}}}
SMALL = {name: TABLE[name] for name in ("πόλη", "φύλο", "νόσος")}
SMALL_POLICY = {
    "roles": {"quasi": ["πόλη", "φύλο"], "sensitive": ["νόσος"], "rows_are_people": True},
    "limits": {"reidentification": {"k_anonymity": {"min": 9}, "suppressed_records": {"max": 30}}},
}
ROLES: tuple[Any, ...] = (list(HIDDEN), "νόσος")


def missing_table() -> dict[str, list[str | None]]:
    table: dict[str, list[str | None]] = {**TABLE}
    for i, name in enumerate(TABLE):
        table[name] = [None if j % 17 == i else v for j, v in enumerate(TABLE[name])]
    return table


def saved(folder: Path, name: str, table: dict[str, list[str]]) -> Path:
    path = folder / f"{name}.csv"
    rows = [table, *zip(*table.values(), strict=True)]
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def ledger_check(folder: Path) -> Any:
    """A release beside an earlier one, in which some are suppressed."""
    key = {"αρ": [str(i) for i in range(N)]}
    first, ledger = {**key, **SMALL}, folder / "λίστα"
    sievert.add_to_ledger(ledger, first, ["πόλη"], "νόσος", person="αρ", name="πρώτη")
    policy = {**SMALL_POLICY, "roles": {**SMALL_POLICY["roles"], "identifier": ["αρ"]}}
    new = {**first, "πόλη": ["*", *SMALL["πόλη"][1:]], "φύλο": ["*", *SMALL["φύλο"][1:]]}
    return sievert.check_with_ledger(ledger, new, policy=policy, person="αρ", name="νέα")


DRAWN_PAGES = {"assess_policy", "protect", "shared"}  # pictures take long to draw
RESULTS: dict[str, Callable[[Path], Any]] = {
    "assess": lambda _: sievert.assess(TABLE, *ROLES),
    "assess_policy": lambda _: sievert.assess(TABLE, policy=POLICY, explain=True),
    "assess_missing": lambda _: sievert.assess(missing_table(), *ROLES, missing="wildcard"),
    "assess_numbers": lambda _: sievert.assess(
        TABLE,
        list(HIDDEN),
        ["νόσος", "ποσό"],
        types={"ποσό": "int"},
        attacks=True,
        show_values=True,
    ),
    "assess_key_sets": lambda _: sievert.assess(
        missing_table(), None, "νόσος", key_sets=[["ηλικία", "πόλη"], ["φύλο"]]
    ),
    "explain": lambda _: sievert.explain(
        TABLE, *ROLES, population_size=1000, hierarchies={"ηλικία": "interval:5,10"}
    ),
    "explain_missing": lambda _: sievert.explain(missing_table(), *ROLES, show_values=True),
    "attack": lambda _: sievert.attack(
        COARSE, TABLE, *ROLES, paired=True, hierarchies={"ηλικία": "prefix:1"}, sweeps=200
    ),
    "attack_register": lambda _: sievert.attack(
        COARSE, None, *ROLES, register=TABLE, hierarchies={"ηλικία": "prefix:1"}, reasoning=False
    ),
    "compare": lambda _: sievert.compare(
        TABLE,
        {"χονδρό": COARSE, "άλλο": COARSER},
        paired=True,
        policy=POLICY,
        hierarchies={"ηλικία": "prefix:1"},
        shuffles=19,
        limit=True,
    ),
    "compromise": lambda _: sievert.compromise(
        TABLE,
        list(HIDDEN),
        "ποσό",
        types={"ποσό": "int"},
        replicates=2,
        epsilon=[100],
        parameters=[0.1],
    ),
    "compromise_noise": lambda _: sievert.compromise(
        TABLE,
        ["ηλικία"],
        "ποσό",
        types={"ποσό": "int", "ηλικία": "int"},
        replicates=2,
        method="noise",
        parameters=[5],
    ),
    "limit": lambda _: sievert.randomise(TABLE, "πόλη", "νόσος", at=[0.1]),
    "limit_gaussian": lambda _: sievert.randomise(
        TABLE, "ηλικία", "ποσό", gaussian=True, types={"ποσό": "int", "ηλικία": "int"}
    ),
    "sketch": lambda _: sievert.sketch(
        BIG, key_sets=[["α"], ["α", "β"]], sensitive="νόσος", size=8192, policy=SKETCH_POLICY
    ),
    "protect": lambda _: sievert.protect(SMALL, policy=SMALL_POLICY, suppress=0.5),
    "protect_unmet": lambda _: sievert.protect(TABLE, policy=POLICY, suppress=0.5, drop=True),
    "protect_local": lambda _: sievert.protect(
        TABLE, policy=POLICY, how="microaggregate", group=3, types={"ηλικία": "int"}, drop=True
    ),
    "synthetic": lambda folder: sievert.synthetic(
        TABLE, saved(folder, "πλαστό", COARSE), None, *ROLES
    ),
    "synthetic_control": lambda folder: sievert.synthetic(
        TABLE, [saved(folder, "πλαστό", TABLE), saved(folder, "άλλο", COARSE)], STRANGERS, *ROLES
    ),
    "ledger": ledger_check,
    "shared": lambda _: sievert.assess(TABLE, policy=POLICY).share(),
}


class Words(HTMLParser):
    """All that a reader of a page sees or hears."""

    def __init__(self) -> None:
        super().__init__()
        self.words = ""
        self.code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.code = tag in ("code", "style") or (self.code and tag == "wbr")
        self.words += "" if tag == "span" else "\n"
        named = ("aria-label", "data-head", "title", "alt")
        self.words += "".join(f"{value}\n" for name, value in attrs if name in named and value)

    def handle_endtag(self, tag: str) -> None:
        self.code = False

    def handle_data(self, data: str) -> None:
        self.words += "" if self.code else data


DRAWN = {
    "title",
    "text",
    "subtitle",
    "description",
    "said",
    "row",
    "series",
    "name",
    "kind",
    "shown",
}
DRAWN |= {"what", "line", "domain"}


def words_of(spec: Any, key: str = "") -> Iterator[str]:
    """The words of a chart."""
    if isinstance(spec, dict):
        for name, part in spec.items():
            yield from words_of(part, name)
    elif isinstance(spec, list):
        for part in spec:
            yield from words_of(part, key)
    elif isinstance(spec, str) and key in DRAWN and spec not in ("curve", "release"):
        yield spec


IDS = {record.id for record in (*MEASURES, *KINDS)}
NOT_TEXTS = sorted(
    {
        *(
            value
            for record in (*MEASURES, *KINDS)
            for value in (record.formula, record.source, record.bounds)
        ),
        *IDS,
        "Sievert",
        sievert.__version__,
    },
    key=len,
    reverse=True,
)
# What a user types: a hierarchy, the place of a limit; and the names of methods.
TYPED = re.compile(
    r"(interval|quantile|prefix|date|order|top|ends|cuts):[\w,]+|limits\.\w+"
    r"|\b(pitman|zayatz|snb|mdav|SHA-256|csv)\b|(?<=\d)e-?\d+"
)
PLAIN = re.compile(r"[A-Za-z][A-Za-z'-]*|\d[.,]\d+")


def unmarked(shown: str) -> list[str]:
    """What is neither in the letters of the pseudo-locale, nor data, nor an id."""
    for text in NOT_TEXTS:
        shown = shown.replace(text, " ")
    shown = TYPED.sub(" ", shown)
    return sorted({m[0] for m in PLAIN.finditer(shown)})


@pytest.mark.parametrize("name", RESULTS)
def test_every_text_of_a_page_is_one_of_the_texts(name: str, tmp_path: Path) -> None:
    result = RESULTS[name](tmp_path)
    page = builder.build([result], builder.ReportSettings(language=PSEUDO))
    screen = terminal.render(builder.screen(result, PSEUDO), width=200, everything=True)
    pictures = [b for b in walk((*page.front, *page.chapters)) if isinstance(b, Picture)]
    written = re.sub(r'<a id="[^"]*"></a>|\(#[\w-]+\)|<!--.*?-->', "", markdown.render(page))
    shown = {
        "markdown": unescape(written.replace("\\", "")),
        "terminal": terminal.as_text(screen),
        "pictures": "\n".join(w for p in pictures for w in words_of(p.spec)),
    }
    if name in DRAWN_PAGES:
        reader = Words()
        reader.feed(html.render(page))
        shown["page"] = reader.words
    left = {where: unmarked(text) for where, text in shown.items()}
    assert not any(left.values()), {
        word: next(line.strip()[:200] for line in shown[where].splitlines() if word in line)
        for where, words in left.items()
        for word in words
    }


def test_every_text_of_a_policy_check_is_one_of_the_texts(tmp_path: Path) -> None:
    path = tmp_path / "όρια.toml"
    path.write_text(
        """
        [roles]
        quasi = ["πόλη", "πόλι"]
        sensitive = ["νόσος"]
        [limits.reidentification]
        k_anonymity = { max = 5 }
        [limits.inference."νόσος"]
        t_closeness_ordered = { max = 0.5 }
        l_diversity = { min = 500 }
        """,
        encoding="utf-8",
    )
    data = saved(tmp_path, "πίνακας", TABLE)
    shown = sievert.check_policy(path, data).describe(PSEUDO)
    typed = r'"[^"]*"|\[\w+\]|roles\.\w+|limits\.\w+\.?\w*|(min|max|quasi) = |csv|toml'
    assert unmarked(re.sub(typed, " ", shown)) == []


def test_the_words_of_charts_are_texts() -> None:
    """Of charts whose numbers take long to compute."""
    with read_texts(None, PSEUDO).spoken():
        dots = [FrontierDot(across=0.25, up=1.5, kind=kind, meets=True) for kind in SHAPES]
        frontier = frontier_chart("ά", ["έ"], dots, across="ή", up="ί", least=[(0.1, 1.0)])
        limits = limit_chart(
            "ά",
            ["έ"],
            [(0.5, 0.25, 0.125)],
            [Dot(name="ό", across=0.5, up=0.5, interval=(0.25, 0.5))],
        )
        dominated = [Dot(name="ό", across=0.5, up=0.5, interval=(0.25, 0.5), hollow=True)]
        releases = risk_utility_chart("ά", ["έ"], dominated, across="ή", up="ί")
    for spec in (frontier, limits, releases):
        assert unmarked("\n".join(words_of(spec))) == []


# -- remarks ---------------------------------------------------------------------------------------

SOURCE = Path(sievert.__file__).parent
MADE = {"Remark": "remarks", "Caution": "remarks", "RoleReason": "suggested"}


def remarks_in_code() -> Iterator[tuple[str, str, set[str] | None]]:
    """Every remark that the code makes: its place, its key and its values; None of `**values`."""
    for path in sorted(SOURCE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if not any(f"{name}(" in source for name in MADE):
            continue
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Call(func=ast.Name(id=name), args=[key]) if name in MADE:
                    given = {keyword.arg for keyword in node.keywords}
                    values = None if None in given else {str(value) for value in given}
                    keys = [key.body, key.orelse] if isinstance(key, ast.IfExp) else [key]
                    for each in keys:
                        if isinstance(each, ast.Constant):
                            place = f"{path.relative_to(SOURCE)}:{node.lineno}"
                            yield place, f"{MADE[name]}.{each.value}", values


def test_every_remark_in_the_code_has_its_text() -> None:
    """A new remark needs a line in [remarks] of en.toml, and in every other language."""
    texts, wrong = english(), {}
    for place, key, values in remarks_in_code():
        wanted = set(BRACE.findall(texts.get(key, "")))
        if key not in texts or values not in (None, wanted):
            wrong[place] = key, values, wanted
    assert not wrong


def test_a_remark_is_said_by_its_key() -> None:
    texts = {
        **english(),
        "remarks.without_quasi": "ohne Quasi: {records}",
        "things.records": "{number} Sätze",
        "remarks.without_person": "ohne Person",
    }
    quasi = Remark("without_quasi", records=Things(2000, "record"))
    assert quasi == "2,000 records without a quasi-identifier; missing is a value of its own"
    assert quasi.said(texts) == "ohne Quasi: 2,000 Sätze"
    of_table = Caution("of_table", name=repr("a"), what=quasi)
    assert of_table == f"'a': {quasi}"
    assert of_table.said(texts) == "'a': ohne Quasi: 2,000 Sätze"
    together = Joined([quasi, "order", Figure("1.5")], "; ")
    assert together.said(texts) == "ohne Quasi: 2,000 Sätze; order; 1.5"
    for spoken in (quasi, of_table, together, Share(0.5)):
        copied = pickle.loads(pickle.dumps(spoken))
        assert (type(copied), copied, vars(copied)) == (type(spoken), spoken, vars(spoken))
        assert json.loads(json.dumps([spoken])) == [str(spoken)]


def test_a_saved_remark_is_found_by_its_words() -> None:
    texts = {
        **english(),
        "remarks.without_quasi": "ohne Quasi: {records}",
        "things.records": "{number} Sätze",
    }

    def said(sentence: str) -> str:
        return say_value(recognise(sentence), texts)

    quasi = "2,000 records without a quasi-identifier; missing is a value of its own"
    assert said(quasi) == "ohne Quasi: 2,000 Sätze"
    assert said(f"'a': {quasi}") == "'a': ohne Quasi: 2,000 Sätze"
    assert said("something nobody has a text for") == "something nobody has a text for"
    far = "order is far from Gaussian: skewness 1, excess kurtosis 2 (0 and 0 for a Gaussian)."
    found = recognise(far)
    assert found == far
    assert isinstance(found, Remark) and found.values["column"] == "order"  # a name stays
    assert recognise(far).said({**texts, "remarks.order": "Ordnung"}) == far


def spoken_texts(content: Any, place: str = "") -> Iterator[tuple[str, Spoken]]:
    """Every remark in the JSON of a result, with its place there."""
    if isinstance(content, list | tuple):
        content = {str(number): entry for number, entry in enumerate(content)}
    if isinstance(content, dict):
        for key, entry in content.items():
            yield from spoken_texts(entry, f"{place}/{key}")
    elif isinstance(content, Spoken):
        yield place, content


@pytest.mark.parametrize("name", RESULTS)
def test_saved_remarks_are_said_as_those_of_results(name: str, tmp_path: Path) -> None:
    content = RESULTS[name](tmp_path).to_dict()
    saved = recognise_all(json.loads(json.dumps(content)))
    assert saved == content
    german = formatting.read_language("de")
    found = {place: remark.said(german) for place, remark in spoken_texts(saved)}
    for place, remark in spoken_texts(content):
        assert (place, found.get(place)) == (place, remark.said(german))


# -- every language has every text ----------------------------------------------------------------

ENGLISH_ONLY = "paper."  # recomputed papers are in the language of the papers
# Words that are the same in German, and texts of places and signs only.
SAME = {
    "frameworks.iso27559.name",
    "frameworks.sp800188.name",
    "remarks.nothing_to_learn", "units.1",
    "months.4", "months.8", "months.9", "months.11", "definitions.formula",
    "front.size_people", "short_names.itpr", "reasoned.sensitivity_relative", "compared.table_k",
    "assessed.key_sets_k", "assessed.remarks_all",
    "explained.rate", "explained.rate_of", "explained.head_itpr", "explained.term_itpr",
    "synthetic.fact_original", "synthetic.number_p", "synthetic.head_p", "synthetic.head_cap",
    "synthetic.head_gcap", "synthetic.head_tcap", "remarks.p_value", "remarks.p_tiny",
}  # fmt: skip


def places(text: str) -> list[str]:
    return sorted(set(BRACES.findall(text)))


def test_german_has_every_text() -> None:
    """To translate: add each of these keys to the de.toml beside its English text."""
    german = formatting.read_language("de")
    wanted = {k: t for k, t in english().items() if not k.startswith(ENGLISH_ONLY)}
    assert [f"{key} = {text!r}" for key, text in wanted.items() if key not in german] == []
    assert sorted(german.keys() - wanted.keys()) == [], "texts that English no longer has"
    others = [k for k, text in wanted.items() if places(text) != places(german[k])]
    assert others == [], "other places than in English"
    letters = {k for k, t in german.items() if re.search("[A-Za-z]|1", BRACES.sub("", t))}
    assert {k for k in letters if german[k] == wanted[k]} == SAME


def test_a_german_page_is_german(tmp_path: Path) -> None:
    result = sievert.assess(TABLE, policy=POLICY)
    path = tmp_path / "seite.html"
    sievert.write_report(result, html=path, language="de")
    page = path.read_text(encoding="utf-8")
    assert '<html lang="de">' in page
    assert "Nein: Die Datei enthält noch" in page
    text = terminal.as_text(terminal.render(builder.screen(result, "de")))
    assert "mindestens 3" in text and "0,5" in text and "0.5" not in text
    with pytest.raises(UsageError, match="no language is called 'fr'"):
        sievert.write_report(result, html=path, language="fr")


def test_numbers_cannot_be_misread() -> None:
    """A comma between thousands would be a decimal comma in German."""
    with read_texts(None, "de").spoken():
        assert formatting.count(12345) == "12\N{NARROW NO-BREAK SPACE}345"
        assert (percent(0.12345), percent(0.00001)) == ("12,3 %", "unter 0,01 %")
    assert formatting.count(12345) == "12,345"


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_text_stands_twice(language: str) -> None:
    """Of two texts with one key, readers would see the last one in both places."""
    every = [
        key
        for path in formatting.language_files(language)
        for key, _ in _flat(tomllib.loads(path.read_text(encoding="utf-8")))
    ]
    assert [key for key, times in Counter(every).items() if times > 1] == []
