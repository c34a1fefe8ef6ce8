"""One pass over a table's rows: which of them can take part, how long they are, which are repeats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from explorer.core.dtypes import as_float32
from explorer.core.health import Health, HealthCounts, RowState

_CHUNK_BYTES = 4 << 20
_DIGEST_BYTES = 16
# Below this a float32 sum of squares has lost digits or vanished; above it only infinity is suspect.
_TRUSTED_SQUARE = np.float32(1e-30)


def examine(blocks: Iterable[NDArray], rows: int, padding: int = 0) -> Health:
    """Find the state, length and first twin of every row, reading each value once.

    Rows are judged by their float32 values, those that search and layouts use: a float64 value
    beyond float32's range counts as infinite, and so does a row whose length is beyond it.
    Twins are equal in the stored type (0.0 equals -0.0), told by 128-bit digests, so that the
    pass needs about 40 bytes a row whatever the dimension.

    Parameters
    ----------
    blocks : iterable of float (or integer) arrays, each of shape (any, dim)
        The table's rows in order; blocks of any size, one array of all rows included.
    rows : int
        How many rows the blocks hold together.
    padding : int
        The last ``padding`` rows have no token; those not faulty otherwise become PADDING.

    Returns
    -------
    Health

    Raises
    ------
    ValueError
        Where the blocks hold fewer or more rows than promised.
    """
    states = np.zeros(rows, np.uint8)
    norms = np.zeros(rows, np.float32)
    digests = np.zeros((rows, 2), np.uint64)
    done = 0
    for chunk in _chunks(blocks):
        until = done + len(chunk)
        if until > rows:
            raise ValueError(f"more than the promised {rows} rows")
        states[done:until], norms[done:until] = _judge(chunk)
        digests[done:until] = _digests(chunk)
        done = until
    if done != rows:
        raise ValueError(f"{done} rows where {rows} were promised")

    tail = states[rows - min(padding, rows) :]
    tail[tail == RowState.HEALTHY] = RowState.PADDING
    first_twin = _first_twins(digests, np.flatnonzero(states == RowState.HEALTHY))
    tally = np.bincount(states, minlength=len(RowState))
    counts = HealthCounts(
        nan=int(tally[RowState.NAN]),
        inf=int(tally[RowState.INFINITE]),
        zero=int(tally[RowState.ZERO]),
        duplicates=int(np.count_nonzero(first_twin != np.arange(rows))),
        padding=int(tally[RowState.PADDING]),
    )
    return Health(states=states, norms=norms, first_twin=first_twin, counts=counts)


def row_blocks(array: NDArray, block_bytes: int = _CHUNK_BYTES) -> Iterator[NDArray]:
    """Cut a (rows, dim) array, memory-mapped or not, into views of about ``block_bytes`` each."""
    step = max(1, block_bytes // max(1, array.shape[1] * array.dtype.itemsize))
    return (array[start : start + step] for start in range(0, len(array), step))


def _chunks(blocks: Iterable[NDArray]) -> Iterator[NDArray]:
    """Contiguous float32 (float64 where stored wider) pieces that fit a processor's cache.

    Adding 0 turns -0.0 into 0.0, so that equal values are equal bytes.
    """
    for block in blocks:
        wide = block.dtype.itemsize > 4 or block.dtype.kind in "iu"
        for piece in row_blocks(block):
            with np.errstate(all="ignore"):
                yield np.ascontiguousarray(piece, np.float64 if wide else np.float32) + 0


def _judge(chunk: NDArray) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """States (padding apart) and lengths; only rows with an odd sum of squares get a second look."""
    values = as_float32(chunk)
    states = np.zeros(len(values), np.uint8)
    with np.errstate(all="ignore"):
        squares = np.einsum("ij,ij->i", values, values)
        norms = np.sqrt(squares)
        odd = np.flatnonzero(~((squares > _TRUSTED_SQUARE) & (squares < np.inf)))
        again = values[odd].astype(np.float64)
        norms[odd] = np.sqrt(np.einsum("ij,ij->i", again, again))
    states[odd[~again.any(axis=1)]] = RowState.ZERO
    states[np.isinf(norms)] = RowState.INFINITE
    # An infinite value beside a NaN makes the length NaN too, and infinities alone never do.
    states[np.isnan(norms)] = RowState.NAN
    return states, norms


def _digests(chunk: NDArray) -> NDArray[np.uint64]:
    """128 bits for each row: its bytes where they are that few, else a BLAKE2b digest of them."""
    width = chunk.shape[1] * chunk.dtype.itemsize
    raw = chunk.view(np.uint8).reshape(len(chunk), width)
    if width <= _DIGEST_BYTES:
        short = np.zeros((len(chunk), _DIGEST_BYTES), np.uint8)
        short[:, :width] = raw
        return short.view(np.uint64)
    view = raw.reshape(-1).data
    joined = b"".join(
        blake2b(view[start : start + width], digest_size=_DIGEST_BYTES).digest()
        for start in range(0, len(view), width)
    )
    return np.frombuffer(joined, np.uint64).reshape(-1, 2)


def _first_twins(digests: NDArray[np.uint64], healthy: NDArray[np.int64]) -> NDArray[np.int64]:
    """The smallest healthy row with the same digest; a row without one, and a faulty row, is its own."""
    first = np.arange(len(digests))
    ordered = np.sort(digests[healthy, 0])
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    # Most tables have few repeats: only rows whose first half occurs twice are sorted in full.
    candidates = healthy[np.isin(digests[healthy, 0], repeated)]
    if not len(candidates):
        return first
    keys = digests[candidates]
    order = np.lexsort((candidates, keys[:, 1], keys[:, 0]))
    keys, candidates = keys[order], candidates[order]
    starts = np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)])
    first[candidates] = candidates[np.flatnonzero(starts)[np.cumsum(starts) - 1]]
    return first
