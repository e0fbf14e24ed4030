"""Mondrian: boxes of at least k records, each released as the ranges of its box."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Self

import numpy as np

from sievert.arrays import Floats, Ints, Text
from sievert.errors import ExhaustedError, InputError, require, unknown
from sievert.formatting import plural
from sievert.hierarchies import NUMBER, Hierarchy
from sievert.methods.intruder import WHOLE, check_whole
from sievert.methods.recoding import Columns, Released, check_columns, encode

Labels = Literal["tight", "region"]
MOST_LISTED = 1 << 26  # values in all braces of a column together
LONGEST = 400  # characters of a number
QUOTED = frozenset(',{}"\r\n')


def mondrian(
    data: Columns,
    quasi: Sequence[str],
    k: int,
    *,
    orders: Mapping[str, Iterable[str]] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    labels: Labels = "tight",
) -> Released:
    """Recode locally by strict Mondrian (LeFevre, DeWitt and Ramakrishnan, 2006).

    A box is cut between two values of one column, as close to its median as possible, if both sides
    keep k records. The column is the one with the widest range, as a share of the range of its
    domain, among the columns that can be cut. Numbers are ordered by value; texts by `orders`, by
    their hierarchy (values with a common label stand together), or as texts. A given order or
    hierarchy is also the domain; else the domain is the values that occur.

    A released value is a plain one if the box has one value. Else it is `[low, high]` for numbers
    and `{a,b,c}`, all values of the domain from low to high, for texts. "tight" labels end at
    values of the box's records, "region" labels at the cuts.

    >>> data = {"age": ["27", "31", "38", "45"], "town": ["Bonn", "Bonn", "Ulm", "Bonn"]}
    >>> found = mondrian(data, ["age", "town"], 2)
    >>> found.columns["age"], found.columns["town"]
    (['[27, 31]', '[27, 31]', '[38, 45]', '[38, 45]'], ['Bonn', 'Bonn', '{Bonn,Ulm}', '{Bonn,Ulm}'])
    """
    columns = check_columns(data, quasi)
    check_whole(k, "k")
    require(labels in ("tight", "region"), "labels are 'tight' or 'region'")
    orders = orders if orders else {}
    hierarchies = hierarchies if hierarchies else {}
    for name in orders:
        if name not in quasi:
            raise unknown("quasi-identifier", name, quasi)
    axes = [
        _Axis.from_texts(name, columns[name], orders.get(name), hierarchies.get(name))
        for name in quasi
    ]
    records = len(axes[0].codes)
    require(
        records >= k,
        f"{plural(records, 'record')} make no class of {k}",
        hint="a smaller k",
        error=InputError,
    )
    classes, ends = _cut_boxes(axes, k)
    for axis, low, high in zip(axes, *ends[labels], strict=True):
        texts, label_of = axis.labels(low, high)
        columns[axis.name] = [texts[label] for label in label_of[classes].tolist()]
    return Released(columns, tuple(quasi), classes)


@dataclass(frozen=True, kw_only=True)
class _Axis:
    """One column: codes in the order of its domain, and the place of each value on a scale."""

    name: str
    codes: Ints
    values: list[str]
    numeric: bool
    scale: Floats
    span: float

    @classmethod
    def from_texts(
        cls,
        name: str,
        texts: Sequence[Text],
        order: Iterable[str] | None,
        hierarchy: Hierarchy | None,
    ) -> Self:
        codes, occurring = encode(texts)
        values = [value for value in occurring if value is not None]
        if len(values) < len(occurring):
            lacking = int(np.count_nonzero(codes == occurring.index(None)))
            raise InputError(
                f"column {name!r}: {plural(lacking, 'missing value')} without a place in an order",
                hint="a text for missing values, or leave these records out",
            )
        domain = _domain(name, values, order, hierarchy)
        numbers = _numbers(domain)
        if order is not None and numbers != sorted(set(numbers)):
            numbers = []  # an order of their own: texts
        place = {value: at for at, value in enumerate(domain)}
        scale = np.arange(len(domain), dtype=np.float64)
        if numbers:
            # Spellings of one number are one value; the shortest one is released.
            pairs = sorted(zip(numbers, domain, strict=True), key=lambda p: (p[0], len(p[1]), p[1]))
            at_number = {number: at for at, number in enumerate(sorted(set(numbers)))}
            place = {value: at_number[number] for number, value in pairs}
            domain = list(dict(reversed(pairs)).values())[::-1]
            scale = _scale(list(at_number))
        at = np.array([place[value] for value in values], dtype=np.int64)
        return cls(
            name=name,
            codes=at[codes],
            values=domain,
            numeric=bool(numbers),
            scale=scale,
            span=float(scale[-1]) if scale[-1] else 1.0,
        )

    def labels(self, low: Ints, high: Ints) -> tuple[list[str], Ints]:
        """The distinct labels of some ranges of codes, and the place of each range's label."""
        size = len(self.values)
        keys, label_of = np.unique(low * size + high, return_inverse=True)
        first = keys // size
        last = keys % size
        listed = int((last - first + 1).sum())
        require(
            self.numeric or listed <= MOST_LISTED,
            f"column {self.name!r}: labels that list {listed:,} values",
            hint="make its values coarser first, or leave the column out",
            error=ExhaustedError,
        )
        words = self.values if self.numeric else [_quote(value) for value in self.values]

        def label(a: int, b: int) -> str:
            if a == b:
                return self.values[a]
            if self.numeric:
                return f"[{_decimal(words[a])}, {_decimal(words[b])}]"
            return "{" + ",".join(words[a : b + 1]) + "}"

        return list(map(label, first.tolist(), last.tolist())), label_of


