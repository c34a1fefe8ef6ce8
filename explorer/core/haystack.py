"""Many short texts in one byte string, searched at once by beginning, whole, part and spelling.

The texts lie one after the other, parted by 0xFF, which UTF-8 never holds. A million of them are
ten megabytes, through which ``bytes.find`` runs in a few milliseconds; what a text begins with is
found quicker still, as the rows are sorted by their first two bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

SEPARATOR = b"\xff"


class Haystack:
    """Texts in UTF-8, one a row.

    Parameters
    ----------
    slices : list of bytes
        The texts in row order, each behind a separator.

    Attributes
    ----------
    data : bytes
        All texts, each between two separators.
    starts : int64 array, shape (rows + 1,)
        Where each text's separator stands, and at last the closing one.
    """

    def __init__(self, slices: list[bytes]) -> None:
        self.data = b"".join((*slices, SEPARATOR))
        self._bytes = np.frombuffer(self.data, np.uint8)
        self.starts: NDArray[np.int64] = np.flatnonzero(self._bytes == 0xFF)

    def sort(self) -> None:
        """Sort the rows by the first two bytes of their texts, else by row; wanted by what follows."""
        first = self._bytes[self.starts[:-1] + 1].astype(np.uint16)
        second = self._bytes[np.minimum(self.starts[:-1] + 2, len(self.data) - 1)]
        keys = first << 8 | second
        self._order: NDArray[np.int32] = np.argsort(keys, kind="stable").astype(np.int32)
        self._bounds = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=1 << 16))])

    def starting(self, needle: bytes) -> NDArray[np.int32]:
        """Rows whose text begins with the needle, ascending."""
        first = int.from_bytes(needle[:2].ljust(2, b"\0"), "big")
        span = (1 << 16, 1 << 8, 1)[min(len(needle), 2)]
        rows = self._order[self._bounds[first] : self._bounds[first + span]]
        # A row that fits so far has at least its separator at the next place.
        for place in range(2, len(needle)):
            rows = rows[self._bytes[self.starts[rows] + 1 + place] == needle[place]]
        return rows if span == 1 else np.sort(rows)

    def whole(self, needle: bytes) -> NDArray[np.int32]:
        """Rows whose text is the needle, ascending."""
        rows = self.starting(needle)
        return rows[np.equal(self._bytes[self.starts[rows] + 1 + len(needle)], 0xFF)]

    def holding(self, needle: bytes) -> Iterator[int]:
        """Rows whose text has the needle (not empty) in it, ascending."""
        at = self.data.find(needle)
        while at >= 0:
            row = int(np.searchsorted(self.starts, at)) - 1
            yield row
            at = self.data.find(needle, int(self.starts[row + 1]))

    def texts(self, rows: NDArray[np.int64]) -> list[bytes]:
        """The texts of some rows."""
        cuts = zip((self.starts[rows] + 1).tolist(), self.starts[rows + 1].tolist(), strict=True)
        return [self.data[start:end] for start, end in cuts]


class Spellings:
    """Each text's length and which letters occur in it: what edits cannot change by much."""

    def __init__(self, rows: int) -> None:
        self._letters = np.zeros(rows, np.uint32)
        self._lengths = np.zeros(rows, np.int32)
        self._filled = 0

    def add(self, texts: bytes) -> None:
        """Take in the next rows: texts in order, each behind a separator."""
        data = np.frombuffer(texts, np.uint8)
        starts = np.flatnonzero(data == 0xFF)
        rows = slice(self._filled, self._filled + len(starts))
        self._letters[rows] = np.bitwise_or.reduceat(_LETTER_BITS[data], starts)
        self._lengths[rows] = np.add.reduceat(_STARTS_LETTER[data], starts)
        self._filled = rows.stop

    def similar(self, needle: bytes, reach: int) -> NDArray[np.int64]:
        """All rows within ``reach`` edits of the needle, and some others; no empty texts.

        An edit changes the length by at most one letter, and which letters occur by two.
        """
        own = np.frombuffer(needle, np.uint8)
        letters = np.bitwise_or.reduce(_LETTER_BITS[own])
        fits = np.bitwise_count(self._letters ^ letters) <= 2 * reach
        fits &= np.abs(self._lengths - _STARTS_LETTER[own].sum()) <= reach
        return np.flatnonzero(fits & (self._lengths > 0))


# A bit for each value of a byte's lower five bits, which tell ASCII letters apart; one for all others.
_LETTER_BITS = np.uint32(1) << (np.arange(256, dtype=np.uint32) & 31)
_LETTER_BITS[0x80:] = 1
_LETTER_BITS[0xFF] = 0
# Bytes that begin a letter: neither UTF-8's continuation bytes nor the separator.
_STARTS_LETTER = ((np.arange(256) & 0xC0) != 0x80).astype(np.int32)
_STARTS_LETTER[0xFF] = 0
