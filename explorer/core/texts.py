"""Texts of a metadata column, held compactly: a long one costs what it is long, not as much in every row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

MOST_PADDED = 3
"""Strings of fixed width may be padded to so many times the characters of their texts."""


@dataclass(frozen=True, eq=False)
class Texts:
    """A text for each row, blank where there is none. Rows are picked as an array's are.

    Attributes
    ----------
    blob : uint8 array
        All texts in UTF-8, one after the other; a lone surrogate is written ``\\udcXX``.
    offsets : int64 array, shape (rows + 1,)
        Text *i* is ``blob[offsets[i]:offsets[i + 1]]``.
    """

    blob: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        """Pack texts."""
        encoded = [text.encode("utf-8", "backslashreplace") for text in texts]
        sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return cls(np.frombuffer(b"".join(encoded), np.uint8), np.concatenate([[0], np.cumsum(sizes)]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, rows: int | np.integer[Any]) -> str: ...
    @overload
    def __getitem__(self, rows: NDArray[np.integer] | slice) -> Texts: ...
    def __getitem__(self, rows: int | np.integer[Any] | NDArray[np.integer] | slice) -> str | Texts:
        """One row's text, or some rows' texts."""
        if isinstance(rows, int | np.integer):
            return self.blob[self.offsets[rows] : self.offsets[rows + 1]].tobytes().decode()
        picked = np.arange(len(self))[rows]
        return Texts.of(self[row] for row in picked.tolist())

    def __iter__(self) -> Iterator[str]:
        return (self[row] for row in range(len(self)))

    def tolist(self) -> list[str]:
        """All texts, as an array gives them."""
        return list(self)

    @property
    def arrow(self) -> pa.Array:
        """The texts for Arrow; nothing is copied."""
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.blob)]
        return pa.Array.from_buffers(pa.large_string(), len(self), buffers)


def texts_of(values: list[str]) -> NDArray[np.str_] | Texts:
    """Texts in fixed width, which is quickest to read; packed where that would take many times as much."""
    longest = max(map(len, values), default=0)
    if longest * len(values) > MOST_PADDED * (sum(map(len, values)) + 8 * len(values)):
        return Texts.of(values)
    return np.array(values, np.str_)
