"""Which encoder reads what is typed for the table on the map, and how to take another."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QWidget

from explorer.commands import Session
from explorer.core.encoder_info import EncoderInfo
from explorer.core.listing import LoadedTable
from explorer.views.panels.elided_label import ElidedLabel
from explorer.views.panels.encoder_choice import FILE, FOLDER, ask_for_file, ask_for_folder
from explorer.views.panels.form import Section, quiet

CHOOSE = "Ask in sentences…"


class EncoderSection(Section):
    """The encoder by name, what it is, and what to know of it.

    Signals
    -------
    recall_wanted : the person asks how good it is on the shown pictures and their captions.
    """

    recall_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("Encoder", parent)
        self._session = session
        self.name = ElidedLabel()
        self.name.setAccessibleName("Encoder")
        self.change = QPushButton()
        self.change.setAccessibleName("Choose an encoder")
        self.change.setToolTip("Choose the encoder that reads what is typed")
        self.menu = QMenu(self.change)
        self.menu.aboutToShow.connect(self._fill_menu)
        self.change.setMenu(self.menu)
        self.find = QPushButton("Find it…")
        self.find.clicked.connect(lambda: self._use_other(FOLDER))
        self.facts = quiet()
        self.more = QPushButton("Details")
        self.more.setProperty("flat", True)
        self.more.setCheckable(True)
        self.details = quiet()
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details.setTextFormat(Qt.TextFormat.PlainText)
        self.details.hide()
        self.more.toggled.connect(self.details.setVisible)
        self.recall = QPushButton("How good is it…")
        self.recall.setProperty("flat", True)
        self.recall.setToolTip("How often captions find their pictures, and pictures their captions")
        self.recall.setStyleSheet("padding-left: 0;")
        self.recall.clicked.connect(self.recall_wanted)
        first = QHBoxLayout()
        first.setSpacing(8)
        first.addWidget(self.name, 1)
        first.addWidget(self.find)
        first.addWidget(self.change)
        second = QHBoxLayout()
        second.setSpacing(4)
        second.addWidget(self.facts, 1)
        second.addWidget(self.more, 0, Qt.AlignmentFlag.AlignTop)
        self.body.addLayout(first)
        self.body.addLayout(second)
        self.body.addWidget(self.details)
        self.body.addWidget(self.recall, 0, Qt.AlignmentFlag.AlignLeft)
        document = session.document
        document.table_changed.connect(self.refresh)
        document.encoder_changed.connect(self.refresh)
        session.encoding.loading_changed.connect(lambda _loading: self.refresh())
        session.encoding.wanted.connect(lambda _why: self.change.showMenu())
        self.refresh()

    def refresh(self) -> None:
        """Show the encoder that answers now, or that there is none and why."""
        document = self._session.document
        encoder, table = document.encoder, document.table
        self.setVisible(table is not None)
        if table is None:
            return
        lost = encoder is None and is_lost(table)
        self.find.setVisible(lost)
        self.more.setVisible(encoder is not None)
        self.recall.setVisible(encoder is not None and document.has_captions)
        # Most tables of words need none: then the section is one line.
        unknown = encoder is None and table.encoder is None and not self._session.encoding.is_loading
        self.name.setVisible(not unknown)
        self.facts.setVisible(not unknown)
        self.change.setText(CHOOSE if unknown else "Change" if encoder is not None else "Choose")
        if encoder is not None:
            self.name.setText(encoder.name)
            self.name.setToolTip(encoder.path)
            self.facts.setText(facts_of(encoder))
            self.details.setText(details_of(encoder))
            return
        self.more.setChecked(False)
        self.name.setText("loading…" if self._session.encoding.is_loading else "none")
        self.facts.setText(why_none(table))

    def _fill_menu(self) -> None:
        self.menu.clear()
        encoder = self._session.document.encoder
        for choice in self._session.encoding.local():
            action = self.menu.addAction(choice.name)
            action.setToolTip(choice.path)
            action.setCheckable(True)
            action.setChecked(encoder is not None and encoder.path == choice.path)
            action.triggered.connect(lambda _=False, path=choice.path: self._session.encoding.use(path))
        self.menu.addSeparator()
        for text in (FOLDER, FILE):
            self.menu.addAction(text, lambda text=text: self._use_other(text))
        if encoder is not None:
            self.menu.addSeparator()
            self.menu.addAction("None", self._session.encoding.close)

    def _use_other(self, how: str) -> None:
        path = (ask_for_folder if how == FOLDER else ask_for_file)(self)
        if path:
            self._session.encoding.use(path)


def is_lost(table: LoadedTable) -> bool:
    """Whether the encoder that made the vectors is known and not where it was."""
    return table.encoder is not None and not Path(table.encoder.path).exists()


def why_none(table: LoadedTable) -> str:
    """What to say of a table that no encoder reads for."""
    if table.encoder is None:
        return ""
    if is_lost(table):
        return f"{table.encoder.name} made these vectors; it is no longer at {table.encoder.path}."
    return f"{table.encoder.name} made these vectors."


def facts_of(encoder: EncoderInfo) -> str:
    """What an encoder is, in one line, e.g. ``"CLIP · 512 numbers · cpu"``."""
    return f"{encoder.kind} · {encoder.dim:,} numbers · {encoder.device}"


def details_of(encoder: EncoderInfo) -> str:
    """What to know of an encoder, a line each."""
    reads = []
    if encoder.has_text:
        most = "" if encoder.context_length is None else f", at most {encoder.context_length} tokens"
        reads.append(f"Reads texts{most}.")
    if encoder.has_images:
        size = "" if encoder.image_size is None else f" at {encoder.image_size[1]} × {encoder.image_size[0]}"
        reads.append(f"Sees pictures{size}.")
    return "\n".join((*reads, *encoder.notes, encoder.path))
