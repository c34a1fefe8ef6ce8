"""A sentence's tokens in a row of chips, each with its row number."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.core.sentence import Token
from explorer.views.label_text import shown_label
from explorer.views.panels.neighbour_delegate import small_figures
from explorer.views.theme import current_colours

_HEIGHT, _GAP, _PAD, _INNER = 24, 4, 8, 6


class TokenChips(QWidget):
    """Chips that wrap; a token without a row is struck out."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: tuple[Token, ...] = ()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Tokens")

    def show_tokens(self, tokens: tuple[Token, ...]) -> None:
        """Show a sentence's tokens."""
        self._tokens = tokens
        self.setAccessibleDescription(", ".join(_words(token) for token in tokens))
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        places = self._places(width)
        return places[-1].bottom() + 1 if places else 0

    def sizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(max(self.width(), 240)))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 0)

    def _places(self, width: int) -> list[QRect]:
        large, small = QFontMetrics(self.font()), QFontMetrics(small_figures(self.font()))
        places, x, y = [], 0, 0
        for token in self._tokens:
            wide = large.horizontalAdvance(shown_label(token.text)) + 2 * _PAD
            if token.row is not None:
                wide += _INNER + small.horizontalAdvance(str(token.row))
            wide = min(wide, width)
            if x and x + wide > width:
                x, y = 0, y + _HEIGHT + _GAP
            places.append(QRect(x, y, wide, _HEIGHT))
            x += wide + _GAP
        return places

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for token, place in zip(self._tokens, self._places(self.width()), strict=True):
            if place.intersects(event.rect()):
                self._paint(painter, token, place)

    def _paint(self, painter: QPainter, token: Token, place: QRect) -> None:
        colours = current_colours()
        known = token.row is not None
        painter.setPen(Qt.PenStyle.NoPen if known else QColor(colours.line))
        painter.setBrush(QColor(colours.accent_ground) if known else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(place).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        inner = place.adjusted(_PAD, 0, -_PAD, 0)
        side = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        if known:
            painter.setFont(small_figures(self.font()))
            painter.setPen(QColor(colours.quiet))
            painter.drawText(inner, side | Qt.AlignmentFlag.AlignRight, str(token.row))
            inner.setRight(inner.right() - painter.fontMetrics().horizontalAdvance(str(token.row)) - _INNER)
        font = QFont(self.font())
        font.setStrikeOut(not known)
        painter.setFont(font)
        painter.setPen(QColor(colours.accent if known else colours.quiet))
        text = painter.fontMetrics().elidedText(
            shown_label(token.text), Qt.TextElideMode.ElideRight, inner.width() + 2
        )
        painter.drawText(inner.adjusted(0, 0, 2, 0), side | Qt.AlignmentFlag.AlignLeft, text)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            places = self._places(self.width())
            found = [
                token for token, at in zip(self._tokens, places, strict=True) if at.contains(event.pos())
            ]
            QToolTip.showText(event.globalPos(), _words(found[0]) if found else "", self)
            return True
        return super().event(event)


def _words(token: Token) -> str:
    row = "no row has this label" if token.row is None else f"row {token.row:,}"
    return f"{shown_label(token.text)}: {row}"
