"""The card under the query field: completions, what cannot be asked, and the labels closest to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QHideEvent, QKeyEvent, QPainter, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGraphicsDropShadowEffect,
    QLabel,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from explorer.views.label_text import shown_label
from explorer.views.panels.form import quiet
from explorer.views.panels.neighbour_delegate import small_figures
from explorer.views.theme import current_colours

_ROW_HEIGHT, _MOST_ROWS, _NARROWEST = 26, 10, 240
Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


@dataclass(frozen=True)
class Offer:
    """A label offered.

    Attributes
    ----------
    label : str
    row : int or None
    text : str
        The whole query once it is taken.
    cursor : int
        Where typing goes on.
    """

    label: str
    row: int | None
    text: str
    cursor: int


class QueryPopup(QFrame):
    """Floats over the window, under a field; never takes the focus from it.

    Signals
    -------
    chosen(Offer, bool) : by click, Tab or Return; true for Return, which asks at once.

    Parameters
    ----------
    field : QWidget
        Stands above it; keys reach the popup through ``take_key``.
    """

    chosen = Signal(object, bool)

    def __init__(self, field: QWidget) -> None:
        super().__init__(field.window())
        self._field = field
        self.setProperty("card", True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Suggestions")
        self.message = QLabel()
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setWordWrap(True)
        self.advice = quiet()
        self.advice.setTextFormat(Qt.TextFormat.PlainText)
        self._words = QWidget()
        words = QVBoxLayout(self._words)
        words.setContentsMargins(8, 6, 8, 6)
        words.setSpacing(4)
        words.addWidget(self.message)
        words.addWidget(self.advice)
        self.offers = _Offers()
        self.list = QListView()
        self.list.setModel(self.offers)
        self.list.setItemDelegate(_OfferDelegate(self.list))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setAccessibleName("Labels that fit")
        self.list.setStyleSheet("QListView { selection-background-color: transparent; }")
        self.list.clicked.connect(lambda index: self.chosen.emit(self.offers.items[index.row()], False))
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        column.setSpacing(0)
        column.addWidget(self._words)
        column.addWidget(self.list)
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(24)
        shadow.setOffset(0, 6)
        shadow.setColor(QColor(0, 0, 0, 56))
        self.setGraphicsEffect(shadow)
        self.hide()

    def show_offers(self, offers: Sequence[Offer], message: str = "", advice: str = "") -> None:
        """Show labels, a message, or both; nothing of either hides the card."""
        self.offers.put(list(offers))
        self.list.setCurrentIndex(QModelIndex())
        self.message.setText(message)
        self.message.setVisible(bool(message))
        self.advice.setText(advice)
        self.advice.setVisible(bool(advice))
        self._words.setVisible(bool(message or advice))
        self.list.setVisible(bool(offers))
        self.list.setFixedHeight(min(len(offers), _MOST_ROWS) * _ROW_HEIGHT)
        if offers or message or advice:
            self.place()
            self.show()
            self.raise_()
        else:
            self.hide()

    def place(self) -> None:
        """Stand under the field, within the window."""
        window = self._field.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        width = min(max(self._field.width(), _NARROWEST), window.width())
        self.layout().activate()
        height = self.layout().heightForWidth(width)
        self.resize(width, height if height > 0 else self.sizeHint().height())
        corner = self._field.mapTo(window, QPoint(0, self._field.height() + 4))
        self.move(max(min(corner.x(), window.width() - width), 0), corner.y())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QApplication.instance().installEventFilter(self)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        QApplication.instance().removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A press anywhere else closes the card, though what was pressed may not take the focus."""
        if event.type() == QEvent.Type.MouseButtonPress and isinstance(watched, QWidget):
            own = (self, self._field)
            if watched not in own and not any(widget.isAncestorOf(watched) for widget in own):
                self.hide()
        return super().eventFilter(watched, event)

    @property
    def marked(self) -> Offer | None:
        """The offer that the arrow keys have marked."""
        index = self.list.currentIndex()
        return self.offers.items[index.row()] if index.isValid() else None

    def take_key(self, event: QKeyEvent) -> bool:
        """Do what a key in the field means to an open list; false where it means nothing here."""
        if not self.isVisible():
            return False
        key, count = event.key(), len(self.offers.items)
        if key == Qt.Key.Key_Escape:
            self.hide()
            return True
        if not count or event.modifiers() not in (_PLAIN, Qt.KeyboardModifier.KeypadModifier):
            return False
        if key in _STEPS:
            place = self.list.currentIndex().row()
            place = (place + _STEPS[key]) if place >= 0 else (0 if _STEPS[key] > 0 else count - 1)
            # Beyond either end nothing is marked: Return asks what is typed again.
            index = self.offers.index(place, 0) if 0 <= place < count else QModelIndex()
            self.list.setCurrentIndex(index)
            return True
        entered = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if key == Qt.Key.Key_Tab or (entered and self.marked):
            self.chosen.emit(self.marked or self.offers.items[0], entered)
            return True
        return False


_PLAIN = Qt.KeyboardModifier.NoModifier
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}


class _Offers(QAbstractListModel):
    def __init__(self) -> None:
        super().__init__()
        self.items: list[Offer] = []

    def put(self, items: list[Offer]) -> None:
        self.beginResetModel()
        self.items = items
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        offer = self.items[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return shown_label(offer.label)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return shown_label(offer.label) + ("" if offer.row is None else f", row {offer.row}")
        return None


class _OfferDelegate(QStyledItemDelegate):
    """A label at the left, its row at the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, _ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colours = current_colours()
        offer = index.model().items[index.row()]
        marked = option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if marked:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent_ground))
            painter.drawRoundedRect(option.rect, 6, 6)
        line = option.rect.adjusted(8, 0, -8, 0)
        side = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        row = "" if offer.row is None else f"#{offer.row}"
        painter.setFont(small_figures(option.font))
        painter.setPen(QColor(colours.quiet))
        painter.drawText(line, side | Qt.AlignmentFlag.AlignRight, row)
        line.setRight(line.right() - painter.fontMetrics().horizontalAdvance(row) - 12)
        painter.setFont(option.font)
        painter.setPen(QColor(colours.accent if marked else colours.text))
        label = painter.fontMetrics().elidedText(
            shown_label(offer.label), Qt.TextElideMode.ElideRight, line.width()
        )
        painter.drawText(line, side | Qt.AlignmentFlag.AlignLeft, label)
        painter.restore()