def _cut_boxes(axes: Sequence[_Axis], k: int) -> tuple[Ints, dict[Labels, list[Ints]]]:
    """Cut boxes; return the class of each record, and the two ends of each class by labels.

    All boxes of one depth are cut at a time, until none can be cut. The records of a box stand
    together in `order`, and are split in place. The ends are codes, for each column and class.
    """
    codes = np.stack([axis.codes for axis in axes])
    records = codes.shape[1]
    order = np.arange(records)
    start = np.zeros(1, dtype=np.int64)
    size = np.array([records])
    first = np.zeros((len(axes), 1), dtype=np.int64)
    last = np.array([[len(axis.values) - 1] for axis in axes])
    done: list[list[Ints]] = []
    while len(start):
        box = np.repeat(np.arange(len(start)), size)
        begin = np.cumsum(size) - size
        places = np.arange(len(box)) + np.repeat(start - begin, size)
        members = order[places]
        low, high = (
            np.stack([end.reduceat(each[members], begin) for each in codes])
            for end in (np.minimum, np.maximum)
        )
        column, cut = _choose_cuts(axes, codes, members, box, size, low, high, k)
        still = column < 0
        done.append([each[..., still] for each in (start, size, low, high, first, last)])
        inside = ~still[box]
        members = members[inside]
        box = box[inside]
        places = places[inside]
        right = codes[column[box], members] > cut[box]
        many = np.bincount(box[right], minlength=len(size))
        front = places < (start + size - many)[box]  # where the records on the left go
        order[places[front]] = members[~right]
        order[places[~front]] = members[right]
        some = np.flatnonzero(~still)
        halves = (column[some], np.arange(len(some)))
        before = last[:, some]
        behind = first[:, some]
        before[halves] = cut[some]
        behind[halves] = cut[some] + 1
        first = np.concatenate((first[:, some], behind), axis=1)
        last = np.concatenate((before, last[:, some]), axis=1)
        kept = (size - many)[some]
        start = np.concatenate((start[some], start[some] + kept))
        size = np.concatenate((kept, many[some]))
    start, size, low, high, first, last = (
        np.concatenate(parts, axis=-1) for parts in zip(*done, strict=True)
    )
    by = np.argsort(start)  # boxes in the order of their records
    classes = np.empty(records, dtype=np.int64)
    classes[order] = np.repeat(np.arange(len(start)), size[by])
    low, high, first, last = (ends[:, by] for ends in (low, high, first, last))
    return classes, {"tight": [low, high], "region": [first, last]}


