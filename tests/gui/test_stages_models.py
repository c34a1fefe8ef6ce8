"""The stages panel on each kind of model: sides, heads, row numbers, events, captions; and broken things."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from stage_models import (
    a_captioning_model,
    a_gpt,
    a_music_model,
    a_translator,
    a_vit,
    opened,
    ran,
    shown,
    type_in,
)

from explorer.commands import Session
from explorer.demos import demos
from explorer.jobs import Jobs
from explorer.views.main_window import MainWindow
from explorer.views.panels.stages import StagesPanel

pytestmark = pytest.mark.usefixtures("stages_worker")


def card_shapes(panel: StagesPanel) -> dict[str, str]:
    return {card.name: card.shape.text() for card in panel.values.list.cards}


def test_that_a_translator_reads_both_sides_and_wraps_a_text_on_request(
    qtbot: QtBot, bare_session: Session, tmp_path: Path
) -> None:
    panel = shown(qtbot, opened(qtbot, bare_session, a_translator(tmp_path)))
    type_in(qtbot, panel, "Wie geht es dir")
    shapes = card_shapes(panel)
    assert (shapes["one-hot"], shapes["scaled"], shapes["encoder output"]) == ("4 × 11", "4 × 32", "4 × 32")
    panel.form.special.click()
    qtbot.waitUntil(lambda: card_shapes(panel)["looked up"] == "6 × 32")
    panel.form.special.click()
    panel.form.side.setCurrentIndex(1)
    panel.form.side.activated.emit(1)
    qtbot.waitUntil(lambda: card_shapes(panel)["one-hot"] == "4 × 7")
    assert "encoder output" not in card_shapes(panel)
    assert panel.remark.text().endswith("or the field below the text).")
    type_in(qtbot, panel, "how are you")
    panel.tabs.setCurrentIndex(1)
    qtbot.keyClicks(panel.form.source, "Wie geht")
    qtbot.waitUntil(lambda: panel.attention.map.values.shape == (3, 2))
    assert panel.attention.kinds.currentText() == "Cross-attention"
    assert panel.attention.words.text().startswith("how</w> looks most at ")
    assert card_shapes(panel)["after decoder layer 2"] == "3 × 32"
    assert panel._session.document.token_paths == (), "on the map is the other side's table"
    panel.form.side.setCurrentIndex(0)
    panel.form.side.activated.emit(0)
    assert panel.form.source.isHidden()


def test_that_another_number_of_heads_runs_the_model_anew(
    qtbot: QtBot, bare_session: Session, tmp_path: Path
) -> None:
    panel = shown(qtbot, opened(qtbot, bare_session, a_translator(tmp_path)))
    type_in(qtbot, panel, "Wie geht es dir")
    before = panel._session.document.model_view.run
    assert panel.form.heads.currentText() == "8 heads"
    assert [panel.form.heads.itemData(at) for at in range(panel.form.heads.count())] == [1, 2, 4, 8, 16, 32]
    panel.form.heads.setCurrentIndex(2)
    panel.form.heads.activated.emit(2)
    qtbot.waitUntil(lambda: panel._session.document.model_view.run is not before)
    after = panel._session.document.model_view.run
    assert after.attentions[0].heads == 4
    np.testing.assert_array_equal(after.stages["with position"].values, before.stages["with position"].values)
    assert np.abs(after.stages["encoder output"].values - before.stages["encoder output"].values).max() > 1e-3
    panel.tabs.setCurrentIndex(1)
    qtbot.waitUntil(lambda: panel.attention.map.values.shape == (4, 4))
    assert panel.attention.heads.count() == 5


def test_that_row_numbers_can_be_typed_where_there_is_no_vocabulary(
    qtbot: QtBot, bare_session: Session, tmp_path: Path
) -> None:
    panel = shown(qtbot, opened(qtbot, bare_session, a_gpt(tmp_path)))
    assert "5 17 3" in panel.form.field.placeholderText()
    type_in(qtbot, panel, "5, 17 #3")
    run = panel._session.document.model_view.run
    assert [token.id for token in run.stages.tokens] == [5, 17, 3]
    panel.form.field.setText("5 99")
    panel.run()
    view = panel._session.document
    qtbot.waitUntil(lambda: view.model_view.refusal is not None)
    assert "no token 99" in panel.remark.text()
    assert panel.form.field.isEnabled()


def test_that_marked_row_numbers_are_rows_beside_a_vocabulary_and_plain_ones_are_words(
    qtbot: QtBot, bare_session: Session
) -> None:
    panel = shown(qtbot, opened(qtbot, bare_session, str(demos()[0].path)))
    type_in(qtbot, panel, "#206 #2223")
    labels = [token.label for token in panel._session.document.model_view.run.stages.tokens]
    assert labels == ["seven", "happy"]
    panel.form.field.setText("206")
    panel.run()
    qtbot.waitUntil(lambda: panel._session.document.model_view.refusal is not None)


def test_that_events_are_completed_as_they_are_typed(
    qtbot: QtBot, bare_session: Session, tmp_path: Path
) -> None:
    panel = shown(qtbot, opened(qtbot, bare_session, a_music_model(tmp_path)))
    events, field = panel.form.events, panel.form.field
    assert events.isVisible()
    type_in(qtbot, panel, "note_on_60")
    qtbot.keyClicks(field, " time_shift_9")
    assert events.offered[:2] == ["time_shift_90", "time_shift_900"]
    for _ in "time_shift_9":
        qtbot.keyClick(field, Qt.Key.Key_Backspace)
    qtbot.keyClicks(field, "vel")
    assert "velocity_20" in events.offered
    events._take("velocity_20")
    assert field.text() == "note_on_60 velocity_20 "
    qtbot.waitUntil(lambda: ran(panel) == "note_on_60 velocity_20 ")
    assert [token.id for token in panel._session.document.model_view.run.stages.tokens] == [60, 376]
    next(action for action in events.menu().actions() if action.text().startswith("End")).trigger()
    assert field.text() == "note_on_60 velocity_20 end "
    events._completer.popup().hide()


def test_that_each_word_of_a_caption_shows_where_it_looks_on_the_picture(
    qtbot: QtBot, bare_session: Session, tmp_path: Path
) -> None:
    panel = shown(qtbot, opened(qtbot, bare_session, a_captioning_model(tmp_path)))
    Image.effect_noise((128, 128), 90).convert("RGB").save(tmp_path / "noise.png")
    panel.set_picture(str(tmp_path / "noise.png"))
    panel.tabs.setCurrentIndex(1)
    type_in(qtbot, panel, "a red circle")
    attention = panel.attention
    qtbot.waitUntil(lambda: attention.map.values.shape == (3, 256))
    assert attention.kinds.currentText() == "Cross-attention"
    first = attention.picture._shares.copy()
    qtbot.mouseClick(panel.chips, Qt.MouseButton.LeftButton, pos=QPoint(60, 12))
    assert attention.words.text().startswith("red looks most at patch")
    assert np.abs(attention.picture._shares - first).max() > 0
    qtbot.keyClick(panel.chips, Qt.Key.Key_Right)
    assert attention.words.text().startswith("circle looks")
    paths = panel._session.document
    qtbot.waitUntil(lambda: [path.label for path in paths.token_paths] == ["circle"])
    panel.follow(-1)
    every = ["a", "red", "circle"]
    qtbot.waitUntil(lambda: [path.label for path in paths.token_paths] == every)
    qtbot.mouseClick(
        attention.strip, Qt.MouseButton.LeftButton, pos=attention.strip.tile(1).center().toPoint()
    )
    assert attention.heads.currentText() == "Head 2"


@pytest.mark.parametrize("kind", ["broken", "transparent", "tiny"])
def test_that_odd_pictures_are_run_or_refused_in_words(
    qtbot: QtBot, bare_session: Session, tmp_path: Path, kind: str
) -> None:
    panel = shown(qtbot, opened(qtbot, bare_session, a_vit(tmp_path)))
    path = tmp_path / f"{kind}.png"
    Image.new("RGBA", (1, 1) if kind == "tiny" else (90, 40), (200, 10, 10, 0)).save(path)
    if kind == "broken":
        path.write_bytes(path.read_bytes()[:40])
    panel.set_picture(str(path))
    document = panel._session.document
    qtbot.waitUntil(lambda: document.model_view.run is not None or document.model_view.refusal is not None)
    if kind == "broken":
        assert "broken.png cannot be used as a picture" in panel.remark.text().replace("\u200b", "")
    else:
        assert card_shapes(panel)["with position"] == "65 × 16"
        qtbot.waitUntil(lambda: len(document.token_paths) == 24)
        first = document.token_paths[0]
        assert (first.label, first.stages[:2]) == ("patch 1,1", ("patches projected", "with position"))
        panel.follow(0)
        qtbot.waitUntil(lambda: [path.label for path in document.token_paths] == ["class token"])
        assert document.token_paths[0].stages[0] == "with position"
    assert panel.form.field.isHidden()


def test_that_a_dropped_picture_is_taken_by_a_model_that_sees_and_a_text_by_the_phrases(
    qtbot: QtBot, bare_session: Session, tmp_path: Path
) -> None:
    panel = shown(qtbot, opened(qtbot, bare_session, a_vit(tmp_path)))
    Image.new("RGB", (40, 40), (9, 200, 10)).save(tmp_path / "green.png")
    drop(panel, tmp_path / "green.png")
    qtbot.waitUntil(lambda: ran(panel) == "")
    assert panel.form.picture.text() == "green.png ×"
    (tmp_path / "phrases.txt").write_text("one\n\ntwo\n")
    drop(panel.phrases, tmp_path / "phrases.txt")
    assert panel.phrases.phrases == ["one", "two"]


def drop(widget: object, path: Path) -> None:
    """Let go of a file over a widget."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(
        QPoint(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    widget.dropEvent(event)
    assert event.isAccepted()


def test_that_another_file_and_back_in_mid_run_leaves_the_last_ones_stages(
    qtbot: QtBot, bare_session: Session, tmp_path: Path
) -> None:
    panel = shown(qtbot, opened(qtbot, bare_session, str(demos()[0].path)))
    panel.form.field.setText("the king went up " * 200)
    panel.run()
    opened(qtbot, bare_session, a_vit(tmp_path))
    document = bare_session.document
    qtbot.waitUntil(lambda: document.model_view.model is not None and document.model_view.model.name == "ViT")
    assert document.model_view.run is None
    assert document.model_view.refusal is None
    panel.form.field.setText("seven")
    opened(qtbot, bare_session, str(demos()[0].path))
    qtbot.waitUntil(lambda: document.model_view.model is not None)
    assert document.model_view.model.name == "word LSTM"


def test_that_a_worker_killed_in_mid_run_is_replaced_and_the_run_taken_up(
    qtbot: QtBot, jobs: Jobs, bare_session: Session
) -> None:
    panel = shown(qtbot, opened(qtbot, bare_session, str(demos()[0].path)))
    type_in(qtbot, panel, "seven")
    panel.form.field.setText("the king went up " * 400)
    with qtbot.waitSignal(jobs.worker_restarted):
        panel.run()
        QTest.qWait(20)
        os.kill(jobs.worker_pid("stages"), signal.SIGKILL)
    qtbot.waitUntil(lambda: len(panel.values.list.cards) > 0 and ran(panel) is not None)
    document = bare_session.document
    assert len(document.model_view.run.stages.tokens) == 1600
    assert document.model_view.refusal is None
    type_in(qtbot, panel, "happy")


def test_that_a_stopped_opening_says_so_and_is_taken_up_by_return(
    qtbot: QtBot, bare_session: Session
) -> None:
    session = opened(qtbot, bare_session, str(demos()[0].path))
    panel = StagesPanel(session)
    qtbot.addWidget(panel, before_close_func=lambda _panel: session.close())
    panel.show()
    session.staging._running.cancel()
    view = session.document
    qtbot.waitUntil(lambda: view.model_view.refusal is not None or view.model_view.model is not None)
    if view.model_view.refusal is not None:  # else it was quicker than the wish to stop it
        assert "was stopped" in panel.remark.text()
        qtbot.keyClick(panel.form.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: view.model_view.model is not None)


def test_that_a_window_closed_in_mid_run_leaves_nothing_behind(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    opened(qtbot, window.session, str(demos()[0].path))
    window.stages.parentWidget().raise_()
    document = window.session.document
    qtbot.waitUntil(lambda: document.model_view.model is not None)
    window.stages.form.field.setText("the king went up " * 400)
    window.stages.run()
    assert window.session.staging.is_running
    window.close()
    window.session.close()
    QTest.qWait(300)
    assert document.model_view.run is None


def test_that_a_word_that_is_not_in_both_sentences_is_told_of_beside_the_comparison(
    qtbot: QtBot, bare_session: Session
) -> None:
    panel = shown(qtbot, opened(qtbot, bare_session, str(demos()[0].path)))
    phrases = panel.phrases
    for field, text in (
        (phrases.first, "the king went"),
        (phrases.second, "they ate"),
        (phrases.word, "king"),
    ):
        field.setText(text)
    panel.tabs.setCurrentIndex(3)
    phrases.compare_word()
    qtbot.waitUntil(phrases.unlike.isVisible)
    assert "they ate" in phrases.unlike.text()
    assert not phrases.fault.isVisible()
    phrases.word.setText("ate")
    assert not phrases.unlike.isVisible()
