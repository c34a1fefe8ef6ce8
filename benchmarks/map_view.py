"""The map as the window shows it, at a million rows: its thread's time for each thing a person does.

Run as ``python -m benchmarks.map_view [ROWS …]``. It is the real widget with its document, labels, legend
and commands, 1200 × 900, repainted each time; what is counted is the processor time of the window's thread
alone, so that neither its helpers nor other programs blur it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication

from explorer.commands import Session
from explorer.core.health import Health, HealthCounts
from explorer.core.labels import Labels
from explorer.core.listing import LoadedTable, TableListing
from explorer.core.query import RowTerm
from explorer.core.results import Background, Clusters, Metric, SearchResult
from explorer.core.table import Role
from explorer.document import Answer, Document, LayoutStage, Question
from explorer.document.settings import Settings
from explorer.jobs import Jobs
from explorer.views.map.map_view import MapView
from explorer.views.theme import apply_theme
from explorer.views.thumbnails import Thumbnails

FEWEST = 50_000
"""Fewer rows have no index to wait for."""
ROWS, TIMES, FRAMES = 1_000_000, 5, 30
NO_KEYS = Qt.KeyboardModifier.NoModifier


class Bench:
    """A map of so many rows, and what is done to it."""

    def __init__(self, application: QApplication, rows: int, dimensions: int = 2) -> None:
        self.application = application
        self.held = 0.0
        random = np.random.default_rng(1)
        group = random.integers(0, 60, rows)
        centres = random.normal(0, 10, (60, dimensions))
        self.positions = (centres[group] + random.normal(0, 1, (rows, dimensions))).astype(np.float32)
        self.document = Document()
        self.session = Session(self.document, Jobs("cpu"), Settings())
        self.thumbnails = Thumbnails()
        self.view = MapView(self.session, self.thumbnails)
        self.view.resize(1200, 900)
        self.view.show()
        self.settle()
        self.held = 0.0
        self.document.set_table(
            LoadedTable(
                key=1,
                path="made",
                listing=TableListing("made", rows, 64, "float32", Role.OTHER),
                labels=Labels.from_texts((f"word{row}" for row in range(rows)), "made"),
                health=Health(
                    np.zeros(rows, np.uint8), np.ones(rows, np.float32), np.arange(rows), HealthCounts()
                ),
                scaled=False,
                device="cpu",
                metadata={
                    "kind": np.array([f"kind {number}" for number in range(500)])[
                        random.integers(0, 500, rows)
                    ],
                    "many kinds": np.array([f"thing {number}" for number in range(10_000)])[
                        random.integers(0, 10_000, rows)
                    ],
                    "number": random.normal(size=rows).astype(np.float32),
                },
            )
        )
        self.document.set_positions(self.positions, LayoutStage.STOPPED)
        self.document.set_clusters(Clusters((group % 12).astype(np.int16), tuple("abcdefghijkl")))
        while self.view.canvas.item.figure is None or self.view.canvas.item.figure.index is None:
            self.settle(0.1)
        self.settle()

    def settle(self, seconds: float = 1.0) -> None:
        """Let the map come to rest, with its index."""
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            start = time.thread_time()
            self.application.processEvents()
            self.held = max(self.held, time.thread_time() - start)

    def measure(self, name: str, act: Callable[[int], object], times: int = TIMES) -> None:
        """Print the median and the slowest twentieth of an act with its repaint."""
        taken = []
        for turn in range(times):
            start = time.thread_time()
            act(turn)
            self.view.canvas.viewport().repaint()
            taken.append((time.thread_time() - start) * 1e3)
        print(f"| {name} | {np.median(taken):.1f} | {np.quantile(taken, 0.95):.1f} |", flush=True)

    def close(self) -> None:
        """End what was started."""
        self.view.close_down()
        self.thumbnails.close()
        self.session.close()
        self.session.jobs.shutdown()


def measure_flat(bench: Bench) -> None:
    """Everything that a map of two dimensions can do."""
    document, view, canvas = bench.document, bench.view, bench.view.canvas
    print(f"| first pictures: held at most | {bench.held * 1e3:.1f} | |", flush=True)
    whole = canvas.viewport_now
    bench.measure("drag", lambda turn: canvas.show_viewport(whole.panned(turn, 0)), FRAMES)
    bench.measure("zoom", lambda turn: canvas.show_viewport(whole.zoomed_at(400, 300, 1 + turn / 20)), FRAMES)
    canvas.show_viewport(whole)
    bench.settle()
    places = whole.to_pixels(bench.positions[:FRAMES])
    bench.measure(
        "hover",
        lambda turn: canvas.pointed.emit(canvas.item.row_at(*places[turn]), QPointF(*places[turn])),
        FRAMES,
    )
    background = Background(0, 1, np.zeros(8, np.int64), np.linspace(-1, 1, 9))
    found = SearchResult(np.arange(50), np.linspace(1, 0, 50, dtype=np.float32), Metric.COSINE, background)
    question = Question("word5", (RowTerm(1.0, 5), RowTerm(1.0, 7)))
    bench.measure("show an answer", lambda _turn: document.set_answer(Answer(question, found)))
    for by in ("kind", "many kinds", "number", "row length", "cluster"):
        document.set_colouring(replace(document.colouring, by=by))
        bench.settle(3.0)  # a column of texts is read beside the window
        document.set_colouring(replace(document.colouring, by="one colour"))
        bench.settle()
        colouring = replace(document.colouring, by=by)
        bench.measure(f"colour by {by}", lambda _turn, new=colouring: document.set_colouring(new), 1)
    bench.settle()
    hidden = [replace(document.colouring, hidden=frozenset({code})) for code in range(TIMES)]
    bench.measure("hide a line of the legend", lambda turn: document.set_colouring(hidden[turn]))
    document.set_colouring(replace(document.colouring, hidden=frozenset()))
    angles = np.linspace(0, 2 * np.pi, 120)
    ring = np.column_stack([600 + 330 * np.cos(angles), 450 + 330 * np.sin(angles)])
    bench.measure("lasso", lambda turn: canvas.drawn.emit(ring + turn, NO_KEYS))
    share = len(document.selection) / len(bench.positions)
    bench.measure(
        f"drag with {share:.0%} selected", lambda turn: canvas.show_viewport(whole.panned(turn, 0)), FRAMES
    )
    bench.session.selecting.clear()
    document.set_positions(bench.positions, LayoutStage.MOVING)
    view.fit()

    def move(_turn: int) -> None:
        bench.positions += np.float32(0.001)
        view.show_next_frame()

    bench.measure("a frame while the layout moves", move, FRAMES)
    document.set_positions(bench.positions, LayoutStage.STOPPED)


def main() -> None:
    """Print a table for each number of rows."""
    application = QApplication(sys.argv[:1])
    apply_theme(application, "light")
    for rows in [max(int(word), FEWEST) for word in sys.argv[1:]] or [ROWS]:
        print(f"{rows:,} rows\n\n| | median, ms | 95 %, ms |\n|---|---|---|")
        bench = Bench(application, rows)
        measure_flat(bench)
        bench.close()
        deep = Bench(application, rows, dimensions=3)
        turn = deep.view.canvas.turned.emit
        deep.measure("turn three dimensions", lambda _turn, turn=turn: turn(5.0, 1.0), FRAMES)
        deep.close()


if __name__ == "__main__":
    main()
