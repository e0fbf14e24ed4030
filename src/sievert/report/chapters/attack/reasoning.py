"""Somebody who reasons by Bayes' rule, beside an honest learner: who is named, and how sure it is.

Where the chains of the simulation do not agree, there is no number: that is said, and no more.
"""

from __future__ import annotations

from sievert.charts.reasoning import Share, shares
from sievert.report.chapters.attack.common import (
    Held,
    columns,
    kept_back,
    number,
    people,
    secrets,
    share,
)
from sievert.report.chapters.attack.simulation import chains, sensitivity
from sievert.report.page import Block, Cell, Chapter, Grid, Link, Paragraph, Picture
from sievert.report.parts import ReportPart
from sievert.report.redaction import NumberText

DRAWN = 3  # secrets with pictures
NUMBERS = {
    "global_relative_risk": "reason_gr",
    "global_relative_risk_literal": "reason_gr",
    "max_relative_risk": "reason_relative",
}


def chapters(part: ReportPart) -> tuple[Chapter, ...]:
    """One chapter for each secret that was reasoned about."""
    return tuple(
        Chapter(
            part.texts("reasoned.title", secret=part.redactor.name(secret)),
            part.anchor(f"reason{i}"),
            _blocks(part, i, secret, held),
        )
        for i, secret, held in secrets(part, "reasoning")
    )


def state(held: Held) -> str:
    """What there is to tell: named, expects, not_converged or misplaced."""
    if not held.get("converged"):
        return "not_converged"
    if number(held, "attacker_accuracy") is not None:
        return "named"
    return "expects" if number(held, "attacker_expects") is not None else "misplaced"


def _attacked(part: ReportPart, held: Held) -> int:
    """How many people shares are of: the original's, where that follows, or the release's."""
    at_risk, right = number(held, "at_risk"), number(held, "attacker_accuracy_literal")
    if at_risk and right:
        return min(part.redactor.rows, round(at_risk / right))
    return min(part.redactor.rows, int(held.get("released") or part.redactor.rows))


def _share(part: ReportPart, held: Held, name: str) -> NumberText:
    return share(part.redactor, number(held, name), _attacked(part, held))


def headline(part: ReportPart, held: Held) -> NumberText | None:
    """How many are named, in one number; None where there is none to be told."""
    name = {"named": "attacker_accuracy", "expects": "attacker_expects"}.get(state(held))
    return None if name is None else _share(part, held, name)


def sentence(part: ReportPart) -> str | None:
    """The secret of which most people are named; if none can be told, that."""
    each = secrets(part, "reasoning")
    if not each:
        return None
    heads = [headline(part, held) for *_, held in each]
    if all(h is not None and kept_back(part.redactor, h) for h in heads):
        return None
    shown = [-1.0 if h is None else h.number or 0.0 for h in heads]
    _, secret, held = each[shown.index(max(shown))]
    which, name = state(held), part.redactor.name(secret)
    key = "reasoned.first" if which == "named" else f"reasoned.first_{which}"
    return part.texts(key, secret=name, **_places(part, held, which))


def _places(part: ReportPart, held: Held, which: str) -> dict[str, NumberText]:
    if which == "named":
        names = {"attacker": "attacker_accuracy", "learner": "learner_accuracy"}
    elif which == "expects":
        names = {"expects": "attacker_expects"}
    else:
        return {}
    return {who: _share(part, held, name) for who, name in names.items()} | {
        "baseline": _share(part, held, "baseline")
    }


def _blocks(part: ReportPart, i: int, secret: str, held: Held) -> tuple[Block, ...]:
    texts, which, name = part.texts, state(held), part.redactor.name(secret)
    found: list[Block] = []
    told = headline(part, held)
    if told is not None and kept_back(part.redactor, told):
        found.append(Paragraph(texts("reasoned.lead_withheld"), "note"))
    elif told is not None:
        places = _places(part, held, which)
        key = "reasoned.lead" if which == "named" else "reasoned.lead_expects"
        found.append(Paragraph(texts(key, secret=name, columns=columns(part), **places), "lead"))
        found += _below_guessing(part, places)
        found.append(_named(part, i, secret, held, places))
        if which == "named" and part.redactor.internal:
            found += _relative(part, secret, held)
    else:
        found.append(Paragraph(texts(f"reasoned.{which}", secret=name), "warning"))
    found += _how(part, held)
    if part.redactor.internal:
        found += chains(part, secret, held, drawn=i <= DRAWN)
        found += sensitivity(part, held)
    if which == "named":
        found.append(Paragraph(texts("reasoned.reading"), "reading"))
    return tuple(found)


def _below_guessing(part: ReportPart, places: dict[str, NumberText]) -> list[Block]:
    """A sign of tables that do not belong together, by the numbers that are shown."""
    attacker, baseline = (places[w].number if w in places else None for w in WHO[::2])
    if attacker is None or baseline is None or attacker >= baseline:
        return []
    return [Paragraph(part.texts("reasoned.below_guessing"), "warning")]


