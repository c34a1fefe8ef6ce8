"""Figures to files: real pixels for PNG, the same painter for SVG and PDF, whole files or none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSize, QSizeF
from PySide6.QtGui import QImage, QImageWriter, QPageLayout, QPageSize, QPaintDevice, QPainter, QPdfWriter

from explorer.core.errors import ExplorerError
from explorer.export.drawing import draw_points
from explorer.export.figure import Figure
from explorer.export.files import replacing
from explorer.export.painter import image_of, paint
from explorer.export.text import printable
from explorer.render.raster import Raster

VECTOR_SCALE = 2
"""Pixels a point of the raster that SVG and PDF embed."""
PER_INCH = 96
MOST_PIXELS = 200_000_000


def to_image(figure: Figure, scale: float = 1.0) -> QImage:
    """The figure in ``scale`` pixels a point, its points drawn at that size.

    Raises
    ------
    ExplorerError
        Where the picture would be larger than 200 million pixels.
    """
    view = figure.viewport.magnified(scale)
    if view.width * view.height > MOST_PIXELS or view.width < 1 or view.height < 1:
        raise ExplorerError(
            f"A picture of {view.width} × {view.height} pixels can't be made.", "Choose another size."
        )
    raster = Raster(view.width, view.height)
    draw_points(figure, raster, scale, hits=False)
    image = QImage(view.width, view.height, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    dots_per_metre = round(scale * PER_INCH / 0.0254)
    image.setDotsPerMeterX(dots_per_metre)
    image.setDotsPerMeterY(dots_per_metre)
    painter = QPainter(image)
    paint(painter, figure, points=image_of(raster))
    painter.end()
    return image


def save_png(figure: Figure, path: Path, scale: float = 1.0) -> None:
    """A PNG of the figure's size times ``scale``."""
    with _bytes_to(path) as buffer:
        writer = QImageWriter(buffer, QByteArray(b"png"))
        if not writer.write(to_image(figure, scale)):
            raise ExplorerError("The picture could not be encoded as PNG.", detail=writer.errorString())


def save_svg(figure: Figure, path: Path) -> None:
    """An SVG: the points as an embedded picture, all else as shapes and text."""
    from PySide6.QtSvg import QSvgGenerator

    with _bytes_to(path) as buffer:
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setSize(QSize(figure.viewport.width, figure.viewport.height))
        generator.setViewBox(QRectF(0, 0, figure.viewport.width, figure.viewport.height))
        generator.setResolution(PER_INCH)
        generator.setTitle(printable(figure.title) or "Embedding map")
        _paint_on(generator, figure)


def save_pdf(figure: Figure, path: Path) -> None:
    """A PDF of one page of the figure's size, a point of the figure 1/96 inch."""
    with _bytes_to(path) as buffer:
        writer = QPdfWriter(buffer)
        writer.setResolution(PER_INCH)
        writer.setTitle(printable(figure.title) or "Embedding map")
        size = QSizeF(figure.viewport.width, figure.viewport.height) * (72 / PER_INCH)
        writer.setPageSize(QPageSize(size, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
        writer.setPageMargins(QMarginsF(0, 0, 0, 0), QPageLayout.Unit.Point)
        _paint_on(writer, figure)


def _paint_on(device: QPaintDevice, figure: Figure) -> None:
    view = figure.viewport.magnified(VECTOR_SCALE)
    raster = Raster(view.width, view.height)
    draw_points(figure, raster, VECTOR_SCALE, hits=False)
    painter = QPainter(device)
    paint(painter, figure, points=image_of(raster))
    painter.end()


@contextmanager
def _bytes_to(path: Path) -> Iterator[QBuffer]:
    """What is written to the buffer, once all of it is there, becomes the file."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    yield buffer
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(data.data())
