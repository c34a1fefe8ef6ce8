"""The rows that a condition holds for."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.core.column_texts import FALSE, MISSING, TRUE
from explorer.core.columns import Column, Kind
from explorer.core.filter_query import (
    And,
    Comparison,
    Condition,
    FilterError,
    LabelText,
    Not,
    Or,
    Token,
    as_typed,
)

if TYPE_CHECKING:
    import pyarrow as pa

Mask = NDArray[np.bool_]
_ORDERS: dict[str, Callable] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_MOST_COMPARED = 10_000
"""So many of the commonest values are held beside a mistyped one."""
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?)?)?)?")


def rows_fitting(condition: Condition, columns: Mapping[str, Column], rows: int) -> Mask:
    """Which rows a condition holds for.

    A row without a value fits no comparison but ``!=`` and ``!~``.

    Parameters
    ----------
    condition : Condition
    columns : mapping of str to Column
        What the condition may speak of, ``label`` included.
    rows : int

    Returns
    -------
    bool array, shape (rows,)

    Raises
    ------
    FilterError
        Where a column is unknown, a value does not suit it, or a regular expression is not one.
    """
    match condition:
        case And(parts):
            return np.asarray(np.logical_and.reduce([rows_fitting(part, columns, rows) for part in parts]))
        case Or(parts):
            return np.asarray(np.logical_or.reduce([rows_fitting(part, columns, rows) for part in parts]))
        case Not(part):
            return ~rows_fitting(part, columns, rows)
        case LabelText(value):
            column = find_column(Token("word", "label", value.start, value.end), columns)
            return _holding(column, value)
        case Comparison(name, how, values):
            return _compared(find_column(name, columns), how, values)


def find_column(name: Token, columns: Mapping[str, Column]) -> Column:
    """The column of that name, in upper or lower case.

    Raises
    ------
    FilterError
        Naming the closest one.
    """
    if name.text in columns:
        return columns[name.text]
    folded = {known.casefold(): known for known in columns}
    if name.text.casefold() in folded:
        return columns[folded[name.text.casefold()]]
    if name.text == "label":
        raise FilterError("This table has no labels.", start=name.start, end=name.end)
    close = get_close_matches(name.text.casefold(), folded, 1)
    hint = f"Did you mean {as_typed(folded[close[0]])}?" if close else ""
    raise FilterError(f"There is no column {name.text}.", hint, start=name.start, end=name.end)


def _compared(column: Column, how: str, values: tuple[Token, ...]) -> Mask:
    value = values[0]
    match how:
        case "!=":
            return ~_equal(column, value)
        case "=" | "in":
            return np.asarray(np.logical_or.reduce([_equal(column, each) for each in values]))
        case "is":
            return _missing(column)
        case "contains":
            return _holding(column, value)
        case "~":
            return _matching(column, value)
        case "!~":
            return ~_matching(column, value)
    return _ordered(column, how, value)


def _missing(column: Column) -> Mask:
    if column.kind in (Kind.NUMBER, Kind.DATE, Kind.BOOLEAN):
        return np.isnan(column.numbers)
    if column.kind is Kind.LIST:
        return np.asarray(np.diff(column.items.starts) == 0)
    return np.asarray(column.texts.is_null().to_numpy(zero_copy_only=False))


def _ordered(column: Column, how: str, value: Token) -> Mask:
    if column.kind is Kind.NUMBER:
        return np.asarray(_ORDERS[how](*_numbers(column, value)))
    if column.kind is Kind.DATE:
        start, end = _span(column, value)
        # A year is over only when the next one begins: > 2020 is from 2021 on.
        late = how in (">", "<=")
        plain = {">": ">=", "<=": "<"}.get(how, how)
        return np.asarray(_ORDERS[plain](column.numbers, end if late else start))
    raise _fault(
        value, f"{column.name} holds {column.kind}, which are neither less nor more.", "Use =, contains or ~."
    )


def _equal(column: Column, value: Token) -> Mask:
    if column.kind is Kind.NUMBER:
        return np.asarray(np.equal(*_numbers(column, value)))
    if column.kind is Kind.DATE:
        start, end = _span(column, value)
        return (column.numbers >= start) & (column.numbers < end)
    if column.kind is Kind.BOOLEAN:
        return np.equal(column.numbers, _truth(column, value))
    if column.kind is Kind.TEXT:
        import pyarrow.compute as pc

        return _mask(pc.equal(pc.utf8_lower(column.texts), value.text.lower()))
    items = column.items if column.kind is Kind.LIST else None
    names = items.names if items is not None else column.categories.names
    fits = np.zeros(len(names) + 1, np.bool_)
    fits[_codes_of(value, column, names)] = True
    return fits[column.categories.codes] if items is None else items.rows_with(fits)


def _codes_of(value: Token, column: Column, names: tuple[str, ...]) -> list[int]:
    """The category of that very name; else all that differ by upper and lower case alone."""
    if value.text in names:
        return [names.index(value.text)]
    folded = [name.casefold() for name in names]
    wanted = value.text.casefold()
    codes = [code for code, name in enumerate(folded) if name == wanted]
    if not codes:
        if wanted.strip() in MISSING:
            hint = f"For rows without one write: {as_typed(column.name)} is missing."
        else:
            close = get_close_matches(wanted, folded[:_MOST_COMPARED], 1)
            hint = f"Did you mean {as_typed(names[folded.index(close[0])])}?" if close else ""
        raise _fault(value, f"No row has {as_typed(value.text)} as its {column.name}.", hint)
    return codes


def _holding(column: Column, value: Token) -> Mask:
    """Rows whose text has the value in it, in upper or lower case."""
    import pyarrow.compute as pc

    if value.kind == "pattern":
        return _matching(column, value)
    # Lowering both is several times as quick as RE2's folding.
    return _mask(pc.match_substring(pc.utf8_lower(column.texts), value.text.lower()))


def _matching(column: Column, value: Token) -> Mask:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return _mask(pc.match_substring_regex(column.texts, value.text))
    except pa.ArrowInvalid as error:
        reason, _, piece = str(error).removeprefix("Invalid regular expression: ").partition(": ")
        where = f' in "{piece}"' if piece else ""
        beyond = reason in ("invalid perl operator", "invalid escape sequence")
        raise _fault(
            value,
            f"This is no regular expression that can be used: {reason}{where}.",
            "Lookaround and backreferences are not known." if beyond else "",
        ) from error


def _mask(found: pa.Array) -> Mask:
    return np.asarray(found.fill_null(False).to_numpy(zero_copy_only=False))


def _numbers(column: Column, value: Token) -> tuple[NDArray, float]:
    try:
        return column.held_against(value.text)
    except ValueError:
        raise _fault(value, f"{value.text} is not a number, as {column.name} is.") from None


def _truth(column: Column, value: Token) -> float:
    word = value.text.lower()
    if word in (*TRUE, "1"):
        return 1.0
    if word in (*FALSE, "0"):
        return 0.0
    raise _fault(value, f"{column.name} is yes or no; {value.text} is neither.")


def _span(column: Column, value: Token) -> tuple[float, float]:
    """The first second of a year, month, day, minute or second, and the first one after it."""
    match = _DATE.fullmatch(value.text)
    try:
        if match is None:
            raise ValueError
        year, month, day, hour, minute, second = (
            None if part is None else int(part) for part in match.groups()
        )
        start = datetime(year or 0, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=UTC)
        if day is not None:
            step = timedelta(days=1) if hour is None else timedelta(seconds=60 if second is None else 1)
            end = start + step
        elif month is not None:
            end = start.replace(year=start.year + month // 12, month=month % 12 + 1)
        else:
            end = start.replace(year=start.year + 1)
    except (ValueError, OverflowError):
        raise _fault(
            value,
            f"{value.text} is not a date.",
            "Write a year, a month or a day: 2020, 2020-05, 2020-05-31.",
        ) from None
    return start.timestamp(), end.timestamp()


def _fault(value: Token, message: str, hint: str = "") -> FilterError:
    return FilterError(f"Position {value.start + 1}: {message}", hint, start=value.start, end=value.end)
