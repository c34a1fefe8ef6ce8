"""What is taken out of the gallery: copied, dragged, saved, selected, asked for."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QGuiApplication, QImage
from pytestqt.qtbot import QtBot
from shown_gallery import Shown

from explorer.core.labels import Labels
from explorer.core.pictures import Pictures


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
    names = Labels.from_texts(["\udcff 1.png", "trips/2024/sea.jpg", *[None] * (rows - 2)], "names")
    shown.carry(Pictures(Path("/pictures"), names))
    data = shown.panel.model.mimeData([shown.panel.model.index(0, 0)])
    assert bytes(data.data("text/uri-list")).strip() == b"file:///pictures/%FF%201.png"
    assert shown.panel.model.name(0) == "\\xff 1.png"
    assert [shown.panel.model.short_name(place) for place in range(3)] == ["\\xff 1.png", "sea.jpg", ""]
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
