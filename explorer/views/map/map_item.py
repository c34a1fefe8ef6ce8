"""The one graphics item of the map: raster below, overlays above, both from one figure."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from explorer.export.drawing import draw_points
from explorer.export.figure import Figure
from explorer.export.painter import image_of, paint
from explorer.export.text import TextCache
from explorer.render.raster import Raster, cheap_step


class MapItem(pg.GraphicsObject):
    """Shows a figure; redraws its points only when they, their colours or the view have changed."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = TextCache()
        self._figure: Figure | None = None
        self._raster = Raster(1, 1)
        self._image: QImage | None = None
        self._stale = True
        self._coarse = False
        self._ratio = 1.0

    @property
    def figure(self) -> Figure | None:
        """What is shown."""
        return self._figure

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
        self._stale = self._stale or points_changed
        self._coarse = coarse
        self.update()

    def row_at(self, x: float, y: float) -> int:
        """The row at a position in points, or -1."""
        if self._image is None:
            return -1
        return self._raster.row_at(x * self._ratio, y * self._ratio, 4.0 * self._ratio)

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
        paint(painter, figure, points=self._image, cache=self.cache)

    def _draw_points(self, figure: Figure, ratio: float) -> None:
        size = figure.viewport.magnified(ratio)
        if (size.width, size.height) != (self._raster.width, self._raster.height) or self._image is None:
            self._raster = Raster(size.width, size.height)
            self._image = image_of(self._raster)
        step = cheap_step(len(figure.xy)) if self._coarse else 1
        draw_points(figure, self._raster, ratio, step=step, hits=not self._coarse)
        self._ratio = ratio
        self._stale = False
