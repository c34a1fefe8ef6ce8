"""Many short texts in one byte string, searched at once by beginning, whole, part and spelling.

The texts lie one after the other, parted by 0xFF, which UTF-8 never holds. A million of them are
ten megabytes, through which ``bytes.find`` runs in a few milliseconds. Whole texts, and beginnings
that are not too common, are found quicker still: the rows are sorted by two 16-bit keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

SEPARATOR = b"\xff"
_KEYS = 1 << 16
# Rows that begin alike and are filtered byte by byte; with more, a pass over all bytes is quicker.
_MOST_FILTERED = 50_000


class Haystack:
    """Texts in UTF-8, one a row; ``add`` them all, then ``join`` and ``sort``.

    Attributes
    ----------
    data : bytes
        All texts, each between two separators.
    starts : int64 array, shape (rows + 1,)
        Where each text's separator stands, and at last the closing one.
    """

    def __init__(self) -> None:
        self._slices: list[bytes] = []
        self._starts: list[NDArray[np.int64]] = []
        self._beginnings: list[NDArray[np.uint16]] = []
        self._digests: list[NDArray[np.uint16]] = []
        self._size = 0

    def add(self, texts: bytes) -> None:
        """Take in the next rows: texts in order, each behind a separator."""
        data = np.frombuffer(texts + SEPARATOR, np.uint8)
        starts = np.flatnonzero(data[:-1] == 0xFF)
        pairs = data[starts + 1] * np.uint16(1 << 8) + data[np.minimum(starts + 2, len(texts))]
        self._beginnings.append(pairs.astype(np.uint16))
        self._digests.append(_digests(data[:-1], starts))
        self._starts.append(starts + self._size)
        self._slices.append(texts)
        self._size += len(texts)

    def join(self) -> None:
        """Put all that was added together."""
        self.data = b"".join((*self._slices, SEPARATOR))
        self._slices.clear()
        self._bytes = np.frombuffer(self.data, np.uint8)
        self.starts: NDArray[np.int64] = np.concatenate([*self._starts, [len(self.data) - 1]])
        self._starts.clear()

    def sort(self) -> None:
        """Sort the rows by their keys, else by row."""
        self._by_beginning = _Buckets(self._beginnings)
        self._by_digest = _Buckets(self._digests)

    def whole(self, needle: bytes) -> NDArray[np.int32]:
        """Rows whose text is the needle, ascending."""
        digest = int(_digests(np.frombuffer(SEPARATOR + needle, np.uint8), np.zeros(1, np.int64))[0])
        rows = self._by_digest.rows(digest, digest + 1)
        rows = rows[self.starts[rows + 1] - self.starts[rows] == len(needle) + 1]
        return self._filtered(rows, needle)

    def starting(self, needle: bytes, most: int) -> list[int]:
        """The first ``most`` rows whose text begins with the needle (not empty), ascending."""
        low = int.from_bytes(needle[:2].ljust(2, b"\0"), "big")
        rows = self._by_beginning.rows(low, low + (1 if len(needle) > 1 else 1 << 8))
        if len(rows) <= _MOST_FILTERED:
            found: list[int] = np.sort(self._filtered(rows, needle))[:most].tolist()
            return found
        return list(islice(self._holding(SEPARATOR + needle, 0), most))

    def holding(self, needle: bytes) -> Iterator[int]:
        """Rows whose text has the needle (not empty) in it, ascending."""
        return self._holding(needle, 1)

    def texts(self, rows: NDArray[np.int64]) -> list[bytes]:
        """The texts of some rows."""
        cuts = zip((self.starts[rows] + 1).tolist(), self.starts[rows + 1].tolist(), strict=True)
        return [self.data[start:end] for start, end in cuts]

    def _filtered(self, rows: NDArray[np.int32], needle: bytes) -> NDArray[np.int32]:
        # A row that fits so far has at least its separator at the next place.
        for place, byte in enumerate(needle, 1):
            rows = rows[self._bytes[self.starts[rows] + place] == byte]
        return rows

    def _holding(self, pattern: bytes, back: int) -> Iterator[int]:
        """Rows with the pattern in or (``back`` 0) right at them."""
        at = self.data.find(pattern)
        while at >= 0:
            row = int(np.searchsorted(self.starts, at)) - back
            yield row
            at = self.data.find(pattern, int(self.starts[row + 1]))


class _Buckets:
    """Rows sorted by a 16-bit key, else by row."""

    def __init__(self, keys: list[NDArray[np.uint16]]) -> None:
        joined = np.concatenate([*keys, np.zeros(0, np.uint16)])
        keys.clear()
        self._order: NDArray[np.int32] = np.argsort(joined, kind="stable").astype(np.int32)
        self._bounds = np.concatenate([[0], np.cumsum(np.bincount(joined, minlength=_KEYS))])

    def rows(self, low: int, high: int) -> NDArray[np.int32]:
        """Rows whose key is at least ``low`` and below ``high``."""
        return self._order[self._bounds[low] : self._bounds[high]]


def _digests(data: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.uint16]:
    """A 16-bit digest of each text: its bytes times odd numbers that depend on their places."""
    sizes = np.diff(starts, append=len(data))
    places = np.arange(len(data)) - np.repeat(starts, sizes)
    sums = np.add.reduceat(data * _ODD[places & 255], starts, dtype=np.uint32)
    return (sums >> 16).astype(np.uint16)


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


# Odd numbers without a pattern: the golden ratio's multiples (Knuth's multiplicative hashing).
_ODD = (np.arange(1, 257, dtype=np.uint64) * 0x9E3779B97F4A7C15 >> 32).astype(np.uint32) | 1
# A bit for each value of a byte's lower five bits, which tell ASCII letters apart; one for all others.
_LETTER_BITS = np.uint32(1) << (np.arange(256, dtype=np.uint32) & 31)
_LETTER_BITS[0x80:] = 1
_LETTER_BITS[0xFF] = 0
# Bytes that begin a letter: neither UTF-8's continuation bytes nor the separator.
_STARTS_LETTER = ((np.arange(256) & 0xC0) != 0x80).astype(np.int32)
_STARTS_LETTER[0xFF] = 0
