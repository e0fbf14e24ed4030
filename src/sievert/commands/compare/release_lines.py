"""The lines of one release of a comparison, and its numbers as text."""

from __future__ import annotations

from collections.abc import Mapping

from sievert.commands._terminal import number_line
from sievert.commands.compare.result import Bits, Compared
from sievert.formatting import plural, printable, significant, wrap
from sievert.losses import BY_ID
from sievert.losses.loss import Loss

NOISE = 1e-12  # of a difference of bits: rounding alone


def release_lines(release: Compared, width: int, everything: bool) -> list[str]:
    """The lines of one release."""
    records, numbers = release.records, release.disclosed
    facts = {
        "not_released": f"{records['not_released']:,} of the original not released",
        "suppressed": f"{records['suppressed']:,} suppressed (a category of their own)",
        "cells_suppressed": f"{plural(records['cells_suppressed'], 'cell')} suppressed",
    }
    about = [plural(release.rows, "record"), *(facts[name] for name in facts if records[name])]
    lines = wrap(f"{printable(release.name)}: {', '.join(about)}", width, "", "  ")
    lines += ["  Disclosed of the key, I(X';X)"]
    lines += _bits(numbers.identity, everything, "risky when high")
    for secret, bits in numbers.attribute.items():
        least, t = (significant(bits.details[name]) for name in ("floor", "t_closeness"))
        lines += [
            f"  Disclosed of {printable(secret)}, I(X';Y)",
            *_bits(bits, everything, "risky when high"),
            "  " + number_line("Farthest class (t)", t, f"such classes tell {least} bits or more"),
            f"  Lost of {printable(secret)}, I(X;Y) - I(X';Y)",
            *_bits(numbers.loss[secret], everything, "worse when high"),
        ]
    return [*lines, "  Losses by column", *_by_column(release.losses)] if everything else lines


def _bits(bits: Bits, everything: bool, risky: str) -> list[str]:
    whole = bits.whole
    of = "" if whole.maximum is None else f" of at most {significant(whole.maximum)}"
    p_value = "" if whole.p_value is None else f"; p = {significant(whole.p_value)}"
    rows = [
        ("In this table", whole.value, f"bits{of}; {risky}"),
        ("By chance alone", whole.chance, f"bits{p_value}"),
        (
            "Beyond chance (corrected)",
            without_noise(whole.corrected),
            f"bits; 95 %: {_range(whole.interval)}",
        ),
    ]
    if whole.excess is not None:
        after = "bits; less what chance makes of no loss"
        rows.append(("Beyond no loss (excess)", without_noise(whole.excess), after))
    if everything:
        after = f"bits; {significant(whole.rows_per_cell)} records a cell"
        rows.append(("Miller-Madow", whole.miller_madow, after))
        rows += [
            (f"  {printable(column)} alone", each.value, f"{corrected}; {_range(each.interval)}")
            for column, each in bits.columns.items()
            for corrected in [f"bits; corrected {signed_text(without_noise(each.corrected))}"]
        ]
    return ["  " + number_line(title, signed_text(x), after) for title, x, after in rows]


def _by_column(losses: Mapping[str, Loss]) -> list[str]:
    lines = []
    for name, loss in losses.items():
        rows = [
            "  " + number_line(f"  {printable(column)}", signed_text(x), "")
            for column, each in loss.columns.items()
            for x in [each.get("value") if isinstance(each, Mapping) else each]
            if isinstance(x, int | float)
        ]
        lines += [f"    {BY_ID[name].title}", *rows] if rows else []
    return lines


def short_text(x: float) -> str:
    """Three digits or so: a table is to be looked over.

    >>> [short_text(x) for x in (1.7595, 0.005473, -0.25, 341691382.0, 0.0, 1.0, 0.99995)]
    ['1.76', '0.00547', '-0.25', '3.417e+08', '0', '1', '0.99995']
    """
    if abs(x) >= 1e7 or x == int(x) or abs(x) >= 1000:
        return f"{x:.4g}" if abs(x) >= 1e7 else f"{x:,.0f}"
    text = f"{x:.3g}"
    return significant(abs(x)) if float(text) == 1.0 else text


def without_noise(x: float) -> float:
    """A difference of bits without what rounding alone leaves of it."""
    return x if abs(x) > NOISE else 0.0


def signed_text(x: float) -> str:
    """A number that noise may have pushed below zero."""
    return significant(x) if x >= 0 else f"-{significant(-x)}"


def _range(interval: tuple[float, float]) -> str:
    return " to ".join(signed_text(without_noise(x)) for x in interval)
