"""The small column of tools at the map's top right."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QGraphicsDropShadowEffect, QToolButton, QVBoxLayout, QWidget

from explorer.views.theme import current_colours, icon

SIDE = 30
ICON = 18


@dataclass(frozen=True)
class Tool:
    """A button over the map.

    Attributes
    ----------
    icon : str
        Names it in code too.
    tip : str
    act : callable
        A checkable one's is called with its state.
    checkable : bool
    """

    icon: str
    tip: str
    act: Callable[..., None]
    checkable: bool = False


def tool_button(icon_name: str, tip: str, *, checkable: bool = False) -> QToolButton:
    """A button of the map's own size; ``icon_name`` is kept as its object name."""
    button = QToolButton()
    button.setObjectName(icon_name)
    button.setFixedSize(SIDE, SIDE)
    button.setIconSize(QSize(ICON, ICON))
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setCheckable(checkable)
    button.setCursor(Qt.CursorShape.ArrowCursor)
    return button


def draw_icons(buttons: Iterable[QToolButton]) -> None:
    """Draw the buttons' icons in the colours that hold now, of those switched on in the accent."""
    for button in buttons:
        button.setIcon(icon(button.objectName(), current_colours().accent if button.isChecked() else None))


def shadow_for(card: QWidget) -> None:
    """Let a card float."""
    shadow = QGraphicsDropShadowEffect(card)
    shadow.setBlurRadius(12)
    shadow.setOffset(0, 2)
    shadow.setColor(QColor(0, 0, 0, 30))
    card.setGraphicsEffect(shadow)


class Tools(QFrame):
    """Buttons over the map, in groups with a line between them."""

    def __init__(self, parent: QWidget, *groups: tuple[Tool, ...]) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        column.setSpacing(2)
        self._buttons: dict[str, QToolButton] = {}
        self._lines: list[tuple[QFrame, tuple[Tool, ...]]] = []
        for group in groups:
            if self._buttons:
                line = QFrame()
                line.setProperty("rule", True)
                column.addWidget(line)
                self._lines.append((line, group))
            for tool in group:
                column.addWidget(self._make(tool))
        shadow_for(self)
        self.restyle()
        self.adjustSize()

    def _make(self, tool: Tool) -> QToolButton:
        button = tool_button(tool.icon, tool.tip, checkable=tool.checkable)
        if tool.checkable:
            # By hand alone: what else sets it does so to show what holds already.
            button.clicked.connect(tool.act)
            button.toggled.connect(lambda _on: draw_icons((button,)))
        else:
            button.clicked.connect(lambda _checked=False: tool.act())
        self._buttons[tool.icon] = button
        return button

    def __getitem__(self, name: str) -> QToolButton:
        return self._buttons[name]

    def offer(self, name: str, offered: bool) -> None:
        """Show a tool only where it is of use."""
        self._buttons[name].setVisible(offered)
        for line, group in self._lines:
            line.setVisible(any(not self._buttons[tool.icon].isHidden() for tool in group))
        self.adjustSize()

    def restyle(self) -> None:
        """Draw the icons in the colours that hold now."""
        draw_icons(self._buttons.values())
