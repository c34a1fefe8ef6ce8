"""A gallery on a session whose table carries made pictures, and what is seen of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.core.labels import Labels
from explorer.core.pictures import Pictures
from explorer.core.query import RowTerm
from explorer.core.results import Background, Metric, SearchResult
from explorer.document import Answer, Question
from explorer.views.panels.gallery import GalleryPanel
from explorer.views.thumbnails import Thumbnails

SIZES = ((120, 80), (80, 120), (100, 100), (400, 20), (20, 400), (1, 1))
COLOURS = ("#c81e28", "#1e78c8", "#1eaa50", "#b4781e", "#781eb4", "#3c3c3c")


def pictures_in(folder: Path, rows: int, *, known: bool = True) -> Pictures:
    """What a table's rows carry: the folder's pictures in order; past the last, files that are gone."""
    sizes = [SIZES[row % len(SIZES)] if row < 30 else (0, 0) for row in range(rows)]
    texts = [text for row in range(rows) for text in (f"caption {row}", f"another of {row}")]
    return Pictures(
        folder,
        Labels.from_texts([f"{row:02}.png" for row in range(rows)], "names"),
        texts=Labels.from_texts(texts, "captions"),
        text_starts=np.arange(0, 2 * rows + 1, 2),
        animated=np.arange(rows) == 2,
        pixels=np.asarray(sizes, np.int32) if known else None,
    )


@dataclass
class Shown:
    """A gallery on a session whose table carries pictures."""

    session: Session
    panel: GalleryPanel
    thumbnails: Thumbnails

    def carry(self, pictures: Pictures | None) -> None:
        """Let the table's rows carry these pictures."""
        table = self.session.document.table
        assert table is not None
        self.session.document.set_table(replace(table, pictures=pictures))

    def answer(self, rows: np.ndarray) -> Answer:
        """Show an answer with these rows, all that there are, and scores that fall."""
        scores = np.linspace(0.9, 0.1, len(rows)).astype(np.float32)
        counts, edges = np.histogram(scores, 32)
        background = Background(0.5, 0.1, counts, edges)
        question = Question("circles", (RowTerm(1.0, 0),), k=len(rows) + 1)
        made = Answer(question, SearchResult(rows.astype(np.int64), scores, Metric.COSINE, background))
        self.session.document.set_answer(made)
        return made


def settle(qtbot: QtBot, shown: Shown) -> None:
    """Wait until what is in view is loaded and painted."""
    qtbot.waitUntil(
        lambda: shown.thumbnails.waiting == 0 and all(map(shown.thumbnails.loaded, in_view(shown)))
    )
    QApplication.processEvents()


def in_view(shown: Shown) -> list[int]:
    view = shown.panel.view
    cells = view.arrangement.between(view.verticalOffset(), view.verticalOffset() + view.viewport().height())
    return [shown.panel.model.row_at(cell.place) for cell in cells]


def colour_at(shown: Shown, place: int) -> str:
    view = shown.panel.view
    box = view.visualRect(shown.panel.model.index(place, 0))
    image = view.viewport().grab().toImage()
    scale = image.width() / view.viewport().width()
    middle = QPointF(box.center()) * scale
    return QColor(image.pixel(int(middle.x()), int(middle.y() - 9 * scale))).name()


def place(shown: Shown) -> int:
    return shown.panel.view.currentIndex().row()
