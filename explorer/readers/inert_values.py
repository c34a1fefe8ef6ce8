"""What a pickle's classes, objects and arrays become when nothing of them may run: plain records."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.core.dtypes import FLOATS

_NUMBER = re.compile(r"b1|[iu][1248]|f[248]|c(8|16)")
_TEXT = re.compile(r"[US][0-9]{1,9}")
_MAX_DIMS = 32


class BadPickleError(ValueError):
    """The bytes are no pickle, or one that can't be read within bounds."""


@dataclass(frozen=True, slots=True)
class Global:
    """A class or function that a pickle names; it is never imported and can't be called."""

    module: str
    name: str

    @property
    def path(self) -> str:
        """Dotted name, e.g. ``"collections.OrderedDict"``."""
        return f"{self.module}.{self.name}"


@dataclass(slots=True, eq=False)
class Instance:
    """What a pickle would have made by calling something: the call's record, never its result.

    Attributes
    ----------
    cls : Global
        What would have been called.
    args, kwargs : tuple, dict
    state : object
        What the object would have been given as its state (often its ``__dict__``).
    items : list
        What would have been appended to it.
    entries : dict
        What would have been set in it by key.
    """

    cls: Global
    args: tuple[Any, ...] = ()
    kwargs: dict[Any, Any] | None = None
    state: Any = None
    items: list[Any] | None = None
    entries: dict[Any, Any] | None = None

    @property
    def attributes(self) -> dict[Any, Any]:
        """The object's attributes, as far as its state is a plain ``__dict__`` or ``(__dict__, slots)``."""
        if isinstance(self.state, dict):
            return self.state
        if isinstance(self.state, tuple) and len(self.state) == 2:
            parts = [part for part in self.state if isinstance(part, dict)]
            return {key: value for part in parts for key, value in part.items()}
        return {}


@dataclass(frozen=True, slots=True, eq=False)
class PersistentId:
    """A reference to something outside the pickle that nobody could follow."""

    id: Any


@dataclass(slots=True, eq=False)
class PickledDType:
    """NumPy's dtype as a pickle describes it; only plain numbers and text are ever made real."""

    code: str
    big_endian: bool = False

    def build(self, state: Any) -> None:
        """Take the byte order out of ``(version, order, ...)``."""
        if isinstance(state, tuple) and len(state) > 1:
            self.big_endian = state[1] == ">"

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The real dtype in its stored byte order, or None for objects, records, dates and nonsense."""
        if self.code == "bfloat16":
            return FLOATS["bfloat16"]
        if _NUMBER.fullmatch(self.code) or _TEXT.fullmatch(self.code):
            order = ">" if self.big_endian else "<"
            real: np.dtype[Any] = np.dtype(f"{order}{self.code}")
            return real
        return None


@dataclass(slots=True, eq=False)
class PickledArray:
    """A NumPy array as a pickle describes it.

    Attributes
    ----------
    value : array or None
        The array in native byte order, over the pickle's own bytes (read-only). Arrays of objects come as
        object arrays of inert values. None where the array is of a kind, or a size, that can't be right.
    """

    value: NDArray | None = None

    def build(self, state: Any) -> None:
        """Fill from ``([version,] shape, dtype, is_fortran, data)``."""
        match state:
            case (int(), shape, PickledDType() as dtype, fortran, data) | (
                shape,
                PickledDType() as dtype,
                fortran,
                data,
            ):
                self.value = array_of(data, dtype, shape, "F" if fortran else "C")
            case _:
                self.value = None


def array_of(data: Any, dtype: PickledDType, shape: Any, order: str) -> NDArray | None:
    """An array over raw bytes, or None where dtype, shape and bytes do not agree."""
    if not is_shape(shape) or len(shape) > _MAX_DIMS or order not in ("C", "F"):
        return None
    if isinstance(data, list):
        return _objects(data, shape, order) if dtype.code == "O8" and len(data) == prod(shape) else None
    if isinstance(data, str):  # a Python 2 pickle
        data = data.encode("utf-8", "surrogateescape")
    real = dtype.dtype
    if real is None or not isinstance(data, bytes) or real.itemsize * prod(shape) != len(data):
        return None
    if real.itemsize == 0 or prod(shape) == 0:
        return np.zeros(shape, real.newbyteorder("="))
    flat = np.frombuffer(data, real)
    if dtype.big_endian:
        flat = flat.astype(real.newbyteorder("="))
    if real.kind == "U" and flat.view(np.uint32).max() > 0x10FFFF:
        return None
    return flat.reshape(shape, order=order)  # type: ignore[call-overload, no-any-return]


def is_shape(value: Any) -> bool:
    """Whether a value is a tuple of sizes."""
    return isinstance(value, tuple) and all(type(size) is int and 0 <= size < 1 << 62 for size in value)


def _objects(data: list[Any], shape: tuple[int, ...], order: str) -> NDArray:
    flat = np.empty(len(data), object)
    for i, value in enumerate(data):
        flat[i] = value
    return flat.reshape(shape, order=order)  # type: ignore[call-overload, no-any-return]
