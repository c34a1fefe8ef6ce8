"""What a person does with the main window, as functions."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.document import LayoutStage
from explorer.views.main_window import MainWindow


def settle(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until the map stays as it is and its labels can be asked for."""
    session = window.session
    qtbot.waitUntil(
        lambda: (
            session.document.stage in (LayoutStage.DONE, LayoutStage.STOPPED)
            and session.asking.index is not None
            and session.document.trust is not None
            and session.document.clusters is not None
        )
    )


def lay_out_for_ever(qtbot: QtBot, session: Session) -> None:
    """Start a UMAP that goes on until it is stopped, however quick the machine; wait until it moves."""
    session.mapping.change(method="umap", epochs=10**8)
    session.mapping.start()
    qtbot.waitUntil(lambda: session.document.stage is LayoutStage.MOVING)


def drop(window: MainWindow, *paths: Path) -> None:
    """Drag files over the middle of the window and let them go."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    how = (
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(600, 400), *how))
    assert window.map.hint.isVisibleTo(window.map)
    QApplication.sendEvent(window, QDropEvent(QPointF(600, 400), *how))
    assert not window.map.hint.isVisibleTo(window.map)


def place_of(window: MainWindow, row: int) -> QPoint:
    """Where a row is drawn, in the canvas's points."""
    figure = window.map.canvas.item.figure
    x, y = figure.viewport.to_pixels(figure.xy[row : row + 1])[0]
    return QPoint(round(x), round(y))
