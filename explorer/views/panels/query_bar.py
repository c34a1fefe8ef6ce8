"""The query line: a field that understands as one types, and how the question is put."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QAction, QMoveEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QMenu,
    QToolButton,
    QWidget,
)

from explorer.commands import Session
from explorer.core.errors import ExplorerError
from explorer.core.labels import label_of
from explorer.core.query import format_label, replace_term
from explorer.core.query_outline import Outline, Part, outline
from explorer.core.query_resolve import complete
from explorer.core.query_text import text_outline
from explorer.core.results import Metric
from explorer.core.text_note import TextNote
from explorer.document import Question
from explorer.views.label_text import shown_label
from explorer.views.panels.count_box import CountBox
from explorer.views.panels.query_completer import Offer, QueryPopup
from explorer.views.panels.query_field import QueryField
from explorer.views.panels.query_pictures import QueryPictures
from explorer.views.theme import current_colours, icon

ASK_AFTER, OFFER_AFTER = 250, 400
_MOST_OFFERS = 10
_LABELS = 'Ask: king, king - man + woman, "new york", #123'
_WORDS = 'Ask: a dog on the beach + "at night" - people, #12'
_NO_WORDS = "Ask for a row: #12. An encoder lets you ask in words."


class QueryBar(QWidget):
    """Field, metric, number of neighbours, and what takes part."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._asked: str | None = None
        self._typed_ahead: bool | None = None  # whether for a table that is on its way; None where none is
        self.field = QueryField(self._read, lambda: session.settings.queries)
        self.pictures = QueryPictures(session, self.field, self.ask)
        self.popup = QueryPopup(self.field)
        self.field.take_key = self.popup.take_key
        self._ask_timer = _timer(self, ASK_AFTER, self._ask_by_itself)
        self._offer_timer = _timer(self, OFFER_AFTER, self._offer_closest)
        self._make_options()
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(8)
        line.addWidget(self.field, 1)
        for option in (self.metrics, self.k, self.more):
            line.addWidget(option)
        self.setFocusProxy(self.field)
        self.field.installEventFilter(self)
        self.field.edited.connect(self._edited)
        self.field.entered.connect(self.ask)
        self.field.cursorPositionChanged.connect(self._moved)
        self.popup.chosen.connect(self._take)
        session.opening.reading_begun.connect(lambda: self._await_table(bool(self._typed_ahead)))
        session.opening.reading_failed.connect(lambda: self._await_table(None))
        session.asking.rejected.connect(self._refused)
        session.asking.suggested.connect(self._suggested)
        session.asking.index_ready.connect(self._index_ready)
        document = session.document
        document.answer_changed.connect(self._follow)
        document.table_changed.connect(self._table_changed)
        document.asking_changed.connect(self._show_options)
        document.encoder_changed.connect(self._encoder_changed)
        session.encoding.loading_changed.connect(lambda _loading: self._encoder_changed())
        self._table_changed()

    def focus_query(self) -> None:
        """Go to the field with all of its text selected."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    # Options

    def _make_options(self) -> None:
        self.metrics = QComboBox()
        self.metrics.addItems([str(metric) for metric in Metric])
        self.metrics.setAccessibleName("Metric")
        self.metrics.setToolTip("How alike two rows are: by angle, by product, or by distance")
        self.k = CountBox()
        self.k.setAccessibleName("Number of neighbours")
        self.k.setToolTip("How many neighbours; more than there are gives all")
        self.more = QToolButton()
        self.more.setAccessibleName("What takes part in the answer")
        self.more.setToolTip("What takes part in the answer")
        self.more.setFixedSize(30, 30)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self._draw_icons()
        menu = QMenu(self.more)
        self.all_rows = QAction("Include special and padding rows", menu)
        self.include_query = QAction("Include the query's own rows", menu)
        for action in (self.all_rows, self.include_query):
            action.setCheckable(True)
            menu.addAction(action)
        self.more.setMenu(menu)
        self.metrics.currentTextChanged.connect(lambda name: self._set(metric=Metric(name)))
        self.k.valueChanged.connect(lambda count: self._set(k=count))
        self.all_rows.toggled.connect(lambda on: self._set(all_rows=on))
        self.include_query.toggled.connect(lambda on: self._set(include_query=on))

    def _set(self, **options: object) -> None:
        self._session.document.set_asking(**options)
        self._session.asking.again()

    def _show_options(self) -> None:
        document = self._session.document
        for control, show in (
            (self.metrics, lambda: self.metrics.setCurrentText(str(document.metric))),
            (self.k, lambda: self.k.setValue(document.k)),
            (self.all_rows, lambda: self.all_rows.setChecked(document.all_rows)),
            (self.include_query, lambda: self.include_query.setChecked(document.include_query)),
        ):
            blocked = control.blockSignals(True)
            show()
            control.blockSignals(blocked)
        self.k.updateGeometry()

    # Typing

    def _read(self, text: str) -> Outline:
        document, asking = self._session.document, self._session.asking
        rows = 0 if document.table is None else document.table.listing.rows
        if document.encoder is not None and document.encoder.has_text:
            return text_outline(text, asking.index, rows, words_first=asking.words_first)
        return outline(text, asking.index, rows)

    def _edited(self, text: str) -> None:
        if self._typed_ahead is not None:
            self._typed_ahead = True
        self._offer_timer.stop()
        self.field.hint = ""
        self.field.set_notes(())
        if not text.strip():
            self._ask_timer.stop()
            self.popup.hide()
            self._asked = ""
            self._session.asking.ask("")
            self._show_hint()
            return
        self._ask_timer.start()
        offers = self._completions()
        self.popup.show_offers(offers)
        part = self.field.part_at_cursor
        self.field.set_pending(part if offers and part is not None and not part.known else None)
        if not offers:
            self._offer_timer.start()

    def _moved(self) -> None:
        """The cursor has left what was being typed, or come to something unknown."""
        if self.field.pending is not None and self.field.part_at_cursor != self.field.pending:
            self.field.set_pending(None)
        if not self.popup.isVisible():
            self._offer_timer.start()

    def _completions(self) -> list[Offer]:
        index = self._session.asking.index
        if index is None:
            return []
        text, cursor = self.field.text(), self.field.cursor
        if self._session.asking.words_first:
            term = self.field.outline.query.term_at(cursor)
            if term is None or not term.quoted:
                return []  # what is typed is words, not the names of files
        offers = []
        for found in complete(text, cursor, index, _MOST_OFFERS):
            match = index.find(found.label)
            if match is not None and len(match.rows) > 1:
                start = found.cursor - len(format_label(found.label))
                named = f"#{found.row}"
                whole = found.text[:start] + named + found.text[found.cursor :]
                offers.append(Offer(found.label, found.row, whole, start + len(named)))
            else:
                offers.append(Offer(found.label, found.row, found.text, found.cursor))
        return [] if all(offer.text == text for offer in offers) else offers

    def _offer_closest(self) -> None:
        """Say that the part at the cursor is unknown, with the labels closest to it."""
        part = self.field.part_at_cursor
        if part is None or part.known or part == self.field.pending or not self.field.hasFocus():
            return
        if self._session.asking.index is not None:
            self._say_unknown(part, f"No row has the label “{shown_label(part.label)}”.")

    def _say_unknown(self, part: Part, message: str, advice: str = "") -> None:
        """Show the message at once, and the labels closest to the part when they are found."""
        self.popup.show_offers([], message, advice)
        self._session.asking.suggest(part.label)

    def _suggested(self, label: str, labels: tuple[str, ...]) -> None:
        part = next((part for part in self.field.underlined if part.label == label), None)
        offers = [] if part is None else self._replacements(part, labels)
        if offers and self.popup.isVisible() and not self.popup.offers.items:
            self.popup.show_offers(offers, self.popup.message.text(), "Closest to it:")

    def _replacements(self, part: Part, labels: tuple[str, ...]) -> list[Offer]:
        query, index = self.field.outline.query, self._session.asking.index
        term = next((term for term in query.terms if term.start == part.start), None)
        if term is None or term.text is None or index is None:
            return []
        offers = []
        for label in labels:
            match = index.find(label)
            row = None if match is None else match.rows[0]
            offers.append(Offer(label, row, *replace_term(query, term, label)))
        return offers

    def _take(self, offer: Offer, settled: bool) -> None:
        self.popup.hide()
        self.field.set_text(offer.text, offer.cursor)
        self.field.set_pending(None)
        self.field.setFocus()
        if settled:
            self.ask()
        else:
            self._ask_by_itself()

    # Asking

    def ask(self) -> None:
        """Ask what is typed."""
        self._ask_timer.stop()
        self._offer_timer.stop()
        self.popup.hide()
        self.field.set_pending(None)
        self._asked = self.field.text().strip()
        self._session.asking.ask(self.field.text())
        if self._session.asking.is_indexing:
            self.popup.show_offers([], advice="Asked as soon as the labels have been read.")
        elif self._session.encoding.is_loading and self.field.outline.resolved is None:
            self.popup.show_offers([], advice="Asked as soon as the encoder has been loaded.")
        answer = self._session.document.answer
        if answer is not None and answer.question.text == self._asked:
            self._follow()  # asked already while it was typed: what there is to say is said again
        self._show_hint()

    def _ask_by_itself(self) -> None:
        """Ask what is typed so far, where all of it is understood."""
        self._ask_timer.stop()
        if self.field.outline.resolved is not None:
            self._asked = self.field.text().strip()
            self._session.asking.ask(self.field.text(), settled=False)

    def _refused(self, error: ExplorerError) -> None:
        unknown = [part for part in self.field.outline.parts if not part.known]
        if len(unknown) == 1:
            self._say_unknown(unknown[0], error.message, error.hint)
        else:
            self.popup.show_offers([], error.message, error.hint)

    # Following

    def _await_table(self, typed_ahead: bool | None) -> None:
        self._typed_ahead = typed_ahead

    def _table_changed(self) -> None:
        table = self._session.document.table
        self.setEnabled(table is not None)
        if table is not None and self._typed_ahead:
            self._asked = ""  # what was typed while the table was on its way is meant for it: it stays
        self._await_table(None)
        self._show_reading()
        self.popup.hide()
        self.field.marker.rehighlight()
        self._show_options()
        self._show_hint()

    def _show_reading(self) -> None:
        """Who reads what is typed: labels, an encoder, or neither yet."""
        document, asking = self._session.document, self._session.asking
        table, encoder = document.table, document.encoder
        labels_come = table is not None and table.labels is not None and asking.index is None
        self.field.is_waiting = labels_come or self._session.encoding.is_loading
        self.field.placeholder = _LABELS
        if (encoder is not None and encoder.has_text) or self._session.encoding.is_loading:
            self.field.placeholder = _WORDS
        elif document.pictures is not None:
            self.field.placeholder = _NO_WORDS
        self.field.setAccessibleDescription(self.field.placeholder)
        self.field.marker.rehighlight()

    def _encoder_changed(self) -> None:
        self._show_reading()
        self.field.viewport().update()
        if self._session.document.answer is None and self.field.text().strip():
            self._ask_timer.start()

    def _index_ready(self) -> None:
        self._show_reading()
        if self._session.document.answer is None and self.field.text().strip():
            self._ask_timer.start()

    def _follow(self) -> None:
        """Show the question that was answered, unless it is an earlier state of what is being typed."""
        answer = self._session.document.answer
        text = "" if answer is None else answer.question.text
        if text != self.field.text().strip() and text != self._asked:
            self._ask_timer.stop()
            self._offer_timer.stop()
            self.field.set_text(text, len(text))
            self.field.set_pending(None)
            self._asked = None
        notes = () if answer is None or text != self.field.text().strip() else answer.text_notes
        self.field.set_notes(_moved(notes, self.field.text()))
        if text == self.field.text().strip() and not self.field.pending and not self.popup.offers.items:
            if notes and self.field.hasFocus():
                self.popup.show_offers([], "\n".join(dict.fromkeys(note.message for note in notes)))
            else:
                self.popup.hide()
        self._show_hint()

    def _show_hint(self) -> None:
        """At the right of the field: how the text was matched, or that earlier queries are there."""
        answer = self._session.document.answer
        hint = "↑ earlier queries" if self._session.settings.queries else ""
        tip = ""
        if answer is not None and answer.question.text == self.field.text().strip():
            question = answer.question
            said = (*question.notes, *(note.message for note in answer.text_notes))
            tip = "\n".join(dict.fromkeys(said))
            if question.matched != "exact":
                hint = f"matched {question.matched}: {', '.join(map(shown_label, self._bent(question)))}"
        self.field.hint = hint
        self.field.setToolTip(tip)
        self.field.viewport().update()

    def _bent(self, question: Question) -> list[str]:
        """The labels that were found though they are not what was typed."""
        table = self._session.document.table
        names = [label_of(None if table is None else table.labels, row) for row in question.rows]
        typed = {part.label for part in self.field.outline.parts}
        return list(dict.fromkeys(name for name in names if name not in typed)) or names

    # Events

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.popup.hide()
            self.field.set_pending(None)
        elif event.type() == QEvent.Type.FocusIn:
            self._show_hint()
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "more"):
            self._draw_icons()

    def _draw_icons(self) -> None:
        self.more.setIcon(icon("more", current_colours().text))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._replace_popup()

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self._replace_popup()

    def _replace_popup(self) -> None:
        if self.popup.isVisible():
            self.popup.place()


def _moved(notes: tuple[TextNote, ...], typed: str) -> tuple[TextNote, ...]:
    """Notes on a text, as notes on what was typed, with the blanks before it."""
    blanks = len(typed) - len(typed.lstrip())
    return tuple(replace(note, start=note.start + blanks, end=note.end + blanks) for note in notes)


def _timer(owner: QObject, interval: int, act: object) -> QTimer:
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(interval)
    timer.timeout.connect(act)
    return timer
