"""Tensors that are known by name, type and shape, and read only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from explorer.core.dtypes import FLOATS, INTEGERS, name_of

DTYPES: dict[str, np.dtype] = {
    **FLOATS,
    **INTEGERS,
    "bool": np.dtype(np.bool_),
    "complex64": np.dtype(np.complex64),
    "complex128": np.dtype(np.complex128),
}
_MAX_DIMS = 64
_EXPANDED = 64 << 20  # bytes that a tensor may have beyond its storage (an expanded one)


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor in a file.

    Attributes
    ----------
    dtype : str
        Stored type, a key of ``DTYPES``.
    shape : tuple of int
    read : callable
        Gives the values in native byte order, memory-mapped where the format allows; raises ExplorerError.
    identity : hashable
        Equal for tensors that show the same bytes in the same way (tied weights).
    """

    dtype: str
    shape: tuple[int, ...]
    read: Callable[[], NDArray]
    identity: Hashable

    @property
    def is_float(self) -> bool:
        """Whether the values are real floating-point numbers."""
        return self.dtype in FLOATS

    @property
    def is_number(self) -> bool:
        """Whether the values are real numbers of any kind but truth values."""
        return self.dtype in FLOATS or self.dtype in INTEGERS


@dataclass(frozen=True, eq=False)
class Unreadable:
    """A tensor that is there but can't be shown, and the word for why, e.g. ``"quantised"``."""

    kind: str


@dataclass(frozen=True, eq=False)
class Storage:
    """A run of bytes that tensors look at.

    Attributes
    ----------
    key : str
        Its name in its file.
    nbytes : int
        Bytes that are really there.
    read : callable
        Gives them, shape ``(nbytes,)``, uint8.
    big_endian : bool
    """

    key: str
    nbytes: int
    read: Callable[[], NDArray[np.uint8]]
    big_endian: bool = False


def strided(
    storage: Storage, dtype: str, offset: int, shape: Sequence[int], strides: Sequence[int]
) -> Tensor:
    """A tensor over a storage.

    Parameters
    ----------
    storage : Storage
    dtype : str
        A key of ``DTYPES``.
    offset : int
        Elements before the first one.
    shape, strides : sequence of int
        In elements.

    Raises
    ------
    ValueError
        The tensor would reach beyond the storage's bytes, or unfold them into far more than there are.
    """
    shape, strides = tuple(shape), tuple(strides)
    numbers = (offset, *shape, *strides)
    if any(type(n) is not int or not 0 <= n < 1 << 62 for n in numbers):
        raise ValueError("a tensor's sizes are no sizes")
    if len(shape) != len(strides) or len(shape) > _MAX_DIMS:
        raise ValueError("a tensor's shape and strides do not agree")
    itemsize, count = DTYPES[dtype].itemsize, prod(shape)
    reach = offset + 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    if count and reach * itemsize > storage.nbytes:
        raise ValueError(f"a tensor needs {reach * itemsize} bytes where {storage.nbytes} are there")
    if count * itemsize > max(storage.nbytes, _EXPANDED):
        raise ValueError(f"a tensor would unfold {storage.nbytes} bytes to {count * itemsize}")

    def read() -> NDArray:
        return _view(storage, dtype, offset, shape, strides)

    return Tensor(dtype, shape, read, (id(storage), dtype, offset, shape, strides))


def _view(
    storage: Storage, dtype: str, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> NDArray:
    real = DTYPES[dtype]
    if prod(shape) == 0:
        return np.zeros(shape, real)
    if storage.big_endian and real.itemsize > 1 and real.kind != "c":
        raw = np.dtype(f">u{real.itemsize}")
    else:
        raw = real
    steps = tuple(0 if n == 1 else step * real.itemsize for n, step in zip(shape, strides, strict=True))
    array: NDArray = np.ndarray(shape, raw, storage.read(), offset * real.itemsize, steps)
    if raw is not real:
        array = array.astype(raw.newbyteorder("=")).view(real)
    return array if array.flags.aligned else array.copy()


def from_array(array: NDArray) -> Tensor | None:
    """An array that is in memory already; None where it holds no numbers."""
    dtype = name_of(array.dtype)
    if dtype not in DTYPES:
        return None
    return Tensor(dtype, array.shape, lambda: array, id(array))


def stacked(tensors: Sequence[Tensor]) -> Tensor:
    """Vectors of one length and type as the rows of one table, in their order.

    Raises
    ------
    ValueError
        They differ in shape or type, or are no vectors.
    """
    first = tensors[0]
    if len(first.shape) != 1 or any(t.shape != first.shape or t.dtype != first.dtype for t in tensors):
        raise ValueError("the vectors differ in length or type")

    def read() -> NDArray:
        kept = first.read()  # keeps the file mapped meanwhile
        table = np.empty((len(tensors), *kept.shape), DTYPES[first.dtype])
        for row, tensor in zip(table, tensors, strict=True):
            row[:] = tensor.read()
        return table

    return Tensor(first.dtype, (len(tensors), *first.shape), read, tuple(t.identity for t in tensors))


def reshaped(tensor: Tensor, shape: tuple[int, int]) -> Tensor:
    """The same values, in the same order, as a table."""
    if tensor.shape == shape:
        return tensor

    def read() -> NDArray:
        return tensor.read().reshape(shape)

    return Tensor(tensor.dtype, shape, read, tensor.identity)
