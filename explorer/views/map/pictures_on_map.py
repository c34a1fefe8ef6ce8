"""Rows' pictures in place of their dots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QImage

from explorer.core.pictures import Pictures
from explorer.core.table import MODALITY
from explorer.document import Document
from explorer.export.figure import Figure, Thumbnail
from explorer.render.point_index import PointIndex
from explorer.render.thumbnails import SIDE, PicturePlacement, place_thumbnails
from explorer.render.viewport import Viewport
from explorer.views.thumbnails import Thumbnails

PICTURE = "picture"
REDRAW_AFTER_MS = 40
"""Pictures that arrive in quick succession are shown together."""
GROWTH, MOST_GROWN = 0.35, 3.0
MOST_TRIED, MOST_TRIED_MOVING = 20_000, 4_000
MOST_MOVING = 150


class PicturesOnMap(QObject):
    """Chooses which rows' pictures stand on the map, and has them loaded.

    Signals
    -------
    arrived : a picture that the map lacks can be shown now.
    """

    arrived = Signal()

    def __init__(self, document: Document, thumbnails: Thumbnails, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._thumbnails = thumbnails
        self._pictures: Pictures | None = None
        self._aspects: NDArray[np.float32] = np.empty(0, np.float32)
        self._carries = np.empty(0, np.bool_)
        self._placement: PicturePlacement | None = None
        self._awaited: frozenset[int] = frozenset()
        self._were_shown = False
        self._redraw = QTimer(self)
        self._redraw.setSingleShot(True)
        self._redraw.setInterval(REDRAW_AFTER_MS)
        self._redraw.timeout.connect(self.arrived)
        thumbnails.arrived.connect(self._arrived)
        document.look_changed.connect(self._look_changed)

    @property
    def offered(self) -> bool:
        """Whether rows of the table carry pictures."""
        return self._pictures is not None

    @property
    def shown(self) -> bool:
        """Whether pictures stand in place of dots."""
        return self.offered and self._document.look.pictures

    @property
    def carries(self) -> NDArray[np.bool_] | None:
        """Which rows have a picture, shape (rows,), while pictures are shown; None while they are not."""
        return self._carries if self.shown else None

    def table_changed(self) -> None:
        """Take up another table's pictures: shown by themselves where each row is a picture of its own."""
        self._redraw.stop()
        self._placement, self._awaited = None, frozenset()
        self._pictures = self._document.pictures
        self._aspects = self._worked_out()
        self._carries = np.isfinite(self._aspects)
        self._thumbnails.want(self, ())
        self.show_pictures(self._pictures is not None and not self._are_shared())

    def show_pictures(self, shown: bool) -> None:
        """Show pictures, or dots again."""
        self._document.set_look(replace(self._document.look, pictures=shown and self.offered))

    def _look_changed(self) -> None:
        if self.shown != self._were_shown:
            self._were_shown, self._placement = self.shown, None
            if not self.shown:
                self._thumbnails.want(self, ())

    def _modality(self) -> NDArray | None:
        table = self._document.table
        return None if table is None else table.metadata.get(MODALITY)

    def _are_shared(self) -> bool:
        """Whether rows are captions, several of one picture, rather than pictures."""
        pictures = self._pictures
        if pictures is None or pictures.of_row is None or self._modality() is not None:
            return False
        carried = pictures.of_row[pictures.of_row >= 0]
        return len(np.unique(carried)) < len(carried)

    def _worked_out(self) -> NDArray[np.float32]:
        """Width over height by row; 1 where that is not known yet, NaN for rows without a picture."""
        pictures = self._pictures
        if pictures is None:
            return np.empty(0, np.float32)
        rows = np.arange(pictures.rows)
        numbers = rows if pictures.of_row is None else pictures.of_row
        aspects = pictures.shapes(rows).astype(np.float32)
        aspects[~(aspects > 0)] = 1.0
        none = (numbers < 0) | pictures.names.missing[np.maximum(numbers, 0)]
        modality = self._modality()
        if modality is not None:
            none |= np.asarray(modality) != PICTURE
        aspects[none] = np.nan
        return aspects

    def added_to(
        self,
        figure: Figure,
        nearness: float,
        obstacles: NDArray[np.float64] | None = None,
        *,
        moving: bool = False,
    ) -> Figure:
        """The figure with pictures, those of the answer first; it stays as it is where none are shown.

        Parameters
        ----------
        figure : Figure
        nearness : float
            How many times larger than the view of all rows: pictures grow with it, more slowly.
        obstacles : float64 array, shape (m, 4), optional
            Left, top, width, height in points of what no picture may lie under.
        moving : bool
            Only some of them, for a frame that must be quick.
        """
        if not self.shown or len(self._aspects) != len(figure.xy):
            return figure
        self._placement = place_thumbnails(
            figure.xy,
            figure.viewport,
            self._aspects,
            self._tried(figure, moving),
            self._placement,
            side=SIDE * min(max(nearness, 1.0) ** GROWTH, MOST_GROWN),
            obstacles=obstacles,
        )
        rows, boxes = self._placement.rows, self._placement.boxes
        if moving:
            rows, boxes = rows[:MOST_MOVING], boxes[:MOST_MOVING]
        else:
            self._thumbnails.want(self, rows.tolist())
        found, awaited = [], set()
        for row, box in zip(rows.tolist(), boxes.tolist(), strict=True):
            image = self._thumbnails.image(row, round(2 * max(box[2:])))
            if image is None:
                awaited.add(row)
            else:
                found.append(_fitted(row, box, image))
        self._awaited = frozenset(awaited)
        return replace(figure, thumbnails=tuple(found))

    def _tried(self, figure: Figure, moving: bool) -> NDArray[np.int64]:
        """Rows in the order in which they are given a place."""
        first = [] if figure.focus is None else [figure.focus]
        firm = np.array([*first, *figure.results.tolist()], np.int64)
        most = MOST_TRIED_MOVING if moving else MOST_TRIED
        if figure.index is not None:
            others = np.sort(_sample(figure.index, figure.viewport, most)).astype(np.int64)
        else:
            others = np.arange(0, len(figure.xy), max(1, len(figure.xy) // most))
        if self._placement is not None:
            others = np.concatenate([self._placement.rows[self._placement.rows < len(figure.xy)], others])
        if figure.depth is not None:
            others = others[np.argsort(-figure.depth[others], kind="stable")]
        visible = figure.palette[figure.codes[others], 3] > 0
        if len(figure.selected):
            standing = np.zeros(len(figure.xy), np.bool_)
            standing[figure.selected] = True
            visible &= standing[others]
        return np.concatenate([firm, others[visible]])

    def _arrived(self, row: int) -> None:
        if row in self._awaited and not self._redraw.isActive():
            self._redraw.start()


def _sample(index: PointIndex, view: Viewport, most: int) -> NDArray[np.integer]:
    """About so many of the rows in view, the same ones wherever they are seen from.

    Rows lie in the index cell by cell, so that every so-manieth of them stands for all; steps are powers
    of two, so that coming closer adds rows to those there were.
    """
    bounds = index.bounds(view)
    step = 1 << max(0, (index.count(bounds) // most).bit_length())
    parts = [index.rows[-(-begin // step) * step : end : step] for begin, end in index.spans(bounds).tolist()]
    return np.concatenate([*parts, np.empty(0, np.int32)])


def _fitted(row: int, box: list[float], image: QImage) -> Thumbnail:
    """The picture within its box, its own shape kept: what was not known when it was placed."""
    left, top, width, height = box
    scale = min(width / image.width(), height / image.height())
    wide, high = image.width() * scale, image.height() * scale
    return Thumbnail(row, left + (width - wide) / 2, top + (height - high) / 2, wide, high, image)
