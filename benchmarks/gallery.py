"""The gallery of 100,000 results: laid out, scrolled, how many pictures it loads; beside Qt's own icon view.

Run as ``python -m benchmarks.gallery``. Times are the window thread's own, so that other work on the machine
counts little.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PIL import Image
from PySide6.QtCore import QAbstractListModel, QModelIndex, QSize, Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListView

from explorer.core.labels import Labels
from explorer.core.listing import LoadedTable, TableListing
from explorer.core.pictures import Pictures
from explorer.core.query import RowTerm
from explorer.core.results import Background, Metric, SearchResult
from explorer.core.table import Role
from explorer.document import Answer, Question
from explorer.views.panels.gallery_model import GalleryModel
from explorer.views.panels.gallery_view import GalleryView
from explorer.views.theme import apply_theme
from explorer.views.thumbnails import Thumbnails

RESULTS, FILES, STEPS = 100_000, 40, 150
SIZES = ((1600, 1067), (1067, 1600), (1200, 1200), (1600, 900))
PANELS = ((300, 600), (1900, 1000))


class Icons(QAbstractListModel):
    """The same number of pictures for Qt's view: one image at hand for all, which is the least work."""

    def __init__(self, icon: QIcon) -> None:
        super().__init__()
        self._icon = icon

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008, N802 - Qt's
        return 0 if parent.isValid() else RESULTS

    def data(self, index: QModelIndex, role: int = 0) -> object:
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icon
        return "0.31" if role == Qt.ItemDataRole.DisplayRole else None


def made_table(folder: Path) -> LoadedTable:
    """Rows that carry photographs of four shapes, forty files over and over."""
    random = np.random.default_rng(0)
    for number in range(FILES):
        pixels = Image.fromarray(random.integers(0, 255, (8, 8, 3)).astype(np.uint8))
        pixels.resize(SIZES[number % len(SIZES)], Image.Resampling.BICUBIC).save(folder / f"{number}.jpg")
    numbers = np.arange(RESULTS) % FILES
    names = Labels.from_texts([f"{number}.jpg" for number in numbers.tolist()], "names")
    pixels = np.asarray(SIZES, np.int32)[numbers % len(SIZES)]
    listing = TableListing("pictures", RESULTS, 64, "float32", Role.IMAGES)
    pictures = Pictures(folder, names, pixels=pixels)
    return LoadedTable(0, str(folder), listing, names, None, False, "cpu", pictures=pictures)  # type: ignore[arg-type]


def made_answer() -> Answer:
    """All rows, in any order."""
    scores = np.linspace(0.9, 0.1, RESULTS).astype(np.float32)
    counts, edges = np.histogram(scores, 32)
    background = Background(0.5, 0.1, counts, edges)
    rows = np.random.default_rng(1).permutation(RESULTS)
    return Answer(
        Question("x", (RowTerm(1.0, 0),), k=RESULTS), SearchResult(rows, scores, Metric.COSINE, background)
    )


def own_time(act: Callable[[], object]) -> float:
    """Milliseconds of this thread."""
    begun = time.thread_time()
    act()
    return 1000 * (time.thread_time() - begun)


def dragged(view: QAbstractItemView) -> list[float]:
    """Milliseconds of each step while the scroll bar's handle is dragged over everything."""
    bar = view.verticalScrollBar()

    def step(number: int) -> None:
        bar.setValue(bar.maximum() * number // STEPS)
        QApplication.processEvents()  # paints, and takes in what was loaded

    QApplication.processEvents()
    return [own_time(lambda number=number: step(number)) for number in range(STEPS + 1)]


def main() -> None:
    """Print one line for each panel size and view."""
    application = QApplication([])
    apply_theme(application, "light")
    with tempfile.TemporaryDirectory() as name:
        table, answer = made_table(Path(name)), made_answer()
        image = QPixmap(name + "/0.jpg").scaled(96, 64)
        print("| panel | view | laid out, ms | a step: median, ms | worst, ms | loaded |")
        print("|---|---|---|---|---|---|")
        for width, height in PANELS:
            thumbnails = Thumbnails()
            thumbnails.show(table.pictures)
            model = GalleryModel()
            ours = GalleryView(model, thumbnails)
            ours.resize(width, height)
            ours.show()
            laid_out = own_time(lambda model=model: model.show(table, answer))
            steps = dragged(ours)
            print_line(f"{width} × {height}", "gallery", laid_out, steps, f"{thumbnails.kept:,}")
            thumbnails.close()
            ours.close()
            theirs = QListView()
            theirs.setViewMode(QListView.ViewMode.IconMode)
            theirs.setResizeMode(QListView.ResizeMode.Adjust)
            theirs.setUniformItemSizes(True)
            theirs.setIconSize(QSize(96, 96))
            theirs.resize(width, height)
            theirs.show()
            icons = Icons(QIcon(image))
            laid_out = own_time(
                lambda theirs=theirs, icons=icons: (theirs.setModel(icons), theirs.doItemsLayout())
            )
            print_line(f"{width} × {height}", "QListView", laid_out, dragged(theirs), "one for all")
            theirs.close()


def print_line(panel: str, view: str, laid_out: float, steps: list[float], loaded: str) -> None:
    """One row of the table."""
    print(f"| {panel} | {view} | {laid_out:.0f} | {np.median(steps):.1f} | {max(steps):.1f} | {loaded} |")


if __name__ == "__main__":
    main()
