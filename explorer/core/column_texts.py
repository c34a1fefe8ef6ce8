"""Texts of a metadata column as what they stand for: truth, numbers, dates, categories, lists of items."""

from __future__ import annotations

import json
import re
from array import array
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = ("", "none", "nan", "null", "na", "n/a", "nat")
"""What stands, in any case, where there is no value."""
TRUE, FALSE = ("true", "yes", "t", "y"), ("false", "no", "f", "n")
_SLICE = 20_000
_DATE = r"^\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?$"
_LONG_TEXT = 60
_SEPARATORS = ("|", ";")
_BRACKETS = r"^\[.*\]$"
_QUOTED_END = r"""(?<=["'])\s*,\s*(?=["'])"""


def arrow_texts(values: NDArray) -> pa.Array:
    """Strings of fixed width as Arrow's, a slice at a time: other threads get their turns between."""
    import pyarrow as pa

    slices = [values[start : start + _SLICE] for start in range(0, max(len(values), 1), _SLICE)]
    return pa.concat_arrays([pa.array(each.astype(np.str_, copy=False), pa.string()) for each in slices])


def are_truths(texts: pa.Array) -> bool:
    """Whether all say yes or no."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return bool(pc.all(pc.is_in(pc.utf8_lower(texts), pa.array((*TRUE, *FALSE), texts.type))).as_py())


def are_numbers(texts: pa.Array) -> bool:
    """Whether all are numbers."""
    import pyarrow.compute as pc

    try:
        floats_of(texts)
    except ValueError:
        return False
    # Python reads "1_000" as a number; people mean a name by it.
    return not pc.any(pc.match_substring(texts, "_")).as_py()


def are_dates(texts: pa.Array) -> bool:
    """Whether all are dates of ISO 8601 that there are in the calendar."""
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(texts, _DATE)).as_py():
        return False
    try:
        dates_of(texts)
    except ValueError:  # 2021-02-30
        return False
    return True


def are_lists(texts: pa.Array) -> bool:
    """Every cell in brackets, or separators in a good part of the cells between items that come again."""
    import pyarrow.compute as pc

    if pc.all(pc.match_substring_regex(texts, _BRACKETS)).as_py():
        return True
    separator = _separator(texts)
    if separator is None:
        return False
    items = pc.list_flatten(pc.split_pattern(texts, separator))
    return len(items.unique()) <= len(items) / 2 and pc.max(pc.utf8_length(items)).as_py() <= _LONG_TEXT


def _separator(texts: pa.Array) -> str | None:
    import pyarrow.compute as pc

    for separator in _SEPARATORS:
        if pc.mean(pc.match_substring(texts, separator)).as_py() >= 0.2:
            return separator
    return None


def are_texts(texts: pa.Array) -> bool:
    """Whether values are sentences or names of their own, rather than categories."""
    import pyarrow.compute as pc

    if not len(texts):
        return False
    different = len(texts.unique())
    return different > 20 and (
        different > len(texts) / 2 or pc.mean(pc.utf8_length(texts)).as_py() > _LONG_TEXT
    )


def floats_of(texts: pa.Array) -> NDArray[np.float64]:
    """The numbers that texts are; NaN where null. ValueError where one is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        # NumPy reads what Arrow does not: "1e5 ", "+3", "Infinity".
        cast = pc.cast(texts, pa.float64())
    except pa.ArrowInvalid:
        plain = np.asarray(texts.to_numpy(zero_copy_only=False), object)
        return np.array([np.nan if text is None else float(text) for text in plain.tolist()])
    return np.asarray(cast.to_numpy(zero_copy_only=False), np.float64)


def truth_of(texts: pa.Array) -> NDArray[np.float64]:
    """1 for yes, 0 for no; NaN where null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    yes = pc.is_in(pc.utf8_lower(texts), pa.array(TRUE, texts.type)).to_numpy(zero_copy_only=False)
    return np.where(texts.is_null().to_numpy(zero_copy_only=False), np.nan, yes)


def dates_of(texts: pa.Array) -> NDArray[np.float64]:
    """Seconds since 1970; a time without a zone is UTC."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            micros = pc.cast(pc.cast(texts, kind), pa.int64())
        except pa.ArrowInvalid:
            continue
        seconds = micros.fill_null(0).to_numpy(zero_copy_only=False) / 1e6
        return np.asarray(np.where(micros.is_null().to_numpy(zero_copy_only=False), np.nan, seconds))
    # Months alone, or zones in some cells only.
    return np.array([np.nan if text is None else _moment(text) for text in texts.to_pylist()])


def _moment(text: str) -> float:
    """Seconds since 1970 of one date in any of the shapes known; a month is its first day."""
    moment = datetime.fromisoformat(f"{text}-01" if len(text) == len("2020-01") else text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def seconds_of(dates: NDArray) -> NDArray[np.float64]:
    """Seconds since 1970 of an array of dates; NaN where there is none."""
    seconds = dates.astype("datetime64[ms]").astype(np.int64) / 1000
    return np.asarray(np.where(np.isnat(dates), np.nan, seconds))


def encoded(texts: pa.Array) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """A code per row, -1 for null, and what each stands for."""
    encoded = texts.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int32), tuple(encoded.dictionary.to_pylist())


def items_of(texts: pa.Array) -> tuple[NDArray[np.int32], NDArray[np.int64], tuple[str, ...]]:
    """Split cells at what parts their items: each item's code, each row's start among them, and the names."""
    import pyarrow.compute as pc

    known = texts.drop_null()
    bracketed = len(known) > 0 and pc.all(pc.match_substring_regex(known, _BRACKETS)).as_py()
    separator = None if bracketed else _separator(known)
    # Many rows have the same list: each is split once.
    cells, different = encoded(texts)
    codes: dict[str, int] = {}
    items, sizes = array("i"), array("q")
    for cell in different:
        parts = _listed(cell) if bracketed else cell.split(separator) if separator else [cell]
        before = len(items)
        items.extend(codes.setdefault(item, len(codes)) for part in parts if (item := part.strip()))
        sizes.append(len(items) - before)
    size = np.append(np.array(sizes, np.int64), 0)
    first = np.concatenate([[0], np.cumsum(size)])[:-1]
    starts = np.concatenate([[0], np.cumsum(size[cells])])
    places = np.arange(starts[-1]) + np.repeat(first[cells] - starts[:-1], size[cells])
    return np.array(items, np.int32)[places], starts, tuple(codes)


def _listed(cell: str) -> list[str]:
    """The items of a list in brackets, as JSON or Python write it, those that are no value left out."""
    try:
        read = json.loads(cell, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        inside = cell[1:-1].strip()
        # Quotation marks end an item only beside a comma: "Paris, France" and "it's" stay whole.
        apart = _QUOTED_END if inside.startswith(("'", '"')) else ","
        parts = [part.strip() for part in re.split(apart, inside)]
        return [part.strip("'\"") for part in parts if part.lower() not in MISSING]
    return [item if isinstance(item, str) else json.dumps(item) for item in read if item is not None]
