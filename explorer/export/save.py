"""Figures to files: real pixels for PNG, the same painter for SVG and PDF, whole files or none.

Everything here can run in any thread. What takes long lets the others go on meanwhile: points are drawn
some thousand rows at a time, and pixels are packed by what lets go of the interpreter.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSize, QSizeF
from PySide6.QtGui import QImage, QImageWriter, QPageLayout, QPageSize, QPaintDevice, QPainter, QPdfWriter

from explorer.core.errors import ExplorerError
from explorer.export.drawing import draw_in_slices, rows_to_draw
from explorer.export.figure import Figure
from explorer.export.files import Report, replacing, unwatched
from explorer.export.painter import image_of, paint
from explorer.export.stand_in import pdf_with, stand_in, svg_with
from explorer.export.text import printable
from explorer.render.raster import Raster

VECTOR_SCALE = 2
"""Pixels a point of the raster that SVG and PDF embed."""
PER_INCH = 96
MOST_PIXELS = 200_000_000
SLICE_ROWS = 50_000
DRAWN, PAINTED = 0.5, 0.6
"""How far a file is once its points are drawn, and once all else is painted over them."""


def to_image(figure: Figure, scale: float = 1.0, report: Report = unwatched) -> QImage:
    """The figure in ``scale`` pixels a point, its points drawn at that size.

    Parameters
    ----------
    figure : Figure
    scale : float
    report : function of (fraction, stage)
        Called between slices; may raise to stop.

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
    raster = _raster(figure, scale, report)
    image = QImage(view.width, view.height, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    dots_per_metre = round(scale * PER_INCH / 0.0254)
    image.setDotsPerMeterX(dots_per_metre)
    image.setDotsPerMeterY(dots_per_metre)
    painter = QPainter(image)
    paint(painter, figure, points=image_of(raster))
    painter.end()
    report(PAINTED, "Painting")
    return image


def save_picture(figure: Figure, path: Path, scale: float = 1.0, report: Report = unwatched) -> None:
    """A file of the form that its name says: ``.svg``, ``.pdf``, else PNG, in ``scale`` pixels a point.

    Raises
    ------
    ExplorerError
        Where the file can't be written, or the picture would be larger than 200 million pixels.
    """
    drawings = {".svg": save_svg, ".pdf": save_pdf}
    save = drawings.get(path.suffix.lower())
    if save is None:
        save_png(figure, path, scale, report)
    else:
        save(figure, path, report)


def save_png(figure: Figure, path: Path, scale: float = 1.0, report: Report = unwatched) -> None:
    """A PNG of the figure's size times ``scale``."""
    _write(path, _png(to_image(figure, scale, report)), report)


def save_svg(figure: Figure, path: Path, report: Report = unwatched) -> None:
    """An SVG: the points as an embedded picture, all else as shapes and text."""
    from PySide6.QtSvg import QSvgGenerator

    points = _raster(figure, VECTOR_SCALE, report)
    buffer = _buffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(QSize(figure.viewport.width, figure.viewport.height))
    generator.setViewBox(QRectF(0, 0, figure.viewport.width, figure.viewport.height))
    generator.setResolution(PER_INCH)
    generator.setTitle(printable(figure.title) or "Embedding map")
    _paint_on(generator, figure)
    report(PAINTED, "Packing")
    _write(path, svg_with(_bytes(buffer), _png(_opaque(points))), report)


def save_pdf(figure: Figure, path: Path, report: Report = unwatched) -> None:
    """A PDF of one page of the figure's size, a point of the figure 1/96 inch."""
    points = _raster(figure, VECTOR_SCALE, report)
    buffer = _buffer()
    writer = QPdfWriter(buffer)
    writer.setResolution(PER_INCH)
    writer.setTitle(printable(figure.title) or "Embedding map")
    size = QSizeF(figure.viewport.width, figure.viewport.height) * (72 / PER_INCH)
    writer.setPageSize(QPageSize(size, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0), QPageLayout.Unit.Point)
    _paint_on(writer, figure)
    report(PAINTED, "Packing")
    _write(path, pdf_with(_bytes(buffer), points.pixels), report)


def _raster(figure: Figure, scale: float, report: Report) -> Raster:
    """The figure's points, drawn a slice at a time."""
    view = figure.viewport.magnified(scale)
    raster = Raster(view.width, view.height)
    rows, drawn = max(rows_to_draw(figure), 1), 0
    for more in draw_in_slices(figure, raster, scale, hits=False, slice_rows=SLICE_ROWS):
        drawn += more
        report(DRAWN * min(drawn / rows, 1.0), "Drawing")
    return raster


def _paint_on(device: QPaintDevice, figure: Figure) -> None:
    painter = QPainter(device)
    paint(painter, figure, points=stand_in())
    painter.end()


def _opaque(raster: Raster) -> QImage:
    """The raster's pixels, which must outlive the image, without their opacity: the ground has all of it."""
    image = image_of(raster)
    image.reinterpretAsFormat(QImage.Format.Format_RGB32)
    return image


def _png(image: QImage) -> bytes:
    buffer = _buffer()
    writer = QImageWriter(buffer, QByteArray(b"png"))
    if not writer.write(image):
        raise ExplorerError("The picture could not be encoded as PNG.", detail=writer.errorString())
    return _bytes(buffer)


def _buffer() -> QBuffer:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    return buffer


def _bytes(buffer: QBuffer) -> bytes:
    return bytes(buffer.data().data())


def _write(path: Path, data: bytes, report: Report) -> None:
    """All of it becomes the file, or nothing does."""
    report(1.0, "Writing")
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(data)
