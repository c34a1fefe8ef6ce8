"""How good an encoder is on one's own pictures: recall both ways, beside what chance would give."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from explorer.commands import Session
from explorer.core.chance import chance_at, chance_median
from explorer.core.errors import ExplorerError
from explorer.core.retrieval import Recall, Retrieval
from explorer.core.wording import counted
from explorer.export.tables import write_rows_csv
from explorer.jobs import Job
from explorer.views.panels.form import quiet
from explorer.views.saving import ask_for_csv, save_and_tell
from explorer.views.theme import current_colours, figures

HEADINGS = ("", "Recall@1", "Recall@5", "Recall@10", "Median rank", "Queries")
COLUMNS = ("direction", "recall@1", "recall@5", "recall@10", "median_rank", "queries")
HOW = (
    "A caption is found when its own picture is among the first k of all pictures; a picture, when one of "
    "its own captions is among the first k of all captions (Karpathy and Fei-Fei, 2015)."
)
ROW_HEIGHT = 28
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class RecallDialog(QDialog):
    """Measures, shows progress, then the table."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._job: Job | None = None
        self.setWindowTitle("How good is it")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(640, 320)
        self.about = QLabel()
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.about.setProperty("title", True)
        self.about.setWordWrap(True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Measuring")
        self.doing = quiet()
        self.stop = QPushButton("Cancel")
        self.stop.clicked.connect(self._stop)
        self.busy = QWidget()
        line = QHBoxLayout(self.busy)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(8)
        line.addWidget(self.bar, 1)
        line.addWidget(self.doing)
        line.addWidget(self.stop)
        self.table = _table()
        self.how = quiet(HOW)
        self.notes = quiet()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy = buttons.addButton("Copy", QDialogButtonBox.ButtonRole.ActionRole)
        self.save = buttons.addButton("Save as CSV…", QDialogButtonBox.ButtonRole.ActionRole)
        self.again = buttons.addButton("Measure again", QDialogButtonBox.ButtonRole.ActionRole)
        self.copy.clicked.connect(self.copy_table)
        self.save.clicked.connect(self.ask_where)
        self.again.clicked.connect(self.measure)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(10)
        for widget in (self.about, self.busy, self.table, self.how, self.notes):
            column.addWidget(widget)
        column.addStretch(1)
        column.addWidget(buttons)
        buttons.button(QDialogButtonBox.StandardButton.Close).setDefault(True)
        session.document.retrieval_changed.connect(self.refresh)
        session.document.table_changed.connect(self._shut)
        self.finished.connect(self._let_go)
        self.refresh()
        if session.document.retrieval is None:
            self.measure()

    def measure(self) -> None:
        """Measure anew."""
        job = self._session.judging.evaluate()
        if job is None:
            return
        self._job = job
        job.progressed.connect(self._progress)
        for ended in (job.finished, job.cancelled):
            ended.connect(self._ended)
        job.failed.connect(self._failed)
        self.bar.setRange(0, 0)
        self.doing.setText("Reading")
        self.refresh()

    def refresh(self) -> None:
        """Show the figures, or that they are on their way."""
        found, measuring = self._session.document.retrieval, self._job is not None
        self.busy.setVisible(measuring)
        shown = found is not None and not measuring
        for part in (self.table, self.how):
            part.setVisible(shown)
        self.notes.setVisible(shown and bool(found.notes))
        self.again.setVisible(not measuring)
        for button in (self.copy, self.save):
            button.setEnabled(shown)
        name = Path(self._session.document.table.path).name if self._session.document.table else ""
        if found is None:
            self.about.setText(name)
            return
        pictures, captions = found.image_to_text.queries, found.text_to_image.queries
        made_by = f" by {found.encoder}" if found.encoder else ""
        self.about.setText(
            f"{name}: {counted(pictures, 'picture')} and {counted(captions, 'caption')}{made_by}"
        )
        self.notes.setText("\n".join(found.notes))
        for row, texts in enumerate(rows_of(found)):
            for place, text in enumerate(texts):
                item = QTableWidgetItem(text)
                if place:
                    item.setTextAlignment(_RIGHT)
                if row % 2:
                    item.setForeground(QColor(current_colours().quiet))
                self.table.setItem(row, place, item)

    def _progress(self, fraction: float, stage: str, _left: float) -> None:
        self.bar.setRange(0, 0 if fraction < 0 else 1000)
        self.bar.setValue(round(max(fraction, 0) * 1000))
        self.doing.setText(stage)

    def _ended(self) -> None:
        self._job = None
        self.refresh()

    def _failed(self, error: ExplorerError) -> None:
        self._ended()
        self.about.setText(str(error))

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _shut(self) -> None:
        self.reject()

    def _let_go(self) -> None:
        self._stop()
        self._session.document.retrieval_changed.disconnect(self.refresh)
        self._session.document.table_changed.disconnect(self._shut)

    # Taking the figures away

    def copy_table(self) -> None:
        """Put the table on the clipboard, with tabs."""
        found = self._session.document.retrieval
        if found is not None:
            lines = ("\t".join(row) for row in (HEADINGS, *rows_of(found)))
            QGuiApplication.clipboard().setText("\n".join(lines))

    def ask_where(self) -> None:
        """Save the table where the person says."""
        table = self._session.document.table
        name = "recall" if table is None else f"{Path(table.path).name}-recall"
        path = ask_for_csv(self, "Save recall", f"{name}.csv")
        if path is not None:
            self.save_csv(path)

    def save_csv(self, path: Path) -> None:
        """Save the figures as CSV, in full precision."""
        found = self._session.document.retrieval
        if found is not None:
            rows = exact_rows_of(found)
            save_and_tell(self._session.notices, path, lambda: write_rows_csv(path, COLUMNS, rows))


def exact_rows_of(found: Retrieval) -> list[tuple[object, ...]]:
    """Direction, recall@1, 5 and 10, median rank, queries; after each measured row its chance level."""
    pictures, captions = found.image_to_text.queries, found.text_to_image.queries
    per_picture = captions / pictures if pictures else 1.0
    return [
        ("text to image", *_measured(found.text_to_image)),
        ("chance", *_by_chance(1.0, pictures), ""),
        ("image to text", *_measured(found.image_to_text)),
        ("chance", *_by_chance(per_picture, captions), ""),
    ]


def rows_of(found: Retrieval) -> list[tuple[str, ...]]:
    """The same as it is shown."""
    names = ("Text → pictures", "  by chance", "Pictures → text", "  by chance")
    return [
        (name, *(_share(float(value)) for value in row[1:4]), f"{row[4]:,g}", f"{row[5]:,}" if row[5] else "")
        for name, row in zip(names, exact_rows_of(found), strict=True)
    ]


def _measured(recall: Recall) -> tuple[object, ...]:
    return recall.at_1, recall.at_5, recall.at_10, recall.median_rank, recall.queries


def _by_chance(own: float, candidates: int) -> tuple[object, ...]:
    return (*(chance_at(k, own, candidates) for k in (1, 5, 10)), chance_median(own, candidates))


def _share(value: float) -> str:
    return f"{value:.3f}" if value >= 0.01 or value == 0 else f"{value:.2g}"


def _table() -> QTableWidget:
    table = QTableWidget(4, len(HEADINGS))
    table.setHorizontalHeaderLabels(list(HEADINGS))
    table.setAccessibleName("Recall")
    table.setFont(figures(table.font()))
    table.setShowGrid(False)
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    table.setSelectionMode(QTableWidget.SelectionMode.NoSelection)
    table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    header = table.horizontalHeader()
    header.setFixedHeight(ROW_HEIGHT)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
    header.setDefaultAlignment(_RIGHT)
    table.setFixedHeight(5 * ROW_HEIGHT + 12)
    return table
