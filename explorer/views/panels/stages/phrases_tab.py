"""Phrases as points, and a word followed through two sentences."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from explorer.commands import Session
from explorer.core.errors import ExplorerError
from explorer.core.stages import TokenComparison
from explorer.core.wording import counted
from explorer.jobs import Job
from explorer.views.dropped import paths_in
from explorer.views.panels.form import heading, quiet
from explorer.views.panels.stages.wording import plain

_LINES = 6
_MOST_BYTES = 4 << 20


class PhrasesTab(QWidget):
    """A field of phrases, one a line, and the sentences that share a word."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._encoding: Job | None = None
        self.field = QPlainTextEdit()
        self.field.setPlaceholderText("One phrase a line")
        self.field.setAccessibleName("Phrases")
        self.field.setTabChangesFocus(True)
        self.field.setAcceptDrops(False)  # a file dropped on it is read, not named
        self.field.setFixedHeight(self.fontMetrics().lineSpacing() * _LINES + 14)
        self.read = QPushButton("Read a file…")
        self.go = QPushButton("Show as points")
        self.words = quiet("Each phrase becomes a row of a new table: phrases, not words, on the map.")
        self.first, self.second, self.word = (QLineEdit() for _ in range(3))
        self.compare = QPushButton("Compare")
        self.found = QLabel()
        self.found.setTextFormat(Qt.TextFormat.RichText)
        self.found.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.fault, self.unlike = plain(), plain()
        for fault in (self.fault, self.unlike):
            fault.hide()
        self.setAcceptDrops(True)
        self._lay_out()
        self.field.textChanged.connect(self._show_state)
        self.read.clicked.connect(self.choose_file)
        self.go.clicked.connect(self.encode)
        for field in (self.first, self.second, self.word):
            field.textChanged.connect(self._show_state)
            field.returnPressed.connect(self.compare_word)
        self.compare.clicked.connect(self.compare_word)
        self._show_state()

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.go)
        buttons.addWidget(self.read)
        buttons.addStretch(1)
        form = QFormLayout()
        form.setSpacing(6)
        form.addRow("Sentence", self.first)
        form.addRow("Another", self.second)
        form.addRow("Word", self.word)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        column.addWidget(heading("Phrases as points"))
        column.addWidget(self.field)
        column.addLayout(buttons)
        column.addWidget(self.words)
        column.addWidget(self.fault)
        column.addSpacing(8)
        column.addWidget(heading("The same word in two sentences"))
        column.addLayout(form)
        column.addWidget(self.compare, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.unlike)
        column.addWidget(self.found)
        column.addStretch(1)

    @property
    def phrases(self) -> list[str]:
        """What is typed, without blank lines."""
        return [line.strip() for line in self.field.toPlainText().splitlines() if line.strip()]

    def _show_state(self) -> None:
        for fault in (self.fault, self.unlike):
            fault.hide()
        count = len(self.phrases)
        self.go.setEnabled(count > 0 and self._encoding is None)
        self.words.setText(
            f"{counted(count, 'phrase')}: each becomes a row of a new table."
            if count
            else "Each phrase becomes a row of a new table: phrases, not words, on the map."
        )
        fields = (self.first, self.second, self.word)
        self.compare.setEnabled(all(field.text().strip() for field in fields))

    def choose_file(self) -> None:
        """Read phrases from a text file that the person chooses, one a line."""
        path, _ = QFileDialog.getOpenFileName(self, "Phrases", "", "Text (*.txt *.tsv *.csv);;All files (*)")
        if path:
            self.read_file(path)

    def read_file(self, path: str) -> None:
        """Read phrases from a text file, one a line."""
        try:
            with open(path, "rb") as file:
                data = file.read(_MOST_BYTES + 1)
            if len(data) > _MOST_BYTES:
                raise ExplorerError(f"{path} is too long for phrases.", "Choose a text of at most 4 MB.")
            self.field.setPlainText(data.decode("utf-8-sig"))
        except (OSError, UnicodeDecodeError) as error:
            self._session.notices.error(
                ExplorerError(f"{path} cannot be read as text.", "Save it as UTF-8.", str(error))
            )
        except ExplorerError as error:
            self._session.notices.error(error)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _text_in(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = _text_in(event)
        if path is not None:
            event.acceptProposedAction()
            self.read_file(path)

    def encode(self) -> None:
        """Encode the phrases; their table opens when they are done."""
        job = self._encoding = self._session.staging.phrases(self.phrases)
        if job is not None:
            for ended in (job.finished, job.failed, job.cancelled):
                ended.connect(self._encoded)
            job.failed.connect(lambda error: _say(self.fault, error))
        self._show_state()

    def _encoded(self, *_outcome: object) -> None:
        self._encoding = None
        self._show_state()

    def compare_word(self) -> None:
        """Follow the word through both sentences."""
        if self.compare.isEnabled():
            fields = (self.first, self.second, self.word)
            job = self._session.staging.compare(*(field.text().strip() for field in fields))
            if job is not None:
                job.failed.connect(lambda error: _say(self.unlike, error))

    def show_comparison(self, found: Sequence[TokenComparison]) -> None:
        """Show how alike the word is in both, stage by stage."""
        rows = "".join(
            f"<tr><td>{each.stage}</td><td align='right' style='padding-left:16px'>{each.cosine:.3f}</td>"
            f"<td align='right' style='padding-left:16px'>{each.distance:.3g}</td></tr>"
            for each in found
        )
        header = (
            "<tr><td><b>stage</b></td><td align='right' style='padding-left:16px'><b>cosine</b></td>"
            "<td align='right' style='padding-left:16px'><b>distance</b></td></tr>"
        )
        self.found.setText(f"<table>{header}{rows}</table>" if found else "")
        self.found.setVisible(bool(found))


def _say(label: QLabel, error: ExplorerError) -> None:
    label.setText(str(error))
    label.show()


def _text_in(event: QDropEvent) -> str | None:
    """The file, where exactly one of text is dropped."""
    paths = paths_in(event.mimeData())
    return paths[0] if len(paths) == 1 and paths[0].lower().endswith((".txt", ".tsv", ".csv")) else None
