"""What lies under the cursor, or under the keyboard's own mark, and what is asked of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QObject, QPointF, QRectF, QSizeF, Qt, Signal

from explorer.commands import Session
from explorer.export.figure import Figure
from explorer.views.map.canvas import Canvas, Tool
from explorer.views.map.hover_card import HoverCard

SIDEWAYS = 1.2
"""A row lies to one side where it is at most so many times further off across than along."""


class Pointing(QObject):
    """Rings the row that the cursor or the keyboard is at, and shows its card.

    Signals
    -------
    pointed_at(int) : the row pointed at; -1 for none.
    ringed : another row is to be ringed.
    """

    pointed_at = Signal(int)
    ringed = Signal()

    def __init__(
        self, session: Session, canvas: Canvas, card: HoverCard, twins: Callable[[int], int]
    ) -> None:
        super().__init__(canvas)
        self._session = session
        self._canvas = canvas
        self._card = card
        self._twins = twins
        self.row: int | None = None
        canvas.pointed.connect(self._pointed)
        canvas.stepped.connect(self._step)
        canvas.ask_pressed.connect(self._ask)
        canvas.pick_pressed.connect(self._pick)

    def forget(self) -> None:
        """Point at nothing: another table is shown."""
        self.row = None
        self._card.hide()

    def point_out(self, row: int) -> None:
        """Ring a row on the map; -1 rings none."""
        pointed = row if row >= 0 else None
        if pointed != self.row:
            self.row = pointed
            self.ringed.emit()

    def _pointed(self, row: int, place: QPointF) -> None:
        if row < 0:
            self._card.hide()
        else:
            self._speak_of(row)
        if self._canvas.tool is Tool.POINTER:
            shape = Qt.CursorShape.PointingHandCursor if row >= 0 else Qt.CursorShape.ArrowCursor
            if shape != self._canvas.cursor().shape():
                self._canvas.setCursor(shape)
        if row != (-1 if self.row is None else self.row):
            self.point_out(row)
            self.pointed_at.emit(row)

    def _speak_of(self, row: int) -> None:
        figure = self._canvas.item.figure
        if figure is None:
            return
        picture = next((each for each in figure.thumbnails if each.row == row), None)
        if picture is not None:
            point = QRectF(picture.x, picture.y, picture.width, picture.height)
        else:
            centre = figure.viewport.to_pixels(figure.xy[row : row + 1])[0]
            point = QRectF(QPointF(*centre), QSizeF())
        self._card.speak_of(self._session.document, row, point, self._twins(row))

    # By key

    def _step(self, right: int, up: int) -> None:
        figure = self._canvas.item.figure
        if figure is None:
            return
        row = next_row(figure, self._start(figure), right, up)
        if row >= 0:
            self._speak_of(row)
            self._canvas.setAccessibleDescription(self._card.plain_text())
            self.point_out(row)
            self.pointed_at.emit(row)

    def _start(self, figure: Figure) -> int | None:
        """The row that the keyboard goes on from: the one ringed, else the one asked for."""
        return self.row if self.row is not None else figure.focus

    def _ask(self) -> None:
        if self.row is not None:
            self._session.asking.ask_row(self.row)

    def _pick(self) -> None:
        if self.row is not None:
            self._session.selecting.toggle(self.row)


def next_row(figure: Figure, start: int | None, right: int, up: int) -> int:
    """The nearest row to one side of another, among those in view; -1 where there is none.

    Parameters
    ----------
    figure : Figure
    start : int or None
        None begins with the row nearest to the middle of the map.
    right, up : int
        The side: one of them is 1 or -1, the other 0.
    """
    view = figure.viewport
    pixels = view.to_pixels(figure.xy)
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero(view.contains(pixels) & (figure.palette[figure.codes, 3] > 0))
    if not len(rows):
        return -1
    if start is None or start not in rows:
        apart = np.abs(pixels[rows] - (view.width / 2, view.height / 2)).sum(axis=1)
        return int(rows[np.argmin(apart)])
    offset = pixels[rows] - pixels[start]
    along = offset @ (right, -up)
    across = np.abs(offset @ (up, right))
    ahead = (along > 0.5) & (across <= SIDEWAYS * along)
    if not ahead.any():
        return -1
    return int(rows[ahead][np.argmin((along + across)[ahead])])
