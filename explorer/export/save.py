"""Figures to files: real pixels for PNG, the same painter for SVG and PDF, whole files or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSize, QSizeF
from PySide6.QtGui import QImage, QPageLayout, QPageSize, QPainter, QPdfWriter

from explorer.core.errors import ExplorerError
from explorer.export.figure import Figure, draw_points
from explorer.export.painter import image_of, paint
from explorer.render.raster import Raster

VECTOR_SCALE = 2
"""Pixels a point of the raster that SVG and PDF embed."""
MOST_PIXELS = 200_000_000


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside the target that takes its place once the block has ended well.

    Raises
    ------
    ExplorerError
        Where the folder is missing or can't be written to, or the disk is full.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ExplorerError(f"The folder {path.parent} does not exist.", "Choose one that does.")
    if path.is_dir():
        raise ExplorerError(f"{path} is a folder.", "Give the file a name.")
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}-", suffix=path.suffix, dir=path.parent)
        temporary = Path(name)
        os.close(handle)
        yield temporary
        temporary.chmod(_mode_of(path))
        temporary.replace(path)
    except OSError as error:
        raise ExplorerError(
            f"{path.name} could not be written to {path.parent}.", "Choose another folder.", str(error)
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _mode_of(path: Path) -> int:
    """The mode a file of this name has or would get."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


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
    dots_per_metre = round(scale * 96 / 0.0254)
    image.setDotsPerMeterX(dots_per_metre)
    image.setDotsPerMeterY(dots_per_metre)
    painter = QPainter(image)
    paint(painter, figure, points=image_of(raster))
    painter.end()
    return image


def save_png(figure: Figure, path: Path, scale: float = 1.0) -> None:
    """A PNG of the figure's size times ``scale``."""
    image = to_image(figure, scale)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, b"PNG"):
        raise ExplorerError("The picture could not be encoded as PNG.")
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(data.data())


def save_svg(figure: Figure, path: Path) -> None:
    """An SVG: the points as an embedded picture, all else as shapes and text."""
    from PySide6.QtSvg import QSvgGenerator

    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(QSize(figure.viewport.width, figure.viewport.height))
    generator.setViewBox(QRectF(0, 0, figure.viewport.width, figure.viewport.height))
    generator.setResolution(96)
    generator.setTitle(figure.title or "Embedding map")
    _paint_vector(figure, lambda: QPainter(generator))
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(data.data())


def save_pdf(figure: Figure, path: Path) -> None:
    """A PDF of one page of the figure's size, a point of the figure 1/96 inch."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(96)
    writer.setTitle(figure.title or "Embedding map")
    size = QSizeF(figure.viewport.width, figure.viewport.height) * (72 / 96)
    writer.setPageSize(QPageSize(size, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0), QPageLayout.Unit.Point)
    _paint_vector(figure, lambda: QPainter(writer))
    with replacing(Path(path)) as temporary:
        temporary.write_bytes(data.data())


def _paint_vector(figure: Figure, begin: Callable[[], QPainter]) -> None:
    view = figure.viewport.magnified(VECTOR_SCALE)
    raster = Raster(view.width, view.height)
    draw_points(figure, raster, VECTOR_SCALE, hits=False)
    painter = begin()
    paint(painter, figure, points=image_of(raster))
    painter.end()
