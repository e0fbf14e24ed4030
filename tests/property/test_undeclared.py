"""A number of which nobody has said what decides it is not passed on, whatever it is.

Numbers are added the way CONTRIBUTING tells, without a declaration. What is passed on has to be
the same to the letter, whatever they are: so it tells nothing of them. The chapters that are tried
are careless ones: they print every number that they are handed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

import sievert
import sievert.commands.assess.run  # its MEASURES are replaced too
from sievert import losses, measures
from sievert.attacks.attack import UNITS
from sievert.commands.assess.terminal import render
from sievert.commands.report.api import SavedResult
from sievert.commands.report.api import build_page as build
from sievert.losses.loss import Kind, Loss
from sievert.measures import BY_ID, MEASURES, Decides, Measure
from sievert.measures.measure import ALWAYS, MeasureResult, undefined
from sievert.report import html, markdown, texts
from sievert.report.builder import ReportSettings, make_part, module
from sievert.report.chapters import attack_identity as identity
from sievert.report.declarations import BY_COLUMN
from sievert.report.page import Paragraph
from sievert.report.redaction import CHAPTERS, Redactor, ReportPart

QUASI = ["age", "zip"]
ROWS = 600
NUMBERS: tuple[Any, ...] = (3, 4567, 0.575, 1e-6, 1.0)


def table() -> dict[str, list[Any]]:
    """A smallest class of three among classes of about thirty."""
    return {
        "age": ["20"] * 3 + [str(30 + i % 5) for i in range(ROWS - 3)],
        "zip": ["1"] * 3 + [str(i % 4) for i in range(ROWS - 3)],
        "ill": [("flu", "flu", "cold", "gout")[i * i % 7 % 4] for i in range(ROWS)],
        "pay": [str(1000 + 100 * (7 * i % 11)) for i in range(ROWS)],
    }


def measure(compute: Callable[[Any, Any], Any], **fields: Any) -> Measure:
    return Measure(
        "hostile", "Hostile", "1", 0, None, "high", "f", "-", "tells of one class", ALWAYS, compute,
        **fields,
    )  # fmt: skip


@pytest.fixture
def add(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Measure], None]]:
    """A measure as a contributor adds it, or in place of one that is there."""

    def added(new: Measure) -> None:
        every = tuple({**{m.id: m for m in measures.MEASURES}, new.id: new}.values())
        monkeypatch.setitem(BY_ID, new.id, new)
        for held in [m for name, m in sys.modules.items() if name.startswith("sievert")]:
            if isinstance(getattr(held, "MEASURES", None), tuple):
                monkeypatch.setattr(held, "MEASURES", every)
        texts.english.cache_clear()

    yield added
    monkeypatch.undo()
    texts.english.cache_clear()


def passed_on(found: Any) -> dict[str, str]:
    """Everything that is made of an assessment to be passed on."""
    fit = found.share()
    page = build([found])
    saved = build([json.loads(json.dumps(found.to_dict()))])
    shared = build([json.loads(json.dumps(fit.to_dict()))])
    return {
        "json": json.dumps(fit.to_dict()),
        "terminal": render(fit, everything=True),
        "notebook": fit._repr_html_(),
        "html": html.render(page),
        "markdown": markdown.render(page),
        "of a saved one": markdown.render(saved),
        "of a saved one that was shared": markdown.render(shared),
    }


def assess(**more: Any) -> Any:
    return sievert.assess(table(), QUASI, "ill", **more)


# -- measures -------------------------------------------------------------------------------------

HOSTILE: dict[str, Callable[[Any, Any], Any]] = {
    "root of 1/k": lambda target, _: float(target.sizes.least) ** -0.5,
    "largest class": lambda target, _: int(target.sizes.sizes.max()),
    "smallest class": lambda target, _: int(target.sizes.least),
    "one cell": lambda target, _: float(target.counts.profiles.counts.min()) / 7,
    "undefined": lambda target, _: undefined("a reason that tells of somebody", people=3),
    "details": lambda target, _: MeasureResult(
        0.5, details={"records": 3, "k": 3, "by_k": {"2": 3}}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("declared", [Decides.UNDECLARED, None, "everybody"])
def test_an_undeclared_measure_is_withheld(
    name: str, declared: Any, add: Callable[[Measure], None]
) -> None:
    kinds: Any = ("secret",) if name == "one cell" else ("record",)
    add(measure(HOSTILE[name], kinds=kinds, decided_by=declared))
    found = assess()
    chapters = [found.reidentification, found.inference["ill"]]
    exact = [c["hostile"] for c in chapters if "hostile" in c]
    assert len(exact) == 1 and (exact[0].value is not None) == (name != "undefined")
    fit = found.share()
    told = {**fit.reidentification, **fit.inference["ill"]}["hostile"]
    assert told.value is None and told.reason == "suppressed" and told.details == {}
    outputs = passed_on(found)
    (line,) = [t for t in outputs["terminal"].splitlines() if "hostile" in t]
    assert line.split()[1] == "withheld"
    for way in ("markdown", "of a saved one", "of a saved one that was shared"):
        (line,) = [t for t in outputs[way].splitlines() if "Hostile" in t]
        assert line.startswith("Withheld"), (way, line)


def test_the_output_does_not_depend_on_an_undeclared_measure(
    add: Callable[[Measure], None],
) -> None:
    outputs = []
    limits = {"reidentification": {"hostile": {"max": 1e9}}}
    for number in (*NUMBERS, None):
        answer = MeasureResult(number, None if number is not None else "none", {"people": number})
        add(measure(lambda *_, answer=answer: answer, decided_by=Decides.UNDECLARED))
        found = assess(policy={"limits": limits} if number is not None else None)
        outputs.append(passed_on(replace(found, policy=None)))
        if number is not None:
            assert "hostile" in json.dumps(found.share().to_dict()["policy"])
            assert "0.575" not in "".join(passed_on(found).values())
    for output in outputs:
        assert output == outputs[0]


def test_an_undeclared_detail_is_withheld(add: Callable[[Measure], None]) -> None:
    """Of measures that are passed on, by any name that another measure may have declared."""
    table_ = {c: [*v, *v] * 2 for c, v in table().items()}  # so that k is passed on
    outputs = []
    for name in ("k_anonymity", "discrimination_rate", "bayes_vulnerability_prior"):
        old = BY_ID[name]
        for number in (None, 3, 4567, True, "3 people"):

            def compute(
                target: Any, options: Any, old: Any = old, number: Any = number
            ) -> MeasureResult:
                found = old.compute(target, options)
                value = found.value if isinstance(found, MeasureResult) else found
                names = ("people", "records", "k", "l", "by_k", "without_missing", "named_value")
                reason = found.reason if isinstance(found, MeasureResult) else None
                details = {} if number is None else dict.fromkeys(names, number)
                return MeasureResult(value, reason, details)

            add(replace(old, compute=compute))
            found = sievert.assess(table_, QUASI, "ill")
            assert found.share().reidentification[name].value is not None
            outputs.append(passed_on(found))
        add(old)
    for output in outputs:
        assert output == outputs[0]


def test_a_measure_of_another_version_is_withheld() -> None:
    """Its id is not known here; the page is made all the same."""
    saved, pages = json.loads(json.dumps(assess().to_dict())), []
    shared = json.loads(json.dumps(assess().share().to_dict()))
    for number in NUMBERS:
        value = {"value": number, "unit": "1", "riskier": "high", "reason": None, "people": number}
        for given in (saved, shared):
            given["reidentification"]["of_tomorrow"] = value
            given["inference"]["ill"]["of_tomorrow"] = value
        pages.append((markdown.render(build([saved])), markdown.render(build([shared]))))
    assert all(page == pages[0] for page in pages)
    assert "tomorrow" in pages[0][0] and "tomorrow" in pages[0][1]


def test_a_shared_result_that_tells_too_much_is_withheld() -> None:
    """Of one cell there is never a number, not even where a saved result has one."""
    shared, pages = json.loads(json.dumps(assess().share().to_dict())), []
    for number in NUMBERS:
        shared["inference"]["ill"]["recursive_c"] |= {"value": number, "reason": None}
        pages.append(markdown.render(build([shared])))
    assert all(page == pages[0] for page in pages)


def test_every_number_declares_what_decides_it() -> None:
    assert all(isinstance(m.decided_by, Decides) for m in MEASURES)
    declared = [m.decided_by for m in MEASURES] + [k.decided_by for k in losses.KINDS]
    declared += [decides for *_, decides in UNITS.values()]
    assert Decides.UNDECLARED not in declared
    with pytest.raises(TypeError, match="decided_by"):
        measure(lambda *_: 1)


def test_of_the_table_and_in_remarks_nothing_undeclared_is_passed_on() -> None:
    found = assess()
    odd = replace(found, table={**found.table, "oldest": 103}, warnings=("3 people are old",))
    assert passed_on(odd) == passed_on(found)


# -- losses, attacks, everything else -------------------------------------------------------------


def results() -> dict[str, Any]:
    held = table()
    coarser = {**held, "age": [a[:1] for a in held["age"]]}
    register = {c: held[c][:300] for c in QUASI}
    found = {
        "assess": sievert.assess(held, QUASI, "ill", attacks=True),
        "explain": sievert.explain(held, QUASI, "ill", population_size=30 * ROWS),
        "ranking": sievert.explain({c: held[c] for c in (*QUASI, "ill")}),
        "attack": sievert.attack(coarser, held, QUASI, "ill", register=register),
        "compare": sievert.compare(held, [coarser], QUASI, "ill", shuffles=9),
        "compromise": sievert.compromise(
            held, QUASI, "pay", parameters=[1.0], epsilon=[100], replicates=1
        ),
        "limit": sievert.randomise(held, "zip", "ill", at=0.1, points=3),
    }
    return {name: json.loads(json.dumps(result.to_dict())) for name, result in found.items()}


@pytest.fixture(scope="module")
def saved() -> dict[str, Any]:
    return results()


MADE = ("assess", "explain", "ranking", "attack", "compare", "compromise", "limit")


def salted(tree: Any, number: Any, name: str = "") -> Any:
    """A result with one more number wherever there is one, alone and as a value.

    What has the names of columns is left: there it would be a column.
    """
    if isinstance(tree, Mapping):
        salt = {"hostile": number, "nearest": {"value": number, "unit": "1", "riskier": "high"}}
        named = {k: salted(v, number, k) for k, v in tree.items()}
        leaf = any(isinstance(v, int | float) and not isinstance(v, bool) for v in tree.values())
        return {**named, **salt} if leaf and name not in BY_COLUMN else named
    return [salted(v, number, name) for v in tree] if isinstance(tree, list) else tree


def leaves(tree: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(tree, Mapping):
        for key, held in tree.items():
            yield from leaves(held, f"{name}.{key}")
    elif isinstance(tree, list | tuple):
        for held in tree:
            yield from leaves(held, name)
    else:
        yield name, tree


def careless(part: ReportPart) -> tuple[Paragraph, ...]:
    """A chapter that prints whatever it is handed."""
    return tuple(Paragraph(f"{name}: {leaf}") for name, leaf in leaves(part.data))


@pytest.mark.parametrize("made", MADE)
def test_no_chapter_gets_to_see_an_undeclared_number(
    made: str, saved: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = []
    for number in NUMBERS:
        with monkeypatch.context() as patch:
            data = salted(saved[made], number)
            if made == "assess":  # its attacks have a chapter of their own
                data = {**saved[made], "attacks": salted(saved[made]["attacks"], number)}
                patch.setattr(identity, "chapters", careless)
            else:
                part = make_part(SavedResult(data), 1, texts.read_texts(None), ReportSettings())
                patch.setattr(module(part), "blocks", careless)
            pages.append(markdown.render(build([data])))
    assert "hostile" in pages[0] and "nearest" in pages[0]
    assert all(page == pages[0] for page in pages)


@pytest.mark.parametrize("made", MADE)
def test_what_is_admitted_is_all_that_the_page_needs(made: str, saved: dict[str, Any]) -> None:
    """An added number changes no page, and an operator's chapters still get all of them."""
    assert set(CHAPTERS) <= set(MADE)
    page = markdown.render(build([saved[made]]))
    data = salted(saved[made], 3)
    data |= {k: saved[made][k] for k in ("reidentification", "inference") if made == "assess"}
    assert markdown.render(build([data])) == page
    inside = make_part(
        SavedResult(saved[made]), 1, texts.read_texts(None), ReportSettings(internal=True)
    )
    assert inside.data == saved[made]


