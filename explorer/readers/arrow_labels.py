"""Arrow's columns of texts as labels, packed as they lie: no object for each of a hundred thousand names."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from explorer.core.labels import Labels


def labels_of(column: pa.ChunkedArray | pa.Array, source: str) -> Labels:
    """A column of texts, or of a file system's names as bytes, as labels; missing where it has none.

    Bytes that are not UTF-8 become lone surrogates, as ``os.fsdecode`` has them.

    Parameters
    ----------
    column : pyarrow.Array or ChunkedArray
        Of strings or bytes.
    source : str
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = array.cast(pa.large_binary())
    missing = array.is_null().to_numpy(zero_copy_only=False)
    _, places, data = array.buffers()
    offsets = np.frombuffer(places, np.int64, len(array) + 1, 8 * array.offset)
    blob = np.frombuffer(data or b"", np.uint8)[offsets[0] : offsets[-1]]
    if not _is_utf8(blob, offsets - offsets[0]):
        texts = [None if raw is None else os.fsdecode(raw) for raw in array.to_pylist()]
        return Labels.from_texts(texts, source)
    return Labels(blob, offsets - offsets[0], missing, source, np.empty(0, np.int64))


def joined(first: Labels, second: Labels, source: str) -> Labels:
    """The labels of two tables' rows, one after the other."""
    return Labels(
        np.concatenate([first.blob, second.blob]),
        np.concatenate([first.offsets, second.offsets[1:] + first.offsets[-1]]),
        np.concatenate([first.missing, second.missing]),
        source,
        np.concatenate([first.special, second.special + len(first)]),
    )


def _is_utf8(blob: NDArray[np.uint8], offsets: NDArray[np.int64]) -> bool:
    """Whether every text is: the whole is, and none starts inside a character."""
    data = blob.tobytes()
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    starts = offsets[:-1][offsets[1:] > offsets[:-1]]
    return not np.any((blob[starts] & 0xC0) == 0x80)
