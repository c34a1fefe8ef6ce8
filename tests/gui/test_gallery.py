"""The gallery: pictures in lines, walked by keys, seen in full, copied, dragged, listed, and growing."""

from __future__ import annotations

import csv
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from machine import slowness
from PIL import Image
from PySide6.QtCore import QItemSelectionModel, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.core.labels import Labels
from explorer.core.pictures import Pictures
from explorer.core.query import RowTerm
from explorer.core.results import Background, Metric, SearchResult
from explorer.document import Answer, Question
from explorer.views.panels.answer import AnswerPanel
from explorer.views.panels.gallery import GalleryPanel
from explorer.views.panels.gallery_layout import GAP, justified
from explorer.views.panels.gallery_tile import paint_picture
from explorer.views.theme import apply_theme, current_colours
from explorer.views.thumbnails import Thumbnails

SIZES = ((120, 80), (80, 120), (100, 100), (400, 20), (20, 400), (1, 1))
COLOURS = ("#c81e28", "#1e78c8", "#1eaa50", "#b4781e", "#781eb4", "#3c3c3c")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty pictures of many shapes, then one that is cut off."""
    folder = tmp_path_factory.mktemp("pictures")
    for number in range(30):
        size, colour = SIZES[number % len(SIZES)], COLOURS[number % len(COLOURS)]
        Image.new("RGB", size, colour).save(folder / f"{number:02}.png")
    (folder / "30.png").write_bytes((folder / "00.png").read_bytes()[:60])
    return folder


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


@pytest.fixture
def shown(qtbot: QtBot, session: Session, folder: Path) -> Iterator[Shown]:
    thumbnails = Thumbnails()
    panel = GalleryPanel(session, thumbnails)
    qtbot.addWidget(panel)
    panel.resize(320, 760)
    with qtbot.waitExposed(panel):
        panel.show()
    made = Shown(session, panel, thumbnails)
    assert session.document.table is not None
    made.carry(pictures_in(folder, session.document.table.listing.rows))
    yield made
    panel.close_down()
    thumbnails.close()


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


# Lines


@pytest.mark.parametrize("width", [260, 320, 777, 3800])
def test_that_lines_are_as_wide_as_the_room_and_keep_every_shape(width: int) -> None:
    shapes = np.random.default_rng(3).choice([1.5, 0.67, 1.0, 1.78, 2.2], 500)
    lines = justified(shapes, width, 96, 18)
    assert [cell.place for line in range(len(lines.heights)) for cell in lines.cells(line)] == [*range(500)]
    for line in range(len(lines.heights) - 1):
        cells = lines.cells(line)
        assert cells[-1].left + cells[-1].width == pytest.approx(width)
        assert cells[0].left == 0
        for cell in cells:
            assert cell.width / cell.height == pytest.approx(shapes[cell.place])
    assert np.median(lines.heights) == pytest.approx(96, rel=0.15)
    assert np.diff(lines.tops) == pytest.approx(lines.heights + 18 + GAP)


def test_that_extreme_and_unknown_shapes_get_cells_that_can_be_seen() -> None:
    lines = justified(np.asarray([40.0, 1 / 40, np.nan, 1.0]), 300, 96, 18)
    shapes = [lines.cell(place).width / lines.cell(place).height for place in range(4)]
    assert shapes == pytest.approx([2.5, 0.4, 1.0, 1.0])
    assert justified(np.zeros(0), 300, 96, 18).between(0, 500) == []
    assert justified(np.ones(3), 1, 96, 18).total_height > 0


def test_that_more_pictures_leave_the_lines_before_as_they_were() -> None:
    shapes = np.random.default_rng(4).uniform(0.5, 2.2, 1000)
    few, many = justified(shapes[:300], 320, 96, 18), justified(shapes, 320, 96, 18)
    whole = len(few.heights) - 1
    assert np.array_equal(few.starts[:whole], many.starts[:whole])
    assert few.tops[:whole] == pytest.approx(many.tops[:whole])


def test_that_every_point_of_a_picture_finds_it_and_the_gaps_nothing() -> None:
    lines = justified(np.random.default_rng(5).uniform(0.5, 2.2, 60), 320, 96, 18)
    for place in range(60):
        cell = lines.cell(place)
        assert lines.at(cell.left + 1, cell.top + 1) == place
        assert lines.at(cell.left + cell.width - 1, cell.top + cell.height + 17) == place
        assert lines.at(cell.left + cell.width + GAP / 2, cell.top + 1) == -1
    assert lines.at(5, -1) == lines.at(5, lines.total_height + 1) == -1


# States


def test_that_without_an_answer_all_pictures_stand_in_the_order_of_the_rows(
    qtbot: QtBot, shown: Shown
) -> None:
    panel = shown.panel
    assert panel.header.title.text() == "Pictures"
    assert panel.header.count.text() == "310 pictures"
    assert panel.header.measure.text() == "type what you want to see"
    assert panel.model.rows.tolist() == [*range(310)]
    assert not panel.detail.isVisible()
    settle(qtbot, shown)
    assert [colour_at(shown, place) for place in range(3)] == [*COLOURS[:3]]
    # Captions' rows are no pictures.
    shown.carry(replace(shown.session.document.pictures, of_row=np.arange(310) // 5))
    assert panel.header.count.text() == "310 rows"


def test_that_an_answer_stands_ranked_with_the_best_one_large(qtbot: QtBot, shown: Shown) -> None:
    answer = shown.answer(np.asarray([7, 3, 0, 12]))
    panel = shown.panel
    assert panel.header.title.text() == "circles"
    assert panel.header.measure.text() == "cosine"
    assert [panel.model.score_text(each) for each in range(4)] == ["0.90", "0.63", "0.37", "0.10"]
    assert place(shown) == 0
    assert panel.detail.isVisible()
    assert "0.90" in panel.detail.score.text()
    assert f"+{answer.deviations[0]:.1f}σ" in panel.detail.score.text()
    assert panel.detail.caption.text() == "caption 7 (+1)"
    assert panel.detail.path.text() == "07.png"
    qtbot.waitUntil(lambda: panel.detail.size_label.text() == "80 × 120")
    large = panel.detail.picture.grab().toImage()
    assert QColor(large.pixel(large.width() // 2, large.height() // 2)).name() == COLOURS[1]


def test_that_a_picture_that_cannot_be_shown_says_why(qtbot: QtBot, shown: Shown) -> None:
    shown.answer(np.asarray([30, 31]))
    fault = shown.panel.detail.fault
    qtbot.waitUntil(lambda: fault.text() == "The file ends before the picture does.")
    settle(qtbot, shown)
    shown.panel.view.setCurrentIndex(shown.panel.model.index(1, 0))
    qtbot.waitUntil(lambda: fault.text() == "The file is no longer there.")
    assert not shown.panel.grab().isNull()


def test_that_tables_without_pictures_and_empty_answers_say_what_to_do(shown: Shown) -> None:
    shown.answer(np.zeros(0))
    assert shown.panel.empty.text().startswith("No pictures are left to compare with.")
    table = shown.session.document.table
    shown.session.document.set_table(replace(table, health=table.health.only(np.empty(0, np.int64))))
    shown.answer(np.zeros(0))
    assert shown.panel.empty.text().startswith("None of the pictures has a vector to compare.")
    shown.carry(None)
    assert shown.panel.empty.text() == "This table's rows carry no pictures."
    assert not shown.panel.split.isVisible()
    shown.session.document.set_table(None)
    assert shown.panel.empty.text() == "Open an index of pictures, or drop a folder of them."


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_that_a_picture_as_light_or_dark_as_the_panel_has_an_edge(qapp: QApplication, scheme: str) -> None:
    apply_theme(qapp, scheme)
    panel = QColor(current_colours().panel)
    canvas, picture = (QImage(60, 60, QImage.Format.Format_RGB32) for _ in range(2))
    canvas.fill(panel)
    picture.fill(panel)
    painter = QPainter(canvas)
    paint_picture(painter, QRectF(10, 10, 40, 40), picture)
    painter.end()
    assert abs(canvas.pixelColor(10, 30).lightness() - panel.lightness()) >= 10
    assert canvas.pixelColor(30, 30) == panel
    apply_theme(qapp, "light")


def test_that_the_chosen_picture_stands_beside_the_others_where_there_is_width(shown: Shown) -> None:
    shown.answer(np.arange(30))
    panel = shown.panel
    assert panel.detail.geometry().bottom() < panel.view.geometry().top()
    panel.resize(900, 500)
    QApplication.processEvents()
    assert panel.detail.geometry().right() < panel.view.geometry().left()
    assert panel.view.arrangement.width < 600
    panel.resize(320, 760)
    QApplication.processEvents()
    assert panel.detail.geometry().bottom() < panel.view.geometry().top()


def test_that_a_hidden_gallery_loads_nothing_and_follows_once_it_is_seen(qtbot: QtBot, shown: Shown) -> None:
    settle(qtbot, shown)
    shown.panel.hide()
    shown.answer(np.arange(20, 28))
    QApplication.processEvents()
    assert shown.thumbnails.loaded(0) is not None
    assert shown.panel.model.rowCount() == 310
    shown.panel.show()
    assert shown.panel.model.rows.tolist() == [*range(20, 28)]


def test_that_list_and_gallery_take_turns_and_the_wish_is_remembered(
    qtbot: QtBot, session: Session, folder: Path
) -> None:
    thumbnails = Thumbnails()
    dock = AnswerPanel(session, thumbnails)
    qtbot.addWidget(dock)
    dock.show()
    assert dock.currentWidget() is dock.neighbours
    assert not dock.neighbours.header.as_gallery.isVisible()
    table = session.document.table
    assert table is not None
    session.document.set_table(replace(table, pictures=pictures_in(folder, 310)))
    assert dock.currentWidget() is dock.gallery
    dock.gallery.header.as_list.click()
    assert dock.currentWidget() is dock.neighbours
    assert session.settings.pictures_as_list
    assert dock.neighbours.header.as_list.isChecked()
    dock.neighbours.header.as_gallery.click()
    assert dock.currentWidget() is dock.gallery
    assert dock.gallery.header.as_gallery.isChecked()
    dock.close_down()
    thumbnails.close()


# Walking


def test_that_keys_walk_the_lines_and_each_step_is_seen_large(qtbot: QtBot, shown: Shown) -> None:
    shown.answer(np.arange(30))
    view = shown.panel.view
    view.setFocus()
    lines = view.arrangement
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert place(shown) == 1
    qtbot.keyClick(view, Qt.Key.Key_Left)
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert place(shown) == 0
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert lines.line_of(place(shown)) == 1
    below, above = lines.cell(place(shown)), lines.cell(0)
    assert below.left <= above.left + above.width
    qtbot.keyClick(view, Qt.Key.Key_Up)
    assert place(shown) == 0
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert place(shown) == 29
    assert view.viewport().rect().contains(view.visualRect(view.currentIndex()).center())
    assert shown.panel.detail.path.text() == "29.png"
    qtbot.keyClick(view, Qt.Key.Key_PageUp)
    assert 0 < place(shown) < 29
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert place(shown) == 0
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    assert lines.line_of(place(shown)) >= 1


def test_that_pointing_lights_the_row_and_the_map_lights_the_picture(qtbot: QtBot, shown: Shown) -> None:
    shown.answer(np.asarray([7, 3, 0, 12]))
    settle(qtbot, shown)
    view = shown.panel.view
    spot = view.visualRect(shown.panel.model.index(1, 0)).center()
    with qtbot.waitSignal(shown.panel.hovered) as pointed:
        qtbot.mouseMove(view.viewport(), spot)
    assert pointed.args == [3]
    before = view.viewport().grab().toImage()
    shown.panel.light_row(12)
    assert view.viewport().grab().toImage() != before
    shown.panel.light_row(999)
    shown.panel.light_row(-1)


def test_that_keys_and_clicks_choose_several(qtbot: QtBot, shown: Shown) -> None:
    shown.answer(np.arange(30))
    view, model = shown.panel.view, shown.panel.model

    def click(place: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        spot = view.visualRect(model.index(place, 0)).center()
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, keys, spot)

    click(1)
    click(4, Qt.KeyboardModifier.ShiftModifier)
    assert sorted(index.row() for index in view.selectedIndexes()) == [1, 2, 3, 4]
    click(2, Qt.KeyboardModifier.ControlModifier)
    assert sorted(index.row() for index in view.selectedIndexes()) == [1, 3, 4]
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert place(shown) == 3
    view.selectAll()
    assert len(view.selectedIndexes()) == 30


def test_that_control_and_wheel_make_pictures_larger_and_it_is_remembered(shown: Shown) -> None:
    view = shown.panel.view
    before = view.visualRect(shown.panel.model.index(0, 0)).height()
    middle = QPointF(view.viewport().rect().center())
    turned = QWheelEvent(
        middle,
        view.viewport().mapToGlobal(middle),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), turned)
    assert view.visualRect(shown.panel.model.index(0, 0)).height() > before
    assert shown.session.settings.picture_height == 128


# More and more


def test_that_an_answer_grows_as_it_is_scrolled_without_loss_of_place(
    qtbot: QtBot, session: Session, folder: Path
) -> None:
    table = session.document.table
    assert table is not None
    rows = table.listing.rows
    session.document.set_table(replace(table, pictures=pictures_in(folder, rows)))
    session.document.set_asking(k=60)
    thumbnails = Thumbnails()
    panel = GalleryPanel(session, thumbnails)
    qtbot.addWidget(panel)
    panel.resize(320, 760)
    panel.show()
    session.asking.ask_row(0)
    qtbot.waitUntil(lambda: panel.model.answer is not None)
    assert panel.model.rowCount() == 60
    view = panel.view
    view.setCurrentIndex(panel.model.index(2, 0))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    held = view.verticalOffset()
    qtbot.waitUntil(lambda: panel.model.rowCount() == rows - 1)
    assert view.verticalOffset() == held
    assert place(Shown(session, panel, thumbnails)) == 2
    assert session.document.k == 60
    assert panel.header.count.text() == f"{rows - 1} pictures, nearest first"
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    QApplication.processEvents()
    assert panel.model.rowCount() == rows - 1
    panel.close_down()
    thumbnails.close()


def test_that_a_hundred_thousand_pictures_are_laid_out_to_the_last_and_few_are_loaded(
    qtbot: QtBot, shown: Shown, folder: Path
) -> None:
    count = 100_000
    names = Labels.from_texts(["00.png"] * count, "names")
    shown.carry(replace(pictures_in(folder, 1, known=False), names=names, texts=None, animated=None))
    view = shown.panel.view
    bar = view.verticalScrollBar()
    steps = []
    for step in range(1, 61):
        begun = time.thread_time()
        bar.setValue(bar.maximum() * step // 60)
        view.viewport().repaint()
        steps.append(time.thread_time() - begun)
    assert np.median(steps) < 0.05 * slowness(), (
        "the window must not be kept for longer than a glance: 2 ms as measured"
    )
    assert in_view(shown)[-1] == count - 1
    settle(qtbot, shown)
    assert colour_at(shown, count - 1) == COLOURS[0]
    assert shown.thumbnails.kept < 60 * 50, "no more than was ever in view, and a page below it"


# Carrying away


def test_that_the_picture_and_its_file_are_copied(qtbot: QtBot, shown: Shown, folder: Path) -> None:
    shown.answer(np.asarray([1, 0]))
    clipboard = QGuiApplication.clipboard()
    clipboard.setText("before")
    shown.panel.activateWindow()
    shown.panel.view.setFocus()
    qtbot.keyClick(shown.panel.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: clipboard.mimeData().hasImage())
    image = QImage(clipboard.image())
    assert (image.width(), image.height()) == (80, 120)
    assert [url.toLocalFile() for url in clipboard.mimeData().urls()] == [str(folder / "01.png")]
    shown.panel.view.selectAll()
    shown.panel.copy_path()
    assert clipboard.text().splitlines() == [str(folder / "01.png"), str(folder / "00.png")]


def test_that_chosen_pictures_are_carried_as_files(shown: Shown, folder: Path) -> None:
    shown.answer(np.asarray([5, 4, 3]))
    indexes = [shown.panel.model.index(each, 0) for each in (0, 2)]
    data = shown.panel.model.mimeData(indexes)
    assert [url.toLocalFile() for url in data.urls()] == [str(folder / "05.png"), str(folder / "03.png")]
    assert shown.panel.model.flags(indexes[0]) & Qt.ItemFlag.ItemIsDragEnabled


def test_that_a_file_whose_name_is_no_text_is_carried_by_its_bytes(shown: Shown) -> None:
    rows = shown.session.document.table.listing.rows
    names = Labels.from_texts(["\udcff 1.png", *[None] * (rows - 1)], "names")
    shown.carry(Pictures(Path("/pictures"), names))
    data = shown.panel.model.mimeData([shown.panel.model.index(0, 0)])
    assert bytes(data.data("text/uri-list")).strip() == b"file:///pictures/%FF%201.png"
    assert shown.panel.model.name(0) == "\\xff 1.png"
    assert not shown.panel.grab().isNull()


def test_that_the_list_is_saved_with_rank_row_path_score_and_caption(
    shown: Shown, folder: Path, tmp_path: Path
) -> None:
    answer = shown.answer(np.asarray([5, 4, 3]))
    path = tmp_path / "list.csv"
    shown.panel.save_csv(path)
    with path.open(newline="", encoding="utf-8") as stream:
        lines = [*csv.DictReader(stream)]
    assert [line["rank"] for line in lines] == ["1", "2", "3"]
    assert [line["row"] for line in lines] == ["5", "4", "3"]
    assert lines[0]["path"] == str(folder / "05.png")
    assert lines[0]["caption"] == "caption 5"
    assert [float(line["score"]) for line in lines] == pytest.approx(answer.result.scores.tolist(), rel=1e-5)
    choose = QItemSelectionModel.SelectionFlag.Select
    for each in (1, 2):
        shown.panel.view.selectionModel().select(shown.panel.model.index(each, 0), choose)
    shown.panel.view.selectionModel().select(
        shown.panel.model.index(0, 0), QItemSelectionModel.SelectionFlag.Deselect
    )
    assert shown.panel.menu().actions()[-1].text() == "Save the 2 chosen as CSV…"
    shown.panel.save_csv(path)
    assert [line.split(",")[0] for line in path.read_text("utf-8").splitlines()] == ["rank", "2", "3"]


def test_that_chosen_pictures_become_the_selection(shown: Shown) -> None:
    shown.answer(np.asarray([5, 4, 3]))
    shown.panel.view.selectAll()
    shown.panel.select_action.trigger()
    selection = shown.session.document.selection
    assert selection is not None
    assert sorted(np.asarray(selection).tolist()) == [3, 4, 5]


def test_that_more_like_this_asks_for_the_chosen_row(qtbot: QtBot, shown: Shown) -> None:
    shown.answer(np.asarray([5, 4, 3]))
    shown.panel.view.setCurrentIndex(shown.panel.model.index(1, 0))
    shown.panel.detail.alike.click()

    def asked() -> bool:
        answer = shown.session.document.answer
        return answer is not None and answer.question.focus == 4

    qtbot.waitUntil(asked)


# The full picture


def test_that_the_full_picture_is_walked_zoomed_and_closed_by_keys(qtbot: QtBot, shown: Shown) -> None:
    shown.answer(np.arange(32))
    shown.panel.view.setFocus()
    qtbot.keyClick(shown.panel.view, Qt.Key.Key_Return)
    viewer = shown.panel.viewer
    assert viewer is not None
    assert viewer.isVisible()
    assert not viewer.isModal()
    qtbot.waitUntil(lambda: "120 × 80" in viewer.facts.text())
    assert viewer.facts.text().startswith("1 of 32  ·  0.90")
    assert viewer.caption.text() == "caption 0"
    qtbot.keyClick(viewer, Qt.Key.Key_Right)
    assert place(shown) == 1
    assert viewer.windowTitle() == "01.png"
    qtbot.waitUntil(lambda: "80 × 120" in viewer.facts.text())
    qtbot.keyClick(viewer, Qt.Key.Key_1)
    assert viewer.canvas.percent == pytest.approx(100)
    qtbot.keyClick(viewer, Qt.Key.Key_Plus)
    assert viewer.canvas.percent == pytest.approx(125)
    qtbot.keyClick(viewer, Qt.Key.Key_0)
    qtbot.keyClick(viewer, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: viewer.canvas.loaded is not None)
    assert viewer.canvas.loaded.fault == "the file is no longer there"
    assert not viewer.grab().isNull()
    shown.answer(np.asarray([4, 5]))
    assert viewer.windowTitle() == "04.png"
    qtbot.waitUntil(lambda: viewer.canvas.loaded is not None)
    qtbot.keyClick(viewer, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().mimeData()
    assert copied.hasImage()
    assert copied.urls()[0].fileName() == "04.png"
    qtbot.keyClick(viewer, Qt.Key.Key_Escape)
    assert not viewer.isVisible()


def test_that_zooming_keeps_the_point_under_the_cursor_and_edges_stay_outside(
    qtbot: QtBot, shown: Shown, tmp_path: Path
) -> None:
    Image.new("RGB", (3000, 2000), COLOURS[0]).save(tmp_path / "00.png")
    shown.carry(pictures_in(tmp_path, 1, known=False))
    shown.panel.view.setCurrentIndex(shown.panel.model.index(0, 0))
    shown.panel.open_full()
    viewer = shown.panel.viewer
    assert viewer is not None
    canvas = viewer.canvas
    qtbot.waitUntil(lambda: canvas.loaded is not None)
    cursor = QPointF(300, 260)
    before = (cursor - canvas.picture_rect().topLeft()) / canvas.scale
    canvas.zoom(4, cursor)
    after = (cursor - canvas.picture_rect().topLeft()) / canvas.scale
    assert (after.x(), after.y()) == pytest.approx((before.x(), before.y()), abs=0.5)
    canvas.zoom(4, QPointF(0, 0))
    box = canvas.picture_rect()
    assert box.left() <= 0
    assert box.top() <= 0
    assert box.right() >= canvas.width()
    viewer.close()


def test_that_a_huge_picture_is_decoded_smaller_and_says_so(
    qtbot: QtBot, shown: Shown, tmp_path: Path
) -> None:
    Image.new("L", (12_000, 6_000), 90).save(tmp_path / "00.jpg")
    names = Labels.from_texts(["00.jpg"], "names")
    shown.carry(replace(pictures_in(tmp_path, 1, known=False), names=names))
    shown.panel.view.setCurrentIndex(shown.panel.model.index(0, 0))
    shown.panel.open_full()
    viewer = shown.panel.viewer
    assert viewer is not None
    qtbot.waitUntil(lambda: viewer.canvas.loaded is not None)
    loaded = viewer.canvas.loaded
    assert loaded.images[0].width() == 4096
    assert (loaded.width, loaded.height) == (12_000, 6_000)
    qtbot.keyClick(viewer, Qt.Key.Key_1)
    assert viewer.canvas.percent == pytest.approx(100)
    viewer.close()
