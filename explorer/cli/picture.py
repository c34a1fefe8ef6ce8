"""A map as the window would save it: the same document, the same figure, the same painter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
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
from explorer.render.viewport import Insets, Viewport
from explorer.views.map.colouring import coloured
from explorer.views.map.figure_maker import FigureMaker
from explorer.views.map.fitting import fitted_view
from explorer.views.map.table_facts import facts_of

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
    # Fonts and painting want an application, for as long as this lives.
    application = QGuiApplication.instance() or QGuiApplication([])
    ratio = _pixels_a_point(size)
    document = _document(file, table, laid, settings)
    facts = facts_of(document.table)
    maker = FigureMaker(document, lambda: facts, TextCache())
    maker.colours = coloured(document, LIGHT, laid.xy)
    save_png(_figure(maker, laid.xy, size[0] // ratio, size[1] // ratio), output, ratio)
    del application


def _figure(maker: FigureMaker, xy: NDArray[np.float32], width: int, height: int) -> Figure:
    """The map as large as it can be with next to no row beneath the legend."""
    figure = _made(maker, Viewport.fitted(xy, width, height, _INSETS))
    legend = legend_layout(figure)
    return _made(maker, fitted_view(xy, width, height, None if legend is None else legend.card, _INSETS))


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
    document.set_positions(laid.xy, LayoutStage.DONE, settings)
    document.set_trust(laid.trust)
    return document
