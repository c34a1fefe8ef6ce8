"""A map as the window would save it: the same document, the same figure, the same painter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QGuiApplication

from explorer.cli.laying_out import LaidOut
from explorer.core.layout import LayoutSettings
from explorer.core.listing import LoadedTable, TableListing
from explorer.core.table import EmbeddingTable
from explorer.document import Document, LayoutStage
from explorer.export.figure import Figure
from explorer.export.legend import legend_layout
from explorer.export.save import save_png
from explorer.export.text import TextCache
from explorer.render.palette import LIGHT
from explorer.render.viewport import Insets, Viewport, extent
from explorer.views.map.figure_maker import FigureMaker

_INSETS = Insets(left=32, top=72, right=48, bottom=40)
_GAP = 12
_SMALLEST, _TRIES = 0.4, 31
# A picture of this many points has text of the window's size; larger ones have more pixels a point.
_USUAL_POINTS = (800, 600)


def write_picture(
    output: Path,
    size: tuple[int, int],
    file: Path,
    table: EmbeddingTable,
    laid: LaidOut,
    settings: LayoutSettings,
) -> None:
    """Write a PNG of exactly ``size`` pixels.

    Raises
    ------
    ExplorerError
    """
    # Fonts and painting want an application, for as long as this lives.
    application = QGuiApplication.instance() or QGuiApplication([])
    ratio = _pixels_a_point(size)
    maker = FigureMaker(_document(file, table, laid, settings), TextCache())
    maker.table_changed()
    maker.colours_changed(LIGHT)
    save_png(_figure(maker, laid.xy, size[0] // ratio, size[1] // ratio), output, ratio)
    del application


def _figure(maker: FigureMaker, xy: NDArray[np.float32], width: int, height: int) -> Figure:
    """The map as large as it can be with no row beneath the legend."""
    fitted = Viewport.fitted(xy, width, height, _INSETS)
    figure = _made(maker, fitted)
    legend = legend_layout(figure)
    if legend is None or not _beneath(legend.card, fitted, xy):
        return figure
    # The legend is at the bottom left: the map goes to the top right, and shrinks as far as it must.
    _, _, right, top = extent(xy)
    for scale in fitted.scale * np.linspace(1.0, _SMALLEST, _TRIES):
        x = right - (width / 2 - _INSETS.right) / scale
        y = top + (_INSETS.top - height / 2) / scale
        view = Viewport(width, height, x, y, float(scale))
        if not _beneath(legend.card, view, xy):
            return _made(maker, view)
    return figure


def _beneath(card: QRectF, view: Viewport, xy: NDArray[np.float32]) -> bool:
    places = view.to_pixels(xy)
    # Rows without a place are NaN, which is beneath nothing.
    return bool(((places[:, 0] < card.right() + _GAP) & (places[:, 1] > card.top() - _GAP)).any())


def _made(maker: FigureMaker, view: Viewport) -> Figure:
    maker.fitted_scale = view.scale
    figure = maker.make(view, LIGHT, titled=True)
    assert figure is not None, "the document has a table with positions"
    return figure


def _pixels_a_point(size: tuple[int, int]) -> int:
    """As many whole pixels as suit the size and divide it."""
    wished = round(min(side / usual for side, usual in zip(size, _USUAL_POINTS, strict=True)))
    return next(ratio for ratio in range(max(wished, 1), 0, -1) if not any(side % ratio for side in size))


def _document(file: Path, table: EmbeddingTable, laid: LaidOut, settings: LayoutSettings) -> Document:
    document = Document()
    document.set_settings(settings)
    document.set_table(
        LoadedTable(
            key=0,
            path=str(file),
            listing=TableListing(table.name, table.rows, table.dim, table.dtype, table.role),
            labels=table.labels,
            health=laid.health,
            scaled=False,
            device="cpu",
            metadata=table.metadata,
        )
    )
    document.set_clusters(laid.clusters)
    document.set_positions(laid.xy, LayoutStage.FIRST if settings.method == "pca" else LayoutStage.DONE)
    document.set_trust(laid.trust)
    return document
