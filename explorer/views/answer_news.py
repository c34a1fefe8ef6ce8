"""Has an answer noticed whose dock lies behind another: by a mark on its tab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QTabBar, QWidget

from explorer.commands import Session
from explorer.views.theme import current_colours

if TYPE_CHECKING:
    from explorer.views.main_window import MainWindow

DOT, EDGE = 7, 9


class AnswerNews(QObject):
    """Follows the answers of a window that has its docks.

    A panel that is in front stays there, as the person may be at work in it; the answer's tab is marked until
    it is looked at.
    """

    def __init__(self, window: MainWindow, session: Session) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._dock = window.docks[1]
        self._dot = Dot(window)
        self._is_seen = False
        self.is_marked = False
        self._dock.visibilityChanged.connect(self._seen)
        window.answer.currentChanged.connect(self._name)
        session.document.answer_changed.connect(self._answered)

    def _seen(self, seen: bool) -> None:
        self._is_seen = seen
        if seen:
            self._mark(False)

    def _answered(self) -> None:
        answer = self._session.document.answer
        self._mark(answer is not None and not self._is_seen)

    def _name(self) -> None:
        self._dock.setWindowTitle(self._window.answer.title)
        self._mark(self.is_marked)

    def _mark(self, marked: bool) -> None:
        """Put a dot on the dock's tab, or take it away."""
        self.is_marked = marked
        for bar in self._window.findChildren(QTabBar):
            for tab in range(bar.count()):
                if bar.tabText(tab) == self._dock.windowTitle():
                    self._dot.setParent(bar)
                    self._dot.move(bar.tabRect(tab).right() - EDGE, bar.tabRect(tab).center().y() - DOT // 2)
                    bar.setTabToolTip(tab, "An answer has come" if marked else "")
        self._dot.setVisible(marked and self._dot.parent() is not self._window)


class Dot(QWidget):
    """A disc in the colour of what is found, within a tab's own margin so that nothing moves for it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFixedSize(DOT, DOT)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(current_colours().accent))
        painter.drawEllipse(self.rect())
        painter.end()
