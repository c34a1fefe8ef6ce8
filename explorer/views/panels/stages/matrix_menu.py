"""What can be done with a matrix that is looked at: copied as a picture, saved as numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from explorer.commands.staging import Staging
from explorer.export.matrices import Matrix
from explorer.views.clipboard import put_picture

_FORMS = {"CSV (*.csv)": ".csv", "NumPy (*.npz)": ".npz"}


class MatrixMenu(QMenu):
    """The menu of a heat map.

    Parameters
    ----------
    staging : Staging
    matrix : Matrix
    picture : callable
        Gives what is seen.
    parent : QWidget
    """

    def __init__(
        self, staging: Staging, matrix: Matrix, picture: Callable[[], QImage], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._staging = staging
        self._matrix = matrix
        self.addAction("Copy picture", lambda: put_picture(picture(), []))
        self.addAction("Save values…", self._save)
        if staging.has_run:
            self.addSeparator()
            self.addAction("Save all stages…", self._save_all)

    def _save(self) -> None:
        path = self._ask_where("Save values", self._matrix.name, _FORMS)
        if path is not None:
            self._staging.save_matrix(path, self._matrix)

    def _save_all(self) -> None:
        path = self._ask_where("Save all stages", "stages", {"NumPy (*.npz)": ".npz"})
        if path is not None:
            self._staging.save_stages(path)

    def _ask_where(self, title: str, name: str, forms: dict[str, str]) -> Path | None:
        plain = "".join(letter if letter.isalnum() or letter in " -" else " " for letter in name)
        first = next(iter(forms.values()))
        typed, chosen = QFileDialog.getSaveFileName(
            self.parentWidget(), title, f"{plain}{first}", ";;".join(forms)
        )
        if not typed:
            return None
        path = Path(typed)
        if path.suffix.lower() in forms.values():
            return path
        return path.with_name(path.name + forms.get(chosen, first))
