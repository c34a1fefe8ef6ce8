"""Work in blocks on every core, with a checkpoint between blocks."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from itertools import islice
from typing import TypeVar

from explorer.compute.checkpoint import Checkpoint, no_checkpoint

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

T = TypeVar("T")
Span = tuple[int, int]


def spans(rows: int, step: int) -> list[Span]:
    """Cut rows into blocks: start and stop of each."""
    return [(start, min(start + step, rows)) for start in range(0, rows, max(1, step))]


def map_blocks(
    work: Callable[[int, int], T],
    blocks: Sequence[Span],
    checkpoint: Checkpoint = no_checkpoint,
    stage: str = "",
    *,
    threads: int = CORES,
    pool: ThreadPoolExecutor | None = None,
) -> Iterator[T]:
    """Do one piece of work for every block of rows, and give the results in the order of the blocks.

    Parameters
    ----------
    work : function of start and stop
        Called in several threads at once.
    blocks : sequence of (int, int)
    checkpoint : Checkpoint
        Called after every block, in the caller's thread.
    stage : str
    threads : int
    pool : ThreadPoolExecutor, optional
        Of that many threads, where the caller keeps one.

    Yields
    ------
    What ``work`` returned for each block.

    Raises
    ------
    Cancelled
        From the checkpoint, once the blocks in work are done.
    """
    if threads == 1 or len(blocks) == 1:
        for done, (start, stop) in enumerate(blocks, 1):
            yield work(start, stop)
            checkpoint(done / len(blocks), stage)
        return
    ahead = iter(blocks)
    waiting: deque[Future[T]] = deque()
    with nullcontext(pool) if pool is not None else ThreadPoolExecutor(threads) as crew:
        try:
            for done in range(1, len(blocks) + 1):
                waiting.extend(crew.submit(work, *span) for span in islice(ahead, threads + 1 - len(waiting)))
                yield waiting.popleft().result()
                checkpoint(done / len(blocks), stage)
        finally:
            for future in waiting:
                if not future.cancel():
                    future.exception()


def each_block(
    work: Callable[[int, int], object],
    blocks: Sequence[Span],
    checkpoint: Checkpoint = no_checkpoint,
    stage: str = "",
    *,
    threads: int = CORES,
    pool: ThreadPoolExecutor | None = None,
) -> None:
    """As ``map_blocks``, for work that returns nothing."""
    deque(map_blocks(work, blocks, checkpoint, stage, threads=threads, pool=pool), maxlen=0)
