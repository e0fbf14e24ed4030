"""The lines of one release of a comparison, and its numbers as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sievert.commands._terminal import number_line
from sievert.formatting import plural, printable, significant, wrap
from sievert.losses import BY_ID

if TYPE_CHECKING:
    from sievert.commands.compare.disclosures import Bits
    from sievert.commands.compare.result import Compared
    from sievert.losses.loss import Loss

NOISE = 1e-12  # of a difference of bits: rounding alone


def release_lines(release: Compared, width: int, everything: bool) -> list[str]:
    """The lines of one release."""
    records = release.records
    facts = [f"{plural(release.rows, 'record')}"]
    if records["not_released"]:
        facts.append(f"{records['not_released']:,} of the original not released")
    if records["suppressed"]:
        facts.append(f"{records['suppressed']:,} suppressed (a category of their own)")
    if records["cells_suppressed"]:
        facts.append(f"{plural(records['cells_suppressed'], 'cell')} suppressed")
    lines = wrap(f"{printable(release.name)}: {', '.join(facts)}", width, "", "  ")
    lines += ["  Disclosed of the key, I(X';X)"]
    lines += _bits(release.disclosed.identity, everything, "risky when high")
    for secret, bits in release.disclosed.attribute.items():
        lines += [f"  Disclosed of {printable(secret)}, I(X';Y)"]
        lines += _bits(bits, everything, "risky when high")
        least = significant(bits.details["floor"])
        after = f"such classes tell {least} bits or more"
        t = significant(bits.details["t_closeness"])
        lines.append("  " + number_line("Farthest class (t)", t, after))
        lines += [f"  Lost of {printable(secret)}, I(X;Y) - I(X';Y)"]
        lines += _bits(release.disclosed.loss[secret], everything, "worse when high")
    if everything:
        lines += ["  Losses by column"]
        lines += _by_column(release.losses)
    return lines


def _bits(bits: Bits, everything: bool, risky: str) -> list[str]:
    whole = bits.whole
    of = "" if whole.maximum is None else f" of at most {significant(whole.maximum)}"
    lines = ["  " + number_line("In this table", signed_text(whole.value), f"bits{of}; {risky}")]
    after = "bits" if whole.p_value is None else f"bits; p = {significant(whole.p_value)}"
    lines.append("  " + number_line("By chance alone", signed_text(whole.chance), after))
    after = f"bits; 95 %: {_range(whole.interval)}"
    lines.append(
        "  "
        + number_line(
            "Beyond chance (corrected)", signed_text(without_noise(whole.corrected)), after
        )
    )
    if whole.excess is not None:
        after = "bits; less what chance makes of no loss"
        lines.append(
            "  "
            + number_line(
                "Beyond no loss (excess)", signed_text(without_noise(whole.excess)), after
            )
        )
    if everything:
        after = f"bits; {significant(whole.rows_per_cell)} records a cell"
        lines.append("  " + number_line("Miller-Madow", signed_text(whole.miller_madow), after))
        for column, each in bits.columns.items():
            corrected = signed_text(without_noise(each.corrected))
            after = f"bits; corrected {corrected}; {_range(each.interval)}"
            lines.append(
                "  " + number_line(f"  {printable(column)} alone", signed_text(each.value), after)
            )
    return lines


def _by_column(losses: Mapping[str, Loss]) -> list[str]:
    lines = []
    for name, loss in losses.items():
        shown = {
            c: each.get("value") if isinstance(each, Mapping) else each
            for c, each in loss.columns.items()
        }
        numbers = [(c, x) for c, x in shown.items() if isinstance(x, int | float)]
        if numbers:
            lines.append(f"    {BY_ID[name].title}")
            lines += [
                "  " + number_line(f"  {printable(c)}", signed_text(x), "") for c, x in numbers
            ]
    return lines


def short_text(x: float) -> str:
    """Three digits or so: a table is to be looked over.

    >>> [short_text(x) for x in (1.7595, 0.005473, -0.25, 341691382.0, 0.0, 1.0, 0.99995)]
    ['1.76', '0.00547', '-0.25', '3.417e+08', '0', '1', '0.99995']
    """
    if abs(x) >= 1e7:
        return f"{x:.4g}"
    if x == int(x) or abs(x) >= 1000:
        return f"{x:,.0f}"
    text = f"{x:.3g}"
    return significant(abs(x)) if float(text) == 1.0 else text


def without_noise(x: float) -> float:
    """A difference of bits without what rounding alone leaves of it."""
    return x if abs(x) > NOISE else 0.0


def signed_text(x: float) -> str:
    """A number that noise may have pushed below zero."""
    return significant(x) if x >= 0 else f"-{significant(-x)}"


def _range(interval: tuple[float, float]) -> str:
    low, high = (signed_text(without_noise(x)) for x in interval)
    return f"{low} to {high}"
