"""A map as the window would save it: the same document, the same figure, the same painter."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QGuiApplication

from explorer.cli.laying_out import LaidOut
from explorer.core.errors import ExplorerError
from explorer.core.layout import LayoutSettings
from explorer.core.listing import LoadedTable, TableListing
from explorer.core.table import EmbeddingTable
from explorer.document import Document, LayoutStage
from explorer.export.save import save_png
from explorer.export.text import TextCache
from explorer.render.palette import LIGHT
from explorer.render.viewport import Insets, Viewport
from explorer.views.map.figure_maker import FigureMaker

_INSETS = Insets(left=32, top=72, right=48, bottom=40)
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
    application = QGuiApplication.instance() or QGuiApplication([])
    ratio = _pixels_a_point(size)
    view = Viewport.fitted(laid.xy, size[0] // ratio, size[1] // ratio, _INSETS)
    maker = FigureMaker(_document(file, table, laid, settings), TextCache())
    maker.table_changed()
    maker.colours_changed(LIGHT)
    maker.fitted_scale = view.scale
    figure = maker.make(view, LIGHT, titled=True)
    if figure is None:
        raise ExplorerError(f"{table.name} has no rows to draw.")
    save_png(figure, output, ratio)
    del application


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
