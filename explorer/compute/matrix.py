"""Matrix products in blocks, on a CPU one thread to a block.

There each block is one thread's, from its products to its results. Threads of torch's or of the
BLAS library's own meet at a barrier after every small operation, and where another program has a
core they wait there for it (measured beside a busy core: a graph of 12,778 × 128 took 1.7 s that
way and 0.7 s this way).
"""

from __future__ import annotations

import threading

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from explorer.compute.parallel import CORES

# The cores are shared out in ``parallel``.
torch.set_num_threads(1)
threadpool_limits(1, user_api="blas")


def threads_for(device: torch.device) -> int:
    """How many blocks to compute at once: a CPU's cores, or one on a device that is itself parallel."""
    return CORES if device.type == "cpu" else 1


class Buffers:
    """One float32 buffer for each thread that asks, kept for the next block: new memory is slow.

    Parameters
    ----------
    size : int
        Values in each.
    device : torch.device
    """

    def __init__(self, size: int, device: torch.device) -> None:
        self._size = size
        self._device = device
        self._own = threading.local()

    def get(self, rows: int, columns: int) -> torch.Tensor:
        """This thread's buffer as a matrix; its values are left over."""
        if not hasattr(self._own, "buffer"):
            self._own.buffer = torch.empty(self._size, device=self._device)
        buffer: torch.Tensor = self._own.buffer
        return buffer[: rows * columns].view(rows, columns)


def product(left: torch.Tensor, right: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """``left @ right.T`` for float32 matrices; on a CPU by NumPy's BLAS, the quicker one there."""
    if out.device.type == "cpu":
        np.matmul(left.numpy(), right.numpy().T, out=out.numpy())
        return out
    return torch.mm(left, right.T, out=out)
