"""The columns of a picture index's files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from explorer.core.pictures import DIGEST_BYTES

# What a run finds out of each picture.
FOUND = pa.schema(
    [
        ("size", pa.int64()),
        ("modified_ns", pa.int64()),
        ("hash", pa.binary(DIGEST_BYTES)),
        ("verdict", pa.string()),
        ("reason", pa.string()),
        ("width", pa.int32()),
        ("height", pa.int32()),
        ("animated", pa.bool_()),
        ("thumbnail_file", pa.int32()),
        ("thumbnail_start", pa.int64()),
        ("thumbnail_size", pa.int32()),
    ]
)
# Paths are bytes as the file system has them, which need not be UTF-8.
ROW_COLUMNS = pa.schema([("path", pa.binary()), *FOUND, ("captions", pa.list_(pa.string()))])


def journal_columns(dim: int) -> pa.Schema:
    """A journal file's columns for pictures."""
    return pa.schema([("row", pa.int64()), *FOUND, ("vector", pa.list_(pa.float32(), dim))])


def caption_columns(dim: int) -> pa.Schema:
    """A journal file's columns for captions."""
    return pa.schema([("digest", pa.binary(DIGEST_BYTES)), ("vector", pa.list_(pa.float32(), dim))])


def vectors_of(column: pa.ChunkedArray, dim: int) -> NDArray[np.float32]:
    """A column of vectors as float32, shape (rows, dim)."""
    if not len(column):
        return np.empty((0, dim), np.float32)
    flat: NDArray[np.float32] = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(-1, dim)
