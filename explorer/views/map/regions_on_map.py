"""The names of dense parts of the map: which are shown, and how they are changed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from explorer.document import Document
from explorer.export.figure import Figure, RegionLabel
from explorer.export.labelling import region_box
from explorer.export.text import TextCache
from explorer.render.viewport import Viewport

SMALLEST_SEEN, LARGEST_SEEN = 36.0, 0.34
"""A region is named while its radius is at least so many points, and at most this share of the map."""
SMALL, LARGE = 12.0, 17.0
"""Sizes of letters in points, of the smallest and the largest region."""
NARROWEST = 140
MOST = 40


def region_labels(document: Document, view: Viewport) -> tuple[RegionLabel, ...]:
    """The regions that a view names, the largest first: those that are neither dots nor all there is to see.

    While an answer or tokens' ways are on the map, their names have its room.

    Parameters
    ----------
    document : Document
    view : Viewport
    """
    positions = document.positions
    if document.label_density == "none" or positions is None or positions.shape[1] != 2:
        return ()
    if document.answer is not None or document.token_paths:
        return ()
    most = LARGEST_SEEN * min(view.width, view.height)
    seen = [region for region in document.regions if SMALLEST_SEEN <= region.size * view.scale <= most]
    seen.sort(key=lambda region: -region.rows)
    fullest = seen[0].rows if seen else 1
    return tuple(
        RegionLabel(
            region.name, region.x, region.y, round(SMALL + (LARGE - SMALL) * (region.rows / fullest) ** 0.5)
        )
        for region in seen[:MOST]
    )


def region_at(figure: Figure, place: QPointF, cache: TextCache) -> RegionLabel | None:
    """The region whose name lies at a place on the map."""
    return next(
        (region for region in figure.regions if QRectF(*region_box(figure, region, cache)).contains(place)),
        None,
    )


class RegionEditor(QLineEdit):
    """A field over a region's name; Return or leaving it takes the new name, Escape the old one.

    Parameters
    ----------
    parent : QWidget
        The map.
    document : Document
    left : callable
        Called when it closes.
    """

    def __init__(self, parent: QWidget, document: Document, left: Callable[[], None]) -> None:
        super().__init__(parent)
        self._document = document
        self._left = left
        self._region: RegionLabel | None = None
        self.setAccessibleName("Name of the region")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.editingFinished.connect(self._take)
        self.hide()

    def open(self, region: RegionLabel, box: QRectF) -> None:
        """Edit a region's name in its place."""
        self._region = region
        self.setText(region.text)
        width = max(NARROWEST, round(box.width()) + 24)
        height = self.sizeHint().height()
        left = min(
            max(round(box.center().x() - width / 2), 4), max(self.parentWidget().width() - width - 4, 4)
        )
        self.setGeometry(left, round(box.center().y() - height / 2), width, height)
        self.show()
        self.raise_()
        self.selectAll()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._close()
        else:
            super().keyPressEvent(event)

    def _take(self) -> None:
        region, name = self._region, self.text().strip()
        self._close()
        if region is None or not name:
            return
        for place, known in enumerate(self._document.regions):
            if (known.x, known.y) == (region.x, region.y):
                self._document.name_region(place, name)

    def _close(self) -> None:
        if self._region is not None:
            self._region = None
            self.hide()
            self._left()
