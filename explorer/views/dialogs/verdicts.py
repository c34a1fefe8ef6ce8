"""The pictures of an index that have no vector or repeat an earlier one, and captions without a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from explorer.commands import Notices
from explorer.core.pictures import Verdict
from explorer.core.wording import counted, is_are, unmatched_words
from explorer.export.tables import write_rows_csv
from explorer.readers.index_remarks import NO_PICTURE, TWIN, Remark
from explorer.views.dialogs.table_of_rows import Index, RowsModel, table_of_rows
from explorer.views.label_text import shown_label
from explorer.views.panels.form import quiet
from explorer.views.saving import ask_for_csv, save_and_tell

COLUMNS = ("row", "picture", "verdict", "reason")
HEADINGS = ("Row", "Picture", "Verdict", "Reason")
EVERY, BAD, REPEATED, WAITING = "All", "Could not be used", "Same as an earlier one", "Not indexed yet"
UNMATCHED = "Caption without a picture"
_KINDS = {TWIN: REPEATED, NO_PICTURE: UNMATCHED, str(Verdict.PENDING): WAITING}


class Verdicts(QDialog):
    """Lists them, to be filtered, copied and saved.

    Signals
    -------
    row_chosen(int) : the picture of that row was double-clicked, or Return pressed on it.

    Parameters
    ----------
    name : str
        The index's, for titles and file names.
    remarks : sequence of Remark
    notices : Notices
        Told of a file that was saved, or could not be.
    """

    row_chosen = Signal(int)

    def __init__(
        self, name: str, remarks: Sequence[Remark], notices: Notices, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._name = name
        self._remarks = tuple(remarks)
        self._notices = notices
        self.setWindowTitle(f"{name}: left out or repeated")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(760, 520)
        kinds = Counter(map(_kind, remarks))
        self.about = quiet(_about(kinds[BAD], kinds[REPEATED], kinds[WAITING], kinds[UNMATCHED]))
        self.which = QComboBox()
        self.which.addItems([EVERY, *(kind for kind in (BAD, REPEATED, WAITING, UNMATCHED) if kinds[kind])])
        self.which.setAccessibleName("Which pictures")
        self.which.currentTextChanged.connect(self._narrow)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter by name or reason")
        self.filter.setAccessibleName("Filter")
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._narrow)
        self.model = RemarkModel(self._remarks, self)
        self.list = _list(self.model)
        self.list.activated.connect(self._choose)
        self.count = quiet()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy = buttons.addButton("Copy", QDialogButtonBox.ButtonRole.ActionRole)
        self.save = buttons.addButton("Save as CSV…", QDialogButtonBox.ButtonRole.ActionRole)
        self.copy.setToolTip("The selected rows, or all that are listed")
        self.copy.clicked.connect(self.copy_rows)
        self.save.clicked.connect(self.ask_where)
        buttons.rejected.connect(self.reject)
        narrowing = QHBoxLayout()
        narrowing.setSpacing(8)
        narrowing.addWidget(self.filter, 1)
        narrowing.addWidget(self.which)
        below = QHBoxLayout()
        below.addWidget(self.count, 1)
        below.addWidget(buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addWidget(self.about)
        column.addLayout(narrowing)
        column.addWidget(self.list, 1)
        column.addLayout(below)
        self._narrow()
        self.list.setFocus()

    def _choose(self, index: QModelIndex) -> None:
        row = self.model.shown[index.row()].row
        if row is not None:
            self.row_chosen.emit(row)

    def _narrow(self) -> None:
        which, typed = self.which.currentText(), self.filter.text().strip().casefold()
        self.model.show_remarks(
            tuple(
                remark
                for remark in self._remarks
                if which in (EVERY, _kind(remark))
                and typed in f"{remark.picture}\n{remark.verdict}\n{remark.reason}".casefold()
            )
        )
        shown, there = len(self.model.shown), len(self._remarks)
        self.count.setText(f"{shown:,} of {there:,} shown" if shown < there else f"{there:,} shown")
        for button in (self.copy, self.save):
            button.setEnabled(shown > 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_rows()
        elif event.matches(QKeySequence.StandardKey.Find):
            self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            super().keyPressEvent(event)

    def copy_rows(self) -> None:
        """Put the selected rows, or all that are listed, on the clipboard: a line each, with tabs."""
        chosen = sorted(index.row() for index in self.list.selectionModel().selectedRows())
        remarks = [self.model.shown[place] for place in chosen] or self.model.shown
        lines = ["\t".join(HEADINGS), *("\t".join(map(_shown, _texts(remark))) for remark in remarks)]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def ask_where(self) -> None:
        """Save what is listed where the person says."""
        path = ask_for_csv(self, "Save the list", f"{self._name}-pictures.csv")
        if path is not None:
            self.save_csv(path)

    def save_csv(self, path: Path) -> None:
        """Save what is listed as CSV."""
        rows = [_texts(remark) for remark in self.model.shown]
        save_and_tell(self._notices, path, lambda: write_rows_csv(path, COLUMNS, rows))


class RemarkModel(RowsModel):
    """As many rows as there are remarks, and no widget for any."""

    def __init__(self, remarks: tuple[Remark, ...], parent: QWidget | None = None) -> None:
        super().__init__(HEADINGS, parent)
        self.shown = remarks

    def show_remarks(self, remarks: tuple[Remark, ...]) -> None:
        """List others."""
        self.beginResetModel()
        self.shown = remarks
        self.endResetModel()

    @property
    def count(self) -> int:
        return len(self.shown)

    def text(self, row: int, column: int) -> str:
        remark = self.shown[row]
        if column == 0:
            return "" if remark.row is None else f"{remark.row:,}"
        return _shown(_texts(remark)[column])

    def data(self, index: Index, role: int = 0) -> object:
        if role == Qt.ItemDataRole.ToolTipRole and index.column() in (1, 3):
            return self.text(index.row(), index.column())
        return super().data(index, role)


def _texts(remark: Remark) -> tuple[str, str, str, str]:
    row = "" if remark.row is None else str(remark.row)
    return row, remark.picture, remark.verdict, remark.reason


def _shown(text: str) -> str:
    return shown_label(text) if text else ""


def _kind(remark: Remark) -> str:
    return _KINDS.get(remark.verdict, BAD)


def _about(bad: int, repeated: int, waiting: int, unmatched: int) -> str:
    words = []
    if bad:
        words.append(f"{counted(bad, 'picture')} could not be used: kept in place, without a vector.")
    if repeated:
        are = (
            "picture is the same as an earlier one"
            if repeated == 1
            else "pictures are the same as earlier ones"
        )
        words.append(f"{repeated:,} {are}, counted once.")
    if waiting:
        words.append(f"{counted(waiting, 'picture')} {is_are(waiting)} not indexed yet.")
    if unmatched:
        words.append(unmatched_words(unmatched))
    return " ".join(words) or "Every picture has a vector, and none is there twice."


def _list(model: RemarkModel) -> QTableView:
    view = table_of_rows(model, "Pictures")
    header = view.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    for column, width in enumerate((56, 200, 150)):
        header.resizeSection(column, width)
    header.setStretchLastSection(True)
    return view
