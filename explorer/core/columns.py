"""What a metadata column holds, told from its values: numbers, dates, yes or no, categories, lists, texts.

Columns come as they lay in their files: numbers may be stored as text, dates as ISO 8601, truth as
``true``/``false``, several values in one cell as ``["a", "b"]``, ``a|b`` or ``a;b``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.labels import Labels

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = ("", "none", "nan", "null", "na", "n/a", "nat")
"""What stands, in any case, where there is no value."""
TRUE, FALSE = ("true", "yes", "t", "y"), ("false", "no", "f", "n")
FEW = 12
"""Whole numbers of so few different values are codes of something, rather than amounts."""
_SAMPLE = 2000
_SLICE = 20_000
_DATE = r"^\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?$"
_LONG_TEXT = 60
_SEPARATORS = ("|", ";")
_ITEM_END = "\x1f"


class Kind(StrEnum):
    """What a column's values are."""

    NUMBER = "numbers"
    DATE = "dates"
    BOOLEAN = "yes or no"
    CATEGORY = "categories"
    LIST = "lists"
    TEXT = "texts"


@dataclass(frozen=True, eq=False)
class Categories:
    """A category per row.

    Attributes
    ----------
    codes : int32 array, shape (rows,)
        0 for the commonest category, and so on; -1 for rows without one.
    names : tuple of str
    counts : int64 array, shape (len(names),)
    """

    codes: NDArray[np.int32]
    names: tuple[str, ...]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, codes: NDArray[np.integer], names: tuple[str, ...]) -> Categories:
        """Put categories in order: ``names[code]`` is each row's; a negative code is none.

        Equally common ones keep the order of ``names``; those of no row are left out.
        """
        placed = codes >= 0
        counts = np.bincount(codes[placed], minlength=len(names))
        order = np.argsort(-counts, kind="stable")[: int(np.count_nonzero(counts))]
        rank = np.full(len(names) + 1, -1, np.int32)
        rank[order] = np.arange(len(order))
        named = tuple(names[code] for code in order.tolist())
        return cls(rank[np.where(placed, codes, -1)], named, counts[order])


@dataclass(frozen=True, eq=False)
class Values:
    """A number per row.

    Attributes
    ----------
    values : float array, shape (rows,)
        NaN for rows without one. Dates are seconds since 1970, UTC.
    are_dates : bool
    """

    values: NDArray[np.floating]
    are_dates: bool = False

    def text(self, value: float) -> str:
        """A value in words."""
        return date_text(value) if self.are_dates else f"{value:.4g}"