WHO = ("attacker", "learner", "baseline")


def _named(
    part: ReportPart, i: int, secret: str, held: Held, places: dict[str, NumberText]
) -> Block:
    """Attacker, learner and guessing side by side."""
    texts, name = part.texts, part.redactor.name(secret)
    intervals = held.get("intervals") or {} if part.redactor.internal else {}
    bars: list[Share] = []
    rows: list[tuple[Cell, ...]] = []
    for who, said in places.items():
        interval = intervals.get(f"{who}_accuracy")
        told, ends = str(said), None
        if interval is not None:
            low, high = interval
            ends = (low, high)
            told = texts(
                "reasoned.interval",
                share=said,
                low=part.redactor.share(low),
                high=part.redactor.share(high),
            )
        called = "attacker" if who == "expects" else who
        row = texts(f"reasoned.{who}")
        bars.append(Share(row, said.number, told, ends, shown=str(said)))
        rows.append((Link(row, f"def-reason_{called}"), told))
    title, axis = texts("reasoned.chart", secret=name), texts("reasoned.axis")
    head = (texts("reasoned.who"), texts("reasoned.named"))
    grid = Grid(title, head, tuple(rows), (1,))
    if i > DRAWN or all(said.number is None for said in places.values()):
        return grid
    key = "caption" if intervals else "caption_exact"
    caption = texts(f"reasoned.{'caption_expects' if 'expects' in places else key}")
    spec = shares(title, (texts("reasoned.below", secret=name),), bars, axis=axis)
    return Picture(spec, caption, grid)


# -- for the operator -----------------------------------------------------------------------------


def _relative(part: ReportPart, secret: str, held: Held) -> list[Block]:
    """People at risk, relative risk, and the records that are worst off."""
    texts, redactor = part.texts, part.redactor
    many = number(held, "at_risk") or 0
    found: list[Block] = [
        Paragraph(people(part, "reasoned.at_risk", many, secret=redactor.name(secret)))
    ]
    torn = number(held, "undecided")
    if torn:
        found.append(Paragraph(texts("reasoned.undecided", people=redactor.count(torn))))
    rows: list[tuple[Cell, ...]] = [
        (
            Link(texts(f"reasoned.{name}"), f"def-{about}"),
            str(_relative_number(part, held, name)),
            texts("attacked.side_high"),
        )
        for name, about in NUMBERS.items()
        if name in held
    ]
    head = tuple(texts(f"reasoned.{h}") for h in ("number", "value", "side"))
    found.append(Grid(texts("reasoned.numbers"), head, tuple(rows), (1,)))
    worst = held.get("worst") or []
    if worst:
        cells = tuple(
            (
                f"{w['row']:,}",
                str(redactor.share(w["attacker"])),
                str(redactor.share(w["learner"])),
                str(_times(part, w["relative_risk"])),
            )
            for w in worst
        )
        head = tuple(texts(f"reasoned.worst_{h}") for h in ("row", "attacker", "learner", "ratio"))
        found.append(Grid(texts("reasoned.worst"), head, cells, (0, 1, 2, 3)))
        found.append(Paragraph(texts("reasoned.worst_reading"), "reading"))
    return found


def _relative_number(part: ReportPart, held: Held, name: str) -> NumberText:
    value = number(held, name)
    return _times(part, value) if name == "max_relative_risk" else part.redactor.share(value)


def _times(part: ReportPart, ratio: float | None) -> NumberText:
    """A ratio of beliefs: no more digits than it is worth."""
    said = part.redactor.only_internal(ratio if ratio is None else float(f"{ratio:.3g}"))
    return said if said.number is None else NumberText(said.text, ratio)


def _how(part: ReportPart, held: Held) -> list[Block]:
    """How beliefs were found, and what they started from."""
    texts = part.texts
    model = texts(f"reasoned.model_{held['likelihood']}")
    sampling = held.get("sampling")
    if sampling is None:
        way = "exact" if held["method"] == "exact" else "closed"
        found = [Paragraph(texts(f"reasoned.found_{way}", model=model))]
    else:
        way = "sampled" if held["converged"] else "apart"
        counted = {k: f"{sampling[k]:,}" for k in ("chains", "sweeps")}
        found = [Paragraph(texts(f"reasoned.found_{way}", model=model, **counted))]
    most = max(held["prior_records_a_secret"].values(), default=0.0)
    if most > held["records_a_secret"]:
        found.append(Paragraph(texts("reasoned.strong_prior"), "note"))
    if any(not domain["public"] for domain in held["domains"].values()):
        found.append(Paragraph(texts("reasoned.domain_observed"), "note"))
    if state(held) == "named":
        found.append(Paragraph(texts("reasoned.unplaced"), "note"))
    return list(found)
