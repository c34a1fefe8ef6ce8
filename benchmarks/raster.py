"""The map's picture beside pyqtgraph's ScatterPlotItem: frames, moving frames, new colours, hits, a lasso.

Run as ``python -m benchmarks.raster [ROWS …]``; both draw the same rows, colours and size, in turn,
in one process, into an image of 1200 × 900. Ours has its labels placed and drawn as well. Both work in
one thread, whose processor time is counted: other programs do not blur it. ``--plot FILE.png`` draws
how the figures grow.
"""

from __future__ import annotations

import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from benchmarks.growth_plot import draw_growth
from explorer.export.drawing import draw_in_slices, draw_points
from explorer.export.figure import Figure
from explorer.export.labelling import with_labels
from explorer.export.painter import image_of, paint
from explorer.export.text import TextCache
from explorer.render.budget import FrameBudget
from explorer.render.camera import Camera, project
from explorer.render.density import prefers_density
from explorer.render.palette import LIGHT, category_palette, rgb
from explorer.render.point_index import PointIndex
from explorer.render.raster import Raster, dots_for
from explorer.render.sample import Sample, spread_out
from explorer.render.selection import rows_in_polygon
from explorer.render.thumbnails import place_thumbnails
from explorer.render.viewport import Viewport
from explorer.views.map.figure_maker import MOST_LOOKED_AT
from explorer.views.map.map_item import MOVING_SECONDS, SLICE_SECONDS
from explorer.views.map.places import MOST_TURNING

WIDTH, HEIGHT, CATEGORIES = 1200, 900, 9
MOVES, TIMES = 60, 5
MOST_FOR_THEM = 1_000_000
"""A ScatterPlotItem of ten million rows would take some ten gigabytes."""
Turn = Callable[[int], object]


