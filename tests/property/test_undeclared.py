"""A number of which nobody has declared how far one person moves it is not shared, whatever it is.

Measures are added the way CONTRIBUTING tells, without a declaration. What is shared has to be the
same to the letter, whatever they are: so it tells nothing of them.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

import sievert
import sievert.commands.assess.run  # its MEASURES are replaced too
from sievert import measures
from sievert.commands.report.run import build_page
from sievert.measures import BY_ID, MEASURES, Measure
from sievert.measures.measure import ALWAYS, MeasureResult, undefined
from sievert.report import html, markdown, texts
from sievert.report.builder import ReportSettings
from sievert.sharing import INFERENCE, REIDENTIFICATION, shareable

QUASI = ["age", "zip"]
ROWS = 1040
NUMBERS: tuple[Any, ...] = (3, 4567, 0.575, 1e-6, 1.0)


def table() -> dict[str, list[Any]]:
    """A smallest class of three among classes of about fifty."""
    return {
        "age": ["20"] * 3 + [str(30 + i % 5) for i in range(ROWS - 3)],
        "zip": ["1"] * 3 + [str(i % 4) for i in range(ROWS - 3)],
        "ill": [("flu", "flu", "cold", "gout")[i * i % 7 % 4] for i in range(ROWS)],
    }


def measure(compute: Callable[[Any, Any], Any], **fields: Any) -> Measure:
    return Measure(
        id="hostile",
        title="Hostile",
        unit="1",
        low=0,
        high=None,
        riskier="high",
        formula="f",
        source="-",
        reading="tells of one class",
        laws=ALWAYS,
        compute=compute,
        influence=None,
        **fields,
    )


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
        texts._without_losses.cache_clear()

    yield added
    monkeypatch.undo()
    texts.english.cache_clear()
    texts._without_losses.cache_clear()


def shared(found: Any) -> dict[str, str]:
    """Everything that is shared of an assessment, also of one that was saved."""
    fit, settings = found.share(), ReportSettings(share=True)
    saved, saved_fit = (json.loads(json.dumps(r.to_dict())) for r in (found, fit))
    page = build_page([found], settings)
    return {
        "json": json.dumps(fit.to_dict()),
        "of a saved one": json.dumps(shareable(saved)),
        "terminal": repr(fit),
        "notebook": fit._repr_html_(),
        "html": html.render(page),
        "markdown": markdown.render(page),
        "page of a saved one": markdown.render(build_page([saved], settings)),
        "page of a shared one": markdown.render(build_page([saved_fit])),
    }


def assess(**more: Any) -> Any:
    return sievert.assess(table(), QUASI, "ill", **more)


HOSTILE: dict[str, Callable[[Any, Any], Any]] = {
    "root of 1/k": lambda target, _: float(target.sizes.least) ** -0.5,
    "largest class": lambda target, _: int(target.sizes.sizes.max()),
    "one cell": lambda target, _: float(target.counts.profiles.counts.min()) / 7,
    "undefined": lambda target, _: undefined("a reason that tells of somebody", people=3),
    "details": lambda target, _: MeasureResult(
        0.5, details={"records": 3, "k": 3, "by_k": {"2": 3}}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_an_undeclared_measure_is_not_shared(name: str, add: Callable[[Measure], None]) -> None:
    before = shared(assess())
    kinds: Any = ("secret",) if name == "one cell" else ("record",)
    add(measure(HOSTILE[name], kinds=kinds))
    found = assess()
    exact = [
        c["hostile"] for c in (found.reidentification, found.inference["ill"]) if "hostile" in c
    ]
    assert len(exact) == 1 and (exact[0].value is not None) == (name != "undefined")
    assert shared(found) == before


def test_a_limit_on_an_undeclared_measure_gives_a_verdict_and_no_number(
    add: Callable[[Measure], None],
) -> None:
    outputs = []
    for number in NUMBERS:
        add(measure(lambda *_, number=number: MeasureResult(number, None, {"people": number})))
        limits = {"reidentification": {"hostile": {"max": 1e9}}}
        outputs.append(shared(assess(policy={"limits": limits})))
        assert '"hostile"' in outputs[-1]["json"] and "Hostile" in outputs[-1]["terminal"]
    assert all(output == outputs[0] for output in outputs)


@pytest.mark.parametrize("name", ["unique_records", "bayes_vulnerability_prior"])
def test_a_measure_that_loses_its_bound_is_withheld(
    name: str, add: Callable[[Measure], None]
) -> None:
    chapter = "reidentification" if name == "unique_records" else "inference"

    def entry() -> dict[str, Any]:
        data = assess().share().to_dict()[chapter]
        return dict((data if name in data else data["ill"])[name])

    assert "step" in entry()
    add(replace(BY_ID[name], influence=None))
    assert entry() == {"value": None, "reason": "suppressed", "unit": "1", "riskier": "high"}


def test_details_are_not_shared(add: Callable[[Measure], None]) -> None:
    """Of measures that are shared, by any name."""
    before = shared(assess())
    for name in ("unique_records", "bayes_vulnerability_prior"):
        old = BY_ID[name]

        def compute(target: Any, options: Any, old: Any = old) -> MeasureResult:
            found = old.compute(target, options)
            value = found.value if isinstance(found, MeasureResult) else found
            names = ("people", "records", "k", "step", "below", "above", "without_missing")
            return MeasureResult(value, None, dict.fromkeys(names, 3))

        add(replace(old, compute=compute))
        assert shared(assess()) == before
        add(old)


def test_a_measure_of_another_version_is_not_shared() -> None:
    """Its id is not known here; the page is made all the same."""
    exact, fit = assess(), assess().share()
    before = shared(exact)["page of a saved one"]
    for number in NUMBERS:
        value = {"value": number, "unit": "1", "riskier": "high", "reason": None, "people": number}
        for result, settings in ((exact, ReportSettings(share=True)), (fit, None)):
            saved = json.loads(json.dumps(result.to_dict()))
            saved["reidentification"] |= {"of_tomorrow": value, "k_anonymity": value}
            saved["inference"]["ill"]["of_tomorrow"] = value
            assert markdown.render(build_page([saved], settings)) == before


def test_a_shared_result_without_its_steps_is_withheld() -> None:
    """As an older version wrote them: of the exact number of records, too."""
    saved = json.loads(json.dumps(assess().share().to_dict()))
    saved["table"]["rows"] = ROWS
    del saved["reidentification"]["unique_records"]["step"]
    saved["reidentification"]["unique_records"]["value"] = 0.0123
    text = markdown.render(build_page([saved]))
    assert f"{ROWS:,}" not in text and "1.23" not in text and "at least 1,000 records" in text


def test_of_the_table_and_its_remarks_nothing_else_is_shared() -> None:
    found = assess()
    odd = replace(found, table={**found.table, "oldest": 103}, warnings=("3 people are old",))
    assert shared(odd) == shared(found)


def leaves(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(tree, Mapping):
        for key, branch in tree.items():
            yield from leaves(branch, (*path, key))
    elif isinstance(tree, list):
        for branch in tree:
            yield from leaves(branch, path)
    else:
        yield path, tree


def test_nothing_but_declared_numbers_and_settings_is_in_the_json() -> None:
    """Every number of the JSON has its place in this list."""
    limits = {"reidentification": {"k_anonymity": {"min": 3}}}
    shown = assess(policy={"limits": limits}).share().to_dict()
    numbers = {
        path for path, leaf in leaves(shown)
        if isinstance(leaf, int | float) and not isinstance(leaf, bool)
    }  # fmt: skip
    entry = ("value", "below", "above", "step")
    assert numbers <= {
        ("table", "rows"), ("table", "columns"), ("table", "shared"),
        ("policy", "limits", "min"), ("policy", "limits", "max"),
        *(("reidentification", m, key) for m in REIDENTIFICATION for key in entry),
        *(("inference", "ill", m, key) for m in INFERENCE for key in entry),
    }  # fmt: skip
    assert {*REIDENTIFICATION, *INFERENCE} == {m.id for m in MEASURES if m.influence is not None}


def test_a_record_says_what_one_person_can_move() -> None:
    """Nobody can forget it: there is no default."""
    fields = {f.name: getattr(BY_ID["k_anonymity"], f.name) for f in dataclasses.fields(Measure)}
    del fields["influence"]
    with pytest.raises(TypeError, match="influence"):
        Measure(**fields)


def test_every_bound_is_known() -> None:
    """Numbers that one class, cell or record decides have none."""
    assert {m.id for m in MEASURES if m.influence is not None} == {
        "unique_records",
        "average_risk",
        "bayes_vulnerability_prior",
        "bayes_vulnerability_posterior",
        "guess_gain",
    }
