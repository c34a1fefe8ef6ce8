"""The one painter: what the screen, a PNG, an SVG and a PDF show comes from here."""

from __future__ import annotations

import math

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPaintEngine, QPainter, QPen, QPixmap, QPolygonF

from explorer.export.figure import (
    FOCUS_RADIUS,
    HOVER_GROWTH,
    RESULT_RADIUS,
    STAR_RADIUS,
    Figure,
)
from explorer.export.legend import draw_legend
from explorer.export.paths import draw_paths
from explorer.export.text import (
    HALO,
    LONGEST_LINE,
    TextCache,
    draw_label,
    draw_region,
    draw_text,
    font,
    shown_text,
)
from explorer.render.raster import Raster

LINK_OPACITY = 0.5
FRAME = 1.5
"""Width in points of a picture's frame."""
VECTOR_ENGINES = (QPaintEngine.Type.SVG, QPaintEngine.Type.Pdf, QPaintEngine.Type.Picture)


def image_of(raster: Raster) -> QImage:
    """The raster's pixels as an image without a copy; the raster must outlive it."""
    return QImage(
        raster.pixels.data,
        raster.width,
        raster.height,
        raster.width * 4,
        QImage.Format.Format_ARGB32_Premultiplied,
    )


def paint(
    painter: QPainter, figure: Figure, *, points: QImage | None = None, cache: TextCache | None = None
) -> None:
    """Paint the figure, one unit of the painter a point, its left top corner at the origin.

    Parameters
    ----------
    painter : QPainter
    figure : Figure
    points : QImage, optional
        The points' raster (``draw_points`` and ``image_of``), at any resolution; without it only the ground
        lies under the overlays.
    cache : TextCache, optional
        Keeps label pictures between calls; whoever repaints often passes the same one.
    """
    size = QRectF(0, 0, figure.viewport.width, figure.viewport.height)
    painter.save()
    painter.setClipRect(size, Qt.ClipOperation.IntersectClip)
    painter.fillRect(size, QColor(figure.theme.map))
    if points is not None:
        painter.drawImage(size, points)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    cache = TextCache() if cache is None else cache
    _draw_regions(painter, figure, cache)
    _draw_links(painter, figure)
    _draw_thumbnails(painter, figure)
    _draw_ringed(painter, figure)
    draw_paths(painter, figure)
    _draw_stars(painter, figure)
    _draw_labels(painter, figure, cache)
    draw_legend(painter, figure)
    _draw_title(painter, figure)
    painter.restore()


def _draw_links(painter: QPainter, figure: Figure) -> None:
    colour = QColor(figure.theme.accent)
    colour.setAlphaF(LINK_OPACITY)
    painter.setPen(QPen(colour, 1))
    for link in figure.links:
        start = _pixel(figure, link.x, link.y)
        ends = [_place(figure, row) for row in link.rows]
        if start is not None:
            painter.drawLines([QLineF(start, end) for end in ends if end is not None])


def _draw_regions(painter: QPainter, figure: Figure, cache: TextCache) -> None:
    ratio, vector = painter.deviceTransform().m11(), _is_vector(painter)
    for region in reversed(figure.regions):
        middle = _pixel(figure, region.x, region.y)
        if middle is None:
            continue
        width, height = cache.region_size(region)
        box = QRectF(middle.x() - width / 2, middle.y() - height / 2, width, height)
        painter.setOpacity(region.opacity)
        if vector:
            draw_region(painter, region, figure.theme, box)
        else:
            corner = _on_pixel(box.left() - HALO, box.top() - HALO, ratio)
            painter.drawImage(corner, cache.region_image(region, figure.theme, ratio))
    painter.setOpacity(1.0)


def _draw_thumbnails(painter: QPainter, figure: Figure) -> None:
    """Pictures in frames of their rows' colours; the ring of a row that stands out goes around its frame."""
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    above = {figure.focus, figure.hover}
    others, firsts = (
        [each for each in figure.thumbnails if (each.row in above) is up] for up in (False, True)
    )
    for picture in (*reversed(others), *reversed(firsts)):
        box = QRectF(picture.x, picture.y, picture.width, picture.height)
        if picture.row in above or picture.row in figure.results:
            ring = 3.0 if picture.row in above else 1.6
            painter.fillRect(_grown(box, FRAME + ring), QColor(figure.theme.ring))
        painter.fillRect(_grown(box, FRAME), QColor(*figure.colour_of(picture.row)))
        painter.fillRect(box, QColor(figure.theme.panel))
        if isinstance(picture.image, QImage):
            painter.drawImage(box, picture.image)
        elif isinstance(picture.image, QPixmap):
            painter.drawPixmap(box, picture.image, QRectF(picture.image.rect()))


