"""One-hot beside learned rows, with the real table behind them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.core.results import Metric
from explorer.render.palette import LIGHT
from explorer.views.panels.lookup import LookupPanel
from explorer.views.panels.matrix_image import diverging


@pytest.fixture
def panel(qtbot: QtBot, session: Session) -> LookupPanel:
    made = LookupPanel(session)
    qtbot.addWidget(made)
    made.resize(320, 700)
    made.show()
    return made


def vectors_in(path: Path) -> np.ndarray:
    """The table as the file has it; labels may hold blanks."""
    lines = path.read_text("utf-8").splitlines()
    return np.asarray([[float(number) for number in line.split(" ")[-24:]] for line in lines], np.float32)


def looked_up(qtbot: QtBot, panel: LookupPanel, sentence: str) -> np.ndarray:
    panel.values._values = np.zeros((0, 1), np.float32)
    panel.field.setText(sentence)
    qtbot.keyClick(panel.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(panel.values._values) > 0)
    return panel.values._values


def test_that_a_sentence_shows_its_tokens_shapes_and_rows(
    qtbot: QtBot, panel: LookupPanel, words_file: Path
) -> None:
    values = looked_up(qtbot, panel, 'The KING man #8 "new york"')
    assert [(token.text, token.row) for token in panel.tokens] == [
        ("The", None),
        ("KING", 0),
        ("man", 2),
        ("#8", 8),
        ("new york", 7),
    ]
    assert panel.remark.text() == "1 of 5 tokens has no row."
    shapes = (panel.one_hot_shape, panel.table_shape, panel.values_shape)
    assert [shape.text() for shape in shapes] == ["4 × 310", "310 × 24", "4 × 24"]
    assert panel.one_hot_words.text() == "4 ones, 1,236 zeros"
    assert np.array_equal(values, vectors_in(words_file)[[0, 2, 8, 7]])


def test_that_rows_looked_up_are_scaled_where_the_table_is(
    qtbot: QtBot, session: Session, panel: LookupPanel, words_file: Path
) -> None:
    with qtbot.waitSignal(session.asking.index_ready):
        session.opening.scale_rows(True)
    values = looked_up(qtbot, panel, "king")
    assert values == pytest.approx(vectors_in(words_file)[[0]] * np.sqrt(24), rel=1e-5)
    assert panel.scaled.isVisible()
    assert panel.scaled.text().startswith("Times √24 = 4.9")


def test_that_the_query_is_looked_up_where_no_sentence_is_typed(
    qtbot: QtBot, session: Session, panel: LookupPanel
) -> None:
    assert not panel.matrices.isVisible()
    session.asking.ask("king - man + woman")
    qtbot.waitUntil(lambda: panel.rows == [0, 2, 3])
    assert panel.matrices.isVisible()
    panel.field.setText("bank")
    panel.read()
    session.asking.ask("queen")
    qtbot.waitUntil(lambda: session.document.questions.current.text == "queen")
    assert panel.rows == [8]


def test_that_the_pairs_are_counted_once_the_panel_is_seen(
    qtbot: QtBot, session: Session, panel: LookupPanel, words_file: Path
) -> None:
    qtbot.waitUntil(lambda: session.document.pairs is not None)
    pairs = session.document.pairs
    assert pairs is not None
    assert pairs.metric is Metric.COSINE
    unit = vectors_in(words_file)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    alike = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
    assert pairs.mean == pytest.approx(alike.mean(), abs=0.01)
    assert f"{pairs.std:.2f} over {pairs.pairs:,} pairs" in panel.pairs.text()
    assert 5 < panel.histogram.x_of(0.0) < panel.histogram.width() - 5


def test_that_nothing_is_looked_up_behind_another_tab(qtbot: QtBot, session: Session) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    docks = [QDockWidget(name, window) for name in ("Lookup", "Other")]
    panel = LookupPanel(session)
    for dock, inside in zip(docks, (panel, QWidget()), strict=True):
        dock.setWidget(inside)
        window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    window.tabifyDockWidget(*docks)
    docks[1].raise_()
    with qtbot.waitExposed(window):
        window.show()
    session.asking.ask("king")
    qtbot.waitUntil(lambda: session.document.answer is not None)
    assert panel.rows == []
    docks[0].raise_()
    qtbot.waitUntil(lambda: panel.rows == [0])


def test_that_a_long_text_is_cut_and_says_so(qtbot: QtBot, panel: LookupPanel) -> None:
    values = looked_up(qtbot, panel, "king " * 300)
    assert len(values) == 256
    assert panel.remark.text() == "The first 256 tokens are shown; 44 more follow."
    assert panel.one_hot.sizeHint().height() <= 520


def test_that_a_one_stands_at_its_columns_share_of_the_width(qtbot: QtBot, panel: LookupPanel) -> None:
    looked_up(qtbot, panel, "#0 #309")
    image = panel.one_hot.grab().toImage()
    for place, x in ((0, 1 + 3), (1, panel.one_hot.width() - 1 - 4)):
        y = int(panel.one_hot.line(place).center().y())
        assert image.pixelColor(x, y).name() == LIGHT.accent


def test_that_colours_run_from_one_hue_over_the_ground_to_another() -> None:
    colours = diverging(np.asarray([[-2.0, 0.0, 2.0, np.nan]], np.float32), 2.0, LIGHT)
    names = ["#" + bytes(colour).hex() for colour in colours[0]]
    assert names == [LIGHT.categories[1], LIGHT.ground, LIGHT.accent, LIGHT.quiet]