class Column:
    """A metadata column, its forms worked out when first asked for.

    Parameters
    ----------
    name : str
    values : array, shape (rows,), or Arrow array of strings
        Numbers, booleans, dates or strings of fixed width; an Arrow array holds texts, null where
        missing.

    Attributes
    ----------
    kind : Kind
    """

    def __init__(self, name: str, values: NDArray | pa.Array) -> None:
        self.name = name
        self._values = values
        self.kind = self._recognise() if isinstance(values, np.ndarray) else Kind.TEXT

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """Numbers, dates (seconds since 1970, UTC), or 1 and 0 for yes and no; NaN where missing."""
        if self._values.dtype.kind == "M":
            return _seconds(self._values)
        if self._values.dtype.kind in "fiub":
            return self._values.astype(np.float64)
        if self.kind is Kind.BOOLEAN:
            return _truth(self.texts)
        if self.kind is Kind.DATE:
            return _dates(self.texts)
        return _floats(self.texts)

    @cached_property
    def texts(self) -> pa.Array:
        """The values as an Arrow array of strings, null where missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not isinstance(self._values, np.ndarray):
            return self._values
        if self._values.dtype.kind in "SU":
            plain = pc.utf8_trim_whitespace(_arrow_texts(self._values))
            missing = pc.is_in(pc.utf8_lower(plain), pa.array(MISSING))
            return pc.if_else(missing, pa.scalar(None, pa.string()), plain)
        known = ~np.isnan(self.numbers)
        words = [number_text(value) for value in self.numbers.tolist()]
        return pa.array(words, pa.string(), mask=~known)

    @cached_property
    def categories(self) -> Categories:
        """The values as categories; of lists, the first item."""
        if self.kind is Kind.BOOLEAN:
            codes = np.where(np.isnan(self.numbers), -1, self.numbers).astype(np.int32)
            return Categories.of(codes, ("no", "yes"))
        if self.kind in (Kind.NUMBER, Kind.DATE):
            known = ~np.isnan(self.numbers)
            found, places = np.unique(self.numbers[known], return_inverse=True)
            codes = np.full(len(self), -1, np.int32)
            codes[known] = places
            text = date_text if self.kind is Kind.DATE else number_text
            return Categories.of(codes, tuple(map(text, found.tolist())))
        if self.kind is Kind.LIST:
            codes = np.full(len(self), -1, np.int32)
            filled = np.flatnonzero(np.diff(self.items.starts))
            codes[filled] = self.items.codes[self.items.starts[filled]]
            return Categories.of(codes, self.items.names)
        return Categories.of(*_encoded(self.texts))

    @cached_property
    def items(self) -> Items:
        """All items of lists; of other columns, each value is its own only item."""
        if self.kind is not Kind.LIST:
            codes = self.categories.codes
            starts = np.concatenate([[0], np.cumsum(codes >= 0)])
            return Items(codes[codes >= 0], starts, self.categories.names)
        return _items(self.texts)

    @cached_property
    def is_coded(self) -> bool:
        """Whether numbers are whole and of so few different values that they stand for categories."""
        known = self.numbers[~np.isnan(self.numbers)] if self.kind is Kind.NUMBER else np.zeros(0)
        if not known.size or known.max() - known.min() > 1000 or np.any(known != np.rint(known)):
            return False
        return int(np.count_nonzero(np.bincount((known - known.min()).astype(np.int64)))) <= FEW

    def _recognise(self) -> Kind:
        """The kind that fits all values: told by a sample, then held against all."""
        if self._values.dtype.kind == "b":
            return Kind.BOOLEAN
        if self._values.dtype.kind == "M":
            return Kind.DATE
        if self._values.dtype.kind in "fiu":
            return Kind.NUMBER
        for kind, fits in (
            (Kind.BOOLEAN, _are_truths),
            (Kind.NUMBER, _are_numbers),
            (Kind.DATE, _are_dates),
            (Kind.LIST, _are_lists),
        ):
            sample = self.texts.drop_null()
            sample = sample.take(np.arange(0, len(sample), max(1, len(sample) // _SAMPLE)))
            if len(sample) and fits(sample) and fits(self.texts.drop_null()):
                return kind
        return Kind.TEXT if _are_texts(self.texts.drop_null()) else Kind.CATEGORY


@dataclass(frozen=True, eq=False)
class Items:
    """Several categories per row.

    Attributes
    ----------
    codes : int32 array, shape (items,)
        Row by row.
    starts : int64 array, shape (rows + 1,)
        Row *i* has the items ``codes[starts[i]:starts[i + 1]]``.
    names : tuple of str
    """

    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    names: tuple[str, ...]

    def rows_with(self, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which rows have an item whose code is wanted, shape (rows,)."""
        hits = np.concatenate([[0], np.cumsum(wanted[self.codes])])
        return np.asarray(np.diff(hits[self.starts]) > 0)


class Columns(Mapping[str, Column]):
    """A table's metadata columns by name, each recognised when first asked for."""

    def __init__(self, metadata: Mapping[str, NDArray]) -> None:
        self._metadata = metadata
        self._known: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._known:
            self._known[name] = Column(name, self._metadata[name])
        return self._known[name]

    def known(self, name: str) -> Column | None:
        """A column that has been recognised already; None for any other."""
        return self._known.get(name)

    def __iter__(self) -> Any:
        return iter(self._metadata)

    def __len__(self) -> int:
        return len(self._metadata)


def label_column(labels: Labels) -> Column:
    """A table's labels as a column of texts; nothing is copied."""
    import pyarrow as pa

    known = np.packbits(~labels.missing, bitorder="little")
    buffers = [pa.py_buffer(known), pa.py_buffer(labels.offsets), pa.py_buffer(labels.blob)]
    return Column("label", pa.Array.from_buffers(pa.large_string(), len(labels), buffers))


def number_text(value: float) -> str:
    """A number as briefly as it is known."""
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.12g}"


def date_text(seconds: float) -> str:
    """A date, with its time of day where that is not midnight; ``?`` where it is beyond the calendar."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return "?"
    return moment.strftime(
        "%Y-%m-%d" if moment.hour == moment.minute == moment.second == 0 else "%Y-%m-%d %H:%M"
    )


def _arrow_texts(values: NDArray) -> pa.Array:
    """Strings of fixed width as Arrow's, a slice at a time: other threads get their turns between."""
    import pyarrow as pa

    slices = [values[start : start + _SLICE] for start in range(0, max(len(values), 1), _SLICE)]
    return pa.concat_arrays([pa.array(each.astype(np.str_, copy=False), pa.string()) for each in slices])


