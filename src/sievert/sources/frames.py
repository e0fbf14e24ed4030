"""Frames of pandas, Polars and Arrow: their names, and the columns that an engine would misread."""

from __future__ import annotations

import re
from typing import Any

from sievert.errors import InputError, UsageError
from sievert.sources.names import check_names

EXACT = 2**53
TOO_FINE = re.compile(
    r"timedelta64\[ns|datetime64\[ns, |Duration\(time_unit='ns'|^duration\[ns|month_day_nano"
    r"|^date64|Datetime\(time_unit='ns', time_zone='|timestamp\[ns, tz|^decimal256|halffloat"
)


def plain_frame(data: Any) -> tuple[Any, tuple[str, ...]]:
    kind = type(data).__name__
    library = type(data).__module__.partition(".")[0]
    if kind == "LazyFrame" and library == "polars":
        try:
            data = data.collect()
        except Exception:  # its words may hold values
            raise InputError("the lazy frame cannot be computed", hint="its collect()") from None
    if kind == "RecordBatchReader":
        raise UsageError("a RecordBatchReader can be read only once", hint="its read_all()")
    if library == "pandas" and kind == "DataFrame":
        names = check_names(data.columns, "the frame")
        if data.index.nlevels > 1:
            raise UsageError("a frame with several levels of rows", hint="frame.reset_index()")
        if data.columns.nlevels > 1:
            raise UsageError("a frame with several levels of columns", hint="flatten the columns")
        return _plain(data), names
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "schema"):
        names = getattr(data, "column_names", None) or data.columns
        return data, check_names(names, "the frame")
    raise UsageError(
        f"data of type {library}.{kind} is not understood",
        hint="a path, a pandas, Polars or Arrow table, or a dict of lists",
    )


def ordered_categories(frame: Any) -> dict[str, tuple[str, ...]]:
    """The order of categories that have one: pandas' ordered ones, Polars' enumerations."""
    library = type(frame).__module__.partition(".")[0]
    if library == "pandas":
        return {
            name: tuple(_spell(c) for c in kind.categories)
            for name, kind in frame.dtypes.items()
            if getattr(kind, "ordered", False)
        }
    if library == "polars":
        kinds = frame.schema.items()
        return {n: tuple(k.categories) for n, k in kinds if type(k).__name__ == "Enum"}
    return {}


def too_fine(frame: Any, columns: tuple[str, ...]) -> dict[str, str]:
    """Columns whose type DuckDB would round: what differs by less would become equal."""
    library = type(frame).__module__.partition(".")[0]
    if library == "pandas" or library == "polars":
        kinds = [str(k) for k in frame.dtypes]
    else:
        kinds = [str(f.type) for f in frame.schema] if library == "pyarrow" else []
    return {
        name: f"is of type {kind}, which would be rounded"
        for name, kind in zip(columns, kinds, strict=False)
        if TOO_FINE.search(kind)
    }


def _too_large(frame: Any) -> dict[str, str]:
    """Float columns of whole numbers beyond 2^53: different integers have become equal in them."""
    if type(frame).__module__.partition(".")[0] != "pandas":
        return {}
    unusable = {}
    for name, kind in frame.dtypes.items():
        if str(kind) in ("float64", "Float64"):
            values = frame[name].to_numpy(dtype=float, na_value=float("nan"))
            finite = values[abs(values) < float("inf")]
            if (finite % 1 == 0).all() and (abs(finite) > EXACT).any():
                unusable[str(name)] = (
                    "holds whole numbers beyond 2^53 as floats, which makes some equal"
                )
    return unusable


def unusable_columns(frame: Any, columns: tuple[str, ...]) -> dict[str, str]:
    """Columns in which different values have become equal, or would, and why."""
    return too_fine(frame, columns) | _too_large(frame)


def _spell(category: Any) -> str:
    """A category as the engine spells it."""
    return str(category).lower() if isinstance(category, bool) else str(category)


def _decimal(number: Any) -> str | None:
    """A decimal as text in one spelling: 1.0 and 1.00 are one value, however many digits."""
    if number.is_nan():
        return None
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _plain(frame: Any) -> Any:
    """A pandas frame whose columns an engine can read: intervals and periods become text."""
    from pandas.api.types import infer_dtype

    odd = {}
    for name, kind in frame.dtypes.items():
        # Text beside numbers in one column would silently become equal text.
        if str(kind) == "object" and infer_dtype(frame[name], skipna=True).startswith("mixed"):
            raise InputError(
                f"column {name!r} holds values of mixed types", hint="frame[column].astype(str)"
            )
        decimals = str(kind) == "object" and infer_dtype(frame[name], skipna=True) == "decimal"
        if decimals:
            values = frame[name]
            odd[name] = values.map(_decimal, na_action="ignore")
        elif str(kind).startswith(("interval", "period", "complex", "Sparse")):
            values = frame[name].astype(object)
            odd[name] = values.map(str).where(values.notna(), None)
        elif str(getattr(getattr(kind, "categories", None), "dtype", "")).startswith("interval"):
            odd[name] = frame[name].cat.rename_categories([str(c) for c in kind.categories])
    return frame.assign(**odd) if odd else frame
