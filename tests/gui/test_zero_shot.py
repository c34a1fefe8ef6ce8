"""Typed classes on the demo's pictures: what can be asked, and what the map says then."""

from __future__ import annotations

import demo_pictures as demo
import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.document.colouring import CLUSTER, ZERO_SHOT
from explorer.views.main_window import MainWindow
from explorer.views.panels.zero_shot import ZeroShotSection

GROUNDS = ("black background", "white background", "pale green background", "pale blue background")


@pytest.fixture
def section(scenes: Session, window: MainWindow) -> ZeroShotSection:
    return window.side.zero_shot


def test_that_nothing_is_asked_before_there_are_two_classes(
    qtbot: QtBot, section: ZeroShotSection, window: MainWindow
) -> None:
    assert section.isVisible()
    assert not section.go.isEnabled()
    assert section.words.text() == ""
    qtbot.keyClicks(section.field, "star")
    assert section.words.text() == "Name two classes or more."
    qtbot.keyClicks(section.field, ", heart")
    assert (section.words.text(), section.go.isEnabled()) == ("2 classes", True)
    section.template.setText("a photo")
    assert section.words.text() == "The sentence has no place for the class."
    assert not section.go.isEnabled()
    qtbot.keyClick(section.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert window.session.document.zero_shot is None


def test_that_the_map_is_coloured_by_the_nearest_class(
    qtbot: QtBot, section: ZeroShotSection, window: MainWindow
) -> None:
    document = window.session.document
    section.field.setPlainText("\n".join(GROUNDS))
    section.template.setText("a picture with a {}")
    qtbot.keyClick(section.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: document.zero_shot is not None)
    found = document.zero_shot
    assert found.classes == GROUNDS
    assert window.side.colour.by.currentText() == ZERO_SHOT
    assert document.colouring.by == ZERO_SHOT
    assert np.all((found.probability > 0) & (found.probability <= 1))
    # What the captions say of each picture's ground, of those that name one of these.
    truth = [
        next((code for code, name in enumerate(GROUNDS) if name.split(" background")[0] in texts), None)
        for texts in (" ".join(document.pictures.captions(row)) for row in range(demo.COUNT))
    ]
    told = [(row, code) for row, code in enumerate(truth) if code is not None]
    assert len(told) > 20
    assert np.mean([found.codes[row] == code for row, code in told]) > 0.8


def test_that_classes_without_words_are_told(
    qtbot: QtBot, section: ZeroShotSection, window: MainWindow
) -> None:
    document = window.session.document
    qtbot.waitUntil(lambda: document.positions is not None)
    section.field.setPlainText("; ".join(["]", *(f"zq{number}" for number in range(199))]))
    section.go.click()
    qtbot.waitUntil(lambda: document.zero_shot is not None)
    assert window.notice.text.text() == (
        "The tokenizer does not know all words of “]”, “zq0”, “zq1” and 197 more: they say little."
    )
    # As sure as one of two hundred, which is not naught.
    assert window.map.canvas.item.figure.legend.entries[0].text == "] · 0.005"


def test_that_the_colours_can_go_back_and_the_classes_stay_to_choose(
    qtbot: QtBot, section: ZeroShotSection, window: MainWindow
) -> None:
    document, colour = window.session.document, window.side.colour
    assert colour.by.findText(ZERO_SHOT) == -1
    section.field.setPlainText("star, heart")
    section.go.click()
    qtbot.waitUntil(lambda: document.colouring.by == ZERO_SHOT)
    colour.by.textActivated.emit(CLUSTER)
    assert colour.by.currentText() == CLUSTER
    assert colour.by.findText(ZERO_SHOT) == 0


def test_that_without_an_encoder_there_is_nothing_to_name(
    section: ZeroShotSection, window: MainWindow
) -> None:
    window.session.encoding.close()
    assert section.isHidden()
