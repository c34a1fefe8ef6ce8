"""A label that gives way: what does not fit ends in an ellipsis and is told in the tooltip."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel

from explorer.views.wrapped_text import wrapped

_Mode = Qt.TextElideMode


class ElidedLabel(QLabel):
    """Plain text in one line, or as few as it needs up to a number of them.

    Parameters
    ----------
    text : str
    mode : Qt.TextElideMode
        Where a single line is cut when the room is too small.
    lines : int
        How many there may be.
    """

    def __init__(self, text: str = "", mode: Qt.TextElideMode = _Mode.ElideRight, lines: int = 1) -> None:
        super().__init__(text)
        self._mode, self._lines = mode, lines
        self.setTextFormat(Qt.TextFormat.PlainText)

    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height() if self._lines == 1 else self._wanted_height())

    def sizeHint(self) -> QSize:
        return super().sizeHint() if self._lines == 1 else QSize(200, self._wanted_height())

    def _wanted_height(self) -> int:
        return self.fontMetrics().lineSpacing() * max(len(self._shown_lines()), 1)

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setToolTip(text)
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._lines > 1 and event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def _shown_lines(self) -> list[str]:
        """The text in lines that fit the width, the last one cut where it must be."""
        if self._lines == 1:
            return [self.fontMetrics().elidedText(self.text(), self._mode, self.width())]
        return wrapped(self.text(), self.font(), self.width(), self._lines)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        lines = self._shown_lines()
        if self._lines == 1:
            painter.drawText(self.rect(), self.alignment() | Qt.TextFlag.TextSingleLine, lines[0])
            return
        height = self.fontMetrics().lineSpacing()
        for number, line in enumerate(lines):
            box = QRect(0, number * height, self.width(), height)
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine, line)
