"""The bar above the map that filters rows by a typed condition."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QIcon, QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.commands import Session
from explorer.core.errors import ExplorerError
from explorer.core.filter_completion import completions
from explorer.core.filter_query import EXAMPLES, FilterError
from explorer.core.wording import counted
from explorer.views.panels.query_completer import Offer, QueryPopup
from explorer.views.theme import current_colours, error_colours, figures, icon

APPLY_AFTER_MS = 300
SIGN = 18
ROOMY, NARROWEST = 560, 140
PLACEHOLDER = 'year >= 1990 and kind = noun   ·   caption contains dog   ·   label ~ /ing$/   ·   "new york"'
HELP = "<table>{}</table>".format(
    "".join(
        f"<tr><td>{escape(condition)}</td><td style='padding-left:16px'>{escape(meaning)}</td></tr>"
        for condition, meaning in EXAMPLES
    )
)


class FilterBar(QFrame):
    """A field for the condition, how many rows it leaves, and what can be done with them.

    Signals
    -------
    left : the bar was closed; the map gets the keys.
    select_wanted : the rows left are to be selected.
    """

    left = Signal()
    select_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._problem: ExplorerError | None = None
        self._settled = True
        self.setObjectName("filterBar")
        self.sign = QLabel()
        self.field = _Field()
        self.field.setPlaceholderText(PLACEHOLDER)
        self.field.setMinimumWidth(NARROWEST)
        self.field.setAccessibleName("Filter")
        self.field.setToolTip(HELP)
        self.popup = QueryPopup(self.field)
        self.problem = QLabel()
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.setWordWrap(True)
        self.problem.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        # In line with what is typed above it.
        self.problem.setContentsMargins(SIGN + 8 + 2, 0, 0, 2)
        self.count = QLabel()
        self.count.setFont(figures(self.count.font()))
        self.select = QPushButton("Select")
        self.select.setToolTip("Select the rows that fit; they combine as chosen on the map")
        self.only = QPushButton("Show only these")
        self.only.setToolTip("Hide all other rows")
        self.shut = QToolButton()
        self.shut.setAccessibleName("Clear the filter and close this bar")
        self.shut.setToolTip("Clear the filter (Esc)")
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(APPLY_AFTER_MS)
        self._connect()
        self.restyle()
        self.hide()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 8, 6)
        column.setSpacing(4)
        line = QHBoxLayout()
        line.setSpacing(8)
        column.addLayout(line)
        column.addWidget(self.problem)
        line.addWidget(self.sign)
        line.addWidget(self.field, 1)
        line.addWidget(self.count)
        for button in (self.select, self.only):
            button.setProperty("flat", True)
            line.addWidget(button)
        line.addWidget(self.shut)

    def _connect(self) -> None:
        session, document = self._session, self._session.document
        self._timer.timeout.connect(lambda: self._apply(settled=False))
        self.field.textEdited.connect(lambda _text: self._typed())
        self.field.keyed.connect(self._key)
        self.field.returnPressed.connect(lambda: self._apply(settled=True))
        self.field.gone.connect(self.popup.hide)
        self.popup.chosen.connect(self._take)
        self.select.clicked.connect(self.select_wanted)
        self.only.clicked.connect(self._show_only)
        self.shut.clicked.connect(self.close_bar)
        session.filtering.rejected.connect(self._rejected)
        session.filtering.busy_changed.connect(lambda _busy: self.refresh())
        session.filtering.column_read.connect(lambda _name: self.field.hasFocus() and self._offer())
        document.filter_changed.connect(self._filter_changed)
        document.table_changed.connect(self.refresh)

    # Coming and going

    def open_bar(self) -> None:
        """Show the bar and go to its field."""
        if self._session.document.table is not None:
            self.show()
            self.refresh()
            self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.field.selectAll()

    def close_bar(self) -> None:
        """Filter nothing, and away with the bar."""
        self._timer.stop()
        self.popup.hide()
        self._problem = None
        self.field.clear()
        self._session.filtering.clear()
        self.hide()
        self.left.emit()

    # Following the document

    def _filter_changed(self) -> None:
        text = self._session.document.filter
        self._problem = None
        if text:
            self.show()
        typing = self.field.hasFocus() and self.field.text().strip() == text
        if not typing and not self._timer.isActive():
            self.field.setText(text)
        self.refresh()

    def refresh(self) -> None:
        """Say how many rows are left, or what is wrong with the condition."""
        document, filtering = self._session.document, self._session.filtering
        if document.table is None:
            self.hide()
            return
        rows = document.table.listing.rows
        filtered = document.filtered is not None
        wrong = self._problem is not None
        if filtering.is_busy:
            words = "Filtering…"
        else:
            words = f"{filtering.count:,} of {counted(rows, 'row')}" if filtered else counted(rows, "row")
        self.count.setText(words)
        self.problem.setText("" if self._problem is None else str(self._problem))
        self.count.setVisible(not wrong)
        self.problem.setVisible(wrong)
        colours = current_colours()
        _colour(self.count, colours.text if filtered else colours.quiet)
        _colour(self.problem, error_colours()[0])
        self.select.setVisible(filtered and not wrong)
        # On a narrow map what is typed needs the room; the menus offer the same.
        self.only.setVisible(filtered and not wrong and self.width() >= ROOMY)
        for button in (self.select, self.only):
            button.setEnabled(filtered and filtering.count > 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh()

    def restyle(self) -> None:
        """Take on the colours that hold now."""
        colours = current_colours()
        self.setStyleSheet(
            f"#filterBar {{ background: {colours.panel}; border: none; "
            f"border-bottom: 1px solid {colours.line}; }}"
        )
        self.sign.setPixmap(icon("filter", colours.quiet).pixmap(QSize(SIGN, SIGN)))
        self.shut.setIcon(QIcon(icon("close", colours.quiet)))
        self.refresh()

    # Typing

    def _typed(self) -> None:
        self._problem = None
        self._timer.start()
        self._offer()

    def _offer(self) -> None:
        """Propose what the word at the cursor may become."""
        text, at = self.field.text(), self.field.cursorPosition()
        found = completions(text, at, self._session.filtering.read_columns)
        if found.awaits:
            self._session.filtering.read(found.awaits)
        offers = []
        for option in found.options:
            # What opens something is typed on at once.
            gap = "" if option.endswith(("(", "/")) else " "
            whole = text[: found.start] + option + gap + text[found.end :].lstrip()
            offers.append(Offer(option, None, whole, found.start + len(option) + len(gap)))
        self.popup.show_offers(offers if text else [])

    def _take(self, offer: Offer, _entered: bool) -> None:
        self.field.setText(offer.text)
        self.field.setCursorPosition(offer.cursor)
        self._typed()

    def _apply(self, *, settled: bool) -> None:
        self._timer.stop()
        if settled:
            self.popup.hide()
        self._settled = settled
        self._session.filtering.apply(self.field.text(), settled=settled)

    def _rejected(self, error: ExplorerError) -> None:
        """Show what is wrong; while typing, not that the end is still missing."""
        typing = self.field.hasFocus() and not self._settled
        if typing and isinstance(error, FilterError) and error.end >= len(self.field.text().rstrip()):
            return
        self._problem = error
        self.refresh()

    def _key(self, event: QKeyEvent) -> None:
        if self.popup.take_key(event):
            event.accept()
        elif event.key() == Qt.Key.Key_Escape:
            self.close_bar()
            event.accept()
        elif event.key() == Qt.Key.Key_Down and not self.popup.isVisible():
            self._offer()
            event.accept()
        else:
            event.ignore()

    def _show_only(self) -> None:
        document = self._session.document
        if document.filtered is not None:
            self._session.isolating.isolate(document.filtered.nonzero()[0])


def _colour(label: QLabel, colour: str) -> None:
    palette = label.palette()
    palette.setColor(QPalette.ColorRole.WindowText, colour)
    label.setPalette(palette)


class _Field(QLineEdit):
    """Lets the bar have a look at each key first.

    Signals
    -------
    keyed(QKeyEvent) : a key was pressed; accepted where the bar has used it.
    gone : the focus has left.
    """

    keyed = Signal(object)
    gone = Signal()

    def event(self, event: QEvent) -> bool:
        # Tab takes a proposal before it leads on, and never reaches keyPressEvent.
        if event.type() == QEvent.Type.KeyPress:
            self.keyed.emit(event)
            if event.isAccepted():
                return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.gone.emit()
