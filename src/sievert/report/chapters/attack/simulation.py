"""How a simulation went, for the operator: do chains agree, and what does the prior do."""

from __future__ import annotations

from typing import Any

from sievert.attacks.reasoning.mcmc.chains import ESS, RHAT
from sievert.charts.reasoning import running
from sievert.charts.results import make_unique
from sievert.report.chapters.attack.common import Held
from sievert.report.page import Block, Grid, Paragraph, Picture
from sievert.report.parts import ReportPart


def chains(part: ReportPart, secret: str, held: Held, *, drawn: bool) -> list[Block]:
    """How well the chains agree, and how they came to it."""
    texts, redactor, sampling = part.texts, part.redactor, held.get("sampling")
    if sampling is None:
        return []
    found: list[Block] = []
    by_chain = sampling["attacker_by_chain"]
    if not held["converged"] and by_chain:
        hoped = str(sampling.get("least_agreed", "")).endswith("expects")  # without the original
        key = "not_converged_hopes" if hoped else "not_converged_spread"
        ends = {"low": redactor.share(min(by_chain)), "high": redactor.share(max(by_chain))}
        found.append(Paragraph(texts(f"reasoned.{key}", **ends)))
    places: dict[str, Any] = {
        "limit": RHAT,
        "least": f"{ESS:.0f}",
        "effective": f"{sampling['effective']:,.0f}",
    }
    if sampling["rhat"] is None:
        found.append(Paragraph(texts("reasoned.settled_unbounded", **places)))
    else:
        found.append(Paragraph(texts("reasoned.settled", rhat=f"{sampling['rhat']:.3f}", **places)))
    if sampling.get("so_far"):
        found += _running(part, secret, sampling, drawn)
    return found


def _running(part: ReportPart, secret: str, sampling: Held, drawn: bool) -> list[Block]:
    """Running means of the number on which chains agree least."""
    texts, redactor, places = part.texts, part.redactor, sampling["so_far"]
    quantity = texts(f"reasoned.quantity_{sampling['least_agreed']}")
    names = make_unique(
        texts("reasoned.chain", number=c + 1) for c in range(len(places[0]["by_chain"]))
    )
    told = [[redactor.share(x) for x in place["by_chain"]] for place in places]
    title = texts("reasoned.running_chart", secret=redactor.name(secret))
    grid = Grid(
        title,
        (texts("reasoned.running_across"), *names),
        tuple(
            (f"{place['sweeps']:,}", *map(str, row))
            for place, row in zip(places, told, strict=True)
        ),
        tuple(range(len(names) + 1)),
        folded=True,
    )
    about = Paragraph(texts("reasoned.running_least", quantity=quantity))
    if not drawn:
        return [about, grid]
    given = {
        chain: [
            (float(place["sweeps"]), value)
            for place, row in zip(places, told, strict=True)
            if (value := row[c].number) is not None
        ]
        for c, chain in enumerate(names)
    }
    spec = running(
        title,
        (texts("reasoned.running_below"),),
        given,
        across=texts("reasoned.running_across"),
        up=texts("reasoned.running_up"),
    )
    return [about, Picture(spec, texts("reasoned.running_caption"), grid)]


def sensitivity(part: ReportPart, held: Held) -> list[Block]:
    """The same release with other weights of the prior."""
    lines, texts, redactor = held.get("sensitivity"), part.texts, part.redactor
    if not lines:
        return []
    names = (
        "attacker_accuracy",
        "learner_accuracy",
        "global_relative_risk",
        "global_relative_risk_literal",
    )
    rows = tuple(
        (str(redactor.only_internal(line["beta"])), *(str(redactor.share(line[n])) for n in names))
        for line in lines
    )
    head = ("beta", "attacker", "learner", "relative", "ties")
    return [
        Grid(
            texts("reasoned.sensitivity"),
            tuple(texts(f"reasoned.sensitivity_{h}") for h in head),
            rows,
            tuple(range(len(head))),
        ),
        Paragraph(texts("reasoned.sensitivity_reading"), "reading"),
    ]
