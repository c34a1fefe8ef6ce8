"""The small column of tools at the map's top right."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QGraphicsDropShadowEffect, QToolButton, QVBoxLayout, QWidget

from explorer.views.theme import icon

SIDE = 30


class Tools(QFrame):
    """Buttons over the map.

    Parameters
    ----------
    tools : tuple of (icon name, what it does, callable)
    """

    def __init__(self, parent: QWidget, tools: tuple[tuple[str, str, Callable[[], None]], ...]) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        column.setSpacing(2)
        self._buttons: list[tuple[QToolButton, str]] = []
        for name, tip, act in tools:
            button = QToolButton()
            button.setFixedSize(SIDE, SIDE)
            button.setIconSize(QSize(18, 18))
            button.setToolTip(tip)
            button.setAccessibleName(tip)
            button.setCursor(Qt.CursorShape.ArrowCursor)
            button.clicked.connect(lambda _checked=False, act=act: act())
            column.addWidget(button)
            self._buttons.append((button, name))
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(12)
        shadow.setOffset(0, 2)
        shadow.setColor(QColor(0, 0, 0, 30))
        self.setGraphicsEffect(shadow)
        self.restyle()
        self.adjustSize()

    def restyle(self) -> None:
        """Draw the icons in the colours that hold now."""
        for button, name in self._buttons:
            button.setIcon(icon(name))
