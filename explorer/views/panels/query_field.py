"""The field a query is typed into: what is understood stands on chips, what is unknown is underlined."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMimeData, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit

from explorer.core.query_outline import Outline, Part
from explorer.core.query_text import PictureTerm
from explorer.core.text_note import TextNote
from explorer.views.panels.picture_chips import PictureChips
from explorer.views.theme import current_colours, error_colours

_HEIGHT, _PAD, _GAP, _INSET, _WAVE = 34, 6, 11, 10, 2.0
_LONGEST = 10_000

Reader = Callable[[str], Outline]


class QueryField(QTextEdit):
    """One line of text, with the parts of the query painted as they are understood.

    Signals
    -------
    edited(str) : the person has changed the text.
    entered() : Return was pressed.

    Attributes
    ----------
    chips : PictureChips
        Pictures that belong to the question, at the left of its text.

    Parameters
    ----------
    read : callable
        Gives the outline of a text.
    earlier : callable
        Gives earlier queries, the last one first.
    """

    edited = Signal(str)
    entered = Signal()

    def __init__(self, read: Reader, earlier: Callable[[], Sequence[str]]) -> None:
        super().__init__()
        self._earlier = earlier
        self._walk = -1
        self._draft = ""
        self._last = ""
        self._pending: Part | None = None
        self._placing = False
        self.hint = ""
        # While the labels are still being read nothing is called unknown.
        self.is_waiting = False
        self.placeholder = ""
        # Asked first for each key; true where the key was taken (the list of completions).
        self.take_key: Callable[[QKeyEvent], bool] = lambda event: False
        # Asked first for what is pasted; true where it was taken (a picture).
        self.take_pasted: Callable[[QMimeData], bool] = lambda data: False
        self.notes: tuple[TextNote, ...] = ()
        self.setObjectName("query")
        self.setAccessibleName("Query")
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QTextEdit.LineWrapMode.NoWrap)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.marker = _Marker(self, read)
        self.chips = PictureChips(self)
        self.textChanged.connect(self._changed)
        self._fit()

    # Text

    def text(self) -> str:
        """What is typed."""
        return self.toPlainText()

    def set_text(self, text: str, cursor: int | None = None) -> None:
        """Put another text in, as one step that can be undone; ``edited`` is not signalled."""
        if text == self.text() and cursor is None:
            return
        self._placing = True
        place = QTextCursor(self.document())
        place.select(QTextCursor.SelectionType.Document)
        place.insertText(_one_line(text))
        if cursor is not None:
            place.setPosition(_units(text, cursor))
        self.setTextCursor(place)
        self._placing = False
        self.viewport().update()

    @property
    def cursor(self) -> int:
        """Before which character the cursor stands."""
        return _characters(self.text(), self.textCursor().position())

    @property
    def outline(self) -> Outline:
        """What is understood of the text."""
        return self.marker.outline

    def _changed(self) -> None:
        # Qt signals a change of colours, too, as a change of the text.
        text, last = self.text(), self._last
        self._last = text
        if text != last and not self._placing:
            self._walk = -1
            self.edited.emit(text)

    @property
    def part_at_cursor(self) -> Part | None:
        """The part that the cursor stands in or touches."""
        cursor = self.cursor
        return next((part for part in self.outline.parts if part.start <= cursor <= part.end), None)

    @property
    def pending(self) -> Part | None:
        """The part that is still being typed: not called unknown, yet."""
        return self._pending

    def set_pending(self, part: Part | None) -> None:
        """Say which part is still being typed."""
        if part != self._pending:
            self._pending = part
            self.viewport().update()

    @property
    def underlined(self) -> list[Part]:
        """The parts that are called unknown."""
        if self.is_waiting:
            return []
        return [part for part in self.outline.parts if not part.known and part != self._pending]

    def set_pictures(self, pictures: tuple[PictureTerm, ...]) -> None:
        """Show the pictures that belong to the question."""
        self.chips.show_pictures(pictures)
        self._place_chips()

    def set_notes(self, notes: tuple[TextNote, ...]) -> None:
        """Show what an encoder could not read: what was cut off, words that it does not know."""
        if notes != self.notes:
            self.notes = notes
            self.marker.rehighlight()
            self.viewport().update()

    @property
    def cut_spans(self) -> list[tuple[int, int]]:
        """From which character to which the encoder has not read the text."""
        return self._note_spans("cut")

    def _note_spans(self, *kinds: str) -> list[tuple[int, int]]:
        length = len(self.text())
        return [
            (note.start, min(note.end, length))
            for note in self.notes
            if note.kind in kinds and note.start < min(note.end, length)
        ]

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        # Files are for the window to open, not for their names to be typed here.
        return source.hasText() and not source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:
        if not self.take_pasted(source) and source.hasText():
            self.insertPlainText(_one_line(source.text()))

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, plain = event.key(), event.modifiers() in (_NONE, Qt.KeyboardModifier.KeypadModifier)
        if self.take_key(event):
            event.accept()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        elif plain and key == Qt.Key.Key_Up:
            self._walk_by(1)
        elif plain and key == Qt.Key.Key_Down:
            self._walk_by(-1)
        elif key == Qt.Key.Key_Escape:
            event.ignore()
        elif key == Qt.Key.Key_Backspace and self._is_at_start and self.chips.pictures:
            self.chips.remove(-1)
        else:
            super().keyPressEvent(event)

    @property
    def _is_at_start(self) -> bool:
        return self.textCursor().position() == 0 and not self.textCursor().hasSelection()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
            cursor = self.textCursor()
            cursor.clearSelection()
            self.setTextCursor(cursor)

    def focusNextPrevChild(self, forward: bool) -> bool:
        if forward and self.take_key(QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Tab, _NONE)):
            return True
        return super().focusNextPrevChild(forward)

    def _walk_by(self, steps: int) -> None:
        """Go to an earlier query (positive) or back towards the text that was there before."""
        earlier = self._earlier()
        if self._walk < 0:
            self._draft = self.text()
        place = min(max(self._walk + steps, -1), len(earlier) - 1)
        if steps > 0 and place == 0 and earlier and earlier[0] == self._draft.strip() and len(earlier) > 1:
            place = 1
        if place == self._walk:
            return
        text = self._draft if place < 0 else earlier[place]
        self.set_text(text, len(text))
        self._walk = place
        self.edited.emit(text)

    # Looks

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()
            if hasattr(self, "marker"):
                self.marker.rehighlight()

    def _fit(self) -> None:
        line = self.fontMetrics().height()
        self.setFixedHeight(max(_HEIGHT, line + 10))
        # The margin of the text is also what centres it; its frame takes a pixel at either side.
        self.document().setDocumentMargin(max((self.height() - 2 - line) / 2, 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "chips"):
            self._place_chips()

    def _place_chips(self) -> None:
        """The chips at the left, the text after them."""
        taken = self.chips.width() + 4 if self.chips.pictures else 0
        if self.viewportMargins().left() != taken:
            self.setViewportMargins(taken, 0, 0, 0)
        self.chips.move(8, (self.height() - self.chips.height()) // 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.height())

    def sizeHint(self) -> QSize:
        return QSize(420, self.height())

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = current_colours()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.accent_ground))
        for part in self.outline.parts:
            if part.known:
                painter.drawRoundedRect(self._chip(part), 5, 5)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(error_colours()[0]), 1.2))
        for part in self.underlined:
            painter.drawPolyline(self._wave(part.start, part.end))
        for span in self._note_spans("unknown words", "unknown script"):
            painter.drawPolyline(self._wave(*span))
        self._paint_quiet(painter)
        painter.end()
        super().paintEvent(event)

    def _paint_quiet(self, painter: QPainter) -> None:
        """The placeholder in an empty field, and the hint where the text leaves room for it."""
        painter.setPen(QColor(current_colours().quiet))
        room = QRectF(self.viewport().rect()).adjusted(self.document().documentMargin(), 0, -_INSET, 0)
        side = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        metrics = self.fontMetrics()
        if not self.text():
            if not self.textCursor().block().layout().preeditAreaText():
                shown = metrics.elidedText(self.placeholder, Qt.TextElideMode.ElideRight, int(room.width()))
                painter.drawText(room, side | Qt.AlignmentFlag.AlignLeft, shown)
                room.setLeft(room.left() + metrics.horizontalAdvance(self.placeholder))
        else:
            room.setLeft(self._x(len(self.text())) + _PAD)
        room.setLeft(room.left() + 12)
        if metrics.horizontalAdvance(self.hint) <= room.width():
            painter.drawText(room, side | Qt.AlignmentFlag.AlignRight, self.hint)

    def _read_end(self, part: Part) -> int:
        """Where a part ends, or where the encoder stopped reading it."""
        cuts = (start for start, _ in self.cut_spans if part.start <= start < part.end)
        return min(cuts, default=part.end)

    def _chip(self, part: Part) -> QRectF:
        left, right = self._x(part.start), self._x(self._read_end(part))
        height = self.fontMetrics().height() + 4
        middle = self.document().documentMargin() + self.fontMetrics().height() / 2
        return QRectF(left - _PAD, middle - height / 2, right - left + 2 * _PAD, height)

    def _wave(self, start: int, end: int) -> QPolygonF:
        left, right = self._x(start), self._x(end)
        y = self.document().documentMargin() + self.fontMetrics().ascent() + 3
        count = max(int((right - left) / _WAVE), 1)
        return QPolygonF([QPointF(left + _WAVE * step, y + step % 2 * 2) for step in range(count + 1)])

    def _x(self, character: int) -> float:
        """Where a character begins, in the viewport's pixels."""
        block = self.document().firstBlock()
        layout = block.layout()
        place = _units(self.text(), character)
        if layout.preeditAreaText() and place > layout.preeditAreaPosition():
            place += len(layout.preeditAreaText())
        line = layout.lineAt(0)
        if not line.isValid():
            return self.document().documentMargin()
        x = line.cursorToX(place)
        x = x[0] if isinstance(x, tuple) else x
        return float(x) + layout.position().x() - self.horizontalScrollBar().value()


