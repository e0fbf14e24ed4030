"""The names that columns may have, and the columns of a frame that an engine would misread."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from sievert.errors import InputError, UsageError, require
from sievert.formatting.remarks import Remark

EXACT = 2**53
UNNAMED_INDEX = ("index", "level_0")  # as pandas' reset_index calls it: the first that is free
TOO_FINE = re.compile(
    r"timedelta64\[ns|datetime64\[ns, |Duration\(time_unit='ns'|^duration\[ns|month_day_nano"
    r"|^date64|Datetime\(time_unit='ns', time_zone='|timestamp\[ns, tz|^decimal256|halffloat"
)


def check_names(names: Iterable[Any], where: str) -> tuple[str, ...]:
    """Check that names are text, not empty, and differ by more than case; return them."""
    names_by_form: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        require(
            isinstance(name, str),
            f"{where}: the label of column {number} is {type(name).__name__}, not text",
            hint="rename the columns",
        )
        require(
            name,
            f"{where}: column {number} has no name",
            hint="a name in the header",
            error=InputError,
        )
        folded = unicodedata.normalize("NFC", name).strip().casefold()
        other = names_by_form.get(folded)
        require(
            other is None,
            f"{where}: columns {other!r} and {name!r} have the same name (case, blanks and "
            "Unicode form do not count)",
            hint="rename one of them",
            error=InputError,
        )
        names_by_form[folded] = name
    require(names_by_form, f"{where}: no columns", error=InputError)
    return tuple(names_by_form.values())


def plain_frame(data: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a frame that engines can read, and the names of its columns."""
    kind = type(data).__name__
    library = _library(data)
    if kind == "LazyFrame" and library == "polars":
        try:
            data = data.collect()
        except Exception:  # its words may hold values
            raise InputError("the lazy frame cannot be computed", hint="its collect()") from None
    if kind == "DuckDBPyRelation":
        try:
            data = data.to_arrow_table()
        except Exception:  # its words may hold values
            raise InputError("the relation cannot be computed", hint="its df()") from None
    require(
        kind != "RecordBatchReader",
        "a RecordBatchReader can be read only once",
        hint="its read_all()",
    )
    if library == "pandas" and kind == "DataFrame":
        check_names(data.columns, "the frame")
        require(
            data.index.nlevels == 1,
            "a frame with several levels of rows",
            hint="frame.reset_index()",
        )
        require(
            data.columns.nlevels == 1,
            "a frame with several levels of columns",
            hint="flatten the columns",
        )
        data = _with_index(data)
        return _plain(data), tuple(data.columns)
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "schema"):
        names = getattr(data, "column_names", None) or data.columns
        return data, check_names(names, "the frame")
    raise UsageError(
        f"data of type {library}.{kind} is not understood",
        hint="a path, a pandas, Polars, Arrow or DuckDB table, or a dict of lists",
    )


def _with_index(frame: Any) -> Any:
    """Make the index of a pandas `frame` a column where it says more than the number of a row.

    pandas writes it into a file, so that it goes out with the columns. An index says more if it has
    a name, or if it does not number the rows 0, 1, 2, ... in their order: other numbers may be
    those of people, and a shuffled index gives the order away in which the rows once were.
    """
    import pandas as pd

    index = frame.index
    name = index.name
    if name is None:
        if index.equals(pd.RangeIndex(len(index))):
            return frame
        name = next((n for n in UNNAMED_INDEX if n not in frame.columns), UNNAMED_INDEX[0])
    if name in frame.columns and index.equals(pd.Index(frame[name])):
        return frame  # the column is kept beside the index that was made of it
    check_names([*frame.columns, name], "the frame")
    whole = frame.copy(deep=False)
    whole.insert(len(frame.columns), name, index)
    return whole


def index_note(data: Any, columns: tuple[str, ...]) -> tuple[Remark, ...]:
    """What to say of a frame whose index is one of the `columns` that are read."""
    if _library(data) != "pandas":
        return ()
    added = [name for name in columns if name not in data.columns]
    return tuple(Remark("index_of_frame", column=repr(name)) for name in added)


def _library(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def ordered_categories(frame: Any) -> dict[str, tuple[str, ...]]:
    """The order of the categories of each ordered column, as the engine spells them.

    Ordered columns are pandas' ordered categories and Polars' enumerations.
    """
    if _library(frame) == "pandas":
        return {
            name: tuple(str(c).lower() if isinstance(c, bool) else str(c) for c in kind.categories)
            for name, kind in frame.dtypes.items()
            if getattr(kind, "ordered", False)
        }
    kinds = frame.schema if _library(frame) == "polars" else {}
    return {n: tuple(k.categories) for n, k in kinds.items() if type(k).__name__ == "Enum"}


def too_fine(frame: Any, columns: tuple[str, ...]) -> dict[str, str]:
    """Columns whose type DuckDB would round, so that different values would become equal."""
    library = _library(frame)
    kinds: list[str] = []
    if library in ("pandas", "polars"):
        kinds = [str(k) for k in frame.dtypes]
    elif library == "pyarrow":
        kinds = [str(f.type) for f in frame.schema]
    return {
        name: f"is of type {kind}, which would be rounded"
        for name, kind in zip(columns, kinds, strict=False)
        if TOO_FINE.search(kind)
    }


def _too_large(frame: Any) -> dict[str, str]:
    """Float columns of whole numbers beyond 2^53: different integers have become equal in them."""
    unusable = {}
    for name, kind in frame.dtypes.items() if _library(frame) == "pandas" else ():
        if str(kind) in ("float64", "Float64"):
            values = frame[name].to_numpy(dtype=float, na_value=float("nan"))
            finite = values[abs(values) < float("inf")]
            if (finite % 1 == 0).all() and (abs(finite) > EXACT).any():
                unusable[str(name)] = (
                    "holds whole numbers beyond 2^53 as floats, which makes some equal"
                )
    return unusable


def unusable_columns(frame: Any, columns: tuple[str, ...]) -> dict[str, str]:
    """Columns in which different values have become equal or would become equal, and the reason."""
    return too_fine(frame, columns) | _too_large(frame)


def _decimal(number: Any) -> str | None:
    """Write a decimal in one spelling, with any number of digits: 1.0 and 1.00 are one value."""
    if number.is_nan():
        return None
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _plain(frame: Any) -> Any:
    """Make a pandas frame readable for an engine: intervals and periods become text."""
    from pandas.api.types import infer_dtype

    odd = {}
    for name, kind in frame.dtypes.items():
        # Text beside numbers in one column would silently become equal text.
        inferred = infer_dtype(frame[name], skipna=True) if str(kind) == "object" else ""
        require(
            not inferred.startswith("mixed"),
            f"column {name!r} holds values of mixed types",
            hint="frame[column].astype(str)",
            error=InputError,
        )
        if inferred == "decimal":
            odd[name] = frame[name].map(_decimal, na_action="ignore")
        elif str(kind).startswith(("interval", "period", "complex", "Sparse")):
            values = frame[name].astype(object)
            odd[name] = values.map(str).where(values.notna(), None)
        elif str(getattr(getattr(kind, "categories", None), "dtype", "")).startswith("interval"):
            odd[name] = frame[name].cat.rename_categories([str(c) for c in kind.categories])
    return frame.assign(**odd) if odd else frame