def clusters(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in 40 Gaussian clusters of 9 colours: about as uneven as a layout."""
    rng = np.random.default_rng(0)
    cluster = rng.integers(0, 40, rows)
    centres = rng.normal(scale=3.0, size=(40, 2))
    xy = centres[cluster] + rng.normal(scale=0.6, size=(rows, 2))
    return xy.astype(np.float32), (cluster % CATEGORIES).astype(np.uint8)


class Screen:
    """What a map of any number of rows needs: its pixels, and the pictures of its labels."""

    def __init__(self) -> None:
        self.raster, self.cache = Raster(WIDTH, HEIGHT), TextCache()
        self.points = image_of(self.raster)
        self.image = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)


class Ours:
    """A map as the window draws it: what ``MapItem`` and ``FigureMaker`` do, without the window."""

    def __init__(self, xy: np.ndarray, codes: np.ndarray, screen: Screen) -> None:
        self.base = Viewport.fitted(xy, WIDTH, HEIGHT)
        self.figure = Figure(
            xy, codes, category_palette(CATEGORIES, LIGHT), self.base, dots_for(len(xy), WIDTH, HEIGHT)
        )
        self.index_seconds, index = seconds_of(lambda: PointIndex.of(xy))
        self.figure = replace(self.figure, index=index if len(xy) >= 50_000 else None)
        self.screen, self.raster, self.cache = screen, screen.raster, screen.cache
        self.budget = FrameBudget(MOVING_SECONDS)
        self.placement = None
        self.dense = False
        self.other_codes = [codes, (codes + 1) % CATEGORIES]
        angles = np.linspace(0, 2 * np.pi, 300)
        reach = np.hypot(*(xy - np.median(xy, axis=0)).T)
        wobble = np.median(reach) * (1 + 0.05 * np.sin(9 * angles))
        self.lasso = np.median(xy, axis=0) + wobble[:, None] * np.column_stack(
            [np.cos(angles), np.sin(angles)]
        )

    def figure_for(self, view: Viewport, moving: bool, codes: np.ndarray | None = None) -> Figure:
        zoom = view.scale / self.base.scale
        figure = replace(self.figure, viewport=view, dots=dots_for(len(self.figure.xy), WIDTH, HEIGHT, zoom))
        if codes is not None:
            figure = replace(figure, codes=codes)
        if figure.index is not None:
            self.dense = prefers_density(figure.index, view, figure.dots, self.dense)
        figure = replace(figure, density=self.dense)
        figure, self.placement = with_labels(figure, str, self.cache, previous=self.placement, moving=moving)
        return figure

    def show(self, figure: Figure) -> None:
        painter = QPainter(self.screen.image)
        paint(painter, figure, points=self.screen.points, cache=self.cache)
        painter.end()

    def frame(self, turn: int) -> None:
        """In discs, even where a crowd would be shown."""
        figure = self.figure_for(self.base.panned(turn, turn), moving=False)
        draw_points(replace(figure, density=False), self.raster)
        self.show(figure)

    def crowds(self, turn: int) -> None:
        figure = self.figure_for(self.base.panned(turn, turn), moving=False)
        draw_points(replace(figure, density=True), self.raster)
        self.show(figure)

    def moving_frame(self, turn: int) -> None:
        """One of a drag and a zoom to four times the size and back."""
        zoom = 4 ** np.sin(np.pi * turn / MOVES)
        view = self.base.zoomed_at(500, 400, zoom).panned(20 * np.sin(turn / 5), 5 * turn % 90)
        figure = self.figure_for(view, moving=True)
        taken, rows = seconds_of(lambda: draw_points(figure, self.raster, hits=False, most=self.budget.rows))
        self.budget.spent(rows, taken)
        self.show(figure)

    def recoloured(self, turn: int) -> None:
        codes = (self.figure.codes + turn) % CATEGORIES  # as from another column
        figure = self.figure_for(self.base, moving=False, codes=codes)
        draw_points(replace(figure, density=False), self.raster)
        self.show(figure)

    def slices(self) -> Iterator[float]:
        """Seconds of each part of a picture that is refined while the window answers."""
        rows = self.budget.rows_in(SLICE_SECONDS)
        figure = self.figure_for(self.base, moving=False)
        parts = draw_in_slices(figure, self.raster, slice_rows=rows)
        while True:
            taken, part = seconds_of(lambda: next(parts, None))
            yield taken
            if part is None:
                return

    def turned(self, xyz: np.ndarray) -> Turn:
        out = np.zeros((len(xyz), 2), np.float32), np.zeros(len(xyz), np.float32)
        chosen = spread_out(len(xyz), MOST_TURNING)
        places, named = xyz[chosen], np.arange(min(len(xyz), MOST_LOOKED_AT))
        budget = FrameBudget(MOVING_SECONDS)

        def turn_a_little(turn: int) -> None:
            camera, centre = Camera(0.02 * turn, 0.3), (0.0, 0.0, 0.0)
            xy, depth = project(xyz, camera, out, centre, named)
            drawn = Sample(chosen, *project(places, camera, centre=centre), len(chosen) / len(xyz))
            figure = replace(self.figure, xy=xy, depth=depth, sample=drawn, index=None, density=False)
            figure, self.placement = with_labels(
                figure, str, self.cache, order=named, previous=self.placement, moving=True
            )
            taken, rows = seconds_of(lambda: draw_points(figure, self.raster, hits=False, most=budget.rows))
            budget.spent(rows, taken)
            self.show(figure)

        return turn_a_little


def theirs(xy: np.ndarray, codes: np.ndarray) -> dict[str, Turn]:
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
        "frame while moving": frame,
        "full-quality frame": frame,
        "recolour by another column": recolour,
        "hover answer": lambda turn: scatter.pointsAt(QPointF(centre.x() + 0.001 * turn, centre.y())),
    }


def lasso_of_half(xy: np.ndarray) -> np.ndarray:
    """A wavy outline of 300 corners around the middle of the rows, shape (300, 2)."""
    angles, middle = np.linspace(0, 2 * np.pi, 300), np.median(xy[::100], axis=0)
    reach = np.median(np.hypot(*(xy[::100] - middle).T)) * (1 + 0.05 * np.sin(9 * angles))
    return middle + reach[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])


def seconds_of(work: Callable[[], object]) -> tuple[float, object]:
    """This thread's processor time for some work, and its result."""
    start = time.thread_time()
    result = work()
    return time.thread_time() - start, result


def milliseconds(turn: Turn, times: int, share: float = 0.5) -> float:
    """A quantile of so many turns after a first one."""
    turn(0)
    return 1e3 * float(np.quantile([seconds_of(lambda i=i: turn(i))[0] for i in range(1, times + 1)], share))


Figures = dict[str, tuple[float, float | None]]


def measure(rows: int) -> Figures:
    """Ours and theirs by name, in milliseconds unless the name says else; None where there is none."""
    xy, codes = clusters(rows)
    screen = Screen()
    Ours(*clusters(1000), screen).frame(0)
    tracemalloc.start()
    ours = Ours(xy, codes, screen)
    for turn in range(0, MOVES, 6):
        ours.moving_frame(turn)
    ours.frame(0)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    bytes_a_row = kept / rows + codes.itemsize + xy.itemsize * 2
    lasso = lasso_of_half(xy)
    turns: dict[str, tuple[Turn, int, float]] = {
        "frame while moving": (ours.moving_frame, MOVES, 0.95),
        "full-quality frame": (ours.frame, TIMES, 0.5),
        "full-quality frame of crowds": (ours.crowds, TIMES, 0.5),
        "recolour by another column": (ours.recoloured, TIMES, 0.5),
        "hover answer": (lambda turn: ours.raster.row_at(WIDTH / 2 + turn, HEIGHT / 2), TIMES, 0.5),
        "lasso of half the rows": (lambda _turn: rows_in_polygon(xy, lasso, ours.figure.index), TIMES, 0.5),
    }
    peer = theirs(xy, codes) if rows <= MOST_FOR_THEM else {}
    figures: Figures = {}
    for name, (turn, times, share) in turns.items():
        other = milliseconds(peer[name], 3) if name in peer else None
        figures[name] = milliseconds(turn, times, share), other
    del peer
    figures["the window's thread held, at most, by a full-quality frame"] = 1e3 * max(ours.slices()), None
    xyz = np.column_stack([xy, np.random.default_rng(1).normal(scale=2, size=rows)]).astype(np.float32)
    figures["frame while turned in three dimensions"] = milliseconds(ours.turned(xyz), MOVES, 0.95), None
    aspects = np.full(rows, 1.5, np.float32)
    pictures = milliseconds(lambda turn: place_thumbnails(xy, ours.base.panned(turn, 0), aspects), TIMES)
    figures["pictures placed"] = pictures, None
    figures["index made, beside the window's thread"] = 1e3 * ours.index_seconds, None
    figures["bytes a row over the table's own"] = bytes_a_row, None
    return figures


def main(arguments: list[str]) -> None:
    """Print a Markdown table."""
    application = QApplication.instance() or QApplication(sys.argv[:1])
    plot = arguments[arguments.index("--plot") + 1] if "--plot" in arguments else None
    sizes = [int(float(size)) for size in arguments if size[0].isdigit()] or [10**4, 10**5, 10**6, 10**7]
    print(f"| rows | {WIDTH} × {HEIGHT} | Embedding Explorer | ScatterPlotItem | ratio |")
    print("|--:|---|--:|--:|--:|")
    found = {}
    for rows in sizes:
        found[rows] = measure(rows)
        for name, (mine, other) in found[rows].items():
            unit = "" if name.startswith("bytes") else " ms"
            peer = "" if other is None else f"{other:,.3g}{unit}"
            ratio = "" if other is None else f"{other / mine:,.1f} ×"
            print(f"| {rows:,} | {name} | {mine:,.3g}{unit} | {peer} | {ratio} |", flush=True)
    if plot is not None:
        draw_growth(found, plot)
    del application


if __name__ == "__main__":
    main(sys.argv[1:])
