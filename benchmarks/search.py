"""One query beside faiss's exact index on the same cores: 400,000 × 300, float32 and narrower.

Run as ``python -m benchmarks.search [ROWS DIM]``. Ours scores every row, chooses the k best, scores these
anew in float64, and counts the background; through the worker it also crosses two processes. Both sides
answer in turn, each in a process of its own with all cores, and the middle of many turns counts.
"""

from __future__ import annotations

import multiprocessing
import queue
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

Calls = dict[str, Callable[[], object]]

ROWS, DIM = 400_000, 300
TURNS, QUERIES = 15, 3
# Row 5 asks.
ROW = 5


def table(rows: int, dim: int) -> np.ndarray:
    """A random table; how long a query takes does not depend on what it finds."""
    return np.random.default_rng(0).standard_normal((rows, dim), dtype=np.float32)


@contextmanager
def faiss_side(rows: int, dim: int) -> Iterator[Calls]:
    """IndexFlatIP over rows of unit length, which is the cosine."""
    import faiss

    unit = table(rows, dim)
    faiss.normalize_L2(unit)
    index = faiss.IndexFlatIP(dim)
    index.add(unit)
    query = unit[ROW : ROW + 1].copy()
    yield {f"k = {k}": lambda k=k: index.search(query, k) for k in (10, 1000)}


@contextmanager
def our_side(rows: int, dim: int) -> Iterator[Calls]:
    """The search itself, in float32 and in the types that checkpoints are stored in."""
    import ml_dtypes

    from explorer.compute.search import find_neighbours
    from explorer.compute.vectors import Vectors
    from explorer.core.health_scan import examine
    from explorer.core.query import RowTerm
    from explorer.core.results import Metric

    values = table(rows, dim)
    health = examine([values], rows)
    plain = Vectors(values, health)
    narrow = Vectors(values.astype(ml_dtypes.bfloat16), health)
    terms = [RowTerm(1.0, ROW)]
    yield {
        **{f"k = {k}": lambda k=k: find_neighbours(plain, Metric.COSINE, k, terms=terms) for k in (10, 1000)},
        "Euclidean": lambda: find_neighbours(plain, Metric.EUCLIDEAN, 10, terms=terms),
        "bfloat16": lambda: find_neighbours(narrow, Metric.COSINE, 10, terms=terms),
    }


@contextmanager
def worker_side(rows: int, dim: int) -> Iterator[Calls]:
    """The whole way from the window's process to the worker and back."""
    from explorer.compute import protocol
    from explorer.compute.pool import Pool
    from explorer.core.query import RowTerm
    from explorer.core.results import Metric

    said: queue.Queue = queue.Queue()
    pool = Pool(said.put, "cpu")
    pool.start()

    def ask(request: protocol.Request) -> object:
        pool.submit(request)
        while True:
            message = said.get()
            if isinstance(message, protocol.Failed):
                raise message.error
            if isinstance(message, protocol.Done):
                return message.result

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, table(rows, dim))
        source = protocol.Source(str(path))
        name = ask(protocol.OpenFile(1, source)).tables[0].name
        ask(protocol.LoadTable(2, 1, source, name))
    terms = (RowTerm(1.0, ROW),)
    yield {"k = 10": lambda: ask(protocol.Search(3, 1, terms, Metric.COSINE, 10))}
    pool.close()


SIDES = {"faiss": faiss_side, "ours": our_side, "ours, through the worker": worker_side}


def answer(connection: Connection, side: str, rows: int, dim: int) -> None:
    """Time what is asked for, until nothing more is."""
    with SIDES[side](rows, dim) as calls:
        connection.send(list(calls))
        for name in iter(connection.recv, None):
            times = []
            for _ in range(QUERIES):
                begun = time.perf_counter()
                calls[name]()
                times.append(time.perf_counter() - begun)
            connection.send(times)


def main() -> None:
    rows, dim = (int(value) for value in sys.argv[1:3]) if len(sys.argv) > 2 else (ROWS, DIM)
    context = multiprocessing.get_context("spawn")
    connections: dict[str, Connection] = {}
    times: dict[tuple[str, str], list[float]] = {}
    for side in SIDES:
        connections[side], theirs = context.Pipe()
        context.Process(target=answer, args=(theirs, side, rows, dim)).start()
        times.update({(side, name): [] for name in connections[side].recv()})
    for _ in range(TURNS):
        for side, name in times:
            connections[side].send(name)
            times[side, name] += connections[side].recv()
    for connection in connections.values():
        connection.send(None)
    middle = {place: statistics.median(found) for place, found in times.items()}
    print(f"A query at {rows:,} × {dim}, {len(next(iter(times.values())))} times each\n")
    print("| | | milliseconds | faiss's time, times |")
    print("|---|---|---:|---:|")
    for (side, name), found in middle.items():
        peer = middle["faiss", name if ("faiss", name) in middle else "k = 10"]
        print(f"| {side} | {name} | {found * 1000:.1f} | {found / peer:.2f} |")


if __name__ == "__main__":
    main()