def _choose_cuts(
    axes: Sequence[_Axis],
    codes: Ints,
    members: Ints,
    box: Ints,
    size: Ints,
    low: Ints,
    high: Ints,
    k: int,
) -> tuple[Ints, Ints]:
    """Choose for each box the column to cut, -1 if there is none, and the last code on the left."""
    widths = np.stack(
        [(a.scale[h] - a.scale[g]) / a.span for a, g, h in zip(axes, low, high, strict=True)]
    )
    space = max(len(axis.values) for axis in axes)
    column = np.full(len(size), -1, dtype=np.int64)
    cut = np.zeros(len(size), dtype=np.int64)
    for along in np.argsort(-widths, axis=0, kind="stable"):
        each = np.arange(len(size))
        wanted = (column < 0) & (low[along, each] < high[along, each]) & (size >= 2 * k)
        if not wanted.any():
            continue
        chosen = wanted[box]
        boxes = box[chosen]
        keys = np.sort(boxes * space + codes[along[boxes], members[chosen]])
        ends = np.flatnonzero(np.append(keys[1:] != keys[:-1], True))
        owner = keys[ends] // space
        code = keys[ends] % space
        many = np.where(wanted, size, 0)
        left = ends + 1 - (np.cumsum(many) - many)[owner]
        fewer = np.minimum(left, size[owner] - left)
        starts = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
        # The most even cut of each box; of two, the cut with the median on its left.
        best = np.maximum.reduceat(fewer * space + code, starts)
        cuttable = best >= k * space
        where = owner[starts][cuttable]
        column[where] = along[where]
        cut[where] = best[cuttable] % space
    return column, cut


def _domain(
    name: str, values: list[str], order: Iterable[str] | None, hierarchy: Hierarchy | None
) -> list[str]:
    """Sort the values of a column, or return its domain in order."""
    if order is not None:
        domain = list(order)
        require(
            len(set(domain)) == len(domain), f"the order of column {name!r} names a value twice"
        )
        lacking = len(set(values) - set(domain))
        require(
            not lacking,
            f"column {name!r}: {plural(lacking, 'value')} without a place in its order",
            hint="an order of every value that occurs",
            error=InputError,
        )
        return domain
    if hierarchy is None:
        return sorted(values)
    hierarchy.require(values, name)
    # Labels are ranked by their first occurrence, from the top down.
    ranks: list[dict[str, int]] = [{} for _ in range(hierarchy.height)]
    for labels in hierarchy.labels.values():
        for rank, label in zip(ranks, labels, strict=True):
            rank.setdefault(label, len(rank))
    return sorted(
        hierarchy.labels,
        key=lambda v: [r[t] for r, t in zip(ranks[::-1], hierarchy.labels[v][::-1], strict=True)],
    )


def _numbers(texts: Sequence[str]) -> list[int]:
    """Write numbers as multiples of one unit; none if a text is no number, or a code like 007."""
    for text in texts:
        digits = text.lstrip("+-")
        is_code = digits[:1] == "0" and digits[1:2].isdigit()
        if len(text) > LONGEST or not NUMBER.fullmatch(text) or is_code:
            return []
    parts = [_decimal(text).partition(".") for text in texts]
    behind = max((len(rest) for _, _, rest in parts), default=0)
    return [int(whole + rest.ljust(behind, "0")) for whole, _, rest in parts]


def _decimal(text: str) -> str:
    """Write a number in digits, without an exponent.

    >>> _decimal("+1e3"), _decimal("-.5"), _decimal("7.50")
    ('1000', '-0.5', '7.50')
    """
    return text if text.isdigit() else format(Decimal(text), "f")


def _scale(numbers: list[int]) -> Floats:
    """The distances of ascending numbers from the first: exact, or as parts of the whole range."""
    whole = numbers[-1] - numbers[0]
    unit = 1 if whole < WHOLE else whole
    return np.array([(number - numbers[0]) / unit for number in numbers])


def _quote(text: str) -> str:
    """Write a value for a list in braces: in quotes if it contains a separator or outer blanks.

    >>> _quote("a"), _quote("b,c"), _quote(" d")
    ('a', '"b,c"', '" d"')
    """
    if text and text == text.strip() and not QUOTED & set(text):
        return text
    return '"' + text.replace('"', '""') + '"'