def _are_truths(texts: pa.Array) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    return bool(pc.all(pc.is_in(pc.utf8_lower(texts), pa.array((*TRUE, *FALSE)))).as_py())


def _are_numbers(texts: pa.Array) -> bool:
    import pyarrow.compute as pc

    try:
        _floats(texts)
    except ValueError:
        return False
    # Python reads "1_000" as a number; people mean a name by it.
    return not pc.any(pc.match_substring(texts, "_")).as_py()


def _are_dates(texts: pa.Array) -> bool:
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(texts, _DATE)).as_py():
        return False
    try:
        _dates(texts)
    except ValueError:  # 2021-02-30
        return False
    return True


def _are_lists(texts: pa.Array) -> bool:
    """Every cell in brackets, or separators in a good part of the cells between items that come again."""
    import pyarrow.compute as pc

    if pc.all(pc.match_substring_regex(texts, r"^\[.*\]$")).as_py():
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


def _are_texts(texts: pa.Array) -> bool:
    """Whether values are sentences or names of their own, rather than categories."""
    import pyarrow.compute as pc

    if not len(texts):
        return False
    different = len(texts.unique())
    return different > 20 and (
        different > len(texts) / 2 or pc.mean(pc.utf8_length(texts)).as_py() > _LONG_TEXT
    )


def _floats(texts: pa.Array) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        # NumPy reads what Arrow does not: "1e5 ", "+3", "Infinity".
        cast = pc.cast(texts, pa.float64())
    except pa.ArrowInvalid:
        plain = np.asarray(texts.to_numpy(zero_copy_only=False), object)
        return np.array([np.nan if text is None else float(text) for text in plain.tolist()])
    return np.asarray(cast.to_numpy(zero_copy_only=False), np.float64)


def _truth(texts: pa.Array) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    yes = pc.is_in(pc.utf8_lower(texts), pa.array(TRUE)).to_numpy(zero_copy_only=False)
    return np.where(texts.is_null().to_numpy(zero_copy_only=False), np.nan, yes)


def _dates(texts: pa.Array) -> NDArray[np.float64]:
    """Seconds since 1970; a time without a zone is UTC."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            micros = pc.cast(pc.cast(texts, kind), pa.int64())
        except pa.ArrowInvalid:
            continue
        return np.asarray(pc.divide(pc.cast(micros, pa.float64()), 1e6).to_numpy(zero_copy_only=False))
    # Months alone, or zones in some cells only.
    return np.array([np.nan if text is None else _moment(text) for text in texts.to_pylist()])


def _moment(text: str) -> float:
    """Seconds since 1970 of one date in any of the shapes known; a month is its first day."""
    moment = datetime.fromisoformat(f"{text}-01" if len(text) == len("2020-01") else text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _seconds(dates: NDArray) -> NDArray[np.float64]:
    seconds = dates.astype("datetime64[ms]").astype(np.int64) / 1000
    return np.asarray(np.where(np.isnat(dates), np.nan, seconds))


def _encoded(texts: pa.Array) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """A code per row, -1 for null, and what each stands for."""
    encoded = texts.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int32), tuple(encoded.dictionary.to_pylist())


def _items(texts: pa.Array) -> Items:
    """Split cells at what parts their items."""
    import pyarrow.compute as pc

    known = texts.drop_null()
    if len(known) and pc.all(pc.match_substring_regex(known, r"^\[.*\]$")).as_py():
        inside = pc.replace_substring_regex(texts, r"^\[\s*|\s*\]$", "")
        # Quotation marks end an item only beside a comma: "Paris, France" and "it's" stay whole.
        quoted = pc.replace_substring_regex(inside, r"""(["'])\s*,\s*(["'])""", _ITEM_END)
        bare = pc.replace_substring_regex(inside, r"\s*,\s*", _ITEM_END)
        cells = pc.if_else(pc.match_substring_regex(inside, r"""^["']"""), quoted, bare)
        cells = pc.replace_substring_regex(cells, r"""^["']|["']$""", "")
        lists = pc.split_pattern(cells, _ITEM_END)
    else:
        lists = pc.split_pattern(texts, _separator(known) or _ITEM_END)
    flat = pc.utf8_trim_whitespace(pc.list_flatten(lists))
    sizes = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    codes, names = _encoded(pc.if_else(pc.equal(flat, ""), None, flat))
    kept = codes >= 0
    starts = np.concatenate([[0], np.cumsum(kept)])[np.concatenate([[0], np.cumsum(sizes)])]
    return Items(codes[kept], starts, names)