_NONE = Qt.KeyboardModifier.NoModifier


class _Marker(QSyntaxHighlighter):
    """Colours the parts of the text and makes room for the chips."""

    def __init__(self, field: QueryField, read: Reader) -> None:
        super().__init__(field.document())
        self._field = field
        self._read = read
        self.outline = read("")

    def highlightBlock(self, text: str) -> None:
        self.outline = self._read(text)
        colours = current_colours()
        known, quiet = QTextCharFormat(), QTextCharFormat()
        known.setForeground(QColor(colours.accent))
        quiet.setForeground(QColor(colours.quiet))
        quiet.setFontWordSpacing(_PAD + _GAP if self.outline.query.is_sentence else _GAP)
        # Without blanks around it, an operator itself keeps the chips apart.
        close = QTextCharFormat(quiet)
        close.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
        close.setFontLetterSpacing(_PAD + 2)
        at = 0
        for part in self.outline.parts:
            gap = text[at : part.start]
            self._mark(text, at, part.start, close if gap and not gap[-1].isspace() else quiet)
            if part.known:
                self._mark(text, part.start, part.end, known)
            at = part.end
        self._mark(text, at, len(text), quiet)
        cut = QTextCharFormat()
        cut.setForeground(QColor(colours.quiet))
        cut.setFontStrikeOut(True)
        for start, end in self._field.cut_spans:
            self._mark(text, start, end, cut)

    def _mark(self, text: str, start: int, end: int, shape: QTextCharFormat) -> None:
        first = _units(text, start)
        self.setFormat(first, _units(text, end) - first, shape)


def _units(text: str, characters: int) -> int:
    """Qt counts UTF-16 units where Python counts characters."""
    return len(text[:characters].encode("utf-16-le", "surrogatepass")) // 2


def _characters(text: str, units: int) -> int:
    encoded = text.encode("utf-16-le", "surrogatepass")[: 2 * units]
    return len(encoded.decode("utf-16-le", "surrogatepass"))


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n\t\v\f\0\u2028\u2029]+", " ", text.strip("\r\n"))[:_LONGEST]
