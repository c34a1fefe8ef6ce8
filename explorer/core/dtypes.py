"""Stored number types by name, NumPy's and the narrow ones that NumPy lacks."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

FLOATS: dict[str, np.dtype] = {
    "float64": np.dtype(np.float64),
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float8_e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "float8_e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "float8_e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
}
INTEGERS: dict[str, np.dtype] = {
    name: np.dtype(name)
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
}


def name_of(dtype: np.dtype) -> str:
    """The stored type's name as shown to the user, e.g. ``"bfloat16"``."""
    return dtype.newbyteorder("=").name


def as_float32(array: NDArray) -> NDArray[np.float32]:
    """Values as native float32; no copy where they are that already."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=np.float32)