def _grown(box: QRectF, by: float) -> QRectF:
    return box.adjusted(-by, -by, by, by)


def _is_vector(painter: QPainter) -> bool:
    engine = painter.paintEngine()
    return engine is not None and engine.type() in VECTOR_ENGINES


def _on_pixel(x: float, y: float, ratio: float) -> QPointF:
    return QPointF(round(x * ratio) / ratio, round(y * ratio) / ratio)


def _draw_ringed(painter: QPainter, figure: Figure) -> None:
    for row in reversed(figure.results.tolist()):
        if row != figure.focus:
            _draw_disc(painter, figure, row, RESULT_RADIUS, 1.2)
    if figure.hover is not None and figure.hover != figure.focus:
        known = figure.hover in figure.results
        _draw_disc(
            painter, figure, figure.hover, RESULT_RADIUS if known else figure.dots.radius + HOVER_GROWTH, 1.2
        )
    if figure.focus is not None:
        _draw_disc(painter, figure, figure.focus, FOCUS_RADIUS, 1.6)


def _draw_disc(painter: QPainter, figure: Figure, row: int, radius: float, ring: float) -> None:
    centre = _place(figure, row)
    if centre is None or any(picture.row == row for picture in figure.thumbnails):
        return
    painter.setPen(QPen(QColor(figure.theme.ring), ring))
    painter.setBrush(QColor(*figure.colour_of(row)))
    painter.drawEllipse(centre, radius, radius)


def _draw_stars(painter: QPainter, figure: Figure) -> None:
    stars = [
        _star(centre) for centre in (_pixel(figure, x, y) for x, y in figure.stars) if centre is not None
    ]
    painter.setBrush(QColor(figure.theme.ring))
    for pen in (QPen(QColor(figure.theme.map), 2.4), QPen(Qt.PenStyle.NoPen)):
        painter.setPen(pen)
        for star in stars:
            painter.drawPolygon(star)


def _star(centre: QPointF) -> QPolygonF:
    radii = (STAR_RADIUS, STAR_RADIUS * 0.45)
    angles = [math.pi * (i / 5 - 0.5) for i in range(10)]
    return QPolygonF(
        [
            QPointF(centre.x() + radii[i % 2] * math.cos(a), centre.y() + radii[i % 2] * math.sin(a))
            for i, a in enumerate(angles)
        ]
    )


def _draw_labels(painter: QPainter, figure: Figure, cache: TextCache) -> None:
    ratio, vector = painter.deviceTransform().m11(), _is_vector(painter)
    if vector:
        for label in reversed(figure.labels):
            draw_label(painter, label, figure.theme, QPointF(label.x, label.y))
        return
    # The most important are asked for first, where some must wait, and lie on top.
    images = [(label, cache.image(label, figure.theme, ratio)) for label in figure.labels]
    for label, image in reversed(images):
        if image is not None:
            painter.drawImage(_on_pixel(label.x - HALO, label.y - HALO, ratio), image)


def _draw_title(painter: QPainter, figure: Figure) -> None:
    theme, halo, base = figure.theme, QColor(figure.theme.map), 28
    if figure.title:
        face = font(16, bold=True)
        title = shown_text(figure.title, LONGEST_LINE)
        draw_text(painter, title, face, QColor(theme.text), QPointF(16, base), halo)
        base += 19
    if figure.subtitle:
        line = shown_text(figure.subtitle, LONGEST_LINE)
        draw_text(painter, line, font(12), QColor(theme.quiet), QPointF(16, base), halo)


def _place(figure: Figure, row: int) -> QPointF | None:
    return _pixel(figure, float(figure.xy[row, 0]), float(figure.xy[row, 1]))


def _pixel(figure: Figure, x: float, y: float) -> QPointF | None:
    at = figure.to_points(x, y)
    return None if at is None else QPointF(*at)
