"""Pictures in the order of an answer, or all of a table's in theirs, for the gallery's view."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from explorer.core.labels import Labels, label_of
from explorer.core.listing import LoadedTable
from explorer.core.pictures import Pictures
from explorer.document import Answer
from explorer.views.file_url import file_url
from explorer.views.label_text import shown_label
from explorer.views.panels.neighbour_model import decimals_for, signed

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_TOP = 50


class GalleryModel(QAbstractListModel):
    """One picture a place. Nothing is copied or opened; a hundred thousand cost nothing."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.pictures: Pictures | None = None
        self.answer: Answer | None = None
        self.labels: Labels | None = None
        self.rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self.decimals = 2

    def show(self, table: LoadedTable | None, answer: Answer | None) -> bool:
        """Show the pictures of a table's answer; without an answer all of them, in the order of the rows.

        Returns
        -------
        bool
            Whether it is the same answer as before, longer: what was shown stands where it stood.
        """
        pictures = None if table is None else table.pictures
        rows = self._rows_of(pictures, answer)
        grows = pictures is self.pictures and self._continues(answer, rows)
        if grows and len(rows) == len(self.rows):
            self.answer = answer
            return True
        if grows:
            self.beginInsertRows(_ROOT, len(self.rows), len(rows) - 1)
        else:
            self.beginResetModel()
        self.pictures, self.answer, self.rows = pictures, answer, rows
        self.labels = None if table is None else table.labels
        if grows:
            self.endInsertRows()
            return True
        if answer is not None:
            self.decimals = decimals_for(answer.result.scores[:_TOP], answer.result.metric)
        self.endResetModel()
        return False

    def _rows_of(self, pictures: Pictures | None, answer: Answer | None) -> NDArray[np.int64]:
        if pictures is None:
            return np.zeros(0, np.int64)
        return np.arange(pictures.rows) if answer is None else answer.result.rows

    def _continues(self, answer: Answer | None, rows: NDArray[np.int64]) -> bool:
        before = self.answer
        if before is None or answer is None:
            return before is answer
        same = replace(before.question, k=answer.question.k) == answer.question
        return same and np.array_equal(rows[: len(self.rows)], self.rows)

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        place = index.row()
        if role == Qt.ItemDataRole.DisplayRole:
            return self.name(place)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            parts = (f"{place + 1}", self.name(place), self.score_text(place), *self.captions(place)[:1])
            return ", ".join(part for part in parts if part)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.tip(place)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsDragEnabled

    @property
    def ranked(self) -> int:
        """How many pictures the answer ranks, those included that are not listed yet; without one, all."""
        answer = self.answer
        return (
            len(self.rows)
            if answer is None
            else max(int(answer.result.background.counts.sum()), len(self.rows))
        )

    def row_at(self, place: int) -> int:
        """The table's row at a place."""
        return int(self.rows[place])

    def place_of(self, row: int) -> int | None:
        """Where a table's row stands; None where it is not shown."""
        found = np.flatnonzero(self.rows == row)
        return int(found[0]) if len(found) else None

    def shapes(self) -> NDArray[np.float64]:
        """Width / height of each picture, shape (places,); NaN where it is not known."""
        pictures = self.pictures
        return np.full(len(self.rows), np.nan) if pictures is None else pictures.shapes(self.rows)

    def file(self, place: int) -> str:
        """A picture's path; empty where the row names none."""
        path = None if self.pictures is None else self.pictures.file(self.row_at(place))
        return "" if path is None else str(path)

    def name(self, place: int) -> str:
        """A picture's path in its folder, as it is shown."""
        name = "" if self.pictures is None else self.pictures.name(self.row_at(place))
        return shown_label(name) if name else ""

    def short_name(self, place: int) -> str:
        """The name without the folders, which many pictures share; for where there is little room."""
        return PurePosixPath(self.name(place)).name

    def captions(self, place: int) -> tuple[str, ...]:
        """A picture's captions; where the row itself is one of them, that one first."""
        if self.pictures is None:
            return ()
        row = self.row_at(place)
        captions = self.pictures.captions(row)
        own = label_of(self.labels, row)
        return (own, *(text for text in captions if text != own)) if own in captions else captions

    def score(self, place: int) -> float | None:
        """Similarity or distance; None without an answer."""
        return None if self.answer is None else float(self.answer.result.scores[place])

    def score_text(self, place: int) -> str:
        """The score as it is shown; empty without an answer."""
        score = self.score(place)
        return "" if score is None else signed(score, self.decimals)

    def above_text(self, place: int) -> str:
        """Standard deviations over the background, in words; empty without an answer."""
        score = self.score(place)
        if score is None or self.answer is None:
            return ""
        result = self.answer.result
        return f"{signed(result.background.above(score, result.metric), 1, plus=True)}σ"

    def tip(self, place: int) -> str:
        """What a hover says: name, score, the first captions."""
        score = self.score_text(place)
        lines = [self.name(place) or "no picture"]
        if score:
            lines.append(f"{place + 1:,} · {score} · {self.above_text(place)}")
        return "\n".join((*lines, *(shown_label(text) for text in self.captions(place)[:2])))

    # Carrying away

    def mimeTypes(self) -> list[str]:
        return ["text/uri-list"]

    def mimeData(self, indexes: Iterable[QModelIndex]) -> QMimeData:
        data = QMimeData()
        files = (self.file(index.row()) for index in indexes)
        data.setUrls([file_url(file) for file in files if file])
        return data

    def supportedDragActions(self) -> Qt.DropAction:
        return Qt.DropAction.CopyAction
