"""Work in blocks on every core, with a checkpoint between blocks.

On a CPU each block is one thread's, from its products to its results. Threads of torch's or of the
BLAS library's own meet at a barrier after every small operation, and where another program has a
core they wait there for it (measured beside a busy core: a graph of 12,778 × 128 took 1.7 s that
way and 0.7 s this way).
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from explorer.compute.checkpoint import Checkpoint, no_checkpoint

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

# This process's cores are shared out here.
torch.set_num_threads(1)
threadpool_limits(1, user_api="blas")

T = TypeVar("T")
Span = tuple[int, int]


def spans(rows: int, step: int) -> list[Span]:
    """Cut rows into blocks: start and stop of each."""
    return [(start, min(start + step, rows)) for start in range(0, rows, max(1, step))]


def map_blocks(
    work: Callable[[int, int], T],
    blocks: Sequence[Span],
    device: torch.device,
    checkpoint: Checkpoint = no_checkpoint,
    stage: str = "",
) -> Iterator[T]:
    """Do one piece of work for every block of rows, and give the results in the order of the blocks.

    Parameters
    ----------
    work : function of start and stop
        Called in several threads at once on a CPU.
    blocks : sequence of (int, int)
    device : torch.device
    checkpoint : Checkpoint
        Called after every block, in the caller's thread.
    stage : str

    Yields
    ------
    What ``work`` returned for each block.

    Raises
    ------
    Cancelled
        From the checkpoint, once the blocks in work are done.
    """
    if device.type != "cpu" or CORES == 1 or len(blocks) == 1:
        for done, (start, stop) in enumerate(blocks, 1):
            yield work(start, stop)
            checkpoint(done / len(blocks), stage)
        return
    ahead = iter(blocks)
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(CORES, thread_name_prefix="block") as pool:
        try:
            for done in range(1, len(blocks) + 1):
                waiting.extend(pool.submit(work, *span) for span in islice(ahead, CORES + 1 - len(waiting)))
                yield waiting.popleft().result()
                checkpoint(done / len(blocks), stage)
        finally:
            for future in waiting:
                future.cancel()


def each_block(
    work: Callable[[int, int], object],
    blocks: Sequence[Span],
    device: torch.device,
    checkpoint: Checkpoint = no_checkpoint,
    stage: str = "",
) -> None:
    """As ``map_blocks``, for work that returns nothing."""
    deque(map_blocks(work, blocks, device, checkpoint, stage), maxlen=0)


class Buffers:
    """One float32 buffer for each thread that asks, kept for the next block: new memory is slow."""

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
    """``left @ right.T`` for float32 matrices; on a CPU by NumPy's BLAS, which is the quicker there."""
    if out.device.type == "cpu":
        np.matmul(left.numpy(), right.numpy().T, out=out.numpy())
        return out
    return torch.mm(left, right.T, out=out)
