"""What a person does on the map, as functions that send real events."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.views.main_window import MainWindow

NONE = Qt.KeyboardModifier.NoModifier


def drag(
    window: MainWindow,
    places: Sequence[QPoint],
    *,
    button: Qt.MouseButton = Qt.MouseButton.LeftButton,
    keys: Qt.KeyboardModifier = NONE,
    let_go: bool = True,
) -> None:
    """Press at the first place, move over the others, and let go at the last."""
    _send(window, QEvent.Type.MouseButtonPress, places[0], button, button, keys)
    for place in places[1:]:
        _send(window, QEvent.Type.MouseMove, place, Qt.MouseButton.NoButton, button, keys)
    if let_go:
        _send(window, QEvent.Type.MouseButtonRelease, places[-1], button, Qt.MouseButton.NoButton, keys)


def move(window: MainWindow, place: QPoint) -> None:
    """Move the cursor, no button held."""
    _send(window, QEvent.Type.MouseMove, place, Qt.MouseButton.NoButton, Qt.MouseButton.NoButton, NONE)


def _send(
    window: MainWindow,
    kind: QEvent.Type,
    place: QPoint,
    button: Qt.MouseButton,
    held: Qt.MouseButton,
    keys: Qt.KeyboardModifier,
) -> None:
    viewport = window.map.canvas.viewport()
    everywhere = QPointF(viewport.mapToGlobal(place))
    QApplication.sendEvent(viewport, QMouseEvent(kind, QPointF(place), everywhere, button, held, keys))


def rest(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until the map is still and drawn to the finest: from then on its points can be hit."""
    canvas = window.map.canvas
    qtbot.waitUntil(lambda: not canvas.moves and not canvas.item.refining)
    canvas.viewport().repaint()


def pixels(window: MainWindow) -> np.ndarray:
    """Where every row is drawn, shape (rows, 2)."""
    figure = window.map.canvas.item.figure
    return figure.viewport.to_pixels(figure.xy)


def box_around(window: MainWindow, rows: Sequence[int], margin: int = 3) -> tuple[QPoint, QPoint]:
    """Two corners around some rows."""
    places = pixels(window)[list(rows)]
    left, top = np.floor(places.min(axis=0)) - margin
    right, bottom = np.ceil(places.max(axis=0)) + margin
    return QPoint(int(left), int(top)), QPoint(int(right), int(bottom))
