"""A sentence's tokens in a row of chips, each with its row number."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from explorer.core.sentence import Token
from explorer.views.label_text import shown_label
from explorer.views.panels.neighbour_delegate import small_figures
from explorer.views.theme import current_colours

_HEIGHT, _GAP, _PAD, _INNER = 24, 4, 8, 6
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}


class TokenChips(QWidget):
    """Chips that wrap; a token without a row is struck out.

    Signals
    -------
    chosen(int) : a chip was clicked or stepped to, where they can be; -1 where the marked one was again.

    Parameters
    ----------
    lines : int
        Most lines that are shown; the last chip then says how many tokens are not. 0 shows all.
    choosable : bool
        Whether a token can be chosen, by the mouse or the arrow keys.
    hint : str
        What choosing does, for the tip.
    """

    chosen = Signal(int)

    def __init__(self, *, lines: int = 0, choosable: bool = False, hint: str = "") -> None:
        super().__init__()
        self._tokens: tuple[Token, ...] = ()
        self._lines = lines
        self._choosable = choosable
        self._hint = f"\n{hint}" if hint else ""
        self._marked = -1
        self._laid: tuple[list[QRect], QRect | None] = ([], None)
        self._laid_for = -1  # a width
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Tokens")
        if choosable:
            self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    @property
    def marked(self) -> int:
        """The chosen token; -1 for none."""
        return self._marked

    def show_tokens(self, tokens: tuple[Token, ...], marked: int = -1) -> None:
        """Show a sentence's tokens, one of them marked."""
        self._marked = marked
        if tokens != self._tokens:
            self._tokens = tokens
            self._laid_for = -1
            self.setAccessibleDescription(", ".join(_words(token) for token in tokens[:64]))
            self.updateGeometry()
        self.update()

    def mark(self, token: int) -> None:
        """Mark a token; -1 marks none."""
        self._marked = token
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        places, _ = self._laid_out(width)
        return places[-1].bottom() + 1 if places else 0

    def sizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(max(self.width(), 240)))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 0)

    def _laid_out(self, width: int) -> tuple[list[QRect], QRect | None]:
        """Where each chip that has room lies, and what says how many have none."""
        if self._laid_for != width:
            self._laid_for, self._laid = width, self._lay_out(width)
        return self._laid

    def _lay_out(self, width: int) -> tuple[list[QRect], QRect | None]:
        large, small = QFontMetrics(self.font()), QFontMetrics(small_figures(self.font()))
        rest = large.horizontalAdvance(f"+ {len(self._tokens):,}") + 2 * _PAD
        last_line = (self._lines - 1) * (_HEIGHT + _GAP) if self._lines else -1
        places: list[QRect] = []
        x, y = 0, 0
        for number, token in enumerate(self._tokens):
            wide = large.horizontalAdvance(shown_label(token.text)) + 2 * _PAD
            if token.row is not None:
                wide += _INNER + small.horizontalAdvance(str(token.row))
            is_full = y == last_line and number < len(self._tokens) - 1
            room = width - (rest + _GAP if is_full else 0)
            if x and x + wide > room:
                if y == last_line:
                    return places, QRect(x, y, rest, _HEIGHT)
                x, y = 0, y + _HEIGHT + _GAP
                room = width - (rest + _GAP if y == last_line and number < len(self._tokens) - 1 else 0)
            wide = min(wide, room)
            places.append(QRect(x, y, wide, _HEIGHT))
            x += wide + _GAP
        return places, None

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        places, rest = self._laid_out(self.width())
        for number, place in enumerate(places):
            if place.intersects(event.rect()):
                self._paint(painter, self._tokens[number], place)
                if number == (max(self._marked, 0) if self.hasFocus() else self._marked):
                    self._paint_mark(painter, place, faint=self._marked < 0)
        if rest is not None:
            painter.setPen(QColor(current_colours().quiet))
            painter.setFont(self.font())
            left = len(self._tokens) - len(places)
            painter.drawText(rest, Qt.AlignmentFlag.AlignCenter, f"+ {left:,}")

    def _paint_mark(self, painter: QPainter, place: QRect, *, faint: bool) -> None:
        colours = current_colours()
        painter.setPen(QPen(QColor(colours.quiet if faint else colours.accent), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(place).adjusted(0.75, 0.75, -0.75, -0.75), 6, 6)

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

    def _token_at(self, place: QPoint) -> int:
        """The token under a place; -1 for none."""
        places, _ = self._laid_out(self.width())
        return next((number for number, chip in enumerate(places) if chip.contains(place)), -1)

    def _choose(self, token: int) -> None:
        self.mark(-1 if token == self._marked else token)
        self.chosen.emit(self._marked)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        token = self._token_at(event.position().toPoint())
        if self._choosable and token >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self._choose(token)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key())) if self._choosable and self._tokens else None
        if step is None:
            super().keyPressEvent(event)
            return
        last = len(self._tokens) - 1
        token = min(max(self._marked + step, 0), last) if self._marked >= 0 else (0 if step > 0 else last)
        if token != self._marked:
            self._choose(token)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            found = self._token_at(event.pos())
            tip = _words(self._tokens[found]) if found >= 0 else ""
            QToolTip.showText(event.globalPos(), f"{tip}{self._hint}" if tip else "", self)
            return True
        return super().event(event)


def _words(token: Token) -> str:
    row = "no row has this label" if token.row is None else f"row {token.row:,}"
    return f"{shown_label(token.text)}: {row}"
