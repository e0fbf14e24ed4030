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
from sievert.report.page import Block, Cell, Chapter, Grid, Link, Picture, Words
from sievert.report.parts import Part
from sievert.report.redaction import Said

DRAWN = 3  # secrets with pictures
NUMBERS = {
    "global_relative_risk": "reason_gr",
    "global_relative_risk_literal": "reason_gr",
    "max_relative_risk": "reason_relative",
}


def chapters(part: Part) -> tuple[Chapter, ...]:
    """One chapter for each secret that was reasoned about."""
    return tuple(
        Chapter(
            part.texts("reasoned.title", secret=part.pen.name(secret)),
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


def _attacked(part: Part, held: Held) -> int:
    """How many people shares are of: the original's, where that follows, or the release's."""
    at_risk, right = number(held, "at_risk"), number(held, "attacker_accuracy_literal")
    if at_risk and right:
        return min(part.pen.rows, round(at_risk / right))
    return min(part.pen.rows, int(held.get("released") or part.pen.rows))


def _share(part: Part, held: Held, name: str) -> Said:
    return share(part.pen, number(held, name), _attacked(part, held))


def headline(part: Part, held: Held) -> Said | None:
    """How many are named, in one number; None where there is none to be told."""
    name = {"named": "attacker_accuracy", "expects": "attacker_expects"}.get(state(held))
    return None if name is None else _share(part, held, name)


def sentence(part: Part) -> str | None:
    """The secret of which most people are named; if none can be told, that."""
    each = secrets(part, "reasoning")
    if not each:
        return None
    heads = [headline(part, held) for *_, held in each]
    if all(h is not None and kept_back(part.pen, h) for h in heads):
        return None
    shown = [-1.0 if h is None else h.number or 0.0 for h in heads]
    _, secret, held = each[shown.index(max(shown))]
    which, name = state(held), part.pen.name(secret)
    key = "reasoned.first" if which == "named" else f"reasoned.first_{which}"
    return part.texts(key, secret=name, **_places(part, held, which))


def _places(part: Part, held: Held, which: str) -> dict[str, Said]:
    if which == "named":
        names = {"attacker": "attacker_accuracy", "learner": "learner_accuracy"}
    elif which == "expects":
        names = {"expects": "attacker_expects"}
    else:
        return {}
    return {who: _share(part, held, name) for who, name in names.items()} | {
        "baseline": _share(part, held, "baseline")
    }


def _blocks(part: Part, i: int, secret: str, held: Held) -> tuple[Block, ...]:
    texts, which, name = part.texts, state(held), part.pen.name(secret)
    found: list[Block] = []
    told = headline(part, held)
    if told is not None and kept_back(part.pen, told):
        found.append(Words(texts("reasoned.lead_withheld"), "note"))
    elif told is not None:
        places = _places(part, held, which)
        key = "reasoned.lead" if which == "named" else "reasoned.lead_expects"
        found.append(Words(texts(key, secret=name, columns=columns(part), **places), "lead"))
        found += _below_guessing(part, places)
        found.append(_named(part, i, secret, held, places))
        if which == "named" and part.pen.internal:
            found += _relative(part, secret, held)
    else:
        found.append(Words(texts(f"reasoned.{which}", secret=name), "warning"))
    found += _how(part, held)
    if part.pen.internal:
        found += chains(part, secret, held, drawn=i <= DRAWN)
        found += sensitivity(part, held)
    if which == "named":
        found.append(Words(texts("reasoned.reading"), "reading"))
    return tuple(found)


def _below_guessing(part: Part, places: dict[str, Said]) -> list[Block]:
    """A sign of tables that do not belong together, by the numbers that are shown."""
    attacker, baseline = (places[w].number if w in places else None for w in WHO[::2])
    if attacker is None or baseline is None or attacker >= baseline:
        return []
    return [Words(part.texts("reasoned.below_guessing"), "warning")]


WHO = ("attacker", "learner", "baseline")


def _named(part: Part, i: int, secret: str, held: Held, places: dict[str, Said]) -> Block:
    """Attacker, learner and guessing side by side."""
    texts, name = part.texts, part.pen.name(secret)
    intervals = held.get("intervals") or {} if part.pen.internal else {}
    bars: list[Share] = []
    rows: list[tuple[Cell, ...]] = []
    for who, said in places.items():
        interval = intervals.get(f"{who}_accuracy")
        told, ends = str(said), None
        if interval is not None:
            low, high = interval
            ends = (low, high)
            told = texts(
                "reasoned.interval", share=said, low=part.pen.share(low), high=part.pen.share(high)
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


def _relative(part: Part, secret: str, held: Held) -> list[Block]:
    """People at risk, relative risk, and the records that are worst off."""
    texts, pen = part.texts, part.pen
    many = number(held, "at_risk") or 0
    found: list[Block] = [Words(people(part, "reasoned.at_risk", many, secret=pen.name(secret)))]
    torn = number(held, "undecided")
    if torn:
        found.append(Words(texts("reasoned.undecided", people=pen.count(torn))))
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
                str(pen.share(w["attacker"])),
                str(pen.share(w["learner"])),
                str(_times(part, w["relative_risk"])),
            )
            for w in worst
        )
        head = tuple(texts(f"reasoned.worst_{h}") for h in ("row", "attacker", "learner", "ratio"))
        found.append(Grid(texts("reasoned.worst"), head, cells, (0, 1, 2, 3)))
        found.append(Words(texts("reasoned.worst_reading"), "reading"))
    return found


def _relative_number(part: Part, held: Held, name: str) -> Said:
    value = number(held, name)
    return _times(part, value) if name == "max_relative_risk" else part.pen.share(value)


def _times(part: Part, ratio: float | None) -> Said:
    """A ratio of beliefs: no more digits than it is worth."""
    said = part.pen.only_internal(ratio if ratio is None else float(f"{ratio:.3g}"))
    return said if said.number is None else Said(said.text, ratio)


def _how(part: Part, held: Held) -> list[Block]:
    """How beliefs were found, and what they started from."""
    texts = part.texts
    model = texts(f"reasoned.model_{held['likelihood']}")
    sampling = held.get("sampling")
    if sampling is None:
        way = "exact" if held["method"] == "exact" else "closed"
        found = [Words(texts(f"reasoned.found_{way}", model=model))]
    else:
        way = "sampled" if held["converged"] else "apart"
        counted = {k: f"{sampling[k]:,}" for k in ("chains", "sweeps")}
        found = [Words(texts(f"reasoned.found_{way}", model=model, **counted))]
    most = max(held["prior_records_a_secret"].values(), default=0.0)
    if most > held["records_a_secret"]:
        found.append(Words(texts("reasoned.strong_prior"), "note"))
    if any(not domain["public"] for domain in held["domains"].values()):
        found.append(Words(texts("reasoned.domain_observed"), "note"))
    if state(held) == "named":
        found.append(Words(texts("reasoned.unplaced"), "note"))
    return list(found)