@pytest.mark.parametrize("declared", [Decides.UNDECLARED, Decides.RECORD, Decides.CLASSES, None])
def test_an_undeclared_loss_is_withheld(
    declared: Any, saved: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = Kind(
        "hostile", "Hostile", "1", 0.0, None, "high", "f", "-", "tells of one record",
        lambda _: Loss(0.575), decided_by=declared,
    )  # fmt: skip
    before = markdown.render(build([saved["compare"]]))
    monkeypatch.setitem(losses.BY_ID, "hostile", kind)
    for number in NUMBERS:
        data = json.loads(json.dumps(saved["compare"]))
        for release in data["releases"]:
            release["losses"]["hostile"] = {"value": number, "share": number, "columns": {}}
        assert markdown.render(build([data])) == before
    monkeypatch.setitem(losses.BY_ID, "pmse", replace(losses.BY_ID["pmse"], decided_by=declared))
    assert "def-pmse" in html.render(build([saved["compare"]], ReportSettings(internal=True)))
    assert "def-pmse" not in html.render(build([saved["compare"]]))


def test_an_attack_s_number_that_is_undeclared_is_withheld(
    saved: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its declaration a number of today's pages goes, too."""
    name = "correct_linkage"

    def lines() -> list[str]:
        return [t for t in markdown.render(build([saved["attack"]])).splitlines() if "%" in t]

    before = lines()
    for entry in (("1", "high", Decides.UNDECLARED), ("1", "high", Decides.CELL), ("1", "high")):
        monkeypatch.setitem(UNITS, name, entry)  # type: ignore[arg-type]
        assert len(lines()) < len(before)


def test_only_declared_settings_are_written_as_they_are() -> None:
    redactor = Redactor(texts.read_texts(None), ROWS)
    assert redactor.setting("epsilon", 100).number == 100
    for name in ("hostile", "k_anonymity", "records", ""):
        assert redactor.setting(name, 3) == redactor.withheld_text()
        assert replace(redactor, internal=True).setting(name, 3).number == 3
