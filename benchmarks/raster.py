"""The map's picture beside pyqtgraph's ScatterPlotItem: a frame, a moving frame, new colours, a hit.

Run as ``python -m benchmarks.raster [ROWS …]``; both draw the same rows, colours and size, in turn,
in one process, into an image of 1200 × 900. Ours has its labels placed and drawn as well. Both work in
one thread, whose processor time is counted: other programs do not blur it.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from explorer.export.drawing import draw_points
from explorer.export.figure import Figure
from explorer.export.labelling import with_labels
from explorer.export.painter import image_of, paint
from explorer.export.text import TextCache
from explorer.render.palette import LIGHT, category_palette, rgb
from explorer.render.raster import Raster, cheap_step, dots_for
from explorer.render.viewport import Viewport

WIDTH, HEIGHT, CATEGORIES, TIMES = 1200, 900, 9, 5


def clusters(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in 40 Gaussian clusters of 9 colours: about as uneven as a layout."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, 40, rows)
    centres = rng.normal(scale=3.0, size=(40, 2))
    xy = centres[cluster] + rng.normal(scale=0.6, size=(rows, 2))
    return xy.astype(np.float32), (cluster % CATEGORIES).astype(np.uint8)


def ours(xy: np.ndarray, codes: np.ndarray) -> dict[str, Callable[[int], object]]:
    """What to time, by name; each takes the number of its turn."""
    base = Viewport.fitted(xy, WIDTH, HEIGHT)
    palette = category_palette(CATEGORIES, LIGHT)
    raster, cache = Raster(WIDTH, HEIGHT), TextCache()
    points, image = image_of(raster), QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)

    placement = None

    def frame(turn: int, moving: bool = False, shift: int = 0) -> None:
        nonlocal placement
        view = base.panned(turn, turn)
        colours = np.roll(palette, shift, axis=0)
        figure = Figure(xy, codes, colours, view, dots_for(len(xy), WIDTH, HEIGHT))
        figure, placement = with_labels(figure, str, cache, previous=placement)
        draw_points(figure, raster, step=cheap_step(len(xy)) if moving else 1, hits=not moving)
        painter = QPainter(image)
        paint(painter, figure, points=points, cache=cache)
        painter.end()

    frame(0)
    return {
        "frame": frame,
        "moving frame": lambda turn: frame(turn, moving=True),
        "new colours": lambda turn: frame(0, shift=turn),
        "hit": lambda turn: raster.row_at(WIDTH / 2 + turn, HEIGHT / 2),
    }


def theirs(xy: np.ndarray, codes: np.ndarray) -> dict[str, Callable[[int], object]]:
    """The same of a ScatterPlotItem in a GraphicsLayout, without outlines, at the same size of dots."""
    dots = dots_for(len(xy), WIDTH, HEIGHT)
    colours = [QColor(*rgb(colour)) for colour in LIGHT.categories]
    for colour in colours:
        colour.setAlphaF(dots.opacity)
    brushes = np.array([pyqtgraph.mkBrush(colour) for colour in colours], object)
    widget = pyqtgraph.PlotWidget(background=LIGHT.map)
    widget.resize(WIDTH, HEIGHT)
    widget.hideAxis("left")
    widget.hideAxis("bottom")
    scatter = pyqtgraph.ScatterPlotItem(
        x=xy[:, 0], y=xy[:, 1], size=2 * dots.radius, pen=None, brush=brushes[codes].tolist(), antialias=True
    )
    widget.addItem(scatter)
    widget.show()
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)

    def draw() -> None:
        painter = QPainter(image)
        widget.render(painter)
        painter.end()

    def frame(turn: int) -> None:
        widget.getViewBox().translateBy(x=0.01 * (-1) ** turn)
        draw()

    def recolour(turn: int) -> None:
        scatter.setBrush(np.roll(brushes, turn)[codes].tolist())
        draw()

    draw()
    centre = widget.getViewBox().viewRect().center()
    return {
        "frame": frame,
        "moving frame": frame,
        "new colours": recolour,
        "hit": lambda turn: scatter.pointsAt(QPointF(centre.x() + 0.001 * turn, centre.y())),
    }


def measure(rows: int) -> dict[str, tuple[float, float]]:
    """Median milliseconds by name: ours, theirs."""
    xy, codes = clusters(rows)
    parties = ours(xy, codes), theirs(xy, codes)
    medians = {}
    for name in parties[0]:
        seconds: tuple[list[float], list[float]] = ([], [])
        for turn in range(TIMES):
            for party, kept in zip(parties, seconds, strict=True):
                start = time.thread_time()
                party[name](turn + 1)
                kept.append(time.thread_time() - start)
        medians[name] = (1e3 * statistics.median(seconds[0]), 1e3 * statistics.median(seconds[1]))
    return medians


def main(sizes: list[int]) -> None:
    """Print a Markdown table."""
    application = QApplication.instance() or QApplication(sys.argv[:1])
    print(f"| rows | {WIDTH} × {HEIGHT} | Embedding Explorer | ScatterPlotItem | ratio |")
    print("|--:|---|--:|--:|--:|")
    for rows in sizes:
        for name, (mine, other) in measure(rows).items():
            print(
                f"| {rows:,} | {name} | {mine:.2f} ms | {other:.1f} ms | {other / mine:,.1f} × |", flush=True
            )
    del application


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [12_000, 100_000, 1_000_000])
