"""The names of dense parts of the map: which are shown, and how they are changed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from explorer.core.regions import Region
from explorer.document import Document
from explorer.export.figure import Figure, RegionLabel
from explorer.export.labelling import region_box
from explorer.export.text import TextCache
from explorer.render.viewport import Viewport
from explorer.views.map.places import Places, Shown

SMALLEST_SEEN, LARGEST_SEEN = 36.0, 0.34
"""A region is named while its radius is at least so many points, and at most this share of the map."""
SMALL, LARGE = 12.0, 17.0
"""Sizes of letters in points, of the smallest and the largest region."""
FAINTEST = 0.35
"""Opacity of the farthest region's name."""
NARROWEST = 140
MOST = 40
LEAST_SEEN, SAMPLE = 0.1, 50_000
"""A region is named while that share of its rows is shown, told from so many of all."""


def emptied_regions(
    regions: tuple[Region, ...], positions: NDArray[np.float32], seen: NDArray[np.bool_]
) -> frozenset[int]:
    """The places of regions whose rows are hidden, all but a few.

    Parameters
    ----------
    regions : tuple of Region
    positions : float32 array, shape (rows, dimensions)
    seen : bool array, shape (rows,)
        Which rows are not hidden.
    """
    step = max(1, len(positions) // SAMPLE)
    places, kept = positions[::step], seen[::step]
    emptied = set()
    for number, region in enumerate(regions):
        centre = np.array((region.x, region.y, region.z)[: positions.shape[1]], np.float32)
        inside = np.square(places - centre).sum(axis=1) <= region.size**2
        if np.count_nonzero(kept & inside) < LEAST_SEEN * np.count_nonzero(inside):
            emptied.add(number)
    return frozenset(emptied)


def region_labels(
    document: Document, view: Viewport, places: Places, shown: Shown, emptied: frozenset[int] = frozenset()
) -> tuple[RegionLabel, ...]:
    """The regions that a view names, the largest first: those that are neither dots nor all there is to see.

    Of three dimensions the near ones go before the far ones, which are fainter. While an answer or
    tokens' ways are on the map, their names have its room.

    Parameters
    ----------
    document : Document
    view : Viewport
    places : Places
    shown : Shown
        Where the rows are in that view.
    emptied : frozenset of int
        The places of regions that are not named: their rows are hidden.
    """
    regions, dimensions = document.regions, shown.positions.shape[1]
    if not regions or document.look.labels == "none" or document.answer is not None:
        return ()
    if document.token_paths:
        return ()
    centres = np.array([(region.x, region.y, region.z)[:dimensions] for region in regions])
    middles, depths = places.seen(shown, centres)
    nearness = (depths - depths.min()) / max(float(np.ptp(depths)), 1e-9) if dimensions == 3 else depths + 1
    clear = FAINTEST + (1 - FAINTEST) * nearness
    most = LARGEST_SEEN * min(view.width, view.height)
    seen = [
        place
        for place, region in enumerate(regions)
        if SMALLEST_SEEN <= region.size * view.scale <= most and place not in emptied
    ]
    seen.sort(key=lambda place: -regions[place].rows * clear[place])
    fullest = max((regions[place].rows for place in seen), default=1)
    return tuple(
        RegionLabel(
            regions[place].name,
            float(middles[place, 0]),
            float(middles[place, 1]),
            round(SMALL + (LARGE - SMALL) * (regions[place].rows / fullest) ** 0.5),
            opacity=float(clear[place]),
            place=place,
        )
        for place in seen[:MOST]
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
        self._region: Region | None = None
        self.setAccessibleName("Name of the region")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.editingFinished.connect(self.take)
        document.regions_changed.connect(self._close)
        self.hide()

    def open(self, region: RegionLabel, box: QRectF) -> None:
        """Edit a region's name in its place."""
        self._region = self._document.regions[region.place]
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

    def take(self) -> None:
        """Give the region the name typed, and close."""
        region, name = self._region, self.text().strip()
        self._close()
        if region is None or not name:
            return
        for place, known in enumerate(self._document.regions):
            if known.found == region.found and (known.x, known.y, known.z) == (region.x, region.y, region.z):
                self._document.name_region(place, name)

    def _close(self) -> None:
        if self._region is not None:
            self._region = None
            self.hide()
            self._left()
