"""Every kind of hierarchy is complete, nested and true of its values, and can be fixed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from helpers.effort import tried
from hypothesis import given, settings
from hypothesis import strategies as st

from sievert.hierarchies import (
    NUMBER,
    Hierarchy,
    fixed_form,
    interval_ends,
    is_made_from_data,
    parse,
    propose,
    to_hierarchy,
    with_orders,
)

NUMBERS = st.one_of(
    st.integers(-(10**30), 10**30).map(str),
    st.integers(-50, 120).map(str),
    st.decimals(-1000, 1000, places=3).map(str),
    st.builds("{}e{}".format, st.integers(-99, 99), st.integers(-99, 99)),
)
DAYS = st.dates().map(str)
ZONES = st.sampled_from(("", "Z", "+00", "-05:30", ".123456"))
CLOCK = st.builds(
    "{:02}:{:02}:{:02}{}".format, st.integers(0, 23), st.integers(0, 59), st.integers(0, 60), ZONES
)
TIMES = st.builds("{} {}".format, DAYS, CLOCK)
CODES = st.text(st.sampled_from("0123456789ab*"), min_size=5, max_size=5)
TEXTS = st.one_of(
    st.text(st.sampled_from("abcxyz ä日٣*–-.\"'{}\n\x7f"), min_size=1, max_size=6),
    st.sampled_from(("other", "...", "*", "nan", "None")),
)
MULTIPLES = ("2", "2,4", "3,6,12", "2,10,100")
FALLING = ("1", "5,1", "20,5", "9,3,2")


def counted(values: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, int]]:
    return st.dictionaries(values, st.integers(1, 50), min_size=1, max_size=40)


def numeric(draw: Any) -> str:
    kind = draw(st.sampled_from(("interval", "quantile", "ends", "cuts")))
    cuts = sorted(
        {Fraction(draw(st.integers(-100, 100)), 4) for _ in range(draw(st.integers(1, 6)))}
    )
    texts = [str(float(cut)) for cut in cuts]
    return {
        "interval": f"interval:{draw(st.sampled_from(('5,10,20', '0.1,0.5,1', '3', '1e3,2e3')))}",
        "quantile": f"quantile:{draw(st.sampled_from(('16,8,4', '2', '12,6,3', '100,10')))}",
        "ends": f"ends:{texts[0]}," + draw(st.sampled_from(("", "99", "99/interval:5,10"))),
        "cuts": "cuts:" + ",".join(texts) + draw(st.sampled_from(("", f"/{texts[0]}"))),
    }[str(kind)]


@st.composite
def cases(draw: Any) -> tuple[str, dict[str, int], list[str]]:
    """A specification, values with their counts, and other values of the same kind."""
    what = draw(st.sampled_from(("numbers", "dates", "codes", "texts", "ordered")))
    values = {"numbers": NUMBERS, "dates": st.one_of(DAYS, TIMES), "codes": CODES, "texts": TEXTS,
              "ordered": NUMBERS}[what]  # fmt: skip
    spec = {
        "numbers": lambda: numeric(draw),
        "dates": lambda: "date:" + draw(st.sampled_from(("day,month,quarter,year,decade", "week",
                                                         "day,week", "year"))),
        "codes": lambda: draw(st.sampled_from(("prefix", "prefix:4,3,2", "prefix:2,0"))),
        "texts": lambda: "top:" + draw(st.sampled_from(FALLING)),
        "ordered": lambda: "order:" + draw(st.sampled_from(MULTIPLES)),
    }[what]()  # fmt: skip
    return spec, draw(counted(values)), draw(st.lists(values, max_size=10))


def check(tree: Hierarchy, values: Iterable[str]) -> None:
    tree.require(values, "column")
    Hierarchy(tree.labels)  # complete and nested
    assert len({x[-1] for x in tree.labels.values()}) == 1  # one root


def covers(spec: str, value: str, label: str, counts: dict[str, int]) -> bool:
    """Whether a label, as anybody would read it, stands for a value."""
    kind = spec.partition(":")[0]
    if label in ("*", value) or (kind == "top" and label == "other"):
        return True
    if kind == "prefix":
        return len(label) == len(value) and value.startswith(label.rstrip("*"))
    if kind == "date":
        year, _, rest = label.partition("-")
        if rest.startswith("W"):
            return abs(int(year) - int(value[:4])) <= 1
        quarter = rest == f"Q{(int(value[5:7]) + 2) // 3}"
        return (
            value.startswith(label) or (label.endswith("0s") and value[:3] == label[:3]) or quarter
        )
    if kind == "order":
        ends = [pair for pair in itertools.product(counts, repeat=2) if "–".join(pair) == label]
        return any(Fraction(a) <= Fraction(value) <= Fraction(b) for a, b in ends)
    ends_of = interval_ends(label)
    assert ends_of is not None, label
    low, high, low_in, high_in = ends_of
    number = Fraction(value)
    above = not low or number > Fraction(low) or (low_in and number == Fraction(low))
    return above and (not high or number < Fraction(high) or (high_in and number == Fraction(high)))


@settings(max_examples=tried(75, 3000), deadline=None)
@given(cases())
def test_every_kind_is_complete_nested_and_true(
    case: tuple[str, dict[str, int], list[str]],
) -> None:
    spec, counts, _ = case
    tree = parse(spec, counts)
    check(tree, counts)
    for value, labels in tree.labels.items():
        assert all(covers(spec, value, label, counts) for label in labels)


@settings(max_examples=tried(75, 3000), deadline=None)
@given(cases())
def test_the_fixed_form_gives_the_same_labels_and_a_place_to_others(
    case: tuple[str, dict[str, int], list[str]],
) -> None:
    spec, counts, others = case
    tree = parse(spec, counts)
    fixed = fixed_form(tree)
    assert (tree.fixed is None) == spec.startswith(("top", "order"))
    again = to_hierarchy(fixed if isinstance(fixed, str) else {"*": fixed}, [*counts, *others])
    assert again is not None
    if "..." not in counts and not spec.startswith("order"):
        assert {v: again.labels[v] for v in counts} == {v: tree.labels[v] for v in counts}
        check(again, [*counts, *others])
    if isinstance(fixed, str):
        assert not is_made_from_data(fixed)


@settings(max_examples=tried(75, 3000), deadline=None)
@given(
    st.lists(TEXTS.filter(lambda t: "–" not in t), min_size=1, unique=True),
    st.sampled_from(MULTIPLES),
)
def test_an_order_is_a_hierarchy_of_its_own(order: list[str], sizes: str) -> None:
    tree = with_orders({"c": f"order:{sizes}"}, {"c": order})["c"]
    check(tree, order)
    first = int(sizes.partition(",")[0])
    groups = [[v for v in order if tree.labels[v][0] == x] for x in
              dict.fromkeys(tree.labels[v][0] for v in order)]  # fmt: skip
    assert list(itertools.chain(*groups)) == order  # neighbours
    assert all(len(group) == first for group in groups[:-1])


@settings(max_examples=tried(75, 3000), deadline=None)
@given(st.one_of(*map(counted, (NUMBERS, DAYS, TIMES, CODES, TEXTS, st.one_of(NUMBERS, TEXTS)))))
def test_every_proposal_can_be_written_and_holds_every_value(counts: dict[str, int]) -> None:
    proposal = propose(counts)
    tree = parse(proposal.text, counts)
    assert proposal.hierarchy is not None and tree.labels == proposal.hierarchy.labels
    check(tree, counts)
    texts = (v for v in counts if len(v) > 4 and not NUMBER.fullmatch(v))
    assert not any(text in proposal.text for text in texts)  # no value is named
