"""What the window does with files: choosing, dropping, saving; and its few dialogs.

Dialogs, and what writes files, are imported as they are wanted: a start does not wait for them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog

from explorer.commands import Session
from explorer.core.errors import ExplorerError
from explorer.core.labels import label_of
from explorer.core.table import Role
from explorer.demos import find_demo
from explorer.document.settings import save_settings
from explorer.readers.index_files import is_index, is_whole
from explorer.views.saving import CSV, save_and_tell, with_ending

if TYPE_CHECKING:
    from explorer.views.main_window import MainWindow

PICTURES = {
    "PNG picture, 2× (*.png)": 2,
    "PNG picture, 1× (*.png)": 1,
    "PNG picture, 4× (*.png)": 4,
    "SVG drawing (*.svg)": 0,
    "PDF page (*.pdf)": 0,
}
ROW_FILES = {
    CSV: (".csv", False),
    "Comma-separated values with vectors (*.csv)": (".csv", True),
    "Parquet (*.parquet)": (".parquet", False),
    "Parquet with vectors (*.parquet)": (".parquet", True),
    "NumPy arrays (*.npz)": (".npz", False),
    "NumPy arrays with vectors (*.npz)": (".npz", True),
}
FORMS = (".svg", ".pdf", ".png")
COPY_SCALE = 2


class FileCommands(QObject):
    """Commands that open a dialog or write a file."""

    def __init__(self, window: MainWindow, session: Session) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._closes = False
        # The window must not go while it is being told what has ended.
        session.exporting.ended.connect(self._all_saved, Qt.ConnectionType.QueuedConnection)

    # Opening

    def open_files(self) -> None:
        """Choose files and open them."""
        paths, _ = QFileDialog.getOpenFileNames(self._window, "Open files", self._last_folder())
        if paths:
            self._session.opening.open(paths)

    def open_folder(self) -> None:
        """Choose a model's folder and open it."""
        path = QFileDialog.getExistingDirectory(self._window, "Open a model's folder", self._last_folder())
        if path:
            self._session.opening.open([path])

    def index_folder(self) -> None:
        """Choose a folder of pictures and offer to index it."""
        path = QFileDialog.getExistingDirectory(
            self._window, "Index a folder of pictures", self._last_folder()
        )
        if path and is_index(Path(path)):
            self._session.opening.open([path])
        elif path:
            self._window.offer.offer(path)

    def open_demo(self, name: str) -> None:
        """Open a bundled demo by name: its pictures, where it has any, else its table."""
        demo = find_demo(name)
        if demo.pictures is None:
            self._session.opening.open([str(demo.path)])
        elif is_whole(demo.index):
            self._session.opening.open([str(demo.index)])
        else:
            self._session.indexing.start(str(demo.pictures), str(demo.path), str(demo.index))

    def choose_table(self, path: str | None = None) -> None:
        """Show the tables of an open file to choose from."""
        from explorer.views.dialogs.table_picker import TablePicker

        source = self._session.document.source_at(path or self._shown_path())
        if source is not None:
            TablePicker(self._session, source, self._window).open()

    def choose_labels(self, path: str | None = None, *, target: bool = False) -> None:
        """Choose a vocabulary file for an open file."""
        path = path or self._shown_path()
        title = (
            "Labels of the target side" if target else "Labels: a vocabulary or a text file, one label a line"
        )
        labels, _ = QFileDialog.getOpenFileName(self._window, title, str(Path(path).parent))
        if labels:
            self._session.opening.join_labels(path, labels, target=target)

    def close_file(self) -> None:
        """Close the file that the map shows."""
        self._session.opening.close_source(self._shown_path())

    def _shown_path(self) -> str:
        table = self._session.document.table
        return "" if table is None else table.path

    def _last_folder(self) -> str:
        recent = self._session.settings.recent
        return str(Path(recent[0]).parent) if recent else str(Path.home())

    # Saving

    def copy_picture(self) -> None:
        """Put the map with title, legend and query on the clipboard."""
        figure = self._window.map.picture()
        if figure is not None:
            job = self._session.exporting.copy_picture(figure, COPY_SCALE)
            job.finished.connect(self._put_on_clipboard)

    def _put_on_clipboard(self, image: QImage) -> None:
        QGuiApplication.clipboard().setImage(image)
        self._session.notices.tell("The picture is on the clipboard.")

    def save_picture(self) -> None:
        """Save the map with title, legend and query, as it is seen now."""
        figure = self._window.map.picture()
        path, chosen = self._ask_where("Save picture", ".png", ";;".join(PICTURES))
        if path is None or figure is None:
            return
        form = next((form for form in FORMS if form in chosen), ".png")
        path = with_ending(path, form, FORMS, suggested=".png")
        self._session.exporting.save_picture(figure, path, PICTURES.get(chosen) or COPY_SCALE)

    def keeps_open(self) -> bool:
        """Whether the window must stay until files are written; it then goes by itself.

        Asked again, it need not stay. Where a file cannot be written it stays, and says so.
        """
        saving = self._session.exporting.saving
        if not saving or self._closes:
            self._closes = False
            return False
        self._closes = True
        names = ", ".join(path.name for path in saving)
        self._session.notices.tell(
            f"Saving {names}: the window closes when that is done.", ("Close without", self._window.close)
        )
        return True

    def _all_saved(self, well: bool) -> None:
        if self._closes and well:
            self._window.close()
        self._closes = False

    def save_neighbours(self) -> None:
        """Save the answer's rows as CSV."""
        from explorer.export.tables import write_neighbours_csv

        document = self._session.document
        if document.answer is None or document.table is None:
            return
        answer, table = document.answer, document.table
        result = answer.result
        names = [label_of(table.labels, int(row)) for row in result.rows]
        path, _ = self._ask_where("Save neighbours", ".csv", CSV)
        if path is not None:
            save_and_tell(
                self._session.notices,
                path,
                lambda: write_neighbours_csv(path, result.rows, names, result.scores, answer.deviations),
            )

    def save_layout(self) -> None:
        """Save every row's place on the map."""
        document = self._session.document
        if document.table is None or document.positions is None:
            return
        path, _ = self._ask_where("Save layout", ".csv", f"{CSV};;NumPy arrays (*.npz)")
        if path is not None:
            self._session.exporting.save_layout(path)

    def save_selection(self) -> None:
        """Save the selected rows with all that is known of them."""
        rows = self._session.document.selection
        path, chosen = self._ask_where("Export selected rows", " selection", ";;".join(ROW_FILES))
        if path is None:
            return
        ending, vectors = ROW_FILES.get(chosen, (".csv", False))
        path = with_ending(path, ending, (".csv", ".parquet", ".npz"))
        self._session.exporting.save_rows(path, rows, vectors=vectors)

    def _ask_where(self, title: str, suffix: str, filters: str) -> tuple[Path | None, str]:
        table = self._session.document.table
        name = "map" if table is None else Path(table.path).stem
        start = str(Path(self._last_folder(), name + suffix))
        path, chosen = QFileDialog.getSaveFileName(self._window, title, start, filters)
        return (Path(path) if path else None), chosen

    # Dialogs

    def show_quarantined(self) -> None:
        """List the rows that are left out, with the reason."""
        from explorer.views.dialogs.quarantined import QuarantinedRows

        table = self._session.document.table
        if table is not None and is_index(Path(table.path)) and table.listing.role is Role.IMAGES:
            self.show_remarks(table.path)
        elif table is not None:
            QuarantinedRows(self._session, self._window).open()

    def show_remarks(self, path: str) -> None:
        """List the pictures of an index that have no vector or repeat an earlier one."""
        # Imports pyarrow, which most sessions do not need.
        from explorer.readers.index_remarks import remarks_of
        from explorer.readers.picture_index import open_index
        from explorer.views.dialogs.verdicts import Verdicts

        try:
            remarks = remarks_of(open_index(Path(path)))
        except ExplorerError as error:
            self._session.notices.error(error)
            return
        shown = Verdicts(Path(path).name, remarks, self._session.notices, self._window)
        shown.row_chosen.connect(self._session.asking.ask_row)
        shown.open()

    def show_recall(self) -> None:
        """Measure how well captions and pictures of the shown index find each other."""
        from explorer.views.dialogs.recall import RecallDialog

        RecallDialog(self._session, self._window).open()

    def show_shortcuts(self) -> None:
        """List every key."""
        from explorer.views.dialogs.about import shortcuts_text
        from explorer.views.dialogs.text_dialog import TextDialog

        TextDialog("Keyboard shortcuts", shortcuts_text(), self._window).open()

    def show_about(self) -> None:
        """Say what this program is."""
        from explorer.views.dialogs.about import about_text
        from explorer.views.dialogs.text_dialog import TextDialog

        TextDialog("About Embedding Explorer", about_text(), self._window).open()

    def remember(self) -> None:
        """Write the settings; a full disk must not keep the window open."""
        try:
            save_settings(self._session.settings)
        except OSError as error:
            print(f"Settings were not saved: {error}")
