"""Approximate compromise as tables: what is left to an intruder who knows more and more."""

from __future__ import annotations

from sievert.commands._terminal import tabulate, whole_text
from sievert.commands.compromise.experiment import ExperimentCurve
from sievert.commands.compromise.result import Compromises
from sievert.formatting import percent, plural, printable, significant, wrap

TITLES = {
    "sampling": "a sample is released",
    "query": "sums over sets of records are answered",
    "noise": "every column is released with noise",
    "release": "the release is read",
}


MEANING = (
    "H0: bits that are left to guess, on average over combinations (every combination of known "
    "values alike) and over records (every person alike). area: bits times the unit of the "
    "column, below the curve H(epsilon): small where the values left lie close together. Both "
    "are riskier when low. 5 %: the value that 5 % of the combinations do not exceed. exact: "
    "share with one value left; within epsilon: with all values left inside one such window "
    "(both riskier when high)."
)
MORE = "By records as well: --all. What numbers mean: docs/approximate.md."


def parameter(method: str, value: float | None) -> str:
    """A parameter in words.

    >>> parameter("sampling", 0.05), parameter("query", 8), parameter("noise", 20)
    ('5 %', 'Q = 8', '20 %')
    """
    if value is None or method == "sampling":
        return "as released" if value is None else percent(value)
    return f"Q = {value:g}" if method == "query" else f"{value:g} %"


def render(result: Compromises, *, width: int = 100, everything: bool = False) -> str:
    """The whole text."""
    runs = plural(result.settings["replicates"], "run")
    lines = [
        "",
        *wrap(
            f"How near an intruder comes if {TITLES[result.settings['method']]}: every set of "
            f"known columns, every combination that occurs, {runs} each",
            width,
            "",
        ),
    ]
    for secret, curves in result.curves.items():
        lines += ["", *_secret(secret, curves, result, width, everything)]
    lines += ["", *wrap(MEANING, width, "  ")]
    return whole_text(result, lines, width, "" if everything else MORE)


def _secret(
    secret: str,
    curves: tuple[ExperimentCurve, ...],
    result: Compromises,
    width: int,
    everything: bool,
) -> list[str]:
    method, domain = result.settings["method"], result.domains[secret]
    ends = (
        f" from {significant(domain['low'])} to {significant(domain['high'])}"
        if "low" in domain
        else ""
    )
    lines = wrap(
        f"{printable(secret)}: {plural(domain['values'], 'different number')}{ends}, "
        f"{plural(domain['records'], 'record')}",
        width,
        "",
    )
    widths = result.settings["epsilon"]
    head = [method, "known", "H0", "5 %", "least", "area", "5 %", "least", "exact"]
    rows = [[*head, *(f"within {significant(e)}" for e in widths)]]
    for place, over in enumerate(("combinations", "records") if everything else ("combinations",)):
        for c in curves:
            for p in c.points:
                first = parameter(method, c.parameter) if p is c.points[0] else ""
                numbers = [
                    significant(x)
                    for t in map(getattr(p, over).get, ("initial_entropy", "area"))
                    for x in (t.mean, t.quantile, t.minimum)
                ]
                shares = [percent(s[place]) for s in (p.exact, *(p.near[e] for e in widths))]
                first = f"{first} ({over})" if first and everything else first
                rows.append([first, str(p.known), *numbers, *shares])
    lines += tabulate(rows)
    if any(c.error is not None for c in curves):
        lines += ["  Utility: relative error (RMS) of means over ranges; less useful when high"]
    for c in curves:
        if c.error is not None:
            axis = "" if c.axis is None else f"; on the paper's axis {significant(c.axis)}"
            lines.append(f"    {parameter(method, c.parameter)}: {percent(c.error)}{axis}")
    return lines
