"""Pictures and captions on one map: which is which, how far apart, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import demo_pictures as demo
import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from explorer.commands import Session
from explorer.document import LayoutStage
from explorer.views.main_window import MainWindow


@pytest.fixture
def joint(qtbot: QtBot, window: MainWindow, scenes: Session, scenes_index: Path) -> MainWindow:
    """The window with the demo's pictures and captions on one map."""
    demo.show(qtbot, scenes, scenes_index, "pictures_and_captions")
    document = scenes.document
    qtbot.waitUntil(lambda: document.stage is LayoutStage.DONE and document.modality_gap is not None)
    return window


def test_that_the_legend_tells_pictures_from_captions_and_pictures_are_seen(
    qtbot: QtBot, joint: MainWindow
) -> None:
    document, colours = joint.session.document, joint.map.colours
    modality = np.array([str(kind) for kind in document.table.metadata["modality"]])
    names = dict(colours.entries)
    assert sorted(names.values()) == ["caption", "picture"]
    for code, name in names.items():
        np.testing.assert_array_equal(colours.codes == code, modality == name)
    qtbot.waitUntil(lambda: bool(joint.map.canvas.item.figure.thumbnails))
    seen = {picture.row for picture in joint.map.canvas.item.figure.thumbnails}
    assert (modality[sorted(seen)] == "picture").all(), "a caption is no picture"


def test_that_the_gap_is_stated_on_the_map_in_the_panel_and_in_saved_pictures(joint: MainWindow) -> None:
    gap = joint.session.document.modality_gap
    assert 0.05 < gap < 2
    said = f"{gap:.2f}"
    assert said in joint.map.canvas.item.figure.subtitle
    assert "as they are" in joint.map.canvas.item.figure.subtitle
    assert said in joint.side.layout_section.gap.text()
    assert "as they are" in joint.map.picture().subtitle


def test_that_centring_brings_both_together_and_is_named(qtbot: QtBot, joint: MainWindow) -> None:
    document, section = joint.session.document, joint.side.layout_section
    modality = np.array([str(kind) for kind in document.table.metadata["modality"]])

    def apart() -> float:
        places = [document.positions[modality == kind] for kind in ("picture", "caption")]
        spread = np.nanstd(document.positions, axis=0).mean()
        return float(np.linalg.norm(places[0].mean(axis=0) - places[1].mean(axis=0)) / spread)

    before = apart()
    with qtbot.waitSignal(joint.session.jobs.job_ended):
        section.centred.setCurrentText("each centred")
        section.centred.textActivated.emit("each centred")
    qtbot.waitUntil(lambda: document.drawn.centred)
    assert apart() < 0.1 * before
    assert "each centred" in joint.map.canvas.item.figure.subtitle
    assert "each centred" in joint.map.picture().subtitle
    assert [name for name, _ in document.kept] == ["PCA"]
    joint.session.mapping.show_kept(0)
    assert "as they are" in joint.map.canvas.item.figure.subtitle, "a kept map tells how it was made"


def test_that_other_tables_have_no_such_choice(open_window: MainWindow) -> None:
    assert not open_window.side.layout_section.centred.isVisible()
    assert not open_window.side.layout_section.gap.isVisible()
    assert open_window.map.canvas.item.figure.subtitle == ""


def test_that_the_choice_fits_into_the_side_panel(joint: MainWindow) -> None:
    assert joint.side.layout_section.centred.isVisible()
    assert joint.side.widget().width() <= joint.side.viewport().width()


def test_that_groups_of_pictures_are_named_by_words_of_their_captions(
    qtbot: QtBot, window: MainWindow, scenes: Session
) -> None:
    document = scenes.document
    qtbot.waitUntil(lambda: document.clusters is not None)
    said = " ".join(" ".join(document.pictures.captions(row)) for row in range(demo.COUNT)).casefold()
    words = [word for name in document.clusters.names for word in name.split(", ")]
    assert len(words) > 3
    assert all(word in said for word in words), "no file is named"
