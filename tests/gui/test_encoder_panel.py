"""The encoder of the table on the map: shown, chosen, found again, refused; by the demo's CLIP."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import demo_pictures as demo
import pytest
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot
from window_driver import drop

from explorer.commands import Notice, Session
from explorer.readers.index_files import MANIFEST
from explorer.views.main_window import MainWindow
from explorer.views.panels.encoder import CHOOSE, EncoderSection
from explorer.views.panels.encoder_choice import FILE, FOLDER, EncoderCombo


@pytest.fixture
def section(scenes: Session, window: MainWindow) -> EncoderSection:
    return window.side.encoder


def entries(section: EncoderSection) -> list[str]:
    """What the menu offers, as it is when it opens."""
    section.menu.aboutToShow.emit()
    return [action.text() for action in section.menu.actions() if not action.isSeparator()]


def choose(section: EncoderSection, text: str) -> None:
    section.menu.aboutToShow.emit()
    next(action for action in section.menu.actions() if action.text() == text).trigger()


def test_that_an_index_is_read_by_the_encoder_that_made_it(section: EncoderSection) -> None:
    assert section.isVisible()
    assert section.name.text() == "clip"
    assert section.facts.text() == "CLIP · 128 numbers · cpu"
    assert section.find.isHidden()
    section.more.click()
    assert "Reads texts, at most 48 tokens." in section.details.text()
    assert "Sees pictures at 64 × 64." in section.details.text()
    assert str(demo.CLIP) in section.details.text()
    assert section.details.isVisible()


def test_that_none_reads_once_it_is_taken_away_and_the_query_line_says_so(
    section: EncoderSection, window: MainWindow
) -> None:
    assert window.query.field.placeholder.startswith("Ask: a dog on the beach")
    choose(section, "None")
    assert (section.name.text(), section.facts.text()) == ("none", "clip made these vectors.")
    assert "An encoder lets you ask in words" in window.query.field.placeholder
    assert "None" not in entries(section)


def test_that_the_menu_takes_back_what_was_used_before(qtbot: QtBot, section: EncoderSection) -> None:
    choose(section, "None")
    assert entries(section) == ["clip (demo)", FOLDER, FILE]
    choose(section, "clip (demo)")
    assert section.name.text() == "loading…"
    qtbot.waitUntil(lambda: section.name.text() == "clip")
    section.menu.aboutToShow.emit()
    assert [action.text() for action in section.menu.actions() if action.isChecked()] == ["clip (demo)"]


def test_that_an_encoder_that_is_gone_is_said_and_found_again(
    qtbot: QtBot,
    encoder_worker: None,
    scenes: Session,
    scenes_index: Path,
    window: MainWindow,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moved = tmp_path / "moved.index"
    shutil.copytree(scenes_index, moved)
    manifest = json.loads((moved / MANIFEST).read_text())
    manifest["encoder"]["path"] = str(tmp_path / "gone" / "clip")
    (moved / MANIFEST).write_text(json.dumps(manifest))
    said: list[Notice] = []
    scenes.notices.posted.connect(said.append)
    scenes.opening.open([str(moved)])
    section = window.side.encoder
    qtbot.waitUntil(section.find.isVisible)
    assert section.facts.text() == (
        f"clip made these vectors; it is no longer at {tmp_path / 'gone' / 'clip'}."
    )
    assert any("no longer at" in notice.text for notice in said)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args, **_named: str(demo.CLIP))
    section.find.click()
    qtbot.waitUntil(lambda: scenes.document.encoder is not None)
    assert section.facts.text() == "CLIP · 128 numbers · cpu"
    assert section.find.isHidden()
    assert scenes.settings.encoders[0] == str(demo.CLIP)


def test_that_an_encoder_of_other_dimensions_is_refused_with_both(
    qtbot: QtBot, encoder_worker: None, open_window: MainWindow
) -> None:
    section = open_window.side.encoder
    assert section.change.text() == CHOOSE
    assert section.name.isHidden()
    choose(section, "clip (demo)")
    qtbot.waitUntil(open_window.notice.isVisible)
    assert "128 numbers" in open_window.notice.text.text()
    assert "24" in open_window.notice.text.text()
    assert section.change.text() == CHOOSE
    assert open_window.side.zero_shot.isHidden()
    assert not open_window.actions_by_name["recall"].isEnabled()


def test_that_the_list_keeps_what_was_chosen_when_a_choice_is_given_up(
    qtbot: QtBot, bare_session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    combo = EncoderCombo(bare_session)
    qtbot.addWidget(combo)
    combo.fill()
    assert (combo.currentText(), combo.path) == ("clip (demo)", str(demo.CLIP))
    answers = iter(["", str(tmp_path)])
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args, **_named: next(answers))
    place = combo.findText(FOLDER)
    combo.activated.emit(place)
    assert combo.path == str(demo.CLIP)
    combo.activated.emit(place)
    assert (combo.path, combo.currentText()) == (str(tmp_path), tmp_path.name)


def test_that_an_encoder_that_is_dropped_shows_its_tokens_and_offers_to_read_for_the_index(
    qtbot: QtBot, scenes: Session, scenes_index: Path, window: MainWindow
) -> None:
    scenes.encoding.close()
    drop(window, demo.CLIP)
    qtbot.waitUntil(lambda: scenes.document.table.path == str(demo.CLIP))
    assert "token_embedding" in scenes.document.table.listing.name
    assert "clip is an encoder, too." in window.notice.text.text()
    buttons = {button.text(): button for button in window.notice.findChildren(QPushButton)}
    buttons["Use it as encoder for scenes.index"].click()
    qtbot.waitUntil(lambda: scenes.document.encoder is not None)
    assert scenes.document.table.path == str(scenes_index)
    assert scenes.settings.encoders[0] == str(demo.CLIP)


def test_that_an_encoder_of_other_dimensions_is_not_offered_for_a_table(
    qtbot: QtBot, open_window: MainWindow
) -> None:
    drop(open_window, demo.CLIP)
    document = open_window.session.document
    qtbot.waitUntil(lambda: document.table.path == str(demo.CLIP))
    assert not any("encoder" in button.text() for button in open_window.notice.findChildren(QPushButton))
