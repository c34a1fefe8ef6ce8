"""One name per row, held compactly: a million labels are two arrays, not a million objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Labels:
    """Names of a table's rows; row *i* of the table is entry *i* here.

    Attributes
    ----------
    blob : uint8 array
        All names in UTF-8 (lone surrogates passed through), one after the other.
    offsets : int64 array, shape (rows + 1,)
        Name *i* is ``blob[offsets[i]:offsets[i + 1]]``.
    missing : bool array, shape (rows,)
        Rows that have no name of their own (shown as ``#row``).
    source : str
        Where the names come from, e.g. ``"word_to_int.p"`` or ``"inside the file"``.
    special : int64 array
        Rows that the tokenizer marks as special (PAD, UNK, BOS, EOS, ``[CLS]`` ...).
    padding : int
        Rows past the last token that the model carries but the tokenizer has no token for;
        they are the last ``padding`` rows, all of them missing.
    """

    blob: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    missing: NDArray[np.bool_]
    source: str
    special: NDArray[np.int64]
    padding: int = 0

    @classmethod
    def from_texts(
        cls, texts: Iterable[str | None], source: str, *, special: Iterable[int] = (), rows: int | None = None
    ) -> Labels:
        """Pack names; None is a row without one.

        Parameters
        ----------
        texts : iterable of str or None
        source : str
        special : iterable of int
        rows : int, optional
            The table's row count: where it is larger than the number of texts, the rest are
            padding rows. Never smaller.
        """
        encoded = [None if text is None else text.encode("utf-8", "surrogatepass") for text in texts]
        padding = 0 if rows is None else rows - len(encoded)
        if padding < 0:
            raise ValueError(f"{len(encoded)} labels for {rows} rows")
        encoded.extend([None] * padding)
        sizes = np.fromiter((0 if e is None else len(e) for e in encoded), np.int64, len(encoded))
        return cls(
            blob=np.frombuffer(b"".join(e for e in encoded if e), np.uint8),
            offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]),
            missing=np.fromiter((e is None for e in encoded), np.bool_, len(encoded)),
            source=source,
            special=np.asarray(sorted(set(special)), np.int64),
            padding=padding,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> str:
        """The row's name, or ``#row`` where it has none."""
        if row < 0 or row >= len(self):
            raise IndexError(row)
        if self.missing[row]:
            return f"#{row}"
        return self.blob[self.offsets[row] : self.offsets[row + 1]].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (self[row] for row in range(len(self)))

    @property
    def count(self) -> int:
        """How many rows have a name of their own."""
        return len(self) - int(self.missing.sum())


def label_of(labels: Labels | None, row: int) -> str:
    """The row's name as shown everywhere: its label, else ``#row``; so, too, where the label is empty."""
    return (labels[row] if labels is not None else "") or f"#{row}"
