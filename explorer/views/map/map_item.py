"""The one graphics item of the map: raster below, overlays above, both from one figure."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pyqtgraph as pg
from PySide6.QtCore import QRectF, QTimer
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from explorer.export.drawing import draw_in_slices, draw_points, rows_to_draw
from explorer.export.figure import Figure
from explorer.export.painter import image_of, paint
from explorer.export.text import TextCache
from explorer.render.budget import FrameBudget
from explorer.render.raster import Raster

MOVING_SECONDS = 0.005
"""What the points of a moving picture may take: labels and the rest of a frame have as much again."""
AT_ONCE_SECONDS = 0.015
"""A still picture that takes longer is drawn a slice at a time."""
NEW_LABELS = 32
"""So many labels that were never drawn before are drawn at once; the others a frame later: 0.2 ms each."""
SLICE_SECONDS = 0.012
MOST_MOVING_PIXELS = 3_000_000
"""Screens with more are drawn at half the resolution while the picture moves."""


class MapItem(pg.GraphicsObject):
    """Shows a figure; redraws its points only when they, their colours or the view have changed.

    What can't be drawn at once is shown as a sample first, and refined behind it while the window
    answers.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cache = TextCache()
        self.budget = FrameBudget(MOVING_SECONDS)
        self._figure: Figure | None = None
        self._raster = Raster(1, 1)
        self._image: QImage | None = None
        self._stale = True
        self._coarse = False
        self._ratio = 1.0
        self._drawn_ratio = 1.0
        self._finer: tuple[Raster, Iterator[int]] | None = None
        self._slices = QTimer(self)
        self._slices.setInterval(0)
        self._slices.timeout.connect(self._draw_slice)

    @property
    def figure(self) -> Figure | None:
        """What is shown."""
        return self._figure

    @property
    def refining(self) -> bool:
        """Whether a finer picture is on its way."""
        return self._finer is not None

    def show_figure(
        self, figure: Figure | None, *, points_changed: bool = True, coarse: bool = False
    ) -> None:
        """Show a figure.

        Parameters
        ----------
        figure : Figure or None
        points_changed : bool
            False where only what lies above the points is new.
        coarse : bool
            The view is moving: a cheaper picture will do.
        """
        if figure is None or self._figure is None or figure.viewport != self._figure.viewport:
            self.prepareGeometryChange()
            points_changed = True
        self._figure = figure
        if points_changed:
            self._stale = True
            self._stop_refining()
        self._coarse = coarse
        self.update()

    def row_at(self, x: float, y: float) -> int:
        """The row at a position in points, or -1."""
        if self._image is None:
            return -1
        return self._raster.row_at(x * self._drawn_ratio, y * self._drawn_ratio, 4.0 * self._drawn_ratio)

    def boundingRect(self) -> QRectF:
        if self._figure is None:
            return QRectF()
        return QRectF(0, 0, self._figure.viewport.width, self._figure.viewport.height)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        figure = self._figure
        if figure is None:
            return
        ratio = painter.device().devicePixelRatioF()
        if self._stale or ratio != self._ratio or self._image is None:
            self._draw_points(figure, ratio)
        self.cache.allow(NEW_LABELS)
        paint(painter, figure, points=self._image, cache=self.cache)
        if self.cache.allow(None):
            QTimer.singleShot(0, self, self.update)

    def _draw_points(self, figure: Figure, ratio: float) -> None:
        self._stop_refining()
        if self._coarse:
            size = figure.viewport.magnified(ratio)
            fine = size.width * size.height <= MOST_MOVING_PIXELS
            few = self.budget.time_for(rows_to_draw(figure)) < MOVING_SECONDS / 2
            self._draw_sample(figure, ratio if fine else ratio / 2, hits=few)
        elif self.budget.time_for(rows_to_draw(figure)) <= AT_ONCE_SECONDS:
            raster, start = self._raster_for(figure, ratio), time.perf_counter()
            rows = draw_points(figure, raster, ratio)
            self.budget.paced(rows, time.perf_counter() - start)
            self._show(raster, ratio)
        else:
            self._draw_sample(figure, ratio, hits=True)
            size = figure.viewport.magnified(ratio)
            raster = Raster(size.width, size.height)
            slice_rows = self.budget.rows_in(SLICE_SECONDS)
            self._finer = raster, draw_in_slices(figure, raster, ratio, slice_rows=slice_rows)
            self._slices.start()
        self._ratio = ratio
        self._stale = False

    def _draw_sample(self, figure: Figure, ratio: float, hits: bool) -> None:
        raster, start = self._raster_for(figure, ratio), time.perf_counter()
        rows = draw_points(figure, raster, ratio, hits=hits, most=self.budget.rows)
        self.budget.spent(rows, time.perf_counter() - start)
        self._show(raster, ratio)

    def _draw_slice(self) -> None:
        """Draw a little of the finer picture; the last slice shows it."""
        if self._finer is None:
            self._slices.stop()
            return
        raster, slices = self._finer
        if next(slices, None) is None:
            self._stop_refining()
            self._show(raster, self._ratio)
            self.update()

    def _stop_refining(self) -> None:
        self._slices.stop()
        self._finer = None

    def _raster_for(self, figure: Figure, ratio: float) -> Raster:
        size = figure.viewport.magnified(ratio)
        if (max(size.width, 1), max(size.height, 1)) == (self._raster.width, self._raster.height):
            return self._raster
        return Raster(size.width, size.height)

    def _show(self, raster: Raster, ratio: float) -> None:
        if raster is not self._raster or self._image is None:
            self._raster, self._image = raster, image_of(raster)
        self._drawn_ratio = ratio
