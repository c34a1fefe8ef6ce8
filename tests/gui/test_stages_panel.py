"""The stages panel on real models in their worker: typing, pictures, attention, positions, phrases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from demo_pictures import CLIP
from PIL import Image
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot
from stage_models import opened, ran, shown, type_in

from explorer.commands import Session
from explorer.demos import demos
from explorer.views.panels.stages import StagesPanel
from explorer.views.panels.stages.values_tab import cosines

pytestmark = pytest.mark.usefixtures("stages_worker")
SENTENCE = "happy families are all alike"


@pytest.fixture
def words(qtbot: QtBot, bare_session: Session) -> Session:
    """A session with the word demo on the map."""
    return opened(qtbot, bare_session, str(demos()[0].path))


@pytest.fixture
def panel(qtbot: QtBot, words: Session) -> StagesPanel:
    return shown(qtbot, words)


def test_that_typing_shows_each_stage_with_its_shape(qtbot: QtBot, panel: StagesPanel) -> None:
    type_in(qtbot, panel, SENTENCE)
    cards = {card.name: card for card in panel.values.list.cards}
    assert list(cards)[:3] == ["ids", "one-hot", "looked up"]
    assert cards["looked up"].shape.text() == "5 × 128"
    assert cards["one-hot"].shape.text() == "5 × 5,325"
    assert panel.model.text() == "Word LSTM"


def test_that_a_click_opens_a_stage_large_and_another_closes_it(qtbot: QtBot, panel: StagesPanel) -> None:
    type_in(qtbot, panel, SENTENCE)
    card = next(card for card in panel.values.list.cards if card.name == "after layer 1")
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
    large = panel.values.map
    qtbot.waitUntil(lambda: panel.values.detail.isVisible() and large.frame.height() <= large.height())
    run = panel._session.document.model_view.run
    values = run.stages["after layer 1"].values
    assert panel.values.map.words_of(2, 7) == f"are · column 7: {values[2, 7]:.4g}"
    frame = panel.values.map.frame
    assert panel.values.map.cell_at(frame.center()) == (2, 64)
    assert panel.values.map.cell_at(QPointF(frame.left() - 5, frame.center().y())) is None
    after = card.nextInFocusChain()
    while not after.focusPolicy() & Qt.FocusPolicy.TabFocus:
        after = after.nextInFocusChain()
    assert after is large
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right):
        qtbot.keyClick(large, key)
    assert QToolTip.text() == large.words_of(1, 1)
    assert panel._session.staging.paths.followed == 1
    qtbot.keyClick(card, Qt.Key.Key_Return)
    assert not panel.values.detail.isVisible()


def test_that_tokens_move_over_the_map_from_their_own_rows(qtbot: QtBot, panel: StagesPanel) -> None:
    type_in(qtbot, panel, SENTENCE)
    document = panel._session.document
    qtbot.waitUntil(lambda: len(document.token_paths) == 5)
    path = document.token_paths[0]
    assert path.label == "happy"
    assert path.stages[0] == "looked up"
    for each in document.token_paths:
        (row,) = (
            row for row in range(len(document.table.labels)) if document.table.labels[row] == each.label
        )
        np.testing.assert_array_equal(each.places[0], document.positions[row])
    assert path.places.shape == (len(path.stages), 2)
    assert np.isfinite(path.places).all()
    panel.form.on_map.setChecked(False)
    assert document.token_paths == ()
    panel.form.on_map.setChecked(True)
    assert len(document.token_paths) == 5


def test_that_words_without_a_row_are_told_of_and_a_blank_text_clears(
    qtbot: QtBot, panel: StagesPanel
) -> None:
    type_in(qtbot, panel, "happy xyzzyq")
    assert "xyzzyq" in panel.remark.text()
    panel.form.field.clear()
    panel.run()
    assert panel._session.document.model_view.run is None
    assert panel.values.list.cards == []
    assert panel.values.empty.isVisible()


def test_that_a_word_none_of_which_is_known_leaves_a_sentence(qtbot: QtBot, panel: StagesPanel) -> None:
    panel.form.field.setText("xyzzyq")
    panel.run()
    qtbot.waitUntil(lambda: panel._session.document.model_view.refusal is not None)
    assert "None of these words" in panel.remark.text()


def test_that_a_panel_without_a_model_shows_no_empty_choices(qtbot: QtBot, bare_session: Session) -> None:
    made = StagesPanel(bare_session)
    qtbot.addWidget(made)
    made.show()
    form, attention = made.form, made.attention
    for choice in (form.side, form.heads, form.special, form.events, form.picture):
        assert not choice.isVisibleTo(made)
    for choice in (attention.kinds, attention.layers, attention.heads, attention.queries):
        assert not choice.isVisibleTo(attention)
    assert made.model.text() == "Open a checkpoint to look into its model."


def test_that_phrases_open_as_a_table_of_their_own_and_the_model_stays(
    qtbot: QtBot, panel: StagesPanel
) -> None:
    session = panel._session
    panel.phrases.field.setPlainText("\n".join(["the king of israel", "bread and wine", "", "they went up"]))
    qtbot.mouseClick(panel.phrases.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.document.table is not None and session.document.table.listing.rows == 3)
    table = session.document.table
    assert [table.labels[row] for row in range(3)] == ["the king of israel", "bread and wine", "they went up"]
    assert session.document.model_view.model is not None
    folder = Path(table.path).parent
    session.close()
    assert not folder.exists()


def test_that_a_word_in_two_sentences_is_compared_stage_by_stage(qtbot: QtBot, panel: StagesPanel) -> None:
    panel.phrases.first.setText("the king went up")
    panel.phrases.second.setText("they ate with the king")
    panel.phrases.word.setText("king")
    qtbot.mouseClick(panel.phrases.compare, Qt.MouseButton.LeftButton)
    document = panel._session.document
    qtbot.waitUntil(lambda: len(document.model_view.comparison) > 0)
    looked, *_, last = document.model_view.comparison
    assert looked.cosine == pytest.approx(1, abs=1e-4)
    assert last.cosine < 0.999
    assert "looked up" in panel.phrases.found.text()
    qtbot.waitUntil(lambda: len(document.token_paths) == 2)
    here, there = document.token_paths
    assert (here.label, there.label) == ("king (first)", "king (second)")
    np.testing.assert_allclose(here.places[0], there.places[0], atol=1e-4)
    assert np.linalg.norm(here.places[-1] - there.places[-1]) > 0


def test_that_a_clip_shows_where_it_looks_and_how_alike_patches_are(
    qtbot: QtBot, bare_session: Session, tmp_path: Path
) -> None:
    panel = shown(qtbot, opened(qtbot, bare_session, str(CLIP)))
    Image.new("RGB", (64, 64), (20, 60, 200)).save(tmp_path / "blue.png")
    panel.set_picture(str(tmp_path / "blue.png"))
    panel.tabs.setCurrentIndex(1)
    qtbot.waitUntil(lambda: ran(panel) == "" and panel.attention.map.reach > 0)
    assert panel.attention.heads.count() == 7
    panel.values.choose("after layer 2")
    assert panel.values.picture.isVisibleTo(panel.values)
    panel.attention.heads.setCurrentIndex(2)
    panel.attention.heads.activated.emit(2)
    panel.attention.choose_query(3)
    assert panel.attention.words.text().startswith("patch 1,3 looks most at")
    panel.tabs.setCurrentIndex(2)
    assert panel.parts.filters.isVisibleTo(panel.parts)
    assert panel.parts.tables.count() == 2
    document = panel._session.document
    panel.values.points.click()
    qtbot.waitUntil(lambda: document.table is not None and document.table.listing.rows == 9)
    assert document.table.labels[3] == "patch 2,1"
    assert document.pictures is not None
    crop = Image.open(document.pictures.file(4))
    assert crop.getpixel((5, 5)) == (20, 60, 200)
    panel.set_picture(None)
    assert document.model_view.run is None


def test_that_a_file_without_a_model_says_so_in_the_panel(
    qtbot: QtBot, bare_session: Session, tmp_path: Path
) -> None:
    np.save(tmp_path / "plain.npy", np.random.default_rng(1).normal(size=(20, 5)).astype(np.float32))
    session = opened(qtbot, bare_session, str(tmp_path / "plain.npy"))
    made = StagesPanel(session)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: session.document.model_view.refusal is not None)
    assert "not known here" in made.remark.text()


def test_that_a_row_of_zeros_is_alike_to_nothing() -> None:
    values = torch.tensor([[1.0, 0], [0, 0], [3, 0]]).numpy()
    assert cosines(values, 0).tolist() == [1, 0, 1]
    assert cosines(values, 1).tolist() == [0, 0, 0]
