"""How good the demo's CLIP is on the demo's pictures: measured, shown beside chance, taken away."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.views.dialogs.recall import RecallDialog
from explorer.views.main_window import MainWindow


@pytest.fixture
def dialog(scenes: Session, window: MainWindow) -> Iterator[RecallDialog]:
    assert window.actions_by_name["recall"].isEnabled()
    window.side.encoder.recall.click()
    yield window.findChild(RecallDialog)
    for left in window.findChildren(RecallDialog):
        left.close()


def measured(qtbot: QtBot, dialog: RecallDialog) -> list[list[str]]:
    qtbot.waitUntil(dialog.table.isVisible)
    table = dialog.table
    return [
        [table.item(row, column).text() for column in range(table.columnCount())]
        for row in range(table.rowCount())
    ]


def test_that_recall_stands_beside_what_chance_would_give(
    qtbot: QtBot, dialog: RecallDialog, scenes: Session
) -> None:
    assert dialog.busy.isVisible()
    assert dialog.table.isHidden()
    shown = measured(qtbot, dialog)
    found = scenes.document.retrieval
    assert dialog.about.text() == "scenes.index: 60 pictures and 300 captions by clip"
    assert [row[0].strip() for row in shown] == [
        "Text → pictures",
        "by chance",
        "Pictures → text",
        "by chance",
    ]
    assert shown[0][1:] == [
        *(f"{share:.3f}" for share in (found.text_to_image.at_1, found.text_to_image.at_5)),
        f"{found.text_to_image.at_10:.3f}",
        f"{found.text_to_image.median_rank:g}",
        "300",
    ]
    assert shown[1][1:] == ["0.017", "0.083", "0.167", "30", ""]
    assert float(shown[0][1]) > 10 * float(shown[1][1])
    assert shown[2][5] == "60"
    assert not dialog.busy.isVisible()


def test_that_the_table_is_copied_and_saved_in_full_precision(
    qtbot: QtBot, dialog: RecallDialog, scenes: Session, tmp_path: Path
) -> None:
    shown = measured(qtbot, dialog)
    dialog.copy.click()
    lines = QApplication.clipboard().text().splitlines()
    assert lines[0].split("\t")[1:] == ["Recall@1", "Recall@5", "Recall@10", "Median rank", "Queries"]
    assert lines[1].split("\t")[1:] == shown[0][1:]
    path = tmp_path / "recall.csv"
    dialog.save_csv(path)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["direction"] for row in rows] == ["text to image", "chance", "image to text", "chance"]
    assert float(rows[0]["recall@5"]) == scenes.document.retrieval.text_to_image.at_5
    assert float(rows[1]["recall@1"]) == pytest.approx(1 / 60)


def test_that_figures_are_kept_until_they_are_measured_again(
    qtbot: QtBot, dialog: RecallDialog, window: MainWindow, scenes: Session
) -> None:
    measured(qtbot, dialog)
    first = scenes.document.retrieval
    dialog.close()
    qtbot.waitUntil(lambda: window.findChild(RecallDialog) is None)
    window.actions_by_name["recall"].trigger()
    again = window.findChild(RecallDialog)
    assert again.table.isVisible()
    again.again.click()
    assert again.busy.isVisible()
    again.stop.click()
    qtbot.waitUntil(again.table.isVisible)
    assert scenes.document.retrieval is first
    again.again.click()
    qtbot.waitUntil(lambda: scenes.document.retrieval is not first)
    assert scenes.document.retrieval == first
    again.close()


def test_that_closing_the_table_closes_the_figures(
    qtbot: QtBot, dialog: RecallDialog, window: MainWindow, scenes: Session
) -> None:
    scenes.opening.close_source(scenes.document.table.path)
    qtbot.waitUntil(lambda: window.findChild(RecallDialog) is None)
    assert not window.actions_by_name["recall"].isEnabled()
