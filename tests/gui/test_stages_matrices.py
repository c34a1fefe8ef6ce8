"""Matrices of the stages panel: as pictures of few enough pixels, copied, saved."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot
from stage_models import opened, shown, type_in

from explorer.commands import Session
from explorer.core.sentence import Token
from explorer.demos import demos
from explorer.export.matrices import Matrix, write_matrix
from explorer.render.palette import LIGHT
from explorer.views.panels.matrix_image import matrix_image, reach_of
from explorer.views.panels.stages import StagesPanel
from explorer.views.panels.stages.matrix_menu import MatrixMenu
from explorer.views.panels.stages.wording import breakable
from explorer.views.panels.token_chips import TokenChips

VALUES = np.array([[0.1, -2.5e-8, 3], [np.nan, 1 / 3, -0.0]], np.float32)


@pytest.fixture
def panel(qtbot: QtBot, stages_worker: None, bare_session: Session) -> StagesPanel:
    made = shown(qtbot, opened(qtbot, bare_session, str(demos()[0].path)))
    type_in(qtbot, made, "happy families")
    return made


def menu_of(widget: object) -> MatrixMenu:
    """The menu that the right button opens."""
    place = QPoint(4, 4)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, widget.mapToGlobal(place))
    QApplication.sendEvent(widget, event)
    return widget.findChildren(MatrixMenu)[-1]


def trigger(menu: MatrixMenu, words: str) -> None:
    next(action for action in menu.actions() if action.text().startswith(words)).trigger()
    menu.close()


def test_that_a_csv_brings_the_same_numbers_back(tmp_path: Path) -> None:
    write_matrix(tmp_path / "m.csv", Matrix("m", VALUES, ["a", 'b "c"'], ["x"]))
    with (tmp_path / "m.csv").open(newline="", encoding="utf-8") as stream:
        header, *lines = csv.reader(stream)
    assert header == ["", "x", "1", "2"]
    assert [line[0] for line in lines] == ["a", 'b "c"']
    np.testing.assert_array_equal(np.array([line[1:] for line in lines], np.float32), VALUES)


def test_that_an_npz_holds_values_and_names(tmp_path: Path) -> None:
    write_matrix(tmp_path / "m.npz", Matrix("m", VALUES, ["a", "b\udc80"]))
    with np.load(tmp_path / "m.npz", allow_pickle=False) as found:
        np.testing.assert_array_equal(found["values"], VALUES)
        assert found["rows"].tolist() == ["a", "b\\udc80"]


def test_that_a_stages_values_are_saved_under_its_tokens_names(
    panel: StagesPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "looked up"), "CSV (*.csv)")
    )
    card = next(card for card in panel.values.list.cards if card.name == "looked up")
    trigger(menu_of(card), "Save values")
    lines = (tmp_path / "looked up.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["", "happy", "families"]
    first = panel._session.document.model_view.run.stages["looked up"].values[0]
    np.testing.assert_array_equal(np.array(lines[1].split(",")[1:], np.float32), first)


def test_that_all_stages_are_saved_in_one_file(
    panel: StagesPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "all.npz"), ""))
    panel.values.choose("after layer 2")
    trigger(menu_of(panel.values.map), "Save all stages")
    with np.load(tmp_path / "all.npz", allow_pickle=False) as found:
        assert found["tokens"].tolist() == ["happy", "families"]
        assert found["after layer 2"].shape == (2, 128)
        assert "one-hot" not in found


def test_that_a_heat_map_is_copied_as_it_is_seen(qtbot: QtBot, panel: StagesPanel) -> None:
    panel.values.choose("after layer 2")
    qtbot.waitUntil(lambda: panel.values.map.height() > 40)
    trigger(menu_of(panel.values.map), "Copy picture")
    image = QGuiApplication.clipboard().image()
    assert image.size() == 2 * panel.values.map.size()
    frame = panel.values.map.frame
    across = np.linspace(2 * frame.left() + 4, 600, 60).astype(int).tolist()
    assert len({image.pixel(x, round(2 * frame.top() + 8)) for x in across}) > 10


def test_that_colours_say_sign_and_size_and_what_is_no_number() -> None:
    image = matrix_image(np.array([[-1, 0, 1, np.nan, np.inf]], np.float32), 1.0, LIGHT)
    below, zero, above, none, infinite = (QColor(image.pixel(at, 0)).name() for at in range(5))
    assert (below, zero, above) == (LIGHT.categories[1], LIGHT.ground, LIGHT.accent)
    assert none == infinite == LIGHT.quiet


def test_that_a_long_matrix_is_thinned_and_its_reach_is_that_of_most_values() -> None:
    values = np.random.default_rng(1).normal(size=(4000, 50)).astype(np.float32)
    values[7, 7] = 1e30
    assert 2 < reach_of(values) < 4
    image = matrix_image(values, 3.0, LIGHT, most_rows=200)
    assert (image.width(), image.height()) == (50, 200)


def test_that_a_matrix_without_a_number_or_of_the_smallest_is_drawn() -> None:
    assert reach_of(np.full((2, 2), np.nan, np.float32)) == 0
    tiny = np.full((2, 2), 1e-42, np.float32)
    assert matrix_image(tiny, reach_of(tiny), LIGHT).width() == 2


def test_that_names_of_tensors_break_after_dots_and_numbers_do_not() -> None:
    assert breakable("fc.weight has 0.99.") == "fc.\u200bweight has 0.99."
    assert breakable("blocks.0.attn") == "blocks.\u200b0.\u200battn"


def test_that_chips_beyond_the_last_line_are_counted(qtbot: QtBot) -> None:
    chips = TokenChips(lines=2, choosable=True)
    qtbot.addWidget(chips)
    chips.resize(200, 60)
    chips.show_tokens(tuple(Token(f"word{at}", at) for at in range(50)))
    places, rest = chips._laid_out(200)
    assert rest is not None
    assert rest.right() <= 200
    assert places[-1].bottom() < chips.heightForWidth(200) <= 60
    heard: list[int] = []
    chips.chosen.connect(heard.append)
    qtbot.mouseClick(chips, Qt.MouseButton.LeftButton, pos=places[1].center())
    qtbot.mouseClick(chips, Qt.MouseButton.LeftButton, pos=rest.center())
    qtbot.keyClick(chips, Qt.Key.Key_Left)
    qtbot.mouseClick(chips, Qt.MouseButton.LeftButton, pos=places[0].center())
    assert heard == [1, 0, -1]
