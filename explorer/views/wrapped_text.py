"""Text in a few lines of one width, the last of them cut where the rest would not fit."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QTextLayout, QTextOption


def wrapped(text: str, font: QFont, width: int, lines: int) -> list[str]:
    """Break a text into at most so many lines, within a word only where that alone is too long.

    What is too much ends in an ellipsis.

    Parameters
    ----------
    text : str
    font : QFont
    width : int
        Of a line, in pixels.
    lines : int
    """
    layout = QTextLayout(text, font)
    layout.setTextOption(QTextOption(wrapMode=QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere))
    layout.beginLayout()
    made: list[str] = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        start, length = line.textStart(), line.textLength()
        if len(made) == lines - 1:
            rest = text[start:]
            made.append(QFontMetrics(font).elidedText(rest, Qt.TextElideMode.ElideRight, width))
            break
        made.append(text[start : start + length])
    layout.endLayout()
    return made
