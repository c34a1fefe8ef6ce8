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

from explorer.core.column_texts import (
    MISSING,
    are_dates,
    are_lists,
    are_numbers,
    are_texts,
    are_truths,
    arrow_texts,
    dates_of,
    encoded,
    floats_of,
    items_of,
    seconds_of,
    truth_of,
)
from explorer.core.labels import Labels
from explorer.core.texts import Texts

if TYPE_CHECKING:
    import pyarrow as pa

FEW = 12
"""Whole numbers of so few values, each there more than once, are codes of something rather than amounts."""
_SAMPLE = 2000


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
    values : array, shape (rows,), or Texts, or Arrow array of strings
        Numbers, booleans, dates or strings; an Arrow array holds texts, null where missing.

    Attributes
    ----------
    kind : Kind
    """

    def __init__(self, name: str, values: NDArray | Texts | pa.Array) -> None:
        self.name = name
        self._values: Any = values
        self._type = values.dtype.kind if isinstance(values, np.ndarray) else "U"
        self.kind = self._recognise() if isinstance(values, np.ndarray | Texts) else Kind.TEXT

    @classmethod
    def coded(cls, name: str, codes: NDArray[np.integer], names: tuple[str, ...]) -> Column:
        """A column of categories: ``names[code]`` is each row's; a negative code is none."""
        import pyarrow as pa

        known = pa.array(codes.astype(np.int32), mask=codes < 0)
        column = cls(
            name, pa.DictionaryArray.from_arrays(known, pa.array(names, pa.string())).cast(pa.string())
        )
        column.kind = Kind.CATEGORY
        return column

    def __len__(self) -> int:
        return len(self._values)

    @property
    def has_items(self) -> bool:
        """Whether ``items`` have been worked out."""
        return "items" in self.__dict__

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """Numbers, dates (seconds since 1970, UTC), or 1 and 0 for yes and no; NaN where missing."""
        if self._type == "M":
            return seconds_of(self._values)
        if self._type in "fiub":
            return np.asarray(self._values, np.float64)
        if self.kind is Kind.BOOLEAN:
            return truth_of(self.texts)
        if self.kind is Kind.DATE:
            return dates_of(self.texts)
        return floats_of(self.texts)

    @cached_property
    def texts(self) -> pa.Array:
        """The values as an Arrow array of strings, null where missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not isinstance(self._values, np.ndarray | Texts):
            return self._values
        if self._type in "SU":
            plain = pc.utf8_trim_whitespace(self._plain_texts())
            missing = pc.is_in(pc.utf8_lower(plain), pa.array(MISSING, plain.type))
            return pc.if_else(missing, pa.scalar(None, plain.type), plain)
        codes, names = self.categories.codes, self.categories.names
        words = pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(names, pa.string()))
        return words.cast(pa.string())

    def _plain_texts(self) -> pa.Array:
        return self._values.arrow if isinstance(self._values, Texts) else arrow_texts(self._values)

    @cached_property
    def categories(self) -> Categories:
        """The values as categories; of lists, the first item."""
        if self.kind is Kind.BOOLEAN:
            codes = np.where(np.isnan(self.numbers), -1, self.numbers).astype(np.int32)
            return Categories.of(codes, ("no", "yes"))
        if self.kind in (Kind.NUMBER, Kind.DATE):
            known = ~np.isnan(self.numbers)
            exact = self._values if self._type in "iuf" else self.numbers
            found, places = np.unique(exact[known], return_inverse=True)
            codes = np.full(len(self), -1, np.int32)
            codes[known] = places
            return Categories.of(codes, self._words(found))
        if self.kind is Kind.LIST:
            codes = np.full(len(self), -1, np.int32)
            filled = np.flatnonzero(np.diff(self.items.starts))
            codes[filled] = self.items.codes[self.items.starts[filled]]
            return Categories.of(codes, self.items.names)
        return Categories.of(*encoded(self.texts))

    def _words(self, found: NDArray) -> tuple[str, ...]:
        """Numbers or dates in words, as briefly as their own type knows them: 0.1, not 0.10000000149."""
        if self.kind is Kind.DATE:
            return tuple(map(date_text, found.tolist()))
        if self._type in "iu":
            return tuple(map(str, found.tolist()))
        if found.dtype.itemsize < 8:
            found = np.array([float(str(value)) for value in found], np.float64)
        return tuple(map(number_text, found.tolist()))

    def held_against(self, text: str) -> tuple[NDArray, float]:
        """The numbers and a typed one, to be compared as exactly as the numbers are stored.

        Whole numbers stay whole, however large; what is stored in few bits is compared in these: a column of
        float32 has the row 0.1 that its card shows.

        Raises
        ------
        ValueError
            The text is no number.
        """
        number = float(text)
        if self._type in "iu" and text.strip().lstrip("+-").isdecimal():
            return self._values, int(text)
        if self._type == "f":
            with np.errstate(over="ignore"):
                return self._values, self._values.dtype.type(number)
        return self.numbers, number

    @cached_property
    def items(self) -> Items:
        """All items of lists; of other columns, each value is its own only item."""
        if self.kind is not Kind.LIST:
            codes = self.categories.codes
            starts = np.concatenate([[0], np.cumsum(codes >= 0)])
            return Items(codes[codes >= 0], starts, self.categories.names)
        return Items(*items_of(self.texts))

    @cached_property
    def is_coded(self) -> bool:
        """Whether numbers are whole and of so few different values that they stand for categories."""
        known = self.numbers[~np.isnan(self.numbers)] if self.kind is Kind.NUMBER else np.zeros(0)
        if not known.size or known.max() - known.min() > 1000 or np.any(known != np.rint(known)):
            return False
        different = np.count_nonzero(np.bincount((known - known.min()).astype(np.int64)))
        return bool(different <= min(FEW, len(known) // 2))

    def _recognise(self) -> Kind:
        """The kind that fits all values: told by a sample, then held against all."""
        if self._type == "b":
            return Kind.BOOLEAN
        if self._type == "M":
            return Kind.DATE
        if self._type in "fiu":
            return Kind.NUMBER
        for kind, fits in (
            (Kind.BOOLEAN, are_truths),
            (Kind.NUMBER, are_numbers),
            (Kind.DATE, are_dates),
            (Kind.LIST, are_lists),
        ):
            sample = self.texts.drop_null()
            sample = sample.take(np.arange(0, len(sample), max(1, len(sample) // _SAMPLE)))
            if len(sample) and fits(sample) and fits(self.texts.drop_null()):
                return kind
        return Kind.TEXT if are_texts(self.texts.drop_null()) else Kind.CATEGORY


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

    def __init__(self, metadata: Mapping[str, NDArray | Texts]) -> None:
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
