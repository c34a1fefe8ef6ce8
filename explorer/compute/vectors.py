"""A table's vectors on the device, in their stored type; every computation sees them as float32."""

from __future__ import annotations

import copy
import math

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.compute.parallel import Span, spans
from explorer.core.dtypes import name_of
from explorer.core.errors import ExplorerError
from explorer.core.health import Health, RowState

# Stored types that torch holds as they are, by the integers of the same width that carry their bits.
_KEPT = {
    "float32": (torch.float32, np.int32),
    "float16": (torch.float16, np.int16),
    "bfloat16": (torch.bfloat16, np.int16),
    "float8_e4m3fn": (torch.float8_e4m3fn, np.uint8),
    "float8_e5m2": (torch.float8_e5m2, np.uint8),
    "float8_e4m3fnuz": (torch.float8_e4m3fnuz, np.uint8),
    "float8_e5m2fnuz": (torch.float8_e5m2fnuz, np.uint8),
    "int8": (torch.int8, np.int8),
    "uint8": (torch.uint8, np.uint8),
}


class Vectors:
    """The rows of one table, ready to compute with.

    Parameters
    ----------
    array : array, shape (rows, dim)
        In the stored type. Copied: the file it may be mapped from can change under it. Types of
        more than 32 bits become float32.
    health : Health
        Of the rows as stored.
    device : torch.device
    scale : float
        Every row is seen multiplied by it, e.g. by the square root of dim.

    Attributes
    ----------
    rows, dim : int
    health : Health
    norms : float32 array, shape (rows,)
        Lengths of the rows as seen.
    scale : float
    """

    def __init__(
        self, array: NDArray, health: Health, device: torch.device | None = None, scale: float = 1.0
    ) -> None:
        self.rows, self.dim = array.shape
        self.device = device or torch.device("cpu")
        self.health = health
        self.scale = scale
        self.norms = health.norms if scale == 1.0 else health.norms * np.float32(scale)
        self._dtype, self._bits = _to_device(array, self.device)

    def only(self, rows: NDArray[np.int64]) -> Vectors:
        """The same rows in the same places, of which those given alone (ascending) are fit for anything."""
        some = copy.copy(self)
        some.health = self.health.only(rows)
        return some

    @property
    def on_cpu(self) -> bool:
        return self.device.type == "cpu"

    @property
    def plain(self) -> NDArray[np.float32] | None:
        """The rows themselves where they lie in this process's memory as seen: float32, unscaled."""
        if self.on_cpu and self._dtype is torch.float32 and self.scale == 1.0:
            return self._bits.view(torch.float32).numpy()
        return None

    def block(self, start: int, stop: int) -> torch.Tensor:
        """Rows start to stop, float32, on the device. Not to be written to."""
        return self._seen(self._bits[start:stop])

    def take(self, rows: NDArray[np.int64] | torch.Tensor) -> torch.Tensor:
        """Some rows, float32, on the device."""
        places = torch.as_tensor(np.array(rows) if isinstance(rows, np.ndarray) else rows, device=self.device)
        return self._seen(self._bits[places])

    def fetch(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Some rows, float32, in this process's memory, shape (len(rows), dim)."""
        return self.take(rows).cpu().numpy()

    def spans(self, block_bytes: int) -> list[Span]:
        """Cut the rows into blocks of about as many bytes of float32: start and stop of each."""
        return spans(self.rows, block_bytes // (4 * self.dim))

    def check_row(self, row: int, *, direction: bool) -> None:
        """Refuse a row that cannot stand in a query.

        Parameters
        ----------
        row : int
        direction : bool
            It is asked for its direction, which a row of zeros does not have.

        Raises
        ------
        ExplorerError
        """
        if not 0 <= row < self.rows:
            raise ExplorerError(f"There is no row #{row}: this table has rows #0 to #{self.rows - 1}.")
        state = RowState(self.health.states[row])
        if state in (RowState.NAN, RowState.INFINITE):
            fault = "a value that is not a number" if state is RowState.NAN else "an infinite value"
            raise ExplorerError(f"Row #{row} holds {fault} and cannot be asked for.")
        if direction and self.norms[row] == 0:
            raise ExplorerError(f"Row #{row} is all zeros: it has no direction to compare.")

    def _seen(self, bits: torch.Tensor) -> torch.Tensor:
        values = bits.view(self._dtype).to(torch.float32)
        return values if self.scale == 1.0 else values * self.scale


def power_of_two(size: float) -> float:
    """The least power of two above a size: a unit that numbers are divided by without rounding."""
    return math.ldexp(1.0, math.frexp(size)[1])


def _to_device(array: NDArray, device: torch.device) -> tuple[torch.dtype, torch.Tensor]:
    """An array's bits on the device, and the type that they stand for."""
    name = name_of(array.dtype)
    if name not in _KEPT:
        with np.errstate(over="ignore"):
            array, name = array.astype(np.float32), "float32"
    native = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
    dtype, carrier = _KEPT[name]
    return dtype, torch.from_numpy(native.view(carrier)).to(device)
